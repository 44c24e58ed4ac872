//! Steps that the tension of joints bears \[E11\]: the fastest swing of the parts of a machine under the forces of its joints at rest.
//!
//! A force f at `arm` a turns with the body that it pulls at: it holds the body's rotation with the stiffness (a·f) 1 - a fᵀ. A rod under
//! a tension T over its length l holds its two places across its line with T/l. Forces of joints follow from positions at the start of a
//! substep, so a swing of frequency ω under them grows once h ω > 2, whatever the solver does.

use glam::{DMat3, DVec3};

use super::{JointKind, JointRow};
use crate::model::rigid::principal;
use crate::model::{Joint, World};

/// Fastest swing of a part of a machine under the forces of its joints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tension {
    /// Dynamic body that swings most.
    pub body: u32,
    /// Its mass \[kg\].
    pub mass: f64,
    /// Joint with the largest force on this body.
    pub joint: usize,
    /// That force \[N\].
    pub force: f64,
    /// Angular frequency ω of the swing \[rad/s\].
    pub frequency: f64,
}

/// Part of a row that does not depend on earlier rows, over the row, below which it is rounding \[-\].
const INDEPENDENT: f64 = 1e-6;
/// Turns of the power iteration that finds the size of the stiffest swing, and then its frequency.
const TURNS: [usize; 2] = [30, 200];

impl Tension {
    /// Longest substep under which the swing does not grow \[s\].
    pub fn longest_substep(&self) -> f64 {
        2.0 / self.frequency
    }
}

/// Vector over the velocities of the bodies of a machine, three numbers for the translation and three for the rotation of each, times the
/// square root of their masses.
type MachineMotion = Vec<[DVec3; 2]>;

/// Machine at rest: square roots of its inverse masses, an orthonormal basis of what its joints hold, and the forces of the joints.
struct MachineAtRest<'a> {
    world: &'a World,
    bodies: Vec<u32>,
    /// 1/√m along each axis, 0 along locked ones, and the square root of the inverse inertia of each body.
    roots: Vec<(DVec3, DMat3)>,
    held: Vec<MachineMotion>,
    /// Joints and their forces on their second bodies \[N\].
    forces: Vec<(usize, DVec3)>,
}

impl World {
    /// Returns the fastest swing of all machines in their present pose under the forces that their joints carry at rest, from gravity and
    /// applied forces, with motors and servos that hold their positions; `None` where nothing swings.
    pub fn fastest_swing(&self) -> Option<Tension> {
        let machines = self.joints_by_machine();
        let swings = machines.iter().filter_map(|joints| MachineAtRest::new(self, joints).fastest_swing());
        swings.max_by(|a, b| a.frequency.total_cmp(&b.frequency))
    }
}

impl<'a> MachineAtRest<'a> {
    fn new(world: &'a World, joints: &[usize]) -> MachineAtRest<'a> {
        let of_joints = joints.iter().flat_map(|&joint| world.joints[joint].bodies).flatten();
        let mut bodies: Vec<u32> = of_joints.filter(|&body| world.bodies.is_dynamic(body as usize)).collect();
        bodies.sort_unstable();
        bodies.dedup();
        let roots = bodies.iter().map(|&body| roots(world, body as usize)).collect();
        let mut machine = MachineAtRest { world, bodies, roots, held: Vec::new(), forces: Vec::new() };
        machine.find_forces(joints);
        machine
    }

    fn place_of(&self, body: Option<u32>) -> Option<usize> {
        self.bodies.binary_search(&body?).ok()
    }

    /// Rows that a joint holds: those of its kind, and that of a motor or servo.
    fn rows(&self, joint: &Joint) -> Vec<JointRow> {
        let is_driven = joint.drives.iter().any(|(_, drive)| drive.holds());
        let along = self.world.row_along(joint).filter(|_| is_driven);
        self.world.held_rows(joint).into_iter().chain(along).collect()
    }

    /// Row times the square root of the inverse masses.
    fn weighted(&self, joint: &Joint, row: &JointRow) -> MachineMotion {
        let mut motion = self.nothing();
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let Some(place) = self.place_of(joint.bodies[side]) else { continue };
            let (linear, angular) = self.roots[place];
            motion[place][0] += sign * linear * row.direction;
            motion[place][1] += angular * (sign * row.levers[side]);
        }
        motion
    }

