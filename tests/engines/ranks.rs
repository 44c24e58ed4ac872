//! Ranks: several solve the problem that one engine solves, in scenes of every kind, and always to the same bits; a checkpoint of some goes
//! on with any other number; and what goes wrong on one of them is told by the first.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod results;
#[path = "../../benches/common/ranks.rs"]
mod threads_as_ranks;

use crate::common::*;
use crate::restart::scene;
use crate::restart::scenes::{EMITTER_AND_SINK, SCENES};
use esker::contact::{Impulse, Key};
use esker::engine::{Engine, Snapshot, StepReport};
use esker::error::Error;
use esker::model::{Meter, Region, World};
use esker::ranks::communicator::threads;
use esker::ranks::engine::open;
use esker::scenario::Scenario;
use esker::settings::{Acceleration, Algorithm, Method, Order, Settings, ToleranceKind, WarmStart};
use esker::simulation::{Simulation, answer};
use glam::{DMat3, DVec3};
use threads_as_ranks::{on_ranks, on_ranks_of};

fn after(engine: &mut dyn Engine, steps: u64) -> Snapshot {
    engine.advance(steps).unwrap();
    engine.snapshot().unwrap()
}

/// State of a scene after some steps, with grains of its emitters, and the impulses that it carries.
fn middle(scene: &Scenario, steps: u64) -> (World, Vec<(Key, Impulse)>) {
    let mut simulation = Simulation::on(scene, Box::new(cpu(&scene.world, &scene.settings))).unwrap();
    simulation.step(steps).unwrap();
    let state = simulation.state().unwrap();
    let carried = state.contacts.iter().map(|contact| (contact.key, contact.carried())).collect();
    (state.world.clone(), carried)
}

/// Largest difference of the velocities of two states, those at the surface of turning grains included \[m/s\].
fn difference(a: &Snapshot, b: &Snapshot) -> f64 {
    let (a, b) = (&a.world, &b.world);
    assert_eq!(a.bodies.len(), b.bodies.len());
    let of = |body: usize| {
        let turn = a.bodies.angular_velocity[body] - b.bodies.angular_velocity[body];
        a.bodies.velocity[body].distance(b.bodies.velocity[body]) + 0.005 * turn.length()
    };
    (0..a.bodies.len()).map(of).fold(0.0, f64::max)
}

/// Everything of a state that its bits are compared by.
fn bits(state: &Snapshot) -> Vec<u64> {
    let bodies = &state.world.bodies;
    let vectors = bodies.position.iter().chain(&bodies.velocity).chain(&bodies.angular_velocity);
    let impulses = state.contacts.iter().flat_map(|contact| {
        let Impulse { normal, tangent, rolling } = contact.impulse;
        [DVec3::splat(normal), tangent, rolling]
    });
    let loads = state.impulses.iter().flat_map(|total| [total.linear, total.angular]);
    let numbers = vectors.copied().chain(impulses).chain(loads).flat_map(|vector| vector.to_array());
    // A sum of ranks begins with 0, to which -0 is nothing.
    numbers.map(|number| (number + 0.0).to_bits()).collect()
}

/// Solves the step that follows a state on one engine, on the same engine in another order of the contacts, with few sweeps, and on ranks.
/// Returns how far the velocities of the last three are from those of the first, over the fastest.
fn differences(scene: &Scenario, ranks: usize) -> [f64; 3] {
    let (world, carried) = middle(scene, 30);
    let solve = |engine: &mut dyn Engine| {
        engine.seed(&carried).unwrap();
        after(engine, 1)
    };
    let acceleration = Acceleration::Nesterov;
    let precise = Settings { iterations: 3000, impact_iterations: 2000, acceleration, ..scene.settings };
    let on_one = |settings: Settings| solve(&mut cpu(&world, &settings));
    let alone = on_one(precise);
    let speed = alone.world.bodies.velocity.iter().map(|velocity| velocity.length()).fold(0.0, f64::max);
    let others = [
        on_one(Settings { order: Order::Sequential, ..precise }),
        on_one(Settings { iterations: 3, impact_iterations: 3, ..precise }),
        on_ranks(ranks, &world, &precise, |engine| solve(engine)),
    ];
    others.map(|other| difference(&other, &alone) / speed)
}

