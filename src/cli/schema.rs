//! `esker schema`: the JSON schema of the scenario file.

use crate::scenario;

use super::terminal::say;
use super::{ExitOutcome, Failure};

/// Prints the schema.
pub(super) fn print() -> Result<ExitOutcome, Failure> {
    say!("{:#}", scenario::schema());
    Ok(ExitOutcome::Done)
}
