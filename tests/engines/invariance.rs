//! Invariance of the laws: a scene that is rotated, mirrored or moved, or whose grains are numbered in another order, behaves the same, on
//! both engines. (Same inputs, same bits: `tests/engines/robustness.rs`.)
//!
//! Scenes of few bodies are compared grain by grain, up to rounding. Scenes of many bodies can be compared by averages only, as their
//! trajectories part after some impacts, whatever the cause.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::path::Path;

use crate::common::*;
use esker::cpu::CpuEngine;
use esker::engine::{Engine, Precision, Snapshot};
use esker::law::normal::NormalLaw;
use esker::model::{Boundary, Grain, Surface, World};
use esker::observe::contacts::{coordination_number, overlap};
use esker::observe::loads::weight_supported;
use esker::observe::packing::{height_p99, up_against};
use esker::scenario::Scenario;
use esker::settings::{Acceleration, Order, Settings};
use glam::{DQuat, DVec3};

/// Radius of the pellets \[m\].
const R: f64 = D / 2.0;

/// Positions after 40 steps \[m\] of three pellets that fall on the floor and on each other, with sequential sweeps, with coloured sweeps
/// and on the GPU. They come to rest as a heap that friction can hold in many ways.
fn landing(settings: &Settings) -> [Vec<DVec3>; 3] {
    let scene = pellets(&format!(
        "{FLOOR}[[grains]]\nmaterial = \"pellet\"\nradius = {{ kind = \"constant\", value = 0.0065 }}\n\
         packing = {{ kind = \"list\", positions = [[-0.0066, 0, 0.008], [0.0066, 0, 0.0085], [0, 0, 0.021]] }}"
    ));
    let sequential = CpuEngine::new(scene.world.clone(), Settings { order: Order::Sequential, ..*settings });
    let [coloured, on_gpu] = both(&scene.world, settings);
    [Box::new(sequential), coloured, on_gpu].map(|mut engine: Box<dyn Engine>| {
        engine.advance(40).unwrap();
        engine.snapshot().unwrap().world.bodies.position
    })
}

/// Largest distance between the same bodies of two states, in radii.
fn apart(one: &[DVec3], other: &[DVec3]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max) / R
}

/// The rest positions of a heap depend on the impacts of its landing, and unless the sweeps converge these depend on the order of the
/// contacts: two orders on one engine then differ as much as two engines. With converged sweeps all come to the same rest.
#[test]
fn grains_that_land_come_to_one_rest_on_both_engines_once_their_sweeps_converge() {
    let converged = Settings {
        iterations: 500,
        impact_iterations: 500,
        acceleration: Acceleration::None,
        ..Settings::default()
    };
    let [sequential, coloured, on_gpu] = landing(&converged);
    // Some hundred roundings of single precision, of positions of three diameters.
    let [orders, engines] = [apart(&sequential, &coloured), apart(&coloured, &on_gpu)];
    assert!(orders < 1e-4 && engines < 1e-4, "orders differ by {orders:e} R, engines by {engines:e} R");
    let hasty = Settings { impact_iterations: 2, ..converged };
    let [sequential, coloured, on_gpu] = landing(&hasty);
    let [orders, engines] = [apart(&sequential, &coloured), apart(&coloured, &on_gpu)];
    assert!(
        orders > 3e-4 && engines > 3e-4,
        "without convergence {orders:e} R and {engines:e} R: that must show"
    );
}

/// View of a scene: mirrored at y = 0 or not, then rotated, then moved, with the grains numbered in another order.
#[derive(Debug, Clone, Copy)]
struct View {
    hand: Hand,
    turn: DQuat,
    shift: DVec3,
    /// Factor of the numbering: grain i gets the number i × `stride` modulo the number of grains. The two must have no common factor.
    stride: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Hand {
    Right,
    Left,
}

impl View {
    const SAME: View = View { hand: Hand::Right, turn: DQuat::IDENTITY, shift: DVec3::ZERO, stride: 1 };

