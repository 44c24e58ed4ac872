//! `esker run`: runs a scenario file and writes its results.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::checkpoint::Checkpoint;
use crate::engine::{Engine, Precision, Profiling};
use crate::error::Error;
use crate::files;
use crate::observe::expectation::{Judgement, Verdict};
use crate::output::summary::{RunStatus, Summary};
use crate::output::{self, Resumes};
use crate::scenario::{LONGEST_TIME, Problem, Problems, Scenario, check_step_count};
use crate::simulation::{self, Resumption, RunOptions};

use super::interrupt::{INTERRUPT, listen_for_interrupt};
use super::progress::Display;
use super::terminal::{note, say};
use super::{DeviceChoice, ExitOutcome, Failure, open, processes, short};

/// Arguments of `esker run`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Scenario file.
    pub(super) file: PathBuf,
    /// Where to run.
    #[arg(long, value_enum, default_value = "auto")]
    pub(super) device: DeviceChoice,
    /// Folder for the results [default: out/<scenario>]; those of an earlier run are replaced.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Change a value of the scenario, such as solver.iterations=100; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) overrides: Vec<String>,
    /// Go on from the last checkpoint in the folder of the results; start anew where there is none.
    #[arg(long)]
    resume: bool,
    /// End at this simulated time [s]; before the duration, expectations are not judged.
    #[arg(long, value_name = "T", value_parser = parse_time)]
    until: Option<f64>,
    /// Time the stages on a GPU, at the cost of a few per cent; on the CPU they are timed anyway.
    #[arg(long)]
    profile: bool,
    /// Print nothing but errors and missed expectations.
    #[arg(long)]
    quiet: bool,
}

#[cfg(feature = "mpi")]
impl Arguments {
    /// Options that must be the same on all ranks, each with its value in words; the scenario and its changes are compared as they were
    /// read.
    pub(super) fn on_all_ranks(&self) -> [(&'static str, String); 4] {
        [
            ("--until", format!("{:?}", self.until)),
            ("--out", format!("{:?}", self.out)),
            ("--resume", self.resume.to_string()),
            ("--device", format!("{:?}", self.device)),
        ]
    }
}

/// Runs a scenario.
pub(super) fn run(arguments: &Arguments) -> Result<ExitOutcome, Failure> {
    processes::check_alone()?;
    let scenario = Scenario::load(&arguments.file, &arguments.overrides)?;
    run_on(&scenario, arguments, |choice| open(choice, &scenario))
}

/// Runs a scenario on the engine that `open` makes for a choice of device.
pub(super) fn run_on(
    scenario: &Scenario,
    arguments: &Arguments,
    open: impl FnOnce(DeviceChoice) -> Result<Box<dyn Engine>, Error>,
) -> Result<ExitOutcome, Failure> {
    check_end(arguments.until, scenario)?;
    let folder = arguments.out.clone().unwrap_or_else(|| Path::new("out").join(&scenario.name));
    output::check_folder(&folder)?;
    let resumes = if arguments.resume { Resumes::Yes } else { Resumes::No };
    output::check_inputs(&folder, &scenario.inputs, resumes)?;
    let resume = match arguments.resume {
        true => Some(Resumption::of(&folder).map_err(refused)?),
        false => None,
    };
    let checkpoint = resume.as_ref().and_then(|resume| resume.checkpoint.as_ref());
    if let Some(outcome) = finished(&resume, scenario, arguments) {
        return Ok(outcome);
    }
    if let Some(resume) = &resume {
        tell_of_checkpoint(resume, &folder, arguments.quiet);
    }
    let mut engine = open(device_of(arguments.device, checkpoint))?;
    if arguments.profile {
        engine.profile(Profiling::On);
    }
    if !arguments.quiet {
        note!("{}: on {}", scenario.title, engine.identity());
        scenario.notes.iter().for_each(|told| note!("{told}"));
    }
    listen_for_interrupt();
    let mut display = if arguments.quiet { Display::Silent } else { Display::new() };
    let options =
        RunOptions { until: arguments.until, saves: true, resume, ..RunOptions::new(&folder, &INTERRUPT) };
    let result = simulation::run(scenario, engine.as_mut(), options, &mut |progress| display.show(progress));
    display.finish();
    let summary = result.inspect_err(|error| tell_what_is_kept(&folder, error)).map_err(refused)?;
    summary.warnings.iter().for_each(|warning| note!("warning: {warning}"));
    report(&summary, &folder, arguments.quiet);
    Ok(outcome(&summary))
}

pub(super) fn parse_time(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(time) if (0.0..=LONGEST_TIME).contains(&time) => Ok(time),
        _ => Err(format!("expected a time in seconds, from 0 to {LONGEST_TIME:e}")),
    }
}

/// Refuses an end time that needs more steps than a run may have; the message has the numbers.
fn check_end(until: Option<f64>, scenario: &Scenario) -> Result<(), Problems> {
    let Some(end) = until else { return Ok(()) };
    check_step_count(end, scenario.settings.time_step).map_err(|message| {
        let problem = Problem::of("--until", message).help("end earlier, or enlarge solver.time_step");
        Problems::new("--until", vec![problem])
    })
}

/// Counts a checkpoint that cannot be continued as wrong input, since another try would not help. Other errors are failures of the run.
fn refused(error: Error) -> Failure {
    match error {
        Error::Changed { .. } | Error::Unusable { .. } => {
            Failure::Input(Problems::new("--resume", vec![Problem::of("--resume", error.to_string())]))
        }
        error => error.into(),
    }
}

