//! Import of scripts of LIGGGHTS and of LAMMPS' granular package, and of robots in URDF, as scenarios with comments.
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
mod paths;
mod properties;
mod reader;
mod regions;
mod remarks;
mod scene;
mod text;
mod urdf;
mod variables;
mod walls;
mod write;

use std::path::{Path, PathBuf};

pub use remarks::{Remark, RemarkKind};
pub use urdf::{RobotBase, RobotDrive, RobotOptions};

use crate::scenario::{Problem, Problems};

/// What is told beside the file.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Variables, by name.
    pub variables: Vec<(String, String)>,
    /// Units in place of those of the script: `si` or `cgs`.
    pub units: Option<String>,
    /// Whether the scenario takes the smooth method.
    pub is_smooth: bool,
    /// What is told of a robot.
    pub robot: RobotOptions,
}

/// Scenarios that a script or a robot became.
#[derive(Debug, Clone)]
pub struct Imported {
    /// Files in the order in which they are to be run, with their texts.
    pub files: Vec<(PathBuf, String)>,
    /// What is not in them, and what means something else.
    pub remarks: Vec<Remark>,
    /// Mistakes that the reader of scenarios finds in them.
    pub faults: Vec<Problems>,
}

/// Reads a script, or a robot in URDF, and makes the text of a scenario that is to be written to `out`, from where its paths of meshes
/// begin.
///
/// # Errors
/// All mistakes in the file, each with its line; options that are of the other kind of file.
pub fn import(file: &Path, out: &Path, options: &ImportOptions) -> Result<Imported, Problems> {
    let robot = urdf::robot_text(file);
    let is_robot = robot.is_some();
    if let Some(option) = stray_option(options, is_robot) {
        let [found, expected] = if is_robot { ["a robot", "a script"] } else { ["a script", "a robot"] };
        let message = format!("{} is {found}, and the option is of {expected}", file.display());
        return Err(Problems::new(option, vec![Problem::of(option, message).help("leave it out")]));
    }
    if let Some(text) = robot {
        return urdf::import((file, &text), out, &options.robot);
    }
    let read = reader::read(file, options)?;
    write::write(file, out, read, options.is_smooth)
}

/// An option that was given and has no meaning for the file.
fn stray_option(options: &ImportOptions, is_robot: bool) -> Option<&'static str> {
    let robot = &options.robot;
    let default = RobotOptions::default();
    let of_scripts = [
        ("--var", !options.variables.is_empty()),
        ("--units", options.units.is_some()),
        ("--smooth", options.is_smooth),
    ];
    let of_robots = [
        ("--base", robot.base.is_some()),
        ("--position", robot.position != default.position),
        ("--at", !robot.at.is_empty()),
        ("--drive", robot.drive != default.drive),
        ("--package", !robot.packages.is_empty()),
    ];
    let stray = if is_robot { &of_scripts[..] } else { &of_robots[..] };
    stray.iter().find(|(_, is_given)| *is_given).map(|(option, _)| *option)
}
