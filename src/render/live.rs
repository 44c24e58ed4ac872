//! Pictures that are drawn while a run goes on.

use std::path::Path;

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::file::PictureFolder;
use super::{Painter, Sights, Survey, frame_of};
use crate::engine::Snapshot;
use crate::error::Error;
use crate::model::World;
use crate::output::outline::ROOM_TO_COME;
use crate::render::PicturePlan;

/// Pictures of a run in progress. Later frames are unknown: the first state and the regions of emitters set the camera, and
/// a range of values that is not given grows with the values so far.
#[derive(Debug)]
pub struct LivePictures<'a> {
    plan: &'a PicturePlan,
    survey: Survey<'a>,
    painter: Option<Painter<'a>>,
    /// Findings of the survey when the camera was set.
    first: Option<Sights>,
    folder: PictureFolder,
    /// Number of pictures that were flushed to the disk.
    synced: usize,
}

/// State of the pictures in a checkpoint, from which they continue.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Drawn {
    /// Number of pictures.
    count: usize,
    /// Findings of the survey when the camera was set.
    first: Option<Sights>,
    /// Findings of the survey up to now.
    now: Sights,
}

impl<'a> LivePictures<'a> {
    /// Makes the folder for the pictures of a run that starts from `world`, or opens it to continue after the pictures in
    /// `drawn`. Grains will come from the boxes `sources` (corners \[m\]).
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn create(
        folder: &Path,
        world: &'a World,
        sources: &[(DVec3, DVec3)],
        plan: &'a PicturePlan,
        drawn: Option<Drawn>,
    ) -> Result<LivePictures<'a>, Error> {
        let mut survey = Survey::new(&plan.look, world).with_room(ROOM_TO_COME);
        sources.iter().for_each(|&(min, max)| survey.add_source(min, max));
        let now = Drawn { count: 0, first: None, now: survey.sights().clone() };
        let Drawn { count, first, now } = drawn.unwrap_or(now);
        let painter = match &first {
            Some(first) => Some(survey.clone().with_sights(first.clone()).painter()?),
            None => None,
        };
        let (survey, folder) = (survey.with_sights(now), PictureFolder::with_pictures(folder, count)?);
        Ok(LivePictures { plan, survey, painter, first, folder, synced: count })
    }

    /// Time between two pictures \[s\].
    pub fn every(&self) -> f64 {
        self.plan.every
    }

    /// Flushes the pictures that are not yet on the disk for certain.
    ///
    /// # Errors
    /// When a picture cannot be flushed.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.folder.sync_from(self.synced)?;
        self.synced = self.folder.count();
        Ok(())
    }

    /// State from which the pictures can continue.
    pub fn drawn(&self) -> Drawn {
        Drawn { count: self.folder.count(), first: self.first.clone(), now: self.survey.sights().clone() }
    }

    /// Draws a state as the next picture.
    ///
    /// # Errors
    /// When the picture cannot be written.
    pub fn add(&mut self, snapshot: &Snapshot) -> Result<(), Error> {
        let frame = frame_of(snapshot, self.plan.look.show)?;
        let painter = match self.painter.take() {
            None => {
                self.survey.add(&frame)?;
                self.first = Some(self.survey.sights().clone());
                self.survey.painter()?
            }
            Some(painter) => {
                self.survey.add_values(&frame)?;
                painter.with_colours_of(&self.survey)
            }
        };
        self.folder.add(&painter.draw(&frame)?)?;
        self.painter = Some(painter);
        Ok(())
    }
}
