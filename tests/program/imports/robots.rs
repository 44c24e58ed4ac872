//! Robots in URDF: what moves as the equations say, where links and joints are, and what is refused or told.

mod mistakes;
mod motions;
mod poses;

use std::fs;

use esker::import::{ImportOptions, Imported, RobotOptions, import};
use esker::scenario::{Problems, Scenario};

/// Imports a robot from a folder of its own.
pub fn robot(urdf: &str, options: &RobotOptions) -> Result<(tempfile::TempDir, Imported), Problems> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("robot.urdf");
    fs::write(&file, urdf).expect("written");
    let options = ImportOptions { robot: options.clone(), ..ImportOptions::default() };
    let imported = import(&file, &folder.path().join("robot.toml"), &options)?;
    Ok((folder, imported))
}

/// Text of the scenario of a robot, which has no mistakes.
pub fn text_of(urdf: &str, options: &RobotOptions) -> String {
    let (_folder, imported) = robot(urdf, options).unwrap_or_else(|problems| panic!("{problems}"));
    assert!(imported.faults.is_empty(), "{}\n{}", imported.faults[0], imported.files[0].1);
    imported.files[0].1.clone()
}

/// Scenario of a robot that has no meshes, with a change of its text.
pub fn scenario_of(urdf: &str, options: &RobotOptions, change: &[(&str, &str)]) -> Scenario {
    let mut text = text_of(urdf, options);
    for (from, to) in change {
        assert!(text.contains(from), "{from:?} is not in\n{text}");
        text = text.replace(from, to);
    }
    Scenario::parse("robot", &text, std::path::Path::new("."), &[])
        .unwrap_or_else(|problems| panic!("{problems}"))
}

/// Remarks, a line each, without the name of the file.
pub fn remarks(urdf: &str, options: &RobotOptions) -> Vec<String> {
    let (_folder, imported) = robot(urdf, options).unwrap_or_else(|problems| panic!("{problems}"));
    let line =
        |text: String| text.split_once("robot.urdf:").map_or(text.clone(), |(_, rest)| rest.to_owned());
    imported.remarks.iter().map(|remark| line(remark.to_string())).collect()
}
