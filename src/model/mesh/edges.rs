//! Edges and normals of the triangles of a mesh.

use std::collections::HashMap;

use glam::DVec3;

/// An edge: its two vertices, the smaller index first.
pub(super) type Edge = [u32; 2];

/// Triangles by edge.
pub(super) type ByEdge = HashMap<Edge, Vec<u32>>;

/// Edge of a triangle that begins at its corner `i`.
pub(super) fn edge_of(corners: [u32; 3], i: usize) -> Edge {
    let (a, b) = (corners[i], corners[(i + 1) % 3]);
    [a.min(b), a.max(b)]
}

/// Triangles by edge, in ascending order for each edge.
pub(super) fn edges_of(triangles: &[[u32; 3]]) -> ByEdge {
    let mut by_edge = ByEdge::new();
    for (triangle, &corners) in triangles.iter().enumerate() {
        (0..3).for_each(|i| by_edge.entry(edge_of(corners, i)).or_default().push(triangle as u32));
    }
    by_edge
}

/// Normal of a triangle.
pub(super) fn normal(vertices: &[DVec3], corners: [u32; 3]) -> DVec3 {
    let [a, b, c] = corners.map(|corner| vertices[corner as usize]);
    (b - a).cross(c - a).normalize()
}
