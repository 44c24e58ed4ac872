//! Cones: the sets of friction and rolling impulses that a contact may carry beside its normal impulse \[E3\], \[E4\]. Twins: `limit` in
//! `shaders/shared/ball.wgsl`.

use glam::{DMat3, DVec3};

/// Set of friction impulses, and of rolling impulses, that a contact may carry \[E3\], \[E4\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
pub enum Cone {
    /// Vectors no longer than the bound: Coulomb's law, a disc of friction and a ball of rolling and twisting.
    #[default]
    Disc,
    /// Vectors no component of which is larger than the bound, along the normal and the two tangents of
    /// [`first_tangent`]. For studies: a body that slides between the tangents is resisted by up to √2 of the bound.
    Box,
}

impl Cone {
    /// Nearest vector within a bound, at a contact with this normal.
    #[inline(always)]
    pub fn project(self, vector: DVec3, bound: f64, normal: DVec3) -> DVec3 {
        match self {
            // Without a branch, as contacts solved four at a time need it; one by one it takes as long as with one. A vector of length zero
            // gives NaN or infinity, which `min` passes over.
            Cone::Disc => vector * (bound / vector.length()).min(1.0),
            Cone::Box if self.holds(vector, bound, normal) => vector,
            Cone::Box => {
                let axes = axes(normal);
                axes * (axes.transpose() * vector).clamp(DVec3::splat(-bound), DVec3::splat(bound))
            }
        }
    }

    /// Whether a vector is within a bound, at a contact with this normal.
    #[inline(always)]
    pub fn holds(self, vector: DVec3, bound: f64, normal: DVec3) -> bool {
        match self {
            Cone::Disc => vector.length_squared() <= bound * bound,
            Cone::Box => self.size(vector, normal) <= bound,
        }
    }

    /// Size of a vector that is compared with a bound: its length, or its largest component.
    pub fn size(self, vector: DVec3, normal: DVec3) -> f64 {
        match self {
            Cone::Disc => vector.length(),
            Cone::Box => (axes(normal).transpose() * vector).abs().max_element(),
        }
    }
}

/// Bound of a part of an impulse, and the part itself, for [`nearest_normal`].
#[derive(Debug, Clone, Copy)]
pub struct BoundedPart {
    /// Slope of the bound: largest length of the part per normal impulse.
    pub slope: f64,
    /// Length of the part.
    pub length: f64,
    /// Weight of its square in the distance; as in [`nearest_normal`].
    pub weight: f64,
}

/// Normal part of the impulse nearest to one with this normal part and these friction and rolling parts, among those no part of which is
/// longer than its bound \[E15\]. Distances weigh the square of the normal part by `weight`, which is positive. The other parts are then
/// shortened to their bounds.
#[inline(always)]
pub fn nearest_normal(normal: f64, weight: f64, mut parts: [BoundedPart; 2]) -> f64 {
    // A part within its bound has no effect on the normal impulse.
    let reached_at = |part: &BoundedPart| if part.slope > 0.0 { part.length / part.slope } else { 0.0 };
    if reached_at(&parts[0]) < reached_at(&parts[1]) {
        parts.swap(0, 1);
    }
    let (mut weighted, mut weight) = (weight * normal, weight);
    for part in &parts {
        if weighted >= weight * reached_at(part) {
            break;
        }
        weighted += part.weight * part.slope * part.length;
        weight += part.weight * part.slope * part.slope;
    }
    (weighted / weight).max(0.0)
}

/// Axes of a contact: the normal and two tangents.
pub fn axes(normal: DVec3) -> DMat3 {
    let first = first_tangent(normal);
    DMat3::from_cols(normal, first, normal.cross(first))
}

/// Horizontal tangent of a contact; for a normal within 26° of the vertical, the tangent in the plane y, z.
pub fn first_tangent(normal: DVec3) -> DVec3 {
    let across = if normal.z.abs() < STEEP_NORMAL { DVec3::Z } else { DVec3::X };
    across.cross(normal).normalize_or_zero()
}

/// Vertical component of a normal from which its tangents no longer follow the horizontal \[-\].
const STEEP_NORMAL: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;

    /// Directions all over the sphere, among them those where the rule for the tangents changes.
    fn normals() -> impl Iterator<Item = DVec3> {
        let heights = [-1.0, -STEEP_NORMAL, -0.5, 0.0, 0.3, STEEP_NORMAL, 0.95, 1.0];
        heights.into_iter().flat_map(|z: f64| {
            (0..12).map(move |i| {
                let (sin, cos) = f64::from(i).sin_cos();
                let across = (1.0 - z * z).sqrt();
                DVec3::new(across * cos, across * sin, z)
            })
        })
    }

    #[test]
    fn the_tangents_of_a_box_are_square_to_the_normal() {
        for normal in normals() {
            let axes = axes(normal);
            let off = axes.transpose() * axes - DMat3::IDENTITY;
            assert!(off.to_cols_array().iter().all(|x| x.abs() < 1e-15), "{normal}: {axes}");
        }
        assert_eq!(first_tangent(DVec3::ZERO), DVec3::ZERO, "a contact that takes no part");
    }

    #[test]
    fn a_disc_limits_the_length_and_a_box_each_component() {
        for normal in normals() {
            let first = first_tangent(normal);
            let vector = 3.0 * first + 0.5 * normal.cross(first);
            let disc = Cone::Disc.project(vector, 1.0, normal);
            assert!((disc - vector.normalize()).length() < 1e-15, "{normal}: {disc}");
            let found = Cone::Box.project(vector, 1.0, normal);
            assert!((found - (first + 0.5 * normal.cross(first))).length() < 1e-15, "{normal}: {found}");
            for cone in [Cone::Disc, Cone::Box] {
                assert_eq!(cone.project(vector, 4.0, normal), vector, "{cone:?}: inside nothing changes");
                assert!(
                    (cone.size(cone.project(vector, 1.0, normal), normal) - 1.0).abs() < 1e-15,
                    "{cone:?}"
                );
            }
        }
    }
}
