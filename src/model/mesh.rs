//! Triangle meshes: surfaces of any shape. A closed mesh is a solid, which pushes outwards; an open one is a sheet, which grains touch from
//! both sides, as is a closed one that is declared a sheet ([`Mesh::into_sheet`]), such as a vessel.
//!
//! A mesh is divided into [patches](Patch): connected triangles whose normals differ by less than [`SMOOTH_ANGLE_DEG`] from that of
//! the first. A sphere touches a patch in one point, the one nearest to its centre. This is one contact, identified by the patch: it
//! stays the same while the sphere rolls from triangle to triangle, and flat faces have no seams. Where patches meet, a sphere over one
//! of them is also near the edge of the other. Such an edge is a contact only if no other patch at that edge is nearer ([`join`]).

mod build;
mod edges;
mod facets;
mod join;
mod junctions;
mod nearest;
mod outwards;
mod solid;
mod tree;
mod weld;

use glam::DVec3;

use facets::Neighbours;

pub use build::{BadMesh, Defects};
pub use facets::SheetPart;
pub use join::{JoinedTouch, PatchTouch, join};
pub use nearest::{Feature, Nearest};
pub use solid::{SolidTouch, join_solid};
pub use tree::TreeNode;

/// Largest angle between the normals of the triangles of a patch and that of its first triangle \[°\].
pub const SMOOTH_ANGLE_DEG: f64 = 5.0;

/// Least angle between the normals of two triangles whose common edge pictures show \[°\].
pub const SHARP_ANGLE_DEG: f64 = 30.0;

/// Index that stands for no seam.
pub const NO_SEAM: u32 = u32::MAX;

/// A triangle mesh in a frame of its own.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mesh {
    /// Name of its file, without the folder.
    pub name: String,
    /// Vertices \[m\], each listed once.
    pub vertices: Vec<DVec3>,
    /// Triangles, patch by patch.
    pub triangles: Vec<Triangle>,
    /// Smooth parts.
    pub patches: Vec<Patch>,
    /// Edges and vertices at which patches meet or the mesh ends.
    pub seams: Vec<Seam>,
    /// Nodes of the tree of boxes around the triangles, in depth-first order.
    pub nodes: Vec<TreeNode>,
    /// Edges that pictures show, as pairs of vertices: where the mesh ends, branches or has an angle of at least [`SHARP_ANGLE_DEG`].
    pub sharp_edges: Vec<[u32; 2]>,
    /// Largest distance of a vertex from the origin \[m\].
    pub reach: f64,
    /// Defects of the mesh as the surface of a solid.
    pub defects: Defects,
    /// Whether the mesh pushes outwards, as the surface of a solid; else it is a sheet that grains touch from both sides.
    pub is_solid: bool,
    /// What is around each triangle, found when a convex solid first meets the mesh.
    neighbours: Neighbours,
}

/// A triangle of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triangle {
    /// Its vertices, counterclockwise seen from where its normal points.
    pub corners: [u32; 3],
    /// The patch that it is part of.
    pub patch: u32,
    /// Seam of each edge (from each corner to the next), then of each corner; [`NO_SEAM`] inside a patch.
    pub seams: [u32; 6],
}

/// An edge or a vertex at which patches meet or the mesh ends.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Seam {
    /// The patches that meet there.
    pub patches: Vec<u32>,
    /// Whether the mesh ends there, so that a sphere may come around it to the other side.
    pub is_rim: bool,
    /// Pseudonormal of a closed mesh: mean of the normals of the triangles there, weighted with their angles at a vertex. A point nearest
    /// to the seam is outside if it is on this side (Baerentzen & Aanaes, IEEE Trans. Vis. Comput. Graph. 11, 243 (2005)). Else zero.
    pub outwards: DVec3,
}

/// A smooth part of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patch {
    /// First node of the patch in the tree.
    pub first_node: u32,
    /// Node after its last one.
    pub end_node: u32,
}

impl Mesh {
    /// The mesh as a sheet that grains touch from both sides, such as a vessel that is closed.
    #[must_use]
    pub fn into_sheet(self) -> Mesh {
        Mesh { is_solid: false, ..self }
    }

