//! Meshes: grains touch them as they touch the exact surface, on both engines.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::*;
use esker::contact::constants::LawConstants;
use esker::contact::constraint::{Constraint, Onset};
use esker::contact::velocity::load_velocities;
use esker::contact::{ContactState, Impulse, Key};
use esker::cpu::narrowphase::{self};
use esker::cpu::patches::Patches;
use esker::engine::Engine;
use esker::gpu::GpuEngine;
use esker::gpu::shader::Edit;
use esker::law::pair::Material;
use esker::model::{
    Boundary, Form, Grain, Materials, Mesh, Motion, MotionLaw, MotionPart, MotionTiming, RigidBody, Side,
    Surface, World,
};
use esker::observe::packing;
use esker::oracle::all_pairs;
use esker::settings::{Method, Settings};
use glam::{DQuat, DVec3};

const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);
/// Radius of the grains \[m\].
const R: f64 = 0.01;
const SEARCH: [&str; 4] = ["search", "broadphase", "matching", "colouring"];

/// A square of an uneven net of triangles in z = 0, this many cells along each edge.
fn net(edge: f64, cells: usize) -> Mesh {
    let knot = |i: usize, j: usize| {
        let inside = |k: usize| if (1..cells).contains(&k) { 0.3 } else { 0.0 };
        let (shift_x, shift_y) = ((7 * i + 3 * j) as f64, (5 * i + 11 * j) as f64);
        let x = i as f64 + inside(i) * shift_x.sin();
        let y = j as f64 + inside(j) * shift_y.sin();
        edge * (DVec3::new(x, y, 0.0) / cells as f64 - DVec3::new(0.5, 0.5, 0.0))
    };
    let cells = (0..cells).flat_map(|i| (0..cells).map(move |j| (i, j)));
    let triangles = cells.flat_map(|(i, j)| {
        let [a, b, c, d] = [knot(i, j), knot(i + 1, j), knot(i + 1, j + 1), knot(i, j + 1)];
        if (i + j) % 2 == 0 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
    });
    Mesh::new("net", &triangles.collect::<Vec<_>>()).unwrap()
}

/// Twelve triangles around a box.
pub fn box_mesh(half: DVec3) -> Mesh {
    let face = |axis: usize, end: f64| {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let corner = |a: f64, b: f64| {
            let mut place = DVec3::ZERO;
            (place[axis], place[u], place[v]) = (end, a * end, b);
            half * place
        };
        let [a, b, c, d] = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
        [[a, b, c], [a, c, d]]
    };
    let triangles: Vec<_> = (0..3).flat_map(|axis| [face(axis, -1.0), face(axis, 1.0)]).flatten().collect();
    Mesh::new("box", &triangles).unwrap()
}

fn with_mesh(mesh: Mesh, position: DVec3, orientation: DQuat, friction: f64) -> World {
    let mut world = World::new(GRAVITY, stone(friction, 0.0));
    let surfaces = world.mesh_surfaces(Arc::new(mesh), position, orientation, 0);
    world.add_boundary(fixed("mesh"), surfaces);
    world
}

fn with_form(form: Form, position: DVec3, orientation: DQuat, friction: f64) -> World {
    let mut world = World::new(GRAVITY, stone(friction, 0.0));
    world.add_boundary(fixed("form"), [Surface::new(position, orientation, form, 0)]);
    world
}

fn dynamic(name: &str, body: RigidBody) -> Boundary {
    Boundary { motion: Motion::Dynamic(body), ..fixed(name) }
}

/// Positions of the same grains in two worlds after `steps` steps: per engine, those of the first and of the second world.
fn side_by_side(worlds: [World; 2], settings: &Settings, steps: u64) -> [[Vec<DVec3>; 2]; 2] {
    let run = |engine: &mut dyn Engine| {
        engine.advance(steps).unwrap();
        engine.snapshot().unwrap().world.bodies.position
    };
    let [one, other] = worlds.map(|world| both(&world, settings).map(|mut engine| run(engine.as_mut())));
    let ([one_cpu, one_gpu], [other_cpu, other_gpu]) = (one, other);
    [[one_cpu, other_cpu], [one_gpu, other_gpu]]
}

