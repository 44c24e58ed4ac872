//! Compatible forces \[E16\]: of all normal forces with the same effect on the bodies, those that elastic contacts would bring about,
//! however stiff.
//!
//! Forces of rigid contacts are not unique where a packing has more contacts than its bodies have freedom, and a solver returns one set of
//! many. The effect of the forces on the bodies is unique. Among the sets with this effect, one belongs to overlaps that a displacement of
//! the bodies makes. This set does not depend on the solver, nor on the stiffness of the grains, only on the ratios of their stiffnesses.

use glam::DVec3;

use crate::contact::ContactState;
use crate::law::normal::NormalLaw;
use crate::model::World;

use super::Snapshot;

/// Gap up to which a contact counts as closed \[effective radius\]: rigid contacts at rest have gaps or overlaps of this size.
const CLOSED: f64 = 1e-3;
/// Stiffness that holds bodies at their positions in an outer iteration \[of a contact\].
const HOLD: f64 = 1e-6;
/// Largest numbers of outer iterations, of Newton steps in each, and of halvings of a step \[-\].
const MOST_ITERATIONS: [u32; 3] = [30, 100, 40];
/// Share of the slope to which a Newton step is solved far from the end \[-\], and largest number of conjugate-gradient steps for that
/// \[-\].
const NEWTON_TOLERANCE: f64 = 0.1;
const MOST_GRADIENT_STEPS: usize = 20_000;
/// Ratio of lever to arm above which a normal force turns a body \[-\].
const LEVER: f64 = 1e-9;
/// Least overlap at which the slope of Hertz' force is taken \[of the usual overlap\]: at zero overlap there is no slope.
const LEAST_OVERLAP: f64 = 1e-6;

/// Contact law and tolerance of the compatible forces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompatiblePlan {
    /// Hertz' or Hooke's law, as the scenario has it.
    pub law: NormalLaw,
    /// Imbalance of the bodies at which forces count as found, over the effect of the solver's forces on the bodies \[-\].
    pub tolerance: f64,
}

/// Compatible forces: normal forces that belong to overlaps.
#[derive(Debug, Clone, PartialEq)]
pub struct CompatibleForces {
    /// Normal force of each contact of the state \[N\].
    pub normal: Vec<f64>,
    /// Imbalance |G f - b| over |b|, with b the effect of the solver's forces on the bodies \[-\].
    pub imbalance: f64,
}

impl CompatibleForces {
    /// Finds the compatible forces of a state \[E16\]. Friction and rolling stay as they are.
    ///
    /// # Panics
    /// With the rigid law, which has no forces of overlaps.
    pub fn of(snapshot: &Snapshot, plan: &CompatiblePlan) -> CompatibleForces {
        let springs = Springs::of(snapshot, plan.law);
        let Some(springs) = springs else {
            return CompatibleForces { normal: vec![0.0; snapshot.contacts.len()], imbalance: 0.0 };
        };
        let (forces, imbalance) = springs.relax(plan.tolerance);
        let mut normal = vec![0.0; snapshot.contacts.len()];
        for (spring, force) in springs.list.iter().zip(forces) {
            normal[spring.contact] = force * springs.force;
        }
        CompatibleForces { normal, imbalance }
    }

    /// Relative difference ‖f - f_s‖ / ‖f_s‖, f_s the normal forces of the solver \[-\].
    pub fn difference(&self, snapshot: &Snapshot) -> f64 {
        let [mut apart, mut size] = [0.0; 2];
        for (force, of_solver) in self.normal.iter().zip(snapshot.normal_forces()) {
            apart += (force - of_solver) * (force - of_solver);
            size += of_solver * of_solver;
        }
        if size > 0.0 { (apart / size).sqrt() } else { 0.0 }
    }

