//! A bed of hulls: polyhedra of 12 corners and equal mass, poured into the box of the spheres.

use std::error::Error;

use esker::cpu::CpuEngine;
use esker::engine::Engine;
use esker::model::random::Stream;
use esker::model::{Clump, Grain, Random, World};
use esker::shape::{Convex, separation};
use glam::DVec3;

use crate::scene::{Scene, Shape};

/// Kinds of hulls.
const KINDS: u64 = 8;
/// Largest way of a corner from that of the icosahedron along each axis, over the radius of the sphere around it \[-\].
const SCATTER: f64 = 0.4;
/// Time step \[s\] and duration \[s\] of the pouring: grains fall by 20 d, and pass less than half a diameter in a step.
const POURING: [f64; 2] = [2e-3, 0.8];

/// The twelve corners of an icosahedron on the unit sphere.
fn icosahedron() -> [DVec3; 12] {
    let golden = 0.5 * (1.0 + 5f64.sqrt());
    let corner = |i: usize| {
        let sign = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
        let flat = DVec3::new(0.0, sign(0), sign(1) * golden).normalize();
        match i / 4 {
            0 => flat,
            1 => DVec3::new(flat.y, flat.z, flat.x),
            _ => DVec3::new(flat.z, flat.x, flat.y),
        }
    };
    std::array::from_fn(corner)
}

/// Hulls of twelve corners on a sphere, near those of an icosahedron.
fn kinds() -> Vec<Clump> {
    let mut random = Random::new(1, Stream::Shape);
    let kind = |kind: u64| {
        let corners = icosahedron().map(|corner| (corner + random.in_cube(SCATTER)).normalize());
        let hull = Convex::hull(&corners).expect("corners on a sphere around its centre");
        Clump::of_hull(&format!("hull {kind}"), &hull)
    };
    (0..KINDS).map(kind).collect()
}

/// Pours `grains` hulls, of the mass of the spheres of this bed, into its box.
///
/// # Errors
/// When a step fails.
pub fn poured(bed: &Scene, grains: u32) -> Result<Scene, Box<dyn Error>> {
    let Shape::Bed { half_width } = bed.shape else { return Err("hulls are poured into boxes only".into()) };
    let from = &bed.scenario.world;
    let mut world = World::new(from.gravity, from.materials.clone());
    for (body, boundary) in (0..).zip(&from.boundaries) {
        let surfaces = from.surfaces.iter().filter(|surface| surface.body == body);
        world.add_boundary(boundary.clone(), surfaces.cloned());
    }
    world.clumps = kinds();
    let radius = 0.5 * bed.diameter;
    let reach = world.clumps.iter().map(|kind| kind.scale(radius) * kind.bounding_radius()).fold(0.0, f64::max);
    let per_row = (half_width / reach) as u32;
    let spacing = 2.0 * half_width / f64::from(per_row);
    let mut random = Random::new(2, Stream::Shape);
    let grain = |i: u32| {
        let place = [i % per_row, i / per_row % per_row, i / per_row.pow(2)].map(|n| (f64::from(n) + 0.5) * spacing);
        Grain {
            orientation: random.turn(),
            clump: Some(random.below(KINDS) as u32),
            ..Grain::at(DVec3::from_array(place) - DVec3::new(half_width, half_width, 0.0), radius, 0)
        }
    };
    world.add_grains((0..grains).map(grain));
    let mut scenario = bed.scenario.clone();
    let [time_step, duration] = POURING;
    scenario.settings.time_step = time_step;
    let mut engine = CpuEngine::new(world, scenario.settings);
    engine.advance((duration / time_step).round() as u64)?;
    scenario.world = engine.snapshot()?.world;
    scenario.settings.time_step = bed.scenario.settings.time_step;
    Ok(Scene { scenario, diameter: bed.diameter, shape: bed.shape })
}

/// Overlaps \[m\] of all pairs of hulls that overlap.
pub fn overlaps(world: &World, pairs: &[esker::contact::Key]) -> Vec<f64> {
    let hull = |shape: u32| {
        let sphere = world.ball(shape)?;
        let grain = world.grain_of_body(sphere.body as usize)?;
        let kind = &world.clumps[world.grains[grain].clump? as usize];
        let solid = kind.hull.as_ref()?;
        let body = sphere.body as usize;
        let at = esker::shape::SolidPose {
            position: world.bodies.position[body],
            orientation: world.bodies.orientation[body],
            scale: sphere.radius / solid.radius,
        };
        Some((solid, at))
    };
    let mut of: Vec<[u32; 2]> =
        pairs.iter().map(|key| [key.a, esker::model::solids::shape_id(key.b)]).collect();
    of.sort_unstable();
    of.dedup();
    let overlap = |&[a, b]: &[u32; 2]| {
        let ((a, at_a), (b, at_b)) = (hull(a)?, hull(b)?);
        Some(-separation(a, &at_a, b, &at_b, 0.0)?.separation)
    };
    of.iter().filter_map(overlap).filter(|overlap| *overlap > 0.0).collect()
}
