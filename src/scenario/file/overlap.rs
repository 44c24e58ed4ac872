//! Checks for grains that start inside each other or inside a boundary, and for dynamic boundaries inside other boundaries.

use std::ops::Range;

use glam::DVec3;
use rayon::prelude::*;

use super::grains::{GrainBlock, PLACED, Placement};
use super::read::ReadReport;
use crate::model::nested::depth_in;
use crate::model::{Form, Grain, MaterialId, Solid, Sphere, SpherePart, Surface, SurfaceBox, World};
use crate::sources::FreeRoom;
use crate::sources::grid::SphereGrid;

/// Number of spheres examined before the search compares the overlaps found with `ENOUGH`.
const CHUNK: usize = 8192;
/// Number of overlaps after which the search ends.
const ENOUGH: usize = 1000;
/// Number of overlaps after which the search around a sphere ends.
const PER_GRAIN: usize = 64;

/// Deepest overlap found of a grain.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Overlap {
    grain: usize,
    other: Other,
    /// Depth of the overlap \[m\].
    depth: f64,
    /// Depth over the smaller radius \[-\].
    share: f64,
}

/// Partner that a grain overlaps.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Other {
    Grain(usize),
    Boundary(usize),
}

/// Reports, per block, a grain that is on the wrong side of a boundary, or else the deepest overlap of its grains with
/// earlier ones and with boundaries.
pub fn check(
    placement: &Placement,
    blocks: &[GrainBlock],
    world: &World,
    start: &Range<usize>,
    report: &ReadReport,
) {
    let astray = report_astray(placement, blocks, world, start, report);
    if blocks.iter().all(|block| block.accepted_overlap.is_infinite()) {
        return;
    }
    let overlaps = find(placement, blocks, world);
    for (i, block) in blocks.iter().enumerate().filter(|(i, _)| !astray.contains(i)) {
        let own: Vec<_> =
            overlaps.iter().filter(|overlap| placement.block_of(overlap.grain) == Some(i)).collect();
        if let Some(worst) = own.iter().max_by(|a, b| a.share.total_cmp(&b.share)) {
            let rest = match own.len() - 1 {
                0 => String::new(),
                1 => "; 1 more grain overlaps a grain or a wall".to_owned(),
                more if overlaps.len() >= ENOUGH => {
                    format!("; at least {more} more grains overlap grains or walls")
                }
                more => format!("; {more} more grains overlap grains or walls"),
            };
            report.problem(
                &block.span,
                format!("{}{rest}", describe(worst, placement, blocks, world)),
                "move or shrink the packing, enlarge its spacing, or set allow_overlap = true in the block",
            );
        }
    }
}

/// Reports, per block, the first grain whose centre is inside a solid: behind a plane, in a box, a sphere, a cylinder or a closed mesh. An
/// intended overlap never goes that far. Thin walls and sheets may have grains on both sides. Returns the blocks with such a grain.
fn report_astray(
    placement: &Placement,
    blocks: &[GrainBlock],
    world: &World,
    start: &Range<usize>,
    report: &ReadReport,
) -> Vec<usize> {
    let solids: Vec<&Surface> = world.surfaces.iter().filter(|surface| is_solid(surface)).collect();
    let is_behind = |grain: &Grain, surface: &Surface| {
        let depth = |(centre, radius): (DVec3, f64)| {
            let distance = radius + world.touch_surface(surface, centre, radius)?.gap;
            (distance < -PLACED * radius).then_some((-distance, surface.body as usize))
        };
        world.spheres_of(grain).into_iter().find_map(depth)
    };
    let boxes = world.surface_boxes();
    let is_in_mesh = |grain: &Grain| {
        let around = FreeRoom::mesh_around(world, &boxes, grain.position)?;
        let is_felt = world.surfaces[around.first()].is_felt_by(grain.material);
        is_felt.then(|| (depth_in(world, around, grain.position).0, around.body()))
    };
    let astray = placement.grains.par_iter().enumerate().filter_map(|(id, grain)| {
        let mut felt = solids.iter().filter(|surface| surface.is_felt_by(grain.material));
        let behind = felt.find_map(|surface| is_behind(grain, surface));
        behind.or_else(|| is_in_mesh(grain)).map(|(depth, body)| (id, depth, body))
    });
    let astray: Vec<(usize, f64, usize)> = astray.collect();
    let of_block = |block| astray.iter().filter(move |(id, _, _)| placement.block_of(*id) == block);
    let spans = (0..).zip(blocks).map(|(i, block)| (Some(i), &block.span));
    let wrong = std::iter::once((None, start)).chain(spans);
    let told = wrong.filter(|(block, _)| of_block(*block).next().is_some()).inspect(|(block, span)| {
        let all: Vec<_> = of_block(*block).collect();
        let (id, depth, body) = *all[0];
        let rest = if all.len() > 1 { format!("; so are {} more grains", all.len() - 1) } else { String::new() };
        let DVec3 { x, y, z } = placement.grains[id].position;
        let mut surfaces = world.surfaces.iter().filter(|surface| surface.body as usize == body);
        let is_mesh = surfaces.any(|surface| world.is_solid_mesh(surface));
        report.problem(
            span,
            format!(
                "grain {id} of {} at ({x}, {y}, {z}) m is on the wrong side of boundary \"{}\", whose surface is \
                 {depth:.3e} m from its centre{rest}",
                placement.name_of(id, blocks),
                world.boundaries[body].name
            ),
            match block {
                Some(_) if is_mesh => {
                    "a closed mesh pushes grains outwards: move the packing, or set `sheet = true` in the shape of a vessel with \
                     grains inside"
                }
                Some(_) => {
                    "move the packing, or turn the boundary (`normal`, `side`): allow_overlap is for grains that touch"
                }
                None => "boundaries stand as in this file, not as at the checkpoint: set their places there",
            },
        );
    });
    told.filter_map(|(block, _)| block).collect()
}

