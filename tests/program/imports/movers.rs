//! Motions of meshes: what one or several `move/mesh` of LIGGGHTS do, beside its own increments.

use std::f64::consts::TAU;

use esker::import::ImportOptions;
use esker::model::Motion;
use esker::scenario::Scenario;
use glam::{DQuat, DVec3};

use super::{HEAD, MODEL, imported};

/// What a mover does to the mesh in a step, as LIGGGHTS has it.
enum Move {
    /// Velocity over the time since the fix \[m/s\].
    Along(fn(f64) -> DVec3),
    /// Point \[m\], rate over the time since the fix \[rad/s\], and whether the point goes along with movers before it.
    About(DVec3, fn(f64) -> DVec3, bool),
}

/// A mover between two times \[s\].
struct Mover {
    does: Move,
    from: f64,
    until: f64,
}

/// Place of a point of the mesh at a time, in increments of 5 µs.
fn stepped(mut place: DVec3, movers: &mut [Mover], time: f64) -> DVec3 {
    const STEP: f64 = 5e-6;
    for k in 0..(time / STEP).round() as u64 {
        let now = (k as f64 + 0.5) * STEP;
        for i in 0..movers.len() {
            let Mover { does, from, until } = &movers[i];
            if now < *from || now > *until {
                continue;
            }
            let (about, turn, shift) = match does {
                Move::Along(velocity) => (DVec3::ZERO, DQuat::IDENTITY, STEP * velocity(now - from)),
                Move::About(point, rate, _) => {
                    (*point, DQuat::from_scaled_axis(STEP * rate(now - from)), DVec3::ZERO)
                }
            };
            let carry = |place: DVec3| about + turn * (place - about) + shift;
            place = carry(place);
            for later in &mut movers[i + 1..] {
                if let Move::About(point, _, true) = &mut later.does {
                    *point = carry(*point);
                }
            }
        }
    }
    place
}

/// A script of a mesh with these lines, each before a run of this many steps of 10 µs.
fn script(runs: &[(&str, u32)]) -> String {
    let mut script = format!(
        "{HEAD}{MODEL}fix m all mesh/surface file square.stl type 2 scale 0.1 move 0.2 0 0\n\
         fix w all wall/gran model hertz mesh n_meshes 1 meshes m\ncreate_atoms 1 single 0 0 0.5\nset group all diameter 0.02\n"
    );
    for (lines, steps) in runs {
        script.push_str(&format!("{lines}\nrun {steps}\n"));
    }
    script
}

/// Imports a script of movers; returns what it tells of them, the motion of the mesh, and the place of one of its points at times.
fn path(runs: &[(&str, u32)], times: &[f64]) -> (Vec<String>, Motion, Vec<DVec3>) {
    let (folder, all) =
        imported(&script(runs), &ImportOptions::default()).unwrap_or_else(|found| panic!("{found}"));
    assert!(all.faults.is_empty() && all.files.len() == 1, "{:?}\n{}", all.faults, all.files[0].1);
    let scenario = Scenario::parse("case", &all.files[0].1, folder.path(), &[]);
    let world = scenario.unwrap_or_else(|found| panic!("{found}\n{}", all.files[0].1)).world;
    let mesh = world.boundaries.into_iter().next().expect("the mesh");
    let own = mesh.orientation.conjugate() * (POINT - mesh.position);
    let place = |time: &f64| {
        let (position, orientation) = mesh.pose_at(*time);
        position + orientation * own
    };
    let told = all.remarks.iter().map(ToString::to_string).filter(|line| line.contains("mesh `m`"));
    (told.collect(), mesh.motion.clone(), times.iter().map(place).collect())
}

/// A point of the mesh at the start \[m\].
const POINT: DVec3 = DVec3::new(0.25, 0.08, 0.0);

/// Asserts that a point of the mesh of a script goes where increments take it; returns what is told, and the motion.
fn goes_as(runs: &[(&str, u32)], movers: impl Fn() -> Vec<Mover>, bound: f64) -> (Vec<String>, Motion) {
    let end = runs.iter().map(|(_, steps)| f64::from(*steps) * 1e-5).sum::<f64>();
    let times = [0.3 * end, 0.55 * end, end];
    let (told, motion, places) = path(runs, &times);
    let mut moved = 0.0;
    for (time, place) in times.into_iter().zip(places) {
        let expected = stepped(POINT, &mut movers(), time);
        let off = place.distance(expected);
        assert!(off < bound, "{place} at {time} s, expected {expected}, off by {off} m: {runs:?}");
        moved = f64::max(moved, expected.distance(POINT));
    }
    assert!(moved > 100.0 * bound, "what stands still would be told: it moves by {moved} m");
    (told, motion)
}

const ALL: [f64; 2] = [0.0, 1.0];

fn mover(does: Move, [from, until]: [f64; 2]) -> Mover {
    Mover { does, from, until }
}

/// Number of motions in a list; 0 for a table of poses.
fn listed(motion: &Motion) -> usize {
    let is_table =
        |part: &esker::model::MotionPart| matches!(part.law, esker::model::MotionLaw::Table { .. });
    motion.parts().iter().filter(|part| !is_table(part)).count()
}

