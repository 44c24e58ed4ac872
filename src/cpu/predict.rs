//! Predict: velocities under the external forces alone \[E1\].

use glam::DVec3;
use rayon::prelude::*;

use crate::contact::bonds::BondSystem;
use crate::contact::constants::LawConstants;
use crate::contact::constraint::{Constraint, Onset};
use crate::contact::flow::Flow;
use crate::contact::joints::Joints;
use crate::contact::tasks::CHUNK;
use crate::contact::velocity::{InverseMass, Velocity};
use crate::model::World;
use crate::settings::Settings;

use super::warm_start;

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

/// Takes the velocities beside the flow of a cell through `h` \[s\] of this flow \[E23\].
pub(super) fn carry_off(flow: Flow, h: f64, velocities: &mut [Velocity]) {
    if !flow.is_none() {
        let free = velocities.par_iter_mut().with_min_len(CHUNK).filter(|velocity| velocity.is_free());
        free.for_each(|velocity| velocity.linear += flow.carried_off(h, velocity));
    }
}

/// Sets the impulses of the contacts to their start \[E7\], and the velocities to those under the external forces alone, in a substep that
/// ends at `end` \[s\]. These impulses are not applied to the velocities yet, those that the bonds start from are.
pub(super) fn start_solve(
    world: &World,
    settings: &Settings,
    end: f64,
    (constraints, onsets): (&mut [Constraint], &[Onset]),
    velocities: &mut [Velocity],
    bonds: &mut BondSystem,
) -> Joints {
    warm_start::seed(&LawConstants::new(settings), settings, world, constraints, onsets, velocities);
    let joints = Joints::start(world, settings, end, velocities);
    bonds.start(world, settings.substep(), velocities);
    apply_forces(world, settings.substep(), velocities);
    bonds.push(velocities);
    joints
}