#[test]
fn ranks_solve_the_problem_of_one_engine_in_scenes_of_every_kind() {
    let mut shown = 0;
    for (of, body) in SCENES {
        // Without friction the convex problem has one solution for the velocities, and the sweeps come within 1e-5 of it.
        let smooth = scene(body, &["materials.glass.friction=0", "materials.glass.rolling_resistance=0"]);
        for ranks in [2, 3, 5] {
            let [order, rough, divided] = differences(&smooth, ranks);
            assert!(divided < 1e-5, "{of}, {ranks} ranks without friction: {divided:e}");
            shown += usize::from(rough > 1e-4);
            // With friction there are several, and the order of the contacts chooses one: on one engine it does so, too.
            let [order_with_friction, _, divided] = differences(&scene(body, &[]), ranks);
            let bound = 2.0 * order.max(order_with_friction).max(1e-5);
            assert!(divided < bound, "{of}, {ranks} ranks: {divided:e} for {bound:e}");
        }
    }
    assert!(shown >= 9, "few sweeps are seen to be too few in {shown} of 24 cases");
}

#[test]
fn one_rank_has_the_bits_of_an_engine_alone() {
    for scene in
        [box_of(200), mixed_sizes_in_a_drum(), cell_of_sliders(), clumps_among_spheres(""), periodic("xy")]
    {
        let (world, settings) = (&scene.world, &scene.settings);
        let alone = after(&mut cpu(world, settings), 60);
        let ranked = on_ranks(1, world, settings, |engine| after(engine, 60));
        assert_eq!(bits(&ranked), bits(&alone), "{}", scene.title);
        let StepReport { residuals, contacts, colours, overflow, objective, .. } = alone.report;
        let report = &ranked.report;
        assert!((report.objective.unwrap() - objective.unwrap()).abs() < 1e-12 * objective.unwrap().abs());
        assert_eq!((report.residuals, report.contacts), (residuals, contacts));
        assert_eq!((report.colours, report.overflow), (colours, overflow));
        let (balance, other) = (ranked.balance.unwrap(), alone.balance.unwrap());
        assert!((balance.turnover() - other.turnover()).abs() < 1e-12 * other.turnover());
    }
}

/// Runs a scene with all that it has on this many ranks with this many threads each.
fn run(scene: &Scenario, [ranks, threads_each]: [usize; 2], steps: u64) -> Snapshot {
    on_ranks_of(threads_each, ranks, &scene.world, &scene.settings, |engine| {
        let mut simulation = Simulation::on(scene, Box::new(engine)).unwrap();
        simulation.step(steps).unwrap();
        simulation.state().unwrap().clone()
    })
}

/// Grains fly about in a box and change ranks. In every meter that holds all of them their contacts are those of the grains, one by one,
/// and of two halves of the space one holds as many grains more as came in, less those that came into the other.
#[test]
fn the_stress_of_grains_goes_with_them_from_rank_to_rank() {
    let scene = box_of(150);
    let mut world = scene.world;
    world.gravity = DVec3::ZERO;
    for (i, velocity) in world.bodies.velocity.iter_mut().enumerate() {
        *velocity = DVec3::new((1.3 * i as f64).sin(), (2.3 * i as f64).cos(), (1.7 * i as f64).sin());
    }
    let region = Region::Box { min: DVec3::splat(-1.0), max: DVec3::splat(1.0) };
    let middle = world.bodies.position[world.grain_body(75)].x;
    let halves = [[-1.0, middle], [middle, 1.0]]
        .map(|[low, high]| Region::Box { min: DVec3::new(low, -1.0, -1.0), max: DVec3::new(high, 1.0, 1.0) });
    let held = |world: &World| {
        let places = world.present_grains().map(|grain| world.bodies.position[world.grain_body(grain)]);
        places.filter(|place| place.x < middle).count() as f64
    };
    // It stands on the face of both halves.
    world.bodies.position.iter_mut().filter(|place| place.x == middle).for_each(|place| place.x += 1e-9);
    let held_at_start = held(&world);
    let meter = |region| Meter { region, material: None, layers: None };
    world.meters = [region].into_iter().chain(halves).map(meter).collect();
    world.measures_grains = true;
    on_ranks(3, &world, &scene.settings, |engine| {
        let mut sum = DMat3::ZERO;
        for turn in 0..4 {
            let state = after(engine, 40);
            let of_grains: DMat3 = state.grain_stresses.iter().sum();
            let measured = state.stresses[0].contacts;
            let error =
                (of_grains - measured).to_cols_array().into_iter().fold(0.0, |most, x| x.abs().max(most));
            assert!(error < 1e-10 * measured.x_axis.x, "turn {turn}: {of_grains} for {measured}");
            assert!(measured.x_axis.x > sum.x_axis.x, "turn {turn}: nothing bounced");
            sum = measured;
            let [into_lower, into_upper] = [1, 2].map(|meter| state.stresses[meter].entries);
            assert_eq!(held(&state.world), held_at_start + into_lower - into_upper, "turn {turn}");
            assert!(into_lower.min(into_upper) > 5.0, "few went over: {into_lower}, {into_upper}");
            if turn == 1 {
                // The scene is divided anew, with the sums so far.
                engine.change(&mut |_| {}).unwrap();
            }
        }
    });
}

