//! Sliders and their drives \[E11\]: closed forms on both engines, and lids on thousands of grains against the sequential order.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::path::Path;

use crate::common::*;
use esker::cpu::CpuEngine;
use esker::engine::{Engine, Snapshot};
use esker::gpu::shader::Edit;
use esker::model::World;
use esker::observe::{Observer, energy, loads};
use esker::scenario::Scenario;
use esker::settings::{Order, Settings, WarmStart};

const GRAVITY: f64 = 9.81;
const H: f64 = 5e-3;

/// Scenario of pellets without gravity.
fn weightless(body: &str) -> Scenario {
    let overrides = ["gravity=[0, 0, 0]".to_owned()];
    Scenario::parse("weightless", &pellets(body).resolved, Path::new("."), &overrides).unwrap()
}

/// A single plate of 2 kg with its normal along z, on a slider.
fn plate(motion: &str) -> String {
    format!(
        r#"
[[boundaries]]
name = "plate"
material = "pellet"
shape = {{ kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }}
motion = {{ kind = "slider", mass = 2.0, {motion} }}
"#
    )
}

/// Runs a world on both engines and gives the claim the state, the name of the engine and the tolerance for the accumulated rounding.
fn on_both(world: &World, settings: Settings, steps: u64, claim: impl Fn(&Snapshot, &str, f64)) {
    for (engine, rounding) in both(world, &settings).iter_mut().zip([1e-12, 1e-5]) {
        engine.advance(steps).unwrap();
        claim(&engine.snapshot().unwrap(), engine.identity().engine, rounding);
    }
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, expected {expected} ± {tolerance:e}");
}

#[test]
fn a_force_accelerates_a_free_plate_and_its_work_is_booked() {
    let scenario = weightless(&plate("drive = { force = 3.0 }"));
    on_both(&scenario.world, Settings::default(), 40, |state, name, rounding| {
        let velocity = state.world.bodies.velocity[0].z;
        assert_near(velocity, 3.0 / 2.0 * 40.0 * H, rounding, name);
        // Nothing else touches the plate, so it is on the parabola a t²/2.
        assert_near(state.world.bodies.position[0].z, 0.5 * 1.5 * (40.0 * H).powi(2), rounding, name);
        assert_near(state.balance.unwrap().boundary_work, velocity * velocity, rounding, name);
        assert_near(state.world.joint_states[0].drive, 3.0, rounding, name);
    });
}

#[test]
fn a_force_by_table_gives_the_momentum_under_its_curve() {
    let drive = "drive = { force = { times = [0.05, 0.15], values = [0.0, 4.0] } }, axis = [0, 0, -1]";
    let scenario = weightless(&plate(drive));
    on_both(&scenario.world, Settings::default(), 40, |state, name, rounding| {
        // A ramp of 0.1 s, then 4 N for 0.05 s, in steps whose middles lie on the curve.
        let momentum = 0.5 * 4.0 * 0.1 + 4.0 * 0.05;
        assert_near(state.world.bodies.velocity[0].z, -momentum / 2.0, rounding, name);
    });
}

#[test]
fn a_motor_has_its_limit_until_it_holds_its_velocity() {
    let scenario = weightless(&plate("drive = { velocity = 0.1, force_limit = 4.0 }"));
    for (steps, velocity, force) in [(5, 0.05, 4.0), (10, 0.1, 4.0), (11, 0.1, 0.0), (40, 0.1, 0.0)] {
        // The tolerance of the force is the rounding of the velocity times the mass over the time step.
        on_both(&scenario.world, Settings::default(), steps, |state, name, rounding| {
            assert_near(state.world.bodies.velocity[0].z, velocity, rounding, name);
            assert_near(state.world.joint_states[0].drive, force, 100.0 * rounding, name);
            assert!(energy::error_share(state) < rounding, "{name}: the balance does not close");
        });
    }
}

#[test]
fn a_motor_without_a_limit_holds_its_velocity_from_the_first_step() {
    let scenario = weightless(&plate("drive = { velocity = 0.1 }"));
    on_both(&scenario.world, Settings::default(), 1, |state, name, rounding| {
        assert_near(state.world.bodies.velocity[0].z, 0.1, rounding, name);
    });
}

