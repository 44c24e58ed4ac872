//! The text of the scenario of a robot.

use std::f64::consts::PI;
use std::path::Path;

use glam::DVec3;

use super::element::UrdfReading;
use super::machine::{MachineJoint, UrdfBody, UrdfMachine, UrdfMass, UrdfShape, moments_and_products};
use super::meshes::MeshFolders;
use super::options::{RobotDrive, RobotOptions};
use super::robot::{UrdfForm, UrdfJoint, UrdfJointKind, UrdfRobot};
use crate::import::paths::{name_of, way};
use crate::import::remarks::listed;
use crate::import::text::{comment, number, quoted, remarked, turned, vector};

/// What stands behind the robot: assumed settings and materials, and how to go on.
const SETTINGS: &str = "gravity = [0.0, 0.0, -9.81]
duration = 1.0

[solver]
time_step = 1e-3                # s. `esker check` has advice
iterations = \"auto\"             # sweeps until they have converged

# Assumed: a robot file has no properties of contacts.
[materials.robot]
density = 1000.0                # kg/m³, of links without mass
youngs_modulus = 1e8
poisson_ratio = 0.3
restitution = 0.1
friction = 0.5
";
/// Ground that a user may want.
const GROUND: &str = "
# What the robot stands on is not in its file. A floor, for example, and grains on it:
#
# [[boundaries]]
# name = \"floor\"
# material = \"robot\"
# shape = { kind = \"plane\", point = [0, 0, -1], normal = [0, 0, 1] }
#
# [[grains]]
# material = \"robot\"
# radius = { kind = \"uniform\", min = 0.004, max = 0.006 }
# packing = { kind = \"random\", fill = 0.25, region = { kind = \"box\", min = [-0.2, -0.2, -1], max = [0.2, 0.2, -0.8] } }
";

/// Writes the scenario of a robot. Mistakes in its meshes and what is not taken go into `reading`.
pub fn write(
    reading: &mut UrdfReading,
    (file, out): (&Path, &Path),
    (robot, machine): (&UrdfRobot, &UrdfMachine),
    options: &RobotOptions,
) -> String {
    let folder = file.parent().unwrap_or(Path::new(""));
    let meshes = MeshFolders { folder, packages: &options.packages };
    let to = out.parent().unwrap_or(Path::new(""));
    let bodies: String = machine.bodies.iter().map(|body| write_body(reading, body, (&meshes, to))).collect();
    let base = machine.fixed_base.iter().map(|base| write_lock(robot, base, options.position));
    let joints = machine
        .joints
        .iter()
        .map(|joint| write_joint(reading, joint, &robot.joints[joint.joint], options.drive));
    let joints: String = joints.collect();
    let joints: String = base.chain([joints]).collect();
    tell_limits(reading, robot, machine);
    let line = |place: &str| place.rsplit(':').next().and_then(|line| line.parse::<usize>().ok());
    reading.remarks.list.sort_by_key(|remark| (remark.stand, line(&remark.place)));
    let (shown, count) = (file.display().to_string(), machine.bodies.len());
    let head = [
        comment(&format!("Import of {shown} by esker {}.", env!("CARGO_PKG_VERSION"))),
        comment(&format!(
            "Robot `{}`: {} links in {count} bodies, {} joints that move.",
            robot.name,
            robot.links.len(),
            machine.joints.len()
        )),
        format!("#\n#     esker run {}\n", name_of(out)),
        listed(&reading.remarks.list, "robot"),
    ];
    let title = format!("\ntitle = {}\n", quoted(&format!("Import of {}", name_of(file))));
    [head.concat(), title, SETTINGS.to_owned(), bodies, joints, GROUND.to_owned()].concat()
}

