//! Joints \[E11\]: scalar rows between two bodies, solved together and directly, with the impulses of all contacts held fixed.
//!
//! Bodies connected by joints form a machine. The rows of a machine are a linear system with bounds on some of its unknowns (motors and
//! limits), which [`bounded`] solves. This solve alternates with the sweeps over the contacts, as one block. Twin: `shaders/joints.wgsl`.

pub mod bounded;
pub mod instant;

use glam::DVec3;

use crate::model::drive::Command;
use crate::model::joint::JointRow;
use crate::model::{JointState, Pull, World};
use crate::settings::{JOINT_ROUNDING, JOINT_SOFTNESS, Settings};

use super::range::{self, End, joint_upsilon};
use super::velocity::{InverseMass, Velocity};

use bounded::{BoundedRow as Unknown, Envelope, Pivots};

/// Index of the ground in the place of a body.
const GROUND: u32 = u32::MAX;

/// Role of a row of a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Row of a motion that the joint does not leave free.
    Held,
    /// Row of the drive (actuator).
    Drive,
    /// Row of a limit, an end of the range.
    Limit,
}

/// Row of a joint: a scalar velocity between two bodies that an impulse brings to a value.
#[derive(Debug, Clone, Copy)]
struct SolvedRow {
    joint: u32,
    role: Role,
    bodies: [u32; 2],
    /// Direction of the impulse on the second body; 0 for a row that holds a rotation.
    direction: DVec3,
    /// Lever of the impulse on each body, arm × direction; for a row that holds a rotation, its axis.
    levers: [DVec3; 2],
    /// M⁻¹ Gᵀ: change of the velocities of both bodies, and of their angular velocities, by a unit of impulse.
    linear: [DVec3; 2],
    angular: [DVec3; 2],
    /// Diagonal D = G M⁻¹ Gᵀ \[1/kg, 1/(kg m²)\].
    diagonal: f64,
    /// Compliance Σ \[1/kg, 1/(kg m²)\].
    compliance: f64,
    /// Bias velocity q \[m/s, rad/s\].
    bias: f64,
    low: f64,
    high: f64,
    /// Impulse λ \[N s, N m s\].
    impulse: f64,
    /// Impulse λ after the last sweep.
    last: f64,
}

impl SolvedRow {
    /// Velocity of the row, u = G v \[m/s, rad/s\].
    fn speed(&self, velocities: &[Velocity]) -> f64 {
        let of = |side: usize| {
            let Some(body) = velocities.get(self.bodies[side] as usize) else { return 0.0 };
            self.direction.dot(body.linear) + self.levers[side].dot(body.angular)
        };
        of(1) - of(0)
    }

    /// Part of u from free bodies along axes that are not locked.
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

    /// Acceleration of the row by gravity and applied forces, G M⁻¹ f \[m/s², rad/s²\].
    fn pulled(&self, world: &World, velocities: &[Velocity], pull: &Pull<'_>) -> f64 {
        let of = |side: usize| {
            let body = self.bodies[side] as usize;
            let Some(velocity) = velocities.get(body).filter(|velocity| velocity.is_free()) else {
                return 0.0;
            };
            let turned = InverseMass::of(world, body, velocity).angular * pull.torque_on(body);
            self.direction.dot(velocity.pulled(pull, body)) + self.levers[side].dot(turned)
        };
        of(1) - of(0)
    }

    /// Applies an impulse λ to the bodies: v ← v + M⁻¹ Gᵀ λ.
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

    /// Compliance Σ \[1/kg\], with a small addition that makes redundant rows solvable. Drives are exact: they have no addition.
    fn softness(&self) -> f64 {
        let own = if self.role == Role::Drive { 0.0 } else { JOINT_SOFTNESS * self.diagonal };
        own + self.compliance
    }

    /// Part Σ λ by which the velocity of the row may miss its bias velocity. The softness of a limit only makes its system solvable: it
    /// counts for the change of the impulse in a solve, so that repeated solves bring the velocity to its bias velocity.
    fn yielding(&self) -> f64 {
        if self.role == Role::Limit { 0.0 } else { self.softness() * self.impulse }
    }

