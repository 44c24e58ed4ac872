//! Springs: the contact forces of the smooth method, from overlaps, velocities and the state of the springs of contacts \[E13\].
//!
//! A contact is a nonlinear spring and a damper along its normal, and two springs and dampers with a friction limit: against slip, and
//! against rolling and twisting. Forces are stored as impulses over the substep, so that loads, balance and output are the same as for
//! every method. Twin: `shaders/springs.wgsl`.

use glam::DVec3;
use rayon::prelude::*;

use crate::contact::constants::LawConstants;
use crate::contact::constraint::Constraint;
use crate::contact::tasks::CHUNK;
use crate::contact::velocity::Velocity;
use crate::contact::{Colouring, Impulse, Key};
use crate::law::cone::Cone;
use crate::law::damping::{Damping, spring_damping};
use crate::law::normal::NormalLaw;
use crate::model::{Touch, World};
use crate::settings::Settings;

use super::narrowphase::touch_of;
use super::patches::Patches;

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
    /// Square of the tangential stiffness over that at the overlap of the substep before, at most 1 \[-\]: numerator and denominator, so
    /// that the force of a spring takes one root and one division.
    released: [f64; 2],
}

/// Coefficients of the springs of a contact; they stay until the next search, or until a sink takes a grain \[E13\].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spring {
    /// Stiffness k_n of the normal spring \[N/m^1.5, or N/m\].
    pub stiffness: f64,
    /// Normal damping η_n over the root of the slope S of the force \[√kg\], or over S \[s\] where damping is viscoelastic.
    pub damping: f64,
    /// Square root of the ratio κ of the tangential stiffness to the slope of the normal force \[-\].
    pub root_of_tangent: f64,
    /// Effective radius R* \[m\].
    pub radius: f64,
    /// Radii of the spheres, where each is in the centre of its body \[m\]: these are most contacts.
    pub radii: Option<[f64; 2]>,
    /// Cohesive force that pulls the bodies together \[N\].
    pub pull_off: f64,
}

impl Spring {
    fn new(world: &World, law: &LawConstants, key: Key) -> Spring {
        let (pair, radius) = (world.law(key.a, key.b), world.effective_radius(key.a, key.b));
        let inverse_mass = |shape| world.bodies.inverse_mass[world.shape_body(shape) as usize];
        let inverse_mass = inverse_mass(key.a) + inverse_mass(key.b);
        if inverse_mass == 0.0 {
            return Spring::default(); // nothing moves, or was taken
        }
        let elasticity = law.normal.elasticity(pair.effective_modulus, radius);
        let root_of_mass = match law.damping {
            Damping::Restitution => (1.0 / inverse_mass).sqrt(),
            Damping::Viscoelastic => 1.0,
        };
        Spring {
            stiffness: elasticity.map_or(0.0, |(_, stiffness)| stiffness),
            damping: root_of_mass * spring_damping(law.normal, law.damping, pair),
            root_of_tangent: pair.tangential_stiffness.sqrt(),
            radius,
            radii: world.lone_spheres(key.a, key.b).map(|spheres| spheres.map(|sphere| sphere.radius)),
            pull_off: world.pull_off(key.a, key.b),
        }
    }
}

/// Makes the springs of the contacts of a new list, and sets what of their constraints does not depend on positions.
pub(super) fn make(
    world: &World,
    law: &LawConstants,
    keys: &[Key],
    colouring: &Colouring,
    constraints: &mut [Constraint],
    springs: &mut [Spring],
) {
    let places = constraints.par_iter_mut().zip(springs).zip(&colouring.order).with_min_len(CHUNK);
    places.for_each(|((constraint, spring), &contact)| {
        let key = keys[contact as usize];
        constraint.set_pair(world, law, key, world.law(key.a, key.b));
        *spring = Spring::new(world, law, key);
    });
}

/// Contacts that are placed, then stretched. There are two loops, never inlined, as the compiler makes worse code of one that does both (a
/// step takes 1.4 times as long); the second finds in the cache what the first left.
const BLOCK: usize = 32;

/// What the springs are stretched by: the contacts, positions and velocities at the start of a substep of the smooth method.
pub(super) struct StretchedContacts<'a> {
    pub settings: &'a Settings,
    pub world: &'a World,
    pub keys: &'a [Key],
    pub order: &'a [u32],
    pub patches: &'a Patches,
    pub springs: &'a [Spring],
    pub velocities: &'a [Velocity],
}

