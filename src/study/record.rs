//! Record of a run: a file in its folder that exists when the run is finished.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::engine::{Identity, Precision, Work};
use crate::error::Error;
use crate::files::{LARGEST_TEXT, read_result};
use crate::output::atomic;
use crate::output::summary::Summary;

/// Name of the record file.
const FILE: &str = "record.json";

/// Record of a finished run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of the program that ran it.
    pub esker: String,
    /// Fingerprint of the run.
    pub key: String,
    /// Changes to the scenario, as `--set` takes them.
    pub settings: Vec<String>,
    /// Engine and device of the run.
    pub engine: Ran,
    /// The kept quantities.
    pub kept: Vec<KeptQuantity>,
    /// Wall time of the whole run \[s\].
    pub wall_seconds: f64,
    /// Wall time spent stepping \[s\].
    pub step_seconds: f64,
    /// Simulated time \[s\].
    pub simulated_seconds: f64,
    /// Number of steps done.
    pub steps: u64,
    /// Numbers of sweeps done, as far as they are counted.
    pub work: Work,
    /// Error message, if the run failed.
    pub failure: Option<String>,
}

/// Engine and device of a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Ran {
    /// Kind of engine, "gpu" or "cpu".
    pub engine: String,
    /// Name of the adapter or processor.
    pub device: String,
    /// Driver and its version, or the number of threads.
    pub driver: String,
    /// Graphics interface.
    pub backend: String,
    /// Precision of the computation.
    pub precision: Precision,
}

/// Kept quantity of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptQuantity {
    /// Label of the quantity.
    pub label: String,
    /// Number, if there is one.
    pub found: Option<f64>,
    /// Reason why there is no number, or remark on it.
    pub reason: Option<String>,
}

impl From<Identity> for Ran {
    fn from(identity: Identity) -> Ran {
        let Identity { engine, device, driver, backend, precision } = identity;
        Ran { engine: engine.to_owned(), device, driver, backend, precision }
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} ({}, {})", self.engine, self.device, self.backend, self.driver)
    }
}

impl RunRecord {
    /// Creates the record of a complete run.
    pub fn of(key: &str, settings: &[String], summary: &Summary) -> RunRecord {
        let kept = summary.expectations.iter().map(|verdict| KeptQuantity {
            label: verdict.label.clone(),
            found: verdict.found,
            reason: verdict.reason.clone(),
        });
        RunRecord {
            kept: kept.collect(),
            wall_seconds: summary.wall_seconds,
            step_seconds: summary.wall_seconds_by_task.get("step").unwrap_or_default(),
            simulated_seconds: summary.simulated_seconds,
            steps: summary.steps,
            work: summary.work,
            ..RunRecord::of_failure(key, settings, summary.engine.clone(), None)
        }
    }

    /// Creates the record of a run; `failure` is the message of a failed one.
    pub fn of_failure(
        key: &str,
        settings: &[String],
        engine: Identity,
        failure: Option<String>,
    ) -> RunRecord {
        RunRecord {
            esker: env!("CARGO_PKG_VERSION").to_owned(),
            key: key.to_owned(),
            settings: settings.to_vec(),
            engine: engine.into(),
            kept: Vec::new(),
            wall_seconds: 0.0,
            step_seconds: 0.0,
            simulated_seconds: 0.0,
            steps: 0,
            work: Work::default(),
            failure,
        }
    }

    /// Reads the record in the folder of a run; `None` if the run is not finished.
    ///
    /// # Errors
    /// When the file cannot be read, or is no record.
    pub fn load(folder: &Path) -> Result<Option<RunRecord>, Error> {
        let path = folder.join(FILE);
        match read_result(&path, LARGEST_TEXT) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::file(path)(error)),
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| {
                let message =
                    format!("is not the record of a run ({error}): remove its folder to run it again");
                Error::file(path)(std::io::Error::other(message))
            }),
        }
    }

    /// Writes the record into the folder of the run.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
        atomic::write(&folder.join(FILE), |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            out.write_all(b"\n")
        })
    }

    /// Quantities that every run has beside the kept ones, in the order of [`WORK`](crate::scenario::study::WORK); quantities that are not
    /// counted are `None`.
    pub fn work(&self) -> [Option<f64>; 6] {
        let sweeps = self.work.sweeps.map(|sweeps| sweeps as f64);
        let contact_sweeps = self.work.contact_sweeps.map(|sweeps| sweeps as f64);
        let per_second = sweeps.map(|sweeps| sweeps / self.simulated_seconds);
        let all = [
            Some(self.wall_seconds),
            Some(self.step_seconds),
            Some(self.steps as f64),
            sweeps,
            per_second,
            contact_sweeps,
        ];
        all.map(|number| number.filter(|_| self.failure.is_none()))
    }
}
