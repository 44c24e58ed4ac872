//! Narrowphase: the constraints of the contact problem, from positions \[E2\]-\[E5\].
//!
//! One constraint holds all that a sweep needs of a contact. Twin: `shaders/narrowphase.wgsl`.

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use crate::contact::{Colouring, Cone, Impulse, Key};
use crate::engine::spring_damping;
use crate::model::{Kind, PairLaw, Sphere, Touch, World};
use crate::settings::{
    COHESION_RANGE, DAMPING_STEPS, Damping, Method, NormalLaw, RIGID_CORRECTION_LIMIT, Settings,
};

use super::patches::{Joined, Patches};
use super::velocity::{InverseMass, Velocity};

/// Rows handled by one task.
pub(super) const CHUNK: usize = 1024;

/// Mobility given to locked directions, over the trace of the mobility \[-\]. Larger, it weakens the bound that
/// it serves; smaller, the inverse of a single-precision twin drowns in rounding.
const LOCKED_GIVE: f64 = 1e-6;

/// Target of a contact that takes no part \[m/s\].
pub const FAR: f64 = -1e30;

/// Constants of the laws during a substep.
#[derive(Debug, Clone, Copy)]
pub struct Law {
    /// Length of the substep h \[s\].
    pub h: f64,
    /// The normal law.
    pub normal: NormalLaw,
    /// Share of a rigid overlap that the substep removes \[-\].
    pub rigid_correction: f64,
    /// Largest gap of a contact that is listed, in mean diameters \[-\].
    pub reach: f64,
    /// What a step is made of.
    pub method: Method,
    /// Lever arm of rolling resistance over R* \[-\].
    pub rolling_arm: f64,
    /// Which law damps springs.
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

    /// What a contact carries over to the next substep: its impulse, or what its springs hold.
    pub fn carried<'a>(&self, constraint: &'a Constraint) -> &'a Impulse {
        match self.method {
            Method::Nonsmooth => &constraint.impulse,
            Method::Smooth => &constraint.last_impulse,
        }
    }

    /// Distance of the centre of a sphere from a patch beyond which they have no contact \[m\]: the gap is then twice that at which
    /// it was listed.
    pub fn patch_reach(&self, sphere: &Sphere) -> f64 {
        sphere.radius + 4.0 * self.reach * sphere.contact_radius
    }
}

/// One contact as a sweep solves it: four cache lines. A sweep writes the third, and the
/// fourth if it is accelerated.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Constraint {
    /// Bodies a and b.
    pub bodies: [u32; 2],
    /// From b to a.
    pub normal: DVec3,
    /// 1/D of the normal, friction and rolling constraints; 0 where nothing can move.
    pub effective_mass: [f64; 3],
    /// Σ_n.
    pub compliance: f64,
    /// Contact point from the centre of a \[m\].
    pub arm_a: DVec3,
    /// Contact point from the centre of b \[m\].
    pub arm_b: DVec3,
    /// μ of the pair.
    pub friction: f64,
    /// μ_r times the lever arm \[m\].
    pub rolling_arm: f64,
    /// q_n \[m/s\].
    pub bias: f64,
    /// Impulse with which cohesion pulls the bodies together in the substep, beside `impulse` \[E2\] \[N s\].
    pub cohesion: f64,
    /// Impulse so far.
    pub impulse: Impulse,
    /// Where the sweep before the last left it, if sweeps are accelerated \[E12\]. Under the smooth method what its springs hold \[E13\]: `tangent`
    /// \[N\], `rolling` \[N m\], and the twisting moment \[N m\] in place of `normal`.
    pub last_impulse: Impulse,
}

/// What else a substep needs of a contact, before its sweeps.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Onset {
    /// Gap \[m\]; of springs that are not pressed any that is not negative.
    pub gap: f64,
    /// Υ of \[E2\]; 0 unless elastic and overlapping.
    pub upsilon: f64,
    /// Part of q_n that positions decide \[m/s\].
    pub position_target: f64,
    /// Normal stiffness: λ_n at rest is h · this · δ^(2 e_H - 1).
    pub stiffness: f64,
    /// e of the pair.
    pub restitution: f64,
    /// What else springs are made of, under the smooth method.
    pub spring: Spring,
}

