//! Exact solution of one contact, all others held fixed \[E18\].

/// Largest number of steps of a root search; it halves an interval where Newton's step leaves it, so it ends much earlier.
const MOST_STEPS: u32 = 100;
/// Relative accuracy of the bound of a contact that slides \[-\]; the impulse is then scaled to be within it.
const ACCURACY: f64 = 1e-13;
/// Smallest stiffness against sliding, over the trace of the block \[-\]: a tangent along which nothing can move gets no impulse.
const LEAST_STIFFNESS: f64 = 1e-15;
/// Largest number of passes over the normal and friction impulse on one hand and the rolling impulse on the other.
const MOST_PASSES: u32 = 200;

/// Diagonal block of a contact, as the exact solution reads it.
pub trait ExactBlock<const D: usize>: Copy + Send + Sync {
    /// What one solve leaves for the next to start from.
    type Guess: Copy + Default + Send + Sync;

    /// Reads a diagonal block A \[1/kg\], in rows, and the coefficients of friction and rolling.
    fn of(block: &[[f64; D]; D], coefficients: [f64; 2]) -> Self;

    /// Impulse r of a contact whose velocity is `free` + A r.
    fn solve(&self, free: &[f64; D], guess: &mut Self::Guess) -> [f64; D];
}

/// Matrix of two rows. It is symmetric but for what the problem was written with, and solved as it is.
#[derive(Debug, Clone, Copy, Default)]
struct Square {
    xx: f64,
    xy: f64,
    yx: f64,
    yy: f64,
}

impl Square {
    fn least(&self) -> f64 {
        LEAST_STIFFNESS * (self.xx + self.yy)
    }

    /// (S + `shift`)⁻¹ v.
    #[inline(always)]
    fn inverse_times(&self, shift: f64, v: [f64; 2]) -> [f64; 2] {
        let (xx, yy) = (self.xx + shift, self.yy + shift);
        let determinant = 1.0 / (xx * yy - self.xy * self.yx);
        [determinant * (yy * v[0] - self.xy * v[1]), determinant * (xx * v[1] - self.yx * v[0])]
    }

    /// Friction impulse x that resists sliding most: S x + `drive` = -α x with α = 0 where |x| is below its bound, else with α > 0 where
    /// |x| = `bound` + `slope`·x. `alpha` is a guess, and then α.
    #[inline(always)]
    fn resist(&self, drive: [f64; 2], bound: f64, slope: [f64; 2], alpha: &mut f64) -> [f64; 2] {
        if self.xx + self.yy <= 0.0 {
            return [0.0; 2];
        }
        let against = [-drive[0], -drive[1]];
        let allowed = |x: [f64; 2]| bound + dot(slope, x);
        let mut low = self.least();
        let stuck = self.inverse_times(low, against);
        let reached = allowed(stuck);
        if reached >= 0.0 && dot(stuck, stuck) <= reached * reached {
            *alpha = 0.0;
            return stuck;
        }
        let mut high = f64::INFINITY;
        let mut at = if *alpha > low { *alpha } else { self.first_guess(against, bound) };
        let mut x = [0.0; 2];
        for _ in 0..MOST_STEPS {
            x = self.inverse_times(at, against);
            let length = dot(x, x).sqrt();
            let excess = 1.0 - allowed(x) / length;
            if excess.abs() <= ACCURACY || length == 0.0 {
                break;
            }
            if excess > 0.0 {
                low = at
            } else {
                high = at
            }
            let turn = self.inverse_times(at, x);
            let steepness = (dot(slope, turn) - allowed(x) * dot(x, turn) / (length * length)) / length;
            let next = at - excess / steepness;
            at = if next > low && next < high {
                next
            } else if high.is_finite() {
                0.5 * (low + high)
            } else {
                4.0 * at
            };
            if high.is_finite() && high - low <= f64::EPSILON * high {
                break;
            }
        }
        *alpha = at;
        let (length, allowed) = (dot(x, x).sqrt(), allowed(x).max(0.0));
        if length > allowed { x.map(|x| x * (allowed / length)) } else { x }
    }

