//! Cohesion \[E2\], \[E13\]: contacts hold up to the pull-off force, under both methods and on both engines.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::engine::{Engine, Snapshot};
use esker::gpu::shader::Edit;
use esker::law::normal::NormalLaw;
use esker::law::pair::Material;
use esker::model::{Axes, Boundary, Form, Grain, Materials, Motion, Solid, Surface, World};
use esker::observe::energy;
use esker::scenario::Scenario;
use esker::settings::{Bookkeeping, Method, Settings};
use glam::{DQuat, DVec3};

/// Radius of the grains \[m\].
const R: f64 = 5e-3;
/// Weight of a grain \[N\].
const WEIGHT: f64 = 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * R * R * R * 9.81;
/// Effective modulus E* of two bodies of stone \[Pa\].
const MODULUS: f64 = 1e8 / (2.0 * (1.0 - 0.25 * 0.25));

/// Stone with this friction \[-\], pull-off force \[N\] and work of adhesion \[J/m²\].
fn sticky(friction: f64, pull_off_force: f64, work_of_adhesion: f64) -> Materials {
    let stone = stone(friction, 0.1).list.remove(0);
    Materials::new(vec![Material { pull_off_force, work_of_adhesion, ..stone }])
}

/// Overlap at which Hertz's law carries a force \[m\].
fn overlap_under(force: f64, radius: f64) -> f64 {
    (force / (4.0 / 3.0 * MODULUS * radius.sqrt())).powf(2.0 / 3.0)
}

/// A world with one plane through the origin.
fn with_plane(materials: Materials, normal: DVec3) -> World {
    let mut world = World::new(DVec3::new(0.0, 0.0, -9.81), materials);
    let turned = DQuat::from_rotation_arc(DVec3::Z, normal);
    world.add_boundary(fixed("plane"), [Surface::new(DVec3::ZERO, turned, Form::Plane, 0)]);
    world
}

/// Names and settings of the methods and normal laws with cohesion, and their numbers of steps in 0.1 s.
fn laws() -> Vec<(String, Settings, u64)> {
    let settings = Settings { iterations: 50, bookkeeping: Bookkeeping::On, ..Settings::default() };
    let nonsmooth = [NormalLaw::Hertz, NormalLaw::Hooke, NormalLaw::Rigid].map(|normal_law| {
        (format!("nonsmooth, {normal_law:?}"), Settings { normal_law, time_step: 1e-3, ..settings }, 100)
    });
    let smooth = Settings { method: Method::Smooth, time_step: 4e-5, ..settings };
    nonsmooth.into_iter().chain([("smooth, Hertz".to_owned(), smooth, 2500)]).collect()
}

/// Calls `visit` with the state after 0.1 s under each law on each engine.
fn after(world: &World, mut visit: impl FnMut(&str, Snapshot)) {
    for (name, settings, steps) in laws() {
        for engine in &mut both(world, &settings) {
            engine.advance(steps).unwrap();
            visit(&format!("{name}, {}", engine.identity().engine), engine.snapshot().unwrap());
        }
    }
}

fn position(state: &Snapshot, grain: usize) -> DVec3 {
    state.world.bodies.position[state.world.grain_body(grain)]
}

/// Chain of grains below a ceiling, each contact with the overlap at which it carries the grains that hang from it.
fn hanging(count: usize, pull_off: f64) -> World {
    let mut world = with_plane(sticky(0.5, pull_off, 0.0), -DVec3::Z);
    let mut height = 0.0;
    for grain in 0..count {
        let radius = if grain == 0 { R } else { 0.5 * R };
        height += overlap_under((pull_off - (count - grain) as f64 * WEIGHT).max(0.0), radius);
        world.add_grains([Grain::at(DVec3::new(0.0, 0.0, height - (2 * grain + 1) as f64 * R), R, 0)]);
    }
    world
}

