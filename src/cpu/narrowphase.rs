//! Narrowphase: the constraints of the contact problem, from positions \[E2\]-\[E5\].
//!
//! One constraint holds all data of a contact that a sweep needs. Twin: `shaders/narrowphase.wgsl`.

use rayon::prelude::*;

use crate::contact::constraint::bodies_of;
use crate::contact::flow::Flow;
use crate::contact::tasks::CHUNK;
use crate::contact::tensors::Tensors;
use crate::contact::velocity::Velocity;
use crate::contact::{Colouring, Impulse, Key};
use crate::law::cohesion::COHESION_RANGE;
use crate::law::normal::{NormalPair, NormalRow};
use crate::model::{Touch, World};

use super::manifolds::{Manifolds, Sleep};
use super::patches::Patches;
use super::{Constraint, LawConstants, Onset};

/// Bias velocity of a contact that takes no part \[m/s\].
pub const FAR: f64 = -1e30;

/// Fills the geometry and coefficients of all constraints of the nonsmooth method, on bodies of these velocities; impulses stay.
///
/// # Panics
/// Where there is no onset for each constraint, as under the smooth method.
pub fn fill_constraints(
    world: &World,
    law: &LawConstants,
    keys: &[Key],
    colouring: &Colouring,
    patches: &mut Patches,
    velocities: &[Velocity],
    filled: (&mut [Constraint], &mut [Onset]),
) {
    let bodies = FillFrom { velocities, tensors: &Tensors::default(), sleep: None };
    fill_awake(world, law, keys, colouring, patches, bodies, filled);
}

/// What constraints are filled from beside positions.
#[derive(Clone, Copy)]
pub(super) struct FillFrom<'a> {
    pub velocities: &'a [Velocity],
    /// Inertia of rigid bodies, as far as it is known.
    pub tensors: &'a Tensors,
    /// Lets pairs of grains sleep.
    pub sleep: Option<Sleep<'a>>,
}

/// As [`fill_constraints`], but pairs of grains may sleep.
pub(super) fn fill_awake(
    world: &World,
    law: &LawConstants,
    keys: &[Key],
    colouring: &Colouring,
    patches: &mut Patches,
    FillFrom { velocities, tensors, sleep }: FillFrom<'_>,
    (constraints, onsets): (&mut [Constraint], &mut [Onset]),
) {
    assert_eq!(constraints.len(), onsets.len(), "an onset per constraint");
    patches.join(world, law, keys, constraints, sleep);
    let patches = &*patches;
    let places = constraints.par_iter_mut().zip(onsets).zip(&colouring.order).with_min_len(CHUNK);
    places.for_each(|((constraint, onset), &contact)| {
        let (key, joined) = (keys[contact as usize], patches.get(contact));
        let carried = joined.map_or(constraint.impulse, |joined| joined.impulse);
        let touch = touch_of(world, key, contact, patches);
        if touch.is_none() && onset.position_target == FAR {
            return; // as in the last substep
        }
        (*constraint, *onset) =
            constraint_at((world, tensors), law, key, touch, carried, |body| velocities[body as usize]);
        constraint.cohesion *= patches.manifolds.share_of_pull(contact);
    });
}

/// Touch of the shapes of a contact; with a patch `None` unless its touch takes part, and at a point of a manifold unless there is one.
#[inline]
pub(super) fn touch_of(world: &World, key: Key, contact: u32, patches: &Patches) -> Option<Touch> {
    if let Some(touch) = patches.manifolds.get(contact) {
        return touch;
    }
    match patches.get(contact) {
        Some(joined) => joined.touch.filter(|_| !world.is_removed(key.a)),
        None => world.touch(key.a, key.b),
    }
}

/// Makes the constraint of the nonsmooth method for one pair that carries an impulse over from the last substep. A patch is treated without
/// its neighbours in the mesh.
pub fn make_constraint(world: &World, law: &LawConstants, key: Key, carried: Impulse) -> (Constraint, Onset) {
    make_constraint_at(world, law, key, world.touch(key.a, key.b), carried)
}

/// The same of a pair with this touch.
pub fn make_constraint_at(
    world: &World,
    law: &LawConstants,
    key: Key,
    touch: Option<Touch>,
    carried: Impulse,
) -> (Constraint, Onset) {
    let velocity = |body: u32| Velocity::of(world, body as usize);
    constraint_at((world, &Tensors::default()), law, key, touch, carried, velocity)
}

/// Makes the constraint of one pair with this touch, of bodies with these velocities; without a touch the contact takes no part.
fn constraint_at(
    (world, tensors): (&World, &Tensors),
    law: &LawConstants,
    key: Key,
    touch: Option<Touch>,
    carried: Impulse,
    velocity: impl Fn(u32) -> Velocity,
) -> (Constraint, Onset) {
    let Some(touch) = touch else {
        let onset = Onset { gap: f64::INFINITY, position_target: FAR, ..Onset::default() };
        return (Constraint { bodies: bodies_of(world, key), bias: FAR, ..Constraint::default() }, onset);
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
    let restitution = constraint.set_inverse_d_with(tensors, world, [&a, &b]).min(pair.restitution);
    (constraint, Onset { gap: touch.gap, upsilon, position_target, stiffness, restitution })
}

/// Constraints, by their places, of the contacts of pairs that slept and may meet in the substep at these velocities. Their onsets are set.
pub(super) fn wake(
    world: &World,
    law: &LawConstants,
    manifolds: &mut Manifolds,
    velocities: &[Velocity],
    onsets: &mut [Onset],
) -> Vec<(u32, Constraint)> {
    let contacts = manifolds.wake(world, law.h, velocities);
    let of_contact = |(place, key, touch)| {
        let velocity = |body: u32| velocities[body as usize];
        let world = (world, &Tensors::default());
        let (constraint, onset) = constraint_at(world, law, key, touch, Impulse::default(), velocity);
        onsets[place as usize] = onset;
        (place, Constraint { bias: onset.position_target, ..constraint })
    };
    contacts.into_iter().map(of_contact).collect()
}

/// Sets the bias velocities q_n from the velocities after the impact stage, in the flow of a cell \[E2\].
pub fn set_targets(constraints: &mut [Constraint], onsets: &[Onset], flow: Flow, velocities: &[Velocity]) {
    let touching = |(_, onset): &(&mut Constraint, &Onset)| onset.position_target != FAR;
    let constraints = constraints.par_iter_mut().zip(onsets).with_min_len(CHUNK).filter(touching);
    constraints.for_each(|(constraint, onset)| {
        let [a, b] = constraint.bodies.map(|body| &velocities[body as usize]);
        let closing = flow.contact_velocity(constraint, a, b).dot(constraint.normal);
        constraint.bias = onset.position_target + onset.upsilon * closing;
    });
}
