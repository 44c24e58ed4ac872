//! Joints \[E11\]: what holds two bodies together, or a body to the ground, and leaves some of their motions free.
//!
//! A joint has a place and an axis on each of its two bodies. Its position is that of the second body relative to the first: an
//! angle about the axis of a hinge, a distance along that of a slider, the distance between the two places of an actuator.

pub mod freedom;

use glam::{DQuat, DVec3};

use super::drive::{Area, Command, Drive};
use super::{RigidBody, World};

/// What a joint leaves free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum JointKind {
    /// Turns about its axis.
    Hinge,
    /// Shifts along its axis.
    Slider,
    /// All turns.
    Ball,
    /// Nothing.
    Lock,
    /// All that leaves the distance of its two places as it is: a rod.
    Distance,
    /// Everything: its drive and its range act along the line between its two places, as a hydraulic cylinder.
    Actuator,
}

impl JointKind {
    /// Rows that hold a place, and rows that hold a turn.
    pub fn held_rows(self) -> [usize; 2] {
        match self {
            JointKind::Hinge => [3, 2],
            JointKind::Slider => [2, 3],
            JointKind::Ball => [3, 0],
            JointKind::Lock => [3, 3],
            JointKind::Distance => [1, 0],
            JointKind::Actuator => [0, 0],
        }
    }

    /// Whether it has a position, which may be driven and limited.
    pub fn has_position(self) -> bool {
        matches!(self, JointKind::Hinge | JointKind::Slider | JointKind::Actuator)
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
        }
    }
}

/// Where a joint is on one of its bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Anchor {
    /// Place in the frame of the body, of the ground in the world \[m\].
    pub place: DVec3,
    /// Turn from the axes of the joint, whose z is the axis that it turns about or shifts along, to those of the body.
    pub orientation: DQuat,
}

/// A joint between two bodies, or a body and the ground.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Joint {
    /// Name, for results and messages.
    pub name: String,
    /// What it leaves free.
    pub kind: JointKind,
    /// Its two bodies; `None` for the ground.
    pub bodies: [Option<u32>; 2],
    /// Where it is on each.
    pub anchors: [Anchor; 2],
    /// How far what it holds gives way \[m/N\]; 0: it is rigid.
    pub compliance: f64,
    /// How far what it holds turns \[rad/(N m)\]; 0: it is rigid.
    pub angular_compliance: f64,
    /// Time within which it comes back to where it belongs \[s\]; `None`: two substeps.
    pub damping_time: Option<f64>,
    /// Lowest and highest position \[m, rad\].
    pub range: Option<[f64; 2]>,
    /// What drives it and from when on \[s\], in the order of their starts. Before the first nothing does.
    pub drives: Vec<(f64, Drive)>,
    /// Area that a pressure acts on.
    pub area: Option<Area>,
    /// Distance that a `Distance` joint keeps \[m\].
    pub length: f64,
}

/// Where a joint stands, and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct JointState {
    /// Position \[m, rad\]; an angle goes on beyond a whole turn. 0 where the joint has none.
    pub position: f64,
    /// Force of its drive in the last substep \[N, N m\].
    pub drive: f64,
    /// Force at the end of its range in the last substep, positive towards larger positions \[N, N m\].
    pub limit: f64,
    /// Force of all of it on its second body in the last substep \[N\].
    pub force: DVec3,
    /// Torque on its second body about the place of the joint in the last substep \[N m\].
    pub torque: DVec3,
}

/// A joint as its bodies are now, in the world.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    /// Its places on both bodies \[m\].
    pub points: [DVec3; 2],
    /// Those places from the centres of the bodies \[m\].
    pub arms: [DVec3; 2],
    /// Turns from its axes to those of the world, on both bodies.
    pub turns: [DQuat; 2],
}

impl Placed {
    /// From the place on the first body to that on the second \[m\].
    pub fn gap(&self) -> DVec3 {
        self.points[1] - self.points[0]
    }

    /// Its axis, on the first body.
    pub fn axis(&self) -> DVec3 {
        self.turns[0] * DVec3::Z
    }

    /// Direction from the first place to the second; the axis where they are one.
    pub fn line(&self) -> DVec3 {
        self.gap().try_normalize().unwrap_or(self.axis())
    }

