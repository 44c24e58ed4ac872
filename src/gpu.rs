//! The GPU engine: every stage in WGSL, many steps per submission, no waiting inside a step.
//!
//! The stages are listed in [`step`]; `shaders/` holds one file per stage. Positions are anchored (an
//! integer cell and an offset in it), every list is ordered by keys and prefix sums, and a buffer that
//! is too small halts the steps on the device until the host has grown it: no contact is ever dropped.

mod buffers;
mod capacity;
#[cfg(feature = "scenario")]
pub mod checkpoint;
#[cfg(feature = "scenario")]
mod consistent;
pub mod constants;
pub mod copy;
mod counted;
pub mod device;
mod engine;
pub mod ensemble;
mod failure;
mod features;
mod halted;
mod inspect;
mod kernel;
mod launcher;
pub mod layout;
mod many_worlds;
mod pipelines;
mod probe;
mod readback;
pub mod shader;
mod state;
pub mod step;
mod timing;
pub mod traffic;

use std::sync::Arc;

use bytemuck::Pod;
use glam::DMat3;

use crate::contact::{Impulse, Key};
use crate::engine::blame::too_long_for_joints;
use crate::engine::{EnergyBalance, Newcomers, StepReport, Work, add_stage_time, prudent};
use crate::error::Error;
use crate::model::{Grain, World, contact_reach};
use crate::settings::{Bookkeeping, Settings};

use device::Device;
use ensemble::{Ensemble, LaunchAnswer, LaunchResults, Request, Slot, Wanted};
use features::Features;
use halted::ImpactSweeps;
use layout::{Anchors, LoadScale, Loads, Params, Status, Totals};
use step::{Method, Pace};

pub use capacity::{Capacity, LODGERS, room_of};
pub use kernel::STEEPEST;
pub use pipelines::{SceneKernel, kernels_of};

/// Largest number of steps in one submission: drivers reset a device that is busy for seconds.
const STEPS_PER_SUBMISSION: u64 = 32;
/// Largest number of sweeps in one submission, for the same reason.
const SWEEPS_PER_SUBMISSION: u64 = 1000;
/// Number of steps without rebuild of the neighbour list and without impacts after which the next steps are encoded without both.
const CALM_AFTER: u64 = 16;

/// The engine on a graphics device, or on a software adapter.
pub struct GpuEngine {
    /// Buffers and kernels, those of an ensemble where the world is launched with others.
    slot: Slot,
    world: World,
    settings: Settings,
    /// Features of the world, for which its kernels are compiled.
    features: Features,
    /// Stages of a step, and its solver.
    method: &'static Method,
    anchors: Anchors,
    /// Status that the last submission left, from which the next one starts.
    status: Status,
    /// Number of steps since the last one with a rebuild of the neighbour list or with impacts.
    calm_steps: u64,
    newcomers: Newcomers,
    /// Contacts with the impulses from which the first step starts; empty after it.
    seeds: Vec<(Key, Impulse)>,
    /// Largest number of steps in the next submission. A substep that has to be solved again makes the steps after it in its submission
    /// useless: the number then falls to 1, and doubles with every submission.
    steps_at_once: u64,
    /// Sweeps over the impacts of a substep that a submission holds. Impacts that need more halt it, and go on in another one.
    impact_sweeps: ImpactSweeps,
    substeps_done: u64,
    start_time: f64,
    report: StepReport,
    /// Energy balance: sum of the works of all substeps \[J\].
    balance: EnergyBalance,
    loads: Loads,
    /// Sums of impulse times arm of every grain up to the last change of the world; the device has those since then. Empty unless the world
    /// measures them.
    grain_stresses: Vec<DMat3>,
    /// Message of the first failure. The state on the device is then that of an unfinished step.
    failure: Option<String>,
    /// What limits the step of the machines at the start, if it is too long for them \[E11\].
    warning: Option<String>,
}

/// Initial capacity of the buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Capacity for the present grains, and for their contacts in a dense packing.
    Estimated,
    /// Capacity for this number of grains, later ones included, and for their contacts in a dense packing.
    Grains(usize),
    /// Capacity for exactly this number of contacts, for tests that start with too little.
    Contacts(u32),
}

impl GpuEngine {
    /// Creates an engine in the state of `world`, on an open device.
    ///
    /// # Errors
    /// When a buffer does not fit the device, a shader is refused, or a period is too short for the grains.
    ///
    /// # Panics
    /// If the settings are invalid (see [`Settings::validate`]).
    pub fn new(device: Device, world: World, settings: Settings) -> Result<GpuEngine, Error> {
        GpuEngine::with_room(device, world, settings, Room::Estimated)
    }