/// Returns whether everything behind a surface is solid.
fn is_solid(surface: &Surface) -> bool {
    matches!(surface.form, Form::Plane) || Solid::of(surface.form).is_some()
}

/// Reports, per dynamic boundary, the deepest overlap of its vertices with another boundary. `spans` are the places of the names of the
/// boundaries in the file. Returns the boundaries that were reported.
pub fn check_dynamic_boundaries(world: &World, spans: &[Range<usize>], report: &ReadReport) -> Vec<usize> {
    let mut told = Vec::new();
    for (body, free) in world.dynamic_boundaries().map(|(body, _)| (body, &world.boundaries[body])) {
        let own = world.vertices.iter().enumerate().filter(|(_, vertex)| vertex.body as usize == body);
        let gaps = own.flat_map(|(i, vertex)| {
            let id = (world.surfaces.len() + i) as u32;
            let surfaces = (0..).zip(&world.surfaces);
            let met = surfaces.filter(|(surface, other)| {
                world.vertex_meets(vertex, *surface) && other.is_felt_by(vertex.material)
            });
            met.filter_map(move |(surface, other)| {
                let gap = world.touch(id, surface)?.gap;
                (-gap > PLACED * vertex.contact_radius).then_some((gap, other.body as usize))
            })
        });
        if let Some((gap, other)) = gaps.min_by(|a, b| a.0.total_cmp(&b.0)) {
            let other = &world.boundaries[other].name;
            told.push(body);
            report.problem(
                &spans[body],
                format!(
                    "boundary \"{}\" is dynamic and overlaps boundary \"{other}\" by {:.3e} m",
                    free.name, -gap
                ),
                "move, turn or shrink one of the two",
            );
        }
    }
    told
}