    fn turned(axis: DVec3, degrees: f64) -> View {
        View { turn: DQuat::from_axis_angle(axis.normalize(), degrees.to_radians()), ..View::SAME }
    }

    /// Five views: rotated about the vertical; rotated about a tilted axis, gravity included; mirrored; moved far away; and the last three
    /// at once.
    fn all() -> [View; 5] {
        let tilted = View::turned(DVec3::new(1.0, -2.0, 0.7), 67.0);
        let far = DVec3::new(1e5, -7e4, 3e4);
        [
            View::turned(DVec3::Z, 33.0),
            tilted,
            View { hand: Hand::Left, ..View::SAME },
            View { shift: far, ..View::SAME },
            View { hand: Hand::Left, shift: far, ..tilted },
        ]
    }

    /// Whether the view is a mirror and nothing else.
    fn is_a_mirror(&self) -> bool {
        self.hand == Hand::Left && self.turn == DQuat::IDENTITY && self.shift == DVec3::ZERO
    }

    fn vector(&self, v: DVec3) -> DVec3 {
        let seen = if self.hand == Hand::Left { DVec3::new(v.x, -v.y, v.z) } else { v };
        self.turn * seen
    }

    fn point(&self, p: DVec3) -> DVec3 {
        self.vector(p) + self.shift
    }

    /// Angular velocity seen this way. It is a pseudovector, so a mirror reverses it as well.
    fn spin(&self, w: DVec3) -> DVec3 {
        if self.hand == Hand::Left { -self.vector(w) } else { self.vector(w) }
    }

    /// Orientation seen this way. All forms are their own mirror images in their own frames.
    fn orientation(&self, q: DQuat) -> DQuat {
        let seen = if self.hand == Hand::Left { DQuat::from_xyzw(-q.x, q.y, -q.z, q.w) } else { q };
        self.turn * seen
    }

    /// Surface seen this way. Its frame is relative to its body, with which it rotates and moves, so only the mirror acts.
    fn surface(&self, surface: &Surface) -> Surface {
        let on_body = View { turn: DQuat::IDENTITY, shift: DVec3::ZERO, ..*self };
        Surface {
            position: on_body.point(surface.position),
            orientation: on_body.orientation(surface.orientation),
            ..*surface
        }
    }

    /// Number that grain `i` of `count` gets.
    fn number(&self, i: usize, count: usize) -> usize {
        i * self.stride % count
    }

    fn of(&self, world: &World) -> World {
        let mut seen = World::new(self.vector(world.gravity), world.materials.clone());
        seen.clumps = world.clumps.clone();
        for (body, boundary) in world.boundaries.iter().enumerate() {
            let (position, orientation) =
                (self.point(boundary.position), self.orientation(boundary.orientation));
            let surfaces = world.surfaces.iter().filter(|surface| surface.body as usize == body);
            seen.add_boundary(
                Boundary { position, orientation, ..boundary.clone() },
                surfaces.map(|surface| self.surface(surface)),
            );
        }
        let count = world.grain_count();
        let mut grains = vec![Grain::at(DVec3::ZERO, 0.0, 0); count];
        for i in 0..count {
            let body = world.grain_body(i);
            grains[self.number(i, count)] = Grain {
                position: self.point(world.bodies.position[body]),
                orientation: self.orientation(world.bodies.orientation[body]),
                clump: world.grains[i].clump,
                velocity: self.vector(world.bodies.velocity[body]),
                angular_velocity: self.spin(world.bodies.angular_velocity[body]),
                radius: world.grain_radius(i),
                material: world.grain_material(i),
                density: world.grains[i].density,
                locked: world.bodies.locked[body],
                ..Grain::at(DVec3::ZERO, 0.0, 0)
            };
        }
        assert!(grains.iter().all(|grain| grain.radius > 0.0), "every number is given");
        seen.add_grains(grains);
        seen
    }

