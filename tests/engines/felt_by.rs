//! Walls that only some materials feel, on both engines: a membrane, a sieve.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::fs;
use std::path::Path;

use crate::common::*;
use esker::scenario::Scenario;

/// Coarse and fine grains fall on a wall that fine ones do not feel, above a floor. The wall, its motion and the key `felt_by` are open.
const SCENE: &str = r#"
duration = 1.0
[solver]
time_step = 1e-3
[materials.coarse]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.25
restitution = 0.2
friction = 0.5
[materials.fine]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.25
restitution = 0.2
friction = 0.5
[[boundaries]]
name = "floor"
material = "fine"
shape = { kind = "plane", point = [0, 0, -0.1], normal = [0, 0, 1] }
[[boundaries]]
name = "wall"
material = "coarse"
WALL
[[grains]]
material = "coarse"
packing = { kind = "list", positions = [[0.02, 0.01, 0.03]], radii = [0.01] }
[[grains]]
material = "fine"
packing = { kind = "list", positions = [[-0.02, 0.01, 0.03], [-0.02, -0.02, 0.002], [0.02, -0.03, -0.02]], radii = [0.005, 0.005, 0.005] }
"#;

/// A square of side 0.2 at height 0, as a sheet of two triangles.
const SQUARE: &str = "v -0.1 -0.1 0\nv 0.1 -0.1 0\nv 0.1 0.1 0\nv -0.1 0.1 0\nf 1 2 3\nf 1 3 4\n";

fn scene(wall: &str, folder: &Path) -> Scenario {
    let read = Scenario::parse("case", &SCENE.replace("WALL", wall), folder, &[]);
    read.unwrap_or_else(|problems| panic!("{problems}"))
}

/// What feels the wall rests on it, what does not falls through it to the floor, from above, within or below the wall: planes, boxes and meshes.
#[test]
fn only_grains_of_the_named_materials_feel_a_wall() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("square.obj"), SQUARE).unwrap();
    let plane = "shape = { kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }";
    let plate =
        "shape = { kind = \"box\", min = [-0.1, -0.1, -0.004], max = [0.1, 0.1, 0], side = \"outside\" }";
    let mesh = "shape = { kind = \"mesh\", file = \"square.obj\" }";
    for shape in [plane, plate, mesh] {
        let scene = scene(&format!("{shape}\nfelt_by = [\"coarse\"]"), folder.path());
        for mut engine in both(&scene.world, &scene.settings) {
            engine.advance(400).unwrap();
            let state = engine.snapshot().unwrap().world;
            let height = |grain: usize| state.bodies.position[state.grain_body(grain)].z;
            let name = engine.identity().engine;
            let heights = [0, 1, 2, 3].map(height);
            for (found, expected) in heights.into_iter().zip([0.01, -0.095, -0.095, -0.095]) {
                assert!((found - expected).abs() < 2e-4, "{name}, {shape}: {heights:?} m");
            }
        }
    }
}

/// Without `felt_by` the grain within the wall is an overlap, and a wall that all feel is one like any other.
#[test]
fn a_wall_that_all_feel_is_as_one_without_names() {
    let plate =
        "shape = { kind = \"box\", min = [-0.1, -0.1, -0.004], max = [0.1, 0.1, 0], side = \"outside\" }";
    let refused = Scenario::parse("case", &SCENE.replace("WALL", plate), Path::new(""), &[]);
    assert!(refused.unwrap_err().to_string().contains("overlaps boundary \"wall\""));
    let apart = SCENE
        .replace(", [-0.02, -0.02, 0.002], [0.02, -0.03, -0.02]", "")
        .replace("0.005, 0.005, 0.005", "0.005");
    let after = |wall: &str| {
        let scenario = Scenario::parse("case", &apart.replace("WALL", wall), Path::new(""), &[]);
        let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
        let mut engine = cpu(&scenario.world, &scenario.settings);
        esker::engine::Engine::advance(&mut engine, 200).unwrap();
        esker::engine::Engine::snapshot(&mut engine).unwrap().world.bodies.position
    };
    let all = after(&format!("{plate}\nfelt_by = [\"fine\", \"coarse\"]"));
    assert_eq!(all, after(plate));
    assert_ne!(all, after(&format!("{plate}\nfelt_by = [\"coarse\"]")));
}
