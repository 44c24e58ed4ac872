//! Choice of the engine that runs a scenario.

use clap::ValueEnum;

use crate::engine::Engine;
use crate::error::Error;
use crate::gpu::device::{self, Device};
use crate::scenario::Scenario;
use crate::simulation::device::{check_for_gpu, cpu as open_cpu, gpu as open_gpu};

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
    match choice {
        DeviceChoice::Cpu => cpu(scenario),
        DeviceChoice::Gpu => gpu(device::DeviceChoice::Hardware, scenario),
        DeviceChoice::Software => gpu(device::DeviceChoice::Software, scenario),
        DeviceChoice::Auto => match gpu(device::DeviceChoice::Hardware, scenario) {
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
        },
    }
}

fn cpu(scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    memory::check_machine("the CPU engine", memory::of_cpu(scenario), scenario)?;
    open_cpu(scenario)
}

fn gpu(choice: device::DeviceChoice, scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    let device = Device::open(choice)?;
    check_for_gpu(scenario)?;
    let plan = memory::of_gpu(scenario);
    plan.check(device.largest_binding())?;
    if device.is_software() {
        memory::check_machine("a software adapter", plan.bytes() + memory::of_host(scenario), scenario)?;
    }
    open_gpu(device, scenario)
}
