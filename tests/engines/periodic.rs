//! Periodic boundaries: a face has no effect on what happens near it, on either engine.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::contact::Key;
use esker::cpu::broadphase;
use esker::engine::{Engine, Snapshot};
use esker::error::Error;
use esker::gpu::GpuEngine;
use esker::law::pair::Material;
use esker::model::{Axes, Boundary, Form, Grain, Materials, Motion, Periodic, Surface, World};
use esker::oracle;
use esker::output::frames;
use esker::scenario::Scenario;
use esker::settings::Settings;
use glam::{DQuat, DVec3};
use proptest::prelude::*;

/// Radius of the grains \[m\], and period: four cells of the contact search, each 1/64 m wide.
const R: f64 = D / 2.0;
const PERIOD: f64 = 0.0625;

fn pellet() -> Material {
    Material {
        name: "pellet".into(),
        density: 3700.0,
        youngs_modulus: 6e6,
        poisson_ratio: 0.25,
        restitution: 0.5,
        friction: 0.5,
        rolling_resistance: 0.1,
        damping: 0.0,
        pull_off_force: 0.0,
        work_of_adhesion: 0.0,
        conductivity: 0.0,
        heat_capacity: 0.0,
    }
}

/// Periodic cell of length [`PERIOD`] along the chosen axes.
fn cell(is_periodic: [bool; 3]) -> Periodic {
    let length = DVec3::from(is_periodic.map(|on| if on { PERIOD } else { 0.0 }));
    Periodic { min: DVec3::ZERO, length, ..Periodic::NONE }
}

fn world(gravity: DVec3, periodic: Periodic, grains: impl IntoIterator<Item = Grain>) -> World {
    let mut world = World { periodic, ..World::new(gravity, Materials::new(vec![pellet()])) };
    world.add_grains(grains);
    world
}

fn run(engine: &mut dyn Engine, steps: u64) -> Snapshot {
    engine.advance(steps).unwrap();
    engine.snapshot().unwrap()
}

fn bits(state: &Snapshot) -> Vec<[u64; 3]> {
    let bodies = &state.world.bodies;
    let impulses = state.contacts.iter().map(|contact| contact.impulse.linear(contact.normal));
    let all = bodies.position.iter().chain(&bodies.velocity).chain(&bodies.angular_velocity).copied();
    all.chain(impulses).map(|v| v.to_array().map(f64::to_bits)).collect()
}

/// Reference list of pairs: the first grain with all 27 images of the second, each image by itself.
fn pairs_by_images(world: &World, margin: f64) -> Vec<Key> {
    let images: Vec<DVec3> = (0..27)
        .map(|i| DVec3::new(f64::from(i % 3 - 1), f64::from(i / 3 % 3 - 1), f64::from(i / 9 - 1)))
        .collect();
    let mut keys = Vec::new();
    for (a, first) in world.bodies.position.iter().enumerate() {
        for (b, second) in world.bodies.position.iter().enumerate().skip(a + 1) {
            let reach = (world.spheres[a].radius + world.spheres[b].radius) * (1.0 + margin);
            let near = |image: &&DVec3| (*second + **image * world.periodic.length - *first).length() < reach;
            let mut met: Vec<DVec3> = images.iter().filter(near).copied().collect();
            // Without a period along an axis all its images are the same.
            met.iter_mut().for_each(|image| *image *= world.periodic.length);
            met.dedup_by_key(|image| image.to_array().map(f64::to_bits));
            met.sort_by(|x, y| x.to_array().partial_cmp(&y.to_array()).unwrap());
            met.dedup();
            let (a, b) = if world.comes_first(a, b) { (a as u32, b as u32) } else { (b as u32, a as u32) };
            keys.extend(met.iter().map(|_| Key { a, b }));
        }
    }
    keys.sort_unstable();
    keys
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_pair_has_one_image_and_is_found_once(
        places in prop::collection::vec(([-1.0..2.0f64, -1.0..2.0, -1.0..2.0], 0.3..1.0f64), 2..120),
        is_periodic in any::<[bool; 3]>(),
        cells in 3.0..5.0f64,
        margin in 0.0..0.3f64,
    ) {
        let length = cells * D * (1.0 + margin);
        let periodic = Periodic { min: DVec3::new(-0.01, 0.02, 1.0), length: cell(is_periodic).length / PERIOD * length, ..Periodic::NONE };
        let grain = |(place, size): &([f64; 3], f64)| Grain::at(DVec3::from(*place) * length, size * R, 0);
        let world = world(DVec3::ZERO, periodic, places.iter().map(grain));
        let expected = pairs_by_images(&world, margin);
        prop_assert_eq!(&broadphase::find_pairs(&world, margin), &expected);
        prop_assert_eq!(&oracle::all_pairs(&world, margin), &expected);
    }
}