    /// Share of the contacts with friction whose friction force exceeds the bound of the compatible force \[-\]; 0 without friction.
    pub fn over_friction(&self, snapshot: &Snapshot) -> f64 {
        let rubs = |contact: &ContactState| contact.impulse.tangent.length() > 0.0;
        let rubbing = self.normal.iter().zip(&snapshot.contacts).filter(|(_, contact)| rubs(contact));
        let [mut over, mut all] = [0.0; 2];
        for (force, contact) in rubbing {
            let friction = contact.cone.size(contact.impulse.tangent, contact.normal) / snapshot.substep;
            all += 1.0;
            over += f64::from(friction > (1.0 + 1e-9) * contact.friction * force);
        }
        if all > 0.0 { over / all } else { 0.0 }
    }
}

/// How far a state is from rest in its forces \[-\]: sum of contact forces, gravity and applied forces of each dynamic body without
/// joints and bonds, over the size of those forces that are no contact forces, or of what normal forces do to the bodies if that is larger.
///
/// It is 0 where all bodies are in equilibrium, of the size of the accelerations where they move, and at rest the error of sweeps that have
/// not converged. Compatible forces inherit that error, as they have the effect of the solver's forces. Moments count by the longest arm of
/// the contacts of a body.
pub fn unbalanced(snapshot: &Snapshot) -> f64 {
    let world = &snapshot.world;
    let pull = world.pull();
    let mut is_joined = vec![false; world.bodies.len()];
    world
        .joints
        .iter()
        .flat_map(|joint| joint.bodies)
        .flatten()
        .for_each(|body| is_joined[body as usize] = true);
    for pair in world.bonds.pairs() {
        pair.into_iter().for_each(|body| is_joined[body as usize] = true);
    }
    let mut sums = vec![[DVec3::ZERO; 2]; world.bodies.len()];
    let mut arms = vec![0.0f64; sums.len()];
    for contact in &snapshot.contacts {
        let force = contact.impulse.linear(contact.normal) / snapshot.substep;
        let moment = contact.impulse.rolling / snapshot.substep;
        for (body, sign) in contact.bodies.map(|body| body as usize).into_iter().zip([1.0, -1.0]) {
            let arm = contact.point - world.periodic.image(world.bodies.position[body], contact.point);
            sums[body][0] += sign * force;
            sums[body][1] += sign * (arm.cross(force) + moment);
            arms[body] = arms[body].max(arm.length());
        }
    }
    let pressed = snapshot.pushed_by(&snapshot.normal_forces());
    let mut squares = [0.0; 3];
    let is_asked = |body: &usize| world.bodies.inverse_mass[*body] > 0.0 && !is_joined[*body];
    for body in (0..sums.len()).filter(is_asked) {
        let locked = world.bodies.locked[body];
        let [force, moment] = sums[body];
        let alone = world.bodies.pulled(body, &pull) / world.bodies.inverse_mass[body];
        let off = force * locked.free_translation() + alone;
        let turned = (moment + pull.torque_on(body)) * locked.free_rotation();
        let turned = if arms[body] > 0.0 { turned / arms[body] } else { DVec3::ZERO };
        squares[0] += off.length_squared() + turned.length_squared();
        squares[1] += alone.length_squared();
        squares[2] += (pressed[body] * locked.free_translation()).length_squared();
    }
    let [off, alone, pressed] = squares;
    if off > 0.0 { (off / alone.max(pressed)).sqrt() } else { 0.0 }
}

/// Motion of a body: displacement, and rotation times the length of its arms.
type Displacement = [DVec3; 2];

/// Closed contact as a spring.
struct ContactSpring {
    contact: usize,
    bodies: [usize; 2],
    /// Effect of a unit of force on the bodies: force, and moment over the length of the arms.
    push: [Displacement; 2],
    /// Stiffness over the usual one \[-\].
    stiffness: f64,
    /// Whether the solver has a force at the contact.
    is_pressed: bool,
}

/// Closed contacts of a state as springs, in units of their usual (mean) force and stiffness.
struct Springs {
    list: Vec<ContactSpring>,
    /// Exponent of the overlap in the force law \[-\].
    power: f64,
    /// Effect of the solver's forces on the bodies.
    target: Vec<Displacement>,
    /// Usual force, the mean of the solver's forces that press \[N\].
    force: f64,
}

