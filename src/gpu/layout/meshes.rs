//! Surfaces, meshes and convex solids in the layout of the device, which `shaders/shared/mesh.wgsl` describes.

use glam::DVec3;

use super::facets::FacetPlaces;
use super::solids::{Block, SolidBlocks, block};
use super::{CLASS_SHIFT, FORM_PATCH, Surface, form, quaternion, single};
use crate::model::mesh::{Mesh, NO_SEAM, Seam};
use crate::model::{Form, World};

/// Number of blocks of a surface, a box and a triangle.
const SURFACE: usize = size_of::<Surface>() / size_of::<Block>();
const BOX: usize = 2;
const TRIANGLE: usize = 4;
/// Number of words of the pseudonormal of a seam.
const NORMAL: usize = 3;

/// Places where the parts of a mesh begin, in blocks; those of its seams in words.
#[derive(Debug, Clone)]
struct Places {
    /// Place of the first block of the mesh, which holds the begin and the end of its tree of boxes, whether it is a solid, and the first
    /// block of what is around its triangles.
    head: u32,
    boxes: u32,
    triangles: u32,
    seams: Vec<u32>,
    /// What is around the triangles, if solids meet them one by one.
    around: Option<FacetPlaces>,
}

impl Places {
    /// Returns the places of a mesh that begins at block `head`, and the block after the mesh.
    fn of(mesh: &Mesh, is_met_by_triangle: bool, head: usize) -> (Places, usize) {
        let boxes = head + 1;
        let triangles = boxes + BOX * mesh.nodes.len();
        let mut word = 4 * (triangles + TRIANGLE * mesh.triangles.len());
        let seam = |seam: &Seam| {
            let place = word;
            word += 1 + seam.patches.len() + NORMAL;
            place as u32
        };
        let seams = mesh.seams.iter().map(seam).collect();
        let mut end = word.div_ceil(4);
        let around =
            is_met_by_triangle.then(|| FacetPlaces::of(mesh, |index| triangles + TRIANGLE * index, &mut end));
        (Places { head: head as u32, boxes: boxes as u32, triangles: triangles as u32, seams, around }, end)
    }

    fn node(&self, node: u32) -> u32 {
        self.boxes + BOX as u32 * node
    }
}

/// Places of the meshes of a world, then of the sheets that stand for thin walls among solids.
struct AllPlaces {
    meshes: Vec<Places>,
    /// Per surface.
    sheets: Vec<Option<Places>>,
    /// Block after the last one.
    end: usize,
}

impl AllPlaces {
    fn of(world: &World) -> AllPlaces {
        let mut end = SURFACE * world.surfaces.len();
        let mut place = |mesh: &Mesh, is_met_by_triangle: bool| {
            let (places, next) = Places::of(mesh, is_met_by_triangle, end);
            end = next;
            places
        };
        let meshes = world.meshes.list().iter().zip(world.meshes_met_by_triangle());
        let meshes = meshes.map(|(mesh, is_met)| place(mesh, is_met)).collect();
        let sheets = world.sheets().into_iter().map(|sheet| Some(place(sheet?, true))).collect();
        AllPlaces { meshes, sheets, end }
    }
}

/// The convex solids of a world in their places behind the meshes.
pub(super) fn solids_behind_meshes(world: &World) -> SolidBlocks<'_> {
    SolidBlocks::of(world, AllPlaces::of(world).end)
}

/// Returns the number of blocks of all meshes and convex solids.
pub fn mesh_blocks(world: &World) -> u32 {
    let end = solids_behind_meshes(world).end;
    u32::try_from(end - SURFACE * world.surfaces.len()).unwrap_or(u32::MAX)
}

/// Returns the bytes of the surfaces, then of the meshes, then of the convex solids.
pub fn surfaces_and_meshes(world: &World) -> Vec<u8> {
    let places = AllPlaces::of(world);
    let solids = SolidBlocks::of(world, places.end);
    let mut blocks: Vec<Block> = vec![[0; 4]; solids.end];
    let classes = world.motion_classes();
    for (index, surface) in (0..).zip(&world.surfaces) {
        let mut record = surface_record(world, index, surface, (&places, &solids));
        record.form |= classes[surface.body as usize] << CLASS_SHIFT;
        let at = SURFACE * index as usize;
        bytemuck::cast_slice_mut(&mut blocks[at..at + SURFACE]).copy_from_slice(bytemuck::bytes_of(&record));
    }
    for (mesh, places) in world.meshes.list().iter().zip(&places.meshes) {
        write_mesh(&mut blocks, mesh, places);
    }
    for (sheet, places) in world.sheets().iter().zip(&places.sheets) {
        if let Some((sheet, places)) = sheet.zip(places.as_ref()) {
            write_mesh(&mut blocks, sheet, places);
        }
    }
    for (index, surface) in (0..).zip(&world.surfaces) {
        if let Form::Patch { mesh, patch: 0 } = surface.form {
            blocks[places.meshes[mesh as usize].head as usize][3] = solids.block_of(index);
        }
    }
    solids.write(&mut blocks);
    bytemuck::cast_slice(&blocks).to_vec()
}

