//! Readers of outputs and observations: `[output]` and `[observe]`.

use glam::{DVec2, DVec3};

use crate::engine::compatible::CompatiblePlan;
use crate::error::suggest;
use crate::law::normal::NormalLaw;
use crate::model::{Form, Materials, Mesh, MotionLaw, Plane, Region, Side, Surface, World};
use crate::observe::{CellPlan, DrumPlan, FabricPlan, LayerPlan, RegionPlan, SurfacePlan, layers};
use crate::output::Formats;
use crate::scenario::OnWarning;
use crate::settings::Bookkeeping;

use super::gates::{observed_material, residence_bounds};
use super::joints::facing;
use super::pictures::pictures;
use super::read::asked::Asked;
use super::read::{
    AXES, DURATION, FINITE, Need, Node, POSITIVE, TIME, Table, boolean, number, text, whole, word,
};
use super::region::region;
use super::{CheckpointPlan, NamedElement, OutputPlan};

/// Largest number of layers of a bed.
const MOST_LAYERS: u64 = 10_000;
/// Largest number of outputs of a run.
const MAX_OUTPUTS: f64 = 1e6;

/// Reads the plan of outputs of a run of `duration` \[s\] in the surroundings `world`.
pub fn output(table: &mut Table<'_>, duration: f64, world: &World) -> OutputPlan {
    const FORMATS: &[&str] = &["vtp", "csv", "vtkhdf"];
    let every = table.or("every", duration / 100.0, number(DURATION));
    let formats = table.or("formats", vec!["vtp", "csv"], |node| node.list(word(FORMATS)));
    if duration / every > MAX_OUTPUTS
        && let Some(node) = table.node("every")
    {
        node.problem(
            format!("an output every {every:e} s makes {:.1e} outputs, at most a million", duration / every),
            "enlarge `every`",
        );
    }
    if every > duration
        && let Some(node) = table.node("every")
    {
        node.problem(
            format!("`output.every` is {every} s in a run of {duration} s"),
            "at most the duration; without `every` it is a hundredth of it",
        );
    }
    let pictures = table.maybe("pictures", |node| pictures(node, world, every));
    if let Some(pictures) = &pictures
        && duration / pictures.every > MAX_OUTPUTS
        && let Some(node) = table.node("pictures")
    {
        let message =
            format!("`output.pictures.every` is {:e} s: more than a million pictures", pictures.every);
        node.problem(message, "enlarge `every`");
    }
    let has = |format| formats.contains(&format);
    if has("vtkhdf")
        && !has("vtp")
        && let Some(node) = table.node("formats")
    {
        let message = format!("`{}` has \"vtkhdf\" without \"vtp\"", node.name());
        node.problem(
            message,
            "add \"vtp\": the files are made of the frames when the run ends, and those may go then",
        );
    }
    let formats = Formats { vtp: has("vtp"), csv: has("csv"), vtkhdf: has("vtkhdf") };
    OutputPlan { every, formats, pictures }
}

/// Reads what a run does when it warns.
pub fn on_warning(table: &mut Table<'_>) -> OnWarning {
    match table.or("on_warning", "go_on", word(&["go_on", "stop"])) {
        "stop" => OnWarning::Stop,
        _ => OnWarning::GoOn,
    }
}

/// Reads the intervals between checkpoints.
pub fn checkpoint(table: &mut Table<'_>) -> Option<CheckpointPlan> {
    let every = table.maybe("every", number(DURATION));
    let every_simulated = table.maybe("every_simulated", number(DURATION));
    if !(table.has("every") || table.has("every_simulated")) {
        table.missing("every", "seconds of wall time between two checkpoints, for example every = 600");
    }
    Some(CheckpointPlan { every, every_simulated })
}

/// Reads one of `[[observe.regions]]`, and the bounds of its residence times if it asks for these; `index` is its place in the list, from
/// 0.
pub fn observed_region(
    table: &mut Table<'_>,
    index: usize,
    materials: &Materials,
) -> Option<NamedElement<(RegionPlan, Option<Vec<f64>>)>> {
    let name = table.or("name", format!("region-{index}"), text);
    let name_span = table.node("name").map_or(table.span.clone(), |node| node.span);
    let region = table.get("region", region);
    let material = observed_material(table, materials);
    let bounds = residence_bounds(table);
    let plan = |(region, material)| (RegionPlan { name: name.clone(), region, material }, bounds);
    let value = region.zip(material).map(plan);
    Some(NamedElement { name, name_span, value })
}

