//! Meshes as faces: what a source or a counter at a mesh needs of it.

use std::path::Path;

use glam::DVec3;

use super::scene::ScriptMesh;
use super::text::{box_region, cylinder_region};
use crate::scenario::mesh_triangles;

/// Largest distance of the corners of a flat face from its plane, over its size \[-\].
const FLAT: f64 = 1e-6;

/// Triangles of a mesh in their place.
pub struct FlatFace {
    /// Corners of the box around it \[m\].
    pub corners: [DVec3; 2],
    /// Unit normal, if it is flat.
    pub normal: Option<DVec3>,
    /// Area \[m²\].
    pub area: f64,
    /// Centre of its area \[m\].
    pub centre: DVec3,
    triangles: Vec<[DVec3; 3]>,
}

impl FlatFace {
    /// Reads the file of a mesh, whose path starts at `folder`.
    ///
    /// # Errors
    /// Why the file cannot be read.
    pub fn read(folder: &Path, mesh: &ScriptMesh) -> Result<FlatFace, String> {
        let place = |corner: DVec3| mesh.turn * (mesh.scale * corner) + mesh.shift;
        let triangles: Vec<[DVec3; 3]> =
            mesh_triangles(&folder.join(&mesh.file))?.into_iter().map(|corners| corners.map(place)).collect();
        let all = || triangles.iter().flatten().copied();
        let low = all().fold(DVec3::INFINITY, DVec3::min);
        let high = all().fold(DVec3::NEG_INFINITY, DVec3::max);
        let cross = |[a, b, c]: &[DVec3; 3]| 0.5 * (*b - *a).cross(*c - *a);
        let area: f64 = triangles.iter().map(|triangle| cross(triangle).length()).sum();
        let weighted = |triangle: &[DVec3; 3]| {
            cross(triangle).length() * (triangle[0] + triangle[1] + triangle[2]) / 3.0
        };
        let centre = triangles.iter().map(weighted).sum::<DVec3>() / area.max(f64::MIN_POSITIVE);
        let normal = triangles
            .iter()
            .map(cross)
            .max_by(|a, b| a.length().total_cmp(&b.length()))
            .and_then(DVec3::try_normalize);
        let size = (high - low).length();
        let is_flat =
            |normal: &DVec3| all().all(|corner| (corner - centre).dot(*normal).abs() <= FLAT * size);
        let normal = normal.filter(is_flat);
        Ok(FlatFace { corners: [low, high], normal, area, centre, triangles })
    }

    /// Whether a velocity lies in all triangles.
    pub fn is_along(&self, velocity: DVec3) -> bool {
        let direction = velocity.normalize_or_zero();
        let normal = |[a, b, c]: &[DVec3; 3]| (*b - *a).cross(*c - *a).normalize_or_zero();
        self.triangles.iter().all(|triangle| normal(triangle).dot(direction).abs() < FLAT)
    }

    /// Axis that the normal lies along, if it is one of x, y and z.
    pub fn axis(&self) -> Option<usize> {
        let normal = self.normal?;
        (0..3).find(|&axis| normal[axis].abs() > 1.0 - FLAT)
    }

    /// Whether the face fills the rectangle around it.
    pub fn is_rectangle(&self) -> bool {
        let Some(axis) = self.axis() else { return false };
        let size = self.corners[1] - self.corners[0];
        let rectangle = size[(axis + 1) % 3] * size[(axis + 2) % 3];
        self.area > 0.999 * rectangle
    }

    /// Radius of a disc of the same area \[m\].
    pub fn disc_radius(&self) -> f64 {
        (self.area / std::f64::consts::PI).sqrt()
    }

    /// Largest distance of a corner from the centre \[m\].
    pub fn reach(&self) -> f64 {
        self.triangles.iter().flatten().map(|corner| corner.distance(self.centre)).fold(0.0, f64::max)
    }
}

/// Room before a face.
pub enum Slab {
    /// Between two corners \[m\].
    Box([DVec3; 2]),
    /// Cylinder from a base \[m\] along an axis.
    Disc { base: DVec3, axis: DVec3, length: f64, radius: f64 },
}

/// Room of a length along a unit vector across a face.
pub fn slab(face: &FlatFace, along: DVec3, length: f64) -> Slab {
    match face.is_rectangle() {
        true => {
            let [low, high] = face.corners;
            let shift = along * length;
            Slab::Box([low.min(low + shift), high.max(high + shift)])
        }
        false => Slab::Disc { base: face.centre, axis: along, length, radius: face.disc_radius() },
    }
}

impl Slab {
    /// Region of a scenario.
    pub fn text(&self) -> String {
        match self {
            Slab::Box([low, high]) => box_region(*low, *high),
            Slab::Disc { base, axis, length, radius } => cylinder_region(*base, *axis, *length, *radius),
        }
    }
}
