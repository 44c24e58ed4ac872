//! The `[[sinks]]` tables: regions that remove the grains that enter them.

use glam::{DQuat, DVec3};

use super::NamedElement;
use super::read::{AXES, FINITE, LENGTH, Node, Table, direction, number, text, vector, whole, word};
use super::region::{KINDS, of_kind};
use crate::model::{Bins, By, Form, Sink};

/// Largest number of classes of a sink.
const MOST_BINS: usize = 1000;

/// Reads one of `[[sinks]]`; `index` is its place in the list, from 0.
pub fn sink(table: &mut Table<'_>, index: usize) -> Option<NamedElement<Sink>> {
    let name = table.or("name", format!("sink-{index}"), text);
    let name_span = table.node("name").map_or(table.span.clone(), |node| node.span);
    let solid = table.get("region", solid);
    let sizes = table.maybe("bins", |node| {
        let bounds = bounds(node, number(LENGTH), "radii", "[0.004, 0.006]")?;
        Some(Bins { by: By::Radius, bounds })
    });
    let profile = table.maybe("profile", |node| node.table(profile));
    let bins = sizes.into_iter().chain(profile).collect();
    let value = solid.map(|(position, orientation, form)| Sink {
        name: name.clone(),
        form,
        position,
        orientation,
        bins,
    });
    Some(NamedElement { name, name_span, value })
}

/// Reads the ascending numbers that bound classes; `what` they are, for example.
pub fn bounds<'a>(
    node: Node<'a>,
    read: impl Fn(Node<'a>) -> Option<f64>,
    what: &str,
    example: &str,
) -> Option<Vec<f64>> {
    let bounds = node.clone().list(read)?;
    if bounds.is_empty() || bounds.len() > MOST_BINS || !bounds.is_sorted_by(|a, b| a < b) {
        node.problem(
            format!("`{}` are no ascending {what}, or more than {MOST_BINS}", node.name()),
            format!(
                "list the {what} at which a class ends and the next begins, the smallest first: {example}"
            ),
        );
        return None;
    }
    Some(bounds)
}

/// Reads `axis`, `from`, `until` and `bins` of a profile.
fn profile(table: &mut Table<'_>) -> Option<Bins> {
    let axis = table.get("axis", word(&AXES));
    let (from, until) = (table.get("from", number(FINITE)), table.get("until", number(FINITE)));
    let bins = table.get("bins", whole(1, MOST_BINS as u64));
    let axis = AXES.iter().position(|name| Some(*name) == axis)?;
    let (from, until, bins) = (from?, until?, bins?);
    if from >= until {
        table.problem(
            format!("`{}` goes from {from} m to {until} m", table.name()),
            "set `from` to the smaller coordinate",
        );
        return None;
    }
    let bound = |i: u64| from + (until - from) * i as f64 / bins as f64;
    Some(Bins { by: By::Place(axis), bounds: (0..=bins).map(bound).collect() })
}

/// Reads a region, or `{ kind = "plane", point = [...], normal = [...] }` for the half space behind a plane; returns its origin \[m\], its
/// orientation and its form.
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
