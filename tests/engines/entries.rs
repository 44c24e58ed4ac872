//! Observed regions count the grains that come in, in every substep: however thin they are, and as often as a grain comes.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::engine::Engine;
use esker::model::random::Stream;
use esker::model::{Form, Grain, Periodic, Random, Region, Surface, World};
use esker::observe::{LayerPlan, Observation, Observer, RegionPlan};
use esker::settings::Settings;
use glam::{DQuat, DVec3};

fn named(name: &str, region: Region) -> RegionPlan {
    RegionPlan { name: name.into(), region, material: None }
}

/// A box from one height to another, 4 m wide.
fn between(name: &str, low: f64, high: f64) -> RegionPlan {
    named(name, Region::Box { min: DVec3::new(-2.0, -2.0, low), max: DVec3::new(2.0, 2.0, high) })
}

/// A world that counts in these regions.
fn counting(world: World, regions: &[RegionPlan]) -> World {
    World { meters: regions.iter().map(RegionPlan::meter).collect(), ..world }
}

/// Number of grains that came into each region.
fn entries(engine: &mut dyn Engine) -> Vec<f64> {
    engine.snapshot().unwrap().stresses.iter().map(|sums| sums.entries).collect()
}

/// Grains in free flight, 1 mm large, at these places and with these velocities.
fn in_flight(gravity: DVec3, grains: impl Iterator<Item = (DVec3, DVec3)>) -> World {
    let mut world = World::new(gravity, stone(0.0, 1.0));
    world.add_grains(grains.map(|(place, velocity)| Grain { velocity, ..Grain::at(place, 1e-3, 0) }));
    world
}

/// A step of 5 ms moves the grains by at least 10 mm, a hundred times the thickness of the gate.
#[test]
fn grains_that_cross_a_thin_region_within_a_step_all_count() {
    let gate = between("gate", 0.0, 1e-4);
    let other_material = RegionPlan { name: "steel".into(), material: Some(1), ..gate.clone() };
    let regions = [gate, between("below", -0.9, -0.8), other_material, between("sheet", 0.003, 0.003 + 1e-9)];
    let place = |i: usize| (DVec3::new(0.03 * i as f64, 0.0, 0.012 + 0.0037 * i as f64), -2.0 * DVec3::Z);
    let world = counting(in_flight(-9.81 * DVec3::Z, (0..40).map(place)), &regions);
    let observer = Observer::new(&world, None).with_regions(&regions);
    let settings = Settings { time_step: 5e-3, ..Settings::default() };
    for mut engine in both(&world, &settings) {
        let (mut before, mut sampled) = (observer.observe(&engine.snapshot().unwrap()), 0.0);
        let value = |of: &Observation, name: &str| of.values[observer.find(name).unwrap()];
        assert_eq!(value(&before, "entered:gate"), 0.0);
        for _ in 0..20 {
            engine.advance(1).unwrap();
            let now = observer.observe_after(&engine.snapshot().unwrap(), Some(&before.base));
            let came = value(&now, "entered_mass:gate") - value(&before, "entered_mass:gate");
            let flow = value(&now, "entered_mass_flow:gate");
            assert!((flow * 5e-3 - came).abs() <= 1e-9 * came, "{flow} kg/s for {came} kg");
            sampled += value(&now, "count:gate");
            before = now;
        }
        let (last, on) = (&before, engine.identity().engine);
        assert_eq!([value(last, "entered:gate"), value(last, "entered:sheet")], [40.0; 2], "{on}");
        // A device adds masses in single precision.
        let error = value(last, "entered_mass:gate") / (40.0 * world.grain_mass(0)) - 1.0;
        assert!(error.abs() < 2.0 * f64::from(f32::EPSILON), "{on}: {error:e}");
        assert!(sampled <= 4.0, "{on}: states of every step show {sampled}");
        assert_eq!([value(last, "entered:below"), value(last, "entered:steel")], [0.0; 2], "{on}");
    }
}

/// Two grains fly up and down between walls 1 m apart, from the middle of the region. They come back to it after 0.69 m, and every 0.79 m
/// from then on.
#[test]
fn a_grain_that_comes_back_counts_again_and_one_that_starts_inside_does_not() {
    let mut world = with_floor(DVec3::ZERO, stone(0.0, 1.0));
    let downwards = DQuat::from_rotation_x(std::f64::consts::PI);
    world.add_boundary(fixed("lid"), [Surface::new(DVec3::Z, downwards, Form::Plane, 0)]);
    world.add_grains([-1.0, 1.0].map(|side| Grain {
        velocity: side * DVec3::Z,
        ..Grain::at(DVec3::new(0.4 * side, 0.0, 0.505), 0.1, 0)
    }));
    let half = |min_x: f64| Region::Box {
        min: DVec3::new(min_x, -1.0, 0.4),
        max: DVec3::new(min_x + 1.0, 1.0, 0.6),
    };
    let regions = [named("left", half(-1.0)), named("right", half(0.0)), between("all", 0.0, 1.0)];
    let world = counting(world, &regions);
    let settings = Settings { time_step: 0.01, ..Settings::default() };
    for mut engine in both(&world, &settings) {
        engine.advance(60).unwrap();
        assert_eq!(entries(engine.as_mut()), [0.0; 3], "they have left, and not come back yet");
        engine.advance(210).unwrap();
        assert_eq!(entries(engine.as_mut()), [3.0, 3.0, 0.0], "{}", engine.identity().engine);
    }
}

