//! Periodic cells that deform \[E23\]: flow without contacts, collisions across sheared faces, stress, work, goal stresses, checkpoints.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::engine::{Engine, Snapshot};
use esker::error::Error;
use esker::gpu::GpuEngine;
use esker::model::{AxisControl, Deformation, DeformationStage, Grain, Periodic, Tilt, World};
use esker::observe::energy;
use esker::scenario::Scenario;
use esker::settings::Settings;
use glam::DVec3;

/// Radius of the grains \[m\], and length of the cell \[m\].
const R: f64 = 0.01;
const LENGTH: f64 = 0.1;

/// A cube around the origin that is sheared along x across y at this rate \[1/s\], without grains.
fn sheared(rate: f64) -> World {
    let mut world = World::new(DVec3::ZERO, stone(0.5, 0.5));
    let tilt = Tilt { shift: 0.0, along: 0, across: 1 };
    world.periodic = Periodic { min: DVec3::splat(-0.5 * LENGTH), length: DVec3::splat(LENGTH), tilt };
    let stage = DeformationStage { from: 0.0, axes: [AxisControl::Rate(0.0); 3], shear_rate: rate };
    world.deformation = Some(Deformation::new(vec![stage], world.periodic.length));
    world
}

fn at(time_step: f64) -> Settings {
    Settings { time_step, iterations: 50, ..Settings::default() }
}

#[test]
fn grains_without_contacts_follow_the_flow_whatever_the_number_of_wraps() {
    let (rate, h) = (40.0, 1e-3);
    let starts = [DVec3::new(0.01, 0.041, 0.0), DVec3::new(-0.04, -0.03, 0.03), DVec3::new(0.0, 0.0, -0.03)];
    let mut world = sheared(rate);
    world.add_grains(starts.map(|start| Grain::at(start, R, 0)));
    let mut engine = cpu(&world, &at(h));
    for part in 1..=10 {
        engine.advance(50).unwrap();
        let state = engine.snapshot().unwrap();
        let strain = 50.0 * f64::from(part) * h * rate;
        for (start, place) in starts.iter().zip(&state.world.bodies.position) {
            let expected = *start + strain * start.y * DVec3::X;
            let off = state.world.separation(*place, expected).length();
            // Some 500 sums of lengths below 1 m.
            assert!(off < 500.0 * f64::EPSILON, "{off} m away after a strain of {strain}");
        }
        assert!(state.world.bodies.velocity.iter().all(|velocity| *velocity == DVec3::ZERO));
    }
    let strain = 500.0 * h * rate;
    assert!(strain * starts[0].y > 5.0 * LENGTH, "the first grain went around more than five times");
}

/// Velocities of two grains that have met, with the first of them at this height, beside the flow.
fn after_a_collision(rate: f64, height: f64) -> [DVec3; 4] {
    let mut world = sheared(rate);
    let (first, second) = (DVec3::new(0.004, height, 0.0), DVec3::new(-0.008, height + 2.05 * R, 0.003));
    let velocity = DVec3::new(0.0, -0.4, 0.05);
    world.add_grains([Grain::at(first, R, 0), Grain { velocity, ..Grain::at(second, R, 0) }]);
    let mut engine = cpu(&world, &at(1e-3));
    engine.advance(60).unwrap();
    let bodies = engine.snapshot().unwrap().world.bodies;
    [bodies.velocity[0], bodies.velocity[1], bodies.angular_velocity[0], bodies.angular_velocity[1]]
}

#[test]
fn grains_collide_across_a_sheared_face_as_in_the_middle_of_the_cell() {
    let difference = |a: [DVec3; 4], b: [DVec3; 4]| {
        let pairs = a.iter().zip(&b).enumerate();
        // Spins count as the speeds of surfaces.
        pairs.map(|(i, (a, b))| (*a - *b).length() * if i < 2 { 1.0 } else { R }).fold(0.0, f64::max)
    };
    let middle = after_a_collision(20.0, -R);
    let across = after_a_collision(20.0, 0.5 * LENGTH - R);
    assert!(difference(middle, across) < 1e-12, "{middle:?} and {across:?}");
    let momentum = middle[0] + middle[1] - DVec3::new(0.0, -0.4, 0.05);
    // A grain that goes across the flow falls behind it, by its way times the rate: along x alone.
    assert!(momentum.y.abs() < 1e-14 && momentum.z.abs() < 1e-14, "{momentum}");
    assert!(middle[2].length() > 1.0, "the flow spins them: {}", middle[2]);
    let without = after_a_collision(0.0, 0.5 * LENGTH - R);
    assert!(
        difference(across, without) > 1e-2,
        "without the velocity of the images it would be another collision"
    );
}

/// The scenario of the sheared cell, with 64 grains and these changes.
fn small_cell(changes: &[&str]) -> Scenario {
    let region =
        "grains.0.packing.region={ kind = \"box\", min = [0, 0, 0], max = [0.0041, 0.0041, 0.0041] }";
    let small = [
        "periodic.x=[0.0, 0.0041]",
        "periodic.y=[0.0, 0.0041]",
        "periodic.z=[0.0, 0.0041]",
        region,
        "grains.0.packing.count=64",
        "grains.0.radius={ kind = \"constant\", value = 0.0005 }",
    ];
    scenario("shear_cell.toml", &[&small, changes].concat())
}

fn run(scenario: &Scenario, time: f64) -> Snapshot {
    let mut engine = cpu(&scenario.world, &scenario.settings);
    engine.advance((time / scenario.settings.time_step).round() as u64).unwrap();
    engine.snapshot().unwrap()
}

