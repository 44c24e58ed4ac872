//! Validation: a suite of scenarios with known answers is run on one engine and judged.
//!
//! ```text
//! Suite ─► plan ─► for each case, for each variation: open engine ─► simulation::run ─► verdicts ─┬─► Report
//!                                         └ then, of the case: verdicts across its variations ────┘
//! ```
//!
//! The suite that comes with the program is in `scenarios/validation/`; [`unpack`] writes it to a folder. The [`SuiteReport`] is written as
//! `validation.json` and as a section of Markdown.

mod files;
mod markdown;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::Serialize;

use crate::engine::{Engine, Identity, Precision, Snapshot, StepReport};
use crate::error::Error;
use crate::error::suggest;
use crate::observe::Observer;
use crate::observe::expectation::{Judgement, Verdict, in_direction};
use crate::observe::series::{self, SeriesPoint};
use crate::output;
use crate::output::atomic;
use crate::output::lock::refuse_link;
use crate::output::summary::Summary;
use crate::scenario::suite::{Across, CaseClass, Engines, Suite, SuiteCase, TakeAcross, Variation};
use crate::scenario::{Problem, Problems, Scenario};
use crate::settings::Bookkeeping;
use crate::simulation::{self, RunOptions};

/// Names of the files of a report.
const REPORTS: [&str; 2] = ["validation.json", "validation.md"];

/// Report on a suite on one engine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SuiteReport {
    /// Version of this program.
    pub esker: &'static str,
    /// Commit that it was built from; "unknown" outside of a repository and in debug builds.
    pub commit: &'static str,
    /// Title of the suite.
    pub suite: String,
    /// Engine that ran the suite; absent if no case ran.
    pub engine: Option<Identity>,
    /// Reports on the cases, in the order of the suite.
    pub cases: Vec<CaseReport>,
    /// Wall time of the whole suite \[s\].
    pub wall_seconds: f64,
}

/// Report on a case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseReport {
    /// Name of the case.
    pub name: String,
    /// Title line: what the case shows.
    pub title: String,
    /// Source of the known answers.
    pub source: String,
    /// Duration class of the case.
    pub class: CaseClass,
    /// Known difference from the answers, if there is one.
    pub limit: Option<String>,
    /// Whether the case was left out because it is not for this engine.
    pub skipped: bool,
    /// Reports on the runs, one per variation.
    pub runs: Vec<RunReport>,
    /// Verdicts across the runs.
    pub across: Vec<Verdict>,
    /// Wall time of all runs of the case \[s\].
    pub wall_seconds: f64,
}

/// Report on one run of a case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// Label that distinguishes the run from others of the case; empty if there is only one run.
    pub variation: String,
    /// Error message, if the run failed.
    pub failure: Option<String>,
    /// Verdicts on the expectations; empty for a run that failed.
    pub expectations: Vec<Verdict>,
    /// Wall time of the run, including the making of the engine \[s\].
    pub wall_seconds: f64,
}

/// Number of verdicts of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VerdictTally {
    /// Numbers within their bounds.
    pub met: usize,
    /// Numbers outside of their bounds, or that do not exist.
    pub missed: usize,
    /// Numbers that are only shown.
    pub shown: usize,
    /// Runs that failed.
    pub failures: usize,
    /// Cases that are not for this engine.
    pub left_out: usize,
}

/// Case with the scenarios of its runs, ready to be run.
#[derive(Debug)]
pub struct Planned<'a> {
    case: &'a SuiteCase,
    runs: Vec<(&'a Variation, Scenario)>,
}

/// Event during the run of a suite.
#[derive(Debug, Clone, Copy)]
pub enum SuiteEvent<'a> {
    /// Finished run of a case.
    Ran(&'a SuiteCase, &'a RunReport),
    /// Finished case.
    Ended(&'a CaseReport),
}

/// Function that makes an engine at the initial state of a scenario.
pub type Open<'a> = dyn Fn(&Scenario) -> Result<Box<dyn Engine>, Error> + 'a;

