//! Broadphase: finds the pairs of shapes closer than the margin, by a grid of cells for each size of grains.
//!
//! Spheres of grains are sorted by size into levels, see [`Levels`]. Each sphere is in a cell about as wide as itself, and looks for
//! partners in its own level and in those above only. So cells hold few grains at any size distribution, and the search goes from thousands
//! of small grains to the large grain that they touch, not from the large grain to them. In a level each pair is found from one side: a
//! cell looks ahead, to one half of the cells around it.
//!
//! Cells are hashed row by row into a table, so the grid needs no bounds: a compact scene maps without collisions, a scattered one wraps
//! around, and a grain is paired only when its cell is the one looked for. Grains inside a bucket are ordered by id. Along a periodic axis
//! the period is a whole number of cells of every level, and the last cell is a neighbour of the first. In a sheared cell the grid is
//! sheared with it, so that the images of cells are cells. Twin: `shaders/broadphase.wgsl`.

use std::ops::Range;

use glam::{DVec3, I64Vec3};
use rayon::prelude::*;

use crate::contact::Key;
use crate::model::solids::points_with;
use crate::model::{Levels, Periodic, SurfaceBox, World, contact_reach};

use super::groups::Groups;

/// Grains handled by one task.
const CHUNK: usize = 256;
/// Safety margin for the position of a cell, larger than all rounding errors \[cells of level 0\].
const SLACK: f64 = 1e-6;
/// Cells along an axis that a grain reaches into in its own level.
const AROUND: i64 = 3;
/// Smallest number of buckets of the hash table: more than the cells of a run, so that no run wraps around the table twice.
const LEAST_BUCKETS: usize = 64;
/// Stride of the hash from level to level, which keeps the levels apart in the table: an odd number without a pattern.
const LEVEL_STRIDE: i64 = 0x9e37_79b9_7f4a_7c15_u64 as i64;

/// Returns all pairs with a gap below `margin` (in mean diameters of the pair), ascending by key. Periods have to be long enough, see
/// [`Periodic::check`].
pub fn find_pairs(world: &World, margin: f64) -> Vec<Key> {
    let boxes = world.surface_boxes();
    let mut keys = pairs_of_vertices(world, &boxes, margin);
    let Some(grid) = Grid::new(world, margin) else { return keys };
    let count = world.spheres.len();
    let pairs = grid.pairs(world, margin);
    let partners =
        Groups::new(count, pairs.iter().flatten().map(|&[owner, partner]| (owner as usize, partner)));
    let found: Vec<Vec<Key>> = (0..count.div_ceil(CHUNK))
        .into_par_iter()
        .map(|task| {
            let spheres = task * CHUNK..((task + 1) * CHUNK).min(count);
            let mut keys = Vec::with_capacity(5 * CHUNK);
            spheres
                .filter(|&sphere| is_present(world, sphere))
                .for_each(|sphere| keys_of(world, &boxes, &partners, sphere, margin, &mut keys));
            keys
        })
        .collect();
    keys.reserve(found.iter().map(Vec::len).sum());
    found.iter().for_each(|found| keys.extend_from_slice(found));
    keys
}

/// Appends the keys in which `sphere` is shape a: first pairs with surfaces, then pairs with the spheres of other grains that come after it
/// in the order of [`World::comes_first`].
fn keys_of(
    world: &World,
    boxes: &[SurfaceBox],
    partners: &Groups<u32>,
    sphere: usize,
    margin: f64,
    keys: &mut Vec<Key>,
) {
    let (first_grain, shape) = (world.first_grain_shape(), &world.spheres[sphere]);
    let a = first_grain + sphere as u32;
    let gap = 2.0 * margin * shape.radius;
    let first = keys.len();
    world.for_each_met_near(boxes, shape, gap, |b| {
        let points = world.manifold_points(shape, b);
        if points == 0 || world.is_near_facets(shape, b, gap) {
            keys.extend(points_with(b, points).map(|b| Key { a, b }));
        }
    });
    for &partner in partners.of(sphere) {
        let (b, other) = (first_grain + partner, &world.spheres[partner as usize]);
        let points = world.manifold_points(shape, b);
        if points == 0 {
            keys.push(Key { a, b });
        } else if world.hulls_are_near(shape, other, margin * (shape.radius + other.radius)) {
            keys.extend(points_with(b, points).map(|b| Key { a, b }));
        }
    }
    keys[first..].sort_unstable();
}

