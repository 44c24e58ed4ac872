//! Outline: what a convex solid shows to another along a direction, and how it is seen in the plane of contact.

use glam::{DVec2, DVec3};

use super::convex::{Convex, RIM_SIDES, Revolved, SolidFace};

/// Height up to which corners are the farthest ones, over the radius of the solid \[-\].
const FARTHEST: f64 = 1e-6;

/// What a solid shows to another along a direction, in its frame.
pub(super) struct Facing<'s> {
    /// Normal of the face that looks there, outwards; the direction itself for a line or a point.
    pub normal: DVec3,
    shows: Shown<'s>,
}

/// Part of a solid that looks along a direction.
enum Shown<'s> {
    /// The rim of this radius at this height \[m\]. Its corners run counter-clockwise around the normal of contact, whatever the normal of
    /// the face.
    Circle(f64, f64),
    /// A line on the side of a truncated cone.
    Side([DVec3; 2]),
    /// A face.
    Face(&'s SolidFace),
    /// All corners of a line or a point.
    All,
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

/// Corner of an outline, seen along the normal.
#[derive(Clone, Copy)]
pub(super) struct FlatCorner {
    pub place: DVec2,
    pub height: f64,
}

/// An outline seen along the normal.
pub(super) struct FlatOutline {
    pub corners: Vec<FlatCorner>,
    /// Change of the height along both axes of the plane; zero for a line or a point.
    pub slope: DVec2,
    /// Sign of the sense in which the corners run.
    pub sense: f64,
}

impl FlatOutline {
    /// The outline that a solid shows. `rim` gives directions in the plane of contact, in which the corners of a circle lie, in the frame
    /// of the solid; `point` and `turn` take points and directions from there to the frame of solid a.
    pub fn new(
        (solid, facing): (&Convex, &Facing<'_>),
        rim: impl Fn() -> [DVec3; RIM_SIDES as usize],
        [point, turn]: [&dyn Fn(DVec3) -> DVec3; 2],
        (plane, rounding): (&ContactPlane, f64),
    ) -> FlatOutline {
        let seen = |corner: DVec3| {
            let corner = point(corner);
            FlatCorner { place: plane.flat(corner), height: corner.dot(plane.normal) + rounding }
        };
        let normal = turn(facing.normal);
        let (corners, is_circle): (Vec<FlatCorner>, bool) = match &facing.shows {
            Shown::Circle(radius, height) => {
                let corner =
                    |direction: DVec3| (radius * direction.truncate().normalize_or(DVec2::X)).extend(*height);
                (rim().map(|direction| seen(corner(direction))).to_vec(), true)
            }
            Shown::Side(line) => (line.map(seen).to_vec(), false),
            Shown::Face(face) => (solid.face_corners(face).map(seen).collect(), false),
            Shown::All => (solid.corners.iter().copied().map(seen).collect(), false),
        };
        let slope = if corners.len() > 2 { plane.slope_of(normal) } else { DVec2::ZERO };
        let sense = if is_circle { 1.0 } else { normal.dot(plane.normal).signum() };
        FlatOutline { corners, slope, sense }
    }

    /// Height of the face at a place of the plane.
    pub fn height_at(&self, place: DVec2) -> f64 {
        self.corners[0].height + self.slope.dot(place - self.corners[0].place)
    }

    pub fn count(&self) -> usize {
        self.corners.len()
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
                let [from, to] = self.side(i).map(|end| self.corners[end].place);
                let inwards = self.sense * (to - from).perp_dot(place - from);
                inwards >= 0.0 || inwards >= -width * (to - from).length()
            });
            return is_within.then(|| self.height_at(place));
        }
        if self.count() < 2 {
            return None;
        }
        let [from, to] = [self.corners[0], self.corners[1]];
        let line = to.place - from.place;
        let share = (place - from.place).dot(line) / line.length_squared();
        let beside = (place - from.place).perp_dot(line).abs();
        let is_on = (0.0..=1.0).contains(&share) && beside <= LINE_WIDTH * line.length_squared();
        is_on.then_some(from.height + share * (to.height - from.height))
    }
}

/// Width of a line over its length \[-\]: two lines side by side within it lie on each other.
const LINE_WIDTH: f64 = 1e-4;

/// What a solid shows along a direction.
pub(super) fn facing(solid: &Convex, along: DVec3) -> Facing<'_> {
    if let Some(round) = &solid.round {
        let outward = along.truncate().normalize_or(DVec2::X);
        if shows_cap(round, along, outward) {
            let (radius, height) = round.cap(along.z > 0.0);
            return Facing { normal: along.z.signum() * DVec3::Z, shows: Shown::Circle(radius, height) };
        }
        return Facing { normal: round.side_normal(outward), shows: Shown::Side(round.side_line(outward)) };
    }
    match facing_face(solid, along) {
        Some(face) => Facing { normal: face.normal, shows: Shown::Face(face) },
        None => Facing { normal: along, shows: Shown::All },
    }
}

/// Face of a solid with flat faces that looks along a direction: of the faces with the most of the farthest corners the one that looks
/// most that way.
fn facing_face(solid: &Convex, along: DVec3) -> Option<&SolidFace> {
    let least = solid.extent(along) - solid.rounding - FARTHEST * solid.radius;
    let is_farthest = |corner: usize| solid.corners[corner].dot(along) >= least;
    // The farthest of the first corners, as bits.
    let first = solid.corners.len().min(u64::BITS as usize);
    let farthest =
        (0..first).fold(0_u64, |farthest, corner| farthest | u64::from(is_farthest(corner)) << corner);
    let counts = |corner: u32| match corner {
        0..u64::BITS => farthest >> corner & 1 == 1,
        _ => is_farthest(corner as usize),
    };
    let mut best: Option<(usize, f64, &SolidFace)> = None;
    for face in &solid.faces {
        let towards = face.normal.dot(along);
        // Of the faces with a farthest corner or edge one looks that way.
        if towards <= 0.0 {
            continue;
        }
        let loops = &solid.loops[face.first as usize..(face.first + face.count) as usize];
        let count = loops.iter().filter(|&&corner| counts(corner)).count();
        if best.is_none_or(|(most, nearest, _)| count > most || (count == most && towards > nearest)) {
            best = Some((count, towards, face));
        }
    }
    best.map(|(.., face)| face)
}

/// Whether a truncated cone shows a cap along a direction.
fn shows_cap(round: &Revolved, along: DVec3, outward: DVec2) -> bool {
    let (radius, _) = round.cap(along.z > 0.0);
    radius > 0.0 && along.z.abs() >= round.side_normal(outward).dot(along)
}
