//! Sinks: removes grains whose centre came into a sink or left the domain. Twin: `shaders/sinks.wgsl`.

use glam::DVec3;
use rayon::prelude::*;

use crate::error::Error;
use crate::model::{Domain, Outside, Sink, World};

/// Grains looked at by one task.
const CHUNK: usize = 1024;

/// Finds the grains whose centre is inside a sink, and those outside of the domain, each with the index of its sink. Of several sinks the
/// first of the list takes the grain.
///
/// # Errors
/// [`Error::LeftDomain`] where a grain outside ends the run.
pub fn taken(world: &World) -> Result<Vec<(usize, u32)>, Error> {
    let ends = world.domain.filter(Domain::takes_out);
    let taken: Vec<(usize, u32)> = (0..world.grain_count())
        .into_par_iter()
        .with_min_len(CHUNK)
        .filter(|&grain| world.is_present(grain))
        .filter_map(|grain| Some((grain, taken_by(world, ends.as_ref(), grain)?)))
        .collect();
    let outside = world.sinks.len() as u32;
    if ends.is_some_and(|domain| domain.outside == Outside::Stop)
        && let Some(&(grain, _)) = taken.iter().find(|&&(_, sink)| sink == outside)
    {
        let DVec3 { x, y, z } = world.bodies.position[world.grain_body(grain)];
        return Err(Error::LeftDomain { grain: world.ids[grain], time: world.time, x, y, z });
    }
    Ok(taken)
}

/// Removes these grains into their sinks. Returns the kinetic energy that those of them had whose body `counts` \[J\].
pub fn remove(world: &mut World, taken: &[(usize, u32)], counts: impl Fn(usize) -> bool) -> f64 {
    let energy = |&(grain, sink): &(usize, u32)| {
        let energy = world.remove_grain(grain, sink);
        if counts(world.grain_body(grain)) { energy } else { 0.0 }
    };
    taken.iter().map(energy).sum()
}

/// Index of the sink that takes a grain, or the number of sinks for a grain outside of the domain.
fn taken_by(world: &World, domain: Option<&Domain>, grain: usize) -> Option<u32> {
    let centre = world.bodies.position[world.grain_body(grain)];
    let holds = |sink: &Sink| sink.contains(world.periodic.image(centre, sink.position));
    let sink = world.sinks.iter().position(holds);
    let is_outside = || domain.is_some_and(|domain| !domain.contains(centre));
    sink.or_else(|| is_outside().then_some(world.sinks.len())).map(|sink| sink as u32)
}