    /// Coupling with another row, G M⁻¹ G'ᵀ.
    fn coupling(&self, other: &SolvedRow) -> f64 {
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

/// Rows of a machine, coupled by their bodies.
#[derive(Debug, Clone, Default)]
struct Machine {
    /// Range of the machine's rows among all rows.
    rows: std::ops::Range<usize>,
    /// Matrix G M⁻¹ Gᵀ + Σ of the system.
    matrix: Envelope,
    /// Pivots of the last solution, from which the next one starts.
    pivots: Pivots,
}

/// Rows of all joints in a substep.
#[derive(Debug, Clone, Default)]
pub struct Joints {
    rows: Vec<SolvedRow>,
    machines: Vec<Machine>,
}

/// Data from which the rows of joints are made.
struct Substep<'a> {
    world: &'a World,
    settings: &'a Settings,
    /// End of the substep \[s\].
    end: f64,
    velocities: &'a [Velocity],
}

impl Joints {
    /// Makes the rows of the substep that ends at `end` \[s\], with impulses of zero. `velocities` are the velocities before the external
    /// forces.
    pub fn start(world: &World, settings: &Settings, end: f64, velocities: &[Velocity]) -> Joints {
        if world.joints.is_empty() {
            return Joints::default();
        }
        let substep = Substep { world, settings, end, velocities };
        Joints::of(world, |joint, rows| substep.add_rows(joint, rows))
    }

    /// Makes the rows for the impact stage: held motions keep their present velocity. Drives have no rows, as they do nothing in no time,
    /// nor have limits.
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

