//! Loads: impulses of contacts on boundaries, and impulses times arms in the meters of stress, which the device sums as integers.

use glam::{DMat3, DVec3};

use crate::engine::TotalImpulse;
use crate::model::World;
#[cfg(feature = "scenario")]
use crate::model::consistent::{Fault, claim, claim_length};

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

/// Impulses of contacts on the boundaries, and impulses times arms in the meters, since the start. The sums stay integers, so that they do
/// not depend on the number of submissions.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::gpu) struct Loads {
    scale: LoadScale,
    /// Impulses before the present scale was set, by boundary.
    before: Vec<TotalImpulse>,
    /// Integer sums under the present scale, by boundary: linear, then angular.
    sums: Vec<[i128; 6]>,
    /// Sums of the meters before the present scale was set, by bin \[N m s\], and integer sums under it, row by row.
    stress_before: Vec<DMat3>,
    stress_sums: Vec<[i128; 9]>,
}

impl Loads {
    /// Returns zero loads of the boundaries and meters of a world.
    pub(in crate::gpu) fn none(scale: LoadScale, world: &World) -> Loads {
        let (boundaries, bins) = (world.boundaries.len(), world.meter_bins());
        Loads {
            scale,
            before: vec![TotalImpulse::default(); boundaries],
            sums: vec![[0; 6]; boundaries],
            stress_before: vec![DMat3::ZERO; bins],
            stress_sums: vec![[0; 9]; bins],
        }
    }

    /// Returns the same loads, with a new scale for the sums to come.
    pub(in crate::gpu) fn scaled(&self, scale: LoadScale) -> Loads {
        Loads {
            scale,
            before: self.totals(),
            sums: vec![[0; 6]; self.sums.len()],
            stress_before: self.stresses(),
            stress_sums: vec![[0; 9]; self.stress_sums.len()],
        }
    }

    /// Checks loads that were read from a file: of as many boundaries, and with room to add to them.
    #[cfg(feature = "scenario")]
    pub(in crate::gpu) fn check(&self, boundaries: usize) -> Fault {
        claim_length(self.before.len(), boundaries, "loads before for boundaries")?;
        claim_length(self.sums.len(), boundaries, "loads for boundaries")?;
        let is_small = |sum: &i128| sum.unsigned_abs() < 1 << 100;
        claim(self.sums.iter().flatten().all(is_small), || "a load that is too large".into())?;
        let LoadScale { linear, angular } = self.scale;
        claim(linear > 0.0 && angular > 0.0, || "a unit of loads that is none".into())
    }

    /// Returns the size of the sums on the device \[bytes\].
    pub(in crate::gpu) fn bytes(&self) -> u64 {
        4 * (LOAD_WORDS * self.sums.len() + STRESS_WORDS * self.stress_sums.len()) as u64
    }

    /// Whether the saved sums are those of this world.
    #[cfg(feature = "scenario")]
    pub(in crate::gpu) fn fit(&self, world: &World) -> bool {
        let (boundaries, bins) = (world.boundaries.len(), world.meter_bins());
        [self.before.len(), self.sums.len()] == [boundaries; 2]
            && [self.stress_before.len(), self.stress_sums.len()] == [bins; 2]
    }

    /// Adds the sums of a submission, in the words of the device: those of the boundaries, then those of the meters, the low word of a sum
    /// before the high one.
    pub(in crate::gpu) fn add(&mut self, words: &[u32]) {
        let sums = self.sums.iter_mut().flatten().chain(self.stress_sums.iter_mut().flatten());
        for (sum, word) in sums.zip(words.chunks_exact(2)) {
            *sum += i128::from(word[1] as i32) * (1 << 32) + i128::from(word[0]);
        }
    }

    /// Returns the sums of the meters since the start, by bin \[N m s\].
    pub(in crate::gpu) fn stresses(&self) -> Vec<DMat3> {
        let since = |sums: &[i128; 9]| {
            let row_by_row = sums.map(|sum| sum as f64 / self.scale.angular);
            DMat3::from_cols_array(&row_by_row).transpose()
        };
        self.stress_before.iter().zip(&self.stress_sums).map(|(before, sums)| *before + since(sums)).collect()
    }

    /// Returns the impulse on each boundary since the start.
    pub(in crate::gpu) fn totals(&self) -> Vec<TotalImpulse> {
        let since = self.sums.iter().map(|sums| self.scale.total(sums));
        let mut totals = self.before.clone();
        totals.iter_mut().zip(since).for_each(|(total, since)| *total += since);
        totals
    }
}

/// Returns the sums of grains, row by row as the device has them \[N m s\]: words of 64-bit integers, the low one first.
pub(in crate::gpu) fn grain_stresses(words: &[u32], scale: LoadScale) -> Vec<DMat3> {
    let sum =
        |word: &[u32; 2]| ((i64::from(word[1] as i32) << 32) + i64::from(word[0])) as f64 / scale.angular;
    let tensor = |words: &[u32; STRESS_WORDS]| {
        let mut numbers = words.as_chunks().0.iter().map(sum);
        DMat3::from_cols_array(&[(); 9].map(|()| numbers.next().unwrap_or_default())).transpose()
    };
    words.as_chunks().0.iter().map(tensor).collect()
}

/// Number of words of the load of a boundary: six sums of 64 bits.
pub(in crate::gpu) const LOAD_WORDS: usize = 12;
/// Number of words of a bin of a meter: nine sums of 64 bits.
pub(in crate::gpu) const STRESS_WORDS: usize = 18;
