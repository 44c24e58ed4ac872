//! Projected gradient descent \[E15\] solves a convex problem that is close to Coulomb's law; without friction it is the problem of the
//! sweeps. Orders of sweeps, and stopping criteria, change how fast a solution is found, but not the solution.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::engine::{Engine, Snapshot};
use esker::error::Error;
use esker::gpu::layout::check_single;
use esker::law::normal::{NormalLaw, RIGID_CORRECTION};
use esker::model::World;
use esker::settings::{Acceleration, Algorithm, Order, Settings, ToleranceKind, WarmStart};

/// Pyramid of rigid pellets in a frame of walls, with redundant contacts.
fn pyramid(rows: u32, friction: f64) -> World {
    let half = f64::from(rows) * 0.0065;
    let text = format!(
        r#"{FLOOR}
[[boundaries]]
name = "frame"
material = "pellet"
shape = {{ kind = "box", min = [{:?}, {:?}, -1.0], max = [{half:?}, {half:?}, 1.0], side = "inside" }}

[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0065 }}
packing = {{ kind = "pyramid", base = [0.0, 0.0, 0.0], rows = {rows} }}
"#,
        -half, -half
    );
    let mut overrides = vec![format!("materials.pellet.friction={friction:?}")];
    overrides.push("materials.pellet.rolling_resistance=0.0".to_owned());
    let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
    pellets_with(&text, &overrides).world
}

fn rigid(algorithm: Algorithm, iterations: u32) -> Settings {
    let normal_law = NormalLaw::Rigid;
    let (acceleration, warm_start) = (Acceleration::None, WarmStart::Cold);
    Settings { algorithm, iterations, normal_law, acceleration, warm_start, ..Settings::default() }
}

fn after_a_step(world: &World, settings: &Settings) -> Snapshot {
    let mut engine = cpu(world, settings);
    engine.advance(1).unwrap();
    engine.snapshot().unwrap()
}

/// Largest difference of the velocities of a body in two states \[m/s\].
fn apart(one: &Snapshot, other: &Snapshot) -> f64 {
    let pairs = one.world.bodies.velocity.iter().zip(&other.world.bodies.velocity);
    pairs.map(|(one, other)| (*one - *other).length()).fold(0.0, f64::max)
}

/// Relative difference of the normal forces of two states, ‖f - g‖ / ‖f‖ \[-\].
fn forces_apart(one: &Snapshot, other: &Snapshot) -> f64 {
    let [one, other] = [one, other].map(Snapshot::normal_forces);
    let difference: f64 = one.iter().zip(&other).map(|(one, other)| (one - other).powi(2)).sum();
    (difference / one.iter().map(|force| force * force).sum::<f64>()).sqrt()
}

/// Gradients and sweeps without friction come to the same velocities and objective, which are unique, but to other forces, which are not
/// where contacts are redundant.
#[test]
fn without_friction_gradients_and_sweeps_bring_about_the_same_velocities_by_other_forces() {
    let world = pyramid(5, 0.0);
    let gradient = after_a_step(&world, &rigid(Algorithm::Apgd, 20_000));
    let sweeps = after_a_step(&world, &rigid(Algorithm::Pgs, 20_000));
    for (state, name) in [(&gradient, "apgd"), (&sweeps, "pgs")] {
        let residual = state.report.residuals.normal.max;
        assert!(residual < 1e-10, "{name}: {residual} m/s left");
        assert!(state.normal_forces().iter().all(|force| *force >= 0.0), "{name}: a contact pulls");
    }
    assert!(apart(&gradient, &sweeps) < 1e-8, "{} m/s", apart(&gradient, &sweeps));
    let [least, other] = [&gradient, &sweeps].map(|state| state.report.objective.unwrap());
    assert!((least - other).abs() < 1e-9 * least.abs() && least < 0.0, "{least} J and {other} J");
    assert!(forces_apart(&gradient, &sweeps) > 0.01, "forces {} apart", forces_apart(&gradient, &sweeps));

    let few = after_a_step(&world, &rigid(Algorithm::Apgd, 10));
    assert!(apart(&few, &gradient) > 1e-5, "ten iterations must show");
    assert!(few.report.objective.unwrap() > least, "what is not the least is more");
}

/// Nesterov's method needs the square root of the iterations of plain descent. On a deep column it therefore leaves less than a hundredth
/// of the residual of plain sweeps.
#[test]
fn a_column_of_fifty_takes_fewer_gradients_than_plain_sweeps() {
    let world = column(50, 0.0).world;
    let residual = |algorithm| after_a_step(&world, &rigid(algorithm, 300)).report.residuals.normal.mean;
    let [gradient, sweeps] = [Algorithm::Apgd, Algorithm::Pgs].map(residual);
    assert!(gradient < 0.01 * sweeps, "{gradient} m/s and {sweeps} m/s left");
}

