//! Devices that a simulation can run on.

#[cfg(feature = "gpu")]
use std::sync::Arc;

use crate::cpu::CpuEngine;
use crate::engine::Engine;
use crate::error::Error;
#[cfg(feature = "gpu")]
use crate::gpu::device::{self, DeviceChoice};
#[cfg(feature = "gpu")]
use crate::gpu::ensemble::Ensemble;
#[cfg(feature = "gpu")]
use crate::gpu::layout::check_single;
#[cfg(feature = "gpu")]
use crate::gpu::{Capacity, GpuEngine, Room};
use crate::model::World;
use crate::scenario::Scenario;

/// Device that a simulation runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// The graphics card; without one, the processor in double precision.
    Auto,
    /// The graphics card.
    Gpu,
    /// An adapter that runs shaders on the processor, such as lavapipe.
    Software,
    /// The processor in double precision.
    Cpu,
}

/// Opens an engine at the start of a scenario, with room for all its grains.
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

/// Opens an engine at the start of a scenario, with room for all its grains: the CPU engine, because this library was built without the
/// feature `gpu`.
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

/// World of a scenario at its start, with room for all its grains.
pub(crate) fn world_with_room(scenario: &Scenario) -> World {
    let mut world = scenario.world.clone();
    world.reserve(scenario.planned_grains());
    world
}

/// Makes the CPU engine at the start of a scenario.
///
/// # Errors
/// None so far: the memory of the machine is the only limit.
pub fn cpu(scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    let mut engine = CpuEngine::new(world_with_room(scenario), scenario.settings);
    engine.seed(&scenario.seeds)?;
    Ok(Box::new(engine))
}

/// Makes the GPU engine at the start of a scenario.
///
/// # Errors
/// When the scene does not fit the device.
#[cfg(feature = "gpu")]
pub fn gpu(device: device::Device, scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    gpu_in(&Ensemble::new(device, 1)?, scenario)
}

/// Makes the GPU engine at the start of a scenario, in an ensemble whose worlds are launched together.
///
/// # Errors
/// As [`gpu`], and when the ensemble is full.
#[cfg(feature = "gpu")]
pub fn gpu_in(ensemble: &Arc<Ensemble>, scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
    check_for_gpu(scenario)?;
    let world = world_with_room(scenario);
    let room = Room::Grains(scenario.planned_grains());
    let mut engine = GpuEngine::in_ensemble(ensemble, world, scenario.settings, room)?;
    engine.seed(&scenario.seeds)?;
    Ok(Box::new(engine))
}

/// Largest number of worlds in an ensemble for a study.
#[cfg(feature = "gpu")]
const MOST_WORLDS: usize = 256;
/// Largest size of the buffers of an ensemble for a study, where it holds several worlds \[bytes\]: that of 4·10⁵ grains, which fill any
/// card.
#[cfg(feature = "gpu")]
const MOST_BYTES: u64 = 1 << 30;

/// Makes an ensemble for `runs` scenes of at most this capacity: with room for as many as fill a card, or for one that fills it alone.
///
/// # Errors
/// None so far: where a device cannot launch many worlds, the ensemble has room for one.
#[cfg(feature = "gpu")]
pub fn ensemble_for(
    device: device::Device,
    capacity: &Capacity,
    runs: usize,
) -> Result<Arc<Ensemble>, Error> {
    let fits = |worlds: usize| {
        let worlds = worlds as u64;
        worlds * capacity.bytes() <= MOST_BYTES && worlds * capacity.largest().1 <= device.largest_binding()
    };
    let mut worlds = if device.launches_many() { runs.min(MOST_WORLDS).next_power_of_two() } else { 1 };
    while worlds > 1 && !fits(worlds) {
        worlds /= 2;
    }
    Ensemble::new(device, worlds)
}

/// Checks that the GPU engine can compute a scenario in single precision, including the grains of emitters.
///
/// # Errors
/// When it cannot, with the number that is out of its range.
#[cfg(feature = "gpu")]
pub fn check_for_gpu(scenario: &Scenario) -> Result<(), Error> {
    let only_on_cpu = [
        (!scenario.world.gates.is_empty(), "observe.gates"),
        (!scenario.world.residences.is_empty(), "observe.regions.residence"),
    ];
    if let Some((_, setting)) = only_on_cpu.into_iter().find(|(is_asked_for, _)| *is_asked_for) {
        return Err(Error::NotOnGpu { setting });
    }
    let there = scenario.world.spheres.iter().map(|sphere| (sphere.material, sphere.radius));
    let emitted = scenario.emitters.iter().flat_map(|emitter| {
        [emitter.smallest_radius(), emitter.largest_radius()].map(|radius| (emitter.material(), radius))
    });
    check_single(&scenario.world, &scenario.settings, there.chain(emitted))
}

#[cfg(all(test, feature = "gpu"))]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::law::pair::Material;
    use crate::model::{Gate, Heat, Materials, Region, Residence};
    use crate::settings::Settings;

    #[test]
    fn a_gpu_is_told_that_gates_residences_and_heat_are_of_the_cpu_engine() {
        let refused = |change: &dyn Fn(&mut World)| {
            let mut world = World::new(DVec3::ZERO, Materials::new(vec![Material::glass()]));
            change(&mut world);
            match check_for_gpu(&Scenario::of_world(world, Settings::default())) {
                Err(Error::NotOnGpu { setting }) => Some(setting),
                _ => None,
            }
        };
        let (name, point, normal) = ("here".to_owned(), DVec3::ZERO, DVec3::Z);
        let gate = Gate { name: name.clone(), point, normal, radius: None, material: None };
        let region = Region::Sphere { centre: point, radius: 1.0 };
        let residence = Residence { name, region, material: None, bounds: Vec::new() };
        assert_eq!(refused(&|world| world.gates.push(gate.clone())), Some("observe.gates"));
        let expected = Some("observe.regions.residence");
        assert_eq!(refused(&|world| world.residences.push(residence.clone())), expected);
        assert_eq!(refused(&|world| world.set_heat(Heat::new(300.0, Vec::new()))), Some("heat"));
        assert_eq!(refused(&|_| {}), None, "neither");
    }
}
