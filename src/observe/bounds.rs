//! Bounds on a number: a value with a tolerance, a lower bound, an upper bound.

use crate::engine::Precision;

/// Bounds on a number. All bounds that are set must hold; at least one is set, unless the number is only shown.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
pub struct Bounds {
    /// Expected value, in the unit of the number.
    pub value: Option<f64>,
    /// Tolerance around `value`; `None` only where the number is shown and not judged.
    pub tolerance: Option<Tolerance>,
    /// Lower bound.
    pub at_least: Option<f64>,
    /// Upper bound.
    pub at_most: Option<f64>,
    /// Whether the number is reported and never judged.
    pub shown_only: bool,
}

/// Largest |found - value|, by the precision of the engine.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
pub struct Tolerance {
    /// In double precision.
    pub double: f64,
    /// In single precision.
    pub single: f64,
}

impl Tolerance {
    /// Tolerance for an engine of this precision.
    pub fn of(self, precision: Precision) -> f64 {
        match precision {
            Precision::Double => self.double,
            Precision::Single => self.single,
        }
    }
}

impl Bounds {
    /// Whether a number is within all bounds.
    pub fn admit(&self, found: f64, precision: Precision) -> bool {
        let near = self.value.zip(self.tolerance);
        near.is_none_or(|(value, tolerance)| (found - value).abs() <= tolerance.of(precision))
            && self.at_least.is_none_or(|bound| found >= bound)
            && self.at_most.is_none_or(|bound| found <= bound)
    }
}
