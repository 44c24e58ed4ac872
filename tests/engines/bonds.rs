//! Bonds \[E20\] against closed forms: beams, a column before it buckles, waves, strengths; both methods, energy, bits, contacts.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::cpu::CpuEngine;
use esker::engine::{Engine, Snapshot};
use esker::error::Error;
use esker::gpu::GpuEngine;
use esker::law::bond::{Beam, BondFate, BondLaw};
use esker::model::{AppliedForce, Axes, Grain, World};
use esker::observe::{bonds, energy};
use esker::ranks::communicator::threads;
use esker::ranks::engine::open;
use esker::settings::{Method, Settings};
use esker::simulation::answer;
use glam::DVec3;

const RADIUS: f64 = 0.005;
const LAW: BondLaw = BondLaw {
    youngs_modulus: 1e9,
    poisson_ratio: 0.2,
    radius_factor: 1.0,
    tensile_strength: f64::INFINITY,
    cohesion: f64::INFINITY,
    friction: 0.0,
    damping_ratio: 0.0,
};
const BEAM: Beam = Beam { radius: RADIUS, length: 2.0 * RADIUS };

fn at(time_step: f64) -> Settings {
    Settings { time_step, ..Settings::default() }
}

fn smooth(time_step: f64) -> Settings {
    Settings { method: Method::Smooth, ..at(time_step) }
}

/// Grains in touch along x, bonded one to the next, without gravity. The first is held at all axes if it is `clamped`.
fn chain(count: u32, law: BondLaw, clamped: bool) -> World {
    let mut world = World::new(DVec3::ZERO, stone(0.3, 0.0));
    let all = Axes::TRANSLATION.into_iter().chain(Axes::ROTATION).fold(Axes::NONE, Axes::and);
    world.add_grains((0..count).map(|i| Grain {
        locked: if clamped && i == 0 { all } else { Axes::NONE },
        ..Grain::at(DVec3::new(2.0 * RADIUS * f64::from(i), 0.0, 0.0), RADIUS, 0)
    }));
    bond(&mut world, law, (1..count).map(|i| [i - 1, i]));
    world
}

/// Bonds these pairs of grains from centre to centre.
fn bond(world: &mut World, law: BondLaw, pairs: impl Iterator<Item = [u32; 2]>) {
    let of_law = world.bonds.laws.len() as u32;
    world.bonds.laws.push(law);
    for bodies in pairs {
        let ends = bodies.map(|body| world.bodies.position[body as usize]);
        let bond = world.bond_between(of_law, bodies, ends, RADIUS);
        world.add_bond(bond);
    }
}

fn run(world: &World, settings: &Settings, steps: u64) -> Snapshot {
    let mut engine = cpu(world, settings);
    engine.advance(steps).unwrap();
    engine.snapshot().unwrap()
}

/// Deflection of the free end of a cantilever of 11 grains, 0.1 m long, under forces along x and z \[m\].
fn deflection(law: BondLaw, force: DVec3) -> f64 {
    let mut world = chain(11, law, true);
    world.set_force(10, force, DVec3::ZERO);
    // The slowest vibration is damped by the step: with ω h = 0.9, or 0.4 under the largest load, by e¹⁰ at least.
    let mut engine = cpu(&world, &at(1.25e-3));
    let [before, after] = [400, 50].map(|steps| {
        engine.advance(steps).unwrap();
        engine.snapshot().unwrap().world.bodies.position[10].z
    });
    assert!((after - before).abs() < 1e-3 * after, "at rest at {before} m, and then at {after} m");
    after
}

fn bending_stiffness() -> f64 {
    LAW.youngs_modulus * BEAM.second_moment()
}

#[test]
fn a_cantilever_of_grains_bends_as_timoshenko_says() {
    let (length, force) = (0.1f64, 0.08);
    let shear = LAW.youngs_modulus / 2.4 * (6.0 * 1.2 / 8.2) * BEAM.area();
    let expected = force * (length.powi(3) / (3.0 * bending_stiffness()) + length / shear);
    let of = |law| deflection(law, DVec3::new(0.0, 0.0, force));
    let found = of(LAW);
    assert!((found / expected - 1.0).abs() < 1e-3, "{found} m, expected {expected} m");
    let stiffer = of(BondLaw { youngs_modulus: 1.01 * LAW.youngs_modulus, ..LAW });
    assert!((stiffer / expected - 1.0).abs() > 5e-3, "one percent shows");
}

