//! Integrate: moves bodies with their new velocities \[E1\].

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use crate::contact::constraint::Constraint;
use crate::contact::coupling::Coupling;
use crate::contact::tasks::CHUNK;
use crate::contact::velocity::Velocity;
use crate::engine::blame::TooFast;
use crate::engine::speed_limit;
use crate::error::Error;
use crate::model::{Bodies, Kind, World};
use crate::settings::Settings;

use super::search::Travel;

/// Commits the velocities, which [`judge`] has found good, and moves all bodies to time `end` \[s\].
pub fn move_bodies(world: &mut World, velocities: &[Velocity], end: f64, h: f64) {
    move_dynamic(world, velocities, h);
    world.move_boundaries(end, h);
    world.update_joints();
    world.time = end;
}

/// Breaks the bonds whose stress has reached their strength. Their grains may touch from now on, so the next step searches.
pub(super) fn break_bonds(world: &mut World, travel: &mut Travel) {
    if world.bonds.is_empty() {
        return;
    }
    let fractures = world.fractures();
    if !fractures.is_empty() {
        world.bonds.end(&fractures);
        travel.forget();
    }
}

/// Moves the dynamic bodies. Spheres turn by their angular velocity; other bodies keep their angular momentum while they turn.
fn move_dynamic(world: &mut World, velocities: &[Velocity], h: f64) {
    let gradient = world.deformation.as_ref().map(|deformation| deformation.gradient);
    // The cell has deformed already, about its centre.
    let (periodic, centre) = (world.periodic, world.periodic.centre());
    let Bodies { kind, moments, position, orientation, velocity, angular_velocity, .. } = &mut world.bodies;
    let bodies = (velocities, kind, moments, velocity, angular_velocity, position, orientation);
    bodies.into_par_iter().with_min_len(CHUNK).for_each(
        |(new, kind, moments, velocity, angular_velocity, position, orientation)| {
            if !new.is_free() {
                return;
            }
            (*velocity, *angular_velocity) = (new.linear, new.angular);
            let flow = gradient.map_or(DVec3::ZERO, |gradient| gradient * (*position - centre));
            *position = periodic.wrap(*position + h * (new.linear + flow));
            if *kind == Kind::Rigid {
                let rigid = new.rigid(*moments);
                (*orientation, *angular_velocity) = rigid.turn(*orientation, new.angular, h);
            } else {
                *orientation = (turn(h * new.angular) * *orientation).normalize();
            }
        },
    );
}

/// Rotation about `angle` by its length \[rad\]. Most rotations of a step are so small that a few terms of the series of sine and cosine
/// give all digits.
fn turn(angle: DVec3) -> DQuat {
    let square = 0.25 * angle.length_squared();
    if square > 1e-4 {
        return DQuat::from_scaled_axis(angle);
    }
    let sine_over_angle = 1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0));
    let cosine = 1.0 - square / 2.0 * (1.0 - square / 12.0 * (1.0 - square / 30.0));
    DQuat::from_vec4((0.5 * sine_over_angle * angle).extend(cosine))
}

/// What may have made a boundary too fast.
#[derive(Clone, Copy)]
pub struct Cause<'a> {
    /// All contacts of the substep.
    pub constraints: &'a [Constraint],
    /// What was told of the machines at the start.
    pub warning: Option<&'a str>,
}

/// Checks that every velocity is a number, and that no contact made a body too fast. A body that merely falls or was thrown may be as fast
/// as it likes, as it meets nothing.
///
/// # Errors
/// When a velocity is not a number, or carries a grain too far.
pub fn judge(
    world: &World,
    velocities: &[Velocity],
    settings: &Settings,
    coupling: &dyn Coupling,
    Cause { constraints, warning }: Cause<'_>,
) -> Result<(), Error> {
    let (time, time_step, h) = (world.time, settings.time_step, settings.substep());
    let diameter = coupling.largest_diameter(world);
    let (first, limit) = (world.grain_body(0), speed_limit(diameter, h));
    // In most steps all are slow, which is soon seen. The limit may be infinite, and no speed may.
    let is_slow = |velocity: &Velocity| {
        velocity.linear.length_squared() < limit * limit && velocity.angular.is_finite()
    };
    if velocities.par_chunks(CHUNK).all(|bodies| bodies.iter().all(is_slow)) {
        return Ok(());
    }
    let verdict = |body: usize| verdict_on(&velocities[body], limit, || world.free_speed(body, h));
    // Grains are checked first: a reader knows them by number.
    let grains = (first..velocities.len()).into_par_iter().with_min_len(CHUNK);
    let mut boundaries = world.dynamic_boundaries().map(|(body, _)| body);
    let is_bad =
        |body: usize| Some((body, verdict(body))).filter(|(_, verdict)| *verdict != SpeedVerdict::Good);
    let Some((body, verdict)) = grains.find_map_first(is_bad).or_else(|| boundaries.find_map(is_bad)) else {
        return Ok(());
    };
    let grain = world.grain_of_body(body).map(|grain| world.ids[grain]);
    let name = || world.boundaries[body].name.clone();
    let diameters = |speed: f64| speed * h / diameter;
    Err(match (verdict, grain) {
        (SpeedVerdict::TooFast { speed }, Some(grain)) => {
            Error::Exploded { grain, time, speed, diameters: diameters(speed), time_step: h }
        }
        (SpeedVerdict::TooFast { speed }, None) => {
            let acts_on = |constraint: &Constraint, body: usize| {
                constraint.impulse.normal != 0.0 && constraint.bodies.contains(&(body as u32))
            };
            TooFast { body, speed, h, diameter, warning }
                .error(world, |body| constraints.iter().any(|constraint| acts_on(constraint, body)))
        }
        (_, Some(grain)) => Error::NotANumber { grain, time, time_step },
        (_, None) => Error::BoundaryNotANumber { name: name(), time, time_step },
    })
}

/// Result of the check of a velocity.
#[derive(Clone, Copy, PartialEq)]
enum SpeedVerdict {
    Good,
    NotANumber,
    TooFast { speed: f64 },
}

/// Judges a velocity by the speed that contacts may add \[m/s\]; `free_speed` is computed only for bodies that are fast, which are few.
fn verdict_on(velocity: &Velocity, limit: f64, free_speed: impl Fn() -> f64) -> SpeedVerdict {
    let speed = velocity.linear.length();
    if !speed.is_finite() || !velocity.angular.is_finite() {
        SpeedVerdict::NotANumber
    } else if speed > limit && speed - free_speed() > limit {
        SpeedVerdict::TooFast { speed }
    } else {
        SpeedVerdict::Good
    }
}