#[test]
fn a_sphere_rolls_over_the_seams_of_a_net_as_on_a_plane() {
    // Triangles a third of the radius, the radius and twenty radii large.
    for cells in [300, 100, 5] {
        let turn = DQuat::from_axis_angle(DVec3::new(0.3, 1.0, 0.2).normalize(), 0.4);
        let at = DVec3::new(3.0, -2.0, 1.0);
        let mut worlds = [with_mesh(net(1.0, cells), at, turn, 0.5), with_form(Form::Plane, at, turn, 0.5)];
        for world in &mut worlds {
            let start = at + turn * DVec3::new(-0.3, 0.02, R);
            let spin = DVec3::new(0.0, 1.0 / R, 0.0);
            world.add_grains([Grain {
                angular_velocity: turn * spin,
                velocity: turn * DVec3::X,
                ..Grain::at(start, R, 0)
            }]);
            world.gravity = turn * GRAVITY;
        }
        let settings = Settings { time_step: 1e-3, iterations: 20, ..Settings::default() };
        let [cpu, gpu] = side_by_side(worlds, &settings, 500);
        for ([mesh, plane], (name, bound)) in [cpu, gpu].into_iter().zip([("cpu", 1e-12), ("gpu", 3e-6)]) {
            assert!(plane[1].distance(at) > 0.15, "{name}: rolled to {}", plane[1]);
            let apart = mesh[1].distance(plane[1]);
            assert!(apart < bound, "{name}, {cells} cells: {apart:e} m apart");
        }
    }
}

#[test]
fn grains_fall_on_a_box_of_triangles_as_on_a_box() {
    let half = DVec3::new(0.05, 0.04, 0.03);
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 0.5, 0.2).normalize(), 0.6);
    let mut worlds = [
        with_mesh(box_mesh(half), DVec3::ZERO, turn, 0.3),
        with_form(Form::Box { half }, DVec3::ZERO, turn, 0.3),
    ];
    // Grains too far from each other ever to meet, all over the box, its edges and its corners.
    let places = (0..20).flat_map(|i| (0..20).map(move |j| (f64::from(i), f64::from(j))));
    let grain = |(k, (i, j)): (usize, (f64, f64))| {
        let height = 0.09 + 3.0 * R * (k % 7) as f64;
        Grain::at(DVec3::new(0.008 * (i - 9.5), 0.008 * (j - 9.5), height), 0.003, 0)
    };
    for world in &mut worlds {
        world.add_grains(places.clone().enumerate().filter(|(k, _)| k % 3 == 0).map(grain));
    }
    let settings = Settings { time_step: 1e-3, iterations: 30, ..Settings::default() };
    let [cpu, gpu] = side_by_side(worlds, &settings, 200);
    for ([mesh, form], (name, bound)) in [cpu, gpu].into_iter().zip([("cpu", 1e-9), ("gpu", 2e-4)]) {
        let mut apart: Vec<f64> = mesh.iter().zip(&form).map(|(a, b)| a.distance(*b)).collect();
        apart.sort_by(f64::total_cmp);
        assert!(apart[apart.len() - 1] < bound, "{name}: {:e} m apart", apart[apart.len() - 1]);
    }
}

#[test]
fn the_pairs_with_patches_are_those_that_trying_all_finds() {
    let mut world = with_mesh(box_mesh(DVec3::splat(0.05)), DVec3::X, DQuat::from_rotation_y(0.3), 0.3);
    let mesh = net(0.2, 9);
    let surfaces = world.mesh_surfaces(Arc::new(mesh), DVec3::X, DQuat::from_rotation_x(0.8), 0);
    world.add_boundary(fixed("net"), surfaces);
    let place = |i: usize| {
        let place = (1.0 + i as f64) * DVec3::new(0.819_172_513_396, 0.671_043_606_704, 0.549_700_477_902);
        DVec3::X + 0.2 * (place - place.floor()) - DVec3::splat(0.1)
    };
    world.add_grains((0..600).map(|i| Grain::at(place(i), 0.3 * R, 0)));
    let settings = Settings { time_step: 1e-4, ..Settings::default() };
    let expected = all_pairs(&world, settings.reach());
    let with_patch = expected.iter().filter(|key| key.b < world.first_grain_shape()).count();
    assert!(with_patch > 30, "{with_patch}");
    assert_eq!(esker::cpu::broadphase::find_pairs(&world, settings.reach()), expected);
    let mut gpu = gpu(&world, &settings);
    let snapshot = gpu.snapshot().unwrap();
    let cpu = cpu(&world, &settings).snapshot().unwrap();
    let keys = |contacts: &[ContactState]| contacts.iter().map(|c| c.key).collect::<Vec<_>>();
    assert_eq!(keys(&snapshot.contacts), keys(&cpu.contacts));
    // Seams that are no edges give no contacts.
    assert!(cpu.contacts.len() < expected.len());
}

