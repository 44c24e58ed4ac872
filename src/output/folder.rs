//! The folder that the results of one run go to.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Formats;
use crate::engine::Snapshot;
use crate::engine::convergence::Convergence;
use crate::error::Error;
use crate::observe::{Column, FabricPlan, LayerPlan, Observation, SurfacePlan};

use super::collection::{Collection, frame_number, is_index, number_in};
use super::convergence::Tables;
use super::frames;
use super::lock::{FolderLock, Sharing};
use super::outline::Room;
use super::summary::Summary;
use super::timeseries::TimeSeries;
use super::vtp::PolyData;

/// The folder that the results of one run go to.
#[derive(Debug)]
pub struct ResultFolder {
    path: PathBuf,
    timeseries: Option<TimeSeries>,
    frames: Vec<Frames>,
    convergence: Tables,
    fabric: Option<FabricPlan>,
    layers: Option<LayerPlan>,
    /// Whether all frames of a kind come into one file at the end.
    has_vtkhdf: bool,
    /// Frames that a checkpoint relies on: they are on the disk.
    synced: usize,
    _lock: FolderLock,
}

/// What a folder held at a checkpoint.
#[derive(Debug)]
pub struct Kept<'a> {
    /// Steps done by then.
    pub step: u64,
    /// Rows of the time series; a frame was written with each.
    pub observations: &'a [Observation],
    /// How sweeps converged.
    pub convergence: Tables,
}

/// Names of what a run writes.
pub(super) const KINDS: [&str; 4] = ["grains", "contacts", "walls", "surface"];
const TABLES: [&str; 7] = [
    "convergence.csv",
    "residual_histogram.csv",
    "fabric.csv",
    "force_distribution.csv",
    "rose.svg",
    "layers.csv",
    "layers.svg",
];
const SINGLE: [&str; 3] = ["scenario.toml", "timeseries.csv", "summary.json"];

/// Checkpoints that are kept: the last, and one before it in case that is damaged.
const CHECKPOINTS: usize = 2;

/// Name of the folder of the pictures of a run, within that of its results.
pub const PICTURES: &str = "pictures";

/// What a folder of results keeps of the scenario.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Files that it was read from, which no result may replace.
    pub inputs: &'a [PathBuf],
    /// The scenario with all defaults, as TOML.
    pub resolved: &'a str,
    /// What to write.
    pub formats: Formats,
    /// The boundaries of the scene; none where there are none.
    pub walls: Option<Walls>,
    /// The surface that is observed.
    pub surface: Option<&'a SurfacePlan>,
    /// The fabric that is observed.
    pub fabric: Option<&'a FabricPlan>,
    /// The layers that are observed.
    pub layers: Option<&'a LayerPlan>,
}

/// Boundaries of a scene, as far as frames of them are concerned.
#[derive(Debug, Clone, Copy)]
pub struct Walls {
    /// As far as which planes go.
    pub room: Room,
    /// Whether some move; otherwise one frame shows them.
    pub move_about: bool,
}

/// Frames of a kind, after each output or after the first alone.
#[derive(Debug)]
struct Frames {
    collection: Collection,
    content: Content,
    most: usize,
}

/// What a frame shows.
#[derive(Debug)]
enum Content {
    Grains,
    Contacts,
    Walls(Room),
    Surface(SurfacePlan),
}

impl Content {
    /// Name of its kind of frames.
    fn kind(&self) -> &'static str {
        match self {
            Content::Grains => KINDS[0],
            Content::Contacts => KINDS[1],
            Content::Walls(_) => KINDS[2],
            Content::Surface(_) => KINDS[3],
        }
    }

    fn show(&self, snapshot: &Snapshot) -> PolyData {
        match self {
            Content::Grains => frames::grains(snapshot),
            Content::Contacts => frames::contacts(snapshot),
            Content::Walls(room) => frames::walls(snapshot, room),
            Content::Surface(plan) => frames::surface(snapshot, plan),
        }
    }
}

