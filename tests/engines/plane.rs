//! Discs in a plane have the mass and inertia of discs, and stay there.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::f64::consts::PI;
use std::path::Path;

use crate::common::*;
use esker::law::normal::NormalLaw;
use esker::model::Plane;
use esker::render::Look;
use esker::scenario::Scenario;
use esker::settings::Settings;

const G: f64 = 9.81;

/// A grain on a slope of 20° in the plane x, z that it rolls down.
fn roller(plane: &str) -> Scenario {
    let (sin, cos) = 20f64.to_radians().sin_cos();
    pellets(&format!(
        r#"
[[boundaries]]
name = "slope"
material = "pellet"
shape = {{ kind = "plane", point = [0, 0, 0], normal = [{sin:?}, 0, {cos:?}] }}

[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0065 }}
packing = {{ kind = "list", positions = [[{:?}, 0, {:?}]] }}
{plane}"#,
        0.0065 * sin,
        0.0065 * cos
    ))
}

/// The scenario in the plane xz, without rolling resistance. The key `plane` must stand before all tables, so it is set as an override.
fn in_plane(text: &str) -> Scenario {
    let overrides = ["plane=\"xz\"".to_owned(), "materials.pellet.rolling_resistance=0.0".to_owned()];
    Scenario::parse("plane", text, Path::new("."), &overrides).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Acceleration down the slope, g sin 20° / (1 + I/(m r²)): two thirds of g sin 20° for a disc, five sevenths for a ball, on both engines.
#[test]
fn a_disc_rolls_down_a_slope_slower_than_a_ball() {
    let text = roller("").resolved;
    let ball = Scenario::parse(
        "ball",
        &text,
        Path::new("."),
        &["materials.pellet.rolling_resistance=0.0".to_owned()],
    );
    for (scene, share) in [(in_plane(&text), 2.0 / 3.0), (ball.unwrap(), 5.0 / 7.0)] {
        // A disc, one metre long, would sink into this soft plane by 3 % of its radius.
        let normal_law = NormalLaw::Rigid;
        let settings = Settings { time_step: 1e-3, iterations: 50, normal_law, ..Settings::default() };
        for mut engine in both(&scene.world, &settings) {
            engine.advance(200).unwrap();
            let state = engine.snapshot().unwrap();
            let speed = state.world.bodies.velocity[1].length();
            let expected = share * G * 20f64.to_radians().sin() * 0.2;
            let name = engine.identity().engine;
            // Gravity of the first step acts before the contact does, as in the throw: half a step in 200.
            assert!((speed / expected - 1.0).abs() < 5e-3, "{name}: {speed} m/s, not {expected}");
        }
    }
}

#[test]
fn a_disc_has_the_mass_of_a_metre_of_it_and_moves_in_its_plane() {
    let scene = in_plane(&roller("").resolved);
    assert_eq!(scene.world.plane, Some(Plane::Xz));
    let mass = 3700.0 * PI * 0.0065 * 0.0065;
    assert!((scene.world.grain_mass(0) / mass - 1.0).abs() < 1e-12);
    assert!((scene.world.bodies.inverse_mass[1] * mass - 1.0).abs() < 1e-12);
    let locked = scene.world.bodies.locked[1];
    assert_eq!((locked.free_translation().y, locked.free_rotation().y), (0.0, 1.0));
    let look = Look::of_scene(&scene.world);
    assert_eq!((look.azimuth_deg, look.elevation_deg), (0.0, 0.0), "seen from the front");
}

#[test]
fn grains_are_placed_in_the_plane_or_refused() {
    let random = r#"
[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
packing = { kind = "random", count = 100, region = { kind = "box", min = [0, -0.05, 0], max = [0.5, 0.05, 0.2] } }
"#;
    let base = pellets(random).resolved;
    let scene = in_plane(&base);
    let places = &scene.world.bodies.position;
    assert!(places.iter().all(|place| place.y == 0.0));
    assert!(places.windows(2).any(|pair| pair[0].z != pair[1].z));

    let beside = roller("").resolved.replace("positions = [[", "positions = [[0.0, 0.01, 0.5], [");
    let refused = Scenario::parse("off", &beside, Path::new("."), &["plane=\"xz\"".to_owned()]);
    let text = refused.err().map(|problems| problems.to_string()).unwrap_or_default();
    assert!(text.contains("starts at y = 1e-2 m"), "{text}");
}
