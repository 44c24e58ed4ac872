//! Mass splitting \[E5\]: solves the overflow contacts, which have no colour, at the same time.
//!
//! A body of n such contacts takes part in each as a copy that has its velocity and 1/n of its mass and inertia. When all are solved the
//! body takes the mean of the copies, which is the effect of the sum of the impulses on the whole body. Contacts of grains with the
//! surfaces of a dynamic body, which may be thousands, are all overflow contacts. Twins: `shaders/overflow.wgsl`, `shaders/response.wgsl`,
//! `shaders/shared/split.wgsl`.
//!
//! ```text
//! overflow contact    ─┬─► a body of this contact alone: takes its share at once
//!                      └─► others: slot of the body in this chunk of contacts ─► sum of its slots ─► body
//! ```

use glam::DVec3;
use rayon::prelude::*;

use crate::model::{Axes, World};

use super::constraint::{Constraint, Response};
use super::coupling::Coupling;
use super::disjoint::{BodySet, Disjoint, parts};
use super::pass::{ImpulseShare, Push, Visit};
use super::tasks::{CHUNK, SWEEP_CHUNK};
use super::tensors::Tensors;
use super::velocity::{InverseMass, Velocity};
use super::{Colouring, Key, Overflow};

/// Value for no slot: the contact is the only overflow contact that moves the body, or nothing moves the body.
const NONE: u32 = u32::MAX;

/// Bodies of the overflow contacts, while a step is solved.
#[derive(Debug, Clone, Default)]
pub struct Split {
    /// Inverse mass and inertia of rigid bodies that are no spheres.
    tensors: Tensors,
    /// Data of the overflow contacts beside their constraints.
    parts: Vec<SplitContact>,
    /// Impulses of chunks of contacts on bodies of several copies: a slot per chunk and body.
    shares: Vec<ImpulseShare>,
    /// Index of the first slot of each chunk in `shares`, and the end of the last chunk.
    chunks: Vec<u32>,
    /// Bodies with slots, ascending, and the index of the first slot of each in `slots`.
    bodies: Vec<u32>,
    starts: Vec<u32>,
    /// Indices into `shares`, body by body.
    slots: Vec<u32>,
    /// Number of bodies, the first ones, on which impulses are summed over several parts of a scene.
    shared: usize,
}

/// Data of an overflow contact beside its constraint: a cache line.
#[derive(Debug, Clone, Copy, Default)]
struct SplitContact {
    /// Slots of its two bodies, counted from the first slot of the chunk; or [`NONE`].
    slots: [u32; 2],
    /// Numbers of copies of its two bodies, 1 where nothing moves the body.
    copies: [u32; 2],
    /// Response of the contact velocity on the copies, for the present solve.
    response: Response,
}

impl Split {
    /// Bytes for this number of bodies and contacts, an eighth of the contacts without a colour.
    pub fn planned_bytes(bodies: u64, contacts: u64) -> u64 {
        let per_contact = size_of::<SplitContact>() + 2 * (size_of::<ImpulseShare>() + 3 * size_of::<u32>());
        bodies * 3 * size_of::<u32>() as u64 + contacts / 8 * per_contact as u64
    }

    /// Bytes that the lists and the tensors hold.
    pub fn bytes(&self) -> u64 {
        let words = [&self.chunks, &self.bodies, &self.starts, &self.slots].map(Vec::capacity);
        (words.iter().sum::<usize>() * size_of::<u32>()
            + self.parts.capacity() * size_of::<SplitContact>()
            + self.shares.capacity() * size_of::<ImpulseShare>()) as u64
            + self.tensors.bytes()
    }