impl Springs {
    /// Makes the springs of a state; `None` where no contact presses.
    fn of(snapshot: &Snapshot, law: NormalLaw) -> Option<Springs> {
        let world = &snapshot.world;
        let force_of = |contact: &ContactState| contact.impulse.normal / snapshot.substep;
        let carrying = snapshot.contacts.iter().map(force_of).filter(|force| *force > 0.0);
        let (sum, count) = carrying.fold((0.0, 0.0), |(sum, count), force| (sum + force, count + 1.0));
        if count == 0.0 {
            return None;
        }
        let force = sum / count;
        let is_closed = |contact: &ContactState| {
            contact.is_active()
                || contact.gap <= CLOSED * world.effective_radius(contact.key.a, contact.key.b)
        };
        let closed = snapshot.contacts.iter().enumerate().filter(|(_, contact)| is_closed(contact));
        let mut list: Vec<ContactSpring> =
            closed.map(|(place, contact)| ContactSpring::of(world, law, place, contact)).collect();
        let usual = list.iter().map(|spring| spring.stiffness).sum::<f64>() / list.len() as f64;
        list.iter_mut().for_each(|spring| spring.stiffness /= usual);
        shorten_arms(&mut list, world.bodies.len());
        let power = if law == NormalLaw::Hooke { 1.0 } else { 1.5 };
        let mut springs = Springs { list, power, target: Vec::new(), force };
        let of_solver: Vec<f64> =
            springs.list.iter().map(|spring| force_of(&snapshot.contacts[spring.contact]) / force).collect();
        springs.target = vec![[DVec3::ZERO; 2]; world.bodies.len()];
        springs.target = springs.effect(&of_solver);
        Some(springs)
    }

    /// Effect G f of forces on the bodies.
    fn effect(&self, forces: &[f64]) -> Vec<Displacement> {
        let mut effect = vec![[DVec3::ZERO; 2]; self.target.len()];
        for (spring, &force) in self.list.iter().zip(forces) {
            for (body, push) in spring.bodies.into_iter().zip(&spring.push) {
                effect[body][0] += force * push[0];
                effect[body][1] += force * push[1];
            }
        }
        effect
    }

    /// Overlaps that displacements of the bodies make.
    fn overlaps(&self, places: &[Displacement]) -> Vec<f64> {
        let of_spring = |spring: &ContactSpring| {
            let sides = spring.bodies.into_iter().zip(&spring.push);
            -sides.map(|(body, push)| inner(push, &places[body])).sum::<f64>()
        };
        self.list.iter().map(of_spring).collect()
    }

    /// Forces of overlaps.
    fn forces(&self, overlaps: &[f64]) -> Vec<f64> {
        let force =
            |(spring, overlap): (&ContactSpring, &f64)| spring.stiffness * overlap.max(0.0).powf(self.power);
        self.list.iter().zip(overlaps).map(force).collect()
    }

    /// Energy of the springs at these displacements, less the work of the target, and with the energy of the stiffness that holds the
    /// bodies.
    fn energy(&self, places: &[Displacement], held: &[Displacement]) -> f64 {
        let overlaps = self.overlaps(places);
        let exponent = self.power + 1.0;
        let stored = self.list.iter().zip(&overlaps);
        let stored =
            stored.map(|(spring, overlap)| spring.stiffness * overlap.max(0.0).powf(exponent) / exponent);
        let work = product(&self.target, places);
        let away = add(places, -1.0, held);
        stored.sum::<f64>() + work + 0.5 * HOLD * product(&away, &away)
    }

    /// Displaces the bodies until the forces of the overlaps have the effect of the target, by the augmented Lagrangian of the forces,
    /// whose multipliers are the displacements. Returns the forces and their imbalance.
    fn relax(&self, tolerance: f64) -> (Vec<f64>, f64) {
        let [outer, _, _] = MOST_ITERATIONS;
        let size = product(&self.target, &self.target).sqrt();
        let mut places = vec![[DVec3::ZERO; 2]; self.target.len()];
        let (mut forces, mut imbalance) = (vec![0.0; self.list.len()], f64::INFINITY);
        for iteration in 0..outer {
            // Multipliers far from the solution need no accuracy.
            let enough = tolerance.max(0.01f64.powi(iteration as i32 + 1));
            places = self.balance(places, enough * size);
            forces = self.forces(&self.overlaps(&places));
            let off = add(&self.effect(&forces), -1.0, &self.target);
            imbalance = product(&off, &off).sqrt() / size;
            if imbalance <= tolerance || imbalance.is_nan() {
                break;
            }
        }
        (forces, if size > 0.0 { imbalance } else { 0.0 })
    }

