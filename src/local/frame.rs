//! Constraints of a local problem: contacts with normal x and tangents y and z, whose bodies are rows of W.

use glam::DVec3;

use crate::contact::Impulse;
use crate::contact::constraint::{Constraint, Response};

use super::LocalProblem;

/// Impulse, or velocity, of a contact with normal x and tangents y and z.
#[inline(always)]
pub fn in_frame<const D: usize>(numbers: &[f64; D]) -> Impulse {
    let at = |i: usize| numbers.get(i).copied().unwrap_or(0.0);
    Impulse { normal: at(0), tangent: DVec3::new(0.0, at(1), at(2)), rolling: DVec3::new(0.0, at(3), at(4)) }
}

/// Numbers of an impulse in the frame of its contact.
#[inline(always)]
pub fn numbers_of<const D: usize>(impulse: &Impulse) -> [f64; D] {
    let Impulse { normal, tangent, rolling } = impulse;
    let all = [*normal, tangent.y, tangent.z, rolling.y, rolling.z];
    std::array::from_fn(|i| all[i])
}

/// Contact velocity of the engine, a vector, from the velocity in the frame of the contact.
#[inline(always)]
pub fn as_vector(velocity: &Impulse) -> DVec3 {
    velocity.linear(DVec3::X)
}

/// Response of a contact: 1/D of its normal, friction and rolling constraints \[E5\], and the slip by a normal impulse.
pub fn response<const D: usize>(block: &[[f64; D]; D]) -> Response {
    let at = |i: usize, j: usize| if i.max(j) < D { block[i][j] } else { 0.0 };
    let diagonal =
        [at(0, 0), largest_of(at(1, 1), at(1, 2), at(2, 2)), largest_of(at(3, 3), at(3, 4), at(4, 4))];
    Response {
        slip: DVec3::new(0.0, at(1, 0), at(2, 0)),
        effective_mass: diagonal.map(|d| if d > 0.0 { 1.0 / d } else { 0.0 }),
    }
}

/// Larger eigenvalue of a symmetric matrix of two rows.
fn largest_of(xx: f64, xy: f64, yy: f64) -> f64 {
    0.5 * (xx + yy) + (0.25 * (xx - yy) * (xx - yy) + xy * xy).sqrt()
}

/// Constraints of the contacts of a problem, with these impulses.
pub(super) fn constraints<const D: usize>(problem: &LocalProblem, impulses: &[[f64; D]]) -> Vec<Constraint> {
    let rows = problem.matrix.rows::<D>();
    let of = |(row, impulse): (usize, &[f64; D])| Constraint {
        normal: DVec3::X,
        effective_mass: response(rows.diagonal(row)).effective_mass,
        friction: problem.friction[row],
        rolling_arm: problem.rolling[row],
        impulse: in_frame(impulse),
        ..Constraint::default()
    };
    impulses.iter().enumerate().map(of).collect()
}
