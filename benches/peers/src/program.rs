//! What the programs have in common: they advance a scene, and show where its grains are.

use std::error::Error;
use std::fmt;

use esker::contact::Impulse;
use esker::cpu::broadphase::find_pairs;
use esker::engine::{Snapshot, StepReport};
use esker::model::World;
use esker::observe::{DrumPlan, contacts, energy, flow, packing};

use crate::hulls::overlaps;

/// Time step of all programs \[s\].
pub const STEP: f64 = 5e-3;

/// A program with a scene in it.
pub trait Program {
    /// Name and settings.
    fn name(&self) -> String;

    /// Advances by `steps` steps of [`STEP`].
    ///
    /// # Errors
    /// When a step fails.
    fn advance(&mut self, steps: u64) -> Result<(), Box<dyn Error>>;

    /// Whether it computes in this process.
    fn is_here(&self) -> bool {
        true
    }

    /// Tells more of the program on the standard error.
    fn tell(&mut self) {}

    /// The scene as it is now, in the words of esker.
    ///
    /// # Errors
    /// When the state cannot be read back.
    fn world(&mut self) -> Result<World, Box<dyn Error>>;
}

/// Processor time of all threads of this process so far \[ms\], where the system tells it.
pub fn processor_time() -> Option<f64> {
    let of_thread = |entry: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(entry.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    let nanoseconds: f64 = std::fs::read_dir("/proc/self/task").ok()?.filter_map(of_thread).sum();
    Some(nanoseconds * 1e-6)
}

/// What a bed amounts to.
pub struct State {
    /// Mean and maximum overlap of the contacts that overlap \[d\].
    mean_overlap: f64,
    max_overlap: f64,
    /// 99th percentile of the tops of the grains \[d\].
    height: f64,
    /// Per grain, spin included \[m g d\].
    kinetic_energy: f64,
}

impl State {
    /// Judges a bed by the positions and velocities of its grains alone, whichever program moved them.
    ///
    /// # Errors
    /// When a grain is nowhere: the program blew up.
    pub fn of(world: World, diameter: f64) -> Result<State, Box<dyn Error>> {
        if !world.bodies.position.iter().all(|position| position.is_finite()) {
            return Err("the position of a grain is not a number: the bed blew up".into());
        }
        let keys = find_pairs(&world, 0.0);
        let hulls = overlaps(&world, &keys);
        let pairs = keys.into_iter().map(|key| (key, Impulse::default())).collect();
        let snapshot = Snapshot::new(world, pairs, STEP, StepReport::default());
        // The observer gives overlaps over the radius.
        let overlap = contacts::overlap(&snapshot);
        let [mean, max] = if hulls.is_empty() {
            [0.5 * overlap.mean, 0.5 * overlap.max]
        } else {
            let sum: f64 = hulls.iter().sum();
            [sum / hulls.len() as f64, hulls.iter().copied().fold(0.0, f64::max)].map(|of| of / diameter)
        };
        Ok(State {
            mean_overlap: mean,
            max_overlap: max,
            height: packing::height_p99(&snapshot) / diameter,
            kinetic_energy: energy::kinetic_per_grain(&snapshot),
        })
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let State { mean_overlap, max_overlap, height, kinetic_energy } = self;
        write!(f, "{mean_overlap:.4} | {max_overlap:.3} | {height:.2} | {kinetic_energy:.0e}")
    }
}

/// Dynamic angle \[degrees\] and share of the grains that turn with a drum \[-\], by the positions and velocities of the grains alone.
pub fn flow_in(world: World, drum: &DrumPlan) -> [f64; 2] {
    let snapshot = Snapshot::new(world, Vec::new(), STEP, StepReport::default());
    [flow::dynamic_angle_deg(&snapshot, drum), flow::plug_share(&snapshot, drum)]
}
