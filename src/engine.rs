//! What an engine does, and what it tells.

pub(crate) mod clock;
pub mod compatible;
pub mod convergence;
#[cfg(feature = "scenario")]
pub mod saved;
pub mod stages;

use std::fmt;
use std::future::Future;
#[cfg(feature = "scenario")]
use std::io::Write;
use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::pin::Pin;

use glam::DVec3;

use self::compatible::CompatibleForces;
use crate::contact::{ContactState, Impulse, Key};
use crate::error::Error;
use crate::model::{Grain, Joint, PairLaw, Touch, World};
use crate::settings::{
    Acceleration, Damping, JOINT_DAMPING_STEPS, LARGEST_GAIN, MODEL_GAMMA, Method, NormalLaw, Settings,
    WATCHED_MASS_RATIO, WIDE_CONE, WarmStart,
};

/// What comes of a call that a device has to answer. It is to be driven to its end: one that is dropped on the way leaves an engine
/// whose state on the device is ahead of what the engine knows.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + 'a>>;

/// Steps a world forward in time.
///
/// Every call that reads back from a device comes in two forms: one that waits, and one that gives a future, for where a thread may not
/// wait; but for saving, which goes to files. An engine that computes on the spot has the first alone, which the second then does.
pub trait Engine: Send {
    /// What runs: engine, device, driver.
    fn identity(&self) -> Identity;

    /// Advances by `steps` time steps.
    ///
    /// # Errors
    /// When a step fails. The CPU engine is then at the last good substep; the GPU engine has no state to
    /// show any more, and what was written before stands.
    fn advance(&mut self, steps: u64) -> Result<StepReport, Error>;

    /// The present state.
    ///
    /// # Errors
    /// When it cannot be read back, or a step failed before.
    fn snapshot(&mut self) -> Result<Snapshot, Error>;

    /// Centres \[m\] and radii \[m\] of the spheres of the grains that are there; what an emitter keeps clear of.
    ///
    /// # Errors
    /// When they cannot be read back.
    fn present_spheres(&mut self) -> Result<Vec<(DVec3, f64)>, Error>;

    /// Adds grains.
    ///
    /// # Errors
    /// When there is no room on the device, or a period is too short for them.
    fn add_grains(&mut self, grains: &[Grain]) -> Result<(), Error>;

    /// Lets `change` change the world between two steps: gravity, velocities, motions of boundaries, which grains are there. Bodies and
    /// shapes are not to be added or moved. Kinetic energy that comes or goes with it counts as that of grains that come or go.
    ///
    /// # Errors
    /// As [`Engine::snapshot`].
    fn change(&mut self, change: &mut dyn FnMut(&mut World)) -> Result<(), Error>;

    /// Has the first step start from contacts with these impulses \[N s, N m s\], sorted by key, as if they were those of the step before.
    ///
    /// # Errors
    /// When there is no room on the device.
    fn seed(&mut self, impulses: &[(Key, Impulse)]) -> Result<(), Error>;

    /// Has the substeps to come be solved in so many sweeps at most \[-\]; from 1 to [`MOST_ITERATIONS`](crate::settings::MOST_ITERATIONS).
    fn set_iterations(&mut self, iterations: u32);

    /// Writes the state for [`Engine::restore`], as it is, and changes nothing of it.
    ///
    /// # Errors
    /// When it cannot be read back or written, or a step failed before.
    #[cfg(feature = "scenario")]
    fn save(&mut self, out: &mut dyn Write) -> Result<(), Error>;

    /// Goes on from a state that an engine of this kind saved, of a world with the same boundaries. Settings stay those of this engine.
    ///
    /// # Errors
    /// When the state is of another kind, or does not fit the device.
    #[cfg(feature = "scenario")]
    fn restore(&mut self, state: &[u8]) -> Result<(), Error>;

