//! Contacts of one sphere with surfaces that meet flush, merged: one sphere on one flush surface has one contact.
//!
//! ```text
//!        ___                 The ball rests on the left face and overlaps it by a little. It overlaps the edge of the right one by nearly
//!      /     \               as much, and the normal of that contact leans against its motion: it would hop.
//!     |   ·   |
//!      \ ___ /
//! ═══════════╦══════════
//!            ║
//! ```
//!
//! An edge contact whose nearest point lies in the plane of a face contact is no edge: the face is already touched there, deeper. Two
//! contacts in the same point are one. The impulses of those that take no part go to the contact that stands for them. Twin: `merge_flush`
//! in `shaders/narrowphase.wgsl`.

use glam::DVec3;

use super::mesh::SMOOTH_ANGLE_DEG;
use super::{Form, Shape, Side, SurfaceBox, World};

/// Difference in height up to which two surfaces are flush, over the radius of the sphere \[-\]. It is the overlap of hard grains: an edge
/// that lies lower is hardly touched, and one that stands higher is a step that the file asks for.
const LEVEL: f64 = 1e-3;

/// Square of the sine of the angle between the normal of a contact and that of a face up to which the contact is with that face \[-\].
/// The nearest point is then within a thousandth of the distance of the face.
const ON_FACE: f64 = 8e-7;

/// Number of surfaces above which it is taken that some may meet flush.
const MANY: usize = 500;

/// Contact of a sphere with a surface, for merging.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlushTouch {
    /// Distance of the centre from the nearest point \[m\].
    pub distance: f64,
    /// Normal from that point to the centre.
    pub normal: DVec3,
    /// Whether the nearest point lies on an edge: the normal is that of no face there.
    pub is_edge: bool,
    /// Class of the motion of the surface: surfaces of different classes may move against each other.
    pub class: u32,
}

/// For each contact of a sphere of this radius \[m\] the one that stands for it: itself if it takes part.
pub fn merge(touches: &[FlushTouch], radius: f64) -> Vec<usize> {
    let level = LEVEL * radius;
    let next: Vec<Option<usize>> = (0..touches.len()).map(|i| standing_for(touches, i, level)).collect();
    let root = |i: usize| std::iter::successors(Some(i), |&i| next[i]).last().unwrap_or(i);
    (0..touches.len()).map(root).collect()
}

/// The face contact in whose plane the nearest point of edge contact `i` lies, or an earlier contact of its kind in the same point.
fn standing_for(touches: &[FlushTouch], i: usize, level: f64) -> Option<usize> {
    let own = &touches[i];
    let covers = |other: &FlushTouch| {
        own.is_edge
            && !other.is_edge
            && own.normal.dot(other.normal) > 0.0
            && (other.distance - own.distance * own.normal.dot(other.normal)).abs() <= level
    };
    let alike = |j: &usize| *j != i && touches[*j].class == own.class;
    let others = || (0..touches.len()).filter(alike);
    let is_earlier =
        |j: &usize| *j < i && touches[*j].is_edge == own.is_edge && is_same(own, &touches[*j], level);
    others().find(|&j| covers(&touches[j])).or_else(|| others().find(is_earlier))
}

/// Whether two contacts are in the same point, with normals that agree within the angle of a patch.
fn is_same(one: &FlushTouch, other: &FlushTouch, level: f64) -> bool {
    let apart = one.distance * one.normal - other.distance * other.normal;
    one.normal.dot(other.normal) >= SMOOTH_ANGLE_DEG.to_radians().cos() && apart.length() <= level
}

