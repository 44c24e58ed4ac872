//! Studies: one scenario run with all combinations of some settings; a study resumes where it stopped, and its results are reported.
//!
//! ```text
//! Study ─► runs ─┬─ those with a record ────────────────────────────────────┬─► Report ─► report.md, results.csv,
//!                └─ the others: open engine ─► simulation::run ─► record ───┘             results.json, plots
//! ```
//!
//! A finished run leaves `record.json` in its folder `runs/<name>.<fingerprint>/`. The fingerprint covers everything that the numbers of
//! the run depend on: the scenario with all settings and data files, the kept quantities, and the version of this program. After a change
//! of the study only the runs that the change affects are run again; plots, findings and numbers are computed anew from the records, and
//! values may be added to an axis. Several runs are made at the same time: on the CPU engine each on a share of the cores, on a GPU in one
//! ensemble, whose worlds are launched together. Results depend neither on the number of threads nor on the other worlds, so they are the
//! same as those of single runs.

pub mod draw;
pub mod plan;
pub mod record;
pub mod report;
pub mod table;
mod write;

mod evaluate;
mod markdown;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{fs, thread};

use crate::engine::{Engine, Identity, Precision};
use crate::error::Error;
use crate::output::lock::refuse_link;
use crate::output::summary::RunStatus;
use crate::output::{self, Copies};
use crate::scenario::Scenario;
use crate::scenario::study::Study;
use crate::simulation::{self, RunOptions};

use plan::StudyRun;
use record::RunRecord;

/// Refuses a folder in which the report of a study would replace one of the files that it reads.
///
/// # Errors
/// [`Error::InputAtRisk`], with the first such file.
pub fn check_inputs(folder: &Path, study: &Study) -> Result<(), Error> {
    let of_plots =
        study.plots.iter().flat_map(|plot| ["svg", "png"].map(|ending| format!("{}.{ending}", plot.file)));
    let names: Vec<String> = of_plots.map(|name| name.to_lowercase()).collect();
    let is_written = |name: &str| write::FILES.contains(&name) || names.iter().any(|known| known == name);
    output::protect(folder, &study.inputs, is_written)
}

/// Function that makes an engine at the initial state of a scenario; several threads may call it at once.
pub type Open<'a> = dyn Fn(&Scenario) -> Result<Box<dyn Engine>, Error> + Sync + 'a;

/// Part of the runs of a study, for a study that is split into several parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Number of this part, from 1.
    pub part: usize,
    /// Number of parts.
    pub parts: usize,
}

impl Shard {
    /// Returns the runs of this part: every `parts`-th run, from the `part`-th on.
    pub fn deal(self, runs: &[StudyRun]) -> Vec<&StudyRun> {
        runs.iter().skip(self.part - 1).step_by(self.parts).collect()
    }
}

/// Event during the execution of a study.
#[derive(Debug, Clone, Copy)]
pub enum StudyEvent<'a> {
    /// Share of the work that is done \[-\].
    Advanced(f64),
    /// Finished run and its record.
    Ran(&'a StudyRun, &'a RunRecord),
}

/// Records of the finished runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Done {
    /// Folder and record by fingerprint.
    records: BTreeMap<String, (PathBuf, RunRecord)>,
}

