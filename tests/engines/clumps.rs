//! Clumps, grains of several spheres, against closed forms and against published packings, on both engines.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::contact::Key;
use esker::engine::{Engine, Snapshot};
use esker::model::{Axes, Clump, Form, Grain, Side, Surface, World};
use esker::observe::contacts::coordination_number;
use esker::observe::{energy, packing};
use esker::output::frames;
use esker::scenario::Scenario;
use esker::settings::Settings;
use esker::simulation::{self, RunOptions};
use glam::{DQuat, DVec3};

const GRAVITY: f64 = 9.81;
/// Radius of the spheres of a clump \[m\].
const R: f64 = 0.01;

/// Grain at rest of the kind `clump`, with its centre of mass at `position`, in the orientation of its definition.
fn grain_of(world: &World, clump: usize, position: DVec3) -> Grain {
    Grain { clump: Some(clump as u32), ..Grain::at(position, world.clumps[clump].equivalent_radius(), 0) }
}

/// Two spheres at ±a along x.
fn dumbbell(a: f64) -> Clump {
    Clump::of_spheres("dumbbell", &[(DVec3::X * a, R), (DVec3::NEG_X * a, R)])
}

/// Three overlapping spheres of different size: no two moments of inertia are equal.
fn asymmetric() -> Clump {
    let spheres = [
        (DVec3::ZERO, 1.4 * R),
        (DVec3::new(1.5, 0.2, 0.1) * R, R),
        (DVec3::new(-0.3, 1.1, 0.4) * R, 0.8 * R),
    ];
    Clump::of_spheres("asymmetric", &spheres)
}

fn in_free_flight(clump: Clump, spin: DVec3) -> World {
    let mut world = World::new(DVec3::ZERO, stone(0.5, 0.5));
    world.clumps = vec![clump];
    let grain = Grain { angular_velocity: spin, ..grain_of(&world, 0, DVec3::new(0.1, -0.2, 0.3)) };
    world.add_grains([grain]);
    world
}

fn state(engine: &mut Box<dyn Engine>, steps: u64) -> Snapshot {
    engine.advance(steps).unwrap();
    engine.snapshot().unwrap()
}

#[test]
fn a_free_asymmetric_clump_keeps_its_angular_momentum_and_energy() {
    let world = in_free_flight(asymmetric(), DVec3::new(0.3, 4.0, 1.0));
    let moments = world.bodies.moments[0];
    assert!(moments.x != moments.y && moments.y != moments.z, "{moments}");
    let (momentum, kinetic) = (world.bodies.angular_momentum(0), world.kinetic_energy());
    let settings = Settings { iterations: 1, time_step: 1e-3, ..Settings::default() };
    for (engine, bound) in both(&world, &settings).iter_mut().zip([1e-10, 1e-4]) {
        let end = state(engine, 10_000).world;
        let name = engine.identity().engine;
        let drift = (end.bodies.angular_momentum(0) - momentum).length() / momentum.length();
        assert!(drift < bound, "{name}: angular momentum drifts by {drift:e}");
        let drift = (end.kinetic_energy() / kinetic - 1.0).abs();
        assert!(drift < bound, "{name}: energy drifts by {drift:e}");
        let turned = end.bodies.angular_velocity[0].angle_between(world.bodies.angular_velocity[0]);
        assert!(turned > 0.01, "{name}: the axis of rotation moves on: {turned} rad");
    }
}

/// The axis of a symmetric top goes around its angular momentum L at the rate |L|/I, I the moment across the axis.
#[test]
fn a_dumbbell_nutates_as_a_symmetric_top() {
    let world = in_free_flight(dumbbell(1.3 * R), DVec3::new(2.0, 1.0, 0.0));
    let momentum = world.bodies.angular_momentum(0);
    let (steps, h) = (2000u64, 1e-3);
    let rate = momentum.length() / world.bodies.moments[0].y;
    let angle = rate * h * steps as f64;
    assert!(angle > 2.0, "it turns by {angle} rad");
    let expected = DQuat::from_axis_angle(momentum.normalize(), angle) * DVec3::X;
    let settings = Settings { iterations: 1, time_step: h, ..Settings::default() };
    for (engine, bound) in both(&world, &settings).iter_mut().zip([1e-9, 1e-3]) {
        let axis = state(engine, steps).world.bodies.orientation[0] * DVec3::X;
        let off = axis.angle_between(expected);
        assert!(off < bound, "{}: its axis is {off:e} rad off", engine.identity().engine);
    }
}

