//! Guard of speed that no machine disturbs: dispatches of a step and bytes that its kernels must move, of three scenes, compared with
//! `benches/results/cost.csv`. A change that makes a step dearer shows here, and is committed with its reason.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use esker::engine::Engine;
use esker::gpu::step::NONSMOOTH;
use esker::gpu::traffic::{self, Sizes};
use esker::scenario::Scenario;

use crate::common::*;

/// Scenes: a bed at rest, a drum, a heap.
const SCENES: [&str; 3] = ["box_at_rest.toml", "small_drum.toml", "pile_at_rest.toml"];

/// What a step of a scene costs: dispatches of a step with all its stages and of a sweep, bytes of a step per contact, bytes of a sweep per
/// contact.
fn cost(scene: &Scenario) -> [String; 4] {
    let (world, settings) = (&scene.world, &scene.settings);
    let dispatches = gpu(world, settings).advance(1).unwrap().dispatches;
    // Three contacts per grain, of which two carry an impulse, and one in thirty without a colour: a dense bed of equal spheres.
    let grains = world.grain_count() as u64;
    let sizes =
        Sizes { grains, contacts: 3 * grains, loaded: 2 * grains, overflow: grains / 10, arms: false };
    let bytes: u64 = NONSMOOTH.stages().map(|stage| traffic::of_stage(stage, &sizes, settings)).sum();
    [
        dispatches.per_step.to_string(),
        dispatches.per_sweep.to_string(),
        format!("{:.0}", bytes as f64 / sizes.contacts as f64),
        format!("{:.1}", traffic::per_contact_sweep(&sizes, settings)),
    ]
}

#[test]
fn a_step_takes_no_more_dispatches_and_bytes_than_it_took() {
    let known = include_str!("../../benches/results/cost.csv");
    let mut found = known.lines().next().unwrap().to_owned();
    for name in SCENES {
        found += &format!("\n{name},{}", cost(&scenario(name, &[])).join(","));
    }
    assert_eq!(
        found.trim(),
        known.trim(),
        "if the change is meant, write what was found into benches/results/cost.csv"
    );
}

#[test]
fn one_sweep_more_is_noticed() {
    let [usual, more] = [20, 21].map(|sweeps| {
        let settings = format!("solver.iterations={sweeps}");
        cost(&scenario(SCENES[0], &[&settings]))
    });
    assert!(more[0].parse::<u32>().unwrap() > usual[0].parse::<u32>().unwrap(), "{usual:?}, {more:?}");
    assert!(more[2].parse::<u32>().unwrap() > usual[2].parse::<u32>().unwrap(), "{usual:?}, {more:?}");
}
