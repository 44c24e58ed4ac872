//! Bonds \[E20\]: six compliant rows each, solved together with the impulses of all contacts and joints held fixed.
//!
//! The rows of all bonds are a linear system without bounds, (G M⁻¹ Gᵀ + Σ) λ = q - G v. Stiff bonds couple all bodies of a block within a
//! substep, which sweeps over single bonds would take a number of passes for that grows with the fourth power of the length of a slender
//! block. Conjugate gradients take the square root of that, need no matrix, and every iterate takes energy out of the error, so a solve may
//! end early. Bodies add up what their bonds do to them in the order of the bonds, so the bits do not depend on the number of threads.

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use crate::law::bond::BeamLoad;
use crate::model::bond::{BondForce, BondPose, BondState};
use crate::model::{Bond, World};
use crate::settings::{BOND_DAMPING_STEPS, BOND_ITERATIONS, BOND_TOLERANCE};

use super::velocity::{InverseMass, Velocity};

/// Bonds and bodies handled by one task.
const CHUNK: usize = 128;
/// Roundings of the velocity of a row below which its residual is not solved for \[-\].
const ROUNDING: f64 = 4e-15;
/// Iterations by which the estimate of the error lags behind.
const DELAY: usize = 4;
/// Growth of the square of the residuals since the last solve up to which contacts have changed nothing.
const UNCHANGED: f64 = 1.5;
/// Place of a body that impulses do not move.
const NONE: u32 = u32::MAX;

/// Value per row of a bond, or a vector and its moment: three shifts or forces, three turns or moments.
type Six = [DVec3; 2];

fn dot(a: &Six, b: &Six) -> f64 {
    a[0].dot(b[0]) + a[1].dot(b[1])
}

fn each(a: &Six, b: &Six, of: impl Fn(DVec3, DVec3) -> DVec3) -> Six {
    [of(a[0], b[0]), of(a[1], b[1])]
}

/// Rows of a bond in a substep, in the axes of its beam.
#[derive(Debug, Clone, Copy)]
struct BondRows {
    bodies: [u32; 2],
    /// Places of the bodies among those that bonds move; [`NONE`] for others.
    places: [u32; 2],
    /// Axes of the beam.
    axes: DMat3,
    /// Arms: vectors from the centres of the bodies to the middle of the beam \[m\].
    arms: [DVec3; 2],
    /// Compliance Σ \[1/kg, 1/(kg m²)\].
    compliance: Six,
    /// Bias velocity q \[m/s, rad/s\].
    bias: Six,
    /// Effective mass 1/(D + Σ) \[kg, kg m²\], with D the diagonal of G M⁻¹ Gᵀ.
    effective_mass: Six,
    /// Impulse λ on the second body \[N s, N m s\].
    impulse: Six,
    /// Impulse λ after the last sweep.
    last: Six,
}

impl BondRows {
    /// Velocity of the rows, u = G v, for these velocities and angular velocities of both bodies \[m/s, rad/s\].
    fn speed(&self, [a, b]: [Six; 2]) -> Six {
        let at = |velocity: Six, arm: DVec3| velocity[0] + velocity[1].cross(arm);
        let back = self.axes.transpose();
        [back * (at(b, self.arms[1]) - at(a, self.arms[0])), back * (b[1] - a[1])]
    }

    /// Impulse and angular impulse Gᵀ λ on one of its bodies by an impulse of the rows \[N s, N m s\].
    fn on_body(&self, side: usize, impulse: &Six) -> Six {
        let sign = if side == 0 { -1.0 } else { 1.0 };
        let (push, twist) = (sign * (self.axes * impulse[0]), sign * (self.axes * impulse[1]));
        [push, self.arms[side].cross(push) + twist]
    }

    /// Residual q - u - Σ λ at this velocity of the rows.
    fn residual(&self, speed: &Six) -> Six {
        let yielding = each(&self.compliance, &self.impulse, |compliance, impulse| compliance * impulse);
        [self.bias[0] - speed[0] - yielding[0], self.bias[1] - speed[1] - yielding[1]]
    }
}

