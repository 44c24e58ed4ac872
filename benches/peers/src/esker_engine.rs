//! A scene in esker, with the settings of its scenario.

use std::error::Error;

use esker::cpu::CpuEngine;
use esker::engine::Engine;
use esker::gpu::GpuEngine;
use esker::gpu::device::{Device, DeviceChoice};
use esker::model::World;

use crate::program::Program;
use crate::scene::Scene;

/// An engine of esker with the scene in it.
pub struct EskerEngine {
    engine: Box<dyn Engine>,
    iterations: u32,
}

impl EskerEngine {
    /// In double precision on all cores.
    pub fn on_cpu(scene: &Scene) -> EskerEngine {
        let scenario = &scene.scenario;
        let engine = CpuEngine::new(scenario.world.clone(), scenario.settings);
        EskerEngine { engine: Box::new(engine), iterations: scenario.settings.iterations }
    }

    /// In single precision on a graphics card, or what stands in for one.
    ///
    /// # Errors
    /// When there is no such device, or the scene does not fit it.
    pub fn on_gpu(scene: &Scene, choice: DeviceChoice) -> Result<EskerEngine, esker::error::Error> {
        let scenario = &scene.scenario;
        let engine = GpuEngine::new(Device::open(choice)?, scenario.world.clone(), scenario.settings)?;
        Ok(EskerEngine { engine: Box::new(engine), iterations: scenario.settings.iterations })
    }
}

impl Program for EskerEngine {
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
