//! Size distributions of grains.

use super::size_curve::SizeCurve;
use crate::model::plane::grain_volume;
use crate::model::{Plane, Random};

/// Distribution of the radii of grains \[m\].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Radii {
    /// The same radius for all grains \[m\].
    Constant(f64),
    /// Uniform distribution between two bounds.
    Uniform {
        /// Least radius \[m\].
        min: f64,
        /// Largest radius \[m\].
        max: f64,
    },
    /// Normal distribution, cut off at two bounds.
    Normal {
        /// Mean radius before cutting \[m\].
        mean: f64,
        /// Standard deviation before cutting \[m\].
        deviation: f64,
        /// Least radius \[m\].
        min: f64,
        /// Largest radius \[m\].
        max: f64,
    },
    /// Log-normal distribution, cut off at two bounds.
    LogNormal {
        /// Mean of ln(r / 1 m) \[-\].
        location: f64,
        /// Standard deviation of ln(r / 1 m) \[-\].
        scale: f64,
        /// Least radius \[m\].
        min: f64,
        /// Largest radius \[m\].
        max: f64,
    },
    /// Mixture of a few sizes.
    Mixture {
        /// Radii of the sizes \[m\].
        radii: Vec<f64>,
        /// Share of each size by number; the sum is 1 \[-\].
        shares: Vec<f64>,
    },
    /// A cumulative curve, by number or by mass.
    Curve(SizeCurve),
}

/// Number of grains, or how much of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// Number of grains.
    Count(u64),
    /// Volume of all grains together \[m³\], met to within half of a grain; of discs, per metre of depth.
    Volume(f64),
}

/// Number of draws outside the bounds after which a radius is drawn uniformly between them.
const DRAWS: usize = 1000;

impl Radii {
    /// Largest radius \[m\].
    pub fn largest(&self) -> f64 {
        match self {
            Radii::Constant(radius) => *radius,
            Radii::Uniform { max, .. } | Radii::Normal { max, .. } | Radii::LogNormal { max, .. } => *max,
            Radii::Mixture { radii, .. } => radii.iter().copied().fold(0.0, f64::max),
            Radii::Curve(curve) => curve.largest(),
        }
    }

    /// Smallest radius \[m\].
    pub fn smallest(&self) -> f64 {
        match self {
            Radii::Constant(radius) => *radius,
            Radii::Uniform { min, .. } | Radii::Normal { min, .. } | Radii::LogNormal { min, .. } => *min,
            Radii::Mixture { radii, .. } => radii.iter().copied().fold(f64::INFINITY, f64::min),
            Radii::Curve(curve) => curve.smallest(),
        }
    }

    /// Returns the distribution with all radii multiplied by a factor.
    pub fn scaled(&self, factor: f64) -> Radii {
        let scaled = |radius: &f64| factor * radius;
        match self {
            Radii::Constant(radius) => Radii::Constant(scaled(radius)),
            Radii::Uniform { min, max } => Radii::Uniform { min: scaled(min), max: scaled(max) },
            Radii::Normal { mean, deviation, min, max } => Radii::Normal {
                mean: scaled(mean),
                deviation: scaled(deviation),
                min: scaled(min),
                max: scaled(max),
            },
            Radii::LogNormal { location, scale, min, max } => Radii::LogNormal {
                location: location + factor.ln(),
                scale: *scale,
                min: scaled(min),
                max: scaled(max),
            },
            Radii::Mixture { radii, shares } => {
                Radii::Mixture { radii: radii.iter().map(scaled).collect(), shares: shares.clone() }
            }
            Radii::Curve(curve) => Radii::Curve(curve.scaled(factor)),
        }
    }

