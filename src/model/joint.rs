//! Joints \[E11\]: constraints between two bodies, or a body and the ground, that leave some of their relative motions free.
//!
//! A joint has a place and an axis on each of its two bodies. Its position is that of the second body relative to the first: the angle
//! about the axis of a hinge, the distance along the axis of a slider or cylindrical joint, the distance between the two places of an
//! actuator.

pub mod freedom;
pub mod tension;

use glam::{DMat3, DQuat, DVec3};

use super::drive::{Area, Command, Drive};
use super::{RigidBody, World};

/// Kind of a joint, by the relative motion that it leaves free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum JointKind {
    /// Rotation about its axis.
    Hinge,
    /// Translation along its axis.
    Slider,
    /// All rotations.
    Ball,
    /// No motion.
    Lock,
    /// All motions that keep the distance between its two places: a rod.
    Distance,
    /// All motions; its drive and its range act along the line between its two places, as in a hydraulic cylinder.
    Actuator,
    /// Translation along its axis and rotation about it.
    Cylindrical,
    /// Rotations about two axes, one on each body, that stay perpendicular to each other: a Hooke joint.
    Universal,
}

impl JointKind {
    /// Number of rows that hold a translation, and of rows that hold a rotation.
    pub fn held_rows(self) -> [usize; 2] {
        match self {
            JointKind::Hinge => [3, 2],
            JointKind::Slider => [2, 3],
            JointKind::Ball => [3, 0],
            JointKind::Lock => [3, 3],
            JointKind::Distance => [1, 0],
            JointKind::Actuator => [0, 0],
            JointKind::Cylindrical => [2, 2],
            JointKind::Universal => [3, 1],
        }
    }

    /// Whether joints of this kind have a position, which may be driven and limited.
    pub fn has_position(self) -> bool {
        matches!(self, JointKind::Hinge | JointKind::Slider | JointKind::Actuator | JointKind::Cylindrical)
    }

    /// Name, as in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            JointKind::Hinge => "hinge",
            JointKind::Slider => "slider",
            JointKind::Ball => "ball",
            JointKind::Lock => "lock",
            JointKind::Distance => "distance",
            JointKind::Actuator => "actuator",
            JointKind::Cylindrical => "cylindrical",
            JointKind::Universal => "universal",
        }
    }
}

/// Place and axes of a joint on one of its bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Anchor {
    /// Place in the frame of the body \[m\]; on the ground, in the world frame.
    pub place: DVec3,
    /// Rotation from the axes of the joint to those of the body; z of the joint is the axis of its free rotation or translation. The
    /// axes of a universal joint are z on the first body and x on the second.
    pub orientation: DQuat,
}

/// A joint between two bodies, or a body and the ground.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Joint {
    /// Name, for results and messages.
    pub name: String,
    /// Kind of the joint.
    pub kind: JointKind,
    /// Its two bodies; `None` for the ground.
    pub bodies: [Option<u32>; 2],
    /// Place and axes of the joint on each body.
    pub anchors: [Anchor; 2],
    /// Compliance of the translations that the joint holds \[m/N\]; 0: rigid.
    pub compliance: f64,
    /// Compliance of the rotations that the joint holds \[rad/(N m)\]; 0: rigid.
    pub angular_compliance: f64,
    /// Time within which a deviation decays \[s\]; `None`: two substeps.
    pub damping_time: Option<f64>,
    /// Range of the position: its lower and upper limit \[m, rad\].
    pub range: Option<[f64; 2]>,
    /// Restitution of the ends of the range, 0 to 1 \[-\]: the speed after a rebound over the speed before it.
    pub restitution: f64,
    /// Drives with their start times \[s\], in ascending order. Before the first start the joint is not driven.
    pub drives: Vec<(f64, Drive)>,
    /// Area that a pressure acts on, if given.
    pub area: Option<Area>,
    /// Distance between the places of a `Distance` joint \[m\].
    pub length: f64,
}

/// Position of a joint, and its forces in the last substep.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct JointState {
    /// Position \[m, rad\]; an angle is counted beyond a whole turn. 0 for a ball joint and a lock.
    pub position: f64,
    /// Force of the drive in the last substep \[N, N m\].
    pub drive: f64,
    /// Force of the limits in the last substep, positive towards larger positions \[N, N m\].
    pub limit: f64,
    /// Total force of the joint on its second body in the last substep \[N\].
    pub force: DVec3,
    /// Total torque on its second body about the place of the joint in the last substep \[N m\].
    pub torque: DVec3,
}