#[test]
fn a_column_softens_towards_the_load_of_euler() {
    let (length, push) = (0.1f64, 0.004);
    let critical = std::f64::consts::PI.powi(2) * bending_stiffness() / (4.0 * length * length);
    for share in [0.5, 0.8] {
        let load = share * critical;
        let found = deflection(LAW, DVec3::new(-load, 0.0, push));
        // A cantilever with a load along it and a push across it (Timoshenko & Gere 1961, section 1.4).
        let angle = (load / bending_stiffness()).sqrt() * length;
        let expected = push / load * length * (angle.tan() / angle - 1.0);
        // The deflection grows as 1/(1 - P/P_c): 2 % in P_c.
        let allowed = 0.02 * share / (1.0 - share);
        assert!((found / expected - 1.0).abs() < allowed, "{share}: {found} m, expected {expected} m");
    }
}

/// Time after which the slowest vibration of a free chain along its length turns round \[s\].
fn quarter_period(settings: &Settings, count: u32) -> f64 {
    let mut world = chain(count, LAW, false);
    for i in 0..count as usize {
        let phase = std::f64::consts::PI * (i as f64 + 0.5) / f64::from(count);
        world.bodies.velocity[i].x = 1e-3 * phase.cos();
    }
    let mut engine = cpu(&world, settings);
    let speed = |state: &Snapshot| state.world.bodies.velocity[0].x;
    let (mut before, mut time) = (world.bodies.velocity[0].x, 0.0);
    loop {
        engine.advance(1).unwrap();
        let now = speed(&engine.snapshot().unwrap());
        if now <= 0.0 {
            // Velocities belong to the middle of a step.
            return time + settings.time_step * (before / (before - now) - 0.5);
        }
        (before, time) = (now, time + settings.time_step);
        assert!(time < 1.0, "it does not turn round");
    }
}

#[test]
fn waves_run_along_a_chain_at_the_speed_of_its_stiffness_and_mass() {
    let count = 40;
    let (mass, spacing) = (chain(1, LAW, false).grain_mass(0), 2.0 * RADIUS);
    let speed = (LAW.youngs_modulus * BEAM.area() / (mass / spacing)).sqrt();
    // ω = 2 c/d sin(π/(2 n)) of a chain of masses
    let frequency = 2.0 * speed / spacing * (std::f64::consts::PI / (2.0 * f64::from(count))).sin();
    let expected = std::f64::consts::FRAC_PI_2 / frequency;
    for settings in [at(expected / 400.0), smooth(expected / 400.0)] {
        let found = quarter_period(&settings, count);
        assert!((found / expected - 1.0).abs() < 2e-3, "{found} s, expected {expected} s: {settings:?}");
    }
}

/// Load at which the bond between a held grain and another breaks, over `expected`, and what broke it. `load` is the force \[N\] and the
/// torque \[N m\] on the other grain.
fn strength(law: BondLaw, load: [DVec3; 2], expected: f64) -> (f64, BondFate) {
    let world = chain(2, law, true);
    let mut engine = cpu(&world, &at(1e-3));
    for step in 1..2000 {
        // Slowly up to 0.97, then in steps of 1e-4.
        let share =
            if step < 200 { 0.97 * f64::from(step) / 200.0 } else { 0.97 + 1e-4 * f64::from(step - 200) };
        let [force, torque] = load.map(|load| share * expected * load);
        engine.set_forces(&[AppliedForce { body: 1, force, torque }]).unwrap();
        engine.advance(1).unwrap();
        let fate = engine.snapshot().unwrap().world.bonds.states[0].fate;
        if fate != BondFate::Intact {
            return (share, fate);
        }
    }
    panic!("it does not break");
}

