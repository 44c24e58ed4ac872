//! The `[solver]` table.

use glam::DVec3;
use toml_edit::{DocumentMut, Item};

use crate::error::Error;
use crate::law::cone::Cone;
use crate::law::damping::Damping;
use crate::law::normal::NormalLaw;
use crate::law::rolling::RollingArm;
use crate::scenario::Scenario;
use crate::scenario::pace::smooth_time_step;
use crate::settings::{
    AUTO_ITERATIONS, AUTO_TOLERANCE, Acceleration, Algorithm, MOST_ITERATIONS, Method, Order, Settings,
    ToleranceKind, WarmStart,
};

use super::read::asked::Asked;
use super::read::{FINITE, Node, POSITIVE, Plain, SHARE, Table, number, whole, word};

const WARM_STARTS: &[&str] = &["cold", "history", "adaptive", "model", "normals_only", "no_velocity_update"];
const ACCELERATIONS: &[&str] = &["none", "nesterov"];
/// Word in place of a number of iterations or a time step: the program chooses a value that suits the scene.
const AUTO: &str = "auto";
const NORMAL_LAWS: &[&str] = &["hertz", "hooke", "rigid"];
const METHODS: &[&str] = &["nonsmooth", "smooth"];
const DAMPINGS: &[&str] = &["restitution", "viscoelastic"];
const ALGORITHMS: &[&str] = &["pgs", "apgd"];
const ORDERS: &[&str] = &["coloured", "sequential", "at_once"];
const TOLERANCE_KINDS: &[&str] = &["velocity", "impulses"];
const CONES: &[&str] = &["disc", "box"];
const ROLLING_ARMS: &[&str] = &["reduced", "radius", "diameter"];

/// Reads the settings of the solver in a scene with this gravity \[m/s²\]; settings that are left out or wrong are as in
/// [`Settings::default`].
pub fn settings(table: &mut Table<'_>, gravity: DVec3) -> Settings {
    let usual = Settings::default();
    // The word is registered before the value is read: under the smooth method it may stand for the time step.
    table.node("time_step").iter().for_each(|node| node.ask(Asked::Word(&[AUTO])));
    let timing = Settings {
        time_step: table.or("time_step", usual.time_step, number(FINITE)),
        substeps: count(table, "substeps", usual.substeps),
        ..usual
    };
    let impact_threshold = table.or("impact_threshold", usual.impact_threshold, number(FINITE));
    let (iterations, tolerance) = iterations(table, &timing, quiet_speed(gravity, &timing, impact_threshold));
    let settings = Settings {
        method: method(table),
        algorithm: algorithm(table),
        order: order(table),
        iterations,
        tolerance,
        tolerance_kind: tolerance_kind(table),
        warm_start: warm_start_or(table, usual.warm_start),
        acceleration: acceleration(table),
        coarse_corrections: count(table, "coarse_corrections", usual.coarse_corrections),
        normal_law: normal_law(table),
        rigid_correction: table.or("rigid_correction", usual.rigid_correction, number(FINITE)),
        damping: damping(table),
        cone: cone(table),
        rolling_arm: rolling_arm(table),
        skin: table.or("skin", usual.skin, number(FINITE)),
        impact_threshold,
        impact_iterations: count(table, "impact_iterations", iterations.clamp(1, MOST_ITERATIONS)),
        ..timing
    };
    if let Err(errors) = settings.validate() {
        errors.into_iter().for_each(|error| point_out(table, error));
        return usual;
    }
    settings
}

/// Returns whether the file leaves the time step to the program, which is possible under the smooth method \[E13\].
pub fn asks_for_a_time_step(document: &DocumentMut) -> bool {
    let is = |key: &str, word: &str| {
        let value =
            document.get("solver").and_then(|solver| solver.get(key)).and_then(|value| value.as_str());
        value == Some(word)
    };
    is("method", "smooth") && is("time_step", AUTO)
}

