//! Questions that a run asks about the state at an output: its quantities, and its frames. Where a state lies on several ranks, each of
//! them answers about its part.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::engine::{Parts, Snapshot, saved};
use crate::error::Error;
use crate::observe::lost::{self, Lost};
use crate::observe::watch::Signs;
use crate::observe::{Base, FabricPlan, LayerPlan, Observation, Observer};
use crate::output::{Averages, Shot};

use super::super::Simulation;

#[derive(Serialize, Deserialize)]
enum RunQuestion<'a> {
    See(Box<Sight<'a>>),
    Take(Cow<'a, Shot>, Option<Box<Cow<'a, Base>>>),
}

/// What is to be observed of a state.
#[derive(Serialize, Deserialize)]
struct Sight<'a> {
    observer: Cow<'a, Observer>,
    base: Option<Cow<'a, Base>>,
    fabric: Option<FabricPlan>,
    layers: Option<Cow<'a, LayerPlan>>,
}

/// What was observed of a state.
#[derive(Serialize, Deserialize)]
pub(super) struct SeenState {
    pub observation: Observation,
    /// Number of grains that are present.
    pub present: usize,
    pub lost: Option<Lost>,
    pub signs: Signs,
    pub averages: Averages,
}

impl Sight<'_> {
    fn of(&self, snapshot: &Snapshot) -> SeenState {
        let Sight { observer, base, fabric, layers } = self;
        let observation = observer.observe_after(snapshot, base.as_deref());
        let lost = observer.find("grains_lost").map_or(0.0, |place| observation.values[place]);
        SeenState {
            observation,
            present: snapshot.present_count(),
            lost: if lost > 0.0 { lost::lost(snapshot) } else { None },
            signs: Signs::of(snapshot, observer.balance()),
            averages: Averages::of(snapshot, (fabric.as_ref(), layers.as_deref()), base.as_deref()),
        }
    }
}

/// Answers a question of a run about a state, or about the part of it that a rank has.
///
/// # Errors
/// When the question is of another program, or a frame cannot be written.
pub fn answer(mut question: &[u8], snapshot: &Snapshot) -> Result<Vec<u8>, Error> {
    match saved::read(&mut question)? {
        RunQuestion::See(mut sight) => {
            sight.observer = Cow::Owned(sight.observer.into_owned().with_columns());
            Ok(saved::pack(&sight.of(snapshot)))
        }
        RunQuestion::Take(shot, base) => {
            shot.take(snapshot, base.as_deref().map(|base| &**base)).map(|()| Vec::new())
        }
    }
}

impl Simulation<'_> {
    /// Observes the present state; rates are averages since the base.
    ///
    /// # Errors
    /// As [`Simulation::state`].
    pub(super) fn see(
        &mut self,
        base: Option<&Base>,
        (fabric, layers): (Option<&FabricPlan>, Option<&LayerPlan>),
    ) -> Result<SeenState, Error> {
        let observer = self.observer.clone();
        let sight = Sight {
            observer: Cow::Borrowed(&observer),
            base: base.map(Cow::Borrowed),
            fabric: fabric.copied(),
            layers: layers.map(Cow::Borrowed),
        };
        match self.parts() {
            Some(parts) => {
                let answer = parts.ask(saved::pack(&RunQuestion::See(Box::new(sight))))?;
                saved::read(&mut &answer[..])
            }
            None => Ok(sight.of(self.state()?)),
        }
    }

    /// Takes a shot of the present state, with means since the base.
    ///
    /// # Errors
    /// As [`Simulation::state`], and when the frame cannot be written.
    pub(super) fn take(&mut self, shot: &Shot, base: Option<&Base>) -> Result<(), Error> {
        match self.parts() {
            Some(parts) => {
                let question =
                    RunQuestion::Take(Cow::Borrowed(shot), base.map(|base| Box::new(Cow::Borrowed(base))));
                parts.ask(saved::pack(&question)).map(drop)
            }
            None => shot.take(self.state()?, base),
        }
    }

    /// The parts of the present state, where it lies on several ranks and nothing needs the whole. Compatible forces do.
    fn parts(&mut self) -> Option<&mut dyn Parts> {
        let is_whole = self.state.is_some() || self.compatible.is_some();
        self.engine.parts().filter(|_| !is_whole)
    }
}
