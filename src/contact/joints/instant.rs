//! Forces of the joints of undisturbed machines at an instant, from the accelerations at a state \[E11\]: impulses of a substep are means
//! over it.

use crate::contact::velocity::Velocity;
use crate::model::body::BodyState;
use crate::model::{Joint, World};
use crate::settings::Settings;

use super::bounded::BoundedRow;
use super::{Joints, Role, SolvedRow, Substep};

/// Share of a substep over which the change of the velocities of rows is measured \[-\]. Its error is of second order in this time, and
/// rounding over it of 10⁻¹⁰.
const GLANCE: f64 = 1.0 / 16.0;

/// Number of solves, each of which takes the softness of the rows out of the one before: with long levers it makes up 10⁻⁴ of the forces.
const REFINEMENTS: u32 = 4;

/// Stores the forces of the joints between these bodies, of [undisturbed](World::undisturbed) machines, at the present state. A joint
/// with a compliance keeps its mean over the last substep, as its force follows from how it gives way; so do the joints of its machine.
pub fn note_forces(world: &mut World, settings: &Settings, undisturbed: &[u32]) {
    if undisturbed.is_empty() || world.joints.is_empty() {
        return;
    }
    let is_noted = noted(world, undisturbed);
    if !is_noted.contains(&true) {
        return;
    }
    let time = GLANCE * settings.substep();
    let [behind, ahead] = [-time, time].map(|time| speeds_after(world, undisturbed, time));
    let velocities: Vec<Velocity> = (0..world.bodies.len()).map(|body| Velocity::of(world, body)).collect();
    let substep = Substep { world, settings, end: world.time + settings.substep(), velocities: &velocities };
    let mut joints = Joints::of(world, |joint, rows| {
        if is_noted[joint] {
            for (held, (behind, ahead)) in
                world.held_rows(&world.joints[joint]).iter().zip(behind[joint].iter().zip(&ahead[joint]))
            {
                let row = substep.row(joint, Role::Held, held);
                rows.extend(row.map(|row| SolvedRow { bias: (behind - ahead) / (2.0 * time), ..row }));
            }
            substep.add_drive(joint, rows);
        }
    });
    joints.balance(world, &velocities, settings.substep());
    let kept = world.joint_states.clone();
    joints.keep(1.0, world);
    let states = world.joint_states.iter_mut().zip(kept).zip(is_noted);
    states.filter(|(_, is_noted)| !is_noted).for_each(|((state, kept), _)| *state = kept);
}

/// Per joint whether its force follows from the accelerations: its machine is undisturbed and none of its joints gives way.
fn noted(world: &World, undisturbed: &[u32]) -> Vec<bool> {
    let machine = |joint: &Joint| {
        let body = joint.bodies.into_iter().flatten().find(|body| undisturbed.binary_search(body).is_ok())?;
        Some(world.machines[body as usize])
    };
    let gives_way = |joint: &&Joint| joint.compliance > 0.0 || joint.angular_compliance > 0.0;
    let soft: Vec<u32> = world.joints.iter().filter(gives_way).filter_map(machine).collect();
    world.joints.iter().map(|joint| machine(joint).is_some_and(|machine| !soft.contains(&machine))).collect()
}

/// Velocities of the held rows of all joints after a time without forces \[m/s, rad/s\].
fn speeds_after(world: &mut World, bodies: &[u32], time: f64) -> Vec<Vec<f64>> {
    let (before, states): (Vec<BodyState>, _) =
        (bodies.iter().map(|&body| world.bodies.state(body as usize)).collect(), world.joint_states.clone());
    world.drift(bodies, time);
    let speeds = world.joints.iter().map(|joint| {
        let rows = world.held_rows(joint);
        rows.iter().map(|row| world.row_speed(joint, row)).collect()
    });
    let speeds = speeds.collect();
    bodies.iter().zip(&before).for_each(|(&body, state)| world.bodies.set_state(body as usize, state));
    world.joint_states = states;
    speeds
}

impl Joints {
    /// Solves for the forces with which the accelerations of all rows are their bias, under the external forces. Impulses of drives of a
    /// substep of `h` \[s\] become forces.
    fn balance(&mut self, world: &World, velocities: &[Velocity], h: f64) {
        let pull = world.pull();
        for machine in &mut self.machines {
            let rows = &mut self.rows[machine.rows.clone()];
            for _ in 0..REFINEMENTS {
                let unknown = |row: &SolvedRow| {
                    let aim = row.bias - row.pulled(world, velocities, &pull) + row.softness() * row.impulse;
                    BoundedRow { aim, low: row.low / h, high: row.high / h }
                };
                let unknowns: Vec<BoundedRow> = rows.iter().map(unknown).collect();
                let found = machine.matrix.solve(&unknowns, &mut machine.pivots);
                rows.iter_mut().zip(found).for_each(|(row, force)| row.impulse = force);
            }
        }
    }
}
