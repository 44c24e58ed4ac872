//! Mistakes in a scenario, drawn into their lines of the file for a terminal.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use crate::scenario::{Problem, Problems};

/// Report that draws every mistake into its line of the file, under a short headline, with the colours of a terminal.
pub fn drawing(problems: &Problems) -> String {
    let headline = Level::ERROR.primary_title(problems.headline());
    let mut reports = vec![draw(Group::with_title(headline))];
    reports.extend(problems.list().iter().map(|problem| draw(group(problem, &problem.to_string()))));
    reports.join("\n\n")
}

fn draw(group: Group<'_>) -> String {
    Renderer::styled().render(&[group])
}

/// A mistake with its line and the advice on it.
fn group<'a>(problem: &'a Problem, message: &'a str) -> Group<'a> {
    let title = Level::ERROR.primary_title(message);
    let snippet = snippet(problem);
    let help = problem.advice().map(|advice| Level::HELP.message(advice));
    match (snippet, help) {
        (Some(snippet), Some(help)) => title.element(snippet).element(help),
        (Some(snippet), None) => title.element(snippet),
        (None, Some(help)) => title.element(help),
        (None, None) => Group::with_title(title),
    }
}

/// Lines of a mistake, without the rest of the file, which may be large.
fn snippet(problem: &Problem) -> Option<Snippet<'_, Annotation<'_>>> {
    let ((source, span), (line, _)) = problem.place().zip(problem.position())?;
    let text = &source.text;
    let start = text[..span.start].rfind('\n').map_or(0, |end| end + 1);
    let end = text[span.end..].find('\n').map_or(text.len(), |more| span.end + more);
    let here = span.start - start..span.end - start;
    let place = Snippet::source(&text[start..end]).line_start(line).path(&source.name);
    Some(place.annotation(AnnotationKind::Primary.span(here)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::SourceText;

    /// A report without its colours.
    fn plain(problems: Vec<Problem>) -> String {
        anstream::adapter::strip_str(&drawing(&Problems::new("heap.toml", problems))).to_string()
    }

    #[test]
    fn a_mistake_is_drawn_into_its_line() {
        let source = SourceText::new("heap.toml", "[solver]\nstep = 5\nsweeps = 20\n");
        let report = plain(vec![
            Problem::at(&source, 16..17, "`step` is 5").help("set it to less"),
            Problem::at(&source, 29..29, "nothing to simulate"),
        ]);
        let expected = "\
error: heap.toml: 2 problems

error: `step` is 5
 --> heap.toml:2:8
  |
2 | step = 5
  |        ^
  |
  = help: set it to less

error: nothing to simulate
 --> heap.toml:3:12
  |
3 | sweeps = 20
  |            ^";
        assert_eq!(report, expected, "{report}");
    }

    #[test]
    fn what_steers_a_terminal_is_not_passed_on() {
        let source = SourceText::new("heap.toml", "a = 1 # \u{1b}[2J\r\nb\n");
        let report = drawing(&Problems::new("x", vec![Problem::at(&source, 8..9, "a \u{7}bell")]));
        assert!(!report.contains(['\u{7}', '\r']) && !report.contains("\u{1b}[2J"), "{report:?}");
    }
}
