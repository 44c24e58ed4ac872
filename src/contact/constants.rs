//! Constants of the contact laws during a substep, from the settings.

use crate::law::damping::Damping;
use crate::law::normal::NormalLaw;
use crate::model::Sphere;
use crate::settings::{Method, Settings};

/// Constants of the contact laws during a substep.
#[derive(Debug, Clone, Copy)]
pub struct LawConstants {
    /// Length of the substep h \[s\].
    pub h: f64,
    /// The normal law.
    pub normal: NormalLaw,
    /// Share of a rigid overlap that the substep removes \[-\].
    pub rigid_correction: f64,
    /// Largest gap of a listed contact, in mean diameters \[-\].
    pub reach: f64,
    /// Method of a step: nonsmooth or smooth.
    pub method: Method,
    /// Lever arm of rolling resistance over R* \[-\].
    pub rolling_arm: f64,
    /// Law of the damping of springs.
    pub damping: Damping,
}

impl LawConstants {
    /// Constants for these settings.
    pub fn new(settings: &Settings) -> LawConstants {
        LawConstants {
            h: settings.substep(),
            normal: settings.normal_law,
            rigid_correction: settings.rigid_correction,
            reach: settings.reach(),
            method: settings.method,
            rolling_arm: settings.rolling_arm.in_effective_radii(),
            damping: settings.damping,
        }
    }

    /// Distance between a patch and the centre of a sphere beyond which they have no contact \[m\]: the gap is then twice the gap at which
    /// the contact was listed.
    pub fn patch_reach(&self, sphere: &Sphere) -> f64 {
        sphere.radius + 4.0 * self.reach * sphere.contact_radius
    }
}
