//! Collections of frames over time, with the two indices by which ParaView opens them: `.vtp.series` (`.vti.series` of
//! fields) and `.pvd`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, printable};
use crate::files::read_result;

use super::{FIELDS, atomic};

/// Largest index that is read \[bytes\]: an index of a million frames is smaller.
const LARGEST_INDEX: u64 = 256 << 20;

/// Frames of one kind. At any time the indices name every frame that is complete.
#[derive(Debug)]
pub struct Collection {
    folder: PathBuf,
    kind: &'static str,
    frames: Vec<ListedFrame>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ListedFrame {
    name: String,
    time: f64,
}

#[derive(Serialize)]
struct FrameList<'a> {
    #[serde(rename = "file-series-version")]
    version: &'static str,
    files: &'a [ListedFrame],
}

/// The part of an index that is read back.
#[derive(Deserialize)]
struct Index {
    files: Vec<ListedFrame>,
}

/// Whether a run left frames of a kind in a folder.
pub fn has_series(folder: &Path, kind: &str) -> bool {
    folder.join(format!("{kind}.vtp.series")).exists()
}

/// Path and time \[s\] of every frame of a kind that a run left in a folder.
///
/// # Errors
/// [`Error::Unusable`] when there is no index of such frames, or the index is a file of another form.
pub fn read_series(folder: &Path, kind: &str) -> Result<Vec<(PathBuf, f64)>, Error> {
    let path = folder.join(format!("{kind}.vtp.series"));
    let unusable = |found: String| Error::Unusable {
        origin: folder.display().to_string(),
        found,
        advice: "expected the folder that `esker run` wrote, with \"vtp\" among `output.formats`".to_owned(),
    };
    let text = read_result(&path, LARGEST_INDEX).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => unusable(format!("holds no frames: there is no {kind}.vtp.series")),
        _ => Error::file(&path)(error),
    })?;
    let index: Index = serde_json::from_str(&text)
        .map_err(|error| unusable(format!("{kind}.vtp.series is not an index of frames: {error}")))?;
    // A name that leads out of the folder is no frame of this run.
    let is_plain = |name: &str| Path::new(name).file_name().is_some_and(|last| last == name);
    if let Some(other) = index.files.iter().find(|frame| !is_plain(&frame.name)) {
        return Err(unusable(format!(
            "{kind}.vtp.series names \"{}\", which is no file of this folder",
            printable(&other.name)
        )));
    }
    Ok(index.files.into_iter().map(|frame| (folder.join(frame.name), frame.time)).collect())
}

impl Collection {
    /// Makes a collection whose first frames, at these times \[s\], exist already; `kind` starts the names of its files.
    ///
    /// # Errors
    /// When an index cannot be written.
    pub fn with_frames(folder: &Path, kind: &'static str, times: &[f64]) -> Result<Collection, Error> {
        let name = |(i, &time): (usize, &f64)| ListedFrame { name: frame_name(kind, i), time };
        let frames: Vec<ListedFrame> = times.iter().enumerate().map(name).collect();
        let collection = Collection { folder: folder.to_owned(), kind, frames };
        if !times.is_empty() {
            collection.write_indices()?;
        }
        Ok(collection)
    }

    /// Brings the frames from number `first` on to the disk.
    ///
    /// # Errors
    /// When a frame cannot be brought there.
    pub fn sync_from(&self, first: usize) -> Result<(), Error> {
        let frames = self.frames.iter().skip(first);
        frames.map(|frame| self.folder.join(&frame.name)).try_for_each(|path| atomic::sync(&path))
    }

    /// Number of frames.
    pub fn count(&self) -> usize {
        self.frames.len()
    }

    /// Path of the next frame, `<kind>_000012.vtp`.
    pub fn next_frame(&self) -> PathBuf {
        self.folder.join(frame_name(self.kind, self.frames.len()))
    }

    /// Adds the next frame, which is written, to the indices.
    ///
    /// # Errors
    /// When an index cannot be written.
    pub fn add(&mut self, time: f64) -> Result<(), Error> {
        let name = frame_name(self.kind, self.frames.len());
        self.frames.push(ListedFrame { name, time });
        self.write_indices()
    }

    fn write_indices(&self) -> Result<(), Error> {
        atomic::write(&self.index(&format!("{}.series", extension(self.kind))), |out| {
            self.write_series(out)
        })?;
        atomic::write(&self.index("pvd"), |out| self.write_pvd(out))
    }

    fn index(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.kind))
    }

    fn write_series(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &FrameList { version: "1.0", files: &self.frames })?;
        writeln!(out)
    }

    fn write_pvd(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, r#"<?xml version="1.0"?>"#)?;
        writeln!(out, r#"<VTKFile type="Collection" version="0.1">"#)?;
        writeln!(out, "  <Collection>")?;
        for ListedFrame { name, time } in &self.frames {
            writeln!(out, r#"    <DataSet timestep="{time}" part="0" file="{name}"/>"#)?;
        }
        writeln!(out, "  </Collection>")?;
        writeln!(out, "</VTKFile>")
    }
}

/// Checks that the first `count` frames of a kind exist.
///
/// # Errors
/// [`Error::Unusable`] with the first frame that is missing or empty.
pub(super) fn check_frames(folder: &Path, kind: &str, count: usize) -> Result<(), Error> {
    let mut paths = (0..count).map(|i| folder.join(frame_name(kind, i)));
    let is_there = |path: &PathBuf| path.metadata().is_ok_and(|file| file.is_file() && file.len() > 0);
    match paths.find(|path| !is_there(path)) {
        Some(path) => Err(Error::Unusable {
            origin: path.display().to_string(),
            found: "was written before the checkpoint, and is missing or empty".to_owned(),
            advice: "put it back, or start anew without --resume".to_owned(),
        }),
        None => Ok(()),
    }
}

/// Whether a file of this name is an index of frames of this kind.
pub(super) fn is_index(name: &str, kind: &str) -> bool {
    let is_series = |rest: &str| {
        rest.strip_prefix('.').and_then(|rest| rest.strip_suffix(".series")) == Some(extension(kind))
    };
    name.strip_prefix(kind).is_some_and(|rest| is_series(rest) || rest == ".pvd")
}

/// Extension of the frames of a kind.
fn extension(kind: &str) -> &'static str {
    if kind == FIELDS { "vti" } else { "vtp" }
}

/// Name of a frame: `grains_000012.vtp`.
fn frame_name(kind: &str, number: usize) -> String {
    format!("{kind}_{number:06}.{}", extension(kind))
}

/// Number in the name of a frame of this kind.
pub(super) fn frame_number(name: &str, kind: &str) -> Option<u64> {
    number_in(name, &format!("{kind}_"), &format!(".{}", extension(kind)))
}

/// Number between the given start and end of a name.
pub(super) fn number_in(name: &str, start: &str, end: &str) -> Option<u64> {
    let number = name.strip_prefix(start)?.strip_suffix(end)?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse().ok().filter(|_| is_number)
}
