//! Report of a study in Markdown.

use std::fmt::Write as _;

use super::report::{Judged, StudyReport, Tabled};
use crate::observe::expectation::Judgement;
use crate::observe::short;

/// Largest number of cells of a table that is printed; larger tables are in `results.json`.
const MOST_CELLS: usize = 120;
/// Largest number of remarks below a table.
const MOST_REMARKS: usize = 4;

/// Returns the report: heading, runs and engines, findings with verdicts, plots, tables of numbers, failed runs.
pub fn text(report: &StudyReport) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, report);
    text
}

fn write(text: &mut String, report: &StudyReport) -> std::fmt::Result {
    writeln!(text, "# {}\n", report.title)?;
    if let Some(about) = &report.about {
        writeln!(text, "{}\n", about.trim())?;
    }
    write_runs(text, report)?;
    write_findings(text, &report.findings)?;
    for (file, title) in &report.plots {
        writeln!(text, "## {title}\n\n![{title}]({file}.png)\n\n[As SVG]({file}.svg)\n")?;
    }
    let tables: Vec<&Tabled> = report.numbers.iter().filter(|table| is_printed(table)).collect();
    if !tables.is_empty() {
        writeln!(text, "## Numbers\n\nThose of single runs are in `results.csv`.\n")?;
    }
    tables.into_iter().try_for_each(|table| write_table(text, table))?;
    if !report.failures.is_empty() {
        writeln!(text, "## Runs that failed\n")?;
    }
    report.failures.iter().try_for_each(|(run, reason)| writeln!(text, "- {run}: {reason}"))
}

fn write_runs(text: &mut String, report: &StudyReport) -> std::fmt::Result {
    write!(text, "{} runs", report.runs)?;
    if report.pending > 0 {
        write!(text, ", **{} of them not over**", report.pending)?;
    }
    if !report.failures.is_empty() {
        write!(text, ", {} failed", report.failures.len())?;
    }
    writeln!(
        text,
        "; {} s of wall time in all. esker {}.\n",
        short(report.wall_seconds.round()),
        report.esker
    )?;
    report.engines.iter().try_for_each(|engine| writeln!(text, "- {engine}"))?;
    writeln!(text)
}

fn write_findings(text: &mut String, findings: &[Judged]) -> std::fmt::Result {
    if findings.is_empty() {
        return Ok(());
    }
    writeln!(text, "## Findings\n")?;
    writeln!(text, "| Statement | Number | Expected | Found | Verdict |\n|---|---|---|---|---|")?;
    for Judged { statement, verdict, .. } in findings {
        let judgement = match verdict.verdict {
            Judgement::Missed => "**missed**",
            judgement => judgement.word(),
        };
        let found = verdict.found.map(short).unwrap_or_else(|| "nothing".to_owned());
        let (number, expected) = (format!("`{}`", verdict.label), verdict.expected_with_tolerance());
        write_row(text, [statement, number.as_str(), &expected, &found, judgement].into_iter())?;
    }
    writeln!(text)?;
    for Judged { statement, verdict, note } in findings {
        let remarks = [note.clone(), verdict.reason.clone()];
        let remarks: Vec<String> = remarks.into_iter().flatten().collect();
        if !remarks.is_empty() {
            writeln!(text, "- *{statement}* {}", remarks.join(" "))?;
        }
    }
    writeln!(text)
}

fn is_printed(table: &Tabled) -> bool {
    table.cells.len() <= MOST_CELLS
}

/// Writes a table with one column for every value of its last axis.
fn write_table(text: &mut String, table: &Tabled) -> std::fmt::Result {
    let number = |number: Option<f64>| number.map(in_three_digits).unwrap_or_default();
    writeln!(text, "### {}\n", table.label)?;
    let mut columns: Vec<&String> = Vec::new();
    for (place, _) in &table.cells {
        if let Some(last) = place.last()
            && !columns.contains(&last)
        {
            columns.push(last);
        }
    }
    match table.axes.split_last() {
        None => writeln!(text, "{}", number(table.cells.first().and_then(|cell| cell.1)))?,
        Some((last, rows)) => {
            // The corner names the axes of rows and columns: `count \ iterations`.
            let mut head = rows.to_vec();
            match head.last_mut() {
                Some(corner) => *corner = format!("{corner} \\ {last}"),
                None => head.push(last.clone()),
            }
            write_row(text, head.iter().chain(columns.iter().copied()).map(String::as_str))?;
            writeln!(text, "|{}", "---|".repeat(head.len() + columns.len()))?;
            for cells in table.cells.chunks(columns.len().max(1)) {
                let place = &cells[0].0[..rows.len()];
                let place = if place.is_empty() { std::slice::from_ref(&table.label) } else { place };
                let numbers: Vec<String> = cells.iter().map(|cell| number(cell.1)).collect();
                write_row(text, place.iter().chain(&numbers).map(String::as_str))?;
            }
        }
    }
    writeln!(text)?;
    let remarks = &table.remarks;
    remarks.iter().take(MOST_REMARKS).try_for_each(|remark| writeln!(text, "- {remark}"))?;
    if remarks.len() > MOST_REMARKS {
        writeln!(text, "- and {} more like these", remarks.len() - MOST_REMARKS)?;
    }
    if remarks.is_empty() { Ok(()) } else { writeln!(text) }
}

/// Writes a number with three significant digits, or with all digits before the point.
fn in_three_digits(number: f64) -> String {
    let digits_before_point = number.abs().max(1e-9).log10().floor() as i32 + 1;
    let unit = 10f64.powi(3 - digits_before_point).max(1.0);
    short((number * unit).round() / unit)
}

fn write_row<'a>(text: &mut String, cells: impl Iterator<Item = &'a str>) -> std::fmt::Result {
    let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
    writeln!(text, "| {} |", cells.join(" | "))
}
