//! Belts: boundaries that stand still while their surface moves, against closed forms, on both engines.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::model::{Axes, Boundary, Form, Grain, Motion, Surface, World};
use esker::settings::{Bookkeeping, Settings};
use glam::{DQuat, DVec3};

const FRICTION: f64 = 0.3;
const SPEED: f64 = 0.5;
/// Radius of the grains \[m\].
const R: f64 = 0.01;

/// A ball and a block (a ball that does not turn) at rest on a belt.
fn ball_and_block() -> World {
    let mut world = World::new(DVec3::new(0.0, 0.0, -9.81), stone(FRICTION, 0.0));
    let belt = Boundary { motion: Motion::Belt(SPEED * DVec3::X), ..fixed("belt") };
    world.add_boundary(belt, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 0)]);
    let locked = Axes::ROTATION.into_iter().fold(Axes::NONE, Axes::and);
    let block = Grain { locked, ..Grain::at(DVec3::new(0.0, 0.1, R), R, 0) };
    world.add_grains([Grain::at(DVec3::new(0.0, 0.0, R), R, 0), block]);
    world
}

/// Friction accelerates a block at μ g up to the speed of the belt, and half of the work of the belt becomes kinetic energy. A ball slides
/// until its surface moves with the belt, at 2/7 of that speed.
#[test]
fn a_belt_takes_balls_and_blocks_along_as_coulomb_says() {
    let settings = Settings { time_step: 1e-3, bookkeeping: Bookkeeping::On, ..Settings::default() };
    for engine in &mut both(&ball_and_block(), &settings) {
        let name = engine.identity().engine;
        let report = engine.advance(400).unwrap();
        let state = engine.snapshot().unwrap();
        let (bodies, mass) = (&state.world.bodies, 1.0 / state.world.bodies.inverse_mass[1]);
        for (body, share) in [(1, 2.0 / 7.0), (2, 1.0)] {
            let speed = bodies.velocity[body].x;
            assert!((speed - share * SPEED).abs() < 2e-3 * SPEED, "{name}, body {body}: {speed} m/s");
            // The body slides until it has its final speed at the acceleration μ g, at half that speed on average.
            let sliding = share * SPEED / (FRICTION * 9.81);
            let way = 0.5 * share * SPEED * sliding + share * SPEED * (0.4 - sliding);
            let found = bodies.position[body].x;
            assert!((found - way).abs() < 2e-3 * way, "{name}, body {body}: {found} m, expected {way}");
        }
        // Work of the belt on each body: F v t = μ m g v · (share · v)/(μ g).
        let expected = mass * SPEED * SPEED * (1.0 + 2.0 / 7.0);
        let work = state.balance.unwrap().boundary_work;
        assert!((work / expected - 1.0).abs() < 5e-3, "{name}: {work} J, expected {expected}");
        assert_eq!(bodies.position[0], DVec3::ZERO, "the belt stays");
        assert!(
            report.searches < 400,
            "{name}: {} searches in 400 steps, as if the belt moved",
            report.searches
        );
    }
}
