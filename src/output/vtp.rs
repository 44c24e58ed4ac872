//! VTK XML PolyData: points with cells and named arrays, as ParaView reads them.
//!
//! Arrays are stored inline and uncompressed, as base64 of the byte count and of the bytes in the order of this machine.

mod read;

use std::borrow::Cow;
use std::io::{self, Write};

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;

/// Points, the cells on them and the data of both, at one time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PolyData {
    /// Simulated time \[s\].
    pub time: f64,
    /// Points \[m\].
    pub points: Vec<[f64; 3]>,
    /// Kind of the cells.
    pub cells: VtpCells,
    /// Data of the points.
    pub point_data: Vec<Array>,
    /// Data of the cells.
    pub cell_data: Vec<Array>,
    /// Data of the frame as a whole.
    pub field_data: Vec<Array>,
}

/// How points make cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VtpCells {
    /// Every point is a vertex.
    #[default]
    Vertices,
    /// Points 2 i and 2 i + 1 are the ends of line i.
    Lines,
    /// Points 3 i to 3 i + 2 are the corners of triangle i.
    Triangles,
    /// Points stand in rows of this many; each four neighbours are a quadrangle.
    Grid(usize),
}

impl VtpCells {
    /// Name of the section of the cells in the file, and number of points per cell.
    fn kind(self) -> (&'static str, usize) {
        match self {
            VtpCells::Vertices => ("Verts", 1),
            VtpCells::Lines => ("Lines", 2),
            VtpCells::Triangles => ("Polys", 3),
            VtpCells::Grid(_) => ("Polys", 4),
        }
    }

    /// Number of points per cell.
    pub fn points_per_cell(self) -> usize {
        self.kind().1
    }

    /// Number of cells that `points` points make.
    fn count(self, points: usize) -> usize {
        match self {
            VtpCells::Grid(columns) => {
                columns.saturating_sub(1) * (points / columns.max(1)).saturating_sub(1)
            }
            _ => points / self.kind().1,
        }
    }
}

/// A named array.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Name, as ParaView shows it.
    pub name: Cow<'static, str>,
    /// Number of values per point or cell.
    pub components: usize,
    /// The values, point after point.
    pub values: Values,
}

/// Values of an array, by their type in the file.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Single precision.
    Float32(Vec<f32>),
    /// Double precision.
    Float64(Vec<f64>),
    /// Whole numbers.
    Int32(Vec<i32>),
}

impl Array {
    /// An array of single-precision numbers, one per point or cell.
    pub fn scalars(name: &'static str, values: impl Iterator<Item = f64>) -> Array {
        let values = values.map(|value| value as f32).collect();
        Array { name: name.into(), components: 1, values: Values::Float32(values) }
    }

    /// An array of single-precision vectors, `N` numbers per point or cell.
    pub fn vectors<const N: usize>(name: &'static str, values: impl Iterator<Item = [f64; N]>) -> Array {
        let flat = values.flatten().map(|value| value as f32).collect();
        Array { name: name.into(), components: N, values: Values::Float32(flat) }
    }

    /// An array of double-precision vectors, `N` numbers per point, cell or boundary.
    pub fn precise_vectors<const N: usize>(
        name: &'static str,
        values: impl Iterator<Item = [f64; N]>,
    ) -> Array {
        Array { name: name.into(), components: N, values: Values::Float64(values.flatten().collect()) }
    }

    /// An array of whole numbers, one per point or cell.
    pub fn integers(name: &'static str, values: impl Iterator<Item = i32>) -> Array {
        Array { name: name.into(), components: 1, values: Values::Int32(values.collect()) }
    }

    /// An array of `N` whole numbers per point or cell.
    pub fn integer_vectors<const N: usize>(
        name: &'static str,
        values: impl Iterator<Item = [i32; N]>,
    ) -> Array {
        Array { name: name.into(), components: N, values: Values::Int32(values.flatten().collect()) }
    }

    /// Number of points, cells or boundaries that the array has values of.
    pub fn len(&self) -> usize {
        let numbers = match &self.values {
            Values::Float32(values) => values.len(),
            Values::Float64(values) => values.len(),
            Values::Int32(values) => values.len(),
        };
        numbers / self.components.max(1)
    }

    /// Whether the array has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One component of the value of point, cell or boundary `item`.
    pub fn component(&self, item: usize, component: usize) -> f64 {
        let place = item * self.components + component;
        match &self.values {
            Values::Float32(values) => f64::from(values[place]),
            Values::Float64(values) => values[place],
            Values::Int32(values) => f64::from(values[place]),
        }
    }

    /// All components of the value of point, cell or boundary `item`.
    pub fn components_of(&self, item: usize) -> impl Iterator<Item = f64> + '_ {
        (0..self.components).map(move |component| self.component(item, component))
    }

    /// Name of the type of the values in the file, and their bytes.
    fn stored(&self) -> (&'static str, &[u8]) {
        match &self.values {
            Values::Float32(values) => ("Float32", bytemuck::cast_slice(values)),
            Values::Float64(values) => ("Float64", bytemuck::cast_slice(values)),
            Values::Int32(values) => ("Int32", bytemuck::cast_slice(values)),
        }
    }
}

