//! Reader of mesh files: STL, binary or text, and OBJ.

mod faces;
mod obj;
mod stl;

use std::path::Path;
use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::read::{
    FINITE, Need, Node, Table, boolean, direction, named, number, text, vector, without_folder,
};
use crate::files::read_bytes;
use crate::model::Mesh;
use crate::model::mesh::{BadMesh, bounds_of};
use crate::model::range::is_within;

/// Largest mesh file: ten million triangles as a binary STL \[bytes\].
const LARGEST_MESH: u64 = 512 << 20;
/// Most triangles of a mesh.
const MOST_TRIANGLES: usize = 10_000_000;
/// Factor from the lengths in the file to metres.
const SCALE: Need = Need::new(
    |x| (1e-9..=1e9).contains(&x),
    "a factor from 1e-9 to 1e9, such as 0.001 for a file in millimetres",
);

/// Mesh with position and orientation.
#[derive(Debug, Clone)]
pub struct PlacedMesh {
    /// Mesh with the middle of its bounding box at the origin.
    pub mesh: Arc<Mesh>,
    /// Position of the middle of the bounding box \[m\].
    pub centre: DVec3,
    /// Orientation of the mesh.
    pub orientation: DQuat,
}

/// Reads `file`, `scale`, `position`, `turned` and `sheet` of a shape.
pub fn mesh(table: &mut Table<'_>, folder: &Path) -> Option<PlacedMesh> {
    let node = table.node("file");
    let name = table.get("file", text);
    let scale = match table.has("scale") {
        true => table.get("scale", factors),
        false => Some(DVec3::splat(table.or("scale", 1.0, number(SCALE)))),
    };
    let position = table.or("position", DVec3::ZERO, vector);
    let orientation = table.maybe("turned", |node| node.table(turned)).unwrap_or(DQuat::IDENTITY);
    let is_sheet = table.or("sheet", false, boolean);
    let (node, name) = (node?, name?);
    let triangles = read_triangles(&node, folder, &name)?;
    let scale = scale?;
    let place = |corners: [DVec3; 3]| corners.map(|corner| scale * corner);
    let triangles: Vec<[DVec3; 3]> = triangles.into_iter().map(place).collect();
    if let Some(far) = triangles.iter().flatten().find(|corner| !corner.to_array().into_iter().all(is_within))
    {
        node.problem(
            format!("{name} has a vertex at {far} m, expected coordinates of at most 1e9 m"),
            "`scale` makes metres of the lengths in the file",
        );
        return None;
    }
    let [low, high] = bounds_of(triangles.iter().flatten().copied());
    let middle = low.midpoint(high);
    let about_middle: Vec<_> =
        triangles.into_iter().map(|corners| corners.map(|corner| corner - middle)).collect();
    match Mesh::new(&without_folder(&name), &about_middle) {
        Ok(mesh) => {
            let mesh = Arc::new(if is_sheet { mesh.into_sheet() } else { mesh });
            Some(PlacedMesh { mesh, centre: position + orientation * middle, orientation })
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

/// Reads one factor, or one for each of x, y and z; a negative one mirrors.
fn factors(node: Node<'_>) -> Option<DVec3> {
    if !node.is_list() {
        return number(SCALE)(node).map(DVec3::splat);
    }
    let factors = vector(node.clone())?;
    if !factors.to_array().into_iter().all(|factor| SCALE.accepts(factor.abs())) {
        let message = format!("`{}` is {factors}, expected factors from 1e-9 to 1e9", node.name());
        node.problem(message, "a negative one mirrors, such as [1, -1, 1]");
        return None;
    }
    Some(factors)
}

/// Reads `axis` and `angle_deg` of a rotation.
pub fn turned(table: &mut Table<'_>) -> Option<DQuat> {
    let (axis, angle) = (table.get("axis", direction), table.get("angle_deg", number(FINITE)));
    Some(DQuat::from_axis_angle(axis?, angle?.to_radians()))
}

fn read_triangles(node: &Node<'_>, folder: &Path, name: &str) -> Option<Vec<[DVec3; 3]>> {
    let help = "meshes are .stl (binary or text) or .obj files; paths start at the scenario's folder";
    let Some(read) = reader_of(Path::new(name)) else {
        node.problem(
            format!("`{}` is \"{name}\", which is neither an STL nor an OBJ file", node.name()),
            help,
        );
        return None;
    };
    let soup = read_soup(&named(node, folder, name), read);
    let Soup { triangles, what, left_out } = soup.map_err(|message| node.problem(message, help)).ok()?;
    let left_out = match left_out.as_slice() {
        [] => "nothing is left out".to_owned(),
        all => format!("left out: {}", all.join(", ")),
    };
    node.report.note(format!(
        "{}: {} triangles of {what}; {left_out}",
        without_folder(name),
        triangles.len()
    ));
    Some(triangles)
}

/// Function that reads the bytes of a kind of file.
type SoupReader = fn(Vec<u8>) -> Result<Soup, Wrong>;

/// Reader of a file by its ending.
fn reader_of(path: &Path) -> Option<SoupReader> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "stl" => Some(stl::read),
        "obj" => Some(obj::read),
        _ => None,
    }
}

fn read_soup(path: &Path, read: SoupReader) -> Result<Soup, String> {
    let bytes = read_bytes(path, LARGEST_MESH)
        .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    read(bytes).map_err(|Wrong { line, what }| match line {
        Some(line) => format!("{}:{line}: {what}", path.display()),
        None => format!("{}: {what}", path.display()),
    })
}

/// Triangles of an STL or OBJ file, in the lengths of the file.
///
/// # Errors
/// Why they cannot be read.
#[cfg(feature = "cli")]
pub fn mesh_triangles(path: &Path) -> Result<Vec<[DVec3; 3]>, String> {
    let read =
        reader_of(path).ok_or_else(|| format!("{} is neither an STL nor an OBJ file", path.display()))?;
    read_soup(path, read).map(|soup| soup.triangles)
}

/// Triangles of a file, with what it is and what of it is not used.
#[derive(Debug)]
struct Soup {
    triangles: Vec<[DVec3; 3]>,
    what: String,
    left_out: Vec<String>,
}

/// What is wrong with a file, and in which line.
#[derive(Debug)]
struct Wrong {
    line: Option<usize>,
    what: String,
}

impl Wrong {
    fn of(what: String) -> Wrong {
        Wrong { line: None, what }
    }
}

fn too_many() -> Wrong {
    Wrong::of(format!(
        "it has more than {MOST_TRIANGLES} triangles: make it coarser, grains do not feel the difference"
    ))
}
