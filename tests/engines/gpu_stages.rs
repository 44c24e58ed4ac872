//! Each GPU stage against its CPU twin: equal inputs, poisoned outputs, bounds counted in roundings, and a proof that each comparison can
//! fail.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod facets;
mod hulls;
mod solids;
mod solve;

use std::collections::BTreeMap;

use crate::common::*;
use crate::joints::machines::digger;
use esker::contact::constants::LawConstants;
use esker::contact::constraint::{Constraint, Onset};
use esker::contact::coupling::Alone;
use esker::contact::flow::Flow;
use esker::contact::joints::Joints;
use esker::contact::problem::ContactProblem;
use esker::contact::solver::{Limits, Solver};
use esker::contact::split::Split;
use esker::contact::velocity::Velocity;
use esker::contact::{Colouring, Impulse, Key, Overflow};
use esker::cpu::narrowphase::{make_constraint, make_constraint_at};
use esker::cpu::solvers;
use esker::cpu::springs::Spring;
use esker::cpu::sweep::ProjectedGaussSeidel;
use esker::cpu::{balance, broadphase, colouring, impact, integrate, loads, residual, warm_start};
use esker::engine::{Engine, TotalImpulse, prudent};
use esker::gpu::GpuEngine;
use esker::gpu::layout::{self, ConstraintArms, ConstraintHead};
use esker::gpu::shader::Edit;
use esker::law::cone::Cone;
use esker::law::damping::Damping;
use esker::law::damping::spring_damping;
use esker::law::normal::{DAMPING_STEPS, HOOKE_OVERLAP, NormalLaw};
use esker::law::rolling::RollingArm;
use esker::model::{Form, Grain, Sink, World};
use esker::oracle;
use esker::scenario::Scenario;
use esker::settings::{Acceleration, Algorithm, LARGEST_MOMENTUM, Method, Settings, WarmStart};
use glam::{DQuat, DVec3};

/// Half a unit in the last place of a number near 1.
const ROUNDING: f64 = 0.5 * f32::EPSILON as f64;

const SEARCH: [&str; 4] = ["search", "broadphase", "matching", "colouring"];

/// GPU engine at some state, and the same state for its CPU twin, with identical numbers.
struct Case {
    name: &'static str,
    gpu: GpuEngine,
    world: World,
    settings: Settings,
    /// Contacts of the step before, by key, with the impulses they ended with.
    old: Vec<(Key, Impulse)>,
    /// Whether the warm start was the last stage that ran.
    has_just_started: bool,
}

impl Case {
    fn new(name: &'static str, scenario: &Scenario, settings: Settings, steps: u64) -> Case {
        Case::of_world(name, &scenario.world, settings, steps)
    }

    fn of_world(name: &'static str, world: &World, settings: Settings, steps: u64) -> Case {
        let mut gpu = gpu(world, &settings);
        gpu.advance(steps).unwrap_or_else(|error| panic!("{name}: {error}"));
        let snapshot = gpu.snapshot().unwrap();
        // Before the first step there are contacts, but none that a step could continue. A snapshot leaves out the points that a manifold
        // does not have.
        let keys = if steps > 0 { gpu.keys().unwrap() } else { Vec::new() };
        let solved: BTreeMap<Key, Impulse> =
            snapshot.contacts.iter().map(|contact| (contact.key, contact.impulse)).collect();
        let old = keys.into_iter().map(|key| (key, solved.get(&key).copied().unwrap_or_default())).collect();
        // Sweeps are those that the engine does.
        let settings = prudent(&settings, world);
        Case { name, gpu, world: snapshot.world, settings, old, has_just_started: false }
    }

    fn run(&mut self, stages: &[&str]) {
        for stage in stages {
            self.gpu.run_stage(stage).unwrap();
            self.has_just_started = *stage == "warm_start";
        }
    }

