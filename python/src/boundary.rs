//! The class `Boundary`.

use numpy::PyArray1;
use pyo3::prelude::*;

use crate::grains::position;
use crate::handle::Simulation;

/// A boundary as it is now.
#[pyclass(frozen, get_all, module = "esker")]
pub struct Boundary {
    /// Its name.
    name: String,
    /// Position of its body, array of shape (3,) [m].
    position: Py<PyArray1<f64>>,
    /// Orientation of its body as a quaternion (x, y, z, w), array of shape (4,) [-].
    orientation: Py<PyArray1<f64>>,
    /// Velocity, array of shape (3,) [m/s].
    velocity: Py<PyArray1<f64>>,
    /// Angular velocity, array of shape (3,) [rad/s].
    angular_velocity: Py<PyArray1<f64>>,
}

#[pymethods]
impl Boundary {
    fn __repr__(&self) -> String {
        format!("<Boundary {}>", self.name)
    }
}

/// A boundary of the present state, by its name.
pub fn boundary(own: &Simulation, py: Python<'_>, name: &str) -> PyResult<Boundary> {
    let names = own.scenario.world.boundaries.iter().map(|boundary| boundary.name.as_str());
    let index = position(name, names, "boundary")?;
    let (place, turn, velocity, spin) = own.with(py, move |engine| {
        let bodies = &engine.state()?.world.bodies;
        let (velocity, spin) = (bodies.velocity[index], bodies.angular_velocity[index]);
        Ok((bodies.position[index], bodies.orientation[index], velocity, spin))
    })?;
    let array = |numbers: &[f64]| PyArray1::from_slice(py, numbers).unbind();
    Ok(Boundary {
        name: name.to_owned(),
        position: array(&place.to_array()),
        orientation: array(&turn.to_array()),
        velocity: array(&velocity.to_array()),
        angular_velocity: array(&spin.to_array()),
    })
}
