//! Import of scripts of LIGGGHTS and of LAMMPS' granular package, as scenarios with comments.
//!
//! A script is a list of commands that change a scene in their order, with runs in between. It is read line by line: variables are put in,
//! each command changes the scene, and each `run` keeps the scene as it stands. Runs that esker can do one after the other in one file
//! are joined; where something changes that a scenario cannot change over time, a second file goes on from the state of the first.
//! Every command is taken, harmless (one table in `commands`), or told in a [`Remark`].

mod atoms;
mod blocks;
mod boundaries;
mod command;
mod commands;
mod courses;
mod faces;
mod fixes;
mod forms;
mod formula;
mod grain_kinds;
mod insertion;
mod lines;
mod materials;
mod meshes;
mod models;
mod motions;
mod parts;
mod properties;
mod reader;
mod regions;
mod remarks;
mod scene;
mod text;
mod variables;
mod walls;
mod write;

use std::path::{Path, PathBuf};

pub use remarks::{Remark, RemarkKind};

use crate::scenario::Problems;

/// What is told beside the script.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Variables, by name.
    pub variables: Vec<(String, String)>,
    /// Units in place of those of the script: `si` or `cgs`.
    pub units: Option<String>,
    /// Whether the scenario takes the smooth method.
    pub is_smooth: bool,
}

/// Scenarios that a script became.
#[derive(Debug, Clone)]
pub struct Imported {
    /// Files in the order in which they are to be run, with their texts.
    pub files: Vec<(PathBuf, String)>,
    /// What is not in them, and what means something else.
    pub remarks: Vec<Remark>,
    /// Mistakes that the reader of scenarios finds in them.
    pub faults: Vec<Problems>,
}

/// Reads a script, and makes the text of a scenario that is to be written to `out`, from where its paths of meshes begin.
///
/// # Errors
/// All mistakes in the script, each with its line.
pub fn import(script: &Path, out: &Path, options: &ImportOptions) -> Result<Imported, Problems> {
    let read = reader::read(script, options)?;
    write::write(script, out, read, options.is_smooth)
}
