//! Bridges: capillary forces and viscous drag of the liquid between bodies, and which of them form and break \[E22\].
//!
//! A capillary force is the cohesion of its contact, also while the bodies are apart: it pulls them together for the substep, the contact
//! impulse holds against it, and friction is bounded by that impulse. A bridge therefore needs its pair in the list of contacts, up to the
//! gap at which it breaks; each search adds the pairs with bridges. The drag is an impulse of its own. It acts bridge by bridge, in the
//! order of the keys, each time implicitly on the velocities that the bridge before left: that takes energy out whatever the step is (as
//! Shardlow 2003 does for dissipative particles).

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use crate::contact::constants::LawConstants;
use crate::contact::constraint::{Constraint, Onset};
use crate::contact::tasks::CHUNK;
use crate::contact::velocity::{InverseMass, Velocity};
use crate::contact::{Colouring, Impulse, Key};
use crate::law::bridge::Meniscus;
use crate::law::cohesion::COHESION_RANGE;
use crate::model::{Touch, World};
use crate::settings::Method;

use super::narrowphase::touch_of;
use super::patches::Patches;

/// Bridges among the contacts of the present list.
#[derive(Debug, Clone, Default)]
pub struct BridgeSystem {
    /// Place of each contact in solving order; empty in a scene without liquid.
    places: Vec<u32>,
    /// Per contact: whether it has a bridge.
    has_bridge: Vec<bool>,
    /// Bridges that act in this substep, in the order of their keys.
    acting: Vec<ActingBridge>,
    /// Impulses of the drag, as those of contacts of their own; empty without viscosity.
    drags: Vec<Constraint>,
    /// Contacts that bounced in this substep: bodies, and bits of the normal.
    bounced: Vec<([u32; 2], [u64; 3])>,
}

/// Bridge that acts in a substep.
#[derive(Debug, Clone, Copy)]
pub struct ActingBridge {
    /// Place of its contact in solving order.
    pub place: u32,
    /// Impulse of the capillary force \[N s\].
    pub impulse: f64,
    /// Drag against a normal velocity and against a sliding one \[kg/s\].
    drag: [f64; 2],
}

/// Contacts of a substep before they are solved.
pub(super) struct WetContacts<'a> {
    pub law: &'a LawConstants,
    pub keys: &'a [Key],
    pub patches: &'a Patches,
    pub onsets: &'a [Onset],
}

/// What a substep finds at a contact.
#[derive(Clone, Copy)]
enum BridgeFate {
    /// It has a bridge, which may be new, and this touch.
    Bridge(Meniscus, Touch),
    /// Its bridge breaks.
    Broken,
    /// It has a bridge, and another contact stands for it, or none.
    Nowhere,
}

impl BridgeSystem {
    /// Takes a new list of contacts.
    pub fn list(&mut self, world: &World, keys: &[Key], colouring: &Colouring) {
        *self = BridgeSystem::default();
        let Some(liquid) = &world.liquid else { return };
        self.places = colouring.places();
        self.has_bridge = keys.par_iter().with_min_len(CHUNK).map(|key| liquid.joins(key.a, key.b)).collect();
    }

    /// Bytes of the lists for this many contacts, if half of them have bridges.
    pub fn planned_bytes(contacts: u64, is_viscous: bool) -> u64 {
        let drag = if is_viscous { size_of::<Constraint>() } else { 0 };
        contacts * (size_of::<u32>() + size_of::<bool>()) as u64
            + contacts / 2 * (size_of::<ActingBridge>() + drag) as u64
    }

    /// Bytes that the lists hold.
    pub fn bytes(&self) -> u64 {
        (self.places.capacity() * size_of::<u32>()
            + self.has_bridge.capacity()
            + self.acting.capacity() * size_of::<ActingBridge>()
            + self.drags.capacity() * size_of::<Constraint>()) as u64
    }

    /// Bridges that act in this substep.
    pub fn acting(&self) -> &[ActingBridge] {
        &self.acting
    }

    /// Impulses of the drag in this substep, as those of contacts of their own.
    pub fn drags(&self) -> &[Constraint] {
        &self.drags
    }

