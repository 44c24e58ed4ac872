//! Typed reader over the parsed file that notes every mistake and continues.
//!
//! A reader is a function from a [`Node`] to an `Option`: `None` means that the mistake is already in the [`Report`]. [`Table::get`],
//! [`Table::maybe`] and [`Table::or`] apply a reader to the value of a key; the defaults taken by `or` are kept for the resolved file. A
//! key that no reader asked for is an unknown key.

pub mod asked;
mod findings;
mod plain;
mod values;

use std::borrow::Cow;
use std::cell::RefCell;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::de::{DeTable, DeValue};
use toml_edit::Value;

use crate::error::{nearest, suggest};
use crate::files::{Bounded, open_table};
use crate::model::range::{FAR, RADII, WITHIN_FAR, WITHIN_RADII};
use crate::scenario::LONGEST_TIME;

use super::keys::{Step, dotted};
use super::problems::{Problem, SourceText};

use asked::{Asked, Listener};
use findings::{Follows, Mistake, one_per_cause};

pub use plain::Plain;
pub use values::{
    FILE_NAME_ADVICE, boolean, by_start, direction, file_name, is_file_name, number, over_time, text,
    unit_vector, vector, whole, word,
};

/// Names of the axes.
pub const AXES: [&str; 3] = ["x", "y", "z"];

/// Default value to be written into the resolved file.
#[derive(Debug, Clone)]
pub struct Filled {
    /// Path of the value.
    pub path: Vec<Step>,
    /// The value.
    pub value: Value,
}

/// Findings of a reading: mistakes, and defaults that were taken.
pub struct ReadReport {
    source: Arc<SourceText>,
    findings: RefCell<Vec<Mistake>>,
    /// Unknown keys, as the path of their table and the key that each is likely to stand for.
    misspelt: RefCell<Vec<(Vec<Step>, String)>>,
    notes: RefCell<Vec<String>>,
    filled: RefCell<Vec<Filled>>,
    /// Files that are read, each with the path of the value that names it.
    inputs: RefCell<Vec<(Vec<Step>, PathBuf)>>,
    /// What records the requests for a value.
    listener: Option<Listener>,
    /// Empty table that replaces a table that was left out.
    nothing: DeTable<'static>,
}

impl ReadReport {
    /// Creates an empty report about a text.
    pub fn new(source: Arc<SourceText>) -> ReadReport {
        ReadReport {
            source,
            findings: RefCell::default(),
            misspelt: RefCell::default(),
            notes: RefCell::default(),
            filled: RefCell::default(),
            inputs: RefCell::default(),
            listener: None,
            nothing: DeTable::new(),
        }
    }

    /// Notes a mistake and advice on how to correct it.
    pub fn problem(&self, span: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.find(span, message, help, Follows::Nothing);
    }

    /// Notes a mistake whose cause may lie in many places, which are told once: such as a name that is used often, and unknown.
    pub fn problem_of(
        &self,
        cause: impl Into<String>,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.find(span, message, help, Follows::Cause(cause.into()));
    }

    fn find(
        &self,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
        follows: Follows,
    ) {
        let problem = Problem::at(&self.source, span.clone(), message).help(help);
        self.findings.borrow_mut().push(Mistake { start: span.start, problem, follows });
    }

    /// Notes what was taken of a file, for the user.
    pub fn note(&self, note: String) {
        self.notes.borrow_mut().push(note);
    }

    /// Returns the notes for the user.
    pub fn notes(&self) -> Vec<String> {
        self.notes.borrow().clone()
    }

    /// Notes a value for the resolved file.
    pub fn fill(&self, path: Vec<Step>, value: Value) {
        self.filled.borrow_mut().push(Filled { path, value });
    }

    /// Records a request of a reader for the value at a path.
    fn ask(&self, path: &[Step], asked: Asked) {
        if let Some(listener) = &self.listener {
            listener.hear(path, asked);
        }
    }

    /// Returns the files that were read in addition to the text, each with the path of the value that names it.
    pub fn inputs(&self) -> Vec<(Vec<Step>, PathBuf)> {
        self.inputs.borrow().clone()
    }

    /// Returns whether no mistake was noted so far.
    pub fn is_clean(&self) -> bool {
        self.findings.borrow().is_empty()
    }

    /// Returns the mistakes in the order of the file, each cause once, and the values for the resolved file.
    pub fn finish(self) -> (Vec<Problem>, Vec<Filled>) {
        let problems = one_per_cause(self.findings.into_inner(), &self.misspelt.into_inner());
        (problems, self.filled.into_inner())
    }
}

/// Condition on a number, with its description for messages.
#[derive(Clone, Copy)]
pub struct Need {
    accepts: fn(f64) -> bool,
    words: &'static str,
}

