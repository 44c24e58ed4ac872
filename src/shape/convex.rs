//! A convex solid in its own frame: corners, faces, edges, and the farthest point along a direction.

use glam::{DVec2, DVec3};

/// Number of points on the rims of a cylinder or cone that stand for its circle in the search for an axis. Distances are those of the
/// circle.
pub const RIM_SIDES: u32 = 16;

/// Face of a convex solid.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct SolidFace {
    /// Normal, outwards.
    pub normal: DVec3,
    /// Distance of the plane of the face from the origin along the normal \[m\].
    pub offset: f64,
    /// Index of its first corner in [`Convex::loops`].
    pub first: u32,
    /// Number of corners.
    pub count: u32,
}

/// Edge of a convex solid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct SolidEdge {
    /// Indices of its corners, counter-clockwise around its first face.
    pub ends: [u32; 2],
    /// Indices of the faces that meet there; `None` for the line of a capsule.
    pub faces: Option<[u32; 2]>,
}

/// A truncated cone about z, whose rims are circles.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Revolved {
    /// Radius at z = -`half_length` \[m\].
    pub bottom_radius: f64,
    /// Radius at z = `half_length` \[m\].
    pub top_radius: f64,
    /// Half the length along z \[m\].
    pub half_length: f64,
}

/// A convex solid: the hull of its corners or a truncated cone, with a ball of radius `rounding` swept over it.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Convex {
    /// Corners \[m\]; of a truncated cone points on its rims.
    pub corners: Vec<DVec3>,
    /// Faces; none for a line or a point.
    pub faces: Vec<SolidFace>,
    /// Indices of the corners of all faces, face by face, counter-clockwise seen from outside.
    pub loops: Vec<u32>,
    /// Edges.
    pub edges: Vec<SolidEdge>,
    /// The truncated cone that the corners stand for, if it is one.
    pub round: Option<Revolved>,
    /// Radius of the ball that is swept over the solid \[m\].
    pub rounding: f64,
    /// Middle of the solid \[m\].
    pub middle: DVec3,
    /// Distance of its farthest point from the middle \[m\].
    pub radius: f64,
}

impl Revolved {
    /// Point of the rims farthest along a direction \[m\].
    #[inline]
    fn farthest(&self, along: DVec3) -> DVec3 {
        let across = along.truncate().length();
        let top = self.top_radius * across + self.half_length * along.z;
        let bottom = self.bottom_radius * across - self.half_length * along.z;
        let outward = if across > 0.0 { along.truncate() / across } else { DVec2::X };
        let (radius, height) = self.cap(top >= bottom);
        (radius * outward).extend(height)
    }

    /// Radius and height of the top or the bottom rim \[m\].
    pub fn cap(&self, is_top: bool) -> (f64, f64) {
        if is_top { (self.top_radius, self.half_length) } else { (self.bottom_radius, -self.half_length) }
    }

    /// Normal of the side at an outward direction in the plane of the rims.
    pub fn side_normal(&self, outward: DVec2) -> DVec3 {
        let slope = self.bottom_radius - self.top_radius;
        (2.0 * self.half_length * outward).extend(slope).normalize()
    }

    /// Line on the side, from the bottom rim to the top rim, at an outward direction \[m\].
    pub fn side_line(&self, outward: DVec2) -> [DVec3; 2] {
        [
            (self.bottom_radius * outward).extend(-self.half_length),
            (self.top_radius * outward).extend(self.half_length),
        ]
    }
}

impl Convex {
    /// Point farthest along a direction, without the rounding \[m\].
    #[inline]
    pub fn farthest(&self, along: DVec3) -> DVec3 {
        if let Some(round) = &self.round {
            return round.farthest(along);
        }
        let mut best = (f64::NEG_INFINITY, 0);
        for (i, corner) in self.corners.iter().enumerate() {
            let height = corner.dot(along);
            best = if height > best.0 { (height, i) } else { best };
        }
        self.corners.get(best.1).copied().unwrap_or(DVec3::ZERO)
    }

    /// Extent of the solid from its origin along a unit direction, with the rounding \[m\].
    #[inline]
    pub fn extent(&self, along: DVec3) -> f64 {
        let core = match &self.round {
            Some(round) => round.farthest(along).dot(along),
            None => self.corners.iter().map(|corner| corner.dot(along)).fold(f64::NEG_INFINITY, f64::max),
        };
        core + self.rounding
    }

    /// Indices of the corners of a face, counter-clockwise seen from outside.
    pub fn face_loop(&self, face: &SolidFace) -> &[u32] {
        &self.loops[face.first as usize..(face.first + face.count) as usize]
    }

    /// Corners of a face \[m\].
    pub fn face_corners(&self, face: &SolidFace) -> impl Iterator<Item = DVec3> + Clone + '_ {
        self.face_loop(face).iter().map(|&corner| self.corners[corner as usize])
    }

    /// Triangles that the faces are made of, face by face, counter-clockwise seen from outside \[m\].
    pub fn triangles(&self) -> impl Iterator<Item = [DVec3; 3]> + '_ {
        self.faces.iter().flat_map(|face| {
            let mut rest = self.face_corners(face);
            let first = rest.next().unwrap_or_default();
            rest.clone().zip(rest.skip(1)).map(move |(one, other)| [first, one, other])
        })
    }

    /// Whether the solid is a polygon, with a face on each side.
    pub fn is_flat(&self) -> bool {
        self.faces.len() == 2
    }

    /// Signed distance of a point from the faces, as the largest over all of them \[m\]: exact inside, a lower bound outside.
    pub fn height_over_faces(&self, point: DVec3) -> f64 {
        self.faces.iter().map(|face| face.normal.dot(point) - face.offset).fold(f64::NEG_INFINITY, f64::max)
            - self.rounding
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rims_of_a_cylinder_are_circles() {
        let cylinder = Convex::cone(0.5, 0.5, 2.0);
        for i in 0..100 {
            let (sin, cos) = (0.1 * f64::from(i)).sin_cos();
            assert!((cylinder.extent(DVec3::new(cos, sin, 0.0)) - 0.5).abs() < 1e-15);
            let point = cylinder.farthest(DVec3::new(cos, sin, -1e-9));
            assert!((point - DVec3::new(0.5 * cos, 0.5 * sin, -1.0)).length() < 1e-12);
        }
    }

    #[test]
    fn a_capsule_reaches_its_radius_beyond_its_line() {
        let capsule = Convex::capsule(0.2, 1.0);
        assert!((capsule.extent(DVec3::Z) - 0.7).abs() < 1e-15);
        assert!((capsule.extent(DVec3::X) - 0.2).abs() < 1e-15);
    }
}
