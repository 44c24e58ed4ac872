//! Convex solids, and how two of them meet: farthest points, faces and edges, the axis along which two are apart or overlap, and the points
//! of their contact.
//!
//! A [`Convex`] is a box, a convex mesh, a cylinder, a truncated cone, a capsule or a ball, in its own frame. [`separation()`] finds the
//! axis along which two solids are farthest apart, or overlap the least; [`manifold`] finds where they touch along it: the corners of the
//! overlap of the two faces that look at each other. Twins:
//! `shaders/shared/separation.wgsl` and `shaders/shared/manifold.wgsl`.

mod build;
mod common;
pub mod convex;
pub mod facet;
mod gilbert;
pub mod hull;
pub mod manifold;
mod nearest;
mod outline;
mod pair;
pub mod separation;

pub use build::SolidError;
pub use common::common_volume;
pub use convex::{Convex, Revolved, SolidEdge, SolidFace};
pub use facet::{Facet, FacetMeeting, meet_facet, meet_facets};
pub use gilbert::may_be_near;
pub use hull::MOST_HULL_POINTS;
pub use manifold::{
    MOST_POINTS, Manifold, ManifoldBounds, SearchStart, Touch, meet, meet_along, meet_from, meet_half_space,
    of_touches,
};
pub use pair::SolidPose;
pub use separation::{AxisFeature, SeparatingAxis, separation};
