//! Joints and machines \[E11\] against closed forms: pendulums, linkages, a gyroscope, a chain, motors at their limits.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::engine::{Engine, Snapshot};
use esker::gpu::shader::Edit;
use esker::model::drive::Course;
use esker::model::{
    Axes, Boundary, Drive, Form, Grain, Joint, JointKind, Materials, Motion, RigidBody, Surface, World,
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

/// Moments of a thin rod of this mass between two places, turned so that its long axis is that of the smaller moment; adds it.
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

/// Runs a world on the CPU for so long \[s\]; `look` sees the state after every step.
fn run(world: &World, h: f64, duration: f64, mut look: impl FnMut(&Snapshot)) {
    let mut engine = cpu(world, &at(h));
    for _ in 0..(duration / h).round() as u64 {
        engine.advance(1).unwrap();
        look(&engine.snapshot().unwrap());
    }
}

/// Kinetic energy and that in gravity \[J\].
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

/// What a run of the pendulum comes to: drift of the hinge over the length, error of the energy over m g l, period \[s\].
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

/// T = 4 K(sin 45°) √(I/(m g l/2)) with K(1/√2) = 1.854 074 677 and I = m l²/3. Energy and period are of first order in the step, the
/// drift of the hinge of second order.
#[test]
fn a_pendulum_has_its_period_and_its_hinge_does_not_drift() {
    let [coarse, fine] = [4e-4, 1e-4].map(swing);
    let period = 4.0 * 1.854_074_677_301_372 * (2.0 / (3.0 * G)).sqrt();
    assert_near(fine[2], period, 1e-3 * period, "period");
    assert!(fine[0] < 1e-6, "the hinge drifts by {:e} of the length", fine[0]);
    assert_near(coarse[0] / fine[0], 16.0, 1.0, "drift at four times the step");
    assert!(fine[1] < 1e-3 && coarse[1] < 4.4 * fine[1], "energy {:e} and {:e}", coarse[1], fine[1]);
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
    assert!(off[0] < 2e-3 && off[1] < 5.0 * off[0], "{off:?}: the error is of first order");
}

/// A linkage that a motor turns at a constant rate, in the x-z plane: centres of its bodies, their angles, and what they weigh, over
/// the angle of the crank.
struct Linkage {
    masses: Vec<f64>,
    /// Moments about y \[kg m²\].
    moments: Vec<f64>,
    rate: f64,
}

impl Linkage {
    /// What it has of energy \[J\], from where its bodies are at three angles of the crank that are close together.
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

    /// Torque that the motor needs \[N m\]: what it does goes into the energy.
    fn torque(&self, bodies: impl Fn(f64) -> Vec<(DVec3, f64)> + Copy, angle: f64) -> f64 {
        let d = 1e-3;
        (self.energy(bodies, angle + d) - self.energy(bodies, angle - d)) / (2.0 * d)
    }
}

fn on_circle(radius: f64, angle: f64) -> DVec3 {
    radius * DVec3::new(angle.cos(), 0.0, angle.sin())
}

/// Turns that a hinge about -y counts as positive take x to z.
fn turned_hinge(world: &mut World, bodies: [Option<u32>; 2], point: DVec3) -> usize {
    join(world, JointKind::Hinge, bodies, [point; 2], DVec3::NEG_Y)
}

/// Runs a linkage whose crank is the first body; `expected` gives all centres and angles over the angle of the crank.
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
        // Impulses are those of the middle of the substep; the first step sets all in motion at once, and joints come back from that.
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

/// Hinges in space hold a loop in a plane three times over.
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

/// A bar on three cranks of 0.5 m, this far from hanging; its mass and theirs.
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

/// Three cranks where two would do: a bar on them swings as a pendulum of (M + 3 m/2)/(M + m), and none of them takes more than its
/// weight calls for.
#[test]
fn a_bar_on_three_cranks_swings_as_on_two() {
    let (length, start) = (0.5, 1.0f64);
    let (world, [bar_mass, crank_mass]) = three_cranks(start);
    let pull = G / length * (bar_mass + 1.5 * crank_mass) / (bar_mass + crank_mass);
    let (h, mut angle, mut speed) = (1e-4, start, 0.0);
    run(&world, h, 2.0, |state| {
        // Its own integration, of second order.
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

/// A top whose axis is level precesses at Ω = m g l/(I₃ ω₃), exactly: what its own motion adds vanishes with the cosine.
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

/// An arm of 2 kg and 1 m, level, whose motor lifts it to the end of its range.
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

/// A bucket on an arm, which a cylinder presses on a column of grains that give way: what the cylinder gives follows from the load by
/// virtual work.
#[test]
fn a_cylinder_that_presses_a_bucket_on_a_column_gives_what_virtual_work_says() {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G), stone(0.3, 0.1));
    let arm = RigidBody {
        mass: 10.0,
        moments: DVec3::splat(1.0),
        velocity: DVec3::ZERO,
        angular_velocity: DVec3::ZERO,
        locked: Axes::NONE,
    };
    let boundary = Boundary {
        name: "arm".into(),
        position: DVec3::new(0.5, 0.0, 0.0),
        orientation: DQuat::IDENTITY,
        motion: Motion::Dynamic(arm),
    };
    let bucket = Surface::new(DVec3::new(0.5, 0.0, 0.0), DQuat::IDENTITY, Form::Sphere { radius: 0.05 }, 0);
    world.add_boundary(boundary, [bucket]);
    let floor = Surface::new(DVec3::new(0.0, 0.0, -0.35), DQuat::IDENTITY, Form::Plane, 0);
    world.add_boundary(fixed("floor"), [floor]);
    hinge(&mut world, [None, Some(0)], DVec3::ZERO);
    let places = [DVec3::new(0.2, 0.0, 0.8), DVec3::new(0.6, 0.0, 0.1)];
    let cylinder = join(&mut world, JointKind::Actuator, [None, Some(0)], places, DVec3::Z);
    world.joints[cylinder].drives = vec![(0.0, Drive::Force(Course::Constant(400.0)))];
    let locked = Axes::TRANSLATION[0].and(Axes::TRANSLATION[1]);
    let locked = Axes::ROTATION.into_iter().fold(locked, Axes::and);
    world.add_grains(
        (1..=3).map(|i| Grain { locked, ..Grain::at(DVec3::new(1.0, 0.0, -0.1 * f64::from(i)), 0.05, 0) }),
    );
    let mut engine = cpu(&world, &at(1e-3));
    engine.advance(2000).unwrap();
    let state = engine.snapshot().unwrap();
    let world = &state.world;
    let load = loads::on_boundaries(&state)[0];
    // Turn by a small angle about the hinge: work of the load, of the weight, of the cylinder.
    let centre = world.bodies.position[0];
    let of_load = load.torque + centre.cross(load.force);
    let of_weight = centre.cross(10.0 * world.gravity);
    let placed = world.placed(&world.joints[cylinder]);
    let lever = placed.points[1].cross(placed.line()).y;
    let expected = -(of_load + of_weight).y / lever;
    assert!(load.force.z > 100.0, "the column carries {} N", load.force.z);
    assert_near(world.joint_states[cylinder].drive, expected, 1e-3 * expected, "force of the cylinder");
    // The same out of the geometry at the start, as the algebra of a lever: it has sunk by little.
    assert_near(expected, 400.0, 0.4, "virtual work");
}

/// A boom, a stick and a bucket on hinges, each held by a cylinder, above a floor with two layers of grains: a digger in small.
pub fn digger() -> World {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G), stone(0.5, 0.1));
    let solid = |half: DVec3| RigidBody::solid(Form::Box { half }, 800.0).unwrap();
    let part = |world: &mut World, name: &str, position: DVec3, half: DVec3| {
        let motion = Motion::Dynamic(solid(half));
        let boundary = Boundary { name: name.into(), position, orientation: DQuat::IDENTITY, motion };
        world.add_boundary(boundary, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Box { half }, 0)]);
        world.boundaries.len() as u32 - 1
    };
    let boom = part(&mut world, "boom", DVec3::new(0.5, 0.0, 0.6), DVec3::new(0.5, 0.05, 0.05));
    let stick = part(&mut world, "stick", DVec3::new(1.0, 0.0, 0.3), DVec3::new(0.05, 0.04, 0.25));
    let bucket = part(&mut world, "bucket", DVec3::new(0.95, 0.0, 0.02), DVec3::new(0.1, 0.1, 0.03));
    let floor = Surface::new(DVec3::new(0.0, 0.0, -0.2), DQuat::IDENTITY, Form::Plane, 0);
    world.add_boundary(fixed("floor"), [floor]);
    hinge(&mut world, [None, Some(boom)], DVec3::new(0.0, 0.0, 0.6));
    hinge(&mut world, [Some(boom), Some(stick)], DVec3::new(1.0, 0.0, 0.6));
    hinge(&mut world, [Some(stick), Some(bucket)], DVec3::new(1.0, 0.0, 0.05));
    let cylinder = |world: &mut World, bodies: [Option<u32>; 2], points: [DVec3; 2], drive: Drive| {
        let joint = join(world, JointKind::Actuator, bodies, points, DVec3::Z);
        world.joints[joint].drives = vec![(0.0, drive)];
    };
    let length = |points: [DVec3; 2]| points[0].distance(points[1]);
    let lift = [DVec3::new(0.1, 0.0, 0.3), DVec3::new(0.5, 0.0, 0.6)];
    let course = Course::Table { times: vec![0.0, 0.4], values: vec![length(lift), length(lift) - 0.05] };
    let servo = Drive::Servo { position: course, response_time: 0.02, force_limit: 2e4 };
    cylinder(&mut world, [None, Some(boom)], lift, servo);
    let fold = [DVec3::new(0.5, 0.0, 0.65), DVec3::new(1.0, 0.0, 0.7)];
    let slow = Drive::Motor { velocity: Course::Constant(0.05), force_limit: 5e3 };
    cylinder(&mut world, [Some(boom), Some(stick)], fold, slow);
    let curl = [DVec3::new(1.05, 0.0, 0.45), DVec3::new(1.0, 0.0, 0.05)];
    let push = Drive::Force(Course::Constant(5.0));
    join(&mut world, JointKind::Lock, [Some(stick), Some(bucket)], [DVec3::new(1.0, 0.0, 0.05); 2], DVec3::Z);
    world.joints.last_mut().unwrap().angular_compliance = 1e-4;
    cylinder(&mut world, [Some(stick), Some(bucket)], [curl[0], curl[1] - DVec3::new(0.05, 0.0, 0.0)], push);
    let grain = |i: i32| {
        let (x, y, z) = (i % 9, i / 9 % 7, i / 63);
        let place =
            DVec3::new(0.6 + 0.1 * f64::from(x), -0.3 + 0.1 * f64::from(y), -0.15 + 0.1 * f64::from(z));
        Grain::at(place, 0.0495, 0)
    };
    world.add_grains((0..126).map(grain));
    world
}

