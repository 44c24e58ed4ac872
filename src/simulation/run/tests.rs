//! Tests of the run loop, on an engine that only counts steps.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicUsize;

use super::*;
use crate::checkpoint::Checkpoint;
use crate::contact::{Impulse, Key};
use crate::engine::{Identity, Occupied, Precision, Snapshot, StepReport, saved};
use crate::model::{Grain, World};
use crate::observe::expectation::Judgement;

/// Engine that counts steps; it can fail at one of them, or be interrupted after one.
struct Counter<'a> {
    world: World,
    time_step: f64,
    step: u64,
    calls: Vec<u64>,
    fails_at: Option<u64>,
    interrupts_at: Option<(u64, &'a AtomicBool)>,
}

impl<'a> Counter<'a> {
    fn of(scenario: &Scenario) -> Counter<'a> {
        Counter {
            world: scenario.world.clone(),
            time_step: scenario.settings.time_step,
            step: 0,
            calls: Vec::new(),
            fails_at: None,
            interrupts_at: None,
        }
    }

    fn report(&self) -> StepReport {
        StepReport { step: self.step, time: self.step as f64 * self.time_step, ..StepReport::default() }
    }
}

impl Engine for Counter<'_> {
    fn identity(&self) -> Identity {
        Identity {
            engine: "cpu",
            device: "counter".into(),
            driver: String::new(),
            backend: String::new(),
            precision: Precision::Double,
        }
    }

    fn advance(&mut self, steps: u64) -> Result<StepReport, Error> {
        self.calls.push(steps);
        for _ in 0..steps {
            if self.fails_at == Some(self.step + 1) {
                let time = self.report().time;
                return Err(Error::NotANumber { grain: 7, time, time_step: self.time_step });
            }
            self.step += 1;
        }
        if let Some((step, interrupt)) = self.interrupts_at {
            interrupt.fetch_or(self.step >= step, Ordering::Relaxed);
        }
        Ok(self.report())
    }

    fn snapshot(&mut self) -> Result<Snapshot, Error> {
        Ok(Snapshot::new(self.world.clone(), Vec::new(), self.time_step, self.report()))
    }

    fn occupied(&mut self) -> Result<Occupied<'_>, Error> {
        Ok(Occupied::of(&self.world))
    }

    fn add_grains(&mut self, grains: &[Grain]) -> Result<(), Error> {
        self.world.add_grains(grains.iter().copied());
        Ok(())
    }

    fn change(&mut self, _: &mut dyn FnMut(&mut World)) -> Result<(), Error> {
        Ok(())
    }

    fn seed(&mut self, _: &[(Key, Impulse)]) -> Result<(), Error> {
        Ok(())
    }

    fn set_iterations(&mut self, _: u32) {}

    fn save(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        saved::write(out, &self.step)
    }

    fn restore(&mut self, mut state: &[u8]) -> Result<(), Error> {
        self.step = saved::read(&mut state)?;
        Ok(())
    }

    fn memory(&self) -> u64 {
        1000
    }
}

const STONE: &str = r#"
[materials.stone]
density = 1000.0
youngs_modulus = 1e6
poisson_ratio = 0.25
restitution = 0.5
friction = 0.5
"#;

const ONE_GRAIN: &str = r#"
[[grains]]
material = "stone"
radius = { kind = "constant", value = 0.5 }
packing = { kind = "list", positions = [[0, 0, 1.0]] }
"#;

/// A scenario of 1 s in steps of 0.01 s with an output every 0.25 s; `more` is appended.
fn scenario(more: &str, changes: &[&str]) -> Scenario {
    let head = "duration = 1.0\n[solver]\ntime_step = 0.01\n[output]\nevery = 0.25\nformats = [\"csv\"]\n";
    let text = format!("{head}{STONE}{more}");
    let changes: Vec<String> = changes.iter().map(|change| (*change).to_owned()).collect();
    Scenario::parse("test", &text, Path::new(""), &changes).unwrap_or_else(|problems| panic!("{problems}"))
}

