//! Places of links, joints, masses and shapes.

use std::fs;

use esker::import::{ImportOptions, RobotBase, RobotOptions, import};
use esker::model::{Form, World};
use esker::scenario::Scenario;
use glam::{DMat3, DVec3};

use super::{robot, scenario_of, text_of};

/// Rotation of roll, pitch and yaw: about x, then y, then z, all fixed.
pub fn rotation([roll, pitch, yaw]: [f64; 3]) -> DMat3 {
    about_z(yaw) * about_y(pitch) * about_x(roll)
}

fn about_x(angle: f64) -> DMat3 {
    let (s, c) = angle.sin_cos();
    DMat3::from_cols_array(&[1.0, 0.0, 0.0, 0.0, c, s, 0.0, -s, c])
}

fn about_y(angle: f64) -> DMat3 {
    let (s, c) = angle.sin_cos();
    DMat3::from_cols_array(&[c, 0.0, -s, 0.0, 1.0, 0.0, s, 0.0, c])
}

fn about_z(angle: f64) -> DMat3 {
    let (s, c) = angle.sin_cos();
    DMat3::from_cols_array(&[c, s, 0.0, -s, c, 0.0, 0.0, 0.0, 1.0])
}

/// Rotation about a unit vector (Rodrigues).
fn about(axis: DVec3, angle: f64) -> DMat3 {
    let (s, c) = angle.sin_cos();
    let cross = DMat3::from_cols(
        DVec3::new(0.0, axis.z, -axis.y),
        DVec3::new(-axis.z, 0.0, axis.x),
        DVec3::new(axis.y, -axis.x, 0.0),
    );
    DMat3::IDENTITY + s * cross + (1.0 - c) * cross * cross
}

/// Joint of a chain: its type, its frame in that of the link before it, its axis, and its position at the start.
struct Chained {
    slides: bool,
    xyz: [f64; 3],
    rpy: [f64; 3],
    axis: [f64; 3],
    position: f64,
}

/// Six joints with frames that are turned about all axes; the third slides.
const CHAIN: [Chained; 6] = [
    Chained {
        slides: false,
        xyz: [0.1, -0.2, 0.3],
        rpy: [0.4, -0.9, 1.3],
        axis: [0.0, 0.0, 1.0],
        position: 0.7,
    },
    Chained {
        slides: false,
        xyz: [0.0, 0.25, 0.1],
        rpy: [-1.1, 0.3, 2.2],
        axis: [0.0, 1.0, 0.0],
        position: -1.9,
    },
    Chained {
        slides: true,
        xyz: [0.3, 0.0, -0.1],
        rpy: [0.2, 0.6, -0.5],
        axis: [0.6, 0.0, 0.8],
        position: 0.23,
    },
    Chained {
        slides: false,
        xyz: [0.05, 0.1, 0.2],
        rpy: [1.5, -0.2, 0.9],
        axis: [1.0, 0.0, 0.0],
        position: 2.9,
    },
    Chained {
        slides: false,
        xyz: [-0.2, 0.1, 0.0],
        rpy: [-0.7, 1.2, -2.8],
        axis: [0.0, -0.6, 0.8],
        position: -0.4,
    },
    Chained {
        slides: false,
        xyz: [0.0, 0.0, 0.15],
        rpy: [3.0, -1.4, 0.1],
        axis: [0.0, 0.0, -1.0],
        position: 1.1,
    },
];
/// Centre of mass in the frame of each link \[m\].
const CENTRE: [f64; 3] = [0.04, -0.03, 0.08];

pub fn chain() -> (String, RobotOptions) {
    let words = |numbers: [f64; 3]| numbers.map(|number| number.to_string()).join(" ");
    let mut text = "<robot name=\"chain\"><link name=\"world\"/>".to_owned();
    let mut parent = "world".to_owned();
    for (i, joint) in CHAIN.iter().enumerate() {
        let kind = if joint.slides { "prismatic" } else { "revolute" };
        text.push_str(&format!(
            "<link name=\"link{i}\"><inertial><origin xyz=\"{}\"/><mass value=\"1\"/>\
             <inertia ixx=\"0.02\" ixy=\"0\" ixz=\"0\" iyy=\"0.02\" iyz=\"0\" izz=\"0.02\"/></inertial></link>\n\
             <joint name=\"joint{i}\" type=\"{kind}\"><parent link=\"{parent}\"/><child link=\"link{i}\"/>\
             <origin xyz=\"{}\" rpy=\"{}\"/><axis xyz=\"{}\"/><limit lower=\"-3\" upper=\"3\" effort=\"9\" velocity=\"1\"/></joint>\n",
            words(CENTRE),
            words(joint.xyz),
            words(joint.rpy),
            words(joint.axis)
        ));
        parent = format!("link{i}");
    }
    text.push_str("</robot>");
    let at = CHAIN.iter().enumerate().map(|(i, joint)| (format!("joint{i}"), joint.position)).collect();
    (text, RobotOptions { at, position: DVec3::new(2.0, -1.0, 0.5), ..RobotOptions::default() })
}

