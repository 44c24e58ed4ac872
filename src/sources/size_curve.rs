//! Cumulative curves of grain sizes, by number or by mass, as sieve analysis and laws of comminution state them.
//!
//! A curve F(r) says which fraction of the grains, by number or by mass, is smaller than r. It is cut into narrow classes, within which
//! F is linear in r. By mass, the density of the number of grains within a class is then ∝ 1/v(r), v the volume of a grain, and all that
//! is needed of it has a closed form: radii are drawn by inversion, and means are exact. Laws that are not linear are followed to within
//! a hundred-thousandth of all grains.

use std::ops::Range;

use crate::model::plane::grain_volume;
use crate::model::{Plane, Random};

/// Largest distance of the classes from the curve that they are made of \[-\].
const ERROR: f64 = 1e-5;
/// Largest fraction of the grains in a class \[-\]. The number of grains of each class is dealt out, so the curve comes out in small lots.
const WIDEST: f64 = 1.0 / 64.0;
/// Largest ratio of the radii of a class \[-\].
const STEEPEST: f64 = 1.05;
/// Smallest difference of the radii of a class, over the radius \[-\]: a curve that jumps is followed no further.
const NARROWEST: f64 = 1e-9;

/// What a fraction of grains is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Basis {
    /// The number of the grains.
    Number,
    /// The mass of the grains, which are of one density.
    Mass,
}

/// Classes of radii with the number of grains in each.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct SizeCurve {
    /// Radii at which classes end and the next begin, ascending \[m\].
    bounds: Vec<f64>,
    /// Fraction of the grains below each of them, by number, from 0 to 1 \[-\].
    below: Vec<f64>,
    /// Power q of the density of the number of grains within a class, ∝ r^-q: 0 by number, by mass 3, or 2 for discs.
    power: i32,
}

impl SizeCurve {
    /// Makes the classes of a curve: `cumulative` is the fraction of the grains below a radius \[m\], of which only differences count,
    /// so it may be cut off at both ends. It may have corners at the radii `corners`, which are ascending, from the least radius to the
    /// largest.
    pub fn new(
        cumulative: &dyn Fn(f64) -> f64,
        corners: &[f64],
        basis: Basis,
        plane: Option<Plane>,
    ) -> SizeCurve {
        let (first, last) = (corners[0], corners[corners.len() - 1]);
        let total = cumulative(last) - cumulative(first);
        let fraction = |radius: f64| (cumulative(radius) - cumulative(first)) / total;
        let mut bounds = vec![first];
        for part in corners.windows(2) {
            divide(&fraction, part[0]..part[1], &mut bounds);
        }
        let power = match (basis, plane) {
            (Basis::Number, _) => 0,
            (Basis::Mass, None) => 3,
            (Basis::Mass, Some(_)) => 2,
        };
        // The number of grains in a class that holds the fraction f by mass is f times the mean of 1/v there, but for a factor.
        let number = |class: &[f64]| {
            let all = fraction(class[1]) - fraction(class[0]);
            all * moment(class, -power) / moment(class, 0)
        };
        let mut below = vec![0.0];
        for class in bounds.windows(2) {
            below.push(below[below.len() - 1] + number(class));
        }
        let all = below[below.len() - 1];
        below.iter_mut().for_each(|number| *number /= all);
        SizeCurve { bounds, below, power }
    }

    /// Smallest radius \[m\].
    pub fn smallest(&self) -> f64 {
        self.bounds[0]
    }

    /// Largest radius \[m\].
    pub fn largest(&self) -> f64 {
        self.bounds[self.bounds.len() - 1]
    }

    /// Returns the curve with all radii multiplied by a factor.
    pub fn scaled(&self, factor: f64) -> SizeCurve {
        SizeCurve { bounds: self.bounds.iter().map(|bound| factor * bound).collect(), ..self.clone() }
    }

    /// Mean volume of a grain \[m³\]; of a disc, per metre of depth.
    pub fn mean_volume(&self, plane: Option<Plane>) -> f64 {
        let dimensions = if plane.is_some() { 2 } else { 3 };
        let of_class = |(class, below): (&[f64], &[f64])| {
            let mean_power = moment(class, dimensions - self.power) / moment(class, -self.power);
            (below[1] - below[0]) * grain_volume(plane, 1.0) * mean_power
        };
        self.bounds.windows(2).zip(self.below.windows(2)).map(of_class).sum()
    }

    /// Deals `count` grains to the classes: below every bound as many as the curve has there, to within half a grain.
    pub fn deal(&self, count: u64) -> Vec<u64> {
        let until = |below: &f64| (below * count as f64).round() as u64;
        self.below.windows(2).map(|pair| until(&pair[1]) - until(&pair[0])).collect()
    }

    /// Draws the radius of a grain of a class \[m\].
    pub fn draw(&self, class: usize, random: &mut Random) -> f64 {
        let (low, high) = (self.bounds[class], self.bounds[class + 1]);
        let power = 1 - self.power;
        let end = |radius: f64| (radius / low).powi(power);
        // No class of power 1 is made, so the inverse of the integral of r^-q is a root.
        let radius = low * (1.0 + (end(high) - 1.0) * random.unit()).powf(f64::from(power).recip());
        radius.clamp(low, high)
    }
}

/// Cuts a part of a curve in halves until each is a class.
fn divide(fraction: &dyn Fn(f64) -> f64, part: Range<f64>, bounds: &mut Vec<f64>) {
    let (low, high) = (part.start, part.end);
    let middle = (low * high).sqrt();
    let [at_low, at_middle, at_high] = [low, middle, high].map(fraction);
    let straight = at_low + (at_high - at_low) * (middle - low) / (high - low);
    let is_narrow = high / low <= STEEPEST && at_high - at_low <= WIDEST;
    if (is_narrow && (at_middle - straight).abs() <= ERROR) || high / low - 1.0 < NARROWEST {
        bounds.push(high);
    } else {
        divide(fraction, low..middle, bounds);
        divide(fraction, middle..high, bounds);
    }
}

/// Integral of r^power over a class of radii \[m^(power + 1)\].
fn moment(class: &[f64], power: i32) -> f64 {
    let (low, ratio) = (class[0], (class[1] / class[0]).ln());
    let exponent = f64::from(power + 1);
    let over_low = if power == -1 { ratio } else { (exponent * ratio).exp_m1() / exponent };
    low.powi(power + 1) * over_low
}
