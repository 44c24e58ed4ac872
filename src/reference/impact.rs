//! Impact stage \[E6\]: touching contacts that close faster than the threshold bounce first.
//!
//! The impulses of this stage change velocities only; they are never a warm start.

use rayon::prelude::*;

use crate::contact::{Colouring, Impulse};
use crate::settings::Settings;

use super::narrowphase::{CHUNK, FAR, Law, Row, times_d};
use super::sweep;
use super::velocity::Velocity;

/// Solves the impacts, if there are any. Leaves impulses and coefficients of the rows as they were, and
/// returns the rows that were solved in their stead, with the impulses of the impacts.
///
/// # Safety
/// As [`sweep::for_each_contact`].
pub unsafe fn solve(
    law: &Law,
    settings: &Settings,
    colouring: &Colouring,
    rows: &mut [Row],
    velocities: &mut [Velocity],
) -> Vec<Row> {
    let speeds: Vec<f64> = rows.par_iter().with_min_len(CHUNK).map(|row| closing(row, velocities)).collect();
    let bounces = |row: &Row, speed: f64| row.touches() && speed < -settings.impact_threshold;
    if !rows.iter().zip(&speeds).any(|(row, &speed)| bounces(row, speed)) {
        return Vec::new();
    }
    let mut impacts: Vec<Row> = rows
        .iter()
        .zip(&speeds)
        .map(|(row, &speed)| {
            impact_row(row, if bounces(row, speed) { -row.restitution * speed } else { 0.0 })
        })
        .collect();
    // SAFETY: by the caller's promise; the rows made over have the bodies of the rows.
    unsafe {
        sweep::solve(law, colouring, &mut impacts, velocities, settings.iterations, settings.tolerance);
    }
    impacts
}

fn closing(row: &Row, velocities: &[Velocity]) -> f64 {
    let [a, b] = row.bodies.map(|body| &velocities[body as usize]);
    row.contact_velocity(a, b).dot(row.normal)
}

/// The row as the impact stage solves it: rigid, from zero, to leave at `target`; a contact that does
/// not touch takes no part.
fn impact_row(row: &Row, target: f64) -> Row {
    let rigid = times_d(1.0, row.inverse_d[0]) - row.sigma_n;
    Row {
        impulse: Impulse::default(),
        sigma_n: 0.0,
        inverse_d: [if rigid > 0.0 { 1.0 / rigid } else { 0.0 }, row.inverse_d[1], row.inverse_d[2]],
        target: if row.touches() { target } else { FAR },
        ..*row
    }
}
