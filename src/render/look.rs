//! Look of a picture: camera, colours, and what is shown.

use glam::DVec3;

use crate::model::{Plane, World};

/// Allowed width and height of a picture \[pixels\].
pub const SIZES: std::ops::RangeInclusive<u32> = 64..=8192;
/// Fields that grains can be coloured by: the fields of a frame, components of vectors, the height, and the velocity
/// relative to the first boundary that turns.
pub const FIELDS: &[&str] = &[
    "velocity",
    "velocity_x",
    "velocity_y",
    "velocity_z",
    "angular_velocity",
    "angular_velocity_x",
    "angular_velocity_y",
    "angular_velocity_z",
    "relative_velocity",
    "relative_velocity_x",
    "relative_velocity_y",
    "relative_velocity_z",
    "height",
    "coordination_number",
    "contact_force",
    "contact_force_x",
    "contact_force_y",
    "contact_force_z",
    "pressure",
    "temperature",
    "radius",
    "id",
    "material",
];

/// Look of a picture: its camera, its colours and the things it shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Width and height \[pixels\].
    pub size: [u32; 2],
    /// Azimuth of the camera \[degrees\]: at 0 it looks along +y with x to the right, at 90 along -x.
    pub azimuth_deg: f64,
    /// Elevation of the camera \[degrees\]: at 0 it is level, at 90 it looks straight down.
    pub elevation_deg: f64,
    /// Kind of camera.
    pub projection: Projection,
    /// Magnification, over the one at which everything fits \[-\].
    pub zoom: f64,
    /// Corners of the box that fits into the picture \[m\]; `None`: all grains of all frames and all boundaries.
    pub fit: Option<[DVec3; 2]>,
    /// Plane before which everything is cut away.
    pub cut: Option<CutPlane>,
    /// Whether grains or contact forces are shown in colours.
    pub show: Show,
    /// Whether a rose in the corner shows the directions of the forces.
    pub rose: bool,
    /// Field that the grains are coloured by: one of [`FIELDS`], or an array in the files.
    pub colour_by: String,
    /// Values at the ends of the colours; `None`: least and greatest value of all frames.
    pub range: Option<[f64; 2]>,
    /// Style of the boundaries.
    pub boundaries: BoundaryStyle,
}

/// Kind of camera.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Projection {
    /// Parallel rays.
    Orthographic,
    /// Rays from an eye.
    Perspective,
}

impl Projection {
    /// Names of the projections, as in a scenario and on the command line.
    pub const WORDS: &[&str] = &["orthographic", "perspective"];

    /// The projection of this name.
    pub fn of(word: &str) -> Option<Projection> {
        match word {
            "orthographic" => Some(Projection::Orthographic),
            "perspective" => Some(Projection::Perspective),
            _ => None,
        }
    }
}

/// Things that a picture shows in colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// Grains, coloured by a field.
    Grains,
    /// Normal forces of the contacts, as lines as wide as the force, with faint grains behind them.
    Forces,
    /// Compatible normal forces \[E16\], drawn in the same way.
    CompatibleForces,
}

impl Show {
    /// Names of the variants, as in a scenario and on the command line.
    pub const WORDS: &[&str] = &["grains", "forces", "compatible_forces"];

    /// The variant of this name.
    pub fn of(word: &str) -> Option<Show> {
        match word {
            "grains" => Some(Show::Grains),
            "forces" => Some(Show::Forces),
            "compatible_forces" => Some(Show::CompatibleForces),
            _ => None,
        }
    }

    /// Name of the array of the contacts that is drawn; `None` for grains.
    pub fn array(self) -> Option<&'static str> {
        match self {
            Show::Grains => None,
            Show::Forces => Some("normal_force"),
            Show::CompatibleForces => Some("compatible_normal_force"),
        }
    }
}

/// Style of the boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundaryStyle {
    /// Transparent faces with their edges.
    Glass,
    /// Edges alone.
    Edges,
    /// Not drawn at all.
    Hidden,
}

impl BoundaryStyle {
    /// Names of the styles, as in a scenario and on the command line.
    pub const WORDS: &[&str] = &["glass", "edges", "hidden"];

    /// The style of this name.
    pub fn of(word: &str) -> Option<BoundaryStyle> {
        match word {
            "glass" => Some(BoundaryStyle::Glass),
            "edges" => Some(BoundaryStyle::Edges),
            "hidden" => Some(BoundaryStyle::Hidden),
            _ => None,
        }
    }
}

/// Cutting plane: everything between the plane and the camera is cut away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CutPlane {
    /// A point of the plane \[m\].
    pub point: DVec3,
    /// Unit normal of the plane; its sign does not matter.
    pub normal: DVec3,
}

impl Look {
    /// Default look of a scene: grains coloured by speed, seen from above at an angle, or along the axis of a drum.
    pub fn of_scene(world: &World) -> Look {
        let lies = |rate: &DVec3| rate.z.abs() < 0.1 * rate.length();
        let rates = world.boundaries.iter().filter_map(|boundary| Some(boundary.rotation_at(0.0)?.rate));
        let axis = rates.into_iter().find(lies);
        let (azimuth_deg, elevation_deg) = match (world.plane, axis) {
            (Some(Plane::Xy), _) => (0.0, 90.0),
            (Some(Plane::Xz), _) => (0.0, 0.0),
            (Some(Plane::Yz), _) => (90.0, 0.0),
            (None, Some(axis)) => (along(axis), 0.0),
            (None, None) => (30.0, 20.0),
        };
        Look {
            size: [960, 720],
            azimuth_deg,
            elevation_deg,
            projection: Projection::Orthographic,
            zoom: 1.0,
            fit: None,
            cut: None,
            show: Show::Grains,
            rose: false,
            colour_by: "velocity".to_owned(),
            range: None,
            boundaries: BoundaryStyle::Glass,
        }
    }
}

/// Azimuth of a camera that looks along an axis, in (-90, 90] degrees.
fn along(axis: DVec3) -> f64 {
    let degrees = (-axis.x).atan2(axis.y).to_degrees();
    let turned = (degrees + 90.0).rem_euclid(180.0) - 90.0;
    turned.round() + 0.0
}

/// Pictures that a run draws as it goes.
#[derive(Debug, Clone, PartialEq)]
pub struct PicturePlan {
    /// Time between pictures \[s\].
    pub every: f64,
    /// Look of the pictures.
    pub look: Look,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drum_is_seen_along_its_axis_whichever_way_it_turns() {
        assert_eq!(along(DVec3::Y), 0.0);
        assert_eq!(along(-0.25 * DVec3::Y), 0.0);
        assert_eq!(along(DVec3::X).abs(), 90.0);
        assert_eq!(along(DVec3::new(1.0, 1.0, 0.0)), -45.0);
    }
}
