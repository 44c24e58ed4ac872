//! The `[periodic]` table: axes along which the scene is periodic.

use std::f64::consts::TAU;
use std::ops::Range;

use glam::{DMat3, DQuat, DVec3};

use super::deformation::deformation;
use super::read::{AXES, Need, Node, ReadReport, Table, number, unit_vector};
use crate::model::mesh::bounds_of;
use crate::model::motion::rotation_vector;
use crate::model::{Boundary, Deformation, Form, Mesh, MotionLaw, Periodic, Surface, contact_reach};

/// Component of a normal along a periodic axis below which it counts as rounding error \[-\].
const ROUNDING: f64 = 1e-9;

/// Periodic cell, and the place of each axis in the file.
#[derive(Default)]
pub struct PeriodicCell {
    /// Origin and lengths of the cell.
    pub periodic: Periodic,
    /// How the cell deforms, if it does.
    pub deformation: Option<Deformation>,
    spans: [Range<usize>; 3],
}

/// Reads the table: `[min, max]` for each periodic axis, and the stages of a cell that deforms.
pub fn cell(table: &mut Table<'_>) -> Option<PeriodicCell> {
    let mut cell = PeriodicCell::default();
    for (axis, name) in AXES.into_iter().enumerate() {
        let Some(node) = table.node(name) else { continue };
        cell.spans[axis] = node.span.clone();
        if let Some((min, max)) = extent(node) {
            cell.periodic.min[axis] = min;
            cell.periodic.length[axis] = max - min;
        }
    }
    cell.deformation = deformation(table, &mut cell.periodic);
    Some(cell)
}

/// Reads `[min, max]`.
fn extent(node: Node<'_>) -> Option<(f64, f64)> {
    const PLACE: Need = Need::new(|x| x.abs() <= 1e9, "a coordinate in metres (at most 1e9)");
    let ends = node.clone().list(number(PLACE))?;
    let &[min, max] = ends.as_slice() else {
        node.problem(
            format!("`{}` has {} numbers, expected two: [min, max]", node.name(), ends.len()),
            "for example [0.0, 0.1]",
        );
        return None;
    };
    if min >= max {
        node.problem(
            format!("`{}` is empty: min = {min} is not below max = {max}", node.name()),
            "swap or change the two numbers",
        );
        return None;
    }
    Some((min, max))
}

impl PeriodicCell {
    /// Reports periods that are too short for grains with a radius of at most `largest` \[m\], whose contacts have a `margin` in mean
    /// diameters.
    pub fn check_lengths(&self, largest: f64, margin: f64, report: &ReadReport) {
        let reach = contact_reach(largest, margin);
        for axis in self.periodic.short_axes(reach) {
            let (name, length) = (AXES[axis], self.periodic.length[axis]);
            let least = rounded_up(Periodic::least_length(reach));
            report.problem(
                &self.spans[axis],
                format!(
                    "`periodic.{name}` is {length} m long, expected at least {least} m: three diameters of the \
                     largest grain (radius {largest} m), each with its contact margin"
                ),
                format!("set max to min + {least} or more, or use smaller grains"),
            );
        }
    }
}

/// Writes a length with six digits, rounded up.
fn rounded_up(length: f64) -> String {
    let decimals = (5.0 - length.log10().floor()).clamp(0.0, 300.0);
    let unit = 0.1f64.powf(decimals);
    // The factor keeps a whole number of units from being rounded up because of an error in its last digits.
    let text = format!("{:.*}", decimals as usize, (length / unit * (1.0 - 1e-10)).ceil() * unit);
    if decimals > 0.0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Reports a plane that is not parallel to a periodic axis, now or after it has turned: behind it there would be no room for the grains of
/// the next cell.
pub fn check_walls<'a>(
    table: &mut Table<'_>,
    boundary: &Boundary,
    mut surfaces: impl Iterator<Item = &'a Surface>,
    periodic: &Periodic,
) {
    let axis_across = surfaces.find_map(|surface| {
        let normals = normals(boundary, surface)?;
        (0..3).find(|&axis| {
            periodic.length[axis] > 0.0 && normals.iter().any(|normal| normal[axis].abs() > ROUNDING)
        })
    });
    let (Some(axis), Some(node)) = (axis_across, table.node("shape").or_else(|| table.node("shapes"))) else {
        return;
    };
    let name = AXES[axis];
    node.problem(
        format!("`{}` has a plane whose normal has a part along {name}, which is periodic", node.name()),
        format!(
            "of a box leave the walls out, open = [\"-{name}\", \"+{name}\"]; to tilt a floor, tilt gravity instead"
        ),
    );
}