    /// Creates an engine like [`GpuEngine::new`], with the given initial capacity of the buffers.
    ///
    /// # Errors
    /// As [`GpuEngine::new`].
    ///
    /// # Panics
    /// As [`GpuEngine::new`].
    pub fn with_room(
        device: Device,
        world: World,
        settings: Settings,
        room: Room,
    ) -> Result<GpuEngine, Error> {
        GpuEngine::in_ensemble(&Ensemble::new(device, 1)?, world, settings, room)
    }

    /// Creates an engine like [`GpuEngine::with_room`] whose world is launched together with the others of an ensemble. Engines
    /// of an ensemble step in threads of their own: each waits for the others, for as long as the last launch took and at least 50 ms.
    ///
    /// # Errors
    /// As [`GpuEngine::new`], and when the ensemble has no room for another world.
    ///
    /// # Panics
    /// As [`GpuEngine::new`].
    pub fn in_ensemble(
        ensemble: &Arc<Ensemble>,
        world: World,
        settings: Settings,
        room: Room,
    ) -> Result<GpuEngine, Error> {
        assert!(settings.validate().is_ok(), "settings are validated before an engine is made");
        world.periodic.check(contact_reach(world.largest_radius(), settings.reach()))?;
        let settings = prudent(&settings, &world);
        let grains = world.spheres.iter().map(|sphere| (sphere.material, sphere.radius));
        layout::check_single(&world, &settings, grains)?;
        let features = Features::of(&world, &settings);
        let slot = ensemble.join(features, &Capacity::for_world(&world, &settings, room))?;
        let anchors = Anchors::for_world(&world, &settings);
        let warning = too_long_for_joints(&world, settings.substep());
        let engine = GpuEngine {
            loads: Loads::none(LoadScale::of(&world, &anchors), &world, settings.substep()),
            grain_stresses: vec![DMat3::ZERO; if world.measures_grains { world.grain_count() } else { 0 }],
            anchors,
            start_time: world.time,
            method: step::method_of(&settings),
            balance: EnergyBalance::opened_at(&world),
            slot,
            world,
            settings,
            features,
            status: Status { search: 1, ..Status::default() },
            calm_steps: 0,
            newcomers: Newcomers::default(),
            seeds: Vec::new(),
            steps_at_once: STEPS_PER_SUBMISSION,
            impact_sweeps: ImpactSweeps::of(&settings),
            substeps_done: 0,
            report: StepReport { work: Work { sweeps: Some(0), ..Work::default() }, ..StepReport::default() },
            failure: None,
            warning,
        };
        engine.device().check()?;
        engine.upload_world()?;
        let totals = Totals::opened_with(engine.balance.initial_kinetic);
        engine.slot.write("totals", bytemuck::bytes_of(&totals));
        Ok(engine)
    }

    /// Compiles the kernels from edited shaders, for tests that break a law on purpose.
    ///
    /// # Errors
    /// When an edited shader is refused.
    ///
    /// # Panics
    /// When the text of an edit is in no shader.
    pub fn edit_shaders(&mut self, edits: &[shader::Edit]) -> Result<(), Error> {
        for shader::Edit { from, .. } in edits {
            assert!(
                shader::SOURCES.iter().any(|source| source.text().contains(from)),
                "no shader has the text `{from}`"
            );
        }
        self.slot.edit(edits)
    }

    /// Returns the device that the engine runs on.
    pub fn device(&self) -> &Device {
        self.slot.device()
    }

    /// Reads the first `count` elements of a buffer.
    async fn read_list<T: Pod>(&self, buffer: &str, count: usize) -> Result<Vec<T>, Error> {
        let bytes = self.slot.read(&[(buffer, (count * size_of::<T>()) as u64)]).await?;
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }

    /// Reads the number of contacts in the neighbour list; at most the capacity.
    async fn contact_count(&self) -> Result<usize, Error> {
        Ok(self.read_status().await?.contacts.min(self.slot.capacity().contacts) as usize)
    }

