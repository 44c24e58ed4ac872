//! Robustness: the same inputs give the same bits, nothing is dropped, and errors say what to change.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::contact::ContactState;
use esker::cpu::CpuEngine;
use esker::engine::{Engine, Snapshot};
use esker::error::Error;
use esker::gpu::{GpuEngine, Room};
use esker::law::pair::Material;
use esker::model::{Grain, Materials, Motion, MotionLaw, World};
use esker::settings::{Order, Settings, WarmStart};
use glam::DVec3;

const STEPS: u64 = 60;

fn run(engine: &mut dyn Engine, steps: u64) -> Snapshot {
    engine.advance(steps).unwrap();
    engine.snapshot().unwrap()
}

fn settings() -> Settings {
    Settings { iterations: 10, ..Settings::default() }
}

/// Whether two states have the same bits of velocities, orientations and normal impulses. Positions are not compared: the states may be at
/// different places.
fn same_bits(a: &Snapshot, b: &Snapshot) -> bool {
    let impulses = |contacts: &[ContactState]| -> Vec<_> {
        contacts.iter().map(|contact| (contact.key, contact.impulse.normal.to_bits())).collect()
    };
    a.world.bodies.velocity == b.world.bodies.velocity
        && a.world.bodies.angular_velocity == b.world.bodies.angular_velocity
        && a.world.bodies.orientation == b.world.bodies.orientation
        && impulses(&a.contacts) == impulses(&b.contacts)
}

#[test]
fn two_runs_on_one_adapter_have_the_same_bits() {
    for scenario in [mixed_sizes_in_a_drum(), box_of(500)] {
        let states = [(); 2].map(|()| run(&mut gpu(&scenario.world, &settings()), STEPS));
        assert!(same_bits(&states[0], &states[1]) && states[0].world == states[1].world);
        let longer = run(&mut gpu(&scenario.world, &settings()), STEPS + 1);
        assert!(!same_bits(&states[0], &longer), "one step more must show");
    }
}

#[test]
fn the_size_of_the_batches_does_not_change_a_bit() {
    let scenario = mixed_sizes_in_a_drum();
    let at_once = run(&mut gpu(&scenario.world, &settings()), STEPS);
    let mut engine = gpu(&scenario.world, &settings());
    for _ in 0..STEPS / 4 {
        engine.advance(3).unwrap();
        engine.snapshot().unwrap();
        engine.advance(1).unwrap();
    }
    assert!(same_bits(&at_once, &engine.snapshot().unwrap()));
}

#[test]
fn the_coloured_reference_has_the_same_bits_on_one_and_two_threads() {
    let scenario = box_of(1000);
    let states = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&mut cpu(&scenario.world, &settings()), STEPS))
    });
    assert!(same_bits(&states[0], &states[1]) && states[0].world == states[1].world);
    let sequential = Settings { order: Order::Sequential, ..settings() };
    let sequential = run(&mut CpuEngine::new(scenario.world, sequential), STEPS);
    assert!(!same_bits(&states[0], &sequential), "another order must show");
}

/// The scene with fixed boundaries and all positions rounded to multiples of 2⁻³⁰ m, which stay exact after a shift by 10⁵ m.
fn on_a_fine_lattice(world: &World) -> World {
    let cut = |v: DVec3| (v * f64::from(1 << 30)).round() / f64::from(1 << 30);
    let mut world = world.clone();
    world.bodies.position.iter_mut().for_each(|position| *position = cut(*position));
    for boundary in &mut world.boundaries {
        boundary.position = cut(boundary.position);
        boundary.motion = Motion::Fixed;
    }
    world
}

fn moved(world: &World, shift: DVec3) -> World {
    let mut world = world.clone();
    world.bodies.position.iter_mut().for_each(|position| *position += shift);
    world.boundaries.iter_mut().for_each(|boundary| boundary.position += shift);
    world
}

