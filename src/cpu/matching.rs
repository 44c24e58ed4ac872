//! Matching: finds by key which impulse a contact carries over from the step before.

use rayon::prelude::*;

use crate::contact::tasks::CHUNK;
use crate::contact::{Impulse, Key};

/// Impulse that each of `keys` carries over from the step before; zero for a new contact. `old_keys` ascend, and `impulse` returns the
/// impulse of each of them by its index.
pub fn match_impulses(
    keys: &[Key],
    old_keys: &[Key],
    impulse: impl Fn(usize) -> Impulse + Sync,
) -> Vec<Impulse> {
    let mut carried = vec![Impulse::default(); keys.len()];
    carried.par_chunks_mut(CHUNK).zip(keys.par_chunks(CHUNK)).for_each(|(carried, keys)| {
        // Both lists ascend: walk them side by side.
        let first = old_keys.partition_point(|key| *key < keys[0]);
        let mut candidates = old_keys[first..].iter().zip(first..).peekable();
        for (carried, key) in carried.iter_mut().zip(keys) {
            while candidates.next_if(|(old_key, _)| *old_key < key).is_some() {}
            if let Some((_, contact)) = candidates.next_if(|(old_key, _)| *old_key == key) {
                *carried = impulse(contact);
            }
        }
    });
    carried
}
