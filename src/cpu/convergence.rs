//! Convergence study inside a step: solves the next substep of a state on the side, from several starts, sweep by sweep.
//!
//! The problem (gaps, constraints, impacts, targets) is made once from the state, as a step makes it after a contact search; only the start
//! \[E7\] differs. The state is only read, so the engine that it came from goes on undisturbed.
//!
//! Every solve has a reference solution of its own: more sweeps from the same start. Contacts with friction have many solutions, and the
//! start decides which one the sweeps come to: on a pile of 3 363 grains λ_n from a cold start and from the impulses of the step before
//! differ by 0.8 % after 20 000 sweeps. An error against a common solution would never fall below that.

use crate::contact::Key;
use crate::contact::constraint::Constraint;
use crate::contact::coupling::Alone;
use crate::contact::flow::Flow;
use crate::contact::problem::ContactProblem;
use crate::contact::solver::{Limits, Outcome};
use crate::contact::velocity::Velocity;
use crate::engine::Snapshot;
use crate::engine::convergence::{Convergence, Histogram, ImpulseError, Point, Question, SolveCourse};
use crate::law::cone::Cone;
use crate::model::World;
use crate::settings::{Settings, WarmStart};

use super::predict::start_solve;
use super::{CpuEngine, narrowphase, residual, solvers, warm_start};

/// Solves the next substep of a state from every start in `question`.
///
/// # Panics
/// Under the smooth method, which has no sweeps.
pub fn solve_aside(snapshot: &Snapshot, settings: &Settings, question: &Question) -> Convergence {
    // Inside a scope the work stays in the pool; called from outside, every colour would wake it anew.
    rayon::scope(|_| {
        let mut problem = StudiedSubstep::next(snapshot, settings);
        let courses = question.starts.iter().map(|&start| problem.course(start, question)).collect();
        Convergence { time: snapshot.world.time, courses }
    })
}

/// Contact problem of a substep that is not solved yet: no contact has an impulse.
#[derive(Debug, Clone)]
pub struct UnsolvedSubstep {
    /// World at the start of the substep.
    pub world: World,
    /// Contacts by their keys, with their targets.
    pub contacts: Vec<(Key, Constraint)>,
    /// Velocities after the impacts, under the external forces and cohesion.
    pub velocities: Vec<Velocity>,
}

/// Makes the contact problem of the substep that follows a state.
///
/// # Panics
/// Under the smooth method, which has none.
pub fn next_substep(snapshot: &Snapshot, settings: &Settings) -> UnsolvedSubstep {
    let mut substep = StudiedSubstep::next(snapshot, settings);
    substep.solve(WarmStart::Cold, 0, |_, _, _| {});
    let CpuEngine { world, keys, colouring, constraints, velocities, .. } = substep.engine;
    let key = |&contact: &u32| keys[contact as usize];
    let mut contacts: Vec<(Key, Constraint)> = colouring.order.iter().map(key).zip(constraints).collect();
    contacts.sort_by_key(|(key, _)| *key);
    UnsolvedSubstep { world, contacts, velocities }
}

/// The contact problem of a substep, before a start is chosen.
struct StudiedSubstep {
    /// Holds the constraints and velocities of the solve in progress.
    engine: CpuEngine,
    /// Contact constraints with their targets and the impulses of the substep before.
    constraints: Vec<Constraint>,
    /// Velocities after the impact stage.
    velocities: Vec<Velocity>,
}

impl StudiedSubstep {
    /// Makes the problem of the substep that follows a state.
    fn next(snapshot: &Snapshot, settings: &Settings) -> StudiedSubstep {
        let mut engine = CpuEngine::new(snapshot.world.clone(), *settings);
        let seeds: Vec<_> =
            snapshot.contacts.iter().map(|contact| (contact.key, contact.carried())).collect();
        engine.hold_seeds(&seeds);
        engine.find_contacts();
        engine.aim();
        StudiedSubstep {
            constraints: engine.constraints.clone(),
            velocities: engine.velocities.clone(),
            engine,
        }
    }

