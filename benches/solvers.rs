//! Solvers beside each other: what is left of the residual of one and the same substep over time and bytes: `cargo bench --bench solvers`,
//! on the GPU engine with `-- software` or `-- gpu`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench fails loudly and prints its table")]

use std::path::Path;

use esker::contact::{Impulse, Key};
use esker::cpu::gradient::BYTES_PER_CONTACT_ITERATION;
use esker::cpu::{BYTES_PER_CONTACT_SWEEP, CpuEngine};
use esker::engine::{Engine, Profiling, Snapshot};
use esker::gpu::GpuEngine;
use esker::gpu::device::{Device, DeviceChoice};
use esker::gpu::step::{SWEEP, method_of};
use esker::gpu::traffic::{self, Sizes};
use esker::model::World;
use esker::scenario::Scenario;
use esker::settings::{Acceleration, Algorithm, Order, Settings, WarmStart};

/// Repeats of a measurement; the fastest counts.
const REPEATS: usize = 3;
const SWEEPS: [u32; 7] = [5, 10, 20, 50, 100, 200, 500];

struct Scene {
    name: &'static str,
    world: World,
    seeds: Vec<(Key, Impulse)>,
    settings: Settings,
}

fn scene(name: &'static str, file: &str, overrides: &[&str], steps: u64) -> Scene {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(file);
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    let scenario = Scenario::load(&file, &overrides).unwrap_or_else(|problems| panic!("{problems}"));
    let mut engine = CpuEngine::new(scenario.world, scenario.settings);
    engine.advance(steps).unwrap();
    let state = engine.snapshot().unwrap();
    let seeds = state.contacts.iter().map(|contact| (contact.key, contact.impulse)).collect();
    Scene { name, world: state.world, seeds, settings: scenario.settings }
}

/// The engine that the solvers are compared on: of a GPU where there is a device.
fn engine(scene: &Scene, settings: Settings, device: Option<&Device>) -> Box<dyn Engine> {
    let world = scene.world.clone();
    let Some(device) = device else {
        return Box::new(CpuEngine::new(world, settings));
    };
    let mut engine = GpuEngine::new(device.clone(), world, settings).unwrap();
    engine.profile(Profiling::On);
    Box::new(engine)
}

/// Bytes that the sweeps of a step must move on the GPU engine.
fn moved_on_gpu(state: &Snapshot, settings: &Settings) -> u64 {
    let sizes = Sizes::of(state);
    let stages = method_of(settings).stages().filter(|stage| stage.name == SWEEP);
    stages.map(|stage| traffic::of_stage(stage, &sizes, settings)).sum()
}

/// Milliseconds of the solve, bytes moved, and residuals after it [m/s]: normal and friction, means.
fn solve(scene: &Scene, settings: Settings, device: Option<&Device>) -> [f64; 4] {
    let mut best = [f64::INFINITY; 4];
    for _ in 0..REPEATS {
        let mut engine = engine(scene, settings, device);
        engine.seed(&scene.seeds).unwrap();
        let report = engine.advance(1).unwrap();
        let seconds = |stage: &str| {
            report.stages.iter().find(|(name, _)| *name == stage).map_or(0.0, |(_, time)| *time)
        };
        let bytes = match settings.algorithm {
            Algorithm::Pgs => BYTES_PER_CONTACT_SWEEP,
            Algorithm::Apgd => BYTES_PER_CONTACT_ITERATION,
        };
        let moved = match device {
            None => bytes * report.contacts * u64::from(report.sweeps) * u64::from(settings.substeps),
            Some(_) => moved_on_gpu(&engine.snapshot().unwrap(), &settings),
        };
        let found = [
            1e3 * seconds("sweep"),
            moved as f64,
            report.residuals.normal.mean,
            report.residuals.friction.mean,
        ];
        if found[0] < best[0] {
            best = found;
        }
    }
    best
}

