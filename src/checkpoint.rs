//! Checkpoints: files from which a run goes on as if it had never stopped, to the bit.
//!
//! ```text
//! esker checkpoint 1                        what it is, and the number of the format
//! {"program":"0.1.0","engine":"cpu",...}    who saved it, and when: a line of JSON
//! ...                                       the scenario as resolved, the run, the engine (binary)
//! crc                                       CRC-32 of all that, 4 bytes
//! ```
//!
//! Another version of the program may keep other things: its checkpoints are refused. A checkpoint appears whole or not at all,
//! and is on the disk before the one before it goes.

use std::io::{self, Write};
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
/// Number of the format: to be raised whenever the same state comes to other bytes.
const FORMAT: u32 = 1;
/// Largest file that is read \[bytes\].
const LARGEST: u64 = 1 << 40;
/// Bytes of the sum at the end.
const SUM: usize = 4;

/// Who saved a checkpoint, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the program.
    pub program: String,
    /// "gpu" or "cpu".
    pub engine: String,
    /// Simulated time \[s\].
    pub time: f64,
    /// Steps done.
    pub step: u64,
    /// Length of a substep \[s\].
    pub substep: f64,
}

/// A checkpoint, read and whole.
#[derive(Debug)]
pub struct Checkpoint {
    /// Where it was read.
    pub path: PathBuf,
    /// Who saved it, and when.
    pub header: Header,
    /// The scenario with all defaults, as TOML.
    pub resolved: String,
    /// State of the run, as it wrote it.
    pub run: Vec<u8>,
    /// State of the engine, as it wrote it.
    pub engine: Vec<u8>,
}

/// The grains of a state and what their contacts carry.
#[derive(Debug)]
pub struct Settled {
    /// Bodies, shapes and materials.
    pub world: World,
    /// Contacts of the last step, by key.
    pub impulses: Vec<(Key, Impulse)>,
}

/// Writes the state of an engine and of what runs it.
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
    let mut failure = None;
    let written = atomic::write_durably(path, |out| {
        let mut out = Summed { out, sum: crc32fast::Hasher::new(), failure: None };
        let mut content = |out: &mut Summed<'_>| {
            let line = serde_json::to_string(header).map_err(|error| saved::foreign(&error.to_string()))?;
            writeln!(out, "{TITLE} {FORMAT}\n{line}").map_err(Error::file(path))?;
            saved::write(out, resolved)?;
            saved::write(out, run)?;
            engine.save(out)
        };
        failure = content(&mut out).err();
        if let Some(error) = out.failure {
            return Err(error);
        }
        out.out.write_all(&out.sum.finalize().to_le_bytes())?;
        if failure.is_some() { Err(io::Error::other("the state cannot be saved")) } else { Ok(()) }
    });
    match (written, failure) {
        (Err(_), Some(error @ (Error::DeviceLost { .. } | Error::NoState { .. }))) => Err(error),
        (written, _) => written,
    }
}

