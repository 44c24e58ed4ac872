//! Materials, and the law between each two of them.

use super::MaterialId;

/// What a grain or boundary is made of. SI units.
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
    /// Restitution e \[-\].
    pub restitution: f64,
    /// Coulomb friction μ \[-\].
    pub friction: f64,
    /// Rolling and twisting resistance μ_r, times the effective radius \[-\].
    pub rolling_resistance: f64,
    /// Viscous damping c of the normal law \[s\].
    pub damping: f64,
    /// Force that holds a contact together, whatever its size \[N\].
    pub pull_off_force: f64,
    /// Work of adhesion w, twice the surface energy between equals \[J/m²\].
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

/// The law of contact between two materials.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct PairLaw {
    /// Effective modulus E*: 1/E* = (1-ν_a²)/E_a + (1-ν_b²)/E_b \[Pa\].
    pub effective_modulus: f64,
    /// Restitution e \[-\].
    pub restitution: f64,
    /// Coulomb friction μ \[-\].
    pub friction: f64,
    /// Rolling and twisting resistance μ_r \[-\].
    pub rolling_resistance: f64,
    /// Viscous damping c of the normal law \[s\].
    pub damping: f64,
    /// Tangential stiffness of the smooth method over the slope of its normal force, κ \[E13\] \[-\].
    pub tangential_stiffness: f64,
    /// Force that holds a contact together, whatever its size \[N\].
    pub pull_off_force: f64,
    /// Work of adhesion w \[J/m²\].
    pub work_of_adhesion: f64,
}

impl PairLaw {
    /// The default between two materials: E* of Hertz, and of every other property the smaller value.
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

    /// Force that it takes to pull two bodies apart whose effective radius is R* \[E2\] \[N\].
    pub fn pull_off(&self, radius: f64) -> f64 {
        self.pull_off_force + JKR_PULL_OFF * self.work_of_adhesion * radius
    }

    /// Whether it holds contacts together.
    pub fn is_cohesive(&self) -> bool {
        self.pull_off_force > 0.0 || self.work_of_adhesion > 0.0
    }
}

/// Pull-off force over w R* in the theory of Johnson, Kendall & Roberts 1971 \[-\].
pub const JKR_PULL_OFF: f64 = 1.5 * std::f64::consts::PI;

/// All materials and the law of every pair.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Materials {
    /// The materials; a [`MaterialId`] is an index into this list.
    pub list: Vec<Material>,
    laws: Vec<PairLaw>,
}

impl Materials {
    /// Materials with the mixing rule for every pair.
    pub fn new(list: Vec<Material>) -> Materials {
        let laws = list.iter().flat_map(|a| list.iter().map(|b| PairLaw::mixed(a, b))).collect();
        Materials { list, laws }
    }

    /// Sets the law of a pair, both ways round.
    pub fn set_law(&mut self, a: MaterialId, b: MaterialId, law: PairLaw) {
        let [ab, ba] = [self.index(a, b), self.index(b, a)];
        self.laws[ab] = law;
        self.laws[ba] = law;
    }

    /// Gives every pair so many times the friction and rolling resistance that it has among `others`, the same materials.
    pub fn scale_friction(&mut self, others: &Materials, factor: f64) {
        for (law, other) in self.laws.iter_mut().zip(&others.laws) {
            law.friction = factor * other.friction;
            law.rolling_resistance = factor * other.rolling_resistance;
        }
    }

    /// Law of a pair.
    pub fn law(&self, a: MaterialId, b: MaterialId) -> &PairLaw {
        &self.laws[self.index(a, b)]
    }

    /// Whether some pair holds contacts together.
    pub fn are_cohesive(&self) -> bool {
        self.laws.iter().any(PairLaw::is_cohesive)
    }

    /// All laws, row by row.
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
