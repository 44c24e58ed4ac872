//! The CPU engine: every stage in double precision, one file per stage, on all cores.
//!
//! The CPU engine is the twin that the GPU stages are compared with, and the engine for computers without a GPU. In coloured order the
//! contacts of one colour share no dynamic body, nor do the contacts of two tiles, so they are solved in parallel and the result does not
//! depend on the number of threads. In sequential order the contacts are solved one after the other in the order of their keys.

pub mod balance;
pub mod bridges;
pub mod broadphase;
#[cfg(feature = "scenario")]
mod checkpoint;
mod coarse;
pub mod colouring;
mod contacts;
pub mod convergence;
mod counts;
mod engine;
pub mod gradient;
mod groups;
mod heat;
pub mod impact;
pub mod integrate;
#[cfg(target_arch = "x86_64")]
mod lanes;
pub mod loads;
pub mod manifolds;
pub mod matching;
mod memory;
pub mod narrowphase;
pub mod patches;
pub mod predict;
pub mod residual;
pub mod search;
pub mod sinks;
pub mod solvers;
pub mod springs;
pub mod stress;
pub mod sweep;
pub mod tiles;
mod timer;
pub mod warm_start;

use glam::DMat3;

use crate::contact::bonds::BondSystem;
use crate::contact::constants::LawConstants;
use crate::contact::constraint::{Constraint, Onset};
use crate::contact::coupling::{Alone, Coupling};
use crate::contact::flow::{CellMotion, Flow};
use crate::contact::joints::Joints;
use crate::contact::problem::ContactProblem;
use crate::contact::solver::Limits;
use crate::contact::split::Split;
use crate::contact::velocity::{self, Velocity};
use crate::contact::{Colouring, Impulse, Key};
use crate::engine::blame::too_long_for_joints;
use crate::engine::clock::Instant;
use crate::engine::{
    EnergyBalance, Newcomers, StepReport, TotalImpulse, is_guarded, largest_gain_at_once, prudent,
};
use crate::error::Error;
use crate::law::guard::LARGEST_GAIN;
use crate::model::{MeterSums, World, contact_reach};
use crate::settings::{Algorithm, Bookkeeping, Method, Settings, ToleranceKind, WarmStart};

use bridges::{BridgeSystem, WetContacts};
use heat::{HeatGains, HeatedContacts};
use manifolds::Sleep;
use narrowphase::FillFrom;
use patches::Patches;
use search::Travel;
use springs::Spring;
use sweep::ProjectedGaussSeidel;
use timer::Stages;

/// Bytes that a sweep moves per contact: a constraint is read and its impulse written, the velocities of both bodies are
/// read and written.
pub const BYTES_PER_CONTACT_SWEEP: u64 =
    (size_of::<Constraint>() + size_of::<Impulse>() + 4 * size_of::<Velocity>()) as u64;

/// The engine in double precision on all cores of the processor.
pub struct CpuEngine {
    pub(crate) world: World,
    pub(crate) settings: Settings,
    law: LawConstants,
    pub(crate) travel: Travel,
    /// Keys of this step's contacts, ascending.
    pub(crate) keys: Vec<Key>,
    pub(crate) colouring: Colouring,
    split: Split,
    /// Contacts with patches of meshes.
    pub(crate) patches: Patches,
    /// Bodies of machines that nothing else touches, which contacts, impacts and joints find in the middle of the substep \[E1\].
    undisturbed: Vec<u32>,
    /// Constraints of this step, in the order of the colouring.
    pub(crate) constraints: Vec<Constraint>,
    /// What the nonsmooth method needs of each contact beside its constraint.
    pub(crate) onsets: Vec<Onset>,
    /// What the smooth method needs of each contact beside its constraint, since its first substep after a search.
    pub(crate) springs: Vec<Spring>,
    /// Whether a smooth substep has made the springs, and checked the bodies of the constraints for [`ContactProblem::checked`].
    is_prepared: bool,
    /// Working velocities of all bodies.
    velocities: Vec<Velocity>,
    solver: ProjectedGaussSeidel,
    bonds: BondSystem,
    bridges: BridgeSystem,
    /// Motion of the deforming cell in the present substep; `None` where the cell does not deform.
    cell: Option<CellMotion>,
    /// Energy balance since the start, and the velocities before the solve whose works are added next.
    pub(crate) balance: EnergyBalance,
    velocities_before: Vec<Velocity>,
    /// Total impulse of the contacts on each boundary since the start, and the constraints of the contacts with boundaries.
    pub(crate) impulses: Vec<TotalImpulse>,
    boundary_constraints: Vec<u32>,
    /// Heat of the present substep; empty in a scene without heat.
    heat: HeatGains,
    /// Sums since the start in the meters of the world.
    pub(crate) stresses: Vec<MeterSums>,
    /// Sums of impulse times arm of every grain since it came \[N m s\]; empty unless the world measures them.
    pub(crate) grain_stresses: Vec<DMat3>,
    /// Whether a substep is solved again in which friction and rolling made energy \[E12\].
    pub(crate) is_guarded: bool,
    pub(crate) newcomers: Newcomers,
    /// Coupling of the part of a scene that is computed here, if ranks share it.
    pub(crate) coupling: Box<dyn Coupling>,
    /// Substeps done since the start; time is this times the substep, plus the time at the start.
    pub(crate) substeps_done: u64,
    pub(crate) start_time: f64,
    pub(crate) report: StepReport,
    stages: Stages,
    /// What limits the step of the machines at the start, if it is too long for them \[E11\].
    warning: Option<String>,
}

