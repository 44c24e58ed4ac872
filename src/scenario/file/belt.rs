//! Belts: boundaries that stand still while their surface moves in itself.

use glam::{DQuat, DVec3};

use crate::model::{Form, Mesh, Motion};

use super::read::Table;
use super::shape::ReadShape;

/// Returns the motion of a belt: the boundary stands still while its surface moves.
pub fn belt(
    table: &mut Table<'_>,
    shapes: Option<&[ReadShape]>,
    motion: Option<Motion>,
    velocity: DVec3,
) -> Option<Motion> {
    let node = table.node("surface_velocity")?;
    let (shapes, motion) = (shapes?, motion?);
    if motion != Motion::Fixed {
        node.problem(
            format!("`{}` has a `surface_velocity` and a `motion`", table.name()),
            "a belt stands still while its surface moves: leave out one of the two",
        );
        return None;
    }
    let stays = |shape: &ReadShape| {
        let stays = |surface| lies_along(surface, shape.mesh.as_deref(), shape.orientation, velocity);
        shape.surfaces.iter().all(stays)
    };
    if !shapes.iter().all(stays) {
        node.problem(
            format!("the `surface_velocity` of `{}` leads out of its surface", table.name()),
            "a belt moves in itself: a plane along itself, a cylinder without caps along its axis, a mesh along all its \
             triangles; what turns has a `motion`",
        );
        return None;
    }
    Some(Motion::Belt(velocity))
}

/// Returns whether a surface that moves at this velocity stays in place.
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