    /// Makes one of the mistakes that edits have put into the shaders side by side from the next search on, or none of them for 0. Which one
    /// is said by the number of sweeps, `params.iterations`, which nothing before the sweeps reads: kernels take long to compile, and so
    /// are compiled once for all mistakes.
    fn make_mistake(&mut self, number: u32) {
        self.gpu.set_iterations(1000 + number);
    }

    fn law(&self) -> LawConstants {
        LawConstants::new(&self.settings)
    }

    /// Constraints and impulses of the GPU in the form of the twin, so that both sides solve the same problem.
    fn twin_constraints(&self) -> Vec<Constraint> {
        let (constraints, impulses) = (self.gpu.constraints().unwrap(), self.gpu.impulses().unwrap());
        constraints
            .iter()
            .zip(&impulses)
            .map(|(constraint, values)| twin_constraint(self, constraint, values))
            .collect()
    }

    fn twin_velocities(&self) -> Vec<Velocity> {
        let found = if self.has_just_started {
            self.gpu.velocities_of_warm_start().unwrap()
        } else {
            self.gpu.velocities().unwrap()
        };
        let locked = &self.world.bodies.locked;
        found.iter().zip(locked).map(|(velocity, &locked)| twin_velocity(velocity, locked)).collect()
    }

    /// Mass splitting of the dynamic boundaries for the twin, in a colouring.
    fn split(&self, colouring: &Colouring) -> Split {
        let mut split = Split::new(&self.world, &self.gpu.keys().unwrap(), colouring, &mut Alone);
        split.refresh(&self.world);
        split
    }

    /// Joints of the twin at the start of a substep, from the velocities before the external forces.
    fn joints(&self, before: &[Velocity]) -> Joints {
        Joints::start(&self.world, &self.settings, self.end_of_substep(), before)
    }

    fn end_of_substep(&self) -> f64 {
        self.world.time + self.settings.substep()
    }
}

fn vector(v: [f32; 3]) -> DVec3 {
    DVec3::from(v.map(f64::from))
}

fn twin_velocity(velocity: &layout::Velocity, locked: esker::model::Axes) -> Velocity {
    Velocity {
        linear: vector(velocity.linear),
        inverse_mass: f64::from(velocity.inverse_mass),
        angular: vector(velocity.angular),
        inverse_inertia: f64::from(velocity.inverse_inertia),
        locked,
    }
}

fn twin_constraint(
    case: &Case,
    (constraint, arms): &(ConstraintHead, ConstraintArms),
    values: &[f32],
) -> Constraint {
    let mut twin = Constraint {
        bodies: constraint.bodies,
        normal: vector(constraint.normal),
        arm_a: vector(arms.arm_a),
        arm_b: vector(arms.arm_b),
        compliance: f64::from(constraint.compliance),
        bias: f64::from(constraint.bias_velocity),
        friction: f64::from(constraint.friction),
        rolling_arm: f64::from(arms.rolling_arm),
        impulse: layout::impulse(constraint, values),
        ..Constraint::default()
    };
    if !layout::has_arms(&case.world) && (constraint.bodies[1] as usize) < case.world.boundaries.len() {
        // The device does not store the arm of a wall that never turns.
        let [a, b] = constraint.bodies.map(|body| case.world.bodies.position[body as usize]);
        twin.arm_b = case.world.periodic.shortest(a - b) + twin.arm_a;
    }
    let [a, b] = twin.bodies.map(|body| Velocity::of(&case.world, body as usize));
    twin.set_inverse_d(&case.world, [&a, &b]);
    twin
}

const PERIODIC: &str = "[periodic]\nx = [0.0, 0.08]\ny = [0.0, 0.08]";

