//! Bodies of a robot: links that fixed joints hold together are one, with the sum of their masses.

use std::ops::Range;

use glam::{DMat3, DVec3};

use super::element::UrdfReading;
use super::options::RobotBase;
use super::robot::{UrdfForm, UrdfJointKind, UrdfPose, UrdfRobot};
use super::tree::UrdfTree;
use crate::import::text::vector;
use crate::model::Solid;
use crate::model::rigid::principal;

/// Component of a unit vector along an axis of the world from which on the vector is that axis \[-\].
const ALONG: f64 = 1.0 - 1e-9;
/// Excess of a moment of inertia over the sum of the others that is rounding \[-\].
const ROUNDING: f64 = 1e-9;

/// Mass of a body.
#[derive(Debug, Clone, Copy)]
pub enum UrdfMass {
    /// As the file has it; the volume is the mass \[kg\], the inertia in kg m².
    Told(Solid),
    /// From the shapes and the density of the material.
    OfShapes,
    /// Without effect, as the body does not move.
    Any,
}

/// Form at its place in the world.
#[derive(Debug, Clone)]
pub struct UrdfShape {
    /// Name of its link.
    pub link: String,
    /// Place in the file.
    pub span: Range<usize>,
    /// Its frame.
    pub pose: UrdfPose,
    /// Form.
    pub form: UrdfForm,
}

/// Links that do not move against each other.
#[derive(Debug, Clone)]
pub struct UrdfBody {
    /// Name: that of the first link, or one like it.
    pub name: String,
    /// Names of its links.
    pub links: Vec<String>,
    /// Shapes.
    pub shapes: Vec<UrdfShape>,
    /// Mass.
    pub mass: UrdfMass,
    /// Axis of the world (0, 1, 2 for x, y, z) across which it moves, and about which it turns, if it is held to a plane.
    pub across: Option<usize>,
}

/// Joint at its place in the world.
#[derive(Debug, Clone)]
pub struct MachineJoint {
    /// Index of the joint in the robot.
    pub joint: usize,
    /// Names of its two bodies.
    pub bodies: [String; 2],
    /// Its place \[m\].
    pub point: DVec3,
    /// Its axis.
    pub axis: DVec3,
    /// Its position at the start \[m, rad\].
    pub position: f64,
}

/// Bodies and joints of a robot.
#[derive(Debug, Clone)]
pub struct UrdfMachine {
    /// Bodies, the base first if it is one.
    pub bodies: Vec<UrdfBody>,
    /// Joints that move.
    pub joints: Vec<MachineJoint>,
    /// Name of the base if it is a body that does not move.
    pub fixed_base: Option<String>,
}

/// Body that is being put together.
struct LinkGroup {
    head: usize,
    links: Vec<usize>,
    /// Sum of the masses, with the mass as volume; `None` for no mass.
    mass: Option<Solid>,
    shapes: Vec<UrdfShape>,
    is_dropped: bool,
}