impl StretchedContacts<'_> {
    /// Places the springs of all contacts, and stretches them.
    pub fn stretch(&self, constraints: &mut [Constraint]) {
        let blocks = constraints.par_chunks_mut(BLOCK).zip(self.springs.par_chunks(BLOCK));
        let blocks = blocks.zip(self.order.par_chunks(BLOCK)).with_min_len(CHUNK / BLOCK);
        blocks.for_each(|((constraints, springs), contacts)| {
            let mut overlaps = [0.0; BLOCK];
            self.place_block(constraints, springs, contacts, &mut overlaps);
            self.stretch_block(constraints, springs, &overlaps);
            if self.patches.manifolds.shares_pull() {
                for (constraint, &contact) in constraints.iter_mut().zip(contacts) {
                    constraint.cohesion *= self.patches.manifolds.share_of_pull(contact);
                }
            }
        });
    }

    /// Places the springs of a block of contacts, and finds their overlaps \[m\]; 0 for bodies apart.
    #[inline(never)]
    fn place_block(
        &self,
        constraints: &mut [Constraint],
        springs: &[Spring],
        contacts: &[u32],
        overlaps: &mut [f64; BLOCK],
    ) {
        let places = constraints.iter_mut().zip(springs).zip(contacts).zip(overlaps);
        for (((constraint, spring), &contact), overlap) in places {
            *overlap = match spring.radii {
                Some(radii) => self.overlap_of_spheres(radii, constraint),
                None => self.overlap_of_shapes(contact, constraint),
            };
        }
    }

    /// Stretches the springs of a block of contacts.
    #[inline(never)]
    fn stretch_block(&self, constraints: &mut [Constraint], springs: &[Spring], overlaps: &[f64; BLOCK]) {
        for ((constraint, spring), &overlap) in constraints.iter_mut().zip(springs).zip(overlaps) {
            let [a, b] = constraint.bodies;
            let bodies = [&self.velocities[a as usize], &self.velocities[b as usize]];
            stretch(self.settings, constraint, spring, overlap, bodies);
        }
    }

    /// Places the springs between two spheres in the centres of their bodies, and returns their overlap \[m\]; 0 for bodies apart.
    #[inline(always)]
    fn overlap_of_spheres(&self, [radius, other_radius]: [f64; 2], constraint: &mut Constraint) -> f64 {
        let (positions, [a, b]) = (&self.world.bodies.position, constraint.bodies);
        let centre = positions[a as usize];
        let apart = centre - self.world.periodic.image(positions[b as usize], centre);
        let reach = radius + other_radius;
        if apart.length_squared() >= reach * reach {
            return 0.0;
        }
        let touch = Touch::between_spheres(apart, radius, DVec3::ZERO, other_radius);
        constraint.normal = touch.normal;
        (constraint.arm_a, constraint.arm_b) = (touch.point - apart, touch.point);
        -touch.gap
    }

    /// As [`Self::overlap_of_spheres`], for any shapes.
    #[inline(never)]
    fn overlap_of_shapes(&self, contact: u32, constraint: &mut Constraint) -> f64 {
        let key = self.keys[contact as usize];
        if let Some(joined) = self.patches.get(contact) {
            constraint.last_impulse = joined.impulse;
        }
        let Some(touch) = touch_of(self.world, key, contact, self.patches).filter(|touch| touch.gap < 0.0)
        else {
            return 0.0;
        };
        constraint.place(self.world, key, &touch);
        -touch.gap
    }
}

/// Stretches the springs of a contact with this overlap \[m\] by the velocities of its bodies; without an overlap they are at rest. The
/// state of the springs is kept in `last_impulse` of the constraint, and its `impulse` becomes the impulse of the contact force.
#[inline(always)]
pub fn stretch(
    settings: &Settings,
    constraint: &mut Constraint,
    spring: &Spring,
    overlap: f64,
    [a, b]: [&Velocity; 2],
) {
    if overlap > 0.0 {
        let contact = Stretched { settings, h: settings.substep(), spring, overlap };
        (constraint.impulse, constraint.last_impulse) = contact.push(constraint, [a, b]);
        constraint.cohesion = contact.h * spring.pull_off;
    } else {
        (constraint.impulse, constraint.last_impulse) = Default::default();
        constraint.cohesion = 0.0;
    }
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

/// Springs of a contact in a substep of `h` \[s\].
struct Stretched<'a> {
    settings: &'a Settings,
    h: f64,
    spring: &'a Spring,
    overlap: f64,
}

