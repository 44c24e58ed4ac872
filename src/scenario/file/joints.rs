//! Readers of joints and their drives, and of boundaries on rails, which are slider joints on the ground.

use glam::DVec3;

use super::NamedElement;
use super::materials::MASS;
use super::read::{
    AXES, DURATION, FINITE, NOT_NEGATIVE, Need, Node, POSITIVE, ReadReport, SHARE, TIME, Table, by_start,
    direction, number, over_time, text, vector,
};
use crate::error::suggest;
use crate::model::{Area, Course, Drive, Form, Joint, JointKind, RigidBody, Span, World};

const AREA: Need = Need::new(|x| x > 0.0 && x <= 1e12, "a positive area in m²");
const HALF_TURN: Need = Need::new(|x| x.abs() <= 180.0, "an angle from -180 to 180 degrees");
/// Largest component of a unit vector that counts as rounding error \[-\].
const ROUNDING: f64 = 1e-9;
/// Largest distance between the two points of a joint, over their distance from the origin \[-\].
const CLOSE: f64 = 1e-6;
const KINDS: &[&str] =
    &["hinge", "slider", "cylindrical", "universal", "ball", "lock", "distance", "actuator"];
/// Largest cosine of the angle between the two axes of a universal joint \[-\].
const SKEW: f64 = 1e-6;
/// Name of the ground in the list of bodies of a joint.
const GROUND: &str = "ground";

/// Slider: boundary that moves along an axis of the world.
pub struct Rail {
    /// Mass of the boundary, with all axes locked but that one.
    pub body: RigidBody,
    /// Direction of the axis in which drives push.
    pub axis: DVec3,
    /// Drives, and the time \[s\] at which each starts.
    pub drives: Vec<(f64, Drive)>,
    /// Area that a pressure acts on, if it is given as a number.
    pub area: Option<Area>,
}

/// Reads the motion of a slider with these surfaces. An area between walls is read later by [`areas`].
pub fn rail(table: &mut Table<'_>, surfaces: Option<&[(DVec3, DVec3, Form)]>) -> Option<Rail> {
    let mass = table.get("mass", number(MASS));
    let normal = match surfaces {
        Some([(_, normal, Form::Plane)]) => Some(*normal),
        _ => None,
    };
    let axis = table.get_or("axis", normal, direction);
    let (drives, area) = drives_and_area(table, JointKind::Slider, true);
    let is_right = |surfaces: &[(DVec3, DVec3, Form)]| {
        matches!(surfaces, [(_, _, Form::Plane | Form::Box { .. } | Form::Sphere { .. })])
    };
    if surfaces.is_some_and(|surfaces| !is_right(surfaces)) {
        table.problem(
            format!("`{}` slides, and its shape is neither a plane nor a solid box or sphere", table.name()),
            "use kind = \"plane\", kind = \"box\" with side = \"outside\", kind = \"sphere\", or another motion",
        );
    }
    let axis = axis?;
    let Some(index) = axis_of_world(axis) else {
        table.problem(
            format!("`{}` slides along {axis}, expected x, y or z", table.name()),
            "set `axis` to [1, 0, 0], [0, 1, 0] or [0, 0, 1], or to the reverse of one; along others a body goes that is dynamic and \
             has a joint of kind \"slider\"",
        );
        return None;
    };
    Some(Rail { body: RigidBody::on_rail(mass?, index), axis, drives: drives?, area })
}

/// Returns the axis of the world (0, 1, 2 for x, y, z) that a unit vector is parallel to, in either direction.
fn axis_of_world(direction: DVec3) -> Option<usize> {
    (0..3).find(|&index| direction[index].abs() > 1.0 - ROUNDING)
}

/// Reads `drive` and `area`. An area `between` walls is read later by [`areas`].
fn drives_and_area(
    table: &mut Table<'_>,
    kind: JointKind,
    between: bool,
) -> (Option<Vec<(f64, Drive)>>, Option<Area>) {
    let drives = table.maybe("drive", |node| drives(node, kind));
    if kind == JointKind::Hinge {
        return (if table.has("drive") { drives } else { Some(Vec::new()) }, None);
    }
    let is_between = between && table.node("area").is_some_and(|node| node.as_number().is_none());
    let area = if is_between { None } else { table.maybe("area", number(AREA)).map(Area::Fixed) };
    let presses = drives.iter().flatten().any(|(_, drive)| matches!(drive, Drive::Pressure(_)));
    if presses && !table.has("area") {
        let walls = match between {
            true => {
                ", or between walls, `area = { between = [[\"left\", \"right\"], [\"front\", \"back\"]] }`"
            }
            false => "",
        };
        table.missing("area", &format!("a pressure acts on an area: add `area = 0.01` [m²]{walls}"));
    }
    (if table.has("drive") { drives } else { Some(Vec::new()) }, area)
}

