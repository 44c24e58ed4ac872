//! Solids: which surfaces bound convex solids, and the manifolds of dynamic solids and of polyhedral grains with other shapes.

mod facets;

use std::sync::{Arc, LazyLock, OnceLock};

use glam::{DQuat, DVec3};

use super::mesh::SMOOTH_ANGLE_DEG;
use super::plane::{cap_volume, lens_volume};
use super::shape::SpherePart;
use super::{Form, Mesh, Sphere, Surface, SurfaceBox, Touch, World};
use crate::law::cohesion::COHESION_RANGE;
use crate::shape::{
    Convex, MOST_POINTS, Manifold, ManifoldBounds, SearchStart, SolidPose, common_volume, may_be_near,
    meet_along, meet_from, meet_half_space,
};

/// Largest number of vertices of a mesh that is tried as a convex solid: two of them have a million pairs of edges.
const MOST_VERTICES: usize = 512;

/// Height between two surfaces that stand flush, over the contact radius of what touches them \[-\].
const FLUSH: f64 = 1e-3;

/// Cosine of the angle between the normals of one point that two patches of a mesh share \[-\].
const SAME_NORMAL: f64 = 0.999;

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

/// Shapes b of the keys of all points of a manifold with a shape, ascending; the shape alone without points.
pub fn points_with(shape: u32, points: usize) -> impl Iterator<Item = u32> {
    let numbers = if points == 0 { 0..=0 } else { 1..=points as u32 };
    numbers.map(move |number| shape | number << SHAPE_BITS)
}

/// What a surface is to solids.
#[derive(Debug, Clone, PartialEq)]
enum SurfaceRole {
    /// A half space, a thin wall, or a patch of a mesh that is no convex solid.
    Other,
    /// The surface of a convex solid in its own frame; of a mesh its first patch.
    Solid(Arc<Convex>),
    /// Another patch of a mesh that is a convex solid.
    Patch,
}

/// The convex solids that surfaces bound. They follow from the surfaces, so they are not saved, and worlds that differ in them alone are
/// equal.
#[derive(Debug, Clone, Default)]
pub struct Solids {
    roles: Vec<SurfaceRole>,
    /// Per thin wall and disc what solids meet, found when the first one does.
    sheets: OnceLock<Vec<Option<Arc<Mesh>>>>,
}

impl PartialEq for Solids {
    fn eq(&self, _: &Solids) -> bool {
        true
    }
}

impl Solids {
    /// Finds the solids of these surfaces, of which those up to the number of known ones are known.
    pub(super) fn extend(&mut self, world: &World) {
        for index in self.roles.len()..world.surfaces.len() {
            let role = self.role_of(world, index);
            self.roles.push(role);
        }
        self.forget_sheets();
    }

    /// Lets thin walls be joined anew, after motions of boundaries were changed: walls may now move against each other.
    pub fn forget_sheets(&mut self) {
        self.sheets = OnceLock::new();
    }

    fn role_of(&self, world: &World, index: usize) -> SurfaceRole {
        let same = |form: &Form| {
            let known = world.surfaces[..index].iter().zip(&self.roles);
            known.filter(|(known, _)| known.form == *form).map(|(_, role)| role.clone()).next_back()
        };
        let form = &world.surfaces[index].form;
        let solid =
            |make: &dyn Fn() -> Convex| same(form).unwrap_or_else(|| SurfaceRole::Solid(Arc::new(make())));
        match *form {
            Form::Box { half } => solid(&|| Convex::cuboid(half)),
            Form::Solid { bottom_radius, top_radius, length } => {
                solid(&|| Convex::cone(bottom_radius, top_radius, length))
            }
            Form::Capsule { radius, length } => solid(&|| Convex::capsule(radius, length)),
            Form::Sphere { radius } => solid(&|| Convex::ball(radius)),
            Form::Patch { mesh, patch: 0 } => same(form).unwrap_or_else(|| {
                of_mesh(&world.meshes[mesh])
                    .map_or(SurfaceRole::Other, |solid| SurfaceRole::Solid(Arc::new(solid)))
            }),
            Form::Patch { patch, .. } => match self.roles[index - patch as usize] {
                SurfaceRole::Other => SurfaceRole::Other,
                _ => SurfaceRole::Patch,
            },
            Form::Plane | Form::Disc { .. } | Form::Wall { .. } => SurfaceRole::Other,
        }
    }

