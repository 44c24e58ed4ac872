//! Mass splitting \[E5\]: how the contacts without a colour are solved at the same time.
//!
//! A body of n such contacts takes part in each as a copy that has its velocity and 1/n of its mass and inertia;
//! when all are solved the body takes the mean of the copies, which is what the sum of the impulses does to the
//! whole of it. Contacts of free boundaries, which may be thousands, all stand here. Twin:
//! `shaders/shared/split.wgsl`.

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use crate::contact::{Colouring, Key, Rest};
use crate::world::World;

use super::narrowphase::{CHUNK, Row};
use super::sweep::Visit;
use super::velocity::{Heavy, InverseMass, Velocity};

/// The bodies of the contacts without a colour, while a step is solved.
#[derive(Debug, Clone, Default)]
pub struct Split {
    /// Per boundary, whether it is free.
    is_free: Vec<bool>,
    /// How each boundary gives way, and how each of its copies does; unused for those that are not free.
    whole: Vec<InverseMass>,
    copied: Vec<InverseMass>,
    /// Per body, how many contacts of the rest touch it, 0 where nothing can move it. Empty without a rest.
    copies: Vec<u32>,
    /// Bodies with copies, ascending, and where the sides of each start in `sides`.
    bodies: Vec<u32>,
    starts: Vec<u32>,
    /// Sides of contacts by body: twice the row of the rest, plus one for side b.
    sides: Vec<u32>,
    /// 1/D of each contact of the rest, on copies, for the solve under way.
    inverse_d: Vec<[f64; 3]>,
    /// What each contact of the rest does to its copies, over their number.
    gains: Vec<[Gain; 2]>,
}

/// What the copies of a body have come to.
#[derive(Debug, Clone, Copy, Default)]
struct Gain {
    linear: DVec3,
    angular: DVec3,
}

impl Gain {
    /// What one of so many copies that came to these velocities adds to its body.
    fn of(before: &Velocity, linear: DVec3, angular: DVec3, copies: f64) -> Gain {
        Gain { linear: (linear - before.linear) / copies, angular: (angular - before.angular) / copies }
    }

    fn and(self, other: &Gain) -> Gain {
        Gain { linear: self.linear + other.linear, angular: self.angular + other.angular }
    }
}

impl Split {
    /// Bytes for so many bodies and contacts, an eighth of them without a colour.
    pub fn planned_bytes(bodies: u64, contacts: u64) -> u64 {
        let per_contact = size_of::<[Gain; 2]>() + size_of::<[f64; 3]>() + 6 * size_of::<u32>();
        bodies * size_of::<u32>() as u64 + contacts / 8 * per_contact as u64
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        let words = [&self.copies, &self.bodies, &self.starts, &self.sides].map(Vec::capacity);
        let per_contact = size_of::<[Gain; 2]>() + size_of::<[f64; 3]>();
        (words.iter().sum::<usize>() * size_of::<u32>() + self.gains.capacity() * per_contact) as u64
    }

    /// Counts the contacts that share a body.
    pub fn new(world: &World, keys: &[Key], colouring: &Colouring) -> Split {
        let is_free = world.boundaries.iter().map(|boundary| boundary.free_body().is_some()).collect();
        let mut split = Split { is_free, ..Split::default() };
        if colouring.rest == Rest::OneByOne || colouring.rest().is_empty() {
            return split;
        }
        let bodies_of = |contact: u32| {
            let key = keys[contact as usize];
            [key.a, key.b].map(|shape| world.shape_body(shape))
        };
        let moves = |body: &u32| world.bodies.inverse_mass[*body as usize] > 0.0;
        let sides = || {
            let rows = colouring.rest().iter().map(|&contact| bodies_of(contact)).enumerate();
            let sides = rows.flat_map(|(row, bodies)| [(bodies[0], 2 * row), (bodies[1], 2 * row + 1)]);
            sides.filter(|(body, _)| moves(body)).map(|(body, side)| (body as usize, side as u32))
        };
        split.copies = vec![0; world.bodies.len()];
        sides().for_each(|(body, _)| split.copies[body] += 1);
        let mut next = vec![0; world.bodies.len()];
        let mut start = 0;
        for (body, &copies) in split.copies.iter().enumerate().filter(|(_, copies)| **copies > 0) {
            split.bodies.push(body as u32);
            split.starts.push(start);
            next[body] = start;
            start += copies;
        }
        split.starts.push(start);
        split.sides = vec![0; start as usize];
        for (body, side) in sides() {
            split.sides[next[body] as usize] = side;
            next[body] += 1;
        }
        split.inverse_d = vec![[0.0; 3]; colouring.rest().len()];
        split.gains = vec![[Gain::default(); 2]; colouring.rest().len()];
        split
    }