    fn nothing(&self) -> MachineMotion {
        vec![[DVec3::ZERO; 2]; self.bodies.len()]
    }

    /// Finds the basis of what the joints hold, W = (Q R)ᵀ by Gram & Schmidt, and their forces: W Wᵀ λ = -W f, so R λ = -Qᵀ f.
    fn find_forces(&mut self, joints: &[usize]) {
        let (mut columns, mut rows) = (Vec::new(), Vec::new());
        for &joint in joints {
            for row in self.rows(&self.world.joints[joint]) {
                let mut motion = self.weighted(&self.world.joints[joint], &row);
                let whole = length(&motion);
                let mut column = vec![0.0; self.held.len()];
                for _ in 0..2 {
                    for (known, entry) in self.held.iter().zip(&mut column) {
                        let along = dot(&motion, known);
                        add(&mut motion, -along, known);
                        *entry += along;
                    }
                }
                let left = length(&motion);
                // The force of a row that depends on others is left to the others.
                if left > INDEPENDENT * whole {
                    motion.iter_mut().flatten().for_each(|part| *part /= left);
                    column.push(left);
                    self.held.push(motion);
                    columns.push(column);
                    rows.push((joint, row.direction));
                }
            }
        }
        let pull = self.pull();
        let mut impulses: Vec<f64> = self.held.iter().map(|held| -dot(&pull, held)).collect();
        for i in (0..impulses.len()).rev() {
            let later = (i + 1..impulses.len()).map(|j| columns[j][i] * impulses[j]).sum::<f64>();
            impulses[i] = (impulses[i] - later) / columns[i][i];
        }
        self.forces = joints.iter().map(|&joint| (joint, DVec3::ZERO)).collect();
        for ((joint, direction), impulse) in rows.into_iter().zip(impulses) {
            if let Some((_, force)) = self.forces.iter_mut().find(|(of, _)| *of == joint) {
                *force += impulse * direction;
            }
        }
    }

    /// Gravity and applied forces, times the square root of the inverse masses.
    fn pull(&self) -> MachineMotion {
        let pull = self.world.pull();
        let on = |(&body, (linear, angular)): (&u32, &(DVec3, DMat3))| {
            let mass = 1.0 / self.world.bodies.inverse_mass[body as usize];
            let force = mass * pull.gravity + pull.force_on(body as usize);
            [*linear * force, *angular * pull.torque_on(body as usize)]
        };
        self.bodies.iter().zip(&self.roots).map(on).collect()
    }

    /// Stiffness of the forces of the joints, within what the joints leave free.
    fn stiffness(&self, motion: &MachineMotion) -> MachineMotion {
        let plain: MachineMotion = motion
            .iter()
            .zip(&self.roots)
            .map(|(motion, root)| [root.0 * motion[0], root.1 * motion[1]])
            .collect();
        let mut found = self.nothing();
        for &(joint, force) in &self.forces {
            let joint = &self.world.joints[joint];
            let placed = self.world.placed(joint);
            let places = joint.bodies.map(|body| self.place_of(body));
            let turn = |side: usize| places[side].map_or(DVec3::ZERO, |place| plain[place][1]);
            for (side, sign) in [(0, -1.0), (1, 1.0)] {
                let Some(place) = places[side] else { continue };
                let (arm, force, turn) = (placed.arms[side], sign * force, turn(side));
                found[place][1] +=
                    arm.dot(force) * turn - 0.5 * (arm * force.dot(turn) + force * arm.dot(turn));
            }
            if matches!(joint.kind, JointKind::Distance | JointKind::Actuator) {
                let shift = |side: usize| {
                    let linear = places[side].map_or(DVec3::ZERO, |place| plain[place][0]);
                    linear + turn(side).cross(placed.arms[side])
                };
                let (line, tension) = (placed.line(), -force.dot(placed.line()));
                let across = (shift(1) - shift(0)).reject_from_normalized(line);
                let pull = tension / placed.gap().length() * across;
                for (side, sign) in [(0, -1.0), (1, 1.0)] {
                    let Some(place) = places[side] else { continue };
                    found[place][0] += sign * pull;
                    found[place][1] += placed.arms[side].cross(sign * pull);
                }
            }
        }
        for (found, root) in found.iter_mut().zip(&self.roots) {
            *found = [root.0 * found[0], root.1 * found[1]];
        }
        self.release(&mut found);
        found
    }

