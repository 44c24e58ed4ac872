//! Local problems in the HDF5 layout of FCLIB (Acary, Brémond, Huber & Dubois 2014).
//!
//! ```text
//! /fclib_local/spacedim         2 or 3
//! /fclib_local/W                m, n, nz, nzmax; p, i, x.  nz = -1: columns, -2: rows, as CSparse has them; else nz triplets
//! /fclib_local/vectors          q, mu, and s where there are V and R
//! /fclib_local/V, R             rows of equality constraints, which are not solved here
//! /solution                     u, r
//! /guesses                      number_of_guesses, and groups 1, 2, ... of u, r
//! ```
//!
//! Single numbers are arrays of length 1. Blocks have the normal first; indices count from 0.

use std::path::Path;

use rust_hdf5::{H5File, H5Group, H5Type, Hdf5Error};

use crate::error::Error;
use crate::output::atomic;

use super::matrix::{BlockMatrix, MatrixEntry};
use super::{LocalProblem, LocalSolution};

/// Group of the problem.
const PROBLEM: &str = "fclib_local";

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct FclibFile {
    /// The problem.
    pub problem: LocalProblem,
    /// Impulses of the guesses, as many as the file holds.
    pub guesses: Vec<Vec<f64>>,
}

/// Whether a file begins as HDF5 does.
pub fn is_hdf5(path: &Path) -> bool {
    use std::io::Read;
    let mut start = [0u8; 8];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == *b"\x89HDF\r\n\x1a\n"
}

/// Reads a problem and its guesses.
///
/// # Errors
/// [`Error::Unusable`] with the dataset, what it holds and what is expected.
pub fn read(path: &Path) -> Result<FclibFile, Error> {
    let file = H5File::open(path).map_err(|error| Error::Unusable {
        origin: path.display().to_string(),
        found: error.to_string(),
        advice: "expected a file of FCLIB, in HDF5".into(),
    })?;
    FclibReader { file, path: path.display().to_string() }.read()
}

struct FclibReader {
    file: H5File,
    path: String,
}

impl FclibReader {
    fn unusable(&self, dataset: &str, found: impl Into<String>, advice: impl Into<String>) -> Error {
        Error::Unusable {
            origin: format!("{}: /{dataset}", self.path),
            found: found.into(),
            advice: advice.into(),
        }
    }

    fn has(&self, name: &str) -> bool {
        let is_below = |known: &String| {
            let known = known.trim_start_matches('/');
            known == name || known.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
        };
        self.file.dataset_names().iter().any(is_below)
    }

    /// Numbers of a dataset, which must be this many if it is told.
    fn numbers<T: rust_hdf5::ReadNumeric>(&self, name: &str, count: Option<usize>) -> Result<Vec<T>, Error> {
        let read = self.file.dataset(name).and_then(|dataset| dataset.read_numeric_as::<T>());
        let numbers = read.map_err(|error| self.unusable(name, error.to_string(), "expected numbers"))?;
        match count {
            Some(count) if numbers.len() < count => {
                let found = format!("{} numbers", numbers.len());
                Err(self.unusable(name, found, format!("expected {count}")))
            }
            Some(count) => Ok(numbers.into_iter().take(count).collect()),
            None => Ok(numbers),
        }
    }

    fn integer(&self, name: &str) -> Result<i64, Error> {
        Ok(self.numbers::<i64>(name, Some(1))?[0])
    }

    fn reals(&self, name: &str, count: usize) -> Result<Vec<f64>, Error> {
        let numbers = self.numbers::<f64>(name, Some(count))?;
        match numbers.iter().position(|number| !number.is_finite()) {
            Some(at) => {
                let found = format!("{} at {at}", numbers[at]);
                Err(self.unusable(name, found, "expected finite numbers"))
            }
            None => Ok(numbers),
        }
    }

