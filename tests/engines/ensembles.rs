//! Ensembles: worlds that are launched together come to the same bits as alone, and none of them disturbs another.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::sync::Arc;
use std::thread;

use crate::common::*;
use esker::engine::{Engine, Snapshot, StepReport};
use esker::error::Error;
use esker::gpu::ensemble::Ensemble;
use esker::gpu::{GpuEngine, Room};
use esker::model::{Grain, World};
use esker::settings::{Acceleration, Settings};
use glam::DVec3;

const STEPS: u64 = 70;

/// A world with its settings, and the number of steps that its engine is asked for at once.
struct Case {
    world: World,
    settings: Settings,
    /// Largest number of steps in a call.
    stride: u64,
}

impl Case {
    /// Steps an engine, and returns its final state and report.
    fn run(&self, engine: &mut GpuEngine) -> Result<(Snapshot, StepReport), Error> {
        let mut left = STEPS;
        while left > 0 {
            let steps = left.min(self.stride);
            engine.advance(steps)?;
            left -= steps;
        }
        let report = engine.advance(1)?;
        Ok((engine.snapshot()?, report))
    }

    fn alone(&self) -> (Snapshot, StepReport) {
        self.run(&mut gpu(&self.world, &self.settings)).unwrap()
    }
}

/// Worlds of four kinds: boxes of grains that differ in friction, time step and number of grains, a drum with grains of several sizes,
/// a cell whose walls are driven by joints, and a heap some of whose substeps are solved again.
fn cases() -> Vec<Case> {
    let settings = Settings { iterations: 10, ..Settings::default() };
    let boxes = [(150, 0.3, 5e-3, 7), (220, 0.9, 4e-3, 100), (150, 0.9, 5e-3, 32)];
    let mut cases: Vec<Case> = boxes
        .into_iter()
        .map(|(grains, friction, time_step, stride)| {
            let [grains, friction] =
                [format!("grains.0.packing.count={grains}"), format!("materials.pellet.friction={friction}")];
            let world = scenario("settle_1000.toml", &[&grains, &friction]).world;
            Case { world, settings: Settings { time_step, ..settings }, stride }
        })
        .collect();
    let accelerated = Settings { acceleration: Acceleration::Nesterov, ..settings };
    cases.push(Case { world: mixed_sizes_in_a_drum().world, settings: accelerated, stride: 23 });
    let tolerant = Settings { tolerance: 1e-4, ..settings };
    cases.push(Case { world: cell_of_sliders().world, settings: tolerant, stride: 40 });
    let heap = scenario("validation/sticky_heap.toml", &["solver.warm_start=model"]);
    cases.push(Case { world: heap.world, settings: heap.settings, stride: 32 });
    cases
}

/// Runs these cases in one ensemble, each on a thread of its own.
fn together(
    ensemble: &Arc<Ensemble>,
    cases: &[Case],
    room: impl Fn(usize) -> Room,
) -> Vec<Result<(Snapshot, StepReport), Error>> {
    let engines = cases.iter().enumerate().map(|(i, case)| member(ensemble, case, room(i))).collect();
    run_all(cases, engines)
}

fn member(ensemble: &Arc<Ensemble>, case: &Case, room: Room) -> GpuEngine {
    GpuEngine::in_ensemble(ensemble, case.world.clone(), case.settings, room).unwrap()
}

