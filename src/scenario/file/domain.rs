//! The `[domain]` table: the box that grains must stay in.

use std::ops::Range;

use glam::DVec3;

use super::grains::Placement;
use super::read::asked::Asked;
use super::read::{AXES, Node, ReadReport, Table, word};
use crate::model::{Domain, Outside, Periodic};
use crate::sources::Emitter;

/// Largest finite coordinate of a face \[m\].
const FAR: f64 = 1e9;

/// Reads the table: `min`, `max`, each optional, and `outside`.
pub fn domain(table: &mut Table<'_>, periodic: &Periodic) -> Option<Domain> {
    let min = table.maybe("min", corner).unwrap_or(DVec3::NEG_INFINITY);
    let max = table.maybe("max", corner).unwrap_or(DVec3::INFINITY);
    let outside = match table.or("outside", "remove", word(&["keep", "remove", "stop"])) {
        "keep" => Outside::Keep,
        "stop" => Outside::Stop,
        _ => Outside::Remove,
    };
    if !table.has("min") && !table.has("max") {
        table
            .problem("the domain has no face", "give `min`, `max` or both, such as min = [-inf, -inf, -0.1]");
        return None;
    }
    for (axis, name) in AXES.into_iter().enumerate() {
        if min[axis] >= max[axis] {
            let message = format!(
                "the domain is empty along {name}: min = {} is not below max = {}",
                min[axis], max[axis]
            );
            table.problem(message, "swap or change the two numbers");
            return None;
        }
    }
    let (min, max) = beside_periods(table, periodic, min, max)?;
    Some(Domain { min, max, outside })
}

/// Returns the faces without those along periodic axes, where nothing can leave; reports a face within the period.
fn beside_periods(table: &Table<'_>, periodic: &Periodic, min: DVec3, max: DVec3) -> Option<(DVec3, DVec3)> {
    let is_periodic = periodic.length.cmpgt(DVec3::ZERO);
    let is_inside = is_periodic & (min.cmpgt(periodic.min) | max.cmplt(periodic.min + periodic.length));
    if let Some(axis) = (0..3).find(|&axis| is_inside.test(axis)) {
        table.problem(
            format!("the domain ends within the period along {}", AXES[axis]),
            "nothing leaves a scene along a periodic axis: write -inf and inf there",
        );
        return None;
    }
    Some((
        DVec3::select(is_periodic, DVec3::NEG_INFINITY, min),
        DVec3::select(is_periodic, DVec3::INFINITY, max),
    ))
}

/// Reads three coordinates, which may be infinite.
fn corner(node: Node<'_>) -> Option<DVec3> {
    const EXPECTED: &str = "three coordinates in metres (at most 1e9, or inf)";
    let elements = node.elements()?;
    node.ask(Asked::Vector);
    let coordinate = |node: &Node<'_>| node.as_number().filter(|x| x.abs() <= FAR || x.is_infinite());
    let numbers: Option<Vec<f64>> = elements.iter().map(coordinate).collect();
    match numbers.as_deref() {
        Some(&[x, y, z]) => Some(DVec3::new(x, y, z)),
        _ => {
            node.problem(
                format!("`{}` is {}, expected {EXPECTED}", node.name(), node.written()),
                "for example [-inf, -inf, -0.1]",
            );
            None
        }
    }
}

/// Reports grains that start outside of the domain, and emitters whose region reaches out of it.
pub fn check(
    domain: &Domain,
    span: &Range<usize>,
    placement: &Placement,
    emitters: &[Emitter],
    report: &ReadReport,
) {
    let outside =
        || placement.grains.iter().enumerate().filter(|(_, grain)| !domain.contains(grain.position));
    if let Some((id, grain)) = outside().next() {
        let rest = match outside().count() - 1 {
            0 => String::new(),
            more => format!("; so do {more} more"),
        };
        let DVec3 { x, y, z } = grain.position;
        let message = format!("grain {id} at ({x}, {y}, {z}) m starts outside of the domain{rest}");
        report.problem(span, message, "enlarge the domain, or move the grains");
    }
    for emitter in emitters {
        let (low, high) = emitter.bounds();
        if !(domain.contains(low) && domain.contains(high)) {
            let message = format!("the region of emitter \"{}\" reaches out of the domain", emitter.name());
            report.problem(span, message, "enlarge the domain, or move the region");
        }
    }
}
