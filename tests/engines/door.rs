//! The public interface [`Simulation`]: scenes are stepped, observed and changed on both engines; and the examples, which use it.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "../../examples/clumps.rs"]
mod clumps;
#[path = "../../examples/drum.rs"]
mod drum;
#[path = "../../examples/motor.rs"]
mod motor;
#[path = "../../examples/two_engines.rs"]
mod two_engines;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::*;
use esker::engine::Engine;
use esker::engine::stages::STAGES;
use esker::error::Error;
use esker::model::drive::Course;
use esker::model::{Axes, Clump, Drive, Form, Grain, Sink, World};
use esker::scenario::Scenario;
use esker::settings::Settings;
use esker::simulation::{Device, Simulation};
use glam::{DQuat, DVec3};

#[test]
fn the_examples_run() {
    clumps::main().unwrap();
    drum::main().unwrap();
    motor::main().unwrap();
    two_engines::main().unwrap();
}

/// A scenario on each of the two engines.
fn on_both(scenario: &Scenario) -> [Simulation<'static>; 2] {
    let cpu: Box<dyn Engine> = Box::new(cpu(&scenario.world, &scenario.settings));
    let gpu: Box<dyn Engine> = Box::new(gpu(&scenario.world, &scenario.settings));
    [cpu, gpu].map(|engine| Simulation::on(scenario, engine).unwrap())
}

#[test]
fn stepping_through_the_door_gives_the_bits_of_the_engine() {
    let scenario = box_of(100);
    let mut engine = cpu(&scenario.world, &scenario.settings);
    engine.advance(30).unwrap();
    let expected = engine.snapshot().unwrap().world.bodies;
    let mut simulation = Simulation::new(&scenario, Device::Cpu).unwrap();
    simulation.step(7).unwrap();
    simulation.quantity("height").unwrap();
    simulation.run_until(30.0 * scenario.settings.time_step).unwrap();
    assert_eq!(simulation.steps(), 30);
    let found = &simulation.state().unwrap().world.bodies;
    assert!(found.position == expected.position && found.velocity == expected.velocity);
    assert_eq!(simulation.positions().unwrap().len(), 100);
    assert_eq!(simulation.velocities().unwrap()[99], expected.velocity[expected.len() - 1]);
}

/// Positions of the grains after 40 more steps \[m\].
fn after_40_steps(simulation: &mut Simulation<'_>) -> Vec<DVec3> {
    simulation.step(40).unwrap();
    simulation.positions().unwrap().to_vec()
}

#[test]
fn iterations_that_are_set_give_the_bits_of_a_scenario_that_asks_for_them() {
    let many = box_of(300);
    let few = Scenario { settings: Settings { iterations: 3, ..many.settings }, ..many.clone() };
    for (mut expected, (mut set, mut unset)) in
        on_both(&many).into_iter().zip(on_both(&few).into_iter().zip(on_both(&few)))
    {
        set.set_iterations(many.settings.iterations).unwrap();
        let expected = after_40_steps(&mut expected);
        assert!(after_40_steps(&mut set) == expected);
        assert!(after_40_steps(&mut unset) != expected, "three iterations come to something else");
        let error = set.set_iterations(0).unwrap_err().to_string();
        assert!(error.contains("solver.iterations"), "{error}");
    }
}

#[test]
fn friction_that_is_scaled_gives_the_bits_of_a_scenario_with_that_friction() {
    let plain = box_of(300);
    let mut scaled = plain.clone();
    scaled.world.materials.scale_friction(&plain.world.materials, 0.5);
    for (mut expected, (mut changed, mut unchanged)) in
        on_both(&scaled).into_iter().zip(on_both(&plain).into_iter().zip(on_both(&plain)))
    {
        // A factor of 1 writes the state of the others to the device once more, too: single precision then rounds all positions alike.
        expected.scale_friction(1.0).unwrap();
        changed.scale_friction(0.5).unwrap();
        unchanged.scale_friction(1.0).unwrap();
        let expected = after_40_steps(&mut expected);
        assert!(after_40_steps(&mut changed) == expected);
        assert!(after_40_steps(&mut unchanged) != expected, "twice the friction comes to something else");
    }
}