/// Centres of mass, places and axes of joints, by products of matrices; `turn` makes a rotation of roll, pitch and yaw.
fn forward(turn: fn([f64; 3]) -> DMat3) -> Vec<[DVec3; 3]> {
    let (mut place, mut frame) = (DVec3::new(2.0, -1.0, 0.5), DMat3::IDENTITY);
    let mut found = Vec::new();
    for joint in CHAIN {
        place += frame * DVec3::from(joint.xyz);
        frame *= turn(joint.rpy);
        let axis = DVec3::from(joint.axis);
        match joint.slides {
            true => place += frame * (joint.position * axis),
            false => frame *= about(axis, joint.position),
        }
        found.push([place + frame * DVec3::from(CENTRE), place, frame * axis]);
    }
    found
}

/// Centres of mass, places and axes of joints of a world.
fn found(world: &World) -> Vec<[DVec3; 3]> {
    let of = |i: usize| {
        let placed = world.placed(&world.joints[i]);
        [world.bodies.position[i], placed.points[1], placed.axis()]
    };
    (0..world.joints.len()).map(of).collect()
}

fn largest(one: &[[DVec3; 3]], other: &[[DVec3; 3]]) -> f64 {
    let all = one.iter().flatten().zip(other.iter().flatten());
    all.map(|(one, other)| one.distance(*other)).fold(0.0, f64::max)
}

/// Numbers of a scenario have eleven digits, so places of metres are off by some 1e-11 m.
#[test]
fn six_joints_lie_where_products_of_matrices_put_them() {
    let (urdf, options) = chain();
    let world = scenario_of(&urdf, &options, &[]).world;
    let found = found(&world);
    let expected = forward(rotation);
    assert_eq!((found.len(), world.joint_states.len()), (6, 6));
    assert!(largest(&found, &expected) < 1e-9, "off by {:e}", largest(&found, &expected));
    for (state, joint) in world.joint_states.iter().zip(CHAIN) {
        assert!((state.position - joint.position).abs() < 1e-9, "{} for {}", state.position, joint.position);
    }
    for (i, joint) in world.joints.iter().enumerate() {
        let [lower, upper] = joint.range.expect("limits");
        assert!(
            (lower + 3.0).abs() < 1e-9 && (upper - 3.0).abs() < 1e-9,
            "{}: {lower} to {upper}",
            joint.name
        );
        assert!(world.joint_error(i) < 1e-9, "{}", joint.name);
    }
    // The orders of angles that are not those of URDF.
    for wrong in [
        (|[roll, pitch, yaw]| about_x(roll) * about_y(pitch) * about_z(yaw)) as fn([f64; 3]) -> DMat3,
        |[roll, pitch, yaw]| about_z(roll) * about_y(pitch) * about_x(yaw),
    ] {
        assert!(largest(&found, &forward(wrong)) > 0.1, "another order is noticed");
    }
}

/// A chassis with a box, and on it by fixed joints a mast, which has a mass, and a camera, which has none.
const MERGED: &str = r#"<robot name="merged">
  <link name="chassis">
    <inertial><origin xyz="0.1 0 0"/><mass value="4"/>
      <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>
    <collision><origin xyz="0 0 0.1" rpy="0 0 1.5707963267948966"/><geometry><box size="0.6 0.4 0.2"/></geometry></collision>
  </link>
  <link name="mast">
    <inertial><origin xyz="0 0 0.5"/><mass value="1"/>
      <inertia ixx="0.08" ixy="0" ixz="0" iyy="0.08" iyz="0" izz="0.002"/></inertial>
    <collision><origin xyz="0 0 0.5"/><geometry><cylinder radius="0.03" length="1"/></geometry></collision>
  </link>
  <link name="camera"><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
  <joint name="step" type="fixed"><parent link="chassis"/><child link="mast"/>
    <origin xyz="0.2 0 0.2" rpy="1.5707963267948966 0 0"/></joint>
  <joint name="top" type="fixed"><parent link="mast"/><child link="camera"/><origin xyz="0 0 1"/></joint>
</robot>"#;

