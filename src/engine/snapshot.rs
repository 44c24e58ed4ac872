//! Snapshot: a state of the world as an engine returns it.

use std::ops::AddAssign;
use std::sync::OnceLock;

use glam::{DMat3, DVec3};

use crate::contact::{ContactState, Impulse, Key};
use crate::law::normal::NormalLaw;
use crate::model::flush::merge;
use crate::model::solids::shape_id;
use crate::model::{Meter, MeterSums, Touch, World};
use crate::settings::Settings;

use super::compatible::{CompatibleForces, CompatiblePlan};
use super::share::Share;
use super::{EnergyBalance, StepReport, planned_contacts};

/// Total impulse of contacts on a boundary since the start of the run, impacts included.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct TotalImpulse {
    /// Impulse \[N s\].
    pub linear: DVec3,
    /// Angular impulse about the position that the boundary's body had at the time \[N m s\].
    pub angular: DVec3,
}

impl AddAssign for TotalImpulse {
    fn add_assign(&mut self, other: TotalImpulse) {
        self.linear += other.linear;
        self.angular += other.angular;
    }
}

/// Snapshot of the state of the world, the same whichever engine made it.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Bodies, shapes and materials.
    pub world: World,
    /// Contacts of the last step, with gaps at the committed positions, sorted by key; before the first
    /// step those of the initial state.
    pub contacts: Vec<ContactState>,
    /// Length of the substep the impulses belong to \[s\]: force = impulse / substep.
    pub substep: f64,
    /// Report of the last step.
    pub report: StepReport,
    /// Total impulse of contacts on each boundary since the start.
    pub impulses: Vec<TotalImpulse>,
    /// Sums of the meters of the world since the start \[E17\]: one per bin.
    pub stresses: Vec<MeterSums>,
    /// Sum of impulse times arm of the contacts of every grain since it came, impacts included \[E17\] \[N m s\]; empty unless the world
    /// [measures](World::measures_grains) them.
    pub grain_stresses: Vec<DMat3>,
    /// Energy balance; `None` where it is not kept ([`Bookkeeping::Off`](crate::settings::Bookkeeping::Off)).
    pub balance: Option<EnergyBalance>,
    /// Compatible forces of the state \[E16\], where a scenario asks for them.
    pub wanted: WantedForces,
    /// What this process counts of the state.
    pub share: Share,
}

/// Compatible forces of a state, which are computed when they are first asked for.
#[derive(Debug, Clone, Default)]
pub struct WantedForces {
    plan: Option<CompatiblePlan>,
    found: OnceLock<CompatibleForces>,
}

impl From<Option<CompatiblePlan>> for WantedForces {
    fn from(plan: Option<CompatiblePlan>) -> WantedForces {
        WantedForces { plan, found: OnceLock::new() }
    }
}

impl PartialEq for WantedForces {
    // The forces follow from the rest of the state.
    fn eq(&self, other: &WantedForces) -> bool {
        self.plan == other.plan
    }
}

impl Snapshot {
    /// Present grains that this process counts.
    pub fn present_grains(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.world.present_grains().filter(|&grain| self.share.counts(grain))
    }

    /// Number of present grains of the scene.
    pub fn present_count(&self) -> usize {
        self.share.total(self.present_grains().count())
    }

    /// Contacts that this process counts. Of the ranks of two grains that touch, that of the first counts the contact.
    pub fn counted_contacts(&self) -> impl Iterator<Item = &ContactState> + Clone {
        let grain = |shape| self.world.grain_of_shape(shape);
        let counts = move |contact: &&ContactState| {
            let first = || grain(contact.key.a).or_else(|| grain(contact.key.b));
            self.share.is_whole() || first().is_none_or(|grain| self.share.counts(grain))
        };
        self.contacts.iter().filter(counts)
    }

    /// Sums of a meter since the start, one per bin, and the place of the first among all `stresses`; `None` if the world has no such
    /// meter.
    pub fn measured(&self, meter: &Meter) -> Option<(usize, &[MeterSums])> {
        let first = self.world.first_bin(meter)?;
        Some((first, self.stresses.get(first..first + meter.bins())?))
    }

    /// Normal force of each contact over the last substep \[N\].
    pub fn normal_forces(&self) -> Vec<f64> {
        self.contacts.iter().map(|contact| contact.impulse.normal / self.substep).collect()
    }

    /// Normal forces that belong to overlaps \[E16\]; `None` where the scenario does not ask for them.
    pub fn compatible(&self) -> Option<&CompatibleForces> {
        let plan = self.wanted.plan.as_ref()?;
        Some(self.wanted.found.get_or_init(|| CompatibleForces::of(self, plan)))
    }

