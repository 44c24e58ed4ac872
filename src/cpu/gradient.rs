//! Accelerated projected gradient descent \[E15\]: changes all contacts at once, for the convex problem next to Coulomb's law (the cone
//! complementarity problem).
//!
//! An iteration reads the velocities at each contact once and applies the changes of the impulses to each body once. No contact waits for
//! another, and the order of the contacts, which matters in \[E5\], has no effect.

use rayon::prelude::*;

use crate::contact::Impulse;
use crate::contact::constraint::{Constraint, change_since, times_d};
use crate::contact::pass::{Give, Push};
use crate::contact::problem::{ContactProblem, linear_square, relative};
use crate::contact::solver::{AfterSweep, Limits, Outcome, Solver};
use crate::contact::tasks::SWEEP_CHUNK;
use crate::contact::velocity::Velocity;
use crate::law::cone::{BoundedPart, Cone, nearest_normal};
use crate::settings::{FIRST_STEEPNESS, FLATTER, STEEPER};

use super::residual;

/// Bound on the steepness per contact of the body that has most contacts: the normal, friction and rolling rows of a contact are each
/// coupled with the rows of the others.
const ROWS: f64 = 3.0;

/// Bytes that an iteration moves per contact: four passes over the constraints, of which two write impulses, the velocities of both bodies
/// thrice, and four passes over the list of `Row`, of which two write.
pub const BYTES_PER_CONTACT_ITERATION: u64 = (4 * size_of::<Constraint>()
    + 2 * size_of::<Impulse>()
    + 8 * size_of::<Velocity>()
    + 6 * size_of::<Iterate>()) as u64;

/// Accelerated projected gradient descent \[E15\].
#[derive(Debug, Clone, Copy, Default)]
pub struct ProjectedGradient;

/// State of a contact in an iteration, beside its constraint.
#[derive(Debug, Clone, Copy, Default)]
struct Iterate {
    /// Impulse after the iteration before, and the slope of the objective there.
    start: Impulse,
    slope_at_start: Impulse,
    /// Extrapolated impulse from which this iteration starts, and the slope there.
    point: Impulse,
    slope_at_point: Impulse,
    /// Slope at the impulse that this iteration reached.
    slope: Impulse,
}

/// Result of an iteration, summed over the contacts.
struct IterationSums {
    /// Whether the objective curves more along the step than the steepness assumes.
    is_too_steep: bool,
    /// Whether the objective rises along the change of the impulses.
    is_uphill: bool,
    /// Relative change of the linear impulses, √(Σ |Δλ|² / Σ |λ|²) \[-\].
    change: f64,
}

impl ProjectedGradient {
    /// Bytes allocated for the time of a solve, for this many contacts.
    pub fn passing_bytes(contacts: u64) -> u64 {
        contacts * size_of::<Iterate>() as u64
    }
}

impl Solver for ProjectedGradient {
    fn solve(
        &mut self,
        problem: &mut ContactProblem<'_>,
        limits: Limits,
        mut watch: Option<&mut AfterSweep<'_>>,
    ) -> Outcome {
        problem.prepare();
        let mut at_start = problem.solve_joints();
        let mut descent = Descent::new(problem);
        let mut outcome = Outcome::default();
        while outcome.sweeps < limits.iterations {
            let [change, share] = descent.iterate(problem);
            let change = change.max(std::mem::take(&mut at_start));
            outcome = Outcome { sweeps: outcome.sweeps + 1, change, ..outcome };
            if let Some(watch) = &mut watch {
                watch(&outcome, problem);
            }
            if limits.are_met(outcome.change, share) {
                break;
            }
        }
        outcome
    }
}

/// Convex problem of the impulses of contacts, whatever gives its slope: bodies, or a matrix \[E15\].
pub trait ConvexProblem {
    /// Contacts, with their present impulses.
    fn constraints(&self) -> &[Constraint];

