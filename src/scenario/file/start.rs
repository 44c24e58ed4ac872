//! The `[start]` table: grains of another run at one of its checkpoints, in the positions that they had reached.

use std::path::Path;

use glam::DVec3;

use crate::checkpoint::{Checkpoint, SavedScene};
use crate::contact::{Impulse, Key};
use crate::error::suggest;
use crate::law::pair::Material;
use crate::model::{Axes, Clump, ClumpId, Form, Grain, MaterialId, Surface, World};

use super::read::{AXES, Table, named, text};

/// Grains of a checkpoint, the warm-start impulses of their contacts and their liquid bridges, by the shapes in the new scene.
#[derive(Default)]
pub struct Start {
    /// Grains in the order of their places in the checkpoint.
    pub grains: Vec<Grain>,
    /// Warm-start impulses by ascending key.
    pub seeds: Vec<(Key, Seed)>,
    /// Pairs of shapes that liquid bridges join, ascending.
    pub bridges: Vec<[u32; 2]>,
}

/// Impulse of a contact in another run.
#[derive(Debug, Clone, Copy)]
pub struct Seed {
    /// Impulse in one substep of that run.
    pub impulse: Impulse,
    /// Length of that substep \[s\].
    pub substep: f64,
}

/// Reads the table. `world` has materials, boundaries and clumps, but no grains yet; `locked` are the axes that are locked for all its
/// grains.
pub fn read(table: &mut Table<'_>, world: &World, folder: &Path, locked: Axes) -> Option<Start> {
    let node = table.node("checkpoint");
    let name = table.get("checkpoint", text);
    let (node, name) = (node?, name?);
    let read = Checkpoint::read(&folder.join(&name)).and_then(|found| {
        // If the path is a folder, the checkpoint file in it is read, and that file is named and counted among those that were read.
        let file = found.path.display().to_string();
        named(&node, Path::new(""), &file);
        Ok((found.scene()?, found.header.substep))
    });
    let (scene, substep) = read
        .map_err(|error| {
            node.problem(error.to_string(), "name a checkpoint, or a folder of results with one")
        })
        .ok()?;
    let taken = Taken::new(&scene, world).map_err(|(message, help)| node.problem(message, help)).ok()?;
    let grains = taken.grains(locked);
    if grains.is_empty() {
        node.problem("the checkpoint holds no grains", "name one with grains");
    }
    let seeds = taken.seeds().into_iter().map(|(key, impulse)| (key, Seed { impulse, substep }));
    Some(Start { grains, seeds: seeds.collect(), bridges: taken.bridges() })
}

/// Map from the numbers of materials, clumps and shapes in the checkpoint to those in the new scene.
struct Taken<'a> {
    old: &'a SavedScene,
    world: &'a World,
    materials: Vec<Option<MaterialId>>,
    clumps: Vec<Option<ClumpId>>,
    /// New number of each old surface.
    surfaces: Vec<Option<u32>>,
    /// New number of each old sphere of a grain.
    spheres: Vec<Option<u32>>,
}

