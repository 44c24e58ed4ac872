//! Bench: measures the engines on the same scenario, from the same state, in one run.
//!
//! ```text
//! bed or scenario ─► each engine: warm up ─► block · block · block ... ─► medians ─► table, JSON
//!                                           └ a block: each engine in turn, so that noise meets all
//! ```
//!
//! In a block an engine takes a number of steps as fast as it can; a GPU then takes a few more, timed stage by stage. The
//! time of a stage is compared with the bytes that it must move ([`traffic`](crate::gpu::traffic)) at the rate of a copy
//! on the device ([`copy`]), and with a model of a graphics card.

pub mod bed;
mod cache;
pub mod copy;
pub mod energy;
pub mod markdown;
mod measure;
pub mod report;

use std::path::{Path, PathBuf};

use crate::cpu::CpuEngine;
use crate::engine::Engine;
use crate::error::Error;
use crate::gpu::GpuEngine;
use crate::gpu::device::{Device, DeviceChoice};
use crate::model::World;
use crate::scenario::{Problem, Problems, Scenario};
use crate::settings::Settings;

use bed::Bed;
use report::{BenchReport, BenchStart, Case, DeviceReport, Origin};

/// Engine or adapter that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BenchTarget {
    /// The CPU engine.
    Cpu,
    /// A graphics card.
    Gpu,
    /// A software adapter.
    Software,
}

impl BenchTarget {
    /// Name of the target on the command line.
    pub fn word(self) -> &'static str {
        match self {
            BenchTarget::Cpu => "cpu",
            BenchTarget::Gpu => "gpu",
            BenchTarget::Software => "software",
        }
    }

    fn device(self) -> Result<Option<Device>, Error> {
        match self {
            BenchTarget::Cpu => Ok(None),
            BenchTarget::Gpu => Device::open(DeviceChoice::Hardware).map(Some),
            BenchTarget::Software => Device::open(DeviceChoice::Software).map(Some),
        }
    }

    /// Makes an engine on this target, at the state of `world`.
    ///
    /// # Errors
    /// When the device does not exist, or the scene does not fit it.
    pub fn engine(self, world: &World, scenario: &Scenario) -> Result<Box<dyn Engine>, Error> {
        Ok(match self.device()? {
            None => Box::new(CpuEngine::new(world.clone(), scenario.settings)),
            Some(device) => Box::new(GpuEngine::new(device, world.clone(), scenario.settings)?),
        })
    }

    fn report(self) -> Result<DeviceReport, Error> {
        let (identity, bytes_per_second) = match self.device()? {
            Some(device) => (device.identity(), crate::gpu::copy::rate(&device)?),
            None => {
                let engine = CpuEngine::new(World::default(), Settings::default());
                (engine.identity(), copy::rate())
            }
        };
        Ok(DeviceReport { target: self, identity, copy_bytes_per_second: bytes_per_second })
    }
}

/// Default targets: the CPU engine, and a graphics card or else a software adapter.
pub fn default_targets() -> Vec<BenchTarget> {
    let there = |target: &BenchTarget| matches!(target.device(), Ok(Some(_)));
    let adapter = [BenchTarget::Gpu, BenchTarget::Software].into_iter().find(there);
    [BenchTarget::Cpu].into_iter().chain(adapter).collect()
}

/// Scene that is measured.
pub enum Subject {
    /// A settled bed.
    Bed(Box<Bed>),
    /// A scenario from its initial state; its emitters do not run.
    Scenario(Box<Scenario>),
}

impl Subject {
    fn scenario(&self) -> &Scenario {
        match self {
            Subject::Bed(bed) => &bed.scenario,
            Subject::Scenario(scenario) => scenario,
        }
    }

    fn scenario_mut(&mut self) -> &mut Scenario {
        match self {
            Subject::Bed(bed) => &mut bed.scenario,
            Subject::Scenario(scenario) => scenario,
        }
    }

    /// Sets the number of sweeps per substep for the measurement. The bed is settled as its scenario says.
    ///
    /// # Errors
    /// When the settings do not allow this number of sweeps.
    pub fn set_iterations(&mut self, iterations: u32) -> Result<(), Problems> {
        let settings = &mut self.scenario_mut().settings;
        settings.iterations = iterations;
        let refuse = |errors: Vec<Error>| {
            let list = errors.iter().map(|error| Problem::of("--iterations", error.to_string())).collect();
            Problems::new("--iterations", list)
        };
        settings.validate().map_err(refuse)
    }
}

/// Settled beds, one for each number of grains.
///
/// # Errors
/// When an override does not fit the scenario of the bed.
pub fn beds(grains: &[u32], overrides: &[String]) -> Result<Vec<Subject>, Problems> {
    let bed = |&grains: &u32| Ok(Subject::Bed(Box::new(Bed::new(grains, overrides)?)));
    grains.iter().map(bed).collect()
}

