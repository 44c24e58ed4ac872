//! The program as a user starts it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::place::{Place, code, error_text, text};

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

/// A domain that ends the run when the grain leaves it.
const STOPS_OUTSIDE: [&str; 4] = ["--set", "domain.max=[1, 1, 1]", "--set", "domain.outside=stop"];

impl Place {
    fn with_grain() -> Place {
        Place::with("grain.toml", GRAIN)
    }

    /// `esker run grain.toml --device cpu` with more arguments.
    fn run(&self, more: &[&str]) -> Output {
        self.esker(&[&["run", "grain.toml", "--device", "cpu"], more].concat())
    }
}

fn summary(folder: &Path) -> serde_json::Value {
    let text = fs::read_to_string(folder.join("summary.json")).expect("a summary");
    serde_json::from_str(&text).expect("valid JSON")
}

#[test]
fn a_run_that_meets_its_expectations_exits_0_and_writes_to_a_folder_of_its_name() {
    let place = Place::with_grain();
    let output = place.run(&[]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    assert_eq!(summary(&place.path("out/grain"))["status"], "completed");
    assert!(place.path("out/grain/grains_000005.vtp").exists());
    assert!(text(&output).contains("met ") && text(&output).contains("results in"), "{}", text(&output));
    assert!(error_text(&output).contains("on cpu"), "it says what it runs on");
}

#[test]
fn a_missed_expectation_exits_3_after_writing_everything() {
    let place = Place::with_grain();
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
    let place = Place::with_grain();
    fs::write(place.path("grain.toml"), GRAIN.replace("duration", "duraton")).expect("written");
    for output in [place.run(&[]), place.esker(&["check", "grain.toml"])] {
        assert_eq!(code(&output), 2);
        assert!(error_text(&output).contains("duraton"), "{}", error_text(&output));
    }
    assert!(!place.path("out").exists());
}

#[test]
fn a_file_that_does_not_exist_and_a_wrong_option_exit_2() {
    let place = Place::with_grain();
    assert_eq!(code(&place.esker(&["run", "nothing.toml", "--device", "cpu"])), 2);
    assert_eq!(code(&place.esker(&["run", "grain.toml", "--device", "abacus"])), 2);
    assert_eq!(code(&place.esker(&["walk", "grain.toml"])), 2);
    assert_eq!(code(&place.run(&["--until=-1"])), 2);
    assert_eq!(code(&place.run(&["--set", "solver.iterations"])), 2);
}

#[test]
fn a_folder_that_cannot_be_written_exits_1_and_is_named() {
    let place = Place::with_grain();
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
            error_text(&output).contains("grain.toml: it is a file, expected a folder"),
            "{}",
            error_text(&output)
        );
        assert_eq!(text(&output), "", "it is found before the work");
    }
    assert_eq!(fs::read_to_string(place.path("grain.toml")).expect("still there"), GRAIN);
}

#[test]
fn a_run_that_fails_exits_1_and_says_where_its_results_are() {
    let place = Place::with_grain();
    let output = place.run(&[&["--set", "grains.0.velocity=[1e9, 0, 0]"], &STOPS_OUTSIDE[..]].concat());
    assert_eq!(code(&output), 1, "{}", error_text(&output));
    assert!(error_text(&output).contains("grain 0 left the domain at t = 0.001"), "{}", error_text(&output));
    assert!(error_text(&output).contains("results until the failure"), "{}", error_text(&output));
    assert_eq!(summary(&place.path("out/grain"))["status"], "failed");
}

