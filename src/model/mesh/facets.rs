//! The triangles of a mesh with what is around them, as convex solids meet them.

use std::collections::HashMap;
use std::sync::OnceLock;

use glam::{DQuat, DVec3};

use super::edges::{ByEdge, edge_of, edges_of};
use super::weld::weld;
use super::{Mesh, NO_SEAM, Nearest, Patch, Triangle, bounds_of, tree};
use crate::shape::Facet;

/// Index that stands for no vertex.
const NONE: u32 = u32::MAX;

/// Largest distance of corners of two sheets that are in the same place, over the size of the smallest sheet \[-\].
const JOINT: f64 = 1e-4;

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
        let all = Adjacency::of(&triangles);
        let around = (0..mesh.vertices.len() as u32).map(|vertex| all.around(vertex));
        Around::listed(triangles.iter().map(|&corners| all.beyond(corners)), around)
    }

    /// Lists what is beyond the edges of each triangle, and around each vertex.
    fn listed(
        beyond: impl Iterator<Item = [u32; 3]>,
        around: impl Iterator<Item = impl Iterator<Item = u32>>,
    ) -> Around {
        let (mut starts, mut vertices) = (vec![0], Vec::new());
        for neighbours in around {
            vertices.extend(neighbours);
            starts.push(vertices.len() as u32);
        }
        Around { beyond: beyond.collect(), starts, vertices }
    }
}

/// What is beside what among triangles.
struct Adjacency<'a> {
    triangles: &'a [[u32; 3]],
    by_edge: ByEdge,
    /// Edges from each vertex, ascending.
    edges: Vec<[u32; 2]>,
}

impl Adjacency<'_> {
    fn of(triangles: &[[u32; 3]]) -> Adjacency<'_> {
        let by_edge = edges_of(triangles);
        let mut edges: Vec<[u32; 2]> = by_edge.keys().flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
        edges.sort_unstable();
        Adjacency { triangles, by_edge, edges }
    }

    /// Corner of the other triangle at each edge of one, or [`NONE`] where there is none or more than one.
    fn beyond(&self, corners: [u32; 3]) -> [u32; 3] {
        [0, 1, 2].map(|i| {
            let edge = edge_of(corners, i);
            let mut others = self.by_edge[&edge].iter().map(|&triangle| self.triangles[triangle as usize]);
            let mut other = others.by_ref().filter(|&other| other != corners);
            match (other.next(), other.next()) {
                (Some(other), None) => {
                    other.into_iter().find(|corner| !edge.contains(corner)).unwrap_or(NONE)
                }
                _ => NONE,
            }
        })
    }

    /// Vertices that share an edge with one.
    fn around(&self, vertex: u32) -> impl Iterator<Item = u32> {
        let first = self.edges.partition_point(|edge| edge[0] < vertex);
        self.edges[first..].iter().take_while(move |edge| edge[0] == vertex).map(|edge| edge[1])
    }
}

/// A sheet in a frame of its own, and the place of that frame in one that several share.
#[derive(Debug, Clone, PartialEq)]
pub struct SheetPart {
    /// Corners of its triangles \[m\].
    pub triangles: Vec<[DVec3; 3]>,
    /// Origin of its frame \[m\].
    pub position: DVec3,
    /// Orientation of its frame.
    pub orientation: DQuat,
}

impl SheetPart {
    fn placed(&self) -> impl Iterator<Item = [DVec3; 3]> {
        self.triangles.iter().map(|corners| corners.map(|corner| self.position + self.orientation * corner))
    }

    /// Diagonal of the box around it \[m\].
    fn size(&self) -> f64 {
        let [low, high] = bounds_of(self.triangles.iter().flatten().copied());
        low.distance(high)
    }

    /// The mesh of this part, whose triangles have these vertices among all. Vertices of others come after its own ones.
    fn mesh(&self, own: &[[u32; 3]], vertices: &[DVec3], all: &Adjacency<'_>) -> Mesh {
        let mut numbers = PartVertices::default();
        let triangle = |(corners, places): (&[u32; 3], &[DVec3; 3])| Triangle {
            corners: std::array::from_fn(|i| numbers.of(corners[i], || places[i])),
            patch: 0,
            seams: [NO_SEAM; 6],
        };
        let triangles = own.iter().zip(&self.triangles).map(triangle).collect();
        let patches = vec![Patch { first_node: 0, end_node: 0 }];
        let mut mesh = Mesh { triangles, patches, vertices: numbers.places.clone(), ..Mesh::default() };
        tree::grow(&mut mesh);
        let count = mesh.vertices.len();
        let global: Vec<u32> = numbers.listed.clone();
        let place = |vertex: u32| self.orientation.conjugate() * (vertices[vertex as usize] - self.position);
        let mut of_all = |vertex: u32| match vertex {
            NONE => NONE,
            _ => numbers.of(vertex, || place(vertex)),
        };
        let sorted = mesh.triangles.iter().map(|triangle| triangle.corners);
        let beyond =
            sorted.map(|corners| all.beyond(corners.map(|corner| global[corner as usize])).map(&mut of_all));
        let beyond: Vec<_> = beyond.collect();
        let around: Vec<Vec<u32>> =
            global[..count].iter().map(|&vertex| all.around(vertex).map(&mut of_all).collect()).collect();
        mesh.neighbours.0 =
            OnceLock::from(Around::listed(beyond.into_iter(), around.into_iter().map(Vec::into_iter)));
        mesh.vertices = numbers.places;
        mesh
    }
}

