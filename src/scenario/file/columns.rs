//! Tables of numbers in text files: which character separates the columns, and what they are called.
//!
//! Columns are separated by commas, semicolons, tabs or blanks; with semicolons and tabs a decimal comma is read as a point. The names are
//! in the first line, or in the comment before it, as NumPy (`# x y z r`) and YADE (`#format x_y_z_r`) write them.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{BufRead, BufReader, Read};

use super::no_text;

/// What separates the columns of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    Comma,
    Semicolon,
    Tab,
    /// Any number of blanks and tabs.
    Blanks,
}

impl Separator {
    /// Separator of a line of names.
    fn of_names(line: &str) -> Separator {
        let found = [(';', Separator::Semicolon), (',', Separator::Comma), ('\t', Separator::Tab)];
        let found = found.into_iter().find(|&(character, _)| line.contains(character));
        found.map_or(Separator::Blanks, |(_, separator)| separator)
    }

    /// Separator of a line of numbers; `None` if the line holds something else.
    fn of_numbers(line: &str) -> Option<Separator> {
        let all = [Separator::Semicolon, Separator::Tab, Separator::Comma, Separator::Blanks];
        let are_numbers = |separator: &Separator| {
            let fields = separator.split(line);
            fields.len() > 1 && fields.iter().all(|field| separator.number(field).is_some())
        };
        all.into_iter().find(are_numbers)
    }

    /// Fields of a line, without the quotes around them.
    fn split(self, line: &str) -> Vec<Cow<'_, str>> {
        let byte = match self {
            Separator::Comma => b',',
            Separator::Semicolon => b';',
            Separator::Tab => b'\t',
            Separator::Blanks => {
                return line.split_whitespace().map(|word| word.trim_matches('"').into()).collect();
            }
        };
        if !line.contains('"') {
            return line.split(char::from(byte)).map(|field| field.trim().into()).collect();
        }
        let mut builder = ::csv::ReaderBuilder::new();
        builder.has_headers(false).delimiter(byte).trim(::csv::Trim::All);
        let record = builder.from_reader(line.as_bytes()).into_records().next().and_then(Result::ok);
        let fields = record.unwrap_or_default();
        fields.iter().map(|field| field.to_owned().into()).collect()
    }

    /// Number in a field. Where no comma separates, it may be that of a decimal number.
    fn number(self, field: &str) -> Option<f64> {
        match self {
            Separator::Comma => field.parse().ok(),
            _ => field.replacen(',', ".", 1).parse().ok(),
        }
    }

    /// Name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Separator::Comma => "commas",
            Separator::Semicolon => "semicolons",
            Separator::Tab => "tabs",
            Separator::Blanks => "blanks",
        }
    }
}

/// A table of numbers, whose names of columns have been read.
pub struct Columns<R> {
    name: String,
    /// Names of the columns, as in the file.
    pub header: Vec<String>,
    /// What separates them.
    pub separator: Separator,
    /// Line of the names, from 1.
    pub line: u64,
    /// First line of numbers, if it was read to find the names.
    first: Option<String>,
    lines: Lines<R>,
}

/// A line of a table.
pub struct TableLine<'a> {
    /// Its number, from 1.
    pub line: u64,
    fields: Vec<Cow<'a, str>>,
    separator: Separator,
    /// Line with a decimal point, and line with a decimal comma; 0 for none so far.
    marks: &'a [Cell<u64>; 2],
}

impl TableLine<'_> {
    /// Text of a column.
    pub fn text(&self, column: usize) -> &str {
        self.fields.get(column).map_or("", AsRef::as_ref)
    }

    /// Number in a column; `what` is the name of the column in messages.
    ///
    /// # Errors
    /// When it is no finite number, or has a decimal comma where others have a decimal point.
    pub fn number(&self, column: usize, what: &str) -> Result<f64, String> {
        let text = self.text(column);
        let number = self.separator.number(text).filter(|number| number.is_finite());
        let number = number.ok_or_else(|| format!("{what} is \"{text}\", expected a finite number"))?;
        let [point, comma] = self.marks;
        for (mark, other, character) in [(point, comma, '.'), (comma, point, ',')] {
            if text.contains(character) {
                mark.set(self.line);
                if other.get() > 0 {
                    return Err(format!(
                        "{what} is \"{text}\", and line {} has the other decimal mark: write all with a point",
                        other.get()
                    ));
                }
            }
        }
        Ok(number)
    }
}

