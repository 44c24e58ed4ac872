//! The smooth method \[E13\]: restitution, rebounds, heights and energies of springs and dampers.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::engine::{Engine, Precision, Snapshot};
use esker::law::damping::Damping;
use esker::law::normal::NormalLaw;
use esker::observe::energy;
use esker::observe::flow::rms_speed;
use esker::observe::packing::height;
use esker::scenario::Scenario;
use esker::settings::{Method, Settings};

fn smooth(time_step: f64) -> Settings {
    Settings { method: Method::Smooth, time_step, ..Settings::default() }
}

fn smooth_engines(scene: &Scenario, settings: &Settings) -> [Box<dyn Engine>; 2] {
    both(&scene.world, settings)
}

/// A scene on a floor, with overrides like those of `--set`.
fn scene(text: &str, overrides: &[&str]) -> Scenario {
    pellets_with(&format!("{FLOOR}{text}"), overrides)
}

/// A grain falls on a floor, and one grain on another of a third of its size, without gravity: both part with the restitution of their
/// pair. The step is a 500th of the contact or less.
#[test]
fn bodies_part_with_their_restitution_at_any_speed() {
    let text = r#"
[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
packing = { kind = "list", positions = [[0, 0, 0.0066], [0.1, 0, 0.02]], velocities = [[0, 0, -1], [0, 0, 0]] }

[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.002 }
packing = { kind = "list", positions = [[0.1, 0, 0.03]], velocities = [[0, 0, -0.3]] }
"#;
    for restitution in [0.1, 0.5, 0.9, 0.99] {
        let restitution_is = format!("materials.pellet.restitution={restitution}");
        let scene = scene(text, &["gravity=[0, 0, 0]", &restitution_is]);
        for normal_law in [NormalLaw::Hertz, NormalLaw::Hooke] {
            let settings = Settings { normal_law, ..smooth(2e-6) };
            // One of them on the GPU, too.
            let engines = smooth_engines(&scene, &settings).into_iter();
            for mut engine in engines.take(if restitution == 0.5 { 2 } else { 1 }) {
                engine.advance(8000).unwrap();
                let world = engine.snapshot().unwrap().world;
                let speed = |grain: usize| world.bodies.velocity[world.grain_body(grain)].z;
                let parted = [speed(0), (speed(2) - speed(1)) / 0.3];
                for found in parted {
                    assert!((found - restitution).abs() < 1e-3, "{normal_law:?} {restitution}: {found}");
                }
            }
        }
    }
}

/// A sink takes a grain out of a contact that presses, without a search after it: what is left of the contact presses no more.
#[test]
fn a_grain_that_a_sink_takes_no_longer_pushes_its_neighbour() {
    let text = r#"
[[sinks]]
name = "left"
region = { kind = "box", min = [-1, -1, 0.01], max = [-0.0002, 1, 1] }

[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
allow_overlap = true
packing = { kind = "list", positions = [[0, 0, 0.1], [0.0128, 0, 0.1]], velocities = [[-0.5, 0, 0], [-0.5, 0, 0]] }
"#;
    let scene = scene(text, &["gravity=[0, 0, 0]"]);
    for mut engine in smooth_engines(&scene, &smooth(1e-5)) {
        let name = engine.identity().engine;
        let mut step = || {
            let searches = engine.advance(1).unwrap().searches;
            let world = engine.snapshot().unwrap().world;
            (world.removed[0].is_some(), world.bodies.velocity[world.grain_body(1)].x, searches)
        };
        let mut before = step();
        let mut taken = step();
        for _ in 0..100 {
            if taken.0 {
                break;
            }
            (before, taken) = (taken, step());
        }
        assert!(taken.0 && taken.1 > before.1, "{name}: it pushes until it is taken: {before:?} {taken:?}");
        for _ in 0..20 {
            let (_, speed, searches) = step();
            assert_eq!((speed, searches), (taken.1, 0), "{name}");
        }
    }
}

/// A column of pellets at rest is compressed as Hertz predicts: its height is that of the nonsmooth method, to a millionth.
#[test]
fn a_column_has_the_height_of_hertz() {
    // Time to rest grows as the square of the number of pellets; the GPU engine takes the shorter column alone.
    for (count, steps, engines) in [(10, 15_000, 2), (25, 90_000, 1)] {
        let scene = column(count, 0.0);
        let nonsmooth = Settings { iterations: 500, ..Settings::default() };
        let mut engine = cpu(&scene.world, &nonsmooth);
        engine.advance(1000).unwrap();
        let expected = height(&engine.snapshot().unwrap());
        for mut engine in smooth_engines(&scene, &smooth(1e-4)).into_iter().take(engines) {
            engine.advance(steps).unwrap();
            let found = height(&engine.snapshot().unwrap());
            assert!((found / expected - 1.0).abs() < 1e-6, "{count}: {found} m of {expected} m");
            let lattice = f64::from(count) * D;
            assert!((found / lattice - 1.0).abs() > 1e-3, "it gives way");
        }
    }
}

/// Spheres in touch with a plane, far apart, each with a velocity along it and one into it \[m/s\].
fn spheres_at_a_plane(radius: f64, velocities: &[[f64; 2]]) -> String {
    let list = |of: &dyn Fn(usize) -> String| (0..velocities.len()).map(of).collect::<Vec<_>>().join(", ");
    let positions = list(&|i| format!("[{}, 0, {radius}]", 8.0 * radius * i as f64));
    let velocities = list(&|i| format!("[{}, 0, {}]", velocities[i][0], -velocities[i][1]));
    format!(
        r#"
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = {radius} }}
packing = {{ kind = "list", positions = [{positions}], velocities = [{velocities}] }}
"#
    )
}

