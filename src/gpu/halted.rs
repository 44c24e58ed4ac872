//! Steps that halt and go on: friction and rolling made energy, or the impacts need more sweeps than a submission holds.

use crate::engine::most_impact_sweeps;
use crate::error::Error;
use crate::model::World;
use crate::settings::Settings;

use super::layout::{self, Status};
use super::step::{NONSMOOTH, Pace, Stage};
use super::{GpuEngine, STEPS_PER_SUBMISSION, kept};

/// Number of steps, none of which needed more than half of the sweeps over the impacts, after which submissions hold half as many.
const EASY_AFTER: u64 = 64;

/// Sweeps over the impacts of a substep that a submission holds. No result depends on them: what does not settle within them goes on in
/// another submission.
pub(super) struct ImpactSweeps {
    held: u32,
    /// Number of steps since the last one that needed more than half of them.
    easy_steps: u64,
}

impl ImpactSweeps {
    pub(super) fn of(settings: &Settings) -> ImpactSweeps {
        ImpactSweeps { held: settings.impact_iterations, easy_steps: 0 }
    }

    /// Number of sweeps beyond those that the settings ask for.
    pub(super) fn beyond(&self, settings: &Settings) -> u32 {
        self.held - settings.impact_iterations
    }

    /// Adapts the number to what a submission with this status has needed: twice as many if they did not suffice, half as many if half of
    /// them have sufficed for a while.
    pub(super) fn adapt(&mut self, status: &Status, settings: &Settings, world: &World) {
        let least = settings.impact_iterations;
        if status.halted & layout::HALT_IMPACTS != 0 {
            let most = most_impact_sweeps(settings, world).max(least);
            *self = ImpactSweeps { held: self.held.saturating_mul(2).min(most), easy_steps: 0 };
            return;
        }
        let is_easy = status.most_sweeps <= self.held / 2;
        self.easy_steps = if is_easy { self.easy_steps + u64::from(status.step) } else { 0 };
        if self.easy_steps >= EASY_AFTER {
            *self = ImpactSweeps { held: (self.held / 2).max(least), easy_steps: 0 };
        }
    }
}

impl GpuEngine {
    /// Settings with the number of sweeps over the impacts that a submission holds.
    pub(super) fn with_recorded_impacts(&self) -> Settings {
        Settings { impact_iterations: self.impact_sweeps.held, ..self.settings }
    }

    /// Finishes a step that halted in a substep, the first of the `left` substeps of the step. Where friction and rolling made energy, the
    /// substep is solved again, as the CPU engine does \[E12\]; where the impacts need more sweeps, they go on \[E6\]. Returns the number
    /// of steps finished, one or none.
    pub(super) async fn finish_halted(&mut self, mut halted: Status, mut left: u32) -> Result<u64, Error> {
        let (mut steps, mut tries) = (0, 0);
        while halted.halted & (layout::HALT_GAIN | layout::HALT_IMPACTS) != 0 {
            let is_again = halted.halted & layout::HALT_GAIN != 0;
            if is_again {
                self.steps_at_once = 1;
                self.submit_again(&halted, left, tries);
            } else {
                self.submit_from_impacts(&halted, left);
            }
            let results = self.slot.read_results(self.wanted(1, 0)).await?;
            self.check_progress(&results.status, u64::from(left))?;
            let status = self.take_works(&results);
            let is_first = is_again && tries == 0;
            self.report.work.solved_again += u64::from(is_first);
            self.count_sweeps(u64::from(is_first));
            self.take_status(&status).await?;
            tries = if is_again && status.substep == 0 { tries + 1 } else { 0 };
            steps += u64::from(status.step);
            left -= status.substep;
            halted = status;
        }
        self.steps_at_once = (2 * self.steps_at_once).min(STEPS_PER_SUBMISSION);
        Ok(steps)
    }

    /// Submits the last `left` substeps of a halted step. The first of them is solved again, as it was `tries` times before.
    fn submit_again(&mut self, halted: &Status, left: u32, tries: u32) {
        self.open_halted(halted, 1 + tries);
        self.slot.submit_alone(self.features, |kernels, pass, buffers| {
            let (settings, careful) = (self.with_recorded_impacts(), self.settings.careful());
            NONSMOOTH.for_each_stage_again(|stage| kernels.encode(pass, stage, &careful, buffers));
            self.method.for_each_stage_to_the_end(left - 1, Pace::Full, |stage| {
                kernels.encode(pass, stage, &settings, buffers);
            });
        });
    }

    /// Submits the last `left` substeps of a halted step, the first of them from the sweeps over its impacts on.
    fn submit_from_impacts(&mut self, halted: &Status, left: u32) {
        self.open_halted(halted, 0);
        self.slot.submit_alone(self.features, |kernels, pass, buffers| {
            let settings = self.with_recorded_impacts();
            let mut encode = |stage: &'static Stage| kernels.encode(pass, stage, &settings, buffers);
            self.method.for_each_stage_from_impacts(&mut encode);
            self.method.for_each_stage_to_the_end(left - 1, Pace::Full, encode);
        });
    }

    /// Prepares a submission that goes on with a halted substep, in this attempt at it.
    fn open_halted(&mut self, halted: &Status, careful: u32) {
        self.upload_schedule(1);
        self.write_status(&Status {
            search: halted.search,
            impacts: halted.impacts,
            impact_sweeps: halted.impact_sweeps,
            impact_residual: halted.impact_residual,
            fastest: halted.fastest,
            rounds: halted.rounds,
            noise: halted.noise,
            impact_end: halted.impact_end,
            block_residual: halted.block_residual,
            careful,
            ..kept(halted)
        });
    }
}
