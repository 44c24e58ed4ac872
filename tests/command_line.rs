//! The program as a user starts it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const GRAIN: &str = r#"
title = "One grain at rest"
duration = 0.05
[solver]
time_step = 0.001
[output]
every = 0.01
formats = ["vtp", "csv"]
[materials.steel]
density = 7800.0
youngs_modulus = 1e7
poisson_ratio = 0.3
restitution = 0.5
friction = 0.5
[[boundaries]]
name = "floor"
material = "steel"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
[[grains]]
material = "steel"
radius = { kind = "constant", value = 0.01 }
packing = { kind = "list", positions = [[0, 0, 0.01]] }
[expect]
grains = { value = 1, tolerance = 0 }
"#;

const MISSED: &str = "expect.grains.value=2";

/// A folder with a scenario file `grain.toml`, in which the program is run.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("grain.toml"), GRAIN).expect("written");
        Place(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_esker"));
        command.args(arguments).current_dir(self.0.path());
        command
    }

    fn esker(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// `esker run grain.toml --device cpu` with more arguments.
    fn run(&self, more: &[&str]) -> Output {
        self.esker(&[&["run", "grain.toml", "--device", "cpu"], more].concat())
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("no exit code: {}", error_text(output)))
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn error_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn summary(folder: &Path) -> serde_json::Value {
    let text = fs::read_to_string(folder.join("summary.json")).expect("a summary");
    serde_json::from_str(&text).expect("valid JSON")
}

#[test]
fn a_run_that_meets_its_expectations_exits_0_and_writes_to_a_folder_of_its_name() {
    let place = Place::new();
    let output = place.run(&[]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    assert_eq!(summary(&place.path("out/grain"))["status"], "completed");
    assert!(place.path("out/grain/grains_000005.vtp").exists());
    assert!(text(&output).contains("met ") && text(&output).contains("results in"), "{}", text(&output));
    assert!(error_text(&output).contains("on cpu"), "it says what it runs on");
}

#[test]
fn a_missed_expectation_exits_3_after_writing_everything() {
    let place = Place::new();
    let output = place.run(&["--set", MISSED]);
    assert_eq!(code(&output), 3, "{}", error_text(&output));
    assert!(
        text(&output).contains("missed   grains: expected 2 ± 0, found 1, error 1, tolerance 0"),
        "{}",
        text(&output)
    );
    assert_eq!(summary(&place.path("out/grain"))["expectations"][0]["verdict"], "missed");
}

#[test]
fn a_wrong_scenario_exits_2_names_the_mistake_and_writes_nothing() {
    let place = Place::new();
    fs::write(place.path("grain.toml"), GRAIN.replace("duration", "duraton")).expect("written");
    for output in [place.run(&[]), place.esker(&["check", "grain.toml"])] {
        assert_eq!(code(&output), 2);
        assert!(error_text(&output).contains("duraton"), "{}", error_text(&output));
    }
    assert!(!place.path("out").exists());
}

#[test]
fn a_file_that_does_not_exist_and_a_wrong_option_exit_2() {
    let place = Place::new();
    assert_eq!(code(&place.esker(&["run", "nothing.toml", "--device", "cpu"])), 2);
    assert_eq!(code(&place.esker(&["run", "grain.toml", "--device", "abacus"])), 2);
    assert_eq!(code(&place.esker(&["walk", "grain.toml"])), 2);
    assert_eq!(code(&place.run(&["--until=-1"])), 2);
    assert_eq!(code(&place.run(&["--set", "solver.iterations"])), 2);
}

#[test]
fn a_folder_that_cannot_be_written_exits_1_and_is_named() {
    let place = Place::new();
    let output = place.run(&["--out", "grain.toml/results"]);
    assert_eq!(code(&output), 1);
    assert!(error_text(&output).contains("results: "), "{}", error_text(&output));
    fs::write(
        place.path("suite.toml"),
        "title = \"One\"\n[[case]]\nfile = \"grain.toml\"\ntitle = \"Rest\"\nsource = \"Newton\"\n",
    )
    .expect("written");
    let validated = place.esker(&["validate", "suite.toml", "--device", "cpu", "--out", "grain.toml"]);
    for output in [place.run(&["--out", "grain.toml"]), validated] {
        assert_eq!(code(&output), 1);
        assert!(
            error_text(&output).contains("grain.toml is a file, expected a folder"),
            "{}",
            error_text(&output)
        );
        assert_eq!(text(&output), "", "it is found before the work");
    }
    assert_eq!(fs::read_to_string(place.path("grain.toml")).expect("still there"), GRAIN);
}

#[test]
fn a_run_that_fails_exits_1_and_says_where_its_results_are() {
    let place = Place::new();
    let output = place.run(&["--set", "grains.0.velocity=[1e9, 0, 0]"]);
    assert_eq!(code(&output), 1, "{}", error_text(&output));
    assert!(error_text(&output).contains("exploded"), "{}", error_text(&output));
    assert!(error_text(&output).contains("results until the failure"), "{}", error_text(&output));
    assert_eq!(summary(&place.path("out/grain"))["status"], "failed");
}

#[test]
fn set_changes_the_scenario_and_out_the_folder() {
    let place = Place::new();
    let output = place.run(&["--set", "solver.iterations=7", "--set", "title=Seven", "--out", "here"]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let summary = summary(&place.path("here"));
    assert_eq!(summary["settings"]["iterations"], 7);
    assert_eq!(summary["scenario"]["title"], "Seven");
    let resolved = fs::read_to_string(place.path("here/scenario.toml")).expect("a scenario");
    assert!(resolved.contains("iterations = 7"), "{resolved}");
    assert!(!place.path("out").exists());
}

#[test]
fn until_ends_a_run_early_and_leaves_its_expectations_open() {
    let place = Place::new();
    let output = place.run(&["--until", "0.02", "--set", MISSED]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let summary = summary(&place.path("out/grain"));
    assert_eq!((&summary["steps"], &summary["simulated_seconds"]), (&20.into(), &0.02.into()));
    assert_eq!(summary["expectations"][0]["verdict"], "not_reached");
}

#[test]
fn a_quiet_run_prints_nothing_but_what_is_missed() {
    let place = Place::new();
    let output = place.run(&["--quiet"]);
    assert_eq!((code(&output), text(&output), error_text(&output)), (0, String::new(), String::new()));
    let missed = place.run(&["--quiet", "--set", MISSED]);
    assert_eq!((code(&missed), text(&missed)), (3, String::new()));
    assert!(error_text(&missed).starts_with("missed   grains"), "{}", error_text(&missed));
}

#[test]
fn check_tells_what_a_scenario_amounts_to_and_writes_nothing() {
    let place = Place::new();
    let output = place.esker(&["check", "grain.toml"]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    for part in ["One grain at rest", "1 at the start", "steel - steel", "50 of 0.001 s", "smooth DEM"] {
        assert!(text(&output).contains(part), "no `{part}` in:\n{}", text(&output));
    }
    assert!(!place.path("out").exists());
}

#[test]
fn devices_lists_every_engine_and_tests_each_adapter() {
    let output = Place::new().esker(&["devices"]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let adapters = text(&output).matches("limits ").count();
    assert!(text(&output).contains("--device cpu") && adapters > 0, "{}", text(&output));
    assert_eq!(text(&output).matches("self-test     passed").count(), adapters, "{}", text(&output));
}

/// `--device software` where there is a software adapter, `gpu` where there is only a card.
fn adapter() -> &'static str {
    let listed = text(&Place::new().esker(&["devices"]));
    if listed.contains("--device software") { "software" } else { "gpu" }
}

#[test]
fn a_run_on_an_adapter_writes_what_a_run_on_the_cpu_writes() {
    let place = Place::new();
    let output = place.esker(&["run", "grain.toml", "--device", adapter()]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let summary = summary(&place.path("out/grain"));
    assert_eq!((&summary["status"], &summary["engine"]["engine"]), (&"completed".into(), &"gpu".into()));
    for file in ["grains_000005.vtp", "contacts_000005.vtp", "grains.pvd", "timeseries.csv", "scenario.toml"]
    {
        assert!(place.path("out/grain").join(file).exists(), "{file}");
    }
}

#[test]
fn stages_on_an_adapter_are_timed_only_when_asked_for() {
    let place = Place::new();
    let stages = |more: &[&str]| {
        let output = place.esker(&[&["run", "grain.toml", "--device", adapter()], more].concat());
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        summary(&place.path("out/grain"))["wall_seconds_by_stage"].clone()
    };
    assert_eq!(stages(&[]), serde_json::json!({}));
    assert!(stages(&["--profile"])["sweep"].as_f64().is_some_and(|seconds| seconds > 0.0));
}

#[test]
fn a_failure_on_an_adapter_leaves_the_outputs_before_it() {
    let place = Place::new();
    let upwards = ["--set", "gravity=[0, 0, 2e5]", "--set", "duration=1.0"];
    let output = place.esker(&[&["run", "grain.toml", "--device", adapter()], &upwards[..]].concat());
    assert_eq!(code(&output), 1, "{}", error_text(&output));
    assert!(error_text(&output).contains("grain 0 exploded at t = "), "{}", error_text(&output));
    let folder = place.path("out/grain");
    assert_eq!(summary(&folder)["status"], "failed");
    assert!(folder.join("grains_000000.vtp").exists());
    let rows = fs::read_to_string(folder.join("timeseries.csv")).expect("a time series");
    assert!(rows.lines().count() >= 2, "{rows}");
}

/// A program that is killed when the test is done with it, however the test ends.
#[cfg(unix)]
struct Running(Option<std::process::Child>);

#[cfg(unix)]
impl Running {
    fn child(&mut self) -> &mut std::process::Child {
        self.0.as_mut().expect("it was started")
    }

    /// Sends SIGINT, as Ctrl-C does, and waits for the end.
    fn interrupt(mut self) -> Output {
        let id = self.child().id().to_string();
        let signal = Command::new("kill").args(["-INT", &id]).status().expect("kill runs");
        assert!(signal.success());
        let child = self.0.take().expect("it was started");
        child.wait_with_output().expect("the run ends")
    }
}

#[cfg(unix)]
impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // A failure must not hide the one that ended the test.
            let _ = child.kill();
        }
    }
}

/// Ctrl-C during a run that would take minutes.
#[cfg(unix)]
#[test]
fn an_interrupted_run_exits_1_and_keeps_what_it_has() {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    let place = Place::new();
    let mut command = place.command(&["run", "grain.toml", "--device", "cpu", "--set", "duration=9000"]);
    command.args(["--set", "output.formats=[\"csv\"]"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running(Some(command.spawn().expect("the program starts")));
    let rows = place.path("out/grain/timeseries.csv");
    let count_rows = || fs::read_to_string(&rows).map_or(0, |text| text.lines().count());
    let deadline = Instant::now() + Duration::from_secs(60);
    while count_rows() < 5 {
        assert_eq!(running.child().try_wait().expect("a status"), None, "it ended by itself");
        assert!(Instant::now() < deadline, "the run has not begun");
        std::thread::sleep(Duration::from_millis(20));
    }

    let output = running.interrupt();
    assert_eq!(code(&output), 1);
    assert!(error_text(&output).contains("interrupted at t ="), "{}", error_text(&output));
    let summary = summary(&place.path("out/grain"));
    assert_eq!(summary["status"], "interrupted");
    assert!(summary["steps"].as_u64().expect("steps") >= 30);
    assert_eq!(summary["expectations"][0]["verdict"], "not_reached");
}