#[test]
fn set_changes_the_scenario_and_out_the_folder() {
    let place = Place::with_grain();
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
    let place = Place::with_grain();
    let output = place.run(&["--until", "0.02", "--set", MISSED]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let summary = summary(&place.path("out/grain"));
    assert_eq!((&summary["steps"], &summary["simulated_seconds"]), (&20.into(), &0.02.into()));
    assert_eq!(summary["expectations"][0]["verdict"], "not_reached");
}

#[test]
fn a_quiet_run_prints_nothing_but_what_is_missed() {
    let place = Place::with_grain();
    let output = place.run(&["--quiet"]);
    assert_eq!((code(&output), text(&output), error_text(&output)), (0, String::new(), String::new()));
    let missed = place.run(&["--quiet", "--set", MISSED]);
    assert_eq!((code(&missed), text(&missed)), (3, String::new()));
    assert!(error_text(&missed).starts_with("missed   grains"), "{}", error_text(&missed));
}

#[test]
fn check_tells_what_a_scenario_amounts_to_and_writes_nothing() {
    let place = Place::with_grain();
    let output = place.esker(&["check", "grain.toml"]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    for part in ["One grain at rest", "1 at the start", "steel - steel", "50 of 0.001 s", "smooth DEM"] {
        assert!(text(&output).contains(part), "no `{part}` in:\n{}", text(&output));
    }
    assert!(!place.path("out").exists());
}

#[test]
fn check_tells_the_form_of_polyhedra_and_why_sweeps_are_plain() {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/packed_solids.toml");
    let place = Place::with_grain();
    let output = place.esker(&["check", scenario]);
    // A cube of 1 cm³ is a sphere of (3/4π)^(1/3) cm.
    let shape = "shape         cube: 8 corners and 6 faces, as much as a sphere of radius 0.0062035";
    for part in [shape, "warning: solids may stand on each other: sweeps are plain"] {
        assert!(text(&output).contains(part), "no `{part}` in:\n{}", text(&output));
    }
    let spheres = text(&place.esker(&["check", "grain.toml"]));
    assert!(!spheres.contains("shape ") && !spheres.contains("sweeps are plain"), "{spheres}");
}

#[test]
fn check_counts_the_ways_in_which_a_machine_moves() {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/excavator.toml");
    let output = Place::with_grain().esker(&["check", scenario]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    // Four cylinders and motors; the linkage of the bucket is a loop of hinges in a plane, three of whose rows follow from the others.
    for part in ["10 (left track,", "14 joints, 50000 kg", "4 ways, 4 drives, 3 rows that follow"] {
        assert!(text(&output).contains(part), "no `{part}` in:\n{}", text(&output));
    }
}

#[test]
fn devices_lists_every_engine_and_tests_each_adapter() {
    let output = Place::with_grain().esker(&["devices"]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    let adapters = text(&output).matches("limits ").count();
    assert!(text(&output).contains("--device cpu") && adapters > 0, "{}", text(&output));
    assert_eq!(text(&output).matches("self-test     passed").count(), adapters, "{}", text(&output));
}

/// `--device software` where there is a software adapter, `gpu` where there is only a card.
fn adapter() -> &'static str {
    let listed = text(&Place::with_grain().esker(&["devices"]));
    if listed.contains("--device software") { "software" } else { "gpu" }
}

#[test]
fn a_run_on_an_adapter_writes_what_a_run_on_the_cpu_writes() {
    let place = Place::with_grain();
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
    let place = Place::with_grain();
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
    let place = Place::with_grain();
    let upwards = ["--set", "gravity=[0, 0, 2e3]", "--set", "duration=1.0"];
    let arguments = [&["run", "grain.toml", "--device", adapter()], &upwards[..], &STOPS_OUTSIDE].concat();
    let output = place.esker(&arguments);
    assert_eq!(code(&output), 1, "{}", error_text(&output));
    assert!(error_text(&output).contains("grain 0 left the domain at t = "), "{}", error_text(&output));
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

    let place = Place::with_grain();
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

/// Starts a run that would take hours and continues until it is killed. The run has written its first output when this returns.
#[cfg(unix)]
fn start_endless(place: &Place, folder: &str) -> Running {
    use std::time::{Duration, Instant};

    let endless = ["--quiet", "--out", folder, "--set", "duration=90000", "--set", "output.every=1"];
    let mut command = place.command(&["run", "grain.toml", "--device", "cpu"]);
    let mut running = Running(Some(command.args(endless).spawn().expect("the program starts")));
    let deadline = Instant::now() + Duration::from_secs(60);
    while !place.path(folder).join("timeseries.csv").exists() {
        assert_eq!(running.child().try_wait().expect("a status"), None, "it ended by itself");
        assert!(Instant::now() < deadline, "the run has not begun");
        std::thread::sleep(Duration::from_millis(10));
    }
    running
}

#[cfg(unix)]
#[test]
fn a_second_run_into_a_folder_is_refused_until_the_first_is_gone() {
    let place = Place::with_grain();
    fs::write(
        place.path("suite.toml"),
        "title = \"One\"\n[[case]]\nfile = \"grain.toml\"\ntitle = \"Rest\"\nsource = \"Newton\"\n",
    )
    .expect("written");
    let mut first = start_endless(&place, "out");
    let holder = format!("process {} writes", first.child().id());
    let validated = ["validate", "suite.toml", "--device", "cpu", "--out", "out"];
    for second in [place.run(&["--out", "out"]), place.esker(&validated)] {
        assert_eq!(code(&second), 1);
        assert!(error_text(&second).contains(&holder), "no `{holder}` in {}", error_text(&second));
    }
    assert!(place.path("out/timeseries.csv").exists(), "the first is left alone");

    first.child().kill().expect("killed");
    first.child().wait().expect("gone");
    let left = [".esker-Ab1234.part", ".esker-notes"].map(|name| place.path("out").join(name));
    left.iter().for_each(|path| fs::write(path, "x").expect("written"));
    let next = place.run(&["--out", "out"]);
    assert_eq!(code(&next), 0, "{}", error_text(&next));
    assert_eq!(left.map(|path| path.exists()), [false, true], "what the killed run left is swept up");
    assert!(!place.path("out/.esker.lock").exists());
}

#[test]
fn a_run_that_would_replace_what_it_reads_is_refused() {
    let place = Place::with_grain();
    let table = "x,y,z\n0,0,0.01\n";
    fs::create_dir(place.path("pictures")).expect("made");
    for name in ["convergence.csv", "timeseries.csv", "pictures/picture_7.png"] {
        fs::write(place.path(name), table).expect("written");
        let packing = format!("grains.0.packing={{ kind = \"csv\", file = \"{name}\" }}");
        let output = place.run(&["--out", ".", "--set", &packing]);
        assert_eq!(code(&output), 2, "{}", error_text(&output));
        assert!(error_text(&output).contains(name), "{}", error_text(&output));
        assert_eq!(fs::read_to_string(place.path(name)).expect("still there"), table);
    }
    fs::rename(place.path("grain.toml"), place.path("scenario.toml")).expect("renamed");
    let output = place.esker(&["run", "scenario.toml", "--device", "cpu", "--out", "."]);
    assert_eq!(code(&output), 2, "{}", error_text(&output));
    let elsewhere = place.esker(&["run", "scenario.toml", "--device", "cpu", "--out", "elsewhere"]);
    assert_eq!(code(&elsewhere), 0, "{}", error_text(&elsewhere));
    let drawn = place.esker(&["render", "scenario.toml", "--out", "scenario.toml"]);
    assert_eq!(code(&drawn), 2);
}

#[cfg(unix)]
#[test]
fn a_link_in_the_folder_leads_to_nothing_that_is_cleared_or_written() {
    use std::os::unix::fs::symlink;

    let place = Place::with_grain();
    fs::create_dir_all(place.path("album")).expect("made");
    fs::create_dir_all(place.path("out")).expect("made");
    let mine = place.path("album/picture_000000.png");
    fs::write(&mine, "mine").expect("written");
    symlink(place.path("album"), place.path("out/pictures")).expect("linked");
    let output = place.run(&["--out", "out"]);
    assert_eq!(code(&output), 1);
    assert!(error_text(&output).contains("out/pictures is a symbolic link"), "{}", error_text(&output));
    assert_eq!(fs::read_to_string(&mine).expect("still there"), "mine");

    fs::remove_file(place.path("out/pictures")).expect("removed");
    symlink(&mine, place.path("out/summary.json")).expect("linked");
    assert_eq!(code(&place.run(&["--out", "out"])), 0);
    assert_eq!(fs::read_to_string(&mine).expect("still there"), "mine");
    assert_eq!(summary(&place.path("out"))["status"], "completed");
}

/// Runs a line in the shell, with `esker` replaced by the path of the program.
#[cfg(unix)]
fn shell(place: &Place, line: &str) -> Output {
    let line = line.replace("esker", env!("CARGO_BIN_EXE_esker"));
    Command::new("bash")
        .args(["-o", "pipefail", "-c", &line])
        .current_dir(place.path(""))
        .output()
        .expect("a shell")
}

#[cfg(unix)]
#[test]
fn a_run_to_which_nobody_listens_goes_on_to_its_end() {
    let run = "esker run grain.toml --device cpu";
    let lines = [
        format!("{run} 2>&1 | true"),
        format!("{run} 2>&1 | head -n 1"),
        format!("{run} > /dev/full"),
        format!("{run} 2> /dev/full"),
        format!("{run} > /dev/full 2>&1"),
        format!("{run} >&- 2>&-"),
    ];
    for line in lines.iter().filter(|line| !line.contains("/dev/full") || Path::new("/dev/full").exists()) {
        let place = Place::with_grain();
        let output = shell(&place, line);
        assert_eq!(code(&output), 0, "{line}: {}", error_text(&output));
        assert_eq!(summary(&place.path("out/grain"))["status"], "completed", "{line}");
        assert!(!error_text(&output).contains("panicked"), "{line}: {}", error_text(&output));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_only_prints_ends_quietly_on_a_closed_pipe_and_with_an_error_on_a_full_device() {
    let place = Place::with_grain();
    for command in ["check grain.toml", "validate --list"] {
        let closed = shell(&place, &format!("esker {command} | true"));
        assert_eq!((code(&closed), error_text(&closed)), (0, String::new()), "{command}");
        let full = shell(&place, &format!("esker {command} > /dev/full"));
        assert_eq!(code(&full), 1, "{command}");
        let message = error_text(&full);
        assert!(message.starts_with("error: the output cannot be printed: No space left"), "{message}");
    }
    let wrong = shell(&place, "esker check nothing.toml 2> /dev/full");
    assert_eq!(code(&wrong), 2, "a mistake in the input is told by the exit code too");
}

#[test]
fn text_of_a_file_does_not_steer_the_terminal() {
    let place = Place::with_grain();
    let sent = "One \\u001b[2J\\u0007grain\\u009b1m";
    fs::write(place.path("grain.toml"), GRAIN.replace("One grain", sent)).expect("written");
    let steers = |output: &Output| {
        let all = text(output) + &error_text(output);
        all.contains(|c: char| c.is_control() && c != '\n')
    };
    assert!(!steers(&place.esker(&["check", "grain.toml"])));
    assert!(!steers(&place.run(&[])));
    let wrong = format!("{}\n[sinks.\"{sent}\"]\n\"{sent}\" = 1\n", GRAIN.replace("[expect]", "[expekt]"));
    fs::write(place.path("grain.toml"), wrong).expect("written");
    let refused = place.esker(&["check", "grain.toml"]);
    assert_eq!((code(&refused), steers(&refused)), (2, false), "{}", error_text(&refused));
}

#[cfg(target_os = "linux")]
#[test]
fn inputs_without_end_are_refused_within_seconds() {
    use std::time::{Duration, Instant};

    let place = Place::with_grain();
    let begun = Instant::now();
    let zero = |key: &str| format!("{key}={{ kind = \"csv\", file = \"/dev/zero\" }}");
    let curve = "expect.height={ file = \"/dev/zero\", column = \"z\", at_most = 1 }";
    let (packing, curve) = (zero("grains.0.packing"), curve.to_owned());
    for arguments in [
        vec!["check", "/dev/zero"],
        vec!["validate", "/dev/zero"],
        vec!["study", "/dev/zero"],
        vec!["check", "grain.toml", "--set", &packing],
        vec!["check", "grain.toml", "--set", &curve],
        vec!["run", "grain.toml", "--device", "cpu", "--until", "1e300"],
        vec!["run", "grain.toml", "--device", "cpu", "--until", "1e9", "--set", "solver.time_step=1e-5"],
    ] {
        let output = place.esker(&arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", error_text(&output));
    }
    assert_eq!(code(&place.run(&[])), 0);
    let frame = place.path("out/grain/grains_000000.vtp");
    fs::remove_file(&frame).expect("removed");
    std::os::unix::fs::symlink("/dev/zero", &frame).expect("linked");
    let drawn = place.esker(&["render", "out/grain", "--at", "0"]);
    assert_eq!(code(&drawn), 1);
    assert!(error_text(&drawn).contains("it is no plain file"), "{}", error_text(&drawn));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn sixteen_thousand_mistakes_are_counted_and_a_hundred_shown() {
    use std::time::{Duration, Instant};

    let wrong_boundary = "[[boundaries]]\nname = \"a\"\nmaterial = \"stel\"\nshape = 3\n";
    let unknown: String = (0..16_000).map(|i| format!("key_{i} = {i}\n")).collect();
    let wrong: String = (0..16_000).map(|i| format!("[materials.m{i}]\ndensity = \"heavy\"\n")).collect();
    for (kind, text) in [
        ("unknown keys", format!("{unknown}{GRAIN}")),
        ("wrong boundaries", format!("{GRAIN}{}", wrong_boundary.repeat(16_000))),
        ("wrong materials", format!("{GRAIN}{wrong}")),
        ("no TOML", "= 1\n".repeat(16_000)),
    ] {
        let place = Place::with_grain();
        fs::write(place.path("grain.toml"), text).expect("written");
        let begun = Instant::now();
        let output = place.esker(&["check", "grain.toml"]);
        assert_eq!(code(&output), 2);
        assert!(error_text(&output).contains("the first 100, without "), "{kind}: {}", error_text(&output));
        assert!(begun.elapsed() < Duration::from_secs(10), "{kind}: {:?}", begun.elapsed());
    }
}

/// The library that looks for a display prints an error where no run-time folder is set; the program gives the process one.
#[test]
#[cfg(target_os = "linux")]
fn nothing_is_said_of_a_run_time_folder_that_is_not_set() {
    for unset in [None, Some("not/absolute")] {
        let mut esker = Command::new(env!("CARGO_BIN_EXE_esker"));
        esker
            .arg("devices")
            .env_remove("XDG_RUNTIME_DIR")
            .envs(unset.map(|folder| ("XDG_RUNTIME_DIR", folder)));
        let output = esker.output().expect("it runs");
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        assert!(!error_text(&output).contains("XDG_RUNTIME_DIR"), "{}", error_text(&output));
    }
}

/// A link of 0.2 kg and 0.2 m under 2 000 kg that turn easily: ω² = W (1/0.2 m + 1/0.3 m)/(0.067 + 0.022) kg, so 1.5 ms.
#[test]
fn the_step_that_the_tension_over_a_light_link_bears_is_told_with_the_name_of_the_joint() {
    let body = |name: &str, mass: f64, moment: f64, height: f64| {
        format!(
            "[[boundaries]]\nname = \"{name}\"\nmaterial = \"steel\"\nshapes = []\nmotion = {{ kind = \"dynamic\", mass = {mass}, \
             inertia = [{moment}, {moment}, {moment}], centre_of_mass = [0, 0, {height}] }}\n"
        )
    };
    let joint = |name: &str, bodies: &str, height: f64| {
        format!(
            "[[joints]]\nname = \"{name}\"\nkind = \"ball\"\nbodies = {bodies}\npoint = [0, 0, {height}]\n"
        )
    };
    let scene = [
        "duration = 1.0\n[solver]\ntime_step = 2e-3\n[materials.steel]\ndensity = 7800.0\nyoungs_modulus = 1e7\n\
         poisson_ratio = 0.3\nrestitution = 0.5\nfriction = 0.5\n"
            .to_owned(),
        body("link", 0.2, 1.0 / 1500.0, -0.1),
        body("weight", 2000.0, 0.002, -0.5),
        joint("hook", "[\"ground\", \"link\"]", 0.0),
        joint("eye", "[\"link\", \"weight\"]", -0.2),
    ]
    .concat();
    let place = Place::with("chain.toml", &scene);
    let told = text(&place.esker(&["check", "chain.toml"]));
    assert!(
        told.contains("warning: joint \"hook\" pulls with 1.962e4 N at \"link\" of 2.000e-1 kg"),
        "{told}"
    );
    assert!(told.contains("(now 0.002 s): reduce solver.time_step"), "{told}");
    let told = text(&place.esker(&["check", "chain.toml", "--set", "solver.time_step=5e-4"]));
    assert!(told.contains("joints        hold below") && !told.contains("warning: joint"), "{told}");
}
