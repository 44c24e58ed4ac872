//! What a run writes and observes beside its quantities.

use super::PicturePlan;
use crate::engine::convergence::Question;
use crate::model::{Region, Span};

/// What to write.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputPlan {
    /// Time between outputs \[s\].
    pub every: f64,
    /// VTP frames of grains and contacts, with `.vtp.series` and `.pvd`.
    pub vtp: bool,
    /// `timeseries.csv`.
    pub csv: bool,
    /// Pictures, if any.
    pub pictures: Option<PicturePlan>,
}

/// Steps whose sweeps are looked at one by one.
#[derive(Debug, Clone, PartialEq)]
pub struct ConvergencePlan {
    /// Times at which these steps begin \[s\], ascending.
    pub times: Vec<f64>,
    /// What is asked about them.
    pub question: Question,
}

/// A drum whose flow is observed: dynamic angle and plug zone.
#[derive(Debug, Clone, PartialEq)]
pub struct DrumPlan {
    /// Index of the boundary (its body) that rotates.
    pub boundary: usize,
    /// Inner radius R \[m\].
    pub radius: f64,
    /// Relative speed, as a share of R·Ω, up to which a grain counts as plug \[-\].
    pub plug_speed: f64,
}

/// A cell of six walls.
#[derive(Debug, Clone, PartialEq)]
pub struct CellPlan {
    /// The walls along x, y and z.
    pub walls: [Span; 3],
    /// Axis of the stress that the deviator compares with the others: 0, 1, 2 for x, y, z.
    pub axial: usize,
    /// Time from which strains are counted \[s\]: those of the first output after it are since the one before.
    pub strain_from: f64,
}

/// A region whose grains are counted.
#[derive(Debug, Clone, PartialEq)]
pub struct RegionPlan {
    /// Name, for results and messages.
    pub name: String,
    /// Where.
    pub region: Region,
    /// The material that counts; `None`: all do.
    pub material: Option<u32>,
}
