//! Where kinetic energy goes.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use crate::model::World;

/// Where the kinetic energy went since the start of the run \[E10\], all in J. Work is counted as done on the
/// bodies, so what dissipates is negative.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct EnergyBalance {
    /// Kinetic energy of the free bodies at the start, translation and rotation.
    pub initial_kinetic: f64,
    /// Kinetic energy that added grains came with.
    pub emitted_energy: f64,
    /// Kinetic energy that grains had when a sink took them.
    pub removed_energy: f64,
    /// Work of gravity, and of applied forces and torques.
    pub gravity_work: f64,
    /// Work of the boundaries that are not dynamic, of the joints with their drives, and of whatever holds a locked axis.
    pub boundary_work: f64,
    /// Work of normal impulses: what they store elastically or dissipate.
    pub normal_work: f64,
    /// Work of friction impulses, those of the impact stage included.
    pub friction_work: f64,
    /// Work of rolling and twisting impulses, those of the impact stage included.
    pub rolling_work: f64,
    /// Work of the normal impulses of the impact stage.
    pub impact_work: f64,
    /// What the impact stage has in `friction_work`.
    pub impact_friction_work: f64,
    /// What the impact stage has in `rolling_work`.
    pub impact_rolling_work: f64,
}

impl EnergyBalance {
    /// The empty balance of a run that starts from `world`.
    pub fn opened_at(world: &World) -> EnergyBalance {
        EnergyBalance { initial_kinetic: world.kinetic_energy(), ..EnergyBalance::default() }
    }

    /// Books kinetic energy that came with a change of the world, or went with it if it is negative \[J\].
    pub fn note_change(&mut self, gained: f64) {
        self.emitted_energy += gained.max(0.0);
        self.removed_energy += (-gained).max(0.0);
    }

    /// Closure error: the change of the kinetic energy, now `kinetic_energy` \[J\], less all that is booked
    /// \[J\]. It is rounding, unless an impulse was applied and not booked, or booked and not applied.
    /// A box that tumbles adds the error of its rotation, of fourth order in the substep \[E1\].
    pub fn error(&self, kinetic_energy: f64) -> f64 {
        let booked = self.works().iter().sum::<f64>() + self.emitted_energy - self.removed_energy;
        kinetic_energy - self.initial_kinetic - booked
    }

    /// What friction and rolling made out of nothing, impacts apart \[J\]: their works on the bodies in sum, 0 where they took
    /// energy out. In sum, as a contact that sticks may spin a grain up by friction and stop it by rolling resistance.
    pub fn made(&self) -> f64 {
        let of_impacts = self.impact_friction_work + self.impact_rolling_work;
        (self.friction_work + self.rolling_work - of_impacts).max(0.0)
    }

    /// What the closure error is to be measured against \[J\]: the initial kinetic energy or the sum of all
    /// that was booked, whatever its sign; the larger of the two.
    pub fn turnover(&self) -> f64 {
        let works = self.works().iter().map(|work| work.abs()).sum::<f64>();
        self.initial_kinetic.max(works + self.emitted_energy + self.removed_energy)
    }

    fn works(&self) -> [f64; 6] {
        [
            self.gravity_work,
            self.boundary_work,
            self.normal_work,
            self.friction_work,
            self.rolling_work,
            self.impact_work,
        ]
    }
}

impl Add for EnergyBalance {
    type Output = EnergyBalance;

    fn add(self, other: EnergyBalance) -> EnergyBalance {
        EnergyBalance {
            initial_kinetic: self.initial_kinetic + other.initial_kinetic,
            emitted_energy: self.emitted_energy + other.emitted_energy,
            removed_energy: self.removed_energy + other.removed_energy,
            gravity_work: self.gravity_work + other.gravity_work,
            boundary_work: self.boundary_work + other.boundary_work,
            normal_work: self.normal_work + other.normal_work,
            friction_work: self.friction_work + other.friction_work,
            rolling_work: self.rolling_work + other.rolling_work,
            impact_work: self.impact_work + other.impact_work,
            impact_friction_work: self.impact_friction_work + other.impact_friction_work,
            impact_rolling_work: self.impact_rolling_work + other.impact_rolling_work,
        }
    }
}

impl AddAssign for EnergyBalance {
    fn add_assign(&mut self, other: EnergyBalance) {
        *self = *self + other;
    }
}

impl Sum for EnergyBalance {
    fn sum<I: Iterator<Item = EnergyBalance>>(entries: I) -> EnergyBalance {
        entries.fold(EnergyBalance::default(), Add::add)
    }
}
