//! Machines that nothing else touches: motion of second order, forces at the instant, cylindrical and universal joints \[E1, E11\].

use super::*;

/// Pendulum of Chrono's joint tests: 1 kg, moments 0.04, 0.1 and 0.1 kg m², 2 m from its joint to the ground; gravity as there.
fn adams_pendulum(kind: JointKind) -> World {
    let mut world = World::new(DVec3::new(0.0, 0.0, -9.80665), Materials::default());
    let bar = body(&mut world, 2.0 * DVec3::X, 1.0, DVec3::new(0.04, 0.1, 0.1));
    match kind {
        JointKind::Universal => {
            let axes = [DVec3::Y, DVec3::Z];
            let joint = Joint::universal(&world, "joint", [None, Some(bar)], DVec3::ZERO, axes);
            world.add_joint(joint);
        }
        _ => drop(join(&mut world, kind, [None, Some(bar)], [DVec3::ZERO; 2], DVec3::Y)),
    }
    world
}

/// Place of the centre (x, z) \[m\] and reaction on the pendulum (x, z) \[N\] of MSC ADAMS at 1, 3 and 5 s (Chrono 7689fbc,
/// `data/testing/joints`, Revolute_Case01; the cases with cylindrical, spherical and universal joints differ from it by 6e-4 m).
const ADAMS: [(f64, [f64; 2], [f64; 2]); 3] = [
    (1.0, [-0.892381, -1.789880], [11.4612, 23.2273]),
    (3.0, [1.869170, -0.711481], [-9.54268, 3.87152]),
    (5.0, [-1.999680, -0.035559], [0.510231, 0.248259]),
];

/// Chrono asks for 1e-3 m and 2e-2 N with steps of 0.5 ms; here steps are 1 ms.
#[test]
fn pendulums_on_four_kinds_of_joints_move_and_pull_as_in_adams() {
    for kind in [JointKind::Hinge, JointKind::Cylindrical, JointKind::Ball, JointKind::Universal] {
        let mut engine = cpu(&adams_pendulum(kind), &at(1e-3));
        let mut done = 0;
        for (time, place, force) in ADAMS {
            let steps = (1000.0 * time) as u64;
            engine.advance(steps - done).unwrap();
            done = steps;
            let world = engine.snapshot().unwrap().world;
            let (centre, pull) = (world.bodies.position[0], world.joint_states[0].force);
            let what = format!("{kind:?} at {time} s");
            assert_near(centre.x, place[0], 1e-3, &what);
            assert_near(centre.z, place[1], 1e-3, &what);
            assert_near(pull.x, force[0], 2e-2, &what);
            assert_near(pull.z, force[1], 2e-2, &what);
            assert!(centre.y.abs() < 1e-9, "{what}: y = {}", centre.y);
        }
    }
}

/// Error of the place after 1 s \[m\]; the reference is a run with a step of 1/64 ms.
fn error(world: &World, h: f64) -> f64 {
    let place = |h: f64| {
        let mut engine = cpu(world, &at(h));
        engine.advance((1.0 / h).round() as u64).unwrap();
        engine.snapshot().unwrap().world.bodies.position[0]
    };
    place(h).distance(place(1.0 / 64_000.0))
}

/// A range that the pendulum never meets makes its machine one of first order, as an end changes velocities at once.
#[test]
fn a_machine_that_nothing_touches_is_of_second_order() {
    let mut world = adams_pendulum(JointKind::Hinge);
    world.bodies.velocity[0] = DVec3::new(0.0, 0.0, 2.0);
    world.bodies.angular_velocity[0] = DVec3::new(0.0, -1.0, 0.0);
    let errors = [2e-3, 1e-3].map(|h| error(&world, h));
    assert!(errors[1] < 5e-5, "{errors:?}");
    assert_near(errors[0] / errors[1], 4.0, 0.2, "order");
    world.joints[0].range = Some([-100.0, 100.0]);
    let errors = [2e-3, 1e-3].map(|h| error(&world, h));
    assert!(errors[1] > 1e-3, "{errors:?}");
    assert_near(errors[0] / errors[1], 2.0, 0.2, "order with a range");
}

