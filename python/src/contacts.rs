//! The class `Contacts`.

use esker::engine::Snapshot;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::grains::position;
use crate::handle::Simulation;
use crate::values::{grain_id, table};

/// The contacts of one state: arrays with one row per contact, of pairs that touch or nearly touch.
///
/// A contact is between a body a and a body b. `normals` point from b to a; all forces are those on a, and those on b are the opposite.
/// They are means over the last substep.
#[pyclass(frozen, get_all, module = "esker")]
pub struct Contacts {
    /// Bodies a and b, array of shape (n, 2): ids of grains, or -1 - i for boundary number i of `boundaries`.
    bodies: Py<PyArray2<i64>>,
    /// Contact points, array of shape (n, 3) [m].
    points: Py<PyArray2<f64>>,
    /// Unit vectors from b to a, array of shape (n, 3) [-].
    normals: Py<PyArray2<f64>>,
    /// Gaps, negative where the bodies overlap, array of shape (n,) [m].
    gaps: Py<PyArray1<f64>>,
    /// Normal forces, positive where they push apart, array of shape (n,) [N].
    normal_forces: Py<PyArray1<f64>>,
    /// Friction forces on a, array of shape (n, 3) [N].
    friction_forces: Py<PyArray2<f64>>,
    /// Torques of rolling and twisting resistance on a, array of shape (n, 3) [N m].
    rolling_torques: Py<PyArray2<f64>>,
    /// Whether friction is at its bound, array of shape (n,).
    sliding: Py<PyArray1<bool>>,
    /// Names of the boundaries of the scene.
    boundaries: Vec<String>,
}

#[pymethods]
impl Contacts {
    /// Which contacts a body takes part in, array of shape (n,) of booleans. `body` is the id of a grain or the name of a boundary.
    fn of<'py>(&self, py: Python<'py>, body: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let wanted = match body.extract::<String>() {
            Ok(name) => -1 - position(&name, self.boundaries.iter().map(String::as_str), "boundary")? as i64,
            Err(_) => grain_id(body)?,
        };
        let bodies = self.bodies.bind(py).readonly();
        let found =
            bodies.as_array().rows().into_iter().map(|row| row.iter().any(|body| *body == wanted)).collect();
        Ok(PyArray1::from_vec(py, found))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.gaps.bind(py).len().unwrap_or_default()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<{} Contacts>", self.__len__(py))
    }
}

/// Columns of the arrays of the contacts.
#[derive(Default)]
struct Columns {
    bodies: Vec<i64>,
    points: Vec<[f64; 3]>,
    normals: Vec<[f64; 3]>,
    gaps: Vec<f64>,
    normal_forces: Vec<f64>,
    friction_forces: Vec<[f64; 3]>,
    rolling_torques: Vec<[f64; 3]>,
    sliding: Vec<bool>,
}

impl Columns {
    fn of(state: &Snapshot) -> Columns {
        let world = &state.world;
        let mut columns = Columns::default();
        for contact in &state.contacts {
            let force = contact.impulse.scaled(1.0 / state.substep);
            columns.bodies.extend(contact.bodies.map(|body| world.label(body)));
            columns.points.push(contact.point.to_array());
            columns.normals.push(contact.normal.to_array());
            columns.gaps.push(contact.gap);
            columns.normal_forces.push(force.normal);
            columns.friction_forces.push(force.tangent.to_array());
            columns.rolling_torques.push(force.rolling.to_array());
            columns.sliding.push(contact.is_sliding());
        }
        columns
    }
}

/// Contacts of the present state.
pub fn contacts(own: &Simulation, py: Python<'_>) -> PyResult<Contacts> {
    let columns = own.with(py, |engine| Ok(Columns::of(engine.state()?)))?;
    let count = columns.gaps.len();
    Ok(Contacts {
        bodies: PyArray1::from_vec(py, columns.bodies).reshape([count, 2])?.unbind(),
        points: table(py, columns.points)?.unbind(),
        normals: table(py, columns.normals)?.unbind(),
        gaps: PyArray1::from_vec(py, columns.gaps).unbind(),
        normal_forces: PyArray1::from_vec(py, columns.normal_forces).unbind(),
        friction_forces: table(py, columns.friction_forces)?.unbind(),
        rolling_torques: table(py, columns.rolling_torques)?.unbind(),
        sliding: PyArray1::from_vec(py, columns.sliding).unbind(),
        boundaries: own.scenario.world.boundaries.iter().map(|boundary| boundary.name.clone()).collect(),
    })
}
