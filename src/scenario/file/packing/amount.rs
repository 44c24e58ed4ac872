//! How much comes into a region: a number of grains, a mass, a solid fraction or a porosity.

use super::{GrainsToPack, grain_count};
use crate::scenario::file::MAX_GRAINS;
use crate::scenario::file::materials::MASS;
use crate::scenario::file::read::{Need, Table, number};
use crate::sources::radii::Amount;

/// Ways to state how much comes into a region; `fill` gives the number of grains that have this solid fraction on the mean of their sizes.
const AMOUNTS: [&str; 5] = ["count", "mass", "solid_fraction", "porosity", "fill"];

/// Solid fractions that a kind of packing may be asked for, and porosities.
pub struct SolidRange {
    /// Range of the solid fraction.
    pub solid: Need,
    /// Range of the porosity.
    pub porosity: Need,
}

/// Reads how much comes into a region of this volume \[m³\]: `count`, `mass`, `solid_fraction` or `porosity`.
pub fn amount(
    table: &mut Table<'_>,
    room: Option<f64>,
    range: &SolidRange,
    grains: &GrainsToPack<'_>,
) -> Option<Amount> {
    let given: Vec<&str> = AMOUNTS.into_iter().filter(|key| table.has(key)).collect();
    let count = table.maybe("count", grain_count);
    let mass = table.maybe("mass", number(MASS));
    let [solid, fill] = ["solid_fraction", "fill"].map(|key| table.maybe(key, number(range.solid)));
    let porosity = table.maybe("porosity", number(range.porosity));
    if given.len() != 1 {
        let found = if given.is_empty() { "nothing".to_owned() } else { given.join(" and ") };
        let message = format!("`{}` says how much comes by {found}", table.name());
        table.lacks(&AMOUNTS, message, "give one of: count, mass [kg], solid_fraction, porosity");
        return None;
    }
    if given == ["count"] {
        return count.map(Amount::Count);
    }
    let volume = match solid.or(fill).or(porosity.map(|porosity| 1.0 - porosity)) {
        Some(solid) => solid * room?,
        None => mass? / grains.density?,
    };
    let count = number_of_grains(table, volume, grains)?;
    Some(if fill.is_some() { Amount::Count(count) } else { Amount::Volume(volume) })
}

/// Number of grains that have this volume together \[m³\] on the mean of their sizes, unless there are none or too many of them.
fn number_of_grains(table: &Table<'_>, volume: f64, grains: &GrainsToPack<'_>) -> Option<u64> {
    let count = (volume / grains.radii?.mean_volume(grains.plane)).round();
    if !(1.0..=MAX_GRAINS as f64).contains(&count) {
        table.problem(
            format!("`{}` would hold {count:e} grains, expected 1 to {MAX_GRAINS}", table.name()),
            "change how much comes, the region or the size of the grains",
        );
        return None;
    }
    Some(count as u64)
}
