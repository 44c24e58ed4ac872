//! Manifolds: the points at which dynamic solids touch other surfaces, found once per substep for all contacts of a pair. Twin:
//! `find_manifolds` in `shaders/solids.wgsl`.

use rayon::prelude::*;

use crate::contact::Key;
use crate::model::solids::{point_number, shape_id, touch_at};
use crate::model::{Touch, World};
use crate::shape::Manifold;

/// Contacts at points of manifolds among the contacts of a step.
#[derive(Debug, Clone, Default)]
pub struct Manifolds {
    /// Index of each of these contacts among all contacts, ascending, with the index of its pair and the number of its point.
    contacts: Vec<(u32, u32, usize)>,
    /// Shapes of the pairs, ascending.
    pairs: Vec<Key>,
    found: Vec<Option<Manifold>>,
}

impl Manifolds {
    /// Finds the contacts at points of manifolds.
    pub fn new(keys: &[Key]) -> Manifolds {
        let pair_of = |key: &Key| Key { a: key.a, b: shape_id(key.b) };
        let of_solids = || (0..).zip(keys).filter_map(|(i, key)| Some((i, key, point_number(key.b)?)));
        let mut pairs: Vec<Key> = of_solids().map(|(_, key, _)| pair_of(key)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let place = |(i, key, point): (u32, &Key, usize)| {
            let pair = pairs.binary_search(&pair_of(key)).expect("collected from the same keys");
            (i, pair as u32, point)
        };
        Manifolds { contacts: of_solids().map(place).collect(), found: Vec::new(), pairs }
    }

    /// Finds the manifolds at the present positions.
    pub fn find(&mut self, world: &World) {
        let of = |group: &[Key]| {
            let surfaces: Vec<u32> = group.iter().map(|pair| pair.b).collect();
            world.ball(group[0].a).map_or_else(Vec::new, |vertex| world.manifolds(vertex, &surfaces))
        };
        let groups = self.pairs.par_chunk_by(|one, other| one.a == other.a);
        self.found = groups.flat_map_iter(of).collect();
    }

    /// Touch of a contact at a point of a manifold, `Some(None)` where the manifold has no such point; `None` for other contacts.
    #[inline]
    pub fn get(&self, contact: u32) -> Option<Option<Touch>> {
        if self.contacts.is_empty() {
            return None;
        }
        let found = self.contacts.binary_search_by_key(&contact, |(index, ..)| *index).ok()?;
        let (_, pair, point) = self.contacts[found];
        Some(self.found[pair as usize].as_ref().and_then(|manifold| touch_at(manifold, Some(point))))
    }

    /// Bytes that the lists hold.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&self.contacts[..]) + size_of_val(&self.pairs[..]) + size_of_val(&self.found[..])) as u64
    }
}
