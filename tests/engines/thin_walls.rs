//! Polyhedral grains on thin walls and discs: rims, outsides, curved insides, and joints of walls that go on in one another.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::sync::Arc;

use crate::common::*;
use esker::engine::Engine;
use esker::law::pair::Material;
use esker::model::{Boundary, Clump, Form, Grain, Materials, Mesh, Motion, Side, Surface, World};
use esker::settings::Settings;
use esker::shape::Convex;
use glam::{DQuat, DVec3};

/// Half the edge of the cubes \[m\].
const HALF: f64 = 0.01;
/// Radius of the walls \[m\].
const RADIUS: f64 = 0.1;

/// The inside of a cylinder of this length \[m\].
fn cylinder(length: f64, side: Side) -> Form {
    Form::Wall { bottom_radius: RADIUS, top_radius: RADIUS, length, side }
}

/// One grain of these half edges at this place, among the given fixed surfaces, without friction.
fn among(surfaces: &[(DVec3, DQuat, Form)], half: DVec3, place: DVec3) -> World {
    let stiff = Material { youngs_modulus: 1e9, ..stone(0.0, 0.0).list[0].clone() };
    let mut world = World::new(-9.81 * DVec3::Z, Materials::new(vec![stiff]));
    for (index, &(position, orientation, form)) in surfaces.iter().enumerate() {
        let surface = Surface::new(position, orientation, form, 0);
        world.add_boundary(fixed(&format!("wall {index}")), vec![surface]);
    }
    add_grain(&mut world, half, place);
    world
}

fn add_grain(world: &mut World, half: DVec3, place: DVec3) {
    let clump = Clump::of_hull("slab", &Convex::cuboid(half));
    let radius = (clump.volume * 0.75 / std::f64::consts::PI).cbrt();
    world.clumps = vec![clump];
    world.add_grains([Grain { clump: Some(0), ..Grain::at(place, radius, 0) }]);
}

fn settings() -> Settings {
    Settings { time_step: 1e-3, iterations: 60, ..Settings::default() }
}

/// Place and velocity of the grain after these steps of an engine.
fn run(engine: &mut dyn Engine, steps: u64) -> (DVec3, DVec3) {
    engine.advance(steps).unwrap();
    let bodies = engine.snapshot().unwrap().world.bodies;
    (*bodies.position.last().unwrap(), *bodies.velocity.last().unwrap())
}

/// Place and velocity of the grain after these steps of the CPU engine.
fn after(world: &World, steps: u64) -> (DVec3, DVec3) {
    run(&mut cpu(world, &settings()), steps)
}

/// Places of the grain after these steps of each engine.
fn places(world: &World, steps: u64) -> [DVec3; 2] {
    both(world, &settings()).map(|mut engine| run(&mut *engine, steps).0)
}

#[test]
fn a_slab_lies_on_the_rim_of_a_pipe_and_one_that_fits_falls_through() {
    let pipe = [(DVec3::ZERO, DQuat::IDENTITY, cylinder(0.2, Side::Inside))];
    let slab = |half: DVec3| among(&pipe, half, DVec3::new(0.003, -0.002, 0.1 + HALF));
    let is_held = |place: DVec3| (place - DVec3::new(0.003, -0.002, 0.1 + HALF)).length() < 5e-5;
    // Longer than the pipe is wide in one direction: none of its corners is over the wall.
    let held = places(&slab(DVec3::new(0.13, 0.03, HALF)), 300);
    assert!(held.map(is_held) == [true; 2], "{held:?}");
    let wide = slab(DVec3::new(0.13, 0.13, HALF));
    assert!(is_held(after(&wide, 300).0));
    let fallen = places(&slab(DVec3::new(0.06, 0.03, HALF)), 300);
    assert!(fallen.map(|place| place.z < -0.2) == [true; 2], "{fallen:?}");
}