/// Runs the engines of these cases, each on a thread of its own.
fn run_all(cases: &[Case], engines: Vec<GpuEngine>) -> Vec<Result<(Snapshot, StepReport), Error>> {
    thread::scope(|scope| {
        let run = |(case, mut engine): (&'_ Case, GpuEngine)| case.run(&mut engine);
        let threads: Vec<_> =
            cases.iter().zip(engines).map(|member| scope.spawn(move || run(member))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Compares all that the states have in bits. The reports may differ in dispatches only, as a launch has those of the slowest world.
fn assert_same(found: &(Snapshot, StepReport), expected: &(Snapshot, StepReport), of: &str) {
    assert!(found.0.world == expected.0.world, "{of}: poses and velocities");
    assert!(found.0.contacts == expected.0.contacts, "{of}: contacts and impulses");
    assert!(found.0.balance == expected.0.balance, "{of}: energy balance");
    assert!(found.0.impulses == expected.0.impulses, "{of}: loads on boundaries");
    let told = |report: &StepReport| StepReport {
        dispatches: Default::default(),
        stages: Vec::new(),
        ..report.clone()
    };
    assert_eq!(told(&found.1), told(&expected.1), "{of}");
}

#[test]
fn worlds_come_to_the_same_bits_together_as_alone() {
    let cases = cases();
    let ensemble = Ensemble::new(device(), cases.len()).unwrap();
    assert_eq!(ensemble.room(), 8, "the next power of two");
    let alone: Vec<_> = cases.iter().map(Case::alone).collect();
    // The second round takes the slots that the first one left, in another order, and starts with too little room for contacts.
    for round in 0..2 {
        let room = |i| if round == 1 && i == 1 { Room::Contacts(1) } else { Room::Estimated };
        let found = together(&ensemble, &cases, room);
        for (i, (found, alone)) in found.iter().zip(&alone).enumerate() {
            assert_same(found.as_ref().unwrap(), alone, &format!("world {i} in round {round}"));
        }
    }
    let loaded = |state: &Snapshot| state.contacts.iter().filter(|contact| contact.is_active()).count();
    assert!(alone.iter().all(|(state, _)| loaded(state) > 50), "grains have to press on each other");
    assert!(alone[5].1.work.solved_again > 0, "a guard has to act");
    let [first, .., last] = [0, 1, 2].map(|i| &alone[i].0);
    assert!(first.world.bodies.position != last.world.bodies.position, "friction must show");
}

#[test]
fn a_world_that_fails_does_not_stop_the_others() {
    let mut cases = cases();
    cases.truncate(3);
    let broken = Grain { velocity: DVec3::NAN, ..Grain::at(DVec3::new(0.0, 0.0, 0.5), D / 2.0, 0) };
    cases[1].world.add_grains([broken]);
    let ensemble = Ensemble::new(device(), 4).unwrap();
    let found = together(&ensemble, &cases, |_| Room::Estimated);
    assert!(matches!(found[1], Err(Error::NotANumber { .. })), "{:?}", found[1].as_ref().err());
    for i in [0, 2] {
        assert_same(found[i].as_ref().unwrap(), &cases[i].alone(), &format!("world {i}"));
    }
}

/// A state that an engine saved, alone or in an ensemble, goes on in an ensemble to the same bits: also where it needs more room than the
/// ensemble has, so that the parts of all worlds grow.
#[test]
fn a_saved_state_goes_on_in_an_ensemble() {
    let cases = &cases()[1..3];
    let saved = |engine: &mut GpuEngine| {
        engine.advance(40).unwrap();
        let mut bytes = Vec::new();
        engine.save(&mut bytes).unwrap();
        bytes
    };
    let expected: Vec<_> = cases
        .iter()
        .map(|case| {
            let mut engine = gpu(&case.world, &case.settings);
            let bytes = saved(&mut engine);
            (bytes, case.run(&mut engine).unwrap())
        })
        .collect();
    let first = Ensemble::new(device(), 2).unwrap();
    let from_ensemble = saved(&mut member(&first, &cases[1], Room::Estimated));
    for bytes in [&expected[1].0, &from_ensemble] {
        let ensemble = Ensemble::new(device(), 2).unwrap();
        let mut engines: Vec<GpuEngine> =
            cases.iter().map(|case| member(&ensemble, case, Room::Contacts(1))).collect();
        engines[0].restore(&expected[0].0).unwrap();
        engines[1].restore(bytes).unwrap();
        for (i, found) in run_all(cases, engines).into_iter().enumerate() {
            assert_same(&found.unwrap(), &expected[i].1, &format!("world {i}"));
        }
    }
    // The state counts: a world that began anew would have done fewer steps, which reports tell.
    assert_eq!(expected[0].1.1.step, 40 + STEPS + 1);
}

#[test]
fn an_ensemble_takes_as_many_worlds_as_it_has_room_for() {
    let ensemble = Ensemble::new(device(), 2).unwrap();
    let join = || {
        let world = box_of(20).world;
        GpuEngine::in_ensemble(&ensemble, world, Settings::default(), Room::Estimated)
    };
    let [first, _second] = [join().unwrap(), join().unwrap()];
    assert!(matches!(join().err(), Some(Error::EnsembleFull { worlds: 2 })));
    drop(first);
    assert!(join().is_ok(), "a world that left makes room");
}
