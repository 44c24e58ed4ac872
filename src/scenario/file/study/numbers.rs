//! Numbers that a study derives from the results of its runs.

use std::ops::Range;

use super::WORK;
use super::axes::{Axis, Reference, axis_named, fixed};
use crate::error::suggest;
use crate::scenario::file::read::{FINITE, Need, Node, POSITIVE, ReadReport, Table, number, text, word};

/// Condition on a divisor.
const DIVISOR: Need = Need::new(|x| x.is_finite() && x != 0.0, "a finite number other than 0");

/// Number of a study: one value for every combination of the values of some axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// Name of the number.
    pub name: String,
    /// Axes that the number depends on.
    pub axes: Vec<usize>,
    /// Definition of the number.
    pub kind: NumberKind,
}

/// Definition of a number of a study.
#[derive(Debug, Clone, PartialEq)]
pub enum NumberKind {
    /// Given by hand, one for every value of an axis.
    Given(Vec<f64>),
    /// Derived from other numbers.
    Made {
        /// Number that the derivation starts from.
        of: Operand,
        /// Comparison with another number.
        compare: Option<(Compare, Box<Operand>)>,
        /// Reduction of several values to one.
        take: Option<TakeAlong>,
    },
}

/// Operand: a number with some axes fixed to a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Operand {
    /// Source of the number.
    pub source: NumberSource,
    /// Fixed axes, and the indices of their values.
    pub fixed: Vec<(usize, usize)>,
    /// Axes that are not fixed.
    pub axes: Vec<usize>,
    /// Name of the number.
    pub name: String,
}

impl Operand {
    fn constant(value: f64) -> Operand {
        let name = value.to_string();
        Operand { source: NumberSource::Constant(value), fixed: Vec::new(), axes: Vec::new(), name }
    }
}

/// Source of a number.
#[derive(Debug, Clone, PartialEq)]
pub enum NumberSource {
    /// Quantity of every run: a kept one, or one that every run has.
    Column(String),
    /// Quantity of a reference run.
    Reference(usize, String),
    /// Another number of the study.
    Number(usize),
    /// Constant.
    Constant(f64),
}

/// Comparison of a number with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// Divided by the other.
    Over,
    /// Minus the other.
    Minus,
    /// |number / other - 1|.
    Error,
    /// The larger of the two.
    Larger,
}

/// Reduction of the values along some axes to one number.
#[derive(Debug, Clone, PartialEq)]
pub struct TakeAlong {
    /// Kind of reduction.
    pub reduce: Reduce,
    /// Axes along which values are reduced.
    pub axes: Vec<usize>,
    /// Number that replaces the values of the axis in reductions that use them.
    pub measured_in: Option<Box<Operand>>,
}

/// Kind of reduction of several numbers to one; see the [module](super).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reduce {
    /// Mean.
    Mean,
    /// Largest value.
    Maximum,
    /// Smallest value.
    Minimum,
    /// Largest value minus smallest.
    Spread,
    /// Least-squares slope in logarithms.
    Exponent,
    /// R² of the least-squares line.
    Linearity,
    /// Value of the axis at which the number is smallest.
    AtMinimum,
    /// Value of the axis from which on the magnitude stays below this bound.
    Needed(f64),
}

/// Axes, references and numbers that the entries of a study may refer to.
pub struct KnownNames<'a> {
    /// The axes.
    pub axes: &'a [Axis],
    /// The reference runs.
    pub references: &'a [Reference],
    /// Names of the quantities of every run, kept and common ones.
    columns: Vec<String>,
    /// Names and axes of the numbers so far; `None` for a faulty number.
    numbers: Vec<(String, Option<Vec<usize>>)>,
}

