//! Construction of a mesh: corners at the same place become one vertex, smooth neighbouring triangles one patch.

use std::collections::HashMap;

use glam::DVec3;

use super::edges::{Edge, edge_of, normal};
use super::facets::Neighbours;
use super::weld::weld;
use super::{
    Mesh, NO_SEAM, Patch, SHARP_ANGLE_DEG, SMOOTH_ANGLE_DEG, Seam, Triangle, bounds_of, junctions, outwards,
    tree,
};

/// Ratio of the height of a triangle to its longest side below which it counts as a line \[-\].
const FLAT: f64 = 1e-9;

/// Largest distance of corners that become one vertex, over the size of the mesh \[-\].
const WELD: f64 = 1e-6;

/// Defects of a mesh as the surface of a solid, as numbers of triangles or edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Defects {
    /// Triangles without an area, or there twice; they were left out.
    pub left_out: usize,
    /// Edges of one triangle alone: the mesh is open there.
    pub open: usize,
    /// Edges of more than two triangles.
    pub branching: usize,
    /// Edges whose two triangles do not face the same side.
    pub turned: usize,
    /// Edges that were divided at vertices of other triangles, which is no defect any more.
    pub divided: usize,
    /// Triangles of a closed mesh that faced inwards and were turned around, which is no defect any more.
    pub turned_around: usize,
}

impl Defects {
    /// Whether the mesh is the closed surface of a solid: it divides space into an inside and an outside.
    pub fn is_closed(&self) -> bool {
        self.open + self.branching + self.turned == 0
    }

    /// Describes each defect in words.
    pub fn in_words(&self) -> Vec<String> {
        let edges = |count: usize, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 edge {one}")),
            _ => Some(format!("{count} edges {many}")),
        };
        let left_out = match self.left_out {
            0 => None,
            1 => Some("1 triangle has no area or is there twice".to_owned()),
            count => Some(format!("{count} triangles have no area or are there twice")),
        };
        let of_edges = [
            edges(self.open, "belongs to one triangle alone", "belong to one triangle alone"),
            edges(self.branching, "belongs to more than two triangles", "belong to more than two triangles"),
            edges(
                self.turned,
                "has triangles that face opposite sides",
                "have triangles that face opposite sides",
            ),
        ];
        left_out.into_iter().chain(of_edges.into_iter().flatten()).collect()
    }
}

/// Reason why a list of triangles is no mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadMesh {
    /// A coordinate is not a number, or infinite.
    NotFinite,
    /// No triangle has an area.
    Empty,
}

impl Mesh {
    /// A mesh of these triangles \[m\]. Triangles without an area, and all but the first of those that are there twice, are left out; those
    /// with vertices of others on an open edge (T-junctions) are divided there. The triangles of a closed mesh are made to face outwards.
    ///
    /// # Errors
    /// When a coordinate is not finite, or nothing is left.
    pub fn new(name: &str, triangles: &[[DVec3; 3]]) -> Result<Mesh, BadMesh> {
        if triangles.iter().flatten().any(|corner| !corner.is_finite()) {
            return Err(BadMesh::NotFinite);
        }
        let [low, high] = bounds_of(triangles.iter().flatten().copied());
        let near = (WELD * (high - low).length()).max(f64::MIN_POSITIVE);
        let (vertices, all) = weld(triangles, low, near);
        let corners = with_area(&vertices, &all);
        if corners.is_empty() {
            return Err(BadMesh::Empty);
        }
        let left_out = all.len() - corners.len();
        let (vertices, mut corners) = in_use(&vertices, corners);
        let (by_edge, divided) = junctions::close(&vertices, &mut corners, near);
        let sharp_edges = sharp_edges(&vertices, &corners, &by_edge);
        let mut defects = count_defects(&corners, &by_edge);
        (defects.left_out, defects.divided) = (left_out, divided);
        let is_solid = defects.is_closed();
        if is_solid {
            defects.turned_around = outwards::turn(&vertices, &mut corners, &by_edge);
        }
        let (patches, faces) = smooth_parts(&vertices, &corners, &by_edge);
        // All triangles of a patch face the same side, because contacts remember the side of the patch that a sphere is on.
        corners.iter_mut().zip(faces).filter(|(_, faces)| !faces).for_each(|(corners, _)| corners.swap(1, 2));
        let (seams_of, mut seams) = find_seams(&corners, &patches, &by_edge, vertices.len());
        if is_solid {
            outwards::set_pseudonormals(&vertices, &corners, &seams_of, &mut seams);
        }
        let listed = corners.iter().zip(&patches).zip(seams_of);
        let triangles = listed.map(|((&corners, &patch), seams)| Triangle { corners, patch, seams });
        let mut mesh = Mesh {
            name: name.to_owned(),
            reach: vertices.iter().map(|vertex| vertex.length()).fold(0.0, f64::max),
            vertices,
            triangles: triangles.collect(),
            patches: vec![
                Patch { first_node: 0, end_node: 0 };
                1 + patches.iter().max().map_or(0, |&most| most as usize)
            ],
            sharp_edges,
            seams,
            nodes: Vec::new(),
            defects,
            is_solid,
            neighbours: Neighbours::default(),
        };
        tree::grow(&mut mesh);
        Ok(mesh)
    }
}

