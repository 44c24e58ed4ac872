//! Emitters: grains appear where nothing solid is, on both engines, and all that the file asks for comes by the end.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::common::*;
use esker::model::Grain;
use esker::scenario::Scenario;
use esker::simulation::{self, RunOptions, Simulation};
use glam::DVec3;

const STONE: &str = r#"
gravity = [0, 0, 0]
[solver]
time_step = 1e-3
iterations = 5
[materials.m]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.25
restitution = 0.0
friction = 0.5
"#;

fn scenario_in(folder: &Path, text: &str) -> Scenario {
    Scenario::parse("test", text, folder, &[]).unwrap_or_else(|problems| panic!("{problems}"))
}

fn of_text(text: &str) -> Scenario {
    scenario_in(Path::new("."), text)
}

/// An emitter of `total` grains of this radius at once into a box, in a scene with these boundaries.
fn emission(boundaries: &str, radius: f64, total: u32, [min, max]: [[f64; 3]; 2]) -> String {
    format!(
        "duration = 0.004\n{STONE}{boundaries}\n[[emitters]]\nmaterial = \"m\"\nradius = {{ kind = \"constant\", value = {radius} }}\n\
         region = {{ kind = \"box\", min = {min:?}, max = {max:?} }}\ntotal = {total}\n"
    )
}

/// Places of the emitted grains after a few steps of both engines, which have no kinetic energy.
fn at_rest(scenario: &Scenario) -> [Vec<DVec3>; 2] {
    both(&scenario.world, &scenario.settings).map(|engine| {
        let name = engine.identity().engine;
        let mut simulation = Simulation::on(scenario, engine).unwrap();
        simulation.step(4).unwrap();
        let state = simulation.state().unwrap();
        assert_eq!(state.world.kinetic_energy(), 0.0, "{name}");
        state.world.present_spheres().into_iter().map(|(centre, _)| centre).collect()
    })
}

fn boundary(shape: &str, more: &str) -> String {
    format!("[[boundaries]]\nname = \"it\"\nmaterial = \"m\"\nshape = {shape}\n{more}\n")
}

