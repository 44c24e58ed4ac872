//! Stages of the CPU engine one by one, on a settled bed of 10⁴ grains: `cargo bench --bench stages`.
#![allow(clippy::unwrap_used, reason = "a bench may fail loudly")]

mod common;

use std::sync::LazyLock;

use common::Step;
use divan::Bencher;
use esker::contact::joints::Joints;
use esker::contact::problem::ContactProblem;
use esker::contact::solver::{Limits, Solver};
use esker::cpu::patches::Patches;
use esker::cpu::sweep::ProjectedGaussSeidel;
use esker::cpu::{broadphase, colouring, matching, narrowphase};

const GRAINS: u32 = 10_000;

fn main() {
    divan::main();
}

static STEP: LazyLock<Step> = LazyLock::new(|| Step::of_bed(GRAINS));

#[divan::bench]
fn broadphase(bencher: Bencher<'_, '_>) {
    let step = &*STEP;
    bencher.bench(|| broadphase::find_pairs(&step.world, step.settings.skin));
}

#[divan::bench]
fn matching(bencher: Bencher<'_, '_>) {
    let step = &*STEP;
    bencher.bench(|| {
        let places = step.colouring.places();
        let impulse = |contact: usize| step.constraints[places[contact] as usize].impulse;
        matching::match_impulses(&step.keys, &step.keys, impulse)
    });
}

#[divan::bench]
fn colouring(bencher: Bencher<'_, '_>) {
    let step = &*STEP;
    bencher.bench(|| colouring::greedy(&step.world, &step.keys));
}

#[divan::bench]
fn narrowphase(bencher: Bencher<'_, '_>) {
    let step = &*STEP;
    let patches = Patches::default();
    bencher
        .with_inputs(|| (step.constraints.clone(), step.onsets.clone(), patches.clone()))
        .bench_local_refs(|(constraints, onsets, patches)| {
            narrowphase::fill_constraints(
                &step.world,
                &step.law,
                &step.keys,
                &step.colouring,
                patches,
                &step.velocities,
                (constraints, onsets),
            );
        });
}

/// One sweep, from the state before the first.
#[divan::bench]
fn sweep(bencher: Bencher<'_, '_>) {
    let step = &*STEP;
    let state = || (step.split.clone(), step.constraints.clone(), step.velocities.clone());
    bencher.with_inputs(state).bench_local_refs(|(split, constraints, velocities)| {
        // Inside a scope the work stays in the pool, as in a step of the engine.
        rayon::scope(|_| {
            let mut joints = Joints::default();
            let mut problem =
                ContactProblem::new(&step.colouring, split, constraints, velocities, &mut joints);
            let limits = Limits::sweeps(1);
            ProjectedGaussSeidel::plain(&step.settings).solve(&mut problem, limits, None)
        })
    });
}
