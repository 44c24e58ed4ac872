//! The contact search for equal grains, for sizes 1:10, and for one grain 100 times as large as the rest:
//! nanoseconds per pair on both engines.
//!
//! `cargo bench --bench sizes` prints a table in Markdown; numbers behind `--` are the grains on the CPU and on
//! the GPU engine. The grains stand where a sequence puts them that fills space evenly, as dense as in a packing;
//! each time is the best of several.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench talks to its user and may fail loudly")]

use std::f64::consts::TAU;
use std::time::Instant;

use esker::gpu::GpuEngine;
use esker::gpu::device::{Device, DeviceChoice};
use esker::reference::broadphase::find_pairs;
use esker::settings::Settings;
use esker::world::{Grain, Material, Materials, World};
use glam::DVec3;

const SOLID_FRACTION: f64 = 0.6;
const TIMES: usize = 15;

fn main() {
    let counts: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let (on_cpu, on_gpu) = match counts[..] {
        [cpu, gpu, ..] => (cpu, gpu),
        _ => (100_000, 20_000),
    };
    println!(
        "| engine | grains | pairs | search [ms] | ns per pair | equal grains |\n|---|---|---|---|---|---|"
    );
    for (engine, count) in [("cpu", on_cpu), ("gpu", on_gpu)] {
        let mut equal = None;
        for (name, world) in [
            ("equal", packed(&vec![1.0; count])),
            ("1:10", packed(&spread(count))),
            ("100:1", around_one(count)),
        ] {
            let (pairs, seconds) =
                if engine == "cpu" { search_on_cpu(&world) } else { search_on_gpu(&world) };
            let per_pair = seconds / pairs as f64;
            let ratio = per_pair / *equal.get_or_insert(per_pair);
            let (time, per_pair) = (1e3 * seconds, 1e9 * per_pair);
            println!("| {engine} | {count} {name} | {pairs} | {time:.2} | {per_pair:.0} | x {ratio:.2} |");
        }
    }
}

fn search_on_cpu(world: &World) -> (usize, f64) {
    let margin = Settings::default().contact_margin;
    let pairs = find_pairs(world, margin).len();
    (pairs, best_time(|| assert_eq!(find_pairs(world, margin).len(), pairs)))
}

fn search_on_gpu(world: &World) -> (usize, f64) {
    let device = Device::open(DeviceChoice::Any).expect("a wgpu adapter: install mesa-vulkan-drivers");
    let mut engine = GpuEngine::new(device, world.clone(), Settings::default()).unwrap();
    // Makes room for the contacts.
    esker::engine::Engine::snapshot(&mut engine).unwrap();
    let pairs = engine.keys().unwrap().len();
    let search = || {
        engine.run_stage("broadphase").unwrap();
        // Waits for the device.
        assert_eq!(engine.status().unwrap().contacts as usize, pairs);
    };
    (pairs, best_time(search))
}

fn best_time(mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..TIMES {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

fn world(grains: impl Iterator<Item = Grain>) -> World {
    let glass = Material {
        name: "glass".into(),
        density: 2500.0,
        youngs_modulus: 1e7,
        poisson_ratio: 0.2,
        restitution: 0.5,
        friction: 0.3,
        rolling_resistance: 0.0,
        damping: 0.0,
    };
    let mut world = World::new(DVec3::ZERO, Materials::new(vec![glass]));
    world.add_grains(grains);
    world
}

/// Place `i` of a sequence that fills the unit cube evenly (Roberts 2018).
fn place(i: usize) -> DVec3 {
    let place = (1.0 + i as f64) * DVec3::new(0.819_172_513_396, 0.671_043_606_704, 0.549_700_477_902);
    place - place.floor()
}

/// Radii from 1 to 10, with the same volume of grains in every octave: number per radius ∝ r⁻⁴.
fn spread(count: usize) -> Vec<f64> {
    let share = |i: usize| (0.5 + i as f64 * 0.618_033_988_75).fract();
    (0..count).map(|i| (1.0 - share(i) * 0.999).powf(-1.0 / 3.0)).collect()
}

/// Grains of these radii in a cube.
fn packed(radii: &[f64]) -> World {
    let volume: f64 = radii.iter().map(|radius| 2.0 / 3.0 * TAU * radius.powi(3)).sum();
    let side = (volume / SOLID_FRACTION).cbrt();
    world(radii.iter().enumerate().map(|(i, &radius)| Grain::at(side * place(i), radius, 0)))
}

/// Unit grains all around one that is 100 times as large.
fn around_one(count: usize) -> World {
    let (inner, outer) = (1e6, 1e6 + count as f64 / SOLID_FRACTION);
    let grain = |i| {
        let DVec3 { x, y, z } = place(i);
        let distance = (inner + x * (outer - inner)).cbrt() + 1.0;
        let (height, (sine, cosine)) = (2.0 * y - 1.0, (TAU * z).sin_cos());
        let flat = (1.0 - height * height).sqrt();
        Grain::at(distance * DVec3::new(flat * cosine, flat * sine, height), 1.0, 0)
    };
    world(std::iter::once(Grain::at(DVec3::ZERO, 100.0, 0)).chain((0..count).map(grain)))
}
