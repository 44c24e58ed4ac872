//! Broadphase: pairs of shapes closer than the margin, by a grid of cells as wide as the largest grain.
//!
//! Cells are hashed row by row into a table, so the grid needs no bounds: a compact scene maps without
//! collisions, a scattered one wraps around, and a grain is only paired when its cell is the one looked
//! for. Grains inside a bucket are ordered by id. Along a periodic axis a whole number of cells, three or
//! more, makes up the period and the last is a neighbour of the first. Twin: `shaders/broadphase.wgsl`.
//!
//! A few grains much larger than the rest, such as a ball dropped on a bed, are kept out of the grid and tested
//! against all: cells as wide as they are would hold hundreds of the others. This is the reference's own; the
//! pairs are the same.

use glam::{DVec3, I64Vec3};
use rayon::prelude::*;

use crate::contact::Key;
use crate::world::{Periodic, Touch, World, contact_reach};

/// Grains handled by one task.
const CHUNK: usize = 256;
/// Grains that are kept out of the grid, at most: every other grain is tested against each of them.
const MAX_OUTSIZE: usize = 16;
/// How many times as large as the rest they are at least \[-\]: cells then hold an eighth of the grains or less.
const OUTSIZE_RATIO: f64 = 2.0;

/// All pairs with a gap below `margin` (in mean diameters of the pair), ascending by key.
pub fn find_pairs(world: &World, margin: f64) -> Vec<Key> {
    let corners = pairs_of_corners(world, margin);
    let Some(grid) = Grid::new(world, margin) else { return corners };
    let tasks = world.grain_count().div_ceil(CHUNK);
    let found: Vec<Vec<Key>> = (0..tasks)
        .into_par_iter()
        .map(|task| {
            let grains = task * CHUNK..((task + 1) * CHUNK).min(world.grain_count());
            let mut keys = Vec::with_capacity(5 * CHUNK);
            grains
                .filter(|&grain| world.is_present(grain))
                .for_each(|grain| grid.pairs_of(world, grain, margin, &mut keys));
            keys
        })
        .collect();
    [vec![corners], found].concat().concat()
}

/// Pairs of the corners of free boundaries with surfaces of other bodies; there are few.
fn pairs_of_corners(world: &World, margin: f64) -> Vec<Key> {
    let surfaces = world.surfaces.len() as u32;
    let mut keys = Vec::new();
    for (i, corner) in world.corners.iter().enumerate() {
        let a = surfaces + i as u32;
        let near = |touch: &Touch| touch.gap < 2.0 * margin * corner.contact_radius;
        let meets = |&b: &u32| {
            world.corner_meets(corner, &world.surfaces[b as usize])
                && world.touch(a, b).as_ref().is_some_and(near)
        };
        keys.extend((0..surfaces).filter(meets).map(|b| Key { a, b }));
    }
    keys
}

/// Grains sorted by cell; those that were removed and those that are outsize are left out.
struct Grid {
    /// Grains outside the grid, ascending.
    outsize: Vec<usize>,
    /// Strides of the hash: cells per row and per slab.
    row: i64,
    slab: i64,
    mask: usize,
    /// Where each bucket starts in `grains`.
    starts: Vec<u32>,
    grains: Vec<u32>,
    cells: Vec<I64Vec3>,
    centres: Vec<DVec3>,
    lattice: Lattice,
}

/// How space is divided into cells.
struct Lattice {
    /// Corner of cell 0 \[m\].
    origin: DVec3,
    /// Edges of a cell \[m\].
    cell_size: DVec3,
    /// Cells per period along each axis, 0 where it is not periodic.
    periods: I64Vec3,
}

