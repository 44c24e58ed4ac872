//! Runs: to a time, and into a folder of results.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use esker::output;
use esker::simulation::{Resumption, Run, RunOptions, Turn};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::device::{Word, word};
use crate::errors::{raised, refused};
use crate::fork;
use crate::handle::{Engine, Simulation};
use crate::scenario;
use crate::stepping::{Progress, Stepping, last_step, step_until};

/// Advances a simulation to a time, and writes results if a folder is given.
pub fn run_simulation<'py>(
    this: &Bound<'py, Simulation>,
    until: Option<&Bound<'py, PyAny>>,
    progress: Option<&Bound<'py, PyAny>>,
    out: Option<PathBuf>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (py, own) = (this.py(), this.get());
    let (end, last) = last_step(own, py, until)?;
    let watch = watcher(py, progress)?;
    let Some(folder) = out else {
        return step_until(this, last, watch.as_ref()).map(|()| None);
    };
    check_folder(&folder, own)?;
    let interrupt = AtomicBool::new(false);
    let options = RunOptions { until: Some(end), saves: true, ..RunOptions::new(&folder, &interrupt) };
    let stepping = Stepping::begin(own)?;
    let run = own.with(py, |engine| Run::of(engine, &own.scenario, options))?;
    finish(this, &stepping, run, &interrupt, watch.as_ref())?;
    drop(stepping);
    results(py, &folder).map(Some)
}

/// Refuses a folder that cannot be made, or in which a result would replace what the run reads.
fn check_folder(folder: &Path, own: &Simulation) -> PyResult<()> {
    let checked = output::check_folder(folder)
        .and_then(|()| output::check_inputs(folder, &own.scenario.inputs, output::Resumes::No));
    checked.map_err(|error| raised(&error))
}

/// Takes all turns of a run. If a signal or a callback ends it, the files in the folder are completed first.
fn finish(
    this: &Bound<'_, Simulation>,
    stepping: &Stepping<'_>,
    mut run: Run<'_>,
    interrupt: &AtomicBool,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let (py, own) = (this.py(), this.get());
    let mut step = own.with(py, |engine| Ok(engine.steps()))?;
    loop {
        let (most, begun) = (stepping.most(step), Instant::now());
        let Turn::Advanced(advanced) = own.with(py, |engine| run.turn(engine, most))? else { return Ok(()) };
        stepping.note(advanced.step - step, begun.elapsed().as_secs_f64());
        step = advanced.step;
        let progress = Progress {
            step,
            steps: advanced.steps,
            time: advanced.time,
            end: advanced.end,
            contacts: advanced.contacts,
            steps_per_second: advanced.steps_per_second,
        };
        if let Err(exception) = stepping.rest(this, progress, watch) {
            interrupt.store(true, Ordering::Relaxed);
            own.with(py, |engine| run.turn(engine, 1))?;
            return Err(exception);
        }
    }
}

/// Function that is called after every batch: none, the line on the standard error, or the function of the user.
fn watcher<'py>(
    py: Python<'py>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match progress {
        None => Ok(None),
        Some(flag) if flag.is_instance_of::<PyBool>() => match flag.is_truthy()? {
            true => py.import("esker._progress")?.getattr("Line")?.call0().map(Some),
            false => Ok(None),
        },
        Some(function) => Ok(Some(function.clone())),
    }
}

fn results<'py>(py: Python<'py>, folder: &Path) -> PyResult<Bound<'py, PyAny>> {
    py.import("esker")?.getattr("read")?.call1((folder,))
}

/// Runs a scenario from its start to its end into a folder, as `esker run` does, and returns its `Results`.
///
/// `scenario` is the path of a file or a dictionary; `out` the folder, by default `out/<name>`. `until` is the end in simulated time [s],
/// by default that of the scenario. With `resume`, the run goes on from the last checkpoint in the folder, and starts anew where there is
/// none. `device`, `set` and `progress` are those of `Simulation.from_file` and `Simulation.run`.
#[pyfunction]
#[pyo3(signature = (scenario, out = None, *, device = Word::auto(), set = None, until = None, progress = None, resume = false))]
#[pyo3(
    text_signature = "(scenario, out=None, *, device='auto', set=None, until=None, progress=None, resume=False)"
)]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn run<'py>(
    py: Python<'py>,
    scenario: &Bound<'py, PyAny>,
    out: Option<PathBuf>,
    #[pyo3(from_py_with = word)] device: Word,
    set: Option<&Bound<'py, PyDict>>,
    until: Option<&Bound<'py, PyAny>>,
    progress: Option<&Bound<'py, PyAny>>,
    resume: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let scenario = scenario::of_either(scenario, set)?;
    let folder = out.unwrap_or_else(|| Path::new("out").join(&scenario.name));
    output::check_folder(&folder).map_err(|error| raised(&error))?;
    let resumption = match resume {
        true => Some(fork::detached(py, || Resumption::of(&folder))?.map_err(|error| raised(&error))?),
        false => None,
    };
    let checkpoint = resumption.as_ref().and_then(|resumption| resumption.checkpoint.as_ref());
    let end = until.map(|until| crate::values::number(until, "until [s]")).transpose()?;
    if let Some(end) = end {
        if end < 0.0 {
            return Err(refused(format!("until [s]: expected a time from 0 on, found {end}")));
        }
        esker::scenario::check_step_count(end, scenario.settings.time_step).map_err(refused)?;
    }
    let engine = device.open(py, &scenario, checkpoint)?;
    // The run borrows the scenario from here on, so it needs a copy of its own.
    let shared = scenario.clone();
    let interrupt = AtomicBool::new(false);
    let options =
        RunOptions { until: end, saves: true, resume: resumption, ..RunOptions::new(&folder, &interrupt) };
    let begun = fork::detached(py, || Run::begin(&shared, engine, options))?;
    let (run, engine): (Run<'_>, Engine) = begun.map_err(|error| raised(&error))?;
    let simulation = Bound::new(py, Simulation::new(py, scenario, engine, &device.text)?)?;
    let watch = watcher(py, progress)?;
    finish(&simulation, &Stepping::begin(simulation.get())?, run, &interrupt, watch.as_ref())?;
    results(py, &folder)
}
