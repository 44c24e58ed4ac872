//! The GPU engine of esker for a page in a browser: scenarios run on WebGPU, and give frames and quantities to JavaScript.
//!
//! ```js
//! const gpu = await Gpu.open();
//! const run = gpu.start("column", text, ["solver.iterations=20"]);   // a Promise
//! await run.step(4);
//! const frame = await run.frame(true);                               // bytes, see esker::render::packed
//! const [height] = await run.quantities(["height"]);
//! ```
//!
//! A browser does not let a page wait for its device: all that reads back is a promise, and one call of a run has to be over
//! before the next one begins.

use std::path::Path;

use esker::engine::{Residuals, StepReport};
use esker::gpu::device::{Device, DeviceChoice};
use esker::model::World;
use esker::observe::Expectation;
use esker::output::outline::{Room, boundaries_move};
use esker::render::packed::pack;
use esker::render::{Look, Show, frame_of};
use esker::scenario::Scenario;
use esker::simulation::{Simulation, device, steps_until};
use serde::Serialize;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn report(message: &str);
}

/// Has a panic tell the console of the browser what it was, instead of nothing.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| report(&panic.to_string())));
}

/// An open device.
#[wasm_bindgen]
pub struct Gpu {
    device: Device,
}

#[wasm_bindgen]
impl Gpu {
    /// Opens the device that the browser gives.
    ///
    /// # Errors
    /// When it gives none.
    pub async fn open() -> Result<Gpu, JsError> {
        Ok(Gpu { device: Device::open_async(DeviceChoice::Any).await? })
    }

    /// Name of the device, as far as the browser tells it.
    pub fn name(&self) -> String {
        self.device.identity().device
    }

    /// A scenario at its start, with changed values such as `solver.iterations=20`.
    ///
    /// # Errors
    /// All mistakes in the scenario, or what the device cannot take.
    pub async fn start(&self, name: String, text: String, changes: Vec<String>) -> Result<Run, JsError> {
        let scenario = Scenario::parse(&name, &text, Path::new(""), &changes)?;
        let engine = device::gpu(self.device.clone(), &scenario)?;
        let simulation = Simulation::on_async(&scenario, engine).await?;
        let mut run = Run::of(scenario, simulation);
        run.look().await?;
        Ok(run)
    }
}

/// A scenario that is being simulated.
#[wasm_bindgen]
pub struct Run {
    scenario: Scenario,
    simulation: Simulation<'static>,
    room: Room,
    /// Whether the page has the boundaries already, and they stay where they are.
    has_boundaries: bool,
}

/// What the page shows of a scenario.
#[derive(Serialize)]
struct Description<'a> {
    name: &'a str,
    title: &'a str,
    duration: f64,
    time_step: f64,
    iterations: u32,
    warm_start: &'static str,
    grains: usize,
    /// Where the camera stands: azimuth and elevation \[degrees\].
    camera: [f64; 2],
    /// Corners of the room of the scene \[m\].
    room: [[f64; 3]; 2],
    quantities: Vec<Quantity<'a>>,
    expectations: &'a [Expectation],
}

#[derive(Serialize)]
struct Quantity<'a> {
    name: &'a str,
    unit: &'a str,
}

/// What the last steps came to.
#[derive(Serialize)]
struct Report<'a> {
    time: f64,
    contacts: u64,
    sweeps: u32,
    residuals: &'a Residuals,
}

impl Run {
    fn of(scenario: Scenario, simulation: Simulation<'static>) -> Run {
        let sources = scenario.emitters.iter().map(|emitter| emitter.bounds());
        let room = sources.fold(Room::EMPTY, |room, (min, max)| room.with_source(min, max, &scenario.world));
        Run { scenario, simulation, room, has_boundaries: false }
    }

    /// Takes the room of the scene from its first state.
    async fn look(&mut self) -> Result<(), JsError> {
        let state = self.simulation.state_async().await?;
        let frame = frame_of(state, Show::Grains)?;
        self.room = self.room.with_balls(frame.spheres()).with_boundaries(&state.world, &frame.poses);
        Ok(())
    }
}