impl<'a> KnownNames<'a> {
    pub fn new(axes: &'a [Axis], references: &'a [Reference], kept: Vec<String>) -> KnownNames<'a> {
        let columns = kept.into_iter().chain(WORK.map(str::to_owned)).collect();
        KnownNames { axes, references, columns, numbers: Vec::new() }
    }

    /// Returns the names of all axes, quantities and numbers.
    pub fn names(&self) -> Vec<&str> {
        let axes = self.axes.iter().map(|axis| axis.name.as_str());
        let columns = self.columns.iter().map(String::as_str);
        axes.chain(columns).chain(self.numbers.iter().map(|(name, _)| name.as_str())).collect()
    }

    /// Reports axes and quantities that share a name.
    pub fn refuse_doubles(&self, root: &Table<'_>) {
        let names = self.names();
        for (i, name) in names.iter().enumerate() {
            if names[..i].contains(name) {
                root.problem(
                    format!("two axes or quantities of the study are called `{name}`"),
                    "rename one: what is kept may have any label, with `of` for the quantity",
                );
            }
        }
    }

    /// Reports a name that no axis, quantity or number has.
    pub fn check_name(&self, name: &str, span: &Range<usize>, report: &ReadReport) {
        let names = self.names();
        if !names.contains(&name) {
            report.problem(span, format!("there is no axis and no number `{name}`"), suggest(name, names));
        }
    }

    /// Returns the indices of all axes.
    fn all(&self) -> Vec<usize> {
        (0..self.axes.len()).collect()
    }

    /// Reads the name of a number; returns its source, its name and the axes that it depends on.
    fn source(&self, node: &Node<'_>) -> Option<(NumberSource, String, Vec<usize>)> {
        let name = text(node.clone())?;
        if self.columns.contains(&name) {
            return Some((NumberSource::Column(name.clone()), name, self.all()));
        }
        if let Some(i) = self.numbers.iter().position(|(known, _)| *known == name) {
            let axes = self.numbers[i].1.clone()?;
            return Some((NumberSource::Number(i), name, axes));
        }
        if let Some((of, column)) = name.split_once(':')
            && let Some(i) = self.references.iter().position(|reference| reference.name == of)
            && self.columns.iter().any(|known| known == column)
        {
            let source = NumberSource::Reference(i, column.to_owned());
            return Some((source, name.clone(), self.references[i].axes.clone()));
        }
        let of_references = self.references.iter().flat_map(|reference| {
            self.columns.iter().map(move |column| format!("{}:{column}", reference.name))
        });
        let numbers = self.numbers.iter().map(|(name, _)| name.clone());
        let all: Vec<String> = self.columns.iter().cloned().chain(numbers).chain(of_references).collect();
        node.problem(
            format!("there is no number `{name}` above this"),
            suggest(&name, all.iter().map(String::as_str)),
        );
        None
    }

    /// Reads a number by its name, or `{ of = ..., where = { ... } }`.
    pub fn operand(&self, node: Node<'_>) -> Option<Operand> {
        if node.is_text() {
            return self.operand_fixed(&node, Vec::new());
        }
        node.table(|table| {
            let fixed = match table.has("where") {
                true => table.maybe("where", |node| fixed(node, self.axes)),
                false => Some(Vec::new()),
            };
            table.get("of", |node| self.operand_fixed(&node, fixed?))
        })
    }

    /// Returns the number that a node names, with axes fixed.
    pub fn operand_fixed(&self, node: &Node<'_>, fixed: Vec<(usize, usize)>) -> Option<Operand> {
        let (source, name, mut axes) = self.source(node)?;
        if let Some((stranger, _)) = fixed.iter().find(|(axis, _)| !axes.contains(axis)) {
            node.problem(
                format!("`{name}` does not depend on `{}`", self.axes[*stranger].name),
                format!("leave it out of `where`; {}", self.in_words(&axes)),
            );
            return None;
        }
        axes.retain(|axis| fixed.iter().all(|(known, _)| known != axis));
        Some(Operand { source, fixed, axes, name })
    }

    /// Reads the name of a number that depends on no axis.
    pub fn single(&self, node: Node<'_>) -> Option<Operand> {
        let operand = self.operand(node.clone())?;
        if !operand.axes.is_empty() {
            node.problem(
                format!("`{}` is more than one number: {}", operand.name, self.in_words(&operand.axes)),
                "make one of them with `take` in [numbers]",
            );
            return None;
        }
        Some(operand)
    }

    /// Describes in words the axes that a number depends on.
    pub fn in_words(&self, axes: &[usize]) -> String {
        let names: Vec<&str> = axes.iter().map(|&axis| self.axes[axis].name.as_str()).collect();
        match names.is_empty() {
            true => "it depends on no axis".to_owned(),
            false => format!("it depends on {}", names.join(", ")),
        }
    }
}

