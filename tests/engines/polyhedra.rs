//! Grains that are convex polyhedra: their mass, how they stand, roll and pile up, and who refuses them.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::engine::{Engine, Snapshot};
use esker::error::Error;
use esker::gpu::GpuEngine;
use esker::model::{Clump, World};
use esker::observe::loads;
use esker::scenario::Scenario;
use esker::settings::{Method, Settings};
use esker::shape::Convex;
use esker::simulation::Simulation;
use glam::{DQuat, DVec3};
use std::path::Path;

/// A scene of stone on a floor, with this text after the materials.
fn scene(body: &str) -> Scenario {
    let text = format!(
        "duration = 1.0\n[solver]\ntime_step = 1e-3\niterations = 60\n\
         [materials.stone]\ndensity = 2500.0\nyoungs_modulus = 1e8\npoisson_ratio = 0.25\nrestitution = 0.0\nfriction = 0.5\n\
         [[boundaries]]\nname = \"floor\"\nmaterial = \"stone\"\n\
         shape = {{ kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }}\n{body}"
    );
    Scenario::parse("polyhedra", &text, Path::new("."), &[]).unwrap()
}

fn state_after(scenario: &Scenario, steps: u64) -> Snapshot {
    let mut engine = cpu(&scenario.world, &scenario.settings);
    engine.advance(steps).unwrap();
    engine.snapshot().unwrap()
}

/// States of the CPU engine and of the GPU engine after these steps, with their names.
fn states_after(scenario: &Scenario, steps: u64) -> [(String, Snapshot); 2] {
    both(&scenario.world, &scenario.settings).map(|mut engine| {
        let name = engine.identity().engine.to_string();
        engine.advance(steps).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, engine.snapshot().unwrap())
    })
}

const CUBE: &str = "[shapes.cube]\nkind = \"box\"\nsize = [0.02, 0.02, 0.02]\n";

/// Cubes of 20 mm at these places, upright.
fn cubes(places: &[[f64; 3]]) -> String {
    format!(
        "{CUBE}[[grains]]\nmaterial = \"stone\"\nshape = \"cube\"\nturned = {{ axis = [0, 0, 1], angle_deg = 0 }}\n\
         packing = {{ kind = \"list\", positions = {places:?} }}\n"
    )
}

/// Fragments of rock are 2 : √2 : 1 (Fujiwara et al. 1978), pebbles of a beach 7 : 6 : 3 (Wald 1990); no two stones are alike.
#[test]
fn ballast_and_gravel_have_the_proportions_that_were_measured() {
    let corners_of = |keys: &str| {
        let grains = "[[grains]]\nmaterial = \"stone\"\nshape = \"rock\"\npacking = { kind = \"list\", positions = [[0, 0, 1]] }\n";
        let scenario = scene(&format!("[shapes.rock]\nsize = 0.04\n{keys}\n{grains}"));
        let kind = &scenario.world.clumps[0];
        kind.hull.as_ref().unwrap().corners.iter().map(|&corner| kind.axes * corner).collect::<Vec<DVec3>>()
    };
    let diameters = |corners: &[DVec3]| {
        let [low, high] =
            [DVec3::min, DVec3::max].map(|extreme| corners.iter().copied().reduce(extreme).unwrap());
        (high - low) / (high.x - low.x)
    };
    let measured = [("ballast", DVec3::new(2.0, 2f64.sqrt(), 1.0)), ("gravel", DVec3::new(7.0, 6.0, 3.0))];
    for (kind, expected) in measured {
        let [first, second] = [1, 2].map(|seed| corners_of(&format!("kind = \"{kind}\"\nseed = {seed}")));
        for corners in [&first, &second] {
            let found = diameters(corners);
            assert!(found.abs_diff_eq(expected / expected.x, 1e-9), "{kind}: {found}");
        }
        assert_ne!(first, second, "{kind}");
        let flat = diameters(&corners_of(&format!("kind = \"{kind}\"\nflatness = 0.25")));
        assert!((flat.z / flat.y - 0.25).abs() < 1e-9, "{kind}: a file may tell its own flatness, {flat}");
    }
}

