//! The `[expect]` table: numbers that the run must come to.
//!
//! ```toml
//! [expect]
//! height = { value = 0.3210, tolerance = 0.0032 }               # at the end
//! final_speed = { of = "velocity_x:grain-0", value = 0.714, tolerance_share = 1e-9, single_share = 1e-4 }
//! first_speed = { of = "velocity_x:grain-0", at = 0.1, value = 0.804, tolerance = 1e-3 }
//! outflow = { of = "removed:hole", take = "rate", from = 0.5, until = 3.5, at_least = 21e3, at_most = 26e3 }
//! steady = { of = "removed:hole", take = "linearity", from = 0.5, until = 3.5, at_least = 0.999 }
//! friction = { of = "force_x:floor", over = "force_z:floor", take = "mean", value = 0.3, tolerance = 1e-3 }
//! impacts = { of = "height", take = "times_of_minima", values = [0.4515, 0.9030], tolerance = 2e-3 }
//! fall = { of = "position_z:grain-0", curve = { file = "drop.csv", time = "t", column = "z" }, tolerance = 1e-3 }
//! ```
//!
//! The key is a label; the quantity is named by `of`, or by the label itself; all quantities are in the table of
//! [`crate::observe`]. A number is taken from its values at
//! the outputs, from `from` until `until` \[s\] with both ends (default: the whole run):
//!
//! | `take` | The number |
//! |---|---|
//! | `"final"` | the last value; the default |
//! | `"mean"` | the mean over the outputs; the default where there is a `from` or `until` |
//! | `"maximum"`, `"minimum"` | the largest, the smallest value |
//! | `"time_of_maximum"`, `"time_of_minimum"` | when it is reached first \[s\] |
//! | `"change"` | the last value minus the first |
//! | `"rate"` | slope of the least-squares line, per second |
//! | `"linearity"` | share of the variance that this line explains, R² \[-\] |
//! | `"settled_after"` | time of the first output from which the value stays `within` of `settle_at` (default 0) \[s\] |
//! | `"rises"`, `"falls"` | largest step against the direction, at most `slack` (default 0) |
//! | `"times_of_minima"` | largest deviation \[s\] of the times of the first local minima from `values` |
//!
//! Instead of `take`, `at = t` gives the value at a time \[s\], linear between outputs, and `curve` the largest deviation
//! from a reference curve at the curve's own times; its time zero is at `start` of the run \[s\] (default 0), and `offset`
//! (default 0) is added to its values. `over` names a second quantity, of which the same number is taken,
//! and the first is divided by it.
//!
//! The number is judged by `value` with a tolerance, by `at_least` and by `at_most`. `tolerance` is in the unit of the
//! quantity, `tolerance_share` a share of |value|. `single` and `single_share` hold instead on an engine in
//! single precision. With `shown_only = true` the number and its error are reported and not judged.

mod bounds;
mod curve;

use std::ops::Range;
use std::path::Path;

pub use self::bounds::{Bounds, Tolerance, bounds, slack};
pub use self::curve::Curve;
use super::problems::suggest;
use super::read::{FINITE, NOT_NEGATIVE, Node, TIME, Table, number, text, word};

