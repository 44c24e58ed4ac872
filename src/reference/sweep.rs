//! Sweep: projected Gauss-Seidel over all contacts \[E5\].
//!
//! Order inside a contact: normal, friction, rolling and twisting. Twin: `shaders/sweep.wgsl`.

use std::marker::PhantomData;

use glam::DVec3;
use rayon::prelude::*;

use super::narrowphase::{Row, times_d};
use super::split::Split;
use super::velocity::{Heavy, Velocity};
use crate::contact::{Colouring, Impulse, Rest};

/// Rows handled by one task; smaller colours are solved on the spot.
const CHUNK: usize = 256;

/// Sweeps until no contact changes by more than `tolerance` \[m/s\], at most `iterations` times.
/// Returns the number of sweeps.
///
/// # Safety
/// As [`for_each_contact`].
pub unsafe fn solve(
    colouring: &Colouring,
    split: &mut Split,
    rows: &mut [Row],
    velocities: &mut [Velocity],
    iterations: u32,
    tolerance: f64,
) -> u32 {
    for sweep in 1..=iterations {
        // SAFETY: by the caller's promise.
        let change = unsafe {
            if tolerance > 0.0 {
                once(colouring, split, rows, velocities)
            } else {
                for_each_contact(colouring, split, rows, velocities, &Solve::<false>)
            }
        };
        if change < tolerance {
            return sweep;
        }
    }
    iterations
}

/// One sweep. Returns by how much the contact that changed most did, D |Δλ| \[m/s\].
///
/// # Safety
/// As [`for_each_contact`].
pub unsafe fn once(
    colouring: &Colouring,
    split: &mut Split,
    rows: &mut [Row],
    velocities: &mut [Velocity],
) -> f64 {
    // SAFETY: by the caller's promise.
    unsafe { for_each_contact(colouring, split, rows, velocities, &Solve::<true>) }
}

/// What is done at each contact on a pass over all of them.
pub trait Visit: Sync {
    /// Visits a row with its 1/D and its bodies; the largest value that a pass returns is returned by the pass.
    fn contact(&self, row: &mut Row, inverse_d: &[f64; 3], a: &mut Velocity, b: &mut Velocity) -> f64;
    /// Visits a row of a contact with a free boundary.
    fn shared(&self, row: &mut Row, a: &mut Heavy, b: &mut Heavy) -> f64;
}

/// Solves contacts; returns by how much if that is to be compared with a tolerance.
struct Solve<const COMPARED: bool>;

impl<const COMPARED: bool> Visit for Solve<COMPARED> {
    // Out of line it passes both bodies through memory: a third of the time of a sweep.
    #[inline(always)]
    fn contact(&self, row: &mut Row, inverse_d: &[f64; 3], a: &mut Velocity, b: &mut Velocity) -> f64 {
        let before = row.impulse;
        solve_contact(row, inverse_d, a, b);
        if COMPARED { change_since(row, &before) } else { 0.0 }
    }

    #[inline(always)]
    fn shared(&self, row: &mut Row, a: &mut Heavy, b: &mut Heavy) -> f64 {
        let before = row.impulse;
        solve_shared(row, a, b);
        if COMPARED { change_since(row, &before) } else { 0.0 }
    }
}

/// Visits all rows, colour by colour, then the rest, and returns the largest value that `visit` returned. Rows of a
/// colour share no grain, so their order has no effect.
///
/// # Safety
/// No two rows of one colour may share a free body: the colouring is valid, and the rows are those of its
/// contacts, in its order.
pub unsafe fn for_each_contact(
    colouring: &Colouring,
    split: &mut Split,
    rows: &mut [Row],
    velocities: &mut [Velocity],
    visit: &impl Visit,
) -> f64 {
    let mut largest = 0.0f64;
    let has_corners = split.has_free_boundaries();
    for bounds in colouring.starts.windows(2) {
        let of_colour = &mut rows[bounds[0] as usize..bounds[1] as usize];
        if has_corners {
            for row in of_colour.iter_mut().filter(|row| split.is_shared(row)) {
                largest = largest.max(split.visit_alone(row, velocities, visit));
            }
        }
        let bodies = Disjoint::new(velocities);
        let visit_all = |rows: &mut [Row]| {
            let others = rows.iter_mut().filter(|row| !(has_corners && split.is_shared(row)));
            // SAFETY: the rows in flight at one time are those of one colour; they share no free body.
            others.fold(0.0, |largest: f64, row| largest.max(unsafe { bodies.visit(row, visit) }))
        };
        largest = largest.max(if of_colour.len() <= CHUNK {
            visit_all(of_colour)
        } else {
            of_colour.par_chunks_mut(CHUNK).map(visit_all).reduce(|| 0.0, f64::max)
        });
    }
    let rest = &mut rows[colouring.rest_start()..];
    match colouring.rest {
        Rest::Split => largest.max(split.visit_rest(rest, velocities, visit)),
        Rest::OneByOne => rest.iter_mut().fold(largest, |largest, row| {
            largest.max(if split.is_shared(row) {
                split.visit_alone(row, velocities, visit)
            } else {
                // SAFETY: one at a time.
                unsafe { Disjoint::new(velocities).visit(row, visit) }
            })
        }),
    }
}

