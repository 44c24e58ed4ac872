//! The `[[grains]]`: blocks of grains that are there from the start.

use std::ops::Range;
use std::path::Path;

use glam::DVec3;

use super::MAX_GRAINS;
use super::grid::SphereGrid;
use super::materials::material_id;
use super::packing::{Packing, Placed, Refusal, packing};
use super::radii::{Radii, radii};
use super::random::{Random, Stream};
use super::read::{Report, Table, boolean, vector};
use crate::world::{Axes, Grain, MaterialId, Materials, World};

/// A block of grains, read but not yet placed.
pub struct Block {
    /// Place in the list, from 0.
    index: usize,
    /// Where its packing stands in the file.
    pub span: Range<usize>,
    material: MaterialId,
    radii: Radii,
    packing: Packing,
    velocity: DVec3,
    angular_velocity: DVec3,
    /// Whether its grains may overlap each other and boundaries at the start.
    pub allow_overlap: bool,
}

/// Reads one of `[[grains]]`; `index` is its place in the list, from 0.
pub fn block(table: &mut Table<'_>, index: usize, materials: &Materials, folder: &Path) -> Option<Block> {
    let material = table.get("material", material_id(materials));
    let has_radii = table.has("radius");
    let radii = table.maybe("radius", radii);
    let span = table.node("packing").map_or(table.span.clone(), |node| node.span);
    let packing = table.get("packing", |node| packing(node, radii.as_ref(), folder));
    let velocity = table.or("velocity", DVec3::ZERO, vector);
    let angular_velocity = table.or("angular_velocity", DVec3::ZERO, vector);
    let settled = matches!(packing, Some(Packing::Csv(_)));
    let allow_overlap = table.or("allow_overlap", settled, boolean);
    let needs_radii = packing.as_ref().is_none_or(Packing::needs_radii);
    if needs_radii && !has_radii {
        table.missing("radius", "for example radius = { kind = \"constant\", value = 0.005 }");
    }
    let radii = if needs_radii { radii? } else { radii.unwrap_or(Radii::Constant(1.0)) };
    let (material, packing) = (material?, packing?);
    Some(Block { index, span, material, radii, packing, velocity, angular_velocity, allow_overlap })
}

impl Block {
    /// Name as in `--set`.
    pub fn name(&self) -> String {
        format!("grains.{}", self.index)
    }

    fn grain(&self, placed: &Placed, locked: Axes) -> Grain {
        let (velocity, angular_velocity) = placed.motion.unwrap_or((self.velocity, self.angular_velocity));
        Grain {
            position: placed.position,
            velocity,
            angular_velocity,
            radius: placed.radius,
            material: self.material,
            locked,
        }
    }
}

/// Grains of all blocks, in the order of the file.
#[derive(Default)]
pub struct Placement {
    /// The grains.
    pub grains: Vec<Grain>,
    /// Block of each run of grains: index of its first grain, and the block's index.
    pub starts: Vec<(usize, usize)>,
}

impl Placement {
    /// Block that a grain belongs to.
    pub fn block_of(&self, grain: usize) -> usize {
        let next = self.starts.partition_point(|&(first, _)| first <= grain);
        next.checked_sub(1).map_or(0, |run| self.starts[run].1)
    }
}

/// Places the grains of all blocks. The world has its boundaries, which random packings keep clear of.
pub fn place(blocks: &[Block], world: &World, seed: u64, locked: Axes, report: &Report) -> Placement {
    let mut placement = Placement::default();
    for (i, block) in blocks.iter().enumerate() {
        let room = MAX_GRAINS - placement.grains.len() as u64;
        let placed = match block.packing.count() {
            Some(count) if count > room => Err(too_many()),
            _ => place_block(block, world, &placement.grains, seed),
        };
        match placed {
            Ok(placed) if placed.len() as u64 > room => {
                let (message, help) = too_many();
                report.problem(&block.span, message, help);
            }
            Ok(placed) => {
                placement.starts.push((placement.grains.len(), i));
                placement.grains.extend(placed.iter().map(|grain| block.grain(grain, locked)));
            }
            Err((message, help)) => report.problem(&block.span, message, help),
        }
    }
    placement
}

fn too_many() -> Refusal {
    (format!("the scenario holds more than {MAX_GRAINS} grains"), "use fewer grains".to_owned())
}

fn place_block(block: &Block, world: &World, earlier: &[Grain], seed: u64) -> Result<Vec<Placed>, Refusal> {
    let mut grid = SphereGrid::new(world.periodic);
    if matches!(block.packing, Packing::Random { .. }) {
        earlier.iter().for_each(|grain| grid.insert(grain.position, grain.radius));
    }
    let is_blocked = |centre: DVec3, radius: f64| {
        grid.is_blocked(centre, radius)
            || deepest_boundary(world, centre, radius).is_some_and(|(gap, _)| gap < 0.0)
    };
    let mut random = Random::new(seed, Stream::Grains(block.index));
    block.packing.place(&block.radii, &world.periodic, &mut random, &is_blocked)
}

/// Gap \[m\] to the boundary that a sphere touches most deeply, and which one that is.
pub fn deepest_boundary(world: &World, centre: DVec3, radius: f64) -> Option<(f64, usize)> {
    let gap = |surface: &crate::world::Surface| {
        let touch = world.touch_surface(surface, centre, radius)?;
        Some((touch.gap, surface.body as usize))
    };
    world.surfaces.iter().filter_map(gap).min_by(|a, b| a.0.total_cmp(&b.0))
}