/// Returns a draft time step as an override, with which the rest of such a file is read; a scene without grains keeps it: a thousandth of
/// the duration.
pub fn draft_of_time_step(document: &DocumentMut) -> String {
    let number = |item: &Item| item.as_float().or(item.as_integer().map(|whole| whole as f64));
    let duration = document.get("duration").and_then(number).filter(|duration| *duration > 0.0);
    format!("solver.time_step={:e}", 1e-3 * duration.unwrap_or(1.0))
}

/// Returns the time step for a scene as an override, rounded down to two digits.
pub fn time_step_for(draft: &Scenario) -> String {
    let step = smooth_time_step(draft).unwrap_or(draft.settings.time_step);
    let digits = 10f64.powf(step.log10().floor() - 1.0);
    format!("solver.time_step={:.1e}", (step / digits).floor() * digits)
}

/// Speed that the solver must resolve in every substep, for automatic tolerances \[m/s\]: the speed that gravity adds in a substep, or
/// without gravity the largest impact speed that does not bounce.
fn quiet_speed(gravity: DVec3, timing: &Settings, impact_threshold: f64) -> f64 {
    let gained = gravity.length() * timing.substep();
    let speeds = [gained, impact_threshold, Settings::default().impact_threshold];
    speeds.into_iter().find(|&speed| speed > 0.0).unwrap_or_default()
}

/// Reads the largest number of sweeps, and the tolerance \[m/s\] that ends the sweeps earlier. "auto" sets both, but an explicit tolerance
/// has precedence.
fn iterations(table: &mut Table<'_>, timing: &Settings, quiet: f64) -> (u32, f64) {
    let is_word = |node: &Node<'_>| node.text().is_some_and(|text| text.parse::<f64>().is_err());
    let Some(node) = table.node("iterations").filter(is_word) else {
        let iterations = count(table, "iterations", timing.iterations);
        return (iterations, table.or("tolerance", timing.tolerance, number(FINITE)));
    };
    node.ask(Asked::Word(&[AUTO]));
    if node.text() != Some(AUTO) {
        node.mismatch::<()>("a whole number or \"auto\"");
    }
    (AUTO_ITERATIONS, table.or("tolerance", AUTO_TOLERANCE * quiet, number(FINITE)))
}

fn count(table: &mut Table<'_>, key: &'static str, usual: u32) -> u32 {
    let value = table.or(key, u64::from(usual), whole(0, u64::from(u32::MAX)));
    u32::try_from(value).unwrap_or(usual)
}

