//! Stress: sums of impulse times arm of the contacts and bonds, and of what grains carry as they move, over the substeps, in the meters of
//! a world \[E17\], and the grains that come into a meter. Twin: `shaders/stress.wgsl`.
//!
//! An impulse meets the arms of the positions at which its substep began, as those of the constraint are. From there the grains move.

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use crate::contact::bonds::BondSystem;
use crate::contact::constraint::Constraint;
use crate::contact::tasks::CHUNK;
use crate::contact::velocity::Velocity;
use crate::model::{Meter, MeterSums, World, outer};

/// Contacts, or grains, that one task sums up. Sums of tasks are added in their order, so their bits do not depend on the number of
/// threads.
const AT_ONCE: usize = 4 * CHUNK;

/// Adds the impulses of these constraints to the sums of the meters. Of the bodies of a contact those count that `counts` says.
pub fn add(
    world: &World,
    constraints: &[Constraint],
    counts: impl Fn(usize) -> bool + Sync,
    totals: &mut [MeterSums],
) {
    if totals.is_empty() {
        return;
    }
    let sums_of = |part: &[Constraint]| {
        let mut sums = vec![MeterSums::ZERO; totals.len()];
        for constraint in part {
            let impulse = constraint.given().linear(constraint.normal);
            if impulse == DVec3::ZERO {
                continue;
            }
            // The impulse acts on `a`, its reverse on `b`; pressure counts as positive.
            let [a, b] = constraint.bodies.map(|body| body as usize);
            for (body, arm, impulse) in [(a, constraint.arm_a, -impulse), (b, constraint.arm_b, impulse)] {
                if counts(body) {
                    let moment = outer(arm, impulse);
                    along(world, body, arm, &mut sums, |sums, share| sums.contacts += share * moment);
                }
            }
        }
        sums
    };
    add_parts(constraints.par_chunks(AT_ONCE).map(sums_of).collect(), totals);
}

/// Adds the impulses of the bonds to the sums of the meters, and to those of all grains \[N m s\].
pub fn add_bonds(world: &World, bonds: &BondSystem, totals: &mut [MeterSums], of_grains: &mut [DMat3]) {
    if totals.is_empty() && of_grains.is_empty() {
        return;
    }
    for (body, arm, impulse, _) in bonds.impulses().flat_map(|bond| bond.on_bodies()) {
        let moment = outer(arm, -impulse);
        along(world, body, arm, totals, |sums, share| sums.contacts += share * moment);
        if let Some(total) = world.grain_of_body(body).and_then(|grain| of_grains.get_mut(grain)) {
            *total += moment;
        }
    }
}

/// Adds what the grains carry in a substep of `h` \[s\], in which they move from their present positions at these velocities, to the sums
/// of the meters, and the grains that come in. Of the bodies those count that `counts` says.
pub fn add_motion(
    world: &World,
    velocities: &[Velocity],
    h: f64,
    counts: impl Fn(usize) -> bool + Sync,
    totals: &mut [MeterSums],
) {
    if totals.is_empty() {
        return;
    }
    let sums_of = |(part, velocities): (usize, &[Velocity])| {
        let mut sums = vec![MeterSums::ZERO; totals.len()];
        let first = world.grain_body(part * AT_ONCE);
        for (body, velocity) in (first..).zip(velocities) {
            let inverse_mass = world.bodies.inverse_mass[body];
            // A grain without an inverse mass was removed.
            if inverse_mass > 0.0 && counts(body) {
                let (mass, way) = (inverse_mass.recip(), h * velocity.linear);
                let what = MeterSums::of_motion(mass, velocity.linear, h);
                along(world, body, way, &mut sums, |sums, share| *sums += what.share(share));
                count_entry(world, body, way, &mut sums, mass);
            }
        }
        sums
    };
    let grains = &velocities[world.grain_body(0)..];
    add_parts(grains.par_chunks(AT_ONCE).enumerate().map(sums_of).collect(), totals);
}

/// Adds the sums of tasks to the totals, in the order of the tasks.
fn add_parts(parts: Vec<Vec<MeterSums>>, totals: &mut [MeterSums]) {
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
                *total += outer(arm, impulse);
            }
        }
    }
}

/// Calls `add` with the sums of every bin that an arm of a body lies in, or its way, and the share of it there; boundaries count in none.
fn along(
    world: &World,
    body: usize,
    arm: DVec3,
    sums: &mut [MeterSums],
    mut add: impl FnMut(&mut MeterSums, f64),
) {
    let centre = world.bodies.position[body];
    for (first, meter) in meters_of(world, body) {
        meter.divide(&world.periodic, centre, arm, |bin, share| add(&mut sums[first + bin], share));
    }
}

/// Counts a grain of this mass \[kg\] in the regions that it comes into on its way in a substep \[m\].
fn count_entry(world: &World, body: usize, way: DVec3, sums: &mut [MeterSums], mass: f64) {
    let centre = world.bodies.position[body];
    for (first, meter) in meters_of(world, body) {
        if meter.is_entered(&world.periodic, centre, way) {
            sums[first] += MeterSums::of_entry(mass);
        }
    }
}

/// The meters of the material of a grain, each with the place of its first sum; none for a boundary.
fn meters_of(world: &World, body: usize) -> impl Iterator<Item = (usize, &Meter)> {
    let material = world.grain_of_body(body).map(|grain| world.grain_material(grain));
    let places = world.meters.iter().scan(0, |next, meter| {
        let first = *next;
        *next += meter.bins();
        Some((first, meter))
    });
    places.filter(move |(_, meter)| {
        material.is_some_and(|material| meter.material.is_none_or(|wanted| wanted == material))
    })
}
