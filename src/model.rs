//! The problem and its present state: bodies, shapes and materials, in double precision.
//!
//! A body is prescribed (fixed, or moved as a function of time) or dynamic; every shape points to the body that carries it. Boundaries
//! are made of surfaces, grains of spheres; a dynamic boundary touches the surfaces of others as a solid or with its vertices. Shape ids
//! count surfaces, then vertices, then spheres; warm starting recognises contacts by them. Boundaries come before grains in the list
//! of bodies, so that grains can be added without renumbering.

pub mod body;
pub mod bond;
pub mod clump;
#[cfg(feature = "scenario")]
pub(crate) mod consistent;
pub mod deformation;
pub mod domain;
pub mod drive;
pub mod flush;
pub mod force;
pub mod gate;
#[cfg(feature = "scenario")]
pub mod grain_state;
mod grains;
pub mod heat;
pub mod joint;
pub mod levels;
pub mod liquid;
pub mod material;
pub mod mesh;
mod meshes;
pub mod meter;
pub mod motion;
pub mod nested;
pub mod passage;
pub mod periodic;
pub mod plane;
pub mod random;
pub mod range;
pub mod region;
pub mod rigid;
mod room;
pub mod shape;
pub mod sink;
pub mod solid;
pub mod solids;
mod thin;
mod undisturbed;

use glam::{DQuat, DVec3};

pub use crate::law::pair::{Material, PairLaw};
pub use body::{Axes, Bodies, Kind};
pub use bond::{Bond, Bonds};
pub use clump::Clump;
pub use deformation::{AxisControl, Deformation, DeformationStage};
pub use domain::{Domain, Outside};
pub use drive::{Area, Course, Drive, Span};
pub use force::{AppliedForce, Pull};
pub use gate::{Gate, Residence};
#[cfg(feature = "scenario")]
pub use grain_state::GrainState;
pub use grains::{Grain, Kinds};
pub use heat::{BodyHeat, Heat, WallHeat};
pub use joint::{Joint, JointKind, JointState};
pub use levels::Levels;
pub use liquid::{BridgeVolume, Liquid};
pub use material::Materials;
pub use mesh::Mesh;
pub use meshes::{Meshes, SurfaceBox};
pub use meter::{Layers, Meter, MeterSums};
pub use motion::{Motion, MotionLaw, MotionPart, MotionTiming};
pub use periodic::{Periodic, Tilt, contact_reach};
pub use plane::Plane;
pub use random::Random;
pub use region::Region;
pub use rigid::RigidBody;
pub use shape::{Form, Side, Sphere, SpherePart, Surface, Touch};
pub use sink::{Bins, By, Sink, Taken};
pub use solid::Solid;
pub(crate) use solid::outer;
pub use solids::Solids;
use solids::{point_number, shape_id, touch_at};

/// Index of a material in [`Materials`].
pub type MaterialId = u32;

/// A boundary: a body whose motion is prescribed, or follows from contacts, gravity and joints.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Boundary {
    /// Name, for results and messages.
    pub name: String,
    /// Position before any motion \[m\].
    pub position: DVec3,
    /// Orientation before any motion.
    pub orientation: DQuat,
    /// Motion: none, kinematic or dynamic.
    pub motion: Motion,
}

#[cfg(test)]
impl Boundary {
    /// A floor that never moves, for tests.
    pub(crate) fn floor() -> Boundary {
        let (position, orientation) = (DVec3::ZERO, DQuat::IDENTITY);
        Boundary { name: "floor".into(), position, orientation, motion: Motion::Fixed }
    }
}

/// Index of a clump in [`World::clumps`].
pub type ClumpId = u32;

/// Spheres, clump and density of a grain.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct GrainParts {
    /// Index of its first sphere in [`World::spheres`]; the others follow.
    pub first: u32,
    /// Number of spheres.
    pub count: u32,
    /// Index of its clump in [`World::clumps`]; `None` for a sphere.
    pub clump: Option<ClumpId>,
    /// Density of its own \[kg/m³\]; `None` for that of its material.
    pub density: Option<f64>,
}