    /// As [`Engine::advance`].
    fn advance_async(&mut self, steps: u64) -> Pending<'_, StepReport> {
        Box::pin(async move { self.advance(steps) })
    }

    /// As [`Engine::snapshot`].
    fn snapshot_async(&mut self) -> Pending<'_, Snapshot> {
        Box::pin(async move { self.snapshot() })
    }

    /// As [`Engine::present_spheres`].
    fn present_spheres_async(&mut self) -> Pending<'_, Vec<(DVec3, f64)>> {
        Box::pin(async move { self.present_spheres() })
    }

    /// As [`Engine::add_grains`].
    fn add_grains_async<'a>(&'a mut self, grains: &'a [Grain]) -> Pending<'a, ()> {
        Box::pin(async move { self.add_grains(grains) })
    }

    /// As [`Engine::change`].
    fn change_async<'a>(&'a mut self, change: &'a mut dyn FnMut(&mut World)) -> Pending<'a, ()> {
        Box::pin(async move { self.change(change) })
    }

    /// Bytes that the engine holds for the scene.
    fn memory(&self) -> u64;

    /// Whether stages are to be timed from now on. An engine that times them at no cost always does.
    fn profile(&mut self, _profiling: Profiling) {}
}

/// A borrowed engine is one, too.
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

    fn present_spheres(&mut self) -> Result<Vec<(DVec3, f64)>, Error> {
        (**self).present_spheres()
    }

    fn add_grains(&mut self, grains: &[Grain]) -> Result<(), Error> {
        (**self).add_grains(grains)
    }

    fn change(&mut self, change: &mut dyn FnMut(&mut World)) -> Result<(), Error> {
        (**self).change(change)
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

    fn present_spheres_async(&mut self) -> Pending<'_, Vec<(DVec3, f64)>> {
        (**self).present_spheres_async()
    }

    fn add_grains_async<'a>(&'a mut self, grains: &'a [Grain]) -> Pending<'a, ()> {
        (**self).add_grains_async(grains)
    }

    fn change_async<'a>(&'a mut self, change: &'a mut dyn FnMut(&mut World)) -> Pending<'a, ()> {
        (**self).change_async(change)
    }

    fn memory(&self) -> u64 {
        (**self).memory()
    }

    fn profile(&mut self, profiling: Profiling) {
        (**self).profile(profiling);
    }
}

/// Whether some pair of materials has a [wide cone](WIDE_CONE).
pub fn has_wide_cones(settings: &Settings, world: &World) -> bool {
    let arm = settings.rolling_arm.in_effective_radii();
    let is_wide = |law: &PairLaw| law.friction.max(arm * law.rolling_resistance) > WIDE_CONE;
    world.materials.laws().iter().any(is_wide)
}

/// Whether friction and rolling may make energy in a substep, in what they start from or for want of sweeps \[E12\].
pub fn is_guarded(settings: &Settings, world: &World) -> bool {
    match settings.warm_start {
        // Springs give back what they hold, and no more.
        _ if settings.method == Method::Smooth => false,
        // The works of what was not applied mean nothing.
        WarmStart::NoVelocityUpdate { .. } => false,
        _ => gains_at_once(settings, world) || world.mass_ratio() > WATCHED_MASS_RATIO,
    }
}

/// Whether what a substep starts from, or the cones of its contacts, may make much energy in it alone \[E12\].
fn gains_at_once(settings: &Settings, world: &World) -> bool {
    settings.warm_start == WarmStart::Model || has_wide_cones(settings, world)
}

/// Share of the kinetic energy that friction and rolling may make within one substep \[E12\] \[-\], beside what they may make over the run.
/// Where nothing but the masses calls for a guard there is no such limit: grains at rest under a heavy body book gains that the next
/// substeps take back, and a substep that starts from nothing would not support it.
pub fn largest_gain_at_once(settings: &Settings, world: &World) -> f64 {
    if gains_at_once(settings, world) { LARGEST_GAIN } else { f64::INFINITY }
}

/// Impulse with which the model start answers to a slip \[kg\]: h/γ \[E7\], which goes to the bound of any cone. Under wide cones that
/// would make energy, and friction and rolling start from zero.
pub fn model_gain(settings: &Settings, world: &World) -> f64 {
    if has_wide_cones(settings, world) { 0.0 } else { settings.substep() / MODEL_GAMMA }
}

/// Normal damping of the smooth method \[E13\]: η_n over √(m* S) \[-\], or over the slope S of the force where it is viscoelastic \[s\].
///
/// Hertz's contact returns with exactly its restitution with √(10/3) ζ √(m* S), Hooke's with 2 ζ √(m* S), ζ = -ln e/√(ln² e + π²)
/// (Tsuji et al. 1992).
pub fn spring_damping(normal_law: NormalLaw, damping: Damping, pair: &PairLaw) -> f64 {
    let is_hertz = normal_law == NormalLaw::Hertz;
    if damping == Damping::Viscoelastic {
        // d(k δ^n)/dt times c over n: c δ^½ dδ/dt under Hertz's law.
        return if is_hertz { pair.damping / 1.5 } else { pair.damping };
    }
    let logarithm = pair.restitution.max(LEAST_RESTITUTION).ln();
    let share = -logarithm / (logarithm * logarithm + std::f64::consts::PI.powi(2)).sqrt();
    if is_hertz { (10.0f64 / 3.0).sqrt() * share } else { 2.0 * share }
}

