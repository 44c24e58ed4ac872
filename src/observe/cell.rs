//! Cell of six walls: stresses on the walls, and strains of the space between them. Compression is positive.

use super::loads::Load;
use super::{Base, grains};
use crate::engine::Snapshot;
use crate::model::Span;
use crate::model::plane::grain_volume;

/// Cell of six walls.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct CellPlan {
    /// Pairs of walls along x, y and z.
    pub walls: [Span; 3],
    /// Axis of the axial stress, which the deviator compares with the other two: 0, 1, 2 for x, y, z.
    pub axial: usize,
    /// Time from which strains are counted \[s\]: at the first output after it, they are counted since the output before.
    pub strain_from: f64,
}

/// Stresses and strains of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct CellState {
    /// Distances of opposite walls along x, y and z \[m\].
    pub lengths: [f64; 3],
    /// Strains: decrease of each length over its value when the counting of strains began \[-\].
    pub strains: [f64; 3],
    /// Volumetric strain: decrease of the volume over its value then \[-\].
    pub volume_strain: f64,
    /// Stresses: mean force on two opposite walls over their area, in the last substep \[Pa\].
    pub stresses: [f64; 3],
    /// Mean of the three stresses \[Pa\].
    pub mean_stress: f64,
    /// Deviator stress: the axial stress less the mean of the other two \[Pa\].
    pub deviator_stress: f64,
    /// Mean stress from the mean forces since the base \[Pa\].
    pub pressure: f64,
    /// Solid fraction: volume of the grains over the volume between the walls \[-\].
    pub solid_fraction: f64,
}

impl CellState {
    /// State of a scene without a cell.
    pub(super) const UNKNOWN: CellState = CellState {
        lengths: [f64::NAN; 3],
        strains: [f64::NAN; 3],
        volume_strain: f64::NAN,
        stresses: [f64::NAN; 3],
        mean_stress: f64::NAN,
        deviator_stress: f64::NAN,
        pressure: f64::NAN,
        solid_fraction: f64::NAN,
    };

    /// Stresses and strains under the loads of the boundaries, those in the last substep and the mean ones. Strains continue from the
    /// strains of the base; without a base they are zero.
    pub(super) fn new(
        snapshot: &Snapshot,
        plan: &CellPlan,
        [loads, mean_loads]: [&[Load]; 2],
        base: Option<&Base>,
    ) -> CellState {
        let lengths = plan.walls.map(|span| span.length(&snapshot.world));
        let volume: f64 = lengths.iter().product();
        let before = base.and_then(|base| base.cell).filter(|_| snapshot.report.time > plan.strain_from);
        let kept = match before {
            // Remaining share of each length since the counting of strains began; their product is the share of the volume.
            Some(before) => {
                [0, 1, 2].map(|axis| (1.0 - before.strains[axis]) * lengths[axis] / before.lengths[axis])
            }
            None => [1.0; 3],
        };
        let stresses = |loads: &[Load]| {
            [0, 1, 2].map(|axis| {
                let span = plan.walls[axis];
                let apart = loads[span.high].force[axis] - loads[span.low].force[axis];
                0.5 * apart * lengths[axis] / volume
            })
        };
        let pressure = stresses(mean_loads).iter().sum::<f64>() / 3.0;
        let stresses = stresses(loads);
        let mean_stress = stresses.iter().sum::<f64>() / 3.0;
        CellState {
            lengths,
            strains: kept.map(|share| 1.0 - share),
            volume_strain: 1.0 - kept.iter().product::<f64>(),
            stresses,
            mean_stress,
            // σ_a - (σ_b + σ_c)/2
            deviator_stress: 1.5 * (stresses[plan.axial] - mean_stress),
            pressure,
            solid_fraction: solid_volume(snapshot) / volume,
        }
    }
}

/// Volume of all grains \[m³\].
pub(super) fn solid_volume(snapshot: &Snapshot) -> f64 {
    let volumes = grains(snapshot).map(|grain| grain_volume(snapshot.world.plane, grain.radius));
    snapshot.share.sum(volumes.sum::<f64>())
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::observe::test_worlds::empty;

    /// Walls at 0 and at (2, 3, 4) m.
    fn cell() -> (Snapshot, CellPlan) {
        let mut snapshot = empty();
        snapshot.world.bodies.position = vec![DVec3::ZERO, DVec3::new(2.0, 3.0, 4.0)];
        let walls = [0, 1, 2].map(|axis| Span { axis, low: 0, high: 1 });
        (snapshot, CellPlan { walls, axial: 2, strain_from: 1.0 })
    }

    #[test]
    fn the_stress_is_the_mean_force_on_two_walls_over_their_area() {
        let (snapshot, plan) = cell();
        let load = |force| Load { force, ..Load::default() };
        let loads = [load(DVec3::new(-110.0, -80.0, -54.0)), load(DVec3::new(130.0, 80.0, 66.0))];
        let none = [Load::default(); 2];
        let state = CellState::new(&snapshot, &plan, [&loads, &none], None);
        // 120 N on 12 m², 80 N on 8 m², 60 N on 6 m²: an even pressure of 10 Pa
        assert_eq!((state.stresses, state.mean_stress, state.deviator_stress), ([10.0; 3], 10.0, 0.0));
        let loads = [load(DVec3::ZERO), load(DVec3::new(24.0, 48.0, 120.0))];
        let state = CellState::new(&snapshot, &plan, [&none, &loads], None);
        // 1, 3 and 10 Pa
        approx::assert_relative_eq!(state.pressure, 14.0 / 3.0, max_relative = 1e-12);
        let state = CellState::new(&snapshot, &plan, [&loads, &loads], None);
        approx::assert_relative_eq!(state.deviator_stress, 10.0 - 2.0, max_relative = 1e-12);
    }

    #[test]
    fn strains_count_from_their_start_over_the_length_then() {
        let (mut snapshot, plan) = cell();
        let loads = [Load::default(); 2];
        let mut base: Option<Base> = None;
        let mut found = Vec::new();
        for (time, height) in [(0.0, 5.0), (1.0, 4.0), (2.0, 3.0), (3.0, 2.0)] {
            snapshot.report.time = time;
            snapshot.world.bodies.position[1].z = height;
            let state = CellState::new(&snapshot, &plan, [&loads, &loads], base.as_ref());
            found.push([state.strains[0], state.strains[2], state.volume_strain]);
            base = Some(Base { time, cell: Some(state), ..Base::default() });
        }
        // Along x nothing; along z, and by volume, from 4 m on.
        assert_eq!(found, [[0.0; 3], [0.0; 3], [0.0, 0.25, 0.25], [0.0, 0.5, 0.5]]);
    }
}
