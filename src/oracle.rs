//! Oracles: slow, obvious and independent algorithms that check the engines.

use std::collections::BTreeSet;

use crate::contact::{Colouring, Key};
use crate::model::World;
use crate::model::solids::points_with;

/// Returns all pairs of shapes with a gap below `margin` (in mean diameters of the pair), by testing every pair.
pub fn all_pairs(world: &World, margin: f64) -> Vec<Key> {
    let surfaces = world.surfaces.len() as u32;
    let first_grain = world.first_grain_shape();
    let shapes = first_grain + world.spheres.len() as u32;
    let vertices = (surfaces..first_grain).flat_map(|a| {
        let vertex = &world.vertices[(a - surfaces) as usize];
        let gap = 2.0 * margin * vertex.contact_radius;
        let near = (0..surfaces).filter(move |&b| {
            let touch = world.touch_within(
                &world.surfaces[b as usize],
                world.sphere_centre(vertex),
                vertex,
                f64::INFINITY,
            );
            touch.is_some_and(|touch| touch.gap < gap)
        });
        // Any patch of a mesh that bounds a solid stands for the mesh.
        let met = near.map(|b| world.solid_surface(vertex, b));
        let met = met.filter(|&b| world.vertex_meets(vertex, b) && world.is_near_facets(vertex, b, gap));
        let found: BTreeSet<u32> =
            met.flat_map(|b| points_with(b, world.manifold_points(vertex, b))).collect();
        found.into_iter().map(move |b| Key { a, b })
    });
    let near = |key: &Key| {
        world.touch(key.a, key.b).is_some_and(|touch| touch.gap < world.pair_margin(key.a, key.b, margin))
    };
    let comes_first = |a: u32, b: u32| {
        world.comes_first((a - first_grain) as usize, (b - first_grain) as usize)
            && world.shape_body(a) != world.shape_body(b)
    };
    let partners = |a: u32| (0..surfaces).chain((first_grain..shapes).filter(move |&b| comes_first(a, b)));
    let grains = (first_grain..shapes).flat_map(|a| partners(a).map(move |b| Key { a, b }));
    vertices.chain(grains.filter(near)).collect()
}

/// Returns a fault in a colouring of these contacts; `None` if every contact occurs once, no colour contains a dynamic body twice, and no
/// dynamic body is in two tiles.
pub fn colouring_fault(world: &World, keys: &[Key], colouring: &Colouring) -> Option<String> {
    let mut places: Vec<u32> = colouring.order.clone();
    places.sort_unstable();
    if places.len() != keys.len() || places.iter().enumerate().any(|(i, &place)| place != i as u32) {
        return Some(format!("{} places for {} contacts, or one twice", places.len(), keys.len()));
    }
    let written = |contact: u32| {
        let key = keys[contact as usize];
        let bodies = [key.a, key.b].map(|shape| world.shape_body(shape) as usize);
        bodies.into_iter().filter(|&body| world.bodies.is_dynamic(body))
    };
    let mut tile_of = vec![None; world.bodies.len()];
    for (tile, contacts) in colouring.tiles().enumerate() {
        for body in contacts.iter().flat_map(|&contact| written(contact)) {
            if *tile_of[body].get_or_insert(tile) != tile {
                return Some(format!("body {body} in tile {tile} and in another"));
            }
        }
    }
    let mut last_colour = vec![usize::MAX; world.bodies.len()];
    for colour in 0..colouring.colours() {
        for &contact in colouring.colour(colour) {
            for body in written(contact) {
                if last_colour[body] == colour {
                    return Some(format!("body {body} twice in colour {colour}"));
                }
                last_colour[body] = colour;
            }
        }
    }
    None
}