/// Grains in the eight corners of the cell, 0.4 radii from each face: all touch across faces, edges and
/// corners where all axes are periodic.
fn corners(is_periodic: [bool; 3]) -> World {
    let place = |i: u32, bit: u32| if i >> bit & 1 == 0 { 0.4 * R } else { PERIOD - 0.4 * R };
    let corner = |i| Grain::at(DVec3::new(place(i, 0), place(i, 1), place(i, 2)), R, 0);
    world(DVec3::ZERO, cell(is_periodic), (0..8).map(corner))
}

#[test]
fn pairs_across_faces_edges_and_corners_are_found_once_by_both_engines_and_the_judge() {
    for (is_periodic, pairs) in [
        ([true; 3], 28),
        ([true, true, false], 12),
        ([true, false, false], 4),
        ([false, true, false], 4),
        ([false; 3], 0),
    ] {
        let world = corners(is_periodic);
        let settings = Settings::default();
        let expected = oracle::all_pairs(&world, settings.reach());
        assert_eq!(expected.len(), pairs, "{is_periodic:?}");
        assert_eq!(broadphase::find_pairs(&world, settings.reach()), expected, "{is_periodic:?}");
        let mut gpu = gpu(&world, &settings);
        gpu.fill_words("contacts", 0xdead_beef);
        ["search", "broadphase"].into_iter().for_each(|stage| gpu.run_stage(stage).unwrap());
        assert_eq!(gpu.keys().unwrap(), expected, "{is_periodic:?}");
    }
}

#[test]
fn a_grain_that_crosses_a_face_keeps_its_velocity_and_comes_in_on_the_other_side() {
    let velocity = DVec3::new(1.3, -2.1, 0.7);
    let start = DVec3::new(PERIOD - 0.001, 0.002, PERIOD / 2.0);
    let grain = Grain { velocity, angular_velocity: DVec3::Y, ..Grain::at(start, R, 0) };
    let world = world(DVec3::ZERO, cell([true, true, false]), [grain]);
    for engine in &mut both(&world, &Settings::default()) {
        let before = run(engine.as_mut(), 0).world.bodies.velocity[0];
        for step in 1..=40 {
            let state = run(engine.as_mut(), 1);
            let (bodies, moved) = (&state.world.bodies, f64::from(step) * 5e-3 * velocity);
            assert_eq!(bodies.velocity[0], before);
            let place = bodies.position[0];
            let expected = start + moved;
            // On the GPU each step rounds the offset of the grain in its cell once.
            let off = world.separation(place, expected).length();
            assert!(off < 40.0 * f64::from(f32::EPSILON) * 0.01, "{off} m away at step {step}");
            assert!(place.x >= 0.0 && place.x < PERIOD && place.y >= 0.0 && place.y < PERIOD, "{place}");
            assert!((place.z - expected.z).abs() < 1e-6, "z is not periodic: {place}");
        }
        assert!((start + 0.2 * velocity).z > PERIOD, "also z has left the cell");
    }
}

/// A stack of two grains on a ball, along x: gravity has only an x component. `shift` moves all of it.
fn stack(shift: f64) -> World {
    let mut world = World {
        periodic: cell([true, true, false]),
        ..World::new(DVec3::new(-9.81, 0.0, 0.0), Materials::new(vec![pellet()]))
    };
    // Multiples of 2^-20 m: moving them by half a period is exact.
    let exact = |x: f64| (x * (1 << 20) as f64).round() / (1 << 20) as f64;
    let at = |x: f64| DVec3::new(exact(x) + shift, 0.125 * PERIOD, 0.0);
    let ball = Boundary {
        name: "ball".into(),
        position: at(0.0),
        orientation: DQuat::IDENTITY,
        motion: Motion::Fixed,
    };
    world.add_boundary(ball, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Sphere { radius: 0.003 }, 0)]);
    let locked = Axes::TRANSLATION[1].and(Axes::TRANSLATION[2]);
    let grain = |x: f64| Grain { locked, ..Grain::at(at(x), R, 0) };
    world.add_grains([grain(0.003 + R + 0.0003), grain(0.003 + 3.0 * R + 0.0009)]);
    world
}