/// Normal forces of the active contacts of a state \[N\], with their keys.
fn carried(state: &Snapshot) -> Vec<(Key, f64)> {
    let active = state.contacts.iter().filter(|contact| contact.is_active());
    active.map(|contact| (contact.key, contact.impulse.normal / state.substep)).collect()
}

#[test]
fn a_dumbbell_rests_on_both_of_its_spheres() {
    let mut world = with_floor(DVec3::NEG_Z * GRAVITY, stone(0.5, 0.0));
    world.clumps = vec![dumbbell(0.8 * R)];
    world.add_grains([grain_of(&world, 0, DVec3::Z * R)]);
    let weight = GRAVITY / world.bodies.inverse_mass[1];
    for engine in &mut both(&world, &Settings::default()) {
        let state = state(engine, 200);
        let name = engine.identity().engine;
        let forces = carried(&state);
        assert_eq!(forces.len(), 2, "{name}: {forces:?}");
        for (_, force) in forces {
            assert!((force / weight - 0.5).abs() < 1e-3, "{name}: {force} N of {weight} N");
        }
        let speed = state.world.bodies.velocity[1].length();
        assert!(speed < 1e-4, "{name}: it rests, {speed} m/s");
    }
}

/// Clump on an incline: two feet at ±R and a head 3 R above them. It moves in the x-z plane only, so that it cannot fall sideways. Gravity
/// is tilted instead of the floor.
fn standing(slope: f64) -> World {
    let angle = slope.atan();
    let mut world = with_floor(GRAVITY * DVec3::new(angle.sin(), 0.0, -angle.cos()), stone(2.0, 0.0));
    let feet = [(DVec3::X * R, R), (DVec3::NEG_X * R, R)];
    world.clumps = vec![Clump::of_spheres("standing", &[feet[0], feet[1], (DVec3::Z * 3.0 * R, R)])];
    let locked =
        [Axes::TRANSLATION[1], Axes::ROTATION[0], Axes::ROTATION[2]].into_iter().fold(Axes::NONE, Axes::and);
    // The centre of mass is a third of the way up.
    let grain = grain_of(&world, 0, DVec3::Z * 2.0 * R);
    world.add_grains([Grain { locked, ..grain }]);
    world
}

/// A clump on an incline stands while its centre of mass, 2 R above the floor, is above its feet at ±R: up to a slope of one half.
#[test]
fn a_clump_topples_where_its_centre_of_mass_leaves_its_feet() {
    let settings = Settings { iterations: 50, time_step: 2e-3, ..Settings::default() };
    for (slope, falls) in [(0.48, false), (0.52, true)] {
        for engine in &mut both(&standing(slope), &settings) {
            let state = state(engine, 400);
            let lean = (state.world.bodies.orientation[1] * DVec3::Z).angle_between(DVec3::Z);
            let fell = lean > 0.1;
            assert!(fell == falls && (falls || lean < 0.02), "slope {slope}: leans by {lean} rad");
        }
    }
}

