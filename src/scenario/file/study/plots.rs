//! Plots and findings of a study.

use super::axes::{axis_named, fixed};
use super::numbers::{KnownNames, Operand};
use crate::observe::bounds::Bounds;
use crate::scenario::expect::bounds;
use crate::scenario::file::read::{self, Node, Table, text, word};

/// Finding: a statement and the number by which it is judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The statement.
    pub statement: String,
    /// Number that is judged; it depends on no axis.
    pub number: Operand,
    /// Bounds of the number.
    pub bounds: Bounds,
    /// Note below the verdict.
    pub note: Option<String>,
}

/// Plot of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// Name of the plot's files without the extension.
    pub file: String,
    /// Title above the plot.
    pub title: String,
    /// Curves of the plot.
    pub curves: Curves,
    /// Scale of x.
    pub x_scale: AxisScale,
    /// Scale of y.
    pub y_scale: AxisScale,
}

/// Content of a plot.
#[derive(Debug, Clone, PartialEq)]
pub enum Curves {
    /// Numbers over an axis or over another number.
    Numbers {
        /// Numbers plotted; their axes other than `along` give one curve per value.
        y: Vec<Operand>,
        /// Axis that the points of a curve follow.
        along: usize,
        /// Number on the x axis; `None`: the axis `along`.
        x: Option<Operand>,
    },
    /// Columns of a file that each run leaves, one curve per run and column.
    Columns {
        /// Name of the file.
        file: String,
        /// Column on the x axis.
        x: String,
        /// Columns on the y axis.
        y: Vec<String>,
        /// Columns and the words that a row must have in them to be used.
        rows: Vec<(String, String)>,
        /// Axes fixed to a value; the other axes give one curve per value.
        fixed: Vec<(usize, usize)>,
    },
}

/// Scale of an axis of a plot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisScale {
    /// Equal lengths for equal differences.
    Linear,
    /// Equal lengths for equal ratios; values that are not positive are left out.
    Logarithmic,
}

/// Reads a finding.
pub fn finding(table: &mut Table<'_>, known: &KnownNames<'_>) -> Option<Finding> {
    let statement = table.get("statement", text);
    let number = table.get("number", |node| known.single(node));
    let note = table.maybe("note", text);
    let bounds = bounds(table);
    Some(Finding { statement: statement?, number: number?, bounds: bounds?, note })
}

/// Reads a plot.
pub fn plot(table: &mut Table<'_>, known: &KnownNames<'_>) -> Option<Plot> {
    let file = table.get("file", file_name);
    let title = table.get("title", text);
    let log = table.maybe("log", |node| node.list(word(&["x", "y"]))).unwrap_or_default();
    let fixed = table.maybe("where", |node| fixed(node, known.axes)).unwrap_or_default();
    let curves = match table.has("from") {
        true => columns(table, fixed),
        false => numbers(table, known, fixed),
    };
    let scale = |axis| if log.contains(&axis) { AxisScale::Logarithmic } else { AxisScale::Linear };
    Some(Plot { file: file?, title: title?, curves: curves?, x_scale: scale("x"), y_scale: scale("y") })
}

/// Reports plots that would overwrite each other.
pub fn refuse_same_files(root: &Table<'_>, plots: &[Plot]) {
    for (i, plot) in plots.iter().enumerate() {
        if plots[..i].iter().any(|other| other.file == plot.file) {
            let message = format!("two plots are written to `{}`", plot.file);
            root.problem(message, "give one of them another `file`");
        }
    }
}

fn file_name(node: Node<'_>) -> Option<String> {
    let name = text(node.clone())?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if name.is_empty() || !name.chars().all(is_plain) {
        let message = format!("`{name}` is no name of a plot");
        node.problem(message, "letters, digits, - and _; .svg and .png are added");
        return None;
    }
    Some(name)
}

fn columns(table: &mut Table<'_>, fixed: Vec<(usize, usize)>) -> Option<Curves> {
    let file = table.get("from", read::file_name);
    let x = table.get("x", text);
    let y = table.get("y", |node| one_or_more(node, text));
    let rows = table.maybe("rows", |node| node.table(|table| Some(words(table)))).unwrap_or_default();
    Some(Curves::Columns { file: file?, x: x?, y: y?, rows, fixed })
}

fn words(table: &mut Table<'_>) -> Vec<(String, String)> {
    table.named().into_iter().filter_map(|(name, _, node)| Some((name, text(node)?))).collect()
}

fn numbers(table: &mut Table<'_>, known: &KnownNames<'_>, fixed: Vec<(usize, usize)>) -> Option<Curves> {
    let operand = |node: Node<'_>| known.operand_fixed(&node, fixed.clone());
    let y = table.get("y", |node| one_or_more(node, operand));
    let x = table.node("x");
    let axis = x.as_ref().and_then(|node| {
        let name = if node.is_text() { text(node.clone()) } else { None };
        known.axes.iter().position(|axis| Some(&axis.name) == name.as_ref())
    });
    let (along, x) = match axis {
        Some(axis) => (axis, None),
        None => {
            let x = table.get("x", operand);
            let along = table.get("along", |node| axis_named(&node, known.axes));
            (along?, Some(x?))
        }
    };
    let y = y?;
    let name = &known.axes[along].name;
    if x.is_none() && known.axes[along].numbers().is_none() {
        table.problem(format!("`{name}` has words as values"), "plot over an axis of numbers");
    }
    for operand in y.iter().chain(&x) {
        if !operand.axes.contains(&along) {
            table.problem(
                format!("`{}` does not depend on `{name}`", operand.name),
                known.in_words(&operand.axes),
            );
        }
    }
    if let Some(x) = &x
        && let Some(y) = y.iter().find(|y| x.axes.iter().any(|axis| !y.axes.contains(axis)))
    {
        let message = format!("`{}` depends on more than `{}` does", x.name, y.name);
        table.problem(message, known.in_words(&x.axes));
    }
    Some(Curves::Numbers { y, along, x })
}

fn one_or_more<T>(node: Node<'_>, read: impl Fn(Node<'_>) -> Option<T>) -> Option<Vec<T>> {
    match node.is_text() {
        true => read(node).map(|one| vec![one]),
        false => node.list(read),
    }
}
