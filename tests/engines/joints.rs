//! Joints and machines \[E11\] against closed forms: pendulums, linkages, a gyroscope, a chain, motors at their limits.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

pub mod ends;
pub mod machines;
pub mod undisturbed;

use crate::common::*;
use esker::engine::{Engine, Snapshot};
use esker::gpu::shader::Edit;
use esker::model::drive::Course;
use esker::model::{
    Axes, Boundary, Drive, Form, Grain, Joint, JointKind, Materials, Motion, MotionLaw, RigidBody, Surface,
    World,
};
use esker::observe::{energy, loads};
use esker::settings::Settings;
use glam::{DQuat, DVec3};

const G: f64 = 9.81;

/// A world without grains under gravity along z.
fn empty() -> World {
    World::new(DVec3::new(0.0, 0.0, -G), Materials::default())
}

/// Adds a body without a shape; returns its index.
fn body(world: &mut World, position: DVec3, mass: f64, moments: DVec3) -> u32 {
    let rigid =
        RigidBody { mass, moments, velocity: DVec3::ZERO, angular_velocity: DVec3::ZERO, locked: Axes::NONE };
    let boundary = Boundary {
        name: format!("body-{}", world.boundaries.len()),
        position,
        orientation: DQuat::IDENTITY,
        motion: Motion::Dynamic(rigid),
    };
    world.add_boundary(boundary, std::iter::empty::<Surface>());
    world.boundaries.len() as u32 - 1
}

/// Adds a thin rod of this mass between two points, its long axis along the axis of the smaller moment; returns its index.
fn rod(world: &mut World, ends: [DVec3; 2], mass: f64) -> u32 {
    let length = ends[0].distance(ends[1]);
    let across = mass * length * length / 12.0;
    let index = body(world, 0.5 * (ends[0] + ends[1]), mass, DVec3::new(across, across, 1e-3 * across));
    let turn = DQuat::from_rotation_arc(DVec3::Z, (ends[1] - ends[0]).normalize());
    world.bodies.orientation[index as usize] = turn;
    index
}

fn join(
    world: &mut World,
    kind: JointKind,
    bodies: [Option<u32>; 2],
    points: [DVec3; 2],
    axis: DVec3,
) -> usize {
    let name = format!("joint-{}", world.joints.len());
    let joint = Joint::new(world, kind, &name, bodies, points, axis);
    world.add_joint(joint);
    world.joints.len() - 1
}

fn hinge(world: &mut World, bodies: [Option<u32>; 2], point: DVec3) -> usize {
    join(world, JointKind::Hinge, bodies, [point; 2], DVec3::Y)
}

fn motor(velocity: f64, force_limit: f64) -> Vec<(f64, Drive)> {
    vec![(0.0, Drive::Motor { velocity: Course::Constant(velocity), force_limit })]
}

fn at(time_step: f64) -> Settings {
    Settings { time_step, ..Settings::default() }
}

/// Runs a world on the CPU for `duration` \[s\]; `look` sees the state after every step.
fn run(world: &World, h: f64, duration: f64, mut look: impl FnMut(&Snapshot)) {
    let mut engine = cpu(world, &at(h));
    for _ in 0..(duration / h).round() as u64 {
        engine.advance(1).unwrap();
        look(&engine.snapshot().unwrap());
    }
}

/// Kinetic energy and potential energy in gravity \[J\].
fn energy_of(world: &World) -> f64 {
    let potential: f64 = (0..world.bodies.len())
        .filter(|&body| world.bodies.inverse_mass[body] > 0.0)
        .map(|body| G * world.bodies.position[body].z / world.bodies.inverse_mass[body])
        .sum();
    world.kinetic_energy() + potential
}

fn largest_error(world: &World) -> f64 {
    (0..world.joints.len()).map(|joint| world.joint_error(joint)).fold(0.0, f64::max)
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, expected {expected} ± {tolerance:e}");
}

