//! Warm start \[E7\]: the impulses that the solve of a substep starts from.

use glam::DVec3;
use rayon::prelude::*;

use crate::contact::Impulse;
use crate::contact::constants::LawConstants;
use crate::contact::constraint::{Constraint, Onset};
use crate::contact::flow::Flow;
use crate::contact::pass::{Give, Push};
use crate::contact::problem::ContactProblem;
use crate::contact::tasks::CHUNK;
use crate::contact::velocity::Velocity;
use crate::engine::model_gain;
use crate::law::cone::Cone;
use crate::law::normal::NormalLaw;
use crate::model::World;
use crate::settings::{Settings, WarmStart};

use super::narrowphase::FAR;

/// Turns the impulse that each contact carries over into the one that the solve starts from, within the present cone. `velocities` are
/// those before the external forces.
pub fn seed(
    law: &LawConstants,
    settings: &Settings,
    world: &World,
    constraints: &mut [Constraint],
    onsets: &[Onset],
    velocities: &[Velocity],
) {
    let flow =
        if world.deformation.is_some() { Flow::of(world.velocity_gradient()) } else { Flow::default() };
    let gain = if settings.warm_start == WarmStart::Model { model_gain(settings, world) } else { 0.0 };
    let touching = |(_, onset): &(&mut Constraint, &Onset)| onset.position_target != FAR;
    let constraints = constraints.par_iter_mut().zip(onsets).with_min_len(CHUNK).filter(touching);
    constraints.for_each(|(constraint, onset)| {
        let [a, b] = constraint.bodies.map(|body| &velocities[body as usize]);
        let velocity = flow.contact_velocity(constraint, a, b);
        let carried = |fraction| share_of(fraction, constraint);
        let guess = match settings.warm_start {
            WarmStart::Cold => Impulse::default(),
            WarmStart::History { fraction } | WarmStart::NoVelocityUpdate { fraction } => carried(fraction),
            WarmStart::NormalsOnly { fraction } => {
                Impulse { normal: carried(fraction).normal, ..Impulse::default() }
            }
            WarmStart::Adaptive { fraction, motion } => {
                let moving = motion * world.gravity.length() * law.h;
                carried(adaptive_fraction(fraction, velocity.length(), moving))
            }
            WarmStart::Model => model(law, onset, gain, velocity, a.angular - b.angular),
        };
        constraint.impulse = into_cone(settings.cone, constraint, guess);
    });
}

/// Share of the impulse that a contact carries over. The part that balances cohesion is kept in full, as cohesion acts in full.
fn share_of(fraction: f64, constraint: &Constraint) -> Impulse {
    let held = constraint.cohesion.min(constraint.impulse.normal);
    let normal = held + fraction * (constraint.impulse.normal - held);
    Impulse { normal, ..constraint.impulse.scaled(fraction) }
}

/// Adaptive fraction β_c = 1 - (1 - β) min(1, |u| / moving) \[E7\]: 1 at rest, β when moving.
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

/// Impulse of the model start: normal from the overlap, friction and rolling from the contact velocity and the spin.
fn model(law: &LawConstants, onset: &Onset, gain: f64, velocity: DVec3, spin: DVec3) -> Impulse {
    let overlap = (-onset.gap).max(0.0);
    let force = match law.normal {
        NormalLaw::Hertz => onset.stiffness * overlap * overlap.sqrt(),
        NormalLaw::Hooke | NormalLaw::Rigid => onset.stiffness * overlap,
    };
    Impulse { normal: law.h * force, tangent: -gain * velocity, rolling: -gain * spin }
}

/// Projects an impulse on the present tangent plane and the present cone.
fn into_cone(cone: Cone, constraint: &Constraint, guess: Impulse) -> Impulse {
    let normal = guess.normal.max(0.0);
    let tangent = guess.tangent - guess.tangent.dot(constraint.normal) * constraint.normal;
    Impulse {
        normal,
        tangent: constraint.within_friction(cone, tangent, normal),
        rolling: constraint.within_rolling(cone, guess.rolling, normal),
    }
}

/// Applies the initial impulses and cohesion to the velocities, v ← v + M⁻¹ Gᵀ λ⁰. A warm start that leaves λ⁰ out applies cohesion alone,
/// and is worse than a cold one.
pub fn apply(start: WarmStart, problem: &mut ContactProblem<'_>) {
    let carries = f64::from(u8::from(start.updates_velocities()));
    problem.visit(&Give(|constraint: &mut Constraint| {
        let impulse = constraint.impulse.scaled(carries);
        let given = Impulse { normal: impulse.normal - constraint.cohesion, ..impulse };
        (!given.is_zero()).then(|| Push::of(&given, constraint.normal))
    }));
}
