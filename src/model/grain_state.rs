//! State of a grain, with all that it takes from one world to another.
//!
//! Where a scene is divided among ranks, each rank has a world of its own, with all boundaries and a part of the grains. These are in the
//! order of their places in the whole world, so that two ranks which hold the same pair of grains agree which of them comes first.

use glam::DVec3;

use super::body::BodyState;
use super::grains::reach;
use super::{AppliedForce, ClumpId, GrainParts, Liquid, Sphere, World};

/// State of a grain.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GrainState {
    /// Index of the grain in the whole world.
    pub place: u32,
    /// Index of its first sphere in the whole world.
    pub first_sphere: u32,
    /// Its id.
    pub id: u32,
    /// Index of the sink that removed it, as in [`World::removed`].
    pub removed: Option<u32>,
    /// Mass, pose and velocity.
    pub body: BodyState,
    clump: Option<ClumpId>,
    density: Option<f64>,
    /// Applied force \[N\] and torque \[N m\].
    applied: [DVec3; 2],
    spheres: Vec<Sphere>,
    /// When it came into each residence \[s\].
    arrivals: Vec<f64>,
}

impl GrainState {
    /// Number of its spheres.
    pub fn spheres(&self) -> usize {
        self.spheres.len()
    }

    /// Radius of a ball about its centre that contains it \[m\].
    pub fn reach(&self) -> f64 {
        reach(&self.spheres)
    }
}

impl World {
    /// State of a grain; `place` and `first_sphere` are its indices in this world.
    pub fn grain_state(&self, grain: usize) -> GrainState {
        let (body, parts, pull) = (self.grain_body(grain), &self.grains[grain], self.pull());
        GrainState {
            place: grain as u32,
            first_sphere: parts.first,
            id: self.ids[grain],
            removed: self.removed[grain],
            body: self.bodies.state(body),
            clump: parts.clump,
            density: parts.density,
            applied: [pull.force_on(body), pull.torque_on(body)],
            spheres: self.spheres[parts.spheres()].to_vec(),
            arrivals: self.arrivals_of(grain).to_vec(),
        }
    }

    /// Adds a grain with this state after all others.
    pub fn push_grain_state(&mut self, state: &GrainState) {
        let body = self.bodies.len() as u32;
        self.takes_grains = true;
        self.bodies.push_state(&state.body);
        let (first, count) = (self.spheres.len() as u32, state.spheres.len() as u32);
        self.grains.push(GrainParts { first, count, clump: state.clump, density: state.density });
        self.spheres.extend(state.spheres.iter().map(|sphere| Sphere { body, ..*sphere }));
        self.removed.push(state.removed);
        self.ids.push(state.id);
        self.arrivals.extend(&state.arrivals);
        let [force, torque] = state.applied;
        self.set_force(body as usize, force, torque);
    }

    /// Sets mass, pose, velocity and applied force of a grain that this world has, and whether and by what it was removed.
    pub fn set_grain_state(&mut self, grain: usize, state: &GrainState) {
        let body = self.grain_body(grain);
        self.bodies.set_state(body, &state.body);
        self.removed[grain] = state.removed;
        let residences = self.residences.len();
        self.arrivals[residences * grain..residences * (grain + 1)].copy_from_slice(&state.arrivals);
        let [force, torque] = state.applied;
        self.set_force(body, force, torque);
    }

    /// Returns the world without its grains, and without what was counted of them.
    #[must_use]
    pub fn without_grains(&self) -> World {
        let mut world = World {
            time: self.time,
            gravity: self.gravity,
            materials: self.materials.clone(),
            boundaries: self.boundaries.clone(),
            surfaces: self.surfaces.clone(),
            meshes: self.meshes.clone(),
            solids: self.solids.clone(),
            vertices: self.vertices.clone(),
            takes_grains: self.takes_grains,
            clumps: self.clumps.clone(),
            joints: self.joints.clone(),
            joint_states: self.joint_states.clone(),
            machines: self.machines.clone(),
            sinks: self.sinks.clone(),
            domain: self.domain,
            meters: self.meters.clone(),
            gates: self.gates.clone(),
            residences: self.residences.clone(),
            counted: vec![0.0; self.counted.len()],
            heat: self.heat.clone(),
            liquid: self.liquid.clone().map(|liquid| Liquid { bridges: Vec::new(), ..liquid }),
            measures_grains: self.measures_grains,
            periodic: self.periodic,
            deformation: self.deformation.clone(),
            plane: self.plane,
            ..World::default()
        };
        let is_of_boundary = |applied: &&AppliedForce| (applied.body as usize) < self.boundaries.len();
        world.forces.extend(self.forces.iter().filter(is_of_boundary));
        for body in 0..self.boundaries.len() {
            world.bodies.push_state(&self.bodies.state(body));
        }
        world
    }

