//! Meshes beside exact surfaces: time of a step, dynamic angle of a drum, flow out of a hopper.
//!
//! `cargo bench --bench meshes` prints tables in Markdown. The drum of `scenarios/drum.toml` and the hopper of
//! `scenarios/hopper.toml` are made of triangles, written as STL files and read back. Steps are timed in turn; with
//! `--physics` the runs go to their ends, for three packings each.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench talks to its user and may fail loudly")]

use std::f64::consts::TAU;
use std::path::Path;
use std::time::Instant;

use esker::bench::report::Sample;
use esker::bench::{BenchTarget, default_targets};
use esker::scenario::Scenario;
use esker::simulation::{Device, Simulation};
use glam::DVec3;

/// Seconds before the first block: the drum flows by then.
const START: f64 = 3.0;
const BLOCKS: usize = 7;
const STEPS: u64 = 20;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let drums = [(90, 1, 1), (360, 6, 4), (1200, 22, 10)].map(|(sides, rings, rims)| {
        let triangles = drum(sides, rings, rims);
        let path = folder.path().join(format!("drum_{}.stl", triangles.len()));
        write_stl(&path, &triangles);
        (triangles.len(), path)
    });
    time_steps(&drums.each_ref().map(|(count, path)| (*count, path.as_path())));
    if std::env::args().any(|argument| argument == "--physics") {
        let triangles = hopper(64);
        let path = folder.path().join("hopper.stl");
        write_stl(&path, &triangles);
        compare_drums(drums[1].0, &drums[1].1);
        compare_hoppers(triangles.len(), &path);
    }
}

fn time_steps(drums: &[(usize, &Path)]) {
    println!(
        "Step of the drum of 4 864 pellets from {START} s on; median of {BLOCKS} blocks of {STEPS} steps, in turn.\n"
    );
    println!(
        "| engine | exact cylinder [ms] |{}",
        cells(drums, |(count, _)| format!(" {count} triangles [ms] |"))
    );
    println!("|---|---|{}", cells(drums, |_| "---|".to_owned()));
    for target in default_targets() {
        let scenarios: Vec<Scenario> =
            std::iter::once(exact_drum(1)).chain(drums.iter().map(|(_, path)| mesh_drum(path, 1))).collect();
        let mut engines: Vec<_> = scenarios.iter().map(|scenario| engine(&target, scenario)).collect();
        let steps = (START / scenarios[0].settings.time_step).round() as u64;
        engines.iter_mut().for_each(|(engine, _)| drop(engine.advance(steps).unwrap()));
        for _ in 0..BLOCKS {
            for (engine, times) in &mut engines {
                let start = Instant::now();
                engine.advance(STEPS).unwrap();
                times.push(start.elapsed().as_secs_f64() * 1e3 / STEPS as f64);
            }
        }
        let medians: Vec<f64> = engines.into_iter().map(|(_, times)| Sample::of(times).median).collect();
        let ratio = |ms: &f64| format!(" {ms:.1}, {:.2} times the exact one |", ms / medians[0]);
        println!("| {} | {:.1} |{}", target.word(), medians[0], cells(&medians[1..], ratio));
    }
}

type Timed = (Box<dyn esker::engine::Engine>, Vec<f64>);

fn engine(target: &BenchTarget, scenario: &Scenario) -> Timed {
    (target.engine(&scenario.world, scenario).unwrap(), Vec::new())
}

fn cells<T>(all: &[T], cell: impl Fn(&T) -> String) -> String {
    all.iter().map(cell).collect()
}

fn compare_drums(count: usize, path: &Path) {
    println!("\nDynamic angle of the drum, mean of 8 to 12 s, CPU engine [°]\n");
    println!("| packing | exact cylinder | {count} triangles |\n|---|---|---|");
    for seed in 1..=3 {
        let angles = [exact_drum(seed), mesh_drum(path, seed)]
            .map(|scenario| mean(&scenario, "dynamic_angle_deg", 8.0, 12.0));
        println!("| {seed} | {:.2} | {:.2} |", angles[0], angles[1]);
    }
}

