//! Stress of a region, of layers or of a grain: the mean over the time since the base \[E17\].

use glam::DMat3;

use super::{Base, LayerPlan, RegionPlan};
use crate::engine::Snapshot;
use crate::model::plane::grain_volume;
use crate::model::{Meter, MeterSums};

/// Meters of the stress in these regions and layers, which a world needs before an engine is made of it.
pub fn meters(regions: &[RegionPlan], layers: Option<&LayerPlan>) -> Vec<Meter> {
    regions.iter().map(RegionPlan::meter).chain(layers.map(LayerPlan::meter)).collect()
}

/// Mean stress of each bin of a meter since the base, times its volume \[N m\]: contacts, impacts included, and the momentum flux less that
/// of the mean velocity. None without a base before this state; not a number where the world has no such meter.
pub(super) fn mean_stresses(snapshot: &Snapshot, meter: &Meter, base: Option<&Base>) -> Option<Vec<DMat3>> {
    let Some((first, now)) = snapshot.measured(meter) else { return Some(vec![DMat3::NAN; meter.bins()]) };
    let base = base?;
    let before = base.stresses.get(first..first + now.len())?;
    let time = snapshot.report.time - base.time;
    let mean = |(now, before): (&MeterSums, &MeterSums)| (*now - *before).stress() * time.recip();
    (time > 0.0).then(|| now.iter().zip(before).map(mean).collect())
}

/// Number of real numbers of a grain in a message between ranks: its id, and its sum.
const NUMBERS: usize = 10;

/// Id of every grain in ascending order, and its sum of impulse times arm since it came \[N m s\]. Of several ranks the first has those of
/// all, others only their own.
pub(super) fn of_grains_so_far(snapshot: &Snapshot) -> Vec<(u32, DMat3)> {
    if !snapshot.world.measures_grains {
        return Vec::new();
    }
    let numbers = |(id, sum): &(u32, DMat3)| {
        [f64::from(*id)].into_iter().chain(sum.to_cols_array()).collect::<Vec<f64>>()
    };
    let sum = |grain| (snapshot.world.ids[grain], snapshot.grain_stresses[grain]);
    let mut all: Vec<(u32, DMat3)> = snapshot.present_grains().map(sum).collect();
    if !snapshot.share.is_whole() {
        let message: Vec<f64> = all.iter().flat_map(numbers).collect();
        snapshot.share.collect(bytemuck::cast_slice(&message).to_vec(), &mut |bytes| {
            let others: Vec<f64> = bytemuck::pod_collect_to_vec(&bytes);
            let others = others.as_chunks::<NUMBERS>().0.iter();
            all.extend(others.map(|[id, sum @ ..]| (*id as u32, DMat3::from_cols_array(sum))));
        });
    }
    all.sort_unstable_by_key(|(id, _)| *id);
    all
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
        let known = base.grain_stresses.binary_search_by_key(&world.ids[grain], |(id, _)| *id);
        let before = known.map_or(DMat3::ZERO, |known| base.grain_stresses[known].1);
        (*now - before) * ((time - base.time) * grain_volume(world.plane, world.grain_radius(grain))).recip()
    };
    Some(snapshot.grain_stresses.iter().enumerate().map(mean).collect())
}
