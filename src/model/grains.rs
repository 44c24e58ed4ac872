//! The grains of a world: their addition, their properties and their removal.

use std::collections::VecDeque;

use glam::{DQuat, DVec3};

use super::gate::OUTSIDE;
use super::{
    Axes, Clump, ClumpId, GrainParts, Kind, MaterialId, Materials, Plane, Replaced, RigidBody, Sphere,
    SpherePart, Taken, Vacancies, World, clump, plane,
};

/// A grain to be added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grain {
    /// Centre \[m\].
    pub position: DVec3,
    /// Orientation; of a clump, relative to the axes in which its spheres were listed.
    pub orientation: DQuat,
    /// Velocity \[m/s\].
    pub velocity: DVec3,
    /// Angular velocity \[rad/s\].
    pub angular_velocity: DVec3,
    /// Radius \[m\]; of a clump, the radius of a sphere of the same volume.
    pub radius: f64,
    /// Index of its clump in [`World::clumps`]; `None` for a sphere.
    pub clump: Option<ClumpId>,
    /// Material.
    pub material: MaterialId,
    /// Density of its own \[kg/m³\]; `None` for that of the material.
    pub density: Option<f64>,
    /// World axes along which its translation, or about which its rotation, is locked.
    pub locked: Axes,
    /// Temperature at the start \[K\], in a scene with heat; `None` for that of the scene.
    pub temperature: Option<f64>,
    /// Whether it keeps this temperature, whatever heat it is given.
    pub holds_temperature: bool,
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
            density: None,
            locked: Axes::NONE,
            temperature: None,
            holds_temperature: false,
        }
    }
}

impl World {
    /// Adds grains, wrapped into the periodic cell, and returns their places in the list. A grain takes a place with the same number of
    /// spheres whose grain had been removed when grains were added the last time, or else a new place at the end. (Grains removed since
    /// may still have impulses of their last contacts. Nothing else counts, so that both engines take the same places.)
    pub fn add_grains(&mut self, grains: impl IntoIterator<Item = Grain>) -> Vec<usize> {
        let is_later = self.time > self.vacancies.since;
        let vacant = if is_later { std::mem::take(&mut self.vacancies.places) } else { Vec::new() };
        let mut vacant = VecDeque::from(vacant);
        let places = grains.into_iter().map(|grain| self.put_grain(&mut vacant, &grain)).collect();
        let removed = (0..self.grain_count() as u32).filter(|&grain| !self.is_present(grain as usize));
        let mut vacant: Vec<u32> = removed.collect();
        // The reported memory must not depend on how the list grew.
        vacant.shrink_to_fit();
        self.vacancies = Vacancies { since: self.time, places: vacant };
        places
    }

    /// Puts a grain into the first vacant place with the same number of spheres, or at the end; returns its place.
    fn put_grain(&mut self, vacant: &mut VecDeque<u32>, grain: &Grain) -> usize {
        let count = grain.clump.map_or(1, |clump| self.clumps[clump as usize].spheres.len()) as u32;
        let id = (self.grain_count() as u64 + self.replaced.iter().map(|gone| gone.taken.grains).sum::<u64>())
            as u32;
        let fits = |place: &u32| self.grains[*place as usize].count == count;
        let place = vacant.iter().position(fits).and_then(|found| vacant.remove(found));
        let place = match place.map(|place| place as usize) {
            Some(place) => {
                self.count_removed(place);
                place
            }
            None => self.push_grain(count),
        };
        self.set_grain(place, grain);
        self.removed[place] = None;
        self.ids[place] = id;
        let residences = self.residences.len();
        self.arrivals[residences * place..residences * (place + 1)].fill(OUTSIDE);
        place
    }

    /// Adds a place at the end for a grain of `count` spheres; returns its index.
    fn push_grain(&mut self, count: u32) -> usize {
        let grains = self.grain_count();
        if grains == self.grains.capacity() {
            // All lists grow at once, so that the room that they have does not tell when they grew.
            self.reserve(grains + grains / 2 + 64);
        }
        let body = self.bodies.push_prescribed(DVec3::ZERO, DQuat::IDENTITY);
        let none = Sphere { body, material: 0, ..Sphere::alone(0.0) };
        self.grains.push(GrainParts { first: self.spheres.len() as u32, count, clump: None, density: None });
        self.spheres.extend(std::iter::repeat_n(none, count as usize));
        self.removed.push(None);
        self.ids.push(0);
        self.arrivals.resize(self.residences.len() * self.grain_count(), OUTSIDE);
        self.grain_count() - 1
    }