/// Steel of test 5 of Chung & Ooi 2011, with this friction.
fn steel(friction: f64) -> String {
    format!(
        "materials.pellet={{ density = 7850.0, youngs_modulus = 208e9, poisson_ratio = 0.3, restitution = 1.0, friction = {friction} }}"
    )
}

/// Chung & Ooi 2011, test 4, where the contact sticks: its springs give back tangential velocity, and the sphere spins faster than a rigid
/// one. Velocities and spins of the paper, read off its curves.
#[test]
fn tangential_springs_give_back_what_rigid_contacts_do_not() {
    let angles: [(f64, f64, f64); 4] =
        [(15.0, 0.6299, 378.0), (20.0, 0.8217, 511.0), (25.0, 1.045, 599.0), (30.0, 1.334, 617.0)];
    let velocities =
        angles.map(|(angle, ..)| [3.9 * angle.to_radians().sin(), 3.9 * angle.to_radians().cos()]);
    let oxide = [
        "gravity=[0, 0, 0]",
        "materials.pellet={ density = 4000.0, youngs_modulus = 380e9, poisson_ratio = 0.23, restitution = 0.98, friction = 0.092 }",
    ];
    let scene = scene(&spheres_at_a_plane(0.0025, &velocities), &oxide);
    for mut engine in smooth_engines(&scene, &smooth(2e-8)) {
        engine.advance(1000).unwrap();
        let bodies = engine.snapshot().unwrap().world.bodies;
        for (i, (angle, tangential, spin)) in angles.into_iter().enumerate() {
            let found = (bodies.velocity[i + 1].x, bodies.angular_velocity[i + 1].y);
            assert!((found.0 / tangential - 1.0).abs() < 0.025, "{angle}°: {} m/s of {tangential}", found.0);
            assert!((found.1 / spin - 1.0).abs() < 0.025, "{angle}°: {} rad/s of {spin}", found.1);
            let rigid = 5.0 / 7.0 * 3.9 * angle.to_radians().sin();
            assert!((rigid / tangential - 1.0).abs() > 0.04, "a rigid contact is told from it: {rigid} m/s");
        }
    }
}

/// Velocity of the contact point along the plane \[m/s\] and spin \[rad/s\] of spheres after an impact, per engine (Chung & Ooi 2011, test
/// 5). The spheres have a diameter of 20 μm and hit a plane at 5 m/s with the given speeds along it \[m/s\].
fn tiny_spheres_after_impact(speeds: &[f64], settings: &Settings, overrides: &[&str]) -> [Vec<[f64; 2]>; 2] {
    let velocities: Vec<_> = speeds.iter().map(|&along| [along, 5.0]).collect();
    let text = spheres_at_a_plane(1e-5, &velocities);
    let scene = scene(&text, &[&["gravity=[0, 0, 0]"], overrides].concat());
    both(&scene.world, settings).map(|mut engine| {
        engine.advance(600).unwrap();
        let bodies = engine.snapshot().unwrap().world.bodies;
        let of_sphere = |i: usize| {
            let spin = bodies.angular_velocity[i].y;
            [bodies.velocity[i].x - 1e-5 * spin, spin]
        };
        (1..=speeds.len()).map(of_sphere).collect()
    })
}