impl Done {
    /// Reads the records below the folder of a study.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn load(folder: &Path) -> Result<Done, Error> {
        let path = folder.join("runs");
        let mut done = Done::default();
        if !path.exists() {
            return Ok(done);
        }
        for entry in fs::read_dir(&path).map_err(Error::file(&path))? {
            let folder = entry.map_err(Error::file(&path))?.path();
            if !folder.is_dir() {
                continue;
            }
            if let Some(record) = RunRecord::load(&folder)? {
                done.records.insert(record.key.clone(), (folder, record));
            }
        }
        Ok(done)
    }

    /// Returns the record of a run, if it is finished.
    pub fn record(&self, run: &StudyRun) -> Option<&RunRecord> {
        self.records.get(&run.key).map(|(_, record)| record)
    }

    /// Returns the folder of a run, if it is finished.
    pub fn folder(&self, run: &StudyRun) -> Option<&Path> {
        self.records.get(&run.key).map(|(folder, _)| folder.as_path())
    }

    /// Number of records that belong to none of these runs, but to an earlier state of the study or its scenario.
    pub fn strangers(&self, runs: &[StudyRun]) -> usize {
        self.records.keys().filter(|key| runs.iter().all(|run| run.key != **key)).count()
    }

    /// Refuses an engine if finished runs of the study were made on another kind of engine.
    fn check_engine(&self, runs: &[StudyRun], identity: &Identity, folder: &Path) -> Result<(), Error> {
        let other = runs
            .iter()
            .filter_map(|run| self.record(run))
            .find(|record| record.engine.engine != identity.engine);
        match other {
            Some(record) => Err(Error::MixedEngines {
                folder: folder.to_owned(),
                there: record.engine.engine.clone(),
                here: identity.engine,
            }),
            None => Ok(()),
        }
    }
}

/// Options of an execution.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// Folder of the results.
    pub folder: &'a Path,
    /// Interrupt flag: when it is set, the runs end after their present batch of steps, and no other run starts.
    pub interrupt: &'a AtomicBool,
    /// Number of runs that a GPU makes at the same time; the engines then have to be of one ensemble.
    pub at_once: usize,
}

