//! Checkpoints: files from which a run goes on as if it had never stopped, to the bit.
//!
//! ```text
//! esker checkpoint N                        what it is, and the number of the format
//! {"program":"0.1.0","engine":"cpu",...}    who saved it, and when: a line of JSON
//! ...                                       the scenario as resolved, the run, the engine (binary)
//! crc                                       CRC-32 of all that, 4 bytes
//! ```
//!
//! Checkpoints of another version of the program are refused, as they may hold other data. A checksum finds damage, not intent: what is
//! read is checked once more, where it is read, for indices, lengths and numbers. A checkpoint appears whole or not at all, and is
//! on the disk before the one before it is removed.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::contact::{Impulse, Key};
use crate::cpu::CpuEngine;
use crate::engine::{Engine, saved};
use crate::error::Error;
use crate::files;
use crate::model::World;
use crate::output::{atomic, checkpoint_step};

/// First line of a file, with the number of the format at its end.
const TITLE: &str = "esker checkpoint";
/// Number of the format, to be raised whenever the same state is saved as other bytes.
const FORMAT: u32 = 20;
/// Largest file that is read \[bytes\].
const LARGEST: u64 = 1 << 40;
/// Longest line of the header \[bytes\].
const LONGEST_HEADER: usize = 1 << 12;
/// Bytes of the checksum at the end.
const SUM: usize = 4;

/// Header of a checkpoint: who saved it, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the program.
    pub program: String,
    /// Engine: "gpu" or "cpu".
    pub engine: String,
    /// Simulated time \[s\].
    pub time: f64,
    /// Steps done.
    pub step: u64,
    /// Length of a substep \[s\].
    pub substep: f64,
}

/// Checkpoint that was read and is whole.
#[derive(Debug)]
pub struct Checkpoint {
    /// Path of the file.
    pub path: PathBuf,
    /// Header: who saved the checkpoint, and when.
    pub header: Header,
    /// The scenario with all defaults, as TOML.
    pub resolved: String,
    /// State of the run, as the run wrote it.
    pub run: Vec<u8>,
    /// All bytes of the file.
    bytes: Vec<u8>,
    /// Range of the engine's state in `bytes`.
    engine: Range<usize>,
}

/// World at a checkpoint, and the impulses of its contacts.
#[derive(Debug)]
pub struct SavedScene {
    /// Bodies, shapes and materials.
    pub world: World,
    /// Impulses of the contacts of the last step, by key.
    pub impulses: Vec<(Key, Impulse)>,
}

/// Writes a checkpoint: the state of an engine and of the run that drives it.
///
/// # Errors
/// When the state cannot be read back, or the file not be written.
pub fn write(
    path: &Path,
    header: &Header,
    resolved: &str,
    run: &[u8],
    engine: &mut dyn Engine,
) -> Result<(), Error> {
    let mut outcome = Ok(());
    let written = atomic::write_durably(path, |out| {
        let mut summed = Summed { out, sum: crc32fast::Hasher::new() };
        let mut buffer = BufWriter::with_capacity(1 << 16, &mut summed);
        outcome = write_content(&mut buffer, header, resolved, run, engine);
        buffer.flush()?;
        drop(buffer);
        let sum = summed.sum.finalize();
        out.write_all(&sum.to_le_bytes())?;
        outcome.as_ref().map_err(|error| io::Error::other(error.to_string())).copied()
    });
    match outcome {
        // Writing failed in this file, so the error names its path.
        Err(Error::File { source, .. }) => Err(Error::file(path)(source)),
        Err(error) => Err(error),
        Ok(()) => written,
    }
}

fn write_content(
    out: &mut dyn Write,
    header: &Header,
    resolved: &str,
    run: &[u8],
    engine: &mut dyn Engine,
) -> Result<(), Error> {
    let line = serde_json::to_string(header).map_err(|error| saved::foreign(&error.to_string()))?;
    writeln!(out, "{TITLE} {FORMAT}\n{line}").map_err(Error::file(TITLE))?;
    saved::write(out, resolved)?;
    saved::write(out, run)?;
    engine.save(out)
}

