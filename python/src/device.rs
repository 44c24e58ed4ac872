//! Devices: their names in Python, and the class `Device`.

use esker::checkpoint::Checkpoint;
use esker::engine::{Identity, Precision};
use esker::gpu::device::Device as Adapter;
use esker::scenario::Scenario;
use esker::simulation::Device as Choice;
use esker::simulation::device::open;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::raised;
use crate::values::shown;

/// A device that simulations run on.
#[pyclass(frozen, get_all, module = "esker")]
pub struct Device {
    /// Word for it: "cpu", "gpu" or "software".
    pub choice: String,
    /// Name of the processor or graphics card.
    pub name: String,
    /// Interface to it: "rayon", "vulkan", "metal" or "dx12".
    pub backend: String,
    /// Driver and its version, or the number of threads.
    pub driver: String,
    /// Precision of its numbers: "single" or "double".
    pub precision: String,
}

#[pymethods]
impl Device {
    fn __repr__(&self) -> String {
        let Device { choice, name, backend, driver, precision } = self;
        format!("<Device {choice}: {name} ({backend}, {driver}, {precision} precision)>")
    }
}

impl Device {
    /// Device that an engine runs on; `word` is the name that was asked for.
    pub fn of(identity: Identity, word: &str) -> Device {
        let precision = match identity.precision {
            Precision::Single => "single",
            Precision::Double => "double",
        };
        Device {
            choice: if word == "auto" { identity.engine } else { word }.to_owned(),
            name: identity.device,
            backend: identity.backend,
            driver: identity.driver,
            precision: precision.to_owned(),
        }
    }
}

/// The devices that simulations can run on: the processor, graphics cards, software adapters.
#[pyfunction]
pub fn devices(py: Python<'_>) -> PyResult<Vec<Device>> {
    let empty = Scenario::of_world(Default::default(), Default::default());
    let (cpu, adapters) = py.detach(|| (open(Choice::Cpu, &empty), Adapter::open_all()));
    let cpu = cpu.map_err(|error| raised(&error))?.identity();
    let adapters = adapters.into_iter().filter_map(|(report, device)| {
        let word = if report.is_software() { "software" } else { "gpu" };
        device.ok().map(|device| Device::of(device.identity(), word))
    });
    Ok(std::iter::once(Device::of(cpu, "cpu")).chain(adapters).collect())
}

/// Names of the devices.
const WORDS: [(&str, Choice); 4] =
    [("auto", Choice::Auto), ("gpu", Choice::Gpu), ("software", Choice::Software), ("cpu", Choice::Cpu)];

/// Name of a device, and the device.
pub struct Word {
    pub text: String,
    pub device: Choice,
}

impl Word {
    /// Name and device when none is given.
    pub fn auto() -> Word {
        Word { text: "auto".to_owned(), device: Choice::Auto }
    }
}

/// Reads the name of a device.
pub fn word(object: &Bound<'_, PyAny>) -> PyResult<Word> {
    let expected = r#"device: expected "auto", "gpu", "software" or "cpu""#;
    let text = object
        .cast::<PyString>()
        .map_err(|_| PyTypeError::new_err(format!("{expected}, found {}", shown(object))))?
        .to_string();
    let device = WORDS.into_iter().find(|(known, _)| *known == text).map(|(_, device)| device);
    let device =
        device.ok_or_else(|| PyValueError::new_err(format!("{expected}, found {}", shown(object))))?;
    Ok(Word { text, device })
}

/// Device for a checkpoint: without a choice, the kind of device that saved it.
pub fn device_for(device: Choice, checkpoint: &Checkpoint) -> Choice {
    match (device, checkpoint.header.engine.as_str()) {
        (Choice::Auto, "cpu") => Choice::Cpu,
        (Choice::Auto, _) => Choice::Gpu,
        (device, _) => device,
    }
}
