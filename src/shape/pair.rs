//! Two convex solids at their places, the second one seen from the first.

use glam::{DMat3, DQuat, DVec3};

use super::convex::Convex;

/// Place of a solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolidPose {
    /// Origin of its frame \[m\].
    pub position: DVec3,
    /// Orientation of its frame.
    pub orientation: DQuat,
    /// Size of the solid over that in its frame \[-\].
    pub scale: f64,
}

/// Two solids, the second one in the frame of the first, with lengths over the scale of the first.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub a: &'a Convex,
    pub b: &'a Convex,
    /// Frame of b.
    pub frame: DMat3,
    /// Origin of b.
    pub origin: DVec3,
    /// Scale of b over that of a \[-\].
    pub scale: f64,
}

impl<'a> Pair<'a> {
    pub fn new(a: &'a Convex, at_a: &SolidPose, b: &'a Convex, at_b: &SolidPose) -> Pair<'a> {
        let back = at_a.orientation.conjugate();
        let frame = DMat3::from_quat(back * at_b.orientation);
        let origin = back * (at_b.position - at_a.position) / at_a.scale;
        Pair { a, b, frame, origin, scale: at_b.scale / at_a.scale }
    }

    /// A point of b in the frame of a.
    #[inline]
    pub fn point_in_a(&self, point: DVec3) -> DVec3 {
        self.origin + self.frame * (self.scale * point)
    }

    /// A point in the frame of b.
    #[inline]
    pub fn point_in_b(&self, point: DVec3) -> DVec3 {
        self.frame.transpose() * (point - self.origin) / self.scale
    }

    /// Sum of the roundings of both.
    pub fn roundings(&self) -> f64 {
        self.a.rounding + self.scale * self.b.rounding
    }

    /// Radius of the smaller of both.
    pub fn size(&self) -> f64 {
        self.a.radius.min(self.scale * self.b.radius)
    }

    /// Distance of the solids along a unit vector from b to a.
    #[inline]
    pub fn along(&self, normal: DVec3) -> f64 {
        let of_b = self.origin.dot(normal) + self.scale * self.b.extent(self.frame.transpose() * normal);
        -self.a.extent(-normal) - of_b
    }

    /// Point of a, without its rounding, that is nearest along a normal from b to a \[m\].
    pub fn point_of_a(&self, normal: DVec3) -> DVec3 {
        self.a.farthest(-normal)
    }

    /// Point of b, without its rounding, that is nearest along a normal from b to a \[m\].
    pub fn point_of_b(&self, normal: DVec3) -> DVec3 {
        self.point_in_a(self.b.farthest(self.frame.transpose() * normal))
    }
}
