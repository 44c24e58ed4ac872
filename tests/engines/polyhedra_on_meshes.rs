//! Polyhedral grains on meshes that are no convex solids: faces, edges and vertices of both, flat joints, and the inside of closed ones.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::f64::consts::TAU;
use std::sync::Arc;

use crate::common::*;
use esker::engine::{Engine, Snapshot};
use esker::law::pair::Material;
use esker::model::{Clump, Grain, Materials, Mesh, World};
use esker::observe::loads;
use esker::settings::Settings;
use esker::shape::Convex;
use glam::{DQuat, DVec3};

/// Half the height of the slabs \[m\].
const HALF: f64 = 0.01;

/// Grains of these half edges at these places, above a fixed mesh.
fn over(mesh: Mesh, half: DVec3, grains: &[DVec3]) -> World {
    let stiff = Material { youngs_modulus: 1e9, ..stone(0.3, 0.0).list[0].clone() };
    let mut world = World::new(-9.81 * DVec3::Z, Materials::new(vec![stiff]));
    let surfaces = world.mesh_surfaces(Arc::new(mesh), DVec3::ZERO, DQuat::IDENTITY, 0);
    world.add_boundary(fixed("mesh"), surfaces);
    let clump = Clump::of_hull("slab", &Convex::cuboid(half));
    let radius = (clump.volume / (TAU * 2.0 / 3.0)).cbrt();
    world.clumps = vec![clump];
    world.add_grains(grains.iter().map(|&place| Grain { clump: Some(0), ..Grain::at(place, radius, 0) }));
    world
}

fn settings() -> Settings {
    Settings { time_step: 1e-3, iterations: 60, ..Settings::default() }
}

