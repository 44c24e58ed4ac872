//! A scenario file: what a user writes, read into a [`World`], [`Settings`] and a plan of outputs.

use crate::settings::Settings;
use crate::world::World;

/// A scenario, read and checked.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Name of the file without its extension; results go to `out/<name>/`.
    pub name: String,
    /// Title line.
    pub title: String,
    /// Simulated time \[s\].
    pub duration: f64,
    /// Solver settings.
    pub settings: Settings,
    /// The initial state.
    pub world: World,
    /// Sources of grains during the run.
    pub emitters: Vec<Emitter>,
    /// What to write, and how often.
    pub output: OutputPlan,
    /// A rotating drum to be observed, if any.
    pub drum: Option<DrumPlan>,
    /// Numbers the run must come to.
    pub expectations: Vec<Expectation>,
    /// The file with all `--set` overrides applied and defaults filled in, as TOML.
    pub resolved: String,
}

/// What to write.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputPlan {
    /// Time between outputs \[s\].
    pub every: f64,
    /// VTP frames of grains and contacts, with `.vtp.series` and `.pvd`.
    pub vtp: bool,
    /// `timeseries.csv`.
    pub csv: bool,
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

/// A number that the run must come to. At least one of the bounds is set.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// Column of the time series (see [`crate::observe`]).
    pub quantity: String,
    /// Expected value and tolerance, both in the unit of the quantity.
    pub value: Option<(f64, f64)>,
    /// Lower bound.
    pub at_least: Option<f64>,
    /// Upper bound.
    pub at_most: Option<f64>,
    /// Average over this time window \[s\]; `None`: the value at the end.
    pub window: Option<(f64, f64)>,
}

/// A source of grains during the run.
#[derive(Debug, Clone)]
pub struct Emitter;