    fn upload_world(&self) -> Result<(), Error> {
        let drains = self.world.drains();
        let sinks = drains.iter().map(|sink| &sink.position);
        let mut positions = self.world.bodies.position.iter().chain(sinks);
        positions.try_for_each(|&position| self.anchors.check_reach(position))?;
        let write = |name, bytes: &[u8]| self.slot.write(name, bytes);
        write(
            "poses",
            bytemuck::cast_slice(&layout::poses(&self.world, &self.anchors, self.settings.substep())),
        );
        write("velocities", bytemuck::cast_slice(&layout::velocities(&self.world)));
        write("spheres", bytemuck::cast_slice(&layout::spheres(&self.world)));
        let machines = layout::Machines::of(&self.world);
        write("machines", bytemuck::cast_slice(&machines.list));
        write("machine_bodies", bytemuck::cast_slice(&machines.bodies));
        let joints = machines.joints(&self.world, &self.anchors, self.settings.substep());
        write("joints", bytemuck::cast_slice(&joints));
        let rigids = layout::rigids(&self.world);
        write("rigids", bytemuck::cast_slice(&rigids));
        write("surfaces", &layout::surfaces_and_meshes(&self.world));
        write("sinks", bytemuck::cast_slice(&layout::sinks(&self.world, &self.anchors)));
        write("meters", bytemuck::cast_slice(&layout::meters(&self.world, &self.anchors)));
        write("laws", bytemuck::cast_slice(&layout::laws(&self.world, &self.settings)));
        self.upload_params();
        Ok(())
    }

    fn upload_params(&self) {
        let capacity = self.slot.capacity();
        let params = Params::new(&self.world, &self.settings, &self.anchors, capacity.for_contacts());
        self.slot.write("params", &params.to_bytes());
    }

    /// Uploads the drives of the joints in the next `steps` steps, and the states of the boundaries at the ends of their substeps. The
    /// states know the paths of the boundaries in one step more: the last step decides whether the step after it needs a rebuild.
    fn upload_schedule(&self, steps: u64) {
        let substeps = (steps + 1) * u64::from(self.settings.substeps);
        let h = self.settings.substep();
        let ends = (1..=substeps).map(|i| self.start_time + (self.substeps_done + i) as f64 * h);
        let of_steps = ends.clone().take((steps * u64::from(self.settings.substeps)) as usize);
        let drives = layout::joint_drives(&self.world, of_steps, h);
        if !drives.is_empty() {
            self.slot.write("joint_drives", bytemuck::cast_slice(&drives));
        }
        let schedule = layout::schedule(&self.world, &self.anchors, ends, h, self.settings.substeps as usize);
        if !schedule.is_empty() {
            self.slot.write("schedule", bytemuck::cast_slice(&schedule));
        }
    }

    /// Launches up to `steps` steps and returns how many were done. Measures the residuals after the last of them, if `measures`.
    async fn submit_steps(&mut self, steps: u64, measures: bool) -> Result<u64, Error> {
        self.upload_schedule(steps);
        let request = Request {
            steps,
            pace: self.pace(),
            status: Status { search: self.status.search, ..kept(&self.status) },
            features: self.features,
            method: self.method,
            settings: self.with_recorded_impacts(),
            measures,
            wanted: self.wanted(steps, if measures { self.slot.capacity().contacts } else { 0 }),
        };
        let LaunchAnswer { results, dispatches, stages } = self.slot.launch(request).await?;
        self.check_progress(&results.status, steps * u64::from(self.settings.substeps))?;
        let status = self.take_works(&results);
        for (stage, seconds) in stages {
            // One step is timed; the time counts for each step of the submission.
            add_stage_time(&mut self.report.stages, stage, seconds * f64::from(status.step));
        }
        self.report.dispatches = dispatches;
        self.take_status(&status).await?;
        if measures && u64::from(status.step) == steps {
            self.report.residuals = state::summed(&results.residuals, status.contacts as usize);
            return Ok(steps);
        }
        let substeps = self.settings.substeps;
        let left = substeps - (status.substep - status.step * substeps);
        let done = u64::from(status.step) + self.finish_halted(status, left).await?;
        if measures && done == steps {
            self.report.residuals = self.residuals().await?;
        }
        Ok(done)
    }

    /// Checks that a submission of this many substeps did some of them, or names the reason why not.
    fn check_progress(&self, status: &Status, substeps: u64) -> Result<(), Error> {
        if advances(status, substeps) {
            return Ok(());
        }
        let (per_step, done) = (u64::from(self.settings.substeps), u64::from(status.substep));
        let steps = substeps.div_ceil(per_step);
        Err(self.idle(format!(
            "it ended a submission of {steps} steps, did {} of them and gave no reason to halt",
            done / per_step
        )))
    }

