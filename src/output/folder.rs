//! Folder of the results of one run.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::engine::Snapshot;
use crate::engine::convergence::Convergence;
use crate::error::Error;
use crate::observe::fabric::Fabric;
use crate::observe::layers::Layer;
use crate::observe::{Base, Column, FabricPlan, FieldPlan, LayerPlan, Observation, SurfacePlan};

use super::collection::{Collection, frame_number, is_index, number_in};
use super::convergence::Tables;
use super::lock::{FolderLock, Sharing};
use super::outline::DrawnRoom;
use super::shot::{Shot, ShotContent};
use super::summary::Summary;
use super::timeseries::TimeSeries;
use super::{Copies, Formats, KINDS};

/// Folder of the results of one run.
#[derive(Debug)]
pub struct ResultFolder {
    path: PathBuf,
    timeseries: Option<TimeSeries>,
    frames: Vec<Frames>,
    convergence: Tables,
    fabric: Option<FabricPlan>,
    layers: Option<LayerPlan>,
    /// Whether all frames of a kind are also written into one VTKHDF file at the end.
    has_vtkhdf: bool,
    /// Number of outputs, from the first on, whose frames are on the disk: a checkpoint relies on them.
    synced: usize,
    lock: FolderLock,
}

/// Results that a folder held at a checkpoint.
#[derive(Debug)]
pub struct Kept<'a> {
    /// Steps done at the checkpoint.
    pub step: u64,
    /// Observations, one per row of the time series; a frame was written with each.
    pub observations: &'a [Observation],
    /// Tables beside the time series.
    pub convergence: Tables,
}

/// Names of the tables that a run writes, and of its single files.
const TABLES: [&str; 7] = [
    "convergence.csv",
    "residual_histogram.csv",
    "fabric.csv",
    "force_distribution.csv",
    "rose.svg",
    "layers.csv",
    "layers.svg",
];
const SINGLE: [&str; 4] = ["scenario.toml", "timeseries.csv", "summary.json", super::columns::NAME];

/// Number of checkpoints that are kept: the last, and the one before in case the last is damaged.
const CHECKPOINTS: usize = 2;

/// Name of the folder of the pictures of a run, within the folder of its results.
pub const PICTURES: &str = "pictures";

/// Parts of a scenario that its folder of results needs.
#[derive(Debug, Clone, Copy)]
pub struct ScenarioRecord<'a> {
    /// Files that the scenario was read from, which no result may replace.
    pub inputs: &'a [PathBuf],
    /// The scenario with all defaults, as TOML, with the paths of the copies of its files.
    pub resolved: &'a str,
    /// Files to copy, and the names of their copies.
    pub files: &'a [(PathBuf, String)],
    /// Copies that other runs of the same study have made.
    pub copies: Option<&'a Copies>,
    /// Formats to write.
    pub formats: Formats,
    /// Boundaries of the scene; `None` where there are none.
    pub walls: Option<Walls>,
    /// The surface that is observed.
    pub surface: Option<&'a SurfacePlan>,
    /// The fields that are observed.
    pub fields: Option<&'a FieldPlan>,
    /// Whether grains may be polyhedra.
    pub has_polyhedra: bool,
    /// Whether there are bonds.
    pub has_bonds: bool,
    /// The fabric that is observed.
    pub fabric: Option<&'a FabricPlan>,
    /// The layers that are observed.
    pub layers: Option<&'a LayerPlan>,
}

/// Averages of a state, as the tables beside the time series need them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Averages {
    /// Fabric of the contacts.
    pub fabric: Option<Fabric>,
    /// Layers of the bed.
    pub layers: Option<Vec<Layer>>,
}

impl Averages {
    /// Averages of a state by these plans; stresses are means since the base.
    pub fn of(
        snapshot: &Snapshot,
        (fabric, layers): (Option<&FabricPlan>, Option<&LayerPlan>),
        base: Option<&Base>,
    ) -> Averages {
        Averages {
            fabric: fabric.map(|plan| Fabric::of(snapshot, plan)),
            layers: layers.map(|plan| plan.layers(snapshot, base)),
        }
    }
}

/// Boundaries of a scene, as their frames need them.
#[derive(Debug, Clone, Copy)]
pub struct Walls {
    /// Room as far as which planes are drawn.
    pub room: DrawnRoom,
    /// Whether some boundaries move; otherwise one frame shows them.
    pub move_about: bool,
}