/// Writer that computes the checksum of all bytes written through it.
struct Summed<'a, 'f> {
    out: &'a mut BufWriter<&'f mut File>,
    sum: crc32fast::Hasher,
}

impl Write for Summed<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.sum.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reason why a run cannot go on from a file.
enum FileFault {
    /// The file is damaged: an earlier checkpoint may do.
    Damaged(String),
    /// Another program saved the file.
    Foreign(String),
}

impl Checkpoint {
    /// Reads a checkpoint, or from a folder of results the last one in it.
    ///
    /// # Errors
    /// [`Error::File`] when there is none, [`Error::Unusable`] when it is damaged or of another version.
    pub fn read(path: &Path) -> Result<Checkpoint, Error> {
        let file = match path.is_dir() {
            true => files_in(path)?.into_iter().next().ok_or_else(|| none_in(path))?,
            false => path.to_owned(),
        };
        let bytes = read_file(&file).map_err(Error::file(&file))?;
        parse(&file, bytes).map_err(|fault| fault.into_error(&file))
    }

    /// Returns the last checkpoint in a folder of results that is whole (`None` where there is none at all), and the errors of the later
    /// ones that are damaged.
    ///
    /// # Errors
    /// When all that are there are damaged, or one is of another version.
    pub fn latest(folder: &Path) -> Result<(Option<Checkpoint>, Vec<Error>), Error> {
        let mut damaged = Vec::new();
        for file in files_in(folder)? {
            // A failing disk does not return the bytes at all.
            let read = read_file(&file).map_err(|error| FileFault::Damaged(error.to_string()));
            match read.and_then(|bytes| parse(&file, bytes)) {
                Ok(checkpoint) => return Ok((Some(checkpoint), damaged)),
                Err(fault @ FileFault::Damaged(_)) => damaged.push(fault.into_error(&file)),
                Err(fault) => return Err(fault.into_error(&file)),
            }
        }
        if damaged.is_empty() { Ok((None, damaged)) } else { Err(damaged.swap_remove(0)) }
    }

    /// Returns path and header of the last checkpoint in a folder.
    pub fn last_header(folder: &Path) -> Option<(PathBuf, Header)> {
        let file = files_in(folder).ok()?.into_iter().next()?;
        let mut start = Vec::new();
        files::check_plain(&file).ok()?;
        File::open(&file).ok()?.take(LONGEST_HEADER as u64).read_to_end(&mut start).ok()?;
        let mut rest = start.as_slice();
        line(&mut rest)?;
        let header = serde_json::from_str(line(&mut rest)?).ok()?;
        Some((file, header))
    }

    /// Returns the world of the checkpoint and the impulses of its contacts.
    ///
    /// # Errors
    /// [`Error::NotBuilt`] where the GPU engine saved it and this library is built without it.
    pub fn scene(&self) -> Result<SavedScene, Error> {
        let (world, impulses) = match self.header.engine.as_str() {
            "cpu" => CpuEngine::saved_state(self.engine_state()),
            #[cfg(feature = "gpu")]
            "gpu" => crate::gpu::GpuEngine::saved_state(self.engine_state()),
            #[cfg(not(feature = "gpu"))]
            "gpu" => {
                Err(Error::NotBuilt { what: "the GPU engine, which saved the checkpoint,", feature: "gpu" })
            }
            other => Err(saved::foreign(&format!("of an engine \"{other}\""))),
        }
        .map_err(|error| self.error(error))?;
        Ok(SavedScene { world, impulses })
    }

