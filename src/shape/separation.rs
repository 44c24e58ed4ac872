//! Separation of two convex solids: the axis along which they are farthest apart or overlap the least.
//!
//! For solids with flat faces the axis is the normal of a face of one of them, or perpendicular to an edge of each (Gottschalk, Lin &
//! Manocha, SIGGRAPH 1996); of the pairs of edges only those count whose arcs cross on the sphere of normals (Gregorius, GDC 2013). An
//! overlap is exact. A gap is exact where a corner faces a face or an edge an edge, and a lower bound elsewhere, as corner to corner. Rims
//! of cylinders and cones are circles: polygons propose axes, the circles give the distances, and a few rounds improve the axis. Solids
//! with a rounding, as capsules, are as far apart as the nearest points of their lines.

use glam::DVec3;

use super::convex::{Convex, Revolved, SolidEdge, SolidFace};
use super::nearest::nearest_points;
use super::pair::{Pair, SolidPose};

/// Share by which an axis across two edges must be better than one across a face to be taken \[-\]: axes of faces are steadier.
const EDGE_SHARE: f64 = 0.005;
/// The same over the radius of the smaller solid \[-\].
const EDGE_SIZE: f64 = 1e-5;
/// Smallest sine of the angle between two edges that have an axis across both \[-\].
const PARALLEL: f64 = 1e-3;
/// Rounds in which an axis at a rim is improved, and the differences of points that are kept for it.
const ROUNDS: usize = 12;
const MOST_KNOWN: usize = 8;
/// Tangent of the angle by which the first axes lean around the start.
const LEAN: f64 = 0.05;
/// Smallest cosine of the angle between an improved axis and its start.
const NEAR: f64 = 0.7;
/// Rounding of a separation, with a margin, over lengths of its solids \[-\].
const ROUNDING: f64 = 1e-12;
/// Improvement below which an axis is left as it is, over the radius of the smaller solid \[-\].
const CLOSE: f64 = 1e-7;

/// Axis along which two solids are apart or overlap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeparatingAxis {
    /// Unit vector from the second solid to the first.
    pub normal: DVec3,
    /// Distance of the solids along it, negative where they overlap \[m\].
    pub separation: f64,
}

/// The features of two solids that an axis lies across: where the search for an axis starts the next time. The axis that is found does not
/// depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AxisFeature {
    /// None that a search could start from.
    #[default]
    Other,
    /// Face of the first solid.
    FaceOfA(u16),
    /// Face of the second solid.
    FaceOfB(u16),
    /// Edge of each.
    Edges(u16, u16),
}

impl AxisFeature {
    fn number(index: usize, of: impl Fn(u16) -> AxisFeature) -> AxisFeature {
        u16::try_from(index).map_or(AxisFeature::Other, of)
    }
}

/// Axis that a search starts from.
#[derive(Clone, Copy)]
struct KnownAxis {
    /// Difference of a point of a and a point of b that are nearest along it \[m\].
    difference: DVec3,
    /// A face with no more than the first separation is not the best face, or is none that counts beside the best edges; edges with no more
    /// than the second one are not the best \[m\].
    bars: [f64; 2],
    /// Whether the axis shows that the solids are out of reach.
    is_apart: bool,
}

