//! Reader of size distributions of grains.

use super::read::{LENGTH_OR_ZERO, Need, Node, RADIUS, Table, number, word};
use crate::model::Plane;
use crate::model::plane::grain_volume;
use crate::model::range::RADII;
use crate::sources::radii::{Radii, log_moments};
use crate::sources::size_curve::{Basis, SizeCurve};

/// Kinds of distributions.
const KINDS: &[&str] =
    &["constant", "uniform", "normal", "log_normal", "weibull", "rosin_rammler", "sieve", "mixture"];

/// Diameter of a grain \[m\].
const DIAMETER: Need =
    Need::new(|x| RADII.contains(&(0.5 * x)), "a positive diameter in metres (2e-7 to 2e6)");
/// Exponent of a Weibull distribution.
const EXPONENT: Need = Need::new(|x| (0.1..=100.0).contains(&x), "an exponent from 0.1 to 100");
/// Fraction of the grains above the largest size of a Weibull distribution, where none is given \[-\].
const OVERSIZE: f64 = 1e-3;
/// Smallest fraction of a distribution that bounds may leave of it \[-\].
const LEAST_LEFT: f64 = 1e-6;

/// Returns whether a block or an emitter states the size of its grains.
pub fn has_size(table: &mut Table<'_>) -> bool {
    ["radius", "diameter"].iter().filter(|key| table.has(key)).count() > 0
}

/// Reads the sizes of grains, `radius` or `diameter`, as radii; `None` without either.
pub fn sizes(table: &mut Table<'_>, plane: Option<Plane>) -> Option<Radii> {
    let both = table.has("radius") && table.has("diameter");
    let radii =
        table.maybe("radius", |node| distribution(node, &SizeReader { need: RADIUS, unit: 1.0, plane }));
    let diameters =
        table.maybe("diameter", |node| distribution(node, &SizeReader { need: DIAMETER, unit: 2.0, plane }));
    if both {
        table.problem(format!("`{}` has a radius and a diameter", table.name()), "leave out one of them");
        return None;
    }
    radii.or_else(|| diameters.map(|diameters| diameters.scaled(0.5)))
}

/// What is the same for all sizes of a distribution.
struct SizeReader {
    /// Range of a size: a radius, or a diameter.
    need: Need,
    /// Size of a grain over its radius \[-\].
    unit: f64,
    /// Plane of a plane scene, whose grains are discs.
    plane: Option<Plane>,
}

/// Law of a distribution: fraction of the grains below a size \[m\].
type SizeLaw<'a> = &'a dyn Fn(f64) -> f64;

/// Reads a size distribution such as `{ kind = "constant", value = 0.005 }`.
fn distribution(node: Node<'_>, sizes: &SizeReader) -> Option<Radii> {
    if !node.is_table() {
        return node.mismatch("a table such as `{ kind = \"constant\", value = 0.005 }`");
    }
    node.table(|table| match table.kind(KINDS)? {
        "constant" => table.get("value", number(sizes.need)).map(Radii::Constant),
        "uniform" => sizes.uniform(table),
        "normal" => sizes.normal(table),
        "log_normal" => sizes.log_normal(table),
        "weibull" => sizes.weibull(table, ["scale", "shape"], "number"),
        "rosin_rammler" => sizes.weibull(table, ["size", "exponent"], "mass"),
        "sieve" => sizes.sieve(table),
        _ => sizes.mixture(table),
    })
}

/// Reads what the fractions of a distribution count.
fn basis(table: &mut Table<'_>, default: &'static str) -> Basis {
    match table.or("by", default, word(&["number", "mass"])) {
        "mass" => Basis::Mass,
        _ => Basis::Number,
    }
}

impl SizeReader {
    fn uniform(&self, table: &mut Table<'_>) -> Option<Radii> {
        let basis = basis(table, "number");
        let (min, max) = (table.get("min", number(self.need)), table.get("max", number(self.need)));
        let (min, max) = (min?, max?);
        if !ordered(table, min, max) {
            return None;
        }
        match basis {
            Basis::Number => Some(Radii::Uniform { min, max }),
            Basis::Mass => self.curve(table, &|size| (size - min) / (max - min), basis, &[min, max]),
        }
    }

    fn normal(&self, table: &mut Table<'_>) -> Option<Radii> {
        let basis = basis(table, "number");
        let [mean, deviation] = ["mean", "deviation"].map(|key| self.length(table, key));
        let cut =
            |mean: f64, deviation: f64| ((mean - 3.0 * deviation).max(0.1 * mean), mean + 3.0 * deviation);
        let [min, max] =
            self.bounds(table, mean.zip(deviation).map(|(mean, deviation)| cut(mean, deviation)))?;
        let (mean, deviation) = (mean?, deviation?);
        if !(ordered(table, min, max) && around(table, mean, min, max)) {
            return None;
        }
        match basis {
            _ if deviation == 0.0 => Some(Radii::Constant(mean)),
            Basis::Number => Some(Radii::Normal { mean, deviation, min, max }),
            Basis::Mass => {
                self.curve(table, &|size| normal_law((size - mean) / deviation), basis, &[min, max])
            }
        }
    }

