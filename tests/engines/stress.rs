//! Stress of regions and layers [E17]: impacts count, impulses meet the arms of their instant, and every layer carries the weight above it.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::engine::{Engine, Snapshot};
use esker::model::random::Stream;
use esker::model::{Form, Grain, Materials, Periodic, Random, Region, Surface, World, sphere_volume};
use esker::observe::layers::Layer;
use esker::observe::regions::bulk_stress;
use esker::observe::stress::{meters, of_grains};
use esker::observe::{Base, LayerPlan, Observer, RegionPlan};
use esker::settings::Settings;
use glam::{DMat3, DQuat, DVec3};

/// Half a unit in the last place of a number near 1, in single precision.
const ROUNDING: f64 = 0.5 * f32::EPSILON as f64;

/// Rounding errors of the numbers of an engine, as a share of them.
fn rounding(engine: &dyn Engine) -> f64 {
    if engine.identity().engine == "cpu" { 1e-9 } else { 16.0 * ROUNDING }
}

fn zone(min: DVec3, max: DVec3) -> RegionPlan {
    RegionPlan { name: "zone".into(), region: Region::Box { min, max }, material: None }
}

fn layers(region: &RegionPlan, count: usize) -> LayerPlan {
    LayerPlan { region: region.region.clone(), axis: DVec3::Z, count }
}

/// Base of the means since this state.
fn base(state: &Snapshot) -> Base {
    Observer::new(&state.world, None).base(state, None)
}

fn zz(tensor: &DMat3) -> f64 {
    tensor.col(2)[2]
}

/// A material without friction whose impacts lose nothing.
fn elastic() -> Materials {
    stone(0.0, 1.0)
}

/// Two grains of radius 0.1 m fly up and down between two walls 1 m apart, 1 m/s fast and in opposite directions.
fn two_between_walls() -> (World, Settings) {
    let mut world = with_floor(DVec3::ZERO, elastic());
    let downwards = DQuat::from_rotation_x(std::f64::consts::PI);
    world.add_boundary(fixed("lid"), [Surface::new(DVec3::Z, downwards, Form::Plane, 0)]);
    let at = |x: f64, speed: f64| Grain {
        velocity: speed * DVec3::Z,
        ..Grain::at(DVec3::new(x, 0.5, 0.505), 0.1, 0)
    };
    world.add_grains([at(0.2, 1.0), at(0.8, -1.0)]);
    (world, Settings { time_step: 0.01, ..Settings::default() })
}

/// A bounce happens in the substep in which the gap would close, which a grain begins 5 mm from the wall. There the arm is 0.1 m and half
/// of the gap. So a grain turns around every 0.79 m, and gives the wall 2 m v at an arm of 0.1025 m: with the momentum flux of both grains
///
/// σ_zz V = 2 m v² + 2 (2 m v · 0.1025 m)/(0.79 s)
#[test]
fn grains_that_bounce_between_two_walls_press_by_their_impacts() {
    let (mut world, settings) = two_between_walls();
    let region = zone(DVec3::ZERO, DVec3::ONE);
    // The region, and the whole of it as one layer, and in layers.
    world.meters = meters(std::slice::from_ref(&region), Some(&layers(&region, 10)));
    world.measures_grains = true;
    for mut engine in both(&world, &settings) {
        engine.advance(10).unwrap();
        let first = engine.snapshot().unwrap();
        // Four turns.
        engine.advance(4 * 79).unwrap();
        let last = engine.snapshot().unwrap();
        let mass = last.world.grain_mass(0);
        let (kinetic, contacts) = (2.0 * mass, 4.0 * mass * 0.1025 / 0.79);
        let found = zz(&bulk_stress(&last, &region, Some(&base(&first))));
        let (error, on) = ((found / (kinetic + contacts) - 1.0).abs(), engine.identity().engine);
        // The numbers of a few hundred steps are rounded, each by that of a height of up to 1 m.
        assert!(error < 20.0 * rounding(engine.as_ref()), "{on}: {found} Pa, off by {error:e}");
        // Each grain has half of it over its own volume.
        let stress = of_grains(&last, Some(&base(&first))).unwrap();
        for tensor in &stress {
            let expected = 0.5 * contacts / sphere_volume(0.1);
            let error = (zz(tensor) / expected - 1.0).abs();
            assert!(error < 20.0 * rounding(engine.as_ref()), "{on}: a grain is off by {error:e}");
        }
        // A state in flight has no contacts: the velocities alone are 21 % low.
        let alone = zz(&bulk_stress(&last, &region, None));
        assert!(alone < 0.8 * found, "{on}: {alone} Pa without the impacts");
        // The lowest layer and the highest have 0.0975 m of the arms, their neighbours the rest; those between have none.
        let time = last.report.time - first.report.time;
        let part = |layer: usize| last.stresses[1 + layer] - first.stresses[1 + layer];
        for (layer, share) in [(0, 0.0975 / 0.205), (1, 0.005 / 0.205), (4, 0.0), (9, 0.0975 / 0.205)] {
            let found = zz(&part(layer).contacts) / (time * contacts);
            assert!((found - share).abs() < 1e-4, "{on}: {found} of the contacts in layer {layer}");
        }
        // The centres pass every layer between 0.105 and 0.895 m at the same speed, and carry as much through each by the time in it.
        let found = layers(&region, 10).layers(&last, Some(&base(&first)));
        for (layer, share) in
            [(0, 0.0), (1, 0.095 / 0.79), (2, 0.1 / 0.79), (5, 0.1 / 0.79), (8, 0.095 / 0.79)]
        {
            let carried = zz(&part(layer).flux) / (time * kinetic);
            assert!((carried - share).abs() < 1e-3, "{on}: {carried} of the flux in layer {layer}");
            let all = 0.1 * zz(&found[layer].stress) - zz(&part(layer).contacts) / time;
            assert!(
                (all / kinetic - share).abs() < 1e-3,
                "{on}: the layer moves up and down, and not on: {all}"
            );
        }
        let sampled =
            layers(&region, 10).layers(&last, None).iter().filter(|layer| zz(&layer.stress) > 0.0).count();
        assert!(sampled <= 2, "{on}: a state has two grains in {sampled} layers");
    }
}