/// Random, settled and degenerate states, after none to many steps.
fn cases() -> Vec<Case> {
    let settings = Settings { iterations: 12, ..Settings::default() };
    let box_cones = Settings { cone: Cone::Box, rolling_arm: RollingArm::Radius, ..settings };
    vec![
        Case::new("no grains", &no_grains(), settings, 2),
        Case::new("one grain", &one_grain(), settings, 0),
        Case::new("coincident centres", &coincident_centres(), settings, 0),
        Case::new("many on one boundary", &many_on_one_boundary(), settings, 3),
        Case::new("no boundaries", &collision_in_space(), settings, 0),
        Case::new("one grain with more contacts than colours", &one_grain_with_many_contacts(), settings, 2),
        Case::new("locked axes", &flat(), settings, 5),
        Case::new("sizes 1:4 among moving walls", &mixed_sizes_in_a_drum(), settings, 30),
        Case::new("a box falls on a bed", &box_on_a_bed(), settings, 8),
        Case::new("a box lies on a bed", &box_on_a_bed(), settings, 40),
        Case::new("dynamic boundaries", &dynamic_boundaries_among_grains(), settings, 1),
        Case::new("dynamic boundaries later", &dynamic_boundaries_among_grains(), settings, 30),
        Case::new("a box on a corner", &box_on_a_corner(), settings, 0),
        Case::new("sliders", &cell_of_sliders(), settings, 1),
        Case::new("sliders that press", &cell_of_sliders(), settings, 60),
        Case::of_world("a digger", &digger(), settings, 30),
        Case::new(
            "free balls and a grain with many contacts",
            &one_grain_with_many_contacts_among_free_balls(),
            settings,
            0,
        ),
        Case::new("falling", &box_of(400), settings, 10),
        Case::new("settled", &box_of(400), settings, 160),
        Case::new("periodic in x, y and z", &periodic("xyz"), settings, 3),
        Case::new("periodic in x", &periodic("x"), settings, 3),
        Case::new("clumps fall", &clumps_among_spheres(""), settings, 20),
        Case::new("clumps at rest", &clumps_among_spheres(""), settings, 100),
        Case::new("clumps in a periodic cell", &clumps_among_spheres(PERIODIC), settings, 40),
        Case::of_world("pushed and turned", &pushed(), settings, 20),
        Case::new("cones that are boxes", &clumps_among_spheres(""), box_cones, 20),
        Case::of_world("solids", &solids::scene(DVec3::ZERO), settings, 0),
        Case::of_world("solids that move", &solids::scene(DVec3::ZERO), settings, 8),
        Case::of_world("sizes 1:10", &crowd(&sizes_up_to(10.0), "xy"), settings, 3),
        Case::of_world("sizes 1:100", &crowd(&sizes_up_to(100.0), ""), settings, 3),
    ]
}

/// Clumps and spheres, a third of which are pushed and turned by forces of the size of their weight.
fn pushed() -> World {
    let mut world = clumps_among_spheres("").world;
    for grain in (0..world.grain_count()).step_by(3) {
        let body = world.grain_body(grain);
        let weight = 9.81 / world.bodies.inverse_mass[body];
        let way = DVec3::new(1.0, -0.5, -2.0);
        world.set_force(body, weight * way, 0.003 * weight * way.cross(DVec3::X));
    }
    world
}

/// Compares triples (found, expected, bound): returns their number, or a message on the first difference above its bound.
fn compare(what: &str, pairs: impl IntoIterator<Item = (f64, f64, f64)>) -> Result<usize, String> {
    let mut count = 0;
    for (index, (found, expected, bound)) in pairs.into_iter().enumerate() {
        let difference = (found - expected).abs();
        if difference.is_nan() || difference > bound {
            return Err(format!("{what} {index}: found {found:e}, expected {expected:e}, bound {bound:e}"));
        }
        count += 1;
    }
    Ok(count)
}

fn components(found: DVec3, expected: DVec3, bound: f64) -> [(f64, f64, f64); 3] {
    [0, 1, 2].map(|axis| (found[axis], expected[axis], bound))
}