    /// Calls `of_contact` for every contact with the slope of the objective there and its value in a list, which has one value per contact.
    /// Returns the sums of what `of_contact` returns; their bits do not depend on the threads.
    fn with_slopes<T: Send, const N: usize>(
        &self,
        list: &mut [T],
        of_contact: impl Fn(&Constraint, Impulse, &mut T) -> [f64; N] + Sync,
    ) -> [f64; N];

    /// Gives every contact the impulse that `target` returns for its value in a list. Returns the largest change of a joint \[m/s\].
    fn go<T: Sync>(&mut self, list: &[T], target: impl Fn(&Constraint, &T) -> Impulse + Sync) -> f64;

    /// Bound on the number of contacts that move with a contact, itself included \[-\].
    fn most_coupled(&self) -> f64;
}

impl ConvexProblem for ContactProblem<'_> {
    fn constraints(&self) -> &[Constraint] {
        ContactProblem::constraints(self)
    }

    fn with_slopes<T: Send, const N: usize>(
        &self,
        list: &mut [T],
        of_contact: impl Fn(&Constraint, Impulse, &mut T) -> [f64; N] + Sync,
    ) -> [f64; N] {
        self.beside(list, |constraint, velocities, value| {
            of_contact(constraint, residual::slope(constraint, velocities), value)
        })
    }

    fn go<T: Sync>(&mut self, list: &[T], target: impl Fn(&Constraint, &T) -> Impulse + Sync) -> f64 {
        self.aim(list, target);
        self.visit(&Give(go_to_target));
        self.solve_joints()
    }

    fn most_coupled(&self) -> f64 {
        most_contacts_of_a_body(self)
    }
}

/// Descent in progress: what it keeps from iteration to iteration.
#[derive(Debug)]
pub struct Descent {
    rows: Vec<Iterate>,
    steepness: f64,
    steepest: f64,
    momentum: Momentum,
}

impl Descent {
    /// Starts at the present impulses of a problem.
    pub fn new(problem: &impl ConvexProblem) -> Descent {
        let steepest = ROWS * problem.most_coupled();
        let rows = vec![Iterate::default(); problem.constraints().len()];
        let mut descent =
            Descent { rows, steepness: FIRST_STEEPNESS, steepest, momentum: Momentum::default() };
        descent.restart(problem);
        descent
    }

    /// Starts again at the present impulses, as after a change of the problem; the steepness stays.
    pub fn restart(&mut self, problem: &impl ConvexProblem) {
        problem.with_slopes(&mut self.rows, |constraint, slope, row| {
            *row = Iterate { start: constraint.impulse, slope_at_start: slope, slope, ..Iterate::default() };
            []
        });
        self.momentum = Momentum::default();
    }

    /// Does one iteration. Returns the largest change of a constraint or joint \[m/s\], and the relative change of the linear impulses
    /// \[-\].
    pub fn iterate(&mut self, problem: &mut impl ConvexProblem) -> [f64; 2] {
        let share = self.momentum.next();
        let contacts = problem.constraints().par_iter().zip(&mut self.rows).with_min_len(SWEEP_CHUNK);
        contacts.for_each(|(constraint, row)| row.go_on(&constraint.impulse, share));
        let (change, course) = loop {
            let (change, course) = step(problem, &mut self.rows, self.steepness);
            if !course.is_too_steep || self.steepness >= self.steepest {
                break (change, course);
            }
            self.steepness *= STEEPER;
        };
        self.steepness *= FLATTER;
        if course.is_uphill {
            self.momentum = Momentum::default();
        }
        [change, course.change]
    }
}

/// Extrapolation factors of the iterations: Nesterov's sequence.
#[derive(Debug)]
struct Momentum {
    theta: f64,
}

impl Default for Momentum {
    fn default() -> Momentum {
        Momentum { theta: f64::NAN }
    }
}

