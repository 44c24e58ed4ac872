//! Velocities of bodies while a substep is solved, and the effect of impulses on them.

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use crate::model::{Axes, Bodies, Boundary, Pull, RigidBody, World, body};

use super::tasks::CHUNK;

/// Velocity and inverse mass of a body in the solver.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Velocity {
    /// Velocity \[m/s\].
    pub linear: DVec3,
    /// 1/mass \[1/kg\]; 0 for a body that is never written.
    pub inverse_mass: f64,
    /// Angular velocity \[rad/s\].
    pub angular: DVec3,
    /// 1/inertia \[1/(kg m²)\].
    pub inverse_inertia: f64,
    /// Axes along or about which the body does not move.
    pub locked: Axes,
}

impl Velocity {
    /// Velocity of a body in its present state.
    #[inline]
    pub fn of(world: &World, body: usize) -> Velocity {
        let bodies = &world.bodies;
        Velocity {
            linear: bodies.velocity[body],
            inverse_mass: bodies.inverse_mass[body],
            angular: bodies.angular_velocity[body],
            inverse_inertia: bodies.inverse_inertia[body],
            locked: bodies.locked[body],
        }
    }

    /// Whether impulses can change the velocity.
    #[inline(always)]
    pub fn is_free(&self) -> bool {
        self.inverse_mass > 0.0
    }

    /// Acceleration of `body`, whose velocity this is, by gravity and applied forces without contacts \[m/s²\].
    #[inline(always)]
    pub fn pulled(&self, pull: &Pull<'_>, body: usize) -> DVec3 {
        body::pulled(pull, body, self.inverse_mass, self.locked)
    }

    /// Rigid body with this velocity, this mass and these principal moments of inertia \[kg m²\].
    pub fn rigid(&self, moments: DVec3) -> RigidBody {
        RigidBody {
            mass: 1.0 / self.inverse_mass,
            moments,
            velocity: self.linear,
            angular_velocity: self.angular,
            locked: self.locked,
        }
    }

    /// Changes the velocity by an impulse \[N s\] at `arm` \[m\] from the centre.
    #[inline(always)]
    pub fn push(&mut self, impulse: DVec3, arm: DVec3) {
        self.push_and_twist(impulse, arm.cross(impulse));
    }

    /// Changes the velocity by an impulse \[N s\] and an angular impulse about the centre \[N m s\].
    #[inline(always)]
    pub fn push_and_twist(&mut self, impulse: DVec3, twist: DVec3) {
        let mut linear = self.inverse_mass * impulse;
        let mut angular = self.inverse_inertia * twist;
        if self.locked != Axes::NONE {
            linear *= self.locked.free_translation();
            angular *= self.locked.free_rotation();
        }
        self.linear += linear;
        self.angular += angular;
    }

    /// Changes the angular velocity by an angular impulse \[N m s\].
    #[inline(always)]
    pub fn twist(&mut self, impulse: DVec3) {
        let mut angular = self.inverse_inertia * impulse;
        if self.locked != Axes::NONE {
            angular *= self.locked.free_rotation();
        }
        self.angular += angular;
    }
}

/// Inverse mass and inertia of a body whose inertia is a tensor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InverseMass {
    /// 1/mass along each axis \[1/kg\]; 0 along locked axes.
    pub linear: DVec3,
    /// Inverse inertia \[1/(kg m²)\], world frame.
    pub angular: DMat3,
    /// Upper bound of the eigenvalues of `angular` \[1/(kg m²)\].
    pub angular_bound: f64,
}

impl InverseMass {
    /// Inverse mass of a body with this inverse inertia \[1/(kg m²)\].
    pub fn new(velocity: &Velocity, inverse_inertia: DMat3) -> InverseMass {
        InverseMass {
            linear: velocity.inverse_mass * velocity.locked.free_translation(),
            angular: inverse_inertia,
            angular_bound: velocity.inverse_inertia,
        }
    }

    /// Inverse mass of a body of a world, at this velocity and its present orientation.
    #[inline]
    pub fn of(world: &World, body: usize, velocity: &Velocity) -> InverseMass {
        match world.bodies.rigid(body) {
            Some(rigid) => InverseMass::new(velocity, rigid.inverse_inertia(world.bodies.orientation[body])),
            None => InverseMass::of_sphere(velocity),
        }
    }

    /// Inverse mass of a sphere, or of a fixed or kinematic body.
    #[inline(always)]
    pub fn of_sphere(velocity: &Velocity) -> InverseMass {
        let inverse_inertia = velocity.inverse_inertia * velocity.locked.free_rotation();
        InverseMass::new(velocity, DMat3::from_diagonal(inverse_inertia))
    }

    /// Inverse mass of one of `copies` copies that share the mass and inertia \[E5\].
    #[must_use]
    pub fn of_copy(&self, copies: f64) -> InverseMass {
        InverseMass {
            linear: copies * self.linear,
            angular: copies * self.angular,
            angular_bound: copies * self.angular_bound,
        }
    }

    /// Velocity at `arm` by an impulse there, per impulse \[1/kg\]; symmetric.
    pub fn mobility(&self, arm: DVec3) -> DMat3 {
        let response = |axis: DVec3| self.response(arm, axis);
        DMat3::from_cols(response(DVec3::X), response(DVec3::Y), response(DVec3::Z))
    }

    /// Velocity at `arm` by an impulse along `axis` there, per impulse \[1/kg\].
    pub fn response(&self, arm: DVec3, axis: DVec3) -> DVec3 {
        self.linear * axis + (self.angular * arm.cross(axis)).cross(arm)
    }
}

/// Loads the velocities at the start of a substep that ends at `end` \[s\]. Dynamic bodies have their own; all others have the velocity
/// that carries them through the substep.
pub fn load_velocities(world: &World, end: f64, h: f64, velocities: &mut Vec<Velocity>) {
    let Bodies { velocity, inverse_mass, angular_velocity, inverse_inertia, locked, .. } = &world.bodies;
    let bodies = (velocity, inverse_mass, angular_velocity, inverse_inertia, locked).into_par_iter();
    let of = |(&linear, &inverse_mass, &angular, &inverse_inertia, &locked)| Velocity {
        linear,
        inverse_mass,
        angular,
        inverse_inertia,
        locked,
    };
    bodies.with_min_len(CHUNK).map(of).collect_into_vec(velocities);
    let prescribed = |(_, boundary): &(&mut Velocity, &Boundary)| boundary.dynamic().is_none();
    for (velocity, boundary) in velocities.iter_mut().zip(&world.boundaries).filter(prescribed) {
        let state = boundary.state_at(end, h);
        velocity.linear = state.velocity;
        velocity.angular = state.angular_velocity;
    }
}
