//! The `[convergence]` table: times at which the convergence of the sweeps is examined, and the starts of the sweeps.

use super::read::{Node, TIME, Table, number, whole};
use super::{ConvergencePlan, solver};
use crate::engine::convergence::Question;
use crate::settings::{Method, Settings, WarmStart};

/// Largest number of sweeps that may be asked for.
const MOST_SWEEPS: u64 = 100_000;
/// Default ratio of the sweeps of the reference solution to the sweeps that are compared with it. On a pile of 3 363 grains the errors of
/// the last compared sweeps then come out 11 to 15 % too small; with a ratio of 5, 34 to 44 %.
const REFERENCE: u64 = 20;

/// Reads the table for a run of `duration` \[s\] with these settings.
pub fn plan(table: &mut Table<'_>, duration: f64, settings: &Settings) -> Option<ConvergencePlan> {
    if settings.method == Method::Smooth {
        table.problem(
            "`convergence` examines sweeps, and the smooth method does none",
            "remove the table, or set `solver.method` to \"nonsmooth\"",
        );
    }
    let times = table.get("times", |node| times(node, duration));
    let sweeps = table.or("sweeps", 100, whole(1, MOST_SWEEPS));
    let reference = table.or("reference", REFERENCE * sweeps, whole(1, REFERENCE * MOST_SWEEPS));
    if reference < sweeps {
        table.problem(
            format!(
                "the reference of {reference} sweeps is no better than the {sweeps} that are compared with it"
            ),
            "set `convergence.reference` to more than `convergence.sweeps`",
        );
    }
    let starts = starts(table, settings.warm_start);
    let question = Question { starts, sweeps: sweeps as u32, reference: reference as u32 };
    times.map(|times| ConvergencePlan { times, question })
}

/// Reads the times \[s\], none later than the end of the run, and sorts them.
fn times(node: Node<'_>, duration: f64) -> Option<Vec<f64>> {
    let mut times = node.clone().list(|node| {
        let time = number(TIME)(node.clone())?;
        if time > duration {
            node.problem(
                format!("`{}` is {time} s in a run of {duration} s", node.name()),
                "choose times up to the duration",
            );
        }
        (time <= duration).then_some(time)
    })?;
    if times.is_empty() {
        node.problem(format!("`{}` is empty", node.name()), "give at least one time in seconds");
        return None;
    }
    times.sort_by(f64::total_cmp);
    Some(times)
}

fn starts(table: &mut Table<'_>, usual: WarmStart) -> Vec<WarmStart> {
    match table.node("starts") {
        Some(node) => {
            let starts = node.clone().list(solver::warm_start);
            if starts.as_ref().is_some_and(Vec::is_empty) {
                node.problem(format!("`{}` is empty", node.name()), "name at least one, such as \"history\"");
            }
            starts.unwrap_or_default()
        }
        None => {
            let written = [solver::written_out(usual)].into_iter().collect();
            table.report.fill(table.path_to("starts"), toml_edit::Value::Array(written));
            vec![usual]
        }
    }
}
