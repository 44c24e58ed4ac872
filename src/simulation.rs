//! Simulations: a scene, from a file or from code, on an engine, to be stepped, observed and changed.
//!
//! ```no_run
//! use esker::simulation::{Device, Simulation};
//!
//! let scenario = esker::scenario::Scenario::load("scenarios/drum.toml".as_ref(), &[])?;
//! let mut simulation = Simulation::new(&scenario, Device::Auto)?;
//! while simulation.time() < 12.0 {
//!     simulation.step(100)?;
//!     let angle = simulation.quantity("dynamic_angle_deg")?;
//!     let highest = simulation.positions()?.iter().map(|place| place.z).fold(0.0, f64::max);
//!     println!("{angle}° {highest} m");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Emitters, sinks, drives and motions of the scenario act during the steps. The state is read back from the engine once and then
//! borrowed; where a thread may not wait for a device, `step_async`, `state_async` and so on return futures. [`run()`] uses the same
//! interface: it steps a simulation from output to output and writes the results into a folder.

mod arrivals;
mod change;
#[cfg(feature = "scenario")]
mod checkpoint;
pub mod device;
#[cfg(feature = "render")]
mod run;

use glam::DVec3;
use pollster::block_on;

use crate::engine::compatible::CompatiblePlan;
use crate::engine::{Engine, Identity, Occupied, Profiling, Snapshot, StepReport};
use crate::error::{Error, suggest};
use crate::model::{Clump, Materials, Plane, World, clump};
use crate::observe::energy::Balance;
use crate::observe::{Base, Observer};
use crate::scenario::Scenario;
use crate::settings::{Bookkeeping, Settings};
use crate::sources::{Emitter, FreeRoom};

pub use change::Target;
pub use device::Device;
#[cfg(feature = "render")]
pub use run::{Progress, Resumption, Run, RunOptions, Turn, answer, run};

/// Share of a step by which an event may be late before it moves to the next step. It covers the rounding of time / step for up to
/// 10⁹ steps.
const STEP_ROUNDING: f64 = 1e-6;

/// Callback, called at an interval of simulated time.
type Callback<'e> = Box<dyn FnMut(&mut Simulation<'e>) -> Result<(), Error> + Send + 'e>;

/// A scene on an engine. A simulation can be sent to another thread.
pub struct Simulation<'e> {
    engine: Box<dyn Engine + 'e>,
    settings: Settings,
    observer: Observer,
    /// Plan of the compatible forces that states contain.
    compatible: Option<CompatiblePlan>,
    clumps: Vec<Clump>,
    plane: Option<Plane>,
    /// The scenario with all defaults, and the names of the boundaries, for checkpoints.
    #[cfg(feature = "scenario")]
    resolved: String,
    /// The same with the paths of the copies of its files in the folder of its results, if it names files.
    #[cfg(feature = "scenario")]
    portable: Option<String>,
    #[cfg(feature = "scenario")]
    boundaries: Vec<String>,
    /// Error message of a step that failed: the engine is then ahead of the numbers here.
    failure: Option<String>,
    frictions: Frictions,
    emitters: Vec<Emitter>,
    /// Per emitter: number of grains that should have been placed by its last wave.
    requested: Vec<u64>,
    /// Number of all grains so far, removed ones included.
    grains: usize,
    step: u64,
    report: StepReport,
    /// The present state, once it has been read back.
    state: Option<Snapshot>,
    /// Bases of the rates of quantities.
    bases: Bases,
    callbacks: Vec<Timed<'e>>,
}

/// Bases of the rates of quantities: earlier states of which a quantity was asked for.
#[derive(Clone, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
struct Bases {
    /// Step of the last state of which a quantity was asked for.
    step: Option<u64>,
    /// Base of the rates of later states, taken from that state.
    last: Option<Base>,
    /// Base of the rates of that state, taken from the one before.
    before: Option<Base>,
}

/// Friction over time.
struct Frictions {
    /// Materials as in the scenario.
    materials: Materials,
    /// Start time \[s\] and factor \[-\] of friction and rolling resistance.
    factors: Vec<(f64, f64)>,
}

impl Frictions {
    fn of(scenario: &Scenario) -> Frictions {
        Frictions { materials: scenario.world.materials.clone(), factors: scenario.friction_factors.clone() }
    }

    /// The factors that start at this step or later, each with its step.
    fn starting_at(&self, step: u64, time_step: f64) -> impl Iterator<Item = (u64, f64)> {
        let steps = self.factors.iter().map(move |&(start, factor)| (steps_until(start, time_step), factor));
        steps.filter(move |&(due, _)| due >= step)
    }
}