    fn log_normal(&self, table: &mut Table<'_>) -> Option<Radii> {
        let basis = basis(table, "number");
        let [mean, deviation] = ["mean", "deviation"].map(|key| self.length(table, key));
        let moments = mean.zip(deviation).map(|(mean, deviation)| log_moments(mean, deviation));
        let cut =
            |(location, scale): (f64, f64)| ((location - 3.0 * scale).exp(), (location + 3.0 * scale).exp());
        let [min, max] = self.bounds(table, moments.map(cut))?;
        let ((location, scale), mean, deviation) = (moments?, mean?, deviation?);
        if deviation == 0.0 {
            return Some(Radii::Constant(mean));
        }
        if !(ordered(table, min, max) && around(table, mean, min, max)) {
            return None;
        }
        match basis {
            Basis::Number => Some(Radii::LogNormal { location, scale, min, max }),
            Basis::Mass => {
                let law = |size: f64| normal_law((size.ln() - location) / scale);
                self.curve(table, &law, basis, &[min, max])
            }
        }
    }

    /// Reads a Weibull distribution, F(d) = 1 - exp(-(d/d')ⁿ), under the names of its scale d' and its exponent n. Rosin and Rammler (1933)
    /// found it by mass for ground coal.
    fn weibull(&self, table: &mut Table<'_>, keys: [&'static str; 2], by: &'static str) -> Option<Radii> {
        let basis = basis(table, by);
        let scale = table.get(keys[0], number(self.need));
        let exponent = table.get(keys[1], number(EXPONENT));
        let min = table.get("min", number(self.need));
        let most =
            scale.zip(exponent).map(|(scale, exponent)| scale * (-OVERSIZE.ln()).powf(exponent.recip()));
        let max = table.get_or("max", most.map(|most| self.readable(most)), number(self.need));
        let (scale, exponent, min, max) = (scale?, exponent?, min?, max?);
        let law = |size: f64| -(-(size / scale).powf(exponent)).exp_m1();
        if ordered(table, min, max) { self.curve(table, &law, basis, &[min, max]) } else { None }
    }

    /// Reads a sieve curve: which fraction of the grains passes sieves of which openings. Between two sieves it is linear in the size, or
    /// in its logarithm.
    fn sieve(&self, table: &mut Table<'_>) -> Option<Radii> {
        const PASSING: Need = Need::new(|x| (0.0..=1.0).contains(&x), "a fraction from 0 to 1");
        let basis = basis(table, "mass");
        let sizes = table.get("sizes", |node| node.list(number(self.need)));
        let passing = table.get("passing", |node| node.list(number(PASSING)));
        let is_straight = table.or("between", "linear", word(&["linear", "logarithmic"])) == "linear";
        let (min, max) = (table.maybe("min", number(self.need)), table.maybe("max", number(self.need)));
        let bounds_are_read = (!table.has("min") || min.is_some()) && (!table.has("max") || max.is_some());
        let (sizes, passing) = (sizes?, passing?);
        if !bounds_are_read || !is_sieve_curve(table, &sizes, &passing, [min, max]) {
            return None;
        }
        let law = |size: f64| {
            let upper = sizes.partition_point(|sieve| *sieve < size).clamp(1, sizes.len() - 1);
            let [low, high] = [sizes[upper - 1], sizes[upper]];
            let way =
                if is_straight { (size - low) / (high - low) } else { (size / low).ln() / (high / low).ln() };
            passing[upper - 1] + way.clamp(0.0, 1.0) * (passing[upper] - passing[upper - 1])
        };
        let (min, max) = (min.unwrap_or(sizes[0]), max.unwrap_or(sizes[sizes.len() - 1]));
        if !ordered(table, min, max) {
            return None;
        }
        let within = sizes.iter().copied().filter(|size| (min..max).contains(size) && *size > min);
        let corners: Vec<f64> = std::iter::once(min).chain(within).chain([max]).collect();
        self.curve(table, &law, basis, &corners)
    }

    fn mixture(&self, table: &mut Table<'_>) -> Option<Radii> {
        let basis = basis(table, "number");
        let key = if self.unit == 1.0 { "radii" } else { "diameters" };
        let radii = table.get(key, |node| node.list(number(self.need)));
        let weight = Need::new(|x| (0.0..=1e9).contains(&x), "zero or a positive share");
        let shares = table.get("shares", |node| node.list(number(weight)));
        let (radii, shares) = (radii?, shares?);
        if radii.is_empty() || radii.len() != shares.len() {
            table.problem(
                format!("`{}` has {} {key} and {} shares", table.name(), radii.len(), shares.len()),
                "give one share per size, and at least one",
            );
            return None;
        }
        let of_number = |(share, radius): (&f64, &f64)| match basis {
            Basis::Number => *share,
            Basis::Mass => share / grain_volume(self.plane, radius / radii[0]),
        };
        let shares: Vec<f64> = shares.iter().zip(&radii).map(of_number).collect();
        let sum: f64 = shares.iter().sum();
        if sum <= 0.0 {
            table.problem(
                format!("the shares of `{}` are all zero", table.name()),
                "make one of them positive",
            );
            return None;
        }
        Some(Radii::Mixture { radii, shares: shares.iter().map(|share| share / sum).collect() })
    }

    /// Distribution of a law between its corners, the first and last of which cut it off.
    fn curve(&self, table: &Table<'_>, law: SizeLaw<'_>, basis: Basis, corners: &[f64]) -> Option<Radii> {
        let (min, max) = (corners[0], corners[corners.len() - 1]);
        if min == max {
            return Some(Radii::Constant(min));
        }
        let left = law(max) - law(min);
        if left < LEAST_LEFT {
            table.problem(
                format!(
                    "`{}` has a fraction of {left:e} of its grains between {min} m and {max} m",
                    table.name()
                ),
                "move the bounds to where the grains are",
            );
            return None;
        }
        Some(Radii::Curve(SizeCurve::new(law, corners, basis, self.plane)))
    }

    /// Reads a mean or a deviation of sizes; a deviation may be zero.
    fn length(&self, table: &mut Table<'_>, key: &'static str) -> Option<f64> {
        let need = if key == "mean" { self.need } else { LENGTH_OR_ZERO };
        table.get(key, number(need))
    }

    /// Reads the bounds of a distribution; the default is where it is cut off. Without `cut` (a faulty distribution) it returns `None`.
    fn bounds(&self, table: &mut Table<'_>, cut: Option<(f64, f64)>) -> Option<[f64; 2]> {
        let Some((low, high)) = cut else {
            let _given = ["min", "max"].map(|key| table.maybe(key, number(self.need)));
            return None;
        };
        let keys = [("min", low), ("max", high)];
        Some(keys.map(|(key, bound)| table.or(key, self.readable(bound), number(self.need))))
    }

    /// Limits a bound to the sizes that a file may contain.
    fn readable(&self, size: f64) -> f64 {
        size.clamp(self.unit * RADII.start(), self.unit * RADII.end())
    }
}

