//! Sweep: projected Gauss-Seidel over all contacts \[E5\].
//!
//! Order inside a contact: normal, friction, rolling and twisting. Twin: `shaders/sweep.wgsl`.

#[cfg(target_arch = "x86_64")]
mod wide;

use glam::DVec3;
use rayon::prelude::*;

use crate::contact::constraint::{Constraint, Response, change_since};
use crate::contact::disjoint::Disjoint;
use crate::contact::pass::{Push, Visit};
use crate::contact::problem::ContactProblem;
use crate::contact::solver::{AfterSweep, Limits, Outcome, Solver};
use crate::contact::tasks::SWEEP_CHUNK;
use crate::contact::velocity::Velocity;
use crate::engine::clock::Instant;
use crate::law::cone::Cone;
use crate::settings::{Acceleration, OVER_RELAXATION, Settings, momentum};

use super::coarse::Coarse;

/// Projected Gauss-Seidel solver \[E5\]: sweeps over the contacts, then the joints; plain, or accelerated \[E12\].
#[derive(Debug, Default)]
pub struct ProjectedGaussSeidel {
    acceleration: Acceleration,
    cone: Cone,
    momentum: LastVelocities,
    coarse: Coarse,
}

impl ProjectedGaussSeidel {
    /// Makes a solver with plain sweeps, whatever the settings ask for.
    pub fn plain(settings: &Settings) -> ProjectedGaussSeidel {
        let solver = ProjectedGaussSeidel::new(settings);
        ProjectedGaussSeidel { acceleration: Acceleration::None, coarse: Coarse::default(), ..solver }
    }

    /// Makes a solver with the sweeps that the settings ask for.
    pub fn new(settings: &Settings) -> ProjectedGaussSeidel {
        let mut solver = ProjectedGaussSeidel::default();
        solver.set(settings);
        solver
    }

    /// Takes over the acceleration, cone and coarse corrections of these settings.
    pub fn set(&mut self, settings: &Settings) {
        (self.acceleration, self.cone) = (settings.acceleration, settings.cone);
        self.coarse.planned = settings.coarse_corrections;
    }

    /// Bytes that a solver with accelerated sweeps holds for this number of bodies.
    pub fn planned_bytes(bodies: u64) -> u64 {
        LastVelocities::planned_bytes(bodies)
    }

    /// Number of bodies that the solver has room for.
    #[cfg(feature = "scenario")]
    pub(super) fn room(&self) -> usize {
        self.momentum.velocities.capacity()
    }

    /// Makes room for this number of bodies.
    #[cfg(feature = "scenario")]
    pub(super) fn reserve(&mut self, bodies: usize) {
        self.momentum.velocities.reserve_exact(bodies.saturating_sub(self.momentum.velocities.len()));
    }

    /// Bytes that the solver holds.
    pub fn bytes(&self) -> u64 {
        self.momentum.bytes()
    }

    /// Does one sweep, `done` sweeps after the start or the last coarse correction. `noted`: keeps the impulses before the sweep in
    /// `last_impulse`. Returns the largest change of a contact constraint, D |Δλ| \[m/s\], or of a joint; contacts count as 0 unless
    /// `compared`.
    fn sweep(
        &mut self,
        problem: &mut ContactProblem<'_>,
        done: u32,
        is_last: bool,
        [compared, noted]: [bool; 2],
    ) -> f64 {
        let is_accelerated = self.acceleration == Acceleration::Nesterov;
        // Extrapolation comes before a sweep, so that after the last sweep the impulses are within their cones.
        let share = (is_accelerated && done > 0).then(|| {
            let share = momentum(done);
            problem.extrapolate(share, |velocities| self.momentum.extrapolate(share, velocities));
            share
        });
        let share = share.or(noted.then_some(0.0));
        // The last sweep does not over-relax, so that each contact constraint is satisfied when it is solved.
        let relaxation = if is_accelerated && !is_last { OVER_RELAXATION } else { 1.0 };
        let cone = self.cone;
        let change = if compared {
            problem.visit(&Solve::<true> { relaxation, share, cone })
        } else {
            problem.visit(&Solve::<false> { relaxation, share, cone })
        };
        change.max(problem.solve_joints())
    }
}

