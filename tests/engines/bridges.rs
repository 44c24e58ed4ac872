//! Liquid bridges \[E22\]: pulled apart, in impacts, in viscous flow, at walls and seams, through searches and checkpoints; both methods.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::f64::consts::PI;
use std::sync::Arc;

use crate::common::*;
use esker::cpu::CpuEngine;
use esker::engine::{EnergyBalance, Engine, Snapshot};
use esker::error::Error;
use esker::gpu::GpuEngine;
use esker::law::bridge::{BridgeForce, BridgeLaw, BridgeRupture, Meniscus};
use esker::model::{
    Axes, Boundary, BridgeVolume, Clump, Form, Grain, Liquid, Materials, Mesh, Motion, Surface, World,
};
use esker::observe::{bridges, energy};
use esker::ranks::communicator::threads;
use esker::ranks::engine::open;
use esker::settings::{Method, Settings};
use esker::simulation::answer;
use glam::{DQuat, DVec3};

/// Radius of the grains \[m\], and their mass \[kg\].
const R: f64 = 1e-3;
const MASS: f64 = 2500.0 * 4.0 / 3.0 * PI * R * R * R;
const WATER: BridgeLaw = BridgeLaw {
    surface_tension: 0.072,
    contact_angle: 0.0,
    viscosity: 0.0,
    smallest_gap: 0.01,
    force: BridgeForce::Willett,
    rupture: BridgeRupture::Lian,
};
const VOLUME: BridgeVolume = BridgeVolume::OfSphere(0.01);

fn at(time_step: f64) -> Settings {
    Settings { time_step, ..Settings::default() }
}

fn smooth(time_step: f64) -> Settings {
    Settings { method: Method::Smooth, ..at(time_step) }
}

fn all_axes() -> Axes {
    Axes::TRANSLATION.into_iter().chain(Axes::ROTATION).fold(Axes::NONE, Axes::and)
}

/// A world of wet stone without gravity and without bodies.
fn wet(law: BridgeLaw, materials: Materials) -> World {
    let mut world = World::new(DVec3::ZERO, materials);
    world.liquid = Some(Liquid::new(law, VOLUME, vec![true; world.materials.list.len()]));
    world
}

/// Bridge of two grains of this law.
fn of_pair(law: BridgeLaw) -> Meniscus {
    law.meniscus(0.5 * R, 0.01 * R.powi(3))
}

/// Two grains with this gap along z \[m\], the upper one held; the lower one has this velocity along z \[m/s\].
fn pair(law: BridgeLaw, gap: f64, speed: f64) -> World {
    let mut world = wet(law, stone(0.3, 0.1));
    let held = Grain { locked: all_axes(), ..Grain::at(DVec3::ZERO, R, 0) };
    let free = Grain { velocity: speed * DVec3::Z, ..Grain::at(-(2.0 * R + gap) * DVec3::Z, R, 0) };
    world.add_grains([held, free]);
    world
}

/// The same with a bridge across the gap.
fn bridged(law: BridgeLaw, gap: f64, speed: f64) -> World {
    let mut world = pair(law, gap, speed);
    world.liquid.as_mut().unwrap().bridges.push([0, 1]);
    world
}

fn run(world: &World, settings: &Settings, time: f64) -> Snapshot {
    let mut engine = cpu(world, settings);
    engine.advance((time / settings.time_step).round() as u64).unwrap();
    engine.snapshot().unwrap()
}

/// Gap of the pair \[m\].
fn gap(state: &Snapshot) -> f64 {
    -state.world.bodies.position[1].z - 2.0 * R
}

