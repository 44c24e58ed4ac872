//! Joints of flush boundaries, which are told at the start.
#![allow(clippy::expect_used, reason = "a failed expectation fails the test")]

use std::fs;
use std::path::Path;

use esker::scenario::Scenario;

const BASE: &str = "duration = 1.0\n[materials.m]\ndensity = 2500.0\nyoungs_modulus = 1e6\npoisson_ratio = 0.25\nrestitution = 0.0\n\
                    friction = 0.5\n";
const BALL: &str = "[[grains]]\nmaterial = \"m\"\nradius = { kind = \"constant\", value = 0.02 }\nvelocity = [1, 0, 0]\n\
                    packing = { kind = \"list\", positions = [[-0.4, 0, 3.0]] }\n";

/// Boundary "name" of these shapes, with more lines.
fn boundary(name: &str, shapes: &[&str], more: &str) -> String {
    format!("[[boundaries]]\nname = \"{name}\"\nmaterial = \"m\"\nshapes = [{}]\n{more}\n", shapes.join(", "))
}

fn slab(min: [f64; 3], max: [f64; 3]) -> String {
    format!("{{ kind = \"box\", min = {min:?}, max = {max:?}, side = \"outside\" }}")
}

/// The slab on the left, whose top is z = 0 and which ends at x = 0, and one on the right that begins there with its top at this height \[m\].
fn slabs(gap: f64, height: f64) -> [String; 2] {
    [slab([-1.0, -0.5, -0.2], [0.0, 0.5, 0.0]), slab([gap, -0.5, -0.2], [1.0, 0.5, height])]
}

/// Pairs of boundaries that meet flush in a scenario with a ball, by their names.
fn joints(boundaries: &[String]) -> Vec<[String; 2]> {
    joints_in(Path::new(""), &[boundaries, &[BALL.to_owned()]].concat())
}

fn joints_in(folder: &Path, parts: &[String]) -> Vec<[String; 2]> {
    let text = format!("{BASE}{}", parts.concat());
    let scenario = Scenario::parse("joints", &text, folder, &[]).unwrap_or_else(|error| panic!("{error}"));
    let name = |body: usize| scenario.world.boundaries[body].name.clone();
    scenario.flush_joints().iter().map(|joint| joint.bodies.map(name)).collect()
}

fn two(left: &str, right: &str, more: &str) -> Vec<[String; 2]> {
    joints(&[boundary("l", &[left], ""), boundary("r", &[right], more)])
}

fn one(left: &str, right: &str) -> usize {
    joints(&[boundary("l", &[left, right], "")]).len()
}

/// Wavefront text of boxes, each with corners of its own.
fn block(boxes: &[[[f64; 3]; 2]]) -> String {
    let mut text = String::new();
    for [low, high] in boxes {
        for i in 0..8 {
            let [x, y, z] = [0, 1, 2].map(|axis| if i >> axis & 1 == 1 { high[axis] } else { low[axis] });
            text += &format!("v {x} {y} {z}\n");
        }
    }
    for first in (0..boxes.len()).map(|i| 8 * i + 1) {
        for face in [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]] {
            text += &format!("f {}\n", face.map(|corner: usize| (first + corner).to_string()).join(" "));
        }
    }
    text
}

const LEFT: [[f64; 3]; 2] = [[-1.0, -0.5, -0.2], [0.0, 0.5, 0.0]];
const RIGHT: [[f64; 3]; 2] = [[0.0, -0.5, -0.2], [1.0, 0.5, 0.0]];

/// Pairs that meet flush among meshes of these boxes, each mesh a boundary.
fn meshes(of: &[&[[[f64; 3]; 2]]]) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let mesh = |(i, boxes): (usize, &&[[[f64; 3]; 2]])| {
        let file = format!("{i}.obj");
        fs::write(folder.path().join(&file), block(boxes)).expect("written");
        boundary(&format!("mesh {i}"), &[&format!("{{ kind = \"mesh\", file = \"{file}\" }}")], "")
    };
    let parts: Vec<String> = of.iter().enumerate().map(mesh).chain([BALL.to_owned()]).collect();
    joints_in(folder.path(), &parts).len()
}

#[test]
fn flush_boxes_of_one_boundary_and_of_two_are_told_by_name() {
    let [left, right] = slabs(0.0, 0.0);
    assert_eq!(two(&left, &right, ""), [["l", "r"]]);
    assert_eq!(joints(&[boundary("l", &[&left, &right], "")]), [["l", "l"]]);
    // Both in the same rotation.
    let turning = "motion = { kind = \"rotation\", point = [0, 0, 0], axis = [0, 0, 1], rate = 1.0 }";
    assert_eq!(joints(&[boundary("l", &[&left], turning), boundary("r", &[&right], turning)]).len(), 1);
}

