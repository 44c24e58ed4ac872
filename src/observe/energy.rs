//! Energies of the grains and dynamic boundaries, and their energy balance \[J\].

use crate::contact::ContactState;
use crate::engine::{EnergyBalance, Snapshot};
use crate::law::normal::NormalLaw;
use crate::model::solids::{point_number, shape_id};
use crate::model::{RigidBody, World};

use super::{bonds, bridges, grains};

/// Energy balance of a run from its start \[E10\].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Balance {
    law: NormalLaw,
    /// Elastic energy of the contacts at the start \[J\]: packings may overlap.
    elastic_at_start: f64,
}

impl Balance {
    /// Opens the energy balance of a run under a normal law at its first state.
    pub fn opened_at(first: &Snapshot, law: NormalLaw) -> Balance {
        Balance { law, elastic_at_start: elastic(first, law) }
    }

    /// Elastic energy of the contacts, with their tangential and rolling springs, and of the bonds \[J\].
    pub(super) fn elastic(&self, snapshot: &Snapshot) -> f64 {
        elastic(snapshot, self.law) + in_springs(snapshot).iter().sum::<f64>() + bonds::elastic(snapshot)
    }

    /// Total energy with the kinetic energy taken at v + h g/2 \[J\].
    pub(super) fn ballistic(&self, snapshot: &Snapshot) -> f64 {
        self.total(snapshot) + half_a_step(snapshot)
    }

    /// Kinetic, rotational, potential and elastic energy, and that of liquid bridges \[J\].
    pub(super) fn total(&self, snapshot: &Snapshot) -> f64 {
        let of_motion = kinetic(snapshot) + rotational(snapshot) + potential(snapshot);
        of_motion + self.elastic(snapshot) + bridges::energy(snapshot)
    }

    /// Energy that contacts made out of nothing since the start, over the turnover \[-\]: by normal impulses what they gave beyond the
    /// elastic energy of the start, by friction with rolling, by bounces and by bonds, which are made unstressed, what they gave, and by
    /// liquid bridges what they gave beyond the energy that they had.
    pub(super) fn made_share(&self, snapshot: &Snapshot) -> f64 {
        let of_bridges = (0.0 - dissipated_by_bridges(snapshot)).max(0.0);
        let made = |balance: &EnergyBalance| {
            let of_impacts = balance.impact_work + balance.impact_friction_work + balance.impact_rolling_work;
            let of_contacts = balance.made() + (balance.normal_work - self.elastic_at_start).max(0.0);
            of_contacts + of_impacts.max(0.0) + balance.bond_work.max(0.0) + of_bridges
        };
        share(snapshot, booked(snapshot, made))
    }

    /// Energy dissipated by normal impulses since the start \[J\]: energy that they took out, less the increase of the elastic energy of
    /// the overlaps.
    pub(super) fn dissipated_by_normal(&self, snapshot: &Snapshot) -> f64 {
        let stored = elastic(snapshot, self.law) - self.elastic_at_start;
        0.0 - booked(snapshot, |balance| balance.normal_work) - stored
    }
}

/// Entry of the energy balance; not a number where the state has no balance.
pub(super) fn booked(snapshot: &Snapshot, of: impl Fn(&EnergyBalance) -> f64) -> f64 {
    snapshot.balance.as_ref().map_or(f64::NAN, of)
}

/// Closure error of the energy balance: kinetic energy that it does not account for \[J\].
pub fn error(snapshot: &Snapshot) -> f64 {
    booked(snapshot, |balance| balance.error(kinetic(snapshot) + rotational(snapshot)))
}

/// Size of the closure error over the [turnover](EnergyBalance::turnover) \[-\]; 0 when nothing ever happened.
pub fn error_share(snapshot: &Snapshot) -> f64 {
    share(snapshot, error(snapshot).abs())
}

/// An energy over the turnover \[-\].
fn share(snapshot: &Snapshot, energy: f64) -> f64 {
    let turnover = booked(snapshot, EnergyBalance::turnover);
    if turnover == 0.0 { 0.0 } else { energy / turnover }
}

/// Kinetic energy at the velocities that belong to the positions, v + h g/2 \[E1\], less the kinetic energy at v \[J\].
pub fn half_a_step(snapshot: &Snapshot) -> f64 {
    let world = &snapshot.world;
    let gain = |body: usize, mass: f64| {
        let gained = 0.5 * snapshot.substep * world.bodies.pulled(body, &world.pull());
        mass * gained.dot(world.bodies.velocity[body] + 0.5 * gained)
    };
    // Velocities of machines that nothing else touches belong to their positions.
    let undisturbed = world.undisturbed();
    let is_late = |body: &(usize, &RigidBody)| undisturbed.binary_search(&(body.0 as u32)).is_err();
    let of_grains = grains(snapshot).map(|grain| gain(grain.body, grain.mass));
    snapshot.share.sum(of_grains.sum::<f64>())
        + world.dynamic_boundaries().filter(is_late).map(|(body, free)| gain(body, free.mass)).sum::<f64>()
}

