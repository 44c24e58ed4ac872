//! Dynamic bodies of several shapes, and of shapes other than boxes and spheres: mass, weight, contacts and rotation.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::path::Path;

use crate::common::*;
use esker::observe::loads;
use esker::scenario::Scenario;
use esker::settings::Settings;
use glam::{DMat3, DVec3};

const GRAVITY: f64 = 9.81;

/// Scenario with the material `steel`, a floor, and these boundaries and grains.
fn scene(boundaries: &str, grains: &str) -> Scenario {
    let text = format!(
        r#"
duration = 1.0
[materials.steel]
density = 1000.0
youngs_modulus = 1e8
poisson_ratio = 0.25
restitution = 0.1
friction = 0.4
[[boundaries]]
name = "floor"
material = "steel"
shape = {{ kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }}
{boundaries}
{grains}
"#
    );
    Scenario::parse("bodies", &text, Path::new("."), &[])
        .unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

fn body(shapes: &str, motion: &str) -> String {
    format!(
        "[[boundaries]]\nname = \"body\"\nmaterial = \"steel\"\n{shapes}\nmotion = {{ kind = \"dynamic\"{motion} }}\n"
    )
}

/// A body of two half boxes has the mass and the moments of the whole box, and falls and tumbles like it, up to rounding.
#[test]
fn a_box_of_two_halves_falls_as_the_box() {
    let turned = "side = \"outside\"";
    let whole =
        format!("shape = {{ kind = \"box\", min = [-0.2, -0.1, 0.1], max = [0.2, 0.1, 0.2], {turned} }}");
    let halves = format!(
        "shapes = [{{ kind = \"box\", min = [-0.2, -0.1, 0.1], max = [0, 0.1, 0.2], {turned} }}, \
         {{ kind = \"box\", min = [0, -0.1, 0.1], max = [0.2, 0.1, 0.2], {turned} }}]"
    );
    let spin = ", angular_velocity = [0.5, 2.0, 1.0]";
    let [whole, halves] = [whole, halves].map(|shapes| scene(&body(&shapes, spin), "").world);
    let (one, other) = (whole.dynamic_boundary(1).unwrap(), halves.dynamic_boundary(1).unwrap());
    approx::assert_relative_eq!(one.mass, other.mass, max_relative = 1e-12);
    approx::assert_relative_eq!(one.moments.length(), other.moments.length(), max_relative = 1e-12);
    // In free fall only: the halves have more vertices where they meet, and a floor would touch all of them.
    for index in 0..2 {
        let settings = Settings { time_step: 1e-3, ..Settings::default() };
        let [one, other] = [&whole, &halves].map(|world| {
            let engine = &mut both(world, &settings)[index];
            engine.advance(100).unwrap();
            engine.snapshot().unwrap().world.bodies
        });
        let tolerance = [1e-10, 1e-5][index];
        assert!(one.position[1].distance(other.position[1]) < tolerance);
        assert!(one.angular_velocity[1].distance(other.angular_velocity[1]) < 10.0 * tolerance);
    }
}

/// A dumbbell, a capsule, a cylinder and a cone rest on the floor and press on it with their weight. The mass follows from the density and
/// the shapes, or from `mass`.
#[test]
fn bodies_of_all_forms_rest_on_the_floor_with_their_weight() {
    let dumbbell = "shapes = [{ kind = \"sphere\", centre = [-0.2, 0, 0.1], radius = 0.1 }, { kind = \"sphere\", centre = [0.2, 0, 0.1], \
                    radius = 0.1 }, { kind = \"cylinder\", base = [-0.2, 0, 0.1], axis = [1, 0, 0], length = 0.4, radius = 0.03, side = \"outside\" }]";
    let capsule = "shape = { kind = \"capsule\", from = [-0.2, 0, 0.1], to = [0.2, 0, 0.1], radius = 0.1 }";
    let tub = "shape = { kind = \"cylinder\", base = [0, 0, 0.0005], axis = [0, 0, 1], length = 0.2, radius = 0.1, side = \"outside\" }";
    let cone = "shape = { kind = \"cone\", base = [0, 0, 0.0005], axis = [0, 0, 1], length = 0.2, base_radius = 0.1, top_radius = 0.0, side = \"outside\" }";
    let (ball, tube) = (4.0 / 3.0 * std::f64::consts::PI * 1e-3, std::f64::consts::PI * 1e-2);
    let cases = [
        (dumbbell, "", 1000.0 * (2.0 * ball + std::f64::consts::PI * 9e-4 * 0.4)),
        (capsule, "", 1000.0 * (ball + 0.4 * tube)),
        (tub, "", 1000.0 * 0.2 * tube),
        (cone, "", 1000.0 * 0.2 * tube / 3.0),
        (tub, ", mass = 7.0", 7.0),
        (tub, ", mass = 7.0, inertia = [0.1, 0.1, 0.05]", 7.0),
    ];
    for (shapes, motion, mass) in cases {
        let world = scene(&body(shapes, motion), "").world;
        approx::assert_relative_eq!(world.dynamic_boundary(1).unwrap().mass, mass, max_relative = 1e-9);
        let settings = Settings { time_step: 2e-3, iterations: 30, ..Settings::default() };
        for engine in &mut both(&world, &settings) {
            engine.advance(300).unwrap();
            let state = engine.snapshot().unwrap();
            let name = engine.identity().engine;
            let load = -loads::on_boundaries(&state)[0].force.z;
            assert!(
                (load - mass * GRAVITY).abs() < 1e-3 * mass * GRAVITY,
                "{name}: {shapes} presses with {load} N"
            );
            assert!(state.world.bodies.velocity[1].length() < 1e-3, "{name}: it has come to rest");
        }
    }
}

/// Grains rest on each of the three shapes of a body (capsule, box, cylinder), which alone carries the weight of its grain.
#[test]
fn grains_touch_every_shape_of_a_body() {
    let table = "shapes = [{ kind = \"capsule\", from = [-0.4, 0, 0.05], to = [-0.1, 0, 0.05], radius = 0.05 }, \
                 { kind = \"box\", min = [-0.02, -0.2, 0], max = [0.06, 0.2, 0.1], side = \"outside\" }, \
                 { kind = \"cylinder\", base = [0.2, 0, 0], axis = [0, 0, 1], length = 0.1, radius = 0.05, side = \"outside\" }]";
    let grains = "[[grains]]\nmaterial = \"steel\"\nlocked_axes = [\"x\", \"y\", \"rx\", \"ry\", \"rz\"]\npacking = { kind = \"list\", \
                  positions = [[-0.25, 0, 0.13], [0.02, 0, 0.13], [0.2, 0, 0.13]], radii = [0.02, 0.02, 0.02] }\n";
    let scenario = scene(&body(table, ""), grains);
    let settings = Settings { time_step: 2e-3, iterations: 30, ..Settings::default() };
    for engine in &mut both(&scenario.world, &settings) {
        engine.advance(300).unwrap();
        let state = engine.snapshot().unwrap();
        let places = &state.world.bodies.position[2..];
        for place in places {
            assert!((place.z - 0.12).abs() < 2e-4, "{}: a grain stands at {place}", engine.identity().engine);
        }
        let on_body = state.contacts.iter().filter(|contact| {
            contact.bodies == [2, 1] || contact.bodies == [3, 1] || contact.bodies == [4, 1]
        });
        let forces: Vec<DVec3> = on_body
            .map(|contact| contact.impulse.linear(contact.normal) / state.substep)
            .filter(|f| f.z > 0.0)
            .collect();
        let weight = 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 8e-6 * GRAVITY;
        assert_eq!(forces.len(), 3);
        assert!(forces.iter().all(|force| (force.z - weight).abs() < 1e-2 * weight), "{forces:?}");
    }
}

/// A torque τ turns a body at rest at the rate I⁻¹ τ t, with the tensor I along the axes of the world as it is given: with products of
/// inertia a torque about y turns it about x and z, too.
#[test]
fn a_body_turns_as_its_told_inertia_says() {
    for products in [DVec3::ZERO, DVec3::new(0.05, -0.04, 0.03)] {
        let [xy, xz, yz] = products.to_array();
        let told = format!("inertia = [0.3, 0.2, 0.4], products_of_inertia = [{xy:?}, {xz:?}, {yz:?}]");
        let motion = format!(", mass = 2.0, {told}, centre_of_mass = [0, 0, 5], velocity = [1, 0, 0]");
        let world = scene(&body("shapes = []", &motion), "").world;
        let tensor = DMat3::from_cols_array(&[0.3, xy, xz, xy, 0.2, yz, xz, yz, 0.4]);
        let expected = tensor.inverse() * DVec3::new(0.0, 3.0, 0.0) * 0.01;
        assert_eq!(products == DVec3::ZERO, expected.x == 0.0, "products turn it about x, {expected} rad/s");
        // The gyroscopic torque is of second order in the angle of 1e-3, its tensor turns with the body.
        let bound = 1e-6 + 2e-3 * (expected - expected.y * DVec3::Y).length();
        for engine in &mut both(&world, &Settings { time_step: 1e-3, ..Settings::default() }) {
            let push = &mut |world: &mut esker::model::World| {
                world.set_force(1, DVec3::ZERO, DVec3::new(0.0, 3.0, 0.0))
            };
            engine.change(push).unwrap();
            engine.advance(10).unwrap();
            let found = engine.snapshot().unwrap().world.bodies.angular_velocity[1];
            assert!(found.distance(expected) < bound, "{found}, expected {expected}");
        }
    }
}
