//! Solvers of the contact problem: a solver turns a contact problem into impulses.

use crate::settings::{Settings, ToleranceKind};

use super::problem::ContactProblem;

/// Stopping criteria of a solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Largest number of sweeps \[-\].
    pub iterations: u32,
    /// The solve ends when a sweep changed less than this, in the unit of `tolerance_kind`; 0: never.
    pub tolerance: f64,
    /// Quantity that is compared with the tolerance.
    pub tolerance_kind: ToleranceKind,
}

impl Limits {
    /// Stopping criteria of these settings.
    pub fn of(settings: &Settings) -> Limits {
        let Settings { iterations, tolerance, tolerance_kind, .. } = *settings;
        Limits { iterations, tolerance, tolerance_kind }
    }

    /// A fixed number of sweeps, whatever they change.
    pub fn sweeps(iterations: u32) -> Limits {
        Limits { iterations, tolerance: 0.0, tolerance_kind: ToleranceKind::Velocity }
    }

    /// Whether the change of all impulses is compared with the tolerance.
    pub(crate) fn compares_impulses(&self) -> bool {
        self.tolerance > 0.0 && self.tolerance_kind == ToleranceKind::Impulses
    }

    /// Whether the solve ends after a sweep with this largest change of a contact constraint \[m/s\] and this relative change of all
    /// impulses \[-\].
    pub(crate) fn are_met(&self, change: f64, share: f64) -> bool {
        match self.tolerance_kind {
            ToleranceKind::Velocity => change < self.tolerance,
            ToleranceKind::Impulses => self.tolerance > 0.0 && share < self.tolerance,
        }
    }
}

/// Result of a solve up to its last sweep.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Outcome {
    /// Sweeps done.
    pub sweeps: u32,
    /// Largest change of a contact constraint or joint in the last sweep, D |Δλ| \[m/s\]; of joints alone unless it is compared with a
    /// tolerance or watched.
    pub change: f64,
    /// Wall time of passes over the contacts that only test whether the solve is over \[s\].
    pub testing: f64,
}

/// Callback after every sweep, with the result so far and the present problem.
pub type AfterSweep<'a> = dyn FnMut(&Outcome, &ContactProblem<'_>) + 'a;

/// A solver of the contact problem.
pub trait Solver {
    /// Solves for the impulses of the contacts and joints of a problem, and updates the velocities of its bodies with them.
    fn solve(
        &mut self,
        problem: &mut ContactProblem<'_>,
        limits: Limits,
        watch: Option<&mut AfterSweep<'_>>,
    ) -> Outcome;
}
