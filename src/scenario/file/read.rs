//! A typed reader over the parsed file that notes every mistake and goes on.
//!
//! A reader is a function from a [`Node`] to an `Option`: `None` means that the mistake is already in
//! the [`Report`]. [`Table::get`], [`Table::maybe`] and [`Table::or`] apply a reader to the value of
//! a key; the defaults taken by `or` are kept for the resolved file. What no one asked for is an
//! unknown key.

pub mod asked;
mod values;

use std::cell::RefCell;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::DVec3;
use toml::de::{DeTable, DeValue};
use toml_edit::Value;

use super::problems::{Problem, Source};
use crate::error::suggest;
use crate::files::{Bounded, open_table};
use crate::scenario::LONGEST_TIME;
use asked::{Asked, Heard};

pub use values::{
    FILE_NAME_ADVICE, boolean, by_start, direction, file_name, is_file_name, number, over_time, text,
    unit_vector, vector, whole, word,
};

/// Names of the axes.
pub const AXES: [&str; 3] = ["x", "y", "z"];

/// One step from a value of the file to a value within it.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Key of a table.
    Key(String),
    /// Index into a list, from 0.
    Index(usize),
}

/// A value to be written into the resolved file.
#[derive(Debug, Clone)]
pub struct Filled {
    /// Where.
    pub path: Vec<Step>,
    /// What.
    pub value: Value,
}

/// What was found while reading: mistakes, and defaults that were taken.
pub struct Report {
    source: Arc<Source>,
    problems: RefCell<Vec<(usize, Problem)>>,
    filled: RefCell<Vec<Filled>>,
    inputs: RefCell<Vec<PathBuf>>,
    /// What readers asked for, if anybody listens.
    asked: Option<RefCell<Heard>>,
    /// Stands for a table that was left out.
    nothing: DeTable<'static>,
}

impl Report {
    /// A report about a text.
    pub fn new(source: Arc<Source>) -> Report {
        Report {
            source,
            problems: RefCell::default(),
            filled: RefCell::default(),
            inputs: RefCell::default(),
            asked: None,
            nothing: DeTable::new(),
        }
    }

    /// Notes a mistake and what to do about it.
    pub fn problem(&self, span: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        let problem = Problem::at(&self.source, span.clone(), message).help(help);
        self.problems.borrow_mut().push((span.start, problem));
    }

    /// Notes a value for the resolved file.
    pub fn fill(&self, path: Vec<Step>, value: Value) {
        self.filled.borrow_mut().push(Filled { path, value });
    }

    /// Notes what a reader asks of the value at a path.
    fn ask(&self, path: &[Step], asked: Asked) {
        if let Some(all) = &self.asked {
            all.borrow_mut().push((path.to_vec(), asked));
        }
    }

    /// Notes a file that is read beside the text.
    pub fn reads(&self, file: &Path) {
        self.inputs.borrow_mut().push(file.to_owned());
    }

    /// The files that were read beside the text.
    pub fn inputs(&self) -> Vec<PathBuf> {
        self.inputs.borrow().clone()
    }

    /// Whether no mistake was noted so far.
    pub fn is_clean(&self) -> bool {
        self.problems.borrow().is_empty()
    }

    /// The mistakes in the order of the file, and the values for the resolved file.
    pub fn finish(self) -> (Vec<Problem>, Vec<Filled>) {
        let mut problems = self.problems.into_inner();
        problems.sort_by_key(|(start, _)| *start);
        (problems.into_iter().map(|(_, problem)| problem).collect(), self.filled.into_inner())
    }
}

/// A demand on a number, and its name in messages.
#[derive(Clone, Copy)]
pub struct Need {
    accepts: fn(f64) -> bool,
    words: &'static str,
}

/// Any finite number.
pub const FINITE: Need = Need { accepts: |_| true, words: "a finite number" };
/// Above zero.
pub const POSITIVE: Need = Need { accepts: |x| x > 0.0, words: "a positive number" };
/// Zero or above.
pub const NOT_NEGATIVE: Need = Need { accepts: |x| x >= 0.0, words: "zero or a positive number" };
/// From zero to one.
pub const SHARE: Need = Need { accepts: |x| (0.0..=1.0).contains(&x), words: "a number from 0 to 1" };
/// Radius of a grain \[m\]. Beyond these, 1/inertia leaves the range of single precision.
pub const RADIUS: Need =
    Need { accepts: |x| (1e-7..=1e6).contains(&x), words: "a positive radius in metres (1e-7 to 1e6)" };
/// A length of a boundary or region \[m\].
pub const LENGTH: Need =
    Need { accepts: |x| x > 0.0 && x <= FAR, words: "a positive length in metres (at most 1e9)" };
