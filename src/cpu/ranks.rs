//! Ranks: a scene divided among processes, each of which computes the grains of one region \[E5\].
//!
//! A rank has all boundaries, its own grains, and ghosts: copies of grains of other ranks that touch its own. A contact with a ghost is cut
//! by a border between two ranks. Both ranks list it, with the overflow contacts, and solve it from the same velocities on the same copies
//! of its bodies, so both find the same impulse, to the bit. So one exchange of velocities per sweep is enough:
//!
//! ```text
//!            rank 0                              rank 1
//! colours    contacts of own grains              contacts of own grains
//! exchange   velocities of own grains at the border  ◄───►  become those of the ghosts there
//! overflow   own overflow contacts, cut contacts own overflow contacts, cut contacts
//! ```
//!
//! The number of copies that share the mass of a body comes from its owner, once per search. Impulses on dynamic boundaries are summed over
//! the ranks in each sweep. Contacts between boundaries are solved on rank 0, which tells the others the velocities. At a search grains go to the ranks in whose regions they are, and ghosts are chosen anew.
//! Preclik & Rüde (2015) exchange twice per sweep: corrections of velocities to the owner, and their sums back.

#![cfg_attr(
    not(feature = "scenario"),
    allow(dead_code, reason = "grains go from rank to rank in serial form")
)]

pub mod communicator;
#[cfg(feature = "scenario")]
pub mod engine;
#[cfg(feature = "scenario")]
mod handover;
#[cfg(feature = "mpi")]
pub mod mpi;
#[cfg(feature = "scenario")]
mod newcomers;
pub mod partition;

use glam::DVec3;

use crate::contact::{Impulse, Key};
use crate::engine::share::Link;
use crate::engine::{EnergyBalance, Entries, Residuals, Spread};
use crate::error::Error;
use crate::model::World;

use super::problem::Bodies;
use super::velocity::Velocity;
use communicator::{Parcel, Shared};

/// Numbers per body in an exchange: velocity and angular velocity.
const PER_BODY: usize = 6;

/// Border of the part of a scene that an engine computes. An engine alone has all bodies, and no border.
#[derive(Default)]
pub struct Border(Option<Box<Links>>);

/// Links of a rank with the others.
struct Links {
    communicator: Shared,
    /// Bodies whose energies, works and loads this rank counts: its own grains, and on rank 0 the boundaries.
    counted: Bodies,
    /// Own bodies in cut contacts, and ghosts, rank by rank.
    own: Vec<Side>,
    ghosts: Vec<Side>,
    /// Room for what is sent and received in an exchange, rank by rank.
    out: Vec<Parcel>,
    into: Vec<Parcel>,
    /// Boundaries that contacts move, and whether some of them touch others.
    dynamic: Vec<u32>,
    touch_each_other: bool,
    /// Diameter of the largest grain of the scene \[m\], as [`World::largest_diameter`].
    largest_diameter: f64,
    /// Contacts that another rank counts; they are the last of the list.
    foreign: usize,
    #[cfg(feature = "scenario")]
    held: handover::Held,
}

/// Links of the part of a scene.
#[cfg(feature = "scenario")]
fn links(border: &mut Border) -> &mut Links {
    border.0.as_deref_mut().expect("the engine of a rank has links")
}

/// Bodies that take part in cut contacts with one other rank, ascending.
#[derive(Debug, Clone, Default)]
struct Side {
    rank: usize,
    bodies: Vec<u32>,
}

/// Contacts of the list before a search, with the keys that they have after grains went to other ranks: ascending keys, and impulses.
#[derive(Default)]
pub(super) struct Before {
    pub keys: Vec<Key>,
    pub impulses: Vec<Impulse>,
}

/// Whether ranks share a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// At most one of its bodies is a grain, or both are own grains.
    Within,
    /// Ranks share it, and this one counts it.
    Counted,
    /// Another rank counts it.
    Foreign,
}

/// Size of the part of a scene that a rank computes, and of what it exchanges per sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Extent {
    /// Own grains.
    pub grains: usize,
    /// Ghosts in cut contacts.
    pub ghosts: usize,
    /// All contacts.
    pub contacts: usize,
    /// Cut contacts.
    pub cut: usize,
    /// Messages per sweep, sent and received.
    pub messages: usize,
    /// Bytes per sweep, sent and received.
    pub bytes: usize,
}

