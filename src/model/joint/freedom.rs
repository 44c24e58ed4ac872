//! Degrees of freedom of machines: motions that joints leave free, joint rows that depend on others, and drives that can move nothing.

use glam::DVec3;

use super::JointRow;
use crate::model::{Joint, World};

/// Degrees of freedom of a machine in its present pose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freedom {
    /// Dynamic bodies of the machine.
    pub bodies: Vec<u32>,
    /// Joints of the machine.
    pub joints: Vec<usize>,
    /// Number of independent motions, with all drives released.
    pub ways: usize,
    /// Number of joint rows that depend on other rows.
    pub redundant: usize,
    /// Joints whose motor or servo holds a motion that joints and earlier drives hold already.
    pub stuck: Vec<usize>,
}

/// Least length of the part of a row that is independent of earlier rows, over the length of the row \[-\].
const INDEPENDENT: f64 = 1e-6;

impl World {
    /// Returns the machines, bodies connected by joints, with their degrees of freedom in the present pose.
    pub fn machines_and_freedom(&self) -> Vec<Freedom> {
        let machines = &self.machines;
        let is_dynamic = |body: u32| self.bodies.is_dynamic(body as usize);
        let machine_of = |joint: &Joint| {
            let body = joint.bodies.into_iter().flatten().find(|&body| is_dynamic(body))?;
            Some(machines[body as usize])
        };
        let mut heads: Vec<u32> = self.joints.iter().filter_map(machine_of).collect();
        heads.sort_unstable();
        heads.dedup();
        let freedom = |head: u32| {
            let joints =
                (0..self.joints.len()).filter(|&joint| machine_of(&self.joints[joint]) == Some(head));
            let bodies = (0..machines.len() as u32).filter(|&body| machines[body as usize] == head);
            self.freedom_of(bodies.filter(|&body| is_dynamic(body)).collect(), joints.collect())
        };
        heads.into_iter().map(freedom).collect()
    }

    fn freedom_of(&self, bodies: Vec<u32>, joints: Vec<usize>) -> Freedom {
        let arm = |joint: &usize| {
            let placed = self.placed(&self.joints[*joint]);
            placed.arms[0].length().max(placed.arms[1].length())
        };
        // Rotations count as the displacements that they cause at the largest lever of a joint.
        let length = joints.iter().map(arm).fold(0.0, f64::max).max(1e-9);
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut redundant = 0;
        for &joint in &joints {
            for row in self.held_rows(&self.joints[joint]) {
                let (row, whole) = self.vector(&bodies, &self.joints[joint], &row, length);
                let size = row.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
                // A row to which no body can yield holds nothing.
                if size > INDEPENDENT * whole && !extends(&mut basis, row, whole) {
                    redundant += 1;
                }
            }
        }
        let locks: usize = bodies
            .iter()
            .map(|&body| {
                let locked = self.bodies.locked[body as usize];
                6 - (locked.free_translation().element_sum() + locked.free_rotation().element_sum()) as usize
            })
            .sum();
        let ways = 6 * bodies.len() - locks - basis.len();
        let drives = joints.iter().copied().filter(|&joint| {
            let holds = |(_, drive): &(f64, crate::model::Drive)| drive.holds();
            self.joints[joint].drives.iter().any(holds)
        });
        let stuck = drives
            .filter(|&joint| {
                let row = self.row_along(&self.joints[joint]);
                let row = row.map(|row| self.vector(&bodies, &self.joints[joint], &row, length));
                !row.is_some_and(|(row, whole)| extends(&mut basis, row, whole))
            })
            .collect();
        Freedom { bodies, joints, ways, redundant, stuck }
    }

    /// A joint row as a vector over the velocities of these bodies without their locked axes, and its length with the locked axes.
    fn vector(&self, bodies: &[u32], joint: &Joint, row: &JointRow, length: f64) -> (Vec<f64>, f64) {
        let mut vector = vec![0.0; 6 * bodies.len()];
        let mut whole = 0.0;
        let mut add = |at: usize, part: DVec3| {
            for (entry, value) in vector[at..at + 3].iter_mut().zip(part.to_array()) {
                *entry += value;
            }
        };
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let Some(body) = joint.bodies[side] else { continue };
            let Some(place) = bodies.iter().position(|&other| other == body) else { continue };
            let locked = self.bodies.locked[body as usize];
            add(6 * place, sign * row.direction * locked.free_translation());
            add(6 * place + 3, sign / length * row.levers[side] * locked.free_rotation());
            whole += row.direction.length_squared() + (row.levers[side] / length).length_squared();
        }
        (vector, whole.sqrt())
    }
}