    /// Finds the bridges that form and break at the present positions, and sets the cohesion of the contacts.
    pub(super) fn pull(
        &mut self,
        world: &mut World,
        contacts: &WetContacts<'_>,
        constraints: &mut [Constraint],
    ) {
        if world.liquid.is_none() {
            return;
        }
        self.bounced.clear();
        self.drags.clear();
        let (places, has_bridge) = (&self.places, &self.has_bridge);
        let find = |contact: usize| {
            let constraint = &constraints[places[contact] as usize];
            let found = contacts.find(world, contact, has_bridge[contact], places[contact], constraint);
            found.map(|found| (contact, found))
        };
        let mut found: Vec<(usize, BridgeFate)> =
            (0..places.len()).into_par_iter().with_min_len(CHUNK).filter_map(find).collect();
        let moved = self.move_on(world, contacts, &found);
        if !moved.is_empty() {
            found.extend(moved);
            found.sort_by_key(|(contact, _)| *contact);
        }
        self.acting.clear();
        let (mut formed, mut broken, mut changed) = (0, 0, false);
        for (contact, found) in found {
            let BridgeFate::Bridge(bridge, touch) = found else {
                broken += u64::from(matches!(found, BridgeFate::Broken));
                (self.has_bridge[contact], changed) = (false, true);
                continue;
            };
            if !std::mem::replace(&mut self.has_bridge[contact], true) {
                (formed, changed) = (formed + 1, true);
            }
            let (place, impulse) = (self.places[contact], contacts.law.h * bridge.force(touch.gap));
            let constraint = &mut constraints[place as usize];
            if contacts.law.method == Method::Smooth && touch.gap >= 0.0 {
                constraint.place(world, contacts.keys[contact], &touch);
            }
            constraint.cohesion += impulse;
            self.acting.push(ActingBridge { place, impulse, drag: bridge.drag(touch.gap) });
        }
        if changed {
            self.keep(world, contacts.keys, [formed, broken]);
        }
    }

    /// Bridges of contacts with surfaces that have no touch any more, at the nearest other surface that their sphere is over: a grain rolls
    /// from patch to patch, and from one surface to another that lies flush with it. These count as neither formed nor broken.
    fn move_on(
        &mut self,
        world: &World,
        contacts: &WetContacts<'_>,
        found: &[(usize, BridgeFate)],
    ) -> Vec<(usize, BridgeFate)> {
        let surfaces = world.surfaces.len() as u32;
        let keys = contacts.keys;
        let mut moved = Vec::new();
        let lost = found
            .iter()
            .filter(|(_, found)| matches!(found, BridgeFate::Nowhere))
            .map(|(contact, _)| *contact);
        for from in lost.filter(|&from| keys[from].b < surfaces) {
            let first = keys.partition_point(|key| key.a < keys[from].a);
            let others = (first..keys.len())
                .take_while(|&other| keys[other].a == keys[from].a && keys[other].b < surfaces);
            let dry = others.filter(|&other| !self.has_bridge[other]);
            let near = dry.filter_map(|other| {
                let bridge = world.meniscus(keys[other].a, keys[other].b)?;
                let touch = touch_of(world, keys[other], other as u32, contacts.patches)?;
                (touch.gap <= bridge.rupture()).then_some((other, bridge, touch))
            });
            if let Some((other, bridge, touch)) = near.min_by(|one, next| one.2.gap.total_cmp(&next.2.gap)) {
                // A bridge that formed there in this very substep is the same.
                if found.binary_search_by_key(&other, |(contact, _)| *contact).is_err() {
                    moved.push((other, BridgeFate::Bridge(bridge, touch)));
                }
                self.has_bridge[other] = true;
            }
        }
        moved
    }

    /// Applies the drag to the velocities under all other forces of the substep.
    pub fn drag(&mut self, world: &World, h: f64, constraints: &[Constraint], velocities: &mut [Velocity]) {
        self.drags.clear();
        if world.liquid.as_ref().is_none_or(|liquid| liquid.law.viscosity == 0.0) {
            return;
        }
        for bridge in &self.acting {
            let contact = &constraints[bridge.place as usize];
            let inverses =
                contact.bodies.map(|body| InverseMass::of(world, body as usize, &velocities[body as usize]));
            let [a, b] = contact.bodies.map(|body| &velocities[body as usize]);
            let impulse = bridge.resisting(
                h,
                contact.normal,
                &contact.mobility(&inverses[0], &inverses[1]),
                contact.contact_velocity(a, b),
            );
            for ((body, inverse), (arm, push)) in contact
                .bodies
                .iter()
                .zip(&inverses)
                .zip([(contact.arm_a, impulse), (contact.arm_b, -impulse)])
            {
                let velocity = &mut velocities[*body as usize];
                velocity.linear += inverse.linear * push;
                velocity.angular += inverse.angular * arm.cross(push);
            }
            let (normal, tangent) = (impulse.dot(contact.normal), contact.in_plane(impulse));
            let Constraint { bodies, arm_a, arm_b, .. } = *contact;
            let impulse = Impulse { normal, tangent, ..Impulse::default() };
            self.drags.push(Constraint {
                bodies,
                normal: contact.normal,
                arm_a,
                arm_b,
                impulse,
                ..Constraint::default()
            });
        }
    }

