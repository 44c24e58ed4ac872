//! `summary.json`: what ran, on what, how fast, and what came out; for machines to read.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::engine::{Identity, Residuals, Spread, Work};
use crate::observe::expectation::Verdict;
use crate::observe::{Column, Observation};
use crate::settings::Settings;

/// The summary of a run. A number that has no meaning (the height of no grains) is `null`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Version of this program.
    pub esker: &'static str,
    /// How the run ended.
    pub status: Status,
    /// What went wrong, of a run that failed, or of one whose last checkpoint could not be saved.
    pub message: Option<String>,
    /// What was run.
    pub scenario: ScenarioSummary,
    /// What ran it.
    pub engine: Identity,
    /// Settings of the solver.
    pub settings: Settings,
    /// How many of everything, at the end.
    pub counts: Counts,
    /// Steps done.
    pub steps: u64,
    /// Simulated time \[s\].
    pub simulated_seconds: f64,
    /// Wall time of the whole run \[s\].
    pub wall_seconds: f64,
    /// Sweeps done; `null` where the engine does not count them.
    pub work: Work,
    /// Steps per second of wall time spent stepping.
    pub steps_per_second: f64,
    /// Wall time by what it was spent on \[s\]: `step`, `emit`, `observe`, `output`, `pictures`, `convergence`,
    /// `checkpoint`.
    pub wall_seconds_by_task: Named,
    /// Wall time by stage of the step \[s\]; empty where the engine does not time them: on a GPU without `--profile`.
    pub wall_seconds_by_stage: Named,
    /// Memory of the engine.
    pub memory: Memory,
    /// Grains that the emitters were to place, and did.
    pub emitters: Vec<EmitterSummary>,
    /// Grains that the sinks removed.
    pub sinks: Vec<SinkSummary>,
    /// Grains that got lost, and where; `null` where none did.
    pub lost: Option<LostSummary>,
    /// What of the scenario was changed when the run went on from a checkpoint.
    pub changed_on_resume: Vec<ChangeSummary>,
    /// Residuals of the last step \[E8\].
    pub residuals: Residuals,
    /// Overlap over the mean radius at the end \[-\].
    pub overlap: Spread,
    /// Energies at the end \[J\].
    pub energies: Named,
    /// All observables at the end, by column of the time series.
    pub observables: Named,
    /// Units of the observables.
    pub units: Named<&'static str>,
    /// What the scenario expected.
    pub expectations: Vec<Verdict>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// At its end.
    Completed,
    /// By the user.
    Interrupted,
    /// By an error.
    Failed,
}

/// What was run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScenarioSummary {
    /// Name of the scenario file.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Time it was to simulate \[s\].
    pub duration: f64,
}

/// How many of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Grains that are there; those removed by a sink are not.
    pub grains: usize,
    /// Boundaries.
    pub boundaries: usize,
    /// Surfaces of the boundaries.
    pub surfaces: usize,
    /// Materials.
    pub materials: usize,
    /// Contacts of the last step.
    pub contacts: u64,
}

/// Memory of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Memory {
    /// Bytes in all.
    pub bytes: u64,
    /// Bytes per grain.
    pub bytes_per_grain: f64,
}

/// Grains of an emitter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EmitterSummary {
    /// Its name.
    pub name: String,
    /// Grains it was to place by its last wave.
    pub requested: u64,
    /// Grains it found room for.
    pub placed: u64,
}

/// Grains of a sink.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SinkSummary {
    /// Its name.
    pub name: String,
    /// Grains it removed.
    pub removed: u64,
    /// Their mass \[kg\].
    pub mass: f64,
}

/// A value of the scenario that is another one from some step on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangeSummary {
    /// Simulated time \[s\].
    pub time: f64,
    /// Steps done by then.
    pub step: u64,
    /// Its path, as in `--set`.
    pub key: String,
    /// What it was; `null` where it was not there.
    pub was: Option<String>,
    /// What it is; `null` where it is gone.
    pub is: Option<String>,
}

/// Grains that left the domain, or without one fell out of everything.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LostSummary {
    /// How many.
    pub grains: u64,
    /// Corners of the box around the places where they got out \[m\].
    pub places: [[f64; 3]; 2],
}

/// Values by name, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Named<T = f64>(pub Vec<(String, T)>);

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Named, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Named;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("values by name")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Named, M::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Named(pairs))
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}

impl Named {
    /// The values of an observation under their names.
    pub fn observables(columns: &[Column], observation: &Observation) -> Named {
        let names = columns.iter().map(|column| column.name.clone());
        Named(names.zip(observation.values.iter().copied()).collect())
    }

    /// Adds to a value; to zero if there is none of that name.
    pub fn add(&mut self, name: &str, amount: f64) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, value)) => *value += amount,
            None => self.0.push((name.to_owned(), amount)),
        }
    }

    /// The value of that name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| known == name).map(|&(_, value)| value)
    }

    /// The values of these names that there are.
    #[must_use]
    pub fn only(&self, names: &[&str]) -> Named {
        Named(self.0.iter().filter(|(name, _)| names.contains(&name.as_str())).cloned().collect())
    }
}

impl Named<&'static str> {
    /// The units of columns under their names.
    pub fn units(columns: &[Column]) -> Named<&'static str> {
        Named(columns.iter().map(|column| (column.name.clone(), column.unit)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_values_keep_their_order_and_one_that_is_not_a_number_is_null() {
        let mut named = Named::default();
        named.add("zebra", 1.0);
        named.add("ant", f64::NAN);
        named.add("zebra", 0.5);
        assert_eq!(serde_json::to_string(&named).expect("json"), r#"{"zebra":1.5,"ant":null}"#);
        assert_eq!((named.get("zebra"), named.get("bee")), (Some(1.5), None));
        assert_eq!(named.only(&["ant"]).0.len(), 1);
    }
}
