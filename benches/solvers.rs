//! Comparison of solvers: residual of one and the same substep over time and over bytes: `cargo bench --bench solvers`, on the GPU engine
//! with `-- software` or `-- gpu`, of a bed of 10⁵ grains alone with `-- large`, without friction with `-- frictionless`. With
//! `draw=FOLDER` it draws the residual over milliseconds and over bytes, two pictures per table.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench fails loudly and prints its table")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use esker::contact::{Impulse, Key};
use esker::cpu::gradient::BYTES_PER_CONTACT_ITERATION;
use esker::cpu::{BYTES_PER_CONTACT_SWEEP, CpuEngine};
use esker::engine::{Engine, Profiling, Snapshot};
use esker::gpu::GpuEngine;
use esker::gpu::device::{Device, DeviceChoice};
use esker::gpu::step::{SWEEP, method_of};
use esker::gpu::traffic::{self, Sizes};
use esker::model::World;
use esker::scenario::study::AxisScale;
use esker::settings::{Acceleration, Algorithm, Order, Settings, WarmStart};
use esker::study::draw::{self, DrawnCurve, Figure};

/// Repeats of a measurement; the fastest counts. One that takes longer than the limit is not repeated.
const REPEATS: usize = 3;
/// Time above which a measurement is not repeated \[ms\].
const LIMIT: f64 = 1e3;
const SWEEPS: [u32; 7] = [5, 10, 20, 50, 100, 200, 500];

struct Scene {
    name: &'static str,
    world: World,
    seeds: Vec<(Key, Impulse)>,
    settings: Settings,
}

impl Scene {
    fn of_file(name: &'static str, file: &str, overrides: &[&str], steps: u64) -> Scene {
        let (state, settings) = common::after(file, overrides, steps);
        Scene::of_state(name, state, settings)
    }

    fn of_bed(name: &'static str, grains: u32) -> Scene {
        let (world, settings) = common::settled(grains);
        let mut engine = CpuEngine::new(world, settings);
        engine.advance(10).unwrap();
        Scene::of_state(name, engine.snapshot().unwrap(), settings)
    }

    fn of_state(name: &'static str, state: Snapshot, settings: Settings) -> Scene {
        let seeds = state.contacts.iter().map(|contact| (contact.key, contact.impulse)).collect();
        Scene { name, world: state.world, seeds, settings }
    }
}

/// The engine that the solvers are compared on: the GPU engine if there is a device.
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

/// Result of a solve.
#[derive(Clone, Copy)]
struct Point {
    milliseconds: f64,
    megabytes: f64,
    /// Mean residual of the contact constraints along their normals \[m/s\].
    residual: f64,
}

/// The fastest of several solves of the same substep.
fn solve(scene: &Scene, settings: Settings, device: Option<&Device>) -> Point {
    let first = solve_once(scene, settings, device);
    let repeats = if first.milliseconds > LIMIT { 1 } else { REPEATS };
    let others = (1..repeats).map(|_| solve_once(scene, settings, device));
    others.fold(first, |best, other| if other.milliseconds < best.milliseconds { other } else { best })
}

fn solve_once(scene: &Scene, settings: Settings, device: Option<&Device>) -> Point {
    let mut engine = engine(scene, settings, device);
    engine.seed(&scene.seeds).unwrap();
    let report = engine.advance(1).unwrap();
    let sweeps = report.stages.iter().find(|(name, _)| *name == "sweep");
    let bytes = match settings.algorithm {
        Algorithm::Pgs => BYTES_PER_CONTACT_SWEEP,
        Algorithm::Apgd => BYTES_PER_CONTACT_ITERATION,
    };
    let moved = match device {
        None => bytes * report.contacts * u64::from(report.sweeps) * u64::from(settings.substeps),
        Some(_) => moved_on_gpu(&engine.snapshot().unwrap(), &settings),
    };
    Point {
        milliseconds: sweeps.map_or(0.0, |(_, seconds)| 1e3 * seconds),
        megabytes: 1e-6 * moved as f64,
        residual: report.residuals.normal.mean,
    }
}

