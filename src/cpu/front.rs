//! How far an impact has come \[E6\]: it goes on through the contacts that it changes, and leaves the others alone.

use std::sync::atomic::{AtomicBool, Ordering};

use glam::DVec3;

use super::narrowphase::{Constraint, Response};
use super::sweep::{Push, Visit};
use super::velocity::Velocity;

/// The bodies that an impact has reached.
#[derive(Debug, Default)]
pub(super) struct Front {
    /// By body; of those that are not free none.
    reached: Vec<AtomicBool>,
    /// Likewise, those that it reaches when the sweep is over: of contacts that are solved at once and share a body none may see what another does.
    next: Vec<AtomicBool>,
    /// What a contact must change by to hand it on \[m/s\].
    least: f64,
}

impl Front {
    /// One that has reached no body yet.
    pub(super) fn new(bodies: usize, least: f64) -> Front {
        let none = || (0..bodies).map(|_| AtomicBool::new(false)).collect();
        Front { reached: none(), next: none(), least }
    }

    /// It reaches these bodies, if they are free.
    #[inline(always)]
    pub(super) fn reach<'a>(&self, bodies: impl IntoIterator<Item = (u32, &'a Velocity)>) {
        note(&self.reached, bodies);
    }

    /// Whether it has reached one of two bodies.
    #[inline(always)]
    fn is_at(&self, bodies: [u32; 2]) -> bool {
        bodies.iter().any(|&body| self.reached[body as usize].load(Ordering::Relaxed))
    }

    /// Goes on after a sweep.
    pub(super) fn go_on(&mut self) {
        for (reached, next) in self.reached.iter_mut().zip(&mut self.next) {
            *reached.get_mut() |= std::mem::take(next.get_mut());
        }
    }
}

/// Notes those of the bodies that are free.
#[inline(always)]
fn note<'a>(list: &[AtomicBool], bodies: impl IntoIterator<Item = (u32, &'a Velocity)>) {
    for (body, velocity) in bodies {
        if velocity.is_free() {
            list[body as usize].store(true, Ordering::Relaxed);
        }
    }
}

/// Visits the contacts that an impact has reached.
pub(super) struct Behind<'a, V> {
    pub(super) front: &'a Front,
    /// Returns by how much it changed a contact \[m/s\].
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
