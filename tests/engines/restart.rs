//! Checkpoints on both engines: a run that was interrupted and resumed writes the same files, bit for bit, as one that never stopped;
//! saving changes nothing; and the grains of a checkpoint start another scene with their forces.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

pub mod forged;
pub mod scenes;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::*;
use esker::checkpoint::Checkpoint;
use esker::engine::{Engine, Snapshot};
use esker::error::Error;
use esker::gpu::GpuEngine;
use esker::gpu::checkpoint::STATE;
use esker::model::Random;
use esker::model::random::Stream;
use esker::output::summary::{RunStatus, Summary};
use esker::scenario::Scenario;
use esker::settings::{Method, Settings};
use esker::simulation::{self, Device, Resumption, RunOptions, Simulation};
use glam::DVec3;
use scenes::{CLUMPS, CONVERGENCE, EMITTER_AND_SINK, GAS, GLASS, SCENES};

pub fn scene(body: &str, overrides: &[&str]) -> Scenario {
    // TOML needs keys before tables: the keys at the top of the body come first.
    let (top, tables) = body.split_at(body.find("\n[").unwrap());
    let overrides: Vec<String> = overrides.iter().map(|&text| text.into()).collect();
    let text = format!("{top}\n{GLASS}\n{tables}");
    Scenario::parse("restart", &text, Path::new("."), &overrides)
        .unwrap_or_else(|problems| panic!("{problems}"))
}

/// The engines that runs are made on.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Cpu,
    Gpu,
}

fn engine(kind: Kind, scene: &Scenario) -> Box<dyn Engine> {
    match kind {
        Kind::Cpu => simulation::device::cpu(scene).unwrap(),
        Kind::Gpu => simulation::device::gpu(device(), scene).unwrap(),
    }
}

fn simulation(kind: Kind, scene: &Scenario) -> Simulation<'static> {
    Simulation::on(scene, engine(kind, scene)).unwrap()
}

/// Runs a scene from its start or from the last checkpoint in the folder, to its end or until it is interrupted after some step.
fn run(kind: Kind, scene: &Scenario, folder: &Path, goes_on: bool, stop: Option<u64>) -> Summary {
    let interrupt = AtomicBool::new(stop == Some(0));
    let resume = goes_on.then(|| Resumption::of(folder).unwrap());
    let found = resume.as_ref().is_some_and(|resume| resume.checkpoint.is_some());
    assert_eq!(found, goes_on, "a checkpoint to go on from");
    let options = RunOptions { saves: true, resume, ..RunOptions::new(folder, &interrupt) };
    let mut engine = engine(kind, scene);
    simulation::run(scene, engine.as_mut(), options, &mut |progress| {
        interrupt.fetch_or(stop.is_some_and(|stop| progress.step >= stop), Ordering::Relaxed);
    })
    .unwrap()
}

/// All files of a run without wall times and without the number of threads, which may change on resuming.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    files_of_run(folder, &|summary| {
        summary["engine"].as_object_mut().unwrap().remove("driver").unwrap();
    })
}

/// Compares a run without a stop with a run that is stopped at two random steps and resumed; the number of threads changes between its
/// parts.
fn goes_on_to_the_bit(kind: Kind, of: &str, body: &str, seed: u64) {
    let scene = scene(body, &["observe.grain_stress=true"]);
    let steps = (scene.duration / scene.settings.time_step).round() as u64;
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let expected = run(kind, &scene, whole.path(), false, None);
    assert_eq!((expected.status, expected.steps), (RunStatus::Completed, steps), "{of}");

    let mut random = Random::new(seed, Stream::Grains(0));
    let first = random.below(steps / 2);
    let second = first + 1 + random.below(steps / 3);
    let folder = parts.path();
    assert_eq!(run(kind, &scene, folder, false, Some(first)).status, RunStatus::Interrupted);
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let interrupted = alone.install(|| run(kind, &scene, folder, true, Some(second)));
    assert!(interrupted.status == RunStatus::Interrupted && interrupted.steps > first, "{of}");
    let found = run(kind, &scene, folder, true, None);
    assert_eq!((found.status, found.steps), (RunStatus::Completed, steps), "{of}");
    assert_same(&files(folder), &files(whole.path()), &format!("{of}, stopped at {first} and {second}"));
}

#[test]
fn a_run_that_goes_on_comes_to_the_same_files_on_the_cpu_engine() {
    for (seed, (of, body)) in (1..).zip(SCENES) {
        goes_on_to_the_bit(Kind::Cpu, of, body, seed);
    }
}

