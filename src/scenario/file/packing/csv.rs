//! Grains from a CSV table: columns x, y, z, and optionally radius and vx, vy, vz, wx, wy, wz.

use std::path::Path;

use glam::DVec3;

use super::super::MAX_GRAINS;
use super::super::read::open_named;
use super::super::read::{Node, Table, text};
use super::{InitialMotion, Placed};
use crate::error::suggest;

/// Row of the table: one grain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Centre \[m\].
    pub position: DVec3,
    /// Radius \[m\], if the table has one.
    pub radius: Option<f64>,
    /// Velocity and angular velocity, if the table has them.
    pub motion: InitialMotion,
}

impl Row {
    /// Returns the grain with the given radius, unless the row has its own radius.
    pub fn placed(&self, radius: f64) -> Placed {
        Placed { position: self.position, radius: self.radius.unwrap_or(radius), motion: self.motion }
    }
}

const COLUMNS: [&str; 10] = ["x", "y", "z", "radius", "vx", "vy", "vz", "wx", "wy", "wz"];
/// Largest number of mistakes that are reported per file; the rest are counted.
const SHOWN: usize = 5;
/// Number of mistakes after which the reading of a file ends.
const ENOUGH: usize = 10_000;

/// Reads `file` and the grains in it.
pub fn read(table: &mut Table<'_>, folder: &Path) -> Option<Vec<Row>> {
    let node = table.node("file");
    let name = table.get("file", text);
    let (node, name) = (node?, name?);
    let rows = open_named(&node, folder, &name).and_then(|file| rows(file, &name));
    rows.map_err(|mistakes| complain(&node, &mistakes)).ok()
}

fn complain(node: &Node<'_>, mistakes: &[String]) {
    let help =
        "the header is x,y,z[,radius[,vx,vy,vz,wx,wy,wz]], SI units; paths start at the scenario's folder";
    mistakes.iter().take(SHOWN).for_each(|mistake| node.problem(mistake, help));
    if mistakes.len() > SHOWN {
        node.problem(format!("and {} more mistakes in this file", mistakes.len() - SHOWN), help);
    }
}

/// Reads all rows, or reports every mistake with its line.
fn rows(input: impl std::io::Read, name: &str) -> Result<Vec<Row>, Vec<String>> {
    let mut reader =
        ::csv::ReaderBuilder::new().trim(::csv::Trim::All).comment(Some(b'#')).from_reader(input);
    let header = reader.headers().map_err(|error| vec![format!("{name}: {error}")])?.clone();
    let places = columns(&header, name)?;
    let mut rows = Vec::new();
    let mut mistakes = Vec::new();
    for record in reader.records() {
        match record.map_err(|error| format!("{name}: {error}")).and_then(|record| {
            let line = record.position().map_or(0, ::csv::Position::line);
            row(&record, &places).map_err(|mistake| format!("{name}:{line}: {mistake}"))
        }) {
            Ok(row) => rows.push(row),
            Err(mistake) => mistakes.push(mistake),
        }
        if rows.len() as u64 > MAX_GRAINS || mistakes.len() > ENOUGH {
            break;
        }
    }
    if rows.len() as u64 > MAX_GRAINS {
        mistakes.push(format!("{name} holds more than {MAX_GRAINS} grains"));
    }
    if rows.is_empty() && mistakes.is_empty() {
        mistakes.push(format!("{name} holds no grains"));
    }
    if mistakes.is_empty() { Ok(rows) } else { Err(mistakes) }
}

/// Returns the column of each known name in the header.
fn columns(header: &::csv::StringRecord, name: &str) -> Result<[Option<usize>; 10], Vec<String>> {
    let find = |column: &str| header.iter().position(|title| title.eq_ignore_ascii_case(column));
    let unknown =
        header.iter().filter(|title| !COLUMNS.iter().any(|known| known.eq_ignore_ascii_case(title)));
    let mut mistakes: Vec<String> = unknown
        .map(|title| format!("{name}:1: unknown column `{title}`; {}", suggest(title, COLUMNS)))
        .collect();
    let places = COLUMNS.map(find);
    let missing = COLUMNS[..3].iter().zip(places).filter(|(_, place)| place.is_none());
    mistakes.extend(missing.map(|(column, _)| format!("{name}:1: missing column `{column}`")));
    if mistakes.is_empty() { Ok(places) } else { Err(mistakes) }
}

fn row(record: &::csv::StringRecord, places: &[Option<usize>; 10]) -> Result<Row, String> {
    let number = |column: usize| -> Result<Option<f64>, String> {
        let Some(place) = places[column] else { return Ok(None) };
        let text = record.get(place).unwrap_or("");
        match text.parse::<f64>() {
            Ok(value) if value.abs() <= 1e9 => Ok(Some(value)),
            _ => Err(format!("{} is \"{text}\", expected a finite number (at most 1e9)", COLUMNS[column])),
        }
    };
    let vector = |first: usize| -> Result<Option<DVec3>, String> {
        let components = [number(first)?, number(first + 1)?, number(first + 2)?];
        let given = components.iter().any(Option::is_some);
        Ok(given.then(|| DVec3::from_array(components.map(|component| component.unwrap_or(0.0)))))
    };
    let radius = number(3)?;
    if let Some(radius) = radius.filter(|radius| !(1e-7..=1e6).contains(radius)) {
        return Err(format!("radius is {radius}, expected a positive radius in metres (1e-7 to 1e6)"));
    }
    Ok(Row {
        position: vector(0)?.unwrap_or(DVec3::ZERO),
        radius,
        motion: InitialMotion { velocity: vector(4)?, angular_velocity: vector(7)? },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_may_come_in_any_order() {
        let rows =
            rows("# settled\nradius, z, y, x, vz\n0.5, 3, 2, 1, -1\n".as_bytes(), "t.csv").expect("good");
        let motion = InitialMotion { velocity: Some(DVec3::NEG_Z), angular_velocity: None };
        assert_eq!(rows, [Row { position: DVec3::new(1.0, 2.0, 3.0), radius: Some(0.5), motion }]);
    }

    #[test]
    fn every_mistake_of_a_table_has_its_line() {
        let mistakes = rows("x,y,z,radius\n1,2,3,0.1\n1,2,nan,0.1\n1,2\n1,2,3,-1\n".as_bytes(), "t.csv");
        let mistakes = mistakes.expect_err("three mistakes");
        assert_eq!(mistakes.len(), 3, "{mistakes:?}");
        assert!(mistakes[0].starts_with("t.csv:3: z is \"nan\""), "{}", mistakes[0]);
        assert!(mistakes[1].contains("line: 4"), "{}", mistakes[1]);
        assert!(mistakes[2].starts_with("t.csv:5: radius is -1"), "{}", mistakes[2]);
        let mistakes = rows("x,y,raduis\n".as_bytes(), "t.csv").expect_err("wrong header");
        assert!(mistakes[0].contains("did you mean `radius`") && mistakes[1].contains("missing column `z`"));
    }
}