impl Momentum {
    /// Extrapolation factor β of the next iteration \[-\]; 0 for the first.
    fn next(&mut self) -> f64 {
        if self.theta.is_nan() {
            self.theta = 1.0;
            return 0.0;
        }
        let (theta, square) = (self.theta, self.theta * self.theta);
        self.theta = 0.5 * (theta * (square + 4.0).sqrt() - square);
        theta * (1.0 - theta) / (square + self.theta)
    }
}

impl Iterate {
    /// Makes the impulse the next start, and extrapolates it by a share of the last change to the next point. The slope is extrapolated
    /// alike, as it is linear in the impulses.
    fn go_on(&mut self, impulse: &Impulse, share: f64) {
        self.point = impulse.beyond(&self.start, share);
        self.slope_at_point = self.slope.beyond(&self.slope_at_start, share);
        self.start = *impulse;
        self.slope_at_start = self.slope;
    }
}

/// Goes from the points of the rows down the slope, by 1/(steepness D), and projects onto the cones. Returns the largest change of a
/// constraint or joint \[m/s\], and the course of the iteration.
fn step(problem: &mut impl ConvexProblem, rows: &mut [Iterate], steepness: f64) -> (f64, IterationSums) {
    let of_joints = problem.go(rows, |constraint, row| {
        let [normal, tangent, rolling] = constraint.effective_mass.map(|mass| mass / steepness);
        let (point, slope) = (&row.point, &row.slope_at_point);
        let trial = Impulse {
            normal: point.normal - normal * slope.normal,
            tangent: point.tangent - tangent * slope.tangent,
            rolling: point.rolling - rolling * slope.rolling,
        };
        into_cone(constraint, &trial)
    });
    let [curvature, length, rise, change, size] =
        problem.with_slopes(rows, |constraint, slope, row| row.arrive(constraint, slope));
    let changes = problem.constraints().par_iter().zip(&*rows).with_min_len(SWEEP_CHUNK);
    let changes = changes.map(|(constraint, row)| change_since(constraint, &row.start));
    let largest = changes.reduce(|| 0.0, f64::max);
    let course = IterationSums {
        is_too_steep: curvature > steepness * length,
        is_uphill: rise > 0.0,
        change: relative(change, size),
    };
    (largest.max(of_joints), course)
}

impl Iterate {
    /// Stores the slope at the new impulse. Returns the contribution of the constraint to five sums: the curvature along the step from the
    /// point, the square of the step in units of D, the rise along the change since the start, the square of that change, and the square of
    /// the impulse.
    fn arrive(&mut self, constraint: &Constraint, slope: Impulse) -> [f64; 5] {
        self.slope = slope;
        let step = constraint.impulse.less(&self.point);
        let d = constraint.effective_mass.map(|mass| times_d(1.0, mass));
        let length = d[0] * step.normal * step.normal
            + d[1] * step.tangent.length_squared()
            + d[2] * step.rolling.length_squared();
        let bend = self.slope.less(&self.slope_at_point);
        let change = constraint.impulse.less(&self.start);
        let [changed, size] = [&change, &constraint.impulse].map(linear_square);
        [step.dot(&bend), length, self.slope_at_point.dot(&change), changed, size]
    }
}

/// Number of contacts of the body that has most.
fn most_contacts_of_a_body(problem: &ContactProblem<'_>) -> f64 {
    let mut contacts = vec![0u32; problem.velocities().len()];
    problem.gather(&mut contacts, |_, _, counts| {
        counts.into_iter().flatten().for_each(|count| *count += 1);
    });
    f64::from(contacts.into_iter().max().unwrap_or_default())
}

