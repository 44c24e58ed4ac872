//! Implementation of [`Engine`] for the GPU engine.

use pollster::block_on;

use crate::contact::{Impulse, Key};
use crate::engine::{Engine, Identity, Occupied, Pending, Profiling, Snapshot, StepReport};
use crate::error::Error;
use crate::model::{Grain, World};

use super::GpuEngine;
use super::timing::Timer;

impl Engine for GpuEngine {
    fn identity(&self) -> Identity {
        self.device().identity()
    }

    fn advance(&mut self, steps: u64) -> Result<StepReport, Error> {
        block_on(self.advance_async(steps))
    }

    fn snapshot(&mut self) -> Result<Snapshot, Error> {
        block_on(self.snapshot_async())
    }

    fn occupied(&mut self) -> Result<Occupied<'_>, Error> {
        block_on(self.occupied_async())
    }

    fn add_grains(&mut self, grains: &[Grain]) -> Result<(), Error> {
        block_on(self.add_grains_async(grains))
    }

    fn change(&mut self, change: &mut dyn FnMut(&mut World)) -> Result<(), Error> {
        block_on(self.change_async(change))
    }

    fn look(&mut self, look: &mut dyn FnMut(&World)) -> Result<(), Error> {
        self.refuse_after_failure()?;
        let result = block_on(self.pull_world());
        self.note_failure(result)?;
        look(&self.world);
        Ok(())
    }

    fn advance_async(&mut self, steps: u64) -> Pending<'_, StepReport> {
        Box::pin(async move {
            self.refuse_after_failure()?;
            let result = self.advance_steps(steps).await;
            self.note_failure(result)
        })
    }

    fn snapshot_async(&mut self) -> Pending<'_, Snapshot> {
        Box::pin(async move {
            self.refuse_after_failure()?;
            let result = self.take_snapshot().await;
            self.note_failure(result)
        })
    }

    fn occupied_async(&mut self) -> Pending<'_, Occupied<'_>> {
        Box::pin(async move {
            self.refuse_after_failure()?;
            let result = self.pull_world().await;
            self.note_failure(result)?;
            Ok(Occupied::of(&self.world))
        })
    }

    fn add_grains_async<'a>(&'a mut self, grains: &'a [Grain]) -> Pending<'a, ()> {
        Box::pin(async move {
            self.refuse_after_failure()?;
            let result = self.extend_world(grains).await;
            self.note_failure(result)
        })
    }

    fn change_async<'a>(&'a mut self, change: &'a mut dyn FnMut(&mut World)) -> Pending<'a, ()> {
        Box::pin(async move {
            self.refuse_after_failure()?;
            let result = self.change_world(change).await;
            self.note_failure(result)
        })
    }

    fn seed(&mut self, impulses: &[(Key, Impulse)]) -> Result<(), Error> {
        self.seeds = impulses.to_vec();
        self.upload_seeds()
    }

    fn set_iterations(&mut self, iterations: u32) {
        self.settings.iterations = iterations;
    }

    #[cfg(feature = "scenario")]
    fn save(&mut self, out: &mut dyn std::io::Write) -> Result<(), Error> {
        self.refuse_after_failure()?;
        // A failed write, as to a full disk, is no failure of the device: the engine can go on.
        block_on(self.write_state(out)).map_err(|error| error.at_time(self.world.time))
    }

    #[cfg(feature = "scenario")]
    fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        self.refuse_after_failure()?;
        self.read_state(state)
    }

    fn memory(&self) -> u64 {
        self.slot.bytes()
    }

    fn profile(&mut self, profiling: Profiling) {
        self.slot.set_timer(match profiling {
            Profiling::On => Timer::new(self.device(), self.settings.substeps),
            Profiling::Off => None,
        });
    }
}
