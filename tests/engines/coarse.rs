//! Coarse corrections \[E14\] carry impulses through many layers at once, and do not change the solution.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::cpu::convergence::solve_aside;
use esker::engine::convergence::{Question, SolveCourse};
use esker::engine::{Engine, Snapshot};
use esker::error::Error;
use esker::gpu::layout::check_single;
use esker::model::World;
use esker::scenario::Scenario;
use esker::settings::{Acceleration, Settings, WarmStart};

/// Cost of a coarse correction in sweeps (`benches/results/coarse.md`).
const COST: u32 = 4;

/// Course of the next step of a world, solved from a cold start with this many coarse corrections among 200 sweeps.
fn solved(world: &World, coarse_corrections: u32) -> SolveCourse {
    let settings = Settings { coarse_corrections, iterations: 200, ..Settings::default() };
    let snapshot = cpu(world, &settings).snapshot().unwrap();
    let question = Question { starts: vec![WarmStart::Cold], sweeps: 200, reference: 1 };
    solve_aside(&snapshot, &settings, &question).courses.remove(0)
}

/// Number of sweeps after which the mean residual of the normal constraints stays below this share of the residual at zero impulses.
fn sweeps_to(course: &SolveCourse, share: f64) -> u32 {
    let residual = |sweep: usize| course.points[sweep].residuals.normal.mean;
    let last_above = (0..=200).rev().find(|&sweep| residual(sweep) > share * residual(0)).unwrap();
    last_above as u32 + 1
}

/// Number of coarse corrections before a sweep: the first follows 3 sweeps, the next ones 2, 3 and so on sweeps later.
fn corrections_before(sweep: u32) -> u32 {
    let (mut after, mut corrections) = (3, 0);
    while after < sweep {
        corrections += 1;
        after += corrections + 1;
    }
    corrections
}

/// With coarse corrections the work for a column hardly depends on its length. The solution spans the column, while a sweep carries an
/// impulse over one grain. Without corrections elastic columns therefore need more sweeps the longer they are, up to some 200 grains.
#[test]
fn a_column_of_a_thousand_takes_at_most_twice_the_work_of_one_of_ten() {
    let sweeps = |count: u32, corrections| {
        let settings = Settings { coarse_corrections: 8, iterations: 40, ..Settings::default() };
        let mut engine = cpu(&column(count, 0.0).world, &settings);
        engine.advance(40).unwrap();
        sweeps_to(&solved(&engine.snapshot().unwrap().world, corrections), 1e-3)
    };
    let work = |count| {
        let sweeps = sweeps(count, 18);
        sweeps + COST * corrections_before(sweeps)
    };
    let [short, long] = [10, 1000].map(work);
    assert!(long <= 2 * short, "{short} sweeps for 10 grains, {long} for 1000");
    let without = sweeps(1000, 0);
    assert!(without > 4 * long, "{without} sweeps without corrections, {long} with them");
}

/// Bed of 7 x 7 grains and this many layers in a box of smooth walls, let fall with gaps of about a ninth of a diameter between layers.
fn bed(layers: u32) -> Scenario {
    let body = format!(
        r#"
[materials.smooth]
density = 3700.0
youngs_modulus = 6e6
poisson_ratio = 0.25
restitution = 0.18
friction = 0.0

[[boundaries]]
name = "box"
material = "smooth"
shape = {{ kind = "box", min = [-0.051, -0.051, 0.0], max = [0.051, 0.051, 2.0], open = ["+z"] }}

[[grains]]
material = "pellet"
radius = {{ kind = "uniform", min = 0.006, max = 0.007 }}

[grains.packing]
kind = "lattice"
structure = "cubic"
corner = [-0.0435, -0.0435, 0.0075]
counts = [7, 7]
count = {}
spacing = 0.0145
jitter = 0.0002
"#,
        49 * layers
    );
    pellets(&body)
}

