//! `esker import`: a script of LIGGGHTS or LAMMPS as a scenario.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::import::{ImportOptions, RemarkKind, import as read};
use crate::scenario::{Problem, Problems};

use super::terminal::{note, print_report, say};
use super::{ExitOutcome, Failure, drawing};

/// Arguments of `esker import`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Input script.
    script: PathBuf,
    /// Scenario to write; default: the name of the script without `in.`, with `.toml`, in this folder. Where a script does what one
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
    /// Replace files that exist.
    #[arg(long)]
    replace: bool,
}

/// Reads the script, writes the scenario, and tells what is not in it.
pub(super) fn import(arguments: &Arguments) -> Result<ExitOutcome, Failure> {
    let out = arguments.out.clone().unwrap_or_else(|| default_name(&arguments.script));
    let options = ImportOptions {
        variables: arguments.variables.iter().map(|text| variable(text)).collect::<Result<_, _>>()?,
        units: arguments.units.clone(),
        is_smooth: arguments.smooth,
    };
    let imported = read(&arguments.script, &out, &options)?;
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

fn variable(text: &str) -> Result<(String, String), Problems> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => {
            let problem = Problem::of("--var", format!("found \"{text}\", expected NAME=VALUE"))
                .help("such as --var speed=0.5");
            Err(Problems::new("--var", vec![problem]))
        }
    }
}

fn check_new(file: &Path) -> Result<(), Problems> {
    if !file.exists() {
        return Ok(());
    }
    Err(super::new::exists(file, "choose another --out, or add --replace; nothing was written"))
}