/// A rod of 1 m that hangs from a hinge at the origin and is let go where it lies level.
fn pendulum() -> World {
    let mut world = empty();
    let bar = rod(&mut world, [DVec3::ZERO, DVec3::X], 2.0);
    hinge(&mut world, [None, Some(bar)], DVec3::ZERO);
    world
}

/// Results of a run of the pendulum: drift of the hinge over the length \[-\], error of the energy over m g l \[-\], period \[s\].
fn swing(h: f64) -> [f64; 3] {
    let (mut drift, mut off, mut turns, mut last) = (0.0f64, 0.0f64, Vec::new(), 0.0);
    run(&pendulum(), h, 4.0, |state| {
        drift = drift.max(largest_error(&state.world));
        off = off.max(energy_of(&state.world).abs() / (2.0 * G * 1.0));
        let speed = state.world.joint_speed(0);
        if last * speed < 0.0 {
            turns.push(state.world.time - h * speed / (speed - last));
        }
        last = speed;
    });
    [drift, off, turns[2] - turns[0]]
}

/// The period of a pendulum is T = 4 K(sin 45°) √(I/(m g l/2)) with K(1/√2) = 1.854 074 677 and I = m l²/3. The errors of energy and period
/// and the drift of the hinge are of second order in the step.
#[test]
fn a_pendulum_has_its_period_and_its_hinge_does_not_drift() {
    let [coarse, fine] = [4e-4, 1e-4].map(swing);
    let period = 4.0 * 1.854_074_677_301_372 * (2.0 / (3.0 * G)).sqrt();
    assert_near(fine[2], period, 1e-6 * period, "period");
    assert!(fine[0] < 1e-6, "the hinge drifts by {:e} of the length", fine[0]);
    assert_near(coarse[0] / fine[0], 16.0, 1.0, "drift at four times the step");
    assert!(fine[1] < 1e-6, "energy {:e}", fine[1]);
    assert_near(coarse[1] / fine[1], 16.0, 2.0, "error of the energy at four times the step");
    let [long, ..] = swing(2.5e-3);
    assert!(long < 1e-3, "at 2.5 ms it drifts by {long:e}");
}

#[test]
fn a_double_pendulum_keeps_its_energy() {
    let mut off = [4e-4, 1e-4].map(|h| {
        let mut world = empty();
        let upper = rod(&mut world, [DVec3::ZERO, DVec3::X], 2.0);
        let lower = rod(&mut world, [DVec3::X, DVec3::new(1.8, 0.0, 0.6)], 1.0);
        hinge(&mut world, [None, Some(upper)], DVec3::ZERO);
        hinge(&mut world, [Some(upper), Some(lower)], DVec3::X);
        let start = energy_of(&world);
        let mut off = 0.0f64;
        run(&world, h, 2.0, |state| {
            off = off.max((energy_of(&state.world) - start).abs() / (3.0 * G));
            // (9/8) h² times the acceleration of a joint, which comes to 400 m/s².
            assert!(largest_error(&state.world) < 450.0 * h * h);
        });
        off
    });
    off.reverse();
    assert!(off[0] < 2e-6, "{off:?}");
    assert_near(off[1] / off[0], 16.0, 2.0, "error of the energy at four times the step");
}

/// Linkage in the x-z plane that a motor turns at a constant rate: masses and moments of its bodies, and the rate of the crank. Functions
/// give the centres and angles of the bodies over the angle of the crank.
struct Linkage {
    masses: Vec<f64>,
    /// Moments about y \[kg m²\].
    moments: Vec<f64>,
    rate: f64,
}

