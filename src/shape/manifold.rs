//! Manifold: the points at which two convex solids touch along the axis that separates them.
//!
//! Each solid shows the other the face (or line, or point) that looks at it. Seen along the normal these two outlines overlap; the
//! gap is linear over the overlap, so its corners hold all that two faces can do to each other: corners of one outline within the other,
//! and crossings of their sides. Of more than [`MOST_POINTS`] corners those are kept that lie farthest along so many directions, deep ones
//! before others. The place of a point in the list is its direction, fixed to the first solid, so that an impulse finds its point again in
//! the next step. Where corners are left out, as of a circle, the nearest direction turns to the deepest of them, or, between faces that
//! are parallel, to the side to which the first solid hangs over: there it would tip. Twin: `shaders/shared/manifold.wgsl`.

use std::f64::consts::TAU;
use std::sync::LazyLock;

use glam::{DVec2, DVec3};

use super::convex::{Convex, RIM_SIDES};
use super::outline::{ContactPlane, FlatCorner, FlatOutline, facing};
use super::pair::{Pair, SolidPose};
use super::separation::{AxisFeature, SeparatingAxis};

/// Largest number of points of a manifold. With more, sweeps that are accelerated diverge, as the points of a face depend on each other.
pub const MOST_POINTS: usize = 4;

/// Weight of the depth of a point beside its distance along a direction \[-\].
const DEPTH_WEIGHT: f64 = 5.0;
/// Distance of two corners that count as one, over the smaller of the two solids \[-\].
const SAME: f64 = 1e-3;
/// Width of the sides of an outline, over the smaller of the two solids \[-\]: corners on a side lie within.
const WIDTH: f64 = 1e-9;
/// Least depth of the deepest point of a manifold over that of the solids \[-\]. Along an axis of a face that is kept beside a slightly
/// better one of two edges, the deepest corner may lie beside the face: of 10⁴ pairs that overlap by a fifth of their size one or two have
/// no point below 0.
const DEEP: f64 = 0.9;
/// Difference of gaps up to which touches of separate surfaces carry a solid together, over the radius of the solid \[-\].
const LEVEL: f64 = 1e-3;
/// Least cosine of the angle between the normals of touches on one side of a solid \[-\].
const SAME_SIDE: f64 = 0.9;
/// Least cosine of the angle between the normals of touches on one flat face, of which those farthest out count however level they are.
const SAME_FACE: f64 = 1.0 - 1e-6;
/// Tilts of a circular face between which a direction turns to its deepest point \[rad\]. Below, rounding would turn it from step to step.
const TILT: [f64; 2] = [1e-5, 1e-4];
/// Distances by which a circular face is beside another between which a direction turns there, over the smaller solid \[-\].
const OVERHANG: [f64; 2] = [1e-3, 1e-2];
/// Angle of the first direction from the first axis of the plane of contact \[rad\]: no symmetry of a rectangle.
const FIRST_DIRECTION: f64 = 0.58;

/// Touch of two shapes, with a gap or an overlap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touch {
    /// Gap between the surfaces along the normal, negative where they overlap \[m\].
    pub gap: f64,
    /// Normal, from the second shape to the first.
    pub normal: DVec3,
    /// Middle of the gap or overlap \[m\].
    pub point: DVec3,
}

/// Contact of two solids.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Manifold {
    /// Points by direction; those of no use are left out.
    pub points: [Option<Touch>; MOST_POINTS],
}

impl Manifold {
    /// The same contact seen from the other solid.
    #[must_use]
    pub fn reversed(self) -> Manifold {
        let reversed = |touch: Touch| Touch { normal: -touch.normal, ..touch };
        Manifold { points: self.points.map(|point| point.map(reversed)) }
    }

    /// The deepest point.
    pub fn deepest(&self) -> Option<&Touch> {
        self.points.iter().flatten().min_by(|a, b| a.gap.total_cmp(&b.gap))
    }
}

/// Directions in the plane of contact: those of the points, and those of the corners that stand for a circle. They are fixed to solid a,
/// with the nearest of each kind turned by a share of the way to another one.
struct Compass {
    turn: Option<(DVec2, f64)>,
}

