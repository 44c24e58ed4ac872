//! Ranks: what cut contacts cost in convergence and what ranks exchange, `cargo bench --bench ranks`; and how long a step takes on ranks
//! that are processes beside threads of one, with a build for MPI (`cargo bench --bench ranks --features mpi --no-run` names the program):
//!
//! ```sh
//! PROGRAM time 10000 && mpirun -n 2 PROGRAM time 10000
//! ```
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench talks to its user and may fail loudly")]

mod common;

use std::time::Instant;

use common::ranks::on_ranks;
use common::{after, settled};
use esker::cpu::CpuEngine;
use esker::engine::{Engine, Snapshot};
use esker::settings::{Acceleration, Settings, WarmStart};

/// Sweeps whose error is compared, and sweeps of the solution that they are compared with.
const SWEEPS: u32 = 50;
const REFERENCE: u32 = 20_000;
/// Steps of a measurement, and how often it is repeated.
const STEPS: u64 = 10;
const ROUNDS: usize = 5;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    match words.first().map(String::as_str) {
        Some("time") => time(words.get(1).map_or(10_000, |grains| grains.parse().unwrap())),
        _ => {
            convergence();
            exchange();
        }
    }
}

/// Error of the normal impulses after few sweeps from a cold start, on a pile of 3 363 grains at rest.
fn convergence() {
    let (state, settings) = after("pile_at_rest.toml", &[], 20);
    let cold = Settings { warm_start: WarmStart::Cold, acceleration: Acceleration::None, ..settings };
    let normals =
        |state: &Snapshot| -> Vec<f64> { state.contacts.iter().map(|c| c.impulse.normal).collect() };
    let solved = |ranks: usize, settings: Settings| {
        on_ranks(ranks, &state.world, &settings, |engine| {
            engine.advance(1).unwrap();
            normals(&engine.snapshot().unwrap())
        })
    };
    let grains = state.world.grain_count();
    println!("| ranks | grains each | error after {SWEEPS} plain sweeps | accelerated |\n|---|---|---|---|");
    for ranks in [1, 2, 4, 64] {
        let left = |acceleration: Acceleration| {
            let settings = Settings { acceleration, ..cold };
            let expected = solved(ranks, Settings { iterations: REFERENCE, ..cold });
            relative_error(&solved(ranks, Settings { iterations: SWEEPS, ..settings }), &expected)
        };
        let (plain, accelerated) = (left(Acceleration::None), left(Acceleration::Nesterov));
        println!("| {ranks} | {} | {plain:.3} | {accelerated:.3} |", grains / ranks);
    }
    println!();
}

fn relative_error(found: &[f64], expected: &[f64]) -> f64 {
    let square = |list: &mut dyn Iterator<Item = f64>| list.map(|number| number * number).sum::<f64>();
    let off = square(&mut found.iter().zip(expected).map(|(found, expected)| found - expected));
    (off / square(&mut expected.iter().copied())).sqrt()
}

/// Sizes of the parts of settled beds, and what they exchange in a sweep.
fn exchange() {
    println!(
        "| grains | ranks | grains each | cut contacts | ghosts | messages per sweep | kB per sweep, out and in |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (grains, ranks) in [(10_000, 2), (10_000, 8), (100_000, 2), (100_000, 8)] {
        let (world, settings) = settled(grains);
        let extents = on_ranks(ranks, &world, &settings, |engine| {
            engine.advance(2).unwrap();
            engine.extents()
        });
        let mean = |of: &dyn Fn(usize) -> usize| (0..ranks).map(of).sum::<usize>() as f64 / ranks as f64;
        let each = mean(&|rank| extents[rank].grains);
        let cut = 100.0 * mean(&|rank| extents[rank].cut) / mean(&|rank| extents[rank].contacts);
        let ghosts = 100.0 * mean(&|rank| extents[rank].ghosts) / each;
        let messages = mean(&|rank| extents[rank].messages);
        let kilobytes = mean(&|rank| extents[rank].bytes) / 1e3;
        println!(
            "| {grains} | {ranks} | {each:.0} | {cut:.1} % | {ghosts:.0} % | {messages:.0} | {kilobytes:.0} |"
        );
    }
}

/// Prints how long a step of a settled bed takes here, on threads of this process or on the processes of MPI.
fn time(grains: u32) {
    #[cfg(feature = "mpi")]
    if std::env::var("OMPI_COMM_WORLD_SIZE").is_ok() {
        return time_on_processes(grains);
    }
    let (world, settings) = settled(grains);
    let mut engine = CpuEngine::new(world, settings);
    tell("threads", rayon::current_num_threads(), &mut engine);
}

#[cfg(feature = "mpi")]
fn time_on_processes(grains: u32) {
    use esker::ranks::communicator::{Communicator, Parcel};
    use esker::ranks::engine::{Ranked, open};
    use esker::simulation::answer;
    let mut process = esker::ranks::mpi::Process::connect().unwrap();
    let (rank, ranks) = (process.rank(), process.ranks());
    // Rank 0 exchanges lists of several lengths with rank 1.
    for numbers in [1, 600, 6_000, 60_000] {
        let parcel = || Parcel { rank: 1 - rank.min(1), numbers: vec![1.0; numbers] };
        let (out, mut into) = (parcel(), parcel());
        let start = Instant::now();
        const TIMES: u32 = 1000;
        for _ in 0..TIMES {
            if rank < 2 {
                process.swap(std::slice::from_ref(&out), std::slice::from_mut(&mut into));
            }
        }
        if rank == 0 {
            let each = start.elapsed().as_secs_f64() / f64::from(TIMES);
            println!("exchange of {} bytes each way: {:.1} us", 8 * numbers, 1e6 * each);
        }
    }
    let start = Instant::now();
    (0..1000).for_each(|_| drop(process.gather(&[1.0])));
    if rank == 0 {
        println!("a number from each: {:.1} us", 1e3 * start.elapsed().as_secs_f64());
    }
    let (world, settings) = settled(grains);
    match open(Box::new(process), world, settings, answer).unwrap() {
        Ranked::Root(mut engine) => tell("ranks", ranks, engine.as_mut()),
        Ranked::Worker(worker) => worker.serve(),
    }
}

fn tell(what: &str, count: usize, engine: &mut dyn Engine) {
    engine.advance(STEPS).unwrap();
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            engine.advance(STEPS).unwrap();
            1e3 * start.elapsed().as_secs_f64() / STEPS as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!(
        "{count} {what}: {:.2} ms per step, {:.2} to {:.2}",
        times[ROUNDS / 2],
        times[0],
        times[ROUNDS - 1]
    );
}
