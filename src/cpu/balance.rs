//! Energy balance: the works of gravity, boundaries and contacts on the bodies, and so the change of the kinetic energy \[E10\].
//!
//! Twin: `shaders/balance.wgsl`. The impacts and the continuous solve of a substep are treated alike: the work of an impulse is its product
//! with the mean of the velocities before and after the solve.

use glam::{DVec3, DVec4};
use rayon::prelude::*;

use crate::contact::bonds::BondSystem;
use crate::contact::constraint::Constraint;
use crate::contact::coupling::Coupling;
use crate::contact::flow::Flow;
use crate::contact::joints::Joints;
use crate::contact::tasks::CHUNK;
use crate::contact::velocity::Velocity;
use crate::engine::{EnergyBalance, Entries};
use crate::model::{Pull, World};

use super::bridges::BridgeSystem;

/// Works of the impacts of a substep of length `h` \[s\]; the impulses of `constraints` took `before` to `after`. At an impact half of the
/// substep has passed, and gravity has done its work until then.
pub fn book_impacts(
    pull: &Pull<'_>,
    h: f64,
    flow: Flow,
    constraints: &[Constraint],
    [before, after]: [&[Velocity]; 2],
) -> EnergyBalance {
    let works = book_contacts(flow, constraints, before, after);
    let until_then = |constraint: &Constraint| fallen_until_impact(pull, h, constraint, after);
    let sums: Vec<f64> =
        constraints.par_chunks(CHUNK).map(|constraints| constraints.iter().map(until_then).sum()).collect();
    let fallen: f64 = sums.into_iter().sum();
    EnergyBalance {
        normal_work: 0.0,
        impact_work: works.normal_work + fallen,
        impact_friction_work: works.friction_work,
        impact_rolling_work: works.rolling_work,
        gravity_work: works.gravity_work - fallen,
        ..works
    }
}

/// Work of gravity until an impact that counts among the works of its impulse \[J\].
pub fn fallen_until_impact(pull: &Pull<'_>, h: f64, constraint: &Constraint, after: &[Velocity]) -> f64 {
    let [a, b] = constraint.bodies.map(|body| after[body as usize].pulled(pull, body as usize));
    0.5 * h * constraint.impulse.normal * constraint.normal.dot(a - b)
}

/// Kinetic energy of `velocities`, plus that of a fall of `h` \[s\] from rest \[J\]: the scale for energy gains. The fall is included so
/// that contacts at rest may gain a little.
pub fn kinetic_scale(world: &World, h: f64, velocities: &[Velocity], coupling: &dyn Coupling) -> f64 {
    let pull = world.pull();
    let kinetic = |(body, velocity): (usize, &Velocity)| {
        let fall = (h * velocity.pulled(&pull, body)).length_squared();
        let spin = velocity.angular.length_squared() / velocity.inverse_inertia;
        0.5 * ((velocity.linear.length_squared() + fall) / velocity.inverse_mass + spin)
    };
    let is_counted = |(body, velocity): &(usize, &Velocity)| velocity.is_free() && coupling.counts(*body);
    velocities.iter().enumerate().filter(is_counted).map(kinetic).sum()
}

/// Works of the contacts in the flow of a cell; the impulses of `constraints` took `before` to `after`. Summed task by task, so the bits do
/// not depend on the threads.
pub fn book_contacts(
    flow: Flow,
    constraints: &[Constraint],
    before: &[Velocity],
    after: &[Velocity],
) -> EnergyBalance {
    let sums: Vec<DVec4> = constraints
        .par_chunks(CHUNK)
        .map(|constraints| {
            constraints
                .iter()
                .filter(|constraint| !constraint.given().is_zero())
                .map(|constraint| {
                    // Not `map`, which is not always inlined.
                    let [a, b] = constraint.bodies;
                    let mean_of = |body: u32| mean(&before[body as usize], &after[body as usize]);
                    work_of(flow, constraint, &mean_of(a), &mean_of(b))
                })
                .sum()
        })
        .collect();
    let [normal_work, friction_work, rolling_work, boundary_work] =
        sums.into_iter().sum::<DVec4>().to_array();
    EnergyBalance { normal_work, friction_work, rolling_work, boundary_work, ..EnergyBalance::default() }
}

