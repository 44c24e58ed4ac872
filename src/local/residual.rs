//! Natural-map residual of a local problem \[E18\].

use crate::law::cone::{BoundedPart, nearest_normal};

/// |q| below which a residual is not divided by it \[m/s\].
const LEAST_SIZE: f64 = f64::EPSILON;

/// Lengths of the tangential and the rolling part of a contact.
#[inline(always)]
pub fn lengths<const D: usize>(of: &[f64; D]) -> [f64; 2] {
    let length = |part: &[f64]| part.iter().map(|x| x * x).sum::<f64>().sqrt();
    match D {
        2 => [of[1].abs(), 0.0],
        _ => [length(&of[1..D.min(3)]), length(&of[D.min(3)..])],
    }
}

/// Bound of u_N that makes Coulomb's law a condition of cones: μ |u_T| + μ_r |u_R| (de Saxcé & Feng 1998).
#[inline(always)]
pub fn lift<const D: usize>(velocity: &[f64; D], [friction, rolling]: [f64; 2]) -> f64 {
    let [slip, spin] = lengths(velocity);
    friction * slip + rolling * spin
}

/// Nearest impulse in the cone of a contact.
#[inline(always)]
pub fn into_cone<const D: usize>(mut impulse: [f64; D], [friction, rolling]: [f64; 2]) -> [f64; D] {
    let [slip, spin] = lengths(&impulse);
    let part = |slope, length| BoundedPart { slope, length, weight: 1.0 };
    let normal = nearest_normal(impulse[0], 1.0, [part(friction, slip), part(rolling, spin)]);
    impulse[0] = normal;
    let shorten = |part: &mut [f64], length: f64, bound: f64| {
        if length > bound {
            part.iter_mut().for_each(|x| *x *= bound / length);
        }
    };
    let (sliding, rolls) = impulse[1..].split_at_mut(D.min(3) - 1);
    shorten(sliding, slip, friction * normal);
    shorten(rolls, spin, rolling * normal);
    impulse
}

/// Square of the natural map of one contact, |r - P_K(r - u - `lift` n)|².
#[inline(always)]
pub fn natural_map<const D: usize>(
    impulse: &[f64; D],
    velocity: &[f64; D],
    lift: f64,
    coefficients: [f64; 2],
) -> f64 {
    let mut trial: [f64; D] = std::array::from_fn(|i| impulse[i] - velocity[i]);
    trial[0] -= lift;
    let nearest = into_cone(trial, coefficients);
    impulse.iter().zip(nearest).map(|(impulse, nearest)| (impulse - nearest).powi(2)).sum()
}

/// Residual of all contacts, from the sum of their natural maps' squares: relative to |q| \[-\].
pub fn relative(sum: f64, size: f64) -> f64 {
    if size > LEAST_SIZE { sum.sqrt() / size } else { sum.sqrt() }
}