    /// Moves all grains to `other`, in place of its own. This world keeps its boundaries, and has room for as many grains as `other` had.
    pub fn move_grains_to(&mut self, other: &mut World) {
        other.takes_grains |= self.takes_grains;
        std::mem::swap(&mut self.bodies, &mut other.bodies);
        std::mem::swap(&mut self.forces, &mut other.forces);
        std::mem::swap(&mut self.spheres, &mut other.spheres);
        std::mem::swap(&mut self.grains, &mut other.grains);
        std::mem::swap(&mut self.removed, &mut other.removed);
        std::mem::swap(&mut self.ids, &mut other.ids);
        std::mem::swap(&mut self.arrivals, &mut other.arrivals);
        self.spheres.clear();
        self.grains.clear();
        self.removed.clear();
        self.ids.clear();
        self.arrivals.clear();
        let boundaries = self.boundaries.len();
        self.bodies.clear();
        (0..boundaries).for_each(|body| self.bodies.push_state(&other.bodies.state(body)));
        self.forces.clear();
        self.forces.extend(other.forces.iter().filter(|applied| (applied.body as usize) < boundaries));
    }

    /// Adds a grain of `other`, to which this world moved its grains, after all others.
    pub fn push_grain_of(&mut self, other: &World, grain: usize) {
        let (body, old) = (self.bodies.len(), self.grain_body(grain));
        self.bodies.push_state(&other.bodies.state(old));
        let parts = &other.grains[grain];
        self.grains.push(GrainParts { first: self.spheres.len() as u32, ..*parts });
        let spheres = &other.spheres[parts.spheres()];
        self.spheres.extend(spheres.iter().map(|sphere| Sphere { body: body as u32, ..*sphere }));
        self.removed.push(other.removed[grain]);
        self.ids.push(other.ids[grain]);
        let residences = self.residences.len();
        self.arrivals.extend(&other.arrivals[residences * grain..residences * (grain + 1)]);
        if !other.forces.is_empty() {
            let pull = other.pull();
            self.set_force(body, pull.force_on(old), pull.torque_on(old));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::pair::Material;
    use crate::model::{Clump, Grain, Materials};

    #[test]
    fn grains_come_into_another_world_as_they_were() {
        let mut world = World::new(DVec3::ZERO, Materials::new(vec![Material::glass()]));
        let rod = [(DVec3::ZERO, 1.0), (DVec3::X, 0.7)];
        world.clumps.push(Clump::of_spheres("rod", &rod));
        let at = |x: f64| Grain { velocity: DVec3::new(x, 1.0, 2.0), ..Grain::at(DVec3::splat(x), 0.3, 0) };
        let light = Some(900.0);
        world.add_grains([
            Grain { density: light, ..at(1.0) },
            Grain { clump: Some(0), density: light, ..at(4.0) },
            at(7.0),
        ]);
        world.set_force(1, DVec3::X, DVec3::Y);
        world.remove_grain(2, 0);
        let states: Vec<GrainState> = (0..3).map(|grain| world.grain_state(grain)).collect();
        let mut other = world.without_grains();
        assert_eq!((other.grain_count(), other.forces.len(), other.bodies.len()), (0, 0, 0));
        states.iter().for_each(|state| other.push_grain_state(state));
        // Which places are free is known to the whole world alone.
        assert_eq!(World { vacancies: world.vacancies.clone(), ..other.clone() }, world);
        // A part of them, in the same order: bodies and spheres are counted anew.
        let mut all = World::default();
        other.move_grains_to(&mut all);
        assert_eq!((other.grain_count(), other.forces.len(), other.bodies.len()), (0, 0, 0));
        (1..3).for_each(|grain| other.push_grain_of(&all, grain));
        assert_eq!(other.spheres.iter().map(|sphere| sphere.body).collect::<Vec<_>>(), [0, 0, 1]);
        assert_eq!((other.ids.as_slice(), other.forces[0].body), (&[1, 2][..], 0));
        // And back.
        other.bodies.position[0] = DVec3::ONE;
        world.set_grain_state(1, &other.grain_state(0));
        assert_eq!(world.bodies.position[1], DVec3::ONE);
        assert_eq!(world.pull().torque_on(1), DVec3::Y);
    }
}