/// Restitution that stands for none \[-\]: its logarithm is that of a damping within 3 % of critical.
const LEAST_RESTITUTION: f64 = 1e-6;

/// Υ of a joint in a substep of `h` \[s\] \[E11\]. A rigid one with less damping than half a substep would swing for ever.
pub fn joint_upsilon(joint: &Joint, h: f64) -> f64 {
    let is_rigid = joint.compliance == 0.0 && joint.angular_compliance == 0.0;
    let least = if is_rigid { 0.5 * h } else { 0.0 };
    1.0 / (1.0 + 4.0 * joint.damping_time.unwrap_or(JOINT_DAMPING_STEPS * h).max(least) / h)
}

/// The settings that a world is solved with: under wide cones sweeps are plain \[E12\].
pub fn prudent(settings: &Settings, world: &World) -> Settings {
    let is_sound = settings.acceleration == Acceleration::None || !has_wide_cones(settings, world);
    Settings { acceleration: if is_sound { settings.acceleration } else { Acceleration::None }, ..*settings }
}

/// Places of the grains that came since the last step, ascending: the contacts that an engine lists there are of others.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Newcomers(Vec<usize>);

impl Newcomers {
    /// Notes the places of grains that came.
    pub fn add(&mut self, places: Vec<usize>) {
        self.0.extend(places);
        self.0.sort_unstable();
    }

    /// Nobody is new after a step.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Those of these contacts, of which there are `most`, that are not listed in the place of a newcomer.
    pub fn without_theirs(
        &self,
        world: &World,
        contacts: impl Iterator<Item = (Key, Impulse)>,
        most: usize,
    ) -> Vec<(Key, Impulse)> {
        let is_new =
            |shape| world.grain_of_shape(shape).is_some_and(|grain| self.0.binary_search(&grain).is_ok());
        // What is filtered has no known length: it would grow to more room than it needs.
        let mut found = Vec::with_capacity(most);
        found.extend(contacts.filter(|(key, _)| !is_new(key.a) && !is_new(key.b)));
        found
    }
}

/// Whether an engine times its stages where that costs time: a GPU then takes a pass per stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profiling {
    /// As fast as it goes.
    #[default]
    Off,
    /// The first step of every submission stage by stage, as far as the device has timestamps.
    On,
}

/// Contacts that memory is planned for: equal spheres at random close packing have 3 each, and 1 within the margin.
pub fn planned_contacts(spheres: usize) -> usize {
    spheres.saturating_mul(4).saturating_add(64)
}

/// What runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
pub struct Identity {
    /// "gpu" or "cpu".
    pub engine: &'static str,
    /// Name of the adapter or processor.
    pub device: String,
    /// Driver and its version, or the number of threads.
    pub driver: String,
    /// Interface: Vulkan, Metal, DX12, or rayon.
    pub backend: String,
    /// Precision it computes in.
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

/// What came of the impacts of a substep \[E6\].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Impacts {
    /// Sweeps of all rounds; 0 where nothing bounced.
    pub sweeps: u32,
    /// What the last sweep changed at most, D |Δλ|, or the speed of a contact that still closes, whichever is more \[m/s\].
    pub residual: f64,
}

/// What happened in the last call of [`Engine::advance`].
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
    /// Steps of this call that searched for contacts; the others went on with those of the step before, as no grain
    /// could have moved half the margin.
    pub searches: u64,
    /// Sweeps in the last substep.
    pub sweeps: u32,
    /// Residuals at the end of the last substep.
    pub residuals: Residuals,
    /// What the convex problem of the last substep makes least \[E15\] \[J\], where the engine knows it.
    pub objective: Option<f64>,
    /// What came of the impacts of the last substep.
    pub impacts: Impacts,
    /// Wall seconds per stage in this call; empty where the engine does not time them. A GPU does so where it is told
    /// to ([`Engine::profile`]): one step of each submission is timed, and stands for the others.
    #[cfg_attr(feature = "scenario", serde(skip))]
    pub stages: Vec<(&'static str, f64)>,
    /// What a device is told in one step; nothing on the CPU engine.
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
    /// Contacts swept over, summed over the sweeps; not known to a GPU.
    pub contact_sweeps: Option<u64>,
    /// Substeps that were solved again, as friction and rolling had made energy \[E12\].
    #[cfg_attr(feature = "scenario", serde(default))]
    pub solved_again: u64,
}

