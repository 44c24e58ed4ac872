//! Energies of the grains and free boundaries \[J\].

use super::grains;
use crate::engine::Snapshot;
use crate::world::FreeBody;

/// Kinetic energy of translation, Σ m v²/2 \[J\].
pub fn kinetic(snapshot: &Snapshot) -> f64 {
    let velocity = &snapshot.world.bodies.velocity;
    let boundaries = snapshot.world.free_boundaries();
    kinetic_of_grains(snapshot)
        + boundaries.map(|(body, free)| 0.5 * free.mass * velocity[body].length_squared()).sum::<f64>()
}

fn kinetic_of_grains(snapshot: &Snapshot) -> f64 {
    let velocity = &snapshot.world.bodies.velocity;
    grains(snapshot).map(|grain| 0.5 * grain.mass * velocity[grain.body].length_squared()).sum()
}

/// Kinetic energy of rotation, Σ ω·I ω/2 \[J\].
pub fn rotational(snapshot: &Snapshot) -> f64 {
    let (bodies, boundaries) = (&snapshot.world.bodies, snapshot.world.free_boundaries());
    let energy = |body: usize, free: &FreeBody| {
        free.rotational_energy(bodies.orientation[body], bodies.angular_velocity[body])
    };
    rotational_of_grains(snapshot) + boundaries.map(|(body, free)| energy(body, free)).sum::<f64>()
}

fn rotational_of_grains(snapshot: &Snapshot) -> f64 {
    let bodies = &snapshot.world.bodies;
    let energy =
        |body: usize| 0.5 * bodies.angular_velocity[body].length_squared() / bodies.inverse_inertia[body];
    grains(snapshot).map(|grain| energy(grain.body)).sum()
}

/// Potential energy in gravity relative to the origin, -Σ m g·x \[J\].
pub fn potential(snapshot: &Snapshot) -> f64 {
    let world = &snapshot.world;
    let energy = |body: usize, mass: f64| -mass * world.gravity.dot(world.bodies.position[body]);
    grains(snapshot).map(|grain| energy(grain.body, grain.mass)).sum::<f64>()
        + world.free_boundaries().map(|(body, free)| energy(body, free.mass)).sum::<f64>()
}

/// Kinetic energy of translation and rotation of the grains over Σ m |g| d, d the diameter of each grain \[-\];
/// not a number without gravity or grains.
pub fn kinetic_per_grain(snapshot: &Snapshot) -> f64 {
    let gravity = snapshot.world.gravity.length();
    let unit: f64 = grains(snapshot).map(|grain| grain.mass * gravity * 2.0 * grain.radius).sum();
    if unit > 0.0 { (kinetic_of_grains(snapshot) + rotational_of_grains(snapshot)) / unit } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::super::test_worlds::{beside, empty, stack, weightless};
    use super::*;

    // Grains of the stack: mass 2 and 16 kg, radius 0.5 and 1 m, moments 0.2 and 6.4 kg m².

    #[test]
    fn kinetic_energy_is_half_the_mass_times_speed_squared() {
        // 0.5 · 2 · 3² + 0.5 · 16 · 0.5²
        approx::assert_relative_eq!(kinetic(&stack()), 11.0, max_relative = 1e-12);
    }

    #[test]
    fn rotational_energy_is_half_the_moment_times_spin_squared() {
        // 0.5 · 0.2 · 4²
        approx::assert_relative_eq!(rotational(&stack()), 1.6, max_relative = 1e-12);
    }

    #[test]
    fn potential_energy_is_weight_times_height_above_the_origin() {
        // 10 m/s²: 20 N · 0.45 m + 160 N · 1.9 m
        approx::assert_relative_eq!(potential(&stack()), 313.0, max_relative = 1e-12);
    }

    #[test]
    fn kinetic_energy_per_grain_counts_translation_and_rotation_in_units_of_m_g_d() {
        // (11 + 1.6) J over 20 N · 1 m + 160 N · 2 m
        approx::assert_relative_eq!(kinetic_per_grain(&stack()), 12.6 / 340.0, max_relative = 1e-12);
    }

    #[test]
    fn grains_at_rest_have_no_kinetic_energy() {
        assert_eq!((kinetic(&beside()), rotational(&beside())), (0.0, 0.0));
    }

    #[test]
    fn without_gravity_or_grains_there_is_no_unit_of_energy_per_grain() {
        assert!(kinetic_per_grain(&weightless()).is_nan());
        assert!(kinetic_per_grain(&empty()).is_nan());
        assert_eq!(potential(&weightless()), 0.0);
    }
}
