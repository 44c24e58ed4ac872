//! Grains from a dump of LAMMPS or LIGGGHTS: its last frame, or the frame of a given step.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use glam::DVec3;

use super::super::MAX_GRAINS;
use super::super::read::{Table, open_named, text, whole};
use super::{InitialMotion, Row};

const HELP: &str = "expected a text dump with the columns x y z (or xu yu zu, or xs ys zs), in SI units, and if wanted radius or diameter, \
                    vx vy vz, omegax omegay omegaz, type, as `dump custom` writes it; paths start at the scenario's folder";

/// Names of the coordinates of grains: plain, unwrapped, and scaled by the box.
const PLACES: [[&str; 3]; 3] = [["x", "y", "z"], ["xu", "yu", "zu"], ["xs", "ys", "zs"]];

/// Reads `file`, and optionally `timestep` and `type` to take only the grains of one step and one type.
pub fn read(table: &mut Table<'_>, folder: &Path) -> Option<Vec<Row>> {
    let node = table.node("file");
    let name = table.get("file", text);
    let step = table.maybe("timestep", whole(0, i64::MAX as u64));
    let kind = table.maybe("type", whole(1, u64::from(u32::MAX)));
    let (node, name) = (node?, name?);
    let rows = open_named(&node, folder, &name)
        .map_err(|mistakes| mistakes.join("; "))
        .and_then(|file| rows(file, &Wanted { step, kind }).map_err(|mistake| format!("{name}: {mistake}")));
    rows.map_err(|mistake| node.problem(mistake, HELP)).ok()
}

/// Selection of the grains that are taken.
struct Wanted {
    /// Number of the step; `None` for the last step.
    step: Option<u64>,
    /// Type of the grains; `None` for all types.
    kind: Option<u64>,
}

/// Lines of a dump, with their numbers.
struct Lines<R> {
    lines: std::io::Lines<BufReader<R>>,
    number: usize,
}

impl<R: Read> Lines<R> {
    fn next(&mut self) -> Result<Option<String>, String> {
        self.number += 1;
        self.lines.next().transpose().map_err(|error| format!("line {}: {error}", self.number))
    }

    /// Returns the next line, which must exist.
    fn expect(&mut self, what: &str) -> Result<String, String> {
        let line = self.next()?;
        line.ok_or_else(|| format!("ends at line {}, expected {what}", self.number))
    }

    fn mistake(&self, found: &str, expected: &str) -> String {
        format!("line {}: \"{found}\", expected {expected}", self.number)
    }
}

/// Reads the selected grains.
fn rows(input: impl Read, wanted: &Wanted) -> Result<Vec<Row>, String> {
    let mut lines = Lines { lines: BufReader::new(input).lines(), number: 0 };
    let (mut found, mut steps) = (None, Vec::new());
    while let Some(line) = lines.next()? {
        if line.trim() != "ITEM: TIMESTEP" {
            return Err(lines.mistake(line.trim(), "ITEM: TIMESTEP"));
        }
        let step = number::<u64>(&mut lines, "the number of a step")?;
        let rows = frame(&mut lines, wanted)?;
        if wanted.step.is_none_or(|wanted| wanted == step) {
            found = Some(rows);
        }
        steps.push(step);
    }
    match found {
        Some(rows) if rows.is_empty() => Err("holds no such grains".to_owned()),
        Some(rows) => Ok(rows),
        None => Err(match (steps.first(), steps.last(), wanted.step) {
            (Some(first), Some(last), Some(step)) => {
                format!("has no step {step}: it has {} from {first} to {last}", steps.len())
            }
            _ => "holds no frame".to_owned(),
        }),
    }
}

/// Reads the selected grains of a frame whose step number has been read.
fn frame(lines: &mut Lines<impl Read>, wanted: &Wanted) -> Result<Vec<Row>, String> {
    let (mut count, mut bounds) = (None, [[0.0, 1.0]; 3]);
    loop {
        let line = lines.expect("ITEM: ATOMS")?;
        let item = line.trim();
        if item == "ITEM: NUMBER OF ATOMS" {
            count = Some(number::<u64>(lines, "the number of atoms")?);
        } else if item.starts_with("ITEM: BOX BOUNDS") {
            for axis in &mut bounds {
                *axis = bound(lines)?;
            }
        } else if let Some(columns) = item.strip_prefix("ITEM: ATOMS") {
            let count = count.ok_or_else(|| lines.mistake(item, "ITEM: NUMBER OF ATOMS before it"))?;
            if count > MAX_GRAINS {
                return Err(format!("holds {count} grains, at most {MAX_GRAINS} are possible"));
            }
            let columns = Columns::of(columns, bounds).map_err(|expected| lines.mistake(item, &expected))?;
            let mut rows = Vec::new();
            for _ in 0..count {
                let line = lines.expect("a grain")?;
                rows.extend(
                    columns.row(&line, wanted).map_err(|expected| lines.mistake(line.trim(), &expected))?,
                );
            }
            return Ok(rows);
        } else if !item.starts_with("ITEM: UNITS") && !item.starts_with("ITEM: TIME") {
            return Err(lines.mistake(item, "ITEM: NUMBER OF ATOMS, ITEM: BOX BOUNDS or ITEM: ATOMS"));
        } else {
            lines.expect("a value")?;
        }
    }
}

fn number<T: std::str::FromStr>(lines: &mut Lines<impl Read>, what: &str) -> Result<T, String> {
    let line = lines.expect(what)?;
    line.trim().parse().map_err(|_| lines.mistake(line.trim(), what))
}