impl CpuEngine {
    /// Makes an engine at the state of `world`.
    ///
    /// # Panics
    /// If the settings are invalid (see [`Settings::validate`]) or a period is too short for the grains (see
    /// [`Periodic::check`](crate::model::Periodic::check)).
    pub fn new(mut world: World, settings: Settings) -> CpuEngine {
        assert!(settings.validate().is_ok(), "settings are validated before an engine is made");
        let period = world.periodic.check(contact_reach(world.largest_radius(), settings.reach()));
        assert!(period.is_ok(), "{period:?}");
        world.prepare_counts();
        let bodies = world.bodies_with(world.grains.capacity());
        let settings = prudent(&settings, &world);
        let is_guarded = is_guarded(&settings, &world);
        let keeps_works = keeps_works(is_guarded, &settings, &world);
        let warning = too_long_for_joints(&world, settings.substep());
        CpuEngine {
            is_guarded,
            law: LawConstants::new(&settings),
            start_time: world.time,
            balance: EnergyBalance::opened_at(&world),
            impulses: vec![TotalImpulse::default(); world.boundaries.len()],
            boundary_constraints: Vec::new(),
            heat: HeatGains::default(),
            stresses: vec![MeterSums::ZERO; world.meter_bins()],
            grain_stresses: vec![DMat3::ZERO; if world.measures_grains { world.grain_count() } else { 0 }],
            newcomers: Newcomers::default(),
            coupling: Box::new(Alone),
            world,
            settings,
            travel: Travel::default(),
            keys: Vec::new(),
            colouring: Colouring::default(),
            split: Split::default(),
            patches: Patches::default(),
            undisturbed: Vec::new(),
            constraints: Vec::new(),
            onsets: Vec::new(),
            springs: Vec::new(),
            is_prepared: false,
            velocities: Vec::with_capacity(bodies),
            velocities_before: Vec::with_capacity(if keeps_works { bodies } else { 0 }),
            solver: ProjectedGaussSeidel::new(&settings),
            bonds: BondSystem::default(),
            bridges: BridgeSystem::default(),
            cell: None,
            substeps_done: 0,
            report: StepReport::default(),
            stages: Stages::default(),
            warning,
        }
    }

    /// Does one step: finds contacts if needed, then solves and moves in each substep. This is the algorithm.
    fn step(&mut self) -> Result<(), Error> {
        let Self { world, settings, travel, coupling, stages, .. } = self;
        if stages.time("search", || coupling.any(travel.calls_for_search(world, settings))) {
            self.find_contacts();
        }
        for _ in 0..self.settings.substeps {
            self.solve_and_move()?;
        }
        self.report.step += 1;
        self.report.time = self.world.time;
        Ok(())
    }

