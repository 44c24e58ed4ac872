//! Functions that need no simulation: frames of results, and the check of a scenario.

use std::path::PathBuf;

use esker::output::collection::read_series;
use esker::output::vtp::{Array, PolyData, Values};
use esker::simulation::device::check_for_gpu;
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{in_python, raised};
use crate::fork;
use crate::scenario::of_either;
use crate::values::table;

/// Paths of all frames of a kind in a folder of results, each with its time [s].
#[pyfunction]
pub fn read_index(folder: PathBuf, kind: &str) -> PyResult<Vec<(PathBuf, f64)>> {
    read_series(&folder, kind).map_err(|error| raised(&error))
}

/// Arrays of a frame by their names; "points" has the points [m] and "time" the time [s].
#[pyfunction]
pub fn read_frame(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let frame = fork::detached(py, || PolyData::read(&path))?.map_err(|error| raised(&error))?;
    let dictionary = PyDict::new(py);
    dictionary.set_item("time", frame.time)?;
    dictionary.set_item("points", table(py, frame.points)?)?;
    let arrays = frame.point_data.into_iter().chain(frame.cell_data).chain(frame.field_data);
    for array in arrays {
        let name = array.name.to_string();
        dictionary.set_item(name, of_array(py, array)?)?;
    }
    Ok(dictionary)
}

fn of_array(py: Python<'_>, array: Array) -> PyResult<Bound<'_, PyAny>> {
    let shape = (array.len(), array.components);
    match array.values {
        Values::Float32(values) => shaped(py, values, shape),
        Values::Float64(values) => shaped(py, values, shape),
        Values::Int32(values) => shaped(py, values, shape),
    }
}

fn shaped<T: Element>(
    py: Python<'_>,
    values: Vec<T>,
    (count, components): (usize, usize),
) -> PyResult<Bound<'_, PyAny>> {
    let array = PyArray1::from_vec(py, values);
    if components == 1 { Ok(array.into_any()) } else { Ok(array.reshape([count, components])?.into_any()) }
}

/// What a scenario amounts to, in a dictionary.
#[pyfunction]
#[pyo3(signature = (scenario, set = None))]
pub fn check<'py>(
    scenario: &Bound<'py, PyAny>,
    set: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = scenario.py();
    let scenario = of_either(scenario, set)?;
    let world = &scenario.world;
    let names = |names: Vec<&String>| names.into_iter().cloned().collect::<Vec<String>>();
    let found = PyDict::new(py);
    found.set_item("name", &scenario.name)?;
    found.set_item("title", &scenario.title)?;
    found.set_item("duration", scenario.duration)?;
    found.set_item("time_step", scenario.settings.time_step)?;
    found.set_item("grains", world.grain_count())?;
    found.set_item("most_grains", scenario.max_grains())?;
    found.set_item("boundaries", names(world.boundaries.iter().map(|boundary| &boundary.name).collect()))?;
    found.set_item("joints", names(world.joints.iter().map(|joint| &joint.name).collect()))?;
    found
        .set_item("materials", names(world.materials.list.iter().map(|material| &material.name).collect()))?;
    found.set_item("notes", &scenario.notes)?;
    found
        .set_item("not_on_gpu", check_for_gpu(&scenario).err().map(|error| in_python(&error.to_string())))?;
    found.set_item("resolved", &scenario.resolved)?;
    Ok(found)
}