/// What the frames of a run show, and how many of each there are at most; otherwise there is one of each per output.
fn contents(record: &Record<'_>) -> Vec<(Content, usize)> {
    let walls = record.walls.map(|walls| {
        let most = if walls.move_about { usize::MAX } else { 1 };
        (Content::Walls(walls.room), most)
    });
    let surface = record.surface.map(|plan| (Content::Surface(plan.clone()), usize::MAX));
    let always = [(Content::Grains, usize::MAX), (Content::Contacts, usize::MAX)];
    always.into_iter().chain(walls).chain(surface).filter(|_| record.formats.vtp).collect()
}

impl ResultFolder {
    /// Makes the folder, removes the results of an earlier run from it and writes `scenario.toml`. Other
    /// files in it are left alone. Its lock is taken unless that was done.
    ///
    /// # Errors
    /// When the folder or a file in it cannot be written, another run writes into it, or a file that the scenario reads would
    /// be replaced.
    pub fn create(
        path: &Path,
        record: &Record<'_>,
        columns: &[Column],
        lock: Option<FolderLock>,
    ) -> Result<ResultFolder, Error> {
        check_inputs(path, record.inputs)?;
        let lock = lock.map_or_else(|| FolderLock::take(path, Sharing::Alone), Ok)?;
        super::atomic::remove_files(path, is_result)?;
        let nothing = Kept { step: 0, observations: &[], convergence: Tables::default() };
        ResultFolder::fill(path, record, columns, nothing, lock)
    }

    /// Cuts the results of a run back to what they were at a checkpoint, so that the run goes on from there.
    ///
    /// # Errors
    /// As [`ResultFolder::create`]; and when a frame from before the checkpoint is missing, and then nothing has been touched.
    pub fn reopen(
        path: &Path,
        record: &Record<'_>,
        columns: &[Column],
        kept: Kept<'_>,
        lock: Option<FolderLock>,
    ) -> Result<ResultFolder, Error> {
        check_inputs(path, record.inputs)?;
        let lock = lock.map_or_else(|| FolderLock::take(path, Sharing::Alone), Ok)?;
        let outputs = kept.observations.len();
        let counts: Vec<(&str, usize)> =
            contents(record).iter().map(|(content, most)| (content.kind(), outputs.min(*most))).collect();
        counts.iter().try_for_each(|&(kind, frames)| super::collection::check_frames(path, kind, frames))?;
        let frames_of =
            |kind: &str| counts.iter().find(|(other, _)| *other == kind).map_or(0, |&(_, frames)| frames);
        let (step, has_tables) = (kept.step, !kept.convergence.courses.is_empty());
        let folder = ResultFolder::fill(path, record, columns, kept, lock)?;
        let is_beyond = |name: &str| {
            let is_late = |kind: &&str| {
                frame_number(name, kind).is_some_and(|number| number >= frames_of(kind) as u64)
                    || is_index(name, kind) && frames_of(kind) == 0
            };
            KINDS.iter().any(is_late)
                || checkpoint_step(name).is_some_and(|other| other > step)
                || name == "summary.json"
                || super::vtkhdf::is_file(name)
                || TABLES.contains(&name) && !has_tables
        };
        super::atomic::remove_files(path, is_beyond)?;
        Ok(folder)
    }

