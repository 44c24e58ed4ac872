//! Pictures of a run, without a display or a graphics card.
//!
//! ```text
//! results of a run ─┐             ┌─► survey: what there is to see, and its range ─┐
//!      a snapshot   ┴─► frame ────┤                                                ├─► painter ─► picture ─► file
//!                                 └────────────────────────────────────────────────┘
//! ```
//!
//! A [`Survey`] passes over all frames first, so that the camera stands still and a colour means the same value in all
//! pictures of an animation. A run that draws as it goes cannot see later frames: its first state sets the camera, and
//! a range of values that is not given grows.

#[cfg(feature = "render")]
mod camera;
#[cfg(feature = "render")]
mod field;
#[cfg(feature = "render")]
pub mod file;
#[cfg(feature = "scenario")]
mod frame;
#[cfg(feature = "render")]
mod legend;
#[cfg(feature = "render")]
mod live;
mod look;
#[cfg(feature = "scenario")]
pub mod packed;
#[cfg(feature = "render")]
mod painter;
#[cfg(feature = "render")]
pub mod picture;
#[cfg(feature = "render")]
mod raster;
#[cfg(feature = "render")]
mod results;
#[cfg(feature = "render")]
mod rose;
#[cfg(feature = "render")]
mod trails;

#[cfg(feature = "scenario")]
pub use frame::{DrawnBall, Force, Frame, frame_of};
#[cfg(feature = "render")]
pub use live::{Drawn, LivePictures};
pub use look::{BoundaryStyle, CutPlane, FIELDS, Look, PicturePlan, Projection, SIZES, Show};
#[cfg(feature = "render")]
pub use painter::*;
#[cfg(feature = "render")]
pub use picture::Picture;
#[cfg(feature = "render")]
pub use results::Results;
#[cfg(feature = "render")]
pub use trails::{Trail, Trails};
