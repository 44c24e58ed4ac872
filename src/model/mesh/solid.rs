//! Volume, centre and moments of inertia of the solid inside a closed mesh.

use glam::{DMat3, DVec3};

use super::Mesh;

/// Integrals over the solid inside a closed mesh, of density 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solid {
    /// Volume \[m³\]; negative where the normals point inwards.
    pub volume: f64,
    /// Centre of mass \[m\].
    pub centre: DVec3,
    /// Inertia about the centre \[m⁵\].
    pub inertia: DMat3,
}

impl Mesh {
    /// The solid inside; of a mesh that is not closed the numbers mean nothing. Sums over the tetrahedra between the triangles and
    /// the middle of the mesh (Tonon, J. Math. Stat. 1, 8 (2004)).
    pub fn solid(&self) -> Solid {
        let [low, high] = self.bounds();
        let origin = low.midpoint(high);
        let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for triangle in 0..self.triangles.len() {
            let [a, b, c] = self.corners(triangle).map(|corner| corner - origin);
            let share = a.dot(b.cross(c)) / 6.0;
            let sum = a + b + c;
            volume += share;
            first += share / 4.0 * sum;
            // ∫ x xᵀ over a tetrahedron with a corner in the origin.
            let corners = [a, b, c, sum].map(outer);
            second += share / 20.0 * (corners[0] + corners[1] + corners[2] + corners[3]);
        }
        let centre = first / volume;
        let about_centre = second - volume * outer(centre);
        let trace = about_centre.x_axis.x + about_centre.y_axis.y + about_centre.z_axis.z;
        let inertia = trace * DMat3::IDENTITY - about_centre;
        Solid { volume, centre: origin + centre, inertia }
    }
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v.x * v, v.y * v, v.z * v)
}

#[cfg(test)]
mod tests {
    use super::super::samples::box_triangles;
    use super::*;

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