fn surface_record(
    world: &World,
    index: u32,
    surface: &crate::model::Surface,
    (places, solids): (&AllPlaces, &SolidBlocks<'_>),
) -> Surface {
    let (form, size) = form(surface.form);
    let record = Surface {
        position: single(surface.position),
        body: surface.body,
        orientation: quaternion(surface.orientation),
        size,
        form,
        material: surface.material,
        flags: surface.unfelt_by << 1 | u32::from(world.bodies.is_dynamic(surface.body as usize)),
        head: places.sheets[index as usize].as_ref().map_or(solids.block_of(index), |sheet| sheet.head),
    };
    let (Form::Patch { mesh, patch }, Some((_, group))) = (surface.form, world.patches_with(index)) else {
        return record;
    };
    let (places, patch) = (&places.meshes[mesh as usize], &world.meshes[mesh].patches[patch as usize]);
    let words = [places.node(patch.first_node), places.node(patch.end_node), group.start, group.end];
    Surface { form: FORM_PATCH, size: words.map(f32::from_bits), head: places.head, ..record }
}

fn write_mesh(blocks: &mut [Block], mesh: &Mesh, places: &Places) {
    let around = places.around.as_ref().map_or(0, |around| around.first);
    let word = around << 1 | u32::from(mesh.is_solid);
    blocks[places.head as usize] = [places.node(0), places.node(mesh.nodes.len() as u32), word, 0];
    for (index, node) in (0..).zip(&mesh.nodes) {
        let first = places.triangles + TRIANGLE as u32 * node.first;
        let leaf = if node.count > 0 { first << 2 | node.count } else { 0 };
        let at = places.node(index) as usize;
        blocks[at] = block(rounded(node.low, f32::next_down), places.node(node.escape));
        blocks[at + 1] = block(rounded(node.high, f32::next_up), leaf);
    }
    for (index, triangle) in mesh.triangles.iter().enumerate() {
        let corners = mesh.corners(index).map(single);
        let seams = triangle.seams.map(|seam| match seam {
            NO_SEAM => super::NONE,
            seam => places.seams[seam as usize],
        });
        let at = places.triangles as usize + TRIANGLE * index;
        blocks[at] = block(corners[0], triangle.patch);
        blocks[at + 1] = block(corners[1], seams[0]);
        blocks[at + 2] = block(corners[2], seams[1]);
        blocks[at + 3] = [seams[2], seams[3], seams[4], seams[5]];
    }
    let words: &mut [u32] = bytemuck::cast_slice_mut(blocks);
    for (&at, seam) in places.seams.iter().zip(&mesh.seams) {
        let at = at as usize;
        words[at] = (seam.patches.len() as u32) << 1 | u32::from(seam.is_rim);
        let end = at + 1 + seam.patches.len();
        words[at + 1..end].copy_from_slice(&seam.patches);
        words[end..end + NORMAL].copy_from_slice(&single(seam.outwards).map(f32::to_bits));
    }
    if let Some(around) = &places.around {
        around.write(mesh, blocks);
    }
}

/// Returns a corner of a box in single precision, moved outwards so that the box holds the rounded triangles.
fn rounded(corner: DVec3, outwards: impl Fn(f32) -> f32) -> [f32; 3] {
    single(corner).map(outwards)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::DQuat;

    use super::*;
    use crate::model::mesh::samples::cube;
    use crate::model::{Boundary, Motion};

    #[test]
    fn a_mesh_lies_behind_the_surfaces_once_for_all_that_are_made_of_it() {
        let mut world = World::default();
        for name in ["one", "other"] {
            let boundary = Boundary {
                name: name.into(),
                position: DVec3::ZERO,
                orientation: DQuat::IDENTITY,
                motion: Motion::Fixed,
            };
            let surfaces = world.mesh_surfaces(Arc::new(cube()), DVec3::X, DQuat::IDENTITY, 0);
            world.add_boundary(boundary, surfaces);
        }
        let mesh = &world.meshes[0];
        assert_eq!((world.meshes.list().len(), world.surfaces.len()), (1, 12));
        let bytes = surfaces_and_meshes(&world);
        let words: &[u32] = bytemuck::cast_slice(&bytes);
        let boxes = 4 * 12 + 1;
        let triangles = boxes + 2 * mesh.nodes.len();
        // 12 edges and 8 corners, at which two and three patches meet.
        assert_eq!(
            mesh_blocks(&world) as usize,
            triangles - 48 + 4 * 12 + (12 * (3 + NORMAL) + 8 * (4 + NORMAL)).div_ceil(4)
        );
        assert_eq!(words[4 * 48..4 * 48 + 3], [boxes as u32, triangles as u32, 1]);
        let patch_of = |surface: usize| &words[16 * surface + 8..16 * surface + 12];
        assert_eq!(patch_of(0)[2..], [0, 6]);
        assert_eq!(patch_of(7)[2..], [6, 12]);
        assert_eq!(patch_of(1)[..2], patch_of(7)[..2]);
        let seam = words[4 * (triangles + 1) + 3] as usize;
        assert_eq!(words[seam], 2 << 1);
    }
}