/// Riggles are in degrees about a sine, vibrations in radians about cosines of several periods.
#[test]
fn riggles_and_vibrations_are_sums_of_sines() {
    let riggle = |time: f64| 5f64.to_radians() * TAU / 0.1 * (TAU * time / 0.1).cos() * DVec3::Z;
    let (told, motion) = goes_as(
        &[("fix v all move/mesh mesh m riggle origin 0.1 0 0 axis 0 0 2 period 0.1 amplitude 5", 10_000)],
        || vec![mover(Move::About(DVec3::new(0.1, 0.0, 0.0), riggle, false), ALL)],
        1e-5,
    );
    assert_eq!((told, listed(&motion)), (Vec::new(), 1));
    let linear = |time: f64| {
        let term = |a: f64, phase: f64, period: f64| -a * TAU / period * (TAU * time / period + phase).sin();
        DVec3::Y * (term(0.02, 1.3, 0.1) + term(0.01, 0.0, 0.04))
    };
    let turning = |time: f64| {
        let term = |a: f64, phase: f64, period: f64| -a * TAU / period * (TAU * time / period + phase).sin();
        DVec3::X * (term(0.2, 1.3, 0.1) + term(0.1, 0.0, 0.04))
    };
    let (_, motion) = goes_as(
        &[(
            "fix v all move/mesh mesh m viblin axis 0 3 0 order 2 amplitude 0.02 0.01 phase 1.3 0 period 0.1 0.04",
            10_000,
        )],
        || vec![mover(Move::Along(linear), ALL)],
        1e-5,
    );
    assert_eq!(listed(&motion), 2);
    let (told, motion) = goes_as(
        &[(
            "fix v all move/mesh mesh m vibrot origin 0 0 0 axis 1 0 0 order 2 amplitude 0.2 0.1 phase 1.3 0 period 0.1 0.04",
            10_000,
        )],
        || vec![mover(Move::About(DVec3::ZERO, turning, false), ALL)],
        1e-5,
    );
    assert_eq!((told, listed(&motion)), (Vec::new(), 2));
}

/// The axis of a rotation goes along with movers before it; one after it moves the mesh away from an axis that stays, which is no
/// product of the two, and becomes a table.
#[test]
fn movers_act_in_the_order_of_their_commands() {
    let rotate = "fix spin all move/mesh mesh m rotate origin 0.1 0 0 axis 0 0 1 period 0.2";
    let linear = "fix away all move/mesh mesh m linear 1.0 0 0";
    let spin = || Move::About(DVec3::new(0.1, 0.0, 0.0), |_| TAU / 0.2 * DVec3::Z, true);
    let away = || Move::Along(|_| DVec3::X);
    let (told, motion) = goes_as(
        &[(&format!("{linear}\n{rotate}"), 10_000)],
        || vec![mover(away(), ALL), mover(spin(), ALL)],
        2e-5,
    );
    assert_eq!((told, listed(&motion)), (Vec::new(), 2));
    let (told, motion) = goes_as(
        &[(&format!("{rotate}\n{linear}"), 10_000)],
        || vec![mover(spin(), ALL), mover(away(), ALL)],
        5e-4,
    );
    assert_eq!(listed(&motion), 0);
    assert!(told[0].contains("differs") && told[0].contains("a table of 33 poses"), "{told:?}");
    // Along the axis it does not matter, whichever comes first and whenever.
    let up = "fix away all move/mesh mesh m linear 0 0 1.0";
    let (told, motion) = goes_as(
        &[(rotate, 3000), (up, 4000), ("unfix away", 3000)],
        || vec![mover(spin(), ALL), mover(Move::Along(|_| DVec3::Z), [0.03, 0.07])],
        2e-5,
    );
    assert_eq!((told, listed(&motion)), (Vec::new(), 2));
}

/// What begins after another one has ended acts on the mesh where that has left it, in one file.
#[test]
fn motions_that_follow_each_other_start_and_stop_in_one_file() {
    let (told, motion) = goes_as(
        &[
            ("fix t all move/mesh mesh m rotate origin 0 0 0 axis 0 1 0 period 0.08", 2000),
            ("unfix t\nfix t all move/mesh mesh m wiggle amplitude 0.05 0 0 period 0.05", 3000),
            ("unfix t\nfix t all move/mesh mesh m rotate origin 0 0 0 axis 1 0 0 period 0.1", 3000),
        ],
        || {
            let wiggle = |time: f64| 0.05 * TAU / 0.05 * (TAU * time / 0.05).cos() * DVec3::X;
            vec![
                mover(Move::About(DVec3::ZERO, |_| TAU / 0.08 * DVec3::Y, true), [0.0, 0.02]),
                mover(Move::Along(wiggle), [0.02, 0.05]),
                mover(Move::About(DVec3::ZERO, |_| TAU / 0.1 * DVec3::X, true), [0.05, 0.08]),
            ]
        },
        5e-5,
    );
    assert_eq!((told, listed(&motion)), (Vec::new(), 3));
}

/// A mesh that rocks about a point that stays while it is moved away across the axis is a table, also where the two begin apart.
#[test]
fn a_riggle_does_not_go_along() {
    let riggle = |time: f64| 20f64.to_radians() * TAU / 0.2 * (TAU * time / 0.2).cos() * DVec3::Z;
    let (told, motion) = goes_as(
        &[
            ("fix away all move/mesh mesh m linear 1.0 0 0", 2000),
            ("fix v all move/mesh mesh m riggle origin 0.2 0 0 axis 0 0 1 period 0.2 amplitude 20", 8000),
        ],
        || {
            vec![
                mover(Move::Along(|_| DVec3::X), ALL),
                mover(Move::About(DVec3::new(0.2, 0.0, 0.0), riggle, false), [0.02, 1.0]),
            ]
        },
        5e-4,
    );
    assert_eq!(listed(&motion), 0);
    assert!(told.iter().any(|line| line.contains("differs")), "{told:?}");
}