/// Places, arms and axes of a joint in the world, for the present poses of its bodies.
#[derive(Debug, Clone, Copy)]
pub struct JointPose {
    /// Its places on both bodies \[m\].
    pub points: [DVec3; 2],
    /// Arms: vectors from the centres of the bodies to those places \[m\].
    pub arms: [DVec3; 2],
    /// Rotations from the axes of the joint on both bodies to those of the world.
    pub turns: [DQuat; 2],
}

impl JointPose {
    /// Vector from the place on the first body to that on the second \[m\].
    pub fn gap(&self) -> DVec3 {
        self.points[1] - self.points[0]
    }

    /// Axis of the joint, on the first body.
    pub fn axis(&self) -> DVec3 {
        self.turns[0] * DVec3::Z
    }

    /// Direction from the first place to the second; the axis if the places coincide.
    pub fn line(&self) -> DVec3 {
        self.gap().try_normalize().unwrap_or(self.axis())
    }

    /// Rotation of the second body relative to the first, as a rotation vector \[rad\].
    pub fn turn(&self) -> DVec3 {
        let turn = self.turns[1] * self.turns[0].conjugate();
        // q and -q are the same rotation: take the one with the smaller angle.
        (if turn.w < 0.0 { -turn } else { turn }).to_scaled_axis()
    }

    /// Angle of the second body relative to the first about the axis, within half a turn \[rad\].
    fn angle(&self) -> f64 {
        let turn = self.turns[0].conjugate() * self.turns[1];
        let angle = 2.0 * turn.z.atan2(turn.w);
        angle - std::f64::consts::TAU * (angle / std::f64::consts::TAU).round()
    }
}

/// A joint row: one relative motion of the two bodies, a translation or a rotation, which a joint holds, drives or limits.
#[derive(Debug, Clone, Copy)]
pub struct JointRow {
    /// Direction of a force on the second body; 0 for a rotation.
    pub direction: DVec3,
    /// Lever of that force on each body, arm × direction \[m\]; for a rotation, its axis.
    pub levers: [DVec3; 2],
    /// Deviation from where the joint holds the bodies \[m, rad\].
    pub off: f64,
}

impl JointRow {
    fn along(direction: DVec3, arms: [DVec3; 2], off: f64) -> JointRow {
        JointRow { direction, levers: arms.map(|arm| arm.cross(direction)), off }
    }

    fn about(axis: DVec3, off: f64) -> JointRow {
        JointRow { direction: DVec3::ZERO, levers: [axis; 2], off }
    }

    /// Whether the row is a rotation.
    pub fn is_turn(&self) -> bool {
        self.direction == DVec3::ZERO
    }
}

impl Joint {
    /// Makes a rigid joint without drive and range, from its places on its two bodies and its axis in the world. The places coincide,
    /// unless the joint keeps or drives a distance between them.
    pub fn new(
        world: &World,
        kind: JointKind,
        name: &str,
        bodies: [Option<u32>; 2],
        points: [DVec3; 2],
        axis: DVec3,
    ) -> Joint {
        Joint::in_frame(
            world,
            kind,
            name,
            bodies,
            points,
            DQuat::from_rotation_arc(DVec3::Z, axis.normalize()),
        )
    }

    /// Makes a universal joint at a point, from its axes on its first and second body, which are perpendicular.
    pub fn universal(
        world: &World,
        name: &str,
        bodies: [Option<u32>; 2],
        point: DVec3,
        [first, second]: [DVec3; 2],
    ) -> Joint {
        let frame = DMat3::from_cols(second, first.cross(second), first);
        Joint::in_frame(world, JointKind::Universal, name, bodies, [point; 2], DQuat::from_mat3(&frame))
    }

