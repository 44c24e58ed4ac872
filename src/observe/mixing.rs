//! Mixing of grains of two kinds: Lacey's index and the relative standard deviation of the concentration of one kind, over the cells of a
//! grid.
//!
//! Cell i holds nᵢ grains, of which a share cᵢ are of the kind that is traced; p is their share of all N grains in the K cells that count.
//! Every cell counts by its grains, so that cells that are half outside of a bed do no harm:
//!
//! ```text
//! σ² = Σ nᵢ (cᵢ - p)² / N        variance of the concentration
//! σ₀² = p (1 - p)                of a bed whose cells hold one kind each
//! σᵣ² = p (1 - p) K / N          mean over all beds in which each grain is of one kind by chance
//! M = (σ₀² - σ²) / (σ₀² - σᵣ²)   Lacey's index
//! ```
//!
//! M is 0 in cells of one kind each, and 1 on the mean over random mixtures of many grains; it is above 1 where the cells are more alike
//! than chance makes them, up to N / (N - K) where all are. Of cells with n grains each these are the formulas of Lacey (1954),
//! *Developments in the theory of particle mixing*, J. Appl. Chem. 4, 257, with σᵣ² = p (1 - p) / n.

use super::grains;
use super::regions::place_near;
use crate::engine::Snapshot;
use crate::model::{MaterialId, Region, World};

/// Plan by which the mixing of grains of two kinds is observed.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct MixingPlan {
    /// Name, for results and messages.
    pub name: String,
    /// Region whose grains count, by their centres. The grid begins at the corner with the least coordinates of the box around it.
    pub region: Region,
    /// Edge of a cell \[m\].
    pub cell: f64,
    /// Fewest grains of a cell that counts \[-\].
    pub least_grains: u64,
    /// Kind of grains that is traced.
    pub tracer: Tracer,
}

/// Kind of grains that is traced; all other grains are of the other kind.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Tracer {
    /// Grains of a material.
    Material(MaterialId),
    /// Grains whose radius is below this \[m\].
    Below(f64),
    /// Grains with these ids, ascending.
    Ids(Vec<u32>),
}

/// State of a mixture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mixture {
    /// Lacey's index \[-\].
    pub index: f64,
    /// Standard deviation of the concentration, over its mean \[-\].
    pub relative_deviation: f64,
    /// Share of the traced grains among those in the cells that count \[-\].
    pub concentration: f64,
    /// Number of cells that count \[-\].
    pub cells: f64,
    /// Share of the grains of the region that are in these cells \[-\].
    pub sampled: f64,
}

impl Tracer {
    /// The grains that are in a region now.
    pub fn in_region(world: &World, region: &Region) -> Tracer {
        let is_inside =
            |grain: &usize| region.contains(place_near(region, world, world.grain_body(*grain)), 0.0, 0.0);
        let mut ids: Vec<u32> =
            world.present_grains().filter(is_inside).map(|grain| world.ids[grain]).collect();
        ids.sort_unstable();
        Tracer::Ids(ids)
    }

    fn holds(&self, world: &World, grain: usize) -> bool {
        match self {
            Tracer::Material(material) => world.grain_material(grain) == *material,
            Tracer::Below(radius) => world.grain_radius(grain) < *radius,
            Tracer::Ids(ids) => ids.binary_search(&world.ids[grain]).is_ok(),
        }
    }
}

impl MixingPlan {
    /// Number of cells of the grid along each axis.
    pub fn cells(&self) -> [usize; 3] {
        let (min, max) = self.region.bounds();
        ((max - min) / self.cell).to_array().map(|cells| (cells.ceil() as usize).max(1))
    }

