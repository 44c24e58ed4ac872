//! Motions of imported robots beside closed forms and independent integrations.

use std::f64::consts::TAU;

use esker::import::{RobotDrive, RobotOptions};
use esker::simulation::{Device, Simulation};
use glam::{DMat3, DVec3};

use super::poses::rotation;
use super::scenario_of;

/// Standard gravity of imported scenarios \[m/s²\].
const G: f64 = 9.81;

/// A pendulum whose mass has a frame that is turned about all axes.
const PENDULUM: &str = r#"<robot name="pendulum">
  <link name="world"/>
  <link name="bob">
    <inertial>
      <origin xyz="0.03 -0.02 -0.4" rpy="0.3 -0.5 0.8"/>
      <mass value="1.7"/>
      <inertia ixx="0.05" ixy="0.006" ixz="-0.004" iyy="0.04" iyz="0.005" izz="0.03"/>
    </inertial>
  </link>
  <joint name="pivot" type="continuous">
    <parent link="world"/> <child link="bob"/>
    <origin xyz="0.1 0.2 1.5" rpy="0 0 0.7"/> <axis xyz="0 1 0"/>
  </joint>
</robot>"#;

/// Tensor of the pendulum in the frame of its link, for inertial axes that are turned by `turn`.
fn tensor(turn: DMat3, sign: f64) -> DMat3 {
    let [xy, xz, yz] = [0.006, -0.004, 0.005].map(|product| sign * product);
    let own = DMat3::from_cols_array(&[0.05, xy, xz, xy, 0.04, yz, xz, yz, 0.03]);
    turn * own * turn.transpose()
}