#[test]
fn a_bond_breaks_at_its_strength_in_tension_bending_shear_and_twisting() {
    let (area, section) = (BEAM.area(), BEAM.second_moment() / RADIUS);
    let (strong, weak) = (1e9, 2e5);
    let tension = BondLaw { tensile_strength: weak, cohesion: strong, ..LAW };
    let shear = BondLaw { tensile_strength: strong, cohesion: weak, ..LAW };
    let cases = [
        (tension, [DVec3::X, DVec3::ZERO], weak * area, BondFate::Tension),
        (tension, [DVec3::ZERO, DVec3::Y], weak * section, BondFate::Tension),
        // A force across at the centre of the grain bends the bond as well: N/A = 0, M = F L/2.
        (tension, [DVec3::Z, DVec3::ZERO], weak * section / RADIUS, BondFate::Tension),
        (shear, [DVec3::Z, DVec3::ZERO], weak * area, BondFate::Shear),
        (shear, [DVec3::ZERO, DVec3::X], weak * 2.0 * section, BondFate::Shear),
    ];
    for (law, load, expected, fate) in cases {
        let (found, broken_by) = strength(law, load, expected);
        assert!((found - 1.0).abs() < 1e-3, "{load:?}: {found}");
        assert_eq!(broken_by, fate, "{load:?}");
    }
}

/// Load under which a cantilever of seven grains breaks when it grows with time \[N\].
fn breaking_load(settings: &Settings) -> f64 {
    let law =
        BondLaw { youngs_modulus: 1e8, tensile_strength: 1e6, cohesion: 1e7, damping_ratio: 0.2, ..LAW };
    let world = chain(7, law, true);
    // Bending alone breaks it at σ I/(R ℓ), ℓ from the end to the middle of the first bond.
    let expected = 1e6 * BEAM.second_moment() / RADIUS / (11.0 * RADIUS);
    let mut engine = cpu(&world, settings);
    let per_millisecond = (1e-3 / settings.time_step).round() as u64;
    for millisecond in 1..400 {
        let force = DVec3::new(0.0, 0.0, expected * f64::from(millisecond) / 200.0);
        engine.set_forces(&[AppliedForce { body: 6, force, torque: DVec3::ZERO }]).unwrap();
        engine.advance(per_millisecond).unwrap();
        if bonds::broken(&engine.snapshot().unwrap()) > 0.0 {
            assert!((force.z / expected - 1.0).abs() < 0.05, "{} N, expected {expected} N", force.z);
            return force.z;
        }
    }
    panic!("it does not break");
}

#[test]
fn a_step_of_a_millisecond_breaks_a_beam_at_the_load_of_small_smooth_steps() {
    let [coarse, fine] = [at(1e-3), smooth(1e-5)].map(|settings| breaking_load(&settings));
    assert!((coarse / fine - 1.0).abs() < 0.03, "{coarse} N at 1 ms, {fine} N with springs");
}

/// A bonded block of grains that falls on a corner, and breaks.
fn block(edge: u32, strength: f64) -> World {
    let mut world = with_floor(DVec3::new(0.0, 0.0, -9.81), stone(0.4, 0.2));
    let place = |i: u32| {
        let [x, y, z] = [i % edge, i / edge % edge, i / edge / edge].map(f64::from);
        DVec3::new(x + 0.3 * z, y, z) * 2.0 * RADIUS + DVec3::new(0.0, 0.0, 0.006)
    };
    let near = |a: u32, b: u32| place(a).distance(place(b)) < 2.2 * RADIUS;
    let count = edge.pow(3);
    world.add_grains(
        (0..count).map(|i| Grain { velocity: DVec3::new(0.5, 0.0, -3.0), ..Grain::at(place(i), RADIUS, 0) }),
    );
    let law = BondLaw {
        youngs_modulus: 1e8,
        tensile_strength: strength,
        cohesion: strength,
        friction: 0.5,
        damping_ratio: 0.1,
        ..LAW
    };
    let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b])).filter(|&[a, b]| near(a, b));
    bond(&mut world, law, pairs.map(|pair| pair.map(|grain| grain + 1)));
    world
}

