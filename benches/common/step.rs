//! A step in its midst: what its stages work on, for benches and tests of single stages.
#![allow(dead_code, reason = "nobody uses all of it")]

use esker::contact::constants::LawConstants;
use esker::contact::constraint::{Constraint, Onset};
use esker::contact::coupling::Alone;
use esker::contact::flow::Flow;
use esker::contact::split::Split;
use esker::contact::velocity::{Velocity, load_velocities};
use esker::contact::{Colouring, Key};
use esker::cpu::broadphase;
use esker::cpu::narrowphase::{self};
use esker::cpu::patches::Patches;
use esker::model::World;
use esker::settings::Settings;

/// What the stages of a step work on.
pub struct Step {
    pub world: World,
    pub settings: Settings,
    pub law: LawConstants,
    pub keys: Vec<Key>,
    pub colouring: Colouring,
    pub split: Split,
    pub constraints: Vec<Constraint>,
    pub onsets: Vec<Onset>,
    pub velocities: Vec<Velocity>,
}

impl Step {
    /// The first step of a world once its contacts are found and ordered, with constraints from no impulses.
    pub fn new(world: World, settings: Settings, order: impl Fn(&World, &[Key]) -> Colouring) -> Step {
        let law = LawConstants::new(&settings);
        let keys = broadphase::find_pairs(&world, settings.reach());
        let colouring = order(&world, &keys);
        let mut split = Split::new(&world, &keys, &colouring, &mut Alone);
        split.refresh(&world);
        let mut constraints = vec![Constraint::default(); keys.len()];
        let mut onsets = vec![Onset::default(); keys.len()];
        let mut velocities = Vec::new();
        load_velocities(&world, law.h, law.h, &mut velocities);
        narrowphase::fill_constraints(
            &world,
            &law,
            &keys,
            &colouring,
            &mut Patches::default(),
            &velocities,
            (&mut constraints, &mut onsets),
        );
        narrowphase::set_targets(&mut constraints, &onsets, Flow::default(), &velocities);
        Step { world, settings, law, keys, colouring, split, constraints, onsets, velocities }
    }
}
