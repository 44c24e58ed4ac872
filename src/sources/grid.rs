//! Grid of spheres, for the search of those near a place. Sizes may differ by orders of magnitude, so each octave of radii has its
//! own grid.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use glam::DVec3;

use crate::model::Periodic;

/// Spheres sorted into cells, with a search of those near a place, also across the faces of a periodic cell.
#[derive(Debug, Default)]
pub struct SphereGrid {
    spheres: Vec<(DVec3, f64)>,
    /// Per sphere: next sphere of the same cell; `END` for the last one.
    next: Vec<u32>,
    levels: Vec<SizeLevel>,
    periodic: Periodic,
}

/// The spheres of one octave of radii.
#[derive(Debug)]
struct SizeLevel {
    octave: i32,
    cell_size: f64,
    largest: f64,
    heads: HashMap<[i64; 3], u32, BuildHasherDefault<CellHasher>>,
}

const END: u32 = u32::MAX;

impl SphereGrid {
    /// Makes a grid without spheres, in a periodic cell.
    pub fn new(periodic: Periodic) -> SphereGrid {
        SphereGrid { periodic, ..SphereGrid::default() }
    }

    /// Adds a sphere.
    pub fn insert(&mut self, centre: DVec3, radius: f64) {
        let centre = self.periodic.wrap(centre);
        let id = self.spheres.len() as u32;
        let octave = radius.log2().floor() as i32;
        let place = match self.levels.iter().position(|level| level.octave == octave) {
            Some(place) => place,
            None => {
                self.levels.push(SizeLevel::new(octave));
                self.levels.len() - 1
            }
        };
        let level = &mut self.levels[place];
        level.largest = level.largest.max(radius);
        let head = level.heads.entry(cell(centre, level.cell_size)).or_insert(END);
        self.next.push(std::mem::replace(head, id));
        self.spheres.push((centre, radius));
    }

    /// Whether a sphere overlaps any sphere of the grid.
    pub fn is_blocked(&self, centre: DVec3, radius: f64) -> bool {
        let overlaps = |other: (DVec3, f64)| {
            let reach = radius + other.1;
            self.periodic.separation(centre, other.0).length_squared() < reach * reach
        };
        self.levels.iter().any(|level| {
            let mut blocked = false;
            self.visit(level, centre, radius + level.largest, &mut |id| {
                blocked |= overlaps(self.spheres[id as usize]);
                !blocked
            });
            blocked
        })
    }

    /// Deepest overlap of a sphere with spheres of the grid: depth \[m\], depth over the smaller radius \[-\], and the other sphere, by
    /// its number in the order in which they came; `None` without any.
    pub fn deepest(&self, centre: DVec3, radius: f64) -> Option<(f64, f64, usize)> {
        let mut deepest: Option<(f64, f64, usize)> = None;
        for level in &self.levels {
            self.visit(level, centre, radius + level.largest, &mut |id| {
                let other = self.spheres[id as usize];
                let depth = radius + other.1 - self.periodic.separation(centre, other.0).length();
                let share = depth / radius.min(other.1);
                if depth > 0.0 && deepest.is_none_or(|(_, most, _)| share > most) {
                    deepest = Some((depth, share, id as usize));
                }
                true
            });
        }
        deepest
    }

    /// Calls `pair` for the spheres that may touch sphere `id` and are larger, or of the same octave and earlier, until it returns
    /// false. Over all ids every pair comes up once; in a narrow periodic cell possibly more often.
    pub fn visit_pairs(&self, id: u32, mut pair: impl FnMut(u32) -> bool) {
        let (centre, radius) = self.spheres[id as usize];
        let octave = radius.log2().floor() as i32;
        let mut go_on = true;
        for level in self.levels.iter().filter(|level| level.octave >= octave) {
            self.visit(level, centre, radius + level.largest, &mut |other| {
                if go_on && (level.octave > octave || other < id) {
                    go_on = pair(other);
                }
                go_on
            });
        }
    }

    /// Visits the spheres of a level whose cell is within `reach` of `centre`, also across the faces, until `go_on` returns false.
    fn visit(&self, level: &SizeLevel, centre: DVec3, reach: f64, go_on: &mut dyn FnMut(u32) -> bool) {
        self.periodic.images(centre, reach).all(|image| self.visit_around(level, image, reach, go_on));
    }

    /// Visits these spheres without a search across the faces; returns whether to go on.
    fn visit_around(
        &self,
        level: &SizeLevel,
        centre: DVec3,
        reach: f64,
        go_on: &mut dyn FnMut(u32) -> bool,
    ) -> bool {
        let (low, high) = (cell(centre - reach, level.cell_size), cell(centre + reach, level.cell_size));
        let cells: f64 = (0..3).map(|axis| high[axis] as f64 - low[axis] as f64 + 1.0).product();
        if cells > level.heads.len() as f64 {
            return level.heads.values().all(|&head| self.visit_cell(head, go_on));
        }
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for z in low[2]..=high[2] {
                    let head = level.heads.get(&[x, y, z]).copied().unwrap_or(END);
                    if !self.visit_cell(head, go_on) {
                        return false;
                    }
                }
            }
        }
        true
    }

    fn visit_cell(&self, head: u32, go_on: &mut dyn FnMut(u32) -> bool) -> bool {
        let mut id = head;
        while id != END {
            if !go_on(id) {
                return false;
            }
            id = self.next[id as usize];
        }
        true
    }
}