#[test]
fn as_many_ranks_come_to_the_same_bits_and_their_energies_balance() {
    for (of, body) in SCENES {
        let scene = scene(body, &[]);
        let states = [[3, 1], [3, 2], [2, 1]].map(|ranks| run(&scene, ranks, 80));
        assert_eq!(bits(&states[0]), bits(&states[1]), "{of}");
        assert_ne!(bits(&states[0]), bits(&states[2]), "{of}: other borders, other rounding");
        for state in &states {
            let balance = state.balance.unwrap();
            let error = balance.error(state.world.kinetic_energy()).abs() / balance.turnover();
            // Boxes that tumble have the error of their rotation, as on one engine.
            assert!(
                error < if of == "machine" || of == "clumps" || of == "mesh" { 1e-3 } else { 1e-10 },
                "{of}: {error:e}"
            );
        }
    }
}

#[test]
fn grains_are_emitted_drained_and_counted_as_on_one_engine() {
    let scene = scene(EMITTER_AND_SINK, &[]);
    let mut simulation = Simulation::on(&scene, Box::new(cpu(&scene.world, &scene.settings))).unwrap();
    simulation.step(150).unwrap();
    let alone = simulation.state().unwrap();
    let divided = run(&scene, [3, 1], 150);
    let drained = |state: &Snapshot| {
        let world = &state.world;
        let replaced: u64 = world.replaced.iter().map(|gone| gone.taken.grains).sum();
        (world.grain_count() - world.present_count()) as u64 + replaced
    };
    let all = |state: &Snapshot| state.world.present_count() as u64 + drained(state);
    assert_eq!(all(&divided), all(alone), "both placed what the emitter asks for");
    assert!(drained(&divided) > 10, "{}", drained(&divided));
    assert!(drained(&divided).abs_diff(drained(alone)) <= 3, "{} {}", drained(&divided), drained(alone));
}

#[test]
fn a_checkpoint_goes_on_with_any_number_of_ranks() {
    for (of, body) in SCENES {
        let scene = scene(body, &[]);
        let (world, settings) = (&scene.world, &scene.settings);
        let (saved, went_on) = on_ranks(3, world, settings, |engine| {
            engine.advance(40).unwrap();
            let mut saved = Vec::new();
            engine.save(&mut saved).unwrap();
            (saved, after(engine, 10))
        });
        let resume = |engine: &mut dyn Engine| {
            engine.restore(&saved).unwrap();
            let there = engine.snapshot().unwrap();
            (there, after(engine, 10))
        };
        let (there, same) = on_ranks(3, world, settings, |engine| resume(engine));
        assert_eq!(bits(&same), bits(&went_on), "{of}: as many ranks go on to the same bits");
        let mut of_one = Vec::new();
        let mut alone = cpu(world, settings);
        alone.advance(40).unwrap();
        alone.save(&mut of_one).unwrap();
        let there_too = on_ranks(2, world, settings, |engine| {
            engine.restore(&of_one).unwrap();
            let there = engine.snapshot().unwrap();
            assert_eq!(after(engine, 10).report.step, 50, "{of}");
            there
        });
        assert_eq!(bits(&there_too), bits(&alone.snapshot().unwrap()), "{of}: what one process saved");
        let (there_on_two, two) = on_ranks(2, world, settings, |engine| resume(engine));
        let (there_on_one, one) = resume(&mut cpu(world, settings));
        assert_eq!([&there_on_two, &there_on_one].map(bits), [bits(&there), bits(&there)], "{of}");
        for state in [two, one] {
            assert_eq!((state.report.step, state.world.time), (50, went_on.world.time), "{of}");
            assert_ne!(bits(&state), bits(&there), "{of} goes on");
        }
    }
}

