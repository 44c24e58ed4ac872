//! Values of bodies that several threads write at once, and the sets of bodies that prove that none of them is written twice.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::constraint::Constraint;
use super::velocity::Velocity;

/// Set of bodies, one bit each.
#[derive(Clone)]
pub struct BodySet(Vec<u64>);

impl BodySet {
    pub(crate) fn none(count: usize) -> BodySet {
        BodySet(vec![0; count.div_ceil(64)])
    }

    pub(crate) fn dynamic(velocities: &[Velocity]) -> BodySet {
        let word = |bodies: &[Velocity]| {
            bodies.iter().enumerate().fold(0, |word, (i, body)| word | u64::from(body.is_free()) << i)
        };
        BodySet(velocities.par_chunks(64).map(word).collect())
    }

    #[inline]
    pub(crate) fn holds(&self, body: u32) -> bool {
        self.0.get(body as usize / 64).is_some_and(|word| word >> (body % 64) & 1 == 1)
    }

    /// Adds a body; returns whether the set already had it.
    pub(crate) fn add(&mut self, body: u32) -> bool {
        let word = &mut self.0[body as usize / 64];
        let before = *word;
        *word |= 1 << (body % 64);
        before == *word
    }

    /// Finds a body of this set that two of the constraints share, or a body whose number is not below `count`, the number of bodies.
    pub(crate) fn shared_by(&self, constraints: &[Constraint], count: usize) -> Option<u32> {
        let mut seen = BodySet::none(count);
        let mut is_fault = |body: u32| body as usize >= count || (self.holds(body) && seen.add(body));
        constraints.iter().flat_map(|constraint| constraint.bodies).find(|&body| is_fault(body))
    }

    /// Finds a body of this set that is both bodies of a constraint.
    pub(crate) fn met_by_itself(&self, constraint: &Constraint) -> Option<u32> {
        let [a, b] = constraint.bodies;
        (a == b && self.holds(a)).then_some(a)
    }

    /// Finds a body of this set that constraints of two tiles share or that is both bodies of a constraint, or a body whose number is not
    /// below `count`, the number of bodies.
    pub(crate) fn shared_by_tiles(
        &self,
        starts: &[u32],
        constraints: &[Constraint],
        count: usize,
    ) -> Option<u32> {
        if starts.is_empty() {
            return None;
        }
        let owners: Vec<AtomicU32> = (0..count).map(|_| AtomicU32::new(u32::MAX)).collect();
        starts.par_windows(2).enumerate().find_map_any(|(tile, bounds)| {
            let is_fault = |body: &u32| {
                let Some(owner) = owners.get(*body as usize) else { return true };
                self.holds(*body)
                    && owner.load(Ordering::Relaxed) != tile as u32
                    && (owner.compare_exchange(u32::MAX, tile as u32, Ordering::Relaxed, Ordering::Relaxed))
                        .is_err()
            };
            let of_tile = &constraints[bounds[0] as usize..bounds[1] as usize];
            let fault_of = |constraint: &Constraint| {
                self.met_by_itself(constraint).or_else(|| constraint.bodies.into_iter().find(is_fault))
            };
            of_tile.iter().find_map(fault_of)
        })
    }
}

/// Values of bodies, mostly velocities, that several threads write, each body by one thread at a time.
pub struct Disjoint<'a, T = Velocity> {
    pub(super) first: *mut T,
    pub(super) count: usize,
    owner: PhantomData<&'a mut [T]>,
}

// SAFETY: access goes through unsafe functions, whose callers keep the constraints in flight disjoint.
unsafe impl<T: Send> Sync for Disjoint<'_, T> {}

impl<'a, T> Disjoint<'a, T> {
    pub(crate) fn new(values: &'a mut [T]) -> Disjoint<'a, T> {
        Disjoint { first: values.as_mut_ptr(), count: values.len(), owner: PhantomData }
    }

    /// Value of a body.
    ///
    /// # Safety
    /// The body is there, and nobody writes it meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn get(&self, body: u32) -> &T {
        let body = body as usize;
        debug_assert!(body < self.count, "`ContactProblem::new` has seen that all bodies are there");
        // SAFETY: by the caller's promise.
        unsafe { &*self.first.add(body) }
    }

    /// Place of the value of a body, which may be read or written as by [`Disjoint::get`] and [`Disjoint::get_mut`].
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn place(&self, body: u32) -> *mut T {
        self.first.wrapping_add(body as usize)
    }

    /// Value of a body, to be written.
    ///
    /// # Safety
    /// The body is there, and nobody else reads or writes it meanwhile.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "the caller promises that there is no other")]
    pub(crate) unsafe fn get_mut(&self, body: u32) -> &mut T {
        let body = body as usize;
        debug_assert!(body < self.count, "`ContactProblem::new` has seen that all bodies are there");
        // SAFETY: by the caller's promise.
        unsafe { &mut *self.first.add(body) }
    }
}

/// Splits a slice at these indices: each part ends where the next starts, and the last index is the end of the last part.
pub(crate) fn parts<'a, T>(all: &'a mut [T], starts: &[u32]) -> Vec<&'a mut [T]> {
    let (Some(&first), Some(&end)) = (starts.first(), starts.last()) else { return Vec::new() };
    let mut left = &mut all[first as usize..end as usize];
    let of_part = |bounds: &[u32]| {
        let (part, others) = std::mem::take(&mut left).split_at_mut((bounds[1] - bounds[0]) as usize);
        left = others;
        part
    };
    starts.windows(2).map(of_part).collect()
}
