//! `esker export`: all frames of a run, in one file for each kind.

use std::path::PathBuf;

use crate::error::Error;
use crate::output::{self, vtkhdf};

use super::terminal::say;
use super::{ExitOutcome, Failure};

/// Arguments of `esker export`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Folder of results, of a run that ended or goes on.
    #[arg(value_name = "DIR")]
    results: PathBuf,
    /// Folder to write into, made if there is none; default: that of the results.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Writes one file for each kind of frames.
pub(super) fn export(arguments: &Arguments) -> Result<ExitOutcome, Failure> {
    super::render::check_results(&arguments.results)?;
    let folder = arguments.out.as_ref().unwrap_or(&arguments.results);
    output::check_folder(folder)?;
    std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
    for (kind, count) in vtkhdf::export(&arguments.results, folder).map_err(super::render::input)? {
        say!("wrote {}: {count} frames", folder.join(kind).with_extension("vtkhdf").display());
    }
    Ok(ExitOutcome::Done)
}
