//! Sources of grains: size distributions, the kind of grain, emitters, dense packings, and the grid that keeps new grains out of others.

pub mod cement;
pub mod dense;
pub mod emitter;
pub mod grid;
pub mod make;
pub mod radii;
pub mod room;
pub mod size_curve;

pub use emitter::Emitter;
pub use room::FreeRoom;
