//! Convex solids from boxes, truncated cones, capsules, balls, and from the faces of a closed convex mesh.

use std::collections::HashMap;
use std::fmt;

use glam::{DQuat, DVec3};

use super::convex::{Convex, RIM_SIDES, Revolved, SolidEdge, SolidFace};

/// Largest height of a corner over a face of a convex solid, over the size of the solid \[-\]: coordinates of STL files are in single
/// precision.
const FLAT: f64 = 1e-5;

/// Reason for which faces do not bound a convex solid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolidError {
    /// An edge does not lie between two faces.
    Open,
    /// A corner lies beyond a face.
    Concave,
    /// The solid has no volume.
    Flat,
}

impl fmt::Display for SolidError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SolidError::Open => "an edge does not lie between two faces",
            SolidError::Concave => "a corner lies beyond the plane of a face",
            SolidError::Flat => "it has no volume",
        })
    }
}

impl Convex {
    /// A box of these half edges \[m\].
    pub fn cuboid(half: DVec3) -> Convex {
        let sign = |octant: u32, axis: u32| if octant >> axis & 1 == 1 { 1.0 } else { -1.0 };
        let corners = (0..8).map(|i| half * DVec3::new(sign(i, 0), sign(i, 1), sign(i, 2))).collect();
        // Corners are numbered by their octant; faces -x, +x, -y, +y, -z, +z, seen from outside.
        let loops = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        Convex::of_loops(corners, &loops.map(|face| face.to_vec()))
    }

    /// A truncated cone about z with flat caps; a radius may be 0 \[m\].
    pub fn cone(bottom_radius: f64, top_radius: f64, length: f64) -> Convex {
        let half_length = 0.5 * length;
        let ring = |radius: f64, height: f64| {
            let count = if radius > 0.0 { RIM_SIDES } else { 1 };
            (0..count).map(move |i| {
                let (sin, cos) = (std::f64::consts::TAU * f64::from(i) / f64::from(RIM_SIDES)).sin_cos();
                DVec3::new(radius * cos, radius * sin, height)
            })
        };
        let corners: Vec<DVec3> =
            ring(bottom_radius, -half_length).chain(ring(top_radius, half_length)).collect();
        let first_top = if bottom_radius > 0.0 { RIM_SIDES } else { 1 };
        let bottom = |i: u32| if bottom_radius > 0.0 { i % RIM_SIDES } else { 0 };
        let top = |i: u32| first_top + if top_radius > 0.0 { i % RIM_SIDES } else { 0 };
        let side = |i: u32| {
            let mut face = vec![bottom(i), bottom(i + 1), top(i + 1), top(i)];
            face.dedup();
            if face.first() == face.last() {
                face.pop();
            }
            face
        };
        let mut loops: Vec<Vec<u32>> = (0..RIM_SIDES).map(side).collect();
        if bottom_radius > 0.0 {
            loops.push((0..RIM_SIDES).rev().map(bottom).collect());
        }
        if top_radius > 0.0 {
            loops.push((0..RIM_SIDES).map(top).collect());
        }
        let round = Some(Revolved { bottom_radius, top_radius, half_length });
        let solid = Convex { round, ..Convex::of_loops(corners, &loops) };
        Convex { middle: DVec3::ZERO, radius: bottom_radius.max(top_radius).hypot(half_length), ..solid }
    }

    /// A cylinder about z with a half ball at each end: its radius, and its length without the half balls \[m\].
    pub fn capsule(radius: f64, length: f64) -> Convex {
        let corners = [-0.5, 0.5].map(|end| end * length * DVec3::Z).to_vec();
        let edges = vec![SolidEdge { ends: [0, 1], faces: None }];
        Convex { corners, edges, rounding: radius, radius: radius + 0.5 * length, ..Convex::default() }
    }

    /// A ball \[m\].
    pub fn ball(radius: f64) -> Convex {
        Convex { corners: vec![DVec3::ZERO], rounding: radius, radius, ..Convex::default() }
    }

    /// A triangle as a solid without a thickness, whose first face is the side from which its corners run counter-clockwise \[m\].
    pub fn triangle(corners: [DVec3; 3]) -> Convex {
        Convex::of_loops(corners.to_vec(), &[vec![0, 1, 2], vec![0, 2, 1]])
    }

    /// A point, or a line between two points \[m\].
    pub fn of_corners(corners: Vec<DVec3>) -> Convex {
        let middle = middle_of(&corners);
        let radius = corners.iter().map(|corner| corner.distance(middle)).fold(0.0, f64::max);
        Convex { corners, middle, radius, ..Convex::default() }
    }

