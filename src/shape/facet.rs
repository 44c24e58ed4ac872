//! Facet: a triangle of a mesh that is no convex solid, and the points at which a convex solid touches it.
//!
//! The axis along which the solid and the triangle overlap the least is one of the mesh only if the mesh has its farthest point there: at
//! the face itself, at an edge where it is convex and the axis lies between the normals of both triangles, or at a vertex all of whose
//! neighbours are lower. At other edges and vertices, which are flat or concave, the axis turns to the normal of the triangle, so that
//! nothing is caught by the joints of a flat face. An axis along the normal of a neighbour is left to that neighbour. Twin:
//! `meet_facet` in `shaders/facets.wgsl`.

use glam::DVec3;

use super::convex::Convex;
use super::manifold::{Manifold, ManifoldBounds, SurfaceExtent, in_world, manifold_along};
use super::pair::{Pair, SolidPose};
use super::separation::SeparatingAxis;

/// Sine of the angle up to which an edge lies across an axis, and an axis along the normal of a face \[-\].
const ACROSS: f64 = 1e-3;
/// Sine of the angle between an axis and the normal of a triangle up to which the axis is that normal \[-\]: larger than that up to which
/// it is left to a neighbour, so that one of the two takes it.
const ALONG: f64 = 3.0 * ACROSS;
/// Cosine of the angle between an axis and a face beyond which the face is seen from its side \[-\]: its edge stands for it.
const SIDEWAYS: f64 = 0.2;
/// Cosine of the angle between an axis and the plane of a triangle up to which the axis lies in it \[-\].
const LEVEL: f64 = 1e-6;
/// By how much an axis across edges must be better than one across a face, over the separation and over the size of a triangle \[-\].
const EDGE_BAR: f64 = 1e-4;

/// A triangle of a mesh with what is around it, in the frame of the mesh.
#[derive(Debug, Clone, Copy)]
pub struct Facet<'a> {
    /// Its corners, counter-clockwise seen from where its normal points \[m\].
    pub corners: [DVec3; 3],
    /// Corner of the other triangle at each edge, from each corner to the next; `None` where the mesh ends or branches \[m\].
    pub beyond: [Option<DVec3>; 3],
    /// Vertices that share an edge with each corner, as indices in `vertices`.
    pub around: [&'a [u32]; 3],
    /// Vertices of the mesh \[m\].
    pub vertices: &'a [DVec3],
    /// Whether the mesh is the surface of a solid, which lies behind the triangle; a sheet is touched from both sides.
    pub is_of_solid: bool,
}

/// How a solid meets a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "taken apart where it is returned, never stored")]
pub enum FacetMeeting {
    /// The two are apart, or the neighbours of the triangle are what the solid touches.
    None,
    /// The solid overlaps a triangle of the surface of a solid more from behind than from in front.
    Behind,
    /// The points of the contact.
    Touching(Manifold),
}

/// What an axis is to a triangle in its mesh.
enum AxisRole {
    /// Normal of the triangle.
    Face,
    /// An axis at an edge or a vertex that is convex.
    Convex,
    /// An axis at an edge or a vertex that is flat or concave.
    Inner,
    /// Normal of a neighbour.
    Neighbours,
}

impl Facet<'_> {
    fn normal(&self) -> DVec3 {
        let [a, b, c] = self.corners;
        (b - a).cross(c - a).normalize()
    }

    /// Corners that are farthest along a unit vector.
    fn farthest(&self, along: DVec3) -> [bool; 3] {
        let heights = self.corners.map(|corner| corner.dot(along));
        let top = (0..3).fold(0, |top, i| if heights[i] > heights[top] { i } else { top });
        let slack = |i: usize| ACROSS * self.corners[i].distance(self.corners[top]);
        std::array::from_fn(|i| heights[top] - heights[i] <= slack(i))
    }

    /// What an axis is to the triangle, whose normal is given.
    fn role_of(&self, axis: DVec3, normal: DVec3, farthest: [bool; 3]) -> AxisRole {
        // Largest sine of the height of other vertices over one corner.
        let slope = |from: DVec3, to: DVec3| (to - from).dot(axis) / to.distance(from);
        let role = |steepest: f64| {
            if steepest > ACROSS {
                AxisRole::Inner
            } else if steepest >= -ACROSS {
                AxisRole::Neighbours
            } else {
                AxisRole::Convex
            }
        };
        if axis.cross(normal).length() <= ALONG {
            return AxisRole::Face;
        }
        match farthest {
            [true, true, true] => AxisRole::Face,
            [true, false, false] | [false, true, false] | [false, false, true] => {
                let corner = farthest.iter().position(|&is_farthest| is_farthest).unwrap_or(0);
                let neighbours = self.around[corner].iter().map(|&vertex| self.vertices[vertex as usize]);
                role(neighbours.map(|vertex| slope(self.corners[corner], vertex)).fold(-1.0, f64::max))
            }
            _ => {
                let edge = (0..3).find(|&i| farthest[i] && farthest[(i + 1) % 3]).unwrap_or(0);
                let [from, to] = [self.corners[edge], self.corners[(edge + 1) % 3]];
                let height = |vertex: DVec3| {
                    let apart = (vertex - from).reject_from(to - from);
                    apart.dot(axis) / apart.length()
                };
                role(self.beyond[edge].map_or(-1.0, height))
            }
        }
    }

    /// The corners that are farthest, which are what is seen of a triangle from its side.
    fn farthest_alone(&self, farthest: [bool; 3]) -> Convex {
        let corners = self.corners.into_iter().zip(farthest).filter(|(_, is_farthest)| *is_farthest);
        Convex::of_corners(corners.map(|(corner, _)| corner).collect())
    }
}

