//! Height, front, cone, centre of mass and momentum of the grains.

use glam::DVec3;

use super::{GrainView, grains};
use crate::engine::Snapshot;
use crate::engine::share::Share;

/// Direction against gravity; +z without gravity.
pub fn up_against(gravity: DVec3) -> DVec3 {
    (-gravity).try_normalize().unwrap_or(DVec3::Z)
}

/// Height of the highest top of a grain above the origin, along [`up_against`] gravity \[m\]; not a number without grains.
pub fn height(snapshot: &Snapshot) -> f64 {
    snapshot.share.largest(tops(snapshot).into_iter().fold(f64::NAN, f64::max))
}

/// Height below which 99 % of the tops of grains lie, interpolated linearly between neighbours in the
/// sorted list \[m\]; not a number without grains.
pub fn height_p99(snapshot: &Snapshot) -> f64 {
    percentile(&snapshot.share, tops(snapshot), 0.99)
}

/// Front of a flow along +x: the x below which 99 % of the centres of grains lie, interpolated as for [`height_p99`] \[m\]; not a number
/// without grains.
pub fn front_x(snapshot: &Snapshot) -> f64 {
    let position = &snapshot.world.bodies.position;
    percentile(&snapshot.share, grains(snapshot).map(|grain| position[grain.body].x).collect(), 0.99)
}

/// Angle of the cone whose mass has the same mean height and the same mean distance from the axis as a heap on level ground \[deg\]; not a
/// number without grains. It sums up the shape of a heap in a smooth number. The slope of its flank is
/// [`repose_angle_deg`](super::repose::repose_angle_deg), which is larger where the top is round or grains lie about.
///
/// A cone of height H and radius R has ⟨z⟩ = H/4 and ⟨r⟩ = R/2, so tan α = H/R = 2 ⟨z⟩/⟨r⟩. Heights are measured from the lowest centre, so
/// that one layer is flat; the axis is vertical and goes through the centre of mass. The formula assumes gravity along -z.
pub fn cone_angle_deg(snapshot: &Snapshot) -> f64 {
    let position = &snapshot.world.bodies.position;
    let centre = centre_of_mass(snapshot);
    let lowest = grains(snapshot).map(|grain| position[grain.body].z).fold(f64::NAN, f64::min);
    let lowest = snapshot.share.smallest(lowest);
    let (mut mass, mut distance) = (0.0, 0.0);
    for grain in grains(snapshot) {
        mass += grain.mass;
        distance += grain.mass * (position[grain.body] - centre).truncate().length();
    }
    [mass, distance] = snapshot.share.sum([mass, distance]);
    // Mean height and mean distance are H/4 and R/2 for a cone, H/3 and R/3 for a triangle of discs.
    let shape = if snapshot.world.plane.is_some() { 1.0 } else { 2.0 };
    (shape * (centre.z - lowest)).atan2(distance / mass).to_degrees()
}

/// Centre of mass of the grains \[m\]; not a number without grains.
pub fn centre_of_mass(snapshot: &Snapshot) -> DVec3 {
    centre_of(snapshot, grains(snapshot))
}

/// Centre of mass of some grains \[m\]; not a number without any.
pub(super) fn centre_of(snapshot: &Snapshot, grains: impl Iterator<Item = GrainView>) -> DVec3 {
    let position = &snapshot.world.bodies.position;
    let (moment, mass) = grains.fold((DVec3::ZERO, 0.0), |(moment, mass), grain| {
        (moment + grain.mass * position[grain.body], mass + grain.mass)
    });
    snapshot.share.sum(moment) / snapshot.share.sum(mass)
}

/// Momentum of the grains and dynamic boundaries \[N s\].
pub fn momentum(snapshot: &Snapshot) -> DVec3 {
    let velocity = &snapshot.world.bodies.velocity;
    let boundaries = snapshot.world.dynamic_boundaries();
    let of_grains = grains(snapshot).map(|grain| grain.mass * velocity[grain.body]);
    snapshot.share.sum(of_grains.sum::<DVec3>())
        + boundaries.map(|(body, free)| free.mass * velocity[body]).sum::<DVec3>()
}

/// Angular momentum of the grains and dynamic boundaries about the origin, their spin included \[N m s\].
pub fn angular_momentum(snapshot: &Snapshot) -> DVec3 {
    let bodies = &snapshot.world.bodies;
    let orbit = |body: usize, mass: f64| bodies.position[body].cross(mass * bodies.velocity[body]);
    let of_body = |body: usize, mass: f64| orbit(body, mass) + bodies.angular_momentum(body);
    let boundaries = snapshot.world.dynamic_boundaries();
    let of_grains = grains(snapshot).map(|grain| of_body(grain.body, grain.mass));
    snapshot.share.sum(of_grains.sum::<DVec3>())
        + boundaries.map(|(body, rigid)| of_body(body, rigid.mass)).sum::<DVec3>()
}

fn tops(snapshot: &Snapshot) -> Vec<f64> {
    let up = up_against(snapshot.world.gravity);
    let position = &snapshot.world.bodies.position;
    grains(snapshot).map(|grain| position[grain.body].dot(up) + grain.radius).collect()
}