    /// The solid inside faces, each a list of corners that runs counter-clockwise seen from outside. Faces in one plane that share an edge
    /// become one.
    ///
    /// # Errors
    /// If the faces are not closed, or the solid is not convex or has no volume.
    pub fn inside(corners: &[DVec3], faces: &[Vec<u32>]) -> Result<Convex, SolidError> {
        let middle = middle_of(corners);
        let size = corners.iter().map(|corner| corner.distance(middle)).fold(0.0, f64::max);
        let normals: Vec<DVec3> = faces.iter().map(|face| area_normal(corners, face)).collect();
        let partners = partners_of(faces).ok_or(SolidError::Open)?;
        for (face, normal) in faces.iter().zip(&normals) {
            let Some(normal) = normal.try_normalize() else { continue };
            let offset = normal.dot(corners[face[0] as usize]);
            if corners.iter().any(|corner| normal.dot(*corner) - offset > FLAT * size) {
                return Err(SolidError::Concave);
            }
        }
        let merged = merged_faces(corners, faces, &normals, &partners);
        if merged.len() < 4 {
            return Err(SolidError::Flat);
        }
        Ok(Convex::of_loops(corners.to_vec(), &merged).without_idle_corners())
    }

    /// The solid of these faces, which are known to be closed and convex.
    fn of_loops(corners: Vec<DVec3>, faces: &[Vec<u32>]) -> Convex {
        let mut solid = Convex::of_corners(corners);
        for face in faces {
            let normal = area_normal(&solid.corners, face).normalize();
            let offset = face
                .iter()
                .map(|&corner| normal.dot(solid.corners[corner as usize]))
                .fold(f64::NEG_INFINITY, f64::max);
            solid.faces.push(SolidFace {
                normal,
                offset,
                first: solid.loops.len() as u32,
                count: face.len() as u32,
            });
            solid.loops.extend(face);
        }
        let mut first_of: HashMap<[u32; 2], u32> = HashMap::new();
        for (index, face) in faces.iter().enumerate() {
            for ends in sides_of(face) {
                match first_of.get(&[ends[1], ends[0]]) {
                    Some(&other) => solid
                        .edges
                        .push(SolidEdge { ends: [ends[1], ends[0]], faces: Some([other, index as u32]) }),
                    None => {
                        first_of.insert(ends, index as u32);
                    }
                }
            }
        }
        solid
    }

    /// Drops corners that no face has.
    fn without_idle_corners(mut self) -> Convex {
        let mut new_of = vec![u32::MAX; self.corners.len()];
        let mut kept = Vec::new();
        for corner in &mut self.loops {
            let new = &mut new_of[*corner as usize];
            if *new == u32::MAX {
                *new = kept.len() as u32;
                kept.push(self.corners[*corner as usize]);
            }
            *corner = *new;
        }
        self.edges.iter_mut().for_each(|edge| edge.ends = edge.ends.map(|end| new_of[end as usize]));
        self.corners = kept;
        self
    }

    /// The same polyhedron about a point and along other axes, with the point as its middle.
    #[must_use]
    pub fn placed_about(&self, centre: DVec3, axes: DQuat) -> Convex {
        let back = axes.conjugate();
        let corners: Vec<DVec3> = self.corners.iter().map(|&corner| back * (corner - centre)).collect();
        let face = |face: &SolidFace| SolidFace {
            normal: back * face.normal,
            offset: face.offset - face.normal.dot(centre),
            ..*face
        };
        Convex {
            radius: corners.iter().map(|corner| corner.length()).fold(0.0, f64::max),
            faces: self.faces.iter().map(face).collect(),
            middle: DVec3::ZERO,
            corners,
            ..self.clone()
        }
    }

    /// Distance of the origin from the nearest face \[m\]: the radius of the largest ball about it inside.
    pub fn inner_radius(&self) -> f64 {
        self.faces.iter().map(|face| face.offset).fold(f64::INFINITY, f64::min)
    }
}

/// Mean of points \[m\], which is inside of their hull.
fn middle_of(points: &[DVec3]) -> DVec3 {
    points.iter().sum::<DVec3>() / points.len() as f64
}

/// Normal of a polygon, twice its area long (Newell's sum).
fn area_normal(corners: &[DVec3], face: &[u32]) -> DVec3 {
    let origin = corners[face[0] as usize];
    sides_of(face)
        .map(|ends| ends.map(|end| corners[end as usize] - origin))
        .fold(DVec3::ZERO, |sum, [from, to]| sum + from.cross(to))
}

/// Sides of a polygon, as pairs of corners.
fn sides_of(face: &[u32]) -> impl Iterator<Item = [u32; 2]> + '_ {
    (0..face.len()).map(|i| [face[i], face[(i + 1) % face.len()]])
}

/// For each side, from corner to corner, the face that has it; `None` unless every side has exactly one partner that runs the other way.
fn partners_of(faces: &[Vec<u32>]) -> Option<HashMap<[u32; 2], usize>> {
    let mut of_side = HashMap::new();
    for (index, face) in faces.iter().enumerate() {
        for ends in sides_of(face) {
            if of_side.insert(ends, index).is_some() {
                return None;
            }
        }
    }
    of_side.keys().all(|&[from, to]| of_side.contains_key(&[to, from])).then_some(of_side)
}