/// The vertices in use by triangles, and the triangles with the new indices.
fn in_use(vertices: &[DVec3], mut triangles: Vec<[u32; 3]>) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut numbers: Vec<Option<u32>> = vec![None; vertices.len()];
    let mut used = Vec::new();
    for corner in triangles.iter_mut().flatten() {
        let old = *corner as usize;
        *corner = *numbers[old].get_or_insert_with(|| {
            used.push(vertices[old]);
            used.len() as u32 - 1
        });
    }
    (used, triangles)
}

/// The triangles that have an area, each of them once.
fn with_area(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut known = std::collections::HashSet::new();
    let mut is_new = |corners: [u32; 3]| {
        let mut sorted = corners;
        sorted.sort_unstable();
        known.insert(sorted)
    };
    let has_area = |corners: [u32; 3]| {
        let [a, b, c] = corners.map(|corner| vertices[corner as usize]);
        let longest = [b - a, c - b, a - c].map(DVec3::length_squared).into_iter().fold(0.0, f64::max);
        (b - a).cross(c - a).length() > FLAT * longest
    };
    triangles.iter().copied().filter(|&corners| has_area(corners) && is_new(corners)).collect()
}

/// Whether a triangle runs along an edge from its first vertex to its second.
fn goes_along(corners: [u32; 3], edge: Edge) -> bool {
    (0..3).any(|i| corners[i] == edge[0] && corners[(i + 1) % 3] == edge[1])
}

/// Patch of each triangle, and whether it faces the same side as the first triangle of its patch. A patch grows from its first triangle,
/// across edges of two triangles, to all triangles whose normal differs by less than the smooth angle from that of the first; the side
/// that a triangle faces does not matter.
fn smooth_parts(
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    by_edge: &HashMap<Edge, Vec<u32>>,
) -> (Vec<u32>, Vec<bool>) {
    const NONE: u32 = u32::MAX;
    let smooth = SMOOTH_ANGLE_DEG.to_radians().cos();
    let mut patches = vec![NONE; triangles.len()];
    let mut all_faces = vec![true; triangles.len()];
    let mut count = 0;
    for seed in 0..triangles.len() {
        if patches[seed] != NONE {
            continue;
        }
        patches[seed] = count;
        let first = normal(vertices, triangles[seed]);
        // Triangles whose neighbours are still to be visited, and whether each faces the side of the first.
        let mut open = vec![(seed, true)];
        while let Some((triangle, faces)) = open.pop() {
            let corners = triangles[triangle];
            for edge in (0..3).map(|i| edge_of(corners, i)) {
                let &[one, other] = by_edge[&edge].as_slice() else { continue };
                let next = if one as usize == triangle { other } else { one } as usize;
                let agrees = goes_along(corners, edge) != goes_along(triangles[next], edge);
                let faces = faces == agrees;
                let turned = if faces { 1.0 } else { -1.0 } * normal(vertices, triangles[next]);
                if patches[next] == NONE && turned.dot(first) >= smooth {
                    (patches[next], all_faces[next]) = (count, faces);
                    open.push((next, faces));
                }
            }
        }
        count += 1;
    }
    (patches, all_faces)
}