/// Coefficients of the springs of a contact, which stay until the next search \[E13\].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spring {
    /// η_n over √(m* S) or over S \[-, s\].
    pub damping: f64,
    /// κ, tangential stiffness over the slope of the normal force \[-\].
    pub tangent: f64,
    /// R* \[m\]; 0 of springs that are not made yet.
    pub radius: f64,
    /// Force that pulls the bodies together \[N\].
    pub pull_off: f64,
}

impl Constraint {
    /// Contact velocity u \[m/s\].
    #[inline(always)]
    pub fn contact_velocity(&self, a: &Velocity, b: &Velocity) -> DVec3 {
        a.linear + a.angular.cross(self.arm_a) - b.linear - b.angular.cross(self.arm_b)
    }

    /// What it gives its bodies: its impulse, and that of cohesion.
    #[inline(always)]
    pub fn given(&self) -> Impulse {
        Impulse { normal: self.impulse.normal - self.cohesion, ..self.impulse }
    }

    /// The nearest friction impulse that it may carry beside a normal one \[E3\] \[N s\].
    #[inline(always)]
    pub fn within_friction(&self, cone: Cone, tangent: DVec3, normal: f64) -> DVec3 {
        cone.project(tangent, self.friction * normal, self.normal)
    }

    /// The nearest rolling impulse that it may carry beside a normal one \[E4\] \[N m s\].
    #[inline(always)]
    pub fn within_rolling(&self, cone: Cone, rolling: DVec3, normal: f64) -> DVec3 {
        cone.project(rolling, self.rolling_arm * normal, self.normal)
    }
}

/// How the contact velocity answers to impulses, on bodies of which a normal one may change the slip.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Response {
    /// Slip per normal impulse, K n in the tangent plane \[1/kg\].
    pub slip: DVec3,
    /// 1/D of the normal, friction and rolling constraints; 0 where nothing can move.
    pub effective_mass: [f64; 3],
}

/// Fills the geometry and coefficients of all constraints; impulses stay.
pub fn fill_constraints(
    world: &World,
    law: &Law,
    keys: &[Key],
    colouring: &Colouring,
    patches: &mut Patches,
    constraints: &mut [Constraint],
    onsets: &mut [Onset],
) {
    patches.join(world, law, constraints);
    let places = constraints.par_iter_mut().zip(onsets).zip(&colouring.order).with_min_len(CHUNK);
    // A loop of its own for each method: that of springs is short and runs a thousand times as often.
    match law.method {
        Method::Smooth => places.for_each(|((constraint, onset), &contact)| {
            let (key, joined) = (keys[contact as usize], patches.get(contact));
            place_spring(world, law, key, joined, constraint, onset);
        }),
        Method::Nonsmooth => places.for_each(|((constraint, onset), &contact)| {
            let (key, joined) = (keys[contact as usize], patches.get(contact));
            let carried = joined.map_or(constraint.impulse, |joined| joined.impulse);
            (*constraint, *onset) = constraint_at(world, law, key, touch_of(world, key, joined), carried);
        }),
    }
}

/// Where the shapes of a contact touch; of one with a patch where that counts.
fn touch_of(world: &World, key: Key, joined: Option<&Joined>) -> Option<Touch> {
    match joined {
        Some(joined) => joined.touch.filter(|_| !world.is_removed(key.a)),
        None => world.touch(key.a, key.b),
    }
}

/// Puts the springs of a contact where its bodies are now. What stays until the next search is found only once: steps are many, and each does
/// little.
#[inline(always)]
fn place_spring(
    world: &World,
    law: &Law,
    key: Key,
    joined: Option<&Joined>,
    constraint: &mut Constraint,
    onset: &mut Onset,
) {
    if onset.spring.radius == 0.0 {
        make_spring(world, law, key, constraint, onset);
    }
    if let Some(joined) = joined {
        constraint.last_impulse = joined.impulse;
    } else if let Some(spheres) = world.lone_spheres(key.a, key.b) {
        return place_between(world, spheres, constraint, onset);
    }
    let touch = touch_of(world, key, joined);
    onset.gap = touch.map_or(f64::INFINITY, |touch| touch.gap);
    if let Some(touch) = touch.filter(|touch| touch.gap < 0.0) {
        constraint.place(world, key, &touch);
    }
}

