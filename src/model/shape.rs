//! Shapes, and the touches of spheres with them.
//!
//! Every boundary is made of surfaces with one contact each: a box seen from inside is six planes, a closed drum a wall and two discs.
//! The functions here are pure geometry, shared by the CPU engine and by the observables. Twin for the GPU:
//! `shaders/shared/surface.wgsl`.

use glam::{DQuat, DVec2, DVec3};

pub use crate::shape::Touch;

use super::MaterialId;
use super::motion::top_speed;

/// What a sphere stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum SpherePart {
    /// Itself: a sphere of a grain, or a dynamic sphere.
    #[default]
    Ball,
    /// A dynamic convex solid, with the index of its surface; the sphere is the one around it.
    Solid(u32),
    /// A patch of a dynamic mesh that is no convex solid, with the index of its surface; the sphere is the one around it.
    Patch(u32),
    /// A grain that is a convex polyhedron, with the index of its clump; the sphere is the one around it.
    Hull(u32),
}

/// A sphere of a grain, or the sphere around a part of a dynamic boundary.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Sphere {
    /// Body that carries it.
    pub body: u32,
    /// Centre in the frame of the body \[m\]; zero for a grain of one sphere.
    pub centre: DVec3,
    /// Radius \[m\].
    pub radius: f64,
    /// Contact radius \[m\], which enters R* in the contact laws and scales the skin: the radius of a sphere, half the smallest edge
    /// for a box.
    pub contact_radius: f64,
    /// Material.
    pub material: MaterialId,
    /// What the sphere stands for.
    pub part: SpherePart,
}

impl Sphere {
    /// A sphere of this radius \[m\] without a body and of no material, for tests of whether a place is free: it feels every surface.
    pub fn alone(radius: f64) -> Sphere {
        Sphere {
            body: 0,
            centre: DVec3::ZERO,
            radius,
            contact_radius: radius,
            material: MaterialId::MAX,
            part: SpherePart::Ball,
        }
    }

    /// Bound on the speed of the centre, or of the corners of a polyhedron, from the velocity \[m/s\] and angular velocity \[rad/s\] of the
    /// body.
    #[inline]
    pub fn speed(&self, linear: DVec3, angular: DVec3) -> f64 {
        // Most spheres are in the centre of their body, and need no root of their spin. Corners of a polyhedron move as it turns.
        let reach = match self.part {
            SpherePart::Hull(_) => self.radius,
            _ if self.centre == DVec3::ZERO => return linear.length(),
            _ => self.centre.length(),
        };
        top_speed(linear, angular, reach)
    }
}

/// Side of a wall that the grains are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Side {
    /// Within the wall, towards the axis.
    Inside,
    /// Outside of the wall.
    Outside,
}

/// Geometry of a surface in its own frame.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Form {
    /// A half space: below z = 0 it is solid.
    Plane,
    /// A thin disc at z = 0 that holds grains on its +z side.
    Disc {
        /// Radius \[m\].
        radius: f64,
    },
    /// The thin wall of a truncated cone about z (a cylinder when the radii are equal).
    Wall {
        /// Radius at z = -length/2 \[m\].
        bottom_radius: f64,
        /// Radius at z = +length/2 \[m\].
        top_radius: f64,
        /// Length along z \[m\].
        length: f64,
        /// Side that the grains are on.
        side: Side,
    },
    /// A solid truncated cone about z (a cylinder when the radii are equal) with end caps.
    Solid {
        /// Radius at z = -length/2 \[m\].
        bottom_radius: f64,
        /// Radius at z = +length/2 \[m\].
        top_radius: f64,
        /// Length along z \[m\].
        length: f64,
    },
    /// A solid cylinder about z with a half ball at each end.
    Capsule {
        /// Radius \[m\].
        radius: f64,
        /// Length along z without the half balls \[m\].
        length: f64,
    },
    /// A solid box.
    Box {
        /// Half of each edge \[m\].
        half: DVec3,
    },
    /// A solid sphere.
    Sphere {
        /// Radius \[m\].
        radius: f64,
    },
    /// A smooth part of a mesh, which is a solid or a sheet. Its geometry is in the mesh, which only the world knows.
    Patch {
        /// Index in [`World::meshes`](super::World::meshes).
        mesh: u32,
        /// Index of the patch.
        patch: u32,
    },
}

/// A surface of a boundary.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Surface {
    /// Body that carries it.
    pub body: u32,
    /// Origin of the frame of the surface, in the frame of the body \[m\].
    pub position: DVec3,
    /// Orientation of the frame of the surface, relative to the body.
    pub orientation: DQuat,
    /// Geometry.
    pub form: Form,
    /// Material.
    pub material: MaterialId,
    /// Materials of shapes that do not feel the surface: bit i of material i.
    pub unfelt_by: u32,
}

