//! What contacts give the boundaries, as the device sums it up in whole numbers.

use glam::DVec3;

use crate::engine::TotalImpulse;
use crate::model::World;

use super::Anchors;

/// Units in which the device sums up what contacts give the boundaries, per N s and per N m s: powers of two.
#[derive(Debug, Clone, Copy, PartialEq)]
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

    /// What a boundary was given, from its twelve words.
    fn total(&self, words: &[u32]) -> TotalImpulse {
        let number =
            |i: usize| (i64::from(words[2 * i + 1] as i32) * (1 << 32) + i64::from(words[2 * i])) as f64;
        let vector = |first: usize| DVec3::new(number(first), number(first + 1), number(first + 2));
        TotalImpulse { linear: vector(0) / self.linear, angular: vector(3) / self.angular }
    }

    /// What each boundary was given.
    pub(in crate::gpu) fn totals(&self, words: &[u32]) -> Vec<TotalImpulse> {
        words.chunks_exact(LOAD_WORDS).map(|words| self.total(words)).collect()
    }
}

/// Words of the load of a boundary.
pub(in crate::gpu) const LOAD_WORDS: usize = 12;
