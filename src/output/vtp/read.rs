//! Reading of frames from their files.

use std::borrow::Cow;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use roxmltree::{Document, Node};

use super::{Array, PolyData, Values, VtpCells};
use crate::error::Error;
use crate::files::read_result;

/// Bytes of the byte count in front of the numbers of an array.
const COUNT: usize = size_of::<u64>();

/// Largest frame that is read \[bytes\]: contacts of the largest number of grains.
const LARGEST_FRAME: u64 = 16 << 30;

impl PolyData {
    /// Reads a frame that was written piece by piece ([`PolyData::write_piece`]), on this machine or another.
    ///
    /// # Errors
    /// [`Error::File`] when it cannot be read, [`Error::Unusable`] when it is of another form.
    pub fn read(path: &Path) -> Result<PolyData, Error> {
        let text = read_result(path, LARGEST_FRAME).map_err(Error::file(path))?;
        parse(&text).map_err(|found| Error::Unusable {
            origin: path.display().to_string(),
            found,
            advice: "expected a frame as `esker run` writes it: run the scenario again".to_owned(),
        })
    }
}

/// Parses a frame; the error says what is wrong with the text.
fn parse(text: &str) -> Result<PolyData, String> {
    let document = Document::parse(text).map_err(|error| format!("is not whole XML: {error}"))?;
    let root = document.root_element();
    let order = ByteOrder::of(root)?;
    // Ranks write a piece each.
    let pieces = root.descendants().filter(|node| node.has_tag_name("Piece"));
    let mut pieces = pieces.map(|piece| parse_piece(piece, order));
    let mut frame = pieces.next().ok_or("has no <Piece>")??;
    pieces.try_for_each(|piece| frame.append(piece?))?;
    Ok(PolyData { time: time(root)?, field_data: arrays(section(root, "FieldData")?, order)?, ..frame })
}

fn parse_piece(piece: Node<'_, '_>, order: ByteOrder) -> Result<PolyData, String> {
    let points = section(piece, "Points")?;
    let points = arrays(points, order)?.pop().ok_or("has no points")?;
    let point = |i| [0, 1, 2].map(|axis| points.component(i, axis));
    if points.components != 3 {
        return Err(format!("has points of {} coordinates, expected 3", points.components));
    }
    let frame = PolyData {
        points: (0..points.len()).map(point).collect(),
        cells: match ["NumberOfLines", "NumberOfPolys"].map(|count| piece.attribute(count) == Some("0")) {
            [false, _] => VtpCells::Lines,
            [true, false] => polygons(section(piece, "Polys")?, order)?,
            [true, true] => VtpCells::Vertices,
        },
        point_data: arrays(section(piece, "PointData")?, order)?,
        cell_data: arrays(section(piece, "CellData")?, order)?,
        ..PolyData::default()
    };
    check_lengths(&frame)?;
    Ok(frame)
}

impl PolyData {
    /// Adds the points, cells and data of another piece of the same frame.
    fn append(&mut self, piece: PolyData) -> Result<(), String> {
        if self.points.is_empty() {
            self.cells = piece.cells;
        } else if piece.cells != self.cells && !piece.points.is_empty() {
            return Err("has pieces with cells of several kinds".to_owned());
        }
        self.points.extend(piece.points);
        for (all, more) in [(&mut self.point_data, piece.point_data), (&mut self.cell_data, piece.cell_data)]
        {
            if all.len() != more.len() {
                return Err("has pieces with other arrays than the first".to_owned());
            }
            all.iter_mut().zip(more).try_for_each(|(array, more)| array.append(more))?;
        }
        Ok(())
    }
}

impl Array {
    fn append(&mut self, more: Array) -> Result<(), String> {
        let is_same = self.name == more.name && self.components == more.components;
        match (&mut self.values, more.values) {
            (Values::Float32(all), Values::Float32(more)) if is_same => all.extend(more),
            (Values::Float64(all), Values::Float64(more)) if is_same => all.extend(more),
            (Values::Int32(all), Values::Int32(more)) if is_same => all.extend(more),
            _ => return Err(format!("has a piece without the array `{}` of the first", self.name)),
        }
        Ok(())
    }
}