#[test]
fn a_scene_a_hundred_kilometres_away_has_the_same_bits_on_the_gpu() {
    for scenario in [mixed_sizes_in_a_drum(), box_of(300)] {
        let here = on_a_fine_lattice(&scenario.world);
        let cell = esker::gpu::layout::Anchors::for_world(&here, &settings()).cell_size.x;
        let far = DVec3::new(1e5, -1e5, 5e4);
        let shift = (far / cell).round() * cell;
        assert!((shift - far).length() < 2.0 * cell);
        let there = moved(&here, shift);
        assert_eq!(moved(&there, -shift), here, "the shift itself loses nothing");

        let (near, far) =
            (run(&mut gpu(&here, &settings()), STEPS), run(&mut gpu(&there, &settings()), STEPS));
        assert!(same_bits(&near, &far), "a scene far away moved differently");
        assert!(near.contacts.len() > 100, "a scene without contacts proves nothing");
        let off = moved(&here, shift + DVec3::X * cell / 3.0);
        assert!(!same_bits(&near, &run(&mut gpu(&off, &settings()), STEPS)), "a third of a cell must show");
    }
}

/// The number of contacts grows while grains fall that are apart at first, so a room between the first number and the last is too small in
/// a later rebuild, when there are impulses to carry over.
#[test]
fn a_buffer_too_small_by_one_grows_and_the_result_is_the_same() {
    let settings = settings();
    for (name, scenario) in [("spheres", box_of(300)), ("clumps", clumps_among_spheres(""))] {
        let mut world = scenario.world;
        for grain in 0..world.grain_count() {
            let body = world.grain_body(grain);
            world.bodies.position[body].z *= 2.5;
        }
        let mut engine = gpu(&world, &settings);
        let first = run(&mut engine, 1).contacts.len() as u32;
        let expected = run(&mut engine, STEPS - 1);
        let needed = expected.contacts.len() as u32;
        assert!(needed > first + 50, "{name}: {first} contacts at first, {needed} in the end");
        for room in [needed - 1, (first + needed) / 2, 1] {
            let mut engine =
                GpuEngine::with_room(device(), world.clone(), settings, Room::Contacts(room)).unwrap();
            assert!(same_bits(&expected, &run(&mut engine, STEPS)), "{name}: room for {room} contacts");
        }
    }
}

/// Without bodies that may turn contacts hold the lengths of their arms; when a wall begins to turn, the arms need twice the room.
#[test]
fn contacts_find_room_for_their_arms_when_a_wall_begins_to_turn() {
    let scenario = box_of(300);
    let mut engine = gpu(&scenario.world, &settings());
    let needed = run(&mut engine, STEPS).contacts.len() as u32;
    let mut engine =
        GpuEngine::with_room(device(), scenario.world.clone(), settings(), Room::Contacts(needed)).unwrap();
    engine.advance(STEPS).unwrap();
    let turning = Motion::rotation(DVec3::ZERO, 0.01 * DVec3::Z);
    engine.change(&mut |world| world.boundaries[0].motion = turning.clone()).unwrap();
    engine.advance(1).unwrap();
    let constraints = engine.constraints().unwrap();
    assert!(constraints.len() as u32 > 3 * needed / 4, "{} contacts", constraints.len());
    for (head, arms) in constraints.iter().filter(|(head, _)| head.bias_velocity > -1e29) {
        let [normal, arm] = [head.normal, arms.arm_a].map(|vector| vector.map(f64::from).into());
        let (normal, arm): (DVec3, DVec3) = (normal, arm);
        let along = -arm.dot(normal);
        assert!((0.3 * D..0.7 * D).contains(&along), "{along} m long");
        assert!((arm + along * normal).length() < 1e-5 * D, "{arm} is not along {normal}");
    }
}

#[test]
fn grains_added_during_a_run_grow_the_buffers_and_lose_nothing() {
    let scenario = box_of(200);
    let grain = |i: u32| {
        let place =
            DVec3::new(0.014 * f64::from(i % 10) - 0.063, 0.014 * f64::from(i / 10 % 10) - 0.063, 0.2);
        Grain::at(place + DVec3::Z * 0.014 * f64::from(i / 100), D / 2.0, 0)
    };
    let more: Vec<_> = (0..300).map(grain).collect();
    for engine in &mut both(&scenario.world, &settings()) {
        engine.advance(20).unwrap();
        engine.add_grains(&more).unwrap();
        let after = run(engine.as_mut(), 100);
        assert_eq!(after.world.grain_count(), 500);
        let lowest = after.world.bodies.position.iter().skip(2).map(|p| p.z).fold(1.0, f64::min);
        assert!(lowest > 0.3 * D, "a grain fell through the floor to {lowest} m");
    }
}