/// At rest and level the pendulum is let go by all but m g (1 - m l²/(m l² + I)) of its weight, at once. With a range, as above, the force
/// is that of the last substep, and there is none yet.
#[test]
fn forces_of_joints_are_those_of_the_instant_from_the_start() {
    let mut world = adams_pendulum(JointKind::Hinge);
    let held = 9.80665 * (1.0 - 4.0 / 4.1);
    for engine in &mut both(&world, &at(1e-3)) {
        let force = engine.snapshot().unwrap().world.joint_states[0].force;
        assert!(force.distance(held * DVec3::Z) < 1e-6, "{}: {force}", engine.identity().engine);
    }
    world.joints[0].range = Some([-100.0, 100.0]);
    let force = cpu(&world, &at(1e-3)).snapshot().unwrap().world.joint_states[0].force;
    assert_eq!(force, DVec3::ZERO);
}

/// Along a tilted axis a cylindrical joint falls freely, s = g sin(30°) t²/2, exactly at any step, while its body swings about the axis.
#[test]
fn a_cylindrical_joint_slides_and_turns() {
    let axis = DVec3::new(0.0, 3f64.sqrt() / 2.0, -0.5);
    let mut world = empty();
    let bar = body(&mut world, 0.5 * DVec3::X, 2.0, DVec3::new(0.01, 0.05, 0.05));
    join(&mut world, JointKind::Cylindrical, [None, Some(bar)], [DVec3::ZERO; 2], axis);
    for (engine, tolerance) in both(&world, &at(1e-3)).iter_mut().zip([1e-9, 2e-6]) {
        engine.advance(200).unwrap();
        let world = engine.snapshot().unwrap().world;
        let name = engine.identity().engine;
        assert_near(world.joint_states[0].position, 0.5 * (0.5 * G) * 0.04, tolerance, name);
        assert!(world.joint_error(0) < 1e-5, "{name}: {:e}", world.joint_error(0));
        let turned = world.bodies.angular_velocity[0].dot(axis);
        assert!(turned.abs() > 1.0, "{name}: it swings, at {turned} rad/s");
        let across = world.bodies.angular_velocity[0].reject_from_normalized(axis);
        assert!(across.length() < 1e-4, "{name}: {across}");
    }
}

/// Two shafts at 40° with a universal joint between them: tan θ' = cos β tan θ, with θ from where the axis on the first shaft lies across
/// the plane of both. The second shaft is ahead and behind by up to 7.6°. A motor holds a velocity, so the joint leaves (9/8) h² times
/// the acceleration of the second shaft, which is up to 14.5 rad/s².
#[test]
fn a_universal_joint_turns_the_second_shaft_as_the_textbook_says() {
    let (bend, rate) = (40f64.to_radians(), 5.0);
    let out = DVec3::new(bend.cos(), bend.sin(), 0.0);
    let mut world = World::new(DVec3::ZERO, Materials::default());
    let first = body(&mut world, -0.5 * DVec3::X, 1.0, DVec3::splat(0.01));
    let second = body(&mut world, 0.5 * out, 1.0, DVec3::splat(0.01));
    join(&mut world, JointKind::Hinge, [None, Some(first)], [-DVec3::X; 2], DVec3::X);
    join(&mut world, JointKind::Hinge, [None, Some(second)], [out; 2], out);
    let bodies = [Some(first), Some(second)];
    let axes = [DVec3::Z, DVec3::Z.cross(out)];
    let joint = Joint::universal(&world, "cross", bodies, DVec3::ZERO, axes);
    world.add_joint(joint);
    world.joints[0].drives = motor(rate, f64::INFINITY);
    for (engine, tolerance) in both(&world, &at(1e-3)).iter_mut().zip([2e-5, 1e-4]) {
        let mut apart = 0.0f64;
        for _ in 0..12 {
            engine.advance(50).unwrap();
            let world = engine.snapshot().unwrap().world;
            let [driven, found] = [0, 1].map(|joint| world.joint_states[joint].position);
            let expected = (bend.cos() * driven.sin()).atan2(driven.cos());
            let off = found - expected;
            let off = off - std::f64::consts::TAU * (off / std::f64::consts::TAU).round();
            assert_near(off, 0.0, tolerance, engine.identity().engine);
            apart = apart.max((found - driven).abs());
        }
        assert_near(apart, 7.6f64.to_radians(), 0.01, "largest lead");
    }
}

