//! Accuracy at equal wall time: both engines on a settled bed of 10⁴ grains with 5, 10, 20 and 40 sweeps.
//!
//! `cargo bench --bench equal_time` prints a table in Markdown: residuals, and the error of the mean overlap relative to that of 400
//! sweeps, beside the milliseconds of a step. A method is better if its residuals and error are smaller in the same time.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench talks to its user and may fail loudly")]

use std::time::Instant;

use esker::bench::bed::Bed;
use esker::bench::report::Sample;
use esker::bench::{BenchTarget, default_targets};
use esker::engine::{Engine, Spread};
use esker::model::World;
use esker::observe::contacts::overlap;
use esker::scenario::Scenario;

const GRAINS: u32 = 10_000;
const ITERATIONS: [u32; 4] = [5, 10, 20, 40];
/// Sweeps of the solve that the others are compared with.
const CONVERGED: u32 = 400;
/// Blocks of steps; together they are long enough for the overlaps to respond to the number of sweeps.
const BLOCKS: usize = 4;
const STEPS: u64 = 10;

fn main() {
    let mut bed = Bed::new(GRAINS, &[]).unwrap();
    let (world, _) = bed.settled(None, &mut |_| ()).unwrap();
    bed.scenario.settings.iterations = CONVERGED;
    let converged = outcomes(&[BenchTarget::Cpu], &bed.scenario, &world)[0].overlap.mean;
    println!("{GRAINS} grains; {CONVERGED} sweeps on the CPU engine: mean overlap {converged:.5} radii.");
    println!("Time: median of {BLOCKS} blocks of {STEPS} steps, engines in turn.\n");
    println!(
        "| sweeps | engine | step [ms] | normal residual [m/s] | friction residual [m/s] | mean overlap | error |"
    );
    println!("|---|---|---|---|---|---|---|");
    let targets = default_targets();
    for iterations in ITERATIONS {
        bed.scenario.settings.iterations = iterations;
        for (target, outcome) in targets.iter().zip(outcomes(&targets, &bed.scenario, &world)) {
            let Outcome { ms, normal, friction, overlap } = outcome;
            let error = 100.0 * (overlap.mean / converged - 1.0);
            println!(
                "| {iterations} | {} | {ms:.2} | {normal:.2e} | {friction:.2e} | {:.5} | {error:+.1} % |",
                target.word(),
                overlap.mean
            );
        }
    }
}

/// Results of the steps of one engine.
struct Outcome {
    /// Time of a step \[ms\].
    ms: f64,
    /// Mean residuals \[m/s\].
    normal: f64,
    friction: f64,
    overlap: Spread,
}

fn outcomes(targets: &[BenchTarget], scenario: &Scenario, world: &World) -> Vec<Outcome> {
    let mut engines: Vec<_> =
        targets.iter().map(|target| (target.engine(world, scenario).unwrap(), Vec::new())).collect();
    for _ in 0..BLOCKS {
        for (engine, times) in &mut engines {
            let start = Instant::now();
            engine.advance(STEPS).unwrap();
            times.push(start.elapsed().as_secs_f64() * 1e3 / STEPS as f64);
        }
    }
    engines.into_iter().map(|(mut engine, times)| conclude(engine.as_mut(), times)).collect()
}

fn conclude(engine: &mut dyn Engine, times: Vec<f64>) -> Outcome {
    let snapshot = engine.snapshot().unwrap();
    let residuals = snapshot.report.residuals;
    Outcome {
        ms: Sample::of(times).median,
        normal: residuals.normal.mean,
        friction: residuals.friction.mean,
        overlap: overlap(&snapshot),
    }
}