impl Work {
    /// Books the sweeps of a substep over so many contacts.
    pub fn add(&mut self, sweeps: u32, contacts: usize) {
        let sweeps = u64::from(sweeps);
        *self.sweeps.get_or_insert(0) += sweeps;
        *self.contact_sweeps.get_or_insert(0) += sweeps * contacts as u64;
    }
}

/// Dispatches of a step: what a GPU is told, one after the other, empty ones included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dispatches {
    /// In one step.
    pub per_step: u32,
    /// In one sweep over the contacts; 0 where none was made.
    pub per_sweep: u32,
    /// In one step, stage by stage.
    pub stages: Vec<(&'static str, u32)>,
}

/// Adds wall seconds to those of a stage.
pub fn add_stage_time(stages: &mut Vec<(&'static str, f64)>, stage: &'static str, seconds: f64) {
    match stages.iter_mut().find(|(name, _)| *name == stage) {
        Some((_, total)) => *total += seconds,
        None => stages.push((stage, seconds)),
    }
}

/// Where the kinetic energy went since the start of the run \[E10\], all in J. Work is counted as done on the
/// bodies, so what dissipates is negative.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct EnergyBalance {
    /// Kinetic energy of the free bodies at the start, translation and rotation.
    pub initial_kinetic: f64,
    /// Kinetic energy that added grains came with.
    pub emitted_energy: f64,
    /// Kinetic energy that grains had when a sink took them.
    pub removed_energy: f64,
    /// Work of gravity, and of applied forces and torques.
    pub gravity_work: f64,
    /// Work of the boundaries that are not dynamic, of the joints with their drives, and of whatever holds a locked axis.
    pub boundary_work: f64,
    /// Work of normal impulses: what they store elastically or dissipate.
    pub normal_work: f64,
    /// Work of friction impulses, those of the impact stage included.
    pub friction_work: f64,
    /// Work of rolling and twisting impulses, those of the impact stage included.
    pub rolling_work: f64,
    /// Work of the normal impulses of the impact stage.
    pub impact_work: f64,
    /// What the impact stage has in `friction_work`.
    pub impact_friction_work: f64,
    /// What the impact stage has in `rolling_work`.
    pub impact_rolling_work: f64,
}

impl EnergyBalance {
    /// The empty balance of a run that starts from `world`.
    pub fn opened_at(world: &World) -> EnergyBalance {
        EnergyBalance { initial_kinetic: world.kinetic_energy(), ..EnergyBalance::default() }
    }

    /// Books kinetic energy that came with a change of the world, or went with it if it is negative \[J\].
    pub fn note_change(&mut self, gained: f64) {
        self.emitted_energy += gained.max(0.0);
        self.removed_energy += (-gained).max(0.0);
    }

    /// Closure error: the change of the kinetic energy, now `kinetic_energy` \[J\], less all that is booked
    /// \[J\]. It is rounding, unless an impulse was applied and not booked, or booked and not applied.
    /// A box that tumbles adds the error of its rotation, of fourth order in the substep \[E1\].
    pub fn error(&self, kinetic_energy: f64) -> f64 {
        let booked = self.works().iter().sum::<f64>() + self.emitted_energy - self.removed_energy;
        kinetic_energy - self.initial_kinetic - booked
    }

    /// What friction and rolling made out of nothing, impacts apart \[J\]: their works on the bodies in sum, 0 where they took
    /// energy out. In sum, as a contact that sticks may spin a grain up by friction and stop it by rolling resistance.
    pub fn made(&self) -> f64 {
        let of_impacts = self.impact_friction_work + self.impact_rolling_work;
        (self.friction_work + self.rolling_work - of_impacts).max(0.0)
    }

    /// What the closure error is to be measured against \[J\]: the initial kinetic energy or the sum of all
    /// that was booked, whatever its sign; the larger of the two.
    pub fn turnover(&self) -> f64 {
        let works = self.works().iter().map(|work| work.abs()).sum::<f64>();
        self.initial_kinetic.max(works + self.emitted_energy + self.removed_energy)
    }