/// Across a smooth trough both spheres slide along its wall: a compound pendulum about the axis of the trough, with the square of
/// its frequency m g D / (m D² + I), D the distance of the centre of mass from that axis.
#[test]
fn a_dumbbell_in_a_trough_swings_as_a_compound_pendulum() {
    let (trough, a, tilt) = (8.0 * R, 2.0 * R, 0.1f64);
    let mut world = World::new(DVec3::NEG_Z * GRAVITY, stone(0.0, 0.0));
    let form = Form::Wall { bottom_radius: trough, top_radius: trough, length: 1.0, side: Side::Inside };
    let along_y = DQuat::from_rotation_arc(DVec3::Z, DVec3::Y);
    world.add_boundary(fixed("trough"), [Surface::new(DVec3::ZERO, along_y, form, 0)]);
    world.clumps = vec![dumbbell(a)];
    let distance = ((trough - R).powi(2) - a * a).sqrt();
    let turn = DQuat::from_axis_angle(DVec3::Y, tilt);
    let locked =
        [Axes::TRANSLATION[1], Axes::ROTATION[0], Axes::ROTATION[2]].into_iter().fold(Axes::NONE, Axes::and);
    let grain = grain_of(&world, 0, turn * (DVec3::NEG_Z * distance));
    world.add_grains([Grain { orientation: turn, locked, ..grain }]);
    let (mass, moment) = (1.0 / world.bodies.inverse_mass[1], world.bodies.moments[1].y);
    let frequency = (mass * GRAVITY * distance / (mass * distance * distance + moment)).sqrt();
    // A swing of 0.1 rad takes longer than a small one by 1 + 0.1²/16.
    let period = std::f64::consts::TAU / frequency * (1.0 + tilt * tilt / 16.0);
    let h = period / 400.0;
    let settings = Settings { iterations: 30, time_step: h, ..Settings::default() };
    for engine in &mut both(&world, &settings) {
        let mut last = f64::NEG_INFINITY;
        let mut crossings = Vec::new();
        for look in 0..170 {
            let x = state(engine, 5).world.bodies.position[1].x;
            if last < 0.0 && x >= 0.0 {
                crossings.push(5.0 * h * (f64::from(look) - x / (x - last)));
            }
            last = x;
        }
        let name = engine.identity().engine;
        let [first, second, ..] = crossings[..] else { panic!("{name}: crossings at {crossings:?}") };
        // Tolerance: the error of the time step, 1/400 of the period, is of first order.
        let off = (second - first) / period - 1.0;
        assert!(off.abs() < 5e-3, "{name}: its period is {off:.4} off");
    }
}

/// Impulse of a rod of two spheres that hits a smooth floor with one end: n·J = (1 + e) v / (1/m + l²/I), l the lever of the contact.
#[test]
fn a_rod_that_falls_on_one_end_leaves_as_the_closed_form_says() {
    let (a, tilt, speed, restitution) = (2.0 * R, 0.4f64, 1.5, 0.8);
    let mut world = with_floor(DVec3::ZERO, stone(0.0, restitution));
    world.clumps = vec![dumbbell(a)];
    let turn = DQuat::from_axis_angle(DVec3::Y, tilt);
    let height = R + a * tilt.sin() + 1e-6;
    let grain = grain_of(&world, 0, DVec3::Z * height);
    world.add_grains([Grain { orientation: turn, velocity: DVec3::NEG_Z * speed, ..grain }]);
    let (mass, moment) = (1.0 / world.bodies.inverse_mass[1], world.bodies.moments[1].y);
    let lever = a * tilt.cos();
    let impulse = (1.0 + restitution) * speed / (1.0 / mass + lever * lever / moment);
    let (velocity, spin) = (impulse / mass - speed, -impulse * lever / moment);
    let settings = Settings { iterations: 50, time_step: 1e-5, ..Settings::default() };
    for (engine, bound) in both(&world, &settings).iter_mut().zip([1e-6, 1e-3]) {
        let bodies = state(engine, 1).world.bodies;
        let name = engine.identity().engine;
        assert!(
            (bodies.velocity[1].z - velocity).abs() < bound * speed,
            "{name}: {} m/s",
            bodies.velocity[1].z
        );
        let found = bodies.angular_velocity[1].y;
        assert!((found / spin - 1.0).abs() < bound, "{name}: {found} rad/s, expected {spin} rad/s");
    }
}

/// Two square clumps on top of each other touch at four places. Each contact keeps an impulse of its own from step to step.
#[test]
fn contacts_of_two_clumps_are_told_apart_and_warm_start_by_themselves() {
    let mut world = with_floor(DVec3::NEG_Z * GRAVITY, stone(0.8, 0.0));
    let square =
        [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)].map(|(x, y)| (DVec3::new(x, y, 0.0) * R, R));
    world.clumps = vec![Clump::of_spheres("square", &square)];
    let at = |height: f64| grain_of(&world, 0, DVec3::Z * height);
    let pair = [at(R), at(3.0 * R)];
    world.add_grains(pair);
    let weight = GRAVITY / world.bodies.inverse_mass[1];
    let few = Settings { iterations: 3, ..Settings::default() };
    for engine in &mut both(&world, &few) {
        let state = state(engine, 300);
        let name = engine.identity().engine;
        let between: Vec<f64> = state
            .contacts
            .iter()
            .filter(|contact| contact.bodies == [1, 2] && contact.is_active())
            .map(|contact| contact.impulse.normal / state.substep)
            .collect();
        assert_eq!(between.len(), 4, "{name}: {between:?}");
        for force in &between {
            assert!((force / weight - 0.25).abs() < 0.01, "{name}: {force} N of {weight} N");
        }
        assert!(energy::kinetic(&state) < 1e-8, "{name}: three sweeps per step hold it");
    }
}

