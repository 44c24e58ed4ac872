//! How pictures look.

use glam::DVec3;

use crate::model::{Motion, Plane, World};

/// Width and height of a picture, at least and at most \[pixels\].
pub const SIZES: std::ops::RangeInclusive<u32> = 64..=8192;
/// What grains can be coloured by: the fields of a frame, components of vectors, the height, and where a boundary turns the
/// velocity relative to it.
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
    "radius",
    "id",
    "material",
];

/// How a picture is seen and coloured.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Width and height \[pixels\].
    pub size: [u32; 2],
    /// Where the camera stands: 0 looks along +y with x to the right, 90 along -x \[degrees\].
    pub azimuth_deg: f64,
    /// How high the camera stands: 0 is level, 90 looks straight down \[degrees\].
    pub elevation_deg: f64,
    /// Kind of camera.
    pub projection: Projection,
    /// Magnification, over that at which everything fits \[-\].
    pub zoom: f64,
    /// Corners of the box that is to fit \[m\]; `None`: all grains of all frames and all boundaries.
    pub fit: Option<[DVec3; 2]>,
    /// A plane before which everything is cut away.
    pub cut: Option<Cut>,
    /// What the grains or contacts are drawn for.
    pub show: Show,
    /// Whether a corner tells the directions of the forces that are shown.
    pub rose: bool,
    /// Field of the frames that the grains are coloured by, one of [`FIELDS`] or an array of the files.
    pub colour_by: String,
    /// Values at the ends of the colours; `None`: least and greatest of all frames.
    pub range: Option<[f64; 2]>,
    /// How boundaries are drawn.
    pub boundaries: BoundaryStyle,
}

/// A camera without or with foreshortening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Projection {
    /// Parallel rays.
    Orthographic,
    /// Rays from an eye.
    Perspective,
}

impl Projection {
    /// The words for it.
    pub const WORDS: &[&str] = &["orthographic", "perspective"];

    /// The projection of a word.
    pub fn of(word: &str) -> Option<Projection> {
        match word {
            "orthographic" => Some(Projection::Orthographic),
            "perspective" => Some(Projection::Perspective),
            _ => None,
        }
    }
}

/// What a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// Grains, coloured by a field.
    Grains,
    /// The normal forces of contacts, as lines as wide as the force, with faint grains behind them.
    Forces,
    /// Compatible normal forces \[E16\], likewise.
    CompatibleForces,
}

impl Show {
    /// The words for it.
    pub const WORDS: &[&str] = &["grains", "forces", "compatible_forces"];

    /// What a word stands for.
    pub fn of(word: &str) -> Option<Show> {
        match word {
            "grains" => Some(Show::Grains),
            "forces" => Some(Show::Forces),
            "compatible_forces" => Some(Show::CompatibleForces),
            _ => None,
        }
    }

    /// The array of contacts that is drawn; none where grains have the colours.
    pub fn array(self) -> Option<&'static str> {
        match self {
            Show::Grains => None,
            Show::Forces => Some("normal_force"),
            Show::CompatibleForces => Some("compatible_normal_force"),
        }
    }
}

/// How boundaries are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundaryStyle {
    /// See-through, with their edges.
    Glass,
    /// Edges alone.
    Edges,
    /// Not at all.
    Hidden,
}

impl BoundaryStyle {
    /// The words for it.
    pub const WORDS: &[&str] = &["glass", "edges", "hidden"];

    /// The style of a word.
    pub fn of(word: &str) -> Option<BoundaryStyle> {
        match word {
            "glass" => Some(BoundaryStyle::Glass),
            "edges" => Some(BoundaryStyle::Edges),
            "hidden" => Some(BoundaryStyle::Hidden),
            _ => None,
        }
    }
}

/// A plane; what lies between it and the camera is cut away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// A point of it \[m\].
    pub point: DVec3,
    /// Across it, of either sign, a unit vector.
    pub normal: DVec3,
}

impl Look {
    /// What suits a scene: grains coloured by speed, seen from above at an angle, or along the axis of a drum.
    pub fn of_scene(world: &World) -> Look {
        let axis = world.boundaries.iter().find_map(|boundary| match boundary.motion {
            Motion::Rotation { rate, .. } if rate.z.abs() < 0.1 * rate.length() => Some(rate),
            _ => None,
        });
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

/// Azimuth from which a camera looks along an axis, in (-90, 90] degrees.
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
    /// How they look.
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