impl GrainParts {
    /// Indices of its spheres in [`World::spheres`].
    pub fn spheres(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// The problem and its present state.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct World {
    /// Simulated time \[s\].
    pub time: f64,
    /// Gravity \[m/s²\].
    pub gravity: DVec3,
    /// Materials and the laws between them.
    pub materials: Materials,
    /// Boundaries; boundary `i` is body `i`.
    pub boundaries: Vec<Boundary>,
    /// Surfaces of the boundaries; surface `i` is shape `i`. The patches of a mesh are consecutive.
    pub surfaces: Vec<Surface>,
    /// Meshes of the surfaces that are patches.
    pub meshes: Meshes,
    /// Convex solids that surfaces bound.
    #[cfg_attr(feature = "scenario", serde(skip))]
    pub solids: Solids,
    /// Solids, corners and balls of the dynamic boundaries, which touch surfaces only; vertex `i` is shape `surfaces.len() + i`.
    pub vertices: Vec<Sphere>,
    /// Spheres of the grains; sphere `i` is shape `surfaces.len() + vertices.len() + i`.
    pub spheres: Vec<Sphere>,
    /// Per grain: its spheres and clump. Grain `i` is body `boundaries.len() + i`.
    pub grains: Vec<GrainParts>,
    /// Whether there are grains, or room was made for some that may come.
    pub takes_grains: bool,
    /// Clumps: kinds of grains of several spheres.
    pub clumps: Vec<Clump>,
    /// State of all bodies, boundaries first.
    pub bodies: Bodies,
    /// Joints between boundaries.
    pub joints: Vec<Joint>,
    /// Per joint: its position, and its forces in the last substep.
    pub joint_states: Vec<JointState>,
    /// Per boundary: the machine that it belongs to, as the smallest index of the boundaries that joints connect with it through
    /// dynamic bodies. Bodies of the same machine do not touch each other.
    pub machines: Vec<u32>,
    /// Bonds between grains, or grains and walls; to be set before an engine is made.
    pub bonds: Bonds,
    /// Applied forces, sorted by body ([`World::set_force`]).
    pub forces: Vec<AppliedForce>,
    /// Sinks, which remove grains.
    pub sinks: Vec<Sink>,
    /// Domain that grains are to stay in, if there is one.
    pub domain: Option<Domain>,
    /// Meters of the stress; to be set before an engine is made.
    pub meters: Vec<Meter>,
    /// Gates, through which grains are counted; to be set before an engine is made.
    pub gates: Vec<Gate>,
    /// Residences, in which grains are timed; to be set before an engine is made.
    pub residences: Vec<Residence>,
    /// Sums of the gates, then of the residences, since the start.
    pub counted: Vec<f64>,
    /// Per grain and residence: when the grain came in \[s\]; [`OUTSIDE`](gate::OUTSIDE) if it is not inside.
    pub arrivals: Vec<f64>,
    /// Heat, if bodies have temperatures; to be [set](World::set_heat) before an engine is made.
    pub heat: Option<Heat>,
    /// Liquid that makes bridges between bodies; to be set before an engine is made.
    pub liquid: Option<Liquid>,
    /// Whether engines sum the stress of every grain; to be set before an engine is made.
    pub measures_grains: bool,
    /// Per grain: index of the sink that removed it; `sinks.len()` if it left the domain, `sinks.len() + 1` if it was taken out by
    /// hand. A removed grain keeps its id and its last pose and velocity, and takes part in nothing, until another grain takes its place.
    pub removed: Vec<Option<u32>>,
    /// Per grain: its id, in the order in which grains were added.
    pub ids: Vec<u32>,
    /// Removed grains whose places others have taken: per sink, then those that left the domain, then those that were taken out by hand.
    pub replaced: Vec<Replaced>,
    /// Places of removed grains that the next grains take.
    pub vacancies: Vacancies,
    /// Axes along which the world is periodic; to be set before grains are added.
    pub periodic: Periodic,
    /// How the periodic cell deforms, if it does.
    pub deformation: Option<Deformation>,
    /// Plane in which grains are discs, if the scene is plane; to be set before grains are added.
    pub plane: Option<Plane>,
}

/// Removed grains that are in no place any more.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Replaced {
    /// Their number and mass.
    pub taken: Taken,
    /// Their number and mass per class, for each of the bins of the sink.
    pub classes: Vec<Vec<Taken>>,
    /// Corners of the box around the places where they were removed \[m\].
    pub places: [DVec3; 2],
}

