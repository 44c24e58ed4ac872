//! Lines of a script: continuations are joined, comments removed, and words keep their place in the file.

use std::ops::Range;

/// Character of a script and the byte at which it stands in its file. A character that stands for a variable has the place of its `$`.
pub type PlacedChar = (char, usize);

/// Word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptWord {
    /// The word, without its quotes.
    pub text: String,
    /// Its place in the file \[bytes\].
    pub span: Range<usize>,
}

/// Splits a script into commands. A line whose last character is `&` goes on in the next one; what follows a `#` outside of quotes is a
/// comment, to the end of the joined line, as LAMMPS reads it.
pub fn logical_lines(text: &str) -> Vec<Vec<PlacedChar>> {
    let mut lines = Vec::new();
    let mut open: Vec<PlacedChar> = Vec::new();
    let mut start = 0;
    for physical in text.split_inclusive('\n') {
        let line = physical.trim_end();
        let (kept, goes_on) = match line.strip_suffix('&') {
            Some(kept) => (kept, true),
            None => (line, false),
        };
        open.extend(kept.char_indices().map(|(at, c)| (c, start + at)));
        if goes_on {
            open.push((' ', start + kept.len()));
        } else {
            lines.push(without_comment(std::mem::take(&mut open)));
        }
        start += physical.len();
    }
    lines.push(without_comment(open));
    lines.retain(|line| line.iter().any(|(c, _)| !c.is_whitespace()));
    lines
}

fn without_comment(mut line: Vec<PlacedChar>) -> Vec<PlacedChar> {
    let mut quote = None;
    let end = line.iter().position(|&(c, _)| {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        c == '#' && quote.is_none()
    });
    line.truncate(end.unwrap_or(line.len()));
    line
}

/// Splits a line into words; a word in quotes may hold blanks.
///
/// # Errors
/// The place of a quote that is not closed.
pub fn words(line: &[PlacedChar]) -> Result<Vec<ScriptWord>, Range<usize>> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(&(c, first)) = line.get(at) {
        if c.is_whitespace() {
            at += 1;
            continue;
        }
        let triple = matches!(line[at..], [('"', _), ('"', _), ('"', _), ..]);
        let quotes = if triple { 3 } else { usize::from(c == '"' || c == '\'') };
        let is_end = |rest: &[PlacedChar]| match quotes {
            0 => rest[0].0.is_whitespace(),
            _ => rest.len() >= quotes && rest[..quotes].iter().all(|(other, _)| *other == c),
        };
        let begin = at + quotes;
        let end = (begin..line.len()).find(|&end| is_end(&line[end..]));
        let end = match end {
            Some(end) => end,
            None if quotes == 0 => line.len(),
            None => return Err(first..first + 1),
        };
        let last = line[(end + quotes).min(line.len()) - 1];
        words.push(ScriptWord {
            text: line[begin..end].iter().map(|(c, _)| *c).collect(),
            span: first..last.1 + last.0.len_utf8(),
        });
        at = end + quotes;
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<Vec<String>> {
        let of = |line: &Vec<PlacedChar>| {
            words(line).expect("closed").into_iter().map(|word| word.text).collect::<Vec<_>>()
        };
        logical_lines(text).iter().map(of).collect()
    }

    #[test]
    fn lines_are_joined_and_comments_end_the_joined_line() {
        let text = "run 5 # five\n\n fix a all &  \n\tnve/sphere\nprint \"a # b\" 'c d'\nrun 1 # no & \nrun 2\nrun 3 # on &\nrun 4";
        let expected = [
            vec!["run", "5"],
            vec!["fix", "a", "all", "nve/sphere"],
            vec!["print", "a # b", "c d"],
            vec!["run", "1"],
            vec!["run", "3"],
        ];
        assert_eq!(texts(text), expected, "a comment that ends in `&` takes the next line along");
    }

    #[test]
    fn a_word_keeps_its_place_in_the_file() {
        let text = "region µ block &\n 0 1";
        let line = &logical_lines(text)[0];
        let places: Vec<&str> =
            words(line).expect("closed").iter().map(|word| &text[word.span.clone()]).collect();
        assert_eq!(places, ["region", "µ", "block", "0", "1"]);
        assert_eq!(words(&logical_lines("print \"a")[0]), Err(6..7));
    }
}
