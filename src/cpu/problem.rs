//! Contact problem of a substep: the input of a solver.
//!
//! A solver works on several contacts at once, each of which writes the velocities of its two bodies. That is sound where no two of them
//! share a dynamic body. [`Problem::new`] proves it for the contacts of every colour and for tiles, and it proves that an overflow contact
//! which writes a body at once is the only overflow contact of that body. So all unsafe code of the
//! solver relies on this check: in this file, in [`super::split`] and in `sweep/wide.rs`.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use crate::contact::{Colouring, Impulse, Overflow};
use crate::model::World;

use super::joints::Joints;
use super::narrowphase::Constraint;
use super::ranks::Border;
use super::split::Split;
use super::sweep::{CHUNK, Visit};
use super::velocity::Velocity;

/// The contact problem of a substep.
pub struct Problem<'a> {
    colouring: &'a Colouring,
    split: &'a mut Split,
    constraints: &'a mut [Constraint],
    velocities: &'a mut [Velocity],
    joints: &'a mut Joints,
    world: Option<&'a World>,
    border: Option<&'a mut Border>,
}

impl<'a> Problem<'a> {
    /// Makes the problem of these constraints, which are in the order of `colouring`, on these bodies.
    ///
    /// # Panics
    /// When two constraints of a colour or two tiles share a dynamic body, a constraint has a body that is not there or the same dynamic
    /// body twice, or `split` was made for other contacts.
    pub fn new(
        colouring: &'a Colouring,
        split: &'a mut Split,
        constraints: &'a mut [Constraint],
        velocities: &'a mut [Velocity],
        joints: &'a mut Joints,
    ) -> Problem<'a> {
        let dynamic = Bodies::dynamic(velocities);
        let fault = colouring.starts.par_windows(2).find_map_any(|bounds| {
            dynamic.shared_by(&constraints[bounds[0] as usize..bounds[1] as usize], velocities.len())
        });
        assert!(fault.is_none(), "two contacts of a colour share body {fault:?}, or it is not there");
        let fault = dynamic.shared_by_tiles(&colouring.tiles, constraints, velocities.len());
        assert!(fault.is_none(), "two tiles share body {fault:?}, or it meets itself or is not there");
        let overflow = &constraints[colouring.overflow_start()..];
        assert!(
            colouring.overflow == Overflow::OneByOne || split.fits(overflow, &dynamic),
            "bodies of contacts without a colour are split for other contacts"
        );
        let is_there = |constraint: &Constraint| {
            constraint.bodies.iter().all(|&body| (body as usize) < velocities.len())
                && dynamic.met_by_itself(constraint).is_none()
        };
        assert!(overflow.par_iter().all(is_there), "a contact of a body that is not there, or with itself");
        // SAFETY: all that is asked for was checked above.
        unsafe { Problem::checked(colouring, split, constraints, velocities, joints) }
    }

    /// Makes the problem without the checks of [`Problem::new`], which take some 6 % of a smooth step.
    ///
    /// # Safety
    /// `new` has accepted this colouring, split, bodies of constraints and number of velocities, and no body has become dynamic since.
    pub(super) unsafe fn checked(
        colouring: &'a Colouring,
        split: &'a mut Split,
        constraints: &'a mut [Constraint],
        velocities: &'a mut [Velocity],
        joints: &'a mut Joints,
    ) -> Problem<'a> {
        Problem { colouring, split, constraints, velocities, joints, world: None, border: None }
    }

    /// Adds the world with the positions of the bodies, which coarse corrections need.
    #[must_use]
    pub fn in_world(self, world: &'a World) -> Problem<'a> {
        Problem { world: Some(world), ..self }
    }

    /// Adds the border of this part of a scene, across which velocities are exchanged.
    #[must_use]
    pub fn across(self, border: &'a mut Border) -> Problem<'a> {
        Problem { border: Some(border), ..self }
    }

    /// Gives ghosts the velocities of the bodies that they stand for.
    pub fn exchange(&mut self) {
        if let Some(border) = &mut self.border {
            border.exchange(self.velocities);
        }
    }

    /// Largest of a value over all ranks that share the scene.
    pub(super) fn largest(&mut self, value: f64) -> f64 {
        self.border.as_mut().map_or(value, |border| border.largest(value))
    }

    /// Contacts that are counted here, and not by another rank.
    pub(super) fn counted(&self) -> &[Constraint] {
        let contacts = self.constraints.len();
        &self.constraints[..self.border.as_ref().map_or(contacts, |border| border.counted(contacts))]
    }

    /// Whether this rank counts a body, for several threads.
    pub(super) fn counting(&self) -> impl Fn(usize) -> bool + Sync {
        let counts = self.border.as_ref().map(|border| border.counting());
        move |body| counts.as_ref().is_none_or(|counts| counts(body))
    }

    /// Whether what ranks have in common is counted here.
    pub(super) fn is_first(&self) -> bool {
        self.border.as_ref().is_none_or(|border| border.is_first())
    }

    /// World of the bodies, if the problem has one.
    pub fn world(&self) -> Option<&'a World> {
        self.world
    }

    /// Contacts in solving order.
    pub fn constraints(&self) -> &[Constraint] {
        self.constraints
    }

    /// Velocities of all bodies.
    pub fn velocities(&self) -> &[Velocity] {
        self.velocities
    }

    /// Computes the responses of the overflow contacts; called before they are solved.
    pub(super) fn prepare(&mut self) {
        self.split.prepare(&self.constraints[self.colouring.overflow_start()..], self.velocities);
    }

    /// Joints of the substep.
    pub fn joints(&self) -> &Joints {
        self.joints
    }

    /// Solves the joints with all contacts held fixed; returns the largest velocity error of a joint before the solve \[m/s, rad/s\].
    pub(super) fn solve_joints(&mut self) -> f64 {
        self.joints.solve(self.velocities)
    }

    /// Extrapolates the impulses of the joints by a factor, and calls `extrapolate` to do the same with the velocities \[E12\].
    pub(super) fn extrapolate(&mut self, factor: f64, extrapolate: impl FnOnce(&mut [Velocity])) {
        self.joints.extrapolate(factor);
        extrapolate(self.velocities);
    }

    /// Visits all constraints: all tiles at once, then colour by colour, then the overflow contacts. Returns the largest value that `visit`
    /// returned. Constraints of a colour share no dynamic body, nor do those of two tiles, so their order has no effect.
    pub(super) fn visit(&mut self, visit: &impl Visit) -> f64 {
        let Problem { colouring, split, constraints, velocities, border, .. } = self;
        let mut largest = 0.0f64;
        let (bodies, of_bodies) = (Disjoint::new(velocities), &**split);
        // SAFETY: the constraints in flight at one time are of several tiles, or of one colour, which share no dynamic body: `new` has
        // checked it, and nobody has changed their bodies since.
        let visit_all = |constraints: &mut [Constraint]| unsafe {
            of_bodies.visit_constraints(constraints, &bodies, visit)
        };
        let tiles = parts(constraints, &colouring.tiles);
        largest = largest.max(tiles.into_par_iter().with_max_len(1).map(visit_all).reduce(|| 0.0, f64::max));
        for bounds in colouring.starts.windows(2) {
            let of_colour = &mut constraints[bounds[0] as usize..bounds[1] as usize];
            largest = largest.max(if of_colour.len() <= CHUNK {
                visit_all(of_colour)
            } else {
                of_colour.par_chunks_mut(CHUNK).map(visit_all).reduce(|| 0.0, f64::max)
            });
        }
        if let Some(border) = border {
            border.exchange(velocities);
        }
        let overflow = &mut constraints[colouring.overflow_start()..];
        // SAFETY: the contacts are visited one at a time; or the bodies are split for these contacts, as `new` has checked.
        largest.max(unsafe {
            match colouring.overflow {
                Overflow::Split => split.visit_overflow(overflow, velocities, visit, border.as_deref_mut()),
                Overflow::OneByOne => split.visit_constraints(overflow, &Disjoint::new(velocities), visit),
            }
        })
    }
}

