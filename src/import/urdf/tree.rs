//! The tree of links: its root, and where each link is at the start.

use std::collections::HashMap;

use super::element::UrdfReading;
use super::robot::{UrdfJoint, UrdfJointKind, UrdfPose, UrdfRobot};
use crate::error::suggest;
use crate::import::text::number;
use crate::scenario::Problem;

/// Links as a tree, with the pose of each at the start.
pub struct UrdfTree {
    /// Index of the root.
    pub root: usize,
    /// Indices of all links, parents before their children.
    pub order: Vec<usize>,
    /// Of each link the index of the joint to its parent; `None` of the root.
    pub joint_above: Vec<Option<usize>>,
    /// Of each joint the indices of its parent and its child.
    pub ends: Vec<[usize; 2]>,
    /// Positions of all joints at the start \[m, rad\].
    pub positions: Vec<f64>,
    /// Poses of all links at the start.
    pub poses: Vec<UrdfPose>,
}

impl UrdfTree {
    /// Puts the links together: the root at `base`, joints at the positions `told`, by name, or at the one nearest to 0 that their limits
    /// leave. `None` if links and joints are no tree.
    pub fn new(
        reading: &mut UrdfReading,
        robot: &UrdfRobot,
        base: UrdfPose,
        told: &[(String, f64)],
    ) -> Option<UrdfTree> {
        let ends = ends(reading, robot)?;
        let mut joint_above = vec![None; robot.links.len()];
        for (joint, &[_, child]) in ends.iter().enumerate() {
            if let Some(first) = joint_above[child].replace(joint) {
                two_parents(reading, robot, [first, joint]);
                return None;
            }
        }
        let root = root(reading, robot, &joint_above)?;
        let mut order = vec![root];
        let mut next = 0;
        while next < order.len() {
            let below = ends.iter().filter(|[parent, _]| *parent == order[next]).map(|[_, child]| *child);
            let below: Vec<usize> = below.collect();
            order.extend(below);
            next += 1;
        }
        if let Some(lost) = (0..robot.links.len()).find(|link| !order.contains(link)) {
            let names: Vec<String> = (0..robot.links.len())
                .filter(|link| !order.contains(link))
                .map(|link| format!("`{}`", robot.links[link].name))
                .collect();
            let message = format!("links {} are on a loop, expected a tree", names.join(", "));
            let help = "leave out a joint; closed loops are `[[joints]]` that are added to the scenario";
            reading.wrong(&robot.links[lost].span, message, help);
            return None;
        }
        let positions = positions(reading, robot, told)?;
        let mut poses = vec![base; robot.links.len()];
        for &link in &order {
            if let Some(joint) = joint_above[link] {
                poses[link] = poses[ends[joint][0]].then(&robot.joints[joint].at(positions[joint]));
            }
        }
        Some(UrdfTree { root, order, joint_above, ends, positions, poses })
    }
}

/// Finds the links that joints name. Two links or joints of one name, and names of none, are mistakes.
fn ends(reading: &mut UrdfReading, robot: &UrdfRobot) -> Option<Vec<[usize; 2]>> {
    let before = reading.problems.len();
    let mut links = HashMap::new();
    for (i, link) in robot.links.iter().enumerate() {
        if links.insert(link.name.as_str(), i).is_some() {
            let message = format!("there is a second link `{}`, expected names that differ", link.name);
            reading.wrong(&link.span, message, "rename one of them");
        }
    }
    let mut names = Vec::new();
    for joint in &robot.joints {
        if names.contains(&joint.name.as_str()) {
            let message = format!("there is a second joint `{}`, expected names that differ", joint.name);
            reading.wrong(&joint.span, message, "rename one of them");
        }
        names.push(&joint.name);
    }
    let mut ends = Vec::new();
    for joint in &robot.joints {
        let mut find = |(name, span): &(String, std::ops::Range<usize>)| {
            let found = links.get(name.as_str()).copied();
            if found.is_none() {
                let message = format!("there is no link `{name}`, which joint `{}` names", joint.name);
                reading.wrong(
                    span,
                    message,
                    suggest(name, robot.links.iter().map(|link| link.name.as_str())),
                );
            }
            found
        };
        let (parent, child) = (find(&joint.parent), find(&joint.child));
        ends.push([parent.unwrap_or_default(), child.unwrap_or_default()]);
    }
    (reading.problems.len() == before).then_some(ends)
}