impl SizeLevel {
    fn new(octave: i32) -> SizeLevel {
        // A sphere of this octave has a radius below 2^(octave + 1), so its diameter is at most the width of a cell.
        let cell_size = 2f64.powi(octave + 2);
        SizeLevel { octave, cell_size, largest: 0.0, heads: HashMap::default() }
    }
}

fn cell(point: DVec3, size: f64) -> [i64; 3] {
    (point / size).floor().to_array().map(|x| x as i64)
}

/// Hasher that mixes the three coordinates of a cell. With the default hasher, hashing would take most of the time.
#[derive(Debug, Default)]
struct CellHasher(u64);

impl Hasher for CellHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_i64(&mut self, x: i64) {
        self.write_u64(x as u64);
    }

    fn write_u64(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(26) ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, x: usize) {
        self.write_u64(x as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Random;
    use crate::model::random::Stream;

    fn spheres() -> Vec<(DVec3, f64)> {
        let mut random = Random::new(1, Stream::Grains(0));
        (0..600).map(|_| (random.in_cube(1.0), 10f64.powf(random.between(-3.0, -0.7)))).collect()
    }

    fn overlap(a: (DVec3, f64), b: (DVec3, f64)) -> bool {
        a.0.distance(b.0) < a.1 + b.1
    }

    /// A periodic cell that is smaller than the cube that the spheres are in.
    const CELL: Periodic =
        Periodic { min: DVec3::splat(-1.0), length: DVec3::new(2.0, 1.7, 0.0), ..Periodic::NONE };

    #[test]
    fn the_grid_finds_every_overlapping_pair_across_the_faces_of_a_periodic_cell() {
        let spheres: Vec<_> = spheres().into_iter().map(|(centre, radius)| (1.2 * centre, radius)).collect();
        let mut grid = SphereGrid::new(CELL);
        spheres.iter().for_each(|&(centre, radius)| grid.insert(centre, radius));
        let overlaps = |a: u32, b: u32| {
            let (a, b) = (spheres[a as usize], spheres[b as usize]);
            CELL.separation(a.0, b.0).length() < a.1 + b.1
        };
        let mut found = Vec::new();
        for id in 0..spheres.len() as u32 {
            grid.visit_pairs(id, |other| {
                found.extend(overlaps(id, other).then_some((id.max(other), id.min(other))));
                true
            });
            let (centre, radius) = spheres[id as usize];
            assert!(grid.is_blocked(centre + DVec3::new(2.0, -1.7, 0.0), radius), "by itself");
        }
        found.sort_unstable();
        found.dedup();
        let all = (0..600u32).flat_map(|a| (0..a).map(move |b| (a, b)));
        let expected: Vec<_> = all.filter(|&(a, b)| overlaps(a, b)).collect();
        let direct = expected.iter().filter(|&&(a, b)| overlap(spheres[a as usize], spheres[b as usize]));
        assert!(direct.count() + 20 < expected.len(), "too few pairs across the faces to prove anything");
        assert_eq!(found, expected);
    }

    #[test]
    fn the_grid_finds_every_overlapping_pair_once() {
        let spheres = spheres();
        let mut grid = SphereGrid::default();
        spheres.iter().for_each(|&(centre, radius)| grid.insert(centre, radius));
        let mut found = Vec::new();
        for id in 0..spheres.len() as u32 {
            grid.visit_pairs(id, |other| {
                if overlap(spheres[id as usize], spheres[other as usize]) {
                    found.push((id.max(other), id.min(other)));
                }
                true
            });
        }
        found.sort_unstable();
        let all = (0..600u32).flat_map(|a| (0..a).map(move |b| (a, b)));
        let expected: Vec<_> =
            all.filter(|&(a, b)| overlap(spheres[a as usize], spheres[b as usize])).collect();
        assert!(expected.len() > 100);
        assert_eq!(found, expected);
    }

    #[test]
    fn a_place_is_blocked_exactly_when_a_sphere_is_there() {
        let spheres = spheres();
        let mut grid = SphereGrid::default();
        spheres.iter().for_each(|&(centre, radius)| grid.insert(centre, radius));
        let mut random = Random::new(2, Stream::Grains(0));
        for _ in 0..500 {
            let probe = (random.in_cube(1.2), 10f64.powf(random.between(-3.5, 0.0)));
            let expected = spheres.iter().any(|&sphere| overlap(probe, sphere));
            assert_eq!(grid.is_blocked(probe.0, probe.1), expected, "{probe:?}");
            let share = |sphere: (DVec3, f64)| {
                (probe.1 + sphere.1 - probe.0.distance(sphere.0)) / probe.1.min(sphere.1)
            };
            let most = spheres.iter().map(|&sphere| share(sphere)).fold(0.0, f64::max);
            let found = grid.deepest(probe.0, probe.1).map(|(_, most, id)| (most, share(spheres[id])));
            assert_eq!(found, expected.then_some((most, most)));
        }
    }
}