/// A length that may vanish \[m\].
pub const LENGTH_OR_ZERO: Need = Need {
    accepts: |x| (0.0..=FAR).contains(&x),
    words: "zero or a positive length in metres (at most 1e9)",
};
/// A time or duration \[s\].
pub const TIME: Need = Need {
    accepts: |x| (0.0..=LONGEST_TIME).contains(&x),
    words: "zero or a positive time in seconds (at most 1e9)",
};
/// A duration \[s\].
pub const DURATION: Need =
    Need { accepts: |x| x > 0.0 && x <= LONGEST_TIME, words: "a positive time in seconds (at most 1e9)" };

impl Need {
    /// A demand in words.
    pub const fn new(accepts: fn(f64) -> bool, words: &'static str) -> Need {
        Need { accepts, words }
    }

    /// Whether a number meets it.
    pub fn accepts(&self, number: f64) -> bool {
        number.is_finite() && (self.accepts)(number)
    }

    /// It in words.
    pub fn words(&self) -> &'static str {
        self.words
    }
}

/// Largest coordinate and velocity component that is read \[m, m/s\].
const FAR: f64 = 1e9;

/// A value in the file.
#[derive(Clone)]
pub struct Node<'a> {
    /// Where mistakes go.
    pub report: &'a Report,
    /// Bytes of the text it covers.
    pub span: Range<usize>,
    /// How to get to it.
    pub path: Vec<Step>,
    value: &'a DeValue<'a>,
}

/// A table in the file while it is being read.
pub struct Table<'a> {
    /// Where mistakes go.
    pub report: &'a Report,
    /// Bytes of the text it covers.
    pub span: Range<usize>,
    /// How to get to it.
    pub path: Vec<Step>,
    entries: &'a DeTable<'a>,
    asked: Vec<&'static str>,
    kind_is_known: bool,
}

impl<'a> Node<'a> {
    /// Notes a mistake at this value.
    pub fn problem(&self, message: impl Into<String>, help: impl Into<String>) {
        self.report.problem(&self.span, message, help);
    }

    /// Notes what a reader asks of this value.
    pub fn ask(&self, asked: Asked) {
        self.report.ask(&self.path, asked);
    }

    /// The path as written in `--set`.
    pub fn name(&self) -> String {
        dotted(&self.path)
    }

    pub fn mismatch<T>(&self, expected: &str) -> Option<T> {
        self.problem(
            format!("`{}` is {}, expected {expected}", self.name(), describe(self.value)),
            retype_advice(self.value, &self.name(), expected),
        );
        None
    }

    /// Reads a table; keys that `read` does not ask for are unknown.
    pub fn table<T>(self, read: impl FnOnce(&mut Table<'a>) -> Option<T>) -> Option<T> {
        let DeValue::Table(entries) = self.value else { return self.mismatch("a table `{ key = value }`") };
        self.ask(Asked::Table);
        Table::new(self.report, self.span, self.path, entries).read(read)
    }

    /// Reads every element of a list; one bad element spoils it.
    pub fn list<T>(self, read: impl Fn(Node<'a>) -> Option<T>) -> Option<Vec<T>> {
        let nodes = self.elements()?;
        let count = nodes.len();
        let values: Vec<T> = nodes.into_iter().filter_map(read).collect();
        (values.len() == count).then_some(values)
    }

    /// The elements of a list.
    pub fn elements(&self) -> Option<Vec<Node<'a>>> {
        let DeValue::Array(items) = self.value else { return self.mismatch("a list `[...]`") };
        self.ask(Asked::List);
        let node = |(i, item): (usize, &'a toml::Spanned<DeValue<'a>>)| Node {
            report: self.report,
            span: item.span(),
            path: [&self.path[..], &[Step::Index(i)]].concat(),
            value: item.get_ref(),
        };
        Some(items.iter().enumerate().map(node).collect())
    }

    /// The value of a key, if this is a table that has it.
    pub fn child(&self, key: &str) -> Option<Node<'a>> {
        let DeValue::Table(entries) = self.value else { return None };
        let value = entries.get(key)?;
        let path = [&self.path[..], &[Step::Key(key.to_owned())]].concat();
        Some(Node { report: self.report, span: value.span(), path, value: value.get_ref() })
    }

    /// The value as it stands in the file.
    pub fn written(&self) -> &'a str {
        self.report.source.text.get(self.span.clone()).unwrap_or_default()
    }

    /// The number, if this is one.
    pub fn as_number(&self) -> Option<f64> {
        as_number(self.value)
    }

    /// Whether this is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.value, DeValue::Array(_))
    }

    /// Whether this is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    /// Whether this is a string.
    pub fn is_text(&self) -> bool {
        self.text().is_some()
    }

    /// The string, if this is one.
    pub fn text(&self) -> Option<&str> {
        match self.value {
            DeValue::String(text) => Some(text),
            _ => None,
        }
    }
}

