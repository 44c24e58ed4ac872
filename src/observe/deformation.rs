//! State of a periodic cell that deforms \[E23\]: stress, strains and flow. Compression is positive.

use glam::DMat3;

use super::cell::{CellState, solid_volume};
use super::{Base, grains};
use crate::engine::Snapshot;
use crate::model::{Periodic, Tilt};

/// Sums of a cell since the start, from which means follow.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct StrainSums {
    /// Stress times time \[Pa s\].
    stress_time: DMat3,
    /// Shear strain \[-\].
    shear_strain: f64,
}

/// Sums up to a state; `None` where the cell does not deform.
pub(super) fn so_far(snapshot: &Snapshot) -> Option<StrainSums> {
    let deformation = snapshot.world.deformation.as_ref()?;
    Some(StrainSums { stress_time: deformation.stress_time, shear_strain: deformation.shear_strain })
}

/// Sums since the base, and the time \[s\]; `None` without one.
fn since(snapshot: &Snapshot, base: Option<&Base>) -> Option<(StrainSums, f64)> {
    let (now, base) = (so_far(snapshot)?, base?);
    let before = base.strained?;
    let time = snapshot.report.time - base.time;
    let sums = StrainSums {
        stress_time: now.stress_time - before.stress_time,
        shear_strain: now.shear_strain - before.shear_strain,
    };
    (time > 0.0).then_some((sums, time))
}

/// Mean stress in the cell since the base, positive under pressure \[Pa\]; zero without one. Rows and columns are those of the axes.
pub(super) fn stress(snapshot: &Snapshot, base: Option<&Base>) -> DMat3 {
    let Some((sums, time)) = since(snapshot, base) else { return DMat3::ZERO };
    let mean = sums.stress_time * time.recip();
    // The moments of friction are in balance in the mean, and not in every substep.
    0.5 * (mean + mean.transpose())
}

/// Mean shear stress since the base, positive where it resists a positive shear rate \[Pa\].
pub(super) fn shear_stress(snapshot: &Snapshot, base: Option<&Base>) -> f64 {
    let Tilt { along, across, .. } = snapshot.world.periodic.tilt;
    0.0 - stress(snapshot, base).col(across.into())[usize::from(along)]
}

/// Mean normal stress on the sheared faces since the base \[Pa\].
fn normal_stress(snapshot: &Snapshot, base: Option<&Base>) -> f64 {
    let across = usize::from(snapshot.world.periodic.tilt.across);
    stress(snapshot, base).col(across)[across]
}

/// Shear stress over the normal stress on the sheared faces \[-\]; not a number without such a stress.
pub(super) fn stress_ratio(snapshot: &Snapshot, base: Option<&Base>) -> f64 {
    let normal = normal_stress(snapshot, base);
    if normal > 0.0 { shear_stress(snapshot, base) / normal } else { f64::NAN }
}

/// Inertial number |γ̇| d √(ρ/σ), with the mean diameter and density of the grains and the normal stress on the sheared faces \[-\]; not a
/// number without such a stress.
pub(super) fn inertial_number(snapshot: &Snapshot, base: Option<&Base>) -> f64 {
    let normal = normal_stress(snapshot, base);
    let Some((sums, time)) = since(snapshot, base).filter(|_| normal > 0.0) else { return f64::NAN };
    let (mut count, mut diameters, mut mass) = (0.0, 0.0, 0.0);
    for grain in grains(snapshot) {
        (count, diameters, mass) = (count + 1.0, diameters + 2.0 * grain.radius, mass + grain.mass);
    }
    let density: f64 = mass / solid_volume(snapshot);
    (sums.shear_strain / time).abs() * diameters / count * (density / normal).sqrt()
}

/// Lengths, strains and stresses of the cell. Strains are over the lengths at the start, stresses means since the base.
pub(super) fn cell_state(snapshot: &Snapshot, base: Option<&Base>) -> Option<CellState> {
    let Periodic { length, .. } = snapshot.world.periodic;
    let start = snapshot.world.deformation.as_ref()?.start;
    let axes = (0..3).filter(|&axis| length[axis] > 0.0).count() as f64;
    let kept = [0, 1, 2].map(|axis| if length[axis] > 0.0 { length[axis] / start[axis] } else { 1.0 });
    let tensor = stress(snapshot, base);
    let stresses = [0, 1, 2].map(|axis| tensor.col(axis)[axis]);
    let mean_stress = stresses.iter().sum::<f64>() / axes;
    Some(CellState {
        lengths: length.to_array(),
        strains: kept.map(|share| 1.0 - share),
        volume_strain: 1.0 - kept.iter().product::<f64>(),
        stresses,
        mean_stress,
        deviator_stress: stresses[2] - 0.5 * (stresses[0] + stresses[1]),
        pressure: mean_stress,
        solid_fraction: solid_volume(snapshot) / snapshot.world.periodic.volume(),
    })
}
