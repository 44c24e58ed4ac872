//! Checkpoints of a simulation: saving, and resuming from one.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Bases, Device, Frictions, Simulation, device, observer};
use crate::checkpoint::{self, Checkpoint, Header};
use crate::engine::saved::MOST_STEPS;
use crate::engine::{Engine, StepReport, saved};
use crate::error::Error;
use crate::model::consistent::{Fault, claim, claim_length};
use crate::model::{Clump, World};
use crate::observe::energy::Balance;
use crate::output::FILES;
use crate::scenario::{Change, Scenario, changes};
use crate::sources::Emitter;

/// State of a simulation apart from its engine.
#[derive(Serialize, Deserialize)]
struct SavedSimulation {
    step: u64,
    /// Length of a step \[s\], and names of the boundaries: they tie a scene built in code to its checkpoints.
    time_step: f64,
    boundaries: Vec<String>,
    report: StepReport,
    clumps: Vec<Clump>,
    grains: usize,
    emitters: Vec<Emitter>,
    requested: Vec<u64>,
    balance: Option<Balance>,
    bases: Bases,
}

impl SavedSimulation {
    /// Checks that the state is one of a simulation of this scenario, whoever wrote it.
    fn check(&self, scenario: &Scenario, checkpoint: &Checkpoint) -> Fault {
        claim(self.step == checkpoint.header.step && self.step < MOST_STEPS, || "another step".into())?;
        self.report.check()?;
        claim((self.grains as u64) < MOST_STEPS, || "more grains than can be counted".into())?;
        let emitters = scenario.emitters.len();
        claim_length(self.emitters.len(), emitters, "emitters for")?;
        claim_length(self.requested.len(), emitters, "requests for emitters")?;
        claim_length(self.clumps.len(), scenario.world.clumps.len(), "clumps for")?;
        let are_same =
            self.emitters.iter().zip(&scenario.emitters).all(|(saved, own)| saved.goes_on_from(own));
        claim(are_same, || "an emitter of other grains".into())
    }
}

impl Simulation<'static> {
    /// Resumes a simulation from a checkpoint of this scenario, on a device of the kind that saved it: bit for bit as if it had never
    /// stopped. Callbacks must be set again; [`Simulation::every`] counts from the time at which it is called.
    ///
    /// # Errors
    /// When the checkpoint is damaged, of another version, engine or scenario, or when the scene does not fit the device.
    pub fn restore(
        scenario: &Scenario,
        device: Device,
        path: impl AsRef<Path>,
    ) -> Result<Simulation<'static>, Error> {
        Simulation::restored(scenario, path.as_ref(), || device::open(device, scenario))
    }
}

