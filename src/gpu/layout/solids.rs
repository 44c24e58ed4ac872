//! Convex solids in the layout of the device, which `shaders/shared/convex.wgsl` describes.

use std::collections::HashMap;

use super::{NONE, OF_BALL, OF_HULL, single};
use crate::model::solids::UNIT_BALL;
use crate::model::{SpherePart, World};
use crate::shape::Convex;

/// Block of four words, the unit in which the device reads surfaces, meshes and solids.
pub(super) type Block = [u32; 4];

/// Number of blocks of the head of a solid, and of a face.
const HEAD: usize = 3;
const FACE: usize = 2;

/// The different convex solids of a world: those of surfaces, those of polyhedra, and a ball for spheres that meet them.
#[derive(Default)]
pub(super) struct SolidBlocks<'a> {
    /// Solids with their first blocks.
    list: Vec<(&'a Convex, u32)>,
    /// First block of the solid of each surface, 0 where there is none.
    of_surface: Vec<u32>,
    /// First block of the polyhedron of each clump, 0 where it is none.
    of_clump: Vec<u32>,
    /// Block of the ball that stands for spheres of grains among polyhedra, 0 without these.
    ball: u32,
    /// The block after the last solid.
    pub end: usize,
}

impl<'a> SolidBlocks<'a> {
    /// Returns the solids of a world if it has dynamic ones, from block `first` on.
    pub fn of(world: &'a World, first: usize) -> SolidBlocks<'a> {
        let mut solids = SolidBlocks { end: first, ..SolidBlocks::default() };
        if !world.has_solids() {
            return solids;
        }
        // Surfaces of the same form share a solid.
        let mut known: HashMap<*const Convex, u32> = HashMap::new();
        for surface in 0..world.surfaces.len() as u32 {
            let block = world.solids.of(surface).map_or(0, |solid| {
                *known.entry(std::ptr::from_ref(solid)).or_insert_with(|| solids.add(solid))
            });
            solids.of_surface.push(block);
        }
        for clump in &world.clumps {
            let block = clump.hull.as_ref().map_or(0, |hull| solids.add(hull));
            solids.of_clump.push(block);
        }
        if world.has_polyhedra() {
            solids.ball = solids.add(&UNIT_BALL);
        }
        solids
    }

    /// Adds a solid at the end; returns its first block.
    fn add(&mut self, solid: &'a Convex) -> u32 {
        let block = self.end as u32;
        self.list.push((solid, block));
        self.end += blocks_of(solid);
        block
    }

    /// Returns the tag of a vertex, or of the sphere of a grain that is not removed.
    pub fn tag_of(&self, part: SpherePart) -> u32 {
        match part {
            SpherePart::Ball if self.ball > 0 => OF_BALL + self.ball,
            SpherePart::Ball => NONE,
            SpherePart::Solid(surface) | SpherePart::Patch(surface) => surface,
            SpherePart::Hull(clump) => OF_HULL + self.of_clump.get(clump as usize).copied().unwrap_or(0),
        }
    }

    /// Returns the first block of the solid of a surface, 0 if there is none.
    pub fn block_of(&self, surface: u32) -> u32 {
        self.of_surface.get(surface as usize).copied().unwrap_or(0)
    }

    /// Writes all solids.
    pub fn write(&self, blocks: &mut [Block]) {
        for &(solid, first) in &self.list {
            let end = first as usize + blocks_of(solid);
            write(&mut blocks[first as usize..end], first, solid);
        }
    }
}

fn blocks_of(solid: &Convex) -> usize {
    let words = solid.loops.len().div_ceil(4);
    HEAD + solid.corners.len() + FACE * solid.faces.len() + solid.edges.len() + words
}

/// Writes a solid whose first block has this index among all.
fn write(blocks: &mut [Block], first: u32, solid: &Convex) {
    let [corners, faces, edges] =
        [solid.corners.len(), solid.faces.len(), solid.edges.len()].map(|count| count as u32);
    let corner_of = |corner: u32| first + HEAD as u32 + corner;
    let face_of = |face: u32| corner_of(corners) + FACE as u32 * face;
    let words = 4 * (face_of(faces) + edges);
    let round = solid.round.map_or([0.0; 3], |round| {
        [round.bottom_radius, round.top_radius, round.half_length].map(|length| length as f32)
    });
    blocks[0] = [corners, faces, edges, u32::from(solid.round.is_some())];
    blocks[1] = block(round, (solid.rounding as f32).to_bits());
    blocks[2] = block(single(solid.middle), (solid.radius as f32).to_bits());
    let (of_corners, rest) = blocks[HEAD..].split_at_mut(solid.corners.len());
    let (of_faces, rest) = rest.split_at_mut(FACE * solid.faces.len());
    let (of_edges, of_loops) = rest.split_at_mut(solid.edges.len());
    for (to, corner) in of_corners.iter_mut().zip(&solid.corners) {
        *to = block(single(*corner), 0);
    }
    for (to, face) in of_faces.as_chunks_mut::<FACE>().0.iter_mut().zip(&solid.faces) {
        let plane = block(single(face.normal), (face.offset as f32).to_bits());
        *to = [plane, [words + face.first, face.count, 0, 0]];
    }
    for (to, edge) in of_edges.iter_mut().zip(&solid.edges) {
        let [from, end] = edge.ends.map(corner_of);
        let [one, other] = edge.faces.map_or([NONE; 2], |faces| faces.map(face_of));
        *to = [from, end, one, other];
    }
    let of_loops: &mut [u32] = bytemuck::cast_slice_mut(of_loops);
    for (to, &corner) in of_loops.iter_mut().zip(&solid.loops) {
        *to = corner_of(corner);
    }
}

pub(super) fn block([x, y, z]: [f32; 3], word: u32) -> Block {
    [x.to_bits(), y.to_bits(), z.to_bits(), word]
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::super::surfaces_and_meshes;
    use super::*;
    use crate::model::{Boundary, Form, Motion, RigidBody, Surface};

    fn boxes(count: usize, is_free: bool) -> World {
        let mut world = World::default();
        let form = Form::Box { half: DVec3::new(1.0, 2.0, 3.0) };
        for i in 0..count {
            let free = RigidBody::solid(form, 1000.0).expect("a box has a mass");
            let boundary = Boundary {
                name: format!("box {i}"),
                position: 10.0 * i as f64 * DVec3::X,
                orientation: DQuat::IDENTITY,
                motion: if is_free { Motion::Dynamic(free) } else { Motion::Fixed },
            };
            world.add_boundary(boundary, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, form, 0)]);
        }
        world
    }

    #[test]
    fn a_solid_lies_behind_the_surfaces_once_for_all_that_bound_it() {
        let world = boxes(3, true);
        let bytes = surfaces_and_meshes(&world);
        let blocks: &[Block] = bytemuck::cast_slice(&bytes);
        // A surface has four blocks; a box a head of three, 8 corners, 6 faces of two, 12 edges, and 24 corners of faces.
        assert_eq!(blocks.len(), 3 * 4 + 3 + 8 + 6 * 2 + 12 + 24 / 4);
        assert_eq!([0, 1, 2].map(|surface| blocks[4 * surface + 3][3]), [12; 3]);
        assert_eq!(blocks[12], [8, 6, 12, 0]);
        let number = |word: u32| f32::from_bits(word);
        assert_eq!(blocks[15].map(number), [-1.0, -2.0, -3.0, 0.0]);
        // The face towards +x is the second one.
        let face = 15 + 8 + 2;
        assert_eq!(blocks[face].map(number), [1.0, 0.0, 0.0, 1.0]);
        let [first, count, ..] = blocks[face + 1];
        let corner = |word: u32| blocks[blocks[word as usize / 4][word as usize % 4] as usize];
        assert!((first..first + count).all(|word| number(corner(word)[0]) == 1.0));
        // The two faces of an edge hold both its corners.
        for edge in &blocks[15 + 8 + 12..15 + 8 + 24] {
            for face in &edge[2..] {
                let [first, count, ..] = blocks[*face as usize + 1];
                let loop_of: Vec<u32> =
                    (first..first + count).map(|word| blocks[word as usize / 4][word as usize % 4]).collect();
                assert!(edge[..2].iter().all(|end| loop_of.contains(end)), "{edge:?} {loop_of:?}");
            }
        }
    }

    #[test]
    fn worlds_without_dynamic_solids_hold_no_solid() {
        assert_eq!(surfaces_and_meshes(&boxes(2, false)).len(), 2 * 64);
    }
}
