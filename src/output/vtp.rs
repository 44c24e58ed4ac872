//! VTK XML PolyData: points with cells and named arrays, as ParaView reads them.
//!
//! Arrays are inline base64 of the byte count and the bytes in the order of this machine, uncompressed.

use std::io::{self, Write};

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;

/// Points, the cells on them and the data of both, at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct PolyData {
    /// Simulated time \[s\].
    pub time: f64,
    /// Points \[m\].
    pub points: Vec<[f64; 3]>,
    /// What the cells are.
    pub cells: Cells,
    /// Data of the points.
    pub point_data: Vec<Array>,
    /// Data of the cells.
    pub cell_data: Vec<Array>,
}

/// How points make cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cells {
    /// Every point is a vertex.
    Vertices,
    /// Points 2 i and 2 i + 1 are the ends of line i.
    Lines,
}

/// A named array.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Name, as ParaView shows it.
    pub name: &'static str,
    /// Values per point or cell.
    pub components: usize,
    /// The values, point after point.
    pub values: Values,
}

/// Values of an array, by their type in the file.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Single precision.
    Float32(Vec<f32>),
    /// Whole numbers.
    Int32(Vec<i32>),
}

impl Array {
    /// An array of single-precision numbers, one per point or cell.
    pub fn scalars(name: &'static str, values: impl Iterator<Item = f64>) -> Array {
        Array { name, components: 1, values: Values::Float32(values.map(|value| value as f32).collect()) }
    }

    /// An array of single-precision vectors, `N` numbers per point or cell.
    pub fn vectors<const N: usize>(name: &'static str, values: impl Iterator<Item = [f64; N]>) -> Array {
        let flat = values.flatten().map(|value| value as f32).collect();
        Array { name, components: N, values: Values::Float32(flat) }
    }

    /// An array of whole numbers, one per point or cell.
    pub fn integers(name: &'static str, values: impl Iterator<Item = i32>) -> Array {
        Array { name, components: 1, values: Values::Int32(values.collect()) }
    }
}

impl PolyData {
    /// Writes the file.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let byte_order = if cfg!(target_endian = "big") { "BigEndian" } else { "LittleEndian" };
        writeln!(out, r#"<?xml version="1.0"?>"#)?;
        writeln!(
            out,
            r#"<VTKFile type="PolyData" version="1.0" byte_order="{byte_order}" header_type="UInt64">"#
        )?;
        writeln!(out, "<PolyData>")?;
        write_time(out, self.time)?;
        self.write_piece(out)?;
        writeln!(out, "</PolyData>")?;
        writeln!(out, "</VTKFile>")
    }

    fn write_piece(&self, out: &mut impl Write) -> io::Result<()> {
        let points = self.points.len();
        let (element, points_per_cell) = match self.cells {
            Cells::Vertices => ("Verts", 1),
            Cells::Lines => ("Lines", 2),
        };
        let cells = points / points_per_cell;
        let (vertices, lines) = if points_per_cell == 1 { (cells, 0) } else { (0, cells) };
        writeln!(
            out,
            r#"<Piece NumberOfPoints="{points}" NumberOfVerts="{vertices}" NumberOfLines="{lines}" NumberOfStrips="0" NumberOfPolys="0">"#
        )?;
        write_section(out, "PointData", &self.point_data)?;
        write_section(out, "CellData", &self.cell_data)?;
        writeln!(out, "<Points>")?;
        write_array(out, "Points", "Float64", 3, bytemuck::cast_slice(&self.points))?;
        writeln!(out, "</Points>")?;
        write_cells(out, element, cells, points_per_cell)?;
        writeln!(out, "</Piece>")
    }
}

/// The time of the frame, which ParaView shows also for a single file.
fn write_time(out: &mut impl Write, time: f64) -> io::Result<()> {
    writeln!(out, "<FieldData>")?;
    writeln!(
        out,
        r#"<DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">{time}</DataArray>"#
    )?;
    writeln!(out, "</FieldData>")
}

fn write_section(out: &mut impl Write, element: &str, arrays: &[Array]) -> io::Result<()> {
    writeln!(out, "<{element}>")?;
    for Array { name, components, values } in arrays {
        match values {
            Values::Float32(values) => {
                write_array(out, name, "Float32", *components, bytemuck::cast_slice(values))?;
            }
            Values::Int32(values) => {
                write_array(out, name, "Int32", *components, bytemuck::cast_slice(values))?;
            }
        }
    }
    writeln!(out, "</{element}>")
}

/// Cells of equal size that use the points one after the other.
fn write_cells(out: &mut impl Write, element: &str, cells: usize, points_per_cell: usize) -> io::Result<()> {
    let connectivity: Vec<i64> = (0..(cells * points_per_cell) as i64).collect();
    let offsets: Vec<i64> = (1..=cells as i64).map(|cell| cell * points_per_cell as i64).collect();
    writeln!(out, "<{element}>")?;
    write_array(out, "connectivity", "Int64", 1, bytemuck::cast_slice(&connectivity))?;
    write_array(out, "offsets", "Int64", 1, bytemuck::cast_slice(&offsets))?;
    writeln!(out, "</{element}>")
}

fn write_array(
    out: &mut impl Write,
    name: &str,
    scalar: &str,
    components: usize,
    bytes: &[u8],
) -> io::Result<()> {
    write!(
        out,
        r#"<DataArray type="{scalar}" Name="{name}" NumberOfComponents="{components}" format="binary">"#
    )?;
    let mut encoder = EncoderWriter::new(&mut *out, &STANDARD);
    encoder.write_all(&(bytes.len() as u64).to_ne_bytes())?;
    encoder.write_all(bytes)?;
    encoder.finish()?;
    drop(encoder);
    writeln!(out, "</DataArray>")
}