impl Stretched<'_> {
    /// Impulse of the contact force, and the state of the springs after the substep.
    #[inline(always)]
    fn push(&self, constraint: &Constraint, [a, b]: [&Velocity; 2]) -> (Impulse, Impulse) {
        let velocity = constraint.contact_velocity(a, b);
        let closing = -velocity.dot(constraint.normal);
        let stiffness = self.stiffness(closing);
        let normal = stiffness.force + stiffness.damping * closing;
        // Where the damper pulls the bodies together there is no friction.
        let pressed = normal.max(0.0);
        let [tangent, rolling] = self.held(constraint, stiffness.released, a.angular + b.angular);

        let slip = velocity + closing * constraint.normal;
        let (tangent, slide) = Limited {
            held: tangent,
            stretch: self.h * stiffness.tangent * slip,
            drag: stiffness.tangent_damping * slip,
        }
        .by(self.settings.cone, constraint.friction * pressed, constraint.normal);

        let lever = self.spring.radius * self.spring.radius;
        let spin = a.angular - b.angular;
        let (rolling, roll) = if constraint.rolling_arm > 0.0 {
            Limited {
                held: rolling,
                stretch: self.h * lever * stiffness.tangent * spin,
                drag: lever * stiffness.tangent_damping * spin,
            }
            .by(self.settings.cone, constraint.rolling_arm * pressed, constraint.normal)
        } else {
            (DVec3::ZERO, DVec3::ZERO)
        };
        let held = Impulse { normal: 0.0, tangent: slide, rolling: roll };
        (Impulse { normal, tangent, rolling }.scaled(self.h), holding(&held, constraint.normal))
    }

    #[inline(always)]
    fn stiffness(&self, closing: f64) -> Stiffness {
        let Stretched { spring, overlap, .. } = *self;
        let before = overlap - self.h * closing;
        let (force, slope, released) = match self.settings.normal_law {
            NormalLaw::Hertz => {
                let root = overlap.sqrt();
                // Without a branch, as contacts at rest load and unload by turns.
                let released = [overlap, before.max(overlap)];
                (spring.stiffness * overlap * root, 1.5 * spring.stiffness * root, released)
            }
            // The rigid law is refused with this method.
            NormalLaw::Hooke | NormalLaw::Rigid => (spring.stiffness * overlap, spring.stiffness, [1.0; 2]),
        };
        let damping = spring.damping
            * match self.settings.damping {
                Damping::Restitution => slope.sqrt(),
                Damping::Viscoelastic => slope,
            };
        let root = spring.root_of_tangent;
        Stiffness { force, damping, tangent: root * root * slope, tangent_damping: root * damping, released }
    }

    /// Force and moment that the springs hold at the start of the substep: turned with the contact since the last one, about the normal
    /// with the mean spin of the bodies, and with the normal; and less where the contact unloads. The vectors in the tangent plane keep
    /// their length while they turn.
    #[inline(always)]
    fn held(&self, constraint: &Constraint, [stiff, before]: [f64; 2], spins: DVec3) -> [DVec3; 2] {
        let (normal, held) = (constraint.normal, &constraint.last_impulse);
        let about = 0.5 * self.h * normal.dot(spins);
        let turn = |vector: DVec3| {
            let in_plane = constraint.in_plane(vector);
            let turned = in_plane + about * normal.cross(in_plane);
            let square = (before * turned.length_squared()).max(LEAST_SQUARE);
            turned * (stiff * vector.length_squared() / square).sqrt()
        };
        if constraint.rolling_arm == 0.0 {
            return [turn(held.tangent), DVec3::ZERO];
        }
        let twist = held.normal * (stiff / before).sqrt();
        [turn(held.tangent), turn(held.rolling) + twist * normal]
    }
}

/// Square of a force \[N²\] or moment \[N² m²\] below which springs hold nothing. One that lies along the new normal turns to zero, and the
/// quotient of its squares has to be a number.
const LEAST_SQUARE: f64 = 1e-200;

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
    #[inline(always)]
    fn by(self, cone: Cone, limit: f64, normal: DVec3) -> (DVec3, DVec3) {
        let spring = self.held - self.stretch;
        if cone.holds(spring, limit, normal) {
            return (cone.project(spring - self.drag, limit, normal), spring);
        }
        let held = cone.project(spring, limit, normal);
        (held, held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Axes;

    #[test]
    fn of_a_force_that_comes_to_lie_along_the_normal_nothing_is_left() {
        let spring = Spring { stiffness: 1e5, root_of_tangent: 1.0, radius: 0.01, ..Spring::default() };
        let held = Impulse { tangent: 10.0 * DVec3::Z, ..Impulse::default() };
        let mut constraint =
            Constraint { normal: DVec3::Z, friction: 0.5, last_impulse: held, ..Constraint::default() };
        let at_rest = Velocity {
            linear: DVec3::ZERO,
            angular: DVec3::ZERO,
            inverse_mass: 1.0,
            inverse_inertia: 1.0,
            locked: Axes::default(),
        };
        stretch(&Settings::default(), &mut constraint, &spring, 1e-5, [&at_rest, &at_rest]);
        assert_eq!((constraint.impulse.tangent, constraint.last_impulse.tangent), (DVec3::ZERO, DVec3::ZERO));
        assert!(constraint.impulse.normal > 0.0);
    }
}
