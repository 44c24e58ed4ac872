//! Separations of random pairs of convex solids in esker, judged by parry3d in double precision.
//!
//! Each pair has size 1, as parry's tolerances are lengths. Solids that overlap are as deep along the normal of parry's EPA as along that of
//! esker, or deeper; solids that are apart have parry's distance where a corner faces a face or an edge an edge, and no larger one elsewhere,
//! as [`esker::shape::separation`] promises. The program ends with an error if a pair misses a bound.

mod solids;

use std::process::ExitCode;

use clap::Parser;
use esker::model::Random;
use esker::model::random::Stream;
use esker::shape::{Convex, ManifoldBounds, SolidPose, meet, separation};
use glam::{DQuat, DVec3};
use parry3d_f64::math::{Pose, Rot3, Vec3};
use parry3d_f64::query::contact;
use rayon::prelude::*;

use solids::Pairing;

/// Largest overlap of a shallow pair, and its largest gap, over the size \[-\].
const SHALLOW: [f64; 2] = [0.05, 0.02];
/// Share of a depth by which an axis across two edges must be better to be taken (`EDGE_SHARE` in `shape/separation.rs`), and the same
/// over the radius of the smaller solid (`EDGE_SIZE`).
const STEADY: [f64; 2] = [0.005, 1e-5];
/// Share of a depth by which the deepest point of a manifold may be less deep (1 - `DEEP` in `shape/manifold.rs`).
const DEEP: f64 = 0.1;
/// Tolerance of parry's GJK and EPA, some 10⁻⁷ of a length of 1, with room.
const TOLERANCE: f64 = 1e-6;
/// Smallest cosine between two normals that count as one \[-\].
const SAME: f64 = 0.999;
/// Distance that no two solids here are apart.
const FAR: f64 = 10.0;
/// Pairs of one task.
const CHUNK: u64 = 1000;

