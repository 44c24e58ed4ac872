//! Looks for grains that start inside each other or inside a boundary, and for free boundaries inside others.

use std::ops::Range;

use glam::DVec3;
use rayon::prelude::*;

use super::grains::{Block, Placement, deepest_boundary};
use super::grid::SphereGrid;
use super::read::Report;
use crate::world::{Form, Grain, Surface, World};

/// Overlap that is accepted, over the smaller radius \[-\].
const ACCEPTED: f64 = 0.01;
/// Grains looked at before the search asks whether it has seen enough.
const CHUNK: usize = 8192;
/// Overlapping grains after which it has.
const ENOUGH: usize = 1000;
/// Overlaps of one grain after which it is left.
const PER_GRAIN: usize = 64;

/// An overlap of a grain, the deepest of those looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Overlap {
    grain: usize,
    other: Other,
    /// \[m\]
    depth: f64,
    /// Over the smaller radius \[-\].
    share: f64,
}

/// What a grain overlaps.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Other {
    Grain(usize),
    Boundary(usize),
}

/// Reports, per block, a grain that is on the wrong side of a boundary, or else the deepest overlap of its grains with
/// earlier ones and with boundaries.
pub fn check(placement: &Placement, blocks: &[Block], world: &World, report: &Report) {
    let astray = report_astray(placement, blocks, world, report);
    if blocks.iter().all(|block| block.allow_overlap) {
        return;
    }
    let overlaps = find(placement, blocks, world);
    for (i, block) in blocks.iter().enumerate().filter(|(i, _)| !astray.contains(i)) {
        let own: Vec<_> = overlaps.iter().filter(|overlap| placement.block_of(overlap.grain) == i).collect();
        if let Some(worst) = own.iter().max_by(|a, b| a.share.total_cmp(&b.share)) {
            let rest = match own.len() - 1 {
                0 => String::new(),
                1 => "; so does 1 more grain".to_owned(),
                more if overlaps.len() >= ENOUGH => format!("; so do at least {more} more grains"),
                more => format!("; so do {more} more grains"),
            };
            report.problem(
                &block.span,
                format!("{}{rest}", describe(worst, placement, blocks, world)),
                "move or shrink the packing, enlarge its spacing, or set allow_overlap = true in the block",
            );
        }
    }
}

/// Reports, per block, the first grain whose centre is inside of what is solid: behind a plane, in a box, a sphere or a
/// cylinder. No overlap that is meant goes so far. Thin walls, such as those of a hopper, may have grains on both sides.
/// Returns the blocks with such a grain.
fn report_astray(placement: &Placement, blocks: &[Block], world: &World, report: &Report) -> Vec<usize> {
    let solids: Vec<&Surface> = world.surfaces.iter().filter(|surface| is_solid(surface)).collect();
    let is_behind = |grain: &Grain, surface: &Surface| {
        let distance = grain.radius + world.touch_surface(surface, grain.position, grain.radius)?.gap;
        (distance < -ACCEPTED * grain.radius).then_some((-distance, surface.body as usize))
    };
    let astray = placement.grains.par_iter().enumerate().filter_map(|(id, grain)| {
        solids.iter().find_map(|surface| is_behind(grain, surface)).map(|(depth, body)| (id, depth, body))
    });
    let astray: Vec<(usize, f64, usize)> = astray.collect();
    let of_block = |i: usize| astray.iter().filter(move |(id, _, _)| placement.block_of(*id) == i);
    let wrong = blocks.iter().enumerate().filter(|(i, _)| of_block(*i).next().is_some());
    wrong
        .inspect(|(i, block)| {
            let all: Vec<_> = of_block(*i).collect();
            let (id, depth, body) = *all[0];
            let rest = if all.len() > 1 { format!("; so are {} more grains", all.len() - 1) } else { String::new() };
            let DVec3 { x, y, z } = placement.grains[id].position;
            report.problem(
                &block.span,
                format!(
                    "grain {id} of {} at ({x}, {y}, {z}) m is on the wrong side of boundary \"{}\", whose surface is \
                     {depth:.3e} m from its centre{rest}",
                    block.name(),
                    world.boundaries[body].name
                ),
                "move the packing, or turn the boundary (`normal`, `side`): allow_overlap is for grains that touch",
            );
        })
        .map(|(i, _)| i)
        .collect()
}

/// Whether all that is behind a surface is solid.
fn is_solid(surface: &Surface) -> bool {
    matches!(surface.form, Form::Plane | Form::Solid { .. } | Form::Box { .. } | Form::Sphere { .. })
}

