//! The suite that comes with the program, on both engines, and proof that a suite can fail.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::path::Path;
use std::process::{Command, Output};

use esker::engine::Engine;
use esker::error::Error;
use esker::scenario::Scenario;
use esker::scenario::suite::Suite;
use esker::validation::{self, Open, SuiteReport};

/// Runs the short cases.
fn validate(open: &Open<'_>) -> SuiteReport {
    let folder = tempfile::tempdir().unwrap();
    let suite = Suite::load(&validation::unpack(folder.path()).unwrap());
    let suite = suite.unwrap_or_else(|problems| panic!("{problems}"));
    let cases = suite.select(&[], false).unwrap();
    let plan = validation::plan(&cases).unwrap_or_else(|problems| panic!("{problems}"));
    validation::run(&suite.title, &plan, open, folder.path(), &mut |_| ()).unwrap()
}

fn assert_valid(report: &SuiteReport) {
    let tally = report.tally();
    assert!(tally.met > 0, "nothing was judged");
    assert_eq!((tally.missed, tally.failures), (0, 0), "{}", report.markdown());
}

#[test]
fn short_cases_come_to_their_answers_on_the_cpu() {
    let open = |scenario: &Scenario| -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(crate::common::cpu(&scenario.world, &scenario.settings)))
    };
    assert_valid(&validate(&open));
}

#[test]
fn short_cases_come_to_their_answers_on_the_gpu() {
    let open = |scenario: &Scenario| -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(crate::common::gpu(&scenario.world, &scenario.settings)))
    };
    assert_valid(&validate(&open));
}

/// A sphere that flies freely, and a suite that varies its speed.
const FLIGHT: &str = r#"
duration = 0.01
gravity = [0, 0, 0]
[solver]
time_step = 0.001
[materials.stone]
density = 2500.0
youngs_modulus = 1e8
poisson_ratio = 0.25
restitution = 0.5
friction = 0.3
[[grains]]
material = "stone"
radius = { kind = "constant", value = 0.01 }
velocity = [2.0, 0.0, 0.0]
packing = { kind = "list", positions = [[0, 0, 0]] }
[[observe.regions]]
name = "all"
region = { kind = "box", min = [-1, -1, -1], max = [1, 1, 1] }
[domain]
max = [1.0, inf, inf]
outside = "stop"
[expect]
speed = { of = "max_speed", value = 2.0, tolerance = 1e-12 }
"#;

const SUITE: &str = r#"
title = "Flights"
[[case]]
file = "flight.toml"
title = "A sphere flies on"
source = "Newton"
limit = "it never lands"
vary = { "grains.0.velocity.0" = [1.0, 2.0], "expect.speed.value" = [1.0, 2.0] }
[[case.across]]
of = "kinetic_energy"
take = "exponent"
value = 2.0
tolerance = 1e-9
[[case.across]]
of = "total_energy"
take = "exponent"
value = 2.0
tolerance = 1e-9
[[case.across]]
of = "mass:all"
take = "exponent"
value = 0.0
tolerance = 1e-9
[[case]]
name = "far"
file = "flight.toml"
title = "A longer flight"
source = "Newton"
class = "long"
"#;