/// Angle of direction `i` of `count`, if it is not turned [rad].
fn angle_of(i: usize, count: usize) -> f64 {
    FIRST_DIRECTION + TAU * i as f64 / count as f64
}

/// Directions of the points, if none is turned.
static OF_POINTS: LazyLock<[DVec2; MOST_POINTS]> =
    LazyLock::new(|| std::array::from_fn(|i| DVec2::from_angle(angle_of(i, MOST_POINTS))));

/// Points and directions of solid a in its own frame.
const IN_A: [&dyn Fn(DVec3) -> DVec3; 2] = [&|point| point, &|direction| direction];

impl Compass {
    const FIXED: Compass = Compass { turn: None };

    /// Direction `i` of `count`.
    fn direction(&self, i: usize, count: usize) -> DVec2 {
        let angle = angle_of(i, count);
        let direction = if count == MOST_POINTS { OF_POINTS[i] } else { DVec2::from_angle(angle) };
        let Some((towards, share)) = self.turn else { return direction };
        // Those that are clearly not the nearest: most of them.
        if direction.dot(towards) < 0.7 * towards.length() && count == MOST_POINTS {
            return direction;
        }
        let apart = direction.angle_to(towards);
        if apart.abs() > 0.5 * TAU / count as f64 {
            direction
        } else {
            DVec2::from_angle(angle + share * apart)
        }
    }

    /// Directions of the points, of which those that are not wanted repeat those that are.
    fn points(&self, wanted: usize) -> [DVec2; MOST_POINTS] {
        let directions: [DVec2; MOST_POINTS] =
            std::array::from_fn(|i| if i < wanted { self.direction(i, wanted) } else { DVec2::ZERO });
        std::array::from_fn(|i| directions[i % wanted])
    }

    /// Directions of the corners that stand for a circle, in space.
    fn rim(&self, plane: &ContactPlane) -> [DVec3; RIM_SIDES as usize] {
        std::array::from_fn(|i| plane.lift(self.direction(i, RIM_SIDES as usize), 0.0))
    }

    /// The directions with the nearest turned to the deepest points, if the gap changes along the plane with this slope, else to the side
    /// to which the first solid hangs over.
    fn towards_tipping(slope: DVec2, overhang: DVec2) -> Compass {
        let share = |value: f64, [from, to]: [f64; 2]| ((value - from) / (to - from)).clamp(0.0, 1.0);
        let of_tilt = share(slope.length(), TILT);
        let of_overhang = share(overhang.length(), OVERHANG);
        let turn = match (of_tilt > 0.0, of_overhang > 0.0) {
            (true, _) if of_tilt >= of_overhang => Some((-slope, of_tilt)),
            (_, true) => Some((overhang, of_overhang)),
            _ => None,
        };
        Compass { turn }
    }
}

/// Corner of the overlap of two outlines.
#[derive(Clone, Copy)]
struct Corner {
    /// Place in the plane of contact.
    place: DVec2,
    /// Heights of the two surfaces there.
    heights: [f64; 2],
}

impl Corner {
    fn gap(&self) -> f64 {
        self.heights[0] - self.heights[1]
    }
}

/// Those of the points that lie farthest along the directions, each once; `None` for a direction without one. `score` is how far a point
/// lies along a direction, deep ones before others.
fn chosen<T: Copy>(
    points: &[T],
    directions: [DVec2; MOST_POINTS],
    score: impl Fn(DVec2, &T) -> f64,
    are_same: impl Fn(&T, &T) -> bool,
) -> [Option<T>; MOST_POINTS] {
    let found = farthest(points, directions, score);
    let is_first =
        |i: usize| (0..i).all(|other| found[other].zip(found[i]).is_none_or(|(a, b)| !are_same(&a, &b)));
    std::array::from_fn(|i| found[i].filter(|_| is_first(i)))
}

/// The point that lies farthest along each direction.
fn farthest<T: Copy>(
    points: &[T],
    directions: [DVec2; MOST_POINTS],
    score: impl Fn(DVec2, &T) -> f64,
) -> [Option<T>; MOST_POINTS] {
    directions.map(|direction| {
        let scored = points.iter().map(|point| (score(direction, point), *point));
        scored.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, point)| point)
    })
}