    /// Makes the rows of all joints, machine by machine.
    fn of(world: &World, mut add_rows: impl FnMut(usize, &mut Vec<SolvedRow>)) -> Joints {
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
                let shares = |row: &SolvedRow, other: &SolvedRow| {
                    row.bodies.iter().any(|body| *body != GROUND && other.bodies.contains(body))
                };
                // Rows of joints that are far apart share no body. The order of the joints in a machine keeps coupled rows close together.
                let start = |i: usize| (0..i).find(|&j| shares(&of_machine[i], &of_machine[j])).unwrap_or(i);
                let matrix = Envelope::new(of_machine.len(), start, coupled);
                machines.push(Machine { rows: first..rows.len(), matrix, pivots: Pivots::default() });
            }
        }
        Joints { rows, machines }
    }

    /// Solves the machines, each with the impulses of all contacts held fixed. Returns the largest error of the velocity of a row between
    /// its bounds, before the solve \[m/s, rad/s\].
    pub fn solve(&mut self, velocities: &mut [Velocity]) -> f64 {
        let mut largest = 0.0f64;
        for machine in &mut self.machines {
            let rows = &mut self.rows[machine.rows.clone()];
            let impulses: Vec<f64> = rows.iter().map(|row| row.impulse).collect();
            let mut unknowns = machine.matrix.times(&impulses);
            for (row, aim) in rows.iter().zip(&mut unknowns) {
                let off = row.speed(velocities) + row.yielding() - row.bias;
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

    /// Extrapolates the impulses by a share of their change in the last sweep \[E12\].
    pub(crate) fn extrapolate(&mut self, share: f64) {
        for row in &mut self.rows {
            let before = std::mem::replace(&mut row.last, row.impulse);
            if share > 0.0 {
                row.impulse += share * (row.last - before);
            }
        }
    }

    /// Stores forces and torques of the joints in a substep of length `h` \[s\].
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

    /// Work of all rows on the free bodies along axes that are not locked, at the mean of the velocities before and after \[J\]. A body
    /// that moves as prescribed, or along a locked axis, takes the work on it from elsewhere.
    pub fn work(&self, before: &[Velocity], after: &[Velocity]) -> f64 {
        let work = |row: &SolvedRow| 0.5 * row.impulse * (row.given_speed(before) + row.given_speed(after));
        self.rows.iter().map(work).sum()
    }
}

impl Substep<'_> {
    /// Adds all rows of a joint.
    fn add_rows(&self, joint: usize, rows: &mut Vec<SolvedRow>) {
        self.add_held(joint, rows);
        self.add_drive(joint, rows);
        self.add_limit(joint, rows);
    }

    /// Adds the rows of the motions that the joint does not leave free.
    fn add_held(&self, index: usize, rows: &mut Vec<SolvedRow>) {
        let joint = &self.world.joints[index];
        for held in self.world.held_rows(joint) {
            let compliance = if held.is_turn() { joint.angular_compliance } else { joint.compliance };
            let row = self.row(index, Role::Held, &held);
            rows.extend(row.map(|row| self.kept(row, held.off, compliance)));
        }
    }

    /// Sets compliance and bias velocity of a row such that it corrects the position error `off` \[E11\].
    fn kept(&self, row: SolvedRow, off: f64, compliance: f64) -> SolvedRow {
        let h = self.settings.substep();
        let upsilon = joint_upsilon(&self.world.joints[row.joint as usize], h);
        SolvedRow {
            compliance: 4.0 * compliance * upsilon / (h * h),
            bias: -4.0 * upsilon / h * off + upsilon * row.speed(self.velocities),
            ..row
        }
    }

    /// Adds the row of the drive, if the drive has a command.
    fn add_drive(&self, index: usize, rows: &mut Vec<SolvedRow>) {
        let (world, joint) = (self.world, &self.world.joints[index]);
        let h = self.settings.substep();
        let Some(command) = joint.command(self.end, h) else { return };
        let Some(row) = self.along(index, Role::Drive) else { return };
        rows.push(match command {
            Command::Push(force) => SolvedRow { low: h * force, high: h * force, ..row },
            Command::Press(pressure) => {
                let force = h * pressure * joint.area(world);
                SolvedRow { low: force, high: force, ..row }
            }
            Command::Hold { velocity, aim, rate, force_limit } => {
                let position = world.joint_states[index].position;
                let bias = velocity + rate * (aim - position);
                // A drive without a force limit would go through the end of its range.
                let bias = match joint.range {
                    Some([low, high]) if force_limit.is_infinite() => {
                        bias.max((low - position) / h).min((high - position) / h)
                    }
                    _ => bias,
                };
                SolvedRow { bias, low: -h * force_limit, high: h * force_limit, ..row }
            }
        });
    }

    /// Adds the row of the limit (end of the range) that the joint meets first.
    fn add_limit(&self, index: usize, rows: &mut Vec<SolvedRow>) {
        let (joint, h) = (&self.world.joints[index], self.settings.substep());
        let Some(range) = joint.range else { return };
        let Some(row) = self.along(index, Role::Limit) else { return };
        let position = self.world.joint_states[index].position;
        let allowed =
            range::allowed_speeds(joint, range, position, h, range::slack(joint, f64::EPSILON, 0.0));
        let restitution = range::restitution(joint, joint.command(self.end, h));
        let End { is_low, bias } = range::end_met(allowed, row.speed(self.velocities), restitution);
        let (low, high) = if is_low { (0.0, f64::INFINITY) } else { (f64::NEG_INFINITY, 0.0) };
        rows.push(SolvedRow { bias, low, high, ..row });
    }

    /// Row of the motion along the position of a joint.
    fn along(&self, index: usize, role: Role) -> Option<SolvedRow> {
        self.row(index, role, &self.world.row_along(&self.world.joints[index])?)
    }

    /// Row without bounds; `None` where neither body can move along it.
    fn row(&self, index: usize, role: Role, motion: &JointRow) -> Option<SolvedRow> {
        let bodies = self.world.joints[index].bodies.map(|body| body.unwrap_or(GROUND));
        let mass = bodies.map(|body| self.inverse_mass(body));
        let JointRow { direction, levers, .. } = *motion;
        let row = SolvedRow {
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
        // A diagonal that is rounding only comes from locked axes: no row.
        let size = |side: usize| {
            let free = self.velocities.get(bodies[side] as usize).map_or(0.0, |body| body.inverse_mass);
            free * direction.length_squared() + mass[side].angular_bound * levers[side].length_squared()
        };
        let row = SolvedRow { diagonal: row.coupling(&row), ..row };
        (row.diagonal > JOINT_ROUNDING * (size(0) + size(1))).then_some(row)
    }

    fn inverse_mass(&self, body: u32) -> InverseMass {
        match self.velocities.get(body as usize) {
            Some(velocity) => InverseMass::of(self.world, body as usize, velocity),
            None => InverseMass { linear: DVec3::ZERO, angular: glam::DMat3::ZERO, angular_bound: 0.0 },
        }
    }
}