/// A scenario file as it is, or once for each number of grains if it has one packing with a `count`.
///
/// # Errors
/// When the scenario is wrong, has no grains at the start, or its number of grains cannot be set.
pub fn scenarios(file: &Path, grains: &[u32], overrides: &[String]) -> Result<Vec<Subject>, Problems> {
    let first = load(file, overrides.to_vec())?;
    if grains.is_empty() {
        return Ok(vec![first]);
    }
    if !has_one_count(&first.scenario().resolved) {
        let message = "its number of grains cannot be set";
        let help = "--grains needs a scenario with one [[grains]] whose packing has a `count`; leave it out, or use --set";
        return Err(problem(file, message, help));
    }
    let of = |&grains: &u32| {
        let count = format!("grains.0.packing.count={grains}");
        load(file, overrides.iter().cloned().chain([count]).collect())
    };
    grains.iter().map(of).collect()
}

fn load(file: &Path, overrides: Vec<String>) -> Result<Subject, Problems> {
    let scenario = Scenario::load(file, &overrides)?;
    if scenario.world.grain_count() == 0 {
        let help =
            "emitters do not run in a bench: give the scenario [[grains]], such as a packing from a CSV file";
        return Err(problem(file, "it has no grains at the start", help));
    }
    Ok(Subject::Scenario(Box::new(scenario)))
}

fn problem(file: &Path, message: &str, help: &str) -> Problems {
    let shown = file.display().to_string();
    Problems::new(&shown, vec![Problem::of(shown.clone(), message).help(help)])
}

/// Whether a resolved scenario has one block of grains, whose packing has a count.
fn has_one_count(resolved: &str) -> bool {
    let table: toml::Table = resolved.parse().unwrap_or_default();
    let blocks = table.get("grains").and_then(toml::Value::as_array);
    let count = |block: &toml::Value| block.get("packing")?.get("count")?.as_integer();
    matches!(blocks.map(Vec::as_slice), Some([block]) if count(block).is_some())
}

/// Plan of a bench.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Targets, which take turns.
    pub targets: Vec<BenchTarget>,
    /// Steps in a block.
    pub steps: u64,
    /// Steps before the first block. An engine begins without impulses to warm start from, and this shock has to die down.
    pub warm_up: u64,
    /// Folder for settled beds; `None`: beds are built anew.
    pub cache: Option<PathBuf>,
    /// Model of the graphics card that stages are compared with.
    pub model: Model,
}

/// Model of a graphics card in two numbers. The time of a stage is the time of its dispatches, one after the other, plus the
/// time to move its bytes. The model leaves out the arithmetic of the kernels, scattered reads and idle cores: it is a goal,
/// not a measurement.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Model {
    /// Time from one dispatch to the next, which waits for the first \[µs\].
    pub dispatch_microseconds: f64,
    /// Rate of memory, reads and writes together \[GB/s\].
    pub gigabytes_per_second: f64,
}

impl Default for Model {
    /// A large card of 2024: 2.5 µs per dispatch with its barrier, 4 TB/s.
    fn default() -> Model {
        Model { dispatch_microseconds: 2.5, gigabytes_per_second: 4000.0 }
    }
}

impl Model {
    /// Time of some dispatches that move a number of bytes \[ms\].
    pub fn milliseconds(&self, dispatches: u32, bytes: u64) -> f64 {
        1e-3 * self.dispatch_microseconds * f64::from(dispatches)
            + 1e-6 * bytes as f64 / self.gigabytes_per_second
    }
}

/// Events of a bench, for the user.
#[derive(Debug)]
pub enum BenchEvent<'a> {
    /// A slow part begins, or something unexpected happened.
    Note(String),
    /// The devices and settings are known.
    Opened(&'a BenchReport),
    /// A case was measured.
    Measured(&'a BenchReport, &'a Case),
}

/// Measures every subject on every target. A scene that does not fit a device, or fails on it, becomes a failure of its case.
///
/// # Errors
/// When a device cannot be opened or the CPU engine cannot settle a bed.
pub fn run(
    plan: &Plan,
    subjects: &[Subject],
    tell: &mut dyn FnMut(BenchEvent<'_>),
) -> Result<BenchReport, Error> {
    let devices = plan.targets.iter().map(|target| target.report()).collect::<Result<Vec<_>, _>>()?;
    let mut report = BenchReport::new(plan, devices);
    tell(BenchEvent::Opened(&report));
    for subject in subjects {
        let (world, start) = begin(subject, plan, tell)?;
        tell(BenchEvent::Note(format!("measuring {} grains", world.grain_count())));
        let case = measure::case(plan, &report.devices, subject.scenario(), &world, start);
        tell(BenchEvent::Measured(&report, &case));
        report.cases.push(case);
    }
    Ok(report)
}

/// State from which a subject is measured, and its origin.
fn begin(
    subject: &Subject,
    plan: &Plan,
    tell: &mut dyn FnMut(BenchEvent<'_>),
) -> Result<(World, BenchStart), Error> {
    match subject {
        Subject::Bed(bed) => bed.settled(plan.cache.as_deref(), &mut |note| tell(BenchEvent::Note(note))),
        Subject::Scenario(scenario) => {
            Ok((scenario.world.clone(), BenchStart { origin: Origin::Scenario, seconds: 0.0 }))
        }
    }
}