/// Reads whether the energy balance is computed.
pub fn bookkeeping(table: &mut Table<'_>) -> Bookkeeping {
    if table.or("energy", true, boolean) { Bookkeeping::On } else { Bookkeeping::Off }
}

/// Reads the walls of a cell. `names` are the names of all boundaries in the file, faulty ones included.
pub fn cell(table: &mut Table<'_>, world: &World, names: &[String]) -> Option<CellPlan> {
    table.maybe("cell", |node| node.table(|table| cell_table(table, world, names)))
}

fn cell_table(table: &mut Table<'_>, world: &World, names: &[String]) -> Option<CellPlan> {
    let walls = [0, 1, 2].map(|axis| {
        table.get(AXES[axis], |node| {
            let span = facing(node.clone(), world, names)?;
            if span.axis != axis {
                node.problem(
                    format!("`{}` are walls along {}", node.name(), AXES[span.axis]),
                    format!("set `{}` to them", AXES[span.axis]),
                );
                return None;
            }
            Some(span)
        })
    });
    let axial = table.or("axial", "z", word(&["x", "y", "z"]));
    let axial = AXES.iter().position(|axis| *axis == axial)?;
    let strain_from = table.or("strain_from", 0.0, number(TIME));
    let [x, y, z] = walls;
    Some(CellPlan { walls: [x?, y?, z?], axial, strain_from })
}

/// Largest number of cells of a surface along an axis.
const MOST_SURFACE_CELLS: u64 = 2_000;

/// Reads the grid over a bed on which its surface is observed.
pub fn surface(table: &mut Table<'_>) -> Option<SurfacePlan> {
    table.maybe("surface", |node| node.table(surface_table))
}

fn surface_table(table: &mut Table<'_>) -> Option<SurfacePlan> {
    let corner = |node: Node<'_>| {
        let corner = <[f64; 2]>::try_from(node.clone().list(number(FINITE))?).ok();
        if corner.is_none() {
            node.problem(
                format!("`{}` must be two coordinates, x and y", node.name()),
                "for example [0.0, 0.0]",
            );
        }
        corner.map(DVec2::from)
    };
    let (min, max) = (table.get("min", corner), table.get("max", corner));
    let cells = table.get("cells", |node| {
        let counts = node.clone().list(whole(1, MOST_SURFACE_CELLS))?;
        let cells = <[u64; 2]>::try_from(counts).ok();
        if cells.is_none() {
            node.problem(
                format!("`{}` must be two numbers of cells, along x and y", node.name()),
                "for example [40, 20]",
            );
        }
        cells.map(|cells| cells.map(|count| count as usize))
    });
    let floor = table.get("floor", number(FINITE));
    let from = table.or("from", 0.0, number(TIME));
    let (min, max, cells, floor) = (min?, max?, cells?, floor?);
    if min.x >= max.x || min.y >= max.y {
        table.problem(
            format!("`{}` has no area", table.name()),
            "set `min` to the corner with the smaller coordinates",
        );
        return None;
    }
    Some(SurfacePlan { min, max, cells, floor, from })
}

/// Reads the observation of a drum.
pub fn drum(table: &mut Table<'_>, world: &World, names: &[String]) -> Option<DrumPlan> {
    table.maybe("drum", |node| node.table(|table| drum_table(table, world, names)))
}

fn drum_table(table: &mut Table<'_>, world: &World, names: &[String]) -> Option<DrumPlan> {
    let found = table.get("boundary", |node| inside_cylinder(node, world, names));
    let plug_speed = table.or("plug_speed", 0.15, number(POSITIVE));
    let region = table.maybe("region", region);
    found.map(|(boundary, radius)| DrumPlan { boundary, radius, plug_speed, region })
}

