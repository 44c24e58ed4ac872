//! Compatible forces \[E16\] act on the bodies like the forces of the solver, and equal the forces of elastic contacts.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::engine::compatible::{CompatibleForces, CompatiblePlan, unbalanced};
use esker::engine::{Engine, Snapshot};
use esker::law::normal::NormalLaw;
use esker::simulation::{Device, Simulation};
use glam::DVec3;

const HERTZ: CompatiblePlan = CompatiblePlan { law: NormalLaw::Hertz, tolerance: 1e-10 };

/// Relative difference ‖a - b‖ / ‖b‖ \[-\].
fn apart(a: &[DVec3], b: &[DVec3]) -> f64 {
    let difference: f64 = a.iter().zip(b).map(|(a, b)| (*a - *b).length_squared()).sum();
    (difference / b.iter().map(|b| b.length_squared()).sum::<f64>()).sqrt()
}

/// Forces of a rigid platform on three supports (Olsen & Kamrin, section 8.1): many sets of forces balance it, and the stiffness of the
/// supports selects one.
#[test]
fn a_platform_weighs_on_three_supports_by_their_stiffness() {
    for (modulus, expected) in [("1e9", [10.0 / 3.0; 3]), ("3e9", [2.0, 2.0, 6.0])] {
        let overrides = [format!("materials.middle.youngs_modulus={modulus}")];
        let scenario = scenario("beam.toml", &overrides.each_ref().map(String::as_str));
        let mut simulation = Simulation::new(&scenario, Device::Cpu).unwrap();
        simulation.run_until(0.5).unwrap();
        for (support, expected) in expected.into_iter().enumerate() {
            let name = format!("compatible_normal_force:{support}-beam");
            let found = simulation.quantity(&name).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-6, "{name}: {found} N, not {expected}");
        }
        assert!(simulation.quantity("compatible_imbalance").unwrap() < 1e-10);
        let raw = [0, 1, 2].map(|i| simulation.quantity(&format!("normal_force:{i}-beam")).unwrap());
        assert!((raw[0] - 2.0332).abs() < 0.01 && (raw[2] - 5.9336).abs() < 0.01, "of the solver: {raw:?} N");
    }
}

/// A pyramid of spheres on a base of six by six, at rest on rigid or elastic contacts.
fn pyramid(law: &str, more: &[&str]) -> Snapshot {
    let settings = [
        format!("solver.normal_law={law}"),
        "grains.0.packing.counts=[6, 6, 1]".to_owned(),
        "grains.0.packing.corner=[-0.025, -0.025, 0.005]".to_owned(),
        "grains.1.packing.rows=5".to_owned(),
        "solver.iterations=300".to_owned(),
    ];
    let settings: Vec<&str> = settings.iter().map(String::as_str).chain(more.iter().copied()).collect();
    let scenario = scenario("pyramid.toml", &settings);
    let mut engine = cpu(&scenario.world, &scenario.settings);
    engine.advance(150).unwrap();
    engine.snapshot().unwrap()
}

/// Forces of the contacts on the spheres of the base: compatible forces of rigid contacts agree within 1e-3 with the forces of elastic
/// contacts of 50 GPa, whose overlaps are a millionth of a radius; the forces of the solver do not.
#[test]
fn compatible_forces_of_a_rigid_pyramid_are_those_of_an_elastic_one() {
    let [rigid, elastic] = ["rigid", "hertz"].map(|law| pyramid(law, &[]));
    let base = |state: &Snapshot, forces: &[f64]| {
        let first = state.world.boundaries.len();
        state.pushed_by(forces)[first..first + 36].to_vec()
    };
    let expected = base(&elastic, &elastic.normal_forces());
    let compatible = CompatibleForces::of(&rigid, &HERTZ);
    assert!(compatible.imbalance <= 1e-10, "off balance by {}", compatible.imbalance);
    let found = base(&rigid, &compatible.normal);
    assert!(apart(&found, &expected) < 1e-3, "{} of the elastic forces", apart(&found, &expected));
    let of_solver = base(&rigid, &rigid.normal_forces());
    assert!(apart(&of_solver, &expected) > 0.05, "the solver alone finds {}", apart(&of_solver, &expected));

    // The pyramid is symmetric, so mirrored compatible forces are the same.
    let mirrored = |forces: &[DVec3]| -> Vec<DVec3> {
        (0..36).map(|i| forces[6 * (i / 6) + 5 - i % 6] * DVec3::new(-1.0, 1.0, 1.0)).collect()
    };
    assert!(apart(&mirrored(&found), &found) < 1e-6, "{}", apart(&mirrored(&found), &found));
    assert!(apart(&mirrored(&of_solver), &of_solver) > 0.01, "the solver has an order");

    let hooke = CompatibleForces::of(&rigid, &CompatiblePlan { law: NormalLaw::Hooke, ..HERTZ });
    let other = apart(&base(&rigid, &hooke.normal), &found);
    assert!((1e-3..0.1).contains(&other), "another law must show a little: {other}");
}