impl Problem<'_> {
    /// Lets every contact add to the sums of its free bodies. `sums` has one value per body; `add` gets `None` for a body that is not free.
    /// The sums are made in solving order, so their bits do not depend on the threads.
    pub(super) fn gather<T: Send>(
        &self,
        sums: &mut [T],
        add: impl Fn(&Constraint, [&Velocity; 2], [Option<&mut T>; 2]) + Sync,
    ) {
        assert_eq!(sums.len(), self.velocities.len(), "a sum per body");
        let bodies = Disjoint::new(sums);
        // SAFETY: the constraints in flight at one time share no dynamic body: they are of several tiles or of one colour, as `new` has
        // checked, or it is one constraint.
        let add_all = |constraints: &[Constraint]| {
            for constraint in constraints {
                let velocities = constraint.bodies.map(|body| &self.velocities[body as usize]);
                let [a, b] = [0, 1].map(|side| {
                    let is_free = velocities[side].is_free();
                    is_free.then(|| unsafe { bodies.get_mut(constraint.bodies[side]) })
                });
                add(constraint, velocities, [a, b]);
            }
        };
        let of = |bounds: &[u32]| &self.constraints[bounds[0] as usize..bounds[1] as usize];
        self.colouring.tiles.par_windows(2).for_each(|bounds| add_all(of(bounds)));
        for bounds in self.colouring.starts.windows(2) {
            of(bounds).par_chunks(GATHER_CHUNK).for_each(add_all);
        }
        add_all(&self.constraints[self.colouring.overflow_start()..]);
    }
}

