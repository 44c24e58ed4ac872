//! List of the contacts of a step: found by a search, taken over with what they carry, kept until the next search.

use glam::DVec3;
use rayon::prelude::*;

use crate::contact::carried::Carried;
use crate::engine::clock::Instant;
use crate::model::bond::sorted;
use crate::settings::{Method, Order};

use super::tiles::Tiles;
use super::{
    Colouring, Constraint, CpuEngine, Impulse, Key, Onset, Patches, Split, Spring, World, bridges,
    broadphase, colouring, loads, matching, springs,
};

impl CpuEngine {
    /// Collects a value of every contact, in the order of the keys.
    pub(super) fn of_contacts<T: Clone + Default>(&self, value: impl Fn(&Constraint) -> T) -> Vec<T> {
        let mut values = vec![T::default(); self.keys.len()];
        for (&contact, constraint) in self.colouring.order.iter().zip(&self.constraints) {
            values[contact as usize] = value(constraint);
        }
        values
    }

    /// Broadphase, matching, colouring: finds the pairs, the impulses that they carry over, and the solving order.
    pub(super) fn find_contacts(&mut self) {
        let before = self.hand_over();
        let Self { world, settings, stages, coupling, law, .. } = self;
        let keys = stages.time("broadphase", || {
            let mut keys = broadphase::find_pairs(world, settings.reach());
            bridges::add_pairs(world, &mut keys);
            coupling.choose(world, &mut keys);
            leave_out_bonded(world, &mut keys);
            keys
        });
        let carried = stages.time("matching", || match before {
            Some((old_keys, impulses)) => {
                matching::match_impulses(&keys, &old_keys, |contact| impulses[contact])
            }
            None => {
                let (constraints, places) = (&self.constraints, self.colouring.places());
                let impulse = |contact: usize| *constraints[places[contact] as usize].carried(law.method);
                matching::match_impulses(&keys, &self.keys, impulse)
            }
        });
        let colouring = stages.time("colouring", || match settings.order {
            Order::Coloured => colouring::with_tiles(world, &keys, &Tiles::of_many(world), &**coupling),
            Order::Sequential => colouring::one_after_the_other(keys.len()),
            Order::Blocks(blocks) => colouring::in_blocks(keys.len(), blocks),
            Order::AtOnce => colouring::all_at_once(keys.len()),
        });
        self.travel.reset(world, settings);
        self.report.searches += 1;
        self.hold_contacts(keys, colouring, &carried);
        self.report_contacts();
    }

    /// Hands grains over to the other parts of the scene. Returns keys and impulses that the contacts which are left carry over; `None` for
    /// an engine alone.
    fn hand_over(&mut self) -> Option<(Vec<Key>, Vec<Impulse>)> {
        if self.coupling.is_alone() {
            return None;
        }
        let begun = Instant::now();
        let impulses = self.of_contacts(|constraint| *constraint.carried(self.settings.method));
        let of = |(&key, impulse)| Carried { key, impulse, known: self.patches.known_of(&key) };
        let so_far: Vec<Carried> = self.keys.iter().zip(impulses).map(of).collect();
        let reach = 1.0 + self.settings.reach();
        let carried = self.coupling.hand_over(&mut self.world, reach, &so_far, &mut self.grain_stresses)?;
        let of_patches = carried.iter().filter_map(|of| of.known.map(|known| (of.key, known)));
        let (keys, known) = of_patches.unzip();
        self.patches = Patches::remembered(keys, known);
        self.stages.add("search", begun.elapsed().as_secs_f64());
        Some(carried.into_iter().map(|of| (of.key, of.impulse)).unzip())
    }

    fn report_contacts(&mut self) {
        let Self { colouring, coupling, report, .. } = self;
        let used = (0..colouring.colours()).filter(|&colour| !colouring.colour(colour).is_empty()).count();
        let counted = coupling.counted(colouring.order.len());
        let overflow = counted - colouring.overflow_start().min(counted);
        let [contacts, overflow] = coupling.sums([counted as f64, overflow as f64]);
        (report.contacts, report.overflow) = (contacts as u64, overflow as u64);
        report.colours = coupling.largest(used as f64) as u32;
    }

