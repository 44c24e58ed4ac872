//! Tables of numbers over the axes of a study.

use crate::observe::series::{self, SeriesPoint};
use crate::scenario::study::Reduce;

/// Cell of a table: a number, or the reason why it is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct TableCell {
    /// The number.
    pub number: Option<f64>,
    /// Reason why there is no number, or remark on what was left out of it.
    pub remark: Option<String>,
}

impl TableCell {
    /// Creates a cell whose number is missing for this reason.
    pub fn missing(reason: impl Into<String>) -> TableCell {
        TableCell { number: None, remark: Some(reason.into()) }
    }
}

impl From<f64> for TableCell {
    fn from(number: f64) -> TableCell {
        match number.is_finite() {
            true => TableCell { number: Some(number), remark: None },
            false => TableCell::missing("not a number"),
        }
    }
}

/// Table with a cell for every combination of the values of some axes; the last axis varies fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberTable {
    /// Axes of the table, ascending.
    pub axes: Vec<usize>,
    /// Number of values of each axis of the table.
    lengths: Vec<usize>,
    /// Cells, the last axis varying fastest.
    cells: Vec<TableCell>,
}

/// Index of the value on every axis of a study; 0 on axes that do not matter.
pub type AxisPlace = Vec<usize>;

/// Returns all combinations of the values of some axes. `lengths` are the numbers of values of all axes.
pub fn places(axes: &[usize], lengths: &[usize]) -> Vec<AxisPlace> {
    let mut places = vec![vec![0; lengths.len()]];
    for &axis in axes {
        let spread = |place: AxisPlace| {
            (0..lengths[axis]).map(move |value| {
                let mut place = place.clone();
                place[axis] = value;
                place
            })
        };
        places = places.into_iter().flat_map(spread).collect();
    }
    places
}

impl NumberTable {
    /// Creates a table whose cells are computed by `cell`. `lengths` are the numbers of values of all axes of the study.
    pub fn build(axes: &[usize], lengths: &[usize], cell: impl Fn(&AxisPlace) -> TableCell) -> NumberTable {
        let mut axes = axes.to_vec();
        axes.sort_unstable();
        let cells = places(&axes, lengths).iter().map(cell).collect();
        let lengths = axes.iter().map(|&axis| lengths[axis]).collect();
        NumberTable { axes, lengths, cells }
    }

    /// Returns the cell at a place; axes that the table does not depend on are ignored.
    pub fn at(&self, place: &AxisPlace) -> &TableCell {
        let index = self
            .axes
            .iter()
            .zip(&self.lengths)
            .fold(0, |index, (&axis, length)| index * length + place[axis]);
        &self.cells[index]
    }
}

/// Reduces several numbers, each with its value on an axis (0 without one), to one number. Missing numbers are left out, and the remark
/// says so.
pub fn reduce(reduce: Reduce, cells: &[(f64, &TableCell)]) -> TableCell {
    if let Reduce::Needed(below) = reduce {
        let points: Vec<SeriesPoint> =
            cells.iter().map(|(x, cell)| (*x, cell.number.map_or(f64::INFINITY, f64::abs))).collect();
        return needed(points, below);
    }
    let points: Vec<SeriesPoint> = cells.iter().filter_map(|(x, cell)| Some((*x, cell.number?))).collect();
    let missing = cells.iter().filter(|(_, cell)| cell.number.is_none());
    let reason = missing.clone().find_map(|(_, cell)| cell.remark.clone());
    let remark = reason.map(|reason| {
        let (count, all) = (missing.count(), cells.len());
        format!("{count} of {all} are missing: {reason}")
    });
    if points.is_empty() {
        return TableCell { number: None, remark };
    }
    let values = points.iter().map(|point| point.1);
    let number = match reduce {
        Reduce::Mean => series::mean(&points),
        Reduce::Maximum => values.fold(f64::NEG_INFINITY, f64::max),
        Reduce::Minimum => values.fold(f64::INFINITY, f64::min),
        Reduce::Spread => series::spread(&points),
        Reduce::Exponent => series::exponent(&points),
        Reduce::Linearity => series::line(&points).map_or(f64::NAN, |line| line.r_squared),
        Reduce::AtMinimum => {
            points.iter().min_by(|a, b| a.1.total_cmp(&b.1)).map_or(f64::NAN, |point| point.0)
        }
        Reduce::Needed(_) => f64::NAN,
    };
    TableCell { remark, ..TableCell::from(number) }
}