/// The manifold of the corners of an overlap. `rule` gives the directions where some are left out.
fn manifold_of(
    corners: &[Corner],
    points: usize,
    plane: &ContactPlane,
    same: f64,
    rule: impl Fn() -> Compass,
) -> Manifold {
    let are_same = |a: &Corner, b: &Corner| a.place.distance(b.place) <= same;
    let score = |direction: DVec2, corner: &Corner| direction.dot(corner.place) - DEPTH_WEIGHT * corner.gap();
    let mut found = chosen(corners, Compass::FIXED.points(points), score, are_same);
    let is_kept = |corner: &Corner| found.iter().flatten().any(|kept| are_same(kept, corner));
    if points > 1 && !corners.iter().all(is_kept) {
        found = chosen(corners, rule().points(points), score, are_same);
    }
    let touch = |Corner { place, heights: [a, b] }| Touch {
        gap: a - b,
        normal: plane.normal,
        point: plane.lift(place, a.midpoint(b)),
    };
    Manifold { points: found.map(|corner| corner.map(touch)) }
}

/// What is wanted of a manifold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ManifoldBounds {
    /// Distance beyond which two solids have no contact \[m\].
    pub reach: f64,
    /// Number of points, at most [`MOST_POINTS`].
    pub points: usize,
}

/// The manifold of two solids; `None` if they are out of reach.
pub fn meet(
    a: &Convex,
    at_a: &SolidPose,
    b: &Convex,
    at_b: &SolidPose,
    wanted: ManifoldBounds,
) -> Option<Manifold> {
    meet_from(a, at_a, b, at_b, wanted, &mut SearchStart::default())
}

/// Start of the search for the manifold of a pair, kept from one substep to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchStart {
    /// Features of the last axis.
    pub feature: AxisFeature,
    /// Separation beyond which the pair has no manifold, if less than the reach of its points \[m\].
    pub limit: f64,
}

impl Default for SearchStart {
    fn default() -> SearchStart {
        SearchStart { feature: AxisFeature::Other, limit: f64::INFINITY }
    }
}

/// The manifold of two solids, with a search for their axis that starts from the last one; `None` if they are out of reach or farther apart
/// than the limit.
pub fn meet_from(
    a: &Convex,
    at_a: &SolidPose,
    b: &Convex,
    at_b: &SolidPose,
    wanted: ManifoldBounds,
    start: &mut SearchStart,
) -> Option<Manifold> {
    let limit = start.limit / at_a.scale;
    let (pair, wanted) = (Pair::new(a, at_a, b, at_b), wanted.over(at_a.scale));
    let axis = pair.axis_from(&mut start.feature, wanted.reach.min(limit))?;
    let is_deep = |manifold: &Manifold| {
        manifold
            .deepest()
            .is_some_and(|deepest| axis.separation >= 0.0 || deepest.gap <= DEEP * axis.separation)
    };
    let along = manifold_along(&pair, &axis, wanted, SurfaceExtent::Whole).filter(is_deep);
    let manifold = along.unwrap_or_else(|| nearest_along(&pair, &axis));
    Some(in_world(manifold, at_a))
}

/// The manifold of two solids along a given normal from b to a; `None` if they are out of reach along it, or nothing of a is over b.
pub fn meet_along(
    a: &Convex,
    at_a: &SolidPose,
    b: &Convex,
    at_b: &SolidPose,
    normal: DVec3,
    wanted: ManifoldBounds,
) -> Option<Manifold> {
    let (pair, wanted) = (Pair::new(a, at_a, b, at_b), wanted.over(at_a.scale));
    let normal = at_a.orientation.conjugate() * normal;
    let axis = SeparatingAxis { normal, separation: pair.along(normal) };
    Some(in_world(manifold_along(&pair, &axis, wanted, SurfaceExtent::Whole)?, at_a))
}

