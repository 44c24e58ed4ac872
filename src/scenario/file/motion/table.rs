//! Motions as tables: displacements and rotations at times, in the scenario or in a file.

use std::f64::consts::PI;

use glam::{DQuat, DVec3};

use super::OfShape;
use crate::model::MotionLaw;
use crate::model::range::FAR;
use crate::scenario::file::columns::{Columns, TableLine};
use crate::scenario::file::read::{
    FINITE, Node, TIME, Table, direction, number, open_named, over_time, text, unit_vector, vector,
    without_folder,
};

/// Largest number of mistakes that are reported per file; the rest are counted.
const SHOWN: usize = 5;
/// Number of rows and mistakes after which the reading of a file ends.
const ENOUGH: usize = 1_000_000;
/// Length of a quaternion below which it says nothing \[-\].
const NO_LENGTH: f64 = 1e-6;
/// Cosine of the angle up to which two axes are the same \[-\].
const SAME_AXIS: f64 = 1.0 - 1e-9;
/// Share of half a turn from which on it is not clear which way round a table means \[-\].
const HALF: f64 = 1.0 - 1e-9;

/// A rotation of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
enum RotationEntry {
    /// About a unit vector by an angle \[rad\], which may be several turns.
    AxisAngle(DVec3, f64),
    /// Unit quaternion.
    Quaternion(DQuat),
}

impl RotationEntry {
    fn turn(&self) -> DQuat {
        match *self {
            RotationEntry::AxisAngle(axis, angle) => DQuat::from_axis_angle(axis, angle),
            RotationEntry::Quaternion(turn) => turn,
        }
    }

    /// Whether it is clear which way round the next rotation is reached.
    fn leads_to(&self, next: &RotationEntry) -> bool {
        match (self, next) {
            (RotationEntry::AxisAngle(axis, angle), RotationEntry::AxisAngle(other, to))
                if axis.dot(*other) > SAME_AXIS =>
            {
                (to - angle).abs() < HALF * PI
            }
            _ => self.turn().angle_between(next.turn()) < HALF * PI,
        }
    }

    /// Reads `{ axis, angle_deg }` or `[x, y, z, w]`.
    fn read(node: Node<'_>) -> Option<RotationEntry> {
        if !node.is_list() {
            return node.table(|table| {
                let (axis, angle) = (table.get("axis", direction), table.get("angle_deg", number(FINITE)));
                Some(RotationEntry::AxisAngle(axis?, angle?.to_radians()))
            });
        }
        let numbers = node.clone().list(number(FINITE))?;
        let &[x, y, z, w] = numbers.as_slice() else {
            let message = format!(
                "`{}` has {} numbers, expected a quaternion of four: [x, y, z, w]",
                node.name(),
                numbers.len()
            );
            node.problem(
                message,
                "no rotation is [0, 0, 0, 1]; or write { axis = [0, 0, 1], angle_deg = 30 }",
            );
            return None;
        };
        let read = RotationEntry::quaternion([x, y, z, w]);
        if read.is_none() {
            node.problem(
                format!("`{}` is a quaternion of length zero, which is no rotation", node.name()),
                "no rotation is [0, 0, 0, 1]",
            );
        }
        read
    }

    /// Rotation of a quaternion x, y, z, w of any length; `None` for length zero.
    fn quaternion(numbers: [f64; 4]) -> Option<RotationEntry> {
        let turn = DQuat::from_array(numbers);
        (turn.length() > NO_LENGTH).then(|| RotationEntry::Quaternion(turn.normalize()))
    }
}

/// Rows of a table.
#[derive(Default)]
struct MotionRows {
    times: Vec<f64>,
    displacements: Vec<DVec3>,
    /// Empty without rotations.
    rotations: Vec<RotationEntry>,
}

/// Reads `times` with `displacements` and `rotations`, or a `file` of them.
pub fn table(table: &mut Table<'_>, shape: OfShape<'_>) -> Option<MotionLaw> {
    let rows = if table.has("file") { from_file(table, shape) } else { from_lists(table) }?;
    let MotionRows { times, displacements, rotations } = rows;
    let point = if rotations.is_empty() { shape.pivot } else { table.or("point", shape.pivot, vector) };
    if let Some(i) = rotations.windows(2).position(|pair| !pair[0].leads_to(&pair[1])) {
        table.problem(
            format!(
                "rotations of `{}` go half a turn or more from {} s to {} s: which way round is not clear",
                table.name(),
                times[i],
                times[i + 1]
            ),
            "add rows in between, with less than half a turn from one to the next; angles about one axis go on beyond 180",
        );
        return None;
    }
    let rotations = rotations.iter().map(RotationEntry::turn).collect();
    Some(MotionLaw::Table { times, displacements, point, rotations })
}

