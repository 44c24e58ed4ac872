//! The module `_esker` of the Python package `esker`: the public `Simulation` of the library for Python.
//!
//! Every array that Python gets is a copy of its own. Long calls run without the interpreter lock, in batches of steps, between which
//! Ctrl-C is heard.

mod boundary;
mod contacts;
mod device;
mod errors;
mod fork;
mod grains;
mod handle;
mod reading;
mod runs;
mod scenario;
mod setters;
mod simulation;
mod stepping;
mod values;

use pyo3::prelude::*;

/// The engine of the package `esker`.
#[pymodule]
mod _esker {
    #[pymodule_export]
    use super::boundary::Boundary;
    #[pymodule_export]
    use super::contacts::Contacts;
    #[pymodule_export]
    use super::device::{Device, Ensemble, devices};
    #[pymodule_export]
    use super::errors::Problem;
    #[pymodule_export]
    use super::handle::Simulation;
    #[pymodule_export]
    use super::reading::{check, read_frame, read_index};
    #[pymodule_export]
    use super::runs::run;
    #[pymodule_export]
    use super::stepping::Progress;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::fork::begin();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
