//! Closed meshes are solids, which push outwards, on both engines.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::path::Path;
use std::sync::Arc;

use crate::common::*;
use crate::meshes::box_mesh;
use esker::gpu::shader::Edit;
use esker::law::pair::Material;
use esker::model::{Form, Grain, Materials, Mesh, Surface, World};
use esker::scenario::Scenario;
use esker::settings::Settings;
use glam::{DQuat, DVec3};

const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);
/// Radius of the grains \[m\].
const R: f64 = 0.01;
/// Half edges of a blade that is thinner than the overlaps of its grains \[m\].
const BLADE: DVec3 = DVec3::new(0.05, 0.05, 0.05 * R);

fn empty() -> World {
    let soft = Material { youngs_modulus: 1e5, ..stone(0.3, 0.0).list[0].clone() };
    World::new(GRAVITY, Materials::new(vec![soft]))
}

fn with_mesh(mesh: Mesh) -> World {
    let mut world = empty();
    let surfaces = world.mesh_surfaces(Arc::new(mesh), DVec3::ZERO, DQuat::IDENTITY, 0);
    world.add_boundary(fixed("mesh"), surfaces);
    world
}

fn with_box(half: DVec3) -> World {
    let mut world = empty();
    world.add_boundary(fixed("box"), [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Box { half }, 0)]);
    world
}

fn settings() -> Settings {
    Settings { time_step: 1e-4, iterations: 10, impact_threshold: 10.0, ..Settings::default() }
}

/// Force of an overlap of this many radii by Hertz's law \[N\].
fn force(overlap: f64) -> f64 {
    let modulus = 1e5 / (2.0 * (1.0 - 0.25 * 0.25));
    4.0 / 3.0 * modulus * R.sqrt() * (overlap * R).powf(1.5)
}

/// Height of a grain on a blade, pressed by a force that rises to that of an overlap of this many radii, and its number of contacts; then
/// its height without the force. Per engine.
fn pressed(world: &World, overlap: f64) -> [(f64, usize, f64); 2] {
    let mut world = world.clone();
    world.add_grains([Grain::at(DVec3::new(0.004, 0.003, BLADE.z + 0.99 * R), R, 0)]);
    both(&world, &settings()).map(|mut engine| {
        for share in 1..=10 {
            let down = 0.1 * f64::from(share) * force(overlap) * DVec3::NEG_Z;
            engine.change(&mut |world| world.set_force(1, down, DVec3::ZERO)).unwrap();
            engine.advance(200).unwrap();
        }
        let state = engine.snapshot().unwrap();
        let contacts = state.contacts.iter().filter(|contact| contact.gap < 0.0).count();
        engine.change(&mut |world| world.set_force(1, DVec3::ZERO, DVec3::ZERO)).unwrap();
        engine.advance(500).unwrap();
        (state.world.bodies.position[1].z, contacts, engine.snapshot().unwrap().world.bodies.position[1].z)
    })
}

/// Overlaps of 0.4 R on a blade 0.1 R thick: the far side is within reach of the grain, and as a sheet it would hold the grain as well.
#[test]
fn a_blade_thinner_than_a_grain_holds_it_from_one_side_alone() {
    let [exact, _] = pressed(&with_box(BLADE), 0.4);
    for (height, contacts, _) in pressed(&with_mesh(box_mesh(BLADE)), 0.4) {
        // The far side would take a third of the load, and the grain would stand higher by 0.07 R.
        assert!((height - exact.0).abs() < 1e-3 * R && contacts == 1, "{height} m, {contacts} contacts");
    }
    let [sheet, _] = pressed(&with_mesh(box_mesh(BLADE).into_sheet()), 0.4);
    assert!(sheet.0 - exact.0 > 0.03 * R && sheet.1 == 2, "two sheets must show: {sheet:?}");
}

/// With 1.5 R of overlap the centre is on the far side of the blade, and with the load gone the grain comes back.
#[test]
fn a_grain_that_is_pressed_through_a_blade_goes_back_where_it_came_from() {
    for (height, contacts, back) in pressed(&with_mesh(box_mesh(BLADE)), 1.5) {
        assert!(
            (-0.7 * R..-0.3 * R).contains(&height) && contacts == 1,
            "pressed to {height} m by {contacts}"
        );
        assert!(back > 0.9 * R, "back to {back} m");
    }
}

/// Where a grain that flew at a cube of triangles of this half edge is afterwards, per engine.
fn flight(start: DVec3, velocity: DVec3, half: f64) -> [DVec3; 2] {
    let mut world = with_mesh(box_mesh(DVec3::splat(half)));
    world.gravity = DVec3::ZERO;
    world.add_grains([Grain { velocity, ..Grain::at(start, R, 0) }]);
    let settings = Settings { time_step: 1e-3, ..Settings::default() };
    both(&world, &settings).map(|mut engine| {
        engine.advance(30).unwrap();
        engine.snapshot().unwrap().world.bodies.position[1]
    })
}

