//! Readers of boundaries: shapes, which become surfaces, and motions.
//!
//! The position of a boundary is the natural centre of its shape; if the boundary rotates or rocks, it is that centre projected onto the
//! axis. Surfaces are placed relative to it, so that the wall of a rotating drum stays in place to the last digit.

use std::path::Path;
use std::sync::Arc;

use glam::{DQuat, DVec3};

use crate::model::{
    Boundary, Form, MaterialId, Materials, Mesh, Motion, MotionLaw, MotionPart, Periodic, RigidBody, Side,
    Surface, World,
};

use super::belt::belt;
use super::heat::{self, ReadWallHeat};
use super::joints::{Rail, rail};
use super::materials::material_id;
use super::mesh::{self, turned};
use super::motion::{self, OfShape};
use super::periodic::{check_size, check_walls};
use super::read::{
    LENGTH, LENGTH_OR_ZERO, Node, Table, boolean, direction, number, text, unit_vector, vector, whole, word,
};
use super::region::corners;
use super::shape::{IN_PLACE, ReadShape, check_inertia, check_spin, density_of, is_solid_mesh};
use super::{NamedElement, bodies, locked_axes};

/// Largest number of spheres of a row.
const MOST_SPHERES: u64 = 10_000;
/// Surface; if it stands for the patches of a mesh, the mesh as well.
type MadeOf = (Surface, Option<Arc<Mesh>>);

/// Boundary as it was read, with its surfaces and its rail.
pub struct ReadBoundary {
    boundary: Boundary,
    /// Surfaces; a mesh has one surface that stands for all its patches.
    surfaces: Vec<MadeOf>,
    rail: Option<Rail>,
    /// Materials that do not feel the surfaces, as [`Surface::unfelt_by`].
    unfelt_by: u32,
    heat: ReadWallHeat,
}

impl ReadBoundary {
    /// Adds the boundary to a world, and returns what it says of its heat.
    pub fn add_to(self, world: &mut World) -> ReadWallHeat {
        let mut surfaces: Vec<Surface> = Vec::new();
        for (surface, mesh) in self.surfaces {
            match mesh {
                Some(mesh) => {
                    let Surface { position, orientation, material, .. } = surface;
                    surfaces.extend(world.mesh_surfaces(mesh, position, orientation, material));
                }
                None => surfaces.push(surface),
            }
        }
        let unfelt_by = self.unfelt_by;
        world.add_boundary(
            self.boundary,
            surfaces.into_iter().map(|surface| Surface { unfelt_by, ..surface }),
        );
        if let Some(Rail { axis, drives, area, .. }) = self.rail {
            world.add_rail(world.boundaries.len() as u32 - 1, axis, drives, area);
        }
        self.heat
    }
}

