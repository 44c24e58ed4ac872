//! Handover of grains between ranks, before a search: grains go to the ranks in whose regions they are, with the impulses of their
//! contacts, and ranks get ghosts of the grains near their regions.
//!
//! What goes from rank to rank is numbered as in the whole world. Within a rank grains keep that order, so two ranks agree which grain of a
//! cut contact is body a.

use std::collections::HashMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::contact::{Impulse, Key};
use crate::cpu::CpuEngine;
use crate::cpu::patches::Known;
use crate::engine::saved;
use crate::model::{GrainState, World};

use super::communicator::Messages;
use super::partition::Partition;
use super::{Bodies, Border, Links, PER_BODY, Parcel, Side};

/// Ratio of the grains of the fullest rank to the mean above which the borders move \[-\].
const IMBALANCE: f64 = 1.1;
/// Excess of grains over the mean up to which no border moves.
const LEAST_EXCESS: f64 = 16.0;
/// Addition to the distance at which grains become ghosts, larger than its rounding \[-\].
const SLACK: f64 = 1e-9;

/// What a rank knows of its grains beside their state.
#[derive(Default)]
pub(super) struct Held {
    /// Regions of all ranks.
    pub partition: Partition,
    /// Radius of a ball about the centre of any grain of the whole scene that contains it \[m\].
    pub largest_reach: f64,
    /// Index in the whole world of each grain and of each sphere, ascending.
    places: Vec<u32>,
    spheres: Vec<u32>,
    /// Rank of each grain.
    owners: Vec<u32>,
    /// Impulses of contacts that came with the grains, until the next search.
    waiting: Option<Vec<Carried>>,
    /// Own grains that were removed since the whole world was last told.
    gone: Vec<GrainState>,
    /// Number of cut contacts.
    pub cut: usize,
}

/// What a contact carries over to the next substep, with its key in the whole world.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Carried {
    pub key: Key,
    pub impulse: Impulse,
    /// Normal and side, at a contact with a patch of a mesh.
    pub known: Option<Known>,
}

/// Grains and contacts that one rank gives to another.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Cargo {
    pub grains: Vec<GrainState>,
    pub contacts: Vec<Carried>,
}

/// Contacts of the list before a search, with the numbers of the world after it: ascending keys, impulses, and what is known of patches.
pub(in crate::cpu) struct Before {
    pub keys: Vec<Key>,
    pub impulses: Vec<Impulse>,
    pub patches: (Vec<Key>, Vec<Known>),
}

impl CpuEngine {
    /// Gives grains to the ranks in whose regions they are, and fetches ghosts. Returns what the contacts so far carry over; `None` for an
    /// engine that is alone.
    pub(in crate::cpu) fn hand_over(&mut self) -> Option<Before> {
        let waiting = self.border.0.as_mut()?.held.waiting.take();
        let contacts = waiting.unwrap_or_else(|| self.carried());
        let Self { world, border, settings, .. } = self;
        let links = border.0.as_deref_mut()?;
        links.move_borders(world);
        let (mut grains, contacts) = links.settle(world, contacts);
        let ghosts = links.fetch_ghosts(world, &grains, 1.0 + settings.reach());
        let rank = links.communicator.rank() as u32;
        let mut owners = vec![rank; grains.len()];
        for (owner, ghosts) in ghosts {
            owners.extend(std::iter::repeat_n(owner, ghosts.len()));
            grains.extend(ghosts);
        }
        links.fill(world, grains, owners);
        Some(links.held.in_world(world, contacts))
    }

    /// What all listed contacts carry over; contacts that carry nothing are left out.
    fn carried(&self) -> Vec<Carried> {
        let Some(links) = &self.border.0 else { return Vec::new() };
        let constraints = self.colouring.order.iter().zip(&self.constraints);
        let carried = |(&contact, constraint)| {
            let key = self.keys[contact as usize];
            let (impulse, known) = (*self.law.carried(constraint), self.patches.known_of(&key));
            let key = links.held.in_whole(&self.world, key);
            (impulse != Impulse::default() || known.is_some()).then_some(Carried { key, impulse, known })
        };
        constraints.filter_map(carried).collect()
    }
}