impl Form {
    /// Whether a contact with this normal, in the frame of the surface, is with an edge; never for a patch of a mesh, see
    /// [`World::is_edge_contact`].
    pub(super) fn is_edge(&self, normal: DVec3) -> bool {
        let across = normal.x * normal.x + normal.y * normal.y;
        // Sine of the angle to the normal of a mantle, from the part of the normal along it.
        let along_mantle = |bottom: f64, top: f64, length: f64, radial: f64| {
            (radial * (top - bottom) + normal.z * length).powi(2) / ((top - bottom).powi(2) + length * length)
        };
        match *self {
            Form::Plane | Form::Sphere { .. } | Form::Capsule { .. } | Form::Patch { .. } => false,
            Form::Box { .. } => {
                let squares = normal * normal;
                squares.element_sum() - squares.max_element() > ON_FACE
            }
            Form::Disc { .. } => across > ON_FACE,
            Form::Wall { bottom_radius, top_radius, length, side } => {
                let radial = if side == Side::Inside { -across.sqrt() } else { across.sqrt() };
                along_mantle(bottom_radius, top_radius, length, radial) > ON_FACE
            }
            Form::Solid { bottom_radius, top_radius, length } => {
                across > ON_FACE && along_mantle(bottom_radius, top_radius, length, across.sqrt()) > ON_FACE
            }
        }
    }

    /// Whether the surface ends somewhere, or has edges.
    fn has_edges(&self) -> bool {
        !matches!(self, Form::Plane | Form::Sphere { .. } | Form::Capsule { .. })
    }
}

impl World {
    /// Whether a contact of a sphere `a` with a surface `b` that has this normal is with an edge of the surface.
    pub fn is_edge_contact(&self, a: u32, b: u32, normal: DVec3) -> bool {
        let Some(surface) = self.surfaces.get(b as usize) else { return false };
        if let Form::Patch { .. } = surface.form {
            let touches = self.touch_patches(a, [b].into_iter(), f64::INFINITY);
            let nearest = touches.first().and_then(|touch| touch.nearest);
            return nearest.is_some_and(|nearest| nearest.is_edge_for(normal));
        }
        let frame = self.bodies.orientation[surface.body as usize] * surface.orientation;
        surface.form.is_edge(frame.conjugate() * normal)
    }

    /// Per boundary the class of its motion: boundaries of one class never move against each other.
    pub fn motion_classes(&self) -> Vec<u32> {
        let class =
            |body: usize| (0..body).find(|&other| self.move_alike(body, other)).unwrap_or(body) as u32;
        (0..self.boundaries.len()).map(class).collect()
    }

    /// Whether two boundaries never move against each other: the same one, two at rest, or two prescribed motions that are the same.
    pub(super) fn move_alike(&self, body: usize, other: usize) -> bool {
        let [one, two] = [body, other].map(|body| &self.boundaries[body]);
        let rest = !one.changes_place() && !two.changes_place();
        body == other || rest || (one.motion == two.motion && two.dynamic().is_none())
    }

    /// Whether a grain or a dynamic boundary may touch two surfaces that meet flush and never move against each other: they are near
    /// each other, and one of them has edges.
    pub fn may_meet_flush(&self) -> bool {
        let boxes = self.surface_boxes();
        let radii = self.spheres.iter().chain(&self.vertices).map(|ball| ball.contact_radius);
        let largest = radii.fold(0.0, f64::max);
        let has_edges = |around: &SurfaceBox| self.surfaces[around.first()].form.has_edges();
        // Patches of a mesh may meet flush where they share no edge. Of many surfaces it is not asked.
        if boxes.len() > MANY || boxes.iter().any(|around| around.count() > 1) {
            return true;
        }
        let classes = self.motion_classes();
        let meets = |one: &SurfaceBox, other: &SurfaceBox| {
            let [low, high] = one.corners(self);
            one.first() != other.first()
                && classes[one.body()] == classes[other.body()]
                && other.may_reach(self, [low - LEVEL * largest, high + LEVEL * largest])
        };
        let mut with_edges = boxes.iter().filter(|around| has_edges(around));
        with_edges.any(|one| boxes.iter().any(|other| meets(one, other)))
    }