impl Pair<'_> {
    /// The axis with the largest separation, in the frame of a; `None` if one was found along which the solids are farther apart than
    /// `reach` \[m\].
    pub fn axis(&self, reach: f64) -> Option<SeparatingAxis> {
        self.axis_from(&mut AxisFeature::Other, reach)
    }

    /// The same, found sooner where `feature` is that of this axis or of another one along which the solids are out of reach. It becomes
    /// that of the axis found.
    pub fn axis_from(&self, feature: &mut AxisFeature, reach: f64) -> Option<SeparatingAxis> {
        let (a, b) = (self.a, self.b);
        let middle = self.point_in_a(b.middle);
        let apart = a.middle - middle;
        if apart.length() - a.radius - self.scale * b.radius > reach {
            return None;
        }
        let start = self.start(*feature, middle, reach);
        if start.is_some_and(|start| start.is_apart) {
            return None;
        }
        let mut best = Best::none(reach);
        self.search(&mut best, start, [middle, apart]);
        *feature = best.feature;
        (best.axis.separation <= reach).then_some(best.axis)
    }

    /// What the axis across these features tells, if the solids have flat faces and these features still look at each other.
    fn start(&self, feature: AxisFeature, middle: DVec3, reach: f64) -> Option<KnownAxis> {
        if feature == AxisFeature::Other || self.roundings() > 0.0 || self.is_rough() {
            return None;
        }
        let rounding = ROUNDING * (self.size() + reach);
        let of_face = |normal: DVec3| {
            let difference = self.point_of_a(normal) - self.point_of_b(normal);
            let separation = difference.dot(normal);
            let bars = [separation - rounding, f64::NEG_INFINITY];
            KnownAxis { difference, bars, is_apart: separation > reach }
        };
        let place = |number: u16| usize::from(number);
        match feature {
            AxisFeature::Other => None,
            AxisFeature::FaceOfA(face) => Some(of_face(-self.a.faces.get(place(face))?.normal)),
            AxisFeature::FaceOfB(face) => Some(of_face(self.frame * self.b.faces.get(place(face))?.normal)),
            AxisFeature::Edges(of_a, of_b) => {
                let edge_a = self.edge_of_a(self.a.edges.get(place(of_a))?);
                let edge_b = self.edge_of_b(self.b.edges.get(place(of_b))?);
                let normal = self.across(&edge_a, &edge_b, middle)?;
                let difference = edge_a.ends[0] - edge_b.ends[0];
                let separation = normal.dot(difference);
                // Axes of faces are taken beside slightly better ones of edges, see `EDGE_SHARE`.
                let clear = separation - 1.1 * EDGE_SHARE * separation.abs() - 2.0 * EDGE_SIZE * self.size();
                let bars = [clear, separation].map(|bar| bar - rounding);
                Some(KnownAxis { difference, bars, is_apart: bars[0] > reach })
            }
        }
    }

    /// Searches the best axis among all, or one that is out of reach.
    fn search(&self, best: &mut Best, start: Option<KnownAxis>, [middle, apart]: [DVec3; 2]) {
        if self.roundings() > 0.0
            && let Some(normal) = nearest_points(self).and_then(|[on_a, on_b]| (on_a - on_b).try_normalize())
        {
            best.take(normal, self.along(normal), AxisFeature::Other);
        }
        let [bar_of_faces, bar_of_edges] = start.map_or([f64::NEG_INFINITY; 2], |start| start.bars);
        let mut known = Differences::of(start.map_or(apart, |start| start.difference));
        if start.is_some() {
            known.add(apart);
        }
        if !self.try_faces(best, &mut known, bar_of_faces) {
            return;
        }
        let of_faces = best.axis.separation;
        if self.roundings() == 0.0 || of_faces <= 0.0 {
            // Two lines have no faces.
            let better = if of_faces.is_finite() {
                EDGE_SHARE * of_faces.abs() + EDGE_SIZE * self.size()
            } else {
                0.0
            };
            let bar = of_faces + better;
            let mut of_edges = Best { axis: SeparatingAxis { separation: bar, ..best.axis }, ..*best };
            self.try_edges(middle, &mut of_edges, &known, bar_of_edges);
            if of_edges.axis.separation > bar {
                *best = of_edges;
            }
        }
        if self.a.round.is_some() || self.b.round.is_some() {
            self.try_round(best);
        }
        if best.axis.separation == f64::NEG_INFINITY {
            let normal = apart.try_normalize().unwrap_or(DVec3::Z);
            best.take(normal, self.along(normal), AxisFeature::Other);
        }
    }

    /// Tries the normals of all faces of both that may have a larger separation than `bar` \[m\]; returns whether none of them is out of
    /// reach.
    fn try_faces(&self, best: &mut Best, known: &mut Differences, bar: f64) -> bool {
        let (roundings, back) = (self.roundings(), self.frame.transpose());
        let mut least = bar + roundings;
        let mut is_within_reach = |normal: DVec3, feature: AxisFeature, least: &mut f64| {
            let difference = self.point_of_a(normal) - self.point_of_b(normal);
            best.take(normal, difference.dot(normal) - roundings, feature);
            *least = best.axis.separation.max(bar) + roundings;
            (difference, best.axis.separation <= best.reach)
        };
        for (i, face) in self.a.faces.iter().enumerate() {
            if known.rule_out(-face.normal, least) {
                continue;
            }
            let feature = AxisFeature::number(i, AxisFeature::FaceOfA);
            let (difference, is_within) = is_within_reach(-face.normal, feature, &mut least);
            known.add(difference);
            if !is_within {
                return false;
            }
        }
        let mut known_by_b = known.map(|difference| back * difference);
        for (i, face) in self.b.faces.iter().enumerate() {
            if known_by_b.rule_out(face.normal, least) {
                continue;
            }
            let feature = AxisFeature::number(i, AxisFeature::FaceOfB);
            let (difference, is_within) = is_within_reach(self.frame * face.normal, feature, &mut least);
            known.add(difference);
            known_by_b.add(back * difference);
            if !is_within {
                return false;
            }
        }
        true
    }

    /// Whether edges are not where a solid ends, as those of a polygon that stands for a circle, or b is a triangle: its two faces have
    /// opposite normals, and whether arcs between them cross is left to rounding where edges lie in its plane.
    fn is_rough(&self) -> bool {
        self.a.round.is_some() || self.b.round.is_some() || self.b.is_flat()
    }

    fn edge_of_a(&self, edge: &SolidEdge) -> PlacedEdge {
        // From b to a an edge of a has the normals between those of its faces, turned round.
        PlacedEdge {
            ends: edge.ends.map(|end| self.a.corners[end as usize]),
            normals: edge.faces.map(|faces| faces.map(|face| -self.a.faces[face as usize].normal)),
        }
    }

    fn edge_of_b(&self, edge: &SolidEdge) -> PlacedEdge {
        let normal = |face: u32| self.frame * self.b.faces[face as usize].normal;
        PlacedEdge {
            ends: edge.ends.map(|end| self.point_in_a(self.b.corners[end as usize])),
            normals: edge.faces.map(|faces| faces.map(normal)),
        }
    }

    /// Unit vector across an edge of each, from b to a, if it may separate. `middle` is that of b.
    #[inline]
    fn across(&self, edge_a: &PlacedEdge, edge_b: &PlacedEdge, middle: DVec3) -> Option<DVec3> {
        if !meet_on_sphere(edge_a, edge_b) {
            return None;
        }
        let (along_a, along_b) = (edge_a.along(), edge_b.along());
        let across = along_a.cross(along_b);
        let length = across.length();
        if length < PARALLEL * along_a.length() * along_b.length() {
            return None;
        }
        let ([from_a, _], [from_b, _]) = (edge_a.ends, edge_b.ends);
        // From b to a: out of b, or into a where b is a line.
        let inwards = match (self.b.faces.is_empty(), self.a.faces.is_empty()) {
            (false, _) => middle - from_b,
            (true, false) => from_a - self.a.middle,
            (true, true) => middle - self.a.middle,
        };
        Some(if across.dot(inwards) > 0.0 { -across / length } else { across / length })
    }

    /// Tries the axes across an edge of each that may be better than the best one and have a larger separation than `bar` \[m\].
    fn try_edges(&self, middle: DVec3, best: &mut Best, known: &Differences, bar: f64) {
        let (roundings, is_rough) = (self.roundings(), self.is_rough());
        let bar = best.axis.separation.max(bar) + roundings;
        let known_by_a = known.map(|difference| -difference);
        let known_by_b = known.map(|difference| self.frame.transpose() * difference);
        let mut of_b: Vec<(usize, PlacedEdge)> = Vec::new();
        known_by_b.for_edges_not_ruled_out(self.b, bar, |i, edge| of_b.push((i, self.edge_of_b(edge))));
        if of_b.is_empty() {
            return;
        }
        known_by_a.for_edges_not_ruled_out(self.a, bar, |i, edge| {
            let edge_a = self.edge_of_a(edge);
            for (j, edge_b) in &of_b {
                let Some(normal) = self.across(&edge_a, edge_b, middle) else { continue };
                let between = edge_a.ends[0] - edge_b.ends[0];
                let separation = if is_rough { self.along(normal) } else { normal.dot(between) - roundings };
                let feature =
                    AxisFeature::number(i, |i| AxisFeature::number(*j, |j| AxisFeature::Edges(i, j)));
                best.take(normal, separation, feature);
            }
        });
    }

    /// Tries the axis between two axes of revolution and the normals of sides, and improves the best axis by cutting planes.
    fn try_round(&self, best: &mut Best) {
        if let Some(normal) = self.between_axes() {
            best.take(normal, self.along(normal), AxisFeature::Other);
            best.take(-normal, self.along(-normal), AxisFeature::Other);
        }
        let (on_a, on_b) = (self.point_of_a(best.axis.normal), self.point_of_b(best.axis.normal));
        if let Some(normal) = self.a.round.as_ref().and_then(|round| side_towards(round, on_b)) {
            best.take(-normal, self.along(-normal), AxisFeature::Other);
        }
        let in_b = self.point_in_b(on_a);
        if let Some(normal) = self.b.round.as_ref().and_then(|round| side_towards(round, in_b)) {
            let normal = self.frame * normal;
            best.take(normal, self.along(normal), AxisFeature::Other);
        }
        self.improve(best);
    }

    /// Improves an axis by cutting planes. The separation along n is the least of n·w over all differences w of a point of a and a point of
    /// b. From a few of these differences the best axis for them is found exactly; the farthest points along it give another difference,
    /// and so on, until it is no better than what is known.
    fn improve(&self, best: &mut Best) {
        let start = best.axis.normal;
        let difference = |normal: DVec3| self.point_of_a(normal) - self.point_of_b(normal);
        let [first, second] = start.any_orthonormal_pair().into();
        let mut known: Vec<DVec3> = vec![difference(start)];
        known.extend([first, -first, second, -second].map(|to| difference((start + LEAN * to).normalize())));
        let (size, sums) = (self.size(), self.roundings());
        for _ in 0..ROUNDS {
            let Some((normal, bound)) = best_for(&known, start) else { return };
            if bound - sums <= best.axis.separation + CLOSE * size {
                return;
            }
            best.take(normal, self.along(normal), AxisFeature::Other);
            let newest = difference(normal);
            if known.len() == MOST_KNOWN {
                let idle =
                    (0..known.len()).max_by(|&i, &j| known[i].dot(normal).total_cmp(&known[j].dot(normal)));
                known[idle.unwrap_or(0)] = newest;
            } else {
                known.push(newest);
            }
        }
    }

    /// Direction across the axes of two solids of revolution, from the nearest point of one axis to that of the other.
    fn between_axes(&self) -> Option<DVec3> {
        let is_revolved =
            |solid: &Convex| solid.round.is_some() || (solid.rounding > 0.0 && solid.faces.is_empty());
        if !is_revolved(self.a) || !is_revolved(self.b) {
            return None;
        }
        let axis = self.frame.z_axis;
        let across = DVec3::Z.cross(axis);
        match across.try_normalize().filter(|_| across.length() > PARALLEL) {
            Some(across) => Some(across * if across.dot(self.origin) > 0.0 { -1.0 } else { 1.0 }),
            None => (-self.origin.reject_from_normalized(axis)).try_normalize(),
        }
    }
}

