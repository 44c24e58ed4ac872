//! Reader of the bounds of a number: a value with a tolerance, a lower bound, an upper bound.

use super::super::read::{FINITE, NOT_NEGATIVE, Table, boolean, number};
use crate::observe::bounds::{Bounds, Tolerance};

/// Reads `value`, `at_least`, `at_most` and `shown_only`, with the tolerance of the value.
pub fn bounds(table: &mut Table<'_>) -> Option<Bounds> {
    let has_value = table.has("value");
    let value = table.maybe("value", number(FINITE));
    let shown_only = table.or("shown_only", false, boolean);
    let tolerance = match has_value {
        true => tolerance(table, value, shown_only),
        false => {
            refuse_tolerance(table);
            None
        }
    };
    let at_least = table.maybe("at_least", number(FINITE));
    let at_most = table.maybe("at_most", number(FINITE));
    let has_tolerance = !has_value && TOLERANCES.iter().any(|key| table.has(key));
    if !has_value && !has_tolerance && !table.has("at_least") && !table.has("at_most") && !shown_only {
        table.lacks(
            &["value", "at_least", "at_most"],
            format!("`{}` expects nothing", table.name()),
            "give `value` and `tolerance`, `at_least` or `at_most`",
        );
        return None;
    }
    if let (Some(least), Some(most)) = (at_least, at_most)
        && least > most
    {
        table.problem(
            format!("`{}` is at least {least} and at most {most}: no number is", table.name()),
            "swap or change the two bounds",
        );
    }
    Some(Bounds { value, tolerance, at_least, at_most, shown_only })
}

/// Reads `slack`: the largest permitted step against the direction, by default zero.
pub fn slack(table: &mut Table<'_>) -> Bounds {
    let at_most = Some(table.or("slack", 0.0, number(NOT_NEGATIVE)));
    Bounds { at_most, shown_only: table.or("shown_only", false, boolean), ..Bounds::default() }
}

/// Reads the tolerance of a deviation; the expected value is zero.
pub fn deviation(table: &mut Table<'_>) -> Bounds {
    let shown_only = table.or("shown_only", false, boolean);
    Bounds {
        value: Some(0.0),
        tolerance: tolerance(table, Some(0.0), shown_only),
        shown_only,
        ..Bounds::default()
    }
}

/// Reads `tolerance` or `tolerance_share`, and optionally `single` or `single_share`. `value` is the value in the table, `None` if it is
/// wrong.
fn tolerance(table: &mut Table<'_>, value: Option<f64>, shown_only: bool) -> Option<Tolerance> {
    let double = one_of(table, ["tolerance", "tolerance_share"], value);
    let single = one_of(table, ["single", "single_share"], value);
    match double {
        GivenBounds::Right(double) => Some(Tolerance {
            double,
            single: if let GivenBounds::Right(single) = single { single } else { double },
        }),
        GivenBounds::Wrong => None,
        GivenBounds::Not => {
            if !shown_only || !matches!(single, GivenBounds::Not) {
                table.missing("tolerance", "add `tolerance = ...`, or `tolerance_share = ...` of the value");
            }
            None
        }
    }
}

/// Result of reading a pair of keys of which at most one may be given.
enum GivenBounds {
    Not,
    Wrong,
    Right(f64),
}

/// Reads a tolerance that is given as a number or as a share of |value|.
fn one_of(table: &mut Table<'_>, [plain, share]: [&'static str; 2], value: Option<f64>) -> GivenBounds {
    let problem = |table: &Table<'_>, message: String, help: &str| {
        table.problem(message, help);
        GivenBounds::Wrong
    };
    match (table.node(plain), table.node(share)) {
        (None, None) => GivenBounds::Not,
        (Some(_), Some(_)) => {
            let message = format!("`{}` has both `{plain}` and `{share}`", table.name());
            problem(table, message, "give one of them")
        }
        (Some(node), None) => number(NOT_NEGATIVE)(node).map_or(GivenBounds::Wrong, GivenBounds::Right),
        (None, Some(_)) if value == Some(0.0) => {
            let message = format!("`{}` has `{share}` of a value of zero, which is zero", table.name());
            problem(table, message, &format!("give `{plain}`, in the unit of the quantity"))
        }
        (None, Some(node)) => match (number(NOT_NEGATIVE)(node), value) {
            (Some(share), Some(value)) => GivenBounds::Right(share * value.abs()),
            _ => GivenBounds::Wrong,
        },
    }
}

/// Keys of a tolerance.
const TOLERANCES: [&str; 4] = ["tolerance", "tolerance_share", "single", "single_share"];

/// Reports a tolerance without a value.
fn refuse_tolerance(table: &mut Table<'_>) {
    if let Some(key) = TOLERANCES.into_iter().find(|key| table.has(key)) {
        table.lacks(
            &["value"],
            format!("`{}` has `{key}` but no `value`", table.name()),
            "give the `value`, or leave the tolerance out",
        );
    }
}
