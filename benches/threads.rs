//! Speed-up of the CPU engine with threads, and Amdahl's law, stage by stage, for more threads than there are:
//! `cargo bench --bench threads`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench fails loudly and prints its table")]

mod common;

use esker::cpu::CpuEngine;
use esker::engine::Engine;
use esker::model::World;
use esker::settings::Settings;

/// Repeats of a measurement; the fastest counts.
const REPEATS: usize = 5;
/// Numbers of threads for which Amdahl's law is evaluated.
const ASKED: [usize; 5] = [4, 8, 16, 32, 64];

/// Seconds per stage, in the order of the step.
type Stages = Vec<(&'static str, f64)>;

struct Scene {
    name: &'static str,
    world: World,
    settings: Settings,
    /// Steps that are timed.
    steps: u64,
}

impl Scene {
    fn of_file(name: &'static str, file: &str, before: u64, steps: u64) -> Scene {
        let (state, settings) = common::after(file, &[], before);
        Scene { name, world: state.world, settings, steps }
    }

    fn of_bed(name: &'static str, grains: u32, steps: u64) -> Scene {
        let (world, settings) = common::settled(grains);
        Scene { name, world, settings, steps }
    }

    /// Seconds of the stages per step on this many threads.
    fn time(&self, threads: usize) -> Stages {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let runs = (0..REPEATS).map(|_| {
            pool.install(|| {
                let mut engine = CpuEngine::new(self.world.clone(), self.settings);
                // The bed was kept without its impulses: it bounces in its first steps.
                engine.advance(self.steps).unwrap();
                let report = engine.advance(self.steps).unwrap();
                report.stages.iter().map(|(name, time)| (*name, time / self.steps as f64)).collect()
            })
        });
        runs.min_by(|a, b| total(a).total_cmp(&total(b))).unwrap()
    }
}

fn total(stages: &Stages) -> f64 {
    stages.iter().map(|(_, time)| time).sum()
}

/// Serial share of a stage, which threads do not divide, by Amdahl's law from its time on one thread and on several.
fn serial_share(one: f64, several: f64, threads: f64) -> f64 {
    ((several / one - 1.0 / threads) / (1.0 - 1.0 / threads)).clamp(0.0, 1.0)
}

fn main() {
    let cores = rayon::current_num_threads();
    assert!(cores > 1, "a speed-up takes two threads");
    let scenes = [
        Scene::of_file("compaction of 1 016 discs", "compaction.toml", 400, 100),
        Scene::of_file("drum of 4 864", "drum.toml", 300, 50),
        Scene::of_bed("bed of 10 000", 10_000, 50),
        Scene::of_bed("bed of 100 000", 100_000, 10),
    ];
    for scene in scenes {
        let counted: Vec<Stages> = (1..=cores).map(|threads| scene.time(threads)).collect();
        println!("\n### {}\n", scene.name);
        print!("| stage |");
        (1..=cores).for_each(|threads| print!(" {threads} |"));
        println!(" speed-up | serial share |");
        println!("|---|{}", "---|".repeat(cores + 2));
        let (one, all) = (&counted[0], &counted[cores - 1]);
        let shares: Vec<f64> =
            one.iter().zip(all).map(|(one, all)| serial_share(one.1, all.1, cores as f64)).collect();
        for (stage, share) in shares.iter().enumerate() {
            print!("| {} |", one[stage].0);
            counted.iter().for_each(|stages| print!(" {:.3} |", 1e3 * stages[stage].1));
            println!(" {:.2} | {share:.2} |", one[stage].1 / all[stage].1);
        }
        print!("| all [ms per step] |");
        counted.iter().for_each(|stages| print!(" {:.3} |", 1e3 * total(stages)));
        println!(" {:.2} | |", total(one) / total(all));
        let model = |threads: usize| {
            let stages = one.iter().zip(&shares);
            let times = stages.map(|((_, time), share)| time * (share + (1.0 - share) / threads as f64));
            total(one) / times.sum::<f64>()
        };
        let asked = ASKED.map(|threads| format!("{:.1} with {threads} threads", model(threads)));
        println!("\nBy the model: {}.", asked.join(", "));
    }
}
