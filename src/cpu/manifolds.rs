//! Manifolds: the points at which dynamic solids touch other surfaces, found once per substep for all contacts of a pair. Twin:
//! `find_manifolds` in `shaders/solids.wgsl`.
//!
//! In a bed of polyhedra a third of the listed pairs are apart and stay so. A pair of grains that is farther apart than its `live_gap`
//! gets no manifold: its contacts take no part, and what follows passes over them. It gets its manifold within the substep as soon as the
//! solve moves the two so fast that they could meet after all, see [`Manifolds::wake`]. Which pairs sleep follows from positions and
//! velocities alone. The search for an axis starts from that of the substep before, which saves time and changes nothing else.

use std::ops::Range;

use rayon::prelude::*;

use crate::contact::disjoint::parts;
use crate::contact::tasks::CHUNK;
use crate::contact::velocity::Velocity;
use crate::contact::{Colouring, Key};
use crate::model::solids::{point_number, shape_id, touch_at};
use crate::model::{SpherePart, Touch, World};
use crate::shape::{MOST_POINTS, Manifold, SearchStart};

/// No contact at a point of a manifold, or no place.
const NONE: u32 = u32::MAX;
/// Distance that sleeping pairs are apart beside their path in a substep at the speed of its start, over the contact radius \[-\]. With
/// a larger one more pairs that are apart are computed, with a smaller one more of them are woken.
const SLEEP_MARGIN: f64 = 0.02;

/// Contacts at points of manifolds among the contacts of a step.
#[derive(Debug, Clone, Default)]
pub struct Manifolds {
    /// Index of the pair times [`MOST_POINTS`] plus the number of the point, for each contact, or [`NONE`]; empty if there are none.
    points: Vec<u32>,
    /// Shapes of the pairs, ascending.
    pairs: Vec<Key>,
    /// Places of the contacts of each pair in solving order, by point; [`NONE`] throughout for a pair that never sleeps.
    places: Vec<[u32; MOST_POINTS]>,
    /// Index of the first pair of each shape a, and the end of the last.
    groups: Vec<u32>,
    starts: Vec<SearchStart>,
    found: Vec<Option<Manifold>>,
    /// Shares of the pull-off force at the points; empty where no material is cohesive.
    shares: Vec<[f64; MOST_POINTS]>,
    /// Pairs that sleep, ascending.
    asleep: Vec<SleepingPair>,
}

/// A pair of grains that sleeps.
#[derive(Debug, Clone, Copy)]
struct SleepingPair {
    /// Index of the pair.
    pair: u32,
    bodies: [u32; 2],
    /// Distances from the centres of the bodies within which their points turn \[m\].
    reaches: [f64; 2],
    /// Path along which the two may come closer asleep \[m\].
    limit: f64,
}

impl SleepingPair {
    /// Bound on the speed at which points of the two come closer \[m/s\].
    fn closing_bound(&self, velocities: &[Velocity]) -> f64 {
        let [a, b] = self.bodies.map(|body| &velocities[body as usize]);
        let [reach_a, reach_b] = self.reaches;
        (a.linear - b.linear).length() + a.angular.length() * reach_a + b.angular.length() * reach_b
    }
}

/// How far pairs of grains have to be apart to sleep through a substep.
#[derive(Clone, Copy)]
pub struct Sleep<'a> {
    /// Substep \[s\].
    pub h: f64,
    /// Velocities of all bodies at the start of the substep.
    pub velocities: &'a [Velocity],
}

