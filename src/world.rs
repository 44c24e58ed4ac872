//! The problem and its present state: bodies, shapes and materials, in double precision.
//!
//! Boundaries come first in both lists, grains after, so grains can be added without renumbering:
//! body `0..boundaries` are boundaries, the rest grains; shape `0..surfaces` belong to boundaries,
//! the rest are the spheres of grains. These indices are the persistent ids.

pub mod body;
pub mod material;
pub mod motion;
pub mod periodic;
pub mod shape;
pub mod sink;

pub use body::{Axes, Bodies};
pub use material::{Material, Materials, PairLaw};
pub use motion::Motion;
pub use periodic::{Periodic, contact_reach};
pub use shape::{Form, Side, Sphere, Surface, Touch};
pub use sink::Sink;

use glam::{DQuat, DVec3};

/// Index of a material in [`Materials`].
pub type MaterialId = u32;

/// A boundary: a body that moves as prescribed, or not at all.
#[derive(Debug, Clone, PartialEq)]
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

/// A grain to be added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grain {
    /// Centre \[m\].
    pub position: DVec3,
    /// Velocity \[m/s\].
    pub velocity: DVec3,
    /// Angular velocity \[rad/s\].
    pub angular_velocity: DVec3,
    /// Radius \[m\].
    pub radius: f64,
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
            velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
            radius,
            material,
            locked: Axes::NONE,
        }
    }
}

/// The problem and its present state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct World {
    /// Simulated time \[s\].
    pub time: f64,
    /// Gravity \[m/s²\].
    pub gravity: DVec3,
    /// Materials and the laws between them.
    pub materials: Materials,
    /// Boundaries; boundary `i` is body `i`.
    pub boundaries: Vec<Boundary>,
    /// Shapes of the boundaries; surface `i` is shape `i`.
    pub surfaces: Vec<Surface>,
    /// Shapes of the grains; sphere `i` is shape `surfaces.len() + i`.
    pub spheres: Vec<Sphere>,
    /// State of all bodies, boundaries first.
    pub bodies: Bodies,
    /// What removes grains.
    pub sinks: Vec<Sink>,
    /// Per grain: which sink removed it. Such a grain keeps its id and its last pose and velocity, and takes
    /// part in nothing.
    pub removed: Vec<Option<u32>>,
    /// Axes along which the world repeats itself; to be set before grains are added.
    pub periodic: Periodic,
}

impl World {
    /// A world without bodies.
    pub fn new(gravity: DVec3, materials: Materials) -> World {
        World { gravity, materials, ..World::default() }
    }

    /// Adds a boundary made of `surfaces` (their `body` is set here).
    ///
    /// # Panics
    /// If grains were added before: ids would shift.
    pub fn add_boundary(&mut self, boundary: Boundary, surfaces: impl IntoIterator<Item = Surface>) {
        assert!(self.spheres.is_empty(), "boundaries come before grains");
        let body = self.boundaries.len() as u32;
        self.surfaces.extend(surfaces.into_iter().map(|surface| Surface { body, ..surface }));
        self.bodies.push_prescribed(boundary.position, boundary.orientation);
        self.boundaries.push(boundary);
    }

    /// Adds grains at the end of the list, wrapped into the periodic cell.
    pub fn add_grains(&mut self, grains: impl IntoIterator<Item = Grain>) {
        for grain in grains {
            let mass = self.sphere_mass(grain.radius, grain.material);
            let inertia = 0.4 * mass * grain.radius * grain.radius;
            let grain = Grain { position: self.wrap(grain.position), ..grain };
            let body = self.bodies.push_free(&grain, mass, inertia);
            self.spheres.push(Sphere { body, radius: grain.radius, material: grain.material });
            self.removed.push(None);
        }
    }

    /// Removes a grain into a sink: nothing moves it any more. Gives the kinetic energy that it had \[J\];
    /// 0 when it was removed before.
    pub fn remove_grain(&mut self, grain: usize, sink: u32) -> f64 {
        let body = self.grain_body(grain);
        let energy = self.bodies.kinetic_energy(body);
        self.removed[grain] = Some(sink);
        self.bodies.inverse_mass[body] = 0.0;
        self.bodies.inverse_inertia[body] = 0.0;
        energy
    }

    /// Whether a grain is there: no sink has removed it.
    pub fn is_present(&self, grain: usize) -> bool {
        self.removed[grain].is_none()
    }

