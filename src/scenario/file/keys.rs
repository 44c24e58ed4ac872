//! Paths of the values of a file, and the map from a place in a text to the path of the value there.

use std::ops::Range;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

/// Step of a path: from a value of the file to a value within it.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Key of a table. Paths of values within share it.
    Key(Arc<str>),
    /// Index into a list, from 0.
    Index(usize),
}

/// Writes a path as in `--set`: `grains.0.packing.count`.
pub fn dotted(path: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Key(key) => key.to_string(),
        Step::Index(index) => index.to_string(),
    };
    path.iter().map(step).collect::<Vec<_>>().join(".")
}

/// Returns the path, as in `--set`, of the innermost value whose key or text covers a place. The path is empty if no value does, and for a
/// place without length, which marks something that is missing.
pub fn key_at(text: &str, place: &Range<usize>) -> String {
    if place.is_empty() {
        return String::new();
    }
    let (tree, _) = DeTable::parse_recoverable(text);
    let (mut path, mut best) = (Vec::new(), Found { path: Vec::new(), length: usize::MAX });
    best.search_table(tree.get_ref(), place, &mut path);
    dotted(&best.path)
}

/// Shortest piece of text so far that covers the place.
struct Found {
    path: Vec<Step>,
    length: usize,
}

impl Found {
    fn search_table(&mut self, table: &DeTable<'_>, place: &Range<usize>, path: &mut Vec<Step>) {
        for (key, value) in table {
            path.push(Step::Key(Arc::from(key.get_ref().as_ref())));
            self.consider(key.span(), place, path);
            self.search(value, place, path);
            path.pop();
        }
    }

    fn search(&mut self, value: &toml::Spanned<DeValue<'_>>, place: &Range<usize>, path: &mut Vec<Step>) {
        self.consider(value.span(), place, path);
        match value.get_ref() {
            DeValue::Table(table) => self.search_table(table, place, path),
            DeValue::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    path.push(Step::Index(i));
                    self.search(item, place, path);
                    path.pop();
                }
            }
            _ => {}
        }
    }

    fn consider(&mut self, span: Range<usize>, place: &Range<usize>, path: &[Step]) {
        if span.start <= place.start && place.end <= span.end && span.len() <= self.length {
            (self.path, self.length) = (path.to_vec(), span.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_belongs_to_the_innermost_value_around_it() {
        let text = "duration = 1\n[solver]\nsteps = 2\n[[grains]]\npacking = { base = [0, 0, 7] }\n";
        let key = |piece: &str| {
            let start = text.find(piece).expect("a piece of the text");
            key_at(text, &(start..start + piece.len()))
        };
        assert_eq!(key("1"), "duration");
        assert_eq!(key("[solver]"), "solver");
        assert_eq!(key("steps"), "solver.steps");
        assert_eq!(key("7"), "grains.0.packing.base.2");
        assert_eq!(key("{ base = [0, 0, 7] }"), "grains.0.packing");
        assert_eq!(key("duration = 1\n[solver]"), "", "the file as a whole");
        assert_eq!(key_at(text, &(0..0)), "", "what is missing");
    }
}