    /// Takes what the joints hold out of a motion.
    fn release(&self, motion: &mut MachineMotion) {
        for held in &self.held {
            let along = dot(motion, held);
            add(motion, -along, held);
        }
    }

    /// Largest eigenvalue ω² of the stiffness by power iteration, first of its size, then shifted by that, so that parts under pressure,
    /// which buckle and do not swing, have no part in it.
    fn fastest_swing(&self) -> Option<Tension> {
        let seed = |i: usize, k: f64| (1.0 + 7.3 * i as f64 + k).sin();
        let vector = |i: usize, k: f64| DVec3::new(seed(i, k), seed(i, k + 2.0), seed(i, k + 4.0));
        let mut motion: MachineMotion =
            (0..self.bodies.len()).map(|i| [vector(i, 0.0), vector(i, 1.0)]).collect();
        let whole = length(&motion);
        self.release(&mut motion);
        // What is left is rounding where the joints and their motors leave no motion free.
        if length(&motion) < INDEPENDENT * whole {
            return None;
        }
        let (mut shift, mut value) = (0.0, 0.0);
        for turns in TURNS {
            for _ in 0..turns {
                let size = length(&motion);
                if size <= 1e-300 {
                    return None;
                }
                motion.iter_mut().flatten().for_each(|part| *part /= size);
                self.release(&mut motion);
                let mut next = self.stiffness(&motion);
                value = dot(&next, &motion);
                add(&mut next, shift, &motion);
                motion = next;
            }
            shift = length(&motion);
        }
        // Rounding of a motion that no force holds is no swing.
        (value > 1e-9 * shift).then(|| self.swing(&motion, value.sqrt())).flatten()
    }

    /// Names the body that swings most, and the joint that pulls most at it.
    fn swing(&self, motion: &MachineMotion, frequency: f64) -> Option<Tension> {
        let share = |part: &[DVec3; 2]| part[0].length_squared() + part[1].length_squared();
        let (place, _) =
            motion.iter().map(share).enumerate().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let body = self.bodies[place];
        let pulls =
            self.forces.iter().filter(|(joint, _)| self.world.joints[*joint].bodies.contains(&Some(body)));
        let (joint, force) = pulls
            .map(|(joint, force)| (*joint, force.length()))
            .max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let mass = 1.0 / self.world.bodies.inverse_mass[body as usize];
        Some(Tension { body, mass, joint, force, frequency })
    }
}

/// 1/√m along each axis, and the square root of the inverse inertia about the axes of the world.
fn roots(world: &World, body: usize) -> (DVec3, DMat3) {
    let bodies = &world.bodies;
    let linear = bodies.inverse_mass[body].sqrt() * bodies.locked[body].free_translation();
    let Some(rigid) = bodies.rigid(body) else { return (linear, DMat3::ZERO) };
    let (moments, axes) = principal(rigid.inverse_inertia(bodies.orientation[body]));
    let frame = DMat3::from_quat(axes);
    let roots = DMat3::from_diagonal(moments.max(DVec3::ZERO).map(f64::sqrt));
    (linear, frame * roots * frame.transpose())
}

