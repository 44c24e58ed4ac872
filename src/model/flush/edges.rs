//! Places on the edges of surfaces.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};

use crate::model::mesh::NO_SEAM;
use crate::model::{Form, Mesh, Side, SurfaceBox, World};

/// Distance of the places along an edge, in radii of the smallest grain \[-\], and their largest numbers along a straight edge, along one
/// of a triangle and around a rim.
const SPACING: f64 = 4.0;
const MOST: f64 = 16.0;
const MOST_ON_TRIANGLES: f64 = 3.0;
const AROUND: usize = 24;

/// Place on an edge, seen from one of the faces that end there.
#[derive(Debug, Clone)]
pub struct EdgePlace {
    /// The place \[m\].
    pub point: DVec3,
    /// Normal of the face.
    pub normal: DVec3,
    /// Direction in the plane of the face, away from the face, at right angles to the edge.
    pub outwards: DVec3,
    /// Surfaces that the edge belongs to: for a mesh all patches that meet there.
    pub surfaces: Vec<u32>,
}

impl EdgePlace {
    fn new(point: DVec3, normal: DVec3, outwards: DVec3) -> EdgePlace {
        EdgePlace { point, normal, outwards, surfaces: Vec::new() }
    }
}

impl World {
    /// Number of pieces whose edges [`World::places_on_edges`] lists: triangles of a mesh, or one.
    pub(super) fn pieces(&self, around: &SurfaceBox) -> usize {
        match self.surfaces[around.first()].form {
            Form::Patch { mesh, .. } => self.meshes[mesh].triangles.len(),
            _ => 1,
        }
    }

    /// Places on the edges of a surface, or of one triangle of a mesh, for grains of this radius \[m\], at the present pose of the
    /// boundary.
    pub(super) fn places_on_edges(&self, around: &SurfaceBox, piece: usize, radius: f64) -> Vec<EdgePlace> {
        let first = around.first() as u32;
        let surface = &self.surfaces[around.first()];
        let mut places = match surface.form {
            Form::Plane | Form::Sphere { .. } | Form::Capsule { .. } => Vec::new(),
            Form::Box { half } => of_box(half, radius),
            Form::Disc { radius } => around_rim(DVec2::new(radius, 0.0), DVec2::X, DVec2::Y),
            Form::Wall { bottom_radius, top_radius, length, side } => {
                let inwards = if side == Side::Inside { 1.0 } else { -1.0 };
                of_mantle([bottom_radius, top_radius], length, inwards)
            }
            Form::Solid { bottom_radius, top_radius, length } => {
                of_mantle([bottom_radius, top_radius], length, -1.0)
                    .into_iter()
                    .chain(of_cap(bottom_radius, -0.5 * length))
                    .chain(of_cap(top_radius, 0.5 * length))
                    .collect()
            }
            Form::Patch { mesh, .. } => of_triangle(&self.meshes[mesh], piece, first, radius),
        };
        let frame = self.bodies.orientation[around.body()] * surface.orientation;
        let origin = self.origin_of(surface);
        for place in &mut places {
            place.point = origin + frame * place.point;
            place.normal = frame * place.normal;
            place.outwards = frame * place.outwards;
            if place.surfaces.is_empty() {
                place.surfaces.push(first);
            }
        }
        places
    }
}

/// Shares of an edge of this length \[m\] at which places lie.
fn shares(length: f64, radius: f64, most: f64) -> impl Iterator<Item = f64> {
    let count = (length / (SPACING * radius)).ceil().clamp(1.0, most);
    (0..count as usize).map(move |i| (i as f64 + 0.5) / count)
}

fn of_box(half: DVec3, radius: f64) -> Vec<EdgePlace> {
    let mut places = Vec::new();
    for (face, across) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
        let along = 3 - face - across;
        for (up, out) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let [normal, outwards] = [(face, up), (across, out)].map(|(axis, sign)| sign * DVec3::AXES[axis]);
            for share in shares(2.0 * half[along], radius, MOST) {
                let from_middle = (2.0 * share - 1.0) * half[along] * DVec3::AXES[along];
                places.push(EdgePlace::new(half * (normal + outwards) + from_middle, normal, outwards));
            }
        }
    }
    places
}

/// Places around the rim of a body of revolution about z, from vectors in the half plane that ends at the axis.
fn around_rim(point: DVec2, outwards: DVec2, normal: DVec2) -> Vec<EdgePlace> {
    let place = |i: usize| {
        let (sine, cosine) = (TAU * i as f64 / AROUND as f64).sin_cos();
        let turn = |flat: DVec2| DVec3::new(flat.x * cosine, flat.x * sine, flat.y);
        EdgePlace::new(turn(point), turn(normal), turn(outwards))
    };
    if point.x > 0.0 { (0..AROUND).map(place).collect() } else { Vec::new() }
}

/// Both rims of the mantle of a truncated cone, of which the side towards the axis (1) or away from it (-1) counts.
fn of_mantle([bottom_radius, top_radius]: [f64; 2], length: f64, inwards: f64) -> Vec<EdgePlace> {
    let [bottom, top] = [DVec2::new(bottom_radius, -0.5 * length), DVec2::new(top_radius, 0.5 * length)];
    let along = (top - bottom).normalize();
    let normal = inwards * DVec2::new(-along.y, along.x);
    around_rim(bottom, -along, normal).into_iter().chain(around_rim(top, along, normal)).collect()
}

/// Rim of a flat end of a solid at this height \[m\].
fn of_cap(radius: f64, height: f64) -> Vec<EdgePlace> {
    around_rim(DVec2::new(radius, height), DVec2::X, height.signum() * DVec2::Y)
}

/// Edges of a triangle at which patches meet or the mesh ends, from both sides; `first` is the surface of the first patch.
fn of_triangle(mesh: &Mesh, index: usize, first: u32, radius: f64) -> Vec<EdgePlace> {
    let (triangle, corners) = (&mesh.triangles[index], mesh.corners(index));
    let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize();
    let mut places = Vec::new();
    for edge in (0..3).filter(|&edge| triangle.seams[edge] != NO_SEAM) {
        let (from, to) = (corners[edge], corners[(edge + 1) % 3]);
        let outwards = (to - from).cross(normal).normalize();
        let meeting = &mesh.seams[triangle.seams[edge] as usize].patches;
        let surfaces: Vec<u32> = meeting.iter().map(|patch| first + patch).collect();
        for share in shares(from.distance(to), radius, MOST_ON_TRIANGLES) {
            let point = from.lerp(to, share);
            let seen_from = |normal| EdgePlace { point, normal, outwards, surfaces: surfaces.clone() };
            places.extend([normal, -normal].map(seen_from));
        }
    }
    places
}
