//! What single precision may cost: bodies that slide fast lose speed as Coulomb says, whatever the step.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::engine::Engine;
use esker::gpu::GpuEngine;
use esker::gpu::shader::Edit;
use esker::model::{Axes, Boundary, Form, Grain, Motion, RigidBody, Surface, World};
use esker::settings::Settings;
use glam::{DQuat, DVec3};

const GRAVITY: f64 = 9.81;
const FRICTION: f64 = 0.9;
/// Speed at the start \[m/s\], and unit in the last place of speeds from 2 m/s on in single precision \[m/s\].
const SPEED: f64 = 3.0;
const UNIT: f64 = 2.0 / (1 << 23) as f64;
const STEPS: u64 = 200;

/// A brick and a grain that cannot turn slide over a floor at 3 m/s.
fn sliders() -> World {
    let mut world = with_floor(-GRAVITY * DVec3::Z, stone(FRICTION, 0.0));
    let half = DVec3::new(0.1, 0.1, 0.025);
    let body = RigidBody::solid(Form::Box { half }, 2500.0).unwrap();
    let brick = Boundary {
        name: "brick".into(),
        position: DVec3::Z * half.z,
        orientation: DQuat::IDENTITY,
        motion: Motion::Dynamic(body),
    };
    world.add_boundary(brick, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Box { half }, 0)]);
    world.add_grains([Grain::at(DVec3::new(0.0, 1.0, 0.01), 0.01, 0)]);
    let grain = world.grain_body(0);
    world.bodies.locked[grain] = Axes::ROTATION.into_iter().fold(Axes::NONE, Axes::and);
    for body in [1, grain] {
        world.bodies.velocity[body] = SPEED * DVec3::X;
    }
    world
}

/// Speed that brick and grain lose in 200 steps of `h` with 50 accelerated sweeps each, over μ times the impulse of the floor, m g t and
/// what lifts them \[-\].
fn slowing(engine: &mut dyn Engine, h: f64) -> [f64; 2] {
    engine.advance(STEPS).unwrap();
    let world = engine.snapshot().unwrap().world;
    [1, world.grain_body(0)].map(|body| {
        let velocity = world.bodies.velocity[body];
        (SPEED - velocity.x) / (FRICTION * (GRAVITY * h * STEPS as f64 + velocity.z))
    })
}

fn sliding(h: f64) -> (GpuEngine, World, Settings) {
    let (world, settings) = (sliders(), Settings { time_step: h, iterations: 50, ..Settings::default() });
    (gpu(&world, &settings), world, settings)
}

/// The change of a velocity is rounded up or down at random, which errs by half a unit in the root mean square. After 200 substeps that is
/// 7 units, and five times that is allowed: 0.0005 % of the speed lost at 1 ms, 0.001 % at 0.5 ms. Velocities that stay as sweeps leave
/// them are off by 0.03 % here, fifty times that.
#[test]
fn friction_of_fast_bodies_does_not_depend_on_the_step_in_single_precision() {
    for h in [1e-3, 5e-4] {
        let bound = 5.0 * 0.5 * (STEPS as f64).sqrt() * UNIT / (FRICTION * GRAVITY * h * STEPS as f64);
        assert!(bound < 2e-4, "a bound of {bound} shows nothing");
        let (mut engine, world, settings) = sliding(h);
        let found = slowing(&mut engine, h);
        assert!(found.iter().all(|found| (found - 1.0).abs() < bound), "{h} s: {found:?} within {bound}");
        let exact = slowing(&mut cpu(&world, &settings), h);
        assert!(
            exact.iter().all(|found| (found - 1.0).abs() < bound),
            "{h} s: {exact:?} in double precision"
        );
    }
    let (mut broken, ..) = sliding(1e-3);
    let from = "return is_slow || (HAS_JOINTS && body < params.boundaries);";
    broken.edit_shaders(&[Edit { from, to: "return true;" }]).unwrap();
    let [brick, _] = slowing(&mut broken, 1e-3);
    assert!((brick - 1.0).abs() > 1e-4, "velocities of the sweeps alone are right: {brick}");
}

/// A force that adds a tenth of a unit in the last place to a velocity in each substep adds up. Rounded to the nearest number, nothing of
/// it would be left. The sum of 2 000 random units of probability 0.1 errs by 13 in the root mean square; five times that is allowed.
#[test]
fn a_push_below_a_unit_in_the_last_place_adds_up() {
    let steps = 2000;
    let h = 1e-3;
    let push = 0.1 * UNIT / h;
    let mut world = World::new(push * DVec3::X, stone(0.0, 0.0));
    world.add_grains([Grain { velocity: SPEED * DVec3::X, ..Grain::at(DVec3::ZERO, 0.01, 0) }]);
    let mut engine = gpu(&world, &Settings { time_step: h, iterations: 1, ..Settings::default() });
    engine.advance(steps).unwrap();
    let gained = (engine.snapshot().unwrap().world.bodies.velocity[0].x - SPEED) / UNIT;
    assert!((gained - 200.0).abs() < 5.0 * 13.4, "{gained} units in place of 200");
}