    /// Counts the overflow contacts of each body, and gives slots to bodies with more than one.
    pub fn new(world: &World, keys: &[Key], colouring: &Colouring, coupling: &mut dyn Coupling) -> Split {
        let shared = coupling.shared(world);
        let mut split = Split { tensors: Tensors::new(world), shared, ..Split::default() };
        if colouring.overflow == Overflow::OneByOne
            || (colouring.overflow().is_empty() && coupling.is_alone())
        {
            return split;
        }
        let bodies_of = |&contact: &u32| {
            let key = keys[contact as usize];
            [key.a, key.b].map(|shape| world.shape_body(shape) as usize)
        };
        // Bodies that were dynamic when the contacts were found, even if they were removed since.
        let moves = |body: usize| world.bodies.is_dynamic(body);
        let mut copies = vec![0u32; world.bodies.len()];
        for body in colouring.overflow().iter().flat_map(bodies_of).filter(|&body| moves(body)) {
            copies[body] += 1;
        }
        coupling.agree_on_copies(&mut copies);
        // The last slot of each body; within a chunk it is used again.
        let mut last = vec![NONE; world.bodies.len()];
        let mut owners = Vec::new();
        for chunk in colouring.overflow().chunks(SWEEP_CHUNK) {
            let first = owners.len() as u32;
            split.chunks.push(first);
            split.parts.extend(chunk.iter().map(bodies_of).map(|bodies| SplitContact {
                slots: bodies.map(|body| {
                    if copies[body] < 2 && (body >= shared || !moves(body)) {
                        return NONE;
                    }
                    if last[body] == NONE || last[body] < first {
                        last[body] = owners.len() as u32;
                        owners.push(body as u32);
                    }
                    last[body] - first
                }),
                copies: bodies.map(|body| copies[body].max(1)),
                response: Response::default(),
            }));
        }
        split.chunks.push(owners.len() as u32);
        split.list_slots(&owners);
        split
    }

    /// Lists the slots of each body; `owners` has the body of each slot.
    fn list_slots(&mut self, owners: &[u32]) {
        self.shares = vec![ImpulseShare::default(); owners.len()];
        self.slots = (0..owners.len() as u32).collect();
        self.slots.sort_by_key(|&slot| owners[slot as usize]);
        for (place, &slot) in self.slots.iter().enumerate() {
            let body = owners[slot as usize];
            if self.bodies.last() != Some(&body) {
                self.bodies.push(body);
                self.starts.push(place as u32);
            }
        }
        self.starts.push(owners.len() as u32);
    }

    /// Updates the world-frame inertia of rigid bodies to their present orientation.
    pub fn refresh(&mut self, world: &World) {
        self.tensors.refresh(world);
    }

    /// Inverse masses and inertia of rigid bodies that are no spheres.
    pub(crate) fn tensors(&self) -> &Tensors {
        &self.tensors
    }

    /// Whether one of the bodies of a constraint is rigid and no sphere.
    #[inline(always)]
    fn is_general(&self, constraint: &Constraint) -> bool {
        constraint.bodies.iter().any(|&body| self.tensors.get(body).is_some())
    }

    /// Whether the splitting was made for these contacts: every dynamic body without a slot has no other overflow contact.
    pub(crate) fn fits(&self, overflow: &[Constraint], dynamic: &BodySet) -> bool {
        let Some(last) = overflow.iter().flat_map(|constraint| constraint.bodies).max() else {
            return self.parts.is_empty();
        };
        let (mut once, mut again) = (BodySet::none(last as usize + 1), BodySet::none(last as usize + 1));
        for body in
            overflow.iter().flat_map(|constraint| constraint.bodies).filter(|&body| dynamic.holds(body))
        {
            if once.add(body) {
                again.add(body);
            }
        }
        let is_alone = |(constraint, part): (&Constraint, &SplitContact)| {
            let sides = constraint.bodies.into_iter().zip(part.slots);
            sides.into_iter().all(|(body, slot)| slot != NONE || !again.holds(body))
        };
        self.parts.len() == overflow.len() && overflow.iter().zip(&self.parts).all(is_alone)
    }

    /// Computes the responses of the overflow contacts on copies; called before they are solved.
    pub(crate) fn prepare(&mut self, overflow: &[Constraint], velocities: &[Velocity]) {
        let mut parts = std::mem::take(&mut self.parts);
        overflow.par_iter().zip(&mut parts).with_min_len(SWEEP_CHUNK).for_each(|(constraint, part)| {
            part.response = self.response_on_copies(constraint, part.copies.map(f64::from), velocities);
        });
        self.parts = parts;
    }

    fn response_on_copies(
        &self,
        constraint: &Constraint,
        copies: [f64; 2],
        velocities: &[Velocity],
    ) -> Response {
        let [a, b] = constraint.bodies.map(|body| &velocities[body as usize]);
        let mass_a = self.tensors.inverse_mass(constraint.bodies[0], a).of_copy(copies[0]);
        let mass_b = self.tensors.inverse_mass(constraint.bodies[1], b).of_copy(copies[1]);
        if self.is_general(constraint) {
            let mobility = constraint.mobility(&mass_a, &mass_b);
            return Response {
                slip: constraint.in_plane(mobility * constraint.normal),
                effective_mass: constraint.general_inverse_d(&mobility, &mass_a, &mass_b),
            };
        }
        Response {
            slip: constraint.slip_per_impulse(&mass_a, &mass_b),
            effective_mass: constraint.inverse_d_on(&copy_of(a, copies[0]), &copy_of(b, copies[1])),
        }
    }