impl Held {
    /// Key in the whole world of a contact of this rank.
    pub fn in_whole(&self, world: &World, key: Key) -> Key {
        let first = world.first_grain_shape();
        let of = |shape: u32| match shape.checked_sub(first) {
            Some(sphere) => first + self.spheres[sphere as usize],
            None => shape,
        };
        Key { a: of(key.a), b: of(key.b) }
    }

    /// Turns keys of the whole world into those of this rank; contacts of grains that it does not hold are left out.
    fn in_world(&self, world: &World, contacts: Vec<Carried>) -> Before {
        let first = world.first_grain_shape();
        let of = |shape: u32| match shape.checked_sub(first) {
            Some(sphere) => self.spheres.binary_search(&sphere).ok().map(|sphere| first + sphere as u32),
            None => Some(shape),
        };
        let mut before = Before { keys: Vec::new(), impulses: Vec::new(), patches: (Vec::new(), Vec::new()) };
        for Carried { key, impulse, known } in contacts {
            let (Some(a), Some(b)) = (of(key.a), of(key.b)) else { continue };
            let key = Key { a, b };
            before.keys.push(key);
            before.impulses.push(impulse);
            if let Some(known) = known {
                before.patches.0.push(key);
                before.patches.1.push(known);
            }
        }
        before
    }

    /// State of a grain of this rank, with its indices in the whole world.
    fn state(&self, world: &World, grain: usize) -> GrainState {
        let mut state = world.grain_state(grain);
        state.place = self.places[grain];
        state.first_sphere = self.spheres[state.first_sphere as usize];
        state
    }

    fn is_own(&self, grain: usize, rank: usize) -> bool {
        self.owners[grain] as usize == rank
    }
}

impl Links {
    /// Takes the grains and contacts of a whole scene that are for this rank, in place of all that it holds.
    pub(super) fn take(&mut self, world: &mut World, cargo: Cargo) {
        let owners = vec![self.communicator.rank() as u32; cargo.grains.len()];
        self.held.gone.clear();
        self.fill(world, cargo.grains, owners);
        self.held.waiting = Some(cargo.contacts);
        (self.own, self.ghosts, self.out, self.into) = Default::default();
        self.foreign = 0;
    }

    /// States of the grains that this rank owns, and of those of its grains that were removed since they were last told.
    pub(super) fn own_states(&mut self, world: &World) -> Vec<GrainState> {
        let rank = self.communicator.rank();
        let own = (0..world.grain_count()).filter(|&grain| self.held.is_own(grain, rank));
        let mut states: Vec<GrainState> = own.map(|grain| self.held.state(world, grain)).collect();
        states.append(&mut self.held.gone);
        states
    }

    /// Moves the borders where one rank has many more grains than the others.
    fn move_borders(&mut self, world: &World) {
        let rank = self.communicator.rank();
        let is_own = |grain: &usize| world.is_present(*grain) && self.held.is_own(*grain, rank);
        let own = (0..world.grain_count())
            .filter(is_own)
            .map(|grain| world.bodies.position[world.grain_body(grain)]);
        let positions: Vec<_> = own.collect();
        let counts = self.communicator.gather(&[positions.len() as f64]);
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let most = counts.into_iter().fold(0.0, f64::max);
        if most <= (IMBALANCE * mean).max(mean + LEAST_EXCESS) {
            return;
        }
        let all = self.deliver(vec![(0, positions)]);
        let partition = (rank == 0).then(|| {
            let positions = all.into_iter().flat_map(|(_, positions)| positions).collect();
            Partition::new(positions, self.communicator.ranks())
        });
        self.held.partition = self.broadcast(partition);
    }

