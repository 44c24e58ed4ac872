//! Reader of regions: `{ kind = "box", min = [...], max = [...] }` and the other kinds.

use super::read::{LENGTH, Node, Table, direction, number, vector};
use crate::model::Region;
use glam::DVec3;

/// Kinds of regions.
pub const KINDS: &[&str] = &["box", "cylinder", "sphere"];

/// Reads a region such as `{ kind = "box", min = [...], max = [...] }`.
pub fn region(node: Node<'_>) -> Option<Region> {
    node.table(|table| of_kind(table.kind(KINDS)?, table))
}

/// Reads the keys of a region whose kind is known.
pub fn of_kind(kind: &str, table: &mut Table<'_>) -> Option<Region> {
    match kind {
        "box" => corners(table).map(|(min, max)| Region::Box { min, max }),
        "cylinder" => {
            let (base, axis) = (table.get("base", vector), table.get("axis", direction));
            let (length, radius) = (table.get("length", number(LENGTH)), table.get("radius", number(LENGTH)));
            Some(Region::Cylinder { base: base?, axis: axis?, length: length?, radius: radius? })
        }
        _ => {
            let (centre, radius) = (table.get("centre", vector), table.get("radius", number(LENGTH)));
            Some(Region::Sphere { centre: centre?, radius: radius? })
        }
    }
}

/// Reads `min` and `max` of a box and reports an empty one.
pub fn corners(table: &mut Table<'_>) -> Option<(DVec3, DVec3)> {
    let (min, max) = (table.get("min", vector), table.get("max", vector));
    let (min, max) = (min?, max?);
    if !min.cmplt(max).all() {
        table.problem(
            format!("box `{}` is empty: min = {min} is not below max = {max} on every axis", table.name()),
            "swap or change the corners",
        );
        return None;
    }
    Some((min, max))
}
