//! Runs on several processes, as `mpirun` starts them.

use super::place::{Place, code, error_text};

const BED: &str = r#"
title = "Grains that fall"
duration = 0.2
seed = 1
[solver]
time_step = 0.002
[materials.glass]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.25
restitution = 0.3
friction = 0.5
[[boundaries]]
name = "box"
material = "glass"
shape = { kind = "box", min = [0, 0, 0], max = [0.1, 0.05, 1], open = ["+z"] }
[[grains]]
material = "glass"
radius = { kind = "constant", value = 0.004 }
packing = { kind = "random", count = 200, region = { kind = "box", min = [0, 0, 0], max = [0.1, 0.05, 0.2] } }
[output]
every = 0.05
[checkpoint]
every_simulated = 0.05
[expect]
grains = { value = 200, tolerance = 0 }
"#;

fn bed() -> Place {
    Place::with("bed.toml", BED)
}

#[test]
fn processes_that_would_all_do_the_same_are_refused() {
    let place = bed();
    for variable in ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"] {
        let output = place.command(&["render", "bed.toml"]).env(variable, "4").output().expect("it starts");
        assert_eq!(code(&output), 1);
        assert!(error_text(&output).contains("4 processes were started together"), "{}", error_text(&output));
        // What only prints may be asked for by many.
        let output = place.command(&["check", "bed.toml"]).env(variable, "4").output().expect("it starts");
        assert_eq!(code(&output), 0, "{}", error_text(&output));
    }
}

#[cfg(not(feature = "mpi"))]
#[test]
fn a_build_without_mpi_says_how_to_get_one_with_it() {
    let place = bed();
    let mut command = place.command(&["run", "bed.toml", "--device", "cpu"]);
    let output = command.env("OMPI_COMM_WORLD_SIZE", "2").output().expect("it starts");
    assert_eq!(code(&output), 1);
    assert!(error_text(&output).contains("Cargo feature \"mpi\""), "{}", error_text(&output));
}

#[cfg(feature = "mpi")]
mod connected {
    use super::*;
    use std::fs;
    use std::process::{Child, Command, Output, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    /// `mpirun -n RANKS esker ARGUMENTS`, also as root and with more ranks than cores.
    fn mpirun(place: &Place, ranks: usize, arguments: &[&str]) -> Command {
        let mut command = Command::new("mpirun");
        command.args(["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_esker")]).args(arguments);
        command.current_dir(place.path("."));
        for (name, value) in [
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
            ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
            ("RAYON_NUM_THREADS", "1"),
        ] {
            command.env(name, value);
        }
        command
    }

    fn run(place: &Place, ranks: usize, more: &[&str]) -> Output {
        mpirun(place, ranks, &[&["run", "bed.toml"], more].concat()).output().expect("mpirun starts")
    }

    fn summary(place: &Place) -> serde_json::Value {
        let text = fs::read_to_string(place.path("out/bed/summary.json")).expect("a summary");
        serde_json::from_str(&text).expect("valid JSON")
    }

    #[test]
    fn ranks_write_the_results_of_one_run_and_return_its_exit_code() {
        let place = bed();
        let output = run(&place, 3, &[]);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        assert!(error_text(&output).contains("3 ranks"), "{}", error_text(&output));
        assert_eq!(error_text(&output).matches("on cpu").count(), 1, "one of them tells");
        let told = summary(&place);
        assert_eq!((&told["status"], &told["steps"]), (&"completed".into(), &100.into()));
        assert!(place.path("out/bed/grains_000004.vtp").exists());
        let output = run(&place, 2, &["--set", "expect.grains.value=9"]);
        assert_eq!(code(&output), 3, "{}", error_text(&output));
    }

    #[test]
    fn a_mistake_is_told_once() {
        let place = bed();
        fs::write(place.path("bed.toml"), BED.replace("duration", "duraton")).expect("written");
        let output = run(&place, 3, &[]);
        assert_eq!(code(&output), 2, "{}", error_text(&output));
        assert_eq!(
            error_text(&output).matches("unknown key `duraton`").count(),
            1,
            "{}",
            error_text(&output)
        );
        fs::write(place.path("bed.toml"), BED).expect("written");
        for (more, words) in [
            (&["--device", "gpu"][..], "several ranks cannot run a GPU engine"),
            (&["--set", "solver.algorithm=apgd"], "several ranks cannot run the algorithm"),
            (&["--out", "bed.toml"], "is a file, expected a folder"),
            (&["--set", "grains.0.velocity=[0, 0, nan]"], "expected a finite number"),
        ] {
            let output = run(&place, 2, more);
            assert!(matches!(code(&output), 1 | 2), "{}", error_text(&output));
            assert_eq!(error_text(&output).matches(words).count(), 1, "{}", error_text(&output));
        }
    }

    #[test]
    fn ranks_with_other_options_are_refused() {
        let place = bed();
        for (option, first, second) in [("--until", "0.1", "0.05"), ("--out", "a", "b")] {
            let program = env!("CARGO_BIN_EXE_esker");
            let other = [":", "-n", "1", program, "run", "bed.toml", option, second];
            let arguments = [&["run", "bed.toml", option, first][..], &other].concat();
            let output = mpirun(&place, 1, &arguments).output().expect("mpirun starts");
            assert_eq!(code(&output), 1, "{}", error_text(&output));
            let words = format!("{option} is not the same on all ranks");
            assert_eq!(error_text(&output).matches(&words).count(), 1, "{}", error_text(&output));
            assert!(!place.path("a").exists() && !place.path("out").exists(), "nothing is written");
        }
    }

    /// Processes that mpirun started.
    #[cfg(target_os = "linux")]
    fn processes_of(mpirun: &Child) -> Vec<String> {
        let id = mpirun.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).expect("Linux tells");
        children.split_whitespace().map(str::to_owned).collect()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_rank_that_dies_ends_the_run_which_goes_on_from_its_checkpoint_on_any_number_of_ranks() {
        let place = bed();
        let mut command = mpirun(&place, 2, &["run", "bed.toml", "--set", "duration=500"]);
        let mut running =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("mpirun starts");
        let is_saved = || {
            let files = fs::read_dir(place.path("out/bed")).into_iter().flatten().flatten();
            files.into_iter().any(|file| file.file_name().to_string_lossy().ends_with(".esker"))
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        while !is_saved() {
            assert_eq!(running.try_wait().expect("a status"), None, "it ended by itself");
            assert!(Instant::now() < deadline, "nothing is saved");
            sleep(Duration::from_millis(20));
        }
        let victim = processes_of(&running).pop().expect("two processes");
        assert!(Command::new("kill").args(["-9", &victim]).status().expect("kill").success());
        let output = running.wait_with_output().expect("mpirun ends");
        assert_ne!(output.status.code(), Some(0));
        assert!(error_text(&output).contains("signal 9"), "{}", error_text(&output));
        let output = run(&place, 3, &["--resume", "--set", "duration=500", "--until", "2"]);
        assert!(error_text(&output).contains("going on from checkpoint_"), "{}", error_text(&output));
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        // One process goes on as well.
        let output = place.esker(&["run", "bed.toml", "--resume", "--set", "duration=500", "--until", "2.1"]);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        assert!(summary(&place)["simulated_seconds"].as_f64().is_some_and(|time| (time - 2.1).abs() < 1e-9));
    }
}