/// Normal of the side of a truncated cone towards a point.
fn side_towards(round: &Revolved, point: DVec3) -> Option<DVec3> {
    point.truncate().try_normalize().map(|outward| round.side_normal(outward))
}

/// Unit vector n near `start` with the largest least n·w over these differences w, and that value \[m\]: across a side or a triangle of
/// three of them, or towards one.
fn best_for(known: &[DVec3], start: DVec3) -> Option<(DVec3, f64)> {
    let mut best: Option<(DVec3, f64)> = None;
    let mut take = |direction: DVec3| {
        let Some(normal) = direction.try_normalize() else { return };
        let normal = if normal.dot(start) < 0.0 { -normal } else { normal };
        if normal.dot(start) < NEAR {
            return;
        }
        let least = known.iter().map(|w| w.dot(normal)).fold(f64::INFINITY, f64::min);
        if best.is_none_or(|(_, most)| least > most) {
            best = Some((normal, least));
        }
    };
    for (i, &first) in known.iter().enumerate() {
        take(first);
        for (j, &second) in known.iter().enumerate().skip(i + 1) {
            take(first.reject_from(second - first));
            known[j + 1..].iter().for_each(|&third| take((second - first).cross(third - first)));
        }
    }
    best
}

/// An edge of a solid in the frame of a.
struct PlacedEdge {
    ends: [DVec3; 2],
    /// Normals of the faces that meet there, towards b of an edge of b and away from b of one of a: the axes from b to a at which the
    /// edge is nearest lie between them. `None` for a line, which has all normals across it.
    normals: Option<[DVec3; 2]>,
}

