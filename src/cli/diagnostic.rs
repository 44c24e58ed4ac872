//! Mistakes in a scenario, drawn into their lines of the file for a terminal.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};

use crate::scenario::{Problem, Problems, Source};

/// A report that draws every mistake into its lines of the file, under a short headline.
pub fn drawing(problems: Problems) -> miette::Report {
    // A file may be large: all mistakes in it share its text.
    let mut sources: BTreeMap<*const Source, Arc<NamedSource<String>>> = BTreeMap::new();
    let mut drawn = |problem: &Problem| {
        let source = problem.place().map(|(source, _)| {
            let named = || Arc::new(NamedSource::new(&source.name, source.text.clone()));
            Arc::clone(sources.entry(source).or_insert_with(named))
        });
        Drawn { problem: problem.clone(), source }
    };
    let list = problems.list().iter().map(&mut drawn).collect();
    miette::Report::new(Drawing { headline: problems.headline().to_owned(), list })
}

/// All mistakes, with only the headline as text, since the drawings say the rest.
#[derive(Debug)]
struct Drawing {
    headline: String,
    list: Vec<Drawn>,
}

/// One mistake.
#[derive(Debug)]
struct Drawn {
    problem: Problem,
    source: Option<Arc<NamedSource<String>>>,
}

impl fmt::Display for Drawing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline)
    }
}

impl std::error::Error for Drawing {}

impl Diagnostic for Drawing {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.list.iter().map(|drawn| drawn as &dyn Diagnostic)))
    }
}

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl std::error::Error for Drawn {}

impl Diagnostic for Drawn {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.problem.advice().map(|advice| Box::new(advice) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let (_, span) = self.problem.place()?;
        Some(Box::new(std::iter::once(LabeledSpan::underline(span))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_not_passed_on() {
        let source = Source::new("heap.toml", "a = 1 # \u{1b}[2J\r\nb\n");
        let report =
            format!("{:?}", drawing(Problems::new("x", vec![Problem::at(&source, 8..9, "a \u{7}bell")])));
        assert!(!report.contains(['\u{7}', '\r']) && !report.contains("\u{1b}[2J"), "{report:?}");
    }
}
