//! What a solver of the contact problem is: it turns a problem into impulses.

use super::gradient::ProjectedGradient;
use super::problem::Problem;
use super::sweep::ProjectedGaussSeidel;
use crate::settings::{Algorithm, Settings, ToleranceKind};

/// How far a solve goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Sweeps at most \[-\].
    pub iterations: u32,
    /// Ends when a sweep changed less than this, in the unit of its kind; 0: never.
    pub tolerance: f64,
    /// What is compared with it.
    pub tolerance_kind: ToleranceKind,
}

impl Limits {
    /// Those of these settings.
    pub fn of(settings: &Settings) -> Limits {
        let Settings { iterations, tolerance, tolerance_kind, .. } = *settings;
        Limits { iterations, tolerance, tolerance_kind }
    }

    /// So many sweeps, whatever they change.
    pub fn sweeps(iterations: u32) -> Limits {
        Limits { iterations, tolerance: 0.0, tolerance_kind: ToleranceKind::Velocity }
    }

    /// Whether the change of all impulses decides.
    pub(super) fn compares_impulses(&self) -> bool {
        self.tolerance > 0.0 && self.tolerance_kind == ToleranceKind::Impulses
    }

    /// Whether a sweep that changed its rows by so much \[m/s\], or its impulses by this share \[-\], is the last.
    pub(super) fn are_met(&self, change: f64, share: f64) -> bool {
        match self.tolerance_kind {
            ToleranceKind::Velocity => change < self.tolerance,
            ToleranceKind::Impulses => self.tolerance > 0.0 && share < self.tolerance,
        }
    }
}

/// What came of a solve, so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Outcome {
    /// Sweeps done.
    pub sweeps: u32,
    /// By how much the constraint that changed most did in the last of them, D |Δλ| \[m/s\]; of joints alone unless it is compared with a
    /// tolerance or watched.
    pub change: f64,
    /// Wall seconds in passes over the contacts that only tell whether the solve is over \[s\].
    pub testing: f64,
}

/// Called after every sweep, with what came of the solve so far and the problem as it is by then.
pub type Watch<'a> = dyn FnMut(&Outcome, &Problem<'_>) + 'a;

/// A solver of the contact problem.
pub trait Solver {
    /// Brings the impulses of the contacts and joints of a problem, and the velocities of its bodies with them, to a solution.
    fn solve(&mut self, problem: &mut Problem<'_>, limits: Limits, watch: Option<&mut Watch<'_>>) -> Outcome;
}

/// Solves a problem as the settings ask for; `sweeps` are kept from solve to solve, as is their memory.
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
