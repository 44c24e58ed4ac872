//! Warnings of runs that reach their end and are wrong.
#![allow(clippy::expect_used, reason = "a failed expectation fails the test")]

use std::fs;

use serde_json::Value;

use crate::place::{Place, code, error_text};

/// A column of 25 pellets. Started from the model with 5 sweeps it collapses into itself and is thrown up again.
const COLUMN: &str = r#"
duration = 1.0
[solver]
time_step = 5e-3
iterations = 60
warm_start = "history"
[materials.pellet]
density = 3700.0
youngs_modulus = 6e6
poisson_ratio = 0.25
restitution = 0.18
friction = 0.91
rolling_resistance = 0.32
[[boundaries]]
name = "floor"
material = "pellet"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
packing = { kind = "column", count = 25, base = [0, 0, 0] }
[output]
every = 0.05
formats = ["csv"]
"#;
const TOO_FEW_SWEEPS: [&str; 4] = ["--set", "solver.iterations=5", "--set", "solver.warm_start=\"model\""];

/// Exit code, what was said and the summary of a run of the column on a device.
fn run(device: &str, arguments: &[&str]) -> (i32, String, Value) {
    let place = Place::with("column.toml", COLUMN);
    let output = place.esker(&[&["run", "column.toml", "--device", device], arguments].concat());
    let summary = fs::read_to_string(place.path("out/column/summary.json")).expect("a summary");
    (code(&output), error_text(&output), serde_json::from_str(&summary).expect("JSON"))
}

fn kinds(summary: &Value) -> Vec<&str> {
    let warnings = summary["warnings"].as_array().expect("a list");
    warnings.iter().map(|warning| warning["kind"].as_str().expect("a word")).collect()
}

#[test]
fn a_run_that_is_right_gives_no_warning_and_says_where_it_was_made() {
    for device in ["cpu", "software"] {
        let (code, said, summary) = run(device, &[]);
        assert!(code == 0 && !said.contains("warning"), "{device}: {said}");
        assert_eq!(kinds(&summary), [""; 0], "{device}");
        // Compliance lets the lowest contact overlap by 0.044 of the radius under 25 pellets.
        let largest = &summary["largest_overlap"];
        assert!((largest["overlap"].as_f64().expect("a number") - 0.045).abs() < 0.01, "{device}: {largest}");
        assert!(
            largest["bodies"].as_array().is_some_and(|bodies| bodies.iter().any(|it| it == "grain 0")),
            "{device}"
        );
        let provenance = &summary["provenance"];
        assert!(
            provenance["command"]
                .as_array()
                .is_some_and(|words| words.iter().any(|word| word == "column.toml"))
        );
        assert!(
            provenance["date"].as_str().is_some_and(|date| date.starts_with("20") && date.ends_with('Z'))
        );
    }
}

#[test]
fn a_column_that_too_few_sweeps_throw_up_is_told_on_both_engines() {
    for device in ["cpu", "software"] {
        let (code, said, summary) = run(device, &TOO_FEW_SWEEPS);
        assert_eq!(code, 0, "{device}: {said}");
        let found = kinds(&summary);
        assert!(found.contains(&"overlap") && found.contains(&"residual"), "{device}: {said}");
        // Where the lowest contacts are solved first, as on the CPU engine, the start throws the column up; else it only sinks.
        assert!(device != "cpu" || found.contains(&"energy_made"), "{device}: {said}");
        assert_eq!(said.matches("warning: ").count(), found.len(), "{device}: {said}");
        let overlap = &summary["warnings"][0];
        assert!(overlap["value"].as_f64() > overlap["limit"].as_f64(), "{device}: {overlap}");
        assert!(overlap["place"][2].as_f64().is_some_and(|height| height < 0.35), "{device}: {overlap}");
        assert_eq!(overlap["bodies"].as_array().map(Vec::len), Some(2), "{device}: {overlap}");
    }
}

#[test]
fn a_run_that_is_to_stop_at_a_warning_fails_at_the_output_that_shows_it() {
    let stop = ["--set", "run.on_warning=\"stop\""];
    let (code, said, summary) = run("cpu", &[&TOO_FEW_SWEEPS[..], &stop].concat());
    assert!(code == 1 && said.contains("run.on_warning"), "{said}");
    assert_eq!(summary["status"], "failed");
    let ended = summary["simulated_seconds"].as_f64().expect("a number");
    assert!(
        ended < 0.5 && summary["message"].as_str().is_some_and(|it| it.contains("normal impulses made")),
        "{summary}"
    );
    let (code, said, _) = run("cpu", &stop);
    assert_eq!(code, 0, "a run without warnings goes on: {said}");
}