/// Seams of each triangle, and all seams: edges at which patches meet or the mesh ends, and the vertices of these edges.
fn find_seams(
    triangles: &[[u32; 3]],
    patches: &[u32],
    by_edge: &HashMap<Edge, Vec<u32>>,
    vertices: usize,
) -> (Vec<[u32; 6]>, Vec<Seam>) {
    let mut seams: Vec<Seam> = Vec::new();
    let mut edges: HashMap<Edge, u32> = HashMap::new();
    let mut corners: Vec<u32> = vec![NO_SEAM; vertices];
    let mut found = vec![[NO_SEAM; 6]; triangles.len()];
    for (triangle, seams_of) in found.iter_mut().enumerate() {
        for (i, seam) in seams_of.iter_mut().take(3).enumerate() {
            let edge = edge_of(triangles[triangle], i);
            let around = &by_edge[&edge];
            let meeting = distinct(around.iter().map(|&other| patches[other as usize]));
            if meeting.len() == 1 && around.len() == 2 {
                continue;
            }
            let is_rim = around.len() == 1;
            *seam = *edges.entry(edge).or_insert_with(|| {
                seams.push(Seam { patches: meeting, is_rim, ..Seam::default() });
                seams.len() as u32 - 1
            });
            for vertex in edge {
                let corner = &mut corners[vertex as usize];
                if *corner == NO_SEAM {
                    seams.push(Seam::default());
                    *corner = seams.len() as u32 - 1;
                }
                seams[*corner as usize].is_rim |= is_rim;
            }
        }
    }
    for ((seams_of, corners_of), &patch) in found.iter_mut().zip(triangles).zip(patches) {
        for i in 0..3 {
            let seam = corners[corners_of[i] as usize];
            seams_of[3 + i] = seam;
            if seam != NO_SEAM && !seams[seam as usize].patches.contains(&patch) {
                seams[seam as usize].patches.push(patch);
            }
        }
    }
    (found, seams)
}

fn distinct(patches: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut patches: Vec<u32> = patches.collect();
    patches.sort_unstable();
    patches.dedup();
    patches
}

/// Sharp edges, which pictures show, in ascending order.
fn sharp_edges(vertices: &[DVec3], triangles: &[[u32; 3]], by_edge: &HashMap<Edge, Vec<u32>>) -> Vec<Edge> {
    let limit = SHARP_ANGLE_DEG.to_radians().cos();
    let is_sharp = |around: &[u32], edge: Edge| match around {
        &[one, other] => {
            let [one, other] = [one, other].map(|triangle| triangles[triangle as usize]);
            let same_side = goes_along(one, edge) != goes_along(other, edge);
            let cosine = normal(vertices, one).dot(normal(vertices, other));
            (if same_side { cosine } else { -cosine }) < limit
        }
        _ => true,
    };
    let sharp = by_edge.iter().filter(|(edge, around)| is_sharp(around, **edge));
    let mut edges: Vec<Edge> = sharp.map(|(edge, _)| *edge).collect();
    edges.sort_unstable();
    edges
}

fn count_defects(triangles: &[[u32; 3]], by_edge: &HashMap<Edge, Vec<u32>>) -> Defects {
    by_edge.iter().fold(Defects::default(), |mut defects, (&edge, around)| {
        match around.as_slice() {
            [_] => defects.open += 1,
            [one, other] => {
                let along = |triangle: u32| goes_along(triangles[triangle as usize], edge);
                defects.turned += usize::from(along(*one) == along(*other));
            }
            _ => defects.branching += 1,
        }
        defects
    })
}

#[cfg(test)]
mod tests {
    use super::super::samples::{box_triangles, cube, sheet, tube};
    use super::*;

    #[test]
    fn a_flat_sheet_is_one_patch_with_seams_around_it_alone() {
        let sheet = sheet(3.0, 4);
        assert_eq!((sheet.vertices.len(), sheet.triangles.len(), sheet.patches.len()), (25, 32, 1));
        // 16 edges and 16 vertices are on the rim.
        assert_eq!(sheet.seams.len(), 32);
        assert!(sheet.seams.iter().all(|seam| seam.patches == [0] && seam.is_rim));
        assert_eq!(sheet.defects, Defects { open: 16, ..Defects::default() });
    }