/// Grains of three spheres in a row, a little longer than wide, or single spheres of the same volume, dropped at random.
fn dropped(is_clump: bool, friction: f64, count: u32, place: &str) -> World {
    let make =
        if is_clump { "clump = \"rod\"" } else { "radius = { kind = \"constant\", value = 0.005642 }" };
    let text = format!(
        r#"duration = 1.0
seed = 3
{place}
[materials.stone]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.25
restitution = 0.0
friction = {friction}

[[boundaries]]
name = "floor"
material = "stone"
shape = {{ kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }}

[clumps.rod]
spheres = [
    {{ position = [-0.00225, 0, 0], radius = 0.005 }},
    {{ position = [0, 0, 0], radius = 0.005 }},
    {{ position = [0.00225, 0, 0], radius = 0.005 }},
]

[[grains]]
material = "stone"
{make}
random_velocity = 0.1
packing = {{ kind = "random", count = {count}, region = {{ kind = "box", min = [0, 0, 0], max = [0.05, 0.05, 0.4] }} }}
"#
    );
    let scenario = Scenario::parse("dropped", &text, std::path::Path::new("."), &[]);
    scenario.unwrap_or_else(|problems| panic!("{problems}")).world
}

/// Solid fraction of a bed on a base of this area \[m²\]: volume of its grains over the volume below its top, which is twice as high as its
/// centre of mass \[-\].
fn solid_fraction(state: &Snapshot, area: f64) -> f64 {
    let mass: f64 = (0..state.world.grain_count()).map(|grain| state.world.grain_mass(grain)).sum();
    mass / 2500.0 / (2.0 * packing::centre_of_mass(state).z * area)
}

/// Smooth rods of length 0.45 diameters and round ends pack to 0.721, with ten neighbours each (H. Imaz González & G. Cinacchi
/// 2023, J. Phys. Chem. B 127, 6814), spheres to 0.64, with six. A bed of few grains is looser at its floor and at its top, alike
/// for both; and its top layer has half the neighbours.
#[test]
fn a_bed_of_smooth_clumps_packs_more_densely_and_with_more_neighbours_than_spheres() {
    let settings = Settings { iterations: 40, time_step: 2e-3, ..Settings::default() };
    let cell = "[periodic]\nx = [0.0, 0.05]\ny = [0.0, 0.05]";
    let [rods, spheres] = [true, false].map(|is_clump| {
        let mut engine = cpu(&dropped(is_clump, 0.0, 150, cell), &settings);
        engine.advance(900).unwrap();
        let state = engine.snapshot().unwrap();
        (solid_fraction(&state, 0.05 * 0.05), coordination_number(&state))
    });
    assert!((0.66..0.721).contains(&rods.0) && (0.59..0.64).contains(&spheres.0), "{rods:?} {spheres:?}");
    let ratio = rods.0 / spheres.0;
    assert!((ratio / (0.721 / 0.64) - 1.0).abs() < 0.04, "denser by {ratio}");
    assert!((7.5..10.5).contains(&rods.1) && (5.0..7.0).contains(&spheres.1), "{rods:?} {spheres:?}");
}

/// A heap of rods is steeper than a heap of spheres: without rolling resistance a column of spheres spreads on a floor, while rods
/// interlock.
#[test]
fn a_heap_of_clumps_is_steeper_than_one_of_spheres() {
    let settings = Settings { iterations: 30, time_step: 2e-3, ..Settings::default() };
    let [rods, spheres] = [true, false].map(|is_clump| {
        let mut engine = cpu(&dropped(is_clump, 0.6, 150, ""), &settings);
        engine.advance(500).unwrap();
        let state = engine.snapshot().unwrap();
        packing::cone_angle_deg(&state)
    });
    assert!(rods > 1.2 * spheres, "rods {rods}°, spheres {spheres}°");
}

