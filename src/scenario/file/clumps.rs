//! The `[clumps]` table: named grains of several spheres; and which clump a block or an emitter makes, in which orientation.

use std::path::Path;

use glam::{DQuat, DVec3};

use super::columns::{Columns, TableLine};
use super::radii::{has_size, sizes};
use super::read::asked::Asked;
use super::read::{Need, Node, RADIUS, Table, direction, number, text, vector};
use super::read::{open_named, without_folder};
use crate::error::suggest;
use crate::model::range::{RADII, WITHIN_RADII};
use crate::model::{Clump, ClumpId, Plane};
use crate::sources::make::{Make, Orientation};
use crate::sources::radii::Radii;

/// Largest number of spheres of a clump.
const MOST: usize = 1000;
const MASS: Need = Need::new(|x| x > 0.0, "a positive mass in kg");
const MOMENT: Need = Need::new(|x| x > 0.0, "a positive moment of inertia in kg m²");
const ANGLE: Need = Need::new(|x| x.abs() <= 1e6, "an angle in degrees");

/// Reads all clumps. A faulty clump keeps its name, so that references to it are not reported as mistakes.
pub fn clumps(table: &mut Table<'_>, folder: &Path) -> Vec<Clump> {
    let read = |(name, _, node): (String, _, Node<'_>)| {
        let read = node.table(|table| clump(&name, table, folder));
        read.unwrap_or_else(|| Clump::of_spheres(&name, &[(DVec3::ZERO, 1.0)]))
    };
    table.named().into_iter().map(read).collect()
}

fn clump(name: &str, table: &mut Table<'_>, folder: &Path) -> Option<Clump> {
    let (has_list, has_file) = (table.has("spheres"), table.has("file"));
    let listed = table.maybe("spheres", |node| node.elements().map(|nodes| spheres(&nodes)));
    let from_file = table.node("file").and_then(|node| table.get("file", text).map(|name| (node, name)));
    let (has_mass, has_moments) = (table.has("mass"), table.has("moments"));
    let mass = table.maybe("mass", number(MASS));
    let moments = table.maybe("moments", |node| node.list(number(MOMENT)));
    if has_list == has_file {
        let found = if has_list { "both `spheres` and `file`" } else { "neither `spheres` nor `file`" };
        let help =
            "give spheres = [{ position = [0, 0, 0], radius = 0.001 }, ...], or a file of columns x,y,z,r";
        table.problem(format!("`{}` has {found}", table.name()), help);
        return None;
    }
    let spheres = match from_file {
        Some((node, name)) => read_csv(&node, folder, &name)?,
        None => listed??,
    };
    if spheres.is_empty() || spheres.len() > MOST {
        let message = format!("`{}` has {} spheres", table.name(), spheres.len());
        table.problem(message, format!("a clump has 1 to {MOST} spheres"));
        return None;
    }
    if has_mass != has_moments {
        let message = format!("`{}` has only one of `mass` and `moments`", table.name());
        table.problem(
            message,
            "give both, or neither to have them from the density and the union of the spheres",
        );
        return None;
    }
    if !has_mass {
        return Some(Clump::of_spheres(name, &spheres));
    }
    let (mass, moments) = (mass?, moments?);
    let [x, y, z] = moments[..] else {
        let message = format!("`{}.moments` has {} numbers", table.name(), moments.len());
        table.problem(message, "give the three principal moments of inertia, about x, y and z");
        return None;
    };
    if x > y + z || y > x + z || z > x + y {
        let message = format!("no body has the moments of inertia {x}, {y} and {z} of `{}`", table.name());
        table.problem(message, "none of the three is larger than the sum of the other two");
        return None;
    }
    Some(Clump::with_mass(name, &spheres, mass, DVec3::new(x, y, z)))
}

