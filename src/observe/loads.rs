//! Forces and torques of contacts and bonds on boundaries and on other bodies.

use glam::{DMat3, DVec3};

use super::{Base, grains};
use crate::engine::{Snapshot, TotalImpulse};
use crate::model::plane::grain_volume;
use crate::model::{World, outer};

/// Force and torque of all contacts and bonds on a boundary, averaged over some time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Load {
    /// Force \[N\].
    pub force: DVec3,
    /// Torque about the position of the boundary's body \[N m\].
    pub torque: DVec3,
}

/// Load on every boundary over the last substep, without impacts, in the order of the boundaries.
pub fn on_boundaries(snapshot: &Snapshot) -> Vec<Load> {
    let world = &snapshot.world;
    let mut loads = vec![Load::default(); world.boundaries.len()];
    for contact in snapshot.counted_contacts() {
        // The impulse acts on `a`, its reverse on `b`; `a` is a boundary when it is a vertex of one.
        for (body, sign) in contact.bodies.into_iter().zip([1.0, -1.0]) {
            let body = body as usize;
            let Some(load) = loads.get_mut(body) else { continue };
            let force = sign * contact.impulse.linear(contact.normal) / snapshot.substep;
            let arm = contact.point - world.periodic.image(world.bodies.position[body], contact.point);
            load.force += force;
            load.torque += arm.cross(force) + sign * contact.impulse.rolling / snapshot.substep;
        }
    }
    for (body, _, force, torque) in world.bond_forces().flat_map(|bond| bond.on_bodies()) {
        if let Some(load) = loads.get_mut(body) {
            load.force += force;
            load.torque += torque;
        }
    }
    for load in &mut loads {
        (load.force, load.torque) = (snapshot.share.sum(load.force), snapshot.share.sum(load.torque));
    }
    loads
}

/// Force on every boundary over the last substep with compatible normal forces \[E16\] \[N\]; not a number where the state has no such
/// forces.
pub fn compatible_on_boundaries(snapshot: &Snapshot) -> Vec<DVec3> {
    let count = snapshot.world.boundaries.len();
    let Some(compatible) = snapshot.compatible() else { return vec![DVec3::NAN; count] };
    let mut forces = vec![DVec3::ZERO; count];
    for (contact, normal) in snapshot.contacts.iter().zip(&compatible.normal) {
        let on_a = *normal * contact.normal + contact.impulse.tangent / snapshot.substep;
        for (body, sign) in contact.bodies.into_iter().zip([1.0, -1.0]) {
            if let Some(force) = forces.get_mut(body as usize) {
                *force += sign * on_a;
            }
        }
    }
    forces
}

/// Sum of the forces of contacts and bonds on a body, and their stress times volume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reaction {
    /// Sum of the forces of contacts and bonds \[N\].
    pub force: DVec3,
    /// Stress times volume, -Σ r fᵀ, with r from the centre of the body to a contact and f the force there \[N m\]; positive under
    /// pressure.
    pub stress: DMat3,
}

impl Reaction {
    /// Reaction of a body without contacts.
    pub const NONE: Reaction = Reaction { force: DVec3::ZERO, stress: DMat3::ZERO };

    /// Pressure: mean of the normal stresses over the volume of a grain \[Pa\]; for a disc the mean of the two in its plane.
    pub fn pressure(&self, world: &World, grain: usize) -> f64 {
        let ways = if world.plane.is_some() { 2.0 } else { 3.0 };
        let [x, y, z] = [0, 1, 2].map(|axis| self.stress.col(axis)[axis]);
        (x + y + z) / ways / grain_volume(world.plane, world.grain_radius(grain))
    }
}

/// Reaction of every body to its contacts and bonds over the last substep, without impacts, in the order of the bodies; on a rank that of
/// its own grains is complete.
pub fn reactions(snapshot: &Snapshot) -> Vec<Reaction> {
    let world = &snapshot.world;
    let mut reactions = vec![Reaction::NONE; world.bodies.len()];
    for contact in &snapshot.contacts {
        let force = contact.impulse.linear(contact.normal) / snapshot.substep;
        for (body, sign) in contact.bodies.into_iter().zip([1.0, -1.0]) {
            let body = body as usize;
            let arm = contact.point - world.periodic.image(world.bodies.position[body], contact.point);
            reactions[body].force += sign * force;
            reactions[body].stress -= outer(arm, sign * force);
        }
    }
    for (body, arm, force, _) in world.bond_forces().flat_map(|bond| bond.on_bodies()) {
        reactions[body].force += force;
        reactions[body].stress -= outer(arm, force);
    }
    reactions
}

/// Mean load on every boundary since the base, impacts included; zero without a base.
pub fn mean_on_boundaries(snapshot: &Snapshot, base: Option<&Base>) -> Vec<Load> {
    let is_of_this_scene = |base: &&Base| base.impulses.len() == snapshot.impulses.len();
    let Some(base) = base.filter(is_of_this_scene) else {
        return vec![Load::default(); snapshot.impulses.len()];
    };
    let time = snapshot.report.time - base.time;
    let mean = |(now, before): (&TotalImpulse, &TotalImpulse)| Load {
        force: (now.linear - before.linear) / time,
        torque: (now.angular - before.angular) / time,
    };
    snapshot.impulses.iter().zip(&base.impulses).map(mean).collect()
}

