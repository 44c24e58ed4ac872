//! Contacts with patches of meshes: which touches of a sphere count, on which side of the sheet the sphere is, or from which side it came
//! to a solid, and which impulses are carried over.
//!
//! A sphere over one patch is also near the seams of the patches beside it. A touch at a seam takes no part, or takes part with the plane
//! beyond the seam (see [`join`]). The impulse of a touch that takes no part goes to the contact with the patch that the sphere is over
//! now, so the impulse survives the way from patch to patch. A sphere belongs to the side of a sheet on which it came into the list of
//! contacts, or on which it was a substep before that; its centre may be pressed through the sheet, or come through in flight, by less than
//! its radius. Of a solid, which side counts says [`join_solid`]. Twin: `join_patches` in `shaders/narrowphase.wgsl`.

mod flush;

use std::ops::Range;

use glam::DVec3;
use rayon::prelude::*;

use crate::contact::carried::KnownSide;
use crate::contact::constants::LawConstants;
use crate::contact::constraint::Constraint;
use crate::contact::{Colouring, Impulse, Key};
use crate::model::mesh::{JoinedTouch, PatchTouch, SolidTouch, join, join_solid};
use crate::model::{Sphere, Touch, World};
use crate::settings::Method;

use super::manifolds::{Manifolds, Sleep};
use flush::{FlushContacts, Merged};

/// Contacts with patches of meshes, with surfaces that meet flush and at points of manifolds, among the contacts of a step.
#[derive(Debug, Clone, Default)]
pub struct Patches {
    /// Keys of these contacts, ascending.
    keys: Vec<Key>,
    /// Index of each of them among all contacts.
    contacts: Vec<u32>,
    /// Position of each of them in solving order.
    places: Vec<u32>,
    /// Normal and side of each of them from the last substep.
    known: Vec<KnownSide>,
    /// Ranges of the contacts of one sphere with one mesh.
    groups: Vec<Range<usize>>,
    joined: Vec<Joined>,
    /// Contacts at points of manifolds of solids, which are found with those at patches.
    pub(super) manifolds: Manifolds,
    /// Contacts with surfaces that meet flush, patches and others.
    flush: FlushContacts,
    merged: Vec<Joined>,
}

/// Contact with a patch as it takes part in a substep.
#[derive(Debug, Clone, Copy)]
pub struct Joined {
    /// Touch of the sphere; `None` where another touch counts instead.
    pub touch: Option<Touch>,
    /// Impulse carried over, including the impulses of the touches that this one stands for.
    pub impulse: Impulse,
    /// Side of the sheet, as in [`Known`].
    side: i8,
}

impl Patches {
    /// Finds the contacts with patches. Their normals and sides come from the list before; a contact that is new has neither.
    pub fn new(world: &World, keys: &[Key], colouring: &Colouring, before: &Patches) -> Patches {
        let manifolds = Manifolds::new(world, keys, colouring, &before.manifolds);
        let flush = FlushContacts::new(world, keys, colouring);
        if world.meshes.is_empty() {
            return Patches { manifolds, flush, ..Patches::default() };
        }
        let places = colouring.places();
        let is_with_patch = |contact: &u32| world.patches_with(keys[*contact as usize].b).is_some();
        let contacts: Vec<u32> = (0..keys.len() as u32).filter(is_with_patch).collect();
        let keys: Vec<Key> = contacts.iter().map(|&contact| keys[contact as usize]).collect();
        let known = |key: &Key| match before.keys.binary_search(key) {
            Ok(found) => before.known[found],
            Err(_) => KnownSide::default(),
        };
        Patches {
            places: contacts.iter().map(|&contact| places[contact as usize]).collect(),
            known: keys.iter().map(known).collect(),
            groups: groups(world, &keys),
            joined: Vec::new(),
            manifolds,
            contacts,
            keys,
            flush,
            merged: Vec::new(),
        }
    }

    /// Bytes that the lists hold.
    pub fn bytes(&self) -> u64 {
        let per_contact =
            size_of::<Key>() + 2 * size_of::<u32>() + size_of::<KnownSide>() + size_of::<Joined>();
        let of_patches = self.keys.len() * per_contact + self.groups.len() * size_of::<Range<usize>>();
        of_patches as u64 + self.flush.bytes() + self.manifolds.bytes()
    }

    /// Normals and sides from the last substep, in the order of the keys.
    #[cfg(feature = "scenario")]
    pub(super) fn known(&self) -> &[KnownSide] {
        &self.known
    }

