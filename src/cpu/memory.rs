//! Memory of the CPU engine: what it plans for a scene, and what it holds.

use glam::DMat3;

use crate::contact::Key;
use crate::contact::bonds::BondSystem;
use crate::contact::constraint::{Constraint, Onset};
use crate::contact::split::Split;
use crate::contact::velocity::Velocity;
use crate::engine::{is_guarded, planned_contacts};
use crate::model::World;
use crate::settings::{Acceleration, Algorithm, Settings};

use super::bridges::BridgeSystem;
use super::coarse::Coarse;
use super::contacts::per_method;
use super::gradient::ProjectedGradient;
use super::heat::HeatGains;
use super::search::Travel;
use super::springs::Spring;
use super::sweep::ProjectedGaussSeidel;
use super::{CpuEngine, keeps_works};

/// Bytes per contact that the engine keeps from step to step.
const HELD_PER_CONTACT: u64 = (size_of::<Key>() + size_of::<Constraint>() + size_of::<u32>()) as u64;
/// Temporary bytes per contact within a step: the impact stage solves a copy of the constraints.
const PASSING_PER_CONTACT: u64 = (size_of::<Constraint>() + 2 * size_of::<Key>()) as u64;

impl CpuEngine {
    /// Bytes that an engine needs for a world with this many grains: what it holds between steps, and its temporary lists within a step.
    pub fn planned_memory(world: &World, grains: usize, settings: &Settings) -> u64 {
        CpuEngine::planned_holdings(world, grains, settings)
            + CpuEngine::planned_passing(world, grains, settings)
    }

    /// Bytes of the temporary lists within a step.
    pub fn planned_passing(world: &World, grains: usize, settings: &Settings) -> u64 {
        let bodies = world.bodies_with(grains) as u64;
        let contacts = planned_contacts(world.planned_spheres(grains)) as u64;
        let coarse = if settings.coarse_corrections > 0 { Coarse::passing_bytes(bodies) } else { 0 };
        let gradient = match settings.algorithm {
            Algorithm::Pgs => 0,
            Algorithm::Apgd => ProjectedGradient::passing_bytes(contacts),
        };
        contacts * PASSING_PER_CONTACT + coarse + gradient
    }

    /// Bytes that the engine holds between steps.
    pub fn planned_holdings(world: &World, grains: usize, settings: &Settings) -> u64 {
        let spheres = world.planned_spheres(grains);
        let contacts = planned_contacts(spheres) as u64;
        let bodies = world.bodies_with(grains) as u64;
        let keeps_works = keeps_works(is_guarded(settings, world), settings, world);
        let lists = if keeps_works { 2 } else { 1 };
        let [onsets, springs] = per_method(settings.method, contacts as usize);
        let splitting = Split::planned_bytes(bodies, contacts);
        let momentum = match settings.acceleration {
            Acceleration::Nesterov => ProjectedGaussSeidel::planned_bytes(bodies),
            Acceleration::None => 0,
        };
        world.planned_bytes(world.bodies_with(grains))
            + bodies * lists * size_of::<Velocity>() as u64
            + if world.measures_grains { grains * size_of::<DMat3>() } else { 0 } as u64
            + Travel::planned_bytes(spheres as u64, world.boundaries.len() as u64)
            + contacts * HELD_PER_CONTACT
            + (onsets * size_of::<Onset>() + springs * size_of::<Spring>()) as u64
            + if world.heat.is_some() { HeatGains::planned_bytes(bodies) } else { 0 }
            + splitting
            + momentum
            + BondSystem::planned_bytes(world.bonds.list.len() as u64)
            + world
                .liquid
                .as_ref()
                .map_or(0, |liquid| BridgeSystem::planned_bytes(contacts, liquid.law.viscosity > 0.0))
    }

    /// Bytes that the engine holds now.
    pub(super) fn held_bytes(&self) -> u64 {
        let velocities = self.velocities.capacity() + self.velocities_before.capacity();
        let contacts = self.constraints.capacity() * size_of::<Constraint>()
            + self.onsets.capacity() * size_of::<Onset>()
            + self.springs.capacity() * size_of::<Spring>()
            + self.keys.capacity() * size_of::<Key>()
            + (self.colouring.order.capacity() + self.boundary_constraints.capacity()) * size_of::<u32>();
        self.world.bytes()
            + (velocities * size_of::<Velocity>() + contacts) as u64
            + self.travel.bytes()
            + self.heat.bytes()
            + self.split.bytes()
            + self.patches.bytes()
            + self.solver.bytes()
            + self.bonds.bytes()
            + self.bridges.bytes()
    }
}
