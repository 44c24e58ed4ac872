//! Frames of a run for other programs: the grains as a dump of LAMMPS, and grains and contacts as CSV.
//!
//! Both are made from the frames of a folder of results, one at a time; each file appears whole or not at all. Numbers have the digits of
//! the frames, from which they read back to the same bits.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::files::{LARGEST_TEXT, read_result};

use super::atomic;
use super::collection::read_series;
use super::vtp::{Array, PolyData, Values, VtpCells};

/// Columns that LAMMPS has names for, by the array of the frame. Quaternions of frames are x, y, z, w.
const COLUMNS: [(&str, &[&str]); 4] = [
    ("velocity", &["vx", "vy", "vz"]),
    ("angular_velocity", &["omegax", "omegay", "omegaz"]),
    ("contact_force", &["fx", "fy", "fz"]),
    ("orientation", &["quati", "quatj", "quatk", "quatw"]),
];
/// Arrays that have a column in front: ids, materials, clumps and radii.
const LEADING: [&str; 4] = ["id", "material", "clump", "radius"];

/// What the head of a frame needs of the scenario of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
struct DumpedScene {
    /// Time step \[s\].
    time_step: f64,
    /// Lower and upper end of the cell along periodic axes \[m\].
    periodic: [Option<[f64; 2]>; 3],
}

impl DumpedScene {
    /// Reads it from the scenario with all defaults in a folder of results.
    fn of(results: &Path) -> Result<DumpedScene, Error> {
        let path = results.join("scenario.toml");
        let text = read_result(&path, LARGEST_TEXT).map_err(Error::file(&path))?;
        let unusable = |found: String| Error::Unusable {
            origin: path.display().to_string(),
            found,
            advice: "expected the scenario that `esker run` wrote beside its frames".to_owned(),
        };
        let scenario: toml::Table = toml::from_str(&text)
            .map_err(|error| unusable(format!("is no scenario: {}", error.message())))?;
        let time_step = scenario.get("solver").and_then(|solver| solver.get("time_step")).and_then(number);
        let time_step =
            time_step.filter(|step| *step > 0.0).ok_or_else(|| unusable("has no solver.time_step".into()))?;
        let ends = |axis: &str| {
            let ends = scenario.get("periodic")?.get(axis)?.as_array()?;
            Some([ends.first().and_then(number)?, ends.get(1).and_then(number)?])
        };
        Ok(DumpedScene { time_step, periodic: ["x", "y", "z"].map(ends) })
    }
}

