//! `esker study` from end to end, with a grain whose flight is known.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};

use esker::engine::Engine;
use esker::error::Error;
use esker::gpu::{Capacity, Room};
use esker::scenario::Scenario;
use esker::scenario::study::{Size, Study};
use esker::simulation::device::{ensemble_for, gpu_in};
use esker::study::report::StudyReport;
use esker::study::{self, Done, Options, Shard, StudyEvent, plan};

/// A grain that is thrown up and never reaches a floor: after n steps of h its speed is v - g n h.
const THROW: &str = r#"
duration = 0.1
gravity = [0, 0, -10]
[solver]
time_step = 0.01
[materials.stone]
density = 2500.0
youngs_modulus = 1e8
poisson_ratio = 0.25
restitution = 0.5
friction = 0.3
[[grains]]
material = "stone"
radius = { kind = "constant", value = 0.01 }
velocity = [0.0, 0.0, 2.0]
packing = { kind = "list", positions = [[0, 0, 0]] }
[domain]
max = [inf, inf, 10.0]
outside = "stop"
[observe]
grains = [0]
"#;

/// The rise is v t - g t (t + h) / 2: too low by g t h / 2, which falls with the step.
const STUDY: &str = r#"
title = "Throws"
about = "A grain is thrown up."
scenario = "throw.toml"

[axes]
grains.0.velocity.2 = [2.0, 4.0]
solver.time_step = [0.01, 0.005, 0.0025]

[references.fine]
per = ["velocity.2"]
settings = { solver.time_step = 0.0001 }

[keep]
rise = { of = "position_z:grain-0", take = "change" }

[numbers.error]
of = "rise"
error_from = "fine:rise"

[numbers.short]
of = "rise"
minus = 0.5

[numbers.order]
of = "error"
take = "exponent"
along = "time_step"

[numbers.least_order]
of = "order"
take = "minimum"

[numbers.needed]
of = "error"
take = "needed"
below = 0.025
along = "time_step"
measured_in = "steps"

[[finding]]
statement = "The error falls with the step."
number = "least_order"
value = 1.0
tolerance = 0.05

[[plot]]
file = "error"
title = "Error over the step"
x = "time_step"
y = "error"
log = ["x", "y"]

[[plot]]
file = "work"
title = "Error over work"
x = "steps"
along = "time_step"
y = "error"

[[plot]]
file = "flight"
title = "Height over time"
from = "timeseries.csv"
x = "time"
y = "position_z:grain-0"
where = { time_step = 0.01 }

[labels]
error = "error of the rise [-]"
"#;

/// A folder with the scenario and the study, in which `old` is replaced.
fn place([old, new]: [&str; 2]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    change(folder.path(), [old, new]);
    folder
}

fn change(folder: &Path, [old, new]: [&str; 2]) {
    assert!(THROW.contains(old) || STUDY.contains(old));
    fs::write(folder.join("throw.toml"), THROW.replace(old, new)).unwrap();
    fs::write(folder.join("throws.toml"), STUDY.replace(old, new)).unwrap();
}

const AS_IT_IS: [&str; 2] = ["title", "title"];

fn esker(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_esker"));
    command.args(["study", "throws.toml", "--device", "cpu"]).args(arguments);
    command.current_dir(folder).output().unwrap()
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.clone(), output.stderr.clone()].concat()).into_owned()
}

