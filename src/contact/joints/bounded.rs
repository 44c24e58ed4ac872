//! Symmetric positive definite systems with bounds: S x - b is zero where x is between its bounds, positive at the lower bound and negative
//! at the upper one. They are solved by block pivoting on the rows with bounds (Júdice & Pires 1994), each linear system by LDLᵀ within the
//! envelope of S.

/// Row of the system.
#[derive(Debug, Clone, Copy)]
pub struct BoundedRow {
    /// Right-hand side b.
    pub aim: f64,
    /// Lower bound; may be infinite.
    pub low: f64,
    /// Upper bound; may be infinite.
    pub high: f64,
}

/// Place of an unknown relative to its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Between,
    Low,
    High,
}

/// Lower half of a symmetric matrix, stored within its envelope: each row from its first entry to the diagonal.
#[derive(Debug, Clone, Default)]
pub struct Envelope {
    /// Column of the first entry of each row.
    first: Vec<usize>,
    /// Index in `entries` at which each row starts.
    starts: Vec<usize>,
    entries: Vec<f64>,
}

/// Places of the unknowns of a system in its last solution, and the factor of the rows between their bounds.
#[derive(Debug, Clone, Default)]
pub struct Pivots {
    places: Vec<Standing>,
    factor: Option<Factor>,
}

/// LDLᵀ of some rows and columns of a matrix.
#[derive(Debug, Clone)]
struct Factor {
    is_free: Vec<bool>,
    matrix: Envelope,
}

/// Share of the diagonal entry below which a pivot is rounding.
const LEAST_PIVOT: f64 = 1e-14;
/// Number of block pivots without progress after which unknowns are moved one by one.
const PATIENCE: u32 = 5;

impl Envelope {
    /// Builds the matrix from the entries of its lower half. All entries of a row before column `first` are zero.
    pub fn new(size: usize, first: impl Fn(usize) -> usize, entry: impl Fn(usize, usize) -> f64) -> Envelope {
        let mut matrix = Envelope::default();
        for row in 0..size {
            matrix.starts.push(matrix.entries.len());
            matrix.first.push(first(row));
            matrix.entries.extend((first(row)..=row).map(|column| entry(row, column)));
        }
        matrix
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// Whether the matrix has no rows.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// A row from its first entry to the diagonal.
    fn row(&self, row: usize) -> &[f64] {
        &self.entries[self.starts[row]..][..=row - self.first[row]]
    }

    /// Product S x.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.len()];
        for row in 0..self.len() {
            let first = self.first[row];
            for (column, value) in (first..).zip(self.row(row)) {
                product[row] += value * x[column];
                if column < row {
                    product[column] += value * x[row];
                }
            }
        }
        product
    }

    /// LDLᵀ of the rows and columns in `is_in`, with ones on the diagonal in place of the others: L below the diagonal, D on it.
    fn factor(&self, is_in: &[bool]) -> Envelope {
        let mut factor = self.clone();
        for row in 0..self.len() {
            let (start, first) = (self.starts[row], self.first[row]);
            let (before, rest) = factor.entries.split_at_mut(start);
            let entries = &mut rest[..=row - first];
            if !is_in[row] {
                entries.fill(0.0);
                entries[row - first] = 1.0;
                continue;
            }
            for column in first..row {
                if !is_in[column] {
                    entries[column - first] = 0.0;
                    continue;
                }
                let (other, start) = (self.first[column], self.starts[column]);
                let from = first.max(other);
                let own = &entries[from - first..column - first];
                let theirs = &before[start + from - other..start + column - other];
                let sum: f64 = own.iter().zip(theirs).map(|(a, b)| a * b).sum();
                entries[column - first] -= sum;
            }
            let mut pivot = entries[row - first];
            for column in first..row {
                let diagonal = before[self.starts[column] + column - self.first[column]];
                let scaled = entries[column - first] / diagonal;
                pivot -= entries[column - first] * scaled;
                entries[column - first] = scaled;
            }
            entries[row - first] = pivot.max(LEAST_PIVOT * self.row(row)[row - first]);
        }
        factor
    }

