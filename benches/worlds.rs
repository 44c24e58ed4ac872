//! Many worlds in one launch beside one scene of as many grains, and beside one small world alone, on the GPU engine:
//! `cargo bench --bench worlds -- [worlds] [grains]`.
//!
//! Each world is a settled bed, and so is the large scene, which is as deep. Times are per grain and step, the least of three rounds in
//! turn; the table is in Markdown.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench talks to its user and may fail loudly")]

mod common;

use std::thread;
use std::time::Instant;

use common::settled;
use esker::engine::Engine;
use esker::gpu::device::{Device, DeviceChoice};
use esker::gpu::ensemble::Ensemble;
use esker::gpu::{GpuEngine, Room};

/// Steps of a measurement.
const STEPS: u64 = 16;
const ROUNDS: usize = 3;

fn main() {
    let counts: Vec<u32> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let (worlds, grains) = match counts[..] {
        [worlds, grains, ..] => (worlds, grains),
        _ => (64, 1000),
    };
    let device = Device::open(DeviceChoice::Any).expect("a wgpu adapter: install mesa-vulkan-drivers");
    let mut cases = [
        Case::new(&device, 1, grains, "one world alone"),
        Case::new(&device, worlds, grains, "all worlds in one launch"),
        Case::new(&device, 1, worlds * grains, "one scene of as many grains"),
    ];
    let mut least = vec![f64::INFINITY; cases.len()];
    for _ in 0..=ROUNDS {
        for (case, least) in cases.iter_mut().zip(&mut least) {
            *least = least.min(case.seconds());
        }
    }
    println!("{}\n", device.identity());
    println!("| case | grains | dispatches per step | per grain and step [ns] | |\n|---|---|---|---|---|");
    let per_grain = |i: usize| 1e9 * least[i] / (STEPS as f64 * cases[i].grains());
    for (i, case) in cases.iter().enumerate() {
        let (time, ratio) = (per_grain(i), per_grain(i) / per_grain(2));
        println!("| {} | {} | {} | {time:.0} | x {ratio:.2} |", case.name, case.grains(), case.dispatches);
    }
}

/// Engines that step together.
struct Case {
    name: &'static str,
    engines: Vec<GpuEngine>,
    grains: u32,
    dispatches: u32,
}

impl Case {
    fn new(device: &Device, worlds: u32, grains: u32, name: &'static str) -> Case {
        let (world, settings) = settled(grains);
        let ensemble = Ensemble::new(device.clone(), worlds as usize).unwrap();
        let join = |_| GpuEngine::in_ensemble(&ensemble, world.clone(), settings, Room::Estimated).unwrap();
        Case { name, engines: (0..worlds).map(join).collect(), grains, dispatches: 0 }
    }

    fn grains(&self) -> f64 {
        f64::from(self.grains) * self.engines.len() as f64
    }

    /// Wall time of [`STEPS`] steps of all engines \[s\].
    fn seconds(&mut self) -> f64 {
        let start = Instant::now();
        let reports = thread::scope(|scope| {
            let threads: Vec<_> = self
                .engines
                .iter_mut()
                .map(|engine| scope.spawn(|| engine.advance(STEPS).unwrap()))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        self.dispatches = reports[0].dispatches.per_step;
        start.elapsed().as_secs_f64()
    }
}
