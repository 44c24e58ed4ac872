//! Motions of boundaries: closed forms, and the velocities that lead through a step.

use std::f64::consts::{FRAC_PI_2, TAU};

use glam::DMat3;

use super::*;

fn boundary(motion: Motion) -> Boundary {
    Boundary { name: "wall".into(), position: DVec3::X, orientation: DQuat::IDENTITY, motion }
}

fn table(times: Vec<f64>, displacements: Vec<DVec3>) -> MotionLaw {
    MotionLaw::Table { times, displacements, point: DVec3::ZERO, rotations: Vec::new() }
}

/// Oscillation along z.
fn shaker(amplitude: f64, frequency: f64, phase: f64) -> MotionLaw {
    MotionLaw::Oscillation { amplitude: amplitude * DVec3::Z, frequency, phase }
}

#[test]
fn a_table_is_linear_between_its_times_and_constant_outside() {
    let wall = boundary(Motion::of(table(vec![1.0, 3.0], vec![DVec3::ZERO, DVec3::Z])));
    let height = |time| wall.pose_at(time).0.z;
    assert_eq!([height(0.0), height(2.0), height(3.0), height(9.0)], [0.0, 0.5, 1.0, 1.0]);
}

#[test]
fn a_belt_stays_where_it_is_and_has_a_velocity() {
    let belt = boundary(Motion::Belt(DVec3::Y));
    let state = belt.state_at(3.0, 0.1);
    assert_eq!((state.position, state.velocity), (DVec3::X, DVec3::Y));
    assert!(!belt.changes_place());
    assert!(boundary(Motion::velocity(DVec3::Y)).changes_place());
}

#[test]
fn a_quarter_turn_takes_x_to_y() {
    let (position, orientation) = boundary(Motion::rotation(DVec3::ZERO, FRAC_PI_2 * DVec3::Z)).pose_at(1.0);
    assert!((position - DVec3::Y).length() < 1e-15);
    assert!((orientation * DVec3::X - DVec3::Y).length() < 1e-15);
}

#[test]
fn a_rotation_that_starts_late_rests_before_and_loses_no_angle_to_the_step() {
    let (step, start) = (0.1, 0.25);
    let law = MotionLaw::Rotation { point: DVec3::ZERO, rate: DVec3::Z };
    let timing = MotionTiming { start: Some(start), ..MotionTiming::default() };
    let drum = boundary(Motion::Kinematic(vec![MotionPart { law, timing }]));
    let rate_at = |k: u32| drum.state_at(f64::from(k) * step, step).angular_velocity.z;
    assert_eq!((drum.pose_at(start).1, rate_at(2)), (DQuat::IDENTITY, 0.0));
    approx::assert_relative_eq!(rate_at(3), 0.5, max_relative = 1e-12);
    assert_eq!(rate_at(4), 1.0);
    let turned = step * (1..=8).map(rate_at).sum::<f64>();
    approx::assert_relative_eq!(turned, 0.8 - start, max_relative = 1e-12);
    approx::assert_relative_eq!(drum.pose_at(0.8).1.to_scaled_axis().z, turned, max_relative = 1e-12);
}

/// With a ramp r a motion has gone r/2 at full speed when it is up, and all of it less r when it stops.
#[test]
fn a_ramp_rises_and_falls_with_the_square_of_the_time() {
    let timing = MotionTiming { start: Some(1.0), stop: Some(6.0), ramp: 2.0 };
    let gone: Vec<f64> =
        [0.0, 1.0, 2.0, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0].map(|time| timing.elapsed(time)).to_vec();
    assert_eq!(gone, [0.0, 0.0, 0.25, 1.0, 1.5, 2.0, 2.75, 3.0, 3.0]);
    assert_eq!((timing.pace(3.8, 0.5), timing.pace(7.0, 0.5), timing.pace(0.5, 0.5)), (1.0, 0.0, 0.0));
    approx::assert_relative_eq!(timing.pace(2.5, 1.0), 0.5, max_relative = 1e-12);
    let always = MotionTiming::default();
    assert_eq!([always.elapsed(-1.0), always.elapsed(2.0), always.pace(0.0, 0.1)], [-1.0, 2.0, 1.0]);
}

#[test]
fn tiny_rotations_keep_their_digits() {
    for angle in [1e-12, 1e-8, 1e-3, 3.0] {
        let vector = rotation_vector(DQuat::from_scaled_axis(angle * DVec3::Y));
        approx::assert_relative_eq!(vector.y, angle, max_relative = 1e-14);
    }
    let back = rotation_vector(DQuat::from_rotation_z(3.5));
    approx::assert_relative_eq!(back.z, 3.5 - TAU, max_relative = 1e-14);
}