    /// Sets the body and the spheres of a grain.
    fn set_grain(&mut self, place: usize, grain: &Grain) {
        let Grain { radius, material, velocity, angular_velocity, locked, .. } = *grain;
        let (body, position) = (self.grain_body(place), self.wrap(grain.position));
        let mass = self.mass_of(grain);
        self.bodies.heat[body] = self.heat_of(grain);
        // A device that removed the earlier grain of this place does not report its applied force.
        self.set_force(body, DVec3::ZERO, DVec3::ZERO);
        let spheres = self.grains[place].spheres();
        (self.grains[place].clump, self.grains[place].density) = (grain.clump, grain.density);
        let set = |sphere: &mut Sphere, centre: DVec3, radius: f64| {
            *sphere = Sphere {
                centre,
                radius,
                contact_radius: radius,
                material,
                part: SpherePart::Ball,
                ..*sphere
            };
        };
        let Some(clump) = grain.clump.map(|clump| &self.clumps[clump as usize]) else {
            let moments = DVec3::splat(plane::gyration(self.plane) * mass * radius * radius);
            let rigid = RigidBody { mass, moments, velocity, angular_velocity, locked };
            self.bodies.set_dynamic(body, Kind::Sphere, position, grain.orientation, &rigid);
            set(&mut self.spheres[spheres.start], DVec3::ZERO, radius);
            return;
        };
        let moments = clump.moments(radius, self.density_of(grain.density, material));
        let rigid = RigidBody { mass, moments, velocity, angular_velocity, locked };
        self.bodies.set_dynamic(body, Kind::Rigid, position, grain.orientation * clump.axes, &rigid);
        let scale = clump.scale(radius);
        if let (Some(hull), Some(kind)) = (&clump.hull, grain.clump) {
            let contact_radius = scale * hull.inner_radius();
            let (radius, part) = (scale * hull.radius, SpherePart::Hull(kind));
            let sphere = &mut self.spheres[spheres.start];
            *sphere = Sphere { centre: DVec3::ZERO, radius, contact_radius, material, part, ..*sphere };
            return;
        }
        for (sphere, &(centre, radius)) in self.spheres[spheres].iter_mut().zip(&clump.spheres) {
            set(sphere, scale * centre, scale * radius);
        }
    }

    /// Class of a removed grain in each of the bins of the sink that removed it.
    pub fn classes_of_removed(&self, grain: usize) -> Vec<usize> {
        let sink = self.removed[grain].and_then(|sink| self.sinks.get(sink as usize));
        let centre = self.bodies.position[self.grain_body(grain)];
        let bins = sink.map_or(&[][..], |sink| &sink.bins);
        bins.iter().map(|bins| bins.class_of(self.grain_radius(grain), centre)).collect()
    }

    /// Counts a removed grain whose place another grain takes, or that this world does not hold any more.
    pub fn count_removed(&mut self, grain: usize) {
        let mut all = std::mem::take(&mut self.replaced);
        self.add_removed(grain, &mut all);
        self.replaced = all;
    }

    /// All removed grains, as if others had taken their places.
    pub fn all_removed(&self) -> Vec<Replaced> {
        let mut all = self.replaced.clone();
        let removed = (0..self.grain_count()).filter(|&grain| !self.is_present(grain));
        removed.for_each(|grain| self.add_removed(grain, &mut all));
        all
    }

    /// Adds a removed grain to these counts.
    fn add_removed(&self, grain: usize, all: &mut Vec<Replaced>) {
        let (drain, mass) = (self.removed[grain].unwrap_or_default() as usize, self.grain_mass(grain));
        let centre = self.bodies.position[self.grain_body(grain)];
        // Grains taken out by hand come last: no quantity counts them, but ids do.
        let count = all.len().max(self.sinks.len().max(drain) + 1);
        all.resize(count, Replaced::default());
        let gone = &mut all[drain];
        gone.taken.add(mass);
        if let Some(sink) = self.sinks.get(drain) {
            gone.classes.resize_with(sink.bins.len(), Vec::new);
            let classes = self.classes_of_removed(grain);
            for ((counts, bins), class) in gone.classes.iter_mut().zip(&sink.bins).zip(classes) {
                counts.resize(bins.count(), Taken::default());
                counts[class].add(mass);
            }
        }
        gone.places = [gone.places[0].min(centre), gone.places[1].max(centre)];
    }