impl PolyData {
    /// Writes what comes before the pieces of a frame: the time and the other data of the frame as a whole.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn begin(&self, out: &mut impl Write) -> io::Result<()> {
        let byte_order = if cfg!(target_endian = "big") { "BigEndian" } else { "LittleEndian" };
        writeln!(out, r#"<?xml version="1.0"?>"#)?;
        writeln!(
            out,
            r#"<VTKFile type="PolyData" version="1.0" byte_order="{byte_order}" header_type="UInt64">"#
        )?;
        writeln!(out, "<PolyData>")?;
        write_field_data(out, self.time, &self.field_data)
    }

    /// Writes what comes after the pieces.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn end(out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "</PolyData>")?;
        writeln!(out, "</VTKFile>")
    }

    /// Writes points, cells and their data as a piece of a frame. All pieces of a frame have the same arrays.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_piece(&self, out: &mut impl Write) -> io::Result<()> {
        let points = self.points.len();
        let (element, points_per_cell) = self.cells.kind();
        let cells = self.cells.count(points);
        let [vertices, lines, polygons] =
            ["Verts", "Lines", "Polys"].map(|of| if of == element { cells } else { 0 });
        writeln!(
            out,
            r#"<Piece NumberOfPoints="{points}" NumberOfVerts="{vertices}" NumberOfLines="{lines}" NumberOfStrips="0" NumberOfPolys="{polygons}">"#
        )?;
        write_section(out, "PointData", &self.point_data)?;
        write_section(out, "CellData", &self.cell_data)?;
        writeln!(out, "<Points>")?;
        write_array(out, "Points", "Float64", 3, "", bytemuck::cast_slice(&self.points))?;
        writeln!(out, "</Points>")?;
        write_cells(out, element, &self.connectivity(), points_per_cell)?;
        writeln!(out, "</Piece>")
    }

    /// Indices of the points of each cell, one cell after the other.
    pub fn connectivity(&self) -> Vec<i64> {
        let points = self.points.len();
        let VtpCells::Grid(columns) = self.cells else {
            return (0..(self.cells.count(points) * self.cells.kind().1) as i64).collect();
        };
        let rows = points.checked_div(columns).unwrap_or(0);
        let squares = (1..rows).flat_map(|row| (1..columns).map(move |column| row * columns + column));
        let corners = |last: usize| [last - columns - 1, last - columns, last, last - 1].map(|at| at as i64);
        squares.flat_map(corners).collect()
    }
}

/// Writes the time of a frame \[s\], which ParaView shows also for a single file, and the other data of the frame as a whole.
pub(super) fn write_field_data(out: &mut impl Write, time: f64, arrays: &[Array]) -> io::Result<()> {
    writeln!(out, "<FieldData>")?;
    writeln!(
        out,
        r#"<DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">{time}</DataArray>"#
    )?;
    for array in arrays {
        let (scalar, bytes) = array.stored();
        let tuples = format!(r#" NumberOfTuples="{}""#, array.len());
        write_array(out, &array.name, scalar, array.components, &tuples, bytes)?;
    }
    writeln!(out, "</FieldData>")
}

/// Writes arrays as the data of points, or of cells.
pub(super) fn write_section(out: &mut impl Write, element: &str, arrays: &[Array]) -> io::Result<()> {
    writeln!(out, "<{element}>")?;
    for array in arrays {
        let (scalar, bytes) = array.stored();
        write_array(out, &array.name, scalar, array.components, "", bytes)?;
    }
    writeln!(out, "</{element}>")
}

/// Writes cells of equal size, each by the indices of its points.
fn write_cells(
    out: &mut impl Write,
    element: &str,
    connectivity: &[i64],
    points_per_cell: usize,
) -> io::Result<()> {
    let cells = (connectivity.len() / points_per_cell) as i64;
    let offsets: Vec<i64> = (1..=cells).map(|cell| cell * points_per_cell as i64).collect();
    writeln!(out, "<{element}>")?;
    write_array(out, "connectivity", "Int64", 1, "", bytemuck::cast_slice(connectivity))?;
    write_array(out, "offsets", "Int64", 1, "", bytemuck::cast_slice(&offsets))?;
    writeln!(out, "</{element}>")
}

fn write_array(
    out: &mut impl Write,
    name: &str,
    scalar: &str,
    components: usize,
    more: &str,
    bytes: &[u8],
) -> io::Result<()> {
    write!(
        out,
        r#"<DataArray type="{scalar}" Name="{name}" NumberOfComponents="{components}"{more} format="binary">"#
    )?;
    let mut encoder = EncoderWriter::new(&mut *out, &STANDARD);
    encoder.write_all(&(bytes.len() as u64).to_ne_bytes())?;
    encoder.write_all(bytes)?;
    encoder.finish()?;
    drop(encoder);
    writeln!(out, "</DataArray>")
}
