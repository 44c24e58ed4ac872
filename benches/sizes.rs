//! The contact search for equal grains, for sizes 1:10, and for one grain 100 times as large as the rest:
//! nanoseconds per pair on both engines.
//!
//! `cargo bench --bench sizes` prints a table in Markdown; numbers behind `--` are the grains on the CPU and on
//! the GPU engine, 0 leaves one out. The beds are settled on the CPU engine. Each time is a median; the scenes take
//! turns.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench talks to its user and may fail loudly")]

use std::f64::consts::TAU;
use std::time::Instant;

use esker::cpu::CpuEngine;
use esker::cpu::broadphase::find_pairs;
use esker::engine::Engine;
use esker::gpu::GpuEngine;
use esker::gpu::device::{Device, DeviceChoice};
use esker::law::pair::Material;
use esker::model::{Boundary, Form, Grain, Materials, Motion, Surface, World};
use esker::settings::Settings;
use glam::{DQuat, DVec3};

const SOLID_FRACTION: f64 = 0.6;
const TIMES: usize = 21;
/// Places that are tried for each grain before it falls.
const PLACES: usize = 8;

fn main() {
    let counts: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let (on_cpu, on_gpu) = match counts[..] {
        [cpu, gpu, ..] => (cpu, gpu),
        _ => (10_000, 5_000),
    };
    println!(
        "| engine | grains | pairs | search [ms] | ns per pair | equal grains |\n|---|---|---|---|---|---|"
    );
    if on_cpu > 0 {
        measure("cpu", on_cpu, &mut scenes(on_cpu).into_iter().map(Scene::on_cpu).collect::<Vec<_>>());
    }
    if on_gpu > 0 {
        measure("gpu", on_gpu, &mut scenes(on_gpu).into_iter().map(Scene::on_gpu).collect::<Vec<_>>());
    }
}

struct Scene {
    name: &'static str,
    world: World,
}

/// A search that can be timed.
struct Case {
    name: &'static str,
    pairs: usize,
    search: Box<dyn FnMut()>,
}

/// Scenes of the table; the others are compared with the first.
fn scenes(count: usize) -> Vec<Scene> {
    let equal = settled(&vec![0.01; count]);
    let scene = |name, world| Scene { name, world };
    vec![
        scene("equal", equal.clone()),
        scene("equal, under one of 100 d", under_one(equal)),
        scene("1:10, each diameter as often", settled(&uniform(count))),
        scene("1:10, as much of each", settled(&spread(count))),
    ]
}