/// Reads the centre \[m\] and radius \[m\] of each sphere; returns `None` if one is faulty.
fn spheres(nodes: &[Node<'_>]) -> Option<Vec<(DVec3, f64)>> {
    let sphere = |node: &Node<'_>| {
        node.clone().table(|table| {
            let (position, radius) = (table.get("position", vector), table.get("radius", number(RADIUS)));
            Some((position?, radius?))
        })
    };
    let read: Vec<_> = nodes.iter().map(sphere).collect();
    read.into_iter().collect()
}

/// Reads spheres from a table with columns x, y, z, r, the format of the clumps of DEM-Engine.
fn read_csv(node: &Node<'_>, folder: &Path, name: &str) -> Option<Vec<(DVec3, f64)>> {
    let help =
        "the first line has the names x,y,z,r, lengths in metres; paths start at the scenario's folder";
    let rows = open_named(node, folder, name).and_then(|file| rows(file, name));
    let found =
        rows.map_err(|mistakes| mistakes.iter().take(5).for_each(|mistake| node.problem(mistake, help)));
    let (spheres, note) = found.ok()?;
    node.report.note(note);
    Some(spheres)
}

/// Spheres of a file, and what was taken of it.
type Read = (Vec<(DVec3, f64)>, String);

fn rows(input: impl std::io::Read, name: &str) -> Result<Read, Vec<String>> {
    let mut columns = Columns::open(input, name).map_err(|mistake| vec![mistake])?;
    let title = |i: usize| columns.header.get(i).map(|title| title.to_ascii_lowercase());
    let find = |names: &[&str]| {
        let is_it = |i: &usize| title(*i).is_some_and(|title| names.contains(&title.as_str()));
        (0..columns.header.len()).find(is_it)
    };
    let places = [find(&["x"]), find(&["y"]), find(&["z"]), find(&["r", "radius"])];
    let [Some(x), Some(y), Some(z), Some(r)] = places else {
        let found = columns.header.join(",");
        return Err(vec![format!("{name}:{}: the columns are {found}, expected x,y,z,r", columns.line)]);
    };
    let places = [x, y, z, r];
    let others: Vec<String> = (0..columns.header.len())
        .filter(|i| !places.contains(i))
        .map(|i| columns.header[i].clone())
        .collect();
    let (mut spheres, mut mistakes) = (Vec::new(), Vec::new());
    columns.read(|record| {
        match record.and_then(|record| sphere(&record, places, name)) {
            Ok(sphere) => spheres.push(sphere),
            Err(mistake) => mistakes.push(mistake),
        }
        spheres.len() <= MOST && mistakes.len() <= MOST
    });
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let left_out = match others.as_slice() {
        [] => "nothing is left out".to_owned(),
        all => format!("left out: {}", all.join(", ")),
    };
    let note = format!("{}: {} spheres of a clump; {left_out}", without_folder(name), spheres.len());
    Ok((spheres, note))
}

fn sphere(record: &TableLine<'_>, [x, y, z, r]: [usize; 4], name: &str) -> Result<(DVec3, f64), String> {
    let line = record.line;
    let number = |column: usize, title: &str| {
        let number = record.number(column, title).and_then(|number| match number.abs() <= 1e6 {
            true => Ok(number),
            false => Err(format!("{title} is {number:e}, expected a finite number (at most 1e6)")),
        });
        number.map_err(|mistake| format!("{name}:{line}: {mistake}"))
    };
    let (centre, radius) = (DVec3::new(number(x, "x")?, number(y, "y")?, number(z, "z")?), number(r, "r")?);
    match RADII.contains(&radius) {
        true => Ok((centre, radius)),
        false => Err(format!("{name}:{line}: r is {radius}, expected {WITHIN_RADII}")),
    }
}

