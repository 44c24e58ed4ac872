//! How far impacts go: through the contacts that they change, and no further.

#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

#[path = "../../benches/common/step.rs"]
mod step;

use std::sync::LazyLock;

use esker::cpu::narrowphase::{Constraint, Onset};
use esker::cpu::velocity::Velocity;
use esker::cpu::{colouring, impact};
use esker::engine::Engine;
use esker::model::{Grain, World};
use esker::settings::{IMPACT_TOLERANCE, Settings};
use glam::DVec3;

use crate::common;
use step::Step;

/// Grains of the bed.
const GRAINS: u32 = 500;
/// Speed of what strikes it [m/s].
const SPEED: f64 = 2.0;

/// A bed in which nothing moves but the uppermost grain, which falls on the others.
static STRUCK: LazyLock<(World, Settings)> = LazyLock::new(|| {
    let scenario = common::box_of(GRAINS);
    let mut engine = common::cpu(&scenario.world, &scenario.settings);
    engine.advance(150).unwrap();
    let mut world = engine.snapshot().unwrap().world;
    let bodies = (0..world.grain_count()).map(|grain| world.grain_body(grain)).collect::<Vec<_>>();
    for &body in &bodies {
        (world.bodies.velocity[body], world.bodies.angular_velocity[body]) = Default::default();
    }
    let height = |body: &&usize| world.bodies.position[**body].z;
    let top = *bodies.iter().max_by(|a, b| height(a).total_cmp(&height(b))).unwrap();
    world.bodies.velocity[top] = -SPEED * DVec3::Z;
    (world, Settings { impact_iterations: 10_000, ..scenario.settings })
});

/// A step after its impacts, and the velocities before them.
fn after_impacts(world: &World, settings: &Settings) -> (Step, Vec<Velocity>) {
    let mut step = Step::new(world.clone(), *settings, colouring::greedy);
    let before = step.velocities.clone();
    let Step { colouring, split, constraints, onsets, velocities, .. } = &mut step;
    let contacts = impact::Contacts { colouring, split, constraints, onsets };
    assert!(impact::solve(settings, world, contacts, velocities, |_, _, _| ()).sweeps > 0);
    (step, before)
}

/// Whether an impact came to them or not, contacts that touch close no faster after it than they did before, if they did.
#[test]
fn where_an_impact_ends_nothing_is_left_to_be_done() {
    let (world, settings) = &*STRUCK;
    let faster = |impact_iterations: u32| {
        let (step, before) = after_impacts(world, &Settings { impact_iterations, ..*settings });
        let touching = step.constraints.iter().zip(&step.onsets).filter(|(_, onset)| onset.gap <= 0.0);
        let of_contact = |(constraint, _): (&Constraint, &Onset)| {
            let closing = |velocities: &[Velocity]| {
                let [a, b] = constraint.bodies.map(|body| &velocities[body as usize]);
                -constraint.contact_velocity(a, b).dot(constraint.normal)
            };
            closing(&step.velocities) - closing(&before).max(0.0)
        };
        touching.map(of_contact).fold(0.0, f64::max)
    };
    let bound = IMPACT_TOLERANCE * SPEED;
    assert!(faster(10_000) < bound, "{} m/s", faster(10_000));
    assert!(faster(1) > bound, "one sweep would do: {} m/s", faster(1));
}

/// Contacts that close more slowly than those that bounce are left alone by a bounce that they have nothing to do with.
#[test]
fn a_bounce_leaves_alone_what_it_does_not_reach() {
    let stack_after = |speed: f64| {
        let mut world = common::with_floor(-9.81 * DVec3::Z, common::stone(0.5, 0.5));
        let radius = 0.5 * common::D;
        let place = |i: u32| (1.0 + 2.0 * f64::from(i)) * radius * DVec3::Z;
        let velocity = -speed * DVec3::Z;
        let stack = (0..3).map(|i| Grain { velocity, ..Grain::at(place(i), radius, 0) });
        let bouncing =
            Grain { velocity: -SPEED * DVec3::Z, ..Grain::at(DVec3::new(1.0, 0.0, radius), radius, 0) };
        let places = world.add_grains(stack.chain([bouncing]));
        let (step, before) = after_impacts(&world, &Settings::default());
        let is_as_before = |place: &usize| {
            let body = world.grain_body(*place);
            step.velocities[body] == before[body]
        };
        places.iter().map(is_as_before).collect::<Vec<_>>()
    };
    let threshold = Settings::default().impact_threshold;
    assert_eq!(stack_after(0.9 * threshold), [true, true, true, false]);
    assert!(!stack_after(1.1 * threshold)[0], "a stack that bounces itself");
}