fn describe(overlap: &Overlap, placement: &Placement, blocks: &[GrainBlock], world: &World) -> String {
    let block = |grain: usize| placement.name_of(grain, blocks);
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

fn find(placement: &Placement, blocks: &[GrainBlock], world: &World) -> Vec<Overlap> {
    let mut grid = SphereGrid::new(world.periodic);
    let all = placement.grains.iter().enumerate();
    let spheres: Vec<Ball> = all
        .flat_map(|(grain, it)| {
            world.spheres_of(it).into_iter().map(move |(centre, radius)| Ball {
                grain,
                centre,
                radius,
                material: it.material,
            })
        })
        .collect();
    spheres.iter().for_each(|ball| grid.insert(ball.centre, ball.radius));
    let accepted = |grain: usize| {
        placement.block_of(grain).map_or(f64::INFINITY, |block| blocks[block].accepted_overlap)
    };
    let boxes = world.surface_boxes();
    let placed = world.has_polyhedra().then(|| {
        let mut placed = world.clone();
        placed.add_grains(placement.grains.iter().copied());
        placed
    });
    let mut overlaps = Vec::new();
    let count = spheres.len();
    // The search goes backwards, because a cell lists its latest grain first: a crowd of grains in one place is then detected after a few
    // tests instead of all.
    for end in (1..=count).rev().step_by(CHUNK) {
        let chunk = (end.saturating_sub(CHUNK)..end).into_par_iter();
        overlaps.par_extend(chunk.filter_map(|sphere| {
            let depth = |other: usize| depth_between(world, placed.as_ref(), &spheres, [sphere, other]);
            let grains = deepest_sphere(&grid, &spheres, sphere, &depth, &accepted);
            let bound = accepted(spheres[sphere].grain);
            let boundaries = match bound.is_finite() {
                true => boundary_overlap(placed.as_ref().unwrap_or(world), &boxes, &spheres, sphere, bound),
                false => None,
            };
            [grains, boundaries].into_iter().flatten().max_by(|a, b| a.share.total_cmp(&b.share))
        }));
        if overlaps.len() >= ENOUGH {
            break;
        }
    }
    // Of a clump that overlaps with several spheres, the deepest overlap is kept.
    overlaps.sort_by(|a, b| a.grain.cmp(&b.grain).then(b.share.total_cmp(&a.share)));
    overlaps.dedup_by_key(|overlap| overlap.grain);
    overlaps
}

/// Sphere of a grain.
struct Ball {
    grain: usize,
    centre: DVec3,
    radius: f64,
    material: MaterialId,
}

/// Depth of the overlap of two spheres \[m\], or of the polyhedra that they are around where these were placed.
fn depth_between(world: &World, placed: Option<&World>, spheres: &[Ball], [one, other]: [usize; 2]) -> f64 {
    if let Some(placed) = placed {
        let first = placed.first_grain_shape();
        let [a, b] = [one, other].map(|sphere| first + sphere as u32);
        if let Some(ball) = placed.ball(a).filter(|ball| placed.manifold_points(ball, b) > 0) {
            let manifold = placed.manifold(ball, b);
            return manifold.and_then(|found| Some(-found.deepest()?.gap)).unwrap_or(f64::NEG_INFINITY);
        }
    }
    let (a, b) = (&spheres[one], &spheres[other]);
    a.radius + b.radius - world.separation(a.centre, b.centre).length()
}

/// Returns the deepest overlap of a sphere with other grains, attributed to the later of the two grains. `depth` tells the depth of its
/// overlap with another sphere.
fn deepest_sphere(
    grid: &SphereGrid,
    spheres: &[Ball],
    id: usize,
    depth: &dyn Fn(usize) -> f64,
    accepted: &(dyn Fn(usize) -> f64 + Sync),
) -> Option<Overlap> {
    let mut worst: Option<Overlap> = None;
    let mut found = 0;
    grid.visit_pairs(id as u32, |other| {
        let other = other as usize;
        let (a, b) = (&spheres[id], &spheres[other]);
        let depth = depth(other);
        let share = depth / a.radius.min(b.radius);
        if a.grain != b.grain && share > accepted(a.grain).min(accepted(b.grain)) {
            found += 1;
            if worst.is_none_or(|worst| share > worst.share) {
                let (grain, earlier) = (a.grain.max(b.grain), a.grain.min(b.grain));
                worst = Some(Overlap { grain, other: Other::Grain(earlier), depth, share });
            }
        }
        found < PER_GRAIN
    });
    worst
}

fn boundary_overlap(
    world: &World,
    boxes: &[SurfaceBox],
    spheres: &[Ball],
    sphere: usize,
    accepted: f64,
) -> Option<Overlap> {
    let ball = &spheres[sphere];
    let polyhedron = world.spheres.get(sphere).filter(|sphere| matches!(sphere.part, SpherePart::Hull(_)));
    let alone = Sphere { material: ball.material, ..Sphere::alone(ball.radius) };
    let (gap, body) = match polyhedron {
        Some(polyhedron) => world.deepest_boundary_of_solid(boxes, polyhedron),
        None => world.deepest_boundary(boxes, ball.centre, &alone),
    }?;
    let (grain, share) = (ball.grain, -gap / ball.radius);
    (share > accepted).then_some(Overlap { grain, other: Other::Boundary(body), depth: -gap, share })
}
