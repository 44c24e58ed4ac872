//! Sinks: grains whose centre came into one are removed. Twin: `shaders/sinks.wgsl`.

use rayon::prelude::*;

use crate::world::{Sink, World};

/// Grains looked at by one task.
const CHUNK: usize = 1024;

/// Removes the grains whose centre is inside a sink; the first sink of the list takes it. Gives the kinetic
/// energy that they had \[J\].
pub fn drain(world: &mut World) -> f64 {
    if world.sinks.is_empty() {
        return 0.0;
    }
    let taken: Vec<(usize, u32)> = (0..world.grain_count())
        .into_par_iter()
        .with_min_len(CHUNK)
        .filter(|&grain| world.is_present(grain))
        .filter_map(|grain| Some((grain, sink_at(world, grain)?)))
        .collect();
    taken.into_iter().map(|(grain, sink)| world.remove_grain(grain, sink)).sum()
}

fn sink_at(world: &World, grain: usize) -> Option<u32> {
    let centre = world.bodies.position[world.grain_body(grain)];
    let holds = |sink: &Sink| sink.contains(world.periodic.image(centre, sink.position));
    world.sinks.iter().position(holds).map(|sink| sink as u32)
}