/// `results.csv` without its wall times: one map from column to value per row.
fn rows(folder: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(folder.join("out/studies/throws/results.csv")).unwrap();
    let head = reader.headers().unwrap().clone();
    let row = |row: csv::StringRecord| {
        let cells = head.iter().zip(row.iter()).map(|(name, cell)| (name.to_owned(), cell.to_owned()));
        cells.filter(|(name, _)| !["wall_seconds", "step_seconds"].contains(&name.as_str())).collect()
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

/// Folder and time of modification of every record.
fn records(folder: &Path) -> BTreeMap<String, std::time::SystemTime> {
    let runs = fs::read_dir(folder.join("out/studies/throws/runs")).unwrap().flatten();
    let record = |run: fs::DirEntry| {
        let time = fs::metadata(run.path().join("record.json")).ok()?.modified().unwrap();
        Some((run.file_name().to_string_lossy().into_owned(), time))
    };
    runs.filter_map(record).collect()
}

#[test]
fn a_study_leaves_its_table_its_plots_and_its_verdict() {
    let folder = place(AS_IT_IS);
    let output = esker(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    let out = folder.path().join("out/studies/throws");
    let rows = rows(folder.path());
    assert_eq!(rows.len(), 6 + 2, "combinations and references");
    for row in &rows {
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        let (v, h) = (number("velocity.2"), row["time_step"].parse().unwrap_or(0.0001));
        let rise = |h: f64| v * 0.1 - 10.0 * 0.1 * (0.1 + h) / 2.0;
        assert!((number("rise") - rise(h)).abs() < 1e-12, "{row:?}");
        assert_eq!(number("steps"), (0.1 / h).round(), "{row:?}");
        assert_eq!(number("sweeps"), 20.0 * number("steps"), "{row:?}");
        match row["reference"].as_str() {
            "" => {
                assert!((number("error") - (1.0 - rise(h) / rise(0.0001))).abs() < 1e-9, "{row:?}");
                assert!((number("short") - (rise(h) - 0.5)).abs() < 1e-12, "{row:?}");
            }
            _ => assert_eq!(row["error"], "", "{row:?}"),
        }
    }
    for plot in ["error", "work", "flight"] {
        let svg = fs::read_to_string(out.join(format!("{plot}.svg"))).unwrap();
        assert!(svg.contains("#0072B2") && svg.contains("#D55E00"), "{plot} has not both curves");
        assert!(svg.contains("<circle"), "{plot} has no points");
        assert!(fs::read(out.join(format!("{plot}.png"))).unwrap().starts_with(b"\x89PNG"));
    }
    let svg = fs::read_to_string(out.join("error.svg")).unwrap();
    assert!(svg.contains("error of the rise [-]") && svg.contains("4.0 velocity.2"), "{svg}");
    let report = fs::read_to_string(out.join("report.md")).unwrap();
    for line in ["# Throws", "A grain is thrown up.", "![Error over the step](error.png)", "### order"] {
        assert!(report.lines().any(|found| found == line), "no `{line}` in\n{report}");
    }
    assert!(report.contains("| The error falls with the step. | `least_order` | 1 ± 0.05 |"), "{report}");
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(out.join("results.json")).unwrap()).unwrap();
    assert_eq!(json["findings"][0]["verdict"]["verdict"], "met");
    assert_eq!((&json["runs"], &json["pending"]), (&8.into(), &0.into()));
    // With 10 steps the slower throw is 3.3 % too low, with 20 steps 1.6 %; the faster one 1.4 % with 10.
    let error = |h: f64| 0.5 * (h - 0.0001) / 0.14995;
    let steps = 10.0 * 2f64.powf((error(0.01) / 0.025).ln() / (error(0.01) / error(0.005)).ln());
    let needed = &json["numbers"][2];
    assert_eq!((&needed["name"], &needed["cells"][1][1]), (&"needed".into(), &serde_json::Value::Null));
    assert!((needed["cells"][0][1].as_f64().unwrap() - steps).abs() < 1e-6, "{needed}, expected {steps}");
}

#[test]
fn a_finding_that_is_missed_exits_3() {
    let folder = place(["value = 1.0\ntolerance = 0.05", "value = 2.0\ntolerance = 0.05"]);
    let output = esker(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(3), "{}", words(&output));
    assert!(words(&output).contains("missed   The error falls with the step."), "{}", words(&output));
}

#[test]
fn a_study_goes_on_where_it_stopped() {
    let folder = place(AS_IT_IS);
    esker(folder.path(), &[]);
    let (before, table) = (records(folder.path()), rows(folder.path()));
    assert_eq!(before.len(), 8);
    let gone = before.keys().next().unwrap();
    fs::remove_file(folder.path().join("out/studies/throws/runs").join(gone).join("record.json")).unwrap();
    let output = esker(folder.path(), &[]);
    assert!(words(&output).contains("8 runs, 7 of them over"), "{}", words(&output));
    let after = records(folder.path());
    let is_new = |run: &String| before[run] != after[run];
    assert_eq!(after.keys().filter(|run| is_new(run)).collect::<Vec<_>>(), [gone]);
    assert_eq!(rows(folder.path()), table);
}

#[test]
fn a_change_makes_the_runs_again_that_it_concerns() {
    let folder = place(AS_IT_IS);
    esker(folder.path(), &[]);
    let more = ["[0.01, 0.005, 0.0025]", "[0.01, 0.005, 0.0025, 0.00125]"];
    change(folder.path(), more);
    let output = esker(folder.path(), &[]);
    assert!(words(&output).contains("10 runs, 8 of them over"), "a value more: {}", words(&output));
    change(folder.path(), ["Error over the step", "Its error"]);
    let output = esker(folder.path(), &[]);
    assert!(words(&output).contains("8 runs, 8 of them over"), "another plot: {}", words(&output));
    assert!(words(&output).contains("2 records"), "those of the value that is gone: {}", words(&output));
    change(folder.path(), ["gravity = [0, 0, -10]", "# of a round number\ngravity = [0, 0.0, -1e1]"]);
    let output = esker(folder.path(), &[]);
    assert!(
        words(&output).contains("8 runs, 8 of them over"),
        "the same otherwise written: {}",
        words(&output)
    );
    change(folder.path(), ["gravity = [0, 0, -10]", "gravity = [0, 0, -5]"]);
    let output = esker(folder.path(), &[]);
    assert!(words(&output).contains("8 runs, 0 of them over"), "other gravity: {}", words(&output));
    assert!(words(&output).contains("10 records in"), "{}", words(&output));
    assert_eq!(rows(folder.path()).len(), 8, "none of the old ones is in the table");
}

#[test]
fn parts_make_the_whole() {
    let (whole, parts) = (place(AS_IT_IS), place(AS_IT_IS));
    esker(whole.path(), &[]);
    for (shard, over) in [("1/3", 3), ("3/3", 5)] {
        let output = esker(parts.path(), &["--shard", shard]);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        assert_eq!(records(parts.path()).len(), over);
    }
    let output = esker(parts.path(), &["--report"]);
    assert!(words(&output).contains("8 runs, 3 not over"), "{}", words(&output));
    esker(parts.path(), &["--shard", "2/3"]);
    let output = esker(parts.path(), &["--report"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_eq!(rows(parts.path()), rows(whole.path()));
    for wrong in ["0/3", "4/3", "3", "1/0", "a/b"] {
        assert_eq!(esker(parts.path(), &["--shard", wrong]).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn the_runs_of_a_study_are_those_of_the_program() {
    let folder = place(AS_IT_IS);
    esker(folder.path(), &[]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_esker"));
    command.args(["run", "throw.toml", "--device", "cpu", "--set", "grains.0.velocity.2=4.0"]);
    command.args(["--set", "solver.time_step=0.005"]).current_dir(folder.path());
    assert_eq!(command.output().unwrap().status.code(), Some(0));
    let series = |path: &Path| fs::read_to_string(path.join("timeseries.csv")).unwrap();
    let runs = folder.path().join("out/studies/throws/runs");
    let of_name = |name: &str| {
        let run = records(folder.path()).into_keys().find(|run| run.starts_with(name)).unwrap();
        series(&runs.join(run))
    };
    let alone = series(&folder.path().join("out/throw"));
    assert_eq!(of_name("velocity.2-4.0.time_step-0.005."), alone);
    assert_ne!(of_name("velocity.2-4.0.time_step-0.0025."), alone, "another run");
}

#[test]
fn a_run_whose_grains_fail_is_a_result_and_the_others_go_on() {
    let folder = place(["velocity.2 = [2.0, 4.0]", "velocity.2 = [2.0, 1e8]"]);
    let output = esker(folder.path(), &[]);
    assert!(words(&output).contains("failed: velocity.2 = 1e8"), "{}", words(&output));
    let rows = rows(folder.path());
    let failed = |row: &&BTreeMap<String, String>| {
        row["failure"].contains("left the domain") && row["rise"].is_empty()
    };
    assert_eq!((rows.len(), rows.iter().filter(failed).count()), (8, 4));
    let again = esker(folder.path(), &[]);
    assert!(words(&again).contains("8 runs, 8 of them over"), "{}", words(&again));
    let report = fs::read_to_string(folder.path().join("out/studies/throws/report.md")).unwrap();
    assert!(report.contains("## Runs that failed") && report.contains("1 of 2 are missing"), "{report}");
}

#[test]
fn wrong_input_exits_2_before_anything_runs() {
    for change in
        [["title =", "titel ="], ["radius = {", "raduis = {"], ["of = \"position_z:", "of = \"pos_z:"]]
    {
        let folder = place(change);
        let output = esker(folder.path(), &[]);
        assert_eq!(output.status.code(), Some(2), "{}", words(&output));
        assert!(words(&output).contains("did you mean") || words(&output).contains("unknown quantity"));
        assert!(!folder.path().join("out").exists());
    }
}

fn cpu(scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    Ok(Box::new(crate::common::cpu(&scenario.world, &scenario.settings)))
}

fn load(folder: &Path) -> Study {
    Study::load(&folder.join("throws.toml"), Size::Quick).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn an_interrupt_keeps_what_is_over() {
    let folder = place(AS_IT_IS);
    let study = load(folder.path());
    let runs = plan::runs(&study).unwrap();
    let interrupt = AtomicBool::new(false);
    let options = Options { folder: folder.path(), interrupt: &interrupt, at_once: 1 };
    let stop = |event: StudyEvent<'_>| {
        interrupt.fetch_or(matches!(event, StudyEvent::Ran(..)), Ordering::Relaxed);
    };
    let wanted: Vec<_> = runs.iter().collect();
    // One thread, so that not all runs are under way when the first is over.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let is_complete = pool.install(|| study::execute(&study, &runs, &wanted, &cpu, &options, &stop)).unwrap();
    let over = |done: &Done| runs.iter().filter(|run| done.record(run).is_some()).count();
    let done = Done::load(folder.path()).unwrap();
    assert_eq!((is_complete, over(&done)), (false, 1));
    let report = StudyReport::new(&study, &runs, &done).unwrap();
    assert_eq!(report.pending, 8 - over(&done));
    interrupt.store(false, Ordering::Relaxed);
    assert!(study::execute(&study, &runs, &wanted, &cpu, &options, &|_| ()).unwrap());
    assert_eq!(over(&Done::load(folder.path()).unwrap()), 8);
}

#[test]
fn runs_that_a_gpu_makes_together_come_to_the_numbers_of_single_ones() {
    let numbers = |at_once: usize| {
        let folder = place(AS_IT_IS);
        let study = load(folder.path());
        let runs = plan::runs(&study).unwrap();
        let heaviest = study::load(&study, &runs[0]).unwrap();
        let capacity = Capacity::for_world(&heaviest.world, &heaviest.settings, Room::Estimated);
        let ensemble = ensemble_for(crate::common::device(), &capacity, at_once).unwrap();
        assert_eq!(ensemble.room(), at_once);
        let open = |scenario: &Scenario| gpu_in(&ensemble, scenario);
        let options = Options { folder: folder.path(), interrupt: &AtomicBool::new(false), at_once };
        assert!(
            study::execute(&study, &runs, &runs.iter().collect::<Vec<_>>(), &open, &options, &|_| ())
                .unwrap()
        );
        let done = Done::load(folder.path()).unwrap();
        runs.iter().map(|run| done.record(run).unwrap().kept.clone()).collect::<Vec<_>>()
    };
    let together = numbers(8);
    assert_eq!(together, numbers(1));
    assert_ne!(together[0], together[1], "another time step must show");
}

#[test]
fn runs_of_both_engines_are_not_mixed() {
    let folder = place(AS_IT_IS);
    let study = load(folder.path());
    let runs = plan::runs(&study).unwrap();
    let options = Options { folder: folder.path(), interrupt: &AtomicBool::new(false), at_once: 1 };
    let gpu = |scenario: &Scenario| -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(crate::common::gpu(&scenario.world, &scenario.settings)))
    };
    let first = Shard { part: 1, parts: 8 }.deal(&runs);
    assert!(study::execute(&study, &runs, &first, &gpu, &options, &|_| ()).unwrap());
    let wanted: Vec<_> = runs.iter().collect();
    let refused = study::execute(&study, &runs, &wanted, &cpu, &options, &|_| ()).unwrap_err().to_string();
    assert!(refused.contains("are of the gpu engine, and this one is cpu"), "{refused}");
    let done = Done::load(folder.path()).unwrap();
    let work = done.record(&runs[0]).unwrap().work;
    assert_eq!((work.sweeps, work.contact_sweeps), (Some(200), None));
}
