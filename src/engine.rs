//! Interface of an engine, and what it reports.

mod balance;
pub mod blame;
pub(crate) mod clock;
pub mod compatible;
#[cfg(feature = "scenario")]
pub(crate) mod consistent;
pub mod convergence;
pub mod heat;
mod impacts;
#[cfg(feature = "scenario")]
pub mod saved;
pub mod share;
mod snapshot;
pub mod stages;

use std::fmt;
use std::future::Future;
#[cfg(feature = "scenario")]
use std::io::Write;
use std::pin::Pin;

use glam::DVec3;

use crate::contact::{Impulse, Key};
use crate::error::Error;
use crate::law::guard::{LARGEST_GAIN, WATCHED_MASS_RATIO};
use crate::model::{AppliedForce, Grain, World};
use crate::settings::{Acceleration, MODEL_GAMMA, Method, Settings, TRAVEL_LIMIT, WarmStart};

pub use self::balance::{EnergyBalance, Entries};
pub(crate) use self::impacts::ELASTIC;
pub use self::impacts::{IMPACT_GAIN, ImpactStages, Impacts, most_impact_sweeps};
pub use self::snapshot::{Snapshot, TotalImpulse, WantedForces};

/// Future of a call that a device has to answer. It has to be driven to its end: a future that is dropped on the way leaves an engine whose
/// state on the device is ahead of what the engine knows.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + 'a>>;

/// Steps a world forward in time.
///
/// Every call that reads back from a device comes in two forms: one that waits, and one that gives a future, for threads that may not wait.
/// Saving has no future, as it goes to files. An engine that computes on the spot implements the first form alone, which the second then
/// calls.
pub trait Engine: Send {
    /// Identity of the engine: engine, device, driver.
    fn identity(&self) -> Identity;

    /// Advances by `steps` time steps.
    ///
    /// # Errors
    /// When a step fails. The CPU engine is then at the last good substep; the GPU engine has no state to show any more, and results
    /// written before remain.
    fn advance(&mut self, steps: u64) -> Result<StepReport, Error>;

    /// Returns the present state.
    ///
    /// # Errors
    /// When it cannot be read back, or a step failed before.
    fn snapshot(&mut self) -> Result<Snapshot, Error>;

    /// Returns what new grains have to keep clear of.
    ///
    /// # Errors
    /// When it cannot be read back.
    fn occupied(&mut self) -> Result<Occupied<'_>, Error>;

    /// Adds grains.
    ///
    /// # Errors
    /// When there is no room on the device, or a period is too short for them.
    fn add_grains(&mut self, grains: &[Grain]) -> Result<(), Error>;

    /// Lets `change` change the world between two steps: gravity, velocities, motions of boundaries, which grains are present. It must not
    /// add or move bodies or shapes. The kinetic energy that comes or goes with the change counts as that of added or removed grains.
    ///
    /// # Errors
    /// As [`Engine::snapshot`].
    fn change(&mut self, change: &mut dyn FnMut(&mut World)) -> Result<(), Error>;

    /// Lets `look` see the world with all bodies in their present state. A snapshot has contacts and loads besides, which take longer to
    /// read.
    ///
    /// # Errors
    /// As [`Engine::snapshot`].
    fn look(&mut self, look: &mut dyn FnMut(&World)) -> Result<(), Error> {
        look(&self.snapshot()?.world);
        Ok(())
    }

    /// Sets the applied forces of bodies between two steps, as [`World::set_forces`] does.
    ///
    /// # Errors
    /// As [`Engine::snapshot`].
    fn set_forces(&mut self, forces: &[AppliedForce]) -> Result<(), Error> {
        self.change(&mut |world| world.set_forces(forces))
    }

    /// Sets the impulses \[N s, N m s\], sorted by key, from which the contacts of the first step start, as if they were those of the step
    /// before.
    ///
    /// # Errors
    /// When there is no room on the device.
    fn seed(&mut self, impulses: &[(Key, Impulse)]) -> Result<(), Error>;

    /// Sets the largest number of sweeps of the substeps to come \[-\]; from 1 to [`MOST_ITERATIONS`](crate::settings::MOST_ITERATIONS).
    fn set_iterations(&mut self, iterations: u32);

    /// Writes the state for [`Engine::restore`] without changing it.
    ///
    /// # Errors
    /// When it cannot be read back or written, or a step failed before.
    #[cfg(feature = "scenario")]
    fn save(&mut self, out: &mut dyn Write) -> Result<(), Error>;

