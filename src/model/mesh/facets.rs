//! The triangles of a mesh with what is around them, as convex solids meet them.

use std::sync::OnceLock;

use glam::DVec3;

use super::edges::{edge_of, edges_of};
use super::{Mesh, Nearest};
use crate::shape::Facet;

/// Index that stands for no vertex.
const NONE: u32 = u32::MAX;

/// What is around each triangle of a mesh. It follows from the triangles, so meshes that differ in it alone are equal.
#[derive(Debug, Clone, Default)]
pub(super) struct Neighbours(OnceLock<Around>);

impl PartialEq for Neighbours {
    fn eq(&self, _: &Neighbours) -> bool {
        true
    }
}

impl Neighbours {
    /// Bytes of the lists.
    pub fn bytes(&self) -> u64 {
        self.0.get().map_or(0, |around| {
            size_of_val(&around.beyond[..])
                + size_of_val(&around.starts[..])
                + size_of_val(&around.vertices[..])
        }) as u64
    }
}

#[derive(Debug, Clone)]
struct Around {
    /// Per triangle and edge: the corner of the other triangle there, or [`NONE`] where the mesh ends or branches.
    beyond: Vec<[u32; 3]>,
    /// Per vertex, and once more at the end: index in `vertices` of the first that shares an edge with it.
    starts: Vec<u32>,
    vertices: Vec<u32>,
}

impl Around {
    fn of(mesh: &Mesh) -> Around {
        let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(|triangle| triangle.corners).collect();
        let by_edge = edges_of(&triangles);
        let beyond = |triangle: usize, i: usize| match by_edge[&edge_of(triangles[triangle], i)][..] {
            [one, other] => {
                let next = triangles[if one as usize == triangle { other } else { one } as usize];
                let edge = edge_of(triangles[triangle], i);
                next.into_iter().find(|corner| !edge.contains(corner)).unwrap_or(NONE)
            }
            _ => NONE,
        };
        let mut pairs: Vec<[u32; 2]> = by_edge.keys().flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
        pairs.sort_unstable();
        let start = |vertex: usize| pairs.partition_point(|pair| (pair[0] as usize) < vertex) as u32;
        Around {
            beyond: (0..triangles.len()).map(|triangle| [0, 1, 2].map(|i| beyond(triangle, i))).collect(),
            starts: (0..=mesh.vertices.len()).map(start).collect(),
            vertices: pairs.iter().map(|pair| pair[1]).collect(),
        }
    }
}

impl Mesh {
    /// A triangle with what is around it.
    pub fn facet(&self, triangle: usize) -> Facet<'_> {
        let around = self.neighbours.0.get_or_init(|| Around::of(self));
        let corners = self.triangles[triangle].corners;
        let vertices_at = |corner: u32| {
            let [from, to] = [corner, corner + 1].map(|vertex| around.starts[vertex as usize] as usize);
            &around.vertices[from..to]
        };
        let beyond = |vertex: u32| (vertex != NONE).then(|| self.vertices[vertex as usize]);
        Facet {
            corners: self.corners(triangle),
            beyond: around.beyond[triangle].map(beyond),
            around: corners.map(vertices_at),
            vertices: &self.vertices,
            is_of_solid: self.is_solid,
        }
    }

    /// Height of a point over the nearest triangle \[m\] and the normal of that triangle, if the point is inside of a closed mesh, the
    /// triangle within `reach` \[m\], and part of this patch.
    pub fn way_out(&self, patch: usize, point: DVec3, reach: f64) -> Option<(f64, DVec3)> {
        let mut best: Option<(u32, Nearest)> = None;
        self.for_each_near(point, reach, |near| {
            let nearest = self.nearest(near as usize, point, reach);
            let distance = best.map_or(f64::INFINITY, |(_, best)| best.distance);
            if let Some(nearest) = nearest.filter(|nearest| nearest.distance < distance) {
                best = Some((near, nearest));
            }
        });
        let (_, nearest) = best.filter(|(near, nearest)| *near as usize == patch && nearest.is_inside)?;
        Some((nearest.height, nearest.face))
    }

    /// Indices of the triangles of a patch that may be within `reach` of a point \[m\]: those of the leaves that are.
    pub fn triangles_near(&self, patch: usize, point: DVec3, reach: f64) -> Vec<usize> {
        let mut near = Vec::new();
        let mut node = self.patches[patch].first_node;
        while node < self.patches[patch].end_node {
            let here = &self.nodes[node as usize];
            if here.distance_squared(point) > reach * reach {
                node = here.escape;
                continue;
            }
            near.extend((here.first..here.first + here.count).map(|triangle| triangle as usize));
            node += 1;
        }
        near
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{cube, sheet};

    #[test]
    fn facets_know_the_corners_beyond_their_edges_and_around_their_corners() {
        let cube = cube();
        for triangle in 0..cube.triangles.len() {
            let facet = cube.facet(triangle);
            for (i, beyond) in facet.beyond.iter().enumerate() {
                let beyond = beyond.expect("a cube is closed");
                assert!(!facet.corners.contains(&beyond), "edge {i} of {triangle}");
            }
            // A corner of a cube has three edges, and diagonals of up to three faces.
            assert!(facet.around.iter().all(|around| (3..=6).contains(&around.len())));
        }
        let sheet = sheet(1.0, 1);
        let ends: usize = (0..2).map(|i| sheet.facet(i).beyond.iter().flatten().count()).sum();
        assert_eq!(ends, 2, "the diagonal has two sides");
    }
}
