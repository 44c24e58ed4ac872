//! Devices: their names in Python, and the classes `Device` and `Ensemble`.

use std::sync::Arc;

use esker::checkpoint::Checkpoint;
use esker::engine::{Engine, Identity, Precision};
use esker::gpu::device::{Device as Adapter, DeviceChoice};
use esker::gpu::ensemble::Ensemble as Worlds;
use esker::scenario::Scenario;
use esker::simulation::Device as Choice;
use esker::simulation::device::{gpu_in, open};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::{raised, refused};
use crate::fork;
use crate::values::{shown, whole};

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
    fork::check_cards()?;
    let (cpu, adapters) = fork::detached(py, || (open(Choice::Cpu, &empty), Adapter::open_all()))?;
    if adapters.iter().any(|(_, device)| device.is_ok()) {
        fork::note_cards();
    }
    let cpu = cpu.map_err(|error| raised(&error))?.identity();
    let adapters = adapters.into_iter().filter_map(|(report, device)| {
        let word = if report.is_software() { "software" } else { "gpu" };
        device.ok().map(|device| Device::of(device.identity(), word))
    });
    Ok(std::iter::once(Device::of(cpu, "cpu")).chain(adapters).collect())
}

/// Worlds of many simulations on one graphics card, which are launched together.
///
/// A card that one small scene leaves idle is full with hundreds. `Simulation.from_file(path, device=ensemble)` takes one of its `worlds`
/// places, until the simulation is deleted. Each simulation steps in a thread of its own, as with `concurrent.futures`; a launch waits
/// for the others, and goes without those that have something else to do. All come to the numbers that they have alone. `device` is
/// "auto" or "gpu", a graphics card, or "software".
#[pyclass(frozen, module = "esker")]
pub struct Ensemble {
    worlds: Arc<Worlds>,
}

#[pymethods]
impl Ensemble {
    #[new]
    #[pyo3(signature = (worlds, device = Word::auto()))]
    #[pyo3(text_signature = "(worlds, device='auto')")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = whole)] worlds: usize,
        #[pyo3(from_py_with = word)] device: Word,
    ) -> PyResult<Ensemble> {
        let choice = match (device.device, &device.ensemble) {
            (Choice::Auto | Choice::Gpu, None) => DeviceChoice::Hardware,
            (Choice::Software, None) => DeviceChoice::Software,
            _ => {
                let message =
                    "device: an ensemble is on a graphics card: expected \"auto\", \"gpu\" or \"software\"";
                return Err(refused(message));
            }
        };
        fork::check_cards()?;
        let made = fork::detached(py, || Worlds::new(Adapter::open(choice)?, worlds))?;
        let worlds = made.map_err(|error| raised(&error))?;
        fork::note_cards();
        Ok(Ensemble { worlds })
    }

    /// Number of simulations for which there is room: the number asked for, rounded up to a power of two.
    #[getter]
    fn worlds(&self) -> usize {
        self.worlds.room()
    }

    fn __repr__(&self) -> String {
        format!("<Ensemble of {} worlds>", self.worlds.room())
    }
}

/// Names of the devices.
const WORDS: [(&str, Choice); 4] =
    [("auto", Choice::Auto), ("gpu", Choice::Gpu), ("software", Choice::Software), ("cpu", Choice::Cpu)];

/// Name of a device, and the device.
pub struct Word {
    pub text: String,
    pub device: Choice,
    /// Ensemble in place of a device of its own.
    ensemble: Option<Arc<Worlds>>,
}

impl Word {
    /// Name and device when none is given.
    pub fn auto() -> Word {
        Word { text: "auto".to_owned(), device: Choice::Auto, ensemble: None }
    }

    /// Opens an engine at the start of a scenario, or one that is to go on from a checkpoint. That is without a choice on the kind of
    /// device that saved it.
    pub fn open(
        &self,
        py: Python<'_>,
        scenario: &Scenario,
        checkpoint: Option<&Checkpoint>,
    ) -> PyResult<Box<dyn Engine>> {
        let saved_on = checkpoint.map(|checkpoint| checkpoint.header.engine.as_str());
        let choice = match (self.device, saved_on) {
            (Choice::Auto, Some("cpu")) => Choice::Cpu,
            (Choice::Auto, Some(_)) => Choice::Gpu,
            (choice, _) => choice,
        };
        if self.ensemble.is_some() || choice != Choice::Cpu {
            fork::check_cards()?;
        }
        let opened = fork::detached(py, || match &self.ensemble {
            Some(ensemble) => gpu_in(ensemble, scenario),
            None => open(choice, scenario),
        })?;
        let engine = opened.map_err(|error| raised(&error))?;
        if engine.identity().engine == "gpu" {
            fork::note_cards();
        }
        Ok(engine)
    }
}

/// Reads the name of a device, or an ensemble.
pub fn word(object: &Bound<'_, PyAny>) -> PyResult<Word> {
    if let Ok(ensemble) = object.cast::<Ensemble>() {
        let ensemble = Some(Arc::clone(&ensemble.get().worlds));
        return Ok(Word { text: "gpu".to_owned(), device: Choice::Gpu, ensemble });
    }
    let expected = r#"device: expected "auto", "gpu", "software", "cpu" or an Ensemble"#;
    let text = object
        .cast::<PyString>()
        .map_err(|_| PyTypeError::new_err(format!("{expected}, found {}", shown(object))))?
        .to_string();
    let device = WORDS.into_iter().find(|(known, _)| *known == text).map(|(_, device)| device);
    let device = device.ok_or_else(|| refused(format!("{expected}, found {}", shown(object))))?;
    Ok(Word { text, device, ensemble: None })
}
