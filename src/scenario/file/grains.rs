//! The `[[grains]]` tables: blocks of grains that are present from the start.

use std::ops::Range;
use std::path::Path;

use glam::DVec3;

use super::clumps::{make, radii_of};
use super::heat::TEMPERATURE;
use super::materials::material_id;
use super::packing::{self, Body, GrainsToPack, Packing, PlacedGrain, Refusal, Weight, packing};
use super::radii::has_size;
use super::read::{Need, Node, ReadReport, Table, boolean, number, vector};
use super::{MAX_GRAINS, locked_axes};
use crate::model::Random;
use crate::model::plane::grain_volume;
use crate::model::random::Stream;
use crate::model::{Axes, Clump, ClumpId, Grain, MaterialId, World};
use crate::sources::FreeRoom;
use crate::sources::grid::SphereGrid;
use crate::sources::make::Make;
use crate::sources::radii::Radii;

/// Standard deviation of a random velocity \[m/s\].
const SPEED: Need =
    Need::new(|x| (0.0..=1e9).contains(&x), "zero or a positive speed in metres per second (at most 1e9)");

/// Largest accepted overlap of grains that were placed, over the smaller radius \[-\].
pub const PLACED: f64 = 0.01;
/// Largest accepted overlap in a packing from a file, which may have settled under load, over the smaller radius \[-\].
const SETTLED: f64 = 0.5;

/// Block of grains that was read but not placed yet.
pub struct GrainBlock {
    /// Index of the block in the list, from 0.
    index: usize,
    /// Place of its packing in the file.
    pub span: Range<usize>,
    /// Materials, given to the grains in turn.
    materials: Vec<MaterialId>,
    make: Make,
    radii: Radii,
    packing: Packing,
    /// Clumps of its own, which bodies of several spheres of a file are, until they are in the world.
    clumps: Vec<Clump>,
    /// Index of the first of them in the world.
    first_clump: ClumpId,
    velocity: DVec3,
    angular_velocity: DVec3,
    /// Standard deviation of the random velocity along each axis \[m/s\].
    random_velocity: f64,
    /// Locked axes of its grains, in addition to those of all grains.
    locked: Axes,
    /// Temperature of its grains at the start \[K\]; `None` for that of the scene.
    temperature: Option<f64>,
    holds_temperature: bool,
    /// Overlap up to which its grains may overlap each other and boundaries at the start, over the smaller radius \[-\].
    pub accepted_overlap: f64,
}

/// Reads a material, or a list of them.
fn materials(node: Node<'_>, world: &World) -> Option<Vec<MaterialId>> {
    let material = material_id(&world.materials);
    if !node.is_list() {
        return material(node).map(|material| vec![material]);
    }
    let list = node.clone().list(material)?;
    if list.is_empty() {
        node.problem(format!("`{}` is empty", node.name()), "name at least one material");
    }
    (!list.is_empty()).then_some(list)
}

/// Mean mass of grains of these materials, which are dealt in turn, over the volume of their equivalent spheres \[kg/m³\].
fn mean_density(make: &Make, materials: &[MaterialId], world: &World) -> f64 {
    let of = |id: &MaterialId| make.density(&world.clumps, world.materials.list[*id as usize].density);
    materials.iter().map(of).sum::<f64>() / materials.len() as f64
}

