//! Drives of sliders \[E11\]: forces that push them, and motors, each one more row of the solve.
//!
//! Twins: `shaders/predict.wgsl` for the start, `shaders/shared/motor.wgsl` for the row.

use crate::model::World;
use crate::model::slider::Command;
use crate::settings::{Settings, WarmStart};

use super::velocity::Velocity;
use super::warm_start::adaptive_fraction;

/// The drives of a substep.
#[derive(Debug, Clone, Default)]
pub struct Drives(Vec<Row>);

/// What one drive does, towards larger coordinates.
#[derive(Debug, Clone, Copy)]
struct Row {
    body: usize,
    /// The axis of its slider: 0, 1, 2 for x, y, z.
    axis: usize,
    /// Velocity that a motor holds \[m/s\].
    target: f64,
    /// Largest impulse of a motor in the substep \[N s\]; 0 for a force, which is no row.
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
        let row = |(body, slider): (usize, &crate::model::Slider)| {
            let push = |force: f64| Row {
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
                    Row { body, axis: slider.axis, target: velocity, limit, impulse, last: 0.0 }
                }
            }
        };
        Drives(world.sliders().map(row).collect())
    }

    /// v ← v + λ/m: the forces, and what the motors start from.
    pub fn apply(&self, velocities: &mut [Velocity]) {
        for row in &self.0 {
            let body = &mut velocities[row.body];
            body.linear[row.axis] += body.inverse_mass * row.impulse;
        }
    }

    /// Solves the motors, each with all contacts held fixed; returns by how much at most one changed its velocity \[m/s\].
    pub fn solve(&mut self, velocities: &mut [Velocity]) -> f64 {
        let mut largest = 0.0f64;
        for row in self.0.iter_mut().filter(|row| row.limit > 0.0) {
            let body = &mut velocities[row.body];
            let off = body.linear[row.axis] - row.target;
            let impulse = (row.impulse - off / body.inverse_mass).clamp(-row.limit, row.limit);
            let change = body.inverse_mass * (impulse - row.impulse);
            body.linear[row.axis] += change;
            row.impulse = impulse;
            largest = largest.max(change.abs());
        }
        largest
    }

    /// Impulses of motors go on by a share of what the last sweep made of them \[E12\].
    pub(super) fn carry_on(&mut self, share: f64) {
        for row in self.0.iter_mut().filter(|row| row.limit > 0.0) {
            let before = std::mem::replace(&mut row.last, row.impulse);
            if share > 0.0 {
                row.impulse += share * (row.last - before);
            }
        }
    }

    /// Keeps the forces of a substep of length `h` \[s\].
    pub fn keep(&self, h: f64, world: &mut World) {
        for row in &self.0 {
            world.drive_forces[row.body] = row.impulse / h;
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
