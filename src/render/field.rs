//! Fields that grains are coloured by: a field of a frame, the magnitude or a component of a vector, or the height.

use glam::DVec3;

use super::frame::Frame;
use crate::error::Error;
use crate::error::suggest;
use crate::output::vtp::Array;

/// Field that grains are coloured by, given by its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    name: String,
    /// Unit vector against gravity.
    up: DVec3,
}

impl Field {
    /// The field of this name. Heights are measured against `gravity`.
    pub fn new(name: &str, gravity: DVec3) -> Field {
        Field { name: name.to_owned(), up: (-gravity).try_normalize().unwrap_or(DVec3::Z) }
    }

    /// Name and unit, for a legend.
    pub fn label(&self) -> String {
        let stem = stem(&self.name).map_or(self.name.as_str(), |(stem, _)| stem);
        let unit = match stem {
            "velocity" | "relative_velocity" => " [m/s]",
            "angular_velocity" => " [rad/s]",
            "radius" | "height" => " [m]",
            "contact_force" => " [N]",
            "pressure" => " [Pa]",
            "temperature" => " [K]",
            _ => "",
        };
        format!("{}{unit}", self.name.replace('_', " "))
    }

    /// Values of the field, one for every grain of a frame.
    ///
    /// # Errors
    /// [`Error::Unusable`] when the frame has no such field; the message names the fields it has.
    pub fn values(&self, frame: &Frame) -> Result<Vec<f64>, Error> {
        if self.name == "height" {
            return Ok(frame.balls.iter().map(|ball| ball.centre.dot(self.up)).collect());
        }
        let grains = 0..frame.balls.len();
        if let Some(array) = frame.fields.iter().find(|array| array.name == self.name) {
            let length = |grain| array.components_of(grain).map(|x| x * x).sum::<f64>().sqrt();
            return Ok(match array.components {
                1 => grains.map(|grain| array.component(grain, 0)).collect(),
                _ => grains.map(length).collect(),
            });
        }
        let component = stem(&self.name).and_then(|(stem, component)| {
            let is_it = |array: &&Array| array.name == stem && array.components == 3;
            Some((frame.fields.iter().find(is_it)?, component))
        });
        match component {
            Some((array, component)) => Ok(grains.map(|grain| array.component(grain, component)).collect()),
            None => Err(self.unknown(frame)),
        }
    }

    fn unknown(&self, frame: &Frame) -> Error {
        let names: Vec<String> = std::iter::once("height".to_owned())
            .chain(frame.fields.iter().flat_map(|array| {
                let axes: &[&str] = if array.components == 3 { &["_x", "_y", "_z"] } else { &[] };
                let whole = std::iter::once(array.name.to_string());
                whole.chain(axes.iter().map(|axis| format!("{}{axis}", array.name)))
            }))
            .collect();
        Error::Unusable {
            origin: "--colour-by".to_owned(),
            found: format!("the frames have no field \"{}\"", self.name),
            advice: suggest(&self.name, names.iter().map(String::as_str)),
        }
    }
}

/// The vector and the component that a name such as `velocity_z` stands for.
fn stem(name: &str) -> Option<(&str, usize)> {
    let axes = [("_x", 0), ("_y", 1), ("_z", 2)];
    axes.into_iter().find_map(|(end, axis)| Some((name.strip_suffix(end)?, axis)))
}

/// Least and greatest of some values; values that are not finite are left out.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Range {
    /// Least value.
    pub least: f64,
    /// Greatest value.
    pub greatest: f64,
}

impl Range {
    /// Range of no values.
    pub const NOTHING: Range = Range { least: f64::INFINITY, greatest: f64::NEG_INFINITY };

    /// Returns the range with one more value.
    #[must_use]
    pub fn with(self, value: f64) -> Range {
        match value.is_finite() {
            true => Range { least: self.least.min(value), greatest: self.greatest.max(value) },
            false => self,
        }
    }

    /// Returns a range of non-zero width for the colours: a single value gets the middle colour, zero alone the lowest one.
    #[must_use]
    pub fn opened(self) -> Range {
        if self.least > self.greatest {
            return Range { least: 0.0, greatest: 1.0 };
        }
        let size = self.least.abs().max(self.greatest.abs());
        if self.greatest - self.least > 1e-9 * size {
            self
        } else if size > 0.0 {
            Range { least: self.least - 0.5 * size, greatest: self.greatest + 0.5 * size }
        } else {
            Range { least: 0.0, greatest: 1.0 }
        }
    }

    /// Position of a value in the range, 0 to 1. Values beyond an end count as that end.
    pub fn share(&self, value: f64) -> f64 {
        let share = (value - self.least) / (self.greatest - self.least);
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_leave_out_what_is_no_number_and_are_never_empty() {
        let of = |values: &[f64]| values.iter().copied().fold(Range::NOTHING, Range::with).opened();
        assert_eq!(of(&[2.0, f64::NAN, -1.0]), Range { least: -1.0, greatest: 2.0 });
        assert_eq!(of(&[]), Range { least: 0.0, greatest: 1.0 });
        assert_eq!(of(&[0.0, 0.0]), Range { least: 0.0, greatest: 1.0 });
        assert_eq!(of(&[-4.0]), Range { least: -6.0, greatest: -2.0 });
        assert_eq!(of(&[-4.0]).share(f64::NAN), 0.0);
    }

    #[test]
    fn labels_have_units() {
        let label = |name: &str| Field::new(name, DVec3::ZERO).label();
        assert_eq!(label("angular_velocity_z"), "angular velocity z [rad/s]");
        assert_eq!(label("coordination_number"), "coordination number");
        assert_eq!(label("height"), "height [m]");
    }
}
