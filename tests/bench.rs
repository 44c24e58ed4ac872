//! What `esker bench` measures with, and the command as a user starts it.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod common;

use common::*;
use esker::engine::{Engine, Profiling};

/// Dispatches grow with the sweeps by the same number each, and profiling changes neither them nor a bit of the result.
#[test]
fn profiling_is_opt_in_counts_the_same_dispatches_and_changes_no_bit() {
    let scenario = box_of(60);
    let mut settings = scenario.settings;
    let (mut plain, mut profiled) = (gpu(&scenario.world, &settings), gpu(&scenario.world, &settings));
    profiled.profile(Profiling::On);
    let (without, with) = (plain.advance(3).unwrap(), profiled.advance(3).unwrap());
    assert!(without.stages.is_empty(), "{:?}", without.stages);
    assert!(
        with.stages.iter().any(|(stage, seconds)| *stage == "sweep" && *seconds > 0.0),
        "{:?}",
        with.stages
    );
    assert_eq!(without.dispatches, with.dispatches);
    assert_eq!(plain.snapshot().unwrap().world, profiled.snapshot().unwrap().world);

    profiled.profile(Profiling::Off);
    assert!(profiled.advance(1).unwrap().stages.is_empty(), "it can be switched off again");

    // The impact stage sweeps as often, though its dispatches are empty while nothing bounces.
    settings.iterations += 5;
    let more = gpu(&scenario.world, &settings).advance(1).unwrap().dispatches;
    assert_eq!(more.per_sweep, without.dispatches.per_sweep);
    assert_eq!(more.per_step - without.dispatches.per_step, 2 * 5 * more.per_sweep);
    assert_eq!(more.per_sweep, 10, "8 colours, the rest and its sides");
    assert_eq!(more.stages.iter().map(|(_, count)| count).sum::<u32>(), more.per_step);
}

#[test]
fn the_cpu_engine_times_its_stages_and_dispatches_nothing() {
    let scenario = box_of(20);
    let report = cpu(&scenario.world, &scenario.settings).advance(1).unwrap();
    assert!(!report.stages.is_empty());
    assert_eq!(report.dispatches.per_step, 0);
}
