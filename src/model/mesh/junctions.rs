//! Repair of T-junctions: a triangle is divided where vertices of others lie on its open edge.

use std::collections::HashMap;

use glam::{DVec3, I64Vec3};

use super::edges::{ByEdge, Edge, edges_of};

/// Most rounds: in each of them a triangle is divided along one of its edges.
const ROUNDS: usize = 8;

/// Divides triangles at vertices that lie on their open edges, up to a distance of `near` \[m\]. Returns the triangles by edge, and how
/// many edges were divided.
pub fn close(vertices: &[DVec3], triangles: &mut Vec<[u32; 3]>, near: f64) -> (ByEdge, usize) {
    let mut by_edge = edges_of(triangles);
    let mut closed = 0;
    for _ in 0..ROUNDS {
        let mut open: Vec<(Edge, u32)> = by_edge
            .iter()
            .filter(|(_, around)| around.len() == 1)
            .map(|(edge, around)| (*edge, around[0]))
            .collect();
        open.sort_unstable();
        let cells = Cells::of(vertices, &open, near);
        let mut divided: HashMap<u32, (Edge, Vec<u32>)> = HashMap::new();
        for &(edge, triangle) in &open {
            let between = cells.on(vertices, edge, triangles[triangle as usize]);
            if !between.is_empty() && !divided.contains_key(&triangle) {
                divided.insert(triangle, (edge, between));
            }
        }
        if divided.is_empty() {
            break;
        }
        closed += divided.len();
        let mut old = std::mem::take(triangles).into_iter().enumerate();
        triangles.extend(old.by_ref().flat_map(|(i, corners)| match divided.get(&(i as u32)) {
            Some((edge, between)) => divide(corners, *edge, between),
            None => vec![corners],
        }));
        by_edge = edges_of(triangles);
    }
    (by_edge, closed)
}

/// Parts of a triangle whose edge passes these vertices, in their order from its first end to its second.
fn divide(corners: [u32; 3], edge: Edge, between: &[u32]) -> Vec<[u32; 3]> {
    let Some(i) = (0..3).find(|&i| edge.contains(&corners[i]) && edge.contains(&corners[(i + 1) % 3])) else {
        return vec![corners];
    };
    let [from, to, tip] = [0, 1, 2].map(|k| corners[(i + k) % 3]);
    let mut along: Vec<u32> = between.to_vec();
    if from != edge[0] {
        along.reverse();
    }
    let line: Vec<u32> = std::iter::once(from).chain(along).chain([to]).collect();
    line.windows(2).map(|pair| [pair[0], pair[1], tip]).collect()
}

/// Vertices of open edges, by cells of about the length of an edge.
struct Cells {
    width: f64,
    near: f64,
    vertices: HashMap<I64Vec3, Vec<u32>>,
}

impl Cells {
    fn of(vertices: &[DVec3], open: &[(Edge, u32)], near: f64) -> Cells {
        let length = |edge: &Edge| vertices[edge[0] as usize].distance(vertices[edge[1] as usize]);
        let mean = open.iter().map(|(edge, _)| length(edge)).sum::<f64>() / open.len().max(1) as f64;
        let width = mean.max(8.0 * near);
        let mut of_cells: HashMap<I64Vec3, Vec<u32>> = HashMap::new();
        let mut all: Vec<u32> = open.iter().flat_map(|(edge, _)| *edge).collect();
        all.sort_unstable();
        all.dedup();
        for vertex in all {
            let cell = (vertices[vertex as usize] / width).floor().as_i64vec3();
            of_cells.entry(cell).or_default().push(vertex);
        }
        Cells { width, near, vertices: of_cells }
    }