/// Whether the grain of a sphere is present, that is, was not removed.
fn is_present(world: &World, sphere: usize) -> bool {
    let grain = world.grain_of_body(world.spheres[sphere].body as usize);
    grain.is_some_and(|grain| world.is_present(grain))
}

/// Pairs of the parts of dynamic boundaries with surfaces of other bodies; there are few. Of a solid and what it meets
/// each point of the manifold is a pair.
fn pairs_of_vertices(world: &World, boxes: &[SurfaceBox], margin: f64) -> Vec<Key> {
    let (mut a, mut keys) = (world.surfaces.len() as u32, Vec::new());
    for of_body in world.vertices.chunk_by(|one, other| one.body == other.body) {
        let others = world.boxes_of_others(boxes, of_body[0].body);
        for vertex in of_body {
            let (first, gap) = (keys.len(), 2.0 * margin * vertex.contact_radius);
            world.for_each_met_near(&others, vertex, gap, |b| {
                if world.vertex_meets(vertex, b) && world.is_near_facets(vertex, b, gap) {
                    keys.extend(points_with(b, world.manifold_points(vertex, b)).map(|b| Key { a, b }));
                }
            });
            keys[first..].sort_unstable();
            a += 1;
        }
    }
    keys
}

/// Hash grid: spheres of grains sorted by cell, without removed grains.
struct Grid {
    /// Strides of the hash: cells per row and per slab.
    row: i64,
    slab: i64,
    mask: usize,
    /// Index in `entries` at which each bucket starts.
    starts: Vec<u32>,
    entries: Vec<Entry>,
    /// Cell of each entry. A list of its own, as the cell is read only for the few entries that are near enough.
    cells: Vec<GridCell>,
    /// Levels that hold spheres, ascending.
    occupied: Vec<u32>,
    lattice: CellLattice,
}

/// Data of a sphere that the search reads, stored next to the data of its neighbours.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    centre: DVec3,
    radius: f64,
    sphere: u32,
    body: u32,
}

/// A cell of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct GridCell {
    place: I64Vec3,
    level: u32,
}

/// Run of consecutive cells along x, whose buckets are consecutive as well.
#[derive(Debug, Clone, Copy)]
struct CellRun {
    first: GridCell,
    count: i64,
}

impl CellRun {
    #[inline]
    fn holds(&self, cell: GridCell) -> bool {
        let GridCell { place: first, level } = self.first;
        let along = cell.place.x.wrapping_sub(first.x);
        let in_row = cell.level == level && cell.place.y == first.y && cell.place.z == first.z;
        in_row && (0..self.count).contains(&along)
    }
}

/// Division of space into the cells of all levels.
struct CellLattice {
    levels: Levels,
    /// Corner of cell 0 of every level \[m\].
    origin: DVec3,
    /// Edges of a cell of level 0 \[m\]; the edges double from each level to the next one above.
    cell_size: DVec3,
    /// Number of cells of level 0 per period along each axis; 0 along an axis that is not periodic.
    periods: I64Vec3,
    /// Shear of the cells.
    skew: Skew,
}

/// Shear of the cells of a sheared periodic cell.
#[derive(Debug, Clone, Copy)]
struct Skew {
    along: usize,
    across: usize,
    /// Shift along one axis over the height across it \[-\].
    slope: f64,
}

impl Skew {
    /// Factor on the reach of a sphere in sheared coordinates, along each axis \[-\].
    fn reach(&self) -> DVec3 {
        let mut reach = DVec3::ONE;
        reach[self.along] = 1.0f64.hypot(self.slope);
        reach
    }
}

