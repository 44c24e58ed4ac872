//! Springs: the contact forces of the smooth method, from overlaps, velocities and the state of the springs of contacts \[E13\].
//!
//! A contact is a nonlinear spring and a damper along its normal, and two springs and dampers with a friction limit: against slip, and
//! against rolling and twisting. Forces are stored as impulses over the substep, so that loads, balance and output are the same as for
//! every method. Twin: `shaders/springs.wgsl`.

use glam::DVec3;
use rayon::prelude::*;

use crate::contact::Impulse;
use crate::settings::{Damping, NormalLaw, Settings};

use super::narrowphase::{CHUNK, Constraint, Onset};
use super::velocity::Velocity;

/// Constants of the law during a substep.
struct Law<'a> {
    settings: &'a Settings,
    h: f64,
}

/// Stiffnesses and dampings of a contact at its present overlap.
struct Stiffness {
    /// Normal force of the spring \[N\].
    force: f64,
    /// Normal damping η_n \[kg/s\].
    damping: f64,
    /// Tangential stiffness k_t \[N/m\].
    tangent: f64,
    /// Tangential damping η_t \[kg/s\].
    tangent_damping: f64,
    /// Tangential stiffness over the tangential stiffness at the overlap of the substep before, at most 1 \[-\].
    released: f64,
}

/// Stretches the springs of all contacts to their present positions and velocities. The state of the springs is kept in `last_impulse` of a
/// constraint, and its `impulse` becomes the impulse of the contact force.
pub fn stretch(
    settings: &Settings,
    constraints: &mut [Constraint],
    onsets: &[Onset],
    velocities: &[Velocity],
) {
    let law = Law { settings, h: settings.substep() };
    let places = constraints.par_iter_mut().zip(onsets).with_min_len(CHUNK);
    places.for_each(|(constraint, onset)| {
        if onset.gap < 0.0 {
            let [a, b] = constraint.bodies.map(|body| &velocities[body as usize]);
            (constraint.impulse, constraint.last_impulse) = law.push(constraint, onset, [a, b]);
            constraint.cohesion = law.h * onset.spring.pull_off;
        } else if [constraint.impulse, constraint.last_impulse] != [Impulse::default(); 2] {
            (constraint.impulse, constraint.last_impulse) = Default::default();
            constraint.cohesion = 0.0;
        }
    });
}

/// State of the springs that hold the tangential force \[N\] and the moment \[N m\] of a contact with this normal.
pub fn holding(force: &Impulse, normal: DVec3) -> Impulse {
    let twist = force.rolling.dot(normal);
    Impulse { normal: twist, tangent: force.tangent, rolling: force.rolling - twist * normal }
}

/// Force \[N\] and moment \[N m\] that the springs of a contact hold.
pub fn held(constraint: &Constraint) -> [DVec3; 2] {
    let held = &constraint.last_impulse;
    [held.tangent, held.rolling + held.normal * constraint.normal]
}

impl Law<'_> {
    /// Impulse of the contact force, and the state of the springs after the substep.
    fn push(&self, constraint: &Constraint, onset: &Onset, [a, b]: [&Velocity; 2]) -> (Impulse, Impulse) {
        let mass = a.inverse_mass + b.inverse_mass;
        if mass == 0.0 {
            return (Impulse::default(), Impulse::default());
        }
        let velocity = constraint.contact_velocity(a, b);
        let closing = -velocity.dot(constraint.normal);
        let stiffness = self.stiffness(onset, closing, 1.0 / mass);
        let normal = stiffness.force + stiffness.damping * closing;
        // Where the damper pulls the bodies together there is no friction.
        let pressed = normal.max(0.0);
        let held = self.turned(constraint, a, b);

        let slip = velocity + closing * constraint.normal;
        let (tangent, slide) = Limited {
            held: stiffness.released * held.tangent,
            stretch: self.h * stiffness.tangent * slip,
            drag: stiffness.tangent_damping * slip,
        }
        .by(|force| constraint.within_friction(self.settings.cone, force, pressed));

        let lever = onset.spring.radius * onset.spring.radius;
        let spin = a.angular - b.angular;
        let (rolling, roll) = if constraint.rolling_arm > 0.0 {
            Limited {
                held: stiffness.released * (held.rolling + held.normal * constraint.normal),
                stretch: self.h * lever * stiffness.tangent * spin,
                drag: lever * stiffness.tangent_damping * spin,
            }
            .by(|moment| constraint.within_rolling(self.settings.cone, moment, pressed))
        } else {
            (DVec3::ZERO, DVec3::ZERO)
        };
        let held = Impulse { normal: 0.0, tangent: slide, rolling: roll };
        (Impulse { normal, tangent, rolling }.scaled(self.h), holding(&held, constraint.normal))
    }

    fn stiffness(&self, onset: &Onset, closing: f64, mass: f64) -> Stiffness {
        let (overlap, before) = (-onset.gap, -onset.gap - self.h * closing);
        let (force, slope, released) = match self.settings.normal_law {
            NormalLaw::Hertz => {
                let root = overlap.sqrt();
                // Without a branch, as contacts at rest load and unload by turns.
                let released = (overlap / before.max(overlap)).sqrt();
                (onset.stiffness * overlap * root, 1.5 * onset.stiffness * root, released)
            }
            // The rigid law is refused with this method.
            NormalLaw::Hooke | NormalLaw::Rigid => (onset.stiffness * overlap, onset.stiffness, 1.0),
        };
        let damping = onset.spring.damping
            * match self.settings.damping {
                Damping::Restitution => (mass * slope).sqrt(),
                Damping::Viscoelastic => slope,
            };
        let root = onset.spring.root_of_tangent;
        Stiffness { force, damping, tangent: root * root * slope, tangent_damping: root * damping, released }
    }

    /// State of the springs, turned with the contact since the last substep: about the normal with the mean spin of the bodies, and with
    /// the normal. The vectors in the tangent plane keep their length.
    fn turned(&self, constraint: &Constraint, a: &Velocity, b: &Velocity) -> Impulse {
        let normal = constraint.normal;
        let about = 0.5 * self.h * normal.dot(a.angular + b.angular);
        let turn = |vector: DVec3| {
            if vector == DVec3::ZERO {
                return vector;
            }
            let in_plane = constraint.in_plane(vector);
            let turned = in_plane + about * normal.cross(in_plane);
            turned * (vector.length_squared() / turned.length_squared().max(f64::MIN_POSITIVE)).sqrt()
        };
        let held = &constraint.last_impulse;
        Impulse { normal: held.normal, tangent: turn(held.tangent), rolling: turn(held.rolling) }
    }
}

/// Spring and damper in parallel, with a limit on their force.
struct Limited {
    /// Force that the spring holds on a.
    held: DVec3,
    /// Loss of spring force by the motion of the substep.
    stretch: DVec3,
    /// Force of the damper, against the motion.
    drag: DVec3,
}

impl Limited {
    /// Force on a, and the force that the spring holds after the substep. At the limit the spring slips and the damper does nothing.
    fn by(self, limit: impl Fn(DVec3) -> DVec3) -> (DVec3, DVec3) {
        let spring = self.held - self.stretch;
        let held = limit(spring);
        if held == spring { (limit(spring - self.drag), held) } else { (held, held) }
    }
}