    /// Solves the overflow contacts, all on copies of their bodies; then the bodies take the mean of their copies. Returns the largest
    /// value that `visit` returned.
    ///
    /// # Safety
    /// `overflow` are the constraints of the contacts that the splitting was made for.
    pub(crate) unsafe fn visit_overflow(
        &mut self,
        overflow: &mut [Constraint],
        velocities: &mut [Velocity],
        visit: &impl Visit,
        coupling: Option<&mut dyn Coupling>,
    ) -> f64 {
        let mut shares = std::mem::take(&mut self.shares);
        let bodies = Disjoint::new(velocities);
        let chunks = overflow.par_chunks_mut(SWEEP_CHUNK).zip(self.parts.par_chunks(SWEEP_CHUNK));
        let chunks = chunks.zip(parts(&mut shares, &self.chunks));
        let visit_all =
            |((constraints, parts), shares): ((&mut [Constraint], &[SplitContact]), &mut [ImpulseShare])| {
                shares.fill(ImpulseShare::default());
                constraints.iter_mut().zip(parts).fold(0.0, |largest: f64, (constraint, part)| {
                    // SAFETY: bodies of several copies are only read here, and bodies of one copy have this contact alone.
                    largest.max(unsafe { self.visit_copies(constraint, part, &bodies, shares, visit) })
                })
            };
        let largest = chunks.map(visit_all).reduce(|| 0.0, f64::max);
        self.join(&shares, velocities);
        if let Some(coupling) = coupling {
            let of =
                |body| self.sum_on(body, &shares).map_or([DVec3::ZERO; 2], |sum| [sum.linear, sum.angular]);
            for (body, [linear, angular]) in coupling.sum_impulses(&of) {
                self.take(body, &mut velocities[body as usize], &ImpulseShare { linear, angular });
            }
        }
        self.shares = shares;
        largest
    }

    /// # Safety
    /// While it runs nobody writes the bodies of the contact, and nobody reads those of its bodies that have no slot and are free.
    #[inline(always)]
    unsafe fn visit_copies(
        &self,
        constraint: &mut Constraint,
        part: &SplitContact,
        bodies: &Disjoint<'_>,
        shares: &mut [ImpulseShare],
        visit: &impl Visit,
    ) -> f64 {
        let [at_a, at_b] = constraint.bodies;
        // SAFETY: by the caller's promise.
        let [a, b] = [at_a, at_b].map(|body| unsafe { bodies.get(body) });
        let (arm_a, arm_b) = (constraint.arm_a, constraint.arm_b);
        let [copies_a, copies_b] = part.copies.map(f64::from);
        let spun = |linear: DVec3| {
            copies_a * self.turned(at_a, a, arm_a.cross(linear))
                + copies_b * self.turned(at_b, b, arm_b.cross(linear))
        };
        let (push, result) = visit.general(constraint, |_| part.response, [a, b], spun);
        let sides = [
            (at_a, a.is_free(), ImpulseShare::of_a(constraint, &push)),
            (at_b, b.is_free(), ImpulseShare::of_b(constraint, &push)),
        ];
        for (slot, (body, is_free, share)) in part.slots.into_iter().zip(sides) {
            if slot != NONE {
                let sum = &mut shares[slot as usize];
                *sum = sum.and(&share);
            } else if is_free {
                // SAFETY: by the caller's promise; the values read before are not used any more.
                self.take(body, unsafe { bodies.get_mut(body) }, &share);
            }
        }
        result
    }

    /// Change of the angular velocity by an angular impulse \[rad/s\].
    #[inline(always)]
    fn turned(&self, body: u32, velocity: &Velocity, impulse: DVec3) -> DVec3 {
        if let Some(tensor) = self.tensors.get(body) {
            return tensor.angular * impulse;
        }
        let turned = velocity.inverse_inertia * impulse;
        if velocity.locked == Axes::NONE { turned } else { turned * velocity.locked.free_rotation() }
    }

    /// Changes the velocity of a body by the impulse of contacts.
    #[inline(always)]
    fn take(&self, body: u32, velocity: &mut Velocity, share: &ImpulseShare) {
        let mut linear = velocity.inverse_mass * share.linear;
        if velocity.locked != Axes::NONE {
            linear *= velocity.locked.free_translation();
        }
        velocity.angular += self.turned(body, velocity, share.angular);
        velocity.linear += linear;
    }