/// Reads `clump` or `shape`, and `turned`; without either the grains are spheres.
pub fn make(table: &mut Table<'_>, clumps: &[Clump]) -> Option<Make> {
    let (has_clump, has_shape, has_orientation) =
        (table.has("clump"), table.has("shape"), table.has("turned"));
    let clump = table.maybe("clump", kind_id(clumps, Family::Clumps));
    let shape = table.maybe("shape", kind_id(clumps, Family::Shapes));
    let orientation = table.maybe("turned", orientation);
    if has_clump && has_shape {
        table.problem(format!("`{}` names a clump and a shape", table.name()), "leave out one of them");
        return None;
    }
    if !has_clump && !has_shape {
        if has_orientation {
            let message = format!("`{}` is turned and names neither a clump nor a shape", table.name());
            table.problem(
                message,
                "remove it: a sphere looks the same from all sides; or name a clump or a shape",
            );
        }
        return Some(Make::default());
    }
    let id = if has_clump { clump? } else { shape? };
    let orientation = if has_orientation { orientation? } else { Orientation::Random };
    Some(Make::of_clump(id, &clumps[id as usize], orientation))
}

/// Reads the sizes of grains; where none are given a clump has its listed size.
pub fn radii_of(make: &Make, table: &mut Table<'_>, plane: Option<Plane>) -> Option<Radii> {
    if has_size(table) { sizes(table, plane) } else { make.listed_radius().map(Radii::Constant) }
}

/// The two families of grains that are no spheres.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Clumps,
    Shapes,
}

fn kind_id(clumps: &[Clump], family: Family) -> impl Fn(Node<'_>) -> Option<ClumpId> {
    let (one, table) = match family {
        Family::Clumps => ("clump", "clumps"),
        Family::Shapes => ("shape", "shapes"),
    };
    move |node| {
        let name = text(node.clone())?;
        let is_of_family = |clump: &Clump| clump.hull.is_some() == (family == Family::Shapes);
        let id = clumps.iter().position(|clump| clump.name == name && is_of_family(clump));
        if id.is_none() {
            let known = || clumps.iter().filter(|clump| is_of_family(clump)).map(|clump| clump.name.as_str());
            let advice = match known().next() {
                None => format!("add a table [{table}.{name}]"),
                Some(_) => suggest(&name, known()),
            };
            let message = format!("`{}` is \"{name}\", which is not a {one}", node.name());
            node.problem_of(format!("{one} {name}"), message, advice);
        }
        id.map(|id| id as ClumpId)
    }
}

/// Reads an orientation: `"random"`, or an axis and an angle.
fn orientation(node: Node<'_>) -> Option<Orientation> {
    if node.is_text() {
        node.ask(Asked::Word(&["random"]));
        return match node.text() {
            Some("random") => Some(Orientation::Random),
            _ => node.mismatch("\"random\", or { axis = [0, 0, 1], angle_deg = 30 }"),
        };
    }
    node.table(|table| {
        let (axis, angle) = (table.get("axis", direction), table.get("angle_deg", number(ANGLE)));
        Some(Orientation::Fixed(DQuat::from_axis_angle(axis?, angle?.to_radians())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clumps_of_dem_engine_are_read() {
        let text = "x,y,z,r\n0.00,-0.41,0,0.8\n-0.33,0.19,0,0.8\n0.29,0.19,0,0.8\n# volume = 4.25\n";
        let (spheres, _) = rows(text.as_bytes(), "flat.csv").expect("three spheres");
        assert_eq!((spheres.len(), spheres[1]), (3, (DVec3::new(-0.33, 0.19, 0.0), 0.8)));
        let (again, note) =
            rows(text.replace(',', "\t").replace("\tr", "\tradius").as_bytes(), "f").expect("spheres");
        assert_eq!((again, note.as_str()), (spheres, "f: 3 spheres of a clump; nothing is left out"));
    }

    #[test]
    fn every_mistake_of_a_file_has_its_line() {
        let mistakes = rows("x,y,z,r\n0,0,0,-1\n0,zero,0,1\n".as_bytes(), "c.csv").expect_err("two mistakes");
        assert!(mistakes[0].starts_with("c.csv:2: r is -1"), "{}", mistakes[0]);
        assert!(mistakes[1].starts_with("c.csv:3: y is \"zero\""), "{}", mistakes[1]);
        let mistakes = rows("x,y,z,size\n".as_bytes(), "c.csv").expect_err("another header");
        assert!(mistakes[0].contains("expected x,y,z,r"), "{}", mistakes[0]);
    }
}
