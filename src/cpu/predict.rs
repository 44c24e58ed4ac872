//! Predict: velocities under the external forces alone \[E1\].

use glam::DVec3;
use rayon::prelude::*;

use crate::contact::tasks::CHUNK;
use crate::contact::velocity::{InverseMass, Velocity};
use crate::model::World;

/// Adds the external forces to every free body, v ← v + h M⁻¹ f, with f gravity and the forces and torques applied to some bodies.
pub fn apply_forces(world: &World, h: f64, velocities: &mut [Velocity]) {
    let gained: DVec3 = h * world.gravity;
    velocities.par_iter_mut().with_min_len(CHUNK).filter(|velocity| velocity.is_free()).for_each(
        |velocity| {
            velocity.linear += gained * velocity.locked.free_translation();
        },
    );
    for applied in &world.forces {
        let velocity = &mut velocities[applied.body as usize];
        if velocity.is_free() {
            let inverse = InverseMass::of(world, applied.body as usize, velocity);
            velocity.linear += h * inverse.linear * applied.force;
            velocity.angular += h * (inverse.angular * applied.torque);
        }
    }
}