    /// Makes a joint with the rotation `turn` from its axes to those of the world.
    fn in_frame(
        world: &World,
        kind: JointKind,
        name: &str,
        bodies: [Option<u32>; 2],
        points: [DVec3; 2],
        turn: DQuat,
    ) -> Joint {
        let anchor = |body: Option<u32>, point: DVec3| {
            let (centre, orientation) = world.frame_of(body);
            let back = orientation.conjugate();
            let arm = body.map_or(point, |_| world.periodic.separation(centre, point));
            Anchor { place: back * arm, orientation: (back * turn).normalize() }
        };
        Joint {
            name: name.to_owned(),
            kind,
            bodies,
            anchors: [anchor(bodies[0], points[0]), anchor(bodies[1], points[1])],
            compliance: 0.0,
            angular_compliance: 0.0,
            damping_time: None,
            range: None,
            restitution: 0.0,
            drives: Vec::new(),
            area: None,
            length: points[0].distance(points[1]),
        }
    }

    /// Returns the joint with the zero of its position moved, so that its position \[m, rad\] is now larger by `shift`; an angle is within
    /// half a turn then.
    #[must_use]
    pub fn counted_from(mut self, shift: f64) -> Joint {
        match self.kind {
            JointKind::Hinge => {
                let turn = DQuat::from_rotation_z(shift);
                self.anchors[1].orientation = (self.anchors[1].orientation * turn).normalize();
            }
            JointKind::Slider | JointKind::Cylindrical => {
                let along = self.anchors[0].orientation * DVec3::Z;
                self.anchors[0].place -= shift * along;
            }
            _ => {}
        }
        self
    }

    /// Command of the drive that acts in the substep of `h` \[s\] that ends at `end` \[s\]; `None` before the first start.
    pub fn command(&self, end: f64, h: f64) -> Option<Command> {
        // Starts are compared with the middle of the substep, so that rounding of the time does not decide which drive acts.
        let begun = self.drives.partition_point(|(start, _)| *start <= end - 0.5 * h);
        let (_, drive) = &self.drives[begun.checked_sub(1)?];
        Some(drive.command(end, h, self.area))
    }

    /// Present area that a pressure acts on \[m²\]; 0 if none was given.
    pub fn area(&self, world: &World) -> f64 {
        self.area.map_or(0.0, |area| area.now(world))
    }
}

impl World {
    /// Adds a joint; two dynamic bodies that it connects then belong to the same machine.
    pub fn add_joint(&mut self, joint: Joint) {
        if let [Some(a), Some(b)] = joint.bodies
            && [a, b].iter().all(|&body| self.bodies.is_dynamic(body as usize))
        {
            let both = [a, b].map(|body| self.machines[body as usize]);
            let least = both[0].min(both[1]);
            self.machines.iter_mut().filter(|head| both.contains(head)).for_each(|head| *head = least);
        }
        let position = self.joint_position(&joint, 0.0);
        self.joint_states.push(JointState { position, ..JointState::default() });
        self.joints.push(joint);
    }

    /// Adds the slider and the drives of a body on a rail along `axis`, which is ±x, ±y or ±z. The other axes of the body, which is the
    /// last boundary, are locked.
    pub fn add_rail(&mut self, body: u32, axis: DVec3, drives: Vec<(f64, Drive)>, area: Option<Area>) {
        let name = self.boundaries[body as usize].name.clone();
        let at = self.bodies.position[body as usize];
        let joint = Joint::new(self, JointKind::Slider, &name, [None, Some(body)], [at; 2], axis);
        self.add_joint(Joint { drives, area, ..joint });
    }

    /// Centre \[m\] and orientation of a body; the world frame for the ground.
    fn frame_of(&self, body: Option<u32>) -> (DVec3, DQuat) {
        match body {
            Some(body) => (self.bodies.position[body as usize], self.bodies.orientation[body as usize]),
            None => (DVec3::ZERO, DQuat::IDENTITY),
        }
    }

    /// Places a joint in the world for the present poses; the second body is taken in its periodic image nearest to the first place.
    pub fn placed(&self, joint: &Joint) -> JointPose {
        let frames = joint.bodies.map(|body| self.frame_of(body));
        let arms = [0, 1].map(|side: usize| frames[side].1 * joint.anchors[side].place);
        let turns = [0, 1].map(|side: usize| frames[side].1 * joint.anchors[side].orientation);
        let first = frames[0].0 + arms[0];
        let second = self.periodic.image(frames[1].0 + arms[1], first);
        JointPose { points: [first, second], arms, turns }
    }

