//! The camera: projects points of the scene into the picture, and gives the ray through a point of the picture.
//!
//! Points are seen in the frame of the camera: x to the right, y up, z away from the camera, from the centre of the view.

use glam::{DMat3, DVec2, DVec3};

use crate::output::outline::Extent;
use crate::render::{Look, Projection};

/// Half of the opening angle of a perspective camera, along the shorter side of the picture \[rad\].
const HALF_ANGLE: f64 = 0.25;
/// Empty margin at each side of the picture, over its size \[-\].
const MARGIN: f64 = 0.03;

/// Axes of the camera.
#[derive(Debug, Clone, Copy)]
pub struct CameraAxes {
    to_camera: DMat3,
}

impl CameraAxes {
    /// The axes of a camera with the azimuth and elevation of a look.
    pub fn of(look: &Look) -> CameraAxes {
        let (sin, cos) = look.azimuth_deg.to_radians().sin_cos();
        let (rise, level) = look.elevation_deg.to_radians().sin_cos();
        let right = DVec3::new(cos, sin, 0.0);
        let forward = DVec3::new(-sin * level, cos * level, -rise);
        let up = right.cross(forward);
        CameraAxes { to_camera: DMat3::from_cols(right, up, forward).transpose() }
    }

    /// Turns a point or direction of the scene into the frame of the camera. The origin stays that of the scene.
    pub fn turn(&self, place: DVec3) -> DVec3 {
        self.to_camera * place
    }
}

/// Ray in the frame of the camera.
#[derive(Debug, Clone, Copy)]
pub struct Ray {
    /// Start of the ray \[m\].
    pub origin: DVec3,
    /// Direction of the ray, a unit vector.
    pub direction: DVec3,
}

impl Ray {
    /// Point of the ray at a distance from its start \[m\].
    pub fn at(&self, distance: f64) -> DVec3 {
        self.origin + distance * self.direction
    }
}

/// A camera that looks at a part of the scene.
#[derive(Debug, Clone, Copy)]
pub struct Camera {
    frame: CameraAxes,
    /// Centre of the view, turned into the frame of the camera \[m\].
    centre: DVec3,
    /// Middle of the picture \[samples\].
    middle: DVec2,
    /// Samples per metre at the centre of the view.
    scale: f64,
    /// Distance of the eye from the centre \[m\]; `None`: parallel rays.
    eye: Option<f64>,
}

impl Camera {
    /// A camera for a picture of `width` by `height` samples. `extent` fits into the picture at zoom 1.
    pub fn new(look: &Look, extent: Extent, width: f64, height: f64) -> Camera {
        let extent = if extent.is_nothing() { Extent::NOTHING.with(DVec3::ZERO, 1.0) } else { extent };
        let half = (0.5 * (extent.max - extent.min)).max(DVec3::splat(1e-9));
        let room = 0.5 * DVec2::new(width, height) * (1.0 - 2.0 * MARGIN);
        let fitting = (room / half.truncate()).min_element();
        let slope = HALF_ANGLE.tan();
        let (eye, scale) = match look.projection {
            Projection::Orthographic => (None, fitting),
            Projection::Perspective => {
                // The eye is so far away that the nearest face of the extent fits the opening angle.
                let nearest = room.min_element() / (slope * fitting);
                let eye = nearest + half.z;
                (Some(eye), fitting * nearest / eye)
            }
        };
        Camera {
            frame: CameraAxes::of(look),
            centre: 0.5 * (extent.min + extent.max),
            middle: 0.5 * DVec2::new(width, height),
            scale: scale * look.zoom,
            eye,
        }
    }

    /// A camera with parallel rays along z. `extent` fits into its picture of `samples` by `samples` samples.
    pub fn along_z(extent: Extent, samples: usize) -> Camera {
        let size = (extent.max - extent.min).truncate().max_element().max(1e-9);
        Camera {
            frame: CameraAxes { to_camera: DMat3::IDENTITY },
            centre: 0.5 * (extent.min + extent.max),
            middle: DVec2::splat(0.5 * samples as f64),
            scale: samples as f64 / size,
            eye: None,
        }
    }

    /// Position of a point of the scene in the frame of the camera \[m\].
    pub fn see(&self, place: DVec3) -> DVec3 {
        self.frame.turn(place) - self.centre
    }

    /// Turns a direction of the scene into the frame of the camera.
    pub fn turn(&self, direction: DVec3) -> DVec3 {
        self.frame.turn(direction)
    }

