//! Descriptions of keys: the comments in the reference of the scenario file.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Text of the reference, as in the documentation of [`crate::scenario`].
const REFERENCE: &str = include_str!("../../reference.toml");

/// Returns the comment of a key in the table that is the value of `owner` (empty at the top of a file).
pub fn description(owner: &str, key: &str) -> Option<&'static str> {
    static COMMENTS: LazyLock<HashMap<(&str, &str), &str>> = LazyLock::new(|| comments(REFERENCE));
    COMMENTS.get(&(owner, key)).copied()
}

/// Comments of all keys and tables, by owner (the key whose value is the table) and key.
fn comments(reference: &str) -> HashMap<(&str, &str), &str> {
    let mut found = HashMap::new();
    let mut owners = vec![""];
    for line in reference.lines() {
        let (code, comment) = line.split_once("# ").unwrap_or((line, ""));
        let (code, comment) = (code.trim(), comment.trim());
        let key = if code.starts_with('[') {
            let path: Vec<&str> = code.trim_matches(['[', ']']).split('.').collect();
            // `[materials.pellet]` is an element of `materials`, `[output.pictures]` a key of `output`.
            owners = path.iter().rev().take(2).copied().collect();
            let (key, owner) = (owners[0], owners.get(1).copied().unwrap_or(""));
            (owner, key)
        } else if let Some((key, _)) = code.split_once('=') {
            (owners[0], key.trim())
        } else {
            continue;
        };
        if comment.is_empty() {
            continue;
        }
        found.entry(key).or_insert(comment);
        for owner in &owners[1..] {
            found.entry((owner, key.1)).or_insert(comment);
        }
    }
    found
}
