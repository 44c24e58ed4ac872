//! Runs that are killed or interrupted, and resumed with `--resume`.
#![allow(clippy::expect_used, reason = "a failed expectation fails the test")]

use std::collections::BTreeMap;
use std::fs;
#[cfg(unix)]
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use esker::model::Random;
use esker::model::random::Stream;
use serde_json::Value;

use crate::common::{assert_same, files_of_run};
use crate::place::{Place, code, error_text};

const SCENE: &str = r#"
duration = 1.2

[solver]
time_step = 1e-3

[materials.glass]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.25
restitution = 0.2
friction = 0.4

[[boundaries]]
name = "box"
material = "glass"
shape = { kind = "box", min = [0, 0, 0], max = [0.08, 0.08, 0.5], open = ["+z"] }

[[emitters]]
name = "source"
material = "glass"
radius = { kind = "uniform", min = 0.004, max = 0.006 }
region = { kind = "box", min = [0, 0, 0.2], max = [0.08, 0.08, 0.3] }
rate = 400.0
every = 0.05

[[sinks]]
name = "hole"
region = { kind = "box", min = [0, 0, -0.1], max = [0.03, 0.03, 0.02] }

[output]
every = 0.02

[checkpoint]
every_simulated = 0.013
"#;

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    files_of_run(folder, &|_| ())
}

fn summary(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("summary.json")).expect("a summary");
    serde_json::from_str(&text).expect("JSON")
}

/// Starts a run that resumes from the last checkpoint.
fn go_on(place: &Place) -> Child {
    let arguments = ["run", "scene.toml", "--device", "cpu", "--out", "parts", "--resume", "--quiet"];
    place.command(&arguments).stderr(Stdio::null()).spawn().expect("the program starts")
}

#[cfg(unix)]
fn send(signal: &str, child: &Child) {
    let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("kill is there").success());
}

/// Kills a run 50 times, at random moments. Every second signal asks the run to end, the others kill it at once.
#[cfg(unix)]
#[test]
fn a_run_that_is_killed_again_and_again_comes_to_the_files_of_an_undisturbed_one() {
    let place = Place::with("scene.toml", SCENE);
    let whole = place.esker(&["run", "scene.toml", "--device", "cpu", "--out", "whole", "--quiet"]);
    assert_eq!(code(&whole), 0, "{}", error_text(&whole));
    let expected = files(&place.path("whole"));
    let compare = || assert_same(&files(&place.path("parts")), &expected, "killed again and again");
    let mut random = Random::new(5, Stream::Grains(0));
    let (mut kills, mut asked) = (0, 0);
    while kills < 50 {
        let mut child = go_on(&place);
        sleep(Duration::from_micros(10_000 + random.below(110_000)));
        if child.try_wait().expect("a child").is_none() {
            let asks = kills % 2 == 0;
            let signal = if asks { "-TERM" } else { "-KILL" };
            send(signal, &child);
            let told = Instant::now();
            let status = child.wait().expect("a child");
            assert!(told.elapsed() < Duration::from_secs(10), "it does not end");
            // Before the run listens, a signal kills it; and the run may have been about to end by itself.
            if asks && status.code() == Some(1) {
                assert_eq!(summary(&place.path("parts"))["status"], "interrupted");
                asked += 1;
            }
            kills += 1;
        } else {
            compare();
            fs::remove_dir_all(place.path("parts")).expect("removed");
        }
    }
    assert!(asked > 5, "of 25 that were asked to end {asked} did so in order");
    assert!(go_on(&place).wait().expect("a child").success());
    compare();
}