#[test]
fn a_brick_has_the_mass_and_moments_of_the_textbook() {
    let scenario = scene(
        "[shapes.brick]\nkind = \"box\"\nsize = [0.01, 0.02, 0.03]\n\
         [[grains]]\nmaterial = \"stone\"\nshape = \"brick\"\nturned = { axis = [0, 0, 1], angle_deg = 0 }\n\
         packing = { kind = \"list\", positions = [[0, 0, 0.1]] }\n",
    );
    let bodies = &scenario.world.bodies;
    let mass = 2500.0 * 6e-6;
    approx::assert_relative_eq!(1.0 / bodies.inverse_mass[1], mass, max_relative = 1e-12);
    // m (b² + c²)/12 about a, whatever the order of the axes.
    let mut moments = bodies.moments[1].to_array();
    moments.sort_by(f64::total_cmp);
    for (found, squares) in moments.into_iter().zip([5e-4, 10e-4, 13e-4]) {
        approx::assert_relative_eq!(found, mass * squares / 12.0, max_relative = 1e-12);
    }
}

#[test]
fn cubes_stand_on_each_other_and_carry_their_weight() {
    let tower: Vec<[f64; 3]> = (0..4).map(|i| [0.0, 0.0, 0.01 + 0.02 * f64::from(i)]).collect();
    // In single precision the accelerations of cubes at rest are rounded to 1e-7 of what a step of gravity gives.
    for ((name, state), rounding) in states_after(&scene(&cubes(&tower)), 500).into_iter().zip([1e-5, 1e-3]) {
        for (place, position) in tower.iter().zip(&state.world.bodies.position[1..]) {
            let apart = *position - DVec3::from_array(*place);
            // Elastic faces sink into each other: δ = (F/(4/3 E* √R*))^(2/3) per point, 2e-6 to 7e-6 m.
            assert!(apart.length() < 2e-3 * 0.02, "{name}: {place:?}: {apart} m away");
        }
        let support = loads::weight_supported(&state);
        assert!((support - 1.0).abs() < rounding, "{name}: the floor carries {support}");
    }
    // Counter-check: where the upper one hangs over by more than half, it falls.
    for (name, state) in states_after(&scene(&cubes(&[[0.0, 0.0, 0.01], [0.0103, 0.0, 0.03]])), 500) {
        assert!(state.world.bodies.position[2].z < 0.025, "{name}: {}", state.world.bodies.position[2]);
    }
}

#[test]
fn a_cube_slides_on_an_incline_as_coulomb_says() {
    let mut scenario = scene(&cubes(&[[0.0, 0.0, 0.01]]));
    let (sin, cos) = 0.9f64.atan().sin_cos();
    scenario.world.gravity = 9.81 * DVec3::new(sin, 0.0, -cos);
    let mut engine = cpu(&scenario.world, &scenario.settings);
    engine.advance(100).unwrap();
    let before = engine.snapshot().unwrap().world.bodies.velocity[1].x;
    engine.advance(100).unwrap();
    let found = (engine.snapshot().unwrap().world.bodies.velocity[1].x - before) / 0.1;
    let expected = 9.81 * (sin - 0.5 * cos);
    assert!((found / expected - 1.0).abs() < 1e-3, "{found} m/s², Coulomb {expected} m/s²");
}

#[test]
fn a_cube_on_its_edge_at_the_foot_of_a_wall_stays_above_the_floor() {
    // Where it is touched, the floor lies in the plane of the wall, and yet it is no inner side of both.
    let plane = "shape = { kind = \"plane\", point = [0, 0, 0], normal = [1, 0, 0] }";
    let block = "shape = { kind = \"box\", min = [-0.1, -0.1, 0], max = [0, 0.1, 0.1], side = \"outside\" }";
    for wall in [plane, block] {
        let body = format!(
            "[[boundaries]]\nname = \"wall\"\nmaterial = \"stone\"\n{wall}\n{CUBE}\
             [[grains]]\nmaterial = \"stone\"\nshape = \"cube\"\nturned = {{ axis = [0, 1, 0], angle_deg = 40 }}\n\
             packing = {{ kind = \"list\", positions = [[0.01409, 0, 0.01409]] }}\n"
        );
        let scenario = scene(&body);
        let mut engine = cpu(&scenario.world, &scenario.settings);
        for _ in 0..20 {
            engine.advance(10).unwrap();
            let world = engine.snapshot().unwrap().world;
            let (place, turn) = (world.bodies.position[2], world.bodies.orientation[2]);
            let hull = world.clumps[0].hull.as_ref().unwrap();
            let lowest =
                hull.corners.iter().map(|&corner| place + turn * corner).fold(DVec3::INFINITY, DVec3::min);
            assert!(lowest.x > -1e-4 && lowest.z > -1e-4, "its lowest corners are at {lowest} m");
        }
    }
}

