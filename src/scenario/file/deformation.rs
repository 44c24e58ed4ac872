//! `[[periodic.stages]]`: the deformation of the periodic cell.

use super::read::{AXES, Need, Node, POSITIVE, Table, number, word};
use crate::model::{AxisControl, Deformation, DeformationStage, Periodic, Tilt, World};
use crate::settings::{Algorithm, Method, Settings};
use crate::sources::Emitter;

const RATE: Need = Need::new(|x| x.abs() <= 1e6, "a rate in 1/s, at most 1e6");
const STRESS: Need =
    Need::new(|x| x > 0.0 && x <= 1e12, "a positive stress in Pa (compression), at most 1e12");
const TIME: Need = Need::new(|x| (0.0..=1e12).contains(&x), "a time in s, not negative");

/// Shear of a stage: axis along which, axis across the face, and rate \[1/s\].
type Shear = (usize, usize, f64);

/// Reads the stages of the cell, and sets the axes of its tilt; `None` where the cell does not deform.
pub(super) fn deformation(table: &mut Table<'_>, periodic: &mut Periodic) -> Option<Deformation> {
    let max_rate = table.maybe("max_rate", number(POSITIVE));
    let mass_ratio = table.maybe("mass_ratio", number(POSITIVE));
    let Some(node) = table.node("stages") else {
        if max_rate.or(mass_ratio).is_some() {
            table.problem(
                "`periodic.max_rate` and `periodic.mass_ratio` are of a cell that deforms, and this one does not",
                "add [[periodic.stages]], or leave them out",
            );
        }
        return None;
    };
    let mut stages: Vec<DeformationStage> = Vec::new();
    let mut sheared = None;
    for node in node.elements()? {
        let before = stages.last().map(|stage| stage.from);
        let (stage, shear) = node.table(|table| stage(table, periodic, before))?;
        if let Some((along, across, _)) = shear {
            let first = *sheared.get_or_insert((along, across));
            if first != (along, across) {
                let [i, j] = [first.0, first.1].map(|axis| AXES[axis]);
                table.problem(
                    format!("the stages of `periodic.stages` shear along {i} across {j}, and otherwise"),
                    "a cell has one tilt: shear along and across the same axes in all stages",
                );
            }
        }
        stages.push(stage);
    }
    let is_goal = |axis: AxisControl| matches!(axis, AxisControl::Stress(_));
    if stages.is_empty() {
        table.problem("`periodic.stages` has no stage", "add [[periodic.stages]], or leave it out");
        return None;
    }
    if max_rate.is_none() && stages.iter().flat_map(|stage| stage.axes).any(is_goal) {
        table.missing(
            "max_rate",
            "add `max_rate = ...` # 1/s: how fast lengths may change towards a goal stress",
        );
    }
    if let Some((along, across)) = sheared {
        periodic.tilt = Tilt { shift: 0.0, along: along as u8, across: across as u8 };
    }
    let new = Deformation::new(stages, periodic.length);
    Some(Deformation {
        max_rate: max_rate.unwrap_or(new.max_rate),
        mass_ratio: mass_ratio.unwrap_or(new.mass_ratio),
        ..new
    })
}

/// Reads a stage that follows one from the time `before` \[s\].
fn stage(
    table: &mut Table<'_>,
    periodic: &Periodic,
    before: Option<f64>,
) -> Option<(DeformationStage, Option<Shear>)> {
    let from = table.get_or("from", before.is_none().then_some(0.0), number(TIME));
    let pressure = table.maybe("pressure", number(STRESS));
    let mut axes = [AxisControl::Rate(0.0); 3];
    for (axis, name) in AXES.into_iter().enumerate() {
        let is_periodic = periodic.length[axis] > 0.0;
        match table.node(name) {
            Some(node) => {
                axes[axis] = node.clone().table(control).unwrap_or(axes[axis]);
                if !is_periodic {
                    not_periodic(&node, axis);
                }
            }
            None => {
                if let Some(pressure) = pressure.filter(|_| is_periodic) {
                    axes[axis] = AxisControl::Stress(pressure);
                }
            }
        }
    }
    let shear = table.maybe("shear", |node| {
        let outer = node.clone();
        let shear = node.table(shear)?;
        let missing = [shear.0, shear.1].into_iter().find(|&axis| periodic.length[axis] == 0.0);
        missing.into_iter().for_each(|axis| not_periodic(&outer, axis));
        Some(shear)
    });
    let from = from?;
    if before.map_or(from != 0.0, |before| from <= before) {
        table.problem(
            format!("`{}.from` is {from} s", table.name()),
            "the first stage begins at 0, and every other after the one before",
        );
    }
    Some((DeformationStage { from, axes, shear_rate: shear.map_or(0.0, |(.., rate)| rate) }, shear))
}

