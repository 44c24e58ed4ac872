//! Impulses of the contacts on the boundaries, bounces included: on both engines they equal the momentum that the bodies lose.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::engine::{Engine, Snapshot, TotalImpulse};
use esker::model::{Meter, MeterSums, Motion, Region, World};
use esker::observe::Observer;
use esker::observe::packing::{angular_momentum, momentum};
use esker::settings::Settings;
use glam::{DMat3, DVec3};

/// Half a unit in the last place of a number near 1, in single precision.
const ROUNDING: f64 = 0.5 * f32::EPSILON as f64;

/// Tolerance, as a share of the sum of all impulses on the boundaries: every change of a velocity is rounded, as in the energy balance.
fn bound(engine: &dyn Engine) -> f64 {
    if engine.identity().engine == "cpu" { 1e-12 } else { 16.0 * ROUNDING }
}

/// Momentum that gravity gave and that neither the bodies nor the boundaries received \[N s\], with one boundary left out if `without`
/// names it.
fn missing(start: &Snapshot, end: &Snapshot, without: Option<usize>) -> DVec3 {
    let world = &end.world;
    let grains: f64 = (0..world.grain_count()).map(|grain| world.grain_mass(grain)).sum();
    let mass = grains + world.dynamic_boundaries().map(|(_, free)| free.mass).sum::<f64>();
    let given = mass * world.gravity * (end.report.time - start.report.time);
    let counts = |body: usize| world.dynamic_boundary(body).is_none() && without != Some(body);
    let taken = end.impulses.iter().enumerate().filter(|(body, _)| counts(*body));
    let taken: DVec3 = taken.map(|(_, total)| total.linear).sum();
    momentum(end) - momentum(start) - given + taken
}

#[test]
fn what_gravity_gives_and_the_bodies_do_not_have_the_boundaries_took() {
    let settings = Settings { iterations: 10, ..Settings::default() };
    for (name, world, steps) in [
        ("a bed that lands", box_of(300).world, 100),
        ("a drum", mixed_sizes_in_a_drum().world, 100),
        ("a box on a bed", box_on_a_bed().world, 120),
    ] {
        for mut engine in both(&world, &settings) {
            let start = engine.snapshot().unwrap();
            assert!(start.impulses.iter().all(|total| *total == TotalImpulse::default()));
            engine.advance(steps / 2).unwrap();
            engine.advance(steps - steps / 2).unwrap();
            let end = engine.snapshot().unwrap();
            let turned_over: f64 = end.impulses.iter().map(|total| total.linear.length()).sum();
            let (error, on) = (missing(&start, &end, None).length(), engine.identity().engine);
            assert!(
                error <= bound(engine.as_ref()) * turned_over,
                "{name} on {on}: {error:e} of {turned_over:e} N s"
            );
            let size = |body: usize| end.impulses[body].linear.length();
            let most = (0..end.impulses.len()).filter(|&body| world.dynamic_boundary(body).is_none());
            let most = most.max_by(|&a, &b| size(a).total_cmp(&size(b)));
            let without = missing(&start, &end, most).length();
            assert!(
                without > 1e-3 * turned_over,
                "{name} on {on}: without a boundary {without:e} of {turned_over:e}"
            );
        }
    }
}

/// Spinning pellets that fly about in a box without gravity, with friction.
fn weightless_box() -> World {
    let mut world = box_of(100).world;
    world.gravity = DVec3::ZERO;
    for (i, velocity) in world.bodies.velocity.iter_mut().enumerate() {
        let i = i as f64;
        *velocity = DVec3::new(i.sin(), (2.3 * i).cos(), (1.7 * i).sin() - 1.0);
    }
    world.bodies.angular_velocity.iter_mut().for_each(|spin| spin.x = 40.0);
    assert!(world.boundaries.iter().all(|boundary| boundary.motion == Motion::Fixed));
    world
}

#[test]
fn the_angular_momentum_that_bodies_lose_is_what_the_boundaries_took_about_their_places() {
    let settings = Settings { iterations: 10, ..Settings::default() };
    for mut engine in both(&weightless_box(), &settings) {
        let start = engine.snapshot().unwrap();
        engine.advance(100).unwrap();
        let end = engine.snapshot().unwrap();
        let place = |body: usize| end.world.bodies.position[body];
        let about_origin =
            |(body, total): (usize, &TotalImpulse)| total.angular + place(body).cross(total.linear);
        let taken: DVec3 = end.impulses.iter().enumerate().map(about_origin).sum();
        let lost = angular_momentum(&start) - angular_momentum(&end);
        let arm = end.world.bodies.position.iter().map(|place| place.length()).fold(0.0, f64::max);
        let turned_over: f64 = end.impulses.iter().map(|total| arm * total.linear.length()).sum();
        let (error, on) = ((lost - taken).length(), engine.identity().engine);
        assert!(
            error <= 4.0 * bound(engine.as_ref()) * turned_over,
            "{on}: {error:e} of {turned_over:e} N m s"
        );
        assert!(lost.length() > 1e-3 * turned_over, "{on}: {lost} of {turned_over:e} proves nothing");
    }
}