impl Border {
    /// Whether the engine has all bodies.
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Diameter of the largest grain of the scene \[m\], as [`World::largest_diameter`].
    pub fn largest_diameter(&self, world: &World) -> f64 {
        self.0.as_ref().map_or_else(|| world.largest_diameter(), |links| links.largest_diameter)
    }

    /// Number of ranks that share the scene.
    pub fn ranks(&self) -> usize {
        self.0.as_ref().map_or(1, |links| links.communicator.ranks())
    }

    /// Whether this rank counts what ranks have in common: rank 0 does.
    pub fn is_first(&self) -> bool {
        self.0.as_ref().is_none_or(|links| links.communicator.rank() == 0)
    }

    /// Whether this rank counts the energy of a body and the works on it.
    pub fn counts(&self, body: usize) -> bool {
        self.counting()(body)
    }

    /// As [`Border::counts`], for several threads.
    pub(super) fn counting(&self) -> impl Fn(usize) -> bool + Sync {
        let counted = self.0.as_ref().map(|links| &links.counted);
        move |body| counted.is_none_or(|counted| counted.holds(body as u32))
    }

    /// How ranks share a contact between these bodies.
    pub(super) fn cut(&self, bodies: [usize; 2], boundaries: usize) -> Cut {
        let Some(links) = &self.0 else { return Cut::Within };
        let own = |body: usize| links.counted.holds(body as u32);
        match bodies {
            [a, b] if a.min(b) < boundaries || own(a) == own(b) => Cut::Within,
            [a, _] if own(a) => Cut::Counted,
            _ => Cut::Foreign,
        }
    }

    /// Number of the contacts that this rank counts, the first ones of all those it lists.
    pub fn counted(&self, contacts: usize) -> usize {
        contacts - self.0.as_ref().map_or(0, |links| links.foreign)
    }

    /// Number of bodies, the first ones, that ranks have in common: the boundaries.
    pub fn shared(&self, world: &World) -> usize {
        if self.is_none() { 0 } else { world.boundaries.len() }
    }

    /// Gives the ghosts the velocities that their owners have for them.
    pub fn exchange(&mut self, velocities: &mut [Velocity]) {
        let Some(links) = &mut self.0 else { return };
        for (side, parcel) in links.own.iter().zip(&mut links.out) {
            for (&body, numbers) in side.bodies.iter().zip(parcel.numbers.chunks_exact_mut(PER_BODY)) {
                numbers.copy_from_slice(&numbers_of(&velocities[body as usize]));
            }
        }
        links.communicator.swap(&links.out, &mut links.into);
        for (side, parcel) in links.ghosts.iter().zip(&links.into) {
            set_velocities(velocities, &side.bodies, &parcel.numbers);
        }
        links.share_boundaries(velocities);
    }

    /// Makes the numbers of copies agree: ghosts take that of their owner, and dynamic boundaries the sum over the ranks.
    pub fn agree_on_copies(&mut self, copies: &mut [u32]) {
        let Some(links) = &mut self.0 else { return };
        let of = |side: &Side, copies: &[u32]| Parcel {
            rank: side.rank,
            numbers: side.bodies.iter().map(|&body| f64::from(copies[body as usize])).collect(),
        };
        let out: Vec<Parcel> = links.own.iter().map(|side| of(side, copies)).collect();
        let mut into: Vec<Parcel> = links.ghosts.iter().map(|side| of(side, copies)).collect();
        links.communicator.swap(&out, &mut into);
        for (side, parcel) in links.ghosts.iter().zip(&into) {
            side.bodies
                .iter()
                .zip(&parcel.numbers)
                .for_each(|(&body, &count)| copies[body as usize] = count as u32);
        }
        let of_boundaries: Vec<f64> =
            links.dynamic.iter().map(|&body| f64::from(copies[body as usize])).collect();
        let sums = links.sum_all(&of_boundaries);
        links.dynamic.iter().zip(sums).for_each(|(&body, sum)| copies[body as usize] = sum as u32);
    }

