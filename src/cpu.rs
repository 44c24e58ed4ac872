//! The CPU engine: every stage in double precision, one file per stage, on all cores.
//!
//! The CPU engine is the twin that the GPU stages are compared with, and the engine for computers without a GPU. In coloured order the
//! contacts of one colour share no dynamic body, nor do the contacts of two tiles, so they are solved in parallel and the result does not
//! depend on the number of threads. In sequential order the contacts are solved one after the other in the order of their keys.

pub mod balance;
pub mod broadphase;
#[cfg(feature = "scenario")]
mod checkpoint;
mod coarse;
pub mod colouring;
pub mod convergence;
pub mod gradient;
mod groups;
pub mod impact;
pub mod integrate;
pub mod joints;
pub mod loads;
pub mod matching;
pub mod narrowphase;
pub mod patches;
pub mod predict;
pub mod problem;
pub mod residual;
pub mod search;
pub mod sinks;
pub mod solver;
pub mod split;
pub mod springs;
pub mod sweep;
pub mod tensors;
pub mod tiles;
pub mod velocity;
pub mod warm_start;

use glam::DVec3;
use rayon::prelude::*;

use crate::contact::{Colouring, Impulse, Key};
use crate::engine::clock::Instant;
use crate::engine::{
    EnergyBalance, Engine, Identity, Newcomers, Precision, Snapshot, StepReport, TotalImpulse,
    add_stage_time, is_guarded, largest_gain_at_once, planned_contacts, prudent,
};
use crate::error::Error;
use crate::model::{Grain, World, contact_reach};
use crate::settings::{
    Acceleration, Algorithm, Bookkeeping, LARGEST_GAIN, Method, Order, Settings, ToleranceKind, WarmStart,
};

use coarse::Coarse;
use gradient::ProjectedGradient;
use joints::Joints;
use narrowphase::{Constraint, Law, Onset};
use patches::Patches;
use problem::Problem;
use search::Travel;
use solver::Limits;
use split::Split;
use sweep::ProjectedGaussSeidel;
use velocity::Velocity;

/// Bytes per contact that the engine keeps from step to step.
const HELD_PER_CONTACT: u64 =
    (size_of::<Key>() + size_of::<Constraint>() + size_of::<Onset>() + size_of::<u32>()) as u64;
/// Temporary bytes per contact within a step: the impact stage solves a copy of the constraints.
const PASSING_PER_CONTACT: u64 = (size_of::<Constraint>() + 2 * size_of::<Key>()) as u64;

/// Bytes that a sweep moves per contact: a constraint is read and its impulse written, the velocities of both bodies are
/// read and written.
pub const BYTES_PER_CONTACT_SWEEP: u64 =
    (size_of::<Constraint>() + size_of::<Impulse>() + 4 * size_of::<Velocity>()) as u64;

/// The engine in double precision on all cores of the processor.
pub struct CpuEngine {
    world: World,
    settings: Settings,
    law: Law,
    travel: Travel,
    /// Keys of this step's contacts, ascending.
    keys: Vec<Key>,
    colouring: Colouring,
    split: Split,
    /// Contacts with patches of meshes.
    patches: Patches,
    /// Constraints of this step, in the order of the colouring.
    constraints: Vec<Constraint>,
    onsets: Vec<Onset>,
    /// Working velocities of all bodies.
    velocities: Vec<Velocity>,
    solver: ProjectedGaussSeidel,
    /// Energy balance since the start, and the velocities before the solve whose works are added next.
    balance: EnergyBalance,
    velocities_before: Vec<Velocity>,
    /// Total impulse of the contacts on each boundary since the start, and the constraints of the contacts with boundaries.
    impulses: Vec<TotalImpulse>,
    boundary_constraints: Vec<u32>,
    /// Whether a substep is solved again in which friction and rolling made energy \[E12\].
    is_guarded: bool,
    newcomers: Newcomers,
    /// Substeps done since the start; time is this times the substep, plus the time at the start.
    substeps_done: u64,
    start_time: f64,
    report: StepReport,
    stages: Stages,
}