/// Weight of the centres above, averaged over a layer, on 1 m² \[Pa\].
fn weight_above(state: &Snapshot, bounds: [f64; 2]) -> f64 {
    let world = &state.world;
    let of = |grain: usize| {
        let height = world.bodies.position[world.grain_body(grain)].z;
        let share = ((height - bounds[0]) / (bounds[1] - bounds[0])).clamp(0.0, 1.0);
        world.grain_mass(grain) * world.gravity.length() * share
    };
    (0..world.grain_count()).map(of).sum()
}

#[test]
fn every_layer_of_a_resting_column_carries_the_weight_above_it() {
    let scenario = column(4, 0.0);
    let mut world = scenario.world;
    let region = zone(DVec3::new(-0.5, -0.5, 0.0), DVec3::new(0.5, 0.5, 0.06));
    // Layers of a third of a diameter cut the grains anywhere.
    let plan = layers(&region, 14);
    world.meters = meters(&[], Some(&plan));
    let settings = Settings { time_step: 1e-3, ..Settings::default() };
    for mut engine in both(&world, &settings) {
        engine.advance(400).unwrap();
        let first = engine.snapshot().unwrap();
        engine.advance(20).unwrap();
        let last = engine.snapshot().unwrap();
        let total = weight_above(&last, [-1.0, -0.9]);
        let found: Vec<Layer> = plan.layers(&last, Some(&base(&first)));
        for (i, layer) in found.iter().enumerate() {
            let expected = weight_above(&last, plan.bounds(i));
            let error = (zz(&layer.stress) - expected).abs() / total;
            // What is left of the motion, 1e-5 of the weight, and in single precision of the heights.
            assert!(error < 3e-4, "{}: layer {i} off by {error:e}", engine.identity().engine);
        }
        // A centre lies in layer 4.
        let other = (zz(&found[4].stress) - weight_above(&last, plan.bounds(5))).abs() / total;
        assert!(other > 0.05, "the next layer carries another weight: {other:e}");
    }
}

/// Sum of arm times impulse of all contacts of a state, with the arms and normals of another \[N m s\].
fn virial(arms_of: &World, state: &Snapshot) -> DMat3 {
    let mut sum = DMat3::ZERO;
    for contact in &state.contacts {
        let Some(touch) = arms_of.touch(contact.key.a, contact.key.b) else { continue };
        let impulse = contact.impulse.linear(touch.normal);
        for (body, impulse) in contact.bodies.into_iter().zip([-impulse, impulse]) {
            if arms_of.grain_of_body(body as usize).is_some() {
                let arm = touch.point - arms_of.bodies.position[body as usize];
                sum += DMat3::from_cols(arm * impulse.x, arm * impulse.y, arm * impulse.z);
            }
        }
    }
    sum
}