/// One or several motions of every kind, with starts, stops, ramps and tables that have kinks within steps.
fn of_all_kinds() -> Vec<Vec<MotionPart>> {
    let timed = |law: MotionLaw, start: f64, stop: f64, ramp: f64| MotionPart {
        law,
        timing: MotionTiming { start: Some(start), stop: Some(stop), ramp },
    };
    let rotation =
        || MotionLaw::Rotation { point: DVec3::new(0.2, 0.1, -0.3), rate: DVec3::new(0.5, 2.0, -1.0) };
    let rocking = || MotionLaw::Rocking {
        point: DVec3::new(-0.4, 0.0, 0.1),
        amplitude: 0.3 * DVec3::new(0.0, 0.6, 0.8),
        frequency: 1.7,
        phase: 0.4,
    };
    let turned = |angle: f64| DQuat::from_scaled_axis(angle * DVec3::new(0.6, 0.0, 0.8));
    let path = || MotionLaw::Table {
        times: vec![0.11, 0.333, 0.734],
        displacements: vec![0.1 * DVec3::X, DVec3::ZERO, 0.3 * DVec3::Y],
        point: DVec3::new(0.5, 0.0, 0.0),
        rotations: vec![turned(0.0), turned(2.5), turned(1.0)],
    };
    vec![
        vec![MotionLaw::Velocity(DVec3::new(0.1, -0.2, 0.3)).into()],
        vec![timed(MotionLaw::Velocity(DVec3::Y), 0.205, 0.705, 0.15)],
        vec![rotation().into()],
        vec![timed(rotation(), 0.105, 0.905, 0.3)],
        vec![timed(shaker(0.1, 3.0, 0.7), 0.15, 0.55, 0.1)],
        vec![rocking().into()],
        vec![timed(rocking(), 0.215, 0.815, 0.0)],
        vec![path().into()],
        vec![timed(path(), 0.05, 0.6, 0.0)],
        vec![rocking().into(), timed(rotation(), 0.1, 0.8, 0.2)],
        vec![MotionLaw::Velocity(DVec3::NEG_Z).into(), rotation().into(), shaker(0.05, 5.0, 0.0).into()],
        vec![path().into(), rocking().into(), rotation().into()],
    ]
}

/// The velocities of a step lead from the pose before to the pose after it, to rounding, whatever starts, stops or turns a corner within.
#[test]
fn the_velocities_of_a_step_carry_the_boundary_over_it() {
    let step = 0.01;
    for parts in of_all_kinds() {
        let wall = boundary(Motion::Kinematic(parts));
        for time in (1..=100).map(|k| f64::from(k) * step) {
            let (before, turned) = wall.pose_at(time - step);
            let state = wall.state_at(time, step);
            let reached = DQuat::from_scaled_axis(step * state.angular_velocity) * turned;
            let off = (before + step * state.velocity).distance(state.position);
            let turned_off = rotation_vector(state.orientation * reached.conjugate()).length();
            assert!(
                off < 1e-14 && turned_off < 1e-14,
                "{off} m, {turned_off} rad at {time} s: {:?}",
                wall.motion
            );
        }
    }
}

/// Velocity of a body point at `time`, by central differences of its closed place.
fn slope(wall: &Boundary, body_point: DVec3, time: f64) -> DVec3 {
    const APART: f64 = 1e-5;
    let place = |time| {
        let (position, orientation) = wall.pose_at(time);
        position + orientation * body_point
    };
    (place(time + APART) - place(time - APART)) / (2.0 * APART)
}

/// Error of the velocity that contacts feel at a body point, against the derivative of its place in the middle of a step \[m/s\].
fn error_of_velocity(wall: &Boundary, state: &BoundaryState, time: f64, step: f64) -> f64 {
    let body_point = DVec3::new(0.3, -0.2, 0.5);
    let arm = wall.pose_at(time - 0.5 * step).1 * body_point;
    let felt = state.velocity + state.angular_velocity.cross(arm);
    felt.distance(slope(wall, body_point, time - 0.5 * step))
}

/// Away from corners the velocity that contacts feel is the derivative of the place, with an error that falls with the square of the step.
#[test]
fn the_velocity_of_a_point_is_the_derivative_of_its_place() {
    // Within 0.4225 to 0.4525 s nothing starts, stops or turns a corner.
    let (end, fine) = (0.4525, 1e-3);
    for parts in of_all_kinds() {
        let wall = boundary(Motion::Kinematic(parts));
        let error = |step: f64| {
            // Both steps have the same middle.
            let time = end - 0.015 + 0.5 * step;
            error_of_velocity(&wall, &wall.state_at(time, step), time, step)
        };
        // Third derivatives of the motions here are at most some 10³ m/s³, of which 1/24 times the square of the step is left.
        let (coarse, fine) = (error(0.03), error(fine));
        assert!(coarse < 0.15 && fine < coarse / 500.0 + 1e-8, "{coarse} and {fine} m/s: {:?}", wall.motion);
    }
    // A control: a drum whose angular velocity is taken for that of its own rotation alone, not of its frame.
    let parts = of_all_kinds().swap_remove(9);
    let rate = DVec3::new(0.5, 2.0, -1.0);
    let wall = boundary(Motion::Kinematic(parts));
    let wrong = BoundaryState { angular_velocity: rate, ..wall.state_at(end, 1e-3) };
    assert!(error_of_velocity(&wall, &wrong, end, 1e-3) > 0.1);
}

