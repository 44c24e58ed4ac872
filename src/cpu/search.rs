//! Search: whether the contacts found last are still all that can touch in a step.
//!
//! A rebuild of the neighbour list lists all pairs closer than the skin. Since then each sphere has moved by its `travel` at most;
//! while for none of them that and what the step adds at its present speed comes to half the skin, no pair outside
//! of the list can touch. Half of what a grain may fall in the step counts: the two of a pair fall alike, or one falls
//! and the other is held. (A grain that is struck within the step may go further: the step after finds what it came to.) A surface may
//! move by the other half, that of the smallest grain or vertex, and half of what a grain may fall counts there. Machines that are driven search in
//! every step, and so does what adds grains. Twin: `shaders/search.wgsl`.

use rayon::prelude::*;

use crate::model::motion::top_speed;
use crate::model::{Sphere, World};
use crate::settings::Settings;

use super::narrowphase::CHUNK;
use super::velocity::Velocity;

/// How far spheres of grains and the surfaces of boundaries have moved since the last search.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Travel {
    /// Bound on the path of each sphere \[m\]; empty before the first search.
    paths: Vec<f64>,
    /// The same of each boundary.
    boundaries: Vec<BoundaryPath>,
    /// Path of a boundary up to which no search is needed \[m\].
    boundary_limit: f64,
}

/// How far the surfaces of a boundary have moved.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
struct BoundaryPath {
    /// Bound on the path of any of its points \[m\].
    path: f64,
    /// Distance of the farthest of them from its centre \[m\].
    reach: f64,
    /// Whether drives may change its speed within a step: then every step searches.
    is_driven: bool,
}

impl Travel {
    /// Bytes for so many spheres and boundaries.
    pub fn planned_bytes(spheres: u64, boundaries: u64) -> u64 {
        spheres * size_of::<f64>() as u64 + boundaries * size_of::<BoundaryPath>() as u64
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        (self.paths.capacity() * size_of::<f64>() + self.boundaries.capacity() * size_of::<BoundaryPath>())
            as u64
    }

    /// Knows nothing any more: the next step searches.
    pub fn forget(&mut self) {
        self.paths.clear();
        self.boundaries.clear();
    }

    /// Gives back room that it does not need.
    #[cfg(feature = "scenario")]
    pub(super) fn fit(&mut self) {
        self.paths.shrink_to_fit();
        self.boundaries.shrink_to_fit();
    }

    /// Starts anew: contacts are searched for now.
    pub fn reset(&mut self, world: &World, settings: &Settings) {
        self.paths.clear();
        // No more than it needs, so that its size does not tell how it grew.
        self.paths.reserve_exact(world.spheres.len());
        self.paths.resize(world.spheres.len(), 0.0);
        let at_start = |(body, reach)| BoundaryPath { path: 0.0, reach, is_driven: world.is_driven(body) };
        self.boundaries = world.boundary_reaches().into_iter().enumerate().map(at_start).collect();
        self.boundary_limit = settings.skin * world.smallest_contact_radius();
    }

    /// Adds what spheres and boundaries move in a substep of `h` \[s\].
    pub fn add(&mut self, world: &World, velocities: &[Velocity], h: f64) {
        let paths = self.paths.par_iter_mut().zip(&world.spheres).with_min_len(CHUNK);
        paths.for_each(|(path, sphere)| {
            let velocity = &velocities[sphere.body as usize];
            if velocity.is_free() {
                *path += h * (velocity.linear.length() + velocity.angular.length() * sphere.centre.length());
            }
        });
        for ((surfaces, boundary), velocity) in
            self.boundaries.iter_mut().zip(&world.boundaries).zip(velocities)
        {
            if boundary.changes_place() {
                surfaces.path += h * top_speed(velocity.linear, velocity.angular, surfaces.reach);
            }
        }
    }

    /// Whether the step that starts at `world.time` needs a search.
    pub fn calls_for_search(&self, world: &World, settings: &Settings) -> bool {
        self.paths.len() != world.spheres.len()
            || self.boundaries.len() != world.boundaries.len()
            || (0..world.boundaries.len()).any(|body| self.boundary_may_leave(world, settings, body))
            || (self.paths.par_iter().zip(&world.spheres).with_min_len(CHUNK))
                .any(|(&path, sphere)| may_leave(world, settings, path, sphere))
    }

    /// Whether a point of a boundary may by the end of the step have moved half the skin of the smallest grain.
    fn boundary_may_leave(&self, world: &World, settings: &Settings, body: usize) -> bool {
        let (boundary, surfaces) = (&world.boundaries[body], &self.boundaries[body]);
        if surfaces.is_driven {
            return true;
        }
        let (step, h) = (settings.time_step, settings.substep());
        let ahead = if boundary.dynamic().is_some() {
            let (linear, angular) = (world.bodies.velocity[body], world.bodies.angular_velocity[body]);
            step * (top_speed(linear, angular, surfaces.reach) + step * world.push(body, surfaces.reach))
        } else if boundary.changes_place() {
            let end = |substep| world.time + f64::from(substep) * h;
            let states = (1..=settings.substeps).map(|substep| boundary.state_at(end(substep), h));
            states.map(|state| h * state.top_speed(surfaces.reach)).sum()
        } else {
            0.0
        };
        let moved = surfaces.path + ahead;
        moved > 0.0 && moved + 0.5 * world.gravity.length() * step * step > self.boundary_limit
    }
}

/// Whether a sphere that has moved along `path` \[m\] since the last search may by the end of the step have moved half the skin.
fn may_leave(world: &World, settings: &Settings, path: f64, sphere: &Sphere) -> bool {
    if world.bodies.inverse_mass[sphere.body as usize] == 0.0 {
        return false; // it was removed
    }
    let step = settings.time_step;
    let gained = 0.5 * world.gravity.length() + world.sphere_push(sphere);
    let ahead = step * (world.sphere_speed(sphere) + step * gained);
    path + ahead > settings.skin * sphere.radius
}
