use std::path::PathBuf;

use glam::DVec3;

use super::*;
use crate::settings::WarmStart;
use crate::world::{Form, Grain, Motion, PairLaw, Side};

/// The scenario files at the root of the repository.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios")
}

fn shipped(name: &str, overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(|&change| change.to_owned()).collect();
    Scenario::load(&folder().join(name), &overrides).unwrap_or_else(|problems| panic!("{problems}"))
}

/// A file with a floor and two materials, completed by `more`.
fn with(more: &str) -> Scenario {
    let text = format!("{BASIS}\n{more}");
    Scenario::parse("case", &text, Path::new(""), &[]).unwrap_or_else(|problems| panic!("{problems}"))
}

const BASIS: &str = r#"
duration = 2.0
[materials.glass]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.2
restitution = 0.6
friction = 0.3
[materials.steel]
density = 7800.0
youngs_modulus = 1e8
poisson_ratio = 0.3
restitution = 0.4
friction = 0.5
rolling_resistance = 0.1
"#;

const GRAIN: &str = r#"
[[grains]]
material = "glass"
packing = { kind = "list", positions = [[0.3, 0.2, 0.6]], radii = [0.05] }
"#;

/// Height of a column of `count` equal grains at rest: contact k carries k of them (Hertz).
fn column_height(count: u32, radius: f64, density: f64, modulus: f64, poisson: f64) -> f64 {
    let weight = density * crate::world::sphere_volume(radius) * 9.81;
    let effective = modulus / (2.0 * (1.0 - poisson * poisson));
    let overlap = |k: u32| {
        let curvature_radius = if k == count { radius } else { 0.5 * radius };
        let stiffness = 4.0 / 3.0 * effective * curvature_radius.sqrt();
        (f64::from(k) * weight / stiffness).powf(2.0 / 3.0)
    };
    2.0 * radius * f64::from(count) - (1..=count).map(overlap).sum::<f64>()
}

#[test]
fn shipped_scenarios_are_valid_and_resolve_to_themselves() {
    let settled = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(settled.path(), "x,y,z,radius\n0,0,0.0064,0.0065\n0.01,0,0.0064,0.005\n")
        .expect("written");
    let file = format!("grains.0.packing.file=\"{}\"", settled.path().display());
    let cases: [(&str, &[&str], usize); 8] = [
        ("column.toml", &[], 25),
        ("drum.toml", &[], 4864),
        ("settle.toml", &[], 10_000),
        ("settle_1000.toml", &[], 1000),
        ("box_at_rest.toml", &[], 1000),
        ("pile.toml", &[], 3363),
        ("pile_at_rest.toml", &[&file], 2),
        ("gas.toml", &[], 1000),
    ];
    for (name, overrides, grains) in cases {
        let scenario = shipped(name, overrides);
        assert_eq!(scenario.max_grains(), grains, "{name}");
        assert!(!scenario.expectations.is_empty(), "{name} states no physics");
        let again = Scenario::parse(&scenario.name, &scenario.resolved, Path::new("/nowhere"), &[])
            .unwrap_or_else(|problems| panic!("{problems}\n{}", scenario.resolved));
        assert_eq!(format!("{again:?}"), format!("{scenario:?}"), "{name}");
    }
    let listed = std::fs::read_dir(folder()).expect("scenarios").flatten();
    let files = listed.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "toml"));
    assert_eq!(files.count(), cases.len(), "a scenario file is missing from this test");
}

