//! Flush joints: edges of surfaces that lie in the face of another one, where a grain that slides over them is pushed off though nothing is
//! in its way.
//!
//! ```text
//!        ___                 The ball rests on the left face and overlaps it by a little. It overlaps the edge of the right one by nearly
//!      /     \               as much, and the normal of that contact leans against its motion: it hops. Within a mesh such contacts are
//!     |   ·   |              joined (see `mesh::join`); between surfaces of their own they are not.
//!      \ ___ /
//! ═══════════╦══════════
//!            ║
//! ```

mod edges;

use glam::DVec3;
use rayon::prelude::*;

use super::mesh::{SMOOTH_ANGLE_DEG, bounds_of};
use super::{Form, Sphere, SurfaceBox, World};
use edges::EdgePlace;

/// Difference in height up to which two surfaces are flush, over the radius of the smallest grain \[-\]. It is the overlap of hard grains:
/// an edge that lies lower is hardly touched, and one that stands higher is a step that the file asks for.
const LEVEL: f64 = 1e-3;
/// Distance beyond an edge at which the other surface is looked for, over the same radius \[-\]; wider gaps are gaps. From there the edge
/// is seen under more than the angle of a patch.
const BESIDE: f64 = 0.1;
/// Cosine of the angle between gravity and the normal of a face up to which the face is upright \[-\].
const UPRIGHT: f64 = 0.1;

/// Two boundaries whose surfaces meet flush.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct FlushJoint {
    /// The boundary whose edge is touched, and the one in whose face it lies; the same twice if both are of one boundary.
    pub bodies: [usize; 2],
    /// Place on the edge \[m\].
    pub place: DVec3,
    /// Normal of the two faces.
    pub normal: DVec3,
}

impl FlushJoint {
    /// The two boundaries, the one of the smaller index first.
    fn pair(&self) -> [usize; 2] {
        let [one, other] = self.bodies;
        [one.min(other), one.max(other)]
    }
}

impl World {
    /// Finds boundaries whose surfaces meet flush where a grain of this radius \[m\] has room to slide over the joint. Of each pair of
    /// boundaries one joint is told, of those that look up most the one nearest to the first grain. Dynamic boundaries, and surfaces that
    /// move against each other, are left out.
    pub fn flush_joints(&self, radius: f64) -> Vec<FlushJoint> {
        if !(radius > 0.0 && radius.is_finite()) {
            return Vec::new();
        }
        let boxes = self.surface_boxes();
        let search = Search { world: self, boxes: &boxes, extent: extent_of(self, &boxes), radius };
        let mut found: Vec<FlushJoint> = boxes.iter().flat_map(|own| search.joints_of(own)).collect();
        let from = self.spheres.first().map_or(DVec3::ZERO, |sphere| self.sphere_centre(sphere));
        let falls = |joint: &FlushJoint| (1e3 * search.downwards(joint.normal)).round();
        found.sort_by(|a, b| {
            let nearer = || a.place.distance(from).total_cmp(&b.place.distance(from));
            a.pair().cmp(&b.pair()).then(falls(a).total_cmp(&falls(b))).then_with(nearer)
        });
        found.dedup_by_key(|joint| joint.pair());
        found
    }
}

/// Size of the box around all surfaces that are no planes \[m\].
fn extent_of(world: &World, boxes: &[SurfaceBox]) -> f64 {
    let corners = boxes.iter().flat_map(|around| around.corners(world)).filter(|corner| corner.is_finite());
    let [low, high] = bounds_of(corners);
    (high - low).max(DVec3::ZERO).length()
}

/// Search for the joints of a world, for grains of this radius \[m\].
struct Search<'a> {
    world: &'a World,
    boxes: &'a [SurfaceBox],
    /// Size of the scene \[m\].
    extent: f64,
    radius: f64,
}