/// F = 2 π R γ at contact, and less at any gap: a grain that is lighter hangs, a heavier one falls.
#[test]
fn a_grain_hangs_by_its_bridge_up_to_two_pi_r_gamma() {
    for (settings, name) in [(at(1e-3), "nonsmooth"), (smooth(2e-6), "smooth")] {
        let hung = |share: f64| {
            let weight = MASS * 9.81;
            let law = BridgeLaw { surface_tension: share * weight / (2.0 * PI * R), ..WATER };
            let mut world = pair(law, -1e-9, 0.0);
            world.gravity = -9.81 * DVec3::Z;
            run(&world, &settings, 0.05)
        };
        let state = hung(1.03);
        assert!(gap(&state).abs() < 1e-4 * R, "{name}: it hangs at a gap of {} m", gap(&state));
        let pull = -state.contacts[0].impulse.normal / state.substep;
        assert!((pull / (MASS * 9.81) - 1.0).abs() < 1e-2, "{name}: the contact pulls with {pull} N");
        assert_eq!(bridges::count(&state), 1.0);
        let state = hung(0.97);
        assert!(gap(&state) > 0.2 * R, "{name}: it hangs though it is too heavy, at {} m", gap(&state));
        assert_eq!((bridges::count(&state), bridges::broken(&state)), (0.0, 1.0), "{name}");
    }
}

/// A wall goes down from a held grain at 10 mm/s: it is pulled with the force of the meniscus until that breaks, and puts in its integral.
#[test]
fn a_wall_that_is_pulled_off_does_the_integral_of_the_force() {
    let speed = 0.01;
    for force in [BridgeForce::Willett, BridgeForce::WillettFit, BridgeForce::Rabinovich] {
        for settings in [at(1e-4), smooth(1e-5)] {
            let law = BridgeLaw { force, contact_angle: 0.3, ..WATER };
            let mut world = wet(law, stone(0.3, 0.5));
            let motion = Motion::velocity(-speed * DVec3::Z);
            let wall = Boundary { motion, ..fixed("wall") };
            world.add_boundary(wall, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 0)]);
            world.add_grains([Grain { locked: all_axes(), ..Grain::at((1.0 - 1e-9) * R * DVec3::Z, R, 0) }]);
            let bridge = law.meniscus(R, 0.01 * R.powi(3));
            let mut engine = cpu(&world, &settings);
            let duration = bridge.rupture() / speed;
            for part in 1..=4 {
                engine.advance((0.2 * duration / settings.time_step).round() as u64).unwrap();
                let state = engine.snapshot().unwrap();
                let contact = &state.contacts[0];
                // The force is that of the gap at the start of the substep.
                let before = contact.gap - speed * settings.time_step;
                approx::assert_relative_eq!(
                    contact.cohesion / state.substep,
                    bridge.force(before),
                    max_relative = 1e-6
                );
                assert_eq!(bridges::count(&state), 1.0, "{part}");
                approx::assert_relative_eq!(
                    bridges::mean_force(&state),
                    bridge.force(contact.gap),
                    max_relative = 1e-9
                );
            }
            engine.advance((0.3 * duration / settings.time_step).round() as u64).unwrap();
            let state = engine.snapshot().unwrap();
            assert_eq!(
                (bridges::count(&state), bridges::formed(&state), bridges::broken(&state)),
                (0.0, 1.0, 1.0)
            );
            let work = -bridge.energy(0.0);
            let step = bridge.force(0.0) * speed * settings.time_step;
            let balance = state.balance.unwrap();
            assert!(
                (balance.boundary_work - work).abs() < 2.0 * step,
                "{} J for {work} J",
                balance.boundary_work
            );
            assert!(balance.error(0.0).abs() < 1e-12 * work);
            assert!((energy::dissipated_by_bridges(&state) - work).abs() < 2.0 * step);
            assert!(energy::error_share(&state) < 1e-12 && step < 0.02 * work);
            // Back to half of the rupture distance, without a touch.
            engine.change(&mut |world| world.bodies.position[1].z -= 0.6 * bridge.rupture()).unwrap();
            engine.advance(1).unwrap();
            let state = engine.snapshot().unwrap();
            assert!(state.contacts[0].gap < 0.8 * bridge.rupture() && state.contacts[0].cohesion == 0.0);
        }
    }
}