/// Asserts that a comparison holds, and that it fails once one number is off by ten bounds.
fn holds_and_can_fail(case: &str, what: &str, pairs: Vec<(f64, f64, f64)>) {
    let result = compare(what, pairs.iter().copied());
    assert!(result.is_ok(), "{case}: {}", result.unwrap_err());
    if let Some(&(_, expected, bound)) = pairs.last() {
        let mut wrong = pairs.clone();
        *wrong.last_mut().unwrap() = (expected + 10.0 * bound.max(f64::MIN_POSITIVE), expected, bound);
        assert!(compare(what, wrong).is_err(), "{case}: the check of {what} cannot fail");
    }
}

/// Rounding error of a gap \[m\]: distances pass through two anchored differences, a square root and a rotation, 16 roundings of them.
fn gap_bound(world: &World, key: Key) -> f64 {
    let [a, b] = [key.a, key.b].map(|shape| world.bodies.position[world.shape_body(shape) as usize]);
    16.0 * ROUNDING * (D + world.separation(a, b).length())
}

#[test]
fn broadphase_finds_the_pairs_of_its_twin_and_of_the_judge() {
    for mut case in cases() {
        case.run(&["search"]);
        case.gpu.fill_words("contacts", 0xdead_beef);
        case.run(&["broadphase"]);
        let found = case.gpu.keys().unwrap();
        let margin = case.settings.reach();
        let expected = broadphase::find_pairs(&case.world, margin);
        assert_eq!(expected, oracle::all_pairs(&case.world, margin), "{}: the twins' judge", case.name);
        assert!(found.is_sorted(), "{}: keys ascend", case.name);
        assert_same_keys(&case, &found, &expected);
        if !found.is_empty() {
            assert!(differing_keys(&case, &found[1..], &expected).is_some(), "a lost pair must show");
        }
    }
}

/// 600 radii from 1 to `ratio`, with the same volume in every octave, the largest in the middle of the list.
fn sizes_up_to(ratio: f64) -> Vec<f64> {
    let share = |i: u32| (0.5 + f64::from(i) * 0.618_033_988_75).fract();
    let radius = |i: u32| (1.0 - share(i) * (1.0 - ratio.powi(-3))).powf(-1.0 / 3.0);
    let mut radii: Vec<f64> = (0..600).map(radius).collect();
    radii[300] = ratio;
    radii
}

/// Grains of these radii \[0.05 d\] all over a box on a floor, periodic along `axes`, one of them removed. They are as dense as a packing,
/// so that some overlap, unless a period must be longer to hold three of the largest grains.
fn crowd(radii: &[f64], axes: &str) -> World {
    let unit = 0.05 * D;
    let mut world = no_grains().world;
    let form = Form::Sphere { radius: 1.0 };
    world.sinks.push(Sink {
        name: "far".into(),
        bins: Vec::new(),
        form,
        position: 1e3 * DVec3::ONE,
        orientation: DQuat::IDENTITY,
    });
    let volume: f64 = radii.iter().map(|radius| 4.2 * radius.powi(3)).sum();
    let largest = radii.iter().copied().fold(0.0, f64::max);
    let side = unit * (volume / 0.6).cbrt();
    let period = side.max(6.6 * unit * largest);
    let along = |axis: usize| if axes.contains(["x", "y", "z"][axis]) { period } else { 0.0 };
    world.periodic.length = DVec3::from([0, 1, 2].map(along));
    let place = |i: usize| {
        let place = (1.0 + i as f64) * DVec3::new(0.819_172_513_396, 0.671_043_606_704, 0.549_700_477_902);
        side * (place - place.floor())
    };
    let speed = |i: usize| DVec3::new(0.3, 0.1, -0.2) * (i % 5) as f64;
    world.add_grains(
        radii
            .iter()
            .enumerate()
            .map(|(i, &radius)| Grain { velocity: speed(i), ..Grain::at(place(i), unit * radius, 0) }),
    );
    world.remove_grain(7, 0);
    world
}

