//! A plate that a callback drives: it lifts grains, and is reversed whenever it has gone far enough: `cargo run --release --example motor`.

#![allow(clippy::print_stdout, reason = "an example tells what it found")]

use std::error::Error;
use std::path::Path;

use esker::scenario::Scenario;
use esker::simulation::{Device, Simulation};
use glam::DVec3;

const SCENE: &str = r#"
duration = 1.0

[materials.glass]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.25
restitution = 0.2
friction = 0.4

[[boundaries]]
name = "plate"
material = "glass"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }

[[grains]]
material = "glass"
radius = { kind = "constant", value = 0.005 }
packing = { kind = "lattice", corner = [0, 0, 0.00505], counts = [5, 5, 3], spacing = 0.0101 }
"#;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let scenario = Scenario::parse("motor", SCENE, Path::new("."), &[])?;
    let mut simulation = Simulation::new(&scenario, Device::Cpu)?;
    simulation.set_velocity("plate", DVec3::Z * 0.05)?;
    let mut upwards = true;
    simulation.every(0.05, move |simulation| {
        let height = simulation.state()?.world.bodies.position[0].z;
        if (height > 0.008) == upwards {
            upwards = !upwards;
            simulation.set_velocity("plate", DVec3::Z * if upwards { 0.05 } else { -0.05 })?;
        }
        println!(
            "{:.2} s: plate at {:.4} m, it carries {:.3} N",
            simulation.time(),
            height,
            -simulation.quantity("force_z:plate")?
        );
        Ok(())
    });
    simulation.run_until(1.0)?;
    Ok(())
}