#[wasm_bindgen]
impl Run {
    /// Title, settings, quantities and expectations, as JSON.
    ///
    /// # Errors
    /// When they have no text.
    pub fn describe(&self) -> Result<String, JsError> {
        let columns = self.simulation.observer().columns();
        let scenario = &self.scenario;
        let world: &World = &scenario.world;
        let look = Look::of_scene(world);
        Ok(serde_json::to_string(&Description {
            name: &scenario.name,
            title: &scenario.title,
            duration: scenario.duration,
            time_step: scenario.settings.time_step,
            iterations: scenario.settings.iterations,
            warm_start: scenario.settings.warm_start.kind(),
            grains: world.grain_count(),
            camera: [look.azimuth_deg, look.elevation_deg],
            room: self.room.corners().map(|corner| corner.to_array()),
            quantities: columns
                .iter()
                .map(|column| Quantity { name: &column.name, unit: column.unit })
                .collect(),
            expectations: &scenario.expectations,
        })?)
    }

    /// Advances by so many time steps.
    ///
    /// # Errors
    /// When a step fails.
    pub async fn step(&mut self, steps: u32) -> Result<(), JsError> {
        Ok(self.simulation.step_async(u64::from(steps)).await?)
    }

    /// Steps from now to a time \[s\].
    #[wasm_bindgen(js_name = stepsUntil)]
    pub fn steps_until(&self, time: f64) -> u32 {
        let end = steps_until(time, self.scenario.settings.time_step);
        u32::try_from(end.saturating_sub(self.simulation.steps())).unwrap_or(u32::MAX)
    }

    /// Simulated time \[s\].
    pub fn time(&self) -> f64 {
        self.simulation.time()
    }

    /// Contacts, sweeps and residuals \[m/s\] of the last step, as JSON.
    ///
    /// # Errors
    /// When they have no text.
    pub fn report(&self) -> Result<String, JsError> {
        let StepReport { time, contacts, sweeps, ref residuals, .. } = *self.simulation.report();
        Ok(serde_json::to_string(&Report { time, contacts, sweeps, residuals })?)
    }

    /// The present state as bytes, with the forces of its contacts where they are asked for.
    ///
    /// # Errors
    /// When it cannot be read back.
    pub async fn frame(&mut self, forces: bool) -> Result<Vec<u8>, JsError> {
        let state = self.simulation.state_async().await?;
        let frame = frame_of(state, if forces { Show::Forces } else { Show::Grains })?;
        let moves = boundaries_move(&state.world);
        let outline = (moves || !self.has_boundaries).then(|| self.room.outline(&state.world, &frame.poses));
        self.has_boundaries = true;
        Ok(pack(&frame, outline.as_ref()))
    }

    /// Quantities of the present state by their names.
    ///
    /// # Errors
    /// When there is no such quantity, or the state cannot be read back.
    pub async fn quantities(&mut self, names: Vec<String>) -> Result<Vec<f64>, JsError> {
        self.simulation.state_async().await?;
        // Nothing is read back any more: the state is there.
        Ok(names.iter().map(|name| self.simulation.quantity(name)).collect::<Result<_, _>>()?)
    }

    /// Sweeps of the steps to come \[-\].
    ///
    /// # Errors
    /// When there are none, or too many.
    #[wasm_bindgen(js_name = setIterations)]
    pub fn set_iterations(&mut self, iterations: u32) -> Result<(), JsError> {
        Ok(self.simulation.set_iterations(iterations)?)
    }

    /// Gives friction and rolling resistance a factor of what the scenario says \[-\].
    ///
    /// # Errors
    /// When the state cannot be read back.
    #[wasm_bindgen(js_name = scaleFriction)]
    pub async fn scale_friction(&mut self, factor: f64) -> Result<(), JsError> {
        Ok(self.simulation.scale_friction_async(factor).await?)
    }
}