/// Reads `[numbers]` and adds them to the known numbers.
pub fn numbers(root: &mut Table<'_>, known: &mut KnownNames<'_>) -> Vec<Number> {
    let named = root.maybe("numbers", |node| node.table(|table| Some(table.named())));
    let mut numbers = Vec::new();
    for (name, span, node) in named.unwrap_or_default() {
        if known.names().contains(&name.as_str()) {
            let message = format!("`{name}` is the name of an axis or quantity as well");
            node.report.problem(&span, message, "give the number another name");
        }
        let read = node.table(|table| one(name.clone(), table, known));
        known.numbers.push((name.clone(), read.as_ref().map(|number| number.axes.clone())));
        numbers.push(read);
    }
    // Sources refer to numbers by index, so a list with gaps would be wrong; it is used only if it has none.
    let count = numbers.len();
    let right: Vec<Number> = numbers.into_iter().flatten().collect();
    if right.len() == count { right } else { Vec::new() }
}

fn one(name: String, table: &mut Table<'_>, known: &KnownNames<'_>) -> Option<Number> {
    if table.has("table") {
        let (axis, values) = table.get("table", |node| node.table(|table| given(table, known)))?;
        return Some(Number { name, axes: vec![axis], kind: NumberKind::Given(values) });
    }
    let of = table.get("of", |node| known.operand(node));
    let fixed = table.maybe("where", |node| fixed(node, known.axes)).unwrap_or_default();
    let of = match (of, table.node("of")) {
        (Some(of), Some(node)) if !fixed.is_empty() => {
            let all = [of.fixed, fixed].concat();
            let node = if node.is_text() { node } else { node.child("of").unwrap_or(node) };
            known.operand_fixed(&node, all)
        }
        (of, _) => of,
    };
    let compare = compare(table, known, of.as_ref());
    let axes = of.as_ref().map(|of| of.axes.clone()).unwrap_or_default();
    let take = take(table, known, of.as_ref());
    let (of, compare, take) = (of?, compare?, take?);
    let taken = take.iter().flat_map(|take| &take.axes);
    let left = axes.iter().copied().filter(|axis| !taken.clone().any(|taken| taken == axis)).collect();
    Some(Number { name, axes: left, kind: NumberKind::Made { of, compare, take } })
}

/// Reads the comparison with another number; `Some(None)` if there is none.
fn compare(
    table: &mut Table<'_>,
    known: &KnownNames<'_>,
    of: Option<&Operand>,
) -> Option<Option<(Compare, Box<Operand>)>> {
    let ways = [
        ("over", Compare::Over),
        ("minus", Compare::Minus),
        ("error_from", Compare::Error),
        ("or_larger", Compare::Larger),
    ];
    let mut found = ways.into_iter().filter(|(key, _)| table.has(key)).collect::<Vec<_>>().into_iter();
    let Some((key, way)) = found.next() else { return Some(None) };
    if let Some((second, _)) = found.next() {
        table.problem(format!("`{}` has `{key}` and `{second}`", table.name()), "make two numbers of it");
    }
    let need = if matches!(way, Compare::Over | Compare::Error) { DIVISOR } else { FINITE };
    let other = table.maybe(key, |node| match node.as_number() {
        Some(_) => number(need)(node).map(Operand::constant),
        None => known.operand(node),
    })?;
    let stranger = of.and_then(|of| other.axes.iter().find(|axis| !of.axes.contains(axis)));
    if let Some(&stranger) = stranger {
        let name = &known.axes[stranger].name;
        table.problem(
            format!(
                "`{}` depends on `{name}`, and what it is compared with `{}` does not",
                other.name,
                table.name()
            ),
            format!("fix it: {key} = {{ of = \"{}\", where = {{ {name} = ... }} }}", other.name),
        );
        return None;
    }
    Some(Some((way, Box::new(other))))
}

