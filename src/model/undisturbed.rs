//! Machines that run undisturbed: gravity, applied forces and their own joints move them, and nothing else ever touches them. Their motion
//! is smooth, so engines move them by a rule of second order \[E1\].

use super::{Bodies, Joint, Motion, World};

impl World {
    /// Dynamic boundaries of machines that run undisturbed, ascending.
    ///
    /// The joints of such a machine connect its bodies to each other and to the ground, and neither hold a velocity nor end a range, as
    /// both change velocities at once. Its bodies have no surfaces, or the scene takes no grains and has no other surfaces.
    pub fn undisturbed(&self) -> Vec<u32> {
        let dynamic: Vec<u32> = self.dynamic_boundaries().map(|(body, _)| body as u32).collect();
        if dynamic.is_empty() {
            return dynamic;
        }
        let mut is_disturbed = vec![false; self.boundaries.len()];
        for joint in self.joints.iter().filter(|joint| self.acts_at_once(joint)) {
            for body in joint.bodies.into_iter().flatten() {
                is_disturbed[self.machines[body as usize] as usize] = true;
            }
        }
        let machine = |body: u32| self.machines[body as usize];
        let first = self.surfaces.first().map(|surface| machine(surface.body));
        let may_touch =
            self.takes_grains || self.surfaces.iter().any(|surface| Some(machine(surface.body)) != first);
        if may_touch {
            self.surfaces.iter().for_each(|surface| is_disturbed[machine(surface.body) as usize] = true);
        }
        dynamic.into_iter().filter(|&body| !is_disturbed[machine(body) as usize]).collect()
    }

    /// Whether a joint may change velocities at once, or connects a machine to a body that moves as prescribed.
    fn acts_at_once(&self, joint: &Joint) -> bool {
        let moves_as_told =
            |body: u32| !matches!(self.boundaries[body as usize].motion, Motion::Fixed | Motion::Dynamic(_));
        joint.range.is_some()
            || joint.drives.iter().any(|(_, drive)| drive.holds())
            || joint.bodies.into_iter().flatten().any(moves_as_told)
    }