impl Touch {
    /// Touch of sphere `a` with sphere `b`. The normal of coincident centres is +z.
    #[inline]
    pub fn between_spheres(centre_a: DVec3, radius_a: f64, centre_b: DVec3, radius_b: f64) -> Touch {
        let apart = centre_a - centre_b;
        let distance = apart.length();
        // One division in place of three, as contacts of the smooth method do little else.
        let normal = if distance >= f64::MIN_POSITIVE { apart * (1.0 / distance) } else { DVec3::Z };
        let gap = distance - radius_a - radius_b;
        Touch { gap, normal, point: centre_a - (radius_a + 0.5 * gap) * normal }
    }

    /// Touch of a sphere whose centre is at a `distance` \[m\] from a surface along `normal`.
    pub fn at(centre: DVec3, radius: f64, distance: f64, normal: DVec3) -> Touch {
        let gap = distance - radius;
        Touch { gap, normal, point: centre - (radius + 0.5 * gap) * normal }
    }
}

impl Surface {
    /// Makes a surface with its own frame; the body is set when the boundary is added.
    pub fn new(position: DVec3, orientation: DQuat, form: Form, material: MaterialId) -> Surface {
        Surface { body: 0, position, orientation, form, material, unfelt_by: 0 }
    }

    /// Whether a shape of a material feels the surface.
    #[inline]
    pub fn is_felt_by(&self, material: MaterialId) -> bool {
        material >= Surface::TELLS_APART || self.unfelt_by >> material & 1 == 0
    }

    /// Number of materials of which some may not feel a surface. A bit of the device's word is another flag.
    pub const TELLS_APART: u32 = 31;

    /// Touch of a sphere with this surface, for the given pose of the body; `None` when the centre of the sphere is more than a radius
    /// behind a thin wall.
    pub fn touch(&self, position: DVec3, orientation: DQuat, centre: DVec3, radius: f64) -> Option<Touch> {
        self.touch_within(position, orientation, centre, radius, radius)
    }

    /// As [`Surface::touch`], with another reach behind thin walls than the radius \[m\].
    pub fn touch_within(
        &self,
        position: DVec3,
        orientation: DQuat,
        centre: DVec3,
        radius: f64,
        reach: f64,
    ) -> Option<Touch> {
        let frame = orientation * self.orientation;
        let origin = position + orientation * self.position;
        let local = frame.conjugate() * (centre - origin);
        let (distance, normal) = self.form.distance(local, reach)?;
        Some(Touch::at(centre, radius, distance, frame * normal))
    }
}

impl Form {
    /// Half the edges of the bounding box of the form in its frame, centred at the origin \[m\]; infinite for a plane, and for a patch,
    /// whose geometry is in its mesh.
    pub fn half_extent(&self) -> DVec3 {
        let about_z = |radius: f64, length: f64| DVec3::new(radius, radius, 0.5 * length);
        match *self {
            Form::Plane | Form::Patch { .. } => DVec3::INFINITY,
            Form::Sphere { radius } => DVec3::splat(radius),
            Form::Box { half } => half,
            Form::Disc { radius } => about_z(radius, 0.0),
            Form::Capsule { radius, length } => about_z(radius, length + 2.0 * radius),
            Form::Wall { bottom_radius, top_radius, length, .. }
            | Form::Solid { bottom_radius, top_radius, length } => {
                about_z(bottom_radius.max(top_radius), length)
            }
        }
    }

