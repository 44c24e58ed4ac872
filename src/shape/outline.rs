//! Outline: what a convex solid shows to another along a direction, and how it is seen in the plane of contact.

use glam::{DVec2, DVec3};

use super::convex::{Convex, RIM_SIDES, Revolved, SolidFace};

/// Height up to which corners are the farthest ones, over the radius of the solid \[-\].
const FARTHEST: f64 = 1e-6;

/// What a solid shows to another along a direction: a face, a line or a point, in the frame of solid a.
pub(super) struct ShownOutline {
    pub corners: Vec<DVec3>,
    /// Normal of the face, outwards.
    pub normal: DVec3,
    /// Whether the corners run counter-clockwise around the normal of contact, whatever the normal of the face.
    pub is_circle: bool,
}

/// Plane of contact, with the coordinates of an outline in it.
pub(super) struct ContactPlane {
    pub across: [DVec3; 2],
    pub normal: DVec3,
}

impl ContactPlane {
    pub fn new(normal: DVec3) -> ContactPlane {
        let start = if normal.x.abs() < 0.9 { DVec3::X } else { DVec3::Y };
        let first = (start - start.dot(normal) * normal).normalize();
        ContactPlane { across: [first, normal.cross(first)], normal }
    }

    pub fn flat(&self, point: DVec3) -> DVec2 {
        DVec2::new(point.dot(self.across[0]), point.dot(self.across[1]))
    }

    /// Change of the height of a face with this normal along both axes.
    pub fn slope_of(&self, normal: DVec3) -> DVec2 {
        -self.flat(normal) / normal.dot(self.normal)
    }

    pub fn lift(&self, flat: DVec2, height: f64) -> DVec3 {
        flat.x * self.across[0] + flat.y * self.across[1] + height * self.normal
    }
}

/// An outline seen along the normal.
pub(super) struct FlatOutline {
    pub flat: Vec<DVec2>,
    pub heights: Vec<f64>,
    /// Change of the height along both axes of the plane; zero for a line or a point.
    pub slope: DVec2,
    /// Sign of the sense in which the corners run.
    pub sense: f64,
}

impl FlatOutline {
    pub fn new(outline: &ShownOutline, plane: &ContactPlane, rounding: f64) -> FlatOutline {
        let along = outline.normal.dot(plane.normal);
        let slope = if outline.corners.len() > 2 { plane.slope_of(outline.normal) } else { DVec2::ZERO };
        FlatOutline {
            flat: outline.corners.iter().map(|&corner| plane.flat(corner)).collect(),
            heights: outline.corners.iter().map(|corner| corner.dot(plane.normal) + rounding).collect(),
            slope,
            sense: if outline.is_circle { 1.0 } else { along.signum() },
        }
    }

    /// Height of the face at a place of the plane.
    pub fn height_at(&self, place: DVec2) -> f64 {
        self.heights[0] + self.slope.dot(place - self.flat[0])
    }

    pub fn count(&self) -> usize {
        self.flat.len()
    }

    pub fn side(&self, i: usize) -> [usize; 2] {
        [i, (i + 1) % self.count()]
    }

    /// Number of sides: a line has one.
    pub fn sides(&self) -> usize {
        match self.count() {
            0 | 1 => 0,
            2 => 1,
            count => count,
        }
    }

    /// Height at a place if it lies within the outline, with sides of this width \[m\].
    pub fn height_within(&self, place: DVec2, width: f64) -> Option<f64> {
        if self.count() > 2 {
            let is_within = (0..self.count()).all(|i| {
                let [from, to] = self.side(i).map(|end| self.flat[end]);
                self.sense * (to - from).perp_dot(place - from) >= -width * (to - from).length()
            });
            return is_within.then(|| self.height_at(place));
        }
        if self.count() < 2 {
            return None;
        }
        let line = self.flat[1] - self.flat[0];
        let share = (place - self.flat[0]).dot(line) / line.length_squared();
        let beside = (place - self.flat[0]).perp_dot(line).abs();
        let is_on = (0.0..=1.0).contains(&share) && beside <= LINE_WIDTH * line.length_squared();
        is_on.then(|| self.heights[0] + share * (self.heights[1] - self.heights[0]))
    }
}

/// Width of a line over its length \[-\]: two lines side by side within it lie on each other.
const LINE_WIDTH: f64 = 1e-4;

/// Whether the face that looks along a direction is a circle.
pub(super) fn shows_circle(solid: &Convex, along: DVec3) -> bool {
    let outward = along.truncate().normalize_or(DVec2::X);
    solid.round.as_ref().is_some_and(|round| shows_cap(round, along, outward))
}

/// Normal of the face that looks along a direction; the direction itself for a line or a point.
pub(super) fn facing(solid: &Convex, along: DVec3) -> DVec3 {
    if let Some(round) = &solid.round {
        let outward = along.truncate().normalize_or(DVec2::X);
        return match shows_cap(round, along, outward) {
            true => along.z.signum() * DVec3::Z,
            false => round.side_normal(outward),
        };
    }
    facing_face(solid, along).map_or(along, |face| face.normal)
}

/// Face of a solid with flat faces that looks along a direction: of the faces with the most of the farthest corners the one that looks
/// most that way.
pub(super) fn facing_face(solid: &Convex, along: DVec3) -> Option<&SolidFace> {
    let least = solid.extent(along) - solid.rounding - FARTHEST * solid.radius;
    let mut best: Option<(usize, f64, &SolidFace)> = None;
    for face in &solid.faces {
        let towards = face.normal.dot(along);
        // Of the faces with a farthest corner or edge one looks that way.
        if towards <= 0.0 {
            continue;
        }
        let count = solid.face_corners(face).filter(|corner| corner.dot(along) >= least).count();
        if best.is_none_or(|(most, nearest, _)| count > most || (count == most && towards > nearest)) {
            best = Some((count, towards, face));
        }
    }
    best.map(|(.., face)| face)
}

/// Whether a truncated cone shows a cap along a direction.
pub(super) fn shows_cap(round: &Revolved, along: DVec3, outward: DVec2) -> bool {
    let (radius, _) = round.cap(along.z > 0.0);
    radius > 0.0 && along.z.abs() >= round.side_normal(outward).dot(along)
}

/// Outline that a solid shows along a direction, in its frame. `rim` gives directions in the plane of contact, in which the corners of a
/// circle lie.
pub(super) fn outline(
    solid: &Convex,
    along: DVec3,
    rim: impl Fn() -> [DVec3; RIM_SIDES as usize],
) -> ShownOutline {
    let is_circle = shows_circle(solid, along);
    let (normal, corners) = match &solid.round {
        Some(round) if is_circle => {
            let (radius, height) = round.cap(along.z > 0.0);
            let corner =
                |direction: DVec3| (radius * direction.truncate().normalize_or(DVec2::X)).extend(height);
            (facing(solid, along), rim().map(corner).to_vec())
        }
        Some(round) => {
            let outward = along.truncate().normalize_or(DVec2::X);
            (facing(solid, along), round.side_line(outward).to_vec())
        }
        None => match facing_face(solid, along) {
            Some(face) => (face.normal, solid.face_corners(face).collect()),
            None => (along, solid.corners.clone()),
        },
    };
    ShownOutline { corners, normal, is_circle }
}
