//! `fix` and `unfix`.

use glam::DVec3;

use super::command::ScriptCommand;
use super::insertion;
use super::meshes;
use super::properties::property;
use super::scene::{AtomGroup, FixKind, ScriptFix, ScriptScene};
use super::walls;
use crate::scenario::Problem;

/// Fixes that measure, store or write, and need nothing of the kind in esker.
const HARMLESS: [&str; 17] = [
    "check/timestep/gran",
    "print",
    "ave/time",
    "ave/spatial",
    "ave/chunk",
    "ave/atom",
    "ave/histo",
    "ave/correlate",
    "ave/euler",
    "ave/grid",
    "store/state",
    "store/force",
    "balance",
    "property/atom",
    "contact/history",
    "contacthistory",
    "neigh_history",
];
/// Fixes that integrate motion, which esker does for all grains.
const INTEGRATORS: [&str; 5] =
    ["nve/sphere", "nve", "nve/nonspherical", "multisphere", "multisphere/nointegration"];

/// Reads `fix`; a fix with the id of another takes its place.
pub fn fix(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    let id = command.word("the id of the fix")?.to_owned();
    let group = command.name_among("group", scene.groups.keys().map(String::as_str))?.to_owned();
    let style = command.word("the style of the fix")?.to_owned();
    let place = command.place();
    let read = kind(command, scene, (&id, &group, &style));
    // A faulty fix keeps its id, so that commands that name it are not told to be wrong, too.
    let fault = read.as_ref().err().cloned();
    let kind = read.unwrap_or(FixKind::Nothing);
    if matches!(kind, FixKind::Wall(_)) && group != "all" {
        command.differs(format!("a wall of group `{group}` holds all grains"));
    }
    let fix = ScriptFix { id: id.clone(), place, group, since: scene.time, kind };
    match scene.fixes.iter_mut().find(|fix| fix.id == id) {
        Some(known) => *known = fix,
        None => scene.fixes.push(fix),
    }
    fault.map_or(Ok(()), Err)
}

fn kind(
    command: &mut ScriptCommand<'_>,
    scene: &ScriptScene,
    (id, group, style): (&str, &str, &str),
) -> Result<FixKind, Problem> {
    match style {
        "property/global" => property(command, scene),
        "gravity" => gravity(command, scene, group),
        "mesh/surface"
        | "mesh/surface/stress"
        | "mesh/surface/planar"
        | "mesh/surface/stress/servo"
        | "mesh/surface/stress/deform" => meshes::mesh(command, scene, style),
        "move/mesh" => meshes::motion(command, scene),
        "massflow/mesh" | "massflow/mesh/sieve" => meshes::mass_flow(command, scene, style),
        "wall/gran" => walls::wall(command, scene),
        "wall/gran/region" => walls::region_wall(command, scene),
        "particletemplate/sphere" => insertion::sphere(command, scene),
        "particletemplate/multisphere" => insertion::multisphere(command, scene),
        "particledistribution/discrete" | "particledistribution/discrete/massbased" => {
            insertion::distribution(command, scene, true)
        }
        "particledistribution/discrete/numberbased" => insertion::distribution(command, scene, false),
        "insert/pack" | "insert/stream" | "insert/rate/region" => insertion::insertion(command, scene, style),
        "pour" => insertion::pour(command, scene),
        "freeze" => {
            command.end()?;
            Ok(FixKind::Freeze)
        }
        "nve/noforce" | "nve/limit" | "nve/sphere/limit" => {
            let rest = command.rest();
            command.not_taken(format!("`{style} {rest}`: grains of esker move by all forces"));
            Ok(FixKind::Nothing)
        }
        "enforce2d" => Ok(FixKind::Nothing),
        style if INTEGRATORS.contains(&style) => {
            command.rest();
            if matches!(
                scene.groups.get(group),
                Some(AtomGroup::Types(_) | AtomGroup::Ids(_) | AtomGroup::Other(_))
            ) {
                command.differs(format!("group `{group}` alone is integrated; here all grains move"));
            }
            Ok(FixKind::Nothing)
        }
        style if HARMLESS.contains(&style) => {
            command.rest();
            Ok(FixKind::Nothing)
        }
        other => {
            command.rest();
            command.not_taken(format!("fix `{id}` of style `{other}`"));
            Ok(FixKind::Nothing)
        }
    }
}

/// Reads `unfix`.
pub fn unfix(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    let id = command.name_among("fix", scene.ids(|_| true))?;
    scene.fixes.retain(|fix| fix.id != id);
    command.end()
}

/// Reads the words behind `fix ID GROUP gravity`.
fn gravity(command: &mut ScriptCommand<'_>, scene: &ScriptScene, group: &str) -> Result<FixKind, Problem> {
    let magnitude = command.number("the acceleration of gravity")? * command.units.acceleration();
    let radians = |degrees: f64| degrees.to_radians();
    let direction = match command.one_of(&["vector", "chute", "spherical"])? {
        // Scripts give any vector; what counts is its direction.
        "vector" => command.direction("the direction of gravity")?,
        "chute" => {
            let slope = radians(command.number("the slope in degrees")?);
            let (along, down) = slope.sin_cos();
            if scene.is_flat { DVec3::new(along, -down, 0.0) } else { DVec3::new(along, 0.0, -down) }
        }
        _ => {
            let (phi, theta) = (
                radians(command.number("the angle phi in degrees")?),
                radians(command.number("the angle theta in degrees")?),
            );
            match scene.is_flat {
                true => DVec3::new(theta.sin(), theta.cos(), 0.0),
                false => DVec3::new(theta.sin() * phi.cos(), theta.sin() * phi.sin(), theta.cos()),
            }
        }
    };
    if command.peek().is_some() {
        let rest = command.rest();
        command.not_taken(format!("`{rest}` of gravity"));
    }
    if group != "all" {
        command.differs(format!("gravity of group `{group}` acts on all grains"));
    }
    Ok(FixKind::Gravity(magnitude * direction))
}
