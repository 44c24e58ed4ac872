//! Random sequential addition: each grain is placed at a random free position, the largest grains first.

use glam::DVec3;

use super::amount::{SolidRange, amount};
use super::{GrainsToPack, InitialMotion, Packing, PlacedGrain, Refusal};
use crate::model::plane::grain_volume;
use crate::model::{Periodic, Plane, Random, Region};
use crate::scenario::file::read::{Need, Table};
use crate::scenario::file::region::region;
use crate::sources::grid::SphereGrid;

/// Number of tries for one grain before the region counts as full.
const TRIES: usize = 50_000;
/// Solid fraction or porosity of a random packing.
const SOLID: SolidRange = SolidRange {
    solid: Need::new(|x| x > 0.0 && x <= 0.5, "a solid fraction above 0 and at most 0.5"),
    porosity: Need::new(|x| (0.5..1.0).contains(&x), "a porosity of at least 0.5 and below 1"),
};

/// Reads a random packing of these grains.
pub fn read(table: &mut Table<'_>, grains: &GrainsToPack<'_>) -> Option<Packing> {
    let region = table.get("region", region);
    let room = region.as_ref().map(|region| region.volume_in(grains.plane));
    let amount = amount(table, room, &SOLID, grains);
    Some(Packing::Random { region: region?, amount: amount?, plane: grains.plane })
}

/// Places balls of these radii \[m\] at random in a region without overlaps, in a plane scene with their centres in the plane. If the
/// region spans a period, they may lie across its faces.
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
    let densest = if plane.is_some() { 0.84 } else { 0.64 };
    let solid =
        balls.iter().map(|&radius| grain_volume(plane, radius)).sum::<f64>() / region.volume_in(plane);
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
