//! Closed meshes made to face outwards, and the pseudonormals by which a point at a seam is told to be inside or outside.

use glam::DVec3;

use super::edges::{ByEdge, edge_of, normal};
use super::{NO_SEAM, Seam, bounds_of};

/// Turns the triangles of a closed mesh around that face inwards; returns how many. The mesh as a whole has a positive volume then, and so
/// has each of its connected parts, unless the part lies within the box around a larger one and may be the wall of a cavity.
pub(super) fn turn(vertices: &[DVec3], triangles: &mut [[u32; 3]], by_edge: &ByEdge) -> usize {
    let parts = parts_of(triangles, by_edge);
    let boxes: Vec<[DVec3; 2]> = parts
        .iter()
        .map(|part| {
            let corners = part.iter().flat_map(|&triangle| triangles[triangle]);
            bounds_of(corners.map(|corner| vertices[corner as usize]))
        })
        .collect();
    let mut volumes: Vec<f64> =
        parts.iter().map(|part| volume(vertices, part.iter().map(|&triangle| triangles[triangle]))).collect();
    let faces_inwards = volumes.iter().sum::<f64>() < 0.0;
    if faces_inwards {
        volumes.iter_mut().for_each(|volume| *volume = -*volume);
    }
    let is_around = |one: usize, other: usize| {
        volumes[one] > volumes[other].abs()
            && boxes[one][0].cmple(boxes[other][0]).all()
            && boxes[one][1].cmpge(boxes[other][1]).all()
    };
    let mut turned = 0;
    for (part, members) in parts.iter().enumerate() {
        let is_alone = !(0..parts.len()).any(|other| is_around(other, part));
        if faces_inwards != (volumes[part] < 0.0 && is_alone) {
            members.iter().for_each(|&triangle| triangles[triangle].swap(1, 2));
            turned += members.len();
        }
    }
    turned
}

/// Connected parts of a mesh, as lists of triangles.
fn parts_of(triangles: &[[u32; 3]], by_edge: &ByEdge) -> Vec<Vec<usize>> {
    let mut is_listed = vec![false; triangles.len()];
    let mut parts = Vec::new();
    for first in 0..triangles.len() {
        if is_listed[first] {
            continue;
        }
        is_listed[first] = true;
        let (mut part, mut next) = (vec![first], 0);
        while let Some(&triangle) = part.get(next) {
            next += 1;
            let around = (0..3).flat_map(|i| &by_edge[&edge_of(triangles[triangle], i)]);
            for &other in around {
                if !std::mem::replace(&mut is_listed[other as usize], true) {
                    part.push(other as usize);
                }
            }
        }
        parts.push(part);
    }
    parts
}

/// Volume inside closed triangles \[m³\], negative where they face inwards.
fn volume(vertices: &[DVec3], mut triangles: impl Iterator<Item = [u32; 3]> + Clone) -> f64 {
    let Some(origin) = triangles.clone().next().map(|corners| vertices[corners[0] as usize]) else {
        return 0.0;
    };
    triangles.by_ref().fold(0.0, |sum, corners| {
        let [a, b, c] = corners.map(|corner| vertices[corner as usize] - origin);
        sum + a.dot(b.cross(c)) / 6.0
    })
}

/// Sets the pseudonormals of the seams of a closed mesh that faces outwards.
pub(super) fn set_pseudonormals(
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    seams_of: &[[u32; 6]],
    seams: &mut [Seam],
) {
    for (&corners, of) in triangles.iter().zip(seams_of) {
        let face = normal(vertices, corners);
        for i in 0..3 {
            let [here, next, last] = [0, 1, 2].map(|turn| vertices[corners[(i + turn) % 3] as usize]);
            let angle = (next - here).angle_between(last - here);
            for (seam, weight) in [(of[i], 1.0), (of[3 + i], angle)] {
                if seam != NO_SEAM {
                    seams[seam as usize].outwards += weight * face;
                }
            }
        }
    }
    for seam in seams {
        seam.outwards = seam.outwards.normalize_or_zero();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Mesh;
    use super::super::samples::box_triangles;
    use super::*;

    fn moved(triangles: &[[DVec3; 3]], by: DVec3, inwards: bool) -> Vec<[DVec3; 3]> {
        let place = |&[a, b, c]: &[DVec3; 3]| {
            let corners = if inwards { [a, c, b] } else { [a, b, c] };
            corners.map(|corner| corner + by)
        };
        triangles.iter().map(place).collect()
    }

    #[test]
    fn a_part_that_faces_inwards_is_turned_around_and_the_wall_of_a_cavity_is_not() {
        let (large, small) = (box_triangles(DVec3::splat(2.0)), box_triangles(DVec3::ONE));
        let mesh = |parts: [Vec<[DVec3; 3]>; 2]| {
            let mesh = Mesh::new("two", &parts.concat()).expect("a mesh");
            (mesh.defects.turned_around, mesh.solid().volume.round())
        };
        let (here, aside) = (DVec3::ZERO, 9.0 * DVec3::X);
        assert_eq!(mesh([moved(&large, here, false), moved(&small, aside, true)]), (12, 72.0));
        assert_eq!(mesh([moved(&large, here, false), moved(&small, here, true)]), (0, 56.0));
        assert_eq!(mesh([moved(&large, here, true), moved(&small, here, false)]), (24, 56.0));
        assert_eq!(mesh([moved(&large, here, true), moved(&small, aside, true)]), (24, 72.0));
        assert_eq!(mesh([moved(&large, here, true), moved(&small, aside, false)]), (12, 72.0));
    }

    #[test]
    fn a_point_is_inside_where_its_nearest_point_says_so_at_edges_and_vertices_too() {
        // A wedge of 20°: at its sharp edge the normals of its faces lean away from each other by 160°.
        let (sine, cosine) = 10_f64.to_radians().sin_cos();
        let [low, high] = [-1.0, 1.0]
            .map(|y| [DVec3::new(0.0, y, 0.0), DVec3::new(cosine, y, sine), DVec3::new(cosine, y, -sine)]);
        let [[a, b, c], [d, e, f]] = [low, high];
        let triangles =
            [[a, b, c], [d, f, e], [a, d, e], [a, e, b], [b, e, f], [b, f, c], [c, f, d], [c, d, a]];
        let wedge = Mesh::new("wedge", &triangles).expect("a mesh");
        assert!(wedge.is_solid && wedge.seams.iter().all(|seam| seam.outwards.is_normalized()));
        let (mut inside, mut at_seams) = (0, 0);
        for i in 0..4000 {
            let place =
                f64::from(i + 1) * DVec3::new(0.819_172_513_396, 0.671_043_606_704, 0.549_700_477_902);
            let point =
                3.0 * (place - place.floor()) * DVec3::new(0.6, 1.0, 0.3) - DVec3::new(0.4, 1.5, 0.45);
            let all = (0..wedge.patches.len()).filter_map(|patch| wedge.nearest(patch, point, 9.0));
            let nearest = all.reduce(|a, b| if b.distance < a.distance { b } else { a }).expect("a patch");
            assert_eq!(nearest.is_inside, wedge.encloses(point), "{point}");
            inside += usize::from(nearest.is_inside);
            at_seams += usize::from(nearest.seam != NO_SEAM);
        }
        assert!(inside > 100 && at_seams > 1000, "{inside} inside, {at_seams} at seams");
    }
}