/// Outlines of the faces, with neighbours in one plane taken together.
fn merged_faces(
    corners: &[DVec3],
    faces: &[Vec<u32>],
    normals: &[DVec3],
    of_side: &HashMap<[u32; 2], usize>,
) -> Vec<Vec<u32>> {
    let mut group = vec![usize::MAX; faces.len()];
    let mut outlines = Vec::new();
    // The largest faces first: their normals are the most exact.
    let mut order: Vec<usize> = (0..faces.len()).collect();
    order.sort_by(|&a, &b| normals[b].length_squared().total_cmp(&normals[a].length_squared()));
    for start in order {
        let Some(normal) = normals[start].try_normalize().filter(|_| group[start] == usize::MAX) else {
            continue;
        };
        let number = outlines.len();
        group[start] = number;
        let mut open = vec![start];
        while let Some(face) = open.pop() {
            for [from, to] in sides_of(&faces[face]) {
                let next = of_side[&[to, from]];
                let is_flat =
                    normals[next].try_normalize().is_none_or(|other| other.cross(normal).length() < 1e-4);
                if group[next] == usize::MAX && is_flat && normals[next].dot(normal) >= 0.0 {
                    group[next] = number;
                    open.push(next);
                }
            }
        }
        let mut next_of: HashMap<u32, u32> = HashMap::new();
        for (face, _) in faces.iter().zip(&group).filter(|(_, group)| **group == number) {
            for [from, to] in sides_of(face) {
                if group[of_side[&[to, from]]] != number {
                    next_of.insert(from, to);
                }
            }
        }
        outlines.push(outline(corners, &next_of));
    }
    outlines.retain(|outline| outline.len() > 2);
    outlines
}

/// The closed line through all of `next_of`, without corners at which it goes straight on.
fn outline(corners: &[DVec3], next_of: &HashMap<u32, u32>) -> Vec<u32> {
    let Some(&start) = next_of.keys().min() else { return Vec::new() };
    let mut line = vec![start];
    while let Some(&next) = line.last().and_then(|last| next_of.get(last)) {
        if next == start || line.len() > next_of.len() {
            break;
        }
        line.push(next);
    }
    let at = |i: usize| corners[line[i % line.len()] as usize];
    let count = line.len();
    let turns = |i: usize| {
        let (into, out) = (at(i) - at(i + count - 1), at(i + 1) - at(i));
        into.cross(out).length() > 1e-9 * into.length() * out.length()
    };
    (0..count).filter(|&i| turns(i)).map(|i| line[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_has_six_faces_and_twelve_edges() {
        let solid = Convex::cuboid(DVec3::new(1.0, 2.0, 3.0));
        assert_eq!((solid.corners.len(), solid.faces.len(), solid.edges.len()), (8, 6, 12));
        for (face, (axis, sign)) in
            solid.faces.iter().zip((0..3).flat_map(|axis| [(axis, -1.0), (axis, 1.0)]))
        {
            assert!((face.normal - sign * DVec3::AXES[axis]).length() < 1e-15);
            assert!((face.offset - (1.0 + axis as f64)).abs() < 1e-15);
        }
    }

    #[test]
    fn a_cone_is_closed_with_and_without_a_tip() {
        for (solid, faces) in [
            (Convex::cone(1.0, 0.5, 2.0), 18),
            (Convex::cone(1.0, 0.0, 2.0), 17),
            (Convex::cone(0.0, 1.0, 2.0), 17),
        ] {
            // Euler's formula.
            assert_eq!(solid.corners.len() + solid.faces.len(), solid.edges.len() + 2);
            assert_eq!(solid.faces.len(), faces);
            let inside = solid.faces.iter().all(|face| face.offset > 0.0);
            assert!(inside, "the origin is inside all faces");
        }
    }

    #[test]
    fn triangles_in_one_plane_become_one_face() {
        let cube = Convex::cuboid(DVec3::ONE);
        let faces: Vec<Vec<u32>> =
            cube.loops.chunks(4).flat_map(|q| [vec![q[0], q[1], q[2]], vec![q[0], q[2], q[3]]]).collect();
        let solid = Convex::inside(&cube.corners, &faces).expect("a cube");
        assert_eq!((solid.corners.len(), solid.faces.len(), solid.edges.len()), (8, 6, 12));
        assert_eq!(Convex::inside(&cube.corners, &faces[1..]), Err(SolidError::Open));
        let mut dented = cube.corners;
        dented[7] = DVec3::splat(0.1);
        assert_eq!(Convex::inside(&dented, &faces), Err(SolidError::Concave));
    }
}