/// The mast lies along -y, with its centre of mass at (0.2, -0.5, 0.2). Sums by hand: m = 5, c = (4 (0.1, 0, 0) + (0.2, -0.5, 0.2))/5.
#[test]
fn links_that_are_fixed_together_are_one_body_with_the_sum_of_their_masses() {
    let world = scenario_of(MERGED, &RobotOptions::default(), &[]).world;
    assert_eq!((world.boundaries.len(), world.joints.len(), world.surfaces.len()), (1, 0, 3));
    let centre = DVec3::new(0.12, -0.1, 0.04);
    assert!(world.bodies.position[0].distance(centre) < 1e-9, "{}", world.bodies.position[0]);
    let arms = [(4.0, DVec3::new(0.1, 0.0, 0.0) - centre), (1.0, DVec3::new(0.2, -0.5, 0.2) - centre)];
    let moved = arms.map(|(mass, arm)| {
        mass * (arm.length_squared() * DMat3::IDENTITY
            - DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z))
    });
    let chassis = DMat3::from_cols_array(&[0.1, 0.01, 0.0, 0.01, 0.2, 0.0, 0.0, 0.0, 0.25]);
    let mast = DMat3::from_diagonal(DVec3::new(0.08, 0.002, 0.08));
    let expected = chassis + mast + moved[0] + moved[1];
    let body = world.bodies.rigid(0).expect("dynamic");
    let found = body.inverse_inertia(world.bodies.orientation[0]).inverse();
    assert_eq!(body.mass, 5.0);
    let off = (found - expected).to_cols_array().into_iter().map(f64::abs).fold(0.0, f64::max);
    assert!(off < 1e-9, "off by {off:e} kg m²: {found}");
    // Shapes in the world: the box is turned by a quarter turn, the rod lies along -y, the ball is at its end.
    let place = |i: usize| {
        let surface = &world.surfaces[i];
        let (position, turn) = (world.bodies.position[0], world.bodies.orientation[0]);
        (position + turn * surface.position, turn * surface.orientation, surface.form)
    };
    let (at, turn, form) = place(0);
    assert_eq!(form, Form::Box { half: DVec3::new(0.3, 0.2, 0.1) }, "sizes of URDF are full ones");
    assert!(at.distance(0.1 * DVec3::Z) < 1e-9 && (turn * DVec3::X).distance(DVec3::Y) < 1e-9, "{at}");
    let (at, turn, _) = place(1);
    assert!(at.distance(DVec3::new(0.2, -0.5, 0.2)) < 1e-9, "{at}");
    assert!((turn * DVec3::Z).distance(DVec3::NEG_Y) < 1e-9);
    assert!(place(2).0.distance(DVec3::new(0.2, -1.0, 0.2)) < 1e-9, "{}", place(2).0);
}

#[test]
fn the_base_is_held_or_floats_and_nothing_within_a_robot_collides() {
    let urdf = r#"<robot name="two">
      <link name="body"><inertial><mass value="1"/>
        <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
        <collision><geometry><box size="0.4 0.4 0.4"/></geometry></collision></link>
      <link name="arm"><inertial><mass value="1"/>
        <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
        <collision><geometry><capsule radius="0.1" length="0.6"/></geometry></collision></link>
      <joint name="hip" type="continuous"><parent link="body"/><child link="arm"/><axis xyz="0 0 1"/></joint>
    </robot>"#;
    for (base, joints, moves) in
        [(None, 1, true), (Some(RobotBase::Free), 1, true), (Some(RobotBase::Fixed), 2, false)]
    {
        let scenario = scenario_of(urdf, &RobotOptions { base, ..RobotOptions::default() }, &[]);
        assert_eq!(scenario.world.joints.len(), joints);
        assert_eq!(scenario.world.machines, [0, 0], "one machine, whose parts pass through each other");
        let mut simulation = esker::simulation::Simulation::new(&scenario, esker::simulation::Device::Cpu)
            .expect("a simulation");
        simulation.run_until(0.1).expect("a run");
        let fallen = simulation.look(|world| -world.bodies.position[0].z).expect("a state");
        let expected = if moves { 0.5 * 9.81 * 0.01 } else { 0.0 };
        assert!((fallen - expected).abs() < 1e-9, "{base:?}: fell by {fallen} m, expected {expected}");
        assert_eq!(simulation.report().contacts, 0);
    }
}

/// A wedge with a corner at the origin, the only one with a right angle.
const WEDGE: &str = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

