//! Convex solids that meet by faces, edges and vertices, against closed forms of statics.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::engine::{Engine, Snapshot};
use esker::model::solids::point_number;
use esker::model::{Boundary, Form, Materials, Mesh, Motion, Solid, Surface, World};
use esker::observe::loads;
use esker::settings::{Method, Settings};
use glam::{DQuat, DVec3};
use std::sync::Arc;

const GRAVITY: f64 = 9.81;
const UPRIGHT: DQuat = DQuat::IDENTITY;
const CUBE: Form = Form::Box { half: DVec3::splat(0.1) };

fn cylinder(radius: f64, length: f64) -> Form {
    Form::Solid { bottom_radius: radius, top_radius: radius, length }
}

/// Stone of this stiffness \[Pa\] and friction on a floor.
pub fn on_floor(youngs_modulus: f64, friction: f64) -> World {
    let mut materials = stone(friction, 0.0);
    materials.list[0].youngs_modulus = youngs_modulus;
    with_floor(-GRAVITY * DVec3::Z, Materials::new(materials.list))
}

pub fn add(world: &mut World, form: Form, position: DVec3, orientation: DQuat) {
    let (body, _) = Solid::of(form).unwrap().body(2500.0);
    let boundary = Boundary { name: "solid".into(), position, orientation, motion: Motion::Dynamic(body) };
    world.add_boundary(boundary, [Surface::new(DVec3::ZERO, UPRIGHT, form, 0)]);
}

fn add_fixed(world: &mut World, form: Form, position: DVec3) {
    world
        .add_boundary(Boundary { position, ..fixed("block") }, [Surface::new(DVec3::ZERO, UPRIGHT, form, 0)]);
}

/// A cube of twelve triangles \[m\].
fn add_mesh_cube(world: &mut World, half: f64, position: DVec3) {
    let corner = |i: u32| {
        half * DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)) * 2.0
            - DVec3::splat(half)
    };
    let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles: Vec<[DVec3; 3]> = faces
        .into_iter()
        .flat_map(|face| [[face[0], face[1], face[2]], [face[0], face[2], face[3]]])
        .map(|triangle| triangle.map(corner))
        .collect();
    let (body, _) = Solid::of(Form::Box { half: DVec3::splat(half) }).unwrap().body(2500.0);
    let surfaces =
        world.mesh_surfaces(Arc::new(Mesh::new("cube", &triangles).unwrap()), DVec3::ZERO, UPRIGHT, 0);
    let boundary =
        Boundary { name: "mesh".into(), position, orientation: UPRIGHT, motion: Motion::Dynamic(body) };
    world.add_boundary(boundary, surfaces);
}

fn run(world: &World, settings: &Settings, steps: u64) -> Snapshot {
    let mut engine = cpu(world, settings);
    engine.advance(steps).unwrap();
    engine.snapshot().unwrap()
}

fn settings(iterations: u32) -> Settings {
    Settings { iterations, time_step: 1e-3, ..Settings::default() }
}

/// Horizontal drift of the highest of ten solids on each other after a time \[s\], over their edge \[-\], and its sinking.
fn drift_of_a_tower(place: impl Fn(&mut World, DVec3), seconds: u64) -> f64 {
    let mut world = on_floor(1e9, 0.5);
    (0..10).for_each(|i| place(&mut world, DVec3::new(0.0, 0.0, 0.1 + 0.2 * f64::from(i))));
    let state = run(&world, &settings(100), 1000 * seconds);
    let top = state.world.bodies.position[10];
    // Ten elastic contacts sink under up to ten cubes: δ = (F/(4/3 E* √R*))^(2/3) on four points or more, below 2e-4 m each.
    assert!((1.9 - 2e-3..1.9).contains(&top.z), "the top is at {} m", top.z);
    let support = loads::weight_supported(&state);
    assert!((support - 1.0).abs() < 1e-6, "the floor carries {support}");
    top.truncate().length() / 0.2
}

#[test]
fn towers_of_ten_equal_boxes_cylinders_and_mesh_cubes_stand() {
    let boxes = drift_of_a_tower(|world, place| add(world, CUBE, place, UPRIGHT), 2);
    assert!(boxes < 1e-4, "boxes: {boxes:e}");
    let turned = |world: &mut World, place: DVec3| add(world, CUBE, place, DQuat::from_rotation_z(place.z));
    let turned = drift_of_a_tower(turned, 2);
    assert!(turned < 1e-4, "boxes turned on each other: {turned:e}");
    let cylinders = drift_of_a_tower(|world, place| add(world, cylinder(0.1, 0.2), place, UPRIGHT), 2);
    assert!(cylinders < 1e-4, "cylinders: {cylinders:e}");
    let meshes = drift_of_a_tower(|world, place| add_mesh_cube(world, 0.1, place), 2);
    assert!(meshes < 1e-4, "meshes: {meshes:e}");
}