/// A way to solve, made of usual settings.
type Way = (&'static str, fn(Settings) -> Settings);

/// Ways that the GPU engine has come first.
const ON_GPU: usize = 3;
const WAYS: [Way; 7] = [
    ("PGS, coloured, plain", |settings| Settings { acceleration: Acceleration::None, ..settings }),
    ("PGS, coloured, accelerated", |settings| Settings { acceleration: Acceleration::Nesterov, ..settings }),
    ("APGD", |settings| Settings { algorithm: Algorithm::Apgd, ..settings }),
    ("PGS, one by one, plain", |settings| Settings {
        acceleration: Acceleration::None,
        order: Order::Sequential,
        ..settings
    }),
    ("mass-split Jacobi, plain", |settings| Settings {
        acceleration: Acceleration::None,
        order: Order::AtOnce,
        ..settings
    }),
    ("mass-split Jacobi, accelerated", |settings| Settings {
        acceleration: Acceleration::Nesterov,
        order: Order::AtOnce,
        ..settings
    }),
    ("PGS, accelerated, 1 coarse correction", |settings| Settings {
        acceleration: Acceleration::Nesterov,
        coarse_corrections: 1,
        ..settings
    }),
];

/// The least residual that is reached within so many milliseconds; not a number where no run was as short.
fn within(points: &[[f64; 4]], milliseconds: f64) -> f64 {
    let soon = points.iter().filter(|point| point[0] <= milliseconds);
    soon.map(|point| point[2]).fold(f64::NAN, f64::min)
}

fn main() {
    let frictionless = std::env::args().any(|argument| argument == "frictionless");
    let target = std::env::args().find_map(|argument| match argument.as_str() {
        "software" => Some(DeviceChoice::Software),
        "gpu" => Some(DeviceChoice::Hardware),
        _ => None,
    });
    let device = target.map(|target| Device::open(target).unwrap());
    let ways = if device.is_some() { &WAYS[..ON_GPU] } else { &WAYS };
    let large = std::env::args().any(|argument| argument == "large");
    let mut scenes = vec![
        scene("column of 50", "column.toml", &["grains.0.packing.count=50"], 40),
        scene("pile of 3 363", "pile_at_rest.toml", &[], 10),
        scene("drum of 4 864", "drum.toml", &[], 300),
        scene("bed of 10 000", "settle.toml", &[], 100),
    ];
    if large {
        scenes.push(scene("bed of 100 000", "settle.toml", &["grains.0.packing.count=100000"], 60));
    }
    for mut scene in scenes {
        if frictionless {
            let materials = scene.world.materials.clone();
            scene.world.materials.scale_friction(&materials, 0.0);
        }
        for start in [WarmStart::Cold, WarmStart::HISTORY] {
            println!("\n### {}, {start} start\n", scene.name);
            let usual = Settings {
                warm_start: start,
                tolerance: 0.0,
                substeps: 1,
                coarse_corrections: 0,
                ..scene.settings
            };
            let all: Vec<(&str, Vec<[f64; 4]>)> = ways
                .iter()
                .map(|(name, way)| {
                    let solve = |iterations: &u32| {
                        solve(&scene, way(Settings { iterations: *iterations, ..usual }), device.as_ref())
                    };
                    (*name, SWEEPS.iter().map(solve).collect())
                })
                .collect();
            let unit = all[0].1[2][0];
            print!("| solver |");
            SWEEPS.iter().for_each(|sweeps| print!(" {sweeps} |"));
            println!(" ms per sweep | MB per sweep | within {unit:.1} ms | within {:.1} ms |", 5.0 * unit);
            println!("|---|{}", "---|".repeat(SWEEPS.len() + 4));
            for (name, points) in &all {
                print!("| {name} |");
                points.iter().for_each(|point| print!(" {:.1e} |", point[2]));
                let last = points.last().unwrap();
                let per_sweep = f64::from(*SWEEPS.last().unwrap());
                println!(
                    " {:.3} | {:.1} | {:.1e} | {:.1e} |",
                    last[0] / per_sweep,
                    last[1] / per_sweep / 1e6,
                    within(points, 1.01 * unit),
                    within(points, 5.05 * unit)
                );
            }
        }
    }
}
