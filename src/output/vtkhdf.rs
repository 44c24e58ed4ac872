//! VTKHDF: all frames of a kind in one file, over time, as ParaView and VTK 9.3 or later read it.
//!
//! Each kind of frames has an HDF5 file of type `PolyData` (VTKHDF 2.3): `grains.vtkhdf`, `contacts.vtkhdf` and so on. The arrays of all
//! frames stand one after the other, and the group `Steps` tells where each frame begins. The file is made from the frames of a folder of
//! results, one at a time, and appears whole or not at all. (One file with a block for each kind would be a `PartitionedDataSetCollection`,
//! whose blocks VTK 9.7 does not take to another time.)

use std::path::{Path, PathBuf};

use rust_hdf5::{DatatypeMessage, H5Dataset, H5File, H5Group, H5Type, Hdf5Error};

use crate::error::Error;

use super::collection::{has_series, read_series};
use super::vtp::{Array, PolyData, Values, VtpCells};
use super::{KINDS, atomic};

/// Name of the file for a kind of frames.
fn file_name(kind: &str) -> String {
    format!("{kind}.vtkhdf")
}

/// Whether a file of this name holds frames.
pub(super) fn is_file(name: &str) -> bool {
    KINDS.iter().any(|kind| name == file_name(kind))
}

/// Type of the data.
const TYPE: &[u8] = b"PolyData";
/// Version of the format.
const VERSION: [i64; 2] = [2, 3];

/// Sections of cells, in the order in which the format counts them.
const SECTIONS: [&str; 4] = ["Vertices", "Lines", "Polygons", "Strips"];

/// Rows of a chunk of a dataset: few enough for a scene of a few grains, and enough that a large scene needs few chunks.
const CHUNK: usize = 4096;

/// Writes all frames of a folder of results into a folder, one file for each kind; returns their paths and numbers of frames. Frames
/// that a run adds meanwhile are left out.
///
/// # Errors
/// [`Error::Unusable`] when there are no frames, or one is of another form; [`Error::File`] when one cannot be read or a file not be
/// written: an earlier file of its name is then unchanged.
pub fn export(results: &Path, folder: &Path) -> Result<Vec<(PathBuf, usize)>, Error> {
    let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| has_series(results, kind)).collect();
    if kinds.is_empty() {
        // Fails with the error that says what is missing.
        read_series(results, KINDS[0])?;
    }
    let one = |kind| {
        let series = read_series(results, kind)?;
        let file = folder.join(file_name(kind));
        write(&series, &file)?;
        Ok((file, series.len()))
    };
    kinds.into_iter().map(one).collect()
}

/// Writes frames, each given by its file and its time \[s\], into one file.
fn write(series: &[(PathBuf, f64)], file: &Path) -> Result<(), Error> {
    let failed = |error: Hdf5Error| Error::file(file)(std::io::Error::other(error));
    let temporary = atomic::temporary_for(file)?;
    let hdf = H5File::create(&temporary).map_err(failed)?;
    let mut frames = hdf.create_group("VTKHDF").and_then(FrameSeries::new).map_err(failed)?;
    for (path, time) in series {
        let frame = PolyData::read(path)?;
        frames.add(*time, &frame).map_err(failed)?;
    }
    frames.finish().and_then(|()| hdf.close()).map_err(failed)?;
    temporary.persist(file).map_err(|error| Error::file(file)(error.error))
}

/// Writer of the frames of a kind, one after the other.
struct FrameSeries {
    group: H5Group,
    steps: H5Group,
    points: H5Dataset,
    point_counts: H5Dataset,
    sections: Vec<Section>,
    /// Groups of arrays: data of the points, of the cells and of the frame.
    data: [FrameData; 3],
    times: Vec<f64>,
    /// Number of points so far; then the offsets at which the points and cells of each frame begin.
    point_count: i64,
    point_offsets: Vec<i64>,
    cell_offsets: Vec<i64>,
    connectivity_offsets: Vec<i64>,
}

/// Datasets of one section of cells.
struct Section {
    cells: H5Dataset,
    ids: H5Dataset,
    connectivity: H5Dataset,
    offsets: H5Dataset,
    cell_count: i64,
    id_count: i64,
}

