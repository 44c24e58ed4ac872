//! Bonds \[E20\]: stiffness of the beam between two cemented bodies, stress on its outer fibre, strength.

use glam::DVec3;

/// Coefficients of a bond, whatever its size.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct BondLaw {
    /// Young's modulus of the cement \[Pa\].
    pub youngs_modulus: f64,
    /// Poisson's ratio of the cement \[-\].
    pub poisson_ratio: f64,
    /// Radius of the beam over that of the smaller grain \[-\].
    pub radius_factor: f64,
    /// Mean tensile strength \[Pa\]; infinite for a bond that no tension breaks.
    pub tensile_strength: f64,
    /// Mean cohesion: shear strength without compression \[Pa\]; infinite for a bond that no shear breaks.
    pub cohesion: f64,
    /// Tangent of the friction angle: increase of the shear strength per compressive stress \[-\].
    pub friction: f64,
    /// Damping ratio of each of the six motions of two bodies on one bond \[-\].
    pub damping_ratio: f64,
}

/// Beam with a circular section.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Beam {
    /// Radius of the section \[m\].
    pub radius: f64,
    /// Length \[m\].
    pub length: f64,
}

/// Stiffness of a beam against motions of its ends, which act on its middle as if both halves were rigid. The matrix is diagonal there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BeamStiffness {
    /// Against a shift along the beam (x), and across it \[N/m\].
    pub shift: DVec3,
    /// Against a turn about the beam (x), and about axes across it \[N m/rad\].
    pub turn: DVec3,
}

/// Force and moment in the middle of a beam on its second end, in axes of the beam.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct BeamLoad {
    /// Force \[N\]: x along the beam, negative in tension, as the bond then pulls its second end back.
    pub force: DVec3,
    /// Moment \[N m\]: x twists.
    pub moment: DVec3,
}

/// State of a bond: intact, or what ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum BondFate {
    /// The bond holds.
    #[default]
    Intact,
    /// It broke in tension on its outer fibre.
    Tension,
    /// It broke in shear.
    Shear,
    /// One of its grains was removed.
    Removed,
}

impl Beam {
    /// Area of the section \[m²\].
    pub fn area(&self) -> f64 {
        std::f64::consts::PI * self.radius * self.radius
    }

    /// Second moment of area I = π R⁴/4 \[m⁴\]; the polar one is 2 I.
    pub fn second_moment(&self) -> f64 {
        0.25 * self.area() * self.radius * self.radius
    }

    /// Normal stress on the outer fibre, positive in tension, shear stress there, and mean normal stress \[Pa\]: N/A + M R/I, V/A + T R/J
    /// and N/A (Potyondy & Cundall 2004, Eqs. 15, 16).
    pub fn stresses(&self, load: &BeamLoad) -> [f64; 3] {
        let across = |vector: DVec3| vector.y.hypot(vector.z);
        let (area, fibre) = (self.area(), self.radius / self.second_moment());
        let mean = -load.force.x / area;
        let shear = across(load.force) / area + 0.5 * fibre * load.moment.x.abs();
        [mean + fibre * across(load.moment), shear, mean]
    }
}

impl BondLaw {
    /// Stiffness of a beam, Timoshenko's with the shear coefficient of Cowper 1966 for a circle, κ = 6 (1 + ν)/(7 + 6 ν):
    /// E A/L along it, 12 E I/(L³ (1 + Φ)) across it with Φ = 12 E I/(κ G A L²), G J/L against twisting, E I/L against bending.
    pub fn stiffness(&self, beam: &Beam) -> BeamStiffness {
        let Beam { length, .. } = *beam;
        let (modulus, poisson) = (self.youngs_modulus, self.poisson_ratio);
        let shear_modulus = 0.5 * modulus / (1.0 + poisson);
        let coefficient = 6.0 * (1.0 + poisson) / (7.0 + 6.0 * poisson);
        let bending = modulus * beam.second_moment();
        let square = length * length;
        let shear_part = 12.0 * bending / (coefficient * shear_modulus * beam.area() * square);
        let across = 12.0 * bending / (square * length * (1.0 + shear_part));
        let along = modulus * beam.area() / length;
        let twist = 2.0 * shear_modulus * beam.second_moment() / length;
        BeamStiffness {
            shift: DVec3::new(along, across, across),
            turn: DVec3::new(twist, bending / length, bending / length),
        }
    }

    /// Tension on the outer fibre over the tensile strength, and shear stress over the shear strength, of a beam under a load \[-\]; the
    /// shear strength is the cohesion less tan φ times the mean normal stress. `strength` multiplies tensile strength and cohesion \[-\].
    pub fn utilisation(&self, beam: &Beam, load: &BeamLoad, strength: f64) -> [f64; 2] {
        let [tension, shear, mean] = beam.stresses(load);
        let withstood = strength * self.cohesion - self.friction * mean;
        [
            tension / (strength * self.tensile_strength),
            if withstood > 0.0 { shear / withstood } else { f64::INFINITY },
        ]
    }

    /// What breaks a beam under a load, if anything does: that of tension and shear whose stress has reached its strength, tension first.
    pub fn failure(&self, beam: &Beam, load: &BeamLoad, strength: f64) -> Option<BondFate> {
        match self.utilisation(beam, load, strength) {
            [tension, _] if tension >= 1.0 => Some(BondFate::Tension),
            [_, shear] if shear >= 1.0 => Some(BondFate::Shear),
            _ => None,
        }
    }