#[test]
fn a_name_that_is_not_there_is_an_error_with_the_nearest_one() {
    let scenario = box_of(10);
    let mut simulation = Simulation::new(&scenario, Device::Cpu).unwrap();
    let error = simulation.quantity("hieght").unwrap_err().to_string();
    assert!(error.contains("no quantity \"hieght\"") && error.contains("did you mean `height`?"), "{error}");
    let error = simulation.set_velocity("flor", DVec3::Z).unwrap_err();
    assert!(matches!(error, Error::Unknown { what: "boundary", .. }), "{error}");
    let mut lid = Simulation::new(&box_on_a_bed(), Device::Cpu).unwrap();
    let error = lid.set_velocity("box", DVec3::Z).unwrap_err();
    assert!(matches!(error, Error::NotPrescribed { .. }), "{error}");
}

/// A falling grain keeps its velocity once gravity is turned off, and a floor that is set in motion takes it along.
#[test]
fn gravity_and_plates_are_set_while_the_scene_runs() {
    let scenario = one_grain();
    for mut simulation in on_both(&scenario) {
        let name = simulation.identity().engine;
        simulation.set_gravity(DVec3::ZERO).unwrap();
        simulation.step(3).unwrap();
        let before = simulation.velocities().unwrap()[0];
        simulation.step(3).unwrap();
        assert_eq!(simulation.velocities().unwrap()[0], before, "{name}: nothing pulls");
        let boundary = simulation.state().unwrap().world.boundaries[0].name.clone();
        simulation.set_velocity(&boundary, DVec3::Z * 0.5).unwrap();
        let start = simulation.state().unwrap().world.bodies.position[0].z;
        simulation.step(100).unwrap();
        let h = scenario.settings.time_step;
        let plate = simulation.state().unwrap().world.bodies.position[0].z;
        assert!((plate - start - 50.0 * h).abs() < 1e-5, "{name}: the plate is at {plate} m");
        let up = simulation.velocities().unwrap()[0].z;
        assert!(up > 0.45, "{name}: the plate takes the grain along, {up} m/s");
    }
}

/// A drum at rest is turned at one rate, then back at twice that rate: each rotation goes on from the angle reached.
#[test]
fn a_drum_is_turned_at_rates_that_are_set_while_the_scene_runs() {
    let scenario = drum_at_rest();
    let h = scenario.settings.time_step;
    for mut simulation in on_both(&scenario) {
        let name = simulation.identity().engine;
        let angle = |simulation: &mut Simulation<'_>| {
            simulation.state().unwrap().world.bodies.orientation[0].to_scaled_axis().y
        };
        simulation.step(10).unwrap();
        assert_eq!(angle(&mut simulation), 0.0, "{name}: it stands");
        simulation.set_angular_velocity("drum", DVec3::Y * 2.0).unwrap();
        simulation.step(100).unwrap();
        let turned = angle(&mut simulation);
        assert!((turned - 200.0 * h).abs() < 1e-5, "{name}: turned by {turned} rad");
        simulation.set_angular_velocity("drum", DVec3::Y * -4.0).unwrap();
        simulation.step(25).unwrap();
        let turned = angle(&mut simulation);
        assert!((turned - 100.0 * h).abs() < 1e-5, "{name}: and back, {turned} rad");
        let x = simulation.velocities().unwrap()[0].x;
        assert!(x > 0.0, "{name}: the grain at the bottom goes with the wall, {x} m/s");
    }
    let mut simulation = Simulation::new(&box_of(1), Device::Cpu).unwrap();
    let wall = simulation.state().unwrap().world.boundaries[0].name.clone();
    let error = simulation.set_angular_velocity(&wall, DVec3::Y).unwrap_err();
    assert!(matches!(error, Error::NotRotating { .. }), "{error}");
}

/// A grain in a drum of rate 0, whose axis is y.
fn drum_at_rest() -> Scenario {
    let text = r#"
        duration = 1.0
        [solver]
        time_step = 1e-3
        [materials.stone]
        density = 2500.0
        youngs_modulus = 1e7
        poisson_ratio = 0.25
        restitution = 0.0
        friction = 0.5
        [[boundaries]]
        name = "drum"
        material = "stone"
        shape = { kind = "cylinder", base = [0, -0.1, 0], axis = [0, 1, 0], length = 0.2, radius = 0.1 }
        motion = { kind = "rotation", rate = 0.0 }
        [[grains]]
        material = "stone"
        radius = { kind = "constant", value = 0.01 }
        packing = { kind = "list", positions = [[0, 0, -0.09]] }
    "#;
    Scenario::parse("drum", text, Path::new(""), &[]).unwrap()
}