impl<'a> Taken<'a> {
    /// Finds the materials and clumps of the grains, or returns what is missing and how to correct it.
    fn new(old: &'a SavedScene, world: &'a World) -> Result<Taken<'a>, (String, String)> {
        let there = &old.world;
        let mut spheres = vec![None; there.spheres.len()];
        let present = there.present_grains().flat_map(|grain| there.grains[grain].spheres());
        for (shape, sphere) in (world.first_grain_shape()..).zip(present) {
            spheres[sphere] = Some(shape);
        }
        let material = |old: &Material| {
            let same = |new: &Material| new.name == old.name;
            world.materials.list.iter().position(same).map(|id| id as MaterialId)
        };
        let clump = |old: &Clump| world.clumps.iter().position(|new| new == old).map(|id| id as ClumpId);
        let taken = Taken {
            old,
            world,
            materials: there.materials.list.iter().map(material).collect(),
            clumps: there.clumps.iter().map(clump).collect(),
            surfaces: surfaces(there, world),
            spheres,
        };
        match taken.missing_material().or_else(|| taken.missing_clump()).or_else(|| taken.other_period()) {
            Some(mistake) => Err(mistake),
            None => Ok(taken),
        }
    }

    fn missing_material(&self) -> Option<(String, String)> {
        let there = &self.old.world;
        let material = |grain| there.grain_material(grain) as usize;
        let missing = there.present_grains().map(material).find(|&id| self.materials[id].is_none())?;
        let name = &there.materials.list[missing].name;
        let known: Vec<&str> =
            self.world.materials.list.iter().map(|material| material.name.as_str()).collect();
        let message =
            format!("the grains of the checkpoint are of \"{name}\", and no material has this name here");
        Some((message, suggest(name, known)))
    }

    fn missing_clump(&self) -> Option<(String, String)> {
        let there = &self.old.world;
        let clump = |grain: usize| there.grains[grain].clump.map(|clump| clump as usize);
        let missing = there.present_grains().filter_map(clump).find(|&id| self.clumps[id].is_none())?;
        let name = &there.clumps[missing].name;
        let why = match self.world.clumps.iter().any(|clump| clump.name == *name) {
            true => "a clump of this name is another here",
            false => "no clump has this name here",
        };
        let message = format!("the checkpoint has grains that are clumps \"{name}\", and {why}");
        Some((message, format!("take [clumps.{name}] over from the scenario of the checkpoint")))
    }

    /// A different period is refused: grains would be folded into each other.
    fn other_period(&self) -> Option<(String, String)> {
        let [there, here] = [&self.old.world.periodic, &self.world.periodic];
        let is_other = here.length.cmpgt(DVec3::ZERO) & here.length.cmpne(there.length);
        let axis = (0..3).find(|&axis| is_other.test(axis))?;
        let message = format!(
            "the checkpoint has a period of {} m along {}, and here it is {} m",
            there.length[axis], AXES[axis], here.length[axis]
        );
        Some((message, format!("set periodic.{} as it was, or leave it out", AXES[axis])))
    }

    fn grains(&self, locked: Axes) -> Vec<Grain> {
        let World { bodies, clumps, grains, heat, .. } = &self.old.world;
        let has_heat = heat.is_some();
        let grain = |place: usize| {
            let body = self.old.world.grain_body(place);
            let clump = grains[place].clump;
            let axes = clump.map(|clump| clumps[clump as usize].axes).unwrap_or_default();
            Grain {
                position: bodies.position[body],
                orientation: bodies.orientation[body] * axes.inverse(),
                velocity: bodies.velocity[body],
                angular_velocity: bodies.angular_velocity[body],
                radius: self.old.world.grain_radius(place),
                clump: clump.and_then(|clump| self.clumps[clump as usize]),
                material: self.materials[self.old.world.grain_material(place) as usize].unwrap_or_default(),
                density: grains[place].density,
                locked: locked.and(bodies.locked[body]),
                temperature: has_heat.then(|| bodies.heat[body].temperature),
                holds_temperature: has_heat && bodies.heat[body].inverse_capacity == 0.0,
            }
        };
        self.old.world.present_grains().map(grain).collect()
    }

    /// Impulses of the contacts whose shapes and law are the same in the new scene.
    fn seeds(&self) -> Vec<(Key, Impulse)> {
        let is_same = |old: &Key| {
            let materials = [old.a, old.b].map(|shape| self.old.world.shape_material(shape));
            let [a, b] = materials.map(|material| self.materials[material as usize]);
            a.zip(b).is_some_and(|(a, b)| self.world.materials.law(a, b) == self.old.world.law(old.a, old.b))
        };
        let seed = |(old, impulse): &(Key, Impulse)| {
            let (old, impulse) = self.in_order(*old, *impulse);
            Some((old.renamed(|shape| self.shape(shape))?, impulse))
        };
        let kept = self.old.impulses.iter().filter(|(old, _)| is_same(old));
        let mut seeds: Vec<(Key, Impulse)> = kept.filter_map(seed).collect();
        seeds.sort_unstable_by_key(|(key, _)| *key);
        seeds
    }

    /// Pairs of shapes that liquid bridges join, of those that the new scene has.
    fn bridges(&self) -> Vec<[u32; 2]> {
        let old = self.old.world.liquid.iter().flat_map(|liquid| &liquid.bridges);
        let renamed = old.filter_map(|&[a, b]| Some([self.shape(a)?, self.shape(b)?]));
        let mut bridges: Vec<[u32; 2]> = renamed.collect();
        bridges.sort_unstable();
        bridges
    }

    /// Orders the shapes of a contact by radius, because single precision may have taken two different radii as equal.
    fn in_order(&self, key: Key, impulse: Impulse) -> (Key, Impulse) {
        let there = &self.old.world;
        let sphere = |shape: u32| shape.checked_sub(there.first_grain_shape()).map(|sphere| sphere as usize);
        match sphere(key.a).zip(sphere(key.b)) {
            Some((a, b)) if !there.comes_first(a, b) => {
                let turned = Impulse { tangent: -impulse.tangent, rolling: -impulse.rolling, ..impulse };
                (Key { a: key.b, b: key.a }, turned)
            }
            _ => (key, impulse),
        }
    }

    /// Returns the number of a shape in the new scene; vertices of dynamic boundaries have none.
    fn shape(&self, old: u32) -> Option<u32> {
        match old.checked_sub(self.old.world.first_grain_shape()) {
            Some(sphere) => self.spheres.get(sphere as usize).copied().flatten(),
            None => self.surfaces.get(old as usize).copied().flatten(),
        }
    }
}

/// For each surface of the checkpoint, finds the surface of the same form in the same place on the boundary of the same name.
fn surfaces(there: &World, here: &World) -> Vec<Option<u32>> {
    let boundary = |world: &World, surface: &Surface| world.boundaries[surface.body as usize].name.clone();
    let same_meshes = there.meshes.are(&here.meshes);
    let same = |(index, old): (usize, &Surface)| {
        let is_it = |new: &Surface| {
            let pose = |surface: &Surface| (surface.form, surface.position, surface.orientation);
            pose(old) == pose(new) && boundary(there, old) == boundary(here, new)
        };
        if matches!(old.form, Form::Patch { .. }) && !same_meshes {
            return None;
        }
        // The index of a surface is usually the same; trying it first saves a search in meshes, which may have many surfaces.
        let is_there = here.surfaces.get(index).is_some_and(is_it);
        let found = || here.surfaces.iter().position(is_it);
        (if is_there { Some(index) } else { found() }).map(|surface| surface as u32)
    };
    there.surfaces.iter().enumerate().map(same).collect()
}