const SHEAR: &str = "periodic.stages=[{ shear = { along = \"x\", across = \"y\", rate = 100.0 } }]";

#[test]
fn the_work_of_the_cell_is_stress_times_strain_and_closes_the_balance() {
    for (friction, unsymmetric) in [("0.0", 1e-12), ("0.5", 0.05)] {
        let friction = format!("materials.glass.friction={friction}");
        let state = run(&small_cell(&[SHEAR, &friction]), 0.01);
        assert!(energy::error_share(&state) < 1e-12, "{}", energy::error_share(&state));
        let stress = state.world.deformation.as_ref().unwrap().stress_time;
        let size = stress.col(0)[0] + stress.col(1)[1] + stress.col(2)[2];
        assert!(size > 0.0, "the grains push");
        let odd = stress - stress.transpose();
        let largest = odd.to_cols_array().iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        assert!(largest < unsymmetric * size, "{largest} of {size}");
        // The volume stays, and the shear rate is 100/s. Of the momentum flux the velocities before and after a substep count.
        let expected = -100.0 * state.world.periodic.volume() * 0.5 * (stress.col(1)[0] + stress.col(0)[1]);
        let work = state.balance.unwrap().boundary_work;
        let tolerance = if unsymmetric < 1e-6 { 0.02 } else { 0.05 };
        assert!((work / expected - 1.0).abs() < tolerance, "{work} J and {expected} J");
        let momentum: DVec3 =
            (0..64).map(|i| state.world.grain_mass(i) * state.world.bodies.velocity[i]).sum();
        let scale = 64.0 * state.world.grain_mass(0) * 100.0 * 1e-3;
        assert!(momentum.length() < 1e-12 * scale, "{momentum}");
    }
}

#[test]
fn a_cell_comes_to_its_goal_stresses_and_a_prescribed_rate_keeps_its_length() {
    let stages = "periodic.stages=[{ x = { stress = 800.0 }, y = { stress = 1000.0 }, z = { rate = -2.0 } }, \
                  { from = 0.01, x = { stress = 800.0 }, y = { stress = 1000.0 } }]";
    let scenario = small_cell(&[stages]);
    let mut engine = cpu(&scenario.world, &scenario.settings);
    engine.advance(750).unwrap();
    let before = engine.snapshot().unwrap().world;
    engine.advance(250).unwrap();
    let after = engine.snapshot().unwrap().world;
    let stress_time = |world: &World| world.deformation.as_ref().unwrap().stress_time;
    let stress = (stress_time(&after) - stress_time(&before)) * (after.time - before.time).recip();
    for (axis, goal) in [(0, 800.0), (1, 1000.0)] {
        let found = stress.col(axis)[axis];
        assert!((found / goal - 1.0).abs() < 0.01, "{found} Pa along axis {axis}");
    }
    let steps = (0.01 / scenario.settings.time_step).round() as i32;
    let expected = 0.0041 * (1.0 - 2.0 * scenario.settings.time_step).powi(steps);
    assert!((after.periodic.length.z / expected - 1.0).abs() < 1e-12, "{}", after.periodic.length.z);
    assert!(after.periodic.length.x < 0.0041 && after.periodic.length.x != after.periodic.length.y);
}

#[test]
fn a_run_goes_on_from_a_checkpoint_to_the_bit() {
    let stage = "periodic.stages=[{ y = { stress = 1000.0 }, shear = { along = \"z\", across = \"y\", rate = 300.0 } }]";
    let scenario = small_cell(&[stage]);
    let mut engine = cpu(&scenario.world, &scenario.settings);
    engine.advance(60).unwrap();
    let mut saved = Vec::new();
    engine.save(&mut saved).unwrap();
    let mut other = cpu(&scenario.world, &scenario.settings);
    other.restore(&saved).unwrap();
    let [one, other] = [&mut engine, &mut other].map(|engine| {
        engine.advance(40).unwrap();
        engine.snapshot().unwrap().world
    });
    assert!(one.periodic.tilt.shift != 0.0 && one.periodic.length.y != 0.0041);
    assert_eq!((one.periodic, one.deformation), (other.periodic, other.deformation));
    assert_eq!((one.bodies.position, one.bodies.velocity), (other.bodies.position, other.bodies.velocity));
}

#[test]
fn what_a_cell_cannot_have_is_refused_by_name() {
    let scenario = small_cell(&[]);
    let refused = GpuEngine::new(device(), scenario.world.clone(), scenario.settings).err().unwrap();
    assert!(matches!(refused, Error::NotOnGpu { setting: "periodic.stages" }), "{refused}");
    for (changes, words) in [
        (["gravity=[0.0, 0.0, -9.81]", "seed=1"], "gravity, which nothing would hold up"),
        (["solver.method=\"smooth\"", "solver.time_step=1e-7"], "the smooth method"),
        (["solver.algorithm=\"apgd\"", "seed=1"], "the algorithm apgd"),
        (["periodic.max_rate=-1.0", "seed=1"], "max_rate"),
        (["periodic.stages=[{ from = 1.0 }]", "seed=1"], "the first stage begins at 0"),
        (
            ["periodic.stages=[{ y = { stress = 1.0, rate = 1.0 } }]", "seed=1"],
            "needs one of `rate` and `stress`",
        ),
        (
            ["periodic.stages=[{ shear = { along = \"x\", across = \"x\", rate = 1.0 } }]", "seed=1"],
            "is along and across x",
        ),
    ] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/shear_cell.toml");
        let message = Scenario::load(&path, &changes.map(str::to_owned)).err().unwrap().to_string();
        assert!(message.contains(words), "{words}: {message}");
    }
}
