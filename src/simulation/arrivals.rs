//! Grains that are added by hand: they keep clear of everything, unless the caller allows overlaps.

use glam::DVec3;
use pollster::block_on;

use super::Simulation;
use crate::engine::Occupied;
use crate::error::Error;
use crate::model::{Clump, Grain, Kinds, Sphere, SurfaceBox, World, clump};
use crate::sources::FreeRoom;
use crate::sources::grid::SphereGrid;

/// Largest accepted overlap, over the smaller radius \[-\].
const ACCEPTED: f64 = 0.01;

impl Simulation<'_> {
    /// Adds grains.
    ///
    /// # Errors
    /// When a grain overlaps another one or a boundary by more than 1 % of the smaller radius, or is inside a solid; when a number of
    /// theirs is out of range, there is no room on the device, or a period is too short for them. Then none is added.
    pub fn add_grains(&mut self, grains: &[Grain]) -> Result<(), Error> {
        block_on(self.add_grains_async(grains))
    }

    /// As [`Simulation::add_grains`], without waiting for the device.
    ///
    /// # Errors
    /// As [`Simulation::add_grains`].
    pub async fn add_grains_async(&mut self, grains: &[Grain]) -> Result<(), Error> {
        self.check_grains(grains)?;
        let occupied = self.engine.occupied_async().await?;
        refuse_overlaps(&occupied, &self.clumps, grains)?;
        self.put_grains(grains).await
    }

    /// Adds grains wherever they are: those that overlap others or boundaries are pushed apart, which may throw them.
    ///
    /// # Errors
    /// When a number of theirs is out of range, there is no room on the device, or a period is too short for them.
    pub fn add_overlapping_grains(&mut self, grains: &[Grain]) -> Result<(), Error> {
        block_on(self.add_overlapping_grains_async(grains))
    }

    /// As [`Simulation::add_overlapping_grains`], without waiting for the device.
    ///
    /// # Errors
    /// As [`Simulation::add_overlapping_grains`].
    pub async fn add_overlapping_grains_async(&mut self, grains: &[Grain]) -> Result<(), Error> {
        self.check_grains(grains)?;
        self.put_grains(grains).await
    }

    /// Refuses grains with numbers out of range.
    fn check_grains(&self, grains: &[Grain]) -> Result<(), Error> {
        let (materials, clumps) = (&self.frictions.materials, self.clumps.as_slice());
        Kinds { materials, clumps, plane: self.plane }.check(grains, self.grains)
    }

    async fn put_grains(&mut self, grains: &[Grain]) -> Result<(), Error> {
        self.state = None;
        self.engine.add_grains_async(grains).await?;
        self.grains += grains.len();
        Ok(())
    }
}

/// Refuses grains of which one overlaps a grain, a boundary or an earlier one of them.
fn refuse_overlaps(occupied: &Occupied<'_>, clumps: &[Clump], grains: &[Grain]) -> Result<(), Error> {
    let spheres: Vec<(usize, DVec3, f64)> = (0..)
        .zip(grains)
        .flat_map(|(i, grain)| clump::spheres_of(clumps, grain).into_iter().map(move |(at, r)| (i, at, r)))
        .collect();
    let world = occupied.boundaries;
    let mut grid = SphereGrid::new(world.periodic);
    let [low, high] = spheres.iter().fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], sphere| {
        let (_, centre, radius) = *sphere;
        [low.min(centre - radius), high.max(centre + radius)]
    });
    let is_near = |(centre, radius): &(DVec3, f64)| {
        let near = centre.cmpge(low - *radius) & centre.cmple(high + *radius);
        (near | world.periodic.length.cmpgt(DVec3::ZERO)).all()
    };
    let present: Vec<(DVec3, f64)> = occupied.spheres.iter().copied().filter(is_near).collect();
    present.iter().for_each(|&(centre, radius)| grid.insert(centre, radius));
    let boxes = world.surface_boxes();
    // The spheres of a clump may overlap each other, and come into the grid together.
    for of_grain in spheres.chunk_by(|one, other| one.0 == other.0) {
        for &(grain, centre, radius) in of_grain {
            let of_grains = grid.deepest(centre, radius).map(|(depth, share, id)| {
                let other = match id.checked_sub(present.len()) {
                    Some(new) => format!("grain {} of them", spheres[new].0),
                    None => format!("the grain at {} m", present[id].0),
                };
                (depth, share, other)
            });
            let of_walls = overlap_with_boundary(world, &boxes, centre, radius);
            let worst = [of_grains, of_walls].into_iter().flatten().find(|(_, share, _)| *share > ACCEPTED);
            if let Some((depth, share, other)) = worst {
                return Err(Error::NoRoom { grain, other, depth, percent: 100.0 * share });
            }
        }
        of_grain.iter().for_each(|&(_, centre, radius)| grid.insert(centre, radius));
    }
    Ok(())
}

/// Deepest overlap of a sphere with a boundary \[m\], the overlap over its radius, and the name of the boundary. In the closed mesh of
/// a dynamic boundary a sphere overlaps by its diameter.
fn overlap_with_boundary(
    world: &World,
    boxes: &[SurfaceBox],
    centre: DVec3,
    radius: f64,
) -> Option<(f64, f64, String)> {
    let deepest = world.deepest_boundary(boxes, centre, &Sphere::alone(radius));
    let (mut depth, mut body) = deepest.map_or((0.0, None), |(gap, body)| (-gap, Some(body)));
    if let Some(around) = FreeRoom::mesh_around(world, boxes, centre) {
        (depth, body) = (depth.max(2.0 * radius), Some(around.body()));
    }
    let name = |body: usize| format!("boundary \"{}\"", world.boundaries[body].name);
    body.map(|body| (depth, depth / radius, name(body)))
}
