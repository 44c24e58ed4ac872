//! The `[expect]` table: numbers that the run must come to.

use super::Expectation;
use super::problems::suggest;
use super::read::{FINITE, NOT_NEGATIVE, TIME, Table, number};

/// Quantities that can be expected. Those that end in `:` go on with the name of a boundary.
pub const QUANTITIES: &[&str] = &[
    "height",
    "height_p99",
    "centre_of_mass_x",
    "centre_of_mass_y",
    "centre_of_mass_z",
    "kinetic_energy",
    "rotational_energy",
    "potential_energy",
    "rms_speed",
    "max_speed",
    "kinetic_energy_per_grain",
    "mean_overlap",
    "max_overlap",
    "contacts",
    "touching",
    "sliding_share",
    "coordination_number",
    "coordination_number_without_rattlers",
    "grains",
    "residual_normal",
    "residual_friction",
    "residual_rolling",
    "residual_normal_max",
    "residual_friction_max",
    "residual_rolling_max",
    "dynamic_angle_deg",
    "plug_share",
    "sweeps",
    "colours",
    "tail",
    "momentum_x",
    "momentum_y",
    "momentum_z",
    "weight_supported",
    "force_x:",
    "force_y:",
    "force_z:",
    "torque_x:",
    "torque_y:",
    "torque_z:",
    "position_x:",
    "position_y:",
    "position_z:",
    "velocity_x:",
    "velocity_y:",
    "velocity_z:",
    "angular_velocity_x:",
    "angular_velocity_y:",
    "angular_velocity_z:",
];

/// Quantities that only free boundaries have.
const OF_A_FREE_BOUNDARY: [&str; 3] = ["position_", "velocity_", "angular_velocity_"];

/// Quantities that only a drum has.
const OF_A_DRUM: [&str; 2] = ["dynamic_angle_deg", "plug_share"];

/// What an expectation may refer to.
pub struct Subjects<'a> {
    /// Names of the boundaries.
    pub boundaries: &'a [String],
    /// Names of those that are free.
    pub free_boundaries: &'a [String],
    /// Whether a drum is observed.
    pub has_drum: bool,
    /// Simulated time \[s\].
    pub duration: f64,
}

/// Reads all expectations.
pub fn expectations(table: &mut Table<'_>, subjects: &Subjects<'_>) -> Vec<Expectation> {
    let mut expectations = Vec::new();
    for (quantity, span, node) in table.named() {
        if let Err((message, help)) = known(&quantity, subjects) {
            table.report.problem(&span, message, help);
        }
        expectations.extend(node.table(|table| expectation(quantity, table, subjects.duration)));
    }
    expectations
}

/// Whether a quantity can be measured in this scenario.
fn known(quantity: &str, subjects: &Subjects<'_>) -> Result<(), (String, String)> {
    if let Some((kind, name)) = quantity.split_once(':') {
        let prefix = format!("{kind}:");
        if !QUANTITIES.contains(&prefix.as_str()) {
            let message = format!("unknown quantity `{quantity}`");
            return Err((message, suggest(&prefix, QUANTITIES.iter().copied())));
        }
        let names = subjects.boundaries.iter().map(String::as_str);
        let needs_free = OF_A_FREE_BOUNDARY.iter().any(|start| kind.starts_with(start));
        let is_fixed = names.clone().any(|known| known == name)
            && !subjects.free_boundaries.iter().any(|known| known == name);
        if needs_free && is_fixed {
            return Err((
                format!("`{quantity}`: boundary \"{name}\" is not free"),
                "give it motion = { kind = \"free\" }, or expect something else".to_owned(),
            ));
        }
        return match names.clone().any(|known| known == name) {
            true => Ok(()),
            false => Err((format!("`{quantity}`: there is no boundary \"{name}\""), suggest(name, names))),
        };
    }
    if !QUANTITIES.contains(&quantity) {
        return Err((
            format!("unknown quantity `{quantity}`"),
            suggest(quantity, QUANTITIES.iter().copied()),
        ));
    }
    if OF_A_DRUM.contains(&quantity) && !subjects.has_drum {
        return Err((
            format!("`{quantity}` needs a drum"),
            "add [observe.drum] boundary = \"...\"".to_owned(),
        ));
    }
    Ok(())
}

fn expectation(quantity: String, table: &mut Table<'_>, duration: f64) -> Option<Expectation> {
    let wants_value = table.has("value");
    let value = table.maybe("value", number(FINITE));
    let tolerance = match wants_value {
        true => table.get("tolerance", number(NOT_NEGATIVE)),
        false => table.maybe("tolerance", number(NOT_NEGATIVE)),
    };
    let at_least = table.maybe("at_least", number(FINITE));
    let at_most = table.maybe("at_most", number(FINITE));
    let window = window(table, duration);
    if !wants_value && !table.has("at_least") && !table.has("at_most") {
        table.problem(
            format!("`{}` expects nothing", table.name()),
            "give `value` and `tolerance`, `at_least` or `at_most`",
        );
        return None;
    }
    Some(Expectation { quantity, value: value.zip(tolerance), at_least, at_most, window: window? })
}

/// Reads `from` and `until`; `Some(None)` when there is no window.
fn window(table: &mut Table<'_>, duration: f64) -> Option<Option<(f64, f64)>> {
    if !table.has("from") && !table.has("until") {
        return Some(None);
    }
    let (from, until) = (table.or("from", 0.0, number(TIME)), table.or("until", duration, number(TIME)));
    if from >= until || until > duration {
        table.problem(
            format!("`{}` is averaged from {from} s until {until} s of a run of {duration} s", table.name()),
            "`from` comes before `until`, and `until` not after the end",
        );
        return None;
    }
    Some(Some((from, until)))
}
