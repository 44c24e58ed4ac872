//! Choice of the engine that runs a scenario.

use std::sync::Arc;

use clap::ValueEnum;

use crate::engine::Engine;
use crate::error::Error;
use crate::gpu::device::{self, Device};
use crate::gpu::ensemble::Ensemble;
use crate::scenario::Scenario;
use crate::simulation::device::{check_for_gpu, cpu as open_cpu, ensemble_for, gpu_in};

use super::memory;
use super::terminal::note;

/// The device a user asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeviceChoice {
    /// A hardware GPU, else the CPU engine.
    Auto,
    /// A hardware GPU.
    Gpu,
    /// A software adapter such as lavapipe.
    Software,
    /// The double-precision CPU engine.
    Cpu,
}

impl DeviceChoice {
    /// Kind of the adapter; `None` for the CPU engine.
    fn adapter(self) -> Option<device::DeviceChoice> {
        match self {
            DeviceChoice::Cpu => None,
            DeviceChoice::Software => Some(device::DeviceChoice::Software),
            DeviceChoice::Auto | DeviceChoice::Gpu => Some(device::DeviceChoice::Hardware),
        }
    }

    /// Name of the choice on the command line.
    pub fn word(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// Opens an engine on the chosen device, at the initial state of a scenario.
///
/// # Errors
/// When there is no such device, or the scene does not fit it.
pub fn open(choice: DeviceChoice, scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    let Some(adapter) = choice.adapter() else { return cpu(scenario) };
    let alone = Device::open(adapter).and_then(|device| Ensemble::new(device, 1));
    or_cpu(choice, alone.and_then(|ensemble| gpu(&ensemble, scenario)), scenario)
}

/// Engines for the runs of a study. On a GPU they are launched together.
pub struct OpenEngines {
    choice: DeviceChoice,
    /// Worlds on the device; `None` on the CPU engine.
    ensemble: Option<Arc<Ensemble>>,
}

impl OpenEngines {
    /// Prepares the chosen device for these runs.
    ///
    /// # Errors
    /// When there is no such device, or a scenario cannot be read.
    pub fn new(
        choice: DeviceChoice,
        runs: impl Iterator<Item = Result<Scenario, Error>>,
    ) -> Result<OpenEngines, Error> {
        let device = match choice.adapter().map(Device::open).transpose() {
            // Each run says why the CPU engine takes it.
            Err(Error::NoAdapter { .. } | Error::NoDevice { .. }) if choice == DeviceChoice::Auto => None,
            opened => opened?,
        };
        let Some(device) = device else { return Ok(OpenEngines { choice, ensemble: None }) };
        let capacities =
            runs.map(|scenario| Ok(memory::of_gpu(&scenario?))).collect::<Result<Vec<_>, Error>>()?;
        let runs = capacities.len();
        let largest = capacities.into_iter().reduce(|a, b| a.union(&b));
        let ensemble = largest.map(|largest| ensemble_for(device, &largest, runs)).transpose()?;
        Ok(OpenEngines { choice, ensemble })
    }

    /// Returns the number of runs that a GPU makes at the same time.
    pub fn at_once(&self) -> usize {
        self.ensemble.as_ref().map_or(1, |ensemble| ensemble.room())
    }

    /// Opens an engine at the initial state of a scenario.
    ///
    /// # Errors
    /// When the scene does not fit the device.
    pub fn open(&self, scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
        match &self.ensemble {
            Some(ensemble) => or_cpu(self.choice, gpu(ensemble, scenario), scenario),
            None => open(self.choice, scenario),
        }
    }
}

/// Returns an engine on a GPU. Where the choice is `Auto`, and there is no GPU or the scene does not fit it, returns the CPU engine.
fn or_cpu(
    choice: DeviceChoice,
    opened: Result<Box<dyn Engine>, Error>,
    scenario: &Scenario,
) -> Result<Box<dyn Engine>, Error> {
    match opened {
        Err(error) if choice != DeviceChoice::Auto => Err(error),
        Err(Error::NoAdapter { .. }) => cpu(scenario),
        Err(
            error @ (Error::NoDevice { .. }
            | Error::BufferTooLarge { .. }
            | Error::DeviceTooSmall { .. }
            | Error::TooFar { .. }
            | Error::BeyondSingle { .. }
            | Error::MachineTooLarge { .. }
            | Error::TooSmall { .. }
            | Error::NotOnGpu { .. }),
        ) => {
            note!("warning: {error}; running on the CPU engine instead");
            cpu(scenario)
        }
        opened => opened,
    }
}

fn cpu(scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    memory::check_machine("the CPU engine", memory::of_cpu(scenario), scenario)?;
    open_cpu(scenario)
}

/// Opens an engine in an ensemble, after a check of the scene and of the memory that it needs.
fn gpu(ensemble: &Arc<Ensemble>, scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    let device = ensemble.device();
    check_for_gpu(scenario)?;
    let plan = memory::of_gpu(scenario);
    plan.check(device.largest_binding())?;
    if device.is_software() {
        memory::check_machine("a software adapter", plan.bytes() + memory::of_host(scenario), scenario)?;
    }
    gpu_in(ensemble, scenario)
}