/// Grains that stay out of the grid, ascending, and the largest radius of the others \[m\], 0 without any.
fn outsize(world: &World) -> (Vec<usize>, f64) {
    let radius = |grain: usize| world.spheres[grain].radius;
    let mut radii: Vec<f64> = world.present_grains().map(radius).collect();
    let largest = |radii: &[f64]| radii.iter().copied().fold(0.0, f64::max);
    if radii.len() <= MAX_OUTSIZE {
        return (Vec::new(), largest(&radii));
    }
    let (_, &mut next, _) = radii.select_nth_unstable_by(MAX_OUTSIZE, |a, b| b.total_cmp(a));
    let is_outsize = |&grain: &usize| radius(grain) > OUTSIZE_RATIO * next;
    let rest = world.present_grains().filter(|grain| !is_outsize(grain)).map(radius).fold(0.0, f64::max);
    (world.present_grains().filter(is_outsize).collect(), rest)
}

impl Grid {
    fn new(world: &World, margin: f64) -> Option<Grid> {
        let (outsize, largest) = outsize(world);
        let reach = contact_reach(largest, margin);
        if reach == 0.0 {
            return None;
        }
        let lattice = Lattice::new(&world.periodic, reach);
        let centres: Vec<DVec3> =
            world.spheres.iter().map(|sphere| world.bodies.position[sphere.body as usize]).collect();
        let cells: Vec<I64Vec3> = centres.iter().map(|&centre| lattice.cell_of(centre)).collect();
        let present = world.present_grains().filter(|grain| !outsize.contains(grain));
        let low = present.clone().map(|grain| cells[grain]).fold(I64Vec3::MAX, I64Vec3::min);
        let high = present.clone().map(|grain| cells[grain]).fold(I64Vec3::MIN, I64Vec3::max);
        let row = high.x.saturating_sub(low.x).saturating_add(3);
        let slab = row.wrapping_mul(high.y.saturating_sub(low.y).saturating_add(3));
        let mask = (2 * cells.len()).next_power_of_two() - 1;
        let (starts, grains) = (Vec::new(), Vec::new());
        let present: Vec<usize> = present.collect();
        let mut grid = Grid { outsize, row, slab, mask, starts, grains, cells, centres, lattice };
        grid.sort(present.into_iter());
        Some(grid)
    }

    /// Counting sort by bucket; inside a bucket the ids stay ascending.
    fn sort(&mut self, present: impl Iterator<Item = usize>) {
        let buckets: Vec<(usize, usize)> =
            present.map(|grain| (grain, self.bucket(self.cells[grain]))).collect();
        self.starts = vec![0; self.mask + 2];
        for &(_, bucket) in &buckets {
            self.starts[bucket + 1] += 1;
        }
        for bucket in 0..=self.mask {
            self.starts[bucket + 1] += self.starts[bucket];
        }
        let mut next = self.starts.clone();
        self.grains = vec![0; buckets.len()];
        for &(grain, bucket) in &buckets {
            self.grains[next[bucket] as usize] = grain as u32;
            next[bucket] += 1;
        }
    }

    fn bucket(&self, cell: I64Vec3) -> usize {
        let hash =
            cell.x.wrapping_add(cell.y.wrapping_mul(self.row)).wrapping_add(cell.z.wrapping_mul(self.slab));
        hash as usize & self.mask
    }

    fn grains_in(&self, cell: I64Vec3) -> impl Iterator<Item = usize> {
        let bucket = self.bucket(cell);
        self.grains[self.starts[bucket] as usize..self.starts[bucket + 1] as usize]
            .iter()
            .map(|&grain| grain as usize)
            .filter(move |&grain| self.cells[grain] == cell)
    }

    /// Appends the keys owned by `grain`: with surfaces, then with grains of a larger id.
    fn pairs_of(&self, world: &World, grain: usize, margin: f64, keys: &mut Vec<Key>) {
        let surfaces = world.surfaces.len() as u32;
        let first_grain = world.first_grain_shape();
        let owner = first_grain + grain as u32;
        let radius = world.spheres[grain].radius;
        let near = |touch: &Touch| touch.gap < 2.0 * margin * radius;
        keys.extend(
            (0..surfaces)
                .filter(|&surface| world.touch(owner, surface).as_ref().is_some_and(near))
                .map(|surface| Key { a: owner, b: surface }),
        );
        let first = keys.len();
        let is_close = |&other: &usize| {
            let reach = (radius + world.spheres[other].radius) * (1.0 + margin);
            let apart = |other| world.separation(self.centres[other], self.centres[grain]);
            other > grain && apart(other).length_squared() < reach * reach
        };
        let key = |other| Key { a: owner, b: first_grain + other as u32 };
        if self.outsize.contains(&grain) {
            keys.extend(world.present_grains().filter(is_close).map(key));
            return;
        }
        for cell in self.lattice.neighbourhood(self.cells[grain]) {
            keys.extend(self.grains_in(cell).filter(is_close).map(key));
        }
        keys.extend(self.outsize.iter().copied().filter(is_close).map(key));
        keys[first..].sort_unstable();
    }
}

