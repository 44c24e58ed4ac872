//! What values a scenario may have, found by asking the reader.

use std::path::Path;
use std::sync::LazyLock;

use toml::{Table, Value};

use crate::scenario::file::read::asked::{Asked, Trace};
use crate::scenario::file::read::{Need, Step};
use crate::scenario::file::trace;

/// One kind of value that a key may have.
pub enum Form {
    /// A number.
    Number(Need),
    /// A whole number between two bounds, both included.
    Whole(u64, u64),
    /// A string.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// True or false.
    Boolean,
    /// A list of three numbers.
    Vector,
    /// A list of any length.
    List(Vec<Form>),
    /// A table with known keys.
    Table(Vec<Entry>),
    /// A table whose `kind` decides about its other keys.
    Tagged(Vec<(&'static str, Vec<Entry>)>),
    /// A table with the user's own names as keys.
    Named(Vec<Form>),
}

/// A key of a table.
pub struct Entry {
    /// The key.
    pub key: &'static str,
    /// What its value may be, if anything.
    pub forms: Vec<Form>,
    /// Whether it must be there, whatever else is.
    pub is_required: bool,
    /// The value that stands for it where it is left out, where that is always the same.
    pub default: Option<serde_json::Value>,
}

/// A key that was found.
struct Known {
    entry: Entry,
    /// Values that it may have, one of each kind.
    samples: Vec<Value>,
}

/// Whether known keys are looked at again.
#[derive(Clone, Copy, PartialEq)]
enum Again {
    No,
    Yes,
}

/// A scenario to which what is explored is added: things of every sort that others refer to by name.
static BASE: LazyLock<Table> = LazyLock::new(|| include_str!("base.toml").parse().unwrap_or_default());

/// Strings to try: names in the scenario above, a quantity, words of keys that take several.
const TEXTS: [&str; 6] = ["probe", "drum", "height", "left", "right", "a.csv"];
/// Numbers to try.
const NUMBERS: [f64; 5] = [0.5, 1.5, 0.01, 0.0, 1e6];
/// Whole numbers to try.
const WHOLES: [i64; 4] = [1, 2, 0, 100];
/// Vectors to try: corners of boxes and directions among them.
const VECTORS: [[f64; 3]; 4] = [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [3.0, 3.0, 3.0], [1.0, 0.0, 0.0]];
/// Lengths of lists to try: of pairs and triples, too.
const LENGTHS: [usize; 3] = [1, 2, 3];

/// The keys of a scenario.
pub fn root() -> Vec<Entry> {
    let place = Place { document: BASE.clone(), path: Vec::new() };
    place.entries(Table::new()).0
}

/// A place in a scenario whose value is explored.
struct Place {
    document: Table,
    path: Vec<Step>,
}

impl Place {
    /// The scenario with this value in this place; at the top of the file the keys of a table come to those that are there.
    fn with(&self, value: &Value) -> Table {
        let mut document = self.document.clone();
        match value {
            Value::Table(table) if self.path.is_empty() => document.extend(table.clone()),
            value => insert(&mut document, &self.path, value.clone()),
        }
        document
    }

    /// What the reader asks where this value stands in this place.
    fn trace(&self, value: &Value) -> Trace {
        trace(&self.with(value).to_string(), Path::new(""))
    }

    /// What the reader asks of this value in this place.
    fn asked(&self, value: &Value) -> Vec<Asked> {
        self.trace(value).of(&self.path).collect()
    }

    /// The place of a value within a table that stands here.
    fn within(&self, table: &Table, step: Step) -> Place {
        let document = self.with(&Value::Table(table.clone()));
        Place { document, path: [&self.path[..], &[step]].concat() }
    }

    /// Of some values the one with which the scenario has the fewest mistakes.
    fn best(&self, values: impl IntoIterator<Item = Value>) -> Option<Value> {
        values.into_iter().min_by_key(|value| self.trace(value).problems.len())
    }

    /// What may stand in this place, and values that may, one of each kind.
    fn forms(&self) -> (Vec<Form>, Vec<Value>) {
        let found = [self.scalars(), self.list(), self.table()];
        let (forms, samples): (Vec<_>, Vec<Vec<_>>) = found.into_iter().flatten().unzip();
        (forms, samples.concat())
    }

    fn scalars(&self) -> Vec<(Form, Vec<Value>)> {
        let probes: [Value; 4] = ["probe".into(), 0.5.into(), 1.into(), true.into()];
        let mut found: Vec<(Form, Vec<Value>)> = Vec::new();
        for asked in probes.iter().flat_map(|probe| self.asked(probe)) {
            let Some((form, samples)) = scalar(asked) else { continue };
            let is_new =
                found.iter().all(|(known, _)| std::mem::discriminant(known) != std::mem::discriminant(&form));
            if is_new {
                let samples = match form {
                    Form::Word(_) => samples,
                    _ => self.best(samples).into_iter().collect(),
                };
                found.push((form, samples));
            }
        }
        found
    }

    fn list(&self) -> Vec<(Form, Vec<Value>)> {
        let asked = self.asked(&Value::Array(Vec::new()));
        if asked.iter().any(|asked| matches!(asked, Asked::Vector)) {
            let sample = self.best(VECTORS.map(|vector| Value::from(vector.to_vec())));
            return vec![(Form::Vector, sample.into_iter().collect())];
        }
        if !asked.iter().any(|asked| matches!(asked, Asked::List)) {
            return Vec::new();
        }
        // Where the scenario has such a list, others refer to its elements: another comes behind them.
        let there = elements(&self.document, &self.path);
        let document = self.with(&Value::Array(there.clone()));
        let element = Place { document, path: [&self.path[..], &[Step::Index(there.len())]].concat() };
        let (forms, samples) = element.forms();
        let sample = element.best(samples);
        let lists = LENGTHS.map(|length| {
            Value::Array(
                there.iter().cloned().chain(std::iter::repeat_n(sample.clone(), length).flatten()).collect(),
            )
        });
        vec![(Form::List(forms), self.best(lists).into_iter().collect())]
    }

    fn table(&self) -> Vec<(Form, Vec<Value>)> {
        let asked = self.asked(&Value::Table(Table::new()));
        let is = |what: fn(&Asked) -> bool| asked.iter().any(what);
        if !is(|asked| matches!(asked, Asked::Table)) {
            return Vec::new();
        }
        let kinds = asked.iter().find_map(|asked| match asked {
            Asked::Kind(words) => Some(*words),
            _ => None,
        });
        vec![match kinds {
            _ if is(|asked| matches!(asked, Asked::Named)) => self.named(),
            Some(words) => self.tagged(words),
            None => {
                let (entries, sample) = self.entries(Table::new());
                (Form::Table(entries), vec![Value::Table(sample)])
            }
        }]
    }

    fn named(&self) -> (Form, Vec<Value>) {
        let place = self.within(&Table::new(), Step::Key("height".to_owned()));
        let (forms, samples) = place.forms();
        let sample = place.best(samples).map(|sample| ("height".to_owned(), sample)).into_iter().collect();
        (Form::Named(forms), vec![Value::Table(sample)])
    }

    fn tagged(&self, words: &'static [&'static str]) -> (Form, Vec<Value>) {
        let mut samples = Vec::new();
        let kinds = words.iter().map(|&word| {
            let (entries, sample) = self.entries(Table::from_iter([("kind".to_owned(), word.into())]));
            samples.push(Value::Table(sample));
            (word, entries)
        });
        (Form::Tagged(kinds.collect()), samples)
    }

    /// The keys of the table that stands here with some of them, and such a table with all that it must have.
    fn entries(&self, mut table: Table) -> (Vec<Entry>, Table) {
        let (mut found, bare) = (Vec::new(), table.clone());
        self.explore(&mut found, &table, Again::No);
        // What is there decides what is asked for: keys are looked at again in the company of those that they need.
        while let Some((key, sample)) = self.helpful(&found, &table) {
            table.insert(key, sample);
        }
        if table.len() > bare.len() {
            self.explore(&mut found, &table, Again::Yes);
        }
        for extra in company(&found, &table) {
            for with in [&table, &bare] {
                let with = with.clone().into_iter().chain([extra.clone()]).collect();
                self.explore(&mut found, &with, Again::No);
            }
        }
        let optional: Vec<_> = company(&found, &table);
        for known in &mut found {
            known.entry.is_required = self.is_required(known.entry.key, &table, &optional);
        }
        (found.into_iter().map(|known| known.entry).collect(), table)
    }

    /// Adds the keys that are asked for beside these. What the values of known keys may be is looked for where it was not seen yet, or again.
    fn explore(&self, found: &mut Vec<Known>, table: &Table, again: Again) {
        let trace = self.trace(&Value::Table(table.clone()));
        let keys = trace.of(&self.path).filter_map(|asked| match asked {
            Asked::Key(key) if key != "kind" => Some(key),
            _ => None,
        });
        for key in keys {
            let known = found.iter_mut().find(|known| known.entry.key == key);
            let is_seen = known.as_ref().is_some_and(|known| !known.entry.forms.is_empty());
            if is_seen && again == Again::No {
                continue;
            }
            let (forms, samples) = self.within(table, Step::Key(key.to_owned())).forms();
            match known {
                Some(_) if forms.is_empty() => {}
                Some(known) => (known.entry.forms, known.samples) = (forms, samples),
                None => {
                    let default = self.default_of(&trace, table, key);
                    found.push(Known { entry: Entry { key, forms, is_required: false, default }, samples });
                }
            }
        }
    }

    /// A key with a value that takes mistakes away.
    fn helpful(&self, found: &[Known], table: &Table) -> Option<(String, Value)> {
        let mistakes = |table: Table| self.trace(&Value::Table(table)).problems.len();
        let with = |extra: &(String, Value)| table.clone().into_iter().chain([extra.clone()]).collect();
        let best = company(found, table).into_iter().map(|extra| (mistakes(with(&extra)), extra));
        let (fewest, extra) = best.min_by_key(|(mistakes, _)| *mistakes)?;
        (fewest < mistakes(table.clone())).then_some(extra)
    }

    /// What a reading took for a key that is not there, if that is the same where other numbers are others.
    fn default_of(&self, trace: &Trace, table: &Table, key: &str) -> Option<serde_json::Value> {
        let mut scaled = Value::Table(table.clone());
        scale(&mut scaled);
        let mut document = Value::Table(self.document.clone());
        scale(&mut document);
        let Value::Table(document) = document else { return None };
        let other = Place { document, path: self.path.clone() }.trace(&scaled);
        let default = filled(trace, &self.path, key)?;
        (!["name", "title"].contains(&key) && filled(&other, &self.path, key)? == default).then_some(default)
    }

    /// Whether a key is missed where it is left out, whatever other is there.
    fn is_required(&self, key: &str, table: &Table, optional: &[(String, Value)]) -> bool {
        let others: Table = table.clone().into_iter().filter(|(other, _)| other != key).collect();
        let is_missed = |table: Table| {
            let mut place = Place { document: self.document.clone(), path: self.path.clone() };
            if place.path.is_empty() {
                place.document.remove(key);
            }
            missing(&place.trace(&Value::Table(table)), &self.path).any(|missing| missing == key)
        };
        let with = |extra: &(String, Value)| others.clone().into_iter().chain([extra.clone()]).collect();
        is_missed(others.clone())
            && optional.iter().filter(|(other, _)| other != key).map(with).all(is_missed)
    }
}

/// The form of a value that was read, and values to try for it.
fn scalar(asked: Asked) -> Option<(Form, Vec<Value>)> {
    Some(match asked {
        Asked::Number(need) => {
            (Form::Number(need), NUMBERS.into_iter().filter(|&x| need.accepts(x)).map(Value::from).collect())
        }
        Asked::Whole { least, most } => {
            let fits = |whole: &i64| u64::try_from(*whole).is_ok_and(|whole| (least..=most).contains(&whole));
            (Form::Whole(least, most), WHOLES.into_iter().filter(fits).map(Value::from).collect())
        }
        Asked::Text => (Form::Text, TEXTS.map(Value::from).to_vec()),
        Asked::Word(words) => (Form::Word(words), words.iter().map(|&word| Value::from(word)).collect()),
        Asked::Boolean => (Form::Boolean, vec![true.into(), false.into()]),
        _ => return None,
    })
}

/// The keys that a reading missed in the table at a path.
fn missing<'t>(trace: &'t Trace, path: &'t [Step]) -> impl Iterator<Item = &'static str> + 't {
    trace.of(path).filter_map(|asked| match asked {
        Asked::Missing(key) => Some(key),
        _ => None,
    })
}