/// Reads one drive or a list of them.
fn drives(node: Node<'_>, kind: JointKind) -> Option<Vec<(f64, Drive)>> {
    by_start(node, "drives", |table| drive(table, kind))
}

/// Reads a drive and its start \[s\].
fn drive(table: &mut Table<'_>, kind: JointKind) -> Option<(f64, Drive)> {
    let start = table.or("start", 0.0, number(TIME));
    let turns = kind == JointKind::Hinge;
    let keys: &[&'static str] = match turns {
        true => &["torque", "velocity", "position_deg"],
        false => &["force", "pressure", "velocity", "position"],
    };
    let given: Vec<&str> = keys.iter().copied().filter(|key| table.has(key)).collect();
    let [key] = given[..] else {
        let (last, first) = keys.split_last().unwrap_or((&"", &[]));
        let example = match turns {
            true => {
                "torque = 10.0 [N m], velocity = 0.5 [rad/s], or position_deg = 30.0, with torque_limit [N m]"
            }
            false => "force = 10.0 [N], pressure = 100.0 [Pa], or velocity = 0.01 [m/s] with force_limit [N]",
        };
        table.problem(
            format!("`{}` must have one of `{}` and `{last}`", table.name(), first.join("`, `")),
            format!("for example {example}"),
        );
        table.leave_keys_unjudged();
        return None;
    };
    let drive = match key {
        "force" => Drive::Force(table.get("force", course)?),
        "torque" => Drive::Force(table.get("torque", course)?),
        "pressure" => Drive::Pressure(table.get("pressure", course)?),
        "velocity" => {
            let force_limit = limit(table, turns);
            Drive::Motor { velocity: table.get("velocity", course)?, force_limit: force_limit? }
        }
        _ => {
            let force_limit = limit(table, turns);
            let response_time = table.or("response_time", 0.05, number(DURATION));
            let position = match turns {
                true => table.get("position_deg", course)?.scaled(1f64.to_radians()),
                false => table.get("position", course)?,
            };
            Drive::Servo { position, response_time, force_limit: force_limit? }
        }
    };
    Some((start, drive))
}

/// Reads the largest force \[N\] or torque \[N m\] of a motor or servo.
fn limit(table: &mut Table<'_>, turns: bool) -> Option<f64> {
    let key = if turns { "torque_limit" } else { "force_limit" };
    if table.has(key) { table.get(key, number(POSITIVE)) } else { Some(f64::INFINITY) }
}

/// Reads a course over time: a number, or a table of times and values.
fn course(node: Node<'_>) -> Option<Course> {
    if !node.is_table() {
        return number(FINITE)(node).map(Course::Constant);
    }
    node.table(|table| {
        let (times, values) = over_time(table, ["value", "values"], number(FINITE))?;
        Some(Course::Table { times, values })
    })
}

/// Reads the areas of sliders that are given by pairs of walls. `names` are the names of all boundaries in the file; faulty boundaries
/// among them are not in the world.
pub fn areas(root: &mut Table<'_>, world: &mut World, names: &[String]) {
    let nodes = root.node("boundaries").and_then(|node| node.elements()).unwrap_or_default();
    for (node, name) in nodes.into_iter().zip(names) {
        let area = node.child("motion").and_then(|motion| motion.child("area"));
        let Some(area) = area.filter(|area| area.as_number().is_none()) else { continue };
        let Some(body) = world.boundaries.iter().position(|boundary| boundary.name == *name) else {
            continue;
        };
        let on_rail =
            |joint: &Joint| joint.kind == JointKind::Slider && joint.bodies == [None, Some(body as u32)];
        let Some(rail) = world.joints.iter().position(on_rail) else { continue };
        let along = world.joints[rail].anchors[0].orientation * DVec3::Z;
        let Some(axis) = axis_of_world(along) else { continue };
        let spans = area.table(|table| table.get("between", |node| around(node, axis, world, names)));
        if let Some(spans) = spans {
            world.joints[rail].area = Some(Area::Between(spans));
        }
    }
}

