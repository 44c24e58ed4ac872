//! Solids: which surfaces bound convex solids, and the manifolds of a dynamic one with other surfaces.

use std::sync::Arc;

use glam::DVec3;

use super::shape::Part;
use super::{Form, Mesh, Sphere, Surface, Touch, World};
use crate::shape::{Convex, MOST_POINTS, Manifold, Placement, meet, meet_along, meet_half_space};

/// Largest number of vertices of a mesh that is tried as a convex solid: two of them have a million pairs of edges.
const MOST_VERTICES: usize = 512;

/// Height between two surfaces that stand flush, over the contact radius of what touches them \[-\].
const FLUSH: f64 = 1e-3;

/// Bits of a shape id beside which [`Key::b`](crate::contact::Key::b) holds the number of a point of a manifold, from 1 on; 0 at all other
/// contacts.
pub const SHAPE_BITS: u32 = 28;

/// Id of a shape, without the number of a point.
#[inline]
pub const fn shape_id(shape: u32) -> u32 {
    shape & ((1 << SHAPE_BITS) - 1)
}

/// Number of the point of a manifold in a shape b of a key, from 0 on; `None` at a contact with one point.
#[inline]
pub const fn point_number(shape: u32) -> Option<usize> {
    match shape >> SHAPE_BITS {
        0 => None,
        number => Some(number as usize - 1),
    }
}

/// Shapes b of the keys of all points of a manifold with a surface, ascending.
pub fn points_with(surface: u32) -> impl Iterator<Item = u32> {
    (1..=MOST_POINTS as u32).map(move |number| surface | number << SHAPE_BITS)
}

/// What a surface is to solids.
#[derive(Debug, Clone, PartialEq)]
enum Role {
    /// A half space, a thin wall, or a patch of a mesh that is no convex solid.
    Other,
    /// The surface of a convex solid in its own frame; of a mesh its first patch.
    Solid(Arc<Convex>),
    /// Another patch of a mesh that is a convex solid.
    Patch,
}

/// The convex solids of a world, by surface. They follow from the surfaces, so they are not saved.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Solids {
    roles: Vec<Role>,
}

impl Solids {
    /// Finds the solids of these surfaces, of which those up to the number of known ones are known.
    pub(super) fn extend(&mut self, world: &World) {
        for index in self.roles.len()..world.surfaces.len() {
            let role = self.role_of(world, index);
            self.roles.push(role);
        }
    }

    fn role_of(&self, world: &World, index: usize) -> Role {
        let same = |form: &Form| {
            let known = world.surfaces[..index].iter().zip(&self.roles);
            known.filter(|(known, _)| known.form == *form).map(|(_, role)| role.clone()).next_back()
        };
        let form = &world.surfaces[index].form;
        let solid = |make: &dyn Fn() -> Convex| same(form).unwrap_or_else(|| Role::Solid(Arc::new(make())));
        match *form {
            Form::Box { half } => solid(&|| Convex::cuboid(half)),
            Form::Solid { bottom_radius, top_radius, length } => {
                solid(&|| Convex::cone(bottom_radius, top_radius, length))
            }
            Form::Capsule { radius, length } => solid(&|| Convex::capsule(radius, length)),
            Form::Sphere { radius } => solid(&|| Convex::ball(radius)),
            Form::Patch { mesh, patch: 0 } => same(form).unwrap_or_else(|| {
                of_mesh(&world.meshes[mesh]).map_or(Role::Other, |solid| Role::Solid(Arc::new(solid)))
            }),
            Form::Patch { patch, .. } => match self.roles[index - patch as usize] {
                Role::Other => Role::Other,
                _ => Role::Patch,
            },
            Form::Plane | Form::Disc { .. } | Form::Wall { .. } => Role::Other,
        }
    }

    /// The convex solid that a surface bounds, in the frame of the surface; `None` for other surfaces and for all but the first patch of a
    /// mesh.
    pub fn of(&self, surface: u32) -> Option<&Convex> {
        match self.roles.get(surface as usize) {
            Some(Role::Solid(solid)) => Some(solid),
            _ => None,
        }
    }

    /// Whether a surface bounds no convex solid, so that solids touch it with their corners.
    fn is_other(&self, surface: u32) -> bool {
        matches!(self.roles.get(surface as usize), Some(Role::Other) | None)
    }
}

