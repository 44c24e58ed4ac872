//! Engines of several ranks that are threads of this process; shared with the tests.
#![allow(clippy::unwrap_used, reason = "what is wrong here is to fail loudly")]

use std::thread;

use esker::model::World;
use esker::ranks::communicator::threads;
use esker::ranks::engine::{Ranked, RankedEngine, open};
use esker::settings::Settings;
use esker::simulation::answer;

/// Does `work` with the engine of this many ranks of one thread.
pub fn on_ranks<T: Send>(
    ranks: usize,
    world: &World,
    settings: &Settings,
    work: impl FnOnce(&mut RankedEngine) -> T + Send,
) -> T {
    on_ranks_of(1, ranks, world, settings, work)
}

/// As [`on_ranks`], with this many threads for each rank.
pub fn on_ranks_of<T: Send>(
    threads_each: usize,
    ranks: usize,
    world: &World,
    settings: &Settings,
    work: impl FnOnce(&mut RankedEngine) -> T + Send,
) -> T {
    let pool = || rayon::ThreadPoolBuilder::new().num_threads(threads_each).build().unwrap();
    thread::scope(|scope| {
        let mut communicators = threads(ranks).into_iter();
        let first = communicators.next().unwrap();
        for communicator in communicators {
            scope.spawn(move || {
                let opened =
                    pool().install(|| open(Box::new(communicator), world.clone(), *settings, answer));
                let Ok(Ranked::Worker(worker)) = opened else { panic!("rank 0 is the first") };
                pool().install(|| worker.serve());
            });
        }
        pool().install(|| match open(Box::new(first), world.clone(), *settings, answer) {
            Ok(Ranked::Root(mut engine)) => work(&mut engine),
            _ => panic!("rank 0 is the root"),
        })
    })
}
