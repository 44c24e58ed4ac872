//! Heat [E21]: conduction against closed forms, and the heat of friction against the energy balance.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::f64::consts::PI;

use crate::common::*;
use esker::cpu::CpuEngine;
use esker::engine::{EnergyBalance, Engine};
use esker::error::Error;
use esker::law::heat::{conductance, contact_radius};
use esker::law::normal::NormalLaw;
use esker::law::pair::{Material, pair_conductivity};
use esker::model::random::Stream;
use esker::model::{Axes, Course, Form, Grain, Heat, Materials, Random, Surface, WallHeat, World};
use esker::observe::heat::{all_received, made, thermal_energy};
use esker::settings::{Bookkeeping, Method, Settings};
use glam::{DQuat, DVec3};

/// Radius of the grains \[m\], force on their contacts \[N\], and temperatures at the start \[K\].
const R: f64 = 5e-3;
const FORCE: f64 = 1.0;
const COLD: f64 = 300.0;
const HOT: f64 = 400.0;

/// Stone that conducts well and holds little heat, so that temperatures even out within a second.
fn conductor() -> Materials {
    let stone = stone(0.3, 0.5).list.remove(0);
    Materials::new(vec![Material { conductivity: 400.0, heat_capacity: 0.8, ..stone }])
}

/// Overlap under the force, of two grains or of a grain and a wall, for this effective radius \[m\].
fn overlap(law: NormalLaw, radius: f64) -> f64 {
    law.overlap_under(FORCE, conductor().law(0, 0).effective_modulus, radius)
}

/// Conductance of a contact under the force for this effective radius \[m\] \[W/K\].
fn under_force(law: NormalLaw, radius: f64) -> f64 {
    conductance(pair_conductivity(400.0, 400.0), contact_radius(radius, overlap(law, radius)))
}

/// A grain on the z axis that moves along it alone, without turning.
fn on_axis(height: f64, temperature: f64) -> Grain {
    let all = Axes::TRANSLATION[..2].iter().chain(&Axes::ROTATION);
    let locked = all.fold(Axes::NONE, |axes, axis| axes.and(*axis));
    Grain { locked, temperature: Some(temperature), ..Grain::at(height * DVec3::Z, R, 0) }
}

/// Two grains that a force presses together, one of them hot.
fn pressed_pair(law: NormalLaw) -> World {
    let mut world = World::new(DVec3::ZERO, conductor());
    world.set_heat(Heat::new(COLD, Vec::new()));
    world.add_grains([on_axis(0.0, COLD), on_axis(2.0 * R - overlap(law, 0.5 * R), HOT)]);
    world.set_force(0, FORCE * DVec3::Z, DVec3::ZERO);
    world.set_force(1, -FORCE * DVec3::Z, DVec3::ZERO);
    world
}

fn temperatures(engine: &mut dyn Engine) -> Vec<f64> {
    let world = engine.snapshot().unwrap().world;
    world.bodies.heat.iter().map(|heat| heat.temperature).collect()
}

fn settings() -> Settings {
    Settings { time_step: 1e-4, ..Settings::default() }
}

/// Engines that know heat.
fn engines(world: &World, settings: &Settings) -> Vec<Box<dyn Engine>> {
    vec![Box::new(cpu(world, settings))]
}

/// T_hot - T_cold = ΔT exp(-2 H t/C), which explicit steps of h follow as (1 - 2 h H/C)^n. The force, and with it H, is that of the sweeps.
#[test]
fn two_grains_even_out_exponentially_under_every_law_and_method() {
    for (method, law) in [
        (Method::Nonsmooth, NormalLaw::Hertz),
        (Method::Nonsmooth, NormalLaw::Hooke),
        (Method::Nonsmooth, NormalLaw::Rigid),
        (Method::Smooth, NormalLaw::Hertz),
    ] {
        // A rigid contact has no overlap in the long run.
        let mut world = pressed_pair(law);
        if law == NormalLaw::Rigid {
            world.bodies.position[1] = 2.0 * R * DVec3::Z;
        }
        let time_step = if method == Method::Smooth { 5e-6 } else { settings().time_step };
        let settings = Settings { normal_law: law, method, time_step, ..settings() };
        let rate = 2.0 * under_force(law, 0.5 * R) / world.grain_heat_capacity(0);
        let steps = (1.0 / (rate * settings.time_step)).round() as u64;
        for mut engine in engines(&world, &settings) {
            engine.advance(steps).unwrap();
            let found = temperatures(engine.as_mut());
            let expected = (HOT - COLD) * (1.0 - settings.time_step * rate).powi(steps as i32);
            let share = (found[1] - found[0]) / expected;
            assert!((share - 1.0).abs() < 1e-3, "{method:?} {law:?}: {share} of the difference is left");
            assert!((found[0] + found[1] - COLD - HOT).abs() < 1e-9 * HOT, "{found:?}");
            // Control: at half of the conductance a factor of 1.6 more would be left.
            assert!((share - 0.5f64.exp()).abs() > 0.5);
        }
    }
}

