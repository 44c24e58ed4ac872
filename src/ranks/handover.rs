//! Handover of grains between ranks, before a search: grains go to the ranks in whose regions they are, with the impulses of their
//! contacts, and ranks get ghosts of the grains near their regions.
//!
//! What goes from rank to rank is numbered as in the whole world. Within a rank grains keep that order, so two ranks agree which grain of a
//! cut contact is body a.

use std::collections::HashMap;

use glam::{DMat3, DVec3};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::contact::Key;
use crate::contact::carried::Carried;
use crate::contact::disjoint::BodySet;
use crate::engine::saved;
use crate::engine::share::Link;
use crate::model::{GrainState, World};

use super::communicator::{Messages, Parcel};
use super::partition::Partition;
use super::{Interface, Links, PER_BODY};

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
    pub places: Vec<u32>,
    pub spheres: Vec<u32>,
    /// Rank of each grain.
    pub owners: Vec<u32>,
    /// Number of grains that came since the last search; they are the last ones, in no order.
    pub newcomers: usize,
    /// Impulses of contacts that came with the grains of a whole scene, until the next search.
    waiting: Vec<Carried>,
    /// Own grains that were removed since the whole world was last told.
    pub gone: Vec<GrainState>,
    /// Number of cut contacts.
    pub cut: usize,
    /// Grains as they were before the last search; kept for its room.
    before: World,
}

/// Grains and contacts that one rank gives to another.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Cargo {
    pub grains: Vec<GrainState>,
    pub contacts: Vec<Carried>,
    /// Sum of impulse times arm of each grain, by place in the whole world; empty unless the world measures them.
    pub stresses: Vec<(u32, DMat3)>,
}

/// Where an own grain goes: it stays, or goes to the rank in whose region it is, or was removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    Here,
    Rank(u32),
    Nowhere,
}

/// Value for no sphere.
const NONE: u32 = u32::MAX;

impl Held {
    /// Key in the whole world of a contact of this rank.
    pub fn in_whole(&self, world: &World, key: Key) -> Key {
        let first = world.first_grain_shape();
        let of = |shape: u32| match shape.checked_sub(first) {
            Some(sphere) => first + self.spheres[sphere as usize],
            None => shape,
        };
        key.renamed(|shape| Some(of(shape))).expect("all shapes are in the whole world")
    }

    /// Contacts of the list so far with their keys after grains were given away: those of this rank, ascending, whose spheres are now those
    /// in `now`, and those that came with grains. Contacts of grains that this rank does not hold any more are left out.
    fn before(&mut self, world: &World, so_far: &[Carried], now: &[u32], came: Vec<Carried>) -> Vec<Carried> {
        let first = world.first_grain_shape();
        let renamed = |carried: Carried, of: &dyn Fn(u32) -> Option<u32>| {
            let of = |shape: u32| match shape.checked_sub(first) {
                Some(sphere) => of(sphere).map(|sphere| first + sphere),
                None => Some(shape),
            };
            Some(Carried { key: carried.key.renamed(of)?, ..carried })
        };
        let moved = |sphere: u32| Some(now[sphere as usize]).filter(|&sphere| sphere != NONE);
        let found = |sphere: u32| self.spheres.binary_search(&sphere).ok().map(|sphere| sphere as u32);
        let mut all: Vec<Carried> = so_far.iter().filter_map(|&carried| renamed(carried, &moved)).collect();
        let came = std::mem::take(&mut self.waiting).into_iter().chain(came);
        all.extend(came.filter_map(|carried| renamed(carried, &found)));
        // Both ranks of a cut contact may have sent it, and both know the same of it.
        all.sort_by_key(|carried| carried.key);
        all.dedup_by_key(|carried| carried.key);
        all
    }

    /// Own grains of a rank, and those that were removed since that was last noted.
    pub fn own(&self, rank: usize) -> impl Iterator<Item = usize> {
        (0..self.owners.len()).filter(move |&grain| self.owners[grain] as usize == rank)
    }

    /// State of a grain of this rank, with its indices in the whole world.
    pub fn state(&self, world: &World, grain: usize) -> GrainState {
        let mut state = world.grain_state(grain);
        state.place = self.places[grain];
        state.first_sphere = self.spheres[state.first_sphere as usize];
        state
    }
}