/// A writer that sums up what goes through it, and keeps the words of the system where it fails.
struct Summed<'a> {
    out: &'a mut dyn Write,
    sum: crc32fast::Hasher,
    failure: Option<io::Error>,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.out.write(bytes) {
            Ok(count) => {
                self.sum.update(&bytes[..count]);
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let kind = error.kind();
                self.failure = Some(error);
                Err(kind.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Why a file is no checkpoint to go on from.
enum Fault {
    /// It is damaged: an earlier one may do.
    Damaged(String),
    /// Another program saved it.
    Foreign(String),
}

impl Checkpoint {
    /// Reads a checkpoint; of a folder of results, the last one in it.
    ///
    /// # Errors
    /// [`Error::File`] when there is none, [`Error::Unusable`] when it is damaged or of another version.
    pub fn read(path: &Path) -> Result<Checkpoint, Error> {
        let file = match path.is_dir() {
            true => files_in(path)?.into_iter().next().ok_or_else(|| none_in(path))?,
            false => path.to_owned(),
        };
        read_file(&file)?.map_err(|fault| fault.into_error(&file))
    }

    /// The last checkpoint in a folder of results that is whole, `None` where there is none at all; and why later ones are not taken.
    ///
    /// # Errors
    /// When all that are there are damaged, or one is of another version.
    pub fn latest(folder: &Path) -> Result<(Option<Checkpoint>, Vec<Error>), Error> {
        let mut damaged = Vec::new();
        for file in files_in(folder)? {
            match read_file(&file)? {
                Ok(checkpoint) => return Ok((Some(checkpoint), damaged)),
                Err(fault @ Fault::Damaged(_)) => damaged.push(fault.into_error(&file)),
                Err(fault) => return Err(fault.into_error(&file)),
            }
        }
        if damaged.is_empty() { Ok((None, damaged)) } else { Err(damaged.swap_remove(0)) }
    }

    /// The state of the world that it holds, and what contacts carry.
    ///
    /// # Errors
    /// [`Error::NotBuilt`] where the GPU engine saved it and this library is built without it.
    pub fn settled(&self) -> Result<Settled, Error> {
        let (world, impulses) = match self.header.engine.as_str() {
            "cpu" => CpuEngine::saved_state(&self.engine),
            #[cfg(feature = "gpu")]
            "gpu" => crate::gpu::GpuEngine::saved_state(&self.engine),
            #[cfg(not(feature = "gpu"))]
            "gpu" => {
                Err(Error::NotBuilt { what: "the GPU engine, which saved the checkpoint,", feature: "gpu" })
            }
            other => Err(saved::foreign(&format!("of an engine \"{other}\""))),
        }
        .map_err(|error| self.error(error))?;
        Ok(Settled { world, impulses })
    }

    /// Has an engine go on from it.
    ///
    /// # Errors
    /// [`Error::Unusable`] when another kind of engine saved it, or when the state does not fit the device.
    pub fn restore(&self, engine: &mut dyn Engine) -> Result<(), Error> {
        let here = engine.identity().engine;
        if self.header.engine != here {
            return Err(Error::Unusable {
                origin: self.path.display().to_string(),
                found: format!(
                    "was saved by the {} engine, and this is the {here} engine",
                    self.header.engine
                ),
                advice: format!("choose --device {}", self.header.engine),
            });
        }
        engine.restore(&self.engine).map_err(|error| self.error(error))
    }

    /// An error with the file that it is about.
    pub fn error(&self, error: Error) -> Error {
        match error {
            Error::Unusable { found, advice, .. } => {
                Error::Unusable { origin: self.path.display().to_string(), found, advice }
            }
            other => other,
        }
    }
}

impl Fault {
    fn into_error(self, file: &Path) -> Error {
        let (found, advice) = match self {
            Fault::Damaged(found) => (found, "remove it, and go on from an earlier one or start anew"),
            Fault::Foreign(found) => (found, "go on with the program that saved it, or start anew"),
        };
        Error::Unusable { origin: file.display().to_string(), found, advice: advice.to_owned() }
    }
}

/// Checkpoints in a folder, the last first.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found: Vec<(u64, PathBuf)> = Vec::new();
    for entry in folder.read_dir().map_err(Error::file(folder))? {
        let path = entry.map_err(Error::file(folder))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        found.extend(name.as_deref().and_then(checkpoint_step).map(|step| (step, path)));
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

fn read_file(path: &Path) -> Result<Result<Checkpoint, Fault>, Error> {
    let bytes = files::read_bytes(path, LARGEST).map_err(Error::file(path))?;
    Ok(parse(path, &bytes))
}

/// The checkpoint in these bytes.
fn parse(path: &Path, bytes: &[u8]) -> Result<Checkpoint, Fault> {
    let mut rest = bytes;
    let title = line(&mut rest).and_then(|line| line.strip_prefix(TITLE)).map(str::trim);
    let format = title.ok_or_else(|| Fault::Damaged("is no checkpoint of esker".to_owned()))?;
    if format != FORMAT.to_string() {
        return Err(Fault::Foreign(format!("has format {format}, and this program reads format {FORMAT}")));
    }
    let header: Header = line(&mut rest)
        .and_then(|line| serde_json::from_str(line).ok())
        .ok_or_else(|| Fault::Damaged("has no header that can be read".to_owned()))?;
    let program = env!("CARGO_PKG_VERSION");
    if header.program != program {
        return Err(Fault::Foreign(format!("was saved by esker {}, and this is {program}", header.program)));
    }
    let (content, sum) = bytes.split_at(bytes.len().saturating_sub(SUM));
    if sum != crc32fast::hash(content).to_le_bytes() {
        return Err(Fault::Damaged("is damaged: its checksum is another".to_owned()));
    }
    let mut rest = &rest[..rest.len() - SUM];
    let damaged = |error: Error| Fault::Damaged(error.to_string());
    let resolved = saved::read(&mut rest).map_err(damaged)?;
    let run = saved::read(&mut rest).map_err(damaged)?;
    Ok(Checkpoint { path: path.to_owned(), header, resolved, run, engine: rest.to_vec() })
}

/// Takes a line from the beginning.
fn line<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let end = rest.iter().take(1 << 12).position(|&byte| byte == b'\n')?;
    let (line, after) = rest.split_at(end);
    *rest = &after[1..];
    std::str::from_utf8(line).ok()
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;
    use crate::cpu::Order;
    use crate::model::{Boundary, Form, Grain, Material, Materials, Motion, Surface};
    use crate::settings::Settings;

    fn engine() -> CpuEngine {
        let glass = Material {
            name: "glass".into(),
            density: 2500.0,
            youngs_modulus: 1e7,
            poisson_ratio: 0.25,
            restitution: 0.5,
            friction: 0.4,
            rolling_resistance: 0.1,
            damping: 0.0,
        };
        let mut world = World::new(DVec3::new(0.0, 0.0, -10.0), Materials::new(vec![glass]));
        let floor = Boundary {
            name: "floor".into(),
            position: DVec3::ZERO,
            orientation: DQuat::IDENTITY,
            motion: Motion::Fixed,
        };
        world.add_boundary(floor, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 0)]);
        world.add_grains([Grain::at(DVec3::Z, 0.5, 0), Grain::at(2.0 * DVec3::Z, 0.25, 0)]);
        CpuEngine::new(world, Settings::default(), Order::Coloured)
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
        assert_eq!((FORMAT, crc32fast::hash(&bytes)), (1, 3_497_320_310));
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
        assert_eq!(found.settled().expect("a state").world, engine().snapshot().expect("a state").world);

        let mut damaged = std::fs::read(file(100)).expect("bytes");
        damaged.truncate(damaged.len() - 1);
        std::fs::write(file(100), &damaged).expect("written");
        let (found, told) = Checkpoint::latest(folder.path()).expect("the one before");
        assert_eq!((found.map(|found| found.header.step), told.len()), (Some(90), 1));
        std::fs::write(file(90), &damaged).expect("written");
        assert!(Checkpoint::latest(folder.path()).is_err(), "none is whole");
        let other = String::from_utf8_lossy(&damaged).replacen("checkpoint 1\n", "checkpoint 7\n", 1);
        std::fs::write(file(100), other).expect("written");
        let refusal = Checkpoint::latest(folder.path()).expect_err("another format").to_string();
        assert!(refusal.contains("has format 7, and this program reads format 1"), "{refusal}");
    }

    /// A full disk is told in the words of the system.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_state_that_cannot_be_written_leaves_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("none").join("checkpoint_000000000001.esker");
        let failure = write(&file, &header(), "", &[], &mut engine()).expect_err("no folder");
        assert!(failure.to_string().contains("No such file"), "{failure}");
        let mut full = Summed {
            out: &mut std::fs::OpenOptions::new().write(true).open("/dev/full").expect("opened"),
            sum: crc32fast::Hasher::new(),
            failure: None,
        };
        assert!(saved::write(&mut full, &vec![0u64; 100]).is_err());
        assert!(full.failure.expect("kept").to_string().contains("No space left"));
    }
}