    /// Guess of α for a block that is a multiple of the identity.
    fn first_guess(&self, against: [f64; 2], bound: f64) -> f64 {
        let stiffness = 0.5 * (self.xx + self.yy);
        let guess = if bound > 0.0 { dot(against, against).sqrt() / bound - stiffness } else { stiffness };
        guess.max(0.1 * stiffness)
    }
}

/// 1/x of a positive x, or 0.
fn inverse(x: f64) -> f64 {
    if x > 0.0 { 1.0 / x } else { 0.0 }
}

#[inline(always)]
fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// Block in the plane: normal and one tangent. It is small, as a sweep is bound by what it reads.
#[derive(Debug, Clone, Copy)]
pub struct PlaneBlock {
    /// 1/A_NN, or 0.
    give: f64,
    /// A_NT/A_NN.
    along: f64,
    /// A_TN.
    coupling: f64,
    /// 1/(A_TT - A_TN A_NT/A_NN), or 0.
    yielding: f64,
    friction: f64,
}

impl ExactBlock<2> for PlaneBlock {
    type Guess = ();

    fn of(a: &[[f64; 2]; 2], [friction, _]: [f64; 2]) -> PlaneBlock {
        let give = inverse(a[0][0]);
        let along = a[0][1] * give;
        let stiffness = a[1][1] - a[1][0] * along;
        let yielding = if stiffness > LEAST_STIFFNESS * a[1][1] { inverse(stiffness) } else { 0.0 };
        PlaneBlock { give, along, coupling: a[1][0], yielding, friction }
    }

    #[inline(always)]
    fn solve(&self, free: &[f64; 2], (): &mut ()) -> [f64; 2] {
        if free[0] >= 0.0 || self.give == 0.0 {
            return [0.0; 2];
        }
        let pressed = -free[0] * self.give;
        let slip = free[1] + self.coupling * pressed;
        let stuck = -slip * self.yielding;
        let normal = pressed - self.along * stuck;
        if stuck.abs() <= self.friction * normal {
            return [normal, stuck];
        }
        // At the bound the tangent has the sign that resists, and u_N = 0 gives the normal.
        let slope = if slip > 0.0 { -self.friction } else { self.friction };
        let normal = pressed / (1.0 + self.along * slope);
        [normal, slope * normal]
    }
}

/// Block in space: normal and two tangents.
#[derive(Debug, Clone, Copy)]
pub struct SpaceBlock {
    /// 1/A_NN, or 0.
    give: f64,
    /// A_NT/A_NN.
    along: [f64; 2],
    /// A_TN.
    coupling: [f64; 2],
    /// A_TT - A_TN A_NT/A_NN.
    stiffness: Square,
    friction: f64,
}

impl ExactBlock<3> for SpaceBlock {
    /// α of the contact while it slides.
    type Guess = f64;

    fn of(a: &[[f64; 3]; 3], [friction, _]: [f64; 2]) -> SpaceBlock {
        let give = inverse(a[0][0]);
        let (along, coupling) = ([a[0][1] * give, a[0][2] * give], [a[1][0], a[2][0]]);
        let reduced = |i: usize, j: usize| a[1 + i][1 + j] - coupling[i] * along[j];
        let stiffness = Square {
            xx: reduced(0, 0).max(0.0),
            xy: reduced(0, 1),
            yx: reduced(1, 0),
            yy: reduced(1, 1).max(0.0),
        };
        SpaceBlock { give, along, coupling, stiffness, friction }
    }

    #[inline(always)]
    fn solve(&self, free: &[f64; 3], guess: &mut f64) -> [f64; 3] {
        if free[0] >= 0.0 || self.give == 0.0 {
            return [0.0; 3];
        }
        let pressed = -free[0] * self.give;
        let drive = [free[1] + self.coupling[0] * pressed, free[2] + self.coupling[1] * pressed];
        let slope = self.along.map(|along| -self.friction * along);
        let tangent = self.stiffness.resist(drive, self.friction * pressed, slope, guess);
        [pressed - dot(self.along, tangent), tangent[0], tangent[1]]
    }
}