#[test]
fn a_motor_carries_its_plate_as_far_as_its_force_reaches() {
    let weight = 2.0 * GRAVITY;
    for start in [WarmStart::Cold, WarmStart::HISTORY, WarmStart::ADAPTIVE] {
        let settings = Settings { warm_start: start, ..Settings::default() };
        let strong = pellets(&plate("drive = { velocity = 0.2, force_limit = 200.0 }"));
        on_both(&strong.world, settings, 20, |state, name, rounding| {
            assert_near(state.world.bodies.velocity[0].z, 0.2, rounding, name);
            assert_near(state.world.joint_states[0].drive, weight, 100.0 * rounding, name);
        });
        let weak = pellets(&plate("drive = { velocity = 0.2, force_limit = 10.0 }"));
        on_both(&weak.world, settings, 20, |state, name, rounding| {
            let expected = -(GRAVITY - 10.0 / 2.0) * 20.0 * H;
            assert_near(state.world.bodies.velocity[0].z, expected, 10.0 * rounding, name);
            assert_near(state.world.joint_states[0].drive, 10.0, 100.0 * rounding, name);
        });
    }
}

/// A column of three grains between a floor and a plate that presses on it, without gravity.
fn press(motion: &str) -> Scenario {
    weightless(&format!(
        r#"
[[boundaries]]
name = "floor"
material = "pellet"
shape = {{ kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }}
[[boundaries]]
name = "lid"
material = "pellet"
shape = {{ kind = "plane", point = [0, 0, 0.0391], normal = [0, 0, -1] }}
motion = {{ kind = "slider", mass = 0.5, {motion} }}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0065 }}
packing = {{ kind = "column", count = 3, base = [0, 0, 0] }}
"#
    ))
}

#[test]
fn a_motor_that_cannot_go_on_presses_with_its_limit() {
    let settings = Settings { iterations: 50, ..Settings::default() };
    for limit in [2.0, 5.0] {
        let scenario = press(&format!("drive = {{ velocity = 0.02, force_limit = {limit} }}"));
        on_both(&scenario.world, settings, 400, |state, name, _| {
            let loads = loads::on_boundaries(state);
            // The rest of the motion is the acceleration of 0.5 kg: less than a thousandth of the force.
            assert_near(loads[1].force.z, limit, 1e-3 * limit, name);
            assert_near(loads[0].force.z, -limit, 1e-3 * limit, name);
            assert_near(state.world.joint_states[0].drive, limit, 1e-6 * limit, name);
            assert!(state.world.bodies.velocity[1].z.abs() < 1e-4, "{name}: it has come to rest");
        });
    }
}

#[test]
fn a_motor_strong_enough_crushes_at_its_velocity() {
    let settings = Settings { iterations: 50, ..Settings::default() };
    let scenario = press("drive = { velocity = 0.02, force_limit = 1e6 }");
    on_both(&scenario.world, settings, 60, |state, name, rounding| {
        assert_near(state.world.bodies.velocity[1].z, -0.02, rounding, name);
        let load = loads::on_boundaries(state)[1].force.z;
        assert!(load > 5.0, "{name}: the column pushes back with {load} N");
        // The velocity is held, so the force of the motor equals that of the grains.
        assert_near(state.world.joint_states[0].drive, load, 1e-3 * load, name);
    });
}

#[test]
fn a_pressure_comes_to_rest_on_its_load() {
    let settings = Settings { iterations: 50, ..Settings::default() };
    let scenario = press("drive = { pressure = 400.0 }, area = 0.01");
    on_both(&scenario.world, settings, 400, |state, name, rounding| {
        assert_near(state.world.joint_states[0].drive, 4.0, 4.0 * rounding, name);
        assert_near(loads::on_boundaries(state)[1].force.z, 4.0, 4e-3, name);
    });
}

/// Gravity acts on a slider along its axis, so a plate that lies on grains adds its weight.
#[test]
fn a_plate_that_nothing_drives_lies_on_the_grains_with_its_weight() {
    let settings = Settings { iterations: 50, ..Settings::default() };
    let text = press("drive = { force = 0.0 }").resolved.replace("gravity = [0, 0, 0]", "");
    let scenario = Scenario::parse("lid", &text, Path::new("."), &[]).unwrap();
    on_both(&scenario.world, settings, 400, |state, name, _| {
        assert_near(loads::on_boundaries(state)[1].force.z, 0.5 * GRAVITY, 1e-2, name);
    });
}