    /// Place of the grain with this id; `None` if it does not exist yet, or was removed.
    pub fn grain_of_id(&self, id: usize) -> Option<usize> {
        let is_it = |&place: &usize| self.ids.get(place).is_some_and(|&other| other as usize == id);
        let place = Some(id).filter(is_it).or_else(|| (0..self.ids.len()).find(is_it));
        place.filter(|&place| self.is_present(place))
    }

    /// Removes a grain by hand, into none of the sinks, so that no quantity counts it. Returns its kinetic energy before \[J\].
    pub fn take_out(&mut self, grain: usize) -> f64 {
        // The index after that of grains that left the domain.
        self.remove_grain(grain, self.sinks.len() as u32 + 1)
    }

    /// Removes a grain into a sink: nothing moves it any more. Returns its kinetic energy before \[J\]; 0 if it was removed already.
    pub fn remove_grain(&mut self, grain: usize, sink: u32) -> f64 {
        let body = self.grain_body(grain);
        let energy = self.bodies.kinetic_energy(body);
        self.release_bonds(body as u32);
        self.release_bridges(body as u32);
        self.removed[grain] = Some(sink);
        self.set_force(body, DVec3::ZERO, DVec3::ZERO);
        self.bodies.inverse_mass[body] = 0.0;
        self.bodies.inverse_inertia[body] = 0.0;
        energy
    }

    /// Whether a grain is present, that is, not removed.
    #[inline]
    pub fn is_present(&self, grain: usize) -> bool {
        self.removed[grain].is_none()
    }

