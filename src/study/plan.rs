//! Planning of the runs of a study.

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::table::{AxisPlace, places};
use crate::files::{LARGEST_TABLE, read_bytes};
use crate::scenario::study::{Study, scenario};
use crate::scenario::{Problem, Problems, Scenario};

/// Cost of the contact search and the rest of a step, in sweeps.
const SWEEPS_PER_STEP: f64 = 12.0;
/// Longest descriptive part of the folder name of a run \[characters\].
const LONGEST_NAME: usize = 80;

/// Run of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyRun {
    /// Place of the run in the study: one of the combinations, or a reference run.
    pub stand: Stand,
    /// Label in words: `count = 25, start = cold`.
    pub label: String,
    /// Changes to the scenario, as `--set` takes them.
    pub settings: Vec<String>,
    /// Fingerprint of everything that the numbers of the run depend on.
    pub key: String,
    /// Name of its folder.
    pub folder: String,
    /// Estimated cost: steps × substeps × (sweeps + 12) × grains.
    pub weight: f64,
}

/// Place of a run in the study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stand {
    /// Combination of the values of all axes.
    At(AxisPlace),
    /// Reference run, with its index; only the axes of the reference matter.
    Reference(usize, AxisPlace),
}

impl StudyRun {
    /// Returns the scenario of this run.
    ///
    /// # Errors
    /// All mistakes in the scenario.
    pub fn scenario(&self, study: &Study) -> Result<Scenario, Problems> {
        let expectations = study.keep.clone();
        Ok(Scenario { expectations, ..scenario(&study.scenario, &self.settings)? })
    }

    /// Returns the folder with the results of this run.
    pub fn path(&self, folder: &Path) -> PathBuf {
        folder.join("runs").join(&self.folder)
    }
}

/// All runs of a study: the combinations, the last axis varying fastest, and then the references.
///
/// # Errors
/// The mistakes of the first combination that the scenario does not take.
pub fn runs(study: &Study) -> Result<Vec<StudyRun>, Problems> {
    let lengths = lengths(study);
    let all: Vec<usize> = (0..lengths.len()).collect();
    let combinations = places(&all, &lengths).into_iter().map(Stand::At);
    let references = study.references.iter().enumerate().flat_map(|(i, reference)| {
        places(&reference.axes, &lengths).into_iter().map(move |place| Stand::Reference(i, place))
    });
    combinations.chain(references).map(|stand| run(study, stand)).collect()
}

/// Number of values of every axis.
pub fn lengths(study: &Study) -> Vec<usize> {
    study.axes.iter().map(|axis| axis.values.len()).collect()
}

fn run(study: &Study, stand: Stand) -> Result<StudyRun, Problems> {
    let (place, axes, reference) = match &stand {
        Stand::At(place) => (place, (0..study.axes.len()).collect(), None),
        Stand::Reference(i, place) => (place, study.references[*i].axes.clone(), Some(&study.references[*i])),
    };
    let values = axes.iter().map(|&axis| (&study.axes[axis], &study.axes[axis].values[place[axis]]));
    let named = reference.map(|reference| reference.name.clone());
    let words = values.clone().map(|(axis, value)| format!("{} = {}", axis.name, value.label));
    let label = named.into_iter().chain(words).collect::<Vec<_>>().join(", ");
    let of_axes = values.flat_map(|(_, value)| &value.overrides);
    let of_reference = reference.iter().flat_map(|reference| &reference.overrides);
    let settings = study.changes.iter().chain(of_axes).chain(of_reference).cloned().collect();
    let mut run = StudyRun { stand, label, settings, key: String::new(), folder: String::new(), weight: 0.0 };
    let scenario = run.scenario(study).map_err(|problems| of_run(study, &run.label, &problems))?;
    run.weight = weight(&scenario);
    run.key = fingerprint(study, &scenario).map_err(|error| {
        of_run(study, &run.label, &Problems::new(&study.name, vec![Problem::of("a file", error.to_string())]))
    })?;
    run.folder = format!("{}.{}", plain(&run.label), &run.key[..12]);
    Ok(run)
}

/// Returns the mistakes under the name of the run in which they were found.
fn of_run(study: &Study, label: &str, problems: &Problems) -> Problems {
    let name = |problem: &Problem| Problem::of(format!("run \"{label}\""), problem.line());
    Problems::new(&study.name, problems.list().iter().map(name).collect())
}

/// Estimates the cost of a run.
fn weight(scenario: &Scenario) -> f64 {
    let settings = &scenario.settings;
    let sweeps = f64::from(settings.substeps) * (f64::from(settings.iterations) + SWEEPS_PER_STEP);
    scenario.duration / settings.time_step * sweeps * scenario.max_grains().max(1) as f64
}

/// Fingerprint of everything that the numbers of a run depend on: the version, the resolved scenario in a normal form without the keys that
/// affect no number, the kept quantities, and the files that the scenario reads.
///
/// # Errors
/// When one of these files can no longer be read.
fn fingerprint(study: &Study, scenario: &Scenario) -> io::Result<String> {
    let mut said: toml::Table = scenario.resolved.parse().map_err(io::Error::other)?;
    for key in ["title", "expect"] {
        said.remove(key);
    }
    said.iter_mut().for_each(|(_, value)| write_alike(value));
    let kept = serde_json::to_string(&scenario.expectations)?;
    let mut digest = Sha256::new();
    digest.update(format!("{}\n{said}\n{kept}\n", env!("CARGO_PKG_VERSION")));
    for input in scenario.inputs.iter().filter(|input| **input != study.scenario) {
        digest.update(read_bytes(input, LARGEST_TABLE)?);
    }
    Ok(digest.finalize().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}")))
}

/// Converts integers to floating-point numbers, so that 2 and 2.0 are written alike, as far as a float represents them exactly.
fn write_alike(value: &mut toml::Value) {
    match value {
        toml::Value::Integer(number) if number.unsigned_abs() < 1 << 53 => *value = (*number as f64).into(),
        toml::Value::Array(values) => values.iter_mut().for_each(write_alike),
        toml::Value::Table(table) => table.iter_mut().for_each(|(_, value)| write_alike(value)),
        _ => {}
    }
}

/// Makes a name that every file system accepts: `count-25.start-cold`.
fn plain(label: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = label.replace(", ", ".").replace(" = ", "-");
    let plain = words.chars().map(|c| if is_plain(c) || ".-".contains(c) { c } else { '_' });
    plain.take(LONGEST_NAME).collect()
}
