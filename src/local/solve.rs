//! Solves a local problem: algorithm, order, when the residual is tested, and the course of the residual.

use std::time::Duration;

use crate::engine::clock::Instant;

use super::block::{PlaneBlock, RollingBlock, SpaceBlock};
use super::descent::LocalDescent;
use super::gauss_seidel::GaussSeidel;
use super::order::{ContactOrder, Ordered};
use super::sweeps::LocalSweeps;
use super::{Iteration, LocalProblem, LocalSolution};

/// Algorithm that solves a local problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalAlgorithm {
    /// Nonsmooth Gauss-Seidel \[E18\]: each contact solved exactly.
    Ngs,
    /// Projected Gauss-Seidel \[E5\]: the sweeps of the engine, with 1/D of the normal, of friction and of rolling.
    Pgs,
    /// Accelerated projected gradient descent \[E15\], with the fixed point of \[E18\].
    Apgd,
}

impl LocalAlgorithm {
    /// All algorithms.
    pub const ALL: [LocalAlgorithm; 3] = [LocalAlgorithm::Ngs, LocalAlgorithm::Pgs, LocalAlgorithm::Apgd];

    /// Word on the command line and in results.
    pub fn word(self) -> &'static str {
        match self {
            LocalAlgorithm::Ngs => "ngs",
            LocalAlgorithm::Pgs => "pgs",
            LocalAlgorithm::Apgd => "apgd",
        }
    }

    /// Whether the order of the contacts matters to it.
    pub fn has_order(self) -> bool {
        self != LocalAlgorithm::Apgd
    }
}

/// When a solve ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalLimits {
    /// Residual at which the problem counts as solved \[-\].
    pub tolerance: f64,
    /// Largest number of sweeps or iterations.
    pub iterations: u32,
}

/// Residual at one time of a solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoursePoint {
    /// Sweeps or iterations so far.
    pub iterations: u32,
    /// Time since the start, tests of the residual included \[s\].
    pub seconds: f64,
    /// Natural map relative to |q| \[-\].
    pub residual: f64,
}

/// Result of a solve.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalReport {
    /// Residual over the solve; the last point is that of the solution.
    pub course: Vec<CoursePoint>,
    /// The solution, or what the last iteration left.
    pub solution: LocalSolution,
    /// Whether the tolerance is met.
    pub solved: bool,
}

impl LocalReport {
    /// Last point of the course.
    pub fn end(&self) -> CoursePoint {
        self.course.last().copied().unwrap_or(CoursePoint { iterations: 0, seconds: 0.0, residual: f64::NAN })
    }
}

/// Solves a problem from these impulses. The time includes that in which it is brought into its order.
///
/// # Panics
/// If the dimension is none of 2, 3 and 5.
pub fn solve(
    problem: &LocalProblem,
    algorithm: LocalAlgorithm,
    order: ContactOrder,
    limits: LocalLimits,
    start: &[f64],
) -> LocalReport {
    let clock = Instant::now();
    let ordered = Ordered::new(problem, order);
    let start = ordered.in_this_order(start);
    let mut iteration: Box<dyn Iteration> = match (algorithm, problem.dimension()) {
        (LocalAlgorithm::Ngs, 2) => Box::new(GaussSeidel::<2, PlaneBlock>::new(&ordered, &start)),
        (LocalAlgorithm::Ngs, 3) => Box::new(GaussSeidel::<3, SpaceBlock>::new(&ordered, &start)),
        (LocalAlgorithm::Ngs, 5) => Box::new(GaussSeidel::<5, RollingBlock>::new(&ordered, &start)),
        (LocalAlgorithm::Pgs, 2) => Box::new(LocalSweeps::<2>::new(&ordered, &start)),
        (LocalAlgorithm::Pgs, 3) => Box::new(LocalSweeps::<3>::new(&ordered, &start)),
        (LocalAlgorithm::Pgs, 5) => Box::new(LocalSweeps::<5>::new(&ordered, &start)),
        (LocalAlgorithm::Apgd, 2) => Box::new(LocalDescent::<2>::new(&ordered, &start)),
        (LocalAlgorithm::Apgd, 3) => Box::new(LocalDescent::<3>::new(&ordered, &start)),
        (LocalAlgorithm::Apgd, 5) => Box::new(LocalDescent::<5>::new(&ordered, &start)),
        (_, dimension) => panic!("a contact has 2, 3 or 5 components, not {dimension}"),
    };
    let course = run(iteration.as_mut(), limits, || clock.elapsed());
    let LocalSolution { impulses, velocities } = iteration.solution();
    let solution =
        LocalSolution { impulses: ordered.as_given(&impulses), velocities: ordered.as_given(&velocities) };
    let solved = course.last().is_some_and(|end| end.residual <= limits.tolerance);
    LocalReport { course, solution, solved }
}

/// Part of the iterations so far after which the residual is tested anew, whatever the changes are.
const TESTS_PER_ITERATION: u32 = 4;

/// Iterates until the residual meets the tolerance, or nothing more may be done.
///
/// A test takes about as long as a sweep. Residual and change shrink in proportion while the convergence is even: so a test is made when
/// the change says that the tolerance may be met, and else each time a quarter more iterations are done.
fn run(
    iteration: &mut dyn Iteration,
    limits: LocalLimits,
    elapsed: impl Fn() -> Duration,
) -> Vec<CoursePoint> {
    let mut course = Vec::new();
    let (mut done, mut change) = (0, f64::INFINITY);
    loop {
        let residual = iteration.residual();
        course.push(CoursePoint { iterations: done, seconds: elapsed().as_secs_f64(), residual });
        if residual <= limits.tolerance || done >= limits.iterations || !residual.is_finite() {
            return course;
        }
        let next = done + 1 + done / TESTS_PER_ITERATION;
        let enough = if change.is_finite() { change * limits.tolerance / residual } else { 0.0 };
        while done < limits.iterations {
            change = iteration.advance();
            done += 1;
            if done >= next || change <= enough {
                break;
            }
        }
    }
}