/// Wall time of each stage \[s\].
#[derive(Default)]
struct Stages(Vec<(&'static str, f64)>);

impl Stages {
    fn time<T>(&mut self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(stage, start.elapsed().as_secs_f64());
        result
    }

    fn add(&mut self, stage: &'static str, seconds: f64) {
        add_stage_time(&mut self.0, stage, seconds);
    }
}

impl CpuEngine {
    /// Makes an engine at the state of `world`.
    ///
    /// # Panics
    /// If the settings are invalid (see [`Settings::validate`]) or a period is too short for the grains (see
    /// [`Periodic::check`](crate::model::Periodic::check)).
    pub fn new(world: World, settings: Settings) -> CpuEngine {
        assert!(settings.validate().is_ok(), "settings are validated before an engine is made");
        let period = world.periodic.check(contact_reach(world.largest_radius(), settings.reach()));
        assert!(period.is_ok(), "{period:?}");
        let bodies = world.bodies_with(world.grains.capacity());
        let settings = prudent(&settings, &world);
        let is_guarded = is_guarded(&settings, &world);
        let keeps_balance = is_guarded || settings.bookkeeping == Bookkeeping::On;
        CpuEngine {
            is_guarded,
            law: Law::new(&settings),
            start_time: world.time,
            balance: EnergyBalance::opened_at(&world),
            impulses: vec![TotalImpulse::default(); world.boundaries.len()],
            boundary_constraints: Vec::new(),
            newcomers: Newcomers::default(),
            world,
            settings,
            travel: Travel::default(),
            keys: Vec::new(),
            colouring: Colouring::default(),
            split: Split::default(),
            patches: Patches::default(),
            constraints: Vec::new(),
            onsets: Vec::new(),
            velocities: Vec::with_capacity(bodies),
            velocities_before: Vec::with_capacity(if keeps_balance { bodies } else { 0 }),
            solver: ProjectedGaussSeidel::new(&settings),
            substeps_done: 0,
            report: StepReport::default(),
            stages: Stages::default(),
        }
    }

    /// Does one step: finds contacts if needed, then solves and moves in each substep. This is the algorithm.
    fn step(&mut self) -> Result<(), Error> {
        if self.stages.time("search", || self.travel.calls_for_search(&self.world, &self.settings)) {
            self.find_contacts();
        }
        for _ in 0..self.settings.substeps {
            self.solve_and_move()?;
        }
        self.report.step += 1;
        self.report.time = self.world.time;
        Ok(())
    }

    /// Notes the objective of the convex problem of the last substep: a pass over contacts and bodies, so only snapshots and saved states
    /// ask for it.
    fn note_objective(&mut self) {
        // A restored state has no working velocities before its first step.
        let has_solved = self.report.step > 0 && !self.velocities.is_empty();
        if has_solved && self.settings.method == Method::Nonsmooth {
            let objective = || residual::objective(&self.world, &self.constraints, &self.velocities);
            self.report.objective.get_or_insert_with(objective);
        }
    }

    /// Broadphase, matching, colouring: finds the pairs, the impulses that they carry over, and the solving order.
    fn find_contacts(&mut self) {
        let (world, settings, stages) = (&self.world, &self.settings, &mut self.stages);
        let keys = stages.time("broadphase", || broadphase::find_pairs(world, settings.reach()));
        let carried = stages.time("matching", || {
            matching::match_impulses(&keys, &self.keys, &self.colouring, &self.constraints, &self.law)
        });
        let colouring = stages.time("colouring", || match settings.order {
            Order::Coloured => colouring::greedy(world, &keys),
            Order::Sequential => colouring::one_after_the_other(keys.len()),
            Order::Blocks(blocks) => colouring::in_blocks(keys.len(), blocks),
            Order::AtOnce => colouring::all_at_once(keys.len()),
        });
        self.travel.reset(world, settings);
        self.report.searches += 1;
        self.hold_contacts(keys, colouring, &carried);
        self.report.contacts = self.keys.len() as u64;
        let used = (0..self.colouring.colours()).filter(|&colour| !self.colouring.colour(colour).is_empty());
        self.report.colours = used.count() as u32;
        self.report.overflow = self.colouring.overflow().len() as u64;
    }

    /// Takes a new list of contacts, each with the impulse that it carries over.
    fn hold_contacts(&mut self, mut keys: Vec<Key>, mut colouring: Colouring, impulses: &[Impulse]) {
        self.split = Split::new(&self.world, &keys, &colouring);
        self.patches = Patches::new(&self.world, &keys, &colouring, &self.patches);
        let method = self.settings.method;
        renew(&mut self.constraints, keys.len(), |place| {
            let carried = impulses[colouring.order[place] as usize];
            match method {
                Method::Nonsmooth => Constraint { impulse: carried, ..Constraint::default() },
                Method::Smooth => Constraint { last_impulse: carried, ..Constraint::default() },
            }
        });
        renew(&mut self.onsets, keys.len(), |_| Onset::default());
        self.boundary_constraints = loads::constraints_of_boundaries(&self.world, &keys, &colouring);
        // Spare room is given back, so that the reported memory does not depend on how a list grew.
        keys.shrink_to_fit();
        colouring.order.shrink_to_fit();
        self.boundary_constraints.shrink_to_fit();
        (self.keys, self.colouring) = (keys, colouring);
    }

    /// Takes these contacts, sorted by key, as the list that the next search is matched with.
    fn hold_seeds(&mut self, seeds: &[(Key, Impulse)]) {
        let (keys, mut impulses): (Vec<Key>, Vec<Impulse>) = seeds.iter().copied().unzip();
        if self.settings.method == Method::Smooth {
            impulses = self.springs_from(&keys, &impulses);
        }
        let order = colouring::one_after_the_other(keys.len());
        self.hold_contacts(keys, order, &impulses);
        self.patches.find_normals(&self.world);
    }

    /// Springs of the smooth method whose forces give these impulses in a substep \[E13\].
    fn springs_from(&self, keys: &[Key], impulses: &[Impulse]) -> Vec<Impulse> {
        let springs = |(key, impulse): (&Key, &Impulse)| {
            let normal = self.world.touch(key.a, key.b).map_or(DVec3::ZERO, |touch| touch.normal);
            springs::holding(&impulse.scaled(1.0 / self.settings.substep()), normal)
        };
        keys.iter().zip(impulses).map(springs).collect()
    }

    /// Bytes that an engine needs for a world with this many grains: what it holds between steps, and its temporary lists within a step.
    pub fn planned_memory(world: &World, grains: usize, settings: &Settings) -> u64 {
        CpuEngine::planned_holdings(world, grains, settings)
            + CpuEngine::planned_passing(world, grains, settings)
    }

    /// Bytes of the temporary lists within a step.
    pub fn planned_passing(world: &World, grains: usize, settings: &Settings) -> u64 {
        let bodies = world.bodies_with(grains) as u64;
        let contacts = planned_contacts(world.planned_spheres(grains)) as u64;
        let coarse = if settings.coarse_corrections > 0 { Coarse::passing_bytes(bodies) } else { 0 };
        let gradient = match settings.algorithm {
            Algorithm::Pgs => 0,
            Algorithm::Apgd => ProjectedGradient::passing_bytes(contacts),
        };
        contacts * PASSING_PER_CONTACT + coarse + gradient
    }

    /// Bytes that the engine holds between steps.
    pub fn planned_holdings(world: &World, grains: usize, settings: &Settings) -> u64 {
        let spheres = world.planned_spheres(grains);
        let contacts = planned_contacts(spheres) as u64;
        let bodies = world.bodies_with(grains) as u64;
        let keeps_works = is_guarded(settings, world) || settings.bookkeeping == Bookkeeping::On;
        let lists = if keeps_works { 2 } else { 1 };
        let splitting = Split::planned_bytes(bodies, contacts);
        let momentum = match settings.acceleration {
            Acceleration::Nesterov => ProjectedGaussSeidel::planned_bytes(bodies),
            Acceleration::None => 0,
        };
        world.planned_bytes(world.bodies_with(grains))
            + bodies * lists * size_of::<Velocity>() as u64
            + Travel::planned_bytes(spheres as u64, world.boundaries.len() as u64)
            + contacts * HELD_PER_CONTACT
            + splitting
            + momentum
    }

    /// Narrowphase, velocities, loads, integrate: does one substep.
    fn solve_and_move(&mut self) -> Result<(), Error> {
        let h = self.settings.substep();
        let end = self.start_time + (self.substeps_done + 1) as f64 * h;
        self.fill_constraints(end);
        let works = match self.settings.method {
            Method::Nonsmooth => self.solve(end),
            Method::Smooth => self.push_by_springs(end),
        };
        let of_boundaries =
            self.boundary_constraints.iter().map(|&constraint| &self.constraints[constraint as usize]);
        self.stages.time("loads", || loads::add(of_boundaries, &mut self.impulses));
        let Self { world, settings, velocities, stages, travel, .. } = self;
        let removed_energy = stages.time("integrate", || {
            integrate::move_bodies(world, velocities, end, h, settings)?;
            travel.add(world, velocities, h);
            sinks::drain(world)
        })?;
        self.balance += works + EnergyBalance { removed_energy, ..EnergyBalance::default() };
        self.substeps_done += 1;
        Ok(())
    }

    /// Impact, predict, warm start, sweep, balance: finds the velocities of a nonsmooth substep.
    fn solve(&mut self, end: f64) -> EnergyBalance {
        let impacts = self.solve_impacts();
        let settings = self.settings;
        let mut works = self.solve_contacts(end, &settings);
        if self.is_guarded && (self.makes_energy(&impacts, &works) || self.makes_energy_at_once(&works)) {
            works = self.solve_again(end);
            if self.makes_energy(&impacts, &works) {
                self.constraints
                    .iter_mut()
                    .for_each(|constraint| (constraint.friction, constraint.rolling_arm) = (0.0, 0.0));
                works = self.solve_again(end);
            }
            self.report.work.solved_again += 1;
        }
        impacts + works
    }

    /// Springs, predict, balance: finds the velocities of a smooth substep \[E13\].
    fn push_by_springs(&mut self, end: f64) -> EnergyBalance {
        let keeps_works = self.keeps_works();
        let Self { world, settings, colouring, split, constraints, onsets, velocities, stages, .. } = self;
        let (h, before) = (settings.substep(), &mut self.velocities_before);
        if keeps_works {
            stages.time("balance", || before.clone_from(velocities));
        }
        let mut joints = stages.time("springs", || {
            springs::stretch(settings, constraints, onsets, velocities);
            Joints::start(world, settings, end, velocities)
        });
        stages.time("predict", || predict::apply_forces(world, h, velocities));
        stages.time("warm_start", || {
            let mut problem = Problem::new(colouring, split, constraints, velocities, &mut joints);
            warm_start::apply(WarmStart::Cold, &mut problem);
            problem.solve_joints();
        });
        joints.keep(h, world);
        if !keeps_works {
            return EnergyBalance::default();
        }
        stages.time("balance", || balance::book_solve(world, h, constraints, &joints, before, velocities))
    }

    /// Fills the constraints of the substep that ends at `end` \[s\], and loads the velocities at its start.
    fn fill_constraints(&mut self, end: f64) {
        let Self {
            world,
            settings,
            law,
            keys,
            colouring,
            split,
            patches,
            constraints,
            onsets,
            velocities,
            stages,
            ..
        } = self;
        stages.time("narrowphase", || {
            velocity::load_velocities(world, end, settings.substep(), velocities);
            split.refresh(world);
            narrowphase::fill_constraints(world, law, keys, colouring, patches, constraints, onsets);
        });
    }

    /// Runs the impact stage. Returns its works on the bodies, all zero unless works are kept.
    fn solve_impacts(&mut self) -> EnergyBalance {
        let keeps_works = self.keeps_works();
        let Self {
            world, settings, colouring, split, constraints, onsets, velocities, stages, report, ..
        } = self;
        let (h, before) = (settings.substep(), &mut self.velocities_before);
        let totals = &mut self.impulses;
        if keeps_works {
            stages.time("balance", || before.clone_from(velocities));
        }
        let mut works = EnergyBalance::default();
        let book = |impacts: &[Constraint], joints: &Joints, after: &[Velocity]| {
            loads::add_impacts(impacts, totals);
            if keeps_works {
                works += balance::book_impacts(&world.pull(), h, impacts, before, after);
                works += balance::book_joints(joints, before, after);
                before.copy_from_slice(after);
            }
        };
        report.impacts = stages.time("impact", || {
            let contacts = impact::Contacts { colouring, split, constraints, onsets };
            impact::solve(settings, world, contacts, velocities, book)
        });
        works
    }

    /// Predict, warm start, sweeps, balance: runs the continuous solve with these settings. Returns its works, all zero unless works are
    /// kept.
    fn solve_contacts(&mut self, end: f64, settings: &Settings) -> EnergyBalance {
        let keeps_works = self.keeps_works();
        let Self { world, colouring, split, constraints, onsets, velocities, stages, report, solver, .. } =
            self;
        let (h, before) = (settings.substep(), &self.velocities_before);
        let mut joints = stages.time("predict", || {
            narrowphase::set_targets(constraints, onsets, velocities);
            start_solve(world, settings, end, constraints, onsets, velocities)
        });
        let problem = Problem::new(colouring, split, constraints, velocities, &mut joints);
        let mut problem = problem.in_world(world);
        if settings.warm_start.updates_velocities() || world.materials.are_cohesive() {
            stages.time("warm_start", || warm_start::apply(settings.warm_start, &mut problem));
        }
        let start = Instant::now();
        let outcome = solver::solve(solver, settings, &mut problem, Limits::of(settings), None);
        report.sweeps = outcome.sweeps;
        stages.add("sweep", start.elapsed().as_secs_f64() - outcome.testing);
        if settings.tolerance_kind == ToleranceKind::Impulses {
            stages.add("convergence", outcome.testing);
        }
        joints.keep(h, world);
        report.work.add(report.sweeps, constraints.len());
        if !keeps_works {
            return EnergyBalance::default();
        }
        stages.time("balance", || balance::book_solve(world, h, constraints, &joints, before, velocities))
    }

    /// Repeats the continuous solve from the velocities after the impact stage, with plain sweeps and a cold start.
    fn solve_again(&mut self, end: f64) -> EnergyBalance {
        self.velocities.clone_from(&self.velocities_before);
        self.solve_contacts(end, &self.settings.careful())
    }

    /// Whether friction and rolling made energy in this substep and more than [`LARGEST_GAIN`] of the turnover since the start \[E12\].
    fn makes_energy(&self, impacts: &EnergyBalance, works: &EnergyBalance) -> bool {
        let so_far = self.balance + *impacts + *works;
        works.made() > 0.0 && so_far.made() > LARGEST_GAIN * so_far.turnover()
    }

    /// Whether friction and rolling made more energy in this substep alone than a share of the kinetic energy.
    fn makes_energy_at_once(&self, works: &EnergyBalance) -> bool {
        let share = || largest_gain_at_once(&self.settings, &self.world);
        let scale = || balance::kinetic_scale(&self.world, self.settings.substep(), &self.velocities);
        works.made() > 0.0 && share().is_finite() && works.made() > share() * scale()
    }

    /// Whether the works of a substep are kept: for the guard \[E12\], or for the energy balance.
    fn keeps_works(&self) -> bool {
        self.is_guarded || self.settings.bookkeeping == Bookkeeping::On
    }
}

/// Sets the impulses of the contacts to their start \[E7\], and the velocities to those under the external forces alone, in a substep that
/// ends at `end` \[s\]. The impulses are not applied to the velocities yet.
fn start_solve(
    world: &World,
    settings: &Settings,
    end: f64,
    constraints: &mut [Constraint],
    onsets: &[Onset],
    velocities: &mut [Velocity],
) -> Joints {
    warm_start::seed(&Law::new(settings), settings, world, constraints, onsets, velocities);
    let joints = Joints::start(world, settings, end, velocities);
    predict::apply_forces(world, settings.substep(), velocities);
    joints
}

/// Fills the list anew with `of(place)` for each contact. Where its capacity is too small, it gets 1/32 more than needed.
fn renew<T: Send>(list: &mut Vec<T>, contacts: usize, of: impl Fn(usize) -> T + Sync + Send) {
    list.clear();
    if list.capacity() < contacts {
        *list = Vec::new();
        list.reserve_exact(contacts + contacts / 32);
    }
    (0..contacts).into_par_iter().with_min_len(narrowphase::CHUNK).map(of).collect_into_vec(list);
}

impl Engine for CpuEngine {
    fn identity(&self) -> Identity {
        Identity {
            engine: "cpu",
            device: "CPU engine, double precision".into(),
            driver: format!("{} threads", rayon::current_num_threads()),
            backend: "rayon".into(),
            precision: Precision::Double,
        }
    }

    fn advance(&mut self, steps: u64) -> Result<StepReport, Error> {
        self.stages.0.clear();
        self.report.searches = 0;
        if steps > 0 {
            self.newcomers.clear();
        }
        // Inside a scope the work stays in the thread pool. From outside, every colour would wake the pool anew.
        rayon::scope(|_| (0..steps).try_for_each(|_| self.step()))?;
        if steps > 0 && self.settings.method == Method::Nonsmooth {
            self.report.residuals =
                residual::measure(self.settings.cone, &self.constraints, &self.velocities);
            self.report.objective = None;
        }
        Ok(StepReport { stages: self.stages.0.clone(), ..self.report.clone() })
    }

    fn snapshot(&mut self) -> Result<Snapshot, Error> {
        if self.report.step == 0 {
            self.find_contacts();
        }
        let constraints = self.colouring.order.iter().zip(&self.constraints);
        let with_impulse =
            constraints.map(|(&contact, constraint)| (self.keys[contact as usize], constraint.impulse));
        let impulses = self.newcomers.without_theirs(&self.world, with_impulse, self.constraints.len());
        self.note_objective();
        let report = self.report.clone();
        let balance = (self.settings.bookkeeping == Bookkeeping::On).then_some(self.balance);
        let (world, sides) = (self.world.clone(), self.patches.sides());
        let mut snapshot = Snapshot::of_solved(world, impulses, &sides, &self.settings, report);
        let contacts = self.colouring.order.iter().map(|&contact| self.keys[contact as usize]);
        let cohesion = self.constraints.iter().map(|constraint| constraint.cohesion);
        snapshot.note_cohesion(contacts.clone().zip(cohesion));
        if self.settings.method == Method::Smooth {
            let held = self.constraints.iter().map(springs::held);
            snapshot.note_springs(&self.settings, contacts.zip(held));
        }
        Ok(Snapshot { impulses: self.impulses.clone(), balance, ..snapshot })
    }

    fn present_spheres(&mut self) -> Result<Vec<(DVec3, f64)>, Error> {
        Ok(self.world.present_spheres())
    }

    fn add_grains(&mut self, grains: &[Grain]) -> Result<(), Error> {
        let largest = grains.iter().map(|grain| grain.radius).fold(0.0, f64::max);
        self.world.periodic.check(contact_reach(largest, self.settings.reach()))?;
        let places = self.world.add_grains(grains.iter().copied());
        self.travel.forget();
        self.is_guarded = is_guarded(&self.settings, &self.world);
        self.balance.emitted_energy += self.world.kinetic_energy_of(&places);
        self.newcomers.add(places);
        Ok(())
    }

    fn change(&mut self, change: &mut dyn FnMut(&mut World)) -> Result<(), Error> {
        let before = self.world.kinetic_energy();
        change(&mut self.world);
        self.world.update_joints();
        self.balance.note_change(self.world.kinetic_energy() - before);
        self.travel.forget();
        self.is_guarded = is_guarded(&self.settings, &self.world);
        Ok(())
    }

    fn seed(&mut self, impulses: &[(Key, Impulse)]) -> Result<(), Error> {
        self.hold_seeds(impulses);
        Ok(())
    }

    fn set_iterations(&mut self, iterations: u32) {
        self.settings.iterations = iterations;
    }

    #[cfg(feature = "scenario")]
    fn save(&mut self, out: &mut dyn std::io::Write) -> Result<(), Error> {
        self.note_objective();
        self.write_state(out)
    }

    #[cfg(feature = "scenario")]
    fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        self.read_state(state)
    }

    fn memory(&self) -> u64 {
        let velocities = self.velocities.capacity() + self.velocities_before.capacity();
        let contacts = self.constraints.capacity() * size_of::<Constraint>()
            + self.onsets.capacity() * size_of::<Onset>()
            + self.keys.capacity() * size_of::<Key>()
            + (self.colouring.order.capacity() + self.boundary_constraints.capacity()) * size_of::<u32>();
        self.world.bytes()
            + (velocities * size_of::<Velocity>() + contacts) as u64
            + self.travel.bytes()
            + self.split.bytes()
            + self.patches.bytes()
            + self.solver.bytes()
    }
}
