//! Dense packings: spheres that fill a box up to a given porosity.

use super::amount::{SolidRange, amount};
use super::{GrainsToPack, InitialMotion, Packing, PlacedGrain, Refusal};
use crate::model::plane::grain_volume;
use crate::model::{Random, Region};
use crate::scenario::file::read::{Need, Table, number};
use crate::scenario::file::region::corners;
use crate::sources::dense::Vessel;

/// Solid fraction or porosity of a dense packing.
const SOLID: SolidRange = SolidRange {
    solid: Need::new(|x| x > 0.0 && x < 1.0, "a solid fraction above 0 and below 1"),
    porosity: Need::new(|x| x > 0.0 && x < 1.0, "a porosity above 0 and below 1"),
};
/// Largest number of grains: so many take up to a minute, and several minutes where they cannot be packed that densely.
const MOST_PACKED: usize = 50_000;
/// Overlap that may be left.
const OVERLAP: Need = Need::new(|x| (1e-6..=0.01).contains(&x), "a fraction of the radius from 1e-6 to 0.01");

/// Reads a dense packing of these grains.
pub fn read(table: &mut Table<'_>, grains: &GrainsToPack<'_>) -> Option<Packing> {
    let corners = table.get("region", |node| {
        node.table(|table| {
            table.kind(&["box"])?;
            corners(table)
        })
    });
    let room = corners.map(|(min, max)| Region::Box { min, max }.volume_in(grains.plane));
    let amount = amount(table, room, &SOLID, grains);
    let overlap = table.or("overlap", 1e-3, number(OVERLAP));
    if grains.reach != 1.0 {
        table.problem(
            format!("`{}` is dense, and its grains are clumps or shapes", table.name()),
            "pack spheres, or place them at random and let them settle",
        );
        return None;
    }
    let (min, max) = corners?;
    Some(Packing::Dense { corners: [min, max], amount: amount?, overlap, plane: grains.plane })
}

/// Packs balls of these radii \[m\] in a box.
///
/// # Errors
/// When there are too many balls, when one is wider than the box, and when they cannot be packed that densely, with the porosity that was
/// reached.
pub fn fill(
    vessel: &Vessel,
    balls: Vec<f64>,
    overlap: f64,
    random: &mut Random,
) -> Result<Vec<PlacedGrain>, Refusal> {
    let Vessel { min, max, plane, .. } = *vessel;
    if balls.len() > MOST_PACKED {
        return Err((
            format!("{} grains are to be packed densely, at most {MOST_PACKED} are possible", balls.len()),
            "pack a smaller box, or place them at random and let gravity or walls pack them".to_owned(),
        ));
    }
    let largest = balls.iter().copied().fold(0.0, f64::max);
    if !vessel.holds(largest) {
        return Err((
            format!("a grain of radius {largest} m is wider than the box"),
            "enlarge the box or reduce the radius".to_owned(),
        ));
    }
    let solid = balls.iter().map(|&radius| grain_volume(plane, radius)).sum::<f64>()
        / Region::Box { min, max }.volume_in(plane);
    let packed = vessel.pack(&balls, solid, overlap, random);
    if packed.growth < 1.0 {
        let reached = 1.0 - solid * packed.growth.powi(if plane.is_some() { 2 } else { 3 });
        return Err((
            format!(
                "{} grains reach a porosity of {reached:.3} in the box; one of {:.3} is asked for",
                balls.len(),
                1.0 - solid
            ),
            "ask for less: equal spheres end near 0.37, discs near 0.16, along walls at more, of several sizes at less".to_owned(),
        ));
    }
    let grain = |(position, radius)| PlacedGrain { position, radius, motion: InitialMotion::default() };
    Ok(packed.centres.into_iter().zip(balls).map(grain).collect())
}
