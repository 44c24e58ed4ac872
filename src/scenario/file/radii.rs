//! Reader of size distributions of grains.

use super::read::{LENGTH_OR_ZERO, Need, Node, RADIUS, Table, number};
use crate::sources::radii::{Radii, log_moments};

/// Reads a size distribution such as `{ kind = "constant", value = 0.005 }`.
pub fn radii(node: Node<'_>) -> Option<Radii> {
    if !node.is_table() {
        return node.mismatch("a table such as `{ kind = \"constant\", value = 0.005 }`");
    }
    node.table(|table| match table.kind(&["constant", "uniform", "normal", "log_normal", "mixture"])? {
        "constant" => table.get("value", number(RADIUS)).map(Radii::Constant),
        "uniform" => uniform(table),
        "normal" => normal(table),
        "log_normal" => log_normal(table),
        _ => mixture(table),
    })
}

fn uniform(table: &mut Table<'_>) -> Option<Radii> {
    let (min, max) = (table.get("min", number(RADIUS)), table.get("max", number(RADIUS)));
    let (min, max) = (min?, max?);
    ordered(table, min, max).then_some(Radii::Uniform { min, max })
}

fn normal(table: &mut Table<'_>) -> Option<Radii> {
    let mean = table.get("mean", number(RADIUS));
    let deviation = table.get("deviation", number(LENGTH_OR_ZERO));
    let cut = |mean: f64, deviation: f64| ((mean - 3.0 * deviation).max(0.1 * mean), mean + 3.0 * deviation);
    let [min, max] = bounds(table, mean.zip(deviation).map(|(mean, deviation)| cut(mean, deviation)))?;
    let (mean, deviation) = (mean?, deviation?);
    if !(ordered(table, min, max) && around(table, mean, min, max)) {
        return None;
    }
    Some(if deviation == 0.0 { Radii::Constant(mean) } else { Radii::Normal { mean, deviation, min, max } })
}

fn log_normal(table: &mut Table<'_>) -> Option<Radii> {
    let mean = table.get("mean", number(RADIUS));
    let deviation = table.get("deviation", number(LENGTH_OR_ZERO));
    let moments = mean.zip(deviation).map(|(mean, deviation)| log_moments(mean, deviation));
    let cut =
        |(location, scale): (f64, f64)| ((location - 3.0 * scale).exp(), (location + 3.0 * scale).exp());
    let [min, max] = bounds(table, moments.map(cut))?;
    let ((location, scale), mean, deviation) = (moments?, mean?, deviation?);
    if deviation == 0.0 {
        return Some(Radii::Constant(mean));
    }
    let good = ordered(table, min, max) && around(table, mean, min, max);
    good.then_some(Radii::LogNormal { location, scale, min, max })
}

/// Reads the bounds of a distribution; the default is where it is cut off. Without `cut` (a faulty distribution) it returns `None`.
fn bounds(table: &mut Table<'_>, cut: Option<(f64, f64)>) -> Option<[f64; 2]> {
    let Some((low, high)) = cut else {
        let _given = ["min", "max"].map(|key| table.maybe(key, number(RADIUS)));
        return None;
    };
    Some([("min", low), ("max", high)].map(|(key, bound)| table.or(key, readable(bound), number(RADIUS))))
}

/// Limits a bound to the radii that a file may contain.
fn readable(radius: f64) -> f64 {
    radius.clamp(1e-7, 1e6)
}

fn mixture(table: &mut Table<'_>) -> Option<Radii> {
    let radii = table.get("radii", |node| node.list(number(RADIUS)));
    let weight = Need::new(|x| (0.0..=1e9).contains(&x), "zero or a positive share");
    let shares = table.get("shares", |node| node.list(number(weight)));
    let (radii, shares) = (radii?, shares?);
    let sum: f64 = shares.iter().sum();
    if radii.is_empty() || radii.len() != shares.len() {
        table.problem(
            format!("`{}` has {} radii and {} shares", table.name(), radii.len(), shares.len()),
            "give one share per radius, and at least one",
        );
        return None;
    }
    if sum <= 0.0 {
        table.problem(format!("the shares of `{}` are all zero", table.name()), "make one of them positive");
        return None;
    }
    Some(Radii::Mixture { radii, shares: shares.iter().map(|share| share / sum).collect() })
}

fn ordered(table: &Table<'_>, min: f64, max: f64) -> bool {
    let good = min <= max;
    if !good {
        table.problem(format!("`{}` has min = {min} above max = {max}", table.name()), "swap min and max");
    }
    good
}

fn around(table: &Table<'_>, mean: f64, min: f64, max: f64) -> bool {
    let good = (min..=max).contains(&mean);
    if !good {
        table.problem(
            format!("`{}` has mean = {mean} outside of min = {min} and max = {max}", table.name()),
            "bounds must enclose the mean",
        );
    }
    good
}