impl Default for Replaced {
    fn default() -> Self {
        let places = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        Replaced { taken: Taken::default(), classes: Vec::new(), places }
    }
}

/// Places of removed grains that were free when grains were added the last time.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Vacancies {
    /// Time of that addition \[s\].
    since: f64,
    /// The free places, ascending.
    places: Vec<u32>,
}

impl World {
    /// A world without bodies.
    pub fn new(gravity: DVec3, materials: Materials) -> World {
        World { gravity, materials, ..World::default() }
    }

    /// Adds a boundary made of `surfaces` (their `body` is set here); a dynamic boundary also gets its vertices.
    ///
    /// # Panics
    /// If grains were added before: shape and body ids would shift.
    pub fn add_boundary(&mut self, boundary: Boundary, surfaces: impl IntoIterator<Item = Surface>) {
        assert!(self.spheres.is_empty(), "boundaries come before grains");
        let body = self.boundaries.len() as u32;
        let first = self.surfaces.len();
        self.surfaces.extend(surfaces.into_iter().map(|surface| Surface { body, ..surface }));
        let mut solids = std::mem::take(&mut self.solids);
        solids.extend(self);
        self.solids = solids;
        let (position, orientation) = boundary.pose_at(0.0);
        match boundary.dynamic() {
            Some(rigid) => {
                let position = self.periodic.wrap(position);
                self.bodies.push_dynamic(Kind::Rigid, position, orientation, rigid);
                let own = first as u32..self.surfaces.len() as u32;
                let vertices: Vec<Sphere> =
                    own.filter_map(|surface| rigid::vertex_of(self, surface)).collect();
                self.vertices.extend(vertices);
            }
            None => {
                self.bodies.push_prescribed(position, orientation);
            }
        }
        self.boundaries.push(boundary);
        self.machines.push(body);
    }

    /// Returns all sinks: those of the scene, then the half spaces behind the faces of the domain if it takes grains out.
    pub fn drains(&self) -> Vec<Sink> {
        let faces = self.domain.as_ref().filter(|domain| domain.takes_out()).map(Domain::faces);
        self.sinks.iter().cloned().chain(faces.into_iter().flatten()).collect()
    }

    /// Whether there is a sink or a domain that takes grains out.
    pub fn has_drains(&self) -> bool {
        !self.sinks.is_empty() || self.domain.as_ref().is_some_and(Domain::takes_out)
    }

    /// Speed that a body without contacts would have after a time `h` \[s\], under gravity and applied forces \[m/s\].
    pub fn free_speed(&self, body: usize, h: f64) -> f64 {
        (self.bodies.velocity[body] + h * self.bodies.pulled(body, &self.pull())).length()
    }

    /// Initial mass, inertia and velocity of a body, if it is a dynamic boundary.
    pub fn dynamic_boundary(&self, body: usize) -> Option<&RigidBody> {
        self.boundaries.get(body)?.dynamic()
    }

    /// Bodies of the dynamic boundaries, with their initial mass, inertia and velocity.
    pub fn dynamic_boundaries(&self) -> impl Iterator<Item = (usize, &RigidBody)> {
        self.boundaries.iter().enumerate().filter_map(|(body, boundary)| Some((body, boundary.dynamic()?)))
    }

    /// Kinetic energy of the given grains, translation and rotation \[J\].
    pub fn kinetic_energy_of(&self, grains: &[usize]) -> f64 {
        grains.iter().map(|&grain| self.bodies.kinetic_energy(self.grain_body(grain))).sum()
    }

