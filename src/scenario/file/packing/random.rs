//! Random sequential addition: each grain is placed at a random free position, the largest grains first.

use glam::DVec3;

use super::{GrainsToPack, InitialMotion, Packing, PlacedGrain, Refusal, grain_count};
use crate::model::plane::grain_volume;
use crate::model::{Periodic, Plane, Random, Region};
use crate::scenario::file::MAX_GRAINS;
use crate::scenario::file::materials::MASS;
use crate::scenario::file::read::{Need, Table, number};
use crate::scenario::file::region::region;
use crate::sources::grid::SphereGrid;
use crate::sources::radii::Amount;

/// Number of tries for one grain before the region counts as full.
const TRIES: usize = 50_000;
/// Ways to state how much comes into a region.
const AMOUNTS: [&str; 4] = ["count", "mass", "solid_fraction", "porosity"];

/// Reads a random packing of these grains.
pub fn read(table: &mut Table<'_>, grains: &GrainsToPack<'_>) -> Option<Packing> {
    let region = table.get("region", region);
    let amount = amount(table, region.as_ref(), grains);
    Some(Packing::Random { region: region?, amount: amount?, plane: grains.plane })
}

/// Reads how much comes into a region: `count`, `mass`, `solid_fraction` or `porosity`.
fn amount(table: &mut Table<'_>, region: Option<&Region>, grains: &GrainsToPack<'_>) -> Option<Amount> {
    const SOLID: Need = Need::new(|x| x > 0.0 && x <= 0.5, "a solid fraction above 0 and at most 0.5");
    const POROSITY: Need = Need::new(|x| (0.5..1.0).contains(&x), "a porosity of at least 0.5 and below 1");
    let given: Vec<&str> = AMOUNTS.into_iter().filter(|key| table.has(key)).collect();
    let count = table.maybe("count", grain_count);
    let mass = table.maybe("mass", number(MASS));
    let solid = table.maybe("solid_fraction", number(SOLID));
    let porosity = table.maybe("porosity", number(POROSITY));
    if given.len() != 1 {
        let found = if given.is_empty() { "nothing".to_owned() } else { given.join(" and ") };
        let message = format!("`{}` says how much comes by {found}", table.name());
        table.lacks(&AMOUNTS, message, "give one of: count, mass [kg], solid_fraction, porosity");
        return None;
    }
    if given == ["count"] {
        return count.map(Amount::Count);
    }
    let room = |region: &Region| grains.plane.map_or_else(|| region.volume(), |plane| region.section(plane));
    let volume = match solid.or(porosity.map(|porosity| 1.0 - porosity)) {
        Some(solid) => solid * room(region?),
        None => mass? / grains.density?,
    };
    volume_of_grains(table, volume, grains)
}

/// Volume of grains that are to come \[m³\], unless there are none or too many of them.
fn volume_of_grains(table: &Table<'_>, volume: f64, grains: &GrainsToPack<'_>) -> Option<Amount> {
    let count = (volume / grains.radii?.mean_volume(grains.plane)).round();
    if !(1.0..=MAX_GRAINS as f64).contains(&count) {
        table.problem(
            format!("`{}` would hold {count:e} grains, expected 1 to {MAX_GRAINS}", table.name()),
            "change how much comes, the region or the size of the grains",
        );
        return None;
    }
    Some(Amount::Volume(volume))
}

/// Places balls of these radii \[m\] at random in a region without overlaps, in a plane scene with their centres in the plane. If the region
/// spans a period, they may lie across its faces.
///
/// # Errors
/// When a ball finds no free position, with the number of balls that did.
pub fn fill(
    region: &Region,
    (periodic, plane): (&Periodic, Option<Plane>),
    mut balls: Vec<f64>,
    random: &mut Random,
    is_blocked: &dyn Fn(DVec3, f64) -> bool,
) -> Result<Vec<PlacedGrain>, Refusal> {
    balls.sort_by(|a, b| b.total_cmp(a));
    let count = balls.len();
    let (room, densest) = plane.map_or((region.volume(), 0.64), |plane| (region.section(plane), 0.84));
    let solid = balls.iter().map(|&radius| grain_volume(plane, radius)).sum::<f64>() / room;
    let has_room = |&largest: &f64| region.through_faces(periodic, largest).has_room_for(largest);
    if !balls.first().is_none_or(has_room) {
        return Err(refuse(0, count, solid));
    }
    if solid > densest {
        return Err((
            format!("{count} grains fill {:.0} % of the region, more than fits at random", 100.0 * solid),
            "enlarge the region, or use fewer or smaller grains".to_owned(),
        ));
    }
    let mut grid = SphereGrid::new(*periodic);
    let mut placed = Vec::with_capacity(count);
    for radius in balls {
        let place = |random: &mut Random| {
            let place = region.through_faces(periodic, radius).place(radius, random);
            plane.map_or(place, |plane| plane.onto(place))
        };
        let free = |&centre: &DVec3| !grid.is_blocked(centre, radius) && !is_blocked(centre, radius);
        let position = (0..TRIES).map(|_| place(random)).find(free);
        let Some(position) = position else { return Err(refuse(placed.len(), count, solid)) };
        grid.insert(position, radius);
        placed.push(PlacedGrain { position, radius, motion: InitialMotion::default() });
    }
    Ok(placed)
}

fn refuse(placed: usize, count: usize, solid: f64) -> Refusal {
    (
        format!(
            "{placed} of {count} grains found a place in the region ({:.0} % of it would be solid)",
            100.0 * solid
        ),
        "enlarge the region or use fewer grains (random addition ends near 30 % solid); a lattice is denser"
            .to_owned(),
    )
}
