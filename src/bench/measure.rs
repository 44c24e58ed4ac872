//! Measurement of one scenario: the engines take turns, block by block.

use std::time::Instant;

use crate::cpu::BYTES_PER_CONTACT_SWEEP;
use crate::engine::{Engine, Profiling, Snapshot, StepReport, add_stage_time};
use crate::error::Error;
use crate::gpu::step::{Phase, SWEEP, Stage, method_of};
use crate::gpu::traffic::{self, Sizes};
use crate::model::World;
use crate::observe::contacts::overlap;
use crate::observe::flow::rms_speed;
use crate::scenario::Scenario;
use crate::settings::Settings;

use super::energy::{EnergyMeter, measured};
use super::report::{BLOCKS, BenchFailure, BenchStart, Case, DeviceReport, EngineRun, Sample, StageReport};
use super::{BenchTarget, Model, Plan};

/// Largest number of steps per block for which a GPU is timed stage by stage.
const PROFILED_STEPS: u64 = 4;

/// Measures one scenario on every device.
pub(super) fn case(
    plan: &Plan,
    devices: &[DeviceReport],
    scenario: &Scenario,
    world: &World,
    start: BenchStart,
) -> Case {
    let meter = EnergyMeter::of_machine();
    let mut entries: Vec<MeasuredEngine<'_>> = devices
        .iter()
        .map(|device| MeasuredEngine::warmed_up(device, scenario, world, plan.warm_up))
        .collect();
    for _ in 0..BLOCKS {
        entries.iter_mut().for_each(|entry| entry.take_block(plan.steps, meter.as_ref()));
    }
    let at_rest =
        Snapshot::new(world.clone(), Vec::new(), scenario.settings.substep(), StepReport::default());
    let (mut runs, mut failures) = (Vec::new(), Vec::new());
    for entry in entries {
        let target = entry.device.target;
        match entry.conclude(&scenario.settings, &plan.model) {
            Ok(run) => runs.push(run),
            Err(error) => failures.push(BenchFailure { target, message: error.to_string() }),
        }
    }
    Case {
        scenario: scenario.title.clone(),
        grains: world.grain_count(),
        settings: scenario.settings,
        start,
        rms_speed: rms_speed(&at_rest),
        cpu_over_gpu: ratio(&runs),
        runs,
        failures,
    }
}

fn ratio(runs: &[EngineRun]) -> Option<f64> {
    let cpu = runs.iter().find(|run| run.target == BenchTarget::Cpu)?;
    let gpu = runs.iter().find(|run| run.target != BenchTarget::Cpu)?;
    Some(cpu.step_ms.median / gpu.step_ms.median)
}

/// Times of a step in one block \[ms\].
struct TimedBlock {
    step: f64,
    /// Energy of a step \[J\], if the system tells it.
    joules: Option<f64>,
    stages: Vec<(&'static str, f64)>,
}

/// Engine in the course of a bench, or the error that ended it.
struct MeasuredEngine<'a> {
    device: &'a DeviceReport,
    engine: Result<Box<dyn Engine>, Error>,
    blocks: Vec<TimedBlock>,
    report: StepReport,
    /// Steps of all blocks, and searches for contacts in them.
    steps: u64,
    searches: u64,
}