/// In single precision cylinders and places stay as they are in double precision, up to what the grains make of roundings.
#[test]
fn a_digger_moves_alike_on_both_engines_and_books_its_work() {
    let settings = Settings { time_step: 2e-3, iterations: 30, ..Settings::default() };
    let [one, other] = both(&digger(), &settings).map(|mut engine| {
        engine.advance(200).unwrap();
        let state = engine.snapshot().unwrap();
        let rounding = if engine.identity().engine == "gpu" { 1e-4 } else { 1e-9 };
        assert!(energy::error_share(&state) < rounding, "{}", energy::error_share(&state));
        assert!(state.balance.unwrap().boundary_work.abs() > 1.0, "its drives do work");
        assert!(largest_error(&state.world) < 1e-3 * 0.5, "{:e}", largest_error(&state.world));
        let given = state.impulses[2].linear.length();
        assert!(given > 2.0, "grains give the bucket {given} N s: it digs");
        state.world
    });
    for body in 0..3 {
        let apart = one.bodies.position[body].distance(other.bodies.position[body]);
        assert!(apart < 2e-3, "body {body} is {apart} m apart");
    }
    for (joint, (one, other)) in one.joint_states.iter().zip(&other.joint_states).enumerate() {
        assert_near(one.position, other.position, 5e-3, &format!("position of joint {joint}"));
    }
    // The servo follows its table.
    let servo = &one.joint_states[3];
    let lift = DVec3::new(0.4, 0.0, 0.3).length();
    assert_near(servo.position, lift - 0.05, 2e-3, "servo");
}