fn with_mesh(filename: &str, scale: &str) -> String {
    format!(
        "<robot name=\"part\"><link name=\"part\"><inertial><mass value=\"1\"/>\
         <inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial>\n\
         <collision><origin xyz=\"5 0 0\" rpy=\"0 0 1.5707963267948966\"/>\
         <geometry><mesh filename=\"{filename}\"{scale}/></geometry></collision></link></robot>"
    )
}

/// Highest and lowest corner of the only mesh of a world.
fn bounds(scenario: &Scenario) -> [DVec3; 2] {
    let world = &scenario.world;
    let (surface, mesh) = (&world.surfaces[0], &world.meshes.list()[0]);
    let corner = |vertex: &DVec3| {
        let of_body = surface.position + surface.orientation * *vertex;
        world.bodies.position[0] + world.bodies.orientation[0] * of_body
    };
    let corners: Vec<DVec3> = mesh.vertices.iter().map(corner).collect();
    let fold = |of: fn(DVec3, DVec3) -> DVec3| corners.iter().copied().reduce(of).expect("corners");
    [fold(DVec3::min), fold(DVec3::max)]
}

#[test]
fn meshes_are_found_in_packages_and_scaled_and_mirrored() {
    let home = tempfile::tempdir().expect("a folder");
    let package = home.path().join("my_robot");
    for folder in ["urdf", "meshes"] {
        fs::create_dir_all(package.join(folder)).expect("a folder");
    }
    fs::write(package.join("meshes/wedge.obj"), WEDGE).expect("written");
    let other = home.path().join("elsewhere");
    fs::create_dir(&other).expect("a folder");
    fs::copy(package.join("meshes/wedge.obj"), other.join("wedge.obj")).expect("copied");
    let file = package.join("urdf/robot.urdf");
    let out = package.join("robot.toml");
    let import_of = |filename: &str, scale: &str| {
        fs::write(&file, with_mesh(filename, scale)).expect("written");
        let robot =
            RobotOptions { packages: vec![("other".to_owned(), other.clone())], ..RobotOptions::default() };
        let options = ImportOptions { robot, ..ImportOptions::default() };
        import(&file, &out, &options).map(|imported| {
            assert!(imported.faults.is_empty(), "{}", imported.faults[0]);
            Scenario::parse("robot", &imported.files[0].1, &package, &[]).expect("a scenario")
        })
    };
    // Turned by a quarter turn about z, (x, y) becomes (-y, x).
    for (filename, scale, low, high) in [
        ("package://my_robot/meshes/wedge.obj", "", [3.0, 0.0, 0.0], [5.0, 1.0, 3.0]),
        ("package:///my_robot/meshes/wedge.obj", "", [3.0, 0.0, 0.0], [5.0, 1.0, 3.0]),
        ("package://cloned_as_another/meshes/wedge.obj", "", [3.0, 0.0, 0.0], [5.0, 1.0, 3.0]),
        ("package://other/wedge.obj", " scale=\"0.1 0.1 0.1\"", [4.8, 0.0, 0.0], [5.0, 0.1, 0.3]),
        ("../meshes/wedge.obj", " scale=\"1 -1 2\"", [5.0, 0.0, 0.0], [7.0, 1.0, 6.0]),
    ] {
        let scenario = import_of(filename, scale).unwrap_or_else(|problems| panic!("{problems}"));
        let [lowest, highest] = bounds(&scenario);
        assert!(lowest.distance(low.into()) < 1e-9, "{filename}: {lowest}");
        assert!(highest.distance(high.into()) < 1e-9, "{filename}: {highest}");
    }
    let refused = |filename: &str| import_of(filename, "").map(|_| ()).expect_err(filename).to_string();
    let missing = refused("package://nobody/other/wedge.obj");
    assert!(missing.contains("robot.urdf:2:") && missing.contains("--package nobody=FOLDER"), "{missing}");
    let collada = refused("package://my_robot/meshes/wedge.dae");
    assert!(collada.contains("COLLADA") && collada.contains("convert it"), "{collada}");
}

#[test]
fn a_scenario_says_what_its_robot_is() {
    let (urdf, options) = chain();
    let text = text_of(&urdf, &options);
    for words in [
        "# Robot `chain`: 7 links in 6 bodies, 6 joints that move.",
        "bodies = [\"ground\", \"link0\"]",
        "drive = { torque = 0.0 }        # effort of at most 9.0 N m, velocity of at most 1.0 rad/s",
        "drive = { force = 0.0 }         # effort of at most 9.0 N, velocity of at most 1.0 m/s",
        "initial_position = 0.23",
        "range_deg = [-171.88733854, 171.88733854]",
    ] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
    assert!(robot(&urdf, &options).is_ok());
}