/// A drum with its axis along y at height 1 turns at 2 rad/s in a frame that rocks by 0.3 sin(3 t) about an axis along x through the
/// origin: its pose is the product of the two turns, and its angular velocity the sum of that of the frame and the turned one.
#[test]
fn a_drum_in_a_rocking_frame_has_the_product_of_both_turns() {
    let rocking = MotionLaw::Rocking {
        point: DVec3::ZERO,
        amplitude: 0.3 * DVec3::X,
        frequency: 3.0 / TAU,
        phase: 0.0,
    };
    let turning = MotionLaw::Rotation { point: DVec3::Z, rate: 2.0 * DVec3::Y };
    let drum = Boundary {
        position: DVec3::new(0.0, 0.5, 1.0),
        ..boundary(Motion::Kinematic(vec![rocking.into(), turning.into()]))
    };
    for time in [0.0, 0.4, 7.3] {
        let frame = DMat3::from_rotation_x(0.3 * f64::sin(3.0 * time));
        let (position, orientation) = drum.pose_at(time);
        assert!(position.distance(frame * DVec3::new(0.0, 0.5, 1.0)) < 1e-14);
        let expected = frame * DMat3::from_rotation_y(2.0 * time);
        assert!(DMat3::from_quat(orientation).abs_diff_eq(expected, 1e-13), "at {time} s");
        let axis = drum.rotation_at(time).expect("it rotates");
        assert!(
            axis.point.distance(frame * DVec3::Z) < 1e-14
                && axis.rate.distance(frame * (2.0 * DVec3::Y)) < 1e-13
        );
        // A grain that goes with the drum has the velocity of its body.
        let state = drum.state_at(time + 5e-6, 1e-5);
        let place = position + DVec3::new(0.1, -0.2, 0.3);
        let with_drum = state.velocity + state.angular_velocity.cross(place - position);
        assert!(axis.velocity(place).distance(with_drum) < 1e-8, "{} m/s", axis.velocity(place));
        assert!(axis.rate.cross(place - axis.point).distance(with_drum) > 0.1, "the frame counts");
        // The mean over 10 µs is that in their middle.
        let spin = 0.9 * f64::cos(3.0 * time) * DVec3::X + axis.rate;
        assert!(drum.state_at(time + 5e-6, 1e-5).angular_velocity.distance(spin) < 1e-8);
    }
}

/// Straight motions add up in any order; a rotation and a shift do not.
#[test]
fn a_motion_moves_in_the_frame_of_those_before_it() {
    let (along, up) = (MotionLaw::Velocity(DVec3::X), shaker(0.2, 1.0, 0.0));
    let pose = |parts: [&MotionLaw; 2]| {
        let parts = parts.map(|law| law.clone().into()).to_vec();
        boundary(Motion::Kinematic(parts)).pose_at(0.25)
    };
    let sum = DVec3::new(1.25, 0.0, 0.2);
    assert!(pose([&along, &up]).0.distance(sum) < 1e-15 && pose([&up, &along]).0.distance(sum) < 1e-15);
    // A quarter turn about the origin in 0.25 s: of a shifted wall, or a shift along an axis that has turned.
    let turn = MotionLaw::Rotation { point: DVec3::ZERO, rate: TAU * DVec3::Z };
    assert!(pose([&turn, &along]).0.distance(DVec3::new(0.0, 1.25, 0.0)) < 1e-15);
    assert!(pose([&along, &turn]).0.distance(DVec3::new(0.25, 1.0, 0.0)) < 1e-15);
}

#[test]
fn another_rate_goes_on_from_the_present_pose() {
    let frame = MotionLaw::Velocity(DVec3::Z);
    let turning = MotionLaw::Rotation { point: DVec3::ZERO, rate: DVec3::Z };
    let mut drum = boundary(Motion::Kinematic(vec![frame.into(), turning.into()]));
    let before = drum.pose_at(2.0);
    assert!(drum.set_rotation(-3.0 * DVec3::Z, 2.0));
    let (position, orientation) = drum.pose_at(2.0);
    assert!(position.distance(before.0) < 1e-15 && orientation.angle_between(before.1) < 1e-7);
    let state = drum.state_at(2.5, 0.25);
    assert_eq!(state.angular_velocity, -3.0 * DVec3::Z);
    assert!(state.position.distance(DVec3::new(f64::cos(0.5), f64::sin(0.5), 2.5)) < 1e-14);
    assert!(!boundary(Motion::of(shaker(1.0, 1.0, 0.0))).set_rotation(DVec3::Z, 0.0));
}
