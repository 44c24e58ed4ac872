//! The `[solver]` table.

use super::read::{FINITE, Node, Plain, Table, number, whole, word};
use crate::error::Error;
use crate::settings::{Acceleration, NormalLaw, Settings, WarmStart};

const WARM_STARTS: &[&str] = &["cold", "history", "adaptive", "model"];
const ACCELERATIONS: &[&str] = &["none", "nesterov"];
const NORMAL_LAWS: &[&str] = &["hertz", "hooke", "rigid"];

/// Reads the settings of the solver; what is left out or wrong is as in [`Settings::default`].
pub fn settings(table: &mut Table<'_>) -> Settings {
    let usual = Settings::default();
    let settings = Settings {
        time_step: table.or("time_step", usual.time_step, number(FINITE)),
        substeps: count(table, "substeps", usual.substeps),
        iterations: count(table, "iterations", usual.iterations),
        tolerance: table.or("tolerance", usual.tolerance, number(FINITE)),
        warm_start: warm_start(table, usual.warm_start),
        acceleration: acceleration(table),
        normal_law: normal_law(table),
        contact_margin: table.or("contact_margin", usual.contact_margin, number(FINITE)),
        impact_threshold: table.or("impact_threshold", usual.impact_threshold, number(FINITE)),
        bookkeeping: usual.bookkeeping,
    };
    if let Err(errors) = settings.validate() {
        errors.into_iter().for_each(|error| point_out(table, error));
        return usual;
    }
    settings
}

fn count(table: &mut Table<'_>, key: &'static str, usual: u32) -> u32 {
    let value = table.or(key, u64::from(usual), whole(0, u64::from(u32::MAX)));
    u32::try_from(value).unwrap_or(usual)
}

fn acceleration(table: &mut Table<'_>) -> Acceleration {
    match table.or("acceleration", "none", word(ACCELERATIONS)) {
        "nesterov" => Acceleration::Nesterov,
        _ => Acceleration::None,
    }
}

fn normal_law(table: &mut Table<'_>) -> NormalLaw {
    match table.or("normal_law", "hertz", word(NORMAL_LAWS)) {
        "hooke" => NormalLaw::Hooke,
        "rigid" => NormalLaw::Rigid,
        _ => NormalLaw::Hertz,
    }
}

fn warm_start(table: &mut Table<'_>, usual: WarmStart) -> WarmStart {
    let path = table.path_to("warm_start");
    let Some(node) = table.node("warm_start") else {
        table.report.fill(path, written_out(usual));
        return usual;
    };
    if !node.is_text() {
        return node.table(warm_start_table).unwrap_or(usual);
    }
    let Some(kind) = word(WARM_STARTS)(node) else { return usual };
    let warm_start = by_name(kind);
    table.report.fill(path, written_out(warm_start));
    warm_start
}

/// A warm start as a table.
fn written_out(warm_start: WarmStart) -> toml_edit::Value {
    let mut table = toml_edit::InlineTable::new();
    let mut insert = |key: &str, value: toml_edit::Value| _ = table.insert(key, value);
    match warm_start {
        WarmStart::Cold => insert("kind", "cold".plain()),
        WarmStart::Model => insert("kind", "model".plain()),
        WarmStart::History { fraction } => {
            insert("kind", "history".plain());
            insert("fraction", fraction.plain());
        }
        WarmStart::Adaptive { fraction, motion } => {
            insert("kind", "adaptive".plain());
            insert("fraction", fraction.plain());
            insert("motion", motion.plain());
        }
    }
    table.into()
}

fn by_name(kind: &str) -> WarmStart {
    match kind {
        "cold" => WarmStart::Cold,
        "history" => WarmStart::HISTORY,
        "model" => WarmStart::Model,
        _ => WarmStart::ADAPTIVE,
    }
}

fn warm_start_table(table: &mut Table<'_>) -> Option<WarmStart> {
    Some(match by_name(table.kind(WARM_STARTS)?) {
        WarmStart::History { fraction } => {
            WarmStart::History { fraction: table.or("fraction", fraction, number(FINITE)) }
        }
        WarmStart::Adaptive { fraction, motion } => WarmStart::Adaptive {
            fraction: table.or("fraction", fraction, number(FINITE)),
            motion: table.or("motion", motion, number(FINITE)),
        },
        other => other,
    })
}

/// Shows an invalid setting at its value in the file.
fn point_out(table: &mut Table<'_>, error: Error) {
    let Error::InvalidSetting { name, found, expected } = error else {
        table.problem(error.to_string(), "change the solver settings");
        return;
    };
    let message = format!("`{name}` is {found}, expected {expected}");
    let help = format!("set `{name}` to {expected}");
    match place(table, name) {
        Some(node) => node.problem(message, help),
        None => table.problem(message, help),
    }
}

/// The value of a setting such as `solver.warm_start.fraction`.
fn place<'a>(table: &mut Table<'a>, name: &'static str) -> Option<Node<'a>> {
    let mut keys = name.strip_prefix("solver.")?.split('.');
    let setting = table.node(keys.next()?)?;
    Some(keys.next().and_then(|key| setting.child(key)).unwrap_or(setting))
}