impl Linkage {
    /// Kinetic and potential energy of the linkage \[J\], with velocities from its poses at angles of the crank that are close together.
    fn energy(&self, bodies: impl Fn(f64) -> Vec<(DVec3, f64)>, angle: f64) -> f64 {
        let d = 1e-4;
        let [before, now, after] = [angle - d, angle, angle + d].map(bodies);
        let energy = |body: usize| {
            let velocity = (after[body].0 - before[body].0) * (0.5 * self.rate / d);
            let spin = (after[body].1 - before[body].1) * (0.5 * self.rate / d);
            let (mass, moment) = (self.masses[body], self.moments[body]);
            0.5 * mass * velocity.length_squared() + 0.5 * moment * spin * spin + mass * G * now[body].0.z
        };
        (0..now.len()).map(energy).sum()
    }

    /// Torque that the motor needs \[N m\]: its work is the change of the energy.
    fn torque(&self, bodies: impl Fn(f64) -> Vec<(DVec3, f64)> + Copy, angle: f64) -> f64 {
        let d = 1e-3;
        (self.energy(bodies, angle + d) - self.energy(bodies, angle - d)) / (2.0 * d)
    }
}

fn on_circle(radius: f64, angle: f64) -> DVec3 {
    radius * DVec3::new(angle.cos(), 0.0, angle.sin())
}

/// Adds a hinge about -y, whose positive turns take x to z; returns its index.
fn turned_hinge(world: &mut World, bodies: [Option<u32>; 2], point: DVec3) -> usize {
    join(world, JointKind::Hinge, bodies, [point; 2], DVec3::NEG_Y)
}

/// Runs a linkage whose crank is the first body, and asserts that the bodies and the torque of the motor follow the algebra; `expected`
/// gives all centres and angles over the angle of the crank.
fn follows(world: &World, linkage: &Linkage, start: f64, expected: impl Fn(f64) -> Vec<(DVec3, f64)> + Copy) {
    let h = 1e-4;
    let (mut most, mut errors, mut torques) = (0.0f64, 0.0f64, 0.0f64);
    run(world, h, 1.5 * std::f64::consts::TAU / linkage.rate, |state| {
        let (world, time) = (&state.world, state.world.time);
        let angle = start + world.joint_states[0].position;
        assert_near(angle, start + linkage.rate * time, 1e-9 + 1e-3 * linkage.rate * h, "angle of the crank");
        for (place, (centre, _)) in world.bodies.position.iter().zip(expected(angle)) {
            errors = errors.max(place.distance(centre));
        }
        // Impulses belong to the middle of the substep. The first step sets all in motion at once, from which the joints take 20 steps to
        // recover.
        if time > 20.5 * h {
            let torque = linkage.torque(expected, angle - 0.5 * linkage.rate * h);
            most = most.max(torque.abs());
            torques = torques.max((world.joint_states[0].drive - torque).abs());
        }
        assert!(energy::error_share(state) < 1e-9, "the balance closes");
    });
    assert!(errors < 1e-5, "bodies are off by {errors:e} m");
    assert!(torques < 2e-3 * most && most > 1.0, "torques are off by {torques:e} of {most} N m");
}

#[test]
fn a_slider_crank_moves_and_loads_its_motor_as_the_algebra_says() {
    let (r, l, rate) = (0.2, 0.6, 6.0);
    let mut world = empty();
    let (crank_pin, piston_pin) = (on_circle(r, 0.0), DVec3::new(r + l, 0.0, 0.0));
    let crank = rod(&mut world, [DVec3::ZERO, crank_pin], 1.0);
    let bar = rod(&mut world, [crank_pin, piston_pin], 2.0);
    let piston = body(&mut world, piston_pin, 3.0, DVec3::ONE);
    turned_hinge(&mut world, [None, Some(crank)], DVec3::ZERO);
    turned_hinge(&mut world, [Some(crank), Some(bar)], crank_pin);
    turned_hinge(&mut world, [Some(bar), Some(piston)], piston_pin);
    join(&mut world, JointKind::Slider, [None, Some(piston)], [piston_pin; 2], DVec3::X);
    world.joints[0].drives = motor(rate, f64::INFINITY);
    let linkage =
        Linkage { masses: vec![1.0, 2.0, 3.0], moments: vec![r * r / 12.0, 2.0 * l * l / 12.0, 1.0], rate };
    follows(&world, &linkage, 0.0, |angle| {
        let pin = on_circle(r, angle);
        let tilt = -(r * angle.sin() / l).asin();
        let end = pin + on_circle(l, tilt);
        vec![(0.5 * pin, angle), (0.5 * (pin + end), tilt), (end, 0.0)]
    });
}

