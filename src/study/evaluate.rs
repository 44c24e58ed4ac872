//! Evaluation of the numbers of a study from its records.

use super::Done;
use super::plan::{Stand, StudyRun, lengths};
use super::record::RunRecord;
use super::table::{AxisPlace, NumberTable, TableCell, places, reduce};
use crate::observe::short;
use crate::scenario::study::{Compare, Number, NumberKind, NumberSource, Operand, Study, TakeAlong, WORK};

/// Values of all numbers of a study.
pub struct StudyValues<'a> {
    study: &'a Study,
    lengths: Vec<usize>,
    runs: &'a [StudyRun],
    done: &'a Done,
    /// Values of `[numbers]`, in their order.
    numbers: Vec<NumberTable>,
}

impl<'a> StudyValues<'a> {
    /// Evaluates the numbers of a study.
    pub fn new(study: &'a Study, runs: &'a [StudyRun], done: &'a Done) -> StudyValues<'a> {
        let mut values = StudyValues { study, lengths: lengths(study), runs, done, numbers: Vec::new() };
        for number in &study.numbers {
            let table = values.evaluate(number);
            values.numbers.push(table);
        }
        values
    }

    /// Returns the number of values of every axis.
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// Returns the number with this index in `[numbers]`.
    pub fn number(&self, i: usize) -> &NumberTable {
        &self.numbers[i]
    }

    /// Returns the cell of an operand at a place.
    pub fn cell(&self, operand: &Operand, place: &AxisPlace) -> TableCell {
        let mut place = place.clone();
        operand.fixed.iter().for_each(|&(axis, value)| place[axis] = value);
        match &operand.source {
            NumberSource::Number(i) => self.numbers[*i].at(&place).clone(),
            NumberSource::Constant(value) => (*value).into(),
            NumberSource::Column(column) => self.column(column, &Stand::At(place)),
            NumberSource::Reference(i, column) => {
                let axes = &self.study.references[*i].axes;
                let only = |(axis, value): (usize, usize)| if axes.contains(&axis) { value } else { 0 };
                let place = place.into_iter().enumerate().map(only).collect();
                self.column(column, &Stand::Reference(*i, place))
            }
        }
    }

    /// Returns the value of a run in a column.
    fn column(&self, column: &str, stand: &Stand) -> TableCell {
        let Some(run) = self.runs.iter().find(|run| run.stand == *stand) else {
            return TableCell::missing("there is no such run");
        };
        let found = match self.done.record(run) {
            Some(record) => of_record(record, column),
            None => TableCell::missing("not run yet"),
        };
        let of_run = |reason| format!("{}: {reason}", run.label);
        TableCell { remark: found.remark.map(of_run), ..found }
    }

    fn evaluate(&self, number: &Number) -> NumberTable {
        match &number.kind {
            NumberKind::Given(values) => {
                NumberTable::build(&number.axes, &self.lengths, |place| values[place[number.axes[0]]].into())
            }
            NumberKind::Made { of, compare, take } => {
                let compared = |place: &AxisPlace| {
                    let cell = self.cell(of, place);
                    match compare {
                        Some((way, other)) => compared(*way, cell, self.cell(other, place)),
                        None => cell,
                    }
                };
                NumberTable::build(&number.axes, &self.lengths, |place| match take {
                    Some(take) => self.taken(take, place, &compared),
                    None => compared(place),
                })
            }
        }
    }

    /// Reduces the cells along some axes to one number.
    fn taken(&self, take: &TakeAlong, place: &AxisPlace, of: &dyn Fn(&AxisPlace) -> TableCell) -> TableCell {
        let along = places(&take.axes, &self.lengths).into_iter().map(|along| {
            let mut place = place.clone();
            take.axes.iter().for_each(|&axis| place[axis] = along[axis]);
            place
        });
        let x = |place: &AxisPlace| match (&take.measured_in, &take.axes[..]) {
            (Some(measure), _) => self.cell(measure, place).number,
            (None, [axis]) => self.study.axes[*axis].values[place[*axis]].number,
            _ => None,
        };
        let cells: Vec<(AxisPlace, TableCell)> = along.map(|place| (place.clone(), of(&place))).collect();
        if let Some(measure) = &take.measured_in {
            let uncounted =
                |(place, cell): &&(AxisPlace, TableCell)| cell.number.is_some() && x(place).is_none();
            if let Some((place, _)) = cells.iter().find(uncounted) {
                return self.cell(measure, place);
            }
        }
        // A cell without a value on the axis is either of a failed run, or the reduction does not use that value.
        let cells: Vec<(f64, TableCell)> =
            cells.into_iter().map(|(place, cell)| (x(&place).unwrap_or_default(), cell)).collect();
        let mut cells: Vec<(f64, &TableCell)> = cells.iter().map(|(x, cell)| (*x, cell)).collect();
        cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        reduce(take.reduce, &cells)
    }
}

/// Returns the value of a record in a column.
pub fn of_record(record: &RunRecord, column: &str) -> TableCell {
    if let Some(failure) = &record.failure {
        // The message is cut before the advice.
        return TableCell::missing(failure.split(';').next().unwrap_or_default());
    }
    if let Some(i) = WORK.iter().position(|known| *known == column) {
        return record.work()[i].map_or(TableCell::missing("not counted on this engine"), TableCell::from);
    }
    match record.kept.iter().find(|kept| kept.label == column) {
        Some(kept) => TableCell { number: kept.found, remark: kept.reason.clone() },
        None => TableCell::missing("not kept"),
    }
}

/// Combines a number with another.
fn compared(way: Compare, cell: TableCell, other: TableCell) -> TableCell {
    let (Some(a), Some(b)) = (cell.number, other.number) else {
        return TableCell {
            number: None,
            remark: if cell.number.is_none() { cell.remark } else { other.remark },
        };
    };
    let number = match way {
        Compare::Over => a / b,
        Compare::Minus => a - b,
        Compare::Error => (a / b - 1.0).abs(),
        Compare::Larger => a.max(b),
    };
    match number.is_finite() {
        true => TableCell { number: Some(number), remark: None },
        false => TableCell::missing(format!("{} beside {} has no meaning", short(a), short(b))),
    }
}