impl Search<'_> {
    /// Joints at the edges of a surface, or of all patches of a mesh.
    fn joints_of(&self, own: &SurfaceBox) -> Vec<FlushJoint> {
        let (world, reach) = (self.world, 2.0 * self.radius);
        if world.bodies.is_dynamic(own.body()) {
            return Vec::new();
        }
        let [low, high] = own.corners(world);
        let is_near = |other: &&SurfaceBox| other.may_reach(world, [low - reach, high + reach]);
        let near: Vec<SurfaceBox> = self.boxes.iter().filter(is_near).cloned().collect();
        if near.len() == 1 && own.count() == 1 {
            return Vec::new();
        }
        let of_piece = |piece| {
            let places = world.places_on_edges(own, piece, self.radius);
            places.iter().filter_map(|place| self.joint_at(own, &near, place)).collect::<Vec<_>>()
        };
        (0..world.pieces(own)).into_par_iter().flat_map_iter(of_piece).collect()
    }

    /// The joint at a place on an edge of the surfaces `own`, if there is one: beyond the edge a ball that rests in the plane of its face
    /// rests on another surface, too, and has room.
    fn joint_at(&self, own: &SurfaceBox, near: &[SurfaceBox], place: &EdgePlace) -> Option<FlushJoint> {
        let EdgePlace { point, normal, outwards, .. } = *place;
        let (world, radius, level) = (self.world, self.radius, LEVEL * self.radius);
        let centre = point + BESIDE * radius * outwards + radius * normal;
        let (mut is_free, mut other) = (true, None);
        let smooth = SMOOTH_ANGLE_DEG.to_radians();
        // Over the edge of a face that is turned by the angle of a patch, the ball is off that face by this much.
        let off = level + radius * (BESIDE * smooth.sin() + 1.0 - smooth.cos());
        world.for_each_surface_near(near, centre, &Sphere::alone(radius), off, |surface, touch| {
            let height = (point - centre).dot(touch.normal) + radius + touch.gap;
            let is_flush = touch.normal.dot(normal) >= smooth.cos() && height.abs() <= level;
            if !is_flush {
                is_free &= touch.gap >= -level;
            } else if place.surfaces.contains(&surface) {
                // The surface goes on beyond the edge.
                is_free = false;
            } else if self.move_together(own.body(), surface) {
                other = other.or(Some(surface));
            }
        });
        let other = other.filter(|_| is_free)?;
        let is_reached = !self.is_in_a_mesh(near, centre) && self.may_hold_grains(own.body(), centre, normal);
        let bodies = [own.body(), world.surfaces[other as usize].body as usize];
        is_reached.then_some(FlushJoint { bodies, place: point, normal })
    }

    /// Cosine of the angle between gravity and a normal \[-\]; -1 without gravity, as if all faces looked up.
    fn downwards(&self, normal: DVec3) -> f64 {
        self.world.gravity.try_normalize().map_or(-1.0, |down| down.dot(normal))
    }

    /// Whether grains may slide on a face: it turns, it looks up, or it is upright and faces another surface, as a wall does from inside.
    fn may_hold_grains(&self, body: usize, centre: DVec3, normal: DVec3) -> bool {
        let down = self.downwards(normal);
        if self.world.boundaries[body].turns() || down < -UPRIGHT {
            return true;
        }
        let ahead = self.extent * normal;
        let firsts = self.boxes.iter().map(|around| &self.world.surfaces[around.first()]);
        down <= UPRIGHT && firsts.into_iter().any(|surface| self.world.meets(surface, centre, ahead))
    }

    /// Whether a surface never moves against a boundary, which is not dynamic.
    fn move_together(&self, body: usize, surface: u32) -> bool {
        let other = self.world.surfaces[surface as usize].body as usize;
        let [one, two] = [body, other].map(|body| &self.world.boundaries[body]);
        let rest = !one.changes_place() && !two.changes_place();
        body == other || rest || (one.motion == two.motion && two.dynamic().is_none())
    }

    /// Whether a place is inside a solid mesh, or in a closed sheet that is no vessel around the first grain.
    fn is_in_a_mesh(&self, near: &[SurfaceBox], place: DVec3) -> bool {
        let world = self.world;
        let firsts = near.iter().map(|around| &world.surfaces[around.first()]);
        let mut meshes = firsts.filter(|surface| matches!(surface.form, Form::Patch { .. }));
        let grain = world.spheres.first().map(|sphere| world.sphere_centre(sphere));
        let is_vessel = |surface: &_| {
            !world.is_solid_mesh(surface) && grain.is_some_and(|grain| world.is_inside(surface, grain))
        };
        meshes.any(|surface| world.is_inside(surface, place) && !is_vessel(surface))
    }
}