/// Keys, words and quantities of earlier versions, with what they are called now.
const RENAMED: [(&str, &str); 3] = [("contact_margin", "skin"), ("free", "dynamic"), ("rest", "overflow")];

/// What something of an earlier version is called now.
pub fn renamed(name: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(before, _)| *before == name).map(|(_, now)| *now)
}

impl<'a> Table<'a> {
    /// A table about to be read.
    pub fn new(
        report: &'a Report,
        span: Range<usize>,
        path: Vec<Step>,
        entries: &'a DeTable<'a>,
    ) -> Table<'a> {
        Table { report, span, path, entries, asked: Vec::new(), kind_is_known: true }
    }

    /// Applies `read` and reports the keys it did not ask for.
    pub fn read<T>(mut self, read: impl FnOnce(&mut Table<'a>) -> Option<T>) -> Option<T> {
        let value = read(&mut self);
        if self.kind_is_known {
            self.report_unknown_keys();
        }
        value
    }

    fn report_unknown_keys(&self) {
        for key in self.entries.keys() {
            let name = key.get_ref().as_ref();
            if !self.asked.contains(&name) {
                let whose = if self.path.is_empty() { "" } else { " in " };
                let table = if self.path.is_empty() { String::new() } else { format!("`{}`", self.name()) };
                self.report.problem(
                    &key.span(),
                    format!("unknown key `{name}`{whose}{table}"),
                    match renamed(name) {
                        Some(now) if self.asked.contains(&now) => format!("it is called `{now}` now"),
                        _ => suggest(name, self.asked.iter().copied()),
                    },
                );
            }
        }
    }

    /// Keys that were not asked for are not judged: what they would mean hangs on a value that is wrong.
    pub fn leave_keys_unjudged(&mut self) {
        self.kind_is_known = false;
    }

    /// The path as written in `--set`.
    pub fn name(&self) -> String {
        dotted(&self.path)
    }

    /// Notes a mistake at this table.
    pub fn problem(&self, message: impl Into<String>, help: impl Into<String>) {
        self.report.problem(&self.span, message, help);
    }

    /// Whether the key is there, right or wrong.
    pub fn has(&mut self, key: &'static str) -> bool {
        self.node(key).is_some()
    }

    /// The value of a key.
    pub fn node(&mut self, key: &'static str) -> Option<Node<'a>> {
        if !self.asked.contains(&key) {
            self.asked.push(key);
            self.report.ask(&self.path, Asked::Key(key));
        }
        let value = self.entries.get(key)?;
        Some(self.child(key, value))
    }

    fn child(&self, key: &str, value: &'a toml::Spanned<DeValue<'a>>) -> Node<'a> {
        let path = self.path_to(key);
        Node { report: self.report, span: value.span(), path, value: value.get_ref() }
    }

    /// Path to a key of this table.
    pub fn path_to(&self, key: &str) -> Vec<Step> {
        [&self.path[..], &[Step::Key(key.to_owned())]].concat()
    }

    /// All entries in the order of the file, for a table whose keys are the user's own names.
    pub fn named(&mut self) -> Vec<(String, Range<usize>, Node<'a>)> {
        self.kind_is_known = false;
        self.report.ask(&self.path, Asked::Named);
        let mut all: Vec<_> = self.entries.iter().collect();
        all.sort_by_key(|(key, _)| key.span().start);
        let entry = |(key, value): (&'a toml::Spanned<toml::de::DeString<'a>>, _)| {
            let name = key.get_ref().to_string();
            let node = self.child(&name, value);
            (name, key.span(), node)
        };
        all.into_iter().map(entry).collect()
    }

    /// Reads a key that must be there.
    pub fn get<T>(&mut self, key: &'static str, read: impl FnOnce(Node<'a>) -> Option<T>) -> Option<T> {
        let node = self.node(key);
        if node.is_none() {
            self.report.ask(&self.path, Asked::Missing(key));
            self.missing(key, &format!("add `{key} = ...`"));
        }
        read(node?)
    }

    /// Reads a key that must be there where it has no default.
    pub fn get_or<T: Plain>(
        &mut self,
        key: &'static str,
        default: Option<T>,
        read: impl FnOnce(Node<'a>) -> Option<T>,
    ) -> Option<T> {
        if let Some(default) = default {
            return Some(self.or(key, default, read));
        }
        if !self.has(key) {
            self.missing(key, &format!("add `{key} = ...`"));
        }
        self.maybe(key, read)
    }

    /// Reports a key that is missing here, where other keys are as they are.
    pub fn missing(&self, key: &str, help: &str) {
        let whose = if self.path.is_empty() { String::new() } else { format!(" in `{}`", self.name()) };
        self.problem(format!("missing key `{key}`{whose}"), help);
    }

    /// Reads a key that may be left out.
    pub fn maybe<T>(&mut self, key: &'static str, read: impl FnOnce(Node<'a>) -> Option<T>) -> Option<T> {
        read(self.node(key)?)
    }

    /// Reads a key, or takes (and notes) the default.
    pub fn or<T: Plain>(
        &mut self,
        key: &'static str,
        default: T,
        read: impl FnOnce(Node<'a>) -> Option<T>,
    ) -> T {
        match self.node(key) {
            Some(node) => read(node).unwrap_or(default),
            None => {
                self.report.fill(self.path_to(key), default.plain());
                default
            }
        }
    }

    /// Reads a table that may be left out, in which case all its defaults are noted.
    pub fn section<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Table<'a>) -> Option<T>,
    ) -> Option<T> {
        match self.node(key) {
            Some(node) => node.table(read),
            None => {
                let path = self.path_to(key);
                Table::new(self.report, self.span.clone(), path, &self.report.nothing).read(read)
            }
        }
    }

    /// Reads the `kind` of a tagged table. When it is wrong the other keys are not judged.
    pub fn kind(&mut self, known: &'static [&'static str]) -> Option<&'static str> {
        self.report.ask(&self.path, Asked::Kind(known));
        let kind = match self.node("kind") {
            Some(node) => word(known)(node),
            None => {
                self.missing("kind", &format!("add `kind = ...`, one of: {}", known.join(", ")));
                None
            }
        };
        self.kind_is_known = kind.is_some();
        kind
    }
}

