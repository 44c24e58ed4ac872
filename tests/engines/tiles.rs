//! Tiles of the CPU engine: contacts within tiles are solved as well as in colours, whatever the number of threads.

#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

#[path = "../../benches/common/step.rs"]
mod step;

use std::sync::LazyLock;

use esker::contact::coupling::Alone;
use esker::contact::flow::Flow;
use esker::contact::joints::Joints;
use esker::contact::problem::ContactProblem;
use esker::contact::solver::{Limits, Solver};
use esker::contact::{Colouring, Key};
use esker::cpu::gradient::ProjectedGradient;
use esker::cpu::sweep::ProjectedGaussSeidel;
use esker::cpu::tiles::Tiles;
use esker::cpu::{broadphase, colouring, impact, predict, residual};
use esker::engine::{Engine, Residuals};
use esker::law::restitution::IMPACT_TOLERANCE;
use esker::model::World;
use esker::oracle;
use esker::settings::Settings;
use glam::DVec3;

use crate::common;
use step::Step;

/// Grains per tile: a bed of 1 000 grains then has 16 tiles, with half of the contacts within them.
const GRAINS: usize = 100;
/// Grains on top of each other in the bed, at most.
const LAYERS: f64 = 20.0;

/// A bed of 1 000 grains, at rest.
static BED: LazyLock<(World, Settings)> = LazyLock::new(|| {
    let scenario = common::box_of(1000);
    let mut engine = common::cpu(&scenario.world, &scenario.settings);
    engine.advance(150).unwrap();
    (engine.snapshot().unwrap().world, scenario.settings)
});

/// The contact problem of a substep, without a warm start.
struct Scene(Step);

impl Scene {
    fn new(world: &World, settings: &Settings, order: impl Fn(&World, &[Key]) -> Colouring) -> Scene {
        let step = Step::new(world.clone(), *settings, order);
        assert_eq!(oracle::colouring_fault(&step.world, &step.keys, &step.colouring), None);
        Scene(step)
    }

    /// Solves it under gravity.
    fn solved_by(mut self, solver: &mut dyn Solver, sweeps: u32) -> Scene {
        let Step { world, settings, colouring, split, constraints, velocities, .. } = &mut self.0;
        predict::apply_forces(world, settings.substep(), velocities);
        let mut joints = Joints::default();
        let mut problem = ContactProblem::new(colouring, split, constraints, velocities, &mut joints);
        solver.solve(&mut problem, Limits::sweeps(sweeps), None);
        self
    }

    fn swept(self, sweeps: u32) -> Scene {
        let mut solver = ProjectedGaussSeidel::new(&self.0.settings);
        self.solved_by(&mut solver, sweeps)
    }

    fn residuals(&self) -> Residuals {
        residual::measure(self.0.settings.cone, Flow::default(), &self.0.constraints, &self.0.velocities)
    }

    /// Largest difference of the velocities from those of another scene \[m/s\].
    fn distance(&self, other: &Scene) -> f64 {
        let pairs = self.0.velocities.iter().zip(&other.0.velocities);
        pairs.map(|(a, b)| a.linear.distance(b.linear)).fold(0.0, f64::max)
    }
}

fn in_tiles(world: &World, keys: &[Key]) -> Colouring {
    colouring::with_tiles(world, keys, &Tiles::of(world, GRAINS), &Alone)
}

#[test]
fn accelerated_sweeps_converge_in_tiles_as_in_colours() {
    let (world, settings) = &*BED;
    let left = |order: fn(&World, &[Key]) -> Colouring| {
        [20, 50].map(|sweeps| Scene::new(world, settings, order).swept(sweeps).residuals().normal.mean)
    };
    let (colours, tiles) = (left(colouring::greedy), left(in_tiles));
    for (tiles, colours) in tiles.iter().zip(colours) {
        assert!(
            (tiles / colours - 1.0).abs() < 0.15,
            "{tiles} m/s are left in tiles and {colours} in colours"
        );
    }
    let at_once = left(|_, keys| colouring::all_at_once(keys.len()));
    assert!(at_once[0] > 2.0 * tiles[0], "any order would do: {at_once:?}");
}

#[test]
fn most_contacts_are_within_tiles() {
    let (world, settings) = &*BED;
    let Step { colouring, constraints, .. } = Scene::new(world, settings, in_tiles).0;
    let within = colouring.tiles().map(<[u32]>::len).sum::<usize>();
    assert!(colouring.tiles().count() == 16 && 2 * within > constraints.len());
}

#[test]
fn tiles_come_to_the_same_bits_on_any_number_of_threads() {
    let (world, settings) = &*BED;
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Scene::new(world, settings, in_tiles).swept(20))
    };
    let one = on(1);
    for threads in 2..=3 {
        let several = on(threads);
        assert_eq!((&one.0.velocities, &one.0.constraints), (&several.0.velocities, &several.0.constraints));
    }
    let colours = Scene::new(world, settings, colouring::greedy).swept(20);
    assert!(one.distance(&colours) > 0.0, "another order has other bits");
}

/// Projected gradient descent treats all contacts at once: their order changes only the last digits of its sums.
#[test]
fn projected_gradient_descent_knows_of_no_tiles() {
    let (world, settings) = &*BED;
    let descended = |order: fn(&World, &[Key]) -> Colouring, iterations| {
        Scene::new(world, settings, order).solved_by(&mut ProjectedGradient, iterations)
    };
    let (colours, tiles) = (descended(colouring::greedy, 20), descended(in_tiles, 20));
    assert!(tiles.distance(&colours) < 1e-9, "{}", tiles.distance(&colours));
    let less = descended(in_tiles, 19);
    assert!(tiles.distance(&less) > 1e-6, "an iteration more would make no difference");
}

/// Without friction the velocities after impacts are unique. When a round counts as solved, each contact may still be off by a share of the
/// fastest bounce, and each grain by the sum over the contacts below it.
#[test]
fn a_bed_bounces_in_tiles_as_in_colours() {
    let (mut world, settings) = BED.clone();
    world.materials.scale_friction(&world.materials.clone(), 0.0);
    for grain in 0..world.grain_count() {
        let body = world.grain_body(grain);
        world.bodies.velocity[body] = DVec3::new(0.0, 0.0, -1.0);
        world.bodies.angular_velocity[body] = DVec3::ZERO;
    }
    let settings = Settings { impact_iterations: 10_000, ..settings };
    let bounced = |order: fn(&World, &[Key]) -> Colouring| {
        let mut scene = Scene::new(&world, &settings, order);
        let Step { colouring, split, constraints, onsets, velocities, .. } = &mut scene.0;
        let contacts = impact::Contacts {
            colouring,
            split,
            constraints,
            onsets,
            cell: None,
            coupling: &mut Alone,
            wake: &mut |_, _, _| (),
        };
        let impacts = impact::solve(&settings, &world, contacts, velocities, |_| ());
        assert!(impacts.sweeps > 1);
        scene
    };
    let (colours, tiles) = (bounced(colouring::greedy), bounced(in_tiles));
    let before = Scene::new(&world, &settings, in_tiles);
    assert!(tiles.distance(&before) > 1.0, "it bounces");
    assert!(tiles.distance(&colours) < LAYERS * IMPACT_TOLERANCE, "{} m/s", tiles.distance(&colours));
}

#[test]
fn the_judge_of_colourings_notices_two_tiles_that_share_a_grain() {
    let world = &BED.0;
    let keys = broadphase::find_pairs(world, 0.1);
    let mut shared = in_tiles(world, &keys);
    shared.tiles[1] -= 1;
    assert!(oracle::colouring_fault(world, &keys, &shared).is_some());
}