/// Outcome of a run of the same scenario that already reached its end; `None` if there is more to do.
fn finished(resume: &Option<Resumption>, scenario: &Scenario, arguments: &Arguments) -> Option<ExitOutcome> {
    let folder = resume.as_ref()?.folder();
    let read = |name: &str| files::read_result(&folder.join(name), files::LARGEST_TEXT).ok();
    let summary: Value = serde_json::from_str(&read("summary.json")?).ok()?;
    let end = arguments.until.unwrap_or(scenario.duration);
    let reached = summary["simulated_seconds"].as_f64()? + 0.5 * scenario.settings.time_step >= end;
    if !reached || summary["status"] != "completed" || read("scenario.toml")? != scenario.record().resolved {
        return None;
    }
    if !arguments.quiet {
        note!("the run in {} has come to its end: nothing is left to do", folder.display());
    }
    let missed = |verdict: &Value| verdict["verdict"] == "missed";
    let is_missed = summary["expectations"].as_array().is_some_and(|verdicts| verdicts.iter().any(missed));
    Some(if is_missed { ExitOutcome::ExpectationMissed } else { ExitOutcome::Done })
}

/// Prints from which checkpoint the run continues.
fn tell_of_checkpoint(resume: &Resumption, folder: &Path, quiet: bool) {
    resume.damaged.iter().for_each(|error| note!("warning: {error}; going on from the one before"));
    match &resume.checkpoint {
        _ if quiet => {}
        Some(checkpoint) => {
            let name = checkpoint.path.file_name().unwrap_or_default().to_string_lossy();
            note!("going on from {name} at t = {} s", short(checkpoint.header.time));
        }
        None => note!("no checkpoint in {}: starting anew", folder.display()),
    }
}

/// Device to run on: without a choice, the kind of device that saved the checkpoint.
fn device_of(choice: DeviceChoice, checkpoint: Option<&Checkpoint>) -> DeviceChoice {
    match (choice, checkpoint.map(|checkpoint| checkpoint.header.engine.as_str())) {
        (DeviceChoice::Auto, Some("cpu")) => DeviceChoice::Cpu,
        (DeviceChoice::Auto, Some("gpu")) => DeviceChoice::Gpu,
        _ => choice,
    }
}

fn tell_what_is_kept(folder: &Path, error: &Error) {
    // After these errors, the results in the folder belong to another run.
    let never_began = matches!(
        error,
        Error::FolderInUse { .. } | Error::Link { .. } | Error::Changed { .. } | Error::Unusable { .. }
    );
    if never_began {
        return;
    }
    if folder.join("summary.json").exists() {
        note!("results until the failure are in {}", folder.display());
    }
    if let Some((file, header)) = Checkpoint::last_header(folder) {
        let (file, time) = (file.display(), short(header.time));
        note!("the last checkpoint is {file}, at t = {time} s: --resume goes on from it");
    }
}

fn outcome(summary: &Summary) -> ExitOutcome {
    let missed = summary.expectations.iter().any(|verdict| verdict.verdict == Judgement::Missed);
    match summary.status {
        RunStatus::Completed if missed => ExitOutcome::ExpectationMissed,
        RunStatus::Completed => ExitOutcome::Done,
        RunStatus::Interrupted | RunStatus::Failed => ExitOutcome::Interrupted,
    }
}

/// Prints how the run went, the verdicts on its expectations, and the folder of its results.
fn report(summary: &Summary, folder: &Path, quiet: bool) {
    if summary.status == RunStatus::Interrupted {
        let time = short(summary.simulated_seconds);
        note!("interrupted at t = {time} s; results until then are kept, and --resume goes on from there");
    }
    if let Some(message) = &summary.message {
        note!("warning: {message}");
    }
    let precision = summary.engine.precision;
    if quiet {
        let missed = summary.expectations.iter().filter(|verdict| verdict.verdict == Judgement::Missed);
        missed.for_each(|verdict| note!("{}", line(verdict, precision)));
        return;
    }
    say!(
        "{} steps, {} s simulated in {:.2} s ({:.0} steps/s), {} grains",
        summary.steps,
        short(summary.simulated_seconds),
        summary.wall_seconds,
        summary.steps_per_second,
        summary.counts.grains
    );
    summary.expectations.iter().for_each(|verdict| say!("{}", line(verdict, precision)));
    say!("results in {}", folder.display());
}

/// An expectation on one line: `missed   height: expected 0.3 ± 0.01, found 0.4, error 0.1, tolerance 0.01`.
fn line(verdict: &Verdict, precision: Precision) -> String {
    let names_itself = format!("{} ", verdict.quantity).starts_with(&format!("{} ", verdict.label));
    let label = if names_itself { String::new() } else { format!("{}: ", verdict.label) };
    let expected = match verdict.expected.is_empty() {
        true => String::new(),
        false => format!("expected {}, ", verdict.expected_with_tolerance()),
    };
    let found = verdict.found_in_words();
    let single = match (precision, verdict.verdict, verdict.tolerance) {
        (Precision::Single, Judgement::Missed, Some(_)) => {
            "; this engine is in single precision: `single` sets its tolerance"
        }
        _ => "",
    };
    let reason = verdict.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!("{:<8} {label}{}: {expected}{found}{reason}{single}", verdict.verdict.word(), verdict.quantity)
}
