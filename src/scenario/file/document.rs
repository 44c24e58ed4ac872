//! Text of a file: reading, parsing and application of overrides.

use std::path::Path;
use std::sync::Arc;

use toml::de::DeTable;
use toml_edit::DocumentMut;

use super::overrides;
use super::problems::{Problem, Problems, SourceText};
use super::read::{ReadReport, Table};
use crate::files;

/// Reads a file with `read` and returns its result, or all mistakes in the file. `read` may add mistakes that are in other files.
pub(super) fn read_file<T>(
    path: &Path,
    kind: FileKind,
    read: impl FnOnce(Table<'_>, &mut Vec<Problem>) -> Option<T>,
) -> Result<T, Problems> {
    let shown = path.display().to_string();
    let fail = |problems| Problems::new(&shown, problems);
    let text = read_text(path, &shown).map_err(|problem| fail(vec![problem]))?;
    let source = SourceText::new(&shown, &text);
    let tree = parse_tree(&source, &text).map_err(fail)?;
    kind.check(&source, tree.get_ref()).map_err(fail)?;
    let report = ReadReport::new(source);
    let mut elsewhere = Vec::new();
    let value = read(Table::new(&report, 0..0, Vec::new(), tree.get_ref()), &mut elsewhere);
    let (mut problems, _) = report.finish();
    problems.append(&mut elsewhere);
    value.filter(|_| problems.is_empty()).ok_or_else(|| fail(problems))
}

/// Reads the text of a file, or reports why that fails.
pub(super) fn read_text(path: &Path, shown: &str) -> Result<String, Problem> {
    let cannot = |error: std::io::Error| {
        let own = path.join("scenario.toml");
        let help = match error.kind() {
            std::io::ErrorKind::NotFound => "check the path of the scenario file".to_owned(),
            _ if own.is_file() => {
                format!("its scenario is {}; `esker view` and `esker render` take the folder", own.display())
            }
            _ => "expected a scenario, a text file; many grains belong into a CSV file".to_owned(),
        };
        Problem::of(shown, format!("cannot be read: {error}")).help(help)
    };
    let bytes = files::read_bytes(path, files::LARGEST_TEXT).map_err(cannot)?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let byte = error.as_bytes()[good];
        let before = String::from_utf8_lossy(&error.as_bytes()[..good]).into_owned();
        let source = SourceText::new(shown, &before);
        Problem::at(&source, good..good, format!("not a text file: byte 0x{byte:02x} is not UTF-8"))
            .help("a scenario is a TOML file in UTF-8")
    })
}

/// Parses a text into an editable document and applies the overrides; defaults are later filled into the same document.
pub(super) fn parse_document(
    shown: &str,
    text: &str,
    overrides: &[String],
) -> Result<DocumentMut, Vec<Problem>> {
    let source = SourceText::new(shown, text);
    parse_tree(&source, text)?;
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| vec![syntax(&source, error.span(), error.message())])?;
    overrides::apply(&mut document, overrides)?;
    Ok(document)
}

/// Returns the parsed text with the place of every value, or all its syntax errors.
pub(super) fn parse_tree<'a>(
    source: &Arc<SourceText>,
    text: &'a str,
) -> Result<toml::Spanned<DeTable<'a>>, Vec<Problem>> {
    let (tree, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(tree);
    }
    if let Some(problem) = no_toml(source, text, errors.len()) {
        return Err(vec![problem]);
    }
    let mut errors: Vec<_> = errors.iter().collect();
    // The parser tells them by kind.
    errors.sort_by_key(|error| error.span().map_or(0, |span| span.start));
    let mut problems = Vec::new();
    // End of the last table that is there twice: that its keys are, too, follows.
    let mut double = 0;
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        if error.message() != DUPLICATE {
            problems.push(syntax(source, Some(span), error.message()));
        } else if span.start >= double {
            double = end_of_table(text, span.start);
            problems.push(twice(source, text, span));
        }
    }
    Err(problems)
}