/// Elastic energy of the overlaps \[J\]: (2/5) k_n δ^(5/2) under Hertz's law, k_n δ²/2 under Hooke's, none under the rigid one; less F_c δ,
/// the work of cohesion.
pub fn elastic(snapshot: &Snapshot, law: NormalLaw) -> f64 {
    let overlapping = snapshot.counted_contacts().filter(|contact| contact.gap < 0.0);
    let world = &snapshot.world;
    let of = |contact: &ContactState| {
        let (a, b) = (contact.key.a, contact.key.b);
        let pull = match point_number(b) {
            Some(_) if world.law(a, b).is_cohesive() => {
                share_of_pull(snapshot, contact) * world.pull_off(a, b)
            }
            _ => world.pull_off(a, b),
        };
        pressed(world, contact, law) + pull * contact.gap
    };
    snapshot.share.sum(overlapping.map(of).sum::<f64>())
}

/// Share of the pull-off force that a contact at a point of a manifold has \[-\].
fn share_of_pull(snapshot: &Snapshot, contact: &ContactState) -> f64 {
    let first = snapshot.contacts.partition_point(|other| other.key.a < contact.key.a);
    let of_a = snapshot.contacts[first..].iter().take_while(|other| other.key.a == contact.key.a);
    let beside: Vec<_> = of_a.filter(|other| point_number(other.key.b).is_some()).collect();
    let touches: Vec<_> =
        beside.iter().map(|other| (shape_id(other.key.b), other.gap, other.normal)).collect();
    let shares = snapshot.world.shares_of_pull(contact.key.a, &touches);
    beside.iter().zip(shares).find(|(other, _)| other.key == contact.key).map_or(1.0, |(_, share)| share)
}

/// Elastic energy of the overlap of a contact \[J\], without cohesion.
fn pressed(world: &World, contact: &ContactState, law: NormalLaw) -> f64 {
    let (a, b) = (contact.key.a, contact.key.b);
    let radius = world.effective_radius(a, b);
    let Some((_, stiffness)) = law.elasticity(world.law(a, b).effective_modulus, radius) else {
        return 0.0;
    };
    let overlap = -contact.gap;
    match law {
        NormalLaw::Hertz => 0.4 * stiffness * overlap * overlap * overlap.sqrt(),
        NormalLaw::Hooke | NormalLaw::Rigid => 0.5 * stiffness * overlap * overlap,
    }
}

/// Energy of the tangential and of the rolling springs of contacts, under the smooth method \[J\].
pub(super) fn in_springs(snapshot: &Snapshot) -> [f64; 2] {
    let of = |kind: usize| snapshot.counted_contacts().map(|contact| contact.spring_energy[kind]).sum();
    snapshot.share.sum([0, 1].map(of))
}

/// Energy dissipated by friction since the start \[J\]: energy that friction took out, less the energy of the tangential springs.
pub(super) fn dissipated_by_friction(snapshot: &Snapshot) -> f64 {
    0.0 - booked(snapshot, |balance| balance.friction_work) - in_springs(snapshot)[0]
}

/// Energy dissipated by rolling resistance since the start \[J\]: energy that it took out, less the energy of the rolling springs.
pub(super) fn dissipated_by_rolling(snapshot: &Snapshot) -> f64 {
    0.0 - booked(snapshot, |balance| balance.rolling_work) - in_springs(snapshot)[1]
}

/// Energy dissipated by bonds since the start \[J\]: energy that they took out, less what they hold; not a number without an energy
/// balance.
pub fn dissipated_by_bonds(snapshot: &Snapshot) -> f64 {
    0.0 - booked(snapshot, |balance| balance.bond_work) - bonds::elastic(snapshot)
}

/// Energy dissipated by liquid bridges since the start \[J\]: energy that they took out, less what they hold, and what those of removed
/// grains held; not a number without an energy balance.
pub fn dissipated_by_bridges(snapshot: &Snapshot) -> f64 {
    let removed = snapshot.world.liquid.as_ref().map_or(0.0, |liquid| liquid.removed_energy);
    0.0 - booked(snapshot, |balance| balance.bridge_work) - bridges::energy(snapshot) - removed
}

/// Kinetic energy of translation, Σ m v²/2 \[J\].
pub fn kinetic(snapshot: &Snapshot) -> f64 {
    let velocity = &snapshot.world.bodies.velocity;
    let boundaries = snapshot.world.dynamic_boundaries();
    kinetic_of_grains(snapshot)
        + boundaries.map(|(body, free)| 0.5 * free.mass * velocity[body].length_squared()).sum::<f64>()
}

