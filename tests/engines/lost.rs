//! Lost grains: grains that fall out of the scene are reported, and the domain decides what happens to them, in the same way on both
//! engines.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::sync::atomic::AtomicBool;

use crate::common::*;
use esker::engine::{Engine, Snapshot};
use esker::error::Error;
use esker::observe::lost::{count, lost};
use esker::output::summary::Summary;
use esker::scenario::Scenario;
use esker::settings::Settings;
use esker::simulation::{self, RunOptions};
use glam::DVec3;

/// Four grains at rest on a table of 20 cm, and four that fall past its edge at x = 0.15 to 0.21 m.
fn table(domain: &str) -> Scenario {
    let places = (0..8).map(|i| match i {
        0..4 => format!("[{}, 0, 0.0065]", 0.02 * f64::from(i) - 0.03),
        _ => format!("[{}, 0.01, 0.2]", 0.15 + 0.02 * f64::from(i - 4)),
    });
    let places: Vec<String> = places.collect();
    pellets(&format!(
        r#"
{domain}
[[boundaries]]
name = "table"
material = "pellet"
shape = {{ kind = "box", min = [-0.1, -0.1, -0.02], max = [0.1, 0.1, 0], side = "outside" }}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0065 }}
packing = {{ kind = "list", positions = [{}] }}
"#,
        places.join(", ")
    ))
}

const BELOW: &str = "[domain]\nmin = [-inf, -1, -0.5]";

fn settings() -> Settings {
    Settings { iterations: 10, ..Settings::default() }
}

fn after(engine: &mut dyn Engine, seconds: f64) -> Snapshot {
    engine.advance((seconds / settings().time_step).round() as u64).unwrap();
    engine.snapshot().unwrap()
}

#[test]
fn grains_that_fall_past_everything_go_on_and_are_counted_where_they_passed() {
    for mut engine in both(&table("").world, &settings()) {
        assert_eq!(lost(&engine.snapshot().unwrap()), None);
        // By now the four lost grains move more than twenty diameters per step and are 180 m below.
        let state = after(engine.as_mut(), 6.0);
        let found = lost(&state).expect("four are lost");
        assert_eq!((found.grains, count(&state)), (4, 4.0), "{}", engine.identity().engine);
        let fastest = state.world.bodies.velocity.iter().map(|v| v.length()).fold(0.0, f64::max);
        assert!(fastest * settings().time_step > 20.0 * D, "{fastest} m/s");
        let [from, to] = found.places;
        assert!((from.truncate() - DVec3::new(0.15, 0.01, 0.0).truncate()).length() < 1e-6, "{found:?}");
        assert!((to.truncate() - DVec3::new(0.21, 0.01, 0.0).truncate()).length() < 1e-6, "{found:?}");
        assert!(from.z < -0.02 && from.z > -0.5, "below the table, not where they are now: {found:?}");
    }
}

#[test]
fn a_domain_removes_what_leaves_it_on_the_substep_and_keeps_account_of_it() {
    let scenario = table(BELOW);
    let states = both(&scenario.world, &settings()).map(|mut engine| {
        // The grains fall 0.7 m, which takes 0.378 s.
        assert_eq!(count(&after(engine.as_mut(), 0.37)), 0.0);
        let state = after(engine.as_mut(), 0.01);
        assert_eq!((count(&state), state.world.present_count()), (4.0, 4), "{}", engine.identity().engine);
        let balance = state.balance.expect("an account");
        let error = balance.error(state.world.kinetic_energy()) / balance.turnover();
        assert!(balance.removed_energy > 0.9 * balance.turnover() / 2.0 && error.abs() < 1e-5, "{balance:?}");
        state.world.removed
    });
    assert_eq!(states[0], states[1]);
    let mut wider = scenario.world;
    wider.domain.as_mut().unwrap().min.z = -0.6;
    for mut engine in both(&wider, &settings()) {
        assert_eq!(count(&after(engine.as_mut(), 0.38)), 0.0, "a domain 10 cm deeper must show");
    }
}

#[test]
fn a_domain_that_keeps_counts_and_changes_nothing() {
    let keeping = table(&format!("{BELOW}\noutside = \"keep\""));
    for (mut engine, mut without) in
        both(&keeping.world, &settings()).into_iter().zip(both(&table("").world, &settings()))
    {
        let (state, expected) = (after(engine.as_mut(), 0.5), after(without.as_mut(), 0.5));
        assert_eq!(count(&state), 4.0);
        assert_eq!(state.world.bodies, expected.world.bodies);
    }
}

#[test]
fn a_domain_that_stops_fails_with_the_first_grain_outside_and_its_place() {
    let stopping = table(&format!("{BELOW}\noutside = \"stop\""));
    for mut engine in both(&stopping.world, &settings()) {
        let error = engine.advance(1000).unwrap_err();
        let Error::LeftDomain { grain: 4, time, x, z, .. } = error else { panic!("{error}") };
        assert!((time - 0.38).abs() < 1e-9 && (x - 0.15).abs() < 1e-6, "{error}");
        assert!(z < -0.5 && z > -0.52, "{error}");
    }
}

/// Summary of a run of the scene on the CPU engine.
fn summary(scenario: &Scenario) -> Summary {
    let folder = tempfile::tempdir().unwrap();
    let never = AtomicBool::new(false);
    let options = RunOptions::new(folder.path(), &never);
    simulation::run(scenario, &mut cpu(&scenario.world, &settings()), options, &mut |_| ()).unwrap()
}

#[test]
fn a_summary_says_how_many_are_lost_and_where() {
    let found = summary(&Scenario { duration: 1.0, ..table(BELOW) });
    let lost = found.lost.expect("some are lost");
    assert_eq!((lost.grains, found.counts.grains), (4, 4));
    assert!((lost.places[0][0] - 0.15).abs() < 1e-6 && (lost.places[1][0] - 0.21).abs() < 1e-6, "{lost:?}");
    assert!(found.sinks.is_empty(), "the domain is no sink");
    assert_eq!(found.observables.get("grains_lost"), Some(4.0));
    assert_eq!(summary(&Scenario { duration: 0.2, ..table(BELOW) }).lost, None, "they are still inside");
}
