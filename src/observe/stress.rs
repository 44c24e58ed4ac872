//! Part of the contacts in the stress of a region, of layers or of a grain: the mean over the time since the base \[E17\].

use glam::DMat3;

use super::{Base, LayerPlan, RegionPlan};
use crate::engine::Snapshot;
use crate::model::Meter;
use crate::model::plane::grain_volume;

/// Meters of the stress in these regions and layers, which a world needs before an engine is made of it.
pub fn meters(regions: &[RegionPlan], layers: Option<&LayerPlan>) -> Vec<Meter> {
    regions.iter().map(RegionPlan::meter).chain(layers.map(LayerPlan::meter)).collect()
}

/// Part of the contacts in the stress of each bin of a meter, times its volume \[N m\]: impulse times arm since the base, impacts included,
/// over the time since then. It is zero without a base, and not a number where the world has no such meter.
pub(super) fn contact_parts(snapshot: &Snapshot, meter: &Meter, base: Option<&Base>) -> Vec<DMat3> {
    let Some((first, now)) = snapshot.measured(meter) else { return vec![DMat3::NAN; meter.bins()] };
    let before = base.and_then(|base| Some((base.time, base.stresses.get(first..first + now.len())?)));
    let Some((time, before)) = before else { return vec![DMat3::ZERO; now.len()] };
    let time = snapshot.report.time - time;
    now.iter().zip(before).map(|(now, before)| (*now - *before) * time.recip()).collect()
}

/// Id of every grain, and its sum of impulse times arm since it came \[N m s\].
pub(super) fn of_grains_so_far(snapshot: &Snapshot) -> Vec<(u32, DMat3)> {
    snapshot.world.ids.iter().copied().zip(snapshot.grain_stresses.iter().copied()).collect()
}

/// Mean stress of every grain since the base \[E17\] \[Pa\], by place: the part of the contacts, impacts included, over the volume of the
/// grain. It is zero without a base; a grain that came since then counts as without contacts before. `None` unless the world measures
/// grains.
pub fn of_grains(snapshot: &Snapshot, base: Option<&Base>) -> Option<Vec<DMat3>> {
    let (world, time) = (&snapshot.world, snapshot.report.time);
    if !world.measures_grains {
        return None;
    }
    let mean = |(grain, now): (usize, &DMat3)| {
        let Some(base) = base else { return DMat3::ZERO };
        let known = base.grain_stresses.get(grain).filter(|(id, _)| *id == world.ids[grain]);
        let before = known.map_or(DMat3::ZERO, |(_, before)| *before);
        (*now - before) * ((time - base.time) * grain_volume(world.plane, world.grain_radius(grain))).recip()
    };
    Some(snapshot.grain_stresses.iter().enumerate().map(mean).collect())
}
