//! The problem and its present state: bodies, shapes and materials, in double precision.
//!
//! A body is prescribed (fixed, or moved as a function of time) or dynamic; shapes point to the bodies that carry them. Surfaces
//! belong to boundaries, spheres to grains; what a dynamic boundary does to other surfaces goes through its vertices. Shape ids
//! count surfaces, then vertices, then spheres, and are what warm starting knows contacts by. Boundaries come before grains in
//! the list of bodies, so that grains can be added without renumbering.

pub mod body;
pub mod clump;
pub mod domain;
pub mod drive;
pub mod force;
mod grains;
pub mod joint;
pub mod levels;
pub mod material;
pub mod mesh;
mod meshes;
pub mod motion;
pub mod periodic;
pub mod plane;
pub mod random;
pub mod region;
pub mod rigid;
mod room;
pub mod shape;
pub mod sink;
pub mod solid;

pub use body::{Axes, Bodies, Kind};
pub use clump::Clump;
pub use domain::{Domain, Outside};
pub use drive::{Area, Course, Drive, Span};
pub use force::{AppliedForce, Pull};
pub use joint::{Joint, JointKind, JointState};
pub use levels::Levels;
pub use material::{Material, Materials, PairLaw};
pub use mesh::Mesh;
pub use meshes::{Meshes, SurfaceBox};
pub use motion::Motion;
pub use periodic::{Periodic, contact_reach};
pub use plane::Plane;
pub use random::Random;
pub use region::Region;
pub use rigid::RigidBody;
pub use shape::{Form, Side, Sphere, Surface, Touch};
pub use sink::{Bins, By, Sink, Taken};
pub use solid::Solid;

use glam::{DQuat, DVec3};

/// Index of a material in [`Materials`].
pub type MaterialId = u32;

/// A boundary: a body that moves as prescribed, not at all, or as contacts, gravity and joints make it move.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Boundary {
    /// Name, for results and messages.
    pub name: String,
    /// Where it is at t = 0 \[m\].
    pub position: DVec3,
    /// How it is turned at t = 0.
    pub orientation: DQuat,
    /// How it moves.
    pub motion: Motion,
}

/// Index of a clump in [`World::clumps`].
pub type ClumpId = u32;

/// A grain to be added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grain {
    /// Centre \[m\].
    pub position: DVec3,
    /// Orientation, of a clump from the axes in which it was listed.
    pub orientation: DQuat,
    /// Velocity \[m/s\].
    pub velocity: DVec3,
    /// Angular velocity \[rad/s\].
    pub angular_velocity: DVec3,
    /// Radius, of a clump that of a sphere of the same volume \[m\].
    pub radius: f64,
    /// Which of [`World::clumps`] it is; `None` for a sphere.
    pub clump: Option<ClumpId>,
    /// Material.
    pub material: MaterialId,
    /// Axes it cannot move along or turn about.
    pub locked: Axes,
}

impl Grain {
    /// A grain at rest.
    pub fn at(position: DVec3, radius: f64, material: MaterialId) -> Grain {
        Grain {
            position,
            orientation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
            radius,
            clump: None,
            material,
            locked: Axes::NONE,
        }
    }
}

/// What a grain is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Parts {
    /// Its first sphere in [`World::spheres`]; the others follow.
    pub first: u32,
    /// How many there are.
    pub count: u32,
    /// Which of [`World::clumps`] it is; `None` for a sphere.
    pub clump: Option<ClumpId>,
}

impl Parts {
    /// Its spheres in [`World::spheres`].
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
    /// Shapes of the boundaries; surface `i` is shape `i`. The patches of a mesh stand side by side.
    pub surfaces: Vec<Surface>,
    /// The meshes that some of them are patches of.
    pub meshes: Meshes,
    /// Vertices of the dynamic boundaries, which touch surfaces only; vertex `i` is shape `surfaces.len() + i`.
    pub vertices: Vec<Sphere>,
    /// Spheres of the grains; sphere `i` is shape `surfaces.len() + vertices.len() + i`.
    pub spheres: Vec<Sphere>,
    /// Per grain: what it is made of. Grain `i` is body `boundaries.len() + i`.
    pub grains: Vec<Parts>,
    /// Kinds of grains of several spheres.
    pub clumps: Vec<Clump>,
    /// State of all bodies, boundaries first.
    pub bodies: Bodies,
    /// Joints between boundaries.
    pub joints: Vec<Joint>,
    /// Per joint: where it stands, and what it does.
    pub joint_states: Vec<JointState>,
    /// Per boundary: the smallest index of one that hangs together with it by joints, through bodies that are dynamic. What hangs
    /// together does not touch.
    pub machines: Vec<u32>,
    /// Forces that are applied to bodies, by ascending body ([`World::set_force`]).
    pub forces: Vec<AppliedForce>,
    /// What removes grains.
    pub sinks: Vec<Sink>,
    /// Where grains are to stay, if that is said.
    pub domain: Option<Domain>,
    /// Per grain: which sink removed it; their number where it left the domain. Such a grain keeps its id and its last pose
    /// and velocity, and takes part in nothing, until another grain comes into its place.
    pub removed: Vec<Option<u32>>,
    /// Per grain: its id, in the order in which grains were added.
    pub ids: Vec<u32>,
    /// Removed grains whose places others have taken since, per sink; then those that left the domain, then those that were taken out
    /// by hand.
    pub replaced: Vec<Replaced>,
    /// Places to be taken next.
    pub vacancies: Vacancies,
    /// Axes along which the world repeats itself; to be set before grains are added.
    pub periodic: Periodic,
    /// The plane that grains are discs in; to be set before grains are added.
    pub plane: Option<Plane>,
}

