//! Natural-map residual of the contact problem \[E8\].

use rayon::prelude::*;

use crate::engine::{Residuals, Spread};

use super::narrowphase::{CHUNK, Constraint, times_d};
use super::sweep::project;
use super::velocity::Velocity;

/// Residuals of one contact: normal \[m/s\], friction \[m/s\], rolling \[rad/s\].
pub fn of_contact(constraint: &Constraint, a: &Velocity, b: &Velocity) -> [f64; 3] {
    let velocity = constraint.contact_velocity(a, b);
    let closing = velocity.dot(constraint.normal);
    let spin = a.angular - b.angular;
    let Constraint { impulse, effective_mass, .. } = constraint;

    let step = (closing + constraint.compliance * impulse.normal - constraint.bias) * effective_mass[0];
    let normal = (impulse.normal - (impulse.normal - step).max(0.0)).abs();
    let slip = velocity - closing * constraint.normal;
    let trial = impulse.tangent - slip * effective_mass[1];
    let friction = (impulse.tangent - project(trial, constraint.friction * impulse.normal)).length();
    let trial = impulse.rolling - spin * effective_mass[2];
    let rolling = (impulse.rolling - project(trial, constraint.rolling_arm * impulse.normal)).length();

    [
        times_d(normal, effective_mass[0]),
        times_d(friction, effective_mass[1]),
        times_d(rolling, effective_mass[2]),
    ]
}

/// Mean and maximum over all contacts. Summed task by task, so the bits do not depend on the threads.
pub fn measure(constraints: &[Constraint], velocities: &[Velocity]) -> Residuals {
    let sums: Vec<[Spread; 3]> = constraints
        .par_chunks(CHUNK)
        .map(|constraints| {
            constraints.iter().fold([Spread::default(); 3], |sums, constraint| {
                let [a, b] = constraint.bodies.map(|body| &velocities[body as usize]);
                let values = of_contact(constraint, a, b);
                add(sums, values.map(|value| Spread { mean: value, max: value }))
            })
        })
        .collect();
    let total = sums.into_iter().fold([Spread::default(); 3], add);
    let count = constraints.len().max(1) as f64;
    let [normal, friction, rolling] = total.map(|sum| Spread { mean: sum.mean / count, max: sum.max });
    Residuals { normal, friction, rolling }
}

/// Adds sums (in `mean`) and joins maxima.
fn add(mut into: [Spread; 3], from: [Spread; 3]) -> [Spread; 3] {
    for (into, from) in into.iter_mut().zip(from) {
        into.mean += from.mean;
        into.max = into.max.max(from.max);
    }
    into
}