    fn works(&self) -> [f64; 6] {
        [
            self.gravity_work,
            self.boundary_work,
            self.normal_work,
            self.friction_work,
            self.rolling_work,
            self.impact_work,
        ]
    }
}

impl Add for EnergyBalance {
    type Output = EnergyBalance;

    fn add(self, other: EnergyBalance) -> EnergyBalance {
        EnergyBalance {
            initial_kinetic: self.initial_kinetic + other.initial_kinetic,
            emitted_energy: self.emitted_energy + other.emitted_energy,
            removed_energy: self.removed_energy + other.removed_energy,
            gravity_work: self.gravity_work + other.gravity_work,
            boundary_work: self.boundary_work + other.boundary_work,
            normal_work: self.normal_work + other.normal_work,
            friction_work: self.friction_work + other.friction_work,
            rolling_work: self.rolling_work + other.rolling_work,
            impact_work: self.impact_work + other.impact_work,
            impact_friction_work: self.impact_friction_work + other.impact_friction_work,
            impact_rolling_work: self.impact_rolling_work + other.impact_rolling_work,
        }
    }
}

impl AddAssign for EnergyBalance {
    fn add_assign(&mut self, other: EnergyBalance) {
        *self = *self + other;
    }
}

impl Sum for EnergyBalance {
    fn sum<I: Iterator<Item = EnergyBalance>>(entries: I) -> EnergyBalance {
        entries.fold(EnergyBalance::default(), Add::add)
    }
}

/// What contacts gave a boundary since the start of the run, those that bounced included.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct TotalImpulse {
    /// Impulse \[N s\].
    pub linear: DVec3,
    /// Angular impulse about the position of the boundary's body, where that was \[N m s\].
    pub angular: DVec3,
}

impl AddAssign for TotalImpulse {
    fn add_assign(&mut self, other: TotalImpulse) {
        self.linear += other.linear;
        self.angular += other.angular;
    }
}

/// A state of the world, the same whichever engine made it.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Bodies, shapes and materials.
    pub world: World,
    /// Contacts of the last step, with gaps at the committed positions, sorted by key; before the first
    /// step those of the initial state.
    pub contacts: Vec<ContactState>,
    /// Length of the substep the impulses belong to \[s\]: force = impulse / substep.
    pub substep: f64,
    /// Report of the last step.
    pub report: StepReport,
    /// Per boundary: what contacts gave it since the start.
    pub impulses: Vec<TotalImpulse>,
    /// Where the kinetic energy went; `None` where nobody keeps account
    /// ([`Bookkeeping::Off`](crate::settings::Bookkeeping::Off)).
    pub balance: Option<EnergyBalance>,
    /// Normal forces that belong to overlaps \[E16\], where a scenario asks for them.
    pub compatible: Option<CompatibleForces>,
}

impl Snapshot {
    /// Normal force of each contact over the last substep \[N\].
    pub fn normal_forces(&self) -> Vec<f64> {
        self.contacts.iter().map(|contact| contact.impulse.normal / self.substep).collect()
    }

    /// What normal forces of the contacts do to each body \[N\].
    pub fn pushed_by(&self, normal_forces: &[f64]) -> Vec<DVec3> {
        let mut pushed = vec![DVec3::ZERO; self.world.bodies.len()];
        for (contact, force) in self.contacts.iter().zip(normal_forces) {
            let [a, b] = contact.bodies.map(|body| body as usize);
            pushed[a] += *force * contact.normal;
            pushed[b] -= *force * contact.normal;
        }
        pushed
    }

    /// Bytes that taking one of this many grains needs.
    pub fn planned_bytes(world: &World, grains: usize) -> u64 {
        let per_contact = size_of::<(Key, Impulse)>() + size_of::<ContactState>();
        let contacts = planned_contacts(world.planned_spheres(grains));
        world.planned_bytes(grains) + (contacts * per_contact) as u64
    }

    /// Bytes that one of this many grains holds once it is taken.
    pub fn planned_holdings(world: &World, grains: usize) -> u64 {
        let contacts = planned_contacts(world.planned_spheres(grains)) * size_of::<ContactState>();
        world.planned_bytes(grains) + contacts as u64
    }