#[test]
fn a_bounce_counts_in_the_mean_force_and_not_in_that_of_the_last_substep() {
    let scenario = pellets(
        r#"
[[boundaries]]
name = "wall"
material = "pellet"
shape = { kind = "plane", point = [0.1, 0, 0], normal = [-1, 0, 0] }
[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
velocity = [1.0, 0, 0]
packing = { kind = "list", positions = [[0, 0, 0]] }
"#,
    );
    let mut world = scenario.world;
    world.gravity = DVec3::ZERO;
    let settings = Settings { time_step: 1e-3, ..Settings::default() };
    let observer = Observer::new(&world, None);
    for mut engine in both(&world, &settings) {
        let first = observer.observe(&engine.snapshot().unwrap());
        engine.advance(200).unwrap();
        let state = engine.snapshot().unwrap();
        let found = observer.observe_after(&state, Some(&first.base));
        let value = |name: &str| found.values[observer.find(name).unwrap()];
        let mass = state.world.grain_mass(0);
        let expected = mass * (1.0 - state.world.bodies.velocity[1].x) / 0.2;
        assert!(expected > 1.1 * mass / 0.2, "it has bounced");
        let error = (value("mean_force_x:wall") / expected - 1.0).abs();
        assert!(error <= 4.0 * ROUNDING, "{}: {error:e}", engine.identity().engine);
        assert_eq!(value("force_x:wall"), 0.0);
    }
}

/// What a substep sums up: impulses on boundaries, sums of the meters, sums of the grains.
fn sums(state: &Snapshot) -> (Vec<TotalImpulse>, Vec<MeterSums>, Vec<DMat3>) {
    (state.impulses.clone(), state.stresses.clone(), state.grain_stresses.clone())
}

/// A substep in which the model start makes energy is solved again as one with careful settings \[E12\]. What the first try did counts in
/// no sum: they have the bits of a step with careful settings, and the floor took the momentum that the grains lost.
#[test]
fn a_substep_that_is_solved_again_counts_once() {
    let scene = scenario("validation/sticky_heap.toml", &["solver.warm_start=model"]);
    let mut world = scene.world;
    let region = Region::Box { min: DVec3::splat(-1.0), max: DVec3::splat(1.0) };
    world.meters = vec![Meter { region, material: None, layers: None }];
    world.measures_grains = true;
    for (i, mut engine) in both(&world, &scene.settings).into_iter().enumerate() {
        let before = (0..120).find_map(|_| {
            let state = engine.snapshot().unwrap().world;
            (engine.advance(1).unwrap().work.solved_again > 0).then_some(state)
        });
        let before = World { time: 0.0, ..before.expect("a start makes energy") };
        let step = |settings: &Settings| {
            let mut engine = both(&before, settings).into_iter().nth(i).unwrap();
            let start = engine.snapshot().unwrap();
            let solved_again = engine.advance(1).unwrap().work.solved_again;
            let end = engine.snapshot().unwrap();
            (missing(&start, &end, None), solved_again, end)
        };
        let (error, solved_again, state) = step(&scene.settings);
        let (_, _, careful) = step(&scene.settings.careful());
        let on = engine.identity().engine;
        assert_eq!(solved_again, 1, "{on}");
        assert!(sums(&state) == sums(&careful), "{on}: not what a careful step sums up");
        let given = state.impulses[0].linear.length();
        assert!(error.length() <= bound(engine.as_ref()) * given, "{on}: {error} of {given:e} N s");
        assert!(
            given > 0.0 && state.stresses[0].contacts.z_axis.z > 0.0,
            "{on}: the floor carries something"
        );
    }
}

#[test]
fn the_loads_of_the_gpu_have_the_same_bits_from_run_to_run() {
    let scene = mixed_sizes_in_a_drum();
    let loads = |steps: u64| {
        let mut engine = gpu(&scene.world, &scene.settings);
        engine.advance(steps).unwrap();
        engine.snapshot().unwrap().impulses
    };
    assert_eq!(loads(40), loads(40));
    assert_ne!(loads(40), loads(41), "one step more must show");
}
