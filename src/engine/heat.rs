//! The step that the conduction of heat allows \[E21\].

use crate::error::Error;
use crate::model::World;

/// Largest share h Σ H/C of a body in a substep \[-\]: with a larger one it would differ from its neighbours the other way round.
pub const MOST_SHARE: f64 = 1.0;

/// Error of a substep in which this body has a share h Σ H/C of more than [`MOST_SHARE`] \[-\].
pub fn too_much(world: &World, body: usize, share: f64) -> Error {
    let of = match world.grain_of_body(body) {
        Some(grain) => format!("grain {}", world.ids[grain]),
        None => format!("boundary \"{}\"", world.boundaries[body].name),
    };
    let what = "heat exchange in a substep, h Σ H/C [-],";
    let expected = "at most 1, or temperatures swing: make substeps shorter by this factor (solver.time_step, solver.substeps), or \
                    the heat_capacity of the material larger";
    Error::OutOfRange { of, what, found: share, expected }
}