    /// Minimises the energy by Newton's method with the bodies held at `start`, to a slope of a tenth of `enough`.
    fn balance(&self, start: Vec<Displacement>, enough: f64) -> Vec<Displacement> {
        let [_, steps, halvings] = MOST_ITERATIONS;
        let mut places = start.clone();
        let size = product(&self.target, &self.target).sqrt();
        for _ in 0..steps {
            let overlaps = self.overlaps(&places);
            let slope = self.slope(&places, &start);
            let steepness = product(&slope, &slope).sqrt();
            if steepness <= 0.1 * enough {
                break;
            }
            let share = NEWTON_TOLERANCE.min((steepness / size).sqrt());
            let step = self.newton_step(&overlaps, &slope, share);
            let (energy, descent) = (self.energy(&places, &start), product(&slope, &step));
            let mut length = 1.0;
            let mut is_lower = false;
            for _ in 0..halvings {
                let tried = add(&places, length, &step);
                let slope = self.slope(&tried, &start);
                // Near the end energies differ by less than rounding; slopes do not.
                is_lower = self.energy(&tried, &start) <= energy + 1e-4 * length * descent
                    || product(&slope, &slope).sqrt() < 0.9 * steepness;
                if is_lower {
                    places = tried;
                    break;
                }
                length *= 0.5;
            }
            if !is_lower {
                break;
            }
        }
        places
    }

    /// Slope of the energy over the displacements.
    fn slope(&self, places: &[Displacement], held: &[Displacement]) -> Vec<Displacement> {
        let effect = self.effect(&self.forces(&self.overlaps(places)));
        let slope = add(&self.target, -1.0, &effect);
        add(&slope, HOLD, &add(places, -1.0, held))
    }

    /// Newton step that leaves this share of the slope if stiffnesses stay as they are, by conjugate gradients with the diagonal as
    /// preconditioner.
    fn newton_step(&self, overlaps: &[f64], slope: &[Displacement], share: f64) -> Vec<Displacement> {
        // While no spring has an overlap, the contacts that press in the solver count as pressed by a usual overlap.
        let is_slack = overlaps.iter().all(|overlap| *overlap <= 0.0);
        let stiffness = |(spring, &overlap): (&ContactSpring, &f64)| {
            let overlap = match is_slack {
                true => f64::from(spring.is_pressed),
                false if overlap > 0.0 => overlap.max(LEAST_OVERLAP),
                false => 0.0,
            };
            let slope = if overlap > 0.0 { self.power * overlap.powf(self.power - 1.0) } else { 0.0 };
            slope * spring.stiffness
        };
        let stiffnesses: Vec<f64> = self.list.iter().zip(overlaps).map(stiffness).collect();
        let mut diagonal = vec![[DVec3::splat(HOLD); 2]; slope.len()];
        for (spring, stiffness) in self.list.iter().zip(&stiffnesses) {
            for (body, push) in spring.bodies.into_iter().zip(&spring.push) {
                diagonal[body][0] += stiffness * push[0] * push[0];
                diagonal[body][1] += stiffness * push[1] * push[1];
            }
        }
        let precondition = |slope: &[Displacement], into: &mut [Displacement]| {
            for ((into, slope), diagonal) in into.iter_mut().zip(slope).zip(&diagonal) {
                *into = [slope[0] / diagonal[0], slope[1] / diagonal[1]];
            }
        };
        let mut step = vec![[DVec3::ZERO; 2]; slope.len()];
        let mut residual = add(&step, -1.0, slope);
        let mut preconditioned = step.clone();
        precondition(&residual, &mut preconditioned);
        let (mut way, mut image) = (preconditioned.clone(), step.clone());
        let mut left = product(&residual, &way);
        let enough = share * share * left;
        for _ in 0..MOST_GRADIENT_STEPS {
            if left <= enough {
                break;
            }
            self.stiffen(&stiffnesses, &way, &mut image);
            let length = left / product(&way, &image);
            add_to(&mut step, length, &way);
            add_to(&mut residual, -length, &image);
            precondition(&residual, &mut preconditioned);
            let before = std::mem::replace(&mut left, product(&residual, &preconditioned));
            let share = left / before;
            way.iter_mut().zip(&preconditioned).for_each(|(way, new)| {
                *way = [new[0] + share * way[0], new[1] + share * way[1]];
            });
        }
        step
    }
}

