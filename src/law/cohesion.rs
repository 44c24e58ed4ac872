//! Cohesion: the force that pulls the bodies of a contact together \[E2\]. Twin: `pull_off` in `shaders/shared/types.wgsl`.

use super::pair::PairLaw;

/// Gap up to which a cohesive contact holds, over its effective radius \[E2\] \[-\]. The error that sweeps leave in a rigid contact must
/// not break it.
pub const COHESION_RANGE: f64 = 1e-3;
/// Pull-off force over w R* in the theory of Johnson, Kendall & Roberts 1971 \[-\].
pub const JKR_PULL_OFF: f64 = 1.5 * std::f64::consts::PI;

impl PairLaw {
    /// Pull-off force of two bodies with the effective radius R* \[E2\] \[N\].
    pub fn pull_off(&self, radius: f64) -> f64 {
        self.pull_off_force + JKR_PULL_OFF * self.work_of_adhesion * radius
    }

    /// Whether the law is cohesive: it has a pull-off force or a work of adhesion.
    pub fn is_cohesive(&self) -> bool {
        self.pull_off_force > 0.0 || self.work_of_adhesion > 0.0
    }
}
