//! Joints \[E11\]: rows between two bodies, solved together and directly, with all contacts held fixed.
//!
//! Bodies that hang together by joints are a machine. Its rows are a linear system with bounds on some of them (motors and ends of
//! ranges), which [`bounded`] solves; it takes turns with the sweeps over the contacts, as one block. Twin: `shaders/joints.wgsl`.

pub mod bounded;

use glam::DVec3;

use crate::engine::joint_upsilon;
use crate::model::drive::Command;
use crate::model::joint::JointRow;
use crate::model::{JointState, World};
use crate::settings::{JOINT_ROUNDING, JOINT_SOFTNESS, Settings};

use super::velocity::{InverseMass, Velocity};
use bounded::{Envelope, Pivots, Row as Unknown};

/// The ground, in the place of a body.
const GROUND: u32 = u32::MAX;

/// What a row of a joint does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It holds what the joint does not leave free.
    Held,
    /// It is the drive.
    Drive,
    /// It is an end of the range.
    Limit,
}

/// One row: a velocity between two bodies that an impulse brings to a value.
#[derive(Debug, Clone, Copy)]
struct Row {
    joint: u32,
    role: Role,
    bodies: [u32; 2],
    /// Direction of the impulse on the second body; 0 for a row that holds a turn.
    direction: DVec3,
    /// Lever of the impulse on each body, arm × direction; of a row that holds a turn its axis.
    levers: [DVec3; 2],
    /// M⁻¹ Gᵀ: what the impulse does to the velocities, and to the angular velocities, of both bodies.
    linear: [DVec3; 2],
    angular: [DVec3; 2],
    /// D = G M⁻¹ Gᵀ \[1/kg, 1/(kg m²)\].
    diagonal: f64,
    /// Σ, likewise.
    compliance: f64,
    /// q \[m/s, rad/s\].
    bias: f64,
    low: f64,
    high: f64,
    /// λ \[N s, N m s\].
    impulse: f64,
    /// λ after the last sweep.
    last: f64,
}

impl Row {
    /// u = G v.
    fn speed(&self, velocities: &[Velocity]) -> f64 {
        let of = |side: usize| {
            let Some(body) = velocities.get(self.bodies[side] as usize) else { return 0.0 };
            self.direction.dot(body.linear) + self.levers[side].dot(body.angular)
        };
        of(1) - of(0)
    }

    /// The part of u in which the bodies give way.
    fn given_speed(&self, velocities: &[Velocity]) -> f64 {
        let of = |side: usize| {
            let Some(body) = velocities.get(self.bodies[side] as usize).filter(|body| body.is_free()) else {
                return 0.0;
            };
            self.direction.dot(body.linear * body.locked.free_translation())
                + self.levers[side].dot(body.angular * body.locked.free_rotation())
        };
        of(1) - of(0)
    }

    /// v ← v + M⁻¹ Gᵀ λ.
    fn push(&self, impulse: f64, velocities: &mut [Velocity]) {
        for (side, sign) in [(0, -impulse), (1, impulse)] {
            if let Some(body) = velocities.get_mut(self.bodies[side] as usize)
                && body.is_free()
            {
                body.linear += sign * self.linear[side];
                body.angular += sign * self.angular[side];
            }
        }
    }

    /// Σ \[1/kg\], with a little for rows that follow from others: drives are exact.
    fn softness(&self) -> f64 {
        let own = if self.role == Role::Drive { 0.0 } else { JOINT_SOFTNESS * self.diagonal };
        own + self.compliance
    }

    /// G M⁻¹ G'ᵀ with another row.
    fn coupling(&self, other: &Row) -> f64 {
        let mut sum = 0.0;
        for (side, body) in self.bodies.into_iter().enumerate() {
            for (at, of_other) in other.bodies.into_iter().enumerate() {
                if body == of_other && body != GROUND {
                    let part =
                        self.direction.dot(other.linear[at]) + self.levers[side].dot(other.angular[at]);
                    sum += if side == at { part } else { -part };
                }
            }
        }
        sum
    }
}

/// Rows that hang together.
#[derive(Debug, Clone, Default)]
struct Machine {
    /// Its rows.
    rows: std::ops::Range<usize>,
    /// G M⁻¹ Gᵀ + Σ.
    matrix: Envelope,
    /// How it was solved last.
    pivots: Pivots,
}

/// The joints of a substep.
#[derive(Debug, Clone, Default)]
pub struct Joints {
    rows: Vec<Row>,
    machines: Vec<Machine>,
}

/// What a joint's rows are made from.
struct Substep<'a> {
    world: &'a World,
    settings: &'a Settings,
    /// When it ends \[s\].
    end: f64,
    velocities: &'a [Velocity],
}

