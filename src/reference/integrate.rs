//! Integrate: bodies move with their new velocities \[E1\].

use glam::DQuat;

use crate::error::Error;
use crate::settings::{Settings, TRAVEL_LIMIT};
use crate::world::World;

use super::velocity::Velocity;

/// Commits the velocities and moves all bodies to time `end` \[s\].
///
/// # Errors
/// When a velocity is not a number or carries a grain too far; nothing has moved then.
pub fn move_bodies(
    world: &mut World,
    velocities: &[Velocity],
    end: f64,
    h: f64,
    settings: &Settings,
) -> Result<(), Error> {
    judge(world, velocities, h, settings)?;
    let (bodies, periodic) = (&mut world.bodies, world.periodic);
    let grains = velocities.iter().enumerate().skip(world.boundaries.len());
    for (body, velocity) in grains.filter(|(_, velocity)| velocity.is_free()) {
        bodies.velocity[body] = velocity.linear;
        bodies.angular_velocity[body] = velocity.angular;
        bodies.position[body] = periodic.wrap(bodies.position[body] + h * velocity.linear);
        let turn = DQuat::from_scaled_axis(h * velocity.angular);
        bodies.orientation[body] = (turn * bodies.orientation[body]).normalize();
    }
    world.move_boundaries(end, h);
    world.time = end;
    Ok(())
}

/// Whether every velocity is one that contact detection can follow.
fn judge(world: &World, velocities: &[Velocity], h: f64, settings: &Settings) -> Result<(), Error> {
    let diameter = 2.0 * world.largest_radius();
    let (time, time_step) = (world.time, settings.time_step);
    for (grain, velocity) in velocities.iter().skip(world.boundaries.len()).enumerate() {
        let grain = grain as u32;
        let speed = velocity.linear.length();
        if !speed.is_finite() || !velocity.angular.is_finite() {
            return Err(Error::NotANumber { grain, time, time_step });
        }
        let diameters = speed * h / diameter;
        if diameters > TRAVEL_LIMIT {
            return Err(Error::Exploded { grain, time, speed, diameters, time_step: h });
        }
    }
    Ok(())
}
