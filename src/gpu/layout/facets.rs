//! What is around the triangles of a mesh that solids meet one by one, in the layout of the device, which `shaders/facets.wgsl`
//! describes.

use super::solids::{Block, block};
use super::{NONE, single};
use crate::model::mesh::Mesh;

/// Number of blocks per triangle.
const AROUND: usize = 2;

/// Places of what is around the triangles of a mesh.
#[derive(Debug, Clone)]
pub(super) struct FacetPlaces {
    /// First block.
    pub first: u32,
    /// Per vertex a block that begins with its coordinates: one of a triangle, or of its own.
    vertices: Vec<u32>,
    /// First block of the vertices that are no corners here, as those of the next sheet.
    others: u32,
    /// Per vertex the first word of the list of the vertices around it.
    lists: Vec<u32>,
}

impl FacetPlaces {
    /// Returns the places behind a mesh whose triangles begin at the blocks that `block_of` tells; moves the end of the mesh behind them.
    pub fn of(mesh: &Mesh, block_of: impl Fn(usize) -> usize, end: &mut usize) -> FacetPlaces {
        let first = *end as u32;
        let mut vertices = vec![NONE; mesh.vertices.len()];
        for (index, triangle) in mesh.triangles.iter().enumerate() {
            for (corner, &vertex) in triangle.corners.iter().enumerate() {
                vertices[vertex as usize] = (block_of(index) + corner) as u32;
            }
        }
        let mut word = 4 * (*end + AROUND * mesh.triangles.len());
        let list = |vertex: u32| {
            let place = word;
            word += 1 + mesh.vertices_around(vertex).len();
            place as u32
        };
        let lists = (0..mesh.around_count() as u32).map(list).collect();
        *end = word.div_ceil(4);
        let others = *end as u32;
        for vertex in vertices.iter_mut().filter(|vertex| **vertex == NONE) {
            *vertex = *end as u32;
            *end += 1;
        }
        FacetPlaces { first, vertices, others, lists }
    }

    /// Writes what is around all triangles.
    pub fn write(&self, mesh: &Mesh, blocks: &mut [Block]) {
        let place_of = |vertex: u32| self.vertices[vertex as usize];
        for (index, triangle) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = mesh.beyond(index).map(|vertex| vertex.map_or(NONE, place_of));
            let [d, e, f] = triangle.corners.map(|vertex| self.lists[vertex as usize]);
            let at = self.first as usize + AROUND * index;
            blocks[at] = [a, b, c, d];
            blocks[at + 1] = [e, f, 0, 0];
        }
        for (&place, &vertex) in
            self.vertices.iter().zip(&mesh.vertices).filter(|(place, _)| **place >= self.others)
        {
            blocks[place as usize] = block(single(vertex), 0);
        }
        let words: &mut [u32] = bytemuck::cast_slice_mut(blocks);
        for (vertex, &list) in (0..).zip(&self.lists) {
            let (list, around) = (list as usize, mesh.vertices_around(vertex));
            words[list] = around.len() as u32;
            for (to, &vertex) in words[list + 1..].iter_mut().zip(around) {
                *to = place_of(vertex);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::{DQuat, DVec3};

    use super::super::surfaces_and_meshes;
    use super::*;
    use crate::model::mesh::samples::sheet;
    use crate::model::{Boundary, Clump, Motion, World};
    use crate::shape::Convex;

    #[test]
    fn beside_polyhedra_a_sheet_has_what_is_around_its_triangles() {
        let mut world = World::default();
        let boundary = Boundary {
            name: "sheet".into(),
            position: DVec3::ZERO,
            orientation: DQuat::IDENTITY,
            motion: Motion::Fixed,
        };
        let surfaces = world.mesh_surfaces(Arc::new(sheet(1.0, 1)), DVec3::ZERO, DQuat::IDENTITY, 0);
        world.add_boundary(boundary, surfaces);
        let without = surfaces_and_meshes(&world).len();
        world.clumps = vec![Clump::of_hull("cube", &Convex::cuboid(DVec3::ONE))];
        let bytes = surfaces_and_meshes(&world);
        assert!(bytes.len() > without, "{} bytes, {without} without polyhedra", bytes.len());
        let blocks: &[Block] = bytemuck::cast_slice(&bytes);
        let words: &[u32] = bytemuck::cast_slice(&bytes);
        let head = blocks[4];
        let place =
            |word: u32| DVec3::from([0, 1, 2].map(|i| f64::from(f32::from_bits(blocks[word as usize][i]))));
        for triangle in 0..2 {
            let facet = world.meshes[0].facet(triangle);
            let at = (head[2] >> 1) as usize + AROUND * triangle;
            let found = [0, 1, 2].map(|i| blocks[at][i]).map(|word| (word != NONE).then(|| place(word)));
            assert_eq!(found, facet.beyond);
            for (list, around) in
                [blocks[at][3], blocks[at + 1][0], blocks[at + 1][1]].into_iter().zip(facet.around)
            {
                let list = list as usize;
                let found: Vec<DVec3> =
                    words[list + 1..][..words[list] as usize].iter().map(|&word| place(word)).collect();
                let expected: Vec<DVec3> =
                    around.iter().map(|&vertex| facet.vertices[vertex as usize]).collect();
                assert_eq!(found, expected);
            }
        }
    }
}
