//! Summary of a run, with its warnings.

use crate::engine::Spread;
use crate::error::Error;
use crate::model::Sink;
use crate::observe::expectation::{judge, leave_open};
use crate::observe::lost::Lost;
use crate::observe::quantity;
use crate::observe::watch::{self, Warning};
use crate::output::summary::{
    Counts, EmitterSummary, LostSummary, Memory, NamedValue, OverlapSummary, Provenance, RunStatus,
    ScenarioSummary, SinkSummary, Summary,
};
use crate::scenario::OnWarning;
use crate::simulation::Simulation;
use crate::sources::Emitter;

use super::Run;

impl Run<'_> {
    /// Warnings about the run so far, at `time` \[s\].
    pub(super) fn warnings(&self, time: f64) -> Vec<Warning> {
        let world = &self.scenario.world;
        let domain = world.domain.as_ref().map(|domain| domain.outside);
        let lost = self.course.lost.iter().map(|lost| watch::grains_lost(lost, domain, time));
        self.course.watch.warnings(world).into_iter().chain(lost).collect()
    }

    /// Number of warnings so far, which takes no words.
    pub(super) fn warning_count(&self) -> usize {
        self.course.watch.count() + usize::from(self.course.lost.is_some())
    }

    /// Ends a run that is to stop at its first warning.
    pub(super) fn heed_warnings(&self, time: f64) -> Result<(), Error> {
        let first = match self.scenario.on_warning {
            OnWarning::GoOn => None,
            OnWarning::Stop => self.warnings(time).into_iter().next(),
        };
        first.map_or(Ok(()), |warning| Err(Error::Warned { warning: warning.to_string() }))
    }

    /// Summary of the run so far.
    pub(super) fn summary(
        &self,
        simulation: &Simulation<'_>,
        status: RunStatus,
        message: Option<String>,
    ) -> Summary {
        let Simulation { observer, emitters, requested, grains, report, .. } = simulation;
        let (scenario, columns) = (self.scenario, observer.columns());
        let last = self.course.observations.last();
        let steps = last.map_or(simulation.step, |last| last.step.max(simulation.step));
        let time = last.map_or(0.0, |last| last.time).max(report.time);
        let observables = last.map(|last| NamedValue::observables(columns, last)).unwrap_or_default();
        let observable = |name| observables.get(name).unwrap_or_default();
        let is_complete = status == RunStatus::Completed && self.end >= scenario.duration;
        let stepping = self.course.tasks.get("step").unwrap_or_default();
        let bytes = simulation.memory();
        let precision = simulation.identity().precision;
        let emitters: Vec<EmitterSummary> = emitters.iter().zip(requested).map(summary_of).collect();
        let no_room = emitters
            .iter()
            .filter_map(|emitter| watch::no_room(&emitter.name, emitter.placed, emitter.requested, time));
        let no_room: Vec<Warning> = no_room.collect();
        Summary {
            esker: env!("CARGO_PKG_VERSION"),
            provenance: Provenance::of_process(),
            status,
            message,
            scenario: ScenarioSummary {
                name: scenario.name.clone(),
                title: scenario.title.clone(),
                duration: scenario.duration,
            },
            engine: simulation.identity(),
            settings: scenario.settings,
            counts: Counts {
                grains: grains - self.course.removed,
                boundaries: scenario.world.boundaries.len(),
                surfaces: scenario.world.surface_groups().count(),
                materials: scenario.world.materials.list.len(),
                contacts: observable("contacts") as u64,
            },
            steps,
            simulated_seconds: time,
            wall_seconds: self.seconds(),
            work: report.work,
            steps_per_second: if stepping > 0.0 { steps as f64 / stepping } else { 0.0 },
            wall_seconds_by_task: self.course.tasks.clone(),
            wall_seconds_by_stage: self.course.stages.clone(),
            memory: Memory { bytes, bytes_per_grain: bytes as f64 / (*grains).max(1) as f64 },
            emitters,
            sinks: scenario.world.sinks.iter().map(|sink| taken_by(sink, &observables)).collect(),
            lost: self
                .course
                .lost
                .map(|Lost { grains, places }| LostSummary { grains, places: places.map(Into::into) }),
            warnings: self.warnings(time).into_iter().chain(no_room).collect(),
            changed_on_resume: self.course.changes.clone(),
            residuals: report.residuals,
            overlap: Spread { mean: observable("mean_overlap"), max: observable("max_overlap") },
            largest_overlap: self.course.watch.deepest().map(|it| OverlapSummary::of(it, &scenario.world)),
            energies: observables.only(&quantity::energies()),
            observables,
            units: NamedValue::units(columns),
            expectations: match is_complete {
                true => judge(&scenario.expectations, observer, &self.course.observations, precision),
                false => leave_open(&scenario.expectations, time, precision),
            },
        }
    }
}

fn taken_by(sink: &Sink, observables: &NamedValue) -> SinkSummary {
    let value = |quantity: &str| observables.get(&format!("{quantity}:{}", sink.name)).unwrap_or_default();
    SinkSummary { name: sink.name.clone(), removed: value("removed") as u64, mass: value("removed_mass") }
}

fn summary_of((emitter, &requested): (&Emitter, &u64)) -> EmitterSummary {
    EmitterSummary { name: emitter.name().to_owned(), requested, placed: emitter.placed() }
}