/// Reads two pairs of walls, one along each axis across `axis`.
fn around(node: Node<'_>, axis: usize, world: &World, names: &[String]) -> Option<[Span; 2]> {
    let spans = node.clone().list(|node| facing(node, world, names))?;
    let spans = <[Span; 2]>::try_from(spans).ok();
    let spans = spans.filter(|[one, other]| one.axis != other.axis && one.axis != axis && other.axis != axis);
    if spans.is_none() {
        let across: Vec<&str> = (0..3).filter(|other| *other != axis).map(|other| AXES[other]).collect();
        node.problem(
            format!("`{}` must be two pairs of walls", node.name()),
            format!("a slider along {} needs one pair along {}", AXES[axis], across.join(" and one along ")),
        );
    }
    spans
}

/// Reads the name of a boundary, one of `names`, valid or faulty.
fn named(node: Node<'_>, names: &[String]) -> Option<String> {
    let name = text(node.clone())?;
    if !names.contains(&name) {
        let known = names.iter().map(String::as_str);
        let message = format!("`{}`: there is no boundary \"{name}\"", node.name());
        node.problem_of(format!("boundary {name}"), message, suggest(&name, known));
    }
    Some(name)
}

/// Reads the names of two planes that face each other along x, y or z. `names` are the names of all boundaries in the file.
pub fn facing(node: Node<'_>, world: &World, names: &[String]) -> Option<Span> {
    let pair = node.clone().list(|node| named(node, names))?;
    let body = |name: &String| world.boundaries.iter().position(|boundary| boundary.name == *name);
    let bodies: Vec<usize> = pair.iter().filter_map(body).collect();
    // A wall that is itself faulty has been reported.
    if bodies.len() < pair.len() && !node.report.is_clean() {
        return None;
    }
    let span = match bodies[..] {
        [one, other] => world.span(one, other).or_else(|| world.span(other, one)),
        _ => None,
    };
    if span.is_none() {
        node.problem(
            format!("`{}` must be two planes that face each other along x, y or z", node.name()),
            "for example [\"left\", \"right\"], with normals [1, 0, 0] and [-1, 0, 0]",
        );
    }
    span
}

/// Reads one of `[[joints]]`; `index` is its place in the list, from 0, and `names` are the names of all boundaries in the file.
pub fn joint(
    table: &mut Table<'_>,
    index: usize,
    world: &World,
    names: &[String],
) -> Option<NamedElement<Joint>> {
    let name = table.or("name", format!("joint-{index}"), text);
    let name_span = table.node("name").map_or(table.span.clone(), |node| node.span);
    let value = parts(table, &name, world, names);
    Some(NamedElement { name, name_span, value })
}

fn parts(table: &mut Table<'_>, name: &str, world: &World, names: &[String]) -> Option<Joint> {
    let kind = match table.kind(KINDS)? {
        "hinge" => JointKind::Hinge,
        "slider" => JointKind::Slider,
        "cylindrical" => JointKind::Cylindrical,
        "universal" => JointKind::Universal,
        "ball" => JointKind::Ball,
        "lock" => JointKind::Lock,
        "distance" => JointKind::Distance,
        _ => JointKind::Actuator,
    };
    let bodies = table.get("bodies", |node| pair(node, world, names));
    let points = points(table, kind);
    let axes = match kind {
        JointKind::Hinge | JointKind::Slider | JointKind::Cylindrical => {
            table.get("axis", direction).map(|axis| [axis; 2])
        }
        JointKind::Universal => table.get("axes", crossed),
        _ => Some([DVec3::Z; 2]),
    };
    let compliance = match kind {
        JointKind::Actuator => 0.0,
        _ => table.or("compliance", 0.0, number(NOT_NEGATIVE)),
    };
    let angular_compliance = match kind {
        JointKind::Distance | JointKind::Actuator | JointKind::Ball => 0.0,
        _ => table.or("angular_compliance", 0.0, number(NOT_NEGATIVE)),
    };
    let damping_time = table.maybe("damping_time", number(NOT_NEGATIVE));
    let (drives, area) = match kind.has_position() {
        true => drives_and_area(table, kind, false),
        false => (Some(Vec::new()), None),
    };
    let range = range(table, kind);
    let restitution = restitution(table, kind);
    let initial_position = initial_position(table, kind);
    let (bodies, points, axes) = (bodies?, points?, axes?);
    let joint = match kind {
        JointKind::Universal => Joint::universal(world, name, bodies, points[0], axes),
        _ => Joint::new(world, kind, name, bodies, points, axes[0]),
    };
    let joint = Joint {
        compliance,
        angular_compliance,
        damping_time,
        drives: drives?,
        area,
        range: range?,
        restitution,
        ..joint.counted_from(initial_position)
    };
    check(table, &joint, world).then_some(joint)
}