/// Supported weight: force along gravity on all boundaries that are not dynamic, over the weight of grains and dynamic boundaries \[-\]. It
/// is 1 at rest, and not a number without gravity or weight.
pub fn weight_supported(snapshot: &Snapshot) -> f64 {
    let world = &snapshot.world;
    let gravity = world.gravity;
    let loads = on_boundaries(snapshot);
    let fixed = loads.iter().zip(&world.boundaries).filter(|(_, boundary)| boundary.dynamic().is_none());
    let force: DVec3 = fixed.map(|(load, _)| load.force).sum();
    let grains = snapshot.share.sum(grains(snapshot).map(|grain| grain.mass).sum::<f64>());
    let mass = grains + world.dynamic_boundaries().map(|(_, free)| free.mass).sum::<f64>();
    force.dot(gravity) / (mass * gravity.length_squared())
}

#[cfg(test)]
mod tests {
    use super::super::Observer;
    use super::super::test_worlds::{beside, empty, stack};
    use super::*;

    #[test]
    fn the_force_on_a_boundary_is_the_reverse_of_the_impulse_over_the_substep() {
        // Impulse on the grain: 0.9 N s up, 0.45 N s along x, in 0.005 s.
        let force = on_boundaries(&stack())[0].force;
        assert!((force - DVec3::new(-90.0, 0.0, -180.0)).length() < 1e-9, "{force}");
    }

    #[test]
    fn what_contacts_do_to_a_grain_is_a_force_and_a_pressure() {
        let state = stack();
        let reactions = reactions(&state);
        // Each carries 18 kg or 16 kg at 10 m/s², of which the lower grain passes on 160 N.
        assert!((reactions[1].force.z - 20.0).abs() < 1e-9 && (reactions[2].force.z - 160.0).abs() < 1e-9);
        assert_eq!(
            reactions[0].force,
            -state
                .contacts
                .iter()
                .map(|contact| {
                    let on_floor = contact.bodies[1] == 0;
                    if on_floor {
                        contact.impulse.linear(contact.normal) / state.substep
                    } else {
                        DVec3::ZERO
                    }
                })
                .sum::<DVec3>()
        );
        // 160 N over an arm of 0.975 m along z: a third of -arm · force, over the volume.
        let volume = crate::model::sphere_volume(1.0);
        let contact = state.contacts.iter().find(|contact| contact.bodies.contains(&2)).expect("a contact");
        let arm = contact.point - state.world.bodies.position[2];
        let force = contact.impulse.linear(contact.normal) / state.substep;
        let force = if contact.bodies[0] == 2 { force } else { -force };
        let expected = -arm.dot(force) / 3.0 / volume;
        assert!((reactions[2].pressure(&state.world, 1) - expected).abs() < 1e-9 && expected > 0.0);
    }

    #[test]
    fn the_torque_on_a_boundary_is_about_its_body_and_contains_the_rolling_moment() {
        // Body at (-0.7, 0, 0), contact at (0.3, 0, -0.025): the arm (1, 0, -0.025) crossed with
        // (-90, 0, -180) N is (0, 2.25 + 180, 0); the rolling impulse is 0.01 N m s about y.
        let torque = on_boundaries(&stack())[0].torque;
        assert!((torque - DVec3::new(0.0, 182.25 - 2.0, 0.0)).length() < 1e-9, "{torque}");
    }

    #[test]
    fn the_mean_force_is_the_impulse_since_the_last_observation_over_the_time() {
        let mut snapshot = stack();
        let first = Observer::new(&snapshot.world, None).observe(&snapshot);
        snapshot.report.time += 0.5;
        let (linear, angular) = (DVec3::new(1.0, 0.0, -90.0), DVec3::new(0.0, 2.0, 0.0));
        snapshot.impulses[0] += TotalImpulse { linear, angular };
        let mean = mean_on_boundaries(&snapshot, Some(&first.base))[0];
        assert_eq!((mean.force, mean.torque), (2.0 * linear, 2.0 * angular));
        assert_eq!(mean_on_boundaries(&snapshot, None), [Load::default()], "nothing to compare with");
    }

    #[test]
    fn a_contact_between_grains_loads_no_boundary() {
        let mut snapshot = stack();
        snapshot.contacts.retain(|contact| contact.bodies[1] != 0);
        assert_eq!(snapshot.contacts.len(), 1);
        assert_eq!(on_boundaries(&snapshot), [Load::default()]);
        assert_eq!(weight_supported(&snapshot), 0.0);
    }

    #[test]
    fn a_floor_that_carries_all_grains_supports_their_weight() {
        // 180 N on the floor, 18 kg at 10 m/s².
        approx::assert_relative_eq!(weight_supported(&stack()), 1.0, max_relative = 1e-12);
    }

    #[test]
    fn without_boundaries_or_grains_nothing_is_supported() {
        assert!(on_boundaries(&beside()).is_empty());
        assert!(weight_supported(&empty()).is_nan());
    }
}