#[test]
fn every_default_is_written_out() {
    let scenario = with(&format!(
        "{GRAIN}
[[boundaries]]
material = \"steel\"
shape = {{ kind = \"cylinder\", base = [0, 0, 0], axis = [0, 0, 1], length = 1, radius = 1 }}
motion = {{ kind = \"rotation\", rate = 1 }}"
    ));
    for line in [
        "# Resolved by esker",
        "gravity = [0.0, 0.0, -9.81]",
        "seed = 1",
        "locked_axes = []",
        "time_step = 0.005",
        "warm_start = { kind = \"adaptive\", fraction = 0.85, motion = 0.2 }",
        "rolling_resistance = 0.0",
        "name = \"boundary-0\"",
        "side = \"inside\"",
        "axis = [0.0, 0.0, 1.0]",
        "velocity = [0.0, 0.0, 0.0]",
        "every = 0.02",
        "formats = [\"vtp\", \"csv\"]",
    ] {
        assert!(scenario.resolved.contains(line), "no `{line}` in\n{}", scenario.resolved);
    }
}

#[test]
fn the_column_expects_the_height_that_hertz_gives() {
    let scenario = shipped("column.toml", &[]);
    let height = column_height(25, 0.0065, 3700.0, 6e6, 0.25);
    let (value, tolerance) = scenario.expectations[0].value.expect("a value");
    assert!((value - height).abs() < 1e-4, "file {value} m, theory {height} m");
    assert!((tolerance / height - 0.01).abs() < 1e-3);
}

#[test]
fn overrides_reach_the_solver_and_the_packing() {
    let scenario = shipped("column.toml", &["solver.iterations=100", "grains.0.packing.count=50"]);
    assert_eq!((scenario.settings.iterations, scenario.world.grain_count()), (100, 50));
    let scenario = shipped("column.toml", &["solver.warm_start=cold"]);
    assert_eq!(scenario.settings.warm_start, WarmStart::Cold);
}

#[test]
fn the_settled_bed_grows_upwards_with_its_count() {
    let scenario = shipped("settle.toml", &["grains.0.packing.count=100000"]);
    let top = scenario.world.bodies.position.iter().map(|position| position.z).fold(0.0, f64::max);
    assert_eq!(scenario.world.grain_count(), 100_000);
    let layers = 1.0 + (top - 0.00676) / 0.01365;
    assert!((layers - 174.0).abs() < 0.1, "{layers} layers");
    let wall = 13.0 * 0.013 - 0.0065;
    assert!(scenario.world.bodies.position[1..].iter().all(|position| position.x.abs() < wall));
}

#[test]
fn the_drum_turns_on_its_axis_and_holds_equal_numbers_of_both_sizes() {
    let scenario = shipped("drum.toml", &[]);
    let drum = scenario.drum.expect("a drum");
    assert_eq!((drum.boundary, drum.radius, drum.plug_speed), (0, 0.26, 0.15));
    assert_eq!(scenario.world.bodies.position[0], DVec3::ZERO);
    assert!(
        scenario.world.surfaces.iter().all(|surface| surface.position.x == 0.0 && surface.position.z == 0.0)
    );
    let forms: Vec<_> = scenario.world.surfaces.iter().map(|surface| surface.form).collect();
    assert!(matches!(
        forms[..],
        [Form::Wall { side: Side::Inside, .. }, Form::Disc { .. }, Form::Disc { .. }]
    ));
    let large = scenario.world.spheres.iter().filter(|sphere| sphere.radius == 0.0065).count();
    assert_eq!(large, 2432);
    let highest = scenario.world.bodies.position.iter().map(|position| position.z).fold(-1.0, f64::max);
    assert!(highest < 0.1, "the packing fills the lower part: {highest} m");
}

/// Without contacts: grains fall from the source and must not be in its way.
#[test]
fn the_source_of_the_pile_places_all_its_grains_in_time() {
    let mut source = shipped("pile.toml", &[]).emitters.remove(0);
    let mut falling: Vec<(f64, Grain)> = Vec::new();
    let mut time = 0.0;
    while let Some(next) = source.next_time() {
        time = next;
        let place = |&(since, grain): &(f64, Grain)| {
            let age = time - since;
            (grain.position + age * grain.velocity + DVec3::Z * (-0.5 * 9.81 * age * age), grain.radius)
        };
        let existing: Vec<_> = falling.iter().map(place).collect();
        falling.extend(source.emit(time, existing).into_iter().map(|grain| (time, grain)));
        assert!(source.requested(time) - source.placed() < 20, "behind at {time} s: {}", source.placed());
    }
    assert_eq!(source.placed(), 3363);
    assert!(time < 7.0, "{time} s");
}

#[test]
fn a_rotating_boundary_is_placed_on_the_axis_it_turns_about() {
    let scenario = with(&format!(
        "{GRAIN}
[[boundaries]]
material = \"steel\"
shape = {{ kind = \"sphere\", centre = [1, 2, 3], radius = 0.1 }}
motion = {{ kind = \"rotation\", point = [0, 0, 0], axis = [0, 0, 2], rate = 3 }}"
    ));
    assert_eq!(scenario.world.boundaries[0].position, DVec3::new(0.0, 0.0, 3.0));
    assert_eq!(scenario.world.surfaces[0].position, DVec3::new(1.0, 2.0, 0.0));
    let Motion::Rotation { rate, .. } = scenario.world.boundaries[0].motion else { panic!("it turns") };
    assert_eq!(rate, 3.0 * DVec3::Z);
}

#[test]
fn the_walls_of_a_box_face_the_side_of_the_grains() {
    let scenario = with(&format!(
        "{GRAIN}
[[boundaries]]
material = \"steel\"
shape = {{ kind = \"box\", min = [0, 0, 0], max = [1, 2, 3], open = [\"+z\"] }}
[[boundaries]]
material = \"steel\"
shape = {{ kind = \"box\", min = [4, 0, 0], max = [5, 2, 3], side = \"outside\" }}"
    ));
    let world = &scenario.world;
    let gap = |surface: usize, point: DVec3| {
        let surface = &world.surfaces[surface];
        let body = surface.body as usize;
        surface.touch(world.bodies.position[body], world.bodies.orientation[body], point, 0.0).map(|t| t.gap)
    };
    let distances: Vec<f64> = (0..5).filter_map(|wall| gap(wall, DVec3::new(0.25, 0.5, 1.0))).collect();
    for (distance, expected) in distances.iter().zip([0.25, 0.75, 0.5, 1.5, 1.0]) {
        assert!((distance - expected).abs() < 1e-15, "{distances:?}");
    }
    assert!(matches!(world.surfaces[5].form, Form::Box { .. }));
    assert_eq!(world.surfaces.len(), 6);
}

#[test]
fn a_hopper_is_a_cone_without_caps_and_a_pestle_one_with() {
    let cone =
        "kind = \"cone\", base = [0, 0, 0], axis = [0, 0, 1], length = 2, base_radius = 0.4, top_radius = 1";
    let scenario = with(&format!(
        "{GRAIN}
[[boundaries]]
material = \"steel\"
shape = {{ {cone} }}
[[boundaries]]
material = \"steel\"
shape = {{ {}, side = \"outside\" }}",
        cone.replace("base = [0,", "base = [5,")
    ));
    let [hopper, pestle] = &scenario.world.surfaces[..] else { panic!("one surface each") };
    assert!(matches!(hopper.form, Form::Wall { bottom_radius: 0.4, side: Side::Inside, .. }));
    assert!(matches!(pestle.form, Form::Solid { top_radius: 1.0, .. }));
    assert_eq!(scenario.world.boundaries[1].position, DVec3::new(5.0, 0.0, 1.0));
}

#[test]
fn a_pair_departs_from_the_mixing_rule_only_where_it_says() {
    let scenario = with(&format!("{GRAIN}\n[[pairs]]\nmaterials = [\"steel\", \"glass\"]\nfriction = 0.9"));
    let materials = &scenario.world.materials;
    assert_eq!(materials.list[0].name, "glass", "in the order of the file");
    let mixed = PairLaw::mixed(&materials.list[0], &materials.list[1]);
    assert_eq!(materials.law(0, 1), &PairLaw { friction: 0.9, ..mixed });
    assert_eq!(materials.law(0, 0).friction, 0.3);
}

#[test]
fn locked_axes_hold_for_all_grains() {
    let text = format!("locked_axes = [\"y\", \"rx\"]{BASIS}{GRAIN}");
    let scenario = Scenario::parse("flat", &text, Path::new(""), &[]).expect("valid");
    assert_eq!(scenario.world.bodies.locked[0].free_translation(), DVec3::new(1.0, 0.0, 1.0));
    assert_eq!(scenario.world.bodies.locked[0].free_rotation(), DVec3::new(0.0, 1.0, 1.0));
}

#[test]
fn the_seed_decides_the_packing() {
    let place = |seed: &str| shipped("settle_1000.toml", &[seed]).world.bodies.position;
    assert_eq!(place("seed=5"), place("seed=5"));
    assert_ne!(place("seed=5"), place("seed=6"));
}

#[test]
fn a_random_packing_keeps_clear_of_earlier_grains_and_of_boundaries() {
    let scenario = with(&format!(
        "{GRAIN}
[[boundaries]]
material = \"steel\"
shape = {{ kind = \"sphere\", centre = [0.7, 0.7, 0.7], radius = 0.2 }}
[[grains]]
material = \"steel\"
radius = {{ kind = \"constant\", value = 0.04 }}
packing = {{ kind = \"random\", fill = 0.2, region = {{ kind = \"box\", min = [0, 0, 0], max = [1, 1, 1] }} }}"
    ));
    let volume = crate::world::sphere_volume(0.04);
    assert_eq!(scenario.world.grain_count(), 1 + (0.2 / volume).round() as usize);
}
