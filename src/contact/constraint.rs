//! Contact constraint: the unknown impulse of a contact, and all that a sweep needs to know of it \[E2\]-\[E5\].

use glam::{DMat3, DVec3};

use crate::law::cone::Cone;
use crate::law::pair::PairLaw;
use crate::law::restitution::restitution_limit;
use crate::model::{Kind, Touch, World};
use crate::settings::Method;

use super::constants::LawConstants;
use super::tensors::Tensors;
use super::velocity::{InverseMass, Velocity};
use super::{Impulse, Key};

/// Contact constraint as a sweep solves it: four cache lines. A sweep writes the third, and the fourth if it is accelerated.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Constraint {
    /// Bodies a and b.
    pub bodies: [u32; 2],
    /// Normal, from b to a.
    pub normal: DVec3,
    /// 1/D of the normal, friction and rolling constraints; 0 where nothing can move \[E5\].
    pub effective_mass: [f64; 3],
    /// Normal compliance Σ_n \[E2\].
    pub compliance: f64,
    /// Contact point from the centre of a \[m\].
    pub arm_a: DVec3,
    /// Contact point from the centre of b \[m\].
    pub arm_b: DVec3,
    /// Friction coefficient μ of the pair.
    pub friction: f64,
    /// Rolling coefficient μ_r times the lever arm \[m\].
    pub rolling_arm: f64,
    /// Bias velocity q_n of the normal constraint \[m/s\].
    pub bias: f64,
    /// Impulse by which cohesion pulls the bodies together in the substep, beside `impulse` \[E2\] \[N s\].
    pub cohesion: f64,
    /// Impulse after the sweeps so far.
    pub impulse: Impulse,
    /// Impulse after the sweep before the last, if sweeps are accelerated \[E12\]. Under the smooth method the state of the springs
    /// \[E13\]: `tangent` \[N\], `rolling` \[N m\], and the twisting moment \[N m\] in place of `normal`.
    pub last_impulse: Impulse,
}

/// Data of a contact that a nonsmooth substep needs before its sweeps.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Onset {
    /// Gap \[m\].
    pub gap: f64,
    /// Υ of \[E2\] \[-\]; 0 unless elastic and overlapping.
    pub upsilon: f64,
    /// Part of the bias velocity q_n from positions \[m/s\].
    pub position_target: f64,
    /// Normal stiffness k_n: λ_n at rest is h k_n δ^(2 e_H - 1).
    pub stiffness: f64,
    /// Restitution e of the contact \[-\].
    pub restitution: f64,
}

impl Constraint {
    /// Whether the shapes touch or are near; a contact that does not has no normal and takes no part.
    #[inline(always)]
    pub fn has_touch(&self) -> bool {
        self.normal != DVec3::ZERO
    }

    /// Contact velocity u \[m/s\].
    #[inline(always)]
    pub fn contact_velocity(&self, a: &Velocity, b: &Velocity) -> DVec3 {
        a.linear + a.angular.cross(self.arm_a) - b.linear - b.angular.cross(self.arm_b)
    }

    /// Impulse that the contact carries over to the next substep; under the smooth method the state of its springs.
    pub fn carried(&self, method: Method) -> &Impulse {
        match method {
            Method::Nonsmooth => &self.impulse,
            Method::Smooth => &self.last_impulse,
        }
    }

    /// Total impulse on the bodies: the contact impulse less that of cohesion.
    #[inline(always)]
    pub fn given(&self) -> Impulse {
        Impulse { normal: self.impulse.normal - self.cohesion, ..self.impulse }
    }

    /// Projects a friction impulse on those that the contact may carry beside a normal impulse \[E3\] \[N s\].
    #[inline(always)]
    pub fn within_friction(&self, cone: Cone, tangent: DVec3, normal: f64) -> DVec3 {
        cone.project(tangent, self.friction * normal, self.normal)
    }

    /// Projects a rolling impulse on those that the contact may carry beside a normal impulse \[E4\] \[N m s\].
    #[inline(always)]
    pub fn within_rolling(&self, cone: Cone, rolling: DVec3, normal: f64) -> DVec3 {
        cone.project(rolling, self.rolling_arm * normal, self.normal)
    }
}

/// Response of the contact velocity to impulses, for contacts at which a normal impulse may change the slip.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Response {
    /// Change of the slip per normal impulse, K n in the tangent plane \[1/kg\].
    pub slip: DVec3,
    /// 1/D of the normal, friction and rolling constraints; 0 where nothing can move.
    pub effective_mass: [f64; 3],
}

/// Bodies of a pair of shapes.
pub(crate) fn bodies_of(world: &World, key: Key) -> [u32; 2] {
    [key.a, key.b].map(|shape| world.shape_body(shape))
}

impl Constraint {
    /// Sets the data that do not depend on positions: the bodies, and the bounds of friction and rolling.
    #[inline]
    pub(crate) fn set_pair(&mut self, world: &World, law: &LawConstants, key: Key, pair: &PairLaw) {
        self.bodies = bodies_of(world, key);
        self.friction = pair.friction;
        self.rolling_arm = pair.rolling_resistance * law.rolling_arm * world.effective_radius(key.a, key.b);
    }

