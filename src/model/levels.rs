//! Sizes of the contact search: grains in levels, each with cells twice as wide as those of the level below.
//!
//! ```text
//! level 2  ├───────────────┤   every grain is in the lowest level in use whose cells are as wide
//! level 1  ├───────┤           as it is; it looks for partners in its own level and in
//! level 0  ├───┤               those above, where the larger grains are
//! ```
//!
//! The pairs do not depend on the levels; the work does (Ogarko & Luding 2012). Equal grains make one level.

use super::{World, sphere_volume};

/// Levels, at most: grains more than 2⁹ times smaller than the largest share the lowest.
const MOST: u32 = 10;
/// Bins per octave of radii, a power of two: the choices for the width of the cells.
const BINS: u64 = 8;
/// Bits of a radius behind those that tell its bin.
const BIN_BITS: u32 = f64::MANTISSA_DIGITS - 1 - BINS.trailing_zeros();
/// Share of space that grains fill where they are dense \[-\].
const SOLID_FRACTION: f64 = 0.6;
/// Cells that a grain looks into: in its own level, and in each above, where it knows the side it is on.
const OWN_CELLS: f64 = 27.0;
const UPPER_CELLS: f64 = 12.0;

/// How grains are sorted by size.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Levels {
    /// Largest radius in level 0 \[m\]; that of each level above is twice that of the level below.
    pub radius: f64,
    /// Bits of the levels in use; what would be in another is in the next one above.
    pub used: u32,
}

/// Grains of nearly the same radius.
#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    count: f64,
    /// Sum of r³ \[m³\].
    volume: f64,
    /// Largest radius \[m\].
    largest: f64,
}

impl Levels {
    /// The levels in which the grains of a world, dense everywhere, would look at the fewest others; `None`
    /// without grains.
    pub fn for_world(world: &World) -> Option<Levels> {
        Levels::for_radii(world.spheres.iter().map(|sphere| sphere.radius))
    }

    fn for_radii(radii: impl Iterator<Item = f64> + Clone) -> Option<Levels> {
        let bins = Bin::sort(radii);
        let largest = bins.last()?.largest;
        // As wide as some of the grains, or so that the highest level is no wider than the largest.
        let halved = (0..MOST as i32).map(|times| largest * 0.5_f64.powi(times));
        let choices = bins.iter().map(|bin| bin.largest).chain(halved);
        let allowed = choices.filter_map(|radius| Levels::from_to(radius, largest));
        allowed
            .map(|levels| levels.leave_out(&bins))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(levels, _)| levels)
    }

    /// All levels from that of `radius` to that of the largest grains, unless those are more than there may be.
    fn from_to(radius: f64, largest: f64) -> Option<Levels> {
        let highest = octaves(radius, largest);
        (highest < MOST.into()).then(|| Levels { radius, used: u32::MAX >> (31 - highest as u32) })
    }

    /// Levels from the lowest to the highest that is used.
    pub fn count(&self) -> u32 {
        u32::BITS - self.used.leading_zeros()
    }

    /// Level of a grain: the lowest one in use that is wide enough.
    pub fn of(&self, radius: f64) -> u32 {
        let lowest = octaves(self.radius, radius) as u32;
        (u32::MAX << lowest & self.used).trailing_zeros()
    }

    /// Without the levels that are not worth looking into, and the work that is left.
    fn leave_out(self, bins: &[Bin]) -> (Levels, f64) {
        let highest = self.count() - 1;
        (0..highest).fold((self, self.work(bins)), |(best, work), level| {
            let fewer = Levels { used: best.used & !(1 << level), ..best };
            let less = fewer.work(bins);
            if less <= work { (fewer, less) } else { (best, work) }
        })
    }

    /// Cells and grains that all grains look at, in a dense packing: those of a level fill the space that larger
    /// ones leave.
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
    /// Grains by radius, ascending; those too small for a level of their own are in the first bin.
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

/// Times that the smaller radius has to be doubled to be no less than the larger. Exact: the bits of a number twice as
/// large are one exponent further.
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