/// Frames of a kind: one per output, at most `most`.
#[derive(Debug)]
struct Frames {
    collection: Collection,
    content: ShotContent,
    most: usize,
}

/// Contents of the frames of a run, each with its largest number of frames; below that number there is one frame per output.
fn contents(record: &ScenarioRecord<'_>) -> Vec<(ShotContent, usize)> {
    let walls = record.walls.map(|walls| {
        let most = if walls.move_about { usize::MAX } else { 1 };
        (ShotContent::Walls(walls.room), most)
    });
    let surface = record.surface.map(|plan| (ShotContent::Surface(plan.clone()), usize::MAX));
    let polyhedra = record.has_polyhedra.then_some((ShotContent::Polyhedra, usize::MAX));
    let bonds = record.has_bonds.then_some((ShotContent::Bonds, usize::MAX));
    let always = [(ShotContent::Grains, usize::MAX), (ShotContent::Contacts, usize::MAX)];
    let fields = record.fields.map(|plan| (ShotContent::Fields(plan.clone()), usize::MAX));
    let others = walls.into_iter().chain(surface).chain(polyhedra).chain(bonds).chain(fields);
    always.into_iter().chain(others).filter(|_| record.formats.vtp).collect()
}

/// Writes the files that exist from the start, with the outputs so far in the time series and the collections.
fn begin_files(
    path: &Path,
    record: &ScenarioRecord<'_>,
    columns: &[Column],
    observations: &[Observation],
) -> Result<(Option<TimeSeries>, Vec<Frames>), Error> {
    super::copies::keep(path, record.files, record.copies)?;
    super::atomic::write(&path.join("scenario.toml"), |out| out.write_all(record.resolved.as_bytes()))?;
    super::columns::write(path, columns, record.formats.csv, record.layers.is_some())?;
    let timeseries = match record.formats.csv {
        true => Some(TimeSeries::create(&path.join("timeseries.csv"), columns, observations)?),
        false => None,
    };
    let times: Vec<f64> = observations.iter().map(|observation| observation.time).collect();
    let frames = |(content, most): (ShotContent, usize)| {
        let shown = &times[..times.len().min(most)];
        let collection = Collection::with_frames(path, content.kind(), shown)?;
        Ok(Frames { collection, content, most })
    };
    let frames = contents(record).into_iter().map(frames).collect::<Result<_, Error>>()?;
    Ok((timeseries, frames))
}

impl ResultFolder {
    /// Makes the folder, removes the results of an earlier run from it and writes `scenario.toml`. Other files in it are left alone. The
    /// folder is locked unless `lock` is given.
    ///
    /// # Errors
    /// When the folder or a file in it cannot be written, another run writes into it, or a file that the scenario reads would
    /// be replaced.
    pub fn create(
        path: &Path,
        record: &ScenarioRecord<'_>,
        columns: &[Column],
        lock: Option<FolderLock>,
    ) -> Result<ResultFolder, Error> {
        check_inputs(path, record.inputs, Resumes::No)?;
        super::copies::check(path, record.files, record.inputs)?;
        let lock = lock.map_or_else(|| FolderLock::take(path, Sharing::Alone), Ok)?;
        super::atomic::remove_files(path, is_result).map_err(|error| lock.cause_of(error))?;
        let nothing = Kept { step: 0, observations: &[], convergence: Tables::default() };
        ResultFolder::fill(path, record, columns, nothing, lock)
    }

    /// Cuts the results of a run back to their state at a checkpoint, so that the run can go on from there.
    ///
    /// # Errors
    /// As [`ResultFolder::create`]; and when a frame from before the checkpoint is missing, and then nothing has been touched.
    pub fn reopen(
        path: &Path,
        record: &ScenarioRecord<'_>,
        columns: &[Column],
        kept: Kept<'_>,
        lock: Option<FolderLock>,
    ) -> Result<ResultFolder, Error> {
        check_inputs(path, record.inputs, Resumes::Yes)?;
        super::copies::check(path, record.files, record.inputs)?;
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
        super::atomic::remove_files(path, is_beyond).map_err(|error| folder.cause_of(error))?;
        Ok(folder)
    }