    /// Sets the normal and the arms from a touch; the bodies must be set before.
    #[inline]
    pub(crate) fn place(&mut self, world: &World, key: Key, touch: &Touch) {
        self.normal = touch.normal;
        self.arm_a = touch.point - world.bodies.position[self.bodies[0] as usize];
        self.arm_b = touch.point - world.image_of_body(key.b, world.centre(key.a));
    }

    /// Sets 1/D per kind of constraint \[E5\] on the bodies, of which only masses and locked axes count, and returns the restitution up to
    /// which no impact gains energy \[E6\]. The friction block is bounded by a multiple of the identity, which is exact for spheres, as
    /// their arms are parallel to the normal.
    pub fn set_inverse_d(&mut self, world: &World, velocities: [&Velocity; 2]) -> f64 {
        self.set_inverse_d_with(&Tensors::default(), world, velocities)
    }

    /// The same with the inertia of rigid bodies, as far as it is known.
    pub(crate) fn set_inverse_d_with(
        &mut self,
        tensors: &Tensors,
        world: &World,
        [a, b]: [&Velocity; 2],
    ) -> f64 {
        if self.bodies.iter().any(|&body| world.bodies.kind[body as usize] == Kind::Rigid) {
            return self.set_general(tensors, world, [a, b]);
        }
        self.effective_mass = self.inverse_d_on(a, b);
        1.0
    }

    /// 1/D per kind of constraint between two bodies, each a sphere, fixed or kinematic.
    #[inline]
    pub fn inverse_d_on(&self, a: &Velocity, b: &Velocity) -> [f64; 3] {
        let mut d = [self.compliance, 0.0, 0.0];
        for (body, arm) in [(a, self.arm_a), (b, self.arm_b)] {
            let lever = arm.cross(self.normal) * body.locked.free_rotation();
            let push = self.normal * body.locked.free_translation();
            d[0] += body.inverse_mass * push.length_squared() + body.inverse_inertia * lever.length_squared();
            d[1] += body.inverse_mass + body.inverse_inertia * arm.length_squared();
            d[2] += body.inverse_inertia;
        }
        d.map(|d| if d > 0.0 { 1.0 / d } else { 0.0 })
    }

    /// Sets 1/D of a contact with a rigid body that is no sphere \[E5\], and returns the limit of its restitution.
    fn set_general(&mut self, tensors: &Tensors, world: &World, velocities: [&Velocity; 2]) -> f64 {
        let [a, b] = [0, 1].map(|side| {
            let body = self.bodies[side];
            let known = tensors.get(body).copied();
            known.unwrap_or_else(|| InverseMass::of(world, body as usize, velocities[side]))
        });
        let mobility = self.mobility(&a, &b);
        self.effective_mass = self.general_inverse_d(&mobility, &a, &b);
        if self.friction > 0.0 { restitution_limit(&mobility, self.normal) } else { 1.0 }
    }

    /// Part of a vector in the tangent plane.
    pub fn in_plane(&self, vector: DVec3) -> DVec3 {
        vector - vector.dot(self.normal) * self.normal
    }

    /// Change of the slip by a normal impulse, per impulse \[1/kg\].
    pub fn slip_per_impulse(&self, a: &InverseMass, b: &InverseMass) -> DVec3 {
        self.in_plane(a.response(self.arm_a, self.normal) + b.response(self.arm_b, self.normal))
    }

    /// Change of the contact velocity by an impulse, per impulse \[1/kg\].
    pub fn mobility(&self, a: &InverseMass, b: &InverseMass) -> DMat3 {
        a.mobility(self.arm_a) + b.mobility(self.arm_b)
    }

    /// 1/D per kind of constraint on bodies whose arms are not parallel to the normal \[E5\].
    pub fn general_inverse_d(&self, mobility: &DMat3, a: &InverseMass, b: &InverseMass) -> [f64; 3] {
        let along = self.normal.dot(*mobility * self.normal) + self.compliance;
        let d = [along, tangent_bound(mobility, self.normal), a.angular_bound + b.angular_bound];
        d.map(|d| if d > 0.0 { 1.0 / d } else { 0.0 })
    }
}

/// Largest eigenvalue of P K P, with P the projection on the tangent plane of `normal`. One eigenvalue is
/// zero; the other two follow from the trace and the sum of squares.
#[inline(always)]
fn tangent_bound(mobility: &DMat3, normal: DVec3) -> f64 {
    let pushed = *mobility * normal;
    let along = normal.dot(pushed);
    let columns = [mobility.x_axis, mobility.y_axis, mobility.z_axis];
    let trace = columns[0].x + columns[1].y + columns[2].z - along;
    let squares = columns.map(DVec3::length_squared).iter().sum::<f64>() - 2.0 * pushed.length_squared()
        + along * along;
    0.5 * trace + (0.5 * squares - 0.25 * trace * trace).max(0.0).sqrt()
}

/// `change` times D, from 1/D; 0 where nothing can move.
pub(crate) fn times_d(change: f64, effective_mass: f64) -> f64 {
    if effective_mass > 0.0 { change / effective_mass } else { 0.0 }
}

/// Change of a contact: the larger D |Δλ| of its normal and its friction constraint \[m/s\], with D of whole bodies.
pub(crate) fn change_since(constraint: &Constraint, before: &Impulse) -> f64 {
    let normal = (constraint.impulse.normal - before.normal).abs();
    let tangent = (constraint.impulse.tangent - before.tangent).length();
    times_d(normal, constraint.effective_mass[0]).max(times_d(tangent, constraint.effective_mass[1]))
}