/// In 75 steps of 0.1 m a grain goes round a cell of 1 m seven and a half times, from 0.25 m. A state that was saved goes on counting. The
/// layers of a region count nothing.
#[test]
fn a_grain_that_goes_round_a_periodic_cell_counts_every_time() {
    let mut world = World::new(DVec3::ZERO, stone(0.0, 1.0));
    world.periodic = Periodic { min: DVec3::ZERO, length: DVec3::new(1.0, 0.0, 0.0), ..Periodic::NONE };
    let grain = Grain { velocity: DVec3::X, ..Grain::at(DVec3::new(0.25, 0.0, 0.0), 0.05, 0) };
    world.add_grains([grain]);
    let across = |name: &str, low: f64, high: f64| {
        named(name, Region::Box { min: DVec3::new(low, -1.0, -1.0), max: DVec3::new(high, 1.0, 1.0) })
    };
    let regions = [across("face", -5e-4, 5e-4), across("zone", 0.6, 0.7), across("cell", 0.0, 1.0)];
    let mut world = counting(world, &regions);
    let layers = LayerPlan { region: regions[1].region.clone(), axis: DVec3::X, count: 2 };
    world.meters.insert(0, layers.meter());
    let settings = Settings { time_step: 0.1, ..Settings::default() };
    let fresh = both(&world, &settings);
    for (mut engine, mut resumed) in both(&world, &settings).into_iter().zip(fresh) {
        engine.advance(35).unwrap();
        let mut saved = Vec::new();
        engine.save(&mut saved).unwrap();
        resumed.restore(&saved).unwrap();
        for engine in [&mut engine, &mut resumed] {
            engine.advance(40).unwrap();
            assert_eq!(entries(engine.as_mut()), [0.0, 0.0, 7.0, 8.0, 0.0], "{}", engine.identity().engine);
        }
    }
}

/// Times that straight paths come into a region, from 4000 points of each: a shorter passage than 0.25 mm is as good as never.
fn by_points(region: &Region, starts: &[DVec3], path: DVec3) -> f64 {
    let comes_in = |start: &DVec3| {
        let inside = |i: u32| region.contains(*start + f64::from(i) / 4000.0 * path, 0.0, 0.0);
        (0..4000).filter(|&i| !inside(i) && inside(i + 1)).count()
    };
    starts.iter().map(comes_in).sum::<usize>() as f64
}

/// Grains with a common velocity never meet. They move by 50 mm per step, through regions of 10 mm to 300 mm.
#[test]
fn both_engines_count_what_comes_into_regions_of_every_form() {
    let mut random = Random::new(7, Stream::Grains(0));
    let starts: Vec<DVec3> = (0..400).map(|_| random.in_cube(0.5)).collect();
    let path = DVec3::new(0.6, -0.5, 0.62);
    let axis = DVec3::new(1.0, 2.0, -0.5).normalize();
    let cylinder = |length, radius| Region::Cylinder { base: 0.1 * DVec3::X, axis, length, radius };
    let regions = [
        named("plate", Region::Box { min: DVec3::new(-0.3, -0.6, 0.1), max: DVec3::new(0.6, 0.2, 0.11) }),
        named("block", Region::Box { min: DVec3::splat(-0.2), max: DVec3::splat(0.1) }),
        named("ball", Region::Sphere { centre: DVec3::new(0.2, -0.1, 0.2), radius: 0.15 }),
        named("disc", cylinder(0.01, 0.3)),
        named("rod", cylinder(0.4, 0.012)),
    ];
    let expected = regions.each_ref().map(|plan| by_points(&plan.region, &starts, path));
    assert!(expected.iter().all(|&count| count > 5.0), "{expected:?}");
    let grains = starts.iter().map(|&place| (place, 5.0 * path));
    let world = counting(in_flight(DVec3::ZERO, grains), &regions);
    for mut engine in both(&world, &Settings { time_step: 0.01, ..Settings::default() }) {
        engine.advance(20).unwrap();
        assert_eq!(entries(engine.as_mut()), expected, "{}", engine.identity().engine);
    }
}