#[test]
fn a_grain_that_is_pressed_through_a_sheet_comes_back_on_its_side() {
    let mut world = with_mesh(net(0.2, 7), DVec3::ZERO, DQuat::IDENTITY, 0.3);
    let soft = Material { youngs_modulus: 1e5, ..world.materials.list[0].clone() };
    world.materials = Materials::new(vec![soft]);
    world.add_grains([Grain::at(DVec3::new(0.004, 0.003, 0.99 * R), R, 0)]);
    let modulus = 1e5 / (2.0 * (1.0 - 0.25 * 0.25));
    // The force is a thousand times the weight. The velocity that it causes within a step must not count as an impact.
    let settings =
        Settings { time_step: 1e-4, iterations: 10, impact_threshold: 10.0, ..Settings::default() };
    // Force of an overlap of 1.4 radii by Hertz's law.
    let force = 4.0 / 3.0 * modulus * R.sqrt() * (1.4 * R).powf(1.5);
    for engine in &mut both(&world, &settings) {
        let name = engine.identity().engine;
        engine.advance(100).unwrap();
        for share in 1..=10 {
            let force = 0.1 * f64::from(share) * force;
            engine.change(&mut |world| world.set_force(1, DVec3::NEG_Z * force, DVec3::ZERO)).unwrap();
            engine.advance(200).unwrap();
        }
        let pressed = engine.snapshot().unwrap().world.bodies.position[1].z;
        assert!((-0.6 * R..-0.1 * R).contains(&pressed), "{name}: pressed to {pressed} m");
        engine.change(&mut |world| world.set_force(1, DVec3::ZERO, DVec3::ZERO)).unwrap();
        engine.advance(500).unwrap();
        let back = engine.snapshot().unwrap().world.bodies.position[1].z;
        assert!(back > 0.9 * R, "{name}: {back} m");
    }
}

/// A grain in flight that crosses a sheet in the middle of a step returns to the side that it came from: at a face, an edge and a corner of
/// a box of sheets, from inside and from outside.
#[test]
fn a_grain_that_comes_through_a_sheet_in_flight_goes_back() {
    let settings = Settings { time_step: 1e-3, ..Settings::default() };
    let mut world = with_mesh(box_mesh(DVec3::splat(0.1)).into_sheet(), DVec3::ZERO, DQuat::IDENTITY, 0.3);
    world.gravity = DVec3::ZERO;
    // A step moves the grain by 1.7 radii: from 1.3 radii in front of the sheet, where no contact is listed, to 0.4 radii behind it.
    let speed = 1.7 * R / settings.time_step;
    let [diagonal, corner] = [DVec3::new(1.0, 0.0, 1.0), DVec3::ONE].map(DVec3::normalize);
    let aims = [
        (DVec3::new(0.1, 0.03, 0.01), DVec3::X),
        (DVec3::new(0.1, -0.03, 0.1), diagonal),
        (DVec3::splat(0.1), corner),
        (DVec3::new(0.1, 0.05, -0.09), DVec3::new(1.0, 0.1, 0.2).normalize()),
    ];
    let flights = aims.into_iter().flat_map(|(place, direction)| {
        [-1.0, 1.0].map(|side| (place - 1.3 * side * R * direction, side * speed * direction))
    });
    let with_grain = |position: DVec3, velocity: DVec3| {
        let mut world = world.clone();
        world.add_grains([Grain { velocity, ..Grain::at(position, R, 0) }]);
        world
    };
    let is_inside = |place: DVec3| place.abs().max_element() < 0.1;
    let fly = |engine: &mut dyn Engine| {
        engine.advance(30).unwrap();
        engine.snapshot().unwrap().world.bodies.position[1]
    };
    for (start, velocity) in flights {
        for engine in &mut both(&with_grain(start, velocity), &settings) {
            let place = fly(engine.as_mut());
            let name = engine.identity().engine;
            assert_eq!(is_inside(place), is_inside(start), "{name}: from {start} to {place}");
        }
    }
    let mut broken = gpu(&with_grain(DVec3::new(0.1 - 1.3 * R, 0.03, 0.01), speed * DVec3::X), &settings);
    let from = "return params.h * speed_from(index, surface_index, nearest) > nearest.distance;";
    broken.edit_shaders(&[Edit { from, to: "return false;" }]).unwrap();
    assert!(!is_inside(fly(&mut broken)), "a grain that gets out must show");
}

