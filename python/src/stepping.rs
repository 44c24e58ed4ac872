//! Steps in batches. Between two batches signals are heard and callbacks are called.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant;

use esker::simulation::{Interval, steps_until};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Error, refused};
use crate::handle::Simulation;
use crate::values::number;

/// Wall time that a batch should take at most \[s\]: Ctrl-C and other threads wait for it.
const BATCH_SECONDS: f64 = 0.1;
/// Largest ratio of the steps of a batch to the steps of the batch before.
const BATCH_GROWTH: u64 = 4;

/// How far stepping has come.
#[pyclass(frozen, get_all, module = "esker")]
pub struct Progress {
    /// Number of time steps done.
    pub step: u64,
    /// Number of time steps at the end.
    pub steps: u64,
    /// Simulated time [s].
    pub time: f64,
    /// Simulated time at the end [s].
    pub end: f64,
    /// Contacts in the last step.
    pub contacts: u64,
    /// Time steps per second of wall time in the last batch [1/s].
    pub steps_per_second: f64,
}

#[pymethods]
impl Progress {
    fn __repr__(&self) -> String {
        format!("<Progress {} of {} steps, {} of {} s>", self.step, self.steps, self.time, self.end)
    }
}

/// Guard of a simulation that steps: while it exists, nobody else can step the simulation.
pub struct Stepping<'a> {
    own: &'a Simulation,
}

impl<'a> Stepping<'a> {
    pub fn begin(own: &'a Simulation) -> PyResult<Stepping<'a>> {
        match own.is_stepping.swap(true, Ordering::SeqCst) {
            true => Err(Error::new_err(
                "the simulation is stepping already: a callback may not step it, and only one thread may",
            )),
            false => Ok(Stepping { own }),
        }
    }

    /// Largest number of steps of the next batch, after step `step`.
    pub fn most(&self, step: u64) -> u64 {
        let calls = self.own.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let pace = self.own.pace.lock().unwrap_or_else(PoisonError::into_inner);
        calls.next_step().saturating_sub(step).min(pace.steps).max(1)
    }

    /// Work after a batch: hears signals, lets other threads have their turn, calls functions that are due, and tells the progress.
    pub fn rest(
        &self,
        this: &Bound<'_, Simulation>,
        progress: Progress,
        watch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let py = this.py();
        py.check_signals()?;
        py.detach(|| self.own.give_way());
        let due = self.own.calls.lock().unwrap_or_else(PoisonError::into_inner).take_due(
            py,
            progress.step,
            progress.time,
        );
        due.iter().try_for_each(|function| function.call1(py, (this,)).map(|_| ()))?;
        watch.map_or(Ok(()), |watch| watch.call1((progress,)).map(|_| ()))
    }

    /// Adapts the length of a batch to the wall time of the last one \[s\].
    pub fn note(&self, steps: u64, seconds: f64) {
        let affordable = (BATCH_SECONDS * steps as f64 / seconds.max(1e-9)) as u64;
        let mut pace = self.own.pace.lock().unwrap_or_else(PoisonError::into_inner);
        // A batch that was cut short for another reason does not lower this limit.
        let longest = pace.steps.max(steps).saturating_mul(BATCH_GROWTH);
        pace.steps = affordable.clamp(1, longest);
    }
}

impl Drop for Stepping<'_> {
    fn drop(&mut self) {
        self.own.is_stepping.store(false, Ordering::SeqCst);
    }
}

/// Steps until `end` steps are done.
pub fn step_until(this: &Bound<'_, Simulation>, end: u64, watch: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let (py, own) = (this.py(), this.get());
    let stepping = Stepping::begin(own)?;
    let time_step = own.scenario.settings.time_step;
    let mut step = own.with(py, |engine| Ok(engine.steps()))?;
    while step < end {
        let steps = stepping.most(step).min(end - step);
        let begun = Instant::now();
        let contacts = own.with(py, |engine| {
            engine.step(steps)?;
            Ok(engine.report().contacts)
        })?;
        let seconds = begun.elapsed().as_secs_f64();
        step += steps;
        stepping.note(steps, seconds);
        let progress = Progress {
            step,
            steps: end,
            time: step as f64 * time_step,
            end: end as f64 * time_step,
            contacts,
            steps_per_second: steps as f64 / seconds.max(1e-9),
        };
        stepping.rest(this, progress, watch)?;
    }
    Ok(())
}

/// Time until which to step, by default the end of the scenario, and the number of steps at that time.
pub fn last_step(own: &Simulation, py: Python<'_>, until: Option<&Bound<'_, PyAny>>) -> PyResult<(f64, u64)> {
    let end = until.map_or(Ok(own.scenario.duration), |until| number(until, "until [s]"))?;
    let time_step = own.scenario.settings.time_step;
    esker::scenario::check_step_count(end, time_step).map_err(refused)?;
    let (last, now) = (steps_until(end, time_step), own.with(py, |engine| Ok(engine.steps()))?);
    if last < now || end < 0.0 {
        let time = now as f64 * time_step;
        let message = format!("until [s]: expected the present time, {time} s, or a later one, found {end}");
        return Err(refused(message));
    }
    Ok((end, last))
}

/// Registers a function that is called at intervals of simulated time, `every` \[s\].
pub fn call(own: &Simulation, py: Python<'_>, every: &Bound<'_, PyAny>, function: Py<PyAny>) -> PyResult<()> {
    let every = number(every, "every [s]")?;
    if every <= 0.0 {
        return Err(refused(format!("every [s]: expected a positive time, found {every}")));
    }
    if !function.bind(py).is_callable() {
        let found = crate::values::shown(function.bind(py));
        return Err(pyo3::exceptions::PyTypeError::new_err(format!(
            "do: expected a function, found {found}"
        )));
    }
    let time = own.with(py, |engine| Ok(engine.time()))?;
    let interval = Interval::after(time, every, own.scenario.settings.time_step);
    own.calls.lock().unwrap_or_else(PoisonError::into_inner).list.push((interval, function));
    Ok(())
}

/// Report of the last steps, as a dictionary.
pub fn report<'py>(own: &Simulation, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    let report = own.with(py, |engine| Ok(engine.report().clone()))?;
    let dictionary = PyDict::new(py);
    dictionary.set_item("contacts", report.contacts)?;
    dictionary.set_item("colours", report.colours)?;
    dictionary.set_item("overflow", report.overflow)?;
    dictionary.set_item("sweeps", report.sweeps)?;
    dictionary.set_item("searches", report.searches)?;
    dictionary.set_item("residual_mean", report.residuals.normal.mean)?;
    dictionary.set_item("residual_max", report.residuals.normal.max)?;
    let stages = PyDict::new(py);
    report.stages.iter().try_for_each(|(stage, seconds)| stages.set_item(stage, seconds))?;
    dictionary.set_item("stages", stages)?;
    Ok(dictionary)
}