    fn read(&self) -> Result<FclibFile, Error> {
        if !self.has(PROBLEM) {
            let (found, advice) = match self.has("fclib_global") {
                true => (
                    "a problem in global form",
                    "expected a problem in local form, with W in place of M and H",
                ),
                false => ("no such group", "expected a file of FCLIB with a problem in local form"),
            };
            return Err(self.unusable(PROBLEM, found, advice));
        }
        if self.has("fclib_local/V") && self.integer("fclib_local/V/n")? > 0 {
            let advice = "expected contacts alone: esker has no solver for a local problem with V, R and s";
            return Err(self.unusable("fclib_local/V", "equality constraints", advice));
        }
        let dimension = self.integer("fclib_local/spacedim")?;
        if ![2, 3].contains(&dimension) {
            let found = format!("{dimension} dimensions");
            return Err(self.unusable("fclib_local/spacedim", found, "expected 2 or 3"));
        }
        let size = self.size_of_matrix(dimension as usize)?;
        let (dimension, contacts) = (dimension as usize, size / dimension as usize);
        let matrix = BlockMatrix::from_entries(dimension, contacts, self.entries(size)?)
            .map_err(|found| self.unusable("fclib_local/W", found, "expected places within W"))?;
        matrix.check(&format!("{}: /fclib_local/W", self.path))?;
        let friction = self.reals("fclib_local/vectors/mu", contacts)?;
        if let Some(contact) = friction.iter().position(|&friction| friction < 0.0) {
            let found = format!("{} at contact {contact}", friction[contact]);
            return Err(self.unusable("fclib_local/vectors/mu", found, "expected no negative coefficient"));
        }
        let q = self.reals("fclib_local/vectors/q", size)?;
        let problem = LocalProblem { matrix, q, friction, rolling: vec![0.0; contacts] };
        Ok(FclibFile { problem, guesses: self.guesses(size)? })
    }

    /// Number of rows and columns of W.
    fn size_of_matrix(&self, dimension: usize) -> Result<usize, Error> {
        let [rows, columns] = [self.integer("fclib_local/W/m")?, self.integer("fclib_local/W/n")?];
        let is_whole = rows > 0 && rows < i64::from(u32::MAX) && rows % dimension as i64 == 0;
        if rows != columns || !is_whole {
            let expected = format!("expected as many rows as columns, and {dimension} for each contact");
            return Err(self.unusable(
                "fclib_local/W/m",
                format!("{rows} rows and {columns} columns"),
                expected,
            ));
        }
        Ok(rows as usize)
    }

    /// Numbers of W with their places.
    fn entries(&self, size: usize) -> Result<Vec<MatrixEntry>, Error> {
        let nz = self.integer("fclib_local/W/nz")?;
        let starts = match nz {
            -1 | -2 => {
                let starts = self.numbers::<i64>("fclib_local/W/p", Some(size + 1))?;
                if starts[0] != 0 || !starts.is_sorted() {
                    return Err(self.unusable(
                        "fclib_local/W/p",
                        "starts that do not ascend from 0",
                        "expected where each column or row starts",
                    ));
                }
                Some(starts)
            }
            0.. => None,
            _ => {
                return Err(self.unusable(
                    "fclib_local/W/nz",
                    format!("{nz}"),
                    "expected -1 (columns), -2 (rows) or the number of triplets",
                ));
            }
        };
        let count = starts.as_ref().map_or(nz, |starts| starts[size]) as usize;
        let values = self.reals("fclib_local/W/x", count)?;
        let inner = self.indices("fclib_local/W/i", count, size)?;
        let outer = match starts {
            None => self.indices("fclib_local/W/p", count, size)?,
            Some(starts) => {
                let of =
                    |(line, bounds): (usize, &[i64])| vec![line as u32; (bounds[1] - bounds[0]) as usize];
                starts.windows(2).enumerate().flat_map(of).collect()
            }
        };
        // By columns `i` holds rows, by rows it holds columns; W is symmetric, so triplets may be read either way.
        let is_by_rows = nz == -2;
        let entry =
            |((inner, outer), value)| if is_by_rows { (outer, inner, value) } else { (inner, outer, value) };
        Ok(inner.into_iter().zip(outer).zip(values).map(entry).collect())
    }

