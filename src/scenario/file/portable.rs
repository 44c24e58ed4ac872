//! Scenario as the folder of its results keeps it: the files that it names are copied there, and named from there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use toml_edit::DocumentMut;

use crate::output::FILES;
use crate::scenario::Portable;

use super::keys::Step;
use super::read::{Filled, Plain as _};
use super::resolved::resolve;

/// Largest file that is copied: the largest mesh \[bytes\].
const LARGEST: u64 = 512 << 20;

/// Resolves a scenario whose values at the paths of `inputs` name these files. What is larger than [`LARGEST`], or no plain file, stays
/// where it is; the head of the text says so.
pub fn portable(document: DocumentMut, filled: &[Filled], inputs: &[(Vec<Step>, PathBuf)]) -> Portable {
    if inputs.is_empty() {
        return Portable::default();
    }
    let mut names = Names::default();
    let (mut filled, mut left) = (filled.to_vec(), String::new());
    for (path, file) in inputs {
        match is_copied(file) {
            true => {
                let value = format!("{FILES}/{}", names.of(file)).plain();
                filled.push(Filled { path: path.clone(), value });
            }
            false => {
                let shown = full(file).display().to_string().escape_debug().to_string();
                left += &format!("# Not copied, being too large or no plain file: {shown}\n");
            }
        }
    }
    let text = resolve(document, &filled);
    let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let left: String = left.split_inclusive('\n').filter(|line| !rest.contains(*line)).collect();
    Portable { text: Some(format!("{head}\n{left}{rest}")), files: names.files }
}

fn is_copied(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.is_file() && found.len() <= LARGEST)
}

fn full(file: &Path) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.to_owned())
}

/// Names of the copies: each file has one, however often it is named.
#[derive(Default)]
struct Names {
    /// Files and their names, in the order in which they are named first.
    files: Vec<(PathBuf, String)>,
    /// Number of files of a name, in small letters: some file systems do not distinguish them from capitals.
    taken: HashMap<String, usize>,
}

impl Names {
    fn of(&mut self, file: &Path) -> String {
        let file = full(file);
        if let Some((_, name)) = self.files.iter().find(|(known, _)| *known == file) {
            return name.clone();
        }
        let wanted = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut name = wanted.clone();
        while self.taken.contains_key(&name.to_lowercase()) {
            let count = self.taken.entry(wanted.to_lowercase()).or_default();
            *count += 1;
            name = numbered(&wanted, *count);
        }
        self.taken.insert(name.to_lowercase(), 1);
        self.files.push((file, name.clone()));
        name
    }
}

/// Name with a number before its extension: `wheel-2.stl`.
fn numbered(name: &str, number: usize) -> String {
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => format!("{stem}-{number}.{extension}"),
        _ => format!("{name}-{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_name_and_files_of_the_same_name_are_numbered() {
        let mut names = Names::default();
        let mut name = |file: &str| names.of(Path::new(file));
        assert_eq!(name("/a/wheel.stl"), "wheel.stl");
        assert_eq!(name("/b/Wheel.stl"), "Wheel-2.stl");
        assert_eq!(name("/a/wheel.stl"), "wheel.stl", "the same file");
        assert_eq!(name("/c/wheel-2.stl"), "wheel-2-2.stl");
        assert_eq!(name("/c/wheel.stl"), "wheel-3.stl");
        assert_eq!(name("/c/.grid"), ".grid");
        assert_eq!(name("/d/.grid"), ".grid-2");
    }
}