#[test]
fn broadphase_finds_the_pairs_of_grains_of_any_sizes() {
    let equal = vec![1.0; 600];
    let intruder = [vec![1.0; 300], vec![100.0], vec![1.0; 300]].concat();
    for (name, radii) in [("equal", equal), ("1:10", sizes_up_to(10.0)), ("100:1", intruder)] {
        for axes in ["", "x", "yz", "xyz"] {
            let mut case = Case::of_world(name, &crowd(&radii, axes), Settings::default(), 0);
            let margin = case.settings.reach();
            let expected = broadphase::find_pairs(&case.world, margin);
            assert_eq!(expected, oracle::all_pairs(&case.world, margin), "{name} {axes}: the twins' judge");
            case.run(&SEARCH[..2]);
            assert_same_keys(&case, &case.gpu.keys().unwrap(), &expected);
            let own_level_only = Edit { from: "(params.levels >> level) << level", to: "1u << level" };
            case.gpu.edit_shaders(&[own_level_only]).unwrap();
            case.run(&SEARCH[..2]);
            let lost = differing_keys(&case, &case.gpu.keys().unwrap(), &expected);
            assert_eq!(
                lost.is_some(),
                name != "equal",
                "{name} {axes}: larger grains not looked for must show"
            );
        }
    }
}

#[test]
fn grains_with_more_partners_than_are_remembered_find_them_all() {
    let settings = Settings { skin: 0.8, ..Settings::default() };
    let mut case = Case::of_world("wide margin", &crowd(&vec![1.0; 600], ""), settings, 0);
    let expected = broadphase::find_pairs(&case.world, settings.reach());
    let most = expected.chunk_by(|x, y| x.a == y.a).map(<[Key]>::len).max();
    assert!(most > Some(16), "{most:?} partners");
    case.run(&SEARCH[..2]);
    assert_same_keys(&case, &case.gpu.keys().unwrap(), &expected);
    case.gpu.fill_words("contacts", 0);
    let first_ones_only = Edit { from: "find_partners(Shelf(owner, true, first, count));", to: "" };
    case.gpu.edit_shaders(&[first_ones_only]).unwrap();
    case.run(&SEARCH[..2]);
    assert!(differing_keys(&case, &case.gpu.keys().unwrap(), &expected).is_some(), "lost pairs must show");
}

#[test]
fn grains_of_other_sizes_that_come_later_are_found_and_keep_the_impulses_of_those_there() {
    let mut case = Case::new("settled", &box_of(400), Settings::default(), 100);
    let place = case.world.bodies.position[case.world.grain_body(7)];
    let later = [0.1, 0.7, 9.0].map(|size| Grain::at(place + 0.55 * D * DVec3::Z, 0.5 * size * D, 0));
    case.gpu.add_grains(&later).unwrap();
    case.world.add_grains(later);
    case.run(&SEARCH[..3]);
    let expected = broadphase::find_pairs(&case.world, case.settings.reach());
    assert_same_keys(&case, &case.gpu.keys().unwrap(), &expected);
    let contacts = case.gpu.contacts().unwrap();
    let continued = contacts.iter().filter(|contact| contact.previous != u32::MAX).count();
    let still_there = case.old.iter().filter(|(key, _)| expected.binary_search(key).is_ok()).count();
    assert_eq!(continued, still_there, "no contact forgets its impulse");
    assert!(still_there > 800 && contacts.len() > still_there + 50, "{still_there} of {}", contacts.len());
}

/// First key that only one of the lists has, except keys of pairs whose gap equals the margin within rounding.
fn differing_keys(case: &Case, found: &[Key], expected: &[Key]) -> Option<Key> {
    let only_one = found
        .iter()
        .filter(|key| expected.binary_search(key).is_err())
        .chain(expected.iter().filter(|key| found.binary_search(key).is_err()));
    let on_the_edge = |key: &Key| {
        let margin = case.world.pair_margin(key.a, key.b, case.settings.reach());
        let gap = case.world.touch(key.a, key.b).map_or(f64::INFINITY, |touch| touch.gap);
        (gap - margin).abs() < gap_bound(&case.world, *key)
    };
    only_one.copied().find(|key| !on_the_edge(key))
}