fn not_periodic(node: &Node<'_>, axis: usize) {
    let name = AXES[axis];
    node.problem(
        format!("`{}` deforms the cell along {name}, which is not periodic", node.name()),
        format!("add `periodic.{name} = [min, max]`, or leave it out"),
    );
}

/// Reads the control of an axis: `rate` or `stress`.
fn control(table: &mut Table<'_>) -> Option<AxisControl> {
    match (table.maybe("rate", number(RATE)), table.maybe("stress", number(STRESS))) {
        (Some(rate), None) => Some(AxisControl::Rate(rate)),
        (None, Some(stress)) => Some(AxisControl::Stress(stress)),
        _ => {
            table.lacks(
                &["rate", "stress"],
                format!("`{}` needs one of `rate` and `stress`", table.name()),
                "for example { stress = 1000.0 } # Pa, or { rate = -0.1 } # 1/s, shorter",
            );
            None
        }
    }
}

fn shear(table: &mut Table<'_>) -> Option<Shear> {
    let axis = |name: &'static str| AXES.into_iter().position(|axis| axis == name);
    let along = table.get("along", word(&AXES)).and_then(axis);
    let across = table.get("across", word(&AXES)).and_then(axis);
    let rate = table.get("rate", number(RATE));
    let (along, across) = (along?, across?);
    if along == across {
        table.problem(
            format!("`{}` is along and across {}", table.name(), AXES[along]),
            "take two axes: along = \"x\", across = \"y\" is dv_x/dy",
        );
        return None;
    }
    Some((along, across, rate?))
}

/// Reports what a deforming cell cannot have.
pub(super) fn check(root: &mut Table<'_>, world: &World, emitters: &[Emitter], settings: &Settings) {
    if world.deformation.is_none() {
        return;
    }
    let Some(node) = root.node("periodic").and_then(|node| node.child("stages")) else { return };
    let refuse = |holds: bool, what: &str, advice: &str| {
        if holds {
            node.problem(format!("`periodic.stages` deform the cell, and the scene has {what}"), advice);
        }
    };
    let is_open = |axis: usize| world.periodic.length[axis] == 0.0;
    let across = world.plane.map(|plane| plane.across());
    let leave_out = "leave out one of the two";
    refuse(
        (0..3).any(|axis| is_open(axis) && across != Some(axis)),
        "an axis that is not periodic",
        "make all axes periodic, in a plane scene both of its plane",
    );
    refuse(
        across.is_some_and(|axis| !is_open(axis)),
        "a period across its plane",
        "leave the period across the plane out",
    );
    refuse(world.gravity.length() > 0.0, "gravity, which nothing would hold up", "set gravity = [0, 0, 0]");
    refuse(!world.boundaries.is_empty(), "boundaries", "leave them out: the faces of the cell are periodic");
    refuse(!emitters.is_empty(), "emitters", "place all grains at the start");
    refuse(world.has_drains() || world.domain.is_some(), "sinks or a domain", leave_out);
    refuse(world.heat.is_some(), "heat", leave_out);
    refuse(world.liquid.is_some(), "liquid", leave_out);
    refuse(!world.bonds.is_empty(), "bonds", leave_out);
    let has_hulls = world
        .grains
        .iter()
        .any(|grain| grain.clump.is_some_and(|clump| world.clumps[clump as usize].hull.is_some()));
    refuse(has_hulls, "polyhedra", "make the grains of spheres ([clumps.NAME])");
    refuse(settings.method == Method::Smooth, "the smooth method", "set solver.method = \"nonsmooth\"");
    refuse(settings.algorithm == Algorithm::Apgd, "the algorithm apgd", "set solver.algorithm = \"pgs\"");
    refuse(settings.coarse_corrections > 0, "coarse corrections", "leave out solver.coarse_corrections");
    refuse(root.has("convergence"), "a convergence study", "leave out [convergence]");
    let observed = root.node("observe");
    for (key, what) in [
        ("regions", "observed regions"),
        ("gates", "gates"),
        ("layers", "observed layers"),
        ("fields", "fields"),
        ("mixing", "an observed mixture"),
        ("surface", "an observed surface"),
        ("cell", "a cell of walls"),
        ("drum", "a drum"),
    ] {
        let is_there = observed.as_ref().is_some_and(|node| node.child(key).is_some());
        refuse(is_there, what, "leave it out: its place would not deform with the cell");
    }
}
