//! Report of a bench as tables of Markdown.

use std::fmt::{self, Write as _};

use crate::observe::short;

use super::report::{BenchReport, Case, EngineRun};

/// Head of the report: program, plan and devices.
pub fn head(report: &BenchReport) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_head(&mut text, report);
    text
}

fn write_head(text: &mut String, report: &BenchReport) -> fmt::Result {
    let BenchReport { esker, commit, build, wgpu, threads, blocks, steps_per_block, .. } = report;
    writeln!(text, "esker {esker} ({commit}, {build}), wgpu {wgpu}, {threads} threads.")?;
    writeln!(text, "Medians over {blocks} blocks of {steps_per_block} steps, engines in turn.\n")?;
    writeln!(text, "| --device | engine | copies at [GB/s] |\n|---|---|---|")?;
    report.devices.iter().try_for_each(|device| {
        let rate = device.copy_bytes_per_second * 1e-9;
        writeln!(text, "| {} | {} | {rate:.1} |", device.target.word(), device.identity)
    })
}

/// Case of the report: engines side by side, then stage by stage.
pub fn case(report: &BenchReport, case: &Case) -> String {
    let mut text = String::new();
    let _ = write_case(&mut text, report, case);
    text
}

fn write_case(text: &mut String, report: &BenchReport, case: &Case) -> fmt::Result {
    writeln!(text, "\n## {} grains: {}\n", case.grains, case.scenario)?;
    if !case.runs.is_empty() {
        write_runs(text, case)?;
        write_stages(text, case)?;
    }
    for failure in &case.failures {
        writeln!(text, "\n{}: failed: {}", failure.target.word(), failure.message)?;
    }
    if let Some(ratio) = case.cpu_over_gpu {
        writeln!(text, "\nTime of a step on the CPU over that on the GPU engine: {}.", figures(ratio))?;
    }
    case.runs.iter().try_for_each(|run| write_outlook(text, report, run))
}

/// Row of the table of runs: its label, and the text of the value of a run.
type RunRow = (&'static str, fn(&EngineRun) -> String);

const LINES: [RunRow; 18] = [
    ("step [ms]", |run| figures(run.step_ms.median)),
    ("lowest and highest block [ms]", |run| {
        format!("{} to {}", figures(run.step_ms.min), figures(run.step_ms.max))
    }),
    ("processors, per simulated second [J]", |run| optional(run.joules_per_simulated_second)),
    ("all sweeps [ms]", |run| optional(run.sweep_ms)),
    ("step over sweeps", |run| optional(run.step_over_sweeps)),
    ("contacts", |run| run.contacts.to_string()),
    ("carrying an impulse", |run| run.loaded_contacts.to_string()),
    ("colours, contacts without", |run| format!("{}, {}", run.colours, run.overflow)),
    ("searches per step", |run| short(run.searches_per_step)),
    ("sweeps", |run| run.sweeps.to_string()),
    ("dispatches per step, per sweep", |run| {
        format!("{}, {}", run.dispatches_per_step, run.dispatches_per_sweep)
    }),
    ("per contact-sweep [ns]", |run| optional(run.ns_per_contact_sweep)),
    ("per contact-sweep [bytes]", |run| figures(run.bytes_per_contact_sweep)),
    ("sweeps move [GB/s]", |run| optional(run.sweep_bytes_per_second.map(|rate| rate * 1e-9))),
    ("memory per grain [bytes]", |run| figures(run.memory_per_grain)),
    ("normal residual, mean, max [m/s]", |run| pair(run.residuals.normal.mean, run.residuals.normal.max)),
    ("friction residual, mean, max [m/s]", |run| {
        pair(run.residuals.friction.mean, run.residuals.friction.max)
    }),
    ("overlap, mean, max [radius]", |run| pair(run.overlap.mean, run.overlap.max)),
];

fn write_runs(text: &mut String, case: &Case) -> fmt::Result {
    let names: Vec<&str> = case.runs.iter().map(|run| run.target.word()).collect();
    write_row(text, "", names.iter().map(|name| (*name).to_owned()))?;
    write_row(text, "---", names.iter().map(|_| "---".to_owned()))?;
    for (what, value) in LINES {
        let cells: Vec<String> = case.runs.iter().map(value).collect();
        // What no run has is left out: the energy on most machines, the times of stages on some.
        if cells.iter().any(|cell| !cell.is_empty()) {
            write_row(text, what, cells.into_iter())?;
        }
    }
    Ok(())
}

/// Writes the stages of every run; cells of values that are not counted stay empty.
fn write_stages(text: &mut String, case: &Case) -> fmt::Result {
    for run in &case.runs {
        let word = run.target.word();
        writeln!(text, "\n| stage on {word} | ms | dispatches | MB | GB/s | of a copy | model [ms] |")?;
        writeln!(text, "|---|---|---|---|---|---|---|")?;
        for stage in &run.stages {
            let megabytes = stage.bytes.map(|bytes| bytes as f64 * 1e-6);
            let share = stage.share_of_copy_rate.map(|share| format!("{:.0} %", 100.0 * share));
            let cells = [
                figures(stage.ms),
                if stage.dispatches > 0 { stage.dispatches.to_string() } else { String::new() },
                optional(megabytes),
                optional(stage.bytes_per_second.map(|rate| rate * 1e-9)),
                share.unwrap_or_default(),
                optional(stage.model_ms),
            ];
            write_row(text, stage.name, cells.into_iter())?;
        }
    }
    Ok(())
}

/// Writes the stage that is farthest from the rate of a copy, and the time of a step by the model.
fn write_outlook(text: &mut String, report: &BenchReport, run: &EngineRun) -> fmt::Result {
    let word = run.target.word();
    if let Some(stage) = run.largest_gap {
        writeln!(text, "\n{word}: farthest from the rate of a copy: {stage}.")?;
    }
    if let Some(step) = run.model_ms {
        let model = &report.model;
        writeln!(
            text,
            "{word}: model, not a measurement: {} ms per step on a card of {} µs per dispatch and {} GB/s, of which {} ms \
             are dispatches.",
            figures(step),
            short(model.dispatch_microseconds),
            short(model.gigabytes_per_second),
            figures(model.milliseconds(run.dispatches_per_step, 0)),
        )?;
    }
    Ok(())
}

fn write_row(text: &mut String, first: &str, mut cells: impl Iterator<Item = String>) -> fmt::Result {
    write!(text, "| {first} |")?;
    cells.try_for_each(|cell| write!(text, " {cell} |"))?;
    writeln!(text)
}

/// Text of a number with about three significant figures.
fn figures(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if size >= 100.0 => format!("{value:.0}"),
        _ if size >= 10.0 => format!("{value:.1}"),
        _ if size >= 1.0 => format!("{value:.2}"),
        _ if size >= 0.01 => format!("{value:.3}"),
        _ if size == 0.0 => "0".to_owned(),
        _ => format!("{value:.1e}"),
    }
}

fn optional(value: Option<f64>) -> String {
    value.map(figures).unwrap_or_default()
}

fn pair(mean: f64, max: f64) -> String {
    format!("{}, {}", figures(mean), figures(max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_figures_at_any_size() {
        let found = [1234.6, 12.34, 1.234, 0.1234, 0.00012345, 0.0].map(figures);
        assert_eq!(found, ["1235", "12.3", "1.23", "0.123", "1.2e-4", "0"]);
    }
}