fn measure(engine: &str, count: usize, cases: &mut [Case]) {
    let mut times = vec![Vec::new(); cases.len()];
    for _ in 0..TIMES {
        for (case, times) in cases.iter_mut().zip(&mut times) {
            let start = Instant::now();
            (case.search)();
            times.push(start.elapsed().as_secs_f64());
        }
    }
    let seconds: Vec<f64> = times.into_iter().map(median).collect();
    let per_pair = |i: usize| seconds[i] / cases[i].pairs as f64;
    for (i, Case { name, pairs, .. }) in cases.iter().enumerate() {
        let (time, ns, ratio) = (1e3 * seconds[i], 1e9 * per_pair(i), per_pair(i) / per_pair(0));
        println!("| {engine} | {count} {name} | {pairs} | {time:.2} | {ns:.0} | x {ratio:.2} |");
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

impl Scene {
    fn on_cpu(self) -> Case {
        let Scene { name, world } = self;
        let margin = Settings::default().skin;
        let pairs = find_pairs(&world, margin).len();
        let search = Box::new(move || assert_eq!(find_pairs(&world, margin).len(), pairs));
        Case { name, pairs, search }
    }

    fn on_gpu(self) -> Case {
        let Scene { name, world } = self;
        let device = Device::open(DeviceChoice::Any).expect("a wgpu adapter: install mesa-vulkan-drivers");
        let mut engine = GpuEngine::new(device, world, Settings::default()).unwrap();
        // Makes room for the contacts.
        engine.snapshot().unwrap();
        let pairs = engine.keys().unwrap().len();
        let search = Box::new(move || {
            engine.run_stage("broadphase").unwrap();
            // Waits for the device.
            assert_eq!(engine.status().unwrap().contacts as usize, pairs);
        });
        Case { name, pairs, search }
    }
}

fn empty(gravity: DVec3) -> World {
    let glass = Material {
        name: "glass".into(),
        density: 2500.0,
        youngs_modulus: 1e7,
        poisson_ratio: 0.2,
        restitution: 0.1,
        friction: 0.3,
        rolling_resistance: 0.0,
        damping: 0.0,
        pull_off_force: 0.0,
        work_of_adhesion: 0.0,
        conductivity: 0.0,
        heat_capacity: 0.0,
    };
    World::new(gravity, Materials::new(vec![glass]))
}

/// Place `i` of a sequence that fills the unit cube evenly (Roberts 2018).
fn place(i: usize) -> DVec3 {
    let place = (1.0 + i as f64) * DVec3::new(0.819_172_513_396, 0.671_043_606_704, 0.549_700_477_902);
    place - place.floor()
}

/// Numbers that fill the unit interval evenly.
fn share(i: usize) -> f64 {
    (0.5 + i as f64 * 0.618_033_988_75).fract()
}

/// Radii from 1 to 10 mm, each equally frequent.
fn uniform(count: usize) -> Vec<f64> {
    (0..count).map(|i| 1e-3 * (1.0 + 9.0 * share(i))).collect()
}

/// Radii from 1 to 10 mm, with the same volume of grains in every octave: number per radius ∝ r⁻⁴.
fn spread(count: usize) -> Vec<f64> {
    (0..count).map(|i| 1e-3 * (1.0 - share(i) * 0.999).powf(-1.0 / 3.0)).collect()
}

/// Grains of these radii, fallen on the floor of an open box.
fn settled(radii: &[f64]) -> World {
    let mut world = empty(9.81 * DVec3::NEG_Z);
    let volume: f64 = radii.iter().map(|radius| 2.0 / 3.0 * TAU * radius.powi(3)).sum();
    // The bed is as high as wide once it lies.
    let half = 0.5 * (volume / SOLID_FRACTION).cbrt();
    let walls = Boundary {
        name: "walls".into(),
        position: DVec3::ZERO,
        orientation: DQuat::IDENTITY,
        motion: Motion::Fixed,
    };
    let plane = |point: DVec3, normal| {
        Surface::new(point, DQuat::from_rotation_arc(DVec3::Z, normal), Form::Plane, 0)
    };
    let sides = [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y].map(|normal| plane(-half * normal, normal));
    world.add_boundary(walls, [plane(DVec3::ZERO, DVec3::Z)].into_iter().chain(sides));
    world.add_grains(dropped(radii, half));
    let settings = Settings { iterations: 10, time_step: 2e-3, ..Settings::default() };
    let mut engine = CpuEngine::new(world, settings);
    engine.advance(200).unwrap();
    engine.snapshot().unwrap().world
}

/// Grains of these radii, dropped one after the other: each at the one of some places where it comes to lie lowest.
fn dropped(radii: &[f64], half: f64) -> Vec<Grain> {
    let smallest = radii.iter().copied().fold(f64::INFINITY, f64::min);
    let width = 2.0 * smallest;
    let across = (2.0 * half / width) as usize;
    let mut tops = vec![0.0_f64; across * across];
    let drop = |(i, &radius): (usize, &f64)| {
        let columns = (radius / smallest).ceil() as usize;
        let free = (across - columns + 1) as f64;
        let squares = (0..PLACES).map(|k| {
            let DVec3 { x, y, .. } = place(PLACES * i + k);
            let [x, y] = [x, y].map(|share| (share * free) as usize);
            let under = (y..y + columns).flat_map(move |y| (x..x + columns).map(move |x| y * across + x));
            (under.clone().map(|column| tops[column]).fold(0.0, f64::max), x, y, under)
        });
        let (low, x, y, under) = squares.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        under.for_each(|column| tops[column] = low + 2.0 * radius);
        let middle = |column: usize| width * (column as f64 + 0.5 * columns as f64) - half;
        Grain::at(DVec3::new(middle(x), middle(y), low + radius), radius, 0)
    };
    radii.iter().enumerate().map(drop).collect()
}

/// A bed of equal grains under one that is 100 times as large and touches it.
fn under_one(mut bed: World) -> World {
    let (small, large) = (bed.largest_radius(), 100.0 * bed.largest_radius());
    let height = |grain: usize| {
        let centre = bed.bodies.position[bed.grain_body(grain)];
        centre.z + ((small + large).powi(2) - centre.truncate().length_squared()).sqrt()
    };
    let touching = bed.present_grains().map(height).fold(0.0, f64::max);
    bed.add_grains([Grain::at(touching * DVec3::Z, large, 0)]);
    bed
}
