//! What to write and what to observe: `[output]` and `[observe]`.

use super::problems::suggest;
use super::read::{DURATION, Node, POSITIVE, Table, boolean, number, text, word};
use super::{DrumPlan, OutputPlan};
use crate::settings::Bookkeeping;
use crate::world::{Form, Motion, Side, World};

/// Outputs of one run, at most.
const MAX_OUTPUTS: f64 = 1e6;

/// Reads the plan of outputs of a run of `duration` \[s\].
pub fn output(table: &mut Table<'_>, duration: f64) -> OutputPlan {
    const FORMATS: &[&str] = &["vtp", "csv"];
    let every = table.or("every", duration / 100.0, number(DURATION));
    let formats = table.or("formats", FORMATS.to_vec(), |node| node.list(word(FORMATS)));
    if duration / every > MAX_OUTPUTS
        && let Some(node) = table.node("every")
    {
        node.problem(
            format!("an output every {every:e} s makes {:.1e} outputs, at most a million", duration / every),
            "enlarge `every`",
        );
    }
    OutputPlan { every, vtp: formats.contains(&"vtp"), csv: formats.contains(&"csv") }
}

/// Reads what to observe: a drum, if any, and whether energies are accounted for.
pub fn observe(table: &mut Table<'_>, world: &World, names: &[String]) -> (Option<DrumPlan>, Bookkeeping) {
    let energy = table.or("energy", true, boolean);
    let drum = table.maybe("drum", |node| node.table(|table| drum_table(table, world, names)));
    (drum, if energy { Bookkeeping::On } else { Bookkeeping::Off })
}

fn drum_table(table: &mut Table<'_>, world: &World, names: &[String]) -> Option<DrumPlan> {
    let found = table.get("boundary", |node| inside_cylinder(node, world, names));
    let plug_speed = table.or("plug_speed", 0.15, number(POSITIVE));
    found.map(|(boundary, radius)| DrumPlan { boundary, radius, plug_speed })
}

/// Reads the name of a boundary that is a turning cylinder seen from inside; gives its radius \[m\].
/// `names` are those of all boundaries in the file, also of wrong ones, which are not in the world.
fn inside_cylinder(node: Node<'_>, world: &World, names: &[String]) -> Option<(usize, f64)> {
    let name = text(node.clone())?;
    if !names.contains(&name) {
        let known = names.iter().map(String::as_str);
        node.problem(format!("`{}`: there is no boundary \"{name}\"", node.name()), suggest(&name, known));
    }
    let body = world.boundaries.iter().position(|boundary| boundary.name == name)?;
    let radius =
        world.surfaces.iter().filter(|surface| surface.body as usize == body).find_map(
            |surface| match surface.form {
                Form::Wall { bottom_radius, top_radius, side: Side::Inside, .. }
                    if bottom_radius == top_radius =>
                {
                    Some(bottom_radius)
                }
                _ => None,
            },
        );
    let turns = matches!(world.boundaries[body].motion, Motion::Rotation { .. });
    if radius.is_none() || !turns {
        node.problem(
            format!("`{}`: boundary \"{name}\" is not a drum", node.name()),
            "a drum has shape kind = \"cylinder\", side = \"inside\" and motion kind = \"rotation\"",
        );
        return None;
    }
    radius.map(|radius| (body, radius))
}
