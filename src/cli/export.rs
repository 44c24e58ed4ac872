//! `esker export`: all frames of a run in one file.

use std::path::PathBuf;

use crate::output::vtkhdf;

use super::terminal::say;
use super::{Failure, Outcome};

/// Arguments of `esker export`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Folder of results, of a run that ended or goes on.
    results: PathBuf,
    /// File to write; default: results.vtkhdf in that folder.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Writes the file.
pub(super) fn export(arguments: &Arguments) -> Result<Outcome, Failure> {
    let file = arguments.out.clone().unwrap_or_else(|| arguments.results.join(vtkhdf::NAME));
    let vtkhdf::Exported { frames } = vtkhdf::export(&arguments.results, &file)?;
    let counts: Vec<String> = frames.iter().map(|(kind, count)| format!("{count} of {kind}")).collect();
    say!("wrote {}: frames {}", file.display(), counts.join(", "));
    Ok(Outcome::Done)
}