impl Manifolds {
    /// Finds the contacts at points of manifolds. Searches start from the axes of the list before.
    pub fn new(world: &World, keys: &[Key], colouring: &Colouring, before: &Manifolds) -> Manifolds {
        let pair_of = |key: &Key| Key { a: key.a, b: shape_id(key.b) };
        let of_solids =
            || keys.iter().enumerate().filter_map(|(i, key)| Some((i, key, point_number(key.b)?)));
        let mut pairs: Vec<Key> = of_solids().map(|(_, key, _)| pair_of(key)).collect();
        if pairs.is_empty() {
            return Manifolds::default();
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs.shrink_to_fit();
        let mut points = vec![NONE; keys.len()];
        let mut places = vec![[NONE; MOST_POINTS]; pairs.len()];
        let (place_of, mut first) = (colouring.places(), 0);
        for (i, key, point) in of_solids() {
            // Both lists ascend by shape a.
            first += pairs[first..].iter().take_while(|pair| pair.a < key.a).count();
            let with_a = pairs[first..].iter().take_while(|pair| pair.a == key.a);
            let pair = first + with_a.take_while(|pair| pair.b < shape_id(key.b)).count();
            points[i] = (pair * MOST_POINTS + point) as u32;
            places[pair][point] = place_of[i];
        }
        let may_sleep = |(pair, places): (&Key, &[u32; MOST_POINTS])| {
            let is_coloured = |&place: &u32| place == NONE || (place as usize) < colouring.overflow_start();
            let are_coloured = places.iter().all(is_coloured);
            are_coloured && [pair.a, pair.b].iter().all(|&shape| world.sphere_of(shape).is_some())
        };
        for (pair, places) in pairs.iter().zip(&mut places) {
            if !may_sleep((pair, places)) {
                *places = [NONE; MOST_POINTS];
            }
        }
        let start = |pair: &Key| match before.pairs.binary_search(pair) {
            Ok(known) => before.starts[known],
            Err(_) => SearchStart::default(),
        };
        let mut groups: Vec<u32> = vec![0];
        groups.extend(pairs.chunk_by(|one, other| one.a == other.a).scan(0, |end, group| {
            *end += group.len() as u32;
            Some(*end)
        }));
        groups.shrink_to_fit();
        Manifolds {
            starts: pairs.iter().map(start).collect(),
            found: vec![None; pairs.len()],
            shares: Vec::new(),
            asleep: Vec::new(),
            points,
            places,
            groups,
            pairs,
        }
    }

    /// Finds the manifolds at the present positions: of all pairs, or of those that do not sleep.
    pub fn find(&mut self, world: &World, sleep: Option<Sleep<'_>>) {
        let Manifolds { pairs, places, groups, starts, found, .. } = self;
        let of = |bounds: &[u32], starts: &mut [SearchStart], found: &mut [Option<Manifold>]| {
            let group = bounds[0] as usize..bounds[1] as usize;
            let Some(ball) = world.ball(pairs[group.start].a) else { return };
            for ((start, pair), places) in
                starts.iter_mut().zip(&pairs[group.clone()]).zip(&places[group.clone()])
            {
                let sleep = sleep.filter(|_| places[0] != NONE);
                start.limit = sleep.map_or(f64::INFINITY, |sleep| live_gap(world, sleep, *pair));
            }
            let surfaces: Vec<u32> = pairs[group].iter().map(|pair| pair.b).collect();
            world.find_manifolds(ball, &surfaces, starts, found);
        };
        let parts = parts(starts, groups).into_par_iter().zip(parts(found, groups));
        groups.par_windows(2).zip(parts).for_each(|(bounds, (starts, found))| of(bounds, starts, found));
        let asleep = |pair: u32| {
            let (key, limit) = (self.pairs[pair as usize], self.starts[pair as usize].limit);
            let sleeps = limit.is_finite() && self.found[pair as usize].is_none();
            sleeps.then(|| sleeping_pair(world, pair, key, limit)).flatten()
        };
        self.asleep = (0..self.pairs.len() as u32).filter_map(asleep).collect();
        self.asleep.shrink_to_fit();
        if world.materials.are_cohesive() {
            let of_group = |bounds: &[u32]| self.shares_in(world, bounds[0] as usize..bounds[1] as usize);
            self.shares = self.groups.par_windows(2).flat_map_iter(of_group).collect();
        }
    }

    /// Shares of the pull-off force at the points of the pairs of one shape a.
    fn shares_in(&self, world: &World, group: Range<usize>) -> Vec<[f64; MOST_POINTS]> {
        let points = |pair: usize| self.found[pair].map_or([None; MOST_POINTS], |found| found.points);
        let of_pair = |pair: usize| {
            let touches = points(pair).into_iter().flatten();
            touches.map(move |touch| (self.pairs[pair].b, touch.gap, touch.normal))
        };
        let touches: Vec<_> = group.clone().flat_map(of_pair).collect();
        let mut shares = world.shares_of_pull(self.pairs[group.start].a, &touches).into_iter();
        let mut at = |point: Option<Touch>| point.and_then(|_| shares.next()).unwrap_or(1.0);
        group.map(|pair| points(pair).map(&mut at)).collect()
    }

    /// Finds the manifolds of sleeping pairs that may meet in a substep of `h` \[s\] at these velocities. Returns the places of their
    /// contacts in solving order, with the keys and touches.
    pub fn wake(&mut self, world: &World, h: f64, velocities: &[Velocity]) -> Vec<(u32, Key, Option<Touch>)> {
        let Manifolds { pairs, starts, asleep, .. } = self;
        let moves_far = |asleep: &&SleepingPair| h * asleep.closing_bound(velocities) > asleep.limit;
        let woken = asleep.par_iter().with_min_len(CHUNK).filter(moves_far).map(|asleep| asleep.pair);
        let woken: Vec<u32> = woken.collect();
        if woken.is_empty() {
            return Vec::new();
        }
        asleep.retain(|asleep| woken.binary_search(&asleep.pair).is_err());
        let find = |&pair: &u32| {
            let (key, mut found) = (pairs[pair as usize], [None]);
            let mut start = [SearchStart { limit: f64::INFINITY, ..starts[pair as usize] }];
            if let Some(ball) = world.ball(key.a) {
                world.find_manifolds(ball, &[key.b], &mut start, &mut found);
            }
            (start[0], found[0])
        };
        let manifolds: Vec<(SearchStart, Option<Manifold>)> = woken.par_iter().map(find).collect();
        let mut contacts = Vec::with_capacity(woken.len() * MOST_POINTS);
        for (pair, (start, found)) in woken.into_iter().map(|pair| pair as usize).zip(manifolds) {
            (self.starts[pair], self.found[pair]) = (start, found);
            for (point, &place) in self.places[pair].iter().enumerate().filter(|(_, place)| **place != NONE) {
                let touch = found.as_ref().and_then(|manifold| touch_at(manifold, Some(point)));
                contacts.push((place, self.pairs[pair], touch));
            }
        }
        contacts
    }

    /// Touch of a contact at a point of a manifold, `Some(None)` where the manifold has no such point; `None` for other contacts.
    #[inline]
    pub fn get(&self, contact: u32) -> Option<Option<Touch>> {
        let point = *self.points.get(contact as usize).filter(|&&point| point != NONE)? as usize;
        let manifold = self.found[point / MOST_POINTS].as_ref();
        Some(manifold.and_then(|manifold| touch_at(manifold, Some(point % MOST_POINTS))))
    }

    /// Whether contacts share a pull-off force.
    pub fn shares_pull(&self) -> bool {
        !self.shares.is_empty()
    }

    /// Share of the pull-off force of its bodies that a contact has \[-\]: 1 where it is not at a point of a manifold.
    #[inline]
    pub fn share_of_pull(&self, contact: u32) -> f64 {
        let point = self.points.get(contact as usize).filter(|&&point| point != NONE);
        let share = point.and_then(|&point| {
            let of_pair = self.shares.get(point as usize / MOST_POINTS)?;
            Some(of_pair[point as usize % MOST_POINTS])
        });
        share.unwrap_or(1.0)
    }

    /// Bytes that the lists hold.
    pub fn bytes(&self) -> u64 {
        let words = self.points.capacity() + self.groups.capacity();
        let per_pair = size_of::<Key>()
            + size_of::<[u32; MOST_POINTS]>()
            + size_of::<SearchStart>()
            + size_of::<Option<Manifold>>();
        let asleep = self.asleep.capacity() * size_of::<SleepingPair>();
        let shares = self.shares.capacity() * size_of::<[f64; MOST_POINTS]>();
        (words * size_of::<u32>() + self.pairs.len() * per_pair + shares + asleep) as u64
    }
}

/// A pair of two grains, asleep up to this limit \[m\].
fn sleeping_pair(world: &World, pair: u32, key: Key, limit: f64) -> Option<SleepingPair> {
    let (a, b) = (world.sphere_of(key.a)?, world.sphere_of(key.b)?);
    let reaches = [a, b].map(|sphere| match sphere.part {
        SpherePart::Hull(_) => sphere.radius,
        _ => sphere.centre.length(),
    });
    Some(SleepingPair { pair, bodies: [a.body, b.body], reaches, limit })
}

/// Gap up to which a pair of grains has a manifold \[m\]: the path along which the two may come closer in the substep at their present
/// velocities and under gravity and applied forces, and a margin.
fn live_gap(world: &World, Sleep { h, velocities }: Sleep<'_>, key: Key) -> f64 {
    let Some(pair) = sleeping_pair(world, 0, key, 0.0) else { return f64::INFINITY };
    let spheres = [key.a, key.b].map(|shape| world.sphere_of(shape));
    let pushes = spheres.iter().flatten().map(|sphere| world.sphere_push(sphere));
    let size = spheres.iter().flatten().map(|sphere| sphere.contact_radius).fold(f64::INFINITY, f64::min);
    let pull = world.gravity.length() + pushes.sum::<f64>();
    h * (pair.closing_bound(velocities) + h * pull) + SLEEP_MARGIN * size
}