/// Lines of a file that are not empty, with their numbers.
struct Lines<R> {
    input: BufReader<R>,
    number: u64,
}

impl<R: Read> Lines<R> {
    /// Returns the next line, without a mark of the encoding and blanks around it.
    fn next(&mut self) -> std::io::Result<Option<String>> {
        loop {
            let mut bytes = Vec::new();
            self.input.read_until(b'\n', &mut bytes)?;
            if bytes.is_empty() {
                return Ok(None);
            }
            self.number += 1;
            let text = String::from_utf8_lossy(&bytes);
            let line = text.trim_start_matches('\u{feff}').trim_matches([' ', '\r', '\n']);
            if !line.trim().is_empty() {
                return Ok(Some(line.to_owned()));
            }
        }
    }
}

impl<R: Read> Columns<R> {
    /// Reads up to the names of the columns; `name` is that of the file in messages.
    ///
    /// # Errors
    /// When there are none, or two columns have the same name.
    pub fn open(input: R, name: &str) -> Result<Columns<R>, String> {
        let mut input = BufReader::new(input);
        let first = input.fill_buf().map_err(|error| format!("{name}: {error}"))?;
        if let Some(told) = no_text::told(first) {
            return Err(format!("{name} {told}"));
        }
        let mut lines = Lines { input, number: 0 };
        let mut comments = Comments::default();
        let line = loop {
            let line = lines.next().map_err(|error| format!("{name}: {error}"))?;
            let line = line.ok_or_else(|| format!("{name} holds no table: it has no line of numbers"))?;
            match line.trim_start().strip_prefix('#') {
                Some(words) => comments.add(lines.number, words.trim()),
                None => break line,
            }
        };
        if line.contains(['\0', '\u{fffd}']) {
            return Err(format!(
                "{name}:{}: is no text in UTF-8: save it as CSV in UTF-8; workbooks of spreadsheets and UTF-16 are not read",
                lines.number
            ));
        }
        let (header, at, separator, first) = match Separator::of_numbers(&line) {
            Some(separator) => {
                let count = separator.split(&line).len();
                let (at, header) =
                    comments.names(count).ok_or_else(|| nameless(name, lines.number, &line))?;
                (header, at, separator, Some(line))
            }
            None => {
                let separator = Separator::of_names(&line);
                let header = separator.split(&line).into_iter().map(Cow::into_owned).collect();
                (header, lines.number, separator, None)
            }
        };
        let columns = Columns { name: name.to_owned(), header, separator, line: at, first, lines };
        columns.check_names().map(|()| columns)
    }

    fn check_names(&self) -> Result<(), String> {
        for (i, title) in self.header.iter().enumerate().filter(|(_, title)| !title.is_empty()) {
            if self.header[..i].iter().any(|earlier| earlier.eq_ignore_ascii_case(title)) {
                return Err(format!("{}:{}: two columns are called `{title}`", self.name, self.line));
            }
        }
        Ok(())
    }

    /// Calls `each` for every line of numbers until it returns false; mistakes come with file and line.
    pub fn read(&mut self, mut each: impl FnMut(Result<TableLine<'_>, String>) -> bool) {
        let marks = [Cell::new(0), Cell::new(0)];
        loop {
            let line = match self.first.take() {
                Some(line) => Ok(Some(line)),
                None => self.lines.next(),
            };
            let line = match line {
                Ok(Some(line)) if line.trim_start().starts_with('#') => continue,
                Ok(Some(line)) => line,
                Ok(None) => return,
                Err(error) => {
                    each(Err(format!("{}: {error}", self.name)));
                    return;
                }
            };
            if !each(self.record(&line, &marks)) {
                return;
            }
        }
    }

    fn record<'a>(&self, line: &'a str, marks: &'a [Cell<u64>; 2]) -> Result<TableLine<'a>, String> {
        let fields = self.separator.split(line);
        match fields.len() == self.header.len() {
            true => Ok(TableLine { line: self.lines.number, fields, separator: self.separator, marks }),
            false => Err(format!(
                "{}:{}: {} columns between {}, expected {} as in line {}",
                self.name,
                self.lines.number,
                fields.len(),
                self.separator.name(),
                self.header.len(),
                self.line
            )),
        }
    }
}

/// Comments before a table that may name its columns, with their lines.
#[derive(Default)]
struct Comments {
    /// The last comment.
    last: Option<(u64, String)>,
    /// YADE's format, which remarks of the user may follow.
    format: Option<(u64, String)>,
}

impl Comments {
    fn add(&mut self, line: u64, words: &str) {
        let place = if words.starts_with("format ") { &mut self.format } else { &mut self.last };
        *place = Some((line, words.to_owned()));
    }