/// Quantities that can be expected. Those that end in `:` go on with the name of a boundary, a sink
/// ([`OF_A_SINK`]) or a region ([`OF_A_REGION`]).
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
    "grains_lost",
    "residual_normal",
    "residual_friction",
    "residual_rolling",
    "residual_normal_max",
    "residual_friction_max",
    "residual_rolling_max",
    "dynamic_angle_deg",
    "plug_share",
    "sweeps",
    "impact_sweeps",
    "residual_impact",
    "colours",
    "rest",
    "momentum_x",
    "momentum_y",
    "momentum_z",
    "angular_momentum_x",
    "angular_momentum_y",
    "angular_momentum_z",
    "weight_supported",
    "force_x:",
    "force_y:",
    "force_z:",
    "torque_x:",
    "torque_y:",
    "torque_z:",
    "mean_force_x:",
    "mean_force_y:",
    "mean_force_z:",
    "mean_torque_x:",
    "mean_torque_y:",
    "mean_torque_z:",
    "removed:",
    "removed_mass:",
    "mass_flow:",
    "count:",
    "mass:",
    "centre_x:",
    "centre_y:",
    "centre_z:",
    "elastic_energy",
    "total_energy",
    "ballistic_energy",
    "gravity_work",
    "boundary_work",
    "dissipated_by_impact",
    "dissipated_by_friction",
    "dissipated_by_rolling",
    "dissipated_by_normal",
    "emitted_energy",
    "removed_energy",
    "energy_error",
    "energy_error_share",
    "energy_made_share",
    "front_x",
    "repose_angle_deg",
    "granular_temperature",
    "inverse_thermal_speed",
    "drive_force:",
    "cell_x",
    "cell_y",
    "cell_z",
    "strain_x",
    "strain_y",
    "strain_z",
    "volume_strain",
    "stress_x",
    "stress_y",
    "stress_z",
    "mean_stress",
    "deviator_stress",
    "pressure",
    "solid_fraction",
];

/// Quantities that go on with the name of a sink.
pub const OF_A_SINK: [&str; 3] = ["removed:", "removed_mass:", "mass_flow:"];

/// Quantities that go on with the name of a region.
pub const OF_A_REGION: [&str; 5] = ["count:", "mass:", "centre_x:", "centre_y:", "centre_z:"];

/// Quantities that only a drum has.
const OF_A_DRUM: [&str; 2] = ["dynamic_angle_deg", "plug_share"];

/// Quantities that only a cell has.
const OF_A_CELL: [&str; 14] = [
    "cell_x",
    "cell_y",
    "cell_z",
    "strain_x",
    "strain_y",
    "strain_z",
    "volume_strain",
    "stress_x",
    "stress_y",
    "stress_z",
    "mean_stress",
    "deviator_stress",
    "pressure",
    "solid_fraction",
];

/// A number that the run must come to.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Expectation {
    /// What it is called.
    pub label: String,
    /// Column of the time series (see [`crate::observe`]).
    pub quantity: String,
    /// Column whose number, taken in the same way, divides that of `quantity`.
    pub over: Option<String>,
    /// How the values become a number.
    pub take: Take,
    /// Time window of the values \[s\]; `None`: the whole run.
    pub window: Option<(f64, f64)>,
    /// What the number must be.
    pub bounds: Bounds,
}

/// How the values of a quantity in a window become one number; see the [module](self).
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub enum Take {
    /// The last value.
    Final,
    /// The value at a time \[s\], linear between outputs.
    At(f64),
    /// The mean over the outputs.
    Mean,
    /// The largest value.
    Maximum,
    /// The smallest value.
    Minimum,
    /// When the largest value is reached first \[s\].
    TimeOfMaximum,
    /// When the smallest value is reached first \[s\].
    TimeOfMinimum,
    /// The last value minus the first.
    Change,
    /// Slope of the least-squares line \[1/s\].
    Rate,
    /// R² of the least-squares line \[-\].
    Linearity,
    /// Time of the first output from which the value stays near another \[s\].
    SettledAfter {
        /// That other value.
        value: f64,
        /// How near.
        within: f64,
    },
    /// The largest step down.
    Rises,
    /// The largest step up.
    Falls,
    /// The largest deviation of the times of the first local minima from these \[s\].
    TimesOfMinima(Vec<f64>),
    /// The largest deviation from a curve.
    Curve(Curve),
}

/// The words of `take`.
const TAKES: &[&str] = &[
    "final",
    "mean",
    "maximum",
    "minimum",
    "time_of_maximum",
    "time_of_minimum",
    "change",
    "rate",
    "linearity",
    "settled_after",
    "rises",
    "falls",
    "times_of_minima",
];

