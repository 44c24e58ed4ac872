//! Defaults as values of a TOML file.

use glam::DVec3;
use toml_edit::Value;

/// Value that can be written into the resolved file.
pub trait Plain {
    /// Converts the value to TOML.
    fn plain(&self) -> Value;
}

impl Plain for f64 {
    fn plain(&self) -> Value {
        (*self).into()
    }
}

impl Plain for bool {
    fn plain(&self) -> Value {
        (*self).into()
    }
}

impl Plain for u64 {
    fn plain(&self) -> Value {
        i64::try_from(*self).unwrap_or(i64::MAX).into()
    }
}

impl Plain for String {
    fn plain(&self) -> Value {
        self.as_str().into()
    }
}

impl Plain for &'static str {
    fn plain(&self) -> Value {
        (*self).into()
    }
}

impl Plain for DVec3 {
    fn plain(&self) -> Value {
        Value::Array(self.to_array().into_iter().collect())
    }
}

impl<T: Plain> Plain for Vec<T> {
    fn plain(&self) -> Value {
        Value::Array(self.iter().map(Plain::plain).collect())
    }
}
