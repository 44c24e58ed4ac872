//! Exploration of the keys and values that a scenario may have: the reader is run on trial scenarios and its requests are recorded.

use std::path::Path;
use std::sync::LazyLock;

use toml::{Table, Value};

use crate::scenario::file::keys::Step;
use crate::scenario::file::read::Need;
use crate::scenario::file::read::asked::{Asked, Trace};
use crate::scenario::file::trace;

/// Form of value that a key may have.
pub enum ValueForm {
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
    List(Vec<ValueForm>),
    /// A table with known keys.
    Table(Vec<KeyEntry>),
    /// A table whose `kind` decides about its other keys.
    Tagged(Vec<(&'static str, Vec<KeyEntry>)>),
    /// A table with the user's own names as keys.
    Named(Vec<ValueForm>),
}

/// Key of a table.
pub struct KeyEntry {
    /// The key.
    pub key: &'static str,
    /// Forms that its value may have, if any were found.
    pub forms: Vec<ValueForm>,
    /// Whether the key is required in every form of the table.
    pub is_required: bool,
    /// Default value of the key, if it is the same in all scenarios.
    pub default: Option<serde_json::Value>,
}

/// Key that was found.
struct FoundKey {
    entry: KeyEntry,
    /// Sample values, one of each form.
    samples: Vec<Value>,
}

/// Whether the values of known keys are explored again.
#[derive(Clone, Copy, PartialEq)]
enum Again {
    No,
    Yes,
}

/// Base scenario that trial values are added to; it has elements of every kind that other elements refer to by name.
static BASE: LazyLock<Table> = LazyLock::new(|| include_str!("base.toml").parse().unwrap_or_default());

/// Strings to try: names in the base scenario, a quantity, words of keys that take several.
const TEXTS: [&str; 6] = ["probe", "drum", "height", "left", "right", "a.csv"];
/// Numbers to try.
const NUMBERS: [f64; 5] = [0.5, 1.5, 0.01, 0.0, 1e6];
/// Whole numbers to try.
const WHOLES: [i64; 4] = [1, 2, 0, 100];
/// Vectors to try, among them corners of boxes and directions.
const VECTORS: [[f64; 3]; 4] = [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [3.0, 3.0, 3.0], [1.0, 0.0, 0.0]];
/// Lengths of lists to try, pairs and triples included.
const LENGTHS: [usize; 3] = [1, 2, 3];

/// Returns the keys of a scenario.
pub fn root() -> Vec<KeyEntry> {
    let place = ExploredPlace { document: BASE.clone(), path: Vec::new() };
    place.entries(Table::new()).0
}

/// Place in a scenario whose value is explored.
struct ExploredPlace {
    document: Table,
    path: Vec<Step>,
}

impl ExploredPlace {
    /// Returns the scenario with this value in this place; at the top of the file the keys of a table are added to the existing ones.
    fn with(&self, value: &Value) -> Table {
        let mut document = self.document.clone();
        match value {
            Value::Table(table) if self.path.is_empty() => document.extend(table.clone()),
            value => insert(&mut document, &self.path, value.clone()),
        }
        document
    }

    /// Returns the trace of a reading with this value in this place.
    fn trace(&self, value: &Value) -> Trace {
        trace(&self.with(value).to_string(), Path::new(""), &self.path)
    }

    /// Returns the requests of the reader for this value in this place.
    fn asked(&self, value: &Value) -> Vec<Asked> {
        self.trace(value).asked
    }

    /// Returns the place of a value within a table that stands in this place.
    fn within(&self, table: &Table, step: Step) -> ExploredPlace {
        let document = self.with(&Value::Table(table.clone()));
        ExploredPlace { document, path: [&self.path[..], &[step]].concat() }
    }

    /// Returns the value with which the scenario has the fewest mistakes.
    fn best(&self, values: impl IntoIterator<Item = Value>) -> Option<Value> {
        values.into_iter().min_by_key(|value| self.trace(value).problems.len())
    }

    /// Returns the forms that the value in this place may have, and sample values, one of each form.
    fn forms(&self) -> (Vec<ValueForm>, Vec<Value>) {
        let found = [self.scalars(), self.list(), self.table()];
        let (forms, samples): (Vec<_>, Vec<Vec<_>>) = found.into_iter().flatten().unzip();
        (forms, samples.concat())
    }

    fn scalars(&self) -> Vec<(ValueForm, Vec<Value>)> {
        let probes: [Value; 4] = ["probe".into(), 0.5.into(), 1.into(), true.into()];
        let mut found: Vec<(ValueForm, Vec<Value>)> = Vec::new();
        for asked in probes.iter().flat_map(|probe| self.asked(probe)) {
            let Some((form, samples)) = scalar(asked) else { continue };
            let is_new =
                found.iter().all(|(known, _)| std::mem::discriminant(known) != std::mem::discriminant(&form));
            if is_new {
                let samples = match form {
                    ValueForm::Word(_) => samples,
                    _ => self.best(samples).into_iter().collect(),
                };
                found.push((form, samples));
            }
        }
        found
    }

    fn list(&self) -> Vec<(ValueForm, Vec<Value>)> {
        let asked = self.asked(&Value::Array(Vec::new()));
        if asked.iter().any(|asked| matches!(asked, Asked::Vector)) {
            let sample = self.best(VECTORS.map(|vector| Value::from(vector.to_vec())));
            return vec![(ValueForm::Vector, sample.into_iter().collect())];
        }
        if !asked.iter().any(|asked| matches!(asked, Asked::List)) {
            return Vec::new();
        }
        // If the base scenario has this list, others refer to its elements: the new element is added behind them.
        let there = elements(&self.document, &self.path);
        let document = self.with(&Value::Array(there.clone()));
        let element =
            ExploredPlace { document, path: [&self.path[..], &[Step::Index(there.len())]].concat() };
        let (forms, samples) = element.forms();
        let sample = element.best(samples);
        let lists = LENGTHS.map(|length| {
            Value::Array(
                there.iter().cloned().chain(std::iter::repeat_n(sample.clone(), length).flatten()).collect(),
            )
        });
        vec![(ValueForm::List(forms), self.best(lists).into_iter().collect())]
    }

    fn table(&self) -> Vec<(ValueForm, Vec<Value>)> {
        let asked = self.asked(&Value::Table(Table::new()));
        let is = |what: fn(&Asked) -> bool| asked.iter().any(what);
        if !is(|asked| matches!(asked, Asked::Table)) {
            return Vec::new();
        }
        let kinds = asked.iter().find_map(|asked| match asked {
            Asked::Kind(words) => Some(*words),
            _ => None,
        });
        let plain = || {
            let (entries, sample) = self.entries(Table::new());
            (ValueForm::Table(entries), vec![Value::Table(sample)])
        };
        // A table may do without its `kind` where another key stands for it.
        let needs_kind = |(_, samples): &(ValueForm, Vec<Value>)| {
            samples
                .iter()
                .any(|sample| self.asked(sample).iter().any(|asked| matches!(asked, Asked::Kind(_))))
        };
        match kinds {
            _ if is(|asked| matches!(asked, Asked::Named)) => vec![self.named()],
            Some(words) => {
                let has_others = is(|asked| matches!(asked, Asked::Key(key) if *key != "kind"));
                let without = has_others.then(plain).filter(|plain| !needs_kind(plain));
                std::iter::once(self.tagged(words)).chain(without).collect()
            }
            None => vec![plain()],
        }
    }

    fn named(&self) -> (ValueForm, Vec<Value>) {
        let place = self.within(&Table::new(), Step::Key("height".into()));
        let (forms, samples) = place.forms();
        let sample = place.best(samples).map(|sample| ("height".to_owned(), sample)).into_iter().collect();
        (ValueForm::Named(forms), vec![Value::Table(sample)])
    }

    fn tagged(&self, words: &'static [&'static str]) -> (ValueForm, Vec<Value>) {
        let mut samples = Vec::new();
        let kinds = words.iter().map(|&word| {
            let (entries, sample) = self.entries(Table::from_iter([("kind".to_owned(), word.into())]));
            samples.push(Value::Table(sample));
            (word, entries)
        });
        (ValueForm::Tagged(kinds.collect()), samples)
    }

    /// Returns the keys of the table in this place, which has some keys already, and such a table with all required keys.
    fn entries(&self, mut table: Table) -> (Vec<KeyEntry>, Table) {
        let (mut found, bare) = (Vec::new(), table.clone());
        self.explore(&mut found, &table, Again::No);
        // The keys that are present decide which others the reader asks for: keys are explored again together with the keys that they need.
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

    /// Adds the keys that the reader asks for beside those in `table`. The values of a known key are explored if they were not seen yet, or
    /// again on request.
    fn explore(&self, found: &mut Vec<FoundKey>, table: &Table, again: Again) {
        let trace = self.trace(&Value::Table(table.clone()));
        let keys = trace.asked.iter().filter_map(|asked| match asked {
            Asked::Key(key) if *key != "kind" => Some(*key),
            _ => None,
        });
        for key in keys {
            let known = found.iter_mut().find(|known| known.entry.key == key);
            let is_seen = known.as_ref().is_some_and(|known| !known.entry.forms.is_empty());
            if is_seen && again == Again::No {
                continue;
            }
            let (forms, samples) = self.within(table, Step::Key(key.into())).forms();
            match known {
                Some(_) if forms.is_empty() => {}
                Some(known) => (known.entry.forms, known.samples) = (forms, samples),
                None => {
                    let default = self.default_of(&trace, table, key);
                    found.push(FoundKey {
                        entry: KeyEntry { key, forms, is_required: false, default },
                        samples,
                    });
                }
            }
        }
    }

    /// Returns a key with a value that reduces the number of mistakes the most, if there is one.
    fn helpful(&self, found: &[FoundKey], table: &Table) -> Option<(String, Value)> {
        let mistakes = |table: Table| self.trace(&Value::Table(table)).problems.len();
        let with = |extra: &(String, Value)| table.clone().into_iter().chain([extra.clone()]).collect();
        let best = company(found, table).into_iter().map(|extra| (mistakes(with(&extra)), extra));
        let (fewest, extra) = best.min_by_key(|(mistakes, _)| *mistakes)?;
        (fewest < mistakes(table.clone())).then_some(extra)
    }

    /// Returns the default that a reading took for a missing key, if it stays the same when other numbers change.
    fn default_of(&self, trace: &Trace, table: &Table, key: &str) -> Option<serde_json::Value> {
        let mut scaled = Value::Table(table.clone());
        scale(&mut scaled);
        let mut document = Value::Table(self.document.clone());
        scale(&mut document);
        let Value::Table(document) = document else { return None };
        let other = ExploredPlace { document, path: self.path.clone() }.trace(&scaled);
        let default = filled(trace, &self.path, key)?;
        (!["name", "title"].contains(&key) && filled(&other, &self.path, key)? == default).then_some(default)
    }

    /// Returns whether the reader misses the key when it is left out, whatever optional key is added.
    fn is_required(&self, key: &str, table: &Table, optional: &[(String, Value)]) -> bool {
        let others: Table = table.clone().into_iter().filter(|(other, _)| other != key).collect();
        let is_missed = |table: Table| {
            let mut place = ExploredPlace { document: self.document.clone(), path: self.path.clone() };
            if place.path.is_empty() {
                place.document.remove(key);
            }
            missing(&place.trace(&Value::Table(table))).any(|missing| missing == key)
        };
        let with = |extra: &(String, Value)| others.clone().into_iter().chain([extra.clone()]).collect();
        is_missed(others.clone())
            && optional.iter().filter(|(other, _)| other != key).map(with).all(is_missed)
    }
}

/// Returns the form of a value that was read, and values to try for it.
fn scalar(asked: Asked) -> Option<(ValueForm, Vec<Value>)> {
    Some(match asked {
        Asked::Number(need) => (
            ValueForm::Number(need),
            NUMBERS.into_iter().filter(|&x| need.accepts(x)).map(Value::from).collect(),
        ),
        Asked::Whole { least, most } => {
            let fits = |whole: &i64| u64::try_from(*whole).is_ok_and(|whole| (least..=most).contains(&whole));
            (ValueForm::Whole(least, most), WHOLES.into_iter().filter(fits).map(Value::from).collect())
        }
        Asked::Text => (ValueForm::Text, TEXTS.map(Value::from).to_vec()),
        Asked::Word(words) => (ValueForm::Word(words), words.iter().map(|&word| Value::from(word)).collect()),
        Asked::Boolean => (ValueForm::Boolean, vec![true.into(), false.into()]),
        _ => return None,
    })
}

/// Returns the keys that a reading missed in the table that was listened to.
fn missing(trace: &Trace) -> impl Iterator<Item = &'static str> {
    trace.asked.iter().filter_map(|asked| match asked {
        Asked::Missing(key) => Some(*key),
        _ => None,
    })
}

/// Returns keys with sample values that differ from those in `table`, words last: the meaning of a word may depend on other keys.
fn company(found: &[FoundKey], table: &Table) -> Vec<(String, Value)> {
    let with = |known: &FoundKey| {
        let key = known.entry.key;
        let others = known.samples.iter().filter(move |sample| table.get(key) != Some(*sample));
        others.map(|sample| (key.to_owned(), sample.clone())).collect::<Vec<_>>()
    };
    let mut company: Vec<_> = found.iter().flat_map(with).collect();
    company.sort_by_key(|(_, sample)| sample.is_str());
    company
}

/// Changes all floating-point numbers.
fn scale(value: &mut Value) {
    match value {
        Value::Float(number) => *number *= 1.25,
        Value::Array(list) => list.iter_mut().for_each(scale),
        Value::Table(table) => table.iter_mut().for_each(|(_, value)| scale(value)),
        _ => {}
    }
}

/// Returns the default that a reading took for a missing key.
fn filled(trace: &Trace, path: &[Step], key: &str) -> Option<serde_json::Value> {
    let is_it = |at: &[Step]| {
        at.split_last()
            .is_some_and(|(last, before)| before == path && matches!(last, Step::Key(last) if **last == *key))
    };
    let filled = trace.filled.iter().find(|filled| is_it(&filled.path))?;
    let document: Table = format!("value = {}", filled.value).parse().ok()?;
    serde_json::to_value(document.get("value")?).ok()
}

/// Returns the elements of the list at a path.
fn elements(document: &Table, path: &[Step]) -> Vec<Value> {
    let start = Value::Table(document.clone());
    let found = path.iter().try_fold(&start, |value, step| match step {
        Step::Key(key) => value.get(&**key),
        Step::Index(index) => value.get(index),
    });
    found.and_then(Value::as_array).cloned().unwrap_or_default()
}

/// Puts a value at a path; an index beyond the end of a list extends the list.
fn insert(document: &mut Table, path: &[Step], value: Value) {
    let Some((Step::Key(first), rest)) = path.split_first() else { return };
    let mut place = document.entry(&**first).or_insert(Value::Table(Table::new()));
    for step in rest {
        place = match step {
            Step::Key(key) => {
                if !place.is_table() {
                    *place = Value::Table(Table::new());
                }
                let Value::Table(table) = place else { return };
                table.entry(&**key).or_insert(Value::Table(Table::new()))
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
