//! Reading buffers back. The host waits here, and only here.

use bytemuck::{AnyBitPattern, NoUninit};

use crate::error::Error;

use super::device::Device;

/// The first `bytes` bytes of a buffer, as a list.
pub(super) fn read<T: AnyBitPattern + NoUninit>(
    device: &Device,
    buffer: &wgpu::Buffer,
    bytes: u64,
) -> Result<Vec<T>, Error> {
    Ok(bytemuck::pod_collect_to_vec(&read_all(device, &[(buffer, bytes)])?))
}

/// The first so many bytes of several buffers, one after the other; the host waits once.
pub(super) fn read_all(device: &Device, parts: &[(&wgpu::Buffer, u64)]) -> Result<Vec<u8>, Error> {
    let bytes = parts.iter().map(|(_, bytes)| bytes).sum();
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
    let mut at = 0;
    for &(buffer, bytes) in parts {
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, at, bytes);
        at += bytes;
    }
    device.submit(encoder);
    let (sender, receiver) = std::sync::mpsc::channel();
    staging.slice(..).map_async(wgpu::MapMode::Read, move |result| {
        // A receiver that is gone has stopped waiting.
        let _ = sender.send(result);
    });
    device.wait()?;
    let lost = |reason: String| Error::DeviceLost { reason, time: f64::NAN };
    receiver.recv().map_err(|error| lost(error.to_string()))?.map_err(|error| lost(error.to_string()))?;
    let view = staging.slice(..).get_mapped_range().map_err(|error| lost(error.to_string()))?;
    Ok(view.to_vec())
}
