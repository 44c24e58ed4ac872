//! The `[[sinks]]`: regions that remove the grains that come into them.

use glam::{DQuat, DVec3};

use super::Entry;
use super::read::{Node, Table, direction, text, vector};
use super::region::{KINDS, of_kind};
use crate::model::{Form, Sink};

/// Reads one of `[[sinks]]`; `index` is its place in the list, from 0.
pub fn sink(table: &mut Table<'_>, index: usize) -> Option<Entry<Sink>> {
    let name = table.or("name", format!("sink-{index}"), text);
    let name_span = table.node("name").map_or(table.span.clone(), |node| node.span);
    let solid = table.get("region", solid);
    let value =
        solid.map(|(position, orientation, form)| Sink { name: name.clone(), form, position, orientation });
    Some(Entry { name, name_span, value })
}

/// Reads a region, or `{ kind = "plane", point = [...], normal = [...] }` for all that is behind a plane; gives
/// its origin \[m\], its orientation and its form.
fn solid(node: Node<'_>) -> Option<(DVec3, DQuat, Form)> {
    const WITH_PLANE: &[&str] = &["plane", KINDS[0], KINDS[1], KINDS[2]];
    node.table(|table| match table.kind(WITH_PLANE)? {
        "plane" => {
            let (point, normal) = (table.get("point", vector), table.get("normal", direction));
            Some((point?, DQuat::from_rotation_arc(DVec3::Z, normal?), Form::Plane))
        }
        kind => of_kind(kind, table).map(|region| region.solid()),
    })
}
