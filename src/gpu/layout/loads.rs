//! Loads: impulses of contacts on boundaries, and the sums of the meters of stress, which the device adds up as integers.

use glam::{DMat3, DVec3};

use crate::engine::TotalImpulse;
#[cfg(feature = "scenario")]
use crate::model::consistent::{Fault, claim, claim_length};
use crate::model::{MeterSums, World};

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

/// Impulses of contacts on the boundaries, and sums of the meters, since the start. The sums stay integers, so that they do
/// not depend on the number of submissions.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::gpu) struct Loads {
    scale: LoadScale,
    /// Impulses before the present scale was set, by boundary.
    before: Vec<TotalImpulse>,
    /// Integer sums under the present scale, by boundary: linear, then angular.
    sums: Vec<[i128; 6]>,
    /// Length of a substep \[s\], by which the host multiplies mass and momentum.
    substep: f64,
    /// Sums of the meters before the present scale was set, by bin, and integer sums under it.
    bins_before: Vec<MeterSums>,
    bin_sums: Vec<[i128; BIN_SUMS]>,
}

impl Loads {
    /// Returns zero loads of the boundaries and meters of a world that is solved in substeps of this length \[s\].
    pub(in crate::gpu) fn none(scale: LoadScale, world: &World, substep: f64) -> Loads {
        let (boundaries, bins) = (world.boundaries.len(), world.meter_bins());
        Loads {
            scale,
            before: vec![TotalImpulse::default(); boundaries],
            sums: vec![[0; 6]; boundaries],
            substep,
            bins_before: vec![MeterSums::ZERO; bins],
            bin_sums: vec![[0; BIN_SUMS]; bins],
        }
    }

    /// Returns the same loads, with a new scale for the sums to come.
    pub(in crate::gpu) fn scaled(&self, scale: LoadScale) -> Loads {
        Loads {
            scale,
            before: self.totals(),
            sums: vec![[0; 6]; self.sums.len()],
            substep: self.substep,
            bins_before: self.stresses(),
            bin_sums: vec![[0; BIN_SUMS]; self.bin_sums.len()],
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
        claim(linear > 0.0 && angular > 0.0, || "a unit of loads that is none".into())?;
        claim(self.bin_sums.iter().flatten().all(is_small), || "a stress that is too large".into())?;
        claim(self.substep > 0.0 && self.substep.is_finite(), || "a substep that is none".into())
    }

    /// Returns the size of the sums on the device \[bytes\].
    pub(in crate::gpu) fn bytes(&self) -> u64 {
        4 * (LOAD_WORDS * self.sums.len() + BIN_WORDS * self.bin_sums.len()) as u64
    }

    /// Whether the saved sums are those of this world.
    #[cfg(feature = "scenario")]
    pub(in crate::gpu) fn fit(&self, world: &World) -> bool {
        let (boundaries, bins) = (world.boundaries.len(), world.meter_bins());
        [self.before.len(), self.sums.len()] == [boundaries; 2]
            && [self.bins_before.len(), self.bin_sums.len()] == [bins; 2]
    }

    /// Adds the sums of a submission, in the words of the device: those of the boundaries, then those of the meters, the low word of a sum
    /// before the high one.
    pub(in crate::gpu) fn add(&mut self, words: &[u32]) {
        let sums = self.sums.iter_mut().flatten().chain(self.bin_sums.iter_mut().flatten());
        for (sum, word) in sums.zip(words.chunks_exact(2)) {
            *sum += i128::from(word[1] as i32) * (1 << 32) + i128::from(word[0]);
        }
    }

    /// Returns the sums of the meters since the start, by bin.
    pub(in crate::gpu) fn stresses(&self) -> Vec<MeterSums> {
        let mut all = self.bins_before.clone();
        all.iter_mut().zip(&self.bin_sums).for_each(|(all, sums)| *all += self.of_bin(sums));
        all
    }

    /// Returns the sums of a bin, from its integer sums: the contacts row by row, then the flux, the momentum, the mass, and the number and
    /// mass of the grains that came in.
    fn of_bin(&self, sums: &[i128; BIN_SUMS]) -> MeterSums {
        let LoadScale { linear, angular } = self.scale;
        let contacts: [f64; 9] = std::array::from_fn(|i| sums[i] as f64 / angular);
        let [xx, xy, xz, yy, yz, zz] =
            std::array::from_fn(|i| (sums[9 + 2 * i] as f64 + sums[10 + 2 * i] as f64 / FINE) / angular);
        let [x, y, z, mass] = std::array::from_fn(|i| self.substep * (sums[21 + i] as f64 / linear));
        MeterSums {
            contacts: DMat3::from_cols_array(&contacts).transpose(),
            flux: DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]),
            momentum: DVec3::new(x, y, z),
            mass,
            entries: sums[25] as f64,
            entered_mass: sums[26] as f64 / linear,
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
/// Number of words of the stress of a grain: nine sums of 64 bits.
pub(in crate::gpu) const STRESS_WORDS: usize = 18;
/// Number of sums of a bin of a meter: nine of the contacts, six of the flux in two parts each, three of the momentum, the mass, and number
/// and mass of the grains that came in.
const BIN_SUMS: usize = 27;
/// Number of words of a bin of a meter.
pub(in crate::gpu) const BIN_WORDS: usize = 2 * BIN_SUMS;
/// Parts of a unit in which the second part of a flux is given.
const FINE: f64 = 4_294_967_296.0;
