//! Volume, centre and moments of inertia of solids: of forms, of closed meshes, and of several solids together.

use std::f64::consts::PI;

use glam::{DMat3, DQuat, DVec3};

use super::rigid::principal;
use super::{Form, Mesh, RigidBody, sphere_volume};
use crate::shape::Convex;

/// Integrals over a solid of density 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solid {
    /// Volume \[m³\]; negative where the normals point inwards.
    pub volume: f64,
    /// Centre of mass \[m\].
    pub centre: DVec3,
    /// Inertia about the centre \[m⁵\].
    pub inertia: DMat3,
}

impl Solid {
    /// The empty solid.
    pub const NONE: Solid = Solid { volume: 0.0, centre: DVec3::ZERO, inertia: DMat3::ZERO };

    /// The solid of a form in its own frame; `None` for a form that is not solid, and for a patch of a mesh.
    pub fn of(form: Form) -> Option<Solid> {
        let about_z = |volume: f64, height: f64, across: f64, along: f64| Solid {
            volume,
            centre: height * DVec3::Z,
            inertia: DMat3::from_diagonal(DVec3::new(across, across, along)),
        };
        match form {
            Form::Box { .. } | Form::Sphere { .. } => {
                let body = RigidBody::solid(form, 1.0)?;
                let inertia = DMat3::from_diagonal(body.moments);
                Some(Solid { volume: body.mass, centre: DVec3::ZERO, inertia })
            }
            Form::Solid { bottom_radius, top_radius, length } => {
                let [volume, height, across, along] = frustum(bottom_radius, top_radius, length);
                Some(about_z(volume, height, across, along))
            }
            Form::Capsule { radius, length } => {
                let (tube, ball) = (PI * radius * radius * length, sphere_volume(radius));
                let square = radius * radius;
                // Each half ball is 3/8 of the radius beyond its end of the tube.
                let end = 0.5 * length;
                let across = tube * (square / 4.0 + length * length / 12.0)
                    + ball * (0.4 * square + end * end + 0.75 * radius * end);
                Some(about_z(tube + ball, 0.0, across, tube * square / 2.0 + 0.4 * ball * square))
            }
            Form::Plane | Form::Disc { .. } | Form::Wall { .. } | Form::Patch { .. } => None,
        }
    }

    /// Returns the solid moved to `position` \[m\] and turned by `orientation`.
    #[must_use]
    pub fn placed(&self, position: DVec3, orientation: DQuat) -> Solid {
        let frame = DMat3::from_quat(orientation);
        Solid {
            volume: self.volume,
            centre: position + orientation * self.centre,
            inertia: frame * self.inertia * frame.transpose(),
        }
    }

    /// Returns both solids together; where they overlap, the volume counts twice.
    #[must_use]
    pub fn and(&self, other: &Solid) -> Solid {
        let volume = self.volume + other.volume;
        let centre = (self.volume * self.centre + other.volume * other.centre) / volume;
        let about = |solid: &Solid| {
            let arm = solid.centre - centre;
            solid.inertia + solid.volume * (arm.length_squared() * DMat3::IDENTITY - outer(arm, arm))
        };
        Solid { volume, centre, inertia: about(self) + about(other) }
    }

    /// Returns a body of this density \[kg/m³\] at rest, and the rotation from its principal axes to the axes of the solid.
    pub fn body(&self, density: f64) -> (RigidBody, DQuat) {
        let (moments, axes) = principal(density * self.inertia);
        (RigidBody::at_rest(density * self.volume, moments), axes)
    }
}

/// Volume \[m³\], height of the centre above the middle \[m\], and moments across and along the axis \[m⁵\] of a truncated cone.
fn frustum(bottom: f64, top: f64, length: f64) -> [f64; 4] {
    // Moments of r² over the length, with r = bottom + (top - bottom) t.
    let slope = top - bottom;
    let square = |weight: [f64; 3]| {
        length * (bottom * bottom * weight[0] + 2.0 * bottom * slope * weight[1] + slope * slope * weight[2])
    };
    let volume = PI * square([1.0, 1.0 / 2.0, 1.0 / 3.0]);
    let first = PI * length * square([1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0]);
    let second = PI * length * length * square([1.0 / 3.0, 1.0 / 4.0, 1.0 / 5.0]);
    let fourth: f64 = (0..5).map(|i| bottom.powi(i) * top.powi(4 - i)).sum::<f64>() / 5.0;
    let along = 0.5 * PI * length * fourth;
    let height = first / volume;
    [volume, height - 0.5 * length, 0.5 * along + second - volume * height * height, along]
}

impl Solid {
    /// The solid inside triangles that face outwards, as a sum over the tetrahedra between the triangles and a point in their middle
    /// (Tonon, J. Math. Stat. 1, 8 (2004)). Without meaning for triangles that are not closed.
    fn inside(triangles: impl Iterator<Item = [DVec3; 3]>, origin: DVec3) -> Solid {
        let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for triangle in triangles {
            let [a, b, c] = triangle.map(|corner| corner - origin);
            let share = a.dot(b.cross(c)) / 6.0;
            let sum = a + b + c;
            volume += share;
            first += share / 4.0 * sum;
            // ∫ x xᵀ over a tetrahedron with a corner in the origin.
            let corners = [a, b, c, sum].map(|corner| outer(corner, corner));
            second += share / 20.0 * (corners[0] + corners[1] + corners[2] + corners[3]);
        }
        let centre = first / volume;
        let about_centre = second - volume * outer(centre, centre);
        let trace = about_centre.x_axis.x + about_centre.y_axis.y + about_centre.z_axis.z;
        let inertia = trace * DMat3::IDENTITY - about_centre;
        Solid { volume, centre: origin + centre, inertia }
    }

