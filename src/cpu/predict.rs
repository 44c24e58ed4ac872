//! Predict: velocities under the external forces alone \[E1\].

use glam::DVec3;
use rayon::prelude::*;

use crate::model::World;

use super::narrowphase::CHUNK;
use super::velocity::Velocity;

/// v ← v + h g for every free body.
pub fn apply_gravity(world: &World, h: f64, velocities: &mut [Velocity]) {
    let gained: DVec3 = h * world.gravity;
    velocities.par_iter_mut().with_min_len(CHUNK).filter(|velocity| velocity.is_free()).for_each(
        |velocity| {
            velocity.linear += gained * velocity.locked.free_translation();
        },
    );
}