    /// Largest differences between a state and another one seen this way, of positions \[m\] and velocities \[m/s\], surface velocities due
    /// to spin included.
    fn differences(&self, state: &Snapshot, seen: &Snapshot) -> [f64; 2] {
        let (here, there) = (&state.world.bodies, &seen.world.bodies);
        let count = state.world.grain_count();
        let mut largest = [0.0f64; 2];
        for i in 0..count {
            let (a, b) = (state.world.grain_body(i), seen.world.grain_body(self.number(i, count)));
            let spin = (self.spin(here.angular_velocity[a]) - there.angular_velocity[b]).length();
            let velocity = (self.vector(here.velocity[a]) - there.velocity[b]).length();
            let position = (self.point(here.position[a]) - there.position[b]).length();
            largest[0] = largest[0].max(position);
            largest[1] = largest[1].max(velocity).max(R * spin);
        }
        largest
    }
}

const FLOOR: &str = r#"
[[boundaries]]
name = "floor"
material = "pellet"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
"#;

fn list(positions: &str, velocities: &str, spins: &str) -> String {
    format!(
        r#"
[[grains]]
material = "pellet"
allow_overlap = true
radius = {{ kind = "constant", value = 0.0065 }}
packing = {{ kind = "list", positions = [{positions}], velocities = [{velocities}], angular_velocities = [{spins}] }}
"#
    )
}

/// A spinning grain thrown at a floor: it bounces, slides and rolls.
///
/// The law is rigid: under an elastic one the substep that closes a gap brings it to zero up to rounding, and the sign of the remaining gap
/// decides whether the next substep treats the contact as elastic \[E2\].
fn throw() -> Scene {
    let grain = list("[0, 0, 0.0093]", "[0.4, 0.2, -0.6]", "[10, -30, 20]");
    Scene { world: pellets(&format!("{FLOOR}{grain}")).world, law: NormalLaw::Rigid }
}

/// Four grains in a row in free fall, of which the first flies at the second, off its centre.
fn chain() -> Scene {
    let row = list(
        "[0, 0, 0], [0.0139, 0.002, 0.001], [0.0273, 0.0021, 0.0009], [0.0405, 0.0023, 0.0012]",
        "[0.8, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]",
        "[0, 0, 40], [0, 0, 0], [0, 0, 0], [0, 0, 0]",
    );
    Scene { world: pellets(&row).world, law: NormalLaw::Hertz }
}

/// Three grains on a floor. A fourth falls on top of them, off the middle, and comes to rest in the hollow between them.
fn pyramid() -> Scene {
    let grains = list(
        "[0, 0, 0.0064], [0.0131, 0, 0.0064], [0.0065, 0.0114, 0.0064], [0.0068, 0.0036, 0.0177]",
        "[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, -0.2]",
        "[0, 0, 0], [0, 0, 0], [0, 0, 0], [5, 0, 0]",
    );
    Scene { world: pellets(&format!("{FLOOR}{grains}")).world, law: NormalLaw::Hertz }
}

/// Clump of three spheres, thrown at a floor: it hits with one of them, then with another. The spheres form a triangle in the plane of the
/// mirror, each its own mirror image.
fn thrown_clump() -> Scene {
    let clump = r#"
[clumps.triangle]
spheres = [
    { position = [0.006, 0, 0], radius = 0.005 },
    { position = [-0.003, 0, 0.005], radius = 0.004 },
    { position = [-0.003, 0, -0.005], radius = 0.004 },
]

[[grains]]
material = "pellet"
clump = "triangle"
turned = { axis = [1, 2, 0.5], angle_deg = 40 }
packing = { kind = "list", positions = [[0, 0, 0.0115]], velocities = [[0.3, 0.2, -0.6]], angular_velocities = [[10, -30, 20]] }
"#;
    Scene { world: pellets(&format!("{FLOOR}{clump}")).world, law: NormalLaw::Rigid }
}

struct Scene {
    world: World,
    law: NormalLaw,
}

impl Scene {
    fn settings(&self, iterations: u32) -> Settings {
        Settings {
            time_step: H,
            iterations,
            impact_iterations: iterations,
            normal_law: self.law,
            ..Settings::default()
        }
    }
}

/// Time step \[s\].
const H: f64 = 1e-3;
/// Number of steps of a run.
const STEPS: u64 = 100;

fn run(engine: &mut dyn Engine, steps: u64) -> Snapshot {
    engine.advance(steps).unwrap();
    engine.snapshot().unwrap()
}

/// Largest difference that roundings account for, of positions \[m\] and velocities \[m/s\]: in every step a velocity of up to 1 m/s is
/// rounded, and a position, which becomes a velocity as a gap over h. Roundings of N steps add up like a random walk. Positions are rounded
/// in metres from the origin, on the GPU in a cell.
fn bound(precision: Precision, shift: DVec3) -> [f64; 2] {
    let (epsilon, length) = match precision {
        Precision::Double => (f64::EPSILON, 0.1 + shift.length()),
        Precision::Single => (f64::from(f32::EPSILON), 1.1 * D),
    };
    let walk = (STEPS as f64).sqrt() * epsilon;
    let velocity = walk * (1.0 + length / H);
    [walk * length + STEPS as f64 * H * velocity, velocity]
}

/// Difference between a state and the state of the scene in another view, over its bound \[-\]: at most 1 if they agree.
fn excess(view: &View, precision: Precision, states: [&Snapshot; 2]) -> f64 {
    let found = view.differences(states[0], states[1]);
    let bound = bound(precision, view.shift);
    f64::max(found[0] / bound[0], found[1] / bound[1])
}

/// The two engines, by their precision.
const BOTH: [Precision; 2] = [Precision::Double, Precision::Single];

fn run_on(precision: Precision, world: &World, settings: &Settings) -> Snapshot {
    match precision {
        Precision::Double => run(&mut cpu(world, settings), STEPS),
        Precision::Single => run(&mut gpu(world, settings), STEPS),
    }
}

#[test]
fn few_grains_do_the_same_turned_mirrored_and_far_away() {
    for (name, scene) in
        [("throw", throw()), ("chain", chain()), ("pyramid", pyramid()), ("clump", thrown_clump())]
    {
        for precision in BOTH {
            let state = run_on(precision, &scene.world, &scene.settings(20));
            for view in View::all() {
                let seen = run_on(precision, &view.of(&scene.world), &scene.settings(20));
                let excess = excess(&view, precision, [&state, &seen]);
                assert!(excess < 1.0, "{name}, {precision:?}, {view:?}: {excess} bounds apart");
                // A mirror changes only signs, which have no rounding.
                assert!(excess == 0.0 || !view.is_a_mirror(), "{name}, {precision:?}: a mirror changed bits");
            }
        }
    }
}

#[test]
fn the_comparison_notices_gravity_left_behind_and_a_spin_taken_for_a_vector() {
    let tilted = View::turned(DVec3::X, 40.0);
    let mirror = View { hand: Hand::Left, ..View::SAME };
    for precision in BOTH {
        let scene = chain();
        let state = run_on(precision, &scene.world, &scene.settings(20));
        let left_behind = World { gravity: scene.world.gravity, ..tilted.of(&scene.world) };
        let mut spinning = mirror.of(&scene.world);
        spinning.bodies.angular_velocity.iter_mut().for_each(|spin| *spin = -*spin);
        for (mistake, view, world) in [("gravity", tilted, left_behind), ("spin", mirror, spinning)] {
            let seen = run_on(precision, &world, &scene.settings(20));
            let excess = excess(&view, precision, [&state, &seen]);
            assert!(excess > 100.0, "{mistake}, {precision:?}: only {excess} bounds apart");
        }
    }
}

/// Settings with plain sweeps, which come to one solution from one start. Friction allows several solutions, and accelerated sweeps come to
/// different ones in different orders, though no residual is left in either.
fn plain(settings: Settings) -> Settings {
    Settings { acceleration: Acceleration::None, ..settings }
}

/// Numbering the grains in another order does not change the solution. It changes the order of the contacts in a sweep, so the sweeps must
/// converge.
#[test]
fn few_grains_do_the_same_counted_in_another_order_where_the_sweeps_converge() {
    let view = View { stride: 7, ..View::SAME };
    let apart = |precision, scene: &Scene, sweeps| {
        let states = [scene.world.clone(), view.of(&scene.world)]
            .map(|world| run_on(precision, &world, &plain(scene.settings(sweeps))));
        excess(&view, precision, [&states[0], &states[1]])
    };
    for (precision, scene, sweeps) in [
        (Precision::Double, chain(), 100),
        (Precision::Single, chain(), 100),
        (Precision::Double, pyramid(), 3000),
    ] {
        let excess = apart(precision, &scene, sweeps);
        assert!(excess < 1.0, "{precision:?}, {sweeps} sweeps: {excess} bounds apart");
    }
    let excess = apart(Precision::Double, &pyramid(), 20);
    assert!(excess > 100.0, "20 sweeps do not converge, and another order must show: {excess} bounds");
}

#[test]
fn sequential_and_coloured_sweeps_have_the_same_solution() {
    for (scene, sweeps) in [(chain(), 100), (pyramid(), 3000)] {
        let states = [Order::Sequential, Order::Coloured].map(|order| {
            let settings = Settings { order, ..plain(scene.settings(sweeps)) };
            run(&mut CpuEngine::new(scene.world.clone(), settings), STEPS)
        });
        let excess = excess(&View::SAME, Precision::Double, [&states[0], &states[1]]);
        assert!(excess < 1.0, "{sweeps} sweeps: {excess} bounds apart");
    }
}

/// A grain let go on a slope too steep to hold it is, with steps of h, at ½ a t (t + h) after the time t: each halving of h halves the
/// error. Tolerance: the roundings, in single precision those of 400 steps in a cell.
#[test]
fn halving_the_time_step_halves_the_error_of_positions() {
    let mut scene = throw();
    scene.world.bodies.position[1] = R * DVec3::Z;
    scene.world.bodies.velocity[1] = DVec3::ZERO;
    scene.world.bodies.angular_velocity[1] = DVec3::ZERO;
    let slope = 60f64.to_radians();
    scene.world.gravity = 9.81 * DVec3::new(slope.sin(), 0.0, -slope.cos());
    // Rolling with μ_r = 0.32 [E4].
    let acceleration = 5.0 / 7.0 * 9.81 * (slope.sin() - 0.32 * slope.cos());
    let time = 0.1;
    for (precision, roundings) in BOTH.into_iter().zip([1e-12, 400.0 * f64::from(f32::EPSILON) * D]) {
        for steps in [100u32, 200, 400] {
            let time_step = time / f64::from(steps);
            let settings = Settings { time_step, ..scene.settings(100) };
            let mut engine: Box<dyn Engine> = match precision {
                Precision::Double => Box::new(cpu(&scene.world, &settings)),
                Precision::Single => Box::new(gpu(&scene.world, &settings)),
            };
            let found = run(engine.as_mut(), u64::from(steps)).world.bodies.position[1].x;
            let expected = 0.5 * acceleration * time * (time + time_step);
            let error = (found - expected).abs();
            assert!(error < roundings, "{precision:?}, {steps} steps: {found} m, not {expected} m");
        }
    }
}

/// Measures of a bed or a heap at rest: height \[m\], coordination number \[-\], mean overlap \[radii\].
type Measures = [f64; 3];

/// Grains fall into a box, or on a floor without walls, where they form a heap.
fn pile(walls: &str, seed: u32, friction: f64) -> World {
    let text = format!(
        r#"
{FLOOR}
{walls}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0065 }}
packing = {{ kind = "random", count = 120, region = {{ kind = "cylinder", base = [0, 0, 0.01], axis = [0, 0, 1], length = 0.2, radius = 0.03 }} }}
"#
    );
    let resolved = pellets(&text).resolved;
    let changes = [format!("seed={seed}"), format!("materials.pellet.friction={friction}")];
    let scenario = Scenario::parse("pile", &resolved, Path::new("."), &changes);
    scenario.unwrap_or_else(|problems| panic!("{problems}")).world
}