/// Reports a dynamic boundary or a mesh that is longer than a period: it would touch its own image, which has no effect.
pub fn check_size(
    table: &mut Table<'_>,
    boundary: &Boundary,
    surface: &Surface,
    mesh: Option<&Mesh>,
    periodic: &Periodic,
) {
    if boundary.dynamic().is_none() && mesh.is_none() {
        return;
    }
    let extent = match surface.form {
        Form::Patch { .. } => {
            let turn = boundary.orientation * surface.orientation;
            let vertices = mesh.map_or(&[][..], |mesh| &mesh.vertices).iter().map(|&vertex| turn * vertex);
            let [low, high] = bounds_of(vertices);
            high - low
        }
        Form::Box { half } => {
            let frame = DMat3::from_quat(boundary.orientation * surface.orientation);
            2.0 * (frame.x_axis.abs() * half.x + frame.y_axis.abs() * half.y + frame.z_axis.abs() * half.z)
        }
        Form::Sphere { radius } => DVec3::splat(2.0 * radius),
        Form::Capsule { radius, length } => {
            DVec3::splat(2.0 * radius)
                + length * (boundary.orientation * surface.orientation * DVec3::Z).abs()
        }
        Form::Solid { bottom_radius, top_radius, length } => {
            let axis = boundary.orientation * surface.orientation * DVec3::Z;
            let across = (DVec3::ONE - axis * axis).max(DVec3::ZERO).map(f64::sqrt);
            length * axis.abs() + 2.0 * bottom_radius.max(top_radius) * across
        }
        _ => return,
    };
    let is_too_long = |axis: &usize| {
        let period = periodic.length[*axis];
        period > 0.0 && extent[*axis] > period * (1.0 + ROUNDING)
    };
    let (Some(axis), Some(node)) =
        ((0..3).find(is_too_long), table.node("shape").or_else(|| table.node("shapes")))
    else {
        return;
    };
    let (name, length, period) = (AXES[axis], extent[axis], periodic.length[axis]);
    node.problem(
        format!(
            "`{}` is {} and {length} m long along {name}, the period is {period} m",
            node.name(),
            if mesh.is_some() { "a mesh" } else { "dynamic" }
        ),
        format!("make it shorter, or `periodic.{name}` longer"),
    );
}

/// Orthogonal directions that span all normals which a plane has during its motions. A turn about an axis leads a normal into the span of
/// those after none, a quarter and half of a turn.
fn normals(boundary: &Boundary, surface: &Surface) -> Option<Vec<DVec3>> {
    let mut normals = vec![matches!(surface.form, Form::Plane).then(|| surface.orientation * DVec3::Z)?];
    for part in boundary.motion.parts().iter().rev().filter(|part| part.turns()) {
        let before = std::mem::take(&mut normals);
        for (from, axis) in sweeps(&part.law) {
            let turn =
                |turns: f64| axis.map_or(from, |axis| DQuat::from_axis_angle(axis, turns * TAU) * from);
            let quarters = [0.0, 0.25, 0.5].map(turn);
            for turned in before.iter().flat_map(|normal| quarters.map(|turn| turn * *normal)) {
                let others: DVec3 = normals.iter().map(|other| turned.dot(*other) * *other).sum();
                normals
                    .extend((turned - others).try_normalize().filter(|_| turned.distance(others) > ROUNDING));
            }
        }
    }
    Some(normals)
}

/// Turns of a motion, each from an orientation about an axis, if it has one.
fn sweeps(law: &MotionLaw) -> Vec<(DQuat, Option<DVec3>)> {
    match law {
        MotionLaw::Rotation { rate: along, .. } | MotionLaw::Rocking { amplitude: along, .. } => {
            vec![(DQuat::IDENTITY, unit_vector(*along))]
        }
        MotionLaw::Table { rotations, .. } => {
            let leg = |pair: &[DQuat]| (pair[0], unit_vector(rotation_vector(pair[1] * pair[0].conjugate())));
            let legs = rotations.windows(2).map(leg);
            rotations.last().map(|last| (*last, None)).into_iter().chain(legs).collect()
        }
        MotionLaw::Velocity(_) | MotionLaw::Oscillation { .. } => Vec::new(),
    }
}
