//! Robots: URDF files as machines of dynamic walls and joints.
//!
//! Links that fixed joints hold together become one body, with the sum of their masses; every other joint becomes one of the scenario. The
//! scenario starts with all joints at 0, or where it is told, and positions of its joints are those of the robot file.
//!
//! The file is read element by element from its XML, so that every mistake and every element that is left out has its line: the crate
//! `urdf-rs` (0.10) gives no lines, passes over unknown elements and surplus numbers, and refuses files for an empty `<texture/>`.

mod element;
mod machine;
mod meshes;
mod options;
mod robot;
mod tree;
mod write;

use std::path::Path;

use glam::DQuat;

pub use options::{RobotBase, RobotDrive, RobotOptions};

use super::Imported;
use crate::files::{LARGEST_TEXT, read_text};
use crate::scenario::{Problems, Scenario};
use element::UrdfReading;
use robot::{UrdfPose, UrdfRobot};
use tree::UrdfTree;

/// Text of a robot; `None` where a file is no XML, as scripts are not, or cannot be read.
pub fn robot_text(file: &Path) -> Option<String> {
    let text = read_text(file, LARGEST_TEXT).ok()?;
    let text = text.trim_start_matches('\u{feff}');
    text.trim_start().starts_with('<').then(|| text.to_owned())
}

/// Reads a robot with this text, and makes that of a scenario that is to be written to `out`, from where its paths of meshes begin.
///
/// # Errors
/// All mistakes in the file, each with its line.
pub fn import((file, text): (&Path, &str), out: &Path, options: &RobotOptions) -> Result<Imported, Problems> {
    let shown = file.display().to_string();
    let mut reading = UrdfReading::new(file, text);
    let scenario = scenario(&mut reading, text, (file, out), options);
    let Some(scenario) = scenario.filter(|_| reading.problems.is_empty()) else {
        return Err(Problems::new(&shown, reading.problems));
    };
    let folder = out.parent().unwrap_or(Path::new(""));
    let faults = Scenario::parse(&out.display().to_string(), &scenario, folder, &[]).err();
    Ok(Imported {
        files: vec![(out.to_owned(), scenario)],
        remarks: reading.remarks.list,
        faults: faults.into_iter().collect(),
    })
}

/// Text of the scenario, unless there are mistakes.
fn scenario(
    reading: &mut UrdfReading,
    text: &str,
    files: (&Path, &Path),
    options: &RobotOptions,
) -> Option<String> {
    let robot = UrdfRobot::read(reading, text);
    if !reading.problems.is_empty() {
        return None;
    }
    let base = UrdfPose { position: options.position, turn: DQuat::IDENTITY };
    let tree = UrdfTree::new(reading, &robot, base, &options.at)?;
    let machine = machine::machine(reading, &robot, &tree, options.base);
    Some(write::write(reading, files, (&robot, &machine), options))
}
