//! Scenes in a plane, whose grains are discs.

use std::f64::consts::PI;

use glam::DVec3;

use super::{Axes, sphere_volume};

/// A plane through the origin that the centres of all grains stay in. Grains are discs of one metre of depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
pub enum Plane {
    /// Seen from above.
    Xy,
    /// Seen from the front.
    Xz,
    /// Seen from the side.
    Yz,
}

impl Plane {
    /// The words for it.
    pub const WORDS: &[&str] = &["xy", "xz", "yz"];

    /// The plane of a word.
    pub fn of(word: &str) -> Option<Plane> {
        match word {
            "xy" => Some(Plane::Xy),
            "xz" => Some(Plane::Xz),
            "yz" => Some(Plane::Yz),
            _ => None,
        }
    }

    /// The axis across it: 0, 1 or 2 for x, y or z.
    pub fn across(self) -> usize {
        match self {
            Plane::Xy => 2,
            Plane::Xz => 1,
            Plane::Yz => 0,
        }
    }

    /// The axes that lie in it.
    pub fn axes(self) -> [usize; 2] {
        match self {
            Plane::Xy => [0, 1],
            Plane::Xz => [0, 2],
            Plane::Yz => [1, 2],
        }
    }

    /// The place in it below or above a point.
    pub fn onto(self, mut point: DVec3) -> DVec3 {
        point[self.across()] = 0.0;
        point
    }

    /// The axes that a body leaves it along, or out of it.
    pub fn locked(self) -> Axes {
        let out = (0..3).filter(|axis| *axis != self.across()).map(|axis| Axes::ROTATION[axis]);
        out.fold(Axes::TRANSLATION[self.across()], Axes::and)
    }
}

/// Volume of a grain of this radius \[m\] \[m³\]: a ball, or in a plane a disc of one metre of depth.
pub fn grain_volume(plane: Option<Plane>, radius: f64) -> f64 {
    if plane.is_some() { PI * radius * radius } else { sphere_volume(radius) }
}

/// Moment of inertia of such a grain over m r² \[-\].
pub fn gyration(plane: Option<Plane>) -> f64 {
    if plane.is_some() { 0.5 } else { 0.4 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discs_move_in_their_plane_and_turn_about_the_axis_across_it() {
        for (plane, free) in [
            (Plane::Xy, [DVec3::new(1.0, 1.0, 0.0), DVec3::Z]),
            (Plane::Xz, [DVec3::new(1.0, 0.0, 1.0), DVec3::Y]),
            (Plane::Yz, [DVec3::new(0.0, 1.0, 1.0), DVec3::X]),
        ] {
            let locked = plane.locked();
            assert_eq!([locked.free_translation(), locked.free_rotation()], free);
            assert_eq!(Plane::of(Plane::WORDS[2 - plane.across()]), Some(plane));
        }
    }
}