    /// Kinetic energy of all dynamic bodies, translation and rotation \[J\].
    pub fn kinetic_energy(&self) -> f64 {
        (0..self.bodies.len()).map(|body| self.bodies.kinetic_energy(body)).sum()
    }

    /// Ratio of the largest to the smallest mass of the dynamic bodies that are not removed \[-\]; 1 without any.
    pub fn mass_ratio(&self) -> f64 {
        let inverses = self.bodies.inverse_mass.iter().filter(|&&inverse| inverse > 0.0);
        let (least, most) = inverses
            .fold((f64::INFINITY, 0.0f64), |(least, most), &inverse| (least.min(inverse), most.max(inverse)));
        if most > 0.0 { most / least } else { 1.0 }
    }

    /// Radius of the largest sphere of a grain \[m\]; 0 without grains.
    pub fn largest_radius(&self) -> f64 {
        self.spheres.iter().map(|sphere| sphere.radius).fold(0.0, f64::max)
    }

    /// Whether sphere `sphere` of a grain is shape `a`, and `other` shape `b`, of their [`Key`](crate::contact::Key): the smaller
    /// sphere is `a`, and of two equal ones that with the smaller index.
    #[inline]
    pub fn comes_first(&self, sphere: usize, other: usize) -> bool {
        let size = |sphere: usize| (self.spheres[sphere].radius, sphere);
        size(sphere) < size(other)
    }

    /// Body that carries a shape.
    #[inline]
    pub fn shape_body(&self, shape: u32) -> u32 {
        match self.shape(shape) {
            Shape::Sphere(sphere) => sphere.body,
            Shape::Surface(surface) => surface.body,
        }
    }

    /// Material of a shape.
    pub fn shape_material(&self, shape: u32) -> MaterialId {
        match self.shape(shape) {
            Shape::Sphere(sphere) => sphere.material,
            Shape::Surface(surface) => surface.material,
        }
    }

    /// Shape id of the first sphere of a grain.
    #[inline]
    pub fn first_grain_shape(&self) -> u32 {
        (self.surfaces.len() + self.vertices.len()) as u32
    }

