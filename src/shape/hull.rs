//! Convex hull of a few points.

use glam::DVec3;

use super::build::SolidError;
use super::convex::Convex;

/// Largest number of points whose hull is looked for: all triples are tried.
pub const MOST_HULL_POINTS: usize = 200;
/// Height above a face below which a point is on it, over the size of the hull \[-\]: coordinates of STL files are in single precision.
const FLAT: f64 = 1e-6;

/// A face: outward normal, offset along it, and the points on it.
type HullFace = (DVec3, f64, Vec<u32>);

impl Convex {
    /// The convex hull of points. A face is a plane through three of them with no point beyond it; all points on it are its corners.
    ///
    /// # Errors
    /// If all points are in one plane.
    ///
    /// # Panics
    /// With more than [`MOST_HULL_POINTS`] points.
    pub fn hull(points: &[DVec3]) -> Result<Convex, SolidError> {
        assert!(points.len() <= MOST_HULL_POINTS, "all triples of points are tried");
        let middle = points.iter().sum::<DVec3>() / points.len() as f64;
        let size = points.iter().map(|point| point.distance(middle)).fold(0.0, f64::max);
        let mut faces: Vec<HullFace> = Vec::new();
        for (i, &first) in points.iter().enumerate() {
            for (j, &second) in points.iter().enumerate().skip(i + 1) {
                for &third in &points[j + 1..] {
                    let across = (second - first).cross(third - first);
                    let Some(normal) =
                        across.try_normalize().filter(|_| across.length() > FLAT * size * size)
                    else {
                        continue;
                    };
                    for normal in [normal, -normal] {
                        take_face(points, normal, normal.dot(first), FLAT * size, &mut faces);
                    }
                }
            }
        }
        let loops: Vec<Vec<u32>> = faces.iter().map(|face| around(points, face)).collect();
        Convex::inside(points, &loops)
    }
}

/// Takes a plane as a face if no point is beyond it and it is not known yet.
fn take_face(points: &[DVec3], normal: DVec3, offset: f64, flat: f64, faces: &mut Vec<HullFace>) {
    let height = |point: &DVec3| normal.dot(*point) - offset;
    let is_known =
        |(other, at, _): &HullFace| other.dot(normal) > 1.0 - 1e-9 && (at - offset).abs() <= 2.0 * flat;
    if points.iter().any(|point| height(point) > flat) || faces.iter().any(is_known) {
        return;
    }
    let on_it = (0..).zip(points).filter(|(_, point)| height(point) >= -flat).map(|(i, _)| i).collect();
    faces.push((normal, offset, on_it));
}

/// The corners of a face, counter-clockwise seen from outside. Points on its sides and inside of it are left out.
fn around(points: &[DVec3], (normal, _, on_it): &HullFace) -> Vec<u32> {
    let (first, second) = normal.any_orthonormal_pair();
    let flat = |i: u32| {
        let point = points[i as usize];
        glam::DVec2::new(point.dot(first), point.dot(second))
    };
    // A walk along the border: from each corner to the point that has all others on its left.
    let start = on_it.iter().copied().min_by(|&a, &b| {
        let (a, b) = (flat(a), flat(b));
        a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y))
    });
    let Some(start) = start else { return Vec::new() };
    let mut corners = vec![start];
    loop {
        let here = flat(corners[corners.len() - 1]);
        let next = on_it.iter().copied().filter(|&i| flat(i).distance(here) > 0.0).reduce(|best, other| {
            let (best_way, other_way) = (flat(best) - here, flat(other) - here);
            let turn = best_way.perp_dot(other_way);
            let slack = 1e-9 * best_way.length() * other_way.length();
            let is_farther = turn.abs() <= slack && other_way.length() > best_way.length();
            if turn < -slack || is_farther { other } else { best }
        });
        match next {
            Some(next) if next != start && corners.len() <= on_it.len() => corners.push(next),
            _ => return corners,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hull_of_a_cube_with_points_inside_and_on_its_faces_is_the_cube() {
        let mut points = Convex::cuboid(DVec3::new(1.0, 2.0, 3.0)).corners;
        points.extend([
            DVec3::ZERO,
            DVec3::new(1.0, 0.3, 0.2),
            DVec3::new(1.0, 2.0, 0.5),
            DVec3::new(0.2, 0.1, 0.5),
        ]);
        let hull = Convex::hull(&points).expect("a hull");
        assert_eq!((hull.corners.len(), hull.faces.len(), hull.edges.len()), (8, 6, 12));
        assert_eq!(Convex::hull(&points[..4]), Err(SolidError::Flat), "a face alone");
    }

    #[test]
    fn all_points_are_inside_of_their_hull() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / f64::from(1 << 24) - 0.5
        };
        for count in [4, 7, 20, 60] {
            let points: Vec<DVec3> = (0..count).map(|_| DVec3::new(next(), next(), next())).collect();
            let hull = Convex::hull(&points).expect("a hull");
            assert!(points.iter().all(|&point| hull.height_over_faces(point) < 1e-9));
            // Euler's formula.
            assert_eq!(hull.corners.len() + hull.faces.len(), hull.edges.len() + 2);
        }
    }
}