    /// Moves dynamic boundaries for a time \[s\], which may be negative, as without forces: they keep their momentum and angular momentum.
    pub fn drift(&mut self, bodies: &[u32], time: f64) {
        if bodies.is_empty() {
            return;
        }
        for body in bodies.iter().map(|&body| body as usize) {
            let Some(rigid) = self.bodies.rigid(body) else { continue };
            let Bodies { position, orientation, velocity, angular_velocity, .. } = &mut self.bodies;
            position[body] = self.periodic.wrap(position[body] + time * velocity[body]);
            (orientation[body], angular_velocity[body]) =
                rigid.turn(orientation[body], angular_velocity[body], time);
        }
        self.update_joints();
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::super::drive::Course;
    use super::super::{Boundary, Drive, Form, JointKind, Materials, RigidBody, Surface};
    use super::*;

    /// Two dynamic bodies with shapes, a fixed one without and one that moves as told, and a ball joint between the first two.
    fn machine() -> World {
        let mut world = World::new(DVec3::NEG_Z, Materials::default());
        let form = Form::Box { half: DVec3::new(0.1, 0.2, 0.3) };
        let body = RigidBody::solid(form, 1000.0).expect("a box can be free");
        let motions =
            [Motion::Dynamic(body), Motion::Dynamic(body), Motion::Fixed, Motion::velocity(DVec3::X)];
        for (x, motion) in (0..).zip(motions) {
            let is_shaped = matches!(motion, Motion::Dynamic(_));
            let position = DVec3::new(f64::from(x), 0.0, 0.0);
            let name = format!("body-{x}");
            let boundary = Boundary { name, position, orientation: DQuat::IDENTITY, motion };
            world.add_boundary(
                boundary,
                is_shaped.then(|| Surface::new(DVec3::ZERO, DQuat::IDENTITY, form, 0)),
            );
        }
        let joint = joint_of(&world, JointKind::Ball, [Some(0), Some(1)]);
        world.add_joint(joint);
        world
    }

    fn joint_of(world: &World, kind: JointKind, bodies: [Option<u32>; 2]) -> Joint {
        let points = match kind {
            JointKind::Distance => [DVec3::ZERO, DVec3::new(0.4, 0.5, 0.1)],
            _ => [DVec3::new(0.5, 0.1, 0.2); 2],
        };
        match kind {
            JointKind::Universal => {
                Joint::universal(world, "joint", bodies, points[0], [DVec3::Y, DVec3::new(0.6, 0.0, 0.8)])
            }
            _ => Joint::new(world, kind, "joint", bodies, points, DVec3::new(1.0, 2.0, 2.0)),
        }
    }

    const NONE: [u32; 0] = [];

    #[test]
    fn a_machine_is_disturbed_by_what_may_touch_it_or_change_its_velocity_at_once() {
        let with = |change: &dyn Fn(&mut World)| {
            let mut world = machine();
            change(&mut world);
            world.undisturbed()
        };
        assert_eq!(with(&|_| ()), [0, 1]);
        assert_eq!(with(&|world| world.reserve(1)), NONE, "grains may come");
        let copy = with(&|world| {
            world.reserve(1);
            *world = world.clone();
        });
        assert_eq!(copy, NONE, "grains may come to a clone, which has lost the room for them");
        assert_eq!(with(&|world| world.joints.clear()), [0, 1], "the bodies are of one machine still");
        assert_eq!(with(&|world| world.machines = vec![0, 1, 2, 3]), NONE, "they may touch each other");
        let alone = with(&|world| (world.machines, world.surfaces[1].body) = (vec![0, 1, 2, 3], 2));
        assert_eq!(alone, [1], "what has no surface is not touched");
        let holds = Drive::Motor { velocity: Course::Constant(1.0), force_limit: 1.0 };
        let drives = |drive: Drive| {
            with(&|world| {
                let hinge = joint_of(world, JointKind::Hinge, [None, Some(0)]);
                world.add_joint(Joint { drives: vec![(0.0, drive.clone())], ..hinge });
            })
        };
        assert_eq!(drives(Drive::Force(Course::Constant(1.0))), [0, 1]);
        assert_eq!(drives(holds), NONE);
        assert_eq!(with(&|world| world.joints[0].range = Some([0.0, 1.0])), NONE);
        for (partner, expected) in [(2, vec![0, 1]), (3, vec![])] {
            let found = with(&|world| {
                let joint = joint_of(world, JointKind::Lock, [Some(partner), Some(1)]);
                world.add_joint(joint);
            });
            assert_eq!(found, expected, "joined to body {partner}");
        }
    }

    /// The speed of a held row is the rate at which its deviation changes, for every kind of joint. At the start deviations are zero.
    #[test]
    fn deviations_of_held_rows_change_at_the_speed_of_the_row() {
        const SHORT: f64 = 1e-6;
        for kind in [
            JointKind::Hinge,
            JointKind::Slider,
            JointKind::Ball,
            JointKind::Lock,
            JointKind::Distance,
            JointKind::Cylindrical,
            JointKind::Universal,
        ] {
            let mut world = machine();
            world.joints = vec![joint_of(&world, kind, [Some(0), Some(1)])];
            world.joint_states.truncate(1);
            world.bodies.velocity[0] = DVec3::new(0.3, -0.4, 0.5);
            world.bodies.angular_velocity[0] = DVec3::new(1.0, 0.7, -0.6);
            world.bodies.angular_velocity[1] = DVec3::new(-0.2, 0.9, 0.4);
            let joint = world.joints[0].clone();
            let rows = world.held_rows(&joint);
            assert_eq!(rows.len(), kind.held_rows().into_iter().sum::<usize>());
            let off = |time: f64| {
                let mut world = world.clone();
                world.drift(&[0, 1], time);
                world.held_rows(&joint).iter().map(|row| row.off).collect::<Vec<_>>()
            };
            for (row, (before, after)) in rows.iter().zip(off(-SHORT).into_iter().zip(off(SHORT))) {
                let (rate, speed) = ((after - before) / (2.0 * SHORT), world.row_speed(&joint, row));
                assert!((rate - speed).abs() < 1e-8, "{kind:?}: {rate} and {speed}");
            }
            assert!(rows.iter().any(|row| world.row_speed(&joint, row).abs() > 0.1), "{kind:?} is tried");
        }
    }
}
