//! Plane scenes, whose grains are discs.

use std::f64::consts::PI;

use glam::DVec3;

use super::{Axes, sphere_volume};

/// Plane through the origin in which the centres of all grains stay. Grains are discs of one metre of depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
pub enum Plane {
    /// The xy plane, seen from above.
    Xy,
    /// The xz plane, seen from the front.
    Xz,
    /// The yz plane, seen from the side.
    Yz,
}

impl Plane {
    /// Names of the planes in a scenario.
    pub const WORDS: &[&str] = &["xy", "xz", "yz"];

    /// The plane with this name.
    pub fn of(word: &str) -> Option<Plane> {
        match word {
            "xy" => Some(Plane::Xy),
            "xz" => Some(Plane::Xz),
            "yz" => Some(Plane::Yz),
            _ => None,
        }
    }

    /// Axis normal to the plane: 0, 1 or 2 for x, y or z.
    pub fn across(self) -> usize {
        match self {
            Plane::Xy => 2,
            Plane::Xz => 1,
            Plane::Yz => 0,
        }
    }

    /// Axes that lie in the plane.
    pub fn axes(self) -> [usize; 2] {
        match self {
            Plane::Xy => [0, 1],
            Plane::Xz => [0, 2],
            Plane::Yz => [1, 2],
        }
    }

    /// Projects a point \[m\] onto the plane.
    pub fn onto(self, mut point: DVec3) -> DVec3 {
        point[self.across()] = 0.0;
        point
    }

    /// Axes to lock for a body in the plane: translation along the normal, and rotation about the axes in the plane.
    pub fn locked(self) -> Axes {
        let out = (0..3).filter(|axis| *axis != self.across()).map(|axis| Axes::ROTATION[axis]);
        out.fold(Axes::TRANSLATION[self.across()], Axes::and)
    }
}

/// Volume of a grain of this radius \[m\] \[m³\]: a ball, or in a plane scene a disc of one metre of depth.
pub fn grain_volume(plane: Option<Plane>, radius: f64) -> f64 {
    if plane.is_some() { PI * radius * radius } else { sphere_volume(radius) }
}

/// Volume that two grains of these radii which overlap by this `depth` \[m\] have in common \[m³\]: two caps, or in a plane scene two
/// segments of discs of one metre of depth.
pub fn lens_volume(plane: Option<Plane>, radii: [f64; 2], depth: f64) -> f64 {
    let [a, b] = radii;
    let (depth, smaller) = (depth.max(0.0), a.min(b));
    if depth >= 2.0 * smaller {
        return grain_volume(plane, smaller);
    }
    // From each centre to where the surfaces cross, less the radius.
    let part = |radius: f64, other: f64| {
        let height = 0.5 * depth * (2.0 * other - depth) / (a + b - depth);
        let angle = (1.0 - height / radius).clamp(-1.0, 1.0).acos();
        if plane.is_some() {
            radius * radius * (angle - angle.sin() * angle.cos())
        } else {
            cap_volume(radius, height)
        }
    };
    part(a, b) + part(b, a)
}

/// Volume of a cap of a ball \[m³\], from the radius of the ball and the height of the cap \[m\].
pub fn cap_volume(radius: f64, height: f64) -> f64 {
    let height = height.clamp(0.0, 2.0 * radius);
    PI * height * height * (radius - height / 3.0)
}

/// Moment of inertia of a grain of one sphere or disc over m r² \[-\].
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

    #[test]
    fn lenses_have_the_volumes_of_their_caps_and_segments() {
        // Two balls of radius 1 at a distance of 1: 5π/12; two discs: 2π/3 - √3/2. Of unequal ones that are nested all of the smaller.
        let of = |plane, radii, depth| lens_volume(plane, radii, depth);
        assert!((of(None, [1.0, 1.0], 1.0) - 5.0 * PI / 12.0).abs() < 1e-12);
        assert!((of(Some(Plane::Xy), [1.0, 1.0], 1.0) - (2.0 * PI / 3.0 - 0.75f64.sqrt())).abs() < 1e-12);
        assert!((of(None, [1.0, 0.5], 1.0 - 1e-9) - sphere_volume(0.5)).abs() < 1e-8);
        assert_eq!(of(None, [1.0, 1.0], 2.0), sphere_volume(1.0));
        assert_eq!(of(None, [1.0, 2.0], 0.0), 0.0);
    }
}
