//! Resumption of a run from a checkpoint.

use std::borrow::Cow;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpoint;
use crate::engine::{Engine, saved};
use crate::error::Error;
use crate::model::consistent::{Fault, claim};
use crate::observe::Observation;
use crate::observe::watch::Watch;
use crate::output::convergence::Tables;
use crate::output::lock::{FolderLock, Sharing};
use crate::output::summary::{ChangeSummary, NamedValue};
use crate::render::Drawn;
use crate::scenario::{Change, Scenario};
use crate::simulation::Simulation;

use super::RunCourse;
use super::agenda::{Agenda, next_checkpoint, questions};

/// A locked folder of results, and its checkpoint from which a run of the same scenario resumes.
#[derive(Debug)]
pub struct Resumption {
    pub(super) lock: FolderLock,
    /// The last intact checkpoint; `None` if there are no checkpoints and the run starts anew.
    pub checkpoint: Option<Checkpoint>,
    /// Why later checkpoints are not taken.
    pub damaged: Vec<Error>,
}

impl Resumption {
    /// Folder of the results.
    pub fn folder(&self) -> &Path {
        self.lock.folder()
    }

    /// Locks a folder and reads its last intact checkpoint.
    ///
    /// # Errors
    /// When another run writes there, all checkpoints in it are damaged, or one is of another version.
    pub fn of(folder: &Path) -> Result<Resumption, Error> {
        let lock = FolderLock::take(folder, Sharing::Alone)?;
        let (checkpoint, damaged) = Checkpoint::latest(folder)?;
        Ok(Resumption { lock, checkpoint, damaged })
    }
}

/// State of a run in a checkpoint, apart from its simulation.
#[derive(Serialize, Deserialize)]
pub(super) struct Saved<'a> {
    pub(super) course: Cow<'a, RunCourse>,
    pub(super) convergence: Cow<'a, Tables>,
    pub(super) drawn: Option<Drawn>,
    pub(super) seconds: f64,
}

/// Resumes a simulation from a checkpoint, on an engine that holds the world of the scenario; also returns the state of the run.
pub(super) fn go_on<'a>(
    scenario: &Scenario,
    engine: Box<dyn Engine + 'a>,
    checkpoint: &Checkpoint,
    last_step: u64,
) -> Result<(Simulation<'a>, Saved<'static>), Error> {
    let found = crate::simulation::checkpoint::changes_since(checkpoint, scenario)?;
    let (time, step) = (checkpoint.header.time, checkpoint.header.step);
    if step > last_step {
        let found = format!("is of t = {time} s, after the end of this run");
        return Err(checkpoint.unusable(found, &format!("choose --until {time} or later, or start anew")));
    }
    let (simulation, mut rest) = Simulation::resume(scenario, engine, checkpoint)?;
    if rest.is_empty() {
        let advice = "take it as the [start] of a scenario, or go on from it with Simulation::restore";
        return Err(checkpoint.unusable("was saved by a program of its own, not by a run".to_owned(), advice));
    }
    let mut saved: Saved = saved::read(&mut rest).map_err(|error| checkpoint.error(error))?;
    saved.check(&simulation).map_err(|fault| checkpoint.error(saved::foreign(&fault)))?;
    let course = saved.course.to_mut();
    if !found.is_empty() {
        course.agenda.plan_anew(&found, step, scenario, last_step);
    }
    let note = |Change { key, was, is }| ChangeSummary { time, step, key, was, is };
    course.changes.extend(found.into_iter().map(note));
    Ok((simulation, saved))
}

impl Saved<'_> {
    /// Checks that the results are those of a run of this simulation up to now, whoever wrote them.
    fn check(&self, simulation: &Simulation<'_>) -> Fault {
        let (columns, step) = (simulation.observer().columns().len(), simulation.step);
        let mut observations = self.course.observations.iter();
        let is_whole = |found: &Observation| {
            found.values.len() == columns
                && found.step <= step
                && found.time.is_finite()
                && found.base.time.is_finite()
        };
        claim(observations.all(is_whole), || "observations of other quantities".into())?;
        claim(self.course.removed <= simulation.grains, || "more grains removed than there were".into())?;
        claim(self.seconds.is_finite() && self.seconds >= 0.0, || "a wall time that is none".into())
    }
}

impl Saved<'static> {
    /// State of a run at its start, after `step` steps of the simulation.
    pub(super) fn nothing(scenario: &Scenario, step: u64, last_step: u64) -> Saved<'static> {
        let agenda = Agenda {
            next_output: step,
            questions: questions(scenario).into_iter().filter(|&due| due >= step).collect(),
            next_picture: step,
            last_picture: None,
            next_checkpoint: next_checkpoint(step, scenario, last_step),
        };
        let course = RunCourse {
            observations: Vec::new(),
            removed: 0,
            lost: None,
            watch: Watch::default(),
            agenda,
            tasks: NamedValue::default(),
            stages: NamedValue::default(),
            changes: Vec::new(),
        };
        Saved {
            course: Cow::Owned(course),
            convergence: Cow::Owned(Tables::default()),
            drawn: None,
            seconds: 0.0,
        }
    }
}
