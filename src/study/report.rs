//! Report of a study: tables, findings, plots.

use std::io;
use std::path::Path;

use serde::Serialize;

use crate::engine::Precision;
use crate::error::{Error, suggest};
use crate::files::open_table;
use crate::observe::expectation::{Judgement, Verdict};
use crate::scenario::study::{AxisScale, Curves, Finding, Operand, Plot, Study, WORK};

use super::Done;
use super::draw::{DrawnCurve, Figure};
use super::evaluate::{StudyValues, of_record};
use super::plan::{Stand, StudyRun};
use super::record::Ran;
use super::table::{AxisPlace, places};

/// Report of a study; its serialised form is `results.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudyReport {
    /// Version of this program.
    pub esker: &'static str,
    /// Title of the study.
    pub title: String,
    /// Paragraph at the head of the report.
    pub about: Option<String>,
    /// Engines and devices of the runs; several if the study was split into parts.
    pub engines: Vec<Ran>,
    /// Number of runs, references included.
    pub runs: usize,
    /// Number of runs that are not finished.
    pub pending: usize,
    /// Labels of the failed runs, with the reasons.
    pub failures: Vec<(String, String)>,
    /// Wall time of all runs together \[s\].
    pub wall_seconds: f64,
    /// Findings with their verdicts.
    pub findings: Vec<Judged>,
    /// Numbers over the axes that they depend on; numbers with one value per run are in `results.csv`.
    pub numbers: Vec<Tabled>,
    /// Names of the plots with their titles.
    pub plots: Vec<(String, String)>,
    #[serde(skip)]
    pub(super) drawings: Vec<Figure>,
    #[serde(skip)]
    pub(super) rows: Vec<Vec<String>>,
}

/// Finding with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// The statement.
    pub statement: String,
    /// Note below the verdict.
    pub note: Option<String>,
    /// Verdict on its number.
    pub verdict: Verdict,
}

/// Number with a value for every combination of the axes it depends on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tabled {
    /// Name in the study file.
    pub name: String,
    /// Display name.
    pub label: String,
    /// Names of the axes.
    pub axes: Vec<String>,
    /// Values of the axes, and the number there; `null` if it is missing.
    pub cells: Vec<(Vec<String>, Option<f64>)>,
    /// Remarks on numbers that are missing or incomplete.
    pub remarks: Vec<String>,
}

/// Number of findings by verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FindingTally {
    /// Findings within their bounds.
    pub met: usize,
    /// Findings outside of their bounds, or without a number.
    pub missed: usize,
    /// Findings that are only shown.
    pub shown: usize,
}

impl StudyReport {
    /// Creates the report from the finished runs.
    ///
    /// # Errors
    /// When a file that a run should have left cannot be read.
    pub fn new(study: &Study, runs: &[StudyRun], done: &Done) -> Result<StudyReport, Error> {
        let values = StudyValues::new(study, runs, done);
        let records: Vec<_> = runs.iter().filter_map(|run| Some((run, done.record(run)?))).collect();
        let mut engines: Vec<Ran> = records.iter().map(|(_, record)| record.engine.clone()).collect();
        engines.sort();
        engines.dedup();
        let precision = match engines.iter().any(|ran| ran.precision == Precision::Single) {
            true => Precision::Single,
            false => Precision::Double,
        };
        let failure = |(run, record): &(&StudyRun, &super::record::RunRecord)| {
            Some((run.label.clone(), record.failure.clone()?))
        };
        let drawings = study.plots.iter().map(|plot| figure(plot, study, &values, runs, done));
        Ok(StudyReport {
            esker: env!("CARGO_PKG_VERSION"),
            title: study.title.clone(),
            about: study.about.clone(),
            engines,
            runs: runs.len(),
            pending: runs.len() - records.len(),
            failures: records.iter().filter_map(failure).collect(),
            // The sum of an empty list is -0.
            wall_seconds: records.iter().map(|(_, record)| record.wall_seconds).sum::<f64>().abs(),
            findings: study.findings.iter().map(|finding| judge(finding, &values, precision)).collect(),
            numbers: (0..study.numbers.len())
                .filter(|&i| !is_of_every_run(study, i))
                .map(|i| tabled(i, study, &values))
                .collect(),
            plots: study.plots.iter().map(|plot| (plot.file.clone(), plot.title.clone())).collect(),
            drawings: drawings.collect::<Result<_, _>>()?,
            rows: rows(study, &values, runs, done),
        })
    }

    /// Counts the findings by verdict.
    pub fn tally(&self) -> FindingTally {
        let mut tally = FindingTally::default();
        for finding in &self.findings {
            match finding.verdict.verdict {
                Judgement::Met => tally.met += 1,
                Judgement::Shown => tally.shown += 1,
                Judgement::Missed | Judgement::NotReached => tally.missed += 1,
            }
        }
        tally
    }
}

