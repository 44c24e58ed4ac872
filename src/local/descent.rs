//! Projected gradient descent on a local problem \[E15\], and the fixed point that makes its convex law Coulomb's \[E18\].

use rayon::prelude::*;

use crate::contact::Impulse;
use crate::contact::constraint::Constraint;
use crate::cpu::gradient::{ConvexProblem, Descent};

use super::frame::{constraints, in_frame, numbers_of};
use super::matrix::BlockRows;
use super::order::Ordered;
use super::residual::{lift, natural_map, relative};
use super::{Iteration, LocalSolution};

/// Iterations after which the residuals are measured.
const BETWEEN_TESTS: u32 = 5;
/// The lifts follow the velocities when the residual of the convex problem is below this share of that of Coulomb's law \[-\]: from 0.3 to
/// 0.9 the problems of the collection take about as long.
const CONVEX_SHARE: f64 = 0.7;
/// They follow after this many iterations in any case.
const MOST_BETWEEN: u32 = 200;
/// Contacts of a task of a product with the matrix.
const TASK: usize = 1024;

/// Projected gradient descent in progress.
pub(super) struct LocalDescent<'a, const D: usize> {
    convex: MatrixProblem<'a, D>,
    descent: Descent,
    size: f64,
    done: u32,
    /// Iterations since the lifts followed the velocities.
    since: u32,
}

/// Convex problem of a matrix, whose slope at a contact is u + lift n; the lift is kept as the bias of the constraint.
struct MatrixProblem<'a, const D: usize> {
    rows: BlockRows<'a, D>,
    q: &'a [[f64; D]],
    constraints: Vec<Constraint>,
    impulses: Vec<[f64; D]>,
    velocities: Vec<[f64; D]>,
    most_coupled: f64,
}

impl<'a, const D: usize> LocalDescent<'a, D> {
    /// Starts from these impulses, without lifts: at the convex problem next to Coulomb's law.
    pub fn new(ordered: &'a Ordered<'a>, start: &[f64]) -> LocalDescent<'a, D> {
        let problem = &ordered.problem;
        let impulses = start.as_chunks::<D>().0.to_vec();
        let neighbours = (0..problem.contacts()).map(|row| problem.matrix.neighbours(row).len() + 1);
        let mut convex = MatrixProblem {
            rows: problem.matrix.rows::<D>(),
            q: problem.q.as_chunks::<D>().0,
            constraints: constraints(problem, &impulses),
            velocities: vec![[0.0; D]; impulses.len()],
            impulses,
            most_coupled: neighbours.max().unwrap_or(1) as f64,
        };
        convex.multiply();
        LocalDescent { descent: Descent::new(&convex), convex, size: problem.size(), done: 0, since: 0 }
    }

    /// Lets the lifts follow the velocities, if the convex problem with the present ones is solved well enough.
    fn follow(&mut self) {
        let [convex, coulomb] = self.convex.squares();
        if convex <= CONVEX_SHARE * CONVEX_SHARE * coulomb || self.since >= MOST_BETWEEN {
            self.since = 0;
            self.convex.lift();
            self.descent.restart(&self.convex);
        }
    }
}

impl<const D: usize> Iteration for LocalDescent<'_, D> {
    fn advance(&mut self) -> f64 {
        if self.done > 0 && self.done.is_multiple_of(BETWEEN_TESTS) {
            self.follow();
        }
        self.descent.iterate(&mut self.convex);
        (self.done, self.since) = (self.done + 1, self.since + 1);
        self.convex.change()
    }

    fn residual(&mut self) -> f64 {
        relative(self.convex.squares()[1], self.size)
    }

    fn solution(&self) -> LocalSolution {
        LocalSolution {
            impulses: self.convex.impulses.as_flattened().to_vec(),
            velocities: self.convex.velocities.as_flattened().to_vec(),
        }
    }
}

impl<const D: usize> MatrixProblem<'_, D> {
    /// Computes u = W r + q.
    fn multiply(&mut self) {
        let MatrixProblem { rows, q, impulses, velocities, .. } = self;
        let velocities = velocities.par_iter_mut().enumerate().with_min_len(TASK);
        velocities.for_each(|(row, velocity)| *velocity = rows.velocity(row, &q[row], impulses));
    }

    fn lift(&mut self) {
        for (constraint, velocity) in self.constraints.iter_mut().zip(&self.velocities) {
            constraint.bias = -lift(velocity, [constraint.friction, constraint.rolling_arm]);
        }
    }

    /// Squares of the natural maps of the convex problem and of Coulomb's law, over all contacts.
    fn squares(&self) -> [f64; 2] {
        let of = |row: usize| {
            let (impulse, velocity, constraint) =
                (&self.impulses[row], &self.velocities[row], &self.constraints[row]);
            let coefficients = [constraint.friction, constraint.rolling_arm];
            let of_lift = |lift: f64| natural_map(impulse, velocity, lift, coefficients);
            [of_lift(-constraint.bias), of_lift(lift(velocity, coefficients))]
        };
        (0..self.impulses.len()).map(of).fold([0.0; 2], |sums, more| [sums[0] + more[0], sums[1] + more[1]])
    }

    /// Size of the last change of the impulses.
    fn change(&self) -> f64 {
        let square = |constraint: &Constraint| {
            let change = constraint.impulse.less(&constraint.last_impulse);
            change.dot(&change)
        };
        self.constraints.iter().map(square).sum::<f64>().sqrt()
    }
}

impl<const D: usize> ConvexProblem for MatrixProblem<'_, D> {
    fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    fn with_slopes<T: Send, const N: usize>(
        &self,
        list: &mut [T],
        of_contact: impl Fn(&Constraint, Impulse, &mut T) -> [f64; N] + Sync,
    ) -> [f64; N] {
        let mut sums = [0.0; N];
        for ((constraint, velocity), value) in self.constraints.iter().zip(&self.velocities).zip(list) {
            let velocity = in_frame(velocity);
            let slope = Impulse { normal: velocity.normal - constraint.bias, ..velocity };
            let more = of_contact(constraint, slope, value);
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        sums
    }

    fn go<T: Sync>(&mut self, list: &[T], target: impl Fn(&Constraint, &T) -> Impulse + Sync) -> f64 {
        for ((constraint, impulse), value) in self.constraints.iter_mut().zip(&mut self.impulses).zip(list) {
            constraint.last_impulse = constraint.impulse;
            constraint.impulse = target(constraint, value);
            *impulse = numbers_of(&constraint.impulse);
        }
        self.multiply();
        0.0
    }

    fn most_coupled(&self) -> f64 {
        self.most_coupled
    }
}
