//! Links and joints of a robot file, as they stand in it.

use std::ops::Range;

use glam::{DMat3, DQuat, DVec3};
use roxmltree::Document;

use super::element::{UrdfElement, UrdfReading};
use crate::error::suggest;

/// Kinds of joints.
const KINDS: [&str; 6] = ["revolute", "continuous", "prismatic", "fixed", "floating", "planar"];
/// Deviation of the length of an axis from 1 that is rounding \[-\].
const ROUNDED: f64 = 1e-3;

/// Position \[m\] and rotation of a frame in another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UrdfPose {
    /// Origin of the frame \[m\].
    pub position: DVec3,
    /// Rotation from its axes to those of the other.
    pub turn: DQuat,
}

impl UrdfPose {
    /// The frame itself.
    pub const NONE: UrdfPose = UrdfPose { position: DVec3::ZERO, turn: DQuat::IDENTITY };

    /// Pose of a frame that is given in this one.
    #[must_use]
    pub fn then(&self, inner: &UrdfPose) -> UrdfPose {
        let position = self.position + self.turn * inner.position;
        UrdfPose { position, turn: (self.turn * inner.turn).normalize() }
    }

    /// Reads `<origin>`: `rpy` are angles about the fixed axes x, y and z, in this order.
    fn read(reading: &mut UrdfReading, element: &UrdfElement<'_>) -> UrdfPose {
        let Some(origin) = element.child(reading, "origin") else { return UrdfPose::NONE };
        let position = origin.vector(reading, "xyz", DVec3::ZERO);
        let [roll, pitch, yaw] = origin.vector(reading, "rpy", DVec3::ZERO).to_array();
        if let Some((_, span)) = origin.attribute("quat_xyzw") {
            let help = "write `rpy`, angles about the fixed axes x, y and z [rad]";
            reading.wrong(&span, "`quat_xyzw` of <origin>, expected `rpy`", help);
        }
        let turn = DQuat::from_rotation_z(yaw) * DQuat::from_rotation_y(pitch) * DQuat::from_rotation_x(roll);
        UrdfPose { position, turn }
    }
}

/// Mass of a link.
#[derive(Debug, Clone, Copy)]
pub struct UrdfInertial {
    /// Mass \[kg\].
    pub mass: f64,
    /// Frame about whose origin, the centre of mass, and along whose axes the tensor is given, in the frame of the link.
    pub origin: UrdfPose,
    /// Inertia tensor \[kg m²\].
    pub tensor: DMat3,
}

/// Form of a collision geometry, about the origin of its frame; cylinders and capsules are along z.
#[derive(Debug, Clone, PartialEq)]
pub enum UrdfForm {
    /// Box of this full size \[m\].
    Box(DVec3),
    /// Cylinder.
    Cylinder {
        /// Radius \[m\].
        radius: f64,
        /// Length \[m\].
        length: f64,
    },
    /// Sphere of this radius \[m\].
    Sphere(f64),
    /// Cylinder with a half ball at each end.
    Capsule {
        /// Radius \[m\].
        radius: f64,
        /// Length of the cylinder \[m\].
        length: f64,
    },
    /// File of triangles.
    Mesh {
        /// Its name, as it stands there.
        file: String,
        /// Factors of x, y and z \[-\].
        scale: DVec3,
    },
}

/// Collision geometry of a link.
#[derive(Debug, Clone)]
pub struct UrdfCollision {
    /// Place in the file.
    pub span: Range<usize>,
    /// Frame in that of the link.
    pub origin: UrdfPose,
    /// Form.
    pub form: UrdfForm,
}

/// Link: a rigid part.
#[derive(Debug, Clone)]
pub struct UrdfLink {
    /// Name.
    pub name: String,
    /// Place in the file.
    pub span: Range<usize>,
    /// Mass; `None` for none and for 0 kg.
    pub inertial: Option<UrdfInertial>,
    /// Collision geometries.
    pub collisions: Vec<UrdfCollision>,
}

/// Kind of a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrdfJointKind {
    /// Turns about its axis.
    Turns,
    /// Slides along its axis.
    Slides,
    /// Does not move.
    Fixed,
    /// Moves freely.
    Floating,
    /// Slides in the plane across its axis, and turns about it.
    Planar,
}

/// Position of a joint as that of another one: `factor` times it, plus `offset`.
#[derive(Debug, Clone)]
pub struct UrdfMimic {
    /// Name of the other joint.
    pub joint: String,
    /// Factor \[-\].
    pub factor: f64,
    /// Offset \[m, rad\].
    pub offset: f64,
    /// Place in the file.
    pub span: Range<usize>,
}