#[test]
fn a_grain_hangs_from_a_ceiling_up_to_the_pull_off_force() {
    after(&hanging(1, 1.05 * WEIGHT), |name, state| {
        let height = position(&state, 0).z;
        assert!((height + R).abs() < 1e-3 * R, "{name}: it hangs at {height} m");
        let contact = &state.contacts[0];
        let force = contact.impulse.normal / state.substep;
        assert!((force / WEIGHT + 1.0).abs() < 2e-2, "{name}: the contact pulls with {force} N");
        assert!(contact.is_active() && !contact.is_sliding(), "{name}");
        // The impulse on the ceiling since the start is the weight times 0.1 s.
        let pull = state.impulses[0].linear.z / 0.1;
        assert!((pull / WEIGHT + 1.0).abs() < 2e-2, "{name}: the ceiling carries {pull} N");
        let made = state.balance.unwrap().error(state.world.kinetic_energy());
        assert!(made.abs() < 1e-3 * WEIGHT * R, "{name}: {made} J are not accounted for");
    });
    after(&hanging(1, 0.95 * WEIGHT), |name, state| {
        assert!(position(&state, 0).z < -1.5 * R, "{name}: it hangs though it is too heavy");
    });
}

/// A chain of three grains hangs from the ceiling if the pull-off force is 3.2 weights, and falls if it is 2.8: the uppermost contact
/// carries the whole chain.
#[test]
fn a_chain_hangs_as_long_as_its_uppermost_contact_holds() {
    after(&hanging(3, 3.2 * WEIGHT), |name, state| {
        let lowest = position(&state, 2).z;
        assert!((lowest + 5.0 * R).abs() < 0.01 * R, "{name}: it hangs down to {lowest} m");
    });
    after(&hanging(3, 2.8 * WEIGHT), |name, state| {
        let [first, last] = [0, 2].map(|grain| position(&state, grain).z);
        assert!(first < -1.1 * R, "{name}: the chain hangs though it is too heavy");
        assert!((first - last - 4.0 * R).abs() < 0.05 * R, "{name}: and holds together as it falls");
    });
}

/// A small sphere hangs from a larger one up to the pull-off force of Johnson, Kendall and Roberts, 3/2 π w R*.
#[test]
fn the_pull_off_force_of_adhesion_grows_with_the_effective_radius() {
    let reduced = 2.0 * R * R / (3.0 * R);
    let world = |share: f64| {
        let adhesion = share * WEIGHT / (1.5 * std::f64::consts::PI * reduced);
        let mut world = World::new(DVec3::new(0.0, 0.0, -9.81), sticky(0.5, 0.0, adhesion));
        let all = Axes::ROTATION.into_iter().chain(Axes::TRANSLATION).fold(Axes::NONE, Axes::and);
        let overlap = overlap_under((share - 1.0).max(0.0) * WEIGHT, reduced);
        let small = Grain::at(DVec3::new(0.0, 0.0, overlap - 3.0 * R), R, 0);
        world.add_grains([Grain { locked: all, ..Grain::at(DVec3::ZERO, 2.0 * R, 0) }, small]);
        world
    };
    after(&world(1.05), |name, state| {
        let height = position(&state, 1).z;
        assert!((height + 3.0 * R).abs() < 1e-3 * R, "{name}: it hangs at {height} m");
    });
    after(&world(0.95), |name, state| {
        assert!(position(&state, 1).z < -3.5 * R, "{name}: it hangs though it is too heavy");
    });
}

/// A block sticks to a vertical wall without any load on the contact: friction is bounded by μ (F_n + F_c), with F_c the pull-off force.
#[test]
fn cohesion_counts_for_the_bound_of_friction() {
    const FRICTION: f64 = 0.5;
    let beside = |share: f64| {
        let pull_off = share * WEIGHT / FRICTION;
        let mut world = with_plane(sticky(FRICTION, pull_off, 0.0), DVec3::X);
        let locked = Axes::ROTATION.into_iter().fold(Axes::NONE, Axes::and);
        let place = DVec3::new(R - overlap_under(pull_off, R), 0.0, 0.0);
        world.add_grains([Grain { locked, ..Grain::at(place, R, 0) }]);
        world
    };
    after(&beside(1.05), |name, state| {
        let fallen = position(&state, 0).z;
        assert!(fallen.abs() < 0.02 * R, "{name}: it slipped by {fallen} m");
        let contact = &state.contacts[0];
        assert!(
            contact.impulse.normal.abs() < 0.02 * contact.cohesion,
            "{name}: nothing presses it on the wall"
        );
    });
    after(&beside(0.9), |name, state| {
        // The block falls at a tenth of the acceleration of gravity.
        let (fallen, expected) = (-position(&state, 0).z, 0.5 * 0.1 * 9.81 * 0.01);
        assert!((fallen / expected - 1.0).abs() < 0.1, "{name}: it slid by {fallen} m for {expected} m");
    });
}