/// Puts the bodies of a robot together.
pub fn machine(
    reading: &mut UrdfReading,
    robot: &UrdfRobot,
    tree: &UrdfTree,
    base: Option<RobotBase>,
) -> UrdfMachine {
    let root = &robot.links[tree.root];
    let default = if root.name == "world" { RobotBase::Fixed } else { RobotBase::Free };
    let is_fixed = base.unwrap_or(default) == RobotBase::Fixed;
    let text = match is_fixed {
        true => format!("the root `{}` is fixed to the ground (--base free lets it go)", root.name),
        false => format!("the root `{}` moves freely (--base fixed holds it)", root.name),
    };
    reading.differs(&root.span, text);
    let (mut groups, group_of) = groups(robot, tree);
    drop_empty_ends(reading, robot, tree, (&mut groups, &group_of), is_fixed);
    let mut names: Vec<String> = Vec::new();
    for group in &groups {
        let name = name_of(reading, robot, group.head, &names);
        names.push(name);
    }
    // The ground is no body; nor is a fixed base without shapes, as nothing can touch it.
    let is_ground = |group: usize| group == 0 && is_fixed && groups[0].shapes.is_empty();
    let mut machine = UrdfMachine { bodies: Vec::new(), joints: Vec::new(), fixed_base: None };
    if is_fixed && !is_ground(0) {
        machine.fixed_base = Some(names[0].clone());
    }
    for (i, group) in groups.iter().enumerate().filter(|(i, group)| !group.is_dropped && !is_ground(*i)) {
        let mass = match is_fixed && i == 0 {
            true => group.mass.filter(|mass| excess(mass).is_none()).map_or(UrdfMass::Any, UrdfMass::Told),
            false => mass_of(reading, robot, group),
        };
        let mut body = UrdfBody {
            name: names[i].clone(),
            links: group.links.iter().map(|&link| robot.links[link].name.clone()).collect(),
            shapes: group.shapes.clone(),
            mass,
            across: None,
        };
        if let Some(joint) = tree.joint_above[group.head] {
            let parent = group_of[tree.ends[joint][0]];
            let (pose, told) = (tree.poses[group.head], &robot.joints[joint]);
            let axis = pose.turn * told.axis;
            let place = told.span.clone();
            match told.kind {
                UrdfJointKind::Turns | UrdfJointKind::Slides => machine.joints.push(MachineJoint {
                    joint,
                    bodies: [
                        if is_ground(parent) { "ground".to_owned() } else { names[parent].clone() },
                        names[i].clone(),
                    ],
                    point: pose.position,
                    axis,
                    position: tree.positions[joint],
                }),
                UrdfJointKind::Planar => {
                    body.across = plane_across(reading, (&told.name, &place), axis, is_fixed && parent == 0);
                }
                UrdfJointKind::Floating if !is_ground(parent) => reading.differs(
                    &place,
                    format!(
                        "floating joint `{}`: its links are a machine of their own, and touch the others",
                        told.name
                    ),
                ),
                UrdfJointKind::Floating | UrdfJointKind::Fixed => {}
            }
        }
        machine.bodies.push(body);
    }
    if machine.bodies.len() > 1 && !machine.joints.is_empty() {
        reading.differs(
            &root.span,
            "links of one machine do not touch each other; in other programs those that no joint connects do",
        );
    }
    machine
}

/// Groups of links that fixed joints hold together, in the order of the tree, and the group of each link.
fn groups(robot: &UrdfRobot, tree: &UrdfTree) -> (Vec<LinkGroup>, Vec<usize>) {
    let mut groups: Vec<LinkGroup> = Vec::new();
    let mut group_of = vec![0; robot.links.len()];
    for &link in &tree.order {
        let joint = tree.joint_above[link];
        let above = joint.filter(|&joint| robot.joints[joint].kind == UrdfJointKind::Fixed);
        group_of[link] = match above {
            Some(joint) => group_of[tree.ends[joint][0]],
            None => {
                groups.push(LinkGroup {
                    head: link,
                    links: Vec::new(),
                    mass: None,
                    shapes: Vec::new(),
                    is_dropped: false,
                });
                groups.len() - 1
            }
        };
        let (group, told, pose) = (&mut groups[group_of[link]], &robot.links[link], tree.poses[link]);
        group.links.push(link);
        group.shapes.extend(told.collisions.iter().map(|collision| UrdfShape {
            link: told.name.clone(),
            span: collision.span.clone(),
            pose: pose.then(&collision.origin),
            form: collision.form.clone(),
        }));
        if let Some(inertial) = told.inertial {
            let frame = pose.then(&inertial.origin);
            let own = Solid { volume: inertial.mass, centre: DVec3::ZERO, inertia: inertial.tensor };
            let own = own.placed(frame.position, frame.turn);
            group.mass = Some(group.mass.map_or(own, |mass| mass.and(&own)));
        }
    }
    (groups, group_of)
}

