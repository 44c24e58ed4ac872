//! Scenarios from files, dictionaries and checkpoints.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker::checkpoint::Checkpoint;
use esker::scenario::Scenario;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Origin, raised, wrong, wrong_at};
use crate::fork;
use crate::values::{overrides, scenario_text, shown};

/// Loads the scenario of a file.
pub fn of_file(py: Python<'_>, path: &Path, set: Option<&Bound<'_, PyDict>>) -> PyResult<Arc<Scenario>> {
    let overrides = overrides(set)?;
    let scenario = fork::detached(py, || Scenario::load(path, &overrides))?;
    scenario.map(Arc::new).map_err(|problems| wrong_at(py, &problems, path))
}

/// Reads the scenario in a dictionary; paths in it start at `folder`.
pub fn of_dictionary(
    dictionary: &Bound<'_, PyDict>,
    name: &str,
    folder: &Path,
    set: Option<&Bound<'_, PyDict>>,
) -> PyResult<Arc<Scenario>> {
    let (py, text, overrides) = (dictionary.py(), scenario_text(dictionary)?, overrides(set)?);
    let scenario = fork::detached(py, || Scenario::parse(name, &text, folder, &overrides))?;
    scenario.map(Arc::new).map_err(|problems| wrong(py, &problems, Origin::Dictionary))
}

/// Reads a scenario from the path of a file or from a dictionary.
pub fn of_either(object: &Bound<'_, PyAny>, set: Option<&Bound<'_, PyDict>>) -> PyResult<Arc<Scenario>> {
    if let Ok(dictionary) = object.cast::<PyDict>() {
        return of_dictionary(dictionary, "scenario", Path::new(""), set);
    }
    let path: PathBuf = object.extract().map_err(|_| {
        let found = shown(object);
        PyTypeError::new_err(format!("scenario: expected the path of a file or a dictionary, found {found}"))
    })?;
    of_file(object.py(), &path, set)
}

/// Scenario that a checkpoint was saved from. The file of the checkpoint counts as an input: no results may replace it.
pub fn of_checkpoint(
    py: Python<'_>,
    checkpoint: &Checkpoint,
    set: Option<&Bound<'_, PyDict>>,
) -> PyResult<Arc<Scenario>> {
    let name = checkpoint.path.file_stem().unwrap_or_default().to_string_lossy();
    let overrides = overrides(set)?;
    // The folder of results, from which the scenario there names its meshes.
    let folder = checkpoint.path.parent().unwrap_or(Path::new(""));
    let scenario = fork::detached(py, || Scenario::parse(&name, &checkpoint.resolved, folder, &overrides))?;
    let mut scenario = scenario.map_err(|problems| wrong(py, &problems, Origin::File))?;
    scenario.inputs.0.push(checkpoint.path.clone());
    Ok(Arc::new(scenario))
}

/// Reads a checkpoint from its file, or from a folder of results.
pub fn checkpoint(py: Python<'_>, path: &Path) -> PyResult<Checkpoint> {
    fork::detached(py, || Checkpoint::read(path))?.map_err(|error| raised(&error))
}