    /// Sums the impulses on the dynamic boundaries over all ranks; `of` returns the impulse and the angular impulse on a body. Returns these
    /// bodies with their sums, and none for an engine alone.
    pub(super) fn sum_impulses(&mut self, of: impl Fn(u32) -> [DVec3; 2]) -> Vec<(u32, [DVec3; 2])> {
        let Some(links) = &mut self.0 else { return Vec::new() };
        let own: Vec<f64> =
            links.dynamic.iter().flat_map(|&body| of(body)).flat_map(|part| part.to_array()).collect();
        let sums = links.sum_all(&own);
        let sums = sums.chunks_exact(PER_BODY);
        let sums = sums.map(|sum| [DVec3::from_slice(sum), DVec3::from_slice(&sum[3..])]);
        links.dynamic.iter().copied().zip(sums).collect()
    }

    /// Largest of the values of all ranks.
    pub fn largest(&mut self, value: f64) -> f64 {
        let Some(links) = &mut self.0 else { return value };
        links.communicator.gather(&[value]).into_iter().fold(value, f64::max)
    }

    /// Whether `own` is true on one rank at least.
    pub fn any(&mut self, own: bool) -> bool {
        self.largest(f64::from(u8::from(own))) > 0.0
    }

    /// Sums of the values of all ranks.
    pub fn sums<const N: usize>(&mut self, values: [f64; N]) -> [f64; N] {
        let Some(links) = &mut self.0 else { return values };
        let sums = links.sum_all(&values);
        std::array::from_fn(|i| sums[i])
    }

    /// Sum of the works on all ranks.
    pub fn total(&mut self, works: EnergyBalance) -> EnergyBalance {
        if self.is_none() { works } else { bytemuck::cast(self.sums(bytemuck::cast::<_, Entries>(works))) }
    }

    /// Residuals over the contacts of all ranks, from those over the `contacts` that this rank counts.
    pub fn joined(&mut self, residuals: Residuals, contacts: usize) -> Residuals {
        let Some(links) = &mut self.0 else { return residuals };
        let weight = contacts as f64;
        let spreads = [residuals.normal, residuals.friction, residuals.rolling];
        let own: Vec<f64> = std::iter::once(weight)
            .chain(spreads.into_iter().flat_map(|spread| [weight * spread.mean, spread.max]))
            .collect();
        let all = links.communicator.gather(&own);
        let of = |i: usize| all.chunks_exact(own.len()).map(move |numbers| numbers[i]);
        let count = of(0).sum::<f64>().max(1.0);
        let spread =
            |i: usize| Spread { mean: of(i).sum::<f64>() / count, max: of(i + 1).fold(0.0, f64::max) };
        Residuals { normal: spread(1), friction: spread(3), rolling: spread(5) }
    }

    /// Returns this rank's own result, unless another rank has an error: all ranks go on, or none.
    ///
    /// # Errors
    /// That of this rank, else that of the lowest rank that has one.
    ///
    /// # Panics
    /// When the error is none of those with which a step may fail.
    pub fn agree<T>(&mut self, own: Result<T, Error>, world: &World) -> Result<T, Error> {
        let Some(links) = &mut self.0 else { return own };
        let all = links.communicator.gather(&fault::numbers_of(own.as_ref().err(), world));
        let first = all.chunks_exact(fault::NUMBERS).find_map(|numbers| fault::error_of(numbers, world));
        own.and_then(|value| first.map_or(Ok(value), Err))
    }

    /// Size of the part of this rank, which lists this many contacts.
    #[cfg(feature = "scenario")]
    fn extent(&self, world: &World, contacts: usize) -> Extent {
        let Some(links) = &self.0 else { return Extent::default() };
        let bodies = |sides: &[Side]| sides.iter().map(|side| side.bodies.len()).sum::<usize>();
        let ghosts = bodies(&links.ghosts);
        let own = links.held.own(links.communicator.rank());
        Extent {
            grains: own.filter(|&grain| world.is_present(grain)).count(),
            ghosts,
            contacts,
            cut: links.held.cut,
            messages: links.own.len() + links.ghosts.len(),
            bytes: (bodies(&links.own) + ghosts) * PER_BODY * size_of::<f64>(),
        }
    }
}