/// Reads one of `[[boundaries]]`; `index` is its place in the list, from 0.
pub fn boundary(
    table: &mut Table<'_>,
    index: usize,
    materials: &Materials,
    periodic: &Periodic,
    folder: &Path,
) -> Option<NamedElement<ReadBoundary>> {
    let name = table.or("name", format!("boundary-{index}"), text);
    let name_span = table.node("name").map_or(table.span.clone(), |node| node.span);
    if is_that_of_a_grain(&name) {
        let message = format!("`{}.name` is \"{name}\", as grains are called in results", table.name());
        table.report.problem(
            &name_span,
            message,
            "numbers and `grain-0` and so on stand for grains: choose a word",
        );
    }
    let material = table.get("material", material_id(materials));
    let mut shapes = shapes(table, folder);
    let first = shapes.as_deref().and_then(|shapes| shapes.first());
    let (axis, pivot) = (first.and_then(|shape| shape.axis), first.map_or(DVec3::ZERO, |shape| shape.pivot));
    let density = material.map(|material| materials.list[material as usize].density);
    let (mut on_rail, mut frame) = (None, None);
    let of_shape = OfShape { pivot, axis, folder };
    let motion = match table.node("motion") {
        Some(node) if node.is_list() => motion::several(node, of_shape).map(Motion::Kinematic),
        Some(node) => node.table(|table| match motion_kind(table, of_shape)? {
            MotionKind::Fixed => Some(Motion::Fixed),
            MotionKind::Kinematic(part) => Some(Motion::Kinematic(vec![part])),
            MotionKind::Dynamic => {
                let body = match shapes.as_deref_mut() {
                    Some([shape]) if !bodies::is_put_together(table, shape) => {
                        free(table, Some(shape), density)
                    }
                    None => free(table, None, density),
                    Some(shapes) => {
                        let (body, own) = bodies::put_together(table, shapes, density)?;
                        frame = Some(own);
                        Some(body)
                    }
                };
                body.map(Motion::Dynamic)
            }
            MotionKind::Slider => {
                let surfaces = shapes.as_deref().map(|shapes| match shapes {
                    [shape] => shape.surfaces.as_slice(),
                    _ => &[],
                });
                on_rail = rail(table, surfaces);
                on_rail.as_ref().map(|rail| Motion::Dynamic(rail.body))
            }
        }),
        None => Some(Motion::Fixed),
    };
    let motion = match table.maybe("surface_velocity", vector) {
        Some(velocity) => belt(table, shapes.as_deref(), motion, velocity),
        None => motion,
    };
    let unfelt_by = table.maybe("felt_by", |node| unfelt_by(node, materials)).unwrap_or(0);
    let heat = heat::wall(table);
    let value = match (shapes, motion, material) {
        (Some(shapes), Some(motion), Some(material)) => {
            let (boundary, surfaces) = assemble(name.clone(), shapes, frame, motion, material);
            Some(ReadBoundary { boundary, surfaces, rail: on_rail, unfelt_by, heat })
        }
        _ => None,
    };
    if let Some(ReadBoundary { boundary, surfaces, .. }) = &value {
        check_walls(table, boundary, surfaces.iter().map(|(surface, _)| surface), periodic);
        for (surface, mesh) in surfaces {
            check_size(table, boundary, surface, mesh.as_deref(), periodic);
        }
    }
    Some(NamedElement { name, name_span, value })
}

/// Reads the materials that feel a boundary, and returns those that do not, as [`Surface::unfelt_by`].
fn unfelt_by(node: Node<'_>, materials: &Materials) -> Option<u32> {
    let felt_by = node.clone().list(material_id(materials))?;
    let (count, most) = (materials.list.len() as u32, Surface::TELLS_APART);
    if felt_by.is_empty() {
        let message = format!("`{}` is empty: nothing feels the boundary", node.name());
        node.problem(message, "name the materials of grains that feel it, or leave the boundary out");
        return None;
    }
    if count > most {
        let message = format!("`{}` tells {count} materials apart, expected at most {most}", node.name());
        node.problem(message, "leave out materials that nothing has");
        return None;
    }
    let unfelt = (0..count).filter(|material| !felt_by.contains(material));
    Some(unfelt.fold(0, |bits, material| bits | 1 << material))
}

/// Reads `shape`, or the list of `shapes`.
fn shapes(table: &mut Table<'_>, folder: &Path) -> Option<Vec<ReadShape>> {
    if !table.has("shapes") {
        return table.get("shape", |node| shape(node, folder)).map(|shape| vec![shape]);
    }
    if table.has("shape") {
        table.problem(format!("`{}` has `shape` and `shapes`", table.name()), "leave out one of the two");
    }
    table.get("shapes", |node| node.list(|node| shape(node, folder)))
}

