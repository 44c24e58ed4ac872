//! Sliders: boundaries that move along an axis, with their drives, and the walls around them.

use glam::DVec3;

use super::read::{AXES, FINITE, Need, Node, POSITIVE, TIME, Table, direction, number, text};
use crate::error::suggest;
use crate::model::{Area, Course, Drive, Form, RigidBody, Slider, Span, World};

const MASS: Need = Need::new(|x| (1e-9..=1e12).contains(&x), "a positive mass in kg (1e-9 to 1e12)");
const AREA: Need = Need::new(|x| x > 0.0 && x <= 1e12, "a positive area in m²");
/// Components of a unit vector below this are rounding.
const ROUNDING: f64 = 1e-9;

/// Reads the motion of a slider of these surfaces. An area between walls is left to [`areas`].
pub fn slider(table: &mut Table<'_>, surfaces: Option<&[(DVec3, DVec3, Form)]>) -> Option<Slider> {
    let mass = table.get("mass", number(MASS));
    let axis = match surfaces {
        Some([(_, normal, Form::Plane)]) => Some(table.or("axis", *normal, direction)),
        _ => table.get("axis", direction),
    };
    let drives = table.maybe("drive", drives);
    let is_fixed = table.node("area").is_some_and(|node| node.as_number().is_some());
    let area = if is_fixed { table.maybe("area", number(AREA)).map(Area::Fixed) } else { None };
    let presses = drives.iter().flatten().any(|(_, drive)| matches!(drive, Drive::Pressure(_)));
    if presses && !table.has("area") {
        table.missing(
            "area",
            "a pressure acts on an area: add `area = 0.01` [m²], or between walls, \
             `area = { between = [[\"left\", \"right\"], [\"front\", \"back\"]] }`",
        );
    }
    let is_right = |surfaces: &[(DVec3, DVec3, Form)]| {
        matches!(surfaces, [(_, _, Form::Plane | Form::Box { .. } | Form::Sphere { .. })])
    };
    if surfaces.is_some_and(|surfaces| !is_right(surfaces)) {
        table.problem(
            format!("`{}` slides, and its shape is neither a plane nor a solid box or sphere", table.name()),
            "use kind = \"plane\", kind = \"box\" with side = \"outside\", kind = \"sphere\", or another motion",
        );
    }
    let axis = axis?;
    let Some(index) = (0..3).find(|&index| axis[index].abs() > 1.0 - ROUNDING) else {
        table.problem(
            format!("`{}` slides along {axis}, expected x, y or z", table.name()),
            "set `axis` to [1, 0, 0], [0, 1, 0] or [0, 0, 1], or to the reverse of one",
        );
        return None;
    };
    let drives = if table.has("drive") { drives? } else { Vec::new() };
    let body = RigidBody::on_rail(mass?, index);
    Some(Slider { body, axis: index, sign: axis[index].signum(), drives, area })
}

/// Reads one drive or a list of them.
fn drives(node: Node<'_>) -> Option<Vec<(f64, Drive)>> {
    if !node.is_list() {
        return node.table(drive).map(|drive| vec![drive]);
    }
    let drives = node.clone().list(|node| node.table(drive))?;
    if let Some(i) = drives.windows(2).position(|pair| pair[0].0 >= pair[1].0) {
        node.problem(
            format!(
                "drives of `{}` do not ascend: a start at {} s is followed by {} s",
                node.name(),
                drives[i].0,
                drives[i + 1].0
            ),
            "give each drive its own `start`, and sort them",
        );
        return None;
    }
    Some(drives)
}

/// Reads a drive and when it starts \[s\].
fn drive(table: &mut Table<'_>) -> Option<(f64, Drive)> {
    let start = table.or("start", 0.0, number(TIME));
    let given = ["force", "pressure", "velocity"].map(|key| table.has(key));
    if given.iter().filter(|given| **given).count() != 1 {
        table.problem(
            format!("`{}` must have one of `force`, `pressure` and `velocity`", table.name()),
            "for example force = 10.0 [N], pressure = 100.0 [Pa], or velocity = 0.01 [m/s] with force_limit [N]",
        );
        table.leave_keys_unjudged();
        return None;
    }
    let drive = match given {
        [true, ..] => Drive::Force(table.get("force", course)?),
        [_, true, _] => Drive::Pressure(table.get("pressure", course)?),
        _ => {
            let force_limit = match table.has("force_limit") {
                true => table.get("force_limit", number(POSITIVE)),
                false => Some(f64::INFINITY),
            };
            Drive::Motor { velocity: table.get("velocity", course)?, force_limit: force_limit? }
        }
    };
    Some((start, drive))
}

