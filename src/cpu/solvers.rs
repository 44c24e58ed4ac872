//! The solvers of the CPU engine, and which one solves a problem.

use crate::contact::problem::ContactProblem;
use crate::contact::solver::{AfterSweep, Limits, Outcome, Solver};
use crate::settings::{Algorithm, Settings};

use super::gradient::ProjectedGradient;
use super::sweep::ProjectedGaussSeidel;

/// Solves a problem with the algorithm of the settings. `sweeps` is kept from solve to solve, so that its memory is reused.
pub fn solve(
    sweeps: &mut ProjectedGaussSeidel,
    settings: &Settings,
    problem: &mut ContactProblem<'_>,
    limits: Limits,
    watch: Option<&mut AfterSweep<'_>>,
) -> Outcome {
    match settings.algorithm {
        Algorithm::Pgs => {
            sweeps.set(settings);
            sweeps.solve(problem, limits, watch)
        }
        Algorithm::Apgd => ProjectedGradient.solve(problem, limits, watch),
    }
}
