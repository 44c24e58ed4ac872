//! Matching: which impulse a contact carries over from the step before, by key.

use crate::contact::{Colouring, Impulse, Key};

use super::narrowphase::Row;

/// Impulse that each of `keys` ended the step before with; zero for a new contact.
/// `old_keys` ascend; `old_rows` stand in the order of `old_colouring`.
pub fn carry(keys: &[Key], old_keys: &[Key], old_colouring: &Colouring, old_rows: &[Row]) -> Vec<Impulse> {
    let mut old = vec![Impulse::default(); old_keys.len()];
    for (&contact, row) in old_colouring.order.iter().zip(old_rows) {
        old[contact as usize] = row.impulse;
    }
    // Both lists ascend: walk them side by side.
    let mut candidates = old_keys.iter().zip(old).peekable();
    keys.iter()
        .map(|key| {
            while candidates.next_if(|(old_key, _)| *old_key < key).is_some() {}
            candidates.next_if(|(old_key, _)| *old_key == key).map_or(Impulse::default(), |found| found.1)
        })
        .collect()
}