#[test]
fn a_sphere_comes_to_rest_on_a_cube_and_a_cube_on_a_sphere_falls_off() {
    let of = |cube: f64, sphere: f64| {
        let body = format!(
            "{}[[grains]]\nmaterial = \"stone\"\nradius = {{ kind = \"constant\", value = 0.008 }}\n\
             packing = {{ kind = \"list\", positions = [[0.001, 0.002, {sphere}]] }}\n",
            cubes(&[[0.0, 0.0, cube]])
        );
        let state = state_after(&scene(&body), 500);
        [state.world.bodies.position[1], state.world.bodies.position[2]]
    };
    let [_, sphere] = of(0.01, 0.028);
    assert!((sphere.z - 0.028).abs() < 1e-5, "sphere on a cube: {sphere}");
    let [cube, _] = of(0.026, 0.008);
    assert!(cube.z < 0.02, "cube on a sphere: {cube}");
}

const HULLS: &str = "[shapes.stone]\nkind = \"random\"\nsize = 0.02\ncorners = 12\nelongation = 0.8\nflatness = 0.8\nseed = 3\n";

/// Hulls of 12 corners and spheres above the floor of a box.
fn heap(count: u32) -> Scenario {
    // The more grains, the wider the box.
    let wide = 0.04 * (f64::from(count) / 60.0).sqrt().max(1.0);
    scene(&format!(
        "[[boundaries]]\nname = \"walls\"\nmaterial = \"stone\"\n\
         shape = {{ kind = \"box\", min = [-{wide}, -{wide}, 0], max = [{wide}, {wide}, 1], open = [\"-z\", \"+z\"] }}\n{HULLS}\
         [[grains]]\nmaterial = \"stone\"\nshape = \"stone\"\n\
         packing = {{ kind = \"random\", count = {count}, region = {{ kind = \"box\", min = [-{wide}, -{wide}, 0], max = [{wide}, {wide}, 0.2] }} }}\n\
         [[grains]]\nmaterial = \"stone\"\nradius = {{ kind = \"constant\", value = 0.006 }}\n\
         packing = {{ kind = \"random\", count = 10, region = {{ kind = \"box\", min = [-{wide}, -{wide}, 0.2], max = [{wide}, {wide}, 0.3] }} }}\n"
    ))
}

#[test]
fn a_heap_of_hulls_and_spheres_comes_to_rest_gains_no_energy_and_overlaps_little() {
    let scenario = heap(40);
    let mut engine = cpu(&scenario.world, &scenario.settings);
    engine.advance(800).unwrap();
    let state = engine.snapshot().unwrap();
    let support = loads::weight_supported(&state);
    assert!((support - 1.0).abs() < 0.02, "the floor carries {support}");
    let energy = state.world.kinetic_energy();
    let fall = scenario.world.bodies.position.iter().zip(&state.world.bodies.position).skip(2);
    let fallen: f64 = fall.map(|(start, end)| start.z - end.z).sum::<f64>() / 50.0;
    assert!(fallen > 0.03, "fell by {fallen} m");
    let mass: f64 = state.world.bodies.inverse_mass.iter().filter(|m| **m > 0.0).map(|m| 1.0 / m).sum();
    assert!(energy < 1e-4 * mass * 9.81 * fallen, "{energy} J left");
    let balance = state.balance.unwrap();
    let made = balance.made();
    assert!(made < 1e-3 * mass * 9.81 * fallen, "{made} J made");
    let deepest = state.contacts.iter().map(|contact| -contact.gap).fold(0.0, f64::max);
    assert!(deepest < 2e-4, "overlap of {deepest} m, of grains of 20 mm");
}

#[test]
fn hulls_rest_in_a_drum() {
    let scenario = scene(&format!(
        "[[boundaries]]\nname = \"drum\"\nmaterial = \"stone\"\n\
         shape = {{ kind = \"cylinder\", base = [0, -0.1, 0.2], axis = [0, 1, 0], length = 0.2, radius = 0.1 }}\n{CUBE}\
         [[grains]]\nmaterial = \"stone\"\nshape = \"cube\"\nturned = {{ axis = [0, 0, 1], angle_deg = 0 }}\n\
         packing = {{ kind = \"list\", positions = [[0, 0, 0.12]] }}\n"
    ));
    for (name, state) in states_after(&scenario, 500) {
        let place = state.world.bodies.position[2];
        // The lower edges of a cube of half edge a lie on the cylinder: √(R² - a²) below its axis.
        let expected = 0.2 - (0.1f64.powi(2) - 0.01f64.powi(2)).sqrt() + 0.01;
        let apart = (place - DVec3::new(0.0, 0.0, expected)).length();
        assert!(apart < 1e-5, "{name}: {place}, expected z = {expected}");
    }
}

