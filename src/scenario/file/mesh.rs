//! Reader of mesh files: STL, binary or text, and OBJ.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::read::{FINITE, Need, Node, Table, direction, named, number, text, vector};
use crate::files::read_bytes;
use crate::model::Mesh;
use crate::model::mesh::{BadMesh, bounds_of};

/// Largest mesh file: ten million triangles as a binary STL \[bytes\].
const LARGEST_MESH: u64 = 512 << 20;
/// Most triangles of a mesh.
const MOST_TRIANGLES: usize = 10_000_000;
/// Factor from the lengths in the file to metres.
const SCALE: Need = Need::new(
    |x| (1e-9..=1e9).contains(&x),
    "a factor from 1e-9 to 1e9, such as 0.001 for a file in millimetres",
);
/// Bytes of the header of a binary STL, and of each triangle.
const STL_HEADER: usize = 84;
const STL_TRIANGLE: usize = 50;

/// Mesh with position and orientation.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Mesh with the middle of its bounding box at the origin.
    pub mesh: Arc<Mesh>,
    /// Position of the middle of the bounding box \[m\].
    pub centre: DVec3,
    /// Orientation of the mesh.
    pub orientation: DQuat,
}

/// Reads `file`, `scale`, `position` and `turned` of a shape.
pub fn mesh(table: &mut Table<'_>, folder: &Path) -> Option<Placed> {
    let node = table.node("file");
    let name = table.get("file", text);
    let scale = table.or("scale", 1.0, number(SCALE));
    let position = table.or("position", DVec3::ZERO, vector);
    let orientation = table.maybe("turned", |node| node.table(turned)).unwrap_or(DQuat::IDENTITY);
    let (node, name) = (node?, name?);
    let triangles = read_triangles(&node, folder, &name)?;
    let place = |corners: [DVec3; 3]| corners.map(|corner| scale * corner);
    let triangles: Vec<[DVec3; 3]> = triangles.into_iter().map(place).collect();
    let [low, high] = bounds_of(triangles.iter().flatten().copied());
    let middle = low.midpoint(high);
    let about_middle: Vec<_> =
        triangles.into_iter().map(|corners| corners.map(|corner| corner - middle)).collect();
    let short = Path::new(&name).file_name().map_or(name.clone(), |name| name.to_string_lossy().into_owned());
    match Mesh::new(&short, &about_middle) {
        Ok(mesh) => {
            Some(Placed { mesh: Arc::new(mesh), centre: position + orientation * middle, orientation })
        }
        Err(BadMesh::NotFinite) => {
            node.problem(format!("{name} has a coordinate that is no finite number"), "write the file anew");
            None
        }
        Err(BadMesh::Empty) => {
            node.problem(
                format!("{name} has no triangle with an area"),
                "a mesh is an STL or OBJ file with at least one triangle",
            );
            None
        }
    }
}

/// Reads `axis` and `angle_deg` of a rotation.
pub fn turned(table: &mut Table<'_>) -> Option<DQuat> {
    let (axis, angle) = (table.get("axis", direction), table.get("angle_deg", number(FINITE)));
    Some(DQuat::from_axis_angle(axis?, angle?.to_radians()))
}

fn read_triangles(node: &Node<'_>, folder: &Path, name: &str) -> Option<Vec<[DVec3; 3]>> {
    let help = "meshes are .stl (binary or text) or .obj files; paths start at the scenario's folder";
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    let read = match ending.as_deref() {
        Some("stl") => read_stl,
        Some("obj") => read_obj,
        _ => {
            node.problem(
                format!("`{}` is \"{name}\", which is neither an STL nor an OBJ file", node.name()),
                help,
            );
            return None;
        }
    };
    let path = named(node, folder, name);
    let triangles = read_bytes(&path, LARGEST_MESH)
        .map_err(|error| format!("{} cannot be read: {error}", path.display()))
        .and_then(|bytes| read(bytes).map_err(|mistake| format!("{}: {mistake}", path.display())));
    triangles.map_err(|message| node.problem(message, help)).ok()
}

fn read_stl(mut bytes: Vec<u8>) -> Result<Vec<[DVec3; 3]>, String> {
    let count = bytes.get(80..STL_HEADER).and_then(|count| count.try_into().ok()).map(u32::from_le_bytes);
    let announced = count.map(|count| STL_HEADER as u64 + STL_TRIANGLE as u64 * u64::from(count));
    if announced == Some(bytes.len() as u64) {
        // Some programs begin binary files, too, with the word "solid" that marks text files.
        bytes[..5].fill(0);
    } else if let Some(text) = one_solid(&bytes)? {
        bytes = text.into_bytes();
    } else {
        return Err(match (count, announced) {
            (Some(count), Some(announced)) => format!(
                "it announces {count} triangles, which take {announced} bytes, and has {}: it is cut off, or no STL file",
                bytes.len()
            ),
            _ => format!("its {} bytes are too few for an STL file", bytes.len()),
        });
    }
    let mut reader = Cursor::new(bytes);
    let words = |error: std::io::Error| format!("it is no STL file: {error}");
    let mut triangles = Vec::new();
    for triangle in stl_io::create_stl_reader(&mut reader).map_err(words)? {
        let corners = triangle.map_err(words)?.vertices;
        triangles.push(corners.map(|corner| DVec3::from_array(corner.0.map(f64::from))));
        if triangles.len() > MOST_TRIANGLES {
            return Err(too_many());
        }
    }
    Ok(triangles)
}

