//! Cause of a dynamic boundary that became too fast: its contacts, or the joints of its machine.

use crate::error::Error;
use crate::model::World;

/// Dynamic boundary that moved too far in a substep.
#[derive(Debug, Clone, Copy)]
pub struct TooFast<'a> {
    /// The boundary.
    pub body: usize,
    /// Its speed \[m/s\].
    pub speed: f64,
    /// Length of the substep \[s\].
    pub h: f64,
    /// Diameter of the largest grain \[m\].
    pub diameter: f64,
    /// What [`too_long_for_joints`] told of the machines before they moved: those that explode have lost their shape.
    pub warning: Option<&'a str>,
}

impl TooFast<'_> {
    /// Returns the error that names the cause. `is_touched` tells of a boundary whether a contact acts on it. Joints are the cause where
    /// no contact acts on a machine, or where a part of it swings under them faster than a substep resolves.
    pub fn error(self, world: &World, is_touched: impl Fn(usize) -> bool) -> Error {
        let TooFast { body, speed, h, diameter, .. } = self;
        let (name, time) = (world.boundaries[body].name.clone(), world.time);
        let diameters = speed * h / diameter;
        match self.of_joints(world, is_touched) {
            Some(cause) => Error::JointsExploded { name, time, speed, diameters, time_step: h, cause },
            None => Error::BoundaryExploded { name, time, speed, diameters, time_step: h },
        }
    }

    /// What the joints of its machine have to do with it and what to change, in words; `None` where they are not the cause.
    fn of_joints(self, world: &World, is_touched: impl Fn(usize) -> bool) -> Option<String> {
        let is_of_it = |other: usize| world.machines.get(other) == world.machines.get(self.body);
        let joins = |body: &u32| world.bodies.is_dynamic(*body as usize) && is_of_it(*body as usize);
        if !world.joints.iter().any(|joint| joint.bodies.iter().flatten().any(joins)) {
            return None;
        }
        let known = self.warning.map(str::to_owned).or_else(|| too_long_for_joints(world, self.h));
        if known.is_some() {
            return known;
        }
        let mut bodies = 0..world.boundaries.len();
        let is_touched = bodies.any(|other| is_of_it(other) && is_touched(other));
        (!is_touched).then(|| {
            "no contact acts on it; reduce solver.time_step, or look at the drives, ranges and compliances of its joints"
                .to_owned()
        })
    }
}

/// Tells of the part of a machine that swings under the forces of its joints too fast for substeps of `h` \[s\], and of the longest
/// substep that holds it \[E11\]; `None` where all are slow enough.
pub fn too_long_for_joints(world: &World, h: f64) -> Option<String> {
    let swing = world.fastest_swing().filter(|swing| h > swing.longest_substep())?;
    let (joint, body) = (&world.joints[swing.joint].name, &world.boundaries[swing.body as usize].name);
    Some(format!(
        "joint \"{joint}\" pulls with {:.3e} N at \"{body}\" of {:.3e} kg, which swings under it at {:.3e} rad/s, and a swing grows \
         where a step or substep is longer than {:.2e} s (now {h} s): reduce solver.time_step, or make the part heavier or longer",
        swing.force,
        swing.mass,
        swing.frequency,
        swing.longest_substep()
    ))
}
