//! Class `Simulation`: what it holds, and how threads and processes share its engine.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use esker::scenario::Scenario;
use esker::simulation::Interval;
use pyo3::prelude::*;

use crate::device::Device;
use crate::errors::{Error, raised};
use crate::fork;

/// Simulation of the library, which the class wraps.
pub type Engine = esker::simulation::Simulation<'static>;

/// Interface to the processor, of a device that is no graphics card.
const CPU_BACKEND: &str = "rayon";

/// Number of steps in a batch, adapted to their wall time.
pub struct Pace {
    pub steps: u64,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { steps: 1 }
    }
}

/// Functions that are called at intervals of simulated time.
#[derive(Default)]
pub struct Calls {
    pub list: Vec<(Interval, Py<PyAny>)>,
}

impl Calls {
    /// The functions.
    pub fn functions(&self) -> impl Iterator<Item = &Py<PyAny>> {
        self.list.iter().map(|(_, function)| function)
    }

    /// Takes the functions that are due after step `step`; each is due again after its next interval.
    pub fn take_due(&mut self, py: Python<'_>, step: u64, time: f64) -> Vec<Py<PyAny>> {
        let due = self.list.iter_mut().filter(|(interval, _)| interval.next_step() <= step);
        due.map(|(interval, function)| {
            interval.pass(time);
            function.clone_ref(py)
        })
        .collect()
    }

    pub fn next_step(&self) -> u64 {
        self.list.iter().map(|(interval, _)| interval.next_step()).min().unwrap_or(u64::MAX)
    }
}

/// A scene on a device, at one time.
///
/// Made by `Simulation.from_file`, `Simulation.from_dict` or `Simulation.resume`. All numbers are in SI units. Arrays have one row per
/// grain that is there, in the same order in all of them; `ids()` tells which grains those are. Every array is a new copy of the present
/// state: neither does it change later, nor does changing it change the simulation.
///
/// Other Python threads go on while it steps. Several threads may use one simulation: each call waits for the end of the batch of steps
/// that is under way (at most about 0.1 s), and only one of them may step.
#[pyclass(frozen, module = "esker")]
pub struct Simulation {
    pub scenario: Arc<Scenario>,
    /// The engine; `None` only while this is dropped.
    engine: Mutex<Option<Engine>>,
    /// Process that it belongs to.
    process: AtomicU32,
    /// Number of threads that wait for the engine.
    waiting: AtomicUsize,
    pub is_stepping: AtomicBool,
    pub pace: Mutex<Pace>,
    pub calls: Mutex<Calls>,
    #[pyo3(get)]
    /// Device that it runs on.
    pub device: Py<Device>,
}

impl Simulation {
    /// Wraps a simulation of the library for Python.
    pub fn new(py: Python<'_>, scenario: Arc<Scenario>, engine: Engine, word: &str) -> PyResult<Simulation> {
        let device = Device::of(engine.identity(), word);
        Ok(Simulation {
            scenario,
            engine: Mutex::new(Some(engine)),
            process: AtomicU32::new(std::process::id()),
            waiting: AtomicUsize::new(0),
            is_stepping: AtomicBool::new(false),
            pace: Mutex::default(),
            calls: Mutex::default(),
            device: Py::new(py, device)?,
        })
    }

    /// Calls a function with the engine, without the interpreter lock. Waits until no other thread uses the engine.
    pub fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut Engine) -> Result<T, esker::error::Error> + Send,
    ) -> PyResult<T> {
        self.take_over()?;
        let found = fork::detached(py, || {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            let engine = self.engine.lock();
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            engine.ok().and_then(|mut engine| engine.as_mut().map(call))
        })?;
        let found = found.ok_or_else(|| {
            Error::new_err("the engine panicked before and has no state to show: start the simulation anew")
        })?;
        found.map_err(|error| raised(&error))
    }

    /// Makes the simulation one of this process, where it was forked from the process that made the simulation.
    fn take_over(&self) -> PyResult<()> {
        let here = std::process::id();
        if self.process.load(Ordering::SeqCst) == here {
            return Ok(());
        }
        if self.device.get().backend != CPU_BACKEND {
            return Err(fork::no_card());
        }
        // A thread that had the lock at the fork is not in this process, and never gives it back.
        if self.engine.try_lock().is_err() {
            return Err(Error::new_err(
                "the process was forked while another thread stepped this simulation, whose state here is half a step: fork between \
                 steps, or start the simulation anew in this process",
            ));
        }
        self.waiting.store(0, Ordering::SeqCst);
        self.is_stepping.store(false, Ordering::SeqCst);
        self.process.store(here, Ordering::SeqCst);
        Ok(())
    }

    /// Waits until threads that want the engine have it. A lock that is taken again at once would not be fair to them.
    pub fn give_way(&self) {
        while self.waiting.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
    }

    pub fn time_now(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |engine| Ok(engine.time()))
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        // A driver whose threads are in another process would wait for them for ever.
        let is_foreign = *self.process.get_mut() != std::process::id();
        if is_foreign && self.device.get().backend != CPU_BACKEND {
            std::mem::forget(self.engine.get_mut().map(Option::take));
        }
    }
}