impl Solver for ProjectedGaussSeidel {
    fn solve(
        &mut self,
        problem: &mut ContactProblem<'_>,
        limits: Limits,
        mut watch: Option<&mut AfterSweep<'_>>,
    ) -> Outcome {
        problem.prepare();
        // Joints are solved first, so that the first sweep finds machines that have responded to the impulses at the start.
        let mut at_start = problem.solve_joints();
        let compared = limits.tolerance > 0.0 || watch.is_some();
        let noted = limits.compares_impulses();
        let mut outcome = Outcome::default();
        let mut corrected = 0;
        while outcome.sweeps < limits.iterations {
            if self.coarse.follows(outcome.sweeps) {
                self.coarse.correct(self.cone, problem);
                corrected = outcome.sweeps;
            }
            problem.wake();
            let is_last = outcome.sweeps + 1 == limits.iterations;
            let change = self.sweep(problem, outcome.sweeps - corrected, is_last, [compared, noted]);
            let change = if compared { problem.largest(change) } else { change };
            let change = change.max(std::mem::take(&mut at_start));
            outcome = Outcome { sweeps: outcome.sweeps + 1, change, ..outcome };
            if let Some(watch) = &mut watch {
                watch(&outcome, problem);
            }
            let test = Instant::now();
            let share = if noted { problem.change_of_impulses() } else { 0.0 };
            outcome.testing += test.elapsed().as_secs_f64();
            if limits.are_met(outcome.change, share) {
                break;
            }
        }
        problem.wake();
        problem.exchange();
        outcome
    }
}

/// Velocities after the last sweep, linear and angular, for extrapolation \[E12\]. The constraints hold the impulses after it.
#[derive(Debug, Default)]
struct LastVelocities {
    velocities: Vec<[DVec3; 2]>,
}

impl LastVelocities {
    fn planned_bytes(bodies: u64) -> u64 {
        bodies * size_of::<[DVec3; 2]>() as u64
    }

    fn bytes(&self) -> u64 {
        Self::planned_bytes(self.velocities.capacity() as u64)
    }

    /// Extrapolates the velocities by β_k times their change in the last sweep, like the impulses: v is linear in λ \[E12\]. The impulses
    /// are extrapolated when they are solved. Twin: `extrapolate_body` in `shaders/sweep.wgsl`.
    fn extrapolate(&mut self, share: f64, velocities: &mut [Velocity]) {
        // Exact capacity, so that the reported memory does not depend on how the list grew.
        self.velocities.reserve_exact(velocities.len().saturating_sub(self.velocities.len()));
        self.velocities.resize(velocities.len(), [DVec3::ZERO; 2]);
        let bodies = velocities.par_iter_mut().zip(&mut self.velocities).with_min_len(SWEEP_CHUNK);
        bodies.for_each(|(body, last)| {
            let before = std::mem::replace(last, [body.linear, body.angular]);
            if share > 0.0 {
                body.linear += share * (last[0] - before[0]);
                body.angular += share * (last[1] - before[1]);
            }
        });
    }
}

/// Pass that solves contacts; it returns the changes of the contacts if they are compared with a tolerance.
struct Solve<const COMPARED: bool> {
    /// Relaxation factor: step of a constraint over the step that solves it \[-\].
    relaxation: f64,
    /// Extrapolation factor β_k \[-\]; 0 only notes the impulse before the sweep, `None` does neither.
    share: Option<f64>,
    /// Set of the friction and rolling impulses that contacts may carry.
    cone: Cone,
}

impl<const COMPARED: bool> Solve<COMPARED> {
    /// Extrapolates the impulse, λ + β_k (λ - λ_last), and keeps λ as `last_impulse` \[E12\].
    #[inline(always)]
    fn extrapolate(&self, constraint: &mut Constraint) {
        let Some(share) = self.share else { return };
        if constraint.impulse == constraint.last_impulse {
            return; // it carries nothing, most likely: two cache lines stay as they are
        }
        let before = std::mem::replace(&mut constraint.last_impulse, constraint.impulse);
        if share > 0.0 {
            constraint.impulse = constraint.last_impulse.beyond(&before, share);
        }
    }

    #[inline(always)]
    fn relaxed(&self, effective_mass: &[f64; 3]) -> [f64; 3] {
        effective_mass.map(|effective_mass| self.relaxation * effective_mass)
    }
}

impl<const COMPARED: bool> Visit for Solve<COMPARED> {
    // If this is not inlined, both bodies pass through memory, which takes a third of the time of a sweep.
    #[inline(always)]
    fn contact(
        &self,
        constraint: &mut Constraint,
        effective_mass: &[f64; 3],
        a: &mut Velocity,
        b: &mut Velocity,
    ) -> f64 {
        self.extrapolate(constraint);
        let before = constraint.impulse;
        solve_contact(constraint, &self.relaxed(effective_mass), self.cone, a, b);
        if COMPARED { change_since(constraint, &before) } else { 0.0 }
    }

    #[inline(always)]
    fn general(
        &self,
        constraint: &mut Constraint,
        response: impl Fn(&Constraint) -> Response,
        bodies: [&Velocity; 2],
        spun: impl Fn(DVec3) -> DVec3,
    ) -> (Push, f64) {
        self.extrapolate(constraint);
        let before = constraint.impulse;
        let response = response(constraint);
        let response = Response { effective_mass: self.relaxed(&response.effective_mass), ..response };
        let push = solve_general(constraint, &response, self.cone, bodies, spun);
        (push, if COMPARED { change_since(constraint, &before) } else { 0.0 })
    }

