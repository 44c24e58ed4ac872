//! Impact stage \[E6\]: contacts that close faster than the threshold bounce first.
//!
//! A contact bounces in the substep in which it would close. So the constraints of the continuous solve, which stop a pair at a gap of
//! zero, never take the speed that it must return with. A contact that bounces may drive a grain against the next one within the same
//! substep. So the stage goes in rounds: all contacts that bounce now, then all that would close after that, until none closes any more.
//! The impulses of this stage change velocities only; they are never a warm start. Twin: `shaders/impact.wgsl`.

use rayon::prelude::*;

use crate::contact::constraint::{Constraint, Onset, times_d};
use crate::contact::coupling::Coupling;
use crate::contact::flow::{CellMotion, Flow};
use crate::contact::joints::Joints;
use crate::contact::problem::ContactProblem;
use crate::contact::solver::{Limits, Solver};
use crate::contact::split::Split;
use crate::contact::tasks::CHUNK;
use crate::contact::velocity::Velocity;
use crate::contact::{Colouring, Impulse};
use crate::engine::{IMPACT_GAIN, Impacts, most_impact_sweeps};
use crate::law::restitution::{IMPACT_PRECISION, IMPACT_TOLERANCE, TOUCH_TOLERANCE};
use crate::model::{Pull, World};
use crate::settings::Settings;

use super::narrowphase::FAR;
use super::sweep::ProjectedGaussSeidel;

/// Role of a contact in a round of impacts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ImpactRole {
    /// The contact would close within the substep, faster than the threshold: it leaves at this speed \[m/s\].
    Bounces(f64),
    /// The contact touches: it leaves at this speed at least \[m/s\].
    Touches(f64),
    /// The contact takes no part.
    Absent,
}

/// Law of restitution in a substep.
struct Restitution<'a> {
    settings: &'a Settings,
    pull: Pull<'a>,
    /// Closing speed above which a contact bounces \[m/s\].
    threshold: f64,
    /// Flow of a deforming cell.
    flow: Flow,
}

/// Input of the impact stage: the constraints of the narrowphase, in the order of the colouring.
pub struct Contacts<'a> {
    /// Colours and tiles of the contacts, and so which may be solved at once.
    pub colouring: &'a Colouring,
    /// Split bodies of the overflow contacts.
    pub split: &'a mut Split,
    /// Constraints of all contacts.
    pub constraints: &'a mut [Constraint],
    /// Gap, restitution and other data of each contact from before the sweeps.
    pub onsets: &'a mut [Onset],
    /// Motion of the deforming cell, if there is one.
    pub cell: Option<&'a mut CellMotion>,
    /// Coupling of this part of a scene.
    pub coupling: &'a mut dyn Coupling,
    /// Makes the constraints and onsets of contacts that take part only once bodies move as fast as after a round.
    pub wake: &'a mut Wake<'a>,
}

/// Completes constraints and onsets at these velocities.
pub type Wake<'a> = dyn FnMut(&[Velocity], &mut [Constraint], &mut [Onset]) + 'a;