/// A column of which each grain moves sideways faster than the one below, for one step without bounces.
#[test]
fn impulses_meet_the_arms_of_the_positions_where_they_act() {
    let mut world = column(5, 0.0).world;
    // Body 0 is the floor; every grain overlaps the one below by 0.2 mm.
    for body in 1..world.bodies.len() {
        world.bodies.velocity[body] = 0.4 * body as f64 * DVec3::X;
        world.bodies.position[body].z -= 0.0002 * body as f64;
    }
    let region = zone(DVec3::splat(-1.0), DVec3::ONE);
    world.meters = meters(std::slice::from_ref(&region), None);
    let settings = Settings { time_step: 1e-3, impact_threshold: 1e3, ..Settings::default() };
    for mut engine in both(&world, &settings) {
        engine.advance(1).unwrap();
        let last = engine.snapshot().unwrap();
        let found = last.stresses[0].contacts;
        let [at_start, at_end] = [&world, &last.world].map(|arms| virial(arms, &last));
        let size = zz(&at_start);
        let distance = |tensor: DMat3| (found - tensor).to_cols_array().iter().map(|x| x.abs()).sum::<f64>();
        let (error, on) = (distance(at_start) / size, engine.identity().engine);
        assert!(error < 100.0 * rounding(engine.as_ref()), "{on}: off by {error:e}");
        let late = distance(at_end) / size;
        assert!(late > 0.01, "{on}: with the arms at the end {late:e}");
    }
}

/// Elastic spheres in a periodic cube, from a cubic lattice, with velocities from a normal distribution of 1 m/s per component, without a
/// mean.
fn gas(per_edge: usize, fraction: f64) -> World {
    let mut world = World::new(DVec3::ZERO, elastic());
    // Diameter 1 m.
    let count = per_edge.pow(3);
    let edge = (count as f64 * std::f64::consts::PI / 6.0 / fraction).cbrt();
    world.periodic = Periodic { min: DVec3::ZERO, length: DVec3::splat(edge), ..Periodic::NONE };
    let mut random = Random::new(3, Stream::Grains(0));
    let mut draw = || DVec3::new(random.normal(), random.normal(), random.normal());
    let mut velocities: Vec<DVec3> = (0..count).map(|_| draw()).collect();
    let mean = velocities.iter().sum::<DVec3>() / count as f64;
    velocities.iter_mut().for_each(|velocity| *velocity -= mean);
    let place = |i: usize| {
        DVec3::new((i % per_edge) as f64, (i / per_edge % per_edge) as f64, (i / per_edge.pow(2)) as f64)
    };
    let grain = |(i, velocity): (usize, DVec3)| Grain {
        velocity,
        ..Grain::at((place(i) + 0.5) * (edge / per_edge as f64), 0.5, 0)
    };
    world.add_grains(velocities.into_iter().enumerate().map(grain));
    world
}

/// Carnahan & Starling 1969: p V over the pressure of the velocities alone.
fn compressibility(fraction: f64) -> f64 {
    (1.0 + fraction + fraction.powi(2) - fraction.powi(3)) / (1.0 - fraction).powi(3)
}

/// Pressure times volume over the part of the velocities, between two states of a gas.
fn measured_compressibility(first: &Snapshot, last: &Snapshot, region: &RegionPlan) -> f64 {
    let trace = |tensor: DMat3| (0..3).map(|axis| tensor.col(axis)[axis]).sum::<f64>();
    let all = trace(bulk_stress(last, region, Some(&base(first))));
    all / trace(bulk_stress(last, region, None))
}

/// M impacts, of which each adds d J to the virial: J has a standard deviation of 0.52 of its mean, as that of the closing speed of
/// impacts, so the mean over M impacts has one of at most √(1 + 0.52²)/√M. The gas of 216 spheres makes 24 φ g(φ)/√π = 10 impacts per
/// sphere and second, with g = (1 - φ/2)/(1 - φ)³; in 5 s these are 5 400. The bound is three standard deviations of the part of the
/// contacts, three quarters of the whole, and 2 % for the gaps at the impacts [E17], which are 1.8 mm in the mean, and for the small number
/// of spheres.
#[test]
fn a_gas_has_the_pressure_of_carnahan_and_starling() {
    let mut world = gas(6, 0.3);
    let region = zone(DVec3::ZERO, world.periodic.length);
    world.meters = meters(std::slice::from_ref(&region), None);
    let settings = Settings { time_step: 2e-3, iterations: 5, impact_threshold: 1e-3, ..Settings::default() };
    let mut engine = cpu(&world, &settings);
    // The lattice melts.
    engine.advance(500).unwrap();
    let first = engine.snapshot().unwrap();
    engine.advance(2500).unwrap();
    let last = engine.snapshot().unwrap();
    let found = measured_compressibility(&first, &last, &region);
    let (expected, impacts) = (compressibility(0.3), 216.0 / 2.0 * 10.0 * 5.0);
    let bound = 0.75 * 3.0 * (1.0 + 0.52f64.powi(2)).sqrt() / f64::sqrt(impacts) + 0.02;
    let error = found / expected - 1.0;
    assert!(error.abs() < bound, "{found} for {expected}: {error:.4}, bound {bound:.4}");
    assert!((1.0 / expected - 1.0).abs() > 10.0 * bound, "without the impacts a quarter remains");
}