    /// Notes contacts that bounce.
    pub fn note_bounces(&mut self, bounces: &[Constraint]) {
        if self.places.is_empty() {
            return;
        }
        let hit = bounces.iter().filter(|bounce| bounce.impulse.normal > 0.0);
        self.bounced.extend(hit.map(mark));
    }

    /// Forms bridges where bodies met in a nonsmooth substep, in which they may have come together and parted.
    pub(super) fn join_met(&mut self, world: &mut World, keys: &[Key], constraints: &[Constraint]) {
        if world.liquid.is_none() {
            return;
        }
        self.bounced.sort_unstable();
        let (places, bounced) = (&self.places, &self.bounced);
        let has_met = |contact: &usize| {
            let constraint = &constraints[places[*contact] as usize];
            constraint.impulse.normal > 0.0
                || !bounced.is_empty() && bounced.binary_search(&mark(constraint)).is_ok()
        };
        let is_new = |contact: &usize| {
            let Key { a, b } = keys[*contact];
            !self.has_bridge[*contact] && has_met(contact) && world.meniscus(a, b).is_some()
        };
        let new: Vec<usize> = (0..keys.len()).into_par_iter().with_min_len(CHUNK).filter(is_new).collect();
        if !new.is_empty() {
            new.iter().for_each(|&contact| self.has_bridge[contact] = true);
            self.keep(world, keys, [new.len() as u64, 0]);
        }
    }

    /// Stores the bridges in the world, and counts how many formed and broke.
    fn keep(&self, world: &mut World, keys: &[Key], [formed, broken]: [u64; 2]) {
        let Some(liquid) = &mut world.liquid else { return };
        let bridges = keys.iter().zip(&self.has_bridge).filter(|(_, has_bridge)| **has_bridge);
        liquid.bridges = bridges.map(|(key, _)| [key.a, key.b]).collect();
        liquid.formed += formed;
        liquid.broken += broken;
    }
}

/// Bodies and normal of a contact: what the impact stage keeps of it.
fn mark(constraint: &Constraint) -> ([u32; 2], [u64; 3]) {
    (constraint.bodies, constraint.normal.to_array().map(f64::to_bits))
}

impl WetContacts<'_> {
    /// Finds what becomes of a contact's bridge, or whether it gets one.
    fn find(
        &self,
        world: &World,
        contact: usize,
        has_bridge: bool,
        place: u32,
        constraint: &Constraint,
    ) -> Option<BridgeFate> {
        let Key { a, b } = self.keys[contact];
        let is_in_touch = || match self.law.method {
            Method::Nonsmooth => {
                self.onsets[place as usize].gap <= COHESION_RANGE * world.effective_radius(a, b)
            }
            Method::Smooth => constraint.impulse.normal != 0.0,
        };
        if !has_bridge && !is_in_touch() {
            return None;
        }
        let bridge = world.meniscus(a, b)?;
        let touch = touch_of(world, self.keys[contact], contact as u32, self.patches);
        match touch {
            Some(touch) if touch.gap <= bridge.rupture() => Some(BridgeFate::Bridge(bridge, touch)),
            Some(_) => has_bridge.then_some(BridgeFate::Broken),
            None => has_bridge.then_some(BridgeFate::Nowhere),
        }
    }
}

impl ActingBridge {
    /// Impulse P of the drag C on the first body, from the velocity that it leaves: P = -h C (u + K P), with K the mobility of the contact.
    fn resisting(&self, h: f64, normal: DVec3, mobility: &DMat3, velocity: DVec3) -> DVec3 {
        let [along, across] = self.drag;
        let resist = |u: DVec3| h * (across * u + (along - across) * u.dot(normal) * normal);
        let columns = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| axis + resist(*mobility * axis));
        -(DMat3::from_cols(columns[0], columns[1], columns[2]).inverse() * resist(velocity))
    }
}

/// Adds the pairs that have bridges to a list of pairs, ascending; with a patch of a mesh all patches within the reach of the bridge.
pub fn add_pairs(world: &World, keys: &mut Vec<Key>) {
    let Some(liquid) = world.liquid.as_ref().filter(|liquid| !liquid.bridges.is_empty()) else { return };
    let boxes = if world.meshes.is_empty() { Vec::new() } else { world.surface_boxes() };
    for &[a, b] in &liquid.bridges {
        keys.push(Key { a, b });
        let is_patch = !boxes.is_empty() && world.patches_with(b).is_some();
        if let (true, Some(bridge), Some(sphere)) = (is_patch, world.meniscus(a, b), world.sphere_of(a)) {
            world.for_each_met_near(&boxes, sphere, bridge.rupture(), |b| keys.push(Key { a, b }));
        }
    }
    keys.sort_unstable();
    keys.dedup();
}
