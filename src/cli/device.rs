//! Choice of the engine that runs a scenario.

use std::sync::Arc;

use clap::ValueEnum;

use crate::engine::Engine;
use crate::error::Error;
use crate::gpu::device::{self, Device};
use crate::gpu::ensemble::Ensemble;
use crate::scenario::Scenario;
use crate::simulation::device::{check_for_gpu, cpu as open_cpu, ensemble_for, gpu as open_gpu, gpu_in};

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
    let opened = |choice| gpu(&Device::open(choice)?, scenario, open_gpu);
    match choice {
        DeviceChoice::Cpu => cpu(scenario),
        DeviceChoice::Gpu => opened(device::DeviceChoice::Hardware),
        DeviceChoice::Software => opened(device::DeviceChoice::Software),
        DeviceChoice::Auto => or_cpu(opened(device::DeviceChoice::Hardware), scenario),
    }
}

/// Engines for the runs of a study. On a GPU they are launched together.
pub struct Engines {
    choice: DeviceChoice,
    /// Worlds on the device; `None` on the CPU engine.
    ensemble: Option<(Device, Arc<Ensemble>)>,
}

impl Engines {
    /// Prepares the chosen device for these runs.
    ///
    /// # Errors
    /// When there is no such device, or a scenario cannot be read.
    pub fn new(
        choice: DeviceChoice,
        runs: impl Iterator<Item = Result<Scenario, Error>>,
    ) -> Result<Engines, Error> {
        let device = match choice {
            DeviceChoice::Cpu => None,
            DeviceChoice::Gpu => Some(Device::open(device::DeviceChoice::Hardware)?),
            DeviceChoice::Software => Some(Device::open(device::DeviceChoice::Software)?),
            DeviceChoice::Auto => match Device::open(device::DeviceChoice::Hardware) {
                Ok(device) => Some(device),
                // Each run says why the CPU engine takes it.
                Err(Error::NoAdapter { .. } | Error::NoDevice { .. }) => None,
                Err(error) => return Err(error),
            },
        };
        let Some(device) = device else { return Ok(Engines { choice, ensemble: None }) };
        let capacities =
            runs.map(|scenario| Ok(memory::of_gpu(&scenario?))).collect::<Result<Vec<_>, Error>>()?;
        let runs = capacities.len();
        let Some(largest) = capacities.into_iter().reduce(|a, b| a.union(&b)) else {
            return Ok(Engines { choice, ensemble: None });
        };
        let ensemble = ensemble_for(device.clone(), &largest, runs)?;
        Ok(Engines { choice, ensemble: Some((device, ensemble)) })
    }

    /// Returns the number of runs that a GPU makes at the same time.
    pub fn at_once(&self) -> usize {
        self.ensemble.as_ref().map_or(1, |(_, ensemble)| ensemble.room())
    }

    /// Opens an engine at the initial state of a scenario.
    ///
    /// # Errors
    /// When the scene does not fit the device.
    pub fn open(&self, scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
        let Some((device, ensemble)) = &self.ensemble else { return open(self.choice, scenario) };
        let opened = gpu(device, scenario, |_, scenario| gpu_in(ensemble, scenario));
        if self.choice == DeviceChoice::Auto { or_cpu(opened, scenario) } else { opened }
    }
}

/// Returns an engine on a GPU, or the CPU engine where there is none or the scene does not fit it.
fn or_cpu(opened: Result<Box<dyn Engine>, Error>, scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    match opened {
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

/// Opens an engine on a device, after a check of the scene and of the memory that it needs.
fn gpu(
    device: &Device,
    scenario: &Scenario,
    open: impl FnOnce(Device, &Scenario) -> Result<Box<dyn Engine>, Error>,
) -> Result<Box<dyn Engine>, Error> {
    check_for_gpu(scenario)?;
    let plan = memory::of_gpu(scenario);
    plan.check(device.largest_binding())?;
    if device.is_software() {
        memory::check_machine("a software adapter", plan.bytes() + memory::of_host(scenario), scenario)?;
    }
    open(device.clone(), scenario)
}
