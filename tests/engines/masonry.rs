//! Masonry, wedges, coins and cards: assemblies of convex solids against closed forms of statics and of rigid bodies.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4, PI};

use crate::common::*;
use crate::solids::{add, on_floor};
use esker::engine::{Engine, Snapshot};
use esker::model::{Clump, Form, Grain, Solid, Surface, World};
use esker::settings::{Acceleration, Settings};
use esker::shape::Convex;
use glam::{DQuat, DVec3};

const GRAVITY: f64 = 9.81;

/// Adds the hull of these points \[m\] as a grain at rest; returns its body.
fn add_hull(world: &mut World, points: &[DVec3]) -> usize {
    let hull = Convex::hull(points).unwrap();
    let kind = Clump::of_hull("block", &hull);
    let grain = Grain {
        clump: Some(world.clumps.len() as u32),
        ..Grain::at(Solid::of_hull(&hull).centre, kind.equivalent_radius(), 0)
    };
    world.clumps.push(kind);
    let place = world.add_grains([grain])[0];
    world.grain_body(place)
}

/// Corners of a box with these half edges, turned about its centre \[m\].
fn box_points(half: DVec3, centre: DVec3, turn: DQuat) -> Vec<DVec3> {
    Convex::cuboid(half).corners.iter().map(|&corner| centre + turn * corner).collect()
}

/// Adds a dynamic solid; returns its body.
fn add_solid(world: &mut World, form: Form, position: DVec3, orientation: DQuat) -> usize {
    add(world, form, position, orientation);
    world.boundaries.len() - 1
}

fn settings(iterations: u32, time_step: f64) -> Settings {
    Settings { iterations, time_step, ..Settings::default() }
}

/// Makes an engine.
type On = fn(&World, &Settings) -> Box<dyn Engine>;

fn on_cpu(world: &World, settings: &Settings) -> Box<dyn Engine> {
    Box::new(cpu(world, settings))
}

fn on_gpu(world: &World, settings: &Settings) -> Box<dyn Engine> {
    Box::new(gpu(world, settings))
}

/// State on an engine after a time.
fn run_on(on: On, world: &World, settings: &Settings, seconds: f64) -> Snapshot {
    let mut engine = on(world, settings);
    engine.advance((seconds / settings.time_step).round() as u64).unwrap();
    engine.snapshot().unwrap()
}