/// Keys with values that they may have and have not here, words last: a word may take a meaning from other keys.
fn company(found: &[Known], table: &Table) -> Vec<(String, Value)> {
    let with = |known: &Known| {
        let key = known.entry.key;
        let others = known.samples.iter().filter(move |sample| table.get(key) != Some(*sample));
        others.map(|sample| (key.to_owned(), sample.clone())).collect::<Vec<_>>()
    };
    let mut company: Vec<_> = found.iter().flat_map(with).collect();
    company.sort_by_key(|(_, sample)| sample.is_str());
    company
}

/// Makes all numbers with a point others.
fn scale(value: &mut Value) {
    match value {
        Value::Float(number) => *number *= 1.25,
        Value::Array(list) => list.iter_mut().for_each(scale),
        Value::Table(table) => table.iter_mut().for_each(|(_, value)| scale(value)),
        _ => {}
    }
}

/// What a reading took for a key that is not there.
fn filled(trace: &Trace, path: &[Step], key: &str) -> Option<serde_json::Value> {
    let is_it = |at: &[Step]| {
        at.split_last().is_some_and(|(last, before)| before == path && *last == Step::Key(key.to_owned()))
    };
    let filled = trace.filled.iter().find(|filled| is_it(&filled.path))?;
    let document: Table = format!("value = {}", filled.value).parse().ok()?;
    serde_json::to_value(document.get("value")?).ok()
}

/// The elements of the list at a path.
fn elements(document: &Table, path: &[Step]) -> Vec<Value> {
    let start = Value::Table(document.clone());
    let found = path.iter().try_fold(&start, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
    });
    found.and_then(Value::as_array).cloned().unwrap_or_default()
}

/// Puts a value at a path, behind the last element where a list ends there.
fn insert(document: &mut Table, path: &[Step], value: Value) {
    let Some((Step::Key(first), rest)) = path.split_first() else { return };
    let mut place = document.entry(first.clone()).or_insert(Value::Table(Table::new()));
    for step in rest {
        place = match step {
            Step::Key(key) => {
                if !place.is_table() {
                    *place = Value::Table(Table::new());
                }
                let Value::Table(table) = place else { return };
                table.entry(key.clone()).or_insert(Value::Table(Table::new()))
            }
            Step::Index(index) => {
                if !place.is_array() {
                    *place = Value::Array(Vec::new());
                }
                let Value::Array(list) = place else { return };
                while list.len() <= *index {
                    list.push(Value::Table(Table::new()));
                }
                &mut list[*index]
            }
        };
    }
    *place = value;
}