/// Writes the suite that comes with the program into a folder and returns the path of the suite file.
///
/// # Errors
/// When a file cannot be written.
pub fn unpack(folder: &Path) -> Result<PathBuf, Error> {
    for (name, text) in files::FILES {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(Error::file(parent))?;
        }
        fs::write(&path, text).map_err(Error::file(&path))?;
    }
    Ok(folder.join(files::SUITE))
}

/// Reads the scenarios of cases, so that all mistakes are known before anything runs.
///
/// # Errors
/// The mistakes of the first case that is wrong: mistakes in its scenarios, no expectations, or judgements across runs of a quantity that
/// does not exist.
pub fn plan<'a>(cases: &[&'a SuiteCase]) -> Result<Vec<Planned<'a>>, Problems> {
    cases.iter().map(|case| plan_one(case)).collect()
}

fn plan_one(case: &SuiteCase) -> Result<Planned<'_>, Problems> {
    let scenarios = case.scenarios()?;
    let is_judged = |scenario: &Scenario| !case.across.is_empty() || !scenario.expectations.is_empty();
    if !scenarios.iter().all(is_judged) {
        let nothing =
            Problem::of(case.file.display().to_string(), "expects nothing, so the case shows nothing");
        let help = "add [expect] to the scenario, or [[case.across]] to the case";
        return Err(Problems::new(&case.name, vec![nothing.help(help)]));
    }
    let problems: Vec<Problem> =
        scenarios.first().filter(|_| !case.across.is_empty()).map_or_else(Vec::new, |scenario| {
            let observer = observer(scenario);
            case.across.iter().filter_map(|across| unknown(across, scenario, &observer, case)).collect()
        });
    match problems.is_empty() {
        true => Ok(Planned { case, runs: case.variations.iter().zip(scenarios).collect() }),
        false => Err(Problems::new(&case.name, problems)),
    }
}

/// Reports a judgement of a quantity that no run has.
fn unknown(across: &Across, scenario: &Scenario, observer: &Observer, case: &SuiteCase) -> Option<Problem> {
    let labels = scenario.expectations.iter().map(|expectation| expectation.label.as_str());
    let columns = observer.columns().iter().map(|column| column.name.as_str());
    let known: Vec<&str> = labels.chain(columns).collect();
    let message =
        format!("`across` of \"{}\": no expectation has this label, nor is it a quantity", across.of);
    let is_known = known.contains(&across.of.as_str());
    (!is_known).then(|| Problem::of(&case.name, message).help(suggest(&across.of, known)))
}

/// Creates the observer of a run of the scenario; its column names are needed.
fn observer(scenario: &Scenario) -> Observer {
    let first = || {
        let (world, substep) = (scenario.world.clone(), scenario.settings.substep());
        Snapshot::new(world, Vec::new(), substep, StepReport::default())
    };
    let has_energies = scenario.settings.bookkeeping == Bookkeeping::On;
    simulation::observer(scenario, has_energies.then(first).as_ref())
}

