//! Sweep: projected Gauss-Seidel over all contacts \[E5\].
//!
//! Order inside a contact: normal, friction, rolling and twisting. Twin: `shaders/sweep.wgsl`.

use std::marker::PhantomData;

use glam::DVec3;
use rayon::prelude::*;

use super::drive::Drives;
use super::narrowphase::{Response, Row, times_d};
use super::split::Split;
use super::velocity::Velocity;
use crate::contact::{Colouring, Impulse, Rest};
use crate::settings::{Acceleration, OVER_RELAXATION, Settings, momentum};

/// Rows handled by one task; smaller colours are solved on the spot.
pub(super) const CHUNK: usize = 256;

/// Sweeps over the contacts, then the motors, until none changes by more than `tolerance` \[m/s\], at most `iterations` times.
/// Returns the number of sweeps, and by how much the last changed the row that changed most, where a tolerance is set.
///
/// # Safety
/// As [`for_each_contact`].
pub unsafe fn solve(
    mut sweeps: Sweeps<'_>,
    rows: &mut [Row],
    velocities: &mut [Velocity],
    iterations: u32,
    tolerance: f64,
) -> (u32, f64) {
    sweeps.begin(rows, velocities, iterations);
    let mut change = 0.0;
    for sweep in 1..=iterations {
        // SAFETY: by the caller's promise.
        change = unsafe { sweeps.next(rows, velocities, tolerance > 0.0) };
        if change < tolerance {
            return (sweep, change);
        }
    }
    (iterations, change)
}

/// What the sweeps of a solve share.
pub struct Sweeps<'a> {
    colouring: &'a Colouring,
    split: &'a mut Split,
    drives: &'a mut Drives,
    /// With it each sweep goes on from beyond where the last one ended, and overshoots \[E12\].
    momentum: Option<&'a mut Momentum>,
    done: u32,
    /// How many there will be at most.
    planned: u32,
    /// Whether the motors answer to what the contacts start from: in the pass of the warm start, if there is one.
    answers_to_start: bool,
    /// By how much the motors changed before the first sweep \[m/s\].
    at_start: f64,
}

impl<'a> Sweeps<'a> {
    /// Plain ones.
    pub fn plain(colouring: &'a Colouring, split: &'a mut Split, drives: &'a mut Drives) -> Sweeps<'a> {
        Sweeps {
            colouring,
            split,
            drives,
            momentum: None,
            done: 0,
            planned: 0,
            answers_to_start: true,
            at_start: 0.0,
        }
    }

    /// Those that the settings ask for.
    pub fn new(
        settings: &Settings,
        colouring: &'a Colouring,
        split: &'a mut Split,
        drives: &'a mut Drives,
        momentum: &'a mut Momentum,
    ) -> Sweeps<'a> {
        let momentum = (settings.acceleration == Acceleration::Nesterov).then_some(momentum);
        let answers_to_start = settings.warm_start.updates_velocities();
        Sweeps { momentum, answers_to_start, ..Sweeps::plain(colouring, split, drives) }
    }

    /// Comes before the first of so many at most.
    pub fn begin(&mut self, rows: &[Row], velocities: &mut [Velocity], planned: u32) {
        self.planned = planned;
        self.split.prepare(&rows[self.colouring.rest_start()..], velocities);
        if self.answers_to_start {
            self.at_start = self.drives.solve(velocities);
        }
    }

    /// One sweep. Returns by how much the row that changed most did, D |Δλ| \[m/s\], 0 for contacts unless that is to
    /// be compared with a tolerance.
    ///
    /// # Safety
    /// As [`for_each_contact`].
    pub unsafe fn next(&mut self, rows: &mut [Row], velocities: &mut [Velocity], compared: bool) -> f64 {
        // Before a sweep, as the impulses of the last are to stay in their cones.
        let share = self.momentum.as_deref_mut().filter(|_| self.done > 0).map(|last| {
            let share = momentum(self.done);
            self.drives.carry_on(share);
            last.carry_on(share, velocities);
            share
        });
        self.done += 1;
        let relaxation = self.relaxation();
        let (colouring, split) = (self.colouring, &mut *self.split);
        // SAFETY: by the caller's promise.
        let change = unsafe {
            if compared {
                for_each_contact(colouring, split, rows, velocities, &Solve::<true> { relaxation, share })
            } else {
                for_each_contact(colouring, split, rows, velocities, &Solve::<false> { relaxation, share })
            }
        };
        change.max(self.drives.solve(velocities)).max(std::mem::take(&mut self.at_start))
    }