/// Drops bodies without mass and shapes at the ends of the tree: nothing acts on them. Those that others hang on are mistakes.
fn drop_empty_ends(
    reading: &mut UrdfReading,
    robot: &UrdfRobot,
    tree: &UrdfTree,
    (groups, group_of): (&mut [LinkGroup], &[usize]),
    is_fixed: bool,
) {
    for i in (0..groups.len()).rev() {
        let group = &groups[i];
        if group.mass.is_some() || !group.shapes.is_empty() || (i == 0 && is_fixed) {
            continue;
        }
        let bears = |other: usize| {
            let above = tree.joint_above[groups[other].head].map(|joint| group_of[tree.ends[joint][0]]);
            !groups[other].is_dropped && other != i && above == Some(i)
        };
        let link = &robot.links[group.head];
        if i == 0 || (0..groups.len()).any(bears) {
            let help = match i {
                0 => "add one with <mass> and <inertia>, or hold the root: --base fixed",
                _ => "add one with <mass> and <inertia>: a body without mass has no motion of its own",
            };
            let message = format!("link `{}` has no mass and moves, expected <inertial>", link.name);
            reading.wrong(&link.span, message, help);
            continue;
        }
        let joint = tree.joint_above[group.head].map_or("", |joint| robot.joints[joint].name.as_str());
        let text = format!(
            "link `{}` and joint `{joint}`: without mass and collision geometry nothing acts on it",
            link.name
        );
        reading.not_taken(&link.span, text);
        groups[i].is_dropped = true;
    }
}

/// Name of a body: that of its first link, unless the scenario means something else by it.
fn name_of(reading: &mut UrdfReading, robot: &UrdfRobot, head: usize, taken: &[String]) -> String {
    let link = &robot.links[head];
    let as_grain = link.name.strip_prefix("grain-").unwrap_or(&link.name);
    let is_kept = link.name == "ground" || as_grain.bytes().all(|byte| byte.is_ascii_digit());
    if !is_kept && !taken.contains(&link.name) {
        return link.name.clone();
    }
    let mut name = format!("link-{}", link.name);
    while taken.contains(&name) || robot.links.iter().any(|link| link.name == name) {
        name.push('-');
    }
    let text = format!("link `{}` is called `{name}`: the ground and grains have such names", link.name);
    reading.differs(&link.span, text);
    name
}

/// Mass of a body that moves.
fn mass_of(reading: &mut UrdfReading, robot: &UrdfRobot, group: &LinkGroup) -> UrdfMass {
    let link = &robot.links[group.head];
    let Some(mass) = group.mass else {
        let text = format!(
            "link `{}` has no mass: it follows from its shapes and the density of the material, as in MuJoCo",
            link.name
        );
        reading.differs(&link.span, text);
        return UrdfMass::OfShapes;
    };
    if let Some(moments) = excess(&mass) {
        let message = format!(
            "link `{}`{} has principal moments of inertia of {} kg m², which no body has",
            link.name,
            if group.links.len() > 1 { " with what is fixed to it" } else { "" },
            vector(moments)
        );
        let help =
            "give <inertia> about the centre of mass: positive moments, none above the sum of the other two";
        reading.wrong(&link.span, message, help);
    }
    UrdfMass::Told(mass)
}

/// Principal moments of a body, if they are those of none.
fn excess(mass: &Solid) -> Option<DVec3> {
    let (moments, _) = principal(mass.inertia);
    let largest = moments.max_element();
    let is_one =
        moments.min_element() > 0.0 && largest <= (moments.element_sum() - largest) * (1.0 + ROUNDING);
    (!is_one).then_some(moments)
}

/// Axis of the world across which a planar joint moves.
fn plane_across(
    reading: &mut UrdfReading,
    (name, place): (&str, &Range<usize>),
    axis: DVec3,
    is_on_ground: bool,
) -> Option<usize> {
    let across = DVec3::AXES.iter().position(|other| other.dot(axis).abs() > ALONG);
    match across.filter(|_| is_on_ground) {
        Some(across) => {
            reading.differs(
                place,
                format!(
                    "planar joint `{name}`: axes of its link are locked, and it has no position and no drive"
                ),
            );
            Some(across)
        }
        None => {
            let message =
                format!("planar joint `{name}`, expected one that stands on a fixed base, across x, y or z");
            reading.wrong(
                place,
                message,
                "replace it by two prismatic joints and a revolute one, with small masses between them",
            );
            None
        }
    }
}

/// Tensor of a body as the scenario has it: its diagonal, and its elements xy, xz and yz.
pub fn moments_and_products(tensor: DMat3) -> [DVec3; 2] {
    let of = |i: usize, j: usize| tensor.col(i)[j];
    [DVec3::new(of(0, 0), of(1, 1), of(2, 2)), DVec3::new(of(0, 1), of(0, 2), of(1, 2))]
}
