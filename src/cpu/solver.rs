//! What a solver of the contact problem is: it turns a problem into impulses.

use super::problem::Problem;

/// How far a solve goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Sweeps at most \[-\].
    pub iterations: u32,
    /// Ends when no constraint changed by as much in a sweep, D |Δλ| \[m/s\]; 0: never.
    pub tolerance: f64,
}

/// What came of a solve, so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Outcome {
    /// Sweeps done.
    pub sweeps: u32,
    /// By how much the constraint that changed most did in the last of them, D |Δλ| \[m/s\]; of joints alone unless it is compared with a
    /// tolerance or watched.
    pub change: f64,
}

/// Called after every sweep, with what came of the solve so far and the problem as it is by then.
pub type Watch<'a> = dyn FnMut(&Outcome, &Problem<'_>) + 'a;

/// A solver of the contact problem.
pub trait Solver {
    /// Brings the impulses of the contacts and joints of a problem, and the velocities of its bodies with them, to a solution.
    fn solve(&mut self, problem: &mut Problem<'_>, limits: Limits, watch: Option<&mut Watch<'_>>) -> Outcome;
}
