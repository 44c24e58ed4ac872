//! Impacts that run out of sweeps are told \[E6\].
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::engine::{ImpactStages, StepReport};
use esker::model::{Grain, World};
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