impl Problem<'_> {
    /// Calls `of_contact` for every contact with its value in a list, which has one value per contact. Returns the sums of what
    /// `of_contact` returns, made task by task, so that their bits do not depend on the threads.
    pub(super) fn beside<T: Send, const N: usize>(
        &self,
        list: &mut [T],
        of_contact: impl Fn(&Constraint, [&Velocity; 2], &mut T) -> [f64; N] + Sync,
    ) -> [f64; N] {
        let add = |sums: [f64; N], more: [f64; N]| std::array::from_fn(|i| sums[i] + more[i]);
        let of_chunk = |(constraints, list): (&[Constraint], &mut [T])| {
            constraints.iter().zip(list).fold([0.0; N], |sums, (constraint, beside)| {
                let velocities = constraint.bodies.map(|body| &self.velocities[body as usize]);
                add(sums, of_contact(constraint, velocities, beside))
            })
        };
        let chunks = self.constraints.par_chunks(GATHER_CHUNK).zip(list.par_chunks_mut(GATHER_CHUNK));
        let sums: Vec<[f64; N]> = chunks.map(of_chunk).collect();
        sums.into_iter().fold([0.0; N], add)
    }

    /// Sets the `last_impulse` of every contact to `target` of its value in a list.
    pub(super) fn aim<T: Sync>(&mut self, list: &[T], target: impl Fn(&Constraint, &T) -> Impulse + Sync) {
        let contacts = self.constraints.par_iter_mut().zip(list).with_min_len(GATHER_CHUNK);
        contacts.for_each(|(constraint, beside)| constraint.last_impulse = target(constraint, beside));
    }

    /// Relative change of all linear impulses against `last_impulse`, √(Σ |Δλ|² / Σ |λ|²) \[-\].
    pub(super) fn change_of_impulses(&mut self) -> f64 {
        let mut nothing = vec![(); self.counted().len()];
        let sums = self.beside(&mut nothing, |Constraint { impulse, last_impulse, .. }, _, ()| {
            [linear_square(&impulse.less(last_impulse)), linear_square(impulse)]
        });
        let [change, size] = self.border.as_mut().map_or(sums, |border| border.sums(sums));
        relative(change, size)
    }
}

/// Splits a slice at these indices: each part ends where the next starts, and the last index is the end of the last part.
pub(super) fn parts<'a, T>(all: &'a mut [T], starts: &[u32]) -> Vec<&'a mut [T]> {
    let (Some(&first), Some(&end)) = (starts.first(), starts.last()) else { return Vec::new() };
    let mut left = &mut all[first as usize..end as usize];
    let of_part = |bounds: &[u32]| {
        let (part, others) = std::mem::take(&mut left).split_at_mut((bounds[1] - bounds[0]) as usize);
        left = others;
        part
    };
    starts.windows(2).map(of_part).collect()
}

/// Square of the linear impulse, |λ|² \[N² s²\]; without rolling.
pub(super) fn linear_square(impulse: &Impulse) -> f64 {
    impulse.normal * impulse.normal + impulse.tangent.length_squared()
}

/// Root of the ratio of two sums of squares; 0 where both are 0.
pub(super) fn relative(change: f64, size: f64) -> f64 {
    if change > 0.0 { (change / size).sqrt() } else { 0.0 }
}

/// Contacts handled by one task of a sum.
const GATHER_CHUNK: usize = 1024;

/// Set of bodies, one bit each.
#[derive(Clone)]
pub(super) struct Bodies(Vec<u64>);

