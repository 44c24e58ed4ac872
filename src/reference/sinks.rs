//! Sinks: grains whose centre came into one are removed. Twin: `shaders/sinks.wgsl`.

use rayon::prelude::*;

use crate::world::World;

/// Grains looked at by one task.
const CHUNK: usize = 1024;

/// Removes the grains whose centre is inside a sink; the first sink of the list takes it.
pub fn drain(world: &mut World) {
    if world.sinks.is_empty() {
        return;
    }
    let taken: Vec<(usize, u32)> = (0..world.grain_count())
        .into_par_iter()
        .with_min_len(CHUNK)
        .filter(|&grain| world.is_present(grain))
        .filter_map(|grain| Some((grain, sink_at(world, grain)?)))
        .collect();
    for (grain, sink) in taken {
        world.remove_grain(grain, sink);
    }
}

fn sink_at(world: &World, grain: usize) -> Option<u32> {
    let centre = world.bodies.position[world.grain_body(grain)];
    world.sinks.iter().position(|sink| sink.contains(centre)).map(|sink| sink as u32)
}
