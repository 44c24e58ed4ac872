//! Manifold: the points at which two convex solids touch along the axis that separates them.
//!
//! Each solid shows the other the face (or line, or point) that looks at it. Seen along the normal these two outlines overlap; the gap is
//! linear over the overlap, so its corners hold all that two faces can do to each other: corners of one outline within the other, and
//! crossings of their sides. Of more corners than [`MOST_POINTS`] those are kept that lie farthest along so many directions, the deepest
//! before others. The place of a point in the list is its direction, fixed to the first solid, so that an impulse finds its point again in
//! the next step. Around a circular face the directions start at its deepest point, or, where it lies flat, on the side to which it hangs
//! over.

use glam::{DVec2, DVec3};

use super::convex::{Convex, Face, RIM_SIDES, Revolved};
use super::separation::{Axis, Pair, Placement};

/// Largest number of points of a manifold: the overlap of two rectangles has at most eight corners.
pub const MOST_POINTS: usize = 8;

/// Weight of the depth of a point beside its distance along a direction \[-\].
const DEPTH_WEIGHT: f64 = 5.0;
/// Distance of two corners that count as one, over the smaller of the two solids \[-\].
const SAME: f64 = 1e-3;
/// Width of the sides of an outline, over the smaller of the two solids \[-\]: corners on a side lie within.
const WIDTH: f64 = 1e-9;
/// Height up to which corners are the farthest ones, over the radius of the solid \[-\].
const FARTHEST: f64 = 1e-6;
/// Tilt of a circular face from which its deepest point comes first \[rad\]. Below, rounding would turn the directions from step to step.
const TILT: f64 = 1e-3;
/// Distance by which a circular face is beside another from which the directions start there, over the smaller solid \[-\].
const OVERHANG: f64 = 1e-2;
/// Angle of the first direction from the first axis of the plane of contact \[rad\]: no symmetry of a rectangle.
const FIRST_DIRECTION: f64 = 0.58;

/// Point of a manifold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ManifoldPoint {
    /// Gap between the surfaces along the normal, negative where they overlap \[m\].
    pub gap: f64,
    /// Middle of the gap or overlap \[m\].
    pub point: DVec3,
}

/// Contact of two solids.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Manifold {
    /// Normal, from the second solid to the first.
    pub normal: DVec3,
    /// Points by direction; those of no use are left out.
    pub points: [Option<ManifoldPoint>; MOST_POINTS],
}

impl Manifold {
    /// The deepest point.
    pub fn deepest(&self) -> Option<&ManifoldPoint> {
        self.points.iter().flatten().min_by(|a, b| a.gap.total_cmp(&b.gap))
    }
}

/// What a solid shows to another along a direction: a face, a line or a point, in the frame of solid a.
struct Outline {
    corners: Vec<DVec3>,
    /// Normal of the face, outwards.
    normal: DVec3,
}

/// Plane of contact, with the coordinates of an outline in it.
struct Plane {
    across: [DVec3; 2],
    normal: DVec3,
}

impl Plane {
    fn new(normal: DVec3) -> Plane {
        let start = if normal.x.abs() < 0.9 { DVec3::X } else { DVec3::Y };
        let first = (start - start.dot(normal) * normal).normalize();
        Plane { across: [first, normal.cross(first)], normal }
    }

    fn flat(&self, point: DVec3) -> DVec2 {
        DVec2::new(point.dot(self.across[0]), point.dot(self.across[1]))
    }

    /// Change of the height of a face with this normal along both axes.
    fn slope_of(&self, normal: DVec3) -> DVec2 {
        -self.flat(normal) / normal.dot(self.normal)
    }

    fn lift(&self, flat: DVec2, height: f64) -> DVec3 {
        flat.x * self.across[0] + flat.y * self.across[1] + height * self.normal
    }
}

/// An outline seen along the normal.
struct Seen {
    flat: Vec<DVec2>,
    heights: Vec<f64>,
    /// Change of the height along both axes of the plane; zero for a line or a point.
    slope: DVec2,
    /// Sign of the sense in which the corners run.
    sense: f64,
}

impl Seen {
    fn new(outline: &Outline, plane: &Plane, rounding: f64) -> Seen {
        let along = outline.normal.dot(plane.normal);
        let slope = if outline.corners.len() > 2 { plane.slope_of(outline.normal) } else { DVec2::ZERO };
        Seen {
            flat: outline.corners.iter().map(|&corner| plane.flat(corner)).collect(),
            heights: outline.corners.iter().map(|corner| corner.dot(plane.normal) + rounding).collect(),
            slope,
            sense: along.signum(),
        }
    }

