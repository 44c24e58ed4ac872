//! Thin walls and discs as convex solids meet them: sheets of flat facets.
//!
//! Seen by a solid a circle is a polygon of [`SIDES`] sides, which lie within 3e-4 of its radius. Walls and discs that never move against
//! each other and have the same axis begin at the same side, so that their corners meet: the joint of a cylinder and a cone, or of a
//! drum and its cap, is an edge inside of one sheet and no rim.

use std::f64::consts::TAU;
use std::sync::Arc;

use glam::DVec3;

use super::mesh::{Mesh, SheetPart};
use super::{Form, Surface, World};

/// Number of sides of the polygon that stands for a circle.
pub const SIDES: usize = 128;

/// The sheet of each surface that is a thin wall or a disc.
pub fn sheets(world: &World) -> Vec<Option<Arc<Mesh>>> {
    let mut sheets = vec![None; world.surfaces.len()];
    let classes = world.motion_classes();
    let mut parts: Vec<(u32, usize, SheetPart)> = Vec::new();
    for (index, surface) in world.surfaces.iter().enumerate() {
        let body = surface.body as usize;
        let orientation = world.bodies.orientation[body];
        let part = facets(surface).map(|triangles| SheetPart {
            triangles,
            position: world.bodies.position[body] + orientation * surface.position,
            orientation: orientation * surface.orientation,
        });
        parts.extend(part.map(|part| (classes[body], index, part)));
    }
    parts.sort_by_key(|(class, ..)| *class);
    for alike in parts.chunk_by(|one, other| one.0 == other.0) {
        let meshes = Mesh::joined(&alike.iter().map(|(.., part)| part.clone()).collect::<Vec<_>>());
        for ((_, index, _), mesh) in alike.iter().zip(meshes) {
            sheets[*index] = Some(Arc::new(mesh));
        }
    }
    sheets
}

/// Triangles of a thin wall or a disc in its frame \[m\]; `None` for other surfaces.
fn facets(surface: &Surface) -> Option<Vec<[DVec3; 3]>> {
    let [u, v] = sideways(surface);
    let rim = |radius: f64, z: f64| -> Vec<DVec3> {
        let at = |side: usize| {
            let (sine, cosine) = (TAU * side as f64 / SIDES as f64).sin_cos();
            radius * (cosine * u + sine * v) + z * DVec3::Z
        };
        (0..SIDES).map(at).collect()
    };
    let next = |side: usize| (side + 1) % SIDES;
    match surface.form {
        Form::Disc { radius } => {
            // Between chords side by side, so that no corner has many triangles.
            let rim = rim(radius, 0.0);
            let corner = |i: usize| rim[if i.is_multiple_of(2) { i / 2 } else { SIDES - i.div_ceil(2) }];
            Some((0..SIDES - 2).map(|i| [corner(i), corner(i + 1), corner(i + 2)]).collect())
        }
        Form::Wall { bottom_radius, top_radius, length, .. } => {
            let (bottom, top) = (rim(bottom_radius, -0.5 * length), rim(top_radius, 0.5 * length));
            let below = |side| [bottom[side], bottom[next(side)], top[next(side)]];
            let above = |side| [bottom[side], top[next(side)], top[side]];
            let [has_bottom, has_top] = [bottom_radius, top_radius].map(|radius| radius > 0.0);
            let side = |side| has_bottom.then(|| below(side)).into_iter().chain(has_top.then(|| above(side)));
            Some((0..SIDES).flat_map(side).collect())
        }
        _ => None,
    }
}

/// Two axes across the axis of a surface, in its frame, which are the same for all surfaces of a body with this axis, whichever way it
/// points.
fn sideways(surface: &Surface) -> [DVec3; 2] {
    let axis = surface.orientation * DVec3::Z;
    let largest = axis.abs().max_position();
    let axis = axis * axis[largest].signum();
    let u = DVec3::AXES[(largest + 1) % 3].reject_from(axis).normalize();
    [u, axis.cross(u)].map(|across| surface.orientation.conjugate() * across)
}
