//! Colouring: runs of contacts that share no free body, so that each run can be solved in parallel.
//!
//! Fixed and kinematic bodies are never written, so they never conflict. A contact of two grains takes the lowest colour that is free at
//! both, a contact with a boundary the highest. So boundaries are solved late, and a sweep ends with grains that keep out of the walls and
//! turn with them. (In the drum with 10 sweeps the plug holds 48 % of the grains. With 16 colours it was 51 % this way, 39 % when
//! boundaries take the lowest colour too, 47 % in the order of the keys.)
//!
//! Contacts that find no colour are overflow contacts, solved after the colours by mass splitting ([`split`](crate::contact::split)): in a
//! dense bed of equal spheres 4 % of the contacts. There, 6 colours with a quarter of the contacts in the overflow converge as well as 15
//! colours that hold all of them. 8 colours keep the overflow small, as an overflow contact costs more than others. Contacts of grains with
//! a surface of a dynamic body, which may be thousands, are always overflow contacts. Contacts of the few vertices of a box take colours:
//! solved one after the other they converge within a few sweeps.
//!
//! The points of the manifold of a polyhedral grain have a colour in common, within which the first points of all pairs come first, then
//! the second ones, and so on: each of these runs is one of [`Colouring`]. (A colour for each point would leave a hull two neighbours with
//! colours. In a bed of hulls 77 % of the contacts were then overflow contacts, and it did not come to rest.) The points of solids of
//! dynamic boundaries, which are few, have a colour each.
//!
//! With many grains most contacts are within a tile, see [`super::tiles`]. They have colours, too, but within a tile the colours only set
//! the order.

use crate::contact::coupling::{Alone, Coupling, Cut};
use crate::contact::{Colouring, Key, Overflow};
use crate::model::World;
use crate::model::solids::{point_number, shape_id};
use crate::shape::MOST_POINTS;

use super::groups::Groups;
use super::tiles::Tiles;

/// Largest number of colours (`COLOURS` in WGSL).
pub const COLOURS: usize = 8;
const ALL: u32 = (1 << COLOURS) - 1;
/// Largest number of colours of pairs of polyhedral grains, which have more neighbours within the skin than spheres.
const SOLID_COLOURS: usize = 16;
const ALL_OF_SOLIDS: u32 = (1 << SOLID_COLOURS) - 1;
/// Groups of contacts in each tile, and across tiles: one per colour and point of a manifold, and one for contacts without a colour.
const PLACES: usize = SOLID_COLOURS * MOST_POINTS + 1;

/// Solving order without colours: the contacts one after the other, in the order of the keys.
pub fn one_after_the_other(contacts: usize) -> Colouring {
    Colouring { order: (0..contacts as u32).collect(), overflow: Overflow::OneByOne, ..Colouring::default() }
}

/// Solving order without colours: all contacts at once, on copies of their bodies.
pub fn all_at_once(contacts: usize) -> Colouring {
    Colouring { overflow: Overflow::Split, ..one_after_the_other(contacts) }
}

/// Solving order without colours: the contacts one after the other, in the order in which `blocks` equally fast threads would reach them,
/// each with a block of the keys.
pub fn in_blocks(contacts: usize, blocks: u32) -> Colouring {
    let length = contacts.div_ceil(blocks as usize).max(1);
    let of_place = |place: usize| (place..contacts).step_by(length).map(|contact| contact as u32);
    Colouring { order: (0..length).flat_map(of_place).collect(), ..one_after_the_other(contacts) }
}

/// Greedy colouring in the order of the keys; with many grains the contacts within tiles come before the colours.
pub fn greedy(world: &World, keys: &[Key]) -> Colouring {
    with_tiles(world, keys, &Tiles::of_many(world), &Alone)
}

/// Greedy colouring in the order of the keys. The contacts of grains within a tile come before the colours, in the order of their own
/// colours there: in the order of the keys accelerated sweeps overshoot. (In a bed of 10⁵, 50 sweeps leave 1.8 mm/s so, and 0.36 mm/s in
/// the order of the colours.) Contacts that ranks share have no colour; those that another rank counts are the last of all.
pub fn with_tiles(world: &World, keys: &[Key], tiles: &Tiles, coupling: &dyn Coupling) -> Colouring {
    let boundaries = world.boundaries.len();
    let last = (tiles.count() + 1) * PLACES;
    let mut used = vec![0u32; world.bodies.len()];
    let mut of_solids = PairColours::default();
    let mut place_of = |key: &Key| {
        let bodies = [key.a, key.b].map(|shape| world.shape_body(shape) as usize);
        match coupling.cut(bodies, boundaries) {
            Cut::Within => {}
            Cut::Counted => return last - 1,
            Cut::Foreign => return last,
        }
        let is_with_surface = (shape_id(key.b) as usize) < world.surfaces.len();
        let part = tiles.around(bodies).filter(|_| !is_with_surface).unwrap_or(tiles.count());
        let no_colour = (part + 1) * PLACES - 1;
        if is_with_surface && world.bodies.is_dynamic(bodies[1]) && !world.is_vertex(key.a) {
            return no_colour;
        }
        let point = point_number(key.b).filter(|_| !world.is_vertex(key.a));
        let mut next = || {
            let written = bodies.into_iter().filter(|&body| world.bodies.is_dynamic(body));
            let all = if point.is_some() { ALL_OF_SOLIDS } else { ALL };
            let colour = match written.clone().fold(all, |free, body| free & !used[body]) {
                0 => return None,
                free if is_with_surface => free.ilog2(),
                free => free.trailing_zeros(),
            };
            written.for_each(|body| used[body] |= 1 << colour);
            Some(colour)
        };
        let colour = if point.is_some() { of_solids.of(key, next) } else { next() };
        let Some(colour) = colour else { return no_colour };
        part * PLACES + colour as usize * MOST_POINTS + point.unwrap_or(0)
    };
    let places: Vec<usize> = keys.iter().map(&mut place_of).collect();
    let Groups { starts, values: order } = Groups::new(last + 1, places.iter().copied().zip(0..));
    let (within, across) = starts.split_at(tiles.count() * PLACES);
    let mut of_tiles: Vec<u32> = within.iter().step_by(PLACES).copied().collect();
    if tiles.count() > 0 {
        of_tiles.push(across[0]);
    }
    // Few scenes have further points and colours of solids.
    let is_run = |place: &usize| {
        let (colour, point) = (place / MOST_POINTS, place % MOST_POINTS);
        (colour < COLOURS && point == 0) || across[*place] < across[place + 1]
    };
    let runs = (0..PLACES - 1).filter(is_run).map(|place| across[place]);
    let starts = runs.chain([across[PLACES - 1]]).collect();
    Colouring { order, tiles: of_tiles, starts, overflow: Overflow::Split }
}

/// Colours of the pairs of solids with the same shape a.
#[derive(Default)]
struct PairColours {
    shape: u32,
    /// Shape b and colour of each pair, if there was a colour.
    pairs: Vec<(u32, Option<u32>)>,
}

impl PairColours {
    /// Colour of the pair of a contact at a point of the manifold of a grain: that of its other points, or else the `next` one. Contacts
    /// come by ascending key.
    fn of(&mut self, key: &Key, next: impl FnOnce() -> Option<u32>) -> Option<u32> {
        if self.shape != key.a {
            self.shape = key.a;
            self.pairs.clear();
        }
        let shape = shape_id(key.b);
        if let Some(&(_, colour)) = self.pairs.iter().find(|(other, _)| *other == shape) {
            return colour;
        }
        let colour = next();
        self.pairs.push((shape, colour));
        colour
    }
}