impl Take {
    /// The word for it in a scenario file.
    pub fn word(&self) -> &'static str {
        match self {
            Take::Final => "final",
            Take::At(_) => "at",
            Take::Mean => "mean",
            Take::Maximum => "maximum",
            Take::Minimum => "minimum",
            Take::TimeOfMaximum => "time_of_maximum",
            Take::TimeOfMinimum => "time_of_minimum",
            Take::Change => "change",
            Take::Rate => "rate",
            Take::Linearity => "linearity",
            Take::SettledAfter { .. } => "settled_after",
            Take::Rises => "rises",
            Take::Falls => "falls",
            Take::TimesOfMinima(_) => "times_of_minima",
            Take::Curve(_) => "curve",
        }
    }

    /// Whether the numbers of two quantities can be divided.
    fn divides(&self) -> bool {
        use Take::{At, Change, Final, Maximum, Mean, Minimum, Rate};
        matches!(self, Final | At(_) | Mean | Maximum | Minimum | Change | Rate)
    }
}

/// Quantities that only a run has whose energies are accounted for.
pub const OF_ACCOUNTS: [&str; 14] = [
    "elastic_energy",
    "total_energy",
    "ballistic_energy",
    "gravity_work",
    "boundary_work",
    "dissipated_by_impact",
    "dissipated_by_friction",
    "dissipated_by_rolling",
    "dissipated_by_normal",
    "emitted_energy",
    "removed_energy",
    "energy_error",
    "energy_error_share",
    "energy_made_share",
];

/// What an expectation may refer to.
pub struct Subjects<'a> {
    /// Names of the boundaries.
    pub boundaries: &'a [String],
    /// Names of the sinks.
    pub sinks: &'a [String],
    /// Names of the regions that are observed.
    pub regions: &'a [String],
    /// Names of the boundaries that slide.
    pub sliders: &'a [String],
    /// Whether a drum is observed.
    pub has_drum: bool,
    /// Whether a cell is observed.
    pub has_cell: bool,
    /// Columns of the bodies and contacts that are tracked.
    pub tracked: &'a [String],
    /// Whether energies are accounted for.
    pub has_accounts: bool,
    /// Simulated time \[s\].
    pub duration: f64,
    /// Folder that the paths of curves start at.
    pub folder: &'a Path,
}

impl Subjects<'_> {
    /// What the quantities of a prefix belong to, and the names there are.
    fn of(&self, prefix: &str) -> (&'static str, &[String]) {
        if OF_A_SINK.contains(&prefix) {
            ("sink", self.sinks)
        } else if prefix == "drive_force:" {
            ("slider", self.sliders)
        } else if OF_A_REGION.contains(&prefix) {
            ("region", self.regions)
        } else {
            ("boundary", self.boundaries)
        }
    }
}

/// What becomes of the number that is taken.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    /// It is judged.
    Judged,
    /// It is kept.
    Kept,
}

/// Reads all expectations.
pub fn expectations(table: &mut Table<'_>, subjects: &Subjects<'_>) -> Vec<Expectation> {
    read_all(table, subjects, Purpose::Judged)
}

/// Reads numbers that are taken from a run as those of expectations are, and not judged.
pub fn kept(table: &mut Table<'_>, subjects: &Subjects<'_>) -> Vec<Expectation> {
    read_all(table, subjects, Purpose::Kept)
}

fn read_all(table: &mut Table<'_>, subjects: &Subjects<'_>, purpose: Purpose) -> Vec<Expectation> {
    let read = |(label, span, node): (String, Range<usize>, Node<'_>)| {
        node.table(|table| expectation(label, &span, table, subjects, purpose))
    };
    table.named().into_iter().filter_map(read).collect()
}

/// The column of the same contact with its bodies in the other order, if it is tracked.
fn reverse<'a>(quantity: &str, tracked: &'a [String]) -> Option<&'a String> {
    let (kind, bodies) = quantity.split_once(':')?;
    // Names of boundaries may have a dash in them as well.
    let mut orders =
        bodies.match_indices('-').map(|(i, _)| format!("{kind}:{}-{}", &bodies[i + 1..], &bodies[..i]));
    orders.find_map(|order| tracked.iter().find(|column| **column == order))
}

