//! Plans of a scenario: outputs, checkpoints, convergence studies, and the files that it was read from.

use std::path::PathBuf;

use crate::engine::convergence::Question;
use crate::output::Formats;
use crate::render::PicturePlan;

/// Output plan: formats, pictures and the time between outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputPlan {
    /// Time between outputs \[s\].
    pub every: f64,
    /// File formats.
    pub formats: Formats,
    /// Pictures, if any.
    pub pictures: Option<PicturePlan>,
}

/// Checkpoint plan: intervals in wall time and in simulated time, each optional.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CheckpointPlan {
    /// Wall time between two checkpoints \[s\].
    pub every: Option<f64>,
    /// Simulated time between two checkpoints \[s\].
    pub every_simulated: Option<f64>,
}

impl CheckpointPlan {
    /// Returns whether the scenario asks for checkpoints.
    pub fn is_wanted(&self) -> bool {
        self.every.is_some() || self.every_simulated.is_some()
    }
}

/// What a run does when it warns for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnWarning {
    /// Goes on, and tells at the end.
    #[default]
    GoOn,
    /// Ends at the output that showed it, as a run that failed.
    Stop,
}

/// Convergence plan: steps whose sweeps are examined one by one.
#[derive(Debug, Clone, PartialEq)]
pub struct ConvergencePlan {
    /// Times at which the examined steps begin \[s\], ascending.
    pub times: Vec<f64>,
    /// Starts, number of sweeps and reference solution of the examination.
    pub question: Question,
}

/// Paths of the files that a scenario was read from. `Debug` leaves them out, because it serves to compare scenarios and the place of a
/// file does not change a scenario.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Inputs(pub Vec<PathBuf>);

impl std::fmt::Debug for Inputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Inputs")
    }
}

impl std::ops::Deref for Inputs {
    type Target = [PathBuf];

    fn deref(&self) -> &[PathBuf] {
        &self.0
    }
}

/// Scenario as the folder of its results keeps it, so that the folder may be moved: the files that the scenario names are copied there.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Portable {
    /// The resolved scenario, with the paths of the copies; `None` where it names no files.
    pub text: Option<String>,
    /// Files to copy, and the names of their copies.
    pub files: Vec<(PathBuf, String)>,
}

/// As with [`Inputs`], the place of a file does not change a scenario.
impl std::fmt::Debug for Portable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Portable")
    }
}
