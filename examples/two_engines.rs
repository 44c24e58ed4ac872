//! The same scene on two engines, side by side on two threads: `cargo run --release --example two_engines [cpu|software|gpu]`.

#![allow(clippy::print_stdout, reason = "an example tells what it found")]

use std::error::Error;
use std::path::Path;
use std::thread;

use esker::scenario::Scenario;
use esker::simulation::{Device, Simulation};

/// Height of the bed and energy of its grains after half a second on a device.
fn bed_on(device: Device, scenario: &Scenario) -> Result<(String, [f64; 2]), esker::error::Error> {
    let mut simulation = Simulation::new(scenario, device)?;
    simulation.run_until(0.5)?;
    let found = [simulation.quantity("height_p99")?, simulation.quantity("kinetic_energy_per_grain")?];
    Ok((simulation.identity().to_string(), found))
}

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let other = match std::env::args().nth(1).as_deref() {
        Some("gpu") => Device::Gpu,
        Some("software") => Device::Software,
        _ => Device::Cpu,
    };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/settle_1000.toml");
    let scenario = Scenario::load(&file, &["grains.0.packing.count=300".to_owned()])?;
    let there = scenario.clone();
    let other = thread::spawn(move || bed_on(other, &there));
    let here = bed_on(Device::Cpu, &scenario)?;
    let other = other.join().map_err(|_| "the other engine panicked")??;
    for (engine, [height, energy]) in [here, other] {
        println!("{engine}: height {height:.5} m, kinetic energy {energy:.2e} m g d per grain");
    }
    Ok(())
}
