//! Sweeps of projected Gauss-Seidel over a local problem: each step is that of the engine \[E5\], with a row of W in place of two bodies.

use glam::DVec3;

use crate::contact::constraint::{Constraint, Response};
use crate::cpu::sweep::solve_at;
use crate::law::cone::Cone;

use super::frame::{as_vector, constraints, in_frame, numbers_of, response};
use super::matrix::BlockRows;
use super::order::Ordered;
use super::{Iteration, LocalProblem, LocalSolution};

/// Projected Gauss-Seidel in progress.
pub(super) struct LocalSweeps<'a, const D: usize> {
    rows: BlockRows<'a, D>,
    q: &'a [[f64; D]],
    constraints: Vec<Constraint>,
    responses: Vec<Response>,
    impulses: Vec<[f64; D]>,
    problem: &'a LocalProblem,
    size: f64,
}

impl<'a, const D: usize> LocalSweeps<'a, D> {
    /// Starts from these impulses.
    pub fn new(ordered: &'a Ordered<'a>, start: &[f64]) -> LocalSweeps<'a, D> {
        let problem = &ordered.problem;
        let (rows, impulses) = (problem.matrix.rows::<D>(), start.as_chunks::<D>().0.to_vec());
        LocalSweeps {
            rows,
            q: problem.q.as_chunks::<D>().0,
            constraints: constraints(problem, &impulses),
            responses: (0..problem.contacts()).map(|row| response(rows.diagonal(row))).collect(),
            impulses,
            problem,
            size: problem.size(),
        }
    }
}

impl<const D: usize> Iteration for LocalSweeps<'_, D> {
    fn advance(&mut self) -> f64 {
        let LocalSweeps { rows, q, constraints, responses, impulses, .. } = self;
        let mut change = 0.0;
        for (row, (constraint, response)) in constraints.iter_mut().zip(responses).enumerate() {
            let velocity = in_frame(&rows.velocity(row, &q[row], impulses));
            let block = rows.diagonal(row);
            let spin = |linear: DVec3| {
                let at = |i: usize| {
                    if i < D {
                        block[i][0] * linear.x + block[i][1] * linear.y + block[i][2 % D] * linear.z
                    } else {
                        0.0
                    }
                };
                velocity.rolling + DVec3::new(0.0, at(3), at(4))
            };
            solve_at(constraint, response, Cone::Disc, as_vector(&velocity), spin);
            let now: [f64; D] = numbers_of(&constraint.impulse);
            let before = std::mem::replace(&mut impulses[row], now);
            change += now.iter().zip(before).map(|(now, before)| (now - before).powi(2)).sum::<f64>();
        }
        change.sqrt()
    }

    fn residual(&mut self) -> f64 {
        self.problem.residual(&self.impulses, self.size)
    }

    fn solution(&self) -> LocalSolution {
        self.problem.solution(&self.impulses)
    }
}