/// A block of discs ten high and eight wide on a floor, without walls.
fn vertical_cut(pull_off_in_weights: f64) -> Scenario {
    let weight = 3700.0 * std::f64::consts::PI * 0.0065f64.powi(2) * 9.81;
    let overrides = [
        "plane=\"xz\"".to_owned(),
        format!("materials.pellet.pull_off_force={}", pull_off_in_weights * weight),
        "materials.pellet.friction=0.3".to_owned(),
        "materials.pellet.rolling_resistance=0.0".to_owned(),
    ];
    let places: Vec<String> = (0..10)
        .flat_map(|row| (0..8).map(move |i| (row, i)))
        .map(|(row, i)| {
            let x = 0.01299 * (f64::from(i) + 0.5 * f64::from(row % 2));
            let z = 0.00649 + 0.01299 * 0.75f64.sqrt() * f64::from(row);
            format!("[{x:?}, 0.0, {z:?}]")
        })
        .collect();
    let text = format!(
        r#"duration = 1.0
[materials.pellet]
density = 3700.0
youngs_modulus = 6e9
poisson_ratio = 0.25
restitution = 0.18
friction = 0.5
rolling_resistance = 0.0
{FLOOR}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0065 }}
allow_overlap = true
packing = {{ kind = "list", positions = [{}] }}
"#,
        places.join(", ")
    );
    Scenario::parse("cut", &text, std::path::Path::new("."), &overrides)
        .unwrap_or_else(|problems| panic!("{problems}"))
}

/// Width and height of the grains after 200 steps, over the width and height of the initial cut \[-\].
fn shape_of(engine: &mut dyn Engine) -> [f64; 2] {
    engine.advance(200).unwrap();
    let state = engine.snapshot().unwrap();
    let places = || (0..80).map(|grain| position(&state, grain));
    let ends =
        places().map(|place| place.x).fold([f64::MAX, f64::MIN], |[low, high], x| [low.min(x), high.max(x)]);
    let top = places().map(|place| place.z).fold(0.0, f64::max);
    [(ends[1] - ends[0]) / (7.5 * 0.01299), top / (9.0 * 0.01299 * 0.75f64.sqrt() + 0.00649)]
}

#[test]
fn a_vertical_cut_stands_with_cohesion_and_slumps_the_less_the_more_it_has() {
    let settings = Settings { iterations: 50, ..vertical_cut(0.0).settings };
    let shapes =
        [0.0, 0.5, 30.0].map(|pull_off| shape_of(&mut cpu(&vertical_cut(pull_off).world, &settings)));
    let [[_, loose], [_, moist], [width, height]] = shapes;
    assert!(loose < 0.5 && loose + 0.1 < moist && moist < 0.8, "heights without and with little: {shapes:?}");
    assert!((0.97..1.03).contains(&width) && (0.97..1.03).contains(&height), "the cut stands: {shapes:?}");
    let [width, height] = shape_of(&mut gpu(&vertical_cut(30.0).world, &settings));
    assert!((0.97..1.03).contains(&width) && (0.97..1.03).contains(&height), "on the GPU: {width}, {height}");
}

/// Relative error of the impulse on the box against the momentum and the weight of sixty grains, and closure error of the energy balance
/// over m g R \[-\].
fn errors_in_the_books(state: &Snapshot) -> [f64; 2] {
    let bodies = &state.world.bodies;
    let grains = || (0..60).map(|grain| state.world.grain_body(grain));
    let mass: f64 = grains().map(|body| 1.0 / bodies.inverse_mass[body]).sum();
    let momentum: f64 = grains().map(|body| bodies.velocity[body].z / bodies.inverse_mass[body]).sum();
    let given: f64 = state.impulses.iter().map(|total| total.linear.z).sum();
    let expected = -(momentum + mass * 9.81 * state.world.time);
    let lost = state.balance.unwrap().error(state.world.kinetic_energy());
    [(given / expected - 1.0).abs(), lost.abs() / (mass * 9.81 * R)]
}

