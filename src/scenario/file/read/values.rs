//! Readers of single values.

use glam::DVec3;
use toml::de::DeValue;

use super::asked::Asked;
use super::{FAR, Need, Node, TIME, Table, WITHIN_FAR, as_number, describe, renamed, shorten};
use crate::error::suggest;

/// Reads a number.
pub fn number(need: Need) -> impl Fn(Node<'_>) -> Option<f64> {
    move |node| {
        let Some(value) = as_number(node.value) else { return node.mismatch(need.words) };
        node.ask(Asked::Number(need));
        if !need.accepts(value) {
            node.problem(
                format!("`{}` is {}, expected {}", node.name(), describe(node.value), need.words),
                format!("set `{}` to {}", node.name(), need.words),
            );
            return None;
        }
        Some(value)
    }
}

/// Reads a whole number between two bounds (included).
pub fn whole(least: u64, most: u64) -> impl Fn(Node<'_>) -> Option<u64> {
    move |node| {
        let DeValue::Integer(digits) = node.value else { return node.mismatch("a whole number") };
        node.ask(Asked::Whole { least, most });
        let expected = format!("a whole number from {least} to {most}");
        match u64::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(value) if (least..=most).contains(&value) => Some(value),
            _ => node.mismatch(&expected),
        }
    }
}

/// Reads a string.
pub fn text(node: Node<'_>) -> Option<String> {
    let text = any_text(&node)?;
    node.ask(Asked::Text);
    Some(text)
}

fn any_text(node: &Node<'_>) -> Option<String> {
    match node.value {
        DeValue::String(text) => Some(text.to_string()),
        _ => node.mismatch("a string in quotes"),
    }
}

/// Reads the name of a file or folder that is valid on every system and is no path.
pub fn file_name(node: Node<'_>) -> Option<String> {
    let name = text(node.clone())?;
    if !is_file_name(&name) {
        node.problem(
            format!("`{}` is \"{}\", which is no plain name of a file", node.name(), shorten(&name)),
            FILE_NAME_ADVICE,
        );
        return None;
    }
    Some(name)
}

/// Advice on a name that is no [`file_name`].
pub const FILE_NAME_ADVICE: &str =
    "leave out / \\ : * ? \" < > | and control characters; . and .. are no names";

/// Returns whether this is the name of a file or folder on every system, and no path.
pub fn is_file_name(name: &str) -> bool {
    let is_reserved = |c: char| c.is_control() || "/\\:*?\"<>|".contains(c);
    !name.is_empty() && name != "." && name != ".." && !name.contains(is_reserved)
}

/// Reads true or false.
pub fn boolean(node: Node<'_>) -> Option<bool> {
    match node.value {
        DeValue::Boolean(value) => {
            node.ask(Asked::Boolean);
            Some(*value)
        }
        _ => node.mismatch("true or false"),
    }
}

/// Reads one table or a list of tables, each valid from its start \[s\] on; `what` is their name in messages.
pub fn by_start<'a, T>(
    node: Node<'a>,
    what: &str,
    one: impl Fn(&mut Table<'a>) -> Option<(f64, T)>,
) -> Option<Vec<(f64, T)>> {
    if !node.is_list() {
        return node.table(one).map(|one| vec![one]);
    }
    let list = node.clone().list(|node| node.table(&one))?;
    let Some(pair) = list.windows(2).find(|pair| pair[0].0 >= pair[1].0) else { return Some(list) };
    let (first, second) = (pair[0].0, pair[1].0);
    let name = node.name();
    node.problem(
        format!("{what} of `{name}` do not ascend: a start at {first} s is followed by {second} s"),
        "give each its own `start`, and sort them",
    );
    None
}

/// Reads `times` and the list `key` of one value per time; `what` is the name of one value in messages.
pub fn over_time<'a, T>(
    table: &mut Table<'a>,
    [what, key]: [&'static str; 2],
    value: impl Fn(Node<'a>) -> Option<T>,
) -> Option<(Vec<f64>, Vec<T>)> {
    let times = table.get("times", |node| node.list(number(TIME)));
    let values = table.get(key, |node| node.list(value));
    let (times, values) = (times?, values?);
    if times.is_empty() || times.len() != values.len() {
        table.problem(
            format!("`{}` has {} times and {} {key}", table.name(), times.len(), values.len()),
            format!("give one {what} per time, and at least one"),
        );
        return None;
    }
    if let Some(i) = times.windows(2).position(|pair| pair[0] >= pair[1]) {
        table.problem(
            format!(
                "times of `{}` do not ascend: {} is followed by {}",
                table.name(),
                times[i],
                times[i + 1]
            ),
            "sort the times and remove equal ones",
        );
        return None;
    }
    Some((times, values))
}

/// Reads one of several words.
pub fn word(known: &'static [&'static str]) -> impl Fn(Node<'_>) -> Option<&'static str> {
    move |node| {
        let found = any_text(&node)?;
        node.ask(Asked::Word(known));
        let word = known.iter().copied().find(|&word| word == found);
        if word.is_none() {
            let message = format!("`{}` is \"{found}\", which is unknown", node.name());
            let advice = match renamed(&found) {
                Some(now) if known.contains(&now) => format!("it is called \"{now}\" now"),
                _ => suggest(&found, known.iter().copied()),
            };
            node.problem(message, advice);
        }
        word
    }
}

/// Reads a position, displacement or velocity of three finite numbers.
pub fn vector(node: Node<'_>) -> Option<DVec3> {
    if !node.is_list() {
        return node.mismatch("a list of three numbers `[x, y, z]`");
    }
    let elements = node.elements()?;
    node.ask(Asked::Vector);
    let [x, y, z] = elements.as_slice() else {
        let message = format!("`{}` has {} numbers, expected three [x, y, z]", node.name(), elements.len());
        node.problem(message, "for example [0.0, 0.0, 1.0]");
        return None;
    };
    let near = Need::new(|x| x.abs() <= FAR, WITHIN_FAR);
    let [x, y, z] = [x, y, z].map(|component| number(near)(component.clone()));
    Some(DVec3::new(x?, y?, z?))
}

/// Reads a direction: a vector of any length except zero, normalised.
pub fn direction(node: Node<'_>) -> Option<DVec3> {
    let vector = vector(node.clone())?;
    let unit = unit_vector(vector);
    if unit.is_none() {
        node.problem(
            format!("`{}` is a zero vector, expected a direction", node.name()),
            "give a vector that is not zero, such as [0.0, 0.0, 1.0]",
        );
    }
    unit
}

/// Returns the unit vector along `vector`, also for tiny vectors; `None` for zero.
pub fn unit_vector(vector: DVec3) -> Option<DVec3> {
    let largest = vector.abs().max_element();
    (largest > 0.0).then(|| (vector / largest).normalize())
}
