//! What a run writes and looks at beside its quantities.

use std::path::PathBuf;

use crate::engine::convergence::Question;
use crate::output::Formats;
use crate::render::PicturePlan;

/// What to write.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputPlan {
    /// Time between outputs \[s\].
    pub every: f64,
    /// In which formats.
    pub formats: Formats,
    /// Pictures, if any.
    pub pictures: Option<PicturePlan>,
}

/// When to save checkpoints; each of the two may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CheckpointPlan {
    /// Wall time between two of them \[s\].
    pub every: Option<f64>,
    /// Simulated time between two of them \[s\].
    pub every_simulated: Option<f64>,
}

impl CheckpointPlan {
    /// Whether any are asked for.
    pub fn is_wanted(&self) -> bool {
        self.every.is_some() || self.every_simulated.is_some()
    }
}

/// Steps whose sweeps are looked at one by one.
#[derive(Debug, Clone, PartialEq)]
pub struct ConvergencePlan {
    /// Times at which these steps begin \[s\], ascending.
    pub times: Vec<f64>,
    /// What is asked about them.
    pub question: Question,
}

/// Files that a scenario was read from. Where they are is no part of what it says, and `Debug`, which tells scenarios apart,
/// leaves it out.
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