/// Returns whether a name is a name of a grain in the columns of results: `grain-7`, or `7` in a contact.
fn is_that_of_a_grain(name: &str) -> bool {
    let number = name.strip_prefix("grain-").unwrap_or(name);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Makes a boundary and its surfaces from shapes. `frame`, position \[m\] and orientation, is given for bodies of several shapes.
fn assemble(
    name: String,
    shapes: Vec<ReadShape>,
    frame: Option<(DVec3, DQuat)>,
    motion: Motion,
    material: MaterialId,
) -> (Boundary, Vec<MadeOf>) {
    let centre = shapes.first().map_or(DVec3::ZERO, |shape| shape.centre);
    let orientation = match (&frame, &shapes[..]) {
        (Some((_, orientation)), _) => *orientation,
        (None, [shape]) => shape.orientation,
        _ => DQuat::IDENTITY,
    };
    let position = match (&frame, &motion) {
        (Some((position, _)), _) => *position,
        (None, motion) => match axis_of(motion) {
            Some((point, axis)) => point + (centre - point).dot(axis) * axis,
            None => centre,
        },
    };
    let into_body = |shape: ReadShape| {
        let back = orientation.conjugate();
        let shift = back * (shape.centre - position);
        // A shape with the orientation of its body gets exactly the identity, without a rounding error.
        let turn = if shape.orientation == orientation { DQuat::IDENTITY } else { back * shape.orientation };
        let (place, own) = shape.mesh_in_body;
        let of_mesh = shape.mesh.clone().map(|mesh| {
            let form = Form::Patch { mesh: 0, patch: 0 };
            (Surface::new(turn * place + shift, turn * own, form, material), Some(mesh))
        });
        let surface = move |(place, axis, form): (DVec3, DVec3, Form)| {
            let own = turn * DQuat::from_rotation_arc(DVec3::Z, axis);
            (Surface::new(turn * place + shift, own, form, material), None)
        };
        let plain = if shape.mesh.is_some() { Vec::new() } else { shape.surfaces };
        of_mesh.into_iter().chain(plain.into_iter().map(surface))
    };
    let surfaces = shapes.into_iter().flat_map(into_body).collect();
    (Boundary { name, position, orientation, motion }, surfaces)
}

/// Point and unit vector of the axis about which the last of the motions that have one turns.
fn axis_of(motion: &Motion) -> Option<(DVec3, DVec3)> {
    motion.parts().iter().rev().find_map(|part| match part.law {
        MotionLaw::Rotation { point, rate: along } | MotionLaw::Rocking { point, amplitude: along, .. } => {
            unit_vector(along).map(|axis| (point, axis))
        }
        _ => None,
    })
}

fn shape(node: Node<'_>, folder: &Path) -> Option<ReadShape> {
    node.table(|table| {
        match table.kind(&["plane", "box", "cylinder", "cone", "sphere", "spheres", "capsule", "mesh"])? {
            "plane" => plane(table),
            "box" => box_shape(table),
            "cylinder" => {
                let radius = table.get("radius", number(LENGTH));
                revolved(table, radius, radius)
            }
            "cone" => {
                let base = table.get("base_radius", number(LENGTH_OR_ZERO));
                let top = table.get("top_radius", number(LENGTH_OR_ZERO));
                revolved(table, base, top)
            }
            "sphere" => sphere(table),
            "spheres" => spheres(table),
            "capsule" => capsule(table),
            _ => mesh::mesh(table, folder).map(of_mesh),
        }
    })
}

fn of_mesh(mesh::PlacedMesh { mesh, centre, orientation }: mesh::PlacedMesh) -> ReadShape {
    let surfaces = vec![(DVec3::ZERO, DVec3::Z, Form::Patch { mesh: 0, patch: 0 })];
    ReadShape {
        centre,
        pivot: centre,
        orientation,
        axis: None,
        surfaces,
        mesh: Some(mesh),
        mesh_in_body: IN_PLACE,
    }
}

fn plane(table: &mut Table<'_>) -> Option<ReadShape> {
    let (point, normal) = (table.get("point", vector), table.get("normal", direction));
    let (centre, normal) = (point?, normal?);
    let surfaces = vec![(DVec3::ZERO, normal, Form::Plane)];
    Some(ReadShape::around(centre, surfaces))
}

fn sphere(table: &mut Table<'_>) -> Option<ReadShape> {
    let (centre, radius) = (table.get("centre", vector), table.get("radius", number(LENGTH)));
    if table.or("side", "outside", word(&["inside", "outside"])) == "inside"
        && let Some(node) = table.node("side")
    {
        node.problem(
            format!("`{}` is \"inside\", and a sphere is solid: it has grains around it alone", node.name()),
            "leave it out; a container is a box, or a cylinder with `caps = true`",
        );
        return None;
    }
    let (centre, radius) = (centre?, radius?);
    let surfaces = vec![(DVec3::ZERO, DVec3::Z, Form::Sphere { radius })];
    Some(ReadShape::around(centre, surfaces))
}

/// Reads a row of equal spheres; in a plane scene, of discs.
fn spheres(table: &mut Table<'_>) -> Option<ReadShape> {
    let (from, to) = (table.get("from", vector), table.get("to", vector));
    let (radius, count) = (table.get("radius", number(LENGTH)), table.get("count", whole(2, MOST_SPHERES)));
    let (from, to, radius, count) = (from?, to?, radius?, count?);
    let centre = from.midpoint(to);
    let place = |i: u64| from.lerp(to, i as f64 / (count - 1) as f64) - centre;
    let surfaces = (0..count).map(|i| (place(i), DVec3::Z, Form::Sphere { radius })).collect();
    Some(ReadShape::around(centre, surfaces))
}

/// Reads a capsule: a cylinder between two points with a half ball around each.
fn capsule(table: &mut Table<'_>) -> Option<ReadShape> {
    let (from, to) = (table.get("from", vector), table.get("to", vector));
    let radius = table.get("radius", number(LENGTH));
    let (from, to, radius) = (from?, to?, radius?);
    let Some(axis) = unit_vector(to - from) else {
        table.problem(
            format!("the ends of capsule `{}` coincide", table.name()),
            "use kind = \"sphere\", or move one",
        );
        return None;
    };
    let surfaces = vec![(DVec3::ZERO, axis, Form::Capsule { radius, length: from.distance(to) })];
    Some(ReadShape {
        centre: from.midpoint(to),
        pivot: from,
        orientation: DQuat::IDENTITY,
        axis: Some(axis),
        surfaces,
        mesh: None,
        mesh_in_body: IN_PLACE,
    })
}

fn side(table: &mut Table<'_>) -> Side {
    match table.or("side", "inside", word(&["inside", "outside"])) {
        "outside" => Side::Outside,
        _ => Side::Inside,
    }
}

/// Reads a box. Seen from inside, it is up to six half spaces: the walls next to an open face extend beyond it.
fn box_shape(table: &mut Table<'_>) -> Option<ReadShape> {
    const FACES: &[&str] = &["-x", "+x", "-y", "+y", "-z", "+z"];
    let corners = corners(table);
    let side = side(table);
    let open = match side {
        Side::Inside => table.or("open", Vec::new(), |node| node.list(word(FACES))),
        Side::Outside => Vec::new(),
    };
    let orientation = match side {
        Side::Inside => DQuat::IDENTITY,
        Side::Outside => table.maybe("turned", |node| node.table(turned)).unwrap_or(DQuat::IDENTITY),
    };
    let (min, max) = corners?;
    let half = 0.5 * (max - min);
    let faces = FACES.iter().zip([DVec3::NEG_X, DVec3::X, DVec3::NEG_Y, DVec3::Y, DVec3::NEG_Z, DVec3::Z]);
    let walls = faces
        .filter(|(name, _)| !open.contains(name))
        .map(|(_, outward)| (half * outward, -outward, Form::Plane));
    let surfaces: Vec<_> = match side {
        Side::Inside => walls.collect(),
        Side::Outside => vec![(DVec3::ZERO, DVec3::Z, Form::Box { half })],
    };
    if surfaces.is_empty() {
        table.problem(format!("box `{}` has no wall left", table.name()), "open fewer of its six faces");
        return None;
    }
    let centre = min.midpoint(max);
    Some(ReadShape {
        centre,
        pivot: centre,
        orientation,
        axis: None,
        surfaces,
        mesh: None,
        mesh_in_body: IN_PLACE,
    })
}

/// Reads a cylinder or truncated cone from `base` along `axis`.
fn revolved(table: &mut Table<'_>, base_radius: Option<f64>, top_radius: Option<f64>) -> Option<ReadShape> {
    let (base, axis) = (table.get("base", vector), table.get("axis", direction));
    let length = table.get("length", number(LENGTH));
    let side = side(table);
    let caps = table.or("caps", side == Side::Outside, boolean);
    let (base, axis, length) = (base?, axis?, length?);
    let (bottom_radius, top_radius) = (base_radius?, top_radius?);
    if bottom_radius == 0.0 && top_radius == 0.0 {
        table.problem(format!("cone `{}` has no radius at either end", table.name()), "make one end wider");
        return None;
    }
    let wall = (DVec3::ZERO, axis, Form::Wall { bottom_radius, top_radius, length, side });
    let disc = |radius: f64, end: f64| {
        (radius > 0.0).then_some((0.5 * length * end * axis, -end * axis, Form::Disc { radius }))
    };
    let surfaces = match (side, caps) {
        (_, false) => vec![wall],
        (Side::Outside, true) => {
            vec![(DVec3::ZERO, axis, Form::Solid { bottom_radius, top_radius, length })]
        }
        (Side::Inside, true) => {
            let ends = [disc(bottom_radius, -1.0), disc(top_radius, 1.0)];
            std::iter::once(wall).chain(ends.into_iter().flatten()).collect()
        }
    };
    let centre = base + 0.5 * length * axis;
    Some(ReadShape {
        centre,
        pivot: base,
        orientation: DQuat::IDENTITY,
        axis: Some(axis),
        surfaces,
        mesh: None,
        mesh_in_body: IN_PLACE,
    })
}

/// Motion, as far as it can be read without the shape.
enum MotionKind {
    Fixed,
    Kinematic(MotionPart),
    Dynamic,
    Slider,
}

fn motion_kind(table: &mut Table<'_>, shape: OfShape<'_>) -> Option<MotionKind> {
    const KINDS: &[&str] =
        &["fixed", "velocity", "rotation", "rocking", "oscillation", "table", "dynamic", "slider"];
    match table.kind(KINDS)? {
        "fixed" => Some(MotionKind::Fixed),
        "dynamic" => Some(MotionKind::Dynamic),
        "slider" => Some(MotionKind::Slider),
        kind => motion::one(table, kind, shape).map(MotionKind::Kinematic),
    }
}

/// Reads a dynamic motion; `density` is the density of the material \[kg/m³\].
fn free(table: &mut Table<'_>, shape: Option<&mut ReadShape>, density: Option<f64>) -> Option<RigidBody> {
    let velocity = table.or("velocity", DVec3::ZERO, vector);
    let angular_velocity = table.or("angular_velocity", DVec3::ZERO, vector);
    let locked = locked_axes(table);
    let density = density_of(table, density);
    let (shape, density) = (shape?, density?);
    check_spin(table, angular_velocity, locked);
    let body = match (shape.mesh.clone(), shape.surfaces.as_slice()) {
        (Some(mesh), _) => Some(solid_of(table, shape, &mesh, density)?),
        (None, [(_, _, form)]) => RigidBody::solid(*form, density),
        _ => None,
    };
    if body.is_none() {
        bodies::report_hollow(table);
    }
    let body = check_inertia(table, body?)?;
    Some(RigidBody { velocity, angular_velocity, locked, ..body })
}

/// Computes the rigid body inside a mesh; the shape is turned to the principal axes and moved to the centre of mass.
fn solid_of(
    table: &mut Table<'_>,
    shape: &mut ReadShape,
    mesh: &Arc<Mesh>,
    density: f64,
) -> Option<RigidBody> {
    if !is_solid_mesh(table, mesh) {
        return None;
    }
    let (body, centre, axes) = RigidBody::inside(mesh, density);
    shape.centre += shape.orientation * centre;
    shape.orientation *= axes;
    shape.mesh_in_body = (-(axes.conjugate() * centre), axes.conjugate());
    Some(body)
}
