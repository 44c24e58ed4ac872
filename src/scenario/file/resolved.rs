//! Resolved scenario: the scenario as it was run, with overrides applied and defaults written out.

use toml_edit::{DocumentMut, Item, Table, Value};

use super::keys::Step;
use super::overrides::{entry, replace, replace_value};
use super::read::Filled;

const HEADER: &str = concat!(
    "# Resolved by esker ",
    env!("CARGO_PKG_VERSION"),
    ": overrides applied, defaults written out.\n"
);

/// Writes the default values into the document and puts the version at its head.
pub fn resolve(mut document: DocumentMut, filled: &[Filled]) -> String {
    for Filled { path, value } in filled {
        fill_item(document.as_item_mut(), path, value);
    }
    let text = document.to_string();
    if text.starts_with("# Resolved by esker ") { text } else { format!("{HEADER}{text}") }
}

fn fill_item(item: &mut Item, path: &[Step], value: &Value) {
    match (item, path) {
        (item, []) => replace(item, value.clone()),
        (Item::Table(table), [Step::Key(key), rest @ ..]) => {
            let entry = table.entry(key).or_insert_with(|| match rest {
                [] => Item::Value(false.into()),
                _ => Item::Table(Table::new()),
            });
            fill_item(entry, rest, value);
        }
        (Item::ArrayOfTables(tables), [Step::Index(index), rest @ ..]) => {
            if let Some(table) = tables.get_mut(*index) {
                let mut inner = Item::Table(std::mem::take(table));
                fill_item(&mut inner, rest, value);
                *table = inner.into_table().unwrap_or_default();
            }
        }
        (Item::Value(inner), path) => fill_value(inner, path, value),
        _ => {}
    }
}

fn fill_value(target: &mut Value, path: &[Step], value: &Value) {
    match (target, path) {
        (target, []) => replace_value(target, value.clone()),
        (Value::InlineTable(table), [Step::Key(key), rest @ ..]) => {
            fill_value(entry(table, key, rest.is_empty()), rest, value);
        }
        (Value::Array(array), [Step::Index(index), rest @ ..]) => {
            if let Some(element) = array.get_mut(*index) {
                fill_value(element, rest, value);
            }
        }
        _ => {}
    }
}
