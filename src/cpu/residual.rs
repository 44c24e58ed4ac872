//! Natural-map residual of the contact problem \[E8\].

use rayon::prelude::*;

use crate::engine::{Residuals, Spread};

use super::narrowphase::{CHUNK, Row, times_d};
use super::sweep::project;
use super::velocity::Velocity;

/// Residuals of one contact: normal \[m/s\], friction \[m/s\], rolling \[rad/s\].
pub fn of_contact(row: &Row, a: &Velocity, b: &Velocity) -> [f64; 3] {
    let velocity = row.contact_velocity(a, b);
    let closing = velocity.dot(row.normal);
    let spin = a.angular - b.angular;
    let Row { impulse, inverse_d, .. } = row;

    let step = (closing + row.sigma_n * impulse.normal - row.target) * inverse_d[0];
    let normal = (impulse.normal - (impulse.normal - step).max(0.0)).abs();
    let slip = velocity - closing * row.normal;
    let trial = impulse.tangent - slip * inverse_d[1];
    let friction = (impulse.tangent - project(trial, row.friction * impulse.normal)).length();
    let trial = impulse.rolling - spin * inverse_d[2];
    let rolling = (impulse.rolling - project(trial, row.rolling_arm * impulse.normal)).length();

    [times_d(normal, inverse_d[0]), times_d(friction, inverse_d[1]), times_d(rolling, inverse_d[2])]
}

/// Mean and maximum over all contacts. Summed task by task, so the bits do not depend on the threads.
pub fn measure(rows: &[Row], velocities: &[Velocity]) -> Residuals {
    let sums: Vec<[Spread; 3]> = rows
        .par_chunks(CHUNK)
        .map(|rows| {
            rows.iter().fold([Spread::default(); 3], |sums, row| {
                let [a, b] = row.bodies.map(|body| &velocities[body as usize]);
                let values = of_contact(row, a, b);
                add(sums, values.map(|value| Spread { mean: value, max: value }))
            })
        })
        .collect();
    let total = sums.into_iter().fold([Spread::default(); 3], add);
    let count = rows.len().max(1) as f64;
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
