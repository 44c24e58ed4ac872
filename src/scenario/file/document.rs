//! Text of a file: reading, parsing and application of overrides.

use std::path::Path;
use std::sync::Arc;

use toml::de::DeTable;
use toml_edit::DocumentMut;

use super::overrides;
use super::problems::{Problem, Problems, Source};
use super::read::{Report, Table};
use crate::files;

/// Reads a file with `read` and returns its result, or all mistakes in the file. `read` may add mistakes that are in other files.
pub(super) fn read_file<T>(
    path: &Path,
    read: impl FnOnce(Table<'_>, &mut Vec<Problem>) -> Option<T>,
) -> Result<T, Problems> {
    let shown = path.display().to_string();
    let fail = |problems| Problems::new(&shown, problems);
    let text = read_text(path, &shown).map_err(|problem| fail(vec![problem]))?;
    let source = Source::new(&shown, &text);
    let tree = parse_tree(&source, &text).map_err(fail)?;
    let report = Report::new(source);
    let mut elsewhere = Vec::new();
    let value = read(Table::new(&report, 0..0, Vec::new(), tree.get_ref()), &mut elsewhere);
    let (mut problems, _) = report.finish();
    problems.append(&mut elsewhere);
    value.filter(|_| problems.is_empty()).ok_or_else(|| fail(problems))
}

/// Reads the text of a file, or reports why that fails.
pub(super) fn read_text(path: &Path, shown: &str) -> Result<String, Problem> {
    let cannot = |error: std::io::Error| {
        let help = match error.kind() {
            std::io::ErrorKind::NotFound => "check the path of the scenario file",
            _ => "expected a scenario, a text file; many grains belong into a CSV file",
        };
        Problem::of(shown, format!("cannot be read: {error}")).help(help)
    };
    let bytes = files::read_bytes(path, files::LARGEST_TEXT).map_err(cannot)?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let byte = error.as_bytes()[good];
        let before = String::from_utf8_lossy(&error.as_bytes()[..good]).into_owned();
        let source = Source::new(shown, &before);
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
    let source = Source::new(shown, text);
    parse_tree(&source, text)?;
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| vec![syntax(&source, error.span(), error.message())])?;
    overrides::apply(&mut document, overrides)?;
    Ok(document)
}

/// Returns the parsed text with the place of every value, or all its syntax errors.
pub(super) fn parse_tree<'a>(
    source: &Arc<Source>,
    text: &'a str,
) -> Result<toml::Spanned<DeTable<'a>>, Vec<Problem>> {
    let (tree, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(tree);
    }
    Err(errors.iter().map(|error| syntax(source, error.span(), error.message())).collect())
}

pub(super) fn syntax(source: &Arc<Source>, span: Option<std::ops::Range<usize>>, message: &str) -> Problem {
    let message = format!("not valid TOML: {}", message.replace('\n', ", "));
    Problem::at(source, span.unwrap_or(0..0), message)
        .help("a line is `key = value`, `[table]`, `[[list]]` or a # comment; strings are in quotes")
}
