//! Applied forces: constant forces and torques on bodies that a caller sets, besides gravity, contacts and drives.

use glam::DVec3;

use super::{Bodies, Sphere, World};

/// A constant force and torque on a body.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct AppliedForce {
    /// Body.
    pub body: u32,
    /// Force at the centre of mass \[N\].
    pub force: DVec3,
    /// Torque about the centre of mass \[N m\].
    pub torque: DVec3,
}

/// Gravity and the applied forces: what accelerates bodies besides contacts and joints.
#[derive(Debug, Clone, Copy)]
pub struct Pull<'a> {
    /// Gravity \[m/s²\].
    pub gravity: DVec3,
    forces: &'a [AppliedForce],
}

impl<'a> Pull<'a> {
    /// Gravity alone \[m/s²\].
    pub fn of_gravity(gravity: DVec3) -> Pull<'static> {
        Pull { gravity, forces: &[] }
    }

    /// Applied forces, sorted by body.
    pub fn forces(&self) -> &'a [AppliedForce] {
        self.forces
    }

    fn on(&self, body: usize) -> Option<&'a AppliedForce> {
        let place = self.forces.binary_search_by_key(&(body as u32), |applied| applied.body).ok()?;
        Some(&self.forces[place])
    }

    /// Applied force on a body \[N\]; zero for most.
    pub fn force_on(&self, body: usize) -> DVec3 {
        self.on(body).map_or(DVec3::ZERO, |applied| applied.force)
    }

    /// Applied torque on a body \[N m\]; zero for most.
    pub fn torque_on(&self, body: usize) -> DVec3 {
        self.on(body).map_or(DVec3::ZERO, |applied| applied.torque)
    }
}

impl World {
    /// Bound on the acceleration of the centre of a sphere by applied forces \[m/s²\].
    pub fn sphere_push(&self, sphere: &Sphere) -> f64 {
        if self.forces.is_empty() { 0.0 } else { self.push(sphere.body as usize, sphere.centre.length()) }
    }

    /// Bound on the acceleration by applied forces of a point of a body at a distance from its centre \[m/s²\].
    pub fn push(&self, body: usize, distance: f64) -> f64 {
        let (bodies, pull) = (&self.bodies, self.pull());
        let turned = bodies.inverse_inertia[body] * pull.torque_on(body).length();
        // The distance may be infinite.
        let turning = if turned > 0.0 { turned * distance } else { 0.0 };
        bodies.inverse_mass[body] * pull.force_on(body).length() + turning
    }

    /// Gravity and the applied forces of this world.
    pub fn pull(&self) -> Pull<'_> {
        Pull { gravity: self.gravity, forces: &self.forces }
    }

    /// Sets the applied force \[N\] and torque \[N m\] of a body, as [`World::set_forces`] does.
    ///
    /// # Panics
    /// When there is no such body.
    pub fn set_force(&mut self, body: usize, force: DVec3, torque: DVec3) {
        self.set_forces(&[AppliedForce { body: body as u32, force, torque }]);
    }

    /// Sets the applied forces of bodies, in ascending order, from now on, in place of earlier ones; zero removes them. They do not act
    /// along locked axes, and a grain that is removed loses them.
    ///
    /// # Panics
    /// When there is no such body.
    pub fn set_forces(&mut self, forces: &[AppliedForce]) {
        let count = self.bodies.len();
        assert!(forces.last().is_none_or(|last| (last.body as usize) < count), "a body beyond {count}");
        debug_assert!(forces.is_sorted_by_key(|applied| applied.body), "in ascending order");
        let is_replaced =
            |old: &AppliedForce| forces.binary_search_by_key(&old.body, |applied| applied.body).is_ok();
        self.forces.retain(|old| !is_replaced(old));
        let is_some = |new: &&AppliedForce| new.force != DVec3::ZERO || new.torque != DVec3::ZERO;
        self.forces.extend(forces.iter().filter(is_some));
        // Two ascending runs: this takes the time of a copy.
        self.forces.sort_by_key(|applied| applied.body);
    }
}

impl Bodies {
    /// Acceleration of a body by gravity and applied forces \[m/s²\].
    pub fn pulled(&self, body: usize, pull: &Pull<'_>) -> DVec3 {
        super::body::pulled(pull, body, self.inverse_mass[body], self.locked[body])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_force_on_a_body_counts_and_zero_takes_it_away() {
        let mut world = World::default();
        for _ in 0..8 {
            world.bodies.push_prescribed(DVec3::ZERO, glam::DQuat::IDENTITY);
        }
        for (body, force) in [(7, 1.0), (2, 3.0), (7, 2.0), (4, 5.0)] {
            world.set_force(body, DVec3::splat(force), DVec3::ZERO);
        }
        assert_eq!([2, 4, 7, 5].map(|body| world.pull().force_on(body).x), [3.0, 5.0, 2.0, 0.0]);
        world.set_force(4, DVec3::ZERO, DVec3::ZERO);
        world.set_force(5, DVec3::ZERO, DVec3::ZERO);
        assert_eq!(world.forces.iter().map(|applied| applied.body).collect::<Vec<_>>(), [2, 7]);
        world.set_force(2, DVec3::ZERO, DVec3::X);
        assert_eq!((world.forces.len(), world.pull().force_on(2)), (2, DVec3::ZERO), "a torque alone");
    }
}
