//! Loads of the spheres in the base of a pyramid by solver, beside smooth contacts (Olsen & Kamrin, table 1):
//! `cargo bench --bench compatible`, with `-- smooth` beside steps of the smooth method, too, which takes an hour.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench fails loudly and prints its table")]

use std::path::Path;
use std::time::Instant;

use esker::engine::Snapshot;
use esker::engine::compatible::{CompatibleForces, CompatiblePlan};
use esker::law::normal::NormalLaw;
use esker::scenario::Scenario;
use esker::simulation::{Device, Simulation};

const BASE: usize = 20;

fn state(overrides: &[&str], until: f64) -> Snapshot {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/pyramid.toml");
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    let scenario = Scenario::load(&file, &overrides).unwrap_or_else(|problems| panic!("{problems}"));
    let scenario = Scenario { compatible: None, ..scenario };
    let mut simulation = Simulation::new(&scenario, Device::Cpu).unwrap();
    simulation.run_until(until).unwrap();
    simulation.state().unwrap().clone()
}

/// Load of each sphere of the base on the floor without its own weight, from contacts with these normal forces \[N\].
fn base(state: &Snapshot, forces: &[f64]) -> Vec<f64> {
    let first = state.world.boundaries.len();
    state.pushed_by(forces)[first..first + BASE * BASE].iter().map(|force| -force.z).collect()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    let difference: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
    (difference / b.iter().map(|b| b * b).sum::<f64>()).sqrt()
}

/// Relative distance of the forces from their mirror image, left for right.
fn asymmetry(forces: &[f64]) -> f64 {
    let mirrored: Vec<f64> =
        (0..BASE * BASE).map(|i| forces[BASE * (i / BASE) + BASE - 1 - i % BASE]).collect();
    apart(&mirrored, forces)
}

fn main() {
    let with_smooth = std::env::args().any(|argument| argument == "smooth");
    // Spheres of two materials, even and odd: the second is ten times as soft.
    let soft = "materials.soft={ density = 2500.0, youngs_modulus = 5e9, poisson_ratio = 0.25, restitution = 0.0, friction = 0.0 }";
    let mixed = [soft, "grains.0.material=[\"ball\", \"soft\"]", "grains.1.material=[\"ball\", \"soft\"]"];
    println!(
        "| pyramid | judge | PGS cold | PGS history | APGD cold | compatible | imbalance | wall time of compatible |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (kind, species) in [("uniform", &mixed[..0]), ("two materials", &mixed[..])] {
        let with = |more: &[&'static str]| [species, more].concat();
        let cold = state(&with(&["solver.warm_start=cold"]), 0.3);
        let history = state(&with(&["solver.warm_start=history"]), 0.3);
        let apgd = state(&with(&["solver.warm_start=cold", "solver.algorithm=apgd"]), 0.3);
        let rest = state(&with(&["solver.iterations=300", "solver.acceleration=nesterov"]), 0.3);
        let raw = [&cold, &history, &apgd].map(|state| base(state, &state.normal_forces()));
        for (name, law) in [("hooke", NormalLaw::Hooke), ("hertz", NormalLaw::Hertz)] {
            let law_setting = format!("solver.normal_law={name}");
            let law_setting: &'static str = law_setting.leak();
            let still = [law_setting, "solver.iterations=300", "solver.acceleration=nesterov"];
            let implicit = state(&with(&still), 0.3);
            let mut judges = vec![("elastic, 1 ms", implicit)];
            if with_smooth {
                let smooth = [
                    law_setting,
                    "solver.method=smooth",
                    "solver.time_step=5e-7",
                    "materials.ball.restitution=0.1",
                ];
                judges.push(("smooth, 0.5 µs", state(&with(&smooth), 0.1)));
            }
            let start = Instant::now();
            let compatible = CompatibleForces::of(&rest, &CompatiblePlan { law, tolerance: 1e-9 });
            let seconds = start.elapsed().as_secs_f64();
            let found = base(&rest, &compatible.normal);
            for (judge, elastic) in judges {
                let expected = base(&elastic, &elastic.normal_forces());
                let [a, b, c] = raw.each_ref().map(|forces| apart(forces, &expected));
                let d = apart(&found, &expected);
                println!(
                    "| {kind}, {name} | {judge} | {a:.3} | {b:.3} | {c:.3} | {d:.1e} | {:.1e} | {seconds:.1} s |",
                    compatible.imbalance
                );
            }
            println!(
                "| {kind}, {name} | asymmetry | {:.3} | {:.3} | {:.3} | {:.1e} | | |",
                asymmetry(&raw[0]),
                asymmetry(&raw[1]),
                asymmetry(&raw[2]),
                asymmetry(&found)
            );
        }
    }
}