    /// The convex solid that a surface bounds, in the frame of the surface; `None` for other surfaces and for all but the first patch of a
    /// mesh.
    pub fn of(&self, surface: u32) -> Option<&Convex> {
        match self.roles.get(surface as usize) {
            Some(SurfaceRole::Solid(solid)) => Some(solid),
            _ => None,
        }
    }

    /// Whether a surface bounds no convex solid: it is met facet by facet, unless it is a half space.
    pub(super) fn is_other(&self, surface: u32) -> bool {
        matches!(self.roles.get(surface as usize), Some(SurfaceRole::Other) | None)
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
    /// Whether two dynamic solids may stand on each other: there are some of two machines, or grains that are polyhedra.
    pub fn solids_may_stack(&self) -> bool {
        let machines = || self.vertices.iter().filter(|vertex| vertex.part != SpherePart::Ball);
        let mut of_solids = machines().map(|vertex| self.machines[vertex.body as usize]);
        let first = of_solids.next();
        self.has_polyhedra() || of_solids.any(|machine| Some(machine) != first)
    }

    /// Whether some kind of grain is a convex polyhedron.
    pub fn has_polyhedra(&self) -> bool {
        self.clumps.iter().any(|clump| clump.hull.is_some())
    }

    /// Whether some dynamic bodies are solids that meet others by faces, edges and vertices: boundaries or polyhedra.
    pub fn has_solids(&self) -> bool {
        self.has_polyhedra() || self.vertices.iter().any(|vertex| vertex.part != SpherePart::Ball)
    }

    /// Per mesh whether solids meet it triangle by triangle, as it is no convex solid; never without dynamic solids.
    #[cfg(feature = "gpu")]
    pub(crate) fn meshes_met_by_triangle(&self) -> Vec<bool> {
        let mut are_met = vec![false; self.meshes.list().len()];
        if self.has_solids() {
            for (index, surface) in (0..).zip(&self.surfaces) {
                if let Form::Patch { mesh, .. } = surface.form {
                    are_met[mesh as usize] |= self.solids.is_other(index);
                }
            }
        }
        are_met
    }

    /// The sheets that stand for thin walls and discs where solids meet them, per surface; none without solids.
    #[cfg(feature = "gpu")]
    pub(crate) fn sheets(&self) -> Vec<Option<&Mesh>> {
        if !self.has_solids() {
            return vec![None; self.surfaces.len()];
        }
        let sheets = self.solids.sheets.get_or_init(|| super::thin::sheets(self));
        sheets.iter().map(Option::as_deref).collect()
    }

    /// Finds the solids of all surfaces again, after the surfaces were read and the meshes set.
    #[cfg(feature = "scenario")]
    pub(crate) fn find_solids(&mut self) {
        let mut solids = Solids::default();
        solids.extend(self);
        self.solids = solids;
    }

    /// Whether a part of a dynamic boundary may touch a surface: never one of its own body or machine. Of two dynamic solids the one of the
    /// body with the smaller index touches the surface of the other; a convex solid touches the patches of a dynamic mesh that is none; a
    /// dynamic sphere, which is surface and ball at once, touches all others with its ball.
    pub fn vertex_meets(&self, vertex: &Sphere, surface: u32) -> bool {
        let Surface { body, form, .. } = self.surfaces[surface as usize];
        if body == vertex.body || self.machines[vertex.body as usize] == self.machines[body as usize] {
            return false;
        }
        if !self.bodies.is_dynamic(body as usize) {
            return true;
        }
        let is_sphere = matches!(form, Form::Sphere { .. });
        match vertex.part {
            SpherePart::Ball | SpherePart::Hull(_) => !is_sphere || vertex.body < body,
            SpherePart::Solid(_) => !is_sphere && (self.solids.is_other(surface) || vertex.body < body),
            SpherePart::Patch(_) => self.solids.is_other(surface) && vertex.body < body,
        }
    }

    /// The surface that stands in keys for one near a part of a dynamic boundary or a grain: of a mesh that meets a solid its first patch.
    pub fn solid_surface(&self, ball: &Sphere, surface: u32) -> u32 {
        match (ball.part, self.surfaces[surface as usize].form) {
            (SpherePart::Ball, _) => surface,
            (_, Form::Patch { patch, .. }) if !self.solids.is_other(surface) => surface - patch,
            _ => surface,
        }
    }

    /// Calls `visit` with every surface that stands in keys for those whose gap to a vertex or a grain is less than `gap` \[m\], each once
    /// and in ascending order. `boxes` as in [`World::for_each_surface_near`].
    pub fn for_each_met_near(
        &self,
        boxes: &[SurfaceBox],
        ball: &Sphere,
        gap: f64,
        mut visit: impl FnMut(u32),
    ) {
        let mut last = None;
        self.for_each_surface_near(boxes, self.sphere_centre(ball), ball, gap, |near, _| {
            // The patches of a mesh come one after the other.
            let met = self.solid_surface(ball, near);
            if last.replace(met) != Some(met) {
                visit(met);
            }
        });
    }

    /// Number of points of the contact of a sphere or solid (shape a) with a shape; 0 where it is no manifold but a contact of two spheres,
    /// or of a sphere with a surface.
    pub fn manifold_points(&self, ball: &Sphere, shape: u32) -> usize {
        let other = self.ball(shape).map(|other| other.part);
        match (ball.part, other) {
            (SpherePart::Solid(_) | SpherePart::Patch(_), _) => MOST_POINTS,
            (SpherePart::Hull(_), Some(SpherePart::Ball)) | (SpherePart::Ball, Some(SpherePart::Hull(_))) => {
                1
            }
            (SpherePart::Hull(_), _) => MOST_POINTS,
            _ => 0,
        }
    }

    /// Manifold of a solid with a shape; `None` for other contacts, and where the two are farther apart than the contact radius.
    pub fn manifold(&self, ball: &Sphere, shape: u32) -> Option<Manifold> {
        self.manifold_from(ball, shape, &mut SearchStart::default())
    }

    /// The same with a search that starts from the last one; `None` beyond its limit, too.
    fn manifold_from(&self, ball: &Sphere, shape: u32, start: &mut SearchStart) -> Option<Manifold> {
        let points = self.manifold_points(ball, shape);
        if points == 0 {
            return None;
        }
        let wanted = ManifoldBounds { reach: ball.contact_radius, points };
        if let SpherePart::Patch(own) = ball.part {
            return self.patch_met(own, ball, shape, wanted);
        }
        let own = self.solid_of(ball, self.sphere_centre(ball))?;
        let Some(there) = self.solid_at(ball, shape) else {
            return self.facets_met(&own, shape, wanted);
        };
        match there {
            Met::Solid(there) => meet_from(own.solid, &own.at, there.solid, &there.at, wanted, start),
            Met::HalfSpace { normal, height } => meet_half_space(own.solid, &own.at, normal, height, wanted),
        }
    }

    /// Manifolds of a solid with several shapes. Where solids that move alike stand flush, their sides that face each other are inside:
    /// what touches such a side touches the surface of both instead.
    pub fn manifolds(&self, ball: &Sphere, shapes: &[u32]) -> Vec<Option<Manifold>> {
        let mut found = vec![None; shapes.len()];
        self.find_manifolds(ball, shapes, &mut vec![SearchStart::default(); shapes.len()], &mut found);
        found
    }

    /// The same, each with a search that starts from the last one.
    pub fn find_manifolds(
        &self,
        ball: &Sphere,
        shapes: &[u32],
        starts: &mut [SearchStart],
        found: &mut [Option<Manifold>],
    ) {
        for ((found, &shape), start) in found.iter_mut().zip(shapes).zip(starts) {
            *found = self.manifold_from(ball, shape, start);
        }
        let surfaces = shapes.iter().filter(|&&shape| (shape as usize) < self.surfaces.len()).count();
        if surfaces < 2 {
            return;
        }
        self.drop_repeated(shapes, ball.contact_radius, found);
        let cover = |i: usize| {
            (0..shapes.len()).find(|&j| {
                self.covers(ball, shapes[j], shapes[i], found[i].as_ref())
                    && self.is_flush(ball, shapes[j], shapes[i], found[j].as_ref())
            })
        };
        let inner: Vec<Option<usize>> = (0..shapes.len()).map(cover).collect();
        for (i, cover) in inner.iter().enumerate() {
            let Some(cover) = *cover else { continue };
            let above = found[cover].as_ref().filter(|_| inner[cover].is_none());
            let normal = above.and_then(Manifold::deepest).map(|deepest| deepest.normal);
            found[i] = normal.and_then(|normal| {
                let own = self.solid_of(ball, self.sphere_centre(ball))?;
                let Met::Solid(there) = self.solid_at(ball, shapes[i])? else { return None };
                let wanted = ManifoldBounds {
                    reach: ball.contact_radius,
                    points: self.manifold_points(ball, shapes[i]),
                };
                meet_along(own.solid, &own.at, there.solid, &there.at, normal, wanted)
            });
        }
    }

    /// Share of the pull-off force of its bodies that each touch of a solid (shape `a`) has \[-\], of touches with these shapes, gaps
    /// \[m\] and normals \[E2\]. One contact is all touches that are near enough to hold, with one body or with boundaries that move
    /// alike, whose normals agree within the angle of a patch: a face that lies on many tiles holds like one that lies on a plate.
    pub fn shares_of_pull(&self, a: u32, touches: &[(u32, f64, DVec3)]) -> Vec<f64> {
        let holds = |&&(b, gap, _): &&(u32, f64, DVec3)| gap <= COHESION_RANGE * self.effective_radius(a, b);
        let move_alike = |one: u32, other: u32| {
            let bodies = [one, other].map(|shape| self.shape_body(shape) as usize);
            let are_boundaries = bodies.iter().all(|&body| body < self.boundaries.len());
            bodies[0] == bodies[1] || are_boundaries && self.move_alike(bodies[0], bodies[1])
        };
        let least_cosine = SMOOTH_ANGLE_DEG.to_radians().cos();
        let share = |&(b, _, normal): &(u32, f64, DVec3)| {
            let are_one = |&&(other, _, beside): &&(u32, f64, DVec3)| {
                normal.dot(beside) >= least_cosine && move_alike(b, other)
            };
            let count = touches.iter().filter(holds).filter(are_one).count();
            1.0 / count.max(1) as f64
        };
        touches.iter().map(share).collect()
    }

    /// Drops the points of a solid at which it touches a mesh with several patches: those at an edge between two of them.
    fn drop_repeated(&self, shapes: &[u32], size: f64, found: &mut [Option<Manifold>]) {
        // The last one first: those before it still have all their points.
        for i in (1..shapes.len()).rev() {
            let (before, rest) = found.split_at_mut(i);
            let Some((manifold, (_, patches))) = rest[0].as_mut().zip(self.patches_with(shapes[i])) else {
                continue;
            };
            let same = |one: &Touch, other: &Touch| {
                one.point.distance(other.point) <= FLUSH * size && one.normal.dot(other.normal) > SAME_NORMAL
            };
            let known = || shapes.iter().zip(before.iter()).filter(|(shape, _)| patches.contains(shape));
            let is_known = |touch: &Touch| {
                known()
                    .filter_map(|(_, known)| known.as_ref())
                    .any(|known| known.points.iter().flatten().any(|known| same(known, touch)))
            };
            manifold.points = manifold.points.map(|point| point.filter(|touch| !is_known(touch)));
        }
    }

    /// Whether a solid or half space covers that side of another solid, moving alike, at which this manifold has its points.
    fn covers(&self, ball: &Sphere, cover: u32, surface: u32, manifold: Option<&Manifold>) -> bool {
        let is_surface = |shape: u32| (shape as usize) < self.surfaces.len();
        let Some(manifold) =
            manifold.filter(|_| cover != surface && is_surface(cover) && is_surface(surface))
        else {
            return false;
        };
        let bodies = [cover, surface].map(|surface| self.surfaces[surface as usize].body as usize);
        let Some(there) = self.solid_at(ball, cover).filter(|_| self.move_alike(bodies[0], bodies[1])) else {
            return false;
        };
        let size = ball.contact_radius;
        let height = |point: DVec3| match &there {
            Met::Solid(Placed { solid, at }) => {
                at.scale
                    * solid.height_over_faces(at.orientation.conjugate() * (point - at.position) / at.scale)
            }
            Met::HalfSpace { normal, height } => normal.dot(point) - height,
        };
        manifold.points.iter().flatten().all(|touch| {
            let on_surface = touch.point - 0.5 * touch.gap * touch.normal;
            height(on_surface + 2.0 * FLUSH * size * touch.normal) < FLUSH * size
        })
    }

    /// Whether a solid does not stand out over the one that covers a side of it, seen along the normal of the manifold with the latter: a
    /// floor does beyond the foot of a wall, where both are touched.
    fn is_flush(&self, ball: &Sphere, cover: u32, surface: u32, manifold: Option<&Manifold>) -> bool {
        let Some(normal) = manifold.and_then(Manifold::deepest).map(|deepest| deepest.normal) else {
            return false;
        };
        let height = |shape: u32| match self.solid_at(ball, shape)? {
            Met::Solid(Placed { solid, at }) => {
                Some(at.position.dot(normal) + at.scale * solid.extent(at.orientation.conjugate() * normal))
            }
            Met::HalfSpace { normal: own, height } => (own.dot(normal) > 1.0 - FLUSH).then_some(height),
        };
        let heights = height(surface).zip(height(cover));
        heights.is_some_and(|(of_surface, of_cover)| of_surface < of_cover + FLUSH * ball.contact_radius)
    }

    /// The solid that a sphere stands for, with the sphere's centre at this place \[m\]; `None` for a patch.
    fn solid_of(&self, other: &Sphere, centre: DVec3) -> Option<Placed<'_>> {
        let orientation = self.bodies.orientation[other.body as usize];
        match other.part {
            SpherePart::Solid(surface) => Some(Placed {
                solid: self.solids.of(surface)?,
                at: self.placement(&self.surfaces[surface as usize], centre - self.sphere_lever(other)),
            }),
            SpherePart::Hull(clump) => {
                let solid = self.clumps.get(clump as usize)?.hull.as_ref()?;
                let scale = other.radius / solid.radius;
                Some(Placed { solid, at: SolidPose { position: centre, orientation, scale } })
            }
            // A sphere meets a polyhedron as a solid, and nothing else.
            SpherePart::Ball => {
                let at = SolidPose { position: centre, orientation: DQuat::IDENTITY, scale: other.radius };
                Some(Placed { solid: &UNIT_BALL, at })
            }
            SpherePart::Patch(_) => None,
        }
    }