#[test]
fn a_run_that_goes_on_comes_to_the_same_files_on_the_gpu() {
    for (seed, (of, body)) in (11..).zip(SCENES) {
        goes_on_to_the_bit(Kind::Gpu, of, body, seed);
    }
}

/// Checkpoints fall between outputs, in the middle of what would be one submission, and reach beyond the duration.
#[test]
fn checkpoints_change_no_bit_of_the_run_that_saves_them() {
    let plain = scene(EMITTER_AND_SINK, &[]);
    let saving = scene(EMITTER_AND_SINK, &["checkpoint.every_simulated=0.014"]);
    for kind in [Kind::Cpu, Kind::Gpu] {
        let (without, with) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        run(kind, &plain, without.path(), false, None);
        run(kind, &saving, with.path(), false, None);
        let (mut found, mut expected) = (files(with.path()), files(without.path()));
        // `scenario.toml` names the checkpoints asked for, so it differs.
        for files in [&mut found, &mut expected] {
            files.remove("scenario.toml").unwrap();
        }
        assert_same(&found, &expected, "with checkpoints");
        let left = fs::read_dir(with.path())
            .unwrap()
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().ends_with(".esker"));
        assert_eq!(left.count(), 2, "the last two are kept");
    }
}

/// A scene, its engine after `steps` steps, and the saved state of the engine.
fn saved(kind: Kind, body: &str, steps: u64) -> (Scenario, Box<dyn Engine>, Vec<u8>) {
    let scene = scene(body, &["observe.grain_stress=true"]);
    let mut engine = engine(kind, &scene);
    engine.advance(steps).unwrap();
    let mut bytes = Vec::new();
    engine.save(&mut bytes).unwrap();
    (scene, engine, bytes)
}

/// A completed run can be continued beyond its duration: its last checkpoint does not contain the outputs that only the end of a run has.
#[test]
fn a_run_that_has_ended_goes_on_beyond_its_duration() {
    let scene = scene(EMITTER_AND_SINK, &["checkpoint.every=1000", "output.every=0.07"]);
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let never = AtomicBool::new(false);
    let until = |folder: &Path, end: f64, resume: Option<Resumption>| {
        let options = RunOptions { until: Some(end), resume, ..RunOptions::new(folder, &never) };
        simulation::run(&scene, engine(Kind::Cpu, &scene).as_mut(), options, &mut |_| ()).unwrap()
    };
    until(whole.path(), 0.4, None);
    let ended = until(parts.path(), scene.duration, None);
    assert_eq!((ended.status, ended.steps), (RunStatus::Completed, 150));
    // As if the run was killed after its last checkpoint, with no step left to do.
    let before = files(parts.path());
    fs::remove_file(parts.path().join("summary.json")).unwrap();
    until(parts.path(), scene.duration, Some(Resumption::of(parts.path()).unwrap()));
    assert_same(&files(parts.path()), &before, "with no step left");
    let again = until(parts.path(), 0.4, Some(Resumption::of(parts.path()).unwrap()));
    assert_eq!((again.status, again.steps), (RunStatus::Completed, 200));
    assert_same(&files(parts.path()), &files(whole.path()), "beyond the duration");
}

/// A lost device costs no more than the steps since the last checkpoint: another device continues from there to the same files.
#[test]
fn a_run_whose_device_was_lost_goes_on_on_another() {
    let scene = scene(GAS, &["checkpoint.every_simulated=0.03"]);
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(Kind::Gpu, &scene, whole.path(), false, None);
    let device = own_device();
    let mut engine = GpuEngine::new(device.clone(), scene.world.clone(), scene.settings).unwrap();
    let never = AtomicBool::new(false);
    let options = RunOptions::new(parts.path(), &never);
    let lost = simulation::run(&scene, &mut engine, options, &mut |progress| {
        if progress.step > 40 {
            device.destroy();
        }
    });
    assert!(matches!(lost, Err(Error::DeviceLost { .. })), "{lost:?}");
    let (_, header) = Checkpoint::last_header(parts.path()).unwrap();
    assert!((30..100).contains(&header.step), "{}", header.step);
    run(Kind::Gpu, &scene, parts.path(), true, None);
    assert_same(&files(parts.path()), &files(whole.path()), "after the loss of a device");
}