/// A brick of triangles, whose vertices are listed off its centre, moves like a brick of the exact form: it meets grains in flight and then
/// the floor with its corners. The contacts are solved until they are exact, because contacts that take no part get a share of the brick's
/// mass, too.
#[test]
fn a_brick_of_triangles_moves_as_a_brick() {
    let half = DVec3::new(0.03, 0.02, 0.015);
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 0.4, 0.2).normalize(), 0.7);
    let moving = |body: RigidBody| RigidBody {
        velocity: DVec3::new(0.0, 0.0, -0.6),
        angular_velocity: DVec3::new(3.0, -2.0, 1.0),
        ..body
    };
    let mut exact = with_floor(DVec3::ZERO, stone(0.4, 0.1));
    let solid = RigidBody::solid(Form::Box { half }, 2500.0).unwrap();
    let brick = Boundary { position: 0.1 * DVec3::Z, orientation: turn, ..dynamic("brick", moving(solid)) };
    exact.add_boundary(brick, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Box { half }, 0)]);

    let shift = DVec3::new(0.5, -0.2, 0.1);
    let listed = box_mesh(half);
    let listed = (0..12).map(|i| listed.corners(i).map(|corner| corner + shift));
    let mesh = Mesh::new("brick", &listed.collect::<Vec<_>>()).unwrap();
    let (body, middle, axes) = RigidBody::inside(&mesh, 2500.0);
    assert!((body.mass / solid.mass - 1.0).abs() < 1e-12 && middle.distance(shift) < 1e-12);
    let mut world = with_floor(DVec3::ZERO, stone(0.4, 0.1));
    let surfaces = world.mesh_surfaces(Arc::new(mesh), -(axes.conjugate() * middle), axes.conjugate(), 0);
    let orientation = turn * axes;
    let brick = Boundary { position: 0.1 * DVec3::Z, orientation, ..dynamic("brick", moving(body)) };
    world.add_boundary(brick, surfaces);
    assert_eq!(world.vertices.len(), 1, "the brick is a convex solid");

    let mut worlds = [world, exact];
    for world in &mut worlds {
        // One grain meets a face, the other an edge.
        world.add_grains(
            [DVec3::new(0.01, 0.0, 0.065), DVec3::new(-0.033, 0.008, 0.06)]
                .map(|place| Grain::at(place, 0.007, 0)),
        );
    }
    let settings =
        Settings { time_step: 1e-3, iterations: 60, impact_iterations: 100, ..Settings::default() };
    let [cpu, gpu] = side_by_side(worlds, &settings, 150);
    for ([mesh, form], (name, bound)) in [cpu, gpu].into_iter().zip([("cpu", 1e-9), ("gpu", 1e-5)]) {
        assert!(mesh[1].z < 0.05 && mesh[2].z < 0.064 && mesh[3].z < 0.059, "{name}: nothing met: {mesh:?}");
        let apart = (1..4).map(|i| mesh[i].distance(form[i])).fold(0.0, f64::max);
        assert!(apart < bound, "{name}: {apart:e} m apart");
    }
}

/// Wall of a cylinder about y, made of `sides` facets.
fn tube(radius: f64, length: f64, sides: usize) -> Mesh {
    let at = |side: usize, end: f64| {
        let (sine, cosine) = (std::f64::consts::TAU * (side % sides) as f64 / sides as f64).sin_cos();
        DVec3::new(radius * cosine, 0.5 * end * length, radius * sine)
    };
    let facet = |side| {
        let [a, b, c, d] = [at(side, -1.0), at(side, 1.0), at(side + 1, 1.0), at(side + 1, -1.0)];
        [[a, b, c], [a, c, d]]
    };
    Mesh::new("tube", &(0..sides).flat_map(facet).collect::<Vec<_>>()).unwrap()
}

