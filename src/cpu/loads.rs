//! Loads: impulses of contacts and bonds on boundaries, summed up over the substeps. Twin: `shaders/loads.wgsl`.
//!
//! Contacts with boundaries are few, so they are summed up one after the other.

use rayon::prelude::*;

use crate::contact::bonds::BondSystem;
use crate::contact::constraint::Constraint;
use crate::contact::tasks::CHUNK;
use crate::contact::{Colouring, Key};
use crate::engine::TotalImpulse;
use crate::model::World;

/// Indices of the constraints, in solving order, in which a boundary takes part.
pub fn constraints_of_boundaries(world: &World, keys: &[Key], colouring: &Colouring) -> Vec<u32> {
    let first_grain = world.first_grain_shape();
    let constraint = |(constraint, &contact): (usize, &u32)| {
        let Key { a, b } = keys[contact as usize];
        (a.min(b) < first_grain).then_some(constraint as u32)
    };
    colouring.order.par_iter().enumerate().with_min_len(CHUNK).filter_map(constraint).collect()
}

/// Adds the impulses of these constraints to the totals of the boundaries.
pub fn add<'a>(constraints: impl Iterator<Item = &'a Constraint>, totals: &mut [TotalImpulse]) {
    for constraint in constraints {
        let given = constraint.given();
        let (linear, rolling) = (given.linear(constraint.normal), given.rolling);
        // The impulse acts on `a`, its reverse on `b`; `a` is a boundary when it is a vertex of one.
        for (body, arm, sign) in
            [(constraint.bodies[0], constraint.arm_a, 1.0), (constraint.bodies[1], constraint.arm_b, -1.0)]
        {
            if let Some(total) = totals.get_mut(body as usize) {
                *total +=
                    TotalImpulse { linear: sign * linear, angular: sign * (arm.cross(linear) + rolling) };
            }
        }
    }
}

/// Adds the impulses of the bonds to the totals of the boundaries.
pub fn add_bonds(bonds: &BondSystem, totals: &mut [TotalImpulse]) {
    for (body, _, linear, angular) in bonds.impulses().flat_map(|bond| bond.on_bodies()) {
        if let Some(total) = totals.get_mut(body) {
            *total += TotalImpulse { linear, angular };
        }
    }
}

/// Adds the impulses of a round of impacts to the totals of the boundaries.
pub fn add_impacts(impacts: &[Constraint], totals: &mut [TotalImpulse]) {
    let boundaries = totals.len();
    let is_loaded =
        |constraint: &&Constraint| constraint.bodies.iter().any(|&body| (body as usize) < boundaries);
    let constraints: Vec<&Constraint> = impacts.par_iter().with_min_len(CHUNK).filter(is_loaded).collect();
    add(constraints.into_iter(), totals);
}
