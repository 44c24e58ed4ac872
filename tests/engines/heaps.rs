//! Many small heaps of random hulls: they gain no energy, and come to rest with little of their volume in each other.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::f64::consts::{FRAC_PI_2, PI};

use crate::common::*;
use esker::engine::Engine;
use esker::model::random::Stream;
use esker::model::{Clump, Form, Grain, Random, Surface, World};
use esker::observe::contacts::overlap_volume;
use esker::settings::Settings;
use esker::shape::Convex;
use glam::{DQuat, DVec3};
use rayon::prelude::*;

const GRAVITY: f64 = 9.81;
const STEPS_PER_LOOK: u64 = 25;
const LOOKS: u64 = 24;

/// Eight hulls of 4 to 14 corners above the floor of a narrow box, of some friction and restitution.
fn heap(seed: u64) -> World {
    let mut random = Random::new(seed, Stream::Shape);
    let mut materials = stone(random.between(0.0, 1.0), random.between(0.0, 0.5));
    materials.list[0].youngs_modulus = 1e9;
    let mut world = with_floor(-GRAVITY * DVec3::Z, esker::model::Materials::new(materials.list));
    for quarter in 0..4 {
        let turn = DQuat::from_rotation_z(FRAC_PI_2 * f64::from(quarter));
        let inwards = turn * DQuat::from_rotation_y(FRAC_PI_2);
        let wall = Surface::new(turn * (-0.04 * DVec3::X), inwards, Form::Plane, 0);
        world.add_boundary(fixed("wall"), [wall]);
    }
    for i in 0..8 {
        let half = DVec3::from_array(std::array::from_fn(|_| random.between(0.01, 0.02)));
        let corners: Vec<DVec3> =
            (0..4 + random.below(11)).map(|_| half * (random.turn() * DVec3::X)).collect();
        // Four points may lie in a plane, nearly.
        let hull = Convex::hull(&corners).unwrap_or_else(|_| Convex::cuboid(half));
        let kind = Clump::of_hull("stone", &hull);
        let place = DVec3::new(0.0, 0.0, 0.025 + 0.045 * f64::from(i))
            + random.in_cube(0.015) * DVec3::new(1.0, 1.0, 0.0);
        let grain = Grain {
            orientation: random.turn(),
            clump: Some(i),
            ..Grain::at(place, kind.equivalent_radius(), 0)
        };
        world.clumps.push(kind);
        world.add_grains([grain]);
    }
    world
}

/// Largest share of the energy at the start that a heap gains between two looks, and the share of its volume that is in two of its hulls
/// at the end.
fn gain_and_overlap(seed: u64) -> [f64; 2] {
    let world = heap(seed);
    let settings = Settings { iterations: 40, time_step: 1e-3, ..Settings::default() };
    let energy = |world: &World| {
        let bodies = world.bodies.inverse_mass.iter().zip(&world.bodies.position).filter(|(m, _)| **m > 0.0);
        world.kinetic_energy() + bodies.map(|(m, place)| GRAVITY * place.z / m).sum::<f64>()
    };
    let start = energy(&world);
    let mut engine = cpu(&world, &settings);
    let (mut before, mut gain) = (start, 0.0f64);
    for _ in 0..LOOKS {
        engine.advance(STEPS_PER_LOOK).unwrap();
        let now = energy(&engine.snapshot().unwrap().world);
        gain = gain.max((now - before) / start);
        before = now;
    }
    [gain, overlap_volume(&engine.snapshot().unwrap())]
}

fn check(seeds: std::ops::Range<u64>) {
    let found: Vec<[f64; 2]> = seeds.clone().into_par_iter().map(gain_and_overlap).collect();
    for (seed, [gain, overlap]) in seeds.zip(found) {
        // Elastic overlaps give back what they held.
        assert!(gain < 1e-3, "heap {seed} gains {gain} of its energy");
        assert!(overlap < 1e-3, "heap {seed}: {overlap} of the volume is in two hulls");
    }
}

#[test]
fn small_heaps_of_hulls_gain_no_energy_and_overlap_little() {
    check(0..16);
}

#[test]
#[ignore = "long; in short: heaps::small_heaps_of_hulls_gain_no_energy_and_overlap_little"]
fn ten_thousand_heaps_of_hulls_gain_no_energy_and_overlap_little() {
    check(0..10_000);
}

/// One cube of 1 m is at the origin, another one shares 0.1 m × 0.4 m × 0.7 m with it, and a sphere of 1 m across stands 0.1 m into its side.
#[test]
fn the_overlap_by_volume_is_that_of_boxes_and_caps() {
    let mut world = World::new(DVec3::ZERO, stone(0.5, 0.0));
    world.clumps.push(Clump::of_hull("cube", &Convex::cuboid(DVec3::splat(0.5))));
    let radius = world.clumps[0].equivalent_radius();
    for place in [DVec3::ZERO, DVec3::new(0.9, 0.6, 0.3)] {
        world.add_grains([Grain { clump: Some(0), ..Grain::at(place, radius, 0) }]);
    }
    world.add_grains([Grain::at(DVec3::new(-0.9, 0.0, 0.0), 0.5, 0)]);
    let mut engine = cpu(&world, &Settings { time_step: 1e-9, ..Settings::default() });
    engine.advance(1).unwrap();
    let cap = PI * 0.1 * 0.1 * (0.5 - 0.1 / 3.0);
    let expected = (0.1 * 0.4 * 0.7 + cap) / (2.0 + PI / 6.0);
    let found = overlap_volume(&engine.snapshot().unwrap());
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} for {expected}");
}
