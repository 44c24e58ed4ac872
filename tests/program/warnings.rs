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

/// A ball between two flush boxes; the second box may be raised.
fn flush(device: &str, height: f64) -> (String, i32, String, Value) {
    let text = format!(
        r#"
duration = 0.002
[solver]
time_step = 1e-3
[materials.m]
density = 2500.0
youngs_modulus = 1e6
poisson_ratio = 0.25
restitution = 0.0
friction = 0.5
[[boundaries]]
name = "left"
material = "m"
shape = {{ kind = "box", min = [-1, -0.5, -0.2], max = [0, 0.5, 0], side = "outside" }}
[[boundaries]]
name = "right"
material = "m"
shape = {{ kind = "box", min = [0, -0.5, -0.2], max = [1, 0.5, {height}], side = "outside" }}
[[grains]]
material = "m"
radius = {{ kind = "constant", value = 0.02 }}
velocity = [1, 0, 0]
packing = {{ kind = "list", positions = [[-0.4, 0, 0.02]] }}
[output]
every = 0.001
formats = ["csv"]
"#
    );
    let place = Place::with("joint.toml", &text);
    let checked = place.esker(&["check", "joint.toml"]);
    let output = place.esker(&["run", "joint.toml", "--device", device]);
    let summary = fs::read_to_string(place.path("out/joint/summary.json")).expect("a summary");
    let told = String::from_utf8_lossy(&checked.stdout).into_owned();
    (told, code(&output), error_text(&output), serde_json::from_str(&summary).expect("JSON"))
}

#[test]
fn a_flush_joint_is_told_by_check_and_by_a_run_with_boundaries_and_place() {
    for device in ["cpu", "software"] {
        let (told, code, said, summary) = flush(device, 0.0);
        assert!(told.contains("warning: surfaces meet flush: boundary \"left\" and"), "{told}");
        assert_eq!((code, kinds(&summary)), (0, vec!["flush_joints"]), "{device}: {said}");
        assert_eq!(said.matches("warning: surfaces meet flush").count(), 1, "{device}: {said}");
        let warning = &summary["warnings"][0];
        assert_eq!(
            warning["bodies"],
            serde_json::json!(["boundary \"left\"", "boundary \"right\""]),
            "{device}"
        );
        let place: Vec<f64> = serde_json::from_value(warning["place"].clone()).expect("three numbers");
        assert!(
            place[0].abs() < 1e-12 && place[1].abs() < 0.1 && place[2].abs() < 1e-12,
            "{device}: {place:?}"
        );
    }
    // A step of 1 % of the radius is one that the file asks for.
    let (told, code, said, summary) = flush("cpu", 2e-4);
    assert!(!told.contains("flush") && !said.contains("flush"), "{told} {said}");
    assert_eq!((code, kinds(&summary)), (0, Vec::new()));
}
