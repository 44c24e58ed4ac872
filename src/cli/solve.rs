//! `esker solve`: frictional contact problems in local form, with one algorithm or several side by side.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::error::Error;
use crate::local::order::ContactOrder;
use crate::local::record::{SolveRow, write_results};
use crate::local::solve::{LocalAlgorithm, LocalLimits, solve as solve_local};
use crate::local::{LocalProblem, fclib, text};
use crate::output::{self, atomic};
use crate::scenario::study::AxisScale;
use crate::study::draw::{DrawnCurve, Figure, svg};

use super::terminal::{note, say};
use super::{ExitOutcome, Failure, short};

/// Arguments of `esker solve`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Problem: text of Siconos, or an HDF5 file of FCLIB.
    file: PathBuf,
    /// Algorithm; may be repeated [default: all].
    #[arg(long = "algorithm", value_enum, value_name = "NAME")]
    algorithms: Vec<AlgorithmChoice>,
    /// Order in which sweeps visit the contacts; may be repeated [default: all].
    #[arg(long = "order", value_enum, value_name = "NAME")]
    orders: Vec<OrderChoice>,
    /// Residual at which the problem is solved: natural map over |q|.
    #[arg(long, default_value = "1e-5", value_parser = parse_tolerance)]
    tolerance: f64,
    /// Largest number of sweeps or iterations of each solve.
    #[arg(long, default_value = "100000", value_name = "N")]
    iterations: u32,
    /// Start from this guess of an FCLIB file, counted from 1 [default: from no impulses].
    #[arg(long, value_name = "N")]
    guess: Option<usize>,
    /// Folder for the residual over sweeps and time, its picture, and the solution.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Algorithm on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AlgorithmChoice {
    /// Nonsmooth Gauss-Seidel: contact by contact, each solved exactly.
    Ngs,
    /// Projected Gauss-Seidel: the sweeps of `esker run`.
    Pgs,
    /// Accelerated projected gradient descent, repeated until its convex law is Coulomb's.
    Apgd,
}

/// Order on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OrderChoice {
    /// As the contacts are stored.
    Stored,
    /// Colour by colour.
    Coloured,
}

impl From<AlgorithmChoice> for LocalAlgorithm {
    fn from(algorithm: AlgorithmChoice) -> LocalAlgorithm {
        match algorithm {
            AlgorithmChoice::Ngs => LocalAlgorithm::Ngs,
            AlgorithmChoice::Pgs => LocalAlgorithm::Pgs,
            AlgorithmChoice::Apgd => LocalAlgorithm::Apgd,
        }
    }
}

impl From<OrderChoice> for ContactOrder {
    fn from(order: OrderChoice) -> ContactOrder {
        match order {
            OrderChoice::Stored => ContactOrder::Stored,
            OrderChoice::Coloured => ContactOrder::Coloured,
        }
    }
}

/// Difference of W from its transpose that is told \[-\]: text with six digits has less.
const ASYMMETRY: f64 = 1e-5;

fn parse_tolerance(text: &str) -> Result<f64, String> {
    let tolerance = text.parse::<f64>().ok().filter(|tolerance| *tolerance > 0.0 && tolerance.is_finite());
    tolerance.ok_or_else(|| "expected a positive number".to_owned())
}

/// Solves a problem with all algorithms and orders that were asked for.
pub(super) fn solve(arguments: &Arguments) -> Result<ExitOutcome, Failure> {
    if let Some(folder) = &arguments.out {
        output::check_folder(folder)?;
    }
    let (problem, start) = read(arguments)?;
    say!(
        "{}: {} contacts of {} components, {} blocks, |q| = {}",
        arguments.file.display(),
        problem.contacts(),
        problem.dimension(),
        problem.matrix.block_count(),
        short(problem.size())
    );
    let asymmetry = problem.matrix.asymmetry();
    if asymmetry > ASYMMETRY {
        note!(
            "W differs from its transpose by {} of its largest number: it is solved as it is",
            short(asymmetry)
        );
    }
    say!(
        "{:<10} {:<10} {:>10} {:>12} {:>12}  verdict",
        "algorithm",
        "order",
        "iterations",
        "seconds",
        "residual"
    );
    let limits = LocalLimits { tolerance: arguments.tolerance, iterations: arguments.iterations };
    let mut rows = Vec::new();
    for (algorithm, order) in choices(arguments) {
        let row =
            SolveRow { algorithm, order, report: solve_local(&problem, algorithm, order, limits, &start) };
        let end = row.report.end();
        let verdict = if row.report.solved { "solved" } else { "not solved" };
        say!(
            "{:<10} {:<10} {:>10} {:>12.6} {:>12.3e}  {verdict}",
            algorithm.word(),
            row.order_word(),
            end.iterations,
            end.seconds,
            end.residual
        );
        rows.push(row);
    }
    if let Some(folder) = &arguments.out {
        write(arguments, folder, &problem, &rows)?;
    }
    if rows.iter().any(|row| row.report.solved) {
        return Ok(ExitOutcome::Done);
    }
    let least = rows.iter().map(|row| row.report.end().residual).fold(f64::INFINITY, f64::min);
    note!("not solved: the least residual is {least:.3e}, and {:e} was asked for", arguments.tolerance);
    Ok(ExitOutcome::ExpectationMissed)
}

