//! Warning about a run, and those that follow from counts of grains.

use std::fmt;

use glam::DVec3;

use crate::engine::{ELASTIC, ImpactStages};
use crate::model::Outside;
use crate::observe::lost::Lost;

/// Fraction of the substeps with bounces whose sweeps ran out from which on a run warns of them \[-\], and their number.
const UNSETTLED: f64 = 0.01;
const UNSETTLED_SUBSTEPS: u64 = 5;

/// What a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
pub enum Concern {
    /// Two bodies that overlap deeply.
    Overlap,
    /// A dynamic boundary that has solid space in common with another boundary.
    SolidsOverlap,
    /// A step that is too long for the forces of joints over light parts.
    Joints,
    /// Contact impulses that made energy.
    EnergyMade,
    /// Grains that got out of the scene or of its domain.
    GrainsLost,
    /// Emitters that found no room for all their grains.
    NoRoom,
    /// Contact residuals that are too large for the result.
    Residual,
    /// Impacts that ran out of sweeps.
    Impacts,
}

/// Warning about a run.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Warning {
    /// What it is about.
    pub kind: Concern,
    /// What happened, in a sentence with its numbers.
    pub message: String,
    /// Largest value over the run; what it measures depends on the kind.
    pub value: f64,
    /// Value above which the run warns.
    pub limit: f64,
    /// Simulated time of the largest value \[s\].
    pub time: f64,
    /// Place \[m\], where there is one.
    pub place: Option<[f64; 3]>,
    /// Names of the bodies concerned: "grain 17", or the name of a boundary.
    pub bodies: Vec<String>,
    /// What to change.
    pub advice: String,
}

impl Warning {
    /// Warning about a machine whose parts swing too fast for the substep, told in these `words` with their advice.
    pub(super) fn of_joints(words: &str, time: f64) -> Warning {
        let (message, advice) = words.split_once(": ").unwrap_or((words, "reduce solver.time_step"));
        Warning {
            kind: Concern::Joints,
            message: message.to_owned(),
            value: 1.0,
            limit: 0.0,
            time,
            place: None,
            bodies: Vec::new(),
            advice: advice.to_owned(),
        }
    }

    /// Whether so many impact stages ran out of sweeps that it is told, where bounces of this restitution keep energy.
    pub(super) fn runs_out(stages: &ImpactStages, restitution: f64) -> bool {
        let is_often = unsettled_fraction(stages) > UNSETTLED && stages.unsettled >= UNSETTLED_SUBSTEPS;
        is_often && restitution > ELASTIC
    }

    /// Warning about the impact stages until `time` \[s\], of which many ran out of sweeps.
    pub(super) fn of_impacts(stages: &ImpactStages, time: f64) -> Warning {
        let &ImpactStages { bounced, unsettled, residual, fraction } = stages;
        Warning {
            kind: Concern::Impacts,
            message: format!(
                "impacts ran out of sweeps in {unsettled} of {bounced} substeps with bounces, by up to {residual:.2e} m/s, {fraction:.2} of \
                 the fastest closing speed: bounces that were left over lost their energy"
            ),
            value: unsettled_fraction(stages),
            limit: UNSETTLED,
            time,
            place: None,
            bodies: Vec::new(),
            advice: "raise solver.impact_iterations, or shorten solver.time_step".to_owned(),
        }
    }
}

/// Fraction of the substeps with bounces whose sweeps ran out \[-\].
fn unsettled_fraction(stages: &ImpactStages) -> f64 {
    stages.unsettled as f64 / stages.bounced.max(1) as f64
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.advice)
    }
}

/// Warning about lost grains; `outside` is the rule of the domain, where there is one.
pub fn grains_lost(lost: &Lost, outside: Option<Outside>, time: f64) -> Warning {
    let Lost { grains, places: [from, to] } = lost;
    let number = if *grains == 1 { "1 grain".to_owned() } else { format!("{grains} grains") };
    let place = |place: &DVec3| format!("({:.4}, {:.4}, {:.4})", place.x, place.y, place.z);
    let (what, advice) = match outside {
        None => (
            "fell out of the scene, where nothing is below",
            "close the boundary there, or take out what falls with a sink or a [domain]",
        ),
        Some(Outside::Keep) => {
            ("are outside of the domain", "close the boundary there, or enlarge the [domain]")
        }
        Some(_) => ("left the domain and were removed", "close the boundary there, or enlarge the [domain]"),
    };
    Warning {
        kind: Concern::GrainsLost,
        message: format!("{number} {what}, between {} and {} m", place(from), place(to)),
        value: *grains as f64,
        limit: 0.0,
        time,
        place: Some(from.midpoint(*to).to_array()),
        bodies: Vec::new(),
        advice: advice.to_owned(),
    }
}

/// Warning about an emitter that found no room for all its grains by `time` \[s\].
pub fn no_room(emitter: &str, placed: u64, requested: u64, time: f64) -> Option<Warning> {
    (placed < requested).then(|| Warning {
        kind: Concern::NoRoom,
        message: format!("`{emitter}` found room for {placed} of {requested} grains"),
        value: (requested - placed) as f64,
        limit: 0.0,
        time,
        place: None,
        bodies: Vec::new(),
        advice: "enlarge its region, give its grains a velocity, or lower its rate".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emitter_that_placed_all_gives_no_warning() {
        assert_eq!(no_room("source", 9, 9, 1.0), None);
        let warning = no_room("source", 91, 100, 1.0).expect("a warning");
        assert!(warning.message.contains("found room for 91 of 100 grains"), "{warning}");
    }
}