    /// Takes the inertia of the boundaries as they are turned now.
    pub fn refresh(&mut self, world: &World) {
        self.whole.clear();
        self.whole.extend(world.boundaries.iter().enumerate().map(|(body, boundary)| {
            let orientation = world.bodies.orientation[body];
            let inverse_inertia = boundary.free_body().map(|free| free.inverse_inertia(orientation));
            InverseMass::new(&Velocity::of(world, body), inverse_inertia.unwrap_or(DMat3::ZERO))
        }));
        let bodies = self.whole.iter().enumerate();
        self.copied = bodies.map(|(body, whole)| whole.of_copy(self.copies(body))).collect();
    }

    fn is_free_boundary(&self, body: usize) -> bool {
        self.is_free.get(body).copied().unwrap_or(false)
    }

    pub(super) fn has_free_boundaries(&self) -> bool {
        self.is_free.contains(&true)
    }

    /// Whether one of the bodies is a free boundary.
    pub(super) fn is_shared(&self, row: &Row) -> bool {
        row.bodies.iter().any(|&body| self.is_free_boundary(body as usize))
    }

    fn copies(&self, body: usize) -> f64 {
        f64::from(self.copies.get(body).copied().unwrap_or(0).max(1))
    }

    /// Takes the 1/D of the contacts without a colour, which are solved from here on.
    pub(super) fn prepare(&mut self, rest: &[Row], velocities: &[Velocity]) {
        let mut inverse_d = std::mem::take(&mut self.inverse_d);
        let rows = rest.par_iter().zip(&mut inverse_d).with_min_len(CHUNK);
        rows.for_each(|(row, inverse_d)| *inverse_d = self.inverse_d_on_copies(row, velocities));
        self.inverse_d = inverse_d;
    }

    fn inverse_d_on_copies(&self, row: &Row, velocities: &[Velocity]) -> [f64; 3] {
        let bodies = row.bodies.map(|body| body as usize);
        if self.is_shared(row) {
            let [a, b] = bodies.map(|body| self.inverse_mass_of_copy(body, &velocities[body]));
            return row.shared_inverse_d(&row.mobility(&a, &b), &a, &b);
        }
        let [a, b] = bodies.map(|body| copy_of(&velocities[body], self.copies(body)));
        row.inverse_d_on(&a, &b)
    }

    fn inverse_mass_of_copy(&self, body: usize, velocity: &Velocity) -> InverseMass {
        if self.is_free_boundary(body) {
            return self.copied[body];
        }
        InverseMass::of_grain(velocity).of_copy(self.copies(body))
    }

    /// Solves the contacts without a colour, all on copies of their bodies; then the bodies take the mean of
    /// their copies. Returns the largest value that `visit` returned.
    pub(super) fn visit_rest(
        &mut self,
        rest: &mut [Row],
        velocities: &mut [Velocity],
        visit: &impl Visit,
    ) -> f64 {
        let mut gains = std::mem::take(&mut self.gains);
        let before = &*velocities;
        let solve = |((row, inverse_d), gains): ((&mut Row, &[f64; 3]), &mut [Gain; 2])| {
            if self.is_shared(row) {
                self.visit_copies_of_heavy(row, inverse_d, before, gains, visit)
            } else {
                self.visit_copies(row, inverse_d, before, gains, visit)
            }
        };
        let rows = rest.par_iter_mut().zip(&self.inverse_d).zip(&mut gains).with_min_len(CHUNK);
        let largest = rows.map(solve).reduce(|| 0.0, f64::max);
        self.join(&gains, velocities);
        self.gains = gains;
        largest
    }