#[test]
fn a_slab_lies_on_the_outside_of_a_pipe() {
    let lying = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    // The back of a wall that is seen from inside is a wall, too.
    for side in [Side::Outside, Side::Inside] {
        let pipe = [(DVec3::ZERO, lying, cylinder(0.2, side))];
        let start = DVec3::new(0.0, 0.0, RADIUS + HALF);
        for place in places(&among(&pipe, DVec3::new(0.03, 0.02, HALF), start), 300) {
            // A side of the polygon that stands for the circle lies up to 3e-4 of the radius within it.
            assert!((place - start).length() < 3e-4 * RADIUS, "{side:?}: {place}");
        }
    }
}

#[test]
fn a_slab_just_below_a_disc_falls_and_is_not_drawn_through_it() {
    let disc = [(DVec3::ZERO, DQuat::IDENTITY, Form::Disc { radius: RADIUS })];
    let slab = DVec3::new(0.05, 0.05, 0.005);
    for below in [1e-4, 2e-3] {
        let start = DVec3::new(0.0, 0.0, -slab.z - below);
        for place in places(&among(&disc, slab, start), 100) {
            assert!(place.z < start.z - 0.04 && place.z > start.z - 0.06, "{below}: {place}");
        }
    }
}

#[test]
fn a_rod_across_the_rim_of_a_disc_tips_over_when_its_middle_is_beyond() {
    let disc = [(DVec3::ZERO, DQuat::IDENTITY, Form::Disc { radius: RADIUS })];
    let rod = |x: f64| places(&among(&disc, DVec3::new(0.05, 0.005, 0.005), DVec3::new(x, 0.0, 0.005)), 300);
    for place in rod(0.09) {
        assert!((place - DVec3::new(0.09, 0.0, 0.005)).length() < 1e-5, "{place}");
    }
    for place in rod(0.11) {
        assert!(place.z < -0.05, "{place}");
    }
}

/// Speed that a cube keeps which slides once around the inside of a cylinder, over that at the start.
fn speed_kept(surfaces: impl Fn(&mut World)) -> f64 {
    let mut world = World::new(DVec3::ZERO, among(&[], DVec3::ONE, DVec3::ZERO).materials);
    surfaces(&mut world);
    let height = (RADIUS * RADIUS - HALF * HALF).sqrt() - HALF;
    add_grain(&mut world, DVec3::splat(HALF), -height * DVec3::Y);
    let last = world.bodies.velocity.len() - 1;
    world.bodies.velocity[last] = 0.5 * DVec3::X;
    world.bodies.angular_velocity[last] = 0.5 / height * DVec3::Z;
    let turn = std::f64::consts::TAU * height / 0.5;
    after(&world, (turn / 1e-3) as u64).1.length() / 0.5
}

/// A step turns the direction by v h / R, of which the sweeps take the part along the wall: h v² / (2 R²) per second, 1.6 % in a turn.
#[test]
fn a_cube_slides_around_the_inside_of_a_cylinder_without_losing_speed_at_facets() {
    let exact = speed_kept(|world| {
        let surface = Surface::new(DVec3::ZERO, DQuat::IDENTITY, cylinder(0.2, Side::Inside), 0);
        world.add_boundary(fixed("drum"), vec![surface]);
    });
    assert!(exact > 0.97 && exact < 1.0, "{exact} of the speed");
    // Counter-check: a mesh of as many sides is a polygon, at each corner of which the part of the motion across the next side is lost.
    let of_mesh = speed_kept(|world| {
        let at = |side: usize, z: f64| {
            let (sine, cosine) = (std::f64::consts::TAU * (side % 128) as f64 / 128.0).sin_cos();
            DVec3::new(RADIUS * cosine, RADIUS * sine, z)
        };
        let side = |i: usize| {
            let [a, b, c, d] = [at(i, -0.1), at(i + 1, -0.1), at(i + 1, 0.1), at(i, 0.1)];
            [[a, b, c], [a, c, d]]
        };
        let mesh = Mesh::new("drum", &(0..128).flat_map(side).collect::<Vec<_>>()).unwrap();
        let surfaces = world.mesh_surfaces(Arc::new(mesh), DVec3::ZERO, DQuat::IDENTITY, 0);
        world.add_boundary(fixed("drum"), surfaces);
    });
    assert!(of_mesh < 0.95, "{of_mesh} of the speed");
}