    /// Whether the machine of a boundary has a drive: the speed of the boundary may then change within a step.
    pub fn is_driven(&self, body: usize) -> bool {
        let drives = |joint: &Joint| {
            let is_of_it = |&of: &u32| self.machines.get(of as usize) == self.machines.get(body);
            !joint.drives.is_empty() && joint.bodies.iter().flatten().any(is_of_it)
        };
        self.joints.iter().any(drives)
    }

    /// Updates the positions of all joints to the present poses of their bodies.
    pub fn update_joints(&mut self) {
        for joint in 0..self.joints.len() {
            let before = self.joint_states[joint].position;
            self.joint_states[joint].position = self.joint_position(&self.joints[joint], before);
        }
    }

    /// Position of a joint for the present poses of its bodies \[m, rad\]; an angle is the one nearest to `before`, beyond whole turns.
    pub fn joint_position(&self, joint: &Joint, before: f64) -> f64 {
        let placed = self.placed(joint);
        match joint.kind {
            JointKind::Hinge => {
                let more = placed.angle() - before;
                let turn = std::f64::consts::TAU;
                before + more - turn * (more / turn).round()
            }
            JointKind::Slider | JointKind::Cylindrical => placed.gap().dot(placed.axis()),
            JointKind::Actuator | JointKind::Distance => placed.gap().length(),
            JointKind::Ball | JointKind::Lock | JointKind::Universal => 0.0,
        }
    }

    /// Distance of the second place of a joint from where the joint holds it \[m\].
    pub fn joint_error(&self, joint: usize) -> f64 {
        let (joint, placed) = (&self.joints[joint], self.placed(&self.joints[joint]));
        match joint.kind {
            JointKind::Hinge | JointKind::Ball | JointKind::Lock | JointKind::Universal => {
                placed.gap().length()
            }
            JointKind::Slider | JointKind::Cylindrical => {
                placed.gap().reject_from_normalized(placed.axis()).length()
            }
            JointKind::Distance => (placed.gap().length() - joint.length).abs(),
            JointKind::Actuator => 0.0,
        }
    }

    /// Rows that a joint holds.
    pub fn held_rows(&self, joint: &Joint) -> Vec<JointRow> {
        let placed = self.placed(joint);
        let gap = placed.gap();
        if joint.kind == JointKind::Distance {
            return vec![JointRow::along(placed.line(), placed.arms, gap.length() - joint.length)];
        }
        let [places, turns] = joint.kind.held_rows();
        let frame = DVec3::AXES.map(|axis| placed.turns[0] * axis);
        // Translations are held along axes of the first body, at the place on the second.
        let arms = [placed.arms[0] + gap, placed.arms[1]];
        let tilt = match joint.kind {
            JointKind::Hinge | JointKind::Cylindrical => placed.axis().cross(placed.turns[1] * DVec3::Z),
            _ => placed.turn(),
        };
        if joint.kind == JointKind::Universal {
            let (first, second) = (placed.axis(), placed.turns[1] * DVec3::X);
            let places = frame.iter().map(|&axis| JointRow::along(axis, arms, gap.dot(axis)));
            // A turn about first × second changes first · second by its reverse.
            let across = JointRow::about(first.cross(second), -first.dot(second));
            return places.chain([across]).collect();
        }
        let held = frame[..places].iter().map(|&axis| JointRow::along(axis, arms, gap.dot(axis)));
        held.chain(frame[..turns].iter().map(|&axis| JointRow::about(axis, tilt.dot(axis)))).collect()
    }

    /// Row of the motion along the position of a joint; `None` if it has no position.
    pub fn row_along(&self, joint: &Joint) -> Option<JointRow> {
        let placed = self.placed(joint);
        match joint.kind {
            JointKind::Hinge => Some(JointRow::about(placed.axis(), 0.0)),
            JointKind::Slider | JointKind::Cylindrical => {
                let arms = [placed.arms[0] + placed.gap(), placed.arms[1]];
                Some(JointRow::along(placed.axis(), arms, 0.0))
            }
            JointKind::Actuator => Some(JointRow::along(placed.line(), placed.arms, 0.0)),
            JointKind::Ball | JointKind::Lock | JointKind::Distance | JointKind::Universal => None,
        }
    }

