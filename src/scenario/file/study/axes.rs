//! Readers of the varied settings of a study: axes, choices, changes to every run, reference runs.

use std::ops::Range;

use super::Size;
use crate::error::suggest;
use crate::scenario::file::problems::Problems;
use crate::scenario::file::read::{Node, Table, text};
use crate::scenario::suite::short_name;

/// Axis of a study: a setting, or several, that is varied.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Name, such as `iterations`.
    pub name: String,
    /// Values in the order of the file.
    pub values: Vec<AxisValue>,
}

/// Value of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisValue {
    /// Label in words: `50`, `cold`.
    pub label: String,
    /// Numerical value, if the value is a number.
    pub number: Option<f64>,
    /// Changes to the scenario, as `--set` takes them.
    pub overrides: Vec<String>,
}

/// Reference runs to compare with: one for every combination of the values of some axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// Name of the reference.
    pub name: String,
    /// Axes that are varied; on the other axes the scenario keeps its own values.
    pub axes: Vec<usize>,
    /// Changes to the scenario, applied after those of the axes.
    pub overrides: Vec<String>,
}

impl Axis {
    /// Returns the values, if all are numbers.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        self.values.iter().map(|value| value.number).collect()
    }

    /// Returns the index of the value that a node names: by its number, by its label, or as "last".
    pub(super) fn find(&self, node: &Node<'_>) -> Option<usize> {
        let label = label(node);
        let is_it = |value: &AxisValue| match (value.number, node.as_number()) {
            (Some(a), Some(b)) => a == b,
            _ => value.label == label,
        };
        let last = (label == "last").then(|| self.values.len().saturating_sub(1));
        let found = self.values.iter().position(is_it).or(last);
        if found.is_none() {
            let labels = self.values.iter().map(|value| value.label.as_str());
            node.problem(format!("`{}` has no value {label}", self.name), suggest(&label, labels));
        }
        found
    }
}

/// Checks whether the scenario accepts these changes.
pub type Takes<'a> = dyn Fn(&[String]) -> Result<(), Problems> + 'a;

/// Reads the changes to every run.
pub fn changes(root: &mut Table<'_>, size: Size) -> Vec<String> {
    let mut changes = settings(root.node("changes"));
    let of_full = settings(root.node("full").and_then(|full| full.child("changes")));
    if size == Size::Full {
        changes.extend(of_full);
    }
    changes
}

/// Writes settings as `--set` takes them.
fn settings(node: Option<Node<'_>>) -> Vec<String> {
    let leaves = node.map(|node| leaves(node, "")).unwrap_or_default();
    leaves.into_iter().map(|(key, _, node)| format!("{key}={}", node.written())).collect()
}

/// Returns the values in a table with their full keys; tables made by dotted keys are flattened.
fn leaves<'a>(node: Node<'a>, key: &str) -> Vec<(String, Range<usize>, Node<'a>)> {
    let named = node.table(|table| Some(table.named())).unwrap_or_default();
    let read = |(name, span, child): (String, Range<usize>, Node<'a>)| {
        let key = if key.is_empty() { name } else { format!("{key}.{name}") };
        match child.is_table() && !child.written().starts_with('{') {
            true => leaves(child, &key),
            false => vec![(key, span, child)],
        }
    };
    named.into_iter().flat_map(read).collect()
}

/// Axis with its place in the file.
type PlacedAxis = (usize, Axis);

/// Reads `[axes]` and `[choices]` in the order of the file.
pub fn axes(root: &mut Table<'_>, size: Size, takes: &Takes<'_>) -> Vec<Axis> {
    let mut placed = placed_axes(root.node("axes"), root.node("choices"), takes);
    placed.sort_by_key(|(start, _)| *start);
    let mut axes: Vec<Axis> = placed.into_iter().map(|(_, axis)| axis).collect();
    let full = root.maybe("full", |node| {
        node.table(|table| {
            // The changes and references of `[full]` are read separately.
            for key in ["changes", "references"] {
                table.has(key);
            }
            Some(placed_axes(table.node("axes"), table.node("choices"), takes))
        })
    });
    for (start, axis) in full.unwrap_or_default() {
        match axes.iter_mut().find(|known| known.name == axis.name) {
            Some(known) if size == Size::Full => *known = axis,
            Some(_) => {}
            None => {
                let help = suggest(&axis.name, axes.iter().map(|axis| axis.name.as_str()));
                let message = format!("there is no axis `{}` to be replaced", axis.name);
                root.report.problem(&(start..start), message, help);
            }
        }
    }
    if axes.is_empty() {
        root.problem("the study varies nothing", "add [axes] with lists: solver.iterations = [5, 10, 20]");
    }
    axes
}

fn placed_axes(axes: Option<Node<'_>>, choices: Option<Node<'_>>, takes: &Takes<'_>) -> Vec<PlacedAxis> {
    let lists = axes.map(|node| leaves(node, "")).unwrap_or_default();
    let lists = lists.into_iter().map(|(key, span, node)| (span.start, list(&key, &node, takes)));
    let choices = choices.and_then(|node| node.table(|table| Some(table.named()))).unwrap_or_default();
    let choices = choices.into_iter().map(|(name, span, node)| (span.start, choice(name, &node, takes)));
    lists.chain(choices).collect()
}

