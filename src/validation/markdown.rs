//! Report of a validation as a section of Markdown.

use std::fmt::Write as _;

use super::{CaseReport, SuiteReport};
use crate::engine::{Identity, Precision};
use crate::observe::expectation::{Judgement, Verdict};
use crate::observe::short;

/// Returns the section: heading, totals, a table of all numbers, known limits, and the cases with their sources.
pub fn section(report: &SuiteReport) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_section(&mut text, report);
    text
}

fn write_section(text: &mut String, report: &SuiteReport) -> std::fmt::Result {
    let heading = report.engine.as_ref().map_or_else(|| "No engine".to_owned(), heading);
    writeln!(text, "## {heading}\n")?;
    let tally = report.tally();
    let of = report.engine.as_ref().map_or_else(String::new, |engine| {
        format!(" on {} ({}, {})", engine.device, engine.backend, engine.driver)
    });
    let commit = if report.commit == "unknown" { String::new() } else { format!(" ({})", report.commit) };
    writeln!(text, "{}: esker {}{commit}{of}.", report.suite, report.esker)?;
    write!(text, "{} numbers met, {} missed, {} only shown", tally.met, tally.missed, tally.shown)?;
    if tally.failures > 0 {
        write!(text, ", {} runs failed", tally.failures)?;
    }
    if tally.left_out > 0 {
        write!(text, ", {} cases left out (not for this engine)", tally.left_out)?;
    }
    writeln!(text, "; {:.1} s of wall time.\n", report.wall_seconds)?;
    writeln!(text, "| Case | Number | Expected | Tolerance | Found | Error | Verdict |")?;
    writeln!(text, "|---|---|---|---|---|---|---|")?;
    report.cases.iter().try_for_each(|case| write_rows(text, case))?;
    write_limits(text, report)?;
    writeln!(text, "\n| Case | What it shows | Source of the answer | Wall time |")?;
    writeln!(text, "|---|---|---|---|")?;
    report.cases.iter().try_for_each(|case| {
        let time = if case.skipped {
            "not for this engine".to_owned()
        } else {
            format!("{:.2} s", case.wall_seconds)
        };
        write_row(text, &[&case.name, &case.title, &case.source, &time])
    })
}

fn heading(identity: &Identity) -> String {
    match identity.precision {
        Precision::Double => "CPU engine, double precision".to_owned(),
        Precision::Single => format!("GPU engine, single precision: {}", identity.device),
    }
}

fn write_rows(text: &mut String, case: &CaseReport) -> std::fmt::Result {
    for run in &case.runs {
        if let Some(failure) = &run.failure {
            write_row(text, &[&case.name, &run.variation, "", "", "", failure, "**failed**"])?;
        }
        for verdict in &run.expectations {
            write_verdict(text, case, &run.name_of(verdict), verdict)?;
        }
    }
    case.across.iter().try_for_each(|verdict| write_verdict(text, case, &verdict.quantity, verdict))
}

fn write_verdict(text: &mut String, case: &CaseReport, number: &str, verdict: &Verdict) -> std::fmt::Result {
    let cell = |number: Option<f64>| number.map(short).unwrap_or_default();
    let judgement = match verdict.verdict {
        Judgement::Missed => format!("**missed**{}", remark(verdict)),
        judgement => format!("{}{}", judgement.word(), remark(verdict)),
    };
    let (tolerance, found, error) = (cell(verdict.tolerance), cell(verdict.found), cell(verdict.error));
    write_row(text, &[&case.name, number, &verdict.expected, &tolerance, &found, &error, &judgement])
}

fn remark(verdict: &Verdict) -> String {
    verdict.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default()
}

fn write_limits(text: &mut String, report: &SuiteReport) -> std::fmt::Result {
    let limits = report.cases.iter().filter_map(|case| Some((&case.name, case.limit.as_ref()?)));
    let mut limits = limits.peekable();
    if limits.peek().is_some() {
        writeln!(text, "\nKnown limits:\n")?;
    }
    limits.try_for_each(|(name, limit)| writeln!(text, "- {name}: {limit}"))
}

fn write_row(text: &mut String, cells: &[&str]) -> std::fmt::Result {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
    writeln!(text, "| {} |", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::super::RunReport;
    use super::*;
    use crate::observe::bounds::{Bounds, Tolerance};
    use crate::scenario::suite::CaseClass;

    fn report() -> SuiteReport {
        let tolerance = Some(Tolerance { double: 0.1, single: 0.2 });
        let bounds = Bounds { value: Some(0.5), tolerance, ..Bounds::default() };
        let verdict = |label: &str, found| {
            let blank = Verdict::blank(label.into(), "rms_speed".into(), &bounds, Precision::Single);
            blank.found(found, &bounds, Precision::Single)
        };
        let run = RunReport {
            variation: "friction = 0.3".into(),
            failure: None,
            expectations: vec![verdict("speed", 0.6), verdict("|v|", 0.8)],
            wall_seconds: 1.0,
        };
        let failed =
            RunReport { failure: Some("it exploded".into()), expectations: Vec::new(), ..run.clone() };
        let case = CaseReport {
            name: "incline".into(),
            title: "Sphere on an incline".into(),
            source: "closed form".into(),
            class: CaseClass::Short,
            limit: Some("rolls without slip".into()),
            skipped: false,
            runs: vec![run, failed],
            across: vec![Verdict { quantity: "ratio of speed".into(), ..verdict("speed", 0.55) }],
            wall_seconds: 2.0,
        };
        let (runs, across) = (Vec::new(), Vec::new());
        let skipped =
            CaseReport { name: "far".into(), limit: None, skipped: true, runs, across, ..case.clone() };
        let engine = Identity {
            engine: "gpu",
            device: "llvmpipe".into(),
            driver: "Mesa".into(),
            backend: "vulkan".into(),
            precision: Precision::Single,
        };
        SuiteReport {
            esker: "1.2.3",
            commit: "abc123",
            suite: "Laws".into(),
            engine: Some(engine),
            cases: vec![case, skipped],
            wall_seconds: 2.5,
        }
    }

    #[test]
    fn a_section_has_every_number_with_its_verdict() {
        let text = report().markdown();
        for line in [
            "## GPU engine, single precision: llvmpipe",
            "Laws: esker 1.2.3 (abc123) on llvmpipe (vulkan, Mesa).",
            "2 numbers met, 1 missed, 0 only shown, 1 runs failed, 1 cases left out (not for this engine); 2.5 s of wall time.",
            "| incline | speed, friction = 0.3 | 0.5 | 0.2 | 0.6 | 0.1 | met |",
            "| incline | \\|v\\|, friction = 0.3 | 0.5 | 0.2 | 0.8 | 0.3 | **missed** |",
            "| incline | friction = 0.3 |  |  |  | it exploded | **failed** |",
            "| incline | ratio of speed | 0.5 | 0.2 | 0.55 | 0.05 | met |",
            "- incline: rolls without slip",
            "| incline | Sphere on an incline | closed form | 2.00 s |",
        ] {
            assert!(text.lines().any(|found| found == line), "no `{line}` in\n{text}");
        }
    }
}
