//! Welding: corners at the same place become one vertex.

use std::collections::HashMap;

use glam::{DVec3, I64Vec3};

/// Vertices and triangles of a mesh, in which corners closer to each other than `near` \[m\] are one vertex; `low` is its smallest corner.
pub(super) fn weld(triangles: &[[DVec3; 3]], low: DVec3, near: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut known: HashMap<I64Vec3, Vec<u32>> = HashMap::new();
    let mut vertices: Vec<DVec3> = Vec::new();
    let mut vertex = |place: DVec3| {
        // Cells are twice as wide as `near`: close vertices are in the cell of the place or in those beside it, on the nearer side per
        // axis.
        let scaled = (place - low) / (2.0 * near);
        let cell = scaled.floor();
        let beside = DVec3::select((scaled - cell).cmplt(DVec3::splat(0.5)), DVec3::NEG_ONE, DVec3::ONE);
        let around = (0..8_u32).map(|octant| {
            let take = DVec3::new(f64::from(octant & 1), f64::from(octant >> 1 & 1), f64::from(octant >> 2));
            (cell + take * beside).as_i64vec3()
        });
        let found = around
            .filter_map(|cell| known.get(&cell))
            .flatten()
            .find(|&&vertex| vertices[vertex as usize].distance_squared(place) <= near * near);
        if let Some(&found) = found {
            return found;
        }
        let vertex = vertices.len() as u32;
        vertices.push(place);
        known.entry(cell.as_i64vec3()).or_default().push(vertex);
        vertex
    };
    let corners = triangles.iter().map(|corners| corners.map(&mut vertex)).collect();
    (vertices, corners)
}