/// All kinds of joints in a chain: the GPU engine goes with the CPU engine, to the rounding of its positions.
#[test]
fn a_chain_of_all_kinds_of_joints_moves_alike_on_both_engines() {
    let mut world = empty();
    let place = |i: u32| DVec3::new(0.2 * f64::from(i), 0.0, 0.0);
    let mut above = None;
    for (i, kind) in (0..).zip([
        JointKind::Universal,
        JointKind::Cylindrical,
        JointKind::Ball,
        JointKind::Slider,
        JointKind::Hinge,
        JointKind::Lock,
    ]) {
        let centre = place(i) + DVec3::new(0.1, 0.0, 0.0);
        let link = body(&mut world, centre, 1.0, DVec3::new(0.004, 0.005, 0.006));
        let bodies = [above, Some(link)];
        let joint = match kind {
            JointKind::Universal => {
                Joint::universal(&world, "universal", bodies, place(i), [DVec3::Y, DVec3::Z])
            }
            _ => Joint::new(&world, kind, kind.name(), bodies, [place(i); 2], DVec3::new(1.0, 1.0, 0.2)),
        };
        world.add_joint(joint);
        above = Some(link);
    }
    let states = both(&world, &at(1e-3)).map(|mut engine| {
        engine.advance(200).unwrap();
        engine.snapshot().unwrap().world
    });
    let moved = states[0].bodies.position[5].distance(world.bodies.position[5]);
    assert!(moved > 0.1, "it moves by {moved} m");
    for (a, b) in states[0].bodies.position.iter().zip(&states[1].bodies.position) {
        assert!(a.distance(*b) < 2e-5, "{a} and {b}");
    }
    assert!(largest_error(&states[0]) < 1e-4, "{:e}", largest_error(&states[0]));
}

/// Grains may come to a scene that had none and no room for any: the pendulum is disturbed from then on, as one with a grain from the start.
#[test]
fn a_grain_that_comes_later_disturbs_a_machine() {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G), stone(0.5, 0.0));
    let ball = RigidBody::solid(Form::Sphere { radius: 0.1 }, 1000.0).unwrap();
    let bob = Boundary { motion: Motion::Dynamic(ball), ..fixed("bob") };
    let form = Form::Sphere { radius: 0.1 };
    world.add_boundary(bob, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, form, 0)]);
    join(&mut world, JointKind::Ball, [None, Some(0)], [-DVec3::X; 2], DVec3::Y);
    let grain = Grain::at(10.0 * DVec3::Y, 0.05, 0);
    let mut expected = world.clone();
    expected.add_grains([grain]);
    let ends = |world: &World, later: &[Grain]| {
        both(world, &at(1e-3)).map(|mut engine| {
            if !later.is_empty() {
                engine.add_grains(later).unwrap();
            }
            engine.advance(100).unwrap();
            engine.snapshot().unwrap().world.bodies.position[0]
        })
    };
    let (from_start, later, alone) = (ends(&expected, &[]), ends(&world, &[grain]), ends(&world, &[]));
    for i in 0..2 {
        assert!(later[i].distance(from_start[i]) < 1e-7, "{} and {}", later[i], from_start[i]);
        // One step of first order is h g/2 ahead in velocity.
        assert!(later[i].distance(alone[i]) > 1e-4, "counter-check: {} and {}", later[i], alone[i]);
    }
}
