//! Liquid bridges \[E22\]: their number, forces, volume and energies.

use crate::engine::Snapshot;
use crate::model::Liquid;

fn of_liquid(snapshot: &Snapshot, of: impl Fn(&Liquid) -> f64) -> f64 {
    snapshot.world.liquid.as_ref().map_or(0.0, of)
}

/// Number of bridges.
pub fn count(snapshot: &Snapshot) -> f64 {
    of_liquid(snapshot, |liquid| liquid.bridges.len() as f64)
}

/// Number of bridges that formed since the start.
pub fn formed(snapshot: &Snapshot) -> f64 {
    of_liquid(snapshot, |liquid| liquid.formed as f64)
}

/// Number of bridges that broke since the start.
pub fn broken(snapshot: &Snapshot) -> f64 {
    of_liquid(snapshot, |liquid| liquid.broken as f64)
}

/// Mean capillary force of the bridges at their present gaps \[N\]; not a number without bridges.
pub fn mean_force(snapshot: &Snapshot) -> f64 {
    let forces = snapshot.world.menisci().map(|(_, bridge, gap)| bridge.force(gap));
    forces.sum::<f64>() / count(snapshot)
}

/// Volume of the liquid in the bridges \[m³\].
pub fn volume(snapshot: &Snapshot) -> f64 {
    snapshot.world.menisci().map(|(_, bridge, _)| bridge.volume()).sum()
}

/// Energy of the bridges, over that of broken ones \[J\]; not positive.
pub fn energy(snapshot: &Snapshot) -> f64 {
    snapshot.world.menisci().map(|(_, bridge, gap)| bridge.energy(gap)).sum()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::super::test_worlds::{stack, water};
    use super::super::{energy, quantity};
    use super::*;
    use crate::engine::EnergyBalance;

    /// The first grain of 0.5 m overlaps the floor and the second one of 1 m by 0.05 m: R* is 1/2 and 1/3 m.
    #[test]
    fn numbers_forces_and_energies_are_those_of_the_bridges_of_the_liquid() {
        let mut state = stack();
        state.world.liquid = Some(water(&state.world));
        assert_eq!((count(&state), formed(&state), broken(&state), volume(&state)), (2.0, 5.0, 3.0, 0.02));
        // 4 π γ R* at contact, and so under an overlap.
        let forces = [0.5, 1.0 / 3.0].map(|radius: f64| 4.0 * PI * radius);
        approx::assert_relative_eq!(mean_force(&state), 0.5 * (forces[0] + forces[1]), max_relative = 1e-12);
        let apart = {
            let mut state = state.clone();
            for (body, height) in [(1, 0.5), (2, 2.0)] {
                state.world.bodies.position[body].z = height;
            }
            energy(&state)
        };
        let overlaps = 0.05 * (forces[0] + forces[1]);
        approx::assert_relative_eq!(energy(&state), apart - overlaps, max_relative = 1e-9);
        state.balance = Some(EnergyBalance { bridge_work: -7.0, ..EnergyBalance::default() });
        let dissipated = energy::dissipated_by_bridges(&state);
        approx::assert_relative_eq!(dissipated, 7.0 - energy(&state) + 0.25, max_relative = 1e-12);
        assert!(quantity::find("bridges").is_some() && mean_force(&stack()).is_nan());
    }
}
