//! Newcomers: grains that are added between two steps go to the ranks in whose regions they are.
//!
//! The whole world knows the places of all grains. It is told first which grains were removed, as newcomers take their places. Until the
//! next search a rank keeps newcomers after its other grains, in no order.

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use crate::cpu::CpuEngine;
use crate::model::{GrainState, World};

use super::handover::Held;
use super::{Links, links};

/// Owner of a removed grain.
const NOBODY: u32 = u32::MAX;

/// What all ranks are told when newcomers come.
#[derive(Serialize, Deserialize)]
struct Arrival {
    is_guarded: bool,
    /// Kinetic energy of the newcomers \[J\].
    energy: f64,
    largest_diameter: f64,
    largest_reach: f64,
}

/// Collects centres \[m\] and radii \[m\] of the spheres of all grains on rank 0.
pub(super) fn collect_spheres(part: &mut CpuEngine) -> Vec<(DVec3, f64)> {
    let links = links(&mut *part.coupling);
    let world = &part.world;
    let own = links.held.own(links.communicator.rank()).filter(|&grain| world.is_present(grain));
    let spheres: Vec<_> = world.spheres_of_grains(own).collect();
    links.deliver(vec![(0, spheres)]).into_iter().flat_map(|(_, spheres)| spheres).collect()
}

/// Tells the whole world, on rank 0, which grains were removed since it was last told.
pub(super) fn tell_removed(part: &mut CpuEngine, whole: Option<&mut CpuEngine>) {
    // The objective of the last substep is that of the grains that were there.
    part.note_objective();
    let links = links(&mut *part.coupling);
    links.note_removed(&mut part.world);
    let gone = std::mem::take(&mut links.held.gone);
    let all = links.deliver(vec![(0, gone)]);
    if let Some(whole) = whole {
        let states = all.iter().flat_map(|(_, gone)| gone);
        states.for_each(|state| whole.world.set_grain_state(state.place as usize, state));
        whole.world.time = part.world.time;
    }
}

/// Takes the newcomers of a rank; rank 0 has the whole with their places in it.
pub(super) fn take_in(part: &mut CpuEngine, whole: Option<(&CpuEngine, &[usize])>) {
    let links = links(&mut *part.coupling);
    let arrival = links.broadcast(whole.map(|(whole, places)| Arrival::of(whole, places)));
    let mut newcomers: Vec<Vec<GrainState>> = vec![Vec::new(); links.communicator.ranks()];
    for state in whole
        .into_iter()
        .flat_map(|(whole, places)| places.iter().map(|&place| whole.world.grain_state(place)))
    {
        newcomers[links.held.partition.owner(state.body.position)].push(state);
    }
    let newcomers = newcomers.into_iter().enumerate().filter(|(_, states)| !states.is_empty()).collect();
    for state in links.deliver::<Vec<GrainState>>(newcomers).into_iter().flat_map(|(_, states)| states) {
        links.held.append(&state, links.communicator.rank() as u32);
        part.world.push_grain_state(&state);
    }
    if part.world.measures_grains {
        part.grain_stresses.resize(part.world.grain_count(), DMat3::ZERO);
    }
    links.count(&part.world);
    links.largest_diameter = arrival.largest_diameter;
    links.held.largest_reach = links.held.largest_reach.max(arrival.largest_reach);
    part.is_guarded = arrival.is_guarded;
    part.balance.emitted_energy += arrival.energy;
    part.travel.forget();
}

impl Arrival {
    fn of(whole: &CpuEngine, places: &[usize]) -> Arrival {
        let world = &whole.world;
        Arrival {
            is_guarded: whole.is_guarded,
            energy: world.kinetic_energy_of(places),
            largest_diameter: world.largest_diameter(),
            largest_reach: places.iter().map(|&place| world.grain_reach(place)).fold(0.0, f64::max),
        }
    }
}

impl Links {
    /// Notes the own grains that were removed: they are to be told to the whole world, are counted as removed, and belong to no rank any
    /// more.
    pub(super) fn note_removed(&mut self, world: &mut World) {
        let own = self.held.own(self.communicator.rank());
        for grain in own.filter(|&grain| !world.is_present(grain)).collect::<Vec<_>>() {
            let state = self.held.state(world, grain);
            self.held.gone.push(state);
            self.held.owners[grain] = NOBODY;
            world.count_removed(grain);
        }
    }
}

impl Held {
    /// Adds a newcomer after all grains.
    fn append(&mut self, state: &GrainState, rank: u32) {
        self.newcomers += 1;
        self.places.push(state.place);
        self.spheres.extend(state.first_sphere..state.first_sphere + state.spheres() as u32);
        self.owners.push(rank);
    }

    /// Takes the newcomers out of the list of grains again, and returns their states.
    pub(super) fn take_newcomers(&mut self, world: &World) -> Vec<GrainState> {
        let others = self.places.len() - std::mem::take(&mut self.newcomers);
        let states = (others..self.places.len()).map(|grain| self.state(world, grain)).collect();
        self.places.truncate(others);
        self.owners.truncate(others);
        self.spheres.truncate(world.grains.get(others).map_or(usize::MAX, |grain| grain.first as usize));
        states
    }
}