/// Makes the unfinished runs of `wanted`, the most expensive first, and leaves a record of each. `runs` are all runs of the study. A run
/// whose grains explode is recorded as failed, and the others continue. Returns whether all wanted runs are finished.
///
/// # Errors
/// When an engine cannot be made or a file cannot be written, and when the other runs of the study were made by the other engine.
pub fn execute(
    study: &Study,
    runs: &[StudyRun],
    wanted: &[&StudyRun],
    open: &Open<'_>,
    options: &Options<'_>,
    watch: &(dyn Fn(StudyEvent<'_>) + Sync),
) -> Result<bool, Error> {
    let done = Done::load(options.folder)?;
    let mut pending: Vec<&StudyRun> =
        wanted.iter().copied().filter(|run| done.record(run).is_none()).collect();
    // Combinations with the same scenario are one run.
    pending.sort_by(|a, b| a.key.cmp(&b.key));
    pending.dedup_by(|a, b| a.key == b.key);
    pending.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let Some(first) = pending.first() else { return Ok(true) };
    let identity = open(&load(study, first)?)?.identity();
    done.check_engine(runs, &identity, options.folder)?;
    let cores = rayon::current_num_threads();
    let workers = match identity.precision {
        Precision::Double => cores.min(pending.len()),
        Precision::Single => options.at_once.min(pending.len()),
    };
    let (queue, copies) = (Queue::new(&pending), Copies::default());
    let work = || {
        let pool = match identity.precision {
            Precision::Double => Some(threads((cores / workers).max(1))?),
            Precision::Single => None,
        };
        while let Some((i, run)) = queue.next(options.interrupt) {
            let advanced = |share| watch(StudyEvent::Advanced(queue.advanced(i, share)));
            let make = || make(study, run, (open, identity.engine), (options, &copies), &advanced);
            let record = match &pool {
                Some(pool) => pool.install(make),
                None => make(),
            };
            match record.inspect_err(|_| queue.stop())? {
                Some(record) => watch(StudyEvent::Ran(run, &record)),
                None => queue.stop(),
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let ended = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        ended.collect::<Result<Vec<()>, Error>>()
    })?;
    Ok(!queue.is_stopped() && !options.interrupt.load(Ordering::Relaxed))
}

fn threads(count: usize) -> Result<rayon::ThreadPool, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
    pool.map_err(|error| Error::file("threads")(std::io::Error::other(error)))
}

/// Reads the scenario of a run; it was valid when the runs were planned.
///
/// # Errors
/// When a file has changed since.
pub fn load(study: &Study, run: &StudyRun) -> Result<Scenario, Error> {
    run.scenario(study).map_err(|problems| Error::file(&study.scenario)(std::io::Error::other(problems)))
}

/// Makes one run on an engine of this kind; returns `None` if the run was interrupted.
fn make(
    study: &Study,
    run: &StudyRun,
    (open, kind): (&Open<'_>, &'static str),
    (options, copies): (&Options<'_>, &Copies),
    advanced: &dyn Fn(f64),
) -> Result<Option<RunRecord>, Error> {
    let scenario = load(study, run)?;
    let folder = run.path(options.folder);
    [options.folder.join("runs"), folder.clone()].iter().try_for_each(|folder| refuse_link(folder))?;
    let mut engine = open(&scenario)?;
    // `open` may return the CPU engine for a scene that does not fit a GPU.
    let there = engine.identity().engine;
    if there != kind {
        return Err(Error::MixedEngines {
            folder: options.folder.to_owned(),
            there: there.to_owned(),
            here: kind,
        });
    }
    let run_options = RunOptions { copies: Some(copies), ..RunOptions::new(&folder, options.interrupt) };
    let result = simulation::run(&scenario, engine.as_mut(), run_options, &mut |progress| {
        advanced(progress.step as f64 / progress.steps.max(1) as f64);
    });
    let record = match result {
        Ok(summary) if summary.status != RunStatus::Completed => return Ok(None),
        Ok(summary) => RunRecord::of(&run.key, &run.settings, &summary),
        Err(error) if is_of_the_grains(&error) => {
            RunRecord::of_failure(&run.key, &run.settings, engine.identity(), Some(error.to_string()))
        }
        Err(error) => return Err(error),
    };
    advanced(1.0);
    record.write(&folder)?;
    Ok(Some(record))
}

/// Returns whether a failure follows from the settings of a run, so that the run would fail again while other runs may succeed.
fn is_of_the_grains(error: &Error) -> bool {
    use Error::{
        BoundaryExploded, BoundaryNotANumber, Exploded, JointsExploded, LeftDomain, NotANumber, TooFar,
        TooManyTriangles,
    };
    matches!(
        error,
        NotANumber { .. }
            | Exploded { .. }
            | BoundaryNotANumber { .. }
            | BoundaryExploded { .. }
            | JointsExploded { .. }
            | TooFar { .. }
            | LeftDomain { .. }
            | TooManyTriangles { .. }
    )
}

/// Queue of runs for several threads, with the progress of each.
struct Queue<'a> {
    runs: &'a [&'a StudyRun],
    next: AtomicUsize,
    is_stopped: AtomicBool,
    /// Share of each run that is done.
    shares: Mutex<Vec<f64>>,
}

impl<'a> Queue<'a> {
    fn new(runs: &'a [&'a StudyRun]) -> Queue<'a> {
        let shares = Mutex::new(vec![0.0; runs.len()]);
        Queue { runs, next: AtomicUsize::new(0), is_stopped: AtomicBool::new(false), shares }
    }

    /// Returns the next run with its index, unless the queue is empty or the work was stopped.
    fn next(&self, interrupt: &AtomicBool) -> Option<(usize, &'a StudyRun)> {
        if self.is_stopped() || interrupt.load(Ordering::Relaxed) {
            return None;
        }
        let i = self.next.fetch_add(1, Ordering::Relaxed);
        self.runs.get(i).map(|run| (i, *run))
    }

    fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Notes the progress of a run, and returns the share of all work that is done.
    fn advanced(&self, i: usize, share: f64) -> f64 {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        shares[i] = share;
        let done: f64 = shares.iter().zip(self.runs).map(|(share, run)| share * run.weight).sum();
        done / self.runs.iter().map(|run| run.weight).sum::<f64>().max(f64::MIN_POSITIVE)
    }
}
