//! Drives of sliders \[E11\]: forces that push them, and motors, each one more constraint of the solve.
//!
//! Twins: `shaders/predict.wgsl` for the start, `shaders/shared/motor.wgsl` for the constraint.

use crate::model::World;
use crate::model::slider::Command;
use crate::settings::{Settings, WarmStart};

use super::velocity::Velocity;
use super::warm_start::adaptive_fraction;

/// The drives of a substep.
#[derive(Debug, Clone, Default)]
pub struct Drives(Vec<Constraint>);

/// What one drive does, towards larger coordinates.
#[derive(Debug, Clone, Copy)]
struct Constraint {
    body: usize,
    /// The axis of its slider: 0, 1, 2 for x, y, z.
    axis: usize,
    /// Velocity that a motor holds \[m/s\].
    target: f64,
    /// Largest impulse of a motor in the substep \[N s\]; 0 for a force, which is no constraint.
    limit: f64,
    /// Impulse in the substep \[N s\].
    impulse: f64,
    /// That of a motor after the last sweep \[N s\].
    last: f64,
}

impl Drives {
    /// The drives of a substep that ends at `end` \[s\], with the impulses they start from. `velocities` are those
    /// before the external forces.
    pub fn start(world: &World, settings: &Settings, end: f64, velocities: &[Velocity]) -> Drives {
        let h = settings.substep();
        let constraint = |(body, slider): (usize, &crate::model::Slider)| {
            let push = |force: f64| Constraint {
                body,
                axis: slider.axis,
                target: 0.0,
                limit: 0.0,
                impulse: h * force,
                last: 0.0,
            };
            // In the middle of the substep no rounding of the time decides which of two drives acts.
            match slider.command_at(end - 0.5 * h) {
                Command::Push(force) => push(force),
                Command::Press(pressure) => push(pressure * slider.area(world)),
                Command::Hold { velocity, force_limit } => {
                    let off = (velocities[body].linear[slider.axis] - velocity).abs();
                    let limit = h * force_limit;
                    let carried = fraction(settings, world, off) * h * world.drive_forces[body];
                    let impulse = carried.clamp(-limit, limit);
                    Constraint { body, axis: slider.axis, target: velocity, limit, impulse, last: 0.0 }
                }
            }
        };
        Drives(world.sliders().map(constraint).collect())
    }

    /// v ← v + λ/m: the forces, and what the motors start from.
    pub fn apply(&self, velocities: &mut [Velocity]) {
        for constraint in &self.0 {
            let body = &mut velocities[constraint.body];
            body.linear[constraint.axis] += body.inverse_mass * constraint.impulse;
        }
    }

    /// Solves the motors, each with all contacts held fixed; returns by how much at most one changed its velocity \[m/s\].
    pub fn solve(&mut self, velocities: &mut [Velocity]) -> f64 {
        let mut largest = 0.0f64;
        for constraint in self.0.iter_mut().filter(|constraint| constraint.limit > 0.0) {
            let body = &mut velocities[constraint.body];
            let off = body.linear[constraint.axis] - constraint.target;
            let impulse =
                (constraint.impulse - off / body.inverse_mass).clamp(-constraint.limit, constraint.limit);
            let change = body.inverse_mass * (impulse - constraint.impulse);
            body.linear[constraint.axis] += change;
            constraint.impulse = impulse;
            largest = largest.max(change.abs());
        }
        largest
    }

    /// Impulses of motors go on by a share of what the last sweep made of them \[E12\].
    pub(super) fn extrapolate(&mut self, share: f64) {
        for constraint in self.0.iter_mut().filter(|constraint| constraint.limit > 0.0) {
            let before = std::mem::replace(&mut constraint.last, constraint.impulse);
            if share > 0.0 {
                constraint.impulse += share * (constraint.last - before);
            }
        }
    }

    /// Keeps the forces of a substep of length `h` \[s\].
    pub fn keep(&self, h: f64, world: &mut World) {
        for constraint in &self.0 {
            world.drive_forces[constraint.body] = constraint.impulse / h;
        }
    }
}

/// Share of its last impulse that a motor starts from \[E7\]; `off` is how far its slider is from the velocity that it
/// holds \[m/s\].
fn fraction(settings: &Settings, world: &World, off: f64) -> f64 {
    match settings.warm_start {
        WarmStart::Cold | WarmStart::Model | WarmStart::NormalsOnly { .. } => 0.0,
        WarmStart::History { fraction } | WarmStart::NoVelocityUpdate { fraction } => fraction,
        WarmStart::Adaptive { fraction, motion } => {
            adaptive_fraction(fraction, off, motion * world.gravity.length() * settings.substep())
        }
    }
}