/// Joint between two links.
#[derive(Debug, Clone)]
pub struct UrdfJoint {
    /// Name.
    pub name: String,
    /// Place in the file.
    pub span: Range<usize>,
    /// Kind.
    pub kind: UrdfJointKind,
    /// Name of the parent link, and its place in the file.
    pub parent: (String, Range<usize>),
    /// Name of the child link, and its place in the file.
    pub child: (String, Range<usize>),
    /// Frame of the joint, which is that of the child where the position is 0, in the frame of the parent.
    pub origin: UrdfPose,
    /// Axis in the frame of the joint, of length 1.
    pub axis: DVec3,
    /// Lower and upper limit of the position \[m, rad\].
    pub range: Option<[f64; 2]>,
    /// Largest force of its drive \[N, N m\].
    pub effort: Option<f64>,
    /// Largest speed of its drive \[m/s, rad/s\].
    pub velocity: Option<f64>,
    /// Dry friction \[N, N m\].
    pub friction: f64,
    /// Viscous damping \[N s/m, N m s/rad\].
    pub damping: f64,
    /// Joint that it follows.
    pub mimic: Option<UrdfMimic>,
}

impl UrdfJoint {
    /// Pose of the child in the frame of the parent at a position \[m, rad\].
    pub fn at(&self, position: f64) -> UrdfPose {
        let motion = match self.kind {
            UrdfJointKind::Turns => {
                UrdfPose { turn: DQuat::from_axis_angle(self.axis, position), ..UrdfPose::NONE }
            }
            UrdfJointKind::Slides => UrdfPose { position: position * self.axis, ..UrdfPose::NONE },
            UrdfJointKind::Fixed | UrdfJointKind::Floating | UrdfJointKind::Planar => UrdfPose::NONE,
        };
        self.origin.then(&motion)
    }
}

/// Links and joints of a robot.
#[derive(Debug, Clone, Default)]
pub struct UrdfRobot {
    /// Name.
    pub name: String,
    /// Links.
    pub links: Vec<UrdfLink>,
    /// Joints.
    pub joints: Vec<UrdfJoint>,
}

impl UrdfRobot {
    /// Reads a file; mistakes and what is not taken go into `reading`.
    pub fn read(reading: &mut UrdfReading, text: &str) -> UrdfRobot {
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let at = error.pos();
                let lines = text.split_inclusive('\n').take(at.row as usize - 1);
                let start = lines.map(str::len).sum::<usize>() + at.col as usize - 1;
                let message = format!("the file is not whole XML: {error}");
                reading.wrong(&(start..start + 1), message, "correct it, or write the file anew");
                return UrdfRobot::default();
            }
        };
        let root = UrdfElement(document.root_element());
        if !is_plain_urdf(reading, &root) {
            return UrdfRobot::default();
        }
        let name = root.attribute("name").map_or(String::new(), |(name, _)| name.to_owned());
        root.tell_others(reading, &["link", "joint", "material"], "the robot");
        let links = root.all("link").filter_map(|element| link(reading, &element)).collect();
        let joints = root.all("joint").filter_map(|element| joint(reading, &element)).collect();
        let has_pictures = root.all("link").flat_map(|link| link.all("visual")).next();
        if let Some(visual) = has_pictures {
            reading.differs(
                &visual.span(),
                "<visual>: pictures show the collision geometry, which grains touch",
            );
        }
        UrdfRobot { name, links, joints }
    }
}

/// Whether the file is URDF without macros.
fn is_plain_urdf(reading: &mut UrdfReading, root: &UrdfElement<'_>) -> bool {
    let is_macro = |element: &UrdfElement<'_>| {
        element.0.tag_name().namespace().is_some_and(|namespace| namespace.contains("xacro"))
    };
    let mut elements = root.0.descendants().filter(roxmltree::Node::is_element).map(UrdfElement);
    if let Some(found) = elements.find(is_macro) {
        let message = format!("<xacro:{}> is a macro, expected plain URDF", found.tag());
        reading.wrong(&found.span(), message, "expand macros first: xacro robot.urdf.xacro > robot.urdf");
        return false;
    }
    let help = match root.tag() {
        "robot" => return true,
        "mujoco" => "MJCF is not read: export the robot as URDF",
        "sdf" => "SDF is not read: export the model as URDF",
        _ => "robots come as URDF, which begins with <robot name=\"...\">",
    };
    reading.wrong(&root.span(), format!("the file begins with <{}>, expected <robot>", root.tag()), help);
    false
}

fn link(reading: &mut UrdfReading, element: &UrdfElement<'_>) -> Option<UrdfLink> {
    let name = element.text(reading, "name")?.0.to_owned();
    let of = format!("link `{name}`");
    element.tell_others(reading, &["inertial", "collision", "visual"], &of);
    let inertial =
        element.child(reading, "inertial").and_then(|inertial| read_inertial(reading, &inertial, &of));
    let collisions: Vec<UrdfCollision> =
        element.all("collision").filter_map(|element| collision(reading, &element)).collect();
    if element.all("collision").next().is_none() && element.all("visual").next().is_some() {
        let text = format!("<visual> of {of}, which has no <collision>: nothing touches it");
        reading.not_taken(&element.span(), text);
    }
    Some(UrdfLink { name, span: element.span(), inertial, collisions })
}

