//! The settled bed in esker and in rapier3d, side by side: what a simulated 5 ms costs, and what state it leads to.
//!
//! All programs run in one process and take turns, block by block, so that whatever else the machine does
//! meets them alike. First they drop the bed, then they are timed at rest. One and the same observer judges
//! all of them by the positions and velocities of their grains.

mod bed;
mod esker_bed;
mod program;
mod rapier_bed;

use std::error::Error;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use esker::gpu::device::DeviceChoice;

use bed::Bed;
use esker_bed::EskerBed;
use program::{Program, STEP, State};
use rapier_bed::RapierBed;

/// Steps that a program takes before it is the next one's turn.
const STEPS_PER_BLOCK: u64 = 10;
/// Blocks at rest that the median is taken over.
const TIMED_BLOCKS: usize = 21;

/// The settled bed in esker and in rapier3d, side by side.
#[derive(Parser)]
struct Arguments {
    /// Numbers of grains.
    #[arg(long, value_delimiter = ',', default_value = "1000,10000")]
    grains: Vec<u32>,
    /// Simulated seconds before the state is judged and the time is taken.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Runs esker's GPU engine as well.
    #[arg(long, value_enum)]
    device: Option<Adapter>,
}

/// A kind of adapter.
#[derive(Clone, Copy, ValueEnum)]
enum Adapter {
    /// A graphics card.
    Gpu,
    /// A software adapter such as lavapipe.
    Software,
}

impl From<Adapter> for DeviceChoice {
    fn from(adapter: Adapter) -> DeviceChoice {
        match adapter {
            Adapter::Gpu => DeviceChoice::Hardware,
            Adapter::Software => DeviceChoice::Software,
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    println!(
        "rapier3d {} and esker as it is here, on {} threads. Wall milliseconds per simulated {} ms are medians (least to most) over blocks of {STEPS_PER_BLOCK} steps.\n",
        rapier3d::VERSION,
        rayon::current_num_threads(),
        STEP * 1e3,
    );
    println!(
        "| grains | program | at rest [ms] | on the way there [ms] | mean overlap [d] | max overlap [d] | height [d] | kinetic energy [m g d] |"
    );
    println!("|{}", "---|".repeat(8));
    for &grains in &arguments.grains {
        compare(grains, &arguments)?;
    }
    Ok(())
}

/// Runs one bed in all programs and prints a row for each.
fn compare(grains: u32, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let bed = Bed::of(grains)?;
    let mut programs = programs(&bed, arguments.device)?;
    let blocks = (arguments.seconds / STEP / STEPS_PER_BLOCK as f64).round() as usize;
    let settling = take_turns(&mut programs, blocks)?;
    let states = programs.iter_mut().map(|program| State::of(program.world()?, bed.diameter));
    let states: Vec<State> = states.collect::<Result<_, _>>()?;
    let resting = take_turns(&mut programs, TIMED_BLOCKS)?;
    for (((program, settling), resting), state) in programs.iter().zip(settling).zip(resting).zip(states) {
        println!("| {grains} | {} | {} | {} | {state} |", program.name(), spread(resting), spread(settling));
    }
    Ok(())
}

fn programs(bed: &Bed, adapter: Option<Adapter>) -> Result<Vec<Box<dyn Program>>, Box<dyn Error>> {
    let mut programs: Vec<Box<dyn Program>> = vec![
        Box::new(RapierBed::with_defaults(bed)),
        Box::new(RapierBed::retuned(bed)),
        Box::new(EskerBed::on_cpu(bed)),
    ];
    if let Some(adapter) = adapter {
        programs.push(Box::new(EskerBed::on_gpu(bed, adapter.into())?));
    }
    Ok(programs)
}

/// Lets every program take `blocks` blocks in turn; gives wall milliseconds per step, program by program.
fn take_turns(programs: &mut [Box<dyn Program>], blocks: usize) -> Result<Vec<Vec<f64>>, Box<dyn Error>> {
    let mut times = vec![Vec::with_capacity(blocks); programs.len()];
    for _ in 0..blocks {
        for (program, times) in programs.iter_mut().zip(&mut times) {
            let start = Instant::now();
            program.advance(STEPS_PER_BLOCK)?;
            times.push(start.elapsed().as_secs_f64() * 1e3 / STEPS_PER_BLOCK as f64);
        }
    }
    Ok(times)
}

/// Median, least and most in words.
fn spread(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    match times[..] {
        [] => "-".to_owned(),
        [least, .., most] => format!("{:.2} ({least:.2} to {most:.2})", times[times.len() / 2]),
        [only] => format!("{only:.2}"),
    }
}
