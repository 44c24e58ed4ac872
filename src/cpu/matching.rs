//! Matching: finds by key which impulse a contact carries over from the step before.

use rayon::prelude::*;

use crate::contact::{Colouring, Impulse, Key};

use super::narrowphase::{CHUNK, Constraint, Law};

/// Impulse that each of `keys` carries over from the step before; zero for a new contact.
/// `old_keys` ascend; `old_constraints` stand in the order of `old_colouring`.
pub fn match_impulses(
    keys: &[Key],
    old_keys: &[Key],
    old_colouring: &Colouring,
    old_constraints: &[Constraint],
    law: &Law,
) -> Vec<Impulse> {
    let mut places = vec![0; old_keys.len()];
    for (place, &contact) in old_colouring.order.iter().enumerate() {
        places[contact as usize] = place as u32;
    }
    let mut carried = vec![Impulse::default(); keys.len()];
    carried.par_chunks_mut(CHUNK).zip(keys.par_chunks(CHUNK)).for_each(|(carried, keys)| {
        // Both lists ascend: walk them side by side.
        let first = old_keys.partition_point(|key| *key < keys[0]);
        let mut candidates = old_keys[first..].iter().zip(&places[first..]).peekable();
        for (carried, key) in carried.iter_mut().zip(keys) {
            while candidates.next_if(|(old_key, _)| *old_key < key).is_some() {}
            if let Some((_, &place)) = candidates.next_if(|(old_key, _)| *old_key == key) {
                *carried = *law.carried(&old_constraints[place as usize]);
            }
        }
    });
    carried
}
