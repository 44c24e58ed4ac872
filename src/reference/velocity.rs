//! Velocities of bodies while a substep is solved, and what an impulse does to them.

use glam::DVec3;

use crate::world::{Axes, World};

/// What the solver knows of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Velocity {
    /// Velocity \[m/s\].
    pub linear: DVec3,
    /// 1/mass \[1/kg\]; 0: never written.
    pub inverse_mass: f64,
    /// Angular velocity \[rad/s\].
    pub angular: DVec3,
    /// 1/inertia \[1/(kg m²)\].
    pub inverse_inertia: f64,
    /// Axes that do not move.
    pub locked: Axes,
}

impl Velocity {
    /// Whether contacts can change it.
    pub fn is_free(&self) -> bool {
        self.inverse_mass > 0.0
    }

    /// Velocity after an impulse \[N s\] at `arm` \[m\] from the centre.
    pub fn push(&mut self, impulse: DVec3, arm: DVec3) {
        let mut linear = self.inverse_mass * impulse;
        let mut angular = self.inverse_inertia * arm.cross(impulse);
        if self.locked != Axes::NONE {
            linear *= self.locked.free_translation();
            angular *= self.locked.free_rotation();
        }
        self.linear += linear;
        self.angular += angular;
    }

    /// Velocity after an angular impulse \[N m s\].
    pub fn twist(&mut self, impulse: DVec3) {
        let mut angular = self.inverse_inertia * impulse;
        if self.locked != Axes::NONE {
            angular *= self.locked.free_rotation();
        }
        self.angular += angular;
    }
}

/// Velocities at the start of a substep that ends at `end` \[s\]: of grains their own, of boundaries
/// the ones that carry them through it.
pub fn load_velocities(world: &World, end: f64, h: f64, velocities: &mut Vec<Velocity>) {
    let bodies = &world.bodies;
    velocities.clear();
    velocities.extend((0..bodies.len()).map(|body| Velocity {
        linear: bodies.velocity[body],
        inverse_mass: bodies.inverse_mass[body],
        angular: bodies.angular_velocity[body],
        inverse_inertia: bodies.inverse_inertia[body],
        locked: bodies.locked[body],
    }));
    for (velocity, boundary) in velocities.iter_mut().zip(&world.boundaries) {
        let state = boundary.state_at(end, h);
        velocity.linear = state.velocity;
        velocity.angular = state.angular_velocity;
    }
}