/// Arrays that belong to the points of frames, to their cells or to each frame as a whole.
struct FrameData {
    name: &'static str,
    arrays: Vec<Stored>,
}

/// Dataset of one array over all frames.
struct Stored {
    name: String,
    values: H5Dataset,
    /// Number of values so far; `offsets` are where the values of each frame begin.
    count: i64,
    offsets: Vec<i64>,
    /// Number of components and number of values of each frame.
    sizes: Vec<i64>,
}

impl FrameSeries {
    fn new(group: H5Group) -> Result<FrameSeries, Hdf5Error> {
        let datatype = DatatypeMessage::FixedString { size: TYPE.len() as u32, padding: 1, charset: 0 };
        group.set_attr_array_numeric("Version", &VERSION)?;
        group.set_attr_typed("Type", datatype, TYPE.to_vec())?;
        let section = |name: &str| {
            let group = group.create_group(name)?;
            Ok(Section {
                cells: column::<i64>(&group, "NumberOfCells")?,
                ids: column::<i64>(&group, "NumberOfConnectivityIds")?,
                connectivity: column::<i64>(&group, "Connectivity")?,
                offsets: column::<i64>(&group, "Offsets")?,
                cell_count: 0,
                id_count: 0,
            })
        };
        Ok(FrameSeries {
            points: table::<f64>(&group, "Points", 3)?,
            point_counts: column::<i64>(&group, "NumberOfPoints")?,
            sections: SECTIONS.into_iter().map(section).collect::<Result<_, Hdf5Error>>()?,
            data: ["PointData", "CellData", "FieldData"].map(|name| FrameData { name, arrays: Vec::new() }),
            steps: group.create_group("Steps")?,
            group,
            times: Vec::new(),
            point_count: 0,
            point_offsets: Vec::new(),
            cell_offsets: Vec::new(),
            connectivity_offsets: Vec::new(),
        })
    }

    /// Adds a frame.
    fn add(&mut self, time: f64, frame: &PolyData) -> Result<(), Hdf5Error> {
        self.times.push(time);
        self.point_offsets.push(self.point_count);
        self.point_count += frame.points.len() as i64;
        self.points.append(frame.points.as_flattened())?;
        self.point_counts.append(&[frame.points.len() as i64])?;
        self.add_cells(frame)?;
        let arrays = [&frame.point_data, &frame.cell_data, &frame.field_data];
        let group = &self.group;
        self.data.iter_mut().zip(arrays).try_for_each(|(data, arrays)| data.add(group, arrays))
    }

    fn add_cells(&mut self, frame: &PolyData) -> Result<(), Hdf5Error> {
        let own = match frame.cells {
            VtpCells::Vertices => "Vertices",
            VtpCells::Lines => "Lines",
            VtpCells::Triangles | VtpCells::Grid(_) => "Polygons",
        };
        let (connectivity, points_per_cell) = (frame.connectivity(), frame.cells.points_per_cell());
        for (section, name) in self.sections.iter_mut().zip(SECTIONS) {
            self.cell_offsets.push(section.cell_count);
            self.connectivity_offsets.push(section.id_count);
            section.add(if name == own { &connectivity } else { &[] }, points_per_cell)?;
        }
        Ok(())
    }

    /// Writes the group `Steps`: the times of the frames and where each begins.
    fn finish(self) -> Result<(), Hdf5Error> {
        let FrameSeries { steps, times, .. } = &self;
        let count = times.len();
        steps.set_attr_numeric("NSteps", &(count as i64))?;
        column::<f64>(steps, "Values")?.append(times)?;
        let parts: Vec<i64> = (0..count as i64).collect();
        column::<i64>(steps, "PartOffsets")?.append(&parts)?;
        column::<i64>(steps, "NumberOfParts")?.append(&vec![1i64; count])?;
        column::<i64>(steps, "PointOffsets")?.append(&self.point_offsets)?;
        table::<i64>(steps, "CellOffsets", SECTIONS.len())?.append(&self.cell_offsets)?;
        table::<i64>(steps, "ConnectivityIdOffsets", SECTIONS.len())?.append(&self.connectivity_offsets)?;
        self.data.iter().try_for_each(|data| data.finish(steps))
    }
}