/// Runs cases on engines made by `open`, each in its own folder below `folder`, and writes the report there after every case. A run that
/// fails is reported, and the others continue. `watch` is called after every run and case.
///
/// # Errors
/// When the first engine cannot be made, or the report cannot be written.
pub fn run(
    suite: &str,
    plan: &[Planned<'_>],
    open: &Open<'_>,
    folder: &Path,
    watch: &mut dyn FnMut(SuiteEvent<'_>),
) -> Result<SuiteReport, Error> {
    let start = Instant::now();
    let mut report = SuiteReport {
        esker: env!("CARGO_PKG_VERSION"),
        commit: env!("ESKER_COMMIT"),
        suite: suite.to_owned(),
        engine: None,
        cases: Vec::new(),
        wall_seconds: 0.0,
    };
    for planned in plan {
        let mut case = CaseReport::begin(planned.case);
        let mut outcomes = Vec::new();
        for (i, (variation, scenario)) in planned.runs.iter().enumerate() {
            let begun = Instant::now();
            let engine = match open(scenario) {
                Err(error) if report.engine.is_none() => return Err(error),
                opened => opened,
            };
            let identity = engine.as_ref().ok().map(|engine| engine.identity());
            let precision = identity.as_ref().map(|identity| identity.precision);
            report.engine = report.engine.take().or(identity);
            if planned.case.engines == Engines::Cpu && precision == Some(Precision::Single) {
                case.skipped = true;
                break;
            }
            refuse_link(&folder.join(&planned.case.name))?;
            let folder = folder_of(folder, planned, i);
            let summary = engine.and_then(|mut engine| run_one(scenario, engine.as_mut(), &folder));
            let run = RunReport::of(variation, &summary, begun.elapsed().as_secs_f64());
            watch(SuiteEvent::Ran(planned.case, &run));
            case.runs.push(run);
            outcomes.push((*variation, summary.ok()));
        }
        if !case.skipped {
            let precision = report.engine.as_ref().map_or(Precision::Double, |identity| identity.precision);
            case.across =
                planned.case.across.iter().map(|across| judge(across, &outcomes, precision)).collect();
        }
        case.wall_seconds = case.runs.iter().map(|run| run.wall_seconds).sum();
        watch(SuiteEvent::Ended(&case));
        report.cases.push(case);
        report.wall_seconds = start.elapsed().as_secs_f64();
        // The report is written after every case, because a suite may take hours.
        report.write(folder)?;
    }
    Ok(report)
}

/// Refuses a folder in which the report or a run would replace one of the files that are read.
///
/// # Errors
/// [`Error::InputAtRisk`], with the first such file.
pub fn check_inputs(folder: &Path, suite: &Suite, plan: &[Planned<'_>]) -> Result<(), Error> {
    let read = plan.iter().flat_map(|planned| &planned.runs).flat_map(|(_, scenario)| scenario.inputs.iter());
    let inputs: Vec<PathBuf> = read.chain([&suite.file]).cloned().collect();
    output::protect(folder, &inputs, |name| REPORTS.contains(&name))?;
    let of_runs = plan.iter().flat_map(|planned| (0..planned.runs.len()).map(move |i| (planned, i)));
    let mut folders = of_runs.map(|(planned, i)| folder_of(folder, planned, i));
    folders.try_for_each(|folder| output::check_inputs(&folder, &inputs, output::Resumes::No))
}

fn run_one(scenario: &Scenario, engine: &mut dyn Engine, folder: &Path) -> Result<Summary, Error> {
    refuse_link(folder)?;
    let never = AtomicBool::new(false);
    let options = RunOptions::new(folder, &never);
    simulation::run(scenario, engine, options, &mut |_| ())
}

/// Folder of the results of the `i`-th run of a case.
fn folder_of(folder: &Path, planned: &Planned<'_>, i: usize) -> PathBuf {
    let folder = folder.join(&planned.case.name);
    if planned.runs.len() == 1 { folder } else { folder.join(i.to_string()) }
}

/// Judges how a number changes from run to run.
fn judge(across: &Across, outcomes: &[(&Variation, Option<Summary>)], precision: Precision) -> Verdict {
    let verdict = blank(across, precision);
    let values: Option<Vec<f64>> =
        outcomes.iter().map(|(_, summary)| found(&across.of, summary.as_ref()?)).collect();
    let number = match values {
        Some(values) => {
            let numbers = outcomes.iter().map(|(variation, _)| variation.number.unwrap_or(f64::NAN));
            take_across(across.take, &numbers.zip(values).collect::<Vec<_>>())
        }
        None => f64::NAN,
    };
    match number.is_finite() {
        true => verdict.found(number, &across.bounds, precision),
        false => Verdict { reason: Some("not every run came to a number".to_owned()), ..verdict },
    }
}

/// Verdict before the number is known.
fn blank(across: &Across, precision: Precision) -> Verdict {
    let blank = |quantity| Verdict::blank(across.of.clone(), quantity, &across.bounds, precision);
    let word = across.take.word();
    match across.take {
        TakeAcross::Rises | TakeAcross::Falls => Verdict {
            expected: in_direction(word, &across.bounds),
            ..blank(format!("{} from run to run", across.of))
        },
        _ => blank(format!("{word} of {} over the runs", across.of)),
    }
}

/// Returns the number that a run found for an expectation, or a quantity at its end.
fn found(of: &str, summary: &Summary) -> Option<f64> {
    match summary.expectations.iter().find(|verdict| verdict.label == of) {
        Some(verdict) => verdict.found,
        None => summary.observables.get(of),
    }
}

/// Reduces the values over the varied numbers to one number.
fn take_across(take: TakeAcross, points: &[SeriesPoint]) -> f64 {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return f64::NAN };
    match take {
        TakeAcross::Rises => series::largest_drop(points),
        TakeAcross::Falls => series::largest_climb(points),
        TakeAcross::Exponent { offset } => {
            let moved: Vec<SeriesPoint> = points.iter().map(|&(x, value)| (x - offset, value)).collect();
            series::exponent(&moved)
        }
        TakeAcross::Spread => series::spread(points),
        TakeAcross::Ratio => last.1 / first.1,
        TakeAcross::Mean => points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64,
    }
}

impl CaseReport {
    fn begin(case: &SuiteCase) -> CaseReport {
        CaseReport {
            name: case.name.clone(),
            title: case.title.clone(),
            source: case.source.clone(),
            class: case.class,
            limit: case.limit.clone(),
            skipped: false,
            runs: Vec::new(),
            across: Vec::new(),
            wall_seconds: 0.0,
        }
    }
}

impl RunReport {
    fn of(variation: &Variation, summary: &Result<Summary, Error>, wall_seconds: f64) -> RunReport {
        let (failure, expectations) = match summary {
            Ok(summary) => (None, summary.expectations.clone()),
            Err(error) => (Some(error.to_string()), Vec::new()),
        };
        RunReport { variation: variation.label.clone(), failure, expectations, wall_seconds }
    }

    /// Returns the label of a verdict, followed by the variation of this run if there are several.
    pub fn name_of(&self, verdict: &Verdict) -> String {
        match self.variation.as_str() {
            "" => verdict.label.clone(),
            variation => format!("{}, {variation}", verdict.label),
        }
    }
}

impl SuiteReport {
    /// Counts the verdicts by kind.
    pub fn tally(&self) -> VerdictTally {
        let mut tally = VerdictTally::default();
        for case in &self.cases {
            tally.left_out += usize::from(case.skipped);
            tally.failures += case.runs.iter().filter(|run| run.failure.is_some()).count();
            let of_runs = case.runs.iter().flat_map(|run| &run.expectations);
            for verdict in of_runs.chain(&case.across) {
                match verdict.verdict {
                    Judgement::Met => tally.met += 1,
                    Judgement::Shown => tally.shown += 1,
                    Judgement::Missed | Judgement::NotReached => tally.missed += 1,
                }
            }
        }
        tally
    }

    /// Returns the report as a section of Markdown.
    pub fn markdown(&self) -> String {
        markdown::section(self)
    }

    /// Writes `validation.json` and `validation.md` into a folder.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
        atomic::write(&folder.join(REPORTS[0]), |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            out.write_all(b"\n")
        })?;
        atomic::write(&folder.join(REPORTS[1]), |out| out.write_all(self.markdown().as_bytes()))
    }
}

/// Writes the reports on several engines into one `validation.md`.
///
/// # Errors
/// When the file cannot be written.
pub fn write_all(reports: &[SuiteReport], folder: &Path) -> Result<(), Error> {
    let sections: Vec<String> = reports.iter().map(SuiteReport::markdown).collect();
    atomic::write(&folder.join(REPORTS[1]), |out| out.write_all(sections.join("\n").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_number_does_from_run_to_run_becomes_a_number() {
        // value = 3 (x - 1)²: 3, 12, 27
        let points = [(2.0, 3.0), (3.0, 12.0), (4.0, 27.0)];
        let close = |take, expected: f64| {
            approx::assert_relative_eq!(take_across(take, &points), expected, max_relative = 1e-12);
        };
        close(TakeAcross::Exponent { offset: 1.0 }, 2.0);
        close(TakeAcross::Spread, 24.0);
        close(TakeAcross::Ratio, 9.0);
        close(TakeAcross::Mean, 14.0);
        close(TakeAcross::Rises, 0.0);
        close(TakeAcross::Falls, 15.0);
        assert!(take_across(TakeAcross::Exponent { offset: 3.0 }, &points).is_nan());
    }
}