fn number(value: &toml::Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

/// Writes the grains of all frames of a folder of results into `grains.dump`, in SI units; returns the path and the number of frames.
///
/// An atom is a sphere. Its `id` counts from 1, where grains are single spheres as that of the frames plus 1; its `type` is the number of
/// its material in the scenario, from 1 on; spheres of one clump have the same `id_multisphere`, as in dumps of LIGGGHTS.
///
/// # Errors
/// [`Error::Unusable`] when there are no frames, or one is of another form; [`Error::File`] when one cannot be read or the file not be
/// written: an earlier file is then unchanged.
pub fn export(results: &Path, folder: &Path) -> Result<(PathBuf, usize), Error> {
    let scene = DumpedScene::of(results)?;
    let series = read_series(results, "grains")?;
    let path = folder.join("grains.dump");
    write_whole(&path, &series, |out, frame, time, is_first| {
        // LAMMPS names the units once; OVITO ends at a frame that names them again.
        if is_first {
            out.write_all(b"ITEM: UNITS\nsi\n")?;
        }
        write_frame(out, frame, time, &scene)
    })?;
    Ok((path, series.len()))
}

fn write_frame(out: &mut dyn Write, frame: &PolyData, time: f64, scene: &DumpedScene) -> io::Result<()> {
    let step = (time / scene.time_step).round();
    write!(out, "ITEM: TIME\n{time}\nITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n")?;
    let flags = scene.periodic.map(|ends| if ends.is_some() { "pp" } else { "ss" });
    writeln!(out, "{}\nITEM: BOX BOUNDS {}", frame.points.len(), flags.join(" "))?;
    let [ids, materials, clumps, radii] =
        LEADING.map(|name| frame.point_data.iter().find(|array| array.name == name));
    let value = |array: Option<&Array>, point: usize| array.map_or(0.0, |array| array.component(point, 0));
    for axis in 0..3 {
        let around = || {
            let none = [f64::INFINITY, f64::NEG_INFINITY];
            let [low, high] = frame.points.iter().enumerate().fold(none, |[low, high], (point, place)| {
                let radius = value(radii, point);
                [low.min(place[axis] - radius), high.max(place[axis] + radius)]
            });
            if low < high { [low, high] } else { [0.0, 1.0] }
        };
        let [low, high] = scene.periodic[axis].unwrap_or_else(around);
        writeln!(out, "{low} {high}")?;
    }
    let others: Vec<&Array> =
        frame.point_data.iter().filter(|array| !LEADING.contains(&array.name.as_ref())).collect();
    let of_clumps = clumps.is_some().then_some("id_multisphere");
    let titles: Vec<String> = ["id", "type"]
        .into_iter()
        .chain(of_clumps)
        .chain(["x", "y", "z", "radius"])
        .map(str::to_owned)
        .chain(others.iter().flat_map(|array| names(array, dump_name)))
        .collect();
    writeln!(out, "ITEM: ATOMS {}", titles.join(" "))?;
    for (point, place) in frame.points.iter().enumerate() {
        let grain = value(ids, point) + 1.0;
        let id = if clumps.is_some() { point as f64 + 1.0 } else { grain };
        let clump = clumps.map(|clump| if clump.component(point, 0) < 0.0 { -1.0 } else { grain });
        let leading = [id, value(materials, point) + 1.0].into_iter().chain(clump);
        let mut row: Vec<String> = leading.chain(*place).map(|value| value.to_string()).collect();
        row.extend(radii.iter().chain(&others).flat_map(|array| values(array, point)));
        writeln!(out, "{}", row.join(" "))?;
    }
    Ok(())
}

/// Writes all frames of grains and contacts of a folder of results into `grains.csv` and `contacts.csv`; returns their paths and numbers
/// of frames. A row is a sphere, or a contact with the two ends of its line; the first column is the time \[s\], and all others are in
/// the units of the frames.
///
/// # Errors
/// As [`export`].
pub fn export_csv(results: &Path, folder: &Path) -> Result<Vec<(PathBuf, usize)>, Error> {
    let one = |kind: &str| {
        let series = read_series(results, kind)?;
        let path = folder.join(format!("{kind}.csv"));
        write_whole(&path, &series, |out, frame, time, is_first| write_table(out, frame, time, is_first))?;
        Ok((path, series.len()))
    };
    ["grains", "contacts"].into_iter().map(one).collect()
}

/// Writes a file from frames, each given by its file and its time \[s\], one after the other; `write` is told which is the first.
fn write_whole(
    path: &Path,
    series: &[(PathBuf, f64)],
    mut write: impl FnMut(&mut dyn Write, &PolyData, f64, bool) -> io::Result<()>,
) -> Result<(), Error> {
    let mut broken = None;
    let written = atomic::write(path, |out| {
        for (index, (frame, time)) in series.iter().enumerate() {
            match PolyData::read(frame) {
                Ok(frame) => write(out, &frame, *time, index == 0)?,
                Err(error) => {
                    broken = Some(error);
                    return Err(io::Error::other("a frame cannot be read"));
                }
            }
        }
        Ok(())
    });
    broken.map_or(written, Err)
}

fn write_table(out: &mut dyn Write, frame: &PolyData, time: f64, is_first: bool) -> io::Result<()> {
    let ends = frame.cells.points_per_cell();
    let data = if frame.cells == VtpCells::Vertices { &frame.point_data } else { &frame.cell_data };
    let mut rows = csv::Writer::from_writer(out);
    if is_first {
        let places = (0..ends).flat_map(|end| {
            let of_end = if ends == 1 { String::new() } else { format!("_{}", ["a", "b"][end % 2]) };
            ["x", "y", "z"].map(|axis| format!("{axis}{of_end}"))
        });
        let of_data = data.iter().flat_map(|array| names(array, csv_name));
        let titles: Vec<String> = std::iter::once("time".to_owned()).chain(places).chain(of_data).collect();
        rows.write_record(titles)?;
    }
    for (item, places) in frame.points.chunks_exact(ends).enumerate() {
        let numbers = std::iter::once(time).chain(places.iter().flatten().copied());
        let of_data = data.iter().flat_map(|array| values(array, item));
        let row: Vec<String> = numbers.map(|number| number.to_string()).chain(of_data).collect();
        rows.write_record(row)?;
    }
    rows.flush()
}

/// Names of the columns of an array, each made from its name and the number of the component.
fn names(array: &Array, name: fn(&str, usize, usize) -> String) -> Vec<String> {
    let of = |component| match array.components {
        1 => array.name.to_string(),
        components => name(&array.name, component, components),
    };
    (0..array.components).map(of).collect()
}

fn dump_name(array: &str, component: usize, components: usize) -> String {
    let known = COLUMNS.iter().find(|(name, titles)| *name == array && titles.len() == components);
    match known {
        Some((_, titles)) => titles[component].to_owned(),
        None => format!("{array}[{}]", component + 1),
    }
}

fn csv_name(array: &str, component: usize, components: usize) -> String {
    const AXES: [&str; 4] = ["x", "y", "z", "w"];
    match components {
        3 | 4 => format!("{array}_{}", AXES[component]),
        9 => format!("{array}_{}{}", AXES[component / 3], AXES[component % 3]),
        2 => format!("{array}_{}", ["a", "b"][component]),
        _ => format!("{array}_{component}"),
    }
}

/// Values of an array at a point or cell, with the digits of their type.
fn values(array: &Array, item: usize) -> impl Iterator<Item = String> + '_ {
    let text = move |place: usize| match &array.values {
        Values::Float32(values) => values[place].to_string(),
        Values::Float64(values) => values[place].to_string(),
        Values::Int32(values) => values[place].to_string(),
    };
    let first = item * array.components;
    (first..first + array.components).map(text)
}