/// Reports, per free boundary, where its corners are deepest inside another boundary. `spans` are where the names of the
/// boundaries stand in the file.
pub fn check_free_boundaries(world: &World, spans: &[Range<usize>], report: &Report) {
    for (body, free) in world.free_boundaries().map(|(body, _)| (body, &world.boundaries[body])) {
        let own = world.corners.iter().enumerate().filter(|(_, corner)| corner.body as usize == body);
        let gaps = own.flat_map(|(i, corner)| {
            let id = (world.surfaces.len() + i) as u32;
            let met =
                world.surfaces.iter().enumerate().filter(|(_, other)| world.corner_meets(corner, other));
            met.filter_map(move |(surface, other)| {
                let gap = world.touch(id, surface as u32)?.gap;
                (-gap > ACCEPTED * corner.contact_radius).then_some((gap, other.body as usize))
            })
        });
        if let Some((gap, other)) = gaps.min_by(|a, b| a.0.total_cmp(&b.0)) {
            let other = &world.boundaries[other].name;
            report.problem(
                &spans[body],
                format!(
                    "boundary \"{}\" is free and overlaps boundary \"{other}\" by {:.3e} m",
                    free.name, -gap
                ),
                "move, turn or shrink one of the two",
            );
        }
    }
}

fn describe(overlap: &Overlap, placement: &Placement, blocks: &[Block], world: &World) -> String {
    let block = |grain: usize| blocks[placement.block_of(grain)].name();
    let other = match overlap.other {
        Other::Grain(other) if block(other) == block(overlap.grain) => format!("grain {other}"),
        Other::Grain(other) => format!("grain {other} of {}", block(other)),
        Other::Boundary(body) => format!("boundary \"{}\"", world.boundaries[body].name),
    };
    format!(
        "grain {} of {} overlaps {other} by {:.3e} m, {:.1} % of the smaller radius",
        overlap.grain,
        block(overlap.grain),
        overlap.depth,
        100.0 * overlap.share
    )
}

fn find(placement: &Placement, blocks: &[Block], world: &World) -> Vec<Overlap> {
    let mut grid = SphereGrid::new(world.periodic);
    placement.grains.iter().for_each(|grain| grid.insert(grain.position, grain.radius));
    let allowed = |grain: usize| blocks[placement.block_of(grain)].allow_overlap;
    let mut overlaps = Vec::new();
    let count = placement.grains.len();
    // Backwards, since a cell lists its latest grain first: a crowd of grains in one place is then
    // noticed after a few looks instead of all.
    for end in (1..=count).rev().step_by(CHUNK) {
        let chunk = (end.saturating_sub(CHUNK)..end).into_par_iter();
        overlaps.par_extend(chunk.filter_map(|grain| {
            let grains = deepest_grain(&grid, world, &placement.grains, grain, &allowed);
            let boundaries =
                if allowed(grain) { None } else { boundary_overlap(world, &placement.grains, grain) };
            [grains, boundaries].into_iter().flatten().max_by(|a, b| a.share.total_cmp(&b.share))
        }));
        if overlaps.len() >= ENOUGH {
            break;
        }
    }
    overlaps.sort_by_key(|overlap| overlap.grain);
    overlaps
}

/// The deepest of the overlaps with other grains, blamed on the later of the two.
fn deepest_grain(
    grid: &SphereGrid,
    world: &World,
    grains: &[Grain],
    id: usize,
    allowed: &(dyn Fn(usize) -> bool + Sync),
) -> Option<Overlap> {
    let mut worst: Option<Overlap> = None;
    let mut found = 0;
    grid.visit_pairs(id as u32, |other| {
        let other = other as usize;
        let (a, b) = (&grains[id], &grains[other]);
        let depth = a.radius + b.radius - world.separation(a.position, b.position).length();
        let share = depth / a.radius.min(b.radius);
        if share > ACCEPTED && !(allowed(id) && allowed(other)) {
            found += 1;
            if worst.is_none_or(|worst| share > worst.share) {
                let (grain, earlier) = (id.max(other), id.min(other));
                worst = Some(Overlap { grain, other: Other::Grain(earlier), depth, share });
            }
        }
        found < PER_GRAIN
    });
    worst
}

fn boundary_overlap(world: &World, grains: &[Grain], id: usize) -> Option<Overlap> {
    let grain = &grains[id];
    let (gap, body) = deepest_boundary(world, grain.position, grain.radius)?;
    let share = -gap / grain.radius;
    (share > ACCEPTED).then_some(Overlap { grain: id, other: Other::Boundary(body), depth: -gap, share })
}