/// A drum of fine facets carries a bed up its side as a cylinder does, by friction at the wall: the bed's centre of mass agrees within 3 %
/// of the radius. Coarse facets, in whose hollows grains lie, carry the bed higher, by more than 6 % of the radius.
#[test]
fn a_drum_of_facets_carries_a_bed_as_a_cylinder_does() {
    let (radius, length) = (0.06, 0.03);
    let law = MotionLaw::Rotation { point: DVec3::ZERO, rate: 2.0 * DVec3::Y };
    let timing = MotionTiming { start: Some(0.2), ..MotionTiming::default() };
    let motion = Motion::Kinematic(vec![MotionPart { law, timing }]);
    let drum = Boundary { motion, ..fixed("drum") };
    let bed = |surfaces: &dyn Fn(&mut World) -> Vec<Surface>| {
        let mut world = World::new(GRAVITY, stone(0.25, 0.1));
        let surfaces = surfaces(&mut world);
        world.add_boundary(drum.clone(), surfaces);
        let side = |y: f64| {
            let normal = DQuat::from_rotation_arc(DVec3::Z, -y.signum() * DVec3::Y);
            Surface::new(y * DVec3::Y, normal, Form::Plane, 0)
        };
        world.add_boundary(fixed("sides"), [side(-0.5 * length), side(0.5 * length)]);
        let place = |i: usize| {
            let (column, layer) = (i % 24, i / 24);
            let jitter = 2e-4 * ((7 * i) as f64).sin();
            DVec3::new(
                0.0085 * (column / 3) as f64 - 0.03 + jitter,
                0.0085 * (column % 3) as f64 - 0.0085 - jitter,
                0.0085 * layer as f64 - 0.035,
            )
        };
        world.add_grains((0..120).map(|i| Grain::at(place(i), 0.004, 0)));
        let settings = Settings { time_step: 2e-3, iterations: 30, ..Settings::default() };
        let mut engine = cpu(&world, &settings);
        engine.advance(300).unwrap();
        let centre = |steps: u64, engine: &mut dyn Engine| {
            engine.advance(steps).unwrap();
            packing::centre_of_mass(&engine.snapshot().unwrap())
        };
        // Mean over one second, in which the bed slides back now and then.
        (0..50).map(|_| centre(10, &mut engine)).sum::<DVec3>() / 50.0
    };
    let wall = Form::Wall { bottom_radius: radius, top_radius: radius, length, side: Side::Inside };
    let about_y = DQuat::from_rotation_arc(DVec3::Z, DVec3::Y);
    let exact = bed(&|_| vec![Surface::new(DVec3::ZERO, about_y, wall, 0)]);
    let of_facets = |sides: usize| {
        bed(&|world| {
            world.mesh_surfaces(Arc::new(tube(radius, length, sides)), DVec3::ZERO, DQuat::IDENTITY, 0)
        })
    };
    let (fine, coarse) = (of_facets(360), of_facets(8));
    assert!(exact.x.abs() > 0.005, "the wall carries the bed: {exact}");
    assert!(fine.distance(exact) < 0.03 * radius, "{fine}, exact {exact}");
    assert!(coarse.distance(exact) > 0.06 * radius, "an octagon must show: {coarse}, exact {exact}");
}

/// A brick that bounces on its corners comes to rest on a net as on a plane: a vertex that an impact throws back counts as on the side that
/// it came from.
#[test]
fn a_brick_that_bounces_comes_to_rest_on_a_net() {
    let half = DVec3::new(0.04, 0.03, 0.03);
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 0.3, 0.2).normalize(), 0.7);
    let brick = Boundary {
        position: 0.12 * DVec3::Z,
        orientation: turn,
        ..dynamic("brick", RigidBody::solid(Form::Box { half }, 2500.0).unwrap())
    };
    let mut world = World::new(GRAVITY, stone(0.3, 0.5));
    let surfaces = world.mesh_surfaces(Arc::new(net(0.6, 7)), DVec3::ZERO, DQuat::IDENTITY, 0);
    world.add_boundary(fixed("net"), surfaces);
    world.add_boundary(brick, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Box { half }, 0)]);
    let settings = Settings { time_step: 1e-3, iterations: 30, ..Settings::default() };
    for engine in &mut both(&world, &settings) {
        engine.advance(1200).unwrap();
        let state = engine.snapshot().unwrap();
        let (name, height) = (engine.identity().engine, state.world.bodies.position[1].z);
        assert!((height - 0.03).abs() < 1e-3, "{name}: rests at {height} m");
        let deepest = state.contacts.iter().map(|contact| -contact.gap).fold(0.0, f64::max);
        assert!((1e-7..1e-4).contains(&deepest), "{name}: presses {deepest:e} m deep");
    }
}

