//! The bed in esker, with the settings of its scenario.

use std::error::Error;

use esker::engine::Engine;
use esker::gpu::GpuEngine;
use esker::gpu::device::{Device, DeviceChoice};
use esker::cpu::CpuEngine;
use esker::model::World;

use crate::bed::Bed;
use crate::program::Program;

/// An engine of esker with the bed in it.
pub struct EskerBed {
    engine: Box<dyn Engine>,
    iterations: u32,
}

impl EskerBed {
    /// In double precision on all cores.
    pub fn on_cpu(bed: &Bed) -> EskerBed {
        let scenario = &bed.scenario;
        let engine = CpuEngine::new(scenario.world.clone(), scenario.settings);
        EskerBed { engine: Box::new(engine), iterations: scenario.settings.iterations }
    }

    /// In single precision on a graphics card, or what stands in for one.
    ///
    /// # Errors
    /// When there is no such device, or the bed does not fit it.
    pub fn on_gpu(bed: &Bed, choice: DeviceChoice) -> Result<EskerBed, esker::error::Error> {
        let scenario = &bed.scenario;
        let engine = GpuEngine::new(Device::open(choice)?, scenario.world.clone(), scenario.settings)?;
        Ok(EskerBed { engine: Box::new(engine), iterations: scenario.settings.iterations })
    }
}

impl Program for EskerBed {
    fn name(&self) -> String {
        format!("esker, {} iterations, {}", self.iterations, self.engine.identity().device)
    }

    fn advance(&mut self, steps: u64) -> Result<(), Box<dyn Error>> {
        self.engine.advance(steps)?;
        Ok(())
    }

    fn world(&mut self) -> Result<World, Box<dyn Error>> {
        Ok(self.engine.snapshot()?.world)
    }
}
