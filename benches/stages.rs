//! Stages of the CPU engine one by one, on a settled bed of 10⁴ grains: `cargo bench --bench stages`.
#![allow(clippy::unwrap_used, reason = "a bench may fail loudly")]

use std::sync::LazyLock;

use divan::Bencher;
use esker::bench::bed::Bed;
use esker::contact::{Colouring, Key};
use esker::reference::narrowphase::{self, Law, Row};
use esker::reference::split::Split;
use esker::reference::velocity::{Velocity, load_velocities};
use esker::reference::{broadphase, colouring, matching, predict, sweep, warm_start};
use esker::settings::Settings;
use esker::world::World;

const GRAINS: u32 = 10_000;

fn main() {
    divan::main();
}

/// The bed in the middle of a step, ready to be swept.
struct Step {
    world: World,
    settings: Settings,
    law: Law,
    keys: Vec<Key>,
    colouring: Colouring,
    split: Split,
    rows: Vec<Row>,
    velocities: Vec<Velocity>,
}

static STEP: LazyLock<Step> = LazyLock::new(|| {
    let bed = Bed::new(GRAINS, &[]).unwrap();
    let settings = bed.scenario.settings;
    let (world, _) = bed.settled(None, &mut |_| ()).unwrap();
    let law = Law::new(&settings);
    let keys = broadphase::find_pairs(&world, settings.contact_margin);
    let colouring = colouring::greedy(&world, &keys);
    let split = Split::new(&world, &keys, &colouring);
    let mut rows = vec![Row::default(); keys.len()];
    let mut velocities = Vec::new();
    load_velocities(&world, settings.substep(), settings.substep(), &mut velocities);
    narrowphase::fill_rows(&world, &law, &keys, &colouring, &mut rows);
    narrowphase::set_targets(&mut rows, &velocities);
    warm_start::seed(&law, &settings, world.gravity, &mut rows, &velocities);
    predict::apply_gravity(&world, settings.substep(), &mut velocities);
    Step { world, settings, law, keys, colouring, split, rows, velocities }
});

#[divan::bench]
fn broadphase(bencher: Bencher<'_, '_>) {
    let step = &*STEP;
    bencher.bench(|| broadphase::find_pairs(&step.world, step.settings.contact_margin));
}

#[divan::bench]
fn matching(bencher: Bencher<'_, '_>) {
    let step = &*STEP;
    bencher.bench(|| matching::carry(&step.keys, &step.keys, &step.colouring, &step.rows));
}

#[divan::bench]
fn colouring(bencher: Bencher<'_, '_>) {
    let step = &*STEP;
    bencher.bench(|| colouring::greedy(&step.world, &step.keys));
}

#[divan::bench]
fn narrowphase(bencher: Bencher<'_, '_>) {
    let step = &*STEP;
    bencher.with_inputs(|| step.rows.clone()).bench_local_refs(|rows| {
        narrowphase::fill_rows(&step.world, &step.law, &step.keys, &step.colouring, rows);
    });
}

/// One sweep, from the state before the first.
#[divan::bench]
fn sweep(bencher: Bencher<'_, '_>) {
    let step = &*STEP;
    let state = || (step.split.clone(), step.rows.clone(), step.velocities.clone());
    bencher.with_inputs(state).bench_local_refs(|(split, rows, velocities)| {
        // Inside a scope the work stays in the pool, as in a step of the engine.
        rayon::scope(|_| {
            // SAFETY: the colouring was made for these contacts, and the rows filled in its order.
            unsafe { sweep::solve(&step.colouring, split, rows, velocities, 1, 0.0) }
        })
    });
}