/// The manifold of a solid and a half space with this outward normal, whose surface is at `height` along the normal \[m\]; `None` if they
/// are out of reach.
pub fn meet_half_space(
    a: &Convex,
    at_a: &SolidPose,
    normal: DVec3,
    height: f64,
    wanted: ManifoldBounds,
) -> Option<Manifold> {
    let back = at_a.orientation.conjugate();
    let (height, wanted) = ((height - at_a.position.dot(normal)) / at_a.scale, wanted.over(at_a.scale));
    let (normal, points, reach) = (back * normal, wanted.points, wanted.reach);
    if -a.extent(-normal) - height > reach {
        return None;
    }
    let plane = ContactPlane::new(normal);
    let shown = facing(a, -normal);
    let compass = || Compass::towards_tipping(plane.slope_of(shown.normal), DVec2::ZERO);
    let seen = FlatOutline::new((a, &shown), || compass().rim(&plane), IN_A, (&plane, -a.rounding));
    let corners = seen.corners.iter().map(|own| Corner { place: own.place, heights: [own.height, height] });
    let corners: Vec<Corner> = corners.filter(|corner| corner.gap() <= reach).collect();
    Some(in_world(manifold_of(&corners, points, &plane, SAME * a.radius, compass), at_a))
}

/// The manifold of touches of a solid of this `size` \[m\] with a surface that is no solid; `None` if all are out of reach. Of the touches
/// on one side of the solid those that are as deep as the deepest come first, and where there are directions left others: what stands on
/// the top of a curved wall does not stand on its sides as well, however far out these are.
pub fn of_touches(
    touches: impl Iterator<Item = Touch>,
    size: f64,
    wanted: ManifoldBounds,
) -> Option<Manifold> {
    let touches: Vec<Touch> = touches.filter(|touch| touch.gap <= wanted.reach).collect();
    let deepest = touches.iter().min_by(|a, b| a.gap.total_cmp(&b.gap))?;
    let plane = ContactPlane::new(deepest.normal);
    let score =
        |direction: DVec2, touch: &Touch| direction.dot(plane.flat(touch.point)) - DEPTH_WEIGHT * touch.gap;
    let are_same = |a: &Touch, b: &Touch| a.point.distance(b.point) <= SAME * size;
    let is_beneath = |touch: &Touch| {
        let cosine = touch.normal.dot(deepest.normal);
        touch.gap > deepest.gap + LEVEL * size && (SAME_SIDE..SAME_FACE).contains(&cosine)
    };
    let (beneath, level): (Vec<Touch>, Vec<Touch>) = touches.iter().copied().partition(is_beneath);
    let directions = Compass::FIXED.points(wanted.points);
    let mut points = chosen(&level, directions, score, are_same);
    for (i, more) in farthest(&beneath, directions, score).into_iter().enumerate() {
        let is_new = |touch: &Touch| points.iter().flatten().all(|kept| !are_same(kept, touch));
        points[i] = points[i].or(more.filter(is_new)).filter(|_| i < wanted.points);
    }
    Some(Manifold { points })
}

impl ManifoldBounds {
    /// The same in the frame of a solid of this scale.
    pub(super) fn over(self, scale: f64) -> ManifoldBounds {
        ManifoldBounds { reach: self.reach / scale, ..self }
    }
}

/// A manifold in the frame of a solid, in world axes.
pub(super) fn in_world(manifold: Manifold, at: &SolidPose) -> Manifold {
    let moved = |point: Touch| Touch {
        gap: at.scale * point.gap,
        normal: at.orientation * point.normal,
        point: at.position + at.orientation * (at.scale * point.point),
    };
    Manifold { points: manifold.points.map(|point| point.map(moved)) }
}

/// How much of the surface of solid b is known.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum SurfaceExtent {
    /// All of it.
    Whole,
    /// A part, as a triangle of a mesh. No direction turns, so that the farthest point of all parts is the farthest one of its part.
    Part,
}

