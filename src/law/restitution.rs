//! Restitution: the bounce of a contact, and what ends a round of impacts \[E6\]. Twins: `shaders/narrowphase.wgsl`, `shaders/impact.wgsl`.

use glam::{DMat3, DVec3};

/// Gap up to which a contact counts as touching in the impact stage \[E6\], over the arm of its grain \[-\]: a few rounding errors of
/// single precision. With a smaller one grains placed in touch would be apart on the GPU.
pub const TOUCH_TOLERANCE: f64 = 1e-5;
/// Tolerance of a round of impacts \[E6\] \[-\]: the round has settled when no sweep changes a contact by more than this share of the
/// fastest closing speed. It is a hundred rounding errors of single precision. With a larger one lines of touching grains lose energy that
/// they should give back.
pub const IMPACT_TOLERANCE: f64 = 1e-5;
/// Tolerance of the last round of impacts in double precision, as far as the sweeps go \[-\]. Smaller changes are rounding.
pub const IMPACT_PRECISION: f64 = 1e-13;

/// Mobility added in all directions, so that the mobility of a contact with locked axes is invertible, over its trace \[-\]. A larger value
/// weakens the bound on the restitution; with a smaller one the inverse drowns in rounding in the single-precision twin.
const LOCKED_GIVE: f64 = 1e-6;

/// Restitution up to which an impact with friction cannot gain energy \[E6\]: 1/√((n·K n)(n·K⁻¹ n)).
pub fn restitution_limit(mobility: &DMat3, normal: DVec3) -> f64 {
    let scale = mobility.x_axis.x + mobility.y_axis.y + mobility.z_axis.z;
    if scale <= 0.0 {
        return 1.0;
    }
    // Locked axes leave directions in which nothing moves: a small mobility added to all makes K invertible.
    let mobility = *mobility * (1.0 / scale) + DMat3::from_diagonal(DVec3::splat(LOCKED_GIVE));
    let product = normal.dot(mobility * normal) * normal.dot(mobility.inverse() * normal);
    1.0 / product.max(1.0).sqrt()
}