    /// Solves from one start: to the reference solution, then once more, sweep by sweep.
    fn course(&mut self, start: WarmStart, question: &Question) -> SolveCourse {
        let cone = self.engine.settings.cone;
        let mut reference = Vec::new();
        let mut solution = None;
        self.solve(start, question.reference, |sweep, _, problem| {
            if sweep == question.reference {
                reference = normal_impulses(problem.constraints());
                solution = Some(point(cone, sweep, &reference, problem));
            }
        });

        let Settings { iterations, tolerance, .. } = self.engine.settings;
        let (mut points, mut histograms) = (Vec::new(), None);
        let sweeps = question.sweeps.max(iterations);
        self.solve(start, sweeps, |sweep, change, problem| {
            if sweep <= question.sweeps {
                points.push(point(cone, sweep, &reference, problem));
            }
            if sweep == iterations || change < tolerance {
                histograms
                    .get_or_insert_with(|| histograms_of(cone, problem.constraints(), problem.velocities()));
            }
        });
        points.extend(solution);
        let CpuEngine { constraints, velocities, .. } = &self.engine;
        SolveCourse {
            start,
            points,
            histograms: histograms.unwrap_or_else(|| histograms_of(cone, constraints, velocities)),
        }
    }

    /// Solves from one start. `visit` is called before the first sweep (0) and after every sweep, with the number of sweeps, the largest
    /// change of a constraint in the last one \[m/s\] and the problem.
    fn solve(
        &mut self,
        start: WarmStart,
        iterations: u32,
        mut visit: impl FnMut(u32, f64, &ContactProblem<'_>),
    ) {
        let CpuEngine {
            world,
            settings,
            colouring,
            split,
            constraints,
            onsets,
            velocities,
            solver,
            bonds,
            bridges,
            ..
        } = &mut self.engine;
        constraints.clone_from(&self.constraints);
        velocities.clone_from(&self.velocities);
        settings.warm_start = start;
        let end = world.time + settings.substep();
        let mut joints = start_solve(world, settings, end, (constraints, onsets), velocities, bonds);
        let problem = ContactProblem::new(colouring, split, constraints, velocities, &mut joints);
        let mut problem = problem.in_world(world).bonded(bonds);
        warm_start::apply(start, &mut problem);
        let h = settings.substep();
        problem.push(|constraints, velocities| bridges.drag(world, h, constraints, velocities));
        visit(0, f64::INFINITY, &problem);
        let mut watch = |outcome: &Outcome, problem: &ContactProblem<'_>| {
            visit(outcome.sweeps, outcome.change, problem);
        };
        solvers::solve(solver, settings, &mut problem, Limits::sweeps(iterations), Some(&mut watch));
    }
}

fn point(cone: Cone, sweep: u32, reference: &[f64], problem: &ContactProblem<'_>) -> Point {
    let (constraints, velocities) = (problem.constraints(), problem.velocities());
    let [normal_without_compliance] =
        residual::spreads(constraints, velocities, residual::normal_without_compliance);
    Point {
        sweep,
        residuals: residual::measure(cone, Flow::default(), constraints, velocities),
        normal_without_compliance,
        objective: problem.world().map_or(f64::NAN, |world| {
            residual::objective(world, Flow::default(), constraints, velocities, &mut Alone)
        }),
        error: ImpulseError::between(&normal_impulses(constraints), reference),
    }
}

fn normal_impulses(constraints: &[Constraint]) -> Vec<f64> {
    constraints.iter().map(|constraint| constraint.impulse.normal).collect()
}

fn histograms_of(cone: Cone, constraints: &[Constraint], velocities: &[Velocity]) -> [Histogram; 3] {
    let of_constraint = |constraint: &Constraint| {
        let [a, b] = constraint.bodies.map(|body| &velocities[body as usize]);
        residual::of_contact(cone, constraint, a, b)
    };
    let residuals: Vec<[f64; 3]> = constraints.iter().map(of_constraint).collect();
    [0, 1, 2].map(|kind| Histogram::of(residuals.iter().map(|residual| residual[kind])))
}

impl CpuEngine {
    /// Makes constraints, impacts and targets of the next substep: all that comes before the start of its solve.
    fn aim(&mut self) {
        self.load_velocities(self.world.time + self.settings.substep());
        self.fill_constraints(false);
        self.solve_impacts();
        narrowphase::set_targets(&mut self.constraints, &self.onsets, Flow::default(), &self.velocities);
    }
}
