//! Broadphase: pairs of shapes closer than the margin, by a grid of cells as wide as the largest grain.
//!
//! Cells are hashed row by row into a table, so the grid needs no bounds: a compact scene maps without
//! collisions, a scattered one wraps around, and a grain is only paired when its cell is the one looked
//! for. Grains inside a bucket are ordered by id. Along a periodic axis a whole number of cells, three or
//! more, makes up the period and the last is a neighbour of the first. Twin: `shaders/broadphase.wgsl`.

use glam::{DVec3, I64Vec3};
use rayon::prelude::*;

use crate::contact::Key;
use crate::world::{Periodic, Touch, World, contact_reach};

/// Grains handled by one task.
const CHUNK: usize = 256;

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

/// Grains sorted by cell; those that were removed are left out.
struct Grid {
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

impl Grid {
    fn new(world: &World, margin: f64) -> Option<Grid> {
        let reach = contact_reach(world.largest_radius(), margin);
        if reach == 0.0 {
            return None;
        }
        let lattice = Lattice::new(&world.periodic, reach);
        let centres: Vec<DVec3> =
            world.spheres.iter().map(|sphere| world.bodies.position[sphere.body as usize]).collect();
        let cells: Vec<I64Vec3> = centres.iter().map(|&centre| lattice.cell_of(centre)).collect();
        let present = world.present_grains();
        let low = present.clone().map(|grain| cells[grain]).fold(I64Vec3::MAX, I64Vec3::min);
        let high = present.clone().map(|grain| cells[grain]).fold(I64Vec3::MIN, I64Vec3::max);
        let row = high.x.saturating_sub(low.x).saturating_add(3);
        let slab = row.wrapping_mul(high.y.saturating_sub(low.y).saturating_add(3));
        let mask = (2 * cells.len()).next_power_of_two() - 1;
        let (starts, grains) = (Vec::new(), Vec::new());
        let mut grid = Grid { row, slab, mask, starts, grains, cells, centres, lattice };
        grid.sort(present);
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
        for cell in self.lattice.neighbourhood(self.cells[grain]) {
            let close = self.grains_in(cell).filter(|&other| {
                let reach = (radius + world.spheres[other].radius) * (1.0 + margin);
                let apart = |other| world.separation(self.centres[other], self.centres[grain]);
                other > grain && apart(other).length_squared() < reach * reach
            });
            keys.extend(close.map(|other| Key { a: owner, b: first_grain + other as u32 }));
        }
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