fn compare_hoppers(count: usize, path: &Path) {
    println!("\nMass flow out of the hopper, 0.24 to 0.7 s, CPU engine [kg/s]\n");
    println!("| packing | exact cone and cylinder | {count} triangles |\n|---|---|---|");
    for seed in 1..=3 {
        let seed_is = format!("seed={seed}");
        let bin =
            "boundaries.1.shape={ kind = \"plane\", point = [0, 0, 1], normal = [0, 0, -1] }".to_owned();
        let overrides = vec![seed_is.clone(), mesh_is(path), bin];
        let flows = [load("hopper.toml", &[seed_is]), load("hopper.toml", &overrides)].map(|scenario| {
            let mut simulation = Simulation::new(&scenario, Device::Cpu).unwrap();
            let removed = [0.24, 0.7].map(|time| {
                simulation.run_until(time).unwrap();
                simulation.quantity("removed_mass:outlet").unwrap()
            });
            (removed[1] - removed[0]) / (0.7 - 0.24)
        });
        println!("| {seed} | {:.4} | {:.4} |", flows[0], flows[1]);
    }
}

/// Mean of a quantity over a time, from samples 0.1 s apart.
fn mean(scenario: &Scenario, quantity: &str, from: f64, until: f64) -> f64 {
    let mut simulation = Simulation::new(scenario, Device::Cpu).unwrap();
    let times: Vec<f64> = (0..=((until - from) * 10.0) as u32).map(|i| from + 0.1 * f64::from(i)).collect();
    let sample = |&time: &f64| {
        simulation.run_until(time).unwrap();
        simulation.quantity(quantity).unwrap()
    };
    times.iter().map(sample).sum::<f64>() / times.len() as f64
}

fn load(name: &str, overrides: &[String]) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(name);
    Scenario::load(&path, overrides).unwrap_or_else(|problems| panic!("{problems}"))
}

fn exact_drum(seed: u32) -> Scenario {
    load("drum.toml", &[format!("seed={seed}")])
}

fn mesh_drum(path: &Path, seed: u32) -> Scenario {
    let axis = "boundaries.0.motion.axis=[0.0, 1.0, 0.0]".to_owned();
    load("drum.toml", &[format!("seed={seed}"), mesh_is(path), axis])
}

fn mesh_is(path: &Path) -> String {
    format!("boundaries.0.shape={{ kind = \"mesh\", file = \"{}\", sheet = true }}", path.display())
}

/// The drum of the scenario: a wall of `sides` × `rings` rectangles, and ends of `rims` rings each.
fn drum(sides: usize, rings: usize, rims: usize) -> Vec<[DVec3; 3]> {
    let (radius, half) = (0.26, 0.0455);
    let share = |i: usize, count: usize| i as f64 / count as f64;
    let low = (0..=rims).map(|i| (radius * share(i, rims), -half));
    let wall = (1..=rings).map(|i| (radius, half * (2.0 * share(i, rings) - 1.0)));
    let high = (0..rims).rev().map(|i| (radius * share(i, rims), half));
    let turned = |[a, b, c]: [DVec3; 3]| [a, b, c].map(|corner| DVec3::new(corner.x, corner.z, corner.y));
    revolved(&low.chain(wall).chain(high).collect::<Vec<_>>(), sides).into_iter().map(turned).collect()
}

/// The hopper of the scenario: cone and bin.
fn hopper(sides: usize) -> Vec<[DVec3; 3]> {
    revolved(&[(0.014, 0.0), (0.032, 0.03), (0.032, 0.23)], sides)
}

/// Triangles of a surface of revolution about z, from the radii and heights of its outline.
fn revolved(outline: &[(f64, f64)], sides: usize) -> Vec<[DVec3; 3]> {
    let at = |(radius, height): (f64, f64), side: usize| {
        let (sine, cosine) = (TAU * (side % sides) as f64 / sides as f64).sin_cos();
        DVec3::new(radius * cosine, radius * sine, height)
    };
    let pairs = outline.windows(2).flat_map(|pair| (0..sides).map(move |side| (pair[0], pair[1], side)));
    pairs
        .flat_map(|(low, high, side)| {
            let [a, b, c, d] = [at(low, side), at(low, side + 1), at(high, side + 1), at(high, side)];
            [[a, b, c], [a, c, d]]
        })
        .filter(|[a, b, c]| (b - a).cross(c - a).length() > 0.0)
        .collect()
}

/// Writes a binary STL file.
fn write_stl(path: &Path, triangles: &[[DVec3; 3]]) {
    let mut bytes = vec![0; 80];
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for corners in triangles {
        bytes.extend([0; 12]);
        bytes.extend(
            corners.iter().flat_map(|corner| corner.to_array()).flat_map(|x| (x as f32).to_le_bytes()),
        );
        bytes.extend([0; 2]);
    }
    std::fs::write(path, bytes).unwrap();
}
