//! Grains of very different sizes: beds 1:10 and a heavy intruder with more contacts than a workgroup solves come to rest alike on
//! both engines and in any order.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::cpu::CpuEngine;
use esker::engine::{Engine, Snapshot};
use esker::gpu::shader::Edit;
use esker::model::World;
use esker::observe::contacts::overlap;
use esker::observe::loads;
use esker::scenario::Scenario;
use esker::settings::{Acceleration, Order, Settings};
use glam::DVec3;

const GRAVITY: f64 = 9.81;
/// Diameter of the small grains around the intruder \[m\].
const SMALL: f64 = 0.006;
const STEPS: u64 = 160;
/// Steps over which a load is averaged: single grains still slip, and a load jumps for a step when one does.
const WEIGHED: u64 = 20;

/// Plain sweeps, with which the intruder sinks until it has more contacts than a workgroup has invocations.
fn settings() -> Settings {
    Settings { iterations: 40, acceleration: Acceleration::None, ..Settings::default() }
}

const WALLS: &str = r#"
[[boundaries]]
name = "walls"
material = "pellet"
shape = { kind = "box", min = [-0.045, -0.045, 0.0], max = [0.045, 0.045, 1.0], open = ["+z"] }
"#;

/// A sphere of lead, the first grain, on 784 grains a tenth as large.
fn intruder() -> Scenario {
    pellets(&format!(
        r#"{WALLS}
[materials.lead]
density = 11340.0
youngs_modulus = 6e6
poisson_ratio = 0.25
restitution = 0.18
friction = 0.91

[[grains]]
material = "lead"
radius = {{ kind = "constant", value = 0.03 }}
packing = {{ kind = "list", positions = [[0.0, 0.0, 0.057]] }}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.003 }}
packing = {{ kind = "lattice", structure = "cubic", corner = [-0.0403, -0.0403, 0.0031], counts = [14, 14], count = 784, spacing = 0.0062, jitter = 0.00008 }}
"#
    ))
}

/// 600 grains with radii from 1 to 10 mm.
fn one_to_ten() -> Scenario {
    pellets(&format!(
        r#"{WALLS}
[[grains]]
material = "pellet"
radius = {{ kind = "uniform", min = 0.001, max = 0.01 }}
packing = {{ kind = "random", region = {{ kind = "box", min = [-0.045, -0.045, 0.0], max = [0.045, 0.045, 0.3] }}, count = 600 }}
"#
    ))
}

fn three_engines(world: &World) -> [Box<dyn Engine>; 3] {
    let sequential = CpuEngine::new(world.clone(), Settings { order: Order::Sequential, ..settings() });
    let [coloured, gpu] = both(world, &settings());
    [Box::new(sequential), coloured, gpu]
}

fn largest_of(world: &World) -> usize {
    let radius = |grain: &usize| world.spheres[*grain].radius;
    let largest = world.present_grains().max_by(|a, b| radius(a).total_cmp(&radius(b)));
    world.grain_body(largest.unwrap())
}

/// Impulse of all contacts on a body in the last substep \[N s\], and the number of these contacts.
fn impulse_on(state: &Snapshot, body: usize) -> (DVec3, usize) {
    let mut sum = (DVec3::ZERO, 0);
    for contact in &state.contacts {
        for (_, sign) in contact.bodies.iter().zip([1.0, -1.0]).filter(|(b, _)| **b as usize == body) {
            sum = (sum.0 + sign * contact.impulse.linear(contact.normal), sum.1 + 1);
        }
    }
    sum
}

/// Share of the weight of a body that its contacts carry \[-\].
fn carried(state: &Snapshot, body: usize) -> f64 {
    let weight = GRAVITY / state.world.bodies.inverse_mass[body];
    impulse_on(state, body).0.z / state.substep / weight
}

fn mean_height(state: &Snapshot) -> f64 {
    let heights = state.world.present_grains().map(|grain| {
        let body = state.world.grain_body(grain);
        (
            state.world.bodies.position[body].z / state.world.bodies.inverse_mass[body],
            1.0 / state.world.bodies.inverse_mass[body],
        )
    });
    let (moment, mass) = heights.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    moment / mass
}

fn spread(values: [f64; 3]) -> f64 {
    values.into_iter().fold(f64::MIN, f64::max) - values.into_iter().fold(f64::MAX, f64::min)
}

/// A heavy intruder settles alike in any order and on both engines. The paths differ, so the packings differ in the places of some grains,
/// but the loads agree with the weight within 1 %.
#[test]
fn a_heavy_intruder_settles_whatever_the_order_and_the_engine() {
    let world = intruder().world;
    let body = largest_of(&world);
    let states = three_engines(&world).map(|mut engine| {
        engine.advance(STEPS - WEIGHED).unwrap();
        let (mut load, mut supported) = (0.0, 0.0);
        for _ in 0..WEIGHED {
            engine.advance(1).unwrap();
            let state = engine.snapshot().unwrap();
            load += carried(&state, body) / WEIGHED as f64;
            supported += loads::weight_supported(&state) / WEIGHED as f64;
        }
        (engine.identity().engine, engine.snapshot().unwrap(), load, supported)
    });
    for (name, state, load, supported) in &states {
        let contacts = impulse_on(state, body).1;
        // More contacts than a workgroup sums for the body, besides those that have a colour.
        assert!(contacts > 64 + 8, "{name}: a hub of {contacts} contacts");
        // The intruder may still sink between the grains: with 1 % of its weight it gains 10 mm/s in these steps.
        assert!((load - 1.0).abs() < 0.01, "{name}: the contacts carry {load} of the intruder");
        assert!((supported - 1.0).abs() < 0.01, "{name}: the walls carry {supported}");
    }
    let heights = states.each_ref().map(|(_, state, ..)| state.world.bodies.position[body].z);
    assert!(spread(heights) < 0.5 * SMALL, "heights {heights:?} m");
    let overlaps = states.each_ref().map(|(_, state, ..)| overlap(state).mean);
    assert!(spread(overlaps) < 0.2 * overlaps[0], "mean overlaps {overlaps:?}");
}

