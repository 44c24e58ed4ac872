//! The same scenes in esker, rapier3d and LAMMPS, side by side: what a simulated 5 ms costs, and what state it leads to.
//!
//! All programs take turns, block by block, so that whatever else the machine does meets them alike. First they drop the bed or turn the
//! drum, then they are timed. One and the same observer judges all of them by the positions and velocities of their grains.

mod esker_engine;
mod hulls;
mod lammps;
mod program;
mod rapier_bed;
mod scene;

use std::error::Error;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use esker::bench::energy::{EnergyMeter, measured};
use esker::gpu::device::DeviceChoice;

use esker_engine::EskerEngine;
use lammps::Lammps;
use program::{Program, STEP, State, flow_in, processor_time};
use rapier_bed::{RapierBed, Tuning};
use scene::Scene;

/// Steps that a program takes before it is the next one's turn.
const STEPS_PER_BLOCK: u64 = 10;
/// Blocks at rest that the median is taken over.
const TIMED_BLOCKS: usize = 21;
/// Blocks of the drum, 2.5 s.
const DRUM_BLOCKS: usize = 50;
/// Fewest sweeps with which esker's beds come to the overlap and height that they have with many; with 6 a bed of 10⁴ does not come to rest.
const FEWEST_ITERATIONS: u32 = 8;

/// The same scenes in esker, rapier3d and LAMMPS, side by side.
#[derive(Parser)]
struct Arguments {
    /// Numbers of grains of the beds.
    #[arg(long, value_delimiter = ',', default_value = "1000,10000")]
    grains: Vec<u32>,
    /// Simulated seconds before the state is judged and the time is taken.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Turns the drum in esker and LAMMPS, in place of the beds.
    #[arg(long)]
    drum: bool,
    /// Pours hulls of 12 corners in place of spheres.
    #[arg(long)]
    hulls: bool,
    /// Contact frequency of rapier3d retuned [Hz].
    #[arg(long, default_value_t = 480.0)]
    frequency: f64,
    /// Solver iterations of rapier3d retuned.
    #[arg(long, default_value_t = 8)]
    substeps: usize,
    /// Sweeps of esker beside those of its scenario.
    #[arg(long, value_delimiter = ',', default_values_t = [FEWEST_ITERATIONS])]
    iterations: Vec<u32>,
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
        "esker as it is here, rapier3d {} and LAMMPS where it is installed, on {} threads or ranks. Wall milliseconds per simulated {} ms are \
         medians (least to most) over blocks of {STEPS_PER_BLOCK} steps; energy is that of all processors per simulated second.\n",
        rapier3d::VERSION,
        rayon::current_num_threads(),
        STEP * 1e3,
    );
    if arguments.drum {
        return turn_drum(&arguments);
    }
    println!(
        "| grains | program | at rest [ms] | processor time [ms] | energy [J] | on the way there [ms] | mean overlap [d] | max overlap [d] | height [d] | kinetic energy [m g d] |"
    );
    println!("|{}", "---|".repeat(10));
    for &grains in &arguments.grains {
        compare(grains, &arguments)?;
    }
    Ok(())
}

/// Runs one bed in all programs and prints a row for each.
fn compare(grains: u32, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let spheres = Scene::bed(grains)?;
    let bed = if arguments.hulls { hulls::poured(&spheres, grains)? } else { spheres.clone() };
    let tuning = Tuning { frequency: arguments.frequency, iterations: arguments.substeps };
    let mut programs: Vec<Box<dyn Program>> =
        vec![Box::new(RapierBed::with_defaults(&bed)), Box::new(RapierBed::retuned(&bed, tuning))];
    for &iterations in &arguments.iterations {
        let mut quick = bed.clone();
        quick.scenario.settings.iterations = iterations;
        programs.push(Box::new(EskerEngine::on_cpu(&quick)));
    }
    if arguments.hulls {
        programs.push(Box::new(EskerEngine::on_cpu(&bed)));
        programs.push(Box::new(EskerEngine::on_cpu(&spheres)));
    } else {
        add_others(&mut programs, &bed, arguments.device)?;
    }
    let blocks = (arguments.seconds / STEP / STEPS_PER_BLOCK as f64).round() as usize;
    let settling = take_turns(&mut programs, blocks, |_, _| Ok(()))?;
    let states = programs.iter_mut().map(|program| State::of(program.world()?, bed.diameter));
    let states: Vec<State> = states.collect::<Result<_, _>>()?;
    let resting = take_turns(&mut programs, TIMED_BLOCKS, |_, _| Ok(()))?;
    for (((program, settling), resting), state) in programs.iter_mut().zip(settling).zip(resting).zip(states) {
        let (energy, processor) = (resting.energy(), spread(resting.processor));
        println!(
            "| {grains} | {} | {} | {processor} | {energy} | {} | {state} |",
            program.name(),
            spread(resting.times),
            spread(settling.times)
        );
        program.tell();
    }
    Ok(())
}

