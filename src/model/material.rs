//! Table of materials, with the law of every pair of them.

use crate::law::pair::{Material, PairLaw};

use super::MaterialId;

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