/// Removed grains whose places others have taken.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Replaced {
    /// How many, and their mass.
    pub taken: Taken,
    /// Of these, those in each class of each of the bins of the sink.
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

/// Places that grains had left when grains were added the last time.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Vacancies {
    /// When that was \[s\].
    since: f64,
    /// Their places, ascending.
    places: Vec<u32>,
}

impl World {
    /// A world without bodies.
    pub fn new(gravity: DVec3, materials: Materials) -> World {
        World { gravity, materials, ..World::default() }
    }

    /// Adds a boundary made of `surfaces` (their `body` is set here), and the vertices of a dynamic one.
    ///
    /// # Panics
    /// If grains were added before: ids would shift.
    pub fn add_boundary(&mut self, boundary: Boundary, surfaces: impl IntoIterator<Item = Surface>) {
        assert!(self.spheres.is_empty(), "boundaries come before grains");
        let body = self.boundaries.len() as u32;
        let first = self.surfaces.len();
        self.surfaces.extend(surfaces.into_iter().map(|surface| Surface { body, ..surface }));
        let (position, orientation) = (boundary.position, boundary.orientation);
        match boundary.dynamic() {
            Some(rigid) => {
                let position = self.periodic.wrap(position);
                self.bodies.push_dynamic(Kind::Rigid, position, orientation, rigid);
                let vertices = self.surfaces[first..].iter();
                let vertices = vertices.flat_map(|surface| rigid::vertices_of(&self.meshes, surface));
                self.vertices.extend(vertices);
            }
            None => {
                self.bodies.push_prescribed(position, orientation);
            }
        }
        self.boundaries.push(boundary);
        self.machines.push(body);
    }

    /// Everything that takes grains out: the sinks, then what lies behind the faces of the domain.
    pub fn drains(&self) -> Vec<Sink> {
        let faces = self.domain.as_ref().filter(|domain| domain.takes_out()).map(Domain::faces);
        self.sinks.iter().cloned().chain(faces.into_iter().flatten()).collect()
    }

    /// Whether anything takes grains out.
    pub fn has_drains(&self) -> bool {
        !self.sinks.is_empty() || self.domain.as_ref().is_some_and(Domain::takes_out)
    }

    /// Speed that a free body would have after `h` \[s\] if nothing touched it \[m/s\].
    pub fn free_speed(&self, body: usize, h: f64) -> f64 {
        (self.bodies.velocity[body] + h * self.bodies.pulled(body, &self.pull())).length()
    }

    /// Mass and inertia at the start of a body, if it is a dynamic boundary.
    pub fn dynamic_boundary(&self, body: usize) -> Option<&RigidBody> {
        self.boundaries.get(body)?.dynamic()
    }

    /// Bodies of the dynamic boundaries, with their mass and inertia.
    pub fn dynamic_boundaries(&self) -> impl Iterator<Item = (usize, &RigidBody)> {
        self.boundaries.iter().enumerate().filter_map(|(body, boundary)| Some((body, boundary.dynamic()?)))
    }

    /// The walls `low` and `high` as a span, if each is a plane, `low` looks along x, y or z, and `high` back.
    pub fn span(&self, low: usize, high: usize) -> Option<Span> {
        let normal = |body: usize| {
            let mut own = self.surfaces.iter().filter(|surface| surface.body as usize == body);
            match (own.next(), own.next()) {
                (Some(surface @ Surface { form: Form::Plane, .. }), None) => {
                    Some(self.bodies.orientation[body] * surface.orientation * DVec3::Z)
                }
                _ => None,
            }
        };
        let (low_normal, high_normal) = (normal(low)?, normal(high)?);
        let axis = (0..3).find(|&axis| {
            low_normal.distance(DVec3::AXES[axis]) < 1e-9 && high_normal.distance(-DVec3::AXES[axis]) < 1e-9
        })?;
        Some(Span { axis, low, high })
    }

