//! Size levels of the contact search: each level holds grains of similar size, in cells twice as wide as those of the level below.
//!
//! ```text
//! level 2  ├───────────────┤   every grain is in the lowest level in use whose cells are as wide
//! level 1  ├───────┤           as it is; it looks for partners in its own level and in
//! level 0  ├───┤               those above, where the larger grains are
//! ```
//!
//! The pairs found do not depend on the levels; the work does (Ogarko & Luding 2012). Equal grains make one level.

use super::{World, sphere_volume};

/// Largest number of levels: grains more than 2⁹ times smaller than the largest share the lowest level.
const MOST: u32 = 10;
/// Bins per octave of radii, a power of two: the candidates for the cell width of level 0.
const BINS: u64 = 8;
/// Number of low bits of a radius that do not affect its bin.
const BIN_BITS: u32 = f64::MANTISSA_DIGITS - 1 - BINS.trailing_zeros();
/// Assumed solid fraction of a dense packing \[-\].
const SOLID_FRACTION: f64 = 0.6;
/// Number of cells that a grain searches: in its own level, and in each level above, where it knows the nearer side per axis.
const OWN_CELLS: f64 = 27.0;
const UPPER_CELLS: f64 = 12.0;

/// Levels by which grains are sorted by size.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Levels {
    /// Largest radius in level 0 \[m\]; it doubles from level to level.
    pub radius: f64,
    /// Bit mask of the levels in use; grains of an unused level are in the next used one above.
    pub used: u32,
}

/// Grains of nearly the same radius: their number, volume and largest radius.
#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    count: f64,
    /// Sum of r³ \[m³\].
    volume: f64,
    /// Largest radius \[m\].
    largest: f64,
}

impl Levels {
    /// Chooses the levels with the least search work for the grains of a world in a dense packing; `None` without grains.
    pub fn for_world(world: &World) -> Option<Levels> {
        Levels::for_radii(world.spheres.iter().map(|sphere| sphere.radius))
    }

    fn for_radii(radii: impl Iterator<Item = f64> + Clone) -> Option<Levels> {
        let bins = Bin::sort(radii);
        let largest = bins.last()?.largest;
        // Candidates for level 0: the largest radius of each bin, and the largest radius of all divided by powers of two.
        let halved = (0..MOST as i32).map(|times| largest * 0.5_f64.powi(times));
        let choices = bins.iter().map(|bin| bin.largest).chain(halved);
        let allowed = choices.filter_map(|radius| Levels::from_to(radius, largest));
        allowed
            .map(|levels| levels.leave_out(&bins))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(levels, _)| levels)
    }

    /// All levels from that of `radius` to that of the largest grains; `None` if these are more than [`MOST`].
    fn from_to(radius: f64, largest: f64) -> Option<Levels> {
        let highest = octaves(radius, largest);
        (highest < MOST.into()).then(|| Levels { radius, used: u32::MAX >> (31 - highest as u32) })
    }

    /// Number of levels from level 0 to the highest in use.
    pub fn count(&self) -> u32 {
        u32::BITS - self.used.leading_zeros()
    }

    /// Level of a grain: the lowest one in use whose cells are wide enough.
    pub fn of(&self, radius: f64) -> u32 {
        let lowest = octaves(self.radius, radius) as u32;
        (u32::MAX << lowest & self.used).trailing_zeros()
    }

    /// Removes the levels whose removal does not increase the work; returns the remaining levels and their work.
    fn leave_out(self, bins: &[Bin]) -> (Levels, f64) {
        let highest = self.count() - 1;
        (0..highest).fold((self, self.work(bins)), |(best, work), level| {
            let fewer = Levels { used: best.used & !(1 << level), ..best };
            let less = fewer.work(bins);
            if less <= work { (fewer, less) } else { (best, work) }
        })
    }

    /// Search work: cells and grains visited by all grains in a dense packing. The grains of a level fill the space between those of
    /// the levels above.
    fn work(&self, bins: &[Bin]) -> f64 {
        let mut levels = [Bin::default(); MOST as usize];
        bins.iter().for_each(|bin| levels[self.of(bin.largest) as usize].add(bin));
        let mut smaller = Bin::default();
        let mut work = 0.0;
        for (level, own) in levels.iter().enumerate().filter(|(_, own)| own.count > 0.0) {
            let space = sphere_volume(1.0) * (smaller.volume + own.volume) / SOLID_FRACTION;
            let cell = (2.0 * self.radius * f64::from(1 << level)).powi(3);
            let looks = OWN_CELLS * own.count + UPPER_CELLS * smaller.count;
            work += looks * (1.0 + own.count * cell / space);
            smaller.add(own);
        }
        work
    }
}