impl PlacedEdge {
    #[inline]
    fn along(&self) -> DVec3 {
        self.ends[1] - self.ends[0]
    }
}

/// Whether the arcs of normals of an edge of a and of an edge of b cross, so that the axis across both may separate.
#[inline]
fn meet_on_sphere(a: &PlacedEdge, b: &PlacedEdge) -> bool {
    let (along_a, along_b) = (a.along(), b.along());
    match (a.normals, b.normals) {
        (Some([first, second]), Some([third, fourth])) => {
            let (cba, dba) = (third.dot(along_a), fourth.dot(along_a));
            if cba * dba >= 0.0 {
                return false;
            }
            let (adc, bdc) = (first.dot(along_b), second.dot(along_b));
            // Each edge runs along the cross product of the outward normals of its faces, so the arcs lie on the same half of the sphere.
            adc * bdc < 0.0 && cba * bdc > 0.0
        }
        // A line has all normals across it.
        (None, Some([third, fourth])) => third.dot(along_a) * fourth.dot(along_a) < 0.0,
        (Some([first, second]), None) => first.dot(along_b) * second.dot(along_b) < 0.0,
        (None, None) => true,
    }
}

/// Differences of a point of a and a point of b \[m\]. Along any axis n the separation, without roundings, is the least n·w over all such
/// w, so those that are known bound it.
///
/// Listed by coordinates, with the first one in the places of those that are not known.
#[derive(Clone, Copy)]
struct Differences {
    x: [f64; MOST_KNOWN],
    y: [f64; MOST_KNOWN],
    z: [f64; MOST_KNOWN],
    count: usize,
}