/// Work of gravity and applied forces in a substep of length `h` \[s\] that took `before` to `after`.
pub fn book_gravity(
    world: &World,
    h: f64,
    before: &[Velocity],
    after: &[Velocity],
    coupling: &dyn Coupling,
) -> EnergyBalance {
    let counts = coupling.counting();
    let work = |(body, (before, after)): (usize, (&Velocity, &Velocity))| {
        if !before.is_free() || !counts(body) {
            return 0.0;
        }
        let mean = mean(before, after);
        h * world.gravity.dot(mean.linear * mean.locked.free_translation()) / mean.inverse_mass
    };
    let chunks = before.par_chunks(CHUNK).zip(after.par_chunks(CHUNK)).enumerate();
    let of_chunk = |(chunk, (before, after)): (usize, (&[Velocity], &[Velocity]))| {
        (chunk * CHUNK..).zip(before.iter().zip(after)).map(work).sum()
    };
    let sums: Vec<f64> = chunks.map(of_chunk).collect();
    let counted = world.forces.iter().filter(|applied| counts(applied.body as usize));
    let applied = counted.map(|applied| {
        let body = applied.body as usize;
        let mean = mean(&before[body], &after[body]);
        let way = applied.force.dot(mean.linear * mean.locked.free_translation());
        let turn = applied.torque.dot(mean.angular * mean.locked.free_rotation());
        if mean.is_free() { h * (way + turn) } else { 0.0 }
    });
    EnergyBalance {
        gravity_work: sums.into_iter().sum::<f64>() + applied.sum::<f64>(),
        ..EnergyBalance::default()
    }
}

/// Works of gravity, contacts, joints, bonds and liquid bridges in a solve of length `h` \[s\] that took `before` to `after`; summed over
/// the ranks, where several share the scene.
pub fn book_solve(
    world: &World,
    h: f64,
    constraints: &[Constraint],
    (joints, bonds, bridges, flow): (&Joints, &BondSystem, &BridgeSystem, Flow),
    [before, after]: [&[Velocity]; 2],
    coupling: &mut dyn Coupling,
) -> EnergyBalance {
    let counted = &constraints[..coupling.counted(constraints.len())];
    let mut works =
        book_gravity(world, h, before, after, coupling) + book_contacts(flow, counted, before, after);
    if coupling.is_first() {
        works += book_joints(joints, before, after) + book_bonds(bonds, before, after);
        works += book_bridges(bridges, constraints, before, after);
    }
    total(works, coupling)
}

/// Sum of the works on all parts of a scene.
pub fn total(works: EnergyBalance, coupling: &mut dyn Coupling) -> EnergyBalance {
    if coupling.is_alone() {
        works
    } else {
        bytemuck::cast(coupling.sums(bytemuck::cast::<_, Entries>(works)))
    }
}

/// Work of the joints in a solve that took `before` to `after`, their drives included.
pub fn book_joints(joints: &Joints, before: &[Velocity], after: &[Velocity]) -> EnergyBalance {
    EnergyBalance { boundary_work: joints.work(before, after), ..EnergyBalance::default() }
}

/// Energy that a contact gives to the motion of its bodies, by all its impulses \[J\]; negative where it takes some.
pub fn energy_given(constraint: &Constraint, before: &[Velocity], after: &[Velocity]) -> f64 {
    if constraint.given().is_zero() {
        return 0.0;
    }
    let [a, b] = constraint.bodies.map(|body| mean(&before[body as usize], &after[body as usize]));
    work_of(Flow::default(), constraint, &a, &b).truncate().element_sum()
}

/// Works of the bonds in a solve that took `before` to `after`; a bond to a wall also works on the wall, which puts this work in.
pub fn book_bonds(bonds: &BondSystem, before: &[Velocity], after: &[Velocity]) -> EnergyBalance {
    let [bond_work, held] = bonds.works(before, after);
    EnergyBalance { bond_work, boundary_work: 0.0 - held, ..EnergyBalance::default() }
}

/// Works of liquid bridges in a solve that took `before` to `after`: of their drag, and of their pull, which is among the works of
/// the normal impulses and is taken out of these.
fn book_bridges(
    bridges: &BridgeSystem,
    constraints: &[Constraint],
    before: &[Velocity],
    after: &[Velocity],
) -> EnergyBalance {
    let pull = |constraint: &Constraint, impulse: f64| {
        let [a, b] = constraint.bodies.map(|body| mean(&before[body as usize], &after[body as usize]));
        -impulse * constraint.normal.dot(constraint.contact_velocity(&a, &b))
    };
    let pulls =
        bridges.acting().iter().map(|bridge| pull(&constraints[bridge.place as usize], bridge.impulse));
    let pull_work: f64 = pulls.sum();
    let drag = book_contacts(Flow::default(), bridges.drags(), before, after);
    EnergyBalance {
        normal_work: 0.0 - pull_work,
        bridge_work: pull_work + drag.normal_work + drag.friction_work,
        boundary_work: drag.boundary_work,
        ..EnergyBalance::default()
    }
}

