//! Heat: conduction through the contacts, and what friction and impacts make of the energy of the motion \[E21\].
//!
//! All flows of a substep follow from the temperatures at its start, so their order does not count; they are added in the order of the
//! contacts, whatever the number of threads.

use rayon::prelude::*;

use crate::contact::constraint::Constraint;
use crate::contact::tasks::CHUNK;
use crate::contact::velocity::Velocity;
use crate::contact::{Colouring, Key};
use crate::engine::heat::{MOST_SHARE, too_much};
use crate::error::Error;
use crate::law::heat::{conductance, contact_radius};
use crate::model::{Heat, Pull, World};
use crate::settings::{Method, Settings};

use super::balance;
use super::narrowphase::touch_of;
use super::patches::Patches;

/// Heat that bodies gain in a substep, and the conductance of their contacts.
#[derive(Default)]
pub struct HeatGains {
    /// Per body, heat \[J\].
    gained: Vec<f64>,
    /// Per body, sum of the conductances of its contacts \[W/K\].
    conductance: Vec<f64>,
    /// Heat that contacts made \[J\].
    made: f64,
}

/// Contacts of a substep: their constraints, and what these were made of.
pub(super) struct HeatedContacts<'a> {
    pub settings: &'a Settings,
    pub keys: &'a [Key],
    pub colouring: &'a Colouring,
    pub patches: &'a Patches,
    pub constraints: &'a [Constraint],
}

impl HeatGains {
    /// Bytes for a number of bodies.
    pub fn planned_bytes(bodies: u64) -> u64 {
        2 * bodies * size_of::<f64>() as u64
    }

    /// Bytes of the room that is reserved.
    pub fn bytes(&self) -> u64 {
        ((self.gained.capacity() + self.conductance.capacity()) * size_of::<f64>()) as u64
    }

    /// Forgets the gains of the last substep.
    pub fn clear(&mut self, bodies: usize) {
        for list in [&mut self.gained, &mut self.conductance] {
            list.clear();
            list.resize(bodies, 0.0);
        }
        self.made = 0.0;
    }

    /// Adds the heat that these contacts conduct in a substep.
    pub(super) fn conduct(&mut self, world: &World, contacts: &HeatedContacts<'_>) {
        let Some(heat) = &world.heat else { return };
        let (h, order) = (contacts.settings.substep(), &contacts.colouring.order);
        let places = contacts.constraints.par_iter().zip(order).with_min_len(CHUNK);
        let conductances: Vec<f64> = places
            .map(|(constraint, &contact)| contacts.conductance(world, heat, constraint, contact))
            .collect();
        for (constraint, conductance) in contacts.constraints.iter().zip(conductances) {
            if conductance == 0.0 {
                continue;
            }
            let [a, b] = constraint.bodies.map(|body| body as usize);
            let flow = conductance * (world.bodies.heat[b].temperature - world.bodies.heat[a].temperature);
            self.gained[a] += h * flow;
            self.gained[b] -= h * flow;
            self.conductance[a] += conductance;
            self.conductance[b] += conductance;
        }
    }

    /// Adds the heat that these contacts make of the energy which they take out of the motion, in a solve that took the velocities
    /// `before` to `after`.
    pub fn rub(&mut self, heat: &Heat, constraints: &[Constraint], [before, after]: [&[Velocity]; 2]) {
        for constraint in constraints {
            self.share(heat, constraint, -balance::energy_given(constraint, before, after));
        }
    }

    /// The same for the impacts of a substep of length `h` \[s\].
    pub fn strike(
        &mut self,
        heat: &Heat,
        (pull, h): (&Pull<'_>, f64),
        constraints: &[Constraint],
        [before, after]: [&[Velocity]; 2],
    ) {
        for constraint in constraints {
            let fallen = balance::fallen_until_impact(pull, h, constraint, after);
            self.share(heat, constraint, -balance::energy_given(constraint, before, after) - fallen);
        }
    }

    /// Gives the heat of a contact that took this energy \[J\] to its two bodies, half to each; all of it to the other one of an insulated
    /// body.
    fn share(&mut self, heat: &Heat, constraint: &Constraint, lost: f64) {
        let bodies = constraint.bodies.map(|body| body as usize);
        let takers = bodies.map(|body| if heat.conducts(body) { 1.0 } else { 0.0 });
        let made = heat.friction_share * lost;
        if made == 0.0 || takers == [0.0; 2] {
            return;
        }
        for (body, takes) in bodies.into_iter().zip(takers) {
            self.gained[body] += takes / (takers[0] + takers[1]) * made;
        }
        self.made += made;
    }

    /// Checks that a substep of `h` \[s\] is short enough for all bodies \[E21\].
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with the body that would take the most.
    pub fn check(&self, world: &World, h: f64) -> Result<(), Error> {
        let shares = self.conductance.iter().zip(&world.bodies.heat);
        let shares = shares.map(|(conductance, heat)| h * conductance * heat.inverse_capacity);
        let most =
            shares.enumerate().fold((0, 0.0), |most, share| if share.1 > most.1 { share } else { most });
        if most.1 > MOST_SHARE { Err(too_much(world, most.0, most.1)) } else { Ok(()) }
    }

    /// Changes the temperatures, and sums what boundaries received; `end` is the time at the end of the substep \[s\].
    pub fn apply(&self, world: &mut World, end: f64) {
        for (heat, gained) in world.bodies.heat.iter_mut().zip(&self.gained) {
            heat.temperature += heat.inverse_capacity * gained;
        }
        if let Some(heat) = &mut world.heat {
            heat.made += self.made;
            heat.received.iter_mut().zip(&self.gained).for_each(|(sum, gained)| *sum += gained);
        }
        world.heat_boundaries(end);
    }
}

impl HeatedContacts<'_> {
    /// Conductance of a contact \[W/K\]: 0 where it does not press, or one of its bodies is insulated.
    fn conductance(&self, world: &World, heat: &Heat, constraint: &Constraint, contact: u32) -> f64 {
        let force = constraint.impulse.normal / self.settings.substep();
        if force <= 0.0 || constraint.bodies.iter().any(|&body| !heat.conducts(body as usize)) {
            return 0.0;
        }
        let key = self.keys[contact as usize];
        let (pair, radius) = (world.law(key.a, key.b), world.effective_radius(key.a, key.b));
        let overlap = match self.settings.method {
            Method::Nonsmooth => {
                self.settings.normal_law.overlap_under(force, pair.effective_modulus, radius)
            }
            Method::Smooth => touch_of(world, key, contact, self.patches).map_or(0.0, |touch| -touch.gap),
        };
        conductance(pair.conductivity, contact_radius(radius, overlap))
    }
}
