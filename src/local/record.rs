//! Files of a solve: the course of the residual, and the solution.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::output::atomic;

use super::order::ContactOrder;
use super::solve::{LocalAlgorithm, LocalReport};
use super::{LocalProblem, LocalSolution, fclib};

/// A solve with its algorithm and order.
#[derive(Debug, Clone, PartialEq)]
pub struct SolveRow {
    /// Algorithm.
    pub algorithm: LocalAlgorithm,
    /// Order of the contacts.
    pub order: ContactOrder,
    /// What came of it.
    pub report: LocalReport,
}

impl SolveRow {
    /// Word for the order; empty where it does not matter.
    pub fn order_word(&self) -> &'static str {
        if self.algorithm.has_order() { self.order.word() } else { "" }
    }
}

/// Names of the files.
const COURSE: &str = "course.csv";
const SOLUTION: &str = "solution.csv";
const FCLIB_SOLUTION: &str = "solution.hdf5";

/// Writes the courses of all solves and the solution with the least residual into a folder, which must exist; of a problem in FCLIB's
/// layout also a file in that layout. Returns the files.
///
/// # Errors
/// [`Error::File`] when a file cannot be written; [`Error::Unusable`] where one would replace the problem.
pub fn write_results(
    folder: &Path,
    input: &Path,
    problem: &LocalProblem,
    rows: &[SolveRow],
) -> Result<Vec<PathBuf>, Error> {
    let by_residual =
        |a: &&SolveRow, b: &&SolveRow| a.report.end().residual.total_cmp(&b.report.end().residual);
    let Some(best) = rows.iter().min_by(by_residual) else { return Ok(Vec::new()) };
    let mut files = vec![folder.join(COURSE), folder.join(SOLUTION)];
    let is_fclib = fclib::is_hdf5(input);
    if is_fclib {
        files.push(folder.join(FCLIB_SOLUTION));
    }
    if let Some(file) = files.iter().find(|file| atomic::is_same_file(file, input)) {
        return Err(Error::Unusable {
            origin: "--out".into(),
            found: format!("{} is the problem, and the solution would replace it", file.display()),
            advice: "choose another folder".into(),
        });
    }
    atomic::write(&files[0], |out| {
        writeln!(out, "algorithm,order,iterations,seconds,residual")?;
        rows.iter().try_for_each(|row| {
            row.report.course.iter().try_for_each(|point| {
                let head = format!("{},{}", row.algorithm.word(), row.order_word());
                writeln!(out, "{head},{},{:e},{:e}", point.iterations, point.seconds, point.residual)
            })
        })
    })?;
    write_solution(&files[1], problem.dimension(), &best.report.solution)?;
    if is_fclib {
        fclib::write(&files[2], problem, Some(&best.report.solution))?;
    }
    Ok(files)
}

/// A line per contact: its impulse \[N s\], its velocity \[m/s\].
fn write_solution(path: &Path, dimension: usize, solution: &LocalSolution) -> Result<(), Error> {
    let names = ["n", "t1", "t2", "r1", "r2"];
    atomic::write(path, |out| {
        let header = ["r", "u"].map(|of| names[..dimension].iter().map(move |name| format!("{of}_{name}")));
        let header: Vec<String> = header.into_iter().flatten().collect();
        writeln!(out, "contact,{}", header.join(","))?;
        let contacts = solution.impulses.chunks(dimension).zip(solution.velocities.chunks(dimension));
        for (contact, (impulse, velocity)) in contacts.enumerate() {
            let numbers: Vec<String> =
                impulse.iter().chain(velocity).map(|number| format!("{number:e}")).collect();
            writeln!(out, "{contact},{}", numbers.join(","))?;
        }
        Ok(())
    })
}
