//! A scene in esker, with the settings of its scenario.

use std::error::Error;

use esker::cpu::CpuEngine;
use esker::cpu::colouring::one_after_the_other;
use esker::cpu::manifolds::Manifolds;
use esker::engine::{Engine, StepReport};
use esker::gpu::GpuEngine;
use esker::gpu::device::{Device, DeviceChoice};
use esker::model::World;

use crate::program::Program;
use crate::scene::Scene;

/// An engine of esker with the scene in it.
pub struct EskerEngine {
    engine: Box<dyn Engine>,
    iterations: u32,
    /// Of the last steps.
    report: StepReport,
    steps: u64,
}

impl EskerEngine {
    /// In double precision on all cores.
    pub fn on_cpu(scene: &Scene) -> EskerEngine {
        let scenario = &scene.scenario;
        let engine = CpuEngine::new(scenario.world.clone(), scenario.settings);
        EskerEngine { engine: Box::new(engine), iterations: scenario.settings.iterations, report: StepReport::default(), steps: 0 }
    }

    /// In single precision on a graphics card, or what stands in for one.
    ///
    /// # Errors
    /// When there is no such device, or the scene does not fit it.
    pub fn on_gpu(scene: &Scene, choice: DeviceChoice) -> Result<EskerEngine, esker::error::Error> {
        let scenario = &scene.scenario;
        let engine = GpuEngine::new(Device::open(choice)?, scenario.world.clone(), scenario.settings)?;
        Ok(EskerEngine { engine: Box::new(engine), iterations: scenario.settings.iterations, report: StepReport::default(), steps: 0 })
    }
}

impl Program for EskerEngine {
    fn name(&self) -> String {
        format!("esker, {} iterations, {}", self.iterations, self.engine.identity().device)
    }

    fn advance(&mut self, steps: u64) -> Result<(), Box<dyn Error>> {
        (self.report, self.steps) = (self.engine.advance(steps)?, steps);
        Ok(())
    }

    fn tell(&mut self) {
        let Ok(snapshot) = self.engine.snapshot() else { return };
        let grains = snapshot.world.grain_count() as f64;
        let keys: Vec<_> = snapshot.contacts.iter().map(|contact| contact.key).collect();
        let order = one_after_the_other(keys.len());
        let mut manifolds = Manifolds::new(&snapshot.world, &keys, &order, &Manifolds::default());
        manifolds.find(&snapshot.world, None);
        let touches: Vec<_> = (0..keys.len() as u32).map(|contact| manifolds.get(contact)).collect();
        let rows = keys.len() as f64;
        let of_points = touches.iter().filter(|touch| touch.is_some()).count() as f64;
        let present: Vec<f64> = touches.iter().flatten().flatten().map(|touch| touch.gap).collect();
        let size = snapshot.world.spheres[0].contact_radius;
        let near = |reach: f64| present.iter().filter(|gap| **gap < reach * size).count() as f64 / grains;
        let active = snapshot.contacts.iter().filter(|contact| contact.is_active()).count() as f64;
        eprintln!("{}", self.name());
        eprintln!(
            "  rows per grain {:.2}, of manifolds {:.2}, with a point {:.2}, gap below 0.1 r {:.2}, 0.01 r {:.2}, 0: {:.2}, active {:.2}",
            rows / grains,
            of_points / grains,
            present.len() as f64 / grains,
            near(0.1),
            near(0.01),
            near(0.0),
            active / grains
        );
        let report = &self.report;
        eprintln!(
            "  colours {}, overflow {:.3}, searches {} in {} steps, sweeps {}, residuals {:?}, memory per grain {:.0} B",
            report.colours,
            report.overflow as f64 / report.contacts as f64,
            report.searches,
            self.steps,
            report.sweeps,
            report.residuals,
            self.engine.memory() as f64 / grains
        );
        for (stage, seconds) in &report.stages {
            eprintln!("  {stage}: {:.3} ms per step", seconds * 1e3 / self.steps as f64);
        }
    }

    fn world(&mut self) -> Result<World, Box<dyn Error>> {
        Ok(self.engine.snapshot()?.world)
    }
}