/// Reads an axis of one setting. Faulty values are kept, so that references to them are not reported as mistakes.
fn list(key: &str, node: &Node<'_>, takes: &Takes<'_>) -> Axis {
    let value = |node: Node<'_>| {
        let overrides = vec![format!("{key}={}", node.written())];
        check(&overrides, &node, takes);
        AxisValue { label: label(&node), number: node.as_number(), overrides }
    };
    let name = short_name(key).to_owned();
    match node.elements() {
        Some(elements) => axis(name, elements.into_iter().map(value).collect(), node),
        None => Axis { name, values: Vec::new() },
    }
}

/// Reads an axis of several settings.
fn choice(name: String, node: &Node<'_>, takes: &Takes<'_>) -> Axis {
    let value = |(label, _, node): (String, Range<usize>, Node<'_>)| {
        let overrides = settings(Some(node.clone()));
        check(&overrides, &node, takes);
        AxisValue { label, number: None, overrides }
    };
    match node.clone().table(|table| Some(table.named())) {
        Some(named) => axis(name, named.into_iter().map(value).collect(), node),
        None => Axis { name, values: Vec::new() },
    }
}

fn axis(name: String, values: Vec<AxisValue>, node: &Node<'_>) -> Axis {
    if values.is_empty() {
        node.problem(format!("`{name}` has no values"), "give it one at least");
    }
    let is_double =
        |&(i, value): &(usize, &AxisValue)| values[..i].iter().any(|other| other.label == value.label);
    if let Some((_, double)) = values.iter().enumerate().find(is_double) {
        node.problem(format!("`{name}` has the value {} twice", double.label), "leave out one of them");
    }
    Axis { name, values }
}

/// Reports a value that the scenario does not accept, with the first reason.
fn check(overrides: &[String], node: &Node<'_>, takes: &Takes<'_>) {
    let Err(problems) = takes(overrides) else { return };
    let reason = problems.list().first().map(|problem| problem.line()).unwrap_or_default();
    // A name that is not there is so for every value of an axis.
    node.problem_of(
        format!("setting: {reason}"),
        format!("the scenario does not take {}: {reason}", overrides.join(", ")),
        "write the setting as for `--set`",
    );
}

/// Label of a value: strings are written without quotes.
fn label(node: &Node<'_>) -> String {
    match node.is_text() {
        true => text(node.clone()).unwrap_or_default(),
        false => node.written().to_owned(),
    }
}

/// Reads the reference runs.
pub fn references(root: &mut Table<'_>, size: Size, axes: &[Axis], takes: &Takes<'_>) -> Vec<Reference> {
    let named = |node: Option<Node<'_>>| {
        let named = node.and_then(|node| node.table(|table| Some(table.named()))).unwrap_or_default();
        named.into_iter().filter_map(|(name, _, node)| reference(name, node, axes, takes)).collect()
    };
    let mut references: Vec<Reference> = named(root.node("references"));
    let of_full: Vec<Reference> = named(root.node("full").and_then(|full| full.child("references")));
    if size == Size::Full {
        references.retain(|reference| of_full.iter().all(|other| other.name != reference.name));
        references.extend(of_full);
    }
    references
}

fn reference(name: String, node: Node<'_>, axes: &[Axis], takes: &Takes<'_>) -> Option<Reference> {
    node.table(|table| {
        let per = table.maybe("per", |node| node.list(|node| axis_named(&node, axes)));
        let overrides = table.get("settings", |node| {
            let overrides = settings(Some(node.clone()));
            check(&overrides, &node, takes);
            Some(overrides)
        });
        let mut axes = per.unwrap_or_default();
        axes.sort_unstable();
        axes.dedup();
        Some(Reference { name, axes, overrides: overrides? })
    })
}

/// Reads the name of an axis.
pub fn axis_named(node: &Node<'_>, axes: &[Axis]) -> Option<usize> {
    let name = text(node.clone())?;
    let found = axes.iter().position(|axis| axis.name == name);
    if found.is_none() {
        let names = axes.iter().map(|axis| axis.name.as_str());
        node.problem(format!("there is no axis `{name}`"), suggest(&name, names));
    }
    found
}

/// Reads the values that axes are fixed to: `{ start = "cold", iterations = 500 }`.
pub fn fixed(node: Node<'_>, axes: &[Axis]) -> Option<Vec<(usize, usize)>> {
    let named = node.table(|table| Some(table.named()))?;
    let count = named.len();
    let read = |(name, span, node): (String, Range<usize>, Node<'_>)| {
        let Some(axis) = axes.iter().position(|axis| axis.name == name) else {
            let names = axes.iter().map(|axis| axis.name.as_str());
            node.report.problem(&span, format!("there is no axis `{name}`"), suggest(&name, names));
            return None;
        };
        Some((axis, axes[axis].find(&node)?))
    };
    let fixed: Vec<_> = named.into_iter().filter_map(read).collect();
    (fixed.len() == count).then_some(fixed)
}