/// Adds the part of a row that is independent of the basis to the basis; returns whether that part is more than rounding, compared with
/// the length `whole` of the row.
fn extends(basis: &mut Vec<Vec<f64>>, mut row: Vec<f64>, whole: f64) -> bool {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    // Two passes of Gram-Schmidt are enough (Giraud, Langou & Rozložník 2005).
    for _ in 0..2 {
        for known in basis.iter() {
            let along = dot(&row, known);
            row.iter_mut().zip(known).for_each(|(entry, known)| *entry -= along * known);
        }
    }
    let left = dot(&row, &row).sqrt();
    if left <= INDEPENDENT * whole {
        return false;
    }
    row.iter_mut().for_each(|entry| *entry /= left);
    basis.push(row);
    true
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;
    use crate::model::drive::Course;
    use crate::model::{Boundary, Drive, Form, JointKind, Materials, Motion, RigidBody, Surface};

    /// A four-bar linkage: two cranks on the ground and a rod between them, whose hinges turn about these axes.
    fn linkage(axes: [DVec3; 4]) -> World {
        let mut world = World::new(DVec3::ZERO, Materials::default());
        let body = RigidBody::solid(Form::Box { half: DVec3::splat(0.1) }, 1000.0).expect("a box");
        for position in [DVec3::new(0.0, 0.0, 0.5), DVec3::new(1.0, 0.0, 1.2), DVec3::new(2.0, 0.0, 0.7)] {
            let motion = Motion::Dynamic(body);
            let boundary = Boundary { name: "bar".into(), position, orientation: DQuat::IDENTITY, motion };
            world.add_boundary(boundary, std::iter::empty::<Surface>());
        }
        let places = [DVec3::ZERO, DVec3::Z, DVec3::new(2.0, 0.0, 1.4), DVec3::new(2.0, 0.0, 0.0)];
        let pairs = [[None, Some(0)], [Some(0), Some(1)], [Some(1), Some(2)], [Some(2), None]];
        for ((bodies, place), axis) in pairs.into_iter().zip(places).zip(axes) {
            let hinge = Joint::new(&world, JointKind::Hinge, "hinge", bodies, [place; 2], axis);
            world.add_joint(hinge);
        }
        world
    }

    #[test]
    fn a_four_bar_linkage_has_one_way_to_move_and_three_redundant_rows() {
        let found = linkage([DVec3::Y; 4]).machines_and_freedom();
        let [Freedom { ways, redundant, stuck, .. }] = &found[..] else { panic!("one machine") };
        assert_eq!((*ways, *redundant, stuck.len()), (1, 3, 0));
    }

    #[test]
    fn a_wall_on_a_rail_moves_in_one_way_whichever_way_it_looks() {
        for axis in [DVec3::Z, DVec3::NEG_Z, DVec3::NEG_X] {
            let mut world = World::new(DVec3::ZERO, Materials::default());
            let along = (0..3).find(|&i| axis[i] != 0.0).expect("an axis");
            let motion = Motion::Dynamic(RigidBody::on_rail(1.0, along));
            let (name, position, orientation) = ("wall".into(), DVec3::ZERO, DQuat::IDENTITY);
            world.add_boundary(
                Boundary { name, position, orientation, motion },
                std::iter::empty::<Surface>(),
            );
            let motor = Drive::Motor { velocity: Course::Constant(1.0), force_limit: 1.0 };
            world.add_rail(0, axis, vec![(0.0, motor)], None);
            let found = &world.machines_and_freedom()[0];
            assert_eq!((found.ways, found.redundant, found.stuck.len()), (1, 0, 0), "{axis}");
        }
    }

    #[test]
    fn a_second_motor_and_one_in_a_loop_that_cannot_move_are_stuck() {
        let motor = || vec![(0.0, Drive::Motor { velocity: Course::Constant(1.0), force_limit: 1.0 })];
        let mut world = linkage([DVec3::Y; 4]);
        world.joints[0].drives = motor();
        assert!(world.machines_and_freedom()[0].stuck.is_empty());
        world.joints[3].drives = motor();
        assert_eq!(world.machines_and_freedom()[0].stuck, [3]);
        let mut rigid = linkage([DVec3::Y, DVec3::new(1.0, 1.0, 0.0), DVec3::Y, DVec3::new(0.0, 1.0, 0.3)]);
        rigid.joints[0].drives = motor();
        let found = rigid.machines_and_freedom();
        assert_eq!((found[0].ways, &found[0].stuck[..]), (0, &[0][..]));
    }
}
