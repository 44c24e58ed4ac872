//! The problem and its present state: bodies, shapes and materials, in double precision.
//!
//! Boundaries come first in both lists, grains after, so grains can be added without renumbering:
//! body `0..boundaries` are boundaries, the rest grains; shape `0..surfaces` belong to boundaries, then come
//! the corners of free boundaries, and the rest are the spheres of grains. These indices are the persistent
//! ids.

pub mod body;
pub mod domain;
pub mod free;
pub mod levels;
pub mod material;
pub mod motion;
pub mod periodic;
pub mod shape;
pub mod sink;
pub mod slider;

pub use body::{Axes, Bodies};
pub use domain::{Domain, Outside};
pub use free::{Corner, FreeBody};
pub use levels::Levels;
pub use material::{Material, Materials, PairLaw};
pub use motion::Motion;
pub use periodic::{Periodic, contact_reach};
pub use shape::{Form, Side, Sphere, Surface, Touch};
pub use sink::Sink;
pub use slider::{Area, Course, Drive, Slider, Span};

use glam::{DQuat, DVec3};

/// Index of a material in [`Materials`].
pub type MaterialId = u32;

/// A boundary: a body that moves as prescribed, not at all, freely, or along a rail.
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
    /// Corners of the free boundaries; corner `i` is shape `surfaces.len() + i`.
    pub corners: Vec<Corner>,
    /// Shapes of the grains; sphere `i` is shape `surfaces.len() + corners.len() + i`.
    pub spheres: Vec<Sphere>,
    /// State of all bodies, boundaries first.
    pub bodies: Bodies,
    /// Per boundary: force of its drive in the last substep, towards larger coordinates \[N\]; 0 of one without.
    pub drive_forces: Vec<f64>,
    /// What removes grains.
    pub sinks: Vec<Sink>,
    /// Where grains are to stay, if that is said.
    pub domain: Option<Domain>,
    /// Per grain: which sink removed it; their number where it left the domain. Such a grain keeps its id and its last pose
    /// and velocity, and takes part in nothing, until another grain comes into its place.
    pub removed: Vec<Option<u32>>,
    /// Per grain: its id, in the order in which grains were added.
    pub ids: Vec<u32>,
    /// Removed grains whose places others have taken since, per sink; the last entry is of those that left the domain.
    pub replaced: Vec<Replaced>,
    /// Places to be taken next.
    pub vacancies: Vacancies,
    /// Axes along which the world repeats itself; to be set before grains are added.
    pub periodic: Periodic,
}

/// Removed grains whose places others have taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Replaced {
    /// How many.
    pub grains: u64,
    /// Their mass \[kg\].
    pub mass: f64,
    /// Corners of the box around the places where they were removed \[m\].
    pub places: [DVec3; 2],
}

impl Default for Replaced {
    fn default() -> Self {
        Replaced { grains: 0, mass: 0.0, places: [DVec3::INFINITY, DVec3::NEG_INFINITY] }
    }
}

