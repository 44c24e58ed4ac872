//! Results on disk, one file per format.
//!
//! ```text
//! out/<scenario>/
//!   scenario.toml          the scenario as resolved, with every default and override
//!   scenario_files/        copies of the files that it names, so that the folder can be moved: meshes, tables, curves, checkpoints
//!   timeseries.csv         one row of observables per output
//!   columns.csv            unit and meaning of its columns, and why one may hold no number
//!   grains.vtkhdf          all frames of a kind in one file, where the scenario asks for it
//!   grains_000012.vtp      grains at output 12, with grains.vtp.series and grains.pvd as their index
//!   contacts_000012.vtp    contacts at output 12, likewise
//!   walls_000012.vtp       triangles of the boundaries at output 12, likewise; one frame where none moves
//!   fields_000012.vti      where they are observed: fields of the bed on a grid at output 12, likewise
//!   convergence.csv        where it is asked for: residuals and errors of impulses over the sweeps of chosen steps
//!   residual_histogram.csv and the residuals of their contacts, by size
//!   fabric.csv             where it is observed: contacts and their forces by direction, per output; rose.svg shows the last
//!   force_distribution.csv and how large the forces are
//!   layers.csv             where they are observed: density, velocity and stress by layer, per output; layers.svg shows the last
//!   checkpoint_000000002400.esker  the state after 2400 steps, to go on from; the last two
//!   summary.json           what ran, on what, how fast, and what came out
//! ```
//!
//! Each file appears whole or not at all: it is written under a temporary name in its folder and then renamed. The time series is created
//! that way and then grows by one flushed row per output, so a crash loses at most the row being written.
//!
//! A run locks its folder while it goes on. The next run removes the half-written files that a killed run left.

#[cfg(feature = "scenario")]
pub mod atomic;
#[cfg(feature = "scenario")]
pub mod collection;
#[cfg(feature = "scenario")]
mod columns;
#[cfg(feature = "scenario")]
pub mod convergence;
#[cfg(feature = "scenario")]
mod copies;
#[cfg(feature = "scenario")]
pub mod dump;
#[cfg(feature = "scenario")]
pub mod fabric;
#[cfg(feature = "scenario")]
mod folder;
#[cfg(feature = "scenario")]
pub mod frames;
#[cfg(feature = "scenario")]
pub mod layers;
#[cfg(feature = "scenario")]
pub mod lock;
#[cfg(feature = "scenario")]
pub mod outline;
#[cfg(feature = "scenario")]
mod shot;
#[cfg(feature = "scenario")]
pub mod summary;
#[cfg(feature = "scenario")]
pub mod timeseries;
#[cfg(feature = "scenario")]
mod vti;
#[cfg(feature = "scenario")]
pub mod vtkhdf;
#[cfg(feature = "scenario")]
pub mod vtp;

#[cfg(feature = "scenario")]
pub use copies::{Copies, FILES};
#[cfg(feature = "scenario")]
pub use folder::*;
#[cfg(feature = "scenario")]
pub use shot::Shot;

/// Kinds of frames that a run writes.
#[cfg(feature = "scenario")]
const KINDS: [&str; 7] = ["grains", "contacts", "walls", "surface", "polyhedra", "bonds", FIELDS];
/// Kind of the frames that are grids, in files of their own form.
#[cfg(feature = "scenario")]
const FIELDS: &str = "fields";

/// Formats of the results of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Formats {
    /// VTP frames of grains and contacts, with `.vtp.series` and `.pvd`.
    pub vtp: bool,
    /// `timeseries.csv`.
    pub csv: bool,
    /// `grains.vtkhdf` and so on, made from the frames at the end.
    pub vtkhdf: bool,
}

impl Formats {
    /// Formats of a run where the scenario does not choose others.
    pub const USUAL: Formats = Formats { vtp: true, csv: true, vtkhdf: false };
    /// No files but the summary.
    pub const NONE: Formats = Formats { vtp: false, csv: false, vtkhdf: false };
}
