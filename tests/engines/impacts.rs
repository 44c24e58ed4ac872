//! Impacts take the sweeps that they need, and those that run out of them are told \[E6\].
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::cpu::CpuEngine;
use esker::engine::{Engine, ImpactStages, Snapshot, StepReport};
use esker::model::random::Stream;
use esker::model::{Grain, Materials, Periodic, Random, World};
use esker::settings::Settings;
use glam::DVec3;

/// Seven equal elastic grains in touch along x, of which the first comes at 1 m/s: its momentum goes through the line in one impact stage
/// of many sweeps.
fn line() -> World {
    let mut world = World::new(DVec3::ZERO, stone(0.0, 1.0));
    let centre = |i: i32| f64::from(i) * DVec3::new(0.01, 0.0, 0.0);
    world.add_grains((1..7).map(|i| Grain::at(centre(i), 0.005, 0)));
    world.add_grains([Grain { velocity: DVec3::X, ..Grain::at(centre(0), 0.005, 0) }]);
    world
}

/// Reports of both engines and the kinetic energies that they leave, of the initial one, after `steps` steps of 1 ms.
fn hit(impact_iterations: u32, steps: u64) -> [(StepReport, f64); 2] {
    let world = line();
    let settings = Settings { time_step: 1e-3, impact_iterations, ..Settings::default() };
    both(&world, &settings).map(|mut engine| {
        let report = engine.advance(steps).unwrap();
        let after = engine.snapshot().unwrap().world.kinetic_energy();
        (report, after / world.kinetic_energy())
    })
}

/// With two sweeps the hit is not passed on to the end of the line: energy is lost, and the report says that one stage ran out of sweeps
/// and by how much. It says so as long as the run goes on.
#[test]
fn a_report_counts_the_substeps_whose_impacts_ran_out_of_sweeps() {
    for (report, energy) in hit(2, 4) {
        let ImpactStages { bounced, unsettled, residual, fraction } = report.impact_stages;
        assert!(energy < 0.99, "two sweeps left {energy} of the energy");
        assert!(bounced >= unsettled && unsettled >= 1, "{unsettled} of {bounced}");
        // The grain came at 1 m/s, and 1e-5 of that would have been settled.
        assert!(residual > 1e-5 && residual <= 2.0 && fraction > 1e-5, "{residual} m/s, {fraction}");
    }
}

/// With enough sweeps the energy stays, within what 100 sweeps to a tolerance of 1e-5 leave, and no stage is counted as unsettled.
#[test]
fn impacts_that_settle_are_not_counted_as_unsettled() {
    for (report, energy) in hit(400, 4) {
        let stages = report.impact_stages;
        assert!((energy - 1.0).abs() < 1e-3, "{energy} of the energy");
        assert!(stages.bounced >= 1, "nothing bounced");
        assert_eq!(stages, ImpactStages { bounced: stages.bounced, ..ImpactStages::default() });
        assert_eq!(report.impacts.fraction, 0.0);
    }
}

/// Spheres of 10 mm and solid fraction 0.30 in a periodic cube, from a cubic lattice, with velocities from a normal distribution of `speed`
/// \[m/s\] per component: at 0.3 m/s they go a tenth of a diameter in 2 ms.
fn gas(per_edge: usize, speed: f64, materials: Materials) -> World {
    let mut world = World::new(DVec3::ZERO, materials);
    let cell = 0.01 * (std::f64::consts::PI / 6.0 / 0.3).cbrt();
    world.periodic =
        Periodic { min: DVec3::ZERO, length: DVec3::splat(per_edge as f64 * cell), ..Periodic::NONE };
    let mut random = Random::new(5, Stream::Grains(0));
    let mut draw = || speed * DVec3::new(random.normal(), random.normal(), random.normal());
    let place = |i: usize| {
        DVec3::new((i % per_edge) as f64, (i / per_edge % per_edge) as f64, (i / per_edge.pow(2)) as f64)
    };
    let grain = |i: usize| Grain { velocity: draw(), ..Grain::at((place(i) + 0.5) * cell, 0.005, 0) };
    world.add_grains((0..per_edge.pow(3)).map(grain).collect::<Vec<_>>());
    world
}

/// Fraction of the kinetic energy that is left after 60 steps of 2 ms.
fn left(mut engine: impl Engine) -> f64 {
    let energy = |engine: &mut dyn Engine| engine.snapshot().unwrap().world.kinetic_energy();
    let before = energy(&mut engine);
    engine.advance(60).unwrap();
    energy(&mut engine) / before
}

