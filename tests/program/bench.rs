//! `esker bench`: the profiling with which it measures, and the command as a user starts it.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::common::*;
use esker::engine::{Engine, Profiling};
use esker::gpu::device::{Device, DeviceChoice};
use serde_json::Value;

/// Every additional sweep adds the same number of dispatches, and profiling changes neither them nor a bit of the result.
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

    // The dispatches of the impact stage are empty while nothing bounces. They are recorded in pairs of sweeps, with one before and four after the
    // check of each pair.
    settings.iterations += 5;
    settings.impact_iterations += 4;
    let more = gpu(&scenario.world, &settings).advance(1).unwrap().dispatches;
    assert_eq!(more.per_sweep, without.dispatches.per_sweep);
    assert_eq!(
        more.per_step - without.dispatches.per_step,
        5 * more.per_sweep + 2 * (2 * more.per_sweep + 1 + 4)
    );
    assert_eq!(more.per_sweep, 3, "two tilings and the overflow");
    assert_eq!(more.stages.iter().map(|(_, count)| count).sum::<u32>(), more.per_step);
}

#[test]
fn the_cpu_engine_times_its_stages_and_dispatches_nothing() {
    let scenario = box_of(20);
    let report = cpu(&scenario.world, &scenario.settings).advance(1).unwrap();
    assert!(!report.stages.is_empty());
    assert_eq!(report.dispatches.per_step, 0);
}

/// The program, run in a folder of its own.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn bench(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_esker"));
        command.arg("bench").args(arguments).args(["--cache", "beds"]).current_dir(self.0.path());
        command.output().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Files of the settled beds that the command keeps.
    fn beds(&self) -> Vec<PathBuf> {
        fs::read_dir(self.path("beds")).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path("x.json")).unwrap()).unwrap()
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn error_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const SMALL: [&str; 6] = ["--grains", "300", "--steps", "2", "--out", "x.json"];