    /// Writes the files that exist from the start. Each file is replaced as a whole.
    fn fill(
        path: &Path,
        record: &ScenarioRecord<'_>,
        columns: &[Column],
        kept: Kept<'_>,
        lock: FolderLock,
    ) -> Result<ResultFolder, Error> {
        let (timeseries, frames) =
            begin_files(path, record, columns, kept.observations).map_err(|error| lock.cause_of(error))?;
        let folder = ResultFolder {
            path: path.to_owned(),
            timeseries,
            frames,
            convergence: kept.convergence,
            fabric: record.fabric.copied(),
            layers: record.layers.cloned(),
            has_vtkhdf: record.formats.vtkhdf,
            synced: kept.observations.len(),
            lock,
        };
        folder.write_convergence().map_err(|error| folder.cause_of(error))?;
        Ok(folder)
    }

    /// Refuses to go on where the folder is no longer at its path.
    ///
    /// # Errors
    /// [`Error::FolderGone`] when it was removed, renamed or replaced.
    pub fn check(&self) -> Result<(), Error> {
        self.lock.check_place()
    }

    /// Cause of an error: a file that could not be written may be one of a folder that has gone.
    pub fn cause_of(&self, error: Error) -> Error {
        self.lock.cause_of(error)
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Averages of a state that the tables of the folder need.
    pub fn needs(&self) -> (Option<&FabricPlan>, Option<&LayerPlan>) {
        (self.fabric.as_ref(), self.layers.as_ref())
    }

    /// Writes the results of an output in every format of the scenario: the observation and the averages of a state, and frames, each of
    /// which `take` [takes](Shot::take) of the same state.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn record(
        &mut self,
        observation: &Observation,
        averages: &Averages,
        take: &mut dyn FnMut(&Shot) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.check()?;
        if let Some(timeseries) = &mut self.timeseries {
            timeseries.append(observation)?;
        }
        let wanted = self.frames.iter_mut().filter(|frames| frames.collection.count() < frames.most);
        for Frames { collection, content, .. } in wanted {
            take(&Shot { content: content.clone(), path: collection.next_frame() })?;
            collection.add(observation.time)?;
        }
        let tables = &mut self.convergence;
        if let Some((plan, found)) = self.fabric.as_ref().zip(averages.fabric.as_ref()) {
            tables.add_fabric(observation.time, found, plan);
        }
        if let Some((plan, found)) = self.layers.as_ref().zip(averages.layers.as_ref()) {
            tables.add_layers(observation.time, found, plan);
        }
        if self.fabric.is_some() || self.layers.is_some() {
            self.write_convergence()?;
        }
        Ok(())
    }

    /// Writes the convergence of the sweeps of one more step.
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

    /// Tables beside the time series so far.
    pub fn convergence(&self) -> &Tables {
        &self.convergence
    }

    /// Brings the frames of the first `outputs` outputs to the disk, as far as that has not been done.
    ///
    /// # Errors
    /// When a frame cannot be brought there.
    pub fn sync(&mut self, outputs: usize) -> Result<(), Error> {
        self.frames.iter().try_for_each(|frames| frames.collection.sync_from(self.synced))?;
        self.synced = outputs;
        Ok(())
    }

    /// Path of the checkpoint after `step` steps.
    pub fn checkpoint(&self, step: u64) -> PathBuf {
        self.path.join(format!("checkpoint_{step:012}.esker"))
    }

    /// Removes all checkpoints but the last two.
    ///
    /// # Errors
    /// When a checkpoint cannot be removed.
    pub fn drop_old_checkpoints(&self) -> Result<(), Error> {
        let entries = fs::read_dir(&self.path).map_err(Error::file(&self.path))?.flatten();
        let mut steps: Vec<u64> =
            entries.filter_map(|entry| checkpoint_step(&entry.file_name().to_string_lossy())).collect();
        steps.sort_unstable();
        let last = steps.len().checked_sub(CHECKPOINTS).and_then(|first| steps.get(first)).copied();
        let is_old = |name: &str| checkpoint_step(name).zip(last).is_some_and(|(step, last)| step < last);
        super::atomic::remove_files(&self.path, is_old)
    }

    /// Writes all frames so far into one file for each kind, if the scenario asks for it.
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
    /// When the file cannot be written.
    pub fn finish(&self, summary: &Summary) -> Result<(), Error> {
        self.check()?;
        super::atomic::write(&self.path.join("summary.json"), |out| {
            serde_json::to_writer_pretty(&mut *out, summary)?;
            out.write_all(b"\n")
        })
    }
}