    /// Line and names of the comment that names this many columns.
    fn names(self, count: usize) -> Option<(u64, Vec<String>)> {
        let named =
            [self.format, self.last].into_iter().flatten().map(|(line, words)| (line, names_in(&words)));
        named.into_iter().find(|(_, names)| names.len() == count)
    }
}

/// Names of columns in a comment: `x y z r`, or YADE's `format x_y_z_r`.
fn names_in(comment: &str) -> Vec<String> {
    match comment.strip_prefix("format ") {
        Some(format) => {
            format.split_whitespace().next().unwrap_or("").split('_').map(str::to_owned).collect()
        }
        None => Separator::of_names(comment).split(comment).into_iter().map(Cow::into_owned).collect(),
    }
}

fn nameless(name: &str, line: u64, text: &str) -> String {
    let text: String = text.chars().take(40).collect();
    format!(
        "{name}:{line}: \"{text}\" are numbers, and no line before says what they are: add one of names, such as x,y,z,radius"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Result<(Vec<String>, Vec<Vec<f64>>), String> {
        let mut columns = Columns::open(text.as_bytes(), "t.csv")?;
        let header = columns.header.clone();
        let (mut rows, mut mistake) = (Vec::new(), None);
        columns.read(|record| {
            let row = record.and_then(|record| {
                let numbers = (0..header.len()).map(|at| record.number(at, &header[at]));
                numbers
                    .collect::<Result<Vec<f64>, String>>()
                    .map_err(|wrong| format!("{}: {wrong}", record.line))
            });
            row.map(|row| rows.push(row)).map_err(|wrong| mistake = Some(wrong)).is_ok()
        });
        mistake.map_or(Ok((header, rows)), Err)
    }

    #[test]
    fn every_common_separator_and_place_of_the_names_is_read() {
        let expected = (vec!["x".to_owned(), "r".to_owned()], vec![vec![0.5, 1.0], vec![-2.0, 1e-3]]);
        for text in [
            "x,r\n0.5,1\n-2,1e-3\n",
            "\u{feff}\"x\",\"r\"\r\n0.5, 1\r\n\"-2\",1e-3\r\n",
            "# a bed\n\nx;r\n0,5;1\n-2;1e-3\n",
            "x\tr\n0,5\t1\n-2\t1e-3",
            "  x   r \n 0.5  1\n\n -2\t 1e-3  \n# end\n",
            "# x r\n0.5 1\n-2 1e-3\n",
            "# bed of today\n# x,r\n0.5,1\n-2,1e-3\n",
            "#format x_r\n0.5\t1\n-2\t1e-3\n",
        ] {
            assert_eq!(table(text), Ok(expected.clone()), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_table_is_refused_with_the_cause() {
        let mistake = |text: &str| table(text).expect_err("a mistake");
        assert!(mistake("1,2\n3,4\n").contains("t.csv:1: \"1,2\" are numbers"), "{}", mistake("1,2\n3,4\n"));
        assert!(mistake("\u{0}x,y\n").contains("t.csv:1: is no text in UTF-8"), "{}", mistake("\u{0}x,y\n"));
        assert!(mistake("# only remarks\n").contains("no line of numbers"));
        assert!(mistake("x,y,X\n").contains("t.csv:1: two columns are called `X`"));
        assert!(mistake("x;y\n1.5;2\n1,5;2\n").contains("3: x is \"1,5\", and line 2 has the other"));
        assert!(
            mistake("x y\n1 2\n\n3\n").contains("t.csv:4: 1 columns between blanks, expected 2 as in line 1")
        );
        assert!(mistake("x,y\n1,inf\n").contains("2: y is \"inf\""));
    }
}