#[test]
fn behind_a_plane_and_in_a_dynamic_box_there_is_no_room() {
    let plane = boundary(r#"{ kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }"#, "");
    let lid = boundary(
        r#"{ kind = "box", min = [0, 0, 0], max = [0.2, 0.2, 0.2], side = "outside" }"#,
        r#"motion = { kind = "dynamic" }"#,
    );
    for (boundary, below, above) in [
        (&plane, [[0.0, 0.0, -0.3], [0.2, 0.2, -0.1]], [[0.0, 0.0, 0.1], [0.2, 0.2, 0.3]]),
        (&lid, [[0.05, 0.05, 0.05], [0.15, 0.15, 0.15]], [[0.05, 0.05, 0.25], [0.15, 0.15, 0.35]]),
    ] {
        let [cpu, gpu] = at_rest(&of_text(&emission(boundary, 0.03, 1, below)));
        assert!(cpu.is_empty() && gpu.is_empty(), "{cpu:?} {gpu:?}");
        let [cpu, gpu] = at_rest(&of_text(&emission(boundary, 0.03, 1, above)));
        assert_eq!((cpu.len(), gpu.len()), (1, 1), "where there is room it comes");
    }
}

#[test]
fn a_boundary_is_in_the_way_where_it_is_and_not_where_it_was() {
    // At 0.5 s it has left the region, [0, 0.3] along x, by 0.7 m, or has come into it.
    let moved = |from: f64| {
        let shape = format!(
            "{{ kind = \"box\", min = [{}, -1, -1], max = [{}, 1, 1], side = \"outside\" }}",
            from - 0.2,
            from + 0.5
        );
        let body = boundary(&shape, "motion = { kind = \"velocity\", velocity = [2, 0, 0] }");
        let text = emission(&body, 0.03, 1, [[0.0, 0.0, 0.0], [0.3, 0.3, 0.3]]) + "start = 0.5\n";
        of_text(
            &text
                .replace("time_step = 1e-3", "time_step = 0.1")
                .replace("duration = 0.004", "duration = 0.6"),
        )
    };
    for (from, expected) in [(0.0, 1), (-1.0, 0)] {
        for engine in both(&moved(from).world, &moved(from).settings) {
            let mut simulation = Simulation::on(&moved(from), engine).unwrap();
            simulation.step(6).unwrap();
            assert_eq!(simulation.state().unwrap().world.present_count(), expected, "from {from} m");
        }
    }
}

/// The wall and the bottom of a bin of 1 m in radius and height about z, of 24 sides.
fn bin() -> String {
    let at = |i: usize, z: f64| {
        let (sine, cosine) = (std::f64::consts::TAU * (i % 24) as f64 / 24.0).sin_cos();
        format!("vertex {cosine} {sine} {z}\n")
    };
    let mut text = String::from("solid bin\n");
    for i in 0..24 {
        let faces = [
            [at(i, 0.0), at(i + 1, 0.0), at(i + 1, 1.0)],
            [at(i, 0.0), at(i + 1, 1.0), at(i, 1.0)],
            ["vertex 0 0 0\n".into(), at(i + 1, 0.0), at(i, 0.0)],
        ];
        for face in faces {
            write!(text, "facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n", face.concat()).unwrap();
        }
    }
    text + "endsolid bin\n"
}

#[test]
fn a_region_as_wide_as_a_round_bin_is_filled_inside_the_bin_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bin.stl"), bin()).unwrap();
    let body = boundary(r#"{ kind = "mesh", file = "bin.stl", sheet = true }"#, "");
    let text = emission(&body, 0.05, 100, [[-1.0, -1.0, 0.4], [1.0, 1.0, 0.8]]);
    let scenario = scenario_in(folder.path(), &text);
    // A side of the bin is cos 7.5° from the axis in its middle.
    let inner = (std::f64::consts::PI / 24.0).cos();
    for places in at_rest(&scenario) {
        assert_eq!(places.len(), 100);
        assert!(places.iter().all(|place| place.truncate().length() < inner + 1e-6));
    }
    // Of 100 places in the whole box the corners, 21 % of it, would get some.
    let nowhere = of_text(&emission("", 0.05, 100, [[-1.0, -1.0, 0.4], [1.0, 1.0, 0.8]]));
    assert!(at_rest(&nowhere)[0].iter().any(|place| place.truncate().length() > 1.0));
}

#[test]
fn a_block_and_a_sheet_in_the_region_are_kept_clear() {
    let folder = tempfile::tempdir().unwrap();
    let sheet = "v 0 0 0.5\nv 1 0 0.5\nv 1 1 0.5\nv 0 1 0.5\nf 1 2 3\nf 1 3 4\n";
    std::fs::write(folder.path().join("sheet.obj"), sheet).unwrap();
    let region = [[0.1, 0.1, 0.3], [0.9, 0.9, 0.7]];
    let block =
        boundary(r#"{ kind = "box", min = [0.3, 0.3, 0.4], max = [0.7, 0.7, 0.6], side = "outside" }"#, "");
    let of_block = of_text(&emission(&block, 0.05, 40, region));
    for places in at_rest(&of_block) {
        let (low, high) = (DVec3::new(0.3, 0.3, 0.4), DVec3::new(0.7, 0.7, 0.6));
        assert!(places.len() >= 30, "{}", places.len());
        assert!(places.iter().all(|&place| place.distance(place.clamp(low, high)) > 0.05 - 1e-6));
    }
    let mesh = boundary(r#"{ kind = "mesh", file = "sheet.obj" }"#, "");
    let of_sheet = scenario_in(folder.path(), &emission(&mesh, 0.05, 40, region));
    for places in at_rest(&of_sheet) {
        assert!(places.iter().all(|place| (place.z - 0.5).abs() > 0.05 - 1e-6));
        let above = places.iter().filter(|place| place.z > 0.5).count();
        assert!(above > 5 && places.len() - above > 5, "{above} of {} are above it", places.len());
    }
}

/// Requested and placed grains of an emitter of 700 grains per second with these keys, in a run of `duration` \[s\].
fn poured(duration: f64, keys: &str) -> [u64; 2] {
    let text = format!(
        "duration = {duration}\n{STONE}[[emitters]]\nmaterial = \"m\"\nradius = {{ kind = \"constant\", value = 0.005 }}\n\
         region = {{ kind = \"box\", min = [0, 0, 0], max = [1, 1, 0.5] }}\nvelocity = [0, 0, -1]\nrate = 700.0\n{keys}\n\
         [output]\nformats = []\n"
    );
    let scenario = of_text(&text.replace("time_step = 1e-3", "time_step = 0.01"));
    let folder = tempfile::tempdir().unwrap();
    let never = AtomicBool::new(false);
    let mut engine = cpu(&scenario.world, &scenario.settings);
    let options = RunOptions::new(folder.path(), &never);
    let summary = simulation::run(&scenario, &mut engine, options, &mut |_| {}).unwrap();
    assert_eq!(summary.counts.grains as u64, summary.emitters[0].placed);
    [summary.emitters[0].requested, summary.emitters[0].placed]
}

#[test]
fn all_that_is_due_comes_even_if_stop_and_end_are_no_multiples_of_the_interval() {
    for keys in ["stop = 1.0\nevery = 0.3", "stop = 1.0\nevery = 0.07", "stop = 1.0\nevery = 5.0"] {
        assert_eq!(poured(1.5, keys), [700, 700], "{keys}");
    }
    // Without a stop the end of the run is the last wave.
    for keys in ["every = 0.05", "every = 0.3", "total = 9000\nevery = 0.3"] {
        assert_eq!(poured(1.0, keys), [700, 700], "{keys}");
    }
    // A stop between two steps of 10 ms.
    assert_eq!(poured(1.5, "stop = 0.995\nevery = 0.3"), [696, 696]);
    assert_eq!(poured(1.5, "total = 300\nevery = 0.3"), [300, 300]);
}

#[test]
fn a_simulation_without_a_run_gets_the_wave_at_the_step_where_it_ends() {
    let text = format!(
        "duration = 1.0\n{STONE}[[emitters]]\nmaterial = \"m\"\nradius = {{ kind = \"constant\", value = 0.005 }}\n\
         region = {{ kind = \"box\", min = [0, 0, 0], max = [1, 1, 0.5] }}\nrate = 100.0\nevery = 0.3\n"
    );
    let scenario = of_text(&text.replace("time_step = 1e-3", "time_step = 0.01"));
    let engine = Box::new(cpu(&scenario.world, &scenario.settings));
    let mut simulation = Simulation::on(&scenario, engine).unwrap();
    let mut count = |time: f64| {
        simulation.run_until(time).unwrap();
        simulation.state().unwrap().world.present_count()
    };
    assert_eq!([0.29, 0.3, 0.95, 1.0, 1.5].map(&mut count), [0, 30, 90, 100, 100]);
}

#[test]
fn a_grain_that_is_added_into_something_is_refused_and_told() {
    let plane = boundary(r#"{ kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }"#, "");
    let text = format!(
        "duration = 1.0\n{STONE}{plane}[[grains]]\nmaterial = \"m\"\nradius = {{ kind = \"constant\", value = 0.1 }}\n\
         packing = {{ kind = \"list\", positions = [[0, 0, 0.5]] }}\n"
    );
    let scenario = of_text(&text);
    for engine in both(&scenario.world, &scenario.settings) {
        let mut simulation = Simulation::on(&scenario, engine).unwrap();
        let at = |x: f64, z: f64| Grain::at(DVec3::new(x, 0.0, z), 0.1, 0);
        let mut refused = |grains: &[Grain]| simulation.add_grains(grains).unwrap_err().to_string();
        let behind = refused(&[at(1.0, 1.0), at(0.0, -0.3)]);
        assert!(
            behind.contains("grain 1 of those to be added overlaps boundary \"it\" by 4.000e-1 m"),
            "{behind}"
        );
        let grain = refused(&[at(0.05, 0.5)]);
        assert!(grain.contains("overlaps the grain at [0, 0, 0.5] m by 1.500e-1 m"), "{grain}");
        let each_other = refused(&[at(1.0, 1.0), at(1.0, 1.1)]);
        assert!(each_other.contains("grain 1 of those to be added overlaps grain 0 of them"), "{each_other}");
        simulation.add_grains(&[at(0.21, 0.5), at(0.5, 0.0999)]).unwrap();
        simulation.add_overlapping_grains(&[at(0.05, 0.5)]).unwrap();
        assert_eq!(simulation.state().unwrap().world.present_count(), 4);
    }
}