/// Without grains both come to the same but for rounding, over half a turn of a linkage in a loop.
#[test]
fn machines_without_grains_move_alike_on_both_engines() {
    let chain = {
        let mut world = empty();
        let mut above = None;
        for i in 0..12 {
            let top = DVec3::new(0.1 * f64::from(i), 0.0, 0.0);
            let link = rod(&mut world, [top, top + 0.1 * DVec3::X], if i % 3 == 0 { 20.0 } else { 1.0 });
            join(&mut world, JointKind::Ball, [above, Some(link)], [top; 2], DVec3::Z);
            above = Some(link);
        }
        world
    };
    for (world, steps, tolerance) in [(pendulum(), 500, 1e-4), (chain, 150, 2e-3), (stalled(), 1500, 1e-4)] {
        let [one, other] = both(&world, &at(1e-3)).map(|mut engine| {
            engine.advance(steps).unwrap();
            engine.snapshot().unwrap().world
        });
        for (a, b) in one.bodies.position.iter().zip(&other.bodies.position) {
            assert!(a.distance(*b) < tolerance, "{a} and {b}");
        }
        for (a, b) in one.joint_states.iter().zip(&other.joint_states) {
            let size = a.force.length().max(1.0);
            assert!((a.force - b.force).length() < 2e-2 * size, "{} and {} N", a.force, b.force);
            assert_near(a.drive, b.drive, 1e-3 * a.drive.abs().max(1e-3), "drive");
            assert_near(a.limit, b.limit, 1e-2 * a.limit.abs().max(1.0), "limit");
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

/// Broken joints show: without what brings them back they drift, and ends of ranges and limits of motors act where they should not.
#[test]
fn joints_that_are_broken_on_purpose_show() {
    let run = |world: &World, edit: Option<Edit>, steps: u64| {
        let mut engine = gpu(world, &at(1e-3));
        engine.edit_shaders(edit.as_slice()).unwrap();
        engine.advance(steps).unwrap();
        engine.snapshot().unwrap().world
    };
    let drifts = Edit { from: "row.aim = -4.0 * joint.upsilon / params.h * off;", to: "row.aim = 0.0;" };
    let world = pendulum();
    assert!(largest_error(&run(&world, None, 1000)) < 1e-4);
    assert!(largest_error(&run(&world, Some(drifts), 1000)) > 1e-3);

    // The end of a range that takes effect before it is reached.
    let early = Edit { from: "row.aim = -side * room / params.h;", to: "row.aim = 0.0;" };
    let position = |edit| run(&stalled(), edit, 1000).joint_states[0].position;
    assert_near(position(None), 0.3, 1e-3, "end of the range");
    assert!(position(Some(early)) < 0.15);

    let unbounded = Edit { from: "row.high = drive.limit;", to: "row.high = INFINITE;" };
    let mut weak = stalled();
    weak.joints[0].drives = motor(0.5, 4.0);
    let force = |edit| run(&weak, edit, 20).joint_states[0].drive;
    assert_near(force(None), 4.0, 1e-3, "motor");
    assert!(force(Some(unbounded)) > 5.0);
}

/// The shipped excavator with few large grains, for six times the response time of its servos: its cylinders hold it up, with what the weights of the
/// parts behind a pin say about that pin.
#[test]
fn the_excavator_stands_on_its_cylinders_on_both_engines() {
    let scene = scenario("excavator.toml", &["grains.0.radius.min=0.25", "grains.0.radius.max=0.3"]);
    // In single precision arms of 6 m are rounded by 4e-7 m, which 4 Υ/h² = 7e4/s² makes 0.03 m/s² of: on 4 t at levers of 3 m to 0.8 m
    // that is 450 N at the tail of the stick, 1.4 % of what is there.
    for (engine, tolerance) in both(&scene.world, &scene.settings).iter_mut().zip([1e-3, 3e-2]) {
        engine.advance(240).unwrap();
        let world = &engine.snapshot().unwrap().world;
        assert!(largest_error(world) < 1e-4, "{:e}", largest_error(world));
        let joint = |name: &str| world.joints.iter().position(|joint| joint.name == name).unwrap();
        for (cylinder, pin, held) in [
            ("boom cylinder", "boom foot", &["boom", "stick", "bucket", "rocker", "link"][..]),
            ("stick cylinder", "stick pin", &["stick", "bucket", "rocker", "link"]),
        ] {
            let pivot = world.placed(&world.joints[joint(pin)]).points[0];
            let place =
                |name: &&str| world.boundaries.iter().position(|boundary| boundary.name == **name).unwrap();
            let torque = |body: usize| {
                (world.bodies.position[body] - pivot).cross(world.gravity / world.bodies.inverse_mass[body]).y
            };
            let weights: f64 = held.iter().map(place).map(torque).sum();
            let line = world.placed(&world.joints[joint(cylinder)]);
            let expected = -weights / (line.points[1] - pivot).cross(line.line()).y;
            let found = world.joint_states[joint(cylinder)].drive;
            assert_near(found, expected, tolerance * expected.abs(), cylinder);
            assert!(expected.abs() > 1e4, "{cylinder} holds {expected} N");
        }
    }
}

/// A pendulum on a carriage that shakes, and one on a body that is towed along a locked axis: what these put in is booked.
#[test]
fn the_balance_closes_where_what_a_joint_hangs_from_moves() {
    let swing = || {
        let mut world = empty();
        let motion = Motion::Oscillation { amplitude: 0.05 * DVec3::X, frequency: 3.0, phase: 0.3 };
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

/// A motor that no force limits stops at the end of its range, and holds there.
#[test]
fn a_motor_without_a_limit_stops_at_the_end_of_its_range() {
    let mut world = stalled();
    world.joints[0].drives = motor(0.5, f64::INFINITY);
    for (engine, tolerance) in both(&world, &at(1e-3)).iter_mut().zip([1e-9, 1e-5]) {
        engine.advance(1000).unwrap();
        let joint = engine.snapshot().unwrap().world.joint_states[0];
        assert_near(joint.position, 0.3, tolerance, "where it stands");
        let held = joint.drive + joint.limit;
        assert_near(held, 2.0 * G * 0.5 * 0.3f64.cos(), 0.05, "what holds it");
    }
}

/// A ball that hits the free end of a level rod on a hinge: angular momentum about the hinge is kept, and restitution is that of the tip.
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

/// Redundant rows keep no sweep going: with a tolerance a linkage without contacts is solved by the second sweep, in single precision too.
#[test]
fn a_linkage_with_redundant_rows_settles_within_a_tolerance() {
    let (world, _) = three_cranks(1.0);
    let settings = Settings { tolerance: 1e-3, iterations: 50, ..at(1e-3) };
    for engine in &mut both(&world, &settings) {
        let report = engine.advance(50).unwrap();
        assert!(report.sweeps <= 3, "{}: {} sweeps", engine.identity().engine, report.sweeps);
        let state = engine.snapshot().unwrap();
        // Each of the feet takes its part, none many times the weight.
        let weight = 9.0 * G;
        assert!(state.world.joint_states.iter().all(|joint| joint.force.length() < 2.0 * weight));
    }
}