    /// The solid or half space of a shape, in the image nearest to a sphere; `None` for a surface that bounds neither.
    fn solid_at(&self, ball: &Sphere, shape: u32) -> Option<Met<'_>> {
        let near = self.sphere_centre(ball);
        if let Some(other) = self.ball(shape) {
            let centre = self.periodic.image(self.sphere_centre(other), near);
            return self.solid_of(other, centre).map(Met::Solid);
        }
        let surface = self.surfaces.get(shape as usize)?;
        let at =
            self.placement(surface, self.periodic.image(self.bodies.position[surface.body as usize], near));
        if matches!(surface.form, Form::Plane) {
            let normal = at.orientation * DVec3::Z;
            return Some(Met::HalfSpace { normal, height: at.position.dot(normal) });
        }
        self.solids.of(shape).map(|solid| Met::Solid(Placed { solid, at }))
    }

    /// Whether a polyhedron may be nearer to another grain than `gap` \[m\]; the spheres around them are.
    pub fn hulls_are_near(&self, ball: &Sphere, other: &Sphere, gap: f64) -> bool {
        let centre = self.sphere_centre(ball);
        let own = self.solid_of(ball, centre);
        let there = self.solid_of(other, self.periodic.image(self.sphere_centre(other), centre));
        own.zip(there).is_some_and(|(a, b)| may_be_near(a.solid, &a.at, b.solid, &b.at, gap))
    }

    /// Volume that two spheres or polyhedra which overlap by this `depth` \[m\] have in common \[m³\]; of a sphere and a polyhedron the cap
    /// that a face cuts off.
    pub fn common_volume(&self, a: &Sphere, b: &Sphere, depth: f64) -> f64 {
        match (a.part, b.part) {
            (SpherePart::Hull(_), SpherePart::Hull(_)) => {
                let centre = self.sphere_centre(a);
                let own = self.solid_of(a, centre);
                let there = self.solid_of(b, self.periodic.image(self.sphere_centre(b), centre));
                own.zip(there).map_or(0.0, |(a, b)| common_volume(a.solid, &a.at, b.solid, &b.at))
            }
            (SpherePart::Hull(_), _) => cap_volume(b.radius, depth),
            (_, SpherePart::Hull(_)) => cap_volume(a.radius, depth),
            _ => lens_volume(self.plane, [a.radius, b.radius], depth),
        }
    }

    /// Gap \[m\], negative, to the boundary that a polyhedron overlaps most, and the index of that boundary; `None` without an overlap.
    pub fn deepest_boundary_of_solid(&self, boxes: &[SurfaceBox], ball: &Sphere) -> Option<(f64, usize)> {
        let mut near = Vec::new();
        self.for_each_met_near(boxes, ball, 0.0, |surface| near.push(surface));
        let gaps = near.iter().zip(self.manifolds(ball, &near)).filter_map(|(&surface, manifold)| {
            Some((manifold?.deepest()?.gap, self.surfaces[surface as usize].body as usize))
        });
        gaps.filter(|(gap, _)| *gap < 0.0).min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Touches at points of manifolds, from contacts sorted by shape a: per contact its index and its touch; `None` where the solids are
    /// apart. A contact whose point is no more has its place where the manifold is deepest. Other contacts are left out.
    pub fn touches_of_solids(&self, pairs: &[(u32, u32)]) -> Vec<(usize, Option<Touch>)> {
        let mut touches = Vec::new();
        let of_solids = || (0..).zip(pairs).filter(|(_, pair)| point_number(pair.1).is_some());
        let all: Vec<(usize, (u32, u32))> = of_solids().map(|(i, &pair)| (i, pair)).collect();
        for group in all.chunk_by(|(_, one), (_, other)| one.0 == other.0) {
            let Some(ball) = self.ball(group[0].1.0) else { continue };
            let mut shapes: Vec<u32> = group.iter().map(|(_, pair)| shape_id(pair.1)).collect();
            shapes.sort_unstable();
            shapes.dedup();
            let found = self.manifolds(ball, &shapes);
            for &(i, (_, b)) in group {
                let manifold = shapes.binary_search(&shape_id(b)).ok().and_then(|at| found[at].as_ref());
                let touch = manifold.and_then(|manifold| {
                    touch_at(manifold, point_number(b)).or_else(|| touch_at(manifold, None))
                });
                touches.push((i, touch));
            }
        }
        touches
    }

    /// Place of a surface on its body, the body being at `position` \[m\].
    fn placement(&self, surface: &Surface, position: DVec3) -> SolidPose {
        let orientation = self.bodies.orientation[surface.body as usize];
        SolidPose {
            position: position + orientation * surface.position,
            orientation: orientation * surface.orientation,
            scale: 1.0,
        }
    }
}

/// Ball of radius 1, which stands for any sphere.
pub(crate) static UNIT_BALL: LazyLock<Convex> = LazyLock::new(|| Convex::ball(1.0));

/// A solid at its present place.
struct Placed<'a> {
    solid: &'a Convex,
    at: SolidPose,
}

impl Placed<'_> {
    /// Middle of the solid \[m\].
    fn middle(&self) -> DVec3 {
        self.at.position + self.at.orientation * (self.at.scale * self.solid.middle)
    }
}

/// What a solid meets.
enum Met<'a> {
    Solid(Placed<'a>),
    /// All space below `height` along `normal` \[m\].
    HalfSpace {
        normal: DVec3,
        height: f64,
    },
}

/// Touch of a manifold at a point, counted from 0, or at its deepest point; `None` if there is no such point.
pub fn touch_at(manifold: &Manifold, point: Option<usize>) -> Option<Touch> {
    let found = match point {
        Some(point) => manifold.points[point].as_ref(),
        None => manifold.deepest(),
    };
    found.copied()
}