#[test]
fn grains_are_added_and_taken_out_by_hand() {
    let scenario = box_of(50);
    for mut simulation in on_both(&scenario) {
        let name = simulation.identity().engine;
        simulation.step(20).unwrap();
        simulation.remove_grains(&[3, 4, 4, 999]).unwrap();
        simulation.step(20).unwrap();
        assert_eq!(simulation.quantity("grains").unwrap(), 48.0, "{name}");
        let world = &simulation.state().unwrap().world;
        let gone = [3, 4].map(|grain| world.grains[grain].first + world.first_grain_shape());
        let contacts = &simulation.state().unwrap().contacts;
        let is_gone = |shape: u32| gone.contains(&shape);
        assert!(
            contacts.iter().all(|c| !is_gone(c.key.a) && !is_gone(c.key.b)),
            "{name}: they touch nothing"
        );
        simulation.add_grains(&[Grain::at(DVec3::new(0.0, 0.0, 0.5), 0.0065, 0)]).unwrap();
        simulation.step(1).unwrap();
        assert_eq!(simulation.quantity("grains").unwrap(), 49.0, "{name}");
        // The new grains take the places of the removed ones, and have ids of their own.
        let next = simulation.grains_so_far() as u32;
        let heights = [0.6, 0.7, 0.8].map(|z| Grain::at(DVec3::new(0.0, 0.0, z), 0.0065, 0));
        simulation.add_grains(&heights).unwrap();
        let world = &simulation.state().unwrap().world;
        assert_eq!([world.ids[3], world.ids[4], world.ids[51]], [next, next + 1, next + 2], "{name}");
        assert_eq!(world.grain_of_id(next as usize + 1), Some(4), "{name}");
        simulation.step(1).unwrap();
        assert!(simulation.quantity("energy_error_share").unwrap() < 1e-5, "{name}");
    }
}

#[test]
fn callbacks_come_in_time_and_a_simulation_goes_to_another_thread() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let scenario = box_of(20);
    let h = scenario.settings.time_step;
    let mut simulation = Simulation::new(&scenario, Device::Cpu).unwrap();
    simulation.step(3).unwrap();
    simulation.every(4.0 * h, move |simulation| {
        CALLS.fetch_add(1, Ordering::Relaxed);
        assert_eq!(simulation.steps() % 4, 0, "at step {}", simulation.steps());
        simulation.set_gravity(DVec3::NEG_Z)
    });
    let done = std::thread::spawn(move || {
        simulation.step(30).unwrap();
        simulation
    });
    let mut simulation = done.join().unwrap();
    assert_eq!((simulation.steps(), CALLS.load(Ordering::Relaxed)), (33, 8), "at 4, 8, ..., 32");
    assert_eq!(simulation.state().unwrap().world.gravity, DVec3::NEG_Z);
}

/// An emitter adds its grains while the scene is stepped, in waves from its start time on.
#[test]
fn emitters_act_when_they_are_due() {
    let scenario = no_grains();
    let mut simulation = Simulation::new(&scenario, Device::Cpu).unwrap();
    simulation.run_until(0.5).unwrap();
    assert_eq!(simulation.quantity("grains").unwrap(), 0.0);
    simulation.run_until(0.8).unwrap();
    let grains = simulation.quantity("grains").unwrap();
    // 100 a second since 0.5 s; the wave at 0.8 s comes with the next step.
    assert!((25.0..=30.0).contains(&grains), "{grains}");
}