/// Errors and snapshots after them, per engine, of a scene that fails: four grains, the last two of which nearly touch, after `change`.
fn failing(change: impl Fn(&mut World)) -> [(Error, Result<Snapshot, Error>); 2] {
    let scenario = pellets(
        r#"
[[boundaries]]
material = "pellet"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
packing = { kind = "list", positions = [[0, 0, 1], [0.1, 0, 1], [0.2, 0, 1], [0.2131, 0, 1]] }
"#,
    );
    let mut world = scenario.world;
    change(&mut world);
    both(&world, &settings()).map(|mut engine| (engine.advance(5).unwrap_err(), engine.snapshot()))
}

/// The last good state, which the CPU engine shows after a failure. The GPU engine shows none, because its velocities are those that
/// failed.
fn good_state(states: [(Error, Result<Snapshot, Error>); 2]) -> Snapshot {
    let [(_, cpu), (failure, gpu)] = states;
    let refusal = gpu.unwrap_err().to_string();
    assert!(refusal.contains(&failure.to_string()), "{refusal}");
    cpu.unwrap()
}

#[test]
fn a_velocity_that_is_not_a_number_names_the_grain_and_the_time() {
    for (error, _) in failing(|world| world.bodies.velocity[3].x = f64::NAN) {
        assert!(matches!(error, Error::NotANumber { grain: 2, .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains("grain 2") && message.contains("t = 0") && message.contains("time_step"));
    }
}

#[test]
fn a_grain_that_explodes_is_named_and_stays_where_it_was() {
    // Grain 3 drives grain 2 to 6 km/s. Both already fly at 1 km/s across that direction, which is no failure.
    let states = failing(|world| {
        world.bodies.velocity[3] = DVec3::new(0.0, 1e3, 0.0);
        world.bodies.velocity[4] = DVec3::new(-1e4, 1e3, 0.0);
    });
    for (error, _) in &states {
        assert!(matches!(error, Error::Exploded { grain: 2, .. }), "{error}");
        assert!(error.to_string().contains("reduce solver.time_step"), "{error}");
    }
    let state = good_state(states);
    assert_eq!((state.report.step, state.world.time), (0, 0.0), "nothing moved");
}

#[test]
fn a_failed_step_leaves_the_state_of_the_step_before() {
    // The floor is shot up at 100 m/s once the grains lie on it.
    let mut world = box_of(100).world;
    let (times, displacements) = (vec![0.3, 1.3], vec![DVec3::ZERO, 100.0 * DVec3::Z]);
    let floor = world.boundaries.iter_mut().find(|boundary| boundary.name == "floor").unwrap();
    let (point, rotations) = (DVec3::ZERO, Vec::new());
    floor.motion = Motion::of(MotionLaw::Table { times, displacements, point, rotations });
    let states = both(&world, &settings()).map(|mut engine| {
        let error = engine.advance(1000).unwrap_err();
        assert!(matches!(error, Error::Exploded { .. }), "{error}");
        (error, engine.snapshot())
    });
    let [Error::Exploded { time: cpu, .. }, Error::Exploded { time: gpu, .. }] =
        states.each_ref().map(|(error, _)| error)
    else {
        panic!("both exploded");
    };
    assert_eq!(cpu, gpu, "both engines fail in the same step");
    let time = *cpu;
    let state = good_state(states);
    assert_eq!(state.world.time, time);
    assert!(state.report.step > 10, "failed at step {}", state.report.step);
    let fastest = state.world.bodies.velocity.iter().map(|v| v.length()).fold(0.0, f64::max);
    assert!(fastest <= 10.0 * D / 5e-3, "{fastest} m/s is the velocity that failed");
}

#[test]
fn speed_alone_is_no_failure_until_the_cells_of_the_gpu_end() {
    let materials = box_of(10).world.materials;
    let mut world = World::new(DVec3::ZERO, materials);
    world.add_grains([Grain { velocity: DVec3::new(1e6, 0.0, 0.0), ..Grain::at(DVec3::ZERO, D / 2.0, 0) }]);
    let h = settings().time_step;
    for mut engine in both(&world, &settings()) {
        let state = run(engine.as_mut(), 40);
        let x = state.world.bodies.position[0].x;
        assert!((x / (40.0 * h * 1e6) - 1.0).abs() < 1e-5, "{}: {x} m", engine.identity().engine);
    }
    let error = gpu(&world, &settings()).advance(1_000_000).unwrap_err();
    assert!(
        matches!(error, Error::TooFar { x, .. } if x > 1e7) && error.to_string().contains("[domain]"),
        "{error}"
    );
}

#[test]
fn a_grain_beyond_the_cells_of_the_gpu_is_refused_with_its_place() {
    let mut world = box_of(10).world;
    world.bodies.position[5].x = 1e9;
    let error = GpuEngine::new(device(), world, settings()).err().unwrap();
    assert!(matches!(error, Error::TooFar { .. }), "{error}");
    assert!(error.to_string().contains("1.000e9") && error.to_string().contains("--device cpu"), "{error}");
}

#[test]
fn a_lost_device_is_an_error_that_says_what_to_do() {
    let scenario = box_of(100);
    let mut engine = GpuEngine::new(own_device(), scenario.world, settings()).unwrap();
    engine.advance(3).unwrap();
    engine.device().destroy();
    let error = engine.advance(3).unwrap_err();
    assert!(matches!(error, Error::DeviceLost { .. }), "{error}");
    assert!(error.to_string().contains("--device cpu"), "{error}");
    assert!(error.to_string().contains("t = 0.015000 s"), "the time of the last good state: {error}");
}

/// A larger grain widens the cells that positions are anchored to; nothing else changes, except by rounding.
#[test]
fn a_larger_grain_moves_the_anchors_and_nothing_else() {
    let scenario = box_of(300);
    let mut engine = gpu(&scenario.world, &settings());
    let before = run(&mut engine, 80);
    let large = Grain::at(DVec3::new(0.0, 0.0, 0.5), 1.7 * D, 0);
    engine.add_grains(&[large]).unwrap();
    let after = engine.snapshot().unwrap();
    assert_eq!(after.contacts.len(), before.contacts.len());
    for (old, new) in before.world.bodies.position.iter().zip(&after.world.bodies.position) {
        assert!(old.distance(*new) < 1e-8, "moved by {} m", old.distance(*new));
    }
    assert_eq!(before.world.bodies.velocity[..], after.world.bodies.velocity[..before.world.bodies.len()]);

    // One step more, with and without the large grain, which is far away: the impulses are kept.
    let mut alone = gpu(&scenario.world, &settings());
    let (alone, with) = (run(&mut alone, 81), run(&mut engine, 1));
    for (old, new) in alone.world.bodies.velocity.iter().zip(&with.world.bodies.velocity) {
        assert!(old.distance(*new) < 1e-4, "velocities differ by {} m/s", old.distance(*new));
    }
    let weight = |state: &Snapshot| state.contacts.iter().map(|contact| contact.impulse.normal).sum::<f64>();
    assert!((weight(&alone) / weight(&with) - 1.0).abs() < 1e-3);
}

#[test]
fn a_tolerance_stops_the_sweeps_early_on_both_engines() {
    let scenario = box_of(300);
    let strict = Settings { iterations: 400, ..Settings::default() };
    let tolerant = Settings { tolerance: 1e-4, ..strict };
    for engine in &mut both(&scenario.world, &tolerant) {
        let report = engine.advance(80).unwrap();
        assert!(report.sweeps < 400, "{} sweeps", report.sweeps);
        assert!(report.sweeps >= 1);
        let residual = report.residuals.normal.max.max(report.residuals.friction.max);
        assert!(residual < 20.0 * tolerant.tolerance, "residual {residual} m/s");
    }
    let report = cpu(&scenario.world, &strict).advance(1).unwrap();
    assert_eq!(report.sweeps, 400, "without a tolerance all sweeps are done");
}

#[test]
fn substeps_advance_the_same_time_on_both_engines() {
    let settings = Settings { substeps: 5, iterations: 4, ..Settings::default() };
    let scenario = box_of(200);
    for engine in &mut both(&scenario.world, &settings) {
        let state = run(engine.as_mut(), 100);
        assert!((state.world.time - 0.5).abs() < 1e-12);
        assert_eq!(state.substep, 1e-3);
    }
}

#[test]
fn locked_axes_stay_locked_on_both_engines() {
    let flat = flat();
    for engine in &mut both(&flat.world, &Settings { warm_start: WarmStart::Cold, ..settings() }) {
        let state = run(engine.as_mut(), 100);
        let bodies = &state.world.bodies;
        assert!(bodies.velocity.iter().all(|v| v.y == 0.0), "nothing moves along y");
        assert!(bodies.angular_velocity.iter().all(|w| w.x == 0.0 && w.z == 0.0));
        assert!(bodies.angular_velocity.iter().any(|w| w.y != 0.0), "but grains roll about y");
    }
}

/// An advance of no steps changes nothing and does not fail, although the snapshot before the first step has found contacts and no velocity
/// has been solved for them yet.
#[test]
fn an_advance_of_no_steps_changes_nothing_and_fails_on_no_engine() {
    let scenario = box_of(100);
    for mut engine in both(&scenario.world, &settings()) {
        let start = engine.snapshot().unwrap();
        assert!(!start.contacts.is_empty(), "there are contacts to fail on");
        let report = engine.advance(0).unwrap();
        assert_eq!((report.step, report.residuals.normal.max), (0, 0.0));
        assert!(same_bits(&start, &engine.snapshot().unwrap()));
        let moved = run(engine.as_mut(), 3);
        let report = engine.advance(0).unwrap();
        assert!(report.residuals.normal.max > 0.0, "those of the last step stay");
        assert!(same_bits(&moved, &engine.snapshot().unwrap()) && !same_bits(&start, &moved));
    }
}

/// A scene of grains of these radii \[m\] far from each other, of a material of this density \[kg/m³\] and modulus \[Pa\].
fn grains_of(radii: &[f64], density: f64, modulus: f64) -> World {
    let bed = box_of(1).world;
    let steel = Material { density, youngs_modulus: modulus, ..bed.materials.list[0].clone() };
    let mut world = World::new(bed.gravity, Materials::new(vec![steel]));
    let places = radii.iter().enumerate().map(|(i, &radius)| Grain::at(4e3 * i as f64 * DVec3::X, radius, 0));
    world.add_grains(places);
    world
}

#[test]
fn what_single_precision_does_not_hold_is_refused_by_the_gpu_with_the_number() {
    for (world, words) in [
        (grains_of(&[1e-3], 1e-35, 1e7), "the inverse mass [1/kg] of a grain"),
        (grains_of(&[1e-6], 1e-9, 1e7), "the inverse inertia [1/(kg m²)] of a grain"),
        (grains_of(&[1e-3], 1e3, 1e-40), "the compliance Σ [1/kg] of a contact"),
        (grains_of(&[1e-7, 1e3], 1e3, 1e7), "the smallest grains have a radius of 1e-7 m"),
    ] {
        let refused = GpuEngine::new(device(), world, settings()).err().map(|error| error.to_string());
        let message = refused.unwrap_or_else(|| panic!("accepted, expected: {words}"));
        assert!(message.contains(words) && message.contains("--device cpu"), "{message}");
    }
    assert!(GpuEngine::new(device(), grains_of(&[1e-2], 2.7e6, 1e9), settings()).is_ok());
}

#[test]
fn dust_beside_a_boulder_does_not_stop_the_search() {
    let world = grains_of(&[1e3, 1e-7, 1e-7], 2.5e3, 1e7);
    let moved = run(&mut cpu(&world, &settings()), 3);
    assert_eq!(moved.report.step, 3);
}
