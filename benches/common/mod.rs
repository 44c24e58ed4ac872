//! The settled bed in the middle of a step, ready to be swept.
#![allow(dead_code, reason = "no bench uses all of it")]

use std::path::Path;

use esker::bench::bed::Bed;
use esker::contact::{Colouring, Key};
use esker::cpu::narrowphase::{self, Constraint, Law, Onset};
use esker::cpu::patches::Patches;
use esker::cpu::split::Split;
use esker::cpu::velocity::{Velocity, load_velocities};
use esker::cpu::{broadphase, colouring, predict, warm_start};
use esker::model::World;
use esker::settings::Settings;

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
        let bed = Bed::new(grains, &[]).unwrap();
        let settings = bed.scenario.settings;
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let (world, _) = bed.settled(Some(cache), &mut |_| ()).unwrap();
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