/// Two grains part after an impact with the energy that restitution leaves, less the work of the bridge; below that energy they stay.
#[test]
fn an_impact_loses_the_work_of_a_bridge_or_ends_in_it() {
    let work = -of_pair(WATER).energy(0.0);
    // With half the mass of a grain.
    let escape = (4.0 * work / MASS).sqrt();
    let collision = |speed: f64| {
        let mut world = wet(WATER, stone(0.3, 0.8));
        let side = |sign: f64| Grain {
            velocity: -0.5 * sign * speed * DVec3::Z,
            ..Grain::at(sign * 1.01 * R * DVec3::Z, R, 0)
        };
        world.add_grains([side(1.0), side(-1.0)]);
        world
    };
    for (settings, name) in [(at(2e-5), "nonsmooth"), (smooth(2e-6), "smooth")] {
        let parting = |world: &World| {
            let state = run(world, &settings, 20e-3);
            let velocity = &state.world.bodies.velocity;
            assert!(energy::error_share(&state) < 1e-12, "{name}");
            (velocity[0].z - velocity[1].z, bridges::count(&state))
        };
        let speed = 2.0 * escape;
        let expected = (0.64 * speed * speed - escape * escape).sqrt();
        let (found, count) = parting(&collision(speed));
        assert!((found / expected - 1.0).abs() < 0.03, "{name}: {found} m/s for {expected} m/s");
        assert_eq!(count, 0.0, "{name}");
        // 0.8 of 1.1 escape speeds is not enough.
        let (found, count) = parting(&collision(1.1 * escape));
        assert!(count == 1.0 && found.abs() < escape, "{name}: they part at {found} m/s");
        // Control: dry grains part at any speed.
        let (found, _) = parting(&World { liquid: None, ..collision(1.1 * escape) });
        assert!((found / (0.88 * escape) - 1.0).abs() < 0.01, "{name}: {found} m/s without liquid");
    }
}

/// m dv/dt = -6 π η R*² v/S has the integral v = v_0 - (6 π η R*²/m) ln(S/S_0): the gap stays finite. At the long steps h C/m is 30.
#[test]
fn a_viscous_bridge_stops_grains_within_a_factor_of_the_gap_at_any_step() {
    let law = BridgeLaw { surface_tension: 1e-9, viscosity: 5.0, ..WATER };
    let (start, factor) = (0.05 * R, 1.3f64);
    let along = 6.0 * PI * law.viscosity * 0.25 * R * R;
    let speed = along / MASS * factor.ln();
    for (settings, tolerance) in [(at(1e-3), 0.2), (at(1e-6), 0.01), (smooth(1e-6), 0.01)] {
        let state = run(&bridged(law, start, -speed), &settings, 5e-3);
        let found = gap(&state) / start;
        assert!(
            (found / factor - 1.0).abs() < tolerance,
            "{:?}, {}: {found}",
            settings.method,
            settings.time_step
        );
        assert!(state.world.bodies.velocity[1].length() < 1e-3 * speed);
        assert!(energy::error_share(&state) < 1e-12);
        let lost = energy::dissipated_by_bridges(&state) / (0.5 * MASS * speed * speed);
        assert!((lost - 1.0).abs() < 1e-3, "{lost} of the energy");
    }
    // Control: without viscosity it goes on.
    let state = run(&bridged(BridgeLaw { viscosity: 0.0, ..law }, start, -speed), &at(1e-6), 1e-4);
    assert!((gap(&state) - start) / (1e-4 * speed) > 0.9);
}

