//! Grains inside a region: number, mass, centre of mass and bulk stress; and grains that came in.

use glam::{DMat3, DVec3};

use super::stress::mean_stresses;
use super::{Base, GrainView, grains};
use crate::engine::Snapshot;
use crate::model::{Meter, MeterSums, Region, World, outer};

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

/// Grains that came into a region since the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entered {
    /// Number of times that a grain came in \[-\].
    pub grains: f64,
    /// Mass of the grains, as often as they came in \[kg\].
    pub mass: f64,
}

impl Entered {
    fn of(sums: &MeterSums) -> Entered {
        Entered { grains: sums.entries, mass: sums.entered_mass }
    }
}

/// The grains whose centre is inside a region, of its material if it names one.
fn inside<'a>(snapshot: &'a Snapshot, plan: &'a RegionPlan) -> impl Iterator<Item = GrainView> + 'a {
    let world = &snapshot.world;
    grains(snapshot).filter(|grain| {
        plan.material.is_none_or(|wanted| wanted == world.grain_material(grain.id))
            && plan.region.contains(place_near(&plan.region, world, grain.body), 0.0, 0.0)
    })
}

/// Number, mass and centre of mass of the grains inside a region, of its material if it names one.
pub fn content(snapshot: &Snapshot, plan: &RegionPlan) -> Content {
    let (mut count, mut mass, mut moment) = (0, 0.0, DVec3::ZERO);
    for grain in inside(snapshot, plan) {
        count += 1;
        mass += grain.mass;
        moment += grain.mass * place_near(&plan.region, &snapshot.world, grain.body);
    }
    let (mass, moment) = (snapshot.share.sum(mass), snapshot.share.sum(moment));
    Content { grains: snapshot.share.total(count) as u64, mass, centre: moment / mass }
}

impl RegionPlan {
    /// Meter of the stress in the region.
    pub fn meter(&self) -> Meter {
        Meter { region: self.region.clone(), material: self.material, layers: None }
    }
}

/// Number of grains that came into a region since the start, and their mass \[kg\]. A grain comes in where it is outside at the beginning
/// of a substep, and its straight way in it ends inside or leads through, however thin the region is; as often as it does so, it counts.
/// Grains that were placed or emitted inside did not come in. Not numbers where the world has no meter of the region.
pub fn entered(snapshot: &Snapshot, plan: &RegionPlan) -> Entered {
    let sums = snapshot.measured(&plan.meter()).and_then(|(_, sums)| sums.first());
    sums.map_or(Entered { grains: f64::NAN, mass: f64::NAN }, Entered::of)
}

/// Mean mass per time that came into a region since the base \[kg/s\]; 0 without one.
pub(super) fn entered_mass_flow(snapshot: &Snapshot, plan: &RegionPlan, base: Option<&Base>) -> f64 {
    let now = entered(snapshot, plan).mass;
    let first = snapshot.measured(&plan.meter()).map(|(first, _)| first);
    let before = base.and_then(|base| Some((base.time, base.stresses.get(first?)?)));
    match before {
        Some((time, before)) => (now - before.entered_mass) / (snapshot.report.time - time),
        // Not a number stays so.
        None => 0.0 * now,
    }
}

/// Bulk stress of the grains inside a region over its volume \[E17\] \[Pa\], positive under pressure: (1/V) ⟨Σ_p m v' v'ᵀ - Σ_p Σ_c r
/// fᵀ⟩, with r from the centre of a grain to its contact, f the force on the grain there, and v' its velocity less the mean velocity of
/// the grains. It is the mean over the time since the base, impacts included; without a base it is the part of the velocities in the
/// state. The stress is symmetric but for torques. For discs the volume is that of one metre of depth, however deep the region.
pub fn bulk_stress(snapshot: &Snapshot, plan: &RegionPlan, base: Option<&Base>) -> DMat3 {
    let world = &snapshot.world;
    let volume = plan.region.volume_in(world.plane);
    if let Some(stresses) = mean_stresses(snapshot, &plan.meter(), base) {
        return stresses.into_iter().sum::<DMat3>() * volume.recip();
    }
    let velocity = |grain: &GrainView| world.bodies.velocity[grain.body];
    let mass = snapshot.share.sum(inside(snapshot, plan).map(|grain| grain.mass).sum::<f64>());
    let momentum = inside(snapshot, plan).map(|grain| grain.mass * velocity(&grain)).sum::<DVec3>();
    let mean = snapshot.share.sum(momentum) / mass;
    let mut kinetic = DMat3::ZERO;
    for grain in inside(snapshot, plan) {
        let apart = velocity(&grain) - mean;
        kinetic += grain.mass * outer(apart, apart);
    }
    snapshot.share.sum(kinetic) * volume.recip()
}

/// Centre of a body \[m\], of its images along periodic axes the nearest to the centre of a region.
pub(super) fn place_near(region: &Region, world: &World, body: usize) -> DVec3 {
    world.periodic.image(world.bodies.position[body], region.centre())
}