/// A four-bar linkage follows the algebra with redundant joint rows: hinges in space hold a loop in a plane three times over.
#[test]
fn a_four_bar_linkage_moves_and_loads_its_motor_as_the_algebra_says() {
    let (crank, coupler, rocker, ground) = (0.3, 0.9, 0.7, DVec3::new(1.0, 0.0, 0.0));
    let (start, rate) = (std::f64::consts::FRAC_PI_2, 4.0);
    let pins = |angle: f64| {
        let b = on_circle(crank, angle);
        let to = ground - b;
        let along = (to.length_squared() + coupler * coupler - rocker * rocker) / (2.0 * to.length());
        let across = (coupler * coupler - along * along).sqrt();
        let direction = to.normalize();
        (b, b + along * direction + across * DVec3::new(-direction.z, 0.0, direction.x))
    };
    let mut world = empty();
    let (b, c) = pins(start);
    let bars = [[DVec3::ZERO, b], [b, c], [c, ground]];
    let bodies: Vec<u32> =
        bars.iter().zip([1.0, 2.0, 1.5]).map(|(&ends, mass)| rod(&mut world, ends, mass)).collect();
    turned_hinge(&mut world, [None, Some(bodies[0])], DVec3::ZERO);
    turned_hinge(&mut world, [Some(bodies[0]), Some(bodies[1])], b);
    turned_hinge(&mut world, [Some(bodies[1]), Some(bodies[2])], c);
    turned_hinge(&mut world, [Some(bodies[2]), None], ground);
    world.joints[0].drives = motor(rate, f64::INFINITY);
    let moment = |mass: f64, length: f64| mass * length * length / 12.0;
    let linkage = Linkage {
        masses: vec![1.0, 2.0, 1.5],
        moments: vec![moment(1.0, crank), moment(2.0, coupler), moment(1.5, rocker)],
        rate,
    };
    follows(&world, &linkage, start, |angle| {
        let (b, c) = pins(angle);
        let tilt = |from: DVec3, to: DVec3| (to.z - from.z).atan2(to.x - from.x);
        vec![(0.5 * b, angle), (0.5 * (b + c), tilt(b, c)), (0.5 * (c + ground), tilt(ground, c))]
    });
}

/// Bar on three cranks of 0.5 m, at the angle `start` from hanging \[rad\]; and the masses of the bar and of a crank \[kg\].
fn three_cranks(start: f64) -> (World, [f64; 2]) {
    let (bar_mass, crank_mass) = (6.0, 1.0);
    let foot = |i: u32| DVec3::new(f64::from(i), 0.0, 0.0);
    let arm = 0.5 * DVec3::new(start.sin(), 0.0, -start.cos());
    let mut world = empty();
    let bar = rod(&mut world, [foot(0) + arm, foot(2) + arm], bar_mass);
    for i in 0..3 {
        let crank = rod(&mut world, [foot(i), foot(i) + arm], crank_mass);
        turned_hinge(&mut world, [None, Some(crank)], foot(i));
        turned_hinge(&mut world, [Some(crank), Some(bar)], foot(i) + arm);
    }
    (world, [bar_mass, crank_mass])
}