/// A step moves the grain by 1.7 radii: from 1.3 radii in front of a face, where no contact is listed, to 0.4 radii behind it.
#[test]
fn a_grain_in_flight_is_thrown_out_through_the_side_that_it_came_through() {
    let speed = 1.7 * R / 1e-3;
    let [diagonal, corner] = [DVec3::new(1.0, 0.0, 1.0), DVec3::ONE].map(DVec3::normalize);
    for (place, direction) in [
        (DVec3::new(0.1, 0.03, 0.01), DVec3::X),
        (DVec3::new(0.1, -0.03, 0.1), diagonal),
        (DVec3::splat(0.1), corner),
        // Just below an edge: the top is nearer than the side that it came through.
        (DVec3::new(0.1, 0.05, 0.097), DVec3::X),
    ] {
        for end in flight(place + 1.3 * R * direction, -speed * direction, 0.1) {
            assert!(end.abs().max_element() > 0.1 + 0.9 * R, "from {place} to {end}");
            assert!(direction != DVec3::X || end.x > 0.1, "from {place} to {end}");
            assert!(direction != DVec3::X || (end - place).truncate().y.abs() < R, "from {place} to {end}");
            assert!(direction != DVec3::X || (end.z - place.z).abs() < R, "from {place} to {end}");
        }
    }
}

/// Of a grain that starts at rest inside nothing is known: it leaves through the nearest side, from a cube and from a blade.
#[test]
fn a_grain_inside_leaves_through_the_nearest_side() {
    for end in flight(DVec3::new(0.094, 0.05, -0.03), DVec3::ZERO, 0.1) {
        assert!(end.x > 0.1 + 0.9 * R && (end.y - 0.05).abs() + (end.z + 0.03).abs() < 1e-3, "{end}");
    }
    for end in flight(DVec3::new(0.0, 0.0, 0.2 * R), DVec3::ZERO, 0.5 * R) {
        assert!(end.z > R, "{end}");
    }
}

/// Counter-check of the shader: without the mark of what faces away both sides of a blade hold a grain.
#[test]
fn a_shader_that_lets_far_sides_take_part_is_noticed() {
    let mut world = with_mesh(box_mesh(BLADE));
    world.add_grains([Grain::at(DVec3::new(0.004, 0.003, BLADE.z + 0.7 * R), R, 0)]);
    let contacts = |edits: &[Edit]| {
        let mut engine = gpu(&world, &settings());
        if !edits.is_empty() {
            engine.edit_shaders(edits).unwrap();
        }
        esker::engine::Engine::advance(&mut engine, 1).unwrap();
        engine.constraints().unwrap().iter().filter(|(head, _)| head.normal != [0.0; 3]).count()
    };
    assert_eq!(contacts(&[]), 1);
    assert_eq!(contacts(&[Edit { from: "is_inside(root) || !is_within_reach(i)", to: "false" }]), 2);
}

/// What the reader says of a grain at a height \[m\] over a wedge of triangles that is 4 mm high there from z = 0.03 m on, with a key of
/// its shape.
fn read(height: f64, sheet: &str) -> String {
    let text = format!(
        "duration = 1.0\n[materials.m]\ndensity = 2500.0\nyoungs_modulus = 1e7\npoisson_ratio = 0.25\nrestitution = 0.0\nfriction = 0.5\n\
         [[boundaries]]\nname = \"bin\"\nmaterial = \"m\"\n\
         shape = {{ kind = \"mesh\", file = \"tests/program/block.obj\", position = [0, 0, 0.03]{sheet} }}\n\
         [[grains]]\nmaterial = \"m\"\nradius = {{ kind = \"constant\", value = 1e-3 }}\n\
         packing = {{ kind = \"list\", positions = [[0, 0, {height}]] }}\n"
    );
    let found = Scenario::parse("bin", &text, Path::new(env!("CARGO_MANIFEST_DIR")), &[]);
    found.map_or_else(|problems| problems.to_string(), |_| "fine".to_owned())
}

#[test]
fn a_grain_that_starts_inside_is_refused_and_the_key_for_a_vessel_is_told() {
    let refused = read(0.0315, "");
    assert!(
        refused.contains("wrong side of boundary \"bin\"") && refused.contains("sheet = true"),
        "{refused}"
    );
    assert_eq!(read(0.0315, ", sheet = true"), "fine");
    assert_eq!([read(0.2, ""), read(0.2, ", sheet = true")], ["fine", "fine"]);
}
