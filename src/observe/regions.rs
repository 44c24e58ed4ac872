//! What is inside a region.

use glam::DVec3;

use super::grains;
use crate::engine::Snapshot;
use crate::model::Region;

/// A region whose grains are counted.
#[derive(Debug, Clone, PartialEq)]
pub struct RegionPlan {
    /// Name, for results and messages.
    pub name: String,
    /// Where.
    pub region: Region,
    /// The material that counts; `None`: all do.
    pub material: Option<u32>,
}

/// The grains whose centre is inside a region.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Content {
    /// Number of grains.
    pub grains: u64,
    /// Their mass \[kg\].
    pub mass: f64,
    /// Their centre of mass \[m\]; not a number without grains.
    pub centre: DVec3,
}

/// The grains inside a region, of its material if it names one.
pub fn content(snapshot: &Snapshot, plan: &RegionPlan) -> Content {
    let world = &snapshot.world;
    let counts = |material| plan.material.is_none_or(|wanted| wanted == material);
    let (mut count, mut mass, mut moment) = (0, 0.0, DVec3::ZERO);
    for grain in grains(snapshot).filter(|grain| counts(world.grain_material(grain.id))) {
        let centre = world.bodies.position[grain.body];
        if plan.region.contains(centre, 0.0, 0.0) {
            count += 1;
            mass += grain.mass;
            moment += grain.mass * centre;
        }
    }
    Content { grains: count, mass, centre: moment / mass }
}

#[cfg(test)]
mod tests {
    use super::super::test_worlds::{drained_stack, stack};
    use super::*;

    fn plan(min: f64, max: f64, material: Option<u32>) -> RegionPlan {
        let region = Region::Box { min: DVec3::new(-1.0, -1.0, min), max: DVec3::new(1.0, 1.0, max) };
        RegionPlan { name: "zone".into(), region, material }
    }

    #[test]
    fn a_grain_counts_where_its_centre_is() {
        // Centres at z = 0.45 m (2 kg) and 1.9 m (16 kg).
        let lower = content(&stack(), &plan(0.0, 1.8, None));
        assert_eq!(lower.grains, 1);
        approx::assert_relative_eq!(lower.mass, 2.0, max_relative = 1e-12);
        assert!((lower.centre - DVec3::new(0.3, 0.0, 0.45)).length() < 1e-12);
        let both = content(&stack(), &plan(0.0, 1.91, None));
        assert_eq!(both.grains, 2);
        approx::assert_relative_eq!(both.centre.z, 31.3 / 18.0, max_relative = 1e-12);
    }

    #[test]
    fn an_empty_region_has_no_centre() {
        let nothing = content(&stack(), &plan(5.0, 6.0, None));
        assert_eq!((nothing.grains, nothing.mass), (0, 0.0));
        assert!(nothing.centre.is_nan());
    }

    #[test]
    fn grains_of_another_material_and_removed_ones_do_not_count() {
        assert_eq!(content(&stack(), &plan(0.0, 9.0, Some(0))).grains, 2);
        assert_eq!(content(&stack(), &plan(0.0, 9.0, Some(1))).grains, 0);
        assert_eq!(content(&drained_stack(), &plan(0.0, 9.0, None)).grains, 1);
    }
}