/// Turns the drum in all programs that can, and prints a row for each.
fn turn_drum(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let scene = Scene::drum()?;
    let plan = scene.scenario.drum.clone().ok_or("the scenario of the drum has no [observe.drum]")?;
    let mut programs = Vec::new();
    add_others(&mut programs, &scene, arguments.device)?;
    let blocks = (arguments.seconds / STEP / STEPS_PER_BLOCK as f64).round() as usize;
    take_turns(&mut programs, blocks, |_, _| Ok(()))?;
    let mut flows = vec![Vec::new(); programs.len()];
    let turning = take_turns(&mut programs, DRUM_BLOCKS, |place, program| {
        flows[place].push(flow_in(program.world()?, &plan));
        Ok(())
    })?;
    println!(
        "| program | per 5 ms [ms] | per simulated second [s] | energy [J] | dynamic angle [degrees] | plug share |"
    );
    println!("|{}", "---|".repeat(6));
    for ((program, turning), flow) in programs.iter().zip(turning).zip(flows) {
        let mean = |which: usize| flow.iter().map(|found| found[which]).sum::<f64>() / flow.len() as f64;
        let wall = turning.times.iter().sum::<f64>() / turning.times.len() as f64 * 1e-3 / STEP;
        let (name, energy, times) = (program.name(), turning.energy(), spread(turning.times));
        println!("| {name} | {times} | {wall:.1} | {energy} | {:.1} | {:.1} % |", mean(0), 100.0 * mean(1));
    }
    Ok(())
}

/// Adds esker and, where it is installed, LAMMPS.
fn add_others(
    programs: &mut Vec<Box<dyn Program>>,
    scene: &Scene,
    adapter: Option<Adapter>,
) -> Result<(), Box<dyn Error>> {
    programs.push(Box::new(EskerEngine::on_cpu(scene)));
    if let Some(adapter) = adapter {
        programs.push(Box::new(EskerEngine::on_gpu(scene, adapter.into())?));
    }
    match Lammps::start(scene, rayon::current_num_threads()) {
        Ok(lammps) => programs.push(Box::new(lammps)),
        Err(error) => eprintln!("without LAMMPS: {error}"),
    }
    Ok(())
}

/// Times and energies of the blocks of a program.
#[derive(Default)]
struct Turns {
    /// Wall milliseconds per step.
    times: Vec<f64>,
    /// Processor milliseconds per step, where the system tells them of the program.
    processor: Vec<f64>,
    /// Energy per simulated second \[J\], where the system tells it.
    joules: Vec<f64>,
}

impl Turns {
    fn energy(&self) -> String {
        let mean = self.joules.iter().sum::<f64>() / self.joules.len() as f64;
        if mean.is_finite() { format!("{mean:.0}") } else { "not told".to_owned() }
    }
}

/// Lets every program take `blocks` blocks in turn; after each of its blocks `look` sees the program and its place.
fn take_turns(
    programs: &mut [Box<dyn Program>],
    blocks: usize,
    mut look: impl FnMut(usize, &mut dyn Program) -> Result<(), Box<dyn Error>>,
) -> Result<Vec<Turns>, Box<dyn Error>> {
    let meter = EnergyMeter::of_machine();
    let mut turns: Vec<Turns> = programs.iter().map(|_| Turns::default()).collect();
    for _ in 0..blocks {
        for (place, program) in programs.iter_mut().enumerate() {
            let before = processor_time().filter(|_| program.is_here());
            let (elapsed, joules) = measured(meter.as_ref(), || {
                let start = Instant::now();
                program.advance(STEPS_PER_BLOCK).map(|()| start.elapsed())
            });
            turns[place].times.push(elapsed?.as_secs_f64() * 1e3 / STEPS_PER_BLOCK as f64);
            let processor = before.zip(processor_time()).map(|(before, after)| after - before);
            turns[place].processor.extend(processor.map(|time| time / STEPS_PER_BLOCK as f64));
            turns[place].joules.extend(joules.map(|joules| joules / (STEP * STEPS_PER_BLOCK as f64)));
            look(place, program.as_mut())?;
        }
    }
    Ok(turns)
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
