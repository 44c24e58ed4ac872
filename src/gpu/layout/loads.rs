//! What contacts give the boundaries, as the device sums it up in whole numbers.

use glam::DVec3;

use crate::engine::TotalImpulse;
use crate::model::World;

use super::Anchors;

/// Units in which the device sums up what contacts give the boundaries, per N s and per N m s: powers of two.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::gpu) struct LoadScale {
    pub(super) linear: f64,
    pub(super) angular: f64,
}

impl LoadScale {
    /// Speed that a submission may bring all grains to at a wall, before their sum overflows \[m/s\].
    const FASTEST: f64 = 1e6;

    /// Such that the sums of a submission fit 63 bits, and a torque has as many as a force at an arm of a cell.
    pub(in crate::gpu) fn of(world: &World, anchors: &Anchors) -> LoadScale {
        let grains = (0..world.grain_count()).map(|grain| world.grain_mass(grain)).sum::<f64>();
        let mass = grains + world.dynamic_boundaries().map(|(_, free)| free.mass).sum::<f64>();
        let power = |x: f64| if x > 0.0 { x.log2().ceil().exp2() } else { 1.0 };
        // Powers of two that single precision holds.
        let linear = (62f64.exp2() / power(mass * LoadScale::FASTEST)).clamp(1e-37, 1e37);
        let linear = linear.log2().round().exp2();
        LoadScale { linear, angular: linear / power(anchors.cell_size.max_element()) }
    }

    /// What a boundary was given, from its sums.
    fn total(&self, sums: &[i128; 6]) -> TotalImpulse {
        let [x, y, z, about_x, about_y, about_z] = sums.map(|sum| sum as f64);
        TotalImpulse {
            linear: DVec3::new(x, y, z) / self.linear,
            angular: DVec3::new(about_x, about_y, about_z) / self.angular,
        }
    }
}

/// What contacts gave the boundaries since the start. Sums stay whole numbers, as how many submissions they came in must not show.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::gpu) struct Loads {
    scale: LoadScale,
    /// Until the scale was set.
    before: Vec<TotalImpulse>,
    /// Since then.
    sums: Vec<[i128; 6]>,
}

impl Loads {
    /// Nothing yet, of so many boundaries.
    pub(in crate::gpu) fn none(scale: LoadScale, boundaries: usize) -> Loads {
        Loads { scale, before: vec![TotalImpulse::default(); boundaries], sums: vec![[0; 6]; boundaries] }
    }

    /// The same, with a scale for what is to come.
    pub(in crate::gpu) fn scaled(&self, scale: LoadScale) -> Loads {
        Loads { scale, before: self.totals(), sums: vec![[0; 6]; self.sums.len()] }
    }

    /// Bytes that the device sums them up in.
    pub(in crate::gpu) fn bytes(&self) -> u64 {
        4 * (LOAD_WORDS * self.sums.len()) as u64
    }

    /// Adds what a submission came to, in the words of the device.
    pub(in crate::gpu) fn add(&mut self, words: &[u32]) {
        for (sums, words) in self.sums.iter_mut().zip(words.chunks_exact(LOAD_WORDS)) {
            for (sum, word) in sums.iter_mut().zip(words.chunks_exact(2)) {
                *sum += i128::from(word[1] as i32) * (1 << 32) + i128::from(word[0]);
            }
        }
    }

    /// What each boundary was given.
    pub(in crate::gpu) fn totals(&self) -> Vec<TotalImpulse> {
        let since = self.sums.iter().map(|sums| self.scale.total(sums));
        let mut totals = self.before.clone();
        totals.iter_mut().zip(since).for_each(|(total, since)| *total += since);
        totals
    }
}

/// Words of the load of a boundary.
pub(in crate::gpu) const LOAD_WORDS: usize = 12;