/// Body that bonds move.
#[derive(Debug, Clone, Copy)]
struct BondedBody {
    body: u32,
    inverse: InverseMass,
    /// Change of its velocity and angular velocity by the solve so far.
    change: Six,
    /// Change by a unit of the direction of the search.
    response: Six,
}

/// BondIterate of the conjugate gradients at one bond.
#[derive(Debug, Clone, Copy, Default)]
struct BondIterate {
    residual: Six,
    direction: Six,
    /// Image of the direction, (G M⁻¹ Gᵀ + Σ) p.
    image: Six,
}

/// Rows of all bonds that hold, in a substep; its lists are kept from substep to substep.
#[derive(Debug, Clone, Default)]
pub struct BondSystem {
    /// Indices of the bonds, ascending.
    intact: Vec<u32>,
    rows: Vec<BondRows>,
    iterates: Vec<BondIterate>,
    bodies: Vec<BondedBody>,
    /// Start of each body in `ends`.
    starts: Vec<u32>,
    /// Ends of bonds at the bodies: twice the place of the bond, plus its side.
    ends: Vec<u32>,
    /// Square of the residuals that the last solve of this substep left \[J\]; `None` before the first.
    left: Option<f64>,
}

impl BondSystem {
    /// Whether no bond holds.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Bytes of the lists for this many bonds, of which each moves a body more: in a packing there are fewer bodies, in a chain as many.
    pub fn planned_bytes(bonds: u64) -> u64 {
        let per_bond = size_of::<BondRows>() + size_of::<BondIterate>() + 3 * size_of::<u32>();
        bonds * (per_bond + size_of::<BondedBody>() + size_of::<u32>()) as u64
    }

    /// Bytes that the lists hold.
    pub fn bytes(&self) -> u64 {
        let per_bond = self.intact.capacity() * size_of::<u32>()
            + self.rows.capacity() * size_of::<BondRows>()
            + self.iterates.capacity() * size_of::<BondIterate>()
            + self.ends.capacity() * size_of::<u32>();
        (per_bond
            + self.bodies.capacity() * size_of::<BondedBody>()
            + self.starts.capacity() * size_of::<u32>()) as u64
    }

    /// Makes the rows of a substep of `h` \[s\] as of an implicit rule, with the impulses of the last substep. `velocities` are those
    /// before the external forces; the impulses are not applied to them yet.
    pub fn start(&mut self, world: &World, h: f64, velocities: &[Velocity]) {
        self.place(world, velocities, |bond, state, rows, [shift, turn]| {
            let (stiffness, law) = (world.bonds.stiffness(bond), world.bonds.law(bond));
            let speed = rows.speed(rows.bodies.map(|body| motion(&velocities[body as usize])));
            let diagonals = rows.effective_mass.map(|mass| mass.recip());
            let held = [(stiffness.shift, shift), (stiffness.turn, turn)];
            for (kind, (stiffness, off)) in held.into_iter().enumerate() {
                let damping_time = damping_times(law, stiffness, diagonals[kind]);
                let least = DVec3::splat(BOND_DAMPING_STEPS * h);
                let upsilon = (1.0 + 4.0 / h * damping_time.max(least)).recip();
                rows.compliance[kind] = 4.0 * upsilon / (h * h * stiffness);
                rows.bias[kind] = upsilon * (speed[kind] - 4.0 / h * off);
                rows.effective_mass[kind] = (diagonals[kind] + rows.compliance[kind]).recip();
            }
            rows.impulse = [h * state.load.force, h * state.load.moment];
        });
        self.left = None;
    }

    /// Makes the rows of a smooth substep of `h` \[s\]: their impulses are those of springs and dampers in the present state, and apply as
    /// they are \[E13\].
    pub fn stretch(&mut self, world: &World, h: f64, velocities: &[Velocity]) {
        self.place(world, velocities, |bond, _, rows, off| {
            let (stiffness, law) = (world.bonds.stiffness(bond), world.bonds.law(bond));
            let speed = rows.speed(rows.bodies.map(|body| motion(&velocities[body as usize])));
            for (kind, stiffness) in [stiffness.shift, stiffness.turn].into_iter().enumerate() {
                let damping_time = damping_times(law, stiffness, rows.effective_mass[kind].recip());
                rows.impulse[kind] = -h * stiffness * (off[kind] + damping_time * speed[kind]);
            }
        });
    }