#[test]
fn grains_that_bounce_and_stick_come_to_rest_and_the_books_are_right() {
    let pull_off = "materials.pellet.pull_off_force=0.8"; // twenty times the weight of a grain
    let scenario = scenario("settle_1000.toml", &["grains.0.packing.count=60", pull_off]);
    let settings = Settings { bookkeeping: Bookkeeping::On, ..scenario.settings };
    for mut engine in both(&scenario.world, &settings) {
        let name = engine.identity().engine;
        engine.advance(20).unwrap();
        let state = engine.snapshot().unwrap();
        assert!(state.balance.unwrap().impact_work < 0.0, "{name}: some bounced");
        let errors = errors_in_the_books(&state);
        assert!(errors.iter().all(|&error| error < 1e-4), "{name}: {errors:?}");
        engine.advance(180).unwrap();
        let state = engine.snapshot().unwrap();
        let (kinetic, errors) = (state.world.kinetic_energy(), errors_in_the_books(&state));
        assert!(errors.iter().all(|&error| error < 1e-4), "{name}: {errors:?}");
        assert!(kinetic < 1e-9, "{name}: {kinetic} J are left");
    }
    // Control: impacts that do not start from zero impulses are noticed.
    let mut broken = gpu(&scenario.world, &settings);
    let mistaken = Edit {
        from: "impulses[IMPULSE_PAIRS * place + i] = vec2f(0.0);",
        to: "impulses[3u * place + i] = vec2f(0.0);",
    };
    broken.edit_shaders(&[mistaken]).unwrap();
    broken.advance(20).unwrap();
    let errors = errors_in_the_books(&broken.snapshot().unwrap());
    assert!(errors.iter().any(|&error| error > 1e-2), "the books close: {errors:?}");
}

/// The contact impulses of a state sum up to the impulse on the plane in that substep, also in the one in which a grain lands or is torn
/// away.
#[test]
fn forces_are_those_that_acted_when_a_contact_closes_and_when_it_opens() {
    let landing = |speed: f64| {
        let mut world = with_plane(sticky(0.5, 30.0 * WEIGHT, 0.0), DVec3::Z);
        let place = DVec3::new(0.0, 0.0, R + 5e-5);
        world.add_grains([Grain { velocity: DVec3::new(0.0, 0.0, speed), ..Grain::at(place, R, 0) }]);
        world
    };
    let torn = || {
        let mut world = with_plane(sticky(0.5, 0.5 * WEIGHT, 0.0), -DVec3::Z);
        world.add_grains([Grain::at(DVec3::new(0.0, 0.0, -R), R, 0)]);
        world
    };
    for (world, h) in [(landing(-0.04), 2e-3), (torn(), 1e-3)] {
        let settings = Settings { time_step: h, ..Settings::default() };
        for mut engine in both(&world, &settings) {
            let (mut before, mut has_held) = (0.0, false);
            for step in 0..20 {
                engine.advance(1).unwrap();
                let state = engine.snapshot().unwrap();
                let told: f64 =
                    state.contacts.iter().map(|contact| -contact.impulse.linear(contact.normal).z).sum();
                let given = state.impulses[0].linear.z - before;
                has_held |= state.contacts.iter().any(|contact| contact.cohesion > 0.0);
                let slack = 1e-4 * h * 30.0 * WEIGHT;
                let name = engine.identity().engine;
                assert!(
                    (told - given).abs() < slack,
                    "{name}, step {step}: told {told} N s, given {given} N s"
                );
                before = state.impulses[0].linear.z;
            }
            assert!(has_held, "no contact ever held");
        }
    }
}

/// Two grains that settle on each other without gravity lose the work of cohesion less the energy that their contact stores.
#[test]
fn normal_rows_dissipate_what_cohesion_gives_and_contacts_do_not_store() {
    let pull_off = 30.0 * WEIGHT;
    let mut world = World::new(DVec3::ZERO, sticky(0.5, pull_off, 0.0));
    world.add_grains([-1.0, 1.0].map(|side| Grain::at(DVec3::new(side * R, 0.0, 0.0), R, 0)));
    let settings = Settings {
        time_step: 1e-4,
        bookkeeping: Bookkeeping::On,
        impact_threshold: 10.0,
        ..Settings::default()
    };
    for mut engine in both(&world, &settings) {
        engine.advance(2000).unwrap();
        let state = engine.snapshot().unwrap();
        let overlap = overlap_under(pull_off, 0.5 * R);
        assert!((-state.contacts[0].gap / overlap - 1.0).abs() < 1e-2, "{}", state.contacts[0].gap);
        // The spring stores two fifths of the work of cohesion, F δ, so the elastic energy is (2/5 - 1) F δ.
        let (stored, expected) = (energy::elastic(&state, NormalLaw::Hertz), -0.6 * pull_off * overlap);
        assert!((stored / expected - 1.0).abs() < 2e-2, "stored {stored} J, expected {expected} J");
        assert!(-state.balance.unwrap().normal_work - stored > 0.4 * pull_off * overlap, "it is lost");
    }
}