    /// Mean volume of a grain \[m³\]; of a disc, per metre of depth.
    pub fn mean_volume(&self, plane: Option<Plane>) -> f64 {
        let volume = |radius: f64| grain_volume(plane, radius);
        let mean_over = |min: f64, max: f64, weight: &dyn Fn(f64) -> f64| {
            let nodes = (0..400).map(|i| min + (max - min) * (f64::from(i) + 0.5) / 400.0);
            let (sum, total) = nodes.fold((0.0, 0.0), |(sum, total), radius| {
                (sum + weight(radius) * volume(radius), total + weight(radius))
            });
            if total > 0.0 { sum / total } else { volume(0.5 * (min + max)) }
        };
        match self {
            Radii::Constant(radius) => volume(*radius),
            Radii::Uniform { min, max } => mean_over(*min, *max, &|_| 1.0),
            Radii::Normal { mean, deviation, min, max } => {
                mean_over(*min, *max, &|radius| (-0.5 * ((radius - mean) / deviation).powi(2)).exp())
            }
            Radii::LogNormal { location, scale, min, max } => mean_over(*min, *max, &|radius| {
                (-0.5 * ((radius.ln() - location) / scale).powi(2)).exp() / radius
            }),
            Radii::Mixture { radii, shares } => {
                radii.iter().zip(shares).map(|(&radius, share)| share * volume(radius)).sum()
            }
            Radii::Curve(curve) => curve.mean_volume(plane),
        }
    }

    /// Draws the radii of an amount of grains \[m\], of at most `most` grains.
    pub fn draw_all(&self, amount: Amount, plane: Option<Plane>, most: u64, random: &mut Random) -> Vec<f64> {
        match amount {
            Amount::Count(count) => {
                let mut draw = RadiusDraw::new(self.clone(), count);
                (0..count).map(|_| draw.next(random)).collect()
            }
            Amount::Volume(volume) => {
                let draw = RadiusDraw::of_volume(self.clone(), volume, plane);
                draw.up_to(volume, plane, random).take(most as usize).collect()
            }
        }
    }
}

/// Mean and standard deviation of ln(r / 1 m) \[-\], for a log-normal distribution with this mean and standard deviation of r \[m\].
pub fn log_moments(mean: f64, deviation: f64) -> (f64, f64) {
    let variance = (deviation / mean).powi(2).ln_1p();
    (mean.ln() - 0.5 * variance, variance.sqrt())
}

/// Draws radii one by one. The sizes of a mixture, and the classes of a curve, come out exactly: the number of each is its share of
/// `count`, to within one grain.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct RadiusDraw {
    radii: Radii,
    count: u64,
    /// Number of grains of each size or class that are left of `count`.
    left: Vec<u64>,
}

impl RadiusDraw {
    /// Makes a draw for `count` grains in all. Where more are drawn, as many again are dealt out.
    pub fn new(radii: Radii, count: u64) -> RadiusDraw {
        let mut draw = RadiusDraw { radii, count, left: Vec::new() };
        draw.deal();
        draw
    }

    /// Makes a draw for about as many grains as have this volume together \[m³\]; of discs, per metre of depth.
    pub fn of_volume(radii: Radii, volume: f64, plane: Option<Plane>) -> RadiusDraw {
        let count = (volume / radii.mean_volume(plane)).round().max(1.0);
        RadiusDraw::new(radii, count as u64)
    }

    /// Draws radii \[m\] until the grains have this volume together \[m³\], to within half of the last one.
    pub fn up_to(
        mut self,
        volume: f64,
        plane: Option<Plane>,
        random: &mut Random,
    ) -> impl Iterator<Item = f64> {
        let mut sum = 0.0;
        std::iter::from_fn(move || {
            let radius = self.next(random);
            let own = grain_volume(plane, radius);
            let is_due = sum + 0.5 * own <= volume;
            sum += own;
            is_due.then_some(radius)
        })
    }

    /// Deals the grains to the sizes or classes.
    fn deal(&mut self) {
        self.left = match &self.radii {
            Radii::Mixture { shares, .. } => split(self.count, shares),
            Radii::Curve(curve) => curve.deal(self.count),
            _ => Vec::new(),
        };
    }

    /// Whether this is a later state of another draw.
    #[cfg(feature = "scenario")]
    pub(super) fn goes_on_from(&self, first: &RadiusDraw) -> bool {
        let are_left = self.left.iter().zip(&first.left).all(|(left, first)| left <= first);
        let are_same = self.radii == first.radii && self.count == first.count;
        are_same && self.left.len() == first.left.len() && are_left
    }

    /// Largest radius that can be drawn \[m\].
    pub fn largest(&self) -> f64 {
        self.radii.largest()
    }