/// Solves the impacts, if there are any. After each round `book` gets its problem with the final impulses and velocities.
pub fn solve(
    settings: &Settings,
    world: &World,
    contacts: Contacts<'_>,
    velocities: &mut [Velocity],
    mut book: impl FnMut(&ContactProblem<'_>),
) -> Impacts {
    let Contacts { colouring, split, constraints, onsets, mut cell, coupling, wake } = contacts;
    let flow = cell.as_ref().map_or(Flow::default(), |cell| cell.flow());
    let mut law = Restitution { settings, pull: world.pull(), threshold: settings.impact_threshold, flow };
    let (mut done, mut unsettled) = (Impacts::default(), 0.0);
    let mut allowance = Allowance::of(settings, world);
    let mut fastest = coupling.largest(law.fastest_bounce(constraints, onsets, velocities));
    while fastest > 0.0 && allowance.begins_round(done.sweeps) {
        let (colouring, mut impacts) = taking_part(colouring, constraints, onsets, |constraint, onset| {
            law.role(constraint, onset, velocities)
        });
        let mut joints = Joints::of_impacts(world, settings, velocities);
        let problem = ContactProblem::new(&colouring, split, &mut impacts, velocities, &mut joints);
        let mut problem = problem.in_cell(cell.as_deref_mut()).coupled(coupling);
        let sweep_until = |tolerance, end: u32, done: &mut Impacts, problem: &mut ContactProblem<'_>| {
            let iterations = end - done.sweeps;
            let outcome = ProjectedGaussSeidel::plain(settings).solve(
                problem,
                Limits { tolerance, ..Limits::sweeps(iterations) },
                None,
            );
            if iterations > 0 {
                let sweeps = done.sweeps + outcome.sweeps;
                *done = Impacts { sweeps, residual: outcome.change, fraction: 0.0 };
            }
            iterations > 0 && outcome.change < tolerance
        };
        let speed = fastest;
        let (settled, precise) = (IMPACT_TOLERANCE * speed, IMPACT_PRECISION * speed);
        let mut has_settled = false;
        while !has_settled && allowance.goes_on(&done) {
            has_settled = sweep_until(settled, allowance.end, &mut done, &mut problem);
        }
        // Closing speeds that the sweeps left over must not bounce again.
        law.threshold = law.threshold.max(2.0 * settled);
        fastest = 0.0;
        if has_settled {
            wake(problem.velocities(), constraints, onsets);
            law.flow = problem.flow();
            let own = law.fastest_bounce(constraints, onsets, problem.velocities());
            fastest = problem.largest(own);
        }
        if fastest == 0.0 {
            sweep_until(precise, allowance.end, &mut done, &mut problem);
        }
        unsettled = if has_settled { 0.0 } else { done.residual / speed };
        book(&problem);
        problem.settle_cell();
    }
    let fraction = if fastest > 0.0 { 1.0 } else { unsettled };
    Impacts { residual: done.residual.max(fastest), fraction, ..done }
}

/// Sweeps that an impact stage may take \[E6\]: a block, and where bounces keep their energy more blocks, for as long as the stage settles.
struct Allowance {
    /// Sweeps of a block.
    block: u32,
    /// Sweeps at the end of the present block.
    end: u32,
    /// Sweeps at the end of the last block.
    most: u32,
    /// Residual at the end of the block before \[m/s\]; infinite in the first block that ends in a round.
    residual: f64,
}

impl Allowance {
    fn of(settings: &Settings, world: &World) -> Allowance {
        let block = settings.impact_iterations;
        Allowance { block, end: block, most: most_impact_sweeps(settings, world), residual: f64::INFINITY }
    }

    /// Whether a round may begin after this number of sweeps. The rounds before it have settled, so the next block may follow.
    fn begins_round(&mut self, sweeps: u32) -> bool {
        self.residual = f64::INFINITY;
        sweeps < self.end || self.extend()
    }

    /// Whether the sweeps of a round go on: in their block, or in the next one if they settle.
    fn goes_on(&mut self, done: &Impacts) -> bool {
        if done.sweeps < self.end {
            return true;
        }
        let settles = done.residual <= IMPACT_GAIN * self.residual;
        self.residual = done.residual;
        settles && self.extend()
    }

    /// Adds a block, if there is one left.
    fn extend(&mut self) -> bool {
        let is_left = self.end < self.most;
        self.end += if is_left { self.block } else { 0 };
        is_left
    }
}