impl<'a> MeasuredEngine<'a> {
    fn warmed_up(
        device: &'a DeviceReport,
        scenario: &Scenario,
        world: &World,
        steps: u64,
    ) -> MeasuredEngine<'a> {
        let warm_up = |mut engine: Box<dyn Engine>| engine.advance(steps).map(|_| engine);
        let engine = device.target.engine(world, scenario).and_then(warm_up);
        MeasuredEngine {
            device,
            engine,
            blocks: Vec::new(),
            report: StepReport::default(),
            steps: 0,
            searches: 0,
        }
    }

    fn take_block(&mut self, steps: u64, meter: Option<&EnergyMeter>) {
        let Ok(engine) = &mut self.engine else { return };
        match block(engine.as_mut(), steps, meter) {
            Ok((block, report)) => {
                self.blocks.push(block);
                self.steps += steps;
                self.searches += report.searches;
                self.report = report;
            }
            Err(error) => self.engine = Err(error),
        }
    }

    fn conclude(self, settings: &Settings, model: &Model) -> Result<EngineRun, Error> {
        let mut engine = self.engine?;
        let snapshot = engine.snapshot()?;
        let report = &self.report;
        let sizes = Sizes::of(&snapshot);
        let searching = self.searches as f64 / self.steps.max(1) as f64;
        let scale = Scale { device: self.device, settings, model, sizes: &sizes, report, searching };
        let stages = scale.stages(&self.blocks);
        let step_ms = Sample::of(self.blocks.iter().map(|block| block.step).collect());
        let joules: Option<Vec<f64>> = self.blocks.iter().map(|block| block.joules).collect();
        let sweep_ms = stages.iter().find(|stage| stage.name == SWEEP).map(|stage| stage.ms);
        let contact_sweeps = report.contacts as f64 * f64::from(report.sweeps) * f64::from(settings.substeps);
        let bytes = scale.bytes_per_contact_sweep();
        Ok(EngineRun {
            target: self.device.target,
            sweep_ms,
            step_over_sweeps: sweep_ms.map(|sweep| step_ms.median / sweep),
            step_ms,
            joules_per_simulated_second: joules.map(|joules| Sample::of(joules).median / settings.time_step),
            contacts: report.contacts,
            loaded_contacts: sizes.loaded,
            colours: report.colours,
            overflow: report.overflow,
            searches_per_step: searching,
            sweeps: report.sweeps,
            dispatches_per_step: report.dispatches.per_step,
            dispatches_per_sweep: report.dispatches.per_sweep,
            ns_per_contact_sweep: sweep_ms.map(|sweep| sweep * 1e6 / contact_sweeps),
            bytes_per_contact_sweep: bytes,
            sweep_bytes_per_second: sweep_ms.map(|sweep| bytes * contact_sweeps / (sweep * 1e-3)),
            memory_per_grain: engine.memory() as f64 / sizes.grains as f64,
            residuals: report.residuals,
            overlap: overlap(&snapshot),
            largest_gap: scale.largest_gap(&stages),
            model_ms: scale.model_ms(),
            stages,
        })
    }
}

/// Times a number of steps at full speed. If these have no stage times, a few more steps are timed stage by stage.
fn block(
    engine: &mut dyn Engine,
    steps: u64,
    meter: Option<&EnergyMeter>,
) -> Result<(TimedBlock, StepReport), Error> {
    let (timed, joules) = measured(meter, || {
        let start = Instant::now();
        engine.advance(steps).map(|report| (report, start.elapsed()))
    });
    let (report, elapsed) = timed?;
    let step = elapsed.as_secs_f64() * 1e3 / steps as f64;
    let joules = joules.map(|joules| joules / steps as f64);
    let (mut stages, mut timed) = (report.stages.clone(), steps);
    if stages.is_empty() {
        timed = steps.min(PROFILED_STEPS);
        stages = profiled(engine, timed)?;
    }
    stages.iter_mut().for_each(|(_, time)| *time *= 1e3 / timed as f64);
    Ok((TimedBlock { step, joules, stages }, report))
}

/// Time of each stage over some steps \[s\]. The steps are submitted one by one so that each is timed.
fn profiled(engine: &mut dyn Engine, steps: u64) -> Result<Vec<(&'static str, f64)>, Error> {
    engine.profile(Profiling::On);
    let mut stages = Vec::new();
    for _ in 0..steps {
        for (stage, seconds) in engine.advance(1)?.stages {
            add_stage_time(&mut stages, stage, seconds);
        }
    }
    engine.profile(Profiling::Off);
    Ok(stages)
}