    /// Narrowphase, velocities, loads, integrate: does one substep.
    fn solve_and_move(&mut self) -> Result<(), Error> {
        let h = self.settings.substep();
        let end = self.start_time + (self.substeps_done + 1) as f64 * h;
        self.world.drift(&self.undisturbed, 0.5 * h);
        self.load_velocities(end);
        if self.world.heat.is_some() {
            self.heat.clear(self.world.bodies.len());
        }
        let works = match self.settings.method {
            Method::Nonsmooth => {
                self.fill_constraints(self.may_sleep());
                let works = self.solve(end);
                self.bridges.join_met(&mut self.world, &self.keys, &self.constraints);
                works
            }
            Method::Smooth => self.push_by_springs(end),
        };
        let of_boundaries =
            self.boundary_constraints.iter().map(|&constraint| &self.constraints[constraint as usize]);
        self.stages.time("loads", || {
            loads::add(of_boundaries, &mut self.impulses);
            stress::add(&self.world, &self.constraints, self.coupling.counting(), &mut self.stresses);
            stress::add_to_grains(&self.world, &self.constraints, &mut self.grain_stresses);
            loads::add_bonds(&self.bonds, &mut self.impulses);
            let drags = self.bridges.drags();
            loads::add(drags.iter(), &mut self.impulses);
            stress::add(&self.world, drags, self.coupling.counting(), &mut self.stresses);
            stress::add_to_grains(&self.world, drags, &mut self.grain_stresses);
            stress::add_bonds(&self.world, &self.bonds, &mut self.stresses, &mut self.grain_stresses);
            stress::add_motion(
                &self.world,
                &self.velocities,
                h,
                self.coupling.counting(),
                &mut self.stresses,
            );
            counts::add(&mut self.world, &self.velocities, [end - h, h], self.coupling.counting());
        });
        let removed_energy = self.find_heat().and_then(|()| self.move_bodies(end));
        // They went a whole substep from its middle; if the substep failed, they go back to its start.
        self.world.drift(&self.undisturbed, -0.5 * h);
        let removed_energy = removed_energy?;
        if self.world.heat.is_some() {
            self.heat.apply(&mut self.world, end);
        }
        self.balance += works + EnergyBalance { removed_energy, ..EnergyBalance::default() };
        self.substeps_done += 1;
        Ok(())
    }

    /// Heat: finds what the bodies gain in a substep, from the forces of its contacts.
    fn find_heat(&mut self) -> Result<(), Error> {
        let Self { world, settings, keys, colouring, patches, constraints, stages, .. } = self;
        if world.heat.is_none() {
            return Ok(());
        }
        let gains = &mut self.heat;
        stages.time("heat", || {
            if let Some(heat) = world.friction_heat() {
                let velocities = [&self.velocities_before[..], &self.velocities];
                gains.rub(heat, constraints, velocities);
                gains.rub(heat, self.bridges.drags(), velocities);
            }
            gains.conduct(world, &HeatedContacts { settings, keys, colouring, patches, constraints });
            gains.check(world, settings.substep())
        })
    }

    /// Integrate: moves the bodies to the time `end` \[s\], and removes those that came into a sink. Returns the energy that these had.
    fn move_bodies(&mut self, end: f64) -> Result<f64, Error> {
        let Self {
            world,
            settings,
            velocities,
            stages,
            travel,
            coupling,
            is_prepared,
            constraints,
            cell,
            warning,
            ..
        } = self;
        let h = settings.substep();
        stages.time("integrate", || {
            let cause = integrate::Cause { constraints, warning: warning.as_deref() };
            let verdict = integrate::judge(world, velocities, settings, &**coupling, cause);
            coupling.agree(verdict, world)?;
            if let Some(cell) = cell {
                cell.deform(world, velocities, h);
                world.periodic.check(contact_reach(world.largest_radius(), settings.reach()))?;
            }
            integrate::move_bodies(world, velocities, end, h);
            travel.add(world, velocities, h);
            integrate::break_bonds(world, travel);
            if !world.has_drains() {
                return Ok(0.0);
            }
            let taken = coupling.agree(sinks::taken(world, h), world)?;
            // Contacts of grains that are taken are no longer between two grains.
            *is_prepared &= taken.is_empty();
            taken.iter().for_each(|&(grain, _)| {
                world.end_stays(grain, end, coupling.counts(world.grain_body(grain)));
            });
            let own = sinks::remove(world, &taken, |body| coupling.counts(body));
            Ok(coupling.sums([own])[0])
        })
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
        let Self {
            world,
            settings,
            law,
            keys,
            colouring,
            split,
            patches,
            constraints,
            springs,
            is_prepared,
            velocities,
            bonds,
            bridges,
            stages,
            coupling,
            ..
        } = self;
        let (h, before) = (settings.substep(), &mut self.velocities_before);
        if keeps_works {
            stages.time("balance", || before.clone_from(velocities));
        }
        let mut joints = stages.time("springs", || {
            if !*is_prepared {
                springs::make(world, law, keys, colouring, constraints, springs);
            }
            patches.join(world, law, keys, constraints, None);
            let order = &colouring.order;
            springs::StretchedContacts { settings, world, keys, order, patches, springs, velocities }
                .stretch(constraints);
            bridges.pull(world, &WetContacts { law, keys, patches, onsets: &[] }, constraints);
            bonds.stretch(world, h, velocities);
            let joints = Joints::start(world, settings, end, velocities);
            bonds.push(velocities);
            joints
        });
        stages.time("predict", || predict::apply_forces(world, h, velocities));
        stages.time("warm_start", || {
            let problem = if *is_prepared {
                // SAFETY: `new` was called since the last search, which gave the contacts their bodies and follows when bodies are added or
                // changed.
                unsafe { ContactProblem::checked(colouring, split, constraints, velocities, &mut joints) }
            } else {
                ContactProblem::new(colouring, split, constraints, velocities, &mut joints)
            };
            *is_prepared = true;
            let mut problem = problem.coupled(&mut **coupling);
            warm_start::apply(WarmStart::Cold, &mut problem);
            problem.push(|constraints, velocities| bridges.drag(world, h, constraints, velocities));
            problem.solve_joints();
            problem.exchange();
        });
        joints.keep(h, world);
        bonds.keep(h, world);
        if !keeps_works {
            return EnergyBalance::default();
        }
        stages.time("balance", || {
            let held = (&joints, &*bonds, &*bridges, Flow::default());
            balance::book_solve(world, h, constraints, held, [before, velocities], &mut **coupling)
        })
    }

