//! Courses of meshes: what several `move/mesh` do to a mesh, one after the other and at once.
//!
//! Every mover of LIGGGHTS adds its own velocity to the mesh. Directions and axes stay those of the world; the point of a `rotate` goes
//! along with movers that stand before it, the point of a `riggle` or `vibrot` stays. Where that is a product of displacements, each in
//! the frame of those before it, a scenario has it as a list of motions; anything else becomes a table of poses.

use glam::{DQuat, DVec3};

use super::scene::{FixKind, ScriptFix, ScriptMesh, ScriptRun, ScriptScene};
use crate::model::{MotionLaw, MotionPart, MotionTiming};

/// Rows of a table per period or turn, and in all.
const PER_PERIOD: f64 = 64.0;
const MOST_ROWS: f64 = 4000.0;
/// Steps from one row of a table to the next, in which movers act one after the other.
const STEPS_PER_ROW: usize = 16;
/// Sine of the angle up to which directions are parallel \[-\].
const PARALLEL: f64 = 1e-9;
/// Times that are the same \[s\].
const SAME_TIME: f64 = 1e-12;

/// A law of a mesh from the time of its fix on, until the run in which it is the last time.
#[derive(Debug, Clone, PartialEq)]
struct MeshMover {
    id: String,
    law: MotionLaw,
    since: f64,
    until: f64,
}

/// Laws of a mesh in a scene, each with its fix.
fn laws<'a>(scene: &'a ScriptScene, mesh: &'a str) -> impl Iterator<Item = (&'a ScriptFix, &'a MotionLaw)> {
    scene.fixes.iter().flat_map(move |fix| {
        let laws = match &fix.kind {
            FixKind::Motion(motion) if motion.mesh == mesh => motion.laws.as_slice(),
            _ => &[],
        };
        laws.iter().map(move |law| (fix, law))
    })
}

/// Movers of a mesh in runs, in the order of their commands.
fn movers(runs: &[ScriptRun], mesh: &str) -> Vec<MeshMover> {
    let mut movers: Vec<MeshMover> = Vec::new();
    for run in runs.iter().filter(|run| run.end > run.start) {
        for (fix, law) in laws(&run.scene, mesh) {
            let known = |mover: &&mut MeshMover| {
                mover.id == fix.id && mover.since == fix.since && mover.law == *law && mover.until < run.end
            };
            match movers.iter_mut().find(known) {
                Some(mover) => mover.until = run.end,
                None => movers.push(MeshMover {
                    id: fix.id.clone(),
                    law: law.clone(),
                    since: fix.since,
                    until: run.end,
                }),
            }
        }
    }
    movers
}

/// Course of a mesh over some runs.
pub struct MeshCourse {
    /// Motions from the begin of the runs on, in the time since then.
    pub motions: Vec<MotionPart>,
    /// Number of rows of the table, if it is one.
    pub rows: Option<usize>,
}

/// Returns the mesh at the end of the runs `before`, and its course in the runs after them.
pub fn course(
    mesh: &ScriptMesh,
    id: &str,
    made: f64,
    [before, own]: [&[ScriptRun]; 2],
) -> (ScriptMesh, MeshCourse) {
    let start = own.first().map_or(0.0, |run| run.start);
    let from = before.iter().position(|run| run.start >= made - SAME_TIME).unwrap_or(before.len());
    let all: Vec<ScriptRun> = before[from..].iter().chain(own).cloned().collect();
    let mut movers = movers(&all, id);
    let mut placed = MovedMesh { turn: mesh.turn, shift: mesh.shift };
    for run in &before[from..] {
        placed.advance(&mut movers, [run.start, run.end]);
    }
    let moved = ScriptMesh { turn: placed.turn, shift: placed.shift, ..mesh.clone() };
    movers.retain(|mover| mover.until > start + SAME_TIME);
    let end = own.last().map_or(start, |run| run.end);
    (moved, MeshCourse::of(movers, own, [start, end]))
}

impl MeshCourse {
    fn of(movers: Vec<MeshMover>, runs: &[ScriptRun], [start, end]: [f64; 2]) -> MeshCourse {
        let movers: Vec<MeshMover> = movers.into_iter().map(|mover| mover.rebased(start)).collect();
        if are_a_product(&movers) {
            let mut motions: Vec<&MeshMover> = movers.iter().collect();
            // What begins later acts on all that was before; at once the first one carries the others.
            motions.sort_by(|one, other| other.since.total_cmp(&one.since));
            let part = |mover: &MeshMover| {
                let begin = (mover.since > start + SAME_TIME).then_some(mover.since - start);
                let stop = (mover.until < end - SAME_TIME).then_some(mover.until - start);
                MotionPart { law: mover.law.clone(), timing: MotionTiming { start: begin, stop, ramp: 0.0 } }
            };
            return MeshCourse { motions: motions.into_iter().map(part).collect(), rows: None };
        }
        let law = sampled(movers, runs, start);
        let rows = match &law {
            MotionLaw::Table { times, .. } => Some(times.len()),
            _ => None,
        };
        MeshCourse { motions: vec![law.into()], rows }
    }
}

/// Pose of a mesh.
#[derive(Clone, Copy)]
struct MovedMesh {
    turn: DQuat,
    shift: DVec3,
}