/// Reads the two bodies of a joint.
fn pair(node: Node<'_>, world: &World, names: &[String]) -> Option<[Option<u32>; 2]> {
    let pair = node.clone().list(|node| match node.text() {
        Some(GROUND) if names.iter().any(|name| name == GROUND) => {
            node.problem(
                format!(
                    "`{}` is \"{GROUND}\", which does not move, and a boundary is called so",
                    node.name()
                ),
                "give the boundary another name",
            );
            None
        }
        Some(GROUND) => Some(GROUND.to_owned()),
        _ => named(node, names),
    })?;
    let Ok(pair) = <[String; 2]>::try_from(pair) else {
        node.problem(
            format!("`{}` must be two names of boundaries", node.name()),
            "for example [\"boom\", \"stick\"], or [\"ground\", \"pendulum\"]",
        );
        return None;
    };
    if pair[0] == pair[1] {
        node.problem(
            format!("`{}` joins \"{}\" to itself", node.name(), pair[0]),
            "name two bodies, or \"ground\" and one",
        );
        return None;
    }
    let body = |name: &String| world.boundaries.iter().position(|boundary| boundary.name == *name);
    let [a, b] = pair.each_ref().map(|name| (name != GROUND).then(|| body(name).map(|body| body as u32)));
    // A boundary that is itself faulty has been reported.
    if a == Some(None) || b == Some(None) {
        return None;
    }
    let bodies = [a.flatten(), b.flatten()];
    if !bodies.into_iter().flatten().any(|body| world.bodies.is_dynamic(body as usize)) {
        node.problem(
            format!("neither \"{}\" nor \"{}\" is dynamic", pair[0], pair[1]),
            "give one of them motion = { kind = \"dynamic\" }; a joint moves nothing else",
        );
        return None;
    }
    Some(bodies)
}

/// Reads the axes of a universal joint on its first and second body.
fn crossed(node: Node<'_>) -> Option<[DVec3; 2]> {
    let axes = <[DVec3; 2]>::try_from(node.clone().list(direction)?).ok();
    let axes = axes.filter(|[first, second]| first.dot(*second).abs() < SKEW);
    if axes.is_none() {
        node.problem(
            format!("`{}` must be two axes that are perpendicular to each other", node.name()),
            "the first on the first body, the second on the second, for example [[1, 0, 0], [0, 1, 0]]",
        );
    }
    // The rest is rounding of the file.
    axes.map(|[first, second]| [first, second.reject_from_normalized(first).normalize()])
}

/// Reads the points of a joint on its two bodies \[m\].
fn points(table: &mut Table<'_>, kind: JointKind) -> Option<[DVec3; 2]> {
    let spans = matches!(kind, JointKind::Distance | JointKind::Actuator);
    if !spans && !table.has("points") {
        return table.get("point", vector).map(|point| [point; 2]);
    }
    let points = table.get("points", |node| {
        let points = <[DVec3; 2]>::try_from(node.clone().list(vector)?).ok();
        if points.is_none() {
            node.problem(
                format!("`{}` must be two places", node.name()),
                "one on each body, for example [[0, 0, 1], [0, 0, 2]]",
            );
        }
        points
    })?;
    let apart = points[0].distance(points[1]);
    let reach = points[0].length().max(points[1].length()).max(1e-3);
    if spans && apart <= CLOSE * reach {
        table.problem(
            format!("the two places of `{}` coincide, and it acts along the line between them", table.name()),
            "move one of `points`",
        );
        return None;
    }
    if !spans && apart > CLOSE * reach {
        table.problem(
            format!("the two places of `{}` lie {apart:.3e} m apart", table.name()),
            "a joint starts where it belongs: move one of its bodies, or one of `points`",
        );
        return None;
    }
    Some(points)
}

