//! The points of a triangle and of a patch that are nearest to a given point.

use glam::DVec3;

use super::{Mesh, NO_SEAM};

/// Feature of a triangle that its nearest point lies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// Its face.
    Face,
    /// Edge from the corner with this index to the next.
    Edge(usize),
    /// Corner with this index.
    Corner(usize),
}

/// The point of a patch that is nearest to a given point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// Distance \[m\].
    pub distance: f64,
    /// Normal, from the patch to the point.
    pub normal: DVec3,
    /// Seam of the mesh that the nearest point lies on, or [`NO_SEAM`].
    pub seam: u32,
    /// Normal of the triangle that the nearest point lies on, whichever side the given point is on.
    pub face: DVec3,
    /// Signed height of the given point over the plane of that triangle, along `face` \[m\].
    pub height: f64,
    /// Whether the given point is inside of a closed mesh, if no other of its points is nearer than this one.
    pub is_inside: bool,
}

impl Nearest {
    /// Whether a contact with this normal is with a seam, and not with a face that ends there.
    pub fn is_edge_for(&self, normal: DVec3) -> bool {
        /// Square of the sine of the angle up to which normals are the same \[-\].
        const SAME: f64 = 8e-7;
        self.seam != NO_SEAM && normal.cross(self.face).length_squared() > SAME
    }
}

/// Returns the nearest point of a triangle and its feature (Ericson, Real-Time Collision Detection, 2005, section 5.1.5).
pub fn nearest_on_triangle(point: DVec3, [a, b, c]: [DVec3; 3]) -> (DVec3, Feature) {
    let (ab, ac, ap) = (b - a, c - a, point - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, Feature::Corner(0));
    }
    let bp = point - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, Feature::Corner(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (a + d1 / (d1 - d3) * ab, Feature::Edge(0));
    }
    let cp = point - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, Feature::Corner(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (a + d2 / (d2 - d6) * ac, Feature::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return (b + (d4 - d3) / ((d4 - d3) + (d5 - d6)) * (c - b), Feature::Edge(1));
    }
    let scale = 1.0 / (va + vb + vc);
    (a + vb * scale * ab + vc * scale * ac, Feature::Face)
}

impl Mesh {
    /// Returns the point of a patch that is nearest to `point`; `None` if the patch is further than `reach` \[m\].
    pub fn nearest(&self, patch: usize, point: DVec3, reach: f64) -> Option<Nearest> {
        let mut best = (reach * reach, None);
        let mut node = self.patches[patch].first_node;
        while node < self.patches[patch].end_node {
            let here = &self.nodes[node as usize];
            if here.distance_squared(point) > best.0 {
                node = here.escape;
                continue;
            }
            for triangle in here.first..here.first + here.count {
                let (place, feature) = nearest_on_triangle(point, self.corners(triangle as usize));
                let squared = place.distance_squared(point);
                if squared < best.0 || (best.1.is_none() && squared <= best.0) {
                    best = (squared, Some((triangle as usize, place, feature)));
                }
            }
            node += 1;
        }
        best.1.map(|(triangle, place, feature)| self.nearest_at(triangle, point, place, feature))
    }

    fn nearest_at(&self, triangle: usize, point: DVec3, place: DVec3, feature: Feature) -> Nearest {
        let seams = self.triangles[triangle].seams;
        let apart = point - place;
        let distance = apart.length();
        let seam = match feature {
            Feature::Face => NO_SEAM,
            Feature::Edge(edge) => seams[edge],
            Feature::Corner(corner) => seams[3 + corner],
        };
        let [a, b, c] = self.corners(triangle);
        let face = (b - a).cross(c - a).normalize();
        let height = face.dot(point - a);
        // Over a face the normal is that of the triangle, equal to the last digit for all triangles of a flat part of the mesh.
        if feature != Feature::Face && distance > 0.0 {
            let is_inside = match seam {
                NO_SEAM => height < 0.0,
                seam => apart.dot(self.seams[seam as usize].outwards) < 0.0,
            };
            return Nearest { distance, normal: apart / distance, seam, face, height, is_inside };
        }
        let is_inside = height < 0.0;
        let normal = if is_inside { -face } else { face };
        Nearest { distance: height.abs(), normal, seam, face, height, is_inside }
    }

