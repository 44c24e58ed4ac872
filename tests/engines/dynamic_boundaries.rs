//! Dynamic boundaries against closed forms, and with contacts solved in another order, on both engines.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::cpu::CpuEngine;
use esker::engine::{Engine, Snapshot};
use esker::model::{Axes, Boundary, Form, Motion, RigidBody, Surface, World};
use esker::observe::{energy, loads, packing};
use esker::scenario::Scenario;
use esker::settings::{Order, Settings};
use glam::{DQuat, DVec3};

const GRAVITY: f64 = 9.81;
/// Half the edges of the slab \[m\].
const HALF: DVec3 = DVec3::new(0.1, 0.1, 0.02);

fn solid(half: DVec3) -> RigidBody {
    RigidBody::solid(Form::Box { half }, 2500.0).expect("a box can be free")
}

fn add_box(world: &mut World, half: DVec3, position: DVec3, orientation: DQuat, body: RigidBody) {
    let boundary = Boundary { name: "box".into(), position, orientation, motion: Motion::Dynamic(body) };
    world.add_boundary(boundary, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Box { half }, 0)]);
}

/// A slab at rest on an incline of slope 1/2: gravity is tilted instead of the plane.
fn slab_on_an_incline(friction: f64) -> World {
    let angle = 0.5f64.atan();
    let mut world = with_floor(GRAVITY * DVec3::new(angle.sin(), 0.0, -angle.cos()), stone(friction, 0.0));
    add_box(&mut world, HALF, DVec3::Z * HALF.z, DQuat::IDENTITY, solid(HALF));
    world
}

#[test]
fn a_slab_on_an_incline_holds_below_the_angle_of_friction() {
    let settings = Settings { iterations: 20, time_step: 0.01, ..Settings::default() };
    for engine in &mut both(&slab_on_an_incline(0.9), &settings) {
        engine.advance(100).unwrap();
        let start = engine.snapshot().unwrap().world.bodies.position[1];
        engine.advance(300).unwrap();
        let state = engine.snapshot().unwrap();
        let drift = (state.world.bodies.position[1] - start).length();
        assert!(drift < 1e-3 * HALF.x, "{}: drifts {drift:e} m in 3 s", engine.identity().engine);
        let support = loads::weight_supported(&state);
        assert!((support - 1.0).abs() < 1e-3, "{}: carries {support}", engine.identity().engine);
    }
}

#[test]
fn a_slab_on_an_incline_slides_as_coulomb_says() {
    let settings = Settings { iterations: 20, time_step: 0.01, ..Settings::default() };
    let angle = 0.5f64.atan();
    let expected = GRAVITY * (angle.sin() - 0.05 * angle.cos());
    for engine in &mut both(&slab_on_an_incline(0.05), &settings) {
        engine.advance(100).unwrap();
        let before = engine.snapshot().unwrap().world.bodies.velocity[1];
        engine.advance(100).unwrap();
        let after = engine.snapshot().unwrap().world.bodies.velocity[1];
        let found = (after.x - before.x) / 1.0;
        let name = engine.identity().engine;
        assert!((found / expected - 1.0).abs() < 1e-3, "{name}: {found} m/s², Coulomb {expected} m/s²");
    }
}

/// Number of active contacts on the box.
fn carrying(state: &Snapshot) -> usize {
    state.contacts.iter().filter(|contact| contact.bodies[1] == 1 && contact.is_active()).count()
}

