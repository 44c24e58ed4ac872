//! Tiles: neighbouring bodies whose contacts one core solves while their velocities are in its cache.
//!
//! A colour goes through the whole scene, so a sweep reads every body from memory, and writes it back, once per colour. Where the bodies of
//! a scene do not fit in the caches of the processor, that is half of the memory traffic of its sweeps. Contacts between two bodies of a
//! tile are therefore solved tile by tile, all tiles at once, and only contacts across tiles colour by colour.
//!
//! Bodies are halved across the longest side of their bounding box, half by half, until the parts are small enough: recursive coordinate
//! bisection (Berger & Bokhari 1987). The tiles depend on the bodies alone, and not on the number of threads.

use glam::DVec3;

use crate::model::World;

/// Largest number of bodies in a tile: their velocities stay in the cache of a core.
const MOST_BODIES: usize = 2048;
/// Least number of full tiles for which tiles are made. Fewer bodies fit in the caches, and their colours keep more cores busy.
const LEAST_TILES: usize = 16;
const NONE: u32 = u32::MAX;

/// Position \[m\] and index of a body.
type Located = (DVec3, u32);

/// Assignment of the bodies to tiles.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tiles {
    count: usize,
    /// Tile of each body; [`NONE`] for bodies that nothing moves. Empty where there are no tiles.
    of_body: Vec<u32>,
}

impl Tiles {
    /// Tiles of a world if it has enough bodies; no tiles otherwise.
    pub fn of_many(world: &World) -> Tiles {
        let bodies = places(world).count();
        if bodies < LEAST_TILES * MOST_BODIES { Tiles::default() } else { Tiles::of(world, MOST_BODIES) }
    }

    /// Tiles of a world, with at most `most_bodies` bodies in each.
    pub fn of(world: &World, most_bodies: usize) -> Tiles {
        let mut places: Vec<Located> = places(world).collect();
        let mut of_body = vec![NONE; world.bodies.len()];
        let tiles = halved(&mut places, most_bodies.max(1));
        for (tile, places) in tiles.iter().enumerate() {
            places.iter().for_each(|&(_, body)| of_body[body as usize] = tile as u32);
        }
        Tiles { count: tiles.len(), of_body }
    }

    /// Number of tiles.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Tile that both bodies are in, if it is the same.
    #[inline]
    pub fn around(&self, [a, b]: [usize; 2]) -> Option<usize> {
        let (a, b) = (*self.of_body.get(a)?, *self.of_body.get(b)?);
        (a == b && a != NONE).then_some(a as usize)
    }
}

/// Positions and indices of the dynamic bodies, without those of grains that were removed.
fn places(world: &World) -> impl Iterator<Item = Located> {
    let bodies = world.bodies.inverse_mass.iter().zip(&world.bodies.position).zip(0..);
    bodies
        .filter(|((inverse_mass, _), _)| **inverse_mass > 0.0)
        .map(|((_, position), body)| (*position, body))
}

/// Halves these bodies until no part has more than `most`; the halves of a part differ by one body at most.
fn halved(places: &mut [Located], most: usize) -> Vec<&mut [Located]> {
    if places.len() <= most {
        return vec![places];
    }
    let low = places.iter().fold(DVec3::MAX, |low, (place, _)| low.min(*place));
    let high = places.iter().fold(DVec3::MIN, |high, (place, _)| high.max(*place));
    let axis = (high - low).max_position();
    let half = places.len() / 2;
    // Among bodies with the same coordinate the one with the smaller index comes first, so that the order is unique.
    places.select_nth_unstable_by(half, |a, b| a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1)));
    let (first, second) = places.split_at_mut(half);
    let (mut first, second) = rayon::join(|| halved(first, most), || halved(second, most));
    first.extend(second);
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::pair::Material;
    use crate::model::{Grain, Materials};

    /// A cube of grains on a lattice, with `edge` grains along each edge.
    fn cube(edge: u32) -> World {
        let place =
            |i: u32| DVec3::new(f64::from(i % edge), f64::from(i / edge % edge), f64::from(i / edge / edge));
        let mut world = World::new(DVec3::ZERO, Materials::new(vec![Material::glass()]));
        world.add_grains((0..edge.pow(3)).map(|i| Grain::at(place(i), 0.5, 0)));
        world
    }

    #[test]
    fn a_cube_is_halved_into_cubes() {
        let (edge, world) = (8, cube(8));
        let tiles = Tiles::of(&world, 100);
        assert_eq!(tiles.count(), 8, "512 bodies, of which 64 are in each tile");
        let position = &world.bodies.position;
        let are_neighbours = |a: usize, b: usize| position[a].distance(position[b]) < 1.1;
        let all = (0..512).flat_map(|a| (a + 1..512).map(move |b| [a, b]));
        let pairs: Vec<[usize; 2]> = all.filter(|&[a, b]| are_neighbours(a, b)).collect();
        assert_eq!(pairs.len(), 3 * 7 * 8 * 8);
        let cut = pairs.iter().filter(|pair| tiles.around(**pair).is_none()).count();
        assert_eq!(cut, 3 * edge * edge, "those across the three planes in the middle");
    }

    #[test]
    fn every_dynamic_body_is_in_a_tile_and_no_other_body_is() {
        let mut world = cube(5);
        world.bodies.inverse_mass[7] = 0.0;
        let tiles = Tiles::of(&world, 10);
        assert_eq!(tiles.count(), 16, "62 or 63 bodies, halved three times, leave 7 or 8");
        let in_tile = |tile: usize| (0..125).filter(|&body| tiles.around([body; 2]) == Some(tile)).count();
        let sizes: Vec<usize> = (0..16).map(in_tile).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 124);
        assert!(sizes.iter().all(|size| (7..=8).contains(size)), "{sizes:?}");
        assert_eq!(tiles.around([7; 2]), None);
        assert_eq!(Tiles::of(&world, 10), tiles, "and always in the same");
    }

    #[test]
    fn few_bodies_have_no_tiles() {
        let few = Tiles::of_many(&cube(10));
        assert_eq!((few.count(), few.around([0, 0])), (0, None));
        assert_eq!(Tiles::of_many(&cube(32)).count(), 16, "32 768 are many");
    }
}