fn read_inertial(reading: &mut UrdfReading, element: &UrdfElement<'_>, of: &str) -> Option<UrdfInertial> {
    let mut needed = |tag: &'static str| {
        let found = element.child(reading, tag);
        if found.is_none() {
            let message = format!("<inertial> of {of} has no <{tag}>, expected one");
            reading.wrong(&element.span(), message, format!("add <{tag}>, or leave out <inertial>"));
        }
        found
    };
    let (mass, inertia) = (needed("mass"), needed("inertia"));
    let (mass_element, inertia) = (mass?, inertia?);
    let mass = mass_element.number(reading, "value")?;
    let mut number = |name: &str| inertia.number(reading, name);
    let (xx, xy, xz) = (number("ixx"), number("ixy"), number("ixz"));
    let (yy, yz, zz) = (number("iyy"), number("iyz"), number("izz"));
    let (xx, xy, xz, yy, yz, zz) = (xx?, xy?, xz?, yy?, yz?, zz?);
    let origin = UrdfPose::read(reading, element);
    if mass < 0.0 {
        let message = format!("{of} has a mass of {mass} kg, expected 0 or more");
        reading.wrong(&mass_element.span(), message, "correct it");
    }
    // Elements of the tensor: `ixy` is -∫ x y dm.
    let tensor = DMat3::from_cols_array_2d(&[[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]);
    (mass > 0.0).then_some(UrdfInertial { mass, origin, tensor })
}

fn collision(reading: &mut UrdfReading, element: &UrdfElement<'_>) -> Option<UrdfCollision> {
    let origin = UrdfPose::read(reading, element);
    let wrong = |reading: &mut UrdfReading, at: &UrdfElement<'_>, found: &str| {
        let message = format!("{found}, expected <box>, <cylinder>, <sphere>, <capsule> or <mesh>");
        reading.wrong(&at.span(), message, "use one of these, or leave the <collision> out");
    };
    let Some(geometry) = element.child(reading, "geometry") else {
        wrong(reading, element, "<collision> has no <geometry>");
        return None;
    };
    let Some(form) = geometry.children().next() else {
        wrong(reading, &geometry, "<geometry> is empty");
        return None;
    };
    let form = match form.tag() {
        "box" => UrdfForm::Box(form.lengths(reading, "size")?),
        "sphere" => UrdfForm::Sphere(form.length(reading, "radius")?),
        tag @ ("cylinder" | "capsule") => {
            let (radius, length) = (form.length(reading, "radius"), form.length(reading, "length"));
            let (radius, length) = (radius?, length?);
            match tag {
                "cylinder" => UrdfForm::Cylinder { radius, length },
                _ => UrdfForm::Capsule { radius, length },
            }
        }
        "mesh" => UrdfForm::Mesh {
            file: form.text(reading, "filename")?.0.to_owned(),
            scale: form.vector(reading, "scale", DVec3::ONE),
        },
        other => {
            wrong(reading, &form, &format!("<{other}>"));
            return None;
        }
    };
    Some(UrdfCollision { span: element.span(), origin, form })
}

fn joint(reading: &mut UrdfReading, element: &UrdfElement<'_>) -> Option<UrdfJoint> {
    let name = element.text(reading, "name")?.0.to_owned();
    let of = format!("joint `{name}`");
    let known = ["origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration"];
    element.tell_others(reading, &known, &of);
    let (word, span) = element.text(reading, "type")?;
    if !KINDS.contains(&word) {
        let message = format!("{of} is \"{word}\", expected {}", KINDS.join(", "));
        reading.wrong(&span, message, suggest(word, KINDS));
        return None;
    }
    let mut end = |tag: &'static str| {
        let Some(end) = element.child(reading, tag) else {
            let message = format!("{of} has no <{tag}>, expected one");
            reading.wrong(&element.span(), message, format!("add <{tag} link=\"...\"/>"));
            return None;
        };
        end.text(reading, "link").map(|(link, span)| (link.to_owned(), span))
    };
    let (parent, child) = (end("parent"), end("child"));
    let (parent, child) = (parent?, child?);
    let kind = match word {
        "revolute" | "continuous" => UrdfJointKind::Turns,
        "prismatic" => UrdfJointKind::Slides,
        "fixed" => UrdfJointKind::Fixed,
        "floating" => UrdfJointKind::Floating,
        _ => UrdfJointKind::Planar,
    };
    let moves = !matches!(kind, UrdfJointKind::Fixed | UrdfJointKind::Floating);
    let limit = element.child(reading, "limit").filter(|_| moves);
    let dynamics = element.child(reading, "dynamics").filter(|_| moves);
    let mut of_limit = |key: &str| limit.and_then(|limit| limit.maybe(reading, key));
    let (effort, velocity) = (of_limit("effort"), of_limit("velocity"));
    let mut of_dynamics =
        |key: &str| dynamics.and_then(|dynamics| dynamics.maybe(reading, key)).unwrap_or(0.0);
    let (friction, damping) = (of_dynamics("friction"), of_dynamics("damping"));
    let joint = UrdfJoint {
        kind,
        origin: UrdfPose::read(reading, element),
        axis: if moves { axis(reading, element, &of)? } else { DVec3::X },
        range: range(reading, element, word, &of),
        mimic: mimic(reading, element),
        span: element.span(),
        name,
        parent,
        child,
        effort: effort.filter(|effort| *effort > 0.0),
        velocity: velocity.filter(|velocity| *velocity > 0.0),
        friction,
        damping,
    };
    Some(without_equal_limits(reading, joint))
}