impl Bodies {
    pub(super) fn none(count: usize) -> Bodies {
        Bodies(vec![0; count.div_ceil(64)])
    }

    fn dynamic(velocities: &[Velocity]) -> Bodies {
        let word = |bodies: &[Velocity]| {
            bodies.iter().enumerate().fold(0, |word, (i, body)| word | u64::from(body.is_free()) << i)
        };
        Bodies(velocities.par_chunks(64).map(word).collect())
    }

    #[inline]
    pub(super) fn holds(&self, body: u32) -> bool {
        self.0.get(body as usize / 64).is_some_and(|word| word >> (body % 64) & 1 == 1)
    }

    /// Adds a body; returns whether the set already had it.
    pub(super) fn add(&mut self, body: u32) -> bool {
        let word = &mut self.0[body as usize / 64];
        let before = *word;
        *word |= 1 << (body % 64);
        before == *word
    }

    /// Finds a body of this set that two of the constraints share, or a body whose number is not below `count`, the number of bodies.
    fn shared_by(&self, constraints: &[Constraint], count: usize) -> Option<u32> {
        let mut seen = Bodies::none(count);
        let mut is_fault = |body: u32| body as usize >= count || (self.holds(body) && seen.add(body));
        constraints.iter().flat_map(|constraint| constraint.bodies).find(|&body| is_fault(body))
    }

    /// Finds a body of this set that is both bodies of a constraint.
    fn met_by_itself(&self, constraint: &Constraint) -> Option<u32> {
        let [a, b] = constraint.bodies;
        (a == b && self.holds(a)).then_some(a)
    }

    /// Finds a body of this set that constraints of two tiles share or that is both bodies of a constraint, or a body whose number is not
    /// below `count`, the number of bodies.
    fn shared_by_tiles(&self, starts: &[u32], constraints: &[Constraint], count: usize) -> Option<u32> {
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
pub(super) struct Disjoint<'a, T = Velocity> {
    first: *mut T,
    count: usize,
    owner: PhantomData<&'a mut [T]>,
}

// SAFETY: access goes through unsafe functions, whose callers keep the constraints in flight disjoint.
unsafe impl<T: Send> Sync for Disjoint<'_, T> {}

impl<'a, T> Disjoint<'a, T> {
    pub(super) fn new(values: &'a mut [T]) -> Disjoint<'a, T> {
        Disjoint { first: values.as_mut_ptr(), count: values.len(), owner: PhantomData }
    }

    /// Value of a body.
    ///
    /// # Safety
    /// The body is there, and nobody writes it meanwhile.
    #[inline(always)]
    pub(super) unsafe fn get(&self, body: u32) -> &T {
        let body = body as usize;
        debug_assert!(body < self.count, "`Problem::new` has seen that all bodies are there");
        // SAFETY: by the caller's promise.
        unsafe { &*self.first.add(body) }
    }

    /// Place of the value of a body, which may be read or written as by [`Disjoint::get`] and [`Disjoint::get_mut`].
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    pub(super) fn place(&self, body: u32) -> *mut T {
        self.first.wrapping_add(body as usize)
    }

    /// Value of a body, to be written.
    ///
    /// # Safety
    /// The body is there, and nobody else reads or writes it meanwhile.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "the caller promises that there is no other")]
    pub(super) unsafe fn get_mut(&self, body: u32) -> &mut T {
        let body = body as usize;
        debug_assert!(body < self.count, "`Problem::new` has seen that all bodies are there");
        // SAFETY: by the caller's promise.
        unsafe { &mut *self.first.add(body) }
    }
}

impl Disjoint<'_> {
    /// Visits a constraint with copies of its bodies, and writes the velocities of the free ones back.
    ///
    /// # Safety
    /// The bodies are there, no constraint visited at the same time may share a dynamic one with this constraint, and neither is rigid.
    #[inline(always)]
    pub(super) unsafe fn visit(&self, constraint: &mut Constraint, visit: &impl Visit) -> f64 {
        let [at_a, at_b] = constraint.bodies.map(|body| body as usize);
        debug_assert!(at_a < self.count && at_b < self.count, "as in `get`");
        // SAFETY: by the caller's promise.
        unsafe {
            let mut a = self.first.add(at_a).read();
            let mut b = self.first.add(at_b).read();
            let effective_mass = constraint.effective_mass;
            let result = visit.contact(constraint, &effective_mass, &mut a, &mut b);
            if a.is_free() {
                let to = self.first.add(at_a);
                (*to).linear = a.linear;
                (*to).angular = a.angular;
            }
            if b.is_free() {
                let to = self.first.add(at_b);
                (*to).linear = b.linear;
                (*to).angular = b.angular;
            }
            result
        }
    }
}

impl Disjoint<'_> {
    /// Visits constraints one after the other, and returns the largest value.
    ///
    /// # Safety
    /// As [`Disjoint::visit`], for each of them.
    #[inline(always)]
    pub(super) unsafe fn visit_each(&self, constraints: &mut [Constraint], visit: &impl Visit) -> f64 {
        constraints.iter_mut().fold(0.0, |largest: f64, constraint| {
            // SAFETY: by the caller's promise.
            largest.max(unsafe { self.visit(constraint, visit) })
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::model::Axes;

    fn body(inverse_mass: f64) -> Velocity {
        Velocity {
            linear: DVec3::ZERO,
            inverse_mass,
            angular: DVec3::ZERO,
            inverse_inertia: inverse_mass,
            locked: Axes::NONE,
        }
    }

    /// Whether constraints on a wall (body 0) and three grains are accepted as a problem, with colours that start at `starts`.
    fn is_accepted(bodies: &[[u32; 2]], starts: &[u32], overflow: Overflow) -> bool {
        are_accepted(bodies, &[], starts, overflow)
    }

    /// As `is_accepted`, with tiles before the colours.
    fn are_accepted(bodies: &[[u32; 2]], tiles: &[u32], starts: &[u32], overflow: Overflow) -> bool {
        let mut constraints: Vec<Constraint> =
            bodies.iter().map(|&bodies| Constraint { bodies, ..Constraint::default() }).collect();
        let mut velocities = [body(0.0), body(1.0), body(1.0), body(1.0)];
        let order = (0..constraints.len() as u32).collect();
        let colouring = Colouring { order, tiles: tiles.to_vec(), starts: starts.to_vec(), overflow };
        let (mut split, mut joints) = (Split::default(), Joints::default());
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            Problem::new(&colouring, &mut split, &mut constraints, &mut velocities, &mut joints);
        }))
        .is_ok()
    }

