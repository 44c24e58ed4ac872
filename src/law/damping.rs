//! Damping of the springs of the smooth method \[E13\]. Twin: the springs of `shaders/springs.wgsl`, which get η_n from here.

use super::normal::NormalLaw;
use super::pair::PairLaw;

/// The normal damping of the smooth method \[E13\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
pub enum Damping {
    /// Damping with which bodies return with the restitution of their pair, at any speed.
    #[default]
    Restitution,
    /// Damping in proportion to the rate of the elastic force, by the `damping` of the pair.
    Viscoelastic,
}

/// Normal damping of the smooth method \[E13\]: η_n over √(m* S) \[-\], or over the slope S of the force where it is viscoelastic \[s\].
///
/// A Hertz contact returns with exactly its restitution for η_n = √(10/3) ζ √(m* S), a Hooke contact for η_n = 2 ζ √(m* S), where ζ = -ln
/// e/√(ln² e + π²) (Tsuji et al. 1992).
pub fn spring_damping(normal_law: NormalLaw, damping: Damping, pair: &PairLaw) -> f64 {
    let is_hertz = normal_law == NormalLaw::Hertz;
    if damping == Damping::Viscoelastic {
        // d(k δ^n)/dt times c over n: c δ^½ dδ/dt under Hertz's law.
        return if is_hertz { pair.damping / 1.5 } else { pair.damping };
    }
    let logarithm = pair.restitution.max(LEAST_RESTITUTION).ln();
    let share = -logarithm / (logarithm * logarithm + std::f64::consts::PI.powi(2)).sqrt();
    if is_hertz { (10.0f64 / 3.0).sqrt() * share } else { 2.0 * share }
}

/// Least restitution, which stands for none \[-\]: its logarithm is that of a damping within 3 % of critical.
const LEAST_RESTITUTION: f64 = 1e-6;