    /// Number of grains, and of traced grains, in each cell; on several ranks of all of them.
    fn counts(&self, snapshot: &Snapshot) -> [Vec<f64>; 2] {
        let (world, cells) = (&snapshot.world, self.cells());
        let min = self.region.bounds().0;
        let mut counts = [(); 2].map(|()| vec![0.0; cells.iter().product()]);
        for grain in grains(snapshot) {
            let place = place_near(&self.region, world, grain.body);
            if !self.region.contains(place, 0.0, 0.0) {
                continue;
            }
            let at = ((place - min) / self.cell).to_array();
            // A grain on the last face belongs to the last cell.
            let [x, y, z] = [0, 1, 2].map(|axis| (at[axis] as usize).min(cells[axis] - 1));
            let cell = (z * cells[1] + y) * cells[0] + x;
            counts[0][cell] += 1.0;
            counts[1][cell] += f64::from(u8::from(self.tracer.holds(world, grain.id)));
        }
        counts.iter_mut().for_each(|counts| snapshot.share.sum_each(counts));
        counts
    }
}

impl Mixture {
    /// The mixture of a state; index and deviation are not numbers where no cell counts, or all grains in the cells are of one kind. Nor is
    /// the index where every cell holds one grain.
    pub fn of(snapshot: &Snapshot, plan: &MixingPlan) -> Mixture {
        let [grains, traced] = plan.counts(snapshot);
        let in_region: f64 = grains.iter().sum();
        let counted =
            || grains.iter().zip(&traced).filter(|(grains, _)| **grains >= plan.least_grains.max(1) as f64);
        let cells = counted().count() as f64;
        let all: f64 = counted().map(|(grains, _)| grains).sum();
        let concentration = counted().map(|(_, traced)| traced).sum::<f64>() / all;
        let square = |(grains, traced): (&f64, &f64)| grains * (traced / grains - concentration).powi(2);
        let variance = counted().map(square).sum::<f64>() / all;
        let segregated = concentration * (1.0 - concentration);
        Mixture {
            // Zero over zero where all are alike.
            index: (segregated - variance) / (segregated * (1.0 - cells / all)),
            relative_deviation: if segregated > 0.0 { variance.sqrt() / concentration } else { f64::NAN },
            concentration,
            cells,
            sampled: all / in_region,
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::super::test_worlds::heap;
    use super::*;
    use crate::model::random::{Random, Stream};

    /// Cells of the beds along each axis, and grains of a cell.
    const ACROSS: usize = 4;
    const CELLS: usize = ACROSS * ACROSS * ACROSS;
    const IN_CELL: usize = 8;

    /// Beds of 64 cells of 2 m with 8 grains each; grain i is in cell i / 8.
    fn bed() -> Snapshot {
        let of_cell = |cell: usize| {
            let corner = [cell % ACROSS, cell / ACROSS % ACROSS, cell / ACROSS / ACROSS];
            let corner = 2.0 * DVec3::from(corner.map(|number| number as f64));
            (0..IN_CELL).map(move |i| {
                corner + DVec3::new((i % 2) as f64, (i / 2 % 2) as f64, (i / 4) as f64) + DVec3::splat(0.5)
            })
        };
        heap((0..CELLS).flat_map(of_cell))
    }

    /// The mixture of the bed if these grains are traced.
    fn mixture(traced: impl Fn(usize) -> bool) -> Mixture {
        let ids = (0..CELLS * IN_CELL).filter(|&grain| traced(grain)).map(|grain| grain as u32).collect();
        Mixture::of(&bed(), &plan(Tracer::Ids(ids), IN_CELL as u64))
    }

    fn plan(tracer: Tracer, least_grains: u64) -> MixingPlan {
        let region = Region::Box { min: DVec3::ZERO, max: DVec3::splat(2.0 * ACROSS as f64) };
        MixingPlan { name: "bed".into(), region, cell: 2.0, least_grains, tracer }
    }

    /// In cells of one kind each σ² is p (1 - p): the index is 0, and the relative deviation √((1 - p) / p), for every p.
    #[test]
    fn a_segregated_bed_has_index_zero() {
        for cells_traced in [1, 16, 32, 63] {
            let found = mixture(|grain| grain / IN_CELL < cells_traced);
            let p = cells_traced as f64 / CELLS as f64;
            assert!(found.index.abs() < 1e-12, "{cells_traced}: {found:?}");
            approx::assert_relative_eq!(
                found.relative_deviation,
                ((1.0 - p) / p).sqrt(),
                max_relative = 1e-12
            );
            assert_eq!((found.concentration, found.cells, found.sampled), (p, CELLS as f64, 1.0));
        }
    }

    /// Where each cell has the same share, σ² is 0 and the index N / (N - K) = 8 / 7.
    #[test]
    fn an_ordered_bed_has_an_index_above_one_by_the_grains_of_a_cell() {
        for in_cell in [1, 2, 4] {
            let found = mixture(|grain| grain % IN_CELL < in_cell);
            approx::assert_relative_eq!(found.index, 8.0 / 7.0, max_relative = 1e-12);
            assert!(found.relative_deviation < 1e-12, "{found:?}");
        }
    }

    /// Each grain with its own label, all orders alike: the mean of the index is N / (N - 1), and Σ nᵢ (cᵢ - p)² / (p (1 - p)) is nearly χ²
    /// distributed with K - 1 degrees of freedom, so the index deviates by √(2 (K - 1)) / (N - K).
    #[test]
    fn random_mixtures_have_index_one_on_the_mean() {
        let (all, runs) = (CELLS * IN_CELL, 200);
        let mut random = Random::new(11, Stream::Grains(0));
        let mut labels: Vec<bool> = (0..all).map(|grain| grain < all / 4).collect();
        let (mut sum, mut squares) = (0.0, 0.0);
        let state = bed();
        for _ in 0..runs {
            for i in (1..all).rev() {
                labels.swap(i, (random.between(0.0, (i + 1) as f64) as usize).min(i));
            }
            let ids = (0..all as u32).filter(|&grain| labels[grain as usize]).collect();
            let index = Mixture::of(&state, &plan(Tracer::Ids(ids), 1)).index;
            (sum, squares) = (sum + index, squares + index * index);
        }
        let mean = sum / f64::from(runs);
        let deviation = (squares / f64::from(runs) - mean * mean).sqrt();
        let expected = (2.0 * (CELLS as f64 - 1.0)).sqrt() / (all - CELLS) as f64;
        let tolerance = 4.0 * expected / f64::from(runs).sqrt();
        assert!((mean - all as f64 / (all as f64 - 1.0)).abs() < tolerance, "{mean}, within {tolerance}");
        // The deviation of a deviation of 200 is 1 / √400 of it.
        assert!((deviation / expected - 1.0).abs() < 0.2, "{deviation} for {expected}");
    }

    #[test]
    fn cells_with_too_few_grains_do_not_count() {
        let mut state = bed();
        // The first cell keeps three of its grains, all traced.
        (3..IN_CELL).for_each(|grain| _ = state.world.take_out(grain));
        let traced = Tracer::Ids((0..8).chain(256..512).collect());
        let found = |least| Mixture::of(&state, &plan(traced.clone(), least));
        let (few, all) = (found(4), found(3));
        assert_eq!((few.cells, all.cells), (63.0, 64.0));
        assert_eq!((few.concentration, all.concentration), (256.0 / 504.0, 259.0 / 507.0));
        approx::assert_relative_eq!(few.sampled, 504.0 / 507.0, max_relative = 1e-12);
        assert!(found(9).index.is_nan() && found(9).relative_deviation.is_nan(), "no cell counts");
        assert_eq!(found(9).sampled, 0.0);
    }

    #[test]
    fn tracers_are_a_material_small_grains_or_those_of_a_part_of_the_start() {
        let state = bed();
        let of = |tracer| Mixture::of(&state, &plan(tracer, 1)).concentration;
        let lower = Region::Box { min: DVec3::ZERO, max: DVec3::new(8.0, 8.0, 2.0) };
        assert_eq!(of(Tracer::in_region(&state.world, &lower)), 0.25);
        assert_eq!([of(Tracer::Material(0)), of(Tracer::Material(1))], [1.0, 0.0]);
        assert_eq!([of(Tracer::Below(0.5)), of(Tracer::Below(0.51))], [0.0, 1.0]);
        let alike = Mixture::of(&state, &plan(Tracer::Material(0), 1));
        assert!(alike.index.is_nan() && alike.relative_deviation.is_nan(), "{alike:?}");
    }
}