/// What does nothing where there is no other rank, as grains cannot go to one.
#[cfg(not(feature = "scenario"))]
mod alone {
    use super::{Before, Border};
    use crate::contact::Key;
    use crate::cpu::CpuEngine;
    use crate::model::World;

    impl CpuEngine {
        pub(in crate::cpu) fn hand_over(&mut self) -> Option<Before> {
            None
        }
    }

    impl Border {
        pub(in crate::cpu) fn choose(&mut self, _: &mut World, _: &mut [Key]) {}
    }
}

impl Links {
    /// Gives dynamic boundaries the velocities that they have on rank 0, which alone lists the contacts between boundaries.
    fn share_boundaries(&mut self, velocities: &mut [Velocity]) {
        if !self.touch_each_other {
            return;
        }
        let own: Vec<f64> =
            self.dynamic.iter().flat_map(|&body| numbers_of(&velocities[body as usize])).collect();
        let all = self.communicator.gather(&own);
        set_velocities(velocities, &self.dynamic, &all);
    }

    /// Sums lists of numbers over the ranks, always in the same order.
    fn sum_all(&mut self, numbers: &[f64]) -> Vec<f64> {
        let mut sums = numbers.to_vec();
        self.communicator.sum_each(&mut sums);
        sums
    }
}

/// Velocity and angular velocity of a body, as they are exchanged.
fn numbers_of(velocity: &Velocity) -> [f64; PER_BODY] {
    let ([u, v, w], [p, q, r]) = (velocity.linear.to_array(), velocity.angular.to_array());
    [u, v, w, p, q, r]
}

/// Sets the velocities of these bodies to the first of `numbers`.
fn set_velocities(velocities: &mut [Velocity], bodies: &[u32], numbers: &[f64]) {
    for (&body, numbers) in bodies.iter().zip(numbers.chunks_exact(PER_BODY)) {
        let velocity = &mut velocities[body as usize];
        velocity.linear = DVec3::from_slice(numbers);
        velocity.angular = DVec3::from_slice(&numbers[3..]);
    }
}

/// Errors of a step as numbers, which go from rank to rank.
mod fault {
    use crate::error::Error;
    use crate::model::World;

    /// Numbers of an error: its kind, and its fields.
    pub const NUMBERS: usize = 6;

    pub fn numbers_of(error: Option<&Error>, world: &World) -> [f64; NUMBERS] {
        let index = |name: &String| world.boundaries.iter().position(|boundary| boundary.name == *name);
        let boundary = |name: &String| index(name).unwrap_or_default() as f64;
        match error {
            None => [0.0; NUMBERS],
            Some(Error::Exploded { grain, time, speed, diameters, time_step }) => {
                [1.0, f64::from(*grain), *time, *speed, *diameters, *time_step]
            }
            Some(Error::NotANumber { grain, time, time_step }) => {
                [2.0, f64::from(*grain), *time, *time_step, 0.0, 0.0]
            }
            Some(Error::LeftDomain { grain, time, x, y, z }) => [3.0, f64::from(*grain), *time, *x, *y, *z],
            Some(Error::BoundaryExploded { name, time, speed, diameters, time_step }) => {
                [4.0, boundary(name), *time, *speed, *diameters, *time_step]
            }
            Some(Error::BoundaryNotANumber { name, time, time_step }) => {
                [5.0, boundary(name), *time, *time_step, 0.0, 0.0]
            }
            Some(other) => unreachable!("no step fails with: {other}"),
        }
    }

    pub fn error_of(numbers: &[f64], world: &World) -> Option<Error> {
        let [kind, of, time, a, b, c] = *numbers else { return None };
        let grain = of as u32;
        let name = || world.boundaries[of as usize].name.clone();
        match kind as u32 {
            1 => Some(Error::Exploded { grain, time, speed: a, diameters: b, time_step: c }),
            2 => Some(Error::NotANumber { grain, time, time_step: a }),
            3 => Some(Error::LeftDomain { grain, time, x: a, y: b, z: c }),
            4 => Some(Error::BoundaryExploded { name: name(), time, speed: a, diameters: b, time_step: c }),
            5 => Some(Error::BoundaryNotANumber { name: name(), time, time_step: a }),
            _ => None,
        }
    }
}