    /// The contact of a sphere `a` with a surface `b` for [`merge`], from its distance \[m\] and normal; `None` for a vertex that is a
    /// point. `classes` are those of [`World::motion_classes`].
    pub fn flush_touch(
        &self,
        (a, b): (u32, u32),
        (distance, normal): (f64, DVec3),
        classes: &[u32],
    ) -> Option<FlushTouch> {
        let Shape::Sphere(ball) = self.shape(a) else { return None };
        let is_edge = self.is_edge_contact(a, b, normal);
        let class = classes[self.shape_body(b) as usize];
        (ball.radius > 0.0).then_some(FlushTouch { distance, normal, is_edge, class })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(from: DVec3, is_edge: bool) -> FlushTouch {
        FlushTouch { distance: from.length(), normal: from.normalize(), is_edge, class: 0 }
    }

    #[test]
    fn an_edge_in_the_plane_of_a_face_takes_no_part_and_one_beside_it_does() {
        let face = touch(DVec3::new(0.0, 0.0, 0.9), false);
        let edge = |height: f64| touch(DVec3::new(-0.3, 0.1, 0.9 - height), true);
        assert_eq!(merge(&[edge(0.0), face], 1.0), [1, 1]);
        assert_eq!(merge(&[edge(9e-4), face], 1.0), [1, 1]);
        assert_eq!(merge(&[edge(1.1e-3), face], 1.0), [0, 1], "it stands out");
        assert_eq!(merge(&[edge(-1.1e-3), face], 1.0), [0, 1], "it lies lower");
        assert_eq!(merge(&[FlushTouch { class: 1, ..edge(0.0) }, face], 1.0), [0, 1], "it may move");
        let wall = touch(DVec3::new(-0.9, 0.0, 0.0), false);
        assert_eq!(merge(&[wall, face, edge(0.0)], 1.0), [0, 1, 1]);
    }

    #[test]
    fn of_contacts_in_the_same_point_the_first_counts() {
        let face = |x: f64| touch(DVec3::new(x, 0.0, 0.9), false);
        let edge = |x: f64| touch(DVec3::new(x, 0.0, 0.9), true);
        assert_eq!(merge(&[face(0.0), face(1e-4)], 1.0), [0, 0]);
        // Faces of a valley of 2° both count.
        assert_eq!(merge(&[face(0.0), face(0.03)], 1.0), [0, 1]);
        // Two edges side by side, and one that leads to a face.
        assert_eq!(merge(&[edge(0.3), edge(0.3005)], 1.0), [0, 0]);
        assert_eq!(merge(&[edge(-0.3), edge(0.3)], 1.0), [0, 1], "the two edges of a groove");
        assert_eq!(merge(&[edge(0.2), edge(0.2), face(0.0)], 1.0), [2, 2, 2]);
    }

    #[test]
    fn a_normal_tells_edges_from_faces_on_every_form() {
        let straight = Form::Wall { bottom_radius: 1.0, top_radius: 1.0, length: 2.0, side: Side::Inside };
        let cone = Form::Solid { bottom_radius: 2.0, top_radius: 1.0, length: 1.0 };
        let slanted = DVec3::new(0.6, 0.0, 0.8);
        for (form, face) in [
            (Form::Box { half: DVec3::ONE }, DVec3::NEG_Y),
            (Form::Disc { radius: 1.0 }, DVec3::Z),
            (straight, DVec3::new(-0.6, 0.8, 0.0)),
            (cone, DVec3::new(0.0, 1.0, 1.0).normalize()),
            (cone, DVec3::NEG_Z),
        ] {
            assert!(!form.is_edge(face) && form.is_edge(slanted), "{form:?}");
            let leaning = DVec3::new(0.002, -0.0012, 0.0017);
            assert!(form.is_edge((face + leaning).normalize()), "{form:?}");
            assert!(!form.is_edge((face + 0.1 * leaning).normalize()), "{form:?}");
        }
        for form in [Form::Plane, Form::Sphere { radius: 1.0 }, Form::Capsule { radius: 1.0, length: 1.0 }] {
            assert!(!form.is_edge(slanted));
        }
    }
}