    /// Places all bonds that hold; `of` completes the rows of a bond, whose effective mass is 1/D so far, from its shift and turn.
    fn place(
        &mut self,
        world: &World,
        velocities: &[Velocity],
        of: impl Fn(&Bond, &BondState, &mut BondRows, Six) + Sync,
    ) {
        if world.bonds.is_empty() {
            return;
        }
        self.find_bodies(world, velocities);
        let BondSystem { intact, rows, bodies, .. } = self;
        bodies.par_iter_mut().with_min_len(CHUNK).for_each(|bonded| {
            let body = bonded.body as usize;
            bonded.inverse = InverseMass::of(world, body, &velocities[body]);
        });
        let bodies = &*bodies;
        intact.par_iter().zip(rows).with_min_len(CHUNK).for_each(|(&bond, rows)| {
            let (bond, state) = (&world.bonds.list[bond as usize], &world.bonds.states[bond as usize]);
            let BondPose { axes, arms, shift, turn } = world.placed_bond(bond);
            let diagonal = |axis: DVec3| {
                let of = |side: usize| {
                    let Some(bonded) = bodies.get(rows.places[side] as usize) else { return [0.0; 2] };
                    let InverseMass { linear, angular, .. } = bonded.inverse;
                    let lever = arms[side].cross(axis);
                    [axis.dot(linear * axis) + lever.dot(angular * lever), axis.dot(angular * axis)]
                };
                let [a, b] = [of(0), of(1)];
                [a[0] + b[0], a[1] + b[1]]
            };
            let [x, y, z] = [axes.x_axis, axes.y_axis, axes.z_axis].map(diagonal);
            let diagonals = [0, 1].map(|kind: usize| DVec3::new(x[kind], y[kind], z[kind]));
            let BondRows { bodies, places, .. } = *rows;
            *rows = BondRows { bodies, places, axes, arms, ..NO_ROWS };
            rows.effective_mass = diagonals.map(DVec3::recip);
            of(bond, state, rows, [shift, turn]);
        });
    }

    /// Finds the bonds that hold, and the bodies that they move, if they are others than before.
    fn find_bodies(&mut self, world: &World, velocities: &[Velocity]) {
        let intact = world.bonds.intact().map(|bond| bond as u32);
        if intact.clone().eq(self.intact.iter().copied()) {
            return;
        }
        self.intact = intact.collect();
        let bonds = || self.intact.iter().map(|&bond| &world.bonds.list[bond as usize]);
        let mut moved: Vec<u32> = bonds().flat_map(|bond| bond.bodies).collect();
        moved.retain(|&body| velocities[body as usize].is_free());
        moved.sort_unstable();
        moved.dedup();
        let place = |body: u32| moved.binary_search(&body).map_or(NONE, |place| place as u32);
        self.rows = bonds()
            .map(|bond| BondRows { bodies: bond.bodies, places: bond.bodies.map(place), ..NO_ROWS })
            .collect();
        let mut ends: Vec<(u32, u32)> = (0..)
            .zip(&self.rows)
            .flat_map(|(bond, rows)| [(rows.places[0], 2 * bond), (rows.places[1], 2 * bond + 1)])
            .filter(|(place, _)| *place != NONE)
            .collect();
        ends.sort_unstable();
        self.starts = (0..=moved.len())
            .map(|place| ends.partition_point(|(of, _)| (*of as usize) < place) as u32)
            .collect();
        self.ends = ends.into_iter().map(|(_, end)| end).collect();
        self.bodies = moved.into_iter().map(|body| BondedBody { body, ..NO_BODY }).collect();
        self.iterates = vec![BondIterate::default(); self.rows.len()];
    }

    /// Applies the impulses to the velocities: v ← v + M⁻¹ Gᵀ λ.
    pub fn push(&mut self, velocities: &mut [Velocity]) {
        let BondSystem { rows, bodies, starts, ends, .. } = self;
        respond(bodies, starts, ends, |bond, side| rows[bond].on_body(side, &rows[bond].impulse));
        for bonded in bodies {
            bonded.change = bonded.response;
            bonded.apply(velocities);
        }
    }

