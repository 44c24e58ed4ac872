//! Mass splitting \[E5\]: how the many contacts of a free boundary are solved at the same time.
//!
//! A free boundary may have thousands of contacts in one colour. Each works on a copy of it that has its
//! velocity and 1/n of its mass and inertia, n being their number; when all are solved the boundary takes the
//! mean of the copies, which is what the sum of the impulses does to the whole of it. Contacts of the tail are
//! solved one after the other, with n = 1. Twin: `shaders/shared/split.wgsl`.

use glam::{DMat3, DVec3};

use crate::contact::{Colouring, Key};
use crate::world::World;

use super::narrowphase::Row;
use super::velocity::{Heavy, Velocity};

/// The free boundaries of a world while a step is solved. Empty when there are none.
#[derive(Debug, Clone, Default)]
pub struct Split {
    /// Inverse inertia in the world frame, by boundary; unused for those that are not free.
    inverse_inertia: Vec<DMat3>,
    /// Per boundary, whether it is free.
    is_free: Vec<bool>,
    /// Places of the rows that touch a free boundary, ascending.
    places: Vec<u32>,
    /// Where each colour starts in `places`, and where the last one ends.
    starts: Vec<usize>,
    /// Contacts of each boundary in each colour, colour by colour.
    counts: Vec<u32>,
}

/// What the copies of a boundary have come to.
#[derive(Debug, Clone, Copy, Default)]
struct Gain {
    linear: DVec3,
    angular: DVec3,
}

impl Split {
    /// Counts the contacts that share a boundary.
    pub fn new(world: &World, keys: &[Key], colouring: &Colouring) -> Split {
        if world.free_boundaries().next().is_none() {
            return Split::default();
        }
        let is_free: Vec<bool> =
            world.boundaries.iter().map(|boundary| boundary.free_body().is_some()).collect();
        let boundaries = is_free.len();
        let mut split = Split { is_free, starts: vec![0], ..Split::default() };
        split.counts = vec![0; boundaries * colouring.colours()];
        for colour in 0..colouring.colours() {
            let first = colouring.starts[colour];
            for (i, &contact) in colouring.colour(colour).iter().enumerate() {
                let key = keys[contact as usize];
                let bodies = [key.a, key.b].map(|shape| world.shape_body(shape) as usize);
                if bodies.into_iter().any(|body| split.is_shared(body)) {
                    split.places.push(first + i as u32);
                }
                for body in bodies {
                    if split.is_shared(body) {
                        split.counts[colour * boundaries + body] += 1;
                    }
                }
            }
            split.starts.push(split.places.len());
        }
        split
    }

    /// Takes the inertia of the boundaries as they are turned now.
    pub fn refresh(&mut self, world: &World) {
        self.inverse_inertia.clear();
        if self.is_free.is_empty() {
            return;
        }
        let boundaries = world.boundaries.iter().zip(&world.bodies.orientation);
        self.inverse_inertia.extend(boundaries.map(|(boundary, &orientation)| {
            boundary.free_body().map_or(DMat3::ZERO, |free| free.inverse_inertia(orientation))
        }));
    }

    fn is_shared(&self, body: usize) -> bool {
        self.is_free.get(body).copied().unwrap_or(false)
    }

    /// A body as one of its contacts sees it: of a free boundary one of `copies`.
    fn heavy(&self, body: usize, velocity: &Velocity, copies: u32) -> Heavy {
        match self.is_shared(body) {
            true => Heavy::new(velocity, self.inverse_inertia[body], f64::from(copies)),
            false => Heavy::of_grain(velocity),
        }
    }

    /// Solves the contacts of one colour that touch free boundaries, then lets the boundaries take the mean
    /// of their copies. Returns the largest value that `visit` returned.
    pub(super) fn visit_colour(
        &self,
        colour: usize,
        rows: &mut [Row],
        velocities: &mut [Velocity],
        visit: &impl Fn(&mut Row, &mut Heavy, &mut Heavy) -> f64,
    ) -> f64 {
        let boundaries = self.is_free.len();
        let (Some(&first), Some(&end)) = (self.starts.get(colour), self.starts.get(colour + 1)) else {
            return 0.0;
        };
        if first == end {
            return 0.0;
        }
        let counts = &self.counts[colour * boundaries..(colour + 1) * boundaries];
        let mut gains = vec![Gain::default(); boundaries];
        let mut largest = 0.0f64;
        for &place in &self.places[first..end] {
            let row = &mut rows[place as usize];
            let bodies = row.bodies.map(|body| body as usize);
            let copies = |body: usize| counts.get(body).copied().unwrap_or(1);
            let [mut a, mut b] = bodies.map(|body| self.heavy(body, &velocities[body], copies(body)));
            largest = largest.max(visit(row, &mut a, &mut b));
            for (body, after) in bodies.into_iter().zip([a, b]) {
                let before = &mut velocities[body];
                if self.is_shared(body) {
                    let share = 1.0 / f64::from(counts[body]);
                    gains[body].linear += share * (after.linear - before.linear);
                    gains[body].angular += share * (after.angular - before.angular);
                } else if before.is_free() {
                    (before.linear, before.angular) = (after.linear, after.angular);
                }
            }
        }
        for (velocity, gain) in velocities.iter_mut().zip(gains) {
            velocity.linear += gain.linear;
            velocity.angular += gain.angular;
        }
        largest
    }

    /// Solves one contact on whole bodies.
    pub(super) fn visit_alone(
        &self,
        row: &mut Row,
        velocities: &mut [Velocity],
        visit: &impl Fn(&mut Row, &mut Heavy, &mut Heavy) -> f64,
    ) -> f64 {
        let bodies = row.bodies.map(|body| body as usize);
        let [mut a, mut b] = bodies.map(|body| self.heavy(body, &velocities[body], 1));
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