/// Percentile: value below which the part `part` of the values of all ranks lies.
pub(super) fn percentile(share: &Share, mut values: Vec<f64>, part: f64) -> f64 {
    let Some(last) = share.total(values.len()).checked_sub(1) else { return f64::NAN };
    let place = part * last as f64;
    let below = place.floor() as usize;
    let low = share.nth(&mut values, below);
    let is_above = |value: &&f64| value.total_cmp(&low).is_gt();
    let above = values.iter().filter(is_above);
    let next = share.smallest(above.clone().copied().fold(f64::NAN, f64::min));
    let not_above = last + 1 - share.total(above.count());
    if not_above > below + 1 || below == last { low } else { low + (place - below as f64) * (next - low) }
}

#[cfg(test)]
mod tests {
    use super::super::test_worlds::{empty, heap, sideways, stack, weightless};
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn height_is_the_highest_top_not_the_highest_centre() {
        approx::assert_relative_eq!(height(&stack()), 2.9, max_relative = 1e-12);
    }

    #[test]
    fn height_is_measured_against_gravity_whichever_way_it_points() {
        // gravity along -x: the tops are at x + r = 3 + 0.5 and 1 + 1
        assert_eq!(height(&sideways()), 3.5);
    }

    #[test]
    fn without_gravity_up_is_z() {
        assert_eq!(up_against(weightless().world.gravity), DVec3::Z);
    }

    #[test]
    fn the_99th_percentile_ignores_a_single_grain_that_jumped() {
        let mut tops: Vec<f64> = (0..=100).map(f64::from).collect();
        tops[37] = 1e6;
        // sorted: 0..36, 38..=100, 1e6; rank 0.99 · 100 = 99 is the value 100
        assert_eq!(percentile(&Share::default(), tops, 0.99), 100.0);
    }

    #[test]
    fn a_percentile_between_two_values_is_interpolated() {
        approx::assert_relative_eq!(
            percentile(&Share::default(), vec![3.0, 1.0], 0.99),
            2.98,
            max_relative = 1e-12
        );
        assert_eq!(percentile(&Share::default(), vec![3.0], 0.99), 3.0);
    }

    #[test]
    fn the_front_is_measured_along_x_whichever_way_gravity_points() {
        let grains = [DVec3::new(0.3, 5.0, -4.0), DVec3::new(0.0, -7.0, 9.0)];
        approx::assert_relative_eq!(front_x(&heap(grains)), 0.297, max_relative = 1e-12);
        // Centres at x = 3 and 1 m, gravity along -x.
        approx::assert_relative_eq!(front_x(&sideways()), 2.98, max_relative = 1e-12);
        assert!(front_x(&empty()).is_nan());
    }

    #[test]
    fn a_cone_of_grains_has_the_angle_of_the_cone() {
        // Points spread evenly over a cone 1 m high and 2 m wide at the base: uniform in the cube of the depth below the tip,
        // in the square of the radius and in the angle.
        const COUNT: u32 = 4000;
        let place = |i: u32| {
            let share = |step: f64| (f64::from(i) * step).fract();
            let depth = ((f64::from(i) + 0.5) / f64::from(COUNT)).cbrt();
            let radius = 2.0 * depth * share(0.618_033_988_749_895).sqrt();
            let angle = TAU * share(0.754_877_666_246_693);
            DVec3::new(3.0 + radius * angle.cos(), radius * angle.sin() - 5.0, 7.0 - depth)
        };
        let found = cone_angle_deg(&heap((0..COUNT).map(place)));
        approx::assert_abs_diff_eq!(found, 0.5f64.atan().to_degrees(), epsilon = 0.1);
    }

    #[test]
    fn the_cone_of_one_layer_is_flat() {
        let layer = (0..9).map(|i| DVec3::new(f64::from(i % 3), f64::from(i / 3), 4.0));
        assert_eq!(cone_angle_deg(&heap(layer)), 0.0);
        assert!(cone_angle_deg(&empty()).is_nan());
    }

    #[test]
    fn the_centre_of_mass_weighs_heavy_grains_more() {
        // (2 · 0.45 + 16 · 1.9) / 18 and (2 · 0.3 + 16 · 0.3) / 18
        let centre = centre_of_mass(&stack());
        approx::assert_relative_eq!(centre.z, 31.3 / 18.0, max_relative = 1e-12);
        approx::assert_relative_eq!(centre.x, 0.3, max_relative = 1e-12);
    }

    #[test]
    fn momentum_is_mass_times_velocity() {
        assert!((momentum(&stack()) - DVec3::new(6.0, 0.0, -8.0)).length() < 1e-12);
    }

    #[test]
    fn angular_momentum_counts_orbit_and_spin() {
        // (0.3, 0, 0.45) × (6, 0, 0) + (0.3, 0, 1.9) × (0, 0, -8), and 0.2 kg m² at 4 rad/s about y.
        let expected = DVec3::new(0.0, 2.7 + 2.4 + 0.8, 0.0);
        assert!((angular_momentum(&stack()) - expected).length() < 1e-12);
    }

    #[test]
    fn without_grains_there_is_no_height_and_no_centre_of_mass() {
        assert!(height(&empty()).is_nan() && height_p99(&empty()).is_nan());
        assert!(centre_of_mass(&empty()).is_nan());
        assert_eq!(momentum(&empty()), DVec3::ZERO);
    }
}