/// Reads the axis of a joint in its frame; default x.
fn axis(reading: &mut UrdfReading, element: &UrdfElement<'_>, of: &str) -> Option<DVec3> {
    let Some(axis) = element.child(reading, "axis") else { return Some(DVec3::X) };
    let given = axis.vector(reading, "xyz", DVec3::X);
    let unit = given.try_normalize();
    match unit {
        None => reading.wrong(
            &axis.span(),
            format!("the axis of {of} is {given}, expected a direction"),
            "such as xyz=\"0 0 1\"",
        ),
        Some(_) if (given.length() - 1.0).abs() > ROUNDED => reading.differs(
            &axis.span(),
            format!("the axis of {of} has the length {:.4}: its direction alone counts", given.length()),
        ),
        Some(_) => {}
    }
    unit
}

/// Reads the limits of the position of a joint; equal ones count, and are told apart later.
fn range(reading: &mut UrdfReading, element: &UrdfElement<'_>, kind: &str, of: &str) -> Option<[f64; 2]> {
    let limit = element.child(reading, "limit");
    let ends = limit.map(|limit| ["lower", "upper"].map(|key| limit.maybe(reading, key)));
    match (kind, limit.zip(ends)) {
        ("revolute" | "prismatic", None) => {
            let text =
                format!("{of} has no <limit> and moves freely, as in MuJoCo and Drake; others refuse it");
            reading.differs(&element.span(), text);
            None
        }
        ("revolute" | "prismatic", Some((limit, [None, None]))) => {
            let text = format!(
                "the limits of {of} have no `lower` and `upper`: it moves freely, as in MuJoCo and Drake; \
                 in SDF it is locked"
            );
            reading.differs(&limit.span(), text);
            None
        }
        ("revolute" | "prismatic", Some((limit, [lower, upper]))) => {
            let [lower, upper] = [lower, upper].map(|end| end.unwrap_or(0.0));
            if lower > upper {
                let message = format!("{of} has limits from {lower} to {upper}, expected ascending ones");
                reading.wrong(
                    &limit.span(),
                    message,
                    "exchange them; a joint without limits is continuous, or has none of the two",
                );
            }
            Some([lower, upper])
        }
        ("continuous", Some((limit, [lower, upper])))
            if [lower, upper].into_iter().flatten().any(|end| end != 0.0) =>
        {
            let text = format!("limits of {of}: it is continuous; some readers bound it");
            reading.not_taken(&limit.span(), text);
            None
        }
        _ => None,
    }
}

fn mimic(reading: &mut UrdfReading, element: &UrdfElement<'_>) -> Option<UrdfMimic> {
    let mimic = element.child(reading, "mimic")?;
    let joint = mimic.text(reading, "joint")?.0.to_owned();
    let factor = mimic.maybe(reading, "multiplier").unwrap_or(1.0);
    let offset = mimic.maybe(reading, "offset").unwrap_or(0.0);
    Some(UrdfMimic { joint, factor, offset, span: mimic.span() })
}

/// A joint whose limits are equal does not move: it is fixed there.
fn without_equal_limits(reading: &mut UrdfReading, joint: UrdfJoint) -> UrdfJoint {
    match joint.range {
        Some([lower, upper]) if lower == upper => {
            let text = format!("both limits of joint `{}` are {lower}: it is fixed there", joint.name);
            reading.differs(&joint.span, text);
            let origin = joint.at(lower);
            UrdfJoint { origin, kind: UrdfJointKind::Fixed, range: None, mimic: None, ..joint }
        }
        _ => joint,
    }
}