/// A sliding grain that may not turn decelerates at μ g from the time at which its friction factor is no longer 0, also in a simulation
/// that goes on from a checkpoint within that time.
#[test]
fn friction_begins_when_its_factor_says_so() {
    let (start, end, friction, gravity) = (0.1, 0.2, 0.3, 9.81);
    let text = format!(
        r#"
duration = {end}
locked_axes = ["rx", "ry", "rz"]
friction_factor = [{{ value = 0.0 }}, {{ start = {start}, value = 0.5 }}]
[solver]
time_step = 1e-3
[materials.stone]
density = 1000.0
youngs_modulus = 1e6
poisson_ratio = 0.25
restitution = 0.0
friction = {}
[[boundaries]]
name = "floor"
material = "stone"
shape = {{ kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }}
[[grains]]
material = "stone"
radius = {{ kind = "constant", value = 0.01 }}
velocity = [1.0, 0, 0]
packing = {{ kind = "list", positions = [[0, 0, 0.00999]] }}
"#,
        2.0 * friction
    );
    let scenario = Scenario::parse("sliding", &text, Path::new(""), &[]).unwrap();
    let path = std::env::temp_dir().join(format!("esker_friction_{}.bin", std::process::id()));
    for mut simulation in on_both(&scenario) {
        let name = simulation.identity().engine;
        simulation.run_until(start).unwrap();
        let before = simulation.velocities().unwrap()[0].x;
        assert!((before - 1.0).abs() < 1e-6, "{name}: {before} m/s without friction");
        simulation.run_until(0.5 * (start + end)).unwrap();
        simulation.save(&path).unwrap();
        simulation.run_until(end).unwrap();
        let after = simulation.velocities().unwrap()[0].x;
        // Tolerance of 1 %: the force on the floor takes some steps to settle at the weight of the grain.
        let expected = friction * gravity * (end - start);
        let lost = before - after;
        assert!((lost - expected).abs() < 0.01 * expected, "{name}: {lost} m/s lost, not {expected}");
        if name == "cpu" {
            let mut resumed = Simulation::restore(&scenario, Device::Cpu, &path).unwrap();
            resumed.run_until(end).unwrap();
            assert_eq!(resumed.velocities().unwrap()[0].x, after);
        }
    }
    std::fs::remove_file(&path).unwrap();
}

/// Three free bodies without gravity, in a world built in code: a sphere, a clump, and a sphere with locked axes.
fn three_free_bodies() -> Scenario {
    let mut world = World::new(DVec3::ZERO, stone(0.5, 0.2));
    let spheres = [(DVec3::ZERO, 0.01), (DVec3::X * 0.012, 0.01)];
    world.clumps.push(Clump::of_spheres("rod", &spheres));
    let rod = Grain { clump: Some(0), ..Grain::at(DVec3::new(0.0, 0.0, 1.0), 0.012, 0) };
    let plain = Grain::at(DVec3::ZERO, 0.01, 0);
    let locked = Axes::TRANSLATION[0].and(Axes::ROTATION[2]);
    world.add_grains([plain, rod, Grain { locked, position: DVec3::Y, ..plain }]);
    Scenario::of_world(world, Settings { time_step: 1e-3, ..Settings::default() })
}

#[test]
fn an_applied_force_accelerates_a_body_and_its_torque_turns_it() {
    let scenario = three_free_bodies();
    let (force, torque) = (DVec3::new(0.3, 0.0, 0.1), DVec3::new(0.0, 0.0, 2e-5));
    for mut simulation in on_both(&scenario) {
        let name = simulation.identity().engine;
        let tolerance = if name == "cpu" { 1e-12 } else { 1e-4 };
        for grain in 0..3 {
            simulation.set_force(grain, force, torque).unwrap();
        }
        simulation.step(50).unwrap();
        let world = simulation.state().unwrap().world.clone();
        for grain in 0..3 {
            let (body, locked) = (world.grain_body(grain), world.bodies.locked[world.grain_body(grain)]);
            let expected = 0.05 * force * world.bodies.inverse_mass[body] * locked.free_translation();
            let found = world.bodies.velocity[body];
            assert!(
                (found - expected).length() < tolerance * expected.length(),
                "{name}: grain {grain} moves at {found} m/s instead of {expected}"
            );
        }
        // A sphere turns at τ t / I about the axis of the torque; the one with locked axes does not turn.
        let spin = [0, 2].map(|grain| world.bodies.angular_velocity[world.grain_body(grain)]);
        let expected = 0.05 * torque * world.bodies.inverse_inertia[world.grain_body(0)];
        assert!((spin[0] - expected).length() < tolerance * expected.length(), "{name}: {}", spin[0]);
        assert_eq!(spin[1], DVec3::ZERO, "{name}: locked");
        // The rod turns about a principal axis, across it, which has the largest moment of inertia.
        let rod = world.bodies.angular_velocity[world.grain_body(1)];
        let moments = world.bodies.moments[world.grain_body(1)];
        let expected = 0.05 * torque.z / moments.max_element();
        assert!((rod.z - expected).abs() < 1e-3 * expected, "{name}: {rod} instead of {expected}");
        assert!(simulation.quantity("gravity_work").unwrap() > 0.0, "{name}: the forces worked");
        assert!(simulation.quantity("energy_error_share").unwrap() < 1e-5, "{name}");
        // Without the forces all velocities stay as they are.
        for grain in 0..3 {
            simulation.set_force(grain, DVec3::ZERO, DVec3::ZERO).unwrap();
        }
        let before = simulation.velocities().unwrap().to_vec();
        simulation.step(5).unwrap();
        assert_eq!(simulation.velocities().unwrap(), before, "{name}: nothing pushes any more");
    }
}