struct Run {
    folder: tempfile::TempDir,
    result: Result<Summary, Error>,
    calls: Vec<u64>,
}

impl Run {
    /// Times of the rows of the time series.
    fn times(&self) -> Vec<f64> {
        let file = self.folder.path().join("timeseries.csv");
        let mut rows = csv::Reader::from_path(file).expect("a time series");
        rows.records().map(|row| row.expect("a row")[0].parse().expect("a time")).collect()
    }

    fn summary(&self) -> &Summary {
        self.result.as_ref().expect("a run that did not fail")
    }

    fn summary_on_disk(&self) -> serde_json::Value {
        let text = std::fs::read_to_string(self.folder.path().join("summary.json")).expect("a summary");
        serde_json::from_str(&text).expect("valid JSON")
    }
}

fn run_with<'a>(
    scenario: &Scenario,
    mut engine: Counter<'a>,
    until: Option<f64>,
    interrupt: &'a AtomicBool,
) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let options = RunOptions { until, ..RunOptions::new(folder.path(), interrupt) };
    let result = run(scenario, &mut engine, options, &mut |_| {});
    Run { folder, result, calls: engine.calls }
}

fn run_plainly(scenario: &Scenario) -> Run {
    run_with(scenario, Counter::of(scenario), None, &AtomicBool::new(false))
}

#[test]
fn the_number_of_steps_ignores_rounding_and_counts_a_part_as_a_step() {
    assert_eq!(steps_until(0.3, 0.1), 3, "0.3 / 0.1 is just below 3");
    assert_eq!(steps_until(0.7, 0.1), 7, "0.7 / 0.1 is just below 7");
    assert_eq!(steps_until(7.0, 5e-3), 1400);
    assert_eq!(steps_until(2.1, 0.7), 3, "2.1 / 0.7 is just above 3");
    assert_eq!(steps_until(0.31, 0.1), 4);
    assert_eq!(steps_until(0.0, 0.1), 0);
    assert_eq!(steps_until(1e6, 1e-3), 1_000_000_000);
}

#[test]
fn outputs_are_at_the_start_at_every_interval_and_at_the_end() {
    let run = run_plainly(&scenario(ONE_GRAIN, &["output.every=0.4"]));
    assert_eq!(run.times(), [0.0, 0.4, 0.8, 1.0]);
    assert_eq!(run.summary().steps, 100);
    assert_eq!(run.calls.iter().sum::<u64>(), 100);
}

#[test]
fn an_output_between_two_steps_waits_for_the_later_one() {
    let run = run_plainly(&scenario(ONE_GRAIN, &["solver.time_step=0.2", "output.every=0.25"]));
    assert_eq!(run.times(), [0.0, 0.4, 0.6000000000000001, 0.8, 1.0]);
}

#[test]
fn more_outputs_than_steps_give_one_per_step() {
    let run = run_plainly(&scenario(ONE_GRAIN, &["solver.time_step=0.5", "output.every=0.1"]));
    assert_eq!(run.times(), [0.0, 0.5, 1.0]);
}

#[test]
fn a_batch_takes_a_quarter_of_a_second_but_grows_by_four_at_most() {
    assert_eq!(next_batch(1, 1e6), 4);
    assert_eq!(next_batch(64, 100.0), 25);
    assert_eq!(next_batch(8, 0.5), 1, "a step that takes longer is still a batch");
}

#[test]
fn a_run_begins_with_a_single_step_and_no_batch_passes_an_output() {
    let run = run_plainly(&scenario(ONE_GRAIN, &["output.every=0.1"]));
    assert_eq!(run.calls[0], 1);
    assert!(run.calls.iter().all(|&steps| steps <= 10), "{:?}", run.calls);
}

