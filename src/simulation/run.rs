//! Runs: a run steps a simulation through a scenario, from event to event, and writes the results into a folder.
//!
//! ```text
//! emit ─► record ─► advance ─► emit ─► record ─► advance ─► ... ─► record ─► summary
//!  │        │          └ a batch of steps: up to the next event, at most about 0.25 s of wall time
//!  │        └ at t = 0, every output, the end: snapshot, observe, write; pictures at times of their own
//!  └ when a wave of an emitter is due
//! ```
//!
//! A caller with other work between two batches calls [`Run::turn`] itself.
//!
//! Before the steps whose convergence the scenario asks about, their contact problem is solved on the side, in double precision on
//! any engine ([`convergence`]).
//!
//! At every output a run looks for signs that it goes wrong ([`watch`](crate::observe::watch)); the summary has its warnings.
//!
//! However a run ends, the folder then holds all outputs up to that time and a summary that tells how it ended. A run that resumes
//! from a checkpoint first cuts the outputs back to their state at the checkpoint, and ends with the same files as one that was never
//! interrupted, apart from wall times.

mod agenda;
mod question;
mod resume;
mod summary;

use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use pollster::block_on;
use serde::{Deserialize, Serialize};

use crate::cpu::convergence;
use crate::engine::Engine;
use crate::error::Error;
use crate::observe::lost::Lost;
use crate::observe::watch::Watch;
use crate::observe::{Base, Observation};
use crate::output::lock::refuse_link;
use crate::output::summary::{ChangeSummary, NamedValue, RunStatus, Summary};
use crate::output::{Copies, Kept, PICTURES, ResultFolder, ScenarioRecord};
use crate::render::LivePictures;
use crate::render::file::remove_pictures;
use crate::scenario::Scenario;
use crate::sources::Emitter;

use super::{Simulation, Wave, steps_until};
use agenda::{Agenda, due_after, next_checkpoint};
use question::SeenState;
pub use question::answer;
pub use resume::Resumption;
use resume::{Saved, go_on};

/// Largest wall time of a batch of steps \[s\], because interrupts and progress reports wait for its end.
const BATCH_SECONDS: f64 = 0.25;
/// Largest ratio of the steps of a batch to those of the one before, because the first steps of a scene are often the cheapest.
const BATCH_GROWTH: u64 = 4;
/// Options of a run: folder, end, interrupt and checkpoint.
#[derive(Debug)]
pub struct RunOptions<'a> {
    /// Folder of the results.
    pub folder: &'a Path,
    /// End time in place of the duration of the scenario \[s\]. With an end before the duration the expectations stay open.
    pub until: Option<f64>,
    /// Interrupt: when set, the run ends after the present batch of steps.
    pub interrupt: &'a AtomicBool,
    /// Whether a run that is interrupted, or ends before its scenario does, saves a checkpoint, even if the scenario asks for no
    /// checkpoints.
    pub saves: bool,
    /// Folder and checkpoint to resume from, if any.
    pub resume: Option<Resumption>,
    /// Copies of files of scenarios that other runs of the same study have made.
    pub copies: Option<&'a Copies>,
}

impl<'a> RunOptions<'a> {
    /// Options of a run from the start of a scenario to its end; an interrupt leaves no checkpoint.
    pub fn new(folder: &'a Path, interrupt: &'a AtomicBool) -> RunOptions<'a> {
        RunOptions { folder, until: None, interrupt, saves: false, resume: None, copies: None }
    }
}

/// Progress of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Number of steps done.
    pub step: u64,
    /// Number of steps in all.
    pub steps: u64,
    /// Simulated time \[s\].
    pub time: f64,
    /// Simulated time at the end \[s\].
    pub end: f64,
    /// Number of all grains so far, less those removed by the last output.
    pub grains: usize,
    /// Number of grains lost by the last output.
    pub lost: u64,
    /// Number of contacts in the last step.
    pub contacts: u64,
    /// Mean residual of the normal rows in the last step \[m/s\].
    pub residual: f64,
    /// Steps per second of wall time, in the last batch.
    pub steps_per_second: f64,
    /// Whether the last checkpoint that was due could not be saved; the summary says why.
    pub is_unsaved: bool,
    /// Number of warnings so far.
    pub warnings: usize,
}