/// References for the times of a run: bytes to move, rate of a copy, model.
struct Scale<'a> {
    device: &'a DeviceReport,
    settings: &'a Settings,
    model: &'a Model,
    sizes: &'a Sizes,
    report: &'a StepReport,
    /// Share of the steps that search for contacts \[-\].
    searching: f64,
}

impl Scale<'_> {
    fn is_cpu(&self) -> bool {
        self.device.target == BenchTarget::Cpu
    }

    fn bytes_per_contact_sweep(&self) -> f64 {
        match self.is_cpu() {
            true => BYTES_PER_CONTACT_SWEEP as f64,
            false => traffic::per_contact_sweep(self.sizes, self.settings),
        }
    }

    fn stages(&self, blocks: &[TimedBlock]) -> Vec<StageReport> {
        let mut names: Vec<&'static str> = Vec::new();
        for (name, _) in blocks.iter().flat_map(|block| &block.stages) {
            if !names.contains(name) {
                names.push(name);
            }
        }
        names.into_iter().map(|name| self.stage(name, blocks)).collect()
    }

    fn stage(&self, name: &'static str, blocks: &[TimedBlock]) -> StageReport {
        // A stage that did not run in a block took no time in it.
        let time = |block: &TimedBlock| {
            let of_stage = block.stages.iter().filter(|(stage, _)| *stage == name);
            of_stage.map(|(_, time)| *time).sum()
        };
        let ms = Sample::of(blocks.iter().map(time).collect()).median;
        let bytes = self.bytes(name);
        // A stage that did not run has no rate.
        let rate = bytes.filter(|_| ms > 0.0).map(|bytes| bytes as f64 / (ms * 1e-3));
        let all = &self.report.dispatches.stages;
        let dispatches = all.iter().find(|(stage, _)| *stage == name).map_or(0, |&(_, count)| count);
        let model_ms =
            bytes.filter(|_| !self.is_cpu()).map(|bytes| self.model.milliseconds(dispatches, bytes));
        StageReport {
            name,
            ms,
            dispatches,
            bytes,
            bytes_per_second: rate,
            share_of_copy_rate: rate.map(|rate| rate / self.device.copy_bytes_per_second),
            model_ms,
        }
    }

    /// Bytes that a stage must move; `None` if they are not counted. On the CPU engine only the sweep is counted.
    fn bytes(&self, name: &str) -> Option<u64> {
        if self.is_cpu() {
            let sweeps = u64::from(self.report.sweeps * self.settings.substeps);
            return (name == SWEEP).then(|| BYTES_PER_CONTACT_SWEEP * self.sizes.contacts * sweeps);
        }
        let of_stage = |stage: &Stage| {
            let bytes = traffic::of_stage(stage, self.sizes, self.settings);
            if stage.phase == Phase::Search { (self.searching * bytes as f64) as u64 } else { bytes }
        };
        Some(method_of(self.settings).stages().filter(|stage| stage.name == name).map(of_stage).sum())
    }

    /// Time of a step on a GPU by the model \[ms\], also where the device has no timestamps; `None` for the CPU engine.
    fn model_ms(&self) -> Option<f64> {
        let dispatches = &self.report.dispatches;
        let bytes = dispatches.stages.iter().filter_map(|(name, _)| self.bytes(name)).sum();
        (!self.is_cpu()).then(|| self.model.milliseconds(dispatches.per_step, bytes))
    }

    /// Stage with the largest gap between its time and the time of a copy of its bytes; `None` for the CPU engine.
    fn largest_gap(&self, stages: &[StageReport]) -> Option<&'static str> {
        let gap = |stage: &StageReport| {
            let least = stage.bytes? as f64 / self.device.copy_bytes_per_second * 1e3;
            Some((stage.name, stage.ms - least))
        };
        let gaps = stages.iter().filter(|_| !self.is_cpu()).filter_map(gap);
        gaps.max_by(|x, y| x.1.total_cmp(&y.1)).map(|(name, _)| name)
    }
}