/// Joins all solids of an STL text into one, in the form that the parser accepts; `None` if the bytes are no such text.
fn one_solid(bytes: &[u8]) -> Result<Option<String>, String> {
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with("solid") {
        return Ok(None);
    }
    let lines = || text.split(['\n', '\r']).map(str::trim);
    let (begun, ended) = lines().fold((0, 0), |(begun, ended), line| {
        (begun + u32::from(line.starts_with("solid")), ended + u32::from(line.starts_with("endsolid")))
    });
    if begun != ended {
        return Err(format!("{begun} solids begin and {ended} end: it is cut off"));
    }
    let is_facet =
        |line: &&str| !line.starts_with("solid") && !line.starts_with("endsolid") && !line.is_empty();
    let facets: Vec<&str> = lines().filter(is_facet).collect();
    Ok(Some(format!("solid mesh\n{}\nendsolid mesh\n", facets.join("\n"))))
}

/// Returns the lines of an OBJ file without comments; continued lines are joined.
fn plain_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace("\\\r\n", " ").replace("\\\n", " ");
    let plain = |line: &str| line.split('#').next().unwrap_or_default().trim().to_owned();
    text.split(['\n', '\r']).map(plain).collect::<Vec<_>>().join("\n")
}

fn read_obj(bytes: Vec<u8>) -> Result<Vec<[DVec3; 3]>, String> {
    let options = tobj::LoadOptions { triangulate: true, ..tobj::LoadOptions::default() };
    // Colours are not used: the material files of an OBJ file are not opened.
    let no_colours = |_: &Path| Ok(Default::default());
    let (models, _) = tobj::load_obj_buf(&mut Cursor::new(plain_lines(&bytes)), &options, no_colours)
        .map_err(|error| format!("it is no OBJ file: {error}"))?;
    let mut triangles = Vec::new();
    for model in &models {
        let place = |index: u32| {
            let at = 3 * index as usize;
            model.mesh.positions.get(at..at + 3).map(DVec3::from_slice)
        };
        for corners in model.mesh.indices.chunks_exact(3) {
            let [Some(a), Some(b), Some(c)] = [0, 1, 2].map(|i| place(corners[i])) else {
                return Err("a face names a vertex that is not there".to_owned());
            };
            triangles.push([a, b, c]);
        }
        if triangles.len() > MOST_TRIANGLES {
            return Err(too_many());
        }
    }
    Ok(triangles)
}

fn too_many() -> String {
    format!("it has more than {MOST_TRIANGLES} triangles: make it coarser, grains do not feel the difference")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "solid wedge
      facet normal 0 0 1
        outer loop
          vertex 0 0 0
          vertex 1 0 0
          vertex 0 1 0
        endloop
      endfacet
    endsolid wedge";

    fn binary(header: &[u8], triangles: &[[[f32; 3]; 3]], announced: u32) -> Vec<u8> {
        let mut bytes = vec![0; 80];
        bytes[..header.len()].copy_from_slice(header);
        bytes.extend(announced.to_le_bytes());
        for corners in triangles {
            bytes.extend([0; 12]);
            bytes.extend(corners.iter().flatten().flat_map(|x| x.to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    const TRIANGLE: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

    #[test]
    fn stl_is_read_from_text_and_from_bytes() {
        let expected = vec![[DVec3::ZERO, DVec3::X, DVec3::Y]];
        assert_eq!(read_stl(TEXT.into()), Ok(expected.clone()));
        assert_eq!(read_stl(binary(b"", &[TRIANGLE], 1)), Ok(expected.clone()));
        assert_eq!(read_stl(binary(b"solid by some program", &[TRIANGLE], 1)), Ok(expected.clone()));
        for text in [
            TEXT.replace('\n', "\r\n"),
            TEXT.replace('\n', "\r"),
            TEXT.to_uppercase(),
            TEXT.replace(" wedge", ""),
            format!("\u{feff}  {TEXT}"),
        ] {
            assert_eq!(read_stl(text.clone().into()), Ok(expected.clone()), "{text:?}");
        }
        assert_eq!(read_stl(format!("{TEXT}\n{TEXT}").into()), Ok([expected.clone(), expected].concat()));
    }

    #[test]
    fn stl_that_is_none_is_refused_with_what_was_found() {
        let failure = |bytes: Vec<u8>| read_stl(bytes).expect_err("refused");
        let cut = failure(binary(b"", &[TRIANGLE], 4_000_000_000));
        assert!(cut.contains("announces 4000000000 triangles") && cut.contains("has 134"), "{cut}");
        assert!(failure(b"hello".to_vec()).contains("5 bytes are too few"));
        assert!(failure(TEXT.replace("endsolid", "").into()).contains("1 solids begin and 0 end"));
        assert!(failure(TEXT.replace("vertex 1 0 0", "vertex 1 x 0").into()).contains("no STL file"));
    }

    #[test]
    fn obj_is_read_with_faces_of_any_number_of_corners() {
        let square = "mtllib colours.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nusemtl red\nf 1 2 3 4\n";
        assert_eq!(read_obj(square.into()).map(|triangles| triangles.len()), Ok(2));
        let remarks = square.replace("f 1 2 3 4", "f 1 2 \\\n 3 4 # the lid");
        assert_eq!(read_obj(remarks.into()).map(|triangles| triangles.len()), Ok(2));
        assert!(read_obj("v 0 0 0\nf 1 2 3\n".into()).is_err());
        assert!(read_obj("v 0 zero 0\n".into()).is_err());
    }
}