#[test]
fn mass_splitting_converges_to_the_sequential_answer() {
    let scenario = box_on_a_bed();
    let settings = Settings { iterations: 20, ..Settings::default() };
    let mut engine = CpuEngine::new(scenario.world, settings);
    engine.advance(60).unwrap();
    let bed = engine.snapshot().unwrap();
    assert!(carrying(&bed) > 15, "{} contacts carry the box", carrying(&bed));

    let step = |order, iterations| {
        let settings = Settings { iterations, order, ..settings };
        let mut engine = CpuEngine::new(bed.world.clone(), settings);
        engine.advance(1).unwrap();
        let state = engine.snapshot().unwrap();
        let motion = [state.world.bodies.velocity[1], state.world.bodies.angular_velocity[1] * 0.045];
        (motion, loads::on_boundaries(&state)[0].force)
    };
    let weight = GRAVITY / bed.world.bodies.inverse_mass[1];
    let apart = |iterations| {
        let (one, other) = (step(Order::Sequential, iterations), step(Order::Coloured, iterations));
        let motion = (one.0[0] - other.0[0]).length() + (one.0[1] - other.0[1]).length();
        (motion, (one.1 - other.1).length() / weight)
    };
    let (few, many) = (apart(10), apart(4000));

    assert!(many.0 < 1e-5, "box velocities {} m/s apart when converged", many.0);
    assert!(many.1 < 1e-3, "forces on the walls {} weights of the box apart", many.1);
    assert!(few.0 > 100.0 * many.0, "after 10 sweeps the orders still differ: {few:?}");
}

#[test]
fn a_box_settles_on_grains_whatever_the_order_and_the_engine() {
    let world = box_on_a_bed().world;
    let settings = Settings { iterations: 40, ..Settings::default() };
    let sequential = CpuEngine::new(world.clone(), Settings { order: Order::Sequential, ..settings });
    let [coloured, gpu] = both(&world, &settings);
    let heights = [Box::new(sequential) as Box<dyn Engine>, coloured, gpu].map(|mut engine| {
        engine.advance(300).unwrap();
        let state = engine.snapshot().unwrap();
        let name = engine.identity().engine;
        let support = loads::weight_supported(&state);
        assert!((support - 1.0).abs() < 1e-2, "{name}: the walls carry {support}");
        let on_box = loads::on_boundaries(&state)[1].force.z * state.world.bodies.inverse_mass[1];
        assert!((on_box / GRAVITY - 1.0).abs() < 1e-2, "{name}: the grains carry {on_box} m/s² of the box");
        let speed = state.world.bodies.velocity[1].length();
        assert!(speed < 1e-3, "{name}: the box moves at {speed} m/s");
        state.world.bodies.position[1].z
    });
    let spread = heights.iter().copied().fold(0.0, f64::max) - heights.iter().copied().fold(1.0, f64::min);
    assert!(spread < 0.2 * D, "heights {heights:?} m");
}

/// Equal runs have equal bits: the impulses of the contacts of a dynamic boundary are summed in a fixed order.
#[test]
fn the_same_scene_comes_to_the_same_bits() {
    for index in 0..2 {
        let [one, other] = [(), ()].map(|()| {
            let world = dynamic_boundaries_among_grains().world;
            let mut engine = both(&world, &Settings { iterations: 8, ..Settings::default() });
            engine[index].advance(40).unwrap();
            engine[index].snapshot().unwrap().world.bodies
        });
        assert_eq!(one, other);
    }
}

#[test]
fn a_dynamic_boundary_that_runs_away_is_named() {
    // The floor shoots up below the box and drives it away.
    let mut world = with_floor(DVec3::ZERO, stone(0.5, 0.5));
    world.boundaries[0].motion = Motion::velocity(DVec3::Z * 1e4);
    add_box(&mut world, HALF, DVec3::Z * HALF.z, DQuat::IDENTITY, solid(HALF));
    for engine in &mut both(&world, &Settings::default()) {
        let error = engine.advance(1).unwrap_err().to_string();
        assert!(error.contains("boundary \"box\" exploded"), "{error}");
    }
}

