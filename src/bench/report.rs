//! Report of a bench: the JSON that `esker bench --out` writes.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use crate::engine::{Identity, Residuals, Spread};
use crate::error::Error;
use crate::output::atomic;
use crate::settings::Settings;

use super::{BenchTarget, Model, Plan};

/// Blocks per engine.
pub(super) const BLOCKS: usize = 5;

/// Report of a whole bench.
#[derive(Debug, Clone, Serialize)]
pub struct BenchReport {
    /// Version of this program.
    pub esker: &'static str,
    /// Commit that the program was built from, with `-dirty` when something was changed since; "unknown" without a repository,
    /// and in debug builds.
    pub commit: &'static str,
    /// "release" or "debug".
    pub build: &'static str,
    /// Version of wgpu.
    pub wgpu: &'static str,
    /// Threads of the CPU engine.
    pub threads: usize,
    /// Steps before the first block, which are not timed.
    pub warm_up_steps: u64,
    /// Blocks per engine; the engines take turns.
    pub blocks: usize,
    /// Steps per block.
    pub steps_per_block: u64,
    /// Devices that were measured.
    pub devices: Vec<DeviceReport>,
    /// Model of a graphics card.
    pub model: Model,
    /// Cases, one per scenario and number of grains.
    pub cases: Vec<Case>,
}

/// Engine, and the device it runs on.
#[derive(Debug, Clone, Serialize)]
pub struct DeviceReport {
    /// Name on the command line.
    pub target: BenchTarget,
    /// Adapter, driver, backend.
    #[serde(flatten)]
    pub identity: Identity,
    /// Rate of a copy of some hundred MB, bytes read plus bytes written \[bytes/s\].
    pub copy_bytes_per_second: f64,
}

/// Scenario at one number of grains.
#[derive(Debug, Clone, Serialize)]
pub struct Case {
    /// Title of the scenario.
    pub scenario: String,
    /// Number of grains.
    pub grains: usize,
    /// Settings of the solver.
    pub settings: Settings,
    /// Origin of the state.
    pub start: BenchStart,
    /// Root mean square speed of the grains in that state \[m/s\].
    pub rms_speed: f64,
    /// Runs, one per engine that took all steps.
    pub runs: Vec<EngineRun>,
    /// Engines that failed.
    pub failures: Vec<BenchFailure>,
    /// Time of a step on the CPU engine over the time on the first other engine.
    pub cpu_over_gpu: Option<f64>,
}

/// Origin of a state, and the time to get it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BenchStart {
    /// Origin.
    pub origin: Origin,
    /// Wall time to get the state \[s\].
    pub seconds: f64,
}

/// Origin of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The initial state of a scenario file.
    Scenario,
    /// A bed settled for this bench.
    Built,
    /// A bed settled for an earlier bench.
    Cache,
}

/// Failure of an engine that could not take the steps.
#[derive(Debug, Clone, Serialize)]
pub struct BenchFailure {
    /// Target that failed.
    pub target: BenchTarget,
    /// Reason of the failure.
    pub message: String,
}

/// Results of one engine.
#[derive(Debug, Clone, Serialize)]
pub struct EngineRun {
    /// Target that was measured.
    pub target: BenchTarget,
    /// Wall time of a step \[ms\].
    pub step_ms: Sample,
    /// Time of a step by stage, in the order of the step. On a GPU it comes from steps that are timed stage by stage; it is empty
    /// if the device has no timestamps.
    pub stages: Vec<StageReport>,
    /// Time of all sweeps of a step \[ms\].
    pub sweep_ms: Option<f64>,
    /// Time of a step over the time of its sweeps.
    pub step_over_sweeps: Option<f64>,
    /// Energy of all processors of the machine per simulated second \[J\], median over the blocks, if the system tells it. That of a
    /// graphics card is not in it.
    pub joules_per_simulated_second: Option<f64>,
    /// Contacts in the last step.
    pub contacts: u64,
    /// Contacts in the last step that carry an impulse.
    pub loaded_contacts: u64,
    /// Colours in the last step.
    pub colours: u32,
    /// Overflow contacts in the last step: contacts without a colour.
    pub overflow: u64,
    /// Share of the steps that searched for contacts; the others kept the neighbour list of the step before.
    pub searches_per_step: f64,
    /// Sweeps in the last substep.
    pub sweeps: u32,
    /// Dispatches in a step; 0 on the CPU engine.
    pub dispatches_per_step: u32,
    /// Dispatches in a sweep.
    pub dispatches_per_sweep: u32,
    /// Time of a sweep per contact \[ns\].
    pub ns_per_contact_sweep: Option<f64>,
    /// Bytes that a sweep must move, per contact.
    pub bytes_per_contact_sweep: f64,
    /// Bytes that the sweeps must move over the time of the sweep stage \[bytes/s\].
    pub sweep_bytes_per_second: Option<f64>,
    /// Memory of the engine per grain \[bytes\].
    pub memory_per_grain: f64,
    /// Residuals in the last step \[E8\].
    pub residuals: Residuals,
    /// Overlap over the mean radius after the last step \[-\].
    pub overlap: Spread,
    /// Stage with the largest gap between its time and the time of a copy of its bytes.
    pub largest_gap: Option<&'static str>,
    /// Time of a step by the model \[ms\], for a GPU engine.
    pub model_ms: Option<f64>,
}

/// Stage in a step, all substeps together.
#[derive(Debug, Clone, Serialize)]
pub struct StageReport {
    /// Name of the stage.
    pub name: &'static str,
    /// Wall time \[ms\], median over the blocks.
    pub ms: f64,
    /// Number of dispatches.
    pub dispatches: u32,
    /// Least number of bytes that the stage must move, if it is counted.
    pub bytes: Option<u64>,
    /// Bytes of the stage over its time \[bytes/s\].
    pub bytes_per_second: Option<f64>,
    /// This rate over the rate of a copy. It may pass 1 when the scene fits the caches.
    pub share_of_copy_rate: Option<f64>,
    /// Time of the stage by the model \[ms\], for a GPU engine.
    pub model_ms: Option<f64>,
}

/// Sample of a quantity that is measured once per block.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sample {
    /// Median over the blocks.
    pub median: f64,
    /// Least value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// All values, in the order of the blocks.
    pub blocks: Vec<f64>,
}

impl Sample {
    /// Sample of at least one block.
    pub fn of(blocks: Vec<f64>) -> Sample {
        let mut sorted = blocks.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
        let last = sorted.len().saturating_sub(1);
        let median = 0.5 * (at(last / 2) + at(last.div_ceil(2)));
        Sample { median, min: at(0), max: at(last), blocks }
    }
}

impl BenchReport {
    /// Report before the first case is measured.
    pub(super) fn new(plan: &Plan, devices: Vec<DeviceReport>) -> BenchReport {
        BenchReport {
            esker: env!("CARGO_PKG_VERSION"),
            commit: env!("ESKER_COMMIT"),
            build: if cfg!(debug_assertions) { "debug" } else { "release" },
            wgpu: env!("ESKER_WGPU"),
            threads: rayon::current_num_threads(),
            warm_up_steps: plan.warm_up,
            blocks: BLOCKS,
            steps_per_block: plan.steps,
            devices,
            model: plan.model,
            cases: Vec::new(),
        }
    }

    /// Writes the report as JSON; the file appears whole or not at all.
    ///
    /// # Errors
    /// When the file cannot be written.
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
