//! What a contact carries over from step to step beside its place in the list: its impulse, and the side of a mesh that it is on.

use glam::DVec3;

use super::{Impulse, Key};

/// What a contact carries over to the next substep.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Carried {
    /// Key of the contact.
    pub key: Key,
    /// Impulse of the last substep; under the smooth method the state of the springs.
    pub impulse: Impulse,
    /// Normal and side, at a contact with a patch of a mesh.
    pub known: Option<KnownSide>,
}

/// Normal and side of a contact with a patch, from the last substep.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct KnownSide {
    /// Normal of the contact; zero where it took no part.
    pub(crate) normal: DVec3,
    /// Side of the sheet that the sphere belongs to: 1 where the faces of the patch look, -1 behind them, 0 unknown.
    pub(crate) side: i8,
}
