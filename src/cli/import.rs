//! `esker import`: a script of LIGGGHTS or LAMMPS, or a robot in URDF, as a scenario.

use std::path::{Path, PathBuf};

use glam::DVec3;

use crate::error::Error;
use crate::import::{ImportOptions, RemarkKind, RobotBase, RobotDrive, RobotOptions, import as read};
use crate::scenario::{Problem, Problems};

use super::terminal::{note, print_report, say};
use super::{ExitOutcome, Failure, drawing};

/// Arguments of `esker import`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Input script, or robot in URDF.
    file: PathBuf,
    /// Scenario to write; default: the name of the file without `in.`, with `.toml`, in this folder. Where a script does what one
    /// scenario cannot, more files are written beside it: NAME-2.toml and so on.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Set a variable of the script, as its option `-var NAME VALUE` does; may be repeated.
    #[arg(long = "var", value_name = "NAME=VALUE")]
    variables: Vec<String>,
    /// Take the numbers of the script in these units, whatever it says: si, cgs, micro or nano. Scripts in lj units need it.
    #[arg(long, value_name = "UNITS")]
    units: Option<String>,
    /// Write a scenario for the smooth method: springs and dampers, and steps of microseconds.
    #[arg(long)]
    smooth: bool,
    /// Whether the root of a robot is fixed to the ground or moves freely; default: free, unless the root is called `world`.
    #[arg(long, value_name = "WORD")]
    base: Option<BaseWord>,
    /// Where the root of a robot is, in metres, such as 0,0,0.5.
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true)]
    position: Option<String>,
    /// Position of a joint of a robot at the start, in radians or metres; may be repeated. Default: 0, or the limit nearest to it.
    #[arg(long, value_name = "JOINT=VALUE")]
    at: Vec<String>,
    /// What drives the joints of a robot at the start: a torque of 0, a motor that holds the velocity 0, or a servo that holds the
    /// position; motors and servos with at most the effort of the joint.
    #[arg(long, value_name = "WORD", default_value = "torque")]
    drive: DriveWord,
    /// Folder of a package, for meshes of a robot that are called package://NAME/...; may be repeated. Others are looked for in the
    /// folders above the robot.
    #[arg(long = "package", value_name = "NAME=FOLDER")]
    packages: Vec<String>,
    /// Replace files that exist.
    #[arg(long)]
    replace: bool,
}

/// Words for [`RobotBase`].
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum BaseWord {
    /// The root does not move.
    Fixed,
    /// The root moves freely.
    Free,
}

/// Words for [`RobotDrive`].
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum DriveWord {
    /// A torque or force of 0.
    Torque,
    /// A motor that holds the velocity 0.
    Velocity,
    /// A servo that holds the position.
    Position,
}

/// Reads the script or robot, writes the scenario, and tells what is not in it.
pub(super) fn import(arguments: &Arguments) -> Result<ExitOutcome, Failure> {
    let out = arguments.out.clone().unwrap_or_else(|| default_name(&arguments.file));
    let options = ImportOptions {
        variables: pairs("--var", "NAME=VALUE, such as speed=0.5", &arguments.variables)?,
        units: arguments.units.clone(),
        is_smooth: arguments.smooth,
        robot: robot(arguments)?,
    };
    let imported = read(&arguments.file, &out, &options)?;
    for (file, _) in imported.files.iter().filter(|_| !arguments.replace) {
        check_new(file)?;
    }
    for (file, text) in &imported.files {
        std::fs::write(file, text).map_err(Error::file(file))?;
        say!("wrote {}", file.display());
    }
    imported.remarks.iter().for_each(|remark| note!("{remark}"));
    let count = |stand: RemarkKind| imported.remarks.iter().filter(|remark| remark.stand == stand).count();
    say!(
        "  {} not taken, {} differ: at the head of the file",
        count(RemarkKind::NotTaken),
        count(RemarkKind::Differs)
    );
    let Some(first) = imported.faults.first() else {
        imported.files.iter().for_each(|(file, _)| say!("  esker run {}", file.display()));
        return Ok(ExitOutcome::Done);
    };
    imported.faults.iter().skip(1).for_each(|faults| print_report(&drawing(faults)));
    note!("the scenario was written, and is not valid yet:");
    Err(Failure::Input(first.clone()))
}

/// Name of the scenario: `hopper.toml` of `in.hopper`, `hopper.in` or `hopper.liggghts`.
fn default_name(script: &Path) -> PathBuf {
    let name = script.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let stem = match name.strip_prefix("in.") {
        Some(stem) => stem.to_owned(),
        None => Path::new(&name).file_stem().map_or(name.clone(), |stem| stem.to_string_lossy().into_owned()),
    };
    PathBuf::from(format!("{stem}.toml"))
}

fn robot(arguments: &Arguments) -> Result<RobotOptions, Problems> {
    let number = |(name, value): (String, String)| match value.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((name, number)),
        _ => Err(wrong("--at", &format!("{name}={value}"), "a number behind `=`, such as elbow=0.5")),
    };
    let at = pairs("--at", "JOINT=VALUE, such as elbow=0.5", &arguments.at)?;
    let packages = pairs("--package", "NAME=FOLDER", &arguments.packages)?;
    Ok(RobotOptions {
        base: arguments.base.map(|word| match word {
            BaseWord::Fixed => RobotBase::Fixed,
            BaseWord::Free => RobotBase::Free,
        }),
        position: arguments.position.as_deref().map_or(Ok(DVec3::ZERO), position)?,
        at: at.into_iter().map(number).collect::<Result<_, Problems>>()?,
        drive: match arguments.drive {
            DriveWord::Torque => RobotDrive::Torque,
            DriveWord::Velocity => RobotDrive::Velocity,
            DriveWord::Position => RobotDrive::Position,
        },
        packages: packages.into_iter().map(|(name, folder)| (name, PathBuf::from(folder))).collect(),
    })
}

fn position(text: &str) -> Result<DVec3, Problems> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    let numbers = numbers.and_then(|numbers| <[f64; 3]>::try_from(numbers).ok());
    let position = numbers.map(DVec3::from_array).filter(|position| position.is_finite());
    position.ok_or_else(|| wrong("--position", text, "three numbers in metres, such as 0,0,0.5"))
}

fn pairs(option: &str, expected: &str, given: &[String]) -> Result<Vec<(String, String)>, Problems> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(wrong(option, text, expected)),
    };
    given.iter().map(pair).collect()
}

fn wrong(option: &str, found: &str, expected: &str) -> Problems {
    let problem = Problem::of(option, format!("found \"{found}\", expected {expected}"));
    Problems::new(option, vec![problem.help("correct it")])
}

fn check_new(file: &Path) -> Result<(), Problems> {
    if !file.exists() {
        return Ok(());
    }
    Err(super::new::exists(file, "choose another --out, or add --replace; nothing was written"))
}