/// A hot floor, `count` grains upon each other and a cold lid, all contacts under the force.
fn slab(count: usize) -> World {
    let (of_wall, of_grains) = (overlap(NormalLaw::Hertz, R), overlap(NormalLaw::Hertz, 0.5 * R));
    let height = |grain: usize| R - of_wall + grain as f64 * (2.0 * R - of_grains);
    let mut world = with_floor(DVec3::ZERO, conductor());
    let lid = (height(count - 1) + R - of_wall) * DVec3::Z;
    let downwards = DQuat::from_rotation_x(PI);
    world.add_boundary(fixed("lid"), [Surface::new(lid, downwards, Form::Plane, 0)]);
    let held = |temperature| WallHeat::Held(Course::Constant(temperature));
    world.set_heat(Heat::new(COLD, vec![held(HOT), held(COLD)]));
    world.add_grains((0..count).map(|grain| on_axis(height(grain), COLD)));
    world
}

/// In units of the distance of two grains, the slab between both walls is as long as the resistances of its contacts:
/// L = N - 1 + 2 H/H_w, with H between grains and H_w at a wall. With α = H/C
///
/// (T - T_c)/ΔT = 1 - x/L - Σ_n 2/(n π) sin(n π x/L) exp(-n² π² α t/L²)
///
/// (Carslaw & Jaeger 1959, section 3.3). N nodes differ from the continuum by (π/N)²/12 of the decay, which is 0.8 % for ten.
#[test]
fn a_slab_warms_up_as_the_series_says_to_a_straight_profile() {
    let (count, settings) = (10, Settings { time_step: 1e-3, ..settings() });
    let world = slab(count);
    let (between, at_wall) = (under_force(NormalLaw::Hertz, 0.5 * R), under_force(NormalLaw::Hertz, R));
    let length = (count - 1) as f64 + 2.0 * between / at_wall;
    let diffusivity = between / world.grain_heat_capacity(0);
    let series = |x: f64, time: f64| {
        let mode = |n: usize| {
            let wave = n as f64 * PI;
            2.0 / wave * (wave * x / length).sin() * (-(wave / length).powi(2) * diffusivity * time).exp()
        };
        COLD + (HOT - COLD) * (1.0 - x / length - (1..200).map(mode).sum::<f64>())
    };
    for mut engine in engines(&world, &settings) {
        let mut before = (0.0, vec![0.0; 2]);
        for fourier in [0.05, 0.2, 1.2] {
            let time = fourier * length * length / diffusivity;
            let steps = (time / settings.time_step).round() as u64 - engine.snapshot().unwrap().report.step;
            engine.advance(steps).unwrap();
            let state = engine.snapshot().unwrap();
            let off = |grain: usize| {
                let x = between / at_wall + grain as f64;
                let wrong = series(x, 0.5 * state.report.time) - state.world.grain_temperature(grain);
                (state.world.grain_temperature(grain) - series(x, state.report.time), wrong)
            };
            let offs: Vec<(f64, f64)> = (0..count).map(off).collect();
            let largest =
                |of: &dyn Fn(&(f64, f64)) -> f64| offs.iter().map(|off| of(off).abs()).fold(0.0, f64::max);
            let error = largest(&|off| off.0) / (HOT - COLD);
            assert!(error < 0.01, "at t α/L² = {fourier}: off by {error} of the difference");
            // Control: half the time, which is no other profile once it is straight.
            assert!(fourier > 1.0 || largest(&|off| off.1) > 0.03 * (HOT - COLD));
            if fourier > 1.0 {
                steady(&state, before.clone(), length, between);
            }
            before = (state.report.time, all_received(&state));
        }
    }
}