#[test]
fn a_tetrahedron_with_an_edge_in_the_corner_of_a_box_stays_inside() {
    // One edge of 20 mm lies along the corner; the opposite one is d away, across it.
    let (half, d) = (0.01, 0.02 / 2f64.sqrt());
    let [near, far] = [-half, half].map(|shift| (d + shift) / 2f64.sqrt());
    let points = [[0.0, half, 0.0], [0.0, -half, 0.0], [near, 0.0, far], [far, 0.0, near]];
    let (middle, gap) = (0.5 * d / 2f64.sqrt(), 1e-4);
    let mut scenario = scene(&format!(
        "[[boundaries]]\nname = \"walls\"\nmaterial = \"stone\"\n\
         shape = {{ kind = \"box\", min = [0, -1, 0], max = [1, 1, 1], open = [\"-z\", \"+z\"] }}\n[shapes.it]\npoints = {points:?}\n\
         [[grains]]\nmaterial = \"stone\"\nshape = \"it\"\nturned = {{ axis = [0, 0, 1], angle_deg = 0 }}\n\
         packing = {{ kind = \"list\", positions = [[{0}, 0, {0}]] }}\n",
        middle + gap
    ));
    scenario.world.gravity = DVec3::new(-7.0, 0.0, -7.0);
    for (name, state) in states_after(&scenario, 100) {
        let apart = state.world.bodies.position[2] - DVec3::new(middle, 0.0, middle);
        assert!(apart.length() < gap, "{name}: {apart} m away");
    }
}

/// Asserts that a heap which goes on from a checkpoint after `before` steps comes to the same bits `after` steps later.
fn goes_on_from_a_checkpoint<E: Engine>(make: impl Fn(&World, &Settings) -> E, before: u64, after: u64) {
    let scenario = heap(20);
    let mut engine = make(&scenario.world, &scenario.settings);
    engine.advance(before).unwrap();
    let mut saved = Vec::new();
    engine.save(&mut saved).unwrap();
    engine.advance(after).unwrap();
    let mut other = make(&scenario.world, &scenario.settings);
    other.restore(&saved).unwrap();
    other.advance(after).unwrap();
    let [one, two] = [&mut engine, &mut other].map(|engine| engine.snapshot().unwrap().world.bodies.position);
    assert_eq!(one, two);
}

#[test]
fn a_heap_goes_on_from_a_checkpoint_with_the_same_bits() {
    goes_on_from_a_checkpoint(cpu, 150, 100);
}

/// Mean height of the grains \[m\], kinetic energy over their weight times the size of a grain \[-\], and loaded points per grain \[-\].
fn figures(state: &Snapshot) -> [f64; 3] {
    let world = &state.world;
    let heights: Vec<f64> = world.present_spheres().into_iter().map(|(centre, _)| centre.z).collect();
    let count = heights.len() as f64;
    let loaded = state.contacts.iter().filter(|contact| contact.impulse.normal > 0.0).count() as f64;
    [heights.iter().sum::<f64>() / count, motion_of(world), loaded / count]
}

/// Kinetic energy over the weight of the grains times the size of one \[-\].
fn motion_of(world: &World) -> f64 {
    let weight: f64 = world.bodies.inverse_mass.iter().filter(|m| **m > 0.0).map(|m| 9.81 / m).sum();
    world.kinetic_energy() / (weight * 0.02)
}

/// That two beds are as high, as still and as much in touch as each other.
fn assert_alike(cpu: [f64; 3], gpu: [f64; 3]) {
    // Such beds of 160 from eight seeds were higher by -1.1 % in the mean on the GPU, with a standard deviation of 1.8 %: a single bed misses
    // 3 %.
    assert!((gpu[0] / cpu[0] - 1.0).abs() < 0.08, "heights of {} m and {} m", cpu[0], gpu[0]);
    assert!(cpu[1] < 1e-2 && gpu[1] < 1e-2, "kinetic energies of {} and {}", cpu[1], gpu[1]);
    assert!((gpu[2] / cpu[2] - 1.0).abs() < 0.1, "{} and {} contact points per grain", cpu[2], gpu[2]);
}

#[test]
#[ignore = "long; in short: polyhedra::a_bed_of_hulls_that_the_gpu_engine_takes_over_as_it_lands_is_as_high_and_as_still"]
fn a_bed_of_hulls_and_spheres_is_as_high_and_as_still_on_both_engines() {
    let mut scenario = heap(160);
    scenario.settings.time_step = 2e-3;
    let [cpu, gpu] = states_after(&scenario, 250).map(|(_, state)| figures(&state));
    assert_alike(cpu, gpu);
}