const WALLS: &str = r#"
[[boundaries]]
name = "walls"
material = "pellet"
shape = { kind = "box", min = [-0.0345, -0.0345, 0.0], max = [0.0345, 0.0345, 1.0], open = ["+z", "-z"] }
"#;

fn pile_settings(time_step: f64) -> Settings {
    Settings { time_step, iterations: 30, ..Settings::default() }
}

/// Lets a pile come to rest, asserts that the boundaries carry its weight within 1e-3, and returns its measures.
fn settle(engine: &mut dyn Engine, view: &View, time_step: f64) -> Measures {
    let state = run(engine, (1.25 / time_step).round() as u64);
    let support = weight_supported(&state);
    assert!((support - 1.0).abs() < 1e-3, "{view:?}: the boundaries carry {support} of the weight");
    let up = up_against(state.world.gravity);
    [height_p99(&state) - view.shift.dot(up), coordination_number(&state), overlap(&state).mean]
}

/// Measures of piles of six seeds on the CPU, in the given views by turns.
fn piles(walls: &str, views: &[View], friction: f64, time_step: f64) -> Vec<Measures> {
    let pile = |(seed, view): (u32, &View)| {
        let world = view.of(&pile(walls, seed, friction));
        settle(&mut cpu(&world, &pile_settings(time_step)), view, time_step)
    };
    (1..=6).zip(views.iter().cycle()).map(pile).collect()
}

