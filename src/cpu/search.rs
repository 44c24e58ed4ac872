//! Search: whether the contacts found last are still all that can touch in a step.
//!
//! A rebuild of the neighbour list lists all pairs closer than the skin. Since then each sphere has moved by its `travel` at most;
//! while for none of them that and what the step adds at its present speed comes to half the skin, no pair outside
//! of the list can touch. Half of what a grain may fall in the step counts: the two of a pair fall alike, or one falls
//! and the other is held; a surface is held, and the whole skin away. (A grain that is struck within the step may go
//! further: the step after finds what it came to.) Boundaries that move, and grains that are added, call for a search.
//! Twin: `shaders/search.wgsl`.

use rayon::prelude::*;

use crate::model::{Sphere, World};
use crate::settings::Settings;

use super::narrowphase::CHUNK;
use super::velocity::Velocity;

/// How far spheres of grains have moved since the last search.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Travel {
    /// Bound on the path of each sphere \[m\]; empty before the first search.
    paths: Vec<f64>,
    /// Whether boundaries moved in the step before: the last list was made before they did.
    boundaries_moved: bool,
}

impl Travel {
    /// Bytes for so many spheres.
    pub fn planned_bytes(spheres: u64) -> u64 {
        spheres * size_of::<f64>() as u64
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        (self.paths.capacity() * size_of::<f64>()) as u64
    }

    /// Knows nothing any more: the next step searches.
    pub fn forget(&mut self) {
        self.paths.clear();
    }

    /// Gives back room that it does not need.
    #[cfg(feature = "scenario")]
    pub(super) fn fit(&mut self) {
        self.paths.shrink_to_fit();
    }

    /// Starts anew: contacts are searched for now.
    pub fn reset(&mut self, world: &World) {
        self.paths.clear();
        // No more than it needs, so that its size does not tell how it grew.
        self.paths.reserve_exact(world.spheres.len());
        self.paths.resize(world.spheres.len(), 0.0);
    }

    /// Adds what the spheres move in a substep of `h` \[s\].
    pub fn add(&mut self, world: &World, velocities: &[Velocity], h: f64) {
        let paths = self.paths.par_iter_mut().zip(&world.spheres).with_min_len(CHUNK);
        paths.for_each(|(path, sphere)| {
            let velocity = &velocities[sphere.body as usize];
            if velocity.is_free() {
                *path += h * (velocity.linear.length() + velocity.angular.length() * sphere.centre.length());
            }
        });
    }

    /// Whether the step that starts at `world.time` needs a search.
    pub fn calls_for_search(&mut self, world: &World, settings: &Settings) -> bool {
        let boundaries_move = boundaries_move(world, settings);
        let boundaries_moved = std::mem::replace(&mut self.boundaries_moved, boundaries_move);
        self.paths.len() != world.spheres.len()
            || boundaries_move
            || boundaries_moved
            || (self.paths.par_iter().zip(&world.spheres).with_min_len(CHUNK))
                .any(|(&path, sphere)| may_leave(world, settings, path, sphere))
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

fn boundaries_move(world: &World, settings: &Settings) -> bool {
    let h = settings.substep();
    let ends = || (1..=settings.substeps).map(|i| world.time + f64::from(i) * h);
    world.boundaries.iter().any(|boundary| {
        let moves = |end| {
            let state = boundary.state_at(end, h);
            boundary.moves_with(&state)
        };
        boundary.dynamic().is_some() || ends().any(moves)
    })
}