/// Projects an impulse onto the cone of its contact: returns the nearest impulse in units of D. All parts are projected at once, where
/// \[E5\] takes the normal impulse as given.
fn into_cone(constraint: &Constraint, trial: &Impulse) -> Impulse {
    let d = constraint.effective_mass.map(|mass| times_d(1.0, mass));
    if d[0] == 0.0 {
        return Impulse::default();
    }
    let part = |slope: f64, length: f64, weight: f64| BoundedPart { slope, length, weight };
    let parts = [
        part(constraint.friction, trial.tangent.length(), d[1]),
        part(constraint.rolling_arm, trial.rolling.length(), d[2]),
    ];
    let normal = nearest_normal(trial.normal, d[0], parts);
    Impulse {
        normal,
        tangent: constraint.within_friction(Cone::Disc, trial.tangent, normal),
        rolling: constraint.within_rolling(Cone::Disc, trial.rolling, normal),
    }
}

/// Swaps `impulse` and `last_impulse`; returns the change of the impulse, for the bodies.
#[inline(always)]
fn go_to_target(constraint: &mut Constraint) -> Option<Push> {
    let Constraint { impulse, last_impulse, .. } = constraint;
    if impulse == last_impulse {
        return None;
    }
    std::mem::swap(impulse, last_impulse);
    Some(Push::of(&impulse.less(last_impulse), constraint.normal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    /// Squared distance in units of D.
    fn distance(constraint: &Constraint, a: &Impulse, b: &Impulse) -> f64 {
        let d = constraint.effective_mass.map(|mass| 1.0 / mass);
        let apart = a.less(b);
        d[0] * apart.normal.powi(2)
            + d[1] * apart.tangent.length_squared()
            + d[2] * apart.rolling.length_squared()
    }

    /// Least distance found by trying 100 000 normal impulses, each with the friction and rolling impulses that it allows.
    fn least_distance(constraint: &Constraint, trial: &Impulse) -> f64 {
        let tried = (0..100_000).map(|i| {
            let normal = f64::from(i) * 1e-4;
            let tangent = constraint.within_friction(Cone::Disc, trial.tangent, normal);
            let rolling = constraint.within_rolling(Cone::Disc, trial.rolling, normal);
            distance(constraint, &Impulse { normal, tangent, rolling }, trial)
        });
        tried.fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn the_nearest_impulse_of_a_cone_is_nearer_than_any_other() {
        let normals = [-2.0, -0.3, 0.0, 0.4, 3.0];
        let lengths = [0.0, 0.2, 1.0, 4.0];
        let mut inside = 0;
        for (friction, rolling_arm) in [(0.0, 0.0), (0.5, 0.0), (0.5, 0.01), (2.0, 0.3), (0.0, 0.1)] {
            let effective_mass = [0.5, 0.7, 3e-4];
            let constraint = Constraint {
                normal: DVec3::Z,
                effective_mass,
                friction,
                rolling_arm,
                ..Constraint::default()
            };
            for (normal, tangent, rolling) in normals
                .iter()
                .flat_map(|n| lengths.iter().flat_map(move |t| lengths.map(|r| (*n, *t, 0.02 * r))))
            {
                let trial = Impulse {
                    normal,
                    tangent: tangent * DVec3::X,
                    rolling: rolling * DVec3::new(0.6, 0.0, 0.8),
                };
                let found = into_cone(&constraint, &trial);
                let excess = distance(&constraint, &found, &trial) - least_distance(&constraint, &trial);
                assert!((-1e-6..1e-9).contains(&excess), "{friction}, {rolling_arm}, {trial:?}: {found:?}");
                assert!(found.normal >= 0.0 && found.tangent.length() <= friction * found.normal + 1e-12);
                assert!(found.rolling.length() <= rolling_arm * found.normal + 1e-12);
                inside += u32::from(found == trial);
            }
        }
        assert!(inside > 20, "{inside} of the trials are in their cone");
    }

    #[test]
    fn shares_of_the_last_change_grow_from_nothing_towards_one() {
        let mut momentum = Momentum::default();
        let shares: Vec<f64> = (0..100).map(|_| momentum.next()).collect();
        assert_eq!(shares[..2], [0.0, 0.0]);
        assert!(shares[1..].is_sorted() && shares[99] < 1.0 && shares[99] > 0.95, "{shares:?}");
    }
}
