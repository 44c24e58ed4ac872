//! Random numbers that are the same on every machine: PCG64, with one seeded stream per user of random numbers.

use glam::{DQuat, DVec3};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng as _, SeedableRng};

/// User of random numbers. Each has its own stream, so that adding one does not change the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Grains of block `i` of the file.
    Grains(usize),
    /// Emitter `i` of the file.
    Emitter(usize),
    /// Sizes of the grains of emitter `i`, where these are drawn apart from their places.
    EmitterSizes(usize),
    /// Strengths of the bonds of table `i` of the file.
    Bonds(usize),
    /// Corners of a polyhedron with a seed of its own.
    Shape,
}

/// A stream of random numbers.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Random(Pcg64);

impl Random {
    /// Makes the stream of `who` in a scenario with the given seed.
    pub fn new(seed: u64, who: Stream) -> Random {
        let stream = match who {
            Stream::Grains(i) => 2 * i as u64,
            Stream::Emitter(i) => 2 * i as u64 + 1,
            Stream::EmitterSizes(i) => u64::MAX - 1 - i as u64,
            Stream::Bonds(i) => (1 << 62) + i as u64,
            Stream::Shape => u64::MAX,
        };
        Random(Pcg64::seed_from_u64(mix(seed ^ mix(stream))))
    }

    /// Draws a number, uniform in \[0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Draws a number, uniform between two bounds.
    pub fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.unit()
    }

    /// Draws a point, uniform in the cube of half edge `half`.
    pub fn in_cube(&mut self, half: f64) -> DVec3 {
        let [x, y, z] = [(); 3].map(|()| self.between(-half, half));
        DVec3::new(x, y, z)
    }

    /// Draws a number from the normal distribution with mean 0 and standard deviation 1.
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// Draws an orientation, uniform over all rotations.
    pub fn turn(&mut self) -> DQuat {
        let [x, y, z, w] = [self.normal(), self.normal(), self.normal(), self.normal()];
        DQuat::from_xyzw(x, y, z, w).normalize()
    }

    /// Draws an integer, uniform below `bound`, which must be positive.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

/// Spreads the bits of a number (the finaliser of SplitMix64, Steele, Lea & Flood 2014).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_on_every_machine() {
        let mut random = Random::new(1, Stream::Grains(0));
        let first: Vec<u64> = (0..4).map(|_| random.below(1_000_000)).collect();
        assert_eq!(first, [234_525, 242_954, 14_454, 564_997]);
        let mut random = Random::new(1, Stream::Emitter(2));
        assert_eq!(random.unit().to_bits(), 0x3fac_d458_33a0_0b80);
    }

    #[test]
    fn streams_differ_from_each_other() {
        let first = |seed, who| Random::new(seed, who).below(u64::MAX);
        let all = [
            first(1, Stream::Grains(0)),
            first(1, Stream::Grains(1)),
            first(1, Stream::Emitter(0)),
            first(2, Stream::Grains(0)),
        ];
        let mut distinct = all.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len());
    }

    #[test]
    fn uniform_numbers_have_the_mean_and_spread_they_should() {
        let mut random = Random::new(7, Stream::Grains(0));
        let values: Vec<f64> = (0..20_000).map(|_| random.unit()).collect();
        let mean = values.iter().sum::<f64>() / 20_000.0;
        let spread = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0;
        assert!((mean - 0.5).abs() < 0.01 && (spread - 1.0 / 12.0).abs() < 0.002, "{mean} {spread}");
    }
}