fn write_body(reading: &mut UrdfReading, body: &UrdfBody, (meshes, to): (&MeshFolders<'_>, &Path)) -> String {
    let links = body.links.iter().map(|link| format!("`{link}`")).collect::<Vec<_>>().join(", ");
    let table = match body.links.len() {
        1 => "[[boundaries]]\n".to_owned(),
        _ => remarked("[[boundaries]]", &format!("links {links}, which fixed joints hold together")),
    };
    // A remark tells links apart that are one body.
    let line = |shape: &UrdfShape, text: String| match body.links.len() {
        1 => text + "\n",
        _ => format!("{text} # {}\n", shape.link),
    };
    let shapes = body.shapes.iter().filter_map(|shape| {
        let text = write_shape(reading, shape, (meshes, to))?;
        Some(line(shape, text))
    });
    let shapes: Vec<String> = shapes.collect();
    let shapes = match shapes.is_empty() {
        true => "[]".to_owned(),
        false => format!("[\n{}]", shapes.concat()),
    };
    let mass = match &body.mass {
        UrdfMass::Told(solid) => {
            let [moments, products] = moments_and_products(solid.inertia);
            format!(
                ", mass = {}, inertia = {}, products_of_inertia = {}, centre_of_mass = {}",
                number(solid.volume),
                vector(moments),
                vector(products),
                vector(solid.centre)
            )
        }
        UrdfMass::OfShapes => String::new(),
        UrdfMass::Any => {
            ", mass = 1.0, inertia = [1.0, 1.0, 1.0], centre_of_mass = [0.0, 0.0, 0.0]".to_owned()
        }
    };
    let locked = body.across.map_or(String::new(), |across| {
        let others = (0..3).filter(|axis| *axis != across).map(|axis| ["\"rx\"", "\"ry\"", "\"rz\""][axis]);
        let axes: Vec<&str> = std::iter::once(["\"x\"", "\"y\"", "\"z\""][across]).chain(others).collect();
        format!(", locked_axes = [{}]", axes.join(", "))
    });
    let motion = format!("motion = {{ kind = \"dynamic\"{mass}{locked} }}");
    let motion = match body.mass {
        UrdfMass::Any => remarked(&motion, "the base does not move: its mass has no effect"),
        _ => motion + "\n",
    };
    format!("\n{table}name = {}\nmaterial = \"robot\"\nshapes = {shapes}\n{motion}", quoted(&body.name))
}

fn write_shape(
    reading: &mut UrdfReading,
    shape: &UrdfShape,
    (meshes, to): (&MeshFolders<'_>, &Path),
) -> Option<String> {
    let (centre, turn) = (shape.pose.position, shape.pose.turn);
    let along = turn * DVec3::Z;
    let text = match &shape.form {
        UrdfForm::Box(size) => format!(
            "kind = \"box\", min = {}, max = {}, side = \"outside\"{}",
            vector(centre - 0.5 * *size),
            vector(centre + 0.5 * *size),
            turned(turn)
        ),
        UrdfForm::Cylinder { radius, length } => format!(
            "kind = \"cylinder\", base = {}, axis = {}, length = {}, radius = {}, side = \"outside\"",
            vector(centre - 0.5 * *length * along),
            vector(along),
            number(*length),
            number(*radius)
        ),
        UrdfForm::Sphere(radius) => {
            format!("kind = \"sphere\", centre = {}, radius = {}", vector(centre), number(*radius))
        }
        UrdfForm::Capsule { radius, length } => format!(
            "kind = \"capsule\", from = {}, to = {}, radius = {}",
            vector(centre - 0.5 * *length * along),
            vector(centre + 0.5 * *length * along),
            number(*radius)
        ),
        UrdfForm::Mesh { file, scale } => {
            let found =
                meshes.find(file).map_err(|[message, help]| reading.wrong(&shape.span, message, help));
            let found = found.ok()?;
            let there = way(to, found.parent().unwrap_or(Path::new(""))).join(name_of(&found));
            let factors = match scale.to_array() {
                [x, y, z] if x == y && y == z && x > 0.0 => number(x),
                _ => vector(*scale),
            };
            format!(
                "kind = \"mesh\", file = {}, scale = {factors}, position = {}{}",
                quoted(&there.display().to_string()),
                vector(centre),
                turned(turn)
            )
        }
    };
    Some(format!("    {{ {text} }},"))
}

/// Lock that holds the base.
fn write_lock(robot: &UrdfRobot, base: &str, position: DVec3) -> String {
    let mut name = "base".to_owned();
    while robot.joints.iter().any(|joint| joint.name == name) {
        name.push('-');
    }
    format!(
        "\n[[joints]]\nname = {}\nkind = \"lock\"\nbodies = [\"ground\", {}]\npoint = {}\n",
        quoted(&name),
        quoted(base),
        vector(position)
    )
}

/// Words in which a joint of a kind is written: its kind, the ending of keys of its position, its force, its limit, and units.
struct JointWords {
    kind: &'static str,
    ending: &'static str,
    force: &'static str,
    units: [&'static str; 2],
    /// From the position of the robot to that of the scenario.
    factor: f64,
}

impl JointWords {
    const HINGE: JointWords = JointWords {
        kind: "hinge",
        ending: "_deg",
        force: "torque",
        units: ["N m", "rad/s"],
        factor: 180.0 / PI,
    };
    const SLIDER: JointWords =
        JointWords { kind: "slider", ending: "", force: "force", units: ["N", "m/s"], factor: 1.0 };

    fn of(kind: UrdfJointKind) -> JointWords {
        if kind == UrdfJointKind::Slides { JointWords::SLIDER } else { JointWords::HINGE }
    }
}

fn write_joint(
    reading: &mut UrdfReading,
    placed: &MachineJoint,
    joint: &UrdfJoint,
    drive: RobotDrive,
) -> String {
    let words = JointWords::of(joint.kind);
    let [parent, child] = placed.bodies.each_ref().map(|name| quoted(name));
    let mut text = format!(
        "\n[[joints]]\nname = {}\nkind = \"{}\"\nbodies = [{parent}, {child}]\npoint = {}\naxis = {}\n",
        quoted(&joint.name),
        words.kind,
        vector(placed.point),
        vector(placed.axis)
    );
    if let Some([lower, upper]) = joint.range {
        let ends = [lower, upper].map(|end| number(words.factor * end)).join(", ");
        text.push_str(&format!("range{} = [{ends}]\n", words.ending));
    }
    let position = words.factor * placed.position;
    if position != 0.0 {
        text.push_str(&format!("initial_position{} = {}\n", words.ending, number(position)));
        if words.kind == "hinge" && position.abs() > 180.0 {
            let message =
                format!("joint `{}` starts at {position}°, expected at most half a turn", joint.name);
            reading.wrong(&joint.span, message, "turn its origin, or start it elsewhere with --at");
        }
    }
    let limit = |force: f64| format!(", {}_limit = {}", words.force, number(force));
    let effort = joint.effort.map_or(String::new(), limit);
    let servo = format!("position{} = {}{effort}", words.ending, number(position));
    let is_rough = joint.friction > 0.0 && drive == RobotDrive::Torque && joint.mimic.is_none();
    let action = match drive {
        _ if joint.mimic.is_some() => servo,
        RobotDrive::Position => servo,
        RobotDrive::Velocity => format!("velocity = 0.0{effort}"),
        RobotDrive::Torque if is_rough => format!("velocity = 0.0{}", limit(joint.friction)),
        RobotDrive::Torque => format!("{} = 0.0", words.force),
    };
    let [force, speed] = words.units;
    let most = |what: &str, most: Option<f64>, unit: &str| {
        most.map(|most| format!("{what} of at most {} {unit}", number(most)))
    };
    let told: Vec<String> = [most("effort", joint.effort, force), most("velocity", joint.velocity, speed)]
        .into_iter()
        .flatten()
        .collect();
    let line = format!("drive = {{ {action} }}");
    text.push_str(&if told.is_empty() { line + "\n" } else { remarked(&line, &told.join(", ")) });
    tell_joint(reading, joint, is_rough, force);
    text
}

/// Tells of what a joint has, and esker has not.
fn tell_joint(reading: &mut UrdfReading, joint: &UrdfJoint, is_rough: bool, force: &str) {
    let (name, span) = (&joint.name, &joint.span);
    if joint.damping > 0.0 {
        let text = format!(
            "damping of joint `{name}`, {} {force} s{}: take it times `joint_speed:{name}` from the {} that you set",
            number(joint.damping),
            if force == "N" { "/m" } else { "/rad" },
            if force == "N" { "force" } else { "torque" }
        );
        reading.not_taken(span, text);
    }
    if is_rough {
        let text = format!(
            "friction of joint `{name}` is its drive: a motor that holds it with at most {} {force}, until another drive is set",
            number(joint.friction)
        );
        reading.differs(span, text);
    } else if joint.friction > 0.0 {
        reading.not_taken(span, format!("friction of joint `{name}`, {} {force}", number(joint.friction)));
    }
    if let Some(mimic) = &joint.mimic {
        let text = format!(
            "joint `{name}` follows `{}`: a servo holds it at its start; set its position to {} times that of `{}` plus {} in every \
             step",
            mimic.joint,
            number(mimic.factor),
            mimic.joint,
            number(mimic.offset)
        );
        reading.not_taken(&mimic.span, text);
    }
}

/// Tells which limits act, as not all programs have them act.
fn tell_limits(reading: &mut UrdfReading, robot: &UrdfRobot, machine: &UrdfMachine) {
    let joints = || machine.joints.iter().map(|placed| &robot.joints[placed.joint]);
    let limited: Vec<&UrdfJoint> = joints().filter(|joint| joint.range.is_some()).collect();
    let limits = limited.iter().filter_map(|joint| {
        let [lower, upper] = joint.range?.map(number);
        Some(format!("`{}` ({lower} to {upper})", joint.name))
    });
    if let Some(first) = limited.first() {
        let limits = limits.collect::<Vec<String>>().join(", ");
        reading.differs(
            &first.span,
            format!("limits stop joints, which not all programs do [m, rad]: {limits}"),
        );
    }
    if let Some(first) = joints().find(|joint| joint.effort.is_some() || joint.velocity.is_some()) {
        let text = "efforts are limits of motors and servos alone: a torque or force acts as it is set; limits of velocities are comments";
        reading.differs(&first.span, text);
    }
}