#[test]
fn a_bed_of_sizes_1_to_10_settles_whatever_the_order_and_the_engine() {
    let states = three_engines(&one_to_ten().world).map(|mut engine| {
        engine.advance(STEPS).unwrap();
        (engine.identity().engine, engine.snapshot().unwrap())
    });
    for (name, state) in &states {
        let supported = loads::weight_supported(state);
        assert!((supported - 1.0).abs() < 0.02, "{name}: the walls carry {supported}");
    }
    let heights = states.each_ref().map(|(_, state)| mean_height(state));
    assert!(spread(heights) < 0.05 * heights[0], "heights of the centre of mass {heights:?} m");
    let overlaps = states.each_ref().map(|(_, state)| overlap(state).mean);
    assert!(spread(overlaps) < 0.2 * overlaps[0], "mean overlaps {overlaps:?}");
}

/// Difference between the impulses of the intruder's contacts and its change of momentum without gravity in a step, as a share of its
/// weight \[-\].
fn lost(world: &World, edits: &[Edit]) -> f64 {
    let body = largest_of(world);
    // Impacts are switched off: their impulses are not among those of the contacts.
    let mut engine = gpu(world, &Settings { impact_threshold: 10.0, ..settings() });
    if !edits.is_empty() {
        engine.edit_shaders(edits).unwrap();
    }
    engine.advance(1).unwrap();
    let state = engine.snapshot().unwrap();
    let gained =
        (state.world.bodies.velocity[body] - world.bodies.velocity[body]).z + GRAVITY * state.substep;
    (gained * state.world.bodies.inverse_mass[body].recip() - impulse_on(&state, body).0.z).abs()
        / (GRAVITY * state.substep / state.world.bodies.inverse_mass[body])
}

#[test]
fn what_its_contacts_do_to_a_hub_is_what_moves_it_to_the_same_bits() {
    let mut bed = cpu(&intruder().world, &settings());
    bed.advance(STEPS).unwrap();
    let world = bed.snapshot().unwrap().world;
    // The bound is for 40 sweeps on velocities in single precision; gravity gives 0.05 m/s in a step.
    let whole = lost(&world, &[]);
    assert!(whole < 1e-3, "{whole} of the weight is lost");
    let broken = Edit {
        from: "for (var lane = 0u; lane < GROUP; lane++)",
        to: "for (var lane = 0u; lane < GROUP / 4u; lane++)",
    };
    let part = lost(&world, &[broken]);
    assert!(part > 10.0 * whole.max(1e-3), "a sum that leaves out three quarters loses {part} of the weight");

    let [one, other] = [(), ()].map(|()| {
        let mut engine = gpu(&world, &settings());
        engine.advance(10).unwrap();
        engine.snapshot().unwrap().world.bodies
    });
    assert_eq!(one, other);
}

/// A sweep is two dispatches with a workgroup for each tile of one tiling and of the other, and one over the overflow contacts, rounded up
/// to workgroups of 64. After the last one there is one more over the tiles if overflow contacts have left something in slots.
#[test]
fn a_sweep_is_three_dispatches_of_no_more_than_its_contacts_whatever_the_sizes() {
    for (name, scenario, acceleration) in [
        ("equal", box_of(400)),
        ("1:10", one_to_ten()),
        ("intruder", intruder()),
        ("free plate", box_on_a_bed()),
    ]
    .into_iter()
    .flat_map(|(name, scenario)| {
        [Acceleration::None, Acceleration::Nesterov].map(|a| (name, scenario.clone(), a))
    }) {
        // A few dispatches before and after the sweeps count among theirs: with ten sweeps less than one for each.
        let mut engine = gpu(&scenario.world, &Settings { acceleration, iterations: 10, ..settings() });
        let report = engine.advance(60).unwrap();
        assert!(report.contacts > 200, "{name}: {} contacts", report.contacts);
        assert!(report.dispatches.per_sweep <= 3, "{name}: {:?}", report.dispatches);
        let status = engine.status().unwrap();
        assert_eq!(status.coloured + status.overflow, status.contacts, "{name}: every contact once");
        let second = if status.coloured > status.tiled { status.tiles } else { 0 };
        let last = if status.sides > 0 { status.tiles } else { 0 };
        let groups = [status.tiles, second, status.overflow.div_ceil(64), last];
        assert_eq!(engine.planned_sweep().unwrap(), groups, "{name}: {status:?}");
    }
}