    /// Error of a device that computes nothing.
    fn idle(&self, seen: String) -> Error {
        self.device().idle(seen)
    }

    /// Returns the results of `steps` steps that are to be read, with the residuals of up to `measured` contacts.
    fn wanted(&self, steps: u64, measured: u32) -> Wanted {
        let booked = match self.settings.bookkeeping {
            Bookkeeping::On => steps * u64::from(self.settings.substeps),
            Bookkeeping::Off => 0,
        };
        Wanted { booked, loads: self.loads.bytes(), blocks: u64::from(measured).div_ceil(64) }
    }

    /// Adds the works of the substeps of a submission to the energy balance, and its impulses on the boundaries to the loads. Returns the
    /// status after the submission.
    fn take_works(&mut self, results: &LaunchResults) -> Status {
        let LaunchResults { status, works, loads, .. } = results;
        self.loads.add(loads);
        // The works are added one by one: the sum must not depend on the number of steps per submission.
        works.iter().take(status.substep as usize).for_each(|works| self.balance += layout::entry(works));
        *status
    }

    /// Returns the pace of the next submission: calm after `CALM_AFTER` steps without rebuilds and impacts. Steps of several substeps are
    /// never calm, as such a step cannot halt between its substeps and be repeated.
    fn pace(&self) -> Pace {
        if self.settings.substeps == 1 && self.calm_steps >= CALM_AFTER { Pace::Calm } else { Pace::Full }
    }

    /// Writes the status with which a submission begins, and sets the sums of the loads on boundaries to zero.
    fn write_status(&self, status: &Status) {
        self.slot.write_status(status, self.loads.bytes());
    }

    /// Takes over the status after a submission: counts its steps, grows a buffer that was too small, and returns an error if the state
    /// is bad (`HALT_FAILED`).
    async fn take_status(&mut self, status: &Status) -> Result<(), Error> {
        self.substeps_done += u64::from(status.substep);
        self.world.time = self.start_time + self.substeps_done as f64 * self.settings.substep();
        self.report.step += u64::from(status.step);
        self.report.time = self.world.time;
        self.count_sweeps(u64::from(status.substep));
        self.status = *status;
        self.report.searches += u64::from(status.searches);
        self.impact_sweeps.adapt(status, &self.settings, &self.world);
        let is_calm = status.searches + status.bounces + (status.halted & layout::HALT_BUSY) == 0;
        self.calm_steps = if is_calm { self.calm_steps + u64::from(status.step) } else { 0 };
        if status.halted & layout::HALT_FAILED != 0 {
            return Err(self.failure(status).await);
        }
        if status.halted & layout::HALT_CONTACTS != 0 {
            return self.make_room_for(status.contacts);
        }
        if status.halted & layout::HALT_OVERFLOW != 0 {
            return self.grow(&self.slot.capacity().with_overflow(status.overflow));
        }
        self.report.contacts = u64::from(status.contacts);
        self.report.colours = status.colours.count_ones();
        self.report.overflow = u64::from(status.overflow);
        self.report.impacts = status.impacts_of_last_substep();
        self.report.impact_stages.join(&status.impact_stages());
        let counted = self.settings.tolerance > 0.0;
        self.report.sweeps = if counted { status.sweeps } else { self.settings.iterations };
        Ok(())
    }

    /// Counts the sweeps of `substeps` substeps. With a tolerance the total stays unknown, as only the device knows the number of sweeps.
    fn count_sweeps(&mut self, substeps: u64) {
        let sweeps = substeps * u64::from(self.settings.iterations);
        let is_known = self.settings.tolerance == 0.0;
        self.report.work.sweeps = self.report.work.sweeps.filter(|_| is_known).map(|so_far| so_far + sweeps);
    }

    fn make_room_for(&mut self, contacts: u32) -> Result<(), Error> {
        self.grow(&self.slot.capacity().with_contacts(contacts, self.slot.largest_buffer()))
    }

    fn grow(&mut self, capacity: &Capacity) -> Result<(), Error> {
        self.slot.grow(capacity)?;
        self.upload_params();
        Ok(())
    }

