//! Conduction of heat through the contact of two bodies \[E21\].
//!
//! Two bodies of conductivity k that touch in a disc of radius a, small beside both, exchange the heat 2 k a (T_b - T_a) per time: the
//! resistance is that of the two half spaces next to the disc (Carslaw & Jaeger 1959, section 8.2), as Batchelor & O'Brien 1977 take it for
//! grains in a medium that does not conduct.

use super::normal::NormalLaw;

/// Conductance H = 2 k a of a contact of this conductivity \[W/(m K)\] and contact radius \[m\] \[W/K\].
pub fn conductance(conductivity: f64, contact_radius: f64) -> f64 {
    2.0 * conductivity * contact_radius
}

/// Radius a = √(R* δ) of the contact disc of bodies with this effective radius \[m\] and overlap \[m\] \[m\].
pub fn contact_radius(radius: f64, overlap: f64) -> f64 {
    (radius * overlap).max(0.0).sqrt()
}

impl NormalLaw {
    /// Overlap at which the law carries this normal force \[N\] \[m\], for bodies with this effective modulus \[Pa\] and radius \[m\].
    /// Rigid bodies touch as those of Hertz: the rigid law leaves out how a contact yields in time, not its area.
    pub fn overlap_under(self, force: f64, effective_modulus: f64, radius: f64) -> f64 {
        let elasticity = self.elasticity(effective_modulus, radius);
        let (exponent, stiffness) = elasticity.unwrap_or_else(|| hertz(effective_modulus, radius));
        (force.max(0.0) / stiffness).powf(1.0 / (2.0 * exponent - 1.0))
    }
}

fn hertz(effective_modulus: f64, radius: f64) -> (f64, f64) {
    NormalLaw::Hertz.elasticity(effective_modulus, radius).unwrap_or((1.25, f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::pair::pair_conductivity;

    const FORCE: f64 = 0.02;
    const MODULUS: f64 = 3e7;
    const RADIUS: f64 = 2.5e-3;

    /// a³ = 3 F R*/(4 E*) (Hertz 1882), for the law of Hertz and for rigid bodies.
    #[test]
    fn the_contact_radius_under_a_force_is_that_of_hertz() {
        let expected = (3.0 * FORCE * RADIUS / (4.0 * MODULUS)).cbrt();
        for law in [NormalLaw::Hertz, NormalLaw::Rigid] {
            let found = contact_radius(RADIUS, law.overlap_under(FORCE, MODULUS, RADIUS));
            approx::assert_relative_eq!(found, expected, max_relative = 1e-14);
        }
        // Control: the linear law is another one, except at its own overlap of 1 % of R*.
        let linear = |force: f64| NormalLaw::Hooke.overlap_under(force, MODULUS, RADIUS);
        assert!((contact_radius(RADIUS, linear(FORCE)) / expected - 1.0).abs() > 0.1);
        let same = 4.0 / 3.0 * MODULUS * RADIUS.sqrt() * (0.01 * RADIUS).powf(1.5);
        let [hertz, hooke] = [NormalLaw::Hertz.overlap_under(same, MODULUS, RADIUS), linear(same)];
        approx::assert_relative_eq!(hertz, hooke, max_relative = 1e-14);
    }

    #[test]
    fn bodies_that_pull_or_do_not_press_exchange_nothing() {
        for force in [0.0, -1.0] {
            let overlap = NormalLaw::Hertz.overlap_under(force, MODULUS, RADIUS);
            assert_eq!(conductance(1.0, contact_radius(RADIUS, overlap)), 0.0);
        }
        assert_eq!(contact_radius(RADIUS, -1e-6), 0.0, "apart");
    }

    /// Two half spaces in series: 1/H = 1/(4 k_a a) + 1/(4 k_b a).
    #[test]
    fn the_conductance_is_that_of_two_half_spaces_in_series() {
        let (a, b, radius) = (0.8, 15.0, 1e-4);
        let series = 1.0 / (1.0 / (4.0 * a * radius) + 1.0 / (4.0 * b * radius));
        approx::assert_relative_eq!(
            conductance(pair_conductivity(a, b), radius),
            series,
            max_relative = 1e-14
        );
        assert_eq!(pair_conductivity(0.0, 1.0), 0.0, "an insulator");
    }
}