#[test]
fn flush_meshes_are_told_and_one_mesh_is_not() {
    assert_eq!(meshes(&[&[LEFT], &[RIGHT]]), 1);
    assert_eq!(meshes(&[&[LEFT, RIGHT]]), 0, "patches of one mesh that share an edge are joined");
    assert_eq!(meshes(&[&[[LEFT[0], RIGHT[1]]]]), 0, "one box");
    // Boxes in one mesh that share no edge are not joined.
    let shifted = RIGHT.map(|[x, y, z]| [x, y + 0.2, z]);
    assert_eq!(meshes(&[&[LEFT, shifted]]), 1);
}

#[test]
fn shapes_of_all_kinds_meet_flush() {
    let plane = r#"{ kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }"#;
    let [left, _] = slabs(0.0, 0.0);
    assert_eq!(one(&left, plane), 1, "a box let into a plane");
    let tube = |base: f64, radius: f64| {
        format!(
            "{{ kind = \"cylinder\", base = [0, 0, {base}], axis = [0, 0, 1], length = 1.0, radius = {radius} }}"
        )
    };
    assert_eq!(one(&tube(0.0, 0.8), &tube(1.0, 0.8)), 1, "a wall of two parts");
    assert_eq!(one(&tube(0.0, 0.8), &tube(1.0, 0.81)), 0, "the upper part is wider");
    assert_eq!(one(&tube(0.0, 0.8), plane), 0, "a wall on a floor");
    let drum = tube(0.0, 0.8).replace("radius", "side = \"outside\", radius");
    assert_eq!(one(&drum, &plane.replace("0, 0, 0]", "0, 0, 1]")), 1, "a post let into a plane");
    assert_eq!(one(&drum, plane), 0, "a post on a plane");
}

/// What a grain really meets is no flush joint: steps of 1 % of its radius, gaps of a fifth of it, and angles beyond that of a patch.
#[test]
fn steps_gaps_and_angles_are_what_they_are() {
    for (gap, height, found) in
        [(0.0, 1e-5, 1), (0.0, -1e-5, 1), (0.001, 0.0, 1), (0.0, 2e-4, 0), (0.0, -2e-4, 0), (0.004, 0.0, 0)]
    {
        let [left, right] = slabs(gap, height);
        assert_eq!(two(&left, &right, "").len(), found, "gap {gap}, height {height}");
    }
    // The right box, 1 m long and 0.2 m high, turned about its upper edge at the joint.
    let [left, _] = slabs(0.0, 0.0);
    for (angle, found) in [(4.0_f64, 1), (-4.0, 1), (6.0, 0), (-6.0, 0)] {
        let (sine, cosine) = angle.to_radians().sin_cos();
        let [x, z] = [0.5 * cosine - 0.1 * sine, -0.5 * sine - 0.1 * cosine];
        let right = slab([x - 0.5, -0.5, z - 0.1], [x + 0.5, 0.5, z + 0.1]);
        let turned = format!(", turned = {{ axis = [0, 1, 0], angle_deg = {angle} }}");
        assert_eq!(two(&left, &right.replace(" }", &format!("{turned} }}")), "").len(), found, "{angle}°");
    }
}

#[test]
fn joints_that_no_grain_slides_over_are_not_told() {
    let [left, right] = slabs(0.0, 0.0);
    let mover = "motion = { kind = \"velocity\", velocity = [0, 0, 0.1] }";
    assert!(two(&left, &right, mover).is_empty(), "they move apart");
    let text = [boundary("l", &[&left], ""), boundary("r", &[&right], "")];
    let chest = slab([5.0, 0.0, 0.0], [6.0, 1.0, 1.0]);
    let alone = [text.concat(), boundary("chest", &[&chest], "motion = { kind = \"dynamic\" }")];
    assert!(joints_in(Path::new(""), &alone).is_empty(), "there are no grains");
    // A slab on both lies over the joint, and grains slide on the slab.
    let cover = slab([-1.0, -0.4, 0.0], [1.0, 0.4, 0.3]);
    let is_told = |cover: &str| {
        let parts = [text.concat(), boundary("cover", &[cover], ""), BALL.to_owned()];
        joints_in(Path::new(""), &parts).contains(&["l", "r"].map(str::to_owned))
    };
    assert!(is_told(&cover), "beside the slab the joint is free");
    assert!(!is_told(&cover.replace("0.4", "0.5")), "and has no room under it");
    // Walls of two parts each that face each other are a bin. Outside of a bin there is no grain, and under a ceiling neither.
    let wall = |sign: f64, low: f64| slab([-1.0, sign - 0.1, low], [1.0, sign + 0.1, low + 0.5]);
    let bin = |walls: &[f64]| {
        let parts: Vec<String> = walls.iter().flat_map(|&sign| [wall(sign, 0.0), wall(sign, 0.5)]).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        joints(&[boundary("bin", &parts, "")]).len()
    };
    assert_eq!((bin(&[1.0]), bin(&[-1.0, 1.0])), (0, 1));
    let [left, right] = slabs(0.0, 0.0).map(|slab| slab.replace("-0.2", "1.0").replace("0.0]", "1.5]"));
    assert!(two(&left, &right.replace("1.5]", "1.4]"), "").is_empty(), "only the undersides are flush");
}