/// Judges a finding.
fn judge(finding: &Finding, values: &StudyValues<'_>, precision: Precision) -> Judged {
    let cell = values.cell(&finding.number, &vec![0; values.lengths().len()]);
    let name = finding.number.name.clone();
    let blank = Verdict::blank(name.clone(), name, &finding.bounds, precision);
    let verdict = match cell.number {
        Some(number) => blank.found(number, &finding.bounds, precision),
        None => blank,
    };
    let verdict = Verdict { reason: cell.remark, ..verdict };
    Judged { statement: finding.statement.clone(), note: finding.note.clone(), verdict }
}

/// Tabulates a number for every combination of its axes.
fn tabled(i: usize, study: &Study, values: &StudyValues<'_>) -> Tabled {
    let (number, table) = (&study.numbers[i], values.number(i));
    let at = places(&table.axes, values.lengths());
    let words = |place: &AxisPlace| {
        table.axes.iter().map(|&axis| study.axes[axis].values[place[axis]].label.clone()).collect()
    };
    let remark = |place: &AxisPlace| {
        let remark = table.at(place).remark.clone()?;
        let place: Vec<String> = words(place);
        Some(if place.is_empty() { remark } else { format!("{}: {remark}", place.join(", ")) })
    };
    Tabled {
        name: number.name.clone(),
        label: study.label(&number.name).to_owned(),
        axes: table.axes.iter().map(|&axis| study.axes[axis].name.clone()).collect(),
        cells: at.iter().map(|place| (words(place), table.at(place).number)).collect(),
        remarks: at.iter().filter_map(remark).collect(),
    }
}

/// Returns whether a number has a value for every combination.
fn is_of_every_run(study: &Study, number: usize) -> bool {
    study.numbers[number].axes.len() == study.axes.len()
}

/// Rows of `results.csv`: a header, and one row per finished run. A number of the study has a column if it has one value per run.
fn rows(study: &Study, values: &StudyValues<'_>, runs: &[StudyRun], done: &Done) -> Vec<Vec<String>> {
    let per_run: Vec<usize> = (0..study.numbers.len()).filter(|&i| is_of_every_run(study, i)).collect();
    let axes = study.axes.iter().map(|axis| axis.name.clone());
    let columns: Vec<&str> = study.keep.iter().map(|kept| kept.label.as_str()).chain(WORK).collect();
    let numbers = per_run.iter().map(|&i| study.numbers[i].name.clone());
    let ends = ["run".to_owned(), "failure".to_owned()];
    let head = ["reference".to_owned()].into_iter().chain(axes);
    let head =
        head.chain(columns.iter().map(|&column| column.to_owned())).chain(numbers).chain(ends).collect();
    let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let row = |run: &StudyRun| {
        let record = done.record(run)?;
        let (reference, place, axes) = match &run.stand {
            Stand::At(place) => (String::new(), place, (0..place.len()).collect()),
            Stand::Reference(i, place) => {
                (study.references[*i].name.clone(), place, study.references[*i].axes.clone())
            }
        };
        let value = |axis: usize| match axes.contains(&axis) {
            true => study.axes[axis].values[place[axis]].label.clone(),
            false => String::new(),
        };
        let kept = columns.iter().map(|column| number(of_record(record, column).number));
        let is_reference = !reference.is_empty();
        let made = per_run.iter().map(|&i| match is_reference {
            true => String::new(),
            false => number(values.number(i).at(place).number),
        });
        let folder = done.folder(run).and_then(Path::file_name).unwrap_or_default();
        let ends = [folder.to_string_lossy().into_owned(), record.failure.clone().unwrap_or_default()];
        let begin = [reference].into_iter().chain((0..study.axes.len()).map(value));
        Some(begin.chain(kept).chain(made).chain(ends).collect())
    };
    [head].into_iter().chain(runs.iter().filter_map(row)).collect()
}

/// Makes the figure of a plot.
fn figure(
    plot: &Plot,
    study: &Study,
    values: &StudyValues<'_>,
    runs: &[StudyRun],
    done: &Done,
) -> Result<Figure, Error> {
    let (x_label, y, mut curves) = match &plot.curves {
        Curves::Numbers { y, along, x } => {
            let x_name = x.as_ref().map_or(study.axes[*along].name.as_str(), |x| x.name.as_str());
            let names: Vec<&str> = y.iter().map(|y| study.label(&y.name)).collect();
            let curves = over_numbers(study, values, y, *along, x.as_ref());
            (study.label(x_name), names.join(", "), curves)
        }
        Curves::Columns { file, x, y, rows, fixed } => {
            let read = |path: &Path, y: &str| columns_of(path, x, y, rows);
            let curves = over_columns(study, runs, done, file, y, fixed, read)?;
            let names: Vec<&str> = y.iter().map(|y| study.label(y)).collect();
            (study.label(x), names.join(", "), curves)
        }
    };
    for curve in &mut curves {
        let is_shown = |scale, value| scale == AxisScale::Linear || value > 0.0;
        curve.points.retain(|&(x, y)| is_shown(plot.x_scale, x) && is_shown(plot.y_scale, y));
    }
    curves.retain(|curve| !curve.points.is_empty());
    Ok(Figure {
        title: plot.title.clone(),
        x_label: x_label.to_owned(),
        y_label: y,
        x_scale: plot.x_scale,
        y_scale: plot.y_scale,
        curves,
    })
}