/// The buffers that are not saved do not affect the next steps, whatever they contain; without one of the saved buffers the next steps
/// differ.
#[test]
fn what_is_not_saved_of_the_device_is_of_no_use_to_the_next_step() {
    let (scene, mut undisturbed, bytes) = saved(Kind::Gpu, CLUMPS, 60);
    undisturbed.advance(40).unwrap();
    let expected = undisturbed.snapshot().unwrap();
    let goes_on = |spoil: &dyn Fn(&GpuEngine)| {
        let mut engine = GpuEngine::new(device(), scene.world.clone(), scene.settings).unwrap();
        engine.restore(&bytes).unwrap();
        spoil(&engine);
        engine.advance(40).ok().and_then(|_| engine.snapshot().ok())
    };
    // These buffers are made from the world.
    let made_anew = ["params", "surfaces", "sinks", "laws", "meters"];
    let found = goes_on(&|engine| {
        let scratch = engine
            .buffer_names()
            .into_iter()
            .filter(|name| !STATE.contains(name) && !made_anew.contains(name));
        scratch.for_each(|name| engine.fill_words(name, 0x7fc0_dead));
    });
    let found = found.expect("a state");
    let all = |state: &Snapshot| (state.world.clone(), state.contacts.clone(), state.grain_stresses.clone());
    assert_eq!(all(&found), all(&expected));
    for name in ["impulses", "velocities", "contacts", "travel", "grain_loads"] {
        let other = goes_on(&|engine| engine.fill_words(name, 0));
        let is_same = other.is_some_and(|other| all(&other) == all(&expected));
        // Without the paths since the last search the next search comes later: the state is as good, but may have other bits.
        assert!(!is_same || name == "travel", "without {name} the state is the same");
    }
}