/// Checks that a folder exists or can be made, as far as that can be told without making it.
///
/// # Errors
/// When the folder, or the folder that it is to be made in, is a file.
pub fn check_folder(path: &Path) -> Result<(), Error> {
    match path.ancestors().find(|ancestor| ancestor.exists()) {
        Some(found) if !found.is_dir() => {
            let which = if found == path { "it".to_owned() } else { found.display().to_string() };
            let message = format!("{which} is a file, expected a folder: choose another --out");
            Err(Error::file(path)(io::Error::new(io::ErrorKind::NotADirectory, message)))
        }
        _ => Ok(()),
    }
}

/// Whether a run goes on from a checkpoint in the folder of its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumes {
    /// It does, and its scenario may be the one in the folder.
    Yes,
    /// It starts anew.
    No,
}

/// Refuses a folder in which the results of a run would replace one of the files that it reads.
///
/// # Errors
/// [`Error::InputAtRisk`], with the first such file.
pub fn check_inputs(folder: &Path, inputs: &[PathBuf], resumes: Resumes) -> Result<(), Error> {
    let is_written = |name: &str| match name {
        "scenario.toml" => resumes == Resumes::No,
        _ => is_result(name) || name == super::lock::NAME || super::atomic::is_temporary(name),
    };
    protect(folder, inputs, is_written)?;
    protect(&folder.join(PICTURES), inputs, is_picture)
}

/// Whether a file is named like a picture of a run, `picture_000012.png`.
pub fn is_picture(name: &str) -> bool {
    picture_number(name).is_some()
}

/// Number in the name of a picture.
pub fn picture_number(name: &str) -> Option<u64> {
    number_in(name, "picture_", ".png")
}

/// Steps done at a checkpoint, from the name of its file.
pub fn checkpoint_step(name: &str) -> Option<u64> {
    number_in(name, "checkpoint_", ".esker")
}

/// Refuses a folder that holds an input under a name that is to be written.
///
/// # Errors
/// [`Error::InputAtRisk`], with the first such file.
pub fn protect(folder: &Path, inputs: &[PathBuf], is_written: impl Fn(&str) -> bool) -> Result<(), Error> {
    // A folder that is yet to be made holds no inputs.
    let Ok(real_folder) = fs::canonicalize(folder) else { return Ok(()) };
    // Some file systems do not distinguish upper and lower case in names.
    let name_is_written = |place: &Path| {
        place.file_name().is_some_and(|name| is_written(&name.to_string_lossy().to_lowercase()))
    };
    let is_at_risk = |place: &PathBuf| place.parent() == Some(&real_folder) && name_is_written(place);
    match inputs.iter().find(|input| places_of(input).iter().any(is_at_risk)) {
        Some(input) => Err(Error::InputAtRisk { file: input.clone(), folder: folder.to_owned() }),
        None => Ok(()),
    }
}

/// Refuses to write a single file where it would replace an input.
///
/// # Errors
/// [`Error::InputAtRisk`], with the first such file.
pub fn protect_from(written: &Path, inputs: &[PathBuf]) -> Result<(), Error> {
    let (Some(folder), Some(name)) = (written.parent(), written.file_name()) else { return Ok(()) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    protect(folder, inputs, |other| name.to_string_lossy().to_lowercase() == other)
}

/// Places of a file: the path as given, and the target of the path if it is a link.
fn places_of(file: &Path) -> Vec<PathBuf> {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let named = absolute.parent().zip(absolute.file_name());
    let named = named.and_then(|(folder, name)| Some(fs::canonicalize(folder).ok()?.join(name)));
    named.into_iter().chain(fs::canonicalize(file)).collect()
}

/// Whether a run writes a file of this name.
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
            "fields_000003.vti",
            "fields.vti.series",
            "summary.json",
            "checkpoint_000000000200.esker",
        ];
        assert!(results.into_iter().all(is_result));
        let others = [
            "grains_.vtp",
            "grains_best.vtp",
            "grains_12.vtk",
            "grains_000012.vti",
            "fields.vtp.series",
            "notes.txt",
            "drum.toml",
            "x.pvd",
        ];
        assert!(!others.into_iter().any(is_result));
    }
}
