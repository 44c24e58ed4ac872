//! Joints in the layout of the device: their constants, their drives in a substep, their rows, and the state read back \[E11\].

use bytemuck::{Pod, Zeroable};

use crate::contact::range::{self, joint_upsilon};
use crate::error::Error;
use crate::model::drive::Command;
use crate::model::{Area, JointKind, JointState, World};

use super::{
    Anchors, DRIVE_HOLD, DRIVE_NONE, DRIVE_PRESS, DRIVE_PUSH, JOINT_ACTUATOR, JOINT_BALL, JOINT_CYLINDRICAL,
    JOINT_DISTANCE, JOINT_HINGE, JOINT_LOCK, JOINT_SLIDER, JOINT_UNIVERSAL, MOST_ROWS, NONE, ROW_DRIVE,
    ROW_LIMIT, double, quaternion, single,
};

/// Joint between two bodies, or a body and the ground; WGSL `Joint`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Joint {
    /// Place of the joint in the frame of the first body; on the ground, from the centre of `cell` \[m\].
    pub place_a: [f32; 3],
    /// First body; `NONE` for the ground.
    pub body_a: u32,
    /// Place of the joint in the frame of the second body; on the ground, from the centre of `cell` \[m\].
    pub place_b: [f32; 3],
    /// Second body; `NONE` for the ground.
    pub body_b: u32,
    /// Rotation from the axes of the joint to those of the first body, a unit quaternion \[-\].
    pub turn_a: [f32; 4],
    /// Rotation from the axes of the joint to those of the second body, a unit quaternion \[-\].
    pub turn_b: [f32; 4],
    /// Grid cell of the place on the ground.
    pub cell: [i32; 3],
    /// Kind (`JOINT_*`).
    pub kind: u32,
    /// Two pairs of bodies (low and high), whose distances span the area of a pressure; `NONE`: no such bodies.
    pub walls: [u32; 4],
    /// Axes along which the two pairs of `walls` are apart: 0, 1, 2 for x, y, z.
    pub wall_axes: [u32; 2],
    /// First row in `joint_rows`.
    pub first_row: u32,
    /// Number of rows.
    pub rows: u32,
    /// Lower end of the range \[m, rad\].
    pub low: f32,
    /// Upper end of the range \[m, rad\].
    pub high: f32,
    /// Position at the start of the last substep \[m, rad\].
    pub position: f32,
    /// Distance that a rod keeps \[m\].
    pub length: f32,
    /// Compliance Σ of the rows that hold a position \[1/kg\].
    pub compliance: f32,
    /// Compliance Σ of the rows that hold a rotation \[1/(kg m²)\].
    pub angular_compliance: f32,
    /// Damping factor Υ \[-\].
    pub upsilon: f32,
    /// Flag of a joint with a range: 1, else 0.
    pub is_limited: u32,
    /// Restitution of the ends of the range \[-\].
    pub restitution: f32,
    /// Distance beyond an end of the range that counts as rounding \[m, rad\].
    pub slack: f32,
    /// Padding.
    pub spare: u32,
    /// Padding.
    pub spare_too: u32,
}

/// Drive of a joint in a substep; WGSL `JointDrive`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct JointDrive {
    /// Kind (`DRIVE_*`).
    pub kind: u32,
    /// Impulse \[N s, N m s\], impulse per area \[Pa s\], or velocity \[m/s, rad/s\].
    pub value: f32,
    /// Target position of a servo \[m, rad\].
    pub aim: f32,
    /// Rate at which a servo approaches its target: velocity per distance from it \[1/s\].
    pub rate: f32,
    /// Largest impulse of a motor or servo \[N s, N m s\].
    pub limit: f32,
    /// Padding.
    pub spare: u32,
    /// Padding.
    pub spare_too: u32,
    /// Padding.
    pub spare_also: u32,
}

