//! `timeseries.csv`: one row of observables per output.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::observe::{Column, Observation};

use super::{atomic, lock};

/// Open file of the time series. The header names every column with its unit: `height [m]`.
#[derive(Debug)]
pub struct TimeSeries {
    path: PathBuf,
    rows: csv::Writer<File>,
}

impl TimeSeries {
    /// Creates the file with its header (time, step, then `columns`) and a row for each of the observations `known`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn create(path: &Path, columns: &[Column], known: &[Observation]) -> Result<TimeSeries, Error> {
        let file = atomic::create(path, |out| {
            let mut rows = csv::Writer::from_writer(out);
            rows.write_record(header_of(columns))?;
            known.iter().try_for_each(|observation| rows.write_record(row_of(observation)))?;
            rows.flush()
        })?;
        Ok(TimeSeries { path: path.to_owned(), rows: csv::Writer::from_writer(file) })
    }

    /// Appends a row and flushes it. Each number has all the digits that it takes to read it back unchanged; small and large numbers have
    /// an exponent. A number that does not exist is `NaN`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(&mut self, observation: &Observation) -> Result<(), Error> {
        if !lock::is_in_place(self.rows.get_ref(), &self.path) {
            let words = "it was removed or replaced during the run, and the rows to come have no place in it";
            return Err(Error::file(&self.path)(io::Error::other(words)));
        }
        let written = self.rows.write_record(row_of(observation)).map_err(Into::into);
        written.and_then(|()| self.rows.flush()).map_err(Error::file(&self.path))
    }
}

fn header_of(columns: &[Column]) -> impl Iterator<Item = String> {
    let leading = ["time [s]".to_owned(), "step [-]".to_owned()];
    leading.into_iter().chain(columns.iter().map(|column| format!("{} [{}]", column.name, column.unit)))
}

fn row_of(observation: &Observation) -> impl Iterator<Item = String> {
    let leading = [format!("{:?}", observation.time), observation.step.to_string()];
    leading.into_iter().chain(observation.values.iter().map(|value| format!("{value:?}")))
}