/// Reads one of `[[grains]]`; `index` is its place in the list, from 0.
pub fn block(table: &mut Table<'_>, index: usize, world: &World, folder: &Path) -> Option<GrainBlock> {
    let has_material = table.has("material");
    let materials = table.maybe("material", |node| materials(node, world));
    let make = make(table, &world.clumps);
    let reach = make.as_ref().map_or(1.0, Make::reach);
    let has_radii = has_size(table) || make.as_ref().is_none_or(|make| make.listed_radius().is_some());
    let radii = make.as_ref().and_then(|make| radii_of(make, table, world.plane));
    let span = table.node("packing").map_or(table.span.clone(), |node| node.span);
    let density = make.as_ref().zip(materials.as_ref()).map(|(make, ids)| mean_density(make, ids, world));
    let has_heat = world.heat.is_some();
    let grains = GrainsToPack { radii: radii.as_ref(), reach, density, plane: world.plane, has_heat };
    let packing = table.get("packing", |node| packing(node, &grains, &world.materials, folder));
    let is_of_a_file = table.node("packing").is_some_and(|node| packing::is_of_a_file(&node));
    if world.plane.is_some() && (table.has("clump") || table.has("shape")) {
        table.problem(
            format!("`{}` is of clumps or shapes, and the scene is in a plane", table.name()),
            "leave out `clump` and `shape`, or `plane`",
        );
    }
    let velocity = table.or("velocity", DVec3::ZERO, vector);
    let angular_velocity = table.or("angular_velocity", DVec3::ZERO, vector);
    let random_velocity = table.or("random_velocity", 0.0, number(SPEED));
    let locked = locked_axes(table);
    let temperature = table.maybe("temperature", number(TEMPERATURE));
    let holds_temperature = table.maybe("hold_temperature", boolean).unwrap_or(false);
    // What a file that cannot be read holds is not known.
    let or_known = |needs: fn(&Packing) -> bool| packing.as_ref().map_or(!is_of_a_file, needs);
    let needs_radii = or_known(Packing::needs_radii);
    let needs_material = or_known(Packing::needs_material);
    if needs_material && !has_material {
        table.missing("material", "for example material = \"glass\"");
    }
    let is_of_file = matches!(packing, Some(Packing::Rows(..)));
    let accepted_overlap = match (table.has("allow_overlap"), table.or("allow_overlap", is_of_file, boolean))
    {
        (true, true) => f64::INFINITY,
        (false, true) => SETTLED,
        (_, false) => PLACED,
    };
    if needs_radii && !has_radii {
        table.missing("radius", "for example radius = { kind = \"constant\", value = 0.005 }");
    }
    let radii = if needs_radii { radii? } else { radii.unwrap_or(Radii::Constant(1.0)) };
    let (make, mut packing) = (make?, packing?);
    if !has_heat && packing.has_temperatures() {
        let note = "the temperatures of its file are left out, as the scene has no [heat]";
        table.report.note(format!("`{}`: {note}", table.name()));
    }
    let clumps = packing.take_clumps();
    if !clumps.is_empty() && !may_hold_bodies(table, world) {
        return None;
    }
    // Where the file has materials, grains without one are told.
    let materials = if has_material || needs_material { materials? } else { Vec::new() };
    if packing.weighs() && make.has_given_mass(&world.clumps) {
        table.problem(
            format!(
                "`{}` is of clumps with a `mass`, and its file has a mass or density for each",
                table.name()
            ),
            "leave out one of them",
        );
        return None;
    }
    Some(GrainBlock {
        index,
        span,
        materials,
        make,
        radii,
        packing,
        clumps,
        first_clump: 0,
        velocity,
        angular_velocity,
        random_velocity,
        locked,
        temperature,
        holds_temperature,
        accepted_overlap,
    })
}

/// Returns whether a block may hold bodies of several spheres, which its file has; reports why not.
fn may_hold_bodies(table: &mut Table<'_>, world: &World) -> bool {
    let name = table.name();
    if table.has("clump") {
        table.problem(
            format!("`{name}` is of clumps, and its file has bodies of several spheres (id_multisphere)"),
            "leave out `clump`: each body becomes a clump; or take out the column",
        );
    } else if world.plane.is_some() {
        table.problem(
            format!("the file of `{name}` has bodies of several spheres (id_multisphere), and the scene is in a plane"),
            "leave out `plane`",
        );
    }
    !table.has("clump") && world.plane.is_none()
}

impl GrainBlock {
    /// Gives the clumps of the block to the world.
    pub fn hand_over_clumps(&mut self, world: &mut World) {
        self.first_clump = world.clumps.len() as ClumpId;
        world.clumps.append(&mut self.clumps);
    }

    /// Returns the name as in `--set`.
    pub fn name(&self) -> String {
        format!("grains.{}", self.index)
    }

    fn grain(
        &self,
        world: &World,
        (i, placed): (usize, &PlacedGrain),
        locked: Axes,
        random: &mut Random,
    ) -> Grain {
        let row = self.packing.row(i);
        let of_block = || self.materials.get(i % self.materials.len().max(1)).copied().unwrap_or_default();
        let material = row.and_then(|row| row.material).unwrap_or_else(of_block);
        let turn = row.and_then(|row| row.orientation);
        let made = match row.map(|row| row.body) {
            Some(Body::Clump(clump)) => Grain {
                clump: Some(self.first_clump + clump),
                orientation: turn.unwrap_or_default(),
                ..Grain::at(placed.position, placed.radius, material)
            },
            _ => self.make.grain(placed.position, placed.radius, material, turn, random),
        };
        let grain = Grain {
            velocity: placed.motion.velocity.unwrap_or(self.velocity),
            angular_velocity: placed.motion.angular_velocity.unwrap_or(self.angular_velocity),
            locked: locked.and(self.locked),
            temperature: row.and_then(|row| row.temperature).or(self.temperature),
            holds_temperature: self.holds_temperature,
            ..made
        };
        match row.map(|row| row.weight) {
            None | Some(Weight::OfMaterial) => grain,
            Some(Weight::Density(density)) => Grain { density: Some(density), ..grain },
            Some(Weight::Mass(mass)) => {
                let of_one = world.mass_of(&Grain { density: Some(1.0), ..grain });
                Grain { density: Some(mass / of_one), ..grain }
            }
        }
    }