    /// The solid of a convex polyhedron.
    pub fn of_hull(hull: &Convex) -> Solid {
        Solid::inside(hull.triangles(), hull.middle)
    }
}

impl Mesh {
    /// Solid inside the mesh. Without meaning for a mesh that is not closed.
    pub fn solid(&self) -> Solid {
        let [low, high] = self.bounds();
        Solid::inside((0..self.triangles.len()).map(|triangle| self.corners(triangle)), low.midpoint(high))
    }
}

/// Outer product a bᵀ.
#[inline]
pub(crate) fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

#[cfg(test)]
mod tests {
    use super::super::mesh::samples::box_triangles;
    use super::*;

    fn close(one: &Solid, other: &Solid, tolerance: f64) -> bool {
        let apart = (one.inertia - other.inertia).to_cols_array();
        let size = other.inertia.to_cols_array().iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        (one.volume - other.volume).abs() <= tolerance * other.volume
            && one.centre.distance(other.centre) <= tolerance
            && apart.iter().all(|x| x.abs() <= tolerance * size)
    }

    /// A solid of revolution as the sum of thin slices across its axis, with this radius over the height.
    fn sliced(radius: impl Fn(f64) -> f64, from: f64, until: f64) -> Solid {
        let slices = 4000;
        let thick = (until - from) / f64::from(slices);
        let slice = |i: i32| {
            let height = from + (f64::from(i) + 0.5) * thick;
            let half = radius(height);
            let form = Form::Solid { bottom_radius: half, top_radius: half, length: thick };
            Solid::of(form).map_or(Solid::NONE, |solid| solid.placed(height * DVec3::Z, DQuat::IDENTITY))
        };
        (0..slices)
            .map(slice)
            .filter(|slice| slice.volume > 0.0)
            .fold(Solid::NONE, |sum, slice| sum.and(&slice))
    }

    #[test]
    fn a_cone_and_a_capsule_are_the_sums_of_their_slices() {
        let cone = Form::Solid { bottom_radius: 0.3, top_radius: 0.1, length: 0.7 };
        let of_slices = sliced(|height| 0.3 - 0.2 * (height + 0.35) / 0.7, -0.35, 0.35);
        assert!(close(&Solid::of(cone).expect("a solid"), &of_slices, 1e-6));
        let capsule = Form::Capsule { radius: 0.2, length: 0.5 };
        let radius = |height: f64| (0.04 - (height.abs() - 0.25).max(0.0).powi(2)).max(0.0).sqrt();
        assert!(close(&Solid::of(capsule).expect("a solid"), &sliced(radius, -0.45, 0.45), 1e-5));
        let wrong = Form::Capsule { radius: 0.2, length: 0.51 };
        assert!(!close(&Solid::of(wrong).expect("a solid"), &sliced(radius, -0.45, 0.45), 1e-5));
    }

    #[test]
    fn two_halves_of_a_box_are_the_box() {
        let half = Solid::of(Form::Box { half: DVec3::new(0.1, 0.2, 0.3) }).expect("a solid");
        let whole = Solid::of(Form::Box { half: DVec3::new(0.2, 0.2, 0.3) }).expect("a solid");
        let (turn, at) = (DQuat::from_scaled_axis(DVec3::new(0.3, -0.2, 0.9)), DVec3::new(1.0, 2.0, 3.0));
        let [left, right] = [-0.1, 0.1].map(|x| half.placed(at + turn * (x * DVec3::X), turn));
        assert!(close(&left.and(&right), &whole.placed(at, turn), 1e-12));
        let (body, axes) = left.and(&right).body(1000.0);
        approx::assert_relative_eq!(body.mass, 1000.0 * whole.volume, max_relative = 1e-12);
        let back =
            DMat3::from_quat(axes) * DMat3::from_diagonal(body.moments) * DMat3::from_quat(axes).transpose();
        let apart = back - 1000.0 * whole.placed(at, turn).inertia;
        assert!(apart.to_cols_array().iter().all(|x| x.abs() < 1e-9), "{apart}");
    }

    #[test]
    fn a_box_has_the_volume_centre_and_moments_of_the_textbook() {
        let (half, shift) = (DVec3::new(0.1, 0.2, 0.35), DVec3::new(3.0, -1.0, 2.0));
        let triangles: Vec<_> =
            box_triangles(half).into_iter().map(|corners| corners.map(|corner| corner + shift)).collect();
        let solid = Mesh::new("box", &triangles).expect("a mesh").solid();
        let volume = 8.0 * half.element_product();
        approx::assert_relative_eq!(solid.volume, volume, max_relative = 1e-12);
        assert!((solid.centre - shift).length() < 1e-12);
        let square = half * half;
        let moments = volume / 3.0 * (DVec3::splat(square.element_sum()) - square);
        let expected = DMat3::from_diagonal(moments);
        assert!((solid.inertia - expected).to_cols_array().iter().all(|x| x.abs() < 1e-14 * volume.max(1.0)));
    }
}