#[test]
fn a_bed_of_hulls_that_the_gpu_engine_takes_over_as_it_lands_is_as_high_and_as_still() {
    let mut scenario = heap(100);
    scenario.settings.time_step = 2e-3;
    let mut on_cpu = cpu(&scenario.world, &scenario.settings);
    on_cpu.advance(60).unwrap();
    let landing = on_cpu.snapshot().unwrap().world;
    assert!(motion_of(&landing) > 0.5, "the bed still falls: {}", motion_of(&landing));
    let mut on_gpu = gpu(&landing, &scenario.settings);
    on_cpu.advance(190).unwrap();
    on_gpu.advance(190).unwrap();
    assert_alike(figures(&on_cpu.snapshot().unwrap()), figures(&on_gpu.snapshot().unwrap()));
}

#[test]
fn the_gpu_engine_goes_on_from_a_checkpoint_with_the_same_bits() {
    goes_on_from_a_checkpoint(gpu, 100, 50);
}

#[test]
fn hulls_from_an_emitter_leave_through_a_sink_on_both_engines() {
    let scenario = scene(&format!(
        "{CUBE}[[emitters]]\nname = \"source\"\nmaterial = \"stone\"\nshape = \"cube\"\nrate = 40.0\nevery = 0.05\nstop = 0.2\n\
         velocity = [0, 0, -1]\nregion = {{ kind = \"box\", min = [-0.03, -0.03, 0.1], max = [0.03, 0.03, 0.16] }}\n\
         [[sinks]]\nname = \"outlet\"\nregion = {{ kind = \"plane\", point = [0, 0, 0.03], normal = [0, 0, 1] }}\n"
    ));
    let [cpu, gpu] = both(&scenario.world, &scenario.settings).map(|engine| {
        let mut simulation = Simulation::on(&scenario, engine).unwrap();
        simulation.step(300).unwrap();
        let world = &simulation.state().unwrap().world;
        let gone: u64 = world.all_removed().iter().map(|gone| gone.taken.grains).sum();
        (gone, world.present_spheres().len())
    });
    assert_eq!(cpu, gpu);
    assert!(cpu.0 > 4, "{cpu:?}");
}

#[test]
fn cubes_rest_under_the_smooth_method_on_both_engines() {
    let mut scenario = scene(&cubes(&[[0.0, 0.0, 0.01], [0.002, 0.003, 0.03]]));
    scenario.settings.method = Method::Smooth;
    scenario.settings.time_step = 2e-5;
    for (name, state) in states_after(&scenario, 1000) {
        let heights = [1, 2].map(|body: usize| state.world.bodies.position[body].z);
        assert!((heights[0] - 0.01).abs() < 4e-5 && (heights[1] - 0.03).abs() < 8e-5, "{name}: {heights:?}");
    }
}

/// Points on a ball, all of which are corners of their hull.
fn ball_of_corners(count: u32) -> Vec<DVec3> {
    let point = |i: u32| {
        let (z, turn) = (1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(count), 2.4 * f64::from(i));
        0.01 * ((1.0 - z * z).sqrt() * glam::DVec2::from_angle(turn)).extend(z)
    };
    (0..count).map(point).collect()
}

#[test]
fn the_gpu_engine_refuses_polyhedra_of_more_than_64_corners() {
    for (corners, is_refused) in [(64, false), (65, true)] {
        let mut world = with_floor(9.81 * DVec3::NEG_Z, stone(0.5, 0.0));
        world.clumps = vec![Clump::of_hull("ball", &Convex::hull(&ball_of_corners(corners)).unwrap())];
        let refused = GpuEngine::new(device(), world, Settings::default()).err();
        let says =
            |error: &Error| matches!(error, Error::NotOnGpu { setting } if setting.contains("64 corners"));
        assert_eq!(refused.as_ref().is_some_and(says), is_refused, "{corners}: {refused:?}");
    }
}

#[test]
fn turning_a_scene_turns_its_result() {
    let scenario = scene(&cubes(&[[0.0, 0.0, 0.0105], [0.003, 0.001, 0.0312]]));
    let straight = state_after(&scenario, 100);
    let turn = DQuat::from_rotation_z(1.1);
    let mut turned = scenario.clone();
    for body in 1..3 {
        let bodies = &mut turned.world.bodies;
        bodies.position[body] = turn * bodies.position[body];
        bodies.orientation[body] = turn * bodies.orientation[body];
    }
    let turned = state_after(&turned, 100);
    for body in 1..3 {
        let apart = turned.world.bodies.position[body] - turn * straight.world.bodies.position[body];
        assert!(apart.length() < 1e-6, "{apart}");
    }
}