/// Elastic impacts keep the energy. What a gas loses in the long run are contacts slower than the threshold of 0.05 m/s: with 36 collisions
/// per grain in this time 36 (0.05/0.3)⁴/96 = 3e-4. Pairs that were not near to each other a step before overlap, which
/// gives about as much. With no more than ten sweeps a twentieth and more is lost.
#[test]
fn impacts_of_a_gas_find_their_number_of_sweeps() {
    let world = gas(6, 0.3, stone(0.0, 1.0));
    let settings = Settings { time_step: 2e-3, ..Settings::default() };
    let (on_cpu, on_gpu) = (left(cpu(&world, &settings)), left(gpu(&world, &settings)));
    assert!((on_cpu - 1.0).abs() < 0.003 && (on_gpu - 1.0).abs() < 0.003, "{on_cpu} and {on_gpu}");
    let ten = Settings { impact_iterations: 10, impact_blocks: 1, ..settings };
    let [ten_on_cpu, ten_on_gpu] = [left(cpu(&world, &ten)), left(gpu(&world, &ten))];
    assert!(ten_on_cpu < 0.95 && ten_on_gpu < 0.95, "with ten sweeps {ten_on_cpu} and {ten_on_gpu}");
}

/// Impacts that need more sweeps than a submission holds halt it and go on in another one. Where that happens depends on the steps of a
/// submission, and no bit of the state does, with several substeps per step as with one.
#[test]
fn impacts_that_go_on_in_another_submission_come_to_the_same_bits() {
    let world = gas(4, 0.3, stone(0.3, 0.9));
    for substeps in [1, 2] {
        let settings = Settings { time_step: 2e-3, substeps, impact_iterations: 3, ..Settings::default() };
        let run = |batches: &[u64]| {
            let mut engine = gpu(&world, &settings);
            let sweeps = |&steps: &u64| engine.advance(steps).unwrap().impacts.sweeps;
            let most = batches.iter().map(sweeps).max().unwrap();
            let Snapshot { world, balance, report, .. } = engine.snapshot().unwrap();
            ((world.bodies.velocity, balance, report.impacts, report.impact_stages), most)
        };
        let ((whole, _), (parts, most)) = (run(&[12]), run(&[1; 12]));
        assert_eq!(whole, parts);
        assert!(most > 4, "no stage went on after {most} sweeps");
        assert_ne!(whole.0, run(&[11]).0.0);
    }
}

/// Where no pair bounces well, and where impacts settle in one block, a stage takes no more sweeps than it is given, and a step has no more
/// dispatches.
#[test]
fn impacts_take_more_sweeps_only_where_bounces_keep_energy() {
    let settings = Settings { time_step: 2e-3, impact_iterations: 4, ..Settings::default() };
    let most = |restitution: f64| {
        let mut engine = CpuEngine::new(gas(4, 0.3, stone(0.0, restitution)), settings);
        (0..20).map(|_| engine.advance(1).unwrap().impacts.sweeps).max().unwrap()
    };
    assert_eq!(most(0.5), 4);
    assert!(most(0.51) > 8 && most(0.51) <= 4 * settings.impact_blocks);
    let dispatches = |restitution: f64, impact_iterations: u32| {
        let settings = Settings { impact_iterations, ..settings };
        gpu(&gas(3, 0.3, stone(0.0, restitution)), &settings).advance(1).unwrap().dispatches.per_step
    };
    // The kernel that looks whether a stage has to go on is one more.
    assert_eq!(dispatches(0.51, 40), dispatches(0.5, 40) + 1);
}

/// What a gas loses at any step are the contacts that close more slowly than the threshold, ω (v_imp/σ)⁴/96 of its energy per second
/// \[E6\]. In a second 64 spheres at 0.1 m/s meet 3 000 times, in 190 of them more slowly than 0.05 m/s. What they lose goes with u²,
/// which is uniform, with a standard deviation of √(1/3) of the mean; the sum of 190 at random is good to √((1 + 1/3)/190) = 8 %. As few
/// speeds are not normal all the time, and enter by their fourth power, half of the loss is allowed for. A fifth of the threshold leaves
/// 1/625 of it, of some 8 collisions.
#[test]
fn a_gas_loses_its_slow_contacts() {
    let world = gas(4, 0.1, stone(0.0, 1.0));
    let mass = world.grain_mass(0);
    let speed = (2.0 * world.kinetic_energy() / (3.0 * 64.0 * mass)).sqrt();
    let chance = (1.0 - 0.3 / 2.0) / (1.0 - 0.3f64).powi(3);
    let collisions = 24.0 * 0.3 * chance * speed / (std::f64::consts::PI.sqrt() * 0.01);
    let expected = collisions * (0.05 / speed).powi(4) / 96.0;
    let lost = |impact_threshold: f64| {
        let settings = Settings { time_step: 1e-3, impact_threshold, ..Settings::default() };
        let mut engine = cpu(&world, &settings);
        engine.advance(1000).unwrap();
        1.0 - engine.snapshot().unwrap().world.kinetic_energy() / world.kinetic_energy()
    };
    let (slow, few) = (lost(0.05), lost(0.01));
    assert!((slow / expected - 1.0).abs() < 0.5, "{slow} lost, {expected} expected");
    assert!(few.abs() < 0.01 * expected, "{few} lost with a fifth of the threshold, of {expected}");
}
