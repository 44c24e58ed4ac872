//! Which engine runs a scenario.

use clap::ValueEnum;

use crate::engine::Engine;
use crate::error::Error;
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
/// When there is no such device.
pub fn open(choice: DeviceChoice, scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    match choice {
        DeviceChoice::Auto | DeviceChoice::Cpu => Ok(Box::new(cpu(scenario))),
        DeviceChoice::Gpu => Err(no_adapter("hardware GPU")),
        DeviceChoice::Software => Err(no_adapter("software")),
    }
}

fn cpu(scenario: &Scenario) -> ReferenceEngine {
    ReferenceEngine::new(scenario.world.clone(), scenario.settings, Order::Coloured)
}

fn no_adapter(wanted: &'static str) -> Error {
    Error::NoAdapter { wanted, advice: "use --device cpu" }
}
