//! Mistakes in a scenario, all of them at once, each with its place in the file.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::keys::key_at;
use crate::error::printable;

/// Text in which mistakes are found, with the name of its file.
#[derive(Debug)]
pub struct SourceText {
    /// Name of the file.
    pub name: String,
    /// The text, made safe to be printed.
    pub text: String,
}

impl SourceText {
    /// Creates a source from a name and a text.
    pub fn new(name: &str, text: &str) -> Arc<SourceText> {
        Arc::new(SourceText { name: printable(name).into_owned(), text: printable(text).into_owned() })
    }
}

/// One mistake in a scenario.
#[derive(Debug, Clone)]
pub struct Problem {
    message: String,
    help: Option<String>,
    origin: String,
    place: Option<TextSpan>,
}

/// Place in a text.
#[derive(Debug, Clone)]
struct TextSpan {
    source: Arc<SourceText>,
    span: Range<usize>,
}

impl Problem {
    /// Creates a mistake at a place of a text.
    pub fn at(source: &Arc<SourceText>, span: Range<usize>, message: impl Into<String>) -> Problem {
        let text = source.text.as_str();
        let start = floor_char_boundary(text, span.start);
        let end = floor_char_boundary(text, span.end.max(start));
        let place = TextSpan { source: Arc::clone(source), span: start..end };
        Problem { place: Some(place), ..Problem::of(source.name.as_str(), message) }
    }

    /// Creates a mistake without a place in a text, such as a file that cannot be read or an override.
    pub fn of(origin: impl Into<String>, message: impl Into<String>) -> Problem {
        let shown = |text: String| printable(&text).into_owned();
        Problem { message: shown(message.into()), help: None, origin: shown(origin.into()), place: None }
    }

    /// Adds to the message.
    pub fn add(&mut self, words: &str) {
        self.message.push_str(&printable(words));
    }

    /// Adds advice on how to correct the mistake.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(printable(&help.into()).into_owned());
        self
    }

    /// Message: what is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Advice on how to correct the mistake.
    pub fn advice(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// Text with the mistake, and the byte range in it; `None` if the mistake has no place in a text.
    pub fn place(&self) -> Option<(&SourceText, Range<usize>)> {
        self.place.as_ref().map(|place| (place.source.as_ref(), place.span.clone()))
    }

    /// Line and column, counted from 1; `None` if the mistake has no place in a text.
    pub fn position(&self) -> Option<(usize, usize)> {
        let TextSpan { source, span } = self.place.as_ref()?;
        let before = &source.text[..span.start];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Some((before.matches('\n').count() + 1, before[line_start..].chars().count() + 1))
    }

    /// Path of the faulty value, as in `--set`, for callers that wrote the values without a text. Empty for the file as a whole; `None` if
    /// the mistake has no place in a text.
    pub fn key(&self) -> Option<String> {
        let TextSpan { source, span } = self.place.as_ref()?;
        Some(key_at(&source.text, span))
    }

    /// The mistake on one line: `file:line:column: message (help)`.
    pub fn line(&self) -> String {
        let place = self.position().map_or(String::new(), |(line, column)| format!(":{line}:{column}"));
        let help = self.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        format!("{}{place}: {}{help}", self.origin, self.message)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(_) => f.write_str(&self.message),
            None => write!(f, "{}: {}", self.origin, self.message),
        }
    }
}

impl std::error::Error for Problem {}

/// Number of mistakes that are listed; the rest are counted. The limit bounds the cost: the report of one mistake reads the whole file.
const TOLD: usize = 100;

/// All mistakes in a scenario, the first hundred listed; never empty.
///
/// `Display` writes one line of plain text per mistake.
#[derive(Debug, Clone)]
pub struct Problems {
    headline: String,
    list: Vec<Problem>,
}

impl Problems {
    pub(crate) fn new(origin: &str, mut list: Vec<Problem>) -> Problems {
        let plural = if list.len() == 1 { "" } else { "s" };
        let rest = match list.len().checked_sub(TOLD) {
            None | Some(0) => String::new(),
            Some(more) => format!("; the first {TOLD}, without {more} more"),
        };
        let headline = format!("{}: {} problem{plural}{rest}", printable(origin), list.len());
        list.truncate(TOLD);
        Problems { headline, list }
    }

    /// The mistakes, in the order of the file; at most a hundred.
    pub fn list(&self) -> &[Problem] {
        &self.list
    }

    /// Headline: the name of the file and the number of mistakes.
    pub fn headline(&self) -> &str {
        &self.headline
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline)?;
        self.list.iter().try_for_each(|problem| write!(f, "\n{}", problem.line()))
    }
}

impl std::error::Error for Problems {}

/// Returns the last character boundary at or before `index`.
fn floor_char_boundary(text: &str, index: usize) -> usize {
    let index = index.min(text.len());
    (0..=index).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Arc<SourceText> {
        SourceText::new("heap.toml", text)
    }

    #[test]
    fn of_very_many_mistakes_a_hundred_are_told_and_the_rest_counted() {
        let source = source(&"x\n".repeat(20_000));
        let all = (0..20_000).map(|line| Problem::at(&source, 2 * line..2 * line + 1, "bad")).collect();
        let problems = Problems::new("heap.toml", all);
        assert_eq!(problems.list().len(), 100);
        let first = problems.to_string().lines().take(2).collect::<Vec<_>>().join("|");
        assert_eq!(first, "heap.toml: 20000 problems; the first 100, without 19900 more|heap.toml:1:1: bad");
    }

    #[test]
    fn columns_count_characters_not_bytes() {
        let source = source("a = 1\nµµ = x\n");
        let problem = Problem::at(&source, 13..14, "bad").help("good");
        assert_eq!(problem.line(), "heap.toml:2:6: bad (good)");
    }

    #[test]
    fn a_span_beyond_the_text_or_inside_a_character_is_moved_into_it() {
        let source = source("µ");
        assert_eq!(Problem::at(&source, 1..90, "bad").position(), Some((1, 1)));
        assert_eq!(Problem::at(&source, 70..90, "bad").position(), Some((1, 2)));
    }
}