#[test]
fn a_plate_stands_on_a_narrower_pillar_and_not_beyond_its_edge() {
    let plate = Form::Box { half: DVec3::new(0.3, 0.3, 0.025) };
    for (beside, stands) in [(0.0, true), (0.097, true), (0.103, false)] {
        let mut world = on_floor(1e10, 0.5);
        add_fixed(&mut world, Form::Box { half: DVec3::splat(0.1) }, DVec3::new(0.0, 0.0, 0.1));
        add(&mut world, plate, DVec3::new(beside, 0.0, 0.225), UPRIGHT);
        let state = run(&world, &settings(50), 1000);
        let height = state.world.bodies.position[2].z;
        assert_eq!((height - 0.225).abs() < 1e-3, stands, "{beside} m beside: at {height} m");
    }
}

/// Centres of `count` bricks of this length \[m\] from below, each shifted by `factor` of what the harmonic overhang allows.
fn harmonic(count: u32, length: f64, factor: f64) -> Vec<f64> {
    let shift = |above: u32| factor * 0.5 * length / f64::from(above);
    (0..count).map(|i| (0..i).map(|below| shift(count - 1 - below)).sum()).collect()
}

#[test]
fn a_harmonic_overhang_stands_below_its_limit_and_falls_above() {
    let brick = Form::Box { half: DVec3::new(0.1, 0.05, 0.025) };
    let coin = cylinder(0.1, 0.05);
    // Sweeps start cold and have to carry the moments through the stack: with few of them it falls before they have.
    for (name, form, count, iterations) in [("bricks", brick, 5, 600), ("coins", coin, 4, 600)] {
        for (factor, stands) in [(0.97, true), (1.03, false)] {
            let mut world = on_floor(1e10, 0.5);
            for (i, x) in (0..).zip(harmonic(count, 0.2, factor)) {
                add(&mut world, form, DVec3::new(x, 0.0, 0.025 + 0.05 * f64::from(i)), UPRIGHT);
            }
            let state = run(&world, &settings(iterations), 500);
            let top = state.world.bodies.position[count as usize].z;
            let expected = 0.025 + 0.05 * f64::from(count - 1);
            assert_eq!((top - expected).abs() < 2e-3, stands, "{name} at {factor}: top at {top} m");
        }
    }
}

#[test]
fn a_ladder_slips_below_the_angle_of_its_friction() {
    // Rough floor, smooth wall: tan θ = 1/(2 μ).
    let (friction, length, thickness) = (0.4, 1.0, 0.02);
    for (factor, stands) in [(1.03f64, true), (0.97, false)] {
        let angle = (factor / (2.0 * friction)).atan();
        let mut materials = stone(friction, 0.0).list;
        let mut smooth = materials[0].clone();
        smooth.friction = 0.0;
        materials.push(smooth);
        let mut world = with_floor(-GRAVITY * DVec3::Z, Materials::new(materials));
        let wall =
            Surface::new(DVec3::ZERO, DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2), Form::Plane, 1);
        world.add_boundary(fixed("wall"), [wall]);
        let (sin, cos) = angle.sin_cos();
        let centre = 0.5 * DVec3::new(length * cos + thickness * sin, 0.0, length * sin + thickness * cos);
        let ladder = Form::Box { half: 0.5 * DVec3::new(length, 0.2, thickness) };
        add(&mut world, ladder, centre, DQuat::from_rotation_y(angle));
        let state = run(&world, &settings(100), 1000);
        let slipped = (state.world.bodies.position[2] - centre).length();
        assert_eq!(slipped < 1e-3, stands, "at {factor}: slipped {slipped} m");
    }
}

