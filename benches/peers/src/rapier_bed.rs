//! The bed in rapier3d, in single precision on all cores.

use std::error::Error;

use esker::law::pair::Material;
use esker::model::World;
use glam::{DQuat, DVec3};
use rapier3d::prelude::*;

use crate::program::{Program, STEP};
use crate::scene::{Scene, Shape};

/// Settings of a retuned bed.
#[derive(Clone, Copy)]
pub struct Tuning {
    /// Contact frequency \[Hz\]. Less, and a bed of 17 layers sinks into itself.
    pub frequency: f64,
    /// Solver iterations, each a substep.
    pub iterations: usize,
}

/// Thickness of floor and walls \[d\]: grains do not get through.
const THICKNESS: f64 = 10.0;
/// Height of the walls \[d\].
const WALL_HEIGHT: f64 = 1000.0;

/// rapier3d with the bed in it.
pub struct RapierBed {
    name: String,
    world: PhysicsWorld,
    /// Bodies of the grains, in the order of their ids.
    grains: Vec<RigidBodyHandle>,
    /// The bed as it was dropped: everything but positions and velocities.
    template: World,
    /// Unit of length \[m\].
    unit: f64,
}

impl RapierBed {
    /// With the defaults of rapier3d, but for the time step. Lengths are in diameters of the grains: those of rapier3d (slop, prediction
    /// distance, speed of correction) are made for things of a metre, and in single precision hulls of millimetres are found neither apart
    /// nor touching.
    pub fn with_defaults(bed: &Scene) -> RapierBed {
        let defaults = IntegrationParameters {
            dt: STEP as Real,
            ..IntegrationParameters::default()
        };
        RapierBed::new("rapier3d, defaults".to_owned(), bed, defaults)
    }

    /// With contacts as stiff as it takes, at the floor too, and more iterations.
    pub fn retuned(bed: &Scene, Tuning { frequency, iterations }: Tuning) -> RapierBed {
        let softness = SpringCoefficients {
            natural_frequency: frequency as Real,
            ..SpringCoefficients::contact_defaults()
        };
        let retuned = IntegrationParameters {
            dt: STEP as Real,
            contact_softness: softness,
            static_contact_softness: softness,
            num_solver_iterations: iterations,
            ..IntegrationParameters::default()
        };
        RapierBed::new(format!("rapier3d, {frequency} Hz, {iterations} iterations"), bed, retuned)
    }

    fn new(name: String, bed: &Scene, integration_parameters: IntegrationParameters) -> RapierBed {
        let template = bed.scenario.world.clone();
        let mut world = PhysicsWorld {
            gravity: vector(template.gravity / bed.diameter),
            integration_parameters,
            ..PhysicsWorld::default()
        };
        let Shape::Bed { half_width } = bed.shape else { panic!("rapier3d is given beds only") };
        add_box(&mut world, bed, half_width);
        let grains = add_grains(&mut world, &template, bed.diameter);
        RapierBed { name, world, grains, template, unit: bed.diameter }
    }
}

impl Program for RapierBed {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn advance(&mut self, steps: u64) -> Result<(), Box<dyn Error>> {
        (0..steps).for_each(|_| self.world.step());
        Ok(())
    }

    fn world(&mut self) -> Result<World, Box<dyn Error>> {
        let mut world = self.template.clone();
        for (grain, &handle) in self.grains.iter().enumerate() {
            let (body, id) = (&self.world.bodies[handle], world.grain_body(grain));
            world.bodies.position[id] = self.unit * wide(body.translation());
            world.bodies.orientation[id] =
                DQuat::from_array(body.rotation().to_array().map(f64::from)).normalize();
            world.bodies.velocity[id] = self.unit * wide(body.linvel());
            world.bodies.angular_velocity[id] = wide(body.angvel());
        }
        Ok(world)
    }
}

/// The rough floor and four smooth walls, all of them solid.
fn add_box(world: &mut PhysicsWorld, bed: &Scene, half: f64) {
    let half = half / bed.diameter;
    let [thick, tall] = [THICKNESS, WALL_HEIGHT].map(|lengths| 0.5 * lengths);
    let outer = half + 2.0 * thick;
    let rough = &bed.scenario.world.materials.list[0];
    let smooth = Material { friction: 0.0, ..rough.clone() };
    let mut add = |half: DVec3, centre: DVec3, material: &Material| {
        let [x, y, z] = half.to_array().map(|length| length as Real);
        let body = RigidBodyBuilder::fixed().translation(vector(centre));
        world.insert(body, with_material(ColliderBuilder::cuboid(x, y, z), material));
    };
    add(DVec3::new(outer, outer, thick), DVec3::new(0.0, 0.0, -thick), rough);
    for side in [-1.0, 1.0] {
        let offset = side * (half + thick);
        add(DVec3::new(thick, outer, tall), DVec3::new(offset, 0.0, tall), &smooth);
        add(DVec3::new(outer, thick, tall), DVec3::new(0.0, offset, tall), &smooth);
    }
}

/// Grains that never sleep, as a bed asleep costs nothing and computes nothing: balls, or hulls about their centres of mass.
fn add_grains(world: &mut PhysicsWorld, template: &World, unit: f64) -> Vec<RigidBodyHandle> {
    let add = |grain: usize| {
        let (parts, id) = (template.grains[grain], template.grain_body(grain));
        let sphere = &template.spheres[parts.first as usize];
        let (position, orientation) = (template.bodies.position[id], template.bodies.orientation[id]);
        let turn = Rotation::from_array(orientation.to_array().map(|x| x as Real));
        let body = RigidBodyBuilder::dynamic()
            .pose(Pose::from_parts(vector(position / unit), turn))
            .linvel(vector(template.bodies.velocity[id] / unit))
            .angvel(vector(template.bodies.angular_velocity[id]))
            .can_sleep(false);
        let hull = parts.clump.and_then(|kind| template.clumps[kind as usize].hull.as_ref());
        let collider = match hull {
            Some(hull) => {
                let scale = sphere.radius / hull.radius / unit;
                let corners: Vec<Vector> = hull.corners.iter().map(|&corner| vector(scale * corner)).collect();
                ColliderBuilder::convex_hull(&corners).expect("the corners of a hull")
            }
            None => ColliderBuilder::ball((sphere.radius / unit) as Real),
        };
        world.insert(body, with_material(collider, &template.materials.list[0])).0
    };
    (0..template.grain_count()).map(add).collect()
}

/// Of each property the smaller value of a pair counts, as in esker.
fn with_material(collider: ColliderBuilder, material: &Material) -> ColliderBuilder {
    collider
        .density(material.density as Real)
        .friction(material.friction as Real)
        .friction_combine_rule(CoefficientCombineRule::Min)
        .restitution(material.restitution as Real)
        .restitution_combine_rule(CoefficientCombineRule::Min)
}

fn vector(wide: DVec3) -> Vector {
    Vector::from(wide.to_array().map(|x| x as Real))
}

fn wide(vector: Vector) -> DVec3 {
    DVec3::from_array(vector.to_array().map(f64::from))
}
