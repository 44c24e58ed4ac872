//! Guard against energy that friction and rolling make \[E12\]: which laws may make it, and how much is too much.

use super::pair::PairLaw;
use super::rolling::RollingArm;

/// Coefficient of friction or rolling resistance above which a cone is wide \[-\]. Under wide cones accelerated sweeps and the friction of
/// the model start make energy out of nothing \[E12\]: in random scenes from 2.4 on.
pub const WIDE_CONE: f64 = 1.0;
/// Mass ratio of free bodies above which substeps are watched for energy made by friction and rolling \[E12\] \[-\]. In random scenes they
/// make energy from 47 on, with 5 sweeps.
pub const WATCHED_MASS_RATIO: f64 = 10.0;
/// Largest energy that friction and rolling may make before a substep is solved again \[E12\], as a share of the kinetic energy at once and
/// of the energy turned over since the start \[-\].
pub const LARGEST_GAIN: f64 = 1e-4;

impl PairLaw {
    /// Whether the friction cone or the rolling cone of the pair is wide ([`WIDE_CONE`]).
    pub fn has_wide_cone(&self, arm: RollingArm) -> bool {
        self.friction.max(arm.in_effective_radii() * self.rolling_resistance) > WIDE_CONE
    }
}