/// Chung & Ooi 2011, test 5, with x the speed along the plane over μ times that into it. Beyond x = 7 the contact slides throughout, and
/// its point leaves with (x - 7) μ v. Below, the springs send the point back and spin the sphere faster than a rigid contact, which stops
/// it. The lever of the force is shorter than the radius by up to the overlap, at most 0.9 % of it, and so is the spin of 5 μ v/R, by at
/// most the same share.
#[test]
fn a_tiny_sphere_slides_or_is_sent_back_by_its_springs() {
    let steel = steel(0.3);
    let unit = 0.3 * 5.0;
    let x = [3.0, 4.0, 5.0, 9.158, 11.904, 31.10];
    let speeds = x.map(|x| x * unit);
    for (engine, after) in
        tiny_spheres_after_impact(&speeds, &smooth(1e-10), &[&steel]).into_iter().enumerate()
    {
        for (x, [point, spin]) in x.into_iter().zip(after) {
            let (point, spin) = (point / unit, 1e-5 * spin / unit);
            if x > 7.0 {
                assert!(
                    (point - (x - 7.0)).abs() < 0.045 && (spin - 5.0).abs() < 0.045,
                    "engine {engine}, {x}: {point}, {spin}"
                );
            } else {
                assert!(point < -0.5 && spin > 5.0 / 7.0 * x + 0.5, "engine {engine}, {x}: {point}, {spin}");
            }
        }
    }
    let rigid = Settings { time_step: 1e-9, ..Settings::default() };
    for [point, spin] in tiny_spheres_after_impact(&speeds[..3], &rigid, &[&steel]).concat() {
        assert!((point / unit).abs() < 1e-3, "a rigid contact stops its point: {point} m/s, spin {spin}");
    }
}

/// Linear springs without slip: normal and tangential spring are two oscillators, of m and of 2/7 m. Half a period of the first turns the
/// velocity u of the contact point into u cos(π √(7 κ/2)), with κ = k_t/k_n; κ = 2/7 reverses it.
#[test]
fn a_contact_that_sticks_returns_the_velocity_of_two_oscillators() {
    let hooke = Settings { normal_law: NormalLaw::Hooke, ..smooth(1e-10) };
    let rough = steel(1e4);
    for ratio in [2.0 / 7.0, 0.5, 1.0] {
        let pair =
            format!("pairs=[{{ materials = [\"pellet\", \"pellet\"], tangential_stiffness = {ratio} }}]");
        let expected = 3.0 * (std::f64::consts::PI * (3.5_f64 * ratio).sqrt()).cos();
        for after in tiny_spheres_after_impact(&[3.0], &hooke, &[&rough, &pair]) {
            let [point, _] = after[0];
            assert!((point - expected).abs() < 0.03, "κ = {ratio}: {point} m/s, expected {expected}");
        }
    }
}