    /// Draws the next radius \[m\].
    pub fn next(&mut self, random: &mut Random) -> f64 {
        if self.left.iter().all(|left| *left == 0) {
            self.deal();
        }
        match &self.radii {
            Radii::Constant(radius) => *radius,
            Radii::Uniform { min, max } => random.between(*min, *max),
            Radii::Normal { mean, deviation, min, max } => {
                cut_off(*min, *max, random, |random| mean + deviation * random.normal())
            }
            Radii::LogNormal { location, scale, min, max } => {
                cut_off(*min, *max, random, |random| (location + scale * random.normal()).exp())
            }
            Radii::Mixture { radii, .. } => radii[take_one(&mut self.left, random)],
            Radii::Curve(curve) => curve.draw(take_one(&mut self.left, random), random),
        }
    }
}

/// Takes one of the remaining items and returns its kind, each item with the same probability, so that the order is shuffled.
fn take_one(left: &mut [u64], random: &mut Random) -> usize {
    let total: u64 = left.iter().sum();
    let mut ticket = random.below(total.max(1));
    for (kind, count) in left.iter_mut().enumerate() {
        if ticket < *count {
            *count -= 1;
            return kind;
        }
        ticket -= *count;
    }
    0
}

fn cut_off(min: f64, max: f64, random: &mut Random, draw: impl Fn(&mut Random) -> f64) -> f64 {
    let value = (0..DRAWS).map(|_| draw(random)).find(|radius| (min..=max).contains(radius));
    value.unwrap_or_else(|| random.between(min, max))
}

/// Splits `count` by shares, each part to within one (largest remainders first).
fn split(count: u64, shares: &[f64]) -> Vec<u64> {
    let exact: Vec<f64> = shares.iter().map(|share| share * count as f64).collect();
    let mut parts: Vec<u64> = exact.iter().map(|part| part.floor() as u64).collect();
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()));
    let missing = count.saturating_sub(parts.iter().sum());
    for &part in order.iter().cycle().take(missing as usize) {
        parts[part] += 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::random::Stream;

    fn draw(radii: Radii, count: u64) -> Vec<f64> {
        let mut random = Random::new(3, Stream::Grains(0));
        let mut draw = RadiusDraw::new(radii, count);
        (0..count).map(|_| draw.next(&mut random)).collect()
    }

    #[test]
    fn a_mixture_comes_out_to_one_grain() {
        let sizes = Radii::Mixture { radii: vec![1.0, 2.0, 3.0], shares: vec![0.5, 0.3, 0.2] };
        let drawn = draw(sizes, 1001);
        let count = |size: f64| drawn.iter().filter(|&&radius| radius == size).count() as f64;
        for (size, share) in [(1.0, 0.5), (2.0, 0.3), (3.0, 0.2)] {
            assert!((count(size) - share * 1001.0).abs() < 1.0, "{size}: {}", count(size));
        }
        let runs = drawn.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(runs > 400, "the sizes are not shuffled: {runs} changes");
    }

    #[test]
    fn a_log_normal_has_the_mean_and_deviation_it_was_given() {
        let (location, scale) = log_moments(2.0, 0.4);
        let drawn = draw(Radii::LogNormal { location, scale, min: 0.1, max: 40.0 }, 40_000);
        let mean = drawn.iter().sum::<f64>() / 40_000.0;
        let deviation = (drawn.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / 40_000.0).sqrt();
        assert!((mean - 2.0).abs() < 0.01 && (deviation - 0.4).abs() < 0.01, "{mean} {deviation}");
    }

    #[test]
    fn bounds_hold_even_far_out_in_a_tail() {
        let drawn = draw(Radii::Normal { mean: 1.0, deviation: 0.1, min: 1.5, max: 1.6 }, 20);
        assert!(drawn.iter().all(|radius| (1.5..=1.6).contains(radius)));
    }

    #[test]
    fn the_mean_volume_is_that_of_the_draws() {
        let sizes = Radii::Normal { mean: 1.0, deviation: 0.2, min: 0.4, max: 1.6 };
        let expected = sizes.mean_volume(None);
        let mean =
            draw(sizes, 20_000).iter().map(|&radius| grain_volume(None, radius)).sum::<f64>() / 20_000.0;
        assert!((mean / expected - 1.0).abs() < 0.02, "{mean} instead of {expected}");
    }
}