/// Vertices of a part, with the numbers that it gives to those of the whole.
#[derive(Default)]
struct PartVertices {
    known: HashMap<u32, u32>,
    /// Vertices in the larger mesh by their numbers.
    listed: Vec<u32>,
    /// Their places \[m\].
    places: Vec<DVec3>,
}

impl PartVertices {
    fn of(&mut self, vertex: u32, place: impl FnOnce() -> DVec3) -> u32 {
        *self.known.entry(vertex).or_insert_with(|| {
            self.listed.push(vertex);
            self.places.push(place());
            self.listed.len() as u32 - 1
        })
    }
}

impl Mesh {
    /// Sheets of one patch each. Where corners of two are in the same place, the one goes on in the other: an edge there is no end.
    pub fn joined(parts: &[SheetPart]) -> Vec<Mesh> {
        let placed: Vec<[DVec3; 3]> = parts.iter().flat_map(SheetPart::placed).collect();
        let [low, _] = bounds_of(placed.iter().flatten().copied());
        let least = parts.iter().map(SheetPart::size).fold(f64::INFINITY, f64::min);
        let (vertices, triangles) = weld(&placed, low, JOINT * least);
        let all = Adjacency::of(&triangles);
        let mut rest = &triangles[..];
        let mesh = |part: &SheetPart| {
            let (own, others) = rest.split_at(part.triangles.len());
            rest = others;
            part.mesh(own, &vertices, &all)
        };
        parts.iter().map(mesh).collect()
    }

    fn around(&self) -> &Around {
        self.neighbours.0.get_or_init(|| Around::of(self))
    }

    /// A triangle with what is around it.
    pub fn facet(&self, triangle: usize) -> Facet<'_> {
        let beyond = |vertex: Option<u32>| vertex.map(|vertex| self.vertices[vertex as usize]);
        Facet {
            corners: self.corners(triangle),
            beyond: self.beyond(triangle).map(beyond),
            around: self.triangles[triangle].corners.map(|corner| self.vertices_around(corner)),
            vertices: &self.vertices,
            is_of_solid: self.is_solid,
        }
    }

    /// Corner of the other triangle at each edge of a triangle, as the index of a vertex; `None` where the mesh ends or branches.
    pub(crate) fn beyond(&self, triangle: usize) -> [Option<u32>; 3] {
        self.around().beyond[triangle].map(|vertex| (vertex != NONE).then_some(vertex))
    }

    /// Number of vertices that are corners of triangles of this mesh; those that are not follow them.
    #[cfg(feature = "gpu")]
    pub(crate) fn around_count(&self) -> usize {
        self.around().starts.len() - 1
    }

    /// Indices of the vertices that share an edge with a vertex.
    pub(crate) fn vertices_around(&self, vertex: u32) -> &[u32] {
        let around = self.around();
        let [start, end] = [vertex, vertex + 1].map(|vertex| around.starts[vertex as usize] as usize);
        &around.vertices[start..end]
    }

    /// Height of a point over the nearest triangle \[m\] and the normal of that triangle, if the point is inside of a closed mesh, the
    /// triangle within `reach` \[m\], and part of this patch.
    pub fn way_out(&self, patch: usize, point: DVec3, reach: f64) -> Option<(f64, DVec3)> {
        let (_, nearest) = self.nearest_of_all(point, reach).filter(|(near, _)| *near as usize == patch)?;
        nearest.is_inside.then_some((nearest.height, nearest.face))
    }

    /// Whether a point is inside of a closed mesh, and the way to the nearest point of the surface leads along a direction, rather than
    /// against it; false if no triangle is within `reach` \[m\].
    pub fn leads_out(&self, point: DVec3, along: DVec3, reach: f64) -> bool {
        let nearest = self.nearest_of_all(point, reach);
        nearest.is_some_and(|(_, nearest)| nearest.is_inside && nearest.normal.dot(along) < 0.0)
    }

    /// The patch that is nearest to a point, up to `reach` \[m\].
    fn nearest_of_all(&self, point: DVec3, reach: f64) -> Option<(u32, Nearest)> {
        let mut best: Option<(u32, Nearest)> = None;
        self.for_each_near(point, reach, |near| {
            let nearest = self.nearest(near as usize, point, reach);
            let distance = best.map_or(f64::INFINITY, |(_, best)| best.distance);
            if let Some(nearest) = nearest.filter(|nearest| nearest.distance < distance) {
                best = Some((near, nearest));
            }
        });
        best
    }

    /// Middle and radius of a sphere around a patch \[m\].
    pub fn around_patch(&self, patch: usize) -> (DVec3, f64) {
        let Patch { first_node, end_node } = self.patches[patch];
        let nodes = &self.nodes[first_node as usize..end_node as usize];
        let corners = || {
            let triangles = nodes.iter().flat_map(|node| node.first..node.first + node.count);
            triangles.flat_map(|triangle| self.corners(triangle as usize))
        };
        let [low, high] = bounds_of(corners());
        let middle = low.midpoint(high);
        (middle, corners().map(|corner| corner.distance(middle)).fold(0.0, f64::max))
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
