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
use super::velocity::{Heavy, Velocity};

/// The bodies of the contacts without a colour, while a step is solved.
#[derive(Debug, Clone, Default)]
pub struct Split {
    /// Per boundary, whether it is free.
    is_free: Vec<bool>,
    /// Inverse inertia in the world frame, by boundary; unused for those that are not free.
    inverse_inertia: Vec<DMat3>,
    /// Per body, how many contacts of the rest touch it, 0 where nothing can move it. Empty without a rest.
    copies: Vec<u32>,
    /// Bodies with copies, ascending, and where the sides of each start in `sides`.
    bodies: Vec<u32>,
    starts: Vec<u32>,
    /// Sides of contacts by body: twice the row of the rest, plus one for side b.
    sides: Vec<u32>,
    /// What each contact of the rest does to its copies, over their number.
    gains: Vec<[Gain; 2]>,
}

/// What the copies of a body have come to.
#[derive(Debug, Clone, Copy, Default)]
struct Gain {
    linear: DVec3,
    angular: DVec3,
}

impl Split {
    /// Bytes for so many bodies and contacts, an eighth of them without a colour.
    pub fn planned_bytes(bodies: u64, contacts: u64) -> u64 {
        let per_side = (size_of::<Gain>() + 3 * size_of::<u32>()) as u64;
        bodies * size_of::<u32>() as u64 + contacts / 8 * 2 * per_side
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        let words = [&self.copies, &self.bodies, &self.starts, &self.sides].map(Vec::capacity);
        (words.iter().sum::<usize>() * size_of::<u32>() + self.gains.capacity() * size_of::<[Gain; 2]>())
            as u64
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
        let mut sides: Vec<(u32, u32)> = Vec::with_capacity(2 * colouring.rest().len());
        for (row, &contact) in colouring.rest().iter().enumerate() {
            let bodies = bodies_of(contact).into_iter().zip(0..);
            sides.extend(
                bodies.filter(|(body, _)| moves(body)).map(|(body, side)| (body, 2 * row as u32 + side)),
            );
        }
        sides.par_sort_unstable();
        split.copies = vec![0; world.bodies.len()];
        for (place, &(body, _)) in sides.iter().enumerate() {
            if split.bodies.last() != Some(&body) {
                split.bodies.push(body);
                split.starts.push(place as u32);
            }
            split.copies[body as usize] += 1;
        }
        split.starts.push(sides.len() as u32);
        split.sides = sides.into_iter().map(|(_, side)| side).collect();
        split.gains = vec![[Gain::default(); 2]; colouring.rest().len()];
        split
    }

    /// Takes the inertia of the boundaries as they are turned now.
    pub fn refresh(&mut self, world: &World) {
        let boundaries = world.boundaries.iter().zip(&world.bodies.orientation);
        self.inverse_inertia.clear();
        self.inverse_inertia.extend(boundaries.map(|(boundary, &orientation)| {
            boundary.free_body().map_or(DMat3::ZERO, |free| free.inverse_inertia(orientation))
        }));
    }

    fn is_free_boundary(&self, body: usize) -> bool {
        self.is_free.get(body).copied().unwrap_or(false)
    }

    fn copies(&self, body: usize) -> f64 {
        f64::from(self.copies.get(body).copied().unwrap_or(0).max(1))
    }

    /// A body as a contact sees it that shares it with so many others.
    fn heavy(&self, body: usize, velocity: &Velocity, copies: f64) -> Heavy {
        if self.is_free_boundary(body) {
            return Heavy::new(velocity, self.inverse_inertia[body], copies);
        }
        Heavy::of_grain(&copy_of(velocity, copies))
    }