/// The manifold along an axis, in the frame of a; `None` where the outlines of the two do not overlap.
pub(super) fn manifold_along(
    pair: &Pair<'_>,
    axis: &SeparatingAxis,
    wanted: ManifoldBounds,
    extent: SurfaceExtent,
) -> Option<Manifold> {
    let (a, b, normal, points) = (pair.a, pair.b, axis.normal, wanted.points);
    let plane = ContactPlane::new(normal);
    let back = pair.frame.transpose();
    let size = pair.size();
    let (shown_a, shown_b) = (facing(a, -normal), facing(b, back * normal));
    let compass = || {
        let [facing_a, facing_b] = [shown_a.normal, pair.frame * shown_b.normal];
        let overhang = plane.flat(a.middle - pair.point_in_a(b.middle)) / size;
        Compass::towards_tipping(plane.slope_of(facing_a) - plane.slope_of(facing_b), overhang)
    };
    let seen_a = FlatOutline::new((a, &shown_a), || compass().rim(&plane), IN_A, (&plane, -a.rounding));
    let rim_of_b = || compass().rim(&plane).map(|direction| back * direction);
    let from_b: [&dyn Fn(DVec3) -> DVec3; 2] =
        [&|point| pair.point_in_a(point), &|normal| pair.frame * normal];
    let seen_b = FlatOutline::new((b, &shown_b), rim_of_b, from_b, (&plane, pair.scale * b.rounding));
    let mut corners = common_corners(&seen_a, &seen_b, WIDTH * size);
    corners.retain(|corner| corner.gap() <= wanted.reach);
    let rule = || if extent == SurfaceExtent::Whole { compass() } else { Compass::FIXED };
    (!corners.is_empty()).then(|| manifold_of(&corners, points, &plane, SAME * size, rule))
}

/// The manifold of the points nearest along an axis, where the outlines of two solids do not overlap: they are apart, corner to corner.
fn nearest_along(pair: &Pair<'_>, axis: &SeparatingAxis) -> Manifold {
    let normal = axis.normal;
    let point = pair.point_of_a(normal).midpoint(pair.point_of_b(normal));
    let roundings = 0.5 * (pair.scale * pair.b.rounding - pair.a.rounding);
    let touch = Touch { gap: axis.separation, normal, point: point + roundings * normal };
    let mut points = [None; MOST_POINTS];
    points[0] = Some(touch);
    Manifold { points }
}