    /// Height of the face at a place of the plane.
    fn height_at(&self, place: DVec2) -> f64 {
        self.heights[0] + self.slope.dot(place - self.flat[0])
    }

    fn count(&self) -> usize {
        self.flat.len()
    }

    fn side(&self, i: usize) -> [usize; 2] {
        [i, (i + 1) % self.count()]
    }

    /// Number of sides: a line has one.
    fn sides(&self) -> usize {
        match self.count() {
            0 | 1 => 0,
            2 => 1,
            count => count,
        }
    }

    /// Height at a place if it lies within the outline, with sides of this width \[m\].
    fn height_within(&self, place: DVec2, width: f64) -> Option<f64> {
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

/// Choice of the points that lie farthest along the directions.
struct Choice {
    directions: [DVec2; MOST_POINTS],
    best: [(f64, DVec2, f64, f64); MOST_POINTS],
    reach: f64,
}

impl Choice {
    fn new(first: f64, reach: f64) -> Choice {
        let direction =
            |i: usize| DVec2::from_angle(first + std::f64::consts::TAU * i as f64 / MOST_POINTS as f64);
        let none = (f64::NEG_INFINITY, DVec2::ZERO, 0.0, 0.0);
        Choice { directions: std::array::from_fn(direction), best: [none; MOST_POINTS], reach }
    }

    /// Considers a place of the plane at which the surfaces have these heights \[m\].
    fn take(&mut self, place: DVec2, height_a: f64, height_b: f64) {
        let gap = height_a - height_b;
        if gap > self.reach {
            return;
        }
        for (direction, best) in self.directions.iter().zip(&mut self.best) {
            let score = direction.dot(place) - DEPTH_WEIGHT * gap;
            if score > best.0 {
                *best = (score, place, height_a, height_b);
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.best[0].0 == f64::NEG_INFINITY
    }

    /// The chosen points, each once.
    fn points(&self, plane: &Plane, same: f64) -> [Option<ManifoldPoint>; MOST_POINTS] {
        let is_first = |i: usize| {
            let place = self.best[i].1;
            self.best[..i].iter().all(|other| other.1.distance_squared(place) > same * same)
        };
        std::array::from_fn(|i| {
            let (_, place, height_a, height_b) = self.best[i];
            let point = || ManifoldPoint {
                gap: height_a - height_b,
                point: plane.lift(place, height_a.midpoint(height_b)),
            };
            (!self.is_empty() && is_first(i)).then(point)
        })
    }
}

/// The manifold of two solids; `None` if they are farther apart than `reach` \[m\].
pub fn meet(a: &Convex, at_a: &Placement, b: &Convex, at_b: &Placement, reach: f64) -> Option<Manifold> {
    let pair = Pair::new(a, at_a, b, at_b);
    let axis = pair.axis(reach)?;
    Some(in_world(manifold_along(&pair, &axis, reach), at_a))
}

/// The manifold of two solids along a given normal from b to a; `None` if they are farther apart along it than `reach` \[m\].
pub fn meet_along(
    a: &Convex,
    at_a: &Placement,
    b: &Convex,
    at_b: &Placement,
    normal: DVec3,
    reach: f64,
) -> Option<Manifold> {
    let pair = Pair::new(a, at_a, b, at_b);
    let normal = at_a.orientation.conjugate() * normal;
    let axis = Axis { normal, separation: pair.along(normal) };
    (axis.separation <= reach).then(|| in_world(manifold_along(&pair, &axis, reach), at_a))
}

/// The manifold of a solid and a half space with this outward normal, whose surface is at `height` along the normal \[m\].
pub fn meet_half_space(
    a: &Convex,
    at_a: &Placement,
    normal: DVec3,
    height: f64,
    reach: f64,
) -> Option<Manifold> {
    let back = at_a.orientation.conjugate();
    let (normal, height) = (back * normal, height - at_a.position.dot(normal));
    if -a.extent(-normal) - height > reach {
        return None;
    }
    let plane = Plane::new(normal);
    let first = match shows_circle(a, -normal) {
        true => first_direction(plane.slope_of(facing(a, -normal)), DVec2::ZERO),
        false => FIRST_DIRECTION,
    };
    let outline = outline(a, -normal, plane.lift(DVec2::from_angle(first), 0.0));
    let seen = Seen::new(&outline, &plane, -a.rounding);
    let mut choice = Choice::new(first, reach);
    for (&place, &own) in seen.flat.iter().zip(&seen.heights) {
        choice.take(place, own, height);
    }
    let points = choice.points(&plane, SAME * a.radius);
    Some(in_world(Manifold { normal, points }, at_a))
}

fn in_world(manifold: Manifold, at: &Placement) -> Manifold {
    let moved =
        |point: ManifoldPoint| ManifoldPoint { point: at.position + at.orientation * point.point, ..point };
    Manifold {
        normal: at.orientation * manifold.normal,
        points: manifold.points.map(|point| point.map(moved)),
    }
}

/// The manifold along an axis, in the frame of a.
fn manifold_along(pair: &Pair<'_>, axis: &Axis, reach: f64) -> Manifold {
    let (a, b, normal) = (pair.a, pair.b, axis.normal);
    let plane = Plane::new(normal);
    let back = pair.frame.transpose();
    let size = a.radius.min(b.radius);
    let first = if shows_circle(a, -normal) || shows_circle(b, back * normal) {
        let [facing_a, facing_b] = [facing(a, -normal), pair.frame * facing(b, back * normal)];
        let overhang = plane.flat(a.middle - pair.origin - pair.frame * b.middle) / size;
        first_direction(plane.slope_of(facing_a) - plane.slope_of(facing_b), overhang)
    } else {
        FIRST_DIRECTION
    };
    let start = plane.lift(DVec2::from_angle(first), 0.0);
    let of_b = outline(b, back * normal, back * start);
    let outline_b = Outline {
        corners: of_b.corners.iter().map(|&corner| pair.origin + pair.frame * corner).collect(),
        normal: pair.frame * of_b.normal,
    };
    let seen_a = Seen::new(&outline(a, -normal, start), &plane, -a.rounding);
    let seen_b = Seen::new(&outline_b, &plane, b.rounding);
    let mut choice = Choice::new(first, reach);
    take_common_corners(&seen_a, &seen_b, WIDTH * size, &mut choice);
    if choice.is_empty() {
        let (on_a, on_b) = (pair.point_of_a(normal), pair.point_of_b(normal));
        let place = plane.flat(on_a.midpoint(on_b));
        choice.take(place, on_a.dot(normal) - a.rounding, on_b.dot(normal) + b.rounding);
    }
    Manifold { normal, points: choice.points(&plane, SAME * size) }
}

/// Considers the corners of the overlap of two outlines.
fn take_common_corners(a: &Seen, b: &Seen, width: f64, choice: &mut Choice) {
    for (&place, &height) in a.flat.iter().zip(&a.heights) {
        if let Some(other) = b.height_within(place, width) {
            choice.take(place, height, other);
        }
    }
    for (&place, &height) in b.flat.iter().zip(&b.heights) {
        if let Some(other) = a.height_within(place, width) {
            choice.take(place, other, height);
        }
    }
    for i in 0..a.sides() {
        let [from, to] = a.side(i);
        let along = a.flat[to] - a.flat[from];
        for j in 0..b.sides() {
            let [start, end] = b.side(j);
            let other = b.flat[end] - b.flat[start];
            let across = along.perp_dot(other);
            if across.abs() <= 1e-9 * along.length() * other.length() {
                continue;
            }
            let apart = b.flat[start] - a.flat[from];
            let (s, t) = (apart.perp_dot(other) / across, apart.perp_dot(along) / across);
            if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
                let height = a.heights[from] + s * (a.heights[to] - a.heights[from]);
                let of_other = b.heights[start] + t * (b.heights[end] - b.heights[start]);
                choice.take(a.flat[from] + s * along, height, of_other);
            }
        }
    }
}

/// Angle of the first direction where a face is a circle: towards its deepest point if the gap changes along the plane with this slope, else
/// to the side to which the first solid hangs over, else fixed to it.
fn first_direction(slope: DVec2, overhang: DVec2) -> f64 {
    if slope.length() > TILT {
        (-slope).to_angle()
    } else if overhang.length() > OVERHANG {
        overhang.to_angle()
    } else {
        FIRST_DIRECTION
    }
}

/// Whether the face that looks along a direction is a circle.
fn shows_circle(solid: &Convex, along: DVec3) -> bool {
    let outward = along.truncate().normalize_or(DVec2::X);
    solid.round.as_ref().is_some_and(|round| shows_cap(round, along, outward))
}

/// Normal of the face that looks along a direction; the direction itself for a line or a point.
fn facing(solid: &Convex, along: DVec3) -> DVec3 {
    if let Some(round) = &solid.round {
        let outward = along.truncate().normalize_or(DVec2::X);
        return match shows_cap(round, along, outward) {
            true => along.z.signum() * DVec3::Z,
            false => round.side_normal(outward),
        };
    }
    facing_face(solid, along).map_or(along, |face| face.normal)
}

/// Face of a solid with flat faces that looks along a direction: of the faces with the most of the farthest corners the one that looks most
/// that way.
fn facing_face(solid: &Convex, along: DVec3) -> Option<&Face> {
    let least = solid.extent(along) - solid.rounding - FARTHEST * solid.radius;
    let mut best: Option<(usize, f64, &Face)> = None;
    for face in &solid.faces {
        let count = solid.face_corners(face).filter(|corner| corner.dot(along) >= least).count();
        let towards = face.normal.dot(along);
        if best.is_none_or(|(most, nearest, _)| count > most || (count == most && towards > nearest)) {
            best = Some((count, towards, face));
        }
    }
    best.map(|(.., face)| face)
}

/// Whether a truncated cone shows a cap along a direction.
fn shows_cap(round: &Revolved, along: DVec3, outward: DVec2) -> bool {
    let radius = if along.z > 0.0 { round.top_radius } else { round.bottom_radius };
    radius > 0.0 && along.z.abs() >= round.side_normal(outward).dot(along)
}

/// Outline that a solid shows along a direction, in its frame. A circle starts at its point farthest along `start`.
fn outline(solid: &Convex, along: DVec3, start: DVec3) -> Outline {
    let normal = facing(solid, along);
    if let Some(round) = &solid.round {
        let outward = along.truncate().normalize_or(DVec2::X);
        if !shows_cap(round, along, outward) {
            return Outline { corners: round.side_line(outward).to_vec(), normal };
        }
        let top = along.z > 0.0;
        let (radius, height) = if top {
            (round.top_radius, round.half_length)
        } else {
            (round.bottom_radius, -round.half_length)
        };
        let first = start.truncate().normalize_or(DVec2::X);
        let sense = if top { 1.0 } else { -1.0 };
        let corner = |i: u32| {
            let turn = DVec2::from_angle(sense * std::f64::consts::TAU * f64::from(i) / f64::from(RIM_SIDES));
            (radius * turn.rotate(first)).extend(height)
        };
        return Outline { corners: (0..RIM_SIDES).map(corner).collect(), normal };
    }
    let corners = match facing_face(solid, along) {
        Some(face) => solid.face_corners(face).collect(),
        None => solid.corners.clone(),
    };
    Outline { corners, normal }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use glam::DQuat;

    use super::*;

    fn at(position: DVec3) -> Placement {
        Placement { position, orientation: DQuat::IDENTITY }
    }

    fn points(manifold: &Manifold) -> Vec<DVec3> {
        manifold.points.iter().flatten().map(|point| point.point).collect()
    }

    #[test]
    fn equal_boxes_face_on_face_touch_at_the_corners_of_the_face() {
        let cube = Convex::cuboid(DVec3::splat(0.5));
        for (turn, count, reach_of_corners) in
            [(0.0, 4, 0.5f64.sqrt()), (PI / 4.0, 8, 0.5 / (PI / 8.0).cos())]
        {
            let lower = Placement { orientation: DQuat::from_rotation_z(turn), ..at(DVec3::ZERO) };
            let manifold =
                meet(&cube, &at(DVec3::new(0.0, 0.0, 0.999)), &cube, &lower, 0.01).expect("a contact");
            assert!((manifold.normal - DVec3::Z).length() < 1e-12);
            let points = points(&manifold);
            assert_eq!(points.len(), count, "turned by {turn}: {points:?}");
            for (point, found) in points.iter().zip(manifold.points.iter().flatten()) {
                assert!((point.truncate().length() - reach_of_corners).abs() < 1e-12);
                assert!((point.z - 0.4995).abs() < 1e-12 && (found.gap + 0.001).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn shifted_bricks_touch_on_what_they_share() {
        let brick = Convex::cuboid(DVec3::new(1.0, 0.5, 0.25));
        let upper = at(DVec3::new(1.2, 0.0, 0.5));
        let manifold = meet(&brick, &upper, &brick, &at(DVec3::ZERO), 0.01).expect("a contact");
        let points = points(&manifold);
        assert_eq!(points.len(), 4);
        assert!(points.iter().all(|point| (point.x - 0.2).abs() < 1e-12 || (point.x - 1.0).abs() < 1e-12));
        let far = at(DVec3::new(2.02, 0.0, 0.5));
        assert_eq!(meet(&brick, &far, &brick, &at(DVec3::ZERO), 0.01), None);
    }

    #[test]
    fn crossed_edges_touch_at_one_point() {
        let cube = Convex::cuboid(DVec3::splat(0.5));
        let edge = 0.5f64.sqrt();
        let upper = Placement {
            position: DVec3::new(0.1, 0.05, 2.0 * edge - 0.001),
            orientation: DQuat::from_rotation_x(PI / 4.0),
        };
        let lower = Placement { position: DVec3::ZERO, orientation: DQuat::from_rotation_y(PI / 4.0) };
        let manifold = meet(&cube, &upper, &cube, &lower, 0.01).expect("a contact");
        assert!((manifold.normal - DVec3::Z).length() < 1e-12);
        let deepest = manifold.deepest().expect("a point");
        assert!((deepest.gap + 0.001).abs() < 1e-12);
        assert!((deepest.point - DVec3::new(0.0, 0.05, edge - 0.0005)).length() < 1e-12, "{}", deepest.point);
    }

    #[test]
    fn a_tilted_coin_touches_at_the_deepest_point_of_its_rim() {
        let coin = Convex::cone(1.0, 1.0, 0.2);
        for azimuth in [0.0, 0.3, 1.234, 4.0] {
            let tilt = 0.1;
            let axis = DQuat::from_rotation_z(azimuth) * DVec3::Y;
            let orientation = DQuat::from_axis_angle(axis, tilt);
            // The rim at the azimuth is the lowest.
            let lowest = 1.0 * tilt.sin() + 0.1 * tilt.cos();
            let placement = Placement { position: lowest * DVec3::Z, orientation };
            let manifold = meet_half_space(&coin, &placement, DVec3::Z, 0.0, 1e-3).expect("a contact");
            let deepest = manifold.deepest().expect("a point");
            let expected = (1.0 * tilt.cos() - 0.1 * tilt.sin()) * DVec2::from_angle(azimuth);
            assert!(deepest.gap.abs() < 1e-12, "{}", deepest.gap);
            assert!((deepest.point.truncate() - expected).length() < 1e-12, "{} {expected}", deepest.point);
        }
    }

    #[test]
    fn stacked_coins_touch_on_the_lens_that_they_share() {
        let coin = Convex::cone(1.0, 1.0, 0.2);
        // The upper coin leans a little towards its overhang, as its weight makes it.
        let lean = DQuat::from_rotation_y(1e-6);
        for azimuth in [0.0f64, 0.7, 2.0] {
            let turn = DQuat::from_rotation_z(azimuth);
            let upper = Placement {
                position: turn * DVec3::new(0.9, 0.0, 0.2 - 1e-4),
                orientation: turn * lean * turn.conjugate(),
            };
            let manifold = meet(&coin, &upper, &coin, &at(DVec3::ZERO), 1e-3).expect("a contact");
            let farthest =
                points(&manifold).iter().map(|point| (turn.conjugate() * *point).x).fold(f64::MIN, f64::max);
            assert!((farthest - 1.0).abs() < 1e-9, "support up to {farthest}");
        }
    }

    #[test]
    fn a_wheel_on_a_box_touches_along_its_lowest_line() {
        let wheel = Convex::cone(0.5, 0.5, 0.2);
        let track = Convex::cuboid(DVec3::new(3.0, 1.0, 0.5));
        for turn in [0.0, 0.123, 1.0] {
            let orientation = DQuat::from_rotation_x(PI / 2.0) * DQuat::from_rotation_z(turn);
            let placement = Placement { position: DVec3::new(0.3, 0.0, 0.999), orientation };
            let manifold = meet(&wheel, &placement, &track, &at(DVec3::ZERO), 0.01).expect("a contact");
            assert!((manifold.normal - DVec3::Z).length() < 1e-12);
            let points = points(&manifold);
            assert_eq!(points.len(), 2, "{points:?}");
            assert!(points.iter().all(|p| (p.x - 0.3).abs() < 1e-9 && (p.y.abs() - 0.1).abs() < 1e-9));
        }
    }

    #[test]
    fn crossed_capsules_touch_between_their_lines() {
        let capsule = Convex::capsule(0.1, 1.0);
        let upper =
            Placement { position: DVec3::new(0.2, 0.1, 0.19), orientation: DQuat::from_rotation_y(PI / 2.0) };
        let lower = Placement { position: DVec3::ZERO, orientation: DQuat::from_rotation_x(PI / 2.0) };
        let manifold = meet(&capsule, &upper, &capsule, &lower, 0.01).expect("a contact");
        let deepest = manifold.deepest().expect("a point");
        assert!((manifold.normal - DVec3::Z).length() < 1e-12, "{}", manifold.normal);
        assert!((deepest.gap + 0.01).abs() < 1e-12);
        assert!((deepest.point - DVec3::new(0.0, 0.1, 0.095)).length() < 1e-9, "{}", deepest.point);
    }
}