    /// Gives grains to the ranks in whose regions they are. Returns the grains and contacts of this rank then; the contacts ascend by key.
    fn settle(&mut self, world: &World, mut contacts: Vec<Carried>) -> (Vec<GrainState>, Vec<Carried>) {
        let rank = self.communicator.rank();
        let mut own = Vec::with_capacity(world.grain_count());
        let mut leaving: Vec<Cargo> = (0..self.communicator.ranks()).map(|_| Cargo::default()).collect();
        let mut goal_of_sphere: HashMap<u32, usize> = HashMap::new();
        for grain in 0..world.grain_count() {
            if !self.held.is_own(grain, rank) {
                continue;
            }
            let state = self.held.state(world, grain);
            if state.removed.is_some() {
                self.held.gone.push(state);
                continue;
            }
            let owner = self.held.partition.owner(state.body.position);
            if owner == rank {
                own.push(state);
                continue;
            }
            let spheres = state.first_sphere..state.first_sphere + world.grains[grain].count;
            goal_of_sphere.extend(spheres.map(|sphere| (sphere, owner)));
            leaving[owner].grains.push(state);
        }
        let first = world.first_grain_shape();
        let goal = |shape: u32| goal_of_sphere.get(&shape.checked_sub(first)?).copied();
        for contact in contacts.iter().filter(|_| !goal_of_sphere.is_empty()) {
            let (a, b) = (goal(contact.key.a), goal(contact.key.b));
            a.into_iter().chain(b.filter(|_| a != b)).for_each(|rank| leaving[rank].contacts.push(*contact));
        }
        let leaving = leaving.into_iter().enumerate().filter(|(_, cargo)| !cargo.grains.is_empty()).collect();
        for (_, cargo) in self.deliver::<Cargo>(leaving) {
            own.extend(cargo.grains);
            contacts.extend(cargo.contacts);
        }
        // Both ranks of a cut contact may have sent it, and both know the same of it.
        contacts.sort_unstable_by_key(|contact| contact.key);
        contacts.dedup_by_key(|contact| contact.key);
        (own, contacts)
    }

    /// Returns ghosts of the grains of other ranks that may touch own grains, where two grains may as long as the distance of their centres
    /// is less than `reach` times the sum of their radii.
    fn fetch_ghosts(&mut self, world: &World, own: &[GrainState], reach: f64) -> Vec<(u32, Vec<GrainState>)> {
        let rank = self.communicator.rank();
        let mut ghosts: Vec<Vec<&GrainState>> = vec![Vec::new(); self.communicator.ranks()];
        let mut near = Vec::new();
        for state in own {
            let reach = (1.0 + SLACK) * reach * (state.reach() + self.held.largest_reach);
            self.held.partition.near(&world.periodic, state.body.position, reach, &mut near);
            near.iter().filter(|&&other| other != rank).for_each(|&other| ghosts[other].push(state));
        }
        let filled = ghosts.into_iter().enumerate().filter(|(_, ghosts)| !ghosts.is_empty());
        let messages = filled.map(|(rank, ghosts)| (rank, pack(&ghosts))).collect();
        self.communicator
            .deliver(messages)
            .into_iter()
            .map(|(rank, ghosts)| (rank as u32, unpack(&ghosts)))
            .collect()
    }

    /// Fills the world with these grains, in the order of their places in the whole world.
    fn fill(&mut self, world: &mut World, grains: Vec<GrainState>, owners: Vec<u32>) {
        let mut grains: Vec<(GrainState, u32)> = grains.into_iter().zip(owners).collect();
        grains.sort_unstable_by_key(|(state, _)| state.place);
        world.clear_grains();
        let rank = self.communicator.rank();
        let Held { places, spheres, owners, .. } = &mut self.held;
        places.clear();
        spheres.clear();
        owners.clear();
        self.counted = Bodies::none(world.boundaries.len() + grains.len());
        if rank == 0 {
            for body in 0..world.boundaries.len() as u32 {
                self.counted.add(body);
            }
        }
        for (state, owner) in &grains {
            if *owner as usize == rank {
                self.counted.add(world.bodies.len() as u32);
            }
            world.push_grain_state(state);
            places.push(state.place);
            spheres.extend(state.first_sphere..state.first_sphere + state.spheres() as u32);
            owners.push(*owner);
        }
        self.dynamic = world.dynamic_boundaries().map(|(body, _)| body as u32).collect();
    }