fn from_lists(table: &mut Table<'_>) -> Option<MotionRows> {
    const DISPLACEMENTS: [&str; 2] = ["displacement", "displacements"];
    if !table.has("rotations") {
        let (times, displacements) = over_time(table, DISPLACEMENTS, vector)?;
        return Some(MotionRows { times, displacements, rotations: Vec::new() });
    }
    let (times, rotations) = over_time(table, ["rotation", "rotations"], RotationEntry::read)?;
    let displacements = match table.has("displacements") {
        true => over_time(table, DISPLACEMENTS, vector)?.1,
        false => vec![DVec3::ZERO; times.len()],
    };
    Some(MotionRows { times, displacements, rotations })
}

fn from_file(table: &mut Table<'_>, shape: OfShape<'_>) -> Option<MotionRows> {
    let (node, name) = (table.node("file")?, table.get("file", text)?);
    if ["times", "displacements", "rotations"].into_iter().any(|key| table.has(key)) {
        let message = format!("`{}` has a `file` and times, displacements or rotations", table.name());
        table.problem(message, "leave out one of the two");
        return None;
    }
    let rows = open_named(&node, shape.folder, &name).and_then(|file| rows(file, &name));
    let help = "the first line has the names t,x,y,z and if wanted qx,qy,qz,qw or axis_x,axis_y,axis_z,angle_deg; SI units; paths start \
                at the scenario's folder";
    let (rows, note) = rows
        .map_err(|mistakes| {
            mistakes.iter().take(SHOWN).for_each(|mistake| node.problem(mistake, help));
            if mistakes.len() > SHOWN {
                node.problem(format!("and {} more mistakes in this file", mistakes.len() - SHOWN), help);
            }
        })
        .ok()?;
    node.report.note(note);
    Some(rows)
}

/// Name of a column, and the unit that stands behind it in brackets; empty without one.
fn name_and_unit(title: &str) -> (&str, &str) {
    let within =
        title.split_once(['[', '(']).and_then(|(name, unit)| Some((name, unit.strip_suffix([']', ')'])?)));
    within.map_or((title.trim(), ""), |(name, unit)| (name.trim(), unit.trim()))
}

/// Columns of a file; those of displacements and of rotations may be left out.
struct MotionColumns {
    time: usize,
    place: Option<[usize; 3]>,
    quaternion: Option<[usize; 4]>,
    axis_angle: Option<[usize; 4]>,
}

impl MotionColumns {
    /// Finds the columns by their names, behind which a unit may stand in brackets, or says what is missing.
    fn of(header: &[String]) -> Result<MotionColumns, String> {
        let titles: Vec<(&str, &str)> = header.iter().map(|title| name_and_unit(title)).collect();
        let find = |name: &str| titles.iter().position(|(title, _)| title.eq_ignore_ascii_case(name));
        let all = |names: &[&str]| names.iter().map(|name| find(name)).collect::<Option<Vec<usize>>>();
        let found = header.join(",");
        let time = find("t").or_else(|| find("time"));
        let time = time.ok_or_else(|| format!("the columns are {found}, expected one of times, t"))?;
        let columns = MotionColumns {
            time,
            place: all(&["x", "y", "z"]).and_then(|all| all.try_into().ok()),
            quaternion: all(&["qx", "qy", "qz", "qw"]).and_then(|all| all.try_into().ok()),
            axis_angle: all(&["axis_x", "axis_y", "axis_z", "angle_deg"]).and_then(|all| all.try_into().ok()),
        };
        let in_seconds = std::iter::once((time, "s"));
        let in_metres = columns.place.into_iter().flatten().map(|column| (column, "m"));
        for (column, unit) in in_seconds.chain(in_metres) {
            if !["", unit].contains(&titles[column].1) {
                return Err(format!("column `{}` is not in {unit}: convert its numbers", header[column]));
            }
        }
        match (columns.place, columns.quaternion, columns.axis_angle) {
            (None, None, None) => {
                Err(format!("the columns are {found}, expected x,y,z or those of rotations"))
            }
            (_, Some(_), Some(_)) => Err("there are two kinds of rotations, expected one".to_owned()),
            _ => Ok(columns),
        }
    }