#[test]
fn an_error_on_one_rank_is_told_by_the_first() {
    let mut scene = box_of(200);
    let fastest = 137;
    let world = &mut scene.world;
    let body = world.grain_body(fastest);
    world.bodies.velocity[body] = DVec3::new(f64::NAN, 0.0, 0.0);
    for ranks in [1, 2, 4] {
        let (error, time) = on_ranks(ranks, &scene.world, &scene.settings, |engine| {
            let error = engine.advance(5).unwrap_err();
            (error, engine.snapshot().unwrap().world.time)
        });
        assert!(matches!(error, Error::NotANumber { grain: 137, .. }), "{ranks} ranks: {error}");
        assert_eq!(time, 0.0, "no rank has moved");
    }
}

#[test]
fn what_explodes_is_judged_by_the_largest_grain_of_all_ranks() {
    // A grain of 1 mm that is made to go 80 mm in a step explodes, unless there is a boulder somewhere.
    let scene = |boulder: f64| {
        let text = format!(
            r#"
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0005 }}
velocity = [80, 0, 0]
packing = {{ kind = "list", positions = [[0, 0, 0]] }}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0005 }}
packing = {{ kind = "list", positions = [[0.00105, 0, 0]] }}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = {boulder} }}
packing = {{ kind = "list", positions = [[5, 0, 0]] }}
"#
        );
        pellets_with(
            &text,
            &["solver.time_step=1e-3", "gravity=[0, 0, 0]", "materials.pellet.restitution=1.0"],
        )
    };
    for (boulder, explodes) in [(0.0005, true), (0.05, false)] {
        let scene = scene(boulder);
        let alone = cpu(&scene.world, &scene.settings).advance(3).map(drop);
        assert_eq!(alone.is_err(), explodes, "a boulder of {boulder} m");
        let divided = on_ranks(2, &scene.world, &scene.settings, |engine| engine.advance(3).map(drop));
        assert_eq!(alone.map_err(|error| error.to_string()), divided.map_err(|error| error.to_string()));
    }
}

#[test]
fn bodies_among_grains_rest_and_move_as_on_one_engine() {
    // Contacts between boundaries take colours on one engine, and are solved on rank 0 here: with few sweeps a box sinks no deeper.
    for scene in [box_on_a_bed(), box_on_a_corner(), dynamic_boundaries_among_grains()] {
        let (world, settings) = (&scene.world, &scene.settings);
        let places = |engine: &mut dyn Engine| {
            let state = after(engine, 40);
            state.world.bodies.position[..world.boundaries.len()].to_vec()
        };
        let alone = places(&mut cpu(world, settings));
        let divided = on_ranks(3, world, settings, |engine| places(engine));
        for ((a, b), start) in alone.iter().zip(&divided).zip(&world.bodies.position) {
            // A tenth of a grain, over ways of several.
            assert!(a.distance(*b) < 1.3e-3, "{}: {a} alone, {b} on ranks, from {start}", scene.title);
        }
    }
}

#[test]
fn borders_move_with_the_grains() {
    // All grains fall on one side of a wide floor, where no border was at the start.
    let mut scene = box_of(600);
    scene.settings.skin = 0.05;
    let extents = on_ranks(4, &scene.world, &scene.settings, |engine| {
        let push = |world: &mut World| world.gravity = DVec3::new(-9.0, 0.0, -9.0);
        engine.change(&mut { push }).unwrap();
        engine.advance(80).unwrap();
        engine.extents()
    });
    let grains: Vec<usize> = extents.iter().map(|extent| extent.grains).collect();
    assert_eq!(grains.iter().sum::<usize>(), 600);
    assert!(
        grains.iter().all(|&grains| grains < 186),
        "150 each, and a tenth and 16 more at most: {grains:?}"
    );
    // What both sides count of a cut contact is the same.
    assert_eq!(extents.iter().map(|extent| extent.cut).sum::<usize>() % 2, 0);
    assert!(
        extents.iter().all(|extent| extent.ghosts > 0 && extent.bytes > 48 * extent.ghosts),
        "{extents:?}"
    );
}

#[test]
fn settings_that_need_all_contacts_in_one_place_are_refused() {
    let scene = box_of(20);
    let refused = [
        Settings { algorithm: Algorithm::Apgd, ..scene.settings },
        Settings { coarse_corrections: 1, ..scene.settings },
        Settings { order: Order::Sequential, ..scene.settings },
    ];
    for settings in refused {
        let communicator = Box::new(threads(1).pop().unwrap());
        let error = open(communicator, scene.world.clone(), settings, answer).map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::NotOnRanks { .. }), "{error}");
    }
}