    /// Corners of a triangle \[m\].
    pub fn corners(&self, triangle: usize) -> [DVec3; 3] {
        self.triangles[triangle].corners.map(|corner| self.vertices[corner as usize])
    }

    /// Corners of the box around all vertices \[m\].
    pub fn bounds(&self) -> [DVec3; 2] {
        bounds_of(self.vertices.iter().copied())
    }

    /// Bytes of the lists of the mesh.
    pub fn bytes(&self) -> u64 {
        let lists = self.vertices.len() * size_of::<DVec3>()
            + self.triangles.len() * size_of::<Triangle>()
            + self.patches.len() * size_of::<Patch>()
            + self.nodes.len() * size_of::<TreeNode>();
        let seams: usize =
            self.seams.iter().map(|seam| size_of::<Seam>() + size_of_val(&seam.patches[..])).sum();
        (lists + seams) as u64 + self.neighbours.bytes()
    }

    /// Fingerprint that tells meshes apart: FNV-1a of all coordinates and corners, and of whether a closed mesh is a sheet.
    pub fn fingerprint(&self) -> u64 {
        let places = self.vertices.iter().flat_map(|vertex| vertex.to_array()).map(f64::to_bits);
        let corners = self.triangles.iter().flat_map(|triangle| triangle.corners).map(u64::from);
        let sheet = (self.defects.is_closed() && !self.is_solid).then_some(1);
        places.chain(corners).chain(sheet).fold(0xcbf2_9ce4_8422_2325, |hash, word| {
            word.to_le_bytes()
                .iter()
                .fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
        })
    }
}

/// Corners of the box around points \[m\], the one with the smallest coordinates first.
pub fn bounds_of(points: impl Iterator<Item = DVec3>) -> [DVec3; 2] {
    let none = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    points.fold(none, |[low, high], point| [low.min(point), high.max(point)])
}

/// Meshes for the tests of several modules.
#[cfg(test)]
pub(crate) mod samples {
    use super::*;

    /// A rectangle in z = 0 from the origin to (`size`, `size`), of `count` × `count` squares cut along a diagonal.
    pub fn sheet(size: f64, count: usize) -> Mesh {
        let at = |i: usize, j: usize| size / count as f64 * DVec3::new(i as f64, j as f64, 0.0);
        let squares = (0..count).flat_map(|i| (0..count).map(move |j| (i, j)));
        let triangles = squares.flat_map(|(i, j)| {
            let corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            [[corners[0], corners[1], corners[2]], [corners[0], corners[2], corners[3]]]
        });
        Mesh::new("sheet", &triangles.collect::<Vec<_>>()).expect("a mesh")
    }

    /// The surface of a cube from (-1, -1, -1) to (1, 1, 1).
    pub fn cube() -> Mesh {
        Mesh::new("cube", &box_triangles(DVec3::ONE)).expect("a mesh")
    }

    /// Twelve triangles around a box of these half edges, seen from outside.
    pub fn box_triangles(half: DVec3) -> Vec<[DVec3; 3]> {
        let face = |axis: usize, end: f64| {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let corner = |a: f64, b: f64| {
                let mut place = DVec3::ZERO;
                (place[axis], place[u], place[v]) = (end, a * end, b);
                half * place
            };
            let [a, b, c, d] = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
            [[a, b, c], [a, c, d]]
        };
        (0..3).flat_map(|axis| [face(axis, -1.0), face(axis, 1.0)]).flatten().collect()
    }

    /// The wall of a cylinder about z from z = 0 to `length`, of `sides` × `rings` rectangles; normals outward.
    pub fn tube(radius: f64, length: f64, sides: usize, rings: usize) -> Vec<[DVec3; 3]> {
        let at = |side: usize, ring: usize| {
            let (sine, cosine) = (std::f64::consts::TAU * (side % sides) as f64 / sides as f64).sin_cos();
            DVec3::new(radius * cosine, radius * sine, length * ring as f64 / rings as f64)
        };
        let cells = (0..sides).flat_map(|side| (0..rings).map(move |ring| (side, ring)));
        cells
            .flat_map(|(side, ring)| {
                let [a, b, c, d] =
                    [at(side, ring), at(side + 1, ring), at(side + 1, ring + 1), at(side, ring + 1)];
                [[a, b, c], [a, c, d]]
            })
            .collect()
    }
}