fn dot(a: &MachineMotion, b: &MachineMotion) -> f64 {
    a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| a.dot(*b)).sum()
}

fn length(motion: &MachineMotion) -> f64 {
    dot(motion, motion).sqrt()
}

fn add(to: &mut MachineMotion, factor: f64, motion: &MachineMotion) {
    to.iter_mut().flatten().zip(motion.iter().flatten()).for_each(|(to, part)| *to += factor * *part);
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;
    use crate::model::{Axes, Boundary, Materials, Motion as Path, RigidBody, Surface};

    const G: f64 = 9.81;

    /// A chain that hangs from the ground: links of 1 m, of these masses \[kg\] and moments across \[kg m²\].
    fn chain(links: &[(f64, f64)]) -> World {
        let mut world = World::new(DVec3::new(0.0, 0.0, -G), Materials::default());
        for (i, &(mass, moment)) in links.iter().enumerate() {
            let moments = DVec3::new(moment, moment, 0.1 * moment);
            let body = RigidBody {
                mass,
                moments,
                velocity: DVec3::ZERO,
                angular_velocity: DVec3::ZERO,
                locked: Axes::NONE,
            };
            let top = DVec3::new(0.0, 0.0, -(i as f64));
            let position = top - 0.5 * DVec3::Z;
            let motion = Path::Dynamic(body);
            let boundary = Boundary { name: format!("l{i}"), position, orientation: DQuat::IDENTITY, motion };
            world.add_boundary(boundary, std::iter::empty::<Surface>());
            let above = i.checked_sub(1).map(|above| above as u32);
            let joint = Joint::new(
                &world,
                JointKind::Ball,
                &format!("j{i}"),
                [above, Some(i as u32)],
                [top; 2],
                DVec3::Z,
            );
            world.add_joint(joint);
        }
        world
    }

    /// A rod of 3 kg and 1 m on a ball swings with ω² = m g (l/2) / I about its end.
    #[test]
    fn a_rod_swings_as_the_pendulum_that_it_is() {
        let found = chain(&[(3.0, 0.25)]).fastest_swing().expect("it swings");
        approx::assert_relative_eq!(found.frequency, (3.0 * G * 0.5 / 1.0f64).sqrt(), max_relative = 1e-9);
        approx::assert_relative_eq!(found.force, 3.0 * G, max_relative = 1e-9);
    }

    /// A light link over a heavy sphere on a short arm: with the centre of the heavy one at rest, the node between them swings with
    /// ω² = (T/l + T/b) / (I/l² + m/4 + J/b²), where b = 0.5 m from the node to the heavy centre; the rest is of order m/M = 1e-4.
    #[test]
    fn a_light_link_over_a_heavy_weight_is_the_fastest() {
        let (mass, moment, heavy, large) = (0.2, 1.0 / 60.0, 2000.0, 0.01);
        let found = chain(&[(mass, moment), (heavy, large)]).fastest_swing().expect("it swings");
        let tension = heavy * G;
        let inertia = moment + 0.25 * mass + large / 0.25;
        let expected = (tension * (1.0 + 1.0 / 0.5) / inertia).sqrt();
        approx::assert_relative_eq!(found.frequency, expected, max_relative = 1e-3);
        assert_eq!((found.body, found.joint, found.mass), (0, 0, mass));
    }

    #[test]
    fn what_weighs_nothing_or_stands_on_its_head_does_not_swing() {
        let mut world = chain(&[(3.0, 0.25), (1.0, 0.1)]);
        world.gravity = DVec3::ZERO;
        assert_eq!(world.fastest_swing(), None);
        world.gravity = DVec3::new(0.0, 0.0, G);
        assert_eq!(world.fastest_swing(), None, "it buckles");
        let mut held = chain(&[(3.0, 0.25)]);
        held.joints[0].kind = JointKind::Lock;
        assert_eq!(held.fastest_swing(), None, "no motion is free");
    }
}