    /// Sum of the slots of a body, if it has any.
    fn sum_on(&self, body: u32, shares: &[ImpulseShare]) -> Option<ImpulseShare> {
        let place = self.bodies.binary_search(&body).ok()?;
        let slots = &self.slots[self.starts[place] as usize..self.starts[place + 1] as usize];
        Some(slots.iter().fold(ImpulseShare::default(), |sum, &slot| sum.and(&shares[slot as usize])))
    }

    /// Applies the sum of their slots to the bodies of several copies, but for those that all parts of a scene have.
    fn join(&self, shares: &[ImpulseShare], velocities: &mut [Velocity]) {
        velocities.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, velocities)| {
            let first = chunk * CHUNK;
            let start = self.bodies.partition_point(|&body| (body as usize) < first.max(self.shared));
            for (&body, bounds) in self.bodies[start..].iter().zip(self.starts[start..].windows(2)) {
                let Some(velocity) = velocities.get_mut(body as usize - first) else { break };
                let slots = &self.slots[bounds[0] as usize..bounds[1] as usize];
                let sum =
                    slots.iter().fold(ImpulseShare::default(), |sum, &slot| sum.and(&shares[slot as usize]));
                self.take(body, velocity, &sum);
            }
        });
    }

    /// Visits the contacts of one tile, of a part of one colour, or of an overflow solved one by one: on whole bodies, one after the other.
    /// Returns the largest value that `visit` returned.
    ///
    /// # Safety
    /// While it runs nobody else reads or writes the dynamic bodies of these contacts.
    #[inline(always)]
    pub(crate) unsafe fn visit_constraints(
        &self,
        constraints: &mut [Constraint],
        bodies: &Disjoint<'_>,
        visit: &impl Visit,
    ) -> f64 {
        let visit_constraint = |largest: f64, constraint: &mut Constraint| {
            if !constraint.has_touch() {
                return largest;
            }
            // SAFETY: by the caller's promise.
            largest.max(unsafe {
                if self.is_general(constraint) {
                    self.visit_whole(constraint, bodies, visit)
                } else {
                    bodies.visit(constraint, visit)
                }
            })
        };
        if self.tensors.is_empty() {
            // SAFETY: by the caller's promise.
            return unsafe { visit.each(constraints, bodies) };
        }
        constraints.iter_mut().fold(0.0, visit_constraint)
    }

    /// Visits one contact with a rigid body that is no sphere, on whole bodies.
    ///
    /// # Safety
    /// As [`Split::visit_constraints`].
    unsafe fn visit_whole(
        &self,
        constraint: &mut Constraint,
        bodies: &Disjoint<'_>,
        visit: &impl Visit,
    ) -> f64 {
        let [at_a, at_b] = constraint.bodies;
        // SAFETY: by the caller's promise; nothing is written meanwhile.
        if visit.leaves(constraint, [at_a, at_b].map(|body| unsafe { bodies.get(body) })) {
            return 0.0;
        }
        // SAFETY: by the caller's promise; copies, as both are written below.
        let [a, b] = [at_a, at_b].map(|body| unsafe { *bodies.get(body) });
        let [sphere_a, sphere_b] = [&a, &b].map(InverseMass::of_sphere);
        let mass_a = self.tensors.get(at_a).unwrap_or(&sphere_a);
        let mass_b = self.tensors.get(at_b).unwrap_or(&sphere_b);
        let response = |constraint: &Constraint| Response {
            slip: constraint.slip_per_impulse(mass_a, mass_b),
            effective_mass: constraint.effective_mass,
        };
        let (arm_a, arm_b) = (constraint.arm_a, constraint.arm_b);
        let spun =
            |linear: DVec3| mass_a.angular * arm_a.cross(linear) + mass_b.angular * arm_b.cross(linear);
        let (push, result) = visit.general(constraint, response, [&a, &b], spun);
        if push == Push::default() {
            return result;
        }
        let sides = [
            (at_a, &a, ImpulseShare::of_a(constraint, &push)),
            (at_b, &b, ImpulseShare::of_b(constraint, &push)),
        ];
        for (body, _, share) in sides.into_iter().filter(|(_, velocity, _)| velocity.is_free()) {
            // SAFETY: by the caller's promise.
            self.take(body, unsafe { bodies.get_mut(body) }, &share);
        }
        result
    }
}

/// Copy of a body whose mass and inertia are shared by `copies` copies.
fn copy_of(velocity: &Velocity, copies: f64) -> Velocity {
    Velocity {
        inverse_mass: copies * velocity.inverse_mass,
        inverse_inertia: copies * velocity.inverse_inertia,
        ..*velocity
    }
}
