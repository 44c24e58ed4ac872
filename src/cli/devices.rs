//! `esker devices`: devices that a scenario can run on, and a test that both engines agree on each.

use std::path::Path;

use crate::cpu::CpuEngine;
use crate::engine::Engine;
use crate::error::Error;
use crate::gpu::GpuEngine;
use crate::gpu::device::{AdapterReport, Device};
use crate::model::World;
use crate::scenario::Scenario;

use super::terminal::say;
use super::{ExitOutcome, Failure};

/// Small scene with every kind of constraint: grains of two sizes that hit a turning drum and each other.
const SCENE: &str = include_str!("self_test.toml");
/// Largest allowed difference of two velocities after the step \[m/s\]. Both engines sweep to convergence, where single
/// precision leaves about 1e-5 of the speeds of the scene (0.3 m/s); a wrong law shows as 1e-2.
const ALLOWED: f64 = 1e-4;

/// Lists the devices and tests each.
pub(super) fn list() -> Result<ExitOutcome, Failure> {
    let scenario = Scenario::parse("self-test", SCENE, Path::new(""), &[])?;
    let cpu = CpuEngine::new(World::default(), scenario.settings).identity();
    say!("--device {:<10} {} ({}, {})", cpu.engine, cpu.device, cpu.backend, cpu.driver);
    let adapters = Device::open_all();
    if adapters.is_empty() {
        say!("no adapter found; for a software one install lavapipe (Debian: mesa-vulkan-drivers)");
    }
    let mut failure = None;
    for (adapter, device) in adapters {
        print_adapter(&adapter);
        match device.and_then(|device| self_test(device, &scenario)) {
            Ok(difference) => {
                say!("    self-test     passed: velocities within {difference:.1e} m/s of the CPU engine");
            }
            Err(error) => {
                say!("    self-test     FAILED: {error}");
                failure = Some(error);
            }
        }
    }
    failure.map_or(Ok(ExitOutcome::Done), |error| Err(error.into()))
}

fn print_adapter(adapter: &AdapterReport) {
    let (info, limits) = (&adapter.info, &adapter.limits);
    let choice = if adapter.is_software() { "software" } else { "gpu" };
    say!("--device {choice:<10} {} ({}, {} {})", info.name, info.backend, info.driver, info.driver_info);
    say!(
        "    limits        {} MB per binding, {} MB per buffer, {} storage buffers per kernel, \
         {} KB workgroup memory",
        limits.max_storage_buffer_binding_size >> 20,
        limits.max_buffer_size >> 20,
        limits.max_storage_buffers_per_shader_stage,
        limits.max_compute_workgroup_storage_size >> 10
    );
    say!("    stage times   {}", if adapter.timestamps { "yes" } else { "no" });
}

/// Takes one step on the device and on the CPU engine from the same numbers, and returns the largest difference of two
/// velocities \[m/s\].
fn self_test(device: Device, scenario: &Scenario) -> Result<f64, Error> {
    let adapter = device.identity().device;
    let mut gpu = GpuEngine::new(device, scenario.world.clone(), scenario.settings)?;
    let rounded = gpu.snapshot()?.world;
    let mut cpu = CpuEngine::new(rounded, scenario.settings);
    gpu.advance(1)?;
    cpu.advance(1)?;
    let (found, expected) = (gpu.snapshot()?, cpu.snapshot()?);
    let pairs = found.world.bodies.velocity.iter().zip(&expected.world.bodies.velocity);
    let difference = pairs.map(|(found, expected)| found.distance(*expected)).fold(0.0, f64::max);
    let contacts = found.contacts.len().abs_diff(expected.contacts.len()) as f64;
    if contacts > 0.0 {
        return Err(Error::SelfTest {
            adapter,
            what: "the number of contacts",
            found: contacts,
            allowed: 0.0,
        });
    }
    if difference > ALLOWED {
        return Err(Error::SelfTest {
            adapter,
            what: "a velocity [m/s]",
            found: difference,
            allowed: ALLOWED,
        });
    }
    Ok(difference)
}