    async fn advance_steps(&mut self, steps: u64) -> Result<StepReport, Error> {
        self.report.stages.clear();
        self.report.searches = 0;
        if steps > 0 {
            self.newcomers.clear();
            self.seeds.clear();
        }
        let passes = match self.settings.method {
            crate::settings::Method::Nonsmooth => self.settings.iterations,
            crate::settings::Method::Smooth => 1,
        };
        // The smooth method solves no contact problem, so it leaves no residuals.
        let solves = self.settings.method == crate::settings::Method::Nonsmooth;
        let mut left = steps;
        while left > 0 {
            let passes = passes + self.impact_sweeps.beyond(&self.settings);
            let sweeps = u64::from(self.settings.substeps) * u64::from(passes);
            let most = (SWEEPS_PER_SUBMISSION / sweeps).clamp(1, STEPS_PER_SUBMISSION);
            let next = left.min(most).min(self.steps_at_once);
            left -= self.submit_steps(next, solves && next == left).await?;
        }
        Ok(self.report.clone())
    }

    /// Adds grains. The cells of the grid grow with the largest grain, the buffers with the number of grains.
    async fn extend_world(&mut self, grains: &[Grain]) -> Result<(), Error> {
        let largest = grains.iter().map(|grain| grain.radius).fold(0.0, f64::max);
        self.world.periodic.check(contact_reach(largest, self.settings.reach()))?;
        let mut places = Vec::new();
        self.change_world(&mut |world| places = world.add_grains(grains.iter().copied())).await?;
        for &place in places.iter().filter(|_| self.world.measures_grains) {
            self.grain_stresses[place] = DMat3::ZERO;
        }
        self.newcomers.add(places);
        Ok(())
    }

    /// Changes the world between two steps, and uploads it again.
    async fn change_world(&mut self, change: &mut dyn FnMut(&mut World)) -> Result<(), Error> {
        self.pull_world().await?;
        // The units of the sums follow from the world.
        self.grain_stresses = self.read_grain_stresses().await?;
        let before = self.world.kinetic_energy();
        change(&mut self.world);
        self.world.solids.forget_sheets();
        self.balance.note_change(self.world.kinetic_energy() - before);
        layout::Machines::of(&self.world).check()?;
        self.anchors = Anchors::for_world(&self.world, &self.settings);
        self.loads = self.loads.scaled(LoadScale::of(&self.world, &self.anchors));
        self.status.search = 1;
        self.features = Features::of(&self.world, &self.settings);
        let capacity = self.slot.capacity().enough_for(&self.world, self.features);
        self.slot.prepare(self.features, &capacity)?;
        if self.world.measures_grains {
            self.grain_stresses.resize(self.world.grain_count(), DMat3::ZERO);
            self.slot.write("grain_loads", &vec![0; 4 * layout::STRESS_WORDS * self.grain_stresses.len()]);
        }
        self.upload_world()
    }

    /// Keeps the message of the first failure, and adds the time of the last good state to the error of a lost device.
    fn note_failure<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        result.map_err(|error| {
            let error = error.at_time(self.world.time);
            self.failure.get_or_insert_with(|| error.to_string());
            error
        })
    }

    /// Refuses access to the state after a failed step: the velocities on the device are those that failed.
    fn refuse_after_failure(&self) -> Result<(), Error> {
        match &self.failure {
            Some(reason) => Err(Error::NoState { reason: reason.clone() }),
            None => Ok(()),
        }
    }
}

/// Whether the status after a submission of this many substeps tells of progress: some substeps done and not more than were asked for, or
/// a reason to halt.
fn advances(status: &Status, substeps: u64) -> bool {
    let done = u64::from(status.substep);
    done <= substeps && (done > 0 || status.halted != 0)
}

/// Returns the part of the status that a submission takes over from the last one: the neighbour list and its colouring.
fn kept(status: &Status) -> Status {
    let Status { remembered, contacts, colours, overflow, listed, sides, tiles, tiled, coloured, .. } =
        *status;
    Status {
        remembered,
        contacts,
        colours,
        overflow,
        listed,
        sides,
        tiles,
        tiled,
        coloured,
        ..Status::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that computes nothing leaves zeros, or what was there before.
    #[test]
    fn a_submission_makes_progress_where_it_did_a_step_or_names_why_not() {
        let status = |substep, halted| Status { substep, halted, ..Status::default() };
        let halts = [layout::HALT_CONTACTS, layout::HALT_OVERFLOW, layout::HALT_BUSY, layout::HALT_GAIN];
        assert!(halts.into_iter().all(|halted| advances(&status(0, halted), 4)));
        assert!(advances(&status(4, 0), 4) && advances(&status(1, layout::HALT_BUSY), 4));
        assert!(!advances(&status(0, 0), 4), "nothing was done");
        assert!(!advances(&status(5, 0), 4), "more was done than asked for");
    }
}