/// A force presses a grain at rest onto the floor: the floor carries the force besides the weight, and nothing bounces.
#[test]
fn a_force_on_a_grain_at_rest_is_carried_by_the_floor() {
    let scenario = one_grain();
    for mut simulation in on_both(&scenario) {
        let name = simulation.identity().engine;
        simulation.run_until(2.0).unwrap();
        let floor = simulation.state().unwrap().world.boundaries[0].name.clone();
        let column = format!("force_z:{floor}");
        let weight = simulation.quantity(&column).unwrap();
        simulation.set_force(0, DVec3::Z * 20.0 * weight, DVec3::ZERO).unwrap();
        simulation.run_until(3.0).unwrap();
        let (found, bounces) = (simulation.quantity(&column).unwrap(), simulation.quantity("impact_sweeps"));
        assert!(
            (found - 21.0 * weight).abs() < 1e-3 * found.abs(),
            "{name}: {found} N for a weight of {weight}"
        );
        assert_eq!(bounces.unwrap(), 0.0, "{name}: the force is known to the impacts");
        assert!(simulation.quantity("energy_error_share").unwrap() < 1e-4, "{name}");
    }
}

#[test]
fn a_force_on_what_contacts_do_not_move_is_refused() {
    let mut simulation = Simulation::new(&one_grain(), Device::Cpu).unwrap();
    let floor = simulation.state().unwrap().world.boundaries[0].name.clone();
    let error = simulation.set_force(floor.as_str(), DVec3::Z, DVec3::ZERO).unwrap_err();
    assert!(matches!(error, Error::NotDynamic { .. }), "{error}");
    let error = simulation.set_force(7, DVec3::Z, DVec3::ZERO).unwrap_err().to_string();
    assert!(error.contains("no grain 7") && error.contains("1 place"), "{error}");
    let error = simulation.set_force("flor", DVec3::Z, DVec3::ZERO).unwrap_err().to_string();
    assert!(error.contains("no boundary \"flor\""), "{error}");
    // A grain that is taken out loses its force with its place.
    simulation.set_force(0, DVec3::Z, DVec3::ZERO).unwrap();
    simulation.remove_grains(&[0]).unwrap();
    assert!(simulation.state().unwrap().world.forces.is_empty());
}

/// Asynchronous calls come to the same bits as the blocking ones.
#[test]
fn a_simulation_goes_without_waiting_to_the_same_bits() {
    let scenario = box_of(30);
    for (mut waiting, mut other) in on_both(&scenario).into_iter().zip(on_both(&scenario)) {
        let name = waiting.identity().engine;
        let gone = pollster::block_on(async {
            other.step_async(15).await?;
            other.change_async(&mut |world| world.gravity *= 0.5).await?;
            other.step_async(15).await?;
            Ok::<_, Error>(other.state_async().await?.world.clone())
        });
        waiting.step(15).unwrap();
        waiting.change(&mut |world| world.gravity *= 0.5).unwrap();
        waiting.step(15).unwrap();
        let (there, gone) = (&waiting.state().unwrap().world.bodies, gone.unwrap().bodies);
        assert!(there.position == gone.position && there.velocity == gone.velocity, "{name}");
    }
}

