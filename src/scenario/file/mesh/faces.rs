//! Faces of more than three corners, cut into triangles.

use earcut::Earcut;
use glam::{DVec2, DVec3};

/// Largest distance of a corner of a concave face from its plane, over the size of the face \[-\].
const PLANE: f64 = 1e-3;
/// Largest relative difference between the area of a face and that of its triangles \[-\].
const AREA: f64 = 1e-6;
/// Angle by which a convex outline may turn back at a corner, and by which all its turns may differ from a full one \[rad\].
const TURN: f64 = 1e-6;
/// Ratio of the area of a face to the square of its size below which it counts as a line \[-\].
const FLAT: f64 = 1e-9;

/// Triangles of a face, as indices of its corners, which turn as its outline does.
#[derive(Debug)]
pub struct FaceParts {
    /// The triangles.
    pub triangles: Vec<[usize; 3]>,
    /// Whether the face is concave.
    pub is_concave: bool,
}

/// Cuts a face. A convex face, which need not be quite plane, is cut from its first corner; a concave one by ear clipping.
pub fn cut(corners: &[DVec3]) -> Result<FaceParts, String> {
    let fan = || FaceParts {
        triangles: (1..corners.len() - 1).map(|i| [0, i, i + 1]).collect(),
        is_concave: false,
    };
    if corners.len() == 3 {
        return Ok(fan());
    }
    let centre = corners.iter().sum::<DVec3>() / corners.len() as f64;
    let size = 2.0 * corners.iter().map(|corner| corner.distance(centre)).fold(0.0, f64::max);
    let next = |i: usize| corners[(i + 1) % corners.len()];
    let area: DVec3 = (0..corners.len()).map(|i| 0.5 * (corners[i] - centre).cross(next(i) - centre)).sum();
    if area.length() <= FLAT * size * size {
        let is_line = fan().triangles.iter().all(|part| {
            let [a, b, c] = part.map(|corner| corners[corner]);
            (b - a).cross(c - a).length() <= FLAT * size * size
        });
        return if is_line { Ok(fan()) } else { Err(crossing(corners.len())) };
    }
    let normal = area.normalize();
    let (u, v) = normal.any_orthonormal_pair();
    // Seen from where the normal points, the outline turns to the left.
    let (u, v) = if u.cross(v).dot(normal) > 0.0 { (u, v) } else { (v, u) };
    let flat: Vec<DVec2> = corners
        .iter()
        .map(|corner| DVec2::new((*corner - centre).dot(u), (*corner - centre).dot(v)))
        .collect();
    if is_convex(&flat) {
        return Ok(fan());
    }
    let off = corners.iter().map(|corner| (*corner - centre).dot(normal).abs()).fold(0.0, f64::max);
    if off > PLANE * size {
        return Err(format!(
            "a concave face of {} corners is not plane: a corner is {off:.3e} off its plane; cut it into triangles",
            corners.len()
        ));
    }
    clip(&flat).map(|triangles| FaceParts { triangles, is_concave: true })
}

fn crossing(corners: usize) -> String {
    format!("the edges of a face of {corners} corners cross each other: cut it into triangles")
}

/// Whether an outline turns to the left everywhere, and once around.
fn is_convex(outline: &[DVec2]) -> bool {
    let count = outline.len();
    let edge = |i: usize| outline[(i + 1) % count] - outline[i % count];
    let turns = (0..count).map(|i| {
        let (before, after) = (edge(i), edge(i + 1));
        before.perp_dot(after).atan2(before.dot(after))
    });
    let (least, sum) = turns.fold((f64::INFINITY, 0.0), |(least, sum), turn| (turn.min(least), sum + turn));
    least > -TURN && (sum - std::f64::consts::TAU).abs() < TURN
}

/// Triangles of a concave outline.
fn clip(outline: &[DVec2]) -> Result<Vec<[usize; 3]>, String> {
    let mut found: Vec<u32> = Vec::new();
    Earcut::new().earcut(outline.iter().map(|corner| corner.to_array()), &[], &mut found);
    let turned = |part: &[u32]| {
        let corners = [part[0], part[1], part[2]].map(|corner| corner as usize);
        let [a, b, c] = corners.map(|corner| outline[corner]);
        let area = 0.5 * (b - a).perp_dot(c - a);
        (if area < 0.0 { [corners[0], corners[2], corners[1]] } else { corners }, area.abs())
    };
    let parts: Vec<([usize; 3], f64)> = found.chunks_exact(3).map(turned).collect();
    let count = outline.len();
    let whole: f64 = (0..count).map(|i| 0.5 * outline[i].perp_dot(outline[(i + 1) % count])).sum();
    let sum: f64 = parts.iter().map(|(_, area)| area).sum();
    match (sum - whole).abs() <= AREA * whole.abs() {
        true => Ok(parts.into_iter().map(|(corners, _)| corners).collect()),
        false => Err(crossing(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_that_crosses_itself_is_refused_and_a_plain_one_is_cut() {
        let around = |i: usize, radius: f64| {
            let (sine, cosine) = (std::f64::consts::TAU * i as f64 / 10.0).sin_cos();
            radius * DVec3::new(cosine, 0.6 * sine, 0.8 * sine)
        };
        let pentagram: Vec<DVec3> = (0..5).map(|i| around(4 * i, 1.0)).collect();
        assert!(cut(&pentagram).err().is_some_and(|wrong| wrong.contains("cross")));
        let star: Vec<DVec3> = (0..10).map(|i| around(i, if i % 2 == 0 { 1.0 } else { 0.4 })).collect();
        let parts = cut(&star).expect("a star");
        assert_eq!((parts.triangles.len(), parts.is_concave), (8, true));
        let convex: Vec<DVec3> = (0..10).map(|i| around(i, 1.0)).collect();
        assert!(cut(&convex).is_ok_and(|parts| !parts.is_concave && parts.triangles[7] == [0, 8, 9]));
    }
}
