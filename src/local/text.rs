//! Local problems in the text of Siconos.
//!
//! ```text
//! dimension of a contact, number of contacts
//! storage of W: 0 dense, 1 sparse blocks, 2 sparse; number of rows; number of columns
//! W         dense:   rows, columns; then all numbers, column by column
//!           blocks:  number of blocks, of rows and of columns of blocks; where each of these rows ends, where each column ends;
//!                    length of the list of starts, and of the list of columns; both lists; then block by block
//!                    its number and its numbers, column by column
//!           sparse:  0 triplets, 1 columns, 2 rows, 3 triplets of one half; then what CSparse prints
//! q         dimension numbers per contact: normal, tangents, rolling components
//! μ         one number per contact, and with dimension 5 as many μ_r
//! ```

use std::io::Write;
use std::path::Path;
use std::str::FromStr;

use crate::error::Error;
use crate::output::atomic;

use super::LocalProblem;
use super::matrix::{BlockMatrix, MatrixEntry};

/// Largest number of rows of a matrix: a dense one then has 8 GB.
const MOST_ROWS: usize = 1 << 15;
/// Largest number of rows of a sparse matrix.
const MOST_SPARSE_ROWS: usize = 1 << 28;

/// Reads a problem.
///
/// # Errors
/// [`Error::File`] when the file cannot be read; [`Error::Unusable`] with the line, what is found there and what is expected.
pub fn read(path: &Path) -> Result<LocalProblem, Error> {
    let text = std::fs::read(path).map_err(Error::file(path))?;
    parse(&String::from_utf8_lossy(&text), &path.display().to_string())
}

/// Words of a text, with the lines that they stand in.
struct TextWords<'a> {
    file: &'a str,
    /// Number of the line of the last word, from 1.
    line: usize,
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    words: std::str::SplitWhitespace<'a>,
}

impl<'a> TextWords<'a> {
    fn next_word(&mut self) -> Option<&'a str> {
        loop {
            if let Some(word) = self.words.next() {
                return Some(word);
            }
            self.words = self.next_line()?.split_whitespace();
        }
    }

    fn next_line(&mut self) -> Option<&'a str> {
        let (at, line) = self.lines.next()?;
        self.line = at + 1;
        Some(line)
    }

    fn unusable(&self, found: impl Into<String>, expected: &str) -> Error {
        Error::Unusable {
            origin: format!("{}:{}", self.file, self.line),
            found: found.into(),
            advice: format!("expected {expected}"),
        }
    }

    /// The next word as a value.
    fn value<T: FromStr>(&mut self, what: &str) -> Result<T, Error> {
        let Some(word) = self.next_word() else {
            return Err(self.unusable("the file ends here", what));
        };
        word.parse().map_err(|_| self.unusable(format!("\"{}\"", shortened(word)), what))
    }

    fn number(&mut self, what: &str) -> Result<f64, Error> {
        let number = self.value::<f64>(what)?;
        if number.is_finite() {
            return Ok(number);
        }
        Err(self.unusable(format!("{number}"), &format!("{what}, a finite number")))
    }

    fn numbers(&mut self, count: usize, what: &str) -> Result<Vec<f64>, Error> {
        (0..count).map(|i| self.number(&format!("{what}, number {} of {count}", i + 1))).collect()
    }

    /// A number that must have one value.
    fn exactly(&mut self, value: usize, what: &str) -> Result<(), Error> {
        match self.value::<usize>(what)? {
            found if found == value => Ok(()),
            found => Err(self.unusable(format!("{found}"), &format!("{what}, {value}"))),
        }
    }
}

fn shortened(word: &str) -> String {
    word.chars().take(60).collect()
}

/// Reads a problem from a text; `file` is its name in messages.
///
/// # Errors
/// As [`read`].
pub fn parse(text: &str, file: &str) -> Result<LocalProblem, Error> {
    let mut words =
        TextWords { file, line: 1, lines: text.lines().enumerate(), words: "".split_whitespace() };
    let dimension = words.value::<usize>("the number of components of a contact: 2, 3 or 5")?;
    if ![2, 3, 5].contains(&dimension) {
        return Err(words.unusable(
            format!("contacts of {dimension} components"),
            "2 in the plane, 3 in space, or 5 in space with rolling",
        ));
    }
    let contacts = words.value::<usize>("the number of contacts")?;
    let size = dimension * contacts.min(MOST_SPARSE_ROWS);
    let storage = words.value::<usize>("the storage of W: 0 dense, 1 sparse blocks, 2 sparse")?;
    let most = if storage == 0 { MOST_ROWS } else { MOST_SPARSE_ROWS };
    if contacts == 0 || size > most {
        return Err(
            words.unusable(format!("{contacts} contacts"), &format!("at least one, and at most {most} rows"))
        );
    }
    words.exactly(size, "the number of rows of W, dimension times contacts")?;
    words.exactly(size, "the number of columns of W, dimension times contacts")?;
    let entries = match storage {
        0 => dense(&mut words, size)?,
        1 => blocks(&mut words, size)?,
        2 => sparse(&mut words, size)?,
        _ => {
            return Err(words.unusable(format!("storage {storage}"), "0 dense, 1 sparse blocks, or 2 sparse"));
        }
    };
    let matrix = BlockMatrix::from_entries(dimension, contacts, entries)
        .map_err(|found| words.unusable(found, "a place within W"))?;
    let q = words.numbers(size, "q")?;
    let friction = coefficients(&mut words, contacts, "the coefficient of friction")?;
    let rolling = match dimension {
        5 => coefficients(&mut words, contacts, "the coefficient of rolling")?,
        _ => vec![0.0; contacts],
    };
    let problem = LocalProblem { matrix, q, friction, rolling };
    problem.matrix.check(file)?;
    // Older files end with a flag: whether the problem is complete.
    let more = words
        .next_word()
        .and_then(|word| if ["0", "1"].contains(&word) { words.next_word() } else { Some(word) });
    match more {
        None => Ok(problem),
        Some(word) => {
            let expected = "the end of the file: problems in global form (M, H, q, b) and rolling in the plane are not read";
            Err(words.unusable(format!("\"{}\" behind the coefficients", shortened(word)), expected))
        }
    }
}

