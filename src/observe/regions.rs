//! Grains inside a region: number, mass, centre of mass and bulk stress.

use glam::{DMat3, DVec3};

use super::loads::{outer, reactions};
use super::{GrainView, grains};
use crate::engine::Snapshot;
use crate::model::{Plane, Region};

/// A region whose grains are counted.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct RegionPlan {
    /// Name, for results and messages.
    pub name: String,
    /// Shape and place of the region.
    pub region: Region,
    /// Material whose grains count; `None`: all grains count.
    pub material: Option<u32>,
}

/// Number, mass and centre of mass of the grains whose centre is inside a region.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Content {
    /// Number of grains.
    pub grains: u64,
    /// Mass of the grains \[kg\].
    pub mass: f64,
    /// Centre of mass of the grains \[m\]; not a number without grains.
    pub centre: DVec3,
}

/// The grains whose centre is inside a region, of its material if it names one.
fn inside<'a>(snapshot: &'a Snapshot, plan: &'a RegionPlan) -> impl Iterator<Item = GrainView> + 'a {
    let world = &snapshot.world;
    grains(snapshot).filter(|grain| {
        plan.material.is_none_or(|wanted| wanted == world.grain_material(grain.id))
            && plan.region.contains(world.bodies.position[grain.body], 0.0, 0.0)
    })
}

/// Number, mass and centre of mass of the grains inside a region, of its material if it names one.
pub fn content(snapshot: &Snapshot, plan: &RegionPlan) -> Content {
    let (mut count, mut mass, mut moment) = (0, 0.0, DVec3::ZERO);
    for grain in inside(snapshot, plan) {
        count += 1;
        mass += grain.mass;
        moment += grain.mass * snapshot.world.bodies.position[grain.body];
    }
    let (mass, moment) = (snapshot.share.sum(mass), snapshot.share.sum(moment));
    Content { grains: snapshot.share.total(count) as u64, mass, centre: moment / mass }
}

/// Bulk stress of the grains inside a region over its volume \[Pa\], positive under pressure: (1/V) Σ_p [m v' v'ᵀ - Σ_c r fᵀ], with r from the
/// centre of a grain to its contact, f the force on the grain there, and v' its velocity less the mean velocity of the grains (Love 1927; Weber
/// 1966). The stress is symmetric but for torques. For discs the volume is that of one metre of depth, however deep the region.
pub fn bulk_stress(snapshot: &Snapshot, plan: &RegionPlan) -> DMat3 {
    let world = &snapshot.world;
    let velocity = |grain: &GrainView| world.bodies.velocity[grain.body];
    let mass = snapshot.share.sum(inside(snapshot, plan).map(|grain| grain.mass).sum::<f64>());
    let momentum = inside(snapshot, plan).map(|grain| grain.mass * velocity(&grain)).sum::<DVec3>();
    let mean = snapshot.share.sum(momentum) / mass;
    let reactions = reactions(snapshot);
    let mut sum = DMat3::ZERO;
    for grain in inside(snapshot, plan) {
        let apart = velocity(&grain) - mean;
        sum += grain.mass * outer(apart, apart) + reactions[grain.body].stress;
    }
    snapshot.share.sum(sum) * room(&plan.region, world.plane).recip()
}

/// Volume of a region \[m³\]; for discs, which are one metre deep, the volume of one metre of its section.
pub(super) fn room(region: &Region, plane: Option<Plane>) -> f64 {
    plane.map_or_else(|| region.volume(), |plane| region.section(plane))
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
    fn a_column_presses_by_the_weight_on_each_level() {
        // 180 N on the floor over an arm of 0.475 m, 160 N between the grains over 0.425 m and 0.975 m, in 4 m² times 2.2 m; at rest.
        let mut state = stack();
        state.world.bodies.velocity.iter_mut().for_each(|velocity| *velocity = DVec3::ZERO);
        let stress = bulk_stress(&state, &plan(0.0, 2.2, None));
        let arms: f64 = state
            .contacts
            .iter()
            .map(|contact| {
                let [a, b] = contact.bodies.map(|body| body as usize);
                let place = |body: usize| match body {
                    0 => contact.point,
                    _ => state.world.bodies.position[body],
                };
                contact.impulse.linear(contact.normal).z / state.substep * (place(a) - place(b)).z
            })
            .sum();
        approx::assert_relative_eq!(stress.col(2)[2], arms / 8.8, max_relative = 1e-12);
        assert!(stress.col(2)[2] > 0.0, "pressure is positive");
        // Velocity fluctuations add to the pressure; a common velocity does not.
        state.contacts.clear();
        state.world.bodies.velocity.iter_mut().for_each(|velocity| *velocity = DVec3::X);
        assert!(bulk_stress(&state, &plan(0.0, 2.2, None)).col(0)[0].abs() < 1e-12);
        state.world.bodies.velocity[1] = DVec3::NEG_X;
        // 2 kg and 16 kg at 2 m/s beside each other: reduced mass 16/9 kg.
        let kinetic = bulk_stress(&state, &plan(0.0, 2.2, None)).col(0)[0];
        approx::assert_relative_eq!(kinetic, 16.0 / 9.0 * 4.0 / 8.8, max_relative = 1e-12);
    }

    #[test]
    fn discs_press_on_a_metre_of_depth_however_deep_the_region() {
        let mut state = stack();
        state.world.bodies.velocity.iter_mut().for_each(|velocity| *velocity = DVec3::ZERO);
        let thick = bulk_stress(&state, &plan(0.0, 2.2, None)).col(2)[2];
        state.world.plane = Some(Plane::Xz);
        approx::assert_relative_eq!(
            bulk_stress(&state, &plan(0.0, 2.2, None)).col(2)[2],
            2.0 * thick,
            max_relative = 1e-12
        );
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