/// A value that can be written into the resolved file.
pub trait Plain {
    /// As TOML.
    fn plain(&self) -> Value;
}

impl Plain for f64 {
    fn plain(&self) -> Value {
        (*self).into()
    }
}

impl Plain for bool {
    fn plain(&self) -> Value {
        (*self).into()
    }
}

impl Plain for u64 {
    fn plain(&self) -> Value {
        i64::try_from(*self).unwrap_or(i64::MAX).into()
    }
}

impl Plain for String {
    fn plain(&self) -> Value {
        self.as_str().into()
    }
}

impl Plain for &'static str {
    fn plain(&self) -> Value {
        (*self).into()
    }
}

impl Plain for DVec3 {
    fn plain(&self) -> Value {
        Value::Array(self.to_array().into_iter().collect())
    }
}

impl<T: Plain> Plain for Vec<T> {
    fn plain(&self) -> Value {
        Value::Array(self.iter().map(Plain::plain).collect())
    }
}

fn as_number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(digits) => digits.as_str().parse().ok(),
        DeValue::Integer(digits) => {
            i128::from_str_radix(digits.as_str(), digits.radix()).ok().map(|i| i as f64)
        }
        _ => None,
    }
}

/// What a value is, in words short enough for a message.
fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the string \"{}\"", shorten(text)),
        DeValue::Integer(_) | DeValue::Float(_) => match as_number(value) {
            Some(number) if number.is_finite() && number.abs() < 1e6 => format!("{number}"),
            Some(number) => format!("{number:e}"),
            None => "a number out of range".to_owned(),
        },
        DeValue::Boolean(value) => format!("{value}"),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn shorten(text: &str) -> String {
    let short: String = text.chars().take(40).filter(|c| !c.is_control()).collect();
    if short.len() < text.len() { format!("{short}...") } else { short }
}

fn retype_advice(value: &DeValue<'_>, name: &str, expected: &str) -> String {
    match value {
        DeValue::String(text) if text.trim().parse::<f64>().is_ok() => "remove the quotes".to_owned(),
        DeValue::Table(_) if expected.starts_with("a list") => {
            format!("write [[{name}]], with two brackets each: a table of a list")
        }
        _ => format!("set `{name}` to {expected}"),
    }
}

/// A path as written in `--set`: `grains.0.packing.count`.
pub fn dotted(path: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Key(key) => key.clone(),
        Step::Index(index) => index.to_string(),
    };
    path.iter().map(step).collect::<Vec<_>>().join(".")
}

/// Path of the file `name` beside the scenario, which a value of the file names and which will be read.
pub fn named(node: &Node<'_>, folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    // The resolved scenario is written elsewhere: there the path must not depend on the folder.
    let full = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
    node.report.fill(node.path.clone(), full.display().to_string().plain());
    node.report.reads(&path);
    path
}

/// Opens the table `name` beside the scenario, which a value of the file names.
pub fn open_named(node: &Node<'_>, folder: &Path, name: &str) -> Result<Bounded<File>, Vec<String>> {
    let path = named(node, folder, name);
    open_table(&path).map_err(|error| vec![format!("{} cannot be read: {error}", path.display())])
}
