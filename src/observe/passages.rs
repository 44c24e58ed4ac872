//! Grains that went through gates, and residence times of grains that left regions, since the start.

use super::Base;
use crate::engine::Snapshot;
use crate::model::Residence;

/// Flow through a gate: forwards less backwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetFlow {
    /// Grains per time \[1/s\].
    pub grains: f64,
    /// Mass per time \[kg/s\].
    pub mass: f64,
}

/// Flow through a gate, as a mean over the time since the base; zero without one.
pub fn net_flow(snapshot: &Snapshot, gate: usize, base: Option<&Base>) -> NetFlow {
    let world = &snapshot.world;
    let sums = world.sums_of_gate(gate);
    let Some((now, before)) =
        base.and_then(|base| Some((world.counted.get(sums.clone())?, (base.time, base.counted.get(sums)?))))
    else {
        return NetFlow { grains: 0.0, mass: 0.0 };
    };
    let (since, before) = before;
    let per_time = (snapshot.report.time - since).recip();
    let net =
        |number: usize| ((now[number] - before[number]) - (now[number + 2] - before[number + 2])) * per_time;
    NetFlow { grains: net(0), mass: net(1) }
}

/// Mean residence time of the grains that left a region \[s\]; not a number where none has left.
pub fn mean_time(snapshot: &Snapshot, residence: usize) -> f64 {
    let left = snapshot.world.left(residence);
    left.time / left.grains
}

/// Standard deviation of their residence times \[s\], over all that left; not a number where none has.
pub fn deviation(snapshot: &Snapshot, residence: usize) -> f64 {
    let (left, mean) = (snapshot.world.left(residence), mean_time(snapshot, residence));
    // Of equal times the difference may be negative, by rounding.
    let variance = left.time_squared / left.grains - mean * mean;
    if variance < 0.0 { 0.0 } else { variance.sqrt() }
}

/// Names of the residences.
pub fn residence_names(residences: &[Residence]) -> Vec<String> {
    residences.iter().map(|residence| residence.name.clone()).collect()
}

/// Names of the classes of residence times of all residences: `mixer:0` and so on.
pub fn stay_classes(residences: &[Residence]) -> Vec<String> {
    let of = |residence: &Residence| {
        let name = |class: usize| format!("{}:{class}", residence.name);
        (0..residence.classes()).map(name).collect::<Vec<_>>()
    };
    residences.iter().flat_map(of).collect()
}

/// Grains that left after a residence time in a class, of all classes of all residences.
pub fn in_class(snapshot: &Snapshot, class: usize) -> f64 {
    let world = &snapshot.world;
    let counts = (0..world.residences.len()).flat_map(|residence| world.left(residence).classes);
    counts.copied().nth(class).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::super::test_worlds::stack;
    use super::*;
    use crate::model::Region;
    use crate::model::gate::{Gate, Passage};

    /// The stack with a gate and two residences that have counted nothing yet.
    fn counting() -> Snapshot {
        let mut state = stack();
        let world = &mut state.world;
        world.gates = vec![Gate {
            name: "g".into(),
            point: DVec3::ZERO,
            normal: DVec3::Z,
            radius: None,
            material: None,
        }];
        let region = Region::Sphere { centre: DVec3::ZERO, radius: 1.0 };
        let residence = |name: &str, bounds: &[f64]| Residence {
            name: name.into(),
            region: region.clone(),
            material: None,
            bounds: bounds.to_vec(),
        };
        world.residences = vec![residence("a", &[1.0]), residence("b", &[0.5, 3.0])];
        world.prepare_counts();
        state
    }

    #[test]
    fn the_flow_is_the_difference_of_both_ways_since_the_base_per_time() {
        let mut state = counting();
        let mut pass = |passage, mass| Gate::add(passage, mass, &mut state.world.counted[..4]);
        pass(Passage::Forwards, 2.0);
        pass(Passage::Backwards, 7.0);
        // One forwards with 2 kg and one backwards with 7 kg by the base, three and one more since, in 0.05 s.
        let base = Base { time: 0.2, counted: state.world.counted.clone(), ..Base::default() };
        let mut pass = |passage, mass| Gate::add(passage, mass, &mut state.world.counted[..4]);
        [1.0, 2.0, 3.0].into_iter().for_each(|mass| pass(Passage::Forwards, mass));
        pass(Passage::Backwards, 0.5);
        let flow = net_flow(&state, 0, Some(&base));
        approx::assert_relative_eq!(flow.grains, 40.0, max_relative = 1e-12);
        approx::assert_relative_eq!(flow.mass, 110.0, max_relative = 1e-12);
        assert_eq!(net_flow(&state, 0, None), NetFlow { grains: 0.0, mass: 0.0 });
    }

    #[test]
    fn mean_deviation_and_classes_are_those_of_the_times_that_were_added() {
        let mut state = counting();
        assert!(mean_time(&state, 1).is_nan() && deviation(&state, 1).is_nan());
        let sums = state.world.sums_of_residence(1);
        let residence = state.world.residences[1].clone();
        [1.0, 3.0, 5.0]
            .into_iter()
            .for_each(|time| residence.add(time, 1.0, &mut state.world.counted[sums.clone()]));
        approx::assert_relative_eq!(mean_time(&state, 1), 3.0, max_relative = 1e-12);
        approx::assert_relative_eq!(deviation(&state, 1), (8.0f64 / 3.0).sqrt(), max_relative = 1e-12);
        assert_eq!(stay_classes(&state.world.residences), ["a:0", "a:1", "b:0", "b:1", "b:2"]);
        assert_eq!([0, 1, 2, 3, 4].map(|class| in_class(&state, class)), [0.0, 0.0, 0.0, 1.0, 2.0]);
    }
}