/// Mean overlap of a bed of 80 layers that lands: 5 sweeps a step leave 2.07 times the overlap of 20 sweeps a step, 5 sweeps and a coarse
/// correction 1.07 times.
#[test]
fn a_deep_bed_lands_on_few_sweeps_with_a_correction() {
    let scenario = bed(80);
    // Mean over ten moments while it lands and swings, from 0.3 s to 0.57 s.
    let overlap = |iterations, coarse_corrections| {
        let settings = Settings { iterations, coarse_corrections, ..Settings::default() };
        let mut engine = cpu(&scenario.world, &settings);
        engine.advance(54).unwrap();
        let moments = (0..10).map(|_| {
            engine.advance(6).unwrap();
            mean_overlap(&engine.snapshot().unwrap())
        });
        moments.sum::<f64>() / 10.0
    };
    let expected = overlap(20, 0);
    let (with, without) = (overlap(5, 1), overlap(5, 0));
    assert!(with < 1.3 * expected, "{with} m with a correction, {expected} m with 20 sweeps");
    assert!(without > 1.7 * expected, "{without} m without it, {expected} m with 20 sweeps");
}

fn mean_overlap(snapshot: &Snapshot) -> f64 {
    let overlaps: Vec<f64> =
        snapshot.contacts.iter().map(|contact| -contact.gap).filter(|overlap| *overlap > 0.0).collect();
    overlaps.iter().sum::<f64>() / overlaps.len() as f64
}

/// Near a solution a coarse correction raises no mean residual by more than a fifth: contacts that slide do work, but are no error.
#[test]
fn a_correction_leaves_a_solution_alone() {
    let mut engine = cpu(&bed(20).world, &Settings::default());
    engine.advance(50).unwrap();
    let snapshot = engine.snapshot().unwrap();
    let sliding = snapshot.contacts.iter().filter(|contact| contact.is_sliding()).count();
    assert!(sliding > 100, "{sliding} contacts slide");
    let settings =
        Settings { coarse_corrections: 18, acceleration: Acceleration::None, ..Settings::default() };
    let question = Question { starts: vec![WarmStart::ADAPTIVE], sweeps: LAST_CORRECTION + 1, reference: 1 };
    let course = solve_aside(&snapshot, &settings, &question).courses.remove(0);
    let residuals = |sweep: u32| {
        let found = &course.points[sweep as usize].residuals;
        [found.normal.mean, found.friction.mean, found.rolling.mean]
    };
    let (before, after) = (residuals(LAST_CORRECTION), residuals(LAST_CORRECTION + 1));
    for (before, after) in before.into_iter().zip(after) {
        assert!(after < 1.2 * before, "{before} m/s or rad/s before it, {after} after it");
    }
    assert!(before[0] < 0.01 * residuals(0)[0], "{before:?} is near a solution");
}

/// Number of sweeps before the 18th correction.
const LAST_CORRECTION: u32 = 173;

/// Coarse corrections have the same bits on any number of threads, as the order of their sums does not depend on the threads.
#[test]
fn corrections_have_the_same_bits_on_any_number_of_threads() {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let settings = Settings { iterations: 5, coarse_corrections: 1, ..Settings::default() };
            let mut engine = cpu(&bed(20).world, &settings);
            engine.advance(30).unwrap();
            engine.snapshot().unwrap().world.bodies.position
        })
    };
    assert!(on(1) == on(3), "positions depend on the threads");
}

#[test]
fn the_gpu_engine_refuses_them() {
    let settings = Settings { coarse_corrections: 1, ..Settings::default() };
    let refused = check_single(&column(2, 0.0).world, &settings, std::iter::empty());
    assert!(matches!(refused, Err(Error::NotOnGpu { setting: "solver.coarse_corrections" })), "{refused:?}");
    assert!(check_single(&column(2, 0.0).world, &Settings::default(), std::iter::empty()).is_ok());
}
