//! Front of an impact \[E6\]: an impact spreads through the contacts that it changes, and other contacts are not solved.

use std::sync::atomic::{AtomicBool, Ordering};

use glam::DVec3;

use super::narrowphase::{Constraint, Response};
use super::sweep::{Push, Visit};
use super::velocity::Velocity;

/// Bodies that an impact has reached.
#[derive(Debug, Default)]
pub(super) struct Front {
    /// One flag per body; false for bodies that are not free.
    reached: Vec<AtomicBool>,
    /// One flag per body: free bodies that contacts on copies, or with a rigid body that is no sphere, reached in this sweep. They count
    /// from the next sweep on, as contacts solved at the same time on copies of a body must not see each other's changes.
    next: Vec<AtomicBool>,
    /// Change of a contact above which it hands the impact on to its bodies \[m/s\].
    least: f64,
}

impl Front {
    /// Makes a front that has reached no body yet.
    pub(super) fn new(bodies: usize, least: f64) -> Front {
        let none = || (0..bodies).map(|_| AtomicBool::new(false)).collect();
        Front { reached: none(), next: none(), least }
    }

    /// Marks those of the bodies as reached that are free.
    #[inline(always)]
    pub(super) fn reach<'a>(&self, bodies: impl IntoIterator<Item = (u32, &'a Velocity)>) {
        note(&self.reached, bodies);
    }

    /// Whether the impact has reached one of two bodies.
    #[inline(always)]
    fn is_at(&self, bodies: [u32; 2]) -> bool {
        bodies.iter().any(|&body| self.reached[body as usize].load(Ordering::Relaxed))
    }

    /// Adds the bodies in `next` to the reached ones; called after each sweep.
    pub(super) fn go_on(&mut self) {
        for (reached, next) in self.reached.iter_mut().zip(&mut self.next) {
            *reached.get_mut() |= std::mem::take(next.get_mut());
        }
    }
}

/// Sets the flags of those bodies that are free.
#[inline(always)]
fn note<'a>(list: &[AtomicBool], bodies: impl IntoIterator<Item = (u32, &'a Velocity)>) {
    for (body, velocity) in bodies {
        if velocity.is_free() {
            list[body as usize].store(true, Ordering::Relaxed);
        }
    }
}

/// Pass over only those contacts that an impact has reached.
pub(super) struct Behind<'a, V> {
    pub(super) front: &'a Front,
    /// Operation on each contact; it returns the change of the contact \[m/s\].
    pub(super) visit: V,
}

impl<V: Visit> Visit for Behind<'_, V> {
    #[inline(always)]
    fn contact(
        &self,
        constraint: &mut Constraint,
        effective_mass: &[f64; 3],
        a: &mut Velocity,
        b: &mut Velocity,
    ) -> f64 {
        if !self.front.is_at(constraint.bodies) {
            return 0.0;
        }
        let change = self.visit.contact(constraint, effective_mass, a, b);
        if change > self.front.least {
            self.front.reach(constraint.bodies.into_iter().zip([&*a, &*b]));
        }
        change
    }

    fn general(
        &self,
        constraint: &mut Constraint,
        response: &Response,
        bodies: [&Velocity; 2],
        spun: impl Fn(DVec3) -> DVec3,
    ) -> (Push, f64) {
        if !self.front.is_at(constraint.bodies) {
            return (Push::default(), 0.0);
        }
        let (push, change) = self.visit.general(constraint, response, bodies, spun);
        if change > self.front.least {
            note(&self.front.next, constraint.bodies.into_iter().zip(bodies));
        }
        (push, change)
    }
}
