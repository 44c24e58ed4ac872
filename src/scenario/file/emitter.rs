//! The `[[emitters]]` table.

use glam::DVec3;

use super::MAX_GRAINS;
use super::clumps::{make, radii_of};
use super::heat::TEMPERATURE;
use super::materials::{MASS, material_id};
use super::radii::has_size;
use super::read::{DURATION, Need, TIME, Table, number, text, vector, whole};
use super::region::region;
use crate::model::random::Stream;
use crate::model::{Axes, Clump, Materials, Periodic, Plane, Random};
use crate::sources::emitter::{Emitter, EmitterSource, Schedule, due};

/// Parameters that all emitters of a scenario share.
pub struct EmitterCommon<'a> {
    /// The materials.
    pub materials: &'a Materials,
    /// The clumps.
    pub clumps: &'a [Clump],
    /// Simulated time \[s\].
    pub duration: f64,
    /// Seed of the scenario.
    pub seed: u64,
    /// Axes that are locked for all grains.
    pub locked: Axes,
    /// The periodic cell.
    pub periodic: Periodic,
    /// Plane of a plane scene.
    pub plane: Option<Plane>,
}

/// Reads one of `[[emitters]]`; `index` is its place in the list, from 0.
pub fn emitter(table: &mut Table<'_>, index: usize, shared: &EmitterCommon<'_>) -> Option<Emitter> {
    let name = table.or("name", format!("emitter-{index}"), text);
    let material = table.get("material", material_id(shared.materials));
    let make = make(table, shared.clumps);
    let radii = make.as_ref().and_then(|make| radii_of(make, table, shared.plane));
    if !has_size(table) && make.as_ref().is_some_and(|make| make.listed_radius().is_none()) {
        table.missing("radius", "for example radius = { kind = \"constant\", value = 0.005 }");
    }
    let place = table.node("region");
    let region = table.get("region", region);
    let velocity = table.or("velocity", DVec3::ZERO, vector);
    let temperature = table.maybe("temperature", number(TEMPERATURE));
    let density = material.zip(make.as_ref()).map(|(material, make)| {
        make.density(shared.clumps, shared.materials.list[material as usize].density)
    });
    let mean_volume = radii.as_ref().map(|radii| radii.mean_volume(shared.plane));
    let amounts = schedule(table, shared.duration, density.zip(mean_volume));
    let (region, radii, make, (schedule, volume)) = (region?, radii?, make?, amounts?);
    let ball = make.reach() * radii.largest();
    let has_room = region.through_faces(&shared.periodic, ball).has_room_for(ball);
    if let Some(place) = place.filter(|_| !has_room) {
        place.problem(
            format!("no grain of radius {ball} m fits into the region of `{}`", table.name()),
            "enlarge the region or reduce the radius",
        );
        return None;
    }
    let source = EmitterSource {
        name,
        material: material?,
        make,
        radii,
        region,
        velocity,
        temperature,
        locked: shared.locked,
        plane: shared.plane,
        periodic: shared.periodic,
        schedule,
    };
    let random = |stream: fn(usize) -> Stream| Random::new(shared.seed, stream(index));
    Some(match volume {
        Some(volume) => {
            Emitter::of_volume(source, volume, random(Stream::Emitter), random(Stream::EmitterSizes))
        }
        None => Emitter::new(source, random(Stream::Emitter)),
    })
}

/// Reads when how many grains come, and the volume of all of them where that is given as `total_mass` \[m³\]; then the total is that of
/// grains of mean size. `grain` is the mass over the volume of a grain \[kg/m³\] and the mean volume \[m³\].
fn schedule(
    table: &mut Table<'_>,
    duration: f64,
    grain: Option<(f64, f64)>,
) -> Option<(Schedule, Option<f64>)> {
    const RATE: Need = Need::new(|x| x > 0.0 && x <= 1e12, "a positive number of grains per second");
    const MASS_RATE: Need = Need::new(|x| x > 0.0 && x <= 1e12, "a positive mass per time in kg/s");
    let start = table.or("start", 0.0, number(TIME));
    let interval = table.or("every", 0.05, number(DURATION));
    let rate = match table.maybe("mass_rate", number(MASS_RATE)) {
        Some(_) if table.has("rate") => {
            table.problem(
                format!("`{}` has a `rate` and a `mass_rate`", table.name()),
                "give the grains per second or the kilograms per second",
            );
            return None;
        }
        Some(mass_rate) => grain.map(|(density, volume)| mass_rate / (density * volume)),
        None => table.maybe("rate", number(RATE)),
    };
    let given = table.maybe("total", whole(1, MAX_GRAINS));
    let total_mass = table.maybe("total_mass", number(MASS));
    let stop = stop(table, start, duration);
    if !["rate", "mass_rate", "total", "total_mass"].iter().any(|key| table.has(key)) {
        table.missing(
            "rate",
            "give `rate` [1/s] or `mass_rate` [kg/s], `total` or `total_mass` [kg], or both",
        );
        return None;
    }
    if table.has("total") && table.has("total_mass") {
        table.problem(
            format!("`{}` has a `total` and a `total_mass`", table.name()),
            "give the number of grains or their mass",
        );
        return None;
    }
    let stop = stop?;
    let volume = match total_mass {
        Some(mass) => Some(mass / grain?.0),
        None => None,
    };
    let of_volume = |volume: f64| grain.map(|(_, mean)| (volume / mean).round() as u64);
    let total = match (rate, given.or(volume.and_then(of_volume))) {
        (_, Some(total)) => total,
        (Some(rate), None) => due(rate, stop - start),
        (None, None) => return None,
    };
    if total > MAX_GRAINS {
        table.problem(
            format!("`{}` would emit {total} grains, at most {MAX_GRAINS} are possible", table.name()),
            "reduce `rate`, `total` or `total_mass`, or set `stop`",
        );
        return None;
    }
    if total == 0 && start < duration {
        let advice = if volume.is_some() { "raise `total_mass`" } else { "raise `rate`" };
        table.problem(format!("`{}` emits no grain until {stop} s", table.name()), advice);
        return None;
    }
    if start >= duration {
        table.report.note(format!(
            "{} starts at {start} s, and the run ends at {duration} s: no grain of it comes",
            table.name()
        ));
    }
    Some((Schedule { rate, start, stop, interval, total }, volume))
}

/// Reads the stop time \[s\]: by default the end of the run, or never if there is a total.
fn stop(table: &mut Table<'_>, start: f64, duration: f64) -> Option<f64> {
    let stop = if table.has("total") || table.has("total_mass") {
        table.maybe("stop", number(TIME)).unwrap_or(f64::INFINITY)
    } else {
        table.or("stop", duration.max(start), number(TIME))
    };
    if stop < start {
        table.problem(
            format!("`{}` stops at {stop} s, before it starts at {start} s", table.name()),
            "change `start` or `stop`",
        );
        return None;
    }
    Some(stop)
}