/// A restored simulation continues its rates, emitters and steps. A file of another engine, scene or version, a damaged file and a file of
/// another kind are refused.
#[test]
fn a_simulation_is_saved_and_restored_by_code() {
    let scene = scene(EMITTER_AND_SINK, &[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.esker");
    let mut simulation = Simulation::new(&scene, Device::Cpu).unwrap();
    simulation.run_until(0.1).unwrap();
    simulation.quantity("mass_flow:hole").unwrap();
    simulation.save(&file).unwrap();
    let mut goes_on = Simulation::restore(&scene, Device::Cpu, &file).unwrap();
    assert_eq!((goes_on.time(), goes_on.steps()), (simulation.time(), simulation.steps()));
    for until in [0.17, 0.25] {
        let [expected, found] = [&mut simulation, &mut goes_on].map(|simulation| {
            simulation.run_until(until).unwrap();
            let flow = simulation.quantity("mass_flow:hole").unwrap();
            (flow.to_bits(), simulation.state().unwrap().clone())
        });
        assert!(expected.1.world.removed.len() > 20, "{}", expected.1.world.removed.len());
        assert_eq!(expected.0, found.0, "the rate since the state before the checkpoint");
        assert_eq!((&expected.1.world, &expected.1.contacts), (&found.1.world, &found.1.contacts));
    }

    let refusal = |scene: &Scenario, device: Device, file: &Path| {
        Simulation::restore(scene, device, file).err().expect("a refusal").to_string()
    };
    let text = refusal(&scene, Device::Software, &file);
    assert!(text.contains("saved by the cpu engine") && text.contains("choose --device cpu"), "{text}");
    let other = self::scene(EMITTER_AND_SINK, &["materials.glass.friction=0.4"]);
    let text = refusal(&other, Device::Cpu, &file);
    assert!(text.contains("materials.glass.friction: was 0.5 at the checkpoint and is 0.4"), "{text}");
    let faster = self::scene(EMITTER_AND_SINK, &["solver.iterations=7"]);
    Simulation::restore(&faster, Device::Cpu, &file).expect("sweeps may change");

    let whole = fs::read(&file).unwrap();
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        fs::write(&file, bytes).unwrap();
        refusal(&scene, Device::Cpu, &file)
    };
    let middle = whole.len() / 2;
    for change in [
        &|bytes: &mut Vec<u8>| bytes[middle] ^= 1,
        &(|bytes: &mut Vec<u8>| bytes.truncate(middle)) as &dyn Fn(&mut Vec<u8>),
    ] {
        let text = with(change);
        assert!(text.contains("checksum"), "{text}");
    }
    let version = env!("CARGO_PKG_VERSION");
    let text = with(&|bytes| {
        let place = bytes.windows(version.len()).position(|part| part == version.as_bytes()).unwrap();
        bytes[place] = b'9';
        let content = bytes.len() - 4;
        let sum = crc32fast::hash(&bytes[..content]).to_le_bytes();
        bytes[content..].copy_from_slice(&sum);
    });
    assert!(text.contains("was saved by esker 9"), "{text}");
    assert!(with(&|bytes| *bytes = b"x,y,z\n".to_vec()).contains("is no checkpoint"));
}

/// A state of the smooth method continues under impulses. Its objective, which only a solve gives, is unknown before the next step.
#[test]
fn a_state_of_the_smooth_method_has_no_objective_until_the_other_has_solved() {
    let world = column(5, 0.0).world;
    let smooth = Settings { method: Method::Smooth, time_step: 1e-5, ..Settings::default() };
    let mut springs = cpu(&world, &smooth);
    springs.advance(20).unwrap();
    let mut state = Vec::new();
    springs.save(&mut state).unwrap();
    let mut impulses = cpu(&world, &Settings::default());
    impulses.restore(&state).unwrap();
    assert_eq!(impulses.snapshot().unwrap().report.objective, None);
    impulses.advance(1).unwrap();
    assert!(impulses.snapshot().unwrap().report.objective.is_some());
}

/// A bed that was settled once continues in a new scene, on either engine from either, as if nothing had happened: after one step the
/// contacts carry its weight within 2 %. The same grains without their impulses do not, by more than 20 %.
#[test]
fn the_grains_of_a_checkpoint_start_another_scene_with_the_forces_they_had() {
    let bed = format!(
        "{}[[grains]]\nmaterial = \"glass\"\nclump = \"rod\"\nturned = {{ axis = [0, 0, 1], angle_deg = 20 }}\n\
         packing = {{ kind = \"list\", positions = [[0.03, 0.0, 0.05], [0.03, 0.0, 0.02]] }}\n\
         [clumps.rod]\nspheres = [{{ position = [0, 0, 0], radius = 0.004 }}, {{ position = [0.005, 0, 0], radius = 0.004 }}]\n",
        CONVERGENCE
            .split("[convergence]")
            .next()
            .unwrap()
            .replace("0.12", "1.0")
            .replace("\"pyramid\", base = [0, 0, 0], rows = 5", "\"column\", base = [0, 0, 0], count = 12")
    );
    let settled = scene(&bed, &["solver.iterations=200", "output.every=0.5"]);
    let head = bed.split("[[grains]]").next().unwrap().replace("1.0", "0.01");
    let clumps = bed.split("[clumps.rod]").nth(1).unwrap();
    for kind in [Kind::Cpu, Kind::Gpu] {
        let folder = tempfile::tempdir().unwrap();
        run(
            kind,
            &scene(&bed, &["solver.iterations=200", "output.every=0.5", "checkpoint.every=1000"]),
            folder.path(),
            false,
            None,
        );
        let start =
            format!("{head}[start]\ncheckpoint = \"{}\"\n[clumps.rod]{clumps}", folder.path().display());
        // Half the time step, so half the impulses; and one sweep, which finds little by itself.
        let few = [
            "solver.time_step=1e-3",
            "solver.iterations=1",
            "solver.acceleration=none",
            "solver.warm_start={ kind = \"history\", fraction = 1.0 }",
        ];
        let scenario = scene(&start, &few);
        assert_eq!(scenario.world.grain_count(), settled.world.grain_count());
        for there in [Kind::Cpu, Kind::Gpu] {
            let mut simulation = simulation(there, &scenario);
            let weight = simulation.state().unwrap();
            assert!(weight.contacts.iter().any(|contact| contact.is_active()), "before the first step");
            simulation.step(1).unwrap();
            let supported = simulation.quantity("weight_supported").unwrap();
            // One sweep leaves the error to which the settled state had not converged.
            assert!((supported - 1.0).abs() < 0.02, "{kind:?} to {there:?}: {supported}");
            let without = Scenario { seeds: Vec::new(), ..scenario.clone() };
            let mut bare = self::simulation(there, &without);
            bare.step(1).unwrap();
            let supported = bare.quantity("weight_supported").unwrap();
            assert!((supported - 1.0).abs() > 0.2, "without impulses {supported}");
        }
        // In another period the grains would be folded into each other.
        let folded = format!("{start}[periodic]\nx = [-0.05, 0.05]\n");
        let folded = Scenario::parse(
            "restart",
            &format!("{GLASS}{folded}").replace("seed = 3", ""),
            Path::new("."),
            &[],
        );
        assert!(folded.is_err_and(|problems| problems.to_string().contains("period of 0 m along x")));
        // With another contact law the grains start without impulses.
        let [slippery, unknown] = ["materials.glass.friction=0.2", "clumps.rod.spheres.0.radius=0.0041"];
        assert!(scene(&start, &[slippery]).seeds.is_empty());
        let text = format!("{GLASS}{start}");
        let overrides = [unknown.to_owned()];
        let problems = Scenario::parse("restart", &text.replace("seed = 3", ""), Path::new("."), &overrides);
        assert!(problems.expect_err("another clump").to_string().contains("clump"), "{text}");
    }
}

/// Settings that may change while a run is interrupted take effect from there on.
#[test]
fn intervals_that_change_on_the_way_count_from_there() {
    let folder = tempfile::tempdir().unwrap();
    let first = scene(GAS, &["output.every=0.1", "checkpoint.every_simulated=0.01"]);
    run(Kind::Cpu, &first, folder.path(), false, Some(30));
    let rows = || fs::read_to_string(folder.path().join("timeseries.csv")).unwrap().lines().count() - 1;
    let states = || Checkpoint::last_header(folder.path()).unwrap().1.step;
    let (rows_before, step) = (rows(), states());
    assert!(rows_before <= 2 && step >= 30, "{rows_before} rows, {step} steps");
    // No more checkpoints come in simulated time, and outputs come ten times as often.
    let second = scene(GAS, &["output.every=0.01", "checkpoint.every=1000"]);
    let summary = run(Kind::Cpu, &second, folder.path(), true, None);
    assert_eq!(summary.status, RunStatus::Completed);
    let tasks = &summary.wall_seconds_by_task;
    assert!(tasks.get("checkpoint").is_some());
    let expected = 1 + (100 - step) / 5;
    assert!(
        (rows() as u64).abs_diff(expected + rows_before as u64 - 1) <= 2,
        "{} rows from step {step}",
        rows()
    );
    assert_eq!(states(), 100, "and one at the end");
    let keys: Vec<&str> = summary.changed_on_resume.iter().map(|change| change.key.as_str()).collect();
    assert!(keys.contains(&"output.every") && keys.contains(&"checkpoint.every_simulated"), "{keys:?}");
}

/// Before the first step the impulses of a start are part of the state.
#[test]
fn a_scene_that_starts_from_a_checkpoint_goes_on_from_its_own_first_moment() {
    let folder = tempfile::tempdir().unwrap();
    let settled = scene(CONVERGENCE, &["checkpoint.every=1000"]);
    run(Kind::Cpu, &settled, folder.path(), false, None);
    let head = CONVERGENCE.split("[[grains]]").next().unwrap();
    let start = scene(&format!("{head}[start]\ncheckpoint = \"{}\"\n", folder.path().display()), &[]);
    assert!(!start.seeds.is_empty());
    let file = folder.path().join("at-once.esker");
    for (kind, device) in [(Kind::Cpu, Device::Cpu), (Kind::Gpu, Device::Software)] {
        let mut simulation = simulation(kind, &start);
        simulation.save(&file).unwrap();
        let mut goes_on = Simulation::restore(&start, device, &file).unwrap();
        // A look before the first step searches for contacts.
        let first = goes_on.state().unwrap().contacts.clone();
        assert_eq!(first, simulation.state().unwrap().contacts);
        assert!(first.iter().any(|contact| contact.is_active()));
        simulation.step(3).unwrap();
        goes_on.step(3).unwrap();
        let expected = simulation.state().unwrap().clone();
        assert_eq!(goes_on.state().unwrap().contacts, expected.contacts);
        assert_eq!(goes_on.state().unwrap().world, expected.world);
    }
}

/// Two grains that have touched and go apart: their bridge goes on in another scene, beside a grain that comes anew.
#[test]
fn a_scene_that_starts_from_a_checkpoint_has_its_liquid_bridges() {
    let liquid = "[liquid]\nsurface_tension = 1e-9\nbridge_volume_ratio = 0.01\n";
    let grains = |positions: &str, speed: f64| {
        format!(
            "[[grains]]\nmaterial = \"glass\"\nradius = {{ kind = \"constant\", value = 0.005 }}\nvelocity = [{speed}, 0, 0]\n\
             packing = {{ kind = \"list\", positions = [{positions}] }}\n"
        )
    };
    let head = "duration = 0.01\ngravity = [0, 0, 0]\n";
    let [left, right] = [grains("[0.0, 0.0, 0.0]", -0.05), grains("[0.01, 0.0, 0.0]", 0.0)];
    let folder = tempfile::tempdir().unwrap();
    let parting = scene(&format!("{head}{left}{right}{liquid}[checkpoint]\nevery = 1000\n"), &[]);
    run(Kind::Cpu, &parting, folder.path(), false, None);
    let start = format!("[start]\ncheckpoint = \"{}\"\n", folder.path().display());
    let more = grains("[0.5, 0.0, 0.0]", 0.0);
    let found = |body: &str| {
        let mut simulation = simulation(Kind::Cpu, &scene(&format!("{head}{body}{liquid}"), &[]));
        simulation.step(1).unwrap();
        ["bridges", "bridges_formed", "bridges_broken"].map(|name| simulation.quantity(name).unwrap())
    };
    assert_eq!(found(&format!("{start}{more}")), [1.0, 0.0, 0.0]);
    // Control: the same places without a past.
    let apart = format!("{}{right}", grains("[-0.0005, 0.0, 0.0]", -0.05));
    assert_eq!(found(&apart), [0.0; 3]);
}

/// In a box that has lost a wall, each other wall carries its own forces as before: the floor still carries the weight, within 5 %.
#[test]
fn a_wall_that_is_taken_away_takes_no_forces_of_the_others() {
    let bed = |open: &str, rest: &str| {
        let text = format!(
            "duration = 0.4\n[[boundaries]]\nname = \"box\"\nmaterial = \"glass\"\n\
             shape = {{ kind = \"box\", min = [0, 0, 0], max = [0.05, 0.05, 0.2], open = [{open}] }}\n{rest}"
        );
        scene(&text, &["solver.iterations=100"])
    };
    let folder = tempfile::tempdir().unwrap();
    let grains = "[[grains]]\nmaterial = \"glass\"\nradius = { kind = \"constant\", value = 0.005 }\n\
        packing = { kind = \"lattice\", structure = \"cubic\", corner = [0.005, 0.005, 0.005], counts = [5, 5], count = 75, spacing = 0.01 }\n\
        [checkpoint]\nevery = 1000\n";
    run(Kind::Cpu, &bed("\"+z\"", grains), folder.path(), false, None);
    let start = format!("[start]\ncheckpoint = \"{}\"\n", folder.path().display());
    let dam = bed("\"+z\", \"+x\"", &start);
    // Impulses act along the normal of each wall's plane; the floor is the wall whose normal points up.
    let floor =
        dam.world.surfaces.iter().position(|surface| surface.orientation * DVec3::Z == DVec3::Z).unwrap();
    let on_floor: Vec<_> = dam.seeds.iter().filter(|(key, _)| key.b as usize == floor).collect();
    let supported: f64 = on_floor.iter().map(|(_, impulse)| impulse.normal).sum();
    let weight: f64 =
        (0..75).map(|grain| dam.world.grain_mass(grain)).sum::<f64>() * 9.81 * dam.settings.substep();
    assert_eq!(on_floor.len(), 25);
    assert!((supported / weight - 1.0).abs() < 0.05, "{supported} for {weight}");
}

/// Of the meshes of a scene, which are not saved, nothing is needed to take its grains.
#[test]
fn grains_that_were_among_meshes_start_another_scene() {
    let (_, mesh) = SCENES.into_iter().find(|(name, _)| *name == "mesh").unwrap();
    let poured = scene(mesh, &["duration=0.02", "output.every=0.02", "checkpoint.every=1000"]);
    let shape = &mesh[mesh.find("[shapes.stone]").unwrap()..mesh.find("[[grains]]").unwrap()];
    for kind in [Kind::Cpu, Kind::Gpu] {
        let folder = tempfile::tempdir().unwrap();
        run(kind, &poured, folder.path(), false, None);
        let floor = "duration = 0.1\n[[boundaries]]\nname = \"floor\"\nmaterial = \"glass\"\n\
            shape = { kind = \"plane\", point = [0, 0, -1], normal = [0, 0, 1] }\n";
        let start =
            scene(&format!("{floor}{shape}[start]\ncheckpoint = \"{}\"\n", folder.path().display()), &[]);
        assert_eq!(start.world.grain_count(), poured.world.grain_count(), "{kind:?}");
        assert!(start.world.has_polyhedra());
    }
}
