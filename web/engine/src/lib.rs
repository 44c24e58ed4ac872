//! GPU engine of esker for a page in a browser: it runs scenarios on WebGPU, and gives frames and quantities to JavaScript.
//!
//! ```js
//! const gpu = await Gpu.open();
//! const run = gpu.start("column", text, ["solver.iterations=20"]);   // a Promise
//! await run.step(4);
//! const frame = await run.frame(true);                               // bytes, see esker::render::packed
//! const [height] = await run.quantities(["height"]);
//! ```
//!
//! A browser does not let a page block until its device is done. Every call that reads back is therefore a promise, and a call of a run
//! must be over before the next one begins.

use std::path::Path;

use esker::engine::{Residuals, StepReport};
use esker::gpu::device::{Device, DeviceChoice};
use esker::model::World;
use esker::observe::Expectation;
use esker::output::outline::{DrawnRoom, boundaries_move};
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

/// Sends the message of a panic to the console of the browser, which would otherwise show nothing of it.
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
    /// Opens the device of the browser.
    ///
    /// # Errors
    /// When the browser has no device.
    pub async fn open() -> Result<Gpu, JsError> {
        Ok(Gpu { device: Device::open_async(DeviceChoice::Any).await? })
    }

    /// Name of the device, as far as the browser tells the name.
    pub fn name(&self) -> String {
        self.device.identity().device
    }

    /// Starts a scenario, with changed values such as `solver.iterations=20`.
    ///
    /// # Errors
    /// All mistakes in the scenario, or the reason why the device cannot run it.
    pub async fn start(&self, name: String, text: String, changes: Vec<String>) -> Result<Run, JsError> {
        let scenario = Scenario::parse(&name, &text, Path::new(""), &changes)?;
        let engine = device::gpu(self.device.clone(), &scenario)?;
        let simulation = Simulation::on_async(&scenario, engine).await?;
        let mut run = Run::of(scenario, simulation);
        run.look().await?;
        Ok(run)
    }
}

/// Run of a scenario.
#[wasm_bindgen]
pub struct Run {
    scenario: Scenario,
    simulation: Simulation<'static>,
    room: DrawnRoom,
    /// Whether the page has received the boundaries already.
    has_boundaries: bool,
}

/// Description of a scenario, for the page.
#[derive(Serialize)]
struct Description<'a> {
    name: &'a str,
    title: &'a str,
    duration: f64,
    time_step: f64,
    iterations: u32,
    warm_start: &'static str,
    grains: usize,
    /// Azimuth and elevation of the camera \[degrees\].
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

/// Report on the last steps.
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
        let room =
            sources.fold(DrawnRoom::EMPTY, |room, (min, max)| room.with_source(min, max, &scenario.world));
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
    /// When they cannot be written as JSON.
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

    /// Advances by a number of time steps.
    ///
    /// # Errors
    /// When a step fails.
    pub async fn step(&mut self, steps: u32) -> Result<(), JsError> {
        Ok(self.simulation.step_async(u64::from(steps)).await?)
    }

    /// Number of steps from now to a time \[s\].
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
    /// When they cannot be written as JSON.
    pub fn report(&self) -> Result<String, JsError> {
        let StepReport { time, contacts, sweeps, ref residuals, .. } = *self.simulation.report();
        Ok(serde_json::to_string(&Report { time, contacts, sweeps, residuals })?)
    }

    /// Present state as bytes, with the forces of its contacts if `forces` is set.
    ///
    /// # Errors
    /// When the state cannot be read back.
    pub async fn frame(&mut self, forces: bool) -> Result<Vec<u8>, JsError> {
        let state = self.simulation.state_async().await?;
        let frame = frame_of(state, if forces { Show::Forces } else { Show::Grains })?;
        let moves = boundaries_move(&state.world);
        let outline = (moves || !self.has_boundaries).then(|| self.room.outline(&state.world, &frame.poses));
        self.has_boundaries = true;
        Ok(pack(&frame, &state.world, outline.as_ref()))
    }

    /// Values of quantities in the present state, by their names.
    ///
    /// # Errors
    /// When there is no such quantity, or the state cannot be read back.
    pub async fn quantities(&mut self, names: Vec<String>) -> Result<Vec<f64>, JsError> {
        self.simulation.state_async().await?;
        // The state is on the host already, so nothing more is read back.
        Ok(names.iter().map(|name| self.simulation.quantity(name)).collect::<Result<_, _>>()?)
    }

    /// Sets the number of sweeps in the steps to come \[-\].
    ///
    /// # Errors
    /// When the number is zero or too large.
    #[wasm_bindgen(js_name = setIterations)]
    pub fn set_iterations(&mut self, iterations: u32) -> Result<(), JsError> {
        Ok(self.simulation.set_iterations(iterations)?)
    }

    /// Multiplies the friction and rolling resistance of the scenario by a factor \[-\].
    ///
    /// # Errors
    /// When the state cannot be read back.
    #[wasm_bindgen(js_name = scaleFriction)]
    pub async fn scale_friction(&mut self, factor: f64) -> Result<(), JsError> {
        Ok(self.simulation.scale_friction_async(factor).await?)
    }
}
