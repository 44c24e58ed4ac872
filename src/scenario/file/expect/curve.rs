//! Reference curve: values over time, from a CSV file beside the scenario.

use std::path::Path;

use crate::error::suggest;
use crate::observe::take::Curve;

use super::super::columns::Columns;
use super::super::read::open_named;
use super::super::read::{FINITE, TIME, Table, number, text};

/// Share of the end of a window by which a time may exceed it \[-\]: `start` plus a time of the file is rounded.
const TIME_ROUNDING: f64 = 1e-9;
/// Largest number of mistakes that are reported per file; the rest are counted.
const SHOWN: usize = 5;
/// Number of points and mistakes after which the reading of a file ends.
const ENOUGH: usize = 1_000_000;

/// Reads `file`, `time` and `column` and the points of the curve from `from` to `until` \[s\]. Time zero of the curve is at `start` of the
/// run \[s\], and `offset` is added to its values. Rows with an empty value are left out; lines that begin with # are comments.
pub fn curve(table: &mut Table<'_>, folder: &Path, (from, until): (f64, f64)) -> Option<Curve> {
    let node = table.node("file");
    let name = table.get("file", text);
    let time = table.or("time", "t".to_owned(), text);
    let column = table.get("column", text);
    let start = table.or("start", 0.0, number(TIME));
    let offset = table.or("offset", 0.0, number(FINITE));
    let (node, name, column) = (node?, name?, column?);
    let points = open_named(&node, folder, &name).and_then(|file| points(file, &name, &time, &column));
    let help = "the header names the columns, times go up; paths start at the scenario's folder";
    let mut points = points
        .map_err(|mistakes| {
            mistakes.iter().take(SHOWN).for_each(|mistake| node.problem(mistake, help));
            if mistakes.len() > SHOWN {
                node.problem(format!("and {} more mistakes in this file", mistakes.len() - SHOWN), help);
            }
        })
        .ok()?;
    points.iter_mut().for_each(|point| *point = (start + point.0, offset + point.1));
    points.retain(|&(time, _)| time >= from && time <= until * (1.0 + TIME_ROUNDING));
    if points.is_empty() {
        let message = format!("{name} has no value of `{column}` from {from} s until {until} s");
        node.problem(message, "compare over a time that the curve covers");
        return None;
    }
    Some(Curve { column, points })
}

/// Reads all points, or reports every mistake with its line.
fn points(
    input: impl std::io::Read,
    name: &str,
    time: &str,
    column: &str,
) -> Result<Vec<(f64, f64)>, Vec<String>> {
    let mut columns = Columns::open(input, name).map_err(|mistake| vec![mistake])?;
    let (line, header) = (columns.line, columns.header.clone());
    let place = |wanted: &str| {
        let found = header.iter().position(|title| title == wanted);
        let advice = || suggest(wanted, header.iter().map(String::as_str));
        found.ok_or_else(|| vec![format!("{name}:{line}: there is no column `{wanted}`; {}", advice())])
    };
    let (time_at, value_at) = (place(time)?, place(column)?);
    let (mut points, mut mistakes) = (Vec::<(f64, f64)>::new(), Vec::new());
    columns.read(|record| {
        let point = record.and_then(|record| {
            if record.text(value_at).is_empty() {
                return Ok(None);
            }
            let point = record.number(time_at, time).and_then(|t| Ok((t, record.number(value_at, column)?)));
            let point = point.and_then(|point| follows(points.last(), point));
            point.map(Some).map_err(|mistake| format!("{name}:{}: {mistake}", record.line))
        });
        match point {
            Ok(point) => points.extend(point),
            Err(mistake) => mistakes.push(mistake),
        }
        let is_enough = points.len() + mistakes.len() > ENOUGH;
        if is_enough {
            mistakes.push(format!("{name} holds more than {ENOUGH} points"));
        }
        !is_enough
    });
    if mistakes.is_empty() { Ok(points) } else { Err(mistakes) }
}

/// Returns the point if its time is after that of the previous point.
fn follows(before: Option<&(f64, f64)>, point: (f64, f64)) -> Result<(f64, f64), String> {
    match before {
        Some(&(time, _)) if time >= point.0 => {
            Err(format!("the time {} does not come after {time}, the one before", point.0))
        }
        _ => Ok(point),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_two_columns_of_a_table() {
        let text = "# digitised\nt, lammps, liggghts\n0, 1, 2\n0.5, , 3\n1.0, 4,\n";
        assert_eq!(points(text.as_bytes(), "c.csv", "t", "liggghts"), Ok(vec![(0.0, 2.0), (0.5, 3.0)]));
        assert_eq!(points(text.as_bytes(), "c.csv", "t", "lammps"), Ok(vec![(0.0, 1.0), (1.0, 4.0)]));
    }

    #[test]
    fn every_mistake_of_a_curve_has_its_line() {
        let text = "t,z\n0,1\n1,high\n1,2\n0.5,3\n2\n";
        let mistakes = points(text.as_bytes(), "c.csv", "t", "z").expect_err("three mistakes");
        assert_eq!(mistakes.len(), 3, "{mistakes:?}");
        assert!(mistakes[0].starts_with("c.csv:3: z is \"high\""), "{}", mistakes[0]);
        assert!(mistakes[1].starts_with("c.csv:5: the time 0.5 does not come after 1"), "{}", mistakes[1]);
        assert!(mistakes[2].starts_with("c.csv:6: 1 columns"), "{}", mistakes[2]);
        let unknown = points("t,liggghts\n".as_bytes(), "c.csv", "t", "ligghts").expect_err("no column");
        assert!(unknown[0].contains("c.csv:1") && unknown[0].contains("`liggghts`?"), "{}", unknown[0]);
    }
}