/// Whether a quantity can be measured in this scenario.
fn known(quantity: &str, subjects: &Subjects<'_>) -> Result<(), (String, String)> {
    if subjects.tracked.iter().any(|column| column == quantity) {
        return Ok(());
    }
    if let Some((kind, name)) = quantity.split_once(':') {
        let prefix = format!("{kind}:");
        if let Some((_, list)) = super::track::KINDS.iter().find(|(known, _)| *known == kind) {
            let help = match reverse(quantity, subjects.tracked) {
                Some(known) => format!("the contact is observed the other way round: `{known}`"),
                None => format!("add it to `{list}` of [observe]"),
            };
            return Err((format!("`{quantity}` is not observed"), help));
        }
        if !QUANTITIES.contains(&prefix.as_str()) {
            let message = format!("unknown quantity `{quantity}`");
            return Err((message, suggest(&prefix, QUANTITIES.iter().copied())));
        }
        let (kind, names) = subjects.of(&prefix);
        let names = names.iter().map(String::as_str);
        return match names.clone().any(|known| known == name) {
            true => Ok(()),
            false => Err((format!("`{quantity}`: there is no {kind} \"{name}\""), suggest(name, names))),
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
    if OF_A_CELL.contains(&quantity) && !subjects.has_cell {
        return Err((
            format!("`{quantity}` needs a cell"),
            "add [observe.cell] with the walls `x`, `y` and `z`".to_owned(),
        ));
    }
    if OF_ACCOUNTS.contains(&quantity) && !subjects.has_accounts {
        return Err((
            format!("`{quantity}` needs the account of energies"),
            "set `observe.energy` to true".to_owned(),
        ));
    }
    Ok(())
}

fn expectation(
    label: String,
    span: &Range<usize>,
    table: &mut Table<'_>,
    subjects: &Subjects<'_>,
    purpose: Purpose,
) -> Option<Expectation> {
    let named = |table: &mut Table<'_>, key| {
        let node = table.node(key)?;
        let quantity = text(node.clone())?;
        if let Err((message, help)) = known(&quantity, subjects) {
            node.problem(message, help);
        }
        Some(quantity)
    };
    let quantity = match table.has("of") {
        true => named(table, "of"),
        false => {
            if let Err((message, help)) = known(&label, subjects) {
                let own_label = match message.starts_with("unknown quantity") {
                    true => "add `of = \"...\"` or use a quantity as the label; ",
                    false => "",
                };
                table.report.problem(span, message, format!("{own_label}{help}"));
            }
            Some(label.clone())
        }
    };
    let window = window(table, subjects.duration);
    let Some(take) = take(table, window, subjects) else {
        table.leave_keys_unjudged();
        return None;
    };
    let over = named(table, "over");
    if over.is_some() && !take.divides() {
        table.problem(
            format!("`{}` divides what is no number of a quantity", table.name()),
            "`over` goes with final, mean, maximum, minimum, change, rate and `at`",
        );
    }
    let bounds = match &take {
        _ if purpose == Purpose::Kept => Some(Bounds { shown_only: true, ..Bounds::default() }),
        Take::Rises | Take::Falls => Some(slack(table)),
        Take::TimesOfMinima(_) | Take::Curve(_) => Some(bounds::deviation(table)),
        _ => bounds(table),
    };
    refuse_strangers(table, &take);
    Some(Expectation { label, quantity: quantity?, over, take, window: window?, bounds: bounds? })
}

/// Reads `at`, `curve` or `take` with what belongs to it.
fn take(table: &mut Table<'_>, window: Option<Option<(f64, f64)>>, subjects: &Subjects<'_>) -> Option<Take> {
    let has_window = table.has("from") || table.has("until");
    let [at, curve, take] = ["at", "curve", "take"].map(|key| table.has(key));
    if u8::from(at) + u8::from(curve) + u8::from(take) > 1 {
        table.problem(
            format!("`{}` takes its number in two ways", table.name()),
            "give one of `at`, `curve` and `take`",
        );
        return None;
    }
    if at {
        return time(table, has_window, subjects.duration).map(Take::At);
    }
    if curve {
        let window = window?.unwrap_or((0.0, subjects.duration));
        let read = |node: Node<'_>| node.table(|table| curve::curve(table, subjects.folder, window));
        return table.maybe("curve", read).map(Take::Curve);
    }
    let default = if has_window { "mean" } else { "final" };
    let word = if take { table.get("take", word(TAKES))? } else { table.or("take", default, word(TAKES)) };
    taken(table, word, has_window)
}

/// Reads `at`.
fn time(table: &mut Table<'_>, has_window: bool, duration: f64) -> Option<f64> {
    let time = table.maybe("at", number(TIME))?;
    if has_window {
        table.problem(format!("`{}` has `at` and a window", table.name()), "leave out `from` and `until`");
    }
    if time > duration {
        table.problem(
            format!("`{}` is taken at {time} s of a run of {duration} s", table.name()),
            "`at` is not after the end",
        );
    }
    Some(time)
}

/// The way of taking that a word stands for, with the keys that belong to it.
fn taken(table: &mut Table<'_>, word: &str, has_window: bool) -> Option<Take> {
    Some(match word {
        "final" if has_window => {
            table.problem(
                format!("`{}` takes the final value and has a window", table.name()),
                "leave out `from` and `until`, or take the value `at` a time",
            );
            return None;
        }
        "mean" => Take::Mean,
        "maximum" => Take::Maximum,
        "minimum" => Take::Minimum,
        "time_of_maximum" => Take::TimeOfMaximum,
        "time_of_minimum" => Take::TimeOfMinimum,
        "change" => Take::Change,
        "rate" => Take::Rate,
        "linearity" => Take::Linearity,
        "settled_after" => {
            let value = table.or("settle_at", 0.0, number(FINITE));
            Take::SettledAfter { value, within: table.get("within", number(NOT_NEGATIVE))? }
        }
        "rises" => Take::Rises,
        "falls" => Take::Falls,
        "times_of_minima" => Take::TimesOfMinima(table.get("values", times)?),
        _ => Take::Final,
    })
}

/// Reads a list of times \[s\], at least one.
fn times(node: Node<'_>) -> Option<Vec<f64>> {
    let times = node.clone().list(number(TIME))?;
    if times.is_empty() {
        node.problem(format!("`{}` is empty", node.name()), "give the times [s] to be compared");
        return None;
    }
    Some(times)
}

/// Reports keys that belong to another way of taking the number.
fn refuse_strangers(table: &mut Table<'_>, take: &Take) {
    let word = take.word();
    let of_one: [(&'static str, &[&str]); 4] = [
        ("settle_at", &["settled_after"]),
        ("within", &["settled_after"]),
        ("values", &["times_of_minima"]),
        ("slack", &["rises", "falls"]),
    ];
    for (key, owners) in of_one {
        if table.has(key) && !owners.contains(&word) {
            table.problem(
                format!("`{}` has `{key}`, which means nothing here", table.name()),
                format!("`{key}` goes with take = \"{}\"", owners.join("\" or \"")),
            );
        }
    }
    let is_judged_by_itself = ["rises", "falls", "times_of_minima", "curve"].contains(&word);
    for key in ["value", "at_least", "at_most"] {
        if is_judged_by_itself && table.has(key) {
            table.problem(
                format!("`{}` has `{key}`, which means nothing here", table.name()),
                match word {
                    "rises" | "falls" => "it is judged by `slack`",
                    _ => "it is judged by `tolerance`",
                },
            );
        }
    }
}

/// Reads `from` and `until`; `Some(None)` when there is no window.
fn window(table: &mut Table<'_>, duration: f64) -> Option<Option<(f64, f64)>> {
    if !table.has("from") && !table.has("until") {
        return Some(None);
    }
    let (from, until) = (table.or("from", 0.0, number(TIME)), table.or("until", duration, number(TIME)));
    if from >= until || until > duration {
        table.problem(
            format!("`{}` is taken from {from} s until {until} s of a run of {duration} s", table.name()),
            "`from` comes before `until`, and `until` not after the end",
        );
        return None;
    }
    Some(Some((from, until)))
}
