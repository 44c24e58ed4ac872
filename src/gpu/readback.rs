//! Reading buffers back. The host waits here, and only here.

use bytemuck::{AnyBitPattern, NoUninit};

use crate::error::Error;

use super::device::Device;

/// The first `bytes` bytes of a buffer.
pub(super) fn read<T: AnyBitPattern + NoUninit>(
    device: &Device,
    buffer: &wgpu::Buffer,
    bytes: u64,
) -> Result<Vec<T>, Error> {
    if bytes == 0 {
        return Ok(Vec::new());
    }
    let staging = device.raw().create_buffer(&wgpu::BufferDescriptor {
        label: Some("readback"),
        size: bytes,
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.encoder();
    encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, bytes);
    device.submit(encoder);
    let (sender, receiver) = std::sync::mpsc::channel();
    staging.slice(..).map_async(wgpu::MapMode::Read, move |result| {
        // A receiver that is gone has stopped waiting.
        let _ = sender.send(result);
    });
    let polled = device.raw().poll(wgpu::PollType::Wait { submission_index: None, timeout: None });
    device.check()?;
    let lost = |reason: String| Error::DeviceLost { reason, time: f64::NAN };
    polled.map_err(|error| lost(error.to_string()))?;
    receiver.recv().map_err(|error| lost(error.to_string()))?.map_err(|error| lost(error.to_string()))?;
    let view = staging.slice(..).get_mapped_range().map_err(|error| lost(error.to_string()))?;
    Ok(bytemuck::pod_collect_to_vec(&view))
}
