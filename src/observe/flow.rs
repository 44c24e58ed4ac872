//! Motion of the grains, and their flow in a rotating drum.

use glam::DVec3;

use super::{GrainView, grains, packing};
use crate::engine::Snapshot;
use crate::model::Region;
use crate::model::motion::BoundaryRotation;

/// A drum whose flow is observed: dynamic angle and plug zone.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct DrumPlan {
    /// Index of the boundary (its body) that rotates.
    pub boundary: usize,
    /// Inner radius R \[m\].
    pub radius: f64,
    /// Relative speed, as a share of R·Ω, up to which a grain counts as plug \[-\].
    pub plug_speed: f64,
    /// Region whose grains count; `None`: all do.
    pub region: Option<Region>,
}

impl DrumPlan {
    /// Grains in the region of the drum.
    fn grains<'a>(&'a self, snapshot: &'a Snapshot) -> impl Iterator<Item = GrainView> + 'a {
        let is_inside = |grain: &GrainView| {
            let centre = snapshot.world.bodies.position[grain.body];
            self.region.as_ref().is_none_or(|region| region.contains(centre, 0.0, 0.0))
        };
        grains(snapshot).filter(is_inside)
    }
}

/// Root of the mean squared speed of the grains \[m/s\]; 0 without grains.
pub fn rms_speed(snapshot: &Snapshot) -> f64 {
    let sum = snapshot.share.sum(speeds_squared(snapshot).sum::<f64>());
    (sum / snapshot.present_count().max(1) as f64).sqrt()
}

/// Speed of the fastest grain or dynamic boundary \[m/s\]; 0 without any.
pub fn max_speed(snapshot: &Snapshot) -> f64 {
    let velocity = &snapshot.world.bodies.velocity;
    let boundaries = snapshot.world.dynamic_boundaries().map(|(body, _)| velocity[body].length_squared());
    snapshot.share.largest(speeds_squared(snapshot).chain(boundaries).fold(0.0, f64::max)).sqrt()
}

/// Granular temperature: a third of the mean square of the velocities of the grains less the velocity of their centre of mass, the mean
/// weighted by mass \[m²/s²\]; not a number without grains.
///
/// The granular temperature is the variance of one component of the velocity where no direction is preferred. In a gas that cools by Haff's
/// law (J. Fluid Mech. 134, 1983, 401-430) its inverse square root grows linearly in time.
pub fn granular_temperature(snapshot: &Snapshot) -> f64 {
    let velocity = &snapshot.world.bodies.velocity;
    let mass = snapshot.share.sum(grains(snapshot).map(|grain| grain.mass).sum::<f64>());
    let momentum: DVec3 = grains(snapshot).map(|grain| grain.mass * velocity[grain.body]).sum();
    let mean = snapshot.share.sum(momentum) / mass;
    let scatter = grains(snapshot).map(|grain| grain.mass * velocity[grain.body].distance_squared(mean));
    snapshot.share.sum(scatter.sum::<f64>()) / (3.0 * mass)
}

/// Angle of the centre of mass from straight down, about the axis of the drum, positive in the sense of
/// its rotation \[deg\]; not a number without gravity, grains or rotation.
pub fn dynamic_angle_deg(snapshot: &Snapshot, drum: &DrumPlan) -> f64 {
    let Some(rotation) = rotation_of(snapshot, drum) else { return f64::NAN };
    let Some(axis) = rotation.rate.try_normalize() else { return f64::NAN };
    let Some(down) = snapshot.world.gravity.reject_from_normalized(axis).try_normalize() else {
        return f64::NAN;
    };
    let centre = packing::centre_of(snapshot, drum.grains(snapshot)) - rotation.point;
    axis.dot(down.cross(centre)).atan2(down.dot(centre)).to_degrees()
}

/// Share of the grains that move with the drum: their velocity differs from that of the turning drum at
/// their place by at most `plug_speed` · R |Ω| \[-\]; not a number without grains or rotation.
pub fn plug_share(snapshot: &Snapshot, drum: &DrumPlan) -> f64 {
    let Some(rotation) = rotation_of(snapshot, drum) else { return f64::NAN };
    let bodies = &snapshot.world.bodies;
    let limit = drum.plug_speed * drum.radius * rotation.rate.length();
    let turns_along = |body: usize| {
        let drum_velocity = rotation.velocity(bodies.position[body]);
        bodies.velocity[body].distance(drum_velocity) <= limit
    };
    let (plug, all) = drum
        .grains(snapshot)
        .fold((0, 0), |(plug, all), grain| (plug + u32::from(turns_along(grain.body)), all + 1));
    let [plug, all] = snapshot.share.sum([plug, all].map(f64::from));
    plug / all
}

/// Rotation of the boundary of a drum, at the time of the snapshot; `None` when it does not rotate.
fn rotation_of(snapshot: &Snapshot, drum: &DrumPlan) -> Option<BoundaryRotation> {
    let rotation = snapshot.world.boundaries.get(drum.boundary)?.rotation_at(snapshot.world.time)?;
    (rotation.rate != DVec3::ZERO).then_some(rotation)
}

fn speeds_squared(snapshot: &Snapshot) -> impl Iterator<Item = f64> + '_ {
    let velocity = &snapshot.world.bodies.velocity;
    grains(snapshot).map(|grain| velocity[grain.body].length_squared())
}

#[cfg(test)]
mod tests {
    use super::super::test_worlds::{drum, empty, stack};
    use super::*;
    use crate::model::{Form, Motion, RigidBody};