/// Block in space with two rolling components.
#[derive(Debug, Clone, Copy)]
pub struct RollingBlock {
    sliding: SpaceBlock,
    /// Change of the velocity by rolling impulses.
    by_rolling: [[f64; 2]; 3],
    /// Change of the rolling velocity by normal and friction impulses.
    of_rolling: [[f64; 3]; 2],
    rolling: Square,
    coefficient: f64,
}

impl ExactBlock<5> for RollingBlock {
    /// α of the contact while it slides, and while it rolls.
    type Guess = [f64; 2];

    fn of(a: &[[f64; 5]; 5], [friction, coefficient]: [f64; 2]) -> RollingBlock {
        let upper = std::array::from_fn(|i| std::array::from_fn(|j| a[i][j]));
        RollingBlock {
            sliding: SpaceBlock::of(&upper, [friction, 0.0]),
            by_rolling: std::array::from_fn(|i| [a[i][3], a[i][4]]),
            of_rolling: std::array::from_fn(|i| std::array::from_fn(|j| a[3 + i][j])),
            rolling: Square { xx: a[3][3].max(0.0), xy: a[3][4], yx: a[4][3], yy: a[4][4].max(0.0) },
            coefficient,
        }
    }

    fn solve(&self, free: &[f64; 5], guess: &mut [f64; 2]) -> [f64; 5] {
        let (mut spin, mut last) = ([0.0; 2], [0.0; 5]);
        for _ in 0..MOST_PASSES {
            let given: [f64; 3] = std::array::from_fn(|i| free[i] + dot(self.by_rolling[i], spin));
            let [n, x, y] = self.sliding.solve(&given, &mut guess[0]);
            let drive = std::array::from_fn(|i| {
                let row = &self.of_rolling[i];
                free[3 + i] + row[0] * n + row[1] * x + row[2] * y
            });
            spin = self.rolling.resist(drive, self.coefficient * n, [0.0; 2], &mut guess[1]);
            let now = [n, x, y, spin[0], spin[1]];
            let size = now.iter().map(|now| now.abs()).sum::<f64>();
            let change: f64 = now.iter().zip(last).map(|(now, last)| (now - last).abs()).sum();
            last = now;
            if change <= ACCURACY * size {
                break;
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::super::residual::{into_cone, lift, natural_map};
    use super::*;

    /// A random block Lᵀ L with couplings of all kinds, and a random velocity.
    fn contact<const D: usize>(random: &mut Pcg64) -> ([[f64; D]; D], [f64; D]) {
        let root: [[f64; D]; D] =
            std::array::from_fn(|_| std::array::from_fn(|_| random.random_range(-1.0..1.0)));
        let product = |i: usize, j: usize| root.iter().map(|row| row[i] * row[j]).sum::<f64>();
        let block =
            std::array::from_fn(|i| std::array::from_fn(|j| product(i, j) + if i == j { 0.05 } else { 0.0 }));
        (block, std::array::from_fn(|_| random.random_range(-1.0..1.0)))
    }

    fn velocity<const D: usize>(block: &[[f64; D]; D], free: &[f64; D], impulse: &[f64; D]) -> [f64; D] {
        std::array::from_fn(|i| free[i] + block[i].iter().zip(impulse).map(|(a, r)| a * r).sum::<f64>())
    }

    fn residual<const D: usize>(impulse: &[f64; D], velocity: &[f64; D], coefficients: [f64; 2]) -> f64 {
        natural_map(impulse, velocity, lift(velocity, coefficients), coefficients).sqrt()
    }

    /// Solves random contacts, some of which open, stick and slide; returns the largest residual of all over their impulses and velocities.
    fn largest_residual<const D: usize, B: ExactBlock<D>>(cases: u32) -> f64 {
        let mut random = Pcg64::seed_from_u64(7);
        let (mut largest, mut slides, mut sticks, mut opens) = (0.0f64, 0, 0, 0);
        for _ in 0..cases {
            let (block, free) = contact::<D>(&mut random);
            let coefficients = [0.0, 0.3, 0.9].map(|friction| [friction, 0.2]);
            for coefficients in coefficients {
                let mut guess = B::Guess::default();
                let impulse = B::of(&block, coefficients).solve(&free, &mut guess);
                let found = velocity(&block, &free, &impulse);
                let size = impulse.iter().chain(&found).map(|x| x.abs()).fold(1e-3, f64::max);
                largest = largest.max(residual(&impulse, &found, coefficients) / size);
                opens += u32::from(impulse[0] == 0.0);
                let slip = lift(&found, [1.0, 0.0]);
                slides += u32::from(impulse[0] > 0.0 && slip > 1e-6);
                sticks += u32::from(impulse[0] > 0.0 && slip <= 1e-6);
            }
        }
        assert!(opens.min(slides).min(sticks) > cases / 20, "{opens} open, {slides} slide, {sticks} stick");
        largest
    }

    #[test]
    fn a_contact_solved_exactly_obeys_coulombs_law_to_rounding() {
        // A root search ends at 1e-13 of the bound; blocks have condition numbers up to 1e3.
        let found = largest_residual::<2, PlaneBlock>(2000);
        assert!(found < 1e-10, "plane: {found:e}");
        let found = largest_residual::<3, SpaceBlock>(2000);
        assert!(found < 1e-10, "space: {found:e}");
    }

    /// Block of a ball of 1 kg and radius 1 m on a floor: what it rolls is coupled with what it slides.
    fn ball() -> [[f64; 5]; 5] {
        let (mass, moment) = (1.0, 0.4);
        let mut block = [[0.0; 5]; 5];
        block[0][0] = 1.0 / mass;
        for (tangent, rolling, sign) in [(1, 4, 1.0), (2, 3, -1.0)] {
            block[tangent][tangent] = 1.0 / mass + 1.0 / moment;
            block[rolling][rolling] = 1.0 / moment;
            block[tangent][rolling] = sign / moment;
            block[rolling][tangent] = sign / moment;
        }
        block
    }

    #[test]
    fn a_ball_that_slides_and_rolls_obeys_the_law_to_rounding() {
        let mut random = Pcg64::seed_from_u64(7);
        for coefficients in [[0.0, 0.1], [0.3, 0.0], [0.3, 0.2], [0.9, 0.05]] {
            for _ in 0..200 {
                let mut free: [f64; 5] = std::array::from_fn(|_| random.random_range(-1.0..1.0));
                free[0] = -free[0].abs();
                let impulse = RollingBlock::of(&ball(), coefficients).solve(&free, &mut [0.0; 2]);
                let found = residual(&impulse, &velocity(&ball(), &free, &impulse), coefficients);
                assert!(found < 1e-9, "{coefficients:?}, {free:?}: {found:e}");
            }
        }
    }

    #[test]
    fn one_step_by_the_diagonal_does_not_solve_a_coupled_contact() {
        let mut random = Pcg64::seed_from_u64(7);
        let worst = (0..100).map(|_| {
            let (block, free) = contact::<3>(&mut random);
            let trial: [f64; 3] = std::array::from_fn(|i| -free[i] / block[i][i]);
            let impulse = into_cone(trial, [0.3, 0.0]);
            residual(&impulse, &velocity(&block, &free, &impulse), [0.3, 0.0])
        });
        let worst = worst.fold(0.0, f64::max);
        assert!(worst > 1e-2, "the check above would notice: {worst:e}");
    }

    #[test]
    fn tangents_along_which_nothing_moves_get_no_impulse() {
        let block = [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]];
        let found = SpaceBlock::of(&block, [0.5, 0.0]).solve(&[-1.0, 0.1, 0.0], &mut 0.0);
        assert!(
            (found[0] - 0.5).abs() < 1e-15 && (found[1] + 0.1).abs() < 1e-12 && found[2] == 0.0,
            "{found:?}"
        );
        let nothing = SpaceBlock::of(&[[0.0; 3]; 3], [0.5, 0.0]).solve(&[-1.0, 0.1, 0.0], &mut 0.0);
        assert_eq!(nothing, [0.0; 3]);
    }
}