    /// Kinetic energy of grains, translation and rotation \[J\].
    pub fn kinetic_energy_of(&self, grains: &[usize]) -> f64 {
        grains.iter().map(|&grain| self.bodies.kinetic_energy(self.grain_body(grain))).sum()
    }

    /// Kinetic energy of all free bodies, translation and rotation \[J\].
    pub fn kinetic_energy(&self) -> f64 {
        (0..self.bodies.len()).map(|body| self.bodies.kinetic_energy(body)).sum()
    }

    /// Largest over smallest mass of the free bodies that are there \[-\]; 1 without any.
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

    /// Whether of two spheres of grains the first is shape `a` of their [`Key`](crate::contact::Key): the smaller one, of
    /// two of the same radius that with the smaller index.
    #[inline]
    pub fn comes_first(&self, sphere: usize, other: usize) -> bool {
        let size = |sphere: usize| (self.spheres[sphere].radius, sphere);
        size(sphere) < size(other)
    }

    /// Body that carries a shape.
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

    /// The shape behind an id.
    #[inline]
    pub fn shape(&self, shape: u32) -> Shape<'_> {
        let index = shape as usize;
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

    /// The sphere or vertex behind a shape id.
    pub fn ball(&self, shape: u32) -> Option<&Sphere> {
        match self.shape(shape) {
            Shape::Sphere(sphere) => Some(sphere),
            Shape::Surface(_) => None,
        }
    }

    /// The sphere behind a shape id, if it is one of a grain.
    #[inline]
    pub fn sphere_of(&self, shape: u32) -> Option<&Sphere> {
        shape.checked_sub(self.first_grain_shape()).map(|i| &self.spheres[i as usize])
    }

    /// Law between the materials of two shapes.
    pub fn law(&self, a: u32, b: u32) -> &PairLaw {
        self.materials.law(self.shape_material(a), self.shape_material(b))
    }