    /// Solves the system whose LDLᵀ factor this matrix is.
    fn substitute(&self, x: &mut [f64]) {
        for row in 0..self.len() {
            let (first, entries) = (self.first[row], self.row(row));
            let sum: f64 = entries[..row - first].iter().zip(&x[first..]).map(|(a, b)| a * b).sum();
            x[row] -= sum;
        }
        for (row, x) in x.iter_mut().enumerate() {
            *x /= self.row(row)[row - self.first[row]];
        }
        for row in (0..self.len()).rev() {
            let (first, value) = (self.first[row], x[row]);
            for (entry, x) in self.row(row)[..row - first].iter().zip(&mut x[first..]) {
                *x -= entry * value;
            }
        }
    }

    /// Returns the solution within the bounds. The unknowns start from their places in the solution `before`, which then holds the new
    /// places.
    pub fn solve(&self, rows: &[BoundedRow], before: &mut Pivots) -> Vec<f64> {
        let mut places = std::mem::take(&mut before.places);
        if places.len() != rows.len() {
            places = rows
                .iter()
                .map(|row| if row.low == row.high { Standing::Low } else { Standing::Between })
                .collect();
        }
        let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
        // Single pivots come to an end, but with rounding they might go round in a circle.
        let most = 20 + 20 * rows.len();
        for round in 0.. {
            let x = self.solve_at(rows, &places, &mut before.factor);
            let wrong = self.misplaced(rows, &places, &x);
            if wrong.is_empty() || round >= most {
                before.places = places;
                let within = |(x, row): (f64, &BoundedRow)| x.max(row.low).min(row.high);
                return x.into_iter().zip(rows).map(within).collect();
            }
            if wrong.len() < fewest {
                (fewest, patience) = (wrong.len(), PATIENCE);
            } else {
                patience = patience.saturating_sub(1);
            }
            let moved = if patience > 0 { &wrong[..] } else { &wrong[wrong.len() - 1..] };
            for &(row, place) in moved {
                places[row] = place;
            }
        }
        unreachable!("the loop returns")
    }

    /// Returns the solution with the unknowns at these places.
    fn solve_at(&self, rows: &[BoundedRow], places: &[Standing], factor: &mut Option<Factor>) -> Vec<f64> {
        let held = |(row, place): (&BoundedRow, &Standing)| match place {
            Standing::Between => 0.0,
            Standing::Low => row.low,
            Standing::High => row.high,
        };
        let held: Vec<f64> = rows.iter().zip(places).map(held).collect();
        let is_free: Vec<bool> = places.iter().map(|&place| place == Standing::Between).collect();
        let pushed = self.times(&held);
        let mut x: Vec<f64> = (0..rows.len())
            .map(|row| if is_free[row] { rows[row].aim - pushed[row] } else { held[row] })
            .collect();
        let known = factor.take().filter(|known| known.is_free == is_free);
        let known = known.unwrap_or_else(|| Factor { matrix: self.factor(&is_free), is_free });
        known.matrix.substitute(&mut x);
        *factor = Some(known);
        x
    }

