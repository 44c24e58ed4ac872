//! Impact stage \[E6\]: contacts that close faster than the threshold bounce first.
//!
//! A contact bounces in the substep in which it would close, so the rows of the continuous solve, which
//! stop a pair at a gap of zero, never take the speed that it must return with. The impulses of this
//! stage change velocities only; they are never a warm start.

use rayon::prelude::*;

use crate::contact::{Colouring, Impulse};
use crate::settings::{Settings, TOUCH_TOLERANCE};

use super::narrowphase::{CHUNK, FAR, Row, times_d};
use super::split::Split;
use super::sweep;
use super::velocity::Velocity;

/// What a contact does in the impact stage.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Role {
    /// It would close within the substep, faster than the threshold: it leaves at this speed \[m/s\].
    Bounces(f64),
    /// It touches: it leaves at this speed at least \[m/s\].
    Touches(f64),
    /// It takes no part.
    Absent,
}

/// Solves the impacts, if there are any. Leaves impulses and coefficients of the rows as they were, and
/// returns the rows that were solved in their stead, with the impulses of the impacts.
///
/// # Safety
/// As [`sweep::for_each_contact`].
pub unsafe fn solve(
    settings: &Settings,
    colouring: &Colouring,
    split: &mut Split,
    rows: &mut [Row],
    velocities: &mut [Velocity],
) -> Vec<Row> {
    let role = |row: &Row| role(row, closing(row, velocities), settings);
    let roles: Vec<Role> = rows.par_iter().with_min_len(CHUNK).map(role).collect();
    if !roles.iter().any(|role| matches!(role, Role::Bounces(_))) {
        return Vec::new();
    }
    let mut impacts: Vec<Row> = rows.iter().zip(roles).map(|(row, role)| impact_row(row, role)).collect();
    // SAFETY: by the caller's promise; the rows made over have the bodies of the rows.
    unsafe {
        sweep::solve(colouring, split, &mut impacts, velocities, settings.iterations, settings.tolerance);
    }
    impacts
}

fn closing(row: &Row, velocities: &[Velocity]) -> f64 {
    let [a, b] = row.bodies.map(|body| &velocities[body as usize]);
    row.contact_velocity(a, b).dot(row.normal)
}

fn role(row: &Row, speed: f64, settings: &Settings) -> Role {
    let reach = TOUCH_TOLERANCE * row.arm_a.length();
    if speed < -settings.impact_threshold && row.gap + settings.substep() * speed <= reach {
        Role::Bounces(-row.restitution * speed)
    } else if row.gap <= reach {
        Role::Touches(-row.restitution * speed.max(0.0))
    } else {
        Role::Absent
    }
}

/// The row as the impact stage solves it: rigid, from zero.
fn impact_row(row: &Row, role: Role) -> Row {
    let rigid = times_d(1.0, row.inverse_d[0]) - row.sigma_n;
    Row {
        impulse: Impulse::default(),
        sigma_n: 0.0,
        inverse_d: [if rigid > 0.0 { 1.0 / rigid } else { 0.0 }, row.inverse_d[1], row.inverse_d[2]],
        target: match role {
            Role::Bounces(speed) | Role::Touches(speed) => speed,
            Role::Absent => FAR,
        },
        ..*row
    }
}