/// `esker validate` on the CPU in a folder with the suite, in which `old` is replaced.
fn esker(folder: &Path, [old, new]: [&str; 2], arguments: &[&str]) -> Output {
    assert!(FLIGHT.contains(old) || SUITE.contains(old));
    std::fs::write(folder.join("flight.toml"), FLIGHT.replace(old, new)).unwrap();
    std::fs::write(folder.join("suite.toml"), SUITE.replace(old, new)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_esker"));
    command.args(["validate", "suite.toml", "--device", "cpu"]).args(arguments);
    command.current_dir(folder).output().unwrap()
}

/// Exit code, what was printed, and the report in Markdown.
fn outcome(change: [&str; 2], arguments: &[&str]) -> (i32, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let output = esker(folder.path(), change, arguments);
    let printed = [output.stdout, output.stderr].concat();
    let report = std::fs::read_to_string(folder.path().join("out/validation/validation.md"));
    (
        output.status.code().unwrap(),
        String::from_utf8_lossy(&printed).into_owned(),
        report.unwrap_or_default(),
    )
}

#[test]
fn a_suite_that_is_right_exits_0_and_leaves_its_report() {
    let folder = tempfile::tempdir().unwrap();
    let output = esker(folder.path(), ["2.0", "2.0"], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(folder.path().join("out/validation/validation.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["engine"]["engine"], "cpu");
    assert_eq!(json["cases"][0]["runs"][1]["variation"], "velocity.0 = 2.0");
    assert_eq!(json["cases"][0]["runs"][1]["expectations"][0]["verdict"], "met");
    assert_eq!(json["cases"][0]["runs"][1]["expectations"][0]["value"], 2.0);
    assert_eq!(json["cases"][0]["runs"][1]["expectations"][0]["at_least"], serde_json::Value::Null);
    assert_eq!(json["cases"][0]["across"][0]["verdict"], "met");
    assert!(folder.path().join("out/validation/flight/1/timeseries.csv").exists());
    let markdown = std::fs::read_to_string(folder.path().join("out/validation/validation.md")).unwrap();
    assert!(markdown.contains("- flight: it never lands"), "{markdown}");
}

#[test]
fn one_command_makes_the_report_of_both_engines() {
    let folder = tempfile::tempdir().unwrap();
    let output = esker(folder.path(), ["2.0", "2.0"], &["--device", "software"]);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(folder.path().join("out/validation").join(name)).unwrap();
    let sections = [read("cpu/validation.md"), read("software/validation.md")];
    assert!(sections[0].contains("double precision") && sections[1].contains("single precision"));
    assert_eq!(read("validation.md"), sections.join("\n"));
}

#[test]
fn a_wrong_answer_exits_3() {
    let (code, printed, report) = outcome(["[1.0, 2.0] }", "[1.0, 2.5] }"], &[]);
    assert_eq!(code, 3, "{printed}");
    assert!(
        printed.contains("missed") && report.contains("| 2.5 | 1e-12 | 2 | 0.5 | **missed** |"),
        "{report}"
    );
    let (code, printed, _) = outcome(["value = 2.0\ntolerance", "value = 3.0\ntolerance"], &[]);
    assert_eq!(code, 3, "an answer across the runs: {printed}");
}

#[test]
fn a_run_that_fails_exits_1_and_the_others_go_on() {
    let (code, printed, report) = outcome(["[1.0, 2.0], ", "[1e9, 2.0], "], &[]);
    assert_eq!(code, 1, "{printed}");
    assert!(report.contains("left the domain") && report.contains("| 2 | 1e-12 | 2 | 0 | met |"), "{report}");
}

#[test]
fn wrong_input_exits_2_before_anything_runs() {
    for (change, arguments, words) in [
        (["2.0", "2.0"], &["--case", "flihgt"][..], "did you mean `flight`?"),
        (["of = \"kinetic_energy\"", "of = \"kinetic_enery\""], &[], "did you mean `kinetic_energy`?"),
        (["of = \"max_speed\"", "of = \"maximum_speed\""], &[], "did you mean `max_speed`?"),
        (
            ["[expect]\nspeed = { of = \"max_speed\", value = 2.0, tolerance = 1e-12 }", ""],
            &["--case", "far"],
            "expects nothing",
        ),
        (["title =", "titel ="], &[], "did you mean `title`?"),
        (["\"far\"", "\"../escaped\""], &[], "no plain name"),
        (["\"far\"", "\"..\""], &[], "no plain name"),
        (["\"far\"", "'far\\off'"], &[], "no plain name"),
    ] {
        let (code, printed, report) = outcome(change, arguments);
        assert_eq!((code, report.as_str()), (2, ""), "{printed}");
        assert!(printed.contains(words), "no {words} in {printed}");
    }
}

#[test]
fn long_cases_run_when_they_are_asked_for() {
    let plain = ["2.0", "2.0"];
    let has_far = |arguments: &[&str]| {
        let (code, printed, report) = outcome(plain, arguments);
        assert_eq!(code, 0, "{printed}");
        (report.contains("| far | speed"), report.contains("| flight | speed"))
    };
    assert_eq!(has_far(&[]), (false, true));
    assert_eq!(has_far(&["--long"]), (true, true));
    assert_eq!(has_far(&["--case", "far"]), (true, false));
    let (code, printed, report) = outcome(plain, &["--list"]);
    assert_eq!((code, report.as_str()), (0, ""));
    assert!(printed.contains("far") && printed.contains("long"), "{printed}");
}
