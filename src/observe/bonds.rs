//! Bonds \[E20\]: their number, and their energies \[J\].

use crate::engine::Snapshot;
use crate::law::bond::BondFate;

/// Number of bonds that hold.
pub fn intact(snapshot: &Snapshot) -> f64 {
    count(snapshot, BondFate::Intact)
}

/// Number of bonds that broke in tension.
pub fn broken_in_tension(snapshot: &Snapshot) -> f64 {
    count(snapshot, BondFate::Tension)
}

/// Number of bonds that broke in shear.
pub fn broken_in_shear(snapshot: &Snapshot) -> f64 {
    count(snapshot, BondFate::Shear)
}

/// Number of bonds that broke.
pub fn broken(snapshot: &Snapshot) -> f64 {
    broken_in_tension(snapshot) + broken_in_shear(snapshot)
}

fn count(snapshot: &Snapshot, fate: BondFate) -> f64 {
    snapshot.world.bonds.count(fate) as f64
}

/// Elastic energy of the bonds that hold \[J\].
pub fn elastic(snapshot: &Snapshot) -> f64 {
    let world = &snapshot.world;
    world.bonds.intact().map(|bond| world.bond_energy(bond)).sum()
}