    /// Rate of change of the position of a joint \[m/s, rad/s\]; 0 if it has none.
    pub fn joint_speed(&self, joint: usize) -> f64 {
        let joint = &self.joints[joint];
        self.row_along(joint).map_or(0.0, |row| self.row_speed(joint, &row))
    }

    /// Velocity of a row of a joint \[m/s, rad/s\].
    pub fn row_speed(&self, joint: &Joint, row: &JointRow) -> f64 {
        let of = |side: usize| {
            let Some(body) = joint.bodies[side] else { return 0.0 };
            let body = body as usize;
            row.direction.dot(self.bodies.velocity[body])
                + row.levers[side].dot(self.bodies.angular_velocity[body])
        };
        of(1) - of(0)
    }

    /// Joints that are connected through dynamic bodies, one list per machine, ordered from one end of the machine to the other so that
    /// coupled joints are close together in the list (Cuthill and McKee 1969).
    pub fn joints_by_machine(&self) -> Vec<Vec<usize>> {
        let is_dynamic = |body: &u32| self.bodies.is_dynamic(*body as usize);
        let dynamic = |joint: usize| self.joints[joint].bodies.into_iter().flatten().filter(is_dynamic);
        let mut of_body = vec![Vec::new(); self.boundaries.len()];
        for joint in 0..self.joints.len() {
            dynamic(joint).for_each(|body| of_body[body as usize].push(joint));
        }
        let neighbours =
            |joint: usize| dynamic(joint).flat_map(|body| of_body[body as usize].iter().copied());
        let walk = |start: usize, seen: &mut [bool]| {
            let mut order = vec![start];
            seen[start] = true;
            let mut next = 0;
            while next < order.len() {
                for neighbour in neighbours(order[next]) {
                    if !std::mem::replace(&mut seen[neighbour], true) {
                        order.push(neighbour);
                    }
                }
                next += 1;
            }
            order
        };
        let mut seen = vec![false; self.joints.len()];
        let mut seen_again = seen.clone();
        let mut machines = Vec::new();
        for joint in 0..self.joints.len() {
            if dynamic(joint).next().is_none() || seen[joint] {
                continue;
            }
            // The joint reached last is at an end of the machine; the final order starts there.
            let end = walk(joint, &mut seen).pop().unwrap_or(joint);
            machines.push(walk(end, &mut seen_again));
        }
        machines
    }
}

