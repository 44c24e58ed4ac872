//! Natural-map residual of the contact problem \[E8\].

use glam::DVec3;
use rayon::prelude::*;

use crate::contact::Impulse;
use crate::contact::constraint::{Constraint, times_d};
use crate::contact::coupling::Coupling;
use crate::contact::flow::Flow;
use crate::contact::tasks::CHUNK;
use crate::contact::velocity::{InverseMass, Velocity};
use crate::engine::{Residuals, Spread};
use crate::law::cone::Cone;
use crate::model::World;

/// Natural-map residual of one contact, D (λ - proj(λ - r/D)): normal \[m/s\], friction \[m/s\], rolling \[rad/s\]; each in the field of
/// the impulse that it belongs to.
pub fn natural_map(cone: Cone, constraint: &Constraint, a: &Velocity, b: &Velocity) -> Impulse {
    let slope = slope(constraint, [a, b]);
    let Constraint { impulse, effective_mass, .. } = constraint;

    let normal = impulse.normal - (impulse.normal - slope.normal * effective_mass[0]).max(0.0);
    let trial = impulse.tangent - slope.tangent * effective_mass[1];
    let tangent = impulse.tangent - constraint.within_friction(cone, trial, impulse.normal);
    let trial = impulse.rolling - slope.rolling * effective_mass[2];
    let rolling = impulse.rolling - constraint.within_rolling(cone, trial, impulse.normal);

    let d = effective_mass.map(|effective_mass| times_d(1.0, effective_mass));
    Impulse { normal: d[0] * normal, tangent: d[1] * tangent, rolling: d[2] * rolling }
}

/// Residuals of one contact: normal \[m/s\], friction \[m/s\], rolling \[rad/s\].
pub fn of_contact(cone: Cone, constraint: &Constraint, a: &Velocity, b: &Velocity) -> [f64; 3] {
    let Impulse { normal, tangent, rolling } = natural_map(cone, constraint, a, b);
    [normal.abs(), tangent.length(), rolling.length()]
}

/// Slope of the objective at one contact, G v + Σ λ - q: normal \[m/s\], friction \[m/s\], rolling \[rad/s\]; each in the field of the
/// impulse that it belongs to.
pub fn slope(constraint: &Constraint, [a, b]: [&Velocity; 2]) -> Impulse {
    let velocity = constraint.contact_velocity(a, b);
    let closing = velocity.dot(constraint.normal);
    Impulse {
        normal: closing + constraint.compliance * constraint.impulse.normal - constraint.bias,
        tangent: velocity - closing * constraint.normal,
        rolling: a.angular - b.angular,
    }
}

/// Objective of the convex problem, ½ λ·(N + Σ) λ + p·λ \[J\] \[E15\], at the impulses that led to these velocities. Impulses of joints are
/// left out, and bodies that are no spheres have their present orientation.
pub fn objective(
    world: &World,
    flow: Flow,
    constraints: &[Constraint],
    velocities: &[Velocity],
    coupling: &mut dyn Coupling,
) -> f64 {
    let mut pushes = vec![[DVec3::ZERO; 2]; velocities.len()];
    let mut sum = 0.0;
    let counted = coupling.counted(constraints.len());
    let carrying = constraints.iter().enumerate().filter(|(_, constraint)| constraint.impulse.normal > 0.0);
    for (place, constraint) in carrying {
        let impulse = &constraint.impulse;
        let linear = impulse.linear(constraint.normal);
        let bodies = constraint.bodies.map(|body| body as usize);
        for (body, sign, arm) in [(bodies[0], 1.0, constraint.arm_a), (bodies[1], -1.0, constraint.arm_b)] {
            pushes[body][0] += sign * linear;
            pushes[body][1] += sign * (arm.cross(linear) + impulse.rolling);
        }
        if place >= counted {
            continue;
        }
        let [a, b] = bodies.map(|body| &velocities[body]);
        let slope = slope(constraint, [a, &flow.seen(constraint, b)]);
        sum += impulse.dot(&slope) - 0.5 * constraint.compliance * impulse.normal * impulse.normal;
    }
    for (body, sum) in coupling.sum_impulses(&|body| pushes[body as usize]) {
        pushes[body as usize] = sum;
    }
    let is_counted = |(body, velocity): &(usize, &Velocity)| velocity.is_free() && coupling.counts(*body);
    let free = velocities.iter().enumerate().filter(is_counted);
    let energy = free.map(|(body, velocity)| {
        let inverse = InverseMass::of(world, body, velocity);
        let [linear, angular] = pushes[body];
        0.5 * (linear.dot(inverse.linear * linear) + angular.dot(inverse.angular * angular))
    });
    let own = sum - energy.sum::<f64>();
    coupling.sums([own])[0]
}

