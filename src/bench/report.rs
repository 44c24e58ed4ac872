//! What was measured: the JSON that `esker bench --out` writes.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use crate::engine::{Identity, Residuals, Spread};
use crate::error::Error;
use crate::output::atomic;
use crate::settings::Settings;

use super::{Model, Plan, Target};

/// A whole bench.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Version of this program.
    pub esker: &'static str,
    /// The commit it was built from, with `-dirty` when something was changed since; "unknown" without a repository, and in
    /// debug builds.
    pub commit: &'static str,
    /// "release" or "debug".
    pub build: &'static str,
    /// Version of wgpu.
    pub wgpu: &'static str,
    /// Threads of the CPU engine.
    pub threads: usize,
    /// Steps that do not count, before the first block.
    pub warm_up_steps: u64,
    /// Blocks per engine; engines take turns.
    pub blocks: usize,
    /// Steps per block.
    pub steps_per_block: u64,
    /// What it was measured on.
    pub devices: Vec<DeviceReport>,
    /// The card that the model stands for.
    pub model: Model,
    /// One per scenario and number of grains.
    pub cases: Vec<Case>,
}

/// An engine and what it runs on.
#[derive(Debug, Clone, Serialize)]
pub struct DeviceReport {
    /// As on the command line.
    pub target: Target,
    /// Adapter, driver, backend.
    #[serde(flatten)]
    pub identity: Identity,
    /// Bytes read and written per second in a copy of some hundred MB.
    pub copy_bytes_per_second: f64,
}

/// A scenario at one number of grains.
#[derive(Debug, Clone, Serialize)]
pub struct Case {
    /// Its title.
    pub scenario: String,
    /// Grains.
    pub grains: usize,
    /// Settings of the solver.
    pub settings: Settings,
    /// Where the state came from.
    pub start: Start,
    /// Root mean square speed of the grains in that state \[m/s\].
    pub rms_speed: f64,
    /// One per engine that took all steps.
    pub runs: Vec<Run>,
    /// Engines that did not.
    pub failures: Vec<Failure>,
    /// Time of a step on the CPU engine over that on the first other engine.
    pub cpu_over_gpu: Option<f64>,
}

/// Where a state came from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Start {
    /// From where.
    pub origin: Origin,
    /// Time to get it \[s\].
    pub seconds: f64,
}

/// Where a state came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The initial state of a scenario file.
    Scenario,
    /// A bed settled for this bench.
    Built,
    /// A bed settled for an earlier one.
    Cache,
}

/// An engine that could not take the steps.
#[derive(Debug, Clone, Serialize)]
pub struct Failure {
    /// On what.
    pub target: Target,
    /// Why.
    pub message: String,
}

/// What one engine came to.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// On what.
    pub target: Target,
    /// Wall time of a step \[ms\].
    pub step_ms: Sample,
    /// Time of a step by stage, in the order of the step; on a GPU of steps that are timed stage by stage. Empty where the
    /// device has no timestamps.
    pub stages: Vec<StageReport>,
    /// Time that all sweeps of a step take \[ms\].
    pub sweep_ms: Option<f64>,
    /// Time of a step over that of its sweeps.
    pub step_over_sweeps: Option<f64>,
    /// Contacts in the last step.
    pub contacts: u64,
    /// Those of them that carry an impulse.
    pub loaded_contacts: u64,
    /// Colours in the last step.
    pub colours: u32,
    /// Contacts without a colour in the last step.
    pub overflow: u64,
    /// Share of the steps that searched for contacts; the others went on with those of the step before.
    pub searches_per_step: f64,
    /// Sweeps in the last substep.
    pub sweeps: u32,
    /// Dispatches in a step; 0 on the CPU engine.
    pub dispatches_per_step: u32,
    /// Dispatches in a sweep.
    pub dispatches_per_sweep: u32,
    /// Time of a sweep per contact \[ns\].
    pub ns_per_contact_sweep: Option<f64>,
    /// Bytes that a sweep must move per contact.
    pub bytes_per_contact_sweep: f64,
    /// Those bytes over the time of the sweep stage.
    pub sweep_bytes_per_second: Option<f64>,
    /// Memory of the engine per grain \[bytes\].
    pub memory_per_grain: f64,
    /// Residuals in the last step \[E8\].
    pub residuals: Residuals,
    /// Overlap over the mean radius after the last step \[-\].
    pub overlap: Spread,
    /// The stage that takes longest beyond what moving its bytes at the rate of a copy would.
    pub largest_gap: Option<&'static str>,
    /// Time of a step by the model \[ms\]; of a GPU engine.
    pub model_ms: Option<f64>,
}

/// A stage in a step, all substeps together.
#[derive(Debug, Clone, Serialize)]
pub struct StageReport {
    /// Its name.
    pub name: &'static str,
    /// Wall time \[ms\], median over the blocks.
    pub ms: f64,
    /// Dispatches.
    pub dispatches: u32,
    /// What it must move at least; where that is counted.
    pub bytes: Option<u64>,
    /// Those bytes over the time.
    pub bytes_per_second: Option<f64>,
    /// That over the rate of a copy. A scene that fits the caches may pass 1.
    pub share_of_copy_rate: Option<f64>,
    /// Time by the model \[ms\]; of a GPU engine.
    pub model_ms: Option<f64>,
}

/// A quantity measured once per block.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sample {
    /// The middle one.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// All, in the order of the blocks.
    pub blocks: Vec<f64>,
}

impl Sample {
    /// Of at least one block.
    pub fn of(blocks: Vec<f64>) -> Sample {
        let mut sorted = blocks.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
        let last = sorted.len().saturating_sub(1);
        let median = 0.5 * (at(last / 2) + at(last.div_ceil(2)));
        Sample { median, min: at(0), max: at(last), blocks }
    }
}

impl Report {
    /// A bench that has measured nothing yet.
    pub(super) fn new(plan: &Plan, devices: Vec<DeviceReport>) -> Report {
        Report {
            esker: env!("CARGO_PKG_VERSION"),
            commit: env!("ESKER_COMMIT"),
            build: if cfg!(debug_assertions) { "debug" } else { "release" },
            wgpu: env!("ESKER_WGPU"),
            threads: rayon::current_num_threads(),
            warm_up_steps: plan.warm_up,
            blocks: super::measure::BLOCKS,
            steps_per_block: plan.steps,
            devices,
            model: plan.model,
            cases: Vec::new(),
        }
    }

    /// Writes it as JSON; the file appears whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        atomic::write(path, |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            out.write_all(b"\n")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_stands_between_the_middle_two_and_forgives_an_outlier() {
        assert_eq!(Sample::of(vec![3.0, 1.0, 100.0]).median, 3.0);
        let four = Sample::of(vec![4.0, 1.0, 2.0, 100.0]);
        assert_eq!((four.median, four.min, four.max), (3.0, 1.0, 100.0));
        assert_eq!(four.blocks, [4.0, 1.0, 2.0, 100.0], "the order of the blocks is kept");
    }
}
