//! Differences between two scenarios, and which of them are allowed when an interrupted run is resumed.

use toml::Value;

use super::problems::{Problem, Problems};

/// Changed value of a scenario file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Path of the value, as in `--set`.
    pub key: String,
    /// Old value; `None` if the key is new.
    pub was: Option<String>,
    /// New value; `None` if the key was removed.
    pub is: Option<String>,
}

/// Keys (with all keys below them) that may change when a run is resumed, in addition to the paths of files. The state of a run does not
/// depend on them: the number of columns, the length of a step, bodies, sources and laws stay the same.
pub const MAY_CHANGE: [&str; 16] = [
    "title",
    "solver.iterations",
    "solver.tolerance",
    "solver.tolerance_kind",
    "solver.algorithm",
    "solver.acceleration",
    "solver.coarse_corrections",
    "solver.warm_start",
    "solver.impact_threshold",
    "solver.impact_iterations",
    "output.every",
    "output.pictures.every",
    "run.on_warning",
    "checkpoint",
    "start",
    "expect",
];

/// Returns the changes from one resolved scenario to another.
///
/// # Errors
/// All changes that are not allowed.
pub fn changes(was: &str, is: &str) -> Result<Vec<Change>, Problems> {
    let values = |text: &str| {
        let mut values = Vec::new();
        // Both texts were read before.
        if let Ok(table) = text.parse::<toml::Table>() {
            flatten("", &Value::Table(table), &mut values);
        }
        values
    };
    let (was, is) = (values(was), values(is));
    let find = |values: &[(String, String)], key: &str| {
        values.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    };
    let added = is.iter().filter(|(key, _)| find(&was, key).is_none());
    let keys = was.iter().chain(added).map(|(key, _)| key);
    let change = |key: &String| Change { key: key.clone(), was: find(&was, key), is: find(&is, key) };
    let changes: Vec<Change> = keys.map(change).filter(|change| change.was != change.is).collect();
    let refused = changes.iter().filter(|change| !change.is_allowed());
    let problems: Vec<Problem> = refused.enumerate().map(|(i, change)| refuse(change, i == 0)).collect();
    if problems.is_empty() { Ok(changes) } else { Err(Problems::new("--resume", problems)) }
}

impl Change {
    fn is_allowed(&self) -> bool {
        // The path of a file says nothing about its content, and the state contains the content.
        if self.key.ends_with(".file") {
            return true;
        }
        MAY_CHANGE.iter().any(|known| {
            let below = self.key.strip_prefix(known);
            below.is_some_and(|below| below.is_empty() || below.starts_with('.'))
        })
    }
}

fn refuse(change: &Change, is_first: bool) -> Problem {
    let word = |value: &Option<String>| value.clone().unwrap_or_else(|| "not there".to_owned());
    let message = format!("was {} at the checkpoint and is {}", word(&change.was), word(&change.is));
    let help = match change.key.as_str() {
        "duration" => "set it back; --until T ends a run before its duration or beyond".to_owned(),
        _ if is_first => format!(
            "set it back; a run that goes on may change {}. For all else, let [start] of a new scenario take the grains of the \
             checkpoint",
            MAY_CHANGE.join(", ")
        ),
        _ => "set it back".to_owned(),
    };
    Problem::of(&change.key, message).help(help)
}

/// Collects all values with their paths.
fn flatten(path: &str, value: &Value, into: &mut Vec<(String, String)>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Table(table) => table.iter().for_each(|(key, value)| flatten(&below(key), value, into)),
        Value::Array(list) if list.iter().any(Value::is_table) => {
            list.iter().enumerate().for_each(|(i, value)| flatten(&below(&i.to_string()), value, into));
        }
        value => into.push((path.to_owned(), written(value))),
    }
}

/// Writes a value such that `1` and `1.0` are the same number.
fn written(value: &Value) -> String {
    match value {
        Value::Integer(number) => written(&Value::Float(*number as f64)),
        Value::Float(number) => number.to_string(),
        Value::Array(list) => format!("[{}]", list.iter().map(written).collect::<Vec<_>>().join(", ")),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_change_is_told_and_the_rest_refused_with_both_values() {
        let was = "title = \"a\"\nduration = 1.0\n[solver]\niterations = 20\n[[grains]]\nmaterial = \"x\"\n";
        let is = was.replace("20", "30").replace("\"a\"", "\"b\"");
        let found = changes(was, &is).expect("allowed");
        let told = |change: &Change| (change.key.clone(), change.was.clone(), change.is.clone());
        let iterations = ("solver.iterations".to_owned(), Some("20".to_owned()), Some("30".to_owned()));
        assert!(found.len() == 2 && found.iter().map(told).any(|change| change == iterations), "{found:?}");
        let is = format!("{}[output]\nformats = [\"csv\"]\n", was.replace("\"x\"", "\"y\""));
        let text = changes(was, &is).expect_err("two of them may not").to_string();
        assert!(text.contains("grains.0.material") && text.contains("output.formats"), "{text}");
        assert_eq!(changes(was, was).expect("the same"), []);
        let equal = was.replace("duration = 1.0", "duration = 1").replace("20", "20.0");
        assert_eq!(changes(was, &equal).expect("the same numbers"), []);
        let longer = changes(was, &was.replace("1.0", "2.0")).expect_err("another end").to_string();
        assert!(longer.contains("--until"), "{longer}");
    }
}