/// Reads a number, or a table of one over time.
fn course(node: Node<'_>) -> Option<Course> {
    if node.child("times").is_none() {
        return number(FINITE)(node).map(Course::Constant);
    }
    node.table(|table| {
        let times = table.get("times", |node| node.list(number(TIME)));
        let values = table.get("values", |node| node.list(number(FINITE)));
        let (times, values) = (times?, values?);
        if times.is_empty() || times.len() != values.len() {
            table.problem(
                format!("`{}` has {} times and {} values", table.name(), times.len(), values.len()),
                "give one value per time, and at least one",
            );
            return None;
        }
        if let Some(i) = times.windows(2).position(|pair| pair[0] >= pair[1]) {
            let message = format!(
                "times of `{}` do not ascend: {} is followed by {}",
                table.name(),
                times[i],
                times[i + 1]
            );
            table.problem(message, "sort the times and remove equal ones");
            return None;
        }
        Some(Course::Table { times, values })
    })
}

/// Reads the areas of sliders that are given by the walls around them. `names` are those of all boundaries in the
/// file, also of wrong ones, which are not in the world.
pub fn areas(root: &mut Table<'_>, world: &mut World, names: &[String]) {
    let nodes = root.node("boundaries").and_then(|node| node.elements()).unwrap_or_default();
    for (node, name) in nodes.into_iter().zip(names) {
        let area = node.child("motion").and_then(|motion| motion.child("area"));
        let Some(area) = area.filter(|area| area.as_number().is_none()) else { continue };
        let Some(body) = world.boundaries.iter().position(|boundary| boundary.name == *name) else {
            continue;
        };
        let Some(slider) = world.boundaries[body].slider() else { continue };
        let axis = slider.axis;
        let spans = area.table(|table| table.get("between", |node| around(node, axis, world, names)));
        if let Some(spans) = spans {
            world.set_area(body, Area::Between(spans));
        }
    }
}

/// Reads two pairs of walls, one along each axis across `axis`.
fn around(node: Node<'_>, axis: usize, world: &World, names: &[String]) -> Option<[Span; 2]> {
    let spans = node.clone().list(|node| facing(node, world, names))?;
    let spans = <[Span; 2]>::try_from(spans).ok();
    let spans = spans.filter(|[one, other]| one.axis != other.axis && one.axis != axis && other.axis != axis);
    if spans.is_none() {
        let across: Vec<&str> = (0..3).filter(|other| *other != axis).map(|other| AXES[other]).collect();
        node.problem(
            format!("`{}` must be two pairs of walls", node.name()),
            format!("a slider along {} needs one pair along {}", AXES[axis], across.join(" and one along ")),
        );
    }
    spans
}

/// Reads the names of two planes that face each other along x, y or z. `names` are those of all boundaries in the file.
pub fn facing(node: Node<'_>, world: &World, names: &[String]) -> Option<Span> {
    let wall = |node: Node<'_>| {
        let name = text(node.clone())?;
        if !names.contains(&name) {
            let known = names.iter().map(String::as_str);
            node.problem(
                format!("`{}`: there is no boundary \"{name}\"", node.name()),
                suggest(&name, known),
            );
        }
        Some(name)
    };
    let pair = node.clone().list(wall)?;
    let body = |name: &String| world.boundaries.iter().position(|boundary| boundary.name == *name);
    let bodies: Vec<usize> = pair.iter().filter_map(body).collect();
    // A wall that is wrong by itself has been reported.
    if bodies.len() < pair.len() && !node.report.is_clean() {
        return None;
    }
    let span = match bodies[..] {
        [one, other] => world.span(one, other).or_else(|| world.span(other, one)),
        _ => None,
    };
    if span.is_none() {
        node.problem(
            format!("`{}` must be two planes that face each other along x, y or z", node.name()),
            "for example [\"left\", \"right\"], with normals [1, 0, 0] and [-1, 0, 0]",
        );
    }
    span
}