    #[test]
    fn contacts_of_a_colour_may_share_a_wall_and_nothing_else() {
        assert!(is_accepted(&[[1, 0], [2, 0], [3, 0]], &[0, 3], Overflow::Split), "a wall is never written");
        assert!(is_accepted(&[[1, 2], [2, 3]], &[0, 1, 2], Overflow::Split), "in two colours");
        assert!(!is_accepted(&[[1, 2], [2, 3]], &[0, 2], Overflow::Split), "both write grain 2");
        assert!(!is_accepted(&[[1, 2], [3, 1]], &[0, 2], Overflow::Split), "both write grain 1");
    }

    #[test]
    fn tiles_may_share_a_wall_and_the_contacts_of_one_may_share_all() {
        let accepts = |bodies: &[[u32; 2]], tiles: &[u32]| {
            let end = bodies.len() as u32;
            are_accepted(bodies, tiles, &[end, end], Overflow::Split)
        };
        assert!(accepts(&[[1, 2], [1, 2], [3, 0]], &[0, 2, 3]));
        assert!(accepts(&[[1, 0], [2, 0], [3, 0]], &[0, 1, 2, 3]), "a wall is never written");
        assert!(!accepts(&[[1, 2], [3, 2]], &[0, 1, 2]), "both write grain 2");
        assert!(!accepts(&[[1, 2], [4, 0]], &[0, 1, 2]), "there is no body 4");
        assert!(!accepts(&[[1, 1]], &[0, 1]), "grain 1 would be written twice");
    }

    #[test]
    fn bodies_that_are_not_there_and_contacts_split_as_others_are_refused() {
        assert!(!is_accepted(&[[1, 4]], &[0, 1], Overflow::Split), "there is no body 4");
        assert!(!is_accepted(&[[1, 4]], &[], Overflow::OneByOne), "nor is it there one by one");
        assert!(!is_accepted(&[[1, 2]], &[], Overflow::Split), "nothing was split");
        assert!(is_accepted(&[[1, 2], [2, 3]], &[], Overflow::OneByOne), "one by one they may share all");
        assert!(!is_accepted(&[[1, 1]], &[], Overflow::OneByOne), "but none meets itself");
    }
}