/// T = 2π √(I / m g d) (1 + θ²/16), with I about the pivot. It starts at 0 and hangs at atan(0.03/0.4), which is its amplitude θ.
#[test]
fn a_pendulum_about_a_skewed_frame_swings_with_its_period() {
    let scenario = scenario_of(PENDULUM, &RobotOptions::default(), &[("duration = 1.0", "duration = 4.0")]);
    let mut simulation = Simulation::new(&scenario, Device::Cpu).expect("a simulation");
    let hanging = 0.03f64.atan2(0.4);
    let (mut crossings, mut before) = (Vec::new(), f64::NAN);
    while simulation.time() < 3.9 {
        simulation.step(1).expect("a step");
        let off = simulation.quantity("joint_position:pivot").expect("a joint") - hanging;
        if before < 0.0 && off >= 0.0 {
            crossings.push(simulation.time() - scenario.settings.time_step * off / (off - before));
        }
        before = off;
    }
    let found = (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f64;
    let (mass, arm) = (1.7, 0.03f64.hypot(0.4));
    let period = |turn: DMat3, sign: f64| {
        let about_pivot = tensor(turn, sign).y_axis.y + mass * arm * arm;
        TAU * (about_pivot / (mass * G * arm)).sqrt() * (1.0 + hanging * hanging / 16.0)
    };
    let expected = period(rotation([0.3, -0.5, 0.8]), 1.0);
    assert!((found / expected - 1.0).abs() < 1e-4, "{found} s, expected {expected}");
    // What an importer may get wrong is farther away than the test allows.
    for wrong in [
        period(DMat3::IDENTITY, 1.0),
        period(rotation([0.3, -0.5, 0.8]), -1.0),
        period(rotation([0.3, -0.5, 0.8]).transpose(), 1.0),
    ] {
        assert!((wrong / expected - 1.0).abs() > 1e-3, "{wrong} s");
    }
}

/// Euler's equations in the frame of the link, with a Runge-Kutta step of the fourth order.
fn spun(tensor: DMat3, mut spin: DVec3, time: f64) -> (DVec3, DMat3) {
    let inverse = tensor.inverse();
    let rate = |spin: DVec3| inverse * -spin.cross(tensor * spin);
    let turning = |turn: DMat3, spin: DVec3| {
        turn * DMat3::from_cols(
            DVec3::new(0.0, spin.z, -spin.y),
            DVec3::new(-spin.z, 0.0, spin.x),
            DVec3::new(spin.y, -spin.x, 0.0),
        )
    };
    let mut turn = DMat3::IDENTITY;
    let steps = 10_000;
    let h = time / f64::from(steps);
    for _ in 0..steps {
        let (k1, r1) = (rate(spin), turning(turn, spin));
        let (k2, r2) = (rate(spin + 0.5 * h * k1), turning(turn + 0.5 * h * r1, spin + 0.5 * h * k1));
        let (k3, r3) = (rate(spin + 0.5 * h * k2), turning(turn + 0.5 * h * r2, spin + 0.5 * h * k2));
        let (k4, r4) = (rate(spin + h * k3), turning(turn + h * r3, spin + h * k3));
        spin += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        turn += h / 6.0 * (r1 + 2.0 * r2 + 2.0 * r3 + r4);
    }
    (spin, turn)
}

/// A free link that spins at (1, 2, 3) rad/s for a second: products of inertia are elements of the tensor, with their sign.
#[test]
fn a_free_link_tumbles_as_its_products_of_inertia_say() {
    let urdf = r#"<robot name="part"><link name="part"><inertial><mass value="2"/>
        <inertia ixx="0.04" ixy="0.01" ixz="0.005" iyy="0.05" iyz="-0.008" izz="0.06"/></inertial></link></robot>"#;
    let spinning = [("kind = \"dynamic\"", "kind = \"dynamic\", angular_velocity = [1, 2, 3]")];
    let scenario = scenario_of(urdf, &RobotOptions::default(), &spinning);
    let mut simulation = Simulation::new(&scenario, Device::Cpu).expect("a simulation");
    simulation.run_until(1.0).expect("a run");
    let found = simulation.look(|world| world.bodies.angular_velocity[0]).expect("a state");
    let tensor = |sign: f64| {
        let [xy, xz, yz] = [0.01, 0.005, -0.008].map(|product| sign * product);
        DMat3::from_cols_array(&[0.04, xy, xz, xy, 0.05, yz, xz, yz, 0.06])
    };
    let expected = |sign: f64| {
        let (spin, turn) = spun(tensor(sign), DVec3::new(1.0, 2.0, 3.0), 1.0);
        turn * spin
    };
    assert!(found.distance(expected(1.0)) < 1e-4, "{found}, expected {}", expected(1.0));
    assert!(found.distance(expected(-1.0)) > 0.1, "the other sign moves otherwise");
}

/// Two links that swing about y, with their centres of mass at 0.3 and 0.25 m of links of 0.5 and 0.4 m.
const DOUBLE: &str = r#"<robot name="double">
  <link name="world"/>
  <link name="upper"><inertial><origin xyz="0 0 -0.3"/><mass value="2"/>
    <inertia ixx="0.05" ixy="0" ixz="0" iyy="0.06" iyz="0" izz="0.02"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0 0 -0.25" rpy="0 0 1.5707963267948966"/><mass value="1.2"/>
    <inertia ixx="0.03" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.015"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="world"/><child link="upper"/><axis xyz="0 1 0"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 -0.5"/><axis xyz="0 1 0"/></joint>
</robot>"#;

/// Angles of the links to the vertical and their rates after a time, from Lagrange's equations of a double pendulum.
fn double_pendulum(start: [f64; 2], time: f64) -> [f64; 2] {
    // The frame of the lower link's mass is turned by a quarter turn: its moment about y is `ixx`.
    let ([m1, m2], [i1, i2]) = ([2.0, 1.2], [0.06, 0.03]);
    let ([a1, a2], l) = ([0.3, 0.25], 0.5);
    let rates = |[one, two, w1, w2]: [f64; 4]| {
        let (coupling, apart) = (m2 * l * a2, one - two);
        let (m11, m12, m22) = (i1 + m1 * a1 * a1 + m2 * l * l, coupling * apart.cos(), i2 + m2 * a2 * a2);
        let f1 = -coupling * apart.sin() * w2 * w2 - (m1 * a1 + m2 * l) * G * one.sin();
        let f2 = coupling * apart.sin() * w1 * w1 - m2 * a2 * G * two.sin();
        let determinant = m11 * m22 - m12 * m12;
        [w1, w2, (m22 * f1 - m12 * f2) / determinant, (m11 * f2 - m12 * f1) / determinant]
    };
    let mut state = [start[0], start[1], 0.0, 0.0];
    let steps = 20_000;
    let h = time / f64::from(steps);
    let moved = |state: [f64; 4], rate: [f64; 4], h: f64| [0, 1, 2, 3].map(|i| state[i] + h * rate[i]);
    for _ in 0..steps {
        let k1 = rates(state);
        let k2 = rates(moved(state, k1, 0.5 * h));
        let k3 = rates(moved(state, k2, 0.5 * h));
        let k4 = rates(moved(state, k3, h));
        state = [0, 1, 2, 3].map(|i| state[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    [state[0], state[1]]
}

/// Steps of 0.5 ms are of second order: errors of (ω h)² of some 1e-5.
#[test]
fn a_double_pendulum_moves_as_lagrange_says() {
    let at = vec![("shoulder".to_owned(), 0.8), ("elbow".to_owned(), -0.5)];
    let options = RobotOptions { at, ..RobotOptions::default() };
    let scenario = scenario_of(DOUBLE, &options, &[("time_step = 1e-3", "time_step = 5e-4")]);
    let mut simulation = Simulation::new(&scenario, Device::Cpu).expect("a simulation");
    simulation.run_until(1.0).expect("a run");
    let position = |simulation: &mut Simulation<'_>, joint: &str| {
        simulation.quantity(&format!("joint_position:{joint}")).expect("a joint")
    };
    let (upper, elbow) = (position(&mut simulation, "shoulder"), position(&mut simulation, "elbow"));
    let [expected, lower] = double_pendulum([0.8, 0.3], 1.0);
    assert!((upper - expected).abs() < 1e-4, "{upper} rad, expected {expected}");
    assert!((upper + elbow - lower).abs() < 1e-4, "{} rad, expected {lower}", upper + elbow);
    assert!((expected - 0.8).abs() > 0.3, "it has moved far");
}

/// Arm of three links in a row along x, whose hinges turn about -y and lift it; its hand is fixed to the last.
const ARM: &str = r#"<robot name="arm">
  <link name="world"/>
  <link name="base"><collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="one"><inertial><origin xyz="0.2 0 0"/><mass value="3"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.04" iyz="0" izz="0.04"/></inertial></link>
  <link name="two"><inertial><origin xyz="0.15 0 0"/><mass value="2"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.03"/></inertial></link>
  <link name="three"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
  <link name="hand"><inertial><mass value="0.5"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <joint name="foot" type="fixed"><parent link="world"/><child link="base"/></joint>
  <joint name="a" type="revolute"><parent link="base"/><child link="one"/><axis xyz="0 -1 0"/>
    <limit lower="-1" upper="1" effort="200" velocity="2"/></joint>
  <joint name="b" type="revolute"><parent link="one"/><child link="two"/><origin xyz="0.4 0 0"/><axis xyz="0 -1 0"/>
    <limit lower="-2" upper="2" effort="100" velocity="2"/></joint>
  <joint name="c" type="revolute"><parent link="two"/><child link="three"/><origin xyz="0.3 0 0"/><axis xyz="0 -1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="2"/></joint>
  <joint name="grip" type="fixed"><parent link="three"/><child link="hand"/><origin xyz="0.2 0 0"/></joint>
</robot>"#;

/// Servos that hold the arm level carry m g times the arms of all that hangs on them. They sag by 9.81 m/s² times steps and response times,
/// some millimetres, which changes a lever by its square alone.
#[test]
fn servos_that_hold_an_arm_carry_the_moments_of_its_weights() {
    let options = RobotOptions { drive: RobotDrive::Position, ..RobotOptions::default() };
    let scenario = scenario_of(ARM, &options, &[]);
    let mut simulation = Simulation::new(&scenario, Device::Cpu).expect("a simulation");
    simulation.run_until(1.0).expect("a run");
    // Distances of the masses of 3, 2, 1 and 0.5 kg from the first hinge.
    let masses = [(3.0, 0.2), (2.0, 0.55), (1.0, 0.8), (0.5, 0.9)];
    for (joint, at, first) in [("a", 0.0, 0), ("b", 0.4, 1), ("c", 0.7, 2)] {
        let expected: f64 = masses[first..].iter().map(|(mass, place)| mass * G * (place - at)).sum();
        let found = simulation.quantity(&format!("drive_force:{joint}")).expect("a joint");
        assert!((found / expected - 1.0).abs() < 1e-3, "{joint}: {found} N m, expected {expected}");
    }
    let weak = ARM.replace("effort=\"200\"", "effort=\"10\"");
    let mut simulation =
        Simulation::new(&scenario_of(&weak, &options, &[]), Device::Cpu).expect("a simulation");
    simulation.run_until(1.0).expect("a run");
    let end = simulation.quantity("joint_position:a").expect("a joint");
    assert!((end + 1.0).abs() < 1e-3, "an effort of 10 N m is too little, and the limit stops it: {end} rad");
}

/// A torque that is set is what acts: the arm without weight turns at τ/I.
#[test]
fn a_torque_that_is_set_acts_on_the_joint() {
    let scenario = scenario_of(PENDULUM, &RobotOptions::default(), &[("-9.81]", "0.0]")]);
    let mut simulation = Simulation::new(&scenario, Device::Cpu).expect("a simulation");
    let torque = esker::model::drive::Course::Constant(0.2);
    simulation.set_drive("pivot", Some(esker::model::Drive::Force(torque))).expect("a joint");
    simulation.run_until(0.5).expect("a run");
    let inertia = tensor(rotation([0.3, -0.5, 0.8]), 1.0).y_axis.y + 1.7 * (0.03f64.powi(2) + 0.4f64.powi(2));
    let found = simulation.quantity("joint_speed:pivot").expect("a joint");
    let expected = 0.2 / inertia * 0.5;
    assert!((found / expected - 1.0).abs() < 1e-5, "{found} rad/s, expected {expected}");
}
