//! Contact problem of a substep: the input of a solver.
//!
//! A solver works on several contacts at once, each of which writes the velocities of its two bodies. That is sound where no two of them
//! share a dynamic body. [`ContactProblem::new`] proves it for the contacts of every colour and for tiles, and it proves that an overflow
//! contact which writes a body at once is the only overflow contact of that body. So all unsafe code of the solver relies on this check: in
//! this file, in [`split`](super::split) and in `sweep/wide.rs`.

use rayon::prelude::*;

use crate::model::World;

use super::bonds::BondSystem;
use super::constraint::Constraint;
use super::coupling::Coupling;
use super::disjoint::{BodySet, Disjoint, parts};
use super::flow::{CellMotion, Flow, InFlow};
use super::joints::Joints;
use super::pass::Visit;
use super::split::Split;
use super::tasks::SWEEP_CHUNK;
use super::velocity::Velocity;
use super::{Colouring, Impulse, Overflow};

/// The contact problem of a substep.
pub struct ContactProblem<'a> {
    colouring: &'a Colouring,
    split: &'a mut Split,
    constraints: &'a mut [Constraint],
    velocities: &'a mut [Velocity],
    joints: &'a mut Joints,
    bonds: Option<&'a mut BondSystem>,
    world: Option<&'a World>,
    cell: Option<&'a mut CellMotion>,
    coupling: Option<&'a mut dyn Coupling>,
    waker: Option<&'a mut Waker<'a>>,
}

/// Finds the contacts without a touch that may get one at these velocities: their places and their constraints.
pub(crate) type Waker<'a> = dyn FnMut(&[Velocity]) -> Vec<(u32, Constraint)> + 'a;

