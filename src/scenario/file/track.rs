//! Bodies and contacts that are observed one by one: `grains`, `boundaries` and `contacts` of `[observe]`.

use super::read::{Node, Table, text, whole};
use crate::error::suggest;
use crate::model::World;
use crate::observe::{Tracked, TrackedBody};

/// Reads the lists. `names` are the names of all boundaries in the file; faulty boundaries among them are not in the world. `grains` is the
/// largest number of grains during the run.
pub fn tracked(table: &mut Table<'_>, world: &World, names: &[String], grains: u64) -> Tracked {
    let grain = |node: Node<'_>| grain(node, grains);
    let boundary = |node: Node<'_>| boundary(node, world, names);
    let either = |node: Node<'_>| if node.is_text() { boundary(node) } else { grain(node) };
    let bodies = [
        table.maybe("grains", |node| distinct(node, grain)),
        table.maybe("boundaries", |node| distinct(node, boundary)),
    ];
    let contacts = table.maybe("contacts", |node| distinct(node, |node| pair(node, either)));
    Tracked {
        bodies: bodies.into_iter().flatten().flatten().collect(),
        contacts: contacts.unwrap_or_default(),
    }
}

/// Reads the number of a grain.
fn grain(node: Node<'_>, grains: u64) -> Option<TrackedBody> {
    let grain = whole(0, u64::from(u32::MAX))(node.clone())?;
    // After a mistake elsewhere, grains that the list refers to may be missing.
    if grain >= grains && node.report.is_clean() {
        node.problem(
            format!("`{}`: there is no grain {grain}", node.name()),
            format!("grains are counted from 0, and there are {grains}"),
        );
    }
    Some(TrackedBody::Grain(grain as usize))
}

/// Reads the name of a boundary.
fn boundary(node: Node<'_>, world: &World, names: &[String]) -> Option<TrackedBody> {
    let name = text(node.clone())?;
    if !names.contains(&name) {
        let known = names.iter().map(String::as_str);
        let message = format!("`{}`: there is no boundary \"{name}\"", node.name());
        node.problem_of(format!("boundary {name}"), message, suggest(&name, known));
    }
    let body = world.boundaries.iter().position(|boundary| boundary.name == name)?;
    Some(TrackedBody::Boundary { body, name })
}

/// Reads two bodies that may touch.
fn pair(node: Node<'_>, body: impl Fn(Node<'_>) -> Option<TrackedBody>) -> Option<[TrackedBody; 2]> {
    let pair = <[TrackedBody; 2]>::try_from(node.clone().list(body)?);
    let pair = pair.ok().filter(|[a, b]| a != b);
    if pair.is_none() {
        node.problem(
            format!("`{}` must be two bodies", node.name()),
            "grains by their number, boundaries by their name: [0, 1] or [3, \"floor\"]",
        );
    }
    pair
}

/// Reads a list of distinct elements.
fn distinct<T: PartialEq>(node: Node<'_>, read: impl Fn(Node<'_>) -> Option<T>) -> Option<Vec<T>> {
    let list = node.clone().list(read)?;
    let is_twice = |i: usize| list[..i].contains(&list[i]);
    if let Some(i) = (0..list.len()).find(|&i| is_twice(i)) {
        node.problem(format!("`{}.{i}` is in the list already", node.name()), "list it once");
        return None;
    }
    Some(list)
}