#[test]
fn a_stack_across_a_face_carries_its_load_as_one_in_the_middle() {
    // In the second stack the face lies between the two grains.
    let (here, there) = (stack(0.0), stack(PERIOD - 0.015625));
    let settings = Settings::default();
    let apart = |state: &Snapshot| (state.world.bodies.position[1] - state.world.bodies.position[2]).length();
    for (engine, (mut a, mut b)) in
        both(&here, &settings).into_iter().zip(both(&there, &settings)).enumerate()
    {
        let (mut middle, mut across) = (run(a.as_mut(), 0), run(b.as_mut(), 0));
        for _ in 0..15 {
            (middle, across) = (run(a.as_mut(), 10), run(b.as_mut(), 10));
            let pairs = middle.world.bodies.velocity.iter().zip(&across.world.bodies.velocity);
            let off = pairs.map(|(x, y)| x.distance(*y)).fold(0.0, f64::max);
            assert!(off < if engine == 0 { 1e-9 } else { f64::MIN_POSITIVE }, "{off} m/s");
        }
        assert!(apart(&middle) < 1.1 * D && apart(&across) > 2.0 * D, "only one stack is across the face");
        let load = |state: &Snapshot| {
            let upper = state.contacts.iter().find(|contact| contact.key == Key { a: 1, b: 2 });
            upper.unwrap().impulse.normal / state.substep
        };
        let weight = 9.81 * here.grain_mass(1);
        assert!((load(&across) / weight - 1.0).abs() < 1e-3, "{} N of {weight} N", load(&across));
        let off = (load(&across) / load(&middle) - 1.0).abs();
        assert!(off < if engine == 0 { 1e-9 } else { f64::MIN_POSITIVE }, "loads differ by {off}");
    }
}

/// Three grains that collide off-centre, spinning, moved by `shift`.
fn collision(shift: DVec3) -> World {
    let grain = |x: f64, y: f64, z: f64, v: f64, spin: f64| Grain {
        velocity: DVec3::new(v, 0.125 * v, 0.0),
        angular_velocity: DVec3::new(0.0, spin, 2.0 * spin),
        ..Grain::at(DVec3::new(x, y, z) / 1024.0 + shift, R, 0)
    };
    let grains = [
        grain(14.0, 30.0, 20.0, 0.5, 8.0),
        grain(30.0, 32.0, 22.0, -0.5, 0.0),
        grain(44.0, 40.0, 24.0, -0.75, -4.0),
    ];
    world(DVec3::ZERO, cell([true; 3]), grains)
}

#[test]
fn a_collision_across_faces_is_that_in_the_middle() {
    let half = DVec3::splat(0.5 * PERIOD);
    let settings = Settings { time_step: 1e-3, ..Settings::default() };
    let [mut a, mut b] = both(&collision(DVec3::ZERO), &settings);
    let (on_cpu, on_gpu) = (run(a.as_mut(), 100), run(b.as_mut(), 100));
    let [mut a, mut b] = both(&collision(half), &settings);
    let (cpu_across, gpu_across) = (run(a.as_mut(), 100), run(b.as_mut(), 100));

    let start = collision(DVec3::ZERO);
    for grain in 0..3 {
        let turned = (on_cpu.world.bodies.velocity[grain] - start.bodies.velocity[grain]).length();
        assert!(turned > 0.1, "grain {grain} has met another: {turned} m/s");
        // The grains are at most one period apart, and a collision enlarges a few roundings by a factor of a few tens.
        let (one, other) = (on_cpu.world.bodies.velocity[grain], cpu_across.world.bodies.velocity[grain]);
        assert!(one.distance(other) < 1e-9 * one.length(), "{one} and {other}");
        let place = start
            .separation(cpu_across.world.bodies.position[grain], on_cpu.world.bodies.position[grain] + half);
        assert!(place.length() < 1e-9 * PERIOD, "{place}");
    }
    // Half a period is two whole cells: on the GPU the offsets in the cells, and so all results, have the same bits.
    assert_eq!(on_gpu.world.bodies.velocity, gpu_across.world.bodies.velocity);
    assert_eq!(on_gpu.world.bodies.angular_velocity, gpu_across.world.bodies.angular_velocity);
    let third = run(&mut gpu(&collision(DVec3::splat(PERIOD / 3.0)), &settings), 100);
    assert_ne!(on_gpu.world.bodies.velocity, third.world.bodies.velocity, "a third of a period must show");
}

