use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::schema;
use crate::scenario::file::trace;

static SCHEMA: LazyLock<Value> = LazyLock::new(schema);

static COMPILED: LazyLock<(boon::Schemas, boon::SchemaIndex)> = LazyLock::new(|| {
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.add_resource("schema.json", SCHEMA.clone()).expect("a schema");
    let index = compiler.compile("schema.json", &mut schemas).expect("a valid schema");
    (schemas, index)
});

/// What the schema says of a document that does not fit it.
fn refusal(document: &toml::Value) -> Option<String> {
    let (schemas, index) = &*COMPILED;
    schemas.validate(&as_json(document), *index).err().map(|error| format!("{error:#}"))
}

/// The document as JSON, which has no infinite numbers.
fn as_json(value: &toml::Value) -> Value {
    match value {
        toml::Value::Float(number) => json!(number.clamp(-f64::MAX, f64::MAX)),
        toml::Value::Array(list) => list.iter().map(as_json).collect(),
        toml::Value::Table(table) => {
            Value::Object(table.iter().map(|(key, value)| (key.clone(), as_json(value))).collect())
        }
        other => serde_json::to_value(other).expect("as it stands"),
    }
}

/// All scenarios that are shipped: files with a `duration`.
fn shipped() -> Vec<(PathBuf, toml::Value)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "toml") {
                let table: toml::Table = fs::read_to_string(&entry).expect("a text").parse().expect("TOML");
                if table.contains_key("duration") {
                    found.push((entry, toml::Value::Table(table)));
                }
            }
        }
    }
    assert!(found.len() > 20, "only {} scenarios", found.len());
    found
}

#[test]
fn every_shipped_scenario_fits_the_schema() {
    for (file, document) in shipped() {
        assert_eq!(refusal(&document), None, "{}", file.display());
    }
}

#[test]
fn the_reference_of_the_file_fits_the_schema() {
    let reference: toml::Table = include_str!("../../reference.toml").parse().expect("TOML");
    assert_eq!(refusal(&toml::Value::Table(reference)), None);
}

/// Every value within a document, as a path.
fn places(value: &toml::Value, path: &str, found: &mut Vec<String>) {
    if !path.is_empty() {
        found.push(path.to_owned());
    }
    let entries: Vec<(String, &toml::Value)> = match value {
        toml::Value::Table(table) => table.iter().map(|(key, value)| (key.clone(), value)).collect(),
        toml::Value::Array(list) => list.iter().take(1).map(|value| ("0".to_owned(), value)).collect(),
        _ => Vec::new(),
    };
    for (key, value) in entries {
        places(value, &format!("{path}/{key}"), found);
    }
}

fn at<'v>(document: &'v mut toml::Value, path: &str) -> &'v mut toml::Value {
    path.split('/').skip(1).fold(document, |value, step| match value {
        toml::Value::Table(table) => table.get_mut(step).expect("a key"),
        toml::Value::Array(list) => &mut list[step.parse::<usize>().expect("an index")],
        _ => panic!("{path} goes into a plain value"),
    })
}

/// The words of the reader for what the schema can see as well.
fn is_of_form(message: &str) -> bool {
    message.starts_with("unknown key")
        || message.contains(", expected ")
        || message.contains("which is unknown")
}

/// Mistakes of form that the reader finds in a document.
fn mistakes(document: &toml::Value) -> Vec<String> {
    let text = document.as_table().expect("a table").to_string();
    let problems = trace(&text, Path::new("scenarios"), &[]).problems;
    problems
        .iter()
        .map(|problem| problem.message().to_owned())
        .filter(|message| is_of_form(message))
        .collect()
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    // Scenes that are read quickly.
    let texts = [
        ("reference", include_str!("../../reference.toml")),
        ("box_at_rest", include_str!("../../../../scenarios/box_at_rest.toml")),
        ("hopper", include_str!("../../../../scenarios/hopper.toml")),
        ("convergence_column", include_str!("../../../../scenarios/convergence_column.toml")),
    ];
    let (mut judged, mut seen) = (0, HashSet::new());
    for (file, text) in texts {
        let right = toml::Value::Table(text.parse().expect("TOML"));
        let mut all = Vec::new();
        places(&right, "", &mut all);
        for path in all.into_iter().filter(|path| seen.insert(path.clone())) {
            // A date is read nowhere, and no key is called so.
            let mut wrong = right.clone();
            *at(&mut wrong, &path) = "1979-05-27".parse::<toml::value::Datetime>().expect("a date").into();
            judged += usize::from(judge(&wrong, &format!("{file} with a date at {path}")));
            let mut wrong = right.clone();
            if let toml::Value::Table(table) = at(&mut wrong, &path) {
                table.insert("stranger".to_owned(), true.into());
                judged += usize::from(judge(&wrong, &format!("{file} with a key in {path}")));
            }
        }
    }
    assert!(judged > 200, "only {judged} mistakes were judged");
}

/// Whether the reader finds a mistake of form, which the schema then has to find, too.
fn judge(document: &toml::Value, what: &str) -> bool {
    let found = mistakes(document);
    let refused = refusal(document);
    assert!(found.is_empty() || refused.is_some(), "{what}: the reader says {found:?}");
    !found.is_empty()
}

#[test]
fn every_key_has_a_form() {
    fn look(value: &Value, path: &str) {
        let Some(map) = value.as_object() else { return };
        assert_ne!(map.get("anyOf"), Some(&json!([])), "{path} may be nothing");
        for (key, value) in map {
            look(value, &format!("{path}/{key}"));
            value
                .as_array()
                .into_iter()
                .flatten()
                .enumerate()
                .for_each(|(i, value)| look(value, &format!("{path}/{key}/{i}")));
        }
    }
    look(&SCHEMA, "");
}

#[test]
fn the_scenario_that_is_explored_is_right() {
    let problems = trace(include_str!("base.toml"), Path::new(""), &[]).problems;
    assert!(problems.is_empty(), "{problems:?}");
}