impl Joints {
    /// The joints of the substep that ends at `end` \[s\], with impulses of zero. `velocities` are those before the external forces.
    pub fn start(world: &World, settings: &Settings, end: f64, velocities: &[Velocity]) -> Joints {
        if world.joints.is_empty() {
            return Joints::default();
        }
        let substep = Substep { world, settings, end, velocities };
        Joints::of(world, |joint, rows| substep.add_rows(joint, rows))
    }

    /// The joints while contacts bounce: what they hold goes on at the velocity that it has, drives do nothing in no time.
    pub fn of_impacts(world: &World, settings: &Settings, velocities: &[Velocity]) -> Joints {
        if world.joints.is_empty() {
            return Joints::default();
        }
        let substep = Substep { world, settings, end: world.time, velocities };
        Joints::of(world, |joint, rows| {
            let first = rows.len();
            substep.add_held(joint, rows);
            for row in &mut rows[first..] {
                row.bias = row.speed(velocities);
            }
        })
    }

    /// The rows of all joints, machine by machine.
    fn of(world: &World, mut add_rows: impl FnMut(usize, &mut Vec<Row>)) -> Joints {
        let (mut rows, mut machines) = (Vec::new(), Vec::new());
        for joints in world.joints_by_machine() {
            let first = rows.len();
            for joint in joints {
                add_rows(joint, &mut rows);
            }
            if rows.len() > first {
                let of_machine = &rows[first..];
                let coupled = |i: usize, j: usize| {
                    let own = of_machine[i].coupling(&of_machine[j]);
                    if i == j { own + of_machine[i].softness() } else { own }
                };
                let shares = |row: &Row, other: &Row| {
                    row.bodies.iter().any(|body| *body != GROUND && other.bodies.contains(body))
                };
                // Rows of joints that are far apart share no body: the walk over the joints sees to it that few are in between.
                let start = |i: usize| (0..i).find(|&j| shares(&of_machine[i], &of_machine[j])).unwrap_or(i);
                let matrix = Envelope::new(of_machine.len(), start, coupled);
                machines.push(Machine { rows: first..rows.len(), matrix, pivots: Pivots::default() });
            }
        }
        Joints { rows, machines }
    }

    /// Solves the machines, each with all contacts held fixed; returns by how much at most the velocity of a row was off
    /// \[m/s, rad/s\].
    pub fn solve(&mut self, velocities: &mut [Velocity]) -> f64 {
        let mut largest = 0.0f64;
        for machine in &mut self.machines {
            let rows = &mut self.rows[machine.rows.clone()];
            let impulses: Vec<f64> = rows.iter().map(|row| row.impulse).collect();
            let mut unknowns = machine.matrix.times(&impulses);
            for (row, aim) in rows.iter().zip(&mut unknowns) {
                let off = row.speed(velocities) + row.softness() * row.impulse - row.bias;
                if row.low < row.impulse && row.impulse < row.high {
                    largest = largest.max(off.abs());
                }
                *aim -= off;
            }
            let unknowns: Vec<Unknown> = rows
                .iter()
                .zip(unknowns)
                .map(|(row, aim)| Unknown { aim, low: row.low, high: row.high })
                .collect();
            let found = machine.matrix.solve(&unknowns, &mut machine.pivots);
            for (row, found) in rows.iter_mut().zip(found) {
                let change = found - row.impulse;
                row.push(change, velocities);
                row.impulse = found;
            }
        }
        largest
    }

    /// Impulses go on by a share of what the last sweep made of them \[E12\].
    pub(super) fn extrapolate(&mut self, share: f64) {
        for row in &mut self.rows {
            let before = std::mem::replace(&mut row.last, row.impulse);
            if share > 0.0 {
                row.impulse += share * (row.last - before);
            }
        }
    }

    /// Notes what the joints did in a substep of length `h` \[s\].
    pub fn keep(&self, h: f64, world: &mut World) {
        for state in &mut world.joint_states {
            *state = JointState { position: state.position, ..JointState::default() };
        }
        for row in &self.rows {
            let force = row.impulse / h;
            let state = &mut world.joint_states[row.joint as usize];
            state.force += force * row.direction;
            if row.direction == DVec3::ZERO {
                state.torque += force * row.levers[1];
            }
            match row.role {
                Role::Drive => state.drive += force,
                Role::Limit => state.limit += force,
                Role::Held => {}
            }
        }
    }

    /// Work of all rows on the bodies that give way to them, at the mean of the velocities before and after \[J\]: what they do to a
    /// body that moves as prescribed, or along an axis that is locked, that body takes from elsewhere.
    pub fn work(&self, before: &[Velocity], after: &[Velocity]) -> f64 {
        let work = |row: &Row| 0.5 * row.impulse * (row.given_speed(before) + row.given_speed(after));
        self.rows.iter().map(work).sum()
    }
}

