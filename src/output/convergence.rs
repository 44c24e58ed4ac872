//! `convergence.csv` and `residual_histogram.csv`: how the sweeps of chosen steps converge.

use std::io;

use serde::{Deserialize, Serialize};

use super::{fabric, layers};
use crate::engine::convergence::{Convergence, ImpulseError, Point, ROW_KINDS};
use crate::observe::LayerPlan;
use crate::observe::fabric::{Fabric, FabricPlan};
use crate::observe::layers::Layer;

/// Tables beside the time series, as far as they have been written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Tables {
    /// Text of `convergence.csv`: a row per time, start and sweep; the last sweep of every start is its reference solution.
    pub courses: String,
    /// Text of `residual_histogram.csv`: a row per time, start, kind of constraint and bin. A bin holds residuals of at least `from` and
    /// less than `until`.
    pub histograms: String,
    /// Text of `fabric.csv` and `force_distribution.csv`, and the last `rose.svg`.
    pub fabric: [String; 3],
    /// Text of `layers.csv`, and the last `layers.svg`.
    pub layers: [String; 2],
}

impl Tables {
    /// Adds the fabric of a state.
    pub fn add_fabric(&mut self, time: f64, found: &Fabric, plan: &FabricPlan) {
        let [directions, sizes, rose] = &mut self.fabric;
        fabric::add_directions(directions, time, found, plan);
        fabric::add_sizes(sizes, time, found);
        *rose = fabric::rose(time, found, plan);
    }

    /// Adds the layers of a state.
    pub fn add_layers(&mut self, time: f64, found: &[Layer], plan: &LayerPlan) {
        let [rows, picture] = &mut self.layers;
        layers::add(rows, time, found, plan);
        *picture = layers::picture(time, found, plan);
    }

    /// Adds the convergence of a step.
    ///
    /// # Errors
    /// When a row cannot be written.
    pub fn add(&mut self, step: &Convergence) -> io::Result<()> {
        add_rows(&mut self.courses, |rows, is_new| write_courses(step, rows, is_new))?;
        add_rows(&mut self.histograms, |rows, is_new| write_histograms(step, rows, is_new))
    }
}

/// Rows of a table in memory.
type ConvergenceRows = csv::Writer<Vec<u8>>;

/// Adds rows to a table; `write` is told whether the table is new and has no header.
fn add_rows(
    table: &mut String,
    write: impl FnOnce(&mut ConvergenceRows, bool) -> csv::Result<()>,
) -> io::Result<()> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    write(&mut rows, table.is_empty())?;
    let bytes = rows.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
    table.push_str(&String::from_utf8(bytes).map_err(io::Error::other)?);
    Ok(())
}

fn write_courses(step: &Convergence, rows: &mut ConvergenceRows, is_new: bool) -> csv::Result<()> {
    let residuals = ROW_KINDS
        .iter()
        .flat_map(|(kind, unit)| ["", "_max"].map(|of| format!("residual_{kind}{of} [{unit}]")));
    let leading = ["time [s]", "start", "sweep [-]"].map(str::to_owned);
    let others = [
        "residual_normal_without_compliance [m/s]",
        "residual_normal_without_compliance_max [m/s]",
        "objective [J]",
        "impulse_error [-]",
        "impulse_error_mean [-]",
    ];
    if is_new {
        rows.write_record(leading.into_iter().chain(residuals).chain(others.map(str::to_owned)))?;
    }
    let time = step.time;
    for course in &step.courses {
        for Point { sweep, residuals, normal_without_compliance, objective, error } in &course.points {
            let leading = [format!("{time:?}"), course.start.to_string(), sweep.to_string()];
            let kinds = [residuals.normal, residuals.friction, residuals.rolling];
            let ImpulseError { norm, mean } = error;
            let kinds = kinds.iter().chain([normal_without_compliance]);
            let numbers =
                kinds.flat_map(|spread| [spread.mean, spread.max]).chain([*objective, *norm, *mean]);
            rows.write_record(leading.into_iter().chain(numbers.map(|number| format!("{number:?}"))))?;
        }
    }
    Ok(())
}

fn write_histograms(step: &Convergence, rows: &mut ConvergenceRows, is_new: bool) -> csv::Result<()> {
    if is_new {
        rows.write_record(["time [s]", "start", "row", "from [m/s or rad/s]", "until", "contacts [-]"])?;
    }
    let time = step.time;
    for course in &step.courses {
        for ((kind, _), histogram) in ROW_KINDS.iter().zip(&course.histograms) {
            for (from, until, count) in histogram.bins() {
                let numbers = [format!("{from:?}"), format!("{until:?}"), count.to_string()];
                let leading = [format!("{time:?}"), course.start.to_string(), (*kind).to_owned()];
                rows.write_record(leading.into_iter().chain(numbers))?;
            }
        }
    }
    Ok(())
}
