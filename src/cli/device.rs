//! Which engine runs a scenario.

use clap::ValueEnum;

use crate::engine::Engine;
use crate::error::Error;
use crate::gpu::device::{self, Device};
use crate::gpu::{Capacity, GpuEngine, Room};
use crate::reference::{Order, ReferenceEngine};
use crate::scenario::Scenario;

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

/// An engine on the chosen device, at the initial state of a scenario.
///
/// # Errors
/// When there is no such device, or the scene does not fit it.
pub fn open(choice: DeviceChoice, scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    match choice {
        DeviceChoice::Cpu => Ok(cpu(scenario)),
        DeviceChoice::Gpu => gpu(device::DeviceChoice::Hardware, scenario),
        DeviceChoice::Software => gpu(device::DeviceChoice::Software, scenario),
        DeviceChoice::Auto => match gpu(device::DeviceChoice::Hardware, scenario) {
            Err(Error::NoAdapter { .. }) => Ok(cpu(scenario)),
            Err(error @ (Error::NoDevice { .. } | Error::BufferTooLarge { .. } | Error::TooFar { .. })) => {
                eprintln!("warning: {error}; running on the CPU engine instead");
                Ok(cpu(scenario))
            }
            opened => opened,
        },
    }
}

/// Memory that a scenario needs on a GPU once all its grains are there.
pub(super) fn memory_plan(scenario: &Scenario) -> Capacity {
    Capacity::for_world(&scenario.world, scenario.max_grains(), scenario.settings.substeps, Room::Estimated)
}

fn cpu(scenario: &Scenario) -> Box<dyn Engine> {
    Box::new(ReferenceEngine::new(scenario.world.clone(), scenario.settings, Order::Coloured))
}

fn gpu(choice: device::DeviceChoice, scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    let device = Device::open(choice)?;
    Ok(Box::new(GpuEngine::new(device, scenario.world.clone(), scenario.settings)?))
}