fn coefficients(words: &mut TextWords<'_>, count: usize, what: &str) -> Result<Vec<f64>, Error> {
    let coefficient = |i: usize| {
        let what = format!("{what} of contact {i}");
        let value = words.number(&what)?;
        if value < 0.0 {
            return Err(words.unusable(format!("{value}"), &format!("{what}, not negative")));
        }
        Ok(value)
    };
    (0..count).map(coefficient).collect()
}

/// All numbers of a dense matrix, column by column.
fn dense(words: &mut TextWords<'_>, size: usize) -> Result<Vec<MatrixEntry>, Error> {
    words.exactly(size, "the number of rows of W")?;
    words.exactly(size, "the number of columns of W")?;
    let mut entries = Vec::new();
    for column in 0..size as u32 {
        for row in 0..size as u32 {
            entries.push((row, column, words.number(&format!("W in row {row}, column {column}"))?));
        }
    }
    entries.retain(|entry| entry.2 != 0.0);
    Ok(entries)
}

/// Sparse blocks: rows of blocks that may have any sizes.
fn blocks(words: &mut TextWords<'_>, size: usize) -> Result<Vec<MatrixEntry>, Error> {
    let count = words.value::<usize>("the number of blocks")?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let rows = words.value::<usize>("the number of rows of blocks")?;
    let columns = words.value::<usize>("the number of columns of blocks")?;
    let row_starts = ends(words, rows, size, "row")?;
    let column_starts = ends(words, columns, size, "column")?;
    let starts = words.value::<usize>("the length of the list of first blocks")?;
    if starts == 0 || starts > rows + 1 {
        let expected = format!("the length of the list of first blocks, {}", rows + 1);
        return Err(words.unusable(format!("{starts}"), &expected));
    }
    let listed = words.value::<usize>("the length of the list of columns")?;
    let firsts: Vec<usize> =
        (0..starts).map(|_| words.value("the first block of a row")).collect::<Result<_, _>>()?;
    if !firsts.is_sorted() || firsts.last().is_some_and(|&last| last > listed) {
        return Err(
            words.unusable("the first blocks of rows do not ascend", &format!("numbers up to {listed}"))
        );
    }
    let mut block_columns = Vec::new();
    for _ in 0..listed {
        let column = words.value::<usize>("the column of a block")?;
        if column >= columns {
            return Err(
                words.unusable(format!("column {column}"), &format!("a column of blocks below {columns}"))
            );
        }
        block_columns.push(column);
    }
    let mut entries = Vec::new();
    for (row, bounds) in firsts.windows(2).enumerate() {
        for (block, &column) in (bounds[0]..).zip(&block_columns[bounds[0]..bounds[1]]) {
            words.exactly(block, "the number of a block")?;
            for j in column_starts[column]..column_starts[column + 1] {
                for i in row_starts[row]..row_starts[row + 1] {
                    let value = words.number(&format!("W in row {i}, column {j}"))?;
                    entries.push((i, j, value));
                }
            }
        }
    }
    Ok(entries)
}

/// Where rows or columns of blocks start, and the end, from where each ends.
fn ends(words: &mut TextWords<'_>, count: usize, size: usize, of: &str) -> Result<Vec<u32>, Error> {
    let mut starts = vec![0];
    for i in 0..count.min(size + 1) {
        let end = words.value::<u32>(&format!("where {of} {i} of the blocks ends"))?;
        if end < starts[i] || end as usize > size {
            return Err(
                words.unusable(format!("{end}"), &format!("where {of} {i} of the blocks ends, up to {size}"))
            );
        }
        starts.push(end);
    }
    if starts.last().copied() != Some(size as u32) {
        return Err(words.unusable(
            format!("the last {of} of blocks ends at {}", starts[starts.len() - 1]),
            &format!("{size}"),
        ));
    }
    Ok(starts)
}