/// A solver: its name, and the change that makes its settings of the usual ones.
type Way = (&'static str, fn(Settings) -> Settings);

/// Substeps of the solver with substeps.
const SUBSTEPS: u32 = 5;
/// Number of ways that the GPU engine has, too; they come first.
const ON_GPU: usize = 4;
const WAYS: [Way; 8] = [
    ("PGS, coloured, plain", |settings| Settings { acceleration: Acceleration::None, ..settings }),
    ("PGS, coloured, accelerated", |settings| Settings { acceleration: Acceleration::Nesterov, ..settings }),
    ("APGD", |settings| Settings { algorithm: Algorithm::Apgd, ..settings }),
    ("PGS, accelerated, 5 substeps", |settings| Settings {
        acceleration: Acceleration::Nesterov,
        substeps: SUBSTEPS,
        iterations: settings.iterations / SUBSTEPS,
        ..settings
    }),
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

/// Axis that a residual is drawn over: unit, label, value of a point.
type Axis = (&'static str, &'static str, fn(&Point) -> f64);

/// The solvers of one scene from one start.
struct Comparison {
    title: String,
    solvers: Vec<(&'static str, Vec<Point>)>,
}

impl Comparison {
    fn of(scene: &Scene, start: WarmStart, device: Option<&Device>) -> Comparison {
        let usual = Settings {
            warm_start: start,
            tolerance: 0.0,
            substeps: 1,
            coarse_corrections: 0,
            ..scene.settings
        };
        let ways = if device.is_some() { &WAYS[..ON_GPU] } else { &WAYS };
        let points = |way: &Way| {
            SWEEPS.map(|iterations| solve(scene, way.1(Settings { iterations, ..usual }), device)).to_vec()
        };
        let title = format!("{}, {start} start", scene.name);
        Comparison { title, solvers: ways.iter().map(|way| (way.0, points(way))).collect() }
    }

    fn print(&self) {
        println!("\n### {}\n", self.title);
        // Time of 20 plain sweeps, and five times as much.
        let Point { milliseconds: time, megabytes, .. } = self.solvers[0].1[2];
        print!("| solver |");
        SWEEPS.iter().for_each(|sweeps| print!(" {sweeps} |"));
        let [once, five] = [time, 5.0 * time].map(two_digits);
        println!(" ms per sweep | MB per sweep | at {once} ms | at {five} ms | at {megabytes:.1} MB |");
        println!("|---|{}", "---|".repeat(SWEEPS.len() + 5));
        for (name, points) in &self.solvers {
            let sweeps = f64::from(SWEEPS[SWEEPS.len() - 1]);
            let last = points[points.len() - 1];
            print!("| {name} |");
            points.iter().for_each(|point| print!(" {:.1e} |", point.residual));
            print!(" {:.3} | {:.2} |", last.milliseconds / sweeps, last.megabytes / sweeps);
            [time, 5.0 * time]
                .iter()
                .for_each(|time| print!(" {} |", residual_at(points, *time, |point| point.milliseconds)));
            println!(" {} |", residual_at(points, megabytes, |point| point.megabytes));
        }
    }

    /// Draws the residual over milliseconds and over megabytes.
    fn draw(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        let stem: String = self.title.chars().filter(|c| *c != ',').collect();
        let stem = stem.replace(' ', "_");
        let over: [Axis; 2] = [
            ("ms", "time [ms]", |point| point.milliseconds),
            ("MB", "memory traffic [MB]", |point| point.megabytes),
        ];
        for (unit, x_label, x) in over {
            let curve = |(i, (name, points)): (usize, &(&str, Vec<Point>))| DrawnCurve {
                label: (*name).to_owned(),
                colour: i,
                mark: i / 7,
                points: points.iter().map(|point| (x(point), point.residual)).collect(),
            };
            let figure = Figure {
                title: self.title.clone(),
                x_label: x_label.to_owned(),
                y_label: "mean residual of the normal rows [m/s]".to_owned(),
                x_scale: AxisScale::Logarithmic,
                y_scale: AxisScale::Logarithmic,
                curves: self.solvers.iter().enumerate().map(curve).collect(),
            };
            fs::write(folder.join(format!("{stem}_{unit}.png")), draw::png(&figure).unwrap()).unwrap();
        }
    }
}

/// A number with two significant digits at least.
fn two_digits(number: f64) -> String {
    let decimals = (1.0 - number.log10().floor()).max(0.0) as usize;
    format!("{number:.decimals$}")
}

/// Residual after `spent` of an axis, between two counts of sweeps by a power law; a dash before the first and after the last.
fn residual_at(points: &[Point], spent: f64, of: impl Fn(&Point) -> f64) -> String {
    let around = points.windows(2).find(|pair| of(&pair[0]) <= spent && spent <= of(&pair[1]));
    around.map_or_else(
        || "–".to_owned(),
        |pair| {
            let share = (spent / of(&pair[0])).ln() / (of(&pair[1]) / of(&pair[0])).ln();
            format!("{:.1e}", pair[0].residual * (pair[1].residual / pair[0].residual).powf(share))
        },
    )
}

fn main() {
    let is_asked = |word: &str| std::env::args().any(|argument| argument == word);
    let folder = std::env::args().find_map(|argument| argument.strip_prefix("draw=").map(PathBuf::from));
    let targets = [("software", DeviceChoice::Software), ("gpu", DeviceChoice::Hardware)];
    let target = targets.into_iter().find(|(word, _)| is_asked(word));
    let device = target.map(|(_, target)| Device::open(target).unwrap());
    let scenes = if is_asked("large") {
        vec![Scene::of_bed("bed of 100 000", 100_000)]
    } else {
        vec![
            Scene::of_file("column of 50", "column.toml", &["grains.0.packing.count=50"], 40),
            Scene::of_file("pile of 3 363", "pile_at_rest.toml", &[], 10),
            Scene::of_file("drum of 4 864", "drum.toml", &[], 300),
            Scene::of_file("bed of 10 000", "settle.toml", &[], 100),
        ]
    };
    for mut scene in scenes {
        if is_asked("frictionless") {
            let materials = scene.world.materials.clone();
            scene.world.materials.scale_friction(&materials, 0.0);
        }
        for start in [WarmStart::Cold, WarmStart::HISTORY] {
            let comparison = Comparison::of(&scene, start, device.as_ref());
            comparison.print();
            if let Some(folder) = &folder {
                comparison.draw(folder);
            }
        }
    }
}