/// Work of the deforming cell in a solve of `h` \[s\] by the momentum that grains carry through its flow \[E23\]; that by contacts is
/// among the works of these.
pub fn book_cell(world: &World, h: f64, flow: Flow, [before, after]: [&[Velocity]; 2]) -> EnergyBalance {
    if flow.is_none() {
        return EnergyBalance::default();
    }
    let work = |grain: usize| {
        let body = world.grain_body(grain);
        let push = flow.carried_off(h, &before[body]) / before[body].inverse_mass;
        push.dot(mean(&before[body], &after[body]).linear)
    };
    let work = world.present_grains().map(work).sum();
    EnergyBalance { boundary_work: work, ..EnergyBalance::default() }
}

/// Works of one contact at the mean velocities of its bodies: normal, friction, rolling, and the work that boundaries, or the deforming
/// cell, put in \[J\].
fn work_of(flow: Flow, constraint: &Constraint, a: &Velocity, b: &Velocity) -> DVec4 {
    let work = |linear: DVec3, rolling: DVec3, a: &Velocity, b: &Velocity| {
        linear.dot(flow.contact_velocity(constraint, a, b)) + rolling.dot(a.angular - b.angular)
    };
    let (given, none) = (constraint.given(), DVec3::ZERO);
    // The impulse also works on bodies and axes that it does not move. That is no loss: the boundary puts this work in.
    // The flow of a cell is such a velocity.
    let held = work(given.linear(constraint.normal), given.rolling, &held(a), &held(b));
    DVec4::new(
        work(given.normal * constraint.normal, none, a, b),
        work(given.tangent, none, a, b),
        work(none, given.rolling, a, b),
        -held,
    )
}

/// Part of a velocity that no impulse changes: all of it for a body that is not free, else the part along locked axes.
fn held(velocity: &Velocity) -> Velocity {
    if !velocity.is_free() {
        return *velocity;
    }
    let locked = velocity.locked;
    Velocity {
        linear: velocity.linear * (1.0 - locked.free_translation()),
        angular: velocity.angular * (1.0 - locked.free_rotation()),
        ..*velocity
    }
}

