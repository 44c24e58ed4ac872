//! The `[expect]` table: numbers that the results of a run must match.
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
//! The key is a label; the quantity is named by `of`, or by the label itself; all quantities are listed in
//! [`crate::observe::quantity::table`]. A number is computed from the values of the quantity at the outputs, from `from` until `until`
//! \[s\], both included (default: the whole run):
//!
//! | `take` | The number |
//! |---|---|
//! | `"final"` | the last value; the default |
//! | `"mean"` | the mean over the outputs; the default where there is a `from` or `until` |
//! | `"maximum"`, `"minimum"` | the largest, the smallest value |
//! | `"time_of_maximum"`, `"time_of_minimum"` | time at which that value is reached first \[s\] |
//! | `"change"` | the last value minus the first |
//! | `"rate"` | slope of the least-squares line, per second |
//! | `"linearity"` | share of the variance that this line explains, R² \[-\] |
//! | `"settled_after"` | time of the first output from which the value stays `within` of `settle_at` (default 0) \[s\] |
//! | `"rises"`, `"falls"` | largest step against the direction, at most `slack` (default 0) |
//! | `"times_of_minima"` | largest deviation \[s\] of the times of the first local minima from `values` |
//!
//! Instead of `take`, `at = t` gives the value at a time \[s\], linear between outputs, and `curve` the largest deviation from a reference
//! curve at the times of the curve; time zero of the curve is at `start` of the run \[s\] (default 0), and `offset` (default 0) is added to
//! its values. `over` names a second quantity: the number of the first quantity is divided by the same number of the second.
//!
//! The number is judged by `value` with a tolerance, by `at_least` and by `at_most`. `tolerance` is in the unit of the quantity,
//! `tolerance_share` is a share of |value|. On an engine in single precision `single` and `single_share` replace them. With `shown_only =
//! true` the number and its error are reported but not judged.

mod bounds;
mod curve;

use std::ops::Range;
use std::path::Path;

pub use self::bounds::{bounds, slack};
use super::read::{FINITE, NOT_NEGATIVE, Node, TIME, Table, number, renamed, text, word};
use crate::error::suggest;
use crate::model::Residence;
use crate::observe::bounds::Bounds;
use crate::observe::passages::{residence_names, stay_classes};
use crate::observe::quantity::{self, Needs, QUANTITIES};
use crate::observe::take::Take;
use crate::observe::{Expectation, Tracked};

/// Words of `take`.
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

/// Elements of a scenario that an expectation may refer to.
pub struct Subjects<'a> {
    /// Names of the boundaries.
    pub boundaries: &'a [String],
    /// Names of the sinks.
    pub sinks: &'a [String],
    /// Names of the size classes of the sinks.
    pub size_classes: &'a [String],
    /// Names of the parts of the profiles of the sinks.
    pub profile_bins: &'a [String],
    /// Names of the sinks with a profile.
    pub profiles: &'a [String],
    /// Names of the observed regions.
    pub regions: &'a [String],
    /// Names of the gates.
    pub gates: &'a [String],
    /// Names of the observed mixtures.
    pub mixing: &'a [String],
    /// Residences in observed regions.
    pub residences: &'a [Residence],
    /// Names of the joints.
    pub joints: &'a [String],
    /// Whether there are bonds.
    pub has_bonds: bool,
    /// Whether a drum is observed.
    pub has_drum: bool,
    /// Whether a cell is observed.
    pub has_cell: bool,
    /// Whether a surface is observed.
    pub has_surface: bool,
    /// Bodies and contacts that are observed one by one.
    pub tracked: &'a Tracked,
    /// Whether the fabric is observed.
    pub has_fabric: bool,
    /// Whether compatible forces are asked for.
    pub has_compatible: bool,
    /// Whether the energy balance is observed.
    pub has_balance: bool,
    /// Whether the scene has heat.
    pub has_heat: bool,
    /// Whether the scene has liquid.
    pub has_liquid: bool,
    /// Whether the periodic cell deforms.
    pub deforms: bool,
    /// Simulated time \[s\].
    pub duration: f64,
    /// Folder that the paths of curves start at.
    pub folder: &'a Path,
}

/// Use of the number that is computed.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    /// The number is judged.
    Judged,
    /// The number is recorded and not judged.
    Kept,
}

/// Reads all expectations.
pub fn expectations(table: &mut Table<'_>, subjects: &Subjects<'_>) -> Vec<Expectation> {
    read_all(table, subjects, Purpose::Judged)
}

/// Reads numbers that are computed from a run like those of expectations, but not judged.
pub fn kept(table: &mut Table<'_>, subjects: &Subjects<'_>) -> Vec<Expectation> {
    read_all(table, subjects, Purpose::Kept)
}

fn read_all(table: &mut Table<'_>, subjects: &Subjects<'_>, purpose: Purpose) -> Vec<Expectation> {
    let read = |(label, span, node): (String, Range<usize>, Node<'_>)| {
        node.table(|table| expectation(label, &span, table, subjects, purpose))
    };
    table.named().into_iter().filter_map(read).collect()
}

/// Returns the name of the same pair with its bodies in the other order, if that pair is observed.
fn reverse(pair: &str, observed: &[String]) -> Option<String> {
    // Names of boundaries may contain a dash as well.
    let mut orders = pair.match_indices('-').map(|(i, _)| format!("{}-{}", &pair[i + 1..], &pair[..i]));
    orders.find(|order| observed.contains(order))
}

/// Names of the quantities that a scenario can have without observing individual bodies.
fn known_names() -> Vec<String> {
    let is_tracked = |needs: Needs| matches!(needs, Needs::Body | Needs::Pair | Needs::CompatiblePair);
    QUANTITIES.iter().filter(|quantity| !is_tracked(quantity.needs)).map(quantity::Quantity::shown).collect()
}