    /// Solves the contacts without a colour, all on copies of their bodies; then the bodies take the mean of
    /// their copies. Returns the largest value that `visit` or `visit_shared` returned.
    pub(super) fn visit_rest(
        &mut self,
        rest: &mut [Row],
        velocities: &mut [Velocity],
        visit: &(impl Fn(&mut Row, &[f64; 3], &mut Velocity, &mut Velocity) -> f64 + Sync),
        visit_shared: &(impl Fn(&mut Row, &mut Heavy, &mut Heavy) -> f64 + Sync),
    ) -> f64 {
        let mut gains = std::mem::take(&mut self.gains);
        let before = &*velocities;
        let solve = |(row, gains): (&mut Row, &mut [Gain; 2])| {
            if row.shared {
                self.visit_copies_of_heavy(row, before, gains, visit_shared)
            } else {
                self.visit_copies(row, before, gains, visit)
            }
        };
        let rows = rest.par_iter_mut().zip(&mut gains).with_min_len(CHUNK);
        let largest = rows.map(solve).reduce(|| 0.0, f64::max);
        for (&body, bounds) in self.bodies.iter().zip(self.starts.windows(2)) {
            let velocity = &mut velocities[body as usize];
            for &side in &self.sides[bounds[0] as usize..bounds[1] as usize] {
                let gain = gains[side as usize / 2][side as usize % 2];
                velocity.linear += gain.linear;
                velocity.angular += gain.angular;
            }
        }
        self.gains = gains;
        largest
    }

    fn visit_copies(
        &self,
        row: &mut Row,
        before: &[Velocity],
        gains: &mut [Gain; 2],
        visit: &impl Fn(&mut Row, &[f64; 3], &mut Velocity, &mut Velocity) -> f64,
    ) -> f64 {
        let bodies = row.bodies.map(|body| body as usize);
        let copies = bodies.map(|body| self.copies(body));
        let [mut a, mut b] = [0, 1].map(|side| copy_of(&before[bodies[side]], copies[side]));
        let inverse_d = row.inverse_d_on(&a, &b);
        let result = visit(row, &inverse_d, &mut a, &mut b);
        for (side, after) in [a, b].into_iter().enumerate() {
            let before = &before[bodies[side]];
            gains[side] = Gain {
                linear: (after.linear - before.linear) / copies[side],
                angular: (after.angular - before.angular) / copies[side],
            };
        }
        result
    }

    fn visit_copies_of_heavy(
        &self,
        row: &mut Row,
        before: &[Velocity],
        gains: &mut [Gain; 2],
        visit: &impl Fn(&mut Row, &mut Heavy, &mut Heavy) -> f64,
    ) -> f64 {
        let bodies = row.bodies.map(|body| body as usize);
        let copies = bodies.map(|body| self.copies(body));
        let [mut a, mut b] = [0, 1].map(|side| self.heavy(bodies[side], &before[bodies[side]], copies[side]));
        let result = visit(row, &mut a, &mut b);
        for (side, after) in [a, b].into_iter().enumerate() {
            let before = &before[bodies[side]];
            gains[side] = Gain {
                linear: (after.linear - before.linear) / copies[side],
                angular: (after.angular - before.angular) / copies[side],
            };
        }
        result
    }

    /// Solves one contact with a free boundary on whole bodies.
    pub(super) fn visit_alone(
        &self,
        row: &mut Row,
        velocities: &mut [Velocity],
        visit: &impl Fn(&mut Row, &mut Heavy, &mut Heavy) -> f64,
    ) -> f64 {
        let bodies = row.bodies.map(|body| body as usize);
        let [mut a, mut b] = bodies.map(|body| self.heavy(body, &velocities[body], 1.0));
        let result = visit(row, &mut a, &mut b);
        for (body, after) in bodies.into_iter().zip([a, b]) {
            let before = &mut velocities[body];
            if before.is_free() {
                (before.linear, before.angular) = (after.linear, after.angular);
            }
        }
        result
    }
}

/// A body that shares its mass and inertia with so many copies of it.
fn copy_of(velocity: &Velocity, copies: f64) -> Velocity {
    Velocity {
        inverse_mass: copies * velocity.inverse_mass,
        inverse_inertia: copies * velocity.inverse_inertia,
        ..*velocity
    }
}
