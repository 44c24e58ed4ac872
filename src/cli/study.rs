//! `esker study`: a scenario with all combinations of some settings.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::output;
use crate::output::lock::{FolderLock, Sharing};
use crate::scenario::Scenario;
use crate::scenario::study::{Size, Study};
use crate::study::report::{Judged, StudyReport};
use crate::study::{self, Done, Options, Shard, StudyEvent, plan};

use super::device::OpenEngines;
use super::interrupt::{INTERRUPT, listen_for_interrupt};
use super::progress::StudyDisplay;
use super::terminal::{note, say};
use super::{DeviceChoice, ExitOutcome, Failure, short};

/// Arguments of `esker study`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Study file.
    file: PathBuf,
    /// Where to run.
    #[arg(long, value_enum, default_value = "auto")]
    device: DeviceChoice,
    /// Folder for the results [default: out/studies/<study>]; runs in it that are over are not made again.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Take the lists of [full], where there are any.
    #[arg(long)]
    full: bool,
    /// Make only part k of n of the runs, and no report.
    #[arg(long, value_name = "K/N", value_parser = parse_shard)]
    shard: Option<Shard>,
    /// Make no runs; report on those that are over.
    #[arg(long, conflicts_with = "shard")]
    report: bool,
    /// List the runs and make none.
    #[arg(long)]
    pub(super) list: bool,
}

/// Makes the runs of a study that are not over, and writes the report.
pub(super) fn study(arguments: &Arguments) -> Result<ExitOutcome, Failure> {
    let size = if arguments.full { Size::Full } else { Size::Quick };
    let study = Study::load(&arguments.file, size)?;
    let runs = plan::runs(&study)?;
    let folder = arguments.out.clone().unwrap_or_else(|| Path::new("out/studies").join(&study.name));
    output::check_folder(&folder)?;
    study::check_inputs(&folder, &study)?;
    let done = Done::load(&folder)?;
    let wanted = match arguments.shard {
        Some(shard) => shard.deal(&runs),
        None => runs.iter().collect(),
    };
    if arguments.list {
        wanted.iter().for_each(|run| {
            say!("{}  {}", if done.record(run).is_some() { "over" } else { "    " }, run.label)
        });
        return Ok(ExitOutcome::Done);
    }
    let _lock = FolderLock::take(&folder, sharing(arguments))?;
    tell_what_is_there(&study, &runs, &wanted, &done, &folder);
    let open: Vec<&plan::StudyRun> =
        wanted.iter().copied().filter(|run| done.record(run).is_none()).collect();
    let is_complete = arguments.report || open.is_empty() || make(arguments, &study, &runs, &open, &folder)?;
    if !is_complete {
        note!("interrupted; the same command goes on from here");
    }
    if arguments.shard.is_some() {
        say!(
            "records in {}; gather all parts with `esker study {} --report`",
            folder.display(),
            arguments.file.display()
        );
        return Ok(if is_complete { ExitOutcome::Done } else { ExitOutcome::Interrupted });
    }
    let report = StudyReport::new(&study, &runs, &Done::load(&folder)?)?;
    report.write(&folder)?;
    Ok(conclude(&report, &folder, is_complete))
}

/// Sharing of the folder: parts of a study, and reports on the runs so far, may use it at the same time.
fn sharing(arguments: &Arguments) -> Sharing {
    if arguments.shard.is_some() || arguments.report { Sharing::WithParts } else { Sharing::Alone }
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let parsed = text
        .split_once('/')
        .and_then(|(part, parts)| Some(Shard { part: part.parse().ok()?, parts: parts.parse().ok()? }));
    match parsed {
        Some(shard) if (1..=shard.parts).contains(&shard.part) => Ok(shard),
        _ => Err("expected k/n with k from 1 to n, such as 2/8".to_owned()),
    }
}

/// Prints how many runs there are, and how many records in the folder belong to other settings or an earlier version of the study.
fn tell_what_is_there(
    study: &Study,
    runs: &[plan::StudyRun],
    wanted: &[&plan::StudyRun],
    done: &Done,
    folder: &Path,
) {
    let over = wanted.iter().filter(|run| done.record(run).is_some()).count();
    note!("{}: {} runs, {over} of them over", study.title, wanted.len());
    let strangers = done.strangers(runs);
    if strangers > 0 {
        note!(
            "{strangers} records in {} are of other settings, or of the study or scenario before it was changed: they are \
             left alone and not used",
            folder.join("runs").display()
        );
    }
}

/// Makes the runs that are not over; returns whether all came to an end.
fn make(
    arguments: &Arguments,
    study: &Study,
    runs: &[plan::StudyRun],
    wanted: &[&plan::StudyRun],
    folder: &Path,
) -> Result<bool, Failure> {
    let scenario = |run: &&plan::StudyRun| study::load(study, run);
    let engines = OpenEngines::new(arguments.device, wanted.iter().map(scenario))?;
    listen_for_interrupt();
    let display = Mutex::new(StudyDisplay::new());
    let over = Mutex::new(0);
    let open = |scenario: &Scenario| engines.open(scenario);
    let watch = |event: StudyEvent<'_>| {
        let mut display = display.lock().unwrap_or_else(PoisonError::into_inner);
        let mut over = over.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            StudyEvent::Advanced(share) => display.advance(share, &format!("{over} runs made")),
            StudyEvent::Ran(run, record) => {
                *over += 1;
                if let Some(failure) = &record.failure {
                    display.tell(&format!("failed: {}: {failure}", run.label));
                }
            }
        }
    };
    let options = Options { folder, interrupt: &INTERRUPT, at_once: engines.at_once() };
    let result = study::execute(study, runs, wanted, &open, &options, &watch);
    display.lock().unwrap_or_else(PoisonError::into_inner).finish();
    Ok(result?)
}

/// Prints the findings of the report, and returns the outcome.
fn conclude(report: &StudyReport, folder: &Path, is_complete: bool) -> ExitOutcome {
    for Judged { statement, verdict, .. } in &report.findings {
        say!("{:<8} {statement}", verdict.verdict.word());
        let reason = verdict.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let expected = verdict.expected_with_tolerance();
        let expected = if expected.is_empty() { expected } else { format!("expected {expected}, ") };
        say!("         {}: {expected}{}{reason}", verdict.label, verdict.found_in_words());
    }
    let tally = report.tally();
    say!(
        "{} runs, {} not over, {} failed, {} s of wall time in all; {} findings met, {} missed, {} shown",
        report.runs,
        report.pending,
        report.failures.len(),
        short(report.wall_seconds.round()),
        tally.met,
        tally.missed,
        tally.shown
    );
    say!("report in {}", folder.join("report.md").display());
    match (is_complete, tally.missed) {
        (false, _) => ExitOutcome::Interrupted,
        // Settings with which grains explode are a result as well: the findings decide whether that matters.
        (true, 0) => ExitOutcome::Done,
        (true, _) => ExitOutcome::ExpectationMissed,
    }
}
