//! Results on disk, one file per format.
//!
//! ```text
//! out/<scenario>/
//!   scenario.toml          the scenario as resolved, with every default and override
//!   timeseries.csv         one row of observables per output
//!   grains_000012.vtp      grains at output 12, with grains.vtp.series and grains.pvd as their index
//!   contacts_000012.vtp    contacts at output 12, likewise
//!   convergence.csv        where it is asked for: residuals and errors of impulses over the sweeps of chosen steps
//!   residual_histogram.csv and the residuals of their contacts, by size
//!   summary.json           what ran, on what, how fast, and what came out
//! ```
//!
//! A file appears whole or not at all: it is written next to its place and then renamed. The time series
//! is created that way and then grows by one flushed row per output, so a crash loses at most the row
//! being written.

pub mod atomic;
pub mod collection;
pub mod convergence;
pub mod frames;
pub mod summary;
pub mod timeseries;
pub mod vtp;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::engine::Snapshot;
use crate::engine::convergence::Convergence;
use crate::error::Error;
use crate::observe::{Column, Observation};
use crate::scenario::Scenario;

use collection::Collection;
use summary::Summary;
use timeseries::TimeSeries;

/// The folder that the results of one run go to.
#[derive(Debug)]
pub struct ResultFolder {
    path: PathBuf,
    timeseries: Option<TimeSeries>,
    frames: Option<Frames>,
    convergence: Vec<Convergence>,
}

/// The frames written so far.
#[derive(Debug)]
struct Frames {
    grains: Collection,
    contacts: Collection,
}

impl ResultFolder {
    /// Makes the folder, removes the results of an earlier run from it and writes `scenario.toml`. Other
    /// files in it are left alone.
    ///
    /// # Errors
    /// When the folder or a file in it cannot be written.
    pub fn create(path: &Path, scenario: &Scenario, columns: &[Column]) -> Result<ResultFolder, Error> {
        fs::create_dir_all(path).map_err(Error::file(path))?;
        remove_results(path)?;
        atomic::write(&path.join("scenario.toml"), |out| out.write_all(scenario.resolved.as_bytes()))?;
        let timeseries = match scenario.output.csv {
            true => Some(TimeSeries::create(&path.join("timeseries.csv"), columns)?),
            false => None,
        };
        let frames = scenario.output.vtp.then(|| Frames {
            grains: Collection::new(path, "grains"),
            contacts: Collection::new(path, "contacts"),
        });
        Ok(ResultFolder { path: path.to_owned(), timeseries, frames, convergence: Vec::new() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a state and its observation in every format of the scenario.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn record(&mut self, snapshot: &Snapshot, observation: &Observation) -> Result<(), Error> {
        if let Some(timeseries) = &mut self.timeseries {
            timeseries.append(observation)?;
        }
        if let Some(frames) = &mut self.frames {
            frames.grains.add(observation.time, &frames::grains(snapshot))?;
            frames.contacts.add(observation.time, &frames::contacts(snapshot))?;
        }
        Ok(())
    }

    /// Writes how the sweeps of one more step converged.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn record_convergence(&mut self, found: Convergence) -> Result<(), Error> {
        self.convergence.push(found);
        let write = |name, content: fn(&[Convergence], &mut dyn Write) -> io::Result<()>| {
            atomic::write(&self.path.join(name), |out| content(&self.convergence, out))
        };
        write("convergence.csv", convergence::write_courses)?;
        write("residual_histogram.csv", convergence::write_histograms)
    }

    /// Writes `summary.json`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(&self, summary: &Summary) -> Result<(), Error> {
        atomic::write(&self.path.join("summary.json"), |out| {
            serde_json::to_writer_pretty(&mut *out, summary)?;
            out.write_all(b"\n")
        })
    }
}

/// Whether a folder is there or can be made, as far as that can be told without making it.
///
/// # Errors
/// When it, or what it is to be made in, is a file.
pub fn check_folder(path: &Path) -> Result<(), Error> {
    match path.ancestors().find(|ancestor| ancestor.exists()) {
        Some(found) if !found.is_dir() => {
            let message = format!("{} is a file, expected a folder: choose another --out", found.display());
            Err(Error::file(path)(io::Error::new(io::ErrorKind::NotADirectory, message)))
        }
        _ => Ok(()),
    }
}

/// Removes the files that an earlier run left in a folder.
fn remove_results(folder: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::file(folder))? {
        let entry = entry.map_err(Error::file(folder))?;
        if entry.file_name().to_str().is_some_and(is_result) {
            fs::remove_file(entry.path()).map_err(Error::file(entry.path()))?;
        }
    }
    Ok(())
}

/// Whether a file of this name is one that a run writes.
fn is_result(name: &str) -> bool {
    const INDICES: [&str; 4] = ["grains.vtp.series", "grains.pvd", "contacts.vtp.series", "contacts.pvd"];
    const SINGLE: [&str; 5] =
        ["scenario.toml", "timeseries.csv", "convergence.csv", "residual_histogram.csv", "summary.json"];
    let stem = name.strip_suffix(".vtp").unwrap_or_default();
    let number = stem.strip_prefix("grains_").or_else(|| stem.strip_prefix("contacts_"));
    let is_frame = number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()));
    is_frame || INDICES.contains(&name) || SINGLE.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_a_run_writes_are_taken_for_results() {
        let results = ["grains_000012.vtp", "contacts_1000000.vtp", "grains.pvd", "summary.json"];
        assert!(results.into_iter().all(is_result));
        let others = ["grains_.vtp", "grains_best.vtp", "grains_12.vtk", "notes.txt", "drum.toml", "x.pvd"];
        assert!(!others.into_iter().any(is_result));
    }
}
