//! Counts: grains that go through gates, and residence times of grains, in every substep.

use rayon::prelude::*;

use crate::contact::tasks::CHUNK;
use crate::contact::velocity::Velocity;
use crate::model::gate::{Gate, Way};
use crate::model::{MaterialId, World};

/// Grains that one task follows. Sums of tasks are added in their order, so their bits do not depend on the number of threads.
const AT_ONCE: usize = 4 * CHUNK;

/// A grain on its way in a substep.
struct Moved {
    way: Way,
    mass: f64,
    material: MaterialId,
}

impl Moved {
    /// Whether a gate or residence of this material counts the grain.
    fn is_of(&self, material: Option<MaterialId>) -> bool {
        material.is_none_or(|wanted| wanted == self.material)
    }
}

/// Counts the grains that go through the gates, and times those in the residences, in a substep that begins at a time and takes a time
/// \[s\], in which they move from their present positions at these velocities. Of the bodies those count that `counts` says.
pub fn add(
    world: &mut World,
    velocities: &[Velocity],
    time: [f64; 2],
    counts: impl Fn(usize) -> bool + Sync,
) {
    if !world.gates.is_empty() {
        add_passages(world, velocities, time, &counts);
    }
    if !world.residences.is_empty() {
        follow_stays(world, velocities, time, &counts);
    }
}

/// Way of a grain in a substep; `None` if it was removed, or another process counts it.
fn moved(
    world: &World,
    grain: usize,
    velocities: &[Velocity],
    [begins, takes]: [f64; 2],
    counts: &impl Fn(usize) -> bool,
) -> Option<Moved> {
    let body = world.grain_body(grain);
    let inverse_mass = world.bodies.inverse_mass[body];
    // A grain without an inverse mass was removed.
    (inverse_mass > 0.0 && counts(body)).then(|| Moved {
        way: Way { centre: world.bodies.position[body], way: takes * velocities[body].linear, begins, takes },
        mass: inverse_mass.recip(),
        material: world.grain_material(grain),
    })
}

fn add_passages(
    world: &mut World,
    velocities: &[Velocity],
    time: [f64; 2],
    counts: &(impl Fn(usize) -> bool + Sync),
) {
    let of_task = |task: usize| {
        let mut sums = vec![0.0; world.counted.len()];
        for grain in task * AT_ONCE..((task + 1) * AT_ONCE).min(world.grain_count()) {
            let Some(moved) = moved(world, grain, velocities, time, counts) else { continue };
            for (index, gate) in world.gates.iter().enumerate().filter(|(_, gate)| moved.is_of(gate.material))
            {
                if let Some(passage) = gate.passage(&world.periodic, &moved.way) {
                    Gate::add(passage, moved.mass, &mut sums[world.sums_of_gate(index)]);
                }
            }
        }
        sums
    };
    let tasks = world.grain_count().div_ceil(AT_ONCE);
    let parts = (0..tasks).into_par_iter().map(of_task).collect();
    add_parts(world, parts);
}

fn follow_stays(
    world: &mut World,
    velocities: &[Velocity],
    time: [f64; 2],
    counts: &(impl Fn(usize) -> bool + Sync),
) {
    let residences = world.residences.len();
    let mut arrivals = std::mem::take(&mut world.arrivals);
    let of_task = |(task, arrivals): (usize, &mut [f64])| {
        let mut sums = vec![0.0; world.counted.len()];
        for (grain, arrivals) in (task * AT_ONCE..).zip(arrivals.chunks_exact_mut(residences)) {
            let Some(moved) = moved(world, grain, velocities, time, counts) else { continue };
            for (index, came) in arrivals.iter_mut().enumerate() {
                let residence = &world.residences[index];
                if !moved.is_of(residence.material) {
                    continue;
                }
                let (now, stayed) = residence.follow(&world.periodic, &moved.way, *came);
                *came = now;
                if let Some(stayed) = stayed {
                    residence.add(stayed, moved.mass, &mut sums[world.sums_of_residence(index)]);
                }
            }
        }
        sums
    };
    let parts = arrivals.par_chunks_mut(AT_ONCE * residences).enumerate().map(of_task).collect();
    world.arrivals = arrivals;
    add_parts(world, parts);
}

