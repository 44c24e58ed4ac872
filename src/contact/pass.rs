//! Passes over the contacts: what is done at each contact with its two bodies, and the impulses that the bodies then get.

use glam::DVec3;

use super::Impulse;
use super::constraint::{Constraint, Response};
use super::disjoint::Disjoint;
use super::velocity::Velocity;

/// Operation on each contact in a pass over all contacts.
pub(crate) trait Visit: Sync {
    /// Visits a constraint with its 1/D and its bodies, and returns a value; a pass returns the largest.
    fn contact(
        &self,
        constraint: &mut Constraint,
        effective_mass: &[f64; 3],
        a: &mut Velocity,
        b: &mut Velocity,
    ) -> f64;
    /// Visits an overflow contact, or a contact with a rigid body that is no sphere. It leaves the bodies unchanged and returns the
    /// impulses on them beside the value. `response` computes the response of the contact, `spun` the change of the relative angular
    /// velocity ω_a - ω_b by a linear impulse \[rad/s\].
    fn general(
        &self,
        constraint: &mut Constraint,
        response: impl Fn(&Constraint) -> Response,
        bodies: [&Velocity; 2],
        spun: impl Fn(DVec3) -> DVec3,
    ) -> (Push, f64);

    /// Whether a visit of a contact with a rigid body that is no sphere would leave all as it is and return 0.
    #[inline(always)]
    fn leaves(&self, _: &Constraint, _: [&Velocity; 2]) -> bool {
        false
    }

    /// Visits contacts one after the other, on whole bodies, and returns the largest value.
    ///
    /// # Safety
    /// As [`Disjoint::visit`].
    #[inline(always)]
    unsafe fn each(&self, constraints: &mut [Constraint], bodies: &Disjoint<'_>) -> f64
    where
        Self: Sized,
    {
        // SAFETY: by the caller's promise.
        unsafe { bodies.visit_each(constraints, self) }
    }
}

/// Pass that applies impulses which a function of the contact returns, whatever the velocities are.
pub(crate) struct Give<F>(pub(crate) F);

impl<F: Fn(&mut Constraint) -> Option<Push> + Sync> Visit for Give<F> {
    #[inline(always)]
    fn contact(&self, constraint: &mut Constraint, _: &[f64; 3], a: &mut Velocity, b: &mut Velocity) -> f64 {
        if let Some(push) = (self.0)(constraint) {
            push.give(constraint, a, b);
        }
        0.0
    }

    fn general(
        &self,
        constraint: &mut Constraint,
        _: impl Fn(&Constraint) -> Response,
        _: [&Velocity; 2],
        _: impl Fn(DVec3) -> DVec3,
    ) -> (Push, f64) {
        ((self.0)(constraint).unwrap_or_default(), 0.0)
    }
}

/// Impulse of a contact on its body a; body b receives the reverse.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Push {
    /// Linear impulse \[N s\].
    pub linear: DVec3,
    /// Angular impulse \[N m s\], beside the moment of `linear` on its arm.
    pub rolling: DVec3,
}

impl Push {
    /// Linear and angular impulse on body a of a contact impulse with this normal.
    #[inline(always)]
    pub fn of(impulse: &Impulse, normal: DVec3) -> Push {
        Push { linear: impulse.linear(normal), rolling: impulse.rolling }
    }

    /// Applies the impulses to the bodies of a contact.
    #[inline(always)]
    pub fn give(&self, constraint: &Constraint, a: &mut Velocity, b: &mut Velocity) {
        let [on_a, on_b] = [ImpulseShare::of_a(constraint, self), ImpulseShare::of_b(constraint, self)];
        a.push_and_twist(on_a.linear, on_a.angular);
        b.push_and_twist(on_b.linear, on_b.angular);
    }
}

/// Impulse of contacts on a body.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ImpulseShare {
    /// Linear impulse \[N s\].
    pub linear: DVec3,
    /// Angular impulse about the centre \[N m s\].
    pub angular: DVec3,
}

impl ImpulseShare {
    #[inline(always)]
    pub fn of_a(constraint: &Constraint, push: &Push) -> ImpulseShare {
        ImpulseShare { linear: push.linear, angular: constraint.arm_a.cross(push.linear) + push.rolling }
    }

    #[inline(always)]
    pub fn of_b(constraint: &Constraint, push: &Push) -> ImpulseShare {
        ImpulseShare { linear: -push.linear, angular: push.linear.cross(constraint.arm_b) - push.rolling }
    }

    pub(crate) fn and(self, other: &ImpulseShare) -> ImpulseShare {
        ImpulseShare { linear: self.linear + other.linear, angular: self.angular + other.angular }
    }
}

impl Disjoint<'_> {
    /// Visits a constraint with copies of its bodies, and writes the velocities of the free ones back.
    ///
    /// # Safety
    /// The bodies are there, no constraint visited at the same time may share a dynamic one with this constraint, and neither is rigid.
    #[inline(always)]
    pub(crate) unsafe fn visit(&self, constraint: &mut Constraint, visit: &impl Visit) -> f64 {
        let [at_a, at_b] = constraint.bodies.map(|body| body as usize);
        debug_assert!(at_a < self.count && at_b < self.count, "as in `get`");
        // SAFETY: by the caller's promise.
        unsafe {
            let mut a = self.first.add(at_a).read();
            let mut b = self.first.add(at_b).read();
            let effective_mass = constraint.effective_mass;
            let result = visit.contact(constraint, &effective_mass, &mut a, &mut b);
            if a.is_free() {
                let to = self.first.add(at_a);
                (*to).linear = a.linear;
                (*to).angular = a.angular;
            }
            if b.is_free() {
                let to = self.first.add(at_b);
                (*to).linear = b.linear;
                (*to).angular = b.angular;
            }
            result
        }
    }
}

impl Disjoint<'_> {
    /// Visits constraints one after the other, and returns the largest value.
    ///
    /// # Safety
    /// As [`Disjoint::visit`], for each of them.
    #[inline(always)]
    pub(crate) unsafe fn visit_each(&self, constraints: &mut [Constraint], visit: &impl Visit) -> f64 {
        constraints.iter_mut().fold(0.0, |largest: f64, constraint| {
            // SAFETY: by the caller's promise.
            largest.max(unsafe { self.visit(constraint, visit) })
        })
    }
}
