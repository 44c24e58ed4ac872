//! The solvers of the CPU engine, and which one solves a problem.

use crate::contact::problem::Problem;
use crate::contact::solver::{Limits, Outcome, Solver, Watch};
use crate::settings::{Algorithm, Settings};

use super::gradient::ProjectedGradient;
use super::sweep::ProjectedGaussSeidel;

/// Solves a problem with the algorithm of the settings. `sweeps` is kept from solve to solve, so that its memory is reused.
pub fn solve(
    sweeps: &mut ProjectedGaussSeidel,
    settings: &Settings,
    problem: &mut Problem<'_>,
    limits: Limits,
    watch: Option<&mut Watch<'_>>,
) -> Outcome {
    match settings.algorithm {
        Algorithm::Pgs => {
            sweeps.set(settings);
            sweeps.solve(problem, limits, watch)
        }
        Algorithm::Apgd => ProjectedGradient.solve(problem, limits, watch),
    }
}
