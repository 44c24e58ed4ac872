//! `esker devices`: what a scenario can run on.

use crate::engine::Engine;
use crate::reference::{Order, ReferenceEngine};
use crate::settings::Settings;
use crate::world::World;

use super::{Failure, Outcome};

/// Lists the devices.
pub(super) fn list() -> Result<Outcome, Failure> {
    let cpu = ReferenceEngine::new(World::default(), Settings::default(), Order::Coloured).identity();
    println!("--device {:<10} {} ({}, {})", cpu.engine, cpu.device, cpu.backend, cpu.driver);
    Ok(Outcome::Done)
}