/// Once the profile is straight, the grains conduct like a solid of k_eff = H/(2 R) (one contact per cross section (2 R)² and length 2 R:
/// Batchelor & O'Brien 1977 for a simple cubic packing), and what one wall gives the other one takes.
fn steady(state: &esker::engine::Snapshot, (since, before): (f64, Vec<f64>), length: f64, between: f64) {
    let flows: Vec<f64> = all_received(state)
        .iter()
        .zip(&before)
        .map(|(now, before)| (now - before) / (state.report.time - since))
        .collect();
    let flow = between * (HOT - COLD) / length;
    // Of the mean flow a part still warms the grains up.
    assert!(
        (flows[1] / flow - 1.0).abs() < 0.1 && (flows[0] / flow + 1.0).abs() < 0.1,
        "{flows:?} for {flow}"
    );
    let [low, high] = [2, 7].map(|grain| state.world.grain_temperature(grain));
    let effective = under_force(NormalLaw::Hertz, 0.5 * R) / (2.0 * R);
    let conducted = effective * (low - high) / (5.0 * 2.0 * R) * (2.0 * R).powi(2);
    assert!((conducted / flow - 1.0).abs() < 0.01, "{conducted} W for {flow} W");
}

/// Grains of random temperatures that fall on a floor.
fn shaken(friction_share: f64, walls: WallHeat) -> World {
    let mut random = Random::new(4, Stream::Grains(0));
    let mut world = with_floor(DVec3::new(0.0, 0.0, -9.81), conductor());
    world.set_heat(Heat { friction_share, ..Heat::new(COLD, vec![walls]) });
    let grain = |i: usize| {
        let place = DVec3::new((i % 4) as f64, (i / 4 % 4) as f64, (i / 16) as f64) * 2.05 * R;
        let (shift, hot) = (0.05 * R * random.in_cube(1.0), COLD + 100.0 * random.in_cube(1.0).x.abs());
        Grain {
            temperature: Some(hot),
            velocity: DVec3::new(0.3, -0.2, -0.5),
            ..Grain::at(place + shift + 1.1 * R * DVec3::Z, R, 0)
        }
    };
    world.add_grains((0..64).map(grain));
    world
}

#[test]
fn insulated_grains_keep_their_heat_to_rounding() {
    let world = shaken(0.0, WallHeat::Insulated);
    for mut engine in engines(&world, &settings()) {
        let before = engine.snapshot().unwrap();
        engine.advance(600).unwrap();
        let after = engine.snapshot().unwrap();
        let off = thermal_energy(&after) / thermal_energy(&before) - 1.0;
        assert!(off.abs() < 1e-13, "{off:e} of the heat was made");
        // Control: heat was exchanged.
        let moved = (0..64)
            .filter(|&i| (after.world.grain_temperature(i) - before.world.grain_temperature(i)).abs() > 1.0);
        assert!(moved.count() > 32);
        assert_eq!((made(&after), all_received(&after)), (0.0, vec![0.0]));
    }
}

/// Energy that contacts took out of the motion \[J\].
fn lost(balance: &EnergyBalance) -> f64 {
    -(balance.normal_work + balance.friction_work + balance.rolling_work + balance.impact_work)
}

/// Sliding, rolling, bouncing and pressing grains: what the balance says that contacts took is what the grains gained in heat, times the
/// share that stays.
#[test]
fn the_heat_of_friction_is_the_energy_that_contacts_took() {
    for (method, time_step, steps, share) in [
        (Method::Nonsmooth, 1e-4, 400, 1.0),
        (Method::Nonsmooth, 1e-4, 400, 0.3),
        (Method::Smooth, 1e-5, 800, 1.0),
    ] {
        let world = shaken(share, WallHeat::Insulated);
        let settings = Settings { bookkeeping: Bookkeeping::On, method, time_step, ..settings() };
        for mut engine in engines(&world, &settings) {
            let before = thermal_energy(&engine.snapshot().unwrap());
            engine.advance(steps).unwrap();
            let state = engine.snapshot().unwrap();
            let lost = lost(state.balance.as_ref().unwrap());
            let gained = thermal_energy(&state) - before;
            assert!(lost > 0.01 * state.balance.unwrap().initial_kinetic, "{method:?}: {lost} J");
            let made = made(&state);
            assert!((made / (share * lost) - 1.0).abs() < 1e-9, "{method:?}: {made} J of {lost} J");
            // Rounding of the whole heat, 64 grains at 350 K.
            assert!((gained - made).abs() < 1e-12 * before, "{method:?}: {gained} J of {made} J");
        }
    }
}