    /// A list of which only the normals and sides of these contacts, ascending, are known: it comes before another.
    pub(crate) fn remembered(keys: Vec<Key>, known: Vec<KnownSide>) -> Patches {
        Patches { keys, known, ..Patches::default() }
    }

    /// Normal and side of a contact from the last substep, if it is one with a patch.
    pub(crate) fn known_of(&self, key: &Key) -> Option<KnownSide> {
        self.keys.binary_search(key).ok().map(|found| self.known[found])
    }

    /// Sets the normals and sides from the last substep; returns whether there are as many of them as contacts.
    #[cfg(feature = "scenario")]
    pub(crate) fn set_known(&mut self, known: Vec<KnownSide>) -> bool {
        let fit = known.len() == self.keys.len();
        self.known = known;
        fit
    }

    /// Keys of the contacts, each with the side of the sheet that the sphere belongs to.
    pub fn sides(&self) -> Vec<(Key, i8)> {
        self.keys.iter().zip(&self.known).map(|(&key, known)| (key, known.side)).collect()
    }

    /// Computes the normals from the positions, for contacts of which only the impulses are known.
    pub fn find_normals(&mut self, world: &World) {
        let normal = |key: &Key| world.touch(key.a, key.b).map_or(DVec3::ZERO, |touch| touch.normal);
        self.known = self.keys.iter().map(|key| KnownSide { normal: normal(key), side: 0 }).collect();
    }

    /// Determines how each contact takes part in the substep, of all contacts with these keys. Pairs of grains may sleep.
    pub fn join(
        &mut self,
        world: &World,
        law: &LawConstants,
        keys: &[Key],
        constraints: &[Constraint],
        sleep: Option<Sleep<'_>>,
    ) {
        self.manifolds.find(world, sleep);
        let of_group = |group: &Range<usize>| self.join_group(world, law, constraints, group);
        self.joined = self.groups.par_iter().flat_map_iter(of_group).collect();
        for (known, joined) in self.known.iter_mut().zip(&self.joined) {
            let normal = joined.touch.map_or(DVec3::ZERO, |touch| touch.normal);
            *known = KnownSide { normal, side: joined.side };
        }
        let mut flush = std::mem::take(&mut self.flush);
        let of = |contact: u32, place: usize| match self.joined_of(contact) {
            Some(joined) => (joined.touch, joined.impulse),
            None => {
                let key = keys[contact as usize];
                (world.touch(key.a, key.b), *constraints[place].carried(law.method))
            }
        };
        let add = |(touch, own): (&Touch, Impulse), (from, other): (&Touch, Impulse)| match law.method {
            Method::Smooth => own.and(&other),
            Method::Nonsmooth => {
                let linear = own.linear(touch.normal) + other.linear(from.normal);
                let normal = linear.dot(touch.normal);
                let tangent = linear - normal * touch.normal;
                Impulse { normal, tangent, rolling: own.rolling + other.rolling }
            }
        };
        let merged = flush.merge(world, keys, of, add);
        let joined = |(_, touch, impulse): Merged| Joined { touch, impulse, side: 0 };
        self.merged = merged.into_iter().map(joined).collect();
        self.flush = flush;
    }

    fn join_group(
        &self,
        world: &World,
        law: &LawConstants,
        constraints: &[Constraint],
        group: &Range<usize>,
    ) -> Vec<Joined> {
        let keys = &self.keys[group.clone()];
        let a = keys[0].a;
        let (Some((mesh, _)), Some(sphere)) = (world.patches_with(keys[0].b), world.ball(a)) else {
            return Vec::new();
        };
        let carried = |i: usize| *constraints[self.places[group.start + i] as usize].carried(law.method);
        let known = |i: usize| self.known[group.start + i];
        let linear = |i: usize| carried(i).linear(known(i).normal);
        // A vertex inside of a solid is held up to its contact radius.
        let deeper = if world.meshes[mesh].is_solid { sphere.contact_radius - sphere.radius } else { 0.0 };
        let reach = law.patch_reach(sphere) + deeper;
        let touches = world.touch_patches(a, keys.iter().map(|key| key.b), reach);
        let velocity = world.velocity_from(sphere, world.shape_body(keys[0].b));
        let group = Group { world, mesh, sphere, touches, moved: law.h * velocity };
        let side = |i: usize| known(i).side;
        let (parts, sides) =
            if world.meshes[mesh].is_solid { group.at_solid(side) } else { group.at_sheet(side) };
        // A contact that takes no part hands its impulse over.
        let hands_over_to =
            |other: usize, i: usize| other != i && parts[other].root == i && parts[other].part.is_none();
        let joined = |i: usize| {
            let Some((distance, normal)) = parts[i].part else {
                return Joined { touch: None, impulse: Impulse::default(), side: sides[i] };
            };
            let touch = Some(Touch::at(world.sphere_centre(sphere), sphere.radius, distance, normal));
            let side = sides[i];
            let others = || (0..keys.len()).filter(|&other| hands_over_to(other, i));
            // The impulse stays as it was, to the last digit, where no other is handed over to it.
            if others().next().is_none() && known(i).normal.dot(normal) >= 0.0 {
                return Joined { touch, impulse: carried(i), side };
            }
            if law.method == Method::Smooth {
                let impulse = others().fold(carried(i), |sum, other| sum.and(&carried(other)));
                return Joined { touch, impulse, side };
            }
            let pushed = others().fold(linear(i), |sum, other| sum + linear(other));
            let turned = others().fold(carried(i).rolling, |sum, other| sum + carried(other).rolling);
            let along = pushed.dot(normal);
            let impulse = Impulse { normal: along, tangent: pushed - along * normal, rolling: turned };
            Joined { touch, impulse, side }
        };
        (0..keys.len()).map(joined).collect()
    }