fn kinetic_of_grains(snapshot: &Snapshot) -> f64 {
    let velocity = &snapshot.world.bodies.velocity;
    let of_grains = grains(snapshot).map(|grain| 0.5 * grain.mass * velocity[grain.body].length_squared());
    snapshot.share.sum(of_grains.sum::<f64>())
}

/// Kinetic energy of rotation, Σ ω·I ω/2 \[J\].
pub fn rotational(snapshot: &Snapshot) -> f64 {
    let (bodies, boundaries) = (&snapshot.world.bodies, snapshot.world.dynamic_boundaries());
    rotational_of_grains(snapshot) + boundaries.map(|(body, _)| bodies.rotational_energy(body)).sum::<f64>()
}

fn rotational_of_grains(snapshot: &Snapshot) -> f64 {
    let bodies = &snapshot.world.bodies;
    snapshot.share.sum(grains(snapshot).map(|grain| bodies.rotational_energy(grain.body)).sum::<f64>())
}

/// Potential energy in gravity relative to the origin, -Σ m g·x \[J\].
pub fn potential(snapshot: &Snapshot) -> f64 {
    let world = &snapshot.world;
    let energy = |body: usize, mass: f64| -mass * world.gravity.dot(world.bodies.position[body]);
    let of_grains = grains(snapshot).map(|grain| energy(grain.body, grain.mass));
    snapshot.share.sum(of_grains.sum::<f64>())
        + world.dynamic_boundaries().map(|(body, free)| energy(body, free.mass)).sum::<f64>()
}

