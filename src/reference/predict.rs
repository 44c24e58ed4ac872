//! Predict: velocities under the external forces alone \[E1\].

use glam::DVec3;

use crate::world::World;

use super::velocity::Velocity;

/// v ← v + h g for every free body.
pub fn apply_gravity(world: &World, h: f64, velocities: &mut [Velocity]) {
    let gained: DVec3 = h * world.gravity;
    for velocity in velocities.iter_mut().filter(|velocity| velocity.is_free()) {
        velocity.linear += gained * velocity.locked.free_translation();
    }
}