/// Tells triangles from the quadrangles of a grid. The fourth corner of the first quadrangle is the first point of the next row, so its
/// index is the number of columns.
fn polygons(section: Node<'_, '_>, order: ByteOrder) -> Result<VtpCells, String> {
    let numbers = |name: &str| {
        let array = section.children().find(|node| node.attribute("Name") == Some(name));
        let array = array.ok_or_else(|| format!("has polygons without `{name}`"))?;
        Ok::<_, String>(order.numbers(&bytes(array, order, name)?, i64::from_le_bytes))
    };
    match numbers("offsets")?.first() {
        Some(4) => {
            let connectivity = numbers("connectivity")?;
            let columns = connectivity.get(3).and_then(|&columns| usize::try_from(columns).ok());
            columns.map(VtpCells::Grid).ok_or_else(|| "has quadrangles without corners".to_owned())
        }
        _ => Ok(VtpCells::Triangles),
    }
}

fn check_lengths(frame: &PolyData) -> Result<(), String> {
    let points = frame.points.len();
    let cells = frame.cells.count(points);
    let of_points = frame.point_data.iter().map(|array| (array, points));
    let of_cells = frame.cell_data.iter().map(|array| (array, cells));
    match of_points.chain(of_cells).find(|(array, expected)| array.len() != *expected) {
        Some((array, expected)) => {
            Err(format!("has {} values of `{}`, expected {expected}", array.len(), array.name))
        }
        None => Ok(()),
    }
}

/// Byte order of a number.
#[derive(Clone, Copy)]
enum ByteOrder {
    LittleEndian,
    BigEndian,
}

impl ByteOrder {
    fn of(root: Node<'_, '_>) -> Result<ByteOrder, String> {
        let header = root.attribute("header_type").unwrap_or("UInt32");
        if root.attribute("type") != Some("PolyData")
            || header != "UInt64"
            || root.has_attribute("compressor")
        {
            return Err("is not uncompressed VTK PolyData with counts of 64 bits".to_owned());
        }
        match root.attribute("byte_order") {
            Some("BigEndian") => Ok(ByteOrder::BigEndian),
            _ => Ok(ByteOrder::LittleEndian),
        }
    }

    /// Decodes numbers of `N` bytes each.
    fn numbers<const N: usize, T>(self, bytes: &[u8], number: fn([u8; N]) -> T) -> Vec<T> {
        let (chunks, _) = bytes.as_chunks::<N>();
        let ordered = |chunk: &[u8; N]| {
            let mut chunk = *chunk;
            if matches!(self, ByteOrder::BigEndian) {
                chunk.reverse();
            }
            number(chunk)
        };
        chunks.iter().map(ordered).collect()
    }
}

fn section<'a, 'input>(parent: Node<'a, 'input>, name: &str) -> Result<Node<'a, 'input>, String> {
    let found = parent.descendants().find(|node| node.has_tag_name(name));
    found.ok_or_else(|| format!("has no <{name}>"))
}

fn time(root: Node<'_, '_>) -> Result<f64, String> {
    let value = root.descendants().find(|node| node.attribute("Name") == Some("TimeValue"));
    let text = value.and_then(|node| node.text()).unwrap_or_default();
    text.trim().parse().map_err(|_| format!("has the time \"{}\", expected a number", text.trim()))
}

/// All arrays of a section except the time.
fn arrays(section: Node<'_, '_>, order: ByteOrder) -> Result<Vec<Array>, String> {
    let is_array = |node: &Node<'_, '_>| node.has_tag_name("DataArray") && !is_text(node);
    section.children().filter(is_array).map(|node| array(node, order)).collect()
}

/// Decoded bytes of the numbers of an array, without the byte count.
fn bytes(node: Node<'_, '_>, order: ByteOrder, name: &str) -> Result<Vec<u8>, String> {
    let decoded = STANDARD.decode(node.text().unwrap_or_default().trim());
    let decoded = decoded.map_err(|error| format!("`{name}` is not base64: {error}"))?;
    let Some((count, bytes)) = decoded.split_first_chunk::<COUNT>() else {
        return Err(format!("`{name}` has no count in front of its numbers"));
    };
    let counted = order.numbers(count, u64::from_le_bytes)[0];
    if counted != bytes.len() as u64 {
        return Err(format!("`{name}` has {} bytes, and says {counted}", bytes.len()));
    }
    Ok(bytes.to_vec())
}

fn is_text(node: &Node<'_, '_>) -> bool {
    node.attribute("format") == Some("ascii")
}