    /// Writes what there is from the start. Each file is replaced as a whole.
    fn fill(
        path: &Path,
        record: &Record<'_>,
        columns: &[Column],
        kept: Kept<'_>,
        lock: FolderLock,
    ) -> Result<ResultFolder, Error> {
        super::atomic::write(&path.join("scenario.toml"), |out| out.write_all(record.resolved.as_bytes()))?;
        let Kept { observations, convergence, .. } = kept;
        let timeseries = match record.formats.csv {
            true => Some(TimeSeries::create(&path.join("timeseries.csv"), columns, observations)?),
            false => None,
        };
        let times: Vec<f64> = observations.iter().map(|observation| observation.time).collect();
        let frames = |(content, most): (Content, usize)| {
            let shown = &times[..times.len().min(most)];
            let collection = Collection::with_frames(path, content.kind(), shown)?;
            Ok(Frames { collection, content, most })
        };
        let frames = contents(record).into_iter().map(frames).collect::<Result<_, Error>>()?;
        let synced = times.len();
        let folder = ResultFolder {
            path: path.to_owned(),
            timeseries,
            frames,
            convergence,
            fabric: record.fabric.copied(),
            layers: record.layers.cloned(),
            has_vtkhdf: record.formats.vtkhdf,
            synced,
            _lock: lock,
        };
        folder.write_convergence()?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a state and its observation in every format of the scenario.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn record(&mut self, snapshot: &Snapshot, observation: &Observation) -> Result<(), Error> {
        if let Some(timeseries) = &mut self.timeseries {
            timeseries.append(observation)?;
        }
        let wanted = self.frames.iter_mut().filter(|frames| frames.collection.count() < frames.most);
        for Frames { collection, content, .. } in wanted {
            collection.add(observation.time, &content.show(snapshot))?;
        }
        if let Some(plan) = &self.fabric {
            self.convergence.add_fabric(snapshot, plan);
        }
        if let Some(plan) = &self.layers {
            self.convergence.add_layers(snapshot, plan);
        }
        if self.fabric.is_some() || self.layers.is_some() {
            self.write_convergence()?;
        }
        Ok(())
    }

    /// Writes how the sweeps of one more step converged.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn record_convergence(&mut self, found: &Convergence) -> Result<(), Error> {
        self.convergence.add(found).map_err(Error::file(&self.path))?;
        self.write_convergence()
    }

    fn write_convergence(&self) -> Result<(), Error> {
        let Tables { courses, histograms, fabric, layers } = &self.convergence;
        for (name, text) in
            TABLES.into_iter().zip([courses, histograms].into_iter().chain(fabric).chain(layers))
        {
            if !text.is_empty() {
                super::atomic::write(&self.path.join(name), |out| out.write_all(text.as_bytes()))?;
            }
        }
        Ok(())
    }

    /// How sweeps converged so far.
    pub fn convergence(&self) -> &Tables {
        &self.convergence
    }

    /// Brings the frames of the first outputs to the disk, as far as that has not been done.
    ///
    /// # Errors
    /// When one cannot be brought there.
    pub fn sync(&mut self, outputs: usize) -> Result<(), Error> {
        self.frames.iter().try_for_each(|frames| frames.collection.sync_from(self.synced))?;
        self.synced = outputs;
        Ok(())
    }

    /// Where the checkpoint after so many steps goes.
    pub fn checkpoint(&self, step: u64) -> PathBuf {
        self.path.join(format!("checkpoint_{step:012}.esker"))
    }

    /// Removes all checkpoints but the last two.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn drop_old_checkpoints(&self) -> Result<(), Error> {
        let entries = fs::read_dir(&self.path).map_err(Error::file(&self.path))?.flatten();
        let mut steps: Vec<u64> =
            entries.filter_map(|entry| checkpoint_step(&entry.file_name().to_string_lossy())).collect();
        steps.sort_unstable();
        let last = steps.len().checked_sub(CHECKPOINTS).and_then(|first| steps.get(first)).copied();
        let is_old = |name: &str| checkpoint_step(name).zip(last).is_some_and(|(step, last)| step < last);
        super::atomic::remove_files(&self.path, is_old)
    }

    /// Writes all frames so far into one file for each kind, where the scenario asks for it.
    ///
    /// # Errors
    /// When a frame cannot be read back or the file not be written.
    pub fn write_vtkhdf(&self) -> Result<(), Error> {
        match self.has_vtkhdf {
            true => super::vtkhdf::export(&self.path, &self.path).map(drop),
            false => Ok(()),
        }
    }

    /// Writes `summary.json`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(&self, summary: &Summary) -> Result<(), Error> {
        super::atomic::write(&self.path.join("summary.json"), |out| {
            serde_json::to_writer_pretty(&mut *out, summary)?;
            out.write_all(b"\n")
        })
    }
}