    /// Adds random velocities with zero total momentum, and none along a locked axis.
    fn agitate(&self, world: &World, grains: &mut [Grain], random: &mut Random) {
        if self.random_velocity == 0.0 {
            return;
        }
        let mut draw = || self.random_velocity * random.normal();
        let drawn: Vec<DVec3> = grains.iter().map(|_| DVec3::new(draw(), draw(), draw())).collect();
        let of_material = |grain: &Grain| world.materials.list[grain.material as usize].density;
        let density = |grain: &Grain| grain.density.unwrap_or_else(|| of_material(grain));
        let mass = |grain: &Grain| density(grain) * grain_volume(world.plane, grain.radius);
        let momentum: DVec3 =
            grains.iter().zip(&drawn).map(|(grain, &velocity)| mass(grain) * velocity).sum();
        let mean = momentum / grains.iter().map(mass).sum::<f64>();
        for (grain, velocity) in grains.iter_mut().zip(drawn) {
            grain.velocity += (velocity - mean) * grain.locked.free_translation();
        }
    }
}

/// Grains of all blocks, in the order of the file.
pub struct Placement {
    /// The grains.
    pub grains: Vec<Grain>,
    /// Index of the first grain of each block, and the index of the block.
    pub starts: Vec<(usize, usize)>,
}

impl Placement {
    /// Returns the block of a grain; `None` for a grain from a checkpoint.
    pub fn block_of(&self, grain: usize) -> Option<usize> {
        let next = self.starts.partition_point(|&(first, _)| first <= grain);
        next.checked_sub(1).map(|run| self.starts[run].1)
    }

    /// Returns the name of the block of a grain, or "start" for a grain from a checkpoint.
    pub fn name_of(&self, grain: usize, blocks: &[GrainBlock]) -> String {
        self.block_of(grain).map_or_else(|| "start".to_owned(), |block| blocks[block].name())
    }
}

/// Places the grains of all blocks after those from a checkpoint. The world already has its boundaries, and random packings keep clear of
/// them.
pub fn place(
    given: Vec<Grain>,
    blocks: &[GrainBlock],
    world: &World,
    seed: u64,
    locked: Axes,
    report: &ReadReport,
) -> Placement {
    let mut placement = Placement { grains: given, starts: Vec::new() };
    for (i, block) in blocks.iter().enumerate() {
        let room = MAX_GRAINS.saturating_sub(placement.grains.len() as u64);
        let mut random = Random::new(seed, Stream::Grains(block.index));
        let placed = match block.packing.count() {
            Some(count) if count > room => Err(too_many()),
            _ => place_block(block, world, &placement.grains, &mut random),
        };
        match placed {
            Ok(placed) if placed.len() as u64 > room => {
                let (message, help) = too_many();
                report.problem(&block.span, message, help);
            }
            Ok(placed) => {
                let first = placement.grains.len();
                placement.starts.push((first, i));
                let grains =
                    placed.iter().enumerate().map(|grain| block.grain(world, grain, locked, &mut random));
                placement.grains.extend(grains);
                block.agitate(world, &mut placement.grains[first..], &mut random);
            }
            Err((message, help)) => report.problem(&block.span, message, help),
        }
    }
    placement
}

fn too_many() -> Refusal {
    (format!("the scenario holds more than {MAX_GRAINS} grains"), "use fewer grains".to_owned())
}

fn place_block(
    block: &GrainBlock,
    world: &World,
    earlier: &[Grain],
    random: &mut Random,
) -> Result<Vec<PlacedGrain>, Refusal> {
    let Packing::Random { region, .. } = &block.packing else {
        return block.packing.place(&block.radii, block.make.reach(), &world.periodic, random, &|_, _| false);
    };
    let mut grid = SphereGrid::new(world.periodic);
    let spheres = earlier.iter().flat_map(|grain| world.spheres_of(grain));
    spheres.for_each(|(centre, radius)| grid.insert(centre, radius));
    let room = FreeRoom::within(world, region, block.make.reach() * block.radii.largest());
    let is_blocked =
        |centre: DVec3, radius: f64| grid.is_blocked(centre, radius) || room.is_taken(centre, radius);
    block.packing.place(&block.radii, block.make.reach(), &world.periodic, random, &is_blocked)
}
