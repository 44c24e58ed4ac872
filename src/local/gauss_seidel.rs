//! Nonsmooth Gauss-Seidel \[E18\]: contact by contact, each solved exactly with all others held fixed, with momentum from sweep to sweep.

use rayon::prelude::*;

use super::block::ExactBlock;
use super::matrix::BlockRows;
use super::order::Ordered;
use super::{Iteration, LocalSolution};

/// Contacts of a task; colours that have twice as many are solved on several threads.
const TASK: usize = 512;
/// Largest extrapolation factor β of the sweeps, and the share of the exact step that each takes \[-\]. Where the residual does not shrink
/// the next pair follows: with 0.9 in place of 0.8 some problems of the collection do not converge, and a few cycle under full steps.
const CAUTION: [(f64, f64); 5] = [(0.8, 1.0), (0.4, 1.0), (0.0, 1.0), (0.0, 0.7), (0.0, 0.5)];
/// Growth of the residual over the least one so far at which sweeps become more cautious \[-\].
const GROWTH: f64 = 2.0;
/// Tests of the residual without a new least one after which they do.
const PATIENCE: u32 = 4;

/// Nonsmooth Gauss-Seidel in progress.
pub(super) struct GaussSeidel<'a, const D: usize, B: ExactBlock<D>> {
    ordered: &'a Ordered<'a>,
    rows: BlockRows<'a, D>,
    q: &'a [[f64; D]],
    blocks: Vec<B>,
    start: &'a [[f64; D]],
    impulses: Vec<[f64; D]>,
    /// Impulses after the sweep before.
    last: Vec<[f64; D]>,
    guesses: Vec<B::Guess>,
    /// Impulses and guesses of a colour that several threads solve.
    solved: Vec<([f64; D], B::Guess)>,
    size: f64,
    momentum: SweepMomentum,
    /// Whether the next sweep begins from the start again.
    begins_anew: bool,
}

/// Extrapolation factors of the sweeps, Nesterov's, and how cautious they are.
#[derive(Debug)]
struct SweepMomentum {
    /// Place in [`CAUTION`].
    caution: usize,
    /// Sweeps since the last restart.
    sweeps: u32,
    least_residual: f64,
    tests: u32,
}

/// Sums over the contacts of a sweep.
#[derive(Debug, Clone, Copy, Default)]
struct SweepSums {
    /// Square of the change of the impulses.
    change: f64,
    /// Scalar product of that change with the way back from the extrapolated impulses: positive where these were carried too far.
    back: f64,
}

impl SweepMomentum {
    fn new(caution: usize) -> SweepMomentum {
        SweepMomentum { caution, sweeps: 0, least_residual: f64::INFINITY, tests: 0 }
    }

    /// Share of the exact step that a contact takes \[-\].
    fn relaxation(&self) -> f64 {
        CAUTION[self.caution].1
    }

    /// Factor β of the next sweep \[-\].
    fn next(&mut self) -> f64 {
        let sweeps = f64::from(self.sweeps);
        self.sweeps += 1;
        ((sweeps - 1.0) / (sweeps + 2.0)).clamp(0.0, CAUTION[self.caution].0)
    }

    /// Learns of the residual, and grows more cautious where it does not shrink. Returns whether it did.
    fn judge(&mut self, residual: f64) -> bool {
        self.tests += 1;
        if residual < self.least_residual {
            (self.least_residual, self.tests) = (residual, 0);
        }
        let harms = residual > GROWTH * self.least_residual || self.tests >= PATIENCE;
        let grows = harms && self.caution + 1 < CAUTION.len();
        if grows {
            *self = SweepMomentum::new(self.caution + 1);
        }
        grows
    }
}

