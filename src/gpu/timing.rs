//! Stage times from timestamp queries: while profiling, one step per submission is split into a pass per stage.

use crate::error::Error;

use super::device::Device;
use super::readback;
use super::step::{self, Pace};

/// Timer of the stages of one step, by timestamps.
pub struct Timer {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    /// Seconds per tick.
    tick: f64,
}

/// Largest number of timestamps in a query set.
const QUERIES: u32 = 4096;

impl Timer {
    /// Creates a timer for steps of `substeps` substeps; `None` if the device has no timestamps, or a query set holds too few.
    pub(super) fn new(device: &Device, substeps: u32) -> Option<Timer> {
        let mut stages = 0;
        step::NONSMOOTH.for_each_stage(substeps, Pace::Full, |_| stages += 1);
        let count = 2 * stages;
        if !device.has_timestamps() || count > QUERIES {
            return None;
        }
        let queries = device.raw().create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("stages"),
            ty: wgpu::QueryType::Timestamp,
            count,
        });
        let resolved = device.raw().create_buffer(&wgpu::BufferDescriptor {
            label: Some("stage times"),
            size: 8 * u64::from(count),
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let tick = f64::from(device.queue().get_timestamp_period()) * 1e-9;
        Some(Timer { queries, resolved, tick })
    }

    /// Begins a timed pass for the stage at `index` of the step.
    pub(super) fn begin<'a>(
        &self,
        encoder: &'a mut wgpu::CommandEncoder,
        label: &'static str,
        index: u32,
    ) -> wgpu::ComputePass<'a> {
        encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(label),
            timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                query_set: &self.queries,
                beginning_of_pass_write_index: Some(2 * index),
                end_of_pass_write_index: Some(2 * index + 1),
            }),
        })
    }

    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder, stages: u32) {
        encoder.resolve_query_set(&self.queries, 0..2 * stages, &self.resolved, 0);
    }

    /// Reads the duration of each stage of the timed step \[s\], with its name, in order.
    pub(super) async fn read(
        &self,
        device: &Device,
        stages: &[&'static str],
    ) -> Result<Vec<(&'static str, f64)>, Error> {
        let times: Vec<[u64; 2]> = readback::read(device, &self.resolved).await?;
        let seconds = |[start, end]: &[u64; 2]| end.saturating_sub(*start) as f64 * self.tick;
        Ok(stages.iter().copied().zip(times.iter().map(seconds)).collect())
    }
}