impl Grid {
    fn new(world: &World, margin: f64) -> Option<Grid> {
        let lattice = CellLattice::new(&world.periodic, Levels::for_world(world)?, margin);
        let entry = |sphere: usize| {
            let (shape, centre) = (&world.spheres[sphere], world.sphere_centre(&world.spheres[sphere]));
            let level = lattice.levels.of(shape.radius);
            let entry = Entry { centre, radius: shape.radius, sphere: sphere as u32, body: shape.body };
            (entry, GridCell { place: lattice.place_of(centre), level })
        };
        let spheres = (0..world.spheres.len()).into_par_iter().with_min_len(CHUNK);
        let (entries, mut cells): (Vec<Entry>, Vec<GridCell>) =
            spheres.filter(|&sphere| is_present(world, sphere)).map(entry).unzip();
        let low = cells.iter().map(|cell| cell.place).fold(I64Vec3::MAX, I64Vec3::min);
        let high = cells.iter().map(|cell| cell.place).fold(I64Vec3::MIN, I64Vec3::max);
        let row = high.x.saturating_sub(low.x).saturating_add(3);
        let slab = row.wrapping_mul(high.y.saturating_sub(low.y).saturating_add(3));
        cells.iter_mut().for_each(|cell| cell.place >>= cell.level);
        let mask = (2 * entries.len()).max(LEAST_BUCKETS).next_power_of_two() - 1;
        let held = cells.iter().fold(0_u32, |held, cell| held | 1 << cell.level);
        let occupied = (0..lattice.levels.count()).filter(|level| held >> level & 1 == 1).collect();
        let mut grid = Grid { row, slab, mask, starts: Vec::new(), entries, cells, occupied, lattice };
        grid.sort();
        Some(grid)
    }

    /// Sorts entries by bucket; inside a bucket the ids stay ascending.
    fn sort(&mut self) {
        let buckets: Vec<usize> = self.cells.iter().map(|&cell| self.bucket(cell)).collect();
        let Groups { starts, values: order } = Groups::new(self.mask + 1, buckets.iter().copied().zip(0..));
        self.entries = order.iter().map(|&entry: &u32| self.entries[entry as usize]).collect();
        self.cells = order.iter().map(|&entry| self.cells[entry as usize]).collect();
        self.starts = starts;
    }

    #[inline]
    fn bucket(&self, GridCell { place, level }: GridCell) -> usize {
        let rows = place.y.wrapping_mul(self.row).wrapping_add(place.z.wrapping_mul(self.slab));
        let hash = place.x.wrapping_add(rows).wrapping_add(i64::from(level).wrapping_mul(LEVEL_STRIDE));
        hash as usize & self.mask
    }

    /// Ranges of the entries in the buckets of a run, among which may be entries of other cells. A run that wraps around the table is read
    /// to its end and goes on at the beginning.
    #[inline]
    fn entries_near(&self, run: CellRun) -> [Range<usize>; 2] {
        let first = self.bucket(run.first);
        let end = first + run.count as usize;
        let part = |from: usize, to: usize| self.starts[from] as usize..self.starts[to] as usize;
        let buckets = self.mask + 1;
        [part(first, end.min(buckets)), part(0, end.saturating_sub(buckets))]
    }

    /// Finds the pairs of spheres of different grains that are closer than the margin, one list per task. The owner of a pair (shape a)
    /// stands first.
    fn pairs(&self, world: &World, margin: f64) -> Vec<Vec<[u32; 2]>> {
        let of_task = |task: usize| {
            let mut pairs = Vec::with_capacity(4 * CHUNK);
            for i in task * CHUNK..((task + 1) * CHUNK).min(self.entries.len()) {
                let one = &self.entries[i];
                self.for_each_candidate(i, margin, |run, j| {
                    let other = &self.entries[j];
                    let reach = (one.radius + other.radius) * (1.0 + margin);
                    // Most candidates are too far away, so the distance is tested first.
                    // Ranks find the same pairs, from whichever side.
                    let apart = world.periodic.shortest(one.centre - other.centre);
                    if apart.length_squared() < reach * reach
                        && other.body != one.body
                        && run.holds(self.cells[j])
                    {
                        let is_owner = world.comes_first(one.sphere as usize, other.sphere as usize);
                        let [owner, partner] = if is_owner { [one, other] } else { [other, one] };
                        pairs.push([owner.sphere, partner.sphere]);
                    }
                });
            }
            pairs
        };
        (0..self.entries.len().div_ceil(CHUNK)).into_par_iter().map(of_task).collect()
    }