/// Returns the place from which on the values of a series stay below a bound: between the last value above the bound and the next value,
/// linear in the logarithms. Values below a hundredth of the bound are raised to it, so that zero has a logarithm.
fn needed(mut points: Vec<SeriesPoint>, below: f64) -> TableCell {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some(last_above) = points.iter().rposition(|point| point.1 > below) else {
        let first = points.first().map_or(f64::NAN, |point| point.0);
        return TableCell::missing(format!("below {below} from the first value, {first}, on"));
    };
    let (x, above) = points[last_above];
    let Some(&(next, value)) = points.get(last_above + 1) else {
        return TableCell::missing(format!("still above {below} at {x}"));
    };
    let value = value.max(0.01 * below);
    if above.is_infinite() || x <= 0.0 {
        return next.into();
    }
    let share = (above / below).ln() / (above / value).ln();
    (x * (next / x).powf(share)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(values: &[Option<f64>]) -> Vec<TableCell> {
        values.iter().map(|value| value.map_or(TableCell::missing("it exploded"), TableCell::from)).collect()
    }

    fn taken(how: Reduce, x: &[f64], values: &[Option<f64>]) -> TableCell {
        let cells = cells(values);
        reduce(how, &x.iter().copied().zip(&cells).collect::<Vec<_>>())
    }

    #[test]
    fn the_last_axis_varies_fastest_and_others_do_not_matter() {
        let lengths = [2, 5, 3];
        let table = NumberTable::build(&[0, 2], &lengths, |at| TableCell::from((10 * at[0] + at[2]) as f64));
        assert_eq!(places(&[0, 2], &lengths).len(), 6);
        assert_eq!(places(&[0, 2], &lengths)[1], [0, 0, 1]);
        assert_eq!(table.at(&vec![1, 4, 2]).number, Some(12.0));
        assert_eq!(places(&[], &lengths), [[0, 0, 0]]);
    }

    #[test]
    fn what_is_needed_lies_on_the_line_between_logarithms() {
        // error = 1 / x: 0.02 is reached at x = 50, whichever points there are
        let x = [10.0, 20.0, 40.0, 100.0];
        let error: Vec<Option<f64>> = x.iter().map(|x| Some(1.0 / x)).collect();
        let found = taken(Reduce::Needed(0.02), &x, &error).number.expect("reached");
        approx::assert_relative_eq!(found, 50.0, max_relative = 1e-12);
        let linear = 40.0 + 60.0 * (0.025 - 0.02) / (0.025 - 0.01);
        assert!((found - linear).abs() > 1.0, "a line between the values would say {linear}");
    }

    #[test]
    fn an_error_that_comes_back_is_not_below_for_good() {
        let x = [1.0, 10.0, 100.0];
        let found = taken(Reduce::Needed(0.1), &x, &[Some(0.05), Some(1.0), Some(0.01)]);
        approx::assert_relative_eq!(
            found.number.expect("reached"),
            10.0 * 10f64.sqrt(),
            max_relative = 1e-12
        );
    }

    #[test]
    fn a_bound_that_is_never_or_always_met_gives_no_number() {
        let x = [1.0, 10.0];
        let never = taken(Reduce::Needed(0.1), &x, &[Some(0.5), Some(-0.2)]);
        assert_eq!(never, TableCell::missing("still above 0.1 at 10"));
        let always = taken(Reduce::Needed(0.1), &x, &[Some(-0.05), Some(0.0)]);
        assert_eq!(always, TableCell::missing("below 0.1 from the first value, 1, on"));
        let after_a_failure = taken(Reduce::Needed(0.1), &x, &[None, Some(0.0)]);
        assert_eq!(after_a_failure.number, Some(10.0));
    }

    #[test]
    fn values_are_taken_together_and_what_is_missing_is_told() {
        // 3 x², and one that failed
        let (x, values) = ([1.0, 2.0, 3.0, 4.0], [Some(3.0), Some(12.0), None, Some(48.0)]);
        for (how, expected) in [
            (Reduce::Mean, 21.0),
            (Reduce::Maximum, 48.0),
            (Reduce::Minimum, 3.0),
            (Reduce::Spread, 45.0),
            (Reduce::Exponent, 2.0),
            (Reduce::AtMinimum, 1.0),
        ] {
            let found = taken(how, &x, &values);
            approx::assert_relative_eq!(found.number.expect("a number"), expected, max_relative = 1e-12);
            assert_eq!(found.remark.as_deref(), Some("1 of 4 are missing: it exploded"));
        }
        assert!(taken(Reduce::Linearity, &x, &values).number.expect("a number") < 0.999, "it is a parabola");
        let valley = [Some(3.0), Some(-1.0), None, Some(2.0)];
        assert_eq!(taken(Reduce::AtMinimum, &x, &valley).number, Some(2.0));
        assert_eq!(taken(Reduce::Mean, &x, &[None, None, None, None]).number, None);
    }
}