/// Mean of a measure, and the sum of squares about it.
fn statistics(piles: &[Measures], measure: usize) -> [f64; 2] {
    let mean = piles.iter().map(|pile| pile[measure]).sum::<f64>() / piles.len() as f64;
    [mean, piles.iter().map(|pile| (pile[measure] - mean).powi(2)).sum::<f64>()]
}

/// Largest difference of the means of two sets of piles, in standard errors.
fn deviation(some: &[Measures], others: &[Measures]) -> f64 {
    let [n, m] = [some, others].map(|piles| piles.len() as f64);
    let of = |measure| {
        let [[mean, squares], [other, more]] = [some, others].map(|piles| statistics(piles, measure));
        let variance = (squares + more) / (n + m - 2.0);
        (mean - other).abs() / (variance * (1.0 / n + 1.0 / m)).sqrt()
    };
    (0..3).map(of).fold(0.0, f64::max)
}

/// Beds and heaps have the same averages in all views, and with half the time step. Tolerance: by chance alone two sets of six piles are
/// four standard errors apart once in 400 times.
#[test]
fn beds_and_heaps_are_the_same_on_average() {
    for (name, walls) in [("bed", WALLS), ("heap", "")] {
        let plain = piles(walls, &[View::SAME], 0.91, 5e-3);
        let views = View::all().map(|view| View { stride: 7, ..view });
        let seen = deviation(&plain, &piles(walls, &views, 0.91, 5e-3));
        let halved = deviation(&plain, &piles(walls, &[View::SAME], 0.91, 2.5e-3));
        let smooth = deviation(&plain, &piles(walls, &[View::SAME], 0.1, 5e-3));
        assert!(seen < 4.0, "{name}: turned, mirrored, moved and counted anew, {seen} standard errors off");
        assert!(halved < 4.0, "{name}: with half the time step, {halved} standard errors off");
        assert!(smooth > 8.0, "{name}: less friction must show, {smooth} standard errors off");
    }
}

#[test]
fn a_bed_on_the_gpu_turned_mirrored_and_far_away_is_like_those_on_the_cpu() {
    let plain = piles(WALLS, &[View::SAME], 0.91, 5e-3);
    let [.., view] = View::all();
    let world = view.of(&pile(WALLS, 7, 0.91));
    let found = settle(&mut gpu(&world, &pile_settings(5e-3)), &view, 5e-3);
    let deviation = deviation(&plain, &[found]);
    assert!(deviation < 4.0, "{found:?}: {deviation} standard errors off");
}