/// Reads `take` with the keys that belong to it; `Some(None)` if there is none. `of` is `None` if it is faulty.
fn take(table: &mut Table<'_>, known: &KnownNames<'_>, of: Option<&Operand>) -> Option<Option<TakeAlong>> {
    const TAKES: &[&str] =
        &["mean", "maximum", "minimum", "spread", "exponent", "linearity", "at_minimum", "needed"];
    if !table.has("take") {
        return Some(None);
    }
    let axes = of.map(|of| of.axes.as_slice()).unwrap_or_default();
    let is_sound = of.is_some();
    let along = match table.node("along") {
        None => Some(axes.to_vec()),
        Some(node) if node.is_text() => axis_named(&node, known.axes).map(|axis| vec![axis]),
        Some(node) => node.list(|node| axis_named(&node, known.axes)),
    };
    let reduce = match table.get("take", word(TAKES)) {
        Some("mean") => Reduce::Mean,
        Some("maximum") => Reduce::Maximum,
        Some("minimum") => Reduce::Minimum,
        Some("spread") => Reduce::Spread,
        Some("exponent") => Reduce::Exponent,
        Some("linearity") => Reduce::Linearity,
        Some("at_minimum") => Reduce::AtMinimum,
        Some(_) => Reduce::Needed(table.get("below", number(POSITIVE))?),
        None => {
            table.leave_keys_unjudged();
            return None;
        }
    };
    let along = along?;
    if let Some(&stranger) = along.iter().find(|axis| is_sound && !axes.contains(axis)) {
        let name = &known.axes[stranger].name;
        table.problem(format!("`{}` does not depend on `{name}`", table.name()), known.in_words(axes));
        return None;
    }
    let needs_numbers =
        matches!(reduce, Reduce::Exponent | Reduce::Linearity | Reduce::AtMinimum | Reduce::Needed(_));
    let is_numeric = matches!(along[..], [axis] if known.axes[axis].numbers().is_some());
    if is_sound && needs_numbers && !is_numeric {
        table.problem(
            format!("`{}` needs one axis of numbers to go along", table.name()),
            "name it: along = \"iterations\"",
        );
        return None;
    }
    let measured_in = match needs_numbers {
        true => table.maybe("measured_in", |node| of.and_then(|of| measure(&node, of, known)).map(Box::new)),
        false => None,
    };
    Some(Some(TakeAlong { reduce, axes: along, measured_in }))
}

/// Reads the number that replaces the values of an axis, with the same fixed axes as `of`.
fn measure(node: &Node<'_>, of: &Operand, known: &KnownNames<'_>) -> Option<Operand> {
    let (_, name, axes) = known.source(node)?;
    let fixed = of.fixed.iter().copied().filter(|(axis, _)| axes.contains(axis)).collect();
    let operand = known.operand_fixed(node, fixed)?;
    if operand.axes.iter().any(|axis| !of.axes.contains(axis)) {
        let message = format!("`{name}` depends on more than `{}` does", of.name);
        node.problem(message, known.in_words(&operand.axes));
        return None;
    }
    Some(operand)
}

/// Reads numbers that are given by hand.
fn given(table: &mut Table<'_>, known: &KnownNames<'_>) -> Option<(usize, Vec<f64>)> {
    let axis = table.get("by", |node| axis_named(&node, known.axes));
    let pairs = table.get("values", |node| node.list(pair));
    let (axis, pairs) = (axis?, pairs?);
    let Some(places) = known.axes[axis].numbers() else {
        table.problem(format!("`{}` has words as values", known.axes[axis].name), "take an axis of numbers");
        return None;
    };
    let value = |place: &f64| {
        let found = pairs.iter().find(|(x, _)| x == place).map(|(_, value)| *value);
        if found.is_none() {
            table.problem(
                format!("`{}` has no value at {} = {place}", table.name(), known.axes[axis].name),
                "add a pair [place, value]",
            );
        }
        found
    };
    let values: Vec<f64> = places.iter().filter_map(value).collect();
    (values.len() == places.len()).then_some((axis, values))
}

fn pair(node: Node<'_>) -> Option<(f64, f64)> {
    match node.clone().list(number(FINITE))?.as_slice() {
        &[x, value] => Some((x, value)),
        _ => {
            node.problem(format!("`{}` is not a pair", node.name()), "write [place, value]");
            None
        }
    }
}
