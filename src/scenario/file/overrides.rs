//! Overrides, `--set path=value`: changes to the text of a scenario before it is read.

use toml_edit::{DocumentMut, InlineTable, Item, Key, Table, Value};

use super::problems::Problem;

/// Applies overrides such as `solver.iterations=100` or `grains.0.packing.count=50` to a document.
///
/// # Errors
/// One problem per override that is not `path=value` or whose path cannot be in a scenario.
pub fn apply(document: &mut DocumentMut, overrides: &[String]) -> Result<(), Vec<Problem>> {
    let problems: Vec<Problem> =
        overrides.iter().filter_map(|change| apply_one(document, change).err()).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn apply_one(document: &mut DocumentMut, change: &str) -> Result<(), Problem> {
    let problem = |message: String, help: String| Problem::of(format!("--set {change}"), message).help(help);
    let (path, value) = change.split_once('=').ok_or_else(|| {
        problem("expected path=value".into(), "for example --set solver.iterations=100".into())
    })?;
    let keys = Key::parse(path.trim()).map_err(|_| {
        problem(
            format!("`{path}` is not a path"),
            "separate keys by dots and quote a key with other characters: expect.\"force_z:floor\".value"
                .into(),
        )
    })?;
    let value = parse_value(value.trim()).ok_or_else(|| {
        problem(
            format!("`{value}` is not a TOML value"),
            "a number, a word, [a, list] or { a = table }".into(),
        )
    })?;
    set(document.as_item_mut(), &keys, value).map_err(|(message, help)| problem(message, help))
}

/// Parses a TOML value; a bare word is a string.
fn parse_value(text: &str) -> Option<Value> {
    let is_bare = |c: char| c.is_alphanumeric() || "_-./+ :".contains(c);
    match text.parse::<Value>() {
        Ok(value) => Some(value),
        Err(_) if !text.is_empty() && text.chars().all(is_bare) => Some(text.into()),
        Err(_) => None,
    }
}

type Refused = (String, String);

fn set(item: &mut Item, keys: &[Key], value: Value) -> Result<(), Refused> {
    let Some((key, rest)) = keys.split_first() else {
        replace(item, value);
        return Ok(());
    };
    let name = key.get();
    match item {
        Item::Value(inner) => set_in_value(inner, name, rest, value),
        Item::ArrayOfTables(tables) => {
            let count = tables.len();
            let table = tables.get_mut(index(name, count)?).ok_or_else(|| range(name, count))?;
            let mut inner = Item::Table(std::mem::take(table));
            let result = set(&mut inner, rest, value);
            match inner.into_table() {
                Ok(changed) => *table = changed,
                Err(_) => return Err((format!("`{name}` is a table of its list"), "set a key in it".into())),
            }
            result
        }
        Item::Table(table) => set(table.entry(name).or_insert_with(|| blank(rest)), rest, value),
        Item::None => Err((format!("there is no `{name}`"), "check the path".into())),
    }
}

/// Creates the item at a path that does not exist yet.
fn blank(rest: &[Key]) -> Item {
    if rest.is_empty() {
        return Item::Value(false.into());
    }
    let mut table = Table::new();
    table.set_implicit(rest.len() > 1);
    Item::Table(table)
}

fn set_in_value(inner: &mut Value, name: &str, rest: &[Key], value: Value) -> Result<(), Refused> {
    match inner {
        Value::InlineTable(table) => set_value(entry(table, name, rest.is_empty()), rest, value),
        Value::Array(array) => {
            let count = array.len();
            let element = array.get_mut(index(name, count)?).ok_or_else(|| range(name, count))?;
            set_value(element, rest, value)
        }
        other => Err((
            format!("a {} has no `{name}`", other.type_name()),
            "shorten the path, or set the whole value".into(),
        )),
    }
}

fn set_value(target: &mut Value, keys: &[Key], value: Value) -> Result<(), Refused> {
    match keys.split_first() {
        Some((key, rest)) => set_in_value(target, key.get(), rest, value),
        None => {
            replace_value(target, value);
            Ok(())
        }
    }
}

/// Replaces an item by a value and keeps the comment behind it.
pub fn replace(item: &mut Item, value: Value) {
    match item {
        Item::Value(old) => replace_value(old, value),
        _ => *item = Item::Value(value),
    }
}

/// Replaces a value by another and keeps the spaces and comments around it.
pub fn replace_value(old: &mut Value, value: Value) {
    let decor = old.decor().clone();
    *old = value;
    *old.decor_mut() = decor;
}

/// Returns the value of a key of an inline table. A missing key is added: as an empty table, or, at the end of the path, as a placeholder
/// to be replaced.
pub fn entry<'a>(table: &'a mut InlineTable, key: &str, is_last: bool) -> &'a mut Value {
    if !table.contains_key(key) {
        let blank = |suffix: Option<&toml_edit::RawString>| {
            suffix.and_then(|raw| raw.as_str()).is_some_and(|text| text.trim().is_empty())
        };
        if let Some((_, last)) = table.iter_mut().last().filter(|(_, last)| blank(last.decor().suffix())) {
            last.decor_mut().set_suffix("");
        }
    }
    let new = || if is_last { Value::from(false) } else { InlineTable::new().into() };
    table.entry(key).or_insert_with(new)
}

fn index(name: &str, count: usize) -> Result<usize, Refused> {
    name.parse()
        .map_err(|_| (format!("`{name}` is not an index into a list of {count}"), "count from 0".into()))
}

fn range(name: &str, count: usize) -> Refused {
    (format!("index {name} is out of range: the list has {count}"), "count from 0".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "duration = 1.0 # s\n\n[[grains]]\npacking = { kind = \"column\", base = [0, 0, 0] }\n";

    fn changed(overrides: &[&str]) -> Result<String, Vec<Problem>> {
        let mut document: DocumentMut = TEXT.parse().expect("valid");
        let overrides: Vec<String> = overrides.iter().map(|&change| change.to_owned()).collect();
        apply(&mut document, &overrides).map(|()| document.to_string())
    }

    #[test]
    fn an_override_reaches_into_lists_and_inline_tables_and_keeps_comments() {
        let text = changed(&[
            "duration=2.5",
            "grains.0.packing.count=50",
            "grains.0.packing.base.2=0.1",
            "solver.warm_start=history",
        ]);
        let text = text.expect("possible");
        assert!(text.contains("duration = 2.5 # s"), "{text}");
        assert!(text.contains("count = 50") && text.contains("0.1]"), "{text}");
        assert!(text.contains("[solver]\nwarm_start = \"history\""), "{text}");
    }

    #[test]
    fn an_impossible_path_is_refused_with_the_reason() {
        for (change, reason) in [
            ("grains.3.packing.count=50", "out of range: the list has 1"),
            ("grains.first.count=50", "not an index into a list of 1"),
            ("duration.x=1", "a float has no `x`"),
            ("duration", "expected path=value"),
            ("duration=[1", "not a TOML value"),
            ("=1", "is not a path"),
            ("grains.0=1", "set a key in it"),
        ] {
            let problems = changed(&[change]).expect_err(change);
            assert!(problems[0].line().contains(reason), "{}", problems[0].line());
        }
    }
}
