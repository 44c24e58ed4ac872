//! The normal law: elastic force, damping and position correction of a contact, as coefficients of its normal constraint \[E2\]. Twin:
//! `shaders/narrowphase.wgsl`.

use super::pair::PairLaw;

/// Least damping time n_s, in substeps \[E2\]. With a shorter one stiff contacts ring.
pub const DAMPING_STEPS: f64 = 2.0;
/// Default share of a rigid overlap that one substep removes \[-\]. With a larger one rigid columns jump.
pub const RIGID_CORRECTION: f64 = 0.2;
/// Largest rigid overlap that is removed per substep, in effective radii \[-\].
pub const RIGID_CORRECTION_LIMIT: f64 = 0.1;
/// Overlap at which Hooke's force equals Hertz's, in effective radii \[-\].
pub const HOOKE_OVERLAP: f64 = 0.01;

/// The normal contact law \[E2\].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
pub enum NormalLaw {
    /// Elastic, force ∝ overlap^(3/2).
    Hertz,
    /// Elastic, force ∝ overlap; as stiff as Hertz at an overlap of 1 % of the effective radius.
    Hooke,
    /// No elasticity: overlap is an error that a bounded position correction removes.
    Rigid,
}

impl NormalLaw {
    /// Returns e_H and the stiffness k_n of a contact with this effective modulus \[Pa\] and radius \[m\] \[E2\]; `None` under the rigid
    /// law.
    pub fn elasticity(self, effective_modulus: f64, radius: f64) -> Option<(f64, f64)> {
        let hertz = 4.0 / 3.0 * effective_modulus * radius.sqrt();
        match self {
            NormalLaw::Hertz => Some((1.25, hertz)),
            NormalLaw::Hooke => Some((1.0, hertz * (HOOKE_OVERLAP * radius).sqrt())),
            NormalLaw::Rigid => None,
        }
    }
}

/// Coefficients of the normal constraint of a contact at its present gap \[E2\].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NormalRow {
    /// Υ, the share of the closing velocity in the bias velocity \[-\]; 0 unless elastic and overlapping.
    pub upsilon: f64,
    /// Part of the bias velocity q_n from positions \[m/s\].
    pub position_target: f64,
    /// Normal stiffness k_n: λ_n at rest is h k_n δ^(2 e_H - 1); 0 unless elastic and overlapping.
    pub stiffness: f64,
    /// Compliance Σ_n \[1/kg\].
    pub compliance: f64,
}

/// What the coefficients of a normal constraint depend on beside its gap: a substep, and a pair of bodies.
#[derive(Debug, Clone, Copy)]
pub struct NormalPair<'a> {
    /// Length of the substep h \[s\].
    pub h: f64,
    /// Share of a rigid overlap that the substep removes \[-\].
    pub rigid_correction: f64,
    /// Law of the materials.
    pub law: &'a PairLaw,
    /// Effective radius R* \[m\].
    pub radius: f64,
}

impl NormalLaw {
    /// Coefficients of the normal constraint of a pair with this gap \[m\], which carried the normal impulse `carried` \[N s\] in the last
    /// substep \[E2\].
    pub fn row(self, pair: &NormalPair<'_>, gap: f64, carried: f64) -> NormalRow {
        let NormalPair { h, rigid_correction, law, radius } = *pair;
        let (overlap, free) = (-gap, NormalRow { position_target: -gap / h, ..NormalRow::default() });
        let Some((exponent, stiffness)) = self.elasticity(law.effective_modulus, radius) else {
            if overlap <= 0.0 {
                return free;
            }
            let correction = (rigid_correction * overlap).min(RIGID_CORRECTION_LIMIT * radius);
            return NormalRow { position_target: correction / h, ..free };
        };
        if overlap <= 0.0 {
            return NormalRow { compliance: landing_compliance(h, exponent, stiffness, carried), ..free };
        }
        let compliance = exponent / stiffness;
        let damping_time = (DAMPING_STEPS * h).max(law.damping / exponent);
        let slope = exponent * overlap.powf(exponent - 1.0);
        let upsilon = 1.0 / (1.0 + 4.0 * damping_time / h);
        let position_target = 4.0 * upsilon / h * overlap / exponent;
        let compliance = 4.0 * compliance * upsilon / (h * h * slope * slope);
        NormalRow { upsilon, position_target, stiffness, compliance }
    }
}

/// Compliance Σ_n of a contact that does not touch yet but carried an impulse λ in the last substep. It may sink to the overlap δ at which
/// the elastic law carries λ, so Σ_n = δ / (h λ) \[E2\]. With Σ_n = 0 it would hold its load at a gap of zero for ever and never come under
/// the elastic law.
fn landing_compliance(h: f64, exponent: f64, stiffness: f64, carried: f64) -> f64 {
    if carried <= 0.0 {
        return 0.0;
    }
    (carried / (h * stiffness)).powf(1.0 / (2.0 * exponent - 1.0)) / (h * carried)
}