    /// Loads the velocities at the start of the substep that ends at `end` \[s\], and the inertia of rigid bodies.
    fn load_velocities(&mut self, end: f64) {
        let Self { world, settings, split, velocities, stages, cell, .. } = self;
        stages.time("narrowphase", || {
            velocity::load_velocities(world, end, settings.substep(), velocities);
            *cell = CellMotion::start(world, settings.substep(), velocities);
            split.refresh(world);
        });
    }

    /// Whether pairs of polyhedra that are apart may sleep through a nonsmooth substep: only sweeps here wake them.
    fn may_sleep(&self) -> bool {
        let Settings { algorithm, coarse_corrections, .. } = self.settings;
        algorithm == Algorithm::Pgs && coarse_corrections == 0 && self.coupling.is_alone()
    }

    /// Fills the constraints of a nonsmooth substep.
    fn fill_constraints(&mut self, may_sleep: bool) {
        let Self {
            world,
            law,
            keys,
            colouring,
            split,
            patches,
            velocities,
            constraints,
            onsets,
            bridges,
            stages,
            ..
        } = self;
        stages.time("narrowphase", || {
            let filled = (&mut constraints[..], &mut onsets[..]);
            let sleep = may_sleep.then_some(Sleep { h: law.h, velocities });
            let from = FillFrom { velocities, tensors: split.tensors(), sleep };
            narrowphase::fill_awake(world, law, keys, colouring, patches, from, filled);
            bridges.pull(world, &WetContacts { law, keys, patches, onsets }, constraints);
        });
    }

