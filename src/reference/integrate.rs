//! Integrate: bodies move with their new velocities \[E1\].

use glam::DQuat;
use rayon::prelude::*;

use crate::error::Error;
use crate::settings::{Settings, TRAVEL_LIMIT};
use crate::world::World;

use super::narrowphase::CHUNK;
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
    move_grains(world, velocities, h);
    move_free_boundaries(world, velocities, h);
    world.move_boundaries(end, h);
    world.time = end;
    Ok(())
}

fn move_grains(world: &mut World, velocities: &[Velocity], h: f64) {
    let (bodies, periodic, first) = (&mut world.bodies, world.periodic, world.boundaries.len());
    let grains = (
        &velocities[first..],
        &mut bodies.velocity[first..],
        &mut bodies.angular_velocity[first..],
        &mut bodies.position[first..],
        &mut bodies.orientation[first..],
    );
    grains.into_par_iter().with_min_len(CHUNK).filter(|grain| grain.0.is_free()).for_each(
        |(new, velocity, angular_velocity, position, orientation)| {
            (*velocity, *angular_velocity) = (new.linear, new.angular);
            *position = periodic.wrap(*position + h * new.linear);
            *orientation = (DQuat::from_scaled_axis(h * new.angular) * *orientation).normalize();
        },
    );
}

/// Free boundaries keep their angular momentum while they turn.
fn move_free_boundaries(world: &mut World, velocities: &[Velocity], h: f64) {
    let World { boundaries, bodies, periodic, .. } = world;
    for (body, boundary) in boundaries.iter().enumerate() {
        let (Some(free), velocity) = (boundary.free_body(), &velocities[body]) else { continue };
        bodies.velocity[body] = velocity.linear;
        bodies.position[body] = periodic.wrap(bodies.position[body] + h * velocity.linear);
        (bodies.orientation[body], bodies.angular_velocity[body]) =
            free.turn(bodies.orientation[body], velocity.angular, h);
    }
}

/// Whether every velocity is a number, and no contact drove a body too fast: what merely falls or was thrown may be as fast
/// as it likes, it meets nothing.
fn judge(world: &World, velocities: &[Velocity], h: f64, settings: &Settings) -> Result<(), Error> {
    let (time, time_step, first) = (world.time, settings.time_step, world.boundaries.len());
    let limit = Limit { diameter: world.largest_diameter(), h };
    let grains = velocities[first..].par_iter().with_min_len(CHUNK).enumerate();
    let fault = grains.find_map_first(|(grain, velocity)| {
        let body = first + grain;
        let grain = world.ids[grain];
        match limit.judge(velocity, world.free_speed(body, h)) {
            Verdict::Good => None,
            Verdict::NotANumber => Some(Error::NotANumber { grain, time, time_step }),
            Verdict::TooFast { speed, diameters } => {
                Some(Error::Exploded { grain, time, speed, diameters, time_step: h })
            }
        }
    });
    if let Some(fault) = fault {
        return Err(fault);
    }
    for (body, _) in world.free_boundaries() {
        let name = || world.boundaries[body].name.clone();
        let velocity = &velocities[body];
        match limit.judge(velocity, world.free_speed(body, h)) {
            Verdict::Good => {}
            Verdict::NotANumber => {
                return Err(Error::BoundaryNotANumber { name: name(), time, time_step });
            }
            Verdict::TooFast { speed, diameters } => {
                return Err(Error::BoundaryExploded { name: name(), time, speed, diameters, time_step: h });
            }
        }
    }
    Ok(())
}

/// What is to be said of the velocity of a body.
enum Verdict {
    Good,
    NotANumber,
    TooFast { speed: f64, diameters: f64 },
}

/// What contacts may do to a body in a substep.
struct Limit {
    /// Of the largest grain; 0 without grains, when there is nothing that a plate could miss \[m\].
    diameter: f64,
    /// Substep \[s\].
    h: f64,
}

impl Limit {
    fn judge(&self, velocity: &Velocity, free_speed: f64) -> Verdict {
        let speed = velocity.linear.length();
        if !speed.is_finite() || !velocity.angular.is_finite() {
            return Verdict::NotANumber;
        }
        if self.diameter > 0.0 && (speed - free_speed) * self.h > TRAVEL_LIMIT * self.diameter {
            Verdict::TooFast { speed, diameters: speed * self.h / self.diameter }
        } else {
            Verdict::Good
        }
    }
}