/// Returns a pseudorandom number from -1 to 1 and advances `state`, for poses and velocities.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// A box that hits the floor with its lowest corner, in a random pose, at a random velocity.
fn random_impact(seed: &mut u64) -> World {
    let mut next = || random(seed);
    let half = DVec3::new(0.1 + 0.09 * next(), 0.1 + 0.09 * next(), 0.1 + 0.09 * next());
    let orientation = DQuat::from_xyzw(next(), next(), next(), next()).normalize();
    let (restitution, friction) = (0.5 + 0.5 * next(), 1.0 + next());
    let mut world = with_floor(DVec3::ZERO, stone(friction, restitution));
    let lowest = (orientation * DVec3::Z).abs().z * half.z
        + (orientation * DVec3::X).abs().z * half.x
        + (orientation * DVec3::Y).abs().z * half.y;
    let spin = 10.0 * DVec3::new(next(), next(), next());
    let mut body = RigidBody { angular_velocity: spin, ..solid(half) };
    body.velocity = DVec3::new(3.0 * next(), 3.0 * next(), -4.0 + next());
    add_box(&mut world, half, DVec3::Z * (lowest + 1e-5), orientation, body);
    world
}

#[test]
fn an_impact_with_friction_never_gains_energy() {
    let settings = Settings { iterations: 300, time_step: 1e-5, skin: 1e-3, ..Settings::default() };
    let mut seed = 1;
    let (mut worst, mut impacts, mut limited) = (f64::NEG_INFINITY, 0, 0);
    for _ in 0..1000 {
        let world = random_impact(&mut seed);
        let before = energy_of(&world);
        let restitution = world.materials.laws()[0].restitution;
        let mut engine = CpuEngine::new(world, settings);
        engine.advance(1).unwrap();
        let state = engine.snapshot().unwrap();
        let after = energy::kinetic(&state) + energy::rotational(&state);
        impacts += u32::from(after < before * (1.0 - 1e-9));
        limited += u32::from(restitution > 0.9);
        worst = worst.max(after / before - 1.0);
    }
    assert!(impacts > 800, "{impacts} of 1000 lost energy: too few hit the floor");
    assert!(limited > 50, "{limited} bounced with e > 0.9");
    assert!(worst < 1e-9, "an impact gained {worst:e} of the energy");
}

fn energy_of(world: &World) -> f64 {
    let free = world.dynamic_boundary(1).unwrap();
    let bodies = &world.bodies;
    0.5 * free.mass * bodies.velocity[1].length_squared()
        + free.rotational_energy(bodies.orientation[1], bodies.angular_velocity[1])
}

#[test]
fn a_tumbling_box_keeps_momentum_and_energy_on_both_engines() {
    let half = DVec3::new(0.1, 0.2, 0.35);
    let spin = DVec3::new(0.1, 3.0, 0.2);
    let body = RigidBody { angular_velocity: spin, velocity: DVec3::new(0.1, 0.0, -0.2), ..solid(half) };
    let mut world = World::new(DVec3::ZERO, stone(0.5, 0.5));
    add_box(&mut world, half, DVec3::ZERO, DQuat::IDENTITY, body);
    let settings = Settings { iterations: 1, time_step: 1e-3, ..Settings::default() };
    for (engine, drifts) in both(&world, &settings).iter_mut().zip([1e-10, 1e-4]) {
        engine.advance(10_000).unwrap();
        let state = engine.snapshot().unwrap();
        let bodies = &state.world.bodies;
        let momentum = body.angular_momentum(bodies.orientation[0], bodies.angular_velocity[0]);
        let start = body.angular_momentum(DQuat::IDENTITY, spin);
        let drift = (momentum - start).length() / start.length();
        let name = engine.identity().engine;
        assert!(drift < drifts, "{name}: angular momentum drifts by {drift:e}");
        let drift = (energy::rotational(&state) / body.rotational_energy(DQuat::IDENTITY, spin) - 1.0).abs();
        assert!(drift < drifts, "{name}: energy drifts by {drift:e}");
        let drift = (packing::momentum(&state) / body.mass - body.velocity).length();
        assert!(drift < 1e-8, "{name}: momentum drifts by {drift:e} m/s");
    }
}

