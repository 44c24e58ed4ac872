//! `esker bench`: how long a step takes, on one engine beside the other.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use etcetera::BaseStrategy;

use crate::bench::{self, BenchEvent, BenchTarget, Model, Plan, Subject, markdown};
use crate::output;

use super::terminal::{note, print};
use super::{ExitOutcome, Failure};

/// Arguments of `esker bench`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Scenario file, measured from its initial state [default: settled beds, 17 layers deep].
    file: Option<PathBuf>,
    /// Numbers of grains, such as 1e3,1e4 [default: 1e3,1e4,1e5; of a FILE: its own].
    #[arg(long, value_delimiter = ',', value_name = "N,...", value_parser = parse_grains)]
    grains: Vec<u32>,
    /// Sweeps per substep [default: those of the scenario]; a bed is settled with those of its scenario.
    #[arg(long, value_name = "N")]
    iterations: Option<u32>,
    /// Steps in each of the five blocks.
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    steps: u64,
    /// Steps before the first block: engines begin without impulses, and the shock of that has to die down.
    #[arg(long, value_name = "N", default_value = "60", value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    warm_up: u64,
    /// What to measure; may be repeated [default: cpu and the best adapter].
    #[arg(long = "device", value_enum, value_name = "DEVICE")]
    devices: Vec<MeasuredDevice>,
    /// Write all numbers as JSON.
    #[arg(long, value_name = "FILE.json")]
    out: Option<PathBuf>,
    /// Change a value of the scenario, such as materials.pellet.friction=0.3; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Folder that settled beds are kept in [default: esker in the user's cache].
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Time of a dispatch on the card of the model [µs].
    #[arg(long, value_name = "US", default_value_t = Model::default().dispatch_microseconds, value_parser = parse_positive)]
    model_dispatch: f64,
    /// Bandwidth of the card of the model [GB/s].
    #[arg(long, value_name = "GB/S", default_value_t = Model::default().gigabytes_per_second, value_parser = parse_positive)]
    model_bandwidth: f64,
}

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MeasuredDevice {
    /// The double-precision CPU engine.
    Cpu,
    /// A hardware GPU.
    Gpu,
    /// A software adapter such as lavapipe.
    Software,
}

impl From<MeasuredDevice> for BenchTarget {
    fn from(device: MeasuredDevice) -> BenchTarget {
        match device {
            MeasuredDevice::Cpu => BenchTarget::Cpu,
            MeasuredDevice::Gpu => BenchTarget::Gpu,
            MeasuredDevice::Software => BenchTarget::Software,
        }
    }
}

const DEFAULT_GRAINS: [u32; 3] = [1_000, 10_000, 100_000];

/// Measures, prints tables and writes the JSON.
pub(super) fn bench(arguments: &Arguments) -> Result<ExitOutcome, Failure> {
    let subjects = subjects(arguments)?;
    if let Some(folder) = arguments.out.as_deref().and_then(Path::parent) {
        output::check_folder(folder)?;
    }
    if let Some(folder) = &arguments.cache {
        output::check_folder(folder)?;
    }
    if let (Some(out), Some(file)) = (&arguments.out, &arguments.file) {
        output::protect_from(out, std::slice::from_ref(file))?;
    }
    let report = bench::run(&plan(arguments), &subjects, &mut |event| tell(&event))?;
    if let Some(path) = &arguments.out {
        report.write(path)?;
    }
    let failed = report.cases.iter().any(|case| !case.failures.is_empty());
    Ok(if failed { ExitOutcome::RunFailed } else { ExitOutcome::Done })
}

fn subjects(arguments: &Arguments) -> Result<Vec<Subject>, Failure> {
    let Arguments { file, grains, overrides, .. } = arguments;
    let mut subjects = match (file, grains.as_slice()) {
        (Some(file), grains) => bench::scenarios(file, grains, overrides)?,
        (None, []) => bench::beds(&DEFAULT_GRAINS, overrides)?,
        (None, grains) => bench::beds(grains, overrides)?,
    };
    if let Some(iterations) = arguments.iterations {
        subjects.iter_mut().try_for_each(|subject| subject.set_iterations(iterations))?;
    }
    Ok(subjects)
}

fn plan(arguments: &Arguments) -> Plan {
    let users = || Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("esker"));
    let mut targets: Vec<BenchTarget> = Vec::new();
    for target in arguments.devices.iter().map(|&device| BenchTarget::from(device)) {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    Plan {
        targets: if targets.is_empty() { bench::default_targets() } else { targets },
        steps: arguments.steps,
        warm_up: arguments.warm_up,
        cache: arguments.cache.clone().or_else(users),
        model: Model {
            dispatch_microseconds: arguments.model_dispatch,
            gigabytes_per_second: arguments.model_bandwidth,
        },
    }
}

fn tell(event: &BenchEvent<'_>) {
    match event {
        BenchEvent::Note(note) => note!("{note}"),
        BenchEvent::Opened(report) => print(format_args!("{}", markdown::head(report))),
        BenchEvent::Measured(report, case) => print(format_args!("{}", markdown::case(report, case))),
    }
}

fn parse_grains(text: &str) -> Result<u32, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if (1.0..=2e7).contains(&number) && number.fract() == 0.0 => Ok(number as u32),
        _ => Err("expected a whole number of grains from 1 to 2e7, such as 1000 or 1e5".to_owned()),
    }
}

fn parse_positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("expected a number above zero".to_owned()),
    }
}
