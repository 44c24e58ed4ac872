//! Checks of a file as a whole, and small readers that several tables share.

use super::read::{Node, Table, word};
use super::{MAX_GRAINS, MAX_STEPS, grains, materials};
use crate::model::{Axes, Materials};
use crate::settings::Settings;
use crate::sources::Emitter;

/// Reads `locked_axes`.
pub(super) fn locked_axes(table: &mut Table<'_>) -> Axes {
    const AXES: &[&str] = &["x", "y", "z", "rx", "ry", "rz"];
    let names = table.or("locked_axes", Vec::new(), |node: Node<'_>| node.list(word(AXES)));
    let all = Axes::TRANSLATION.into_iter().chain(Axes::ROTATION);
    let locked = AXES.iter().zip(all).filter(|(name, _)| names.contains(name));
    locked.fold(Axes::NONE, |axes, (_, axis)| axes.and(axis))
}

pub(super) fn read_materials(root: &mut Table<'_>) -> Materials {
    let materials = root.maybe("materials", |node| node.table(|table| Some(materials::materials(table))));
    let mut materials = materials.unwrap_or_default();
    let mut given = Vec::new();
    let pairs = root.node("pairs").and_then(|node| node.elements()).unwrap_or_default();
    for node in pairs {
        node.table(|table| materials::pair(table, &mut materials, &mut given));
    }
    materials
}

pub(super) fn check_steps(root: &mut Table<'_>, duration: f64, settings: &Settings) {
    if let Err(message) = check_step_count(duration, settings.time_step)
        && let Some(node) = root.node("duration")
    {
        node.problem(message, "enlarge solver.time_step or shorten the duration");
    }
    let step = root.node("solver").and_then(|node| node.child("time_step"));
    if settings.time_step > duration
        && root.has("duration")
        && let Some(node) = step.or_else(|| root.node("duration"))
    {
        node.problem(
            format!(
                "a step of {} s is longer than the run of {duration} s, which would do nothing",
                settings.time_step
            ),
            "shorten solver.time_step, or lengthen the duration to one step at least",
        );
    }
}

/// Refuses more steps than a run may have; the error is a message in words.
pub fn check_step_count(duration: f64, time_step: f64) -> Result<(), String> {
    let steps = duration / time_step;
    match steps > MAX_STEPS {
        true => Err(format!(
            "{duration} s in steps of {time_step} s are {steps:.1e} steps, at most {MAX_STEPS:e} are possible"
        )),
        false => Ok(()),
    }
}

pub(super) fn check_total(root: &Table<'_>, placement: &grains::Placement, emitters: &[Emitter]) {
    let total = placement.grains.len() as u64 + emitters.iter().map(Emitter::total).sum::<u64>();
    if total > MAX_GRAINS {
        root.problem(
            format!("the scenario comes to {total} grains, at most {MAX_GRAINS} are possible"),
            "use fewer grains",
        );
    }
}
