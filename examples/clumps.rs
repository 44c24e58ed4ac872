//! Builds a scene of clumps in code, drops them on a floor and counts who touches whom: `cargo run --release --example clumps`.

#![allow(clippy::print_stdout, reason = "an example tells what it found")]

use std::error::Error;

use esker::law::pair::Material;
use esker::model::{Boundary, Clump, Form, Grain, Materials, Motion, Surface, World};
use esker::settings::Settings;
use esker::simulation::{Device, Simulation};
use glam::{DQuat, DVec3};

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let stone = Material {
        name: "stone".into(),
        density: 2500.0,
        youngs_modulus: 1e7,
        poisson_ratio: 0.25,
        restitution: 0.2,
        friction: 0.6,
        rolling_resistance: 0.0,
        damping: 0.0,
        pull_off_force: 0.0,
        work_of_adhesion: 0.0,
        conductivity: 0.0,
        heat_capacity: 0.0,
    };
    let mut world = World::new(DVec3::NEG_Z * 9.81, Materials::new(vec![stone]));
    let floor = Boundary {
        name: "floor".into(),
        position: DVec3::ZERO,
        orientation: DQuat::IDENTITY,
        motion: Motion::Fixed,
    };
    world.add_boundary(floor, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 0)]);

    // Mass, centre and moments of inertia are those of the union of the three spheres.
    let spheres = [-0.004, 0.0, 0.004].map(|x| (DVec3::X * x, 0.004));
    world.clumps.push(Clump::of_spheres("rod", &spheres));
    let radius = world.clumps[0].equivalent_radius();
    world.add_grains((0..40u32).map(|i| {
        let (x, y, layer) = (f64::from(i % 3), f64::from(i / 3 % 3), f64::from(i / 9));
        Grain {
            clump: Some(0),
            orientation: DQuat::from_scaled_axis(DVec3::new(0.3, 0.7, 1.1) * f64::from(i)),
            ..Grain::at(DVec3::new(0.018 * x, 0.018 * y, 0.01 + 0.018 * layer), radius, 0)
        }
    }));

    let settings = Settings { time_step: 2e-3, iterations: 30, ..Settings::default() };
    let mut simulation = Simulation::of_world(world, settings, Device::Cpu)?;
    simulation.run_until(0.6)?;
    println!("height {:.4} m", simulation.quantity("height_p99")?);
    println!("grains and surfaces that each touches: {:.2}", simulation.quantity("coordination_number")?);
    println!("weight on the floor: {:.4} of all", simulation.quantity("weight_supported")?);
    Ok(())
}
