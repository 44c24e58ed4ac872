//! Memory that a scenario needs, and whether the machine has it free.

use sysinfo::System;

use crate::cpu::CpuEngine;
use crate::engine::Snapshot;
use crate::error::{Error, in_words};
use crate::gpu::{Capacity, Room};
use crate::output::frames;
use crate::scenario::Scenario;

use super::terminal::say;

/// Largest buffer that a device binds \[bytes\]: the size that WebGPU guarantees and lavapipe offers, and the size that nearly every
/// graphics card offers.
const SMALL_BINDING: u64 = 128 << 20;
const LARGE_BINDING: u64 = 2 << 30;

/// Buffers that the GPU engine allocates on its device for all grains, before it grows those that turn out too small.
pub(super) fn of_gpu(scenario: &Scenario) -> Capacity {
    Capacity::for_world(&scenario.world, &scenario.settings, Room::Grains(scenario.planned_grains()))
}

/// Memory of the program itself \[bytes\]: its code as far as it is used, its threads, and a scene of a few grains.
const OF_PROGRAM: u64 = 14 << 20;

/// Memory that the GPU engine needs beside its device \[bytes\]: the world, and the memory for an output.
pub(super) fn of_host(scenario: &Scenario) -> u64 {
    let grains = scenario.world.planned_bytes(scenario.planned_grains());
    OF_PROGRAM + of_start(scenario) + grains + of_output(scenario) + of_convergence(scenario)
}

/// Memory of a run on the CPU engine \[bytes\]. The temporary lists of a step are freed before an output, so only the larger of the two
/// counts.
pub(super) fn of_cpu(scenario: &Scenario) -> u64 {
    let grains = scenario.planned_grains();
    let held = CpuEngine::planned_holdings(&scenario.world, grains, &scenario.settings);
    let passing =
        CpuEngine::planned_passing(&scenario.world, grains, &scenario.settings).max(of_output(scenario));
    OF_PROGRAM + of_start(scenario) + held + passing + of_convergence(scenario)
}

/// Memory of the initial state, which the scenario keeps \[bytes\].
fn of_start(scenario: &Scenario) -> u64 {
    scenario.world.planned_bytes(scenario.world.grain_count())
}

/// Memory for an output \[bytes\]: a snapshot is taken, and then written as frames.
fn of_output(scenario: &Scenario) -> u64 {
    let (world, grains) = (&scenario.world, scenario.planned_grains());
    let spheres = world.planned_spheres(grains);
    let frames = if scenario.output.formats.vtp {
        frames::planned_bytes(spheres, scenario.surface.as_ref())
    } else {
        0
    };
    Snapshot::planned_bytes(world, grains).max(Snapshot::planned_holdings(world, grains) + frames)
}

/// Makes the allocator return freed memory to the system, so that a run takes the memory that was planned. By default, glibc
/// keeps freed lists of up to 32 MB each, which comes to half as much again as a run needs.
pub(super) fn give_back_what_is_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const M_MMAP_THRESHOLD: i32 = -3;
        /// Lists larger than this are mapped one by one, and return to the system when they are freed \[bytes\].
        const LARGE: i32 = 1 << 20;
        unsafe extern "C" {
            fn mallopt(parameter: i32, value: i32) -> i32;
        }
        // SAFETY: as declared in malloc.h; it sets a parameter of the allocator, before there are other threads. Where
        // that is refused, a run takes more memory and is no less right.
        let _ = unsafe { mallopt(M_MMAP_THRESHOLD, LARGE) };
    }
}

/// Memory to follow the convergence of a step \[bytes\]: a CPU engine of its own, and its problem once more.
fn of_convergence(scenario: &Scenario) -> u64 {
    let Scenario { world, settings, convergence, .. } = scenario;
    let grains = scenario.planned_grains();
    match convergence {
        Some(_) => 2 * CpuEngine::planned_memory(world, grains, settings),
        None => 0,
    }
}

/// Refuses a scenario that needs more memory than the machine has free.
pub(super) fn check_machine(engine: &'static str, needed: u64, scenario: &Scenario) -> Result<(), Error> {
    fits(engine, needed, free(), scenario.planned_grains() as u64)
}

fn fits(engine: &'static str, needed: u64, free: u64, grains: u64) -> Result<(), Error> {
    if needed <= free {
        return Ok(());
    }
    let fitting = (u128::from(grains) * u128::from(free) / u128::from(needed)) as u64;
    Err(Error::MachineTooSmall { engine, grains, needed, free, fitting })
}

/// Free memory of this machine, or of the container that runs this \[bytes\]; `u64::MAX` if it is unknown.
fn free() -> u64 {
    let Ok(mut system) = System::new() else { return u64::MAX };
    system.refresh_memory();
    // The file cache makes room when memory is needed, so only the memory of processes counts against a container.
    let container = system.cgroup_limits().map(|limits| limits.total_memory.saturating_sub(limits.rss));
    container.unwrap_or(u64::MAX).min(system.available_memory())
}

/// Prints the memory that both engines need.
pub(super) fn print_plan(scenario: &Scenario) {
    let (gpu, cpu) = (of_gpu(scenario), of_cpu(scenario));
    let per_grain = |bytes: u64| bytes / scenario.planned_grains().max(1) as u64;
    let (buffer, bytes) = gpu.largest();
    say!(
        "  GPU memory    {} ({} bytes per grain); {}",
        in_words(gpu.bytes()),
        per_grain(gpu.bytes()),
        binding_in_words(buffer, bytes)
    );
    say!("  CPU memory    {} ({} bytes per grain), outputs included", in_words(cpu), per_grain(cpu));
    if scenario.planned_grains() < scenario.max_grains() {
        let grains = scenario.planned_grains();
        say!(
            "                for {grains} grains at a time: sinks take grains out, and room grows where there are more"
        );
    }
}

/// Text on the largest buffer and the devices that can bind it.
fn binding_in_words(buffer: &str, bytes: u64) -> String {
    let who = if bytes <= SMALL_BINDING {
        "any device binds it"
    } else if bytes <= LARGE_BINDING {
        "graphics cards bind it; software adapters may bind no more than 134.22 MB"
    } else {
        "devices that bind no more than 2.15 GB refuse it"
    };
    format!("largest buffer {buffer} {}: {who}", in_words(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_the_numbers() {
        assert!(fits("the CPU engine", 10_000, 10_000, 10).is_ok());
        let error = fits("the CPU engine", 40_000_000_000, 10_000_000_000, 20_000_000);
        let message = error.map_or_else(|error| error.to_string(), |()| String::new());
        let numbers = ["20000000 grains need 40.00 GB", "10.00 GB are free", "about 5000000;"];
        assert!(numbers.iter().all(|number| message.contains(number)), "{message}");
    }

    #[test]
    fn this_machine_has_some_memory_free_and_not_without_end() {
        assert!((1 << 20..1 << 50).contains(&free()), "{} bytes", free());
    }

    #[test]
    fn the_binding_that_a_buffer_needs_is_named() {
        let who = |bytes| binding_in_words("impulses", bytes);
        assert!(who(SMALL_BINDING).ends_with("any device binds it"));
        assert!(who(SMALL_BINDING + 1).contains("graphics cards bind it"));
        assert!(who(LARGE_BINDING).contains("graphics cards bind it"));
        assert!(who(LARGE_BINDING + 1).contains("refuse it"));
    }
}
