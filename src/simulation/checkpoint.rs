//! A simulation saved, and one that goes on from there.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Bases, Device, Simulation, device, observer};
use crate::checkpoint::{self, Checkpoint, Header};
use crate::engine::{Engine, StepReport, saved};
use crate::error::Error;
use crate::observe::energy::Balance;
use crate::scenario::{Scenario, changes};
use crate::sources::Emitter;

/// What a simulation knows beside its engine.
#[derive(Serialize, Deserialize)]
struct State {
    step: u64,
    report: StepReport,
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
        changes(&checkpoint.resolved, &scenario.resolved).map_err(|problems| Error::Changed {
            path: checkpoint.path.clone(),
            problems: problems.to_string(),
        })?;
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
        let header = Header {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            engine: self.engine.identity().engine.to_owned(),
            time: self.time(),
            step: self.step,
            substep: self.settings.substep(),
        };
        let state = State {
            step: self.step,
            report: self.report.clone(),
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
            clumps: scenario.world.clumps.clone(),
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