/// Messages of a resumed run: that there is no checkpoint, from which one it continues, what was changed, and what must not be changed.
#[test]
fn going_on_is_told_and_changes_are_noted() {
    let place = Place::with("scene.toml", SCENE);
    let run = |more: &[&str]| {
        let arguments = ["run", "scene.toml", "--device", "cpu", "--out", "out"];
        place.esker(&[&arguments, more].concat())
    };
    let first = run(&["--resume", "--until", "0.1"]);
    assert!(error_text(&first).contains("no checkpoint in out: starting anew"), "{}", error_text(&first));
    let second = run(&["--resume", "--until", "0.2", "--set", "solver.iterations=30"]);
    assert_eq!(code(&second), 0, "{}", error_text(&second));
    let said = error_text(&second);
    assert!(said.contains("going on from checkpoint_000000000100.esker at t = 0.1 s"), "{said}");
    let summary_of_second = summary(&place.path("out"));
    let changed = summary_of_second["changed_on_resume"].as_array().expect("a list");
    let iterations = changed.iter().find(|change| change["key"] == "solver.iterations").expect("noted");
    assert_eq!((iterations["step"].as_u64(), iterations["is"].as_str()), (Some(100), Some("30")));
    let refused = run(&["--resume", "--set", "materials.glass.friction=0.5"]);
    let said = error_text(&refused);
    assert!(code(&refused) == 2 && said.contains("materials.glass.friction: was 0.4"), "{said}");
    let early = run(&["--resume", "--until", "0.15", "--set", "solver.iterations=40"]);
    let said: String = error_text(&early).chars().filter(|c| c.is_alphanumeric()).collect();
    assert!(code(&early) == 2 && said.contains("aftertheendofthisrun"), "{said}");

    // If the last checkpoint is damaged, the one before it is used.
    let last = place.path("out").join("checkpoint_000000000200.esker");
    let mut bytes = fs::read(&last).expect("the last checkpoint");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&last, bytes).expect("written");
    let third = run(&["--resume", "--until", "0.25", "--set", "solver.iterations=30"]);
    let said = error_text(&third);
    assert!(said.contains("checksum") && said.contains("going on from the one before"), "{said}");
    assert!(said.contains("checkpoint_000000000195.esker"), "{said}");
    assert_eq!(code(&third), 0);
}

/// A run that fails names the last checkpoint.
#[test]
fn after_a_failure_the_last_checkpoint_is_named() {
    let text = SCENE.replace("[output]", "[domain]\nmin = [-1, -1, 0.1]\noutside = \"stop\"\n[output]");
    let place = Place::with("scene.toml", &text);
    let failed = place.esker(&["run", "scene.toml", "--device", "cpu", "--out", "out"]);
    let said = error_text(&failed);
    assert!(code(&failed) != 0 && said.contains("left the domain"), "{said}");
    assert!(said.contains("the last checkpoint is out/checkpoint_") && said.contains("--resume"), "{said}");
}

/// The results of a run can start another: a frame as a packing, a checkpoint as the start.
#[test]
fn what_a_run_writes_can_be_read_back_as_a_packing_and_as_a_start() {
    let place = Place::with("scene.toml", SCENE);
    let poured =
        place.esker(&["run", "scene.toml", "--device", "cpu", "--out", "out", "--until", "0.3", "--quiet"]);
    assert_eq!(code(&poured), 0, "{}", error_text(&poured));
    let head = SCENE.split("[[emitters]]").next().expect("a head").replace("1.2", "0.01");
    let grains = |source: &str, name: &str| {
        let file = format!("{name}.toml");
        fs::write(place.path(&file), format!("{head}\n{source}\n")).expect("written");
        let run = place.esker(&["run", &file, "--device", "cpu", "--quiet"]);
        assert_eq!(code(&run), 0, "{}", error_text(&run));
        summary(&place.path("out").join(name))["counts"]["grains"].as_u64()
    };
    let expected = summary(&place.path("out"))["counts"]["grains"].as_u64();
    assert!(expected.is_some_and(|grains| grains > 50));
    let frame =
        "[[grains]]\nmaterial = \"glass\"\npacking = { kind = \"frame\", file = \"out/grains_000015.vtp\" }";
    assert_eq!(grains(frame, "of_frame"), expected);
    assert_eq!(grains("[start]\ncheckpoint = \"out\"", "of_checkpoint"), expected);
    // The runs of a study may start there, too.
    let study = "title = \"s\"\nscenario = \"of_checkpoint.toml\"\n[axes]\nsolver.iterations = [5, 6]\n[keep]\ngrains = {}\n";
    fs::write(place.path("study.toml"), study).expect("written");
    let listed = place.esker(&["study", "study.toml", "--device", "cpu", "--list"]);
    assert_eq!(code(&listed), 0, "{}", error_text(&listed));

    let mistake = |source: &str| {
        fs::write(place.path("wrong.toml"), format!("{head}\n{source}\n")).expect("written");
        let run = place.esker(&["check", "wrong.toml"]);
        assert_ne!(code(&run), 0);
        error_text(&run)
    };
    let said = mistake("[start]\ncheckpoint = \"nowhere\"");
    assert!(said.contains("nowhere") && said.contains("wrong.toml"), "{said}");
    let said = mistake("[start]\ncheckpoint = \"scene.toml\"");
    assert!(said.contains("is no checkpoint of esker"), "{said}");
    let said = mistake(&frame.replace("grains_000015", "contacts_000015"));
    assert!(said.contains("has no field `radius` of 1 numbers"), "{said}");
    let said = mistake(&format!("{frame}\n[checkpoint]\n"));
    assert!(said.contains("every = 600"), "{said}");
}

