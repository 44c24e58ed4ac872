//! Narrowphase: the constraints of the contact problem, from positions \[E2\]-\[E5\].
//!
//! One constraint holds all data of a contact that a sweep needs. Twin: `shaders/narrowphase.wgsl`.

use crate::law::normal::NormalPair;
use crate::law::normal::NormalRow;
use crate::law::restitution::restitution_limit;
use glam::{DMat3, DVec3};
use rayon::prelude::*;

use crate::contact::{Colouring, Impulse, Key};
use crate::law::cohesion::COHESION_RANGE;
use crate::law::cone::Cone;
use crate::law::damping::Damping;
use crate::law::normal::NormalLaw;
use crate::law::pair::PairLaw;
use crate::model::{Kind, Sphere, Touch, World};
use crate::settings::{Method, Settings};

use super::patches::{Joined, Patches};
use super::velocity::{InverseMass, Velocity};

/// Constraints handled by one task.
pub(super) const CHUNK: usize = 1024;

/// Bias velocity of a contact that takes no part \[m/s\].
pub const FAR: f64 = -1e30;

/// Constants of the contact laws during a substep.
#[derive(Debug, Clone, Copy)]
pub struct Law {
    /// Length of the substep h \[s\].
    pub h: f64,
    /// The normal law.
    pub normal: NormalLaw,
    /// Share of a rigid overlap that the substep removes \[-\].
    pub rigid_correction: f64,
    /// Largest gap of a listed contact, in mean diameters \[-\].
    pub reach: f64,
    /// Method of a step: nonsmooth or smooth.
    pub method: Method,
    /// Lever arm of rolling resistance over R* \[-\].
    pub rolling_arm: f64,
    /// Law of the damping of springs.
    pub damping: Damping,
}

impl Law {
    /// Constants for these settings.
    pub fn new(settings: &Settings) -> Law {
        Law {
            h: settings.substep(),
            normal: settings.normal_law,
            rigid_correction: settings.rigid_correction,
            reach: settings.reach(),
            method: settings.method,
            rolling_arm: settings.rolling_arm.in_effective_radii(),
            damping: settings.damping,
        }
    }

