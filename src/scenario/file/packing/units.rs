//! Units of LAMMPS.

/// Units of the numbers in a file, in SI units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Units {
    /// Length \[m\].
    pub length: f64,
    /// Mass \[kg\].
    pub mass: f64,
    /// Time \[s\].
    pub time: f64,
}

impl Units {
    /// SI units.
    pub const SI: Units = Units { length: 1.0, mass: 1.0, time: 1.0 };

    /// Units of this name in LAMMPS, as its page of the command `units` has them.
    ///
    /// # Errors
    /// For those in which lengths or masses of grains are not plain.
    pub fn named(name: &str) -> Result<Units, String> {
        match name {
            "si" => Ok(Units::SI),
            "cgs" => Ok(Units { length: 1e-2, mass: 1e-3, time: 1.0 }),
            "micro" => Ok(Units { length: 1e-6, mass: 1e-15, time: 1e-6 }),
            "nano" => Ok(Units { length: 1e-9, mass: 1e-21, time: 1e-9 }),
            "lj" | "real" | "metal" | "electron" => {
                Err(format!("units `{name}` are those of molecules, expected si, cgs, micro or nano"))
            }
            _ => Err(format!("units `{name}` are unknown, expected si, cgs, micro or nano")),
        }
    }

    /// Velocity \[m/s\].
    pub fn velocity(&self) -> f64 {
        self.length / self.time
    }

    /// Angular velocity \[rad/s\].
    pub fn rate(&self) -> f64 {
        self.time.recip()
    }

    /// Density \[kg/m³\].
    pub fn density(&self) -> f64 {
        self.mass / self.length.powi(3)
    }
}

/// What scripts have beside the numbers of a dump.
#[cfg(feature = "cli")]
impl Units {
    /// Acceleration \[m/s²\].
    pub fn acceleration(&self) -> f64 {
        self.velocity() / self.time
    }

    /// Force \[N\].
    pub fn force(&self) -> f64 {
        self.mass * self.acceleration()
    }

    /// Pressure or modulus \[Pa\].
    pub fn pressure(&self) -> f64 {
        self.force() / (self.length * self.length)
    }

    /// Stiffness \[N/m\], or energy of a surface \[J/m²\].
    pub fn stiffness(&self) -> f64 {
        self.force() / self.length
    }
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use super::*;

    #[test]
    fn units_that_follow_from_others() {
        let cgs = Units::named("cgs").expect("known");
        let found = [cgs.density(), cgs.acceleration(), cgs.force(), cgs.pressure(), cgs.stiffness()];
        for (found, expected) in found.into_iter().zip([1000.0, 0.01, 1e-5, 0.1, 1e-3]) {
            assert!((found / expected - 1.0_f64).abs() < 1e-12, "{found} for {expected}");
        }
    }
}