impl<'a> ContactProblem<'a> {
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
    ) -> ContactProblem<'a> {
        let dynamic = BodySet::dynamic(velocities);
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
        unsafe { ContactProblem::checked(colouring, split, constraints, velocities, joints) }
    }

    /// Makes the problem without the checks of [`ContactProblem::new`], which take some 6 % of a smooth step.
    ///
    /// # Safety
    /// `new` has accepted this colouring, split, bodies of constraints and number of velocities, and no body has become dynamic since.
    pub(crate) unsafe fn checked(
        colouring: &'a Colouring,
        split: &'a mut Split,
        constraints: &'a mut [Constraint],
        velocities: &'a mut [Velocity],
        joints: &'a mut Joints,
    ) -> ContactProblem<'a> {
        ContactProblem {
            colouring,
            split,
            constraints,
            velocities,
            joints,
            bonds: None,
            world: None,
            cell: None,
            coupling: None,
            waker: None,
        }
    }

    /// Adds the world with the positions of the bodies, which coarse corrections need.
    #[must_use]
    pub fn in_world(self, world: &'a World) -> ContactProblem<'a> {
        ContactProblem { world: Some(world), ..self }
    }

    /// Adds the bonds of the substep.
    #[must_use]
    pub fn bonded(self, bonds: &'a mut BondSystem) -> ContactProblem<'a> {
        ContactProblem { bonds: Some(bonds), ..self }
    }

    /// Adds the motion of the deforming cell that the contacts are in.
    #[must_use]
    pub(crate) fn in_cell(self, cell: Option<&'a mut CellMotion>) -> ContactProblem<'a> {
        ContactProblem { cell, ..self }
    }

    /// Flow of the cell.
    pub(crate) fn flow(&self) -> Flow {
        self.cell.as_ref().map_or(Flow::default(), |cell| cell.flow())
    }

    /// Keeps what the impulses so far did to the motion of the cell: they are followed by others.
    pub(crate) fn settle_cell(&mut self) {
        if let Some(cell) = &mut self.cell {
            cell.settle();
        }
    }

    /// Adds the coupling of this part of a scene with others, by which velocities are exchanged.
    #[must_use]
    pub fn coupled(self, coupling: &'a mut dyn Coupling) -> ContactProblem<'a> {
        ContactProblem { coupling: Some(coupling), ..self }
    }

    /// Adds what finds the constraints of contacts that take part only once bodies move faster. Overflow contacts are not among them.
    #[must_use]
    pub(crate) fn woken_by(self, waker: &'a mut Waker<'a>) -> ContactProblem<'a> {
        ContactProblem { waker: Some(waker), ..self }
    }

    /// Lets contacts take part that may close at the present velocities.
    pub(crate) fn wake(&mut self) {
        let Some(waker) = &mut self.waker else { return };
        let overflow = self.colouring.overflow_start();
        for (place, woken) in waker(self.velocities) {
            let constraint = &mut self.constraints[..overflow][place as usize];
            assert_eq!(constraint.bodies, woken.bodies, "a contact keeps its bodies");
            *constraint = woken;
        }
    }

    /// Gives copies of bodies of other parts the velocities of these bodies.
    pub fn exchange(&mut self) {
        if let Some(coupling) = &mut self.coupling {
            coupling.exchange(self.velocities);
        }
    }

    /// Largest of a value over all parts of the scene.
    pub(crate) fn largest(&mut self, value: f64) -> f64 {
        self.coupling.as_mut().map_or(value, |coupling| coupling.largest(value))
    }

    /// Contacts that are counted here, and not in another part.
    pub(crate) fn counted(&self) -> &[Constraint] {
        let contacts = self.constraints.len();
        &self.constraints[..self.coupling.as_ref().map_or(contacts, |coupling| coupling.counted(contacts))]
    }

    /// Whether this part counts a body, for several threads.
    pub(crate) fn counting(&self) -> impl Fn(usize) -> bool + Sync {
        let counts = self.coupling.as_ref().map(|coupling| coupling.counting());
        move |body| counts.as_ref().is_none_or(|counts| counts(body))
    }

    /// Whether what all parts have in common is counted here.
    pub(crate) fn is_first(&self) -> bool {
        self.coupling.as_ref().is_none_or(|coupling| coupling.is_first())
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
    pub(crate) fn prepare(&mut self) {
        self.split.prepare(&self.constraints[self.colouring.overflow_start()..], self.velocities);
    }

    /// Joints of the substep.
    pub fn joints(&self) -> &Joints {
        self.joints
    }

    /// Solves the joints, then the bonds, then the motion of the cell, with all contacts held fixed; returns the largest velocity error of
    /// a row of joints or bonds before the solve \[m/s, rad/s\].
    pub(crate) fn solve_joints(&mut self) -> f64 {
        if let Some(cell) = &mut self.cell {
            cell.follow(self.constraints);
        }
        let of_joints = self.joints.solve(self.velocities);
        self.bonds.as_mut().map_or(of_joints, |bonds| of_joints.max(bonds.solve(self.velocities)))
    }

    /// Calls `push` with the contacts and the velocities, which it changes.
    pub(crate) fn push(&mut self, push: impl FnOnce(&[Constraint], &mut [Velocity])) {
        push(self.constraints, self.velocities);
    }

    /// Extrapolates the impulses of joints and bonds by a factor, and calls `extrapolate` to do the same with the velocities \[E12\].
    pub(crate) fn extrapolate(&mut self, factor: f64, extrapolate: impl FnOnce(&mut [Velocity])) {
        self.joints.extrapolate(factor);
        if let Some(cell) = &mut self.cell {
            cell.extrapolate(factor);
        }
        if let Some(bonds) = &mut self.bonds {
            bonds.extrapolate(factor);
        }
        extrapolate(self.velocities);
    }

    /// Visits all constraints: all tiles at once, then colour by colour, then the overflow contacts. Returns the largest value that `visit`
    /// returned. Constraints of a colour share no dynamic body, nor do those of two tiles, so their order has no effect.
    pub(crate) fn visit(&mut self, visit: &impl Visit) -> f64 {
        match self.cell.as_ref().map(|cell| cell.flow()) {
            Some(flow) => self.visit_all(&InFlow { visit, flow }),
            None => self.visit_all(visit),
        }
    }

    fn visit_all(&mut self, visit: &impl Visit) -> f64 {
        let ContactProblem { colouring, split, constraints, velocities, coupling, .. } = self;
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
            largest = largest.max(if of_colour.len() <= SWEEP_CHUNK {
                visit_all(of_colour)
            } else {
                of_colour.par_chunks_mut(SWEEP_CHUNK).map(visit_all).reduce(|| 0.0, f64::max)
            });
        }
        if let Some(coupling) = coupling {
            coupling.exchange(velocities);
        }
        let overflow = &mut constraints[colouring.overflow_start()..];
        // SAFETY: the contacts are visited one at a time; or the bodies are split for these contacts, as `new` has checked.
        largest.max(unsafe {
            match colouring.overflow {
                Overflow::Split => split.visit_overflow(overflow, velocities, visit, coupling.as_deref_mut()),
                Overflow::OneByOne => split.visit_constraints(overflow, &Disjoint::new(velocities), visit),
            }
        })
    }
}

impl ContactProblem<'_> {
    /// Lets every contact add to the sums of its free bodies. `sums` has one value per body; `add` gets `None` for a body that is not free.
    /// The sums are made in solving order, so their bits do not depend on the threads.
    pub(crate) fn gather<T: Send>(
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

impl ContactProblem<'_> {
    /// Calls `of_contact` for every contact with its value in a list, which has one value per contact. Returns the sums of what
    /// `of_contact` returns, made task by task, so that their bits do not depend on the threads.
    pub(crate) fn beside<T: Send, const N: usize>(
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
    pub(crate) fn aim<T: Sync>(&mut self, list: &[T], target: impl Fn(&Constraint, &T) -> Impulse + Sync) {
        let contacts = self.constraints.par_iter_mut().zip(list).with_min_len(GATHER_CHUNK);
        contacts.for_each(|(constraint, beside)| constraint.last_impulse = target(constraint, beside));
    }

    /// Relative change of all linear impulses against `last_impulse`, √(Σ |Δλ|² / Σ |λ|²) \[-\].
    pub(crate) fn change_of_impulses(&mut self) -> f64 {
        let mut nothing = vec![(); self.counted().len()];
        let sums = self.beside(&mut nothing, |Constraint { impulse, last_impulse, .. }, _, ()| {
            [linear_square(&impulse.less(last_impulse)), linear_square(impulse)]
        });
        let [change, size] = self.coupling.as_mut().map_or(sums, |coupling| coupling.sums(sums));
        relative(change, size)
    }
}

/// Square of the linear impulse, |λ|² \[N² s²\]; without rolling.
pub(crate) fn linear_square(impulse: &Impulse) -> f64 {
    impulse.normal * impulse.normal + impulse.tangent.length_squared()
}

/// Root of the ratio of two sums of squares; 0 where both are 0.
pub(crate) fn relative(change: f64, size: f64) -> f64 {
    if change > 0.0 { (change / size).sqrt() } else { 0.0 }
}

/// Contacts handled by one task of a sum.
const GATHER_CHUNK: usize = 1024;

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::super::pass::{Give, Push};
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
            ContactProblem::new(&colouring, &mut split, &mut constraints, &mut velocities, &mut joints);
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

    /// Threads write the bodies of tiles and colours at once: with Miri this test also proves that no two of them write the same one.
    #[test]
    fn a_pass_over_tiles_colours_and_others_reaches_every_contact_once() {
        let bodies = [[1, 2], [2, 3], [4, 5], [4, 6], [1, 0], [3, 4], [5, 6], [2, 4], [4, 6]];
        let mut constraints: Vec<Constraint> =
            bodies.iter().map(|&bodies| Constraint { bodies, ..Constraint::default() }).collect();
        let mut velocities: Vec<Velocity> = (0..7).map(|i| body(f64::from(u8::from(i > 0)))).collect();
        // Two tiles, two colours, and two contacts without a colour.
        let colouring = Colouring {
            order: (0..9).collect(),
            tiles: vec![0, 2, 4],
            starts: vec![4, 6, 7],
            overflow: Overflow::OneByOne,
        };
        let (mut split, mut joints) = (Split::default(), Joints::default());
        let mut problem =
            ContactProblem::new(&colouring, &mut split, &mut constraints, &mut velocities, &mut joints);
        problem.visit(&Give(|_: &mut Constraint| Some(Push { linear: DVec3::X, rolling: DVec3::ZERO })));
        let mut met = vec![0; 7];
        problem.gather(&mut met, |_, _, sums| sums.into_iter().flatten().for_each(|sum| *sum += 1));
        let times = |side: usize, of: u32| bodies.iter().filter(|bodies| bodies[side] == of).count() as f64;
        for of in 1..7 {
            let found = problem.velocities()[of as usize].linear;
            assert_eq!(found, DVec3::new(times(0, of) - times(1, of), 0.0, 0.0), "body {of}");
            assert_eq!(f64::from(met[of as usize]), times(0, of) + times(1, of), "contacts of body {of}");
        }
        assert_eq!((problem.velocities()[0].linear, met[0]), (DVec3::ZERO, 0), "a wall is never written");
    }
}
