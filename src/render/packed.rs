//! Frames as bytes, for the page that shows them in a browser.
//!
//! ```text
//! length of the header [bytes], u32 │ header, JSON, padded with spaces to 4 bytes │ arrays of f32, one after the other
//! ```
//!
//! The arrays are, in this order: centres of the grains (3 numbers each), their radii (of a polyhedron that of the sphere around it), every
//! field that the header names, ends of the force lines (6), magnitudes of the forces, corners of the boundary triangles (9), ends of the
//! boundary edges (6), grains that are polyhedra (6: index of the grain, index of the shape, orientation as x, y, z, w) and corners of the
//! triangles of every shape (9, about the centre and over the radius of the sphere around it). All other numbers are in SI units, and all
//! are little-endian. A frame without an outline has the boundaries of the frame before.

use glam::{DQuat, DVec3};
use serde::Serialize;

use super::Frame;
use crate::model::World;
use crate::output::outline::Outline;
use crate::output::vtp::Array;

/// Arrays of a frame that are not packed: the page does not use them, or gets them elsewhere (radii).
const LEFT_OUT: [&str; 3] = ["radius", "orientation", "id"];

/// Header of a packed frame: the lengths of its arrays.
#[derive(Serialize)]
struct PackedHeader<'a> {
    /// Simulated time \[s\].
    time: f64,
    /// Number of grains.
    grains: usize,
    /// Fields of the grains.
    fields: Vec<FieldHeader<'a>>,
    /// Number of forces.
    forces: usize,
    /// Number of triangles of the boundaries; `null` where the boundaries are those of the frame before.
    triangles: Option<usize>,
    /// Number of edges of the boundaries.
    edges: usize,
    /// Number of grains that are polyhedra.
    polyhedra: usize,
    /// Number of triangles of each shape of polyhedra.
    shapes: Vec<usize>,
}

#[derive(Serialize)]
struct FieldHeader<'a> {
    name: &'a str,
    components: usize,
}

/// Packs a frame of grains of `world` into bytes, with its boundaries where `outline` is given.
pub fn pack(frame: &Frame, world: &World, outline: Option<&Outline>) -> Vec<u8> {
    let fields: Vec<&Array> =
        frame.fields.iter().filter(|array| !LEFT_OUT.contains(&array.name.as_ref())).collect();
    let triangles: Option<Vec<[DVec3; 3]>> =
        outline.map(|outline| outline.triangles().map(|(corners, _)| corners).collect());
    let edges = outline.map_or(&[][..], |outline| &outline.edges);
    let polyhedra: Vec<(usize, usize, DQuat)> = (0..)
        .zip(&frame.balls)
        .filter_map(|(i, ball)| ball.polyhedron.map(|(clump, turn)| (i, clump, turn)))
        .collect();
    let mut kinds: Vec<usize> = polyhedra.iter().map(|(_, clump, _)| *clump).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let shapes: Vec<Vec<[DVec3; 3]>> = kinds.iter().map(|&clump| triangles_of(world, clump)).collect();
    let header = PackedHeader {
        time: frame.time,
        grains: frame.balls.len(),
        fields: fields.iter().map(|array| header_of(array)).collect(),
        forces: frame.forces.len(),
        triangles: triangles.as_ref().map(Vec::len),
        edges: edges.len(),
        polyhedra: polyhedra.len(),
        shapes: shapes.iter().map(Vec::len).collect(),
    };
    let mut bytes = start(&header);
    frame.balls.iter().for_each(|ball| push(&mut bytes, ball.centre));
    bytes.extend(frame.balls.iter().flat_map(|ball| number(ball.radius)));
    for array in fields {
        let items = (0..array.len()).flat_map(|i| (0..array.components).map(move |axis| (i, axis)));
        bytes.extend(items.flat_map(|(i, axis)| number(array.component(i, axis))));
    }
    frame.forces.iter().flat_map(|force| force.ends).for_each(|end| push(&mut bytes, end));
    bytes.extend(frame.forces.iter().flat_map(|force| number(force.size)));
    triangles.into_iter().flatten().flatten().for_each(|corner| push(&mut bytes, corner));
    edges.iter().flatten().for_each(|&end| push(&mut bytes, end));
    for (grain, clump, turn) in polyhedra {
        let shape = kinds.partition_point(|&kind| kind < clump);
        bytes.extend([grain, shape].into_iter().flat_map(|index| number(index as f64)));
        bytes.extend(turn.to_array().into_iter().flat_map(number));
    }
    shapes.iter().flatten().flatten().for_each(|&corner| push(&mut bytes, corner));
    bytes
}

