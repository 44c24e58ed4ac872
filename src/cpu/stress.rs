//! Stress: sums of impulse times arm of the contacts, over the substeps, in the meters of a world \[E17\]. Twin: `shaders/stress.wgsl`.
//!
//! An impulse meets the arms of the positions at which its substep began, as those of the constraint are.

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use crate::contact::constraint::Constraint;
use crate::contact::tasks::CHUNK;
use crate::model::{Meter, World};

/// Contacts that one task sums up. Sums of tasks are added in their order, so their bits do not depend on the number of threads.
const AT_ONCE: usize = 4 * CHUNK;

/// Adds the impulses of these constraints to the sums of the meters \[N m s\]. Of the bodies of a contact those count that `counts` says.
pub fn add(
    world: &World,
    constraints: &[Constraint],
    counts: impl Fn(usize) -> bool + Sync,
    totals: &mut [DMat3],
) {
    if totals.is_empty() {
        return;
    }
    let sums_of = |part: &[Constraint]| {
        let mut sums = vec![DMat3::ZERO; totals.len()];
        for constraint in part {
            let impulse = constraint.given().linear(constraint.normal);
            if impulse == DVec3::ZERO {
                continue;
            }
            // The impulse acts on `a`, its reverse on `b`; pressure counts as positive.
            let [a, b] = constraint.bodies.map(|body| body as usize);
            for (body, arm, impulse) in [(a, constraint.arm_a, -impulse), (b, constraint.arm_b, impulse)] {
                if counts(body) {
                    add_arm(world, body, (arm, impulse), &mut sums);
                }
            }
        }
        sums
    };
    let parts: Vec<Vec<DMat3>> = constraints.par_chunks(AT_ONCE).map(sums_of).collect();
    for part in parts {
        totals.iter_mut().zip(part).for_each(|(total, sum)| *total += sum);
    }
}

/// Adds the impulses of these constraints to the sums of all grains \[N m s\].
pub fn add_to_grains(world: &World, constraints: &[Constraint], totals: &mut [DMat3]) {
    if totals.is_empty() {
        return;
    }
    for constraint in constraints {
        let impulse = constraint.given().linear(constraint.normal);
        let [a, b] = constraint.bodies.map(|body| world.grain_of_body(body as usize));
        for (grain, arm, impulse) in [(a, constraint.arm_a, -impulse), (b, constraint.arm_b, impulse)] {
            if let Some(total) = grain.and_then(|grain| totals.get_mut(grain)) {
                *total += moment_of(arm, impulse);
            }
        }
    }
}

/// Product of an arm and an impulse, arm impulseᵀ.
fn moment_of(arm: DVec3, impulse: DVec3) -> DMat3 {
    DMat3::from_cols(arm * impulse.x, arm * impulse.y, arm * impulse.z)
}

/// Adds arm times impulse of one body of a contact to the meters that count it; boundaries count in none.
fn add_arm(world: &World, body: usize, (arm, impulse): (DVec3, DVec3), sums: &mut [DMat3]) {
    let Some(grain) = world.grain_of_body(body) else { return };
    let moment = moment_of(arm, impulse);
    let mut first = 0;
    for meter in &world.meters {
        if meter.material.is_none_or(|wanted| wanted == world.grain_material(grain)) {
            add_to(meter, world, body, (arm, moment), &mut sums[first..]);
        }
        first += meter.bins();
    }
}

fn add_to(meter: &Meter, world: &World, body: usize, (arm, moment): (DVec3, DMat3), sums: &mut [DMat3]) {
    let centre = world.bodies.position[body];
    meter.divide(&world.periodic, centre, arm, |bin, share| sums[bin] += share * moment);
}