#[test]
fn a_restored_run_has_the_cohesion_of_the_one_that_was_saved() {
    let world = hanging(3, 3.2 * WEIGHT);
    for (name, settings, _) in laws() {
        for (mut whole, mut resumed) in both(&world, &settings).into_iter().zip(both(&world, &settings)) {
            whole.advance(20).unwrap();
            let mut bytes = Vec::new();
            whole.save(&mut bytes).unwrap();
            resumed.restore(&bytes).unwrap();
            let [saved, restored] = [&mut whole, &mut resumed].map(|engine| engine.snapshot().unwrap());
            assert!(saved.contacts[0].cohesion > 0.0, "{name}");
            assert_eq!(saved.contacts, restored.contacts, "{name}");
            let [whole, resumed] = [whole, resumed].map(|mut engine| {
                engine.advance(20).unwrap();
                engine.snapshot().unwrap().contacts
            });
            assert_eq!(whole, resumed, "{name}");
        }
    }
}

/// Half of an edge of the cubes \[m\].
const HALF: f64 = 0.05;

/// A cube of stone that hangs from plates of this many tiles in a row, with a pull-off force \[weights\].
fn cube_below_tiles(tiles: u32, share: f64) -> World {
    let weight = 2500.0 * 8.0 * HALF.powi(3) * 9.81;
    let mut world = World::new(DVec3::new(0.0, 0.0, -9.81), sticky(0.5, share * weight, 0.0));
    // The cube lies across the joints of the tiles.
    let half = 2.4 * HALF / f64::from(tiles);
    let place = |i: u32| 2.0 * half * (f64::from(i) - 0.5 * f64::from(tiles - 1));
    for (x, y) in (0..tiles).flat_map(|x| (0..tiles).map(move |y| (place(x), place(y)))) {
        let tile = Form::Box { half: DVec3::new(half, half, HALF) };
        let boundary = Boundary { position: DVec3::new(x, y, HALF), ..fixed("tile") };
        world.add_boundary(boundary, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, tile, 0)]);
    }
    let cube = Form::Box { half: DVec3::splat(HALF) };
    let (body, _) = Solid::of(cube).unwrap().body(2500.0);
    let position = DVec3::new(0.0, 0.0, 1e-6 - HALF);
    let boundary = Boundary { position, motion: Motion::Dynamic(body), ..fixed("cube") };
    world.add_boundary(boundary, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, cube, 0)]);
    world
}

/// The pull-off force of two bodies is that of their contact, whatever the number of points of its manifold, and whether the ceiling is
/// one plate or nine tiles.
#[test]
fn a_cube_hangs_from_plates_and_tiles_up_to_the_pull_off_force() {
    let of_hertz = |(name, ..): &(String, Settings, u64)| name.contains("Hertz");
    for (name, settings, steps) in laws().into_iter().filter(of_hertz) {
        for (tiles, share) in [(1, 1.05), (3, 1.05), (2, 1.05), (1, 0.95), (3, 0.95)] {
            let world = cube_below_tiles(tiles, share);
            for engine in &mut both(&world, &settings) {
                engine.advance(steps).unwrap();
                let state = engine.snapshot().unwrap();
                let name = format!("{name}, {}, {tiles} tiles, {share}", engine.identity().engine);
                let height = state.world.bodies.position[world.boundaries.len() - 1].z + HALF;
                if share < 1.0 {
                    // It falls with the part of its weight that nothing carries, or with all of it once a gap has opened.
                    assert!(height < -0.2 * (1.0 - share) * 9.81 * 0.01, "{name}: it hangs at {height} m");
                    continue;
                }
                assert!(height.abs() < 1e-3 * HALF, "{name}: it hangs at {height} m");
                let pull = state.contacts.iter().map(|contact| contact.cohesion).sum::<f64>() / state.substep;
                let law = world.materials.laws()[0].pull_off_force;
                assert!((pull / law - 1.0).abs() < 1e-5, "{name}: {pull} N of cohesion for {law}");
                let made = state.balance.unwrap().error(state.world.kinetic_energy());
                assert!(made.abs() < 1e-5 * law * HALF, "{name}: {made} J are not accounted for");
            }
        }
    }
}
