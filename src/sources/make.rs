//! Kind of grain that a block or an emitter makes: spheres, or clumps with a rule for their orientation.

use glam::{DQuat, DVec3};

use crate::model::{Clump, ClumpId, Grain, MaterialId, Random, sphere_volume};

/// Kind of the grains of a block or an emitter: spheres, or clumps with a rule for their orientation.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Make {
    clump: Option<ClumpId>,
    orientation: Orientation,
    /// Radius of a ball that holds a grain, of its largest sphere and of its smallest, each over its equivalent radius \[-\].
    reach: f64,
    largest: f64,
    smallest: f64,
    /// Equivalent radius of the clump as it is listed: that of a sphere of the same volume \[m\].
    listed: Option<f64>,
}

/// Orientation of clumps.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Orientation {
    /// Random, drawn for each clump.
    Random,
    /// The same for all clumps.
    Fixed(DQuat),
}

impl Default for Make {
    fn default() -> Self {
        Make {
            clump: None,
            orientation: Orientation::Fixed(DQuat::IDENTITY),
            reach: 1.0,
            largest: 1.0,
            smallest: 1.0,
            listed: None,
        }
    }
}

impl Make {
    /// Makes grains of this clump.
    pub fn of_clump(id: ClumpId, clump: &Clump, orientation: Orientation) -> Make {
        let equivalent = clump.equivalent_radius();
        let smallest = clump.spheres.iter().map(|(_, radius)| *radius).fold(f64::INFINITY, f64::min);
        Make {
            clump: Some(id),
            orientation,
            reach: clump.bounding_radius() / equivalent,
            largest: clump.largest_radius() / equivalent,
            smallest: smallest / equivalent,
            listed: Some(equivalent),
        }
    }

    /// Equivalent radius of the clump as it is listed \[m\]; `None` for spheres, whose size is given with them.
    pub fn listed_radius(&self) -> Option<f64> {
        self.listed
    }

    /// Radius of a ball about the centre of a grain that holds all of it, over the radius of a sphere of the same volume \[-\].
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Radius of the largest sphere of a grain, over the radius of a sphere of the same volume \[-\].
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// Radius of the smallest sphere of a grain, over the radius of a sphere of the same volume \[-\].
    pub fn smallest(&self) -> f64 {
        self.smallest
    }

    /// Mass of a grain over the volume of a sphere of its equivalent radius \[kg/m³\], from the density of its material \[kg/m³\]. A clump
    /// has the mass of its union, unless its mass was given.
    pub fn density(&self, clumps: &[Clump], density: f64) -> f64 {
        let of_clump = |clump: &Clump| clump.mass(1.0, density) / sphere_volume(1.0);
        self.clump.map_or(density, |clump| of_clump(&clumps[clump as usize]))
    }

    /// Whether the grains are of a clump whose mass was given.
    pub fn has_given_mass(&self, clumps: &[Clump]) -> bool {
        self.clump.is_some_and(|clump| clumps[clump as usize].given.is_some())
    }

    /// Makes a grain at rest, in the orientation `turn` if there is one. Only a random orientation draws numbers.
    pub fn grain(
        &self,
        position: DVec3,
        radius: f64,
        material: MaterialId,
        turn: Option<DQuat>,
        random: &mut Random,
    ) -> Grain {
        let orientation = match (turn, self.orientation) {
            (Some(turn), _) => turn,
            (None, Orientation::Random) => random.turn(),
            (None, Orientation::Fixed(orientation)) => orientation,
        };
        Grain { clump: self.clump, orientation, ..Grain::at(position, radius, material) }
    }
}