/// Reads the lower and the upper bound of the box along an axis.
fn bound(lines: &mut Lines<impl Read>) -> Result<[f64; 2], String> {
    let line = lines.expect("bounds of the box")?;
    let numbers: Option<Vec<f64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[low, high]) => Ok([low, high]),
        Some([_, _, _]) => Err(lines.mistake(line.trim(), "two bounds: tilted boxes are not read")),
        _ => Err(lines.mistake(line.trim(), "two bounds of the box")),
    }
}

/// Columns of the values of a grain in its line.
struct Columns {
    place: [usize; 3],
    /// Bounds of the box, if positions are scaled by the box.
    shares: Option<[[f64; 2]; 3]>,
    /// Column of the radius or diameter, and the factor from its value to the radius.
    radius: Option<(usize, f64)>,
    velocity: Option<[usize; 3]>,
    angular_velocity: Option<[usize; 3]>,
    kind: Option<usize>,
}

impl Columns {
    fn of(header: &str, bounds: [[f64; 2]; 3]) -> Result<Columns, String> {
        let names: Vec<&str> = header.split_whitespace().collect();
        let find = |name: &str| names.iter().position(|&known| known == name);
        let three = |names: [&str; 3]| {
            let [x, y, z] = names.map(find);
            Some([x?, y?, z?])
        };
        let place = PLACES.iter().find_map(|&names| Some((three(names)?, names[0] == "xs")));
        let (place, are_shares) = place.ok_or("columns x y z, xu yu zu or xs ys zs")?;
        let diameter = find("diameter").or_else(|| find("c_diameter"));
        Ok(Columns {
            place,
            shares: are_shares.then_some(bounds),
            radius: find("radius").map(|at| (at, 1.0)).or(diameter.map(|at| (at, 0.5))),
            velocity: three(["vx", "vy", "vz"]),
            angular_velocity: three(["omegax", "omegay", "omegaz"]),
            kind: find("type"),
        })
    }

    /// Reads the grain in a line; `None` if it is not selected.
    fn row(&self, line: &str, wanted: &Wanted) -> Result<Option<Row>, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| {
            let number = words.get(at).and_then(|word| word.parse::<f64>().ok());
            number.filter(|number| number.abs() <= 1e9).ok_or("finite numbers (at most 1e9) in its columns")
        };
        let vector = |[x, y, z]: [usize; 3]| Ok::<_, &str>(DVec3::new(number(x)?, number(y)?, number(z)?));
        if let Some(kind) = wanted.kind {
            let at = self.kind.ok_or("a column `type`, as grains of one type are wanted")?;
            if number(at)? != kind as f64 {
                return Ok(None);
            }
        }
        let radius = self.radius.map(|(at, share)| Ok::<_, &str>(share * number(at)?)).transpose()?;
        if radius.is_some_and(|radius| !(1e-7..=1e6).contains(&radius)) {
            return Err("a positive radius in metres (1e-7 to 1e6)".to_owned());
        }
        let mut position = vector(self.place)?;
        if let Some([x, y, z]) = self.shares {
            let low = DVec3::new(x[0], y[0], z[0]);
            position = low + position * (DVec3::new(x[1], y[1], z[1]) - low);
        }
        let motion = InitialMotion {
            velocity: self.velocity.map(vector).transpose()?,
            angular_velocity: self.angular_velocity.map(vector).transpose()?,
        };
        Ok(Some(Row { position, radius, motion }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS ff ff ff\n0 1\n0 1\n0 1\n\
                        ITEM: ATOMS id type x y z radius\n1 1 0.1 0.2 0.3 0.01\n\
                        ITEM: TIMESTEP\n500\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp ff\n-1 1\n0 2\n0 4\n\
                        ITEM: ATOMS id type xs ys zs vx vy vz diameter\n2 1 0.5 0.5 0.5 1 2 3 0.04\n1 2 0 0 0 0 0 0 0.02\n";

    fn read(step: Option<u64>, kind: Option<u64>) -> Result<Vec<Row>, String> {
        rows(DUMP.as_bytes(), &Wanted { step, kind })
    }

    #[test]
    fn the_last_frame_is_taken_with_shares_of_the_box_and_diameters() {
        let rows = read(None, None).expect("good");
        let motion = InitialMotion { velocity: Some(DVec3::new(1.0, 2.0, 3.0)), angular_velocity: None };
        assert_eq!(rows[0], Row { position: DVec3::new(0.0, 1.0, 2.0), radius: Some(0.02), motion });
        assert_eq!((rows.len(), rows[1].position), (2, DVec3::new(-1.0, 0.0, 0.0)));
    }

    #[test]
    fn a_step_and_a_type_choose_grains() {
        assert_eq!(read(Some(0), None).expect("good")[0].position, DVec3::new(0.1, 0.2, 0.3));
        assert_eq!(read(None, Some(2)).expect("good").len(), 1);
        assert_eq!(read(Some(7), None), Err("has no step 7: it has 2 from 0 to 500".to_owned()));
        assert_eq!(read(None, Some(3)), Err("holds no such grains".to_owned()));
    }

    #[test]
    fn a_mistake_has_its_line() {
        let wanted = Wanted { step: None, kind: None };
        let mistake =
            |from: &str, to: &str| rows(DUMP.replace(from, to).as_bytes(), &wanted).expect_err("a mistake");
        assert!(mistake("0.3 0.01", "nan 0.01").starts_with("line 10: \"1 1 0.1 0.2 nan 0.01\""));
        assert!(mistake("x y z radius", "x y radius").contains("expected columns x y z"));
        assert!(mistake("0.3 0.01", "0.3 -1").contains("a positive radius"));
        assert!(mistake("1 2 0 0 0 0 0 0 0.02\n", "").contains("ends at line 21, expected a grain"));
        assert!(
            rows("x,y,z\n".as_bytes(), &wanted).expect_err("no dump").contains("expected ITEM: TIMESTEP")
        );
    }
}