impl<'e> Simulation<'e> {
    /// Resumes a simulation as [`Simulation::restore`] does, on an engine that holds the world of the scenario: one in an ensemble, or one
    /// of your own.
    ///
    /// # Errors
    /// As for [`Simulation::restore`].
    pub fn restore_on(
        scenario: &Scenario,
        engine: Box<dyn Engine + 'e>,
        path: impl AsRef<Path>,
    ) -> Result<Simulation<'e>, Error> {
        Simulation::restored(scenario, path.as_ref(), || Ok(engine))
    }

    /// Opens an engine and resumes on it, once the checkpoint has turned out to be of this scenario.
    fn restored(
        scenario: &Scenario,
        path: &Path,
        open: impl FnOnce() -> Result<Box<dyn Engine + 'e>, Error>,
    ) -> Result<Simulation<'e>, Error> {
        let checkpoint = Checkpoint::read(path)?;
        changes_since(&checkpoint, scenario)?;
        Simulation::resume(scenario, open()?, &checkpoint).map(|(simulation, _)| simulation)
    }

    /// Saves the present state into a file, from which [`Simulation::restore`] resumes. The simulation does not change.
    ///
    /// # Errors
    /// When a step failed before, or the file cannot be written.
    pub fn save(&mut self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.save_with(path.as_ref(), None::<&()>)
    }

    /// As [`Simulation::save`], together with the state of the run that steps the simulation.
    pub(super) fn save_with<R: Serialize>(&mut self, path: &Path, run: Option<&R>) -> Result<(), Error> {
        if let Some(reason) = &self.failure {
            return Err(Error::NoState { reason: reason.clone() });
        }
        let header = Header {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            engine: self.engine.identity().engine.to_owned(),
            time: self.time(),
            step: self.step,
            substep: self.settings.substep(),
        };
        let state = SavedSimulation {
            step: self.step,
            time_step: self.settings.time_step,
            boundaries: self.boundaries.clone(),
            report: self.report.clone(),
            clumps: self.clumps.clone(),
            grains: self.grains,
            emitters: self.emitters.clone(),
            requested: self.requested.clone(),
            balance: self.observer.balance().copied(),
            bases: self.bases.clone(),
        };
        let mut bytes = Vec::new();
        saved::write(&mut bytes, &state)?;
        if let Some(run) = run {
            saved::write(&mut bytes, run)?;
        }
        // The checkpoints of a run are beside the copies.
        let beside = run.and(self.portable.as_ref());
        let resolved = beside.unwrap_or(&self.resolved);
        checkpoint::write(path, &header, resolved, &bytes, self.engine.as_mut())
    }

    /// Resumes a simulation of a scenario from a checkpoint, on an engine that holds its world; also returns the rest of the checkpoint,
    /// which is the state of the run.
    pub(super) fn resume<'c>(
        scenario: &Scenario,
        mut engine: Box<dyn Engine + 'e>,
        checkpoint: &'c Checkpoint,
    ) -> Result<(Simulation<'e>, &'c [u8]), Error> {
        let mut rest = checkpoint.run.as_slice();
        let state: SavedSimulation = saved::read(&mut rest).map_err(|error| checkpoint.error(error))?;
        let boundaries = names_of_boundaries(&scenario.world);
        if state.time_step != scenario.settings.time_step || state.boundaries != boundaries {
            let found =
                format!("is of steps of {} s and the boundaries {:?}", state.time_step, state.boundaries);
            return Err(checkpoint.unusable(found, "go on with the scene that it was saved of"));
        }
        state.check(scenario, checkpoint).map_err(|fault| checkpoint.error(saved::foreign(&fault)))?;
        checkpoint.restore(engine.as_mut())?;
        let observer = observer(scenario, None);
        let observer = match state.balance {
            Some(balance) => observer.with_balance(balance),
            None => observer,
        };
        let simulation = Simulation {
            engine,
            settings: scenario.settings,
            observer,
            compatible: scenario.compatible,
            clumps: state.clumps,
            plane: scenario.world.plane,
            boundaries,
            failure: None,
            frictions: Frictions::of(scenario),
            resolved: scenario.resolved.clone(),
            portable: scenario.portable.text.clone(),
            emitters: state.emitters,
            requested: state.requested,
            grains: state.grains,
            step: state.step,
            report: state.report,
            state: None,
            bases: state.bases,
            callbacks: Vec::new(),
        };
        Ok((simulation, rest))
    }
}

/// Names of the boundaries of a world.
pub(super) fn names_of_boundaries(world: &World) -> Vec<String> {
    world.boundaries.iter().map(|boundary| boundary.name.clone()).collect()
}

/// Returns the changes of the scenario since the checkpoint was saved.
///
/// # Errors
/// When something changed that must stay the same.
pub(super) fn changes_since(checkpoint: &Checkpoint, scenario: &Scenario) -> Result<Vec<Change>, Error> {
    // A checkpoint beside copies of the files of its scenario names these, and is compared with a scenario that names them, too.
    let is_beside = ['"', '\''].iter().any(|quote| checkpoint.resolved.contains(&format!("{quote}{FILES}/")));
    let now = scenario.portable.text.as_ref().filter(|_| is_beside).unwrap_or(&scenario.resolved);
    changes(&checkpoint.resolved, now).map_err(|problems| Error::Changed {
        path: checkpoint.path.clone(),
        problems: problems.list().iter().map(|problem| problem.line()).collect::<Vec<_>>().join("; "),
    })
}
