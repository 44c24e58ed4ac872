//! Where a simulation runs.

use crate::cpu::CpuEngine;
use crate::engine::Engine;
use crate::error::Error;
#[cfg(feature = "gpu")]
use crate::gpu::device::{self, DeviceChoice};
#[cfg(feature = "gpu")]
use crate::gpu::layout::check_single;
#[cfg(feature = "gpu")]
use crate::gpu::{GpuEngine, Room};
use crate::scenario::Scenario;

/// Where a simulation runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// On a graphics card, or without one on the processor in double precision.
    Auto,
    /// On a graphics card.
    Gpu,
    /// On an adapter that runs shaders on the processor, such as lavapipe.
    Software,
    /// On the processor in double precision.
    Cpu,
}

/// An engine at the start of a scenario, with room for the grains that it will have.
///
/// # Errors
/// When there is no such device, or the scene does not fit it.
#[cfg(feature = "gpu")]
pub fn open(device: Device, scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    match device {
        Device::Cpu => cpu(scenario),
        Device::Gpu => gpu(device::Device::open(DeviceChoice::Hardware)?, scenario),
        Device::Software => gpu(device::Device::open(DeviceChoice::Software)?, scenario),
        Device::Auto => match device::Device::open(DeviceChoice::Hardware) {
            Err(Error::NoAdapter { .. }) => cpu(scenario),
            opened => gpu(opened?, scenario),
        },
    }
}

/// An engine at the start of a scenario, with room for the grains that it will have: the CPU engine, as this library was built
/// without the feature `gpu`.
///
/// # Errors
/// [`Error::NotBuilt`] where a graphics card is asked for.
#[cfg(not(feature = "gpu"))]
pub fn open(device: Device, scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    match device {
        Device::Cpu | Device::Auto => cpu(scenario),
        Device::Gpu | Device::Software => Err(Error::NotBuilt { what: "the GPU engine", feature: "gpu" }),
    }
}

/// The CPU engine at the start of a scenario.
///
/// # Errors
/// None so far: it has the room that the machine has.
pub fn cpu(scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    let mut world = scenario.world.clone();
    world.reserve(scenario.planned_grains());
    let mut engine = CpuEngine::new(world, scenario.settings);
    engine.seed(&scenario.seeds)?;
    Ok(Box::new(engine))
}

/// The GPU engine at the start of a scenario.
///
/// # Errors
/// When the scene does not fit the device.
#[cfg(feature = "gpu")]
pub fn gpu(device: device::Device, scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    check_for_gpu(scenario)?;
    let mut world = scenario.world.clone();
    world.reserve(scenario.planned_grains());
    let room = Room::Grains(scenario.planned_grains());
    let mut engine = GpuEngine::with_room(device, world, scenario.settings, room)?;
    engine.seed(&scenario.seeds)?;
    Ok(Box::new(engine))
}

/// Refuses what the GPU engine cannot compute in single precision, grains of emitters included.
///
/// # Errors
/// With the number that is beyond it.
#[cfg(feature = "gpu")]
pub fn check_for_gpu(scenario: &Scenario) -> Result<(), Error> {
    let there = scenario.world.spheres.iter().map(|sphere| (sphere.material, sphere.radius));
    let emitted = scenario.emitters.iter().flat_map(|emitter| {
        [emitter.smallest_radius(), emitter.largest_radius()].map(|radius| (emitter.material(), radius))
    });
    check_single(&scenario.world, &scenario.settings, there.chain(emitted))
}
