//! Check of the contacts of a saved state: their keys, their order with its colours and tiles, and what belongs to each of them.

use crate::contact::{Colouring, Impulse, Key};
use crate::model::World;
use crate::model::consistent::{Fault, claim, claim_below, claim_length};
use crate::model::solids::{point_number, shape_id};

/// Checks contacts that were read from a file against the world that they are in.
///
/// # Errors
/// The first fault, in words.
pub fn check_contacts(world: &World, keys: &[Key], colouring: &Colouring) -> Fault {
    claim(keys.is_sorted_by(|one, next| one < next), || "contacts out of order".into())?;
    check_keys(world, keys.iter().copied())?;
    claim_length(colouring.order.len(), keys.len(), "places for contacts")?;
    claim_below(colouring.order.iter().copied(), keys.len(), "contact")?;
    let mut is_placed = vec![false; keys.len()];
    let comes_twice =
        colouring.order.iter().any(|&contact| std::mem::replace(&mut is_placed[contact as usize], true));
    claim(!comes_twice, || "a contact with two places".into())?;
    let bounds = || colouring.tiles.iter().chain(&colouring.starts).copied();
    claim(bounds().is_sorted(), || "colours out of order".into())?;
    claim_below(bounds(), keys.len() + 1, "a colour from contact")?;
    check_apart(world, keys, colouring)
}

/// Checks that the shapes of keys are there and on two bodies, the first one a vertex or a sphere.
///
/// # Errors
/// The first fault, in words.
pub fn check_keys(world: &World, keys: impl Iterator<Item = Key>) -> Fault {
    let surfaces = world.surfaces.len();
    let (points, shapes) =
        (surfaces + world.vertices.len(), surfaces + world.vertices.len() + world.spheres.len());
    for Key { a, b } in keys {
        let (b, point) = (shape_id(b), point_number(b));
        claim_below([a, b], shapes, "a contact of shape")?;
        let most = world.ball(a).map_or(0, |ball| world.manifold_points(ball, b));
        let has_point = point.map_or(most == 0, |point| point < most);
        claim(has_point, || format!("a point of shapes {a} and {b}"))?;
        let is_right = a as usize >= surfaces
            && (a as usize >= points || (b as usize) < surfaces)
            && ((b as usize) < surfaces || b as usize >= points)
            && world.shape_body(a) != world.shape_body(b);
        claim(is_right, || format!("a contact of shapes {a} and {b}"))?;
    }
    Ok(())
}

/// Checks that contacts which are solved at once share no body that impulses move: those of a colour, and those of two tiles.
fn check_apart(world: &World, keys: &[Key], colouring: &Colouring) -> Fault {
    let moved = |contact: u32| {
        let Key { a, b } = keys[contact as usize];
        let bodies = [a, b].map(|shape| world.shape_body(shape) as usize);
        bodies.into_iter().filter(|&body| world.bodies.inverse_mass[body] > 0.0)
    };
    let mut colour_of = vec![usize::MAX; world.bodies.len()];
    for colour in 0..colouring.colours() {
        for body in colouring.colour(colour).iter().flat_map(|&contact| moved(contact)) {
            let before = std::mem::replace(&mut colour_of[body], colour);
            claim(before != colour, || format!("two contacts of body {body} in a colour"))?;
        }
    }
    let mut tile_of = vec![usize::MAX; world.bodies.len()];
    for (tile, contacts) in colouring.tiles().enumerate() {
        for body in contacts.iter().flat_map(|&contact| moved(contact)) {
            let before = std::mem::replace(&mut tile_of[body], tile);
            claim(before == tile || before == usize::MAX, || format!("body {body} in two tiles"))?;
        }
    }
    Ok(())
}

/// Checks that all parts of impulses are numbers.
///
/// # Errors
/// Where one is not.
pub fn check_impulses(impulses: &[Impulse]) -> Fault {
    let is_finite = |impulse: &Impulse| {
        impulse.normal.is_finite() && impulse.tangent.is_finite() && impulse.rolling.is_finite()
    };
    claim(impulses.iter().all(is_finite), || "an impulse that is not a number".into())
}
