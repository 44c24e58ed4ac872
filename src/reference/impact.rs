//! Impact stage \[E6\]: contacts that close faster than the threshold bounce first.
//!
//! A contact bounces in the substep in which it would close, so the rows of the continuous solve, which
//! stop a pair at a gap of zero, never take the speed that it must return with. The impulses of this
//! stage change velocities only; they are never a warm start.

use rayon::prelude::*;

use crate::contact::{Colouring, Impulse};
use crate::settings::{Settings, TOUCH_TOLERANCE};

use super::drive::Drives;
use super::narrowphase::{CHUNK, FAR, Onset, Row, times_d};
use super::split::Split;
use super::sweep::{self, Sweeps};
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

/// Solves the impacts, if there are any, and returns the rows that were solved for them, with the impulses of the
/// impacts.
///
/// # Safety
/// As [`sweep::for_each_contact`].
pub unsafe fn solve(
    settings: &Settings,
    colouring: &Colouring,
    split: &mut Split,
    rows: &[Row],
    onsets: &[Onset],
    velocities: &mut [Velocity],
) -> Vec<Row> {
    let role = |row: &Row, onset: &Onset| role(row, onset, closing(row, velocities), settings);
    let bounces = |(row, onset)| matches!(role(row, onset), Role::Bounces(_));
    if !rows.par_iter().zip(onsets).with_min_len(CHUNK).any(bounces) {
        return Vec::new();
    }
    let (colouring, mut impacts) = taking_part(colouring, rows, onsets, role);
    // A force that has a bound does nothing in no time.
    let mut drives = Drives::default();
    let (iterations, tolerance) = (settings.iterations, settings.tolerance);
    // SAFETY: by the caller's promise; the rows made over have the bodies and the colours of the rows.
    unsafe {
        let sweeps = Sweeps::plain(&colouring, split, &mut drives);
        sweep::solve(sweeps, &mut impacts, velocities, iterations, tolerance);
    }
    impacts
}

/// The rows of the contacts that take part, colour by colour. Those without a colour all do: a body is split among
/// all of them.
fn taking_part(
    colouring: &Colouring,
    rows: &[Row],
    onsets: &[Onset],
    role: impl Fn(&Row, &Onset) -> Role + Sync,
) -> (Colouring, Vec<Row>) {
    let role_of = |row: usize| role(&rows[row], &onsets[row]);
    let solved = |row: usize| impact_row(&rows[row], role_of(row));
    let mut impacts = Vec::with_capacity(rows.len());
    let mut starts = Vec::with_capacity(colouring.starts.len());
    for bounds in colouring.starts.windows(2) {
        starts.push(impacts.len() as u32);
        let of_colour = (bounds[0]..bounds[1]).into_par_iter().with_min_len(CHUNK);
        // Numbers are filtered, not rows: what is filtered in parallel is gathered in pieces that are held beside
        // the whole.
        let touching: Vec<u32> = of_colour.filter(|&row| role_of(row as usize) != Role::Absent).collect();
        impacts.par_extend(touching.par_iter().map(|&row| solved(row as usize)));
    }
    if !colouring.starts.is_empty() {
        starts.push(impacts.len() as u32);
    }
    impacts.par_extend((colouring.rest_start()..rows.len()).into_par_iter().map(solved));
    (Colouring { order: Vec::new(), starts, rest: colouring.rest }, impacts)
}

fn closing(row: &Row, velocities: &[Velocity]) -> f64 {
    let [a, b] = row.bodies.map(|body| &velocities[body as usize]);
    row.contact_velocity(a, b).dot(row.normal)
}

fn role(row: &Row, onset: &Onset, speed: f64, settings: &Settings) -> Role {
    let reach = TOUCH_TOLERANCE * row.arm_a.length();
    if speed < -settings.impact_threshold && onset.gap + settings.substep() * speed <= reach {
        Role::Bounces(-onset.restitution * speed)
    } else if onset.gap <= reach {
        Role::Touches(-onset.restitution * speed.max(0.0))
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