/// A sparse matrix as CSparse prints it: triplets, or column by column, or row by row.
fn sparse(words: &mut TextWords<'_>, size: usize) -> Result<Vec<MatrixEntry>, Error> {
    let origin = words.value::<usize>(
        "the form of sparse storage: 0 triplets, 1 columns, 2 rows, 3 half of the triplets",
    )?;
    let head = loop {
        let line = words.next_line();
        match line {
            Some(line) if line.contains("-by-") => break line,
            Some(_) => {}
            None => {
                return Err(
                    words.unusable("the file ends here", "the size of a matrix, \"N-by-N, nzmax: ...\"")
                );
            }
        }
    };
    let count =
        head.split("nnz:").nth(1).and_then(|rest| rest.split([',', ' ']).find(|word| !word.is_empty()));
    let Some(count) = count.and_then(|word| word.trim().parse::<usize>().ok()) else {
        return Err(words.unusable(format!("\"{}\"", shortened(head)), "\"nnz: \" and the number of entries"));
    };
    let shape = head.trim_start_matches(|c: char| !c.is_ascii_digit());
    if !shape.starts_with(&format!("{size}-by-{size},")) {
        return Err(
            words.unusable(format!("\"{}\"", shortened(head)), &format!("a matrix of {size}-by-{size}"))
        );
    }
    let is_by_rows = head.trim_start().starts_with("csr:") || origin == 2;
    let mut entries = Vec::new();
    let mut line_of = 0;
    while entries.len() < count {
        let Some(line) = words.next_line() else {
            return Err(
                words.unusable("the file ends here", &format!("entry {} of {count} of W", entries.len() + 1))
            );
        };
        let mistake =
            || words.unusable(format!("\"{}\"", shortened(line)), "an entry of W, \"index : value\"");
        let (left, right) = line.split_once(':').ok_or_else(mistake)?;
        let place: Vec<&str> = left.split_whitespace().collect();
        let index = |word: &str| word.parse::<u32>().map_err(|_| mistake());
        let value = || right.trim().parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(mistake);
        match place[..] {
            ["col" | "row", of] => line_of = index(of)?,
            [at] if is_by_rows => entries.push((line_of, index(at)?, value()?)),
            [at] => entries.push((index(at)?, line_of, value()?)),
            [row, column] => entries.push((index(row)?, index(column)?, value()?)),
            _ => return Err(mistake()),
        }
    }
    if origin == 3 {
        let mirrored: Vec<MatrixEntry> =
            entries.iter().map(|&(row, column, value)| (column, row, value)).collect();
        entries.extend(mirrored.into_iter().filter(|(row, column, _)| row != column));
    }
    // Empty columns at the end are printed as well.
    let mut ahead = words.lines.clone();
    while let Some((at, line)) = ahead.next() {
        if !line.trim_start().starts_with("col") && !line.trim_start().starts_with("row") {
            break;
        }
        (words.line, words.lines) = (at + 1, ahead.clone());
    }
    Ok(entries)
}

/// Writes a problem, with W as sparse blocks: nothing is lost, whatever the numbers are.
///
/// # Errors
/// [`Error::File`] when the file cannot be written; an earlier file is then unchanged.
pub fn write(path: &Path, problem: &LocalProblem) -> Result<(), Error> {
    let matrix = &problem.matrix;
    let (d, contacts) = (problem.dimension(), problem.contacts());
    atomic::write(path, |out| {
        writeln!(out, "{d}\n{contacts}\n1\n{0}\n{0}", d * contacts)?;
        writeln!(out, "{}\n{contacts}\n{contacts}", matrix.block_count())?;
        let ends: Vec<usize> = (1..=contacts).map(|row| row * d).collect();
        let blocks: Vec<(u32, &[f64])> =
            matrix.blocks_by_rows().map(|(_, column, block)| (column, block)).collect();
        let mut firsts = vec![0; contacts + 1];
        matrix.blocks_by_rows().for_each(|(row, _, _)| firsts[row + 1] += 1);
        (0..contacts).for_each(|row| firsts[row + 1] += firsts[row]);
        (0..2).try_for_each(|_| line(out, &ends))?;
        writeln!(out, "{}\n{}", firsts.len(), blocks.len())?;
        line(out, &firsts)?;
        line(out, blocks.iter().map(|block| block.0))?;
        for (number, (_, block)) in blocks.iter().enumerate() {
            writeln!(out, "{number}")?;
            (0..d * d).try_for_each(|i| writeln!(out, "{:e}", block[i % d * d + i / d]))?;
        }
        let reals = |numbers: &[f64]| numbers.iter().map(|number| format!("{number:e}")).collect::<Vec<_>>();
        line(out, reals(&problem.q))?;
        line(out, reals(&problem.friction))?;
        if d == 5 { line(out, reals(&problem.rolling)) } else { Ok(()) }
    })
}

/// Writes a line of numbers, which reading gives back with the same bits.
fn line(
    out: &mut impl Write,
    numbers: impl IntoIterator<Item = impl std::fmt::Display>,
) -> std::io::Result<()> {
    let words: Vec<String> = numbers.into_iter().map(|number| number.to_string()).collect();
    writeln!(out, "{}", words.join(" "))
}
