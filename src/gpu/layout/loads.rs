//! Loads: impulses of contacts on boundaries, which the device sums as integers.

use glam::DVec3;

use crate::engine::TotalImpulse;
use crate::model::World;

use super::Anchors;

/// Integer units of the loads on boundaries, per N s (linear) and per N m s (angular): powers of two.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::gpu) struct LoadScale {
    pub(super) linear: f64,
    pub(super) angular: f64,
}

impl LoadScale {
    /// Speed change of all grains at one wall within a submission up to which the sums do not overflow \[m/s\].
    const FASTEST: f64 = 1e6;

    /// Returns the scale with which the sums of a submission fit 63 bits. An angular impulse has as many units as an impulse at an arm of
    /// one cell.
    pub(in crate::gpu) fn of(world: &World, anchors: &Anchors) -> LoadScale {
        let grains = (0..world.grain_count()).map(|grain| world.grain_mass(grain)).sum::<f64>();
        let mass = grains + world.dynamic_boundaries().map(|(_, free)| free.mass).sum::<f64>();
        let power = |x: f64| if x > 0.0 { x.log2().ceil().exp2() } else { 1.0 };
        // Powers of two that single precision holds.
        let linear = (62f64.exp2() / power(mass * LoadScale::FASTEST)).clamp(1e-37, 1e37);
        let linear = linear.log2().round().exp2();
        LoadScale { linear, angular: linear / power(anchors.cell_size.max_element()) }
    }

    /// Returns the impulse on a boundary, from its integer sums.
    fn total(&self, sums: &[i128; 6]) -> TotalImpulse {
        let [x, y, z, about_x, about_y, about_z] = sums.map(|sum| sum as f64);
        TotalImpulse {
            linear: DVec3::new(x, y, z) / self.linear,
            angular: DVec3::new(about_x, about_y, about_z) / self.angular,
        }
    }
}

/// Impulses of contacts on the boundaries since the start. The sums stay integers, so that they do not depend on the number of
/// submissions.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::gpu) struct Loads {
    scale: LoadScale,
    /// Impulses before the present scale was set, by boundary.
    before: Vec<TotalImpulse>,
    /// Integer sums under the present scale, by boundary: linear, then angular.
    sums: Vec<[i128; 6]>,
}

impl Loads {
    /// Returns zero loads of `boundaries` boundaries.
    pub(in crate::gpu) fn none(scale: LoadScale, boundaries: usize) -> Loads {
        Loads { scale, before: vec![TotalImpulse::default(); boundaries], sums: vec![[0; 6]; boundaries] }
    }

    /// Returns the same loads, with a new scale for the sums to come.
    pub(in crate::gpu) fn scaled(&self, scale: LoadScale) -> Loads {
        Loads { scale, before: self.totals(), sums: vec![[0; 6]; self.sums.len()] }
    }

    /// Returns the size of the sums on the device \[bytes\].
    pub(in crate::gpu) fn bytes(&self) -> u64 {
        4 * (LOAD_WORDS * self.sums.len()) as u64
    }

    /// Adds the sums of a submission, in the words of the device: the low word before the high one.
    pub(in crate::gpu) fn add(&mut self, words: &[u32]) {
        for (sums, words) in self.sums.iter_mut().zip(words.chunks_exact(LOAD_WORDS)) {
            for (sum, word) in sums.iter_mut().zip(words.chunks_exact(2)) {
                *sum += i128::from(word[1] as i32) * (1 << 32) + i128::from(word[0]);
            }
        }
    }

    /// Returns the impulse on each boundary since the start.
    pub(in crate::gpu) fn totals(&self) -> Vec<TotalImpulse> {
        let since = self.sums.iter().map(|sums| self.scale.total(sums));
        let mut totals = self.before.clone();
        totals.iter_mut().zip(since).for_each(|(total, since)| *total += since);
        totals
    }
}

/// Number of words of the load of a boundary: six sums of 64 bits.
pub(in crate::gpu) const LOAD_WORDS: usize = 12;