    /// Goes on from a state that an engine of the same kind saved, of a world with the same boundaries. The settings stay those of this
    /// engine.
    ///
    /// # Errors
    /// When the state is of another kind, or does not fit the device.
    #[cfg(feature = "scenario")]
    fn restore(&mut self, state: &[u8]) -> Result<(), Error>;

    /// Future of [`Engine::advance`].
    fn advance_async(&mut self, steps: u64) -> Pending<'_, StepReport> {
        Box::pin(async move { self.advance(steps) })
    }

    /// Future of [`Engine::snapshot`].
    fn snapshot_async(&mut self) -> Pending<'_, Snapshot> {
        Box::pin(async move { self.snapshot() })
    }

    /// Future of [`Engine::occupied`].
    fn occupied_async(&mut self) -> Pending<'_, Occupied<'_>> {
        Box::pin(async move { self.occupied() })
    }

    /// Future of [`Engine::add_grains`].
    fn add_grains_async<'a>(&'a mut self, grains: &'a [Grain]) -> Pending<'a, ()> {
        Box::pin(async move { self.add_grains(grains) })
    }

    /// Future of [`Engine::change`].
    fn change_async<'a>(&'a mut self, change: &'a mut dyn FnMut(&mut World)) -> Pending<'a, ()> {
        Box::pin(async move { self.change(change) })
    }

    /// The parts of a state that lies on several ranks, where no process has the whole of it.
    fn parts(&mut self) -> Option<&mut dyn Parts> {
        None
    }

    /// Bytes that the engine holds for the scene.
    fn memory(&self) -> u64;

    /// Sets whether stages are timed from now on. An engine that times them at no cost always does.
    fn profile(&mut self, _profiling: Profiling) {}
}

/// What new grains have to keep clear of: grains and boundaries at their present places.
pub struct Occupied<'a> {
    /// Centres \[m\] and radii \[m\] of the spheres of all grains that are present.
    pub spheres: Vec<(DVec3, f64)>,
    /// World with the boundaries at their present places; its grains may be those of an earlier state.
    pub boundaries: &'a World,
}

impl<'a> Occupied<'a> {
    /// What is occupied in a world that is wholly at its present state.
    pub fn of(world: &'a World) -> Occupied<'a> {
        Occupied { spheres: world.present_spheres(), boundaries: world }
    }
}

/// State that lies on several ranks, of which each can be asked about its part.
pub trait Parts {
    /// Asks all ranks the same question, each about a state with its part, and returns the answer of the first. They join what they find by
    /// the [share](share::Share) of that state.
    ///
    /// # Errors
    /// That of the first rank.
    fn ask(&mut self, question: Vec<u8>) -> Result<Vec<u8>, Error>;
}

/// Function that answers the questions to the parts of a state.
pub type Answer = fn(&[u8], &Snapshot) -> Result<Vec<u8>, Error>;

/// A borrowed engine is an engine, too.
impl<E: Engine + ?Sized> Engine for &mut E {
    fn identity(&self) -> Identity {
        (**self).identity()
    }

    fn advance(&mut self, steps: u64) -> Result<StepReport, Error> {
        (**self).advance(steps)
    }

    fn snapshot(&mut self) -> Result<Snapshot, Error> {
        (**self).snapshot()
    }

    fn occupied(&mut self) -> Result<Occupied<'_>, Error> {
        (**self).occupied()
    }

    fn add_grains(&mut self, grains: &[Grain]) -> Result<(), Error> {
        (**self).add_grains(grains)
    }

    fn change(&mut self, change: &mut dyn FnMut(&mut World)) -> Result<(), Error> {
        (**self).change(change)
    }

    fn look(&mut self, look: &mut dyn FnMut(&World)) -> Result<(), Error> {
        (**self).look(look)
    }

    fn set_forces(&mut self, forces: &[AppliedForce]) -> Result<(), Error> {
        (**self).set_forces(forces)
    }

    fn seed(&mut self, impulses: &[(Key, Impulse)]) -> Result<(), Error> {
        (**self).seed(impulses)
    }

    fn set_iterations(&mut self, iterations: u32) {
        (**self).set_iterations(iterations);
    }

    #[cfg(feature = "scenario")]
    fn save(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        (**self).save(out)
    }

