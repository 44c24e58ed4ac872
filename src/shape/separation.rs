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

impl Pair<'_> {
    /// The axis with the largest separation, in the frame of a; `None` if one was found along which the solids are farther apart than
    /// `reach` \[m\].
    pub fn axis(&self, reach: f64) -> Option<SeparatingAxis> {
        let mut best = Best::none(reach);
        let (a, b) = (self.a, self.b);
        let middle = self.point_in_a(b.middle);
        let apart = a.middle - middle;
        if apart.length() - a.radius - self.scale * b.radius > reach {
            return None;
        }
        if self.roundings() > 0.0
            && let Some(normal) = nearest_points(self).and_then(|[on_a, on_b]| (on_a - on_b).try_normalize())
        {
            best.take(normal, self.along(normal));
        }
        let mut known = Differences::of(apart);
        if !self.try_faces(&mut best, &mut known) {
            return None;
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
            let mut of_edges = Best { axis: SeparatingAxis { separation: bar, ..best.axis }, reach };
            self.try_edges(middle, &mut of_edges, &known);
            if of_edges.axis.separation > bar {
                best = of_edges;
            }
        }
        if a.round.is_some() || b.round.is_some() {
            self.try_round(&mut best);
        }
        if best.axis.separation == f64::NEG_INFINITY {
            let normal = apart.try_normalize().unwrap_or(DVec3::Z);
            best.take(normal, self.along(normal));
        }
        (best.axis.separation <= reach).then_some(best.axis)
    }

    /// Tries the normals of all faces of both; returns whether none of them is out of reach.
    fn try_faces(&self, best: &mut Best, known: &mut Differences) -> bool {
        let roundings = self.roundings();
        let of_a = self.a.faces.iter().map(|face| -face.normal);
        let of_b = self.b.faces.iter().map(|face| self.frame * face.normal);
        for normal in of_a.chain(of_b) {
            if known.rule_out(normal, best.axis.separation + roundings) {
                continue;
            }
            let difference = self.point_of_a(normal) - self.point_of_b(normal);
            known.add(difference);
            best.take(normal, difference.dot(normal) - roundings);
            if best.axis.separation > best.reach {
                return false;
            }
        }
        true
    }

    /// Tries the axes across an edge of each that may be better than the best one.
    fn try_edges(&self, middle: DVec3, best: &mut Best, known: &Differences) {
        let (a, b, roundings) = (self.a, self.b, self.roundings());
        // Edges of a polygon that stands for a circle are not where the solid ends; the two faces of a triangle have opposite normals, and
        // whether arcs between them cross is left to rounding where edges lie in its plane.
        let is_rough = a.round.is_some() || b.round.is_some() || b.is_flat();
        let bar = best.axis.separation + roundings;
        // From b to a an edge of a has the normals between those of its faces, turned round.
        let known_by_a = known.map(|difference| -difference);
        let known_by_b = known.map(|difference| self.frame.transpose() * difference);
        let edges_of_a = known_by_a.edges_not_ruled_out(a, bar);
        let edges_of_b = known_by_b.edges_not_ruled_out(b, bar);
        let of_a = edges_of_a.map(|edge| PlacedEdge {
            ends: edge.ends.map(|end| a.corners[end as usize]),
            normals: edge.faces.map(|faces| faces.map(|face| -a.faces[face as usize].normal)),
        });
        let of_b = edges_of_b.map(|edge| PlacedEdge {
            ends: edge.ends.map(|end| self.point_in_a(b.corners[end as usize])),
            normals: edge.faces.map(|faces| faces.map(|face| self.frame * b.faces[face as usize].normal)),
        });
        let of_b: Vec<PlacedEdge> = of_b.collect();
        for edge_a in of_a {
            for edge_b in &of_b {
                if !meet_on_sphere(&edge_a, edge_b) {
                    continue;
                }
                let (along_a, along_b) = (edge_a.along(), edge_b.along());
                let across = along_a.cross(along_b);
                let length = across.length();
                if length < PARALLEL * along_a.length() * along_b.length() {
                    continue;
                }
                let ([from_a, _], [from_b, _]) = (edge_a.ends, edge_b.ends);
                // From b to a: out of b, or into a where b is a line.
                let inwards = match (b.faces.is_empty(), a.faces.is_empty()) {
                    (false, _) => middle - from_b,
                    (true, false) => from_a - a.middle,
                    (true, true) => middle - a.middle,
                };
                let normal = if across.dot(inwards) > 0.0 { -across / length } else { across / length };
                let separation =
                    if is_rough { self.along(normal) } else { normal.dot(from_a - from_b) - roundings };
                best.take(normal, separation);
            }
        }
    }

    /// Tries the axis between two axes of revolution and the normals of sides, and improves the best axis by cutting planes.
    fn try_round(&self, best: &mut Best) {
        if let Some(normal) = self.between_axes() {
            best.take(normal, self.along(normal));
            best.take(-normal, self.along(-normal));
        }
        let (on_a, on_b) = (self.point_of_a(best.axis.normal), self.point_of_b(best.axis.normal));
        if let Some(normal) = self.a.round.as_ref().and_then(|round| side_towards(round, on_b)) {
            best.take(-normal, self.along(-normal));
        }
        let in_b = self.point_in_b(on_a);
        if let Some(normal) = self.b.round.as_ref().and_then(|round| side_towards(round, in_b)) {
            let normal = self.frame * normal;
            best.take(normal, self.along(normal));
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
            best.take(normal, self.along(normal));
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
struct Differences {
    known: [DVec3; MOST_KNOWN],
    count: usize,
}

impl Differences {
    fn of(first: DVec3) -> Differences {
        Differences { known: [first; MOST_KNOWN], count: 1 }
    }

    /// Keeps a difference if there is room.
    #[inline]
    fn add(&mut self, difference: DVec3) {
        if self.count < MOST_KNOWN {
            self.known[self.count] = difference;
            self.count += 1;
        }
    }

    #[inline]
    fn list(&self) -> &[DVec3] {
        &self.known[..self.count]
    }

    /// Whether the separation along a unit vector is known to be `bar` \[m\] at most, without roundings.
    #[inline]
    fn rule_out(&self, normal: DVec3, bar: f64) -> bool {
        self.list().iter().any(|difference| difference.dot(normal) <= bar)
    }

    fn map(&self, of: impl Fn(DVec3) -> DVec3) -> Differences {
        Differences { known: self.known.map(of), count: self.count }
    }

    /// Edges of a solid that may have an axis between the normals of their faces with a larger separation than `bar` \[m\], without
    /// roundings; lines always may. A unit vector between these normals is α n + β n' with α, β ≥ 0 and 1 ≤ α + β ≤ 1/cos(half the angle).
    fn edges_not_ruled_out<'s>(&self, solid: &'s Convex, bar: f64) -> impl Iterator<Item = &'s SolidEdge> {
        let (known, count) = (self.known, self.count);
        let least = bar.min(0.0);
        let mask = |face: &SolidFace| {
            let bit = |(i, w): (usize, &DVec3)| u32::from(face.normal.dot(*w) > least) << i;
            self.list().iter().enumerate().map(bit).sum()
        };
        let masks: Vec<u32> = solid.faces.iter().map(mask).collect();
        let all = (1 << count) - 1;
        let may_exceed = move |[first, second]: [u32; 2]| {
            // Opposite normals are not what those between them are made of.
            if solid.is_flat() {
                return true;
            }
            if masks[first as usize] | masks[second as usize] != all {
                return false;
            }
            let normals = [first, second].map(|face| solid.faces[face as usize].normal);
            let spread = || (2.0 / (1.0 + normals[0].dot(normals[1])).max(f64::MIN_POSITIVE)).sqrt();
            bar <= 0.0
                || known[..count].iter().all(|w| spread() * w.dot(normals[0]).max(w.dot(normals[1])) > bar)
        };
        solid.edges.iter().filter(move |edge| edge.faces.is_none_or(&may_exceed))
    }
}

/// The best axis so far, and the distance beyond which none is looked for \[m\].
struct Best {
    axis: SeparatingAxis,
    reach: f64,
}

impl Best {
    fn none(reach: f64) -> Best {
        Best { axis: SeparatingAxis { normal: DVec3::Z, separation: f64::NEG_INFINITY }, reach }
    }

    #[inline]
    fn take(&mut self, normal: DVec3, separation: f64) {
        if separation > self.axis.separation {
            self.axis = SeparatingAxis { normal, separation };
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