/// A grain that cannot turn slides past another with the drag 6 π η R* (8/15 ln(R*/S) + 0.9588), and the wall of it feels the force.
#[test]
fn a_sliding_grain_is_slowed_by_the_drag_across_its_bridge() {
    let law = BridgeLaw { surface_tension: 1e-9, viscosity: 0.1, ..WATER };
    let mut world = wet(law, stone(0.3, 0.5));
    world.add_boundary(fixed("floor"), [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 0)]);
    let locked = Axes::ROTATION.into_iter().fold(Axes::TRANSLATION[2], Axes::and);
    let (gap, speed) = (0.1 * R, 0.1);
    world.add_grains([Grain { locked, velocity: speed * DVec3::X, ..Grain::at((R + gap) * DVec3::Z, R, 0) }]);
    world.liquid.as_mut().unwrap().bridges.push([1, 0]);
    let drag = 6.0 * PI * law.viscosity * R * (8.0 / 15.0 * 10f64.ln() + 0.9588);
    let time = 0.5 * MASS / drag;
    for settings in [at(time / 50.0), smooth(time / 500.0)] {
        let state = run(&world, &settings, time);
        let found = state.world.bodies.velocity[1].x / speed;
        let implicit = (1.0 + drag * settings.time_step / MASS).powf(-time / settings.time_step);
        assert!(
            (found / implicit - 1.0).abs() < 1e-6 && (implicit / (-0.5f64).exp() - 1.0).abs() < 6e-3,
            "{found}"
        );
        let given = state.impulses[0].linear.x / (MASS * speed * (1.0 - found));
        assert!((given - 1.0).abs() < 1e-6, "the wall got {given} of the momentum");
    }
}

/// Grains that rain on a floor, some of them clumps, and wet each other; some heights of fall are above the escape speed.
fn rain(viscosity: f64, count: u32) -> World {
    let mut world = wet(BridgeLaw { viscosity, ..WATER }, stone(0.4, 0.5));
    world.gravity = -9.81 * DVec3::Z;
    world.add_boundary(fixed("floor"), [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 0)]);
    world.clumps.push(Clump::of_spheres("pair", &[(-0.5 * R * DVec3::X, R), (0.5 * R * DVec3::X, R)]));
    let grain = |i: u32| {
        let place = DVec3::new(f64::from(i % 4), f64::from(i / 4 % 4), f64::from(i / 16));
        let clump = i.is_multiple_of(3).then_some(0);
        let radius = if clump.is_some() { R } else { R * (0.8 + 0.1 * f64::from(i % 5)) };
        let velocity = 0.2 * DVec3::new((f64::from(i)).sin(), (2.0 * f64::from(i)).cos(), -1.0);
        Grain {
            clump,
            velocity,
            ..Grain::at(2.6 * R * place + R * DVec3::new(0.0, 0.1 * place.z, 1.1), radius, 0)
        }
    };
    world.add_grains((0..count).map(grain));
    world
}

#[test]
fn the_energy_balance_closes_while_bridges_form_and_break() {
    for (settings, time) in [(at(5e-4), 0.05), (smooth(4e-6), 0.02)] {
        for viscosity in [0.0, 0.01] {
            let state = run(&rain(viscosity, 32), &settings, time);
            // Clumps turn with an error of fourth order in the step.
            assert!(energy::error_share(&state) < 1e-9, "{}", energy::error_share(&state));
            let [count, formed, broken] =
                [bridges::count, bridges::formed, bridges::broken].map(|of| of(&state));
            assert_eq!(formed, count + broken);
            assert!(count > 20.0 && broken > 5.0, "{count} bridges, {broken} broke");
            assert!(energy::dissipated_by_bridges(&state) > 0.0);
            let booked = state.balance.unwrap();
            let without = EnergyBalance { bridge_work: 0.0, ..booked };
            let kinetic = state.world.kinetic_energy();
            assert!(without.error(kinetic).abs() > 1e-6 * booked.turnover(), "bridges count");
        }
    }
}