/// Reads `range` or `range_deg` of a joint that has a position.
#[allow(clippy::option_option, reason = "a wrong range has been reported, a joint without one is right")]
fn range(table: &mut Table<'_>, kind: JointKind) -> Option<Option<[f64; 2]>> {
    let (key, unit) = match kind {
        JointKind::Hinge => ("range_deg", 1f64.to_radians()),
        JointKind::Slider | JointKind::Actuator | JointKind::Cylindrical => ("range", 1.0),
        _ => return Some(None),
    };
    if !table.has(key) {
        return Some(None);
    }
    table.get(key, |node| {
        let range = <[f64; 2]>::try_from(node.clone().list(number(FINITE))?).ok();
        let range = range.filter(|[low, high]| low < high);
        if range.is_none() {
            node.problem(
                format!("`{}` must be a lower and a higher end", node.name()),
                "for example [-30.0, 90.0]",
            );
        }
        Some(Some(range?.map(|end| unit * end)))
    })
}

/// Reads `initial_position` \[m\] or `initial_position_deg`: the position that a joint has at the start.
fn initial_position(table: &mut Table<'_>, kind: JointKind) -> f64 {
    match kind {
        JointKind::Hinge => table.or("initial_position_deg", 0.0, number(HALF_TURN)).to_radians(),
        JointKind::Slider | JointKind::Cylindrical => table.or("initial_position", 0.0, number(FINITE)),
        _ => 0.0,
    }
}

/// Reads the restitution of the ends of a range, where there is a range.
fn restitution(table: &mut Table<'_>, kind: JointKind) -> f64 {
    if !kind.has_position() {
        return 0.0;
    }
    let range = if kind == JointKind::Hinge { "range_deg" } else { "range" };
    if table.has("restitution") && !table.has(range) {
        table.problem(
            format!("`{}` has a restitution and no range, at whose ends it would bounce", table.name()),
            format!("add `{range} = [...]`, or leave out `restitution`"),
        );
    }
    if table.has("restitution") || table.has(range) {
        table.or("restitution", 0.0, number(SHARE))
    } else {
        0.0
    }
}

/// Checks that a joint starts within its range and is no longer than half a period.
fn check(table: &mut Table<'_>, joint: &Joint, world: &World) -> bool {
    let reach = |body: usize| joint.bodies[body].map_or(DVec3::ZERO, |_| joint.anchors[body].place);
    let longest = joint.length.max(reach(0).length()).max(reach(1).length());
    let is_short = |period: f64| period > 0.0 && longest > 0.5 * period;
    if let Some(axis) = (0..3).find(|&axis| is_short(world.periodic.length[axis])) {
        table.problem(
            format!(
                "`{}` reaches {longest} m from a body or from end to end, more than half the period along {}",
                table.name(),
                AXES[axis]
            ),
            format!(
                "make `periodic.{}` longer, or the joint shorter: its nearest image would act",
                AXES[axis]
            ),
        );
        return false;
    }
    let position = world.joint_position(joint, 0.0);
    let slack = CLOSE * joint.length.max(1e-3);
    let Some([low, high]) = joint.range else { return true };
    if position < low - slack || position > high + slack {
        let (unit, factor) =
            if joint.kind == JointKind::Hinge { ("°", 1f64.to_degrees()) } else { (" m", 1.0) };
        table.problem(
            format!(
                "`{}` stands at {}{unit} at the start, outside of its range of {} to {}{unit}",
                table.name(),
                factor * position,
                factor * low,
                factor * high
            ),
            "move a body or widen the range; a hinge and a slider start at their initial position, which is 0 unless it is given, an actuator at the distance \
             of its places",
        );
        return false;
    }
    true
}

/// Reports drives that cannot move their joint.
pub fn check_drives(world: &World, spans: &[std::ops::Range<usize>], first: usize, report: &ReadReport) {
    let holds = |joint: &Joint| joint.drives.iter().any(|(_, drive)| drive.holds());
    if !world.joints[first..].iter().any(holds) {
        return;
    }
    for machine in world.machines_and_freedom() {
        for joint in machine.stuck {
            let Some(span) = joint.checked_sub(first).and_then(|own| spans.get(own)) else { continue };
            report.problem(
                span,
                format!(
                    "the drive of \"{}\" cannot move it: its position follows from other joints and drives, as they stand",
                    world.joints[joint].name
                ),
                "two drives on one axis, a loop of joints that is rigid, or a linkage at its dead centre: leave out a drive, or \
                 give a joint more freedom",
            );
        }
    }
}
