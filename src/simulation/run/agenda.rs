//! Agenda of a run: the steps at which outputs, pictures, checkpoints and questions about convergence are due.

use serde::{Deserialize, Serialize};

use crate::scenario::{Change, Scenario};
use crate::simulation::steps_until;

/// Steps at which the events of a run are due.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Agenda {
    pub(super) next_output: u64,
    /// Coming steps whose convergence the scenario asks about, ascending.
    pub(super) questions: Vec<u64>,
    /// Step of the next picture, and of the last one.
    pub(super) next_picture: u64,
    pub(super) last_picture: Option<u64>,
    pub(super) next_checkpoint: u64,
}

impl Agenda {
    /// Reschedules the events whose interval changed, from `step` on.
    pub(super) fn plan_anew(&mut self, changes: &[Change], step: u64, scenario: &Scenario, last_step: u64) {
        let is_changed = |start: &str| changes.iter().any(|change| change.key.starts_with(start));
        if is_changed("output.every") && self.next_output > step {
            self.next_output = due_after(step, scenario.output.every, scenario, last_step);
        }
        if let Some(pictures) = &scenario.output.pictures
            && is_changed("output.pictures.every")
            && self.next_picture > step
        {
            self.next_picture = due_after(step, pictures.every, scenario, last_step);
        }
        if is_changed("checkpoint") {
            self.next_checkpoint = next_checkpoint(step, scenario, last_step);
        }
    }
}

/// Step of the next checkpoint after `step`; `u64::MAX` without an interval in simulated time.
pub(super) fn next_checkpoint(step: u64, scenario: &Scenario, last_step: u64) -> u64 {
    let every = scenario.checkpoint.every_simulated;
    every.map_or(u64::MAX, |every| due_after(step, every, scenario, last_step))
}

/// First step after `step` at which an event with the interval `every` \[s\] is due; `last_step` without a valid interval.
pub(super) fn due_after(step: u64, every: f64, scenario: &Scenario, last_step: u64) -> u64 {
    let time_step = scenario.settings.time_step;
    let is_useful = every.is_finite() && every > 0.0;
    if !is_useful {
        return last_step;
    }
    let before = (step as f64 * time_step / every).floor();
    let candidates = (0..3).map(|k| steps_until((before + f64::from(k)) * every, time_step));
    candidates.into_iter().find(|&due| due > step).unwrap_or(step + 1)
}

/// Steps whose convergence the scenario asks about, ascending.
pub(super) fn questions(scenario: &Scenario) -> Vec<u64> {
    let times = scenario.convergence.iter().flat_map(|plan| &plan.times);
    let mut steps: Vec<u64> = times.map(|&time| steps_until(time, scenario.settings.time_step)).collect();
    steps.dedup();
    steps
}