/// A run that has come to its end is not run again, unless it is to go further.
#[test]
fn a_run_that_has_come_to_its_end_is_left_as_it_is() {
    // Without checkpoints there is nothing to go on from, and no reason to.
    let place = Place::with("scene.toml", SCENE.split("[checkpoint]").next().expect("a scene"));
    let run = |more: &[&str]| {
        let arguments =
            ["run", "scene.toml", "--device", "cpu", "--out", "out", "--resume", "--set", "duration=0.1"];
        place.esker(&[&arguments, more].concat())
    };
    // A run that ends early leaves a checkpoint, whatever the scenario says.
    assert_eq!(code(&run(&["--until", "0.05"])), 0);
    let rest = run(&[]);
    assert!(code(&rest) == 0 && error_text(&rest).contains("going on"), "{}", error_text(&rest));
    fs::remove_dir_all(place.path("out")).expect("removed");
    assert_eq!(code(&run(&[])), 0);
    let written = || {
        fs::metadata(place.path("out").join("summary.json")).and_then(|file| file.modified()).expect("a file")
    };
    let before = written();
    let again = run(&[]);
    assert!(
        code(&again) == 0 && error_text(&again).contains("has come to its end"),
        "{}",
        error_text(&again)
    );
    assert_eq!(written(), before);
    let other = run(&["--set", "title=another"]);
    assert!(code(&other) == 0 && error_text(&other).contains("starting anew"), "{}", error_text(&other));
}

/// A missing frame is reported before any file is changed.
#[test]
fn results_that_a_checkpoint_relies_on_are_looked_for_before_anything_is_cut() {
    let place = Place::with("scene.toml", SCENE);
    let run = |until: &str, more: &[&str]| {
        let arguments = ["run", "scene.toml", "--device", "cpu", "--out", "out", "--until", until];
        place.esker(&[&arguments, more].concat())
    };
    assert_eq!(code(&run("0.1", &[])), 0);
    let frame = place.path("out").join("grains_000002.vtp");
    let kept = fs::read(&frame).expect("a frame");
    fs::remove_file(&frame).expect("removed");
    let before = files(&place.path("out"));
    let refused = run("0.2", &["--resume"]);
    let said = error_text(&refused);
    assert!(code(&refused) == 2 && said.contains("grains_000002.vtp"), "{said}");
    assert_eq!(files(&place.path("out")), before, "nothing was touched");
    fs::write(&frame, kept).expect("written");
    assert_eq!(code(&run("0.2", &["--resume"])), 0);
}

/// The signal of a closed terminal ends a run in order; a run that ignores the signal continues.
#[cfg(unix)]
#[test]
fn a_hang_up_ends_a_run_unless_it_is_ignored() {
    let place = Place::with("scene.toml", SCENE);
    let start = |ignoring: bool| {
        let rows = place.path("out").join("timeseries.csv");
        let _ = fs::remove_file(&rows);
        let arguments =
            ["run", "scene.toml", "--device", "cpu", "--out", "out", "--quiet", "--set", "duration=3.0"];
        let mut command = place.command(&arguments);
        let disposition = if ignoring { libc::SIG_IGN } else { libc::SIG_DFL };
        // The program that starts these tests may ignore the signal, too. SAFETY: between fork and exec signal() may be called.
        unsafe {
            command.pre_exec(move || {
                libc::signal(libc::SIGHUP, disposition);
                Ok(())
            });
        }
        let mut child = command.stderr(Stdio::null()).spawn().expect("the program starts");
        // The run listens to signals before it writes anything.
        let begun = Instant::now();
        while !rows.exists() && begun.elapsed() < Duration::from_secs(60) {
            sleep(Duration::from_millis(5));
        }
        send("-HUP", &child);
        child.wait().expect("a child").code()
    };
    assert_eq!(start(false), Some(1));
    assert_eq!(summary(&place.path("out"))["status"], "interrupted");
    assert_eq!(start(true), Some(0));
    assert_eq!(summary(&place.path("out"))["status"], "completed");
}