    /// Puts a state together, without a balance and with boundaries that nothing has touched yet: gaps and normals come from the
    /// positions in `world`.
    pub fn new(world: World, impulses: Vec<(Key, Impulse)>, substep: f64, report: StepReport) -> Snapshot {
        let settings = Settings { time_step: substep, ..Settings::default() };
        Snapshot::of_solved(world, impulses, &[], &settings, report)
    }

    /// As [`Snapshot::new`], solved with these settings, where spheres belong to these sides of patches of meshes, in ascending order of the contacts: 1 where the faces look, -1
    /// behind them, 0 unknown.
    pub fn of_solved(
        world: World,
        impulses: Vec<(Key, Impulse)>,
        sides: &[(Key, i8)],
        settings: &Settings,
        report: StepReport,
    ) -> Snapshot {
        let state = |(key, impulse): (Key, Impulse)| {
            let touch = world.touch(key.a, key.b)?;
            Some(ContactState {
                key,
                bodies: [world.shape_body(key.a), world.shape_body(key.b)],
                gap: touch.gap,
                normal: touch.normal,
                point: touch.point,
                impulse,
                friction: world.law(key.a, key.b).friction,
                cone: settings.cone,
                spring_energy: [0.0; 2],
            })
        };
        let mut contacts: Vec<ContactState> = Vec::with_capacity(impulses.len());
        contacts.extend(impulses.into_iter().filter_map(state));
        contacts.sort_unstable_by_key(|contact| contact.key);
        join_patches(&world, &mut contacts, sides);
        let impulses = vec![TotalImpulse::default(); world.boundaries.len()];
        Snapshot {
            world,
            contacts,
            substep: settings.substep(),
            report,
            impulses,
            balance: None,

            compatible: None,
        }
    }

    /// Notes the energy of springs that hold this force \[N\] and this moment \[N m\], under the smooth method.
    pub fn note_springs(&mut self, settings: &Settings, springs: impl Iterator<Item = (Key, [DVec3; 2])>) {
        for (key, held) in springs {
            if let Ok(found) = self.contacts.binary_search_by_key(&key, |contact| contact.key) {
                let energy = spring_energy(&self.world, settings, &self.contacts[found], held);
                self.contacts[found].spring_energy = energy;
            }
        }
    }
}

/// Energy of a tangential spring that holds a force \[N\], and of a rolling one that holds a moment \[N m\] \[E13\] \[J\].
fn spring_energy(world: &World, settings: &Settings, contact: &ContactState, held: [DVec3; 2]) -> [f64; 2] {
    let (a, b) = (contact.key.a, contact.key.b);
    if contact.gap >= 0.0 || held == [DVec3::ZERO; 2] {
        return [0.0; 2];
    }
    let (pair, radius) = (world.law(a, b), world.effective_radius(a, b));
    let Some((_, stiffness)) = settings.normal_law.elasticity(pair.effective_modulus, radius) else {
        return [0.0; 2];
    };
    let is_hertz = settings.normal_law == NormalLaw::Hertz;
    let slope = if is_hertz { 1.5 * stiffness * (-contact.gap).sqrt() } else { stiffness };
    let stiffness = pair.tangential_stiffness * slope;
    let [force, moment] = held.map(DVec3::length_squared);
    [0.5 * force / stiffness, 0.5 * moment / (radius * radius * stiffness)]
}

/// Contacts with patches of meshes as they take part: without those at seams that are no edges.
fn join_patches(world: &World, contacts: &mut Vec<ContactState>, sides: &[(Key, i8)]) {
    if world.meshes.is_empty() {
        return;
    }
    let pairs: Vec<(u32, u32)> = contacts.iter().map(|contact| (contact.key.a, contact.key.b)).collect();
    let mut takes_part = vec![true; contacts.len()];
    let side = |(a, b): (u32, u32)| {
        let found = sides.binary_search_by_key(&Key { a, b }, |(key, _)| *key);
        found.map_or(0, |found| sides[found].1)
    };
    for (i, touch) in world.joined_touches(&pairs, side) {
        match touch {
            Some(Touch { gap, normal, point }) => {
                (contacts[i].gap, contacts[i].normal, contacts[i].point) = (gap, normal, point);
            }
            None => takes_part[i] = false,
        }
    }
    let mut takes_part = takes_part.into_iter();
    contacts.retain(|_| takes_part.next().unwrap_or(true));
}
