use std::path::PathBuf;

use glam::DVec3;

use crate::engine::convergence::Question;
use crate::law::pair::PairLaw;
use crate::model::{Axes, Form, Grain, Side, Surface};
use crate::scenario::pace::smooth_time_step;
use crate::settings::WarmStart;

use super::*;

mod expectations;

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
    let weight = density * crate::model::sphere_volume(radius) * 9.81;
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
    let few = "grains.0.packing.count=1000";
    let cases: [(&str, &[&str], usize); 48] = [
        ("column.toml", &[], 25),
        ("servin_column.toml", &[], 10),
        ("servin_drum.toml", &[], 2000),
        ("servin_tube.toml", &[], 1000),
        ("draw_down.toml", &[], 1000),
        ("beam.toml", &[], 3),
        ("pyramid.toml", &[], 2870),
        ("compaction.toml", &[], 1016),
        ("crush.toml", &[], 129),
        ("discs_drum.toml", &[], 1000),
        ("discs_mixing.toml", &[], 1000),
        ("drum.toml", &[], 4864),
        ("small_drum.toml", &[], 600),
        ("heated_drum.toml", &[], 600),
        ("rocking_drum.toml", &[], 700),
        ("settle.toml", &[], 10_000),
        ("settle_1000.toml", &[], 1000),
        ("deep_bed.toml", &[few], 1000),
        ("box_at_rest.toml", &[], 1000),
        ("pile.toml", &[], 3363),
        ("hopper.toml", &[], 1800),
        ("mill.toml", &[], 800),
        ("box_on_grains.toml", &[], 400),
        ("intruder.toml", &[], 2001),
        ("lid.toml", &[], 10_000),
        ("two_layers.toml", &[], 20_000),
        ("triaxial.toml", &[], 10_000),
        ("wet_column.toml", &[], 1500),
        ("sandcastle.toml", &[], 1200),
        ("shear_cell.toml", &[], 400),
        ("pile_at_rest.toml", &[&file], 2),
        ("gas.toml", &[], 1000),
        ("clumps.toml", &[], 600),
        ("packed_solids.toml", &[], 400),
        ("stone_pile.toml", &[], 1200),
        ("wheel.toml", &[], 7000),
        ("excavator.toml", &[], 8495),
        ("circuit.toml", &[], 8243),
        ("soak.toml", &[], 100_000),
        ("circulation.toml", &[], 360_000),
        ("dosta/silo_large.toml", &[few], 1000),
        ("dosta/drum.toml", &[few], 31_000),
        ("dosta/impact_25k.toml", &[], 25_001),
        ("dosta/impact_50k.toml", &[], 50_001),
        ("dosta/impact_100k.toml", &[], 100_001),
        ("dosta/silo_small.toml", &[few], 1000),
        ("convergence_column.toml", &[], 25),
        ("convergence_pile.toml", &[&file], 2),
    ];
    for (name, overrides, grains) in cases {
        let scenario = shipped(name, overrides);
        assert_eq!(scenario.max_grains(), grains, "{name}");
        assert!(!scenario.expectations.is_empty(), "{name} states no physics");
        let again = Scenario::parse(&scenario.name, &scenario.resolved, Path::new("/nowhere"), &[])
            .unwrap_or_else(|problems| panic!("{problems}\n{}", scenario.resolved));
        assert_eq!(format!("{again:?}"), format!("{scenario:?}"), "{name}");
    }
    let listed =
        [folder(), folder().join("dosta")].map(|folder| std::fs::read_dir(folder).expect("scenarios"));
    let listed = listed.into_iter().flatten().flatten();
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
    let bounds = &scenario.expectations[0].bounds;
    let (value, tolerance) = bounds.value.zip(bounds.tolerance).expect("a value with a tolerance");
    assert!((value - height).abs() < 1e-4, "file {value} m, theory {height} m");
    assert!((tolerance.double / height - 0.01).abs() < 1e-3);
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
        falling.extend(source.emit(time, existing, &|_, _| false).into_iter().map(|grain| (time, grain)));
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
    let axis = scenario.world.boundaries[0].rotation_at(0.0).expect("it turns");
    assert_eq!((axis.point, axis.rate), (DVec3::ZERO, 3.0 * DVec3::Z));
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
fn a_free_box_has_mass_corners_and_a_turn_of_its_own() {
    let scenario = with(
        "[[boundaries]]
material = \"steel\"
shape = { kind = \"box\", min = [0, 0, 0], max = [1, 2, 3], side = \"outside\", turned = { axis = [0, 0, 2], angle_deg = 90 } }
motion = { kind = \"dynamic\", velocity = [1, 0, 0], angular_velocity = [0, 4, 0], locked_axes = [\"z\", \"rx\"], density = 10 }
[[boundaries]]
material = \"steel\"
shape = { kind = \"sphere\", centre = [5, 0, 0], radius = 0.1 }
motion = { kind = \"dynamic\" }",
    );
    let world = &scenario.world;
    let free = world.dynamic_boundary(0).expect("it is free");
    assert_eq!((free.mass, world.bodies.inverse_mass[0]), (60.0, 1.0 / 60.0));
    assert_eq!(free.locked, Axes::TRANSLATION[2].and(Axes::ROTATION[0]));
    assert_eq!((world.bodies.velocity[0], world.bodies.angular_velocity[0]), (DVec3::X, 4.0 * DVec3::Y));
    let density = world.dynamic_boundary(1).expect("so is the ball").mass / crate::model::sphere_volume(0.1);
    approx::assert_relative_eq!(density, 7800.0, max_relative = 1e-12);

    assert_eq!(world.vertices.len(), 2, "the box and the ball");
    // A quarter turn about z through the centre (0.5, 1, 1.5) swaps the edges along x and y.
    let block = world.solids.of(0).expect("a box is a convex solid");
    let Surface { position, orientation, .. } = world.surfaces[0];
    let on_body = block.corners.iter().map(|&corner| position + orientation * corner);
    let corners: Vec<DVec3> =
        on_body.map(|corner| world.bodies.position[0] + world.bodies.orientation[0] * corner).collect();
    assert_eq!(corners.len(), 8);
    let low = corners.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = corners.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    assert!((low - DVec3::new(-0.5, 0.5, 0.0)).length() < 1e-12, "{low}");
    assert!((high - DVec3::new(1.5, 1.5, 3.0)).length() < 1e-12, "{high}");
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
fn compatible_forces_are_not_asked_of_contacts_that_hold_together() {
    let asked = |pair: &str| {
        let text = format!(
            "{BASIS}{GRAIN}\n[[pairs]]\nmaterials = [\"steel\", \"glass\"]\n{pair}\n[forces]\ncompatible = {{ law = \"hertz\" }}"
        );
        Scenario::parse("sticky", &text, Path::new(""), &[])
    };
    assert!(asked("friction = 0.9").is_ok());
    let refused = asked("work_of_adhesion = 0.1").expect_err("refused").to_string();
    assert!(refused.contains("they never pull"), "{refused}");
}

#[test]
fn locked_axes_hold_for_all_grains() {
    let text = format!("locked_axes = [\"y\", \"rx\"]{BASIS}{GRAIN}");
    let scenario = Scenario::parse("flat", &text, Path::new(""), &[]).expect("valid");
    assert_eq!(scenario.world.bodies.locked[0].free_translation(), DVec3::new(1.0, 0.0, 1.0));
    assert_eq!(scenario.world.bodies.locked[0].free_rotation(), DVec3::new(0.0, 1.0, 1.0));
}

#[test]
fn a_block_adds_its_own_locked_axes() {
    let block = GRAIN.replace("[[grains]]", "[[grains]]\nlocked_axes = [\"x\"]");
    let text = format!("locked_axes = [\"rz\"]{BASIS}{GRAIN}{}", block.replace("0.6]", "0.9]"));
    let locked = Scenario::parse("two", &text, Path::new(""), &[]).expect("valid").world.bodies.locked;
    assert_eq!(
        (locked[0].free_translation(), locked[0].free_rotation()),
        (DVec3::ONE, DVec3::new(1.0, 1.0, 0.0))
    );
    assert_eq!(
        (locked[1].free_translation(), locked[1].free_rotation()),
        (DVec3::new(0.0, 1.0, 1.0), DVec3::new(1.0, 1.0, 0.0))
    );
}

#[test]
fn a_list_gives_each_grain_its_own_velocity_and_the_block_what_the_list_leaves_out() {
    let bodies = with(
        "[[grains]]
material = \"glass\"
velocity = [9, 9, 9]
angular_velocity = [0, 5, 0]
packing = { kind = \"list\", positions = [[0, 0, 1], [0, 0, 2]], radii = [0.1, 0.1], velocities = [[1, 0, 0], [0, 0, -2]] }",
    )
    .world
    .bodies;
    assert_eq!(bodies.velocity, [DVec3::X, DVec3::new(0.0, 0.0, -2.0)]);
    assert_eq!(bodies.angular_velocity, [DVec3::new(0.0, 5.0, 0.0); 2]);
}

#[test]
fn random_velocities_have_their_deviation_and_no_momentum() {
    let gas = |more: &str| {
        with(&format!(
            "[[grains]]
material = \"glass\"
radius = {{ kind = \"uniform\", min = 0.05, max = 0.1 }}
velocity = [0, 7, 0]
random_velocity = 3.0
{more}
packing = {{ kind = \"lattice\", corner = [0, 0, 0], counts = [20, 20, 10], spacing = 0.5 }}"
        ))
        .world
    };
    let world = gas("");
    let count = world.grain_count() as f64;
    let momentum: DVec3 = (0..world.grain_count())
        .map(|i| world.grain_mass(i) * (world.bodies.velocity[i] - 7.0 * DVec3::Y))
        .sum();
    assert!(momentum.length() < 1e-9, "{momentum} N s");
    // Variance per axis, of 4000: its deviation is 9 √(2/4000) = 0.2.
    let square: DVec3 =
        world.bodies.velocity.iter().map(|&v| (v - 7.0 * DVec3::Y) * (v - 7.0 * DVec3::Y)).sum();
    assert!((square / count - 9.0).abs().max_element() < 0.8, "{} m²/s²", square / count);
    assert_ne!(world.bodies.velocity, gas("locked_axes = [\"x\"]").bodies.velocity);
    assert!(gas("locked_axes = [\"x\"]").bodies.velocity.iter().all(|velocity| velocity.x == 0.0));
}

#[test]
fn a_sink_is_the_solid_of_its_region() {
    let sinks = with(&format!(
        "{GRAIN}
[[sinks]]
region = {{ kind = \"plane\", point = [0, 0, 1], normal = [0, 0, -2] }}
[[sinks]]
region = {{ kind = \"box\", min = [0, 0, 0], max = [1, 2, 3] }}
[[sinks]]
region = {{ kind = \"cylinder\", base = [1, 0, 0], axis = [1, 0, 0], length = 2, radius = 0.5 }}
[[sinks]]
region = {{ kind = \"sphere\", centre = [0, 0, 9], radius = 1 }}"
    ))
    .world
    .sinks;
    let names: Vec<&str> = sinks.iter().map(|sink| sink.name.as_str()).collect();
    assert_eq!(names, ["sink-0", "sink-1", "sink-2", "sink-3"]);
    let inside = [[0.0, 0.0, 1.1], [0.9, 1.9, 2.9], [2.9, 0.4, 0.1], [0.0, 0.0, 8.1]];
    let outside = [[0.0, 0.0, 0.9], [1.1, 1.9, 2.9], [3.1, 0.4, 0.1], [0.0, 0.0, 7.9]];
    for (sink, (inside, outside)) in sinks.iter().zip(inside.into_iter().zip(outside)) {
        assert!(sink.contains(DVec3::from(inside)) && !sink.contains(DVec3::from(outside)), "{sink:?}");
    }
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
packing = {{ kind = \"random\", solid_fraction = 0.2, region = {{ kind = \"box\", min = [0, 0, 0], max = [1, 1, 1] }} }}"
    ));
    let volume = crate::model::sphere_volume(0.04);
    assert_eq!(scenario.world.grain_count(), 1 + (0.2 / volume).round() as usize);
}

#[test]
fn a_look_at_convergence_takes_the_start_of_the_run_and_a_reference_of_twenty_times_the_sweeps() {
    let plan = |more: &str| with(&format!("{GRAIN}{more}")).convergence;
    assert_eq!(plan(""), None);
    let usual = plan("[convergence]\ntimes = [2, 0.5]\n[solver]\nwarm_start = \"model\"").expect("a plan");
    let question = Question { starts: vec![WarmStart::Model], sweeps: 100, reference: 2000 };
    assert_eq!(usual, ConvergencePlan { times: vec![0.5, 2.0], question });
    let starts = r#"["cold", { kind = "history", fraction = 0.5 }, "normals_only", "no_velocity_update"]"#;
    let told = plan(&format!("[convergence]\ntimes = [1]\nsweeps = 5\nreference = 7\nstarts = {starts}"));
    let starts = vec![
        WarmStart::Cold,
        WarmStart::History { fraction: 0.5 },
        WarmStart::NORMALS_ONLY,
        WarmStart::NO_VELOCITY_UPDATE,
    ];
    assert_eq!(told.expect("a plan").question, Question { starts, sweeps: 5, reference: 7 });
}

#[test]
fn a_look_at_convergence_is_refused_where_there_are_no_sweeps() {
    let read = |method: &str| {
        let more = format!("[convergence]\ntimes = [1]\n[solver]\nmethod = \"{method}\"\ntime_step = 1e-5");
        Scenario::parse("case", &format!("{BASIS}\n{GRAIN}{more}"), Path::new(""), &[])
    };
    assert!(read("nonsmooth").is_ok());
    let refusal = read("smooth").expect_err("refused").to_string();
    assert!(
        refusal.contains("`convergence` examines sweeps") && refusal.contains("solver.method"),
        "{refusal}"
    );
}

#[test]
fn the_smooth_method_finds_its_time_step() {
    let other = GRAIN.replace("0.6", "0.8");
    let read = |solver: &str| {
        Scenario::parse("case", &format!("{BASIS}\n{GRAIN}{other}[solver]\n{solver}"), Path::new(""), &[])
    };
    let scenario = read("method = \"smooth\"\ntime_step = \"auto\"").expect("a scenario");
    let step = scenario.settings.time_step;
    let longest = smooth_time_step(&scenario).expect("there is a grain");
    assert!(step <= longest && step > 0.9 * longest, "{step} s of {longest} s");
    let again = Scenario::parse("case", &scenario.resolved, Path::new(""), &[]).expect("what was resolved");
    assert_eq!(again.settings, scenario.settings);

    let stiff =
        read("method = \"smooth\"\ntime_step = \"auto\"\nnormal_law = \"hooke\"").expect("a scenario");
    assert_ne!(stiff.settings.time_step, step);
    let refusal = |solver: &str| read(solver).expect_err("refused").to_string();
    assert!(refusal("time_step = \"auto\"").contains("time_step"), "the nonsmooth method has no such step");
    let rigid = refusal("method = \"smooth\"\nnormal_law = \"rigid\"");
    assert!(rigid.contains("needs the force of an overlap") && rigid.contains("hooke"), "{rigid}");
    assert!(refusal("method = \"smoth\"").contains("smooth"));
}

#[test]
fn automatic_iterations_take_their_tolerance_from_gravity_and_the_substep() {
    let read = |more: &str| with(&format!("{GRAIN}[solver]\ntime_step = 0.004\n{more}"));
    let auto = read("iterations = \"auto\"\nsubsteps = 2");
    let Settings { iterations, tolerance, .. } = auto.settings;
    assert_eq!(iterations, 200);
    assert!((tolerance - 0.03 * 9.81 * 0.002).abs() < 1e-15, "{tolerance} m/s");
    assert!(
        auto.resolved.contains("iterations = \"auto\"") && auto.resolved.contains("tolerance = 0.000588")
    );
    let again = Scenario::parse("case", &auto.resolved, Path::new(""), &[]).expect("what was resolved");
    assert_eq!(again.settings, auto.settings);
    // Without gravity from the impact threshold, and from its usual value where that is 0.
    let weightless = |threshold: f64| {
        let text = format!("{BASIS}\n{GRAIN}[solver]\niterations = \"auto\"\nimpact_threshold = {threshold}");
        let gravity = ["gravity=[0, 0, 0]".to_owned()];
        let scenario = Scenario::parse("case", &text, Path::new(""), &gravity);
        scenario.expect("a scenario without gravity").settings.tolerance
    };
    assert_eq!([weightless(0.2), weightless(0.0)], [0.03 * 0.2, 0.03 * 0.05]);
    assert_eq!(read("iterations = \"auto\"\ntolerance = 1e-3").settings.tolerance, 1e-3);
    assert_eq!(read("iterations = 7").settings.tolerance, 0.0);
}

#[test]
fn pictures_of_the_resolved_file_look_the_same() {
    let plan = "pictures = { show = \"forces\", zoom = 2, range = [-1, 2], fit = { min = [0, 0, 0], max = [1, 1, 1] }, \
                cut = { point = [1, 2, 3], normal = [0, 0, 2] } }";
    for plan in [plan, "pictures = {}"] {
        let text = format!(
            r#"
duration = 1.0
[materials.glass]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.2
restitution = 0.6
friction = 0.3
[[grains]]
material = "glass"
radius = {{ kind = "constant", value = 0.01 }}
packing = {{ kind = "list", positions = [[0, 0, 0]] }}
[output]
{plan}
"#
        );
        let read = |text: &str| Scenario::parse("case", text, Path::new(""), &[]).expect("valid");
        let scenario = read(&text);
        let pictures = scenario.output.pictures.as_ref().expect("a plan of pictures");
        assert_eq!(pictures.every, 0.01, "that of the output");
        assert_eq!(read(&scenario.resolved).output, scenario.output, "{}", scenario.resolved);
        assert!(scenario.resolved.contains("azimuth_deg = 30"), "{}", scenario.resolved);
    }
}