#[cfg(test)]
mod tests {
    use super::super::test_worlds::{drained_stack, measured, stack};
    use super::*;
    use crate::model::Plane;

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

    /// The stack at rest, with a meter of the space up to 2.2 m, and the base of its stress.
    fn resting_stack() -> (Snapshot, Base) {
        let mut still = stack();
        still.world.bodies.velocity.iter_mut().for_each(|velocity| *velocity = DVec3::ZERO);
        measured(still, vec![plan(0.0, 2.2, None).meter()])
    }

    #[test]
    fn a_column_presses_by_the_weight_on_each_level() {
        // 180 N on the floor over an arm of 0.475 m, 160 N between the grains over the 1.45 m between their centres, in 4 m² times 2.2 m;
        // at rest.
        let (mut state, base) = resting_stack();
        let stress = bulk_stress(&state, &plan(0.0, 2.2, None), Some(&base));
        let expected = (180.0 * 0.475 + 160.0 * 1.45) / 8.8;
        approx::assert_relative_eq!(stress.col(2)[2], expected, max_relative = 1e-12);
        // Twice the time halves the mean; without a base there is none; another region has no meter.
        let twice = Base { time: base.time - state.substep, ..base };
        let half = bulk_stress(&state, &plan(0.0, 2.2, None), Some(&twice)).col(2)[2];
        approx::assert_relative_eq!(half, 0.5 * expected, max_relative = 1e-9);
        assert_eq!(bulk_stress(&state, &plan(0.0, 2.2, None), None), DMat3::ZERO);
        assert!(bulk_stress(&state, &plan(0.0, 2.3, None), Some(&twice)).is_nan());
        // Velocity fluctuations add to the pressure; a common velocity does not. The mean since the base has those of that time.
        let kinetic = |state: &Snapshot| bulk_stress(state, &plan(0.0, 2.2, None), None).col(0)[0];
        state.world.bodies.velocity.iter_mut().for_each(|velocity| *velocity = DVec3::X);
        assert!(kinetic(&state).abs() < 1e-12);
        state.world.bodies.velocity[1] = DVec3::NEG_X;
        // 2 kg and 16 kg at 2 m/s beside each other: reduced mass 16/9 kg.
        let expected = 16.0 / 9.0 * 4.0 / 8.8;
        approx::assert_relative_eq!(kinetic(&state), expected, max_relative = 1e-12);
        let (state, base) =
            measured(Snapshot { contacts: Vec::new(), ..state }, vec![plan(0.0, 2.2, None).meter()]);
        let mean = bulk_stress(&state, &plan(0.0, 2.2, None), Some(&base)).col(0)[0];
        approx::assert_relative_eq!(mean, expected, max_relative = 1e-12);
    }

    #[test]
    fn discs_press_on_a_metre_of_depth_however_deep_the_region() {
        let (mut state, base) = resting_stack();
        let thick = bulk_stress(&state, &plan(0.0, 2.2, None), Some(&base)).col(2)[2];
        state.world.plane = Some(Plane::Xz);
        let thin = bulk_stress(&state, &plan(0.0, 2.2, None), Some(&base)).col(2)[2];
        approx::assert_relative_eq!(thin, 2.0 * thick, max_relative = 1e-12);
    }

    #[test]
    fn an_empty_region_has_no_centre() {
        let nothing = content(&stack(), &plan(5.0, 6.0, None));
        assert_eq!((nothing.grains, nothing.mass), (0, 0.0));
        assert!(nothing.centre.is_nan());
    }

    #[test]
    fn what_came_in_since_the_start_and_per_time_is_that_of_the_meter() {
        let zone = plan(0.0, 2.2, None);
        let (mut state, mut base) = measured(stack(), vec![plan(0.0, 1.0, None).meter(), zone.meter()]);
        base.stresses[1] = MeterSums { entries: 2.0, entered_mass: 3.0, ..MeterSums::ZERO };
        state.stresses[1] = MeterSums { entries: 5.0, entered_mass: 7.0, ..state.stresses[1] };
        assert_eq!(entered(&state, &zone), Entered { grains: 5.0, mass: 7.0 });
        let flow = |base| entered_mass_flow(&state, &zone, base);
        approx::assert_relative_eq!(flow(Some(&base)), 4.0 / state.substep, max_relative = 1e-9);
        assert_eq!(flow(None), 0.0, "nothing to compare with");
        let other = plan(0.0, 9.0, None);
        assert!(entered(&state, &other).grains.is_nan(), "no meter");
        assert!(entered_mass_flow(&state, &other, None).is_nan());
    }

    #[test]
    fn grains_of_another_material_and_removed_ones_do_not_count() {
        assert_eq!(content(&stack(), &plan(0.0, 9.0, Some(0))).grains, 2);
        assert_eq!(content(&stack(), &plan(0.0, 9.0, Some(1))).grains, 0);
        assert_eq!(content(&drained_stack(), &plan(0.0, 9.0, None)).grains, 1);
    }
}
