//! Colouring: runs of contacts that share no free body, so that each run can be solved in parallel.
//!
//! Fixed and prescribed bodies are never written, so they never conflict. A contact of two grains takes
//! the lowest colour free at both, a contact with a boundary the highest: boundaries are solved late, so
//! a sweep ends with grains that keep out of the walls and turn with them. (In the drum with 10 sweeps the plug holds
//! 48 % of the grains; with 16 colours it was 51 % this way, 39 % when boundaries take the lowest colour too, 47 %
//! in the order of the keys.)
//!
//! Contacts that find no colour are overflow contacts, solved after the colours by mass splitting ([`super::split`]): in a dense
//! bed of equal spheres 4 % of the contacts. There, 6 colours with a quarter of the contacts in the overflow
//! converge as well as 15 colours that hold all of them; 8 keep the overflow, which costs more per contact, small.
//! Grains that touch a surface of a dynamic body, which may be thousands, are always overflow contacts. The few vertices of a box take
//! colours: solved one after the other they converge within a few sweeps.
//!
//! Of many grains most contacts are within a tile, see [`super::tiles`]. They have colours, too, but within a tile these say only which comes first.

use crate::contact::{Colouring, Key, Overflow};
use crate::model::World;

use super::groups::Groups;
use super::tiles::Tiles;

/// Colours at most (`COLOURS` in WGSL).
pub const COLOURS: usize = 8;
const ALL: u32 = (1 << COLOURS) - 1;
/// Places that a contact may have within a tile, or outside of all: its colour, or that of contacts without one.
const PLACES: usize = COLOURS + 1;

/// No colours: every contact after the other, in the order of the keys.
pub fn one_after_the_other(contacts: usize) -> Colouring {
    Colouring { order: (0..contacts as u32).collect(), overflow: Overflow::OneByOne, ..Colouring::default() }
}

/// No colours: all contacts at once, on copies of their bodies.
pub fn all_at_once(contacts: usize) -> Colouring {
    Colouring { overflow: Overflow::Split, ..one_after_the_other(contacts) }
}

/// No colours: one after the other, as so many threads come to them that each have a block of the keys and are equally fast.
pub fn in_blocks(contacts: usize, blocks: u32) -> Colouring {
    let length = contacts.div_ceil(blocks as usize).max(1);
    let of_place = |place: usize| (place..contacts).step_by(length).map(|contact| contact as u32);
    Colouring { order: (0..length).flat_map(of_place).collect(), ..one_after_the_other(contacts) }
}

/// Greedy colouring in the order of the keys; of many grains the contacts within a tile stand before the colours.
pub fn greedy(world: &World, keys: &[Key]) -> Colouring {
    with_tiles(world, keys, &Tiles::of_many(world))
}

/// Greedy colouring in the order of the keys, with the contacts of grains within a tile before the colours, in the order of their own
/// colours there: from key to key accelerated sweeps overshoot. (Bed of 10⁵, 50 sweeps: 1.8 mm/s are left so, 0.36 in the order of the colours.)
pub fn with_tiles(world: &World, keys: &[Key], tiles: &Tiles) -> Colouring {
    let mut used = vec![0u32; world.bodies.len()];
    let mut place_of = |key: &Key| {
        let bodies = [key.a, key.b].map(|shape| world.shape_body(shape) as usize);
        let is_with_surface = (key.b as usize) < world.surfaces.len();
        let part = tiles.around(bodies).filter(|_| !is_with_surface).unwrap_or(tiles.count());
        let no_colour = (part + 1) * PLACES - 1;
        if is_with_surface && world.bodies.is_dynamic(bodies[1]) && !world.is_vertex(key.a) {
            return no_colour;
        }
        let written = bodies.into_iter().filter(|&body| world.bodies.is_dynamic(body));
        let free = written.clone().fold(ALL, |free, body| free & !used[body]);
        let colour = match free {
            0 => return no_colour,
            free if is_with_surface => free.ilog2(),
            free => free.trailing_zeros(),
        };
        written.for_each(|body| used[body] |= 1 << colour);
        part * PLACES + colour as usize
    };
    let places: Vec<usize> = keys.iter().map(&mut place_of).collect();
    let Groups { starts, values: order } =
        Groups::new((tiles.count() + 1) * PLACES, places.iter().copied().zip(0..));
    let (within, across) = starts.split_at(tiles.count() * PLACES);
    let mut of_tiles: Vec<u32> = within.iter().step_by(PLACES).copied().collect();
    if tiles.count() > 0 {
        of_tiles.push(across[0]);
    }
    Colouring { order, tiles: of_tiles, starts: across[..PLACES].to_vec(), overflow: Overflow::Split }
}
