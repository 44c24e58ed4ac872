//! The kind of grain that a block or an emitter makes: spheres, or clumps that are turned in some way.

use glam::{DQuat, DVec3};

use super::radii::Radii;
use crate::model::{Clump, ClumpId, Grain, MaterialId, Random, sphere_volume};

/// What the grains of a block or an emitter are: spheres, or clumps that are turned in some way.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Make {
    clump: Option<ClumpId>,
    orientation: Orientation,
    /// Radius of a ball that holds a grain, of its largest sphere and of its smallest, over that of a sphere of its volume \[-\].
    reach: f64,
    largest: f64,
    smallest: f64,
    /// Radius of a sphere of the volume of the clump as it is listed \[m\].
    listed: Option<f64>,
}

/// How clumps are turned.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Orientation {
    /// Each at random.
    Random,
    /// All alike.
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
    /// Clumps of this kind.
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

    /// Radius of a sphere of the volume of the clump as it is listed \[m\]; `None` for spheres, whose size is given with them.
    pub fn listed_radius(&self) -> Option<f64> {
        self.listed
    }

    /// Radius of a ball about the centre of a grain that holds all of it, over the radius of a sphere of its volume \[-\].
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// The same of its largest sphere \[-\].
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// The same of its smallest sphere \[-\].
    pub fn smallest(&self) -> f64 {
        self.smallest
    }

    /// Mean mass of a grain of these radii and this density \[kg/m³\], which of a clump is that of its union unless its mass was given \[kg\].
    pub fn mean_mass(&self, radii: &Radii, clumps: &[Clump], density: f64) -> f64 {
        let of_clump = |clump: &Clump| clump.mass(1.0, density) / sphere_volume(1.0);
        let density = self.clump.map_or(density, |clump| of_clump(&clumps[clump as usize]));
        density * radii.mean_volume()
    }

    /// A grain at rest. Spheres draw nothing.
    pub fn grain(&self, position: DVec3, radius: f64, material: MaterialId, random: &mut Random) -> Grain {
        let orientation = match self.orientation {
            Orientation::Random => random.turn(),
            Orientation::Fixed(orientation) => orientation,
        };
        Grain { clump: self.clump, orientation, ..Grain::at(position, radius, material) }
    }
}