    /// Calls `visit` with every patch that is at most `reach` from `point` \[m\], in the order of the tree.
    pub fn for_each_near(&self, point: DVec3, reach: f64, mut visit: impl FnMut(u32)) {
        let limit = reach * reach;
        let mut node = 0;
        while let Some(here) = self.nodes.get(node) {
            if here.distance_squared(point) > limit {
                node = here.escape as usize;
                continue;
            }
            node += 1;
            for triangle in here.first as usize..(here.first + here.count) as usize {
                let (place, _) = nearest_on_triangle(point, self.corners(triangle));
                if place.distance_squared(point) <= limit {
                    let patch = self.triangles[triangle].patch;
                    visit(patch);
                    node = self.patches[patch as usize].end_node as usize;
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{cube, sheet, tube};
    use super::*;

    /// Points that fill a box evenly, from a sequence of low discrepancy.
    fn places(count: usize, half: f64) -> impl Iterator<Item = DVec3> {
        (0..count).map(move |i| {
            let place =
                (1.0 + i as f64) * DVec3::new(0.819_172_513_396, 0.671_043_606_704, 0.549_700_477_902);
            half * (2.0 * (place - place.floor()) - 1.0)
        })
    }

    #[test]
    fn the_nearest_point_of_a_triangle_is_in_it_and_no_other_is_nearer() {
        let corners = [DVec3::new(0.1, 0.0, 0.2), DVec3::new(1.0, 0.3, 0.0), DVec3::new(0.2, 0.9, -0.4)];
        let mut features = std::collections::BTreeSet::new();
        for point in places(400, 2.0) {
            let (nearest, feature) = nearest_on_triangle(point, corners);
            features.insert(format!("{feature:?}"));
            for (u, v) in (0..=20).flat_map(|i| (0..=20 - i).map(move |j| (i, j))) {
                let (u, v) = (f64::from(u) / 20.0, f64::from(v) / 20.0);
                let other = corners[0] + u * (corners[1] - corners[0]) + v * (corners[2] - corners[0]);
                assert!(nearest.distance(point) <= other.distance(point) + 1e-12);
            }
        }
        assert_eq!(features.len(), 7, "{features:?}");
    }

    #[test]
    fn the_tree_finds_what_trying_every_triangle_finds() {
        let tube = Mesh::new("tube", &tube(1.0, 1.5, 90, 4)).expect("a mesh");
        for mesh in [tube, cube(), sheet(1.0, 7)] {
            for point in places(200, 1.6) {
                let near = |patch: u32, triangle: usize| {
                    let (place, _) = nearest_on_triangle(point, mesh.corners(triangle));
                    (mesh.triangles[triangle].patch == patch).then(|| place.distance(point))
                };
                let of_patch = |patch: u32| {
                    (0..mesh.triangles.len())
                        .filter_map(|triangle| near(patch, triangle))
                        .fold(f64::INFINITY, f64::min)
                };
                let reach = 0.5;
                let all = 0..mesh.patches.len() as u32;
                let expected: Vec<u32> = all.clone().filter(|&patch| of_patch(patch) <= reach).collect();
                let mut found = Vec::new();
                mesh.for_each_near(point, reach, |patch| found.push(patch));
                found.sort_unstable();
                assert_eq!(found, expected);
                for patch in all {
                    let nearest = mesh.nearest(patch as usize, point, reach).map(|nearest| nearest.distance);
                    let distance = Some(of_patch(patch)).filter(|&distance| distance <= reach);
                    approx::assert_abs_diff_eq!(
                        nearest.unwrap_or(9.0),
                        distance.unwrap_or(9.0),
                        epsilon = 1e-12
                    );
                }
            }
        }
    }

    #[test]
    fn a_seam_is_told_where_patches_meet_and_not_within_one() {
        let cube = cube();
        let on_face = (0..6).filter_map(|patch| cube.nearest(patch, DVec3::new(0.0, 0.0, 1.3), 0.5));
        let on_face: Vec<Nearest> = on_face.collect();
        let height = 0.30000000000000004;
        let (normal, face) = (DVec3::Z, DVec3::Z);
        assert_eq!(
            on_face,
            [Nearest { distance: height, normal, seam: NO_SEAM, face, height, is_inside: false }]
        );
        let at_edge = (0..6).filter_map(|patch| cube.nearest(patch, DVec3::new(1.3, 0.0, 1.4), 0.6));
        let at_edge: Vec<Nearest> = at_edge.collect();
        assert_eq!(at_edge.len(), 2);
        assert!(
            at_edge.iter().all(|nearest| nearest.seam != NO_SEAM && (nearest.distance - 0.5).abs() < 1e-15)
        );
        assert_eq!(at_edge[0].seam, at_edge[1].seam);
    }
}