    /// Sum of normal forces of the contacts on each body \[N\].
    pub fn pushed_by(&self, normal_forces: &[f64]) -> Vec<DVec3> {
        let mut pushed = vec![DVec3::ZERO; self.world.bodies.len()];
        for (contact, force) in self.contacts.iter().zip(normal_forces) {
            let [a, b] = contact.bodies.map(|body| body as usize);
            pushed[a] += *force * contact.normal;
            pushed[b] -= *force * contact.normal;
        }
        pushed
    }

    /// Bytes needed to take a snapshot of this many grains.
    pub fn planned_bytes(world: &World, grains: usize) -> u64 {
        let per_contact = size_of::<(Key, Impulse)>() + size_of::<ContactState>();
        let contacts = planned_contacts(world.planned_spheres(grains));
        world.planned_bytes(grains) + (contacts * per_contact) as u64
    }

    /// Bytes that a snapshot of this many grains holds once it is taken.
    pub fn planned_holdings(world: &World, grains: usize) -> u64 {
        let contacts = planned_contacts(world.planned_spheres(grains)) * size_of::<ContactState>();
        world.planned_bytes(grains) + contacts as u64
    }

    /// Makes a snapshot without an energy balance, and with boundaries that no contact has touched yet. Gaps and normals come from the
    /// positions in `world`.
    pub fn new(world: World, impulses: Vec<(Key, Impulse)>, substep: f64, report: StepReport) -> Snapshot {
        let settings = Settings { time_step: substep, ..Settings::default() };
        Snapshot::of_solved(world, impulses, &[], &settings, report)
    }

    /// As [`Snapshot::new`], for a state solved with these settings. `sides`, in ascending order of the contacts, are the sides of patches
    /// of meshes that spheres belong to: 1 where the faces look, -1 behind them, 0 unknown.
    pub fn of_solved(
        world: World,
        impulses: Vec<(Key, Impulse)>,
        sides: &[(Key, i8)],
        settings: &Settings,
        report: StepReport,
    ) -> Snapshot {
        let state = |(key, impulse): (Key, Impulse)| {
            let touch = world.touch(key.a, key.b).or_else(|| world.touch(key.a, shape_id(key.b)))?;
            Some(ContactState {
                key,
                bodies: [world.shape_body(key.a), world.shape_body(key.b)],
                gap: touch.gap,
                normal: touch.normal,
                point: touch.point,
                impulse,
                cohesion: 0.0,
                friction: world.law(key.a, key.b).friction,
                cone: settings.cone,
                spring_energy: [0.0; 2],
            })
        };
        let mut contacts: Vec<ContactState> = Vec::with_capacity(impulses.len());
        contacts.extend(impulses.into_iter().filter_map(state));
        contacts.sort_unstable_by_key(|contact| contact.key);
        place_on_solids(&world, &mut contacts);
        join_patches(&world, &mut contacts, sides);
        merge_flush(&world, &mut contacts);
        let impulses = vec![TotalImpulse::default(); world.boundaries.len()];
        let stresses = vec![MeterSums::ZERO; world.meter_bins()];
        let measured = if world.measures_grains { world.grain_count() } else { 0 };
        let grain_stresses = vec![DMat3::ZERO; measured];
        Snapshot {
            world,
            contacts,
            substep: settings.substep(),
            report,
            impulses,
            stresses,
            grain_stresses,
            balance: None,
            wanted: WantedForces::default(),
            share: Share::default(),
        }
    }

    /// Subtracts the cohesion of some of the contacts \[N s\] from their impulses, which do not include it yet.
    pub fn note_cohesion(&mut self, cohesion: impl Iterator<Item = (Key, f64)>) {
        for (key, cohesion) in cohesion.filter(|(_, cohesion)| *cohesion > 0.0) {
            if let Ok(found) = self.contacts.binary_search_by_key(&key, |contact| contact.key) {
                let contact = &mut self.contacts[found];
                contact.impulse.normal -= cohesion;
                contact.cohesion = cohesion;
            }
        }
    }

    /// Stores the energy of the springs that hold this force \[N\] and this moment \[N m\], under the smooth method.
    pub fn note_springs(&mut self, settings: &Settings, springs: impl Iterator<Item = (Key, [DVec3; 2])>) {
        for (key, held) in springs {
            if let Ok(found) = self.contacts.binary_search_by_key(&key, |contact| contact.key) {
                let energy = spring_energy(&self.world, settings, &self.contacts[found], held);
                self.contacts[found].spring_energy = energy;
            }
        }
    }
}