    /// Bodies take the mean of their copies.
    fn join(&self, gains: &[[Gain; 2]], velocities: &mut [Velocity]) {
        velocities.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, velocities)| {
            let first = chunk * CHUNK;
            let start = self.bodies.partition_point(|&body| (body as usize) < first);
            for (&body, bounds) in self.bodies[start..].iter().zip(self.starts[start..].windows(2)) {
                let Some(velocity) = velocities.get_mut(body as usize - first) else { break };
                let gain = sum(&self.sides[bounds[0] as usize..bounds[1] as usize], gains);
                velocity.linear += gain.linear;
                velocity.angular += gain.angular;
            }
        });
    }

    fn visit_copies(
        &self,
        row: &mut Row,
        inverse_d: &[f64; 3],
        before: &[Velocity],
        gains: &mut [Gain; 2],
        visit: &impl Visit,
    ) -> f64 {
        let bodies = row.bodies.map(|body| body as usize);
        let copies = bodies.map(|body| self.copies(body));
        let [mut a, mut b] = [0, 1].map(|side| copy_of(&before[bodies[side]], copies[side]));
        let result = visit.contact(row, inverse_d, &mut a, &mut b);
        for (side, after) in [a, b].into_iter().enumerate() {
            gains[side] = Gain::of(&before[bodies[side]], after.linear, after.angular, copies[side]);
        }
        result
    }

    fn visit_copies_of_heavy(
        &self,
        row: &mut Row,
        inverse_d: &[f64; 3],
        before: &[Velocity],
        gains: &mut [Gain; 2],
        visit: &impl Visit,
    ) -> f64 {
        let bodies = row.bodies.map(|body| body as usize);
        let copies = bodies.map(|body| self.copies(body));
        let [before_a, before_b] = bodies.map(|body| &before[body]);
        let (other, inverse_mass_b);
        if self.is_free_boundary(bodies[1]) {
            inverse_mass_b = &self.copied[bodies[1]];
        } else {
            other = self.inverse_mass_of_copy(bodies[1], before_b);
            inverse_mass_b = &other;
        }
        let mut b = Heavy::new(before_b, inverse_mass_b);
        let (result, linear, angular) = if self.is_free_boundary(bodies[0]) {
            let mut a = Heavy::new(before_a, &self.copied[bodies[0]]);
            (visit.shared(row, inverse_d, &mut a, &mut b), a.linear, a.angular)
        } else {
            let mut a = copy_of(before_a, copies[0]);
            (visit.shared(row, inverse_d, &mut a, &mut b), a.linear, a.angular)
        };
        *gains = [
            Gain::of(before_a, linear, angular, copies[0]),
            Gain::of(before_b, b.linear, b.angular, copies[1]),
        ];
        result
    }

    /// Solves one contact with a free boundary on whole bodies.
    pub(super) fn visit_alone(&self, row: &mut Row, velocities: &mut [Velocity], visit: &impl Visit) -> f64 {
        let bodies = row.bodies.map(|body| body as usize);
        let [inverse_mass_a, inverse_mass_b] = bodies.map(|body| match self.is_free_boundary(body) {
            true => self.whole[body],
            false => InverseMass::of_grain(&velocities[body]),
        });
        let mut a = Heavy::new(&velocities[bodies[0]], &inverse_mass_a);
        let mut b = Heavy::new(&velocities[bodies[1]], &inverse_mass_b);
        let inverse_d = row.inverse_d;
        let result = visit.shared(row, &inverse_d, &mut a, &mut b);
        for (body, after) in bodies.into_iter().zip([a, b]) {
            let before = &mut velocities[body];
            if before.is_free() {
                (before.linear, before.angular) = (after.linear, after.angular);
            }
        }
        result
    }
}

/// What these sides come to. Summed chunk by chunk, so the bits do not depend on the threads.
fn sum(sides: &[u32], gains: &[[Gain; 2]]) -> Gain {
    let of_chunk = |sides: &[u32]| {
        sides.iter().fold(Gain::default(), |sum, &side| sum.and(&gains[side as usize / 2][side as usize % 2]))
    };
    if sides.len() <= CHUNK {
        return of_chunk(sides);
    }
    let sums: Vec<Gain> = sides.par_chunks(CHUNK).map(of_chunk).collect();
    sums.iter().fold(Gain::default(), Gain::and)
}

/// A body that shares its mass and inertia with so many copies of it.
fn copy_of(velocity: &Velocity, copies: f64) -> Velocity {
    Velocity {
        inverse_mass: copies * velocity.inverse_mass,
        inverse_inertia: copies * velocity.inverse_inertia,
        ..*velocity
    }
}