/// Wave of the emitters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wave {
    /// That of the emitters whose wave is due at this step.
    OfSchedule,
    /// Wave of all emitters at the end of a run, for the grains that are due since their last one.
    Last,
}

/// A callback with its interval.
struct Timed<'e> {
    interval: Interval,
    call: Callback<'e>,
}

/// Multiples of an interval of simulated time, as steps.
#[derive(Debug, Clone, Copy)]
pub struct Interval {
    /// The interval \[s\].
    seconds: f64,
    time_step: f64,
    /// Number of multiples that have passed.
    passed: u64,
}

impl Interval {
    /// Makes the multiples of `seconds` \[s\] after `time` \[s\], in steps of `time_step` \[s\].
    pub fn after(time: f64, seconds: f64, time_step: f64) -> Interval {
        let mut interval = Interval { seconds, time_step, passed: 0 };
        interval.pass(time);
        interval
    }

    /// Step at whose end the next multiple is reached.
    pub fn next_step(&self) -> u64 {
        steps_until((self.passed + 1) as f64 * self.seconds, self.time_step)
    }

    /// Passes all multiples up to `time` \[s\].
    pub fn pass(&mut self, time: f64) {
        self.passed = ((time + STEP_ROUNDING * self.time_step) / self.seconds).floor() as u64;
    }
}

impl Simulation<'static> {
    /// Opens a scenario at its start on a device.
    ///
    /// # Errors
    /// When a number of the world is out of range ([`World::check`]), there is no such device, or the scene does not fit it.
    pub fn new(scenario: &Scenario, device: Device) -> Result<Simulation<'static>, Error> {
        scenario.world.check()?;
        Simulation::on(scenario, device::open(device, scenario)?)
    }

    /// Opens a world that was built in code on a device.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn of_world(world: World, settings: Settings, device: Device) -> Result<Simulation<'static>, Error> {
        Simulation::new(&Scenario::of_world(world, settings), device)
    }
}

impl<'e> Simulation<'e> {
    /// Opens a scenario at its start on an engine that holds its world.
    ///
    /// # Errors
    /// When the first state cannot be read back.
    pub fn on(scenario: &Scenario, engine: Box<dyn Engine + 'e>) -> Result<Simulation<'e>, Error> {
        block_on(Simulation::on_async(scenario, engine))
    }

    /// As [`Simulation::on`], without waiting for the device.
    ///
    /// # Errors
    /// As [`Simulation::on`].
    pub async fn on_async(
        scenario: &Scenario,
        mut engine: Box<dyn Engine + 'e>,
    ) -> Result<Simulation<'e>, Error> {
        let observer = match scenario.settings.bookkeeping {
            Bookkeeping::On => observer(scenario, Some(&engine.snapshot_async().await?)),
            Bookkeeping::Off => observer(scenario, None),
        };
        Ok(Simulation {
            engine,
            settings: scenario.settings,
            observer,
            compatible: scenario.compatible,
            clumps: scenario.world.clumps.clone(),
            plane: scenario.world.plane,
            #[cfg(feature = "scenario")]
            resolved: scenario.resolved.clone(),
            #[cfg(feature = "scenario")]
            portable: scenario.portable.text.clone(),
            #[cfg(feature = "scenario")]
            boundaries: checkpoint::names_of_boundaries(&scenario.world),
            failure: None,
            frictions: Frictions::of(scenario),
            emitters: scenario.emitters.clone(),
            requested: vec![0; scenario.emitters.len()],
            grains: scenario.world.grain_count(),
            step: 0,
            report: StepReport::default(),
            state: None,
            bases: Bases::default(),
            callbacks: Vec::new(),
        })
    }

    /// Engine, device and driver that the simulation runs on.
    pub fn identity(&self) -> Identity {
        self.engine.identity()
    }

    /// Simulated time \[s\].
    pub fn time(&self) -> f64 {
        self.step as f64 * self.settings.time_step
    }

    /// Number of steps done.
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// Number of all grains so far, which is the id that the next one gets.
    pub fn grains_so_far(&self) -> usize {
        self.grains
    }

    /// Report of the last steps.
    pub fn report(&self) -> &StepReport {
        &self.report
    }

    /// Bytes that the engine holds for the scene.
    pub fn memory(&self) -> u64 {
        self.engine.memory()
    }

    /// Sets whether stages are timed from now on, where that costs time.
    pub fn profile(&mut self, profiling: Profiling) {
        self.engine.profile(profiling);
    }

    /// Observer with the names and units of all quantities of this scene.
    pub fn observer(&self) -> &Observer {
        &self.observer
    }