    /// Makes an engine go on from the checkpoint.
    ///
    /// # Errors
    /// [`Error::Unusable`] when another kind of engine saved it, or when the state does not fit the device.
    pub fn restore(&self, engine: &mut dyn Engine) -> Result<(), Error> {
        let here = engine.identity().engine;
        if self.header.engine != here {
            let devices =
                if here == "cpu" { "--device gpu or software, as when it was saved" } else { "--device cpu" };
            let found =
                format!("was saved by the {} engine, and this is the {here} engine", self.header.engine);
            return Err(self.unusable(found, &format!("choose {devices}")));
        }
        engine.restore(self.engine_state()).map_err(|error| self.error(error))
    }

    fn engine_state(&self) -> &[u8] {
        &self.bytes[self.engine.clone()]
    }

    /// Error of a checkpoint that cannot be used here.
    pub fn unusable(&self, found: String, advice: &str) -> Error {
        Error::Unusable { origin: self.path.display().to_string(), found, advice: advice.to_owned() }
    }

    /// Adds the path of the checkpoint to an error.
    pub fn error(&self, error: Error) -> Error {
        match error {
            Error::Unusable { found, advice, .. } => self.unusable(found, &advice),
            other => other,
        }
    }
}

impl FileFault {
    fn into_error(self, file: &Path) -> Error {
        let (found, advice) = match self {
            FileFault::Damaged(found) => (found, "go on from an earlier one, or start anew"),
            FileFault::Foreign(found) => (found, "go on with the program that saved it, or start anew"),
        };
        Error::Unusable { origin: file.display().to_string(), found, advice: advice.to_owned() }
    }
}

fn read_file(file: &Path) -> io::Result<Vec<u8>> {
    files::check_plain(file)?;
    files::read_bytes(file, LARGEST)
}

/// Files of the checkpoints in a folder, the last first.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found: Vec<(u64, PathBuf)> = Vec::new();
    for entry in folder.read_dir().map_err(Error::file(folder))? {
        let path = entry.map_err(Error::file(folder))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let step = name.as_deref().and_then(checkpoint_step).filter(|_| !path.is_dir());
        found.extend(step.map(|step| (step, path)));
    }
    found.sort_unstable();
    Ok(found.into_iter().rev().map(|(_, path)| path).collect())
}

fn none_in(folder: &Path) -> Error {
    Error::Unusable {
        origin: folder.display().to_string(),
        found: "holds no checkpoint".to_owned(),
        advice: "expected a file checkpoint_*.esker, as a run with [checkpoint] leaves it".to_owned(),
    }
}

/// Parses a checkpoint from the bytes of a file. Every format has its title first and the checksum of all the rest last.
fn parse(path: &Path, bytes: Vec<u8>) -> Result<Checkpoint, FileFault> {
    let (content, sum) = bytes.split_at(bytes.len().saturating_sub(SUM));
    let mut rest = content;
    let title = line(&mut rest).and_then(|line| line.strip_prefix(TITLE)).map(str::trim);
    let format = title.ok_or_else(|| FileFault::Damaged("is no checkpoint of esker".to_owned()))?;
    if sum != crc32fast::hash(content).to_le_bytes() {
        return Err(FileFault::Damaged("is damaged: its checksum is another".to_owned()));
    }
    if format != FORMAT.to_string() {
        return Err(FileFault::Foreign(format!(
            "has format {format}, and this program reads format {FORMAT}"
        )));
    }
    let header: Header = line(&mut rest)
        .and_then(|line| serde_json::from_str(line).ok())
        .ok_or_else(|| FileFault::Foreign("has a header of another form".to_owned()))?;
    let program = env!("CARGO_PKG_VERSION");
    if header.program != program {
        return Err(FileFault::Foreign(format!(
            "was saved by esker {}, and this is {program}",
            header.program
        )));
    }
    let foreign = |error: Error| FileFault::Foreign(error.to_string());
    let resolved = saved::read(&mut rest).map_err(foreign)?;
    let run = saved::read(&mut rest).map_err(foreign)?;
    let engine = content.len() - rest.len()..content.len();
    Ok(Checkpoint { path: path.to_owned(), header, resolved, run, bytes, engine })
}