/// As [`place_spring`], between grains of one sphere each: most contacts, and most of the time of a step.
#[inline(always)]
fn place_between(world: &World, [a, b]: [&Sphere; 2], constraint: &mut Constraint, onset: &mut Onset) {
    let place = |sphere: &Sphere| world.bodies.position[sphere.body as usize];
    let (centre, other) = (place(a), place(b));
    let apart = centre - world.periodic.image(other, centre);
    let reach = a.radius + b.radius;
    if apart.length_squared() >= reach * reach {
        onset.gap = f64::INFINITY;
        return;
    }
    let touch = Touch::between_spheres(apart, a.radius, DVec3::ZERO, b.radius);
    onset.gap = touch.gap;
    constraint.normal = touch.normal;
    (constraint.arm_a, constraint.arm_b) = (touch.point - apart, touch.point);
}

/// Coefficients of the springs of a contact, and its bodies.
fn make_spring(world: &World, law: &Law, key: Key, constraint: &mut Constraint, onset: &mut Onset) {
    let (pair, radius) = (world.law(key.a, key.b), world.effective_radius(key.a, key.b));
    let elasticity = law.normal.elasticity(pair.effective_modulus, radius);
    onset.stiffness = elasticity.map_or(0.0, |(_, stiffness)| stiffness);
    let damping = spring_damping(law.normal, law.damping, pair);
    let pull_off = world.pull_off(key.a, key.b);
    onset.spring = Spring { damping, tangent: pair.tangential_stiffness, radius, pull_off };
    constraint.set_pair(world, law, key, pair);
}

/// Constraint of the nonsmooth method for one pair that carries an impulse over from the last substep. A patch is looked at without those
/// beside it.
pub fn make_constraint(world: &World, law: &Law, key: Key, carried: Impulse) -> (Constraint, Onset) {
    constraint_at(world, law, key, world.touch(key.a, key.b), carried)
}

/// Constraint of one pair that touches so, if it does.
fn constraint_at(
    world: &World,
    law: &Law,
    key: Key,
    touch: Option<Touch>,
    carried: Impulse,
) -> (Constraint, Onset) {
    let Some(touch) = touch else {
        let onset = Onset { gap: f64::INFINITY, position_target: FAR, ..Onset::default() };
        return (Constraint { bodies: bodies_of(world, key), ..Constraint::default() }, onset);
    };
    let pair = world.law(key.a, key.b);
    let radius = world.effective_radius(key.a, key.b);
    let (onset, compliance) = normal_law(law, pair, radius, touch.gap, carried.normal);
    let holds = touch.gap <= COHESION_RANGE * radius;
    let cohesion = if holds { law.h * world.pull_off(key.a, key.b) } else { 0.0 };
    let mut constraint = Constraint { compliance, cohesion, impulse: carried, ..Constraint::default() };
    constraint.set_pair(world, law, key, pair);
    constraint.place(world, key, &touch);
    let restitution = constraint.set_inverse_d(world).min(pair.restitution);
    (constraint, Onset { restitution, ..onset })
}

/// Υ, the part of q_n from positions, and Σ_n \[E2\].
fn normal_law(law: &Law, pair: &PairLaw, radius: f64, gap: f64, carried: f64) -> (Onset, f64) {
    let (overlap, free) = (-gap, Onset { gap, position_target: -gap / law.h, ..Onset::default() });
    let Some((exponent, stiffness)) = law.normal.elasticity(pair.effective_modulus, radius) else {
        if overlap <= 0.0 {
            return (free, 0.0);
        }
        let correction = (law.rigid_correction * overlap).min(RIGID_CORRECTION_LIMIT * radius);
        return (Onset { position_target: correction / law.h, ..free }, 0.0);
    };
    if overlap <= 0.0 {
        return (free, landing_compliance(law.h, exponent, stiffness, carried));
    }
    let compliance = exponent / stiffness;
    let damping_time = (DAMPING_STEPS * law.h).max(pair.damping / exponent);
    let slope = exponent * overlap.powf(exponent - 1.0);
    let upsilon = 1.0 / (1.0 + 4.0 * damping_time / law.h);
    let position_target = 4.0 * upsilon / law.h * overlap / exponent;
    let onset = Onset { stiffness, upsilon, position_target, ..free };
    (onset, 4.0 * compliance * upsilon / (law.h * law.h * slope * slope))
}

/// Bodies of a pair of shapes.
fn bodies_of(world: &World, key: Key) -> [u32; 2] {
    [key.a, key.b].map(|shape| world.shape_body(shape))
}

impl Constraint {
    /// Sets what does not depend on where the bodies are: who they are, and the bounds of friction and rolling.
    fn set_pair(&mut self, world: &World, law: &Law, key: Key, pair: &PairLaw) {
        self.bodies = bodies_of(world, key);
        self.friction = pair.friction;
        self.rolling_arm = pair.rolling_resistance * law.rolling_arm * world.rolling_radius(key.a, key.b);
    }