impl Links {
    /// Gives grains to the ranks in whose regions they are, and fetches ghosts. Returns what the contacts that are left carry over.
    pub(super) fn move_grains(
        &mut self,
        world: &mut World,
        reach: f64,
        so_far: &[Carried],
        grain_stresses: &mut Vec<DMat3>,
    ) -> Vec<Carried> {
        self.move_borders(world);
        self.note_removed(world);
        let newcomers = self.held.take_newcomers(world);
        let goals = self.goals(world);
        let mut stresses = self.own_stresses(grain_stresses);
        let came = self.give_away(world, &goals, so_far, &stresses, newcomers);
        stresses.extend(came.stresses);
        let ghosts = self.fetch_ghosts(world, &goals, &came.grains, reach);
        let rank = self.communicator.rank() as u32;
        let mut others: Vec<(GrainState, u32)> = came.grains.into_iter().map(|state| (state, rank)).collect();
        others.extend(ghosts);
        let now = self.fill(world, &goals, others);
        *grain_stresses = self.by_grain(world, stresses);
        self.held.before(world, so_far, &now, came.contacts)
    }

    /// Takes the grains and contacts of a whole scene that are for this rank, in place of all that it holds; the world has no grains yet.
    /// Returns the sum of impulse times arm of each of them.
    pub(super) fn take(&mut self, world: &mut World, cargo: Cargo) -> Vec<DMat3> {
        let rank = self.communicator.rank() as u32;
        let Held { places, spheres, gone, newcomers, .. } = &mut self.held;
        places.clear();
        spheres.clear();
        gone.clear();
        *newcomers = 0;
        self.fill(world, &[], cargo.grains.into_iter().map(|state| (state, rank)).collect());
        self.held.waiting = cargo.contacts;
        (self.own, self.ghosts, self.out, self.into) = Default::default();
        (self.foreign, self.touch_each_other) = (0, false);
        self.by_grain(world, cargo.stresses)
    }

    /// Sums of impulse times arm of the own grains, which have all of their contacts here, by place in the whole world, ascending.
    pub(super) fn own_stresses(&self, stresses: &[DMat3]) -> Vec<(u32, DMat3)> {
        let own = self.held.own(self.communicator.rank());
        own.filter_map(|grain| Some((self.held.places[grain], *stresses.get(grain)?))).collect()
    }

    /// Sum of each grain that is here, from those of own grains by place in the whole world; zero for newcomers and ghosts.
    fn by_grain(&self, world: &World, mut stresses: Vec<(u32, DMat3)>) -> Vec<DMat3> {
        if !world.measures_grains {
            return Vec::new();
        }
        stresses.sort_unstable_by_key(|(place, _)| *place);
        let rank = self.communicator.rank();
        let of = |place: &u32| {
            let found = stresses.binary_search_by_key(place, |(place, _)| *place).ok()?;
            Some(stresses[found].1)
        };
        let grains = self.held.places.iter().zip(&self.held.owners);
        let sum = |(place, &owner): (&u32, &u32)| Some(place).filter(|_| owner as usize == rank).and_then(of);
        grains.map(|grain| sum(grain).unwrap_or(DMat3::ZERO)).collect()
    }

    /// States of the grains that this rank owns, and of those of its grains that were removed since they were last told.
    pub(super) fn own_states(&mut self, world: &mut World) -> Vec<GrainState> {
        self.note_removed(world);
        let own = self.held.own(self.communicator.rank());
        let mut states: Vec<GrainState> = own.map(|grain| self.held.state(world, grain)).collect();
        states.append(&mut self.held.gone);
        states
    }

    /// Moves the borders where one rank has many more grains than the others.
    fn move_borders(&mut self, world: &World) {
        let rank = self.communicator.rank();
        let held = &self.held;
        let own = || held.own(rank).filter(|&grain| world.is_present(grain));
        let counts = self.communicator.gather(&[own().count() as f64]);
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let most = counts.into_iter().fold(0.0, f64::max);
        if most <= (IMBALANCE * mean).max(mean + LEAST_EXCESS) {
            return;
        }
        let positions: Vec<DVec3> =
            own().map(|grain| world.bodies.position[world.grain_body(grain)]).collect();
        let all = self.deliver(vec![(0, positions)]);
        let partition = (rank == 0).then(|| {
            let positions = all.into_iter().flat_map(|(_, positions)| positions).collect();
            Partition::new(positions, self.communicator.ranks())
        });
        self.held.partition = self.broadcast(partition);
    }

    /// Goal of each grain of this rank; ghosts have none.
    fn goals(&self, world: &World) -> Vec<Goal> {
        let rank = self.communicator.rank();
        let goal = |(grain, &owner): (usize, &u32)| {
            if owner as usize != rank || !world.is_present(grain) {
                return Goal::Nowhere;
            }
            match self.held.partition.owner(world.bodies.position[world.grain_body(grain)]) {
                owner if owner == rank => Goal::Here,
                owner => Goal::Rank(owner as u32),
            }
        };
        self.held.owners.iter().enumerate().map(goal).collect()
    }