#[test]
fn a_bench_compares_both_engines_in_a_table_and_in_json() {
    let place = Place::new();
    let adapter = if device_is_software() { "software" } else { "gpu" };
    let output = place.bench(&[&SMALL[..], &["--device", "cpu", "--device", adapter]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", error_text(&output));
    for part in [
        "## 300 grains",
        "| step [ms] |",
        "| sweep |",
        "on the CPU over that on the GPU",
        "model, not a measurement",
    ] {
        assert!(text(&output).contains(part), "no `{part}` in:\n{}", text(&output));
    }

    let report = place.json();
    for field in ["esker", "commit", "build", "wgpu"] {
        assert!(report[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {}", report[field]);
    }
    assert!(report["devices"].as_array().unwrap().iter().all(|device| {
        device["copy_bytes_per_second"].as_f64().unwrap() > 1e8 && device["driver"].is_string()
    }));
    let case = &report["cases"][0];
    assert_eq!((&case["grains"], &case["start"]["origin"]), (&300.into(), &"built".into()));
    assert!(case["cpu_over_gpu"].as_f64().unwrap() > 0.0);
    let [cpu, gpu] = case["runs"].as_array().unwrap().as_slice() else { panic!("{case}") };
    for run in [cpu, gpu] {
        assert_eq!(run["step_ms"]["blocks"].as_array().unwrap().len(), 5);
        for field in [
            "sweep_ms",
            "step_over_sweeps",
            "ns_per_contact_sweep",
            "bytes_per_contact_sweep",
            "memory_per_grain",
        ] {
            assert!(run[field].as_f64().unwrap() > 0.0, "{field}: {run}");
        }
        assert!(run["contacts"].as_u64().unwrap() > 900, "a bed in contact: {}", run["contacts"]);
        assert!(run["residuals"]["normal"]["mean"].is_number() && run["overlap"]["max"].is_number());
    }
    assert_eq!((&cpu["dispatches_per_step"], &cpu["model_ms"]), (&0.into(), &Value::Null));
    assert!(gpu["dispatches_per_step"].as_u64() > gpu["dispatches_per_sweep"].as_u64());
    assert!(gpu["model_ms"].as_f64().unwrap() > 0.0 && gpu["largest_gap"].is_string());
}

fn device_is_software() -> bool {
    Device::open(DeviceChoice::Software).is_ok()
}

#[test]
fn a_settled_bed_is_kept_and_a_damaged_one_settled_anew() {
    let place = Place::new();
    let bench = || place.bench(&[&SMALL[..], &["--device", "cpu"]].concat());
    assert!(bench().status.success());
    let [bed] = place.beds().try_into().unwrap();
    let settled = fs::read(&bed).unwrap();

    let again = bench();
    assert!(error_text(&again).contains("settled bed from beds"), "{}", error_text(&again));
    assert_eq!(place.json()["cases"][0]["start"]["origin"], "cache");

    let mut damaged = settled.clone();
    damaged[100] ^= 1;
    fs::write(&bed, damaged).unwrap();
    let mended = bench();
    assert!(error_text(&mended).contains("checksum does not fit"), "{}", error_text(&mended));
    assert_eq!(place.json()["cases"][0]["start"]["origin"], "built");
    assert_eq!(fs::read(&bed).unwrap(), settled, "the same bed, to the bit");

    // Another scenario needs another bed; other iterations do not.
    assert!(place.bench(&[&SMALL[..], &["--device", "cpu", "--iterations", "3"]].concat()).status.success());
    assert_eq!((place.beds().len(), &place.json()["cases"][0]["settings"]["iterations"]), (1, &3.into()));
    let friction = ["--device", "cpu", "--set", "materials.pellet.friction=0.4"];
    assert!(place.bench(&[&SMALL[..], &friction].concat()).status.success());
    assert_eq!(place.beds().len(), 2);
}

#[test]
fn a_scenario_file_is_measured_as_it_is_and_its_grains_set_where_there_is_one_count() {
    let place = Place::new();
    let file = |name: &str| format!("{}/scenarios/{name}", env!("CARGO_MANIFEST_DIR"));
    let bench = |name: &str, more: &[&str]| {
        let file = file(name);
        let arguments =
            [&[file.as_str(), "--device", "cpu", "--steps", "1", "--out", "x.json"], more].concat();
        place.bench(&arguments)
    };
    assert!(bench("column.toml", &[]).status.success());
    let case = &place.json()["cases"][0];
    assert_eq!((&case["grains"], &case["start"]["origin"]), (&25.into(), &"scenario".into()));
    assert!(bench("column.toml", &["--grains", "10,20"]).status.success());
    assert_eq!(place.json()["cases"].as_array().unwrap().len(), 2);

    for (name, more, reason) in [
        ("pile.toml", &[][..], "no grains at the start"),
        ("pile_at_rest.toml", &["--grains", "100"], "--grains needs a scenario with one [[grains]]"),
    ] {
        let output = bench(name, more);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(error_text(&output).contains(reason), "{}", error_text(&output));
    }
}

#[test]
fn wrong_arguments_exit_2_and_say_what_was_expected() {
    let place = Place::new();
    for (arguments, reason) in [
        (["--grains", "1e3,abc"], "invalid value 'abc'"),
        (["--grains", "0"], "expected a whole number of grains from 1 to 2e7"),
        (["--grains", "10.5"], "expected a whole number"),
        (["--steps", "0"], "0 is not in 1.."),
        (["--iterations", "0"], "expected 1 to 100000"),
        (["--device", "abacus"], "invalid value 'abacus'"),
        (["--set", "solver.foo=1"], "unknown key `foo`"),
        (["--model-bandwidth", "-1"], "expected a number above zero"),
    ] {
        let output = place.bench(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(error_text(&output).contains(reason), "{arguments:?}: {}", error_text(&output));
    }
}