    /// Ids of the grains that are there, in ascending order.
    pub fn present_grains(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.grain_count()).filter(|&grain| self.is_present(grain))
    }

    /// Number of grains that are there.
    pub fn present_count(&self) -> usize {
        self.removed.iter().filter(|sink| sink.is_none()).count()
    }

    /// Centres \[m\] and radii \[m\] of the grains that are there.
    pub fn present_spheres(&self) -> Vec<(DVec3, f64)> {
        let sphere = |grain| (self.bodies.position[self.grain_body(grain)], self.spheres[grain].radius);
        self.present_grains().map(sphere).collect()
    }

    /// Number of grains, those removed included.
    pub fn grain_count(&self) -> usize {
        self.spheres.len()
    }

    /// Body of grain `i`.
    pub fn grain_body(&self, grain: usize) -> usize {
        self.spheres[grain].body as usize
    }

    /// Mass of grain `i`, removed or not \[kg\].
    pub fn grain_mass(&self, grain: usize) -> f64 {
        let Sphere { radius, material, .. } = self.spheres[grain];
        self.sphere_mass(radius, material)
    }

    fn sphere_mass(&self, radius: f64, material: MaterialId) -> f64 {
        self.materials.list[material as usize].density * sphere_volume(radius)
    }

    /// Kinetic energy of all free bodies, translation and rotation \[J\].
    pub fn kinetic_energy(&self) -> f64 {
        self.kinetic_energy_from(0)
    }

    /// Kinetic energy of the free bodies from `first` on \[J\].
    pub fn kinetic_energy_from(&self, first: usize) -> f64 {
        (first..self.bodies.len()).map(|body| self.bodies.kinetic_energy(body)).sum()
    }

    /// Largest grain radius \[m\]; 0 without grains.
    pub fn largest_radius(&self) -> f64 {
        self.spheres.iter().map(|sphere| sphere.radius).fold(0.0, f64::max)
    }

    /// Body that carries a shape.
    pub fn shape_body(&self, shape: u32) -> u32 {
        match self.sphere_of(shape) {
            Some(sphere) => sphere.body,
            None => self.surfaces[shape as usize].body,
        }
    }

    /// Material of a shape.
    pub fn shape_material(&self, shape: u32) -> MaterialId {
        match self.sphere_of(shape) {
            Some(sphere) => sphere.material,
            None => self.surfaces[shape as usize].material,
        }
    }

    /// The sphere behind a shape id, if it is one of a grain.
    pub fn sphere_of(&self, shape: u32) -> Option<&Sphere> {
        (shape as usize).checked_sub(self.surfaces.len()).map(|i| &self.spheres[i])
    }

    /// Law between the materials of two shapes.
    pub fn law(&self, a: u32, b: u32) -> &PairLaw {
        self.materials.law(self.shape_material(a), self.shape_material(b))
    }

    /// Puts the boundaries where they are at `time`, with the velocities that carry them there
    /// over the `step` before \[s\].
    pub fn move_boundaries(&mut self, time: f64, step: f64) {
        for (body, boundary) in self.boundaries.iter().enumerate() {
            let state = boundary.state_at(time, step);
            self.bodies.position[body] = state.position;
            self.bodies.orientation[body] = state.orientation;
            self.bodies.velocity[body] = state.velocity;
            self.bodies.angular_velocity[body] = state.angular_velocity;
        }
    }

    /// Whether a shape is the sphere of a grain that was removed.
    fn is_removed(&self, shape: u32) -> bool {
        let grain = |sphere: &Sphere| sphere.body as usize - self.boundaries.len();
        self.sphere_of(shape).is_some_and(|sphere| !self.is_present(grain(sphere)))
    }

    /// Where two shapes touch or nearly touch; `None` when they cannot (far on the other side of a wall, or
    /// one of them was removed). Shape `a` must be the sphere of a grain.
    pub fn touch(&self, a: u32, b: u32) -> Option<Touch> {
        if self.is_removed(a) || self.is_removed(b) {
            return None;
        }
        let sphere = self.sphere_of(a)?;
        let centre = self.bodies.position[sphere.body as usize];
        match self.sphere_of(b) {
            Some(other) => {
                let other_centre = self.periodic.image(self.bodies.position[other.body as usize], centre);
                Some(Touch::between_spheres(centre, sphere.radius, other_centre, other.radius))
            }
            None => self.touch_surface(&self.surfaces[b as usize], centre, sphere.radius),
        }
    }

    /// Where a sphere touches a surface of the nearest image of its boundary; `None` when it cannot.
    pub fn touch_surface(&self, surface: &Surface, centre: DVec3, radius: f64) -> Option<Touch> {
        let body = surface.body as usize;
        let position = self.periodic.image(self.bodies.position[body], centre);
        surface.touch(position, self.bodies.orientation[body], centre, radius)
    }

    /// Effective radius R* of two shapes \[m\]; the grain's own against a wall.
    pub fn effective_radius(&self, a: u32, b: u32) -> f64 {
        let radius_a = self.sphere_of(a).map_or(0.0, |sphere| sphere.radius);
        let radius_b = match self.sphere_of(b) {
            Some(sphere) => Some(sphere.radius),
            None => match self.surfaces[b as usize].form {
                Form::Sphere { radius } => Some(radius),
                _ => None,
            },
        };
        radius_b.map_or(radius_a, |b| radius_a * b / (radius_a + b))
    }

    /// Gap up to which two shapes are solved \[m\]: `margin` mean diameters.
    pub fn pair_margin(&self, a: u32, b: u32, margin: f64) -> f64 {
        let radius_a = self.sphere_of(a).map_or(0.0, |sphere| sphere.radius);
        let radius_b = self.sphere_of(b).map_or(radius_a, |sphere| sphere.radius);
        margin * (radius_a + radius_b)
    }
}

/// Volume of a sphere \[m³\].
pub fn sphere_volume(radius: f64) -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * radius.powi(3)
}