/// Separations of random pairs of convex solids against parry3d.
#[derive(Parser)]
struct Arguments {
    /// Number of pairs.
    #[arg(long, default_value_t = 100_000)]
    pairs: u64,
    /// Seed of the pairs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What comes of pairs.
#[derive(Default, Clone, Copy)]
struct Verdict {
    /// Pairs that overlap, and that are apart.
    pairs: [u64; 2],
    /// Pairs that miss a bound.
    missed: u64,
    /// Largest difference of depths, less what steadiness allows, and largest excess of a distance.
    worst: [f64; 2],
    /// Pairs that are apart and have the exact distance.
    exact: u64,
    /// Pairs that overlap with another normal than parry's, and the largest difference of depths along the two.
    turned: u64,
    turned_by: f64,
    /// Largest difference of the deepest point of a manifold from the depth.
    of_manifold: f64,
}

impl Verdict {
    fn and(self, other: Verdict) -> Verdict {
        let larger = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
        Verdict {
            pairs: [self.pairs[0] + other.pairs[0], self.pairs[1] + other.pairs[1]],
            missed: self.missed + other.missed,
            worst: larger(self.worst, other.worst),
            exact: self.exact + other.exact,
            turned: self.turned + other.turned,
            turned_by: self.turned_by.max(other.turned_by),
            of_manifold: self.of_manifold.max(other.of_manifold),
        }
    }
}

fn pose(position: DVec3, turn: DQuat) -> Pose {
    Pose {
        translation: Vec3::new(position.x, position.y, position.z),
        rotation: Rot3::from_xyzw(turn.x, turn.y, turn.z, turn.w),
    }
}

/// Judges a pair at a random place.
fn judge(random: &mut Random, is_shallow: bool) -> Verdict {
    let Pairing { of_esker: [a, b], of_parry: [for_a, for_b] } = Pairing::random(random);
    let turns = [random.turn(), random.turn()];
    // From deep overlaps to gaps of the size of the solids.
    let way = random.between(0.2, 1.3) * (random.turn() * DVec3::X);
    let at = |position: DVec3, side: usize| SolidPose { position, orientation: turns[side], scale: 1.0 };
    let at_b = at(DVec3::ZERO, 1);
    // Half of the pairs are moved until they just touch.
    let mut moved = || {
        let axis = separation(&a, &at(way, 0), &b, &at_b, FAR)?;
        Some(way + (random.between(-SHALLOW[0], SHALLOW[1]) - axis.separation) * axis.normal)
    };
    let way = if is_shallow { moved().unwrap_or(way) } else { way };
    let at_a = at(way, 0);
    let found = contact(&pose(way, turns[0]), &*for_a, &pose(DVec3::ZERO, turns[1]), &*for_b, FAR);
    let (Ok(Some(expected)), Some(found)) = (found, separation(&a, &at_a, &b, &at_b, FAR)) else {
        return Verdict { missed: 1, ..Verdict::default() };
    };
    let size = a.radius.min(b.radius);
    let mut verdict = Verdict::default();
    if expected.dist >= 0.0 {
        let excess = found.separation - expected.dist;
        verdict.pairs[1] = 1;
        verdict.worst[1] = excess;
        verdict.exact = u64::from(excess.abs() < TOLERANCE);
        verdict.missed = u64::from(excess > TOLERANCE);
        return verdict;
    }
    // The depth along parry's normal, which is where EPA ended: of the distance that it reports some are 0.03 off.
    let normal = DVec3::new(expected.normal2.x, expected.normal2.y, expected.normal2.z);
    let along = |normal: DVec3| lowest(&a, &at_a, normal) + lowest(&b, &at_b, -normal);
    let excess = along(normal) - found.separation;
    let allowed = STEADY[0] * found.separation.abs() + STEADY[1] * size;
    let own = (along(found.normal) - found.separation).abs();
    verdict.pairs[0] = 1;
    verdict.worst[0] = (excess - allowed).max(own).max(0.0);
    if normal.dot(found.normal) < SAME {
        (verdict.turned, verdict.turned_by) = (1, excess.abs());
    }
    let wanted = ManifoldBounds { reach: FAR, points: 4 };
    let manifold = meet(&a, &at_a, &b, &at_b, wanted);
    let deepest = manifold.as_ref().and_then(|manifold| manifold.deepest());
    verdict.of_manifold = deepest.map_or(f64::INFINITY, |deepest| (deepest.gap - found.separation).abs());
    let is_shallow = verdict.of_manifold > DEEP * found.separation.abs() + TOLERANCE;
    verdict.missed = u64::from(verdict.worst[0] > TOLERANCE || is_shallow);
    verdict
}

/// Height of the lowest corner along a direction \[m\].
fn lowest(solid: &Convex, at: &SolidPose, along: DVec3) -> f64 {
    let height = |corner: &DVec3| (at.position + at.orientation * *corner).dot(along);
    solid.corners.iter().map(height).fold(f64::INFINITY, f64::min)
}

/// Judges this number of pairs, and prints a row for those that overlap and those that are apart; returns whether none missed a bound.
fn judge_all(name: &str, arguments: &Arguments, is_shallow: bool) -> bool {
    let of_task = |task: u64| {
        let mut random = Random::new(arguments.seed.wrapping_mul(1 << 32) + task, Stream::Shape);
        (0..CHUNK).map(|_| judge(&mut random, is_shallow)).fold(Verdict::default(), Verdict::and)
    };
    let tasks = (0..arguments.pairs.div_ceil(CHUNK)).into_par_iter();
    let all = tasks.map(of_task).reduce(Verdict::default, Verdict::and);
    println!(
        "| {name}, overlap | {} | {} | {:.1e} | {:.1e} | {} ({:.1e}) |",
        all.pairs[0], all.missed, all.worst[0], all.of_manifold, all.turned, all.turned_by
    );
    let exact = 100.0 * all.exact as f64 / all.pairs[1].max(1) as f64;
    println!("| {name}, apart; exact in {exact:.1} % | {} | | {:.1e} | | |", all.pairs[1], all.worst[1]);
    all.missed == 0
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    println!(
        "| pairs | number | missed bounds | depth or distance beyond its bound | deepest point of the manifold | other normal (depths differ by) |"
    );
    println!("|{}", "---|".repeat(6));
    let shallow = judge_all("shallow", &arguments, true);
    let deep = judge_all("anywhere", &arguments, false);
    if shallow && deep { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