/// Place after a second of a box that slides over these tiles, and the greatest height of its centre \[m\], on each engine.
fn slide(tiles: &[(DVec3, DVec3)]) -> [(&'static str, DVec3, f64); 2] {
    let mut world = World::new(-GRAVITY * DVec3::Z, stone(0.1, 0.0));
    tiles.iter().for_each(|&(half, place)| add_fixed(&mut world, Form::Box { half }, place));
    add(&mut world, Form::Box { half: DVec3::splat(0.05) }, DVec3::new(0.0, 0.0, 0.05), UPRIGHT);
    let body = tiles.len();
    world.bodies.velocity[body] = DVec3::new(1.2, 0.1, 0.0);
    both(&world, &settings(50)).map(|mut engine| {
        let mut place = || {
            engine.advance(10).unwrap();
            engine.snapshot().unwrap().world.bodies.position[body]
        };
        let places: Vec<DVec3> = (0..100).map(|_| place()).collect();
        let highest = places.iter().map(|place| place.z).fold(f64::NEG_INFINITY, f64::max);
        (engine.identity().engine, places[99], highest)
    })
}

#[test]
fn a_box_slides_over_nine_flush_tiles_as_over_one_plate() {
    let tile = |i: i32, j: i32| {
        (DVec3::new(0.2, 0.2, 0.05), DVec3::new(-0.1 + 0.4 * f64::from(i), -0.4 + 0.4 * f64::from(j), -0.05))
    };
    let tiles: Vec<_> = (0..9).map(|k| tile(k / 3, k % 3)).collect();
    let plate = slide(&[(DVec3::new(2.0, 2.0, 0.05), DVec3::new(0.0, 0.0, -0.05))]);
    // v t - μ g t²/2, less what the box slides while it settles.
    let way = (1.2f64 * 1.2 + 0.01).sqrt() - 0.5 * 0.1 * GRAVITY;
    for ((name, over_tiles, highest), (_, over_plate, _)) in slide(&tiles).into_iter().zip(plate) {
        assert!((over_plate.truncate().length() / way - 1.0).abs() < 1e-3, "{name}: {over_plate}");
        assert!(
            (over_tiles - over_plate).length() < 1e-4 * way,
            "{name}: {over_tiles} over tiles, {over_plate} over a plate"
        );
        assert!(highest < 0.05 * (1.0 + 1e-4), "{name}: a bump of {} m", highest - 0.05);
    }
}

/// Each point of a manifold resists rolling with its own impulse, so a cylinder starts to roll where tan θ passes μ_r, and then with
/// 2/3 g (sin θ - μ_r cos θ), as one point of contact would.
#[test]
fn a_cylinder_with_rolling_resistance_rolls_beyond_its_angle_alone() {
    const RESISTANCE: f64 = 0.2;
    let orientation = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    for (factor, rolls) in [(0.9, false), (1.5, true)] {
        let (sin, cos) = f64::atan(factor * RESISTANCE).sin_cos();
        let mut materials = stone(0.9, 0.0).list;
        (materials[0].rolling_resistance, materials[0].youngs_modulus) = (RESISTANCE, 1e9);
        let mut world = with_floor(GRAVITY * DVec3::new(sin, 0.0, -cos), Materials::new(materials));
        // Half the length is the radius: R* of the cylinder is its radius.
        add(&mut world, cylinder(0.1, 0.2), DVec3::new(0.0, 0.0, 0.1), orientation);
        let smooth = Settings { method: Method::Smooth, time_step: 2e-5, ..Settings::default() };
        let runs = both(&world, &settings(50)).map(|engine| (engine, 300));
        for (mut engine, steps) in runs.into_iter().chain([(Box::new(cpu(&world, &smooth)) as _, 15_000)]) {
            let engine: &mut dyn Engine = &mut *engine;
            engine.advance(steps).unwrap();
            let state = engine.snapshot().unwrap();
            let way = state.world.bodies.position[1].x;
            let accelerated = 2.0 / 3.0 * GRAVITY * (sin - RESISTANCE * cos) * 0.5 * 0.3 * 0.3;
            let name = format!("{}, {} s", engine.identity().engine, state.substep);
            if rolls {
                assert!((way / accelerated - 1.0).abs() < 0.02, "{name}: {way} m, expected {accelerated}");
            } else {
                assert!(way.abs() < 1e-4, "{name}: it rolls by {way} m");
            }
        }
    }
}

#[test]
fn a_rolling_cylinder_keeps_its_speed_as_its_rim_is_a_circle() {
    let mut world = on_floor(1e9, 0.5);
    let orientation = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    add(&mut world, cylinder(0.1, 0.2), DVec3::new(0.0, 0.0, 0.1), orientation);
    world.bodies.velocity[1] = DVec3::new(1.0, 0.0, 0.0);
    world.bodies.angular_velocity[1] = DVec3::new(0.0, 10.0, 0.0);
    let mut engine = cpu(&world, &settings(50));
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for _ in 0..100 {
        engine.advance(10).unwrap();
        let state = engine.snapshot().unwrap();
        let z = state.world.bodies.position[1].z;
        (low, high) = (low.min(z), high.max(z));
    }
    let state = engine.snapshot().unwrap();
    assert!((state.world.bodies.velocity[1].x - 1.0).abs() < 1e-3, "{}", state.world.bodies.velocity[1]);
    // A polygon of 16 sides would rise and fall by 1.9 % of its radius.
    assert!(high - low < 1e-4 * 0.1 + 2e-5, "rises and falls by {} m", high - low);
}

#[test]
fn contacts_of_solids_have_a_point_each_and_carry_the_weight() {
    let mut world = on_floor(1e9, 0.5);
    add(&mut world, CUBE, DVec3::new(0.0, 0.0, 0.1), UPRIGHT);
    add(&mut world, CUBE, DVec3::new(0.05, 0.0, 0.3), UPRIGHT);
    let state = run(&world, &settings(50), 300);
    let between = |a: u32, b: u32| {
        state.contacts.iter().filter(move |contact| contact.bodies == [a, b] && contact.impulse.normal > 0.0)
    };
    let weight = GRAVITY * 2500.0 * 0.008;
    for (bodies, cubes) in [([1, 0], 2.0), ([1, 2], 1.0)] {
        let carried: f64 =
            between(bodies[0], bodies[1]).map(|contact| contact.impulse.normal).sum::<f64>() / 1e-3;
        assert!((carried / weight - cubes).abs() < 1e-5, "{bodies:?}: {carried} N");
        let mut points: Vec<_> =
            between(bodies[0], bodies[1]).map(|contact| point_number(contact.key.b)).collect();
        points.dedup();
        assert_eq!(points.len(), 4, "{bodies:?}: {points:?}");
    }
}