impl Differences {
    fn of(first: DVec3) -> Differences {
        let [x, y, z] = first.to_array().map(|value| [value; MOST_KNOWN]);
        Differences { x, y, z, count: 1 }
    }

    /// Keeps a difference if there is room.
    #[inline]
    fn add(&mut self, difference: DVec3) {
        if self.count < MOST_KNOWN {
            (self.x[self.count], self.y[self.count], self.z[self.count]) = difference.into();
            self.count += 1;
        }
    }

    /// Products of a vector and all differences.
    #[inline(always)]
    fn along(&self, normal: DVec3) -> [f64; MOST_KNOWN] {
        std::array::from_fn(|i| self.x[i] * normal.x + self.y[i] * normal.y + self.z[i] * normal.z)
    }

    /// Whether the separation along a unit vector is known to be `bar` \[m\] at most, without roundings.
    #[inline]
    fn rule_out(&self, normal: DVec3, bar: f64) -> bool {
        self.along(normal).into_iter().fold(false, |is_out, along| is_out | (along <= bar))
    }

    fn map(&self, of: impl Fn(DVec3) -> DVec3) -> Differences {
        let mut mapped = *self;
        for i in 0..MOST_KNOWN {
            (mapped.x[i], mapped.y[i], mapped.z[i]) = of(DVec3::new(self.x[i], self.y[i], self.z[i])).into();
        }
        mapped
    }