/// Triangles of a polyhedron about its centre, over the radius of the sphere around it \[-\]; none of a clump of spheres.
fn triangles_of(world: &World, clump: usize) -> Vec<[DVec3; 3]> {
    let Some(hull) = world.clumps.get(clump).and_then(|clump| clump.hull.as_ref()) else { return Vec::new() };
    hull.triangles().map(|corners| corners.map(|corner| corner / hull.radius)).collect()
}

fn header_of(array: &Array) -> FieldHeader<'_> {
    FieldHeader { name: &array.name, components: array.components }
}

/// Bytes before the arrays: length of the header, and the header itself.
fn start(header: &PackedHeader<'_>) -> Vec<u8> {
    // Numbers and names can always be written as JSON.
    let mut text = serde_json::to_vec(header).unwrap_or_default();
    text.resize(text.len().next_multiple_of(4), b' ');
    let length = (text.len() as u32).to_le_bytes();
    length.into_iter().chain(text).collect()
}

fn number(value: f64) -> [u8; 4] {
    (value as f32).to_le_bytes()
}

fn push(bytes: &mut Vec<u8>, place: DVec3) {
    bytes.extend(place.to_array().into_iter().flat_map(number));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Clump;
    use crate::render::{DrawnBall, Force};

    fn frame() -> Frame {
        let ball = |x| DrawnBall { centre: DVec3::new(x, 2.0, 3.0), radius: 0.5, polyhedron: None };
        Frame {
            time: 0.25,
            balls: vec![ball(1.0), ball(-1.0)],
            fields: vec![
                Array::scalars("radius", [0.5, 0.5].into_iter()),
                Array::vectors("velocity", [[7.0, 8.0, 9.0], [1.0, 2.0, 3.0]].into_iter()),
            ],
            forces: vec![Force { ends: [DVec3::X, DVec3::Y], size: 4.0 }],
            poses: Vec::new(),
        }
    }

    /// Header and numbers of packed bytes.
    fn unpack(bytes: &[u8]) -> (serde_json::Value, Vec<f32>) {
        let (length, rest) = bytes.split_first_chunk::<4>().expect("a length");
        let (header, arrays) = rest.split_at(u32::from_le_bytes(*length) as usize);
        let (chunks, left) = arrays.as_chunks::<4>();
        assert!(left.is_empty(), "whole numbers");
        let numbers = chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect();
        (serde_json::from_slice(header).expect("JSON"), numbers)
    }

    #[test]
    fn a_frame_has_its_arrays_in_the_order_of_the_head_of_this_file() {
        let square = [DVec3::ZERO, DVec3::X, DVec3::ONE, DVec3::Y].to_vec();
        let walls = Outline { facets: vec![square], surfaces: vec![0], edges: vec![[DVec3::ZERO, DVec3::Z]] };
        let (header, numbers) = unpack(&pack(&frame(), &World::default(), Some(&walls)));
        assert_eq!((&header["grains"], &header["triangles"]), (&2.into(), &2.into()));
        assert_eq!(header["fields"][0]["name"], "velocity", "radii are no field of their own");
        assert_eq!(numbers.len(), 2 * 3 + 2 + 2 * 3 + 6 + 1 + 2 * 9 + 6);
        assert_eq!(numbers[..8], [1.0, 2.0, 3.0, -1.0, 2.0, 3.0, 0.5, 0.5]);
        assert_eq!(numbers[8..14], [7.0, 8.0, 9.0, 1.0, 2.0, 3.0]);
        assert_eq!(numbers[14..21], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 4.0]);
        // The second triangle of the square starts at its first corner, too.
        assert_eq!(numbers[30..39], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0]);
        assert_eq!(numbers[39..], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_frame_without_boundaries_says_so() {
        let (header, numbers) = unpack(&pack(&frame(), &World::default(), None));
        assert!(header["triangles"].is_null());
        assert_eq!(numbers.len(), 21);
    }

    #[test]
    fn polyhedra_come_with_their_shapes_in_units_of_the_sphere_around_them() {
        let mut world = World { clumps: vec![Clump::cube(1.0), Clump::cube(2.0)], ..World::default() };
        world.clumps[0].hull = None;
        let mut frame = frame();
        frame.balls[1].polyhedron = Some((1, DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0)));
        let (header, numbers) = unpack(&pack(&frame, &world, None));
        assert_eq!((&header["polyhedra"], &header["shapes"]), (&1.into(), &serde_json::json!([12])));
        assert_eq!(numbers[21..27], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0], "grain 1 has shape 0");
        let side = 1.0 / 3f32.sqrt();
        assert_eq!(numbers.len(), 27 + 12 * 9);
        assert!(numbers[27..].iter().all(|number| (number.abs() - side).abs() < 1e-6));
    }
}