impl Lattice {
    fn new(periodic: &Periodic, reach: f64) -> Lattice {
        let periods = periodic.cells(reach);
        Lattice {
            origin: periodic.select(periodic.min, DVec3::ZERO),
            cell_size: periodic.select(periodic.length / periods.as_dvec3(), DVec3::splat(reach)),
            periods,
        }
    }

    fn cell_of(&self, position: DVec3) -> I64Vec3 {
        self.wrap(((position - self.origin) / self.cell_size).floor().as_i64vec3())
    }

    /// The cell in whose place another stands, periods away.
    fn wrap(&self, cell: I64Vec3) -> I64Vec3 {
        if self.periods == I64Vec3::ZERO {
            return cell;
        }
        let wrap = |cell: i64, period: i64| if period > 0 { cell.rem_euclid(period) } else { cell };
        let (cell, periods) = (cell.to_array(), self.periods.to_array());
        I64Vec3::from_array([0, 1, 2].map(|axis| wrap(cell[axis], periods[axis])))
    }

    /// A cell and the 26 around it.
    fn neighbourhood(&self, cell: I64Vec3) -> impl Iterator<Item = I64Vec3> {
        (-1..=1).flat_map(move |z| {
            (-1..=1).flat_map(move |y| {
                (-1..=1).map(move |x| {
                    let (x, y, z) = (cell.x.wrapping_add(x), cell.y.wrapping_add(y), cell.z.wrapping_add(z));
                    self.wrap(I64Vec3::new(x, y, z))
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::oracle::all_pairs;
    use super::*;
    use crate::world::{Grain, Material, Materials};

    /// Some 200 grains in a cube 20 of their radii wide, the first and the last `ratio` times as large as the rest.
    fn two_sizes(periodic: Periodic, ratio: f64) -> World {
        let glass = Material {
            name: "glass".into(),
            density: 2500.0,
            youngs_modulus: 1e7,
            poisson_ratio: 0.2,
            restitution: 0.5,
            friction: 0.3,
            rolling_resistance: 0.0,
            damping: 0.0,
        };
        let mut world = World { periodic, ..World::new(DVec3::ZERO, Materials::new(vec![glass])) };
        let place = |i: u32| f64::from(i) * DVec3::new(0.754_877_666, 0.569_840_291, 0.430_159_709);
        let radius = |i: u32| if [0, 199].contains(&i) { 0.05 * ratio } else { 0.05 };
        let grain = |i: u32| Grain::at(place(i) - place(i).floor(), radius(i), 0);
        world.add_grains((0..200).map(grain));
        world
    }

    #[test]
    fn grains_much_larger_than_the_rest_have_the_pairs_that_trying_all_of_them_finds() {
        let cube = Periodic { min: DVec3::ZERO, length: DVec3::ONE };
        for (periodic, ratio, expected) in
            [(Periodic::default(), 6.0, 2), (cube, 3.0, 2), (Periodic::default(), 1.9, 0)]
        {
            let mut world = two_sizes(periodic, ratio);
            world.removed[7] = Some(0);
            assert_eq!(outsize(&world).0.len(), expected, "ratio {ratio}");
            let pairs = find_pairs(&world, 0.1);
            assert!(pairs.len() > 200, "{}", pairs.len());
            assert_eq!(pairs, all_pairs(&world, 0.1), "ratio {ratio}");
        }
    }
}
