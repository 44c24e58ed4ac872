//! Sinks remove grains and count them: the same on both engines, and nothing is lost.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::common::*;
use esker::cpu::broadphase;
use esker::engine::{Engine, Snapshot};
use esker::gpu::GpuEngine;
use esker::model::{Form, Grain, World};
use esker::observe::{Observer, packing, sinks};
use esker::oracle;
use esker::output::frames;
use esker::output::summary::Summary;
use esker::scenario::Scenario;
use esker::settings::{Settings, WarmStart};
use esker::simulation::{self, RunOptions, Simulation};
use glam::DVec3;

fn settings() -> Settings {
    Settings { iterations: 10, ..Settings::default() }
}

/// 1000 grains far apart at rest, without gravity, among sinks of every form.
fn every_form() -> Scenario {
    let text = pellets(
        r#"
[[sinks]]
name = "behind"
region = { kind = "plane", point = [-0.7, 0, 0], normal = [1, 0, 1] }
[[sinks]]
name = "box"
region = { kind = "box", min = [0.2, 0.1, 0.3], max = [0.7, 0.9, 0.9] }
[[sinks]]
name = "cylinder"
region = { kind = "cylinder", base = [0.0, -0.9, 0.1], axis = [1, 2, 0], length = 0.8, radius = 0.35 }
[[sinks]]
name = "ball"
region = { kind = "sphere", centre = [0.5, 0.5, 0.5], radius = 0.5 }
[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
packing = { kind = "lattice", corner = [-0.9, -0.9, -0.9], counts = [10, 10, 10], spacing = 0.2, jitter = 0.07 }
"#,
    )
    .resolved;
    let weightless = ["gravity=[0, 0, 0]".to_string()];
    Scenario::parse("forms", &text, Path::new("."), &weightless)
        .unwrap_or_else(|problems| panic!("{problems}"))
}

/// The sink of [`every_form`] that contains a point, computed from the shapes that its scenario describes.
fn sink_by_hand(p: DVec3) -> Option<u32> {
    let axis = DVec3::new(1.0, 2.0, 0.0) / 5f64.sqrt();
    let from_base = p - DVec3::new(0.0, -0.9, 0.1);
    let along = from_base.dot(axis);
    let is_inside = [
        p.x + 0.7 + p.z < 0.0,
        0.2 < p.x && p.x < 0.7 && 0.1 < p.y && p.y < 0.9 && 0.3 < p.z && p.z < 0.9,
        0.0 < along && along < 0.8 && (from_base - along * axis).length() < 0.35,
        p.distance(DVec3::splat(0.5)) < 0.5,
    ];
    is_inside.iter().position(|&inside| inside).map(|sink| sink as u32)
}

#[test]
fn a_sink_of_any_form_takes_the_grains_whose_centre_is_inside_and_the_first_one_wins() {
    let Scenario { world, .. } = every_form();
    let by_hand: Vec<_> = world.bodies.position.iter().map(|&centre| sink_by_hand(centre)).collect();
    for sink in 0..4 {
        let taken = by_hand.iter().filter(|taken| **taken == Some(sink)).count();
        assert!(taken >= 5, "sink {sink} takes {taken} grains: too few to prove anything");
    }
    for mut engine in both(&world, &settings()) {
        engine.advance(1).unwrap();
        let found = engine.snapshot().unwrap().world.removed;
        assert_eq!(found, by_hand, "{}", engine.identity().engine);
    }
    let mut shifted = world;
    shifted.sinks.iter_mut().for_each(|sink| sink.position.x += 0.02);
    let mut engine = gpu(&shifted, &settings());
    engine.advance(1).unwrap();
    assert_ne!(engine.snapshot().unwrap().world.removed, by_hand, "sinks 2 cm away must show");
}

const OUTLET: &str = r#"
[[sinks]]
name = "outlet"
region = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
"#;

#[test]
fn a_falling_grain_is_removed_at_the_end_of_the_substep_that_carries_it_in() {
    let heights: Vec<f64> = (0..20).map(|i| 0.05 + 0.013 * f64::from(i)).collect();
    let places: Vec<String> =
        heights.iter().enumerate().map(|(i, z)| format!("[{}, 0, {z}]", 0.05 * i as f64)).collect();
    let scenario = pellets(&format!(
        "{OUTLET}[[grains]]\nmaterial = \"pellet\"\nradius = {{ kind = \"constant\", value = 0.0065 }}\n\
         packing = {{ kind = \"list\", positions = [{}] }}",
        places.join(", ")
    ));
    let settings = Settings { time_step: 4e-3, substeps: 2, ..settings() };
    let h = settings.substep();
    // Semi-implicit: after k substeps a grain has fallen g h² k (k + 1) / 2.
    let substeps_to = |height: f64| (1u32..).find(|&k| 0.5 * 9.81 * h * h * f64::from(k * (k + 1)) > height);
    let steps_to: Vec<u64> =
        heights.iter().map(|&height| substeps_to(height).unwrap().div_ceil(2).into()).collect();
    for mut engine in both(&scenario.world, &settings) {
        let mut found = vec![0; heights.len()];
        for step in 1..=*steps_to.iter().max().unwrap() {
            engine.advance(1).unwrap();
            let removed = engine.snapshot().unwrap().world.removed;
            let gone = found.iter_mut().zip(removed).filter(|(at, sink)| **at == 0 && sink.is_some());
            gone.for_each(|(at, _)| *at = step);
        }
        assert_eq!(found, steps_to, "{}", engine.identity().engine);
    }
}

/// A settled bed in a box with a sink along its floor where x < 0.
fn bed_with_a_hole() -> World {
    bed_with_a_sink("min = [-1, -1, -1], max = [0, 1, 0.02]")
}

/// A settled bed in a box 0.156 m wide about x = y = 0, with a sink between two corners.
fn bed_with_a_sink(corners: &str) -> World {
    let settled = box_of(400);
    let mut engine = cpu(&settled.world, &settings());
    engine.advance(160).unwrap();
    let mut world = engine.snapshot().unwrap().world;
    let outlet = pellets(&format!(
        "[[sinks]]\nname = \"hole\"\nregion = {{ kind = \"box\", {corners} }}\n\
         [[grains]]\nmaterial = \"pellet\"\npacking = {{ kind = \"list\", positions = [[0, 0, 0]], radii = [1] }}"
    ));
    world.sinks = outlet.world.sinks;
    world
}

fn mass(world: &World, grains: impl Iterator<Item = usize>) -> f64 {
    grains.map(|grain| world.grain_mass(grain)).sum()
}

#[test]
fn nothing_is_lost_and_what_remains_goes_on_when_grains_vanish_from_a_bed() {
    let start = bed_with_a_hole();
    let total = mass(&start, 0..start.grain_count());
    for warm_start in [settings().warm_start, WarmStart::History { fraction: 0.85 }, WarmStart::Model] {
        let settings = Settings { substeps: 3, warm_start, ..settings() };
        for mut engine in both(&start, &settings) {
            let name = engine.identity().engine;
            let mut before: Option<World> = None;
            for _ in 0..10 {
                let residuals = engine.advance(3).unwrap().residuals;
                assert!(residuals.normal.max < 3.0 && residuals.friction.max < 3.0, "{name}: {residuals:?}");
                let snapshot = engine.snapshot().unwrap();
                let world = &snapshot.world;
                let is_gone = |grain: &usize| !world.is_present(*grain);
                let gone = mass(world, (0..world.grain_count()).filter(is_gone));
                let there = mass(world, world.present_grains());
                assert!((gone + there - total).abs() < 1e-12 * total, "{name}: {gone} + {there} kg");
                assert!(world.bodies.velocity.iter().all(|v| v.length() < 3.0), "{name}: as by free fall");
                let of_gone = |shape: u32| {
                    (shape as usize).checked_sub(world.surfaces.len()).is_some_and(|i| !world.is_present(i))
                };
                let is_ghost = |key: &esker::contact::Key| of_gone(key.a) || of_gone(key.b);
                assert!(!snapshot.contacts.iter().any(|contact| is_ghost(&contact.key)), "{name}");
                if let Some(before) = &before {
                    stays_as_it_was(before, world, name);
                }
                before = Some(snapshot.world);
            }
            let world = before.unwrap();
            let removed = world.grain_count() - world.present_count();
            assert!((60..400).contains(&removed), "{name}: {removed} of 400 grains removed");
        }
    }
}

/// Two grains that press against each other; the lower one is in a sink.
#[test]
fn a_contact_with_a_removed_grain_is_without_effect_from_the_next_substep_on() {
    let scenario = pellets(&format!(
        "{OUTLET}[[grains]]\nmaterial = \"pellet\"\nradius = {{ kind = \"constant\", value = 0.0065 }}\n\
         allow_overlap = true\n\
         packing = {{ kind = \"list\", positions = [[0, 0, -0.001], [0.001, 0, 0.0116]] }}"
    ));
    let velocities = |substeps: u32| {
        let settings = Settings { substeps, time_step: 1e-3 * f64::from(substeps), ..settings() };
        both(&scenario.world, &settings).map(|mut engine| {
            engine.advance(u64::from(4 / substeps)).unwrap();
            let world = engine.snapshot().unwrap().world;
            assert_eq!(world.removed, [Some(0), None]);
            world.bodies.velocity[1]
        })
    };
    let (alone, shared) = (velocities(1), velocities(4));
    for (a, b) in alone.into_iter().zip(shared) {
        assert!(a.z > 0.01, "the contact pushed once: {a} m/s");
        assert!((a - b).length() < 1e-7, "{a} m/s with a contact search in between, {b} without");
    }
}

/// A grain that was removed keeps its sink, pose and velocity to the last bit.
fn stays_as_it_was(before: &World, after: &World, name: &str) {
    for grain in (0..before.grain_count()).filter(|&grain| !before.is_present(grain)) {
        let body = before.grain_body(grain);
        let state = |world: &World| {
            let bodies = &world.bodies;
            (world.removed[grain], bodies.position[body], bodies.orientation[body], bodies.velocity[body])
        };
        assert_eq!(state(before), state(after), "{name}: grain {grain}");
    }
}

#[test]
fn the_contact_search_leaves_out_removed_grains_and_finds_all_others() {
    let settings = settings();
    // The sink lies away from the origin, where a row of cells crosses the end of the table and continues at its beginning. The grains
    // there stay, but had other places in the table before.
    let mut engine = gpu(&bed_with_a_sink("min = [0.03, -1, -1], max = [1, 1, 1]"), &settings);
    engine.advance(4).unwrap();
    let world = engine.snapshot().unwrap().world;
    assert!(world.present_count() < 350, "{} grains are left", world.present_count());
    let expected = oracle::all_pairs(&world, settings.reach());
    assert_eq!(broadphase::find_pairs(&world, settings.reach()), expected, "cpu");
    ["search", "broadphase"].into_iter().for_each(|stage| engine.run_stage(stage).unwrap());
    let found = engine.keys().unwrap();
    let first = found.iter().zip(&expected).find(|(found, expected)| found != expected);
    assert!(found == expected, "gpu: {} pairs for {}, first {first:?}", found.len(), expected.len());
    let mut all = world.clone();
    all.removed.fill(None);
    assert!(oracle::all_pairs(&all, settings.reach()).len() > expected.len() + 20, "they would show");
}

#[test]
fn a_run_with_sinks_has_the_same_bits_twice_and_in_any_batches() {
    let world = bed_with_a_hole();
    let run = |batch: u64| {
        let mut engine = gpu(&world, &settings());
        (0..30 / batch).for_each(|_| drop(engine.advance(batch).unwrap()));
        engine.snapshot().unwrap().world
    };
    assert_eq!(run(30), run(30));
    assert_eq!(run(30), run(5));
}

#[test]
fn an_engine_that_starts_from_a_snapshot_knows_what_was_removed() {
    let world = bed_with_a_hole();
    for mut engine in both(&world, &settings()) {
        engine.advance(4).unwrap();
        let earlier = engine.snapshot().unwrap().world;
        for mut next in both(&earlier, &settings()) {
            assert_eq!(next.snapshot().unwrap().world.removed, earlier.removed);
            assert_eq!(next.occupied().unwrap().spheres.len(), earlier.present_count());
            next.advance(2).unwrap();
            stays_as_it_was_but_for_rounding(&earlier, &next.snapshot().unwrap().world);
        }
    }
}

fn stays_as_it_was_but_for_rounding(before: &World, after: &World) {
    for grain in (0..before.grain_count()).filter(|&grain| !before.is_present(grain)) {
        let body = before.grain_body(grain);
        assert_eq!(before.removed[grain], after.removed[grain]);
        // A position is converted to single precision once: half a unit in the last place of a cell.
        let moved = before.bodies.position[body].distance(after.bodies.position[body]);
        assert!(moved < f64::from(f32::EPSILON) * D, "grain {grain} moved by {moved} m");
    }
}

#[test]
fn an_empty_scene_goes_on_and_takes_new_grains() {
    let scenario = pellets(&format!(
        "{OUTLET}[[grains]]\nmaterial = \"pellet\"\nradius = {{ kind = \"constant\", value = 0.0065 }}\n\
         packing = {{ kind = \"list\", positions = [[0, 0, 0.001], [0.0131, 0, 0.002]] }}"
    ));
    for mut engine in both(&scenario.world, &settings()) {
        engine.advance(40).unwrap();
        let Snapshot { world, contacts, .. } = engine.snapshot().unwrap();
        assert_eq!((world.present_count(), world.grain_count(), contacts.len()), (0, 2, 0));
        assert!(engine.occupied().unwrap().spheres.is_empty());
        let observer = Observer::new(&world, None);
        let value = |snapshot: &Snapshot, quantity| {
            observer.observe(snapshot).values[observer.find(quantity).unwrap()]
        };
        let snapshot = engine.snapshot().unwrap();
        assert_eq!((value(&snapshot, "grains"), value(&snapshot, "removed:outlet")), (0.0, 2.0));
        assert!(packing::height(&snapshot).is_nan());
        engine.add_grains(&[Grain::at(DVec3::Z, 0.0065, 0)]).unwrap();
        engine.advance(20).unwrap();
        let world = engine.snapshot().unwrap().world;
        assert_eq!(world.removed, [Some(0), Some(0), None]);
        assert!(world.bodies.position[2].z < 0.97, "the new one falls");
    }
}

#[test]
fn removed_grains_are_in_no_frame() {
    let mut engine = cpu(&bed_with_a_hole(), &settings());
    engine.advance(4).unwrap();
    let snapshot = engine.snapshot().unwrap();
    let frame = frames::grains(&snapshot);
    assert!(frame.points.len() < 400);
    assert_eq!(frame.points.len(), snapshot.world.present_count());
    for array in &frame.point_data {
        assert_eq!(array.len(), frame.points.len(), "{}", array.name);
    }
}

/// 400 grains a second fall 0.2 m from a source into a sink.
fn through_flow() -> Scenario {
    let text = pellets(
        r#"
[output]
every = 0.1
formats = ["csv"]
[[sinks]]
name = "outlet"
region = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
[[observe.regions]]
name = "below"
region = { kind = "box", min = [-1, -1, 0], max = [1, 1, 0.1] }
[[emitters]]
name = "source"
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
region = { kind = "box", min = [-0.1, -0.1, 0.2], max = [0.1, 0.1, 0.24] }
rate = 400.0
velocity = [0, 0, -1]
every = 0.02
[expect]
"removed:outlet" = { at_least = 300 }
"#,
    )
    .resolved;
    Scenario::parse("flow", &text, Path::new("."), &[]).unwrap_or_else(|problems| panic!("{problems}"))
}

fn run_into(folder: &Path, scenario: &Scenario, engine: &mut dyn Engine) -> Summary {
    let never = AtomicBool::new(false);
    let options = RunOptions::new(folder, &never);
    simulation::run(scenario, engine, options, &mut |_| {}).unwrap()
}

/// Values of a column of `timeseries.csv`.
fn series(folder: &Path, column: &str) -> Vec<f64> {
    let mut rows = csv::Reader::from_path(folder.join("timeseries.csv")).unwrap();
    let place = rows.headers().unwrap().iter().position(|title| title == column).expect(column);
    rows.records().map(|row| row.unwrap()[place].parse().unwrap()).collect()
}

#[test]
fn a_source_above_a_sink_runs_steadily_and_every_grain_is_accounted_for() {
    let scenario = through_flow();
    let grain = scenario.world.materials.list[0].density * esker::model::sphere_volume(0.0065);
    let mut places = Vec::new();
    for mut engine in both(&scenario.world, &settings()) {
        let folder = tempfile::tempdir().unwrap();
        let summary = run_into(folder.path(), &scenario, engine.as_mut());
        let name = &summary.engine.engine;
        let (sink, placed) = (&summary.sinks[0], summary.emitters[0].placed);
        assert_eq!(summary.counts.grains as u64 + sink.removed, placed, "{name}");
        assert!((sink.mass - sink.removed as f64 * grain).abs() < 1e-9, "{name}: {} kg", sink.mass);
        assert!(sink.removed > 300 && summary.counts.grains > 20, "{name}: {}", sink.removed);
        let world = engine.snapshot().unwrap().world;
        assert!(world.grain_count() < 80, "{name}: {} places for some 40 grains", world.grain_count());
        let mut ids: Vec<u32> = world.present_grains().map(|grain| world.ids[grain]).collect();
        ids.sort_unstable();
        let latest: Vec<u32> = (placed as u32 - ids.len() as u32..placed as u32).collect();
        assert_eq!(ids, latest, "{name}: all fall alike, so those that came last are there");
        assert!(series(folder.path(), "energy_error_share [-]").last().unwrap() < &1e-5, "{name}");
        places.push(world.ids);

        // Waves of 8 grains every 0.02 s: five of them in 0.1 s, give or take one.
        let flow = series(folder.path(), "mass_flow:outlet [kg/s]");
        assert_eq!(flow[0], 0.0);
        for rate in &flow[4..] {
            assert!((rate - 400.0 * grain).abs() <= 80.0 * grain * (1.0 + 1e-9), "{name}: {flow:?} kg/s");
        }
        let (mass, every) = (series(folder.path(), "removed_mass:outlet [kg]"), 0.1);
        for (pair, rate) in mass.windows(2).zip(&flow[1..]) {
            assert!((pair[1] - pair[0] - rate * every).abs() < 1e-9, "{name}: {mass:?} kg");
        }
        let below = series(folder.path(), "count:below [-]");
        assert!(below[5..].iter().all(|&count| (8.0..=32.0).contains(&count)), "{name}: {below:?}");
    }
    assert_eq!(places[0], places[1], "both engines give grains the same places");
}

/// A bed that a hole drains, with new grains on top where old ones have left.
#[test]
fn grains_that_come_take_the_places_of_those_that_left_and_nothing_of_theirs() {
    let bed = bed_with_a_hole();
    for mut engine in both(&bed, &settings()) {
        let name = engine.identity().engine;
        let on_top = |layer: f64| {
            let row = (0..5).map(move |i| DVec3::new(-0.05 + 0.025 * f64::from(i), 0.0, 0.3 + 0.02 * layer));
            row.map(|centre| Grain::at(centre, 0.0065, 0)).collect::<Vec<_>>()
        };
        engine.advance(4).unwrap();
        engine.add_grains(&on_top(0.0)).unwrap();
        let count = engine.snapshot().unwrap().world.grain_count();
        assert_eq!(count, bed.grain_count() + 5, "{name}: what has just left may have impulses yet");
        engine.add_grains(&on_top(1.0)).unwrap();
        assert_eq!(
            engine.snapshot().unwrap().world.grain_count(),
            count + 5,
            "{name}: no step has been made"
        );
        engine.advance(1).unwrap();
        let before = engine.snapshot().unwrap();
        let taken = sinks::taken(&before)[0];
        engine.add_grains(&on_top(2.0)).unwrap();
        let after = engine.snapshot().unwrap();
        assert_eq!(after.world.grain_count(), count + 5, "{name}: five places are free");
        let counted = sinks::taken(&after)[0];
        assert_eq!(counted.grains, taken.grains, "{name}: what left stays counted");
        approx::assert_relative_eq!(counted.mass, taken.mass, max_relative = 1e-12);
        let of_new = |id: &u32| *id >= count as u32 + 5;
        let renewed: Vec<usize> = (0..count).filter(|&grain| of_new(&after.world.ids[grain])).collect();
        assert_eq!(renewed.len(), 5, "{name}");
        assert_eq!(after.contacts, before.contacts, "{name}: the new grains fly");
        // The new grains fall freely: no contact of the grains that had their places is left.
        engine.advance(2).unwrap();
        let world = engine.snapshot().unwrap().world;
        let h = settings().time_step;
        for grain in renewed {
            let body = world.grain_body(grain);
            let (velocity, spin) = (world.bodies.velocity[body], world.bodies.angular_velocity[body]);
            assert!((velocity + 2.0 * h * 9.81 * DVec3::Z).length() < 1e-6, "{name}: {velocity} m/s");
            assert_eq!(spin, DVec3::ZERO, "{name}");
            assert_eq!(world.grain_of_id(world.ids[grain] as usize), Some(grain));
        }
    }
}

#[test]
fn scenes_without_sinks_remove_nothing() {
    let scenario = box_of(100);
    let mut engine: GpuEngine = gpu(&scenario.world, &settings());
    engine.advance(20).unwrap();
    let world = engine.snapshot().unwrap().world;
    assert_eq!(world.present_count(), 100);
    assert!(world.sinks.is_empty() && world.removed.iter().all(Option::is_none));
}

/// Grains of two sizes fall into a sink at 0.4 kg/s; new grains take the places of removed ones.
const SORTED: &str = r#"
[solver]
time_step = 2e-3

[[emitters]]
name = "source"
material = "pellet"
radius = { kind = "mixture", radii = [0.003, 0.005], shares = [0.75, 0.25] }
region = { kind = "box", min = [-0.1, -0.1, 0], max = [0.1, 0.1, 0.1] }
mass_rate = 0.4
velocity = [0, 0, -1]

[[sinks]]
name = "floor"
region = { kind = "plane", point = [0, 0, -0.05], normal = [0, 0, 1] }
bins = [0.004, 0.006]
profile = { axis = "y", from = -0.1, until = 0.1, bins = 4 }
"#;

/// The size classes and the profile of a sink sum to the grains and the mass that it took, and the mass rate of the emitter to the mass, on
/// both engines alike.
#[test]
fn a_sink_sorts_what_it_takes_by_size_and_by_place() {
    let scenario = pellets(SORTED);
    let engines =
        [simulation::device::cpu(&scenario).unwrap(), simulation::device::gpu(device(), &scenario).unwrap()];
    for engine in engines {
        let mut simulation = Simulation::on(&scenario, engine).unwrap();
        simulation.run_until(1.0).unwrap();
        let name = simulation.identity().engine;
        let world = &simulation.state().unwrap().world;
        assert!(world.replaced.iter().any(|gone| gone.taken.grains > 100), "{name}: places are taken again");
        let mut number = |quantity: &str| simulation.quantity(quantity).unwrap();
        let (grains, mass) = (number("removed:floor"), number("removed_mass:floor"));
        let (there, at) =
            (number("grains"), |quantity: &str, class: usize| format!("{quantity}:floor:{class}"));
        let sizes: Vec<f64> = (0..3).map(|class| number(&at("size_grains", class))).collect();
        assert!(grains > 400.0, "{name}: {grains}");
        assert_eq!((sizes.iter().sum::<f64>(), sizes[2]), (grains, 0.0), "{name}: {sizes:?}");
        assert!((sizes[1] / grains - 0.25).abs() < 0.065, "{name}: {sizes:?}");
        let masses: f64 = (0..3).map(|class| number(&at("size_mass", class))).sum();
        assert!((masses / mass - 1.0).abs() < 1e-12, "{name}: {masses} and {mass} kg");
        let profile: Vec<f64> = (0..6).map(|bin| number(&at("profile_grains", bin))).collect();
        assert_eq!((profile.iter().sum::<f64>(), profile[0], profile[5]), (grains, 0.0, 0.0), "{name}");
        // A quarter of some 450 grains in each bin: three standard deviations of the binomial are 28.
        assert!(profile[1..5].iter().all(|part| (part / grains - 0.25).abs() < 0.065), "{name}: {profile:?}");
        // A wave every 50 ms; the mean mass of a grain is 4/3 π 3700 kg/m³ (0.75 · 3³ + 0.25 · 5³) mm³.
        let mean_mass = 4.0 / 3.0 * std::f64::consts::PI * 3700.0 * (0.75 * 27.0 + 0.25 * 125.0) * 1e-9;
        let per_second = 0.4 / mean_mass;
        assert!(
            (0.95 * per_second - 1.0..=per_second).contains(&(grains + there)),
            "{name}: {} grains in a second, expected {per_second}",
            grains + there
        );
    }
}

/// 400 pellets above the sieve of `circuit.toml`: 19 gaps of 9 to 16 mm between turning rollers, whose radii are reduced by `thinner`
/// \[m\].
fn sieve(thinner: f64) -> Scenario {
    let over_the_sieve = "grains.0.packing={ kind = \"random\", count = 400, region = { kind = \"box\", \
                          min = [0.42, 0.62, -0.33], max = [0.82, 1.1, -0.2] } }";
    let mut scene = scenario("circuit.toml", &[over_the_sieve, "emitters=[]", "solver.iterations=10"]);
    for surface in &mut scene.world.surfaces {
        if let Form::Solid { bottom_radius, top_radius, .. } = &mut surface.form {
            (*bottom_radius, *top_radius) = (*bottom_radius - thinner, *top_radius - thinner);
        }
    }
    scene
}

/// Radii of the grains that each of the first two sinks took in 1.5 s \[m\], and the number of grains left.
fn sieved(mut engine: Box<dyn Engine>) -> ([Vec<f64>; 2], usize) {
    engine.advance(600).unwrap();
    let world = engine.snapshot().unwrap().world;
    let taken = |sink: u32| {
        let grains = (0..world.grain_count()).filter(|&grain| world.removed[grain] == Some(sink));
        grains.map(|grain| world.grain_radius(grain)).collect::<Vec<f64>>()
    };
    ([0, 1].map(taken), world.present_count())
}

#[test]
fn a_sieve_of_rollers_lets_through_what_is_narrower_than_its_gaps() {
    // The last gap above each sink [m]; a pellet that is pressed into it gives way by less than a hundredth.
    let widest = [0.010556, 0.0125].map(|gap| 1.01 * 0.5 * gap);
    let is_sorted = |taken: &[Vec<f64>; 2]| {
        taken.iter().zip(widest).all(|(radii, widest)| radii.iter().all(|&radius| radius < widest))
    };
    let scene = sieve(0.0);
    for engine in both(&scene.world, &scene.settings) {
        let (taken, left) = sieved(engine);
        assert!(is_sorted(&taken), "{taken:?}");
        assert!(taken[0].len() > 40 && left < 360, "{} fell through the first gaps", taken[0].len());
        assert_eq!(taken.iter().map(Vec::len).sum::<usize>() + left, 400, "held and removed are all");
    }
    let wide = sieve(1e-3);
    let (taken, _) = sieved(Box::new(cpu(&wide.world, &wide.settings)));
    assert!(!is_sorted(&taken), "gaps wider by 2 mm must show");
}
