//! Frames of a run, read from its folder of results.

use std::path::{Path, PathBuf};

use super::frame::Frame;
use crate::error::Error;
use crate::model::World;
use crate::output::collection;
use crate::output::vtp::PolyData;
use crate::render::Show;

/// Frames of a run.
#[derive(Debug)]
pub struct Results {
    show: Show,
    frames: Vec<Files>,
}

/// Files of one frame.
#[derive(Debug)]
struct Files {
    time: f64,
    grains: PathBuf,
    /// Contacts, if forces are to be shown.
    contacts: Option<PathBuf>,
}

impl Results {
    /// Opens the frames in a folder, with the files that `show` needs.
    ///
    /// # Errors
    /// [`Error::Unusable`] when there are no frames, [`Error::File`] when their index cannot be read.
    pub fn open(folder: &Path, show: Show) -> Result<Results, Error> {
        let grains = collection::read_series(folder, "grains")?;
        let contacts = match show.array() {
            None => vec![None; grains.len()],
            Some(_) => {
                collection::read_series(folder, "contacts")?.into_iter().map(|(path, _)| Some(path)).collect()
            }
        };
        let mixed = |found: String| Error::Unusable {
            origin: folder.display().to_string(),
            found,
            advice: "expected the folder that `esker run` wrote, with \"vtp\" among `output.formats`"
                .to_owned(),
        };
        if grains.is_empty() {
            return Err(mixed("holds no frames".to_owned()));
        }
        if grains.len() != contacts.len() {
            return Err(mixed(format!(
                "has {} frames of grains and {} of contacts",
                grains.len(),
                contacts.len()
            )));
        }
        let files = |((grains, time), contacts)| Files { time, grains, contacts };
        Ok(Results { show, frames: grains.into_iter().zip(contacts).map(files).collect() })
    }

    /// Number of frames, at least one.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Times of all frames \[s\].
    pub fn times(&self) -> Vec<f64> {
        self.frames.iter().map(|frame| frame.time).collect()
    }

    /// Whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Number of the frame nearest to a time \[s\]; infinity gives the last one.
    pub fn nearest(&self, time: f64) -> usize {
        let distance = |frame: &Files| (frame.time - time.min(f64::MAX)).abs();
        let frames = self.frames.iter().enumerate().rev();
        frames.min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b))).map_or(0, |(i, _)| i)
    }

    /// Files that a frame is read from.
    pub fn files(&self, i: usize) -> Vec<PathBuf> {
        let files = &self.frames[i];
        std::iter::once(&files.grains).chain(&files.contacts).cloned().collect()
    }

    /// Reads a frame, between the boundaries of `world`.
    ///
    /// # Errors
    /// When a file cannot be read or lacks an array.
    pub fn load(&self, i: usize, world: &World) -> Result<Frame, Error> {
        let files = &self.frames[i];
        let grains = PolyData::read(&files.grains)?;
        let contacts = files.contacts.as_deref().map(PolyData::read).transpose()?;
        Frame::new(grains, contacts.as_ref(), self.show, world).map_err(|array| Error::Unusable {
            origin: files.contacts.as_ref().unwrap_or(&files.grains).display().to_string(),
            found: format!("has no array `{array}`"),
            advice: match self.show {
                Show::CompatibleForces => {
                    "ask for `compatible` in `[forces]` of the scenario, and run it again"
                }
                _ => "expected a frame as `esker run` writes it: run the scenario again",
            }
            .to_owned(),
        })
    }
}
