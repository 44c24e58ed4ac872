//! How far impacts go: through the contacts that they change, and no further.

#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

#[path = "../../benches/common/step.rs"]
mod step;

use std::sync::LazyLock;

use esker::cpu::velocity::Velocity;
use esker::cpu::{colouring, impact};
use esker::engine::Engine;
use esker::model::World;
use esker::settings::{IMPACT_FRONT, Settings};
use glam::DVec3;

use crate::common;
use step::Step;

/// Grains of the bed.
const GRAINS: u32 = 500;
/// Grains on top of each other in it, at most.
const LAYERS: f64 = 15.0;

/// A bed without friction in which nothing moves but the uppermost grain, which falls on the others; velocities after impacts are unique then.
static STRUCK: LazyLock<(World, Settings)> = LazyLock::new(|| {
    let scenario = common::box_of(GRAINS);
    let mut engine = common::cpu(&scenario.world, &scenario.settings);
    engine.advance(150).unwrap();
    let mut world = engine.snapshot().unwrap().world;
    world.materials.scale_friction(&world.materials.clone(), 0.0);
    let bodies = (0..world.grain_count()).map(|grain| world.grain_body(grain)).collect::<Vec<_>>();
    for &body in &bodies {
        (world.bodies.velocity[body], world.bodies.angular_velocity[body]) = Default::default();
    }
    let height = |body: &&usize| world.bodies.position[**body].z;
    let top = *bodies.iter().max_by(|a, b| height(a).total_cmp(&height(b))).unwrap();
    world.bodies.velocity[top] = -2.0 * DVec3::Z;
    (world, Settings { impact_iterations: 10_000, ..scenario.settings })
});

/// Velocities after impacts that go on through contacts that change by more than `least` [m/s].
fn after_impacts(world: &World, settings: &Settings, least: f64) -> Vec<Velocity> {
    let mut step = Step::new(world.clone(), *settings, colouring::greedy);
    let Step { colouring, split, constraints, onsets, velocities, .. } = &mut step;
    let contacts = impact::Contacts { colouring, split, constraints, onsets, least };
    assert!(impact::solve(settings, world, contacts, velocities, |_, _, _| ()).sweeps > 1);
    step.velocities
}

fn distance(one: &[Velocity], other: &[Velocity]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a.linear.distance(b.linear)).fold(0.0, f64::max)
}

/// A contact at which an impact ends is off by no more than that from which it would go on, and grains by what the contacts below them come to.
#[test]
fn where_an_impact_ends_little_is_left_to_be_done() {
    let (world, settings) = &*STRUCK;
    let least = IMPACT_FRONT * settings.impact_threshold;
    let everywhere = after_impacts(world, settings, 0.0);
    let off = |least: f64| distance(&after_impacts(world, settings, least), &everywhere);
    assert!(off(least) < LAYERS * least, "{} m/s", off(least));
    assert!(off(1.0) > LAYERS * least, "an impact that ends where it begins: {} m/s", off(1.0));
}

/// Contacts that close more slowly than any that bounces are not touched by a bounce elsewhere.
#[test]
fn a_bounce_leaves_alone_what_it_does_not_reach() {
    let (mut world, settings) = STRUCK.clone();
    for grain in 0..world.grain_count() {
        let phase = f64::from(grain as u32);
        let slow = 0.01
            * settings.impact_threshold
            * DVec3::new(phase.sin(), (2.0 * phase).sin(), (3.0 * phase).sin());
        let body = world.grain_body(grain);
        world.bodies.velocity[body] += slow;
    }
    let before = Step::new(world.clone(), settings, colouring::greedy).velocities;
    let left_alone = |least: f64| {
        let after = after_impacts(&world, &settings, least);
        after.iter().zip(&before).filter(|(after, before)| after == before).count()
    };
    let few = left_alone(0.0);
    let most = left_alone(IMPACT_FRONT * settings.impact_threshold);
    // Some touch no other.
    assert!(5 * few < GRAINS as usize, "{few} grains are left alone where all contacts take part");
    assert!(2 * most > GRAINS as usize, "{most} grains are left alone");
}
