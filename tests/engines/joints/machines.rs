//! Machines with grains and without, on both engines.

use super::*;

/// A cylinder presses a bucket on an arm onto a column of elastic grains: by virtual work the force of the cylinder follows from the load.
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
    // In a small rotation about the hinge the works of the load, the weight and the cylinder cancel.
    let centre = world.bodies.position[0];
    let of_load = load.torque + centre.cross(load.force);
    let of_weight = centre.cross(10.0 * world.gravity);
    let placed = world.placed(&world.joints[cylinder]);
    let lever = placed.points[1].cross(placed.line()).y;
    let expected = -(of_load + of_weight).y / lever;
    assert!(load.force.z > 100.0, "the column carries {} N", load.force.z);
    assert_near(world.joint_states[cylinder].drive, expected, 1e-3 * expected, "force of the cylinder");
    // The force from virtual work is the prescribed force of the cylinder.
    assert_near(expected, 400.0, 0.4, "virtual work");
}

/// Small digger: a boom, a stick and a bucket on hinges, each held by a cylinder, above a floor with two layers of grains.
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

/// A digger has the same positions of bodies and joints in single and in double precision, up to the growth of roundings in the motion of the
/// grains, and its energy balance closes.
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

/// Machines without grains move alike on both engines, up to rounding: a pendulum, a chain of light and heavy links, and an arm that its motor
/// holds at the end of its range.
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

/// Control: joints that are broken on purpose are noticed. A hinge without its bias velocity drifts, an end of a range acts too early, and a
/// motor exceeds its limit.
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

    // An end of a range that takes effect before it is reached.
    let early = Edit { from: "-room, room > 0.0) / params.h", to: "0.0, room > 0.0) / params.h" };
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

/// The shipped excavator with few large grains stands on its cylinders after six response times of its servos: the force of a cylinder balances
/// the moment, about a pin, of the weights of all parts behind that pin.
#[test]
fn the_excavator_stands_on_its_cylinders_on_both_engines() {
    let scene = scenario("excavator.toml", &["grains.0.radius.min=0.25", "grains.0.radius.max=0.3"]);
    // Tolerance in single precision: arms of 6 m are rounded by 4e-7 m, which 4 Υ/h² = 7e4/s² turns into 0.03 m/s². For 4 t at levers of 3 m
    // to 0.8 m that is 450 N at the tail of the stick, 1.4 % of the force there.
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
