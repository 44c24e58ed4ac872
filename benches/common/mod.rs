//! Scenes that benches begin with: a scenario after some steps, a settled bed, and that in the middle of a step, ready to be swept.
#![allow(dead_code, reason = "no bench uses all of it")]

use std::path::Path;

use esker::bench::bed::Bed;
use esker::contact::{Colouring, Key};
use esker::cpu::narrowphase::{self, Constraint, Law, Onset};
use esker::cpu::patches::Patches;
use esker::cpu::split::Split;
use esker::cpu::velocity::{Velocity, load_velocities};
use esker::cpu::{CpuEngine, broadphase, colouring, predict, warm_start};
use esker::engine::{Engine, Snapshot};
use esker::model::World;
use esker::scenario::Scenario;
use esker::settings::Settings;

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

/// What the stages of a step work on.
pub struct Step {
    pub world: World,
    pub settings: Settings,
    pub law: Law,
    pub keys: Vec<Key>,
    pub colouring: Colouring,
    pub split: Split,
    pub constraints: Vec<Constraint>,
    pub onsets: Vec<Onset>,
    pub velocities: Vec<Velocity>,
}

impl Step {
    /// That of a bed of so many grains, which is kept from bench to bench.
    pub fn of_bed(grains: u32) -> Step {
        let (world, settings) = settled(grains);
        let law = Law::new(&settings);
        let keys = broadphase::find_pairs(&world, settings.skin);
        let colouring = colouring::greedy(&world, &keys);
        let mut split = Split::new(&world, &keys, &colouring);
        split.refresh(&world);
        let mut constraints = vec![Constraint::default(); keys.len()];
        let mut onsets = vec![Onset::default(); keys.len()];
        let mut velocities = Vec::new();
        load_velocities(&world, settings.substep(), settings.substep(), &mut velocities);
        let mut patches = Patches::default();
        narrowphase::fill_constraints(
            &world,
            &law,
            &keys,
            &colouring,
            &mut patches,
            &mut constraints,
            &mut onsets,
        );
        narrowphase::set_targets(&mut constraints, &onsets, &velocities);
        warm_start::seed(&law, &settings, &world, &mut constraints, &onsets, &velocities);
        predict::apply_forces(&world, settings.substep(), &mut velocities);
        Step { world, settings, law, keys, colouring, split, constraints, onsets, velocities }
    }
}