/// Grains that no dynamic boundary touches are solved to the same bits as without one.
#[test]
fn a_dynamic_boundary_far_away_changes_no_bit() {
    let scenario = mixed_sizes_in_a_drum();
    let settings = Settings { iterations: 10, ..Settings::default() };
    let far = r#"
[[boundaries]]
name = "far"
material = "pellet"
shape = { kind = "sphere", centre = [9.0, 0.0, 0.0], radius = 0.02 }
motion = { kind = "dynamic" }
[[grains]]"#;
    let text = scenario.resolved.replacen("[[grains]]", far, 1);
    let with_far = Scenario::parse("far", &text, std::path::Path::new("."), &[]).unwrap();
    assert_eq!(with_far.world.boundaries.len(), 5);
    let run = |world: &World| {
        let mut engine = CpuEngine::new(world.clone(), settings);
        engine.advance(40).unwrap();
        let world = engine.snapshot().unwrap().world;
        let first = world.boundaries.len();
        (world.bodies.position[first..].to_vec(), world.bodies.angular_velocity[first..].to_vec())
    };
    assert_eq!(run(&scenario.world), run(&with_far.world));
}

#[test]
fn locked_axes_hold_a_free_box() {
    let half = DVec3::new(0.1, 0.2, 0.05);
    let locked = Axes::TRANSLATION[1].and(Axes::ROTATION[0]).and(Axes::ROTATION[2]);
    let body = RigidBody { velocity: DVec3::new(0.5, 0.0, 0.0), locked, ..solid(half) };
    let mut world = with_floor(DVec3::NEG_Z * GRAVITY, stone(0.5, 0.3));
    let tilt = DQuat::from_rotation_y(0.3);
    add_box(&mut world, half, DVec3::new(0.0, 0.0, 0.2), tilt, body);
    let settings = Settings { iterations: 30, ..Settings::default() };
    for engine in &mut both(&world, &settings) {
        engine.advance(100).unwrap();
        let state = engine.snapshot().unwrap().world.bodies;
        assert!(state.position[1].y.abs() < 1e-12 && state.velocity[1].y == 0.0);
        let axis = state.orientation[1] * DVec3::Y;
        assert!((axis - DVec3::Y).length() < 1e-5, "{}: axis {axis}", engine.identity().engine);
        assert!((state.position[1].z - half.z).abs() < 1e-3, "it lies on the floor: {}", state.position[1]);
    }
}

#[test]
fn free_spheres_and_boxes_rest_on_each_other() {
    let mut world = with_floor(DVec3::NEG_Z * GRAVITY, stone(0.5, 0.0));
    add_box(&mut world, HALF, DVec3::Z * HALF.z, DQuat::IDENTITY, solid(HALF));
    let ball = RigidBody::solid(Form::Sphere { radius: 0.03 }, 2500.0).unwrap();
    for (i, z) in [0.04 + 0.03, 0.04 + 0.06 + 0.03].into_iter().enumerate() {
        let boundary = Boundary {
            name: format!("ball {i}"),
            position: DVec3::Z * z,
            orientation: DQuat::IDENTITY,
            motion: Motion::Dynamic(RigidBody {
                locked: Axes::TRANSLATION[0].and(Axes::TRANSLATION[1]),
                ..ball
            }),
        };
        let form = Form::Sphere { radius: 0.03 };
        world.add_boundary(boundary, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, form, 0)]);
    }
    let settings = Settings { iterations: 40, ..Settings::default() };
    for engine in &mut both(&world, &settings) {
        engine.advance(150).unwrap();
        let state = engine.snapshot().unwrap();
        let name = engine.identity().engine;
        let support = loads::weight_supported(&state);
        assert!((support - 1.0).abs() < 1e-3, "{name}: the floor carries {support}");
        let load = loads::on_boundaries(&state)[3].force.z * state.world.bodies.inverse_mass[3];
        assert!((load / GRAVITY - 1.0).abs() < 1e-3, "{name}: the upper ball carries itself: {load}");
        // Four corners on the floor, slab and ball, ball and ball: no contact is counted twice.
        assert_eq!(state.contacts.iter().filter(|contact| contact.is_active()).count(), 6, "{name}");
    }
}
