//! Bodies and contacts to be observed one by one: `grains`, `boundaries` and `contacts` of `[observe]`.

use super::problems::suggest;
use super::read::{Node, Table, text, whole};
use crate::model::World;

/// Kinds of columns of what is tracked, with the list of `[observe]` that gives them.
pub const KINDS: [(&str, &str); 12] = [
    ("position_x", "grains` or `boundaries"),
    ("position_y", "grains` or `boundaries"),
    ("position_z", "grains` or `boundaries"),
    ("velocity_x", "grains` or `boundaries"),
    ("velocity_y", "grains` or `boundaries"),
    ("velocity_z", "grains` or `boundaries"),
    ("spin_x", "grains` or `boundaries"),
    ("spin_y", "grains` or `boundaries"),
    ("spin_z", "grains` or `boundaries"),
    ("normal_force", "contacts"),
    ("friction_force", "contacts"),
    ("overlap", "contacts"),
];
/// Units of the columns of a body, in the order of [`KINDS`].
const UNITS_OF_A_BODY: [&str; 9] = ["m", "m", "m", "m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s"];
/// Units of the columns of a contact, in the order of [`KINDS`].
const UNITS_OF_A_CONTACT: [&str; 3] = ["N", "N", "m"];

/// A body that is observed on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrackedBody {
    /// A grain, by its number.
    Grain(usize),
    /// A boundary.
    Boundary {
        /// Index of its body.
        body: usize,
        /// Its name.
        name: String,
    },
}

/// What is observed one by one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tracked {
    /// Bodies: position, velocity and spin.
    pub bodies: Vec<TrackedBody>,
    /// Contacts between two bodies: forces and overlap.
    pub contacts: Vec<[TrackedBody; 2]>,
}

impl TrackedBody {
    /// Index of the body; `None` for a grain that is not there yet, or any more.
    pub fn index(&self, world: &World) -> Option<usize> {
        match self {
            TrackedBody::Grain(id) => world.grain_of_id(*id).map(|grain| world.grain_body(grain)),
            TrackedBody::Boundary { body, .. } => Some(*body),
        }
    }

    /// Its name in the column of a body.
    fn name(&self) -> String {
        match self {
            TrackedBody::Grain(grain) => format!("grain-{grain}"),
            TrackedBody::Boundary { name, .. } => name.clone(),
        }
    }

    /// Its name in the column of a contact.
    fn name_in_contact(&self) -> String {
        match self {
            TrackedBody::Grain(grain) => grain.to_string(),
            TrackedBody::Boundary { name, .. } => name.clone(),
        }
    }
}

impl Tracked {
    /// Names and units of the columns: nine of each body, then three of each contact.
    pub fn columns(&self) -> Vec<(String, &'static str)> {
        let (kinds_of_a_body, kinds_of_a_contact) = KINDS.split_at(UNITS_OF_A_BODY.len());
        let columns = |kinds: &[(&str, &str)], units: &[&'static str], name: String| {
            let column =
                |((kind, _), unit): (&(&str, &str), &&'static str)| (format!("{kind}:{name}"), *unit);
            kinds.iter().zip(units).map(column).collect::<Vec<_>>()
        };
        let of_bodies =
            self.bodies.iter().flat_map(|body| columns(kinds_of_a_body, &UNITS_OF_A_BODY, body.name()));
        let of_contacts = self.contacts.iter().flat_map(|[a, b]| {
            let name = format!("{}-{}", a.name_in_contact(), b.name_in_contact());
            columns(kinds_of_a_contact, &UNITS_OF_A_CONTACT, name)
        });
        of_bodies.chain(of_contacts).collect()
    }
}

/// Reads the lists. `names` are those of all boundaries in the file, also of wrong ones, which are not in the
/// world; `grains` is the number of grains there will be at most.
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
    // After a mistake elsewhere, grains may be missing that the file means.
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
        node.problem(format!("`{}`: there is no boundary \"{name}\"", node.name()), suggest(&name, known));
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

/// Reads a list whose elements differ.
fn distinct<T: PartialEq>(node: Node<'_>, read: impl Fn(Node<'_>) -> Option<T>) -> Option<Vec<T>> {
    let list = node.clone().list(read)?;
    let is_twice = |i: usize| list[..i].contains(&list[i]);
    if let Some(i) = (0..list.len()).find(|&i| is_twice(i)) {
        node.problem(format!("`{}.{i}` is in the list already", node.name()), "list it once");
        return None;
    }
    Some(list)
}