/// Normal residual of one contact without the term Σ λ, as the second form of the paper's Eq. 6 prints it \[E8\] \[m/s\].
pub fn normal_without_compliance(constraint: &Constraint, a: &Velocity, b: &Velocity) -> [f64; 1] {
    let Constraint { impulse, effective_mass, .. } = constraint;
    let closing = constraint.contact_velocity(a, b).dot(constraint.normal);
    let trial = (impulse.normal - (closing - constraint.bias) * effective_mass[0]).max(0.0);
    [times_d((impulse.normal - trial).abs(), effective_mass[0])]
}

/// Mean and maximum of the residuals over all contacts, in the flow of a cell.
pub fn measure(cone: Cone, flow: Flow, constraints: &[Constraint], velocities: &[Velocity]) -> Residuals {
    let of_contact = |constraint: &Constraint, a: &Velocity, b: &Velocity| {
        of_contact(cone, constraint, a, &flow.seen(constraint, b))
    };
    let [normal, friction, rolling] = spreads(constraints, velocities, of_contact);
    Residuals { normal, friction, rolling }
}

/// Mean and maximum of a value over all contacts. Summed task by task, so the bits do not depend on the threads.
pub fn spreads<const N: usize>(
    constraints: &[Constraint],
    velocities: &[Velocity],
    value: impl Fn(&Constraint, &Velocity, &Velocity) -> [f64; N] + Sync,
) -> [Spread; N] {
    let sums: Vec<[Spread; N]> = constraints
        .par_chunks(CHUNK)
        .map(|constraints| {
            constraints.iter().fold([Spread::default(); N], |sums, constraint| {
                let [a, b] = constraint.bodies.map(|body| &velocities[body as usize]);
                add(sums, value(constraint, a, b).map(|value| Spread { mean: value, max: value }))
            })
        })
        .collect();
    let total = sums.into_iter().fold([Spread::default(); N], add);
    let count = constraints.len().max(1) as f64;
    total.map(|sum| Spread { mean: sum.mean / count, max: sum.max })
}

/// Residuals over the contacts of all parts of a scene, from those over the `contacts` that this part counts.
pub fn joined(residuals: Residuals, contacts: usize, coupling: &mut dyn Coupling) -> Residuals {
    if coupling.is_alone() {
        return residuals;
    }
    let weight = contacts as f64;
    let spreads = [residuals.normal, residuals.friction, residuals.rolling];
    let own: Vec<f64> = std::iter::once(weight)
        .chain(spreads.into_iter().flat_map(|spread| [weight * spread.mean, spread.max]))
        .collect();
    let all = coupling.gather(&own);
    let of = |i: usize| all.chunks_exact(own.len()).map(move |numbers| numbers[i]);
    let count = of(0).sum::<f64>().max(1.0);
    let spread = |i: usize| Spread { mean: of(i).sum::<f64>() / count, max: of(i + 1).fold(0.0, f64::max) };
    Residuals { normal: spread(1), friction: spread(3), rolling: spread(5) }
}

/// Adds sums (in `mean`) and joins maxima.
fn add<const N: usize>(mut into: [Spread; N], from: [Spread; N]) -> [Spread; N] {
    for (into, from) in into.iter_mut().zip(from) {
        into.mean += from.mean;
        into.max = into.max.max(from.max);
    }
    into
}