#[test]
fn an_interrupt_ends_the_run_after_its_batch_with_the_state_and_a_summary_on_disk() {
    let scenario =
        scenario(&format!("{ONE_GRAIN}[expect]\nheight = {{ at_least = 9 }}\n"), &["output.every=1.0"]);
    let interrupt = AtomicBool::new(false);
    let engine = Counter { interrupts_at: Some((5, &interrupt)), ..Counter::of(&scenario) };
    let run = run_with(&scenario, engine, None, &interrupt);
    let times = run.times();
    assert!(times.len() == 2 && (0.05..1.0).contains(&times[1]), "{times:?}");
    assert_eq!(run.summary().status, RunStatus::Interrupted);
    assert_eq!(run.summary().expectations[0].verdict, Judgement::NotReached);
    assert_eq!(run.summary_on_disk()["status"], "interrupted");
}

#[test]
fn an_interrupt_that_comes_with_the_last_step_changes_nothing() {
    let scenario = scenario(ONE_GRAIN, &[]);
    let interrupt = AtomicBool::new(false);
    let engine = Counter { interrupts_at: Some((100, &interrupt)), ..Counter::of(&scenario) };
    assert_eq!(run_with(&scenario, engine, None, &interrupt).summary().status, RunStatus::Completed);
}

#[test]
fn a_step_that_fails_leaves_the_state_before_it_and_a_summary_that_says_why() {
    let scenario = scenario(ONE_GRAIN, &[]);
    let engine = Counter { fails_at: Some(33), ..Counter::of(&scenario) };
    let run = run_with(&scenario, engine, None, &AtomicBool::new(false));
    assert!(matches!(run.result, Err(Error::NotANumber { grain: 7, .. })));
    assert_eq!(run.times(), [0.0, 0.25, 0.32]);
    let summary = run.summary_on_disk();
    assert_eq!(summary["status"], "failed");
    assert_eq!(summary["steps"], 32);
    assert!(summary["message"].as_str().expect("a message").contains("grain 7"));
}

#[test]
fn a_run_that_is_cut_short_leaves_its_expectations_open_and_a_whole_one_judges_them() {
    let scenario =
        scenario(&format!("{ONE_GRAIN}[expect]\nheight = {{ value = 1.5, tolerance = 0.0 }}\n"), &[]);
    let run_until = |until| run_with(&scenario, Counter::of(&scenario), until, &AtomicBool::new(false));
    let verdict = |run: &Run| run.summary().expectations[0].verdict;
    let short = run_until(Some(0.5));
    assert_eq!((verdict(&short), short.summary().status), (Judgement::NotReached, RunStatus::Completed));
    assert_eq!(short.times(), [0.0, 0.25, 0.5]);
    assert_eq!(verdict(&run_until(None)), Judgement::Met);
    assert_eq!(run_until(Some(1.5)).times().last(), Some(&1.5));
}

#[test]
fn a_run_of_no_time_writes_its_initial_state() {
    let scenario = scenario(ONE_GRAIN, &[]);
    let run = run_with(&scenario, Counter::of(&scenario), Some(0.0), &AtomicBool::new(false));
    assert_eq!((run.times(), run.calls.len()), (vec![0.0], 0));
}