    /// Runs the impact stage. Returns its works on the bodies, all zero unless works are kept.
    fn solve_impacts(&mut self) -> EnergyBalance {
        let keeps_works = self.keeps_works();
        let Self {
            world,
            settings,
            law,
            patches,
            colouring,
            split,
            constraints,
            onsets,
            velocities,
            bridges,
            stages,
            report,
            coupling,
            cell,
            ..
        } = self;
        let (h, before) = (settings.substep(), &mut self.velocities_before);
        let (totals, stresses) = (&mut self.impulses, &mut self.stresses);
        let (grain_stresses, gains) = (&mut self.grain_stresses, &mut self.heat);
        let heat = world.friction_heat();
        if keeps_works {
            stages.time("balance", || before.clone_from(velocities));
        }
        let mut works = EnergyBalance::default();
        let book = |problem: &ContactProblem<'_>| {
            loads::add_impacts(problem.constraints(), totals);
            bridges.note_bounces(problem.constraints());
            stress::add(world, problem.constraints(), problem.counting(), stresses);
            stress::add_to_grains(world, problem.constraints(), grain_stresses);
            if keeps_works {
                let after = problem.velocities();
                if let Some(heat) = heat {
                    gains.strike(heat, (&world.pull(), h), problem.counted(), [before, after]);
                }
                let velocities = [&before[..], after];
                works +=
                    balance::book_impacts(&world.pull(), h, problem.flow(), problem.counted(), velocities);
                if problem.is_first() {
                    works += balance::book_joints(problem.joints(), before, after);
                }
                before.copy_from_slice(after);
            }
        };
        report.impacts = stages.time("impact", || {
            let wake = &mut |velocities: &[Velocity],
                             constraints: &mut [Constraint],
                             onsets: &mut [Onset]| {
                let woken = narrowphase::wake(world, law, &mut patches.manifolds, velocities, onsets);
                woken.into_iter().for_each(|(place, constraint)| constraints[place as usize] = constraint);
            };
            let coupling = &mut **coupling;
            let cell = cell.as_mut();
            let contacts = impact::Contacts { colouring, split, constraints, onsets, cell, coupling, wake };
            impact::solve(settings, world, contacts, velocities, book)
        });
        report.impact_stages.add(&report.impacts);
        if keeps_works { balance::total(works, &mut **coupling) } else { works }
    }

    /// Predict, warm start, sweeps, balance: runs the continuous solve with these settings. Returns its works, all zero unless works are
    /// kept.
    fn solve_contacts(&mut self, end: f64, settings: &Settings) -> EnergyBalance {
        let keeps_works = self.keeps_works();
        let Self {
            world,
            law,
            patches,
            colouring,
            split,
            constraints,
            onsets,
            velocities,
            stages,
            report,
            solver,
            bonds,
            bridges,
            coupling,
            cell,
            ..
        } = self;
        let (h, before) = (settings.substep(), &self.velocities_before);
        let at_start = cell.as_mut().map_or(Flow::default(), CellMotion::begin);
        let mut joints = stages.time("predict", || {
            narrowphase::set_targets(constraints, onsets, at_start, velocities);
            predict::carry_off(at_start, h, velocities);
            predict::start_solve(world, settings, end, (constraints, onsets), velocities, bonds)
        });
        let problem = ContactProblem::new(colouring, split, constraints, velocities, &mut joints);
        let mut wake = |velocities: &[Velocity]| {
            narrowphase::wake(world, law, &mut patches.manifolds, velocities, onsets)
        };
        let problem = problem.in_world(world).bonded(bonds).in_cell(cell.as_mut());
        let mut problem = problem.coupled(&mut **coupling).woken_by(&mut wake);
        if settings.warm_start.updates_velocities() || world.is_cohesive() {
            stages.time("warm_start", || {
                warm_start::apply(settings.warm_start, &mut problem);
                problem.push(|constraints, velocities| bridges.drag(world, h, constraints, velocities));
            });
        }
        let start = Instant::now();
        let outcome = solvers::solve(solver, settings, &mut problem, Limits::of(settings), None);
        report.sweeps = outcome.sweeps;
        stages.add("sweep", start.elapsed().as_secs_f64() - outcome.testing);
        if settings.tolerance_kind == ToleranceKind::Impulses {
            stages.add("convergence", outcome.testing);
        }
        joints.keep(h, world);
        bonds.keep(h, world);
        report.work.add(report.sweeps, report.contacts);
        if !keeps_works {
            return EnergyBalance::default();
        }
        stages.time("balance", || {
            let flow = cell.as_ref().map_or(Flow::default(), |cell| cell.flow().mean(at_start));
            let held = (&joints, &*bonds, &*bridges, flow);
            let works =
                balance::book_solve(world, h, constraints, held, [before, velocities], &mut **coupling);
            works + balance::book_cell(world, h, at_start, [before, velocities])
        })
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
    fn makes_energy_at_once(&mut self, works: &EnergyBalance) -> bool {
        let Self { world, settings, velocities, coupling, .. } = self;
        let share = largest_gain_at_once(settings, world);
        let mut scale = || {
            let own = balance::kinetic_scale(world, settings.substep(), velocities, &**coupling);
            coupling.sums([own])[0]
        };
        works.made() > 0.0 && share.is_finite() && works.made() > share * scale()
    }

    /// Whether the works of a substep are kept.
    fn keeps_works(&self) -> bool {
        keeps_works(self.is_guarded, &self.settings, &self.world)
    }
}

/// Whether the works of a substep are kept: for the guard \[E12\], for the energy balance, or for the heat that they make.
fn keeps_works(is_guarded: bool, settings: &Settings, world: &World) -> bool {
    is_guarded || settings.bookkeeping == Bookkeeping::On || world.friction_heat().is_some()
}