    /// Visits the candidates for pairs with an entry, and with each the run in which it was looked for; some candidates are of other cells.
    /// In the entry's own level they are the entries behind it in its cell, and those in the half of the cells around it that lies ahead,
    /// so that each pair is seen from one side. In the levels above they are all entries within reach. Around a short period a cell is both
    /// ahead of and behind another: there the entry looks into all cells, for the entries behind it in the list.
    #[inline]
    fn for_each_candidate(&self, i: usize, margin: f64, mut visit: impl FnMut(&CellRun, usize)) {
        let (one, cell) = (&self.entries[i], self.cells[i]);
        let (side, first) = if self.lattice.is_short(cell.level) {
            (VisitedSide::Both, i + 1)
        } else {
            (VisitedSide::Ahead, 0)
        };
        if side == VisitedSide::Ahead {
            let own = CellRun { first: cell, count: 1 };
            let end = self.starts[self.bucket(cell) + 1] as usize;
            (i + 1..end).for_each(|j| visit(&own, j));
        }
        let reach = one.radius * (1.0 + margin);
        let mut look = |level: u32, side: VisitedSide, first: usize| {
            self.lattice.for_each_run_within(one.centre, reach, level, side, |run| {
                let parts = self.entries_near(run).into_iter();
                parts.flat_map(|part| part.start.max(first)..part.end).for_each(|j| visit(&run, j));
            });
        };
        look(cell.level, side, first);
        for &level in self.occupied.iter().filter(|&&level| level > cell.level) {
            look(level, VisitedSide::Both, 0);
        }
    }
}

/// Which of the cells around a grain are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VisitedSide {
    /// All.
    Both,
    /// Cells after the grain's own cell, slab by slab and row by row.
    Ahead,
}

impl CellLattice {
    fn new(periodic: &Periodic, levels: Levels, margin: f64) -> CellLattice {
        let reach = contact_reach(levels.radius, margin);
        let (along, across) = (periodic.tilt.along.into(), periodic.tilt.across.into());
        let skew = Skew { along, across, slope: periodic.slope() };
        let narrowed = Periodic { length: periodic.length / skew.reach(), ..*periodic };
        let periods = narrowed.cells_of_levels(reach, levels.count());
        CellLattice {
            levels,
            origin: periodic.select(periodic.min, DVec3::ZERO),
            cell_size: periodic.select(periodic.length / periods.as_dvec3(), DVec3::splat(reach)),
            periods,
            skew,
        }
    }

    /// Position in cells of level 0.
    #[inline]
    fn scaled(&self, position: DVec3) -> DVec3 {
        let mut place = position - self.origin;
        if self.skew.slope != 0.0 {
            place[self.skew.along] -= self.skew.slope * place[self.skew.across];
        }
        place / self.cell_size
    }

    /// Cell of level 0 at a position.
    #[inline]
    fn place_of(&self, position: DVec3) -> I64Vec3 {
        self.wrap(floor_of(self.scaled(position)), 0)
    }

    /// Wraps a cell of a level into the period along every periodic axis.
    #[inline]
    fn wrap(&self, place: I64Vec3, level: u32) -> I64Vec3 {
        if self.periods == I64Vec3::ZERO {
            return place;
        }
        let wrap = |cell: i64, period: i64| if period > 0 { cell.rem_euclid(period) } else { cell };
        let periods = self.periods >> level;
        I64Vec3::new(wrap(place.x, periods.x), wrap(place.y, periods.y), wrap(place.z, periods.z))
    }