fn mean(before: &Velocity, after: &Velocity) -> Velocity {
    Velocity {
        linear: 0.5 * (before.linear + after.linear),
        angular: 0.5 * (before.angular + after.angular),
        ..*after
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Impulse;
    use crate::model::Axes;

    fn body(mass: f64, linear: DVec3, angular: DVec3) -> Velocity {
        let inverse = if mass > 0.0 { 1.0 / mass } else { 0.0 };
        Velocity {
            linear,
            inverse_mass: inverse,
            angular,
            inverse_inertia: 2.5 * inverse,
            locked: Axes::NONE,
        }
    }

    /// A contact along z that carries all three kinds of impulse.
    fn constraint() -> Constraint {
        Constraint {
            bodies: [0, 1],
            normal: DVec3::Z,
            arm_a: DVec3::new(0.0, 0.0, -1.0),
            arm_b: DVec3::new(0.3, 0.2, 1.0),
            impulse: Impulse {
                normal: 2.0,
                tangent: DVec3::new(0.5, -0.3, 0.0),
                rolling: DVec3::new(0.1, 0.2, -0.4),
            },
            ..Constraint::default()
        }
    }

    fn after(constraint: &Constraint, before: &[Velocity]) -> Vec<Velocity> {
        let mut after = before.to_vec();
        for (body, arm, sign) in [(0, constraint.arm_a, 1.0), (1, constraint.arm_b, -1.0)] {
            after[body].push(sign * constraint.impulse.linear(constraint.normal), arm);
            after[body].twist(sign * constraint.impulse.rolling);
        }
        after
    }

    fn kinetic(velocities: &[Velocity]) -> f64 {
        let free = velocities.iter().filter(|v| v.is_free());
        free.map(|v| {
            0.5 * (v.linear.length_squared() / v.inverse_mass
                + v.angular.length_squared() / v.inverse_inertia)
        })
        .sum()
    }

    /// Two grains; a grain and a moving boundary; a grain that slides along its locked axes.
    fn scenes() -> [[Velocity; 2]; 3] {
        let (u, w) = (DVec3::new(0.2, -0.7, -1.3), DVec3::new(3.0, 1.0, -2.0));
        let held = Velocity { locked: Axes::TRANSLATION[0].and(Axes::ROTATION[2]), ..body(2.0, u, w) };
        [
            [body(2.0, u, w), body(3.0, -w, u)],
            [body(2.0, u, w), body(0.0, -u, 0.5 * w)],
            [held, body(3.0, w, u)],
        ]
    }

    #[test]
    fn works_add_up_to_the_change_of_kinetic_energy() {
        for before in scenes() {
            let after = after(&constraint(), &before);
            let works = book_contacts(Flow::default(), &[constraint()], &before, &after);
            assert!(works.error(kinetic(&after) - kinetic(&before)).abs() < 1e-13, "{works:?}");
        }
    }

    #[test]
    fn an_impulse_that_was_booked_and_not_applied_shows() {
        for before in scenes() {
            let after = after(&constraint(), &before);
            let impulse = Impulse { normal: 2.001, ..constraint().impulse };
            let works =
                book_contacts(Flow::default(), &[Constraint { impulse, ..constraint() }], &before, &after);
            assert!(works.error(kinetic(&after) - kinetic(&before)).abs() > 1e-5, "{works:?}");
        }
    }

    #[test]
    fn only_what_does_not_give_way_works_as_a_boundary() {
        let [free, walled, locked] = scenes().map(|before| {
            let after = after(&constraint(), &before);
            book_contacts(Flow::default(), &[constraint()], &before, &after).boundary_work
        });
        assert_eq!(free, 0.0);
        // λ·u_b + λ_r·ω_b with u_b = -u + (w/2) × arm_b
        let (linear, rolling) = (DVec3::new(0.5, -0.3, 2.0), DVec3::new(0.1, 0.2, -0.4));
        let spin = DVec3::new(1.5, 0.5, -1.0);
        let at_contact = DVec3::new(-0.2, 0.7, 1.3) + spin.cross(DVec3::new(0.3, 0.2, 1.0));
        assert!((walled - linear.dot(at_contact) - rolling.dot(spin)).abs() < 1e-13, "{walled}");
        // The lock keeps 0.2 m/s along x against 0.5 N s, and -2 rad/s about z against -0.4 N m s.
        assert!((locked + 0.2 * 0.5 + 2.0 * 0.4).abs() < 1e-13, "{locked}");
    }

    #[test]
    fn the_normal_constraints_of_impacts_are_booked_apart() {
        let before = scenes()[0];
        let after = after(&constraint(), &before);
        let plain = book_contacts(Flow::default(), &[constraint()], &before, &after);
        let impact = book_impacts(
            &Pull::of_gravity(DVec3::ZERO),
            0.1,
            Flow::default(),
            &[constraint()],
            [&before, &after],
        );
        assert_eq!((impact.impact_work, impact.normal_work), (plain.normal_work, 0.0));
        assert_eq!((impact.friction_work, impact.rolling_work), (plain.friction_work, plain.rolling_work));
        let of_impacts = (impact.impact_friction_work, impact.impact_rolling_work);
        assert_eq!(of_impacts, (impact.friction_work, impact.rolling_work));
    }

    #[test]
    fn gravity_works_until_the_impact_and_the_rest_is_what_the_impact_takes() {
        let before =
            [body(2.0, DVec3::new(0.0, 0.0, -1.0), DVec3::ZERO), body(0.0, DVec3::ZERO, DVec3::ZERO)];
        let (gravity, h) = (DVec3::new(0.0, 0.0, -10.0), 0.01);
        // The grain meets with 1 + h g/2 and leaves with as much, of which gravity takes h g/2 after the impact.
        let impulse = Impulse { normal: 2.0 * 2.1, ..Impulse::default() };
        let bounce = Constraint { impulse, ..constraint() };
        let after = [body(2.0, DVec3::new(0.0, 0.0, 1.1), DVec3::ZERO), before[1]];
        let works =
            book_impacts(&Pull::of_gravity(gravity), h, Flow::default(), &[bounce], [&before, &after]);
        assert!(works.impact_work.abs() < 1e-14, "an elastic impact takes {} J", -works.impact_work);
        assert!(works.error(kinetic(&after) - kinetic(&before)).abs() < 1e-13, "{works:?}");
    }
}