    /// Signed distance of a point from the surface \[m\] and the direction away from the surface, in its frame; `None` when the point
    /// is more than `reach` behind a thin wall, and for a patch of a mesh.
    pub fn distance(&self, point: DVec3, reach: f64) -> Option<(f64, DVec3)> {
        match *self {
            Form::Plane => Some((point.z, DVec3::Z)),
            Form::Sphere { radius } => {
                let length = point.length();
                let normal = if length > 0.0 { point / length } else { DVec3::Z };
                Some((length - radius, normal))
            }
            Form::Box { half } => Some(distance_to_box(point, half)),
            Form::Capsule { radius, length } => {
                let apart = point - point.z.clamp(-0.5 * length, 0.5 * length) * DVec3::Z;
                let distance = apart.length();
                let normal = if distance > 0.0 { apart / distance } else { DVec3::X };
                Some((distance - radius, normal))
            }
            Form::Patch { .. } => None,
            Form::Disc { radius } => {
                let meridian = Meridian::of(point);
                meridian.lift(thin_segment(meridian.point, DVec2::ZERO, DVec2::new(radius, 0.0), reach))
            }
            Form::Wall { bottom_radius, top_radius, length, side } => {
                let meridian = Meridian::of(point);
                let bottom = DVec2::new(bottom_radius, -0.5 * length);
                let top = DVec2::new(top_radius, 0.5 * length);
                meridian.lift(match side {
                    Side::Inside => thin_segment(meridian.point, bottom, top, reach),
                    Side::Outside => thin_segment(meridian.point, top, bottom, reach),
                })
            }
            Form::Solid { bottom_radius, top_radius, length } => {
                let meridian = Meridian::of(point);
                let bottom = DVec2::new(bottom_radius, -0.5 * length);
                let top = DVec2::new(top_radius, 0.5 * length);
                meridian.lift(Some(distance_to_solid(meridian.point, bottom, top)))
            }
        }
    }
}

/// A point in the half plane through it that ends at the z axis, as (distance from the axis, z).
struct Meridian {
    point: DVec2,
    outward: DVec3,
}

impl Meridian {
    fn of(point: DVec3) -> Meridian {
        let radial = DVec3::new(point.x, point.y, 0.0);
        let length = radial.length();
        let outward = if length > 0.0 { radial / length } else { DVec3::X };
        Meridian { point: DVec2::new(length, point.z), outward }
    }

    fn lift(&self, flat: Option<(f64, DVec2)>) -> Option<(f64, DVec3)> {
        flat.map(|(distance, normal)| (distance, normal.x * self.outward + normal.y * DVec3::Z))
    }
}

/// Distance from a one-sided segment and its normal; the grains are on the left, seen from `from` to `to`.
fn thin_segment(point: DVec2, from: DVec2, to: DVec2, reach: f64) -> Option<(f64, DVec2)> {
    let edge = to - from;
    let length = edge.length();
    let along = edge / length;
    let normal = DVec2::new(-along.y, along.x);
    let offset = point - from;
    let travelled = offset.dot(along);
    if (0.0..=length).contains(&travelled) {
        let distance = offset.dot(normal);
        return (distance >= -reach).then_some((distance, normal));
    }
    let rim = if travelled < 0.0 { from } else { to };
    Some(away_from(point, rim, normal))
}

/// Signed distance from a solid of revolution with flat caps, whose side goes from `bottom` to `top`, and its normal.
fn distance_to_solid(point: DVec2, bottom: DVec2, top: DVec2) -> (f64, DVec2) {
    let along = (top - bottom).normalize();
    let faces = [
        ((point - bottom).dot(DVec2::new(along.y, -along.x)), DVec2::new(along.y, -along.x)),
        (bottom.y - point.y, DVec2::NEG_Y),
        (point.y - top.y, DVec2::Y),
    ];
    let deepest = faces.into_iter().fold(faces[0], |a, b| if b.0 > a.0 { b } else { a });
    if deepest.0 <= 0.0 {
        return deepest;
    }
    let segments = [(bottom, top), (DVec2::new(0.0, bottom.y), bottom), (DVec2::new(0.0, top.y), top)];
    let nearest = segments.map(|(from, to)| nearest_on_segment(point, from, to));
    let closest = nearest
        .into_iter()
        .fold(nearest[0], |a, b| if b.distance_squared(point) < a.distance_squared(point) { b } else { a });
    away_from(point, closest, deepest.1)
}

fn nearest_on_segment(point: DVec2, from: DVec2, to: DVec2) -> DVec2 {
    let edge = to - from;
    let length_squared = edge.length_squared();
    if length_squared == 0.0 {
        return from;
    }
    from + edge * ((point - from).dot(edge) / length_squared).clamp(0.0, 1.0)
}

/// Distance and direction from `origin` to `point`; the direction is `fallback` when they coincide.
fn away_from(point: DVec2, origin: DVec2, fallback: DVec2) -> (f64, DVec2) {
    let apart = point - origin;
    let distance = apart.length();
    if distance > 0.0 { (distance, apart / distance) } else { (0.0, fallback) }
}