    /// Damping time of a motion \[s\] with this damping ratio: 2 ζ/ω with ω² = k/m, for a stiffness k and an effective mass m.
    pub fn damping_time(&self, stiffness: f64, effective_mass: f64) -> f64 {
        2.0 * self.damping_ratio * (effective_mass / stiffness).sqrt()
    }
}

impl BeamStiffness {
    /// Load of a beam whose middle has been shifted \[m\] and turned \[rad\] on the second end against the first, in axes of the beam.
    pub fn load(&self, shift: DVec3, turn: DVec3) -> BeamLoad {
        BeamLoad { force: -self.shift * shift, moment: -self.turn * turn }
    }

    /// Elastic energy of a beam with this shift \[m\] and turn \[rad\] \[J\].
    pub fn energy(&self, shift: DVec3, turn: DVec3) -> f64 {
        0.5 * (self.shift.dot(shift * shift) + self.turn.dot(turn * turn))
    }
}

/// Strength of a bond over the mean strength \[-\], for a number drawn uniformly from \[0, 1): Weibull's distribution with this modulus
/// and mean 1 (Weibull 1951).
pub fn weibull_strength(modulus: f64, uniform: f64) -> f64 {
    libm::pow(-libm::log1p(-uniform), 1.0 / modulus) / libm::tgamma(1.0 + 1.0 / modulus)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: BondLaw = BondLaw {
        youngs_modulus: 2e7,
        poisson_ratio: 0.25,
        radius_factor: 1.0,
        tensile_strength: 1e4,
        cohesion: 2e4,
        friction: 0.5,
        damping_ratio: 0.1,
    };
    const BEAM: Beam = Beam { radius: 0.01, length: 0.05 };

    /// Deflection of the free end of one beam with one end clamped, from the stiffness in its middle.
    fn deflection(beam: &Beam, force: f64) -> f64 {
        let BeamStiffness { shift, turn } = LAW.stiffness(beam);
        let half = 0.5 * beam.length;
        force / shift.y + force * half / turn.z * half
    }

    #[test]
    fn a_cantilever_of_one_beam_bends_as_timoshenko_says() {
        let (modulus, poisson) = (LAW.youngs_modulus, LAW.poisson_ratio);
        let second_moment = std::f64::consts::PI * 0.01f64.powi(4) / 4.0;
        let area = std::f64::consts::PI * 1e-4;
        let coefficient = 6.0 * (1.0 + poisson) / (7.0 + 6.0 * poisson);
        let shear = 3.0 * 0.05 / (coefficient * modulus / (2.0 * (1.0 + poisson)) * area);
        let bending = 3.0 * 0.05f64.powi(3) / (3.0 * modulus * second_moment);
        approx::assert_relative_eq!(deflection(&BEAM, 3.0), bending + shear, max_relative = 1e-12);
        assert!(shear > 1e-2 * bending, "the shear part shows");
    }

    #[test]
    fn stresses_on_the_outer_fibre_are_those_of_beams() {
        let load = BeamLoad { force: DVec3::new(-3.0, 4.0, 3.0), moment: DVec3::new(0.02, 0.03, 0.04) };
        let (area, radius) = (std::f64::consts::PI * 1e-4, 0.01);
        let section_modulus = std::f64::consts::PI * f64::powi(radius, 3) / 4.0;
        let [tension, shear, mean] = BEAM.stresses(&load);
        approx::assert_relative_eq!(mean, 3.0 / area, max_relative = 1e-12);
        approx::assert_relative_eq!(tension, 3.0 / area + 0.05 / section_modulus, max_relative = 1e-12);
        approx::assert_relative_eq!(shear, 5.0 / area + 0.02 / (2.0 * section_modulus), max_relative = 1e-12);
    }

    #[test]
    fn compression_strengthens_a_bond_in_shear_and_tension_weakens_it() {
        let area = BEAM.area();
        let broken = |along: f64, across: f64| {
            LAW.failure(
                &BEAM,
                &BeamLoad { force: area * DVec3::new(along, across, 0.0), moment: DVec3::ZERO },
                1.0,
            )
        };
        assert_eq!(broken(0.0, 1.99e4), None);
        assert_eq!(broken(0.0, 2.01e4), Some(BondFate::Shear));
        assert_eq!(broken(2e4, 2.99e4), None, "20 kPa of pressure add 10 kPa");
        assert_eq!(broken(2e4, 3.01e4), Some(BondFate::Shear));
        assert_eq!(broken(-8e3, 1.61e4), Some(BondFate::Shear), "8 kPa of tension take 4 kPa");
        assert_eq!(broken(-1.01e4, 0.0), Some(BondFate::Tension));
        assert_eq!(LAW.failure(&BEAM, &BeamLoad::default(), 1.0), None);
    }

    #[test]
    fn random_strengths_have_mean_one_and_the_spread_of_weibull() {
        let count = 100_000;
        let draw = |i: i32| weibull_strength(5.0, (f64::from(i) + 0.5) / f64::from(count));
        let mean = (0..count).map(draw).sum::<f64>() / f64::from(count);
        let square = (0..count).map(|i| draw(i).powi(2)).sum::<f64>() / f64::from(count);
        // Γ(1 + 2/5)/Γ(1 + 1/5)² - 1 = 0.8873/0.8432 - 1
        assert!((mean - 1.0).abs() < 1e-4, "{mean}");
        assert!((square - mean * mean - 0.05246).abs() < 2e-4, "{}", square - mean * mean);
    }
}
