//! Kinds of grain of a script.

use glam::DVec3;

use crate::model::Clump;
use crate::model::sphere_volume;

/// Kind of grain.
#[derive(Debug, Clone, PartialEq)]
pub struct GrainTemplate {
    /// Type of atom, from 1.
    pub material: usize,
    /// Density \[kg/m³\].
    pub density: f64,
    /// Sizes.
    pub sizes: GrainSizes,
}

/// Sizes of a kind of grain.
#[derive(Debug, Clone, PartialEq)]
pub enum GrainSizes {
    /// Spheres of one radius \[m\].
    Constant(f64),
    /// Radii from and to \[m\].
    Uniform(f64, f64),
    /// Mean and deviation of radii \[m\].
    Normal(f64, f64),
    /// Radii \[m\] and shares by number.
    Mixture(Vec<(f64, f64)>),
    /// Body of several spheres: centres and radii \[m\].
    Clump(Vec<(DVec3, f64)>),
}

impl GrainTemplate {
    /// Mean volume of a grain \[m³\].
    pub fn mean_volume(&self) -> f64 {
        let ball = |cube: f64| sphere_volume(1.0) * cube;
        match &self.sizes {
            GrainSizes::Constant(radius) => ball(radius.powi(3)),
            GrainSizes::Uniform(low, high) if high > low => {
                ball((high.powi(4) - low.powi(4)) / (4.0 * (high - low)))
            }
            GrainSizes::Uniform(low, _) => ball(low.powi(3)),
            GrainSizes::Normal(mean, deviation) => ball(mean.powi(3) + 3.0 * mean * deviation * deviation),
            GrainSizes::Mixture(list) => {
                list.iter().map(|(radius, share)| share * ball(radius.powi(3))).sum()
            }
            GrainSizes::Clump(spheres) => union_volume(spheres),
        }
    }

    /// Mean volume of the ball around a grain \[m³\].
    pub fn ball_volume(&self) -> f64 {
        match self.sizes {
            GrainSizes::Clump(_) => sphere_volume(self.reach()),
            _ => self.mean_volume(),
        }
    }

    /// Mean mass of a grain \[kg\].
    pub fn mean_mass(&self) -> f64 {
        self.density * self.mean_volume()
    }

    /// Largest radius of a grain, or of the ball around a body of several spheres \[m\].
    pub fn reach(&self) -> f64 {
        match &self.sizes {
            GrainSizes::Constant(radius) | GrainSizes::Uniform(_, radius) => *radius,
            GrainSizes::Normal(mean, deviation) => mean + 3.0 * deviation,
            GrainSizes::Mixture(list) => list.iter().map(|(radius, _)| *radius).fold(0.0, f64::max),
            GrainSizes::Clump(spheres) => {
                let middle = spheres.iter().map(|(centre, _)| *centre).sum::<DVec3>() / spheres.len() as f64;
                spheres.iter().map(|(centre, radius)| centre.distance(middle) + radius).fold(0.0, f64::max)
            }
        }
    }
}

/// Volume of a union of spheres \[m³\], as the clump that they become has it.
fn union_volume(spheres: &[(DVec3, f64)]) -> f64 {
    let clump = Clump::of_spheres("union", spheres);
    sphere_volume(clump.equivalent_radius())
}