/// Runs a scenario on an engine that holds its world, writes the results and returns the summary.
/// `watch` is called after every batch of steps.
///
/// # Errors
/// When a step fails or a file cannot be written. What was computed until then is on disk, with a
/// summary whose status is "failed" where that can still be written.
pub fn run(
    scenario: &Scenario,
    engine: &mut dyn Engine,
    options: RunOptions<'_>,
    watch: &mut dyn FnMut(&Progress),
) -> Result<Summary, Error> {
    let (mut run, mut simulation) = Run::begin(scenario, Box::new(engine), options)?;
    loop {
        match run.turn(&mut simulation, u64::MAX)? {
            Turn::Advanced(progress) => watch(&progress),
            Turn::Over(summary) => return Ok(*summary),
        }
    }
}

/// Steps of the batch after one of `batch` steps.
fn next_batch(batch: u64, steps_per_second: f64) -> u64 {
    let affordable = (BATCH_SECONDS * steps_per_second) as u64;
    affordable.clamp(1, batch.saturating_mul(BATCH_GROWTH))
}

/// Result of a turn of a run.
#[derive(Debug)]
pub enum Turn {
    /// A batch of steps was done.
    Advanced(Progress),
    /// The run ended, or was interrupted: the results are complete.
    Over(Box<Summary>),
}

/// A run in progress: it steps a simulation in batches and writes the results. It borrows the simulation for every turn; between two
/// turns the simulation can be observed and changed.
pub struct Run<'a> {
    scenario: &'a Scenario,
    interrupt: &'a AtomicBool,
    folder: ResultFolder,
    pictures: Option<LivePictures<'a>>,
    /// Simulated time at the end \[s\].
    end: f64,
    last_step: u64,
    course: RunCourse,
    batch: u64,
    start: Instant,
    /// Wall time before the run was last resumed \[s\].
    seconds_before: f64,
    last_saved: LastSaved,
    /// Whether an interrupt saves a checkpoint.
    saves: bool,
    /// Why the last checkpoint could not be saved, if so.
    unsaved: Option<String>,
}

/// Results of a run so far, and its agenda.
#[derive(Clone, Serialize, Deserialize)]
struct RunCourse {
    observations: Vec<Observation>,
    /// Number of grains that were removed by the last output.
    removed: usize,
    /// Grains that were lost by the last output.
    lost: Option<Lost>,
    watch: Watch,
    agenda: Agenda,
    tasks: NamedValue,
    stages: NamedValue,
    changes: Vec<ChangeSummary>,
}

/// Time of the last checkpoint, or of the last attempt to save one.
struct LastSaved {
    at: Instant,
    /// Step of the last checkpoint; `None` if there is none.
    step: Option<u64>,
}