impl Section {
    /// Adds the cells of a frame, each of `points_per_cell` points.
    fn add(&mut self, connectivity: &[i64], points_per_cell: usize) -> Result<(), Hdf5Error> {
        let cells = connectivity.len() / points_per_cell;
        let offsets: Vec<i64> = (0..=cells).map(|cell| (cell * points_per_cell) as i64).collect();
        self.cells.append(&[cells as i64])?;
        self.ids.append(&[connectivity.len() as i64])?;
        self.offsets.append(&offsets)?;
        self.connectivity.append(connectivity)?;
        self.cell_count += cells as i64;
        self.id_count += connectivity.len() as i64;
        Ok(())
    }
}

impl FrameData {
    /// Adds the arrays of a frame, whose names must be the same in every frame.
    fn add(&mut self, frames: &H5Group, arrays: &[Array]) -> Result<(), Hdf5Error> {
        if self.arrays.is_empty() && !arrays.is_empty() {
            let group = frames.create_group(self.name)?;
            self.arrays = arrays.iter().map(|array| Stored::new(&group, array)).collect::<Result<_, _>>()?;
        }
        let is_same =
            self.arrays.iter().map(|stored| stored.name.as_str()).eq(arrays.iter().map(|array| &*array.name));
        if !is_same {
            let message = format!("frames differ in their {}", self.name);
            return Err(Hdf5Error::InvalidState(message));
        }
        self.arrays.iter_mut().zip(arrays).try_for_each(|(stored, array)| stored.add(array))
    }

    fn finish(&self, steps: &H5Group) -> Result<(), Hdf5Error> {
        if self.arrays.is_empty() {
            return Ok(());
        }
        let offsets = steps.create_group(&format!("{}Offsets", self.name))?;
        for stored in &self.arrays {
            column::<i64>(&offsets, &stored.name)?.append(&stored.offsets)?;
        }
        // The format counts points and cells; the sizes of the data of a whole frame are written here.
        if self.name == "FieldData" {
            let sizes = steps.create_group("FieldDataSizes")?;
            for stored in &self.arrays {
                table::<i64>(&sizes, &stored.name, 2)?.append(&stored.sizes)?;
            }
        }
        Ok(())
    }
}

impl Stored {
    fn new(group: &H5Group, array: &Array) -> Result<Stored, Hdf5Error> {
        let values = match array.values {
            Values::Float32(_) => dataset::<f32>(group, &array.name, array.components),
            Values::Float64(_) => dataset::<f64>(group, &array.name, array.components),
            Values::Int32(_) => dataset::<i32>(group, &array.name, array.components),
        };
        let name = array.name.clone().into_owned();
        Ok(Stored { name, values: values?, count: 0, offsets: Vec::new(), sizes: Vec::new() })
    }

    fn add(&mut self, array: &Array) -> Result<(), Hdf5Error> {
        self.offsets.push(self.count);
        self.sizes.extend([array.components as i64, array.len() as i64]);
        self.count += array.len() as i64;
        match &array.values {
            Values::Float32(values) => self.values.append(values),
            Values::Float64(values) => self.values.append(values),
            Values::Int32(values) => self.values.append(values),
        }
    }
}

/// Creates a dataset of numbers, or of rows of several numbers.
fn dataset<T: H5Type>(group: &H5Group, name: &str, components: usize) -> Result<H5Dataset, Hdf5Error> {
    if components == 1 { column::<T>(group, name) } else { table::<T>(group, name, components) }
}

/// Creates a dataset of numbers to which more can be added.
fn column<T: H5Type>(group: &H5Group, name: &str) -> Result<H5Dataset, Hdf5Error> {
    let builder = group.new_dataset::<T>().shape([0usize]).max_shape(&[None]).chunk(&[CHUNK]);
    builder.shuffle_deflate(DEFLATE).create(name)
}

/// Creates a dataset of rows of `columns` numbers to which more can be added.
fn table<T: H5Type>(group: &H5Group, name: &str, columns: usize) -> Result<H5Dataset, Hdf5Error> {
    let builder = group.new_dataset::<T>().shape([0, columns]).max_shape(&[None, Some(columns)]);
    builder.chunk(&[CHUNK, columns]).shuffle_deflate(DEFLATE).create(name)
}

/// Level of compression: the fastest that compresses.
const DEFLATE: u32 = 1;
