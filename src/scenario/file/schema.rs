//! JSON schema of the scenario file, for editors that complete and check keys.
//!
//! The schema is made by running the reader, not written by hand: the reader goes over small scenarios with one value changed at a time,
//! and its requests for that value (a number of some kind, a table with some keys, one of some words) become the schema of the value. So
//! schema and reader cannot disagree. The schema cannot express conditions on two values at once, names of other elements, and files;
//! `esker check` checks those.

mod describe;
mod explore;
mod json;

use serde_json::Value;

/// Returns the JSON schema (draft 07) of the scenario file. JSON has no infinite numbers, so those of TOML are not covered.
pub fn schema() -> Value {
    json::schema(&explore::root())
}

#[cfg(test)]
mod tests;