    fn indices(&self, name: &str, count: usize, size: usize) -> Result<Vec<u32>, Error> {
        let indices = self.numbers::<i64>(name, Some(count))?;
        if let Some(index) = indices.iter().find(|&&index| index < 0 || index >= size as i64) {
            return Err(self.unusable(
                name,
                format!("the index {index}"),
                format!("expected 0 to {}", size - 1),
            ));
        }
        Ok(indices.into_iter().map(|index| index as u32).collect())
    }

    fn guesses(&self, size: usize) -> Result<Vec<Vec<f64>>, Error> {
        if !self.has("guesses") {
            return Ok(Vec::new());
        }
        let count = self.integer("guesses/number_of_guesses")?;
        (1..=count).map(|guess| self.reals(&format!("guesses/{guess}/r"), size)).collect()
    }
}

/// Writes a problem and, if there is one, its solution, with W by columns.
///
/// # Errors
/// [`Error::File`] when the file cannot be written, an earlier file is then unchanged; [`Error::Unusable`] for a problem with rolling
/// components, which the layout does not have.
pub fn write(path: &Path, problem: &LocalProblem, solution: Option<&LocalSolution>) -> Result<(), Error> {
    if problem.dimension() > 3 {
        return Err(Error::Unusable {
            origin: path.display().to_string(),
            found: "a problem with rolling components, which the layout of FCLIB does not have".into(),
            advice: "write a file in the text of Siconos: any name that does not end in .hdf5 or .h5".into(),
        });
    }
    let failed = |error: Hdf5Error| Error::file(path)(std::io::Error::other(error));
    let temporary = atomic::temporary_for(path)?;
    let file = H5File::create(&temporary).map_err(failed)?;
    write_all(&file, problem, solution).and_then(|()| file.close()).map_err(failed)?;
    temporary.persist(path).map_err(|error| Error::file(path)(error.error))
}

fn write_all(
    file: &H5File,
    problem: &LocalProblem,
    solution: Option<&LocalSolution>,
) -> Result<(), Hdf5Error> {
    let size = problem.q.len();
    let mut entries = problem.matrix.entries();
    entries.sort_by_key(|&(row, column, _)| (column, row));
    let mut starts = vec![0i32; size + 1];
    entries.iter().for_each(|&(_, column, _)| starts[column as usize + 1] += 1);
    (0..size).for_each(|column| starts[column + 1] += starts[column]);
    let group = file.create_group(PROBLEM)?;
    array(&group, "spacedim", &[problem.dimension() as i32])?;
    let matrix = group.create_group("W")?;
    for (name, value) in [("m", size as i32), ("n", size as i32), ("nz", -1), ("nzmax", entries.len() as i32)]
    {
        array(&matrix, name, &[value])?;
    }
    array(&matrix, "p", &starts)?;
    array(&matrix, "i", &entries.iter().map(|entry| entry.0 as i32).collect::<Vec<_>>())?;
    array(&matrix, "x", &entries.iter().map(|entry| entry.2).collect::<Vec<_>>())?;
    let vectors = group.create_group("vectors")?;
    array(&vectors, "q", &problem.q)?;
    array(&vectors, "mu", &problem.friction)?;
    let Some(solution) = solution else { return Ok(()) };
    let group = file.create_group("solution")?;
    array(&group, "u", &solution.velocities)?;
    array(&group, "r", &solution.impulses)
}

fn array<T: H5Type>(group: &H5Group, name: &str, values: &[T]) -> Result<(), Hdf5Error> {
    group.new_dataset::<T>().shape([values.len()]).create(name)?.write_raw(values)
}