    /// That of the present sweep. The last one is not to overshoot: what it solves is to fit.
    fn relaxation(&self) -> f64 {
        if self.momentum.is_some() && self.done < self.planned { OVER_RELAXATION } else { 1.0 }
    }
}

/// Where the last sweep left the velocities \[E12\]; where it left the impulses, the rows know.
#[derive(Debug, Default)]
pub struct Momentum {
    velocities: Vec<[DVec3; 2]>,
}

impl Momentum {
    /// Bytes for so many bodies.
    pub fn planned_bytes(bodies: u64) -> u64 {
        bodies * size_of::<[DVec3; 2]>() as u64
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        Self::planned_bytes(self.velocities.capacity() as u64)
    }

    /// Velocities go on by a share of what the last sweep made of them, as they are linear in the impulses, which go on
    /// when they are solved. Twin: `carry_body_on` in `shaders/sweep.wgsl`.
    fn carry_on(&mut self, share: f64, velocities: &mut [Velocity]) {
        self.velocities.resize(velocities.len(), [DVec3::ZERO; 2]);
        let bodies = velocities.par_iter_mut().zip(&mut self.velocities).with_min_len(CHUNK);
        bodies.for_each(|(body, last)| {
            let before = std::mem::replace(last, [body.linear, body.angular]);
            if share > 0.0 {
                body.linear += share * (last[0] - before[0]);
                body.angular += share * (last[1] - before[1]);
            }
        });
    }
}

/// What is done at each contact on a pass over all of them.
pub trait Visit: Sync {
    /// Visits a row with its 1/D and its bodies; the largest value that a pass returns is returned by the pass.
    fn contact(&self, row: &mut Row, inverse_d: &[f64; 3], a: &mut Velocity, b: &mut Velocity) -> f64;
    /// Visits a row of a contact without a colour or with a free boundary, likewise; bodies stay as they are. Returns what
    /// is to be done to them as well. `spun` is how much faster a turns than b after a linear impulse.
    fn shared(
        &self,
        row: &mut Row,
        response: &Response,
        bodies: [&Velocity; 2],
        spun: impl Fn(DVec3) -> DVec3,
    ) -> (Push, f64);
}

/// What a contact does to its body a, and reversed to b.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Push {
    /// Impulse \[N s\].
    pub linear: DVec3,
    /// Angular impulse, beside that of `linear` on its arm \[N m s\].
    pub rolling: DVec3,
}

/// Solves contacts; returns by how much if that is to be compared with a tolerance.
struct Solve<const COMPARED: bool> {
    /// How far a row goes, in what would bring it to rest \[-\].
    relaxation: f64,
    /// Of what the last sweep changed, that this one is given \[-\], if it goes on from one.
    share: Option<f64>,
}

impl<const COMPARED: bool> Solve<COMPARED> {
    /// Where this sweep starts from \[E12\].
    #[inline(always)]
    fn carry_on(&self, row: &mut Row) {
        let Some(share) = self.share else { return };
        if row.impulse == row.last_impulse {
            return; // it carries nothing, most likely: two cache lines stay as they are
        }
        let before = std::mem::replace(&mut row.last_impulse, row.impulse);
        if share > 0.0 {
            row.impulse = row.last_impulse.beyond(&before, share);
        }
    }

    #[inline(always)]
    fn relaxed(&self, inverse_d: &[f64; 3]) -> [f64; 3] {
        inverse_d.map(|inverse_d| self.relaxation * inverse_d)
    }
}

impl<const COMPARED: bool> Visit for Solve<COMPARED> {
    // Out of line it passes both bodies through memory: a third of the time of a sweep.
    #[inline(always)]
    fn contact(&self, row: &mut Row, inverse_d: &[f64; 3], a: &mut Velocity, b: &mut Velocity) -> f64 {
        self.carry_on(row);
        let before = row.impulse;
        solve_contact(row, &self.relaxed(inverse_d), a, b);
        if COMPARED { change_since(row, &before) } else { 0.0 }
    }