    #[inline(always)]
    fn leaves(&self, constraint: &Constraint, [a, b]: [&Velocity; 2]) -> bool {
        // Most points of manifolds are far, or there are none: they carry nothing and go on so.
        let carries = !constraint.impulse.is_zero()
            || (self.share.is_some() && constraint.impulse != constraint.last_impulse);
        let closing = constraint.contact_velocity(a, b).dot(constraint.normal);
        !carries && (closing - constraint.bias) * constraint.effective_mass[0] >= 0.0
    }

    #[inline(always)]
    unsafe fn each(&self, constraints: &mut [Constraint], bodies: &Disjoint<'_>) -> f64 {
        #[cfg(target_arch = "x86_64")]
        if self.is_wide() {
            // SAFETY: by the caller's promise, and the processor can.
            return unsafe { self.solve_wide(constraints, bodies) };
        }
        // SAFETY: by the caller's promise.
        unsafe { bodies.visit_each(constraints, self) }
    }
}

/// Solves one contact while all others are held fixed \[E5\].
#[inline(always)]
pub fn solve_contact(
    constraint: &mut Constraint,
    effective_mass: &[f64; 3],
    cone: Cone,
    a: &mut Velocity,
    b: &mut Velocity,
) {
    let velocity = constraint.contact_velocity(a, b);
    let closing = velocity.dot(constraint.normal);
    let old = constraint.impulse;

    let step = (closing + constraint.compliance * old.normal - constraint.bias) * effective_mass[0];
    let normal = (old.normal - step).max(0.0);
    if normal == 0.0 && old.is_zero() {
        return; // its cone is a point: nothing to rub against
    }
    let slip = velocity - closing * constraint.normal;
    let step = slip * effective_mass[1];
    let tangent = constraint.within_friction(cone, old.tangent - step, normal);

    let linear = (normal - old.normal) * constraint.normal + (tangent - old.tangent);
    a.push(linear, constraint.arm_a);
    b.push(-linear, constraint.arm_b);
    constraint.impulse.normal = normal;
    constraint.impulse.tangent = tangent;
    if constraint.rolling_arm == 0.0 {
        return;
    }
    let spin = a.angular - b.angular;
    let step = spin * effective_mass[2];
    let rolling = constraint.within_rolling(cone, old.rolling - step, normal);
    a.twist(rolling - old.rolling);
    b.twist(old.rolling - rolling);
    constraint.impulse.rolling = rolling;
}

/// Solves one overflow contact, or one contact with a rigid body that is no sphere \[E5\], and returns the impulses on its bodies. At such
/// a contact a normal impulse may change the slip, so friction follows from the velocities after the normal impulse.
#[inline(always)]
pub fn solve_general(
    constraint: &mut Constraint,
    response: &Response,
    cone: Cone,
    [a, b]: [&Velocity; 2],
    spun: impl Fn(DVec3) -> DVec3,
) -> Push {
    let velocity = constraint.contact_velocity(a, b);
    solve_at(constraint, response, cone, velocity, |linear| a.angular - b.angular + spun(linear))
}

/// Solves one contact with this contact velocity \[m/s\] \[E5\], whatever the bodies are or the matrix that it came from, and returns the
/// change of its impulse. `spin` computes the relative angular velocity after a linear impulse \[rad/s\].
#[inline(always)]
pub fn solve_at(
    constraint: &mut Constraint,
    response: &Response,
    cone: Cone,
    velocity: DVec3,
    spin: impl Fn(DVec3) -> DVec3,
) -> Push {
    let old = constraint.impulse;
    let closing = velocity.dot(constraint.normal);
    let step = (closing + constraint.compliance * old.normal - constraint.bias) * response.effective_mass[0];
    let normal = (old.normal - step).max(0.0);
    if normal == 0.0 && old.is_zero() {
        return Push::default();
    }
    let slip = velocity - closing * constraint.normal + (normal - old.normal) * response.slip;
    let tangent = constraint.within_friction(cone, old.tangent - slip * response.effective_mass[1], normal);
    let linear = (normal - old.normal) * constraint.normal + (tangent - old.tangent);
    constraint.impulse.normal = normal;
    constraint.impulse.tangent = tangent;
    if constraint.rolling_arm == 0.0 {
        return Push { linear, rolling: DVec3::ZERO };
    }
    let rolling =
        constraint.within_rolling(cone, old.rolling - spin(linear) * response.effective_mass[2], normal);
    constraint.impulse.rolling = rolling;
    Push { linear, rolling: rolling - old.rolling }
}