/// The state after these steps on each engine, with its name.
fn after(world: &World, steps: u64) -> [(&'static str, Snapshot); 2] {
    both(world, &settings()).map(|mut engine| {
        engine.advance(steps).unwrap();
        (engine.identity().engine, engine.snapshot().unwrap())
    })
}

/// Squares of two triangles each around the origin, whose heights follow a function \[m\].
pub fn floor(squares: u32, height: impl Fn(f64) -> f64) -> Mesh {
    let at = |i: u32, j: u32| {
        let [x, y] = [i, j].map(|k| 0.6 * (f64::from(k) / f64::from(squares) - 0.5));
        DVec3::new(x, y, height(x))
    };
    let square = |i: u32, j: u32| {
        let corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [[corners[0], corners[1], corners[2]], [corners[0], corners[2], corners[3]]]
    };
    let triangles: Vec<_> = (0..squares).flat_map(|i| (0..squares).flat_map(move |j| square(i, j))).collect();
    Mesh::new("floor", &triangles).unwrap()
}

/// A profile in x and z, counter-clockwise seen against y, from y = -0.1 m to 0.1 m, closed by caps of these corners.
fn extruded(profile: &[[f64; 2]], caps: &[&[usize]]) -> Mesh {
    let at = |i: usize, y: f64| {
        let [x, z] = profile[i % profile.len()];
        DVec3::new(x, y, z)
    };
    let side = |i: usize| {
        let [a, b, c, d] = [at(i, -0.1), at(i + 1, -0.1), at(i + 1, 0.1), at(i, 0.1)];
        [[a, b, c], [a, c, d]]
    };
    let cap = |corners: &&[usize]| {
        let fans = (1..corners.len() - 1).map(|k| [corners[0], corners[k], corners[k + 1]]);
        fans.flat_map(|[a, b, c]| [[a, c, b].map(|i| at(i, -0.1)), [a, b, c].map(|i| at(i, 0.1))])
            .collect::<Vec<_>>()
    };
    let sides = (0..profile.len()).flat_map(side);
    Mesh::new("profile", &sides.chain(caps.iter().flat_map(cap)).collect::<Vec<_>>()).unwrap()
}

/// A trough 100 mm wide and 50 mm high, with walls of 20 mm.
pub fn trough() -> Mesh {
    let profile = [
        [-0.05, 0.0],
        [0.05, 0.0],
        [0.05, 0.05],
        [0.03, 0.05],
        [0.03, 0.01],
        [-0.03, 0.01],
        [-0.03, 0.05],
        [-0.05, 0.05],
    ];
    let mesh = extruded(&profile, &[&[0, 1, 4, 5], &[1, 2, 3, 4], &[0, 5, 6, 7]]);
    assert!(mesh.is_solid);
    mesh
}

/// Path of a cube that slides over a floor on each engine: its places every 20 steps.
fn slide(mesh: Mesh) -> [Vec<DVec3>; 2] {
    // Wide enough to tilt by more than the triangles are told apart by, as friction turns it.
    let half = 2.0 * HALF;
    let mut world = over(mesh, DVec3::splat(half), &[DVec3::new(-0.12, 0.003, half)]);
    world.bodies.velocity[1] = DVec3::new(1.0, 0.2, 0.0);
    both(&world, &settings()).map(|mut engine| {
        let mut place = || {
            engine.advance(20).unwrap();
            engine.snapshot().unwrap().world.bodies.position[1]
        };
        (0..10).map(|_| place()).collect()
    })
}

/// A face that is cut into triangles is felt as one face.
#[test]
fn a_cube_slides_over_the_triangles_of_a_floor_as_over_one_square() {
    let plain = slide(floor(1, |_| 0.0));
    let of_triangles = slide(floor(37, |_| 0.0));
    let of_ramp = slide(floor(37, |x| 1e-4 * ((x + 0.05) / 0.02).clamp(0.0, 1.0)));
    for (i, bound) in [1e-9, 2e-6].into_iter().enumerate() {
        let plain = &plain[i];
        assert!(plain[9].x - plain[0].x > 0.1, "{plain:?}");
        let apart = |path: &[DVec3]| path.iter().zip(plain).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        let [of_triangles, of_ramp] = [&of_triangles[i], &of_ramp[i]].map(|path| apart(path));
        assert!(of_triangles < bound, "{of_triangles} m beside the path over one square");
        // Counter-check: a ramp of 0.1 mm is noticed.
        assert!(of_ramp > 5e-5, "{of_ramp}");
    }
}

/// The slab is wider than the trough is within, and narrower than it is outside: none of its corners is over a wall's corner.
#[test]
fn a_slab_across_a_trough_lies_on_its_walls_and_one_within_on_its_bottom() {
    let wide = after(&over(trough(), DVec3::new(0.04, 0.02, HALF), &[DVec3::new(0.0, 0.0, 0.0605)]), 300);
    let narrow = after(&over(trough(), DVec3::new(0.025, 0.02, HALF), &[DVec3::new(0.0, 0.0, 0.0205)]), 300);
    let states =
        wide.into_iter().map(|state| (state, 0.05)).chain(narrow.into_iter().map(|state| (state, 0.01)));
    for ((name, state), height) in states {
        let place = state.world.bodies.position[1];
        let elastic = 1e-5;
        assert!(
            (place - (height + HALF) * DVec3::Z).length() < elastic,
            "{name}: {place}, floor at {height} m"
        );
        let support = loads::weight_supported(&state);
        assert!((support - 1.0).abs() < 1e-6, "{name}: the mesh carries {support}");
    }
}

/// The top of the ridge is a strip narrower than the slab, and the strips beside it are lower: the slab touches those nowhere.
#[test]
fn a_slab_lies_on_the_top_of_a_ridge_of_strips_narrower_than_itself() {
    let height = |x: f64| -x * x / 0.2;
    let top = height(0.3 / 37.0);
    let world = over(floor(37, height), DVec3::new(0.03, 0.02, HALF), &[DVec3::new(0.0, 0.0, top + HALF)]);
    for (name, state) in after(&world, 300) {
        let place = state.world.bodies.position[1];
        assert!((place - (top + HALF) * DVec3::Z).length() < 1e-5, "{name}: {place}");
        let support = loads::weight_supported(&state);
        assert!((support - 1.0).abs() < 1e-4, "{name}: {support} of the weight");
    }
}

/// A tent of two sheets: the edge of its ridge runs under the middle of a slab, whose corners are in the air.
#[test]
fn a_slab_lies_on_a_ridge_and_falls_off_it_where_its_middle_is_beside() {
    let tent = || floor(2, |x| if x == 0.0 { 0.1 } else { 0.0 });
    let half = DVec3::new(0.04, 0.02, HALF);
    let place = |beside: f64| {
        let states = after(&over(tent(), half, &[DVec3::new(beside, 0.0, 0.11)]), 200);
        states.map(|(name, state)| (name, state.world.bodies.position[1]))
    };
    for (name, on_top) in place(0.0) {
        assert!((on_top - 0.11 * DVec3::Z).length() < 2e-5, "{name}: {on_top}");
    }
    // Beside the ridge it tips onto the slope of 1 in 3, and slides down as the friction is 0.3.
    for (name, beside) in place(0.01) {
        let on_slope = 0.1 - beside.x / 3.0 + HALF * (10.0f64 / 9.0).sqrt();
        assert!(beside.x > 0.02 && (beside.z - on_slope).abs() < 1e-4, "{name}: {beside}, {on_slope} m");
    }
}

/// A corner of the mesh in the middle of a face: the tip of a pyramid on a plate.
#[test]
fn a_slab_lies_on_the_tip_of_a_pyramid() {
    let corner = |size: f64, height: f64, i: usize| {
        let [x, y] = [[-size, -size], [size, -size], [size, size], [-size, size]][i % 4];
        DVec3::new(x, y, height)
    };
    let side = |i: usize| {
        let [[a, b], [c, d]] =
            [[i, i + 1].map(|i| corner(0.1, 0.0, i)), [i, i + 1].map(|i| corner(0.005, 0.0, i))];
        let [e, f] = [i, i + 1].map(|i| corner(0.1, -0.02, i));
        [[a, b, d], [a, d, c], [c, d, 0.03 * DVec3::Z], [e, f, b], [e, b, a]]
    };
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| corner(0.1, -0.02, i));
    let triangles: Vec<_> = (0..4).flat_map(side).chain([[a, c, b], [a, d, c]]).collect();
    let mesh = Mesh::new("pyramid", &triangles).unwrap();
    assert!(mesh.is_solid);
    let world = over(mesh, DVec3::new(0.02, 0.02, HALF), &[DVec3::new(0.0, 0.0, 0.0402)]);
    for (name, state) in after(&world, 200) {
        let place = state.world.bodies.position[1];
        assert!((place - (0.03 + HALF) * DVec3::Z).length() < 5e-5, "{name}: {place}");
    }
}

