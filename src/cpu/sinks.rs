//! Sinks: removes grains whose centre came into a sink on its path in the substep, or left the domain. Twin: `shaders/sinks.wgsl`.

use glam::DVec3;
use rayon::prelude::*;

use crate::error::Error;
use crate::model::{Domain, Outside, Sink, World};

/// Grains looked at by one task.
const CHUNK: usize = 1024;

/// Difference of the shares of a path up to which two sinks count as entered at once \[-\]; more than the rounding errors of single
/// precision.
const SAME_ENTRY: f64 = 1e-3;

/// Finds the grains whose centre came into a sink in the last substep of `h` \[s\], and those outside of the domain, each with the
/// index of its sink. Of several sinks the one that was entered first takes the grain, and of those entered at once the first of the
/// list.
///
/// # Errors
/// [`Error::LeftDomain`] where a grain outside ends the run.
pub fn taken(world: &World, h: f64) -> Result<Vec<(usize, u32)>, Error> {
    let ends = world.domain.filter(Domain::takes_out);
    let taken: Vec<(usize, u32)> = (0..world.grain_count())
        .into_par_iter()
        .with_min_len(CHUNK)
        .filter(|&grain| world.is_present(grain))
        .filter_map(|grain| Some((grain, taken_by(world, ends.as_ref(), grain, h)?)))
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
fn taken_by(world: &World, domain: Option<&Domain>, grain: usize, h: f64) -> Option<u32> {
    let body = world.grain_body(grain);
    let (centre, path) = (world.bodies.position[body], h * world.bodies.velocity[body]);
    let mut first: Option<(f64, usize)> = None;
    for (index, sink) in world.sinks.iter().enumerate() {
        if let Some(entry) = entry_into(world, sink, centre, path)
            && first.is_none_or(|(earliest, _)| entry < earliest - SAME_ENTRY)
        {
            first = Some((entry, index));
        }
    }
    let is_outside = || domain.is_some_and(|domain| !domain.contains(centre));
    let sink = first.map(|(_, index)| index).or_else(|| is_outside().then_some(world.sinks.len()));
    sink.map(|sink| sink as u32)
}

/// Share of the path to a centre after which it enters a sink \[-\]. The nearest image of the start of the path may be another than
/// that of its end.
fn entry_into(world: &World, sink: &Sink, centre: DVec3, path: DVec3) -> Option<f64> {
    let image = |point: DVec3| world.periodic.image(point, sink.position);
    let of_end = sink.entry(image(centre), path);
    if world.periodic.is_none() {
        return of_end;
    }
    let of_start = sink.entry(image(centre - path) + path, path);
    [of_end, of_start].into_iter().flatten().reduce(f64::min)
}