/// Before trajectories part, both engines sum the same impacts.
#[test]
fn both_engines_measure_the_same_in_every_layer() {
    let mut world = gas(4, 0.3);
    let region = zone(DVec3::ZERO, world.periodic.length);
    let lower = zone(DVec3::ZERO, world.periodic.length * DVec3::new(1.0, 1.0, 0.5));
    let plan = layers(&region, 7);
    world.meters = meters(&[region, lower], Some(&plan));
    let settings = Settings { time_step: 5e-3, iterations: 5, impact_threshold: 1e-3, ..Settings::default() };
    let states = both(&world, &settings).map(|mut engine| {
        engine.advance(50).unwrap();
        engine
            .snapshot()
            .unwrap()
            .stresses
            .iter()
            .map(|sums| sums.contacts + sums.flux)
            .collect::<Vec<DMat3>>()
    });
    let [on_cpu, on_gpu] = &states;
    assert_eq!(on_cpu.len(), 9);
    let size = zz(&on_cpu[0]);
    for (bin, (a, b)) in on_cpu.iter().zip(on_gpu).enumerate() {
        let apart = (*a - *b).to_cols_array().iter().map(|x| x.abs()).fold(0.0, f64::max);
        assert!(apart < 1e-3 * size, "bin {bin}: {apart:e} of {size:e}, {a} and {b}");
    }
    // The layers hold together what the region holds.
    for sums in &states {
        let layered: DMat3 = sums[2..].iter().sum();
        let apart = (layered - sums[0]).to_cols_array().iter().map(|x| x.abs()).fold(0.0, f64::max);
        assert!(apart < 1e-5 * size, "{apart:e} of {size:e}");
        assert!(zz(&sums[1]) > 0.2 * size && zz(&sums[1]) < 0.8 * size, "about half of it");
    }
}

#[test]
fn the_stresses_of_the_gpu_do_not_depend_on_the_number_of_steps_at_once() {
    let mut world = gas(4, 0.3);
    let region = zone(DVec3::ZERO, world.periodic.length);
    world.meters = meters(std::slice::from_ref(&region), Some(&layers(&region, 3)));
    let settings = Settings { time_step: 5e-3, iterations: 5, impact_threshold: 1e-3, ..Settings::default() };
    let run = |batches: &[u64]| {
        let mut engine = gpu(&world, &settings);
        batches.iter().for_each(|&steps| drop(engine.advance(steps).unwrap()));
        engine.snapshot().unwrap().stresses
    };
    assert_eq!(run(&[40]), run(&[7, 1, 32]));
    assert_ne!(run(&[40]), run(&[41]), "one step more must show");
}

#[test]
fn the_stress_of_a_grain_counts_from_its_coming_and_goes_on_when_others_come() {
    let (mut world, settings) = two_between_walls();
    world.measures_grains = true;
    for mut engine in both(&world, &settings) {
        engine.advance(100).unwrap();
        let before = engine.snapshot().unwrap().grain_stresses;
        assert!(before.len() == 2 && before.iter().all(|sum| zz(sum) > 0.0), "both have bounced");
        // The mass of the newcomer changes the units in which a GPU sums.
        engine.add_grains(&[Grain::at(DVec3::new(0.5, 0.8, 0.5), 0.15, 0)]).unwrap();
        let after = engine.snapshot().unwrap().grain_stresses;
        assert_eq!((&after[..2], after[2]), (&before[..], DMat3::ZERO));
        engine.advance(100).unwrap();
        let last = engine.snapshot().unwrap().grain_stresses;
        assert!(zz(&last[0]) > 1.5 * zz(&before[0]), "{} bounces on", engine.identity().engine);
        assert_eq!(last[2], DMat3::ZERO, "it rests");
    }
}