/// Adds the sums of tasks to those of the world, in the order of the tasks.
fn add_parts(world: &mut World, parts: Vec<Vec<f64>>) {
    for part in parts {
        world.counted.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use crate::cpu::CpuEngine;
    use crate::engine::Engine;
    use crate::law::pair::Material;
    use crate::model::gate::{Gate, Left};
    use crate::model::{
        Form, Grain, Materials, Periodic, Random, Region, Residence, Sink, World, random::Stream,
    };
    use crate::settings::Settings;

    /// Grains in free flight, 1 mm large, at these places and with these velocities; no gravity.
    fn in_flight(grains: impl IntoIterator<Item = (DVec3, DVec3)>) -> World {
        let mut world = World::new(DVec3::ZERO, Materials::new(vec![Material::glass()]));
        world.add_grains(
            grains.into_iter().map(|(place, velocity)| Grain { velocity, ..Grain::at(place, 1e-3, 0) }),
        );
        world
    }

    fn gate(name: &str, height: f64, radius: Option<f64>) -> Gate {
        Gate { name: name.into(), point: height * DVec3::Z, normal: DVec3::Z, radius, material: None }
    }

    /// The space from the floor to a height of a metre.
    fn tube(bounds: &[f64]) -> Residence {
        let region = Region::Box { min: DVec3::new(-9.0, -9.0, 0.0), max: DVec3::new(9.0, 9.0, 1.0) };
        Residence { name: "tube".into(), region, material: None, bounds: bounds.to_vec() }
    }

    fn engine(world: World, time_step: f64) -> CpuEngine {
        CpuEngine::new(world, Settings { time_step, ..Settings::default() })
    }

    /// Grains with a common velocity never meet. Each passes a gate when its height is between 0 and as much as it moves, and a disc if it
    /// is then within the radius: counted one by one. A material that no grain has counts nothing.
    #[test]
    fn grains_that_go_through_planes_and_discs_count_in_their_direction_with_their_mass() {
        let mut random = Random::new(7, Stream::Grains(0));
        let starts: Vec<DVec3> = (0..3000).map(|_| random.in_cube(0.5)).collect();
        let path = DVec3::new(0.3, -0.2, 0.4);
        for sign in [1.0, -1.0] {
            let mut world = in_flight(starts.iter().map(|&place| (place, 4.0 * sign * path)));
            let other = Gate { material: Some(1), ..gate("other", 0.0, None) };
            world.gates = vec![gate("plane", 0.0, None), gate("disc", 0.1, Some(0.25)), other];
            let mass = world.grain_mass(0);
            let meets = |start: &&DVec3, height: f64| {
                let share = (height - start.z) / (sign * path.z);
                (0.0..=1.0).contains(&share).then(|| (**start + share * sign * path).truncate().length())
            };
            let through_plane = starts.iter().filter(|start| meets(start, 0.0).is_some()).count() as f64;
            let within = |start: &&DVec3| meets(start, 0.1).is_some_and(|from_axis| from_axis <= 0.25);
            let through_disc = starts.iter().filter(within).count() as f64;
            assert!(through_plane > 1000.0 && through_disc > 100.0, "{through_plane} {through_disc}");
            // 25 steps of 10 ms: the way of each is divided, and nothing counts twice.
            let mut engine = engine(world, 0.01);
            engine.advance(25).expect("steps");
            let world = engine.snapshot().expect("a state").world;
            let (way, back) = if sign > 0.0 { (0, 1) } else { (1, 0) };
            for (index, expected) in [(0, through_plane), (1, through_disc), (2, 0.0)] {
                let passed = world.passed(index);
                assert_eq!((passed.grains[way], passed.grains[back]), (expected, 0.0), "gate {index}");
                assert!((passed.mass[way] - expected * mass).abs() <= 1e-12 * expected * mass);
            }
        }
    }

    /// Grains that bounce between walls: forwards less backwards is what the space in front has gained, at every time.
    #[test]
    fn the_difference_of_both_ways_is_what_is_in_front_now_less_what_was_there() {
        let mut random = Random::new(3, Stream::Grains(0));
        let mut world = in_flight((0..200).map(|_| (random.in_cube(0.5), 3.0 * random.in_cube(1.0))));
        world.periodic = Periodic {
            min: DVec3::new(-0.5, -0.5, 0.0),
            length: DVec3::new(1.0, 1.0, 0.0),
            ..Periodic::NONE
        };
        world.gates = vec![gate("plane", 0.05, None)];
        let in_front =
            |world: &World| world.bodies.position.iter().filter(|place| place.z >= 0.05).count() as f64;
        let before = in_front(&world);
        let mut engine = engine(world, 0.004);
        let mut all = 0.0;
        for _ in 0..20 {
            engine.advance(5).expect("steps");
            let world = engine.snapshot().expect("a state").world;
            let [forwards, backwards] = world.passed(0).grains;
            assert_eq!(in_front(&world) - before, forwards - backwards);
            all = forwards + backwards;
        }
        assert!(all > 50.0, "few went through: {all}");
    }

    fn left(engine: &mut CpuEngine) -> (f64, f64, f64, Vec<f64>) {
        let world = engine.snapshot().expect("a state").world;
        let Left { grains, time, time_squared, classes, .. } = world.left(0);
        (grains, time / grains, time_squared / grains, classes.to_vec())
    }

    /// Grains at 2 and 5 m/s cross a metre in 0.5 s and 0.2 s, whatever the step is: 30 ms divides neither. A fast one is through within a
    /// step of 0.3 s.
    #[test]
    fn grains_of_constant_velocity_stay_for_the_length_over_the_speed() {
        for time_step in [0.03, 0.3] {
            let start = |i: usize| DVec3::new(0.01 * i as f64, 0.0, -0.1 - 0.013 * i as f64);
            let speed = |i: usize| if i.is_multiple_of(4) { 2.0 } else { 5.0 };
            let mut world = in_flight((0..40).map(|i| (start(i), speed(i) * DVec3::Z)));
            world.residences = vec![tube(&[0.3, 0.5 - 1e-9])];
            let mut engine = engine(world, time_step);
            engine.advance((1.5 / time_step) as u64).expect("steps");
            let (grains, mean, square, classes) = left(&mut engine);
            assert_eq!((grains, classes), (40.0, vec![30.0, 0.0, 10.0]), "steps of {time_step} s");
            assert!((mean - (10.0 * 0.5 + 30.0 * 0.2) / 40.0).abs() < 1e-12, "{mean}");
            assert!((square - (10.0 * 0.25 + 30.0 * 0.04) / 40.0).abs() < 1e-12, "{square}");
        }
    }

    /// One grain starts inside, 0.4 m from the end; one is taken by a sink in the middle after 0.25 s, at the end of a step of 10 ms; and
    /// one is still inside.
    #[test]
    fn a_stay_begins_where_a_grain_is_placed_and_ends_in_a_sink() {
        let at = |x: f64, z: f64, speed: f64| (DVec3::new(x, 0.0, z), speed * DVec3::Z);
        let mut world = in_flight([at(0.0, 0.6, 2.0), at(0.5, -0.1, 2.0), at(-0.5, 0.1, 0.1)]);
        world.residences = vec![tube(&[])];
        world.sinks = vec![Sink {
            name: "outlet".into(),
            form: Form::Box { half: DVec3::splat(0.1) },
            position: DVec3::new(0.5, 0.0, 0.6),
            orientation: glam::DQuat::IDENTITY,
            bins: Vec::new(),
        }];
        let mut engine = engine(world, 0.01);
        engine.advance(25).expect("steps");
        let (grains, mean, ..) = left(&mut engine);
        assert!(grains == 1.0 && (mean - 0.2).abs() < 1e-12, "{grains} after {mean} s");
        engine.advance(25).expect("steps");
        let (grains, mean, ..) = left(&mut engine);
        assert_eq!(grains, 2.0, "one is still inside");
        let drained = 2.0 * mean - 0.2;
        assert!((0.25 - 1e-12..0.26 + 1e-12).contains(&drained), "{drained} s");
    }

    /// A grain goes round a period of 1 m at 2 m/s, and passes a gate at the face and a zone of 0.3 m each time. A saved state goes on.
    #[cfg(feature = "scenario")]
    #[test]
    fn rounds_of_a_periodic_cell_count_each_and_a_saved_state_goes_on() {
        let mut world = World::new(DVec3::ZERO, Materials::new(vec![Material::glass()]));
        world.periodic = Periodic { min: DVec3::ZERO, length: DVec3::new(0.0, 0.0, 1.0), ..Periodic::NONE };
        let velocity = 2.0 * DVec3::Z;
        world.add_grains([Grain { velocity, ..Grain::at(DVec3::new(0.0, 0.0, 0.25), 0.05, 0) }]);
        world.gates = vec![gate("face", 0.0, None), gate("middle", 0.5, Some(0.1))];
        let region = Region::Box { min: DVec3::new(-1.0, -1.0, 0.85), max: DVec3::new(1.0, 1.0, 1.15) };
        world.residences = vec![Residence { region, ..tube(&[]) }];
        let mut alone = engine(world.clone(), 0.05);
        alone.advance(35).expect("steps");
        let mut saved = Vec::new();
        alone.save(&mut saved).expect("saved");
        let mut resumed = engine(world, 0.05);
        resumed.restore(&saved).expect("restored");
        for engine in [&mut alone, &mut resumed] {
            engine.advance(40).expect("steps");
            // 7.5 m: through the face at 0.75 m, 1.75 m and so on, through the middle at 0.25 m.
            let world = engine.snapshot().expect("a state").world;
            assert_eq!((world.passed(0).grains, world.passed(1).grains), ([7.0, 0.0], [8.0, 0.0]));
            let (grains, mean, ..) = left(engine);
            assert!(grains == 7.0 && (mean - 0.15).abs() < 1e-12, "{grains} after {mean} s");
        }
    }
}