/// Dumbbells and single spheres fall from two sources into a sink.
fn through_flow() -> Scenario {
    let source = |name: &str, height: f64, make: &str| {
        format!(
            r#"
[[emitters]]
name = "{name}"
material = "pellet"
{make}
region = {{ kind = "box", min = [-0.1, -0.1, {height}], max = [0.1, 0.1, {top}] }}
rate = 200.0
velocity = [0, 0, -1]
every = 0.02
"#,
            top = height + 0.05
        )
    };
    let text = pellets(&format!(
        r#"
[output]
every = 0.2
formats = []
[[sinks]]
name = "outlet"
region = {{ kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }}
[clumps.dumbbell]
spheres = [{{ position = [-0.005, 0, 0], radius = 0.005 }}, {{ position = [0.005, 0, 0], radius = 0.005 }}]
{}{}
"#,
        source("clumps", 0.2, "clump = \"dumbbell\""),
        source("spheres", 0.27, "radius = { kind = \"constant\", value = 0.0065 }")
    ));
    let resolved = text.resolved.replace("duration = 1.0", "duration = 0.6");
    Scenario::parse("flow", &resolved, std::path::Path::new("."), &[])
        .unwrap_or_else(|found| panic!("{found}"))
}

/// Sinks remove a clump as a whole, and a grain of as many spheres takes its place.
#[test]
fn clumps_come_and_go_and_their_places_are_taken_again() {
    let scenario = through_flow();
    let settings = Settings { iterations: 5, ..scenario.settings };
    let of_clump = scenario.world.clumps[0].volume * 3700.0;
    let of_sphere = esker::model::sphere_volume(0.0065) * 3700.0;
    let mut seen = Vec::new();
    for mut engine in both(&scenario.world, &settings) {
        let folder = tempfile::tempdir().unwrap();
        let interrupt = std::sync::atomic::AtomicBool::new(false);
        let options = RunOptions::new(folder.path(), &interrupt);
        let summary = simulation::run(&scenario, engine.as_mut(), options, &mut |_| {}).unwrap();
        let world = engine.snapshot().unwrap().world;
        let name = &summary.engine.engine;
        let placed: u64 = summary.emitters.iter().map(|emitter| emitter.placed).sum();
        let removed = summary.sinks[0].removed;
        assert_eq!(world.present_count() as u64 + removed, placed, "{name}");
        assert!(removed > 100, "{name}: {removed} left");
        let left = [&summary.emitters[0], &summary.emitters[1]].map(|emitter| emitter.placed as f64);
        let there: f64 = world.present_grains().map(|grain| world.grain_mass(grain)).sum();
        let came = left[0] * of_clump + left[1] * of_sphere;
        assert!((summary.sinks[0].mass + there - came).abs() < 1e-9 * came, "{name}: mass is kept");
        let places = world.grain_count() as u64;
        assert!(places < placed / 2, "{name}: {places} places for {placed} grains");
        for parts in &world.grains {
            let body = |i: usize| world.spheres[i].body;
            assert!(parts.spheres().all(|i| body(i) == body(parts.first as usize)), "{name}");
            assert_eq!(parts.count == 2, parts.clump.is_some(), "{name}");
        }
        seen.push(world.ids);
    }
    assert_eq!(seen[0], seen[1], "both engines give grains the same places");
}

#[test]
fn frames_have_a_point_for_every_sphere_and_say_which_clump_it_is_of() {
    let scene = clumps_among_spheres("");
    let mut engine = cpu(&scene.world, &scene.settings);
    engine.advance(1).unwrap();
    let state = engine.snapshot().unwrap();
    let frame = frames::grains(&state);
    assert_eq!(frame.points.len(), state.world.spheres.len());
    assert!(frame.point_data.iter().all(|array| array.len() == frame.points.len()));
    let clump = frame.point_data.iter().find(|array| array.name == "clump").expect("which clump it is");
    assert_eq!(clump.len(), 32 * 3 + 16 * 2 + 16);
    let first = DVec3::from_array(frame.points[0]);
    let centre = state.world.bodies.position[state.world.grain_body(0)];
    let lever = state.world.spheres[0].centre.length();
    assert!(
        (first.distance(centre) - lever).abs() < 1e-12,
        "a sphere is as far from the centre as it was listed"
    );
}