/// Advice for a quantity that needs compatible forces.
const ASK_FOR_THEM: &str = "add [forces] compatible = { law = \"hertz\" }";

/// Advice for a quantity that needs heat.
const ADD_HEAT: &str = "add a table [heat]";

/// Checks that a quantity can be measured in this scenario; the error is the reason and the advice.
fn known(column: &str, subjects: &Subjects<'_>) -> Result<(), (String, String)> {
    let (kind, name) = column.split_once(':').unwrap_or((column, ""));
    let Some(quantity) = quantity::find(column) else {
        let message = format!("unknown quantity `{column}`");
        if let Some(now) = renamed(column).filter(|now| quantity::find(now).is_some()) {
            return Err((message, format!("it is called `{now}` now")));
        }
        let wanted = if column.contains(':') { format!("{kind}:") } else { kind.to_owned() };
        return Err((message, suggest(&wanted, known_names().iter().map(String::as_str))));
    };
    let one_of = |what: &str, names: &[String]| match names.iter().any(|known| known == name) {
        true => Ok(()),
        false => {
            let advice = suggest(name, names.iter().map(String::as_str));
            Err((format!("`{column}`: there is no {what} \"{name}\""), advice))
        }
    };
    let there = |is_there: bool, what: &str, advice: &str| match is_there {
        true => Ok(()),
        false => Err((format!("`{column}` needs {what}"), advice.to_owned())),
    };
    let observed = |names: &[String], advice: String| match names.iter().any(|known| known == name) {
        true => Ok(()),
        false => Err((format!("`{column}` is not observed"), advice)),
    };
    match quantity.needs {
        Needs::Nothing => Ok(()),
        Needs::Boundary => one_of("boundary", subjects.boundaries),
        Needs::Compatible => there(subjects.has_compatible, "compatible forces", ASK_FOR_THEM),
        Needs::CompatibleBoundary => there(subjects.has_compatible, "compatible forces", ASK_FOR_THEM)
            .and_then(|()| one_of("boundary", subjects.boundaries)),
        Needs::Joint => one_of("joint", subjects.joints),
        Needs::Sink => one_of("sink", subjects.sinks),
        Needs::SizeClass => one_of("class of radii of a sink", subjects.size_classes),
        Needs::ProfileBin => one_of("part of the profile of a sink", subjects.profile_bins),
        Needs::Profile => one_of("sink with a profile", subjects.profiles),
        Needs::Region => one_of("region", subjects.regions),
        Needs::Mixing => one_of("mixture", subjects.mixing),
        Needs::Gate => one_of("gate", subjects.gates),
        Needs::Residence => one_of("region with `residence`", &residence_names(subjects.residences)),
        Needs::StayClass => {
            one_of("class of residence times of a region", &stay_classes(subjects.residences))
        }
        Needs::Bonds => there(subjects.has_bonds, "bonds", "add [[bonds]]"),
        Needs::Drum => there(subjects.has_drum, "a drum", "add [observe.drum] boundary = \"...\""),
        Needs::Fabric => there(subjects.has_fabric, "the fabric", "add [observe.fabric] plane = \"xz\""),
        Needs::Cell => {
            let advice = "add [observe.cell] with the walls `x`, `y` and `z`, or [[periodic.stages]]";
            there(subjects.has_cell || subjects.deforms, "a cell", advice)
        }
        Needs::Deformation => {
            there(subjects.deforms, "a periodic cell that deforms", "add [[periodic.stages]]")
        }
        Needs::Surface => {
            there(subjects.has_surface, "a surface", "add [observe.surface] with `min`, `max` and `cells`")
        }
        Needs::EnergyBalance => {
            there(subjects.has_balance, "the energy balance", "set `observe.energy` to true")
        }
        Needs::Heat => there(subjects.has_heat, "a scene with heat", ADD_HEAT),
        Needs::Liquid => there(subjects.has_liquid, "a scene with liquid", "add a table [liquid]"),
        Needs::HeatBoundary => there(subjects.has_heat, "a scene with heat", ADD_HEAT)
            .and_then(|()| one_of("boundary", subjects.boundaries)),
        Needs::Body => observed(
            &subjects.tracked.body_names(),
            "add it to `grains` or `boundaries` of [observe]".to_owned(),
        ),
        Needs::CompatiblePair if !subjects.has_compatible => there(false, "compatible forces", ASK_FOR_THEM),
        Needs::Pair | Needs::CompatiblePair => {
            let names = subjects.tracked.pair_names();
            let advice = match reverse(name, &names) {
                Some(order) => format!("the contact is observed the other way round: `{kind}:{order}`"),
                None => "add it to `contacts` of [observe]".to_owned(),
            };
            observed(&names, advice)
        }
    }
}

/// Cause of a quantity that cannot be measured: the name of its subject, if there is no such one, else the quantity.
fn cause(column: &str, message: &str) -> String {
    let subject = message.split_once(": there is no ").map(|(_, subject)| subject.replace('"', ""));
    subject.unwrap_or_else(|| format!("quantity {column}"))
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
            node.problem_of(cause(&quantity, &message), message, help);
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
                let cause = cause(&label, &message);
                table.report.problem_of(cause, span, message, format!("{own_label}{help}"));
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

/// Reads `at`, `curve` or `take` with the keys that belong to it.
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

/// Returns the reduction that a word of `take` stands for, and reads its keys.
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

/// Reports keys that belong to another reduction.
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

/// Reads `from` and `until`; `Some(None)` if there is no window.
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