impl Restitution<'_> {
    /// Largest closing speed of a contact that bounces \[m/s\]; 0 where none does.
    fn fastest_bounce(&self, constraints: &[Constraint], onsets: &[Onset], velocities: &[Velocity]) -> f64 {
        let speed = |(constraint, onset): (&Constraint, &Onset)| {
            if onset.position_target == FAR {
                return 0.0;
            }
            let speed = -self.closing(constraint, velocities);
            // The speed is tested first: few contacts are above the threshold, so the role is found for few.
            let bounces = speed > self.threshold
                && matches!(self.role(constraint, onset, velocities), ImpactRole::Bounces(_));
            if bounces { speed } else { 0.0 }
        };
        constraints.par_iter().zip(onsets).with_min_len(CHUNK).map(speed).reduce(|| 0.0, f64::max)
    }

    fn role(&self, constraint: &Constraint, onset: &Onset, velocities: &[Velocity]) -> ImpactRole {
        let reach = TOUCH_TOLERANCE * constraint.arm_a.length();
        let (before, gained) = (self.closing(constraint, velocities), self.gained(constraint, velocities));
        // At the impact half of the speed that the substep gives has been gained; the rest comes after it [E6].
        let rebound = -onset.restitution * (before + 0.5 * gained) - 0.5 * gained;
        let end = before + gained;
        if before < -self.threshold && onset.gap + self.settings.substep() * end.min(0.0) <= reach {
            ImpactRole::Bounces(rebound)
        } else if onset.gap <= reach {
            ImpactRole::Touches(if end > 0.0 { rebound } else { 0.0 })
        } else {
            ImpactRole::Absent
        }
    }

    /// Velocity along the normal, negative where the contact closes \[m/s\].
    fn closing(&self, constraint: &Constraint, velocities: &[Velocity]) -> f64 {
        let [a, b] = constraint.bodies.map(|body| &velocities[body as usize]);
        self.flow.contact_velocity(constraint, a, b).dot(constraint.normal)
    }

    /// Parting speed that gravity and applied forces give the bodies of a contact in the substep without contacts \[m/s\].
    fn gained(&self, constraint: &Constraint, velocities: &[Velocity]) -> f64 {
        let [a, b] =
            constraint.bodies.map(|body| velocities[body as usize].pulled(&self.pull, body as usize));
        self.settings.substep() * constraint.normal.dot(a - b)
    }
}

/// Colouring and constraints of the contacts that take part, tile by tile and colour by colour. All overflow contacts take part, as each
/// body is split among all of its overflow contacts.
fn taking_part(
    colouring: &Colouring,
    constraints: &[Constraint],
    onsets: &[Onset],
    role: impl Fn(&Constraint, &Onset) -> ImpactRole + Sync,
) -> (Colouring, Vec<Constraint>) {
    let role_of = |constraint: usize| role(&constraints[constraint], &onsets[constraint]);
    let mut impacts = Vec::with_capacity(constraints.len());
    let mut take = |starts: &[u32]| {
        let mut new_starts = Vec::with_capacity(starts.len());
        for bounds in starts.windows(2) {
            new_starts.push(impacts.len() as u32);
            let of_part = (bounds[0]..bounds[1]).into_par_iter().with_min_len(CHUNK);
            // Indices and roles are filtered, not constraints: a parallel filter collects its results in pieces, which take memory beside
            // the whole list.
            let with_role = of_part.map(|constraint| (constraint, role_of(constraint as usize)));
            let touching: Vec<(u32, ImpactRole)> =
                with_role.filter(|(_, role)| *role != ImpactRole::Absent).collect();
            impacts.par_extend(
                touching
                    .par_iter()
                    .map(|&(constraint, role)| impact_constraint(&constraints[constraint as usize], role)),
            );
        }
        if !starts.is_empty() {
            new_starts.push(impacts.len() as u32);
        }
        new_starts
    };
    let (tiles, starts) = (take(&colouring.tiles), take(&colouring.starts));
    let overflow = (colouring.overflow_start()..constraints.len()).into_par_iter();
    impacts.par_extend(
        overflow.map(|constraint| impact_constraint(&constraints[constraint], role_of(constraint))),
    );
    (Colouring { order: Vec::new(), tiles, starts, overflow: colouring.overflow }, impacts)
}

/// Constraint of the impact stage: rigid, without cohesion, with an impulse of zero at the start.
fn impact_constraint(constraint: &Constraint, role: ImpactRole) -> Constraint {
    let rigid = times_d(1.0, constraint.effective_mass[0]) - constraint.compliance;
    Constraint {
        impulse: Impulse::default(),
        compliance: 0.0,
        cohesion: 0.0,
        effective_mass: [
            if rigid > 0.0 { 1.0 / rigid } else { 0.0 },
            constraint.effective_mass[1],
            constraint.effective_mass[2],
        ],
        bias: match role {
            ImpactRole::Bounces(speed) | ImpactRole::Touches(speed) => speed,
            ImpactRole::Absent => FAR,
        },
        ..*constraint
    }
}