/// Reads the name of a boundary that is a rotating cylinder seen from inside, or a rotating mesh; returns its index and its radius \[m\].
/// `names` are the names of all boundaries in the file; faulty boundaries among them are not in the world.
fn inside_cylinder(node: Node<'_>, world: &World, names: &[String]) -> Option<(usize, f64)> {
    let name = text(node.clone())?;
    if !names.contains(&name) {
        let known = names.iter().map(String::as_str);
        let message = format!("`{}`: there is no boundary \"{name}\"", node.name());
        node.problem_of(format!("boundary {name}"), message, suggest(&name, known));
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
                Form::Patch { mesh, .. } => Some(radius_of_mesh(world, body, surface, &world.meshes[mesh])),
                _ => None,
            },
        );
    if radius.is_none() || !world.boundaries[body].turns() {
        node.problem(
            format!("`{}`: boundary \"{name}\" is not a drum", node.name()),
            "a drum has shape kind = \"cylinder\" and side = \"inside\", or kind = \"mesh\", and motion kind = \"rotation\"",
        );
        return None;
    }
    radius.map(|radius| (body, radius))
}

/// Largest distance of a vertex of a mesh from the axis of rotation of its boundary \[m\]; 0 if the boundary does not rotate.
fn radius_of_mesh(world: &World, body: usize, surface: &Surface, mesh: &Mesh) -> f64 {
    let boundary = &world.boundaries[body];
    let Some(&MotionLaw::Rotation { point, rate }) = boundary.motion.parts().last().map(|part| &part.law)
    else {
        return 0.0;
    };
    let axis = rate.normalize_or_zero();
    let distance = |vertex: &DVec3| {
        let on_body = surface.position + surface.orientation * *vertex;
        (boundary.position + boundary.orientation * on_body - point).cross(axis).length()
    };
    mesh.vertices.iter().map(distance).fold(0.0, f64::max)
}

/// Reads the law and the tolerance of compatible forces.
pub fn compatible(table: &mut Table<'_>, materials: &Materials) -> Option<CompatiblePlan> {
    if materials.are_cohesive() {
        table.problem(
            "compatible forces of contacts that hold together are not known: they never pull",
            "take out `pull_off_force` and `work_of_adhesion`, or [forces]",
        );
    }
    const TOLERANCE: Need = Need::new(|x| (1e-14..1.0).contains(&x), "a share between 1e-14 and 1");
    let law = table.get("law", word(&["hertz", "hooke"]));
    let tolerance = table.or("tolerance", 1e-8, number(TOLERANCE));
    let law = if law? == "hooke" { NormalLaw::Hooke } else { NormalLaw::Hertz };
    Some(CompatiblePlan { law, tolerance })
}

/// Reads the observation of the fabric; the default plane is the plane of the scene, else xz.
pub fn fabric(table: &mut Table<'_>, world: &World) -> Option<FabricPlan> {
    let usual = Plane::WORDS[2 - world.plane.unwrap_or(Plane::Xz).across()];
    let plane = Plane::of(table.or("plane", usual, word(Plane::WORDS)));
    let bins = table.or("bins", 36, whole(2, 3600)) as usize;
    plane.map(|plane| FabricPlan { plane, bins })
}

/// Reads the layers into which a bed is divided.
pub fn layers(table: &mut Table<'_>, world: &World) -> Option<LayerPlan> {
    let region = table.get("region", region);
    let count = table.or("count", 20, whole(1, MOST_LAYERS)) as usize;
    let region = region?;
    if let Region::Cylinder { axis, .. } = region
        && world.plane.is_none()
    {
        if let Some(node) = table.node("axis") {
            node.ask(Asked::Word(&AXES));
            node.problem("a cylinder is cut across its own axis", "leave out `axis`");
        }
        return Some(LayerPlan { region, axis, count });
    }
    if !matches!(region, Region::Box { .. }) {
        let node = table.node("region")?;
        let expected = if world.plane.is_some() { "a box" } else { "a box or a cylinder" };
        node.problem(
            format!("`{}` has no layers of equal volume", node.name()),
            format!("make it {expected}"),
        );
        return None;
    }
    let usual = AXES[layers::usual_axis(world.gravity, world.plane)];
    let name = table.or("axis", usual, word(&AXES));
    let axis = AXES.iter().position(|axis| *axis == name)?;
    if world.plane.is_some_and(|plane| plane.across() == axis) {
        table.node("axis")?.problem("the scene has no length along this axis", "choose an axis of its plane");
    }
    Some(LayerPlan { region, axis: DVec3::AXES[axis], count })
}