impl<'a, const D: usize, B: ExactBlock<D>> GaussSeidel<'a, D, B> {
    /// Starts from these impulses.
    pub fn new(ordered: &'a Ordered<'a>, start: &'a [f64]) -> GaussSeidel<'a, D, B> {
        let problem = &ordered.problem;
        let (rows, contacts) = (problem.matrix.rows::<D>(), problem.contacts());
        let colours = ordered.colours.windows(2).map(|bounds| (bounds[1] - bounds[0]) as usize);
        let block = |row: usize| B::of(rows.diagonal(row), problem.coefficients(row));
        let start = start.as_chunks::<D>().0;
        GaussSeidel {
            ordered,
            rows,
            q: problem.q.as_chunks::<D>().0,
            blocks: (0..contacts).map(block).collect(),
            start,
            last: start.to_vec(),
            impulses: start.to_vec(),
            guesses: vec![B::Guess::default(); contacts],
            solved: Vec::with_capacity(colours.max().filter(|&widest| widest >= 2 * TASK).unwrap_or(0)),
            size: problem.size(),
            momentum: SweepMomentum::new(0),
            begins_anew: false,
        }
    }

    /// Impulse of a contact with all others as they are, and its guess.
    #[inline(always)]
    fn solved(&self, row: usize) -> ([f64; D], B::Guess) {
        let free = self.rows.free(row, &self.q[row], &self.impulses);
        let mut guess = self.guesses[row];
        let mut impulse = self.blocks[row].solve(&free, &mut guess);
        let relaxation = self.momentum.relaxation();
        if relaxation < 1.0 {
            let from = &self.impulses[row];
            impulse = std::array::from_fn(|i| from[i] + relaxation * (impulse[i] - from[i]));
        }
        (impulse, guess)
    }

    /// Stores the impulse of a contact, and adds its change to the sums.
    #[inline(always)]
    fn store(&mut self, row: usize, (impulse, guess): ([f64; D], B::Guess), sums: &mut SweepSums) {
        self.guesses[row] = guess;
        let from = std::mem::replace(&mut self.impulses[row], impulse);
        for ((now, last), from) in impulse.iter().zip(self.last[row]).zip(from) {
            sums.change += (now - last) * (now - last);
            sums.back += (now - last) * (from - now);
        }
    }

    /// Solves the contacts of a colour at once.
    fn solve_colour(&mut self, first: usize, end: usize, sums: &mut SweepSums) {
        let mut solved = std::mem::take(&mut self.solved);
        let contacts = (first..end).into_par_iter().with_min_len(TASK);
        contacts.map(|row| self.solved(row)).collect_into_vec(&mut solved);
        solved.iter().enumerate().for_each(|(i, &solved)| self.store(first + i, solved, sums));
        self.solved = solved;
    }

    /// Goes back to the start: impulses that sweeps have driven far off may lock each other, and then even cautious ones do not undo it.
    fn begin_anew(&mut self) {
        self.impulses.copy_from_slice(self.start);
        self.last.copy_from_slice(self.start);
        self.guesses.fill(B::Guess::default());
    }

    /// Extrapolates the impulses, r + β (r - r_last), and keeps r as the last ones.
    fn extrapolate(&mut self) {
        let share = self.momentum.next();
        for (impulse, last) in self.impulses.iter_mut().zip(&mut self.last) {
            for (impulse, last) in impulse.iter_mut().zip(last) {
                let now = *impulse;
                *impulse += share * (now - *last);
                *last = now;
            }
        }
    }
}

impl<const D: usize, B: ExactBlock<D>> Iteration for GaussSeidel<'_, D, B> {
    fn advance(&mut self) -> f64 {
        if std::mem::take(&mut self.begins_anew) {
            self.begin_anew();
        }
        self.extrapolate();
        let (ordered, mut sums) = (self.ordered, SweepSums::default());
        for bounds in ordered.colours.windows(2) {
            let (first, end) = (bounds[0] as usize, bounds[1] as usize);
            if end - first >= 2 * TASK {
                self.solve_colour(first, end, &mut sums);
                continue;
            }
            for row in first..end {
                let solved = self.solved(row);
                self.store(row, solved, &mut sums);
            }
        }
        if sums.back > 0.0 {
            self.momentum.sweeps = 0;
        }
        sums.change.sqrt()
    }

    fn residual(&mut self) -> f64 {
        let residual = self.ordered.problem.residual(&self.impulses, self.size);
        self.begins_anew = self.momentum.judge(residual);
        residual
    }

    fn solution(&self) -> LocalSolution {
        self.ordered.problem.solution(&self.impulses)
    }
}