#[test]
fn a_cube_whose_middle_is_inside_of_a_closed_mesh_is_pushed_out_of_its_nearest_side() {
    let inside = |mesh: Mesh| over(mesh, DVec3::splat(HALF), &[DVec3::new(0.0, 0.0, 0.009)]);
    let pressed = |mut engine: Box<dyn Engine>| {
        engine.advance(1000).unwrap();
        (engine.identity().engine, engine.snapshot().unwrap().world.bodies.position[1].z)
    };
    for (name, out) in both(&inside(trough()), &settings()).map(pressed) {
        assert!((out - (0.01 + HALF)).abs() < 1e-4, "{name}: {out} m");
    }
    // Counter-check: the trough as a sheet holds it beneath its inner floor.
    let (_, sheet) = pressed(Box::new(cpu(&inside(trough().into_sheet()), &settings())));
    assert!(sheet < 0.01, "{sheet} m");
}

#[test]
fn hulls_poured_into_a_bowl_stay_in_it() {
    let ring = |i: u32, height: f64| {
        let (sin, cos) = (TAU * f64::from(i) / 24.0).sin_cos();
        DVec3::new(0.05 * cos, 0.05 * sin, height)
    };
    let side = |i: u32| {
        let [a, b, c, d] = [ring(i, 0.0), ring(i + 1, 0.0), ring(i + 1, 0.2), ring(i, 0.2)];
        [[a, c, b], [a, d, c], [DVec3::ZERO, a, b]]
    };
    let bowl = Mesh::new("bowl", &(0..24).flat_map(side).collect::<Vec<_>>()).unwrap();
    let places: Vec<DVec3> = (0..30)
        .map(|i| {
            DVec3::new(
                0.02 * f64::from(i % 2) - 0.01,
                0.022 * f64::from(i / 2 % 2) - 0.01,
                0.02 + 0.02 * f64::from(i / 4),
            )
        })
        .collect();
    let mut world = over(bowl, DVec3::new(0.01, 0.008, 0.007), &places);
    for body in 1..=places.len() {
        let turn = DVec3::new(body as f64, 2.0 * body as f64, 0.5);
        world.bodies.orientation[body] *= DQuat::from_scaled_axis(turn.normalize() * (0.1 * body as f64));
        world.bodies.position[body].z *= 1.5;
    }
    for (name, state) in after(&world, 800) {
        let places = &state.world.bodies.position[1..];
        let inside = |place: &DVec3| place.z > 0.0 && place.truncate().length() < 0.05;
        assert!(places.iter().all(inside), "{name}: {places:?}");
        let support = loads::weight_supported(&state);
        assert!((support - 1.0).abs() < 0.02, "{name}: the bowl carries {support}");
        let deepest = state.contacts.iter().map(|contact| -contact.gap).fold(0.0, f64::max);
        assert!(deepest < 1e-4, "{name}: overlap of {deepest} m");
    }
}
