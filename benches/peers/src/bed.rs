//! The bed that all programs are given: that of `scenarios/settle.toml`.

use std::path::Path;

use esker::scenario::{Problems, Scenario};

/// A bed above its box, about to drop.
pub struct Bed {
    /// Grains, boundaries, materials, settings of esker.
    pub scenario: Scenario,
    /// Of the grains \[m\].
    pub diameter: f64,
    /// Half the width of the box \[m\].
    pub half_width: f64,
}

impl Bed {
    /// A bed of `grains` grains on a base of 26 d; of 12 d for 1 000 and fewer.
    ///
    /// # Errors
    /// When the scenario does not allow for that number.
    pub fn of(grains: u32) -> Result<Bed, Problems> {
        let (file, width) = if grains <= 1000 { ("settle_1000.toml", 12.0) } else { ("settle.toml", 26.0) };
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(file);
        let scenario = Scenario::load(&path, &[format!("grains.0.packing.count={grains}")])?;
        let diameter = scenario.world.largest_diameter();
        Ok(Bed { scenario, diameter, half_width: 0.5 * width * diameter })
    }
}