    /// Takes a new list of contacts, each with the impulse that it carries over.
    pub(crate) fn hold_contacts(
        &mut self,
        mut keys: Vec<Key>,
        mut colouring: Colouring,
        impulses: &[Impulse],
    ) {
        self.split = Split::new(&self.world, &keys, &colouring, &mut *self.coupling);
        self.patches = Patches::new(&self.world, &keys, &colouring, &self.patches);
        self.bridges.list(&self.world, &keys, &colouring);
        let method = self.settings.method;
        renew(&mut self.constraints, keys.len(), |place| {
            let carried = impulses[colouring.order[place] as usize];
            match method {
                Method::Nonsmooth => Constraint { impulse: carried, ..Constraint::default() },
                Method::Smooth => Constraint { last_impulse: carried, ..Constraint::default() },
            }
        });
        let [onsets, springs] = per_method(method, keys.len());
        renew(&mut self.onsets, onsets, |_| Onset::default());
        renew(&mut self.springs, springs, |_| Spring::default());
        self.is_prepared = false;
        self.boundary_constraints = loads::constraints_of_boundaries(&self.world, &keys, &colouring);
        // Spare room is given back, so that the reported memory does not depend on how a list grew.
        keys.shrink_to_fit();
        colouring.order.shrink_to_fit();
        self.boundary_constraints.shrink_to_fit();
        (self.keys, self.colouring) = (keys, colouring);
    }

    /// Gives the memory of the contacts back, which are those of an earlier state.
    #[cfg(feature = "scenario")]
    pub(crate) fn release_contacts(&mut self) {
        (self.keys, self.constraints, self.onsets, self.springs) = Default::default();
        (self.colouring, self.split, self.patches) = Default::default();
        self.boundary_constraints = Vec::new();
        self.bridges = Default::default();
    }

    /// Takes these contacts, sorted by key, as the list that the next search is matched with.
    pub(super) fn hold_seeds(&mut self, seeds: &[(Key, Impulse)]) {
        let (keys, mut impulses): (Vec<Key>, Vec<Impulse>) = seeds.iter().copied().unzip();
        if self.settings.method == Method::Smooth {
            impulses = self.springs_from(&keys, &impulses);
        }
        let order = colouring::one_after_the_other(keys.len());
        self.hold_contacts(keys, order, &impulses);
        self.patches.find_normals(&self.world);
    }

    /// Springs of the smooth method whose forces give these impulses in a substep \[E13\].
    pub(super) fn springs_from(&self, keys: &[Key], impulses: &[Impulse]) -> Vec<Impulse> {
        let springs = |(key, impulse): (&Key, &Impulse)| {
            let normal = self.world.touch(key.a, key.b).map_or(DVec3::ZERO, |touch| touch.normal);
            springs::holding(&impulse.scaled(1.0 / self.settings.substep()), normal)
        };
        keys.iter().zip(impulses).map(springs).collect()
    }
}

/// Removes the pairs of bodies that a bond holds: their contact law is off until the bond breaks.
fn leave_out_bonded(world: &World, keys: &mut Vec<Key>) {
    let bonded = world.bonds.pairs();
    if !bonded.is_empty() {
        let bodies = |key: &Key| sorted([world.shape_body(key.a), world.shape_body(key.b)]);
        keys.retain(|key| bonded.binary_search(&bodies(key)).is_err());
    }
}

/// Numbers of onsets and of springs for this number of contacts.
pub(super) fn per_method(method: Method, contacts: usize) -> [usize; 2] {
    match method {
        Method::Nonsmooth => [contacts, 0],
        Method::Smooth => [0, contacts],
    }
}

/// Fills the list anew with `of(place)` for each contact. Where its capacity is too small, it gets 1/32 more than needed.
fn renew<T: Send>(list: &mut Vec<T>, contacts: usize, of: impl Fn(usize) -> T + Sync + Send) {
    list.clear();
    if list.capacity() < contacts {
        *list = Vec::new();
        list.reserve_exact(contacts + contacts / 32);
    }
    (0..contacts).into_par_iter().with_min_len(crate::contact::tasks::CHUNK).map(of).collect_into_vec(list);
}
