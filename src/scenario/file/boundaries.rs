//! Boundaries: shapes turned into surfaces, and their motions.
//!
//! A boundary's position is the natural centre of its shape, moved onto the axis it turns about if it
//! turns; surfaces are relative to that, so that a turning drum keeps its wall to the last digit.

use std::path::Path;
use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::materials::{DENSITY, material_id};
use super::mesh::{self, turned};
use super::periodic::{check_size, check_walls};
use super::range::is_sound;
use super::read::{
    FINITE, LENGTH, LENGTH_OR_ZERO, NOT_NEGATIVE, Need, Node, TIME, Table, boolean, direction, number, text,
    unit_vector, vector, word,
};
use super::region::corners;
use super::slider::slider;
use super::{Entry, locked_axes};
use crate::model::{
    Boundary, Form, MaterialId, Materials, Mesh, Motion, Periodic, RigidBody, Side, Surface, World,
};

/// A shape about to become a boundary.
struct Shape {
    /// Natural centre \[m\].
    centre: DVec3,
    /// Point on its axis that a rotation goes through unless another is given \[m\].
    pivot: DVec3,
    /// How it is turned about its centre.
    orientation: DQuat,
    /// Axis of symmetry.
    axis: Option<DVec3>,
    /// Surfaces: place relative to the centre \[m\], direction of their z axis, geometry.
    surfaces: Vec<(DVec3, DVec3, Form)>,
    /// The mesh that they are of.
    mesh: Option<Arc<Mesh>>,
    /// Place \[m\] and turn of the mesh in the frame of the body.
    mesh_in_body: (DVec3, DQuat),
}

/// Not moved and not turned.
const IN_PLACE: (DVec3, DQuat) = (DVec3::ZERO, DQuat::IDENTITY);

/// Most vertices of a mesh that moves freely.
const MOST_VERTICES: usize = 10_000;

/// A boundary as it was read.
pub struct Walls {
    boundary: Boundary,
    /// Its surfaces; of a mesh one that stands for its patches.
    surfaces: Vec<Surface>,
    mesh: Option<Arc<Mesh>>,
}

impl Walls {
    /// Puts them into a world.
    pub fn add_to(self, world: &mut World) {
        let surfaces = match (self.mesh, self.surfaces.first()) {
            (Some(mesh), Some(&Surface { position, orientation, material, .. })) => {
                world.mesh_surfaces(mesh, position, orientation, material)
            }
            _ => self.surfaces,
        };
        world.add_boundary(self.boundary, surfaces);
    }
}

/// Reads one of `[[boundaries]]`; `index` is its place in the list, from 0.
pub fn boundary(
    table: &mut Table<'_>,
    index: usize,
    materials: &Materials,
    periodic: &Periodic,
    folder: &Path,
) -> Option<Entry<Walls>> {
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
    let mut shape = table.get("shape", |node| shape(node, folder));
    let axis = shape.as_ref().and_then(|shape| shape.axis);
    let pivot = shape.as_ref().map_or(DVec3::ZERO, |shape| shape.pivot);
    let density = material.map(|material| materials.list[material as usize].density);
    let motion = match table.node("motion") {
        Some(node) => node.table(|table| match motion(table, pivot, axis)? {
            MotionKind::Prescribed(motion) => Some(motion),
            MotionKind::Dynamic => free(table, shape.as_mut(), density).map(Motion::Dynamic),
            MotionKind::Slider => {
                let surface = shape.as_ref().map(|shape| shape.surfaces.as_slice());
                slider(table, surface).map(Motion::Slider)
            }
        }),
        None => Some(Motion::Fixed),
    };
    let motion = match table.maybe("surface_velocity", vector) {
        Some(velocity) => belt(table, shape.as_ref(), motion, velocity),
        None => motion,
    };
    let value = match (shape, motion, material) {
        (Some(shape), Some(motion), Some(material)) => Some(assemble(name.clone(), shape, motion, material)),
        _ => None,
    };
    if let Some(Walls { boundary, surfaces, mesh }) = &value {
        check_walls(table, boundary, surfaces, periodic);
        check_size(table, boundary, surfaces, mesh.as_deref(), periodic);
    }
    Some(Entry { name, name_span, value })
}