/// In a cell at rest, whose six plates press on grains, the stresses are those that the walls hold, within 1 %.
#[test]
fn a_cell_comes_to_the_stresses_that_its_walls_hold() {
    let text = cell_of_sliders().resolved;
    let text =
        text.replace("drive = { force = 3.0, start = 0.0 }", "drive = { pressure = 300.0 }, area = 0.0064");
    let text = text.replace("velocity = 0.05, force_limit = 3.0", "velocity = 0.0, force_limit = 1e6");
    let cell =
        "[observe.cell]\nx = [\"left\", \"right\"]\ny = [\"front\", \"back\"]\nz = [\"bottom\", \"top\"]\n";
    let text =
        text.replace("[observe]", cell).replace("energy = true", "").replace("grain_stress = false", "");
    // Rough walls would carry a part of the load of the other walls.
    let smooth =
        ["gravity=[0, 0, 0]", "materials.pellet.friction=0", "materials.pellet.rolling_resistance=0"];
    let scenario = Scenario::parse("cell", &text, Path::new("."), &smooth.map(str::to_owned))
        .unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    let settings = Settings { iterations: 20, ..Settings::default() };
    let observer = Observer::new(&scenario.world, None).with_cell(scenario.cell.as_ref());
    on_both(&scenario.world, settings, 400, |state, name, _| {
        let values = observer.observe(state).values;
        let value = |quantity: &str| values[observer.find(quantity).unwrap()];
        for (quantity, expected) in [
            ("stress_x", 300.0),
            ("stress_y", 300.0),
            ("stress_z", 300.0 * 0.0064 / (value("cell_x") * value("cell_y"))),
        ] {
            assert_near(value(quantity), expected, 1e-2 * expected, &format!("{name} {quantity}"));
        }
    });
}

#[test]
fn the_balance_closes_with_all_kinds_of_drives() {
    let world = cell_of_sliders().world;
    for steps in [20, 120] {
        on_both(
            &world,
            Settings { iterations: 20, ..Settings::default() },
            steps,
            |state, name, rounding| {
                let (share, balance) = (energy::error_share(state), state.balance.unwrap());
                assert!(share < rounding, "{name}: the balance is off by {share:e}");
                // The work of the drives is far larger, so an error in it would show.
                let unbooked = balance.boundary_work.abs() / balance.turnover();
                assert!(unbooked > 100.0 * rounding, "{name}: {unbooked:e}");
            },
        );
    }
}

#[test]
fn the_same_cell_comes_to_the_same_bits() {
    for index in 0..2 {
        let [one, other] = [(), ()].map(|()| {
            let settings = Settings { iterations: 10, ..Settings::default() };
            let mut engine = both(&cell_of_sliders().world, &settings);
            engine[index].advance(60).unwrap();
            let world = engine[index].snapshot().unwrap().world;
            (world.bodies, world.joint_states)
        });
        assert_eq!(one, other);
    }
}

/// Two dispatches for the tiles of both tilings, one for the overflow contacts, one in which bodies take what these left in their slots,
/// and one for the joints.
#[test]
fn a_sweep_with_motors_is_five_dispatches() {
    let mut engine = gpu(&cell_of_sliders().world, &Settings { iterations: 10, ..Settings::default() });
    assert_eq!(engine.advance(3).unwrap().dispatches.per_sweep, 5);
}

#[test]
fn sweeps_go_on_until_motors_have_settled_too() {
    // Only a motor acts: the first sweep changes the velocity by 0.1 m/s, the second by nothing.
    let scenario = weightless(&plate("drive = { velocity = 0.1 }"));
    let settings = Settings { tolerance: 1e-3, iterations: 50, ..Settings::default() };
    for engine in &mut both(&scenario.world, &settings) {
        let report = engine.advance(1).unwrap();
        assert_eq!(report.sweeps, 2, "{}", engine.identity().engine);
    }
}

/// State of the GPU engine after some steps with an edited shader.
fn on_edited_gpu(world: &World, edit: Edit, steps: u64) -> Snapshot {
    let mut engine = gpu(world, &Settings { iterations: 20, ..Settings::default() });
    engine.edit_shaders(&[edit]).unwrap();
    engine.advance(steps).unwrap();
    engine.snapshot().unwrap()
}

#[test]
fn a_motor_without_its_bound_an_area_without_its_width_and_work_that_is_not_booked_show() {
    let unbound = Edit { from: "row.high = drive.limit;", to: "row.high = INFINITE;" };
    let scenario = weightless(&plate("drive = { velocity = 0.1, force_limit = 4.0 }"));
    let found = on_edited_gpu(&scenario.world, unbound, 5).world.bodies.velocity[0].z;
    assert!((found - 0.05).abs() > 0.01, "{found} m/s");

    let one_width =
        Edit { from: "* dot(between(poses[walls.z], poses[walls.w]), unit(joint.wall_axes.y))", to: "" };
    let world = cell_of_sliders().world;
    let force = 300.0 * 0.08 * 0.08;
    on_both(&world, Settings::default(), 1, |state, name, rounding| {
        assert_near(state.world.joint_states[0].drive, force, force * rounding, name);
    });
    let found = on_edited_gpu(&world, one_width, 1).world.joint_states[0].drive;
    assert!((found - force).abs() > 0.1 * force, "{found} N");

    let unbooked = Edit {
        from: "works.boundary += select(row.impulse",
        to: "works.boundary += 0.0 * select(row.impulse",
    };
    let share = energy::error_share(&on_edited_gpu(&world, unbooked, 20));
    assert!(share > 1e-3, "the balance is off by {share:e}");
}