/// Corners of the overlap of two outlines.
fn common_corners(a: &FlatOutline, b: &FlatOutline, width: f64) -> Vec<Corner> {
    let mut corners = Vec::new();
    for &FlatCorner { place, height } in &a.corners {
        if let Some(other) = b.height_within(place, width) {
            corners.push(Corner { place, heights: [height, other] });
        }
    }
    for &FlatCorner { place, height } in &b.corners {
        if let Some(other) = a.height_within(place, width) {
            corners.push(Corner { place, heights: [other, height] });
        }
    }
    for i in 0..a.sides() {
        let [from, to] = a.side(i).map(|end| a.corners[end]);
        let along = to.place - from.place;
        for j in 0..b.sides() {
            let [start, end] = b.side(j).map(|end| b.corners[end]);
            let other = end.place - start.place;
            let across = along.perp_dot(other);
            if across.abs() <= 1e-9 * along.length() * other.length() {
                continue;
            }
            let apart = start.place - from.place;
            let (s, t) = (apart.perp_dot(other) / across, apart.perp_dot(along) / across);
            if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
                let height = from.height + s * (to.height - from.height);
                let of_other = start.height + t * (end.height - start.height);
                corners.push(Corner { place: from.place + s * along, heights: [height, of_other] });
            }
        }
    }
    corners
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use glam::DQuat;

    use super::*;

    fn at(position: DVec3) -> SolidPose {
        SolidPose { position, orientation: DQuat::IDENTITY, scale: 1.0 }
    }

    fn within(reach: f64) -> ManifoldBounds {
        ManifoldBounds { reach, points: MOST_POINTS }
    }

    fn normal(manifold: &Manifold) -> DVec3 {
        manifold.deepest().expect("a point").normal
    }

    fn points(manifold: &Manifold) -> Vec<DVec3> {
        manifold.points.iter().flatten().map(|point| point.point).collect()
    }

    #[test]
    fn equal_boxes_face_on_face_touch_at_the_corners_of_the_face() {
        let cube = Convex::cuboid(DVec3::splat(0.5));
        for (turn, count, reach_of_corners) in
            [(0.0, 4, 0.5f64.sqrt()), (PI / 4.0, 4, 0.5 / (PI / 8.0).cos())]
        {
            let lower = SolidPose { orientation: DQuat::from_rotation_z(turn), ..at(DVec3::ZERO) };
            let manifold = meet(&cube, &at(DVec3::new(0.0, 0.0, 0.999)), &cube, &lower, within(0.01))
                .expect("a contact");
            assert!((normal(&manifold) - DVec3::Z).length() < 1e-12);
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
        let manifold = meet(&brick, &upper, &brick, &at(DVec3::ZERO), within(0.01)).expect("a contact");
        let points = points(&manifold);
        assert_eq!(points.len(), 4);
        assert!(points.iter().all(|point| (point.x - 0.2).abs() < 1e-12 || (point.x - 1.0).abs() < 1e-12));
        let far = at(DVec3::new(2.02, 0.0, 0.5));
        assert_eq!(meet(&brick, &far, &brick, &at(DVec3::ZERO), within(0.01)), None);
    }

    #[test]
    fn crossed_edges_touch_at_one_point() {
        let cube = Convex::cuboid(DVec3::splat(0.5));
        let edge = 0.5f64.sqrt();
        let upper = SolidPose {
            position: DVec3::new(0.1, 0.05, 2.0 * edge - 0.001),
            orientation: DQuat::from_rotation_x(PI / 4.0),
            scale: 1.0,
        };
        let lower =
            SolidPose { position: DVec3::ZERO, orientation: DQuat::from_rotation_y(PI / 4.0), scale: 1.0 };
        let manifold = meet(&cube, &upper, &cube, &lower, within(0.01)).expect("a contact");
        assert!((normal(&manifold) - DVec3::Z).length() < 1e-12);
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
            let placement = SolidPose { position: lowest * DVec3::Z, orientation, scale: 1.0 };
            let manifold =
                meet_half_space(&coin, &placement, DVec3::Z, 0.0, within(1e-3)).expect("a contact");
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
            let upper = SolidPose {
                position: turn * DVec3::new(0.9, 0.0, 0.2 - 1e-4),
                orientation: turn * lean * turn.conjugate(),
                scale: 1.0,
            };
            let manifold = meet(&coin, &upper, &coin, &at(DVec3::ZERO), within(1e-3)).expect("a contact");
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
            let placement = SolidPose { position: DVec3::new(0.3, 0.0, 0.999), orientation, scale: 1.0 };
            let manifold =
                meet(&wheel, &placement, &track, &at(DVec3::ZERO), within(0.01)).expect("a contact");
            assert!((normal(&manifold) - DVec3::Z).length() < 1e-12);
            let points = points(&manifold);
            assert_eq!(points.len(), 2, "{points:?}");
            assert!(points.iter().all(|p| (p.x - 0.3).abs() < 1e-9 && (p.y.abs() - 0.1).abs() < 1e-9));
        }
    }

    #[test]
    fn crossed_capsules_touch_between_their_lines() {
        let capsule = Convex::capsule(0.1, 1.0);
        let upper = SolidPose {
            position: DVec3::new(0.2, 0.1, 0.19),
            orientation: DQuat::from_rotation_y(PI / 2.0),
            scale: 1.0,
        };
        let lower =
            SolidPose { position: DVec3::ZERO, orientation: DQuat::from_rotation_x(PI / 2.0), scale: 1.0 };
        let manifold = meet(&capsule, &upper, &capsule, &lower, within(0.01)).expect("a contact");
        let deepest = manifold.deepest().expect("a point");
        assert!((normal(&manifold) - DVec3::Z).length() < 1e-12, "{}", normal(&manifold));
        assert!((deepest.gap + 0.01).abs() < 1e-12);
        assert!((deepest.point - DVec3::new(0.0, 0.1, 0.095)).length() < 1e-9, "{}", deepest.point);
    }
}
