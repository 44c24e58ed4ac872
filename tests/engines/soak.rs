//! A small version of `scenarios/soak.toml`: emitters run, then the bed lies still. Memory stays within the plan made before the first
//! step, and a bed at rest neither creeps nor warms up.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::io::Write;
use std::sync::atomic::AtomicBool;

use crate::common::*;
use esker::contact::{Impulse, Key};
use esker::cpu::CpuEngine;
use esker::engine::{Engine, Identity, Occupied, Snapshot, StepReport};
use esker::error::Error;
use esker::gpu::{Capacity, GpuEngine, Room};
use esker::model::{Grain, World};
use esker::observe::expectation::Judgement;
use esker::scenario::Scenario;
use esker::simulation::{self, RunOptions};

/// 400 grains on a base of 8 d, for 300 steps.
fn small_soak() -> Scenario {
    let overrides = [
        "duration=1.5",
        "output.every=0.05",
        "boundaries.0.shape.min=[-0.052, -0.052, 0.0]",
        "boundaries.0.shape.max=[0.052, 0.052, 1.0]",
        "emitters.0.region.min=[-0.052, -0.052, 0.15]",
        "emitters.0.region.max=[0.0, 0.052, 0.3]",
        "emitters.1.region.min=[0.0, -0.052, 0.15]",
        "emitters.1.region.max=[0.052, 0.052, 0.3]",
        "emitters.0.total=200",
        "emitters.1.total=200",
        "emitters.0.rate=500.0",
        "emitters.1.rate=500.0",
        "expect.grains.value=400",
        "expect.warms_up.from=1.2",
        "expect.creep.from=1.2",
    ];
    scenario("soak.toml", &overrides)
}

/// An engine, and the most memory that it ever reported \[bytes\].
struct Watched<E: Engine> {
    engine: E,
    most: u64,
}

impl<E: Engine> Watched<E> {
    fn note<T>(&mut self, result: T) -> T {
        self.most = self.most.max(self.engine.memory());
        result
    }
}

impl<E: Engine> Engine for Watched<E> {
    fn identity(&self) -> Identity {
        self.engine.identity()
    }

    fn advance(&mut self, steps: u64) -> Result<StepReport, Error> {
        let result = self.engine.advance(steps);
        self.note(result)
    }

    fn snapshot(&mut self) -> Result<Snapshot, Error> {
        self.engine.snapshot()
    }

    fn occupied(&mut self) -> Result<Occupied<'_>, Error> {
        self.engine.occupied()
    }

    fn add_grains(&mut self, grains: &[Grain]) -> Result<(), Error> {
        let result = self.engine.add_grains(grains);
        self.note(result)
    }

    fn change(&mut self, change: &mut dyn FnMut(&mut World)) -> Result<(), Error> {
        self.engine.change(change)
    }

    fn seed(&mut self, impulses: &[(Key, Impulse)]) -> Result<(), Error> {
        self.engine.seed(impulses)
    }

    fn set_iterations(&mut self, iterations: u32) {
        self.engine.set_iterations(iterations);
    }

    fn save(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        self.engine.save(out)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        self.engine.restore(state)
    }

    fn memory(&self) -> u64 {
        self.engine.memory()
    }
}

/// Runs the soak; returns the most memory \[bytes\] and the missed expectations.
fn soak(scene: &Scenario, engine: impl Engine) -> (u64, Vec<String>) {
    let mut watched = Watched { engine, most: 0 };
    let (folder, interrupt) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
    let options = RunOptions::new(folder.path(), &interrupt);
    let summary = simulation::run(scene, &mut watched, options, &mut |_| ()).unwrap();
    let verdicts = summary.expectations.into_iter();
    let missed = verdicts.filter(|verdict| verdict.verdict != Judgement::Met).map(|verdict| verdict.label);
    (watched.most, missed.collect())
}

#[test]
fn the_cpu_engine_keeps_to_its_plan_and_the_bed_rests() {
    let scene = small_soak();
    let planned = CpuEngine::planned_memory(&scene.world, scene.max_grains(), &scene.settings);
    let mut world = scene.world.clone();
    world.reserve(scene.max_grains());
    let (most, missed) = soak(&scene, cpu(&world, &scene.settings));
    assert!(most <= planned, "{most} bytes, {planned} planned");
    assert_eq!(missed, [""; 0]);
}

#[test]
fn the_gpu_engine_keeps_to_its_plan_and_the_bed_rests() {
    let scene = small_soak();
    let room = Room::Grains(scene.max_grains());
    let planned = Capacity::for_world(&scene.world, &scene.settings, room).bytes();
    let engine = GpuEngine::with_room(device(), scene.world.clone(), scene.settings, room).unwrap();
    let (most, missed) = soak(&scene, engine);
    assert!(most <= planned, "{most} bytes, {planned} planned");
    assert_eq!(missed, [""; 0]);
}

/// Control: an engine that is not told of the grains to come grows in steps, beyond what they need; a warm start that loses part of the
/// impulses lets the bed creep.
#[test]
fn growth_beyond_the_plan_and_creep_are_noticed() {
    let mut scene = small_soak();
    scene.settings.warm_start = esker::settings::WarmStart::History { fraction: 0.85 };
    let room = Room::Grains(scene.max_grains());
    let planned = Capacity::for_world(&scene.world, &scene.settings, room).bytes();
    let (most, missed) = soak(&scene, gpu(&scene.world, &scene.settings));
    assert!(most > planned, "{most} bytes, {planned} planned");
    assert!(!missed.is_empty());
}