/// The convex solid inside a mesh; `None` if it is not closed, not convex or has many vertices.
fn of_mesh(mesh: &Mesh) -> Option<Convex> {
    if mesh.vertices.len() > MOST_VERTICES {
        return None;
    }
    let faces: Vec<Vec<u32>> = mesh.triangles.iter().map(|triangle| triangle.corners.to_vec()).collect();
    Convex::inside(&mesh.vertices, &faces).ok()
}

impl World {
    /// Finds the solids of all surfaces again, after the surfaces were read and the meshes set.
    #[cfg(feature = "scenario")]
    pub(crate) fn find_solids(&mut self) {
        let mut solids = Solids::default();
        solids.extend(self);
        self.solids = solids;
    }

    /// Whether a vertex may touch a surface: never one of its own body or machine. A solid touches half spaces and other solids, of two
    /// dynamic ones that of the body with the smaller index, and all other surfaces with its corners. Balls touch whatever is there; a
    /// dynamic sphere is surface and ball at once, and of two of them only the ball of the body with the smaller index counts.
    pub fn vertex_meets(&self, vertex: &Sphere, surface: u32) -> bool {
        let Surface { body, form, .. } = self.surfaces[surface as usize];
        if body == vertex.body || self.machines[vertex.body as usize] == self.machines[body as usize] {
            return false;
        }
        let is_dynamic = self.bodies.is_dynamic(body as usize);
        let is_dynamic_sphere = is_dynamic && matches!(form, Form::Sphere { .. });
        match vertex.part {
            Part::Ball => !is_dynamic_sphere || (vertex.body < body && vertex.radius > 0.0),
            Part::Corner => !matches!(form, Form::Plane) && self.solids.is_other(surface),
            Part::Solid(_) => match form {
                Form::Plane => true,
                _ => {
                    self.solids.of(surface).is_some()
                        && !is_dynamic_sphere
                        && (!is_dynamic || vertex.body < body)
                }
            },
        }
    }

    /// The surface that stands in keys for one near a vertex: of a mesh that meets a solid its first patch.
    pub fn solid_surface(&self, vertex: &Sphere, surface: u32) -> u32 {
        match (vertex.part, self.surfaces[surface as usize].form) {
            (Part::Solid(_), Form::Patch { patch, .. }) => surface - patch,
            _ => surface,
        }
    }

    /// Manifold of a dynamic solid with a surface that it meets; `None` for balls and corners, and where the two are farther apart than the
    /// contact radius.
    pub fn manifold(&self, vertex: &Sphere, surface: u32) -> Option<Manifold> {
        let pair = self.solid_pair(vertex, surface)?;
        let Some(other) = pair.other else {
            let normal = pair.there.orientation * DVec3::Z;
            return meet_half_space(pair.own, &pair.at, normal, pair.there.position.dot(normal), pair.reach);
        };
        meet(pair.own, &pair.at, other, &pair.there, pair.reach)
    }

    /// Manifolds of a dynamic solid with several surfaces. Where solids that move alike stand flush, their sides that face each other are
    /// inside: what touches such a side touches the surface of both instead.
    pub fn manifolds(&self, vertex: &Sphere, surfaces: &[u32]) -> Vec<Option<Manifold>> {
        let mut found: Vec<Option<Manifold>> =
            surfaces.iter().map(|&surface| self.manifold(vertex, surface)).collect();
        let inner: Vec<Option<usize>> = (0..surfaces.len())
            .map(|i| {
                (0..surfaces.len())
                    .find(|&j| self.covers(vertex, surfaces[j], surfaces[i], found[i].as_ref()))
            })
            .collect();
        for (i, cover) in inner.iter().enumerate() {
            let Some(cover) = *cover else { continue };
            let normal =
                found[cover].as_ref().filter(|_| inner[cover].is_none()).map(|manifold| manifold.normal);
            found[i] = normal.and_then(|normal| {
                let pair = self.solid_pair(vertex, surfaces[i])?;
                meet_along(pair.own, &pair.at, pair.other?, &pair.there, normal, pair.reach)
            });
        }
        found
    }

