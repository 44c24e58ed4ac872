//! Timer: wall times of the stages of a step.

use crate::engine::add_stage_time;
use crate::engine::clock::Instant;

/// Wall time of each stage \[s\].
#[derive(Default)]
pub(super) struct Stages(pub(super) Vec<(&'static str, f64)>);

impl Stages {
    /// Does the work of a stage, and adds its time.
    pub(super) fn time<T>(&mut self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(stage, start.elapsed().as_secs_f64());
        result
    }

    /// Adds to the time of a stage \[s\].
    pub(super) fn add(&mut self, stage: &'static str, seconds: f64) {
        add_stage_time(&mut self.0, stage, seconds);
    }
}