impl MovedMesh {
    /// Moves the mesh from one time to another within a run \[s\]; points of rotations go along.
    fn advance(&mut self, movers: &mut [MeshMover], [from, to]: [f64; 2]) {
        let is_active = |mover: &MeshMover| mover.since <= from + SAME_TIME && mover.until >= to - SAME_TIME;
        let active: Vec<usize> = (0..movers.len()).filter(|&i| is_active(&movers[i])).collect();
        let now: Vec<&MeshMover> = active.iter().map(|&i| &movers[i]).collect();
        let are_free = |i: usize| now[..i].iter().all(|other| commute(&other.law, &now[i].law));
        let steps = match (0..now.len()).all(are_free) {
            true => 1,
            false => STEPS_PER_ROW * rows(&now, to - from),
        };
        let at = |k: usize| from + (to - from) * k as f64 / steps as f64;
        for k in 0..steps {
            for (place, &i) in active.iter().enumerate() {
                let part = MotionPart::from(movers[i].law.clone());
                let [from, to] = [k, k + 1].map(|k| part.displacement(at(k) - movers[i].since));
                let moved = to.since(&from);
                (self.shift, self.turn) = moved.carry((self.shift, self.turn));
                for &later in &active[place + 1..] {
                    if let MotionLaw::Rotation { point, .. } = &mut movers[later].law {
                        *point = moved.carry((*point, DQuat::IDENTITY)).0;
                    }
                }
            }
        }
    }
}

impl MeshMover {
    /// The mover as if it began at `start` \[s\], if it began before.
    fn rebased(self, start: f64) -> MeshMover {
        let gone = (start - self.since).max(0.0);
        let later = |frequency: f64, phase: f64| phase + std::f64::consts::TAU * frequency * gone;
        let law = match self.law {
            MotionLaw::Oscillation { amplitude, frequency, phase } => {
                MotionLaw::Oscillation { amplitude, frequency, phase: later(frequency, phase) }
            }
            MotionLaw::Rocking { point, amplitude, frequency, phase } => {
                MotionLaw::Rocking { point, amplitude, frequency, phase: later(frequency, phase) }
            }
            law => law,
        };
        MeshMover { law, since: self.since.max(start), ..self }
    }
}

/// Point of the axis of a law that turns \[m\].
fn point_of(law: &MotionLaw) -> Option<DVec3> {
    match law {
        MotionLaw::Rotation { point, .. } | MotionLaw::Rocking { point, .. } => Some(*point),
        _ => None,
    }
}

/// Direction or axis of a law, of any length.
fn along(law: &MotionLaw) -> DVec3 {
    match law {
        MotionLaw::Velocity(along)
        | MotionLaw::Rotation { rate: along, .. }
        | MotionLaw::Oscillation { amplitude: along, .. }
        | MotionLaw::Rocking { amplitude: along, .. } => *along,
        MotionLaw::Table { .. } => DVec3::ZERO,
    }
}

fn are_parallel(one: DVec3, other: DVec3) -> bool {
    one.cross(other).length() <= PARALLEL * one.length() * other.length()
}

/// Whether two displacements come to the same in either order.
fn commute(one: &MotionLaw, other: &MotionLaw) -> bool {
    match (point_of(one), point_of(other)) {
        (None, None) => true,
        (Some(a), Some(b)) => are_parallel(along(one), along(other)) && are_parallel(b - a, along(one)),
        _ => are_parallel(along(one), along(other)),
    }
}

/// Whether what two movers do at once is the displacement of the second one in the frame of the first.
fn is_nested(first: &MotionLaw, second: &MotionLaw) -> bool {
    let keeps_axis = point_of(first).is_none() || are_parallel(along(first), along(second));
    commute(first, second) || (matches!(second, MotionLaw::Rotation { .. }) && keeps_axis)
}

/// Whether what all movers do is a product of their displacements.
fn are_a_product(movers: &[MeshMover]) -> bool {
    movers.iter().enumerate().all(|(i, second)| {
        movers[..i].iter().all(|first| {
            let is_before = |one: &MeshMover, other: &MeshMover| one.until <= other.since + SAME_TIME;
            let at_once = (first.since - second.since).abs() <= SAME_TIME
                && (first.until - second.until).abs() <= SAME_TIME;
            commute(&first.law, &second.law)
                || is_before(first, second)
                || is_before(second, first)
                || (at_once && is_nested(&first.law, &second.law))
        })
    })
}

/// Rows of a table over a duration \[s\].
fn rows(movers: &[&MeshMover], duration: f64) -> usize {
    let frequency = |law: &MotionLaw| match law {
        MotionLaw::Rotation { rate, .. } => rate.length() / std::f64::consts::TAU,
        MotionLaw::Oscillation { frequency, .. } | MotionLaw::Rocking { frequency, .. } => *frequency,
        _ => 0.0,
    };
    let fastest = movers.iter().map(|mover| frequency(&mover.law)).fold(0.0, f64::max);
    (PER_PERIOD * fastest * duration).ceil().clamp(1.0, MOST_ROWS) as usize
}

/// Poses of the mesh at times since `start` \[s\], relative to that at the begin of the runs.
fn sampled(mut movers: Vec<MeshMover>, runs: &[ScriptRun], start: f64) -> MotionLaw {
    let about = movers.iter().find_map(|mover| point_of(&mover.law)).unwrap_or(DVec3::ZERO);
    let mut placed = MovedMesh { turn: DQuat::IDENTITY, shift: DVec3::ZERO };
    let (mut times, mut displacements, mut rotations) = (vec![0.0], vec![DVec3::ZERO], vec![DQuat::IDENTITY]);
    for run in runs.iter().filter(|run| run.end > run.start) {
        let now: Vec<&MeshMover> =
            movers.iter().filter(|mover| mover.since < run.end && mover.until > run.start).collect();
        let count = rows(&now, run.end - run.start);
        let at = |k: usize| run.start + (run.end - run.start) * k as f64 / count as f64;
        for k in 0..count {
            placed.advance(&mut movers, [at(k), at(k + 1)]);
            times.push(at(k + 1) - start);
            displacements.push(placed.turn * about + placed.shift - about);
            rotations.push(placed.turn);
        }
    }
    MotionLaw::Table { times, displacements, point: about, rotations }
}