/// A bar on three cranks, one of them redundant, swings as a pendulum under the gravity g (M + 3 m/2)/(M + m), and no hinge force exceeds
/// three times the weight of the bar.
#[test]
fn a_bar_on_three_cranks_swings_as_on_two() {
    let (length, start) = (0.5, 1.0f64);
    let (world, [bar_mass, crank_mass]) = three_cranks(start);
    let pull = G / length * (bar_mass + 1.5 * crank_mass) / (bar_mass + crank_mass);
    let (h, mut angle, mut speed) = (1e-4, start, 0.0);
    run(&world, h, 2.0, |state| {
        // Reference solution: an integration of second order.
        speed -= 0.5 * h * pull * f64::sin(angle);
        angle += h * speed;
        speed -= 0.5 * h * pull * angle.sin();
        let found = start + state.world.joint_states[0].position;
        assert_near(found, angle, 2e-3, "angle");
        for joint in &state.world.joint_states {
            assert!(joint.force.length() < 3.0 * bar_mass * G, "a hinge takes {} N", joint.force.length());
        }
    });
}

/// A top whose axis is level precesses at Ω = m g l/(I₃ ω₃), exactly: the term of its precession squared vanishes with the cosine of the
/// tilt.
#[test]
fn a_gyroscope_on_a_ball_joint_precesses() {
    let (mass, arm, spin) = (2.0, 0.3, 60.0);
    let moments = DVec3::new(0.02, 0.02, 0.03);
    let rate = mass * G * arm / (moments.z * spin);
    let mut world = empty();
    let top = body(&mut world, DVec3::new(arm, 0.0, 0.0), mass, moments);
    world.bodies.orientation[0] = DQuat::from_rotation_arc(DVec3::Z, DVec3::X);
    world.bodies.angular_velocity[0] = spin * DVec3::X + rate * DVec3::Z;
    world.bodies.velocity[0] = rate * arm * DVec3::Y;
    join(&mut world, JointKind::Ball, [None, Some(top)], [DVec3::ZERO; 2], DVec3::Z);
    run(&world, 1e-4, 1.0, |state| {
        let place = state.world.bodies.position[0];
        assert!(place.z.abs() < 1e-3 * arm, "it nods by {} m", place.z);
        let ahead = place.y.atan2(place.x) - rate * state.world.time;
        let ahead = ahead - std::f64::consts::TAU * (ahead / std::f64::consts::TAU).round();
        assert!(ahead.abs() < 1e-2, "it is ahead by {ahead}");
    });
}

#[test]
fn a_chain_of_light_and_heavy_boxes_hangs_with_its_weight() {
    for heavy in [|i: u32| i % 2 == 1, |i: u32| i == 9] {
        let mut world = empty();
        let mut above = None;
        let mut weight = 0.0;
        for i in 0..10 {
            let mass = if heavy(i) { 1000.0 } else { 1.0 };
            weight += mass * G;
            let top = DVec3::new(0.0, 0.0, -0.2 * f64::from(i));
            let link = body(&mut world, top - 0.1 * DVec3::Z, mass, DVec3::splat(mass * 0.1 * 0.1 / 6.0));
            hinge(&mut world, [above, Some(link)], top);
            above = Some(link);
        }
        let mut engine = cpu(&world, &at(1e-3));
        engine.advance(200).unwrap();
        let state = engine.snapshot().unwrap();
        assert_near(state.world.joint_states[0].force.z, weight, 1e-6 * weight, "reaction");
        assert!(largest_error(&state.world) < 1e-6, "{:e}", largest_error(&state.world));
    }
}

/// An arm of 2 kg and 1 m that starts level, with a motor at its torque limit: a limit above the torque of the weight lifts it to the upper
/// end of its range, one below lets it sink to the lower end. The end of the range carries the difference.
#[test]
fn a_motor_stalls_at_its_limit_and_the_end_of_the_range_takes_the_rest() {
    let gravity = 2.0 * G * 0.5;
    for (limit, end) in [(15.0, 0.3f64), (4.0, -0.4)] {
        let mut world = empty();
        let arm = rod(&mut world, [DVec3::ZERO, DVec3::X], 2.0);
        turned_hinge(&mut world, [None, Some(arm)], DVec3::ZERO);
        world.joints[0].drives = motor(0.5, limit);
        world.joints[0].range = Some([end.min(0.0) - 1e-3, end.max(0.0) + 1e-3]);
        let mut engine = cpu(&world, &at(1e-3));
        engine.advance(3000).unwrap();
        let state = engine.snapshot().unwrap();
        let joint = state.world.joint_states[0];
        let reached = if end > 0.0 { end + 1e-3 } else { end - 1e-3 };
        assert_near(joint.position, reached, 1e-6, "where it stands");
        assert_near(joint.drive, limit, 1e-9 * limit, "motor");
        assert_near(joint.limit, gravity * reached.cos() - limit, 1e-4, "end of the range");
    }
}