/// Energy of a tangential spring that holds a force \[N\], and of a rolling one that holds a moment \[N m\] \[E13\] \[J\].
fn spring_energy(world: &World, settings: &Settings, contact: &ContactState, held: [DVec3; 2]) -> [f64; 2] {
    let (a, b) = (contact.key.a, contact.key.b);
    if contact.gap >= 0.0 || held == [DVec3::ZERO; 2] {
        return [0.0; 2];
    }
    let (pair, radius) = (world.law(a, b), world.effective_radius(a, b));
    let Some((_, stiffness)) = settings.normal_law.elasticity(pair.effective_modulus, radius) else {
        return [0.0; 2];
    };
    let is_hertz = settings.normal_law == NormalLaw::Hertz;
    let slope = if is_hertz { 1.5 * stiffness * (-contact.gap).sqrt() } else { stiffness };
    let stiffness = pair.tangential_stiffness * slope;
    let [force, moment] = held.map(DVec3::length_squared);
    [0.5 * force / stiffness, 0.5 * moment / (radius * radius * stiffness)]
}

/// Sets gap, normal and point of the contacts of solids, all of a solid together, and removes those of solids that are apart.
fn place_on_solids(world: &World, contacts: &mut Vec<ContactState>) {
    let pairs: Vec<(u32, u32)> = contacts.iter().map(|contact| (contact.key.a, contact.key.b)).collect();
    let touches = world.touches_of_solids(&pairs);
    for &(i, touch) in &touches {
        if let Some(Touch { gap, normal, point }) = touch {
            (contacts[i].gap, contacts[i].normal, contacts[i].point) = (gap, normal, point);
        }
    }
    let mut apart = touches.into_iter().filter(|(_, touch)| touch.is_none()).map(|(i, _)| i).peekable();
    let mut place = 0..;
    contacts.retain(|_| apart.next_if_eq(&place.next().unwrap_or(usize::MAX)).is_none());
}

/// Merges contacts of a sphere with surfaces that meet flush; one that stands for others gets their impulses.
fn merge_flush(world: &World, contacts: &mut Vec<ContactState>) {
    if !world.may_meet_flush() {
        return;
    }
    let classes = world.motion_classes();
    let surfaces = world.surfaces.len() as u32;
    let mut takes_part = vec![true; contacts.len()];
    let mut first = 0;
    let groups = contacts.chunk_by(|one, other| one.key.a == other.key.a && other.key.b < surfaces);
    let lengths: Vec<usize> = groups.map(<[ContactState]>::len).collect();
    for length in lengths {
        let group = &mut contacts[first..first + length];
        let takes_part = &mut takes_part[first..first + length];
        first += length;
        let Some(radius) = world.ball(group[0].key.a).map(|ball| ball.radius) else { continue };
        if length == 1 || group[0].key.b >= surfaces {
            continue;
        }
        let touch = |contact: &ContactState| {
            let Key { a, b } = contact.key;
            world.flush_touch((a, b), (contact.gap + radius, contact.normal), &classes)
        };
        let Some(touches) = group.iter().map(touch).collect::<Option<Vec<_>>>() else { continue };
        for (i, root) in merge(&touches, radius).into_iter().enumerate().filter(|(i, root)| i != root) {
            takes_part[i] = false;
            let (impulse, cohesion) = (group[i].impulse, group[i].cohesion);
            group[root].impulse = group[root].impulse.and(&impulse);
            group[root].cohesion += cohesion;
        }
    }
    let mut takes_part = takes_part.into_iter();
    contacts.retain(|_| takes_part.next().unwrap_or(true));
}

/// Joins contacts with patches of meshes: sets gap, normal and point of those that take part, and removes those at seams that are no edges.
fn join_patches(world: &World, contacts: &mut Vec<ContactState>, sides: &[(Key, i8)]) {
    if world.meshes.is_empty() {
        return;
    }
    let pairs: Vec<(u32, u32)> = contacts.iter().map(|contact| (contact.key.a, contact.key.b)).collect();
    let mut takes_part = vec![true; contacts.len()];
    let side = |(a, b): (u32, u32)| {
        let found = sides.binary_search_by_key(&Key { a, b }, |(key, _)| *key);
        found.map_or(0, |found| sides[found].1)
    };
    for (i, touch) in world.joined_touches(&pairs, side) {
        match touch {
            Some(Touch { gap, normal, point }) => {
                (contacts[i].gap, contacts[i].normal, contacts[i].point) = (gap, normal, point);
            }
            None => takes_part[i] = false,
        }
    }
    let mut takes_part = takes_part.into_iter();
    contacts.retain(|_| takes_part.next().unwrap_or(true));
}