    /// How the second body is turned against the first, as a rotation vector \[rad\].
    pub fn turn(&self) -> DVec3 {
        let turn = self.turns[1] * self.turns[0].conjugate();
        // Of the two quaternions of a turn the one of the smaller angle.
        (if turn.w < 0.0 { -turn } else { turn }).to_scaled_axis()
    }

    /// Angle of the second body about the axis, within half a turn \[rad\].
    fn angle(&self) -> f64 {
        let turn = self.turns[0].conjugate() * self.turns[1];
        let angle = 2.0 * turn.z.atan2(turn.w);
        angle - std::f64::consts::TAU * (angle / std::f64::consts::TAU).round()
    }
}

/// One motion of the second body against the first, which a joint holds, drives or limits.
#[derive(Debug, Clone, Copy)]
pub struct JointRow {
    /// Direction of a force on the second body; 0 for a turn.
    pub direction: DVec3,
    /// Levers of that force on both bodies, arm × direction \[m\]; of a turn its axis.
    pub levers: [DVec3; 2],
    /// How far it is from where it belongs \[m, rad\].
    pub off: f64,
}

impl JointRow {
    fn along(direction: DVec3, arms: [DVec3; 2], off: f64) -> JointRow {
        JointRow { direction, levers: arms.map(|arm| arm.cross(direction)), off }
    }

    fn about(axis: DVec3, off: f64) -> JointRow {
        JointRow { direction: DVec3::ZERO, levers: [axis; 2], off }
    }

    /// Whether it is a turn.
    pub fn is_turn(&self) -> bool {
        self.direction == DVec3::ZERO
    }
}

impl Joint {
    /// A rigid joint without drive and range at these places of the world on its two bodies, which coincide unless a distance lies
    /// between them, with this axis.
    pub fn new(
        world: &World,
        kind: JointKind,
        name: &str,
        bodies: [Option<u32>; 2],
        points: [DVec3; 2],
        axis: DVec3,
    ) -> Joint {
        let turn = DQuat::from_rotation_arc(DVec3::Z, axis.normalize());
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
            drives: Vec::new(),
            area: None,
            length: points[0].distance(points[1]),
        }
    }

    /// What drives it in the substep of `h` \[s\] that ends at `end` \[s\]; `None`: nothing yet.
    pub fn command(&self, end: f64, h: f64) -> Option<Command> {
        // In the middle of the substep no rounding of the time decides which of two drives acts.
        let begun = self.drives.partition_point(|(start, _)| *start <= end - 0.5 * h);
        let (_, drive) = &self.drives[begun.checked_sub(1)?];
        Some(drive.command(end, h, self.area))
    }

    /// Area that a pressure acts on now \[m²\]; 0 where none was given.
    pub fn area(&self, world: &World) -> f64 {
        self.area.map_or(0.0, |area| area.now(world))
    }
}

impl World {
    /// Adds a joint.
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

    /// Adds a body that moves along `axis`, one of x, y, z or the reverse of one, as its drives push it: the other axes of the
    /// body, which is the last boundary, are locked.
    pub fn add_rail(&mut self, body: u32, axis: DVec3, drives: Vec<(f64, Drive)>, area: Option<Area>) {
        let name = self.boundaries[body as usize].name.clone();
        let at = self.bodies.position[body as usize];
        let joint = Joint::new(self, JointKind::Slider, &name, [None, Some(body)], [at; 2], axis);
        self.add_joint(Joint { drives, area, ..joint });
    }

    /// Centre \[m\] and orientation of a body, or of the ground.
    fn frame_of(&self, body: Option<u32>) -> (DVec3, DQuat) {
        match body {
            Some(body) => (self.bodies.position[body as usize], self.bodies.orientation[body as usize]),
            None => (DVec3::ZERO, DQuat::IDENTITY),
        }
    }

    /// A joint as its bodies are now; the second beside the first, whichever image that is.
    pub fn placed(&self, joint: &Joint) -> Placed {
        let frames = joint.bodies.map(|body| self.frame_of(body));
        let arms = [0, 1].map(|side: usize| frames[side].1 * joint.anchors[side].place);
        let turns = [0, 1].map(|side: usize| frames[side].1 * joint.anchors[side].orientation);
        let first = frames[0].0 + arms[0];
        let second = self.periodic.image(frames[1].0 + arms[1], first);
        Placed { points: [first, second], arms, turns }
    }