    /// Columns that are read.
    fn taken(&self) -> Vec<usize> {
        let place = self.place.iter().flatten().copied();
        let rotation = self.quaternion.iter().chain(&self.axis_angle).flatten().copied();
        std::iter::once(self.time).chain(place).chain(rotation).collect()
    }

    /// Reads a row, of which `before` is the time of the row before it \[s\].
    fn row(&self, line: &TableLine<'_>, before: Option<f64>) -> Result<MotionRow, String> {
        let numbers = |columns: [usize; 4], names: [&str; 4]| {
            let read: Result<Vec<f64>, String> =
                columns.into_iter().zip(names).map(|(column, name)| line.number(column, name)).collect();
            read.map(|read| [read[0], read[1], read[2], read[3]])
        };
        let time = line.number(self.time, "t")?;
        if !TIME.accepts(time) {
            return Err(format!("t is {time}, expected {}", TIME.words()));
        }
        if let Some(before) = before.filter(|&before| before >= time) {
            return Err(format!("the time {time} does not come after {before}, the one before"));
        }
        let mut displacement = DVec3::ZERO;
        for (axis, (column, name)) in self.place.into_iter().flatten().zip(["x", "y", "z"]).enumerate() {
            displacement[axis] = line.number(column, name)?;
            if displacement[axis].abs() > FAR {
                return Err(format!("{name} is {:e} m, expected at most {FAR:e} m", displacement[axis]));
            }
        }
        let rotation = match (self.quaternion, self.axis_angle) {
            (Some(columns), _) => {
                let read = RotationEntry::quaternion(numbers(columns, ["qx", "qy", "qz", "qw"])?);
                Some(read.ok_or("a quaternion of length zero is no rotation")?)
            }
            (None, Some(columns)) => {
                let [x, y, z, angle] = numbers(columns, ["axis_x", "axis_y", "axis_z", "angle_deg"])?;
                let axis = unit_vector(DVec3::new(x, y, z)).or((angle == 0.0).then_some(DVec3::Z));
                let axis = axis.ok_or("an axis of length zero is none")?;
                Some(RotationEntry::AxisAngle(axis, angle.to_radians()))
            }
            (None, None) => None,
        };
        Ok(MotionRow { time, displacement, rotation })
    }
}

struct MotionRow {
    time: f64,
    displacement: DVec3,
    rotation: Option<RotationEntry>,
}

/// Reads all rows and what was taken of them, or reports every mistake with its line.
fn rows(input: impl std::io::Read, name: &str) -> Result<(MotionRows, String), Vec<String>> {
    let mut columns = Columns::open(input, name).map_err(|mistake| vec![mistake])?;
    let layout = MotionColumns::of(&columns.header)
        .map_err(|mistake| vec![format!("{name}:{}: {mistake}", columns.line)])?;
    let (mut all, mut mistakes) = (MotionRows::default(), Vec::new());
    columns.read(|record| {
        let row = record.and_then(|record| {
            let row = layout.row(&record, all.times.last().copied());
            row.map_err(|mistake| format!("{name}:{}: {mistake}", record.line))
        });
        match row {
            Ok(MotionRow { time, displacement, rotation }) => {
                all.times.push(time);
                all.displacements.push(displacement);
                all.rotations.extend(rotation);
            }
            Err(mistake) => mistakes.push(mistake),
        }
        let is_enough = all.times.len() + mistakes.len() > ENOUGH;
        if is_enough {
            mistakes.push(format!("{name} holds more than {ENOUGH} rows"));
        }
        !is_enough
    });
    if all.times.is_empty() && mistakes.is_empty() {
        mistakes.push(format!("{name} holds no row"));
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let taken = layout.taken();
    let title = |i: &usize| columns.header[*i].clone();
    let others: Vec<String> =
        (0..columns.header.len()).filter(|i| !taken.contains(i)).map(|i| title(&i)).collect();
    let left_out = if others.is_empty() {
        "nothing is left out".to_owned()
    } else {
        format!("left out: {}", others.join(", "))
    };
    let taken: Vec<String> = taken.iter().map(title).collect();
    let count = all.times.len();
    Ok((
        all,
        format!(
            "{}: {count} rows of a motion, taken: {}; {left_out}",
            without_folder(name),
            taken.join(", ")
        ),
    ))
}
