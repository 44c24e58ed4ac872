//! Runs on several processes that a launcher such as `mpirun` has started together.

use crate::cli::processes::launched;
use std::num::NonZero;
use std::{env, thread};

use crate::engine::Engine;
use crate::error::Error;
use crate::ranks::communicator::Communicator;
use crate::ranks::engine::{Ranked, open};
use crate::ranks::mpi::Process;
use crate::scenario::Scenario;
use crate::simulation::answer;
use crate::simulation::device::world_with_room;

use super::run::{Arguments, run_on};
use super::{DeviceChoice, ExitOutcome, Failure, interrupt};

/// Variables in which launchers tell a process how many of all are on its machine: Open MPI, MPICH and Intel MPI.
const LOCAL_SIZES: [&str; 2] = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"];

/// Shares the cores of the machine among its ranks, unless they are bound to fewer or `RAYON_NUM_THREADS` says how many threads each has.
fn share_cores() {
    let local = LOCAL_SIZES.into_iter().find_map(|name| env::var(name).ok()?.parse::<usize>().ok());
    let (Some(local), None) = (local, env::var_os("RAYON_NUM_THREADS")) else { return };
    let all = sysinfo::System::physical_core_count();
    let bound = thread::available_parallelism().map_or(1, NonZero::get);
    let share = all.map_or(bound, |all| (all / local).max(1));
    // A pool that there is already stays as it is.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(bound.min(share)).build_global();
}

/// Checksum (CRC-32) of the resolved scenario, at least 1.
fn fingerprint(scenario: &Scenario) -> u32 {
    crc32fast::hash(scenario.resolved.as_bytes()).max(1)
}

/// Runs a scenario on all processes. The first of them writes the results and returns how it went; the others work for it.
pub(super) fn run(arguments: &Arguments) -> Result<ExitOutcome, Failure> {
    let mut process = Process::connect()?;
    let (is_first, ranks) = (process.rank() == 0, process.ranks());
    if ranks != launched() {
        let why = format!(
            "{} processes were started together, and it connects {ranks}: start them with the launcher of the MPI that esker was \
             built with",
            launched()
        );
        return Err(Error::NoMpi { why }.into());
    }
    share_cores();
    // What all ranks find wrong is told by the first.
    let refuse = |error: Error| if is_first { Err(error.into()) } else { Ok(ExitOutcome::Done) };
    let loaded = Scenario::load(&arguments.file, &arguments.overrides);
    let print = loaded.as_ref().map_or(0.0, |scenario| f64::from(fingerprint(scenario)));
    let options = arguments.on_all_ranks();
    let own: Vec<f64> =
        options.iter().map(|(_, words)| f64::from(crc32fast::hash(words.as_bytes()))).collect();
    let all = process.gather(&[&[print], own.as_slice()].concat());
    let of_ranks = all.chunks_exact(1 + own.len());
    let prints: Vec<f64> = of_ranks.clone().map(|of_rank| of_rank[0]).collect();
    let differs = |option: &usize| of_ranks.clone().any(|of_rank| of_rank[1 + option] != all[1 + option]);
    if let Some(option) = (0..own.len()).find(differs) {
        return refuse(Error::OptionNotOnAllRanks { option: options[option].0 });
    }
    let scenario = match loaded {
        // Where the first rank fails, its message says why.
        Err(problems) if is_first || prints[0] != 0.0 => return Err(problems.into()),
        Ok(scenario) if prints.iter().all(|print| *print == prints[0]) => scenario,
        _ => return refuse(Error::NotOnAllRanks { file: arguments.file.clone() }),
    };
    if !matches!(arguments.device, DeviceChoice::Auto | DeviceChoice::Cpu) {
        let (what, advice) = ("a GPU engine", "leave out --device");
        return refuse(Error::NotOnRanks { what, advice });
    }
    match open(Box::new(process), world_with_room(&scenario), scenario.settings, answer) {
        Ok(Ranked::Root(mut engine)) => {
            engine.seed(&scenario.seeds)?;
            run_on(&scenario, arguments, |_| Ok(engine))
        }
        Ok(Ranked::Worker(worker)) => {
            // A signal goes to all processes, and the first one ends the run.
            interrupt::ignore_signals();
            drop(scenario);
            worker.serve();
            Ok(ExitOutcome::Done)
        }
        Err(error) => refuse(error),
    }
}