impl<'a> Run<'a> {
    /// Begins a run of a scenario on an engine that holds its world: from the start, or from the checkpoint of `options`.
    ///
    /// # Errors
    /// When the folder cannot be written, or the checkpoint does not belong to the scenario or the engine.
    pub fn begin<'e>(
        scenario: &'a Scenario,
        engine: Box<dyn Engine + 'e>,
        options: RunOptions<'a>,
    ) -> Result<(Run<'a>, Simulation<'e>), Error> {
        let start = Instant::now();
        let last_step = steps_until(options.until.unwrap_or(scenario.duration), scenario.settings.time_step);
        let (simulation, saved) = match options.resume.as_ref().and_then(|resume| resume.checkpoint.as_ref())
        {
            Some(checkpoint) => {
                let (simulation, saved) = go_on(scenario, engine, checkpoint, last_step)?;
                (simulation, Some(saved))
            }
            None => (Simulation::on(scenario, engine)?, None),
        };
        Ok((Run::new(&simulation, scenario, options, saved, start)?, simulation))
    }

    /// Begins a run that continues a simulation of `scenario` from its present state.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn of(
        simulation: &Simulation<'_>,
        scenario: &'a Scenario,
        options: RunOptions<'a>,
    ) -> Result<Run<'a>, Error> {
        Run::new(simulation, scenario, options, None, Instant::now())
    }

    fn new(
        simulation: &Simulation<'_>,
        scenario: &'a Scenario,
        options: RunOptions<'a>,
        saved: Option<Saved<'static>>,
        start: Instant,
    ) -> Result<Run<'a>, Error> {
        let end = options.until.unwrap_or(scenario.duration);
        let last_step = steps_until(end, scenario.settings.time_step);
        let lock = options.resume.map(|resume| resume.lock);
        let place = options.folder.join(PICTURES);
        refuse_link(&place)?;
        let step = saved.as_ref().map(|_| simulation.step);
        let saved = saved.unwrap_or_else(|| Saved::nothing(scenario, simulation.step, last_step));
        let (course, convergence) = (saved.course.into_owned(), saved.convergence.into_owned());
        let record = ScenarioRecord { copies: options.copies, ..scenario.record() };
        let columns = simulation.observer().columns();
        let folder = match step {
            Some(step) => {
                let kept = Kept { step, observations: &course.observations, convergence };
                ResultFolder::reopen(options.folder, &record, columns, kept, lock)?
            }
            None => ResultFolder::create(options.folder, &record, columns, lock)?,
        };
        let sources: Vec<_> = scenario.emitters.iter().map(Emitter::bounds).collect();
        let pictures = match &scenario.output.pictures {
            Some(plan) => {
                LivePictures::create(&place, &scenario.world, &sources, plan, saved.drawn).map(Some)
            }
            None => remove_pictures(&place).map(|()| None),
        };
        Ok(Run {
            pictures: pictures.map_err(|error| folder.cause_of(error))?,
            folder,
            end,
            last_step,
            batch: 1,
            start,
            course,
            seconds_before: saved.seconds,
            last_saved: LastSaved { at: start, step },
            saves: options.saves,
            unsaved: None,
            scenario,
            interrupt: options.interrupt,
        })
    }

    /// Takes one turn: writes the results that are due and advances by a batch of at most `most` steps, or ends the run. No turns may
    /// follow the end.
    ///
    /// # Errors
    /// When a step fails or a file cannot be written; the summary then says so where it can still be written.
    pub fn turn(&mut self, simulation: &mut Simulation<'_>, most: u64) -> Result<Turn, Error> {
        let turn = self.take_turn(simulation, most).map_err(|error| self.folder.cause_of(error));
        turn.inspect_err(|error| self.keep_what_there_is(simulation, error))
    }

    /// Applies the friction and the emitters that are due at this step; at the end of the scenario, the last wave of all emitters.
    fn act(&mut self, simulation: &mut Simulation<'_>, is_over: bool) -> Result<(), Error> {
        let start = Instant::now();
        let acted = match is_over {
            true => block_on(simulation.emit_due(Wave::Last))?,
            false => block_on(simulation.act_due())?,
        };
        if acted {
            self.course.tasks.add("emit", start.elapsed().as_secs_f64());
        }
        Ok(())
    }

    /// Whether the final state is saved, because a later run may resume from it.
    fn keeps_its_end(&self) -> bool {
        let is_early = self.saves && self.end < self.scenario.duration;
        is_early || self.scenario.checkpoint.is_wanted() || self.last_saved.step.is_some()
    }

    fn take_turn(&mut self, simulation: &mut Simulation<'_>, most: u64) -> Result<Turn, Error> {
        self.folder.check()?;
        let is_over = simulation.step >= self.last_step;
        let is_interrupted = !is_over && self.interrupt.load(Ordering::Relaxed);
        // A checkpoint comes before the outputs of the end, which are not due in a run that resumes from it.
        if is_interrupted && self.saves {
            self.save(simulation)?;
        } else if is_over && self.keeps_its_end() {
            self.try_to_save(simulation)?;
        }
        // A run that ends before its scenario does may go on, and has no last wave.
        let is_whole = is_over && self.end >= self.scenario.duration;
        if is_whole || !(is_over || is_interrupted) {
            self.act(simulation, is_over)?;
        }
        let is_last = is_over || is_interrupted;
        if is_last || simulation.step >= self.course.agenda.next_output {
            // A run that resumes from a checkpoint of this step has the whole state there, and adds up its sums in the same order.
            if simulation.step >= self.course.agenda.next_checkpoint {
                simulation.state()?;
            }
            self.record(simulation)?;
            self.heed_warnings(simulation.time())?;
        }
        if self.course.agenda.questions.first() == Some(&simulation.step) {
            self.solve_aside(simulation)?;
        }
        if is_last || simulation.step >= self.course.agenda.next_picture {
            self.draw(simulation)?;
        }
        if is_last {
            let status = if is_over { RunStatus::Completed } else { RunStatus::Interrupted };
            self.folder.write_vtkhdf()?;
            let summary = self.summary(simulation, status, self.unsaved.clone());
            self.folder.finish(&summary)?;
            return Ok(Turn::Over(Box::new(summary)));
        }
        if self.is_checkpoint_due(simulation.step) {
            self.try_to_save(simulation)?;
        }
        self.advance(simulation, most).map(Turn::Advanced)
    }

    fn is_checkpoint_due(&self, step: u64) -> bool {
        let elapsed = self.last_saved.at.elapsed().as_secs_f64();
        step >= self.course.agenda.next_checkpoint
            || self.scenario.checkpoint.every.is_some_and(|every| elapsed >= every)
    }

    /// Saves a checkpoint. If the file cannot be written, the run goes on and reports it: the results do not depend on it, and the next
    /// checkpoint may succeed.
    fn try_to_save(&mut self, simulation: &mut Simulation<'_>) -> Result<(), Error> {
        self.unsaved = match self.save(simulation) {
            Err(error @ Error::File { .. }) => Some(format!("a checkpoint could not be saved: {error}")),
            result => result.map(|()| None)?,
        };
        self.last_saved.at = Instant::now();
        Ok(())
    }

    /// Saves a checkpoint, unless one was saved at this step.
    fn save(&mut self, simulation: &mut Simulation<'_>) -> Result<(), Error> {
        let (start, step) = (Instant::now(), simulation.step);
        if self.last_saved.step == Some(step) {
            return Ok(());
        }
        self.course.agenda.next_checkpoint = next_checkpoint(step, self.scenario, self.last_step);
        self.folder.sync(self.course.observations.len())?;
        self.pictures.as_mut().map_or(Ok(()), LivePictures::sync)?;
        let saved = Saved {
            course: Cow::Borrowed(&self.course),
            convergence: Cow::Borrowed(self.folder.convergence()),
            drawn: self.pictures.as_ref().map(LivePictures::drawn),
            seconds: self.seconds(),
        };
        simulation.save_with(&self.folder.checkpoint(step), Some(&saved))?;
        self.folder.drop_old_checkpoints()?;
        self.last_saved = LastSaved { at: Instant::now(), step: Some(step) };
        self.course.tasks.add("checkpoint", start.elapsed().as_secs_f64());
        Ok(())
    }

    /// Wall time of the run so far, without the time between an interruption and a resumption \[s\].
    fn seconds(&self) -> f64 {
        self.seconds_before + self.start.elapsed().as_secs_f64()
    }

    /// Observes and writes the present state, unless that was done already.
    fn record(&mut self, simulation: &mut Simulation<'_>) -> Result<(), Error> {
        let start = Instant::now();
        let last = self.course.observations.last();
        let is_known = |step| last.is_some_and(|last| last.step == step);
        // After a failure the engine may be steps ahead of what the simulation counts.
        if !is_known(simulation.step) || simulation.failure.is_some() {
            let seen = simulation.see(last.map(|last| &last.base), self.folder.needs())?;
            if !is_known(seen.observation.step) {
                self.course.tasks.add("observe", start.elapsed().as_secs_f64());
                self.write(simulation, seen)?;
            }
        }
        self.course.agenda.next_output = self.due_after(simulation.step, self.scenario.output.every);
        Ok(())
    }

    /// Writes what was seen of the present state, and its frames.
    fn write(&mut self, simulation: &mut Simulation<'_>, seen: SeenState) -> Result<(), Error> {
        let start = Instant::now();
        let SeenState { observation, present, lost, signs, averages } = seen;
        (self.course.removed, self.course.lost) = (simulation.grains.saturating_sub(present), lost);
        self.course.watch.note(&signs);
        let base = self.course.observations.last().map(|last| &last.base);
        let written = self.folder.record(&observation, &averages, &mut |shot| simulation.take(shot, base));
        // Rates go on from the last observation alone.
        self.course.observations.last_mut().into_iter().for_each(|last| last.base = Base::default());
        self.course.observations.push(observation);
        self.course.tasks.add("output", start.elapsed().as_secs_f64());
        written
    }

    /// Solves the coming step on the side and writes its convergence.
    fn solve_aside(&mut self, simulation: &mut Simulation<'_>) -> Result<(), Error> {
        let start = Instant::now();
        if let Some(plan) = &self.scenario.convergence {
            let (snapshot, settings) = (simulation.state()?, &self.scenario.settings);
            let found = convergence::solve_aside(snapshot, settings, &plan.question);
            self.folder.record_convergence(&found)?;
        }
        let now = simulation.step;
        self.course.agenda.questions.retain(|&step| step > now);
        self.course.tasks.add("convergence", start.elapsed().as_secs_f64());
        Ok(())
    }

    /// Draws the present state if the scenario has pictures, unless it is drawn already.
    fn draw(&mut self, simulation: &mut Simulation<'_>) -> Result<(), Error> {
        let Some(pictures) = &mut self.pictures else {
            self.course.agenda.next_picture = u64::MAX;
            return Ok(());
        };
        let (start, every) = (Instant::now(), pictures.every());
        let step = simulation.step;
        if self.course.agenda.last_picture != Some(step) {
            pictures.add(simulation.state()?)?;
            self.course.agenda.last_picture = Some(step);
            self.course.tasks.add("pictures", start.elapsed().as_secs_f64());
        }
        self.course.agenda.next_picture = self.due_after(step, every);
        Ok(())
    }

    /// First step after `step` at which an event with the interval `every` \[s\] is due.
    fn due_after(&self, step: u64, every: f64) -> u64 {
        due_after(step, every, self.scenario, self.last_step)
    }

    /// Step of the next event: output, picture, checkpoint, wave of an emitter, change of friction, question about convergence or the end.
    fn next_event(&self, simulation: &Simulation<'_>) -> u64 {
        let Agenda { next_output, next_picture, next_checkpoint, .. } = self.course.agenda;
        let questions = self.course.agenda.questions.first().copied();
        let emitted = simulation.next_event();
        let fixed = [emitted, next_output, next_picture, next_checkpoint, self.last_step];
        questions.into_iter().chain(fixed).min().unwrap_or(self.last_step)
    }

    /// Advances by a batch of steps, at most to the next event, and calls the callbacks that are due at its end.
    fn advance(&mut self, simulation: &mut Simulation<'_>, most: u64) -> Result<Progress, Error> {
        let start = Instant::now();
        let batch = self.batch.min(most).max(1);
        let steps = self.next_event(simulation).saturating_sub(simulation.step).clamp(1, batch);
        block_on(simulation.advance(steps))?;
        let seconds = start.elapsed().as_secs_f64().max(1e-9);
        self.course.tasks.add("step", seconds);
        let report = simulation.report();
        report.stages.iter().for_each(|&(stage, seconds)| self.course.stages.add(stage, seconds));

        let steps_per_second = steps as f64 / seconds;
        self.batch = next_batch(self.batch, steps_per_second);
        let progress = Progress {
            step: simulation.step,
            steps: self.last_step,
            time: report.time,
            end: self.end,
            grains: simulation.grains - self.course.removed,
            lost: self.course.lost.map_or(0, |lost| lost.grains),
            contacts: report.contacts,
            residual: report.residuals.normal.mean,
            steps_per_second,
            is_unsaved: self.unsaved.is_some(),
            warnings: self.warning_count(),
        };
        simulation.call_due()?;
        Ok(progress)
    }

    /// Writes the results after a failure: the state before the failed step, if the engine still has it, and a summary.
    fn keep_what_there_is(&mut self, simulation: &mut Simulation<'_>, error: &Error) {
        // The caller must hear of the failure itself, not of errors that follow from it.
        let _ = self.record(simulation);
        let summary = self.summary(simulation, RunStatus::Failed, Some(error.to_string()));
        let _ = self.folder.finish(&summary);
    }
}

#[cfg(test)]
mod tests;