fn assert_same_keys(case: &Case, found: &[Key], expected: &[Key]) {
    let differing = differing_keys(case, found, expected);
    assert!(differing.is_none(), "{}: pair {differing:?} on one side only", case.name);
}

#[test]
fn matching_finds_the_contact_that_each_one_continues() {
    let mut continued = 0;
    for mut case in cases() {
        case.run(&SEARCH[..3]);
        let old_keys: Vec<Key> = case.old.iter().map(|(key, _)| *key).collect();
        for contact in case.gpu.contacts().unwrap() {
            let key = Key { a: contact.a, b: contact.b };
            let expected = old_keys.binary_search(&key).map_or(u32::MAX, |index| index as u32);
            assert_eq!(contact.previous, expected, "{}: {key:?}", case.name);
            continued += u32::from(expected != u32::MAX);
        }
    }
    assert!(continued > 1000, "{continued} contacts were there before: too few to prove anything");
}

#[test]
fn colouring_is_valid_and_complete_and_carries_the_impulses() {
    for mut case in cases() {
        case.run(&["search"]);
        case.gpu.fill_words("impulses", 0x7fc0_0000);
        case.run(&SEARCH[1..]);
        let (keys, found) = (case.gpu.keys().unwrap(), case.gpu.colouring().unwrap());
        assert_eq!(oracle::colouring_fault(&case.world, &keys, &found), None, "{}", case.name);
        for tiles in case.gpu.tilings().unwrap() {
            let in_tiles = Colouring { tiles, starts: vec![], ..found.clone() };
            assert_eq!(oracle::colouring_fault(&case.world, &keys, &in_tiles), None, "{}", case.name);
        }

        let (contacts, impulses) = (case.gpu.contacts().unwrap(), case.gpu.impulses().unwrap());
        for contact in &contacts {
            let key = Key { a: contact.a, b: contact.b };
            let old = case.old.binary_search_by_key(&key, |(key, _)| *key).map(|index| case.old[index].1);
            let total = impulses[contact.place as usize].iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
            let size = old.unwrap_or_default();
            let expected = size.normal.hypot(size.tangent.length());
            let linear = DVec3::new(total[0], total[1], total[2]).length();
            assert!((linear - expected).abs() <= 8.0 * ROUNDING * expected, "{}: {key:?}", case.name);
        }
    }
}

/// Contacts that find none of the 8 colours become overflow contacts, in the order of their keys.
#[test]
fn a_grain_with_more_contacts_than_colours_fills_the_overflow() {
    let settings = Settings { iterations: 12, ..Settings::default() };
    let mut case = Case::new("overflow", &one_grain_with_many_contacts(), settings, 0);
    case.run(&SEARCH);
    let colouring = case.gpu.colouring().unwrap();
    assert_eq!(case.gpu.status().unwrap().colours.count_ones(), 8);
    assert!(colouring.overflow().len() > 100, "{} contacts in the overflow", colouring.overflow().len());
    let mut ascending = colouring.overflow().to_vec();
    ascending.sort_unstable();
    assert_eq!(colouring.overflow(), ascending, "the overflow stands in the order of the keys");
}

#[test]
fn the_judge_of_colourings_notices_two_contacts_of_a_grain_in_one_colour() {
    let scenario = box_of(200);
    let keys = broadphase::find_pairs(&scenario.world, 0.1);
    let good = colouring::greedy(&scenario.world, &keys);
    assert_eq!(oracle::colouring_fault(&scenario.world, &keys, &good), None);
    let mut merged = good.clone();
    merged.starts.remove(1);
    assert!(oracle::colouring_fault(&scenario.world, &keys, &merged).is_some());
    let missing = Colouring { order: good.order[1..].to_vec(), ..good };
    assert!(oracle::colouring_fault(&scenario.world, &keys, &missing).is_some());
}