/// Makes curves of numbers: one for each number and every combination of its other axes.
fn over_numbers(
    study: &Study,
    values: &StudyValues<'_>,
    y: &[Operand],
    along: usize,
    x: Option<&Operand>,
) -> Vec<DrawnCurve> {
    let mut curves = Vec::new();
    for (i, operand) in y.iter().enumerate() {
        let others: Vec<usize> = operand.axes.iter().copied().filter(|&axis| axis != along).collect();
        for place in places(&others, values.lengths()) {
            let point = |value: usize| {
                let mut place = place.clone();
                place[along] = value;
                let at = match x {
                    Some(x) => values.cell(x, &place).number,
                    None => study.axes[along].values[value].number,
                };
                Some((at?, values.cell(operand, &place).number?))
            };
            let words = if y.len() > 1 { Some(study.label(&operand.name).to_owned()) } else { None };
            let (colour, mark) = look(study, &others, &place, i, y.len());
            let label = named(study, &others, &place, words);
            let points = (0..values.lengths()[along]).filter_map(point).collect();
            curves.push(DrawnCurve { label, colour, mark, points });
        }
    }
    curves
}

/// Makes curves of columns of a file that each run leaves.
fn over_columns(
    study: &Study,
    runs: &[StudyRun],
    done: &Done,
    file: &str,
    y: &[String],
    fixed: &[(usize, usize)],
    read: impl Fn(&Path, &str) -> Result<Vec<(f64, f64)>, Error>,
) -> Result<Vec<DrawnCurve>, Error> {
    let others: Vec<usize> =
        (0..study.axes.len()).filter(|axis| fixed.iter().all(|(known, _)| known != axis)).collect();
    let mut curves = Vec::new();
    for run in runs {
        let (Stand::At(place), Some(folder)) = (&run.stand, done.folder(run)) else { continue };
        let path = folder.join(file);
        if fixed.iter().any(|&(axis, value)| place[axis] != value) || !path.exists() {
            continue;
        }
        for (i, y_name) in y.iter().enumerate() {
            let words = if y.len() > 1 { Some(study.label(y_name).to_owned()) } else { None };
            let (colour, mark) = look(study, &others, place, i, y.len());
            let points = read(&path, y_name)?;
            curves.push(DrawnCurve { label: named(study, &others, place, words), colour, mark, points });
        }
    }
    Ok(curves)
}

/// Reads two columns of a CSV file. Rows that lack a number in one of them are left out, and so are rows that have other words in the
/// columns of `rows`.
fn columns_of(path: &Path, x: &str, y: &str, rows: &[(String, String)]) -> Result<Vec<(f64, f64)>, Error> {
    let fail = |message: String| Error::file(path)(io::Error::other(message));
    let mut reader = csv::Reader::from_reader(open_table(path).map_err(Error::file(path))?);
    let head = reader.headers().map_err(|error| fail(error.to_string()))?.clone();
    let column = |name: &str| {
        // A column may be named with its unit or without: `time [s]`, `time`.
        let is_it = |known: &str| known == name || known.split(" [").next() == Some(name);
        let found = head.iter().position(is_it);
        let help = || suggest(name, head.iter().collect::<Vec<_>>());
        found.ok_or_else(|| fail(format!("there is no column `{name}` to be plotted ({})", help())))
    };
    let (x, y) = (column(x)?, column(y)?);
    let words =
        rows.iter().map(|(name, word)| Ok((column(name)?, word))).collect::<Result<Vec<_>, Error>>()?;
    let counts = |row: &csv::StringRecord| {
        words.iter().all(|(i, word)| row.get(*i).is_some_and(|found| found == word.as_str()))
    };
    let number =
        |row: &csv::StringRecord, i: usize| row.get(i)?.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    let rows = reader.records().filter_map(Result::ok).filter(counts);
    Ok(rows.filter_map(|row| Some((number(&row, x)?, number(&row, y)?))).collect())
}

/// Colour and mark of a curve: the colour shows the last axis with several values, the mark all other axes and the number.
fn look(study: &Study, axes: &[usize], place: &AxisPlace, number: usize, numbers: usize) -> (usize, usize) {
    let length = |axis: usize| study.axes[axis].values.len();
    let mut several: Vec<usize> = axes.iter().copied().filter(|&axis| length(axis) > 1).collect();
    let Some(last) = several.pop() else { return (number, 0) };
    let mark = several.iter().fold(number, |mark, &axis| mark * length(axis) + place[axis]);
    if several.is_empty() && numbers == 1 { (place[last], 0) } else { (place[last], mark) }
}

/// Name of a curve: the name of the number, if there are several, and the values of the axes that have several values.
fn named(study: &Study, axes: &[usize], place: &AxisPlace, number: Option<String>) -> String {
    let several = axes.iter().copied().filter(|&axis| study.axes[axis].values.len() > 1);
    let word = |axis: usize| {
        let value = &study.axes[axis].values[place[axis]];
        match value.number {
            Some(_) => format!("{} {}", value.label, study.label(&study.axes[axis].name)),
            None => value.label.clone(),
        }
    };
    number.into_iter().chain(several.map(word)).collect::<Vec<_>>().join(", ")
}