    const PLAN: DrumPlan = DrumPlan { boundary: 0, radius: 2.0, plug_speed: 0.15, region: None };

    #[test]
    fn rms_speed_is_the_root_of_the_mean_square_and_max_speed_the_largest() {
        // Speeds 3 and 0.5 m/s.
        approx::assert_relative_eq!(rms_speed(&stack()), (9.25f64 / 2.0).sqrt(), max_relative = 1e-12);
        assert_eq!(max_speed(&stack()), 3.0);
        assert_eq!((rms_speed(&empty()), max_speed(&empty())), (0.0, 0.0));
    }

    #[test]
    fn the_granular_temperature_does_not_see_the_motion_of_the_whole() {
        // 2 kg at 3 m/s and 16 kg at 0.5 m/s along x: reduced mass 2 · 16/18, 2.5 m/s apart
        let mut snapshot = stack();
        let (first, second) = (snapshot.world.grain_body(0), snapshot.world.grain_body(1));
        let mut set = |shift: DVec3| {
            snapshot.world.bodies.velocity[first] = 3.0 * DVec3::X + shift;
            snapshot.world.bodies.velocity[second] = 0.5 * DVec3::X + shift;
            granular_temperature(&snapshot)
        };
        let expected = 2.0 * 16.0 / 18.0 * 2.5 * 2.5 / (3.0 * 18.0);
        approx::assert_relative_eq!(set(DVec3::ZERO), expected, max_relative = 1e-12);
        approx::assert_relative_eq!(set(DVec3::new(7.0, -2.0, 1.0)), expected, max_relative = 1e-12);
        assert!(granular_temperature(&empty()).is_nan());
    }

    #[test]
    fn a_free_box_has_no_part_in_the_granular_temperature() {
        let mut snapshot = stack();
        let without = granular_temperature(&snapshot);
        let body = RigidBody::solid(Form::Box { half: DVec3::ONE }, 100.0).expect("a box can be free");
        snapshot.world.boundaries[0].motion = Motion::Dynamic(body);
        snapshot.world.bodies.velocity[0] = 5.0 * DVec3::X;
        assert!(packing::momentum(&snapshot).x > 4000.0, "it moves with the rest");
        assert_eq!(granular_temperature(&snapshot), without);
    }

    #[test]
    fn the_dynamic_angle_is_positive_where_the_drum_carries_the_grains_up() {
        // Axis +y through (5, 0, 7): at the bottom the wall moves towards -x, where the grains have gone.
        let mut snapshot = drum(DVec3::Y);
        snapshot.world.bodies.position[1] = DVec3::new(5.0 - 1.0, 3.0, 7.0 - 1.0);
        snapshot.world.bodies.position[2] = DVec3::new(5.0 - 1.0, -9.0, 7.0 - 1.0);
        approx::assert_relative_eq!(dynamic_angle_deg(&snapshot, &PLAN), 45.0, max_relative = 1e-12);
    }

    #[test]
    fn only_grains_in_the_region_of_the_drum_count() {
        let mut snapshot = drum(DVec3::Y);
        snapshot.world.bodies.position[1] = DVec3::new(5.0 - 1.0, 0.0, 7.0 - 1.0);
        snapshot.world.bodies.position[2] = DVec3::new(5.0, 20.0, 0.0);
        let around = |radius| Some(Region::Sphere { centre: DVec3::new(5.0, 0.0, 7.0), radius });
        let angle = |region| dynamic_angle_deg(&snapshot, &DrumPlan { region, ..PLAN });
        approx::assert_relative_eq!(angle(around(2.0)), 45.0, max_relative = 1e-12);
        assert!(angle(None) < 40.0 && angle(around(0.1)).is_nan());
        assert_eq!(plug_share(&snapshot, &DrumPlan { region: around(2.0), ..PLAN }), 0.0);
    }

    #[test]
    fn a_drum_that_turns_the_other_way_has_the_other_sign() {
        let mut snapshot = drum(DVec3::NEG_Y);
        snapshot.world.bodies.position[1] = DVec3::new(5.0 - 1.0, 0.0, 7.0 - 1.0);
        snapshot.world.bodies.position[2] = snapshot.world.bodies.position[1];
        approx::assert_relative_eq!(dynamic_angle_deg(&snapshot, &PLAN), -45.0, max_relative = 1e-12);
    }

    #[test]
    fn a_grain_below_the_plug_speed_belongs_to_the_plug_and_one_above_does_not() {
        // R |Ω| = 2 m/s, so the bound is 0.3 m/s.
        let mut snapshot = drum(DVec3::Y);
        let place = |x| DVec3::new(5.0 + x, 0.0, 7.0);
        snapshot.world.bodies.position[1] = place(1.0);
        snapshot.world.bodies.velocity[1] = DVec3::new(0.29, 0.0, -1.0);
        snapshot.world.bodies.position[2] = place(-1.0);
        snapshot.world.bodies.velocity[2] = DVec3::new(0.31, 0.0, 1.0);
        assert_eq!(plug_share(&snapshot, &PLAN), 0.5);
    }

    #[test]
    fn a_boundary_that_does_not_turn_has_no_angle_and_no_plug() {
        let snapshot = stack();
        assert!(dynamic_angle_deg(&snapshot, &PLAN).is_nan());
        assert!(plug_share(&snapshot, &PLAN).is_nan());
        assert!(plug_share(&snapshot, &DrumPlan { boundary: 9, ..PLAN }).is_nan());
    }
}