/// Standard normal distribution: fraction below x.
fn normal_law(x: f64) -> f64 {
    0.5 * libm::erfc(-x / 2f64.sqrt())
}

/// Returns whether the points of a sieve curve are one, and say how large all grains between the bounds are; reports what is wrong.
fn is_sieve_curve(table: &Table<'_>, sizes: &[f64], passing: &[f64], [min, max]: [Option<f64>; 2]) -> bool {
    let name = table.name();
    let wrong = |message: String, help: String| {
        table.problem(message, help);
        false
    };
    if sizes.len() != passing.len() || sizes.len() < 2 {
        return wrong(
            format!("`{name}` has {} sizes and {} fractions", sizes.len(), passing.len()),
            "give one fraction in `passing` per size, and at least two".to_owned(),
        );
    }
    if let Some(pair) = sizes.windows(2).find(|pair| pair[0] >= pair[1]) {
        return wrong(
            format!("sizes of `{name}` do not ascend: {} m is followed by {} m", pair[0], pair[1]),
            "list the finest sieve first, and each once".to_owned(),
        );
    }
    if let Some(pair) = passing.windows(2).find(|pair| pair[0] > pair[1]) {
        return wrong(
            format!("`passing` of `{name}` falls from {} to {}", pair[0], pair[1]),
            "what passes a sieve passes every coarser one: give cumulative fractions, from 0 to 1".to_owned(),
        );
    }
    let last = sizes.len() - 1;
    let (finest, coarsest) = (sizes[0], sizes[last]);
    if min.is_some_and(|min| min < finest) || max.is_some_and(|max| max > coarsest) {
        return wrong(
            format!("`{name}` has bounds beyond its sieves, of {finest} m to {coarsest} m"),
            "add sieves, or narrow `min` and `max`".to_owned(),
        );
    }
    if passing[0] > 0.0 && min.is_none() {
        return wrong(
            format!(
                "a fraction of {} of `{name}` passes the finest sieve: how fine it is, is unknown",
                passing[0]
            ),
            format!("add a finer sieve that nothing passes, or leave this fraction out with min = {finest}"),
        );
    }
    if passing[last] < 1.0 && max.is_none() {
        return wrong(
            format!(
                "a fraction of {} of `{name}` stays on the coarsest sieve: how coarse it is, is unknown",
                1.0 - passing[last]
            ),
            format!("add a coarser sieve that all passes, or leave this fraction out with max = {coarsest}"),
        );
    }
    true
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