/// Any finite number.
pub const FINITE: Need = Need { accepts: |_| true, words: "a finite number" };
/// Positive number.
pub const POSITIVE: Need = Need { accepts: |x| x > 0.0, words: "a positive number" };
/// Zero or positive number.
pub const NOT_NEGATIVE: Need = Need { accepts: |x| x >= 0.0, words: "zero or a positive number" };
/// Number from zero to one.
pub const SHARE: Need = Need { accepts: |x| (0.0..=1.0).contains(&x), words: "a number from 0 to 1" };
/// Radius of a grain \[m\]. Outside of this range, 1/inertia leaves the range of single precision.
pub const RADIUS: Need = Need { accepts: |x| RADII.contains(&x), words: WITHIN_RADII };
/// Length of a boundary or region \[m\].
pub const LENGTH: Need =
    Need { accepts: |x| x > 0.0 && x <= FAR, words: "a positive length in metres (at most 1e9)" };
/// Length that may be zero \[m\].
pub const LENGTH_OR_ZERO: Need = Need {
    accepts: |x| (0.0..=FAR).contains(&x),
    words: "zero or a positive length in metres (at most 1e9)",
};
/// Time or duration that may be zero \[s\].
pub const TIME: Need = Need {
    accepts: |x| (0.0..=LONGEST_TIME).contains(&x),
    words: "zero or a positive time in seconds (at most 1e9)",
};
/// Positive duration \[s\].
pub const DURATION: Need =
    Need { accepts: |x| x > 0.0 && x <= LONGEST_TIME, words: "a positive time in seconds (at most 1e9)" };

impl Need {
    /// Creates a condition with its description.
    pub const fn new(accepts: fn(f64) -> bool, words: &'static str) -> Need {
        Need { accepts, words }
    }

    /// Returns whether a number is finite and meets the condition.
    pub fn accepts(&self, number: f64) -> bool {
        number.is_finite() && (self.accepts)(number)
    }

    /// Returns the description of the condition.
    pub fn words(&self) -> &'static str {
        self.words
    }
}

/// Value in the file.
#[derive(Clone)]
pub struct Node<'a> {
    /// Report that receives the mistakes.
    pub report: &'a ReadReport,
    /// Byte range of the value in the text.
    pub span: Range<usize>,
    /// Path of the value.
    pub path: Vec<Step>,
    value: &'a DeValue<'a>,
}

/// Table in the file while it is being read.
pub struct Table<'a> {
    /// Report that receives the mistakes.
    pub report: &'a ReadReport,
    /// Byte range of the table in the text.
    pub span: Range<usize>,
    /// Path of the table.
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

    /// Notes a mistake at this value, whose cause may lie in many places.
    pub fn problem_of(&self, cause: impl Into<String>, message: impl Into<String>, help: impl Into<String>) {
        self.report.problem_of(cause, &self.span, message, help);
    }

    /// Records a request of a reader for this value.
    pub fn ask(&self, asked: Asked) {
        self.report.ask(&self.path, asked);
    }

    /// Returns the path as written in `--set`.
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

    /// Reads every element of a list; one faulty element makes the list faulty.
    pub fn list<T>(self, read: impl Fn(Node<'a>) -> Option<T>) -> Option<Vec<T>> {
        let nodes = self.elements()?;
        let count = nodes.len();
        let values: Vec<T> = nodes.into_iter().filter_map(read).collect();
        (values.len() == count).then_some(values)
    }

    /// Returns the elements of a list.
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

    /// Returns the value of a key, if this is a table that has the key.
    pub fn child(&self, key: &str) -> Option<Node<'a>> {
        let DeValue::Table(entries) = self.value else { return None };
        let value = entries.get(key)?;
        let path = [&self.path[..], &[Step::Key(key.into())]].concat();
        Some(Node { report: self.report, span: value.span(), path, value: value.get_ref() })
    }

    /// Returns the value as it is written in the file.
    pub fn written(&self) -> &'a str {
        self.report.source.text.get(self.span.clone()).unwrap_or_default()
    }

    /// Returns the number, if this is one.
    pub fn as_number(&self) -> Option<f64> {
        as_number(self.value)
    }

    /// Returns whether this is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.value, DeValue::Array(_))
    }

    /// Returns whether this is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    /// Returns whether this is a string.
    pub fn is_text(&self) -> bool {
        self.text().is_some()
    }

    /// Returns the string, if this is one.
    pub fn text(&self) -> Option<&str> {
        match self.value {
            DeValue::String(text) => Some(text),
            _ => None,
        }
    }
}

/// Keys, words and quantities of earlier versions, with their present names.
const RENAMED: [(&str, &str); 3] = [("contact_margin", "skin"), ("free", "dynamic"), ("rest", "overflow")];

/// Returns the present name of a key, word or quantity of an earlier version.
pub fn renamed(name: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(before, _)| *before == name).map(|(_, now)| *now)
}