/// Two layers of 33 × 33 grains between a floor and a light lid that a motor presses down with its limit.
fn lid_on_a_thousand_grains() -> Scenario {
    pellets(
        r#"
[[boundaries]]
name = "floor"
material = "pellet"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
[[boundaries]]
name = "lid"
material = "pellet"
shape = { kind = "plane", point = [0, 0, 0.0262], normal = [0, 0, -1] }
motion = { kind = "slider", mass = 20.0, drive = { velocity = 0.05, force_limit = 400.0 } }
[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
packing = { kind = "lattice", corner = [0, 0, 0.00655], counts = [33, 33, 2], count = 2178, spacing = 0.01302, jitter = 0.00001 }
allow_overlap = true
"#,
    )
}

/// One step from the same state with a cold start, which has to find all forces: in sequential order, in colours and on the GPU. Converged
/// solutions agree; after a few sweeps the two orders still differ.
#[test]
fn a_lid_on_a_thousand_grains_converges_to_the_sequential_answer() {
    let settings = Settings { iterations: 30, ..Settings::default() };
    let mut engine = cpu(&lid_on_a_thousand_grains().world, &settings);
    engine.advance(40).unwrap();
    let bed = engine.snapshot().unwrap();
    let carrying =
        bed.contacts.iter().filter(|contact| contact.bodies[1] == 1 && contact.is_active()).count();
    assert!(carrying >= 1000, "{carrying} grains carry the lid");

    let solve = |engine: &mut dyn Engine| {
        engine.advance(1).unwrap();
        let state = engine.snapshot().unwrap();
        let loads = loads::on_boundaries(&state);
        [loads[0].force.z, loads[1].force.z, state.world.joint_states[0].drive]
    };
    let of = |iterations| Settings { iterations, warm_start: WarmStart::Cold, ..settings };
    let in_order = |order, iterations| {
        solve(&mut CpuEngine::new(bed.world.clone(), Settings { order, ..of(iterations) }))
    };
    let apart = |one: [f64; 3], other: [f64; 3]| {
        one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max) / 400.0
    };
    let [sequential, coloured] = [Order::Sequential, Order::Coloured].map(|order| in_order(order, 1500));
    let on_gpu = solve(&mut gpu(&bed.world, &of(1500)));
    // The error left from the first sweep is below rounding. In single precision the overlaps are rounded: half a unit in the last place of
    // 13 mm in 20 µm, one and a half times as much in the force, at random over a thousand contacts.
    assert!(apart(sequential, coloured) < 1e-7, "{sequential:?} N and {coloured:?} N");
    assert!(apart(sequential, on_gpu) < 1e-3, "{sequential:?} N and {on_gpu:?} N");
    // The grains hold the lid against the motor, which is at its limit, and its weight.
    assert_near(sequential[2], 400.0, 1e-9, "motor");
    let [sequential, coloured] = [Order::Sequential, Order::Coloured].map(|order| in_order(order, 5));
    assert!(apart(sequential, coloured) > 1e-2, "after 5 sweeps: {sequential:?} N and {coloured:?} N");
}

/// A lid with more contacts than the invocations of one workgroup can sum in one step: the long list of a hub body, and the motor after it.
#[test]
fn a_lid_on_five_thousand_grains_is_held_alike_on_both_engines() {
    let text = lid_on_a_thousand_grains().resolved;
    let text = text.replace("counts = [33, 33, 2], count = 2178", "counts = [70, 70, 1], count = 4900");
    let text =
        text.replace("0.0262]", "0.0131]").replace("corner = [0, 0, 0.00655]", "corner = [0, 0, 0.00645]");
    let scenario = Scenario::parse("lid", &text, Path::new("."), &["gravity=[0, 0, 0]".to_owned()]).unwrap();
    let settings = Settings { iterations: 30, ..Settings::default() };
    let [one, other] = both(&scenario.world, &settings).map(|mut engine| {
        engine.advance(8).unwrap();
        let state = engine.snapshot().unwrap();
        let carrying = state.contacts.iter().filter(|contact| contact.bodies[1] == 1 && contact.is_active());
        assert!(carrying.count() > 64 * 64, "enough for a long list");
        (
            loads::on_boundaries(&state)[1].force.z,
            state.world.joint_states[0].drive,
            state.world.bodies.position[1].z,
        )
    });
    assert_near(one.0, 400.0, 0.05 * 400.0, "the grains hold the lid against its motor");
    assert_near(one.0, other.0, 1e-2 * 400.0, "load");
    assert_near(one.1, other.1, 1e-4 * 400.0, "motor");
    assert_near(one.2, other.2, 1e-3 * D, "place");
}
