//! Problems with one solution: whatever the sweeps start from, forces, overlaps and accelerations are those of the closed form, to the
//! tolerances of the validation suite.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::sync::atomic::AtomicBool;

use crate::common::*;
use esker::engine::{Engine, Precision};
use esker::observe::expectation::Judgement;
use esker::simulation::{self, RunOptions};

const STARTS: [&str; 4] = ["cold", "history", "adaptive", "model"];

/// Labels of the expectations that a case misses with a start and a number of sweeps.
fn missed(case: &str, precision: Precision, start: &str, sweeps: u32) -> Vec<String> {
    missed_with(case, precision, &[&format!("solver.warm_start={start}")], sweeps)
}

fn missed_with(case: &str, precision: Precision, settings: &[&str], sweeps: u32) -> Vec<String> {
    let sweeps = format!("solver.iterations={sweeps}");
    let settings = [settings, &[&sweeps, "output.formats=[]"]].concat();
    let scenario = scenario(&format!("validation/{case}.toml"), &settings);
    let mut engine: Box<dyn Engine> = match precision {
        Precision::Double => Box::new(cpu(&scenario.world, &scenario.settings)),
        Precision::Single => Box::new(gpu(&scenario.world, &scenario.settings)),
    };
    let (folder, interrupt) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
    let options = RunOptions::new(folder.path(), &interrupt);
    let summary = simulation::run(&scenario, engine.as_mut(), options, &mut |_| ()).unwrap();
    let verdicts = summary.expectations.into_iter();
    verdicts.filter(|found| found.verdict != Judgement::Met).map(|found| found.label).collect()
}

/// Problems that are statically determinate, or have no friction to be shared out in more than one way, with sweeps
/// enough for a cold start.
#[test]
fn every_warm_start_comes_to_the_same_forces_overlaps_and_accelerations() {
    for (case, precision, sweeps) in [
        ("column_forces", Precision::Double, 200),
        ("column_forces", Precision::Single, 100),
        ("incline", Precision::Double, 5),
        ("incline", Precision::Single, 5),
        ("triangle", Precision::Double, 100),
        ("triangle", Precision::Single, 50),
    ] {
        for start in STARTS {
            let missed = missed(case, precision, start, sweeps);
            assert!(missed.is_empty(), "{case}, {precision:?}, {start}: missed {missed:?}");
        }
    }
}

/// Sweeps that do not converge leave an error in the overlaps of a column, but its forces are those of rest all the same. A start that
/// keeps its impulses, or knows the contact law, needs a tenth of the sweeps.
#[test]
fn a_cold_start_and_a_fading_one_need_more_sweeps_than_the_others() {
    for precision in [Precision::Double, Precision::Single] {
        for start in ["cold", "history"] {
            let missed = missed("column_forces", precision, start, 20);
            let of_overlaps = missed.iter().all(|label| label.starts_with("overlap"));
            assert!(!missed.is_empty() && of_overlaps, "{precision:?}, {start}: missed {missed:?}");
        }
        for start in ["adaptive", "model"] {
            let missed = missed("column_forces", precision, start, 20);
            assert!(missed.is_empty(), "{precision:?}, {start}: missed {missed:?}");
        }
    }
}

/// Accelerated sweeps have the same solution \[E12\], whatever they start from.
#[test]
fn accelerated_sweeps_come_to_the_same_forces() {
    let accelerated = "solver.acceleration=nesterov";
    for (case, precision, sweeps) in [
        ("column_forces", Precision::Double, 200),
        ("column_forces", Precision::Single, 100),
        ("triangle", Precision::Double, 100),
        ("triangle", Precision::Single, 50),
    ] {
        for start in ["cold", "history"] {
            let settings = [format!("solver.warm_start={start}"), accelerated.to_owned()];
            let missed = missed_with(case, precision, &settings.each_ref().map(String::as_str), sweeps);
            assert!(missed.is_empty(), "{case}, {precision:?}, {start}: missed {missed:?}");
        }
    }
}