/// Whether a folder is there or can be made, as far as that can be told without making it.
///
/// # Errors
/// When it, or what it is to be made in, is a file.
pub fn check_folder(path: &Path) -> Result<(), Error> {
    match path.ancestors().find(|ancestor| ancestor.exists()) {
        Some(found) if !found.is_dir() => {
            let message = format!("{} is a file, expected a folder: choose another --out", found.display());
            Err(Error::file(path)(io::Error::new(io::ErrorKind::NotADirectory, message)))
        }
        _ => Ok(()),
    }
}

/// Refuses a folder in which the results of a run would replace one of the files that it reads.
///
/// # Errors
/// [`Error::InputAtRisk`], with the first such file.
pub fn check_inputs(folder: &Path, inputs: &[PathBuf]) -> Result<(), Error> {
    let is_written =
        |name: &str| is_result(name) || name == super::lock::NAME || super::atomic::is_temporary(name);
    protect(folder, inputs, is_written)?;
    protect(&folder.join(PICTURES), inputs, is_picture)
}

/// Whether a file is named like a picture of a run, `picture_000012.png`.
pub fn is_picture(name: &str) -> bool {
    picture_number(name).is_some()
}

/// The number in the name of a picture.
pub fn picture_number(name: &str) -> Option<u64> {
    number_in(name, "picture_", ".png")
}

/// Steps done at a checkpoint, by the name of its file.
pub fn checkpoint_step(name: &str) -> Option<u64> {
    number_in(name, "checkpoint_", ".esker")
}

/// Refuses a folder where files are read that have a name of those to be written.
///
/// # Errors
/// [`Error::InputAtRisk`], with the first such file.
pub fn protect(folder: &Path, inputs: &[PathBuf], is_written: impl Fn(&str) -> bool) -> Result<(), Error> {
    // A folder that is yet to be made holds no inputs.
    let Ok(real_folder) = fs::canonicalize(folder) else { return Ok(()) };
    // Some file systems do not tell names by their case.
    let name_is_written = |place: &Path| {
        place.file_name().is_some_and(|name| is_written(&name.to_string_lossy().to_lowercase()))
    };
    let is_at_risk = |place: &PathBuf| place.parent() == Some(&real_folder) && name_is_written(place);
    match inputs.iter().find(|input| places_of(input).iter().any(is_at_risk)) {
        Some(input) => Err(Error::InputAtRisk { file: input.clone(), folder: folder.to_owned() }),
        None => Ok(()),
    }
}

/// Refuses to write a single file where it would replace one that is read.
///
/// # Errors
/// [`Error::InputAtRisk`], with the first such file.
pub fn protect_from(written: &Path, inputs: &[PathBuf]) -> Result<(), Error> {
    let (Some(folder), Some(name)) = (written.parent(), written.file_name()) else { return Ok(()) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    protect(folder, inputs, |other| name.to_string_lossy().to_lowercase() == other)
}

/// Where a file is: under the name it was given, and where that leads if it is a link.
fn places_of(file: &Path) -> Vec<PathBuf> {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let named = absolute.parent().zip(absolute.file_name());
    let named = named.and_then(|(folder, name)| Some(fs::canonicalize(folder).ok()?.join(name)));
    named.into_iter().chain(fs::canonicalize(file)).collect()
}

/// Whether a file of this name is one that a run writes.
fn is_result(name: &str) -> bool {
    let is_frame = KINDS.iter().any(|kind| frame_number(name, kind).is_some() || is_index(name, kind));
    let is_one_of = |names: &[&str]| names.contains(&name);
    is_frame
        || super::vtkhdf::is_file(name)
        || checkpoint_step(name).is_some()
        || is_one_of(&TABLES)
        || is_one_of(&SINGLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_a_run_writes_are_taken_for_results() {
        let results = [
            "grains_000012.vtp",
            "contacts_1000000.vtp",
            "grains.pvd",
            "surface_000003.vtp",
            "summary.json",
            "checkpoint_000000000200.esker",
        ];
        assert!(results.into_iter().all(is_result));
        let others = ["grains_.vtp", "grains_best.vtp", "grains_12.vtk", "notes.txt", "drum.toml", "x.pvd"];
        assert!(!others.into_iter().any(is_result));
    }
}
