//! One grain on one flush surface has one contact, whatever the surface is made of, on both engines.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::sync::Arc;

use crate::common::*;
use crate::meshes::box_mesh;
use esker::engine::Engine;
use esker::gpu::shader::Edit;
use esker::law::pair::Material;
use esker::model::{Boundary, Form, Grain, Materials, Motion, Side, Surface, World};
use esker::settings::{Method, Settings};
use glam::{DQuat, DVec3};

const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);
/// Radius of the ball \[m\].
const R: f64 = 0.02;

/// What a surface with its top at z = 0 is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Made {
    /// One box.
    Whole,
    /// Two boxes that meet at x = 0, of one boundary or of two.
    Shapes,
    Boundaries,
    /// Two meshes.
    Meshes,
    /// Three boxes around a point that is off the middle: a T-junction.
    Tee,
    /// A box let into a plane.
    Plane,
    /// Two boxes, the right of which is 0.02 R higher.
    Step,
}

const ALL: [Made; 5] = [Made::Shapes, Made::Boundaries, Made::Meshes, Made::Tee, Made::Plane];

fn slab(from: DVec3, until: DVec3) -> Surface {
    let form = Form::Box { half: 0.5 * (until - from) };
    Surface::new(from.midpoint(until), DQuat::IDENTITY, form, 0)
}

/// The box from the left end to x = 0, and one from there to the right end with its top at this height \[m\].
fn halves(height: f64) -> [Surface; 2] {
    let low = DVec3::new(-1.0, -0.5, -0.2);
    [slab(low, DVec3::new(0.0, 0.5, 0.0)), slab(low.with_x(0.0), DVec3::new(1.0, 0.5, height))]
}

/// A ball that rolls to the right at 1 m/s over a surface, of this modulus \[Pa\].
fn rolling(made: Made, modulus: f64) -> World {
    let material = Material { youngs_modulus: modulus, ..stone(0.5, 0.0).list[0].clone() };
    let mut world = World::new(GRAVITY, Materials::new(vec![material]));
    match made {
        Made::Whole => {
            let whole = slab(DVec3::new(-1.0, -0.5, -0.2), DVec3::new(1.0, 0.5, 0.0));
            world.add_boundary(fixed("whole"), [whole]);
        }
        Made::Shapes => world.add_boundary(fixed("both"), halves(0.0)),
        Made::Boundaries | Made::Step => {
            let height = if made == Made::Step { 0.02 * R } else { 0.0 };
            for (name, half) in ["left", "right"].into_iter().zip(halves(height)) {
                world.add_boundary(fixed(name), [half]);
            }
        }
        Made::Meshes => {
            for x in [-0.5, 0.5] {
                let mesh = Arc::new(box_mesh(DVec3::new(0.5, 0.5, 0.1)));
                let surfaces = world.mesh_surfaces(mesh, DVec3::new(x, 0.0, -0.1), DQuat::IDENTITY, 0);
                world.add_boundary(fixed(if x < 0.0 { "left" } else { "right" }), surfaces);
            }
        }
        Made::Tee => {
            let [left, _] = halves(0.0);
            let right = [(-0.5, 0.001), (0.001, 0.5)]
                .map(|(from, until)| slab(DVec3::new(0.0, from, -0.2), DVec3::new(1.0, until, 0.0)));
            world.add_boundary(fixed("left"), [left]);
            world.add_boundary(fixed("right"), right);
        }
        Made::Plane => {
            world.add_boundary(fixed("plane"), [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 0)]);
            world.add_boundary(fixed("right"), [halves(0.0)[1]]);
        }
    }
    world.add_grains([Grain {
        velocity: DVec3::X,
        angular_velocity: DVec3::new(0.0, 1.0 / R, 0.0),
        ..Grain::at(DVec3::new(-0.1, 0.0, R), R, 0)
    }]);
    world
}

/// Highest and lowest place of the ball from 60 ms on, when it rests in its overlap, and its number of contacts at most, and its velocity
/// at the end.
fn rolled(engine: &mut dyn Engine, step: f64) -> ([f64; 2], usize, DVec3) {
    let steps = |time: f64| (time / step).round() as u64;
    engine.advance(steps(0.06)).unwrap();
    let (mut low, mut high, mut most) = (f64::INFINITY, 0.0_f64, 0);
    for _ in 0..80 {
        engine.advance(steps(1e-3)).unwrap();
        let state = engine.snapshot().unwrap();
        let height = state.world.bodies.position.last().unwrap().z;
        (low, high, most) = (low.min(height), high.max(height), most.max(state.contacts.len()));
    }
    ([low, high], most, *engine.snapshot().unwrap().world.bodies.velocity.last().unwrap())
}