/// Places that grains had left when grains were added the last time.
#[derive(Debug, Clone, PartialEq, Default)]
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

    /// Adds a boundary made of `surfaces` (their `body` is set here), and the corners of a free one.
    ///
    /// # Panics
    /// If grains were added before: ids would shift.
    pub fn add_boundary(&mut self, boundary: Boundary, surfaces: impl IntoIterator<Item = Surface>) {
        assert!(self.spheres.is_empty(), "boundaries come before grains");
        let body = self.boundaries.len() as u32;
        let first = self.surfaces.len();
        self.surfaces.extend(surfaces.into_iter().map(|surface| Surface { body, ..surface }));
        let (position, orientation) = (boundary.position, boundary.orientation);
        match boundary.free_body() {
            Some(free) => {
                self.bodies.push_free_boundary(self.periodic.wrap(position), orientation, free);
                let surfaces = self.surfaces.iter().enumerate().skip(first);
                let corners = surfaces.flat_map(|(i, surface)| Corner::of_surface(surface, i as u32));
                self.corners.extend(corners);
            }
            None => self.bodies.push_prescribed(position, orientation),
        }
        self.boundaries.push(boundary);
        self.drive_forces.push(0.0);
    }

    /// Makes room for this many grains in all.
    pub fn reserve(&mut self, grains: usize) {
        let more = grains.saturating_sub(self.grain_count());
        self.bodies.reserve(more);
        self.spheres.reserve_exact(more);
        self.removed.reserve_exact(more);
        self.ids.reserve_exact(more);
    }

    /// Bytes of what it has room for, boundaries not counted.
    pub fn bytes(&self) -> u64 {
        let (spheres, removed) = (self.spheres.capacity(), self.removed.capacity());
        let bytes = spheres * size_of::<Sphere>()
            + removed * size_of::<Option<u32>>()
            + (self.ids.capacity() + self.vacancies.places.capacity()) * size_of::<u32>();
        self.bodies.bytes() + bytes as u64
    }

    /// Bytes of a grain.
    pub const BYTES_PER_GRAIN: u64 =
        Bodies::BYTES_PER_BODY + (size_of::<Sphere>() + size_of::<Option<u32>>() + size_of::<u32>()) as u64;

    /// Adds grains, wrapped into the periodic cell, and returns their places in the list: those of grains that had been removed
    /// when grains were added the last time, then at the end. (What left since may have impulses of its last contacts yet. So
    /// that both engines take the same places, nothing else counts.)
    pub fn add_grains(&mut self, grains: impl IntoIterator<Item = Grain>) -> Vec<usize> {
        let is_later = self.time > self.vacancies.since;
        let vacant = if is_later { std::mem::take(&mut self.vacancies.places) } else { Vec::new() };
        let mut vacant = vacant.into_iter();
        let places = grains.into_iter().map(|grain| self.put_grain(vacant.next(), &grain)).collect();
        let removed = (0..self.grain_count() as u32).filter(|&grain| !self.is_present(grain as usize));
        self.vacancies = Vacancies { since: self.time, places: removed.collect() };
        places
    }

    /// Puts a grain into the place of a removed one, or at the end; returns its place.
    fn put_grain(&mut self, vacant: Option<u32>, grain: &Grain) -> usize {
        let mass = self.sphere_mass(grain.radius, grain.material);
        let inertia = 0.4 * mass * grain.radius * grain.radius;
        let grain = Grain { position: self.wrap(grain.position), ..*grain };
        let id =
            (self.grain_count() as u64 + self.replaced.iter().map(|gone| gone.grains).sum::<u64>()) as u32;
        let Some(place) = vacant.map(|place| place as usize) else {
            let body = self.bodies.push_free(&grain, mass, inertia);
            self.spheres.push(Sphere { body, radius: grain.radius, material: grain.material });
            self.removed.push(None);
            self.ids.push(id);
            return self.grain_count() - 1;
        };
        self.note_replaced(place);
        self.bodies.set_free(self.grain_body(place), &grain, mass, inertia);
        self.spheres[place] =
            Sphere { radius: grain.radius, material: grain.material, ..self.spheres[place] };
        self.removed[place] = None;
        self.ids[place] = id;
        place
    }

    /// Notes a removed grain whose place is taken.
    fn note_replaced(&mut self, grain: usize) {
        let (drain, mass) = (self.removed[grain].unwrap_or_default() as usize, self.grain_mass(grain));
        let centre = self.bodies.position[self.grain_body(grain)];
        self.replaced.resize(self.sinks.len() + 1, Replaced::default());
        if let Some(gone) = self.replaced.get_mut(drain) {
            gone.grains += 1;
            gone.mass += mass;
            gone.places = [gone.places[0].min(centre), gone.places[1].max(centre)];
        }
    }

    /// The place of the grain with this id; `None` where it is not there yet, or any more.
    pub fn grain_of_id(&self, id: usize) -> Option<usize> {
        let is_it = |&place: &usize| self.ids.get(place).is_some_and(|&other| other as usize == id);
        let place = Some(id).filter(is_it).or_else(|| (0..self.ids.len()).find(is_it));
        place.filter(|&place| self.is_present(place))
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
        (self.bodies.velocity[body] + h * self.bodies.falls(body, self.gravity)).length()
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

    /// Diameter of the largest grain, or without grains of the largest corner \[m\]; 0 without either.
    pub fn largest_diameter(&self) -> f64 {
        let corners = || self.corners.iter().map(|corner| corner.contact_radius).fold(0.0, f64::max);
        let largest = self.largest_radius();
        2.0 * if largest > 0.0 { largest } else { corners() }
    }

    /// Mass and inertia of a body, if it is a free boundary.
    pub fn free_body(&self, body: usize) -> Option<&FreeBody> {
        self.boundaries.get(body)?.free_body()
    }

    /// Bodies of the free boundaries, with their mass and inertia.
    pub fn free_boundaries(&self) -> impl Iterator<Item = (usize, &FreeBody)> {
        self.boundaries.iter().enumerate().filter_map(|(body, boundary)| Some((body, boundary.free_body()?)))
    }

    /// The sliders and their bodies.
    pub fn sliders(&self) -> impl Iterator<Item = (usize, &Slider)> {
        self.boundaries.iter().enumerate().filter_map(|(body, boundary)| Some((body, boundary.slider()?)))
    }

    /// Sets the area that a pressure on a slider acts on.
    pub(crate) fn set_area(&mut self, body: usize, area: Area) {
        if let Motion::Slider(slider) = &mut self.boundaries[body].motion {
            slider.area = Some(area);
        }
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
        let energy = |body: usize| match self.free_body(body) {
            Some(free) => free.kinetic_energy(&self.bodies, body),
            None => self.bodies.kinetic_energy(body),
        };
        (0..self.bodies.len()).map(energy).sum()
    }

    /// Largest over smallest mass of the free bodies that are there \[-\]; 1 without any.
    pub fn mass_ratio(&self) -> f64 {
        let inverses = self.bodies.inverse_mass.iter().filter(|&&inverse| inverse > 0.0);
        let (least, most) = inverses
            .fold((f64::INFINITY, 0.0f64), |(least, most), &inverse| (least.min(inverse), most.max(inverse)));
        if most > 0.0 { most / least } else { 1.0 }
    }

    /// Largest grain radius \[m\]; 0 without grains.
    pub fn largest_radius(&self) -> f64 {
        self.spheres.iter().map(|sphere| sphere.radius).fold(0.0, f64::max)
    }

    /// Whether of two grains the first is shape `a` of their [`Key`](crate::contact::Key): the smaller one, of
    /// two of the same radius that with the smaller id.
    pub fn comes_first(&self, grain: usize, other: usize) -> bool {
        let size = |grain: usize| (self.spheres[grain].radius, grain);
        size(grain) < size(other)
    }

    /// Body that carries a shape.
    pub fn shape_body(&self, shape: u32) -> u32 {
        match self.shape(shape) {
            Shape::Sphere(sphere) => sphere.body,
            Shape::Corner(corner) => corner.body,
            Shape::Surface(surface) => surface.body,
        }
    }

    /// Material of a shape.
    pub fn shape_material(&self, shape: u32) -> MaterialId {
        match self.shape(shape) {
            Shape::Sphere(sphere) => sphere.material,
            Shape::Corner(corner) => corner.material,
            Shape::Surface(surface) => surface.material,
        }
    }

    /// Shape id of the sphere of grain 0.
    pub fn first_grain_shape(&self) -> u32 {
        (self.surfaces.len() + self.corners.len()) as u32
    }

    /// The shape behind an id.
    pub fn shape(&self, shape: u32) -> Shape<'_> {
        let index = shape as usize;
        let (surfaces, first_sphere) = (self.surfaces.len(), self.first_grain_shape() as usize);
        if index >= first_sphere {
            Shape::Sphere(&self.spheres[index - first_sphere])
        } else if index >= surfaces {
            Shape::Corner(&self.corners[index - surfaces])
        } else {
            Shape::Surface(&self.surfaces[index])
        }
    }

    /// The sphere behind a shape id, if it is one of a grain.
    pub fn sphere_of(&self, shape: u32) -> Option<&Sphere> {
        shape.checked_sub(self.first_grain_shape()).map(|i| &self.spheres[i as usize])
    }

    /// Law between the materials of two shapes.
    pub fn law(&self, a: u32, b: u32) -> &PairLaw {
        self.materials.law(self.shape_material(a), self.shape_material(b))
    }

    /// Puts the boundaries that are not free where they are at `time`, with the velocities that carry them there
    /// over the `step` before \[s\].
    pub fn move_boundaries(&mut self, time: f64, step: f64) {
        let prescribed = |(_, boundary): &(usize, &Boundary)| boundary.free_body().is_none();
        for (body, boundary) in self.boundaries.iter().enumerate().filter(prescribed) {
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
    /// one of them was removed). Shape `a` must be the sphere of a grain, or a corner and `b` a surface.
    pub fn touch(&self, a: u32, b: u32) -> Option<Touch> {
        if self.is_removed(a) || self.is_removed(b) {
            return None;
        }
        let ball = self.ball(a)?;
        match self.shape(b) {
            Shape::Surface(surface) => {
                let body = surface.body as usize;
                let position = self.periodic.image(self.bodies.position[body], ball.centre);
                let orientation = self.bodies.orientation[body];
                surface.touch_within(position, orientation, ball.centre, ball.radius, ball.contact_radius)
            }
            _ => {
                let other = self.ball(b)?;
                let other_centre = self.periodic.image(other.centre, ball.centre);
                Some(Touch::between_spheres(ball.centre, ball.radius, other_centre, other.radius))
            }
        }
    }

    /// Where a sphere touches a surface of the nearest image of its boundary; `None` when it cannot.
    pub fn touch_surface(&self, surface: &Surface, centre: DVec3, radius: f64) -> Option<Touch> {
        let body = surface.body as usize;
        let position = self.periodic.image(self.bodies.position[body], centre);
        surface.touch(position, self.bodies.orientation[body], centre, radius)
    }

    /// Whether a corner may touch a surface: not that of its own body, and of two spheres (or a sphere and
    /// a box) that are both free only one touches the other, as its corner is all of it.
    pub fn corner_meets(&self, corner: &Corner, surface: &Surface) -> bool {
        let is_free_sphere =
            matches!(surface.form, Form::Sphere { .. }) && self.free_body(surface.body as usize).is_some();
        match corner.body.cmp(&surface.body) {
            std::cmp::Ordering::Equal => false,
            std::cmp::Ordering::Less => !is_free_sphere || corner.octant == Corner::CENTRE,
            std::cmp::Ordering::Greater => !is_free_sphere,
        }
    }

    /// Effective radius R* of two shapes \[m\]; the grain's own against a wall, the contact radius of a corner.
    pub fn effective_radius(&self, a: u32, b: u32) -> f64 {
        let radius_a = self.contact_radius(a);
        let radius_b = match self.shape(b) {
            Shape::Surface(Surface { form: Form::Sphere { radius }, .. }) => Some(*radius),
            Shape::Surface(_) => None,
            _ => Some(self.contact_radius(b)),
        };
        radius_b.map_or(radius_a, |b| radius_a * b / (radius_a + b))
    }

    /// Effective radius that rolling resistance acts with \[m\]: R*, or 0 for a corner that is a point.
    pub fn rolling_radius(&self, a: u32, b: u32) -> f64 {
        match self.shape(a) {
            Shape::Corner(corner) if corner.radius == 0.0 => 0.0,
            _ => self.effective_radius(a, b),
        }
    }

    /// Gap up to which two shapes are solved \[m\]: `margin` mean diameters.
    pub fn pair_margin(&self, a: u32, b: u32, margin: f64) -> f64 {
        let radius_a = self.contact_radius(a);
        let radius_b = self.sphere_of(b).map_or(radius_a, |sphere| sphere.radius);
        margin * (radius_a + radius_b)
    }

    /// Radius of a grain, contact radius of a corner \[m\]; 0 for a surface.
    pub fn contact_radius(&self, shape: u32) -> f64 {
        match self.shape(shape) {
            Shape::Sphere(sphere) => sphere.radius,
            Shape::Corner(corner) => corner.contact_radius,
            Shape::Surface(_) => 0.0,
        }
    }

    /// Centre of the sphere of a grain, place of a corner, that of the body of a surface \[m\].
    pub fn centre(&self, shape: u32) -> DVec3 {
        self.ball(shape).map_or(self.bodies.position[self.shape_body(shape) as usize], |ball| ball.centre)
    }

    /// Centre and radii of the sphere of a grain or a corner.
    fn ball(&self, shape: u32) -> Option<Ball> {
        match self.shape(shape) {
            Shape::Sphere(sphere) => {
                let centre = self.bodies.position[sphere.body as usize];
                Some(Ball { centre, radius: sphere.radius, contact_radius: sphere.radius })
            }
            Shape::Corner(corner) => {
                let body = corner.body as usize;
                let centre = self.bodies.position[body] + self.bodies.orientation[body] * corner.position;
                Some(Ball { centre, radius: corner.radius, contact_radius: corner.contact_radius })
            }
            Shape::Surface(_) => None,
        }
    }
}

/// A shape of a world.
#[derive(Debug, Clone, Copy)]
pub enum Shape<'a> {
    /// Of a boundary.
    Surface(&'a Surface),
    /// Of a free boundary.
    Corner(&'a Corner),
    /// Of a grain.
    Sphere(&'a Sphere),
}

/// A round shape where it is now \[m\].
struct Ball {
    centre: DVec3,
    radius: f64,
    contact_radius: f64,
}

/// Volume of a sphere \[m³\].
pub fn sphere_volume(radius: f64) -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * radius.powi(3)
}
