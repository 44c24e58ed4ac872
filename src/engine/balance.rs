//! Energy balance: changes of the kinetic energy by cause.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use crate::model::World;

/// Energy balance since the start of the run \[E10\]: changes of the kinetic energy by cause, all in J. Work is counted as done on the
/// bodies, so dissipated energy is negative.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct EnergyBalance {
    /// Kinetic energy of the free bodies at the start, translation and rotation.
    pub initial_kinetic: f64,
    /// Kinetic energy of grains when they were added.
    pub emitted_energy: f64,
    /// Kinetic energy of grains when a sink took them.
    pub removed_energy: f64,
    /// Work of gravity, and of applied forces and torques.
    pub gravity_work: f64,
    /// Work of the boundaries that are not dynamic, of the joints with their drives, and of the supports that hold locked axes.
    pub boundary_work: f64,
    /// Work of normal impulses: elastically stored or dissipated energy.
    pub normal_work: f64,
    /// Work of friction impulses, those of the impact stage included.
    pub friction_work: f64,
    /// Work of rolling and twisting impulses, those of the impact stage included.
    pub rolling_work: f64,
    /// Work of bonds: what they store, what they damp, and what is lost when they break.
    pub bond_work: f64,
    /// Work of liquid bridges: of their capillary forces and of their drag.
    pub bridge_work: f64,
    /// Work of the normal impulses of the impact stage.
    pub impact_work: f64,
    /// Part of `friction_work` from the impact stage.
    pub impact_friction_work: f64,
    /// Part of `rolling_work` from the impact stage.
    pub impact_rolling_work: f64,
}

/// The entries of a balance, as numbers that can be summed.
pub type Entries = [f64; size_of::<EnergyBalance>() / size_of::<f64>()];

impl EnergyBalance {
    /// The empty balance of a run that starts from `world`.
    pub fn opened_at(world: &World) -> EnergyBalance {
        EnergyBalance { initial_kinetic: world.kinetic_energy(), ..EnergyBalance::default() }
    }

    /// Adds the kinetic energy that came with a change of the world, or went with it if it is negative \[J\].
    pub fn note_change(&mut self, gained: f64) {
        self.emitted_energy += gained.max(0.0);
        self.removed_energy += (-gained).max(0.0);
    }

    /// Closure error: the change of the kinetic energy, now `kinetic_energy` \[J\], less all works and energies of the balance \[J\]. It is
    /// rounding, unless an impulse was applied and not counted, or counted and not applied. A tumbling box adds the error of its rotation,
    /// of fourth order in the substep \[E1\].
    pub fn error(&self, kinetic_energy: f64) -> f64 {
        let booked = self.works().iter().sum::<f64>() + self.emitted_energy - self.removed_energy;
        kinetic_energy - self.initial_kinetic - booked
    }

    /// Energy that friction and rolling made out of nothing, impacts apart \[J\]: the sum of their works on the bodies, 0 where they took
    /// energy out. The sum counts, as a contact that sticks may spin a grain up by friction and stop it by rolling resistance.
    pub fn made(&self) -> f64 {
        let of_impacts = self.impact_friction_work + self.impact_rolling_work;
        (self.friction_work + self.rolling_work - of_impacts).max(0.0)
    }

    /// Energy that the closure error is measured against \[J\]: the initial kinetic energy, or the sum of the magnitudes of all works and
    /// of the energies of added and removed grains; the larger of the two.
    pub fn turnover(&self) -> f64 {
        let works = self.works().iter().map(|work| work.abs()).sum::<f64>();
        self.initial_kinetic.max(works + self.emitted_energy + self.removed_energy)
    }

    fn works(&self) -> [f64; 8] {
        [
            self.gravity_work,
            self.boundary_work,
            self.normal_work,
            self.friction_work,
            self.rolling_work,
            self.bond_work,
            self.bridge_work,
            self.impact_work,
        ]
    }
}

impl Add for EnergyBalance {
    type Output = EnergyBalance;

    fn add(self, other: EnergyBalance) -> EnergyBalance {
        let (entries, others): (Entries, Entries) = (bytemuck::cast(self), bytemuck::cast(other));
        bytemuck::cast::<Entries, _>(std::array::from_fn(|i| entries[i] + others[i]))
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
