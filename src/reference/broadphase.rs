//! Broadphase: pairs of shapes closer than the margin, by a grid of cells as wide as the largest grain.
//!
//! Cells are hashed row by row into a table, so the grid needs no bounds: a compact scene maps without
//! collisions, a scattered one wraps around, and a grain is only paired when its cell is the one looked
//! for. Grains inside a bucket are ordered by id. Twin: `shaders/broadphase.wgsl`.

use glam::{DVec3, I64Vec3};
use rayon::prelude::*;

use crate::contact::Key;
use crate::world::{Touch, World};

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
}

impl Grid {
    fn new(world: &World, margin: f64) -> Option<Grid> {
        let largest = world.largest_radius();
        if largest == 0.0 {
            return None;
        }
        let cell_size = 2.0 * largest * (1.0 + margin);
        let centres: Vec<DVec3> =
            world.spheres.iter().map(|sphere| world.bodies.position[sphere.body as usize]).collect();
        let cells: Vec<I64Vec3> = centres.iter().map(|&centre| cell_of(centre, cell_size)).collect();
        let present = world.present_grains();
        let low = present.clone().map(|grain| cells[grain]).fold(I64Vec3::MAX, I64Vec3::min);
        let high = present.clone().map(|grain| cells[grain]).fold(I64Vec3::MIN, I64Vec3::max);
        let row = high.x.saturating_sub(low.x).saturating_add(3);
        let slab = row.wrapping_mul(high.y.saturating_sub(low.y).saturating_add(3));
        let mask = (2 * cells.len()).next_power_of_two() - 1;
        let mut grid = Grid { row, slab, mask, starts: Vec::new(), grains: Vec::new(), cells, centres };
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
        for cell in neighbourhood(self.cells[grain]) {
            let close = self.grains_in(cell).filter(|&other| {
                let reach = (radius + world.spheres[other].radius) * (1.0 + margin);
                other > grain && self.centres[grain].distance_squared(self.centres[other]) < reach * reach
            });
            keys.extend(close.map(|other| Key { a: owner, b: first_grain + other as u32 }));
        }
        keys[first..].sort_unstable();
    }
}

fn cell_of(position: DVec3, cell_size: f64) -> I64Vec3 {
    (position / cell_size).floor().as_i64vec3()
}

/// A cell and the 26 around it.
fn neighbourhood(cell: I64Vec3) -> impl Iterator<Item = I64Vec3> {
    (-1..=1).flat_map(move |z| {
        (-1..=1).flat_map(move |y| {
            (-1..=1).map(move |x| {
                I64Vec3::new(cell.x.wrapping_add(x), cell.y.wrapping_add(y), cell.z.wrapping_add(z))
            })
        })
    })
}