    /// Returns how a contact takes part, if it is a contact with a patch, or is merged with others.
    #[inline]
    pub fn get(&self, contact: u32) -> Option<&Joined> {
        self.flush.find(contact).map(|found| &self.merged[found]).or_else(|| self.joined_of(contact))
    }

    #[inline]
    fn joined_of(&self, contact: u32) -> Option<&Joined> {
        if self.contacts.is_empty() {
            return None;
        }
        self.contacts.binary_search(&contact).ok().map(|found| &self.joined[found])
    }
}

/// Contacts of one sphere with patches of one mesh.
struct Group<'a> {
    world: &'a World,
    mesh: u32,
    sphere: &'a Sphere,
    touches: Vec<PatchTouch>,
    /// Way of the centre in the last substep, relative to the mesh \[m\].
    moved: DVec3,
}

impl Group<'_> {
    /// How each touch with a sheet takes part, and its side, from the side that was known.
    fn at_sheet(mut self, known: impl Fn(usize) -> i8) -> (Vec<JoinedTouch>, Vec<i8>) {
        let mut sides = vec![0; self.touches.len()];
        for (i, touch) in self.touches.iter_mut().enumerate() {
            let not_at_rim = |nearest: &_| !self.world.is_at_rim(self.mesh, nearest);
            let Some(nearest) = touch.nearest.filter(not_at_rim) else { continue };
            let there = if nearest.height < 0.0 { -1 } else { 1 };
            // The sphere of a contact new to the list may have come through the sheet in flight.
            let came_through = self.moved.dot(nearest.normal) > nearest.distance;
            let belongs = match known(i) {
                0 if came_through => -there,
                0 => there,
                side => side,
            };
            touch.is_behind = belongs != there && nearest.distance < self.sphere.contact_radius;
            sides[i] = if touch.is_behind { belongs } else { there };
        }
        let mesh = &self.world.meshes[self.mesh];
        let parts: Vec<_> = (0..sides.len()).map(|i| join(mesh, &self.touches, i)).collect();
        for (i, (part, side)) in parts.iter().zip(&mut sides).enumerate() {
            // A sphere that is over another patch may come to this one from either side.
            if part.root != i || part.part.is_none() {
                *side = 0;
            }
        }
        (parts, sides)
    }

    /// How each touch with a solid takes part, and its side, from the side that was known.
    fn at_solid(self, known: impl Fn(usize) -> i8) -> (Vec<JoinedTouch>, Vec<i8>) {
        let of_touch = |(i, touch): (usize, &PatchTouch)| {
            let side = known(i);
            let crossed = touch.nearest.filter(|_| side == 0).and_then(|nearest| {
                let moved = self.moved.dot(nearest.normal);
                (moved > nearest.distance).then(|| nearest.distance / moved)
            });
            SolidTouch { side, crossed }
        };
        let known: Vec<SolidTouch> = self.touches.iter().enumerate().map(of_touch).collect();
        let mesh = &self.world.meshes[self.mesh];
        join_solid(mesh, &self.touches, &known, self.sphere.contact_radius).into_iter().unzip()
    }
}

/// Runs of contacts of the same sphere with patches of the same mesh.
fn groups(world: &World, keys: &[Key]) -> Vec<Range<usize>> {
    let mut end = 0;
    let range = |group: &[Key]| {
        let start = end;
        end += group.len();
        start..end
    };
    keys.chunk_by(|one, other| world.is_of_group((one.a, one.b), (other.a, other.b))).map(range).collect()
}