    /// Whether a period has so few cells of a level that the cells around a grain may be all of them.
    #[inline]
    fn is_short(&self, level: u32) -> bool {
        let periods = self.periods >> level;
        (I64Vec3::ONE.cmple(periods) & periods.cmple(I64Vec3::splat(AROUND))).any()
    }

    /// Visits the cells of a level in which partners of a grain may lie, as runs along x. The distance of two centres in contact is at most
    /// `reach` (the part of this grain \[m\]) plus half a cell (the part of the partner). In the grain's own level these cells are among
    /// its own cell and the 26 around it.
    #[inline]
    fn for_each_run_within(
        &self,
        centre: DVec3,
        reach: f64,
        level: u32,
        side: VisitedSide,
        mut visit: impl FnMut(CellRun),
    ) {
        let is_sheared = self.skew.slope != 0.0;
        let reach = if is_sheared { reach * self.skew.reach() } else { DVec3::splat(reach) };
        let reach = reach / self.cell_size + 0.5 * f64::from(1 << level) + SLACK;
        let centre = self.scaled(centre);
        let (low, high) = (floor_of(centre - reach) >> level, floor_of(centre + reach) >> level);
        let own = floor_of(centre) >> level;
        let periods = self.periods >> level;
        let is_cut = |axis: usize| periods[axis] > 0 && high[axis] - low[axis] >= periods[axis];
        // Visit no cell twice: around a short period there are only as many cells as the period has, and any of them may be within reach.
        let last = |axis: usize| if is_cut(axis) { low[axis] + periods[axis] - 1 } else { high[axis] };
        // Distance of a cell over the reach.
        let beside = |axis: usize, cell: i64| {
            let ahead = (cell << level) as f64 - centre[axis];
            let outside = ahead.max(-f64::from(1 << level) - ahead).max(0.0);
            // In a sheared grid what is within reach is no ellipsoid along the axes: all cells of the box around it are visited.
            if is_cut(axis) || is_sheared { 0.0 } else { outside / reach[axis] }
        };
        let first_slab = if side == VisitedSide::Ahead { own.z } else { low.z };
        for z in first_slab..=last(2) {
            let left = 1.0 - beside(2, z).powi(2);
            let is_own_slab = side == VisitedSide::Ahead && z == own.z;
            for y in if is_own_slab { own.y } else { low.y }..=last(1) {
                let left = left - beside(1, y).powi(2);
                if left <= 0.0 {
                    continue;
                }
                let half = reach.x * left.sqrt();
                let is_own_row = is_own_slab && y == own.y;
                // A place that a saved state tells may be beyond all cells.
                let first =
                    if is_own_row { own.x.saturating_add(1) } else { floor(centre.x - half) >> level };
                let count = (floor(centre.x + half) >> level).saturating_sub(first).saturating_add(1);
                self.parts_of_row(I64Vec3::new(first, y, z), count, level)
                    .into_iter()
                    .filter(|run| run.count > 0)
                    .for_each(&mut visit);
            }
        }
    }

    /// Splits `count` cells of a row into the run up to the end of a period and the run beyond it.
    #[inline]
    fn parts_of_row(&self, low: I64Vec3, count: i64, level: u32) -> [CellRun; 2] {
        let place = self.wrap(low, level);
        let period = self.periods.x >> level;
        let (count, uncut) = match period {
            0 => (count, count),
            _ => (count.min(period), count.min(period - place.x)),
        };
        let first = CellRun { first: GridCell { place, level }, count: uncut };
        let beyond = CellRun { first: GridCell { place: place.with_x(0), level }, count: count - uncut };
        [first, beyond]
    }
}