    /// The shape with this id.
    #[inline]
    pub fn shape(&self, shape: u32) -> Shape<'_> {
        let index = shape_id(shape) as usize;
        let (surfaces, first_sphere) = (self.surfaces.len(), self.first_grain_shape() as usize);
        if index >= first_sphere {
            Shape::Sphere(&self.spheres[index - first_sphere])
        } else if index >= surfaces {
            Shape::Sphere(&self.vertices[index - surfaces])
        } else {
            Shape::Surface(&self.surfaces[index])
        }
    }

    /// Whether a shape is a vertex of a dynamic boundary.
    pub fn is_vertex(&self, shape: u32) -> bool {
        (self.surfaces.len() as u32..self.first_grain_shape()).contains(&shape)
    }

    /// The sphere of a grain or vertex with this shape id; `None` for a surface.
    pub fn ball(&self, shape: u32) -> Option<&Sphere> {
        match self.shape(shape) {
            Shape::Sphere(sphere) => Some(sphere),
            Shape::Surface(_) => None,
        }
    }

    /// The sphere of a grain with this shape id; `None` for a surface or a vertex.
    #[inline]
    pub fn sphere_of(&self, shape: u32) -> Option<&Sphere> {
        shape_id(shape).checked_sub(self.first_grain_shape()).map(|i| &self.spheres[i as usize])
    }

    /// Law between the materials of two shapes.
    #[inline]
    pub fn law(&self, a: u32, b: u32) -> &PairLaw {
        self.materials.law(self.shape_material(a), self.shape_material(b))
    }

    /// Gives a prescribed boundary a constant velocity \[m/s\] from its present pose on, without rotation; a belt stays in place and its
    /// surface gets the velocity. Returns whether the boundary is prescribed.
    pub fn set_boundary_velocity(&mut self, body: usize, velocity: DVec3) -> bool {
        if self.bodies.is_dynamic(body) {
            return false;
        }
        let (time, boundary) = (self.time, &mut self.boundaries[body]);
        if let Motion::Belt(old) = &mut boundary.motion {
            *old = velocity;
            return true;
        }
        let (position, orientation) = boundary.pose_at(time);
        boundary.position = position - time * velocity;
        boundary.orientation = orientation;
        boundary.motion = Motion::velocity(velocity);
        true
    }

    /// Gives a boundary whose last motion is a rotation another angular velocity \[rad/s\] from its present pose on. Returns whether it is
    /// such a boundary.
    pub fn set_boundary_rotation(&mut self, body: usize, angular_velocity: DVec3) -> bool {
        self.boundaries[body].set_rotation(angular_velocity, self.time)
    }

    /// Moves the prescribed boundaries to their poses at `time` \[s\], and sets the velocities that carry them there over the
    /// `step` before \[s\].
    pub fn move_boundaries(&mut self, time: f64, step: f64) {
        let prescribed = |(_, boundary): &(usize, &Boundary)| boundary.dynamic().is_none();
        for (body, boundary) in self.boundaries.iter().enumerate().filter(prescribed) {
            let state = boundary.state_at(time, step);
            self.bodies.position[body] = state.position;
            self.bodies.orientation[body] = state.orientation;
            self.bodies.velocity[body] = state.velocity;
            self.bodies.angular_velocity[body] = state.angular_velocity;
        }
    }

    /// Whether a shape is the sphere of a grain that was removed.
    #[inline]
    pub fn is_removed(&self, shape: u32) -> bool {
        self.grain_of_shape(shape).is_some_and(|grain| !self.is_present(grain))
    }

    /// Touch of two shapes, with a gap or an overlap; `None` if they cannot touch (far behind a wall, or one of them was removed). Of a
    /// solid at the point that `b` names, or at the deepest one. Shape `a` must be a sphere of a grain, or a vertex if `b` is a surface.
    #[inline]
    pub fn touch(&self, a: u32, b: u32) -> Option<Touch> {
        if self.is_removed(a) || self.is_removed(b) {
            return None;
        }
        let Shape::Sphere(ball) = self.shape(a) else { return None };
        if b != shape_id(b) || !matches!(ball.part, SpherePart::Ball) {
            return touch_at(&self.manifold(ball, shape_id(b))?, point_number(b));
        }
        let centre = self.sphere_centre(ball);
        match self.shape(b) {
            Shape::Surface(surface) => self.touch_within(surface, centre, ball, f64::INFINITY),
            Shape::Sphere(other) => {
                let other_centre = self.periodic.image(self.sphere_centre(other), centre);
                Some(Touch::between_spheres(centre, ball.radius, other_centre, other.radius))
            }
        }
    }

    /// The spheres `a` and `b`, if each is the only sphere of a grain that is not removed.
    #[inline]
    pub fn lone_spheres(&self, a: u32, b: u32) -> Option<[&Sphere; 2]> {
        let first = self.first_grain_shape();
        let lone = |shape: u32| {
            let sphere = self.spheres.get(shape.checked_sub(first)? as usize)?;
            let grain = self.grain_of_body(sphere.body as usize)?;
            (sphere.centre == DVec3::ZERO && self.is_present(grain)).then_some(sphere)
        };
        Some([lone(a)?, lone(b)?])
    }

    /// Touch of a sphere with a surface, in the nearest periodic image of its boundary; `None` if they cannot touch.
    pub fn touch_surface(&self, surface: &Surface, centre: DVec3, radius: f64) -> Option<Touch> {
        self.touch_within(surface, centre, &Sphere::alone(radius), f64::INFINITY)
    }

    /// Effective radius R* of two shapes \[m\]: from the contact radii of both; against a wall, that of `a` alone.
    #[inline]
    pub fn effective_radius(&self, a: u32, b: u32) -> f64 {
        let radius_a = self.contact_radius(a);
        let radius_b = match self.shape(b) {
            Shape::Surface(Surface { form: Form::Sphere { radius }, .. }) => Some(*radius),
            Shape::Surface(_) => None,
            Shape::Sphere(sphere) => Some(sphere.contact_radius),
        };
        radius_b.map_or(radius_a, |b| radius_a * b / (radius_a + b))
    }

    /// Pull-off force of two shapes \[E2\] \[N\]. Solids share it among the points at which they hold, see
    /// [`World::shares_of_pull`].
    pub fn pull_off(&self, a: u32, b: u32) -> f64 {
        let law = self.law(a, b);
        if law.is_cohesive() { law.pull_off(self.effective_radius(a, b)) } else { 0.0 }
    }

    /// Largest gap at which a pair of shapes is a contact to be solved \[m\]: `margin` times the mean diameter.
    pub fn pair_margin(&self, a: u32, b: u32, margin: f64) -> f64 {
        let radius_a = self.contact_radius(a);
        let radius_b = self.sphere_of(b).map_or(radius_a, |sphere| sphere.radius);
        margin * (radius_a + radius_b)
    }

    /// Contact radius of a sphere or a vertex \[m\]; 0 for a surface.
    pub fn contact_radius(&self, shape: u32) -> f64 {
        match self.shape(shape) {
            Shape::Sphere(sphere) => sphere.contact_radius,
            Shape::Surface(_) => 0.0,
        }
    }

    /// Centre of a sphere or a vertex; for a surface, the centre of its body \[m\].
    #[inline]
    pub fn centre(&self, shape: u32) -> DVec3 {
        match self.shape(shape) {
            Shape::Sphere(sphere) => self.sphere_centre(sphere),
            Shape::Surface(surface) => self.bodies.position[surface.body as usize],
        }
    }

    /// Centre of a sphere or a vertex, next to its body and not wrapped into the periodic cell \[m\].
    #[inline]
    pub fn sphere_centre(&self, sphere: &Sphere) -> DVec3 {
        self.bodies.position[sphere.body as usize] + self.sphere_lever(sphere)
    }

    /// Vector from the centre of the body to that of its sphere or vertex, in world axes \[m\].
    #[inline]
    pub fn sphere_lever(&self, sphere: &Sphere) -> DVec3 {
        // Most grains are one sphere, which needs no rotation.
        if sphere.centre == DVec3::ZERO {
            return DVec3::ZERO;
        }
        self.bodies.orientation[sphere.body as usize] * sphere.centre
    }

    /// Centre of the body of a shape, in the periodic image whose shape is nearest to `near` \[m\].
    #[inline]
    pub fn image_of_body(&self, shape: u32, near: DVec3) -> DVec3 {
        match self.shape(shape) {
            Shape::Sphere(sphere) => {
                let lever = self.sphere_lever(sphere);
                self.periodic.image(self.bodies.position[sphere.body as usize] + lever, near) - lever
            }
            Shape::Surface(surface) => self.periodic.image(self.bodies.position[surface.body as usize], near),
        }
    }

    /// Bound on the speed of the centre of a sphere, rotation of its body included \[m/s\].
    pub fn sphere_speed(&self, sphere: &Sphere) -> f64 {
        let body = sphere.body as usize;
        sphere.speed(self.bodies.velocity[body], self.bodies.angular_velocity[body])
    }

    /// Smallest contact radius of all vertices and spheres, which scales the smallest skin \[m\]; infinite without any.
    pub fn smallest_contact_radius(&self) -> f64 {
        let radii = self.vertices.iter().chain(&self.spheres).map(|sphere| sphere.contact_radius);
        radii.fold(f64::INFINITY, f64::min)
    }
}

/// A shape of a world.
#[derive(Debug, Clone, Copy)]
pub enum Shape<'a> {
    /// A surface of a boundary.
    Surface(&'a Surface),
    /// A sphere of a grain, or a vertex of a dynamic boundary.
    Sphere(&'a Sphere),
}

/// Volume of a sphere \[m³\].
pub fn sphere_volume(radius: f64) -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * radius.powi(3)
}