/// A cube pressed against walls around it and falling past their joints, as far as it comes in a fifth of a second \[m\].
fn fallen(parts: &[(DVec3, DQuat, Form)], is_apart: bool) -> f64 {
    let height = (RADIUS * RADIUS - HALF * HALF).sqrt() - HALF;
    let mut world = among(parts, DVec3::splat(HALF), DVec3::new(0.0, -height, 0.15));
    world.gravity = DVec3::new(0.0, -200.0, -9.81);
    if is_apart {
        // A wall that may move is no part of the other, whether it moves or not.
        world.boundaries[1] = Boundary { motion: Motion::velocity(1e-12 * DVec3::X), ..fixed("wall 1") };
    }
    0.15 - after(&world, 200).0.z
}

#[test]
fn a_cube_falls_past_the_joint_of_two_walls_as_along_one() {
    let at = |z: f64, length: f64| (z * DVec3::Z, DQuat::IDENTITY, cylinder(length, Side::Inside));
    let along_one = fallen(&[at(0.0, 0.4)], false);
    assert!(along_one > 0.18, "{along_one} m");
    // The other frame is turned about the axis of the walls, and points the other way.
    let turned = DQuat::from_rotation_x(std::f64::consts::PI) * DQuat::from_rotation_z(0.3);
    let along_two = fallen(&[at(0.1, 0.2), (at(-0.1, 0.2).0, turned, cylinder(0.2, Side::Inside))], false);
    assert!((along_two - along_one).abs() < 1e-6, "{along_two} m beside {along_one} m");
    let apart = fallen(&[at(0.1, 0.2), at(-0.1, 0.2)], true);
    assert!(
        (apart - along_one).abs() > 1e-3,
        "counter-check: the rim of another wall is in the way, {apart} m"
    );
}

#[test]
fn a_cube_slides_from_a_cylinder_into_a_cone() {
    let bin = (0.1 * DVec3::Z, DQuat::IDENTITY, cylinder(0.2, Side::Inside));
    let cone = Form::Wall { bottom_radius: 0.02, top_radius: RADIUS, length: 0.16, side: Side::Inside };
    let cone = (-0.08 * DVec3::Z, DQuat::IDENTITY, cone);
    let mut world = among(&[bin, cone], DVec3::splat(HALF), DVec3::new(0.0, -0.0895, 0.05));
    world.gravity = DVec3::new(0.0, -5.0, -9.81);
    assert!(after(&world, 300).0.z < -0.1);
    // Farther down a software adapter refuses the sides of the cone, too many of which are near the cube.
    for place in places(&world, 150) {
        assert!(place.z < -0.03, "{place}");
    }
}

#[test]
fn a_cube_whose_middle_is_just_behind_a_thin_wall_is_pushed_back_as_a_sphere_is() {
    let disc = [(DVec3::ZERO, DQuat::IDENTITY, Form::Disc { radius: RADIUS })];
    for place in places(&among(&disc, DVec3::splat(HALF), DVec3::new(0.0, 0.0, -0.001)), 2000) {
        assert!((place - HALF * DVec3::Z).length() < 1e-4, "{place}");
    }
}

#[test]
fn walls_that_come_to_move_are_joined_no_longer() {
    let at = |z: f64| (z * DVec3::Z, DQuat::IDENTITY, cylinder(0.2, Side::Inside));
    let height = (RADIUS * RADIUS - HALF * HALF).sqrt() - HALF;
    let fall = |is_changed: bool| {
        let mut world = among(&[at(0.1), at(-0.1)], DVec3::splat(HALF), DVec3::new(0.0, -height, 0.15));
        world.gravity = DVec3::new(0.0, -200.0, -9.81);
        let mut engine = cpu(&world, &Settings { time_step: 1e-3, iterations: 60, ..Settings::default() });
        engine.advance(20).unwrap();
        if is_changed {
            let mut change = |world: &mut World| assert!(world.set_boundary_velocity(1, 1e-12 * DVec3::X));
            engine.change(&mut change).unwrap();
        }
        engine.advance(180).unwrap();
        0.15 - engine.snapshot().unwrap().world.bodies.position[2].z
    };
    assert!((fall(false) - fall(true)).abs() > 1e-3, "{} m and {} m", fall(false), fall(true));
}