    /// Impulse that a contact carries over to the next substep; under the smooth method the state of its springs.
    pub fn carried<'a>(&self, constraint: &'a Constraint) -> &'a Impulse {
        match self.method {
            Method::Nonsmooth => &constraint.impulse,
            Method::Smooth => &constraint.last_impulse,
        }
    }

    /// Distance between a patch and the centre of a sphere beyond which they have no contact \[m\]: the gap is then twice the gap at which
    /// the contact was listed.
    pub fn patch_reach(&self, sphere: &Sphere) -> f64 {
        sphere.radius + 4.0 * self.reach * sphere.contact_radius
    }
}

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
    /// Contact velocity u \[m/s\].
    #[inline(always)]
    pub fn contact_velocity(&self, a: &Velocity, b: &Velocity) -> DVec3 {
        a.linear + a.angular.cross(self.arm_a) - b.linear - b.angular.cross(self.arm_b)
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

/// Fills the geometry and coefficients of all constraints of the nonsmooth method, on bodies of these velocities; impulses stay.
///
/// # Panics
/// Where there is no onset for each constraint, as under the smooth method.
pub fn fill_constraints(
    world: &World,
    law: &Law,
    keys: &[Key],
    colouring: &Colouring,
    patches: &mut Patches,
    velocities: &[Velocity],
    (constraints, onsets): (&mut [Constraint], &mut [Onset]),
) {
    assert_eq!(constraints.len(), onsets.len(), "an onset per constraint");
    patches.join(world, law, constraints);
    let places = constraints.par_iter_mut().zip(onsets).zip(&colouring.order).with_min_len(CHUNK);
    places.for_each(|((constraint, onset), &contact)| {
        let (key, joined) = (keys[contact as usize], patches.get(contact));
        let carried = joined.map_or(constraint.impulse, |joined| joined.impulse);
        let touch = touch_of(world, key, joined);
        (*constraint, *onset) =
            constraint_at(world, law, key, touch, carried, |body| velocities[body as usize]);
    });
}

/// Touch of the shapes of a contact; with a patch `None` unless its touch takes part.
pub(super) fn touch_of(world: &World, key: Key, joined: Option<&Joined>) -> Option<Touch> {
    match joined {
        Some(joined) => joined.touch.filter(|_| !world.is_removed(key.a)),
        None => world.touch(key.a, key.b),
    }
}

/// Makes the constraint of the nonsmooth method for one pair that carries an impulse over from the last substep. A patch is treated without
/// its neighbours in the mesh.
pub fn make_constraint(world: &World, law: &Law, key: Key, carried: Impulse) -> (Constraint, Onset) {
    let velocity = |body: u32| Velocity::of(world, body as usize);
    constraint_at(world, law, key, world.touch(key.a, key.b), carried, velocity)
}

/// Makes the constraint of one pair with this touch, of bodies with these velocities; without a touch the contact takes no part.
fn constraint_at(
    world: &World,
    law: &Law,
    key: Key,
    touch: Option<Touch>,
    carried: Impulse,
    velocity: impl Fn(u32) -> Velocity,
) -> (Constraint, Onset) {
    let Some(touch) = touch else {
        let onset = Onset { gap: f64::INFINITY, position_target: FAR, ..Onset::default() };
        return (Constraint { bodies: bodies_of(world, key), ..Constraint::default() }, onset);
    };
    let pair = world.law(key.a, key.b);
    let radius = world.effective_radius(key.a, key.b);
    let of_pair = NormalPair { h: law.h, rigid_correction: law.rigid_correction, law: pair, radius };
    let NormalRow { upsilon, position_target, stiffness, compliance } =
        law.normal.row(&of_pair, touch.gap, carried.normal);
    let holds = touch.gap <= COHESION_RANGE * radius;
    let cohesion = if holds { law.h * world.pull_off(key.a, key.b) } else { 0.0 };
    let mut constraint = Constraint { compliance, cohesion, impulse: carried, ..Constraint::default() };
    constraint.set_pair(world, law, key, pair);
    constraint.place(world, key, &touch);
    let [a, b] = constraint.bodies.map(velocity);
    let restitution = constraint.set_inverse_d(world, [&a, &b]).min(pair.restitution);
    (constraint, Onset { gap: touch.gap, upsilon, position_target, stiffness, restitution })
}

/// Bodies of a pair of shapes.
fn bodies_of(world: &World, key: Key) -> [u32; 2] {
    [key.a, key.b].map(|shape| world.shape_body(shape))
}

impl Constraint {
    /// Sets the data that do not depend on positions: the bodies, and the bounds of friction and rolling.
    #[inline]
    pub(super) fn set_pair(&mut self, world: &World, law: &Law, key: Key, pair: &PairLaw) {
        self.bodies = bodies_of(world, key);
        self.friction = pair.friction;
        self.rolling_arm = pair.rolling_resistance * law.rolling_arm * world.rolling_radius(key.a, key.b);
    }

    /// Sets the normal and the arms from a touch; the bodies must be set before.
    #[inline]
    pub(super) fn place(&mut self, world: &World, key: Key, touch: &Touch) {
        self.normal = touch.normal;
        self.arm_a = touch.point - world.bodies.position[self.bodies[0] as usize];
        self.arm_b = touch.point - world.image_of_body(key.b, world.centre(key.a));
    }

    /// Sets 1/D per kind of constraint \[E5\] on the bodies, of which only masses and locked axes count, and returns the restitution up to
    /// which no impact gains energy \[E6\]. The friction block is bounded by a multiple of the identity, which is exact for spheres, as their
    /// arms are parallel to the normal.
    pub fn set_inverse_d(&mut self, world: &World, [a, b]: [&Velocity; 2]) -> f64 {
        if self.bodies.iter().any(|&body| world.bodies.kind[body as usize] == Kind::Rigid) {
            return self.set_general(world, [a, b]);
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
    fn set_general(&mut self, world: &World, velocities: [&Velocity; 2]) -> f64 {
        let [a, b] = [0, 1].map(|side| InverseMass::of(world, self.bodies[side] as usize, velocities[side]));
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
pub(super) fn times_d(change: f64, effective_mass: f64) -> f64 {
    if effective_mass > 0.0 { change / effective_mass } else { 0.0 }
}

/// Sets the bias velocities q_n from the velocities after the impact stage \[E2\].
pub fn set_targets(constraints: &mut [Constraint], onsets: &[Onset], velocities: &[Velocity]) {
    constraints.par_iter_mut().zip(onsets).with_min_len(CHUNK).for_each(|(constraint, onset)| {
        let [a, b] = constraint.bodies.map(|body| &velocities[body as usize]);
        let closing = constraint.contact_velocity(a, b).dot(constraint.normal);
        constraint.bias = onset.position_target + onset.upsilon * closing;
    });
}