    #[inline(always)]
    fn shared(
        &self,
        row: &mut Row,
        response: &Response,
        bodies: [&Velocity; 2],
        spun: impl Fn(DVec3) -> DVec3,
    ) -> (Push, f64) {
        self.carry_on(row);
        let before = row.impulse;
        let response = Response { inverse_d: self.relaxed(&response.inverse_d), ..*response };
        let push = solve_shared(row, &response, bodies, spun);
        (push, if COMPARED { change_since(row, &before) } else { 0.0 })
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
    for bounds in colouring.starts.windows(2) {
        let of_colour = &mut rows[bounds[0] as usize..bounds[1] as usize];
        // Corners of free boundaries come before grains in the order of the keys.
        let corners = of_colour.iter().take_while(|row| split.is_shared(row)).count();
        let (corners, of_colour) = of_colour.split_at_mut(corners);
        for row in corners {
            largest = largest.max(split.visit_alone(row, velocities, visit));
        }
        let bodies = Disjoint::new(velocities);
        let visit_all = |rows: &mut [Row]| {
            // SAFETY: the rows in flight at one time are those of one colour; they share no free body.
            rows.iter_mut().fold(0.0, |largest: f64, row| largest.max(unsafe { bodies.visit(row, visit) }))
        };
        largest = largest.max(if of_colour.len() <= CHUNK {
            visit_all(of_colour)
        } else {
            of_colour.par_chunks_mut(CHUNK).map(visit_all).reduce(|| 0.0, f64::max)
        });
    }
    let rest = &mut rows[colouring.rest_start()..];
    match colouring.rest {
        // SAFETY: by the caller's promise.
        Rest::Split => largest.max(unsafe { split.visit_rest(rest, velocities, visit) }),
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
pub(super) struct Disjoint<'a> {
    first: *mut Velocity,
    count: usize,
    owner: PhantomData<&'a mut [Velocity]>,
}

// SAFETY: access goes through unsafe functions, whose callers keep the rows in flight disjoint.
unsafe impl Sync for Disjoint<'_> {}

impl<'a> Disjoint<'a> {
    pub(super) fn new(velocities: &'a mut [Velocity]) -> Disjoint<'a> {
        Disjoint { first: velocities.as_mut_ptr(), count: velocities.len(), owner: PhantomData }
    }

    /// The velocity of a body.
    ///
    /// # Safety
    /// Nobody writes this body meanwhile.
    #[inline(always)]
    pub(super) unsafe fn get(&self, body: u32) -> &Velocity {
        let body = body as usize;
        assert!(body < self.count, "contact of a body that does not exist");
        // SAFETY: in bounds; the rest is the caller's promise.
        unsafe { &*self.first.add(body) }
    }

    /// The same, to be written.
    ///
    /// # Safety
    /// Nobody else reads or writes this body meanwhile.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "the caller promises that there is no other")]
    pub(super) unsafe fn get_mut(&self, body: u32) -> &mut Velocity {
        let body = body as usize;
        assert!(body < self.count, "contact of a body that does not exist");
        // SAFETY: in bounds; the rest is the caller's promise.
        unsafe { &mut *self.first.add(body) }
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
    if normal == 0.0 && old == Impulse::default() {
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

/// Solves one contact without a colour or with a free boundary \[E5\], and returns what it does to its bodies. Here a
/// normal impulse may change the slip, so friction follows from the velocities after it.
#[inline(always)]
pub fn solve_shared(
    row: &mut Row,
    response: &Response,
    [a, b]: [&Velocity; 2],
    spun: impl Fn(DVec3) -> DVec3,
) -> Push {
    let old = row.impulse;
    let velocity = row.contact_velocity(a, b);
    let closing = velocity.dot(row.normal);
    let step = (closing + row.sigma_n * old.normal - row.target) * response.inverse_d[0];
    let normal = (old.normal - step).max(0.0);
    if normal == 0.0 && old == Impulse::default() {
        return Push::default();
    }
    let slip = velocity - closing * row.normal + (normal - old.normal) * response.slip;
    let tangent = project(old.tangent - slip * response.inverse_d[1], row.friction * normal);
    let linear = (normal - old.normal) * row.normal + (tangent - old.tangent);
    row.impulse.normal = normal;
    row.impulse.tangent = tangent;
    if row.rolling_arm == 0.0 {
        return Push { linear, rolling: DVec3::ZERO };
    }
    let spin = a.angular - b.angular + spun(linear);
    let rolling = project(old.rolling - spin * response.inverse_d[2], row.rolling_arm * normal);
    row.impulse.rolling = rolling;
    Push { linear, rolling: rolling - old.rolling }
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
