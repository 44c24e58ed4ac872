//! Convergence of the sweeps inside one substep: residuals by kind of constraint and the error of the normal impulses, sweep by sweep
//! \[E8\].

use super::{Residuals, Spread};
use crate::settings::WarmStart;

/// Kinds of constraints, in the order of [`SolveCourse::histograms`], with the unit of their residuals.
pub const ROW_KINDS: [(&str, &str); 3] = [("normal", "m/s"), ("friction", "m/s"), ("rolling", "rad/s")];

/// Plan of a convergence study of a substep.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Warm starts of the impulses, one solve each.
    pub starts: Vec<WarmStart>,
    /// Number of sweeps that are recorded one by one \[-\].
    pub sweeps: u32,
    /// Number of sweeps after which a solve counts as the solution \[-\].
    pub reference: u32,
}

/// Convergence of one and the same contact problem, solved from several starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Convergence {
    /// Time at which its substep begins \[s\].
    pub time: f64,
    /// One solve per start.
    pub courses: Vec<SolveCourse>,
}

/// Solve from one start.
#[derive(Debug, Clone, PartialEq)]
pub struct SolveCourse {
    /// Warm start of the impulses.
    pub start: WarmStart,
    /// State of the solve after 0, 1, 2 and so on sweeps; the last point is the reference solution itself.
    pub points: Vec<Point>,
    /// Residuals of the single contacts after the sweeps that a step makes, by kind of constraint.
    pub histograms: [Histogram; 3],
}

/// Residuals and errors of a solve after some sweeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Sweeps done.
    pub sweep: u32,
    /// Residuals over all contacts.
    pub residuals: Residuals,
    /// Normal residual without the term Σ λ, as the second form of Eq. 6 of Wang, Servin & Berglund 2016 prints it \[m/s\]. For compliant
    /// contacts it does not vanish at the solution.
    pub normal_without_compliance: Spread,
    /// Objective of the convex problem, ½ λ·(N + Σ) λ + p·λ \[E15\] \[J\].
    pub objective: f64,
    /// Distance of the normal impulses from those of the reference solution.
    pub error: ImpulseError,
}

/// Distance of the normal impulses from those of a reference solution of the same solve \[-\].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ImpulseError {
    /// ‖λ_n - λ_ref‖ / ‖λ_ref‖ over all contacts.
    pub norm: f64,
    /// Mean of |λ_n - λ_ref| / λ_ref (Wang, Servin & Berglund 2016, Eq. 13) over the contacts whose λ_ref is at least
    /// [`CARRYING`](ImpulseError::CARRYING) of the mean: for smaller λ_ref the ratio says nothing, and for zero it is infinite.
    pub mean: f64,
}

impl ImpulseError {
    /// Share of the mean impulse from which a contact counts in the mean of errors \[-\].
    pub const CARRYING: f64 = 0.01;

    /// Error of the impulses `found` against those of the reference, contact by contact \[N s\].
    pub fn between(found: &[f64], reference: &[f64]) -> ImpulseError {
        let pairs = || found.iter().zip(reference);
        let squares: f64 = reference.iter().map(|impulse| impulse * impulse).sum();
        let error: f64 = pairs().map(|(found, reference)| (found - reference).powi(2)).sum();
        let floor = ImpulseError::CARRYING * reference.iter().sum::<f64>() / reference.len().max(1) as f64;
        let carrying = pairs().filter(|(_, reference)| **reference > 0.0 && **reference >= floor);
        let relative = carrying.map(|(found, reference)| (found - reference).abs() / reference);
        let (sum, count) = relative.fold((0.0, 0), |(sum, count), error| (sum + error, count + 1));
        ImpulseError {
            norm: if squares > 0.0 { (error / squares).sqrt() } else { 0.0 },
            mean: sum / f64::from(count.max(1)),
        }
    }
}

/// Numbers of contacts by the size of a residual, in logarithmic bins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram([u64; Histogram::BINS]);

impl Histogram {
    /// Bins per factor of ten.
    const PER_DECADE: usize = 4;
    /// Exponents of ten between which values have bins: from rounding of double precision to more than any grain does.
    const DECADES: [i32; 2] = [-16, 2];
    /// Number of bins. The first holds all smaller values, including zeros, the last all larger ones.
    const BINS: usize = (Self::DECADES[1] - Self::DECADES[0]) as usize * Self::PER_DECADE + 2;

    /// Counts values by bin.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Histogram {
        let mut counts = [0; Histogram::BINS];
        values.into_iter().for_each(|value| counts[Histogram::bin(value)] += 1);
        Histogram(counts)
    }

    fn bin(value: f64) -> usize {
        let above = (value.log10() - f64::from(Self::DECADES[0])) * Self::PER_DECADE as f64;
        (above.floor() + 1.0).clamp(0.0, (Self::BINS - 1) as f64) as usize
    }

    /// Lower end of bin `i`: 0 for the first bin; for the number of bins infinite, the upper end of the last.
    fn edge(i: usize) -> f64 {
        match i {
            0 => 0.0,
            Self::BINS => f64::INFINITY,
            _ => 10f64.powf(f64::from(Self::DECADES[0]) + (i - 1) as f64 / Self::PER_DECADE as f64),
        }
    }

    /// Lower end, upper end and count of every bin, including empty ones.
    pub fn bins(&self) -> impl Iterator<Item = (f64, f64, u64)> {
        self.0.iter().enumerate().map(|(i, &count)| (Self::edge(i), Self::edge(i + 1), count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_between_the_edges_of_their_bin() {
        let values = [0.0, 1e-30, 2.5e-16, 1e-3, 0.99e-3, 1.5, 99.0, 1e9];
        for value in values {
            let histogram = Histogram::of([value]);
            let (from, until, _) = histogram.bins().find(|bin| bin.2 == 1).expect("a bin");
            assert!((from..until).contains(&value), "{value} in {from}..{until}");
        }
        let all = Histogram::of(values);
        assert_eq!(all.bins().map(|bin| bin.2).sum::<u64>(), values.len() as u64);
        assert_eq!(all.bins().next(), Some((0.0, 1e-16, 2)));
        assert_eq!(all.bins().last(), Some((100.0, f64::INFINITY, 1)));
    }

    #[test]
    fn errors_are_relative_to_the_reference_and_skip_contacts_that_carry_nothing() {
        let error = ImpulseError::between(&[1.0, 4.5, 0.1], &[2.0, 4.0, 0.0]);
        assert!((error.norm - ((1.0f64 + 0.25 + 0.01) / 20.0).sqrt()).abs() < 1e-15);
        assert!((error.mean - (0.5 + 0.125) / 2.0).abs() < 1e-15);
        assert_eq!(ImpulseError::between(&[], &[]), ImpulseError::default());
        assert_eq!(ImpulseError::between(&[0.0], &[0.0]), ImpulseError::default());
    }
}