/// Meets a convex solid with a triangle of a mesh at the place `at_b` of the mesh.
pub fn meet_facet(
    a: &Convex,
    at_a: &SolidPose,
    facet: &Facet<'_>,
    at_b: &SolidPose,
    wanted: ManifoldBounds,
) -> FacetMeeting {
    let triangle = Convex::triangle(facet.corners);
    let (pair, bounds) = (Pair::new(a, at_a, &triangle, at_b), wanted.over(at_a.scale));
    let Some(SeparatingAxis { normal: axis, .. }) = pair.axis(bounds.reach) else {
        return FacetMeeting::None;
    };
    let (own, along) = (facet.normal(), pair.frame.transpose() * axis);
    let farthest = facet.farthest(along);
    let role = facet.role_of(along, own, farthest);
    let is_front = match role {
        AxisRole::Face => along.dot(own) > 0.0,
        _ => (pair.point_in_b(a.middle) - facet.corners[0]).dot(own) > 0.0,
    };
    // What of the triangle is seen along the axis, if not all of it.
    let (axis, seen) = match role {
        AxisRole::Neighbours => return FacetMeeting::None,
        AxisRole::Face | AxisRole::Inner if facet.is_of_solid && !is_front => return FacetMeeting::Behind,
        // Of the triangles at a convex edge or vertex of a solid one at least looks along the axis.
        AxisRole::Convex if facet.is_of_solid && along.dot(own) <= 0.0 => return FacetMeeting::None,
        AxisRole::Convex => {
            (axis, (own.dot(along).abs() <= SIDEWAYS).then(|| facet.farthest_alone(farthest)))
        }
        AxisRole::Face | AxisRole::Inner => (pair.frame * if is_front { own } else { -own }, None),
    };
    let separation = pair.along(axis);
    // A solid that is far behind the plane beyond an inner edge touches something else.
    if matches!(role, AxisRole::Inner) && separation < -bounds.reach {
        return FacetMeeting::None;
    }
    let pair = Pair { b: seen.as_ref().unwrap_or(&triangle), ..pair };
    let manifold =
        manifold_along(&pair, &SeparatingAxis { normal: axis, separation }, bounds, SurfaceExtent::Part);
    manifold.map_or(FacetMeeting::None, |manifold| FacetMeeting::Touching(in_world(manifold, at_a)))
}

/// Two triangles of meshes, in the frame of the first.
struct FacetPair<'a> {
    pair: Pair<'a>,
    a: &'a Facet<'a>,
    b: &'a Facet<'a>,
    normal_a: DVec3,
    normal_b: DVec3,
}

