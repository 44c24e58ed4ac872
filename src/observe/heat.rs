//! Temperatures of grains, and heat of boundaries \[E21\].

use super::{Base, grains};
use crate::engine::Snapshot;

/// Thermal energy Σ C T of the present grains, over 0 K \[J\].
pub fn thermal_energy(snapshot: &Snapshot) -> f64 {
    weighed(snapshot)[1]
}

/// Mean temperature of the present grains, weighted by their heat capacities \[K\]; not a number without grains.
pub fn mean_temperature(snapshot: &Snapshot) -> f64 {
    let [capacity, energy] = weighed(snapshot);
    energy / capacity
}

/// Sums of the heat capacities \[J/K\] and of the thermal energies of the present grains \[J\].
fn weighed(snapshot: &Snapshot) -> [f64; 2] {
    let world = &snapshot.world;
    let of = |grain: usize| {
        let capacity = world.grain_heat_capacity(grain);
        [capacity, capacity * world.grain_temperature(grain)]
    };
    let sums =
        snapshot.present_grains().map(of).fold([0.0; 2], |sums, of| [sums[0] + of[0], sums[1] + of[1]]);
    sums.map(|sum| snapshot.share.sum(sum))
}

/// Lowest and highest temperature of the present grains \[K\]; infinite without grains.
pub fn extremes(snapshot: &Snapshot) -> [f64; 2] {
    let temperatures = grains(snapshot).map(|grain| snapshot.world.bodies.heat[grain.body].temperature);
    let found = temperatures
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], of| [least.min(of), most.max(of)]);
    [-snapshot.share.largest(-found[0]), snapshot.share.largest(found[1])]
}

/// Heat that contacts brought to a boundary since the start \[J\].
pub fn received(snapshot: &Snapshot, boundary: usize) -> f64 {
    let heat = snapshot.world.heat.as_ref().and_then(|heat| heat.received.get(boundary));
    heat.map_or(f64::NAN, |heat| snapshot.share.sum(*heat))
}

/// Heat that contacts made of the energy of the motion since the start \[J\].
pub fn made(snapshot: &Snapshot) -> f64 {
    snapshot.world.heat.as_ref().map_or(f64::NAN, |heat| snapshot.share.sum(heat.made))
}

/// Heat per time that a boundary received since the base \[W\]; zero without one.
pub fn flow(snapshot: &Snapshot, boundary: usize, base: Option<&Base>) -> f64 {
    let before = base.and_then(|base| Some((base.time, *base.received.get(boundary)?)));
    let mean =
        |(time, before): (f64, f64)| (received(snapshot, boundary) - before) / (snapshot.report.time - time);
    before.map_or(0.0, mean)
}

/// Heat that every boundary received since the start \[J\].
pub fn all_received(snapshot: &Snapshot) -> Vec<f64> {
    let count = snapshot.world.heat.as_ref().map_or(0, |heat| heat.received.len());
    (0..count).map(|boundary| received(snapshot, boundary)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::test_worlds;
    use super::*;
    use crate::model::Heat;

    #[test]
    fn means_are_weighted_by_heat_capacity_and_flows_are_per_time() {
        let mut state = test_worlds::stack();
        state.world.materials.list.iter_mut().for_each(|material| material.heat_capacity = 500.0);
        let walls = vec![Default::default(); state.world.boundaries.len()];
        state.world.set_heat(Heat::new(300.0, walls));
        let first = state.world.grain_body(0);
        let world = &mut state.world;
        world.bodies.heat[first].temperature = 310.0;
        let capacities: Vec<f64> =
            (0..world.grain_count()).map(|grain| world.grain_heat_capacity(grain)).collect();
        let all: f64 = capacities.iter().sum();
        approx::assert_relative_eq!(
            mean_temperature(&state),
            300.0 + 10.0 * capacities[0] / all,
            max_relative = 1e-14
        );
        approx::assert_relative_eq!(
            thermal_energy(&state),
            300.0 * all + 10.0 * capacities[0],
            max_relative = 1e-14
        );
        assert_eq!(extremes(&state), [300.0, 310.0]);
        let base = Base { time: state.report.time, received: all_received(&state), ..Base::default() };
        state.report.time += 0.5;
        if let Some(heat) = &mut state.world.heat {
            (heat.received[0], heat.made) = (3.0, 2.0);
        }
        assert_eq!((flow(&state, 0, Some(&base)), flow(&state, 0, None)), (6.0, 0.0));
        assert_eq!((received(&state, 0), made(&state)), (3.0, 2.0));
    }
}