/// Kinetic energy of translation and rotation of the grains over Σ m |g| d, d the diameter of each grain \[-\];
/// not a number without gravity or grains.
pub fn kinetic_per_grain(snapshot: &Snapshot) -> f64 {
    let gravity = snapshot.world.gravity.length();
    let units = grains(snapshot).map(|grain| grain.mass * gravity * 2.0 * grain.radius);
    let unit = snapshot.share.sum(units.sum::<f64>());
    if unit > 0.0 { (kinetic_of_grains(snapshot) + rotational_of_grains(snapshot)) / unit } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::super::test_worlds::{beside, empty, stack, weightless};
    use super::*;
    use crate::observe::Observer;

    /// The stack after a fall: 12.6 J of motion that came from 20 J of gravity and 3 J of new grains.
    fn booked_stack() -> Snapshot {
        let balance = EnergyBalance {
            initial_kinetic: 1.0,
            emitted_energy: 3.0,
            removed_energy: 0.5,
            gravity_work: 20.0,
            boundary_work: 2.0,
            normal_work: -4.0,
            friction_work: -5.0,
            rolling_work: -1.0,
            bond_work: 0.0,
            bridge_work: 0.0,
            impact_work: -2.0,
            impact_friction_work: -1.5,
            impact_rolling_work: -0.5,
        };
        Snapshot { balance: Some(balance), ..stack() }
    }

    fn value(balance: &Balance, snapshot: &Snapshot, name: &str) -> f64 {
        let observer = Observer::new(&snapshot.world, None).with_balance(*balance);
        observer.observe(snapshot).values[observer.find(name).expect("a quantity")]
    }

    // Grains of the stack: mass 2 and 16 kg, radius 0.5 and 1 m, moments 0.2 and 6.4 kg m².

    #[test]
    fn kinetic_energy_is_half_the_mass_times_speed_squared() {
        // 0.5 · 2 · 3² + 0.5 · 16 · 0.5²
        approx::assert_relative_eq!(kinetic(&stack()), 11.0, max_relative = 1e-12);
    }

    #[test]
    fn rotational_energy_is_half_the_moment_times_spin_squared() {
        // 0.5 · 0.2 · 4²
        approx::assert_relative_eq!(rotational(&stack()), 1.6, max_relative = 1e-12);
    }

    #[test]
    fn potential_energy_is_weight_times_height_above_the_origin() {
        // 10 m/s²: 20 N · 0.45 m + 160 N · 1.9 m
        approx::assert_relative_eq!(potential(&stack()), 313.0, max_relative = 1e-12);
    }

    #[test]
    fn kinetic_energy_per_grain_counts_translation_and_rotation_in_units_of_m_g_d() {
        // (11 + 1.6) J over 20 N · 1 m + 160 N · 2 m
        approx::assert_relative_eq!(kinetic_per_grain(&stack()), 12.6 / 340.0, max_relative = 1e-12);
    }

    #[test]
    fn grains_at_rest_have_no_kinetic_energy() {
        assert_eq!((kinetic(&beside()), rotational(&beside())), (0.0, 0.0));
    }

    #[test]
    fn overlaps_store_the_work_of_the_force_that_they_exert() {
        // E* = 1e6 / (2 (1 - 0.25²)); floor: R* = 0.5 m; pair: R* = 1/3 m; overlaps of 0.05 m.
        let modulus = 1e6 / 1.875;
        let force = |radius: f64, overlap: f64| 4.0 / 3.0 * modulus * (radius * overlap).sqrt() * overlap;
        let hertz = [0.5, 1.0 / 3.0].map(|radius: f64| 0.4 * force(radius, 0.05) * 0.05);
        let found = elastic(&stack(), NormalLaw::Hertz);
        approx::assert_relative_eq!(found, hertz[0] + hertz[1], max_relative = 1e-9);
        // Hooke's force is proportional to the overlap, and that of Hertz at 1 % of R*.
        let hooke = [0.5, 1.0 / 3.0].map(|radius: f64| {
            let at_one_percent = 0.01 * radius;
            0.5 * force(radius, at_one_percent) * 0.05 / at_one_percent * 0.05
        });
        let found = elastic(&stack(), NormalLaw::Hooke);
        approx::assert_relative_eq!(found, hooke[0] + hooke[1], max_relative = 1e-9);
        assert_eq!(elastic(&stack(), NormalLaw::Rigid), 0.0);
        assert_eq!(elastic(&beside(), NormalLaw::Hertz), 0.0, "a gap stores nothing");
    }

    #[test]
    fn dissipation_is_work_taken_out_and_the_store_of_normal_rows_is_none() {
        let snapshot = booked_stack();
        let balance = Balance { law: NormalLaw::Hertz, elastic_at_start: 7.0 };
        let value = |name| value(&balance, &snapshot, name);
        assert_eq!((value("dissipated_by_impact"), value("dissipated_by_friction")), (2.0, 5.0));
        assert_eq!((value("dissipated_by_rolling"), value("gravity_work")), (1.0, 20.0));
        let stored = value("elastic_energy") - 7.0;
        approx::assert_relative_eq!(value("dissipated_by_normal"), 4.0 - stored, max_relative = 1e-12);
        let total = 11.0 + 1.6 + 313.0 + value("elastic_energy");
        approx::assert_relative_eq!(value("total_energy"), total, max_relative = 1e-12);
    }

    #[test]
    fn the_closure_error_is_what_the_books_do_not_explain() {
        // 12.6 J are there, 1 + 20 + 2 - 4 - 5 - 1 - 2 + 3 - 0.5 = 13.5 J booked; 37.5 J turned over.
        let snapshot = booked_stack();
        approx::assert_relative_eq!(error(&snapshot), -0.9, max_relative = 1e-12);
        approx::assert_relative_eq!(error_share(&snapshot), 0.9 / 37.5, max_relative = 1e-12);
        let fast = EnergyBalance { initial_kinetic: 12.6, ..EnergyBalance::default() };
        let unchanged = Snapshot { balance: Some(fast), ..stack() };
        assert!(error_share(&unchanged) < 1e-15);
        assert_eq!(
            error_share(&Snapshot { balance: Some(EnergyBalance::default()), ..beside() }),
            0.0,
            "nothing happened"
        );
    }

    /// Overlaps held 7 J at the start. Friction and rolling took energy out.
    #[test]
    fn energy_is_made_by_any_row_that_gives_more_than_was_held() {
        let balance = Balance { law: NormalLaw::Hertz, elastic_at_start: 7.0 };
        assert_eq!(value(&balance, &booked_stack(), "energy_made_share"), 0.0);
        let made = |normal_work: f64, impact_work: f64| {
            let booked = booked_stack().balance.expect("a balance");
            let of_row = EnergyBalance { normal_work, impact_work, ..booked };
            let snapshot = Snapshot { balance: Some(of_row), ..booked_stack() };
            value(&balance, &snapshot, "energy_made_share") * of_row.turnover()
        };
        approx::assert_relative_eq!(made(9.0, -2.0), 2.0, max_relative = 1e-12);
        // Friction and rolling of the impacts took 2 J of what their normal impulses gave.
        approx::assert_relative_eq!(made(-4.0, 5.0), 3.0, max_relative = 1e-12);
        assert_eq!(made(7.0, 2.0), 0.0);
    }

    #[test]
    fn what_is_not_booked_is_not_a_number() {
        let balance = Balance::opened_at(&stack(), NormalLaw::Hertz);
        assert!(value(&balance, &stack(), "energy_error").is_nan());
        assert!(value(&balance, &stack(), "gravity_work").is_nan());
    }

    #[test]
    fn without_gravity_or_grains_there_is_no_unit_of_energy_per_grain() {
        assert!(kinetic_per_grain(&weightless()).is_nan());
        assert!(kinetic_per_grain(&empty()).is_nan());
        assert_eq!(potential(&weightless()), 0.0);
    }
}