/// Whether a name is how columns of results call a grain: `grain-7` by itself, `7` in a contact.
fn is_that_of_a_grain(name: &str) -> bool {
    let number = name.strip_prefix("grain-").unwrap_or(name);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn assemble(name: String, shape: Shape, motion: Motion, material: MaterialId) -> Walls {
    let position = match motion {
        Motion::Rotation { point, rate, .. } => {
            unit_vector(rate).map_or(shape.centre, |axis| point + (shape.centre - point).dot(axis) * axis)
        }
        _ => shape.centre,
    };
    let orientation = shape.orientation;
    let shift = orientation.conjugate() * (shape.centre - position);
    let surface = |(place, axis, form): (DVec3, DVec3, Form)| {
        Surface::new(place + shift, DQuat::from_rotation_arc(DVec3::Z, axis), form, material)
    };
    let surfaces = match shape.mesh {
        Some(_) => {
            let (place, turn) = shape.mesh_in_body;
            vec![Surface::new(place + shift, turn, Form::Patch { mesh: 0, patch: 0 }, material)]
        }
        None => shape.surfaces.into_iter().map(surface).collect(),
    };
    let boundary = Boundary { name, position, orientation, motion };
    Walls { boundary, surfaces, mesh: shape.mesh }
}

fn shape(node: Node<'_>, folder: &Path) -> Option<Shape> {
    node.table(|table| match table.kind(&["plane", "box", "cylinder", "cone", "sphere", "mesh"])? {
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
        _ => mesh::mesh(table, folder).map(of_mesh),
    })
}

fn of_mesh(mesh::Placed { mesh, centre, orientation }: mesh::Placed) -> Shape {
    let surfaces = vec![(DVec3::ZERO, DVec3::Z, Form::Patch { mesh: 0, patch: 0 })];
    Shape {
        centre,
        pivot: centre,
        orientation,
        axis: None,
        surfaces,
        mesh: Some(mesh),
        mesh_in_body: IN_PLACE,
    }
}

fn plane(table: &mut Table<'_>) -> Option<Shape> {
    let (point, normal) = (table.get("point", vector), table.get("normal", direction));
    let (centre, normal) = (point?, normal?);
    let surfaces = vec![(DVec3::ZERO, normal, Form::Plane)];
    Some(Shape {
        centre,
        pivot: centre,
        orientation: DQuat::IDENTITY,
        axis: None,
        surfaces,
        mesh: None,
        mesh_in_body: IN_PLACE,
    })
}

fn sphere(table: &mut Table<'_>) -> Option<Shape> {
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
    Some(Shape {
        centre,
        pivot: centre,
        orientation: DQuat::IDENTITY,
        axis: None,
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

/// Inside, a box is up to six half spaces: the walls next to an open face go on beyond it.
fn box_shape(table: &mut Table<'_>) -> Option<Shape> {
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
    Some(Shape {
        centre,
        pivot: centre,
        orientation,
        axis: None,
        surfaces,
        mesh: None,
        mesh_in_body: IN_PLACE,
    })
}

/// A cylinder or truncated cone from `base` along `axis`.
fn revolved(table: &mut Table<'_>, base_radius: Option<f64>, top_radius: Option<f64>) -> Option<Shape> {
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
    Some(Shape {
        centre,
        pivot: base,
        orientation: DQuat::IDENTITY,
        axis: Some(axis),
        surfaces,
        mesh: None,
        mesh_in_body: IN_PLACE,
    })
}

/// The motion of a boundary that stands still while its surface moves.
fn belt(
    table: &mut Table<'_>,
    shape: Option<&Shape>,
    motion: Option<Motion>,
    velocity: DVec3,
) -> Option<Motion> {
    let node = table.node("surface_velocity")?;
    let (shape, motion) = (shape?, motion?);
    if motion != Motion::Fixed {
        node.problem(
            format!("`{}` has a `surface_velocity` and a `motion`", table.name()),
            "a belt stands still while its surface moves: leave out one of the two",
        );
        return None;
    }
    let stays = |surface: &(DVec3, DVec3, Form)| {
        lies_along(surface, shape.mesh.as_deref(), shape.orientation, velocity)
    };
    if !shape.surfaces.iter().all(stays) {
        node.problem(
            format!("the `surface_velocity` of `{}` leads out of its surface", table.name()),
            "a belt moves in itself: a plane along itself, a cylinder without caps along its axis, a mesh along all its \
             triangles; what turns has a `motion`",
        );
        return None;
    }
    Some(Motion::Belt(velocity))
}

/// Whether a surface that moves at this velocity stays where it is.
fn lies_along(
    &(_, axis, form): &(DVec3, DVec3, Form),
    mesh: Option<&Mesh>,
    orientation: DQuat,
    velocity: DVec3,
) -> bool {
    let direction = orientation.conjugate() * velocity.normalize_or_zero();
    let is_across = |normal: DVec3| direction.dot(normal).abs() < 1e-6;
    match (form, mesh) {
        (Form::Patch { .. }, Some(mesh)) => (0..mesh.triangles.len()).all(|triangle| {
            let [a, b, c] = mesh.corners(triangle);
            is_across((b - a).cross(c - a).normalize())
        }),
        (Form::Plane | Form::Disc { .. }, _) => is_across(axis),
        (Form::Wall { bottom_radius, top_radius, .. }, _) => {
            bottom_radius == top_radius && direction.cross(axis).length() < 1e-6
        }
        _ => velocity == DVec3::ZERO,
    }
}

/// A motion as far as it can be read without the shape.
enum MotionKind {
    Prescribed(Motion),
    Dynamic,
    Slider,
}

fn motion(table: &mut Table<'_>, pivot: DVec3, axis: Option<DVec3>) -> Option<MotionKind> {
    let motion =
        match table.kind(&["fixed", "velocity", "rotation", "oscillation", "table", "dynamic", "slider"])? {
            "velocity" => table.get("velocity", vector).map(Motion::Velocity),
            "rotation" => rotation(table, pivot, axis),
            "oscillation" => oscillation(table),
            "table" => motion_table(table),
            "dynamic" => return Some(MotionKind::Dynamic),
            "slider" => return Some(MotionKind::Slider),
            _ => Some(Motion::Fixed),
        };
    motion.map(MotionKind::Prescribed)
}

/// Reads a free motion; `density` is that of the material \[kg/m³\].
fn free(table: &mut Table<'_>, shape: Option<&mut Shape>, density: Option<f64>) -> Option<RigidBody> {
    let velocity = table.or("velocity", DVec3::ZERO, vector);
    let angular_velocity = table.or("angular_velocity", DVec3::ZERO, vector);
    let locked = locked_axes(table);
    let density = match density {
        Some(density) => Some(table.or("density", density, number(DENSITY))),
        None => table.maybe("density", number(DENSITY)),
    };
    let (shape, density) = (shape?, density?);
    if shape.axis.is_none() && angular_velocity * locked.free_rotation() != angular_velocity {
        table.problem(
            format!("`{}` turns about an axis that is locked", table.name()),
            "set its part of `angular_velocity` to 0, or free the axis",
        );
    }
    let body = match (shape.mesh.clone(), shape.surfaces.as_slice()) {
        (Some(mesh), _) => Some(solid_of(table, shape, &mesh, density)?),
        (None, [(_, _, form)]) => RigidBody::solid(*form, density),
        _ => None,
    };
    if body.is_none() {
        table.problem(
            format!("`{}` is dynamic, and its shape is neither a solid box nor a sphere nor a mesh", table.name()),
            "use kind = \"box\" with side = \"outside\", kind = \"sphere\" or kind = \"mesh\", or another motion",
        );
    }
    let body = body?;
    if let Some(number) = body.inertia().into_iter().find(|&number| !is_sound(number)) {
        table.problem(
            format!(
                "`{}` has a mass of {:e} kg and moments of inertia from {:e} kg m²: with {number:e}, or its inverse, \
                 no engine can compute",
                table.name(),
                body.mass,
                body.moments.min_element()
            ),
            "change its density or size",
        );
        return None;
    }
    Some(RigidBody { velocity, angular_velocity, locked, ..body })
}

/// The solid inside of a mesh, whose shape is turned to its principal axes and moved to its centre.
fn solid_of(table: &mut Table<'_>, shape: &mut Shape, mesh: &Arc<Mesh>, density: f64) -> Option<RigidBody> {
    if !mesh.defects.is_closed() {
        table.problem(
            format!(
                "`{}` is dynamic, and {} is not the surface of a solid: {}",
                table.name(),
                mesh.name,
                mesh.defects.in_words().join(", ")
            ),
            "close the mesh and have all its triangles face outwards, or give it another motion",
        );
        return None;
    }
    if mesh.vertices.len() > MOST_VERTICES {
        table.problem(
            format!(
                "`{}` is dynamic, and {} has {} vertices, each of which may touch other boundaries",
                table.name(),
                mesh.name,
                mesh.vertices.len()
            ),
            format!("simplify it to {MOST_VERTICES} vertices or less, or give it another motion"),
        );
        return None;
    }
    let (body, centre, axes) = RigidBody::inside(mesh, density);
    shape.centre += shape.orientation * centre;
    shape.orientation *= axes;
    shape.mesh_in_body = (-(axes.conjugate() * centre), axes.conjugate());
    Some(body)
}

fn rotation(table: &mut Table<'_>, pivot: DVec3, axis: Option<DVec3>) -> Option<Motion> {
    let point = table.or("point", pivot, vector);
    let axis = match axis {
        Some(axis) => Some(table.or("axis", axis, direction)),
        None => table.get("axis", direction),
    };
    let rate = table.get("rate", number(Need::new(|x| x.abs() <= 1e6, "a rate in rad/s (at most 1e6)")));
    let start = table.or("start", 0.0, number(TIME));
    Some(Motion::Rotation { point, rate: rate? * axis?, start })
}

fn oscillation(table: &mut Table<'_>) -> Option<Motion> {
    let amplitude = table.get("amplitude", vector);
    let frequency = table.get("frequency", number(NOT_NEGATIVE));
    let phase = table.or("phase_deg", 0.0, number(FINITE)).to_radians();
    Some(Motion::Oscillation { amplitude: amplitude?, frequency: frequency?, phase })
}

fn motion_table(table: &mut Table<'_>) -> Option<Motion> {
    let times = table.get("times", |node| node.list(number(TIME)));
    let displacements = table.get("displacements", |node| node.list(vector));
    let (times, displacements) = (times?, displacements?);
    if times.is_empty() || times.len() != displacements.len() {
        table.problem(
            format!("`{}` has {} times and {} displacements", table.name(), times.len(), displacements.len()),
            "give one displacement per time, and at least one",
        );
        return None;
    }
    if let Some(i) = times.windows(2).position(|pair| pair[0] >= pair[1]) {
        table.problem(
            format!(
                "times of `{}` do not ascend: {} is followed by {}",
                table.name(),
                times[i],
                times[i + 1]
            ),
            "sort the times and remove equal ones",
        );
        return None;
    }
    Some(Motion::Table { times, displacements })
}
