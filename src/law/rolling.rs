//! Rolling resistance: its lever arm \[E4\].

/// Lever arm of rolling resistance, a multiple of the effective radius R* \[E4\]: Wang, Servin & Berglund 2016 print a radius that can be
/// read in three ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
pub enum RollingArm {
    /// R* = r_a r_b/(r_a + r_b): half a radius between like grains, a radius at a wall.
    #[default]
    Reduced,
    /// 2 R*: a radius between like grains, a diameter at a wall.
    Radius,
    /// 4 R*: a diameter between like grains, two at a wall.
    Diameter,
}

impl RollingArm {
    /// The arm over R* \[-\].
    pub fn in_effective_radii(self) -> f64 {
        match self {
            RollingArm::Reduced => 1.0,
            RollingArm::Radius => 2.0,
            RollingArm::Diameter => 4.0,
        }
    }
}
