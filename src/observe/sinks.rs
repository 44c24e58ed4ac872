//! What sinks have removed.

use crate::engine::Snapshot;

/// What a sink has removed since the start.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Taken {
    /// Number of grains.
    pub grains: u64,
    /// Their mass \[kg\].
    pub mass: f64,
}

/// What every sink has removed, in the order of the sinks.
pub fn taken(snapshot: &Snapshot) -> Vec<Taken> {
    let world = &snapshot.world;
    let mut taken = vec![Taken::default(); world.sinks.len()];
    for (grain, sink) in world.removed.iter().enumerate() {
        // The number after the last sink is that of grains that left the domain.
        if let Some(taken) = sink.and_then(|sink| taken.get_mut(sink as usize)) {
            taken.grains += 1;
            taken.mass += world.grain_mass(grain);
        }
    }
    for (taken, gone) in taken.iter_mut().zip(&world.replaced) {
        taken.grains += gone.grains;
        taken.mass += gone.mass;
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::super::test_worlds::drained_stack;
    use super::*;

    #[test]
    fn each_sink_counts_its_own_grains_and_their_mass() {
        let taken = taken(&drained_stack());
        assert_eq!(taken[0], Taken::default());
        assert_eq!(taken[1].grains, 1);
        approx::assert_relative_eq!(taken[1].mass, 16.0, max_relative = 1e-12);
    }
}