    #[test]
    fn a_cube_has_six_patches_that_meet_at_twelve_edges_and_eight_corners() {
        let cube = cube();
        assert_eq!((cube.vertices.len(), cube.patches.len(), cube.seams.len()), (8, 6, 20));
        let meeting = |count| cube.seams.iter().filter(|seam| seam.patches.len() == count).count();
        assert_eq!((meeting(2), meeting(3)), (12, 8));
        assert!(cube.seams.iter().all(|seam| !seam.is_rim));
        assert!(cube.defects.is_closed());
    }

    #[test]
    fn a_fine_cylinder_is_divided_into_patches_of_a_few_facets() {
        let tube = Mesh::new("tube", &tube(1.0, 1.0, 360, 2)).expect("a mesh");
        // The facets are one degree wide, and a patch spans up to five on either side of its first, less those that earlier patches took.
        assert!((33..=72).contains(&tube.patches.len()), "{}", tube.patches.len());
    }

    #[test]
    fn defects_are_counted() {
        let mut triangles = box_triangles(DVec3::ONE);
        triangles[3].swap(0, 1);
        let turned = Mesh::new("turned", &triangles).expect("a mesh").defects;
        assert_eq!((turned.turned, turned.open), (3, 0));
        triangles[3].swap(0, 1);
        triangles.iter_mut().for_each(|corners| corners.swap(0, 1));
        let inside = Mesh::new("inside", &triangles).expect("a mesh");
        assert_eq!((inside.defects.turned_around, inside.solid().volume), (12, 8.0));
        triangles.push([DVec3::ZERO, DVec3::ONE, DVec3::ONE * 2.0]);
        triangles.push(triangles[0]);
        triangles.remove(5);
        let worn = Mesh::new("worn", &triangles).expect("a mesh").defects;
        assert_eq!((worn.left_out, worn.open, worn.turned_around), (2, 3, 0));
        // A triangle that is left out leaves no vertices behind.
        let alone = [DVec3::Z * 9.0, DVec3::Z * 9.0, DVec3::Z * 8.0];
        let cube = Mesh::new("cube", &[box_triangles(DVec3::ONE), vec![alone]].concat()).expect("a mesh");
        assert_eq!((cube.vertices.len(), cube.bounds()[1].z), (8, 1.0));
        assert_eq!(worn.in_words()[0], "2 triangles have no area or are there twice");
        let fin = [DVec3::ZERO, DVec3::X, DVec3::new(0.5, 0.0, 9.0)];
        let sheet: Vec<_> =
            [[DVec3::ZERO, DVec3::X, DVec3::Y], [DVec3::X, DVec3::ZERO, DVec3::NEG_Y], fin].into();
        assert_eq!(Mesh::new("fin", &sheet).expect("a mesh").defects.branching, 1);
    }

    #[test]
    fn corners_that_rounding_moved_apart_are_one() {
        let shift =
            |i: usize| 3e-7 * DVec3::new((i as f64).sin(), (7.0 * i as f64).sin(), (3.0 * i as f64).sin());
        let cracked = box_triangles(DVec3::ONE).into_iter().enumerate();
        let cracked: Vec<_> = cracked.map(|(i, corners)| corners.map(|corner| corner + shift(i))).collect();
        let mesh = Mesh::new("cracked", &cracked).expect("a mesh");
        assert_eq!((mesh.vertices.len(), mesh.defects.open), (8, 0));
    }

    #[test]
    fn triangles_of_a_patch_face_the_same_side() {
        let mut square = vec![[DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.0)]];
        square.push([DVec3::ZERO, DVec3::Y, DVec3::new(1.0, 1.0, 0.0)]);
        let mesh = Mesh::new("square", &square).expect("a mesh");
        assert_eq!((mesh.patches.len(), mesh.defects.turned), (1, 1));
        let up = |triangle| normal(&mesh.vertices, mesh.triangles[triangle as usize].corners).z;
        assert_eq!([0, 1].map(up), [1.0, 1.0]);
    }

    #[test]
    fn what_is_no_mesh_is_refused() {
        let line = [DVec3::ZERO, DVec3::X, DVec3::X * 3.0];
        assert_eq!(Mesh::new("line", &[line]).err(), Some(BadMesh::Empty));
        assert_eq!(Mesh::new("nan", &[[DVec3::NAN, DVec3::X, DVec3::Y]]).err(), Some(BadMesh::NotFinite));
    }
}