#[test]
fn a_wet_scene_has_the_same_bits_on_any_threads_and_from_a_checkpoint() {
    for settings in [at(5e-4), smooth(4e-6)] {
        let world = rain(0.01, 32);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&world, &settings, 60.0 * settings.time_step))
        };
        let [one, three] = [on(1), on(3)];
        assert_eq!((&one.world, &one.contacts, one.balance), (&three.world, &three.contacts, three.balance));

        let mut saved = Vec::new();
        let mut engine = cpu(&world, &settings);
        engine.advance(37).unwrap();
        engine.save(&mut saved).unwrap();
        let mut restored: CpuEngine = cpu(&world, &settings);
        restored.restore(&saved).unwrap();
        restored.advance(23).unwrap();
        let state = restored.snapshot().unwrap();
        assert_eq!((state.world, state.balance), (one.world, one.balance));
    }
}

/// Gravity that is tilted by 20°: a block of 72 grains in a cubic lattice flows without bridges, and stands with them at ms steps.
#[test]
fn a_wet_block_stands_where_a_dry_one_slumps() {
    let spread = |liquid: Option<Liquid>| {
        let mut world = wet(WATER, stone(0.5, 0.1));
        let (sine, cosine) = 20f64.to_radians().sin_cos();
        world.gravity = 9.81 * DVec3::new(sine, 0.0, -cosine);
        world.add_boundary(fixed("floor"), [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 0)]);
        let place = |i: u32| DVec3::new(f64::from(i % 4), f64::from(i / 4 % 3), 0.5 + f64::from(i / 12));
        world.add_grains((0..72).map(|i| Grain::at(2.0 * (1.0 - 1e-9) * R * place(i), R, 0)));
        world.liquid = liquid;
        let state = run(&world, &at(1e-3), 0.1);
        let height = state.world.bodies.position.iter().map(|place| place.z).fold(0.0, f64::max);
        (height / (11.0 * R), bridges::count(&state))
    };
    // 40 times the weight of a grain holds the six layers of it, with a friction of 0.5.
    let law = BridgeLaw { surface_tension: 40.0 * MASS * 9.81 / (2.0 * PI * R), ..WATER };
    let (height, count) = spread(Some(Liquid::new(law, VOLUME, vec![true])));
    assert!(height > 0.97 && count > 170.0, "{height} of its height, {count} bridges");
    let (height, count) = spread(None);
    assert!(height < 0.8 && count == 0.0, "{height} of its height without liquid");
}

/// A grain rolls from one slab to another that lies flush with it, and along the facets of a cylinder.
#[test]
fn a_bridge_goes_with_a_grain_that_rolls_from_surface_to_surface() {
    let slab = |x: f64| {
        Surface::new(DVec3::new(x, 0.0, -0.01), DQuat::IDENTITY, Form::Box { half: DVec3::splat(0.01) }, 0)
    };
    for settings in [at(5e-4), smooth(4e-6)] {
        let mut world = wet(WATER, stone(0.5, 0.0));
        world.gravity = -9.81 * DVec3::Z;
        world.add_boundary(fixed("slabs"), [slab(-0.01), slab(0.01)]);
        let grain = Grain {
            velocity: 0.2 * DVec3::X,
            angular_velocity: 0.2 / R * DVec3::Y,
            ..Grain::at(DVec3::new(-2.0 * R, 0.0, (1.0 - 1e-6) * R), R, 0)
        };
        world.add_grains([grain]);
        let state = run(&world, &settings, 0.02);
        assert!(state.world.bodies.position[1].x > R, "{}", state.world.bodies.position[1]);
        let found = [bridges::count, bridges::formed, bridges::broken].map(|of| of(&state));
        assert_eq!(found, [1.0, 1.0, 0.0], "{:?}", settings.method);
        assert_eq!(state.world.liquid.unwrap().bridges, [[2, 1]]);
    }
}