    /// Whether a solid or half space covers that side of another solid, moving alike, at which this manifold has its points.
    fn covers(&self, vertex: &Sphere, cover: u32, surface: u32, manifold: Option<&Manifold>) -> bool {
        let bodies = [cover, surface].map(|surface| self.surfaces[surface as usize].body as usize);
        let (Some(manifold), true) = (manifold, cover != surface && self.move_alike(bodies)) else {
            return false;
        };
        let Some(pair) = self.solid_pair(vertex, cover) else { return false };
        let size = vertex.contact_radius;
        let inside = |point: DVec3| {
            let local = pair.there.orientation.conjugate() * (point - pair.there.position);
            pair.other.map_or(local.z, |other| other.height_over_faces(local)) < FLUSH * size
        };
        let mut points = manifold.points.iter().flatten();
        points.all(|point| {
            let on_surface = point.point - 0.5 * point.gap * manifold.normal;
            inside(on_surface + 2.0 * FLUSH * size * manifold.normal)
        })
    }

    /// Whether two bodies move as one: they are the same, or neither is dynamic and both have the same velocities.
    fn move_alike(&self, [one, other]: [usize; 2]) -> bool {
        let bodies = &self.bodies;
        one == other
            || !bodies.is_dynamic(one)
                && !bodies.is_dynamic(other)
                && bodies.velocity[one] == bodies.velocity[other]
                && bodies.angular_velocity[one] == bodies.angular_velocity[other]
    }

    /// A dynamic solid and the solid or half space of a surface at their present places; `None` for balls and corners, and for surfaces that
    /// bound neither.
    fn solid_pair(&self, vertex: &Sphere, surface: u32) -> Option<SolidPair<'_>> {
        let Part::Solid(own) = vertex.part else { return None };
        let centre = self.sphere_centre(vertex);
        let other = &self.surfaces[surface as usize];
        let solid = self.solids.of(surface);
        if solid.is_none() && !matches!(other.form, Form::Plane) {
            return None;
        }
        Some(SolidPair {
            own: self.solids.of(own)?,
            at: self.placement(&self.surfaces[own as usize], self.bodies.position[vertex.body as usize]),
            other: solid,
            there: self
                .placement(other, self.periodic.image(self.bodies.position[other.body as usize], centre)),
            reach: vertex.contact_radius,
        })
    }

    /// Touches at points of manifolds, from contacts sorted by vertex: per contact its index and its touch; `None` where the solids are
    /// apart. A contact whose point is no more has its place where the manifold is deepest. Other contacts are left out.
    pub fn touches_of_solids(&self, pairs: &[(u32, u32)]) -> Vec<(usize, Option<Touch>)> {
        let mut touches = Vec::new();
        let of_solids = || (0..).zip(pairs).filter(|(_, pair)| point_number(pair.1).is_some());
        let all: Vec<(usize, (u32, u32))> = of_solids().map(|(i, &pair)| (i, pair)).collect();
        for group in all.chunk_by(|(_, one), (_, other)| one.0 == other.0) {
            let Some(vertex) = self.ball(group[0].1.0) else { continue };
            let mut surfaces: Vec<u32> = group.iter().map(|(_, pair)| shape_id(pair.1)).collect();
            surfaces.sort_unstable();
            surfaces.dedup();
            let found = self.manifolds(vertex, &surfaces);
            for &(i, (_, b)) in group {
                let manifold = surfaces.binary_search(&shape_id(b)).ok().and_then(|at| found[at].as_ref());
                let touch = manifold.and_then(|manifold| {
                    touch_at(manifold, point_number(b)).or_else(|| touch_at(manifold, None))
                });
                touches.push((i, touch));
            }
        }
        touches
    }

    /// Place of a surface on its body, the body being at `position` \[m\].
    fn placement(&self, surface: &Surface, position: DVec3) -> Placement {
        let orientation = self.bodies.orientation[surface.body as usize];
        Placement {
            position: position + orientation * surface.position,
            orientation: orientation * surface.orientation,
        }
    }
}

/// A dynamic solid and what it meets.
struct SolidPair<'a> {
    own: &'a Convex,
    at: Placement,
    /// The other solid; `None` for a half space.
    other: Option<&'a Convex>,
    there: Placement,
    /// Distance beyond which the two do not meet \[m\].
    reach: f64,
}

/// Touch of a manifold at a point, counted from 0, or at its deepest point; `None` if there is no such point.
pub fn touch_at(manifold: &Manifold, point: Option<usize>) -> Option<Touch> {
    let found = match point {
        Some(point) => manifold.points[point].as_ref(),
        None => manifold.deepest(),
    };
    found.map(|found| Touch { gap: found.gap, normal: manifold.normal, point: found.point })
}