    /// Advances by `steps` time steps. Emitters act, and callbacks are called, when they are due.
    ///
    /// # Errors
    /// When a step fails ([`Engine::advance`]), or a callback does.
    pub fn step(&mut self, steps: u64) -> Result<(), Error> {
        block_on(self.step_async(steps))
    }

    /// As [`Simulation::step`], without waiting for the device.
    ///
    /// # Errors
    /// As [`Simulation::step`].
    pub async fn step_async(&mut self, steps: u64) -> Result<(), Error> {
        let end = self.step + steps;
        while self.step < end {
            self.act_due().await?;
            self.advance(self.next_event().min(end) - self.step).await?;
            self.call_due()?;
        }
        // Nobody knows whether more steps follow, and what is due by now belongs to this state.
        self.emit_due(Wave::OfSchedule).await.map(drop)
    }

    /// Advances until the time `time` is reached \[s\].
    ///
    /// # Errors
    /// As [`Simulation::step`].
    pub fn run_until(&mut self, time: f64) -> Result<(), Error> {
        self.step(steps_until(time, self.settings.time_step).saturating_sub(self.step))
    }

    /// Registers a callback that is called at an interval of simulated time \[s\] from now on, at the end of a step.
    pub fn every(
        &mut self,
        seconds: f64,
        call: impl FnMut(&mut Simulation<'e>) -> Result<(), Error> + Send + 'e,
    ) {
        let interval = Interval::after(self.time(), seconds, self.settings.time_step);
        self.callbacks.push(Timed { interval, call: Box::new(call) });
    }

    /// The present state, read back from the engine once.
    ///
    /// # Errors
    /// When it cannot be read back, or a step failed before.
    pub fn state(&mut self) -> Result<&Snapshot, Error> {
        block_on(self.state_async())
    }

    /// As [`Simulation::state`], without waiting for the device. Later calls for the same state do not wait.
    ///
    /// # Errors
    /// As [`Simulation::state`].
    pub async fn state_async(&mut self) -> Result<&Snapshot, Error> {
        let state = match self.state.take() {
            Some(state) => state,
            None => {
                let state = self.engine.snapshot_async().await?;
                Snapshot { wanted: self.compatible.into(), ..state }
            }
        };
        Ok(self.state.insert(state))
    }

    /// What `of` makes of the world with all bodies in their present state; this takes less time than [`Simulation::state`] where contacts
    /// and loads are not needed.
    ///
    /// # Errors
    /// As [`Simulation::state`].
    ///
    /// # Panics
    /// Never.
    pub fn look<T>(&mut self, of: impl FnOnce(&World) -> T) -> Result<T, Error> {
        if let Some(state) = &self.state {
            return Ok(of(&state.world));
        }
        let (mut of, mut found) = (Some(of), None);
        self.engine.look(&mut |world| found = of.take().map(|of| of(world)))?;
        Ok(found.expect("an engine shows its world once"))
    }

    /// Centres of mass of the grains \[m\], by place. The place of a removed grain keeps its last position until another grain takes
    /// it; [`World::is_present`] tells which grains are present.
    ///
    /// # Errors
    /// As [`Simulation::state`].
    pub fn positions(&mut self) -> Result<&[DVec3], Error> {
        let world = &self.state()?.world;
        Ok(&world.bodies.position[world.grain_body(0)..])
    }

    /// Velocities of the grains \[m/s\], by place.
    ///
    /// # Errors
    /// As [`Simulation::state`].
    pub fn velocities(&mut self) -> Result<&[DVec3], Error> {
        let world = &self.state()?.world;
        Ok(&world.bodies.velocity[world.grain_body(0)..])
    }

    /// Value of a quantity in the present state by its name, as in the table of [`crate::observe::quantity::table`]. Rates are averages
    /// since the last state of which any quantity was asked for.
    ///
    /// # Errors
    /// When there is no such quantity, or as [`Simulation::state`].
    pub fn quantity(&mut self, name: &str) -> Result<f64, Error> {
        let Some(place) = self.observer.find(name) else {
            let known: Vec<&str> =
                self.observer.columns().iter().map(|column| column.name.as_str()).collect();
            return Err(unknown("quantity", name, &known));
        };
        self.state()?;
        let Some(state) = &self.state else { return Ok(f64::NAN) };
        if self.bases.step != Some(self.step) {
            let before = self.bases.last.take();
            self.bases.last = Some(self.observer.base(state, before.as_ref()));
            (self.bases.before, self.bases.step) = (before, Some(self.step));
        }
        Ok(self.observer.value(place, state, self.bases.before.as_ref()))
    }

    /// Applies the friction and the emitters that are due at this step; returns whether an emitter was due.
    async fn act_due(&mut self) -> Result<bool, Error> {
        self.set_friction_due().await?;
        self.emit_due(Wave::OfSchedule).await
    }

    /// Applies the factor of friction and rolling resistance that starts at this step.
    async fn set_friction_due(&mut self) -> Result<(), Error> {
        let step = self.step;
        let due = self.frictions.starting_at(step, self.settings.time_step).filter(|&(due, _)| due == step);
        let Some((_, factor)) = due.last() else { return Ok(()) };
        self.scale_friction_async(factor).await
    }

    /// Adds the grains of the emitters that have a wave; returns whether any has.
    async fn emit_due(&mut self, wave: Wave) -> Result<bool, Error> {
        let (step, time_step) = (self.step, self.settings.time_step);
        let has_wave = |emitter: &Emitter| {
            let is_due = |time: f64| wave == Wave::Last || steps_until(time, time_step) <= step;
            emitter.next_time().is_some_and(is_due)
        };
        if !self.emitters.iter().any(has_wave) {
            return Ok(false);
        }
        let Occupied { mut spheres, boundaries } = self.engine.occupied_async().await?;
        let mut grains = Vec::new();
        for (i, emitter) in self.emitters.iter_mut().enumerate().filter(|(_, emitter)| has_wave(emitter)) {
            let now = step as f64 * time_step;
            let time = match wave {
                // By rounding, a step can end just before the wave that it stands for.
                Wave::OfSchedule => emitter.next_time().unwrap_or_default().max(now),
                Wave::Last => now,
            };
            self.requested[i] = emitter.requested(time);
            let room = FreeRoom::within(boundaries, emitter.region(), emitter.largest_ball());
            let is_taken = |centre, radius| room.is_taken(centre, radius);
            let emitted = emitter.emit(time, spheres.iter().copied(), &is_taken);
            spheres.extend(emitted.iter().flat_map(|grain| clump::spheres_of(&self.clumps, grain)));
            grains.extend(emitted);
        }
        if !grains.is_empty() {
            self.add_overlapping_grains_async(&grains).await?;
        }
        Ok(true)
    }

    /// Advances by `steps` steps in which nothing else is due.
    async fn advance(&mut self, steps: u64) -> Result<(), Error> {
        self.state = None;
        let report = self.engine.advance_async(steps).await;
        self.report = report.inspect_err(|error| self.failure = Some(error.to_string()))?;
        self.step += steps;
        Ok(())
    }

    /// Step of the next wave of an emitter, change of friction or callback.
    fn next_event(&self) -> u64 {
        let waves = self.emitters.iter().filter_map(Emitter::next_time);
        let calls = self.callbacks.iter().map(|timed| timed.interval.next_step());
        let time_step = self.settings.time_step;
        let frictions = self.frictions.starting_at(self.step + 1, time_step).map(|(step, _)| step);
        let steps = waves.map(|time| steps_until(time, time_step)).chain(calls).chain(frictions);
        steps.min().unwrap_or(u64::MAX).max(self.step + 1)
    }

    fn call_due(&mut self) -> Result<(), Error> {
        let mut callbacks = std::mem::take(&mut self.callbacks);
        let mut result = Ok(());
        for Timed { interval, call } in &mut callbacks {
            if result.is_ok() && interval.next_step() <= self.step {
                interval.pass(self.time());
                result = call(self);
            }
        }
        // Callbacks that a callback has added come after it.
        callbacks.append(&mut self.callbacks);
        self.callbacks = callbacks;
        result
    }
}

/// The error for a name that is not among the known ones, with the nearest of these as advice.
fn unknown(what: &'static str, name: &str, known: &[&str]) -> Error {
    Error::Unknown {
        what,
        name: name.to_owned(),
        advice: format!("; {}", suggest(name, known.iter().copied())),
    }
}

/// Number of steps after which `time` \[s\] is reached, with a tolerance for rounding.
pub fn steps_until(time: f64, time_step: f64) -> u64 {
    (time / time_step - STEP_ROUNDING).ceil().max(0.0) as u64
}

/// Makes an observer of all quantities that a scenario asks for; of energies only where `first`, the initial state, is given.
pub fn observer(scenario: &Scenario, first: Option<&Snapshot>) -> Observer {
    let observer = Observer::new(&scenario.world, scenario.drum.as_ref())
        .with_cell(scenario.cell.as_ref())
        .with_surface(scenario.surface.as_ref())
        .with_fabric(scenario.fabric)
        .with_regions(&scenario.regions)
        .with_mixing(&scenario.mixing)
        .with_tracked(&scenario.tracked)
        .with_compatible(scenario.compatible.is_some());
    match first {
        Some(first) => observer.with_balance(Balance::opened_at(first, scenario.settings.normal_law)),
        None => observer,
    }
}