#[test]
fn few_sweeps_leave_about_as_much_on_ranks() {
    // Relative error of the impulses after 50 cold sweeps against many more: each rank adds a border, where contacts are split.
    let scene = box_of(500);
    let (world, _) = middle(&scene, 300);
    let cold = Settings { warm_start: WarmStart::Cold, ..scene.settings };
    let normals = |state: &Snapshot| -> Vec<f64> {
        state.contacts.iter().map(|contact| contact.impulse.normal).collect()
    };
    let solved = |ranks: usize, iterations: u32| {
        on_ranks(ranks, &world, &Settings { iterations, ..cold }, |engine| normals(&after(engine, 1)))
    };
    let error = |found: &[f64], expected: &[f64]| {
        let square = |list: &[f64]| list.iter().map(|number| number * number).sum::<f64>();
        let off: Vec<f64> = found.iter().zip(expected).map(|(found, expected)| found - expected).collect();
        (square(&off) / square(expected)).sqrt()
    };
    let left = |ranks: usize| error(&solved(ranks, 50), &solved(ranks, 5000));
    let at_once = |iterations: u32| {
        let settings = Settings { iterations, order: Order::AtOnce, ..cold };
        normals(&after(&mut cpu(&world, &settings), 1))
    };
    let (alone, all_split) = (left(1), error(&at_once(50), &at_once(5000)));
    for ranks in [2, 4] {
        // A fifth of the contacts are cut, at most.
        let bound = alone + 0.2 * (all_split - alone);
        let divided = left(ranks);
        assert!(divided < bound, "{ranks} ranks: {divided} for {alone}, where all are split {all_split}");
    }
}

#[test]
fn springs_push_on_ranks_as_on_one_engine() {
    // The smooth method sums forces and iterates nothing: ranks differ by rounding alone.
    let mut scene = box_of(150);
    scene.settings = Settings { method: Method::Smooth, time_step: 5e-5, ..scene.settings };
    let (world, settings) = (&scene.world, &scene.settings);
    let alone = after(&mut cpu(world, settings), 3000);
    for ranks in [2, 4] {
        let divided = on_ranks(ranks, world, settings, |engine| after(engine, 3000));
        assert!(alone.contacts.iter().filter(|contact| contact.is_active()).count() > 20);
        let off = difference(&divided, &alone);
        assert!(off < 1e-9, "{ranks} ranks: {off:e} m/s");
        let springs =
            |state: &Snapshot| -> f64 { state.contacts.iter().map(|contact| contact.spring_energy[0]).sum() };
        assert!((springs(&divided) - springs(&alone)).abs() < 1e-6 * springs(&alone));
    }
}

#[test]
fn all_ranks_stop_at_the_sweep_in_which_a_tolerance_is_met() {
    let scene = box_of(300);
    let (world, carried) = middle(&scene, 200);
    let solved = |settings: Settings| {
        on_ranks(3, &world, &settings, |engine| {
            engine.seed(&carried).unwrap();
            after(engine, 1)
        })
    };
    for tolerance_kind in [ToleranceKind::Velocity, ToleranceKind::Impulses] {
        let plain = Settings { acceleration: Acceleration::None, iterations: 5000, ..scene.settings };
        let states = [1e-3, 1e-4].map(|tolerance| solved(Settings { tolerance_kind, tolerance, ..plain }));
        let [loose, tight] = [0, 1].map(|i: usize| states[i].report.sweeps);
        assert!(2 < loose && loose < tight && tight < 5000, "{tolerance_kind:?}: {loose} and {tight} sweeps");
        let as_many = solved(Settings { iterations: tight, ..plain });
        assert_eq!(bits(&as_many), bits(&states[1]), "{tolerance_kind:?}");
    }
}

#[test]
fn impulses_are_kept_through_searches_and_on_the_way_to_another_rank() {
    // A bed at rest that searches in every step.
    let scene = box_of(400);
    let (world, carried) = middle(&scene, 300);
    let few = Settings { iterations: 4, skin: 1e-4, ..scene.settings };
    let left = |settings: &Settings| {
        on_ranks(4, &world, settings, |engine| {
            engine.seed(&carried).unwrap();
            engine.advance(30).unwrap().residuals.normal.mean
        })
    };
    let (kept, cold) = (left(&few), left(&Settings { warm_start: WarmStart::Cold, ..few }));
    let alone = {
        let mut engine = cpu(&world, &few);
        engine.seed(&carried).unwrap();
        engine.advance(30).unwrap().residuals.normal.mean
    };
    assert!(kept < 2.0 * alone && 5.0 * kept < cold, "{kept:e} kept, {alone:e} alone, {cold:e} cold");
}
