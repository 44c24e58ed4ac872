//! JSON schema of a scenario.

use serde_json::{Map, Value, json};

use super::describe::description;
use super::explore::{KeyEntry, ValueForm};
use crate::scenario::file::read::Need;

/// Returns the schema of a file with these keys.
pub fn schema(entries: &[KeyEntry]) -> Value {
    let mut schema = table("", entries);
    schema.insert("$schema".to_owned(), "http://json-schema.org/draft-07/schema#".into());
    schema.insert("title".to_owned(), "esker scenario".into());
    schema.insert("description".to_owned(), "A scenario of esker, in SI units; angles end in `_deg`.".into());
    Value::Object(schema)
}

/// Returns the schema of a table that is the value of `owner`.
fn table(owner: &str, entries: &[KeyEntry]) -> Map<String, Value> {
    let property = |entry: &KeyEntry| (entry.key.to_owned(), Value::Object(property(owner, entry)));
    let required: Vec<&str> =
        entries.iter().filter(|entry| entry.is_required).map(|entry| entry.key).collect();
    let mut schema = Map::from_iter([
        ("type".to_owned(), "object".into()),
        ("properties".to_owned(), Value::Object(entries.iter().map(property).collect())),
        ("additionalProperties".to_owned(), false.into()),
    ]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema
}

fn property(owner: &str, entry: &KeyEntry) -> Map<String, Value> {
    let mut schema = any_of(entry.key, &entry.forms);
    if let Some(words) = description(owner, entry.key) {
        let of_value = schema.get("description").and_then(Value::as_str);
        let words = of_value.map_or(words.to_owned(), |value| format!("{words} ({value})"));
        schema.insert("description".to_owned(), words.into());
    }
    if let Some(default) = &entry.default {
        schema.insert("default".to_owned(), default.clone());
    }
    schema
}

/// Returns the schema of a value of `key` that may have any of these forms.
fn any_of(key: &str, forms: &[ValueForm]) -> Map<String, Value> {
    let mut schemas: Vec<Map<String, Value>> = forms.iter().flat_map(|form| schemas(key, form)).collect();
    match schemas.len() {
        1 => schemas.swap_remove(0),
        _ => Map::from_iter([("anyOf".to_owned(), schemas.into_iter().map(Value::Object).collect())]),
    }
}

/// Returns the schemas of a form, one of which must match.
fn schemas(key: &str, form: &ValueForm) -> Vec<Map<String, Value>> {
    let schema = match form {
        ValueForm::Number(need) => return vec![number(need)],
        ValueForm::Table(entries) => return vec![table(key, entries)],
        ValueForm::Tagged(kinds) => {
            return kinds.iter().map(|(kind, entries)| tagged(key, kind, entries)).collect();
        }
        ValueForm::Whole(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        ValueForm::Text => json!({ "type": "string" }),
        ValueForm::Word(words) => json!({ "enum": words }),
        ValueForm::Boolean => json!({ "type": "boolean" }),
        ValueForm::Vector => {
            json!({ "type": "array", "items": { "type": "number" }, "minItems": 3, "maxItems": 3 })
        }
        ValueForm::List(forms) => json!({ "type": "array", "items": any_of(key, forms) }),
        ValueForm::Named(forms) => json!({ "type": "object", "additionalProperties": any_of(key, forms) }),
    };
    schema.as_object().cloned().into_iter().collect()
}

/// Returns the schema of a table of this kind.
fn tagged(key: &str, kind: &str, entries: &[KeyEntry]) -> Map<String, Value> {
    let mut schema = table(key, entries);
    schema.insert("title".to_owned(), kind.into());
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("kind".to_owned(), json!({ "const": kind }));
    }
    let required = schema.entry("required").or_insert_with(|| Value::Array(Vec::new()));
    if let Some(required) = required.as_array_mut() {
        required.insert(0, "kind".into());
    }
    schema
}

/// Returns the schema of a number. It states the bounds zero and one; the description states all bounds in words.
fn number(need: &Need) -> Map<String, Value> {
    let mut schema = Map::from_iter([
        ("type".to_owned(), "number".into()),
        ("description".to_owned(), need.words().into()),
    ]);
    if !need.accepts(-f64::MIN_POSITIVE) {
        let bound = if need.accepts(0.0) { "minimum" } else { "exclusiveMinimum" };
        schema.insert(bound.to_owned(), 0.into());
    }
    if need.accepts(1.0) && !need.accepts(1.0 + f64::EPSILON) {
        schema.insert("maximum".to_owned(), 1.into());
    }
    schema
}
