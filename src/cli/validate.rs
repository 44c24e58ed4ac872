//! `esker validate`: a suite of scenarios with known answers, on the chosen engine.

use std::path::{Path, PathBuf};

use crate::engine::Identity;
use crate::observe::expectation::Verdict;
use crate::output;
use crate::output::lock::{FolderLock, Sharing};
use crate::scenario::Scenario;
use crate::scenario::suite::{CaseClass, Suite, SuiteCase};
use crate::validation::{self, CaseReport, RunReport, SuiteEvent, SuiteReport};

use super::terminal::say;
use super::{DeviceChoice, ExitOutcome, Failure, open, short};

/// Arguments of `esker validate`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Suite file [default: the one that comes with the program].
    suite: Option<PathBuf>,
    /// Where to run; may be repeated, for a report of several engines.
    #[arg(long = "device", value_enum, default_value = "auto")]
    devices: Vec<DeviceChoice>,
    /// Run only the case of this name; may be repeated.
    #[arg(long = "case", value_name = "NAME")]
    cases: Vec<String>,
    /// Run long cases as well.
    #[arg(long)]
    long: bool,
    /// List the cases and run none.
    #[arg(long)]
    pub(super) list: bool,
    /// Folder for validation.json, validation.md and the results of every case.
    #[arg(long, value_name = "DIR", default_value = "out/validation")]
    out: PathBuf,
}

/// Runs a suite, or lists its cases.
pub(super) fn validate(arguments: &Arguments) -> Result<ExitOutcome, Failure> {
    let unpacked = tempfile::tempdir().map_err(crate::error::Error::file(std::env::temp_dir()))?;
    let file = match &arguments.suite {
        Some(file) => file.clone(),
        None => validation::unpack(unpacked.path())?,
    };
    let suite = Suite::load(&file)?;
    let cases = suite.select(&arguments.cases, arguments.long || arguments.list)?;
    if arguments.list {
        cases.iter().for_each(|case| say!("{}", listed(case)));
        return Ok(ExitOutcome::Done);
    }
    let plan = validation::plan(&cases)?;
    output::check_folder(&arguments.out)?;
    for folder in folders(arguments) {
        validation::check_inputs(&folder, &suite, &plan)?;
    }
    let _lock = FolderLock::take(&arguments.out, Sharing::Alone)?;
    let run = |device: DeviceChoice, folder: &Path| {
        let open = |scenario: &Scenario| open(device, scenario);
        say!("{}", row(&["case", "number", "expected", "found", "error", "tolerance", "verdict"]));
        let report = validation::run(&suite.title, &plan, &open, folder, &mut |event| tell(&event))?;
        Ok::<_, Failure>((conclude(&report, folder), report))
    };
    if let [device] = arguments.devices[..] {
        return Ok(run(device, &arguments.out)?.0);
    }
    let (mut reports, mut outcomes) = (Vec::new(), Vec::new());
    for (&device, folder) in arguments.devices.iter().zip(folders(arguments)) {
        let (outcome, report) = run(device, &folder)?;
        reports.push(report);
        outcomes.push(outcome);
        // The reports are written after each engine: the next engine may take an hour.
        validation::write_all(&reports, &arguments.out)?;
    }
    say!("all reports in {}", arguments.out.display());
    Ok(worst(outcomes))
}

/// Folders for the reports of the engines. A single engine gets the whole folder, several get a subfolder each.
fn folders(arguments: &Arguments) -> Vec<PathBuf> {
    let Arguments { devices, out, .. } = arguments;
    match devices.len() {
        1 => vec![out.clone()],
        _ => devices.iter().map(|device| out.join(device.word())).collect(),
    }
}

/// The worst of several outcomes: a run that failed or was interrupted, then a missed expectation, then success.
fn worst(outcomes: Vec<ExitOutcome>) -> ExitOutcome {
    let rank = |outcome: &ExitOutcome| match outcome {
        ExitOutcome::Done => 0,
        ExitOutcome::ExpectationMissed => 1,
        _ => 2,
    };
    outcomes.into_iter().max_by_key(rank).unwrap_or(ExitOutcome::Done)
}

fn listed(case: &SuiteCase) -> String {
    let class = if case.class == CaseClass::Long { "long" } else { "" };
    format!("{:<20} {class:<6} {}", case.name, case.title)
}

fn tell(event: &SuiteEvent<'_>) {
    match event {
        SuiteEvent::Ran(case, run) => tell_run(&case.name, run),
        SuiteEvent::Ended(case) => tell_case(case),
    }
}

fn tell_run(case: &str, run: &RunReport) {
    if let Some(failure) = &run.failure {
        say!("{}", row(&[case, &run.variation, "", "", "", "", &format!("failed: {failure}")]));
    }
    run.expectations.iter().for_each(|verdict| say!("{}", line(case, &run.name_of(verdict), verdict)));
}

fn tell_case(case: &CaseReport) {
    case.across.iter().for_each(|verdict| say!("{}", line(&case.name, &verdict.quantity, verdict)));
    match case.skipped {
        true => say!("{:<18} left out: it is not for this engine", case.name),
        false => say!("{:<18} {:.2} s", case.name, case.wall_seconds),
    }
}

/// A verdict as a row of the table.
fn line(case: &str, number: &str, verdict: &Verdict) -> String {
    let cell = |number: Option<f64>| number.map(short).unwrap_or_default();
    let reason = verdict.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let judgement = format!("{}{reason}", verdict.verdict.word());
    let (found, error, tolerance) = (cell(verdict.found), cell(verdict.error), cell(verdict.tolerance));
    row(&[case, number, &verdict.expected, &found, &error, &tolerance, &judgement])
}

fn row([case, number, expected, found, error, tolerance, verdict]: &[&str; 7]) -> String {
    format!("{case:<18} {number:<36} {expected:<16} {found:<12} {error:<10} {tolerance:<10} {verdict}")
}

/// Prints the tally of a report, and returns the outcome.
fn conclude(report: &SuiteReport, folder: &Path) -> ExitOutcome {
    let tally = report.tally();
    let on = report.engine.as_ref().map(Identity::to_string).unwrap_or_default();
    let left_out = match tally.left_out {
        0 => String::new(),
        cases => format!(", {cases} cases left out (not for this engine)"),
    };
    say!(
        "{} met, {} missed, {} shown, {} runs failed{left_out}, in {:.1} s on {on}",
        tally.met,
        tally.missed,
        tally.shown,
        tally.failures,
        report.wall_seconds
    );
    say!("report in {}", folder.display());
    match (tally.failures, tally.missed) {
        (0, 0) => ExitOutcome::Done,
        (0, _) => ExitOutcome::ExpectationMissed,
        _ => ExitOutcome::RunFailed,
    }
}