/// The ball sinks by 0.2 % (1 GPa) and 16 % (1 MPa) of its radius; at an edge it would hop by as much.
#[test]
fn a_ball_rolls_over_a_flush_joint_as_over_one_surface() {
    for (modulus, iterations) in [(1e9, 50), (1e6, 50)] {
        let settings = Settings { time_step: 1e-3, iterations, ..Settings::default() };
        let run = |made: Made| {
            let world = rolling(made, modulus);
            let of_cpu = rolled(&mut cpu(&world, &settings), 1e-3);
            // The softer ball, which would hop higher, stands for both on the GPU.
            let of_gpu = (modulus < 1e7).then(|| rolled(&mut gpu(&world, &settings), 1e-3));
            [of_cpu].into_iter().chain(of_gpu).collect::<Vec<_>>()
        };
        let whole = run(Made::Whole);
        for made in ALL {
            // The soft ball swings by 6e-5 R when the measurement begins, and by 2e-5 R on a plane beside a box.
            for ((exact, found), bound) in whole.iter().zip(run(made)).zip([4e-5 * R, 1e-4 * R]) {
                let apart = (0..2).map(|i| (found.0[i] - exact.0[i]).abs()).fold(0.0, f64::max);
                assert!(apart < bound, "{made:?}: {:e} R apart", apart / R);
                assert!((found.2 - exact.2).length() < 1e-4, "{made:?}: {}", found.2);
                assert_eq!(found.1, 1, "{made:?}");
            }
        }
        // Counter-check.
        let step = &run(Made::Step)[0];
        assert!(step.0[1] > whole[0].0[1] + 0.015 * R, "a step must show: {step:?}");
    }
}

#[test]
fn springs_take_a_ball_over_a_flush_joint() {
    let settings = Settings { method: Method::Smooth, time_step: 1e-4, ..Settings::default() };
    let height = |made: Made| {
        let mut engine = cpu(&rolling(made, 1e6), &settings);
        rolled(&mut engine, 1e-4).0
    };
    let (whole, flush) = (height(Made::Whole), height(Made::Boundaries));
    assert!((0..2).all(|i| (whole[i] - flush[i]).abs() < 1e-6 * R), "{whole:?} and {flush:?}");
}

/// A cylinder of two shells and a cap: a ball that lies across the joint of the shells, and one on the cap, have one contact each. Two
/// boundaries that may move against each other are no surface.
#[test]
fn shells_are_one_wall_and_what_may_move_is_not() {
    let wall = |z: f64| {
        let form = Form::Wall { bottom_radius: 0.2, top_radius: 0.2, length: 0.5, side: Side::Inside };
        Surface::new(DVec3::new(0.0, 0.0, z), DQuat::IDENTITY, form, 0)
    };
    let contacts = |upper: Motion| {
        let mut world = World::new(DVec3::ZERO, stone(0.5, 0.0));
        world.add_boundary(fixed("lower"), [wall(-0.25)]);
        world.add_boundary(Boundary { motion: upper, ..fixed("upper") }, [wall(0.25)]);
        world.add_grains([Grain::at(DVec3::new(0.2 - 0.99 * R, 0.0, 1e-3 * R), R, 0)]);
        let settings = Settings { time_step: 1e-4, ..Settings::default() };
        both(&world, &settings).map(|mut engine| engine.snapshot().unwrap().contacts.len())
    };
    assert_eq!(contacts(Motion::Fixed), [1, 1]);
    assert_eq!(contacts(Motion::rotation(DVec3::ZERO, DVec3::Z)), [2, 2]);
}

/// Counter-check of the shader: without the rule for edges the ball hops.
#[test]
fn a_shader_that_keeps_flush_edges_is_noticed() {
    let settings = Settings { time_step: 1e-3, iterations: 50, ..Settings::default() };
    let mut engine = gpu(&rolling(Made::Boundaries, 1e6), &settings);
    engine.edit_shaders(&[Edit { from: "face = select(face, other, covers);", to: "" }]).unwrap();
    let ([low, high], ..) = rolled(&mut engine, 1e-3);
    assert!(high - low > 0.01 * R, "{low} to {high}");
}
