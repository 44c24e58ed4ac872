//! The scenes that all programs are given: the bed of `scenarios/settle.toml`, and the drum of `scenarios/drum.toml`.

use std::path::Path;

use esker::scenario::{Problems, Scenario};

/// Rate of the drum \[rad/s\].
pub const DRUM_RATE: f64 = 0.25;

/// A scene at its start.
#[derive(Clone)]
pub struct Scene {
    /// Grains, boundaries, materials, settings of esker.
    pub scenario: Scenario,
    /// Of the largest grains \[m\].
    pub diameter: f64,
    /// Its walls.
    pub shape: Shape,
}

/// Walls of a scene.
#[derive(Clone, Copy)]
pub enum Shape {
    /// An open box on a rough floor, with smooth side walls, of this half width \[m\].
    Bed { half_width: f64 },
    /// A rough cylinder along y with caps \[m\].
    Drum { radius: f64, half_length: f64 },
}

impl Scene {
    /// A bed of `grains` grains above its box, on a base of 26 d; of 12 d for 1 000 and fewer.
    ///
    /// # Errors
    /// When the scenario does not allow for that number.
    pub fn bed(grains: u32) -> Result<Scene, Problems> {
        let (file, width) = if grains <= 1000 { ("settle_1000.toml", 12.0) } else { ("settle.toml", 26.0) };
        let scenario = load(file, &[format!("grains.0.packing.count={grains}")])?;
        let diameter = scenario.world.largest_diameter();
        Ok(Scene { scenario, diameter, shape: Shape::Bed { half_width: 0.5 * width * diameter } })
    }

    /// The drum of 4 864 grains, from the lattice that it starts from.
    ///
    /// # Errors
    /// When the scenario is wrong.
    pub fn drum() -> Result<Scene, Problems> {
        let scenario = load("drum.toml", &[])?;
        let diameter = scenario.world.largest_diameter();
        Ok(Scene { scenario, diameter, shape: Shape::Drum { radius: 0.26, half_length: 0.0455 } })
    }
}

fn load(file: &str, overrides: &[String]) -> Result<Scenario, Problems> {
    Scenario::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(file), overrides)
}