    /// Visits the edges of a solid that may have an axis between the normals of their faces with a larger separation than `bar` \[m\],
    /// without roundings; lines always may. A unit vector between these normals is α n + β n' with α, β ≥ 0 and
    /// 1 ≤ α + β ≤ 1/cos(half the angle).
    fn for_edges_not_ruled_out<'s>(
        &self,
        solid: &'s Convex,
        bar: f64,
        mut visit: impl FnMut(usize, &'s SolidEdge),
    ) {
        let least = bar.min(0.0);
        let mask = |face: &SolidFace| {
            let along = self.along(face.normal);
            along.iter().enumerate().fold(0_u8, |mask, (i, along)| mask | u8::from(*along > least) << i)
        };
        // Opposite normals are not what those between them are made of.
        let masks: Vec<u8> =
            if solid.is_flat() { Vec::new() } else { solid.faces.iter().map(mask).collect() };
        let may_exceed = |[first, second]: [u32; 2]| {
            if solid.is_flat() {
                return true;
            }
            if masks[first as usize] | masks[second as usize] != u8::MAX {
                return false;
            }
            let normals = [first, second].map(|face| solid.faces[face as usize].normal);
            let spread = || (2.0 / (1.0 + normals[0].dot(normals[1])).max(f64::MIN_POSITIVE)).sqrt();
            let [one, other] = normals.map(|normal| self.along(normal));
            bar <= 0.0 || one.iter().zip(&other).all(|(one, other)| spread() * one.max(*other) > bar)
        };
        for (i, edge) in solid.edges.iter().enumerate() {
            if edge.faces.is_none_or(may_exceed) {
                visit(i, edge);
            }
        }
    }
}

/// The best axis so far, and the distance beyond which none is looked for \[m\].
struct Best {
    axis: SeparatingAxis,
    feature: AxisFeature,
    reach: f64,
}

impl Best {
    fn none(reach: f64) -> Best {
        let axis = SeparatingAxis { normal: DVec3::Z, separation: f64::NEG_INFINITY };
        Best { axis, feature: AxisFeature::Other, reach }
    }

    #[inline]
    fn take(&mut self, normal: DVec3, separation: f64, feature: AxisFeature) {
        if separation > self.axis.separation {
            self.axis = SeparatingAxis { normal, separation };
            self.feature = feature;
        }
    }
}

/// The axis along which two solids are farthest apart or overlap the least, in world axes; `None` if they are farther apart than
/// `reach` \[m\].
pub fn separation(
    a: &Convex,
    at_a: &SolidPose,
    b: &Convex,
    at_b: &SolidPose,
    reach: f64,
) -> Option<SeparatingAxis> {
    let axis = Pair::new(a, at_a, b, at_b).axis(reach / at_a.scale)?;
    Some(SeparatingAxis { normal: at_a.orientation * axis.normal, separation: at_a.scale * axis.separation })
}
