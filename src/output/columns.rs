//! `columns.csv`: unit and meaning of the columns of the tables, and why a column may hold no number.

use std::io;
use std::path::Path;

use super::atomic;
use crate::error::Error;
use crate::observe::quantity::find;
use crate::observe::{Column, missing};

/// Name of the file.
pub(super) const NAME: &str = "columns.csv";

/// Columns of `layers.csv` with their meaning, and whether a layer may have none.
const LAYERS: [(&str, &str, &str, bool); 9] = [
    ("from", "m", "lower end of the layer along its axis", false),
    ("until", "m", "upper end of the layer along its axis", false),
    ("solid_fraction", "-", "volume of the grains over that of the layer", false),
    ("velocity_x, velocity_y, velocity_z", "m/s", "mean velocity, weighted by mass", true),
    (
        "angular_velocity_x, angular_velocity_y, angular_velocity_z",
        "rad/s",
        "mean angular velocity, weighted by mass",
        true,
    ),
    (
        "granular_temperature",
        "m2/s2",
        "mean square of the velocities about their mean, by direction of motion",
        true,
    ),
    ("coordination_number", "-", "touching neighbours per grain, weighted by mass", true),
    (
        "stress_xx, stress_xy, ...",
        "Pa",
        "Love-Weber stress with its kinetic part, positive under pressure",
        false,
    ),
    ("time", "s", "simulated time", false),
];
/// Why a layer has no mean.
const EMPTY: &str = "no grain reaches into the layer";

/// Writes the file for a time series with these columns, and for layers.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn write(
    folder: &Path,
    columns: &[Column],
    has_series: bool,
    has_layers: bool,
) -> Result<(), Error> {
    if !has_series && !has_layers {
        return Ok(());
    }
    atomic::write(&folder.join(NAME), |out| {
        let mut rows = csv::Writer::from_writer(out);
        rows.write_record(["table", "column", "unit", "meaning", "NaN where"])?;
        if has_series {
            series(&mut rows, columns)?;
        }
        for (name, unit, meaning, may_miss) in LAYERS.iter().filter(|_| has_layers) {
            rows.write_record(["layers.csv", *name, *unit, *meaning, if *may_miss { EMPTY } else { "" }])?;
        }
        rows.flush()
    })
}

fn series(rows: &mut csv::Writer<impl io::Write>, columns: &[Column]) -> csv::Result<()> {
    let table = "timeseries.csv";
    rows.write_record([table, "time", "s", "simulated time", ""])?;
    rows.write_record([table, "step", "-", "steps done since the start", ""])?;
    columns.iter().try_for_each(|Column { name, unit }| {
        // Brackets of the manual have a backslash before them.
        let meaning = find(name).map_or(String::new(), |quantity| quantity.meaning.replace('\\', ""));
        rows.write_record([
            table,
            name.as_str(),
            *unit,
            meaning.as_str(),
            missing::reason(name).unwrap_or_default(),
        ])
    })
}