impl RigidBody {
    /// A body at rest that moves along one axis (0, 1, 2 for x, y, z) and never turns.
    pub fn on_rail(mass: f64, axis: usize) -> RigidBody {
        use super::Axes;
        let across = (0..3).filter(|other| *other != axis).map(|other| Axes::TRANSLATION[other]);
        let locked = across.chain(Axes::ROTATION).fold(Axes::NONE, Axes::and);
        // The body never rotates, so its moments of inertia do not matter.
        RigidBody { locked, ..RigidBody::at_rest(mass, DVec3::ONE) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Boundary, Form, Materials, Motion, Surface};

    fn brick() -> RigidBody {
        RigidBody::solid(Form::Box { half: DVec3::splat(0.1) }, 1000.0).expect("a box can be free")
    }

    /// A world of bricks without gravity at these places.
    fn bricks(places: &[DVec3]) -> World {
        let mut world = World::new(DVec3::ZERO, Materials::default());
        for &position in places {
            let motion = Motion::Dynamic(brick());
            let boundary = Boundary { name: "brick".into(), position, orientation: DQuat::IDENTITY, motion };
            world.add_boundary(boundary, std::iter::empty::<Surface>());
        }
        world
    }

    #[test]
    fn an_angle_goes_on_beyond_a_whole_turn() {
        let mut world = bricks(&[DVec3::ZERO]);
        let hinge = Joint::new(&world, JointKind::Hinge, "h", [None, Some(0)], [DVec3::X; 2], DVec3::NEG_Y);
        world.add_joint(hinge);
        for step in 1..=100 {
            let turn = DQuat::from_axis_angle(DVec3::NEG_Y, 0.1 * f64::from(step));
            world.bodies.orientation[0] = turn;
            world.bodies.position[0] = DVec3::X - turn * DVec3::X;
            world.update_joints();
            approx::assert_relative_eq!(
                world.joint_states[0].position,
                0.1 * f64::from(step),
                max_relative = 1e-12
            );
            assert!(world.joint_error(0) < 1e-15);
        }
    }

    #[test]
    fn the_speed_of_a_position_is_the_rate_at_which_it_changes() {
        for kind in [JointKind::Hinge, JointKind::Slider, JointKind::Actuator] {
            let mut world = bricks(&[DVec3::new(0.2, 0.1, 0.0), DVec3::new(0.9, 0.4, 0.3)]);
            let points = [DVec3::new(0.3, 0.0, 0.0), DVec3::new(0.8, 0.1, 0.2)];
            let points = if kind == JointKind::Actuator { points } else { [points[0]; 2] };
            let axis = DVec3::new(0.0, 1.0, 1.0);
            let joint = Joint::new(&world, kind, "joint", [Some(0), Some(1)], points, axis);
            world.add_joint(joint);
            // A motion that the joint allows: the first body moves freely, the second with it and along the free motion.
            let axis = axis.normalize();
            world.bodies.angular_velocity = vec![DVec3::new(0.3, -0.2, 0.5); 2];
            world.bodies.velocity[0] = DVec3::new(1.0, 2.0, 3.0);
            let arm = world.bodies.position[1] - world.bodies.position[0];
            world.bodies.velocity[1] = world.bodies.velocity[0] + world.bodies.angular_velocity[0].cross(arm);
            match kind {
                JointKind::Hinge => {
                    world.bodies.angular_velocity[1] += 0.7 * axis;
                    world.bodies.velocity[1] += 0.7 * axis.cross(world.bodies.position[1] - points[0]);
                }
                _ => world.bodies.velocity[1] += 0.7 * axis,
            }
            let (speed, before) = (world.joint_speed(0), world.joint_states[0].position);
            let h = 1e-6;
            for body in 0..2 {
                let (velocity, spin) = (world.bodies.velocity[body], world.bodies.angular_velocity[body]);
                world.bodies.position[body] += h * velocity;
                world.bodies.orientation[body] =
                    DQuat::from_scaled_axis(h * spin) * world.bodies.orientation[body];
            }
            world.update_joints();
            let rate = (world.joint_states[0].position - before) / h;
            assert!((rate - speed).abs() < 1e-5 && speed.abs() > 0.1, "{kind:?}: {rate} and {speed}");
        }
    }

    #[test]
    fn a_zero_that_is_moved_changes_the_position_and_no_row() {
        for kind in [JointKind::Hinge, JointKind::Slider, JointKind::Cylindrical] {
            let mut world = bricks(&[DVec3::ZERO, DVec3::X]);
            let bodies = [Some(0), Some(1)];
            let joint = Joint::new(&world, kind, "joint", bodies, [DVec3::new(0.5, 0.2, 0.1); 2], DVec3::ONE);
            for joint in [joint.clone(), joint.counted_from(-0.7)] {
                world.add_joint(joint);
            }
            let found = [0, 1].map(|joint| world.joint_states[joint].position);
            assert!(found[0].abs() < 1e-12 && (found[1] + 0.7).abs() < 1e-12, "{kind:?}: {found:?}");
            let off = world.held_rows(&world.joints[1]).iter().map(|row| row.off.abs()).fold(0.0, f64::max);
            assert!(off < 1e-12 && world.joint_error(1) < 1e-12, "{kind:?}: {off}");
        }
    }

    #[test]
    fn what_hangs_together_through_dynamic_bodies_is_a_machine() {
        let mut world = bricks(&[DVec3::ZERO; 4]);
        for bodies in [[Some(2), Some(3)], [Some(1), Some(3)], [None, Some(0)], [None, Some(1)]] {
            let joint = Joint::new(&world, JointKind::Ball, "ball", bodies, [DVec3::ZERO; 2], DVec3::Z);
            world.add_joint(joint);
        }
        assert_eq!(world.machines, [0, 1, 1, 1]);
    }

    #[test]
    fn a_body_on_a_rail_moves_along_it_and_never_turns() {
        let body = RigidBody::on_rail(3.0, 1);
        assert_eq!(body.locked.free_translation(), DVec3::Y);
        assert_eq!(body.locked.free_rotation(), DVec3::ZERO);
        assert_eq!(body.largest_inverse_moment(), 0.0);
        assert_eq!(body.inverse_inertia(DQuat::IDENTITY), DMat3::ZERO);
    }
}