#[test]
fn emitters_place_their_grains_in_waves_clear_of_each_other() {
    let source = |name: &str| {
        format!(
            "[[emitters]]\nname = \"{name}\"\nmaterial = \"stone\"\nradius = {{ kind = \"constant\", value = 0.5 }}\n\
             region = {{ kind = \"box\", min = [0, 0, 0], max = [9, 9, 9] }}\nrate = 40\nevery = 0.1\n"
        )
    };
    let scenario = scenario(&(source("left") + &source("right")), &["output.every=0.1"]);
    let mut engine = Counter::of(&scenario);
    let folder = tempfile::tempdir().expect("a folder");
    let never = AtomicBool::new(false);
    let options = RunOptions::new(folder.path(), &never);
    let mut grains = Vec::new();
    let summary = run(&scenario, &mut engine, options, &mut |progress| grains.push(progress.grains))
        .expect("a run that does not fail");

    assert!(grains.windows(2).all(|pair| pair[0] <= pair[1]), "{grains:?}");
    let placed: u64 = summary.emitters.iter().map(|emitter| emitter.placed).sum();
    assert_eq!(
        (placed as usize, summary.counts.grains),
        (engine.world.grain_count(), engine.world.grain_count())
    );
    assert_eq!(placed, 80, "two sources of 40 per second for a second");
    for emitter in &summary.emitters {
        assert_eq!(emitter.placed, emitter.requested, "{} owes nothing after its last wave", emitter.name);
    }
    let spheres = engine.occupied().expect("positions").spheres;
    for (i, (a, _)) in spheres.iter().enumerate() {
        assert!(spheres[..i].iter().all(|(b, _)| a.distance(*b) >= 1.0), "grain {i} overlaps an earlier one");
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_that_names_it() {
    let scenario = scenario(ONE_GRAIN, &[]);
    let file = tempfile::NamedTempFile::new().expect("a file");
    let folder = file.path().join("results");
    let never = AtomicBool::new(false);
    let options = RunOptions::new(&folder, &never);
    let error = run(&scenario, &mut Counter::of(&scenario), options, &mut |_| {}).expect_err("no folder");
    assert!(error.to_string().contains("results"), "{error}");
}

/// If this test fails, the format of checkpoints has changed: raise `FORMAT` in `src/checkpoint.rs`, and then the number here.
#[test]
fn what_a_run_saves_has_the_bytes_that_belong_to_its_format() {
    let scenario = scenario(ONE_GRAIN, &[]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("state.esker");
    let mut simulation = Simulation::on(&scenario, Box::new(Counter::of(&scenario))).expect("a simulation");
    simulation.save_with(&file, Some(&Saved::nothing(&scenario, 0, 100))).expect("saved");
    let checkpoint = Checkpoint::read(&file).expect("a checkpoint");
    assert_eq!(crc32fast::hash(&checkpoint.run), 1_667_570_807);
    let (_, mut rest) = Simulation::resume(&scenario, Box::new(Counter::of(&scenario)), &checkpoint)
        .expect("the same scenario");
    let read: Saved = saved::read(&mut rest).expect("what a run saves");
    assert!(rest.is_empty() && read.course.agenda.next_output == 0);
}

#[test]
fn a_run_that_is_taken_turn_by_turn_starts_from_the_present_state_and_calls_callbacks() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let scenario = scenario(ONE_GRAIN, &[]);
    let folder = tempfile::tempdir().expect("a folder");
    let never = AtomicBool::new(false);
    let mut simulation = Simulation::on(&scenario, Box::new(Counter::of(&scenario))).expect("a simulation");
    simulation.step(30).expect("steps");
    simulation.every(0.1, |_| {
        CALLS.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    let options = RunOptions { until: Some(0.6), ..RunOptions::new(folder.path(), &never) };
    let mut run = super::Run::of(&simulation, &scenario, options).expect("a folder");
    let mut steps = vec![simulation.steps()];
    let summary = loop {
        match run.turn(&mut simulation, 7).expect("a turn") {
            Turn::Advanced(progress) => steps.push(progress.step),
            Turn::Over(summary) => break summary,
        }
    };
    assert!(steps.windows(2).all(|pair| (1..=7).contains(&(pair[1] - pair[0]))), "{steps:?}");
    assert_eq!((simulation.steps(), CALLS.load(Ordering::Relaxed)), (60, 3), "at 0.4, 0.5 and 0.6 s");
    assert_eq!((summary.status, summary.steps), (RunStatus::Completed, 60));
    let run = Run { folder, result: Ok(*summary), calls: Vec::new() };
    assert_eq!(run.times(), [0.3, 0.5, 0.6]);
}