/// Grains of 400 different speeds, so that each meets the net in another part of a step.
#[test]
fn no_grain_gets_through_a_net_as_long_as_a_step_is_less_than_two_radii() {
    let mut world = with_mesh(net(1.0, 9), DVec3::ZERO, DQuat::IDENTITY, 0.3);
    let grain = |i: u32| {
        let place = DVec3::new(0.04 * f64::from(i % 20) - 0.4, 0.04 * f64::from(i / 20) - 0.4, 0.05);
        let velocity = DVec3::new(0.3, 0.2, -4.0 - 0.03 * f64::from(i));
        Grain { velocity, ..Grain::at(place, R, 0) }
    };
    world.add_grains((0..400).map(grain));
    let settings = Settings { time_step: 1e-3, ..Settings::default() };
    for engine in &mut both(&world, &settings) {
        engine.advance(40).unwrap();
        let state = engine.snapshot().unwrap();
        let through = state.world.bodies.position[1..].iter().filter(|place| place.z < 0.0).count();
        assert_eq!(through, 0, "{}", engine.identity().engine);
    }
}

/// Orientation of one side of a valley along y, whose sides rise by `angle` from its bottom at x = z = 0: the side of negative x (`side` =
/// -1) or of positive x (1).
fn slope(angle: f64, side: f64) -> DQuat {
    DQuat::from_rotation_y(-side * angle)
}

/// Two worlds in which a ball rolls into a valley: one valley made of triangles, the same valley made of two planes.
fn valleys(degrees: f64) -> [World; 2] {
    let angle = degrees.to_radians();
    let side = |end: f64| {
        let turn = slope(angle, end);
        let at =
            move |i: usize, j: usize| turn * DVec3::new(0.02 * end * i as f64, 0.02 * j as f64 - 0.2, 0.0);
        let cells = (0..20).flat_map(|i| (0..20).map(move |j| (i, j)));
        cells.flat_map(move |(i, j)| {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            [[a, b, c], [a, c, d]]
        })
    };
    let valley: Vec<[DVec3; 3]> = side(-1.0).chain(side(1.0)).collect();
    let valley = Mesh::new("valley", &valley).unwrap();
    assert_eq!(valley.patches.len(), 2);
    let mut planes = World::new(GRAVITY, stone(0.5, 0.0));
    let plane = |end: f64| Surface::new(DVec3::ZERO, slope(angle, end), Form::Plane, 0);
    planes.add_boundary(fixed("planes"), [plane(-1.0), plane(1.0)]);
    let mut worlds = [with_mesh(valley, DVec3::ZERO, DQuat::IDENTITY, 0.5), planes];
    for world in &mut worlds {
        let start = slope(angle, -1.0) * DVec3::new(-0.1, 0.003, R);
        let velocity = slope(angle, -1.0) * DVec3::new(0.6, 0.05, 0.0);
        world.add_grains([Grain { velocity, ..Grain::at(start, R, 0) }]);
    }
    worlds
}

/// After so many steps the ball is beyond the bottom by at least this much \[m\], in the valley of triangles where it is between the
/// planes, on both engines. Returns where the CPU engine has it between the planes.
fn assert_rolls_as_between_planes(settings: &Settings, steps: u64, beyond: f64) -> DVec3 {
    let of_engines = side_by_side(valleys(4.0), settings, steps);
    for ([mesh, planes], (name, bound)) in of_engines.iter().zip([("cpu", 1e-9), ("gpu", 1e-5)]) {
        assert!(planes[1].x > beyond, "{name}: the ball came to {}", planes[1]);
        let apart = mesh[1].distance(planes[1]);
        assert!(apart < bound, "{name}: {apart:e} m apart");
    }
    of_engines[0][1][1]
}