    /// Has a prescribed boundary go on from where it is now at a constant velocity \[m/s\], without turning, and the surface of a belt, which
    /// stays. Returns whether it is one.
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
        boundary.motion = Motion::Velocity(velocity);
        true
    }

    /// Has a boundary that rotates go on from where it is now at another angular velocity \[rad/s\]. Returns whether it is one.
    pub fn set_boundary_rotation(&mut self, body: usize, angular_velocity: DVec3) -> bool {
        let (time, boundary) = (self.time, &mut self.boundaries[body]);
        let (position, orientation) = boundary.pose_at(time);
        let Motion::Rotation { rate, start, .. } = &mut boundary.motion else { return false };
        (*rate, *start) = (angular_velocity, time);
        (boundary.position, boundary.orientation) = (position, orientation);
        true
    }

    /// Puts the prescribed boundaries where they are at `time`, with the velocities that carry them there
    /// over the `step` before \[s\].
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

    /// Where two shapes touch or nearly touch; `None` when they cannot (far on the other side of a wall, or
    /// one of them was removed). Shape `a` must be a sphere of a grain, or a vertex and `b` a surface.
    #[inline]
    pub fn touch(&self, a: u32, b: u32) -> Option<Touch> {
        if self.is_removed(a) || self.is_removed(b) {
            return None;
        }
        let Shape::Sphere(ball) = self.shape(a) else { return None };
        let centre = self.sphere_centre(ball);
        match self.shape(b) {
            Shape::Surface(surface) => self.touch_within(surface, centre, ball, f64::INFINITY),
            Shape::Sphere(other) => {
                let other_centre = self.periodic.image(self.sphere_centre(other), centre);
                Some(Touch::between_spheres(centre, ball.radius, other_centre, other.radius))
            }
        }
    }

    /// The spheres of two grains of one sphere each that are there.
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

    /// Where a sphere touches a surface of the nearest image of its boundary; `None` when it cannot.
    pub fn touch_surface(&self, surface: &Surface, centre: DVec3, radius: f64) -> Option<Touch> {
        self.touch_within(surface, centre, &Sphere::alone(radius), f64::INFINITY)
    }

    /// Whether a vertex may touch a surface: not that of its own body or machine, and of two spheres (or a sphere and
    /// a box) that are both dynamic only one touches the other, as its vertex is all of it.
    pub fn vertex_meets(&self, vertex: &Sphere, surface: &Surface) -> bool {
        if self.machines[vertex.body as usize] == self.machines[surface.body as usize] {
            return false;
        }
        let is_dynamic_sphere =
            matches!(surface.form, Form::Sphere { .. }) && self.bodies.is_dynamic(surface.body as usize);
        match vertex.body.cmp(&surface.body) {
            std::cmp::Ordering::Equal => false,
            std::cmp::Ordering::Less => !is_dynamic_sphere || vertex.radius > 0.0,
            std::cmp::Ordering::Greater => !is_dynamic_sphere,
        }
    }

    /// Effective radius R* of two shapes \[m\]; the sphere's own against a wall, the contact radius of a vertex.
    pub fn effective_radius(&self, a: u32, b: u32) -> f64 {
        let radius_a = self.contact_radius(a);
        let radius_b = match self.shape(b) {
            Shape::Surface(Surface { form: Form::Sphere { radius }, .. }) => Some(*radius),
            Shape::Surface(_) => None,
            Shape::Sphere(sphere) => Some(sphere.contact_radius),
        };
        radius_b.map_or(radius_a, |b| radius_a * b / (radius_a + b))
    }

    /// Effective radius that rolling resistance acts with \[m\]: R*, or 0 for a vertex that is a point.
    pub fn rolling_radius(&self, a: u32, b: u32) -> f64 {
        match self.shape(a) {
            Shape::Sphere(sphere) if sphere.radius == 0.0 => 0.0,
            _ => self.effective_radius(a, b),
        }
    }

    /// Force that it takes to pull two shapes apart \[E2\] \[N\]; 0 for a vertex that is a point, of which a body has as many as its mesh.
    pub fn pull_off(&self, a: u32, b: u32) -> f64 {
        let law = self.law(a, b);
        let holds = law.is_cohesive() && self.rolling_radius(a, b) > 0.0;
        if holds { law.pull_off(self.effective_radius(a, b)) } else { 0.0 }
    }

    /// Gap up to which two shapes are solved \[m\]: `margin` mean diameters.
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

    /// Centre of a sphere or a vertex, that of the body of a surface \[m\].
    #[inline]
    pub fn centre(&self, shape: u32) -> DVec3 {
        match self.shape(shape) {
            Shape::Sphere(sphere) => self.sphere_centre(sphere),
            Shape::Surface(surface) => self.bodies.position[surface.body as usize],
        }
    }

    /// Centre of a sphere or a vertex, beside its body even where that is near a periodic face \[m\].
    #[inline]
    pub fn sphere_centre(&self, sphere: &Sphere) -> DVec3 {
        self.bodies.position[sphere.body as usize] + self.sphere_lever(sphere)
    }

    /// Centre of a sphere or a vertex, from that of its body \[m\].
    #[inline]
    pub fn sphere_lever(&self, sphere: &Sphere) -> DVec3 {
        // Most grains are one sphere: they need no turn.
        if sphere.centre == DVec3::ZERO {
            return DVec3::ZERO;
        }
        self.bodies.orientation[sphere.body as usize] * sphere.centre
    }

    /// Centre of the body of a shape, in the image of it whose shape is nearest to `near` \[m\].
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

    /// Bound on the speed of the centre of a sphere, turning included \[m/s\].
    pub fn sphere_speed(&self, sphere: &Sphere) -> f64 {
        let body = sphere.body as usize;
        self.bodies.velocity[body].length()
            + self.bodies.angular_velocity[body].length() * sphere.centre.length()
    }

    /// Radius that scales the smallest skin \[m\]; infinite without grains.
    pub fn smallest_contact_radius(&self) -> f64 {
        let radii = self.vertices.iter().chain(&self.spheres).map(|sphere| sphere.contact_radius);
        radii.fold(f64::INFINITY, f64::min)
    }

    /// Bound on what an applied force does to that speed per time \[m/s²\].
    pub fn sphere_push(&self, sphere: &Sphere) -> f64 {
        if self.forces.is_empty() { 0.0 } else { self.push(sphere.body as usize, sphere.centre.length()) }
    }

    /// Bound on what an applied force does per time to the speed of a point of a body at a distance from its centre \[m/s²\].
    pub fn push(&self, body: usize, distance: f64) -> f64 {
        let (bodies, pull) = (&self.bodies, self.pull());
        let turned = bodies.inverse_inertia[body] * pull.torque_on(body).length();
        // The distance may be infinite.
        let turning = if turned > 0.0 { turned * distance } else { 0.0 };
        bodies.inverse_mass[body] * pull.force_on(body).length() + turning
    }
}

/// A shape of a world.
#[derive(Debug, Clone, Copy)]
pub enum Shape<'a> {
    /// Of a boundary.
    Surface(&'a Surface),
    /// Of a grain, or a vertex of a dynamic boundary.
    Sphere(&'a Sphere),
}

/// Volume of a sphere \[m³\].
pub fn sphere_volume(radius: f64) -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * radius.powi(3)
}
