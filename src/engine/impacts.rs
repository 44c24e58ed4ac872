//! Impact stages \[E6\]: the sweeps that they may take, and what is told of them.

use crate::model::World;
use crate::settings::Settings;

/// Largest residual at the end of a block over that at the end of the block before with which the stage settles, so that another block
/// follows \[-\]. Where a block brings the residual down by less, as in deep beds of touching grains, a few more would not settle it.
pub const IMPACT_GAIN: f64 = 0.5;
/// Restitution above which bounces keep much of their energy \[-\]: a bounce that is left over is stopped, which loses more than a quarter
/// of its energy from this restitution on.
pub(crate) const ELASTIC: f64 = 0.5;

/// Largest number of sweeps of an impact stage in this world: those of one block, and where some pair bounces well of all blocks.
pub fn most_impact_sweeps(settings: &Settings, world: &World) -> u32 {
    let bounces_well = world.materials.laws().iter().any(|law| law.restitution > ELASTIC);
    settings.impact_iterations.saturating_mul(if bounces_well { settings.impact_blocks } else { 1 })
}

/// Result of the impact stage of a substep \[E6\].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Impacts {
    /// Sweeps of all rounds; 0 where nothing bounced.
    pub sweeps: u32,
    /// Largest change in the last sweep, D |Δλ|, or the speed of a contact that still closes, whichever is more \[m/s\].
    pub residual: f64,
    /// Residual over the fastest closing speed of the last round, where the sweeps ran out before the stage had settled \[-\]; 0 where it
    /// settled.
    pub fraction: f64,
}

/// Impact stages since the start of a run \[E6\]. A stage has settled when no contact bounces any more and the last round met its
/// tolerance; what bounces are left over is stopped without restitution, so energy is lost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct ImpactStages {
    /// Substeps in which a contact bounced.
    pub bounced: u64,
    /// Of these, substeps whose sweeps ran out before the impacts had settled.
    pub unsettled: u64,
    /// Largest residual of the unsettled ones \[m/s\].
    pub residual: f64,
    /// Largest residual of the unsettled ones over the fastest closing speed of the last round \[-\]: 1 where a bounce was left over.
    pub fraction: f64,
}

impl ImpactStages {
    /// Adds the impact stage of a substep.
    pub fn add(&mut self, stage: &Impacts) {
        self.bounced += u64::from(stage.sweeps > 0);
        if stage.fraction > 0.0 {
            let Impacts { residual, fraction, .. } = *stage;
            self.join(&ImpactStages { bounced: 0, unsettled: 1, residual, fraction });
        }
    }

    /// Adds the impact stages of further substeps.
    pub fn join(&mut self, others: &ImpactStages) {
        self.bounced += others.bounced;
        self.unsettled += others.unsettled;
        self.residual = self.residual.max(others.residual);
        self.fraction = self.fraction.max(others.fraction);
    }
}