/// The seams of one side of the valley are no edges for a ball that is over the other side.
#[test]
fn a_ball_rolls_through_a_valley_of_triangles_as_between_two_planes() {
    let settings = Settings { time_step: 2e-3, iterations: 20, ..Settings::default() };
    assert_rolls_as_between_planes(&settings, 200, 0.02);
    let [mesh, planes] = valleys(4.0);
    let place = |world: &World, edits: &[Edit]| {
        let mut gpu = gpu(world, &settings);
        if !edits.is_empty() {
            gpu.edit_shaders(edits).unwrap();
        }
        gpu.advance(200).unwrap();
        gpu.snapshot().unwrap().world.bodies.position[1]
    };
    let exact = place(&planes, &[]);
    for (from, to) in [
        ("if root != i {", "if false {"),
        ("let is_hollow = is_hollow_at(contacts[i], contacts[root].place);", "let is_hollow = false;"),
    ] {
        let apart = place(&mesh, &[Edit { from, to }]).distance(exact);
        assert!(apart > 3e-5, "{from} -> {to} must show: {apart:e} m");
    }
}

/// The springs of the smooth method move with the ball from the face that it leaves to the face that it is over.
#[test]
fn springs_take_a_ball_over_seams_as_over_planes() {
    let settings = Settings { method: Method::Smooth, time_step: 4e-5, ..Settings::default() };
    let place = assert_rolls_as_between_planes(&settings, 6_000, R);
    // A valley steeper by a hundredth of a degree must give another place.
    let [_, steeper] = valleys(4.01);
    let mut engine = cpu(&steeper, &settings);
    engine.advance(6_000).unwrap();
    let apart = engine.snapshot().unwrap().world.bodies.position[1].distance(place);
    assert!(apart > 2e-5, "the comparison can fail: {apart:e} m");
}

/// Grains in a heap on a plate of triangles, thinner than they are, which stands in a net.
fn heap(is_solid: bool) -> World {
    let plate = box_mesh(DVec3::new(0.03, 0.02, 1e-4));
    let plate = if is_solid { plate } else { plate.into_sheet() };
    let mut world = with_mesh(plate, DVec3::ZERO, DQuat::from_rotation_y(0.3), 0.4);
    let surfaces = world.mesh_surfaces(Arc::new(net(0.2, 23)), DVec3::ZERO, DQuat::from_rotation_x(0.1), 0);
    world.add_boundary(fixed("net"), surfaces);
    let place = |i: usize| {
        let place = (1.0 + i as f64) * DVec3::new(0.819_172_513_396, 0.671_043_606_704, 0.549_700_477_902);
        0.12 * (place - place.floor()) * DVec3::new(1.0, 1.0, 0.7) + DVec3::new(-0.06, -0.06, 0.03)
    };
    world.add_grains((0..500).map(|i| Grain::at(place(i), 0.35 * R, 0)));
    world
}

/// Contacts of a sphere with one mesh that take part (their normal is not zero): normal, arm, linear impulse, rolling impulse.
type Group = Vec<[DVec3; 4]>;

/// Contacts with patches, grouped by sphere and mesh. A group is sorted by the length of the arm, which grows with the gap.
fn groups(
    world: &World,
    contacts: impl Iterator<Item = (Key, DVec3, DVec3, DVec3, DVec3)>,
) -> BTreeMap<(u32, u32), Group> {
    let mut groups = BTreeMap::<(u32, u32), Group>::new();
    for (key, normal, arm, linear, rolling) in contacts.filter(|(_, normal, ..)| *normal != DVec3::ZERO) {
        if let Some((_, patches)) = world.patches_with(key.b) {
            groups.entry((key.a, patches.start)).or_default().push([normal, arm, linear, rolling]);
        }
    }
    groups.values_mut().for_each(|group| group.sort_by(|a, b| a[1].length().total_cmp(&b[1].length())));
    groups
}