/// Velocities that several threads write, each body by one thread at a time.
struct Disjoint<'a> {
    first: *mut Velocity,
    count: usize,
    owner: PhantomData<&'a mut [Velocity]>,
}

// SAFETY: access goes through `visit`, whose callers keep the rows in flight disjoint.
unsafe impl Sync for Disjoint<'_> {}

impl<'a> Disjoint<'a> {
    fn new(velocities: &'a mut [Velocity]) -> Disjoint<'a> {
        Disjoint { first: velocities.as_mut_ptr(), count: velocities.len(), owner: PhantomData }
    }

    /// Lets `visit` work on copies of a row's bodies and writes the free ones back.
    ///
    /// # Safety
    /// No row visited at the same time may share a grain with this one, and neither body is a free boundary.
    #[inline(always)]
    unsafe fn visit(&self, row: &mut Row, visit: &impl Visit) -> f64 {
        let [at_a, at_b] = row.bodies.map(|body| body as usize);
        assert!(at_a < self.count && at_b < self.count, "contact of a body that does not exist");
        // SAFETY: in bounds; nobody writes these bodies meanwhile, by the caller's promise.
        unsafe {
            let mut a = self.first.add(at_a).read();
            let mut b = self.first.add(at_b).read();
            let inverse_d = row.inverse_d;
            let result = visit.contact(row, &inverse_d, &mut a, &mut b);
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

/// Solves one contact while all others are held fixed \[E5\].
#[inline(always)]
pub fn solve_contact(row: &mut Row, inverse_d: &[f64; 3], a: &mut Velocity, b: &mut Velocity) {
    let velocity = row.contact_velocity(a, b);
    let closing = velocity.dot(row.normal);
    let old = row.impulse;

    let step = (closing + row.sigma_n * old.normal - row.target) * inverse_d[0];
    let normal = (old.normal - step).max(0.0);
    if normal == 0.0 && old.normal == 0.0 {
        return; // its cone is a point: nothing to rub against
    }
    let slip = velocity - closing * row.normal;
    let step = slip * inverse_d[1];
    let tangent = project(old.tangent - step, row.friction * normal);

    let linear = (normal - old.normal) * row.normal + (tangent - old.tangent);
    a.push(linear, row.arm_a);
    b.push(-linear, row.arm_b);
    row.impulse.normal = normal;
    row.impulse.tangent = tangent;
    if row.rolling_arm == 0.0 {
        return;
    }
    let spin = a.angular - b.angular;
    let step = spin * inverse_d[2];
    let rolling = project(old.rolling - step, row.rolling_arm * normal);
    a.twist(rolling - old.rolling);
    b.twist(old.rolling - rolling);
    row.impulse.rolling = rolling;
}

/// Solves one contact with a free boundary \[E5\]. Here a normal impulse changes the slip, so friction follows from
/// the velocities after it.
#[inline(always)]
pub fn solve_shared(row: &mut Row, a: &mut Heavy, b: &mut Heavy) {
    let old = row.impulse;
    let mobility = row.mobility(a, b);
    let inverse_d = row.shared_d(&mobility, a, b).map(|d| if d > 0.0 { 1.0 / d } else { 0.0 });

    let closing = row.shared_velocity(a, b).dot(row.normal);
    let step = (closing + row.sigma_n * old.normal - row.target) * inverse_d[0];
    let normal = (old.normal - step).max(0.0);
    if normal == 0.0 && old.normal == 0.0 {
        return;
    }
    let linear = (normal - old.normal) * row.normal;
    a.push(linear, row.arm_a);
    b.push(-linear, row.arm_b);

    let velocity = row.shared_velocity(a, b);
    let slip = velocity - velocity.dot(row.normal) * row.normal;
    let tangent = project(old.tangent - slip * inverse_d[1], row.friction * normal);
    let linear = tangent - old.tangent;
    a.push(linear, row.arm_a);
    b.push(-linear, row.arm_b);

    let spin = a.angular - b.angular;
    let rolling = project(old.rolling - spin * inverse_d[2], row.rolling_arm * normal);
    a.twist(rolling - old.rolling);
    b.twist(old.rolling - rolling);
    row.impulse = Impulse { normal, tangent, rolling };
}

/// How much contact velocity the normal and friction rows changed, D |Δλ| \[m/s\]; on whole bodies.
fn change_since(row: &Row, before: &Impulse) -> f64 {
    let normal = (row.impulse.normal - before.normal).abs();
    let tangent = (row.impulse.tangent - before.tangent).length();
    times_d(normal, row.inverse_d[0]).max(times_d(tangent, row.inverse_d[1]))
}

/// Nearest vector no longer than `bound`.
#[inline(always)]
pub fn project(vector: DVec3, bound: f64) -> DVec3 {
    let length_squared = vector.length_squared();
    if length_squared <= bound * bound { vector } else { vector * (bound / length_squared.sqrt()) }
}