/// States on both engines after a time.
fn run(world: &World, settings: &Settings, seconds: f64) -> [(&'static str, Snapshot); 2] {
    [("cpu", on_cpu as On), ("gpu", on_gpu)].map(|(name, on)| (name, run_on(on, world, settings, seconds)))
}

/// What `look` sees on an engine after each of `count` times `seconds` \[s\].
fn watch<T>(
    engine: &mut dyn Engine,
    time_step: f64,
    seconds: f64,
    count: u32,
    mut look: impl FnMut(&World) -> T,
) -> Vec<T> {
    let mut seen = || {
        engine.advance((seconds / time_step).round() as u64).unwrap();
        look(&engine.snapshot().unwrap().world)
    };
    (0..count).map(|_| seen()).collect()
}

/// A semicircular arch of this many voussoirs on the floor: centre line of radius 1 m, thickness \[m\], depth 0.3 m.
fn arch(count: u32, thickness: f64) -> World {
    // Joints that give way by 10⁻⁵ m open hinges that an arch near its limit has no room for.
    let mut world = on_floor(1e12, 1.0);
    for i in 0..count {
        let corner = |joint: u32, radius: f64, y: f64| {
            let (sin, cos) = (PI * f64::from(joint) / f64::from(count)).sin_cos();
            DVec3::new(radius * cos, y, radius * sin)
        };
        let mut points = Vec::new();
        for joint in [i, i + 1] {
            for radius in [1.0 - 0.5 * thickness, 1.0 + 0.5 * thickness] {
                points.extend([-0.15, 0.15].map(|y| corner(joint, radius, y)));
            }
        }
        add_hull(&mut world, &points);
    }
    world
}

/// Sinking of the crown of an arch of 31 voussoirs within a time \[m\].
fn sinking(on: On, thickness: f64, iterations: u32, seconds: f64) -> f64 {
    let world = arch(31, thickness);
    let crown = |world: &World| world.bodies.position[1 + 15].z;
    let state = run_on(on, &world, &settings(iterations, 2e-3), seconds);
    crown(&world) - crown(&state.world)
}

#[test]
fn a_semicircular_arch_stands_above_the_thickness_of_milankovitch_and_falls_below() {
    stands_and_falls(on_cpu);
}

#[test]
#[ignore = "long; in short: masonry::a_semicircular_arch_stands_above_the_thickness_of_milankovitch_and_falls_below, masonry::a_wedge_presses_on_its_groove_as_its_angle_says"]
fn a_semicircular_arch_stands_and_falls_on_the_gpu() {
    stands_and_falls(on_gpu);
}

fn stands_and_falls(on: On) {
    // 0.1075 of the radius of the centre line (Milankovitch, Z. Math. Phys. 55, 1 (1907)); 0.1071 for 31 voussoirs, which have hinges at
    // their joints only.
    for (thickness, stands) in [(0.115, true), (0.100, false)] {
        let sinking = sinking(on, thickness, 600, 0.5);
        assert_eq!(sinking < 2e-4, stands, "at {thickness} R the crown sinks by {sinking} m");
        assert!(stands || sinking > 0.1, "at {thickness} R the crown sinks by {sinking} m");
    }
}

#[test]
fn a_wedge_presses_on_its_groove_as_its_angle_says() {
    // Without friction N = W/(2 sin(α/2)) on each side.
    for angle in [30f64, 60.0, 90.0, 120.0].map(f64::to_radians) {
        let mut world = World::new(-GRAVITY * DVec3::Z, stone(0.0, 0.0));
        for side in [-1.0, 1.0] {
            // A plane through the y axis, whose normal leans inwards.
            let turn = DQuat::from_rotation_y(-side * (FRAC_PI_2 - 0.5 * angle));
            world.add_boundary(fixed("side"), [Surface::new(DVec3::ZERO, turn, Form::Plane, 0)]);
        }
        let half_width = 0.1 * (0.5 * angle).tan();
        let corner = |x: f64, z: f64| [-0.1, 0.1].map(|y| DVec3::new(x, y, z));
        let points = [corner(0.0, 0.0), corner(-half_width, 0.1), corner(half_width, 0.1)].concat();
        let wedge = add_hull(&mut world, &points);
        let weight = GRAVITY / world.bodies.inverse_mass[wedge];
        let expected = 0.5 * weight / (0.5 * angle).sin();
        for (engine, state) in run(&world, &settings(200, 1e-3), 0.3) {
            for side in [0, 1] {
                let of_side = state.contacts.iter().filter(|contact| contact.bodies[1] == side);
                let force = of_side.map(|contact| contact.impulse.normal).sum::<f64>() / 1e-3;
                let error = force / expected - 1.0;
                assert!(error.abs() < 1e-4, "{engine}, at {angle}: {force} N, expected {expected} N");
            }
        }
    }
}

/// Tilts \[rad\] of a cube of edge 0.2 m that stands on an edge, at times 0.05 s apart, from this tilt, on each engine.
fn tilts_of_a_cube_on_its_edge(tilt: f64, count: u32) -> [Vec<f64>; 2] {
    let mut world = on_floor(1e10, 1.0);
    let turn = DQuat::from_rotation_y(FRAC_PI_4 + tilt);
    // The centre is above the edge, and turns about it.
    let radius = 0.2 * FRAC_1_SQRT_2;
    let centre = radius * DVec3::new(tilt.sin(), 0.0, tilt.cos());
    let cube = add_hull(&mut world, &box_points(DVec3::splat(0.1), centre, turn));
    let tilt_in = |world: &World| world.bodies.position[cube].x.atan2(world.bodies.position[cube].z);
    both(&world, &settings(50, 2.5e-4)).map(|mut engine| watch(engine.as_mut(), 2.5e-4, 0.05, count, tilt_in))
}

#[test]
fn a_cube_balances_on_its_edge_and_falls_as_an_inverted_pendulum() {
    for balanced in tilts_of_a_cube_on_its_edge(0.0, 6) {
        assert!(balanced.iter().all(|tilt| tilt.abs() < 1e-6), "{balanced:?}");
    }
    // I θ'' = m g r θ with I = 2/3 m a² about the edge and r = a/√2: θ = θ₀ cosh(k t), k² = 3 g/(2 √2 a).
    let rate = (1.5 * FRAC_1_SQRT_2 * GRAVITY / 0.2).sqrt();
    let start = 1e-3;
    for tilts in tilts_of_a_cube_on_its_edge(start, 6) {
        for (i, tilt) in (1..).zip(tilts) {
            let expected = start * (rate * 0.05 * f64::from(i)).cosh();
            assert!((tilt / expected - 1.0).abs() < 0.02, "after {i}/20 s: {tilt}, expected {expected}");
        }
    }
}

/// Largest lean \[rad\] within 2 s of a coin of radius 0.1 m that rolls with this speed over the one above which it rolls upright.
fn largest_lean_of_a_rolling_coin(on: On, factor: f64) -> f64 {
    let (radius, thickness, lean) = (0.1, 0.002, 0.03);
    let speed = factor * (GRAVITY * radius / 3.0).sqrt();
    let mut world = on_floor(1e9, 1.0);
    let coin = Form::Solid { bottom_radius: radius, top_radius: radius, length: thickness };
    // Its axis is along y but for the lean, and it stands on the edge of its rim.
    let turn = DQuat::from_rotation_x(FRAC_PI_2 + lean);
    let height = radius * lean.cos() + 0.5 * thickness * lean.sin();
    let body = add_solid(&mut world, coin, height * DVec3::Z, turn);
    world.bodies.velocity[body] = speed * DVec3::X;
    world.bodies.angular_velocity[body] = speed / radius * DVec3::Y;
    let lean_in = |world: &World| (world.bodies.orientation[body] * DVec3::Z).z.abs().asin();
    let mut engine = on(&world, &settings(50, 5e-4));
    watch(engine.as_mut(), 5e-4, 0.02, 100, lean_in).into_iter().fold(0.0, f64::max)
}

#[test]
fn a_coin_rolls_upright_above_the_speed_of_its_stability_and_falls_below() {
    rolls_and_falls(on_cpu);
}

#[test]
#[ignore = "long; in short: masonry::a_coin_rolls_upright_above_the_speed_of_its_stability_and_falls_below, masonry::a_cube_balances_on_its_edge_and_falls_as_an_inverted_pendulum"]
fn a_coin_rolls_and_falls_on_the_gpu() {
    rolls_and_falls(on_gpu);
}

fn rolls_and_falls(on: On) {
    // C (C + m r²) ω² > A m g r, with the moments C = m r²/2 about the axis and A = m r²/4 across it: v² > g r/3 (Routh, Dynamics of a
    // System of Rigid Bodies, Advanced Part, 1884).
    let fast = largest_lean_of_a_rolling_coin(on, 1.5);
    let slow = largest_lean_of_a_rolling_coin(on, 0.6);
    assert!(fast < 0.12, "rolling fast it leans by {fast}");
    assert!(slow > 0.5, "rolling slowly it leans by {slow}");
}

/// Way \[m\] by which two cards that lean on each other slip apart within 0.5 s, with this friction over the least one at which they stand,
/// on each engine.
fn slip_of_two_cards(factor: f64) -> [f64; 2] {
    let (sin, cos) = 0.5f64.sin_cos();
    let (length, thickness) = (0.2, 0.001);
    // Each stands on an edge, and is cut so that it meets the other one in a vertical face.
    let outline = [
        [-length * sin, 0.0],
        [0.0, length * cos],
        [0.0, length * cos + thickness / sin],
        [-length * sin - thickness * cos, thickness * sin],
    ];
    let card = |side: f64| outline.map(|[x, z]| [-0.06, 0.06].map(|y| DVec3::new(-side * x, y, z))).concat();
    let left = Solid::of_hull(&Convex::hull(&card(-1.0)).unwrap()).centre;
    // The weight W acts in the centre, the thrust H of the other card at the top: H is the share of W that the foot has to hold.
    let needed = (left.x + length * sin) / (length * cos + 0.5 * thickness / sin);
    let mut world = on_floor(1e9, factor * needed);
    let cards = [-1.0, 1.0].map(|side| add_hull(&mut world, &card(side)));
    let apart = |world: &World| world.bodies.position[cards[1]].x - world.bodies.position[cards[0]].x;
    run(&world, &settings(200, 1e-3), 0.5).map(|(_, state)| apart(&state.world) - apart(&world))
}

#[test]
fn two_cards_lean_on_each_other_if_friction_at_their_feet_holds_the_thrust() {
    for (factor, stands) in [(1.05, true), (0.95, false)] {
        for slip in slip_of_two_cards(factor) {
            assert_eq!(slip.abs() < 1e-3, stands, "at {factor}: slipped by {slip} m");
        }
    }
}

/// Centres of `count` bricks of this length \[m\] from below, each shifted by `factor` of what the harmonic overhang allows.
fn harmonic(count: u32, length: f64, factor: f64) -> Vec<f64> {
    let shift = |above: u32| factor * 0.5 * length / f64::from(above);
    (0..count).map(|i| (0..i).map(|below| shift(count - 1 - below)).sum()).collect()
}

#[test]
fn ten_bricks_hang_over_harmonically_below_the_limit_and_fall_above() {
    hang_over_and_fall(on_cpu);
}

#[test]
#[ignore = "long; in short: masonry::ten_bricks_hang_over_harmonically_below_the_limit_and_fall_above, masonry::two_cards_lean_on_each_other_if_friction_at_their_feet_holds_the_thrust"]
fn ten_bricks_hang_over_and_fall_on_the_gpu() {
    hang_over_and_fall(on_gpu);
}

fn hang_over_and_fall(on: On) {
    for (factor, stands) in [(0.97, true), (1.03, false)] {
        let mut world = on_floor(1e10, 0.5);
        for (i, x) in (0..).zip(harmonic(10, 0.2, factor)) {
            let centre = DVec3::new(x, 0.0, 0.025 + 0.05 * f64::from(i));
            add_hull(&mut world, &box_points(DVec3::new(0.1, 0.05, 0.025), centre, DQuat::IDENTITY));
        }
        let plain = Settings { acceleration: Acceleration::None, ..settings(3000, 2e-3) };
        let top = run_on(on, &world, &plain, 0.5).world.bodies.position[10].z;
        assert_eq!((top - 0.475).abs() < 2e-3, stands, "at {factor}: top at {top} m");
    }
}