/// Largest whole number not above `value`. The oldest processors that this is built for have no instruction for it, and the library
/// function costs more than the rest of a row of cells.
#[inline]
fn floor(value: f64) -> i64 {
    let towards_zero = value as i64;
    towards_zero.saturating_sub(i64::from(value < towards_zero as f64))
}

#[inline]
fn floor_of(place: DVec3) -> I64Vec3 {
    I64Vec3::new(floor(place.x), floor(place.y), floor(place.z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::pair::Material;
    use crate::model::{Grain, Materials, Tilt, sphere_volume};
    use crate::oracle::all_pairs;

    const MARGIN: f64 = 0.1;

    fn world(periodic: Periodic, grains: impl IntoIterator<Item = Grain>) -> World {
        let mut world = World::new(DVec3::ZERO, Materials::new(vec![Material::glass()]));
        world.periodic = periodic;
        world.add_grains(grains);
        world
    }

    /// Place `i` of a sequence that fills the unit cube evenly (Roberts 2018).
    fn place(i: usize) -> DVec3 {
        let place = (1.0 + i as f64) * DVec3::new(0.819_172_513_396, 0.671_043_606_704, 0.549_700_477_902);
        place - place.floor()
    }

    /// Grains of these radii, as dense as in a packing. They overlap, which makes no difference to the search.
    fn packed(periodic: bool, radii: &[f64]) -> World {
        let volume: f64 = radii.iter().map(|&radius| sphere_volume(radius)).sum();
        let side = (volume / 0.6).cbrt();
        let length = if periodic { DVec3::splat(side) } else { DVec3::ZERO };
        let grain = |(i, &radius): (usize, &f64)| Grain::at(side * place(i), radius, 0);
        world(Periodic { min: DVec3::ZERO, length, ..Periodic::NONE }, radii.iter().enumerate().map(grain))
    }

    /// Radii from 1 to `ratio`, with the same volume of grains in every octave.
    fn spread(count: usize, ratio: f64) -> Vec<f64> {
        let share = |i: usize| (0.5 + i as f64 * 0.618_033_988_75).fract();
        // Number per radius ∝ r⁻⁴.
        (0..count).map(|i| (1.0 - share(i) * (1.0 - ratio.powi(-3))).powf(-1.0 / 3.0)).collect()
    }

    #[test]
    fn pairs_of_any_sizes_are_those_that_trying_all_finds() {
        let intruder = [vec![1.0; 500], vec![100.0], vec![1.0; 100]].concat();
        for (name, radii) in [
            ("equal", vec![1.0; 300]),
            ("1:1.9", [vec![1.9; 100], vec![1.0; 200]].concat()),
            ("1:10", spread(600, 10.0)),
            ("100:1", intruder),
            ("1:3000", [spread(300, 3000.0), vec![3000.0]].concat()),
        ] {
            for periodic in [false, true] {
                // A part of the period is empty: it has to be three times as long as the largest grain is wide.
                let mut world = packed(periodic, &radii);
                world.periodic.length *= 3.5;
                world.removed[7] = Some(0);
                let pairs = find_pairs(&world, MARGIN);
                assert!(pairs.len() > 100, "{name}: {}", pairs.len());
                assert_eq!(pairs, all_pairs(&world, MARGIN), "{name}, periodic {periodic}");
            }
        }
    }

    /// The largest grains then have two to five cells in a period, and some of them stand on the edges of their cells.
    #[test]
    fn pairs_around_a_short_period_are_found_once() {
        let radii = [vec![0.3; 60], vec![0.7; 20], vec![1.0; 20]].concat();
        let mut found = 0;
        for quarters in 24..48 {
            let period = 0.25 * f64::from(quarters) * (1.0 + MARGIN);
            let mut world = packed(true, &radii);
            for axes in [DVec3::Z, DVec3::X, DVec3::new(0.0, 1.0, 1.0), DVec3::ONE] {
                world.periodic.length = period * axes;
                for (i, position) in world.bodies.position.iter_mut().enumerate() {
                    *position = period * place(i);
                    if i % 5 == 0 {
                        *position = (*position * 6.0 / period).round() * period / 6.0;
                    }
                }
                let pairs = find_pairs(&world, MARGIN);
                assert_eq!(pairs, all_pairs(&world, MARGIN), "{period} along {axes}");
                found += pairs.len();
            }
        }
        assert!(found > 1000, "{found} pairs");
    }

    #[test]
    fn pairs_of_a_sheared_cell_are_those_that_trying_all_finds() {
        for (along, across, length) in [(0, 1, 14.0), (1, 2, 14.0), (2, 0, 40.0), (2, 1, 13.3)] {
            for shift in [-0.5, -0.3, 0.01, 0.44] {
                let mut world = packed(true, &spread(400, 2.0));
                world.periodic.length = DVec3::splat(13.3).with_z(length);
                let shift = shift * world.periodic.length[along];
                world.periodic.tilt = Tilt { shift, along: along as u8, across };
                for (i, position) in world.bodies.position.iter_mut().enumerate() {
                    *position = world.periodic.wrap(3.0 * length * place(i));
                }
                let pairs = find_pairs(&world, MARGIN);
                assert!(pairs.len() > 100, "{}", pairs.len());
                assert_eq!(pairs, all_pairs(&world, MARGIN), "{:?}", world.periodic);
            }
        }
    }

    #[test]
    fn a_large_grain_owns_no_contact_with_the_small_ones_around_it() {
        let world = packed(false, &[vec![10.0], vec![1.0; 3000]].concat());
        let pairs = find_pairs(&world, MARGIN);
        assert!(pairs.iter().filter(|key| key.b == 0).count() > 100);
        assert!(pairs.iter().all(|key| key.a != 0));
    }

    /// Unit grains around one that is `ratio` times as large, as dense as in a packing.
    fn around_one(count: usize, ratio: f64) -> World {
        let outer = ratio.powi(3) + count as f64 / 0.6;
        let grain = |i| {
            let DVec3 { x, y, z } = place(i);
            let distance = (ratio.powi(3) + x * (outer - ratio.powi(3))).cbrt() + 1.0;
            let (height, angle) = (2.0 * y - 1.0, std::f64::consts::TAU * z);
            let (sine, cosine) = angle.sin_cos();
            let flat = (1.0 - height * height).sqrt();
            Grain::at(distance * DVec3::new(flat * cosine, flat * sine, height), 1.0, 0)
        };
        let large = Grain::at(DVec3::ZERO, ratio, 0);
        world(Periodic::default(), std::iter::once(large).chain((0..count).map(grain)))
    }

    /// Grains in the cells looked into, per pair found.
    fn work_per_pair(world: &World) -> f64 {
        let grid = Grid::new(world, MARGIN).expect("grains");
        let mut looks = 0;
        for i in 0..grid.entries.len() {
            grid.for_each_candidate(i, MARGIN, |run, j| looks += usize::from(run.holds(grid.cells[j])));
        }
        looks as f64 / find_pairs(world, MARGIN).len() as f64
    }

    /// Of two equal grains only one looks for the other, in half of the cells around it, while a small grain looks for a large one in all
    /// of them. So the measure is the work for equal grains if both of them looked.
    #[test]
    fn a_pair_of_any_sizes_costs_no_more_than_twice_a_pair_of_equal_grains() {
        let equal = 2.0 * work_per_pair(&packed(false, &vec![1.0; 20_000]));
        for (name, world) in [
            ("1:1.9", packed(false, &[vec![1.9; 3_000], vec![1.0; 20_000]].concat())),
            ("1:3", packed(false, &spread(20_000, 3.0))),
            ("1:10", packed(false, &spread(20_000, 10.0))),
            ("few 10", packed(false, &[vec![10.0; 20], vec![1.0; 20_000]].concat())),
            ("one 100", around_one(20_000, 100.0)),
        ] {
            let work = work_per_pair(&world);
            assert!(work < 2.0 * equal, "{name}: {work:.1} grains per pair, equal grains {equal:.1}");
        }
    }
}