/// Row of a joint: one scalar constraint, whose impulse brings a relative velocity of two bodies to the bias velocity; WGSL `JointRow`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct JointRow {
    /// Direction of the impulse on the second body \[-\]; 0 for a row about an axis.
    pub direction: [f32; 3],
    /// Role (`ROW_*`).
    pub role: u32,
    /// Arm × direction on the first body \[m\]; for a row about an axis, the axis.
    pub lever_a: [f32; 3],
    /// Place of the impulse between or at its bounds (`PLACE_*`).
    pub place: u32,
    /// Arm × direction on the second body \[m\]; for a row about an axis, the axis.
    pub lever_b: [f32; 3],
    /// Compliance Σ; in all rows but drives, plus a small share of `diagonal`, as rows may depend on each other \[1/kg\].
    pub softness: f32,
    /// Change of the velocity of the first body per impulse \[1/kg\].
    pub linear_a: [f32; 3],
    /// Impulse λ \[N s, N m s\].
    pub impulse: f32,
    /// Change of the velocity of the second body per impulse \[1/kg\].
    pub linear_b: [f32; 3],
    /// Impulse after the last sweep, for the extrapolation \[N s\] \[E12\].
    pub last: f32,
    /// Change of the angular velocity of the first body per impulse \[1/(kg m)\].
    pub angular_a: [f32; 3],
    /// Lower bound of the impulse \[N s\].
    pub low: f32,
    /// Change of the angular velocity of the second body per impulse \[1/(kg m)\].
    pub angular_b: [f32; 3],
    /// Upper bound of the impulse \[N s\].
    pub high: f32,
    /// First body; `NONE` for the ground.
    pub body_a: u32,
    /// Second body; `NONE` for the ground.
    pub body_b: u32,
    /// Part of the bias velocity that does not depend on the velocities; of limits the least speed that the lower end allows \[m/s\].
    pub aim: f32,
    /// Factor Υ of the relative velocity in the bias velocity; of limits their restitution \[-\].
    pub follow: f32,
    /// Bias velocity q \[m/s, rad/s\].
    pub bias: f32,
    /// Impulse in the present round of impacts \[N s\].
    pub strike: f32,
    /// Relative velocity before the impacts, which the joint keeps during them \[m/s, rad/s\].
    pub held: f32,
    /// Inverse effective mass D \[1/kg\].
    pub diagonal: f32,
    /// Of limits: largest speed that the upper end allows \[m/s\].
    pub most: f32,
    /// Padding.
    pub spare: u32,
    /// Padding.
    pub spare_too: u32,
    /// Padding.
    pub spare_also: u32,
}

/// Machine: joints that are connected through dynamic bodies, whose rows are solved together; WGSL `Machine`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Machine {
    /// First row.
    pub first_row: u32,
    /// Number of rows.
    pub rows: u32,
    /// Place of its matrix in `machine_matrix`; the pivoted matrix comes after it.
    pub matrix: u32,
    /// Place of its first body in `machine_bodies`.
    pub first_body: u32,
    /// Number of bodies.
    pub bodies: u32,
    /// Padding.
    pub spare: u32,
    /// Padding.
    pub spare_too: u32,
    /// Padding.
    pub spare_also: u32,
}

/// Machines of a world in the layout of the device.
#[derive(Debug, Clone, Default)]
pub struct Machines {
    /// Machines of the world.
    pub list: Vec<Machine>,
    /// Dynamic bodies of all machines, machine by machine.
    pub bodies: Vec<u32>,
    /// First row and number of rows of each joint of the world.
    rows_of: Vec<[u32; 2]>,
    /// Number of rows of all machines.
    pub rows: u32,
    /// Count of numbers in all matrices, pivoted ones included.
    pub matrix: u32,
}

impl Machines {
    /// Returns the machines of a world.
    pub fn of(world: &World) -> Machines {
        let mut machines = Machines { rows_of: vec![[0; 2]; world.joints.len()], ..Machines::default() };
        for joints in world.joints_by_machine() {
            let (first_row, first_body) = (machines.rows, machines.bodies.len() as u32);
            for &joint in &joints {
                let (own, known) = (&world.joints[joint], first_body as usize);
                let held: usize = own.kind.held_rows().into_iter().sum();
                let rows = held + usize::from(own.range.is_some()) + usize::from(!own.drives.is_empty());
                machines.rows_of[joint] = [machines.rows, rows as u32];
                machines.rows += rows as u32;
                for body in own.bodies.into_iter().flatten() {
                    if world.bodies.is_dynamic(body as usize) && !machines.bodies[known..].contains(&body) {
                        machines.bodies.push(body);
                    }
                }
            }
            let rows = machines.rows - first_row;
            let bodies = machines.bodies.len() as u32 - first_body;
            let matrix = machines.matrix;
            machines.list.push(Machine { first_row, rows, matrix, first_body, bodies, ..Zeroable::zeroed() });
            machines.matrix = machines.matrix.saturating_add(rows.saturating_mul(rows).saturating_mul(2));
        }
        machines
    }

    /// Returns the joints before a substep of length `h` \[s\].
    pub fn joints(&self, world: &World, anchors: &Anchors, h: f64) -> Vec<Joint> {
        let places = self.rows_of.iter().zip(&world.joints).zip(&world.joint_states);
        places.map(|((&rows, joint), state)| record(joint, state, rows, anchors, h)).collect()
    }

