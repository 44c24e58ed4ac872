//! A simulation saved, and one that goes on from there.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Bases, Device, Frictions, Simulation, device, observer};
use crate::checkpoint::{self, Checkpoint, Header};
use crate::engine::{Engine, StepReport, saved};
use crate::error::Error;
use crate::model::{Clump, World};
use crate::observe::energy::Balance;
use crate::scenario::{Change, Scenario, changes};
use crate::sources::Emitter;

/// What a simulation knows beside its engine.
#[derive(Serialize, Deserialize)]
struct State {
    step: u64,
    /// Length of a step \[s\], and names of the boundaries: what holds a scene built in code to its checkpoints.
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

impl Simulation<'static> {
    /// A simulation that goes on from a checkpoint of this scenario, on a device of the kind that saved it: bit for bit, as if it had
    /// never stopped. Callbacks are to be set again; [`Simulation::every`] counts from the time that it is.
    ///
    /// # Errors
    /// When the checkpoint is damaged, of another version, engine or scenario, or when the scene does not fit the device.
    pub fn restore(
        scenario: &Scenario,
        device: Device,
        path: impl AsRef<Path>,
    ) -> Result<Simulation<'static>, Error> {
        let checkpoint = Checkpoint::read(path.as_ref())?;
        changes_since(&checkpoint, scenario)?;
        Simulation::resume(scenario, device::open(device, scenario)?, &checkpoint)
            .map(|(simulation, _)| simulation)
    }
}

impl<'e> Simulation<'e> {
    /// Saves the present state into a file, from which [`Simulation::restore`] goes on. Changes nothing.
    ///
    /// # Errors
    /// When a step failed before, or the file cannot be written.
    pub fn save(&mut self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.save_with(path.as_ref(), None::<&()>)
    }

    /// As [`Simulation::save`], with what runs the simulation.
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
        let state = State {
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
        checkpoint::write(path, &header, &self.resolved, &bytes, self.engine.as_mut())
    }

    /// A simulation of a scenario that goes on from a checkpoint of it, on an engine that holds its world; and what the checkpoint knows
    /// beside the simulation.
    pub(super) fn resume<'c>(
        scenario: &Scenario,
        mut engine: Box<dyn Engine + 'e>,
        checkpoint: &'c Checkpoint,
    ) -> Result<(Simulation<'e>, &'c [u8]), Error> {
        let mut rest = checkpoint.run.as_slice();
        let state: State = saved::read(&mut rest).map_err(|error| checkpoint.error(error))?;
        let boundaries = names_of_boundaries(&scenario.world);
        if state.time_step != scenario.settings.time_step || state.boundaries != boundaries {
            let found =
                format!("is of steps of {} s and the boundaries {:?}", state.time_step, state.boundaries);
            return Err(checkpoint.unusable(found, "go on with the scene that it was saved of"));
        }
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
            boundaries,
            failure: None,
            frictions: Frictions::of(scenario),
            resolved: scenario.resolved.clone(),
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

/// What of the scenario changed since the checkpoint was saved.
///
/// # Errors
/// When something changed that may not.
pub(super) fn changes_since(checkpoint: &Checkpoint, scenario: &Scenario) -> Result<Vec<Change>, Error> {
    changes(&checkpoint.resolved, &scenario.resolved)
        .map_err(|problems| Error::Changed { path: checkpoint.path.clone(), problems: problems.to_string() })
}
