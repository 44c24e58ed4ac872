//! Nearest points of two solids without their roundings, by trying all edges of both and all corners over faces.

use glam::DVec3;

use super::convex::{Convex, SolidFace};
use super::pair::Pair;

/// Nearest points of a and of b, in the frame of a \[m\]; `None` if the solids overlap.
pub(super) fn nearest_points(pair: &Pair<'_>) -> Option<[DVec3; 2]> {
    let (a, b) = (pair.a, pair.b);
    let (into_b, into_a) = (|point: DVec3| pair.point_in_b(point), |point: DVec3| pair.point_in_a(point));
    let mut best: (f64, [DVec3; 2]) = (f64::INFINITY, [DVec3::ZERO; 2]);
    let mut take = |points: [DVec3; 2]| {
        let distance = points[0].distance_squared(points[1]);
        if distance < best.0 {
            best = (distance, points);
        }
    };
    let corners_b: Vec<DVec3> = b.corners.iter().map(|&corner| into_a(corner)).collect();
    for &corner in &a.corners {
        let local = into_b(corner);
        if !b.faces.is_empty() && b.faces.iter().all(|face| height(face, local) < 0.0) {
            return None;
        }
        if let Some(foot) = foot_on_face(b, local) {
            take([corner, into_a(foot)]);
        }
        corners_b.iter().for_each(|&other| take([corner, other]));
        for edge in &b.edges {
            let [from, to] = edge.ends.map(|end| corners_b[end as usize]);
            take([corner, on_segment(corner, from, to)]);
        }
    }
    for &corner in &corners_b {
        if !a.faces.is_empty() && a.faces.iter().all(|face| height(face, corner) < 0.0) {
            return None;
        }
        if let Some(foot) = foot_on_face(a, corner) {
            take([foot, corner]);
        }
        for edge in &a.edges {
            let [from, to] = edge.ends.map(|end| a.corners[end as usize]);
            take([on_segment(corner, from, to), corner]);
        }
    }
    for edge_a in &a.edges {
        let [from_a, to_a] = edge_a.ends.map(|end| a.corners[end as usize]);
        for edge_b in &b.edges {
            let [from_b, to_b] = edge_b.ends.map(|end| corners_b[end as usize]);
            if let Some(points) = between_lines(from_a, to_a, from_b, to_b) {
                take(points);
            }
        }
    }
    Some(best.1)
}

fn height(face: &SolidFace, point: DVec3) -> f64 {
    face.normal.dot(point) - face.offset
}

/// Point of a face right below a point that is outside of the solid, if there is one.
fn foot_on_face(solid: &Convex, point: DVec3) -> Option<DVec3> {
    solid.faces.iter().find_map(|face| {
        let above = height(face, point);
        let foot = point - above * face.normal;
        let corners: Vec<DVec3> = solid.face_corners(face).collect();
        let is_within = (0..corners.len()).all(|i| {
            let (from, to) = (corners[i], corners[(i + 1) % corners.len()]);
            (to - from).cross(foot - from).dot(face.normal) >= 0.0
        });
        (above >= 0.0 && is_within).then_some(foot)
    })
}

fn on_segment(point: DVec3, from: DVec3, to: DVec3) -> DVec3 {
    let edge = to - from;
    let length_squared = edge.length_squared();
    if length_squared == 0.0 {
        return from;
    }
    from + edge * ((point - from).dot(edge) / length_squared).clamp(0.0, 1.0)
}

/// Nearest points of two segments where both lie between their ends; parallel segments are nearest at an end.
fn between_lines(from_a: DVec3, to_a: DVec3, from_b: DVec3, to_b: DVec3) -> Option<[DVec3; 2]> {
    let (along_a, along_b, apart) = (to_a - from_a, to_b - from_b, from_a - from_b);
    let (aa, bb, ab) = (along_a.length_squared(), along_b.length_squared(), along_a.dot(along_b));
    let (a, b) = (along_a.dot(apart), along_b.dot(apart));
    let determinant = aa * bb - ab * ab;
    if determinant <= 1e-12 * aa * bb {
        return None;
    }
    let s = (ab * b - bb * a) / determinant;
    let t = (aa * b - ab * a) / determinant;
    let is_within = (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t);
    is_within.then(|| [from_a + s * along_a, from_b + t * along_b])
}
