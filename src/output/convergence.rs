//! `convergence.csv` and `residual_histogram.csv`: how the sweeps of chosen steps converge.

use std::io::{self, Write};

use crate::engine::convergence::{Convergence, Course, ImpulseError, Point, ROW_KINDS};

/// One row per time, start and sweep; the last sweep of every start is its reference solution.
///
/// # Errors
/// When it cannot be written.
pub fn write_courses(steps: &[Convergence], out: &mut dyn Write) -> io::Result<()> {
    let mut rows = csv::Writer::from_writer(out);
    let residuals = ROW_KINDS
        .iter()
        .flat_map(|(kind, unit)| ["", "_max"].map(|of| format!("residual_{kind}{of} [{unit}]")));
    let leading = ["time [s]", "start", "sweep [-]"].map(str::to_owned);
    let errors = ["impulse_error [-]", "impulse_error_mean [-]"].map(str::to_owned);
    rows.write_record(leading.into_iter().chain(residuals).chain(errors))?;
    for (time, course) in courses(steps) {
        for Point { sweep, residuals, error } in &course.points {
            let leading = [format!("{time:?}"), course.start.to_string(), sweep.to_string()];
            let kinds = [residuals.normal, residuals.friction, residuals.rolling];
            let ImpulseError { norm, mean } = error;
            let numbers = kinds.iter().flat_map(|spread| [spread.mean, spread.max]).chain([*norm, *mean]);
            rows.write_record(leading.into_iter().chain(numbers.map(|number| format!("{number:?}"))))?;
        }
    }
    rows.flush()
}

/// One row per time, start, kind of row and bin: residuals of at least `from` and less than `until`.
///
/// # Errors
/// When it cannot be written.
pub fn write_histograms(steps: &[Convergence], out: &mut dyn Write) -> io::Result<()> {
    let mut rows = csv::Writer::from_writer(out);
    rows.write_record(["time [s]", "start", "row", "from [m/s or rad/s]", "until", "contacts [-]"])?;
    for (time, course) in courses(steps) {
        for ((kind, _), histogram) in ROW_KINDS.iter().zip(&course.histograms) {
            for (from, until, count) in histogram.bins() {
                let numbers = [format!("{from:?}"), format!("{until:?}"), count.to_string()];
                let leading = [format!("{time:?}"), course.start.to_string(), (*kind).to_owned()];
                rows.write_record(leading.into_iter().chain(numbers))?;
            }
        }
    }
    rows.flush()
}

fn courses(steps: &[Convergence]) -> impl Iterator<Item = (f64, &Course)> {
    steps.iter().flat_map(|step| step.courses.iter().map(|course| (step.time, course)))
}
