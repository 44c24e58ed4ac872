//! Steps a drum from its scenario file and prints the angle of its flow: `cargo run --release --example drum [SECONDS]`.

#![allow(clippy::print_stdout, reason = "an example tells what it found")]

use std::error::Error;
use std::path::Path;

use esker::scenario::Scenario;
use esker::simulation::{Device, Simulation};

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let end = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0.2);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/drum.toml");
    let mut simulation = Simulation::new(&Scenario::load(&file, &[])?, Device::Cpu)?;
    println!("on {}", simulation.identity());
    while simulation.time() < end {
        simulation.step(20)?;
        let angle = simulation.quantity("dynamic_angle_deg")?;
        let highest = simulation.positions()?.iter().map(|place| place.z).fold(f64::NEG_INFINITY, f64::max);
        println!("{:.2} s: {angle:.2}°, the highest grain at {highest:.3} m", simulation.time());
    }
    Ok(())
}