    /// Places of the grains that are present, in ascending order.
    pub fn present_grains(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.grain_count()).filter(|&grain| self.is_present(grain))
    }

    /// Number of grains that are present.
    pub fn present_count(&self) -> usize {
        self.removed.iter().filter(|sink| sink.is_none()).count()
    }

    /// Centres \[m\] and radii \[m\] of the spheres of a grain to be added.
    pub fn spheres_of(&self, grain: &Grain) -> Vec<(DVec3, f64)> {
        clump::spheres_of(&self.clumps, grain)
    }

    /// Number of spheres once there are `grains` grains: the present number, and for each grain to come the number of the clump with the
    /// most spheres.
    pub fn planned_spheres(&self, grains: usize) -> usize {
        let most = self.clumps.iter().map(|clump| clump.spheres.len()).max().unwrap_or(1);
        self.spheres.len() + grains.saturating_sub(self.grain_count()) * most
    }

    /// Centres \[m\] and radii \[m\] of the spheres of the grains that are present.
    pub fn present_spheres(&self) -> Vec<(DVec3, f64)> {
        self.spheres_of_grains(self.present_grains()).collect()
    }

    /// Centres \[m\] and radii \[m\] of the spheres of these grains.
    pub fn spheres_of_grains(
        &self,
        grains: impl Iterator<Item = usize>,
    ) -> impl Iterator<Item = (DVec3, f64)> {
        let spheres = grains.flat_map(|grain| &self.spheres[self.grains[grain].spheres()]);
        spheres.map(|sphere| (self.sphere_centre(sphere), sphere.radius))
    }

    /// Number of grains, including the removed ones.
    pub fn grain_count(&self) -> usize {
        self.grains.len()
    }

    /// Number of bodies once there are `grains` grains.
    pub fn bodies_with(&self, grains: usize) -> usize {
        self.grain_body(grains)
    }

    /// Body of a grain. Grains come after the boundaries, which only this function and the next know.
    pub fn grain_body(&self, grain: usize) -> usize {
        self.boundaries.len() + grain
    }

    /// Grain of a body; `None` for a boundary.
    pub fn grain_of_body(&self, body: usize) -> Option<usize> {
        body.checked_sub(self.boundaries.len())
    }

    /// Grain of a shape; `None` for a shape of a boundary.
    #[inline]
    pub fn grain_of_shape(&self, shape: u32) -> Option<usize> {
        self.sphere_of(shape).and_then(|sphere| self.grain_of_body(sphere.body as usize))
    }

    /// Public name of a body: the id of a grain, or -1 - i for boundary number i.
    pub fn label(&self, body: u32) -> i64 {
        match self.grain_of_body(body as usize) {
            Some(grain) => i64::from(self.ids[grain]),
            None => -1 - i64::from(body),
        }
    }

    /// Material of grain `i`.
    pub fn grain_material(&self, grain: usize) -> MaterialId {
        self.spheres[self.grains[grain].first as usize].material
    }

    /// Radius of grain `i` \[m\]; of a clump, the radius of a sphere of the same volume.
    pub fn grain_radius(&self, grain: usize) -> f64 {
        let GrainParts { first, clump, .. } = self.grains[grain];
        let radius = self.spheres[first as usize].radius;
        clump.map_or(radius, |clump| {
            let clump = &self.clumps[clump as usize];
            radius / clump.spheres[0].1 * clump.equivalent_radius()
        })
    }

    /// Radius of a ball about the centre of grain `i` that contains it \[m\].
    pub fn grain_reach(&self, grain: usize) -> f64 {
        reach(&self.spheres[self.grains[grain].spheres()])
    }

    /// Mass of grain `i`, removed or not \[kg\].
    pub fn grain_mass(&self, grain: usize) -> f64 {
        self.mass_from(self.grain_radius(grain), self.grain_density(grain), self.grains[grain].clump)
    }

    /// Density of grain `i` \[kg/m³\]: its own, or that of its material.
    pub fn grain_density(&self, grain: usize) -> f64 {
        self.density_of(self.grains[grain].density, self.grain_material(grain))
    }

    /// Mass of a grain to be added \[kg\].
    pub fn mass_of(&self, grain: &Grain) -> f64 {
        self.mass_from(grain.radius, self.density_of(grain.density, grain.material), grain.clump)
    }

    /// What grains to be added may be made of.
    pub fn kinds(&self) -> Kinds<'_> {
        Kinds { materials: &self.materials, clumps: &self.clumps, plane: self.plane }
    }

    fn density_of(&self, own: Option<f64>, material: MaterialId) -> f64 {
        own.unwrap_or(self.materials.list[material as usize].density)
    }

    fn mass_from(&self, radius: f64, density: f64, clump: Option<ClumpId>) -> f64 {
        mass(radius, density, clump.map(|clump| &self.clumps[clump as usize]), self.plane)
    }

    /// Diameter of the largest sphere of a grain \[m\]; without grains, twice the largest contact radius of a vertex; 0 without either.
    pub fn largest_diameter(&self) -> f64 {
        let vertices = || self.vertices.iter().map(|vertex| vertex.contact_radius).fold(0.0, f64::max);
        let largest = self.largest_radius();
        2.0 * if largest > 0.0 { largest } else { vertices() }
    }
}

/// What grains may be made of.
#[derive(Debug, Clone, Copy)]
pub struct Kinds<'a> {
    /// Materials.
    pub materials: &'a Materials,
    /// Clumps.
    pub clumps: &'a [Clump],
    /// Plane in which grains are discs, if the scene is plane.
    pub plane: Option<Plane>,
}

impl Kinds<'_> {
    /// Mass of a grain to be added \[kg\]; `None` if there is no such material or clump.
    pub fn mass_of(&self, grain: &Grain) -> Option<f64> {
        let material = self.materials.list.get(grain.material as usize)?;
        let clump = match grain.clump {
            Some(clump) => Some(self.clumps.get(clump as usize)?),
            None => None,
        };
        Some(mass(grain.radius, grain.density.unwrap_or(material.density), clump, self.plane))
    }
}

/// Mass of a grain of this radius \[m\] and density \[kg/m³\] \[kg\].
fn mass(radius: f64, density: f64, clump: Option<&Clump>, plane: Option<Plane>) -> f64 {
    match clump {
        Some(clump) => clump.mass(radius, density),
        None => density * plane::grain_volume(plane, radius),
    }
}

/// Radius of a ball about the centre of a body that contains these spheres of it \[m\].
pub(super) fn reach(spheres: &[Sphere]) -> f64 {
    spheres.iter().map(|sphere| sphere.centre.length() + sphere.radius).fold(0.0, f64::max)
}