    #[cfg(feature = "scenario")]
    fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        (**self).restore(state)
    }

    fn advance_async(&mut self, steps: u64) -> Pending<'_, StepReport> {
        (**self).advance_async(steps)
    }

    fn snapshot_async(&mut self) -> Pending<'_, Snapshot> {
        (**self).snapshot_async()
    }

    fn occupied_async(&mut self) -> Pending<'_, Occupied<'_>> {
        (**self).occupied_async()
    }

    fn add_grains_async<'a>(&'a mut self, grains: &'a [Grain]) -> Pending<'a, ()> {
        (**self).add_grains_async(grains)
    }

    fn change_async<'a>(&'a mut self, change: &'a mut dyn FnMut(&mut World)) -> Pending<'a, ()> {
        (**self).change_async(change)
    }

    fn parts(&mut self) -> Option<&mut dyn Parts> {
        (**self).parts()
    }

    fn memory(&self) -> u64 {
        (**self).memory()
    }

    fn profile(&mut self, profiling: Profiling) {
        (**self).profile(profiling);
    }
}

/// Whether some pair of materials has a [wide cone](crate::law::guard::WIDE_CONE).
pub fn has_wide_cones(settings: &Settings, world: &World) -> bool {
    world.materials.laws().iter().any(|law| law.has_wide_cone(settings.rolling_arm))
}

/// Whether friction and rolling may make energy in a substep, through the impulses that it starts from or for want of sweeps \[E12\].
pub fn is_guarded(settings: &Settings, world: &World) -> bool {
    match settings.warm_start {
        // Springs give back the energy that they hold, and no more.
        _ if settings.method == Method::Smooth => false,
        // The works of impulses that were not applied mean nothing.
        WarmStart::NoVelocityUpdate { .. } => false,
        _ => gains_at_once(settings, world) || world.mass_ratio() > WATCHED_MASS_RATIO,
    }
}

/// Whether the impulses that a substep starts from, or the cones of its contacts, may make much energy within this substep \[E12\].
fn gains_at_once(settings: &Settings, world: &World) -> bool {
    settings.warm_start == WarmStart::Model || has_wide_cones(settings, world)
}

/// Largest share of the kinetic energy that friction and rolling may make within one substep \[E12\] \[-\], beside the limit over the whole
/// run. Where only the masses call for a guard there is no such limit: grains at rest under a heavy body show gains that the next substeps
/// take back, and a substep from a cold start would not support the body.
pub fn largest_gain_at_once(settings: &Settings, world: &World) -> f64 {
    if gains_at_once(settings, world) { LARGEST_GAIN } else { f64::INFINITY }
}

/// Speed that contacts may add to a body in a substep of `h` \[s\], where the largest grain has this diameter \[m\]. It has no limit
/// without grains, as there is nothing that a plate could then pass through.
pub fn speed_limit(diameter: f64, h: f64) -> f64 {
    if diameter > 0.0 { TRAVEL_LIMIT * diameter / h } else { f64::INFINITY }
}

/// Impulse per slip velocity in the model start \[kg\]: h/γ \[E7\], which goes to the bound of any cone. Under wide cones that would make
/// energy: the factor is 0 there, and friction and rolling start from zero.
pub fn model_gain(settings: &Settings, world: &World) -> f64 {
    if has_wide_cones(settings, world) { 0.0 } else { settings.substep() / MODEL_GAMMA }
}

/// Settings that a world is solved with: those given, but plain sweeps under wide cones, and where solids may stand on each other \[E12\]:
/// the points of a face depend on each other, and accelerated sweeps throw towers of ten boxes over.
pub fn prudent(settings: &Settings, world: &World) -> Settings {
    let is_accelerated = settings.acceleration != Acceleration::None;
    let is_sound = !is_accelerated || !(has_wide_cones(settings, world) || world.solids_may_stack());
    Settings { acceleration: if is_sound { settings.acceleration } else { Acceleration::None }, ..*settings }
}

/// Indices of the grains that came since the last step, ascending. Contacts that an engine still lists at these indices are of other
/// grains.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Newcomers(Vec<usize>);

impl Newcomers {
    /// Adds the indices of grains that came.
    pub fn add(&mut self, places: Vec<usize>) {
        self.0.extend(places);
        self.0.sort_unstable();
    }

    /// Forgets all newcomers, after a step.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns those of the contacts that are not listed at the index of a newcomer; `most` is the room for them.
    pub fn without_theirs(
        &self,
        world: &World,
        contacts: impl Iterator<Item = (Key, Impulse)>,
        most: usize,
    ) -> Vec<(Key, Impulse)> {
        let is_new =
            |shape| world.grain_of_shape(shape).is_some_and(|grain| self.0.binary_search(&grain).is_ok());
        // A filtered iterator has no known length: the list would grow to more room than it needs.
        let mut found = Vec::with_capacity(most);
        found.extend(contacts.filter(|(key, _)| !is_new(key.a) && !is_new(key.b)));
        found
    }
}

/// Whether an engine times its stages where timing costs time: a GPU then takes one pass per stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profiling {
    /// No timing: steps run as fast as they can.
    #[default]
    Off,
    /// Times the first step of every submission stage by stage, as far as the device has timestamps.
    On,
}

