//! Checkpoints of the CPU engine: saves its state, and goes on from a saved one.
//!
//! The state between two steps is saved as it is: the contacts in their order with their colours and impulses, and the paths since the last
//! search, which decide which step searches again. An additional search would change bits of the results.

use std::borrow::Cow;
use std::io::Write;

use glam::DMat3;
use serde::{Deserialize, Serialize};

use crate::contact::carried::KnownSide;
use crate::contact::{Colouring, Impulse, Key};
use crate::engine::consistent::{check_contacts, check_impulses};
use crate::engine::saved::{self, MOST_STEPS};
use crate::engine::{EnergyBalance, Newcomers, StepReport, TotalImpulse, is_guarded};
use crate::error::Error;
use crate::model::consistent::{Fault, claim, claim_length};
use crate::model::{MeterSums, World};
use crate::settings::Method;

use super::CpuEngine;
use super::contacts::per_method;
use super::search::Travel;

/// Largest room of a list over the number of bodies, spheres and contacts: beyond it a state was not saved by this program.
const MOST_SPARE: usize = 1 << 10;

/// Saved state of the engine. All that is not in it is made anew in every substep, or follows from it.
#[derive(Serialize, Deserialize)]
struct SavedEngine<'a> {
    world: Cow<'a, World>,
    /// Number of grains that the world has room for.
    room_for_grains: usize,
    keys: Cow<'a, [Key]>,
    colouring: Cow<'a, Colouring>,
    /// Impulses of the contacts, in the order of the keys.
    impulses: Vec<Impulse>,
    /// Impulses of cohesion \[N s\], in the order of the keys.
    cohesion: Vec<f64>,
    /// Impulses held by the springs of the smooth method, in the order of the keys; empty under the nonsmooth method.
    springs: Vec<Impulse>,
    /// Normals and sides of the contacts with patches of meshes, in the order of their keys.
    patches: Cow<'a, [KnownSide]>,
    /// Number of contacts that there is room for.
    room: usize,
    /// Number of bodies that the working lists have room for: velocities, velocities before a solve, velocities of the last sweep.
    room_for_work: [usize; 3],
    travel: Cow<'a, Travel>,
    newcomers: Cow<'a, Newcomers>,
    totals: Cow<'a, [TotalImpulse]>,
    stresses: Cow<'a, [MeterSums]>,
    grain_stresses: Cow<'a, [DMat3]>,
    balance: EnergyBalance,
    is_guarded: bool,
    substeps_done: u64,
    start_time: f64,
    report: Cow<'a, StepReport>,
}

impl SavedEngine<'_> {
    /// Checks that the state holds together, whoever wrote it; only the meshes are still to come.
    fn check(&self) -> Fault {
        self.world.check_consistency()?;
        check_contacts(&self.world, &self.keys, &self.colouring)?;
        let contacts = self.keys.len();
        claim_length(self.impulses.len(), contacts, "impulses for contacts")?;
        claim_length(self.cohesion.len(), contacts, "impulses of cohesion for contacts")?;
        claim(self.springs.is_empty() || self.springs.len() == contacts, || {
            "springs of other contacts".into()
        })?;
        check_impulses(&self.impulses)?;
        check_impulses(&self.springs)?;
        claim(self.cohesion.iter().all(|impulse| impulse.is_finite()), || "a cohesion that is none".into())?;
        claim_length(self.totals.len(), self.world.boundaries.len(), "impulses for boundaries")?;
        claim_length(self.stresses.len(), self.world.meter_bins(), "stresses for meters")?;
        let measured = if self.world.measures_grains { self.world.grain_count() } else { 0 };
        claim_length(self.grain_stresses.len(), measured, "stresses for grains")?;
        claim(self.travel.is_sound(), || "a path that is none".into())?;
        self.newcomers.check(&self.world)?;
        self.report.check()?;
        claim(self.start_time.is_finite() && self.substeps_done < MOST_STEPS, || {
            "a time that is none".into()
        })?;
        let [velocities, before, last] = self.room_for_work;
        let rooms = [self.room, self.room_for_grains, velocities, before, last];
        claim(rooms.into_iter().all(|room| room <= self.most_room()), || "more room than there is".into())
    }

    /// Largest number of elements that a list of the state may have room for: lists grow by half, and keep the room of bodies and contacts
    /// that have gone.
    fn most_room(&self) -> usize {
        MOST_SPARE.saturating_mul(1024 + self.world.bodies.len() + self.world.spheres.len() + self.keys.len())
    }
}