/// Oblique impacts beside an integration of the equations of \[E13\] by themselves (eighth order, from event to event:
/// `benches/peers/contact_equations.py`): one that sticks and one that slides, both of which roll and twist in no plane, and one without
/// dampers that sticks. Forces lag by half a step, so velocities are off by less than the step over the duration of the collision, times
/// the normal speed, and by half as much at half the step: what both steps extrapolate to is ten times as near. (The normal velocity is
/// left out, as its error depends on where in a step the contact ends.) A spring that keeps its force while the contact unloads would give
/// the last grain 2.9858 rad/s.
#[test]
fn oblique_impacts_come_to_the_integrated_equations_at_first_order() {
    const RADIUS: f64 = 0.005;
    // 2.943 times the largest overlap over the normal speed, without dampers.
    let (speed, collision) = (0.1, 7.478e-4);
    let impacts = [
        (
            "damped",
            [0.05, 0.02],
            [5.0, -8.0, 20.0],
            [0.0178977018, 0.0053546619],
            [-1.1113643, 3.8756923, 6.4265052],
        ),
        (
            "damped",
            [0.3, -0.1],
            [40.0, 10.0, -30.0],
            [0.2250641397, -0.1168766931],
            [21.9196219, 39.3647226, -21.5684509],
        ),
        ("elastic", [0.05, 0.0], [0.0; 3], [0.0426495363, 0.0], [0.0, 3.6658180, 0.0]),
    ];
    let mut text = String::new();
    for (name, restitution, rolling) in [("damped", 0.5, 0.2), ("elastic", 1.0, 0.0)] {
        let like = "density = 2500\nyoungs_modulus = 1e8\npoisson_ratio = 0.25\nfriction = 0.5";
        text += &format!(
            "[materials.{name}]\n{like}\nrestitution = {restitution}\nrolling_resistance = {rolling}\n"
        );
    }
    for (place, (material, [x, y], spin, ..)) in impacts.iter().enumerate() {
        text += &format!(
            r#"
[[grains]]
material = "{material}"
radius = {{ kind = "constant", value = {RADIUS} }}
angular_velocity = {spin:?}
packing = {{ kind = "list", positions = [[{}, 0, {RADIUS}]], velocities = [[{x:?}, {y:?}, {}]] }}
"#,
            10.0 * RADIUS * place as f64,
            -speed
        );
    }
    // The law of a pair has the smaller values of both.
    let floor = "materials.pellet={ density = 2500.0, youngs_modulus = 1e8, poisson_ratio = 0.25, restitution = 1.0, friction = 0.5, rolling_resistance = 0.2 }";
    let scene = scene(&text, &["gravity=[0, 0, 0]", floor]);
    let after = |mut engine: Box<dyn Engine>, time_step: f64| {
        engine.advance((1.2e-3 / time_step).round() as u64).unwrap();
        let bodies = engine.snapshot().unwrap().world.bodies;
        [0, 1, 2].map(|i| {
            let (velocity, turn) = (bodies.velocity[i + 1], RADIUS * bodies.angular_velocity[i + 1]);
            [velocity.x, velocity.y, turn.x, turn.y, turn.z]
        })
    };
    let exact = impacts.map(|(.., [x, y], [p, q, r])| [x, y, RADIUS * p, RADIUS * q, RADIUS * r]);
    let farthest =
        |a: &[f64; 5], b: &[f64; 5]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let check = |found: &[[f64; 5]; 3], bound: f64, what: &str| {
        for ((found, exact), number) in found.iter().zip(&exact).zip(1..) {
            let error = farthest(found, exact);
            assert!(
                error < bound,
                "{what}, impact {number}: {found:?}, {error} m/s from {exact:?}, allowed {bound}"
            );
        }
    };
    let (step, half) = (2e-6, 1e-6);
    let bound = |step: f64| step / collision * speed;
    let [on_cpu, on_gpu] = smooth_engines(&scene, &smooth(step)).map(|engine| after(engine, step));
    check(&on_cpu, bound(step), "cpu");
    check(&on_gpu, bound(step), "gpu");
    let finer = after(Box::new(cpu(&scene.world, &smooth(half))), half);
    check(&finer, bound(half), "half the step");
    let extrapolated: [[f64; 5]; 3] =
        std::array::from_fn(|i| std::array::from_fn(|k| 2.0 * finer[i][k] - on_cpu[i][k]));
    check(&extrapolated, 0.1 * bound(half), "extrapolated");
    let kept = RADIUS * 2.9858;
    assert!(
        (on_cpu[2][3] - kept).abs() > 10.0 * bound(step),
        "springs lose force as the contact unloads: {:?}",
        on_cpu[2]
    );
}

