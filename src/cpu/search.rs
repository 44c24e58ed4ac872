//! Search: decides whether the neighbour list still holds all pairs that can touch in a step.
//!
//! A rebuild of the neighbour list lists all pairs closer than the skin. Since then each sphere has moved by its `travel` at most. While
//! for every sphere this path, plus the path that the step adds at the present speed, is less than half the skin, no pair outside of the
//! list can touch. Half of the distance that a grain may fall in the step counts: both grains of a pair fall alike, or one falls and the
//! other is held. (A grain that is struck within the step may go further; the step after finds its new contacts.) A surface may move by the
//! other half of the skin, that of the smallest grain or vertex, and half of the distance that a grain may fall counts there, too. A scene
//! with driven machines is searched in every step, and so is one to which grains were added. The flow of a deforming cell carries two
//! bodies past each other, too, which counts for each as the part of their distance that is its own. Twin: `shaders/search.wgsl`.

use glam::DMat3;
use rayon::prelude::*;

use crate::contact::tasks::CHUNK;
use crate::contact::velocity::Velocity;
use crate::model::motion::top_speed;
use crate::model::{Sphere, World};
use crate::settings::Settings;

/// Paths of the spheres of grains and of the surfaces of boundaries since the last search.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Travel {
    /// Bound on the path of each sphere \[m\]; empty before the first search.
    paths: Vec<f64>,
    /// Path of each boundary.
    boundaries: Vec<BoundaryPath>,
    /// Path of a boundary up to which no search is needed \[m\].
    boundary_limit: f64,
}

/// Path of the surfaces of a boundary since the last search.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
struct BoundaryPath {
    /// Bound on the path of any of the boundary's points \[m\].
    path: f64,
    /// Distance of the farthest of these points from the centre of the boundary \[m\].
    reach: f64,
    /// Whether drives may change the speed of the boundary within a step: then every step searches.
    is_driven: bool,
}

impl Travel {
    /// Bytes for this many spheres and boundaries.
    pub fn planned_bytes(spheres: u64, boundaries: u64) -> u64 {
        spheres * size_of::<f64>() as u64 + boundaries * size_of::<BoundaryPath>() as u64
    }

    /// Bytes that the lists hold.
    pub fn bytes(&self) -> u64 {
        (self.paths.capacity() * size_of::<f64>() + self.boundaries.capacity() * size_of::<BoundaryPath>())
            as u64
    }

    /// Forgets all paths, so that the next step searches.
    pub fn forget(&mut self) {
        self.paths.clear();
        self.boundaries.clear();
    }

    /// Whether all paths are numbers: a path that is none would never call for a search.
    #[cfg(feature = "scenario")]
    pub(super) fn is_sound(&self) -> bool {
        let of_boundaries = self.boundaries.iter().flat_map(|boundary| [boundary.path, boundary.reach]);
        let mut all = self.paths.iter().copied().chain(of_boundaries);
        all.all(|path| path >= 0.0) && !self.boundary_limit.is_nan()
    }

    /// Releases memory that is not needed.
    #[cfg(feature = "scenario")]
    pub(super) fn fit(&mut self) {
        self.paths.shrink_to_fit();
        self.boundaries.shrink_to_fit();
    }

    /// Sets all paths to zero, at a search.
    pub fn reset(&mut self, world: &World, settings: &Settings) {
        self.paths.clear();
        // Exactly the memory needed, so that its size does not depend on how the list grew.
        self.paths.reserve_exact(world.spheres.len());
        self.paths.resize(world.spheres.len(), 0.0);
        let at_start = |(body, reach)| BoundaryPath { path: 0.0, reach, is_driven: world.is_driven(body) };
        self.boundaries = world.boundary_reaches().into_iter().enumerate().map(at_start).collect();
        self.boundary_limit = settings.skin * world.smallest_contact_radius();
    }

    /// Adds the paths of spheres and boundaries in a substep of `h` \[s\].
    pub fn add(&mut self, world: &World, velocities: &[Velocity], h: f64) {
        let strained = h * strain_rate(world);
        let paths = self.paths.par_iter_mut().zip(&world.spheres).with_min_len(CHUNK);
        paths.for_each(|(path, sphere)| {
            let velocity = &velocities[sphere.body as usize];
            if velocity.is_free() {
                *path += h * sphere.speed(velocity.linear, velocity.angular) + strained * apart(sphere);
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
        let strain_rate = strain_rate(world);
        self.paths.len() != world.spheres.len()
            || self.boundaries.len() != world.boundaries.len()
            || (0..world.boundaries.len()).any(|body| self.boundary_may_leave(world, settings, body))
            || (self.paths.par_iter().zip(&world.spheres).with_min_len(CHUNK))
                .any(|(&path, sphere)| may_leave(world, settings, strain_rate, path, sphere))
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

/// Bound on how fast the flow of a deforming cell moves two bodies, over their distance \[1/s\].
fn strain_rate(world: &World) -> f64 {
    let Some(deformation) = &world.deformation else { return 0.0 };
    let rate = |gradient: &DMat3| gradient.to_cols_array().iter().map(|rate| rate * rate).sum::<f64>().sqrt();
    rate(&deformation.gradient).max(rate(&world.velocity_gradient()))
}

/// Part of a sphere in the distance of two whose gap is at most their mean diameter \[m\].
fn apart(sphere: &Sphere) -> f64 {
    2.0 * sphere.radius
}

/// Whether a sphere that has moved along `path` \[m\] since the last search may by the end of the step have moved half the skin, in a cell
/// with this [`strain_rate`] \[1/s\].
fn may_leave(world: &World, settings: &Settings, strain_rate: f64, path: f64, sphere: &Sphere) -> bool {
    if world.bodies.inverse_mass[sphere.body as usize] == 0.0 {
        return false; // it was removed
    }
    let step = settings.time_step;
    let gained = 0.5 * world.gravity.length() + world.sphere_push(sphere);
    let strained = strain_rate * apart(sphere);
    let ahead = step * (world.sphere_speed(sphere) + strained + step * gained);
    path + ahead > settings.skin * sphere.radius
}