/// Number of contacts that memory is planned for: equal spheres at random close packing have 3 each, and 1 more within the margin.
pub fn planned_contacts(spheres: usize) -> usize {
    spheres.saturating_mul(4).saturating_add(64)
}

/// Engine and device of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
pub struct Identity {
    /// Engine: "gpu" or "cpu".
    pub engine: &'static str,
    /// Name of the adapter or processor.
    pub device: String,
    /// Driver and its version, or the number of threads.
    pub driver: String,
    /// Interface: Vulkan, Metal, DX12, or rayon.
    pub backend: String,
    /// Precision of the engine's arithmetic.
    pub precision: Precision,
}

/// Precision of an engine's arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
pub enum Precision {
    /// 32 bits.
    Single,
    /// 64 bits.
    Double,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({}, {})", self.engine, self.device, self.backend, self.driver)
    }
}

/// Mean and maximum of a quantity over contacts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Maximum.
    pub max: f64,
}

/// Natural-map residuals by kind of constraint \[E8\].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Residuals {
    /// Normal \[m/s\].
    pub normal: Spread,
    /// Friction \[m/s\].
    pub friction: Spread,
    /// Rolling and twisting \[rad/s\].
    pub rolling: Spread,
}

/// Report of the last call of [`Engine::advance`].
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct StepReport {
    /// Steps done since the start.
    pub step: u64,
    /// Simulated time \[s\].
    pub time: f64,
    /// Contacts in the last step (gap below the margin when they were searched for).
    pub contacts: u64,
    /// Colours in the last step that hold a contact; 0 in sequential order.
    pub colours: u32,
    /// Contacts without a colour in the last step, solved by mass splitting; in sequential order all of them.
    pub overflow: u64,
    /// Steps of this call that searched for contacts; the others kept the contacts of the step before, as no grain and no boundary could
    /// have moved half the skin.
    pub searches: u64,
    /// Sweeps in the last substep.
    pub sweeps: u32,
    /// Residuals at the end of the last substep.
    pub residuals: Residuals,
    /// Objective of the convex problem of the last substep \[E15\] \[J\], where the engine knows it; computed for a [`Snapshot`] only.
    pub objective: Option<f64>,
    /// Result of the impact stage of the last substep.
    pub impacts: Impacts,
    /// Impact stages since the start, and how many of them ran out of sweeps.
    pub impact_stages: ImpactStages,
    /// Wall seconds per stage in this call; empty where the engine does not time them. A GPU times them on request ([`Engine::profile`]):
    /// one step of each submission is timed, and stands for the others.
    #[cfg_attr(feature = "scenario", serde(skip))]
    pub stages: Vec<(&'static str, f64)>,
    /// Dispatches of a GPU in one step; none on the CPU engine.
    #[cfg_attr(feature = "scenario", serde(skip))]
    pub dispatches: Dispatches,
    /// Sweeps and solves since the start.
    pub work: Work,
}

/// Sweeps and solves since the start of a run, as far as an engine counts them; the impact stage is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Work {
    /// Sweeps of all substeps; not known to a GPU that stops sweeping at a tolerance.
    pub sweeps: Option<u64>,
    /// Number of contacts per sweep, summed over the sweeps; not known to a GPU.
    pub contact_sweeps: Option<u64>,
    /// Substeps that were solved again, as friction and rolling had made energy \[E12\].
    #[cfg_attr(feature = "scenario", serde(default))]
    pub solved_again: u64,
}

impl Work {
    /// Adds the sweeps of a substep over this many contacts.
    pub fn add(&mut self, sweeps: u32, contacts: u64) {
        let sweeps = u64::from(sweeps);
        *self.sweeps.get_or_insert(0) += sweeps;
        *self.contact_sweeps.get_or_insert(0) += sweeps * contacts;
    }
}

/// Numbers of dispatches that a GPU runs one after the other, empty ones included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dispatches {
    /// In one step.
    pub per_step: u32,
    /// In one sweep over the contacts: those of all sweeps and of what follows them over the number of sweeps, rounded down; 0 where none
    /// was made.
    pub per_sweep: u32,
    /// In one step, stage by stage.
    pub stages: Vec<(&'static str, u32)>,
}

/// Adds wall seconds to the total of a stage.
pub fn add_stage_time(stages: &mut Vec<(&'static str, f64)>, stage: &'static str, seconds: f64) {
    match stages.iter_mut().find(|(name, _)| *name == stage) {
        Some((_, total)) => *total += seconds,
        None => stages.push((stage, seconds)),
    }
}