impl<'a> Table<'a> {
    /// Creates a table that is about to be read.
    pub fn new(
        report: &'a ReadReport,
        span: Range<usize>,
        path: Vec<Step>,
        entries: &'a DeTable<'a>,
    ) -> Table<'a> {
        Table { report, span, path, entries, asked: Vec::new(), kind_is_known: true }
    }

    /// Applies `read` and reports the keys that it did not ask for.
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
                let now = renamed(name).filter(|now| self.asked.contains(now));
                if let Some(meant) = now.or_else(|| nearest(name, self.asked.iter().copied())) {
                    self.report.misspelt.borrow_mut().push((self.path.clone(), meant.to_owned()));
                }
                let keys = |step: &Step| matches!(step, Step::Key(_));
                let kind: Vec<Step> = self.path.iter().filter(|step| keys(step)).cloned().collect();
                self.report.problem_of(
                    format!("unknown key {name} in {}", dotted(&kind)),
                    &key.span(),
                    format!("unknown key `{name}`{whose}{table}"),
                    match now {
                        Some(now) => format!("it is called `{now}` now"),
                        None => suggest(name, self.asked.iter().copied()),
                    },
                );
            }
        }
    }

    /// Suppresses reports of unknown keys: their meaning depends on a value that is wrong.
    pub fn leave_keys_unjudged(&mut self) {
        self.kind_is_known = false;
    }

    /// Returns the path as written in `--set`.
    pub fn name(&self) -> String {
        dotted(&self.path)
    }

    /// Notes a mistake at this table.
    pub fn problem(&self, message: impl Into<String>, help: impl Into<String>) {
        self.report.problem(&self.span, message, help);
    }

    /// Returns whether the key is present, with a right or wrong value.
    pub fn has(&mut self, key: &'static str) -> bool {
        self.node(key).is_some()
    }

    /// Returns the value of a key, and records the request.
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

    /// Returns the path to a key of this table.
    pub fn path_to(&self, key: &str) -> Vec<Step> {
        [&self.path[..], &[Step::Key(key.into())]].concat()
    }

    /// Returns all entries in the order of the file, for a table whose keys are the user's own names.
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

    /// Reads a required key.
    pub fn get<T>(&mut self, key: &'static str, read: impl FnOnce(Node<'a>) -> Option<T>) -> Option<T> {
        let node = self.node(key);
        if node.is_none() {
            self.report.ask(&self.path, Asked::Missing(key));
            self.missing(key, &format!("add `{key} = ...`"));
        }
        read(node?)
    }

    /// Reads a key that is required if it has no default.
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

    /// Reports a key that is missing, given the other keys of the table.
    pub fn missing(&self, key: &'static str, help: &str) {
        let whose = if self.path.is_empty() { String::new() } else { format!(" in `{}`", self.name()) };
        self.lacks(&[key], format!("missing key `{key}`{whose}"), help);
    }

    /// Notes a mistake at this table that is one only if none of these keys is there: one of them that is misspelt tells it already.
    pub fn lacks(&self, keys: &[&'static str], message: impl Into<String>, help: impl Into<String>) {
        let follows = Follows::Misspelt(self.path.clone(), keys.to_vec());
        self.report.find(&self.span, message, help, follows);
    }

    /// Reads an optional key.
    pub fn maybe<T>(&mut self, key: &'static str, read: impl FnOnce(Node<'a>) -> Option<T>) -> Option<T> {
        read(self.node(key)?)
    }

    /// Reads a key, or takes the default and notes it for the resolved file.
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

    /// Reads an optional table; if it is left out, all its defaults are noted.
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

    /// Reads the `kind` of a tagged table. If `kind` is wrong, unknown keys are not reported.
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

fn as_number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(digits) => digits.as_str().parse().ok(),
        DeValue::Integer(digits) => {
            i128::from_str_radix(digits.as_str(), digits.radix()).ok().map(|i| i as f64)
        }
        _ => None,
    }
}

/// Describes a value in words short enough for a message.
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

/// Returns the path of the file `name`, relative to the folder of the scenario. The value of `node` names the file, which will be read.
pub fn named(node: &Node<'_>, folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    // The resolved scenario is written elsewhere: the path in it must not depend on the folder.
    let full = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
    node.report.fill(node.path.clone(), full.display().to_string().plain());
    node.report.inputs.borrow_mut().push((node.path.clone(), path.clone()));
    path
}

/// Name of a file without its folder, for notes, which are the same wherever a scenario is read.
pub fn without_folder(name: &str) -> Cow<'_, str> {
    Path::new(name).file_name().map_or(name.into(), |name| name.to_string_lossy())
}

/// Opens the table of numbers in the file `name`, relative to the folder of the scenario. The value of `node` names the file.
pub fn open_named(node: &Node<'_>, folder: &Path, name: &str) -> Result<Bounded<File>, Vec<String>> {
    let path = named(node, folder, name);
    open_table(&path).map_err(|error| vec![format!("{} cannot be read: {error}", path.display())])
}
