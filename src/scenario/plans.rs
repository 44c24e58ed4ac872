//! What a run writes and looks at beside its quantities.

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

/// Steps whose sweeps are looked at one by one.
#[derive(Debug, Clone, PartialEq)]
pub struct ConvergencePlan {
    /// Times at which these steps begin \[s\], ascending.
    pub times: Vec<f64>,
    /// What is asked about them.
    pub question: Question,
}