impl Springs {
    /// Forces of springs of these stiffnesses against a displacement `way`, with the stiffness that holds the bodies.
    fn stiffen(&self, stiffnesses: &[f64], way: &[Displacement], into: &mut [Displacement]) {
        into.iter_mut().zip(way).for_each(|(into, way)| *into = [HOLD * way[0], HOLD * way[1]]);
        for (spring, stiffness) in
            self.list.iter().zip(stiffnesses).filter(|(_, stiffness)| **stiffness > 0.0)
        {
            let [a, b] = spring.bodies;
            let parted = inner(&spring.push[0], &way[a]) + inner(&spring.push[1], &way[b]);
            for (body, push) in [(a, &spring.push[0]), (b, &spring.push[1])] {
                into[body][0] += stiffness * parted * push[0];
                into[body][1] += stiffness * parted * push[1];
            }
        }
    }
}

impl ContactSpring {
    fn of(world: &World, law: NormalLaw, place: usize, contact: &ContactState) -> ContactSpring {
        let bodies = contact.bodies.map(|body| body as usize);
        let (a, b) = (contact.key.a, contact.key.b);
        let elasticity = law.elasticity(world.law(a, b).effective_modulus, world.effective_radius(a, b));
        let (_, stiffness) = elasticity.expect("a law with forces of overlaps");
        let push = [(bodies[0], 1.0), (bodies[1], -1.0)].map(|(body, sign)| {
            if !world.bodies.is_dynamic(body) {
                return [DVec3::ZERO; 2];
            }
            let arm = contact.point - world.periodic.image(world.bodies.position[body], contact.point);
            let locked = world.bodies.locked[body];
            let push = sign * contact.normal;
            let moment = arm.cross(push) * locked.free_rotation();
            // The moment on a sphere is rounding, which must not be taken for a lever.
            let is_lever = moment.length() > LEVER * arm.length();
            [push * locked.free_translation(), if is_lever { moment } else { DVec3::ZERO }]
        });
        ContactSpring { contact: place, bodies, push, stiffness, is_pressed: contact.is_active() }
    }
}

/// Divides the moments of each body by its largest one, so that rotations count as displacements do.
fn shorten_arms(list: &mut [ContactSpring], bodies: usize) {
    let mut largest = vec![0.0f64; bodies];
    for spring in &*list {
        for (body, push) in spring.bodies.into_iter().zip(&spring.push) {
            largest[body] = largest[body].max(push[1].length());
        }
    }
    for spring in list {
        for (body, push) in spring.bodies.into_iter().zip(&mut spring.push) {
            if largest[body] > 0.0 {
                push[1] /= largest[body];
            }
        }
    }
}

fn inner(a: &Displacement, b: &Displacement) -> f64 {
    a[0].dot(b[0]) + a[1].dot(b[1])
}

fn product(a: &[Displacement], b: &[Displacement]) -> f64 {
    a.iter().zip(b).map(|(a, b)| inner(a, b)).sum()
}

/// Adds factor · b to a.
fn add_to(a: &mut [Displacement], factor: f64, b: &[Displacement]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = [a[0] + factor * b[0], a[1] + factor * b[1]]);
}

/// Returns a + factor · b.
fn add(a: &[Displacement], factor: f64, b: &[Displacement]) -> Vec<Displacement> {
    a.iter().zip(b).map(|(a, b)| [a[0] + factor * b[0], a[1] + factor * b[1]]).collect()
}
