//! Speed of pressure through a column that is not solved to convergence \[E5\], \[E12\].
//!
//! With too few sweeps rigid grains behave like elastic ones: a pulse moves √N diameters per step of N sweeps (Unger, Brendel, Wolf &
//! Kertész 2002, quoted by Wang, Servin & Berglund 2016).
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::engine::Engine;
use esker::law::normal::NormalLaw;
use esker::settings::{Acceleration, Settings, WarmStart};

const PISTON: &str = r#"
[[boundaries]]
name = "piston"
material = "pellet"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
motion = { kind = "velocity", velocity = [0, 0, 0.01] }

[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
packing = { kind = "column", count = 200, base = [0, 0, 0] }
"#;

/// Speed of the front from the 40th to the 160th grain of a column of 200 that a piston pushes \[grains per step\]. The front is where
/// grains reach half the speed of the piston.
fn front_speed(settings: &Settings) -> f64 {
    let scene = pellets_with(PISTON, &["gravity=[0, 0, 0]"]);
    let mut engine = cpu(&scene.world, &Settings { impact_threshold: 1e3, ..*settings });
    let mut steps_until = |grain: usize| {
        let mut steps = 0;
        loop {
            let world = engine.snapshot().unwrap().world;
            if world.bodies.velocity[world.grain_body(grain)].z > 0.005 {
                return steps;
            }
            engine.advance(1).unwrap();
            steps += 1;
            assert!(steps < 2000, "no front at grain {grain}");
        }
    };
    steps_until(40);
    120.0 / f64::from(steps_until(160))
}

fn with(iterations: u32, warm_start: WarmStart, acceleration: Acceleration) -> Settings {
    Settings { iterations, warm_start, acceleration, normal_law: NormalLaw::Rigid, ..Settings::default() }
}

/// Exponent of the speed as a power of the sweeps, from the first and the last value.
fn exponent(speeds: &[f64], sweeps: &[u32]) -> f64 {
    (speeds.last().unwrap() / speeds[0]).ln()
        / (f64::from(*sweeps.last().unwrap()) / f64::from(sweeps[0])).ln()
}

/// The speed with plain sweeps is a constant times √N diameters per step, within 6 %: the fastest front takes 20 steps for 120 grains, so
/// one step more or less is 5 %.
#[test]
fn with_plain_sweeps_pressure_moves_by_the_root_of_the_sweeps_per_step() {
    let sweeps = [2, 8, 32];
    // Prefactors in √N diameters per step.
    for (start, prefactor) in [(WarmStart::HISTORY, 1.1), (WarmStart::Cold, 0.45)] {
        let speeds = sweeps.map(|sweeps| front_speed(&with(sweeps, start, Acceleration::None)));
        for (speed, sweeps) in speeds.into_iter().zip(sweeps) {
            let found = speed / f64::from(sweeps).sqrt();
            assert!((found / prefactor - 1.0).abs() < 0.06, "{start}, {sweeps}: {speed} diameters per step");
        }
        let found = exponent(&speeds, &sweeps);
        assert!((found - 0.5).abs() < 0.03, "{start}: sweeps to the power of {found}");
    }
}

/// With accelerated sweeps the speed grows nearly in proportion to the sweeps, not to their root, up to the 28 sweeps after which the
/// extrapolation factor no longer grows.
#[test]
fn with_accelerated_sweeps_pressure_moves_faster_than_by_the_root() {
    let sweeps = [4, 8, 16, 32];
    let plain = front_speed(&with(32, WarmStart::HISTORY, Acceleration::None));
    let speeds = sweeps.map(|sweeps| front_speed(&with(sweeps, WarmStart::HISTORY, Acceleration::Nesterov)));
    let found = exponent(&speeds, &sweeps);
    assert!((0.7..1.0).contains(&found), "sweeps to the power of {found}: {speeds:?}");
    assert!(speeds[3] > 2.0 * plain, "{} for {plain} diameters per step", speeds[3]);
}

/// An elastic column that is solved to convergence has a speed of sound that does not depend on the sweeps, within 10 %.
#[test]
fn in_an_elastic_column_pressure_moves_by_its_sound() {
    let speed = |iterations| {
        let settings = with(iterations, WarmStart::HISTORY, Acceleration::None);
        front_speed(&Settings { normal_law: NormalLaw::Hertz, ..settings })
    };
    let speeds = [32, 128].map(speed);
    assert!((speeds[1] / speeds[0] - 1.0).abs() < 0.1, "{speeds:?} diameters per step");
}