/// Energy is lost to dampers and slip, never made, and the balance closes: pellets that fall into a box, spinning.
#[test]
fn springs_make_no_energy_and_the_balance_closes() {
    let text = r#"
[[boundaries]]
name = "box"
material = "pellet"
shape = { kind = "box", min = [-0.03, -0.03, -0.01], max = [0.03, 0.03, 0.3], side = "inside" }

[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
angular_velocity = [30, 20, 10]
packing = { kind = "random", count = 60, region = { kind = "box", min = [-0.03, -0.03, 0], max = [0.03, 0.03, 0.2] } }
"#;
    let scene = scene(text, &["seed=3"]);
    for mut engine in smooth_engines(&scene, &smooth(5e-5)) {
        let mut last = [0.0; 3];
        // In single precision each step rounds the velocities, and a third of the time is enough.
        let (closes, rounds) = match engine.identity().precision {
            Precision::Double => (1e-10, 9),
            Precision::Single => (1e-4, 3),
        };
        for _ in 0..rounds {
            engine.advance(1500).unwrap();
            let state = engine.snapshot().unwrap();
            assert!(energy::error_share(&state) < closes, "closure {}", energy::error_share(&state));
            let lost = lost(&state);
            for (now, before) in lost.into_iter().zip(last) {
                // The energies of overlaps and of springs are half a step apart.
                assert!(now > before - 1e-3 * lost[1].max(1e-6), "lost {now} J after {before} J");
            }
            last = lost;
        }
        assert!(last.iter().all(|&lost| lost > 1e-5), "by dampers, friction and rolling: {last:?}");
        let state = engine.snapshot().unwrap();
        let held: f64 = state.contacts.iter().map(|contact| contact.spring_energy[0]).sum();
        assert!(held > 0.0, "what friction carries at rest, springs hold");
    }
}

/// Energy lost along normals, by friction and by rolling resistance \[J\].
fn lost(state: &Snapshot) -> [f64; 3] {
    let held = |kind: usize| state.contacts.iter().map(|contact| contact.spring_energy[kind]).sum::<f64>();
    let balance = state.balance.unwrap();
    [
        -balance.normal_work - energy::elastic(state, NormalLaw::Hertz),
        -balance.friction_work - held(0),
        -balance.rolling_work - held(1),
    ]
}

/// A pellet on a slope stays where it is while the slope is below its friction, held by a spring, and slides on a steeper one.
#[test]
fn a_spring_holds_a_grain_on_a_slope_and_slips_at_the_friction() {
    for (slope, slides) in [(0.8, false), (1.2, true)] {
        let text = r#"
[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
locked_axes = ["rx", "ry", "rz"]
packing = { kind = "list", positions = [[0, 0, 0.0065]] }
"#;
        let gravity = format!("gravity=[{}, 0, -9.81]", slope * 0.91 * 9.81);
        let scene = scene(text, &[&gravity]);
        for mut engine in smooth_engines(&scene, &smooth(5e-5)) {
            engine.advance(10_000).unwrap();
            let state = engine.snapshot().unwrap();
            let body = &state.world.bodies;
            let expected = if slides { (slope - 1.0) * 0.91 * 9.81 * 0.5 } else { 0.0 };
            let speed = body.velocity[1].x;
            assert!(
                (speed - expected).abs() < 2e-3 * expected.max(1e-3),
                "slope {slope}: {speed} m/s of {expected}"
            );
            assert_eq!(state.contacts[0].is_sliding(), slides);
        }
    }
}

/// Clumps and spheres in a box: a run that is saved and restored goes on with the same bits, and one whose springs are dropped does not.
#[test]
fn a_restored_run_goes_on_with_the_same_bits() {
    let scene = clumps_among_spheres("");
    let settings = smooth(5e-5);
    // A state in which the clumps lie on one another.
    let mut fallen = cpu(&scene.world, &Settings::default());
    fallen.advance(60).unwrap();
    let scene = Scenario { world: fallen.snapshot().unwrap().world, ..scene };
    let engines = smooth_engines(&scene, &settings).into_iter().zip(smooth_engines(&scene, &settings));
    for (mut whole, mut resumed) in engines {
        whole.advance(500).unwrap();
        let mut bytes = Vec::new();
        whole.save(&mut bytes).unwrap();
        let saved = whole.snapshot().unwrap();
        whole.advance(300).unwrap();
        let expected = whole.snapshot().unwrap();
        resumed.restore(&bytes).unwrap();
        resumed.advance(300).unwrap();
        let found = resumed.snapshot().unwrap();
        assert_eq!(found.world.bodies.position, expected.world.bodies.position);
        assert_eq!(found.contacts, expected.contacts);

        let mut without = cpu(&saved.world, &settings);
        without.advance(300).unwrap();
        let positions = without.snapshot().unwrap().world.bodies.position;
        let pairs = positions.iter().zip(&expected.world.bodies.position);
        let apart = pairs.map(|(one, other)| one.distance(*other)).fold(0.0, f64::max);
        assert!(apart > 1e-5, "without springs at most {apart} m away");
    }
}

/// Springs that start from the forces of an earlier state carry the same load: a settled bed of clumps and spheres hardly stirs, and one
/// that starts without them slips.
#[test]
fn springs_start_from_the_forces_of_an_earlier_state() {
    let scene = clumps_among_spheres("");
    let settings = smooth(5e-5);
    let mut settled = cpu(&scene.world, &settings);
    settled.advance(20_000).unwrap();
    let saved = settled.snapshot().unwrap();
    let [with, without] = [true, false].map(|seeded| {
        let mut engine = cpu(&saved.world, &settings);
        if seeded {
            engine.seed(&forces(&saved)).unwrap();
        }
        engine.advance(200).unwrap();
        rms_speed(&engine.snapshot().unwrap())
    });
    assert!(with < 0.1 * without, "{with} m/s with springs, {without} m/s without");
}

/// Nonsmooth steps without impacts converge to the smooth trajectory as h (Servin et al. 2014): a ball, pressed by 3 % of its radius into a
/// viscoelastic floor that throws it up, with the damping time of the pair. (A ball that lands is brought to rest first, by the contact
/// constraint of a pair that does not touch yet; impacts give what it then lacks. At the end of a contact a damper pulls, where a contact
/// constraint lets go.)
#[test]
fn elastic_nonsmooth_steps_come_to_the_smooth_trajectory_at_first_order() {
    let text = r#"
[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
allow_overlap = true
packing = { kind = "list", positions = [[0, 0, 0.0063]] }
"#;
    let scene = scene(text, &["gravity=[0, 0, 0]", DAMPED]);
    let after = |settings: &Settings| {
        let mut engine = cpu(&scene.world, settings);
        engine.advance((0.001 / settings.time_step).round() as u64).unwrap();
        let bodies = engine.snapshot().unwrap().world.bodies;
        [bodies.position[1].z, bodies.velocity[1].z]
    };
    let exact = after(&Settings { damping: Damping::Viscoelastic, ..smooth(1e-8) });
    let (overlap, speed) = (0.0065 - exact[0], exact[1]);
    assert!(
        speed > 0.1 && overlap > 2e-4 * speed,
        "on its way out, and the damper does not pull yet: {exact:?}"
    );
    let errors = [4e-5, 2e-5, 1e-5, 5e-6].map(|time_step| {
        let found = after(&Settings { time_step, impact_threshold: 1e3, ..Settings::default() });
        [0, 1].map(|i| (found[i] - exact[i]).abs())
    });
    for (of, name) in [(0, "height"), (1, "speed")] {
        for pair in errors.windows(2) {
            let ratio = pair[0][of] / pair[1][of];
            assert!((1.7..2.4).contains(&ratio), "{name}: errors {errors:?} of {exact:?}");
        }
    }
}

/// Damping of the material \[s\]: it dissipates a part of the energy that an overlap stores, and is longer than two of any of the time
/// steps.
const DAMPED: &str = "materials.pellet.damping=2e-4";

/// The compression of a column falls as E^(-2/3), to the height of the rigid law.
#[test]
fn the_rigid_law_is_the_limit_of_stiffness() {
    let text = r#"
[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
packing = { kind = "column", count = 5, base = [0, 0, 0] }
"#;
    let at_rest = |modulus: f64, normal_law: NormalLaw| {
        let scene = scene(text, &[&format!("materials.pellet.youngs_modulus={modulus:e}")]);
        let settings = Settings { normal_law, iterations: 50, ..Settings::default() };
        let mut engine = cpu(&scene.world, &settings);
        engine.advance(1000).unwrap();
        height(&engine.snapshot().unwrap())
    };
    let rigid = at_rest(1e6, NormalLaw::Rigid);
    assert!((rigid / (5.0 * D) - 1.0).abs() < 1e-9, "{rigid} m");
    let [soft, hard] = [1e6, 1e9].map(|modulus| rigid - at_rest(modulus, NormalLaw::Hertz));
    assert!((soft / hard / 100.0 - 1.0).abs() < 0.01, "{soft} m and {hard} m");
}
