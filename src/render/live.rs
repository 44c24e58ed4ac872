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

/// The pictures of a run. Nobody knows what is to come: the camera is set by the first state and the regions of
/// emitters, and a range that is not given grows with what there has been.
#[derive(Debug)]
pub struct LivePictures<'a> {
    plan: &'a PicturePlan,
    survey: Survey<'a>,
    painter: Option<Painter<'a>>,
    /// What there was to see when the camera was set.
    first: Option<Sights>,
    folder: PictureFolder,
    /// Pictures that are on the disk for certain.
    synced: usize,
}

/// What the pictures of a run go on from.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Drawn {
    /// How many there are.
    count: usize,
    /// What there was to see when the camera was set.
    first: Option<Sights>,
    /// What there has been to see by now.
    now: Sights,
}

impl<'a> LivePictures<'a> {
    /// Makes the folder of the pictures of a run that starts from `world`, or goes on after those that were drawn; grains will come from
    /// the boxes `sources` (corners \[m\]).
    ///
    /// # Errors
    /// When it cannot be made.
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

    /// Time between two of them \[s\].
    pub fn every(&self) -> f64 {
        self.plan.every
    }

    /// Brings them to the disk, as far as that has not been done.
    ///
    /// # Errors
    /// When one cannot be brought there.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.folder.sync_from(self.synced)?;
        self.synced = self.folder.count();
        Ok(())
    }

    /// What they can go on from.
    pub fn drawn(&self) -> Drawn {
        Drawn { count: self.folder.count(), first: self.first.clone(), now: self.survey.sights().clone() }
    }

    /// Draws a state.
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