/// Compares the contacts of a heap with patches after the narrow phase of the GPU with those of the CPU twin; returns the first difference.
/// All contacts carry the same impulse, so that an impulse handed over to another contact shows. Two patches that meet at an edge are
/// equally near to a grain beside it, and rounding decides which of them it touches; therefore the contacts of a group are compared in the
/// order of their gaps.
fn difference_to_twin(gpu: &mut GpuEngine, settings: &Settings) -> Option<String> {
    let world = gpu.snapshot().unwrap().world;
    SEARCH.iter().for_each(|stage| gpu.run_stage(stage).unwrap());
    gpu.fill_words("impulses", 1e-6f32.to_bits());
    let (keys, colouring) = (gpu.keys().unwrap(), gpu.colouring().unwrap());
    let key = |place: usize| keys[colouring.order[place] as usize];
    let carried = |place: usize| {
        // Split along the normal that the CPU engine will use: it decides what is normal and what is tangential impulse.
        let linear = DVec3::splat(f64::from(1e-6f32));
        let normal = world.touch(key(place).a, key(place).b).unwrap().normal;
        let along = linear.dot(normal);
        Impulse { normal: along, tangent: linear - along * normal, rolling: linear }
    };
    let constraint = |place| Constraint { impulse: carried(place), ..Constraint::default() };
    let mut constraints: Vec<Constraint> = (0..keys.len()).map(constraint).collect();
    let mut onsets = vec![Onset::default(); keys.len()];
    let mut patches = Patches::new(&world, &keys, &colouring, &Patches::default());
    patches.find_normals(&world);
    let law = LawConstants::new(settings);
    let mut velocities = Vec::new();
    load_velocities(&world, law.h, law.h, &mut velocities);
    narrowphase::fill_constraints(
        &world,
        &law,
        &keys,
        &colouring,
        &mut patches,
        &velocities,
        (&mut constraints, &mut onsets),
    );
    gpu.run_stage("narrowphase").unwrap();
    let (heads, impulses) = (gpu.constraints().unwrap(), gpu.impulses().unwrap());
    let vector = |values: &[f32]| DVec3::new(values[0].into(), values[1].into(), values[2].into());
    let expected = (0..keys.len()).map(|place| {
        let constraint = &constraints[place];
        let linear = constraint.impulse.linear(constraint.normal);
        (key(place), constraint.normal, constraint.arm_a, linear, constraint.impulse.rolling)
    });
    let found = (0..keys.len()).map(|place| {
        let ((head, arms), impulse) = (&heads[place], &impulses[place]);
        let (normal, arm) = (vector(&head.normal), vector(&arms.arm_a));
        (key(place), normal, arm, vector(impulse), vector(&impulse[3..]))
    });
    let (expected, found) = (groups(&world, expected), groups(&world, found));
    let listed = keys.iter().filter(|key| world.patches_with(key.b).is_some()).count();
    let taking_part: usize = expected.values().map(Vec::len).sum();
    assert!(expected.len() > 100 && listed > taking_part + 10, "{listed} listed, {taking_part} take part");
    expected.iter().find_map(|(of, expected)| {
        let found = found.get(of).cloned().unwrap_or_default();
        let is_near = |(one, other): (&[DVec3; 4], &[DVec3; 4])| {
            let bounds = [1e-4, 1e-6, 1e-10, 1e-10];
            (0..4).all(|i| one[i].distance(other[i]) < bounds[i])
        };
        let are_same = expected.len() == found.len() && expected.iter().zip(&found).all(is_near);
        (!are_same).then(|| format!("{of:?}: {expected:?} and {found:?}"))
    })
}

#[test]
fn contacts_with_patches_are_joined_as_by_the_twin() {
    let settings = Settings { time_step: 1e-3, ..Settings::default() };
    let of_sheet = &[
        &[][..],
        &[("if root != i {", "if false {")],
        &[("hand_impulse_over(contacts[i].place, contacts[root].place);", "")],
        &[("gap < least || (gap == least && other < best)", "gap > least")],
    ][..];
    let of_solid = &[
        &[][..],
        &[("is_inside(root) || !is_within_reach(i)", "false")],
        &[("hand_impulse_over(contacts[i].place, contacts[to].place);", "")],
    ][..];
    for (is_solid, all) in [(false, of_sheet), (true, of_solid)] {
        let mut settled = gpu(&heap(is_solid), &settings);
        settled.advance(200).unwrap();
        let settled = settled.snapshot().unwrap().world;
        for edits in all {
            let mut gpu = gpu(&settled, &settings);
            gpu.advance(1).unwrap();
            let edits: Vec<Edit> = edits.iter().map(|&(from, to)| Edit { from, to }).collect();
            if !edits.is_empty() {
                gpu.edit_shaders(&edits).unwrap();
            }
            let difference = difference_to_twin(&mut gpu, &settings);
            let found = difference.as_deref().unwrap_or_default();
            assert_eq!(difference.is_some(), !edits.is_empty(), "{edits:?}: {found}");
        }
    }
}
