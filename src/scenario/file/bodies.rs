//! Dynamic bodies whose mass, centre or axes are not those of a single shape: bodies of several shapes, with a given mass, or without
//! shapes.

use glam::{DMat3, DQuat, DVec3};

use crate::model::rigid::principal;
use crate::model::{Form, RigidBody, Solid};

use super::locked_axes;
use super::materials::MASS;
use super::read::{Table, number, vector};
use super::shape::{ReadShape, check_inertia, check_spin, density_of, has_few_vertices, is_solid_mesh};

/// Returns whether a body of a single shape needs a centre and axes other than those of the shape.
pub fn is_put_together(table: &mut Table<'_>, shape: &ReadShape) -> bool {
    let is_told =
        ["mass", "inertia", "products_of_inertia", "centre_of_mass"].into_iter().any(|key| table.has(key));
    let alone = |form: &Form| matches!(form, Form::Box { .. } | Form::Sphere { .. });
    let is_round = |form: &Form| Solid::of(*form).is_some() && !alone(form);
    is_told || matches!(&shape.surfaces[..], [(_, _, form)] if is_round(form))
}

/// Reads a dynamic body of these shapes; `density` is the density of its material \[kg/m³\]. Returns the body, the position of its centre
/// of mass \[m\] and the rotation from its principal axes to the world.
pub fn put_together(
    table: &mut Table<'_>,
    shapes: &[ReadShape],
    density: Option<f64>,
) -> Option<(RigidBody, (DVec3, DQuat))> {
    let velocity = table.or("velocity", DVec3::ZERO, vector);
    let angular_velocity = table.or("angular_velocity", DVec3::ZERO, vector);
    let locked = locked_axes(table);
    check_spin(table, angular_velocity, locked);
    let (body, frame) = match table.has("inertia") {
        true => as_told(table, shapes)?,
        false => as_solids(table, shapes, density)?,
    };
    let body = check_inertia(table, body)?;
    Some((RigidBody { velocity, angular_velocity, locked, ..body }, frame))
}

/// Body as the sum of the solids of its shapes, scaled to `mass` if that is given.
fn as_solids(
    table: &mut Table<'_>,
    shapes: &[ReadShape],
    density: Option<f64>,
) -> Option<(RigidBody, (DVec3, DQuat))> {
    let mass = table.maybe("mass", number(MASS));
    let density = if mass.is_some() { Some(1.0) } else { density_of(table, density) };
    for key in ["centre_of_mass", "products_of_inertia"] {
        if table.has(key) {
            table.problem(
                format!("`{}` has `{key}` and no `inertia`", table.name()),
                "add `mass` and `inertia`, or leave it out: without them both follow from the shapes",
            );
        }
    }
    if shapes.is_empty() {
        table.problem(
            format!("`{}` is dynamic and has no shape", table.name()),
            "add `mass` [kg], `inertia` [kg m²] and `centre_of_mass` [m], or a shape",
        );
        return None;
    }
    let solids: Vec<Solid> = shapes.iter().map(|shape| solid(table, shape)).collect::<Option<_>>()?;
    let all = solids.into_iter().reduce(|sum, solid| sum.and(&solid))?;
    let density = mass.map_or(density, |mass| Some(mass / all.volume))?;
    let (body, axes) = all.body(density);
    Some((body, (all.centre, axes)))
}

/// Body with the given mass, centre of mass, and inertia tensor along the axes of the world: its diagonal, and its other elements xy, xz
/// and yz, which are 0 unless they are given.
fn as_told(table: &mut Table<'_>, shapes: &[ReadShape]) -> Option<(RigidBody, (DVec3, DQuat))> {
    let mass = table.get("mass", number(MASS));
    let inertia = table.get("inertia", vector);
    let products = table.maybe("products_of_inertia", vector);
    let centre = match (table.has("centre_of_mass"), shapes) {
        (false, [shape]) => Some(shape.centre),
        _ => table.get("centre_of_mass", vector),
    };
    // The mesh may be an open sheet here, because its volume is not used.
    let may_move = |shape: &ReadShape| match &shape.mesh {
        Some(mesh) => has_few_vertices(table, mesh),
        None => solid(table, shape).is_some(),
    };
    if !shapes.iter().all(may_move) {
        return None;
    }
    let (mass, inertia, centre) = (mass?, inertia?, centre?);
    let products = products.unwrap_or(DVec3::ZERO);
    let (moments, axes) = principal(DMat3::from_cols_array_2d(&[
        [inertia.x, products.x, products.y],
        [products.x, inertia.y, products.z],
        [products.y, products.z, inertia.z],
    ]));
    let largest = moments.max_element();
    // In a rigid body no moment of inertia exceeds the sum of the other two.
    if moments.min_element() <= 0.0 || largest > (moments.element_sum() - largest) * (1.0 + 1e-9) {
        let along = if products == DVec3::ZERO { "" } else { ", along its principal axes" };
        table.problem(
            format!("`{}.inertia` is {moments} kg m²{along}, which no body has", table.name()),
            "give three positive moments about x, y and z, none above the sum of the other two; products of inertia are elements xy, xz \
             and yz of the tensor, such as -∫ x y dm",
        );
        return None;
    }
    Some((RigidBody::at_rest(mass, moments), (centre, axes)))
}

/// Reports a dynamic body with a shape that is not solid.
pub fn report_hollow(table: &Table<'_>) {
    table.problem(
        format!("`{}` is dynamic, and its shape is not solid", table.name()),
        "use kind = \"box\", \"cylinder\" or \"cone\" with side = \"outside\", \"sphere\", \"capsule\" or \"mesh\"; what holds grains \
         inside is fixed or moves as prescribed",
    );
}

/// Returns the solid of a shape; reports a shape that is not solid.
fn solid(table: &Table<'_>, shape: &ReadShape) -> Option<Solid> {
    if let Some(mesh) = &shape.mesh {
        return is_solid_mesh(table, mesh).then(|| mesh.solid().placed(shape.centre, shape.orientation));
    }
    let parts = shape.surfaces.iter().map(|&(place, axis, form)| {
        let own = Solid::of(form)?.placed(place, DQuat::from_rotation_arc(DVec3::Z, axis));
        Some(own.placed(shape.centre, shape.orientation))
    });
    let solid = parts.reduce(|sum, part| Some(sum?.and(&part?))).flatten();
    if solid.is_none() {
        report_hollow(table);
    }
    solid
}