impl Bin {
    /// Sorts grains into bins by radius, ascending; grains too small for a level of their own are in the first bin.
    fn sort(radii: impl Iterator<Item = f64> + Clone) -> Vec<Bin> {
        let bin_of = |radius: f64| radius.to_bits() >> BIN_BITS;
        let count = u64::from(MOST) * BINS;
        let first = bin_of(radii.clone().fold(0.0, f64::max)).saturating_sub(count - 1);
        let mut bins = vec![Bin::default(); count as usize];
        for radius in radii {
            let grain = Bin { count: 1.0, volume: radius.powi(3), largest: radius };
            bins[bin_of(radius).saturating_sub(first) as usize].add(&grain);
        }
        bins.retain(|bin| bin.count > 0.0);
        bins
    }

    fn add(&mut self, other: &Bin) {
        self.count += other.count;
        self.volume += other.volume;
        self.largest = self.largest.max(other.largest);
    }
}

/// Number of doublings after which the smaller radius is at least the larger. Exact, because the bits of a doubled number are those of
/// the number with the exponent raised by one.
fn octaves(smaller: f64, larger: f64) -> u64 {
    let exponent = 1 << (f64::MANTISSA_DIGITS - 1);
    larger.to_bits().saturating_sub(smaller.to_bits()).div_ceil(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(radii: impl IntoIterator<Item = f64, IntoIter: Clone>) -> Option<Levels> {
        Levels::for_radii(radii.into_iter())
    }

    #[test]
    fn equal_and_nearly_equal_grains_make_one_level() {
        assert_eq!(levels([]), None);
        assert_eq!(levels([0.013; 9]), Some(Levels { radius: 0.013, used: 1 }));
        let spread = (0..=100).map(|i| 0.01 + 0.00002 * f64::from(i));
        assert_eq!(levels(spread), Some(Levels { radius: 0.012, used: 1 }), "1 to 1.2");
    }

    #[test]
    fn cells_are_as_wide_as_the_many_however_large_the_few_are() {
        for ratio in [1.9, 3.0, 10.0, 100.0, 511.0] {
            let few = std::iter::repeat_n(0.01, 10_000).chain([0.01 * ratio]);
            let levels = levels(few).expect("levels");
            assert_eq!(levels.radius, 0.01, "ratio {ratio}");
            assert_eq!(levels.used, 1 | 1 << f64::log2(ratio).ceil() as u32, "ratio {ratio}");
        }
    }

    #[test]
    fn every_grain_is_in_the_lowest_level_that_is_wide_enough() {
        let levels = Levels { radius: 0.3, used: 0x3ff };
        for i in 1..10_000 {
            let radius = 0.01 * f64::from(i);
            let level = levels.of(radius);
            assert!(radius <= 0.3 * f64::from(1 << level), "{radius} in level {level}");
            assert!(level == 0 || radius > 0.15 * f64::from(1 << level), "{radius} in level {level}");
        }
        assert_eq!(
            [0.3, f64::next_up(0.3), 0.6, f64::next_up(0.6)].map(|radius| levels.of(radius)),
            [0, 1, 1, 2]
        );
    }

    #[test]
    fn dust_shares_the_lowest_of_the_levels() {
        let levels = levels([1e-9, 1e-3, 1e-3, 1.0]).expect("levels");
        assert_eq!((levels.count() <= MOST, levels.of(1e-9)), (true, 0), "{levels:?}");
        assert_eq!(levels.of(1.0), levels.count() - 1);
        let levels = Levels::for_radii([1e-7, 1e3].into_iter()).expect("levels");
        assert!(
            levels.radius > 1.0 && levels.count() <= MOST,
            "cells as narrow as dust would have no end: {levels:?}"
        );
        assert_eq!(levels.of(1e3), levels.count() - 1);
    }
}
