//! `summary.json`: scenario, engine, speed and results of a run; for machines to read.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::engine::{Identity, Residuals, Spread, Work};
use crate::model::World;
use crate::observe::expectation::Verdict;
use crate::observe::watch::{Deepest, Warning};
use crate::observe::{Column, Observation};
use crate::settings::Settings;

/// The summary of a run. A number that has no meaning (the height of no grains) is `null`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Version of this program.
    pub esker: &'static str,
    /// Command, program, machine and date of the run.
    pub provenance: Provenance,
    /// How the run ended.
    pub status: RunStatus,
    /// Message of a run that failed, or of one whose last checkpoint could not be saved.
    pub message: Option<String>,
    /// Scenario that was run.
    pub scenario: ScenarioSummary,
    /// Engine that ran it.
    pub engine: Identity,
    /// Settings of the solver.
    pub settings: Settings,
    /// Numbers of grains, boundaries and so on at the end.
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
    pub wall_seconds_by_task: NamedValue,
    /// Wall time by stage of the step \[s\]; empty where the engine does not time them: on a GPU without `--profile`.
    pub wall_seconds_by_stage: NamedValue,
    /// Memory of the engine.
    pub memory: Memory,
    /// Grains that each emitter was to place, and grains that it placed.
    pub emitters: Vec<EmitterSummary>,
    /// Grains that each sink removed.
    pub sinks: Vec<SinkSummary>,
    /// Lost grains, and the places where they got out; `null` where no grain was lost.
    pub lost: Option<LostSummary>,
    /// What went wrong without ending the run; empty where nothing did.
    pub warnings: Vec<Warning>,
    /// Values of the scenario that were changed when the run went on from a checkpoint.
    pub changed_on_resume: Vec<ChangeSummary>,
    /// Residuals of the last step \[E8\].
    pub residuals: Residuals,
    /// Overlap over the mean radius at the end \[-\].
    pub overlap: Spread,
    /// Deepest overlap over all outputs; `null` where nothing overlapped.
    pub largest_overlap: Option<OverlapSummary>,
    /// Energies at the end \[J\].
    pub energies: NamedValue,
    /// All observables at the end, by column of the time series.
    pub observables: NamedValue,
    /// Units of the observables.
    pub units: NamedValue<&'static str>,
    /// Verdicts on the expectations of the scenario.
    pub expectations: Vec<Verdict>,
}

/// Command, program, machine and date of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Command line, word by word.
    pub command: Vec<String>,
    /// Commit that the program was built from; "unknown" for a debug build or a package without a repository.
    pub commit: &'static str,
    /// Name of the machine.
    pub host: String,
    /// Date and time at which the summary was written, in UTC (RFC 3339).
    pub date: String,
}

#[cfg(feature = "render")]
impl Provenance {
    /// The present process, here and now.
    pub fn of_process() -> Provenance {
        Provenance {
            command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
            commit: env!("ESKER_COMMIT"),
            host: gethostname::gethostname().to_string_lossy().into_owned(),
            date: humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string(),
        }
    }
}

/// Deepest overlap of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OverlapSummary {
    /// Depth over the radius of the smaller partner \[-\].
    pub overlap: f64,
    /// Depth \[m\].
    pub depth: f64,
    /// Volume that two grains have in common, over that of the smaller one \[-\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub common: Option<f64>,
    /// Names of the two bodies.
    pub bodies: [String; 2],
    /// Place \[m\].
    pub place: [f64; 3],
    /// Simulated time \[s\].
    pub time: f64,
}

impl OverlapSummary {
    /// Summary of an overlap at a time \[s\].
    pub fn of((time, deepest): (f64, &Deepest), world: &World) -> OverlapSummary {
        let &Deepest { overlap, depth, place, common, .. } = deepest;
        OverlapSummary {
            overlap,
            depth,
            common,
            bodies: deepest.bodies(world),
            place: place.to_array(),
            time,
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// The run reached its end.
    Completed,
    /// The user interrupted the run.
    Interrupted,
    /// The run stopped with an error.
    Failed,
}

/// Scenario that was run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScenarioSummary {
    /// Name of the scenario file.
    pub name: String,
    /// Title of the scenario.
    pub title: String,
    /// Time that was to be simulated \[s\].
    pub duration: f64,
}

/// Numbers of grains, boundaries and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Grains that are present; grains that a sink removed do not count.
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
    /// Name of the emitter.
    pub name: String,
    /// Grains that it was to place by its last wave.
    pub requested: u64,
    /// Grains that it found room for.
    pub placed: u64,
}

/// Grains of a sink.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SinkSummary {
    /// Name of the sink.
    pub name: String,
    /// Grains that it removed.
    pub removed: u64,
    /// Mass of these grains \[kg\].
    pub mass: f64,
}

/// Value of the scenario that was changed at some step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangeSummary {
    /// Simulated time \[s\].
    pub time: f64,
    /// Steps done by then.
    pub step: u64,
    /// Path of the value, as in `--set`.
    pub key: String,
    /// Old value; `null` where there was none.
    pub was: Option<String>,
    /// New value; `null` where there is none any more.
    pub is: Option<String>,
}

/// Lost grains: they left the domain or, without a domain, fell below everything that could stop them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LostSummary {
    /// Number of grains.
    pub grains: u64,
    /// Corners of the box around the places where they got out \[m\].
    pub places: [[f64; 3]; 2],
}

/// Values by name, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NamedValue<T = f64>(pub Vec<(String, T)>);

impl<T: Serialize> Serialize for NamedValue<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for NamedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NamedValue, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = NamedValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("values by name")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<NamedValue, M::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(NamedValue(pairs))
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}

impl NamedValue {
    /// The values of an observation under their names.
    pub fn observables(columns: &[Column], observation: &Observation) -> NamedValue {
        let names = columns.iter().map(|column| column.name.clone());
        NamedValue(names.zip(observation.values.iter().copied()).collect())
    }

    /// Adds an amount to the value of this name; a missing value counts as zero.
    pub fn add(&mut self, name: &str, amount: f64) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, value)) => *value += amount,
            None => self.0.push((name.to_owned(), amount)),
        }
    }

    /// Value of this name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| known == name).map(|&(_, value)| value)
    }

    /// Those of the values that have one of these names.
    #[must_use]
    pub fn only(&self, names: &[&str]) -> NamedValue {
        NamedValue(self.0.iter().filter(|(name, _)| names.contains(&name.as_str())).cloned().collect())
    }
}

impl NamedValue<&'static str> {
    /// The units of columns under their names.
    pub fn units(columns: &[Column]) -> NamedValue<&'static str> {
        NamedValue(columns.iter().map(|column| (column.name.clone(), column.unit)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_values_keep_their_order_and_one_that_is_not_a_number_is_null() {
        let mut named = NamedValue::default();
        named.add("zebra", 1.0);
        named.add("ant", f64::NAN);
        named.add("zebra", 0.5);
        assert_eq!(serde_json::to_string(&named).expect("json"), r#"{"zebra":1.5,"ant":null}"#);
        assert_eq!((named.get("zebra"), named.get("bee")), (Some(1.5), None));
        assert_eq!(named.only(&["ant"]).0.len(), 1);
    }
}