impl FacetPair<'_> {
    /// Whether a unit vector from b to a leads out of b and into a, or across their planes. A triangle has no thickness, but there is a
    /// solid behind it: along all other directions the two count as overlapping however far they have passed each other.
    fn may_part(&self, normal: DVec3) -> bool {
        let leads = |is_of_solid: bool, cosine: f64| !is_of_solid || cosine >= -LEVEL;
        leads(self.a.is_of_solid, -normal.dot(self.normal_a))
            && leads(self.b.is_of_solid, normal.dot(self.normal_b))
    }

    /// The axis that may part the two with the largest separation; of nearly equal ones that of a face.
    fn axis(&self) -> Option<SeparatingAxis> {
        let both = |normal: DVec3| [normal, -normal];
        let better = |best: Option<SeparatingAxis>, normal: DVec3, bar: f64| {
            let separation = if self.may_part(normal) { self.pair.along(normal) } else { return best };
            let least = best.map_or(f64::NEG_INFINITY, |best| best.separation + bar * best.separation.abs());
            let is_better = separation > least + bar * self.pair.size();
            if is_better { Some(SeparatingAxis { normal, separation }) } else { best }
        };
        let of_faces = [self.normal_b, -self.normal_a].into_iter().flat_map(both);
        let of_faces = of_faces.fold(None, |best, normal| better(best, normal, 0.0));
        let side = |corners: [DVec3; 3], i: usize| corners[(i + 1) % 3] - corners[i];
        let corners_b = self.b.corners.map(|corner| self.pair.point_in_a(corner));
        let sides = |corners: [DVec3; 3]| [0, 1, 2].map(|i| side(corners, i));
        let (sides_a, sides_b) = (sides(self.a.corners), sides(corners_b));
        let across =
            sides_a.iter().flat_map(|a| sides_b.iter().map(move |b| (a.cross(*b), a.length() * b.length())));
        let beside_a = sides_a.iter().map(|side| (side.cross(self.normal_a), side.length()));
        let beside_b = sides_b.iter().map(|side| (side.cross(self.normal_b), side.length()));
        let of_edges = across.chain(beside_a).chain(beside_b);
        let of_edges = of_edges.filter(|(across, sizes)| across.length() > ACROSS * sizes);
        of_edges
            .flat_map(|(across, _)| both(across.normalize()))
            .fold(of_faces, |best, normal| better(best, normal, EDGE_BAR))
    }
}

/// Meets a triangle of a mesh with one of another mesh: both have to have their farthest point along the axis there. `None` where the two
/// are apart or have passed each other, or their neighbours are what touches.
pub fn meet_facets(
    a: &Facet<'_>,
    at_a: &SolidPose,
    b: &Facet<'_>,
    at_b: &SolidPose,
    wanted: ManifoldBounds,
) -> Option<Manifold> {
    let solids = [a, b].map(|facet| Convex::triangle(facet.corners));
    let (pair, bounds) = (Pair::new(&solids[0], at_a, &solids[1], at_b), wanted.over(at_a.scale));
    let (normal_a, normal_b) = (a.normal(), pair.frame * b.normal());
    let axis = FacetPair { pair, a, b, normal_a, normal_b }.axis()?;
    let (out_of_a, out_of_b) = (-axis.normal, pair.frame.transpose() * axis.normal);
    let farthest = [a.farthest(out_of_a), b.farthest(out_of_b)];
    let roles = [a.role_of(out_of_a, normal_a, farthest[0]), b.role_of(out_of_b, b.normal(), farthest[1])];
    if axis.separation > bounds.reach || roles.iter().any(|role| matches!(role, AxisRole::Neighbours)) {
        return None;
    }
    let leans = [-axis.normal.dot(normal_a), axis.normal.dot(normal_b)];
    let is_of_solid = [a.is_of_solid, b.is_of_solid];
    // Of the triangles at a convex edge or vertex of a solid one at least looks along the axis.
    let faces_away = |i: usize| matches!(roles[i], AxisRole::Convex) && is_of_solid[i] && leans[i] <= 0.0;
    if faces_away(0) || faces_away(1) {
        return None;
    }
    // A sheet is touched from both sides, a solid from outside: an axis in the plane of its face leads to neither by rounding.
    let along_face =
        |normal: DVec3, i: usize| if leans[i] < 0.0 && !is_of_solid[i] { -normal } else { normal };
    let normal = match roles {
        [_, AxisRole::Face | AxisRole::Inner] => along_face(normal_b, 1),
        [AxisRole::Face | AxisRole::Inner, _] => along_face(-normal_a, 0),
        _ => axis.normal,
    };
    let separation = pair.along(normal);
    // What is far behind the plane beyond an inner edge touches something else.
    let is_turned = roles.iter().any(|role| matches!(role, AxisRole::Inner));
    if separation > bounds.reach || (is_turned && separation < -bounds.reach) {
        return None;
    }
    let seen = [(a, leans[0]), (b, leans[1])];
    let seen: [Option<Convex>; 2] = std::array::from_fn(|i| {
        let (facet, lean) = seen[i];
        let is_sideways = matches!(roles[i], AxisRole::Convex) && lean.abs() <= SIDEWAYS;
        is_sideways.then(|| facet.farthest_alone(farthest[i]))
    });
    let [of_a, of_b] = [0, 1].map(|i| seen[i].as_ref().unwrap_or(&solids[i]));
    let pair = Pair { a: of_a, b: of_b, ..pair };
    let manifold = manifold_along(&pair, &SeparatingAxis { normal, separation }, bounds, SurfaceExtent::Part);
    manifold.map(|manifold| in_world(manifold, at_a))
}