    /// Solves for the impulses, with those of all contacts and joints held fixed, from the present ones. Returns the largest error of the
    /// velocity of a row before the solve \[m/s, rad/s\].
    pub fn solve(&mut self, velocities: &mut [Velocity]) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let SolveStart { square, noise, largest } = self.first_direction(velocities);
        let follows = usize::from(self.left.is_some());
        if square <= noise.max(UNCHANGED * self.left.unwrap_or(0.0)) {
            self.left = Some(square);
            return largest;
        }
        self.bodies.iter_mut().for_each(|bonded| bonded.change = [DVec3::ZERO; 2]);
        let (most, tolerance) = (BOND_ITERATIONS[follows], BOND_TOLERANCE[follows]);
        let mut at = BondIteration { square, gain: 0.0, held: 0.0 };
        // The last gains estimate the energy of the error before them (Hestenes & Stiefel 1952).
        let mut gains = [f64::INFINITY; DELAY];
        for iteration in 0..most as usize {
            at = self.iterate(at.square);
            gains[iteration % DELAY] = at.gain;
            if at.square <= noise || gains.iter().sum::<f64>() <= tolerance * tolerance * at.held {
                break;
            }
        }
        self.left = Some(at.square);
        self.bodies.iter().for_each(|bonded| bonded.apply(velocities));
        largest
    }

    /// Sets residuals and directions at the present velocities and impulses.
    fn first_direction(&mut self, velocities: &[Velocity]) -> SolveStart {
        let BondSystem { rows, iterates, .. } = self;
        let of = |(rows, iterate): (&BondRows, &mut BondIterate)| {
            let both = rows.bodies.map(|body| motion(&velocities[body as usize]));
            let speed = rows.speed(both);
            let residual = rows.residual(&speed);
            let direction = each(&rows.effective_mass, &residual, |mass, residual| mass * residual);
            *iterate = BondIterate { residual, direction, image: [DVec3::ZERO; 2] };
            let square = dot(&residual, &direction);
            let size = |side: usize| {
                both[side][0].abs().element_sum() + both[side][1].length() * rows.arms[side].length()
            };
            let turning = both[0][1].length() + both[1][1].length();
            let rounding = [size(0) + size(1), turning].map(|size| DVec3::splat(ROUNDING * size));
            let noise = each(&rows.effective_mass, &rounding, |mass, size| mass * size);
            let largest = residual[0].abs().max_element().max(residual[1].abs().max_element());
            SolveStart { square, noise: dot(&noise, &rounding), largest }
        };
        let chunks = rows.par_chunks(CHUNK).zip(iterates.par_chunks_mut(CHUNK));
        let starts: Vec<SolveStart> = chunks
            .map(|(rows, iterates)| rows.iter().zip(iterates).map(of).fold(SolveStart::NONE, SolveStart::and))
            .collect();
        starts.into_iter().fold(SolveStart::NONE, SolveStart::and)
    }

    /// Goes along the directions to the minimum, and finds the next directions. Takes the square of the residuals \[J\].
    fn iterate(&mut self, square: f64) -> BondIteration {
        let BondSystem { rows, iterates, bodies, starts, ends, .. } = self;
        let directions = &*iterates;
        respond(bodies, starts, ends, |bond, side| rows[bond].on_body(side, &directions[bond].direction));
        let responses = &*bodies;
        let of_body =
            |place: u32| responses.get(place as usize).map_or([DVec3::ZERO; 2], |bonded| bonded.response);
        let image = |(rows, iterate): (&BondRows, &mut BondIterate)| {
            let [shift, turn] = rows.speed(rows.places.map(of_body));
            let yielding =
                each(&rows.compliance, &iterate.direction, |compliance, direction| compliance * direction);
            iterate.image = [shift + yielding[0], turn + yielding[1]];
            dot(&iterate.direction, &iterate.image)
        };
        let length = square / sum(rows, iterates, image);
        let go = |bonded: &mut BondedBody| {
            bonded.change =
                each(&bonded.change, &bonded.response, |change, response| change + length * response);
        };
        bodies.par_iter_mut().with_min_len(CHUNK).for_each(go);
        let step = |(rows, iterate): (&mut BondRows, &mut BondIterate)| {
            rows.impulse = each(&rows.impulse, &iterate.direction, |impulse, way| impulse + length * way);
            iterate.residual =
                each(&iterate.residual, &iterate.image, |residual, image| residual - length * image);
            let held = each(&rows.compliance, &rows.impulse, |compliance, impulse| compliance * impulse);
            [rows.square_of_residual(&iterate.residual), dot(&rows.impulse, &held)]
        };
        let add = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
        let chunks = rows.par_chunks_mut(CHUNK).zip(iterates.par_chunks_mut(CHUNK));
        let sums: Vec<[f64; 2]> = chunks
            .map(|(rows, iterates)| rows.iter_mut().zip(iterates).map(step).fold([0.0; 2], add))
            .collect();
        let [next, held] = sums.into_iter().fold([0.0; 2], add);
        let share = next / square;
        let turn = |(rows, iterate): (&BondRows, &mut BondIterate)| {
            let steepest = each(&rows.effective_mass, &iterate.residual, |mass, residual| mass * residual);
            iterate.direction =
                each(&steepest, &iterate.direction, |steepest, before| steepest + share * before);
        };
        rows.par_iter().zip(iterates).with_min_len(CHUNK).for_each(turn);
        BondIteration { square: next, gain: length * square, held }
    }

    /// Extrapolates the impulses by a share of their change in the last sweep \[E12\].
    pub(crate) fn extrapolate(&mut self, share: f64) {
        for rows in &mut self.rows {
            let before = std::mem::replace(&mut rows.last, rows.impulse);
            if share > 0.0 {
                rows.impulse = each(&rows.last, &before, |last, before| last + share * (last - before));
            }
        }
    }

    /// Stores the loads of the bonds in a substep of length `h` \[s\].
    pub fn keep(&self, h: f64, world: &mut World) {
        for (&bond, rows) in self.intact.iter().zip(&self.rows) {
            let [force, moment] = rows.impulse.map(|impulse| impulse / h);
            world.bonds.states[bond as usize].load = BeamLoad { force, moment };
        }
    }

    /// Impulses of the bonds in the substep \[N s, N m s\].
    pub fn impulses(&self) -> impl Iterator<Item = BondForce> + '_ {
        self.rows.iter().map(|rows| {
            let [force, moment] = rows.impulse.map(|impulse| rows.axes * impulse);
            BondForce { bodies: rows.bodies, arms: rows.arms, force, moment }
        })
    }

    /// Works of the bonds at the mean of the velocities before and after \[J\]: on both bodies alike, and the part of it that bodies and
    /// axes take which impulses do not move.
    pub fn works(&self, before: &[Velocity], after: &[Velocity]) -> [f64; 2] {
        let of = |rows: &BondRows| {
            let speeds = |part: fn(&Velocity) -> Six| {
                let mean = |body: u32| {
                    let [before, after] = [before, after].map(|all| part(&all[body as usize]));
                    each(&before, &after, |before, after| 0.5 * (before + after))
                };
                rows.speed(rows.bodies.map(mean))
            };
            [dot(&rows.impulse, &speeds(motion)), dot(&rows.impulse, &speeds(held_motion))]
        };
        let add = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
        let sums: Vec<[f64; 2]> =
            self.rows.par_chunks(CHUNK).map(|rows| rows.iter().map(of).fold([0.0; 2], add)).collect();
        sums.into_iter().fold([0.0; 2], add)
    }
}

