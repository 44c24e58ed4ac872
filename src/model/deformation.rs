//! Deformation of the periodic cell \[E23\]: a programme of strain rates and goal stresses, and what came of it.

use glam::{DMat3, DVec3};

use super::{World, outer};

/// What rules the length of the cell along an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum AxisControl {
    /// Strain rate: growth of the length over the length \[1/s\], negative under compression.
    Rate(f64),
    /// Stress on the faces, positive under compression \[Pa\]: the length follows.
    Stress(f64),
}

/// Stage of the deformation, from its time to that of the next.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct DeformationStage {
    /// Time at which the stage begins \[s\].
    pub from: f64,
    /// Control of the lengths along x, y and z.
    pub axes: [AxisControl; 3],
    /// Shear rate ∂v_i/∂x_j, with i and j the axes of the tilt of the cell \[1/s\].
    pub shear_rate: f64,
}

/// Deformation of a periodic cell.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Deformation {
    /// Stages in the order of their times; the first begins at the start.
    pub stages: Vec<DeformationStage>,
    /// Mass that resists changes of the strain rate along an axis under a goal stress, over the mass of all grains \[-\].
    pub mass_ratio: f64,
    /// Largest strain rate along an axis under a goal stress \[1/s\].
    pub max_rate: f64,
    /// Lengths of the cell at the start \[m\].
    pub start: DVec3,
    /// Shear strain since the start \[-\].
    pub shear_strain: f64,
    /// Velocity gradient of the last substep \[1/s\].
    pub gradient: DMat3,
    /// Sum of stress times time over the substeps since the start \[Pa s\].
    pub stress_time: DMat3,
}

impl Deformation {
    /// Deformation of a cell of these lengths \[m\] that has not begun.
    pub fn new(stages: Vec<DeformationStage>, start: DVec3) -> Deformation {
        Deformation {
            stages,
            mass_ratio: 1.0,
            max_rate: f64::INFINITY,
            start,
            shear_strain: 0.0,
            gradient: DMat3::ZERO,
            stress_time: DMat3::ZERO,
        }
    }

    /// Stage at a time \[s\].
    pub fn stage(&self, time: f64) -> &DeformationStage {
        let later = self.stages.partition_point(|stage| stage.from <= time);
        &self.stages[later.saturating_sub(1)]
    }
}

impl World {
    /// Velocity gradient at the start of the substep at the present time \[1/s\]: prescribed rates, and along axes under a goal stress the
    /// rate of the substep before. Zero where the cell does not deform.
    pub fn velocity_gradient(&self) -> DMat3 {
        let Some(deformation) = &self.deformation else { return DMat3::ZERO };
        let stage = deformation.stage(self.time);
        let rates = [0, 1, 2].map(|axis| match stage.axes[axis] {
            AxisControl::Rate(rate) => rate,
            AxisControl::Stress(_) => deformation.gradient.col(axis)[axis],
        });
        let mut gradient = DMat3::from_diagonal(DVec3::from(rates));
        let tilt = &self.periodic.tilt;
        gradient.col_mut(tilt.across as usize)[tilt.along as usize] = stage.shear_rate;
        gradient
    }

    /// Deforms the cell in a substep of `h` \[s\] by this velocity gradient, under the sum of stress times time of the substep \[Pa s\].
    pub fn deform(&mut self, gradient: &DMat3, h: f64, stress_time: DMat3) {
        let Some(deformation) = &mut self.deformation else { return };
        let tilt = &self.periodic.tilt;
        deformation.shear_strain += h * gradient.col(tilt.across as usize)[tilt.along as usize];
        deformation.gradient = *gradient;
        deformation.stress_time += stress_time;
        self.periodic = self.periodic.deformed(gradient, h);
    }

    /// Momentum flux Σ m v vᵀ of the grains \[J\].
    pub fn momentum_flux(&self, velocity: impl Fn(usize) -> DVec3) -> DMat3 {
        let flux = |grain: usize| {
            let body = self.grain_body(grain);
            self.grain_mass(grain) * outer(velocity(body), velocity(body))
        };
        self.present_grains().map(flux).fold(DMat3::ZERO, |sum, flux| sum + flux)
    }
}
