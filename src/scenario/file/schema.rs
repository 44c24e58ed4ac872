//! The JSON schema of the scenario file, for editors that complete and check keys.
//!
//! It is made from the reader itself and not written beside it: the reader goes over small scenarios with one value changed at a time, and what
//! it asks of that value (a number of some kind, a table with some keys, one of some words) becomes the schema of that value. So the two cannot
//! depart from each other. What the schema cannot say is left to `esker check`: what depends on two values at once, names of other things, files.

mod describe;
mod explore;
mod json;

use serde_json::Value;

/// JSON schema (draft 07) of the scenario file. Numbers that are infinite in TOML have no place in it.
pub fn schema() -> Value {
    json::schema(&explore::root())
}

#[cfg(test)]
mod tests;