#[test]
fn a_servo_follows_its_table_and_gives_way_beyond_its_limit() {
    let table = Course::Table { times: vec![0.0, 1.0, 2.0], values: vec![0.0, 0.8, 0.2] };
    let servo = |force_limit| Drive::Servo { position: table.clone(), response_time: 0.02, force_limit };
    let arm = |force_limit: f64| {
        let mut world = empty();
        let arm = rod(&mut world, [DVec3::ZERO, DVec3::X], 2.0);
        turned_hinge(&mut world, [None, Some(arm)], DVec3::ZERO);
        world.joints[0].drives = vec![(0.0, servo(force_limit))];
        world
    };
    run(&arm(1e4), 1e-3, 2.5, |state| {
        let position = state.world.joint_states[0].position;
        assert_near(position, table.at(state.world.time), 1e-3, "position");
    });
    let mut engine = cpu(&arm(1.0), &at(1e-3));
    engine.advance(200).unwrap();
    let joint = engine.snapshot().unwrap().world.joint_states[0];
    assert!(joint.position < -0.05 && (joint.drive - 1.0).abs() < 1e-9, "{joint:?}: its arm falls");
}

/// The energy balance of a pendulum closes on a carriage that oscillates, and on a body that moves along a locked axis: their work counts
/// as boundary work.
#[test]
fn the_balance_closes_where_what_a_joint_hangs_from_moves() {
    let swing = || {
        let mut world = empty();
        let law = MotionLaw::Oscillation { amplitude: 0.05 * DVec3::X, frequency: 3.0, phase: 0.3 };
        let motion = Motion::of(law);
        world.add_boundary(Boundary { motion, ..fixed("carriage") }, std::iter::empty::<Surface>());
        let bar = rod(&mut world, [DVec3::ZERO, DVec3::new(0.6, 0.0, -0.8)], 2.0);
        hinge(&mut world, [Some(0), Some(bar)], DVec3::ZERO);
        world
    };
    let towed = || {
        let mut world = empty();
        let tug = body(&mut world, DVec3::ZERO, 5.0, DVec3::ONE);
        world.bodies.locked[tug as usize] =
            Axes::TRANSLATION.into_iter().chain(Axes::ROTATION).fold(Axes::NONE, Axes::and);
        world.bodies.velocity[tug as usize] = 0.7 * DVec3::X;
        let bar = rod(&mut world, [DVec3::ZERO, DVec3::new(0.6, 0.0, -0.8)], 2.0);
        hinge(&mut world, [Some(tug), Some(bar)], DVec3::ZERO);
        world
    };
    for world in [swing(), towed()] {
        for (engine, tolerance) in both(&world, &at(1e-3)).iter_mut().zip([1e-9, 1e-4]) {
            engine.advance(300).unwrap();
            let state = engine.snapshot().unwrap();
            let share = energy::error_share(&state);
            assert!(share < tolerance, "{}: {share:e}", engine.identity().engine);
            assert!(state.balance.unwrap().boundary_work.abs() > 0.05, "what it hangs from does work");
        }
    }
}

