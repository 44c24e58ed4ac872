//! Contacts of a sphere with surfaces that meet flush, merged into one.

use std::ops::Range;

use rayon::prelude::*;

use crate::contact::{Colouring, Impulse, Key};
use crate::model::flush::merge;
use crate::model::{Touch, World};

/// Groups of contacts of one sphere with several surfaces, and those of them that are merged in this substep.
#[derive(Debug, Clone, Default)]
pub struct FlushContacts {
    /// Groups of consecutive contacts.
    groups: Vec<Range<u32>>,
    /// Position in solving order of each contact up to the last of the groups.
    places: Vec<u32>,
    /// Class of the motion of each boundary.
    classes: Vec<u32>,
    /// Contacts that are merged or stand for others, ascending.
    merged: Vec<u32>,
}

/// Contact that is merged or stands for others: its index, its touch, `None` if another stands for it, and the impulse carried over.
pub type Merged = (u32, Option<Touch>, Impulse);

impl FlushContacts {
    /// Finds the groups; there are none where no surfaces can meet flush.
    pub fn new(world: &World, keys: &[Key], colouring: &Colouring) -> FlushContacts {
        if !world.may_meet_flush() {
            return FlushContacts::default();
        }
        let surfaces = world.surfaces.len() as u32;
        let mut start = 0;
        let groups = keys.chunk_by(|one, other| one.a == other.a && other.b < surfaces).filter_map(|group| {
            let range = start..start + group.len() as u32;
            start = range.end;
            let is_ball = world.ball(group[0].a).is_some_and(|ball| ball.radius > 0.0);
            (group.len() > 1 && is_ball && group[0].b < surfaces).then_some(range)
        });
        let groups: Vec<Range<u32>> = groups.collect();
        if groups.is_empty() {
            return FlushContacts::default();
        }
        FlushContacts {
            groups,
            places: colouring.places(),
            classes: world.motion_classes(),
            merged: Vec::new(),
        }
    }

    /// Bytes that the lists hold.
    pub fn bytes(&self) -> u64 {
        (self.groups.len() * size_of::<Range<u32>>() + self.places.len() * size_of::<u32>()) as u64
    }

    /// Finds the contacts that are merged, from the touch of each contact at its position in solving order, and its impulse; `add` adds an
    /// impulse to another along the normal of a touch.
    pub fn merge(
        &mut self,
        world: &World,
        keys: &[Key],
        of: impl Fn(u32, usize) -> (Option<Touch>, Impulse) + Sync,
        add: impl Fn((&Touch, Impulse), (&Touch, Impulse)) -> Impulse + Sync,
    ) -> Vec<Merged> {
        let (classes, places) = (&self.classes, &self.places);
        let of_group = |group: &Range<u32>| {
            let present = group.clone().filter_map(|contact| {
                let (touch, impulse) = of(contact, places[contact as usize] as usize);
                Some((contact, touch?, impulse))
            });
            let present: Vec<(u32, Touch, Impulse)> = present.collect();
            merged_of(world, keys, classes, &present, &add)
        };
        let merged: Vec<Merged> = self.groups.par_iter().flat_map_iter(of_group).collect();
        self.merged = merged.iter().map(|(contact, ..)| *contact).collect();
        merged
    }

    /// Place of a contact among those that are merged or stand for others.
    #[inline]
    pub fn find(&self, contact: u32) -> Option<usize> {
        if self.merged.is_empty() {
            return None;
        }
        self.merged.binary_search(&contact).ok()
    }
}

fn merged_of(
    world: &World,
    keys: &[Key],
    classes: &[u32],
    present: &[(u32, Touch, Impulse)],
    add: &impl Fn((&Touch, Impulse), (&Touch, Impulse)) -> Impulse,
) -> Vec<Merged> {
    let radius =
        present.first().and_then(|(contact, ..)| Some(world.ball(keys[*contact as usize].a)?.radius));
    let Some(radius) = radius.filter(|_| present.len() > 1) else { return Vec::new() };
    let touch = |(contact, touch, _): &(u32, Touch, Impulse)| {
        let key = keys[*contact as usize];
        world.flush_touch((key.a, key.b), (touch.gap + radius, touch.normal), classes)
    };
    let Some(touches) = present.iter().map(touch).collect::<Option<Vec<_>>>() else { return Vec::new() };
    let roots = merge(&touches, radius);
    let is_merged = |i: usize| roots[i] != i;
    let with_impulses = |i: usize| {
        let (_, touch, impulse) = &present[i];
        let others = (0..roots.len()).filter(|&other| other != i && roots[other] == i);
        others
            .filter(|&other| !present[other].2.is_zero())
            .fold(*impulse, |sum, other| add((touch, sum), (&present[other].1, present[other].2)))
    };
    let stands = |i: usize| (0..roots.len()).any(|other| other != i && roots[other] == i);
    let of = |i: usize| match is_merged(i) {
        true => Some((present[i].0, None, Impulse::default())),
        false => stands(i).then(|| (present[i].0, Some(present[i].1), with_impulses(i))),
    };
    (0..roots.len()).filter_map(of).collect()
}