    /// Whether a joint of the machine that a boundary belongs to is driven: its speed may then change within a step.
    pub fn is_driven(&self, body: usize) -> bool {
        let drives = |joint: &Joint| {
            let is_of_it = |&of: &u32| self.machines.get(of as usize) == self.machines.get(body);
            !joint.drives.is_empty() && joint.bodies.iter().flatten().any(is_of_it)
        };
        self.joints.iter().any(drives)
    }

    /// Takes the positions of all joints as their bodies are now.
    pub fn update_joints(&mut self) {
        for joint in 0..self.joints.len() {
            let before = self.joint_states[joint].position;
            self.joint_states[joint].position = self.joint_position(&self.joints[joint], before);
        }
    }

    /// Position of a joint as its bodies are now \[m, rad\]; an angle is the one next to that of `before`.
    pub fn joint_position(&self, joint: &Joint, before: f64) -> f64 {
        let placed = self.placed(joint);
        match joint.kind {
            JointKind::Hinge => {
                let more = placed.angle() - before;
                let turn = std::f64::consts::TAU;
                before + more - turn * (more / turn).round()
            }
            JointKind::Slider => placed.gap().dot(placed.axis()),
            JointKind::Actuator | JointKind::Distance => placed.gap().length(),
            JointKind::Ball | JointKind::Lock => 0.0,
        }
    }

    /// How far the second place of a joint is from where it belongs \[m\].
    pub fn joint_error(&self, joint: usize) -> f64 {
        let (joint, placed) = (&self.joints[joint], self.placed(&self.joints[joint]));
        match joint.kind {
            JointKind::Hinge | JointKind::Ball | JointKind::Lock => placed.gap().length(),
            JointKind::Slider => placed.gap().reject_from_normalized(placed.axis()).length(),
            JointKind::Distance => (placed.gap().length() - joint.length).abs(),
            JointKind::Actuator => 0.0,
        }
    }

    /// What a joint does not leave free.
    pub fn held_rows(&self, joint: &Joint) -> Vec<JointRow> {
        let placed = self.placed(joint);
        let gap = placed.gap();
        if joint.kind == JointKind::Distance {
            return vec![JointRow::along(placed.line(), placed.arms, gap.length() - joint.length)];
        }
        let [places, turns] = joint.kind.held_rows();
        let frame = DVec3::AXES.map(|axis| placed.turns[0] * axis);
        // What is held along axes of the first body acts on the place on the second.
        let arms = [placed.arms[0] + gap, placed.arms[1]];
        let tilt = match joint.kind {
            JointKind::Hinge => placed.axis().cross(placed.turns[1] * DVec3::Z),
            _ => placed.turn(),
        };
        let held = frame[..places].iter().map(|&axis| JointRow::along(axis, arms, gap.dot(axis)));
        held.chain(frame[..turns].iter().map(|&axis| JointRow::about(axis, tilt.dot(axis)))).collect()
    }

    /// The motion along the position of a joint, if it has one.
    pub fn row_along(&self, joint: &Joint) -> Option<JointRow> {
        let placed = self.placed(joint);
        match joint.kind {
            JointKind::Hinge => Some(JointRow::about(placed.axis(), 0.0)),
            JointKind::Slider => {
                let arms = [placed.arms[0] + placed.gap(), placed.arms[1]];
                Some(JointRow::along(placed.axis(), arms, 0.0))
            }
            JointKind::Actuator => Some(JointRow::along(placed.line(), placed.arms, 0.0)),
            JointKind::Ball | JointKind::Lock | JointKind::Distance => None,
        }
    }

    /// Speed of a joint's position \[m/s, rad/s\].
    pub fn joint_speed(&self, joint: usize) -> f64 {
        let joint = &self.joints[joint];
        let Some(row) = self.row_along(joint) else { return 0.0 };
        let of = |side: usize| {
            let Some(body) = joint.bodies[side] else { return 0.0 };
            let body = body as usize;
            row.direction.dot(self.bodies.velocity[body])
                + row.levers[side].dot(self.bodies.angular_velocity[body])
        };
        of(1) - of(0)
    }

    /// Joints that hang together through dynamic bodies, each list from one end of a machine to the other, so that what is coupled
    /// stands close together (Cuthill and McKee 1969).
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
            // What was reached last is an end of the machine: the walk proper goes from there.
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
        // What it would take to turn it does not matter.
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
            // A motion that the joint allows: one body goes as it likes, the other with it and along the axis.
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
        assert_eq!(body.inverse_inertia(DQuat::IDENTITY), glam::DMat3::ZERO);
    }
}