    /// Samples per metre at a point in the frame of the camera; `None` when the point is not in front of the camera.
    pub fn scale_at(&self, seen: DVec3) -> Option<f64> {
        match self.eye {
            None => Some(self.scale),
            Some(eye) => (eye + seen.z > 1e-3 * eye).then(|| self.scale * eye / (eye + seen.z)),
        }
    }

    /// Place in the picture of a point in the frame of the camera \[samples\].
    pub fn project(&self, seen: DVec3) -> Option<DVec2> {
        let scale = self.scale_at(seen)?;
        Some(self.middle + scale * DVec2::new(seen.x, -seen.y))
    }

    /// Ray through a place of the picture \[samples\].
    pub fn ray(&self, x: f64, y: f64) -> Ray {
        let aside = DVec3::new(x - self.middle.x, self.middle.y - y, 0.0) / self.scale;
        match self.eye {
            None => Ray { origin: aside, direction: DVec3::Z },
            Some(eye) => Ray { origin: -eye * DVec3::Z, direction: (aside + eye * DVec3::Z).normalize() },
        }
    }

    /// Bounding box in the picture of a ball in the frame of the camera, least and greatest x and y \[samples\]; `None` when
    /// the ball reaches behind the camera.
    pub fn bounds(&self, centre: DVec3, radius: f64) -> Option<[DVec2; 2]> {
        let Some(eye) = self.eye else {
            let place = self.project(centre)?;
            return Some([place - radius * self.scale, place + radius * self.scale]);
        };
        // Slopes of the tangents from the eye, in the planes of x and z and of y and z.
        let depth = centre.z + eye;
        let square = depth * depth - radius * radius;
        if depth <= radius * (1.0 + 1e-6) {
            return None;
        }
        let slopes = |aside: f64| {
            let root = radius * (aside * aside + square).sqrt();
            [(aside * depth - root) / square, (aside * depth + root) / square]
        };
        let ([left, right], [bottom, top]) = (slopes(centre.x), slopes(centre.y));
        let focal = self.scale * eye;
        let place = |x: f64, y: f64| self.middle + focal * DVec2::new(x, -y);
        Some([place(left, top), place(right, bottom)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::World;

    fn look() -> Look {
        Look::of_scene(&World::default())
    }

    #[test]
    fn from_the_front_x_is_to_the_right_and_z_up() {
        let frame = CameraAxes::of(&Look { azimuth_deg: 0.0, elevation_deg: 0.0, ..look() });
        assert!((frame.turn(DVec3::X) - DVec3::X).length() < 1e-15);
        assert!((frame.turn(DVec3::Z) - DVec3::Y).length() < 1e-15);
        assert!((frame.turn(DVec3::Y) - DVec3::Z).length() < 1e-15);
        let from_the_right = CameraAxes::of(&Look { azimuth_deg: 90.0, elevation_deg: 0.0, ..look() });
        assert!((from_the_right.turn(DVec3::Y) - DVec3::X).length() < 1e-15);
    }

    #[test]
    fn a_ray_goes_through_what_is_drawn_at_its_place() {
        for projection in [Projection::Orthographic, Projection::Perspective] {
            let look = Look { projection, ..look() };
            let camera = Camera::new(&look, Extent::NOTHING.with(DVec3::ONE, 2.0), 300.0, 200.0);
            let seen = camera.see(DVec3::new(0.3, -0.4, 1.7));
            let place = camera.project(seen).expect("before the camera");
            let ray = camera.ray(place.x, place.y);
            let away = (seen - ray.origin).reject_from(ray.direction).length();
            assert!(away < 1e-12, "{projection:?}: {away} m beside it");
        }
    }

    #[test]
    fn all_corners_of_what_is_to_be_seen_lie_in_the_picture_and_some_near_its_edge() {
        for projection in [Projection::Orthographic, Projection::Perspective] {
            let look = Look { projection, ..look() };
            let extent = Extent { min: DVec3::new(-1.0, 2.0, 0.0), max: DVec3::new(3.0, 3.0, 5.0) };
            let camera = Camera::new(&look, extent, 300.0, 200.0);
            let places: Vec<DVec2> = extent
                .corners()
                .map(|corner| camera.project(corner - camera.centre).expect("before the camera"))
                .collect();
            assert!(places.iter().all(|p| p.cmpgt(DVec2::ZERO).all() && p.x < 300.0 && p.y < 200.0));
            let nearest = places.iter().map(|place| place.x.min(place.y)).fold(f64::INFINITY, f64::min);
            assert!(nearest < 0.04 * 300.0, "{projection:?}: {nearest} samples from the edge");
        }
    }
}