    /// Delivers values to ranks, and returns those that come from others.
    pub(super) fn deliver<T: Serialize + DeserializeOwned>(
        &mut self,
        values: Vec<(usize, T)>,
    ) -> Vec<(usize, T)> {
        let messages: Messages = values.iter().map(|(rank, value)| (*rank, pack(value))).collect();
        self.communicator.deliver(messages).into_iter().map(|(rank, bytes)| (rank, unpack(&bytes))).collect()
    }

    /// Gives all ranks a value that rank 0 has.
    pub(super) fn broadcast<T: Serialize + DeserializeOwned>(&mut self, value: Option<T>) -> T {
        let bytes = value.map(|value| pack(&value));
        let ranks = if bytes.is_some() { self.communicator.ranks() } else { 0 };
        let messages = (0..ranks).flat_map(|rank| bytes.clone().map(|bytes| (rank, bytes))).collect();
        let received = self.communicator.deliver(messages);
        unpack(&received.first().expect("rank 0 sends to all").1)
    }
}

impl Border {
    /// Chooses which of the pairs that a search found are contacts of this rank, and which of their bodies take part in an exchange. Ghosts
    /// that touch nothing take part in nothing until the next search.
    pub(in crate::cpu) fn choose(&mut self, world: &mut World, keys: &mut Vec<Key>) {
        let Some(links) = &mut self.0 else { return };
        let rank = links.communicator.rank();
        let owners = &links.held.owners;
        let owner =
            |world: &World, shape: u32| world.grain_of_shape(shape).map(|grain| owners[grain] as usize);
        keys.retain(|key| match (owner(world, key.a), owner(world, key.b)) {
            (None, None) => rank == 0,
            (a, b) => a == Some(rank) || b == Some(rank),
        });
        let mut sides: HashMap<usize, [Vec<u32>; 2]> = HashMap::new();
        (links.foreign, links.held.cut) = (0, 0);
        for key in keys.iter() {
            let (Some(a), Some(b)) = (owner(world, key.a), owner(world, key.b)) else { continue };
            if a == b {
                continue;
            }
            links.held.cut += 1;
            links.foreign += usize::from(a != rank);
            let [mut own, mut ghost] = [key.a, key.b].map(|shape| world.shape_body(shape));
            if a != rank {
                std::mem::swap(&mut own, &mut ghost);
            }
            let [owns, ghosts] = sides.entry(if a == rank { b } else { a }).or_default();
            owns.push(own);
            ghosts.push(ghost);
        }
        let mut sides: Vec<(usize, [Vec<u32>; 2])> = sides.into_iter().collect();
        sides.sort_unstable_by_key(|(rank, _)| *rank);
        (links.own, links.ghosts) = (Vec::new(), Vec::new());
        for (rank, [mut own, mut ghosts]) in sides {
            for bodies in [&mut own, &mut ghosts] {
                bodies.sort_unstable();
                bodies.dedup();
            }
            links.own.push(Side { rank, bodies: own });
            links.ghosts.push(Side { rank, bodies: ghosts });
        }
        let parcel =
            |side: &Side| Parcel { rank: side.rank, numbers: vec![0.0; PER_BODY * side.bodies.len()] };
        links.out = links.own.iter().map(parcel).collect();
        links.into = links.ghosts.iter().map(parcel).collect();
        let mut touching = Bodies::none(world.bodies.len());
        for &body in links.ghosts.iter().flat_map(|side| &side.bodies) {
            touching.add(body);
        }
        for (grain, &owner) in owners.iter().enumerate() {
            if owner as usize != rank && !touching.holds(world.grain_body(grain) as u32) {
                world.take_out(grain);
            }
        }
    }
}

/// Bytes of a value, for another rank.
pub(super) fn pack<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    saved::write(&mut bytes, value).expect("what ranks exchange can be written");
    bytes
}

/// Value that another rank packed.
pub(super) fn unpack<T: DeserializeOwned>(mut bytes: &[u8]) -> T {
    saved::read(&mut bytes).expect("all ranks run the same program")
}
