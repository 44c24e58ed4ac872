//! Ledger: what gravity, boundaries and contacts do to the kinetic energy \[E10\].
//!
//! Twin: `shaders/ledger.wgsl`. Both solves of a substep, that of the impacts and the one after it, are
//! booked alike: an impulse works on the mean of the velocities before and after the solve.

use glam::DVec3;
use rayon::prelude::*;

use crate::engine::Ledger;
use crate::world::World;

use super::narrowphase::{CHUNK, Row};
use super::velocity::Velocity;

/// What the impacts did: `rows` with the impulses that took `before` to `after`.
pub fn book_impacts(rows: &[Row], before: &[Velocity], after: &[Velocity]) -> Ledger {
    let works = book_contacts(rows, before, after);
    Ledger { normal_work: 0.0, impact_work: works.normal_work, ..works }
}

/// What contacts did: `rows` with the impulses that took `before` to `after`. Summed task by task, so the bits
/// do not depend on the threads.
pub fn book_contacts(rows: &[Row], before: &[Velocity], after: &[Velocity]) -> Ledger {
    let sums: Vec<Ledger> = rows
        .par_chunks(CHUNK)
        .map(|rows| {
            rows.iter()
                .map(|row| {
                    let [a, b] = row.bodies.map(|body| mean(&before[body as usize], &after[body as usize]));
                    work_of(row, &a, &b)
                })
                .sum()
        })
        .collect();
    sums.into_iter().sum()
}

/// What gravity did in a substep of length `h` \[s\] that took `before` to `after`.
pub fn book_gravity(world: &World, h: f64, before: &[Velocity], after: &[Velocity]) -> Ledger {
    let work = |(before, after): (&Velocity, &Velocity)| {
        if !before.is_free() {
            return 0.0;
        }
        let mean = mean(before, after);
        h * world.gravity.dot(mean.linear * mean.locked.free_translation()) / mean.inverse_mass
    };
    let chunks = before.par_chunks(CHUNK).zip(after.par_chunks(CHUNK));
    let sums: Vec<f64> = chunks.map(|(before, after)| before.iter().zip(after).map(work).sum()).collect();
    Ledger { gravity_work: sums.into_iter().sum(), ..Ledger::default() }
}

/// Work of one contact at the mean velocities of its bodies.
fn work_of(row: &Row, a: &Velocity, b: &Velocity) -> Ledger {
    let work = |linear: DVec3, rolling: DVec3, a: &Velocity, b: &Velocity| {
        linear.dot(row.contact_velocity(a, b)) + rolling.dot(a.angular - b.angular)
    };
    let (normal, none) = (row.impulse.normal * row.normal, DVec3::ZERO);
    // The impulse also works on what does not give way to it. That is no loss: the boundary puts it in.
    let held = work(row.impulse.linear(row.normal), row.impulse.rolling, &held(a), &held(b));
    Ledger {
        normal_work: work(normal, none, a, b),
        friction_work: work(row.impulse.tangent, none, a, b),
        rolling_work: work(none, row.impulse.rolling, a, b),
        boundary_work: -held,
        ..Ledger::default()
    }
}

/// The part of a velocity that no impulse changes: all of it for a body that is not free, else that along
/// locked axes.
fn held(velocity: &Velocity) -> Velocity {
    if !velocity.is_free() {
        return *velocity;
    }
    let locked = velocity.locked;
    Velocity {
        linear: velocity.linear * (1.0 - locked.free_translation()),
        angular: velocity.angular * (1.0 - locked.free_rotation()),
        ..*velocity
    }
}

fn mean(before: &Velocity, after: &Velocity) -> Velocity {
    Velocity {
        linear: 0.5 * (before.linear + after.linear),
        angular: 0.5 * (before.angular + after.angular),
        ..*after
    }
}