/// Algorithms with their orders; an algorithm without order comes once.
fn choices(arguments: &Arguments) -> Vec<(LocalAlgorithm, ContactOrder)> {
    let Arguments { algorithms, orders, .. } = arguments;
    let algorithms: Vec<LocalAlgorithm> = match algorithms[..] {
        [] => LocalAlgorithm::ALL.to_vec(),
        _ => algorithms.iter().map(|&algorithm| algorithm.into()).collect(),
    };
    let orders: Vec<ContactOrder> = match orders[..] {
        [] => ContactOrder::ALL.to_vec(),
        _ => orders.iter().map(|&order| order.into()).collect(),
    };
    let of = |algorithm: LocalAlgorithm| {
        let orders = if algorithm.has_order() { &orders[..] } else { &[ContactOrder::Stored] };
        orders.iter().map(move |&order| (algorithm, order)).collect::<Vec<_>>()
    };
    algorithms.into_iter().flat_map(of).collect()
}

/// Reads the problem, and the impulses to start from.
fn read(arguments: &Arguments) -> Result<(LocalProblem, Vec<f64>), Failure> {
    let file = &arguments.file;
    let (problem, guesses) = if fclib::is_hdf5(file) {
        let fclib::FclibFile { problem, guesses } = fclib::read(file).map_err(super::render::input)?;
        (problem, guesses)
    } else {
        (text::read(file).map_err(input)?, Vec::new())
    };
    let start = match arguments.guess {
        None => vec![0.0; problem.q.len()],
        Some(guess) => guesses.get(guess.wrapping_sub(1)).cloned().ok_or_else(|| {
            super::render::input(Error::Unusable {
                origin: "--guess".into(),
                found: format!("there is no guess {guess}"),
                advice: format!("{} holds {}", file.display(), guesses.len()),
            })
        })?,
    };
    Ok((problem, start))
}

/// A file that cannot be read is wrong input.
fn input(error: Error) -> Failure {
    match error {
        Error::File { path, source } => super::render::input(Error::Unusable {
            origin: path.display().to_string(),
            found: source.to_string(),
            advice: "name a file of a frictional contact problem".into(),
        }),
        other => super::render::input(other),
    }
}

/// Writes the courses and the best solution.
fn write(
    arguments: &Arguments,
    folder: &Path,
    problem: &LocalProblem,
    rows: &[SolveRow],
) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
    let written = write_results(folder, &arguments.file, problem, rows).map_err(super::render::input)?;
    written.iter().for_each(|file| say!("wrote {}", file.display()));
    let picture = folder.join("course.svg");
    let drawn = svg(&figure(problem, rows))
        .map_err(|error| Error::file(&picture)(io::Error::other(error.to_string())))?;
    atomic::write(&picture, |out| out.write_all(drawn.as_bytes()))?;
    say!("wrote {}", picture.display());
    Ok(())
}

/// Residual over wall time, a curve for each solve.
fn figure(problem: &LocalProblem, rows: &[SolveRow]) -> Figure {
    let curve = |(index, row): (usize, &SolveRow)| {
        let points = row.report.course.iter().map(|point| (point.seconds, point.residual));
        let label = [row.algorithm.word(), row.order_word()].into_iter().filter(|word| !word.is_empty());
        DrawnCurve {
            label: label.collect::<Vec<_>>().join(", "),
            colour: index,
            mark: index,
            points: points.filter(|&(seconds, residual)| seconds > 0.0 && residual > 0.0).collect(),
        }
    };
    Figure {
        title: format!("{} contacts of {} components", problem.contacts(), problem.dimension()),
        x_label: "wall time [s]".into(),
        y_label: "natural map over |q|".into(),
        x_scale: AxisScale::Logarithmic,
        y_scale: AxisScale::Logarithmic,
        curves: rows.iter().enumerate().map(curve).collect(),
    }
}