#[test]
fn the_energy_balance_closes_while_a_block_breaks_under_both_methods() {
    for settings in [at(1e-3), smooth(1e-5)] {
        let steps = (0.02 / settings.time_step).round() as u64;
        let state = run(&block(4, 3e5), &settings, steps);
        assert!(energy::error_share(&state) < 1e-12, "{}", energy::error_share(&state));
        let (broken, released) = (bonds::broken(&state), state.world.bonds.released_energy);
        assert!(broken > 5.0 && released > 0.0, "{broken} bonds, {released} J");
        let dissipated = energy::dissipated_by_bonds(&state);
        // In a coarse step a bond is stretched beyond its strength before it breaks, by energy that it never took.
        let least = if settings.method == Method::Smooth { released } else { 0.0 };
        assert!(dissipated > least, "{dissipated} J, of which {released} J by fracture");
        let booked = state.balance.unwrap();
        let without = esker::engine::EnergyBalance { bond_work: 0.0, ..booked };
        let kinetic = state.world.kinetic_energy();
        assert!(without.error(kinetic).abs() > 1e-6 * booked.turnover(), "bonds count");
    }
}

#[test]
fn bonds_have_the_same_bits_whatever_the_number_of_threads() {
    let world = block(7, 3e5);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&world, &at(1e-3), 12))
    };
    let [one, three] = [on(1), on(3)];
    assert!(bonds::broken(&one) > 0.0 && bonds::intact(&one) > 500.0);
    assert_eq!((one.world, one.contacts), (three.world, three.contacts));
}

#[test]
fn grains_of_a_bond_do_not_touch_until_it_breaks() {
    // They overlap by 5 % of the radius: Hertz's force would throw them apart.
    let mut world = World::new(DVec3::ZERO, stone(0.3, 0.0));
    world.add_grains([0.0, 1.95 * RADIUS].map(|x| Grain::at(DVec3::new(x, 0.0, 0.0), RADIUS, 0)));
    let law = BondLaw { tensile_strength: 1e6, cohesion: 1e6, ..LAW };
    bond(&mut world, law, [[0, 1]].into_iter());
    let mut engine = cpu(&world, &at(1e-4));
    engine.advance(10).unwrap();
    let state = engine.snapshot().unwrap();
    assert_eq!((state.contacts.len(), state.world.kinetic_energy()), (0, 0.0));
    // Twisted until it breaks.
    engine.set_forces(&[AppliedForce { body: 1, force: DVec3::ZERO, torque: DVec3::X }]).unwrap();
    let breaks = (0..100).any(|_| {
        engine.advance(1).unwrap();
        bonds::broken_in_shear(&engine.snapshot().unwrap()) == 1.0
    });
    assert!(breaks);
    engine.advance(1).unwrap();
    let state = engine.snapshot().unwrap();
    assert!(state.contacts.len() == 1 && state.contacts[0].impulse.normal > 0.0, "{:?}", state.contacts);
}

#[test]
fn a_saved_state_goes_on_to_the_same_bits() {
    let (world, settings) = (block(4, 3e5), at(1e-3));
    let mut engine = cpu(&world, &settings);
    engine.advance(8).unwrap();
    assert!(bonds::broken(&engine.snapshot().unwrap()) > 0.0);
    let mut saved = Vec::new();
    engine.save(&mut saved).unwrap();
    let mut restored: CpuEngine = cpu(&world, &settings);
    restored.restore(&saved).unwrap();
    let [expected, found] = [&mut engine, &mut restored].map(|engine| {
        engine.advance(8).unwrap();
        engine.snapshot().unwrap()
    });
    assert_eq!((found.world, found.balance), (expected.world, expected.balance));
}

#[test]
fn a_graphics_card_and_ranks_refuse_bonds() {
    let world = chain(3, LAW, false);
    let refused = GpuEngine::new(device(), world.clone(), at(1e-3)).err();
    assert!(matches!(refused, Some(Error::NotOnGpu { setting: "bonds" })), "{refused:?}");
    let refused = open(Box::new(threads(1).remove(0)), world, at(1e-3), answer).err();
    assert!(matches!(refused, Some(Error::NotOnRanks { what: "bonds", .. })), "{refused:?}");
}
