//! Materials, and the law of a pair of materials: the coefficients that every contact between them has.

/// Material of a grain or boundary. SI units.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Material {
    /// Name in the scenario file.
    pub name: String,
    /// Density \[kg/m³\].
    pub density: f64,
    /// Young's modulus E \[Pa\].
    pub youngs_modulus: f64,
    /// Poisson ratio ν \[-\].
    pub poisson_ratio: f64,
    /// Coefficient of restitution e \[-\].
    pub restitution: f64,
    /// Coefficient of Coulomb friction μ \[-\].
    pub friction: f64,
    /// Coefficient of rolling and twisting resistance μ_r, to be multiplied by the effective radius \[-\].
    pub rolling_resistance: f64,
    /// Viscous damping c of the normal law \[s\].
    pub damping: f64,
    /// Pull-off force that does not depend on the size of the contact \[N\].
    pub pull_off_force: f64,
    /// Work of adhesion w; between equal materials, twice the surface energy \[J/m²\].
    pub work_of_adhesion: f64,
    /// Conductivity k of heat \[W/(m K)\]; 0 for an insulator.
    pub conductivity: f64,
    /// Specific heat capacity c \[J/(kg K)\]; 0 if the material has none.
    pub heat_capacity: f64,
}

#[cfg(test)]
impl Material {
    /// Soft glass without rolling resistance, for tests.
    pub(crate) fn glass() -> Material {
        Material {
            name: "glass".into(),
            density: 2500.0,
            youngs_modulus: 1e7,
            poisson_ratio: 0.2,
            restitution: 0.5,
            friction: 0.3,
            rolling_resistance: 0.0,
            damping: 0.0,
            pull_off_force: 0.0,
            work_of_adhesion: 0.0,
            conductivity: 0.0,
            heat_capacity: 0.0,
        }
    }
}

/// Contact law between two materials.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct PairLaw {
    /// Effective modulus E*: 1/E* = (1-ν_a²)/E_a + (1-ν_b²)/E_b \[Pa\].
    pub effective_modulus: f64,
    /// Coefficient of restitution e \[-\].
    pub restitution: f64,
    /// Coefficient of Coulomb friction μ \[-\].
    pub friction: f64,
    /// Coefficient of rolling and twisting resistance μ_r \[-\].
    pub rolling_resistance: f64,
    /// Viscous damping c of the normal law \[s\].
    pub damping: f64,
    /// Ratio κ of the tangential stiffness of the smooth method to the slope of its normal force \[E13\] \[-\].
    pub tangential_stiffness: f64,
    /// Pull-off force that does not depend on the size of the contact \[N\].
    pub pull_off_force: f64,
    /// Work of adhesion w \[J/m²\].
    pub work_of_adhesion: f64,
    /// Conductivity k of a contact \[E21\] \[W/(m K)\].
    pub conductivity: f64,
}

impl PairLaw {
    /// Default law of two materials: E* of Hertz, κ and k from both, and the smaller value of every other property.
    pub fn mixed(a: &Material, b: &Material) -> PairLaw {
        let compliance = |m: &Material| (1.0 - m.poisson_ratio * m.poisson_ratio) / m.youngs_modulus;
        // (2 - ν)/G with the shear modulus G = E/(2 (1 + ν)).
        let shear_compliance =
            |m: &Material| 2.0 * (2.0 - m.poisson_ratio) * (1.0 + m.poisson_ratio) / m.youngs_modulus;
        let compliance = compliance(a) + compliance(b);
        PairLaw {
            effective_modulus: 1.0 / compliance,
            tangential_stiffness: 4.0 * compliance / (shear_compliance(a) + shear_compliance(b)),
            restitution: a.restitution.min(b.restitution),
            friction: a.friction.min(b.friction),
            rolling_resistance: a.rolling_resistance.min(b.rolling_resistance),
            damping: a.damping.min(b.damping),
            pull_off_force: a.pull_off_force.min(b.pull_off_force),
            work_of_adhesion: a.work_of_adhesion.min(b.work_of_adhesion),
            conductivity: pair_conductivity(a.conductivity, b.conductivity),
        }
    }
}

/// Conductivity k of a pair \[W/(m K)\]: harmonic mean, as the half spaces of both bodies conduct one after the other \[E21\].
pub fn pair_conductivity(a: f64, b: f64) -> f64 {
    if a > 0.0 && b > 0.0 { 2.0 * a * b / (a + b) } else { 0.0 }
}
