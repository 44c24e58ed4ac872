//! Shape of a boundary as it was read, and what its body is asked for.

use crate::scenario::file::materials::DENSITY;
use std::sync::Arc;

use glam::{DQuat, DVec3};

use crate::model::{Axes, Form, Mesh, RigidBody};

use super::range::is_sound;
use super::read::{Table, number};

/// Shape that was read and is to become a boundary.
pub(super) struct ReadShape {
    /// Natural centre \[m\].
    pub(super) centre: DVec3,
    /// Default point of the axis of rotation \[m\].
    pub(super) pivot: DVec3,
    /// Orientation about the centre.
    pub(super) orientation: DQuat,
    /// Axis of symmetry.
    pub(super) axis: Option<DVec3>,
    /// Surfaces: position relative to the centre \[m\], direction of the z axis, form.
    pub(super) surfaces: Vec<(DVec3, DVec3, Form)>,
    /// Mesh of the surfaces, if the shape is a mesh.
    pub(super) mesh: Option<Arc<Mesh>>,
    /// Position \[m\] and orientation of the mesh in the frame of the body.
    pub(super) mesh_in_body: (DVec3, DQuat),
}

impl ReadShape {
    /// Creates a shape of surfaces about a centre \[m\], without an axis and not turned.
    pub(super) fn around(centre: DVec3, surfaces: Vec<(DVec3, DVec3, Form)>) -> ReadShape {
        let (pivot, orientation, mesh_in_body) = (centre, DQuat::IDENTITY, IN_PLACE);
        ReadShape { centre, pivot, orientation, axis: None, surfaces, mesh: None, mesh_in_body }
    }
}

/// Pose of a mesh that is neither moved nor turned.
pub(super) const IN_PLACE: (DVec3, DQuat) = (DVec3::ZERO, DQuat::IDENTITY);

/// Largest number of vertices of a dynamic mesh.
const MOST_VERTICES: usize = 10_000;

/// Reads the density \[kg/m³\]; default: the density of the material.
pub(super) fn density_of(table: &mut Table<'_>, density: Option<f64>) -> Option<f64> {
    match density {
        Some(density) => Some(table.or("density", density, number(DENSITY))),
        None => table.maybe("density", number(DENSITY)),
    }
}

/// Reports a body that rotates about a locked axis.
pub(super) fn check_spin(table: &Table<'_>, angular_velocity: DVec3, locked: Axes) {
    if angular_velocity * locked.free_rotation() != angular_velocity {
        table.problem(
            format!("`{}` turns about an axis that is locked", table.name()),
            "set its part of `angular_velocity` to 0, or free the axis",
        );
    }
}

/// Refuses a body whose mass or inertia, or an inverse of them, is no number.
pub(super) fn check_inertia(table: &Table<'_>, body: RigidBody) -> Option<RigidBody> {
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
    Some(body)
}

/// Returns whether a mesh is the surface of a solid that can be dynamic; reports its defects.
pub(super) fn is_solid_mesh(table: &Table<'_>, mesh: &Mesh) -> bool {
    if !mesh.defects.is_closed() {
        table.problem(
            format!(
                "`{}` is dynamic, and {} is not the surface of a solid: {}",
                table.name(),
                mesh.name,
                mesh.defects.in_words().join(", ")
            ),
            "close the mesh and have neighbouring triangles face the same side, or give it another motion",
        );
        return false;
    }
    has_few_vertices(table, mesh)
}

/// Returns whether a mesh has few enough vertices to be dynamic; reports a mesh with too many.
pub(super) fn has_few_vertices(table: &Table<'_>, mesh: &Mesh) -> bool {
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
        return false;
    }
    true
}
