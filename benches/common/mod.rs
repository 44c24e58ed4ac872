//! Scenes that benches begin with: a scenario after some steps, a settled bed, and that in the middle of a step, ready to be swept.
#![allow(dead_code, reason = "no bench uses all of it")]

pub mod ranks;
mod step;

use std::path::Path;

use esker::bench::bed::Bed;
use esker::cpu::{CpuEngine, colouring, predict, warm_start};
use esker::engine::{Engine, Snapshot};
use esker::model::World;
use esker::scenario::Scenario;
use esker::settings::Settings;

pub use step::Step;

/// A shipped scenario after so many steps of the CPU engine, and its settings.
pub fn after(file: &str, overrides: &[&str], steps: u64) -> (Snapshot, Settings) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(file);
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    let scenario = Scenario::load(&file, &overrides).unwrap_or_else(|problems| panic!("{problems}"));
    let mut engine = CpuEngine::new(scenario.world, scenario.settings);
    engine.advance(steps).unwrap();
    (engine.snapshot().unwrap(), scenario.settings)
}

/// A settled bed of so many grains, which is kept from bench to bench, and its settings.
pub fn settled(grains: u32) -> (World, Settings) {
    let bed = Bed::new(grains, &[]).unwrap();
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (world, _) = bed.settled(Some(cache), &mut |_| ()).unwrap();
    (world, bed.scenario.settings)
}

impl Step {
    /// That of a bed of so many grains, which is kept from bench to bench, ready to be swept.
    pub fn of_bed(grains: u32) -> Step {
        let (world, settings) = settled(grains);
        let mut step = Step::new(world, settings, colouring::greedy);
        let Step { world, settings, law, constraints, onsets, velocities, .. } = &mut step;
        warm_start::seed(law, settings, world, constraints, onsets, velocities);
        predict::apply_forces(world, settings.substep(), velocities);
        step
    }
}
