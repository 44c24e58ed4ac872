//! Readers of kinematic motions: one, or a list of them, each in the frame that those before it move.

mod table;

use std::path::Path;

use glam::DVec3;

use super::read::{DURATION, FINITE, NOT_NEGATIVE, Need, Node, TIME, Table, direction, number, vector};
use crate::model::{MotionLaw, MotionPart, MotionTiming};

/// Kinds of kinematic motions.
const KINDS: &[&str] = &["velocity", "rotation", "rocking", "oscillation", "table"];
/// Rate of a rotation \[rad/s\].
const RATE: Need = Need::new(|x| x.abs() <= 1e6, "a rate in rad/s (at most 1e6)");
/// Largest angle of a rocking motion \[deg\].
const SWING: Need = Need::new(|x| x.abs() <= 3.6e5, "an angle in degrees (at most 360000)");

/// What the shape of a boundary says about its motions.
#[derive(Clone, Copy)]
pub struct OfShape<'a> {
    /// Point that is rotated about, unless another one is given \[m\].
    pub pivot: DVec3,
    /// Axis of the shape, if it has one.
    pub axis: Option<DVec3>,
    /// Folder of the scenario.
    pub folder: &'a Path,
}

/// Reads a list of kinematic motions.
pub fn several(node: Node<'_>, shape: OfShape<'_>) -> Option<Vec<MotionPart>> {
    let parts = node.clone().list(|node| {
        node.table(|table| {
            let kind = table.kind(KINDS)?;
            one(table, kind, shape)
        })
    })?;
    if parts.is_empty() {
        node.problem(
            format!("`{}` is an empty list", node.name()),
            "leave it out, or add a motion such as { kind = \"velocity\", velocity = [0.0, 0.0, 0.1] }",
        );
        return None;
    }
    Some(parts)
}

/// Reads a kinematic motion of this kind.
pub fn one(table: &mut Table<'_>, kind: &str, shape: OfShape<'_>) -> Option<MotionPart> {
    let law = match kind {
        "velocity" => table.get("velocity", vector).map(MotionLaw::Velocity),
        "rotation" => rotation(table, shape),
        "rocking" => rocking(table, shape),
        "oscillation" => oscillation(table),
        _ => table::table(table, shape),
    };
    let timing = timing(table, kind);
    Some(MotionPart { law: law?, timing: timing? })
}

/// Reads point and unit vector of an axis.
fn axis(table: &mut Table<'_>, shape: OfShape<'_>) -> (DVec3, Option<DVec3>) {
    (table.or("point", shape.pivot, vector), table.get_or("axis", shape.axis, direction))
}

fn rotation(table: &mut Table<'_>, shape: OfShape<'_>) -> Option<MotionLaw> {
    let (point, axis) = axis(table, shape);
    let rate = table.get("rate", number(RATE));
    Some(MotionLaw::Rotation { point, rate: rate? * axis? })
}

fn rocking(table: &mut Table<'_>, shape: OfShape<'_>) -> Option<MotionLaw> {
    let (point, axis) = axis(table, shape);
    let amplitude = table.get("amplitude_deg", number(SWING)).map(f64::to_radians);
    let (frequency, phase) = (frequency(table), phase(table));
    Some(MotionLaw::Rocking { point, amplitude: amplitude? * axis?, frequency: frequency?, phase })
}

fn oscillation(table: &mut Table<'_>) -> Option<MotionLaw> {
    let amplitude = table.get("amplitude", vector);
    let (frequency, phase) = (frequency(table), phase(table));
    Some(MotionLaw::Oscillation { amplitude: amplitude?, frequency: frequency?, phase })
}

fn phase(table: &mut Table<'_>) -> f64 {
    table.or("phase_deg", 0.0, number(FINITE)).to_radians()
}

/// Reads `frequency`, or `period` in its place.
fn frequency(table: &mut Table<'_>) -> Option<f64> {
    if !table.has("period") {
        return table.get("frequency", number(NOT_NEGATIVE));
    }
    if table.has("frequency") {
        let message = format!("`{}` has `frequency` and `period`", table.name());
        table.problem(message, "leave out one of the two: frequency = 1 / period");
        return None;
    }
    table.get("period", number(DURATION)).map(f64::recip)
}

/// Reads when a motion is under way. A table of positions has no ramps.
fn timing(table: &mut Table<'_>, kind: &str) -> Option<MotionTiming> {
    let start = table.maybe("start", number(TIME));
    let stop = table.maybe("stop", number(DURATION));
    let ramp = if kind == "table" { 0.0 } else { table.or("ramp", 0.0, number(TIME)) };
    let Some(end) = stop else { return Some(MotionTiming { start, stop, ramp }) };
    let begin = start.unwrap_or(0.0);
    let name = table.name();
    if end <= begin {
        let message = format!("`{name}` stops at {end} s, and starts at {begin} s");
        table.problem(message, "let `stop` come after `start`");
        return None;
    }
    if end - begin < 2.0 * ramp {
        let message = format!(
            "`{name}` rises for {ramp} s and falls for {ramp} s, and has {} s from start to stop",
            end - begin
        );
        table.problem(message, format!("shorten `ramp` to at most {}, or stop later", 0.5 * (end - begin)));
        return None;
    }
    Some(MotionTiming { start, stop, ramp })
}