impl BondRows {
    /// Square of a residual in units of 1/(D + Σ) \[J\].
    fn square_of_residual(&self, residual: &Six) -> f64 {
        dot(residual, &each(&self.effective_mass, residual, |mass, residual| mass * residual))
    }
}

impl BondedBody {
    /// Adds the change of this solve to the velocity.
    fn apply(&self, velocities: &mut [Velocity]) {
        let velocity = &mut velocities[self.body as usize];
        velocity.linear += self.change[0];
        velocity.angular += self.change[1];
    }
}

/// Result of an iteration, summed over the rows.
#[derive(Debug, Clone, Copy)]
struct BondIteration {
    /// Square of the residuals in units of 1/(D + Σ) \[J\].
    square: f64,
    /// Energy that the iteration took out of the error \[J\].
    gain: f64,
    /// λ Σ λ, some times the elastic energy that bonds hold \[J\].
    held: f64,
}

/// Start of a solve, summed over the rows.
#[derive(Debug, Clone, Copy)]
struct SolveStart {
    /// Square of the residuals in units of 1/(D + Σ) \[J\], and that of what rounding makes of them.
    square: f64,
    noise: f64,
    /// Largest residual \[m/s, rad/s\].
    largest: f64,
}

impl SolveStart {
    const NONE: SolveStart = SolveStart { square: 0.0, noise: 0.0, largest: 0.0 };

