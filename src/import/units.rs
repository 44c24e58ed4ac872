//! Systems of units, as factors to SI.

/// Factors from the units of a script to SI.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Units {
    /// Name in the command `units`.
    pub name: &'static str,
    /// Metres.
    pub length: f64,
    /// Kilograms.
    pub mass: f64,
    /// Seconds.
    pub time: f64,
}

/// SI units.
pub const SI: Units = Units { name: "si", length: 1.0, mass: 1.0, time: 1.0 };
/// Centimetres, grams and seconds.
pub const CGS: Units = Units { name: "cgs", length: 0.01, mass: 0.001, time: 1.0 };

impl Units {
    /// Units of this name, if they are taken.
    pub fn find(name: &str) -> Option<Units> {
        [SI, CGS].into_iter().find(|units| units.name == name)
    }

    /// m/s in one unit of velocity.
    pub fn velocity(&self) -> f64 {
        self.length / self.time
    }

    /// m/s² in one unit of acceleration.
    pub fn acceleration(&self) -> f64 {
        self.velocity() / self.time
    }

    /// kg/m³ in one unit of density.
    pub fn density(&self) -> f64 {
        self.mass / self.length.powi(3)
    }

    /// N in one unit of force.
    pub fn force(&self) -> f64 {
        self.mass * self.acceleration()
    }

    /// Pa in one unit of pressure.
    pub fn pressure(&self) -> f64 {
        self.force() / (self.length * self.length)
    }

    /// N/m in one unit of stiffness, and J/m² in one of surface energy.
    pub fn stiffness(&self) -> f64 {
        self.force() / self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cgs_units_become_si() {
        let close = |found: f64, expected: f64| {
            assert!((found / expected - 1.0).abs() < 1e-12, "{found} for {expected}")
        };
        close(CGS.density(), 1000.0);
        close(CGS.pressure(), 0.1);
        close(CGS.force(), 1e-5);
        close(CGS.acceleration(), 0.01);
        close(CGS.stiffness(), 1e-3);
        assert_eq!(Units::find("lj"), None);
    }
}