    /// Puts it where its bodies, which are set, touch now.
    fn place(&mut self, world: &World, key: Key, touch: &Touch) {
        self.normal = touch.normal;
        self.arm_a = touch.point - world.bodies.position[self.bodies[0] as usize];
        self.arm_b = touch.point - world.image_of_body(key.b, world.centre(key.a));
    }

    /// 1/D per kind of constraint \[E5\]; returns the restitution up to which no impact gains energy \[E6\]. The friction
    /// block is bounded by a multiple of the identity, which is exact for spheres, whose arms are parallel to the
    /// normal.
    pub fn set_inverse_d(&mut self, world: &World) -> f64 {
        if self.bodies.iter().any(|&body| world.bodies.kind[body as usize] == Kind::Rigid) {
            return self.set_general(world);
        }
        let [a, b] = self.bodies.map(|body| Velocity::of(world, body as usize));
        self.effective_mass = self.inverse_d_on(&a, &b);
        1.0
    }

    /// 1/D per kind of constraint between two bodies that are spheres or prescribed.
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

    /// 1/D of a contact with a rigid body that is no sphere \[E5\]; returns the limit of its restitution.
    fn set_general(&mut self, world: &World) -> f64 {
        let inverse_mass =
            |body: u32| InverseMass::of(world, body as usize, &Velocity::of(world, body as usize));
        let [a, b] = self.bodies.map(inverse_mass);
        let mobility = self.mobility(&a, &b);
        self.effective_mass = self.general_inverse_d(&mobility, &a, &b);
        if self.friction > 0.0 { restitution_limit(&mobility, self.normal) } else { 1.0 }
    }

    /// Part of a vector in the tangent plane.
    pub fn in_plane(&self, vector: DVec3) -> DVec3 {
        vector - vector.dot(self.normal) * self.normal
    }

    /// Slip that a normal impulse brings about, per impulse \[1/kg\].
    pub fn slip_per_impulse(&self, a: &InverseMass, b: &InverseMass) -> DVec3 {
        self.in_plane(a.response(self.arm_a, self.normal) + b.response(self.arm_b, self.normal))
    }

    /// Contact velocity that an impulse brings about, per impulse \[1/kg\].
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

/// Restitution up to which an impact with friction cannot gain energy \[E6\]: 1/√((n·K n)(n·K⁻¹ n)).
fn restitution_limit(mobility: &DMat3, normal: DVec3) -> f64 {
    let scale = mobility.x_axis.x + mobility.y_axis.y + mobility.z_axis.z;
    if scale <= 0.0 {
        return 1.0;
    }
    // Locked axes leave directions in which nothing moves: a little give makes K invertible.
    let mobility = *mobility * (1.0 / scale) + DMat3::from_diagonal(DVec3::splat(LOCKED_GIVE));
    let product = normal.dot(mobility * normal) * normal.dot(mobility.inverse() * normal);
    1.0 / product.max(1.0).sqrt()
}

/// `change` times D, from 1/D; 0 where nothing can move.
pub(super) fn times_d(change: f64, effective_mass: f64) -> f64 {
    if effective_mass > 0.0 { change / effective_mass } else { 0.0 }
}

/// Σ_n of a contact that does not touch yet but carried an impulse λ in the last substep: it may sink to
/// the overlap δ at which the elastic law carries λ, so Σ_n = δ / (h λ) \[E2\]. Rigid, it would hold its
/// load at a gap of zero for ever and never come under the elastic law.
fn landing_compliance(h: f64, exponent: f64, stiffness: f64, carried: f64) -> f64 {
    if carried <= 0.0 {
        return 0.0;
    }
    (carried / (h * stiffness)).powf(1.0 / (2.0 * exponent - 1.0)) / (h * carried)
}

/// q_n from the velocities after the impact stage \[E2\].
pub fn set_targets(constraints: &mut [Constraint], onsets: &[Onset], velocities: &[Velocity]) {
    constraints.par_iter_mut().zip(onsets).with_min_len(CHUNK).for_each(|(constraint, onset)| {
        let [a, b] = constraint.bodies.map(|body| &velocities[body as usize]);
        let closing = constraint.contact_velocity(a, b).dot(constraint.normal);
        constraint.bias = onset.position_target + onset.upsilon * closing;
    });
}
