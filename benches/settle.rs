//! The settled bed at 10³, 10⁴ and 10⁵ grains on both engines: milliseconds per stage, nanoseconds per
//! contact-sweep, bytes per grain.
//!
//! `cargo bench --bench settle` runs all sizes and prints a table in Markdown;
//! `cargo bench --bench settle -- 1000 10000` only these. The bed is 17 layers deep at every size (24 x 24
//! grains per layer at 10 000), so that the cost per grain can be compared. It is settled by the CPU engine
//! for 0.6 s; each engine then takes 10 steps that do not count, 20 for the time of a step and 20 for the stages.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench talks to its user and may fail loudly")]

use std::path::Path;
use std::time::Instant;

use esker::engine::{Engine, StepReport};
use esker::gpu::GpuEngine;
use esker::gpu::device::{Device, DeviceChoice};
use esker::observe::contacts::overlap;
use esker::reference::{Order, ReferenceEngine};
use esker::scenario::Scenario;
use esker::world::World;

const SETTLING_STEPS: u64 = 120;
const WARM_UP_STEPS: u64 = 10;
const STEPS: u64 = 20;
const STAGES: [&str; 10] = [
    "broadphase",
    "matching",
    "colouring",
    "narrowphase",
    "impact",
    "predict",
    "warm_start",
    "sweep",
    "ledger",
    "integrate",
];

fn main() {
    let sizes: Vec<u32> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 10_000, 100_000] } else { sizes };
    println!(
        "| grains | engine | contacts | colours | step [ms] | {} | ns per contact-sweep | bytes per grain | mean overlap [radius] |",
        STAGES.join(" | ")
    );
    println!("|{}", "---|".repeat(STAGES.len() + 8));
    for grains in sizes {
        let scenario = bed(grains);
        let mut settling = ReferenceEngine::new(scenario.world.clone(), scenario.settings, Order::Coloured);
        settling.advance(SETTLING_STEPS).unwrap();
        let world = settling.snapshot().unwrap().world;
        for mut engine in engines(&world, &scenario) {
            measure(engine.as_mut(), &scenario, grains);
        }
    }
}

/// The settled bed with a base for 17 layers.
fn bed(grains: u32) -> Scenario {
    let per_side = (f64::from(grains) / 17.36).sqrt().round();
    let half = (per_side * 26.0 / 24.0 * 0.013) / 2.0;
    let corner = -(per_side - 1.0) / 2.0 * 0.01365;
    let overrides = [
        format!("grains.0.packing.count={grains}"),
        format!("grains.0.packing.counts=[{per_side}, {per_side}]"),
        format!("grains.0.packing.corner=[{corner}, {corner}, 0.00676]"),
        format!("boundaries.0.shape.min=[-{half}, -{half}, 0.0]"),
        format!("boundaries.0.shape.max=[{half}, {half}, 1.0]"),
    ];
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/settle.toml");
    Scenario::load(&path, &overrides).unwrap_or_else(|problems| panic!("{problems}"))
}

fn engines(world: &World, scenario: &Scenario) -> Vec<Box<dyn Engine>> {
    let device = Device::open(DeviceChoice::Any).expect("a wgpu adapter: install mesa-vulkan-drivers");
    vec![
        Box::new(ReferenceEngine::new(world.clone(), scenario.settings, Order::Coloured)),
        Box::new(GpuEngine::new(device, world.clone(), scenario.settings).unwrap()),
    ]
}

fn measure(engine: &mut dyn Engine, scenario: &Scenario, grains: u32) {
    engine.advance(WARM_UP_STEPS).unwrap();
    let start = Instant::now();
    let mut report = engine.advance(STEPS).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    // A GPU times one step of each call: one by one, all of them.
    report.stages.clear();
    for _ in 0..STEPS {
        report.stages.extend(engine.advance(1).unwrap().stages);
    }
    let per_step = |seconds: f64| seconds * 1e3 / STEPS as f64;
    let stages: Vec<String> =
        STAGES.iter().map(|stage| format!("{:.2}", per_step(seconds_of(&report, stage)))).collect();
    let contact_sweeps = report.contacts * u64::from(report.sweeps) * STEPS;
    let identity = engine.identity();
    println!(
        "| {grains} | {} ({}) | {} | {} | {:.2} | {} | {:.1} | {} | {:.5} |",
        identity.device,
        identity.driver,
        report.contacts,
        report.colours,
        per_step(seconds),
        stages.join(" | "),
        seconds_of(&report, "sweep") * 1e9 / contact_sweeps as f64,
        engine.memory() / u64::from(grains),
        overlap(&engine.snapshot().unwrap()).mean,
    );
    assert_eq!(report.sweeps, scenario.settings.iterations, "all sweeps are counted");
}

fn seconds_of(report: &StepReport, stage: &str) -> f64 {
    report.stages.iter().filter(|(name, _)| *name == stage).map(|(_, seconds)| seconds).sum()
}
