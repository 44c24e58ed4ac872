//! The command line: one file per subcommand.
//!
//! Exit codes: 0 done and expectations met, 1 the run failed or was interrupted, 2 the input is wrong, 3 an
//! expectation was missed. Results go to stdout; progress, warnings and errors to stderr.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "talking to the user is what this module is for"
)]

mod bench;
mod check;
mod device;
mod devices;
mod memory;
mod progress;
mod render;
mod run;
mod study;
mod validate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;
use crate::observe::short;
use crate::scenario::Problems;

pub use device::{DeviceChoice, open};

/// Nonsmooth discrete element simulation of granular matter.
#[derive(Debug, Parser)]
#[command(name = "esker", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
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
    /// List the devices that a scenario can run on.
    Devices,
}

/// How a command that did not fail ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Done,
    Interrupted,
    ExpectationMissed,
    /// A run of several failed; the others went on.
    RunFailed,
}

/// Why a command could not do its work.
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
        Failure::Run(error)
    }
}

/// Parses the command line, does what it says and returns the exit code.
pub fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Validate(arguments) => validate::validate(&arguments),
        Command::Study(arguments) => study::study(&arguments),
        Command::Bench(arguments) => bench::bench(&arguments),
        Command::Render(arguments) => render::render(&arguments),
        Command::Devices => devices::list(),
    };
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Interrupted | Outcome::RunFailed) => ExitCode::from(1),
        Ok(Outcome::ExpectationMissed) => ExitCode::from(3),
        Err(Failure::Run(error)) => {
            eprintln!("error: {error}");
            ExitCode::from(1)
        }
        Err(Failure::Input(problems)) => {
            eprintln!("{:?}", problems.into_report());
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
