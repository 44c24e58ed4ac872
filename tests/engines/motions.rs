//! Kinematic walls with several motions \[E19\]: where they are after many steps, and what they take along, on both engines.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::f64::consts::TAU;

use crate::common::*;
use esker::model::{
    Axes, Boundary, Form, Grain, Motion, MotionLaw, MotionPart, MotionTiming, Surface, World,
};
use esker::observe::energy::{error_share, kinetic};
use esker::settings::{Bookkeeping, Settings};
use glam::{DMat3, DQuat, DVec3};

/// A screw that is lowered with a ramp while it turns, a drum in a rocking frame, a vibration of two harmonics that stops, and a table.
const WALLS: &str = r#"
[solver]
time_step = 2e-3
[[boundaries]]
name = "screw"
material = "pellet"
shape = { kind = "capsule", from = [0, 0, 1], to = [0, 0, 2], radius = 0.05 }
motion = [
    { kind = "velocity", velocity = [0, 0, -0.5], start = 0.1, ramp = 0.2 },
    { kind = "rotation", axis = [0, 0, 1], rate = 8.0 },
]
[[boundaries]]
name = "drum"
material = "pellet"
shape = { kind = "cylinder", base = [3, -0.5, 1], axis = [0, 1, 0], length = 1, radius = 0.4, caps = true }
motion = [
    { kind = "rocking", point = [3, 0, 0], axis = [1, 0, 0], amplitude_deg = 10.0, period = 0.8 },
    { kind = "rotation", rate = 3.0 },
]
[[boundaries]]
name = "sieve"
material = "pellet"
shape = { kind = "box", min = [5, 0, 0], max = [6, 1, 0.1], side = "outside" }
motion = [
    { kind = "oscillation", amplitude = [0, 0, 0.02], frequency = 5.0, stop = 0.33 },
    { kind = "oscillation", amplitude = [0, 0, 0.005], frequency = 15.0, phase_deg = 90.0, stop = 0.33 },
]
[[boundaries]]
name = "arm"
material = "pellet"
shape = { kind = "box", min = [8, 0, 0], max = [9, 0.2, 0.2], side = "outside" }
[boundaries.motion]
kind = "table"
point = [8, 0, 0]
times = [0, 0.2, 1.0]
displacements = [[0, 0, 0], [0, 0, 0.2], [0, 0, 0.2]]
rotations = [[0, 0, 0, 1], [0, 0, 0.7071067811865476, 0.7071067811865476], { axis = [0, 0, 1], angle_deg = 170 }]
[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.02 }
packing = { kind = "list", positions = [[0, 5, 0]] }
"#;

/// Place and orientation of the walls of [`WALLS`] at 0.1 < `time` < 0.33 s, by hand.
fn expected(time: f64) -> [(DVec3, DMat3); 4] {
    // The ramp from 0.1 s on, of 0.2 s: half the square of the time, over its duration; then the full speed.
    let rising = (time - 0.1).min(0.2);
    let lowered = 0.5 * (rising * rising / (2.0 * 0.2) + (time - 0.3).max(0.0));
    let screw = (DVec3::new(0.0, 0.0, 1.5 - lowered), DMat3::from_rotation_z(8.0 * time));
    let frame = DMat3::from_rotation_x(10f64.to_radians() * (TAU * time / 0.8).sin());
    let about = DVec3::new(3.0, 0.0, 0.0);
    let drum = (about + frame * DVec3::Z, frame * DMat3::from_rotation_y(3.0 * time));
    let up = 0.02 * (TAU * 5.0 * time).sin() + 0.005 * ((TAU * 15.0 * time).cos() - 1.0);
    let sieve = (DVec3::new(5.5, 0.5, 0.05 + up), DMat3::IDENTITY);
    // A quarter turn in 0.2 s, then 80 degrees more in 0.8 s.
    let degrees = if time < 0.2 { 450.0 * time } else { 90.0 + 100.0 * (time - 0.2) };
    let turn = DMat3::from_rotation_z(degrees.to_radians());
    let raised = f64::min(time, 0.2) * DVec3::Z;
    let arm = (DVec3::new(8.0, 0.0, 0.0) + raised + turn * DVec3::new(0.5, 0.1, 0.1), turn);
    [screw, drum, sieve, arm]
}