/// Number of syntax errors that are told one by one in any text.
const FEW: usize = 3;

/// Message of the parser for a key or a table that is there twice.
const DUPLICATE: &str = "duplicate key";

/// End of the table at whose heading a byte is; the byte itself where it is at no heading.
fn end_of_table(text: &str, at: usize) -> usize {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    if !text[line..at].trim_start().starts_with('[') {
        return at;
    }
    text[at..].find("\n[").map_or(text.len(), |length| at + length)
}

fn twice(source: &Arc<SourceText>, text: &str, span: std::ops::Range<usize>) -> Problem {
    let name = text.get(span.clone()).unwrap_or_default().to_owned();
    Problem::at(source, span, format!("not valid TOML: {DUPLICATE}: `{name}` is there twice"))
        .help("leave one out, or join the two; elements of a list have two brackets, [[...]]")
}

/// The one mistake of a text that is of another kind altogether, such as XML, JSON or a table: no line of it is one of TOML.
fn no_toml(source: &Arc<SourceText>, text: &str, errors: usize) -> Option<Problem> {
    let is_content = |line: &&str| !(line.trim().is_empty() || line.trim_start().starts_with('#'));
    let line = text.lines().find(is_content)?;
    let content = line.trim_start();
    let is_toml = |line: &str| line.contains('=') || line.trim_start().starts_with('[');
    let is_other = content.starts_with(['<', '{']) || (errors > FEW && !text.lines().any(is_toml));
    let start = line.as_ptr() as usize - text.as_ptr() as usize;
    let problem = Problem::at(source, start..start + line.len(), "not a TOML file: this is its first line");
    let help = "expected a scenario, a study or a suite: lines of `key = value` under [table]; results are looked at by their folder";
    is_other.then(|| problem.help(help))
}

/// Kinds of files in TOML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Scenario,
    Study,
    Suite,
}

impl FileKind {
    /// Keys that files of this kind have, and no others.
    fn keys(self) -> &'static [&'static str] {
        match self {
            FileKind::Scenario => &["duration", "solver", "materials", "boundaries", "grains", "emitters"],
            FileKind::Study => &["scenario", "axes", "choices", "keep", "numbers", "finding", "plot"],
            FileKind::Suite => &["case"],
        }
    }

    /// Name, and the command that reads it.
    fn words(self) -> [&'static str; 2] {
        match self {
            FileKind::Scenario => ["a scenario", "`esker run` or `esker check`"],
            FileKind::Study => ["a study", "`esker study`"],
            FileKind::Suite => ["a suite of cases", "`esker validate`"],
        }
    }

    /// Refuses a file of another kind: one that has keys of that kind, and none of this one.
    ///
    /// # Errors
    /// The one mistake.
    pub fn check(self, source: &Arc<SourceText>, tree: &DeTable<'_>) -> Result<(), Vec<Problem>> {
        let has = |kind: FileKind| kind.keys().iter().any(|key| tree.contains_key(*key));
        let other = [FileKind::Scenario, FileKind::Study, FileKind::Suite]
            .into_iter()
            .find(|&kind| kind != self && has(kind));
        let Some(other) = other.filter(|_| !has(self)) else { return Ok(()) };
        let [[name, command], [wanted, _]] = [other.words(), self.words()];
        let message = format!("{} is {name}, expected {wanted}", source.name);
        Err(vec![Problem::at(source, 0..0, message).help(format!("{command} takes it"))])
    }
}

pub(super) fn syntax(
    source: &Arc<SourceText>,
    span: Option<std::ops::Range<usize>>,
    message: &str,
) -> Problem {
    let message = format!("not valid TOML: {}", message.replace('\n', ", "));
    Problem::at(source, span.unwrap_or(0..0), message)
        .help("a line is `key = value`, `[table]`, `[[list]]` or a # comment; strings are in quotes")
}