    /// Vertices between the ends of an edge, from its first to its second; those of its triangle do not count.
    fn on(&self, vertices: &[DVec3], edge: Edge, corners: [u32; 3]) -> Vec<u32> {
        let [from, to] = edge.map(|vertex| vertices[vertex as usize]);
        let length = from.distance(to);
        let along = (to - from) / length;
        let steps = (2.0 * length / self.width).ceil().max(1.0);
        let mut found: Vec<(f64, u32)> = Vec::new();
        for step in 0..=steps as u64 {
            // Vertices within a quarter of a cell, and so near the edge, are in the cell of this place or in those on its nearer sides.
            let scaled = from.lerp(to, step as f64 / steps) / self.width;
            let cell = scaled.floor();
            let beside = DVec3::select((scaled - cell).cmplt(DVec3::splat(0.5)), DVec3::NEG_ONE, DVec3::ONE);
            for octant in 0..8_u32 {
                let take =
                    DVec3::new(f64::from(octant & 1), f64::from(octant >> 1 & 1), f64::from(octant >> 2));
                let here = self.vertices.get(&(cell + take * beside).as_i64vec3());
                for &vertex in here.into_iter().flatten().filter(|vertex| !corners.contains(vertex)) {
                    let place = vertices[vertex as usize] - from;
                    let at = place.dot(along);
                    let is_between = at > self.near && at < length - self.near;
                    if is_between && (place - at * along).length() <= self.near {
                        found.push((at, vertex));
                    }
                }
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.dedup();
        found.into_iter().map(|(_, vertex)| vertex).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Mesh;
    use super::super::samples::box_triangles;
    use super::*;

    /// A cube whose top is cut into four squares, while its sides know only the corners: four T-junctions.
    fn with_junctions(off: f64) -> Vec<[DVec3; 3]> {
        let is_top = |corners: &[DVec3; 3]| corners.iter().all(|corner| corner.z == 1.0);
        let mut cube = box_triangles(DVec3::ONE);
        cube.retain(|corners| !is_top(corners));
        for (x, y) in [(-1.0, -1.0), (0.0, -1.0), (-1.0, 0.0), (0.0, 0.0)] {
            let at = |a: f64, b: f64| {
                let place = DVec3::new(x + a, y + b, 1.0);
                let is_middle = place.x * place.y == 0.0 && place.truncate().length() == 1.0;
                place + if is_middle { off * DVec3::Z } else { DVec3::ZERO }
            };
            let corners = [at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)];
            cube.push([corners[0], corners[1], corners[2]]);
            cube.push([corners[0], corners[2], corners[3]]);
        }
        cube
    }

    #[test]
    fn t_junctions_are_closed_where_the_gap_is_below_the_tolerance() {
        // The tolerance is 1e-6 of the diagonal, 3.5e-6.
        for off in [0.0, 2e-6] {
            let mesh = Mesh::new("cube", &with_junctions(off)).expect("a mesh");
            assert!(mesh.defects.is_closed(), "{:?}", mesh.defects);
            assert_eq!((mesh.defects.divided, mesh.triangles.len(), mesh.patches.len()), (4, 22, 6));
            assert!((mesh.solid().volume - 8.0).abs() < 1e-5, "{}", mesh.solid().volume);
        }
        let apart = Mesh::new("cube", &with_junctions(1e-4)).expect("a mesh");
        assert_eq!((apart.defects.divided, apart.defects.open), (0, 12));
    }

    #[test]
    fn an_edge_may_pass_several_vertices() {
        let fan =
            |i: f64| [DVec3::new(i, 0.0, 0.0), DVec3::new(i + 1.0, 0.0, 0.0), DVec3::new(2.0, 1.0, 0.0)];
        let mut sheet = vec![[DVec3::new(4.0, 0.0, 0.0), DVec3::ZERO, DVec3::new(2.0, -9.0, 0.0)]];
        sheet.extend([0.0, 1.0, 2.0, 3.0].map(fan));
        let mesh = Mesh::new("sheet", &sheet).expect("a mesh");
        assert_eq!((mesh.triangles.len(), mesh.defects.open, mesh.patches.len()), (8, 4, 1));
        assert_eq!(mesh.defects.turned, 0);
    }
}