/// The gas of `gas.toml` with an eighth of the volume and of the grains.
fn small_gas() -> Scenario {
    let axes = ["x", "y", "z"].into_iter().enumerate();
    let mut overrides: Vec<String> = axes
        .flat_map(|(i, axis)| {
            let region = |block: u32| format!("grains.{block}.packing.region.max.{i}=0.1");
            [format!("periodic.{axis}.1=0.1"), region(0), region(1)]
        })
        .collect();
    overrides.extend([0, 1].map(|block| format!("grains.{block}.packing.count=62")));
    scenario("gas.toml", &overrides.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_gas_keeps_its_momentum_and_loses_energy() {
    let Scenario { world, settings, .. } = small_gas();
    let mass = |grain: usize| world.grain_mass(grain);
    let sum = |velocity: &[DVec3]| -> DVec3 { velocity.iter().enumerate().map(|(i, v)| mass(i) * *v).sum() };
    let scale: f64 = world.bodies.velocity.iter().enumerate().map(|(i, v)| mass(i) * v.length()).sum();
    let energy = |velocity: &[DVec3]| -> f64 {
        velocity.iter().enumerate().map(|(i, v)| 0.5 * mass(i) * v.length_squared()).sum()
    };
    for (engine, rounding) in both(&world, &settings).iter_mut().zip([1e-13, 1e-5]) {
        let state = run(engine.as_mut(), 200);
        let lost = (sum(&state.world.bodies.velocity) - sum(&world.bodies.velocity)).length();
        assert!(lost < rounding * scale, "momentum changed by {lost} of {scale} N s");
        let left = energy(&state.world.bodies.velocity) / energy(&world.bodies.velocity);
        assert!(left < 0.9, "{left} of the energy is left: the grains have not met");
        let cell = state.world.periodic;
        assert!(
            state.world.bodies.position.iter().all(|&place| cell.wrap(place) == place),
            "all in the cell"
        );
    }
}

#[test]
fn a_periodic_run_has_the_same_bits_twice_on_the_gpu() {
    let world = periodic("xyz").world;
    let once = || run(&mut gpu(&world, &Settings::default()), 30);
    let first = once();
    assert!(first.contacts.len() > 100);
    assert_eq!(bits(&first), bits(&once()));
    assert_ne!(bits(&first), bits(&run(&mut gpu(&world, &Settings::default()), 31)));
}

#[test]
fn contact_lines_across_a_face_lead_to_the_nearest_image() {
    let world = corners([true; 3]);
    let state = run(&mut cpu(&world, &Settings::default()), 1);
    let lines = frames::contacts(&state);
    assert_eq!(lines.points.len(), 2 * 28);
    for ends in lines.points.chunks(2) {
        let length = DVec3::from(ends[0]).distance(DVec3::from(ends[1]));
        assert!(length < 1.2 * D, "a line of {length} m");
    }
}

/// A pipe as long as the period acts on two grains through its nearest image, across the faces. The tolerance is rounding of the gap.
#[test]
fn boundaries_act_through_their_nearest_image() {
    let scenario = pellets(
        r#"
[periodic]
y = [0.0, 0.0625]
x = [0.0, 0.0625]

[[boundaries]]
name = "pipe"
material = "pellet"
shape = { kind = "cylinder", base = [0.0, 0.0, 0.0], axis = [0, 1, 0], length = 0.0625, radius = 0.02, side = "outside", caps = false }

[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
packing = { kind = "list", positions = [[0.0025, 0.0625, 0.0268], [0.06, 0.03, 0.0268]] }
"#,
    );
    let world = &scenario.world;
    assert_eq!(world.bodies.position[1].y, 0.0, "a grain on the far face is wrapped in");
    for grain in [1, 2] {
        let touch = world.touch(grain, 0).unwrap();
        let expected = DVec3::new(2.5e-3, 0.0, 0.0268).length() - 0.02 - R;
        assert!((touch.gap - expected).abs() < 1e-15, "gap {} m, expected {expected} m", touch.gap);
        assert_eq!(touch.normal.y, 0.0, "no rim at the seam of the pipe");
        assert_eq!(touch.normal.x > 0.0, grain == 1, "the second is to the left of the image of the pipe");
    }
}

#[test]
fn random_packings_and_emitters_fill_the_cell_up_to_its_faces_and_keep_their_distance_across() {
    let body = r#"
[periodic]
x = [0.0, 0.1]
y = [0.0, 0.1]
z = [0.0, 0.1]
[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
packing = { kind = "random", fill = 0.25, region = { kind = "box", min = [0, 0, 0], max = [0.1, 0.1, 0.1] } }
[[emitters]]
material = "pellet"
radius = { kind = "constant", value = 0.003 }
region = { kind = "box", min = [0, 0, 0], max = [0.1, 0.1, 0.1] }
total = 200
"#;
    let scenario = pellets(body);
    let world = &scenario.world;
    let mut spheres: Vec<(DVec3, f64)> = world.bodies.position.iter().map(|&place| (place, R)).collect();
    let grains = scenario.emitters[0].clone().emit(0.0, spheres.iter().copied(), &|_, _| false);
    assert_eq!(grains.len(), 200);
    spheres.extend(grains.iter().map(|grain| (world.wrap(grain.position), grain.radius)));
    for (i, a) in spheres.iter().enumerate() {
        for b in &spheres[..i] {
            let gap = world.separation(a.0, b.0).length() - a.1 - b.1;
            assert!(gap > -1e-12, "gap {gap} m between {a:?} and {b:?}");
        }
    }
    let at_faces = spheres.iter().filter(|(place, radius)| place.min_element() < 0.5 * radius);
    assert!(at_faces.count() > 10, "centres lie also where a wall would not let them");
}

#[test]
fn a_period_too_short_for_the_grains_is_refused_by_both_engines() {
    let settings = Settings::default();
    let world = corners([true; 3]);
    let large = Grain::at(DVec3::splat(0.5 * PERIOD), 1.5 * R, 0);
    for engine in &mut both(&world, &settings) {
        let error = engine.add_grains(&[large]).unwrap_err();
        assert!(matches!(error, Error::ShortPeriod { axis: "x", .. }), "{error}");
    }
    let mut narrow = world.clone();
    narrow.periodic.length.y = 2.9 * 1.1 * D;
    let error = GpuEngine::new(device(), narrow, settings).err().unwrap();
    assert!(matches!(error, Error::ShortPeriod { axis: "y", .. }), "{error}");
}

/// A larger grain that is added later widens the cells on the GPU; the period stays the same, and positions move by rounding at most.
#[test]
fn a_larger_grain_changes_the_number_of_cells_and_nothing_else() {
    let small = |i: u32| Grain::at(DVec3::splat(0.0005 + 0.004 * f64::from(i)), 0.0015, 0);
    let settings = Settings::default();
    let mut engine = gpu(&world(DVec3::ZERO, cell([true; 3]), (0..16).map(small)), &settings);
    let before = run(&mut engine, 3);
    engine.add_grains(&[Grain::at(DVec3::new(0.03, 0.01, 0.05), R, 0)]).unwrap();
    let after = engine.snapshot().unwrap();
    for (old, new) in before.world.bodies.position.iter().zip(&after.world.bodies.position) {
        assert!(before.world.separation(*old, *new).length() < 1e-8, "{old} became {new}");
    }
}

#[test]
fn a_scenario_without_the_table_has_no_period() {
    let scenario = box_of(20);
    assert!(scenario.world.periodic.is_none());
    assert!(!scenario.resolved.contains("periodic"));
    let periodic = Scenario::parse("again", &periodic("x").resolved, std::path::Path::new("."), &[]).unwrap();
    assert_eq!(periodic.world.periodic.length, DVec3::new(0.0655, 0.0, 0.0));
}

#[test]
fn a_ball_periods_away_touches_grains_on_both_sides_of_a_face() {
    let scenario = periodic("x");
    let ball = 1;
    for engine in &mut both(&scenario.world, &Settings::default()) {
        let state = run(engine.as_mut(), 1);
        let met = state.contacts.iter().filter(|contact| contact.key.b == ball);
        let at: Vec<f64> =
            met.map(|contact| state.world.bodies.position[contact.bodies[0] as usize].x).collect();
        assert!(at.iter().any(|&x| x < 0.01) && at.iter().any(|&x| x > 0.05), "{at:?}");
    }
}