fn acceleration(table: &mut Table<'_>) -> Acceleration {
    match table.or("acceleration", "nesterov", word(ACCELERATIONS)) {
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

fn method(table: &mut Table<'_>) -> Method {
    match table.or("method", "nonsmooth", word(METHODS)) {
        "smooth" => Method::Smooth,
        _ => Method::Nonsmooth,
    }
}

fn algorithm(table: &mut Table<'_>) -> Algorithm {
    match table.or("algorithm", "pgs", word(ALGORITHMS)) {
        "apgd" => Algorithm::Apgd,
        _ => Algorithm::Pgs,
    }
}

/// Reads the optional order of the sweeps: a word, or a table with a number of blocks.
fn order(table: &mut Table<'_>) -> Order {
    let of_table = table.node("order").filter(|node| !node.is_text());
    if let Some(node) = of_table {
        let blocks = node.table(|table| table.get("blocks", whole(0, u64::from(u32::MAX))));
        return blocks
            .map_or(Order::Coloured, |blocks| Order::Blocks(u32::try_from(blocks).unwrap_or(u32::MAX)));
    }
    match table.or("order", "coloured", word(ORDERS)) {
        "sequential" => Order::Sequential,
        "at_once" => Order::AtOnce,
        _ => Order::Coloured,
    }
}

fn tolerance_kind(table: &mut Table<'_>) -> ToleranceKind {
    match table.or("tolerance_kind", "velocity", word(TOLERANCE_KINDS)) {
        "impulses" => ToleranceKind::Impulses,
        _ => ToleranceKind::Velocity,
    }
}

fn damping(table: &mut Table<'_>) -> Damping {
    match table.or("damping", "restitution", word(DAMPINGS)) {
        "viscoelastic" => Damping::Viscoelastic,
        _ => Damping::Restitution,
    }
}

fn cone(table: &mut Table<'_>) -> Cone {
    match table.or("cone", "disc", word(CONES)) {
        "box" => Cone::Box,
        _ => Cone::Disc,
    }
}

fn rolling_arm(table: &mut Table<'_>) -> RollingArm {
    match table.or("rolling_arm", "reduced", word(ROLLING_ARMS)) {
        "radius" => RollingArm::Radius,
        "diameter" => RollingArm::Diameter,
        _ => RollingArm::Reduced,
    }
}

/// Reads the optional warm start: a word or a table.
fn warm_start_or(table: &mut Table<'_>, usual: WarmStart) -> WarmStart {
    match table.node("warm_start") {
        Some(node) => warm_start(node).unwrap_or(usual),
        None => {
            table.report.fill(table.path_to("warm_start"), written_out(usual));
            usual
        }
    }
}

/// Reads a warm start: a word, or a table with that word as its `kind`.
pub fn warm_start(node: Node<'_>) -> Option<WarmStart> {
    if !node.is_text() {
        return node.table(warm_start_table);
    }
    let warm_start = by_name(word(WARM_STARTS)(node.clone())?);
    node.report.fill(node.path, written_out(warm_start));
    Some(warm_start)
}

/// Writes a warm start as a table.
pub fn written_out(warm_start: WarmStart) -> toml_edit::Value {
    let mut table = toml_edit::InlineTable::new();
    let mut insert = |key: &str, value: toml_edit::Value| _ = table.insert(key, value);
    insert("kind", warm_start.kind().plain());
    if let Some(fraction) = warm_start.fraction() {
        insert("fraction", fraction.plain());
    }
    if let WarmStart::Adaptive { motion, .. } = warm_start {
        insert("motion", motion.plain());
    }
    table.into()
}

fn by_name(kind: &str) -> WarmStart {
    match kind {
        "cold" => WarmStart::Cold,
        "history" => WarmStart::HISTORY,
        "model" => WarmStart::Model,
        "normals_only" => WarmStart::NORMALS_ONLY,
        "no_velocity_update" => WarmStart::NO_VELOCITY_UPDATE,
        _ => WarmStart::ADAPTIVE,
    }
}

fn warm_start_table(table: &mut Table<'_>) -> Option<WarmStart> {
    let start = by_name(table.kind(WARM_STARTS)?);
    let mut share = |fraction| table.or("fraction", fraction, number(SHARE));
    Some(match start {
        WarmStart::History { fraction } => WarmStart::History { fraction: share(fraction) },
        WarmStart::NormalsOnly { fraction } => WarmStart::NormalsOnly { fraction: share(fraction) },
        WarmStart::NoVelocityUpdate { fraction } => WarmStart::NoVelocityUpdate { fraction: share(fraction) },
        WarmStart::Adaptive { fraction, motion } => WarmStart::Adaptive {
            fraction: share(fraction),
            motion: table.or("motion", motion, number(POSITIVE)),
        },
        other => other,
    })
}

/// Reports an invalid setting at its value in the file.
fn point_out(table: &mut Table<'_>, error: Error) {
    let Error::InvalidSetting { name, found, expected } = error else {
        if let (Error::RigidSprings, Some(law)) = (&error, table.node("normal_law")) {
            return law.problem(error.to_string(), "set `solver.normal_law` to \"hertz\" or \"hooke\"");
        }
        if let Error::Clash { setting, key, .. } = error
            && let Some(node) = table.node(key)
        {
            return node.problem(error.to_string(), format!("leave out `{key}` or `{setting}`"));
        }
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

/// Returns the value of a setting such as `solver.warm_start.fraction`.
fn place<'a>(table: &mut Table<'a>, name: &'static str) -> Option<Node<'a>> {
    let mut keys = name.strip_prefix("solver.")?.split('.');
    let setting = table.node(keys.next()?)?;
    Some(keys.next().and_then(|key| setting.child(key)).unwrap_or(setting))
}