impl CpuEngine {
    pub(super) fn write_state(&self, out: &mut dyn Write) -> Result<(), Error> {
        let springs = match self.settings.method {
            Method::Nonsmooth => Vec::new(),
            Method::Smooth => self.of_contacts(|constraint| constraint.last_impulse),
        };
        let state = SavedEngine {
            impulses: self.of_contacts(|constraint| constraint.impulse),
            cohesion: self.of_contacts(|constraint| constraint.cohesion),
            springs,
            world: Cow::Borrowed(&self.world),
            room_for_grains: self.world.grains.capacity(),
            keys: Cow::Borrowed(&self.keys),
            colouring: Cow::Borrowed(&self.colouring),
            patches: Cow::Borrowed(self.patches.known()),
            room: self.constraints.capacity(),
            room_for_work: [
                self.velocities.capacity(),
                self.velocities_before.capacity(),
                self.solver.room(),
            ],
            travel: Cow::Borrowed(&self.travel),
            newcomers: Cow::Borrowed(&self.newcomers),
            totals: Cow::Borrowed(&self.impulses),
            stresses: Cow::Borrowed(&self.stresses),
            grain_stresses: Cow::Borrowed(&self.grain_stresses),
            balance: self.balance,
            is_guarded: self.is_guarded,
            substeps_done: self.substeps_done,
            start_time: self.start_time,
            report: Cow::Borrowed(&self.report),
        };
        saved::write(out, &state)
    }

    /// Returns the world in a state that a CPU engine saved, and the impulses that its contacts carried, by key.
    ///
    /// # Errors
    /// [`Error::Unusable`] when the state is of another kind.
    pub fn saved_state(mut bytes: &[u8]) -> Result<(World, Vec<(Key, Impulse)>), Error> {
        let state: SavedEngine<'static> = saved::read(&mut bytes)?;
        state.check().map_err(|fault| saved::foreign(&fault))?;
        let (world, keys) = (state.world.into_owned(), state.keys.into_owned());
        let all = keys.into_iter().zip(state.impulses);
        let impulses = state.newcomers.without_theirs(&world, all, state.room);
        Ok((world, impulses))
    }