/// An arm whose motor holds it at the end of its range.
fn stalled() -> World {
    let mut world = empty();
    let arm = rod(&mut world, [DVec3::ZERO, DVec3::X], 2.0);
    turned_hinge(&mut world, [None, Some(arm)], DVec3::ZERO);
    world.joints[0].drives = motor(0.5, 15.0);
    world.joints[0].range = Some([-0.1, 0.3]);
    world
}

/// A motor without a force limit stops at the end of its range and stays there; motor and end together carry the weight of the arm.
#[test]
fn a_motor_without_a_limit_stops_at_the_end_of_its_range() {
    let mut world = stalled();
    world.joints[0].drives = motor(0.5, f64::INFINITY);
    world.joints[0].restitution = 0.5;
    for (engine, tolerance) in both(&world, &at(1e-3)).iter_mut().zip([1e-9, 1e-5]) {
        engine.advance(1000).unwrap();
        let joint = engine.snapshot().unwrap().world.joint_states[0];
        assert_near(joint.position, 0.3, tolerance, "where it stands");
        let held = joint.drive + joint.limit;
        assert_near(held, 2.0 * G * 0.5 * 0.3f64.cos(), 0.05, "what holds it");
    }
}

/// A ball hits a level rod on a hinge near its free end: angular momentum about the hinge is conserved, and the restitution holds at the
/// contact.
#[test]
fn a_ball_bounces_off_a_rod_on_a_hinge_with_the_mobility_of_the_rod() {
    let mut world = World::new(DVec3::ZERO, stone(0.0, 0.5));
    let bar = RigidBody {
        mass: 3.0,
        moments: DVec3::new(0.01, 1.0, 1.0) / 4.0,
        velocity: DVec3::ZERO,
        angular_velocity: DVec3::ZERO,
        locked: Axes::NONE,
    };
    let boundary = Boundary {
        name: "rod".into(),
        position: DVec3::new(0.5, 0.0, 0.0),
        orientation: DQuat::IDENTITY,
        motion: Motion::Dynamic(bar),
    };
    let half = DVec3::new(0.5, 0.05, 0.05);
    world.add_boundary(boundary, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Box { half }, 0)]);
    turned_hinge(&mut world, [None, Some(0)], DVec3::ZERO);
    let ball = Grain { velocity: DVec3::NEG_Z, ..Grain::at(DVec3::new(0.9, 0.0, 0.1012), 0.05, 0) };
    world.add_grains([ball]);
    let mass = 1.0 / world.bodies.inverse_mass[1];
    // 1/m* = 1/m + r²/I with I about the hinge; λ = (1 + e) m* v.
    let inertia = 0.25 + 3.0 * 0.25;
    let impulse = 1.5 / (1.0 / mass + 0.81 / inertia);
    for (engine, tolerance) in both(&world, &at(1e-3)).iter_mut().zip([1e-4, 1e-3]) {
        engine.advance(5).unwrap();
        let bodies = engine.snapshot().unwrap().world.bodies;
        let name = engine.identity().engine;
        assert_near(bodies.velocity[1].z, impulse / mass - 1.0, tolerance, name);
        // Turns about -y lift the rod.
        assert_near(bodies.angular_velocity[0].y, 0.9 * impulse / inertia, tolerance, name);
    }
}

/// Redundant joint rows do not keep the sweeps going: with a tolerance a linkage without contacts is solved by the second sweep, in single
/// precision, too.
#[test]
fn a_linkage_with_redundant_rows_settles_within_a_tolerance() {
    let (world, _) = three_cranks(1.0);
    let settings = Settings { tolerance: 1e-3, iterations: 50, ..at(1e-3) };
    for engine in &mut both(&world, &settings) {
        let report = engine.advance(50).unwrap();
        assert!(report.sweeps <= 3, "{}: {} sweeps", engine.identity().engine, report.sweeps);
        let state = engine.snapshot().unwrap();
        // Every joint carries its part of the weight, none many times of it.
        let weight = 9.0 * G;
        assert!(state.world.joint_states.iter().all(|joint| joint.force.length() < 2.0 * weight));
    }
}