impl Substep<'_> {
    /// All rows of a joint.
    fn add_rows(&self, joint: usize, rows: &mut Vec<Row>) {
        self.add_held(joint, rows);
        self.add_drive(joint, rows);
        self.add_limit(joint, rows);
    }

    /// Rows that hold what the joint does not leave free.
    fn add_held(&self, index: usize, rows: &mut Vec<Row>) {
        let joint = &self.world.joints[index];
        for held in self.world.held_rows(joint) {
            let compliance = if held.is_turn() { joint.angular_compliance } else { joint.compliance };
            let row = self.row(index, Role::Held, &held);
            rows.extend(row.map(|row| self.kept(row, held.off, compliance)));
        }
    }

    /// A row that brings what is `off` back \[E11\].
    fn kept(&self, row: Row, off: f64, compliance: f64) -> Row {
        let h = self.settings.substep();
        let upsilon = joint_upsilon(&self.world.joints[row.joint as usize], h);
        Row {
            compliance: 4.0 * compliance * upsilon / (h * h),
            bias: -4.0 * upsilon / h * off + upsilon * row.speed(self.velocities),
            ..row
        }
    }

    /// The row of the drive, if it does anything.
    fn add_drive(&self, index: usize, rows: &mut Vec<Row>) {
        let (world, joint) = (self.world, &self.world.joints[index]);
        let h = self.settings.substep();
        let Some(command) = joint.command(self.end, h) else { return };
        let Some(row) = self.along(index, Role::Drive) else { return };
        rows.push(match command {
            Command::Push(force) => Row { low: h * force, high: h * force, ..row },
            Command::Press(pressure) => {
                let force = h * pressure * joint.area(world);
                Row { low: force, high: force, ..row }
            }
            Command::Hold { velocity, aim, rate, force_limit } => {
                let position = world.joint_states[index].position;
                let bias = velocity + rate * (aim - position);
                // What no force limits would go through the end of its range.
                let bias = match joint.range {
                    Some([low, high]) if force_limit.is_infinite() => {
                        bias.max((low - position) / h).min((high - position) / h)
                    }
                    _ => bias,
                };
                Row { bias, low: -h * force_limit, high: h * force_limit, ..row }
            }
        });
    }

    /// The row of the end of the range that is nearer.
    fn add_limit(&self, index: usize, rows: &mut Vec<Row>) {
        let joint = &self.world.joints[index];
        let Some([low, high]) = joint.range else { return };
        let Some(row) = self.along(index, Role::Limit) else { return };
        let position = self.world.joint_states[index].position;
        let (below, h) = (position - low, self.settings.substep());
        let above = high - position;
        let is_low = below < above;
        let room = below.min(above);
        // As a contact: it may come as far as the end, and what is beyond it goes back.
        let (sign, infinite) = (if is_low { 1.0 } else { -1.0 }, f64::INFINITY);
        let bias = if room > 0.0 { -sign * room / h } else { self.kept(row, sign * room, 0.0).bias };
        let (low, high) = if is_low { (0.0, infinite) } else { (-infinite, 0.0) };
        rows.push(Row { bias, low, high, ..row });
    }

    /// A row along the position of a joint.
    fn along(&self, index: usize, role: Role) -> Option<Row> {
        self.row(index, role, &self.world.row_along(&self.world.joints[index])?)
    }

    /// A row without bounds; none where neither body gives way.
    fn row(&self, index: usize, role: Role, motion: &JointRow) -> Option<Row> {
        let bodies = self.world.joints[index].bodies.map(|body| body.unwrap_or(GROUND));
        let mass = bodies.map(|body| self.inverse_mass(body));
        let JointRow { direction, levers, .. } = *motion;
        let row = Row {
            joint: index as u32,
            role,
            bodies,
            direction,
            levers,
            linear: mass.map(|mass| mass.linear * direction),
            angular: [0, 1].map(|side: usize| mass[side].angular * levers[side]),
            diagonal: 0.0,
            compliance: 0.0,
            bias: 0.0,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            impulse: 0.0,
            last: 0.0,
        };
        // What rounding leaves of an axis that is locked is none.
        let size = |side: usize| {
            let free = self.velocities.get(bodies[side] as usize).map_or(0.0, |body| body.inverse_mass);
            free * direction.length_squared() + mass[side].angular_bound * levers[side].length_squared()
        };
        let row = Row { diagonal: row.coupling(&row), ..row };
        (row.diagonal > JOINT_ROUNDING * (size(0) + size(1))).then_some(row)
    }

    fn inverse_mass(&self, body: u32) -> InverseMass {
        match self.velocities.get(body as usize) {
            Some(velocity) => InverseMass::of(self.world, body as usize, velocity),
            None => InverseMass { linear: DVec3::ZERO, angular: glam::DMat3::ZERO, angular_bound: 0.0 },
        }
    }
}