/// A grain rolls up a valley of facets that turn by 5.7° from one to the next: patches of a mesh, of which it touches one or two.
#[test]
fn a_bridge_goes_from_patch_to_patch_of_a_mesh() {
    let corner = |facet: i32, y: f64| {
        let (sine, cosine) = (0.1 * f64::from(facet)).sin_cos();
        20.0 * R * DVec3::new(sine, y, 1.0 - cosine)
    };
    let facet = |i: i32| {
        let [a, b, c, d] = [corner(i, -1.0), corner(i + 1, -1.0), corner(i + 1, 1.0), corner(i, 1.0)];
        [[a, b, c], [a, c, d]]
    };
    let triangles: Vec<[DVec3; 3]> = (-3..8).flat_map(facet).collect();
    for settings in [at(5e-4), smooth(4e-6)] {
        let mut world = wet(WATER, stone(0.5, 0.0));
        world.gravity = -9.81 * DVec3::Z;
        let mesh = Arc::new(Mesh::new("valley", &triangles).unwrap());
        let surfaces = world.mesh_surfaces(mesh, DVec3::ZERO, DQuat::IDENTITY, 0);
        assert!(surfaces.len() > 8, "{} patches", surfaces.len());
        world.add_boundary(fixed("valley"), surfaces);
        let grain = Grain {
            velocity: 0.3 * DVec3::X,
            angular_velocity: 0.3 / R * DVec3::Y,
            ..Grain::at(DVec3::new(R, 0.0, (1.05 - 1e-6) * R), R, 0)
        };
        world.add_grains([grain]);
        let mut engine = cpu(&world, &settings);
        for part in 0..20 {
            engine.advance((1e-3 / settings.time_step).round() as u64).unwrap();
            let state = engine.snapshot().unwrap();
            let count = bridges::count(&state);
            assert!((1.0..=2.0).contains(&count), "{:?}, {part}: {count} bridges", settings.method);
            assert_eq!(bridges::broken(&state), 0.0, "{:?}, {part}", settings.method);
        }
        let state = engine.snapshot().unwrap();
        assert!(state.world.bodies.position[1].x > 4.5 * R, "{}", state.world.bodies.position[1]);
    }
}

/// A stretched bridge lives through searches, though its pair is farther apart than the search looks; a grain in the place of one that
/// was taken has none.
#[test]
fn stretched_bridges_live_through_searches_and_go_with_their_grains() {
    let law = BridgeLaw { surface_tension: 1e-9, ..WATER };
    let far = 0.95 * of_pair(law).rupture();
    assert!(far > 0.2 * R);
    let mut engine = cpu(&bridged(law, far, 0.0), &at(1e-3));
    for _ in 0..3 {
        engine.advance(2).unwrap();
        let state = engine.snapshot().unwrap();
        assert_eq!((bridges::count(&state), bridges::formed(&state)), (1.0, 0.0));
        engine.change(&mut |_| {}).unwrap(); // makes the next step search
    }
    engine.change(&mut |world| _ = world.take_out(1)).unwrap();
    engine.advance(1).unwrap();
    engine.add_grains(&[]).unwrap();
    engine.advance(1).unwrap();
    engine.add_grains(&[Grain::at(-(2.0 * R + far) * DVec3::Z, R, 0)]).unwrap();
    engine.advance(2).unwrap();
    let state = engine.snapshot().unwrap();
    assert_eq!((state.world.grain_count(), bridges::count(&state), bridges::broken(&state)), (2, 0.0, 0.0));
    assert_eq!(state.world.bodies.velocity[1], DVec3::ZERO);
    // Control: with one it is pulled.
    let state = run(&bridged(law, far, 0.0), &at(1e-3), 2e-3);
    assert!(state.world.bodies.velocity[1].z > 0.0);
}

#[test]
fn a_graphics_card_and_ranks_refuse_liquid() {
    let world = pair(WATER, 0.0, 0.0);
    let refused = GpuEngine::new(device(), world.clone(), at(1e-3)).err();
    assert!(matches!(refused, Some(Error::NotOnGpu { setting: "liquid" })), "{refused:?}");
    let refused = open(Box::new(threads(1).remove(0)), world, at(1e-3), answer).err();
    assert!(matches!(refused, Some(Error::NotOnRanks { what: "liquid bridges", .. })), "{refused:?}");
}