/// The cone complementarity problem agrees with Coulomb's law where all contacts stick: a pile at rest stays at rest under both algorithms.
#[test]
fn what_sticks_is_as_in_sweeps() {
    let elastic =
        |algorithm, iterations| Settings { normal_law: NormalLaw::Hertz, ..rigid(algorithm, iterations) };
    let mut engine = cpu(&pyramid(4, 0.9), &elastic(Algorithm::Pgs, 300));
    engine.advance(200).unwrap();
    let world = engine.snapshot().unwrap().world;
    let speed = |algorithm, iterations| {
        let state = after_a_step(&world, &elastic(algorithm, iterations));
        state.world.bodies.velocity.iter().map(|velocity| velocity.length()).fold(0.0, f64::max)
    };
    let [gradient, sweeps] = [Algorithm::Apgd, Algorithm::Pgs].map(|algorithm| speed(algorithm, 5000));
    assert!(gradient < 1e-6 && sweeps < 1e-6, "{gradient} m/s and {sweeps} m/s");
    let few = speed(Algorithm::Apgd, 5);
    assert!(few > 1e-3, "five iterations from nothing must show: {few} m/s");
}

/// A body that slides over a floor without turning lifts until its gap is μ |u_t| h under the cone complementarity problem. Under Coulomb's
/// law it stays on the floor.
#[test]
fn a_sliding_body_lifts_by_the_way_of_a_step_times_friction() {
    let (friction, speed, h) = (0.3, 1.0, 5e-4);
    let text = format!(
        r#"{FLOOR}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0065 }}
packing = {{ kind = "list", positions = [[0.0, 0.0, 0.0065]] }}
velocity = [{speed:?}, 0.0, 0.0]
locked_axes = ["rx", "ry", "rz"]
"#
    );
    let overrides = [format!("materials.pellet.friction={friction:?}")];
    let world = pellets_with(&text, &overrides.each_ref().map(String::as_str)).world;
    let gap_and_speed = |mut engine: Box<dyn Engine>| {
        engine.advance(400).unwrap();
        let state = engine.snapshot().unwrap();
        let [place, velocity] = [state.world.bodies.position[1], state.world.bodies.velocity[1]];
        (place.z - 0.0065, velocity.x)
    };
    let [sweeps, gradients] = [Algorithm::Pgs, Algorithm::Apgd]
        .map(|algorithm| both(&world, &Settings { time_step: h, ..rigid(algorithm, 10) }));
    let (coulomb, sliding) = gap_and_speed(sweeps.into_iter().next().unwrap());
    assert!(coulomb.abs() < 1e-12, "under Coulomb's law {coulomb} m");
    // Single precision: 400 steps that each round a place in a cell of centimetres.
    for (engine, exactness) in gradients.into_iter().zip([1e-6, 1e-3]) {
        let name = engine.identity().engine;
        let (gap, left) = gap_and_speed(engine);
        let expected = friction * left * h;
        assert!((gap / expected - 1.0).abs() < exactness, "{name}: {gap} m above the floor, not {expected}");
        // Friction slows the grain down at μ g. Tolerance: at first the grain is thrown up, and the force that does so causes friction,
        // too.
        let slowed = friction * 9.81 * 400.0 * h;
        assert!((speed - sliding - slowed).abs() < 1e-9 * speed, "{sliding} m/s left");
        assert!((speed - left - slowed).abs() < 0.03 * slowed, "{name}: {left} m/s left");
    }
}

/// Gradients on both engines come to the same velocities and end at a tolerance alike; the same run has the same bits.
#[test]
fn gradients_on_the_gpu_lead_where_those_of_the_cpu_engine_do() {
    let hertz = |settings| Settings { normal_law: NormalLaw::Hertz, ..settings };
    // A settled pyramid: whether spheres that only just touch have a gap or an overlap would depend on rounding.
    let mut engine = cpu(&pyramid(4, 0.5), &hertz(rigid(Algorithm::Pgs, 300)));
    engine.advance(200).unwrap();
    let world = engine.snapshot().unwrap().world;
    let after = |mut engine: Box<dyn Engine>, steps| {
        engine.advance(steps).unwrap();
        engine.snapshot().unwrap()
    };
    let states = |settings, steps| {
        let engines = both(&world, &hertz(settings)).into_iter();
        engines.map(|engine| after(engine, steps)).collect::<Vec<Snapshot>>()
    };
    // Rounding error of the velocity gained in three steps: 8 iterations over 14 contacts with 8 roundings a visit, tenfold by the
    // momentum.
    let fall = 9.81 * Settings::default().time_step;
    let bound = 3.0 * fall * f64::from(8 * 14 * 8 * 10) * 0.5 * f64::from(f32::EPSILON);
    let few = states(rigid(Algorithm::Apgd, 8), 3);
    assert!(apart(&few[0], &few[1]) < bound, "{} m/s apart", apart(&few[0], &few[1]));
    let sweeps = apart(&few[0], &states(rigid(Algorithm::Pgs, 8), 3)[0]);
    assert!(sweeps > 10.0 * bound, "sweeps lead elsewhere: {sweeps} m/s and not {bound}");

    let tolerance = 1e-3;
    let ended = states(Settings { tolerance, ..rigid(Algorithm::Apgd, 400) }, 1);
    let [cpu, gpu] = [&ended[0], &ended[1]].map(|state| state.report.sweeps);
    assert!(1 < cpu && cpu < 400 && cpu.abs_diff(gpu) <= 1, "{cpu} and {gpu} iterations");

    let mut again = states(rigid(Algorithm::Apgd, 8), 3);
    assert_eq!(again.pop().unwrap().world, few[1].world);
}

