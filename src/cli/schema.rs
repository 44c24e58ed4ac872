//! `esker schema`: the JSON schema of the scenario file.

use crate::scenario;

use super::terminal::say;
use super::{Failure, Outcome};

/// Prints the schema.
pub(super) fn print() -> Result<Outcome, Failure> {
    say!("{:#}", scenario::schema());
    Ok(Outcome::Done)
}