    /// Finds the unknowns that are beyond a bound or pushed off one, and the place where each belongs.
    fn misplaced(&self, rows: &[BoundedRow], places: &[Standing], x: &[f64]) -> Vec<(usize, Standing)> {
        let products = self.times(x);
        let judge = |row: usize| {
            let BoundedRow { aim, low, high } = rows[row];
            let residual = products[row] - aim;
            let noise = 1e-12 * (aim.abs() + products[row].abs());
            let slack = 1e-12 * x[row].abs();
            let place = match places[row] {
                _ if low == high => return None,
                Standing::Between if x[row] < low - slack => Standing::Low,
                Standing::Between if x[row] > high + slack => Standing::High,
                Standing::Low if residual < -noise => Standing::Between,
                Standing::High if residual > noise => Standing::Between,
                _ => return None,
            };
            Some((row, place))
        };
        (0..rows.len()).filter_map(judge).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Random;

    /// Positive definite matrix of a chain of rows, each coupled with the three before, and the rows of its system.
    fn problem(size: usize, seed: u64) -> (Envelope, Vec<BoundedRow>) {
        let mut random = Random::new(seed, crate::model::random::Stream::Grains(0));
        let mut number = move || random.between(-1.0, 1.0);
        let numbers: Vec<f64> = (0..size * size).map(|_| number()).collect();
        let entry = |i: usize, j: usize| match i - j {
            0 => 4.0 + numbers[i * size + i],
            1..=3 => numbers[i * size + j],
            _ => 0.0,
        };
        let rows = (0..size)
            .map(|i| {
                let aim = 5.0 * number();
                match i % 4 {
                    0 => BoundedRow { aim, low: 0.0, high: f64::INFINITY },
                    1 => BoundedRow { aim, low: -0.2, high: 0.3 },
                    2 => BoundedRow { aim, low: 0.1, high: 0.1 },
                    _ => BoundedRow { aim, low: f64::NEG_INFINITY, high: f64::INFINITY },
                }
            })
            .collect();
        (Envelope::new(size, |row| row.saturating_sub(3), entry), rows)
    }

    /// Error of a solution, the largest natural-map residual of a row.
    fn error(matrix: &Envelope, rows: &[BoundedRow], x: &[f64]) -> f64 {
        let residuals = matrix.times(x);
        let of = |(i, row): (usize, &BoundedRow)| {
            (x[i] - (x[i] - (residuals[i] - row.aim)).max(row.low).min(row.high)).abs()
        };
        rows.iter().enumerate().map(of).fold(0.0, f64::max)
    }

    #[test]
    fn systems_with_bounds_are_solved_to_rounding() {
        let mut at_bounds = 0;
        for seed in 0..200 {
            let (matrix, rows) = problem(3 + seed as usize % 40, seed);
            let x = matrix.solve(&rows, &mut Pivots::default());
            assert!(error(&matrix, &rows, &x) < 1e-12, "seed {seed}: {}", error(&matrix, &rows, &x));
            at_bounds += x.iter().zip(&rows).filter(|(x, row)| **x == row.low || **x == row.high).count();
        }
        assert!(at_bounds > 500, "only {at_bounds} unknowns ended at a bound: nothing was tried");
    }

    #[test]
    fn a_solution_does_not_hang_on_the_one_before() {
        let (matrix, rows) = problem(30, 3);
        let mut pivots = Pivots::default();
        for step in 0..20 {
            let moved =
                |row: &BoundedRow| BoundedRow { aim: row.aim * (f64::from(step) * 0.7).cos(), ..*row };
            let moved: Vec<BoundedRow> = rows.iter().map(moved).collect();
            let (warm, cold) =
                (matrix.solve(&moved, &mut pivots), matrix.solve(&moved, &mut Pivots::default()));
            assert!(warm.iter().zip(&cold).all(|(a, b)| (a - b).abs() < 1e-12), "step {step}");
        }
    }

    #[test]
    fn a_solution_that_forgets_the_bounds_shows() {
        let (matrix, mut rows) = problem(20, 1);
        let x = matrix.solve(&rows, &mut Pivots::default());
        assert!(error(&matrix, &rows, &x) < 1e-12);
        rows.iter_mut().for_each(|row| (row.low, row.high) = (f64::NEG_INFINITY, f64::INFINITY));
        let (_, bounded) = problem(20, 1);
        assert!(error(&matrix, &bounded, &matrix.solve(&rows, &mut Pivots::default())) > 1e-3);
    }
}
