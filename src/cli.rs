//! The command line: one file per subcommand.
//!
//! Exit codes: 0 done and expectations met, 1 the run failed or was interrupted, 2 the input is wrong, 3 an
//! expectation was missed. Results go to stdout; progress, warnings and errors to stderr.

mod bench;
mod check;
mod device;
mod devices;
mod diagnostic;
mod export;
mod import;
mod interrupt;
mod memory;
mod new;
mod processes;
mod progress;
mod quiet;
#[cfg(feature = "mpi")]
mod ranks;
mod render;
mod run;
mod schema;
mod shell;
mod solve;
mod study;
mod terminal;
mod validate;
mod view;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::error::Error;
use crate::observe::short;
use crate::scenario::{Problem, Problems};

use terminal::note;

pub use device::{DeviceChoice, open};
pub use diagnostic::drawing;

/// Nonsmooth discrete element simulation of granular matter.
#[derive(Debug, Parser)]
#[command(name = "esker", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run a scenario and write its results.
    Run(run::Arguments),
    /// Check a scenario; print counts, contact laws, memory and time-step advice. Touches no GPU.
    Check(check::Arguments),
    /// Run scenarios with known answers, and compare.
    Validate(validate::Arguments),
    /// Run a scenario with all combinations of some settings; plot and judge what comes of it.
    Study(study::Arguments),
    /// Measure what a step takes, on one engine beside the other.
    Bench(bench::Arguments),
    /// Draw the results of a run, or the initial state of a scenario. Touches no GPU.
    Render(Box<render::Arguments>),
    /// Write all frames of a run into one VTKHDF file for each kind: grains, contacts and so on.
    Export(export::Arguments),
    /// Solve a frictional contact problem in local form, a file of Siconos or FCLIB.
    Solve(solve::Arguments),
    /// Show the results of a run in a browser: serve them on 127.0.0.1, or write one file. Touches no GPU.
    View(view::Arguments),
    /// List the devices that a scenario can run on.
    Devices,
    /// Write a scenario to start from, a copy of an example.
    New(new::Arguments),
    /// Write a scenario from an input script of LIGGGHTS or LAMMPS, or from a robot in URDF, and tell what of it is not in the scenario.
    Import(import::Arguments),
    /// Print the JSON schema of the scenario file, for editors that complete and check keys.
    Schema,
    /// Print a script with which a shell completes commands and options.
    Completions(shell::CompletionArguments),
    /// Print a page of the manual, in roff: `esker man run | man -l -`.
    Man(shell::ManualArguments),
}

impl Verb {
    /// Whether the command only prints, and leaves nothing else.
    fn only_prints(&self) -> bool {
        match self {
            Verb::Check(_) | Verb::Devices | Verb::Schema | Verb::Completions(_) | Verb::Man(_) => true,
            Verb::New(arguments) => arguments.only_lists(),
            Verb::Validate(arguments) => arguments.list,
            Verb::Study(arguments) => arguments.list,
            Verb::Run(_)
            | Verb::Bench(_)
            | Verb::Render(_)
            | Verb::View(_)
            | Verb::Export(_)
            | Verb::Import(_)
            | Verb::Solve(_) => false,
        }
    }
}

/// Outcome of a command that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExitOutcome {
    Done,
    Interrupted,
    ExpectationMissed,
    /// One of several runs failed; the others went on.
    RunFailed,
}

/// Reason why a command failed.
#[derive(Debug)]
enum Failure {
    /// The scenario is wrong.
    Input(Problems),
    /// The run failed.
    Run(Error),
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Failure {
        Failure::Input(problems)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            Error::InputAtRisk { ref file, .. } => {
                let origin = file.display().to_string();
                Failure::Input(Problems::new(&origin, vec![Problem::of("--out", error.to_string())]))
            }
            error => Failure::Run(error),
        }
    }
}

/// Has options take `-1` as a value, so that the message says what is expected and not that there is no such argument.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let takes_it = |argument: clap::Arg| {
        let is_option = argument.get_long().is_some() && argument.get_action().takes_values();
        if is_option { argument.allow_negative_numbers(true) } else { argument }
    };
    command.mut_subcommands(|command| command.mut_args(takes_it))
}

/// Parses the command line, runs the command and returns the exit code.
pub fn main() -> ExitCode {
    quiet::set_runtime_folder();
    memory::give_back_what_is_freed();
    let matches = with_negative_numbers(Arguments::command()).get_matches();
    let command = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()).command;
    let only_prints = command.only_prints();
    let result = match command {
        #[cfg(feature = "mpi")]
        Verb::Run(arguments) if processes::launched() > 1 => ranks::run(&arguments),
        Verb::Run(arguments) => run::run(&arguments),
        _ if !only_prints && processes::launched() > 1 => {
            processes::check_alone().map(|()| ExitOutcome::Done)
        }
        Verb::Check(arguments) => check::check(&arguments),
        Verb::Validate(arguments) => validate::validate(&arguments),
        Verb::Study(arguments) => study::study(&arguments),
        Verb::Bench(arguments) => bench::bench(&arguments),
        Verb::Render(arguments) => render::render(&arguments),
        Verb::Export(arguments) => export::export(&arguments),
        Verb::Solve(arguments) => solve::solve(&arguments),
        Verb::View(arguments) => view::view(&arguments),
        Verb::Devices => devices::list(),
        Verb::New(arguments) => new::new(&arguments),
        Verb::Import(arguments) => import::import(&arguments),
        Verb::Schema => schema::print(),
        Verb::Completions(arguments) => shell::completions(&arguments),
        Verb::Man(arguments) => shell::manual(&arguments),
    };
    let unprinted = terminal::failure();
    if let Some(error) = unprinted {
        note!("error: the output cannot be printed: {error}");
    }
    match result {
        Ok(ExitOutcome::Done) if unprinted.is_some() && only_prints => ExitCode::from(1),
        Ok(ExitOutcome::Done) => ExitCode::SUCCESS,
        Ok(ExitOutcome::Interrupted | ExitOutcome::RunFailed) => ExitCode::from(1),
        Ok(ExitOutcome::ExpectationMissed) => ExitCode::from(3),
        Err(Failure::Run(error)) => {
            note!("error: {error}");
            ExitCode::from(1)
        }
        Err(Failure::Input(problems)) => {
            terminal::print_report(&drawing(&problems));
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        with_negative_numbers(Arguments::command()).debug_assert();
    }
}
