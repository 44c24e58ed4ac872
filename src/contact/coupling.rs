//! Coupling of the part of a scene that an engine computes with the parts that others compute: what they exchange, sum and agree on. An
//! engine alone ([`Alone`]) has all bodies.

use std::any::Any;

use glam::{DMat3, DVec3};

use crate::error::Error;
use crate::model::World;

use super::Key;
use super::carried::Carried;
use super::disjoint::BodySet;
use super::velocity::Velocity;

/// Whether several parts of a scene share a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// At most one of its bodies is a grain, or both are own grains.
    Within,
    /// Two parts share it, and this one counts it.
    Counted,
    /// Two parts share it, and the other one counts it.
    Foreign,
}

/// Coupling of a part of a scene with the other parts. Every method does here what an engine alone needs.
pub trait Coupling: Any + Send + Sync {
    /// Whether the engine has all bodies.
    fn is_alone(&self) -> bool {
        true
    }

    /// Whether this part counts what all parts have in common: the first one does.
    fn is_first(&self) -> bool {
        true
    }

    /// Bodies whose energies, works and loads this part counts; `None`: all.
    fn counted_bodies(&self) -> Option<&BodySet> {
        None
    }

    /// Number of the contacts that this part counts, the first ones of all those it lists.
    fn counted(&self, contacts: usize) -> usize {
        contacts
    }

    /// How parts share a contact between these bodies, the first `boundaries` of which are boundaries.
    fn cut(&self, _bodies: [usize; 2], _boundaries: usize) -> Cut {
        Cut::Within
    }

    /// Number of bodies, the first ones, that all parts have: the boundaries.
    fn shared(&self, _world: &World) -> usize {
        0
    }

    /// Diameter of the largest grain of the scene \[m\], as [`World::largest_diameter`].
    fn largest_diameter(&self, world: &World) -> f64 {
        world.largest_diameter()
    }

    /// Gives the copies of bodies of other parts the velocities that these parts have for them.
    fn exchange(&mut self, _velocities: &mut [Velocity]) {}

    /// Makes the numbers of copies that share the mass of a body \[E5\] agree over the parts.
    fn agree_on_copies(&mut self, _copies: &mut [u32]) {}

    /// Sums the impulses on the dynamic boundaries over all parts; `of` returns the impulse and the angular impulse on a body. Returns
    /// these bodies with their sums; none for an engine alone.
    fn sum_impulses(&mut self, _of: &dyn Fn(u32) -> [DVec3; 2]) -> Vec<(u32, [DVec3; 2])> {
        Vec::new()
    }

    /// Numbers of all parts, one list after the other, each as long as `own`.
    fn gather(&mut self, own: &[f64]) -> Vec<f64> {
        own.to_vec()
    }

    /// Sums lists of numbers over the parts, always in the same order.
    fn sum(&mut self, _numbers: &mut [f64]) {}

    /// Error of the part with the lowest number that has one, so that all parts go on, or none; `own` is that of this part.
    fn first_error(&mut self, _own: Option<&Error>, _world: &World) -> Option<Error> {
        None
    }

    /// Chooses which of the pairs that a search found are contacts of this part, and which bodies take part in an exchange.
    fn choose(&mut self, _world: &mut World, _keys: &mut Vec<Key>) {}

    /// Gives grains to the parts in whose regions they are, and takes in those that come; `reach`: distance up to which two grains may
    /// touch, over the sum of their radii. `carried` is what the contacts so far carry over, and `stresses` the sum
    /// of impulse times arm of every grain \[N m s\], if they are measured, which go with the grains. Returns what the contacts that are
    /// left carry over, ascending by key; `None` for an engine alone.
    fn hand_over(
        &mut self,
        _world: &mut World,
        _reach: f64,
        _carried: &[Carried],
        _stresses: &mut Vec<DMat3>,
    ) -> Option<Vec<Carried>> {
        None
    }
}

/// Coupling of an engine that has all bodies.
pub struct Alone;

impl Coupling for Alone {}

impl<'c> dyn Coupling + 'c {
    /// Whether this part counts the energy of a body and the works on it.
    pub fn counts(&self, body: usize) -> bool {
        self.counting()(body)
    }

    /// As `counts`, for several threads.
    pub fn counting(&self) -> impl Fn(usize) -> bool + Sync + use<'_> {
        let counted = self.counted_bodies();
        move |body| counted.is_none_or(|counted| counted.holds(body as u32))
    }

    /// Largest of a value over all parts.
    pub fn largest(&mut self, value: f64) -> f64 {
        if self.is_alone() { value } else { self.gather(&[value]).into_iter().fold(value, f64::max) }
    }

    /// Whether `own` is true in one part at least.
    pub fn any(&mut self, own: bool) -> bool {
        self.largest(f64::from(u8::from(own))) > 0.0
    }

    /// Sums of values over all parts.
    pub fn sums<const N: usize>(&mut self, mut values: [f64; N]) -> [f64; N] {
        self.sum(&mut values);
        values
    }

    /// Returns the result of this part, unless another part has an error.
    ///
    /// # Errors
    /// That of this part, else that of the part with the lowest number that has one.
    pub fn agree<T>(&mut self, own: Result<T, Error>, world: &World) -> Result<T, Error> {
        let first = self.first_error(own.as_ref().err(), world);
        own.and_then(|value| first.map_or(Ok(value), Err))
    }
}