/// Compatible forces under Hooke's law agree with the forces of elastic contacts if every other sphere is ten times as soft, and contacts
/// open and close.
#[test]
fn two_materials_share_the_load_by_their_stiffness() {
    let soft = "materials.soft={ density = 2500.0, youngs_modulus = 5e9, poisson_ratio = 0.25, restitution = 0.0, friction = 0.0 }";
    let mixed = [soft, "grains.0.material=[\"ball\", \"soft\"]", "grains.1.material=[\"ball\", \"soft\"]"];
    let rigid = pyramid("rigid", &mixed);
    let elastic = pyramid("hooke", &[&mixed[..], &["solver.iterations=2000"]].concat());
    let first = rigid.world.boundaries.len();
    let base = |state: &Snapshot, forces: &[f64]| state.pushed_by(forces)[first..first + 36].to_vec();
    let expected = base(&elastic, &elastic.normal_forces());
    let compatible = CompatibleForces::of(&rigid, &CompatiblePlan { law: NormalLaw::Hooke, ..HERTZ });
    assert!(compatible.imbalance <= 1e-10, "off balance by {}", compatible.imbalance);
    let found = base(&rigid, &compatible.normal);
    assert!(apart(&found, &expected) < 1e-3, "{} of the elastic forces", apart(&found, &expected));
    let alike = base(&rigid, &CompatibleForces::of(&pyramid("rigid", &[]), &HERTZ).normal);
    assert!(apart(&alike, &expected) > 0.02, "{}: the stiffness must show", apart(&alike, &expected));
}

/// Compatible forces leave friction as it is and act on every body with the same force as the forces of the solver, and with the same
/// moment on bodies that normal forces can turn.
#[test]
fn bodies_feel_what_they_felt() {
    for (file, steps) in [("box_on_grains.toml", 60), ("pile_at_rest.toml", 20)] {
        let scenario = scenario(file, &[]);
        let mut engine = cpu(&scenario.world, &scenario.settings);
        engine.advance(steps).unwrap();
        let state = engine.snapshot().unwrap();
        let compatible = CompatibleForces::of(&state, &CompatiblePlan { tolerance: 1e-8, ..HERTZ });
        assert!(compatible.imbalance <= 1e-8, "{file}: off balance by {}", compatible.imbalance);
        assert!(compatible.normal.iter().all(|force| *force >= 0.0));
        let [before, after] =
            [&state.normal_forces(), &compatible.normal].map(|forces| state.pushed_by(forces));
        let dynamic = |all: Vec<DVec3>| -> Vec<DVec3> {
            let bodies = all.into_iter().enumerate();
            bodies.filter(|(body, _)| state.world.bodies.is_dynamic(*body)).map(|(_, force)| force).collect()
        };
        let off = apart(&dynamic(after), &dynamic(before));
        assert!(off < 1e-7, "{file}: {off}");
        let share = compatible.over_friction(&state);
        assert!((0.0..0.5).contains(&share), "{file}: {share} of the contacts beyond friction");
    }
}

/// Compatible forces of a restored state equal those of the state that was saved.
#[test]
fn a_saved_state_has_the_same_compatible_forces() {
    let scenario = scenario("beam.toml", &[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.esker");
    let mut simulation = Simulation::new(&scenario, Device::Cpu).unwrap();
    simulation.run_until(0.2).unwrap();
    simulation.save(&file).unwrap();
    let mut saved = Simulation::restore(&scenario, Device::Cpu, &file).unwrap();
    let [now, then] = [&mut simulation, &mut saved]
        .map(|simulation| simulation.state().unwrap().compatible().unwrap().clone());
    assert_eq!(now, then);
    assert!(now.normal.iter().sum::<f64>() > 9.9);
}

/// Gravity grows by a fifth on a pyramid at rest, and the next step has two sweeps only. Its compatible forces balance what the solver
/// found to 1e-10, and are wrong: `unbalanced` tells by how much, within a factor of three, and is small after 300 sweeps.
#[test]
fn forces_of_a_step_that_has_not_converged_tell_how_far_they_are_from_balance() {
    let settings = ["solver.iterations=300", "grains.0.packing.counts=[6, 6, 1]", "grains.1.packing.rows=5"];
    let corner = "grains.0.packing.corner=[-0.025, -0.025, 0.005]";
    let scenario = scenario("pyramid.toml", &[&settings[..], &[corner]].concat());
    let mut engine = cpu(&scenario.world, &scenario.settings);
    engine.advance(300).unwrap();
    let at_rest = engine.snapshot().unwrap();
    assert!(unbalanced(&at_rest) < 1e-3, "at rest {}", unbalanced(&at_rest));
    let [hasty, converged] = [2, 1000].map(|sweeps| {
        let mut engine = cpu(&at_rest.world, &scenario.settings);
        engine.seed(&forces(&at_rest)).unwrap();
        engine.change(&mut |world| world.gravity *= 1.2).unwrap();
        engine.set_iterations(sweeps);
        engine.advance(1).unwrap();
        engine.snapshot().unwrap()
    });
    let normal = |state: &Snapshot| {
        let compatible = CompatibleForces::of(state, &HERTZ);
        assert!(compatible.imbalance <= 1e-10, "off balance by {}", compatible.imbalance);
        state.pushed_by(&compatible.normal)
    };
    let error = apart(&normal(&hasty), &normal(&converged));
    let [told, rest] = [unbalanced(&hasty), unbalanced(&converged)];
    assert!(error > 0.03, "two sweeps are enough: {error}");
    assert!((error / 3.0..3.0 * error).contains(&told), "told {told}, off by {error}");
    assert!(rest < 0.05 * told, "after 1000 sweeps {rest}");
}

/// Compatible forces of a state without contact forces are zero.
#[test]
fn a_state_without_forces_has_none() {
    let state = cpu(&column(3, 0.1).world, &esker::settings::Settings::default()).snapshot().unwrap();
    let compatible = CompatibleForces::of(&state, &HERTZ);
    assert!(compatible.normal.iter().all(|force| *force == 0.0) && compatible.imbalance == 0.0);
}
