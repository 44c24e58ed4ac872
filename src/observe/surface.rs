//! Surface of a bed: heights on a grid seen from above, and the volumes dug out of it and piled up on it.

use glam::DVec2;

use super::Base;
use crate::engine::Snapshot;

/// Grid over a bed, seen along z.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct SurfacePlan {
    /// Corner with the smaller coordinates x and y \[m\].
    pub min: DVec2,
    /// Corner with the larger coordinates x and y \[m\].
    pub max: DVec2,
    /// Number of cells along x and y.
    pub cells: [usize; 2],
    /// Height where there are no grains \[m\].
    pub floor: f64,
    /// Time from which volumes are counted \[s\]: at the first output after it, they are counted since the output before.
    pub from: f64,
}

impl SurfacePlan {
    /// Centre of a cell \[m\].
    pub fn middle(&self, column: usize, row: usize) -> DVec2 {
        self.min + self.edges() * (DVec2::new(column as f64, row as f64) + 0.5)
    }

    /// Lengths of the edges of a cell \[m\].
    fn edges(&self) -> DVec2 {
        (self.max - self.min) / DVec2::new(self.cells[0] as f64, self.cells[1] as f64)
    }
}

/// Heights of a surface.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct SurfaceState {
    /// Top of the grains over the centre of each cell \[m\]; x varies fastest.
    pub heights: Vec<f64>,
    /// Reference heights: those when the counting of volumes began \[m\].
    pub before: Vec<f64>,
}

impl SurfaceState {
    /// Heights of a state, with the reference heights of the base; without a base the volumes are zero.
    pub(super) fn new(snapshot: &Snapshot, plan: &SurfacePlan, base: Option<&Base>) -> SurfaceState {
        let heights = heights(snapshot, plan);
        let before = base.and_then(|base| base.surface.as_ref());
        let before = match before.filter(|_| snapshot.report.time > plan.from) {
            Some(state) => state.before.clone(),
            None => heights.clone(),
        };
        SurfaceState { heights, before }
    }

    /// Mean height \[m\].
    pub fn mean(&self) -> f64 {
        self.heights.iter().sum::<f64>() / self.heights.len() as f64
    }

    /// Lowest and highest height \[m\].
    pub fn range(&self) -> [f64; 2] {
        let lowest = self.heights.iter().copied().fold(f64::INFINITY, f64::min);
        [lowest, self.heights.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
    }

    /// Volumes between the surface and its reference heights \[m³\]: where it has sunk, and where it has risen.
    pub fn volumes(&self, plan: &SurfacePlan) -> [f64; 2] {
        let area = plan.edges().element_product();
        let risen = || self.heights.iter().zip(&self.before).map(|(now, before)| area * (now - before));
        [risen().map(|volume| (-volume).max(0.0)).sum(), risen().map(|volume| volume.max(0.0)).sum()]
    }
}

/// Top of the grains over the centre of each cell \[m\]; x varies fastest.
pub fn heights(snapshot: &Snapshot, plan: &SurfacePlan) -> Vec<f64> {
    heights_of(snapshot, snapshot.present_grains(), plan)
}

/// As [`heights`], of some of the grains that this process counts.
pub(super) fn heights_of(
    snapshot: &Snapshot,
    grains: impl Iterator<Item = usize>,
    plan: &SurfacePlan,
) -> Vec<f64> {
    let (edges, [columns, rows]) = (plan.edges(), plan.cells);
    let mut heights = vec![plan.floor; columns * rows];
    for (centre, radius) in snapshot.world.spheres_of_grains(grains) {
        // In units of cells; centres of cells are at whole numbers.
        let place = (centre.truncate() - plan.min) / edges - 0.5;
        let reach = DVec2::splat(radius) / edges;
        let first = (place - reach).ceil().max(DVec2::ZERO);
        let last = (place + reach).floor();
        for row in first.y as usize..rows.min((last.y + 1.0).max(0.0) as usize) {
            for column in first.x as usize..columns.min((last.x + 1.0).max(0.0) as usize) {
                let apart = (DVec2::new(column as f64, row as f64) - place) * edges;
                let square = radius * radius - apart.length_squared();
                if square >= 0.0 {
                    let height = &mut heights[row * columns + column];
                    *height = height.max(centre.z + square.sqrt());
                }
            }
        }
    }
    snapshot.share.largest_each(&mut heights);
    heights
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::model::Grain;
    use crate::observe::test_worlds::empty;

    /// Balls of 1 m on a floor at -2 m, seen by cells of 0.1 m.
    fn bed(places: &[DVec3]) -> (Snapshot, SurfacePlan) {
        let mut snapshot = empty();
        snapshot.world.add_grains(places.iter().map(|&place| Grain::at(place, 1.0, 0)));
        let (min, max) = (DVec2::new(-2.0, -1.5), DVec2::new(2.0, 1.5));
        (snapshot, SurfacePlan { min, max, cells: [40, 30], floor: -2.0, from: 1.0 })
    }

    #[test]
    fn a_ball_stands_out_of_the_floor_by_its_cap() {
        let (snapshot, plan) = bed(&[DVec3::new(0.0, 0.0, -2.0), DVec3::new(0.0, 0.0, -2.1)]);
        let state = SurfaceState::new(&snapshot, &plan, None);
        // Half a ball over 12 m²; cells are a tenth of its radius.
        let expected = -2.0 + 2.0 / 3.0 * std::f64::consts::PI / 12.0;
        assert!((state.mean() - expected).abs() < 2e-3, "{}", state.mean());
        let [lowest, highest] = state.range();
        assert!(lowest == -2.0 && (highest + 1.0).abs() < 5e-3, "{lowest} {highest}");
        assert_eq!(state.volumes(&plan), [0.0, 0.0]);
    }

    #[test]
    fn what_moves_aside_is_dug_out_here_and_piled_up_there() {
        let at = |x: f64| bed(&[DVec3::new(x, 0.0, -2.0)]);
        let mut base: Option<Base> = None;
        let mut found = Vec::new();
        for (time, x) in [(0.0, 0.5), (1.0, -1.0), (2.0, 1.0)] {
            let (mut snapshot, plan) = at(x);
            snapshot.report.time = time;
            let state = SurfaceState::new(&snapshot, &plan, base.as_ref());
            found.push(state.volumes(&plan));
            base = Some(Base { time, surface: Some(state), ..Base::default() });
        }
        // The ball moves from its place at 1 s to one beside it: half a ball is dug out, and half a ball piled up.
        let half = 2.0 / 3.0 * std::f64::consts::PI;
        assert_eq!(found[..2], [[0.0; 2]; 2]);
        assert!(found[2].iter().all(|volume| (volume - half).abs() < 2e-2 * half), "{found:?}");
    }
}