    fn and(self, other: SolveStart) -> SolveStart {
        SolveStart {
            square: self.square + other.square,
            noise: self.noise + other.noise,
            largest: self.largest.max(other.largest),
        }
    }
}

/// Sets the response of every body to the impulses that its bonds put on it.
fn respond(
    bodies: &mut [BondedBody],
    starts: &[u32],
    ends: &[u32],
    on_body: impl Fn(usize, usize) -> Six + Sync,
) {
    bodies.par_iter_mut().zip(starts.par_windows(2)).with_min_len(CHUNK).for_each(|(bonded, bounds)| {
        let own = ends[bounds[0] as usize..bounds[1] as usize].iter();
        let total = own.fold([DVec3::ZERO; 2], |total, &end| {
            let on_body = on_body(end as usize / 2, end as usize % 2);
            [total[0] + on_body[0], total[1] + on_body[1]]
        });
        bonded.response = [bonded.inverse.linear * total[0], bonded.inverse.angular * total[1]];
    });
}

/// Sum of a value of every bond, made task by task.
fn sum(
    rows: &[BondRows],
    iterates: &mut [BondIterate],
    of: impl Fn((&BondRows, &mut BondIterate)) -> f64 + Sync,
) -> f64 {
    let chunks = rows.par_chunks(CHUNK).zip(iterates.par_chunks_mut(CHUNK));
    let sums: Vec<f64> = chunks.map(|(rows, iterates)| rows.iter().zip(iterates).map(&of).sum()).collect();
    sums.into_iter().sum()
}

/// Damping times of three rows \[s\]; 0 for rows along which nothing moves.
fn damping_times(law: &crate::law::bond::BondLaw, stiffness: DVec3, diagonal: DVec3) -> DVec3 {
    let of = |axis: usize| match diagonal[axis] > 0.0 {
        true => law.damping_time(stiffness[axis], 1.0 / diagonal[axis]),
        false => 0.0,
    };
    DVec3::new(of(0), of(1), of(2))
}

fn motion(velocity: &Velocity) -> Six {
    [velocity.linear, velocity.angular]
}

/// Part of a velocity that no impulse changes: all of it for a body that is not free, else the part along locked axes.
fn held_motion(velocity: &Velocity) -> Six {
    if !velocity.is_free() {
        return motion(velocity);
    }
    let locked = velocity.locked;
    [velocity.linear * (1.0 - locked.free_translation()), velocity.angular * (1.0 - locked.free_rotation())]
}

const NO_ROWS: BondRows = BondRows {
    bodies: [NONE; 2],
    places: [NONE; 2],
    axes: DMat3::IDENTITY,
    arms: [DVec3::ZERO; 2],
    compliance: [DVec3::ZERO; 2],
    bias: [DVec3::ZERO; 2],
    effective_mass: [DVec3::ZERO; 2],
    impulse: [DVec3::ZERO; 2],
    last: [DVec3::ZERO; 2],
};

const NO_BODY: BondedBody = BondedBody {
    body: NONE,
    inverse: InverseMass { linear: DVec3::ZERO, angular: DMat3::ZERO, angular_bound: 0.0 },
    change: [DVec3::ZERO; 2],
    response: [DVec3::ZERO; 2],
};
