//! Checkpoints of the CPU engine: saves its state, and goes on from a saved one.
//!
//! The state between two steps is saved as it is: the contacts in their order with their colours and impulses, and the paths since the last
//! search, which decide which step searches again. An additional search would change bits of the results.

use std::borrow::Cow;
use std::io::Write;

use glam::DMat3;
use serde::{Deserialize, Serialize};

use crate::contact::{Colouring, Impulse, Key};
use crate::engine::{EnergyBalance, Newcomers, StepReport, TotalImpulse, is_guarded, saved};
use crate::error::Error;
use crate::model::World;
use crate::settings::Method;

use super::narrowphase::Constraint;
use super::patches::Known;
use super::search::Travel;
use super::{CpuEngine, per_method};

/// Saved state of the engine. All that is not in it is made anew in every substep, or follows from it.
#[derive(Serialize, Deserialize)]
struct State<'a> {
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
    patches: Cow<'a, [Known]>,
    /// Number of contacts that there is room for.
    room: usize,
    /// Number of bodies that the working lists have room for: velocities, velocities before a solve, velocities of the last sweep.
    room_for_work: [usize; 3],
    travel: Cow<'a, Travel>,
    newcomers: Cow<'a, Newcomers>,
    totals: Cow<'a, [TotalImpulse]>,
    stresses: Cow<'a, [DMat3]>,
    grain_stresses: Cow<'a, [DMat3]>,
    balance: EnergyBalance,
    is_guarded: bool,
    substeps_done: u64,
    start_time: f64,
    report: Cow<'a, StepReport>,
}

impl CpuEngine {
    pub(super) fn write_state(&self, out: &mut dyn Write) -> Result<(), Error> {
        let springs = match self.settings.method {
            Method::Nonsmooth => Vec::new(),
            Method::Smooth => self.of_contacts(|constraint| constraint.last_impulse),
        };
        let state = State {
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

    /// Collects a value of every contact, in the order of the keys.
    pub(super) fn of_contacts<T: Clone + Default>(&self, value: impl Fn(&Constraint) -> T) -> Vec<T> {
        let mut values = vec![T::default(); self.keys.len()];
        for (&contact, constraint) in self.colouring.order.iter().zip(&self.constraints) {
            values[contact as usize] = value(constraint);
        }
        values
    }

    /// Returns the world in a state that a CPU engine saved, and the impulses that its contacts carried, by key.
    ///
    /// # Errors
    /// [`Error::Unusable`] when the state is of another kind.
    pub fn saved_state(mut bytes: &[u8]) -> Result<(World, Vec<(Key, Impulse)>), Error> {
        let state: State<'static> = saved::read(&mut bytes)?;
        let (world, keys) = (state.world.into_owned(), state.keys.into_owned());
        let all = keys.into_iter().zip(state.impulses);
        let impulses = state.newcomers.without_theirs(&world, all, state.room);
        Ok((world, impulses))
    }

    pub(super) fn read_state(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        let state: State<'static> = saved::read(&mut bytes)?;
        // The contacts are not those of the new world, even where the rest of the state is refused below.
        self.is_prepared = false;
        let meshes = std::mem::replace(&mut self.world, state.world.into_owned()).meshes;
        if !self.world.meshes.take_from(meshes) {
            return Err(saved::other_meshes());
        }
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
        let measured = if self.world.measures_grains { self.world.grain_count() } else { 0 };
        if [self.stresses.len(), self.grain_stresses.len()] != [self.world.meter_bins(), measured] {
            return Err(saved::foreign("stresses of other meters or grains"));
        }
        if [state.impulses.len(), state.cohesion.len()] != [state.keys.len(); 2]
            || state.colouring.order.len() != state.keys.len()
        {
            return Err(saved::foreign("contacts without impulses"));
        }
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
