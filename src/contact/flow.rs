//! Flow of a deforming cell through the contact problem \[E23\].
//!
//! Velocities of grains are those beside the flow L x of their cell, so a contact has the velocity
//!
//! ```text
//! u = v_a + ω_a × d_a - v_b - ω_b × d_b + L (x_a - x_b)      x_a - x_b = d_b - d_a
//! ```
//!
//! whichever image of b it meets. Under a goal stress the strain rate along an axis is an unknown of the solve, like the velocity of a body
//! that all contacts push: it follows the impulses after every sweep.

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use crate::model::{AxisControl, World, outer};

use super::constraint::{Constraint, Response};
use super::pass::{Push, Visit};
use super::tasks::CHUNK;
use super::velocity::Velocity;

/// Velocity gradient L of a deforming cell \[1/s\]; none where the cell does not deform.
#[derive(Debug, Clone, Copy, Default)]
pub struct Flow(Option<DMat3>);

impl Flow {
    /// Flow with this velocity gradient \[1/s\].
    pub fn of(gradient: DMat3) -> Flow {
        Flow(Some(gradient))
    }

    /// Flow with the mean of two velocity gradients.
    #[must_use]
    pub fn mean(self, other: Flow) -> Flow {
        Flow(self.0.zip(other.0).map(|(one, other)| 0.5 * (one + other)))
    }

    /// Whether nothing flows, as no cell deforms.
    pub fn is_none(self) -> bool {
        self.0.is_none()
    }

    /// Change of a velocity beside the flow in `h` \[s\]: a grain that goes to where the flow is faster falls behind, -h L v \[m/s\].
    pub fn carried_off(self, h: f64, velocity: &Velocity) -> DVec3 {
        let across = self.0.map_or(DVec3::ZERO, |gradient| gradient * velocity.linear);
        -h * across * velocity.locked.free_translation()
    }

    /// Part of a contact velocity that the flow makes, L (x_a - x_b) \[m/s\].
    #[inline]
    pub fn between(self, constraint: &Constraint) -> DVec3 {
        self.0.map_or(DVec3::ZERO, |gradient| gradient * (constraint.arm_b - constraint.arm_a))
    }

    /// Contact velocity u in the flow \[m/s\].
    #[inline]
    pub fn contact_velocity(self, constraint: &Constraint, a: &Velocity, b: &Velocity) -> DVec3 {
        let beside = constraint.contact_velocity(a, b);
        if self.0.is_none() { beside } else { beside + self.between(constraint) }
    }

    /// Velocity of b beside the flow at a.
    #[inline]
    pub fn seen(self, constraint: &Constraint, b: &Velocity) -> Velocity {
        match self.0 {
            None => *b,
            Some(_) => Velocity { linear: b.linear - self.between(constraint), ..*b },
        }
    }
}

/// Motion of a deforming cell in a substep.
#[derive(Debug, Clone)]
pub struct CellMotion {
    /// Velocity gradient under the impulses so far \[1/s\].
    gradient: DMat3,
    /// Velocity gradient after the impacts \[1/s\].
    bounced: DMat3,
    /// Velocity gradient without the impulses of this solve \[1/s\].
    free: DMat3,
    /// Velocity gradient after the sweep before, for extrapolation \[1/s\].
    last: DMat3,
    /// Inverse of what resists a change of the strain rate along each axis \[1/(kg m²)\]; 0 where the rate is prescribed.
    inverse_mass: DVec3,
    /// Change of the strain rates by the goal stresses and the momentum flux of the grains in the substep \[1/s\].
    pushed: DVec3,
    /// Largest strain rate along an axis under a goal stress \[1/s\].
    max_rate: f64,
    /// Sum of impulse times branch vector of the contacts in this solve, and in those of the substep before it \[N m s\].
    moment: DMat3,
    settled: DMat3,
}

impl CellMotion {
    /// Motion at the start of a substep of `h` \[s\] from which the grains have these velocities; `None` where the cell does not deform.
    pub fn start(world: &World, h: f64, velocities: &[Velocity]) -> Option<CellMotion> {
        let deformation = world.deformation.as_ref()?;
        let stage = deformation.stage(world.time);
        let (length, volume) = (world.periodic.length, world.periodic.volume());
        let mass: f64 = world.present_grains().map(|grain| world.grain_mass(grain)).sum();
        let flux = world.momentum_flux(|body| velocities[body].linear);
        let (mut inverse_mass, mut pushed) = (DVec3::ZERO, DVec3::ZERO);
        for axis in 0..3 {
            if let AxisControl::Stress(goal) = stage.axes[axis]
                && mass > 0.0
            {
                inverse_mass[axis] = 1.0 / (deformation.mass_ratio * mass * length[axis] * length[axis]);
                pushed[axis] = inverse_mass[axis] * h * (flux.col(axis)[axis] - goal * volume);
            }
        }
        let gradient = world.velocity_gradient();
        Some(CellMotion {
            gradient,
            bounced: gradient,
            free: gradient,
            last: gradient,
            inverse_mass,
            pushed,
            max_rate: deformation.max_rate,
            moment: DMat3::ZERO,
            settled: DMat3::ZERO,
        })
    }