/// Takes a line from the beginning of `rest`.
fn line<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let end = rest.iter().take(LONGEST_HEADER).position(|&byte| byte == b'\n')?;
    let (line, after) = rest.split_at(end);
    *rest = &after[1..];
    std::str::from_utf8(line).ok()
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;
    use crate::law::pair::Material;
    use crate::model::{Boundary, Form, Grain, Materials, Surface};
    use crate::settings::Settings;

    fn engine() -> CpuEngine {
        let glass =
            Material { poisson_ratio: 0.25, friction: 0.4, rolling_resistance: 0.1, ..Material::glass() };
        let mut world = World::new(DVec3::new(0.0, 0.0, -10.0), Materials::new(vec![glass]));
        world.add_boundary(Boundary::floor(), [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 0)]);
        world.add_grains([Grain::at(DVec3::Z, 0.5, 0), Grain::at(2.0 * DVec3::Z, 0.25, 0)]);
        CpuEngine::new(world, Settings::default())
    }

    fn header() -> Header {
        let program = env!("CARGO_PKG_VERSION").to_owned();
        Header { program, engine: "cpu".into(), time: 0.5, step: 100, substep: 5e-3 }
    }

    /// When this fails, checkpoints have changed: raise [`FORMAT`], so that older ones are refused, and then this number.
    #[test]
    fn a_format_has_the_bytes_that_belong_to_its_number() {
        let mut bytes = Vec::new();
        engine().save(&mut bytes).expect("saved");
        assert_eq!((FORMAT, crc32fast::hash(&bytes)), (20, 43_708_503));
    }

    #[test]
    fn a_checkpoint_comes_back_whole_and_the_last_of_a_folder_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |step: u64| folder.path().join(format!("checkpoint_{step:012}.esker"));
        for step in [90, 100] {
            write(&file(step), &Header { step, ..header() }, "title = 1", &[1, 2], &mut engine())
                .expect("written");
        }
        std::fs::write(folder.path().join("checkpoint_x.esker"), "mine").expect("written");
        let found = Checkpoint::read(folder.path()).expect("the last");
        assert_eq!(
            (&found.path, &found.header, found.resolved.as_str()),
            (&file(100), &header(), "title = 1")
        );
        assert_eq!(found.run, [1, 2]);
        assert_eq!(found.scene().expect("a state").world, engine().snapshot().expect("a state").world);

        let mut damaged = std::fs::read(file(100)).expect("bytes");
        damaged.truncate(damaged.len() - 1);
        std::fs::write(file(100), &damaged).expect("written");
        let (found, told) = Checkpoint::latest(folder.path()).expect("the one before");
        assert_eq!((found.map(|found| found.header.step), told.len()), (Some(90), 1));
        std::fs::write(file(90), &damaged).expect("written");
        assert!(Checkpoint::latest(folder.path()).is_err(), "none is whole");
        let mut other = format!("esker checkpoint {}\n", FORMAT + 1).into_bytes();
        other.extend(crc32fast::hash(&other).to_le_bytes());
        std::fs::write(file(100), other).expect("written");
        let refusal = Checkpoint::latest(folder.path()).expect_err("another format").to_string();
        let told = format!("has format {}, and this program reads format {FORMAT}", FORMAT + 1);
        assert!(refusal.contains(&told), "{refusal}");
    }

    /// The error of a full disk is reported in the words of the system.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_state_that_cannot_be_written_leaves_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("none").join("checkpoint_000000000001.esker");
        let failure = write(&file, &header(), "", &[], &mut engine()).expect_err("no folder");
        assert!(failure.to_string().contains("there is no folder"), "{failure}");
        let mut full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("opened");
        let failure = saved::write(&mut full, &vec![0u64; 100]).expect_err("no room");
        assert!(failure.to_string().contains("No space left"), "{failure}");
    }
}