fn two_parents(reading: &mut UrdfReading, robot: &UrdfRobot, [first, second]: [usize; 2]) {
    let [first, second] = [first, second].map(|joint| &robot.joints[joint]);
    let message = format!(
        "link `{}` is the child of joint `{}`, too (line {}), expected one parent",
        second.child.0,
        first.name,
        reading.line(&first.span)
    );
    let help = "leave out a joint; closed loops are `[[joints]]` that are added to the scenario";
    reading.wrong(&second.child.1, message, help);
}

fn root(reading: &mut UrdfReading, robot: &UrdfRobot, joint_above: &[Option<usize>]) -> Option<usize> {
    let roots: Vec<usize> = (0..robot.links.len()).filter(|&link| joint_above[link].is_none()).collect();
    match roots[..] {
        [root] => Some(root),
        [] => {
            let message = match robot.links.is_empty() {
                true => "the robot has no link, expected at least one",
                false => "every link has a parent: the joints form a loop, expected a tree",
            };
            let span = robot.links.first().map_or(0..1, |link| link.span.clone());
            reading.wrong(&span, message, "one link, the root, is the child of no joint");
            None
        }
        [first, second, ..] => {
            let [first, second] = [first, second].map(|link| &robot.links[link]);
            let message =
                format!("links `{}` and `{}` have no parent, expected one root", first.name, second.name);
            reading.wrong(
                &second.span,
                message,
                "connect it by a joint, of type \"floating\" if it moves freely",
            );
            None
        }
    }
}

/// Positions of all joints at the start \[m, rad\].
fn positions(reading: &mut UrdfReading, robot: &UrdfRobot, told: &[(String, f64)]) -> Option<Vec<f64>> {
    let before = reading.problems.len();
    let moves = |joint: &UrdfJoint| matches!(joint.kind, UrdfJointKind::Turns | UrdfJointKind::Slides);
    for (name, position) in told {
        let moving = robot.joints.iter().filter(|joint| moves(joint));
        let Some(joint) = moving.clone().find(|joint| joint.name == *name) else {
            let problem = Problem::of("--at", format!("there is no joint `{name}` that moves"));
            let names = moving.map(|joint| joint.name.as_str());
            reading.problems.push(problem.help(suggest(name, names)));
            continue;
        };
        if joint.range.is_some_and(|[lower, upper]| *position < lower || *position > upper) {
            let [lower, upper] = joint.range.unwrap_or_default();
            let message = format!("`{name}` at {position}, expected {lower} to {upper}, its limits");
            reading.problems.push(Problem::of("--at", message).help("correct it"));
        }
    }
    let mut positions: Vec<f64> = Vec::new();
    for joint in robot.joints.iter() {
        let given = told.iter().find(|(name, _)| *name == joint.name).map(|(_, position)| *position);
        let nearest = joint.range.map_or(0.0, |[lower, upper]| 0f64.max(lower).min(upper));
        if nearest != 0.0 && given.is_none() && joint.mimic.is_none() {
            let text = format!(
                "the limits of joint `{}` leave out 0: it starts at {} (--at {}=... for another position)",
                joint.name,
                number(nearest),
                joint.name
            );
            reading.differs(&joint.span, text);
        }
        positions.push(given.unwrap_or(nearest));
    }
    for (i, joint) in robot.joints.iter().enumerate() {
        let Some(mimic) = &joint.mimic else { continue };
        let leader = robot.joints.iter().position(|leader| leader.name == mimic.joint);
        let Some(leader) = leader.filter(|&leader| robot.joints[leader].mimic.is_none() && leader != i)
        else {
            let message = format!(
                "joint `{}` follows `{}`, expected a joint that follows no other",
                joint.name, mimic.joint
            );
            let free = robot.joints.iter().filter(|joint| joint.mimic.is_none() && moves(joint));
            reading.wrong(&mimic.span, message, suggest(&mimic.joint, free.map(|joint| joint.name.as_str())));
            continue;
        };
        if !told.iter().any(|(name, _)| *name == joint.name) {
            positions[i] = mimic.factor * positions[leader] + mimic.offset;
        }
    }
    (reading.problems.len() == before).then_some(positions)
}