fn array(node: Node<'_, '_>, order: ByteOrder) -> Result<Array, String> {
    let name = node.attribute("Name").unwrap_or("without a name").to_owned();
    let components = node.attribute("NumberOfComponents").map_or(Ok(1), str::parse);
    let components = components.ok().filter(|&count| count > 0);
    let components = components.ok_or_else(|| format!("`{name}` has no valid number of components"))?;
    let bytes = bytes(node, order, &name)?;
    let values = match node.attribute("type") {
        Some("Float32") => Values::Float32(order.numbers(&bytes, f32::from_le_bytes)),
        Some("Float64") => Values::Float64(order.numbers(&bytes, f64::from_le_bytes)),
        Some("Int32") => Values::Int32(order.numbers(&bytes, i32::from_le_bytes)),
        other => return Err(format!("`{name}` is of type {}", other.unwrap_or("unknown"))),
    };
    Ok(Array { name: Cow::Owned(name), components, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> PolyData {
        PolyData {
            time: 0.1 + 0.2,
            points: vec![[0.1, -2.0, 3e8], [4.0, 5.0, 6.0]],
            cells: VtpCells::Vertices,
            point_data: vec![
                Array::scalars("radius", [0.5, 0.25].into_iter()),
                Array::vectors("velocity", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]].into_iter()),
                Array::integers("id", [7, -1].into_iter()),
            ],
            cell_data: Vec::new(),
            field_data: vec![Array::precise_vectors("boundary_position", [[0.1, 0.2, 0.3]].into_iter())],
        }
    }

    fn text(frame: &PolyData) -> String {
        pieces(std::slice::from_ref(frame))
    }

    #[test]
    fn what_is_written_is_read_back_bit_by_bit() {
        assert_eq!(parse(&text(&frame())), Ok(frame()));
        let lines = PolyData { cells: VtpCells::Lines, point_data: Vec::new(), ..frame() };
        assert_eq!(parse(&text(&lines)), Ok(lines));
        let points = (0..6).map(|i| [f64::from(i % 3), f64::from(i / 3), 0.5]).collect();
        let grid = PolyData { points, cells: VtpCells::Grid(3), point_data: Vec::new(), ..frame() };
        assert_eq!(parse(&text(&grid)), Ok(grid));
    }

    /// A frame of several pieces, which have the time and field data of the first.
    fn pieces(frames: &[PolyData]) -> String {
        let mut bytes = Vec::new();
        frames[0].begin(&mut bytes).expect("written");
        frames.iter().for_each(|frame| frame.write_piece(&mut bytes).expect("written"));
        PolyData::end(&mut bytes).expect("written");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn pieces_are_read_as_one_frame() {
        let lines = PolyData { cells: VtpCells::Lines, point_data: Vec::new(), ..frame() };
        let none = |of: &PolyData| PolyData {
            points: Vec::new(),
            point_data: of
                .point_data
                .iter()
                .map(|array| Array { values: Values::Float32(vec![]), ..array.clone() })
                .collect(),
            ..of.clone()
        };
        for whole in [PolyData { point_data: frame().point_data[..2].to_vec(), ..frame() }, lines] {
            let twice =
                parse(&pieces(&[none(&whole), whole.clone(), none(&whole), whole.clone()])).expect("a frame");
            assert_eq!(twice.points, [whole.points.clone(), whole.points.clone()].concat());
            assert_eq!(
                (twice.cells, twice.time, twice.field_data),
                (whole.cells, whole.time, whole.field_data)
            );
            for (array, one) in twice.point_data.iter().zip(&whole.point_data) {
                assert_eq!((array.len(), array.component(3, 0)), (4, one.component(1, 0)));
            }
        }
        let reason = parse(&pieces(&[frame(), PolyData { point_data: Vec::new(), ..frame() }]));
        assert!(reason.expect_err("a reason").contains("other arrays than the first"));
        let mut renamed = frame();
        renamed.point_data[1].name = "speed".into();
        assert!(parse(&pieces(&[frame(), renamed])).expect_err("a reason").contains("the array `velocity`"));
    }

    #[test]
    fn a_frame_that_is_cut_short_or_changed_is_refused_with_what_is_wrong() {
        let whole = text(&frame());
        let refused = |text: &str, word: &str| {
            let reason = parse(text).expect_err("a reason");
            assert!(reason.contains(word), "{reason}");
        };
        refused(&whole[..whole.len() / 2], "not whole XML");
        refused(&whole.replace("UInt64", "UInt32"), "64 bits");
        refused(&whole.replace("Int32\" Name=\"id", "Float64\" Name=\"id"), "values of `id`, expected 2");
        refused(&whole.replace("<PointData>", "<Other>").replace("</PointData>", "</Other>"), "<PointData>");
        refused(&whole.replace(">0.30000000000000004<", ">soon<"), "the time \"soon\"");
    }
}