    /// Refuses machines with more rows than a workgroup solves.
    ///
    /// # Errors
    /// [`Error::MachineTooLarge`].
    pub fn check(&self) -> Result<(), Error> {
        match self.list.iter().find(|machine| machine.rows > MOST_ROWS) {
            Some(machine) => Err(Error::MachineTooLarge { rows: machine.rows, limit: MOST_ROWS }),
            None => Ok(()),
        }
    }
}

fn record(
    joint: &crate::model::Joint,
    state: &JointState,
    [first_row, rows]: [u32; 2],
    anchors: &Anchors,
    h: f64,
) -> Joint {
    let upsilon = joint_upsilon(joint, h);
    let ground = joint.bodies.iter().position(Option::is_none);
    let (cell, offset) = ground.map_or(([0; 3], [0.0; 3]), |side| anchors.anchor(joint.anchors[side].place));
    let place = |side: usize| match joint.bodies[side] {
        Some(_) => single(joint.anchors[side].place),
        None => offset,
    };
    let [low, high] = joint.range.unwrap_or_default();
    let (walls, wall_axes) = match joint.area {
        Some(Area::Between([one, other])) => (
            [one.low, one.high, other.low, other.high].map(|body| body as u32),
            [one.axis, other.axis].map(|axis| axis as u32),
        ),
        _ => ([NONE; 4], [0; 2]),
    };
    Joint {
        place_a: place(0),
        body_a: joint.bodies[0].unwrap_or(NONE),
        place_b: place(1),
        body_b: joint.bodies[1].unwrap_or(NONE),
        turn_a: quaternion(joint.anchors[0].orientation),
        turn_b: quaternion(joint.anchors[1].orientation),
        cell,
        kind: match joint.kind {
            JointKind::Hinge => JOINT_HINGE,
            JointKind::Slider => JOINT_SLIDER,
            JointKind::Ball => JOINT_BALL,
            JointKind::Lock => JOINT_LOCK,
            JointKind::Distance => JOINT_DISTANCE,
            JointKind::Actuator => JOINT_ACTUATOR,
            JointKind::Cylindrical => JOINT_CYLINDRICAL,
            JointKind::Universal => JOINT_UNIVERSAL,
        },
        walls,
        wall_axes,
        first_row,
        rows,
        low: low as f32,
        high: high as f32,
        position: state.position as f32,
        length: joint.length as f32,
        compliance: (4.0 * joint.compliance * upsilon / (h * h)) as f32,
        angular_compliance: (4.0 * joint.angular_compliance * upsilon / (h * h)) as f32,
        upsilon: upsilon as f32,
        is_limited: u32::from(joint.range.is_some()),
        restitution: joint.restitution as f32,
        slack: range::slack(joint, f64::from(f32::EPSILON), anchors.cell_size.max_element()) as f32,
        ..Zeroable::zeroed()
    }
}

/// Returns the drives of all joints in each of the substeps of length `h` \[s\] that end at `ends` \[s\].
pub fn joint_drives(world: &World, ends: impl Iterator<Item = f64>, h: f64) -> Vec<JointDrive> {
    let drive = |command: Option<Command>| match command {
        None => JointDrive { kind: DRIVE_NONE, ..Zeroable::zeroed() },
        Some(Command::Push(force)) => {
            JointDrive { kind: DRIVE_PUSH, value: (h * force) as f32, ..Zeroable::zeroed() }
        }
        Some(Command::Press(pressure)) => {
            JointDrive { kind: DRIVE_PRESS, value: (h * pressure) as f32, ..Zeroable::zeroed() }
        }
        Some(Command::Hold { velocity, aim, rate, force_limit }) => JointDrive {
            kind: DRIVE_HOLD,
            value: velocity as f32,
            aim: aim as f32,
            rate: rate as f32,
            limit: (h * force_limit).min(f64::from(f32::MAX)) as f32,
            ..Zeroable::zeroed()
        },
    };
    ends.flat_map(|end| world.joints.iter().map(move |joint| drive(joint.command(end, h)))).collect()
}

/// Copies positions and forces of the joints in the last substep, of `h` \[s\], back into a world whose bodies are already up to date.
pub fn pull_joints(world: &mut World, joints: &[Joint], rows: &[JointRow], h: f64) {
    for (state, joint) in world.joint_states.iter_mut().zip(joints) {
        // `update_joints` finds the present angle, which is the one nearest to this one.
        *state = JointState { position: f64::from(joint.position), ..JointState::default() };
        for row in &rows[joint.first_row as usize..][..joint.rows as usize] {
            let force = f64::from(row.impulse) / h;
            state.force += force * double(row.direction);
            if row.direction == [0.0; 3] {
                state.torque += force * double(row.lever_b);
            }
            match row.role {
                ROW_DRIVE => state.drive += force,
                ROW_LIMIT => state.limit += force,
                _ => {}
            }
        }
    }
    world.update_joints();
}