/// A sink that removes a grain removes its applied force, too: a grain that is added in its place does not move.
#[test]
fn a_grain_in_the_place_of_a_pushed_one_is_not_pushed() {
    let mut world = World::new(DVec3::ZERO, stone(0.5, 0.2));
    let (form, orientation) = (Form::Plane, DQuat::IDENTITY);
    world.sinks.push(Sink {
        bins: Vec::new(),
        name: "below".into(),
        form,
        position: DVec3::NEG_Z,
        orientation,
    });
    world.add_grains([Grain::at(DVec3::ZERO, 0.1, 0), Grain::at(DVec3::X, 0.1, 0)]);
    let scenario = Scenario::of_world(world, Settings { time_step: 1e-2, ..Settings::default() });
    for mut simulation in on_both(&scenario) {
        let name = simulation.identity().engine;
        let mass = 1.0 / simulation.state().unwrap().world.bodies.inverse_mass[0];
        simulation.set_force(0, DVec3::NEG_Z * 20.0 * mass, DVec3::ZERO).unwrap();
        simulation.step(60).unwrap();
        assert_eq!(simulation.quantity("grains").unwrap(), 1.0, "{name}: the sink has taken the grain");
        // Places are taken by the second wave after a grain has left.
        for wave in 1..=3 {
            simulation.add_grains(&[Grain::at(DVec3::Y * f64::from(wave), 0.1, 0)]).unwrap();
            simulation.step(10).unwrap();
        }
        let world = &simulation.state().unwrap().world;
        assert!(world.forces.is_empty() && world.is_present(0), "{name}: its place is taken");
        let moves = world.present_grains().any(|grain| world.bodies.velocity[grain] != DVec3::ZERO);
        assert!(!moves, "{name}: nothing pushes the others");
    }
}

/// The stages that an engine times are those that the documentation lists.
#[test]
fn the_cpu_engine_times_the_stages_that_are_told() {
    let mut engine = cpu(&box_of(30).world, &Settings::default());
    let report = engine.advance(30).unwrap();
    let told: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
    let timed: Vec<&str> = report.stages.iter().map(|(name, _)| *name).collect();
    assert!(timed.len() > 8 && timed.iter().all(|name| told.contains(name)), "{timed:?}");
}

const ARM: &str = r#"
duration = 1.0
[materials.steel]
density = 7800.0
youngs_modulus = 1e9
poisson_ratio = 0.3
restitution = 0.1
friction = 0.3
[[boundaries]]
name = "arm"
material = "steel"
shape = { kind = "box", min = [0, -0.05, -0.05], max = [1, 0.05, 0.05], side = "outside" }
motion = { kind = "dynamic" }
[[joints]]
name = "shoulder"
kind = "hinge"
bodies = ["ground", "arm"]
point = [0, 0, 0]
axis = [0, -1, 0]
"#;

/// A caller gives a drive to a joint that had none, and removes it again: the arm turns at the rate of the motor, then falls.
#[test]
fn a_caller_drives_a_joint() {
    let scenario = Scenario::parse("arm", ARM, Path::new("."), &[]).unwrap();
    for mut simulation in on_both(&scenario) {
        let name = simulation.identity().engine;
        let motor = Drive::Motor { velocity: Course::Constant(0.5), force_limit: 1e4 };
        simulation.set_drive("shoulder", Some(motor)).unwrap();
        simulation.step(40).unwrap();
        let angle = simulation.quantity("joint_position:shoulder").unwrap();
        assert!((angle - 0.5 * simulation.time()).abs() < 1e-4, "{name}: {angle}");
        assert!(simulation.quantity("energy_error_share").unwrap() < 1e-4, "{name}");
        simulation.set_drive("shoulder", None).unwrap();
        simulation.step(40).unwrap();
        assert_eq!(simulation.quantity("drive_force:shoulder").unwrap(), 0.0, "{name}");
        assert!(simulation.quantity("joint_position:shoulder").unwrap() < angle, "{name}: it falls");
        assert!(simulation.quantity("energy_error_share").unwrap() < 1e-4, "{name}");
        let found = simulation.set_drive("shoulders", None).unwrap_err().to_string();
        assert!(found.contains("did you mean `shoulder`"), "{found}");
    }
}
