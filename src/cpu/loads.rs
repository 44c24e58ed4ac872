//! Loads: what contacts give the boundaries, summed up over the substeps. Twin: `shaders/loads.wgsl`.
//!
//! Contacts with boundaries are few, so they are summed up one after the other.

use rayon::prelude::*;

use crate::contact::{Colouring, Key};
use crate::engine::TotalImpulse;
use crate::model::World;

use super::narrowphase::{CHUNK, Row};

/// Rows of the contacts in which a boundary takes part.
pub fn rows_of_boundaries(world: &World, keys: &[Key], colouring: &Colouring) -> Vec<u32> {
    let first_grain = world.first_grain_shape();
    let row = |(row, &contact): (usize, &u32)| {
        let Key { a, b } = keys[contact as usize];
        (a.min(b) < first_grain).then_some(row as u32)
    };
    colouring.order.par_iter().enumerate().with_min_len(CHUNK).filter_map(row).collect()
}

/// Adds the impulses of these rows.
pub fn add<'a>(rows: impl Iterator<Item = &'a Row>, totals: &mut [TotalImpulse]) {
    for row in rows {
        let (linear, rolling) = (row.impulse.linear(row.normal), row.impulse.rolling);
        // The impulse acts on `a`, its reverse on `b`; `a` is a boundary when it is a vertex of one.
        for (body, arm, sign) in [(row.bodies[0], row.arm_a, 1.0), (row.bodies[1], row.arm_b, -1.0)] {
            if let Some(total) = totals.get_mut(body as usize) {
                *total +=
                    TotalImpulse { linear: sign * linear, angular: sign * (arm.cross(linear) + rolling) };
            }
        }
    }
}

/// Adds the impulses of a round of impacts.
pub fn add_impacts(impacts: &[Row], totals: &mut [TotalImpulse]) {
    let boundaries = totals.len();
    let is_loaded = |row: &&Row| row.bodies.iter().any(|&body| (body as usize) < boundaries);
    let rows: Vec<&Row> = impacts.par_iter().with_min_len(CHUNK).filter(is_loaded).collect();
    add(rows.into_iter(), totals);
}
