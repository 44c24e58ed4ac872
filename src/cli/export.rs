//! `esker export`: all frames of a run, in one file for each kind, in a format of other programs; or the contact problem of one substep of
//! a scenario.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::local::export::next_problem;
use crate::local::{fclib, text};
use crate::output::{self, atomic, dump, vtkhdf};
use crate::scenario::Scenario;
use crate::simulation::Simulation;

use super::terminal::say;
use super::{DeviceChoice, ExitOutcome, Failure, open, short};

/// Arguments of `esker export`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Folder of results, of a run that ended or goes on; with --problem a scenario file.
    #[arg(value_name = "DIR|FILE")]
    source: PathBuf,
    /// Folder to write into, made if there is none; default: that of the results.
    #[arg(long, value_name = "DIR", conflicts_with = "problem")]
    out: Option<PathBuf>,
    /// Format of the files.
    #[arg(long, value_enum, default_value_t = ExportFormat::Vtkhdf, conflicts_with = "problem")]
    format: ExportFormat,
    /// Write the contact problem of a substep of the scenario: .hdf5 or .h5 as FCLIB, any other name as text of Siconos.
    #[arg(long, value_name = "FILE")]
    problem: Option<PathBuf>,
    /// With --problem: time [s] at which the substep begins.
    #[arg(long, value_name = "T", value_parser = super::run::parse_time, requires = "problem", default_value = "0")]
    at: f64,
    /// With --problem: change a value of the scenario, such as solver.time_step=1e-3; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "problem")]
    overrides: Vec<String>,
}

/// Format of exported frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    /// All kinds of frames, for ParaView.
    Vtkhdf,
    /// The grains as a text dump of LAMMPS, for OVITO and others.
    Dump,
    /// Grains and contacts as tables, a row for each in every frame.
    Csv,
}

/// Writes one file for each kind of frames, or a problem.
pub(super) fn export(arguments: &Arguments) -> Result<ExitOutcome, Failure> {
    if let Some(file) = &arguments.problem {
        return export_problem(arguments, file);
    }
    let results = &arguments.source;
    super::render::check_results(results)?;
    let folder = arguments.out.as_ref().unwrap_or(results);
    output::check_folder(folder)?;
    std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
    let written = match arguments.format {
        ExportFormat::Vtkhdf => vtkhdf::export(results, folder),
        ExportFormat::Dump => dump::export(results, folder).map(|written| vec![written]),
        ExportFormat::Csv => dump::export_csv(results, folder),
    };
    for (file, count) in written.map_err(super::render::input)? {
        say!("wrote {}: {count} frames", file.display());
    }
    Ok(ExitOutcome::Done)
}

/// Runs a scenario up to a time on the CPU engine, and writes the contact problem of the next substep.
fn export_problem(arguments: &Arguments, file: &Path) -> Result<ExitOutcome, Failure> {
    let scenario = Scenario::load(&arguments.source, &arguments.overrides)?;
    if scenario.inputs.iter().any(|input| atomic::is_same_file(input, file)) {
        return Err(super::render::input(Error::Unusable {
            origin: "--problem".into(),
            found: format!("{} is a file of the scenario, and the problem would replace it", file.display()),
            advice: "choose another name".into(),
        }));
    }
    let mut simulation = Simulation::on(&scenario, open(DeviceChoice::Cpu, &scenario)?)?;
    simulation.run_until(arguments.at)?;
    let exported = next_problem(simulation.state()?, &scenario.settings).map_err(super::render::input)?;
    let problem = &exported.problem;
    let is_fclib = file.extension().is_some_and(|extension| extension == "hdf5" || extension == "h5");
    if is_fclib {
        fclib::write(file, problem, None)?
    } else {
        text::write(file, problem)?
    }
    say!(
        "wrote {}: {} contacts of {} components at t = {} s",
        file.display(),
        problem.contacts(),
        problem.dimension(),
        short(simulation.time())
    );
    Ok(ExitOutcome::Done)
}