/// A wall that is held takes half of the heat of friction; a free wall warms up by what it receives.
#[test]
fn walls_receive_what_they_are_given() {
    let capacity = 0.5;
    let world = shaken(1.0, WallHeat::Free { temperature: COLD, capacity });
    for mut engine in engines(&world, &settings()) {
        let before = thermal_energy(&engine.snapshot().unwrap());
        engine.advance(500).unwrap();
        let state = engine.snapshot().unwrap();
        let received = all_received(&state)[0];
        let wall = state.world.bodies.heat[0].temperature;
        assert!(
            received > 0.0 && (wall - COLD - received / capacity).abs() < 1e-9,
            "{wall} K by {received} J"
        );
        let sum = thermal_energy(&state) + received - made(&state);
        assert!((sum / before - 1.0).abs() < 1e-13, "{sum} J of {before} J");
    }
}

#[test]
fn held_temperatures_stay_and_follow_their_table() {
    let course = Course::Table { times: vec![0.0, 0.1], values: vec![COLD, HOT] };
    let mut world = shaken(0.0, WallHeat::Held(course));
    let hold = Grain {
        holds_temperature: true,
        temperature: Some(500.0),
        ..Grain::at(DVec3::new(-0.1, 0.0, R), R, 0)
    };
    world.add_grains([hold]);
    for mut engine in engines(&world, &settings()) {
        engine.advance(500).unwrap();
        let found = temperatures(engine.as_mut());
        assert!((found[0] - 350.0).abs() < 1e-9 && found[65] == 500.0, "{} K, {} K", found[0], found[65]);
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let world = shaken(0.5, WallHeat::Held(Course::Constant(COLD)));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut engine: CpuEngine = cpu(&world, &settings());
            engine.advance(300).unwrap();
            temperatures(&mut engine)
        })
    };
    let [one, three] = [1, 3].map(run);
    assert_eq!(one, three);
    assert_ne!(one, temperatures(&mut cpu(&world, &settings())), "control: nothing happened");
}

#[test]
fn a_step_in_which_heat_would_swing_is_refused() {
    let mut world = pressed_pair(NormalLaw::Hertz);
    world.materials.list[0].heat_capacity *= 1e-4;
    world.set_heat(Heat::new(COLD, Vec::new()));
    for mut engine in engines(&world, &settings()) {
        let error = engine.advance(10).expect_err("too long");
        let Error::OutOfRange { ref of, found, .. } = error else { panic!("{error}") };
        let capacity = world.grain_heat_capacity(0);
        let expected = capacity / under_force(NormalLaw::Hertz, 0.5 * R);
        assert!(
            of.starts_with("grain ") && (settings().time_step / found / expected - 1.0).abs() < 0.01,
            "{error}"
        );
        assert!(error.to_string().contains("make substeps shorter by this factor"), "{error}");
    }
}

/// A saved state goes on with its temperatures and sums, to the bit.
#[test]
fn a_saved_state_goes_on_with_its_heat() {
    let world = shaken(1.0, WallHeat::Held(Course::Constant(HOT)));
    let settings = settings();
    for (mut alone, mut resumed) in engines(&world, &settings).into_iter().zip(engines(&world, &settings)) {
        alone.advance(100).unwrap();
        let mut saved = Vec::new();
        alone.save(&mut saved).unwrap();
        resumed.restore(&saved).unwrap();
        let [one, other] = [&mut alone, &mut resumed].map(|engine| {
            engine.advance(100).unwrap();
            let world = engine.snapshot().unwrap().world;
            (world.bodies.heat, world.heat)
        });
        assert_eq!(one, other);
        assert!(one.1.is_some_and(|heat| heat.made > 0.0 && heat.received[0] != 0.0));
    }
}
