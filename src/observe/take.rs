//! Reduction of a series of values to one number.

/// Way in which the values of a quantity in a window become one number; see [`crate::scenario::expect`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
pub enum Take {
    /// The last value.
    Final,
    /// The value at a time \[s\], linear between outputs.
    At(f64),
    /// The mean over the outputs.
    Mean,
    /// The largest value.
    Maximum,
    /// The smallest value.
    Minimum,
    /// Time at which the largest value is first reached \[s\].
    TimeOfMaximum,
    /// Time at which the smallest value is first reached \[s\].
    TimeOfMinimum,
    /// The last value minus the first.
    Change,
    /// Slope of the least-squares line \[1/s\].
    Rate,
    /// R² of the least-squares line \[-\].
    Linearity,
    /// Time of the first output from which on the value stays near `value` \[s\].
    SettledAfter {
        /// Value to settle at.
        value: f64,
        /// Largest distance from that value.
        within: f64,
    },
    /// The largest step down between outputs: 0 where the value never falls.
    Rises,
    /// The largest step up between outputs: 0 where the value never rises.
    Falls,
    /// The largest deviation of the times of the first local minima from these times \[s\].
    TimesOfMinima(Vec<f64>),
    /// The largest deviation from a reference curve.
    Curve(Curve),
}

/// Reference curve.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
pub struct Curve {
    /// Column of the curve in its file, for messages.
    pub column: String,
    /// Times \[s\] and values of the curve at which a series is compared with it, in the order of time; at least one.
    pub points: Vec<(f64, f64)>,
}

impl Take {
    /// Keyword of this way in a scenario file.
    pub fn word(&self) -> &'static str {
        match self {
            Take::Final => "final",
            Take::At(_) => "at",
            Take::Mean => "mean",
            Take::Maximum => "maximum",
            Take::Minimum => "minimum",
            Take::TimeOfMaximum => "time_of_maximum",
            Take::TimeOfMinimum => "time_of_minimum",
            Take::Change => "change",
            Take::Rate => "rate",
            Take::Linearity => "linearity",
            Take::SettledAfter { .. } => "settled_after",
            Take::Rises => "rises",
            Take::Falls => "falls",
            Take::TimesOfMinima(_) => "times_of_minima",
            Take::Curve(_) => "curve",
        }
    }

    /// Whether numbers of two quantities taken in this way can be divided.
    pub fn divides(&self) -> bool {
        use Take::{At, Change, Final, Maximum, Mean, Minimum, Rate};
        matches!(self, Final | At(_) | Mean | Maximum | Minimum | Change | Rate)
    }
}