#[test]
fn gradients_have_the_same_bits_on_one_and_two_threads() {
    let world = pyramid(12, 0.5);
    let states = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| after_a_step(&world, &rigid(Algorithm::Apgd, 30)))
    });
    assert_eq!(states[0].world, states[1].world);
    assert_eq!(states[0].normal_forces(), states[1].normal_forces());
}

#[test]
fn all_orders_come_to_the_same_velocities() {
    let world = pyramid(5, 0.0);
    let in_order =
        |order, iterations| after_a_step(&world, &Settings { order, ..rigid(Algorithm::Pgs, iterations) });
    let expected = in_order(Order::Sequential, 5000);
    for order in [Order::Coloured, Order::Blocks(4), Order::AtOnce] {
        let off = apart(&in_order(order, 20_000), &expected);
        assert!(off < 1e-8, "{order:?}: {off} m/s");
        let soon = apart(&in_order(order, 5), &in_order(Order::Sequential, 5));
        assert!(soon > 1e-5, "{order:?}: another order must show, {soon} m/s");
    }
    let one = in_order(Order::Blocks(1), 5);
    assert_eq!(one.world, in_order(Order::Sequential, 5).world, "one thread has one order");
}

/// Sweeps end when the relative change of the impulses in a sweep is below the tolerance, and not before.
#[test]
fn sweeps_end_when_impulses_hardly_change() {
    let world = pyramid(5, 0.5);
    for (algorithm, acceleration) in [
        (Algorithm::Pgs, Acceleration::None),
        (Algorithm::Pgs, Acceleration::Nesterov),
        (Algorithm::Apgd, Acceleration::None),
    ] {
        let until = |tolerance| {
            let tolerance_kind = ToleranceKind::Impulses;
            let settings = rigid(algorithm, 2000);
            after_a_step(&world, &Settings { acceleration, tolerance, tolerance_kind, ..settings })
        };
        let [loose, tight] = [1e-2, 1e-5].map(until);
        let [few, many] = [&loose, &tight].map(|state| state.report.sweeps);
        assert!(1 < few && few < many && many < 2000, "{algorithm:?}, {acceleration:?}: {few} and {many}");
        assert!(forces_apart(&loose, &tight) > 1e-4);
        assert_eq!(tight.report.work.sweeps, Some(u64::from(many)));
        assert!(
            tight.report.stages.is_empty()
                || tight.report.stages.iter().any(|(name, _)| *name == "convergence")
        );
    }
}

/// A substep removes the share `rigid_correction` of the overlap of bodies at rest: all of it, the default share, or none.
#[test]
fn the_share_of_a_rigid_overlap_that_a_step_removes_is_a_setting() {
    let overlap = 1e-5;
    for share in [1.0, RIGID_CORRECTION, 0.0] {
        let settings = Settings { rigid_correction: share, ..rigid(Algorithm::Pgs, 50) };
        let world = column(1, -overlap).world;
        for mut engine in both(&world, &settings) {
            let name = engine.identity().engine;
            engine.advance(1).unwrap();
            let state = engine.snapshot().unwrap();
            let risen = (state.world.bodies.position[1].z - world.bodies.position[1].z) / overlap;
            assert!((risen - share).abs() < 1e-3, "{name}: rose by {risen} of the overlap, not {share}");
        }
    }
}

#[test]
fn the_gpu_refuses_what_only_the_cpu_engine_has() {
    let world = column(2, 0.0).world;
    let usual = Settings::default();
    let others = [
        (Settings { order: Order::Sequential, ..usual }, "solver.order"),
        (
            Settings { tolerance_kind: ToleranceKind::Impulses, ..usual },
            "solver.tolerance_kind = \"impulses\"",
        ),
    ];
    for (settings, expected) in others {
        let refused = check_single(&world, &settings, std::iter::empty());
        assert!(matches!(refused, Err(Error::NotOnGpu { setting }) if setting == expected), "{refused:?}");
    }
    check_single(&world, &usual, std::iter::empty()).unwrap();
}
