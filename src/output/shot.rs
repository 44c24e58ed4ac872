//! Shot: a frame that is due, and what it shows. Ranks that share a state each make their piece of it, and the first writes the file.

use std::io::Write;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::engine::Snapshot;
use crate::error::Error;
use crate::observe::fields::FieldPlan;
use crate::observe::surface::heights;
use crate::observe::{Base, SurfacePlan};

use super::outline::DrawnRoom;
use super::vtp::PolyData;
use super::{FIELDS, KINDS, atomic, frames, vti};

/// Frame that is due.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Shot {
    /// What it shows.
    pub(super) content: ShotContent,
    /// Its file.
    pub(super) path: PathBuf,
}

/// Content of a kind of frames.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum ShotContent {
    Grains,
    Contacts,
    Walls(DrawnRoom),
    Surface(SurfacePlan),
    Polyhedra,
    Bonds,
    Fields(FieldPlan),
}

impl ShotContent {
    /// Name of the kind of frames.
    pub fn kind(&self) -> &'static str {
        match self {
            ShotContent::Grains => KINDS[0],
            ShotContent::Contacts => KINDS[1],
            ShotContent::Walls(_) => KINDS[2],
            ShotContent::Surface(_) => KINDS[3],
            ShotContent::Polyhedra => KINDS[4],
            ShotContent::Bonds => KINDS[5],
            ShotContent::Fields(_) => FIELDS,
        }
    }

    /// The frame; `None` of fields, which are no polygons.
    fn show(&self, snapshot: &Snapshot, base: Option<&Base>) -> Option<PolyData> {
        Some(match self {
            ShotContent::Grains => frames::measured_grains(snapshot, base),
            ShotContent::Contacts => frames::contacts(snapshot),
            ShotContent::Walls(room) => frames::walls(snapshot, room),
            ShotContent::Surface(plan) => frames::surface(snapshot, plan),
            ShotContent::Polyhedra => frames::polyhedra(snapshot),
            ShotContent::Bonds => frames::bonds(snapshot),
            ShotContent::Fields(_) => return None,
        })
    }

    /// Whether each rank has a piece of the frame; others show what the first rank knows.
    fn is_divided(&self) -> bool {
        matches!(self, ShotContent::Grains | ShotContent::Contacts | ShotContent::Polyhedra)
    }

    /// What a rank does that is not the first, which writes the frame.
    fn help_to_show(&self, snapshot: &Snapshot, base: Option<&Base>) {
        match self {
            ShotContent::Grains | ShotContent::Contacts | ShotContent::Polyhedra => {
                let mut piece = Vec::new();
                let frame = self.show(snapshot, base).into_iter();
                frame.for_each(|frame| {
                    frame.write_piece(&mut piece).expect("writing into memory does not fail")
                });
                snapshot.share.collect(piece, &mut drop);
            }
            ShotContent::Walls(_) | ShotContent::Bonds => {}
            ShotContent::Surface(plan) => drop(heights(snapshot, plan)),
            ShotContent::Fields(plan) => drop(plan.fields(snapshot)),
        }
    }
}

impl Shot {
    /// Writes the frame, with means since the base. Where the state lies on several ranks, all of them call this, and the first writes the
    /// file with a piece from each.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn take(&self, snapshot: &Snapshot, base: Option<&Base>) -> Result<(), Error> {
        let share = &snapshot.share;
        if !share.is_first() {
            self.content.help_to_show(snapshot, base);
            return Ok(());
        }
        if let ShotContent::Fields(plan) = &self.content {
            let fields = plan.fields(snapshot);
            return atomic::write(&self.path, |out| vti::write(out, snapshot.report.time, plan, &fields));
        }
        let Some(frame) = self.content.show(snapshot, base) else { return Ok(()) };
        // The other ranks wait until their pieces are fetched, even if the file cannot be written.
        let mut is_fetched = !self.content.is_divided();
        let written = atomic::write(&self.path, |out| {
            frame.begin(out)?;
            let mut result = frame.write_piece(out);
            if !std::mem::replace(&mut is_fetched, true) {
                share.collect(Vec::new(), &mut |piece| {
                    if result.is_ok() {
                        result = out.write_all(&piece);
                    }
                });
            }
            result.and_then(|()| PolyData::end(out))
        });
        if !is_fetched {
            share.collect(Vec::new(), &mut drop);
        }
        written
    }
}