    /// Gives grains to the ranks that are their goals, with what their contacts carry, and returns what comes from others, and the
    /// newcomers that belong here.
    fn give_away(
        &mut self,
        world: &World,
        goals: &[Goal],
        so_far: &[Carried],
        stresses: &[(u32, DMat3)],
        newcomers: Vec<GrainState>,
    ) -> Cargo {
        let mut leaving: Vec<Cargo> = (0..self.communicator.ranks()).map(|_| Cargo::default()).collect();
        for (grain, goal) in goals.iter().enumerate() {
            if let Goal::Rank(other) = goal {
                let cargo = &mut leaving[*other as usize];
                let state = self.held.state(world, grain);
                let found = stresses.binary_search_by_key(&state.place, |(place, _)| *place);
                cargo.stresses.extend(found.ok().map(|found| stresses[found]));
                cargo.grains.push(state);
            }
        }
        for state in newcomers {
            leaving[self.held.partition.owner(state.body.position)].grains.push(state);
        }
        if leaving.iter().any(|cargo| !cargo.grains.is_empty()) {
            let goal = |shape: u32| match goals[world.grain_of_shape(shape)?] {
                Goal::Rank(rank) => Some(rank as usize),
                _ => None,
            };
            for carried in so_far {
                let (a, b) = (goal(carried.key.a), goal(carried.key.b));
                for rank in a.into_iter().chain(b.filter(|_| a != b)) {
                    let key = self.held.in_whole(world, carried.key);
                    leaving[rank].contacts.push(Carried { key, ..*carried });
                }
            }
        }
        let leaving = leaving.into_iter().enumerate().filter(|(_, cargo)| !cargo.grains.is_empty()).collect();
        let mut all = Cargo::default();
        for (_, cargo) in self.deliver::<Cargo>(leaving) {
            all.grains.extend(cargo.grains);
            all.contacts.extend(cargo.contacts);
            all.stresses.extend(cargo.stresses);
        }
        all
    }

    /// Returns ghosts of the grains of other ranks that may touch own grains, those that stay and those that came, each with its rank. Two
    /// grains may touch as long as the distance of their centres is less than `reach` times the sum of their radii.
    fn fetch_ghosts(
        &mut self,
        world: &World,
        goals: &[Goal],
        came: &[GrainState],
        reach: f64,
    ) -> impl Iterator<Item = (GrainState, u32)> + use<> {
        let rank = self.communicator.rank();
        let mut ghosts: Vec<Vec<GrainState>> = vec![Vec::new(); self.communicator.ranks()];
        let mut near = Vec::new();
        let mut ranks_near = |held: &Held, position: DVec3, radius: f64, send: &mut dyn FnMut(usize)| {
            let reach = (1.0 + SLACK) * reach * (radius + held.largest_reach);
            held.partition.near(&world.periodic, position, reach, &mut near);
            near.iter().filter(|&&other| other != rank).for_each(|&other| send(other));
        };
        for grain in (0..goals.len()).filter(|&grain| goals[grain] == Goal::Here) {
            let position = world.bodies.position[world.grain_body(grain)];
            ranks_near(&self.held, position, world.grain_reach(grain), &mut |other| {
                ghosts[other].push(self.held.state(world, grain));
            });
        }
        for state in came {
            ranks_near(&self.held, state.body.position, state.reach(), &mut |other| {
                ghosts[other].push(state.clone())
            });
        }
        let filled = ghosts.into_iter().enumerate().filter(|(_, ghosts)| !ghosts.is_empty()).collect();
        let received = self.deliver::<Vec<GrainState>>(filled).into_iter();
        received.flat_map(|(rank, ghosts)| ghosts.into_iter().map(move |state| (state, rank as u32)))
    }

    /// Puts the grains that stay here, and others, each with its rank, in the order of their places in the whole world. Returns the present
    /// index of each sphere that was there before.
    fn fill(&mut self, world: &mut World, goals: &[Goal], mut others: Vec<(GrainState, u32)>) -> Vec<u32> {
        others.sort_by_key(|(state, _)| state.place);
        let rank = self.communicator.rank() as u32;
        let Held { before, places, spheres, owners, .. } = &mut self.held;
        world.move_grains_to(before);
        let mut now = vec![NONE; before.spheres.len()];
        let (old_places, old_spheres) = (std::mem::take(places), std::mem::take(spheres));
        owners.clear();
        let mut others = others.into_iter().peekable();
        let mut stay = (0..goals.len()).filter(|&grain| goals[grain] == Goal::Here).peekable();
        loop {
            let next = stay.peek().map(|&grain| old_places[grain]);
            let is_other = |(state, _): &(GrainState, u32)| next.is_none_or(|place| state.place < place);
            if let Some((state, owner)) = others.next_if(is_other) {
                let first = state.first_sphere;
                if let Ok(old) = old_spheres.binary_search(&first) {
                    // It was there before as a ghost, or was an own grain that is one now.
                    (0..state.spheres())
                        .for_each(|sphere| now[old + sphere] = (spheres.len() + sphere) as u32);
                }
                places.push(state.place);
                spheres.extend(first..first + state.spheres() as u32);
                owners.push(owner);
                world.push_grain_state(&state);
            } else if let Some(grain) = stay.next() {
                for sphere in before.grains[grain].spheres() {
                    now[sphere] = spheres.len() as u32;
                    spheres.push(old_spheres[sphere]);
                }
                places.push(old_places[grain]);
                owners.push(rank);
                world.push_grain_of(before, grain);
            } else {
                break;
            }
        }
        self.count(world);
        now
    }