    /// Flow under the impulses so far.
    pub fn flow(&self) -> Flow {
        Flow(Some(self.gradient))
    }

    /// Begins the continuous solve, in which the goal stresses act, and returns the flow before it.
    pub fn begin(&mut self) -> Flow {
        self.free = self.bounced + DMat3::from_diagonal(self.pushed);
        self.set(DMat3::ZERO);
        self.last = self.gradient;
        Flow(Some(self.bounced))
    }

    /// Deforms the cell of the grains, which have these velocities at the end of the substep of `h` \[s\].
    pub fn deform(&self, world: &mut World, velocities: &[Velocity], h: f64) {
        let flux = world.momentum_flux(|body| velocities[body].linear);
        let stress_time = (self.settled + self.moment + h * flux) * world.periodic.volume().recip();
        world.deform(&self.gradient, h, stress_time);
    }

    /// Lets the strain rates follow the impulses of these contacts, which have changed nothing else of the cell since it was free.
    pub(crate) fn follow(&mut self, constraints: &[Constraint]) {
        let moment_of = |constraint: &Constraint| {
            outer(constraint.given().linear(constraint.normal), constraint.arm_b - constraint.arm_a)
        };
        let sum = |part: &[Constraint]| part.iter().map(moment_of).fold(DMat3::ZERO, |sum, one| sum + one);
        let sums: Vec<DMat3> = constraints.par_chunks(CHUNK).map(sum).collect();
        self.set(sums.into_iter().fold(DMat3::ZERO, |sum, one| sum + one));
    }

    fn set(&mut self, moment: DMat3) {
        self.moment = moment;
        self.gradient = self.free;
        for axis in (0..3).filter(|&axis| self.inverse_mass[axis] > 0.0) {
            let rate = self.free.col(axis)[axis] + self.inverse_mass[axis] * moment.col(axis)[axis];
            self.gradient.col_mut(axis)[axis] = rate.clamp(-self.max_rate, self.max_rate);
        }
    }

    /// Extrapolates the strain rates by a factor, like the velocities of bodies \[E12\].
    pub(crate) fn extrapolate(&mut self, factor: f64) {
        let before = std::mem::replace(&mut self.last, self.gradient);
        self.gradient += factor * (self.last - before);
    }

    /// Keeps the impulses of a round of impacts.
    pub(crate) fn settle(&mut self) {
        self.settled += std::mem::replace(&mut self.moment, DMat3::ZERO);
        (self.bounced, self.free) = (self.gradient, self.gradient);
    }
}

/// Pass over contacts in a flow.
pub(crate) struct InFlow<'a, V> {
    pub visit: &'a V,
    pub flow: Flow,
}

impl<V: Visit> Visit for InFlow<'_, V> {
    fn contact(
        &self,
        constraint: &mut Constraint,
        effective_mass: &[f64; 3],
        a: &mut Velocity,
        b: &mut Velocity,
    ) -> f64 {
        let mut seen = self.flow.seen(constraint, b);
        let before = seen.linear;
        let value = self.visit.contact(constraint, effective_mass, a, &mut seen);
        // The change alone, so that a contact without an impulse leaves b as it is to the last bit.
        *b = Velocity { linear: b.linear + (seen.linear - before), ..seen };
        value
    }

    fn general(
        &self,
        constraint: &mut Constraint,
        response: impl Fn(&Constraint) -> Response,
        [a, b]: [&Velocity; 2],
        spun: impl Fn(DVec3) -> DVec3,
    ) -> (Push, f64) {
        let seen = self.flow.seen(constraint, b);
        self.visit.general(constraint, response, [a, &seen], spun)
    }

    fn leaves(&self, constraint: &Constraint, [a, b]: [&Velocity; 2]) -> bool {
        self.visit.leaves(constraint, [a, &self.flow.seen(constraint, b)])
    }
}