fn distance_to_box(point: DVec3, half: DVec3) -> (f64, DVec3) {
    let apart = point - point.clamp(-half, half);
    let distance = apart.length();
    if distance > 0.0 {
        return (distance, apart / distance);
    }
    let depth = half - point.abs();
    let sign = |x: f64| if x < 0.0 { -1.0 } else { 1.0 };
    if depth.x <= depth.y && depth.x <= depth.z {
        (-depth.x, DVec3::X * sign(point.x))
    } else if depth.y <= depth.z {
        (-depth.y, DVec3::Y * sign(point.y))
    } else {
        (-depth.z, DVec3::Z * sign(point.z))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(bottom_radius: f64, top_radius: f64, side: Side) -> Form {
        Form::Wall { bottom_radius, top_radius, length: 2.0, side }
    }

    #[test]
    fn a_cylinder_pushes_to_its_side() {
        let inside = wall(1.0, 1.0, Side::Inside).distance(DVec3::new(0.8, 0.0, 0.1), 0.5).expect("near");
        assert!((inside.0 - 0.2).abs() < 1e-15 && (inside.1 + DVec3::X).length() < 1e-15);
        let outside = wall(1.0, 1.0, Side::Outside).distance(DVec3::new(0.0, 1.3, 0.1), 0.5).expect("near");
        assert!((outside.0 - 0.3).abs() < 1e-15 && (outside.1 - DVec3::Y).length() < 1e-15);
    }

    #[test]
    fn a_grain_that_left_a_thin_wall_is_let_go() {
        let form = wall(1.0, 1.0, Side::Inside);
        assert!(form.distance(DVec3::new(1.4, 0.0, 0.0), 0.5).is_some());
        assert!(form.distance(DVec3::new(1.6, 0.0, 0.0), 0.5).is_none());
    }

    #[test]
    fn a_grain_below_the_lip_of_a_hopper_touches_only_the_rim() {
        let hopper = wall(0.5, 1.5, Side::Inside);
        let (distance, normal) = hopper.distance(DVec3::new(0.5, 0.0, -1.2), 0.1).expect("rim");
        assert!((distance - 0.2).abs() < 1e-15 && (normal + DVec3::Z).length() < 1e-12);
    }

    #[test]
    fn a_hopper_wall_is_normal_to_its_slope() {
        let hopper = wall(0.5, 2.5, Side::Inside);
        let (distance, normal) = hopper.distance(DVec3::ZERO, 0.1).expect("wall");
        let expected = DVec3::new(-1.0, 0.0, 1.0).normalize();
        assert!((normal - expected).length() < 1e-15);
        assert!((distance - 1.5 / 2f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn a_disc_holds_from_above_and_ends_at_its_rim() {
        let disc = Form::Disc { radius: 1.0 };
        assert_eq!(disc.distance(DVec3::new(0.3, 0.4, 0.2), 0.5).map(|x| x.0), Some(0.2));
        assert_eq!(disc.distance(DVec3::new(0.3, 0.4, -0.6), 0.5), None);
        let (distance, normal) = disc.distance(DVec3::new(1.3, 0.0, 0.4), 0.5).expect("rim");
        assert!((distance - 0.5).abs() < 1e-15 && (normal - DVec3::new(0.6, 0.0, 0.8)).length() < 1e-15);
    }

    #[test]
    fn a_solid_cylinder_has_sides_caps_and_edges() {
        let solid = Form::Solid { bottom_radius: 1.0, top_radius: 1.0, length: 2.0 };
        let at = |x, z| solid.distance(DVec3::new(x, 0.0, z), 0.1).expect("solid");
        assert!((at(1.5, 0.0).0 - 0.5).abs() < 1e-15);
        assert!((at(0.2, 1.5).0 - 0.5).abs() < 1e-15);
        assert!((at(1.3, 1.4).0 - 0.5).abs() < 1e-15);
        assert!((at(0.9, 0.0).0 + 0.1).abs() < 1e-15, "inside, nearest to the side");
        assert!((at(0.2, -0.95).1 + DVec3::Z).length() < 1e-15, "inside, nearest to the bottom");
    }

    #[test]
    fn a_box_pushes_out_of_its_nearest_face() {
        let form = Form::Box { half: DVec3::new(1.0, 2.0, 3.0) };
        assert_eq!(form.distance(DVec3::new(-0.9, 0.0, 0.0), 0.1), Some((0.9 - 1.0, DVec3::NEG_X)));
        let (distance, normal) = form.distance(DVec3::new(1.3, 2.4, 0.0), 0.1).expect("box");
        assert!((distance - 0.5).abs() < 1e-15 && (normal - DVec3::new(0.6, 0.8, 0.0)).length() < 1e-15);
    }

    #[test]
    fn coincident_centres_part_upwards() {
        let touch = Touch::between_spheres(DVec3::ONE, 1.0, DVec3::ONE, 2.0);
        assert_eq!((touch.gap, touch.normal), (-3.0, DVec3::Z));
    }
}
