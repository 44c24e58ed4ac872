//! Random sequential addition: each grain is placed at a random free position, the largest grains first.

use glam::DVec3;

use super::{InitialMotion, PlacedGrain, Refusal};
use crate::model::Random;
use crate::model::Region;
use crate::model::{Periodic, sphere_volume};
use crate::sources::grid::SphereGrid;

/// Number of tries for one grain before the region counts as full.
const TRIES: usize = 50_000;

/// Places grains of the given sizes at random in a region without overlaps. If the region spans a period, grains may lie across its faces.
///
/// # Errors
/// When a grain finds no free position, with the number of grains that did.
pub fn fill(
    region: &Region,
    periodic: &Periodic,
    mut sizes: Vec<f64>,
    random: &mut Random,
    place: &dyn Fn(f64, &mut Random) -> DVec3,
    is_blocked: &dyn Fn(DVec3, f64) -> bool,
) -> Result<Vec<PlacedGrain>, Refusal> {
    sizes.sort_by(|a, b| b.total_cmp(a));
    let count = sizes.len();
    let solid = sizes.iter().map(|&radius| sphere_volume(radius)).sum::<f64>() / region.volume();
    let has_room = |&largest: &f64| region.through_faces(periodic, largest).has_room_for(largest);
    if !sizes.first().is_none_or(has_room) {
        return Err(refuse(0, count, solid));
    }
    if solid > 0.64 {
        return Err((
            format!("{count} grains fill {:.0} % of the region, more than fits at random", 100.0 * solid),
            "enlarge the region, or use fewer or smaller grains".to_owned(),
        ));
    }
    let mut grid = SphereGrid::new(*periodic);
    let mut placed = Vec::with_capacity(count);
    for radius in sizes {
        let free = |&centre: &DVec3| !grid.is_blocked(centre, radius) && !is_blocked(centre, radius);
        let position = (0..TRIES).map(|_| place(radius, random)).find(free);
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
