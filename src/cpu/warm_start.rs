//! Warm start \[E7\]: where the impulses of a substep start from.

use glam::DVec3;
use rayon::prelude::*;

use crate::contact::Impulse;
use crate::engine::model_gain;
use crate::settings::{NormalLaw, Settings, WarmStart};

use crate::model::World;

use super::narrowphase::{CHUNK, Law, Onset, Response, Row};
use super::problem::Problem;
use super::sweep::{Push, Visit, project};
use super::velocity::Velocity;

/// Turns the impulse that a row carries into the one it starts from, inside today's cone.
/// `velocities` are those before the external forces.
pub fn seed(
    law: &Law,
    settings: &Settings,
    world: &World,
    rows: &mut [Row],
    onsets: &[Onset],
    velocities: &[Velocity],
) {
    let gain = if settings.warm_start == WarmStart::Model { model_gain(settings, world) } else { 0.0 };
    rows.par_iter_mut().zip(onsets).with_min_len(CHUNK).for_each(|(row, onset)| {
        let [a, b] = row.bodies.map(|body| &velocities[body as usize]);
        let velocity = row.contact_velocity(a, b);
        let guess = match settings.warm_start {
            WarmStart::Cold => Impulse::default(),
            WarmStart::History { fraction } | WarmStart::NoVelocityUpdate { fraction } => {
                row.impulse.scaled(fraction)
            }
            WarmStart::NormalsOnly { fraction } => {
                Impulse { normal: fraction * row.impulse.normal, ..Impulse::default() }
            }
            WarmStart::Adaptive { fraction, motion } => {
                let moving = motion * world.gravity.length() * law.h;
                row.impulse.scaled(adaptive_fraction(fraction, velocity.length(), moving))
            }
            WarmStart::Model => model(law, onset, gain, velocity, a.angular - b.angular),
        };
        row.impulse = into_cone(row, guess);
    });
}

/// β_c = 1 - (1 - β) min(1, |u| / moving): all of it at rest, β when moving.
pub fn adaptive_fraction(fraction: f64, speed: f64, moving: f64) -> f64 {
    let motion = if speed < moving {
        speed / moving
    } else if speed > 0.0 {
        1.0
    } else {
        0.0
    };
    1.0 - (1.0 - fraction) * motion
}

/// The impulse that the overlap and the contact velocity suggest.
fn model(law: &Law, onset: &Onset, gain: f64, velocity: DVec3, spin: DVec3) -> Impulse {
    let overlap = (-onset.gap).max(0.0);
    let force = match law.normal {
        NormalLaw::Hertz => onset.stiffness * overlap * overlap.sqrt(),
        NormalLaw::Hooke | NormalLaw::Rigid => onset.stiffness * overlap,
    };
    Impulse { normal: law.h * force, tangent: -gain * velocity, rolling: -gain * spin }
}

/// Projects on today's tangent plane and today's cone.
fn into_cone(row: &Row, guess: Impulse) -> Impulse {
    let normal = guess.normal.max(0.0);
    let tangent = guess.tangent - guess.tangent.dot(row.normal) * row.normal;
    Impulse {
        normal,
        tangent: project(tangent, row.friction * normal),
        rolling: project(guess.rolling, row.rolling_arm * normal),
    }
}

/// v ← v + M⁻¹ Gᵀ λ⁰: without it a warm start is worse than a cold one.
pub fn apply(problem: &mut Problem<'_>) {
    problem.visit(&Apply);
}

/// Gives the bodies the impulses that the rows carry.
struct Apply;

impl Visit for Apply {
    #[inline(always)]
    fn contact(&self, row: &mut Row, _: &[f64; 3], a: &mut Velocity, b: &mut Velocity) -> f64 {
        if row.impulse.normal > 0.0 {
            let linear = row.impulse.linear(row.normal);
            a.push(linear, row.arm_a);
            b.push(-linear, row.arm_b);
            a.twist(row.impulse.rolling);
            b.twist(-row.impulse.rolling);
        }
        0.0
    }

    fn general(
        &self,
        row: &mut Row,
        _: &Response,
        _: [&Velocity; 2],
        _: impl Fn(DVec3) -> DVec3,
    ) -> (Push, f64) {
        (Push { linear: row.impulse.linear(row.normal), rolling: row.impulse.rolling }, 0.0)
    }
}
