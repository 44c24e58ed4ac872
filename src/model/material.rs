//! Materials, and the contact law of every pair of materials.

use super::MaterialId;

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
}

impl PairLaw {
    /// Default law of two materials: E* of Hertz, κ from both, and the smaller value of every other property.
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
        }
    }

    /// Pull-off force of two bodies with the effective radius R* \[E2\] \[N\].
    pub fn pull_off(&self, radius: f64) -> f64 {
        self.pull_off_force + JKR_PULL_OFF * self.work_of_adhesion * radius
    }

    /// Whether the law is cohesive: it has a pull-off force or a work of adhesion.
    pub fn is_cohesive(&self) -> bool {
        self.pull_off_force > 0.0 || self.work_of_adhesion > 0.0
    }
}

/// Pull-off force over w R* in the theory of Johnson, Kendall & Roberts 1971 \[-\].
pub const JKR_PULL_OFF: f64 = 1.5 * std::f64::consts::PI;

/// All materials, and the contact law of every pair.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Materials {
    /// The materials; a [`MaterialId`] is an index into this list.
    pub list: Vec<Material>,
    laws: Vec<PairLaw>,
}

impl Materials {
    /// Makes materials with the default law for every pair.
    pub fn new(list: Vec<Material>) -> Materials {
        let laws = list.iter().flat_map(|a| list.iter().map(|b| PairLaw::mixed(a, b))).collect();
        Materials { list, laws }
    }

    /// Sets the law of a pair of materials, in both orders.
    pub fn set_law(&mut self, a: MaterialId, b: MaterialId, law: PairLaw) {
        let [ab, ba] = [self.index(a, b), self.index(b, a)];
        self.laws[ab] = law;
        self.laws[ba] = law;
    }

    /// Sets friction and rolling resistance of every pair to `factor` times their values in `others`, a list of the same materials.
    pub fn scale_friction(&mut self, others: &Materials, factor: f64) {
        for (law, other) in self.laws.iter_mut().zip(&others.laws) {
            law.friction = factor * other.friction;
            law.rolling_resistance = factor * other.rolling_resistance;
        }
    }

    /// Law of a pair.
    #[inline]
    pub fn law(&self, a: MaterialId, b: MaterialId) -> &PairLaw {
        &self.laws[self.index(a, b)]
    }

    /// Whether the law of some pair is cohesive.
    pub fn are_cohesive(&self) -> bool {
        self.laws.iter().any(PairLaw::is_cohesive)
    }

    /// Laws of all pairs: entry a n + b is that of materials a and b, of n in all.
    pub fn laws(&self) -> &[PairLaw] {
        &self.laws
    }

    /// Id of a material by name.
    pub fn find(&self, name: &str) -> Option<MaterialId> {
        self.list.iter().position(|material| material.name == name).map(|i| i as MaterialId)
    }

    fn index(&self, a: MaterialId, b: MaterialId) -> usize {
        a as usize * self.list.len() + b as usize
    }
}