    /// Notes what this rank counts: its own grains, and on rank 0 the boundaries.
    pub(super) fn count(&mut self, world: &World) {
        let rank = self.communicator.rank();
        self.counted = BodySet::none(world.bodies.len());
        let boundaries = if rank == 0 { world.boundaries.len() } else { 0 };
        for body in (0..boundaries).chain(self.held.own(rank).map(|grain| world.grain_body(grain))) {
            self.counted.add(body as u32);
        }
        self.dynamic = world.dynamic_boundaries().map(|(body, _)| body as u32).collect();
    }

    /// Delivers values to ranks, and returns those that come from others.
    pub(super) fn deliver<T: Serialize + DeserializeOwned>(
        &mut self,
        values: Vec<(usize, T)>,
    ) -> Vec<(usize, T)> {
        let messages: Messages = values.iter().map(|(rank, value)| (*rank, saved::pack(value))).collect();
        self.communicator.deliver(messages).into_iter().map(|(rank, bytes)| (rank, unpack(&bytes))).collect()
    }

    /// Gives all ranks a value that rank 0 has.
    pub(super) fn broadcast<T: Serialize + DeserializeOwned>(&mut self, value: Option<T>) -> T {
        let bytes = value.map(|value| saved::pack(&value));
        let ranks = if bytes.is_some() { self.communicator.ranks() } else { 0 };
        let messages = (0..ranks).flat_map(|rank| bytes.clone().map(|bytes| (rank, bytes))).collect();
        let received = self.communicator.deliver(messages);
        unpack(&received.first().expect("rank 0 sends to all").1)
    }
}

impl Links {
    /// Chooses which of the pairs that a search found are contacts of this rank, and which of their bodies take part in an exchange. Ghosts
    /// that touch nothing take part in nothing until the next search.
    pub(super) fn choose_contacts(&mut self, world: &mut World, keys: &mut Vec<Key>) {
        let rank = self.communicator.rank();
        let owners = &self.held.owners;
        let owner =
            |world: &World, shape: u32| world.grain_of_shape(shape).map(|grain| owners[grain] as usize);
        keys.retain(|key| match (owner(world, key.a), owner(world, key.b)) {
            (None, None) => rank == 0,
            (a, b) => a == Some(rank) || b == Some(rank),
        });
        // Keys of contacts between boundaries come first, and rank 0 alone lists them.
        let is_of_vertex = |key: &Key| key.a < world.first_grain_shape();
        let found = self.communicator.gather(&[f64::from(u8::from(keys.first().is_some_and(is_of_vertex)))]);
        self.touch_each_other = found[0] > 0.0;
        let mut sides: HashMap<usize, [Vec<u32>; 2]> = HashMap::new();
        (self.foreign, self.held.cut) = (0, 0);
        for key in keys.iter() {
            let (Some(a), Some(b)) = (owner(world, key.a), owner(world, key.b)) else { continue };
            if a == b {
                continue;
            }
            self.held.cut += 1;
            self.foreign += usize::from(a != rank);
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
        (self.own, self.ghosts) = (Vec::new(), Vec::new());
        for (rank, [mut own, mut ghosts]) in sides {
            for bodies in [&mut own, &mut ghosts] {
                bodies.sort_unstable();
                bodies.dedup();
            }
            self.own.push(Interface { rank, bodies: own });
            self.ghosts.push(Interface { rank, bodies: ghosts });
        }
        let parcel =
            |side: &Interface| Parcel { rank: side.rank, numbers: vec![0.0; PER_BODY * side.bodies.len()] };
        self.out = self.own.iter().map(parcel).collect();
        self.into = self.ghosts.iter().map(parcel).collect();
        let mut touching = BodySet::none(world.bodies.len());
        for &body in self.ghosts.iter().flat_map(|side| &side.bodies) {
            touching.add(body);
        }
        for (grain, &owner) in owners.iter().enumerate() {
            if owner as usize != rank && !touching.holds(world.grain_body(grain) as u32) {
                world.take_out(grain);
            }
        }
    }
}

/// Value that another rank packed.
fn unpack<T: DeserializeOwned>(mut bytes: &[u8]) -> T {
    saved::read(&mut bytes).expect("all ranks run the same program")
}
