//! How a series of values becomes one number.

/// How the values of a quantity in a window become one number; see [`crate::scenario::expect`].
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
    /// When the largest value is reached first \[s\].
    TimeOfMaximum,
    /// When the smallest value is reached first \[s\].
    TimeOfMinimum,
    /// The last value minus the first.
    Change,
    /// Slope of the least-squares line \[1/s\].
    Rate,
    /// R² of the least-squares line \[-\].
    Linearity,
    /// Time of the first output from which the value stays near another \[s\].
    SettledAfter {
        /// That other value.
        value: f64,
        /// How near.
        within: f64,
    },
    /// The largest step down.
    Rises,
    /// The largest step up.
    Falls,
    /// The largest deviation of the times of the first local minima from these \[s\].
    TimesOfMinima(Vec<f64>),
    /// The largest deviation from a curve.
    Curve(Curve),
}

/// A reference curve.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
pub struct Curve {
    /// Its column in the file, for messages.
    pub column: String,
    /// Time \[s\] and value where the two are compared, in the order of time; at least one.
    pub points: Vec<(f64, f64)>,
}

impl Take {
    /// The word for it in a scenario file.
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

    /// Whether the numbers of two quantities can be divided.
    pub fn divides(&self) -> bool {
        use Take::{At, Change, Final, Maximum, Mean, Minimum, Rate};
        matches!(self, Final | At(_) | Mean | Maximum | Minimum | Change | Rate)
    }
}