    pub(super) fn read_state(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        let state: SavedEngine<'static> = saved::read(&mut bytes)?;
        let fits = state.world.check_scene(&self.world).and_then(|()| state.check());
        fits.map_err(|fault| saved::foreign(&fault))?;
        // The contacts are not those of the new world, even where the rest of the state is refused below.
        self.is_prepared = false;
        let meshes = std::mem::replace(&mut self.world, state.world.into_owned()).meshes;
        if !self.world.meshes.take_from(meshes) {
            return Err(saved::other_meshes());
        }
        // The patches of surfaces are known only now.
        self.world.check_consistency().map_err(|fault| saved::foreign(&fault))?;
        self.world.find_solids();
        self.world.set_room(state.room_for_grains);
        // Bodies that have left since may have been the reason for the guard.
        let stays_guarded = state.is_guarded && self.settings.warm_start.updates_velocities();
        self.is_guarded = stays_guarded || is_guarded(&self.settings, &self.world);
        self.travel = state.travel.into_owned();
        self.travel.fit();
        self.newcomers = state.newcomers.into_owned();
        self.impulses = state.totals.into_owned();
        self.stresses = state.stresses.into_owned();
        self.grain_stresses = state.grain_stresses.into_owned();
        self.balance = state.balance;
        self.substeps_done = state.substeps_done;
        self.start_time = state.start_time;
        self.report = state.report.into_owned();
        // The memory that a run holds must not show that the run was interrupted, even where no step is left to be done.
        let [velocities, before, last] = state.room_for_work;
        self.velocities.reserve_exact(velocities.saturating_sub(self.velocities.len()));
        self.velocities_before.reserve_exact(before.saturating_sub(self.velocities_before.len()));
        self.solver.reserve(last);
        let [onsets, springs] = per_method(self.settings.method, state.room);
        self.constraints = Vec::with_capacity(state.room);
        (self.onsets, self.springs) = (Vec::with_capacity(onsets), Vec::with_capacity(springs));
        let has_springs = state.springs.len() == state.keys.len();
        let carried = match self.settings.method {
            Method::Nonsmooth => Cow::Borrowed(&state.impulses),
            Method::Smooth if has_springs => Cow::Borrowed(&state.springs),
            Method::Smooth => Cow::Owned(self.springs_from(&state.keys, &state.impulses)),
        };
        self.hold_contacts(state.keys.into_owned(), state.colouring.into_owned(), &carried);
        for (constraint, &contact) in self.constraints.iter_mut().zip(&self.colouring.order) {
            constraint.impulse = state.impulses[contact as usize];
            constraint.cohesion = state.cohesion[contact as usize];
        }
        match self.patches.set_known(state.patches.into_owned()) {
            true => Ok(()),
            false => Err(saved::foreign("contacts without sides")),
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;
    use crate::engine::Engine;
    use crate::law::pair::Material;
    use crate::model::{Boundary, Form, Grain, Materials, Surface};
    use crate::settings::Settings;

    /// Eight grains on a floor and on each other, after a step.
    fn engine() -> CpuEngine {
        let glass = Material { friction: 0.4, ..Material::glass() };
        let mut world = World::new(DVec3::NEG_Z, Materials::new(vec![glass]));
        world.add_boundary(Boundary::floor(), [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 0)]);
        let place = |i: u32| DVec3::new(f64::from(i % 2), f64::from(i / 2 % 2), f64::from(i / 4) + 0.5);
        world.add_grains((0..8).map(|i| Grain::at(place(i), 0.5, 0)));
        let mut engine = CpuEngine::new(world, Settings::default());
        engine.advance(1).expect("a step");
        engine
    }

    fn saved(state: &SavedEngine<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        saved::write(&mut bytes, state).expect("written");
        bytes
    }

    /// Starts the colours at these places, without tiles.
    fn colour(state: &mut SavedEngine<'_>, starts: Vec<u32>) {
        let colouring = state.colouring.to_mut();
        (colouring.tiles, colouring.starts) = (Vec::new(), starts);
    }

    fn all_in_one_colour(state: &mut SavedEngine<'static>) {
        let contacts = state.keys.len() as u32;
        colour(state, vec![0, contacts]);
    }

    #[test]
    fn a_state_with_a_wrong_index_length_or_number_is_refused() {
        let mut bytes = Vec::new();
        engine().write_state(&mut bytes).expect("written");
        let state = || saved::read::<SavedEngine<'static>>(&mut bytes.as_slice()).expect("a state");
        assert!(engine().read_state(&saved(&state())).is_ok());
        type Damage = fn(&mut SavedEngine<'static>);
        let damages: [(Damage, &str); 14] = [
            (|state| state.keys.to_mut().last_mut().expect("a contact").b = 1_000, "shape 1000 of"),
            (|state| state.keys.to_mut().swap(0, 1), "out of order"),
            (|state| state.keys.to_mut()[0].a = 0, "a contact of shapes 0"),
            (|state| state.colouring.to_mut().order[0] = 99, "contact 99 of"),
            (|state| state.colouring.to_mut().order.fill(0), "two places"),
            (|state| colour(state, vec![1, 0]), "colours out of order"),
            (all_in_one_colour, "two contacts of body"),
            (|state| _ = state.impulses.pop(), "impulses for contacts"),
            (|state| state.cohesion[0] = f64::NAN, "cohesion"),
            (|state| state.room = usize::MAX, "more room"),
            (|state| state.substeps_done = u64::MAX, "a time that is none"),
            (|state| state.newcomers.to_mut().add(vec![8]), "a new grain"),
            (|state| _ = state.totals.to_mut().pop(), "impulses for boundaries"),
            (|state| state.world.to_mut().spheres[3].body = 2, "another body"),
        ];
        for (damage, told) in damages {
            let mut forged = state();
            damage(&mut forged);
            let refusal = engine().read_state(&saved(&forged)).expect_err(told).to_string();
            assert!(refusal.contains(told), "{refusal}, expected {told}");
            assert!(
                CpuEngine::saved_state(&saved(&forged)).is_err(),
                "nor does a scene start from it: {told}"
            );
        }
    }
}
