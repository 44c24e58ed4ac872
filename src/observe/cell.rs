//! A cell of six walls: stresses on them, and strains of what is between them. Compression is positive.

use super::loads::Load;
use super::{Observation, grains};
use crate::engine::Snapshot;
use crate::model::sphere_volume;
use crate::scenario::CellPlan;

/// Quantities of a cell, in the order of its columns.
pub(super) const QUANTITIES: [(&str, &str); 14] = [
    ("cell_x", "m"),
    ("cell_y", "m"),
    ("cell_z", "m"),
    ("strain_x", "-"),
    ("strain_y", "-"),
    ("strain_z", "-"),
    ("volume_strain", "-"),
    ("stress_x", "Pa"),
    ("stress_y", "Pa"),
    ("stress_z", "Pa"),
    ("mean_stress", "Pa"),
    ("deviator_stress", "Pa"),
    ("pressure", "Pa"),
    ("solid_fraction", "-"),
];

/// All quantities of a cell under these loads of the boundaries, in the last substep and in the mean. Strains go on from those of the `last` observation, where
/// they stand from `first` on; without one they are zero.
pub(super) fn values(
    snapshot: &Snapshot,
    plan: &CellPlan,
    [loads, mean_loads]: [&[Load]; 2],
    last: Option<&Observation>,
    first: usize,
) -> [f64; 14] {
    let lengths = plan.walls.map(|span| span.length(&snapshot.world));
    let volume: f64 = lengths.iter().product();
    let is_counted =
        |last: &&Observation| snapshot.report.time > plan.strain_from && first < last.values.len();
    let kept = match last.filter(is_counted) {
        // What is left of each length, and of the volume, since the strains began.
        Some(Observation { values, .. }) => {
            [0, 1, 2].map(|axis| (1.0 - values[first + 3 + axis]) * lengths[axis] / values[first + axis])
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
    let mean = stresses.iter().sum::<f64>() / 3.0;
    // σ_a - (σ_b + σ_c)/2
    let deviator = 1.5 * (stresses[plan.axial] - mean);
    let solid: f64 = grains(snapshot).map(|grain| sphere_volume(grain.radius)).sum();
    let [x, y, z] = lengths;
    let [strain_x, strain_y, strain_z] = kept.map(|share| 1.0 - share);
    let [stress_x, stress_y, stress_z] = stresses;
    [
        x,
        y,
        z,
        strain_x,
        strain_y,
        strain_z,
        1.0 - kept.iter().product::<f64>(),
        stress_x,
        stress_y,
        stress_z,
        mean,
        deviator,
        pressure,
        solid / volume,
    ]
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::model::Span;
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
        let values = values(&snapshot, &plan, [&loads, &[Load::default(); 2]], None, 0);
        // 120 N on 12 m², 80 N on 8 m², 60 N on 6 m²: an even pressure of 10 Pa
        assert_eq!(values[7..12], [10.0, 10.0, 10.0, 10.0, 0.0]);
        let loads = [load(DVec3::ZERO), load(DVec3::new(24.0, 48.0, 120.0))];
        let values = super::values(&snapshot, &plan, [&[Load::default(); 2], &loads], None, 0);
        // 1, 3 and 10 Pa
        approx::assert_relative_eq!(values[12], 14.0 / 3.0, max_relative = 1e-12);
        let values = super::values(&snapshot, &plan, [&loads, &loads], None, 0);
        approx::assert_relative_eq!(values[11], 10.0 - 2.0, max_relative = 1e-12);
    }

    #[test]
    fn strains_count_from_their_start_over_the_length_then() {
        let (mut snapshot, plan) = cell();
        let loads = [Load::default(); 2];
        let mut last: Option<Observation> = None;
        let mut found = Vec::new();
        for (time, height) in [(0.0, 5.0), (1.0, 4.0), (2.0, 3.0), (3.0, 2.0)] {
            snapshot.report.time = time;
            snapshot.world.bodies.position[1].z = height;
            let values = values(&snapshot, &plan, [&loads, &loads], last.as_ref(), 0);
            found.push([values[3], values[5], values[6]]);
            last = Some(Observation { time, step: 0, values: values.to_vec(), impulses: Vec::new() });
        }
        // Along x nothing; along z, and by volume, from 4 m on.
        assert_eq!(found, [[0.0; 3], [0.0; 3], [0.0, 0.25, 0.25], [0.0, 0.5, 0.5]]);
    }
}