/// After any number of steps walls are where the closed forms of their motions say, to double rounding on the CPU engine and to single
/// rounding of coordinates of a metre on the GPU: nothing is summed up from step to step.
#[test]
fn walls_are_where_their_motions_say_on_both_engines() {
    let scene = pellets_with(WALLS, &["gravity=[0,0,0]"]);
    for (mut engine, bound) in both(&scene.world, &scene.settings).into_iter().zip([1e-13, 1e-6]) {
        let name = engine.identity().engine;
        let mut done = 0;
        for steps in [60u64, 85, 155] {
            engine.advance(steps - done).unwrap();
            done = steps;
            let bodies = engine.snapshot().unwrap().world.bodies;
            let off = |time: f64| -> f64 {
                let distances = expected(time).into_iter().enumerate().map(|(body, (place, turn))| {
                    let found = DMat3::from_quat(bodies.orientation[body]);
                    let turned = (0..3).map(|axis| found.col(axis).distance(turn.col(axis)));
                    turned.fold(bodies.position[body].distance(place), f64::max)
                });
                distances.fold(0.0, f64::max)
            };
            let time = done as f64 * scene.settings.time_step;
            assert!(off(time) < bound, "{name}: off by {} at {time} s", off(time));
            assert!(off(time + 1e-5) > bound, "{name}: the bound tells 10 µs");
        }
        engine.advance(45).unwrap();
        let stopped = engine.snapshot().unwrap().world.bodies;
        let sieve = expected(0.33)[2].0;
        assert!(stopped.position[2].distance(sieve) < bound, "{name}: it stays where it stopped");
        assert_eq!(stopped.velocity[2], DVec3::ZERO, "{name}");
    }
}

/// Distance of the block from the pivot of the plate, radius of its ball \[m\], and step \[s\].
const ARM: f64 = 0.1;
const R: f64 = 0.01;
const STEP: f64 = 1e-3;

/// A block (a ball that does not turn) on a plate that speeds up to 0.4 m/s in 0.2 s, and rocks by 10 degrees about the vertical.
fn block_on_a_plate(friction: f64) -> World {
    let mut world = World::new(DVec3::new(0.0, 0.0, -9.81), stone(friction, 0.0));
    let timing = MotionTiming { start: None, stop: Some(0.6), ramp: 0.2 };
    let away = MotionPart { law: MotionLaw::Velocity(0.4 * DVec3::X), timing };
    let (amplitude, phase) = (10f64.to_radians() * DVec3::Z, TAU / 4.0);
    let rocking = MotionLaw::Rocking { point: DVec3::ZERO, amplitude, frequency: 1.0, phase };
    let plate = Boundary { motion: Motion::Kinematic(vec![away, rocking.into()]), ..fixed("plate") };
    world.add_boundary(plate, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 0)]);
    let locked = Axes::ROTATION.into_iter().fold(Axes::NONE, Axes::and);
    world.add_grains([Grain { locked, ..Grain::at(DVec3::new(ARM, 0.0, R), R, 0) }]);
    world
}

/// A block sticks to a plate that speeds up with 2 m/s² < μ g and rocks, and goes with the point of the plate under it: it feels the
/// derivative of that place. A step takes it along the tangent and not along the arc, which leaves ω² h r/2 of a velocity. The work
/// of the plate is the kinetic energy that the block has.
#[test]
fn a_block_goes_with_the_point_of_the_plate_under_it() {
    let settings = Settings { time_step: STEP, bookkeeping: Bookkeeping::On, ..Settings::default() };
    let shift = |time: f64| if time < 0.2 { time * time } else { 0.4 * (time - 0.1) };
    let rate: f64 = TAU * 10f64.to_radians();
    for (mut engine, rounding) in both(&block_on_a_plate(0.5), &settings).into_iter().zip([1e-12, 1e-6]) {
        let name = engine.identity().engine;
        for steps in [150u32, 200] {
            engine.advance(steps.into()).unwrap();
            let state = engine.snapshot().unwrap();
            let time = state.report.time;
            let angle = 10f64.to_radians() * ((TAU * time).cos() - 1.0);
            let under = DVec3::new(shift(time), 0.0, 0.0) + DQuat::from_rotation_z(angle) * (ARM * DVec3::X);
            let apart = (state.world.bodies.position[1] - under).truncate().length();
            let bound = 0.5 * rate * rate * STEP * ARM * time + rounding;
            assert!(apart < bound, "{name}: {apart} m apart at {time} s, bound {bound}");
            // A block that the plate left behind by a hundredth of its way would be told.
            assert!(0.01 * shift(time) > bound);
            let (work, has) = (state.balance.unwrap().boundary_work, kinetic(&state));
            assert!((work / has - 1.0).abs() < 0.01, "{name}: work {work} J, energy {has} J");
            // In single precision each step rounds the velocity of the one block by up to half an epsilon, and its energy by twice that;
            // steps add up at random, of which twice is allowed.
            let roundings = 2.0 * (time / STEP).sqrt() * f64::from(f32::EPSILON);
            let closure = if name == "cpu" { 1e-12 } else { roundings };
            assert!(error_share(&state) < closure, "{name}: {}", error_share(&state));
        }
    }
    let mut left_behind = cpu(&block_on_a_plate(0.0), &settings);
    esker::engine::Engine::advance(&mut left_behind, 350).unwrap();
    let x = esker::engine::Engine::snapshot(&mut left_behind).unwrap().world.bodies.position[1].x;
    assert!((x - ARM).abs() < 1e-9, "without friction it stays: {x} m");
}
